-- f:into with sparse outputs: the target gets the result's pattern and values and keeps its memory; Arrays taken from
-- it
-- earlier keep their values.
local damo = require "damo"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local sparse = damo.sparse

local collect = garbage.collect

local function small() return sparse.coo { rows = { 1, 2 }, cols = { 3, 1 }, values = { 1, 2 }, shape = { 3, 3 } } end
local function large()
  return sparse.coo { rows = { 1, 1, 2, 3 }, cols = { 1, 2, 2, 3 }, values = { 3, 4, 5, 6 }, shape = { 3, 3 } }
end

local function same(got, want)
  assert.is_true(damo.array_equal(want, got))
  assert.equal(want.nnz, got.nnz)
  assert.equal(want.nnz, #got.data)
end

describe("into a sparse matrix", function()
  it("writes the result of each call", function()
    for _, format in ipairs(s.formats) do
      for _, dtype in ipairs(s.dtypes) do
        for _, itype in ipairs(s.itypes) do
          for _, mode in ipairs(s.modes) do
            local options = { dtype = dtype, itype = itype }
            local x, y = sparse.matrix(format, "x", options), sparse.matrix(format, "y", options)
            local f = damo.compile({ x, y }, x + y, { mode = mode })
            local function value(m)
              local o = { data = m.data, indices = m.indices, indptr = m.indptr, shape = m.shape, itype = itype }
              o.data = damo.cast(m.data, dtype)
              return sparse[format](o)
            end
            local a, b = value(small()), value(large())
            local out = f(a, a)
            local g = f:into(out)
            assert.equal(out, g(a, b))
            same(out, f(a, b))
            g(a, a)
            same(out, f(a, a))
          end
        end
      end
    end
  end)

  it("keeps its memory if the entries fit", function()
    local x = sparse.csr_matrix "x"
    local f = damo.compile({ x }, sparse.neg(x))
    local out = f(large())
    local g, at = f:into(out), out.data:pointer()
    collect()
    for _, a in ipairs { small(), large(), sparse.csr { data = {}, indices = {}, indptr = { 0, 0, 0, 0 },
      shape = { 3, 3 } }, large() } do
      g(a)
      same(out, -a)
      assert.equal(at, out.data:pointer())
      collect()
    end
  end)

  it("allocates nothing native when warm and the pattern stays", function()
    local x = sparse.csr_matrix "x"
    local a = large()
    local f = damo.compile({ x }, x * 2.0)
    local g = f:into(f(a))
    for _ = 1, 3 do g(a) end
    collect()
    collectgarbage "stop"
    local before = damo.memory().objects
    for _ = 1, 10 do g(a) end
    local after = damo.memory().objects
    collectgarbage "restart"
    assert.equal(before, after)
  end)

  it("does not change Arrays taken from it before", function()
    local x = sparse.csr_matrix "x"
    local f = damo.compile({ x }, sparse.neg(x))
    local out = f(large())
    local data, indices, indptr, turned, twice = out.data, out.indices, out.indptr, out.T, out * 2
    local g = f:into(out)
    for _, a in ipairs { small(), large() * 10, small() } do
      g(a)
      same(out, -a)
      assert.same({ -3, -4, -5, -6 }, data:totable())
      assert.same({ 0, 1, 1, 2 }, indices:totable())
      assert.same({ 0, 2, 3, 4 }, indptr:totable())
      same(turned, (-large()).T)
      same(twice, large() * -2)
    end
    data[1] = 100
    same(out, -small())
  end)

  it("owns its memory afterwards, whatever memory it had", function()
    local x, held = sparse.csr_matrix "x", {}
    local constant = damo.compile({}, damo.constant(large().T))
    for _, mode in ipairs(s.modes) do
      local turned = damo.compile({ x }, x.T, { mode = mode })
      local a, out = large(), small():tocsc()
      held[#held + 1] = out.data
      turned:into(out)(a)
      a.data[1] = 99
      same(out, large().T)
      held[#held + 1] = out.data
      constant:into(out)()
      out.data[1] = 99
      same(constant(), large().T)
      local sine = damo.compile({ x }, damo.sin(x), { mode = mode })
      out = small()
      held[#held + 1] = out.data
      local g = sine:into(out)
      g(large())
      held[#held + 1] = out.data
      local want = damo.sin(large())
      same(out, want)
      sine(large() * 2)
      same(out, want)
    end
    assert.equal(4 * #s.modes, #held)
  end)

  it("knows whether its indices are sorted", function()
    local x = sparse.csr_matrix "x"
    local out = large()
    local g = damo.compile({ x }, sparse.neg(x)):into(out)
    local function build(indices) return sparse.csr { data = { 1, 2 }, indices = indices, indptr = { 0, 2, 2, 2 },
      shape = { 3, 3 } } end
    for _, case in ipairs { { { 2, 0 }, false, false }, { { 0, 2 }, true, true }, { { 1, 1 }, true, false } } do
      local a = build(case[1])
      g(a)
      same(out, -a)
      assert.same({ case[2], case[3] }, { out.has_sorted_indices, out.has_canonical_format })
      g(large())
      same(out, -large())
    end
  end)

  it("may be an input of the same call", function()
    for _, mode in ipairs(s.modes) do
      local x = sparse.csr_matrix "x"
      local function step(y) return damo.compile({ x }, y, { mode = mode }) end
      local a = large()
      local f = step(sparse.true_dot(x, x))
      local out = a:copy()
      f:into(out)(out)
      same(out, f(a))
      out = a:copy()
      step(x):into(out)(out)
      same(out, a)
      out = a:copy()
      step(x.T:tocsr()):into(out)(out)
      same(out, a.T:tocsr())
      out = a:tocsc()
      step(x:tocsc()):into(out)(out)
      same(out, a)
    end
  end)

  it("is right with other outputs that read it", function()
    for _, mode in ipairs(s.modes) do
      local x = sparse.csr_matrix "x"
      local f = damo.compile({ x }, { sparse.neg(x), sparse.csm_data(x), x.T, x }, { mode = mode })
      local a, values, turned, plain = large(), damo.zeros { 4 }, large().T, small()
      f:into(a, values, turned, plain)(a)
      same(a, -large())
      assert.same({ 3, 4, 5, 6 }, values:totable())
      same(turned, large().T)
      same(plain, large())
    end
  end)

  it("is right with another output that is the same matrix, an empty one too", function()
    local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
    local f = damo.compile({ x, y }, { x, sparse.clean(y) })
    local empty = sparse.csr { data = {}, indices = {}, indptr = { 0, 0, 0, 0 }, shape = { 3, 3 } }
    for _, value in ipairs { small(), empty } do
      local a, b = value:copy(), large()
      f:into(a, b)(large(), a)
      same(a, large())
      same(b, value)
    end
  end)

  it("can be used by two Functions and in a loop", function()
    local x = sparse.csr_matrix "x"
    local out = large()
    local double = damo.compile({ x }, x * 2.0):into(out)
    local square = damo.compile({ x }, sparse.true_dot(x, x)):into(out)
    for _ = 1, 3 do
      double(out)
      square(out)
    end
    local want = large()
    for _ = 1, 3 do want = sparse.true_dot(want * 2.0, want * 2.0) end
    same(out, want)
  end)

  it("works with an inner graph", function()
    local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
    local twice = damo.graph.OpFromGraph({ x }, { x + x })
    local f = damo.compile({ y }, twice(y))
    local out = large()
    local g = f:into(out)
    g(out)
    g(out)
    same(out, large() * 4)
  end)
end)

describe("into refuses", function()
  local x = sparse.csr_matrix "x"
  local f = damo.compile({ x }, sparse.neg(x), { name = "f" })

  it("another format, dtype, shape, or index dtype", function()
    local function refused(kind, text, out)
      s.raises(kind, "f: output 1 is csr float64 (3, 3) with int32 indices, the matrix to write into is " .. text,
        function() return f:into(out)(small()) end)
    end
    refused("type", "csc float64 (3, 3) with int32 indices", small():tocsc())
    refused("type", "csr float32 (3, 3) with int32 indices", small():astype "float32")
    refused("shape", "csr float64 (2, 3) with int32 indices", sparse.eye(2, 3))
    refused("type", "csr float64 (3, 3) with int64 indices", sparse.csr(small(), { itype = "int64" }))
  end)

  it("one matrix for two outputs", function()
    local out = small()
    local g = damo.compile({ x }, { sparse.neg(x), x }, { name = "two" }):into(out, out)
    s.raises("value", "two: outputs 1 and 2 can't both be written into one matrix", function() return g(small()) end)
  end)

  it("a call that runs out of memory, without changing the matrix", function()
    local f2 = damo.compile({ x }, { sparse.true_dot(x, x), x.T:tocsr(), x })
    local want_square, want_turned, a = f2(large())
    local failed, passed = 0, 0
    for room = 0, 6000, 100 do
      local first, second, third = large(), small(), small()
      local held = { first.data, second.data, third.data }
      local g = f2:into(first, second, third)
      collect()
      damo.config.memory_cap = damo.memory().bytes + room
      local ok, err = pcall(g, first)
      damo.config.memory_cap = 0
      if ok then
        passed = passed + 1
        same(first, want_square)
        same(second, want_turned)
        same(third, a)
      else
        failed = failed + 1
        assert.equal("memory", err.kind)
        same(first, large())
      end
      assert.equal(3, #held)
    end
    assert.is_true(failed > 3 and passed > 3, ("%d failed, %d passed"):format(failed, passed))
  end)

  it("other objects", function()
    s.raises("type", "into: argument 2 (out) must be a sparse matrix, as the output is, got Array",
      function() return f:into(damo.zeros { 3, 3 }) end)
    s.raises("type", "into: argument 2 (out) must be an Array, got Sparse",
      function() return damo.compile({ x }, x:toarray()):into(small()) end)
    s.raises("type", "into: f has 1 output, got 2 objects to write into",
      function() return f:into(small(), small()) end)
    local out = small()
    local g = f:into(out)
    out:free()
    s.raises("state", "this Sparse has been freed", function() return g(small()) end)
  end)

  it("a matrix with other references", function()
    local held = "f: the matrix for output 1 is held by something else too (a shared variable, a default value, a "
      .. "borrowed result, a call under way): give a copy of it"
    local out = large()
    local kept = damo.shared(out, "kept", { borrow = true })
    local g = f:into(out)
    s.raises("state", held, function() return g(small()) end)
    same(out, large())
    kept:set_value(small())
    g(small())
    same(out, -small())
    local lend = damo.compile({ x }, damo.Out(sparse.neg(x), { borrow = true }))
    s.raises("state", held, function() return f:into(lend(small()))(small()) end)
  end)

  it("and does not change shared values", function()
    local n = damo.shared(1.0, "n")
    local counting = damo.compile({ x }, sparse.neg(x), { updates = { { n, n + 1 } } })
    assert.is_false(pcall(counting:into(sparse.eye(2)), small()))
    assert.equal(1.0, n:get_value())
    counting:into(large())(small())
    assert.equal(2.0, n:get_value())
  end)

  it("a matrix that a running call reads, and survives one that it frees", function()
    local out = large()
    local inner = f:into(out)
    local failed
    local Peek = damo.Op {
      name = "Peek",
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, _, storage)
        local ok, err = pcall(inner, small())
        failed = not ok and err.kind
        storage[1][1] = small()
      end,
    }
    damo.compile({ x }, Peek(x))(out)
    assert.equal("state", failed)
    same(out, large())

    local Free = damo.Op {
      name = "Free",
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, storage)
        out:free()
        storage[1][1] = sparse.neg(inputs[1])
      end,
    }
    local g = damo.compile({ x }, Free(x)):into(out)
    same(g(small()), -small())
    s.raises("state", "this Sparse has been freed", function() return out.nnz end)
  end)
end)
