-- Gradients of what the ranks compute together, against finite differences: the cost of all is the sum of their costs.
local damo = require "damo"
local mpi = require "damo.mpi"

local assert = require "luassert"

local differences = {}

-- Numbers without a pattern, other ones on each rank.
function differences.values(shape, salt)
  local n = 1
  for _, length in ipairs(shape) do n = n * length end
  local flat = {}
  for k = 1, n do flat[k] = math.sin(3.7 * k + 11.3 * mpi.rank + (salt or 0)) + 0.1 * k end
  return damo.reshape(damo.array(flat, { dtype = "float64" }), shape)
end

local function weighted(y)
  local n = damo.cast(y.size, "float64")
  local position = damo.reshape(damo.arange(1, n + 0.5), y.shape)
  return damo.sum(y * damo.cos(position * (1 + 0.3 * mpi.rank)))
end

local function close(want, got, tolerance)
  local scale = math.max(1, math.abs(want))
  if math.abs(want - got) <= tolerance * scale then return true end
  return false, ("expected %.10g, got %.10g"):format(want, got)
end

-- Calls visit(rank, k) for each entry of each rank's x, on all ranks alike.
local function for_each_entry(x, visit)
  for rank = 0, mpi.size - 1 do
    local n = mpi.bcast(damo.array(x.size), { root = rank })
    for k = 1, n do visit(rank, k) end
  end
end

-- Asserts that the gradient of the weighted sum of fn(x) is right at x, for the x of every rank.
function differences.check_gradient(fn, x, options)
  options = options or {}
  local v = damo.TensorType("float64", { ndim = x.ndim })("v")
  local cost = weighted(fn(v))
  local gradient = damo.compile({ v }, damo.grad(cost, v), { mode = options.mode })(x)
  local f = damo.compile({ v }, cost, { mode = options.mode })
  assert.are.same(x.shape, gradient.shape)
  local flat, step = damo.flatten(gradient), 1e-6
  for_each_entry(x, function(rank, k)
    local function moved(by)
      local flat_x = damo.flatten(x):copy()
      if rank == mpi.rank then flat_x[k] = flat_x[k] + by end
      return mpi.allreduce(f(damo.reshape(flat_x, x.shape)))
    end
    local want = (moved(step) - moved(-step)) / (2 * step)
    if rank == mpi.rank then assert(close(want, flat[k], options.tolerance or 1e-5)) end
  end)
end

-- Asserts that the directional derivative of fn at x is right, all ranks moving at once.
function differences.check_tangent(fn, x)
  local v = damo.TensorType("float64", { ndim = x.ndim })("v")
  local d = damo.TensorType("float64", { ndim = x.ndim })("d")
  local y = fn(v)
  local along = damo.compile({ v, d }, damo.Rop(y, v, d), { on_unused_input = "ignore" })
  local f = damo.compile({ v }, y)
  local direction = differences.values(x.shape, 5)
  local step = 1e-6
  local want = (f(x + step * direction) - f(x - step * direction)) / (2 * step)
  assert.is_true(damo.allclose(along(x, direction), want, { rtol = 1e-5, atol = 1e-6 }))
end

-- All of them, and the gradient of a function of the gradient.
function differences.check(fn, x)
  differences.check_gradient(fn, x)
  differences.check_tangent(fn, x)
  differences.check_gradient(function(v)
    local y = fn(v)
    return damo.grad(damo.sum(y * y * y), v)
  end, x, { tolerance = 1e-4 })
end

return differences
