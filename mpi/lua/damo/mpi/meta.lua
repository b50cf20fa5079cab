---@meta damo.mpi
-- Annotations of damo.mpi; read by editors, never loaded at run time. mpi/spec/names_spec.lua holds them against the
-- module.
-- luacheck: ignore

---A group of ranks, for the option `group` of the collectives.
---@class damo.mpi.Group
---@field rank integer this process's number in it, from 0
---@field size integer

---The error that ended the work of all ranks together.
---@class damo.mpi.Fault
---@field rank integer the rank that raised it or ended too early
---@field kind damo.ErrorKind
---@field message string
---@field trace string
---@field reporter integer the rank that told the others

---@class damo.mpi.Config
---@field check boolean whether the ranks compare what they are about to do before each call; set it on all ranks
---@field grace number seconds that a rank which has failed waits for those that still compute

---An Array, or a Variable in a graph; a number for a value without dimensions.
---@alias damo.mpi.Operand damo.Variable|damo.Array|number|boolean|table

---@class damo.mpi.Vector
---@field data damo.Array|damo.Variable this rank's part
---@field first? integer
---@field last? integer
---@field size? integer
local Vector = {}
---@return damo.Result
function Vector:sum() end
---@param other damo.mpi.Vector|damo.Operand
---@return damo.Result
function Vector:dot(other) end
---@param kind? 1|2|number
---@return damo.Result
function Vector:norm(kind) end
---@param alpha damo.Operand
---@return damo.mpi.Vector
function Vector:scale(alpha) end
---@param alpha damo.Operand
---@param x damo.mpi.Vector|damo.Operand
---@return damo.mpi.Vector
function Vector:axpy(alpha, x) end
---@return damo.Result all entries, on every rank
function Vector:toarray() end

---@class damo.mpi.Matrix
---@field data damo.Array|damo.Variable
---@field block damo.Sparse|damo.Variable
---@field first? integer
---@field last? integer
---@field shape? integer[]
local Matrix = {}
---@param x damo.mpi.Vector|damo.Operand
---@return damo.mpi.Vector|damo.Result
function Matrix:dot(x) end
---@param x damo.mpi.Vector|damo.Operand
---@return damo.mpi.Vector|damo.Result
function Matrix:tdot(x) end
---@param b damo.mpi.Vector|damo.Operand
---@param options? damo.mpi.SolveOptions
---@return damo.mpi.Vector|damo.Result x
---@return damo.mpi.Report|damo.Variable report
function Matrix:solve(b, options) end
---@param k integer
---@param options? damo.mpi.EigsOptions
---@return damo.Result values
---@return damo.mpi.Vector vectors
function Matrix:eigs(k, options) end
---@return damo.Result
function Matrix:sum() end
---@param kind? "fro"|1|number
---@return damo.Result
function Matrix:norm(kind) end
function Matrix:free() end

---@alias damo.mpi.Report { iterations: integer, residual: number, reason: string }
---@alias damo.mpi.SolveOptions { ksp?: string, pc?: string, assume?: "gen"|"sym"|"pos", rtol?: number, atol?: number, max_it?: integer, options?: table<string, any>, transposed?: boolean, on_fail?: "raise"|"return" }
---@alias damo.mpi.EigsOptions { which?: "largest_magnitude"|"smallest_magnitude"|"largest"|"smallest", sigma?: number, tol?: number, max_it?: integer, options?: table<string, any>, problem?: string, on_fail?: "raise"|"return" }
---@alias damo.mpi.Optimizer fun(params: damo.Variable|table, grads: damo.Variable|table, options?: table): table

---@class damo.mpi
---@field rank integer this process's number, from 0 to `size - 1`
---@field size integer the number of processes
---@field config damo.mpi.Config
---@field progress fun(n: any, options?: damo.ProgressOptions): function damo.progress, shown by rank 0 alone
local mpi = {}

---Returns on no rank before all ranks have called it.
function mpi.barrier() end

---Calls fn(...) on every rank; an error on one rank is raised on all of them.
---@generic T
---@param fn fun(...): T
---@param ... any
---@return T
function mpi.run(fn, ...) end

---The error that ended the work of all ranks together, nil without one.
---@return damo.mpi.Fault?
function mpi.fault() end

---The sum (or another reduction) over the ranks, element by element, on every rank.
---@param x damo.mpi.Operand
---@param options? { op?: "sum"|"prod"|"max"|"min", group?: damo.mpi.Group }
---@return damo.Result
function mpi.allreduce(x, options) end

---Begins an allreduce of a Variable.
---@param x damo.Variable
---@param options? { op?: "sum"|"prod"|"max"|"min", group?: damo.mpi.Group }
---@return any handle for mpi.wait
function mpi.iallreduce(x, options) end

---The result of what was begun.
---@param handle any
---@return damo.Variable
function mpi.wait(handle) end

---A reduction on the root alone; zeros elsewhere.
---@param x damo.mpi.Operand
---@param options? { op?: "sum"|"prod"|"max"|"min", root?: integer, group?: damo.mpi.Group }
---@return damo.Result
function mpi.reduce(x, options) end

---The root's x on every rank.
---@param x damo.mpi.Operand
---@param options? { root?: integer, group?: damo.mpi.Group }
---@return damo.Result
function mpi.bcast(x, options) end

---A block of the root's x for each rank.
---@param x damo.mpi.Operand
---@param options? { axis?: integer, root?: integer, group?: damo.mpi.Group }
---@return damo.Result
function mpi.scatter(x, options) end

---The ranks' arrays, joined along an axis, on the root.
---@param x damo.mpi.Operand
---@param options? { axis?: integer, root?: integer, equal?: boolean, group?: damo.mpi.Group }
---@return damo.Result
function mpi.gather(x, options) end

---The ranks' arrays, joined along an axis, on every rank.
---@param x damo.mpi.Operand
---@param options? { axis?: integer, equal?: boolean, group?: damo.mpi.Group }
---@return damo.Result
function mpi.allgather(x, options) end

---This rank's block of every rank's x, joined along an axis.
---@param x damo.mpi.Operand
---@param options? { axis?: integer, join_axis?: integer, equal?: boolean, group?: damo.mpi.Group }
---@return damo.Result
function mpi.alltoall(x, options) end

---Sends x to one rank and returns what another one sent.
---@param x damo.mpi.Operand
---@param options { to?: integer, from?: integer, like?: damo.mpi.Operand, group?: damo.mpi.Group }
---@return damo.Result
function mpi.sendrecv(x, options) end

---x between layers of the neighbours' arrays, corners included.
---@param x damo.mpi.Operand
---@param options? { axes?: integer|integer[], dims?: integer|integer[], width?: integer|table, periodic?: boolean|boolean[], group?: damo.mpi.Group }
---@return damo.Result
function mpi.halo(x, options) end

---Whether the condition holds on all ranks, or on any of them.
---@param cond damo.Variable|damo.Array|boolean
---@param options? { op?: "all"|"any", group?: damo.mpi.Group }
---@return damo.Variable|boolean
function mpi.agree(cond, options) end

---Splits a group: ranks that give the same color are a group of their own.
---@param color? integer nil: this rank belongs to no new group
---@param key? integer
---@param options? { group?: damo.mpi.Group }
---@return damo.mpi.Group?
function mpi.split(color, key, options) end

---An optimiser for several ranks, whose updates are those of the mean over the whole batch.
---@param optimizer damo.mpi.Optimizer
---@param options? { count?: number|damo.Variable, bucket?: number }
---@return damo.mpi.Optimizer
function mpi.distribute(optimizer, options) end

---The average over the ranks, each by its count.
---@param x damo.mpi.Operand
---@param options? { count?: number|damo.Variable }
---@return damo.Result
function mpi.average(x, options) end

---A stream of random numbers of this rank's own.
---@param seed integer the same on all ranks
---@return damo.RandomStream
function mpi.random_stream(seed) end

---Prints on rank 0 alone.
---@param ... any
function mpi.print(...) end

---The positions, of n, that are a rank's.
---@param n integer
---@param rank? integer
---@return integer first
---@return integer last
function mpi.range(n, rank) end

---This rank's block of an Array that every rank has.
---@param x damo.Array
---@param axis? integer
---@return damo.Array
function mpi.part(x, axis) end

---This rank's block of the array of a .npy file.
---@param path string
---@param options? { axis?: integer }
---@return damo.Array
function mpi.read_npy(path, options) end

---Writes one .npy file of the ranks' blocks.
---@param path string
---@param block damo.Array
---@param options? { axis?: integer }
function mpi.write_npy(path, block, options) end

---This rank's rows of a Matrix Market file as CSR.
---@param path string
---@return damo.Sparse block
---@return integer first
---@return integer rows
function mpi.read_mtx(path) end

---Writes one Matrix Market file of the ranks' rows.
---@param path string
---@param A damo.Sparse
function mpi.write_mtx(path, A) end

---Writes the state of all ranks to one file, all of it or nothing.
---@param path string
---@param state table
function mpi.checkpoint(path, state) end

---Reads a checkpoint on any number of ranks.
---@param path string
---@param into? table
---@return table state
function mpi.restore(path, into) end

---Marks a value in the state of a checkpoint: each rank has a block of it along an axis.
---@param value damo.Array|damo.Variable
---@param axis? integer
---@return table
function mpi.shard(value, axis) end

---Marks a value in the state of a checkpoint: each rank has one of its own.
---@param value damo.Array|damo.Variable
---@return table
function mpi.own(value) end

---A vector split by rows over the ranks.
---@param data damo.mpi.Operand this rank's part
---@return damo.mpi.Vector
function mpi.vector(data) end

---A sparse matrix split by rows over the ranks.
---@param block damo.Sparse|damo.Variable this rank's rows
---@param options? { data?: damo.Variable|damo.Array, columns?: integer, rows?: integer[] }
---@return damo.mpi.Matrix
function mpi.matrix(block, options) end

---x of A·x = b.
---@param A damo.mpi.Matrix
---@param b damo.mpi.Vector|damo.Operand
---@param options? damo.mpi.SolveOptions
---@return damo.mpi.Vector|damo.Result x
---@return damo.mpi.Report|damo.Variable report
function mpi.solve(A, b, options) end

---k eigenvalues and eigenvectors of a symmetric matrix.
---@param A damo.mpi.Matrix
---@param k integer
---@param options? damo.mpi.EigsOptions
---@return damo.Result values
---@return damo.mpi.Vector vectors
function mpi.eigs(A, k, options) end

return mpi
