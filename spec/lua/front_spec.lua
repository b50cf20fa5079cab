-- On LuaJIT calls of f:into go through the ffi: results and errors are those of the C API, and traces run through them.
local damo = require "damo"
local failure = require "spec.support.failure"
local core = require "damo.core"

if not core.ffi then
  describe("the ffi front", function()
    it("is not there on Luas without jit", function() assert.is_nil(package.loaded["damo.front"]) end)
  end)
  return
end

local x, y = damo.dscalar "x", damo.dscalar "y"
local v = damo.dvector "v"

describe("the ffi front", function()
  it("computes numbers and arrays", function()
    local out, a, b = damo.array(0), damo.array(3), damo.array(4)
    local f = damo.compile({ x }, x * x + 1)
    local into = f:into(out)
    for _ = 1, 300 do assert.equal(10, into(a)) end
    assert.equal(10, out:item())
    assert.equal(300, f.n_calls)
    local sum = damo.compile({ x, y }, x + 10 * y):into(a)
    assert.equal(43, sum(a, b)) -- a target that is an operand
    assert.equal(83, sum(a, b))
    local w, target = damo.array { 1, 2, 3 }, damo.zeros { 3 }
    local double = damo.compile({ v }, v * 2):into(target)
    for _ = 1, 3 do assert.equal(target, double(w)) end
    assert.same({ 2, 4, 6 }, target:totable())
  end)

  it("leaves to the C API what it can't take, errors too", function()
    local out = damo.array(0)
    local f = damo.compile({ x }, x * x + 1)
    local into, a = f:into(out), damo.array(3)
    for _ = 1, 3 do into(a) end
    assert.equal(17, into(4))
    assert.equal(5, into(damo.array(2, "int8")))
    failure("type", into, a, a)
    failure("type", into, "3")
    failure("missing_input", into)
    failure("type", into, damo.array { 1, 2 })
    failure("type", into, io.stdout)
    local freed = damo.array(2)
    into(freed)
    freed:free()
    failure("state", into, freed)
    f:free()
    failure("state", into, a)
  end)

  it("makes updates, and none where a call fails", function()
    local s = damo.shared(damo.zeros { 2 })
    local target = damo.zeros { 2 }
    local into = damo.compile({ v }, s * 2, { updates = { { s, s + v } } }):into(target)
    local ones = damo.ones { 2 }
    for _ = 1, 4 do into(ones) end
    assert.same({ 4, 4 }, s:get_value():totable())
    assert.same({ 6, 6 }, target:totable())
    failure("shape", into, damo.ones { 3 })
    assert.same({ 4, 4 }, s:get_value():totable())
  end)

  it("leaves calls that may enter Lua to the C API", function()
    local seen = 0
    local Count = damo.Op {
      name = "Count",
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
      perform = function(_, _, inputs, outputs)
        seen = seen + 1
        outputs[1][1] = inputs[1]:copy()
      end,
    }
    local into = damo.compile({ v }, Count(v) * 2):into(damo.zeros { 2 })
    local ones = damo.ones { 2 }
    for _ = 1, 200 do into(ones) end
    assert.equal(200, seen)
  end)

  it("lets traces run through its calls", function()
    local jit = require "jit"
    local util, names = require "jit.util", require("jit.vmdef").irnames
    local into, a = damo.compile({ x }, x * x + 1):into(damo.array(0)), damo.array(3)
    local function loop(n)
      local sum = 0
      for _ = 1, n do sum = sum + into(a) end
      return sum
    end
    assert.equal(30000, loop(3000))
    local whole = false
    for trace = 1, 1000 do
      local info = util.traceinfo(trace)
      if info and info.linktype == "loop" then
        for i = 1, info.nins do -- an instruction CALLXS is a call through the ffi
          local _, ot = util.traceir(trace, i)
          local at = ot and 6 * math.floor(ot / 256)
          if ot and names:sub(at + 1, at + 6) == "CALLXS" then whole = true end
        end
      end
    end
    assert.is_true(whole or not jit.status())
  end)
end)
