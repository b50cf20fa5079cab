-- grad, L_op, R_op, connection_pattern; null and disconnected gradients.
local damo = require "damo"
local failure = require "spec.support.failure"

local x, y = damo.dvector "x", damo.dvector "y"

local function one(more)
  local def = { name = "One", make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
    perform = function(_, _, i, o) o[1][1] = i[1] * 2 end }
  for k, v in pairs(more) do def[k] = v end
  return damo.Op(def)
end

local function grad_of(grad, v) return damo.grad(damo.sum(one { grad = grad }(v or x)), v or x) end

describe("the results of grad", function()
  it("are checked for count, kind and rank", function()
    failure("type", grad_of, function() return 3 end)
    failure("value", grad_of, function(_, i) return { i[1], i[1] } end)
    failure("type", grad_of, function() return { 2 } end)
    local err = failure("type", grad_of, function() return { damo.dmatrix() } end)
    assert.equal("One", err.op)
  end)

  it("get the dtype of the input, floatX for integers", function()
    assert.equal("float64", grad_of(function() return { damo.fvector() } end).dtype)
    local n = damo.lvector "n"
    local op = damo.Op { name = "Int",
      make_node = function(self, v) return damo.Apply(self, { v }, { damo.dvector() }) end,
      grad = function(_, i) return { damo.zeros_like(i[1]) } end }
    assert.equal("float64", damo.grad(damo.sum(op(n)), n).dtype)
  end)
end)

describe("L_op", function()
  it("sees the outputs, and falls back on grad", function()
    local exp = one { perform = function(_, _, i, o) o[1][1] = damo.exp(i[1]) end,
      L_op = function(_, _, outputs, gouts) return { outputs[1] * gouts[1] } end }
    damo.verify_grad(exp, { damo.array { 0.5, -1 } })
    local twice = one { grad = function(_, _, g) return { g[1] * 2 } end }
    local out = twice(x)
    local g = twice:L_op({ x }, { out }, { y })
    assert.same({ 6 }, g[1]:eval({ [y] = { 3 } }):totable())
  end)
end)

describe("R_op", function()
  local mul = damo.Op { name = "Mul",
    make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
    perform = function(_, _, i, o) o[1][1] = i[1] * i[2] end,
    R_op = function(_, i, eval)
      assert.equal(2, eval.n)
      local r
      if eval[1] then r = eval[1] * i[2] end
      if eval[2] then r = r and r + i[1] * eval[2] or i[1] * eval[2] end
      return { r }
    end }
  local v = damo.dvector "v"
  local values = { [x] = { 2 }, [y] = { 5 }, [v] = { 10 } }

  it("may lack evaluation points", function()
    assert.same({ 50 }, damo.Rop(mul(x, y), x, v):eval(values):totable())
    assert.same({ 20 }, damo.Rop(mul(x, y), y, v):eval(values):totable())
    assert.same({ 70 }, damo.Rop(mul(x, y), { x, y }, { v, v }):eval(values):totable())
  end)

  it("may return nothing for an output, which is then disconnected", function()
    local f = one { R_op = function() return {} end }(x)
    failure("disconnected_input", damo.Rop, f, x, v)
    failure("disconnected_input", damo.Rop, damo.exp(f), x, v)
    assert.is_nil(damo.Rop(f, x, v, { disconnected_outputs = "ignore", return_disconnected = "none" }))
  end)

  it("is checked", function()
    failure("value", function() damo.Rop(one { R_op = function() return { x, x } end }(x), x, v) end)
    failure("type", function() damo.Rop(one { R_op = function() return { damo.dmatrix() } end }(x), x, v) end)
    failure("type", function() damo.Rop(one { R_op = function() return 3 end }(x), x, v) end)
  end)

  it("by two L_ops follows a gradient that is computed from another one", function()
    local product = damo.Op { name = "Product",
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] * i[2] end,
      grad = function(_, i, g)
        local first = g[1] * i[2]
        return { first, first * i[1] / i[2] }
      end }
    assert.same({ 70 }, damo.Rop(product(x, y), { x, y }, { v, v }):eval(values):totable())
  end)

  it("falls back on two L_ops", function()
    local twice = one { grad = function(_, _, g) return { g[1] * 2 } end }
    assert.same({ 20 }, damo.Rop(twice(x), x, v):eval(values):totable())
    local r = twice:R_op({ x }, v) -- one Variable for one input
    assert.same({ 20 }, r[1]:eval(values):totable())
    r = damo.mul(x, y).owner.op:R_op({ x, y }, { nil, v })
    assert.same({ 20 }, r[1]:eval(values):totable())
  end)
end)

describe("connection_pattern", function()
  it("prunes what is disconnected", function()
    local op = damo.Op { name = "Pick",
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] + 0 end,
      grad = function(_, _, g) return { g[1] } end,
      connection_pattern = function(_, node) return { { true }, { #node.inputs == 1 } } end }
    local cost = damo.sum(op(x, y))
    assert.same({ 1 }, damo.grad(cost, x):eval({ [x] = { 1 }, [y] = { 1 } }):totable())
    failure("disconnected_input", damo.grad, cost, y)
    assert.same({ { true }, { false } }, op:connection_pattern(op(x, y).owner))
  end)
end)

describe("a gradient that does not exist", function()
  local secret = one { grad = function(self, i) return { damo.grad_undefined(self, 1, i[1], "it is a secret") } end }

  it("keeps its reason through products", function()
    local cost = damo.sum(damo.exp(3 * secret(x * 2)) * 2)
    local err = failure("null_gradient", damo.grad, cost, x)
    local why = "the gradient of One for its input 1 is undefined: it is a secret"
    assert.truthy(err.message:find(why, 1, true), err.message)
    local g = damo.grad(cost, x, { null_gradients = "return" })
    assert.truthy(g.type.why:find "it is a secret")
  end)

  it("names the missing argument", function()
    for _, name in ipairs { "grad_undefined", "grad_not_implemented" } do
      for got, arguments in pairs {
        nothing = { nil, n = 1 }, ["nil"] = { secret, nil, x, "why", n = 4 }, string = { secret, "1" },
        number = { nil, 1.5 },
      } do
        local err = failure("type", damo[name], table.unpack(arguments, 1, arguments.n or #arguments))
        assert.equal(name .. ": argument 2 (i) must be the position of an input, got " .. got, err.message)
      end
      local why = damo[name](nil, 2).type.why
      assert.equal("the gradient of nil for its input 2 is " .. name:sub(6):gsub("_", " "), why)
    end
  end)

  it("can't be compiled: the error has the reason", function()
    local null = damo.grad_undefined("One", 1, x, "a secret")
    for _, call in ipairs {
      function() damo.compile({}, null) end,
      function() damo.compile({ x }, null) end,
      function() damo.compile({ x }, { x, null }, { mode = "DEBUG" }) end,
      function() return damo.grad(damo.sum(secret(x)), x, { null_gradients = "return" }):eval { [x] = { 1 } } end,
    } do
      local err = failure("null_gradient", call)
      assert.truthy(err.message:find("secret", 1, true), err.message)
    end
    failure("null_gradient", damo.graph.FunctionGraph, {}, { null })
    failure("disconnected_input", damo.compile, {}, damo.DisconnectedType()())
  end)

  it("has a position among the inputs", function()
    for _, name in ipairs { "grad_undefined", "grad_not_implemented" } do
      local exp, add = damo.exp(x).owner.op, damo.add(x, x).owner.op
      local typed = damo.Op { name = "Typed", itypes = { x.type, x.type }, otypes = { x.type } }
      for _, case in ipairs { { secret, 0 }, { nil, 0 }, { secret, -1 }, { exp, 2 }, { add, 3 }, { typed, 3 } } do
        local err = failure("index", damo[name], case[1], case[2], x)
        local start = name .. ": argument 2 (i) must be the position of an input"
        assert.equal(start, err.message:sub(1, #start))
      end
      local function message(...) return failure("index", damo[name], ...).message end
      assert.matches("input, from 1 to 2, got 3", message(add, 3, x), 1, true)
      assert.matches("input, from 1 on, got 0", message(nil, 0, x), 1, true)
      assert.matches("got 4294967296", message(exp, 2 ^ 32, x), 1, true)
      assert.truthy(damo[name](add, 2, x).type.why:find("input 2", 1, true))
      assert.truthy(damo[name](typed, 2, x).type.why:find("input 2", 1, true))
    end
  end)

  it("names the Op and the line of its node", function()
    local S, A = damo.sparse, damo.sparse.csr_matrix "A"
    local line
    local function draw()
      line = debug.getinfo(1, "l").currentline + 1
      local drawn = S.poisson(A)
      return drawn
    end
    local drawn = draw()
    local counts = S.multinomial(damo.constant(damo.array({ 3 }, "int64")), A)
    for op, cost in pairs { Poisson = damo.sum(S.toarray(drawn) * 2), Multinomial = damo.sum(S.toarray(counts)),
      Bare = damo.sum(one { name = "Bare" }(x)) } do
      local err = failure("null_gradient", damo.grad, cost, op == "Bare" and x or A)
      assert.equal(op, err.op)
      assert.truthy(err.message:find(op, 1, true), err.message)
      assert.is_not_nil(err.node)
      if op == "Poisson" then assert.truthy(tostring(err):find("grad_spec.lua:" .. line, 1, true), tostring(err)) end
    end
  end)

  it("may be not implemented", function()
    local op = one { grad = function(self, i) return { damo.grad_not_implemented(self, 1, i[1], "later") } end }
    local err = failure("null_gradient", damo.grad, damo.sum(op(x)), x)
    assert.truthy(err.message:find("not implemented: later", 1, true), err.message)
    err = failure("null_gradient", damo.grad, damo.sum(one {}(x)), x)
    assert.truthy(err.message:find "not implemented", err.message)
  end)

  it("makes a sum undefined", function()
    failure("null_gradient", damo.grad, damo.sum(secret(x) + x), x)
  end)
end)

describe("disconnected inputs", function()
  local cost = damo.sum(one { grad = function() return { damo.DisconnectedType()() } end }(x))

  it("raise, warn, or are ignored", function()
    failure("disconnected_input", damo.grad, cost, x)
    local got
    local before = damo.config.on_warning
    damo.config.on_warning = function(kind) got = kind end
    damo.grad(cost, x, { disconnected_inputs = "warn" })
    damo.config.on_warning = before
    assert.equal("disconnected_input", got)
  end)

  it("are zero, none or disconnected", function()
    local function ask(how)
      return damo.grad(cost, { x }, { disconnected_inputs = "ignore", return_disconnected = how })[1]
    end
    assert.same({ 0, 0 }, ask "zero":eval({ [x] = { 1, 2 } }):totable())
    assert.is_nil(ask "none")
    assert.equal(damo.DisconnectedType(), ask "disconnected".type)
  end)
end)

describe("Rop", function()
  it("goes through abs and angle of complex numbers", function()
    local z, dz = damo.zvector "z", damo.zvector "dz"
    local at = damo.complex(damo.array { 0.3, -1.2, 2 }, damo.array { 0.7, 0.4, -0.5 })
    local along = damo.complex(damo.array { 0.2, 0.9, -1.1 }, damo.array { -0.3, 0.8, 0.6 })
    for _, name in ipairs { "abs", "angle" } do
      local result = damo[name](z)
      local f = damo.compile({ z }, result)
      local step = 1e-6
      local differences = (f(at + along * step) - f(at - along * step)) / (2 * step)
      local got = damo.Rop(result, z, dz):eval { [z] = at, [dz] = along }
      assert.equal("float64", got.dtype)
      assert.is_true(damo.allclose(got, differences, { rtol = 1e-8 }), name)
      -- reverse mode agrees: <w, R v> = Re <L w, v>
      local w = damo.dvector "w"
      local back = damo.Lop(result, z, w):eval { [z] = at, [w] = damo.array { 1, 1, 1 } }
      local inner = damo.real(damo.sum(damo.conj(back) * along))
      assert.is_true(math.abs(inner - damo.sum(got)) < 1e-12)
    end
  end)

  it("has no term for what is flat, which costs nothing when it runs", function()
    local points, centres = damo.dmatrix "points", damo.dmatrix "centres"
    local near = damo.sum(centres ^ 2, { axis = 2 }) - 2 * damo.dot(points, centres.T)
    local slope = damo.grad(damo.sum(damo.min(near, { axis = 2 })), centres)
    local f = damo.compile({ points, centres }, damo.Rop(slope, centres, damo.ones_like(centres)))
    for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_nil(tostring(node.op):find "^Gemm") end
    -- twice the number of points that are nearest to the centre
    assert.same({ { 4, 4 }, { 2, 2 } }, f(damo.array { { 0, 0 }, { 0, 1 }, { 5, 5 } },
      damo.array { { 0, 0.5 }, { 5, 4 } }):totable())
    assert.same({ 0, 0 }, damo.Rop(damo.floor(x), x, y):eval { [x] = damo.array { 1.5, 2 }, [y] = damo.array { 1, 1 } }
      :totable())
  end)
end)
