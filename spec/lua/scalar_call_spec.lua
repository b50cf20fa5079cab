-- Calls of Functions of numbers.
local damo = require "damo"
local failure = require "spec.support.failure"

describe("a call with numbers alone", function()
  local x, y = damo.dscalar "x", damo.dscalar "y"

  it("gives what a call with Arrays gives", function()
    local f = damo.compile({ x, y }, { damo.exp(x) * y, x, damo.gt(y, x), damo.floor(y) })
    for _, p in ipairs { { 1, 2 }, { -0.5, 3.25 }, { 0 / 0, 1 }, { 1 / 0, -1 } } do
      local got, want = { f(p[1], p[2]) }, { f(damo.array(p[1]), damo.array(p[2])) }
      for i = 1, 4 do assert.is_true(got[i] == want[i] or (got[i] ~= got[i] and want[i] ~= want[i])) end
    end
    assert.equal(8, f.n_calls)
    local a, b = f(3, 4), f(5, 6)
    assert.equal(math.exp(3) * 4, a)
    assert.equal(math.exp(5) * 6, b)
  end)

  -- From the 200th run on such calls are machine code; without it they go through the frame.
  describe("made often", function()
    local function equal(p, q) assert.is_true(p == q or (p ~= p and q ~= q), ("%s, not %s"):format(p, q)) end
    local numbers = { 0.5, -2, 0, 1 / 0, 0 / 0, 1e-310, 3 }

    it("gives the same for numbers and Arrays, in results of any order", function()
      local c = damo.constant(2.5)
      local inputs = { x, y }
      local outputs = { x * y + c, x - damo.exp(y), damo.maximum(x, y) * x - c }
      local f = damo.compile(inputs, outputs)
      local g = damo.compile(inputs, outputs, { mode = damo.Mode { jit = false } })
      local backwards = damo.compile({ y, x }, { outputs[3], outputs[1], outputs[2] })
      for i = 1, 400 do
        local p, q = numbers[i % 7 + 1], numbers[i % 5 + 1]
        local got, want = { f(p, i % 3 == 0 and damo.array(q) or q) }, { g(p, q) }
        local turned = { backwards(q, p) }
        for k = 1, 3 do equal(got[k], want[k]) end
        equal(turned[1], want[3])
        equal(turned[2], want[1])
        equal(turned[3], want[2])
      end
      assert.equal(400, f.n_calls)
    end)

    it("writes into Arrays, operands too", function()
      local a, b = damo.array(1.0), damo.array(0.0)
      local f = damo.compile({ x, y }, { x + 2 * y, x * y - 1 })
      local into = f:into(a, b)
      for i = 1, 300 do
        local before = a:item()
        local p, q = into(a, i)
        assert.equal(before + 2 * i, p)
        assert.equal(before * i - 1, q)
        assert.equal(p, a:item())
        assert.equal(q, b:item())
      end
      local some = f:into(nil, b)
      for i = 1, 300 do
        local p, q = some(i, 2)
        assert.equal(i + 4, p)
        assert.equal(2 * i - 1, q)
        assert.equal(q, b:item())
      end
      assert.equal(600, f.n_calls)
    end)

    it("refuses what any call refuses", function()
      local a = damo.array(0.0)
      local f = damo.compile({ x }, x * x + 1)
      local into = f:into(a)
      for i = 1, 300 do f(i) into(i) end
      for _, call in ipairs { f, into } do
        failure("type", call, "3")
        failure("type", call, 1, 2)
        failure("missing_input", call)
        failure("type", call, damo.array { 1, 2 })
        local freed = damo.array(1.0)
        freed:free()
        failure("state", call, freed)
      end
      assert.equal(5, f(damo.array(2, "int8")))
      assert.equal(2, f(damo.array(1, "float32")))
      assert.equal(2, f(true and 1))
      f:free()
      failure("state", f, 1)
      failure("state", into, 1)
    end)

    it("takes other dtypes, inputs that are results, and those used twice or not at all", function()
      local i, s = damo.lscalar "i", damo.fscalar "s"
      local of_int, of_single = damo.compile({ i }, i * i + 1), damo.compile({ s }, s * s + 1)
      local mixed = damo.compile({ i, x }, { i * x + 1, x * x - 1 })
      local same = damo.compile({ x, y }, { x, x * x + 1 }, { on_unused_input = "ignore" })
      local twice = damo.compile({ x }, { x * x + 1, x * x + 1 })
      for k = 1, 300 do
        assert.equal(k * k + 1, of_int(k))
        assert.equal(k * k + 1, of_single(k))
        local p, q = mixed(k, 0.5)
        assert.equal(k / 2 + 1, p)
        assert.equal(-0.75, q)
        p, q = same(k, 7)
        assert.equal(k, p)
        assert.equal(k * k + 1, q)
        p, q = twice(k)
        assert.equal(k * k + 1, p)
        assert.equal(p, q)
      end
      assert.equal("integer", math.type(of_int(3)))
    end)
  end)

  it("converts to each input's dtype, and refuses what does not fit", function()
    local i, s = damo.lscalar "i", damo.bscalar "s"
    local f = damo.compile({ i, s }, { i * 2, s + 1 })
    local a, b = f(7, 3)
    assert.equal(14, a)
    assert.equal(4, b)
    assert.equal("integer", math.type(a))
    assert.matches("input 1 %(i%): 1.5 does not fit into int64", failure("value", f, 1.5, 3).message)
    assert.matches("input 2 %(s%): 300 does not fit into int8", failure("value", f, 1, 300).message)
    a = f(8, 3)
    assert.equal(16, a)
    for _, args in ipairs { { 1 }, { 1, 2, 3 }, { 1, "2x" } } do assert.is_false(pcall(f, table.unpack(args))) end
    assert.equal(18, (f(9, 3)))
  end)

  it("fails as any call, and can be made again", function()
    local op = damo.Op {
      name = "Picky",
      props = {},
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, storage)
        if inputs[1]:item() > 5 then error "too large" end
        storage[1][1] = inputs[1]
      end,
    } {}
    local f = damo.compile({ x }, op(x) + 1)
    assert.equal(3, f(2))
    assert.is_false(pcall(f, 6))
    assert.equal(4, f(3))
    assert.equal(2, f.n_calls)
  end)

  it("cannot be made inside itself", function()
    local f
    local op = damo.Op {
      name = "Inner",
      props = {},
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, storage)
        assert(not pcall(f, 1))
        storage[1][1] = inputs[1]
      end,
    } {}
    f = damo.compile({ x }, op(x) * 2)
    assert.equal(8, f(4))
  end)
end)
