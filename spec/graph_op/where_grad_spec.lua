-- The derivatives of where and ifelse: what the branch not taken would give takes no part, be it nan or infinite.
local damo = require "damo"

local where, sum = damo.where, damo.sum
local modes = { "FAST_RUN", "FAST_COMPILE", damo.Mode { optimizer = "none" }, "DEBUG", "NANGUARD" }
local x, v = damo.dvector "x", damo.dvector "v"

local function compiled(outputs, mode)
  return damo.compile({ x, v }, outputs, { mode = mode, on_unused_input = "ignore" })
end

local function same(want, got, what)
  assert.is_true(damo.allclose(want, got, { rtol = 1e-12, atol = 1e-12, equal_nan = true }),
    what .. ": " .. tostring(got) .. " in place of " .. tostring(want))
end

-- First and second derivatives of y, in reverse and forward mode, along v.
local function derivatives(y)
  local g = damo.grad(sum(y), x)
  return { g, damo.Rop(y, x, v), damo.grad(sum(g * v), x), damo.Rop(g, x, v) }
end

-- y has the derivatives of `tricked` at the point, where the branch not taken is given an operand of its domain.
local function agrees(name, y, tricked, point)
  local at, dir = damo.array(point), damo.array { 0.5, 2, -1, 1 }
  local want = { compiled(derivatives(tricked), "FAST_COMPILE")(at, dir) }
  for k = 1, 4 do assert.is_true(damo.all(damo.isclose(want[k], want[k])), name) end
  for i, mode in ipairs(modes) do
    for k, d in ipairs(derivatives(y)) do
      same(want[k], compiled(d, mode)(at, dir), ("%s, derivative %d, mode %d"):format(name, k, i))
    end
  end
end

describe("the gradient of where", function()
  local point = { 4, -1, 0, 2.5 }

  it("leaves out a function of the branch not taken", function()
    local functions = {
      sqrt = damo.sqrt,
      log = function(a) return a * damo.log(a) end,
      log2 = function(a) return damo.log2(a) + damo.log1p(-1 / a) end,
      reciprocal = function(a) return 1 / a + damo.reciprocal(a) end,
      power = function(a) return a ^ 0.3 end,
      ["power of a root"] = function(a) return 2 ^ damo.sqrt(a) + a ^ a end,
      arctan2 = function(a) return damo.arctan2(a, damo.sqrt(a)) end,
      hypot = function(a) return damo.hypot(damo.log(a), damo.sqrt(a)) end,
      abs = function(a) return damo.abs(damo.log(a)) end,
      clip = function(a) return damo.clip(damo.log(a), 0.1, 1) end,
      maximum = function(a) return damo.maximum(damo.sqrt(a), damo.log(a)) + damo.minimum(damo.sqrt(a), 1.9) end,
      cast = function(a) return damo.cast(damo.sqrt(damo.cast(a, "float32")), "float64") end,
      arccosh = function(a) return damo.arccosh(1 + a) end,
      gammaln = function(a) return damo.gammaln(a) end,
      complex = function(a) return damo.abs(damo.log(damo.complex(damo.sqrt(a), a))) end,
    }
    for name, f in pairs(functions) do
      local c = damo.gt(x, 0)
      local safe = where(c, x, 0.5)
      agrees(name, where(c, f(x), 0), where(c, f(safe), 0), point)
      agrees(name .. ", otherwise", where(damo.le(x, 0), x * x, f(x)), where(c, f(safe), x * x), point)
    end
  end)

  it("goes through conditions of conditions", function()
    local c, d = damo.gt(x, 0), damo.gt(x, 3)
    local safe = where(c, x, 0.5)
    local function nested(a)
      local root = damo.sqrt(a)
      return where(c, where(d, root, damo.log(a)) + where(d, 0, damo.log(root)) * where(d, root, 2), x)
    end
    agrees("nested", nested(x), nested(safe), point)
    local function shared(a) return where(c, damo.sqrt(a), 0) + where(d, damo.sqrt(a), 0) end
    local function twice(a) local t = damo.sqrt(a); return where(c, t, 0) + where(d, t * t, 0) end
    agrees("side by side", shared(x), shared(safe), point)
    agrees("a value with two uses", twice(x), twice(safe), point)
  end)

  it("goes through broadcasting, sums and moved entries", function()
    local c = damo.gt(x, 0)
    local safe = where(c, x, 0.5)
    local m = damo.constant(damo.array { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } })
    local none = damo.gt(sum(x), 100)
    local function rows(a) return where(c, m * damo.log(a), 0) end
    local function groups(a)
      return where(damo.stack { c, c }, damo.sqrt(damo.stack { a, 2 * a }), 0)
    end
    local function moved(a)
      local t = damo.transpose(damo.reshape(damo.log(a), { 2, 2 }))
      return where(damo.gt(damo.transpose(damo.reshape(x, { 2, 2 })), 0), t, 0)
    end
    local function cut(a) return where(c[{ { 2, 4 } }], damo.sqrt(a)[{ { 2, 4 } }], 0) end
    local function taken(a) return where(damo.take(c, { 3, 1, 1 }), damo.take(damo.log(a), { 3, 1, 1 }), 0) end
    local function joined(a)
      return where(damo.concatenate { c, c }, damo.concatenate { damo.log(a), damo.sqrt(a) }, 0)
    end
    for name, f in pairs { rows = rows, groups = groups, moved = moved, cut = cut, taken = taken, joined = joined } do
      agrees(name, f(x), f(safe), point)
    end
    -- a scalar: nothing is left of its derivative, whatever it would be
    local function zero(name, y, at)
      local dir = damo.array { 0.5, 2, -1, 1 }
      for i, mode in ipairs(modes) do
        for k, d in ipairs(derivatives(y)) do
          local value = compiled(d, mode)(damo.array(at), dir)
          assert.is_true(damo.all(damo.eq(value, 0)), ("%s, derivative %d, mode %d"):format(name, k, i))
        end
      end
    end
    local norm = damo.sqrt(sum(x * x))
    zero("norm", where(damo.gt(norm, 0), norm, 0), { 0, 0, 0, 0 })
    zero("unit vector", where(damo.gt(norm, 0), x / norm, 0), { 0, 0, 0, 0 })
    zero("sum of logarithms", where(none, sum(damo.log(x)), 0), { 0, 1, 0, 2 })
    zero("product", where(none, damo.prod(damo.sqrt(x)) + damo.max(damo.sqrt(x)), 0), { 0, 1, 0, 2 })
    zero("log of a sum of exponentials", where(none, damo.logsumexp(damo.log(x)), 0), { 0, 1, 0, 2 })
    zero("dot", where(none, damo.dot(damo.sqrt(x), damo.log(x)), 0), { 0, 1, 0, 2 })
    zero("softmax", where(none, damo.softmax(damo.stack { x, damo.log(x) }, { axis = 1 }), 0), { 0, 1, 0, 2 })
    zero("a broadcast scalar", where(damo.gt(x, 100), damo.sqrt(sum(x)), 0), { 0, 0, 0, 0 })
  end)

  it("leaves out rows", function()
    local m = damo.dmatrix "m"
    local norm = damo.sqrt(sum(m * m, { axis = 2, keepdims = true }))
    local logs = sum(damo.log(m), { axis = 2 })
    local running = damo.cumsum(damo.sqrt(m), { axis = 2 })
    local soft = damo.softmax(damo.log(m), { axis = 2 })
    local used = damo.gt(damo.transpose(m)[1], 0)
    local columns = damo.dimshuffle(used, { 1, "x" })
    for _, y in ipairs { where(damo.gt(norm, 0), m / norm, 0), where(used, logs, 0), where(columns, running, 0),
      where(columns, soft * m, 0) } do
      local g, full = damo.grad(sum(damo.sqr(y)), m), damo.array { { 3, 4 }, { 0, 0 }, { 1, 2 } }
      local want = damo.compile({ m }, g, { mode = "FAST_COMPILE" })(damo.array { { 3, 4 }, { 5, 6 }, { 1, 2 } })
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
        local got = damo.compile({ m }, g, { mode = mode })(full)
        same(want[1], got[1], "a row that is used")
        same(want[3], got[3], "a row that is used")
        same(damo.zeros { 2 }, got[2], "a row that is not")
      end
    end
  end)

  it("leaves out rows and columns of products", function()
    local m, w, k = damo.dmatrix "m", damo.dvector "w", damo.dmatrix "k"
    local row = damo.gt(damo.transpose(m)[1], 0) -- rows whose logarithm may be taken
    local rows = damo.dimshuffle(row, { 1, "x" })
    local function safe(a) return damo.log(where(rows, a, 1)) end
    local function both(f) return f(damo.log(m)), f(safe(m)) end
    local values = { damo.array { { 1, 2, 3 }, { -1, 0, 2 }, { 4, 1, 1 } }, damo.array { 1, -2, 3 },
      damo.array { { 1, 2 }, { -1, 1 }, { 0.5, 2 } } }
    local function agree_here(what, y, tricked)
      for _, wrt in ipairs { m, w, k } do
        local options = { disconnected_inputs = "ignore" }
        local function all(out)
          local g = damo.grad(sum(damo.sqr(out)), wrt, options)
          local r = damo.Rop(out, { m, w, k }, { damo.ones_like(m), damo.ones_like(w), damo.ones_like(k) })
          return { g, r, damo.grad(sum(damo.sin(g)), wrt, options) }
        end
        for _, mode in ipairs(modes) do
          local function values_of(out)
            return { damo.compile({ m, w, k }, out, { mode = mode, on_unused_input = "ignore" })(table.unpack(values)) }
          end
          local want, got = values_of(all(tricked)), values_of(all(y))
          for d = 1, 3 do
            assert.is_false(damo.any(damo.isnan(want[d])), what)
            assert.is_true(damo.allclose(want[d], got[d], { rtol = 1e-12, atol = 1e-12 }), what .. ", derivative " .. d)
          end
        end
      end
    end
    agree_here("matrix and vector", both(function(a) return where(row, damo.dot(a, w), 0) end))
    agree_here("matrices", both(function(a) return where(rows, damo.dot(a, k), 0) end))
    agree_here("the second", both(function(a) return where(row, damo.dot(damo.transpose(k), damo.transpose(a)), 0) end))
    agree_here("vector and matrix", both(function(a) return where(row, damo.dot(w, damo.transpose(a)), 0) end))
    agree_here("an entry each", both(function(a)
      return where(damo.and_(damo.gt(damo.dot(safe(m), k), 0.5), rows), damo.dot(a, k), 0)
    end))
    agree_here("vectors", both(function(a) return where(row[2], damo.dot(a[2], w), 1) end))
    agree_here("outer", both(function(a) return where(rows, damo.outer(a[{ { 1, 3 }, 1 }], w), 0) end))
  end)

  it("leaves out rows of stacks of products", function()
    local t, w = damo.tensor3("t", { dtype = "float64" }), damo.tensor3("w", { dtype = "float64" })
    local row = damo.gt(damo.transpose(t, { axes = { 3, 1, 2 } })[1], 0)
    local rows = damo.dimshuffle(row, { 1, 2, "x" })
    local function safe(a) return damo.log(where(rows, a, 1)) end
    local values = { damo.array { { { 1, 2 }, { -1, 3 } }, { { 4, 1 }, { 0, 2 } } },
      damo.array { { { 1, 2 }, { -1, 1 } }, { { 3, 0.5 }, { 1, -2 } } } }
    local products = {
      matmul = function(a) return where(rows, damo.matmul(a, w), 0) end,
      ["matmul from the right"] = function(a)
        return where(damo.dimshuffle(row, { 1, "x", 2 }), damo.matmul(w, damo.transpose(a, { axes = { 1, 3, 2 } })), 0)
      end,
      tensordot = function(a)
        return where(damo.dimshuffle(row, { 1, 2, "x", "x" }), damo.tensordot(a, w, { axes = { { 3 }, { 1 } } }), 0)
      end,
      ["tensordot from the right"] = function(a)
        return where(damo.dimshuffle(row, { "x", "x", 1, 2 }), damo.tensordot(w, a, { axes = { { 1 }, { 3 } } }), 0)
      end,
    }
    for name, product in pairs(products) do
      local y, tricked = product(damo.log(t)), product(safe(t))
      for _, wrt in ipairs { t, w } do
        local function all(out)
          local g = damo.grad(sum(damo.sqr(out)), wrt)
          return { g, damo.Rop(out, { t, w }, { damo.ones_like(t), damo.ones_like(w) }), damo.grad(sum(damo.sin(g)),
            wrt) }
        end
        for _, mode in ipairs(modes) do
          local want = { damo.compile({ t, w }, all(tricked), { mode = mode })(table.unpack(values)) }
          local got = { damo.compile({ t, w }, all(y), { mode = mode })(table.unpack(values)) }
          for d = 1, 3 do
            assert.is_false(damo.any(damo.isnan(want[d])), name)
            same(want[d], got[d], name .. ", derivative " .. d)
          end
        end
      end
    end
  end)

  it("takes a tangent of 0 for 0 where it meets an infinite derivative", function()
    local inner = damo.log(where(damo.gt(x, 0), x, 0))
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local r, g = compiled({ damo.Rop(inner, x, v), damo.grad(sum(inner), x) }, mode)(
        damo.array { 2, -1 }, damo.array { 1, 1 })
      assert.same({ 0.5, 0 }, r:totable())
      assert.same({ 0.5, 0 }, g:totable())
    end
  end)

  it("keeps what is taken, and the products of the user", function()
    local at, dir = damo.array { 0, -1 }, damo.array { 1, 1 }
    local function kinds(y)
      local g, r = compiled({ damo.grad(sum(y), x), damo.Rop(y, x, v) }, "FAST_COMPILE")(at, dir)
      return g:totable(), r:totable()
    end
    local g, r = kinds(where(damo.ge(x, 0), damo.sqrt(x), 0))
    assert.same({ math.huge, 0 }, g)
    assert.same({ math.huge, 0 }, r)
    g, r = kinds(where(damo.gt(x, -5), damo.sqrt(x), 0))
    assert.is_true(g[1] == math.huge and g[2] ~= g[2] and r[2] ~= r[2])
    g = kinds(damo.gt(x, 0) * damo.sqrt(x)) -- 0 times an infinite and a nan derivative
    assert.is_true(g[1] ~= g[1] and g[2] ~= g[2])
    local err = select(2, pcall(compiled(damo.grad(sum(where(damo.gt(x, -5), damo.sqrt(x), 0)), x), "NANGUARD"),
      damo.array { 1, -1 }, dir))
    assert.equal("numeric", err.kind)
    assert.matches("nan at {2}", err.message)
  end)
end)

describe("the gradient of ifelse", function()
  local s = damo.dscalar "s"
  local runs = 0
  local Fails = damo.Op { -- x² with an error for x < 0, its derivative too
    name = "Fails",
    make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
    perform = function(_, _, inputs, storage)
      runs = runs + 1
      if damo.any(damo.lt(inputs[1], 0)) then error "the branch not taken has run" end
      storage[1][1] = inputs[1] * inputs[1]
    end,
    grad = function(self, inputs, grads) return { grads[1] * 2 * self(inputs[1]) / inputs[1] } end,
  }

  it("computes nothing of the branch not taken", function()
    for _, y in ipairs { damo.ifelse(damo.gt(s, 0), sum(Fails(s * x)), sum(s * x)),
      damo.ifelse(damo.le(s, 0), sum(s * x), damo.sqrt(sum(Fails(damo.sin(s * x) + s)))) } do
      for _, mode in ipairs(modes) do
        local f = damo.compile({ s, x }, { y, damo.grad(y, x) }, { mode = mode })
        runs = 0
        local value, g = f(-1, damo.array { 1, 2 })
        assert.same({ -3, -1, -1, 0 }, { value, g[1], g[2], runs })
        f(1, damo.array { 1, 2 })
        assert.is_true(runs > 0)
      end
    end
  end)

  it("is 0 through any function of what is not taken", function()
    local inf = damo.ifelse(damo.gt(sum(x), 100), damo.log(x), damo.zeros_like(x))
    local two = damo.ifelse(damo.gt(sum(x), 100), damo.log(x), damo.sqrt(1 + x))
    for _, mode in ipairs(modes) do
      local at, dir = damo.array { 0, 3 }, damo.array { 1, 1 }
      for _, d in ipairs(derivatives(inf)) do assert.same({ 0, 0 }, compiled(d, mode)(at, dir):totable()) end
      for _, d in ipairs(derivatives(damo.sqrt(inf))) do assert.same({ 0, 0 }, compiled(d, mode)(at, dir):totable()) end
      assert.same({ 0.5, 0.25 }, compiled(derivatives(two)[1], mode)(at, dir):totable())
      assert.same({ 0.5, 0.25 }, compiled(derivatives(two)[2], mode)(at, dir):totable())
    end
  end)

  it("nests", function()
    local y, want = x, {}
    for k = 1, 20 do y = damo.ifelse(damo.gt(s, k), damo.sqrt(y), y + damo.ifelse(damo.lt(s, k), y, 0 * y)) end
    local f = damo.compile({ s, x }, damo.grad(sum(y), x), { mode = "FAST_COMPILE" })
    for k = 1, 2 do want[k] = 2 ^ 20 end
    assert.same(want, f(0, damo.array { 0, -1 }):totable())
  end)
end)

describe("forward and reverse mode", function()
  -- A random scalar function of a matrix and a vector, with branches.
  local function random_cost(a, b)
    local pool = { a, b, a * b, sum(a, { axis = 2, keepdims = true }), sum(b) }
    local function pick() return pool[math.max(1, #pool - math.random(7) + 1)] end
    local makers = {
      function(p) return damo.sqrt(p) end, function(p) return damo.log(p) end, function(p, q) return p / q end,
      function(p, q) return p * q end, function(p, q) return p + q end, function(p, q) return damo.maximum(p, q) end,
      function(p) return damo.exp(p) end, function(p) return damo.softmax(p) end,
      function(p, q, r) return where(damo.gt(p, 0), q, r) end, function(p, q) return where(damo.lt(p, q), q, 0) end,
      function(p) return damo.clip(p, -0.5, 1) end, function(p, q) return damo.abs(p) ^ q end,
      function(p, q) return damo.ifelse(damo.gt(sum(p), 0), q, damo.zeros_like(q)) end,
      function(p, q) return damo.ifelse(damo.gt(sum(p), 0), damo.sqrt(q), damo.sin(q)) end,
      function(p) return sum(p, { axis = -1, keepdims = true }) end, function(p) return p - damo.mean(p) end,
      function(p) return damo.max(p, { axis = -1, keepdims = true }) end,
      function(p) return p.ndim > 0 and damo.cumsum(p, { axis = -1 }) or p end,
      function(p, q, r) return where(damo.gt(sum(p), 0), q, r) end, function(p) return where(damo.gt(p, 0), p, 0) end,
      function(p) return damo.reshape(damo.reshape(p, { -1 }), p.shape) end,
    }
    for _ = 1, 10 do
      local p, q, r = pick(), pick(), pick()
      if p.ndim > 0 then pool[#pool + 1] = makers[math.random(#makers)](p, q, r) end
    end
    return sum(pool[#pool])
  end

  it("leave out the same", function()
    local a, b = damo.dmatrix "a", damo.dvector "b"
    local finite = 0
    for seed = 1, 250 do
      math.randomseed(seed)
      local cost = random_cost(a, b)
      local function number() return math.random() * 4 - 2.5 end
      local A = damo.array { { number(), number(), number() }, { number(), number(), number() } }
      local B = damo.array { number(), number(), number() }
      local ga, gb = table.unpack(damo.grad(cost, { a, b }, { disconnected_inputs = "ignore" }))
      local r = damo.Rop(cost, { a, b }, { a * 0 + 1, b * 0 + 1 })
      local outputs = { cost, sum(ga) + sum(gb), r }
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
        local f = damo.compile({ a, b }, outputs, { mode = mode, on_unused_input = "ignore" })
        local value, reverse, forward = f(A, B)
        local close = math.abs(reverse - forward) <= 1e-6 * math.max(1, math.abs(forward))
        if value == value and math.abs(value) < 1e12 and math.abs(reverse) < 1e12 then
          finite = finite + 1
          assert.is_true(close, ("seed %d: %g and %g"):format(seed, reverse, forward))
        end
      end
    end
    assert.is_true(finite > 200, tostring(finite))
  end)
end)
