-- c_reference: Markdown of one page with every function of damo.h: what its comment says, its declaration, and lines that
-- call it in a program of the pages or of the examples, all of which are compiled and run by the tests.
-- Called with the root of the tree it gives {name=, title=, text=, missing=}; missing are the functions that none calls.

local root = ...

local function read(path)
  local file = assert(io.open(root .. path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function list(pattern)
  local paths = {}
  local pipe = assert(io.popen(("cd '%s' && ls %s"):format(root == "" and "." or root, pattern)))
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

-- ---- Programs -------------------------------------------------------------------------------------------------------

-- {path=, lines=} of what is compiled and run, and written to be read.
local programs = {}

local function add_program(path, text)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  programs[#programs + 1] = { path = path, lines = lines }
end

for _, path in ipairs(list "docs/*.md") do
  for program in read(path):gmatch "\n```c\n(.-)\n```" do add_program(path, program) end
end
for _, path in ipairs(list "examples/*.c examples/hosts/*/*.c") do add_program(path, read(path)) end

local function indent_of(line) return #line:match "^ *" end

-- Whether a line of a function's body uses the name, before an opening bracket or before what `behind` matches.
local function uses(line, name, behind)
  return line:match "^%s" ~= nil and not line:match "^%s*/?%*" and line:find("%f[%w_]" .. name .. behind) ~= nil
end

--- The statement at a line with what stands next to it in the same block, without its indent.
local function excerpt(lines, at)
  local first, last, indent = at, at, indent_of(lines[at])
  -- A statement that began on a line before has less indent there.
  while first > 1 and indent_of(lines[first]) > 2 and not lines[first - 1]:match "[;{}]%s*$"
    and lines[first - 1] ~= "" and not lines[first - 1]:match "%*/%s*$" do
    first = first - 1
    indent = math.min(indent, indent_of(lines[first]))
  end
  while last < #lines and not lines[last]:match "[;{}]%s*$" do last = last + 1 end
  local function beside(line) return line and line ~= "" and indent_of(line) >= indent and not line:match "^}" end
  for _ = 1, 3 do
    if beside(lines[first - 1]) then first = first - 1 end
    if beside(lines[last + 1]) then last = last + 1 end
  end
  local out, least = {}, math.huge
  for i = first, last do least = math.min(least, lines[i] == "" and math.huge or indent_of(lines[i])) end
  for i = first, last do out[#out + 1] = lines[i]:sub(least + 1) end
  return table.concat(out, "\n")
end

--- The first lines of a program that call the function, or hand it to another, and its path.
local function example_of(name)
  for _, behind in ipairs { "%(", "%f[^%w_]" } do
    for _, program in ipairs(programs) do
      for at, line in ipairs(program.lines) do
        if uses(line, name, behind) then return excerpt(program.lines, at), program.path end
      end
    end
  end
  return nil
end

-- ---- The header -----------------------------------------------------------------------------------------------------

local function plain(text) return (text:gsub("[\\*_%[%]<>#|!]", "\\%0")) end

--- The text of a comment, whose lines become one paragraph.
local function comment_text(comment)
  local text = comment:gsub("^/%*+%s*", ""):gsub("%s*%*/%s*$", ""):gsub("\n%s*%*%s?", " "):gsub("%s+", " ")
  return text
end

local out = { [[
# damo.h, name by name

Every function of the C API: what it does, its declaration, and lines that call it, from a program that the tests
compile and run. [C by example](c_api.md) has most of these whole. [damo.h](../src/damo.h) has the rules that hold for every function, its parts in src/damo the types too;
[Embedding](embedding.md) begins at the beginning.
]] }
local missing, count = {}, 0
local comment, section, declaration
for line in dofile(root .. "make/public_header.lua")(root):gmatch "([^\n]*)\n" do
  local title = line:match "^/%* %-%-%-%- (.-) %-%-+ %*/$"
  if title then
    section, comment = title, nil
  elseif declaration then
    declaration = declaration .. "\n" .. line
  elseif line:match "^/%*" then
    comment = line
  elseif comment and not comment:find("*/", 1, true) then
    comment = comment .. "\n" .. line
  elseif line:match "^DAMO_API" then
    declaration = line
  elseif line ~= "" then
    comment = nil
  end
  if declaration and declaration:find(";", 1, true) then
    local beside = declaration:match "/%*.-%*/"
    local code = declaration:gsub("%s*/%*.-%*/", ""):gsub("^DAMO_API ", "")
    local name = code:match "([%w_]+)%("
    if section then
      out[#out + 1] = ("## %s\n"):format(plain(section))
      section = nil
    end
    out[#out + 1] = ("### `%s`\n\n%s\n\n```c\n%s\n```\n"):format(name, plain(comment_text(beside or comment or "")), code)
    local example, path = example_of(name)
    if example then
      out[#out + 1] = ("In `%s`:\n\n```c\n%s\n```\n"):format(path, example)
    else
      missing[#missing + 1] = name
    end
    count, declaration = count + 1, nil
  end
end

return { name = "names_c", title = "C: damo.h", text = table.concat(out, "\n"), missing = missing, count = count }
