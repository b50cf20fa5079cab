--- Distributed sparse systems: times of products and solves on a 3-D Poisson problem, one line a row.
--
--     sh mpi/launch 2 lua5.4 bench/mpi/petsc.lua [points an edge]
--     sh mpi/launch 2 python3 bench/mpi/petsc.py [points an edge]     the same by petsc4py
--
-- Each time is the least of several, of the slowest rank.
local damo = require "damo"
local mpi = require "damo.mpi"

local n = tonumber(arg and arg[1] or 40)
local total, plane = n * n * n, n * n
local first = math.floor(total * mpi.rank / mpi.size)
local stop = math.floor(total * (mpi.rank + 1) / mpi.size)

local function poisson()
  local data, indices, indptr = {}, {}, { 0 }
  local function add(j, v) data[#data + 1], indices[#indices + 1] = v, j end
  for i = first, stop - 1 do
    local x, y, z = i % n, math.floor(i / n) % n, math.floor(i / plane)
    if z > 0 then add(i - plane, -1) end
    if y > 0 then add(i - n, -1) end
    if x > 0 then add(i - 1, -1) end
    add(i, 6)
    if x < n - 1 then add(i + 1, -1) end
    if y < n - 1 then add(i + n, -1) end
    if z < n - 1 then add(i + plane, -1) end
    indptr[#indptr + 1] = #data
  end
  return damo.sparse.csr { data = data, indices = indices, indptr = indptr, shape = { stop - first, total } }
end

local function measure(name, times, fn)
  local best = math.huge
  fn(1)
  for k = 1, times do
    mpi.barrier()
    local begun = damo.clock()
    fn(k + 1)
    best = math.min(best, mpi.allreduce(damo.array((damo.clock() - begun) / 1e9), { op = "max" }))
  end
  if mpi.rank == 0 then print(("%-32s %.3e"):format(name, best)) end
end

local block = poisson()
local A = mpi.matrix(block)
local x = damo.sin(damo.arange(first, stop) * 0.1)

-- Products and solves in Functions that write into arrays of their own, as a loop of a program has them.
local v, d = damo.dvector "v", damo.dvector "d"
local out = damo.zeros { stop - first }
local dot, tdot = damo.compile({ v }, A:dot(v)):into(out), damo.compile({ v }, A:tdot(v)):into(out)
measure("A x", 50, function() dot(x) end)
measure("A' x", 50, function() tdot(x) end)

local gamg = { ksp = "cg", pc = "gamg", assume = "pos", rtol = 1e-8 }
local again = damo.compile({ v }, (A:solve(v, gamg)))
measure("solve, cg gamg, same matrix", 5, function() again(x) end)

local B = mpi.matrix(block, { data = d })
local scales = {}
for k = 1, 10 do scales[k] = block.data * (1 + 0.01 * k) end
local fresh = damo.compile({ d, v }, (B:solve(v, gamg)))
measure("solve, cg gamg, new values", 3, function(k) fresh(scales[k], x) end)

local direct = damo.compile({ d, v }, (B:solve(v, { assume = "pos" })))
measure("solve, mumps, new values", 2, function(k) direct(scales[k], x) end)
local cost = damo.sum(damo.sqr((B:solve(v, { assume = "pos" }))))
local adjoint = damo.compile({ d, v }, { damo.grad(cost, d), damo.grad(cost, v) })
measure("solve and gradients, mumps", 2, function(k) adjoint(scales[k], x) end)
