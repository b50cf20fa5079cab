-- Tables of Variables by name: derivatives and optimisers.
local damo = require "damo"
local failure = require "spec.support.failure"

local function linear()
  local w, b = damo.shared(damo.array { 1, 2 }), damo.shared(3.0)
  local x = damo.dvector "x"
  return { w = w, b = b }, damo.sum(damo.sqr(w * x + b)), x
end

describe("grad by name", function()
  it("gives a table with the same names", function()
    local p, cost, x = linear()
    local g = damo.grad(cost, p)
    local names = {}
    for name in pairs(g) do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "b", "w" }, names)
    local list = damo.grad(cost, { p.w, p.b })
    local f = damo.compile({ x }, { w = g.w, b = g.b, first = list[1], second = list[2] })
    local values = f { 1, 1 }
    assert.same({ 8, 10 }, values.w:totable())
    assert.equal(18.0, values.b)
    assert.same(values.first:totable(), values.w:totable())
    assert.equal(values.second, values.b)
    assert.same({ 8, 10 }, damo.compile({ x }, g)({ 1, 1 }).w:totable())
    assert.same({ 8, 10 }, damo.grad(cost, { wrt = p.w }).wrt:eval({ [x] = { 1, 1 } }):totable())
    for _, name in ipairs { "w", "b" } do
      damo.verify_grad(function(v)
        return damo.grad(damo.sum(v ^ 3), { [name] = v })[name]
      end, { damo.array { 1, 2 } })
    end
  end)

  it("takes grad's options", function()
    local p, cost = linear()
    p.z = damo.dvector "z"
    failure("disconnected_input", damo.grad, cost, p)
    local g = damo.grad(cost, p, { disconnected_inputs = "ignore", return_disconnected = "none" })
    assert.is_nil(g.z)
    assert.is_not_nil(g.w)
  end)

  it("makes the same graph each time", function()
    local function text()
      local p, cost, x = {}, 0, damo.dvector "x"
      for i = 1, 20 do
        p["p" .. i] = damo.shared(1.0 * i, "p" .. i)
        cost = cost + p["p" .. i] * i
      end
      local updates = damo.optim.adam(p, damo.grad(damo.sum(cost * x) ^ 2.0, p))
      local names = {}
      for i, pair in ipairs(updates) do names[i] = pair[1].name end
      local f = damo.compile({ x }, cost, { updates = updates, on_unused_input = "ignore" })
      return table.concat(names, " ") .. damo.printing.debugprint(f, { file = "str" })
    end
    local first = text()
    assert.equal(first, text())
    assert.truthy(first:find("^adam_step p1_mean p1_square p1 p10_mean"))
  end)

  it("refuses anything but a table of Variables", function()
    local p, cost = linear()
    local err = failure("type", damo.grad, cost, { w = p.w, rate = 0.5 })
    assert.equal("grad: entry 'rate' of wrt must be a Variable, got number", err.message)
    err = failure("type", damo.grad, cost, { layers = { { w = p.w, f = print } } })
    assert.equal("grad: entry 'layers[1].f' of wrt must be a Variable, got function", err.message)
    err = failure("type", damo.grad, cost, { w = p.w, [p.b] = p.b })
    assert.truthy(err.message:find("is neither an integer nor a name", 1, true))
    local around = { w = p.w }
    around.again = { around }
    err = failure("value", damo.grad, cost, around)
    assert.equal("grad: the table at again[1] contains itself", err.message)
    assert.same({}, damo.grad(cost, {}))
  end)
end)

describe("other derivatives by name", function()
  local x, y = damo.dvector("x", { shape = { 2 } }), damo.dvector("y", { shape = { 2 } })
  local u = damo.constant { 1.0, 10.0 }
  local at = { [x] = { 1, 2 }, [y] = { 3, 4 } }
  local function value(v) return v:eval(at, { on_unused_input = "ignore" }):totable() end

  it("Lop and Rop", function()
    local g = damo.Lop(x * y, { a = x, b = y }, u)
    assert.same({ { 3, 40 }, { 1, 20 } }, { value(g.a), value(g.b) })
    g = damo.Lop({ p = x * y, q = x + y }, x, { p = u, q = u })
    assert.same({ 4, 50 }, value(g))
    local r = damo.Rop(x * y, { a = x, b = y }, { b = u, a = damo.zeros_like(u) })
    assert.same({ 1, 20 }, value(r))
    r = damo.Rop({ p = x * y, q = x + 0 * y }, { x, y }, { u, u })
    assert.same({ { 4, 60 }, { 1, 10 } }, { value(r.p), value(r.q) })
    local err = failure("value", damo.Rop, x * y, { a = x, b = y }, { a = u })
    assert.equal("Rop: eval_points has no entry 'b'", err.message)
    err = failure("value", damo.Rop, x * y, { a = x }, { a = u, c = u })
    assert.equal("Rop: eval_points has an entry 'c' too many", err.message)
    failure("value", damo.Rop, x * y, { a = x }, u)
    failure("value", damo.Lop, { x * y }, { a = x }, { p = u })
  end)

  it("jacobian, hessian and its product", function()
    local j = damo.jacobian(x * y, { a = x, b = y })
    assert.same({ { 3, 0 }, { 0, 4 } }, value(j.a))
    assert.same({ { 1, 0 }, { 0, 2 } }, value(j.b))
    local h = damo.hessian(damo.sum(x ^ 3 + y ^ 2), { a = x, b = y })
    assert.same({ { 6, 0 }, { 0, 12 } }, value(h.a))
    assert.same({ { 2, 0 }, { 0, 2 } }, value(h.b))
    local p = damo.hessian_vector_product(damo.sum(x * x * y), { a = x, b = y }, { a = u, b = u })
    assert.same({ { 8, 120 }, { 2, 40 } }, { value(p.a), value(p.b) })
    assert.same({ { 6, 24 } }, { value(damo.hessian_vector_product(damo.sum(x ^ 3), x, x)) }) -- along wrt itself
    assert.same({ 6, 120 }, value(damo.hessian_vector_product(damo.sum(x ^ 3), x, u)))
  end)
end)

describe("an optimiser by name", function()
  for _, name in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
    it(name .. " makes the same steps as with lists", function()
      local x = damo.array { 0.5, -1 }
      local results = {}
      for i, named in ipairs { true, false } do
        local p, cost, input = linear()
        local params = named and p or { p.b, p.w }
        local updates = damo.optim[name](params, damo.grad(cost, params), { lr = 0.01 })
        local step = damo.compile({ input }, cost, { updates = updates })
        local start = step(x)
        for _ = 1, 30 do step(x) end
        assert.is_true(step(x) < start)
        results[i] = { p.b:get_value(), p.w:get_value():totable() }
      end
      assert.same(results[2], results[1])
    end)

    it(name .. " tells what does not fit", function()
      local p, cost = linear()
      local g = damo.grad(cost, p)
      local optimiser = damo.optim[name]
      assert.equal(name .. ": grads has no entry 'w'", failure("value", optimiser, p, { b = g.b }).message)
      failure("value", optimiser, p, { g.b, g.w })
      failure("value", optimiser, { p.b, p.w }, g)
      failure("value", optimiser, { p.b, w = p.w }, g)
      local err = failure("type", optimiser, { w = damo.dvector "v" }, { w = g.w })
      assert.equal(name .. ": parameter 'w' must be a shared Variable, got v", err.message)
      err = failure("type", optimiser, { w = 3 }, { w = g.w })
      assert.equal(name .. ": entry 'w' of params must be a Variable, got number", err.message)
    end)
  end
end)
