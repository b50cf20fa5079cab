--- What plots are given: lists, Arrays and options, checked and made into lists of numbers. For damo's own files only.
-- @module damo.plot_data

local core = require "damo.core"
local system = core.system

local data = {}

local huge = math.huge

--- Raises an error of the kind; `func` is the public function's name, "lines".
function data.fail(func, kind, text, ...) core.raise(kind, "plot." .. func .. ": " .. text:format(...)) end
local fail = data.fail

function data.is_finite(v) return v == v and v > -huge and v < huge end
local is_finite = data.is_finite

-- ---- Options ------------------------------------------------------------------------------------------------------

local function without_zero(func, what, text)
  if text:find("\0", 1, true) then fail(func, "value", "%s has a zero byte in it", what) end
  return text
end

local function range_option(func, what, v)
  if type(v) ~= "table" or type(v[1]) ~= "number" or type(v[2]) ~= "number" then
    fail(func, "type", "%s must be a list {low, high} of two numbers", what)
  end
  if not (is_finite(v[1]) and is_finite(v[2]) and v[1] < v[2]) then
    fail(func, "value", "%s must be finite, the first less than the second", what)
  end
  return v
end

-- How an option of each kind is checked: the kinds are the values of the tables given to `data.options`.
local kinds = {
  text = function(func, what, v)
    if type(v) ~= "string" then fail(func, "type", "%s must be a string, got %s", what, system.typename(v)) end
    return without_zero(func, what, v)
  end,
  flag = function(func, what, v)
    if type(v) ~= "boolean" then fail(func, "type", "%s must be true or false, got %s", what, system.typename(v)) end
    return v
  end,
  range = range_option,
  count = function(func, what, v)
    if type(v) ~= "number" then fail(func, "type", "%s must be an integer, got %s", what, system.typename(v)) end
    if v % 1 ~= 0 or v < 1 or v > 10000 then fail(func, "value", "%s must be an integer from 1 to 10000", what) end
    return v
  end,
  labels = function(func, what, v) return data.labels(v, func, what) end,
  any = function(_, _, v) return v end,
}

--- Checks a table of options against `known`, name → kind (text, flag, range, count, labels, any); returns a copy.
function data.options(func, options, known)
  local names, checked = {}, {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  system.check_options("plot." .. func, options, names)
  for name, kind in pairs(known) do
    local v = options and options[name]
    if v ~= nil then checked[name] = kinds[kind](func, "option '" .. name .. "'", v) end
  end
  return checked
end

-- ---- Vectors, matrices, names -------------------------------------------------------------------------------------

local function is_array(v) return type(v) == "userdata" and system.typename(v) == "Array" end

--- An Array as nested lists of Lua numbers: of bools 0 and 1.
local function listed(array, func, what)
  if array.dtype:match "^complex" then
    fail(func, "type", "%s is %s: plot its parts, or its absolute value", what, array.dtype)
  end
  return (array.dtype == "bool" and array:astype "int8" or array):totable()
end

--- The numbers of a list or a vector Array, as a list.
function data.vector(v, func, what)
  if is_array(v) and v.ndim == 1 then return listed(v, func, what) end
  if type(v) ~= "table" then
    fail(func, "type", "%s must be a list of numbers or a vector, got %s", what,
      is_array(v) and ("an Array of %d axes"):format(v.ndim) or system.typename(v))
  end
  local entries = 0
  for _ in pairs(v) do entries = entries + 1 end
  for k = 1, math.max(entries, #v) do -- a hole may hide the entries behind it from #
    if type(v[k]) ~= "number" then
      fail(func, "type", "entry %d of %s must be a number, got %s", k, what, system.typename(v[k]))
    end
  end
  return v
end

--- Whether a value can be read by `data.vector` and by no other reader: a list of numbers or a vector Array.
function data.is_vector(v)
  return is_array(v) and v.ndim == 1 or type(v) == "table" and (type(v[1]) == "number" or next(v) == nil)
end

--- The rows of a matrix Array or a list of lists, checked to be equally long and not empty.
function data.matrix(z, func, what)
  local rows
  if is_array(z) and z.ndim == 2 then
    rows = listed(z, func, what)
  else
    if type(z) ~= "table" or type(z[1]) ~= "table" and not is_array(z[1]) then
      fail(func, "type", "%s must be a matrix or a list of rows, got %s", what,
        is_array(z) and ("an Array of %d axes"):format(z.ndim) or system.typename(z))
    end
    rows = {}
    for k, row in ipairs(z) do
      rows[k] = data.vector(row, func, ("row %d of %s"):format(k, what))
      if #rows[k] ~= #rows[1] then
        fail(func, "shape", "row %d of %s has %d entries, the first %d", k, what, #rows[k], #rows[1])
      end
    end
  end
  if #rows == 0 or #rows[1] == 0 then fail(func, "shape", "%s is empty", what) end
  return rows
end

--- A series' or a panel's name: a string or a number, as a text of one line; nil if there is none.
function data.name(name, func, what)
  if name == nil then return nil end
  if type(name) ~= "string" and type(name) ~= "number" then
    fail(func, "type", "the name of %s must be a string, got %s", what, system.typename(name))
  end
  return (without_zero(func, "the name of " .. what, tostring(name)):gsub("%c", " "))
end

--- A list of strings or numbers, as texts of one line.
function data.labels(v, func, what)
  if type(v) ~= "table" then fail(func, "type", "%s must be a list of strings, got %s", what, system.typename(v)) end
  local texts = {}
  for k = 1, #v do texts[k] = data.name(v[k], func, ("entry %d of %s"):format(k, what)) end
  return texts
end

--- The list of series of a plot: `v` may be that list, one series, or one series' `main` field alone.
-- @param fields the fields a series may have beside its name; each but `main` may be missing
-- @return list of {name=, and the fields as lists of numbers of one length}
function data.series(v, func, main, fields)
  if data.is_vector(v) and not (type(v) == "table" and next(v) == nil) then v = { { [main] = v } } end
  if type(v) == "table" and v[main] ~= nil then v = { v } end
  if type(v) ~= "table" or #v == 0 then
    fail(func, "type", "argument 1 (series) must be a list of {name=, %s=} tables", main)
  end
  local known = { "name", main }
  for _, field in ipairs(fields) do known[#known + 1] = field end
  local checked = {}
  for i, s in ipairs(v) do
    if data.is_vector(s) and not (type(s) == "table" and next(s) == nil) then s = { [main] = s } end
    if type(s) ~= "table" or s[main] == nil then fail(func, "type", "series %d has no %s", i, main) end
    system.check_options("plot." .. func, s, known)
    local c = { name = data.name(s.name, func, "series " .. i) or "series " .. i }
    c[main] = data.vector(s[main], func, ("%s of series %d"):format(main, i))
    for _, field in ipairs(fields) do
      if s[field] ~= nil then
        c[field] = data.vector(s[field], func, ("%s of series %d"):format(field, i))
        if #c[field] ~= #c[main] then
          fail(func, "shape", "series %d has %d %s and %d %s", i, #c[field], field, #c[main], main)
        end
      end
    end
    checked[i] = c
  end
  return checked
end

--- The coordinates of an axis of n entries: those given, or 1 to n.
function data.axis(v, n, func, what)
  if v == nil then
    local counted = {}
    for k = 1, n do counted[k] = k end
    return counted
  end
  v = data.vector(v, func, what)
  if #v ~= n then fail(func, "shape", "%s has %d entries for %d of the matrix", what, #v, n) end
  return v
end

-- ---- Ranges -------------------------------------------------------------------------------------------------------

--- The least and the largest finite value of lists; low > high if there is none.
function data.range(lists)
  local low, high = huge, -huge
  for _, list in ipairs(lists) do
    for _, v in ipairs(list) do
      if is_finite(v) then low, high = math.min(low, v), math.max(high, v) end
    end
  end
  return low, high
end

--- low and high, or an interval about them where they are equal or there is no finite value: an axis has a length.
function data.widened(low, high)
  if low < high then return low, high end
  local middle = low > high and 0 or low
  local half = math.max(0.5, math.abs(middle) * 1e-3)
  return middle - half, middle + half
end

--- The position of v between low and high, from 0 to 1. All are halved first if high - low overflows.
function data.share(v, low, high)
  if high - low == huge then v, low, high = v / 2, low / 2, high / 2 end
  return (v - low) / (high - low)
end

return data
