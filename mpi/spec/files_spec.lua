-- Files that ranks read and write together. These specs run on every rank.
local damo = require "damo"
local mpi = require "damo.mpi"
local core = require "damo.mpi.core"
local agree = require "damo.mpi.agree"

local folder

-- A folder that all ranks know.
local function shared_folder()
  local name = ""
  if mpi.rank == 0 then
    local pipe = io.popen "mktemp -d"
    name = pipe:read "*l"
    pipe:close()
  end
  return agree.gather("spec", nil, nil, name)[1]
end

-- What rank 0 does, while the others wait.
local function alone(fn)
  if mpi.rank == 0 then fn() end
  mpi.barrier()
end

local function write_text(path, text)
  alone(function()
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end)
end

local function exists(path)
  mpi.barrier()
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

describe("files of all ranks:", function()
  setup(function() folder = shared_folder() end)
  teardown(function()
    alone(function() os.execute("rm -rf '" .. folder .. "'") end)
  end)

  it("are not open to a sandbox", function()
    if mpi.size > 1 then return end
    local jobs = dofile "mpi/spec/support/jobs.lua"
    local status, text = jobs.run(0, [[
      local damo, mpi, core = require "damo", require "damo.mpi", require "damo.mpi.core"
      damo.config.sandbox = true
      for _, door in ipairs {
        function() mpi.write_npy("x.npy", damo.ones { 2 }) end,
        function() mpi.checkpoint("x.ck", { a = damo.ones { 2 } }) end,
        function() return mpi.restore "x.ck" end, function() return core.file_get("/etc/passwd", 0, 20) end,
        function() core.file_remove "x.ck" end,
      } do
        local ok, err = pcall(door)
        assert(not ok and tostring(err):find "sandbox", tostring(err))
      end
      print "closed"]])
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("closed", 1, true), text)
  end)

  it("range deals out everything, in order, evenly", function()
    for n = 0, 9 do
      local following = 1
      for rank = 0, mpi.size - 1 do
        local first, last = mpi.range(n, rank)
        assert.are.equal(following, first)
        local length = last - first + 1
        assert.is_true(length == math.floor(n / mpi.size) or length == math.floor(n / mpi.size) + 1)
        following = last + 1
      end
      assert.are.equal(n + 1, following)
    end
    assert.are.same({ mpi.range(7, mpi.rank) }, { mpi.range(7) })
    assert.has_error(function() mpi.range(-1) end)
  end)

  local function numbers(shape, dtype)
    local n = 1
    for _, length in ipairs(shape) do n = n * length end
    return damo.cast(damo.arange(n) % 200, dtype):reshape(shape)
  end

  it("part is this rank's block", function()
    local x = numbers({ 5, 3 }, "float64")
    local first, last = mpi.range(5)
    assert.is_true(damo.array_equal(x[{ { first, last } }], mpi.part(x)))
    first, last = mpi.range(3)
    assert.is_true(damo.array_equal(x[{ {}, { first, last } }], mpi.part(x, -1)))
    assert.has_error(function() mpi.part(x, 3) end)
  end)

  for _, case in ipairs {
    { { 7, 3 }, "float64", 1 }, { { 3, 5, 2 }, "float32", 2 }, { { 2, 3, 6 }, "complex128", 3 }, { { 2 }, "uint8", 1 },
    { { 4, 0 }, "int64", 1 }, { { 5, 2 }, "bool", -1 },
  } do
    local shape, dtype, axis = case[1], case[2], case[3]
    it(("a .npy of %s, %s is read and written along axis %d"):format(dtype, table.concat(shape, "×"), axis), function()
      local x, path = numbers(shape, dtype), folder .. "/x.npy"
      alone(function() damo.io.save(path, x) end)
      local block = mpi.read_npy(path, { axis = axis })
      assert.is_true(damo.array_equal(mpi.part(x, axis), block))
      mpi.write_npy(folder .. "/y.npy", block, { axis = axis })
      local y = damo.io.load(folder .. "/y.npy")
      assert.are.equal(dtype, y.dtype)
      assert.is_true(damo.array_equal(x, y))
      assert.is_false(exists(folder .. "/y.npy.part"))
    end)
  end

  it("blocks may have any lengths, but agree otherwise", function()
    local path = folder .. "/uneven.npy"
    mpi.write_npy(path, damo.full({ mpi.rank, 2 }, mpi.rank, { dtype = "float64" }))
    local whole = damo.io.load(path)
    assert.are.equal(mpi.size * (mpi.size - 1) / 2, whole.shape[1])
    for rank = 1, mpi.size - 1 do assert.are.equal(rank, whole[{ 1 + rank * (rank - 1) / 2, 1 }]) end
    if mpi.size == 1 then return end
    local ok, err = pcall(mpi.write_npy, path, damo.zeros { 1, mpi.rank == 1 and 3 or 2 })
    assert.is_false(ok)
    assert.are.equal("shape", err.kind)
    assert.is_false((pcall(mpi.write_npy, path, damo.ones { 2, 2 }, { axis = mpi.rank == 0 and 1 or 2 })))
  end)

  it("what fails on one rank is an error on all, and leaves the old file", function()
    local ok, err = pcall(mpi.read_npy, folder .. "/none.npy")
    assert.is_false(ok)
    assert.are.equal("io", err.kind)
    local path = folder .. "/old.npy"
    mpi.write_npy(path, damo.ones { 1 })
    local put = core.block_put
    if mpi.rank == mpi.size - 1 then core.block_put = function() return nil, "the disk is full" end end
    ok, err = pcall(mpi.write_npy, path, damo.zeros { 5 })
    core.block_put = put
    assert.is_false(ok)
    assert.are.equal("io", err.kind)
    assert.is_truthy(err.message:find "the disk is full")
    assert.are.equal(mpi.size, damo.io.load(path).size)
    assert.is_false(exists(path .. ".part"))
    ok, err = pcall(mpi.write_npy, folder .. "/no/such.npy", damo.zeros { 5 })
    assert.is_false(ok)
    assert.are.equal("io", err.kind)
  end)

  for _, name in ipairs { "494_bus", "west0067_jumbled", "ash219", "karate", "chesapeake", "lp_afiro", "LFAT5" } do
    it("rows of the Matrix Market file " .. name, function()
      local path = "spec/data/mtx/" .. name .. ".mtx"
      local whole = damo.io.read_mtx(path)
      local A, first, rows = mpi.read_mtx(path)
      assert.are.equal(whole.shape[1], rows)
      assert.are.equal((mpi.range(rows)), first)
      assert.are.equal("csr", A.format)
      assert.are.equal(whole.dtype, A.dtype)
      local mine = whole[{ { first, first + A.shape[1] - 1 }, {} }]
      assert.is_true(damo.array_equal(mine, A))
      assert.are.equal(mine.nnz, A.nnz)
      mpi.write_mtx(folder .. "/written.mtx", A)
      local again = damo.io.read_mtx(folder .. "/written.mtx")
      assert.is_true(damo.array_equal(whole, again))
      assert.are.equal(whole.nnz, again.nnz)
    end)
  end

  it("fewer rows than ranks, zeros, duplicates, blank lines", function()
    local path = folder .. "/small.mtx"
    write_text(path, "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 4 5\n1 1 0\n1 2 3\n\n1 2 4\n"
      .. "2 4 1e-3\n1 1 0")
    local A = mpi.read_mtx(path)
    local whole = damo.io.read_mtx(path)
    local first, last = mpi.range(2)
    assert.are.same({ last - first + 1, 4 }, { A.shape[1], A.shape[2] })
    if last >= first then
      assert.is_true(damo.array_equal(whole[{ { first, last }, {} }], A))
      assert.are.equal(whole[{ { first, last }, {} }].nnz, A.nnz)
    end
    mpi.write_mtx(folder .. "/small_written.mtx", A)
    assert.is_true(damo.array_equal(whole, damo.io.read_mtx(folder .. "/small_written.mtx")))
  end)

  it("Matrix Market files that are wrong are errors on every rank", function()
    local path = folder .. "/wrong.mtx"
    for _, case in ipairs {
      { "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 1\n", "io" },
      { "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 7 1\n", "io" },
      { "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 x 1\n", "io" },
      { "%%MatrixMarket matrix array real general\n1 1\n1\n", "type" },
      { "nothing", "io" }, { "", "io" },
    } do
      write_text(path, case[1])
      local ok, err = pcall(mpi.read_mtx, path)
      assert.is_false(ok)
      assert.are.equal(case[2], err.kind, case[1] .. tostring(err))
    end
  end)
end)
