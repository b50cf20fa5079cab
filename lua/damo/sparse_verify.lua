--- Random sparse operands, and gradients of sparse functions against finite differences: for tests.
-- damo.sparse has these functions; they are loaded when one is used.
-- @module damo.sparse_verify

local core = require "damo.core"
local arguments = require "damo.arguments"
local random = require "damo.random"
local sparse = require "damo.sparse"

local verify = {}

local no_more, check_options, is_callable = arguments.no_more, arguments.check_options, arguments.is_callable
local unpack = table.unpack or unpack -- luacheck: ignore

-- Raises a type error if the option is given and has another type.
local function check_type(func, options, name, wanted)
  local got = type(options[name])
  if got ~= wanted and got ~= "nil" then
    core.raise("type", ("%s: option '%s' must be a %s, got %s"):format(func, name, wanted, got))
  end
end

-- The same matrix with the entries of each row (csr) or column (csc) in descending order of their indices.
local function reversed(a)
  local indptr, order = a.indptr:totable(), {}
  for line = 1, #indptr - 1 do
    for k = indptr[line] + 1, indptr[line + 1] do order[k] = indptr[line] + indptr[line + 1] - k + 1 end
  end
  if #order == 0 then return a end
  local places = core.array(order, "int64")
  return sparse[a.format] {
    data = core.take(a.data, places), indices = core.take(a.indices, places), indptr = a.indptr, shape = a.shape,
    itype = a.itype,
  }
end

local input_options = { "n", "p", "explicit_zero", "unsorted_indices", "dtype" }

--- Random operands for tests of sparse functions: Variables, and a value for each.
-- @tparam string format "csr" or "csc"
-- @tparam table shape {rows, columns}
-- @tparam[opt] table options `n` (1) how many; `p` (0.5) the density; `explicit_zero`
-- (false) whether one stored entry is 0; `unsorted_indices` (false) whether indices are stored descending; `dtype`
-- (floatX)
-- @treturn {Variable,...}
-- @treturn {Sparse,...}
function verify.sparse_random_inputs(format, shape, options, ...)
  no_more("sparse_random_inputs", "a format, a shape and a table of options", ...)
  if options == nil then options = {} end
  if type(shape) ~= "table" then
    core.raise("type", "sparse_random_inputs: argument 2 (shape) must be {rows, columns}, got " .. type(shape))
  end
  check_options("sparse_random_inputs", 3, options, input_options)
  check_type("sparse_random_inputs", options, "n", "number")
  local variables, values = {}, {}
  for i = 1, options.n or 1 do
    local how = { density = options.p or 0.5, format = format, dtype = options.dtype }
    local a = sparse.random(shape[1], shape[2], how)
    if options.explicit_zero and a.nnz > 0 then
      a = a:copy()
      local middle = math.floor((a.nnz + 1) / 2)
      a.data[middle] = a.dtype == "bool" and false or 0
    end
    values[i] = options.unsorted_indices and reversed(a) or a
    variables[i] = sparse.matrix(format, "x" .. i, { dtype = a.dtype })
  end
  return variables, values
end

local part_dtype = { complex64 = "float32", complex128 = "float64" }
local steps = {
  float32 = { eps = 1e-3, abs = 1e-2, rel = 1e-2 },
  float64 = { eps = 1e-6, abs = 1e-5, rel = 1e-5 },
}

local function is_differentiable(dtype) return dtype:find "float" ~= nil or dtype:find "complex" ~= nil end

-- The entries as flat lists: real parts, and imaginary parts if the dtype is complex.
local function entries(a)
  local function flat(v)
    local r = core.ravel(v)
    return type(r) == "userdata" and r:totable() or { r }
  end
  if part_dtype[a.dtype] then return flat(core.real(a)), flat(core.imag(a)) end
  return flat(a)
end

-- An Array of those entries.
local function from_entries(re, im, dtype, shape)
  local part = part_dtype[dtype] or dtype
  local function build(list)
    if #shape == 0 then return core.array(list[1], part) end
    return core.reshape(core.array(list, part), shape)
  end
  return im and core.complex(build(re), build(im)) or build(re)
end

-- The 1-based rows and columns of the stored entries.
local function places_of(a)
  local indptr, indices, rows, cols = a.indptr:totable(), a.indices:totable(), {}, {}
  for line = 1, #indptr - 1 do
    for k = indptr[line] + 1, indptr[line + 1] do
      local other = indices[k] + 1
      rows[k], cols[k] = line, other
      if a.format == "csc" then rows[k], cols[k] = other, line end
    end
  end
  return rows, cols
end

-- Returns a function f(k, h, hi) that makes a copy of a (a sparse matrix or an Array) with h + i·hi added to entry k of
-- its data.
local function mover(a)
  local dense = not sparse.is_sparse(a)
  local data = dense and a or a.data
  local re, im = entries(data)
  return function(k, h, hi)
    local keep, keep_im = re[k], im and im[k]
    re[k] = keep + h
    if im then im[k] = keep_im + hi end
    local moved = from_entries(re, im, a.dtype, data.shape)
    re[k] = keep
    if im then im[k] = keep_im end
    return dense and moved or sparse.with_data(a, moved)
  end
end

-- Returns a function f(i, j, h, hi) that makes a copy of the matrix a with h + i·hi added to the element in row i and
-- column j, whether it is stored or not.
local function place_mover(a)
  local rows, cols = places_of(a)
  local re, im = {}, part_dtype[a.dtype] and {} or nil
  if a.nnz > 0 then re, im = entries(a.data) end
  local n = #rows + 1
  return function(i, j, h, hi)
    rows[n], cols[n], re[n] = i, j, h
    if im then im[n] = hi end
    local values = from_entries(re, im, a.dtype, { n })
    return sparse.coo { rows = rows, cols = cols, values = values, shape = a.shape, format = a.format }
  end
end

-- The elements of a value to perturb: a list of { row, col, place, move }, where place is the index in the dense
-- gradient and move(h, hi) returns the perturbed value.
local function probes_of(a, structured)
  local list = {}
  local function add(row, col, place, move)
    list[#list + 1] = { row = row, col = col, place = place, move = move }
  end
  if not sparse.is_sparse(a) then
    local move = mover(a)
    for k = 1, a.size do add(nil, nil, k, function(h, hi) return move(k, h, hi) end) end
    return list
  end
  local width = a.shape[2]
  if structured then
    local move, rows, cols = a.nnz > 0 and mover(a), places_of(a)
    for k = 1, a.nnz do
      add(rows[k], cols[k], (rows[k] - 1) * width + cols[k], function(h, hi) return move(k, h, hi) end)
    end
    return list
  end
  local move = place_mover(a)
  for i = 1, a.shape[1] do
    for j = 1, width do add(i, j, (i - 1) * width + j, function(h, hi) return move(i, j, h, hi) end) end
  end
  return list
end

-- A real cost: the sum of the result's elements with random weights.
local function weighted_cost(result, inputs, args)
  local dense = result
  if sparse.is_sparse(result) then dense = sparse.toarray(result, { structured = false }) end
  local at = core.compile(inputs, dense, { on_unused_input = "ignore" })(unpack(args))
  local shape = type(at) == "userdata" and at.shape or {}
  local part, state = part_dtype[dense.dtype] or dense.dtype, core.random_state(20260101)
  local function draw()
    local weights
    state, weights = random.uniform(0.5, 1.5, { size = shape, rng = state, dtype = part })
    return type(weights) == "userdata" and weights or core.array(weights, part)
  end
  if not part_dtype[dense.dtype] then return core.sum(dense * core.constant(draw())) end
  return core.real(core.sum(dense * core.constant(core.complex(draw(), draw()))))
end

local function dense_entries(g)
  if type(g) ~= "userdata" then return { g } end
  return entries(sparse.is_sparse(g) and sparse.toarray(g) or g)
end

-- The element with the largest error out of tolerance, nil if there is none.
local function worst_element(cost, args, analytic, limits, structured)
  local worst
  local function judge(i, probe, part, found, numeric)
    local absolute = math.abs(found - numeric)
    local relative = absolute / math.max(math.abs(found) + math.abs(numeric), 1e-8)
    local size = math.min(absolute / limits.abs, relative / limits.rel)
    if size <= 1 or (worst and size <= worst.size) then return end
    worst = { input = i, probe = probe, part = part, found = found, numeric = numeric, size = size,
      absolute = absolute, relative = relative }
  end
  for i, a in ipairs(args) do
    local g = analytic[i]
    for _, probe in ipairs(g and probes_of(a, structured) or {}) do
      local function slope(h, hi)
        args[i] = probe.move(h, hi)
        local up = cost(unpack(args))
        args[i] = probe.move(-h, -hi)
        return (up - cost(unpack(args))) / (2 * limits.eps)
      end
      judge(i, probe, "", g.re[probe.place], slope(limits.eps, 0))
      if g.im then judge(i, probe, " (imaginary part)", g.im[probe.place], slope(0, limits.eps)) end
    end
    args[i] = a
  end
  return worst
end

-- An input for each value, of its Type; the tolerances of the dtype of lowest precision.
local function make_inputs(values)
  local inputs, args, weakest = {}, {}, "float64"
  for i, v in ipairs(values) do
    args[i] = type(v) == "userdata" and v or core.array(v)
    local dtype, name = args[i].dtype, "x" .. i
    if dtype == "float32" or dtype == "complex64" then weakest = "float32" end
    inputs[i] = sparse.is_sparse(args[i]) and sparse.matrix(args[i].format, name, { dtype = dtype })
      or core.tensor(name, { dtype = dtype, ndim = args[i].ndim })
  end
  return inputs, args, steps[weakest]
end

local verify_options = { "structured", "eps", "abs_tol", "rel_tol" }

--- Checks the gradients of `fn` at `values` against finite differences; raises a numeric error that names the worst
-- element. `fn` takes Variables and returns one, sparse or dense. Values of integer dtype are not perturbed.
-- @tparam function fn
-- @tparam table values a list of sparse matrices, Arrays and numbers
-- @tparam[opt] table options `structured` (false): compare the gradient of a sparse operand at its stored entries
-- only, not at all elements; `eps` (step), `abs_tol`, `rel_tol`
function verify.verify_grad_sparse(fn, values, options, ...)
  no_more("verify_grad_sparse", "a function, a list of values and a table of options", ...)
  if not is_callable(fn) then
    core.raise("type", "verify_grad_sparse: argument 1 (fn) must be a function, got " .. type(fn))
  end
  if options == nil then options = {} end
  check_options("verify_grad_sparse", 3, options, verify_options)
  for _, name in ipairs { "eps", "abs_tol", "rel_tol" } do
    check_type("verify_grad_sparse", options, name, "number")
  end
  if type(values) ~= "table" then
    core.raise("type", "verify_grad_sparse: argument 2 (values) must be a list of values, got " .. type(values))
  end
  local inputs, args, t = make_inputs(values)
  local limits = { eps = options.eps or t.eps, abs = options.abs_tol or t.abs, rel = options.rel_tol or t.rel }
  local result = fn(unpack(inputs))
  if not core.is_variable(result) then core.raise("type", "verify_grad_sparse: fn must return one Variable") end
  local cost = weighted_cost(result, inputs, args)
  local analytic = {}
  for i, x in ipairs(inputs) do
    if is_differentiable(x.dtype) then
      local g = core.grad(cost, x, { disconnected_inputs = "ignore" })
      local re, im = dense_entries(core.compile(inputs, g, { on_unused_input = "ignore" })(unpack(args)))
      analytic[i] = { re = re, im = im }
    end
  end
  local f = core.compile(inputs, cost, { on_unused_input = "ignore" })
  local worst = worst_element(f, args, analytic, limits, options.structured)
  if not worst then return end
  local where = worst.probe.row and ("(%d, %d)"):format(worst.probe.row, worst.probe.col) or tostring(worst.probe.place)
  core.raise("numeric", ("verify_grad_sparse: the gradient for input %d at %s%s is %.10g, finite differences give "
    .. "%.10g (absolute error %.3g, relative %.3g; allowed %.3g, %.3g)"):format(worst.input, where, worst.part,
    worst.found, worst.numeric, worst.absolute, worst.relative, limits.abs, limits.rel))
end

return verify
