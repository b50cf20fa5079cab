-- Gradients of maximum and minimum at ties: the first operand takes them.
local damo = require "damo"
local S = damo.sparse

local modes = { "FAST_RUN", "FAST_COMPILE", "DEBUG" }
local x, y = damo.dvector "x", damo.dvector "y"

local function totables(...)
  local out = {}
  for i, v in ipairs { ... } do out[i] = (S.is_sparse(v) and v:toarray() or v):totable() end
  return out
end

describe("at a tie", function()
  it("maximum and minimum give the gradient to the first operand", function()
    local expected = { maximum = { { 1, 0, 1 }, { 0, 1, 0 } }, minimum = { { 1, 1, 0 }, { 0, 0, 1 } } }
    for name, gradients in pairs(expected) do
      local r = damo[name](x, y)
      for _, mode in ipairs(modes) do
        local f = damo.compile({ x, y }, damo.grad(damo.sum(r), { x, y }), { mode = mode })
        assert.same(gradients, totables(f({ 1, 2, 3 }, { 1, 4, 2 })), name)
      end
    end
  end)

  it("of an operand with itself the gradient is that of the operand", function()
    for _, name in ipairs { "maximum", "minimum" } do
      local function fn(v) return damo[name](v, v) end
      damo.verify_grad(fn, { damo.array { 1, -2, 0 } })
      damo.verify_grad(function(v) return damo[name](damo.sin(v), damo.sin(v)) * v end, { damo.array { 1, -2, 0 } })
      for _, mode in ipairs(modes) do
        local f = damo.compile({ x }, { damo.grad(damo.sum(fn(x)), x), damo.Rop(fn(x), x, x) }, { mode = mode })
        assert.same({ { 1, 1 }, { 3, 4 } }, totables(f { 3, 4 }))
      end
    end
  end)

  it("sparse maximum and minimum do the same", function()
    local A, B = S.csr_matrix "A", S.csr_matrix "B"
    local a, b = S.csr { { 1, 0, -2 }, { 0, 5, 0 } }, S.csr { { 1, 0, 3 }, { 0, 4, 0 } }
    local weights = damo.array { { 2, 3, 4 }, { 5, 6, 7 } }
    for _, name in ipairs { "maximum", "minimum" } do
      local larger = name == "maximum"
      local function cost_of(m) return damo.sum(S.mul(m, weights)) end
      for _, mode in ipairs(modes) do
        local f = damo.compile({ A }, damo.grad(cost_of(S[name](A, A)), A), { mode = mode, on_unused_input = "ignore" })
        assert.same({ { 2, 0, 4 }, { 0, 6, 0 } }, f(a):toarray():totable(), name)
        local both = damo.compile({ A, B }, damo.grad(cost_of(S[name](A, B)), { A, B }), { mode = mode })
        local first = { { 2, 0, larger and 0 or 4 }, { 0, larger and 6 or 0, 0 } }
        local second = { { 0, 0, larger and 4 or 0 }, { 0, larger and 0 or 6, 0 } }
        assert.same({ first, second }, totables(both(a, b)), name)
      end
    end
  end)

  it("structured_maximum and structured_minimum do the same", function()
    local A, s = S.csr_matrix "A", damo.dscalar "s"
    local a = S.csr { { 1, 0, -2 }, { 0, 5, 0 } }
    for name, expected in pairs { structured_maximum = { { { 1, 0, 0 }, { 0, 1, 0 } }, 1 },
      structured_minimum = { { { 1, 0, 1 }, { 0, 0, 0 } }, 1 } } do
      local cost = damo.sum(S.csm_data(S[name](A, s)))
      for _, mode in ipairs(modes) do
        local g, of_s = damo.compile({ A, s }, damo.grad(cost, { A, s }), { mode = mode })(a, 1)
        assert.same(expected, { g:toarray():totable(), of_s }, name)
      end
    end
  end)

  it("the extreme along an axis gives it to every tied entry, as PyTensor's", function()
    for _, name in ipairs { "max", "min" } do
      local f = damo.compile({ x }, damo.grad(damo[name](x), x))
      assert.same({ 1, 0, 1 }, f(damo.array(name == "max" and { 2, 1, 2 } or { 1, 2, 1 })):totable())
      local A = S.csr_matrix "A"
      local g = damo.compile({ A }, damo.grad(damo.sum(S[name](A, { axis = 2 })), A))
      local sign = name == "max" and 1 or -1
      assert.same({ { 1, 0, 1 } }, g(S.csr { { 2 * sign, sign, 2 * sign } }):toarray():totable())
    end
  end)
end)
