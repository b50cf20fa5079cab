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
