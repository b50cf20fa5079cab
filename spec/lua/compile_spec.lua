-- damo.compile and Functions.
local damo = require "damo"
local closing = require "spec.support.closing"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"

local x, y = damo.dscalar "x", damo.dscalar "y"
local v = damo.dvector "v"

describe("outputs", function()
  it("may be one Variable", function() assert.equal(10.0, damo.compile({ x }, x * x + 1)(3)) end)

  it("may be a list: several results", function()
    local a, b, c = damo.compile({ x }, { x + 1, x * 2, 5 })(3)
    assert.same({ 4, 6, 5 }, { a, b, c })
  end)

  it("may have names: a table", function()
    local r = damo.compile({ x, v }, { double = x * 2, total = damo.sum(v), v = v })(3, { 1, 2 })
    assert.equal(6.0, r.double)
    assert.equal(3.0, r.total)
    assert.same({ 1, 2 }, r.v:totable())
  end)

  it("may be none", function()
    local s = damo.shared(0.0)
    local f = damo.compile({ x }, nil, { updates = { [s] = s + x } })
    assert.equal(0, select("#", f(2)))
    f(3)
    assert.equal(5.0, s:get_value())
  end)

  it("are the caller's own", function()
    local f = damo.compile({ v }, v + 1)
    local a = f { 1, 2 }
    f { 5, 6 }
    assert.same({ 2, 3 }, a:totable())
    local given = damo.array { 1, 2 }
    local same = damo.compile({ v }, v)(given)
    same[1] = 7
    assert.equal(1.0, given[1])
  end)

  it("are of many dtypes", function()
    assert.equal("integer", math.type(damo.compile({}, damo.constant(2, { dtype = "int32" }))()))
    assert.equal(true, damo.compile({ x }, damo.gt(x, 1))(2))
    assert.equal("complex128", damo.compile({}, damo.constant(damo.array(2, "complex128")))().dtype)
  end)
end)

describe("arguments", function()
  it("are converted where nothing is lost", function()
    local f = damo.compile({ v }, damo.sum(v))
    assert.equal(6.0, f { 1, 2, 3 })
    assert.equal(6.0, f(damo.array({ 1, 2, 3 }, "int32")))
    local n = damo.lscalar "n"
    assert.equal(3, damo.compile({ n }, n)(3))
    failure("value", damo.compile({ n }, n), 1.5)
    assert.equal(1, damo.compile({ n }, n, { allow_input_downcast = true })(1.5))
    failure("type", damo.compile({ n }, n), damo.array(2.5))
    local b = damo.scalar("b", { dtype = "bool" })
    assert.equal(true, damo.compile({ b }, b)(true))
  end)

  it("are counted", function()
    local f = damo.compile({ x, y }, x + y, { name = "adder" })
    local err = failure("missing_input", f, 1)
    assert.equal("adder: input 2 (y) is missing", err.message)
    err = failure("type", f, 1, 2, 3)
    assert.equal("adder: expected 2 arguments, got 3", err.message)
  end)

  it("are named when they are wrong", function()
    local f = damo.compile({ x }, x + 1, { name = "f" })
    local err = failure("type", f, "3")
    assert.truthy(err.message:find("^f: input 1 %(x%): "), err.message)
    failure("type", f, { 1, 2 })
    failure("type", f, print)
    failure("type", f, x)
    assert.equal(3.0, f(2))
  end)

  it("are refused where their dtype, axes or a fixed length differ, in every call", function()
    local q = damo.row "q"
    local f = damo.compile({ q }, q + 1)
    for _ = 1, 2 do
      assert.same({ { 2, 3 } }, f(damo.array { { 1, 2 } }):totable())
      failure("shape", f, damo.zeros { 2, 2 })
      failure("type", f, damo.zeros { 2 })
      failure("type", f, damo.zeros({ 1, 2 }, "complex128"))
    end
    assert.same({ { 2, 3, 4 } }, f(damo.array { { 1, 2, 3 } }):totable())
  end)

  it("may be given by name", function()
    local f = damo.compile({ x, y }, x - y)
    assert.equal(1.0, f:call { x = 3, y = 2 })
    assert.equal(1.0, f:call { 3, y = 2 })
    local err = failure("value", f.call, f, { x = 1, yy = 2 })
    assert.equal("function: there is no input 'yy', did you mean 'y'?", err.message)
    failure("missing_input", f.call, f, { x = 1 })
  end)

  it("may have defaults", function()
    local f = damo.compile({ x, damo.In(y, { value = 10, name = "step" }) }, x + y)
    assert.equal(11.0, f(1))
    assert.equal(3.0, f(1, 2))
    assert.equal(11.0, f(1))
    assert.equal(4.0, f:call { x = 1, step = 3 })
  end)

  it("may be updated by the call", function()
    local f = damo.compile({ damo.In(x, { value = 0, update = x + 1 }) }, x)
    assert.equal(0.0, f())
    assert.equal(1.0, f())
  end)

  it("may be many", function()
    local inputs, sum = {}, 0
    local args = {}
    for i = 1, 40 do
      inputs[i] = damo.dscalar("x" .. i)
      sum = sum + inputs[i]
      args[i] = i
    end
    assert.equal(820.0, damo.compile(inputs, sum)(table.unpack(args)))
  end)
end)

describe("inputs of compile", function()
  it("must all be used, by default", function()
    local err = failure("unused_input", damo.compile, { x, y }, x)
    assert.truthy(err.message:find "y", err.message)
    assert.equal(1.0, damo.compile({ x, y }, x, { on_unused_input = "ignore" })(1, 2))
    -- an input that is computed from another: the nodes above it are not used
    local m = damo.dmatrix "m"
    local t = m.T
    err = failure("unused_input", damo.compile, { m, t }, t * 2)
    assert.truthy(err.message:find("input 1 (m)", 1, true), err.message)
    assert.same({ { 4 } }, damo.compile({ m, t }, { t * 2, m })(damo.ones { 1, 1 }, { { 2 } }):totable())
    assert.same({ { 2 } }, damo.compile({ t }, t)({ { 2 } }):totable())
    failure("unused_input", damo.graph.OpFromGraph, { m, t }, { t * 2 })
  end)

  it("must all be given", function()
    local err = failure("missing_input", damo.compile, { x }, x + y)
    assert.truthy(err.message:find "y", err.message)
  end)

  it("must be Variables, each once", function()
    failure("value", damo.compile, { x, x }, x)
    failure("type", damo.compile, { 3 }, x)
    local s = damo.shared(1)
    failure("type", damo.compile, { s }, s * 1)
    failure("type", damo.compile, 3, x)
    failure("type", damo.compile, { x }, print)
  end)

  it("have options that are checked", function()
    local err = failure("value", damo.compile, { x }, x, { update = {} })
    assert.equal("compile: unknown option 'update', did you mean 'updates'?", err.message)
    failure("value", damo.compile, { x }, x, { mode = "FAST" })
    failure("value", damo.compile, { x }, x, { on_unused_input = "no" })
    failure("value", damo.compile, { x }, x, { threads = 0 })
    failure("value", damo.compile, { x }, x, { threads = 1025 })
    failure("type", damo.compile, { x }, x, { threads = "two" })
    failure("type", damo.compile, { x }, x, { profile = 1 })
  end)
end)

describe("updates", function()
  it("happen after the call, all from the old values", function()
    local a, b = damo.shared(1.0, "a"), damo.shared(10.0, "b")
    local f = damo.compile({}, a, { updates = { { a, b }, { b, a } } })
    assert.equal(1.0, f())
    assert.same({ 10, 1 }, { a:get_value(), b:get_value() })
    local g = damo.compile({}, nil, { updates = { [a] = 0, [b] = b + 1 } })
    g()
    assert.same({ 0, 2 }, { a:get_value(), b:get_value() })
  end)

  it("are all or none", function()
    local a, b = damo.shared({ 1, 2 }, "a"), damo.shared({ 1, 2 }, "b")
    local f = damo.compile({ v }, nil, { updates = { { a, a + v }, { b, b * damo.dot(v, damo.array { 1, 2 }) } } })
    failure("shape", f, { 1, 2, 3 })
    assert.same({ 1, 2 }, a:get_value():totable())
    f { 1, 1 }
    assert.same({ 2, 3 }, a:get_value():totable())
    assert.same({ 3, 6 }, b:get_value():totable())
  end)

  it("refuse what is not shared, and wrong Types", function()
    local a = damo.shared({ 1, 2 }, "a")
    failure("type", damo.compile, { x }, x, { updates = { { x, x } } })
    failure("type", damo.compile, { x }, x, { updates = { { a, x } } })
    failure("value", damo.compile, {}, a, { updates = { { a, a }, { a, a + 1 } } })
    failure("type", damo.compile, {}, a, { updates = { { a } } })
    failure("type", damo.compile, {}, a, { updates = { name = a } })
  end)

  it("in a table keyed by Variables give the same program each time", function()
    local function text()
      local updates, shared = {}, {}
      for i = 1, 20 do
        shared[i] = damo.shared(i, "s" .. i)
        updates[shared[i]] = shared[i] + i
      end
      return damo.printing.debugprint(damo.compile({}, nil, { updates = updates }), { file = "str" })
    end
    assert.equal(text(), text())
  end)
end)

describe("givens", function()
  it("may not depend on the Variable that they replace", function()
    local a, b, s = damo.dscalar "a", damo.dscalar "b", damo.shared(1.0, "s")
    for _, givens in ipairs { { [a] = a + 1 }, { { a, b }, { b, a + 1 } }, { { a, b }, { b, a } }, { [s] = s * 2 } } do
      local err = failure("value", damo.compile, { a, b }, a * b * s, { givens = givens, on_unused_input = "ignore" })
      assert.truthy(err.message:find("givens", 1, true), err.message)
    end
    assert.equal(12.0, damo.compile({ b }, a * 2, { givens = { [a] = b + 1 } })(5))
  end)

  it("replace Variables", function()
    local s = damo.shared { 1, 2, 3 }
    assert.equal(6.0, damo.compile({}, damo.sum(v), { givens = { [v] = s } })())
    assert.equal(5.0, damo.compile({ x }, x + y, { givens = { { y, 2 } } })(3))
  end)
end)

describe("modes", function()
  it("give the same values", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", damo.Mode { optimizer = "fast_compile" } } do
      local f = damo.compile({ v }, damo.log(1 + damo.exp(v)):sum(), { mode = mode })
      assert.near(math.log(2) + math.log(1 + math.exp(1)), f { 0, 1 }, 1e-12)
    end
  end)

  it("that do not exist are refused", function()
    assert.matches("did you mean 'FAST_RUN'", failure("value", damo.compile, { x }, x, { mode = "FAST_RUM" }).message)
  end)
end)

describe("into", function()
  it("writes results to the caller's arrays", function()
    local f = damo.compile({ v }, { v + 1, damo.sum(v) })
    local out, total = damo.zeros { 2 }, damo.array(0.0)
    local g = f:into(out, total)
    g { 1, 2 }
    assert.same({ 2, 3 }, out:totable())
    assert.equal(3.0, total:item())
    g { 5, 6 }
    assert.same({ 6, 7 }, out:totable())
    assert.same({ 2, 3 }, f({ 1, 2 }):totable())
    assert.same({ 6, 7 }, out:totable())
  end)

  it("may leave outputs out", function()
    local f = damo.compile({ v }, { v + 1, v * 2 })
    local out = damo.zeros { 2 }
    local _, double = f:into(out, nil)({ 1, 2 })
    assert.same({ 2, 4 }, double:totable())
    assert.same({ 2, 3 }, out:totable())
  end)

  it("refuses targets that do not fit", function()
    local f = damo.compile({ v }, v + 1)
    failure("type", f.into, f)
    failure("type", f.into, f, 3)
    failure("shape", f:into(damo.zeros { 3 }), { 1, 2 })
  end)

  it("writes correctly where arrays overlap", function()
    local f = damo.compile({ v }, v[{ { -1, 1, -1 } }] + v)
    local a = damo.array { 1, 2, 3 }
    f:into(a)(a)
    assert.same({ 4, 4, 4 }, a:totable())
  end)

  it("allocates nothing native when warm", function()
    local f = damo.compile({ v }, damo.exp(v) * 2 + damo.sum(v))
    local a, out = damo.array { 1, 2, 3 }, damo.zeros { 3 }
    local g = f:into(out)
    for _ = 1, 3 do g(a) end
    collectgarbage()
    collectgarbage "stop"
    local before = damo.memory().objects
    for _ = 1, 10 do g(a) end
    local after = damo.memory().objects
    collectgarbage "restart"
    assert.equal(before, after)
  end)

  it("makes no garbage, however many targets there are", function()
    local s = damo.shared(damo.zeros { 2 }, "s")
    local f = damo.compile({ v }, { v + 1, damo.sum(v), v * s, v * 2 }, { updates = { { s, s + v } } })
    local a, into = damo.ones { 2 }, { damo.zeros { 2 }, damo.array(0.0), damo.zeros { 2 }, damo.zeros { 2 } }
    local g = f:into(into[1], into[2], into[3], into[4])
    local calls = 0
    assert.equal(0, garbage.made(function()
      for _ = 1, 100 do
        g(a)
        calls = calls + 1
      end
    end))
    assert.same({ calls - 1, calls - 1 }, into[3]:totable())
  end)
end)

describe("a Function", function()
  it("has fields and a text", function()
    local f = damo.compile({ x, y }, x + y, { name = "adder" })
    assert.equal("adder", f.name)
    assert.equal(0, f.n_calls)
    f(1, 2)
    assert.equal(1, f.n_calls)
    assert.equal("Function adder(x, y) -> 1 output", tostring(f))
    assert.equal(1, #f.fgraph.outputs)
    assert.equal(x, f.inputs[1])
  end)

  it("can be copied: shared Variables are the same, storage is not", function()
    local s = damo.shared(0.0)
    local f = damo.compile({ v }, { total = damo.sum(v) + s }, { updates = { { s, s + 1 } } })
    local g = f:copy()
    assert.equal(3.0, f({ 1, 2 }).total)
    assert.equal(4.0, g({ 1, 2 }).total)
    assert.equal(2.0, s:get_value())
    f:free()
    assert.equal(5.0, g({ 1, 2 }).total)
  end)

  it("can be freed, more than once", function()
    local f = damo.compile({ x }, x + 1)
    f:free()
    f:free()
    local err = failure("state", f, 1)
    assert.truthy(err.message:find "freed", err.message)
    failure("state", f.call, f, { x = 1 })
    assert.equal("Function: freed", tostring(f))
    local closed
    closing(damo.compile({ x }, x + 1), function(g) closed = g end)
    failure("state", closed, 1)
  end)

  it("can't be called from inside its own call", function()
    local f
    local op = damo.Op {
      name = "Again",
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
      perform = function(_, _, i, o) o[1][1] = f(i[1]) end,
    }
    f = damo.compile({ x }, op(x) + x)
    failure("state", f, 1)
    local freeing = damo.Op {
      name = "Freeing",
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
      perform = function() f:free() end,
    }
    f = damo.compile({ x }, freeing(x))
    failure("state", f, 1)
  end)

  it("works again after an error", function()
    local f = damo.compile({ v }, v + damo.array { 1, 2 })
    failure("shape", f, { 1, 2, 3 })
    assert.same({ 2, 4 }, f({ 1, 2 }):totable())
  end)

  it("names the node and its line in an error", function()
    local z = v + damo.array { 1, 2 }
    local line = debug.getinfo(1, "l").currentline - 1
    local f = damo.compile({ v }, z * 2)
    local err = failure("shape", f, { 1, 2, 3 })
    assert.truthy(err.trace[1]:find("compile_spec.lua:" .. line .. "$"), table.concat(err.trace, "; "))
  end)

  it("runs out of memory cleanly under a cap", function()
    local f = damo.compile({ v }, damo.outer(v, v))
    local big = damo.zeros { 3000 }
    damo.config.memory_cap = damo.memory().bytes + 1000000
    local ok, err = pcall(f, big)
    damo.config.memory_cap = 0
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.same({ 2, 2 }, f({ 1, 2 }).shape)
  end)
end)
