-- The matrix of a 3-D Poisson problem on a grid of n × n × n points, as each rank's block of rows.
local damo = require "damo"
local mpi = require "damo.mpi"

local poisson = {}

-- The rows of this rank, counted from 0: from first up to, but without, stop.
function poisson.share(total)
  local per, rest = math.floor(total / mpi.size), total % mpi.size
  local first = per * mpi.rank + math.min(mpi.rank, rest)
  return first, first + per + (mpi.rank < rest and 1 or 0)
end

-- Rows first to stop of the matrix, entry(i, j) at each neighbour j of i and at i itself (counted from 0).
function poisson.rows(n, first, stop, entry)
  local total, rows, cols, values = n * n * n, {}, {}, {}
  local function add(i, j)
    rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i - first + 1, j + 1, entry(i, j)
  end
  for i = first, stop - 1 do
    local x, y, z = i % n, math.floor(i / n) % n, math.floor(i / (n * n))
    add(i, i)
    if x > 0 then add(i, i - 1) end
    if x < n - 1 then add(i, i + 1) end
    if y > 0 then add(i, i - n) end
    if y < n - 1 then add(i, i + n) end
    if z > 0 then add(i, i - n * n) end
    if z < n - 1 then add(i, i + n * n) end
  end
  if #rows == 0 then return damo.sparse.csr { data = damo.zeros { 0 }, indices = damo.zeros({ 0 }, "int32"),
    indptr = damo.zeros({ stop - first + 1 }, "int32"), shape = { stop - first, total } } end
  return damo.sparse.coo { rows = rows, cols = cols, values = values, shape = { stop - first, total } }
end

function poisson.symmetric(i, j) return i == j and 6.5 or -1 end
function poisson.skewed(i, j) return i == j and 7 + 0.1 * (i % 3) or i < j and -1.2 or -0.7 end

-- This rank's block, and the whole matrix.
function poisson.both(n, entry)
  local first, stop = poisson.share(n * n * n)
  return poisson.rows(n, first, stop, entry), poisson.rows(n, 0, n * n * n, entry), first, stop
end

return poisson
