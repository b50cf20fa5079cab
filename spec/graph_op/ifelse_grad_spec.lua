-- Derivatives of ifelse: the gradient for each branch has that branch's shape, whichever is taken.
local damo = require "damo"
local S = damo.sparse

local modes = { "FAST_RUN", "FAST_COMPILE", "DEBUG" }
local c = damo.iscalar "c"
local x, y = damo.dvector "x", damo.dvector "y"

local function compiled(inputs, outputs, mode)
  return damo.compile(inputs, outputs, { mode = mode, on_unused_input = "ignore" })
end

local function totables(...)
  local out = {}
  for i, v in ipairs { ... } do out[i] = (S.is_sparse(v) and v:toarray() or v):totable() end
  return out
end

-- Derivatives of cost(args) with respect to the dense args from the second on, by central differences.
local function differences(cost, args)
  local out = {}
  for i = 2, #args do
    local list, slope = args[i]:totable(), {}
    for k, v in ipairs(list) do
      local function at(h)
        local moved = {}
        for j, a in ipairs(args) do moved[j] = a end
        list[k] = v + h
        moved[i] = damo.array(list)
        list[k] = v
        return cost(table.unpack(moved))
      end
      slope[k] = (at(1e-6) - at(-1e-6)) / 2e-6
    end
    out[i - 1] = slope
  end
  return out
end

local function check(cost, args)
  for _, mode in ipairs(modes) do
    local f = compiled({ c, x, y }, cost, mode)
    local g = compiled({ c, x, y }, damo.grad(cost, { x, y }), mode)
    for _, taken in ipairs { 1, 0 } do
      args[1] = taken
      local expected = differences(f, args)
      for i, v in ipairs { g(table.unpack(args)) } do
        assert.same({ #args[i + 1] }, v.shape, mode)
        assert.is_true(damo.allclose(v, damo.array(expected[i]), { atol = 1e-7 }), mode)
      end
    end
  end
end

describe("the gradient of ifelse", function()
  it("has the shape of its own branch", function()
    check(damo.sum(damo.ifelse(c, x, y)), { 1, damo.array { 1, 2, 3 }, damo.array { 1, 2 } })
    check(damo.sum(damo.sqr(damo.ifelse(c, damo.exp(x), y))), { 1, damo.array { 1, 2, 3 }, damo.array { 1, 2 } })
  end)

  it("goes through several results", function()
    local a, b = damo.ifelse(c, { x, y }, { y, x })
    check(damo.sum(damo.sqr(a)) + damo.sum(b ^ 3), { 1, damo.array { 1, 2, 3 }, damo.array { 1, 2 } })
  end)

  it("can be used in a training step whose branches differ in length", function()
    for _, length in ipairs { 1, 2 } do
      local w = damo.shared(damo.ones { length }, "w", { shape = { length } })
      local loss = damo.sum(damo.sqr(damo.ifelse(c, w, y)))
      local step = damo.compile({ c, y }, loss, { updates = { [w] = w - 0.25 * damo.grad(loss, w) } })
      step(0, { 1, 2, 3 })
      assert.equal(1, w:get_value()[1])
      step(1, { 1, 2, 3 })
      assert.same({ length }, w:get_value().shape)
      assert.equal(0.5, w:get_value()[1])
    end
  end)

  it("has a second derivative", function()
    local p = damo.dvector "p"
    local cost = damo.sum(damo.ifelse(c, x ^ 3, y ^ 2))
    local gx, gy = table.unpack(damo.grad(cost, { x, y }))
    local hx, hy = damo.grad(damo.sum(gx * p), x), damo.grad(damo.sum(gy), y)
    for _, mode in ipairs(modes) do
      local f = compiled({ c, x, y, p }, { hx, hy }, mode)
      assert.same({ { 6, 24 }, { 0 } }, totables(f(1, { 1, 2 }, { 5 }, { 1, 2 })))
      assert.same({ { 0, 0 }, { 2 } }, totables(f(0, { 1, 2 }, { 5 }, { 1, 2 })))
    end
  end)

  it("has forward derivatives of the shape of the branch taken", function()
    local t = damo.dvector "t"
    local one, both = damo.Rop(damo.ifelse(c, x * x, y), x, t), damo.Rop(damo.ifelse(c, x, y), { x, y }, { t, y })
    for _, mode in ipairs(modes) do
      local f = compiled({ c, x, y, t }, { one, both }, mode)
      assert.same({ { 2, 4 }, { 1, 1 } }, totables(f(1, { 1, 2 }, { 1, 2, 3 }, { 1, 1 })))
      assert.same({ { 0, 0, 0 }, { 1, 2, 3 } }, totables(f(0, { 1, 2 }, { 1, 2, 3 }, { 1, 1 })))
    end
  end)

  it("of sparse branches has their shapes, and may have another format", function()
    local A, B = S.csr_matrix "A", S.csr_matrix "B"
    local a, b = S.csr { { 1, 0 }, { 2, 3 } }, S.csr { { 0, 1, 0 }, { 2, 0, 0 }, { 0, 0, 4 } }
    local taken = damo.ifelse(c, A, B)
    local costs = {
      dense = damo.sum(S.dense_from_sparse(taken) ^ 2),
      structured = damo.sum(S.sqr(taken)),
      other_format = damo.sum(S.sqr(taken:tocsc())),
      transposed = damo.sum(S.sqr(S.transpose(taken))),
    }
    for name, cost in pairs(costs) do
      for _, mode in ipairs(modes) do
        local f = compiled({ c, A, B }, damo.grad(cost, { A, B }), mode)
        assert.same({ { { 2, 0 }, { 4, 6 } }, { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } } }, totables(f(1, a, b)), name)
        assert.same({ { { 0, 0 }, { 0, 0 } }, { { 0, 2, 0 }, { 4, 0, 0 }, { 0, 0, 8 } } }, totables(f(0, a, b)), name)
      end
    end
  end)

  it("propagates sparse tangents, of either format", function()
    local A, B, dB = S.csr_matrix "A", S.csr_matrix "B", S.csc_matrix "dB"
    local r = damo.Rop(damo.sum(damo.ifelse(c, A, B)), B, dB)
    local a, b = S.csr { { 1, 0 }, { 2, 3 } }, S.csr { { 0, 1, 0 } }
    for _, mode in ipairs(modes) do
      local f = compiled({ c, A, B, dB }, r, mode)
      assert.equal(0.0, f(1, a, b, b:tocsc()))
      assert.equal(1.0, f(0, a, b, b:tocsc()))
    end
  end)

  it("takes sparse branches of two index dtypes", function()
    local A, B = S.csr_matrix("A", { itype = "int64" }), S.csr_matrix "B"
    local taken = damo.ifelse(c, A, B)
    local f = compiled({ c, A, B }, { taken, damo.grad(damo.sum(S.sqr(taken)), B) }, "DEBUG")
    local a, b = S.csr { { 1, 0 }, { 2, 3 } }, S.csr { { 0, 1, 0 } }
    local value, g = f(0, a, b)
    assert.equal("int64", value.itype)
    assert.same({ { { 0, 1, 0 } }, { { 0, 2, 0 } } }, totables(value, g))
  end)

  it("is floatX for integer branches", function()
    local i, j = damo.ivector "i", damo.ivector "j"
    local g = damo.grad(damo.sum(damo.ifelse(c, i, j) * 0.5), { i, j })
    for _, mode in ipairs(modes) do
      local f = compiled({ c, i, j }, g, mode)
      assert.same({ { 0.5, 0.5 }, { 0 } }, totables(f(1, { 1, 2 }, { 3 })))
      assert.same({ { 0, 0 }, { 0.5 } }, totables(f(0, { 1, 2 }, { 3 })))
    end
  end)
end)
