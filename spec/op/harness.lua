-- The harness of the op specs: it runs one row of tests for each op function.
--
-- A row is a list of cases, in the rows file of the function's family (spec/op/rows):
--
--   { {…}, {…}, want = …, opts = … }       operands in order; a nested table is a float64 Array, an Array is itself,
--                                          a number or boolean is a literal, h.list{…} an operand that is a list
--   want   the result: nested table, scalar, or h.shape(…) for a result without entries
--   wants  the results of a function that returns several, in order
--   check  function(result, …) in place of want
--   dtype  of the result, or a list of dtypes; default "float64"
--   f32    the result's dtype for float32 operands, default "float32"; false: not run
--   int    the result's dtype for int64 operands; not run if absent
--   grad   list of the operands to differentiate for; true: all of float64 (the default where every result is a float);
--          false: none
--   tol    relative and absolute tolerance of values, default 1e-12
--   compiled, layouts  false: not run
--
-- Every case runs eagerly; as a method; on strided operands; compiled in both modes, in one of them from the bytes of a
-- file; on float32 and int64 operands; and its gradient is compared with central differences in float64.
-- h.each makes the cases of elementwise functions.
--
-- Busted's functions exist only in the environment of a spec file, which passes them on:
-- local h = assert(loadfile "spec/op/harness.lua")(describe, it)
local describe, it = ...
local damo = require "damo"
local luassert = require "luassert"
local lua_float = require "spec.support.is_float"
local stored = require "spec.support.stored"
local plain = dofile "spec/op/plain_math.lua"

local h = { plain = plain }
local modes = { "FAST_RUN", "FAST_COMPILE" }

-- ---- Helpers for rows -----------------------------------------------------------------------------------------------

local list_mark, shape_mark = {}, {}
function h.list(items) return { list_mark, items = items } end
function h.shape(...) return { shape_mark, dims = { ... } } end
function h.ints(t) return damo.array(t, "int64") end
function h.bools(t) return damo.array(t, "bool") end
function h.floats(t) return damo.array(t, "float32") end

local function is_list(x) return type(x) == "table" and x[1] == list_mark end
local function is_array(x) return type(x) == "userdata" and not damo.is_variable(x) end
local function is_float(dtype) return dtype:match "^float" ~= nil end

-- ---- Operands -------------------------------------------------------------------------------------------------------

--- The operands with fn applied to each Array (in lists too); nested tables are converted to Arrays first.
local function map_arrays(operands, fn)
  local out = {}
  for i = 1, #operands do
    local x = operands[i]
    if is_list(x) then
      x = map_arrays(x.items, fn)
    elseif is_array(x) then
      x = fn(x)
    elseif type(x) == "table" then
      x = fn(damo.array(x))
    end
    out[i] = x
  end
  return out
end

local function same(x) return x end

--- Calls the function with these operands and the case's options.
local function call(f, operands, case)
  local n = #operands
  if case.opts ~= nil then
    n = n + 1
    operands = table.move(operands, 1, n - 1, 1, {})
    operands[n] = case.opts
  end
  return table.pack(f(table.unpack(operands, 1, n)))
end

--- Other layouts of the same values; nil if an Array has no such layout.
local layouts = {
  { "every second entry", function(a)
    if a.ndim == 0 or a.size == 0 then return a end
    local shape, whole = a.shape, {}
    shape[#shape] = 2 * shape[#shape]
    local wide = damo.zeros(shape, { dtype = a.dtype })
    whole[1] = damo.ellipsis
    whole[2] = { 1, -1, 2 }
    wide[whole] = a
    return wide[whole]
  end },
  { "transposed", function(a) return a.ndim < 2 and a or a.T:copy().T end },
  { "backwards", function(a)
    if a.ndim == 0 or a.size == 0 then return a end
    return a[{ { -1, 1, -1 } }]:copy()[{ { -1, 1, -1 } }]
  end },
}

-- ---- Comparing ------------------------------------------------------------------------------------------------------

local function shape_text(shape) return "(" .. table.concat(shape, ", ") .. ")" end

local function nested_shape(t)
  local shape = {}
  while type(t) == "table" do
    shape[#shape + 1] = #t
    t = t[1]
  end
  return shape
end

local function leaves(t, out)
  if type(t) ~= "table" then
    out[#out + 1] = t
    return out
  end
  for i = 1, #t do leaves(t[i], out) end
  return out
end

local function near(x, y, tol)
  -- An int64 that the Lua has no number for is a 0-d Array.
  if is_array(x) and x.dtype == "int64" and x.ndim == 0 then x = damo.cast(x, "float64") end
  if x == y then return true end
  if type(x) ~= "number" or type(y) ~= "number" then return false end
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  if math.abs(y) == math.huge then return false end -- the tolerance would be infinite too
  return math.abs(x - y) <= tol + tol * math.abs(y)
end

--- Raises unless the value (a scalar or an Array) has the wanted shape and entries.
local function compare(value, want, tol, what)
  local got = value
  if type(want) == "table" and want[1] == shape_mark then
    assert(is_array(value), what .. ": expected an Array, got " .. tostring(value))
    local text = shape_text(value.shape)
    assert(text == shape_text(want.dims), what .. ": shape " .. text .. ", expected " .. shape_text(want.dims))
    return
  end
  if is_array(value) then
    got = value:totable()
    local text = shape_text(value.shape)
    local wanted = shape_text(nested_shape(want))
    assert(text == wanted, what .. ": shape " .. text .. ", expected " .. wanted)
  end
  local a, b = leaves(got, {}), leaves(want, {})
  assert(#a == #b, ("%s: %d entries, expected %d"):format(what, #a, #b))
  for k = 1, #a do
    assert(near(a[k], b[k], tol), ("%s: entry %d is %s, expected %s"):format(what, k, tostring(a[k]), tostring(b[k])))
  end
end

h.compare = compare

local function dtype_of(value)
  if is_array(value) then return value.dtype end
  if type(value) == "boolean" then return "bool" end
  return math.type(value)
end

local function check_dtype(value, wanted, what)
  local got = dtype_of(value)
  if got == "integer" and wanted:match "int" then return end
  if lua_float(value) and is_float(wanted) then return end
  assert(got == wanted, ("%s: dtype %s, expected %s"):format(what, got, wanted))
end

local function wants_of(case)
  if case.wants then return case.wants end
  return { case.want }
end

local function dtypes_of(case, n)
  local out = {}
  for i = 1, n do out[i] = type(case.dtype) == "table" and case.dtype[i] or type(case.dtype) == "string"
    and case.dtype or "float64" end
  return out
end

local function check_results(got, case, dtypes, tol, what)
  if case.check then return case.check(table.unpack(got, 1, got.n)) end
  local wants = wants_of(case)
  assert(got.n == #wants, ("%s: %d results, expected %d"):format(what, got.n, #wants))
  for i = 1, #wants do
    local label = #wants > 1 and ("%s, result %d"):format(what, i) or what
    compare(got[i], wants[i], tol, label)
    if dtypes then check_dtype(got[i], dtypes[i], label) end
  end
end

-- ---- The runs of one case -------------------------------------------------------------------------------------------

local function variable(a, name)
  local shape = a.shape
  for i = 1, #shape do
    if shape[i] ~= 1 then shape[i] = false end
  end
  return damo.tensor(name, { dtype = a.dtype, shape = shape })
end

--- Variables in place of Arrays, and the Arrays in the same order.
local function graph_operands(operands)
  local vars, values = {}, {}
  local symbolic = map_arrays(operands, function(a)
    local v = variable(a, "x" .. #vars + 1)
    vars[#vars + 1], values[#values + 1] = v, a
    return v
  end)
  return symbolic, vars, values
end

local function run_eager(f, case)
  local operands = map_arrays(case, same)
  local got = call(f, operands, case)
  local dtypes = dtypes_of(case, got.n)
  check_results(got, case, dtypes, case.tol or 1e-12, "eager")
  for _ = 1, 3 do -- by the frame that is kept for such calls
    check_results(call(f, operands, case), case, dtypes, case.tol or 1e-12, "eager again")
  end
end

--- The case's options with `out`; a value alone is that of the first option.
local function options_into(name, case, out)
  local options, named = { out = out }, false
  for key, value in pairs(type(case.opts) == "table" and case.opts or {}) do
    named = named or type(key) == "string"
    options[key] = value
  end
  if case.opts ~= nil and not named then
    local first = name == "full" and "dtype" or h.registry[name].options[1].name
    options = { out = out, [first] = case.opts }
  end
  return { opts = options }
end

local function target_like(value, dtype)
  if is_array(value) then return damo.zeros(value.shape, { dtype = value.dtype }) end
  return damo.array(type(value) == "boolean" and false or 0, dtype)
end

--- The calls whose results are views of an operand or sparse, and so take no `out`.
local function takes_no_out(err)
  return err.kind == "type" and (err.message:find("view of an operand", 1, true) or err.message:find "is sparse")
end

--- Results written into Arrays of their own, and into the operand that has the result's shape and dtype.
local function run_out(name, f, case)
  local operands = map_arrays(case, same)
  local got = call(f, operands, case)
  local targets, dtypes = {}, dtypes_of(case, got.n)
  for i = 1, got.n do
    if damo.sparse.is_sparse(got[i]) then return end
    targets[i] = target_like(got[i], dtypes[i])
  end
  local into = options_into(name, case, got.n == 1 and targets[1] or targets)
  for _ = 1, 4 do
    local ok, results = pcall(call, f, operands, into)
    if not ok and takes_no_out(results) then return end
    if not ok then error(results, 0) end
    for i = 1, got.n do
      assert(rawequal(results[i], targets[i]), "out is not returned")
      assert(damo.array_equal(results[i], got[i], { equal_nan = true }), ("result %d differs from out"):format(i))
      results[i][{ damo.ellipsis }] = damo.zeros_like(results[i])
    end
  end
  for k = 1, got.n == 1 and is_array(got[1]) and #operands or 0 do
    local x = operands[k]
    if is_array(x) and x.dtype == got[1].dtype and shape_text(x.shape) == shape_text(got[1].shape) then
      for _ = 1, 4 do
        local changed = table.move(operands, 1, #operands, 1, {})
        changed[k] = x:copy()
        local y = call(f, changed, options_into(name, case, changed[k]))[1]
        assert(rawequal(y, changed[k]), "the operand is not returned")
        assert(damo.array_equal(y, got[1], { equal_nan = true }), "the result differs in operand " .. k)
      end
    end
  end
end

local function run_method(name, case)
  local operands = map_arrays(case, same)
  if not is_array(operands[1]) then return end
  local got = call(function(x, ...) return x[name](x, ...) end, operands, case)
  check_results(got, case, nil, case.tol or 1e-12, "as a method")
end

local function run_layouts(f, case)
  for _, layout in ipairs(layouts) do
    local operands = map_arrays(case, layout[2])
    check_results(call(f, operands, case), case, nil, case.tol or 1e-12, layout[1])
  end
end

local function run_compiled(f, case)
  local symbolic, vars, values = graph_operands(case)
  if #vars == 0 then return end
  local results = call(f, symbolic, case)
  local outputs = { table.unpack(results, 1, results.n) }
  for i = 1, #outputs do assert(damo.is_variable(outputs[i]), "a Variable gives no Variable") end
  for _, mode in ipairs(modes) do
    if mode == "FAST_COMPILE" then vars, outputs = stored(vars, outputs) end
    local g = damo.compile(vars, outputs, { mode = mode, on_unused_input = "ignore" })
    local got = table.pack(g(table.unpack(values)))
    check_results(got, case, dtypes_of(case, got.n), case.tol or 1e-12, mode)
    if case.layouts ~= false then
      for _, layout in ipairs(layouts) do
        local strided = {}
        for i = 1, #values do strided[i] = layout[2](values[i]) end
        check_results(table.pack(g(table.unpack(strided))), case, nil, case.tol or 1e-12, mode .. ", " .. layout[1])
      end
    end
  end
end

--- The case on operands of another dtype, eagerly and compiled.
local function run_as(f, case, dtype, wanted, tol)
  local function convert(a) return is_float(a.dtype) and a:astype(dtype) or a end
  local operands = map_arrays(case, convert)
  local got = call(f, operands, case)
  local dtypes = {}
  for i, old in ipairs(dtypes_of(case, got.n)) do dtypes[i] = is_float(old) and wanted or old end
  check_results(got, case, dtypes, tol, dtype)
  local converted = {}
  for i = 1, #case do converted[i] = is_list(case[i]) and h.list(operands[i]) or operands[i] end
  local symbolic, vars, values = graph_operands(converted)
  if #vars == 0 then return end
  local results = call(f, symbolic, case)
  local g = damo.compile(vars, { table.unpack(results, 1, results.n) }, { on_unused_input = "ignore" })
  check_results(table.pack(g(table.unpack(values))), case, dtypes, tol, dtype .. ", compiled")
end

local function run_dtypes(f, case)
  local has_float = false
  map_arrays(case, function(a)
    has_float = has_float or a.dtype == "float64"
    return a
  end)
  if not has_float or case.check then return end
  if case.f32 ~= false then run_as(f, case, "float32", case.f32 or "float32", math.max(case.tol or 0, case.tol32
    or 3e-6)) end
  if case.int then run_as(f, case, "int64", case.int, case.tol or 1e-12) end
end

-- ---- Gradients ------------------------------------------------------------------------------------------------------

--- Fixed weights of changing sign, so that all entries of a result affect the cost differently.
local function weights_like(value, seed)
  local shape, n = {}, 1
  if is_array(value) then shape, n = value.shape, value.size end
  local flat = {}
  for k = 1, n do flat[k] = math.sin(1.7 * k + seed) + 0.3 end
  if #shape == 0 then return flat[1] end
  return damo.array(flat):reshape(shape)
end

local function differentiable(case)
  if case.grad == false or case.check then return false end
  for _, dtype in ipairs(dtypes_of(case, #wants_of(case))) do
    if not is_float(dtype) then return case.grad ~= nil end
  end
  return true
end

local function cost_of(results, weights)
  local cost
  for i = 1, results.n do
    if weights[i] then
      local part = damo.sum(results[i] * weights[i])
      cost = cost and cost + part or part
    end
  end
  return cost
end

--- d cost / d a by central differences, as a flat list; run() computes the cost from the operands, a among them.
local function differences(a, run)
  local flat = a:reshape { -1 }
  local slope = {}
  for k = 1, a.size do
    local x = flat[k]
    local step = 1e-5 * (x == x and math.max(1, math.abs(x)) or 1)
    flat[k] = x + step
    local up = run(flat:reshape(a.shape))
    flat[k] = x - step
    local down = run(flat:reshape(a.shape))
    flat[k] = x
    slope[k] = (up - down) / (2 * step)
  end
  return slope
end

local function gradient_set(case, values)
  local chosen = {}
  if type(case.grad) == "table" then
    for _, i in ipairs(case.grad) do chosen[#chosen + 1] = i end
    return chosen
  end
  for i, a in ipairs(values) do
    if a.dtype == "float64" and a.size > 0 then chosen[#chosen + 1] = i end
  end
  return chosen
end

local function run_gradient(f, case)
  local symbolic, vars, values = graph_operands(case)
  local wrt = gradient_set(case, values)
  if #wrt == 0 then return end
  local results = call(f, symbolic, case)
  local plain_results = call(f, map_arrays(case, same), case)
  local weights = {}
  for i, dtype in ipairs(dtypes_of(case, results.n)) do
    if is_float(dtype) then weights[i] = weights_like(plain_results[i], i) end
  end
  local cost = cost_of(results, weights)
  local wrt_vars = {}
  for k, i in ipairs(wrt) do wrt_vars[k] = vars[i] end
  local slopes = damo.grad(cost, wrt_vars)
  for _, mode in ipairs(modes) do
    if mode == "FAST_COMPILE" then vars, slopes = stored(vars, slopes) end
    local g = damo.compile(vars, slopes, { mode = mode, on_unused_input = "ignore" })
    local got = table.pack(g(table.unpack(values)))
    for k, i in ipairs(wrt) do
      local function run(changed)
        local at = 0
        local operands = map_arrays(case, function(a)
          at = at + 1
          return at == i and changed or a
        end)
        return cost_of(call(f, operands, case), weights)
      end
      local slope = differences(values[i], run)
      local mine = got[k]
      if is_array(mine) then
        assert(shape_text(mine.shape) == shape_text(values[i].shape), ("%s: the gradient for operand %d has shape %s")
          :format(mode, i, shape_text(mine.shape)))
        mine = leaves(mine:totable(), {})
      else
        mine = { mine }
      end
      for n = 1, #slope do
        assert(near(mine[n], slope[n], case.grad_tol or 2e-6),
          ("%s: the gradient for operand %d, entry %d is %s, by differences %s"):format(mode, i, n, mine[n], slope[n]))
      end
    end
  end
end

-- ---- Cases of elementwise functions ---------------------------------------------------------------------------------

local float_of = { bool = "float32", int8 = "float32", uint8 = "float32", int16 = "float32", int32 = "float64",
  int64 = "float64" }
local rules = {
  promote = function(dtype) return dtype end,
  number = function(dtype) return dtype == "bool" and "int8" or dtype end,
  float = function(dtype) return float_of[dtype] or dtype end,
  divide = function(dtype) return float_of[dtype] and "float64" or dtype end,
  compare = function() return "bool" end,
}

local function map_each(fn, columns)
  local out = {}
  for k = 1, #columns[1] do
    local point = {}
    for i = 1, #columns do point[i] = columns[i][k] end
    out[k] = fn(table.unpack(point))
  end
  return out
end

--- The list as a matrix of two rows, or of one.
local function as_matrix(list)
  local half = math.floor(#list / 2)
  if half * 2 ~= #list then return { list } end
  return { table.move(list, 1, half, 1, {}), table.move(list, half + 1, #list, 1, {}) }
end

local function map_columns(columns, fn)
  local out = {}
  for i = 1, #columns do out[i] = fn(columns[i]) end
  return out
end

local function case_of(operands, fields)
  for k, v in pairs(fields) do operands[k] = v end
  return operands
end

--- The first points of all columns from k on.
local function firsts(columns, k)
  local out = {}
  for i = k, #columns do out[#out + 1] = columns[i][1] end
  return table.unpack(out)
end

--- The cross product of the first two operands' points, the others at their first point.
local function outer_case(fn, columns, fields)
  local column, want = {}, {}
  for i, x in ipairs(columns[1]) do
    column[i] = { x }
    want[i] = {}
    for k, y in ipairs(columns[2]) do want[i][k] = fn(x, y, firsts(columns, 3)) end
  end
  local operands = { column, columns[2] }
  for i = 3, #columns do operands[i] = { columns[i][1] } end
  fields.want = want
  return case_of(operands, fields)
end

local function integer_cases(cases, spec)
  for _, dtype in ipairs { "int8", "uint8", "int16", "int32", "int64" } do
    local want = rules[spec.rule](dtype)
    local negative = false
    for _, column in ipairs(spec.ints) do
      for _, x in ipairs(column) do negative = negative or x < 0 end
    end
    if not (negative and dtype == "uint8") then
      local operands = map_columns(spec.ints, function(c) return damo.array(c, dtype) end)
      cases[#cases + 1] = case_of(operands,
        { want = map_each(spec.each, spec.ints), dtype = want, tol = want == "float32" and 1e-6 or spec.tol,
          grad = false })
    end
  end
end

--- Cases of an elementwise function. spec: each (the function in plain Lua), at (a list of points for each operand),
--- ints (the same for integers), rule (the result's dtype; default "float"), grad and tol as in cases, outer=false if
--- not
--- every pair of points is allowed, and special: further cases (nan, infinities, -0.0).
function h.each(spec)
  local columns, fn = spec.at, spec.each
  spec.rule = spec.rule or "float"
  local dtype = rules[spec.rule] "float64"
  local function fields(want, grad)
    return { want = want, dtype = dtype, tol = spec.tol, tol32 = spec.tol32, grad = grad, grad_tol = spec.grad_tol,
      f32 = rules[spec.rule] "float32" }
  end
  local cases = { case_of(map_columns(columns, same), fields(map_each(fn, columns), spec.grad)) }
  cases[2] = case_of(map_columns(columns, as_matrix), fields(as_matrix(map_each(fn, columns)), false))
  local first = map_columns(columns, function(c) return damo.array(c[1]) end)
  cases[3] = case_of(first, fields(map_each(fn, columns)[1], spec.grad))
  cases[4] = case_of(map_columns(columns, function() return damo.zeros { 0, 3 } end), fields(h.shape(0, 3), false))
  if #columns > 1 then
    if spec.outer ~= false then cases[#cases + 1] = outer_case(fn, columns, fields(nil, spec.grad)) end
    local mixed, want = { columns[1], firsts(columns, 2) }, {}
    for k, x in ipairs(columns[1]) do want[k] = fn(x, firsts(columns, 2)) end
    if spec.literal ~= false then cases[#cases + 1] = case_of(mixed, fields(want, spec.grad)) end
  end
  -- Long enough for a vector kernel's main loop and its tail.
  local long = map_columns(columns, function(c)
    local out = {}
    for k = 1, 37 do out[k] = c[(k - 1) % #c + 1] end
    return out
  end)
  cases[#cases + 1] = case_of(long, fields(map_each(fn, long), false))
  if spec.ints then integer_cases(cases, spec) end
  for _, case in ipairs(spec.special or {}) do
    case.dtype = case.dtype or dtype
    if case.grad == nil then case.grad = false end
    if case.f32 == nil then case.f32 = rules[spec.rule] "float32" end
    cases[#cases + 1] = case
  end
  return cases
end

-- ---- Families -------------------------------------------------------------------------------------------------------

h.registry = {}
-- (Rows of sparse functions have specs of their own, spec/sparse.)
for _, row in ipairs(require("damo.core").registry()) do
  if not row.name:find "^sparse%." then h.registry[row.name] = row end
end

h.families = { "elemwise", "composed", "special", "floats", "statistics", "table", "reduce", "cumulative", "shape",
  "alloc", "join", "index", "grid", "segment", "sets", "calculus", "blas", "nnet", "nn", "marker", "fft",
}

--- The rows of a family: name → list of cases.
function h.rows(family) return dofile("spec/op/rows/" .. family .. ".lua")(h) end

local function function_named(name)
  local home, last = name:match "^(.-)%.?([^.]*)$"
  local f = (home == "" and damo or damo[home])[last]
  assert(f, "there is no function damo." .. name)
  return f
end

--- Runs one kind of check over a row's cases; an error names the case.
local function over(cases, run)
  return function()
    for i, case in ipairs(cases) do
      local ok, err = pcall(run, case)
      if not ok then error(("case %d: %s"):format(i, tostring(err)), 0) end
    end
  end
end

local function run_row(name, cases)
  local f = function_named(name)
  it(name .. ": values", over(cases, function(case) run_eager(f, case) end))
  if h.registry[name] and h.registry[name].method then
    it(name .. ": as a method", over(cases, function(case) run_method(name, case) end))
  end
  it(name .. ": out", over(cases, function(case) run_out(name, f, case) end))
  it(name .. ": strided operands", over(cases, function(case)
    if case.layouts ~= false then run_layouts(f, case) end
  end))
  it(name .. ": compiled", over(cases, function(case)
    if case.compiled ~= false then run_compiled(f, case) end
  end))
  it(name .. ": other dtypes", over(cases, function(case) run_dtypes(f, case) end))
  it(name .. ": gradient", over(cases, function(case)
    if differentiable(case) then run_gradient(f, case) end
  end))
end

--- The case as two functions without arguments: the eager call, and the symbolic one (nil without Arrays).
function h.calls(name, case)
  local f, operands = function_named(name), map_arrays(case, same)
  local symbolic, vars = graph_operands(case)
  return function() return call(f, operands, case) end,
    #vars > 0 and function() return call(f, symbolic, case) end or nil
end

function h.run_family(family)
  local rows, names = h.rows(family), {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  describe(family, function()
    for _, name in ipairs(names) do run_row(name, rows[name]) end
  end)
end

-- ---- Errors ---------------------------------------------------------------------------------------------------------

--- Runs a list of {what, kind, message, function}: each function must raise that error, with that whole message.
function h.run_errors(family, list)
  describe(family .. " refuses", function()
    for _, case in ipairs(list) do
      it(case[1], function()
        local ok, err = pcall(case[4])
        luassert.is_false(ok)
        luassert.is_truthy(type(err) ~= "string" and err.kind, "not an error object: " .. tostring(err))
        luassert.equal(case[3], err.message)
        luassert.equal(case[2], err.kind)
        for _ = 1, 2 do -- a call that failed is not remembered
          ok, err = pcall(case[4])
          luassert.is_false(ok)
          luassert.equal(case[3], err.message)
        end
      end)
    end
  end)
end

return h
