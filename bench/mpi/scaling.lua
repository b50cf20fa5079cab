-- A step of data-parallel training on this number of ranks: a network of two layers, strong scaling (a batch of 512, of
-- which each rank has its part) and weak scaling (a batch of 512 for each rank). One line each: ranks, the time of a
-- step on the slowest rank, the least of the rounds; that of a step without the other ranks, by the plain optimiser;
-- their ratio, which is what communication costs.
-- `make bench-mpi`, or sh mpi/launch 4 lua5.4 bench/mpi/scaling.lua [width]
local damo = require "damo"
local mpi = require "damo.mpi"
local clock = require("by_hand").now

local width, batch, rounds = tonumber(arg[1]) or 512, 512, tonumber(os.getenv "ROUNDS") or 25

local function least(list)
  table.sort(list)
  return list[1]
end

-- A function that makes a step on so many rows.
local function training(rows, optimizer_of)
  local x, t = damo.dmatrix "x", damo.dmatrix "t"
  local w1 = damo.shared(damo.full({ width, width }, 0.01), "w1")
  local w2 = damo.shared(damo.full({ width, width }, 0.01), "w2")
  local cost = damo.mean((damo.dot(damo.tanh(damo.dot(x, w1)), w2) - t) ^ 2)
  local step = damo.compile({ x, t }, {}, {
    updates = optimizer_of(x)({ w1, w2 }, damo.grad(cost, { w1, w2 }), { lr = 1e-3 }),
  })
  local given = damo.ones { rows, width }
  return function() step(given, given) end
end

local function distributed(x) return mpi.distribute(damo.optim.sgd, { count = x.shape[1] }) end
local function plain() return damo.optim.sgd end

local function timed(step)
  mpi.barrier()
  local start = clock()
  step()
  return mpi.allreduce(clock() - start, { op = "max" })
end

local function measure(name, rows)
  local whole, alone = training(rows, distributed), training(rows, plain)
  local together, apart = {}, {}
  for round = 0, rounds do
    local a, b = timed(whole), timed(alone)
    if round > 0 then together[round], apart[round] = a, b end
  end
  mpi.print(("%-7s %d ranks, %4d rows each: step %8.2f ms, without communication %8.2f ms, ratio %.2f"):format(name,
    mpi.size, rows, 1e3 * least(together), 1e3 * least(apart), least(together) / least(apart)))
end

local first, last = mpi.range(batch)
measure("strong", last - first + 1)
measure("weak", batch)
