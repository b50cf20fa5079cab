-- Jacobians and Hessians of any rank and length, by one vectorised pass or by chunks.
local damo = require "damo"
local failure = require "spec.support.failure"

local unpack = table.unpack or unpack -- luacheck: ignore

local function array(v) return type(v) == "userdata" and v or damo.array(v) end

-- Jacobians by central differences: entry (i…, k…) is d f_i / d x_k.
local function differences(f, args, k)
  local x = array(args[k])
  local list, columns = damo.ravel(x):totable(), {}
  for i = 1, #list do
    local sides = {}
    for s, h in ipairs { 1e-5, -1e-5 } do
      local moved = {}
      for j, v in ipairs(list) do moved[j] = v end
      moved[i] = moved[i] + h
      local a = { unpack(args) }
      a[k] = damo.reshape(damo.array(moved), x.shape)
      sides[s] = array(f(unpack(a)))
    end
    columns[i] = damo.ravel((sides[1] - sides[2]) / 2e-5)
  end
  local shape = array(f(unpack(args))).shape
  for _, d in ipairs(x.shape) do shape[#shape + 1] = d end
  return damo.reshape(damo.stack(columns, { axis = 2 }), shape)
end

local function loops(v)
  local n = 0
  for _, node in ipairs(damo.graph.toposort { v }) do
    if tostring(node.op):match "^Scan" then n = n + 1 end
  end
  return n
end

local cases = {
  { name = "vector by vector", shapes = { { 3 } }, fn = function(x) return damo.tanh(x) * damo.sum(x) end },
  { name = "matrix by matrix", shapes = { { 2, 3 } }, fn = function(x) return damo.dot(x, damo.transpose(x)) * 2 end },
  { name = "vector by matrix and vector", shapes = { { 4, 3 }, { 3 } },
    fn = function(A, x) return damo.softmax(damo.dot(A, x)) end },
  { name = "vector by number", shapes = { {} }, fn = function(x) return damo.stack { x, x * x, damo.exp(x) } end },
  { name = "long vector by short one", shapes = { { 2 } },
    fn = function(x) return damo.concatenate { x * x, damo.exp(x), damo.cumsum(x) } end },
  { name = "matrix by short vector", shapes = { { 2 } }, fn = function(x) return damo.outer(damo.exp(x), x * x) end },
  { name = "parts and reductions", shapes = { { 4, 2 } }, fn = function(x)
    return damo.concatenate { damo.max(x, { axis = 1 }), x[2], damo.prod(x, { axis = 2 }), damo.var(x, { axis = 1 }) }
  end },
  { name = "a loop", shapes = { { 3 }, {} }, fn = function(x, y)
    return damo.scan(function(xi, s) return damo.tanh(s * y + xi) end, { sequences = x,
      outputs_info = damo.constant(0.5) })
  end },
  { name = "what does not move", shapes = { { 3 } }, fn = function(x) return damo.zeros_like(x) + damo.sgn(x) end },
}

describe("the Jacobian of", function()
  for _, case in ipairs(cases) do
    for _, known in ipairs { true, false } do
      it(case.name .. (known and " of known lengths" or " of any length"), function()
        local inputs, args = {}, {}
        for i, shape in ipairs(case.shapes) do
          local open, n = {}, 1
          for k, d in ipairs(shape) do
            open[k] = known and d or false
            n = n * d
          end
          inputs[i] = damo.tensor("x" .. i, { dtype = "float64", shape = open })
          local list = {}
          for k = 1, n do list[k] = math.sin(k * 1.7 + i) + 0.1 end
          args[i] = #shape > 0 and damo.reshape(damo.array(list), shape) or list[1]
        end
        local out = case.fn(unpack(inputs))
        local f = damo.compile(inputs, out)
        for _, chunk in ipairs { false, 1, 2, 100 } do
          local js = damo.jacobian(out, inputs, { chunk = chunk or nil })
          for k, j in ipairs(js) do
            local value = array(damo.compile(inputs, j, { on_unused_input = "ignore" })(unpack(args)))
            local expected = differences(f, args, k)
            assert.same(expected.shape, value.shape)
            assert.is_true(damo.allclose(value, expected, { atol = 1e-7, rtol = 1e-6 }), tostring(value))
          end
        end
      end)
    end
  end
end)

describe("jacobian", function()
  it("goes forward where wrt is shorter, and in one pass where that fits", function()
    local x = damo.vector("x", { shape = { 2 } })
    local y = damo.vector("y", { shape = { 100 } })
    local wide = damo.jacobian(damo.concatenate { damo.exp(x[1] * y), damo.sin(y * x[2]) }, x)
    assert.equal(0, loops(wide))
    assert.same({ 200, 2 }, wide.type.shape)
    local seeds = {}
    for _, v in ipairs(damo.graph.graph_inputs { wide }) do
      if v.ndim == 2 then seeds[#seeds + 1] = v.type.shape[1] end
    end
    assert.same({ 2 }, seeds)
    assert.equal(1, loops(damo.jacobian(damo.tanh(y), y, { chunk = 30 })))
    assert.equal(0, loops(damo.jacobian(damo.tanh(y), y, { chunk = 100 })))
  end)

  it("takes chunks that keep values small", function()
    local x = damo.vector("x", { shape = { 50 } })
    local c = damo.shared(damo.linspace(0, 1, 30000))
    local c_known = damo.specify_shape(c, { shape = { 30000 } })
    for _, input in ipairs { x, damo.dvector "u" } do
      local j = damo.jacobian(damo.sum(damo.tanh(damo.outer(input, c_known)), { axis = 2 }), input)
      assert.equal(1, loops(j))
      local f = damo.compile({ input }, j, { profile = true, mode = damo.Mode { exclude = { "fusion" } } })
      local v = f(damo.ones { 50 })
      assert.same({ 50, 50 }, v.shape)
      assert.is_true(f.profile.peak < 400e6, tostring(f.profile.peak))
    end
  end)

  it("has derivatives of its own", function()
    local x = damo.dvector "x"
    for _, chunk in ipairs { false, 2 } do
      local j = damo.jacobian(x * x * x, x, { chunk = chunk or nil })
      local g = damo.grad(damo.sum(j), x)
      assert.is_true(damo.allclose(damo.compile({ x }, g) { 1, 2, 3 }, damo.array { 6, 12, 18 }))
      local jj = damo.compile({ x }, damo.jacobian(j, x)) { 1, 2, 3 }
      assert.same({ 3, 3, 3 }, jj.shape)
      assert.near(12, jj[{ 2, 2, 2 }], 1e-12)
      assert.near(24, damo.sum(jj) - jj[{ 2, 2, 2 }], 1e-12)
    end
  end)

  it("takes the options of grad", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    failure("disconnected_input", damo.jacobian, damo.exp(x), y)
    local zeros = damo.jacobian(damo.exp(x), y, { disconnected_inputs = "ignore" })
    local f = damo.compile({ x, y }, zeros, { on_unused_input = "ignore" })
    assert.same({ { 0, 0 }, { 0, 0 }, { 0, 0 } }, f({ 1, 2, 3 }, { 1, 2 }):totable())
    assert.is_nil(damo.jacobian(damo.exp(x), y, { disconnected_inputs = "ignore", return_disconnected = "none" }))
    local e = damo.exp(x)
    local j = damo.jacobian(e * x, x, { consider_constant = { e } })
    assert.is_true(damo.allclose(damo.compile({ x }, j) { 0, 1 }, damo.array { { 1, 0 }, { 0, math.exp(1) } }))
    local k, l = damo.vector("k", { shape = { 2 } }), damo.vector("l", { shape = { 3 } })
    failure("disconnected_input", damo.jacobian, damo.exp(l), k)
    local none = damo.jacobian(damo.exp(l), k, { disconnected_inputs = "ignore" })
    assert.same({ 3, 2 }, damo.compile({ k, l }, none, { on_unused_input = "ignore" })({ 1, 2 }, { 1, 2, 3 }).shape)
  end)

  it("refuses what has none", function()
    local x = damo.dvector "x"
    failure("type", damo.jacobian, damo.lvector "i", x)
    failure("type", damo.jacobian, damo.zvector "z", x)
    failure("type", damo.jacobian, damo.sparse.csr_matrix "A", x)
    failure("value", damo.jacobian, x, x, { chunk = 0 })
    failure("value", damo.jacobian, x, x, { chunk = 1.5 })
    failure("type", damo.jacobian, x, x, { chunk = "a" })
    failure("type", damo.jacobian, x, x, 3)
    failure("value", damo.jacobian, x, x, { chunks = 3 })
  end)

  it("is of float32 where f is", function()
    local x = damo.fvector "x"
    local j = damo.compile({ x }, damo.jacobian(x * x, x))(damo.array({ 1, 2 }, "float32"))
    assert.equal("float32", j.dtype)
    assert.same({ { 2, 0 }, { 0, 4 } }, j:totable())
  end)

  it("of nothing is empty", function()
    local x = damo.dvector "x"
    assert.same({ 0, 0 }, damo.compile({ x }, damo.jacobian(x * x, x))(damo.zeros { 0 }).shape)
  end)
end)

describe("hessian", function()
  it("is of any rank and length", function()
    local x, X, s = damo.dvector "x", damo.dmatrix "X", damo.dscalar "s"
    local h = damo.compile({ x }, damo.hessian(damo.sum(damo.sin(x)) * damo.sum(x), x))
    local function gradient(v) return damo.compile({ x }, damo.grad(damo.sum(damo.sin(x)) * damo.sum(x), x))(v) end
    assert.is_true(damo.allclose(h { 1, 2, 3 }, differences(gradient, { { 1, 2, 3 } }, 1), { atol = 1e-7 }))
    local hX = damo.compile({ X }, damo.hessian(damo.sum(X * X * X), X)) { { 1, 2 }, { 3, 4 } }
    assert.same({ 2, 2, 2, 2 }, hX.shape)
    assert.equal(18, hX[{ 2, 1, 2, 1 }])
    assert.equal(60, damo.sum(hX))
    assert.equal(12, damo.compile({ s }, damo.hessian(s ^ 3, s))(2))
    local hc = damo.compile({ x }, damo.hessian(damo.sum(x ^ 3) + x[1] * x[2], x, { chunk = 2 })) { 1, 2, 3 }
    assert.same({ { 6, 1, 0 }, { 1, 12, 0 }, { 0, 0, 18 } }, hc:totable())
  end)

  it("of a linear function is zero", function()
    local x = damo.dvector "x"
    assert.same({ { 0, 0 }, { 0, 0 } }, damo.compile({ x }, damo.hessian(damo.sum(2 * x), x)) { 1, 2 }:totable())
  end)
end)
