-- highlight: code of Lua, C and the shell as HTML, where comments, strings, numbers, keywords and called functions
-- stand in <span>s. A language is a list of rules, tried in order at each position; what none of them matches is plain.
-- The file is loaded with the function that escapes text for HTML.

local escape = ...

local function words(list)
  local set = {}
  for word in list:gmatch "%S+" do set[word] = true end
  return set
end

local lua_words = words [[and break do else elseif end false for function goto if in local nil not or repeat return
  then true until while]]
local c_words = words [[auto break case const continue default do else enum extern for goto if inline register restrict
  return sizeof static struct switch typedef union volatile while]]
local c_types = words [[void char short int long float double signed unsigned bool size_t ptrdiff_t int8_t int16_t
  int32_t int64_t uint8_t uint16_t uint32_t uint64_t FILE]]

local function quoted(s, i)
  local q, k = s:sub(i, i), i + 1
  while k <= #s do
    local c = s:sub(k, k)
    if c == "\\" then
      k = k + 1
    elseif c == q or c == "\n" then
      return k
    end
    k = k + 1
  end
  return #s
end

local function long_bracket(s, i)
  local level = s:match("^%[(=*)%[", i)
  if not level then return end
  local _, last = s:find("]" .. level .. "]", i, true)
  return last or #s
end

--- A rule matches at position i of s: its last position, and the class of that part; false for plain text.
local function word_rule(keywords, types)
  return function(s, i)
    local word = s:match("^[%a_][%w_]*", i)
    if not word then return end
    local last = i + #word - 1
    if keywords[word] then return last, "k" end
    if types and (types[word] or word:match "^damo_%w+$" and not s:match("^%s*%(", last + 1)) then return last, "t" end
    if s:match("^%s*[({\"]", last + 1) and not s:match("^%s*\n", last + 1) then return last, "f" end
    return last, false
  end
end

local function number_rule(s, i)
  local _, last = s:find("^0[xX][%x.]+[pP]?[+-]?%d*[uUlLfF]*", i)
  if not last then _, last = s:find("^%d[%d.]*[eE][+-]?%d+[uUlLfF]*", i) end
  if not last then _, last = s:find("^%d+%.?%d*[uUlLfF]*", i) end
  if last then return last, "n" end
end

local function string_rule(s, i)
  if s:match("^[\"']", i) then return quoted(s, i), "s" end
end

local languages = {
  lua = {
    function(s, i)
      if s:sub(i, i + 1) ~= "--" then return end
      return long_bracket(s, i + 2) or (s:find("\n", i, true) or #s + 1) - 1, "c"
    end,
    function(s, i)
      local last = long_bracket(s, i)
      if last then return last, "s" end
    end,
    string_rule, number_rule, word_rule(lua_words),
  },
  c = {
    function(s, i)
      if s:sub(i, i + 1) == "//" then return (s:find("\n", i, true) or #s + 1) - 1, "c" end
      if s:sub(i, i + 1) == "/*" then return select(2, s:find("*/", i + 2, true)) or #s, "c" end
    end,
    function(s, i)
      if s:sub(i, i) == "#" and (i == 1 or s:sub(1, i - 1):match "\n[ \t]*$") then
        return select(2, s:find("^#%s*%a+", i)) or i, "k"
      end
    end,
    string_rule, number_rule, word_rule(c_words, c_types),
  },
  sh = {
    function(s, i)
      if s:sub(i, i) == "#" and (i == 1 or s:sub(i - 1, i - 1):match "%s") then
        return (s:find("\n", i, true) or #s + 1) - 1, "c"
      end
    end,
    string_rule,
    function(s, i)
      local word = s:match("^[%w_./-]+", i)
      if word then return i + #word - 1, false end
    end,
  },
}

--- Indented code names no language: it is of Lua where it looks like that, else of a shell.
local function guess(code)
  local is_lua = code:find "damo%." or code:find "^local " or code:find "\nlocal " or code:find "^%-%-"
  return is_lua and not code:find "^[%w.]*lua[%d.]* " and not code:find "^%$ " and "lua" or "sh"
end

return function(code, language)
  local rules = languages[language ~= "" and language or guess(code)] or {}
  local out, i, plain = {}, 1, 1
  local function flush(last)
    if plain <= last then out[#out + 1] = escape(code:sub(plain, last)) end
  end
  while i <= #code do
    local last, class
    for _, rule in ipairs(rules) do
      last, class = rule(code, i)
      if last then break end
    end
    if class then
      flush(i - 1)
      out[#out + 1] = ('<span class="%s">%s</span>'):format(class, escape(code:sub(i, last)))
      plain = last + 1
    end
    i = (last or i) + 1
  end
  flush(#code)
  return "<pre><code>" .. table.concat(out) .. "\n</code></pre>"
end
