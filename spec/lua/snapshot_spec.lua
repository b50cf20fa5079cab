-- f:snapshot() and f:restore(): the shared values and random streams of a Function as bytes.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"
local xor = require("spec.support.operators").xor

local function walker(by)
  local s = damo.shared(damo.array { 1, 2, 3 }, "s")
  local rs = damo.random.RandomStream(7)
  local x = damo.dvector "x"
  return damo.compile({ x }, s + rs:normal(0, 1, { size = { 3 } }) + x, { updates = { { s, s * by } } }), s
end

local function same(a, b) assert.is_true(damo.array_equal(a, b)) end

describe("a snapshot", function()
  it("brings back shared values and streams", function()
    local f, s = walker(2)
    local x = damo.zeros { 3 }
    f(x)
    local bytes = f:snapshot()
    local a, b = f(x), f(x)
    f:restore(bytes)
    same(damo.array { 2, 4, 6 }, s:get_value())
    same(a, f(x))
    same(b, f(x))
    assert.equal(bytes, (function() f:restore(bytes) return f:snapshot() end)())
  end)

  it("is one of any Function of an equal graph, and of no other", function()
    local f, g, h = walker(2), walker(2), walker(3)
    local x = damo.zeros { 3 }
    f(x)
    g:restore(f:snapshot())
    f:copy():restore(f:snapshot())
    local before = h:snapshot()
    local err = failure("value", h.restore, h, f:snapshot())
    assert.matches("of another Function", err.message)
    assert.equal(before, h:snapshot())
    same(f(x), g(x))
  end)

  it("that is damaged changes nothing", function()
    local f, s = walker(2)
    local bytes = f:snapshot()
    f(damo.zeros { 3 })
    for i = 1, #bytes do
      for bit = 0, 7 do
        local flipped = bytes:sub(1, i - 1) .. string.char(xor(bytes:byte(i), 2 ^ bit)) .. bytes:sub(i + 1)
        failure("value", f.restore, f, flipped)
      end
      failure("value", f.restore, f, bytes:sub(1, i - 1))
    end
    same(damo.array { 2, 4, 6 }, s:get_value())
    failure("type", f.restore, f, 5)
    failure("type", f.restore, f, damo.zeros { 200 })
  end)

  it("goes into an Array without garbage", function()
    local f = walker(2)
    local x = damo.zeros { 3 }
    local into = damo.zeros({ 1000 }, "uint8")
    local size = f:snapshot(into)
    assert.equal(#f:snapshot(), size)
    assert.equal(f:snapshot(), into:tobytes():sub(1, size))
    local native = garbage.collect().bytes
    assert.equal(0, garbage.made(function()
      for _ = 1, 50 do f:snapshot(into) end
    end))
    assert.equal(native, garbage.collect().bytes)
    local a = f(x)
    f:restore(into)
    same(a, f(x))
    failure("value", f.snapshot, f, damo.zeros({ size - 1 }, "uint8"))
    failure("type", f.snapshot, f, damo.zeros { 1000 })
  end)

  it("holds sparse values, all dtypes, 0-d values and inputs with an update", function()
    local matrix = damo.sparse.csc { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 1, 2 }, shape = { 2, 2 } }
    local A = damo.shared(matrix, "A")
    local updates = { { A, A * 2 } }
    for _, dtype in ipairs { "bool", "int8", "uint16", "int64", "uint64", "float32", "complex64", "complex128" } do
      local v = damo.shared(damo.array({ { 1, 0 }, { 1, 1 } }, dtype), dtype)
      updates[#updates + 1] = { v, v.T }
    end
    local k = damo.shared(damo.array(5, "int32"), "k")
    updates[#updates + 1] = { k, k + damo.constant(damo.array(1, "int32")) }
    local n = damo.dscalar "n"
    local f = damo.compile({ damo.In(n, { value = 3, update = n + 1 }) }, n, { updates = updates })
    assert.equal(3, f())
    local bytes = f:snapshot()
    f()
    f:restore(bytes)
    assert.equal(4, f())
    assert.equal(7, k:get_value())
    assert.equal("csc", A:get_value().format)
    same(damo.array { { 4, 0 }, { 0, 8 } }, A:get_value():toarray())
    same(damo.array({ { 1, 0 }, { 1, 1 } }, "complex128"), updates[9][1]:get_value())
  end)

  it("of a Function that is freed or running is a state error", function()
    local f = walker(2)
    f:free()
    failure("state", f.snapshot, f)
  end)
end)
