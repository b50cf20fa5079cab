-- Checkpoints that all ranks write and read. These specs run on every rank.
local damo = require "damo"
local mpi = require "damo.mpi"
local core = require "damo.mpi.core"
local agree = require "damo.mpi.agree"
local refused = require("mpi.spec.support.check").refused

local folder, path

-- What rank 0 does, while the others wait.
local function alone(fn)
  if mpi.rank == 0 then fn() end
  mpi.barrier()
end

local function read(name)
  local file = assert(io.open(name, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

local function write(name, bytes)
  local file = assert(io.open(name, "wb"))
  file:write(bytes)
  file:close()
end

describe("checkpoints:", function()
  setup(function()
    local name = ""
    if mpi.rank == 0 then
      local pipe = io.popen "mktemp -d"
      name = pipe:read "*l"
      pipe:close()
    end
    folder = agree.gather("spec", nil, nil, name)[1]
    path = folder .. "/state.safetensors"
  end)
  teardown(function()
    alone(function() os.execute("rm -rf '" .. folder .. "'") end)
  end)

  it("values of every kind come back", function()
    local w = damo.shared(damo.array { { 1, 2 }, { 3, 4 } }, "w")
    mpi.checkpoint(path, {
      step = 7, rate = 0.1, huge = 1 / 0, name = 'x y;:,"\\\n\0%', yes = true, no = false, layers = { { w = w }, {} },
      [3] = damo.array(5.5), none = damo.zeros { 0, 3 },
    })
    local t = mpi.restore(path)
    assert.are.equal(7, t.step)
    if math.type then assert.are.equal("integer", math.type(t.step)) end
    assert.are.equal(0.1, t.rate)
    assert.are.equal(1 / 0, t.huge)
    assert.are.equal('x y;:,"\\\n\0%', t.name)
    assert.is_true(t.yes)
    assert.is_false(t.no)
    assert.are.same({}, t.layers[2])
    assert.is_true(damo.array_equal(w:get_value(), t.layers[1].w))
    assert.are.equal(5.5, t[3]:item())
    assert.are.same({ 0, 3 }, { t.none.shape[1], t.none.shape[2] })
  end)

  it("every dtype, whole and in blocks", function()
    local state, blocks = {}, {}
    for dtype in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128")
      :gmatch "%S+" do
      local x = damo.cast(damo.arange(14) % 3, dtype):reshape { 7, 2 }
      state[dtype], state[dtype .. "_rows"] = x, mpi.shard(mpi.part(x))
      blocks[dtype] = mpi.part(x)
    end
    mpi.checkpoint(path, state)
    local t = mpi.restore(path)
    local whole = mpi.rank == 0 and damo.io.load(path)
    for dtype, block in pairs(blocks) do
      assert.are.equal(dtype, t[dtype].dtype)
      assert.is_true(damo.array_equal(state[dtype], t[dtype]), dtype)
      assert.is_true(damo.array_equal(block, t[dtype .. "_rows"]), dtype)
      if whole and dtype ~= "complex128" then
        assert.is_true(damo.array_equal(state[dtype], whole[dtype .. "_rows"]), dtype)
      end
    end
  end)

  it("blocks of any lengths along any axis are dealt out evenly", function()
    local r = mpi.rank
    local a, b = damo.full({ 2, r, 3 }, r), damo.full({ 2, 3, r }, r)
    mpi.checkpoint(path, { a = mpi.shard(a, -2), b = mpi.shard(b, 3) })
    local total = mpi.size * (mpi.size - 1) / 2
    local first, last = mpi.range(total)
    local t = mpi.restore(path)
    assert.are.same({ 2, last - first + 1, 3 }, { t.a.shape[1], t.a.shape[2], t.a.shape[3] })
    assert.are.same({ 2, 3, last - first + 1 }, { t.b.shape[1], t.b.shape[2], t.b.shape[3] })
    local owner, list = 0, {}
    for k = 1, total do
      while k > owner * (owner + 1) / 2 do owner = owner + 1 end
      if k >= first and k <= last then list[#list + 1] = owner end
    end
    for k, rank in ipairs(list) do
      assert.are.equal(rank, t.a[{ 2, k, 3 }])
      assert.are.equal(rank, t.b[{ 2, 3, k }])
    end
  end)

  it("what each rank has of its own", function()
    local stream, common = mpi.random_stream(3), damo.random.RandomStream(4)
    local mine, all = stream:normal(0, 1, { size = { 2 } }), common:uniform(0, 1, { size = { 2 } })
    local f = damo.compile({}, { mine, all })
    f()
    local state = { stream = stream, common = common, rank = mpi.own(damo.full({ mpi.rank + 1 }, mpi.rank)) }
    mpi.checkpoint(path, state)
    local a, b = f()
    f()
    local t = mpi.restore(path, state)
    local c, d = f()
    assert.is_true(damo.array_equal(a, c))
    assert.is_true(damo.array_equal(b, d))
    assert.is_true(damo.array_equal(damo.full({ mpi.rank + 1 }, mpi.rank), t.rank))
  end)

  it("restore sets shared Variables, all or none", function()
    local function state(n)
      local x = damo.shared(damo.full({ 3 }, n + mpi.rank), "x")
      return { w = damo.shared(damo.full({ 2 }, n), "w"), x = { mpi.shard(x) } }
    end
    local old, new = state(1), state(5)
    mpi.checkpoint(path, old)
    mpi.restore(path, new)
    assert.is_true(damo.array_equal(damo.ones { 2 }, new.w:get_value()))
    assert.is_true(damo.array_equal(damo.full({ 3 }, 1 + mpi.rank), new.x[1].value:get_value()))
    for _, case in ipairs {
      { w = damo.shared(damo.zeros { 2 }), y = damo.shared(damo.zeros { 2 }) },
      { w = damo.shared(damo.zeros { 2 }), x = damo.shared(damo.zeros { 2 }) },
      { a = damo.shared(damo.zeros { 2 }), w = damo.shared(damo.zeros({ 2 }, { dtype = "float32" })) },
      { w = damo.shared(damo.zeros { 2, 2 }) },
    } do
      refused("value", nil, mpi.restore, path, case)
      assert.are.equal(0, damo.sum(case.w:get_value()))
    end
  end)

  it("refuses what differs between ranks without a mark", function()
    if mpi.size == 1 then return end
    for _, value in ipairs { mpi.rank, damo.full({ 2 }, mpi.rank), damo.zeros { mpi.rank + 1 }, "r" .. mpi.rank } do
      refused("value", "layers[1].x differs between ranks", mpi.checkpoint, path, { layers = { { x = value } } })
    end
    refused("value", "differ", mpi.checkpoint, path, mpi.rank == 0 and { a = 1 } or { a = 1, b = 2 })
    refused("value", "differ", mpi.checkpoint, path, { x = mpi.shard(damo.zeros { 2, mpi.rank + 1 }) })
  end)

  it("refuses what a file can't hold", function()
    refused("type", "x.f", mpi.checkpoint, path, { x = { f = print } })
    refused("type", "indptr", mpi.checkpoint, path, { A = damo.sparse.eye(2) })
    refused("type", nil, mpi.checkpoint, path, { [1.5] = 1 })
    refused("type", nil, mpi.checkpoint, path, 3)
    refused("type", nil, mpi.checkpoint, nil, {})
    local round = {}
    round.round = round
    refused("value", "contains itself", mpi.checkpoint, path, round)
    refused("type", nil, mpi.shard, 3)
    refused("value", nil, mpi.shard, damo.zeros { 2 }, 2)
    refused("type", nil, mpi.own, damo.dvector "x")
  end)

  it("refuses a file of which any byte was changed, or that was cut", function()
    local block = mpi.part(damo.arange(9.0))
    mpi.checkpoint(path, { a = damo.arange(5), s = mpi.shard(block), o = mpi.own(damo.ones { 2 }), n = 3 })
    local bytes, other = read(path), folder .. "/damaged.safetensors"
    local step = math.floor(#bytes / 40)
    for at = 1, #bytes, step do
      alone(function()
        write(other, bytes:sub(1, at - 1) .. string.char((bytes:byte(at) + 1) % 256) .. bytes:sub(at + 1))
      end)
      refused("io", nil, mpi.restore, other)
    end
    for _, n in ipairs { 0, 5, 8, 100, #bytes - 1 } do
      alone(function() write(other, bytes:sub(1, n)) end)
      refused("io", nil, mpi.restore, other)
    end
    alone(function() write(other, bytes .. "x") end)
    refused("io", nil, mpi.restore, other)
    alone(function() damo.io.save(other, { a = damo.ones { 2 } }) end)
    refused("io", "no checkpoint", mpi.restore, other)
    refused("io", nil, mpi.restore, folder .. "/none.safetensors")
  end)

  it("refuses files that are not the same for all ranks", function()
    if mpi.size == 1 then return end
    local mixed = folder .. "/mixed" .. (mpi.rank == 1 and 1 or 0)
    for i = 0, 1 do mpi.checkpoint(folder .. "/mixed" .. i, { step = i }) end
    refused("io", "different files", mpi.restore, mixed)
  end)

  it("leaves the old file where a rank fails to write", function()
    mpi.checkpoint(path, { x = mpi.shard(damo.ones { 2 }) })
    local put = core.block_put
    if mpi.rank == mpi.size - 1 then core.block_put = function() return nil, "the disk is full" end end
    local ok, err = pcall(mpi.checkpoint, path, { x = mpi.shard(damo.zeros { 2 }) })
    core.block_put = put
    assert.is_false(ok)
    assert.are.equal("io", err.kind)
    assert.are.equal(2, damo.sum(mpi.restore(path).x))
    refused("io", nil, mpi.restore, path .. ".part")
  end)
end)

if mpi.size > 1 then return end
local jobs = dofile "mpi/spec/support/jobs.lua"
local HEAD = "local damo, mpi = require 'damo', require 'damo.mpi'\nlocal path = '%s'\n"

describe("a checkpoint of another number of ranks", function()
  it("is dealt out anew", function()
    local place = jobs.folder()
    local head = HEAD:format(place .. "/c.safetensors") .. [[
      local stream = mpi.random_stream(1)
      local draw = damo.compile({}, stream:normal())
      local first = draw()
    ]]
    local status, out = jobs.run(3, head .. [[
      local x = damo.arange(14):reshape { 7, 2 }
      mpi.checkpoint(path, { x = mpi.shard(mpi.part(x)), y = mpi.shard(mpi.part(x, 2), 2), all = x,
        own = mpi.own(damo.full({ 2 }, mpi.rank)), stream = stream })]], true)
    assert.are.equal(0, status, out)
    for _, ranks in ipairs { 0, 2, 4 } do
      status, out = jobs.run(ranks, head .. [[
        local x = damo.arange(14):reshape { 7, 2 }
        local t = mpi.restore(path)
        assert(damo.array_equal(mpi.part(x), t.x) and damo.array_equal(mpi.part(x, 2), t.y))
        assert(damo.array_equal(x, t.all))
        if mpi.rank < 3 then
          assert(damo.array_equal(damo.full({ 2 }, mpi.rank), t.own))
        else
          assert(t.own == nil)
        end
        local second = draw()
        mpi.restore(path, { stream = stream })
        -- A rank that has written none goes on with the stream that it has.
        assert((draw() == second) == (mpi.rank < 3) and first ~= second)]], true)
      assert.are.equal(0, status, out)
    end
    jobs.remove(place)
  end)
end)

describe("kill -9 of a rank", function()
  local TRAIN = [[
    local first_steps, last_step, kill_at = %d, %d, %d
    damo.random.seed(1)
    local X, T = damo.random.normal(0, 1, { size = { 11, 3 } }), damo.random.normal(0, 1, { size = { 11 } })
    local x, t, w = damo.dmatrix "x", damo.dvector "t", damo.shared(damo.zeros { 3 }, "w")
    local cost = damo.mean(damo.sqr(damo.dot(x, w) - t))
    local adam = mpi.distribute(damo.optim.adam, { count = x.shape[1] })
    local updates = adam({ w }, { damo.grad(cost, w) }, { lr = 0.1 })
    local f = damo.compile({ x, t }, {}, { updates = updates })
    local state = { step = 0 }
    for i, pair in ipairs(updates) do state[i] = pair[1] end
    if first_steps > 0 then state.step = mpi.restore(path, state).step end
    assert(state.step == first_steps)
    while state.step < last_step do
      f(mpi.part(X), mpi.part(T))
      state.step = state.step + 1
      if state.step %% 5 == 0 then mpi.checkpoint(path, state) end
      if state.step == kill_at and mpi.rank == 1 then
        os.execute("kill -9 " .. io.open "/proc/self/stat":read "*n")
      end
    end
    mpi.print(("<%%.12f %%.12f %%.12f>"):format(w:get_value()[1], w:get_value()[2], w:get_value()[3]))]]

  it("in the middle of training ends the job, and the checkpoint goes on with another number of ranks", function()
    local place = jobs.folder()
    local head = HEAD:format(place .. "/c.safetensors")
    local before = os.time()
    local status, out = jobs.run(3, head .. TRAIN:format(0, 20, 13), true)
    assert.is_truthy(status and status ~= 0, out)
    assert.is_true(os.time() - before < 30)
    local _, went_on = jobs.run(4, head .. TRAIN:format(10, 20, 0), true)
    local _, alone_out = jobs.run(0, head .. TRAIN:format(0, 20, 0), true)
    assert.is_truthy(alone_out:match "<.*>", alone_out)
    assert.are.equal(alone_out:match "<.*>", went_on:match "<.*>", went_on)
    jobs.remove(place)
  end)

  it("in the middle of a checkpoint leaves the one before", function()
    local place = jobs.folder()
    local head = HEAD:format(place .. "/c.safetensors")
    local status, out = jobs.run(3, head .. [[
      local core = require "damo.mpi.core"
      mpi.checkpoint(path, { x = mpi.shard(damo.full({ 2 }, 1)) })
      if mpi.rank == 1 then
        core.block_put = function() os.execute("kill -9 " .. io.open "/proc/self/stat":read "*n") end
      end
      mpi.checkpoint(path, { x = mpi.shard(damo.full({ 2 }, 2)) })]], true)
    assert.is_truthy(status and status ~= 0, out)
    assert.are.equal(6, damo.sum(mpi.restore(place .. "/c.safetensors").x))
    jobs.remove(place)
  end)
end)
