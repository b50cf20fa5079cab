-- Nested tables: damo.tree, and what takes and gives such tables of Variables.
local damo = require "damo"
local failure = require "spec.support.failure"

local tree = damo.tree

describe("damo.tree", function()
  it("walks integer keys, then sorted names", function()
    local t = { b = "b", a = { 2, 1, z = 0 }, [3] = "three", [-1] = "before", "one" }
    local list, def = tree.flatten(t)
    assert.same({ "before", "one", "three", 2, 1, 0, "b" }, list)
    assert.equal(7, def.n)
    assert.same(t, tree.unflatten(def, list))
    assert.same(list, tree.leaves(t))
    assert.equal("{[-1] = *, [1] = *, [3] = *, a = {*, *, z = *}, b = *}", tostring(def))
  end)

  it("takes anything but a plain table as a leaf", function()
    local a, x = damo.array { 1 }, damo.dvector "x"
    local object = setmetatable({ 1, 2 }, { __index = {} })
    assert.same({ a, x, object, print }, tree.leaves { a, { x, object }, print })
    assert.same({ 5 }, tree.leaves(5))
    assert.same({}, tree.leaves {})
    assert.same({ {}, { k = {} } }, tree.unflatten(select(2, tree.flatten { {}, { k = {} } }), {}))
    local named = damo.compile({ x }, { p = x, q = x * 2 }) { 1 }
    assert.equal(2, #tree.leaves(named))
  end)

  it("tells structures apart", function()
    local _, a = tree.flatten { 1, { x = 2 } }
    local _, b = tree.flatten { "p", { x = "q" } }
    local _, c = tree.flatten { 1, { y = 2 } }
    assert.is_true(a == b)
    assert.is_false(a == c)
    assert.is_false(a == select(2, tree.flatten { 1, 2 }))
  end)

  it("maps over one tree or several", function()
    assert.same({ 2, { k = 6 } }, tree.map(function(v) return 2 * v end, { 1, { k = 3 } }))
    assert.same({ 11, { k = 33 } }, tree.map(function(a, b) return a + b end, { 1, { k = 3 } }, { 10, { k = 30 } }))
    assert.same({ a = 2 }, tree.map(function(_, b) return #b end, { a = 1 }, { a = { "x", "y" } }))
    assert.same({ k = {} }, tree.map(function() return nil end, { 1, k = { 2 } }))
    assert.equal(4, tree.map(function(v) return v + 1 end, 3))
  end)

  it("says what is wrong", function()
    local around = { 1 }
    around.self = { around }
    assert.equal("tree.flatten: the table at self[1] contains itself", failure("value", tree.flatten, around).message)
    local shared = { 1 }
    assert.same({ 1, 1 }, tree.leaves { shared, shared })
    assert.equal("tree.leaves: the key true of a.b is neither an integer nor a name",
      failure("type", tree.leaves, { a = { b = { [true] = 1 } } }).message)
    failure("type", tree.leaves, { [1.5] = 1 })
    local _, def = tree.flatten { 1, 2 }
    failure("value", tree.unflatten, def, { 1 })
    failure("value", tree.unflatten, def, { 1, 2, 3 })
    failure("type", tree.unflatten, def, 3)
    failure("type", tree.unflatten, {}, { 1 })
    failure("type", tree.flatten, 1, 2)
    failure("type", tree.map, 3, { 1 })
    assert.equal("tree.map: argument 3 has no entry k.x",
      failure("value", tree.map, print, { k = { x = 1 } }, { k = {} }).message)
    assert.equal("tree.map: argument 4 has an entry [2] too many",
      failure("value", tree.map, print, { 1 }, { 1 }, { 1, 2 }).message)
    assert.equal("tree.map: argument 3 must have a table at k, got number",
      failure("value", tree.map, print, { k = { x = 1 } }, { k = 1 }).message)
  end)
end)

-- A network of two layers in nested tables, its loss, and its input.
local function network()
  local function layer(n, m, by)
    local list = {}
    for i = 1, n * m do list[i] = math.sin(i * by) end
    return { w = damo.shared(damo.reshape(damo.array(list), { n, m })), b = damo.shared(damo.zeros { m }) }
  end
  local params = { layers = { layer(2, 3, 1.3), layer(3, 1, 0.7) }, scale = damo.shared(1.5) }
  local x = damo.dmatrix "x"
  local h = x
  for _, l in ipairs(params.layers) do h = damo.tanh(damo.dot(h, l.w) + l.b) end
  return params, damo.mean(damo.sqr(h * params.scale - 0.5)), x
end

local input = damo.array { { 1, 2 }, { -1, 0.5 }, { 0, 1 } }

describe("nested tables of Variables", function()
  it("go through grad and the optimisers", function()
    local params, loss, x = network()
    local grads = damo.grad(loss, params)
    assert.same({ 2, 3 }, grads.layers[1].w:eval({ [x] = input }).shape)
    local flat = damo.grad(loss, damo.tree.leaves(params))
    local f = damo.compile({ x }, { grads, flat })
    local a, b = f(input)
    for i, v in ipairs(damo.tree.leaves(a)) do assert.is_true(damo.array_equal(v, b[i])) end
    for _, rule in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
      local p, cost, of = network()
      local step = damo.compile({ of }, cost, { updates = damo.optim[rule](p, damo.grad(cost, p), { lr = 0.02 }) })
      local before = step(input)
      for _ = 1, 20 do step(input) end
      assert.is_true(step(input) < before)
    end
    local err = failure("value", damo.optim.sgd, params, { layers = {}, scale = grads.scale })
    assert.equal("sgd: grads has no entry 'layers[1]'", err.message)
  end)

  it("go through the other derivatives", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local at = { [x] = { 1, 2 }, [y] = { 3, 4 } }
    local wrt = { of = { x, { y = y } } }
    local j = damo.jacobian(x * y, wrt)
    assert.same({ { 1, 0 }, { 0, 2 } }, j.of[2].y:eval(at):totable())
    local h = damo.hessian(damo.sum(x ^ 3 + y ^ 2), wrt)
    assert.same({ { 6, 0 }, { 0, 12 } }, h.of[1]:eval(at, { on_unused_input = "ignore" }):totable())
    local u = damo.constant { 1.0, 10.0 }
    local r = damo.Rop({ { out = x * y } }, wrt, { of = { u, { y = damo.zeros_like(y) } } })
    assert.same({ 3, 40 }, r[1].out:eval(at):totable())
    local l = damo.Lop({ { out = x * y } }, wrt, { { out = u } })
    assert.same({ 1, 20 }, l.of[2].y:eval(at, { on_unused_input = "ignore" }):totable())
    local p = damo.hessian_vector_product(damo.sum(x * x * y), wrt, { of = { u, { y = u } } })
    assert.same({ 8, 120 }, p.of[1]:eval(at):totable())
  end)

  it("are arguments and results of Functions", function()
    local x, w, b = damo.dvector "x", damo.dvector "w", damo.dscalar "b"
    local params = { layers = { { w = w, b = b } } }
    local loss = damo.sum((x * w + b) ^ 2)
    local f = damo.compile({ x, params }, { loss, damo.grad(loss, params) })
    local values = { layers = { { w = { 3, 4 }, b = 1 } } }
    for _, g in ipairs { f, f:copy() } do
      local cost, grads = g({ 1, 2 }, values)
      assert.equal(97, cost)
      assert.same({ 8, 36 }, grads.layers[1].w:totable())
      assert.equal(26, grads.layers[1].b)
    end
    local g = damo.compile({ x }, { list = { x, x * 2 }, sum = damo.sum(x) })
    assert.same({ 2, 4 }, g({ 1, 2 }).list[2]:totable())
    assert.equal(3, g:call({ { 1, 2 } }).sum)
    local k = damo.compile({ { a = x, b = damo.In(b, { value = 2 }) } }, x * b)
    assert.same({ 3, 6 }, k({ a = { 1, 2 }, b = 3 }):totable())
    local n = damo.compile({ { x, y = b } }, b, { on_unused_input = "ignore" })
    assert.equal(5, n { { 1 }, y = 5 })
  end)

  it("are checked when a Function is called", function()
    local x, b = damo.dvector "x", damo.dscalar "b"
    local f = damo.compile({ { k = { x = x } }, b }, damo.sum(x) + b, { name = "f" })
    assert.equal("f: input 1 has no entry k.x", failure("value", f, { k = {} }, 1).message)
    assert.equal("f: input 1 has an entry z too many", failure("value", f, { k = { x = { 1 } }, z = 1 }, 1).message)
    assert.equal("f: input 1 must be a table at k, got number", failure("type", f, { k = 3 }, 1).message)
    assert.equal("f: input 1 must be a table, got nil", failure("type", f).message)
    failure("type", damo.compile, { { 1, { x = x } } }, x)
    local around = { x = x }
    around.again = around
    failure("value", damo.compile, { around }, x)
    failure("type", damo.compile, { { k = { [x] = x } } }, x)
  end)

  it("go through verify_grad", function()
    damo.verify_grad(function(p, x) return damo.dot(p.layers[1].w, x) * p.scale end,
      { { layers = { { w = { { 1, 2 }, { 3, 4.5 } } } }, scale = 2.5 }, damo.array { 1, 2 } })
    damo.verify_grad(function(p) return p.a * p.b.c end, { a = { 1, 2.5 }, b = { c = damo.array { 2, 3 } } })
    failure("numeric", damo.verify_grad, function(p) return damo.disconnected_grad(p.a) * p.b end,
      { a = { 1, 2.5 }, b = { 2, 3.5 } })
  end)

  it("are written to files and read again", function()
    local path = os.tmpname()
    local file = path .. ".npz"
    local params = network()
    damo.io.save(file, { params = params, step = 7, ["a.b"] = { 1, 2 } })
    local t = damo.io.load(file)
    assert.is_true(damo.array_equal(t.params.layers[2].w, params.layers[2].w:get_value()))
    assert.equal(1.5, t.params.scale)
    assert.equal(7, t.step)
    assert.same({ 1, 2 }, t["a.b"]:totable())
    assert.same(damo.tree.flatten(tree.map(function() return 0 end, params)),
      damo.tree.flatten(tree.map(function() return 0 end, t.params)))
    damo.io.save(file, { params.scale, { params.scale } })
    assert.equal(1.5, damo.io.load(file)[2][1])
    damo.io.save(file, { a = 1, ["a/b"] = 2 }) -- a name that is both a branch and a leaf
    assert.equal(2, damo.io.load(file)["a/b"])
    failure("value", damo.io.save, file, { ["a/b"] = 1, a = { b = 2 } })
    failure("type", damo.io.save, file, { a = { b = print } })
    failure("type", damo.io.save, file, { 1, 2 })
    os.remove(path)
    os.remove(file)
  end)

  it("leave options where they were", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    assert.same({ 2, 2 }, damo.stack({ x, y }, { axis = 2 }):eval({ [x] = { 1, 2 }, [y] = { 3, 4 } }).shape)
  end)
end)
