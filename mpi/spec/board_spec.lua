-- Short arrays of ranks on one machine go through memory that they share (mpi/src/board.h), else by messages. The first
-- groups have such memory, later ones do not, so that both ways can be compared.
local damo = require "damo"
local mpi = require "damo.mpi"
local check = require "mpi.spec.support.check"
local jobs = require "mpi.spec.support.jobs"

local rank, size = mpi.rank, mpi.size
local BOARD_GROUPS = 16 -- BOARD_GROUPS_MOST

local function value_of(r, n, dtype)
  return damo.cast(damo.sin(damo.arange(1.0, n + 0.5) * (r + 0.3)) * 100, dtype)
end

local early, by_messages
if size > 1 then
  early = mpi.split(0)
  for _ = 3, BOARD_GROUPS do mpi.split(0) end
  by_messages = mpi.split(0)
end

-- Both ways, which must give the same.
local function both(call, x, options, exact)
  local through, sent = {}, {}
  for key, v in pairs(options or {}) do through[key], sent[key] = v, v end
  sent.group = by_messages
  local a, b = damo.array(mpi[call](x, through)), damo.array(mpi[call](x, sent))
  assert.are.same(a.shape, b.shape)
  if exact then
    assert.is_true(damo.array_equal(a, b))
  else
    check.close(b, a, x.dtype == "float32" and 1e-4 or 1e-10) -- sums in another order, of numbers up to 100
  end
  return a
end

describe("short collectives through shared memory and by messages", function()
  for _, dtype in ipairs { "float64", "float32", "int8", "int64", "bool", "complex128" } do
    it("give the same of " .. dtype, function()
      for _, n in ipairs { 0, 1, 5, 6, 7, 100, 1024, 1025 } do
        local x = value_of(rank, n, dtype)
        for _, op in ipairs { "sum", "prod", "max", "min" } do
          local ordered = dtype ~= "complex128" or op == "sum"
          if ordered then both("allreduce", x, { op = op }) end
          if ordered then both("reduce", x, { op = op, root = size - 1 }) end
        end
        for root = 0, size - 1 do
          assert.is_true(damo.array_equal(value_of(root, n, dtype), both("bcast", x, { root = root }, true)))
        end
        both("allgather", x, { equal = true }, true)
        both("halo", x, { width = math.min(n, 3), periodic = true }, true)
        both("sendrecv", x, { to = (rank + 1) % size, from = (rank - 1) % size }, true)
      end
    end)
  end

  it("give the same along an inner axis, and of messages of which one is long", function()
    local x = damo.reshape(value_of(rank, 4 * 600, "float64"), { 4, 600 })
    both("halo", x, { axes = 2, width = { 2, 100 } }, true)
    both("halo", x, { axes = 2, width = { 1, 300 }, periodic = true }, true)
    both("halo", x, { axes = 1, width = { 1, 2 } }, true)
    both("halo", damo.zeros { 3000, 2 } + rank, { width = { 10, 2000 }, periodic = true }, true)
  end)

  it("write zeros where a result was not asked for", function()
    for _, group in ipairs { false, by_messages or false } do
      local v = damo.dvector "v"
      local sum = mpi.reduce(v, { root = size - 1, group = group or nil })
      local got = damo.compile({ v }, sum):into(damo.ones { 3 })(damo.ones { 3 })
      assert.is_true(damo.array_equal(got, damo.zeros { 3 } + (rank == size - 1 and size or 0)))
    end
  end)
end)

describe("a rank's place on the board", function()
  it("is kept by ranks that send to few, whatever the lengths", function()
    if size == 1 then return end
    for call = 1, 300 do
      -- Rank 0 sends a short or a long array to another one; who has no part in it has other lengths.
      local to = 1 + call % (size - 1)
      local n = call % 7 == 0 and 2000 or call % 5
      local part = rank == 0 or rank == to
      local got = mpi.sendrecv(damo.zeros { rank == 0 and n or 3 } + call,
        { to = rank == 0 and to or nil, from = rank == to and 0 or nil, like = damo.zeros { part and n or 5 } })
      assert.is_true(damo.array_equal(got, damo.zeros { part and n or 5 } + (rank == to and call or 0)))
    end
  end)

  it("may be far ahead of those who read", function()
    local turns = 0
    for call = 1, 2000 do
      local root = math.floor(call / 300) % size
      if call % 97 == rank then
        for _ = 1, 20000 do turns = turns + 1 end
      end
      local n = call % 11 + 1
      assert.are.equal(call + root, mpi.bcast(damo.zeros { n } + (call + rank), { root = root })[n])
    end
    assert.is_true(turns > 0)
  end)

  it("holds through a mixture of short and long calls", function()
    for call = 1, 400 do
      local n = ({ 1, 6, 1024, 1025, 3 })[call % 5 + 1]
      local x = damo.zeros { n } + (call * (rank + 1))
      assert.are.equal(call * size * (size + 1) / 2, mpi.allreduce(x)[n])
      if call % 3 == 0 then assert.are.equal(call * size, mpi.allgather(x, { equal = true })[n * size]) end
      if call % 4 == 0 then
        assert.are.equal(rank == 0 and call or 0, mpi.reduce(x, { op = "min", root = 0 })[1])
      end
      if call % 50 == 0 then mpi.barrier() end
    end
  end)
end)

describe("calls that were agreed on, made in another order,", function()
  it("are an error on every rank where they are short", function()
    if size == 1 then return end
    local x = damo.ones { 2 }
    local function sum() return mpi.allreduce(x, { group = early }) end
    local function product() return mpi.allreduce(x, { group = early, op = "prod" }) end
    sum()
    product()
    check.shared_error("inconsistency", "makes another call", rank == 0 and sum or product)
    check.shared_error("state", "went apart", sum)
  end)
end)

if size == 1 then
  describe("DAMO_MPI_BOARD=0", function()
    it("leaves messages, which do not tell one call that was agreed on from another", function()
      local text = [[
        local damo, mpi = require "damo", require "damo.mpi"
        local n = 0
        for k = 1, 100 do n = n + mpi.allreduce(damo.zeros { 3 } + k)[3] end
        assert(n == 5050 * mpi.size)
        mpi.allreduce(damo.ones { 3 }, { op = "max" })
        mpi.print((pcall(mpi.allreduce, damo.ones { 3 }, { op = mpi.rank == 0 and "sum" or "max" })))
      ]]
      assert.are.same({ 0, "false\n" }, { jobs.run(3, text) })
      assert.are.same({ 0, "true\n" }, { jobs.run(3, text, false, nil, "DAMO_MPI_BOARD=0") })
    end)
  end)
end
