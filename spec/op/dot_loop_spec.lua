-- DotLoop: a product of matrices with a Loop as its epilogue, in row blocks where the result is large.
local damo = require "damo"
local names = require "spec.support.node_names"

local apart = damo.Mode { exclude = { "fuse_product" } }

local function random(...) return damo.random.normal(0, 1, { size = { ... } }) end

local function close(got, want, what)
  assert.same(want.shape, got.shape, what)
  assert.equal(want.dtype, got.dtype, what)
  assert.is_true(damo.allclose(got, want, { rtol = 1e-11, atol = 1e-11, equal_nan = true }), what)
end

-- Compiles with and without epilogues, and compares them for each list of arguments, twice.
local function compare(inputs, outs, calls, count)
  local f, g = damo.compile(inputs, outs), damo.compile(inputs, outs, { mode = apart })
  assert.equal(count or 1, names(f).DotLoop or 0)
  assert.is_nil(names(g).DotLoop)
  for k, args in ipairs(calls) do
    local want = { g(table.unpack(args)) }
    for _ = 1, 2 do
      local got = { f(table.unpack(args)) }
      for o in ipairs(want) do close(got[o], want[o], ("call %d, result %d"):format(k, o)) end
    end
  end
  return f
end

describe("a DotLoop", function()
  damo.random.seed(11)
  local x, w, b, r = damo.dmatrix "x", damo.dmatrix "w", damo.dvector "b", damo.dmatrix "r"
  local hidden = damo.tanh(damo.dot(x, w) + b)

  -- A small product, one with an empty axis, and one cut into blocks of rows, of which the last is shorter.
  local function calls(k, n)
    local list = {}
    for i, m in ipairs { 3, 0, math.floor(100000 / n), 3, math.floor(100001 / n) + 700 } do
      list[i] = { random(m, k), random(k, n), random(n) }
    end
    return list
  end

  it("adds a bias and applies an activation to the rows that the product has written", function()
    compare({ x, w, b }, hidden, calls(7, 33))
    compare({ x, w, b }, damo.maximum(damo.dot(x, w) + b, 0), calls(5, 100))
    compare({ x, w }, damo.tanh(damo.dot(x, w)), { { random(20000, 8), random(8, 8) }, { random(8, 8), random(8, 8) } })
  end)

  it("takes residuals and masks, which are cut with the rows", function()
    local mask = damo.dot(r, w.T) * (1 - damo.sqr(x))
    compare({ x, w, r }, mask, { { random(3000, 64), random(64, 9), random(3000, 9) } })
    compare({ x, w, r }, damo.exp(damo.dot(x, w) + r),
      { { random(3000, 9), random(9, 64), random(3000, 64) }, { random(2, 9), random(9, 64), random(2, 64) } })
    local column = damo.tensor("column", { dtype = "float64", shape = { false, 1 } })
    compare({ x, w, column }, damo.exp(damo.dot(x, w)) * column,
      { { random(3000, 9), random(9, 64), random(3000, 1) } })
  end)

  it("gives several results, and reduces rows", function()
    local z = damo.dot(x, w) + b
    compare({ x, w, b }, { damo.tanh(z), damo.exp(z), damo.sum(damo.exp(z), { axis = 2 }) }, calls(7, 33))
    compare({ x, w, b }, damo.max(z * 2, { axis = 2 }), { { random(3000, 7), random(7, 64), random(64) } })
    compare({ x, w, b }, damo.gt(z, 0.5), { { random(3000, 7), random(7, 64), random(64) } })
  end)

  it("takes products with vectors, stacks of products and other dtypes", function()
    local v = damo.dvector "v"
    compare({ x, v }, damo.sigmoid(damo.dot(x, v)), { { random(300, 40), random(40) } })
    local s, t = damo.tensor("s", { dtype = "float64", shape = { false, false, false } }), damo.dtensor3 "t"
    compare({ s, t }, damo.tanh(damo.matmul(s, t)),
      { { random(300, 20, 5), random(300, 5, 20) }, { random(2, 2, 5), random(2, 5, 2) } })
    compare({ s, w, b }, damo.tanh(damo.matmul(s, w) + b), { { random(300, 20, 5), random(5, 20), random(20) } })
    local f, c = damo.fmatrix "f", damo.zmatrix "c"
    compare({ f, w }, damo.tanh(damo.dot(f, w)), { { damo.cast(random(40, 3), "float32"), random(3, 4) } })
    compare({ c }, damo.exp(damo.dot(c, c)), { { damo.cast(random(4, 4), "complex128") } })
  end)

  it("reads operands of any strides", function()
    local wide = random(64, 6000)
    compare({ x, w, b }, hidden, { { wide.T[{ { 1, 6000, 2 } }], random(64, 40), random(40) } })
  end)

  it("leaves a product alone whose result is needed elsewhere, or that rows of another shape broadcast", function()
    local z = damo.dot(x, w)
    assert.is_nil(names(damo.compile({ x, w, b }, { damo.tanh(z + b), z })).DotLoop)
    assert.is_nil(names(damo.compile({ x, w, b }, damo.tanh(z + b) + damo.cumsum(z, { axis = 1 }))).DotLoop)
    assert.is_nil(names(damo.compile({ x, w }, damo.sum(damo.tanh(z)))).DotLoop)
    local row = damo.drow "row"
    assert.is_nil(names(damo.compile({ row, w, r }, damo.tanh(damo.dot(row, w) + r))).DotLoop)
    local i = damo.lmatrix "i"
    assert.is_nil(names(damo.compile({ i }, damo.dot(i, i) + 1)).DotLoop)
    for _, word in ipairs { "inexact", "fusion" } do
      local f = damo.compile({ x, w, b }, hidden, { mode = damo.Mode { exclude = { word } } })
      assert.is_nil(names(f).DotLoop)
    end
  end)

  it("adds in place where a sum of products may be overwritten", function()
    local z = damo.dot(x, w) + damo.dot(r, w)
    local f = damo.compile({ x, w, r, b }, damo.tanh(z + b))
    assert.same({ DotLoop = 1, Gemm = 1, Elemwise = 1 }, names(f)) -- the bias, the other product, tanh
  end)

  it("fails as product and Loop do by themselves", function()
    for _, mode in ipairs { damo.Mode {}, apart } do
      local f = damo.compile({ x, w, b }, hidden, { mode = mode })
      local ok, err = pcall(f, random(3000, 4), random(5, 64), random(64))
      assert.is_false(ok)
      assert.matches("dot: shapes (3000, 4) and (5, 64) do not agree", err.message, 1, true)
      ok, err = pcall(f, random(3000, 4), random(4, 64), random(63))
      assert.is_false(ok)
      assert.matches("add: shapes (3000, 64) and (63,) do not agree", err.message, 1, true)
      close(f(random(2, 4), damo.zeros { 4, 6 }, damo.zeros { 6 }), damo.zeros { 2, 6 })
    end
  end)

  it("leaves earlier results as they were, and writes into a caller's arrays", function()
    local f = damo.compile({ x, w, b }, hidden)
    local args = { random(3000, 7), random(7, 64), random(64) }
    local first = f(table.unpack(args))
    local copy = first:copy()
    f(random(3000, 7), random(7, 64), random(64))
    assert.is_true(damo.array_equal(first, copy))
    local out, apart_out = damo.zeros { 3000, 64 }, damo.zeros { 64, 3000 }.T
    f:into(out)(table.unpack(args))
    assert.is_true(damo.array_equal(out, first))
    f:into(apart_out)(table.unpack(args))
    assert.is_true(damo.array_equal(apart_out, first))
    assert.is_true(damo.array_equal(f:copy()(table.unpack(args)), first))
  end)

  it("has gradients, where somebody asks for them", function()
    local f = damo.compile({ x, w, b }, hidden)
    local node = f.fgraph.apply_nodes[1]
    assert.equal("DotLoop", tostring(node.op):match "^%w+")
    local y = node.op(x, w, b)
    local args = { random(4, 3), random(3, 5), random(5) }
    local g = { damo.compile({ x, w, b }, damo.grad(damo.sum(damo.sqr(y)), { x, w, b }))(table.unpack(args)) }
    local h = { damo.compile({ x, w, b }, damo.grad(damo.sum(damo.sqr(hidden)), { x, w, b }))(table.unpack(args)) }
    for i = 1, 3 do close(g[i], h[i]) end
  end)
end)
