-- f:probe(var, …): intermediate values of a compiled program.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"
local unfused = damo.Mode { exclude = { "fusion" } }

-- The Variable of that name in f's program.
local function named(f, name)
  for _, v in ipairs(f.fgraph.variables) do
    if v.name == name then return v end
  end
  error("no Variable " .. name)
end

describe("a probe", function()
  it("gives the values of the program's Variables", function()
    local f = damo.compile({ x }, damo.sum(damo.exp(x) * 2), { mode = unfused })
    local all = f.fgraph.variables
    for _, v in ipairs(all) do
      local value = f:probe(v)(damo.array { 1, 2 })
      if v.owner and tostring(v.owner.op):find "exp" then
        assert.same({ math.exp(1), math.exp(2) }, value:totable())
      end
    end
    local values = { f:probe(table.unpack(all))(damo.array { 1, 2 }) }
    assert.equal(#all, #values)
  end)

  it("gives those of the script's Variables that the program still computes", function()
    local h = damo.sin(x)
    local f = damo.compile({ x }, damo.sum(damo.dot(h, h)), { mode = unfused })
    assert.same({ math.sin(1), 0 }, f:probe(h)(damo.array { 1, 0 }):totable())
    local given, result = f:probe(x, f.fgraph.outputs[1])(damo.array { 1, 0 })
    assert.same({ 1, 0 }, given:totable())
    assert.equal(f(damo.array { 1, 0 }), result)
  end)

  it("gives those of what rewriting has put in their place", function()
    local h = x * x
    local f = damo.compile({ x }, damo.sum(damo.exp(h)), { mode = unfused })
    assert.truthy(damo.printing.debugprint(f, { file = "str" }):find "sqr")
    assert.same({ 4, 9 }, f:probe(h)(damo.array { 2, 3 }):totable())
  end)

  it("gives numbers for 0-d values", function()
    local s = damo.dscalar "s"
    local h = damo.exp(s)
    local f = damo.compile({ s }, damo.stack({ h, h + 1 }), { mode = "FAST_COMPILE" })
    assert.equal(math.exp(3), f:probe(h)(3))
  end)

  it("gives the values before they are overwritten in place", function()
    local h = damo.exp(x)
    local f = damo.compile({ x }, damo.sum(damo.sqrt(h)), { mode = unfused })
    local overwritten
    for _, node in ipairs(f.fgraph.apply_nodes) do overwritten = overwritten or next(node.op.destroy_map) end
    assert.truthy(overwritten)
    assert.same({ math.exp(1), math.exp(3) }, f:probe(h)(damo.array { 1, 3 }):totable())
  end)

  it("has the same bits as the program", function()
    local n = 1000
    local h = damo.sin(x) * damo.exp(x)
    local f = damo.compile({ x }, { damo.sum(h), h }, { mode = unfused })
    local at = damo.random.normal(0, 1, { size = { n } })
    local _, want = f(at)
    assert.is_true(damo.array_equal(want, f:probe(f.fgraph.outputs[2])(at)))
    assert.equal((f(at)), f:probe(f.fgraph.outputs[1])(at))
  end)

  it("updates nothing and leaves the Function as it was", function()
    local n = damo.shared(10.0, "n")
    local step = damo.dscalar "step"
    local rs = damo.random.RandomStream(3)
    local draw = rs:normal(0, 1, { size = { 2 } })
    local f = damo.compile({ step }, { n * step, draw }, { updates = { [n] = n + step }, profile = true })
    local p = f:probe(n, f.fgraph.outputs[2])
    local a, first = p(2)
    local b, again = p(2)
    assert.same({ 10, 10 }, { a, b })
    assert.is_true(damo.array_equal(first, again))
    assert.equal(10, n:get_value())
    assert.same({ 0, 0 }, { f.n_calls, f.profile.calls })
    local _, drawn = f(2)
    assert.is_true(damo.array_equal(first, drawn))
    assert.equal(12, (p(2)))
  end)

  it("keeps the caller's arrays, mutable inputs too", function()
    local f = damo.compile({ damo.In(x, { mutable = true }) }, damo.sum(damo.exp(x)), { mode = unfused })
    local a = damo.array { 1, 2 }
    f:probe(f.fgraph.outputs[1])(a)
    assert.same({ 1, 2 }, a:totable())
  end)

  it("takes default values, and those that calls update", function()
    local i = damo.dscalar "i"
    local f = damo.compile({ damo.In(i, { value = 1, update = i + 1 }) }, i * 10)
    local p = f:probe(i)
    assert.equal(1, p())
    f()
    f()
    assert.equal(3, p())
  end)

  it("gives values of its own", function()
    local w = damo.shared(damo.array { 1, 2 }, "w")
    local f = damo.compile({ x }, x + w)
    local p = f:probe(w, f.fgraph.outputs[1])
    local value, sum = p(damo.array { 1, 1 })
    value[1] = 50
    assert.same({ 1, 2 }, w:get_value():totable())
    p(damo.array { 7, 7 })
    assert.same({ 2, 3 }, sum:totable())
  end)

  it("reads sparse values", function()
    local a = damo.sparse.csr_matrix "a"
    local t = damo.sparse.add(a, damo.sparse.transpose(a))
    local f = damo.compile({ a }, damo.sum(damo.sparse.dense_from_sparse(t)), { mode = "FAST_COMPILE" })
    local value = f:probe(t)(damo.sparse.eye(2))
    assert.same({ { 2, 0 }, { 0, 2 } }, damo.sparse.dense_from_sparse(value):totable())
  end)

  it("reads constants of the program", function()
    local f = damo.compile({ x }, x + 3)
    for _, v in ipairs(f.fgraph.variables) do
      if not v.owner and v.name ~= "x" then assert.equal(3, f:probe(v)(damo.array { 1 })) end
    end
  end)

  it("reads what is inside a Loop, to the bit", function()
    local w = damo.shared(damo.array { 0.5, 2, -1 }, "w")
    local h = damo.tanh(x * w)
    local z = damo.exp(h) + damo.sin(x)
    local loss = damo.sum(z * z)
    local f = damo.compile({ x }, { loss, h * 2 }, { updates = { [w] = w - 0.1 * damo.grad(loss, w) } })
    local kept = damo.compile({ x }, { h, z })
    assert.truthy(damo.printing.debugprint(f, { file = "str" }):find "Loop")
    local p, at = f:probe(h, z, w, x), damo.array { 0.3, -1.2, 2 }
    for _ = 1, 3 do
      local before = w:get_value()
      local want_h, want_z = kept(at)
      local got_h, got_z, got_w, got_x = p(at)
      assert.is_true(damo.array_equal(want_h, got_h))
      assert.is_true(damo.array_equal(want_z, got_z))
      assert.is_true(damo.array_equal(before, got_w))
      assert.is_true(damo.array_equal(at, got_x))
      assert.is_true(damo.array_equal(before, w:get_value()))
      f(at)
    end
  end)

  it("reads what is inside a Loop beside default values, draws, Ops of a script and branches", function()
    local i, rs = damo.dscalar "i", damo.random.RandomStream(5)
    local Twice = damo.Op {
      name = "Twice",
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
    }
    local e = damo.exp(damo.fill(x, i))
    local noise = damo.sin(rs:normal(0, 1, { size = { 2 } }))
    local f = damo.compile({ x, damo.In(i, { value = 1, update = i + 1 }) }, damo.sum(Twice(e) + e * noise))
    local p, at = f:probe(e, noise), damo.array { 0, 0 }
    f(at)
    local got_e, got_noise = p(at)
    assert.same({ math.exp(2), math.exp(2) }, got_e:totable())
    local _, again = p(at)
    assert.is_true(damo.array_equal(got_noise, again))
    assert.same({ math.exp(5), math.exp(5) }, p(at, 5):totable())
    local copy = f:copy()
    assert.same({ math.exp(2), math.exp(2) }, (copy:probe(e)(at)):totable())
  end)

  it("says when a value is in a branch that was not taken", function()
    local c = damo.dscalar "c"
    local h = damo.dot(x, x)
    local f = damo.compile({ c, x }, damo.ifelse(damo.gt(c, 0), h * 3, damo.sum(x)))
    local p = f:probe(h)
    assert.equal(5, p(1, damo.array { 1, 2 }))
    local err = failure("state", p, -1, damo.array { 1, 2 })
    assert.truthy(err.message:find("was not computed in this call: it is in a branch that was not taken", 1, true))
    assert.equal(5, p(1, damo.array { 1, 2 }))
  end)

  it("works in the modes that check", function()
    local h = damo.exp(x)
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      local f = damo.compile({ x }, damo.sum(damo.sqrt(h)), { mode = mode })
      assert.same({ math.exp(1) }, f:probe(h)(damo.array { 1 }):totable())
    end
  end)

  it("refuses what the program does not compute", function()
    local f = damo.compile({ x }, x * 2, { name = "double" })
    assert.equal("probe: the program of double does not compute y; f.fgraph.variables lists what it computes",
      failure("value", f.probe, f, damo.dvector "y").message)
    failure("value", f.probe, f, damo.constant(damo.array { 1 }))
    failure("type", f.probe, f, 3)
    failure("type", f.probe, f)
    failure("missing_input", f:probe(x))
    failure("type", f:probe(x), damo.array { 1 }, 2)
    assert.truthy(named(f, "x"))
    local p = f:probe(x)
    f:free()
    failure("state", p, damo.array { 1 })
    failure("state", f.probe, f, x)
  end)

  it("reports errors of the program as a call does", function()
    local f = damo.compile({ x }, damo.assert_op(x, damo.gt(damo.sum(x), 0), { message = "too small" }))
    assert.equal("too small", failure("value", f:probe(x), damo.array { -1 }).message)
  end)
end)
