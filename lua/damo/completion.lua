--- What a name at the end of a text of Lua may become: names, fields, methods, options of the call around it. For the
-- command `damo` only.
-- @module damo.completion

local core = require "damo.core"
local help = require "damo.help"
local system = core.system

local completion = {}

local keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true "
  .. "until while"):gmatch "%S+" do keywords[#keywords + 1] = word end

-- The sorted words that begin with the typed one; those with an underscore first only if it is typed.
local function chosen(set, typed)
  local words = {}
  for word in pairs(set) do
    local hidden = word:sub(1, 1) == "_" and typed:sub(1, 1) ~= "_"
    if word:sub(1, #typed) == typed and not hidden then words[#words + 1] = word end
  end
  table.sort(words)
  return words
end

-- ---- Values and their members ---------------------------------------------------------------------------------------

local function at(value, name)
  local ok, found = pcall(function() return value[name] end)
  if ok then return found end
  return nil
end

-- What a path such as "damo.linalg" or "x[2].T" names, without any call.
local function value_of(path, env)
  local name, rest = path:match "^([%a_][%w_]*)(.*)$"
  if not name then return nil end
  local value = at(env, name)
  while rest ~= "" and value ~= nil do
    local field, after = rest:match "^%s*%.%s*([%a_][%w_]*)(.*)$"
    if not field then
      field, after = rest:match "^%[(%d+)%](.*)$"
      field = tonumber(field)
    end
    if not field then return nil end
    value, rest = at(value, field), after
  end
  return value
end

local function add_keys(set, t, functions_only)
  for name, value in next, t do
    local fits = type(name) == "string" and name:match "^[%a_][%w_]*$"
    if fits and (not functions_only or type(value) == "function") then set[name] = true end
  end
end

-- The fields and methods of a kind of object; op functions are methods of values, sparse ones of the value if it has
-- them.
local function add_members(set, kind, methods_only, value)
  local of_values = kind == "Array" or kind == "Variable" or kind == "Sparse"
  for _, entry in ipairs(help.get_index().list) do
    local owner, mark, name = entry.path:match "^(%u%w*)([.:])([%w_]+)$"
    if owner == kind or of_values and owner == "Tensor" then
      if mark == ":" or not methods_only then set[name] = true end
    elseif of_values and entry.row and entry.row.method and #entry.row.operands > 0 then
      local name_of_row = entry.row.name:match "[^.]*$"
      if not entry.row.name:find "^sparse%." or at(value, name_of_row) ~= nil then set[name_of_row] = true end
    end
  end
end

local function members(value, methods_only)
  local set = {}
  if type(value) == "string" then
    add_keys(set, string, true)
  elseif type(value) == "table" then
    add_keys(set, value, methods_only)
    local index = at(getmetatable(value) or {}, "__index")
    if type(index) == "table" then add_keys(set, index, methods_only) end
    local class = help.class_of(value)
    if class then add_members(set, class, methods_only, value) end
    if value == package.loaded.damo and not methods_only then
      for _, name in ipairs(help.modules) do set[name] = true end
    end
  elseif type(value) == "userdata" then
    local index = at(getmetatable(value) or {}, "__index")
    if type(index) == "table" then add_keys(set, index, methods_only) end
    add_members(set, system.typename(value), methods_only, value)
  end
  return set
end

-- ---- Options --------------------------------------------------------------------------------------------------------

-- The names before the open brackets of a text, innermost last: {mark = "(" or "{", name = "damo.sum"}. Strings and
-- comments are skipped.
local function open_brackets(text)
  local stack, i, name = {}, 1, ""
  while i <= #text do
    local c = text:sub(i, i)
    local long = text:match("^%-?%-?%[(=*)%[", i)
    local path = text:match("^[%a_][%w_.:]*", i)
    if long and (c == "[" or text:match("^%-%-%[", i)) then
      local _, stop = text:find("]" .. long .. "]", i, true)
      i, name = (stop or #text) + 1, ""
    elseif text:match("^%-%-", i) then
      i, name = (text:find("\n", i, true) or #text) + 1, ""
    elseif c == "'" or c == '"' then
      i = i + 1
      while i <= #text and text:sub(i, i) ~= c do i = i + (text:sub(i, i) == "\\" and 2 or 1) end
      i, name = i + 1, ""
    elseif path then
      i, name = i + #path, path
    else
      if c == "(" or c == "{" or c == "[" then
        stack[#stack + 1] = { mark = c, name = name }
      elseif c == ")" or c == "}" or c == "]" then
        stack[#stack] = nil
      end
      if not c:match "%s" then name = "" end
      i = i + 1
    end
  end
  return stack
end

-- "damo.sum", "linalg.svd" of a local name, "x:sum" → the entry of help.
local function entry_of_call(name, env)
  local index = help.get_index()
  local method = name:match ":([%w_]+)$"
  if method then return index.by_path["damo." .. method] or index.by_path["Function:" .. method] end
  local value = value_of(name, env)
  return index.by_path[name] or type(value) == "function" and index.by_value[value] or nil
end

local function option_names(entry)
  local set = {}
  for _, o in ipairs(entry.row and entry.row.options or {}) do set[o.name] = true end
  if entry.row then
    set.out = true
    if entry.row.random then set.rng = true end
  end
  for _, tag in ipairs(entry.tags or {}) do
    local class = tag:match "^@param options%??%s+damo%.([%w_]+)"
    if class then
      for _, other in ipairs(help.get_index().list) do
        local field = other.path:match("^" .. class .. "%.([%w_]+)$")
        if field then set[field] = true end
      end
    elseif tag:match "^@t?param.*options" then
      for name in tag:gmatch "([%a_][%w_]*)%??:" do set[name] = true end
      for name in tag:gmatch "`([%a_][%w_]*)`" do set[name] = true end
    end
  end
  return set
end

-- The options that may stand at the end of the text, nil where it is in no table of options.
local function options_at(text, env)
  local stack = open_brackets(text)
  local top = stack[#stack]
  if not top or top.mark ~= "{" then return nil end
  local name = top.name
  if name == "" and #stack > 1 and stack[#stack - 1].mark == "(" then name = stack[#stack - 1].name end
  local entry = name ~= "" and entry_of_call(name, env)
  return entry and option_names(entry) or nil
end

-- ---- The whole ------------------------------------------------------------------------------------------------------

local function help_names()
  local set = {}
  for _, entry in ipairs(help.get_index().list) do set[entry.path:gsub("^damo%.", "")] = true end
  for _, name in ipairs(help.modules) do set[name] = true end
  return set
end

local function with_suffix(words, suffix)
  local out = {}
  for i, word in ipairs(words) do out[i] = word .. suffix end
  return out
end

--- The position at which the last name of the text begins, and the sorted list of names that it may become.
-- @tparam string text what stands before the cursor
-- @tparam table env the global names
-- @tparam table commands names of commands, each beginning with a colon
function completion.complete(text, env, commands)
  local line = text:match "[^\n]*$"
  if text:match "^%s*:[%w_]*$" then
    local typed, set = text:match ":[%w_]*$", {}
    for _, name in ipairs(commands or {}) do set[name] = true end
    return #text - #typed + 1, chosen(set, typed)
  end
  local asked = text:match "^%s*:help%s+([%w_.:]*)$" or line:match "help%s*%(?%s*[\"']([%w_.:]*)$"
  if asked then
    local bare = asked:gsub("^damo%.", "")
    return #text - #bare + 1, chosen(help_names(), bare)
  end
  local owner, mark, typed = line:match "([%a_][%w_.%[%]]*)%s*([.:])%s*([%w_]*)$"
  if owner then return #text - #typed + 1, chosen(members(value_of(owner, env), mark == ":"), typed) end
  typed = text:match "[%a_]?[%w_]*$"
  local start = #text - #typed + 1
  local before = text:sub(1, start - 1)
  local options = before:match "[{,]%s*$" and options_at(before, env)
  local words = options and chosen(options, typed) or {}
  if #words > 0 then return start, with_suffix(words, " = ") end
  if typed == "" then return start, {} end
  local set = {}
  add_keys(set, env)
  for _, word in ipairs(keywords) do set[word] = true end
  return start, chosen(set, typed)
end

return completion
