-- Judges results against the reference's VALUEs: values, patterns, layouts, gradients (README of the cases).
--
--   judge.output(got, want, case, offset)  → nil, or what is wrong; offset: damo's positions minus the reference's
--   judge.gradient(got, want, case, vjp)   → the same for a vector-Jacobian product
-- got is a plain value of values.lua.

local judge = {}

local function text_of_shape(s) return "(" .. table.concat(s, ", ") .. ")" end

local function close(x, y, case)
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  if x == y then return true end
  if x == math.huge or x == -math.huge or y == math.huge or y == -math.huge then return false end
  return math.abs(x - y) <= (case.atol or 0) + (case.rtol or 0) * math.abs(y)
end

-- ---- Dense --------------------------------------------------------------------------------------------------------

-- A float32 is written with the fewest digits that tell it apart.
local function rounded(w, dtype)
  if dtype ~= "float32" or type(w) ~= "number" then return w end
  return (string.unpack("f", string.pack("f", w)))
end

local function compare_data(got, want, case, offset, dtype)
  for i = 1, #want do
    local w = rounded(want[i], dtype)
    if w == true or w == false then w = w and 1 or 0 end
    if got[i] == nil then return ("entry %d is missing"):format(i) end
    if not close(got[i] - offset, w, case) then
      return ("entry %d is %s, expected %s"):format(i, got[i] - offset, w)
    end
  end
end

-- The imaginary parts of a real value that is compared with a complex one.
local function zeros(n)
  local z = {}
  for i = 1, n do z[i] = 0 end
  return z
end

local function parts(v)
  if v.kind == "scalar" and v.re then return { v.re }, { v.im } end
  if v.re then return v.re, v.im end
  local data = v.data or { v.value }
  return data, zeros(#data)
end

-- The single-precision numbers that these decimal ones stand for.
local function singles(list)
  local out = {}
  for i, x in ipairs(list) do out[i] = type(x) == "number" and string.unpack("f", string.pack("f", x)) or x end
  return out
end

local function compare_values(got, want, case, offset)
  local re, im = parts(want)
  if want.dtype == "float32" or want.dtype == "complex64" then re, im = singles(re), singles(im) end
  local got_re, got_im = parts(got)
  if want.re and not got.re then return "a real result, expected a complex one" end
  return compare_data(got_re, re, case, offset, want.dtype) or compare_data(got_im, im, case, 0)
end

local function differs_in_form(got, want, case, dtype)
  local shape = want.shape or {}
  if text_of_shape(got.shape) ~= text_of_shape(shape) then
    return ("shape %s, expected %s"):format(text_of_shape(got.shape), text_of_shape(shape))
  end
  if dtype and got.dtype ~= dtype and got.dtype ~= case.alt_dtype then
    return ("dtype %s, expected %s"):format(got.dtype, dtype)
  end
end

local function differs_in_kind(got, want)
  local kind = want.kind == "sparse" and want.format or "dense"
  local is = got.kind == "sparse" and got.format or "dense"
  if kind ~= is then return ("%s, expected %s"):format(is, kind) end
end

-- ---- Sparse -------------------------------------------------------------------------------------------------------

-- The entries of each row (csr) or column (csc), sorted by index, duplicates in storage order: lists of {index, re,
-- im}.
local function lines_of(v)
  local re, im = parts(v)
  local lines = {}
  for l = 1, #v.indptr - 1 do
    local line = {}
    for k = v.indptr[l] + 1, v.indptr[l + 1] do line[#line + 1] = { v.indices[k], re[k], im[k], k } end
    table.sort(line, function(a, b) return a[1] < b[1] or (a[1] == b[1] and a[4] < b[4]) end)
    lines[l] = line
  end
  return lines
end

local function compare_pattern(got, want, case)
  local a, b = lines_of(got), lines_of(want)
  for l = 1, #b do
    if #a[l] ~= #b[l] then return ("line %d stores %d entries, expected %d"):format(l, #a[l], #b[l]) end
    for k, w in ipairs(b[l]) do
      local g = a[l][k]
      if g[1] ~= w[1] then return ("line %d stores index %d, expected %d"):format(l, g[1], w[1]) end
      if not (close(g[2], w[2], case) and close(g[3], w[3], case)) then
        return ("line %d, index %d is %s%+gi, expected %s%+gi"):format(l, w[1], g[2], g[3], w[2], w[3])
      end
    end
  end
end

local function same_list(name, got, want)
  if #got ~= #want then return ("%d %s, expected %d"):format(#got, name, #want) end
  for i = 1, #want do
    if got[i] ~= want[i] then return ("%s[%d] is %s, expected %s"):format(name, i - 1, got[i], want[i]) end
  end
end

local function compare_layout(got, want, case)
  return same_list("indptr", got.indptr, want.indptr)
    or same_list("indices", got.indices, want.indices)
    or compare_values(got, want, case, 0)
end

local is_comparison = { eq = true, neq = true, lt = true, le = true, gt = true, ge = true }

function judge.output(got, want, case, offset)
  local dtype = want.dtype
  if is_comparison[case.op] and dtype == "uint8" then dtype = "bool" end
  local why = differs_in_kind(got, want) or differs_in_form(got, want, case, dtype)
  if why then return why end
  if want.kind ~= "sparse" then return compare_values(got, want, case, offset) end
  return (case.compare == "layout" and compare_layout or compare_pattern)(got, want, case)
end

-- ---- Gradients ----------------------------------------------------------------------------------------------------

-- A matrix as {[row .. "," .. column] = {re, im}}, duplicates summed; for dense ones every element.
local function places_of(v)
  local re, im = parts(v)
  local at = {}
  local function add(i, j, k)
    local key = i .. "," .. j
    local e = at[key] or { 0, 0 }
    at[key] = { e[1] + re[k], e[2] + im[k] }
  end
  if v.kind ~= "sparse" then
    for k = 1, #re do add(math.floor((k - 1) / v.shape[2]), (k - 1) % v.shape[2], k) end
    return at
  end
  for l = 1, #v.indptr - 1 do
    for k = v.indptr[l] + 1, v.indptr[l + 1] do
      local major, minor = l - 1, v.indices[k]
      if v.format == "csr" then add(major, minor, k) else add(minor, major, k) end
    end
  end
  return at
end

local zero = { 0, 0 }

local function compare_places(got, want, case, only)
  local a, b = places_of(got), places_of(want)
  local function compare(key)
    local g, w = a[key] or zero, b[key] or zero
    if not (close(g[1], w[1], case) and close(g[2], w[2], case)) then
      return ("at (%s) %s%+gi, expected %s%+gi"):format(key, g[1], g[2], w[1], w[2])
    end
  end
  for key in pairs(only or a) do
    local why = compare(key)
    if why then return why end
  end
  for key in pairs(only or b) do
    local why = compare(key)
    if why then return why end
  end
end

-- The positions that a verdict is about: those stored in the operand, or all (nil).
local function places_judged(vjp, operand)
  local verdict = vjp.verdict or ""
  if operand.kind ~= "sparse" or not verdict:find "^structured" or verdict:find "regular here" then return nil end
  return places_of(operand)
end

function judge.gradient(got, want, case, vjp)
  local noted = vjp.note ~= nil
  local why = differs_in_form(got, want, case, not noted and want.dtype or nil)
    or (not noted and differs_in_kind(got, want) or nil)
  if why then return why end
  local is_matrix = want.shape and #want.shape == 2
  if got.kind == "sparse" and want.kind == "sparse" and (vjp.verdict or ""):find "duplicates" then
    if got.format == want.format and not compare_pattern(got, want, case) then return nil end
  end
  if is_matrix and (got.kind == "sparse" or want.kind == "sparse") then
    return compare_places(got, want, case, places_judged(vjp, case.inputs[vjp.wrt]))
  end
  return compare_values(got, want, case, 0)
end

return judge
