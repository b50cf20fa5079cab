--- Distributed sparse systems: matrices and vectors whose rows are split over the ranks, backed by PETSc and SLEPc.
-- Each rank has a block of consecutive rows, in the ranks' order; `data` of a matrix or vector is this rank's part, a
-- value or a Variable. Every rank calls the same functions in the same order.
-- @module damo.mpi.sparse

local damo = require "damo"
local has_petsc, petsc = pcall(require, "damo.mpi.petsc")
local ops = require "damo.mpi.ops"

if not has_petsc then
  damo.raise("not_implemented", "damo.mpi: sparse systems need PETSc and SLEPc, which this build was made without "
    .. "(Debian: petsc-dev slepc-dev): " .. tostring(petsc):match "[^\n]*")
end

local sparse = damo.sparse
local is_variable = damo.is_variable

---@class damo.mpi
local systems = {}

---@class damo.mpi.Vector
local Vector = {}
Vector.__index = Vector

---@class damo.mpi.Matrix
local Matrix = {}
Matrix.__index = Matrix

-- ---- Arguments -----------------------------------------------------------------------------------------------------

local function fail(kind, text, ...) damo.raise(kind, text:format(...)) end

-- Runs fn(...) on this rank; where it fails on any rank, every rank raises the error.
local function together(fn, ...)
  local ok, err = pcall(fn, ...)
  if ok then
    petsc.agree()
    return err
  end
  local message = type(err) == "table" and err.message or type(err) == "userdata" and err.message or tostring(err)
  petsc.agree(type(err) ~= "string" and err.kind or "value", message)
end

local function check_options(func, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then fail("type", "%s: options must be a table, got %s", func, type(options)) end
  for name in pairs(options) do
    if not known[name] then
      local names = {}
      for k in pairs(known) do names[#names + 1] = k end
      table.sort(names)
      fail("value", "%s: there is no option '%s'; there are: %s", func, tostring(name), table.concat(names, ", "))
    end
  end
  return options
end

-- x as float64, or an error for what PETSc can't hold: this build of it has real numbers.
local function as_real(func, x)
  if x.dtype == "float64" then return x end
  if x.dtype:find "complex" then
    fail("type", "%s: complex values need a PETSc that is built for complex numbers; this one has real numbers", func)
  end
  return damo.astype(x, "float64")
end

-- The number of rows where it is known, else nil.
local function rows_of(x)
  if not is_variable(x) then return x.shape[1] end
  return x.type.shape[1] or nil
end

-- ---- Vectors -------------------------------------------------------------------------------------------------------

local function new_vector(data, like)
  return setmetatable({ data = data, first = like.first, last = like.last, size = like.size }, Vector)
end

local function local_vector(data)
  if not is_variable(data) then data = damo.array(data) end
  if data.ndim ~= 1 and data.ndim ~= 2 then
    fail("type", "mpi.vector: a rank's part must have 1 or 2 dimensions, got %d", data.ndim)
  end
  return as_real("mpi.vector", data)
end

--- A vector, or several side by side as the columns of a matrix, split by rows over the ranks.
-- @tparam Array|Variable|table data this rank's part: a vector, or a matrix with a row for each of its entries
-- @treturn Vector with `data`; `first`, `last` (this rank's rows, counted from 1; first > last: none) and `size` (the
-- rows of all ranks), which are nil where the length is not known when the graph is built
function systems.vector(data)
  if getmetatable(data) == Vector then return data end
  data = together(local_vector, data)
  local rows = rows_of(data)
  if not rows then return new_vector(data, {}) end
  local first, size = petsc.layout(rows, -1, -1)
  return new_vector(data, { first = first + 1, last = first + rows, size = size })
end

local function same_rows(func, a, b)
  local n, m = rows_of(a.data), rows_of(b.data)
  if n and m and n ~= m then
    fail("shape", "%s: the vectors are split differently: %d and %d rows on this rank", func, n, m)
  end
end

-- Both as vectors with one partition.
local function paired(func, a, b)
  a, b = systems.vector(a), systems.vector(b)
  together(same_rows, func, a, b)
  return a, b
end

local function total(x, op) return ops.allreduce(x, { op = op or "sum" }) end

--- The sum of the entries; with several columns of all of them.
function Vector:sum() return total(damo.sum(self.data)) end

--- The sum of products with another vector.
function Vector:dot(other)
  local a, b = paired("dot", self, other)
  return total(damo.sum(a.data * b.data))
end

local inf = math.huge

-- The largest entry of all ranks of something that is never negative; a rank may have none.
local function largest(x)
  return total(damo.max(damo.join(1, { damo.zeros { 1 }, damo.flatten(x) })), "max")
end

--- A norm of the entries: `kind` is 2, 1 or math.huge.
function Vector:norm(kind)
  if kind == nil or kind == 2 then return damo.sqrt(total(damo.sum(damo.sqr(self.data)))) end
  if kind == 1 then return total(damo.sum(damo.abs(self.data))) end
  if kind == inf then return largest(damo.abs(self.data)) end
  fail("value", "norm: the kind of a vector's norm is 2, 1 or math.huge, not %s", tostring(kind))
end

--- alpha times this vector.
function Vector:scale(alpha) return new_vector(self.data * alpha, self) end

--- This vector + alpha * x.
function Vector:axpy(alpha, x)
  local y, other = paired("axpy", self, x)
  return new_vector(y.data + alpha * other.data, y)
end

function Vector:add(other) return self:axpy(1, other) end
function Vector:sub(other) return self:axpy(-1, other) end

Vector.__add = Vector.add
Vector.__sub = Vector.sub
Vector.__unm = function(v) return v:scale(-1) end
Vector.__mul = function(a, b)
  if getmetatable(a) == Vector then return a:scale(b) end
  return b:scale(a)
end

--- All entries, on every rank.
function Vector:toarray() return ops.allgather(self.data, { axis = 1 }) end

Vector.__tostring = function(v)
  return v.size and ("mpi.vector(rows %d to %d of %d)"):format(v.first, v.last, v.size) or "mpi.vector"
end

-- ---- Matrices ------------------------------------------------------------------------------------------------------

-- The parts of a rank's block: data (float64), indices, indptr, columns of all ranks, local_ itself.
local function block_of(block, options)
  if not sparse.is_sparse(block) then
    fail("type", "mpi.matrix: a rank's block must be a sparse matrix or Variable, got %s", type(block))
  end
  if block.format ~= "csr" then block = block:tocsr() end
  local data = options.data
  if data ~= nil then
    if not is_variable(data) then data = damo.array(data) end
    if is_variable(block) or data.ndim ~= 1 then
      fail("type", "mpi.matrix: the option 'data' is a vector, for a block that is a value and gives the pattern")
    end
  end
  return block, as_real("mpi.matrix", data or block.data)
end

-- The option `rows` = {first, last} says where this rank's block should lie.
local function check_rows(rows, m)
  if rows == nil then return end
  if type(rows) ~= "table" or rows[1] ~= m.first or rows[2] ~= m.last then
    fail("shape", "mpi.matrix: option 'rows' is {%s, %s}, but the blocks of all ranks put this one at {%s, %s}",
      tostring(rows[1]), tostring(rows[2]), tostring(m.first), tostring(m.last))
  end
end

local matrix_options = { rows = true, columns = true, data = true }

local function check_arguments(block, options)
  options = check_options("mpi.matrix", options, matrix_options)
  local columns = options.columns
  if columns ~= nil and (type(columns) ~= "number" or columns % 1 ~= 0 or columns < 0) then
    fail("type", "mpi.matrix: option 'columns' must be the number of columns of this rank, got %s", tostring(columns))
  end
  local found, data = block_of(block, options)
  return { block = found, data = data, columns = columns or -1 }
end

--- A sparse matrix split by rows over the ranks.
-- @tparam Sparse|Variable block this rank's rows, with the columns of the whole matrix; a rank may have no rows
-- @tparam[opt] table options `data`: a vector of the block's stored values, a Variable of which gradients are wanted;
-- `columns`: how many entries of a vector to be multiplied this rank has (as many as rows for a square matrix, else an
-- even share); `rows` = {first, last}: what is expected to be this rank's rows, an error on every rank if it is not so
-- @treturn Matrix with `data`, `block`; `first`, `last`, `shape`, where they are known when the graph is built
function systems.matrix(block, options)
  local m = setmetatable(together(check_arguments, block, options), Matrix)
  local rows = rows_of(m.block)
  local cols = (is_variable(m.block) and m.block.type or m.block).shape[2]
  if rows and cols then
    local first, all, _, columns = petsc.layout(rows, cols, m.columns)
    m.first, m.last, m.shape, m.local_columns = first + 1, first + rows, { all, cols }, columns
  end
  together(check_rows, options and options.rows, m)
  m.symbolic = is_variable(m.data) or is_variable(m.block)
  return m
end

local function int64(list) return damo.array(list, "int64") end

-- What nodes take of the matrix, as values or Variables: data, indices, indptr, layout.
local function parts_of(m)
  local b = m.block
  local sizes = is_variable(b) and damo.join(1, { b.shape[{ { 2, 2 } }], int64 { m.columns } })
  return m.data, b.indices, b.indptr, sizes or int64 { b.shape[2], m.columns }
end

local function as_variable(x) return is_variable(x) and x or damo.constant(x) end

local function ticket() return damo.constant(int64(0)) end

-- Variables: the four parts, and the handle of a node that gives them to PETSc. Made once, so that all uses share it.
local function graph_of(m)
  if not m.graph then
    local parts = { parts_of(m) }
    for i = 1, 4 do parts[i] = as_variable(parts[i]) end
    local op = damo.ops.MpiMatrix { seq = petsc.seq(), constant = not m.symbolic }
    parts[5] = op(parts[1], parts[2], parts[3], parts[4], ticket())
    m.graph = parts
  end
  return m.graph
end

-- ---- Calls ---------------------------------------------------------------------------------------------------------

-- The outputs of a node of that class on the matrix (Variables), without its ticket.
local function node(class, props, graph, operand)
  props.seq = petsc.seq()
  local op = damo.ops[class](props)
  if operand then return op(graph[1], graph[2], graph[3], graph[4], graph[5], operand, ticket()) end
  return op(graph[1], graph[2], graph[3], graph[4], graph[5], ticket())
end

-- Functions for calls on values, by class, properties and Types: a matrix of values is an argument as its operand is.
local functions = {}

local function key_of(class, props, arguments)
  local words = { class }
  for name, value in pairs(props) do words[#words + 1] = name .. "=" .. tostring(value) end
  table.sort(words)
  for _, a in ipairs(arguments) do words[#words + 1] = a.dtype .. a.ndim end
  return table.concat(words, "\0")
end

local function copied(t)
  local copy = {}
  for k, v in pairs(t) do copy[k] = v end
  return copy
end

local function call_on_values(class, props, m, operand, n_out)
  local data, indices, indptr, sizes = parts_of(m)
  m.held = m.held or petsc.matrix(data, indices, indptr, sizes)
  local arguments = { data, indices, indptr, sizes, int64(m.held:handle()), operand }
  local key = key_of(class, props, arguments)
  local f = functions[key]
  if not f then
    local inputs, outputs = {}, {}
    for i, a in ipairs(arguments) do inputs[i] = damo.tensor("argument", { dtype = a.dtype, ndim = a.ndim }) end
    local results = { node(class, copied(props), inputs, inputs[6]) }
    for i = 1, n_out do outputs[i] = results[i] end
    f = damo.compile(inputs, outputs)
    functions[key] = f
  end
  return f(arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[6])
end

local function run(class, props, m, operand, n_out)
  if m.symbolic or (operand and is_variable(operand)) then
    return node(class, props, graph_of(m), operand and as_variable(operand))
  end
  return call_on_values(class, props, m, operand, n_out)
end

-- The operand's local part, and what makes a result of the same kind of it.
local function operand_of(func, x)
  if getmetatable(x) == Vector then return x.data, systems.vector end
  local data = together(function()
    if x == nil then fail("type", "%s: the operand is missing", func) end
    if not is_variable(x) then x = damo.array(x) end
    return as_real(func, x)
  end)
  return data, function(y) return y end
end

--- The product with a vector, or with the columns of a matrix that is split by rows.
-- @tparam Vector|Array|Variable x split as the matrix's columns are
-- @treturn Vector|Array|Variable of x's kind, split as the matrix's rows are
function Matrix:dot(x)
  local data, wrap = operand_of("dot", x)
  return wrap((run("MpiDot", { transposed = false }, self, data, 1)))
end

--- The product of the transpose with a vector or the columns of a matrix, which are split as the matrix's rows are.
function Matrix:tdot(x)
  local data, wrap = operand_of("tdot", x)
  return wrap((run("MpiDot", { transposed = true }, self, data, 1)))
end

-- ---- Matrices from matrices ----------------------------------------------------------------------------------------

-- The block as a sparse value or Variable that has the matrix's values.
local function whole_block(m)
  if not is_variable(m.data) and not is_variable(m.block) then return m.block:with_data(m.data) end
  if is_variable(m.block) then return m.block end
  return sparse.with_data(damo.constant(m.block), m.data)
end

local function columns_option(m) return { columns = m.columns >= 0 and m.columns or nil } end

local function same_partition(func, a, b)
  local n, m = rows_of(a.block), rows_of(b.block)
  if getmetatable(b) ~= Matrix then fail("type", "%s: the operand must be an mpi.matrix", func) end
  if n and m and (n ~= m or a.columns ~= b.columns) then
    fail("shape", "%s: the matrices are split differently: %d and %d rows on this rank", func, n, m)
  end
end

--- The sum of two matrices that are split alike; their stored places may differ.
function Matrix:add(other)
  together(same_partition, "add", self, other)
  return systems.matrix(sparse.add(whole_block(self), whole_block(other)), columns_option(self))
end

--- alpha times the matrix.
function Matrix:scale(alpha)
  if is_variable(self.block) then
    return systems.matrix(sparse.with_data(self.block, self.data * alpha), columns_option(self))
  end
  local options = columns_option(self)
  options.data = self.data * alpha
  return systems.matrix(self.block, options)
end

Matrix.__add = Matrix.add
Matrix.__sub = function(a, b) return a:add(b:scale(-1)) end
Matrix.__unm = function(a) return a:scale(-1) end
Matrix.__mul = function(a, b)
  if getmetatable(a) == Matrix then return a:scale(b) end
  return b:scale(a)
end

--- The sum of the stored entries.
function Matrix:sum() return total(damo.sum(self.data)) end

-- The same pattern with other values.
local function with_data(m, data)
  if is_variable(m.block) then return systems.matrix(sparse.with_data(m.block, data), columns_option(m)) end
  local options = columns_option(m)
  options.data = data
  return systems.matrix(m.block, options)
end

local function ones(n) return damo.ones { n } end

-- The rows of the block, as a number or a 0-d Variable.
local function n_rows(m) return rows_of(m.block) or m.block.shape[1] end

--- A norm: "fro" (also 2 entries' squares), 1 (largest column sum of magnitudes) or math.huge (largest row sum).
function Matrix:norm(kind)
  if kind == nil or kind == "fro" then return damo.sqrt(total(damo.sum(damo.sqr(self.data)))) end
  local sizes = with_data(self, damo.abs(self.data))
  if kind == 1 then return largest(sizes:tdot(ones(n_rows(self)))) end
  if kind == inf then return largest(damo.sparse.sp_sum(whole_block(sizes), { axis = 2 })) end
  fail("value", "norm: the kind of a matrix's norm is 'fro', 1 or math.huge, not %s", tostring(kind))
end

--- Lets go of PETSc's matrix and solvers; they are destroyed when every rank has done so. The matrix stays usable.
function Matrix:free()
  if self.held then self.held:free() end
  self.held = nil
end

Matrix.__tostring = function(m)
  if not m.shape then return "mpi.matrix" end
  return ("mpi.matrix(%d x %d, rows %d to %d)"):format(m.shape[1], m.shape[2], m.first, m.last)
end

-- ---- Systems -------------------------------------------------------------------------------------------------------

local solve_options = { ksp = "string", pc = "string", assume = "string", rtol = "number", atol = "number",
  max_it = "number", options = "table", on_fail = "string", transposed = "boolean" }
local assumptions = { pos = true, sym = true, gen = true }

-- PETSc's options as lines, sorted, so that equal tables are equal texts.
local function option_lines(func, options)
  local lines = {}
  for name, value in pairs(options) do
    if type(name) ~= "string" or name:find "[%s]" then fail("type", "%s: PETSc's options have names", func) end
    if type(value) == "number" then value = ("%.17g"):format(value) end
    if type(value) ~= "string" and type(value) ~= "boolean" then
      fail("type", "%s: PETSc's option '%s' must be a string, a number or a boolean", func, name)
    end
    lines[#lines + 1] = value == true and name or name .. " " .. tostring(value):gsub("\n", " ")
  end
  if #lines == 0 then return nil end
  table.sort(lines)
  return table.concat(lines, "\n")
end

local function checked_settings(func, options, known)
  options = check_options(func, options, known)
  local props = {}
  for name, value in pairs(options) do
    if type(value) ~= known[name] then
      fail("type", "%s: option '%s' must be a %s, got %s", func, name, known[name], type(value))
    end
    props[name] = value
  end
  if props.on_fail and props.on_fail ~= "raise" and props.on_fail ~= "return" then
    fail("value", "%s: option 'on_fail' is 'raise' or 'return', not '%s'", func, props.on_fail)
  end
  if props.assume and not assumptions[props.assume] then
    fail("value", "%s: option 'assume' is 'pos', 'sym' or 'gen', not '%s'", func, props.assume)
  end
  if props.options then props.options = option_lines(func, props.options) end
  props.on_fail = nil
  return props
end

-- fn(...), or nil and the error where it is a numeric one and the options ask for it.
local function guarded(on_fail, fn)
  if on_fail ~= "return" then return fn() end
  local results = { pcall(fn) }
  if results[1] then return results[2], results[3] end
  local err = results[2]
  if type(err) ~= "string" and err.kind == "numeric" then return nil, err end
  error(err, 0)
end

local function report_of(report)
  if is_variable(report) then return report end
  return { iterations = math.floor(report[1]), residual = report[2], reason = petsc.reason(report[3]) }
end

--- x of A·x = b. Without `ksp` and `pc`: directly, by MUMPS.
-- The gradient of b solves with the transpose, by the same solver and what it has made of A; so does A's.
-- @tparam Matrix A square, its columns split as its rows are
-- @tparam Vector|Array|Variable b split as A's rows are, with one column or several
-- @tparam[opt] table options `ksp` ("cg", "gmres", "bcgs", "minres", "preonly", …), `pc` ("hypre", "gamg", "ilu",
-- "jacobi", "mumps", …): PETSc's names; `assume` = "pos", "sym" or "gen"; `rtol` (1e-10), `atol`, `max_it`; `options`:
-- a table of PETSc's options by name; `transposed`; `on_fail` = "return": where it does not converge nil and the error,
-- in place of a numeric error on every rank
-- @treturn Vector|Array|Variable x of b's kind
-- @return of values a table of `iterations`, `residual` and `reason`; of Variables a vector of these three numbers
function systems.solve(A, b, options)
  local data, wrap = operand_of("solve", b)
  local props = together(checked_settings, "solve", options, solve_options)
  return guarded(options and options.on_fail, function()
    local x, report = run("MpiSolve", props, A, data, 2)
    return wrap(x), report_of(report)
  end)
end

local eigs_options = { which = "string", sigma = "number", tol = "number", max_it = "number", options = "table",
  on_fail = "string", problem = "string" }

local function eigs_settings(k, options)
  local props = checked_settings("eigs", options, eigs_options)
  if type(k) ~= "number" or k % 1 ~= 0 or k < 1 then
    fail("type", "eigs: argument 2 (k) must be a number of eigenpairs, got %s", tostring(k))
  end
  if props.problem and props.problem ~= "hep" then
    fail("value", "eigs: problem '%s' is not there; 'hep', of symmetric matrices, is", props.problem)
  end
  props.problem, props.k = nil, math.floor(k)
  return props
end

--- k eigenvalues and eigenvectors of a symmetric matrix, by SLEPc.
-- Eigenvalues that are simple have gradients, eigenvectors have none.
-- @tparam Matrix A symmetric
-- @tparam integer k
-- @tparam[opt] table options `which` = "largest_magnitude", "smallest_magnitude", "largest", "smallest"; `sigma`: those
-- next to it; `tol`, `max_it`; `options`: SLEPc's by name; `problem` = "hep"; `on_fail`
-- @treturn Array|Variable the values, the wanted first, on every rank
-- @treturn Vector the vectors, one a column, of length 1, the largest entry of each positive
function systems.eigs(A, k, options)
  local props = together(eigs_settings, k, options)
  return guarded(options and options.on_fail, function()
    local values, vectors = run("MpiEigs", props, A, nil, 2)
    return values, systems.vector(vectors)
  end)
end

Matrix.solve = systems.solve
Matrix.eigs = systems.eigs

return systems
