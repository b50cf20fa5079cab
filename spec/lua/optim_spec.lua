-- Optimisers: each finds the minimum of a quadratic, and one step is that of the textbook.
local damo = require "damo"

local function bowl()
  local p = damo.shared({ 3, -2 }, "p")
  return p, damo.sum(damo.sqr(p - damo.array { 1, 1 }))
end

local rates = { sgd = { lr = 0.1 }, momentum = { lr = 0.05 }, rmsprop = { lr = 0.05 }, adam = { lr = 0.1 } }
for name, options in pairs(rates) do
  describe("damo.optim." .. name, function()
    it("finds a minimum", function()
      local p, cost = bowl()
      local step = damo.compile({}, cost, { updates = damo.optim[name]({ p }, damo.grad(cost, { p }), options) })
      for _ = 1, 500 do step() end
      assert.is_true(step() < 1e-2, ("cost %g"):format(step()))
    end)

    it("refuses unknown options", function()
      local p, cost = bowl()
      local ok, err = pcall(damo.optim[name], { p }, damo.grad(cost, { p }), { learning = 1 })
      assert.is_false(ok)
      assert.equal("value", err.kind)
      ok, err = pcall(damo.optim[name], { p }, {})
      assert.is_false(ok)
      assert.equal("value", err.kind)
    end)
  end)
end

describe("one step", function()
  it("of sgd subtracts lr times the gradient", function()
    local p, cost = bowl()
    damo.compile({}, nil, { updates = damo.optim.sgd({ p }, damo.grad(cost, { p }), { lr = 0.5 }) })()
    assert.same({ 1, 1 }, p:get_value():totable())
  end)

  it("of adam has length lr at first", function()
    local p, cost = bowl()
    damo.compile({}, nil, { updates = damo.optim.adam({ p }, damo.grad(cost, { p }), { lr = 0.25 }) })()
    local v = p:get_value()
    assert.near(2.75, v[1], 1e-6)
    assert.near(-1.75, v[2], 1e-6)
  end)

  it("keeps float32", function()
    local p = damo.shared(damo.array({ 3, -2 }, "float32"), "p")
    local cost = damo.sum(damo.sqr(p))
    for _, name in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
      damo.compile({}, nil, { updates = damo.optim[name](p, damo.grad(cost, p)) })()
      assert.equal("float32", p:get_value().dtype)
    end
  end)
end)

describe("wrong arguments of an optimiser", function()
  local failure = require "spec.support.failure"
  local p = damo.shared(damo.zeros { 2 }, "p")
  local g = damo.grad(damo.sum(p * p), p)

  it("are type errors that name the function", function()
    assert.matches("^sgd: expected a list of shared Variables", failure("type", damo.optim.sgd, 3, { g }).message)
    local number = failure("type", damo.optim.adam, { 1 }, { g })
    assert.matches("^adam: parameter 1 must be a shared Variable", number.message)
    assert.matches("^sgd: options must be a table", failure("type", damo.optim.sgd, { p }, { g }, 0.1).message)
  end)
end)
