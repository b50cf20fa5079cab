--- Finds the coefficient of a 3-D Poisson problem from observations of its solution, by the adjoint gradient.
--
-- -div(k grad u) = f in a cube, u = 0 around it, on n × n × n points; k = exp(m) lies at the points, and a face between
-- two of them has their mean. Each rank has some planes of points: its rows of the matrix, its part of m. Faces between
-- two ranks need the neighbour's k, which a halo exchange brings. Everything is one graph, so damo.grad goes through
-- the solve (by a solve with the same matrix), the matrix's entries and the exchange. The output is the same on any
-- number of ranks, up to n:
--
--     lua5.4 examples/mpi/poisson3d.lua
--     mpirun -n 4 lua5.4 -ldamo.mpi.launch examples/mpi/poisson3d.lua [points an edge] [steps]
local damo = require "damo"
local mpi = require "damo.mpi"

local n, steps = tonumber(arg[1] or 12), tonumber(arg[2] or 60)
local plane = n * n
if mpi.size > n then error(("%d ranks for %d planes"):format(mpi.size, n), 0) end

-- This rank's planes: from z0, counted from 0, up to but without z1.
local z0 = math.floor(n * mpi.rank / mpi.size)
local z1 = math.floor(n * (mpi.rank + 1) / mpi.size)
local rows = (z1 - z0) * plane

-- The places of the matrix: in each row the diagonal, then the neighbours. here and there are where a face's two points
-- are in the planes of k with the neighbours' planes around them; walls counts the faces at which a row meets u = 0.
local indices, indptr, place = {}, { 0 }, {}
local here, there, row_of, walls = {}, {}, {}, {}
for r = 0, rows - 1 do
  local x, y, z = r % n, math.floor(r / n) % n, z0 + math.floor(r / plane)
  indices[#indices + 1] = z0 * plane + r
  place[#place + 1] = r + 1
  walls[r + 1] = 0
  for _, step in ipairs { { x, 1, 1 }, { x, -1, 1 }, { y, 1, n }, { y, -1, n }, { z, 1, plane }, { z, -1, plane } } do
    local at, by = step[1] + step[2], step[2] * step[3]
    if at < 0 or at == n then
      walls[r + 1] = walls[r + 1] + 1
    else
      here[#here + 1], there[#there + 1], row_of[#row_of + 1] = r + plane + 1, r + plane + by + 1, r + 1
      indices[#indices + 1] = z0 * plane + r + by
      place[#place + 1] = rows + #here
    end
  end
  indptr[#indptr + 1] = #indices
end

local function index(list) return damo.array(list, "int64") end

local pattern = damo.sparse.csr { data = damo.ones { #indices }, indices = indices, indptr = indptr,
  shape = { rows, n * plane } }
local faces = damo.sparse.coo { rows = row_of, cols = damo.range(1, #here), values = damo.ones { #here },
  shape = { rows, #here } } -- sums each row's faces
here, there, place, walls = index(here), index(there), index(place), damo.array(walls, "float64")

-- The matrix for this rank's m, as values or Variables.
local function matrix(m)
  local k = damo.exp(m)
  local wide = mpi.halo(damo.reshape(k, { z1 - z0, n, n }), { axes = { 1 }, dims = { mpi.size }, width = 1 })
  local flat = damo.flatten(wide)
  local face = (flat[here] + flat[there]) / 2
  local values = damo.join(1, { damo.dot(faces, face) + walls * k, -face })
  return mpi.matrix(pattern, { data = values[place] })
end

local solver = { ksp = "cg", pc = "gamg", assume = "pos", rtol = 1e-12 }
local function position(r) return r % n / n, math.floor(r / n) % n / n, (z0 + math.floor(r / plane)) / n end
local function field(f)
  local list = {}
  for r = 0, rows - 1 do list[r + 1] = f(position(r)) end
  return damo.array(list)
end

-- What is to be found, the sources, and what is observed.
local truth = field(function(x, y, z) return 0.8 * math.sin(5 * x) * math.cos(4 * y + 2 * z) end)
local source = field(function(x, y, z) return 1 + math.cos(7 * x * y) + z end)
local observed = matrix(truth):solve(source, solver)

-- The cost of all is the sum of the ranks' costs: so is its gradient.
local m = damo.shared(damo.zeros { rows }, "m")
local speed = damo.shared(damo.zeros { rows }, "speed")
local u = matrix(m):solve(source, solver)
local scale = mpi.allreduce(damo.sum(observed * observed))
local cost = damo.sum(damo.sqr(u - observed)) / scale
local slope = damo.grad(cost, m)
local faster = 0.9 * speed - 0.03 * n * plane * slope
local step = damo.compile({}, mpi.allreduce(cost), { updates = { [speed] = faster, [m] = m + faster } })

local function error_of() -- of m, against the truth
  local d = m:get_value() - truth
  return math.sqrt(mpi.allreduce(damo.sum(d * d)) / mpi.allreduce(damo.sum(truth * truth)))
end

for k = 1, steps do
  local misfit = step()
  if k % 10 == 0 or k == 1 then mpi.print(("step %3d  misfit %.4e  error of m %.4f"):format(k, misfit, error_of())) end
end
