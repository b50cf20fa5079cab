-- Values of the collectives, on Arrays and in graphs.
local damo = require "damo"
local mpi = require "damo.mpi"

local size, rank = mpi.size, mpi.rank

-- Both ways of a call: at once, and compiled. Returns the results.
local function both(fn, x, mode)
  local eager = fn(x)
  local v = damo.TensorType(x.dtype, { ndim = x.ndim })("v")
  local compiled = damo.compile({ v }, fn(v), { mode = mode })
  local first, second = damo.array(compiled(x)):copy(), compiled(x)
  assert.is_true(damo.array_equal(eager, first))
  assert.is_true(damo.array_equal(eager, second))
  return damo.array(eager)
end

local function same(want, got)
  want = damo.array(want, { dtype = got.dtype })
  if not damo.array_equal(want, got) then error(("expected %s, got %s"):format(tostring(want), tostring(got)), 2) end
end

local dtypes = { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
  "complex64", "complex128" }

describe("allreduce", function()
  for _, dtype in ipairs(dtypes) do
    it("adds and multiplies " .. dtype, function()
      local x = damo.cast(damo.array { rank + 1, 2, 3 }, dtype)
      local sum, prod = size * (size + 1) / 2, 1
      for k = 1, size do prod = prod * k end
      same({ sum, 2 * size, 3 * size }, both(mpi.allreduce, x))
      same({ prod, 2 ^ size, 3 ^ size }, both(function(v) return mpi.allreduce(v, { op = "prod" }) end, x))
    end)

    if not dtype:find "complex" then
      it("finds the largest and smallest " .. dtype, function()
        local x = damo.cast(damo.array { rank + 1, 10 - rank, 3 }, dtype)
        same({ size, 10, 3 }, both(function(v) return mpi.allreduce(v, { op = "max" }) end, x))
        same({ 1, 10 - (size - 1), 3 }, both(function(v) return mpi.allreduce(v, { op = "min" }) end, x))
      end)
    end
  end

  it("is or and and of bools", function()
    local x = damo.array { rank == 0, true, false }
    same({ true, true, false }, both(mpi.allreduce, x))
    same({ size == 1, true, false }, both(function(v) return mpi.allreduce(v, { op = "prod" }) end, x))
    same({ true, true, false }, both(function(v) return mpi.allreduce(v, { op = "max" }) end, x))
    same({ size == 1, true, false }, both(function(v) return mpi.allreduce(v, { op = "min" }) end, x))
  end)

  it("wraps sums of short integers, however many", function()
    for _, dtype in ipairs { "int8", "uint8", "int16", "uint16" } do
      local range = dtype:find "8" and 256 or 65536
      for _, n in ipairs { 1, 3, 100, 40000 } do
        local x = damo.cast(damo.zeros { n } + range / 2 - 1, dtype)
        local want = (range / 2 - 1) * size % range
        if dtype:sub(1, 1) == "i" and want >= range / 2 then want = want - range end
        local got = mpi.allreduce(x)
        assert.are.equal(dtype, got.dtype)
        assert.is_true(damo.array_equal(got, damo.cast(damo.zeros { n } + want, dtype)), dtype)
      end
    end
  end)

  it("passes nan on", function()
    local nan = 0 / 0
    local x = damo.array { rank == 0 and nan or 1.0, rank == size - 1 and nan or 2.0 }
    for _, dtype in ipairs { "float32", "float64" } do
      for _, op in ipairs { "max", "min" } do
        local y = mpi.allreduce(damo.cast(x, dtype), { op = op })
        assert.is_true(y[1] ~= y[1] and y[2] ~= y[2])
      end
    end
  end)

  it("takes any shape, strides and nothing", function()
    same(3.0 * size, both(mpi.allreduce, damo.array(3.0)))
    local x = damo.reshape(damo.arange(6.0), { 2, 3 })
    same({ { 0, 3 * size }, { size, 4 * size }, { 2 * size, 5 * size } },
      both(function(v) return mpi.allreduce(damo.transpose(v)) end, x))
    assert.are.same({ 0, 2 }, both(mpi.allreduce, damo.zeros { 0, 2 }).shape)
  end)

  -- Short arrays travel by messages of their own (mpi/src/short.h).
  it("gives every rank the same bits, of short and of long arrays", function()
    for _, n in ipairs { 1, 5, 1024, 1025, 4000 } do
      local x = damo.sin(damo.arange(1.0, n + 0.5) * (rank + 0.1)) * 10.0 ^ rank
      local sum = mpi.allreduce(x)
      local all = mpi.allgather(x:reshape { 1, n }, { equal = true })
      assert.are.same({ size, n }, all.shape)
      assert.is_true(damo.allclose(damo.sum(all, 1), sum, { rtol = 1e-13, atol = 1e-13 }))
      for root = 0, size - 1 do assert.is_true(damo.array_equal(mpi.bcast(sum, { root = root }), sum)) end
      assert.is_true(damo.array_equal(all[rank + 1], x))
    end
  end)

  it("refuses an order of complex numbers", function()
    local ok, err = pcall(mpi.allreduce, damo.cast(damo.ones { 2 }, "complex128"), { op = "max" })
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
  end)
end)

describe("iallreduce and wait", function()
  it("give what allreduce gives", function()
    local x = damo.reshape(damo.arange(6.0) + rank, { 2, 3 })
    for _, op in ipairs { "sum", "max" } do
      local function later(v)
        local handle = mpi.iallreduce(v, { op = op })
        local meanwhile = damo.sin(v)
        return mpi.wait(handle) + 0 * meanwhile
      end
      for _, of in ipairs { x, damo.transpose(x), damo.array(1.0 + rank) } do
        assert.is_true(damo.allclose(mpi.allreduce(of, { op = op }), both(later, of)))
      end
    end
  end)

  it("have the work that needs no result between them, however a script lists it", function()
    local v, w = damo.dvector "v", damo.dmatrix "w"
    local h = mpi.iallreduce(v)
    local work = damo.dot(w, w)
    local sum = mpi.wait(h)
    for _, outputs in ipairs { { work, sum }, { sum, work }, { damo.dot(work, sum) }, { damo.sum(work) * sum } } do
      local f = damo.compile({ v, w }, outputs, { profile = true })
      local all = { f(damo.ones { 2 }, damo.ones { 2, 2 }) }
      local order = {}
      for _, node in ipairs(f.profile.nodes) do
        order[#order + 1] = node.op:match "^MpiBucket%u%l+" or node.op:match "^Dot"
      end
      assert.are.equal("MpiBucketStart Dot MpiBucketWait", table.concat(order, " ", 1, 3))
      if #outputs == 2 then
        local first = outputs[1] == sum and 1 or 2
        same({ size, size }, all[first])
        same({ { 2, 2 }, { 2, 2 } }, all[3 - first])
      end
    end
  end)

  it("may be several at a time, and in groups", function()
    local part = mpi.split(rank % 2)
    local v = damo.dvector "v"
    local a, b = mpi.iallreduce(v), mpi.iallreduce(v * 2, { group = part })
    local between = mpi.allreduce(v * 3)
    local f = damo.compile({ v }, { mpi.wait(b), mpi.wait(a), between })
    for n = 1, 3 do
      local of_part, of_all, third = f(damo.ones { n })
      assert.are.equal(2 * part.size, of_part[n])
      assert.are.equal(size, of_all[n])
      assert.are.equal(3 * size, third[n])
    end
  end)

  it("refuse another handle", function()
    local ok, err = pcall(mpi.wait, {})
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
  end)
end)

describe("reduce and bcast", function()
  for root = 0, size - 1 do
    it("go to and from rank " .. root, function()
      local x = damo.array { rank + 1.0, 2.0 }
      local want = rank == root and { size * (size + 1) / 2, 2 * size } or { 0, 0 }
      same(want, both(function(v) return mpi.reduce(v, { root = root }) end, x))
      same({ root + 1, 2 }, both(function(v) return mpi.bcast(v, { root = root }) end, x))
    end)
  end
end)

-- A matrix of other lengths on each rank.
local function own_matrix(n, m)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, m do rows[i][j] = 100 * rank + 10 * i + j end
  end
  return n > 0 and damo.array(rows, { dtype = "int64" }) or damo.zeros({ 0, m }, { dtype = "int64" })
end

describe("blocks", function()
  it("of a whole come to the ranks", function()
    for n = 0, 2 * size + 1 do
      for axis = 1, 2 do
        local whole = damo.reshape(damo.arange(n * 3), axis == 1 and { n, 3 } or { 3, n })
        local x = rank == size - 1 and whole or damo.zeros({ 1, 1 }, { dtype = "int64" })
        local got = both(function(v) return mpi.scatter(v, { axis = axis, root = size - 1 }) end, x)
        local start = 0
        for r = 0, rank - 1 do start = start + math.floor(n / size) + (r < n % size and 1 or 0) end
        local mine = math.floor(n / size) + (rank < n % size and 1 or 0)
        assert.are.equal(mine, got.shape[axis])
        for k = 1, mine do
          local i = start + k
          local want = axis == 1 and whole[i] or whole[{ {}, i }]
          assert.is_true(damo.array_equal(want, axis == 1 and got[k] or got[{ {}, k }]))
        end
      end
    end
  end)

  it("of the ranks come together", function()
    for axis = 1, 2 do
      local function lengths(r) return (r * 2 + 1) % 4 end
      local n = lengths(rank)
      local x = axis == 1 and own_matrix(n, 2) or damo.transpose(own_matrix(n, 2)):copy()
      local all = both(function(v) return mpi.allgather(v, { axis = axis }) end, x)
      local at_root = both(function(v) return mpi.gather(v, { axis = axis, root = size - 1 }) end, x)
      local at = 0
      for r = 0, size - 1 do
        for i = 1, lengths(r) do
          at = at + 1
          local row = axis == 1 and all[at] or all[{ {}, at }]
          same({ 100 * r + 10 * i + 1, 100 * r + 10 * i + 2 }, row)
        end
      end
      assert.are.equal(at, all.shape[axis])
      if rank == size - 1 then
        assert.is_true(damo.array_equal(all, at_root))
      else
        assert.are.equal(0, at_root.shape[axis])
      end
    end
  end)

  it("of scalars make a vector", function()
    local want = {}
    for r = 1, size do want[r] = 10 * r end
    same(want, both(mpi.allgather, damo.array(10.0 * (rank + 1))))
    same(want, mpi.allgather(10 * (rank + 1)))
    assert.are.equal("bool", mpi.allgather(rank == 0).dtype)
    local joined = mpi.gather(damo.array(10 * (rank + 1), { dtype = "int32" }))
    assert.are.equal("int32", joined.dtype)
    same(rank == 0 and want or damo.zeros { 0 }, joined)
    local x = damo.dscalar "x"
    local slope = damo.compile({ x }, damo.grad(damo.sum(damo.sqr(mpi.allgather(x * (rank + 1)))), x))
    assert.is_true(damo.allclose(2.0 * size * (rank + 1) ^ 2 * 3.0, slope(3.0)))
  end)

  it("of equal lengths need no lengths", function()
    local x = own_matrix(2, 3)
    for axis = 1, 2 do
      local even = both(function(v) return mpi.allgather(v, { axis = axis, equal = true }) end, x)
      assert.is_true(damo.array_equal(mpi.allgather(x, { axis = axis }), even))
      local at_root = mpi.gather(x, { axis = axis, equal = true })
      if rank == 0 then assert.is_true(damo.array_equal(even, at_root)) end
    end
  end)

  it("go from every rank to every rank", function()
    local n = size + 1
    local x = own_matrix(n, 2)
    local got = both(mpi.alltoall, x)
    local mine, start = rank == 0 and 2 or 1, rank == 0 and 0 or rank + 1
    assert.are.same({ mine * size, 2 }, got.shape)
    for r = 0, size - 1 do
      for k = 1, mine do
        local i = start + k
        same({ 100 * r + 10 * i + 1, 100 * r + 10 * i + 2 }, got[r * mine + k])
      end
    end
  end)

  it("turn a split of rows into one of columns", function()
    local rows = 1 + rank % 2
    local x = own_matrix(rows, 2 * size + 1)
    local got = both(function(v) return mpi.alltoall(v, { axis = 2, join_axis = 1 }) end, x)
    local whole = mpi.allgather(x)
    local widths = mpi.allgather(damo.array { got.shape[2] })
    local first = 1
    for r = 1, rank do first = first + widths[r] end
    assert.is_true(damo.array_equal(whole[{ {}, { first, first + got.shape[2] - 1 } }], got))
    local back = mpi.alltoall(mpi.alltoall(own_matrix(2, 2 * size), { axis = 2, join_axis = 1, equal = true }),
      { axis = 1, join_axis = 2, equal = true })
    assert.is_true(damo.array_equal(own_matrix(2, 2 * size), back))
  end)
end)

describe("neighbours", function()
  it("send and receive", function()
    local x = damo.array { rank, 7 }
    local next, before = (rank + 1) % size, (rank - 1) % size
    same({ before, 7 }, both(function(v) return mpi.sendrecv(v, { to = next, from = before }) end, x))
    local open = both(function(v)
      return mpi.sendrecv(v, { to = rank + 1 < size and rank + 1 or nil, from = rank > 0 and rank - 1 or nil })
    end, x)
    same(rank > 0 and { rank - 1, 7 } or { 0, 0 }, open)
    local grown = mpi.sendrecv(damo.ones { rank + 1 }, { to = next, from = before, like = damo.zeros { before + 1 } })
    assert.are.same({ before + 1 }, grown.shape)
    assert.are.equal(before + 1, damo.sum(grown))
  end)

  it("change from call to call", function()
    for round = 1, 5 do
      local to, from = (rank + round) % size, (rank - round) % size
      same({ from }, mpi.sendrecv(damo.array { rank }, { to = to, from = from }))
      if rank % 2 == 0 then
        local peer = rank + 1 < size and rank + 1 or nil
        same({ peer or 0 }, mpi.sendrecv(damo.array { rank }, { to = peer, from = peer }))
      else
        same({ rank - 1 }, mpi.sendrecv(damo.array { rank }, { to = rank - 1, from = rank - 1 }))
      end
    end
  end)

  it("lend layers along one axis", function()
    local x = damo.array { 10 * rank + 1, 10 * rank + 2, 10 * rank + 3 }
    local before, next = (rank - 1) % size, (rank + 1) % size
    same({ 10 * before + 3, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3, 10 * next + 1 },
      both(function(v) return mpi.halo(v, { periodic = true }) end, x))
    local last = rank > 0
    same({ last and 10 * rank - 8 or 0, last and 10 * rank - 7 or 0, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3,
      rank + 1 < size and 10 * rank + 11 or 0 }, both(function(v) return mpi.halo(v, { width = { 2, 1 } }) end, x))
  end)

  it("that are missing are asked for nothing, however wide the layers", function()
    if size > 1 then return end
    local wide = mpi.halo(damo.ones { 2, 1000 }, { width = { 0, 2 ^ 14 } })
    assert.are.same({ 2 + 2 ^ 14, 1000 }, wide.shape)
    assert.are.equal(2000, damo.sum(wide))
  end)

  it("lend layers and corners of a grid", function()
    local dims = size == 4 and { 2, 2 } or { size, 1 }
    local row, column = math.floor(rank / dims[2]), rank % dims[2]
    local n, m = 3, 2
    local function value(i, j) return 100 * (i % (dims[1] * n)) + (j % (dims[2] * m)) end
    local function block(width)
      local rows = {}
      for i = 1 - width, n + width do
        local r = {}
        for j = 1 - width, m + width do r[#r + 1] = value(row * n + i, column * m + j) end
        rows[#rows + 1] = r
      end
      return damo.array(rows)
    end
    for width = 1, 2 do
      local got = both(function(v)
        return mpi.halo(v, { axes = { 1, 2 }, dims = dims, width = width, periodic = true })
      end, block(0))
      assert.is_true(damo.array_equal(block(width), got))
    end
  end)
end)

describe("groups", function()
  it("split and work apart", function()
    local part = mpi.split(rank % 2, -rank)
    local members = math.floor((size + 1 - rank % 2) / 2)
    assert.are.equal(members, part.size)
    assert.are.equal(members - 1 - math.floor(rank / 2), part.rank)
    same({ members }, both(function(v) return mpi.allreduce(v, { group = part }) end, damo.array { 1 }))
    local ranks = both(function(v) return mpi.allgather(v, { group = part }) end, damo.array { rank })
    for k = 1, members do assert.are.equal(2 * (members - k) + rank % 2, ranks[k]) end
    if rank % 2 == 0 then assert.are.equal(members, mpi.allreduce(1, { group = part })) end
  end)

  it("leave ranks out, and split again", function()
    local part = mpi.split(rank > 0 and 0 or nil)
    if rank == 0 then
      assert.is_nil(part)
    else
      assert.are.equal(size - 1, part.size)
      local half = mpi.split(part.rank % 2, nil, { group = part })
      assert.are.equal(half.size, mpi.allreduce(1, { group = half }))
    end
    assert.are.equal(size, mpi.allreduce(1))
  end)
end)

describe("agree", function()
  it("gives every rank the same answer", function()
    assert.are.equal(size == 1, mpi.agree(rank == 0))
    assert.is_true(mpi.agree(rank == 0, { op = "any" }))
    assert.is_false(mpi.agree(false, { op = "any" }))
    local x = damo.dscalar "x"
    local f = damo.compile({ x }, mpi.agree(x:gt(0.5)))
    assert.are.equal(size == 1, f(1 - rank))
  end)
end)
