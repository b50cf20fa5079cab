-- Shared by the specs of the sparse families: matrices of every kind, comparison, runs in every mode, derivatives by
-- finite differences.
--
--   local s = require "spec.sparse.support"     (busted runs in the repository's root)
--
--   for _, m in ipairs(s.matrices("float64", { rows = 4, cols = 5 })) do … m.name, m.value … end
--   s.same_everywhere(function(x) return damo.sparse.neg(x) end, { A })       → the eager results
--   s.check_value(fn, { A, v }, function(a, v) return … end)                  dense tables in, a dense table out
--   s.check_grad(fn, { A, v })            gradients of every float operand, at stored entries of the sparse ones
--   s.check_second(fn, { A, v })          the same of the gradients
--   s.check_rop(fn, { A, v })
--   s.raises("shape", "the whole message", function() … end)

local assert = require "luassert"
local damo = require "damo"

local s = {}

s.formats = { "csr", "csc" }
s.itypes = { "int32", "int64" }
s.floats = { "float32", "float64", "complex64", "complex128" }
s.dtypes = { "float32", "float64", "complex64", "complex128", "int8", "int64", "uint8", "bool" }
s.modes = { "FAST_RUN", "FAST_COMPILE", "DEBUG" }

local function is_complex(dtype) return dtype:find "complex" ~= nil end
local function is_float(dtype) return dtype:find "float" ~= nil or is_complex(dtype) end
local function is_sparse(v) return damo.sparse.is_sparse(v) end

-- ---- Numbers ------------------------------------------------------------------------------------------------------

-- A generator with the same numbers on every machine: each call of the returned function gives one in [low, high).
function s.numbers(seed, low, high)
  local state = seed or 1
  low, high = low or -2, high or 2
  return function()
    -- state * 1103515245 + 12345, in two parts that a float64 holds
    state = (state * 16838 % 2147483648 * 65536 + state * 20077 + 12345) % 2147483648
    return low + (high - low) * (state / 2147483648)
  end
end

local function round(x) return math.floor(x * 1000 + 0.5) / 1000 end

-- A vector of n values of a dtype: three digits, none of them 0.
function s.vector(n, dtype, seed, low, high)
  local next_number = s.numbers(seed, low, high)
  local function one()
    local v = round(next_number())
    return v == 0 and 0.5 or v
  end
  local re, im = {}, {}
  for i = 1, n do
    local v = one()
    if dtype == "bool" then
      re[i] = true
    elseif is_float(dtype) then
      re[i] = v
    else
      re[i] = math.max(1, math.floor(math.abs(v) * 10))
    end
    im[i] = is_complex(dtype) and one() or nil
  end
  if n == 0 then return damo.zeros({ 0 }, dtype) end
  if not is_complex(dtype) then return damo.array(re, dtype) end
  local part = dtype == "complex64" and "float32" or "float64"
  return damo.complex(damo.array(re, part), damo.array(im, part))
end

function s.dense(rows, cols, dtype, seed, low, high)
  return s.vector(rows * cols, dtype or "float64", seed or 7, low, high):reshape { shape = { rows, cols } }
end

-- ---- Matrices -----------------------------------------------------------------------------------------------------

-- The entries of each row (major axis): some rows empty, minor indices ascending.
local function pattern(major, minor, seed)
  local next_number = s.numbers(seed, 0, 1)
  local indices, indptr = {}, { 0 }
  for i = 1, major do
    for j = 0, minor - 1 do
      if i % 3 ~= 0 and next_number() < 0.6 then indices[#indices + 1] = j end
    end
    indptr[i + 1] = #indices
  end
  return indices, indptr
end

local function build(format, rows, cols, data, indices, indptr, itype)
  local function ints(list) return #list == 0 and damo.zeros({ 0 }, "int64") or damo.array(list, "int64") end
  return damo.sparse[format] {
    data = data, indices = ints(indices), indptr = ints(indptr), shape = { rows, cols }, itype = itype,
  }
end

local function reversed_lines(indices, indptr)
  local out = {}
  for l = 1, #indptr - 1 do
    for k = indptr[l] + 1, indptr[l + 1] do out[k] = indices[indptr[l + 1] - (k - indptr[l] - 1)] end
  end
  return out
end

-- Duplicates the first entry of each row (major axis).
local function doubled(indices, indptr)
  local out, ends = {}, { 0 }
  for l = 1, #indptr - 1 do
    if indptr[l + 1] > indptr[l] then out[#out + 1] = indices[indptr[l] + 1] end
    for k = indptr[l] + 1, indptr[l + 1] do out[#out + 1] = indices[k] end
    ends[l + 1] = #out
  end
  return out, ends
end

-- o: rows, cols, format, dtype, itype, seed, low, high, kind ("plain", "unsorted", "duplicates", "zeros", "nnz0").
function s.matrix(o)
  o = o or {}
  local format, dtype, kind = o.format or "csr", o.dtype or "float64", o.kind or "plain"
  local rows, cols = o.rows or 4, o.cols or 5
  local major, minor = rows, cols
  if format == "csc" then major, minor = cols, rows end
  local indices, indptr = pattern(major, minor, o.seed or 3)
  if kind == "unsorted" then indices = reversed_lines(indices, indptr) end
  if kind == "duplicates" then indices, indptr = doubled(indices, indptr) end
  if kind == "nnz0" then
    indices = {}
    for l = 1, #indptr do indptr[l] = 0 end
  end
  local data = s.vector(#indices, dtype, (o.seed or 3) + 1, o.low, o.high)
  if kind == "zeros" and #indices > 1 then data[2] = dtype == "bool" and false or 0 end
  return build(format, rows, cols, data, indices, indptr, o.itype)
end

-- Every kind of matrix of a dtype, as {name=, value=}, in both formats and index dtypes; o as for s.matrix.
function s.matrices(dtype, o)
  local list = {}
  local function add(kind, format, itype, rows, cols)
    local value = s.matrix {
      dtype = dtype, format = format, itype = itype, rows = rows, cols = cols, seed = o and o.seed,
      low = o and o.low, high = o and o.high, kind = kind,
    }
    local name = ("%s %s %s %s %dx%d"):format(format, dtype, itype, kind, rows, cols)
    list[#list + 1] = { name = name, value = value, kind = kind, format = format }
  end
  local rows, cols = o and o.rows or 4, o and o.cols or 5
  for _, format in ipairs(s.formats) do
    for _, itype in ipairs(s.itypes) do add("plain", format, itype, rows, cols) end
    for _, kind in ipairs { "unsorted", "duplicates", "zeros", "nnz0" } do add(kind, format, "int32", rows, cols) end
    if not (o and o.fixed) then
      add("plain", format, "int32", 0, 0)
      add("plain", format, "int32", 0, cols)
      add("plain", format, "int32", rows, 0)
      add("plain", format, "int32", 1, 1)
    end
  end
  return list
end

-- ---- Reading ------------------------------------------------------------------------------------------------------

-- A value as a flat list of real numbers; a complex one as its real parts, then its imaginary parts.
function s.flat(v)
  if type(v) == "number" then return { v } end
  if type(v) == "boolean" then return { v and 1 or 0 } end
  if is_sparse(v) then v = damo.sparse.toarray(v) end
  if type(v) ~= "userdata" then error("no value: " .. tostring(v), 2) end
  local out = {}
  local function walk(t)
    if type(t) == "table" then
      for _, x in ipairs(t) do walk(x) end
    else
      out[#out + 1] = t == true and 1 or t == false and 0 or t
    end
  end
  local function add(a)
    if type(a) ~= "userdata" then return walk(a) end
    walk(a.ndim == 0 and a:item() or a:totable())
  end
  if is_complex(v.dtype) then
    add(damo.real(v))
    add(damo.imag(v))
  else
    add(v)
  end
  return out
end

-- A matrix (sparse or dense) as a table of rows.
function s.todense(v)
  if is_sparse(v) then v = damo.sparse.toarray(v) end
  return v:totable()
end

local function near(x, y, tol)
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  if x == y then return true end
  return math.abs(x - y) <= tol * (1 + math.abs(y))
end

local tolerances = { float32 = 2e-5, complex64 = 2e-5, float64 = 1e-12, complex128 = 1e-12 }

local function dtype_of(v) return type(v) == "userdata" and v.dtype or "float64" end

-- Raises unless the numbers agree; got and want are values or flat lists.
function s.close(got, want, what, tol)
  tol = tol or tolerances[dtype_of(got)] or 1e-12
  local a = type(got) == "table" and got or s.flat(got)
  local b = type(want) == "table" and want or s.flat(want)
  if #a ~= #b then error(("%s: %d numbers, expected %d"):format(what or "value", #a, #b), 2) end
  for i = 1, #b do
    if not near(a[i], b[i], tol) then
      error(("%s: number %d is %.17g, expected %.17g"):format(what or "value", i, a[i], b[i]), 2)
    end
  end
end

-- Raises unless two sparse matrices have the same format, dtype, shape and the same three vectors.
function s.same_storage(got, want, what)
  local function same(name, a, b)
    if a ~= b then error(("%s: %s is %s, expected %s"):format(what or "value", name, a, b), 3) end
  end
  same("format", got.format, want.format)
  same("dtype", got.dtype, want.dtype)
  for i = 1, 2 do same("shape", got.shape[i], want.shape[i]) end
  for _, part in ipairs { "indptr", "indices", "data" } do s.close(got[part], want[part],
    (what or "") .. " " .. part) end
end

-- ---- Graphs -------------------------------------------------------------------------------------------------------

-- A Variable for a value; its dimensions are unknown except those of 1.
function s.variable(v, name)
  if is_sparse(v) then return damo.sparse.matrix(v.format, name, { dtype = v.dtype, itype = v.itype }) end
  if type(v) ~= "userdata" then return damo.scalar(name) end
  local shape = {}
  for i, d in ipairs(v.shape) do shape[i] = d == 1 and 1 or false end
  return damo.tensor(name, { dtype = v.dtype, shape = shape })
end

function s.variables(values)
  local vars = {}
  for i, v in ipairs(values) do vars[i] = s.variable(v, "x" .. i) end
  return vars
end

function s.run(vars, outputs, values, mode)
  local f = damo.compile(vars, outputs, { mode = mode, on_unused_input = "ignore" })
  return { f(table.unpack(values)) }
end

-- Calls fn with the values eagerly, and with Variables in every mode (or those named): results must have the same kinds
-- and numbers. Returns the list of eager results.
function s.same_everywhere(fn, values, modes)
  local eager = { fn(table.unpack(values)) }
  local vars = s.variables(values)
  local outputs = { fn(table.unpack(vars)) }
  for _, mode in ipairs(modes or s.modes) do
    local results = s.run(vars, outputs, values, mode)
    for i, want in ipairs(eager) do
      local what = ("%s, output %d"):format(mode, i)
      if is_sparse(want) then
        s.same_storage(results[i], want, what)
      else
        s.close(results[i], want, what)
        if dtype_of(results[i]) ~= dtype_of(want) then
          error(("%s: dtype %s, eagerly %s"):format(what, dtype_of(results[i]), dtype_of(want)), 2)
        end
      end
    end
  end
  return eager
end

-- Compares the result with a dense computation over tables of rows (or lists), for real values. Returns the result.
function s.check_value(fn, values, reference)
  local got = s.same_everywhere(fn, values)[1]
  local plain = {}
  for i, v in ipairs(values) do
    plain[i] = is_sparse(v) and s.todense(v) or (type(v) == "userdata" and v.ndim > 0) and v:totable() or v
  end
  s.close(got, s.flat(damo.array(reference(table.unpack(plain)))), "value", tolerances[dtype_of(got)])
  return got
end

-- ---- Derivatives --------------------------------------------------------------------------------------------------

local function numbers_of(v) return is_sparse(v) and v.data or v end

-- v with other numbers, given like numbers_of(v).
local function with_numbers(v, numbers)
  if not is_sparse(v) then return numbers end
  return damo.sparse[v.format] {
    data = numbers, indices = v.indices, indptr = v.indptr, shape = v.shape, itype = v.itype,
  }
end

local function dense_of(y) return y.type and y.format and damo.sparse.toarray(y, { structured = false }) or y end

-- A real cost of the outputs: the sum of their entries with fixed weights.
local function cost_of(outputs, shapes)
  local cost = damo.constant(0.0)
  for i, y in ipairs(outputs) do
    if is_float(y.dtype) and shapes[i] then
      local n = 1
      for _, d in ipairs(shapes[i]) do n = n * d end
      local w = n > 0 and s.vector(n, y.dtype, 40 + i):reshape { shape = shapes[i] } or damo.zeros(shapes[i], y.dtype)
      local term = damo.sum(dense_of(y) * damo.constant(w))
      cost = cost + (is_complex(y.dtype) and damo.real(term) or term)
    end
  end
  return cost
end

-- The cost of fn as a function of the values, and its graph.
local function costed(fn, values)
  local vars = s.variables(values)
  local outputs = { fn(table.unpack(vars)) }
  local shapes = {}
  for i, r in ipairs(s.run(vars, outputs, values)) do shapes[i] = type(r) == "userdata" and r.shape or {} end
  local cost = cost_of(outputs, shapes)
  local f = damo.compile(vars, cost, { on_unused_input = "ignore" })
  return vars, cost, f
end

local function replaced(values, i, v)
  local list = { table.unpack(values) }
  list[i] = v
  return list
end

-- d cost / d numbers of operand i, by central differences: a flat list like s.flat's.
local function differences(f, values, i, eps)
  local v = values[i]
  local numbers = numbers_of(v)
  local flat = s.flat(numbers)
  local n = is_complex(v.dtype) and #flat / 2 or #flat
  local function at(list)
    local part = v.dtype == "complex64" and "float32" or is_complex(v.dtype) and "float64" or v.dtype
    local function array(first)
      local out = {}
      for k = 1, n do out[k] = list[first + k] end
      return n == 0 and damo.zeros(numbers.shape, part) or damo.array(out, part):reshape { shape = numbers.shape }
    end
    local moved = is_complex(v.dtype) and damo.complex(array(0), array(n)) or array(0)
    return f(table.unpack(replaced(values, i, with_numbers(v, moved))))
  end
  local out = {}
  for k = 1, #flat do
    local keep = flat[k]
    flat[k] = keep + eps
    local up = at(flat)
    flat[k] = keep - eps
    local down = at(flat)
    flat[k] = keep
    out[k] = (up - down) / (2 * eps)
  end
  return out
end

-- A gradient for the matrix v at v's stored positions: its own numbers if it has v's pattern.
local function at_places(g, v)
  if not is_sparse(v) then return s.flat(g) end
  if is_sparse(g) and g.format == v.format and g.nnz == v.nnz then
    local function same(part) return damo.array_equal(g[part], v[part]) end
    if same "indices" and same "indptr" then return s.flat(g.data) end
  end
  if is_sparse(g) and g.nnz == v.nnz then return s.flat(damo.sparse.gather(g, v)) end -- possibly with duplicates, as v
  return s.flat(damo.sparse.gather(is_sparse(g) and damo.sparse.toarray(g) or g, v))
end

local function is_checked(v) return type(v) == "userdata" and is_float(v.dtype) end

-- Compares the gradients of fn with respect to every float operand with central differences (float64 and complex128).
-- o:
-- wrt (a list of positions; default all float operands), eps, tol.
function s.check_grad(fn, values, o)
  o = o or {}
  local vars, cost, f = costed(fn, values)
  local wrt = o.wrt
  if not wrt then
    wrt = {}
    for i, v in ipairs(values) do
      if is_checked(v) then wrt[#wrt + 1] = i end
    end
  end
  for _, i in ipairs(wrt) do
    local g = damo.grad(cost, vars[i], { disconnected_inputs = "ignore" })
    if g.dtype ~= vars[i].dtype or g.ndim ~= vars[i].ndim then
      error(("gradient %d is %s of rank %d, its operand %s of rank %d"):format(i, g.dtype, g.ndim, vars[i].dtype,
        vars[i].ndim), 2)
    end
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local got = at_places(s.run(vars, { g }, values, mode)[1], values[i])
      local want = differences(f, values, i, o.eps or 1e-6)
      s.close(got, want, ("gradient by operand %d, %s"):format(i, mode), o.tol or 2e-6)
    end
  end
end

-- Second derivatives: checks fn's gradient with respect to each float operand as a function.
function s.check_second(fn, values, o)
  o = o or {}
  for i, v in ipairs(values) do
    if is_checked(v) and (not o.wrt or o.wrt[1] == i) then
      local shapes = {}
      for k, r in ipairs { fn(table.unpack(values)) } do shapes[k] = type(r) == "userdata" and r.shape or {} end
      local function gradient(...)
        local vars = { ... }
        local cost = cost_of({ fn(...) }, shapes)
        return damo.grad(cost, vars[i], { disconnected_inputs = "ignore" })
      end
      s.check_grad(gradient, values, o)
    end
  end
end

-- Compares fn's R_op with central differences along random directions, one a float operand (of sparse ones on their
-- pattern).
function s.check_rop(fn, values, o)
  o = o or {}
  local eps = o.eps or 1e-6
  local vars = s.variables(values)
  local outputs = { fn(table.unpack(vars)) }
  local wrt, eval, points = {}, {}, {}
  for i, v in ipairs(values) do
    if is_checked(v) then
      local n = #s.flat(numbers_of(v)) / (is_complex(v.dtype) and 2 or 1)
      local numbers = s.vector(n, v.dtype, 60 + i)
      if not is_sparse(v) then numbers = numbers:reshape { shape = v.shape } end
      points[#points + 1] = with_numbers(v, numbers)
      wrt[#wrt + 1] = vars[i]
      eval[#eval + 1] = s.variable(points[#points], "e" .. i)
    end
  end
  local function moved(by)
    local list, k = {}, 0
    for i, v in ipairs(values) do
      list[i] = v
      if is_checked(v) then
        k = k + 1
        list[i] = with_numbers(v, numbers_of(v) + numbers_of(points[k]) * by)
      end
    end
    return list
  end
  local all_vars, all_values = { table.unpack(vars) }, { table.unpack(values) }
  for k, e in ipairs(eval) do
    all_vars[#all_vars + 1] = e
    all_values[#all_values + 1] = points[k]
  end
  for k, y in ipairs(outputs) do
    local r = damo.Rop(y, wrt, eval, { disconnected_outputs = "ignore", return_disconnected = "none" })
    local up = s.flat(s.run(vars, { y }, moved(eps))[1])
    local down = s.flat(s.run(vars, { y }, moved(-eps))[1])
    local want = {}
    for j = 1, #up do want[j] = (up[j] - down[j]) / (2 * eps) end
    local got = {}
    if r then got = s.flat(s.run(all_vars, { r }, all_values)[1]) end
    for j = 1, r and 0 or #want do got[j] = 0 end -- nil: not connected
    s.close(got, want, ("R_op of output %d"):format(k), o.tol or 2e-6)
  end
end

-- ---- Errors -------------------------------------------------------------------------------------------------------

-- Raises unless fn raises an error object of that kind with that message (nil: any). Returns the error.
function s.raises(kind, text, fn)
  local ok, err = pcall(fn)
  if ok then error("nothing was raised", 2) end
  if type(err) ~= "userdata" and type(err) ~= "table" then error("not an error object: " .. tostring(err), 2) end
  if err.kind ~= kind then error(("kind %s, expected %s: %s"):format(err.kind, kind, err.message), 2) end
  if text and err.message ~= text then
    error(("message\n  %s\nexpected\n  %s"):format(err.message, text), 2)
  end
  return err
end

-- A 2^n × 2^m matrix with few entries, the last of them in the last row and column.
function s.huge(o)
  local rows, cols = math.floor(2 ^ (o.rows or 33)), math.floor(2 ^ (o.cols or 33))
  local places = o.entries or 4
  local r, c, v = {}, {}, {}
  for i = 1, places do r[i], c[i], v[i] = i, cols - i + 1, i + 0.5 end
  return damo.sparse.coo { rows = r, cols = c, values = v, shape = { rows, cols }, format = o.format or "csr" }
end

-- The number of nodes in a compiled Function's graph whose Op has that name.
function s.count(f, name)
  local n = 0
  for _, node in ipairs(f.fgraph:toposort()) do
    if node.op.name == name then n = n + 1 end
  end
  return n
end

-- Compiles and runs in every mode, and compares with the results of mode `apart`: bit for bit, or within tol. Returns
-- FAST_RUN's Function.
function s.same_apart(apart, inputs, outputs, values, tol)
  local want = { damo.compile(inputs, outputs, { mode = apart })(table.unpack(values)) }
  for _, mode in ipairs(s.modes) do
    local f = damo.compile(inputs, outputs, { mode = mode })
    for _ = 1, 2 do
      for i, v in ipairs { f(table.unpack(values)) } do
        assert.equal(want[i].dtype, v.dtype)
        assert.same(want[i].shape, v.shape)
        if tol then
          s.close(v, want[i], mode .. " " .. i, tol)
        else
          assert.same(s.flat(want[i]), s.flat(v), mode .. " " .. i)
        end
      end
    end
  end
  return damo.compile(inputs, outputs)
end

return s
