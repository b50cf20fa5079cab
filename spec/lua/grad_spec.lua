-- Gradients from Lua.
local damo = require "damo"
local failure = require "spec.support.failure"

local x, y = damo.dvector "x", damo.dvector "y"
local at = { [x] = { 1, 2 }, [y] = { 3, 4 } }
local function list(v) return v:eval(at):totable() end

describe("grad", function()
  it("gives one Variable for one, a list for a list", function()
    local cost = damo.sum(x * y)
    assert.same({ 3, 4 }, list(damo.grad(cost, x)))
    local g = damo.grad(cost, { x, y })
    assert.equal(2, #g)
    assert.same({ 1, 2 }, list(g[2]))
  end)

  it("has the input's dtype and rank", function()
    local m = damo.fmatrix "m"
    local g = damo.grad(damo.sum(m * damo.dmatrix "d"), m)
    assert.equal("float32", g.dtype)
    assert.equal(2, g.ndim)
  end)

  it("requires a scalar cost", function()
    failure("type", damo.grad, x, x)
    failure("type", damo.grad, 3, x)
    failure("type", damo.grad, damo.sum(x))
    failure("type", damo.grad, damo.sum(x), { 3 })
    failure("value", damo.grad, nil, x)
  end)

  it("refuses inputs that the cost does not depend on, by default", function()
    local err = failure("disconnected_input", damo.grad, damo.sum(x), y)
    assert.truthy(err.message:find "y", err.message)
    assert.same({ 0, 0 }, list(damo.grad(damo.sum(x), y, { disconnected_inputs = "ignore" })))
    local g = damo.grad(damo.sum(x), { x, y }, { disconnected_inputs = "ignore", return_disconnected = "none" })
    assert.is_nil(g[2])
    g = damo.grad(damo.sum(x), y, { disconnected_inputs = "ignore", return_disconnected = "disconnected" })
    assert.equal(damo.DisconnectedType(), g.type)
  end)

  it("names the gradients of a named cost with respect to a named Variable", function()
    local f, z = damo.sum(damo.sqr(x) * y), damo.dvector()
    assert.is_nil(damo.grad(f, x).name)
    f.name = "f"
    local gx, gy = table.unpack(damo.grad(f, { x, y }))
    assert.same({ "(df/dx)", "(df/dy)" }, { gx.name, gy.name })
    assert.truthy(damo.printing.debugprint(gx, { file = "str" }):find("'(df/dx)'", 1, true))
    assert.truthy(damo.printing.pprint(gx):find("x", 1, true))
    local none = { disconnected_inputs = "ignore" }
    assert.equal("(df/dx)", damo.grad(f, x, { consider_constant = { x } }).name)
    local h = damo.sum(z * x)
    h.name = "h"
    assert.is_nil(damo.grad(h, z).name)
    assert.equal("(dh/dy)", damo.grad(h, y, none).name)
    -- the user's Variable keeps its name; one used for several gradients gets none
    local known = damo.constant { 1, 1 }
    assert.is_nil(damo.grad(nil, x, { known_grads = { [x] = known } }).name)
    assert.is_nil(known.name)
    local s, t = damo.dscalar "s", damo.dscalar "t"
    local u = s + t
    u.name = "u"
    local gs, gt = table.unpack(damo.grad(u, { s, t }))
    assert.equal(gs == gt and "shared" or "own", gs.name and "own" or "shared")
    assert.equal("(du/ds)", damo.grad(u, s).name)
  end)

  it("starts from known gradients", function()
    local z = x * x
    assert.same({ 20, 40 }, list(damo.grad(nil, x, { known_grads = { [z] = damo.constant { 10, 10 } } })))
    local disconnected = damo.DisconnectedType()()
    local a, b = damo.dscalar "a", damo.dscalar "b"
    local sum = a + b
    local err = failure("disconnected_input", damo.grad, sum, { a, b }, { known_grads = { [sum] = disconnected } })
    assert.truthy(err.message:find("a", 1, true))
    failure("disconnected_input", damo.grad, nil, x, { known_grads = { [z] = disconnected } })
    local g = damo.grad(damo.sum(z * y), { x, y }, { known_grads = { [z] = disconnected },
      disconnected_inputs = "ignore" })
    assert.same({ 0, 0 }, list(g[1]))
    assert.same({ 1, 4 }, list(g[2]))
    local null = damo.grad_undefined(nil, 1, x, "why")
    failure("null_gradient", damo.grad, nil, x, { known_grads = { [z] = null } })
  end)

  it("stops at consider_constant", function()
    local z = x * y
    assert.same({ 3, 8 }, list(damo.grad(damo.sum(z * x), x, { consider_constant = { z } })))
    assert.same({ 3, 8 }, list(damo.grad(damo.sum(damo.consider_constant(z) * x), x)))
    local a, b = damo.dscalar "a", damo.dscalar "b"
    local values = { [a] = 2, [b] = 3 }
    assert.equal(3.0, damo.grad(a * b, a, { consider_constant = { a } }):eval(values, { on_unused_input = "ignore" }))
    local c = a * b
    local of_c, of_a = table.unpack(damo.grad(c * a, { c, a }, { consider_constant = { c } }))
    assert.equal(2.0, of_c:eval(values, { on_unused_input = "ignore" }))
    assert.equal(6.0, of_a:eval(values))
    failure("disconnected_input", damo.grad, c, a, { consider_constant = { c } })
  end)

  it("checks its options", function()
    local err = failure("value", damo.grad, damo.sum(x), x, { disconected_inputs = "warn" })
    assert.equal("grad: unknown option 'disconected_inputs', did you mean 'disconnected_inputs'?", err.message)
    err = failure("value", damo.grad, damo.sum(x), x, { disconnected_inputs = "warm" })
    assert.equal("grad: option 'disconnected_inputs' can't be 'warm', did you mean 'warn'?", err.message)
  end)
end)

describe("Lop and Rop", function()
  it("weight the derivatives", function()
    assert.same({ 20, 80 }, list(damo.Lop(x * x, x, damo.constant { 10, 20 })))
    assert.same({ 2, 8 }, list(damo.Rop(x * x, x, damo.constant { 1, 2 })))
    local rs = damo.Rop({ x * y, y }, { x, y }, { damo.constant { 1, 0 }, damo.constant { 0, 1 } })
    assert.same({ 3, 2 }, list(rs[1]))
    assert.same({ 0, 1 }, list(rs[2]))
  end)

  it("give zeros for outputs that are connected but do not vary", function()
    local v, n = damo.dvector "v", damo.lvector "n"
    local floor = damo.cast(damo.floor(x), "int32")
    for _, f in ipairs { damo.zero_grad(x), damo.exp(damo.zero_grad(x)), damo.gt(x, 1), floor, damo.floor(x) } do
      local r = damo.Rop(f, x, v)
      assert.equal("float64", r.dtype)
      assert.same({ 0, 0 }, r:eval({ [x] = { 1, 2 }, [v] = { 1, 1 } }, { on_unused_input = "ignore" }):totable())
    end
    assert.same({ 0, 0 }, damo.Rop(n + 1, n, v):eval({ [n] = damo.array({ 1, 2 }, "int64"), [v] = { 1, 1 } },
      { on_unused_input = "ignore" }):totable())
    local A, dA = damo.sparse.csr_matrix "A", damo.sparse.csr_matrix "dA"
    local a = damo.sparse.csr { { 1, 0 }, { 0, 2 } }
    local still = damo.Rop(damo.zero_grad(A), A, dA):eval({ [A] = a, [dA] = a }, { on_unused_input = "ignore" })
    assert.equal(0, still.nnz)
    failure("disconnected_input", damo.Rop, damo.sparse.gt(A, A), A, dA) -- as damo.grad has it
  end)

  it("refuse an output that is not connected, by default", function()
    local v = damo.dvector "v"
    for _, f in ipairs { y * 2, damo.disconnected_grad(x), damo.cast(x.shape[1], "float64") } do
      local err = failure("disconnected_input", damo.Rop, { x * 2, f }, x, v)
      assert.truthy(err.message:find("Rop: output 2", 1, true), err.message)
      local options = { disconnected_outputs = "ignore" }
      local zeros = damo.Rop({ x * 2, f }, x, v, options)[2]
      assert.equal(f.ndim, zeros.ndim)
      options.return_disconnected = "none"
      assert.is_nil(damo.Rop(f, x, v, options))
      options.return_disconnected = "disconnected"
      assert.equal(damo.DisconnectedType(), damo.Rop(f, x, v, options).type)
    end
    local kinds, before = {}, damo.config.on_warning
    damo.config.on_warning = function(kind) kinds[#kinds + 1] = kind end
    damo.Rop(y * 2, x, v, { disconnected_outputs = "warn" })
    damo.config.on_warning = before
    assert.same({ "disconnected_input" }, kinds)
    local err = failure("value", damo.Rop, y, x, v, { disconnected_inputs = "ignore" })
    assert.truthy(err.message:find("disconnected_outputs", 1, true), err.message)
  end)

  it("agree with each other", function()
    local u, v = damo.constant { 0.3, 0.7 }, damo.constant { -1.0, 2.0 }
    local f = damo.tanh(x) * damo.sum(x)
    local forward = damo.dot(damo.Rop(f, x, v), u):eval(at)
    local backward = damo.dot(damo.Lop(f, x, u), v):eval(at)
    assert.near(forward, backward, 1e-12)
  end)
end)

describe("jacobian and hessian", function()
  local p = damo.dvector("p", { shape = { 2 } })
  it("are matrices", function()
    assert.same({ { 2, 0 }, { 0, 4 } }, damo.jacobian(p * p, p):eval({ [p] = { 1, 2 } }):totable())
    assert.same({ { 0, 1 }, { 1, 0 } }, damo.hessian(p[1] * p[2], p):eval({ [p] = { 1, 2 } }):totable())
  end)

  it("are of vectors of any length", function()
    local v, A = damo.dvector "v", damo.sparse.csr_matrix "A"
    local values = { [A] = damo.sparse.csr { { 1, 0, 2 }, { 0, 3, 0 } }, [v] = { 1, 2, 3 } }
    local ignore = { on_unused_input = "ignore" }
    assert.same({ { 1, 0, 2 }, { 0, 3, 0 } }, damo.jacobian(damo.sparse.dot(A, v), v):eval(values, ignore):totable())
    assert.same({ { 6, 0 }, { 0, 12 } }, damo.hessian(damo.sum(v ^ 3), v):eval({ [v] = { 1, 2 } }):totable())
    local known = damo.jacobian(damo.specify_shape(2 * v, { 2 }), v)
    assert.same({ { 2, 0 }, { 0, 2 } }, known:eval({ [v] = { 1, 2 } }):totable())
    A = damo.sparse.csr_matrix("A", { shape = { 2, 3 } })
    values = { [A] = damo.sparse.csr { { 1, 0, 2 }, { 0, 3, 0 } }, [v] = { 1, 2, 3 } }
    assert.same({ { 1, 0, 2 }, { 0, 3, 0 } },
      damo.jacobian(damo.sparse.dot(A, 1 * v), v):eval(values, ignore):totable())
  end)

  it("of a sparse matrix are taken with respect to the vector of its values", function()
    local A, v = damo.sparse.csr_matrix("A", { shape = { 2, 2 } }), damo.dvector "v"
    local message = failure("type", damo.jacobian, damo.sum(A * A, { axis = 2 }), A).message
    assert.equal("jacobian: a sparse gradient for each entry makes no matrix: where wrt is damo.sparse.CSR(x, indices, "
      .. "indptr, shape) of a vector x, the derivatives by x are one", message)
    A = damo.sparse.CSR(v, { 0, 1, 0 }, { 0, 2, 3 }, { 2, 2 })
    assert.same({ { 2, 4, 0 }, { 0, 0, 6 } },
      damo.jacobian(damo.sum(A * A, { axis = 2 }), v):eval({ [v] = { 1, 2, 3 } }):totable())
  end)

  it("have a product without the matrix", function()
    local v = damo.constant { 1.0, 3.0 }
    assert.same({ 3, 1 }, damo.hessian_vector_product(p[1] * p[2], p, v):eval({ [p] = { 1, 2 } }):totable())
  end)
end)

describe("verify_grad", function()
  it("accepts a right gradient", function()
    damo.verify_grad(function(a, b) return damo.tanh(a) * b end, { damo.array { 0.5, -1 }, damo.array { 2, 3 } })
    damo.verify_grad(function(a) return damo.exp(a) end, { 0.3 })
  end)

  it("does not perturb integers", function()
    local values = { damo.array { 2, 0.5 }, damo.array({ 2, 1 }, "int64") }
    damo.verify_grad(function(v, k) return v[k] * k end, values)
    damo.verify_grad(function(v, k) return damo.sin(v * k) end, values)
  end)

  it("names the worst entry of a wrong one", function()
    local Wrong = damo.Op {
      name = "Wrong",
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] * damo.array { 1, 5 } end,
      grad = function(_, _, g) return { g[1] } end,
    }
    local err = failure("numeric", damo.verify_grad, Wrong, { damo.array { 1, 2 } })
    assert.truthy(err.message:find "input 1, entry 2", err.message)
  end)
end)
