--- The mutants of a C file: copies with one line changed in the way of a typical mistake.
--
--     local list = require "mutate".mutants(text)
--     list[1] --> { line = 12, old = "  if (a < b) {", new = "  if (a <= b) {", what = "< becomes <=" }
--
-- It relies on clang-format's layout: functions start in the first column, binary operators stand
-- between spaces. Comments, strings, declarations of data and preprocessor lines are not changed.

local mutate = {}

-- Replacements for a token between spaces.
local swaps = {
  { "<", "<=" }, { "<=", "<" }, { ">", ">=" }, { ">=", ">" }, { "==", "!=" }, { "!=", "==" },
  { "&&", "||" }, { "||", "&&" }, { "+", "-" }, { "-", "+" }, { "*", "+" }, { "+=", "-=" }, { "-=", "+=" },
}
local LARGEST = 16 -- larger literals are mostly buffer sizes

local keywords = {}
for word in ("return break continue goto case default if else for while do switch"):gmatch "%a+" do
  keywords[word] = true
end

--- The text with comments, strings and character constants blanked out, without changing positions.
local function mask(text)
  local function blank(s) return (s:gsub("[^\n]", " ")) end
  local out, at = {}, 1
  while true do
    local open = text:find('["\'/]', at)
    if not open then break end
    local c, close = text:sub(open, open), nil
    if c == "/" then
      local two = text:sub(open, open + 1)
      if two == "/*" then
        close = select(2, text:find("*/", open + 2, true)) or #text
      elseif two == "//" then
        close = (text:find("\n", open, true) or #text + 1) - 1
      end
    else
      close = open + 1
      while close < #text and text:sub(close, close) ~= c do
        close = close + (text:sub(close, close) == "\\" and 2 or 1)
      end
    end
    out[#out + 1] = text:sub(at, open - 1)
    out[#out + 1] = close and blank(text:sub(open, close)) or c
    at = (close or open) + 1
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

local function lines_of(text)
  local list = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do list[#list + 1] = line end
  return list
end

--- The position of the parenthesis that closes the one at `open`; nil if it is on another line.
local function closing(code, open)
  local stop = select(2, code:find("%b()", open))
  return stop
end

local function plain_statement(code)
  local first = code:match "^%s+%*?([%a_][%w_]*)"
  if not first or keywords[first] or not code:match ";%s*$" or code:find "[{}]" then return false end
  if code:match "^%s+[%a_][%w_]*%s+%**[%a_]" or code:match "^%s+[%a_][%w_]*%s+%*" then return false end -- a declaration
  return select(2, code:gsub("%(", "")) == select(2, code:gsub("%)", ""))
end

--- Adds all mutants of one line; `code` is the masked line.
local function add_line(list, number, line, code)
  local function add(first, last, by, what)
    local new = line:sub(1, first - 1) .. by .. line:sub(last + 1)
    list[#list + 1] = { line = number, old = line, new = new, what = what }
  end
  for _, swap in ipairs(swaps) do
    local at = 1
    while true do
      local first, last = code:find(" " .. swap[1] .. " ", at, true)
      if not first then break end
      add(first, last, " " .. swap[2] .. " ", swap[1] .. " becomes " .. swap[2])
      at = last
    end
  end
  for _, word in ipairs { "if", "while" } do
    local open = select(2, code:find("%f[%w_]" .. word .. " %("))
    local stop = open and closing(code, open)
    if stop then add(open, stop, "(!" .. line:sub(open, stop) .. ")", "the condition is negated") end
  end
  for first, number_text, last in code:gmatch "()%f[%w_.](%d+)%f[^%w_.]()" do
    local value = tonumber(number_text)
    if value < LARGEST and not code:match "^%s*case " then
      add(first, last - 1, tostring(value + 1), ("%d becomes %d"):format(value, value + 1))
    end
  end
  for _, pair in ipairs { { "true", "false" }, { "false", "true" } } do
    local first, last = code:find("return " .. pair[1] .. ";", 1, true)
    if first then add(first, last, "return " .. pair[2] .. ";", "returns " .. pair[2]) end
  end
  local open = code:match "^%s+if ()%("
  local stop = open and closing(code, open)
  local indent = #line:match "^%s*"
  if stop and code:match("^ return.*;%s*$", stop + 1) then
    add(indent + 1, #line, ";", "the early return is dropped")
  elseif plain_statement(code) then
    add(indent + 1, #line, ";", "the statement is dropped")
  end
end

--- The mutants of the text, in the order of its lines.
---@param text string
---@param first integer|nil the first line that may be broken
---@param last integer|nil the last one
---@return table[] mutants {line, old, new, what}
function mutate.mutants(text, first, last)
  local lines, codes, list = lines_of(text), lines_of(mask(text)), {}
  local inside, directive = false, false
  for number, code in ipairs(codes) do
    local begins = not directive and code:match "^#"
    directive = (begins or directive) and code:match "\\%s*$" ~= nil
    local one = code:match "^[%a_].*%) {.*}%s*$" -- a function on one line
    if not begins and not directive then
      if (inside or one) and number >= (first or 1) and number <= (last or #codes) then
        add_line(list, number, lines[number], code)
      end
      if code:match "^[%a_ ].*%) {%s*$" and not code:match "^%s" then inside = true end
      if code:match "^}" then inside = false end
      if not inside and code:match "^ .*%) {%s*$" then inside = true end -- parameters on a second line
    end
  end
  return list
end

--- The text with the mutant applied.
function mutate.apply(text, mutant)
  local lines = lines_of(text)
  assert(lines[mutant.line] == mutant.old)
  lines[mutant.line] = mutant.new
  return (table.concat(lines, "\n"):gsub("\n$", "")) .. "\n"
end

return mutate
