-- ifelse: lazy choice between branches.
local damo = require "damo"

local x, y = damo.dvector "x", damo.dvector "y"
local c, s = damo.lscalar "c", damo.dscalar "s"

local function failure(kind, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(kind, err.kind, tostring(err))
  return err
end

-- An Op in Lua that counts its runs.
local function counter()
  local count = { n = 0 }
  count.op = damo.Op {
    name = "Count",
    make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
    perform = function(_, _, inputs, storage)
      count.n = count.n + 1
      storage[1][1] = inputs[1] * 2
    end,
    infer_shape = function(_, _, _, shapes) return { shapes[1] } end,
  }
  return count
end

describe("ifelse", function()
  it("computes only the chosen branch", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "NANGUARD" } do
      local one, two = counter(), counter()
      local f = damo.compile({ c, x, y }, damo.ifelse(c, one.op(x), two.op(y) + 1), { mode = mode })
      assert.same({ 2, 4 }, f(1, { 1, 2 }, { 3, 4 }):totable())
      assert.same({ 1, 0 }, { one.n, two.n })
      assert.same({ 7, 9 }, f(0, { 1, 2 }, { 3, 4 }):totable())
      assert.same({ 1, 1 }, { one.n, two.n })
    end
  end)

  it("runs a subgraph shared by both branches once", function()
    local part = counter()
    local v = part.op(x)
    local f = damo.compile({ c, x }, { damo.ifelse(c, v + 1, v - 1), damo.ifelse(c, v, v * 2) })
    f(1, { 1 })
    assert.equal(1, part.n)
  end)

  it("does not run an assertion of the other branch", function()
    local checked = damo.assert_op(x, damo.gt(damo.sum(x), 100), { message = "too small" })
    local f = damo.compile({ c, x, y }, damo.ifelse(c, checked, y))
    assert.same({ 3 }, f(0, { 1 }, { 3 }):totable())
    assert.matches("too small", failure("value", f, 1, { 1 }, { 3 }).message)
    assert.same({ 3 }, f(0, { 1 }, { 3 }):totable())
  end)

  it("stays two nodes where two are equal, since a lazy node decides by itself what runs", function()
    local first, second = damo.ifelse(c, damo.exp(x), y), damo.ifelse(c, damo.exp(x), y)
    local f = damo.compile({ c, x, y }, { damo.cumsum(first), damo.sort(second) })
    local n = { IfElse = 0, exp = 0 }
    for _, node in ipairs(f.fgraph.apply_nodes) do
      local name = node.op.scalar or node.op.name
      n[name] = (n[name] or 0) + 1
    end
    assert.equal(2, n.IfElse)
    assert.equal(1, n.exp)
    local sums, sorted = f(0, damo.zeros { 2 }, damo.array { 2, 1 })
    assert.same({ { 2, 3 }, { 1, 2 } }, { sums:totable(), sorted:totable() })
  end)

  it("takes lists, which give several results", function()
    local a, b = damo.ifelse(c, { x, 1.5 }, { y, 2 })
    local f = damo.compile({ c, x, y }, { a, b })
    local v, n = f(1, { 1, 2 }, { 3 })
    assert.same({ 1, 2 }, v:totable())
    assert.equal(1.5, n)
    v, n = f(0, { 1, 2 }, { 3 })
    assert.same({ 3 }, v:totable())
    assert.equal(2.0, n)
    failure("value", damo.ifelse, c, { x }, { x, y })
    failure("type", damo.ifelse, c, { x }, y)
  end)

  it("takes numbers and plain values", function()
    assert.equal(2.5, damo.compile({ c, s }, damo.ifelse(c, s, 2.5))(0, 1))
    assert.same({ 3, 4 }, damo.ifelse(false, damo.array { 1, 2 }, damo.array { 3, 4 }):totable())
  end)

  it("finds a Type that holds both branches", function()
    local three = damo.tensor("a", { dtype = "float64", shape = { 3 } })
    local five = damo.tensor("b", { dtype = "float64", shape = { 5 } })
    assert.equal(damo.TensorType("float64", { shape = { false } }), damo.ifelse(c, three, five).type)
    assert.equal(three.type, damo.ifelse(c, three, three).type)
    assert.equal("int32", damo.ifelse(c, damo.iscalar "i", 7).dtype)
    failure("type", damo.ifelse, c, x, s)
    failure("type", damo.ifelse, x, x, x)
  end)

  it("declares of which inputs its results may be views", function()
    assert.same({ { 2, 3 } }, damo.ifelse(c, x, y).owner.op.view_map)
  end)

  it("has the gradient of the branch taken", function()
    local cost = damo.ifelse(damo.gt(s, 0), s * s, -3 * s)
    local f = damo.compile({ s }, damo.grad(cost, s))
    assert.equal(10.0, f(5))
    assert.equal(-3.0, f(-5))
    local one, two = damo.grad(damo.sum(damo.ifelse(c, x * x, x * y)), { x, y }, { disconnected_inputs = "ignore" })
    local g = damo.compile({ c, x, y }, type(one) == "table" and one or { one, two })
    local dx, dy = g(1, { 3 }, { 7 })
    assert.same({ 6, 0 }, { dx[1], dy[1] })
    dx, dy = g(0, { 3 }, { 7 })
    assert.same({ 7, 3 }, { dx[1], dy[1] })
  end)

  it("has a forward derivative", function()
    local t = damo.dvector "t"
    local f = damo.compile({ c, x, y, t }, damo.Rop(damo.ifelse(c, x * x, y), x, t))
    assert.same({ 12 }, f(1, { 3 }, { 1 }, { 2 }):totable())
    assert.same({ 0 }, f(0, { 3 }, { 1 }, { 2 }):totable())
  end)

  it("has a shape that needs no values", function()
    local one = counter()
    local f = damo.compile({ c, x, y }, damo.ifelse(c, one.op(x), y).shape)
    assert.same({ 2 }, f(1, { 1, 2 }, { 1, 2, 3 }):totable())
    assert.same({ 3 }, f(0, { 1, 2 }, { 1, 2, 3 }):totable())
    assert.equal(0, one.n)
  end)

  it("is removed if the condition is known", function()
    local f = damo.compile({ x, y }, damo.ifelse(damo.constant(0), x, damo.neg(y)), { on_unused_input = "ignore" })
    for _, node in ipairs(f.fgraph.apply_nodes) do assert.not_equal("IfElse", node.op.name) end
    assert.same({ -3 }, f({ 1 }, { 3 }):totable())
  end)

  it("protects a value that a branch's destroyer would overwrite", function()
    local Over = damo.Op {
      name = "Over",
      destroy_map = { [1] = { 1 } },
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, storage)
        inputs[1][1] = -1
        storage[1][1] = inputs[1]
      end,
    }
    local e = x + 1
    local f = damo.compile({ c, x }, { damo.ifelse(c, Over(e), e), e })
    local a, b = f(1, { 1, 2 })
    assert.same({ { -1, 3 }, { 2, 3 } }, { a:totable(), b:totable() })
    a, b = f(0, { 1, 2 })
    assert.same({ { 2, 3 }, { 2, 3 } }, { a:totable(), b:totable() })
  end)
end)
