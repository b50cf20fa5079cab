-- The option `out` of calls on values; spec/op/harness.lua gives it to every function, spec/c/out_test.c counts memory.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"

local function refused(kind, message, f)
  local err = failure(kind, f)
  assert.equal(message, err.message)
end

describe("out", function()
  local x = damo.array { { 1, 2, 3 }, { 4, 5, 6 } }
  local y = damo.zeros { 2, 3 }

  before_each(function() y[{ damo.ellipsis }] = damo.zeros { 2, 3 } end)

  it("is written and returned, by functions and methods", function()
    assert.is_true(rawequal(y, damo.sqr(x, { out = y })))
    assert.same({ { 1, 4, 9 }, { 16, 25, 36 } }, y:totable())
    assert.is_true(rawequal(y, x:add(1, { out = y })))
    assert.same({ { 2, 3, 4 }, { 5, 6, 7 } }, y:totable())
    assert.is_true(rawequal(y, damo.sum(damo.ones { 2, 4, 3 }, { 2, out = y })))
    assert.same({ { 4, 4, 4 }, { 4, 4, 4 } }, y:totable())
  end)

  it("is a 0-d Array for a 0-d result", function()
    local total = damo.array(0, "float64")
    for _ = 1, 4 do
      assert.is_true(rawequal(total, damo.sum(x, { out = total })))
      assert.equal(21.0, total:item())
      damo.mul(2, 3.5, { out = total })
      assert.equal(7.0, total:item())
    end
  end)

  it("may be an operand, transposed too", function()
    for _ = 1, 4 do
      local square = damo.array { { 1, 2 }, { 3, 4 } }
      damo.add(square, square.T, { out = square })
      assert.same({ { 2, 5 }, { 5, 8 } }, square:totable())
      damo.dot(square, square, { out = square })
      assert.same({ { 29, 50 }, { 50, 89 } }, square:totable())
      damo.cumsum(square, { axis = 1, out = square })
      assert.same({ { 29, 50 }, { 79, 139 } }, square:totable())
    end
  end)

  it("takes results that no Op computes: a shape, a real part of a real operand", function()
    local lengths = damo.zeros({ 2 }, "int64")
    for _ = 1, 4 do
      assert.is_true(rawequal(lengths, damo.shape(x, { out = lengths })))
      assert.same({ 2, 3 }, lengths:totable())
      damo.real(x, { out = y })
      assert.is_true(damo.array_equal(x, y))
      damo.neg(y, { out = y })
      damo.neg(lengths, { out = lengths })
    end
  end)

  it("may be a view of another Array", function()
    local wide = damo.zeros { 2, 6 }
    local every_second = wide[{ {}, { 1, -1, 2 } }]
    for _ = 1, 4 do
      damo.neg(x, { out = every_second })
      assert.same({ { -1, 0, -2, 0, -3, 0 }, { -4, 0, -5, 0, -6, 0 } }, wide:totable())
      damo.cumsum(x, { axis = 2, out = every_second })
      assert.same({ { 1, 0, 3, 0, 6, 0 }, { 4, 0, 9, 0, 15, 0 } }, wide:totable())
    end
  end)

  it("is a list for several results", function()
    local most, at = damo.zeros { 2 }, damo.zeros({ 2 }, "int64")
    for _ = 1, 4 do
      local a, b = damo.max_and_argmax(x, { axis = 2, out = { most, at } })
      assert.is_true(rawequal(most, a) and rawequal(at, b))
      assert.same({ 3, 6 }, most:totable())
      assert.same({ 3, 3 }, at:totable())
      damo.zeros({ 2 }, { out = most })
    end
  end)

  it("is filled by zeros, ones, full and draws", function()
    damo.ones({ 2, 3 }, { out = y })
    assert.same({ { 1, 1, 1 }, { 1, 1, 1 } }, y:totable())
    damo.full({ 2, 3 }, 7, { out = y })
    assert.same({ { 7, 7, 7 }, { 7, 7, 7 } }, y:totable())
    assert.is_true(rawequal(y, damo.zeros { 2, 3, out = y }))
    assert.same({ { 0, 0, 0 }, { 0, 0, 0 } }, y:totable())
    damo.random.seed(3)
    local want = damo.random.normal { size = { 2, 3 } }
    damo.random.seed(3)
    assert.is_true(rawequal(y, damo.random.normal { size = { 2, 3 }, out = y }))
    assert.is_true(damo.array_equal(want, y))
  end)

  it("makes no Lua object in a call with a kept table", function()
    local into_y, summed = { out = y }, { axis = { 1 }, out = damo.zeros { 3 } }
    local function calls()
      damo.exp(x, into_y)
      x:maximum(2.5, into_y)
      damo.add(x, y, into_y)
      x:sum(summed)
    end
    assert.equal(0, garbage.made(function()
      for _ = 1, 100 do calls() end
    end))
  end)

  it("must have the result's dtype and shape, and is left alone otherwise", function()
    local row, pair, whole = damo.ones { 3 }, damo.ones { 2 }, damo.ones({ 2, 3 }, "int64")
    for _ = 1, 4 do
      refused("shape", "exp: the result is float64 (2, 3), out is float64 (3,)",
        function() damo.exp(x, { out = row }) end)
      refused("type", "add: the result is float64 (2, 3), out is int64 (2, 3)",
        function() damo.add(x, 1, { out = whole }) end)
      refused("type", "max_and_argmax: result 2 is int64 (2,), out 2 is float64 (2,)", function()
        damo.max_and_argmax(x, { axis = 2, out = { pair, damo.zeros { 2 } } })
      end)
      refused("type", "zeros: the result is float64 (2, 3), out is int64 (2, 3)",
        function() damo.zeros({ 2, 3 }, { out = whole }) end)
      refused("shape", "normal: the result is float64 (2,), out is float64 (3,)",
        function() damo.random.normal { size = { 2 }, out = row } end)
      damo.exp(x)
    end
    assert.same({ 1, 1, 1 }, row:totable())
    assert.same({ 1, 1 }, pair:totable())
    assert.same({ { 1, 1, 1 }, { 1, 1, 1 } }, whole:totable())
  end)

  it("is refused where it is no Array, too many, or read-only", function()
    refused("type", "exp: out must be an Array, or a list of them where there are several results, got number",
      function() damo.exp(x, { out = 3 }) end)
    refused("type", "exp: out 2 must be an Array, got string", function() damo.exp(x, { out = { y, "y" } }) end)
    refused("type", "exp: out is an empty list", function() damo.exp(x, { out = {} }) end)
    refused("type", "exp: out has 2 Arrays, the results are 1", function() damo.exp(x, { out = { y, y } }) end)
    refused("type", "max_and_argmax: out has 1 Array, the results are 2",
      function() damo.max_and_argmax(x, { axis = 2, out = damo.zeros { 2 } }) end)
    refused("value", "exp: unknown option 'ot', did you mean 'out'?", function() damo.exp(x, { ot = y }) end)
    local indices = damo.sparse.csr({ { 1, 2 }, { 0, 3 } }).indices
    refused("state", "neg: out is read-only", function() damo.neg(indices, { out = indices }) end)
  end)

  it("is refused in a graph, for sparse results and for views", function()
    refused("type", "exp: out is for values: a Variable takes part, so that the call makes a graph; compile it and "
      .. "write the results by f:into(…)", function() damo.exp(damo.dmatrix "v", { out = y }) end)
    refused("type", "zeros: out is for values: a Variable takes part, so that the call makes a graph; compile it and "
      .. "write the results by f:into(…)", function() damo.zeros({ damo.lscalar "n", 3 }, { out = y }) end)
    for _ = 1, 4 do
      local turned = damo.zeros { 3, 2 }
      refused("type", "transpose: out is for a result with memory of its own, this one is a view of an operand; to "
        .. "copy it write out[{damo.ellipsis}] = damo.transpose(…)", function() damo.transpose(x, { out = turned }) end)
      damo.transpose(x)
    end
    local a = damo.sparse.csr { { 1, 2 }, { 0, 3 } }
    refused("type", "sparse.add: out takes dense results, the result is sparse",
      function() damo.add(a, a, { out = damo.zeros { 2, 2 } }) end)
    local product = damo.zeros { 2 }
    damo.sparse.dot(a, damo.ones { 2 }, { out = product })
    assert.same({ 3, 3 }, product:totable())
  end)
end)

describe("a call that is made again", function()
  it("takes each literal's own value and dtype", function()
    local x = damo.array({ 1, 2 }, "int32")
    for i = 1, 4 do
      assert.same({ 1 + i, 2 + i }, (x + i):totable())
      assert.equal("int32", (x + i).dtype)
      assert.equal("float64", (x + (i + 0.5)).dtype)
      assert.equal("int64", (x + 1099511627776).dtype)
    end
  end)

  it("gives a result of its own each time", function()
    local x, results = damo.array { 1, 2 }, {}
    for i = 1, 5 do results[i] = damo.mul(x, i) end
    for i = 1, 5 do assert.same({ i, 2 * i }, results[i]:totable()) end
    local z = damo.array({ 2 }, "complex128")
    for i = 1, 5 do results[i] = damo.sum(z * i) end
    for i = 1, 5 do assert.equal(2 * i, results[i]:real()) end
  end)

  it("leaves an operand that is a view's base free to be collected", function()
    local before = damo.memory().bytes
    for _ = 1, 4 do
      local big = damo.zeros { 500, 500 }
      damo.sum(big.T:reshape { 250000 })
      damo.var(big)
      big:free()
    end
    garbage.collect()
    assert.is_true(damo.memory().bytes < before + 2 ^ 20)
  end)
end)
