-- amalgamate FOLDER: writes the core as one file, FOLDER/damo.c, and its header, FOLDER/damo.h.
--
-- Every #include "…" is replaced by that file's text. A header with an include guard stands once, at its first place;
-- one that is included inside an #if stands there with its guard, since a later place may need it where the condition
-- is false. Bodies, which have no guard, stand wherever they are included. Files for the instruction sets above
-- the baseline are left out.
local folder = assert(arg[1], "usage: amalgamate.lua FOLDER")

local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "*a"
  f:close()
  return text
end

local function write(path, text)
  local f = assert(io.open(path, "wb"))
  assert(f:write(text))
  assert(f:close())
end

local function is_file(path)
  local f = io.open(path, "rb")
  if f then f:close() end
  return f ~= nil
end

local function sources()
  local list = {}
  local pipe = assert(io.popen "cd src && find . -name '*.c' | LC_ALL=C sort")
  for path in pipe:lines() do
    path = path:gsub("^%./", "")
    if not path:find "^lua/" and not path:find "[/_]avx2%.c$" and not path:find "[/_]avx512%.c$" then
      list[#list + 1] = path
    end
  end
  pipe:close()
  return list
end

-- "op/linalg/../op.h" → "op/op.h"
local function normal(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local function resolve(from, name)
  local near = normal((from:match "^(.*/)" or "") .. name)
  if is_file("src/" .. near) then return near end
  assert(is_file("src/" .. name), from .. " includes " .. name .. ", which is not there")
  return name
end

local out, seen, files = {}, {}, {}

-- The macro of a header's include guard, or nil.
local function guard_of(text)
  local code = text:gsub("/%*.-%*/", "")
  local macro, defined = code:match "^%s*#ifndef ([%w_]+)%s*\n#define ([%w_]+)"
  return macro and macro == defined and macro:find "_H$" and macro or nil
end

-- A macro that two .c files define otherwise, without an #undef between them, fails on the targets that compile both,
-- so it is an error here. Definitions under two different conditions of a file's first level are taken to exclude each
-- other.
local macros = {} -- name → { value =, path =, condition = }

local function note_macro(line, path, condition)
  local undone = line:match "^%s*#%s*undef%s+([%w_]+)"
  if undone then macros[undone] = nil end
  local name, value = line:match "^%s*#%s*define%s+([%w_]+)(.*)$"
  if not name or not path:find "%.c$" then return end
  local before = macros[name]
  value = value:gsub("/%*.-%*/", ""):gsub("%s+$", ""):gsub("%s+", " ")
  local apart = before and before.condition ~= "" and condition ~= "" and before.condition ~= condition
  if before and not apart and before.path ~= path and before.value ~= value then
    error(("%s defines %s, which %s defines otherwise"):format(path, name, before.path), 0)
  end
  macros[name] = { value = value, path = path, condition = condition }
end

-- depth: of the #if's around the text; outer: the first of them, or "".
local function add(path, depth, outer)
  local text = read("src/" .. path)
  local guard = guard_of(text)
  if guard and seen[guard] then return end
  if guard and depth == 0 then seen[guard] = true end
  -- The guard's own #ifndef is true wherever the text stands once.
  local level = guard and -1 or 0
  out[#out + 1] = "/* ---- " .. path .. " */"
  -- Comments keep their text, but a directive inside of one does not count.
  local in_comment, condition = false, outer
  for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\n" do
    local directive = not in_comment and line:match "^%s*#%s*(%a+)" or nil
    local included = line:match '^%s*#%s*include%s+"([^"]+)"' or nil
    -- A file that is named by a macro.
    local macro, named = line:match '^%s*#%s*define%s+([%w_]+)%s+"([^"]+%.h)"%s*$'
    if macro then files[macro] = named end
    local by_macro = line:match "^%s*#%s*include%s+([%w_]+)%s*$"
    if by_macro then included = assert(files[by_macro], by_macro) end
    if directive and directive:find "^if" then level = level + 1 end
    if directive == "endif" then level = level - 1 end
    if directive == "endif" and level == 0 then condition = outer end
    if outer == "" and level == 1 and directive and directive:find "^[ei][lf]" then condition = line end
    if directive then note_macro(line, path, condition) end
    if included then
      add(resolve(path, included), depth + math.max(level, 0), condition)
    else
      out[#out + 1] = line
    end
    local rest = line
    while true do
      if in_comment then
        local _, stop = rest:find("*/", 1, true)
        if not stop then break end
        in_comment, rest = false, rest:sub(stop + 1)
      else
        local start = rest:find("/*", 1, true)
        if not start then break end
        in_comment, rest = true, rest:sub(start + 2)
      end
    end
  end
end

-- ---- Names ----------------------------------------------------------------------------------------------------------

-- The global names beside those of damo.h get the prefix damo_v1__ by macros (DAMO_SYMBOLS and _), so that a program
-- may have the same ones. They are read off the text: declarations and definitions that begin a line, and what rows of
-- tables make. A name too many does no harm; test-amalgamation sees that none is missing.
local made_by_pasting = { "elem_kernels_scalar_plain", "elem_kernels_sse2_plain", "elem_kernels_neon_plain",
  "elem_draw_scalar", "elem_kernels_scalar", "elem_draw_sse2", "elem_kernels_sse2",
  "elem_draw_neon", "elem_kernels_neon", "sparse_compact_narrow_base", "sparse_compact_wide_base",
  "sparse_dense_narrow_base", "sparse_dense_wide_base" }
local foreign = "^damo_" -- and what has no underscore: the system's names
local own = { suggest = true, distributions = true }

local function global_names(code)
  local names = {}
  local function note(name)
    local is_ours = name:find "_" and not name:find(foreign) and not name:find "^_" and not name:find "^[%u%d_]+$"
    if is_ours or own[name] then names[name] = true end
  end
  code = code:gsub("/%*.-%*/", " "):gsub("\\\n", " ")
  for list in code:gmatch "\nextern ([^;{(]*);" do
    for name in list:gsub("%b[]", ""):gmatch "([%a_][%w_]*)%s*%f[,%z]" do note(name) end
  end
  for line in code:gmatch "[^\n]+" do
    local begins = line:find "^[%a_]" and line:match "^[%w_]+"
    if begins and begins ~= "static" and begins ~= "typedef" and begins ~= "return" then
      local called = line:match "([%a_][%w_]*)%("
      if called and begins ~= "extern" then note(called) end -- functions so declared are a library's
      if begins == "const" then note(line:gsub("=.*", ""):gsub("%b[]", ""):match "([%a_][%w_]*)%s*$" or "") end
    end
    for row in line:gmatch "%f[%w_]X%((%l[%w_]*), %d%)" do note("special_set_" .. row) end
    for row in line:gmatch "%f[%w_]X%((%l[%w_]*), %u[%u_]+," do note("build_" .. row) end
  end
  for _, name in ipairs(made_by_pasting) do note(name) end
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local header = dofile "make/public_header.lua"()
local version = header:match '#define DAMO_VERSION "([^"]+)"'
local id = io.popen "sh make/build-id"
out[1] = (read "make/amalgamation_head.h"):gsub("@VERSION@", version):gsub("@BUILD@", id:read "*l")
id:close()
seen.DAMO_H = true
for _, path in ipairs(sources()) do add(path, 0, "") end
local body = table.concat(out, "\n", 2) .. "\n"
local defines, inside, outside = {}, {}, {}
for _, name in ipairs(global_names(body)) do
  local used = name
  if header:find("#define damo_" .. name .. " ", 1, true) then -- a macro would get into that one's argument
    used = name .. "_inside"
    inside[name], outside[used] = used, name
  end
  defines[#defines + 1] = "#define " .. used .. " DAMO_SYMBOL(_" .. used .. ")"
end
body = body:gsub("[%a_][%w_]*", inside)
body = body:gsub('"[^"\n]*"', function(s) return (s:gsub("[%a_][%w_]*", outside)) end) -- texts stay as they are

local text = out[1] .. "\n/* ---- Names */\n" .. table.concat(defines, "\n") .. "\n\n" .. body
os.execute("mkdir -p '" .. folder .. "'")
write(folder .. "/damo.c", text)
write(folder .. "/damo.h", header)
local _, lines = text:gsub("\n", "")
print(("amalgamation: %s/damo.c, %d lines, %.1f MB"):format(folder, lines, #text / 1e6))
