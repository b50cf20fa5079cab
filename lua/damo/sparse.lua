--- Sparse matrices, csr and csc: values, Variables, and every op on them.
-- The core provides the op functions (`damo.sparse.dot`, `damo.sparse.structured_exp`, …) and the Op classes
-- (`damo.sparse.CSM{format="csc"}`); a tensor function with a sparse operand calls the sparse one (`damo.dot(A, x)`).
-- @module damo.sparse

local core = require "damo.core"
local arguments = require "damo.arguments"
local progress_option = require "damo.progress_option"
local random = require "damo.random"

---@class damo.sparse
local sparse = {}
for name, value in pairs(core.sparse) do sparse[name] = value end

local random_from = sparse.random_from
sparse.random_from = nil
local factorize, factorize_watched = sparse.factorize, sparse.factorize_watched
sparse.factorize_watched = nil

-- ---- Arguments ---------------------------------------------------------------------------------------------------

local no_more, check_options = arguments.no_more, arguments.check_options

-- Raises a type error if the option is given and has another type.
local function check_type(func, options, name, wanted)
  local got = type(options[name])
  if got ~= wanted and got ~= "nil" then
    core.raise("type", ("%s: option '%s' must be a %s, got %s"):format(func, name, wanted, got))
  end
end

local function is_callable(fn)
  local meta = getmetatable(fn)
  return type(fn) == "function" or meta == "damo.Op" or (type(meta) == "table" and meta.__call ~= nil)
end

-- ---- Values ------------------------------------------------------------------------------------------------------

--- A random matrix with exactly `density * m * n` entries, drawn from the stream that `damo.random.seed` sets.
-- @tparam integer m rows
-- @tparam integer n columns
-- @tparam[opt] table options `density` (0.01), `format` ("csr"), `dtype` (floatX), `itype` ("int32")
-- @treturn Sparse
function sparse.random(m, n, options, ...)
  no_more("random", "two lengths and a table of options", ...)
  return random.eager(random_from, m, n, options)
end

local function without_progress(options)
  local rest = {}
  for key, value in next, options do
    if key ~= "progress" then rest[key] = value end
  end
  return rest
end

-- The option progress is for values: a function (step, steps) of the stages, or true for a bar.
function sparse.factorize(A, options, ...)
  if type(options) ~= "table" or options.progress == nil then return factorize(A, options, ...) end
  local tell, rest = progress_option("factorize", options.progress, "factorize"), without_progress(options)
  if not tell then return factorize(A, rest, ...) end
  no_more("factorize", "a matrix and a table of options", ...)
  core.system.check_options("factorize", options, { "assume", "on_fail", "progress" })
  if rest.on_fail ~= "return" then return factorize_watched(A, rest, tell) end
  local ok, F = pcall(factorize_watched, A, rest, tell)
  if ok then return F end
  if type(F) == "table" and F.kind == "numeric" then return nil, F end
  error(F, 0)
end

--- Makes a structured function of a function of tensors: `fn` is applied to the vector of stored values only, even if
-- fn(0) is not 0, and its result is the data of a matrix with the same pattern; gradients likewise.
-- @tparam function fn of a Variable or Array (and any further arguments): `damo.exp`, or a function of your own
-- @treturn function of a sparse Variable or matrix (and the further arguments)
function sparse.structured_monoid(fn, ...)
  no_more("structured_monoid", "one function", ...)
  if not is_callable(fn) then
    core.raise("type", "structured_monoid: argument 1 (fn) must be a function, got " .. type(fn))
  end
  return function(x, ...)
    if not sparse.is_sparse(x) then
      core.raise("type", "structured_monoid: the function's first operand must be sparse, got " .. type(x))
    end
    return sparse.with_data(x, fn(sparse.csm_data(x), ...))
  end
end

-- ---- Blocks ------------------------------------------------------------------------------------------------------

local function bmat_error(kind, text, ...) core.raise(kind, "sparse.bmat: " .. text:format(...)) end

-- The largest position in a table with positions only; unlike #, it is exact for a table with holes.
local function last_position(t, what)
  local n = 0
  for key in pairs(t) do
    if type(key) ~= "number" or key < 1 or key % 1 ~= 0 then
      bmat_error("value", "%s holds '%s', which is no position", what, tostring(key))
    end
    n = math.max(n, key)
  end
  return n
end

local function count_columns(rows, n_rows)
  local n = 0
  for i = 1, n_rows do
    local what = ("row %d of the blocks"):format(i)
    if type(rows[i]) ~= "table" then bmat_error("type", "%s must be a table, got %s", what, type(rows[i])) end
    n = math.max(n, last_position(rows[i], what))
  end
  return n
end

local function check_block(block, i, j)
  if block == nil then bmat_error("value", "block (%d, %d) is nil: write false where there is none", i, j) end
  if not block or sparse.is_sparse(block) then return end
  bmat_error("type", "block (%d, %d) must be sparse, got %s; damo.sparse.csr_from_dense(x) makes a dense matrix sparse",
    i, j, type(block) == "userdata" and "a dense one" or "a " .. type(block))
end

-- The blocks of a table of rows as a list, and the block row and block column of each. An empty last row or column is
-- refused here, since the core would not see it.
local function list_blocks(rows)
  local list, at, has = {}, { rows = {}, cols = {} }, { row = {}, column = {} }
  local n_rows = last_position(rows, "the table of blocks")
  local n_cols = count_columns(rows, n_rows)
  for i = 1, n_rows do
    for j = 1, n_cols do
      check_block(rows[i][j], i, j)
      if rows[i][j] then
        list[#list + 1] = rows[i][j]
        at.rows[#list], at.cols[#list] = i, j
        has.row[i], has.column[j] = true, true
      end
    end
  end
  for k = 1, math.max(n_rows, n_cols) do
    local line = k <= n_rows and not has.row[k] and "row" or k <= n_cols and not has.column[k] and "column"
    if line then bmat_error("value", "block %s %d has no block: its length is not known", line, k) end
  end
  return list, at
end

local function is_nested(blocks)
  if type(blocks) ~= "table" then return false end
  for _, row in pairs(blocks) do
    if type(row) == "table" then return true end
  end
  return false
end

local bmat = sparse.bmat

--- A matrix of sparse blocks. `blocks` is a table of rows, all with the same number of blocks; false is a block of
-- zeros. Each block row and block column needs a block, from which its length is known.
-- @tparam table blocks {{A, B}, {false, C}}; or a list of blocks, with the options `rows` and `cols`
-- @tparam[opt] table options `format` (the first block's), `dtype` (the common one); `rows` and `cols` (lists): the
-- block row and the block column of each block of a list
-- @treturn Sparse or Variable
function sparse.bmat(blocks, options, ...)
  no_more("sparse.bmat", "blocks and a table of options", ...)
  if not is_nested(blocks) then return bmat(blocks, options) end
  if options ~= nil and type(options) ~= "table" then
    bmat_error("type", "argument 2 (options) must be a table of options, got %s", type(options))
  end
  local list, own = list_blocks(blocks)
  for name, value in pairs(options or {}) do
    if own[name] then
      bmat_error("value", "option '%s' is for a plain list of blocks, not for a table of rows", name)
    end
    own[name] = value
  end
  return bmat(list, own)
end

-- ---- Draws -------------------------------------------------------------------------------------------------------

local unpack = table.unpack or unpack -- luacheck: ignore

-- The core refuses deeper nesting, and tables that contain themselves.
local MOST_LEVELS = 32

-- Each table is visited once: one that contains itself twice would take 2^32 visits.
local function has_variable(args, n, level, seen)
  for i = 1, n do
    local v = args[i]
    if core.is_variable(v) then return true end
    if type(v) == "table" and level <= MOST_LEVELS and not seen[v] then
      seen[v] = true
      local shape = v.shape
      if has_variable(v, #v, level + 1, seen) or core.is_variable(shape) then return true end
      if type(shape) == "table" and has_variable(shape, #shape, level + 1, seen) then return true end
    end
  end
  return false
end

-- The arguments as a list, and their number; trailing nils count as absent.
local function listed(...)
  local n = select("#", ...)
  while n > 0 and (select(n, ...)) == nil do n = n - 1 end
  return { ... }, n
end

-- Removes the option rng from the last of n arguments, if that is a table; returns rng and the number of arguments
-- left.
local function take_rng(args, n)
  local last = args[n]
  if type(last) ~= "table" or last.rng == nil then return nil, n end
  local rest = {}
  for key, value in pairs(last) do
    if key ~= "rng" then rest[key] = value end
  end
  args[n] = next(rest) ~= nil and rest or nil
  return last.rng, args[n] and n or n - 1
end

-- A draw with its own state, which advances with each call of a Function that draws.
local function draw_variable(name, draw, args, n)
  local seed = random.integers(0, 9007199254740880)
  local state = core.random_shared(core.random_state(seed), name .. "_state")
  local following, value = draw(state, unpack(args, 1, n))
  state.default_update = following
  return value
end

local draws = { "poisson", "multinomial", "csr_fbinomial", "csr_dbinomial", "csc_fbinomial", "csc_dbinomial" }
for _, name in ipairs(draws) do
  local row = sparse[name]
  sparse[name] = function(...)
    local args, given = listed(...)
    local rng, n = take_rng(args, given)
    if rng ~= nil then return row(rng, unpack(args, 1, n)) end
    if has_variable(args, n, 1, {}) then return draw_variable(name, row, args, n) end
    return random.eager(row, unpack(args, 1, n))
  end
end

-- Op classes that draw: called without a state as the first argument, they make one.
for _, name in ipairs { "Poisson", "Multinomial", "Binomial" } do
  local make = sparse[name]
  sparse[name] = function(props)
    local op = make(props or {})
    local function call(_, ...)
      local args, n = listed(...)
      if core.is_variable(args[1]) and tostring(args[1].type) == "RandomType" then return op(...) end
      return draw_variable(name:lower(), op, args, n)
    end
    local meta = { __name = "damo.Op", __call = call }
    function meta.__index(_, key) return op[key] end
    function meta.__tostring() return tostring(op) end
    return setmetatable({}, meta)
  end
end

-- ---- For tests ---------------------------------------------------------------------------------------------------

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
function sparse.sparse_random_inputs(format, shape, options, ...)
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
function sparse.verify_grad_sparse(fn, values, options, ...)
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

return core.names.seal(sparse, "damo.sparse")
