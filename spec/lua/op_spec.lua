-- Ops written in Lua: classes and instances, make_node, perform, gradients, and errors in them.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"

local function same_type(self, x)
  x = damo.as_tensor_variable(x)
  return damo.Apply(self, { x }, { x.type() })
end

-- y = factor * x
local function scale_class()
  return damo.Op {
    name = "Scale",
    props = { "factor" },
    make_node = same_type,
    perform = function(self, _, inputs, output_storage) output_storage[1][1] = inputs[1] * self.factor end,
    grad = function(self, _, output_grads) return { output_grads[1] * self.factor } end,
  }
end

-- An Op with that perform and one input; its output has the input's Type.
local function one(perform, more)
  local def = { name = "One", make_node = same_type, perform = perform }
  for k, v in pairs(more or {}) do def[k] = v end
  return damo.Op(def)
end

local x = damo.dvector "x"
local function run(op, ...) return damo.compile({ x }, op(x))(...) end

describe("an Op class", function()
  local Scale = scale_class()

  it("makes Ops that are equal when their properties are", function()
    assert.equal(Scale { factor = 3 }, Scale { factor = 3 })
    assert.is_false(Scale { factor = 3 } == Scale { factor = 4 })
    assert.equal(3, Scale({ factor = 3 }).factor)
    assert.equal("Scale{factor=3}", tostring(Scale { factor = 3 }))
    assert.same({ "factor" }, Scale({ factor = 3 }).props)
  end)

  it("is part of their identity", function()
    assert.is_false(Scale { factor = 3 } == scale_class() { factor = 3 })
  end)

  it("takes properties of every kind", function()
    local Any = damo.Op { name = "Any", props = { "a", "b", "c" }, make_node = same_type }
    local t = damo.TensorType("float64", { 3 })
    local op = Any { a = "text", b = { 1, { true, 2.5 } }, c = t }
    assert.equal("text", op.a)
    assert.same({ 1, { true, 2.5 } }, op.b)
    assert.equal(t, op.c)
    assert.equal(op, Any { a = "text", b = { 1, { true, 2.5 } }, c = t })
    assert.equal(op, Any({ a = op }).a)
    failure("type", Any, { a = print })
    failure("type", Any, { a = x })
    failure("value", Any, { d = 1 })
  end)

  it("refuses misspelt members", function()
    local err = failure("value", damo.Op, { make_node = same_type, preform = print })
    assert.equal("Op: unknown member 'preform', did you mean 'perform'?", err.message)
    failure("value", damo.Op, { perform = print })
    failure("type", damo.Op, { make_node = 3 })
    failure("type", damo.Op, 3)
  end)

  it("without props is an Op, equal only to itself", function()
    local function make() return one(function(_, _, i, o) o[1][1] = i[1] end) end
    local a = make()
    assert.equal(a, a)
    assert.is_false(a == make())
  end)

  it("may have helpers of its own", function()
    local op = one(function(self, _, i, o) o[1][1] = self:twice(i[1]) end, { twice = function(_, v) return v * 2 end })
    assert.same({ 2, 4 }, run(op, { 1, 2 }):totable())
  end)

  it("may have itypes and otypes instead of make_node", function()
    local vector, scalar = damo.TensorType("float64", { false }), damo.TensorType("float64", {})
    local op = damo.Op {
      name = "Total", itypes = { vector }, otypes = { scalar },
      perform = function(_, _, i, o) o[1][1] = i[1]:sum() end,
    }
    assert.equal(scalar, op(x).type)
    assert.equal(6.0, run(op, { 1, 2, 3 }))
    assert.equal(6.0, op({ 1, 2, 3 }):eval())
    local err = failure("type", op, damo.dmatrix())
    assert.truthy(err.message:find("Total: input 1 must be TensorType(float64, shape=(?,))", 1, true), err.message)
    failure("type", op, x, x)
  end)
end)

describe("an Op in a graph", function()
  local Scale = scale_class()

  it("computes in compiled Functions", function()
    assert.same({ 3, 6 }, run(Scale { factor = 3 }, { 1, 2 }):totable())
  end)

  it("is differentiated", function()
    local cost = damo.sum(Scale { factor = 3 }(x * x))
    local f = damo.compile({ x }, damo.grad(cost, x))
    assert.same({ 6, 12 }, f({ 1, 2 }):totable())
    damo.verify_grad(function(v) return Scale { factor = 2.5 }(damo.sin(v)) end, { damo.array { 0.3, -1, 2 } })
  end)

  it("takes literals and arrays where its make_node converts them", function()
    assert.equal(6.0, Scale { factor = 3 }(2.0):eval())
  end)

  it("is merged when applied twice to the same", function()
    local calls = 0
    local Count = damo.Op {
      name = "Count", props = {}, make_node = same_type,
      perform = function(_, _, i, o) calls = calls + 1; o[1][1] = i[1] + 0 end,
    }
    local f = damo.compile({ x }, { Count {}(x), Count {}(x) })
    f { 1 }
    assert.equal(1, calls)
  end)

  it("has its node's trace at the line that applied it", function()
    local y = Scale { factor = 2 }(x)
    local line = debug.getinfo(1, "l").currentline - 1
    assert.truthy(y.tag.trace[1]:find("op_spec.lua:" .. line .. "$"), y.tag.trace[1])
  end)

  it("may have several outputs", function()
    local Both = damo.Op {
      name = "Both",
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type(), v.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] + 1; o[2][1] = i[1] - 1 end,
      grad = function(_, i, g)
        -- unused outputs are disconnected
        local function or_zero(v) return v.type == damo.DisconnectedType() and damo.zeros_like(i[1]) or v end
        return { or_zero(g[1]) + or_zero(g[2]) * 2 }
      end,
    }
    local a, b = Both(x)
    local up, down, g1, g2 = damo.compile({ x }, { a, b, damo.grad(damo.sum(a), x), damo.grad(damo.sum(b), x) })({ 5 })
    assert.same({ 6, 4, 1, 2 }, { up[1], down[1], g1[1], g2[1] })
    assert.equal(2, #Both(x, { return_list = true }))
  end)

  it("may have a default output", function()
    local op = damo.Op {
      name = "Second", default_output = 2,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type(), v.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] + 1; o[2][1] = i[1] - 1 end,
    }
    local y = op(x)
    assert.equal(2, y.index)
    assert.equal(y, y.owner:default_output())
    assert.equal(2, op.default_output)
  end)

  it("may have its own Variables as outputs", function()
    local out
    local op = one(function(_, _, i, o) o[1][1] = i[1] + 1 end, {
      make_node = function(self, v)
        out = v.type "out"
        return damo.Apply(self, { v }, { out })
      end,
    })
    local y = op(x)
    assert.is_true(rawequal(out, y))
    assert.equal("out", y.name)
    assert.same({ 2 }, (out * 1):eval({ [x] = { 1 } }):totable())
  end)

  it("is native where damo's own are", function()
    local y = damo.exp(x)
    local again = y.owner.op(damo.dscalar "s")
    assert.equal(0, again.ndim)
    assert.equal(y.owner.op, again.owner.op)
  end)
end)

describe("perform", function()
  it("sees read-only Arrays, 0-d ones too", function()
    local seen = {}
    local s = damo.dscalar "s"
    local op = one(function(_, node, i, o)
      seen.kind, seen.ndim, seen.writeable, seen.op = type(i[1]), i[1].ndim, i[1].writeable, node.op.name
      o[1][1] = i[1]:item() + 1
    end)
    assert.equal(3.0, damo.compile({ s }, op(s))(2))
    assert.same({ kind = "userdata", ndim = 0, writeable = false, op = "One" }, seen)
  end)

  it("has numbers converted for 0-d outputs", function()
    local f32 = damo.fscalar "s"
    local op = one(function(_, _, i, o) o[1][1] = i[1] * 2 end)
    local got = {}
    local probe = one(function(_, _, i, o) got[1] = i[1].dtype; o[1][1] = i[1] end)
    assert.equal(3.0, damo.compile({ f32 }, probe(op(f32)))(1.5))
    assert.equal("float32", got[1])
    assert.equal(4.0, damo.compile({ f32 }, one(function(_, _, _, o) o[1][1] = 4 end)(f32))(1))
    local n = damo.lscalar "n"
    failure("type", damo.compile({ n }, one(function(_, _, _, o) o[1][1] = 1.5 end)(n)), 1)
    failure("type", damo.compile({ n }, one(function(_, _, _, o) o[1][1] = true end)(n)), 1)
  end)

  it("gets the properties as params", function()
    local got
    local P = damo.Op { name = "P", props = { "a" }, make_node = same_type,
      perform = function(_, _, i, o, params) got = params; o[1][1] = i[1] + params.a end }
    assert.same({ 6 }, run(P { a = 5 }, { 1 }):totable())
    assert.same({ a = 5 }, got)
    run(one(function(_, _, i, o, params) got = params; o[1][1] = i[1] end), { 1 })
    assert.is_nil(got)
  end)

  it("must fill its outputs with values of their Type", function()
    local err = failure("value", run, one(function() end), { 1 })
    assert.equal("One: perform left output 1 empty", err.message)
    assert.equal("One", err.op)
    assert.equal("One", err.node.op.name)
    err = failure("type", run, one(function(_, _, _, o) o[1][1] = damo.array({ 1 }, "int32") end), { 1 })
    local expected = "put an Array of dtype int32 and shape (1,) into output 1, expected"
    assert.truthy(err.message:find(expected, 1, true), err.message)
    failure("type", run, one(function(_, _, _, o) o[1][1] = { 1 } end), { 1 })
    failure("type", run, one(function(_, _, _, o) o[1][1] = damo.zeros { 1, 1 } end), { 1 })
    failure("type", run, one(function(_, _, _, o) o[1][1] = 1.0 end), { 1 })
    failure("type", run, one(function(_, _, _, o) o[1] = 3 end), { 1 })
  end)

  it("may be missing until it runs", function()
    local op = damo.Op { name = "None", make_node = same_type }
    local y = op(x)
    assert.equal(x, y.owner.inputs[1])
    failure("not_implemented", function() return damo.compile({ x }, y)({ 1 }) end)
  end)

  it("may return its input, which is copied", function()
    local f = damo.compile({ x }, one(function(_, _, i, o) o[1][1] = i[1] end)(x))
    local a = damo.array { 1, 2 }
    local b = f(a)
    b[1] = 7
    assert.equal(1.0, a[1])
  end)
end)

describe("an error in a callback", function()
  it("arrives with its cause, Op, node and trace", function()
    local op = one(function() error { code = 42 } end)
    local y = op(x)
    local line = debug.getinfo(1, "l").currentline - 1
    local err = failure("callback", damo.compile({ x }, y), { 1 })
    assert.same({ code = 42 }, err.cause)
    assert.equal("One", err.op)
    assert.equal("One", err.node.op.name)
    assert.truthy(err.trace[1]:find("op_spec.lua:" .. line .. "$"), err.trace[1])
    err = failure("callback", run, one(function() error "lost" end), { 1 })
    assert.truthy(err.message:find("One: perform failed: .*lost"), err.message)
  end)

  it("keeps the kind of damo's errors", function()
    local err = failure("shape", run, one(function(_, _, i, o) o[1][1] = i[1] + damo.array { 1, 2, 3 } end), { 1, 2 })
    assert.equal("shape", err.cause.kind)
  end)

  it("does not change shared values, and leaves the Function usable", function()
    local bad = true
    local op = one(function(_, _, i, o)
      if bad then error "no" end
      o[1][1] = i[1]
    end)
    local s = damo.shared(1.0, "s")
    local f = damo.compile({ x }, op(x), { updates = { { s, s + 1 } } })
    failure("callback", f, { 1 })
    assert.equal(1.0, s:get_value())
    bad = false
    assert.same({ 5 }, f({ 5 }):totable())
    assert.equal(2.0, s:get_value())
  end)

  it("in make_node is like in the others", function()
    local plain = one(print, { make_node = function() error("plain", 0) end })
    local err = failure("callback", plain, x)
    assert.equal("One: make_node failed: plain", err.message)
    assert.same({ "One", "plain" }, { err.op, err.cause })
    local typed = one(print, { make_node = function() damo.raise("type", "expected a matrix") end })
    err = failure("type", typed, x)
    assert.equal("One: make_node failed: expected a matrix", err.message)
    assert.same({ "One", "type" }, { err.op, err.cause.kind })
    err = failure("type", one(print, { make_node = function() damo.raise("type", "One: no") end }), x)
    assert.equal("One: no", err.message) -- the message names the Op already
    local dots = one(print, { make_node = function(_, v) return damo.dot(v, damo.ones { 2, 2, 2 }).owner end })
    err = failure("shape", dots, damo.zeros { 3 })
    assert.equal("One", err.op)
  end)

  it("in get_params names get_params", function()
    local op = one(print, { params_type = { k = "float64" }, get_params = function() error("plain", 0) end })
    local err = failure("callback", damo.compile, { x }, op(x))
    assert.equal("One: get_params failed: plain", err.message)
    assert.same({ "One", "plain" }, { err.op, err.cause })
  end)

  it("of a wrong result names the callback", function()
    local err = failure("type", one(print, { make_node = function() return 3 end }), x)
    assert.equal("One: make_node must return an Apply, got number", err.message)
    failure("value", one(print, { make_node = function() return (x + 1).owner end }), x)
    local function grad_of(grad)
      return damo.grad(damo.sum(one(print, { grad = grad })(x)), x)
    end
    err = failure("type", grad_of, function() return 3 end)
    assert.truthy(err.message:find("One: grad must return a list with 1 gradients, got number", 1, true), err.message)
    err = failure("value", grad_of, function(_, i) return { i[1], i[1] } end)
    assert.truthy(err.message:find("One: grad must return a list with 1 gradients, got more", 1, true), err.message)
    failure("type", grad_of, function() return { 2 } end)
    failure("type", grad_of, function() return { damo.dmatrix() } end)
    failure("callback", grad_of, function() error "no" end)
  end)

  it("is clear when the callback yields", function()
    local op = one(function() coroutine.yield(1) end)
    local f = damo.compile({ x }, op(x))
    local co = coroutine.create(function() return f { 1 } end)
    local ok, err = coroutine.resume(co)
    assert.is_false(ok)
    assert.equal("callback", err.kind)
    assert.truthy(err.message:find "yield", err.message)
  end)
end)

describe("gradients of Lua Ops", function()
  it("may be L_op, which sees the outputs", function()
    local op = one(function(_, _, i, o) o[1][1] = damo.exp(i[1]) end,
      { L_op = function(_, _, outputs, gouts) return { outputs[1] * gouts[1] } end })
    damo.verify_grad(op, { damo.array { 0.5, -1 } })
  end)

  it("that are missing are not implemented", function()
    local op = one(function(_, _, i, o) o[1][1] = i[1] end)
    local err = failure("null_gradient", function() return damo.grad(damo.sum(op(x)), x) end)
    assert.truthy(err.message:find "not implemented", err.message)
  end)

  it("may be undefined, with the reason", function()
    local op = one(print, {
      grad = function(self, i) return { damo.grad_undefined(self, 1, i[1], "it is a secret") } end,
    })
    local err = failure("null_gradient", function() return damo.grad(damo.sum(op(x)), x) end)
    assert.truthy(err.message:find "it is a secret", err.message)
    local g = damo.grad(damo.sum(op(x)), x, { null_gradients = "return" })
    assert.equal("NullType", g.type.kind)
  end)

  it("may be disconnected: nil or DisconnectedType", function()
    for _, none in ipairs { function() return {} end, function() return { damo.DisconnectedType()() } end } do
      local op = one(print, { grad = none })
      local err = failure("disconnected_input", function() return damo.grad(damo.sum(op(x * 2)), x) end)
      assert.equal("grad: no gradient reaches x: that of " .. op.name
        .. " gave none for its input 1; it gives one for each input", err.message)
      assert.equal(op.name, err.op)
      err = failure("disconnected_input", damo.grad, damo.sum(op(x)), damo.dvector "other")
      assert.truthy(err.message:find("does not depend on other", 1, true), err.message)
    end
  end)

  it("respect connection_pattern", function()
    local asked
    local Pick = damo.Op {
      name = "Pick",
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] + 0 end,
      grad = function(_, _, g) asked = true; return { g[1] } end,
      connection_pattern = function() return { { true }, { false } } end,
    }
    local y = damo.dvector "y"
    local cost = damo.sum(Pick(x, y))
    assert.same({ 1 }, damo.grad(cost, x):eval({ [x] = { 1 }, [y] = { 1 } }):totable())
    assert.is_true(asked)
    failure("disconnected_input", damo.grad, cost, y)
  end)

  it("give errors of connection_pattern", function()
    local op = one(print, { grad = function(_, _, g) return g end, connection_pattern = function() return { {} } end })
    local err = failure("value", function() return damo.grad(damo.sum(op(x)), x) end)
    assert.truthy(err.message:find("connection_pattern must return", 1, true), err.message)
  end)

  it("have forward derivatives by R_op, or by two L_ops without one", function()
    local Scale = scale_class()
    local v = damo.dvector "v"
    local r = damo.Rop(Scale { factor = 3 }(x * x), x, v)
    assert.same({ 12 }, r:eval({ [x] = { 2 }, [v] = { 1 } }):totable())
    local n
    local op = one(function(_, _, i, o) o[1][1] = i[1] end, {
      R_op = function(_, _, eval_points)
        n = eval_points.n
        return { eval_points[1] * 5 }
      end,
    })
    assert.same({ 5 }, damo.Rop(op(x), x, v):eval({ [x] = { 2 }, [v] = { 1 } }):totable())
    assert.equal(1, n)
  end)
end)

describe("constant folding", function()
  local function op_with(folding)
    local calls = { 0 }
    local op = one(function(_, _, i, o) calls[1] = calls[1] + 1; o[1][1] = i[1] end, { do_constant_folding = folding })
    return op, calls
  end

  it("computes once by default", function()
    local op, calls = op_with(nil)
    local f = damo.compile({ x }, x + op(damo.constant { 1 }))
    f { 1 }
    f { 2 }
    assert.equal(1, calls[1])
  end)

  it("is skipped if the Op says so", function()
    for _, no in ipairs { false, function() return false end } do
      local op, calls = op_with(no)
      local f = damo.compile({ x }, x + op(damo.constant { 1 }))
      f { 1 }
      f { 2 }
      assert.equal(2, calls[1])
    end
  end)
end)

describe("destroy_map and view_map", function()
  it("are 1-based tables", function()
    local op = one(print, { destroy_map = { { 1 } }, view_map = { [1] = 1 } })
    assert.same({ { 1 } }, op.destroy_map)
    assert.same({ { 1 } }, op.view_map)
    failure("value", one, print, { destroy_map = { [0] = { 1 } } })
  end)

  it("let perform write to its input, without effect on the caller's", function()
    local op = one(function(_, _, i, o)
      i[1][1] = 99
      o[1][1] = i[1]
    end, { destroy_map = { { 1 } } })
    local f = damo.compile({ x }, op(x))
    local a = damo.array { 1, 2 }
    assert.same({ 99, 2 }, f(a):totable())
    assert.same({ 1, 2 }, a:totable())
  end)
end)

describe("Lua's collector", function()
  local function settle() return garbage.collect().objects end

  it("frees Ops whose closures hold their own output", function()
    local function cycle()
      local y
      local op = one(function(_, _, i, o) o[1][1] = y and i[1] end)
      y = op(damo.dvector "v")
      y.tag.self = y
    end
    cycle()
    local before = settle()
    for _ = 1, 200 do cycle() end
    assert.equal(before, settle())
  end)

  it("frees Functions with Lua Ops", function()
    local function cycle()
      local f
      local v = damo.dvector "v"
      f = damo.compile({ v }, one(function(_, _, i, o) o[1][1] = f and i[1] end)(v))
      f { 1 }
    end
    cycle()
    local before = settle()
    for _ = 1, 100 do cycle() end
    assert.equal(before, settle())
  end)

  it("keeps an Op that a compiled Function uses", function()
    local function make()
      local k = { 3 }
      return damo.compile({ x }, one(function(_, _, i, o) o[1][1] = i[1] * k[1] end)(x))
    end
    local f = make()
    settle()
    assert.same({ 6 }, f({ 2 }):totable())
  end)

  it("keeps an Op that a gradient holds", function()
    local function make()
      local inner = one(function(_, _, i, o) o[1][1] = i[1] * 7 end)
      local outer = one(function(_, _, i, o) o[1][1] = i[1] end, { grad = function(_, i) return { inner(i[1]) } end })
      return damo.grad(damo.sum(outer(x)), x)
    end
    local g = make()
    settle()
    assert.same({ 14 }, g:eval({ [x] = { 2 } }):totable())
  end)

  it("may run inside a call", function()
    local op = one(function(_, _, i, o)
      collectgarbage()
      o[1][1] = i[1] + 1
      collectgarbage()
    end)
    assert.same({ 3 }, run(op, { 2 }):totable())
  end)

  it("may drop a Function in the middle of its own call", function()
    local f
    local op = one(function(_, _, i, o)
      f = nil
      garbage.collect()
      o[1][1] = i[1] + 1
    end)
    f = damo.compile({ x }, op(op(x)))
    assert.same({ 4 }, f({ 2 }):totable())
  end)
end)

describe("coroutines", function()
  it("may call Functions with Lua Ops, nested in others", function()
    local inner = damo.compile({ x }, one(function(_, _, i, o) o[1][1] = i[1] + 1 end)(x))
    local op = one(function(_, _, i, o)
      local co = coroutine.wrap(function() coroutine.yield(inner(i[1])) end)
      o[1][1] = co()
    end)
    local f = damo.compile({ x }, op(op(x)))
    local co = coroutine.wrap(function() coroutine.yield(f { 1 }) end)
    assert.same({ 3 }, co():totable())
    assert.same({ 4 }, f({ 2 }):totable())
  end)
end)
