-- digits.lua: handwritten digits, learned by several processes that each have a part of every batch.
--
--     mpirun -n 4 lua5.4 -ldamo.mpi.launch examples/mpi/digits.lua [folder for results [epochs [checkpoint]]]
--
-- The data are those of ../digits.lua: 1797 pictures of 8 x 8 pixels, each with its digit; every fifth row is a test
-- picture. Losses and accuracies are the same on any number of ranks, to rounding: the mean over a batch of 64 does not
-- depend on how it is split. Given the checkpoint of an earlier run, training goes on from there, on any number of
-- ranks.

local damo = require "damo"
local mpi = require "damo.mpi"

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or "build/demo"
local epochs, from = tonumber(arg[2] or 20), arg[3]
local BATCH = 64

-- ---- Data: few enough that every rank has all of them ---------------------------------------------------------------

local table_ = damo.io.read_csv(here .. "/../data/digits.csv")
local pixels, digits = table_[{ {}, { 1, 64 } }] / 16, table_[{ {}, 65 }]:astype "int64" + 1 -- classes count from 1
local is_test = damo.eq(damo.arange(1, #digits + 1) % 5, 0)
local train_x, train_y = pixels[damo.logical_not(is_test)], digits[damo.logical_not(is_test)]
local test_x, test_y = pixels[is_test], digits[is_test]
mpi.print(("digits: %d pictures to train on, %d to test on, %d ranks"):format(#train_y, #test_y, mpi.size))

-- ---- A network with one hidden layer --------------------------------------------------------------------------------

local x, y, rows = damo.dmatrix "x", damo.lvector "y", damo.lvector "rows"
damo.random.seed(2)

local function layer(n_in, n_out, name)
  local w = damo.random.normal(0, math.sqrt(2 / n_in), { size = { n_in, n_out } })
  return damo.shared(w, name .. ".w"), damo.shared(damo.zeros { n_out }, name .. ".b")
end

local w1, b1 = layer(64, 64, "hidden")
local w2, b2 = layer(64, 10, "output")
local params = { w1, b1, w2, b2 }
local logits = damo.dot(damo.maximum(damo.dot(x, w1) + b1, 0), w2) + b2
local loss = damo.mean(damo.nn.nll(damo.log_softmax(logits, { axis = 2 }), y))

-- ---- Training: the three lines that make it parallel are marked by *** ----------------------------------------------

local adam = mpi.distribute(damo.optim.adam, { count = rows.shape[1] })                -- ***
local updates = adam(params, damo.grad(loss, params), { lr = 0.003 })
local step = damo.compile({ rows }, mpi.average(loss, { count = rows.shape[1] }), {    -- ***
  updates = updates,
  givens = { [x] = damo.shared(train_x)[rows], [y] = damo.shared(train_y)[rows] },
})
local predict = damo.compile({ x }, damo.argmax(logits, { axis = 2 }))

-- What a checkpoint holds: the parameters, and what the optimiser remembers of them.
local state = { epoch = 0 }
for i, pair in ipairs(updates) do state[i] = pair[1] end
local path = results .. "/digits_mpi.safetensors"

local function accuracy() return damo.mean(damo.eq(predict(test_x), test_y):astype "float64") end

local function train()
  local bar = mpi.progress.new(epochs, "digits")
  for epoch = state.epoch + 1, epochs do
    damo.random.seed(epoch) -- the same order on every rank, and after a restart
    local order, total, count = damo.random.permutation(#train_y), 0, math.ceil(#train_y / BATCH)
    for k = 1, count do
      local batch = order[{ { (k - 1) * BATCH + 1, math.min(k * BATCH, #train_y) } }]
      total = total + step(mpi.part(batch))                                            -- ***
    end
    state.epoch = epoch
    bar:step(epoch, { loss = total / count })
    if epoch % 5 == 0 then mpi.print(("epoch %2d: loss %.8f"):format(epoch, total / count)) end
    if epoch % 10 == 0 or epoch == epochs then mpi.checkpoint(path, state) end
  end
  bar:finish()
end

if mpi.rank == 0 then os.execute(("mkdir -p '%s'"):format(results)) end
mpi.barrier()
if from then state.epoch = mpi.restore(from, state).epoch end
train()
mpi.print(("test accuracy %.4f"):format(accuracy()))

-- The checkpoint of the last epoch gives the same network.
local reached = accuracy()
w2:set_value(damo.zeros { 64, 10 })
state.epoch = mpi.restore(path, state).epoch
assert(accuracy() == reached and state.epoch == epochs)
mpi.print("checkpoint: " .. path)
