-- On LuaJIT calls of f:into, and of Functions of numbers, go through the ffi: results and errors are those of the C
-- API, and traces run through them.
local damo = require "damo"
local failure = require "spec.support.failure"
local child = require "spec.support.child"
local garbage = require "spec.support.garbage"

if not pcall(require, "jit") then
  describe("the ffi front", function()
    it("is not there on Luas without jit", function() assert.is_nil(package.loaded["damo.front"]) end)
  end)
  return
end

local unpack = table.unpack or unpack -- luacheck: ignore 113 143
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

  -- In the bits of some nans LuaJIT would see nil, true, a string or another object.
  it("gives every nan as a number", function()
    local f, g = damo.compile({ x }, x), damo.compile({ x, y }, { x, y }) -- the bits go through
    local a, b = damo.array(0), damo.array(0)
    local into, both, copy = f:into(a), g:into(a, b), damo.compile({ v }, v:sum())
    for _, last in ipairs { 0xff, 0x7f } do
      for high = 0xf1, 0xff do
        local bytes = ("\1\0\0\0\0\0%c%c"):format(high, last)
        local nan, row = damo.frombytes(bytes, "float64", {}), damo.frombytes(bytes, "float64", { 1 })
        for _ = 1, 100 do
          local p, q, r = f(nan), into(nan), copy(row)
          local s, t = g(nan, nan)
          local h, k = both(nan, nan)
          for _, n in ipairs { p, q, r, s, t, h, k } do
            assert.equal("number", type(n))
            assert.is_true(n ~= n)
          end
        end
      end
    end
  end)

  it("leaves to the C API what it can't take, errors too", function()
    local out = damo.array(0)
    local f = damo.compile({ x }, x * x + 1)
    local into, a = f:into(out), damo.array(3)
    for _ = 1, 3 do into(a) end
    assert.equal(17, into(4))
    assert.equal(17, into(4, nil))
    failure("type", into, 4, 4)
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

  it("takes numbers, and gives all results", function()
    local s, w = damo.fscalar "s", damo.dvector "w"
    local total, double, twice = damo.array(0), damo.zeros { 2 }, damo.array(0)
    local f = damo.compile({ x, v, w, y }, { damo.sum(v) * x, v * w + y, x * 2 })
    local into, a, b = f:into(total, double, twice), damo.array { 1, 2 }, damo.array { 3, 4 }
    for i = 1, 200 do
      local one, two, three = into(i, a, b, damo.array(1))
      assert.equal(3 * i, one)
      assert.equal(double, two)
      assert.equal(2 * i, three)
      assert.equal(3 * i, total:item())
    end
    assert.same({ 4, 9 }, double:totable())
    local single = damo.compile({ s }, s * 3):into(damo.array(0, "float32"))
    local third = damo.compile({ s }, s * 3)(damo.array(0.1, "float32"))
    for _ = 1, 5 do assert.equal(third, single(0.1)) end
    local some = damo.compile({ x }, { x + 1, x + 2 }):into(nil, total)
    for i = 1, 100 do
      local one, two = some(i)
      assert.equal(i + 1, one)
      assert.equal(i + 2, two)
    end
    assert.equal(102, total:item())
  end)

  it("takes six operands", function()
    local vars, values = {}, {}
    local total, weighted = 0, 0
    for i = 1, 6 do
      vars[i] = i % 2 == 1 and damo.dvector("v" .. i) or damo.dscalar("x" .. i)
      total = total + vars[i]
      weighted = weighted + i * vars[i]
      for n = 5, 6 do
        if i == n then
          local sum, list = damo.zeros { 2 }, damo.zeros { 2 }
          for k = 1, n do values[k] = k % 2 == 1 and damo.ones { 2 } * k or k * 0.5 end
          local inputs = {}
          for k = 1, n do inputs[k] = vars[k] end
          local f = damo.compile(inputs, { total, weighted })
          local into, expected = f:into(sum, list), { f(unpack(values, 1, n)) }
          for _ = 1, 100 do assert.equal(sum, (into(unpack(values, 1, n)))) end
          assert.is_true(damo.allclose(sum, expected[1]) and damo.allclose(list, expected[2]))
          local wrong = { unpack(values, 1, n) }
          wrong[n] = "2"
          failure("type", into, unpack(wrong, 1, n))
          values[n + 1] = 3
          failure("type", into, unpack(values, 1, n + 1))
        end
      end
    end
  end)

  it("is told of the types as damo.h declares them", function()
    local ffi = require "ffi"
    local file = assert(io.open "src/damo/lua.h")
    local text = file:read "*a"
    file:close()
    local left = ffi.typeof("struct {" .. text:match "typedef struct damo_front_left {(.-)} damo_front_left;" .. "}")
    assert.equal(48, ffi.offsetof(left, "done"))
    local n = 0
    for number, parameters in text:gmatch "typedef double %(%*damo_front_run(%d)%)(%b());" do
      assert.equal(n, tonumber(number))
      ffi.typeof("double(*)" .. parameters)
      n = n + 1
    end
    assert.equal(7, n)
  end)

  it("makes calls of Functions themselves", function()
    local f, none = damo.compile({ x, y }, { x + 10 * y, x * y }), damo.compile({}, damo.constant(3.0) + 1)
    local zero = damo.array(0.5)
    for i = 1, 300 do
      local sum, product = f(i, zero)
      assert.equal(i + 5, sum)
      assert.equal(i / 2, product)
      assert.equal(4, none())
    end
    assert.equal(300, f.n_calls)
    for _ = 1, 100 do
      local sum = f(0 / 0, 1)
      assert.is_true(sum ~= sum)
    end
    assert.equal(400, f.n_calls)
    assert.equal(11, (f(1, 1)))
    assert.equal(1, select(2, f(1, 1, nil)))
    failure("missing_input", f, 1)
    failure("missing_input", f)
    failure("type", f, 1, 2, 3)
    failure("type", f, 1, "2")
    failure("type", f, io.stdout, 1)
    failure("type", f, f, 1)
    assert.equal(2, select("#", f(1, damo.array(2, "int8"))))
    local g = f:copy()
    assert.equal(21, (g(1, 2)))
    f:free()
    for _ = 1, 100 do failure("state", f, 1, 1) end
    assert.equal(21, (g(1, 2)))
  end)

  it("keeps no Function alive", function()
    local seen = setmetatable({}, { __mode = "k" })
    for i = 1, 20 do
      local f = damo.compile({ x }, x + i)
      assert.equal(i, f(0))
      seen[f] = true
    end
    garbage.collect()
    assert.is_true((next(seen)) == nil)
  end)

  it("counts, profiles and collects as the C API does", function()
    local f = damo.compile({ x }, x + 1, { profile = true })
    for i = 1, 50 do assert.equal(i + 1, f(i)) end
    assert.equal(50, f.profile.calls)
    local g, total = damo.compile({ v }, v + 1), 0
    local into = damo.compile({ x }, x + 1):into(damo.array(0))
    for i = 1, 200 do
      g(damo.zeros { 100000 })
      total = total + into(i)
    end
    assert.equal(200 * 203 / 2, total)
    assert.is_true(damo.memory().bytes < 150e6)
  end)

  it("works under a cap of memory, where calls are tried again", function()
    local out, ok = child [[
      local damo = require "damo"
      local x = damo.dscalar "x"
      local f = damo.compile({ x }, x * x + 1)
      local into = f:into(damo.array(0.0))
      local function sum() local s = 0; for i = 1, 200 do s = s + f(i) - into(i) end; return s end
      local before = sum()
      damo.config.memory_cap = damo.memory().bytes + 10000
      io.write(before, " ", sum(), " ", f.n_calls)
    ]]
    assert.equal("0 0 800", out)
    assert.is_true(ok)
  end)

  it("is not to be had in a sandbox", function()
    local out = child [[
      local damo = require "damo"
      local core = require "damo.core"
      local x = damo.dscalar "x"
      local f = damo.compile({ x }, x * x + 1)
      local into = f:into(damo.array(0.0))
      for i = 1, 200 do f(i); into(i) end
      damo.config.sandbox = true
      assert(rawget(core, "ffi") == nil and getmetatable(f) == "damo.Function")
      package.loaded["damo.front"], package.loaded["damo.core"] = nil, nil
      assert(rawget(require "damo.core", "ffi") == nil and not require "damo.front")
      -- no cdata, address or C function of it hangs from what a script can reach
      local seen = {}
      local function look(value, path)
        if type(value) == "cdata" then error(path) end
        if type(value) ~= "table" or seen[value] then return end
        seen[value] = true
        for k, v in pairs(value) do look(k, path .. ".key"); look(v, path .. "." .. tostring(k)) end
      end
      look(damo, "damo")
      look(core, "core")
      io.write(f(3), " ", into(4), " ", f:into(damo.array(0.0))(5), " ", f.n_calls)
    ]]
    assert.equal("10 17 26 403", out)
  end)

  it("lets traces run through its calls", function()
    local jit = require "jit"
    local util, names = require "jit.util", require("jit.vmdef").irnames
    jit.flush() -- there may be as many traces as there is space for
    local f, a = damo.compile({ x }, x * x + 1), damo.array(3)
    local into = f:into(damo.array(0))
    local function loop(n)
      local sum = 0
      for i = 1, n do sum = sum + into(a) + into(i % 2) + f(2) end
      return sum
    end
    assert.equal(3000 * (10 + 1.5 + 5), loop(3000))
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
