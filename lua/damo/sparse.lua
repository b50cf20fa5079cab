--- Sparse matrices, csr and csc: values, Variables, and every op on them.
-- The core provides the op functions (`damo.sparse.dot`, `damo.sparse.structured_exp`, …) and the Op classes
-- (`damo.sparse.CSM{format="csc"}`); a tensor function with a sparse operand calls the sparse one (`damo.dot(A, x)`).
-- @module damo.sparse

local core = require "damo.core"
local arguments = require "damo.arguments"
local progress_option = require "damo.progress_option"
local random = require "damo.random"

local no_more, is_callable = arguments.no_more, arguments.is_callable

---@class damo.sparse
local sparse = {}
for name, value in pairs(core.sparse) do sparse[name] = value end

local random_from = sparse.random_from
sparse.random_from = nil
local factorize, factorize_watched = sparse.factorize, sparse.factorize_watched
sparse.factorize_watched = nil

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
    local args, given = arguments.listed(...)
    local rng, n = arguments.take_rng(args, given)
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
      local args, n = arguments.listed(...)
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

-- These are loaded when they are used.
for _, name in ipairs { "sparse_random_inputs", "verify_grad_sparse" } do
  sparse[name] = function(...) return require("damo.sparse_verify")[name](...) end
end

return core.names.seal(sparse, "damo.sparse")
