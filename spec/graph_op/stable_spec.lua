-- Stable forms of logarithms and of the quotients in their gradients, far out too.
local damo = require "damo"
local rule_rows = require "spec.graph_op.rule_rows"

local exp, log, tanh, sqr = damo.exp, damo.log, damo.tanh, damo.sqr

local function rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do it(row[1], function() rule_rows.check(row) end) end
  end)
end

rows("stable logarithms:", {
  { "log(3 erfc(x))", "x", function(x) return log(3 * damo.erfc(x)) end,
    "lt erf neg log1p erfcx log sqr sub switch add", recovers = true, rtol = 1e-12 },
  { "log(3 x) stays", "x", function(x) return log(3 * x) end, "mul log" },
  { "log(-3 exp(x)) is nan", "x", function(x) return log(-3 * exp(x)) end, "add", no_specials = true },
  { "log(y exp(x))", "xy", function(x, y) return log(y * exp(x)) end, "log add", recovers = true },
  { "log(x y exp(z)) stays: x and y may be negative", "xyz", function(x, y, z) return log(x * y * exp(z)) end,
    "mul exp mul log" },
  { "log(mean(exp(x)))", "x", function(x) return log(damo.mean(exp(x))) end, "Reduce Shape_i cast log sub" },
  { "log(1 + exp(x) + exp(y))", "xy", function(x, y) return log(1 + exp(x) + exp(y)) end, "softplus logaddexp",
    recovers = true },
  { "log(0.25 exp(x) + exp(y)/3)", "xy", function(x, y) return log(0.25 * exp(x) + exp(y) / 3) end,
    "add add logaddexp", recovers = true },
  { "log(exp(x) + y) stays", "xy", function(x, y) return log(exp(x) + y) end, "exp add log", no_specials = true },
  { "log(exp(x) - 2) stays", "x", function(x) return log(exp(x) - 2) end, "exp sub log" },
  { "log(cosh(x))", "x", function(x) return log(damo.cosh(x)) end, "abs mul softplus add sub", rtol = 1e-12 },
  { "log(1 - tanh(x)^2)", "x", function(x) return log(1 - tanh(x) ^ 2) end, "abs mul softplus add sub mul",
    recovers = true, rtol = 1e-11 },
  { "log(1 - tanh(x))", "x", function(x) return log(1 - tanh(x)) end, "mul softplus sub", recovers = true,
    rtol = 1e-12 },
  { "log1p(tanh(x))", "x", function(x) return damo.log1p(tanh(x)) end, "mul softplus sub", recovers = true,
    rtol = 1e-12 },
  { "log(2 - tanh(x)) stays", "x", function(x) return log(2 - tanh(x)) end, "tanh sub log" },
  { "log(ndtr(x))", "x", function(x) return log(damo.ndtr(x)) end, "log_ndtr" },
  { "log(1 - ndtr(x))", "x", function(x) return log(1 - damo.ndtr(x)) end, "neg log_ndtr", recovers = true,
    rtol = 1e-5 },
  { "log(prod(exp(x)))", "x", function(x) return log(damo.prod(exp(x))) end, "Reduce", recovers = true },
  { "log(prod(x)) stays", "x", function(x) return log(damo.prod(x)) end, "Reduce log" },
  { "log(kv(2, x))", "x", function(x) return log(damo.kv(2, x)) end, "kve log sub", no_specials = true },
  { "log(iv(2, x))", "x", function(x) return log(damo.iv(2, x)) end, "ive log abs add", no_specials = true },
  { "logit(sigmoid(x))", "x", function(x) return damo.logit(damo.sigmoid(x)) end, "", recovers = true, rtol = 1e-11 },
  { "sigmoid(logit(x)) stays", "x", function(x) return damo.sigmoid(damo.logit(x)) end, "logit sigmoid" },
  { "log10(10^x)", "x", function(x) return damo.log10(10 ^ x) end, "", recovers = true },
  { "log2(2^x)", "x", function(x) return damo.log2(2 ^ x) end, "", recovers = true },
  { "1 - exp(x)", "x", function(x) return 1 - exp(x) end, "expm1 neg", rtol = 1e-12 },
})

rows("stable quotients:", {
  { "exp(x)/(exp(x) + exp(y))", "xy", function(x, y) return exp(x) / (exp(x) + exp(y)) end, "sub sigmoid",
    recovers = true },
  { "exp(x)/(0.5 exp(x) + 3)", "x", function(x) return exp(x) / (0.5 * exp(x) + 3) end, "add sigmoid mul",
    recovers = true },
  { "exp(x)/(exp(x) + exp(y) + exp(z))", "xyz", function(x, y, z) return exp(x) / (exp(x) + exp(y) + exp(z)) end,
    "logaddexp logaddexp sub exp", recovers = true },
  { "exp(x)/(exp(y) + exp(z)) stays", "xyz", function(x, y, z) return exp(x) / (exp(y) + exp(z)) end,
    "exp exp exp add true_div" },
  { "y exp(x)/sum(exp(x))", "xy", function(x, y) return y / damo.sum(exp(x)) * exp(x) end, "Softmax mul" },
  { "exp(m)/sum(exp(m)) over both axes of three", "t",
    function(t) return exp(t) / damo.sum(exp(t), { axis = { 1, 3 }, keepdims = true }) end, "Reduce sub exp" },
  { "exp(-x^2)/erfc(x)", "x", function(x) return exp(-x ^ 2) / damo.erfc(x) end, "erfcx reciprocal", recovers = true,
    rtol = 1e-12 },
  { "exp(-x^2)/erfc(y) stays", "xy", function(x, y) return exp(-x ^ 2) / damo.erfc(y) end,
    "sqr neg exp erfc true_div" },
  { "exp(x)/(1 - exp(x))", "x", function(x) return exp(x) / (1 - exp(x)) end, "neg expm1 reciprocal",
    recovers = true, rtol = 1e-12 },
  { "exp(y)/(exp(x) - exp(y))", "xy", function(x, y) return exp(y) / (exp(x) - exp(y)) end, "sub expm1 reciprocal",
    recovers = true, rtol = 1e-12 },
  { "sinh(x)/cosh(x)", "x", function(x) return damo.sinh(x) / damo.cosh(x) end, "tanh", recovers = true },
  { "cosh(x)/sinh(x) stays", "x", function(x) return damo.cosh(x) / damo.sinh(x) end, "cosh sinh true_div" },
  { "a product that two terms share, against its factors", "x",
    function(x)
      local s, t = damo.sigmoid(x), damo.sigmoid(-x)
      local st = s * t
      return 2 / s * st + 3 / t * st
    end, "neg sigmoid mul sigmoid mul add", recovers = true },
  { "a sum of quotients, times its divisors", "xy",
    function(x, y)
      local s, t = damo.sigmoid(x), damo.sigmoid(-x)
      return (y / s - 2 / t) * s * t
    end, "neg sigmoid mul sigmoid mul sub", recovers = true },
  { "(y/exp(x) + 1) exp(x)", "xy", function(x, y) return (y / exp(x) + 1) * exp(x) end, "exp add", recovers = true },
  { "(x/y + 1) y stays: y may be 0", "xy", function(x, y) return (x / y + 1) * y end, "true_div add mul" },
  { "(y/exp(x) + a + b) exp(x) stays: two products more", "xyas",
    function(x, y, a, s) return (y / exp(x) + a + s) * exp(x) end, "add exp true_div add mul" },
})

describe("the gradient of", function()
  local far = damo.array { -800, -40, -5, 0.5, 5, 30, 800 }
  local x = damo.dvector "x"
  -- f and its derivative at each of the values; a number where both are known far out
  local cases = {
    { "log(sum(exp(x)))", function(v) return log(damo.sum(exp(v))) end, { 0, 0, 0, 0, 0, 0, 1 } },
    { "log(mean(exp(x)))", function(v) return log(damo.mean(exp(v))) end, { 0, 0, 0, 0, 0, 0, 1 } },
    { "log(erfc(x))", function(v) return log(damo.erfc(v)) end, nil, { [6] = -60.03329636, [7] = -1600.00125 } },
    { "log(1 - erf(x))", function(v) return log(1 - damo.erf(v)) end, nil, { [6] = -60.03329636, [7] = -1600.00125 } },
    { "the log of a normal's distribution function", function(v) return log(0.5 * damo.erfc(-v / math.sqrt(2))) end,
      nil, { [1] = 800.00125, [2] = 40.0249688, [7] = 0 } },
    { "log(exp(x) + exp(2x))", function(v) return log(exp(v) + exp(2 * v)) end, nil, { [1] = 1, [2] = 1, [7] = 2 } },
    { "log(exp(2|x|) - exp(|x|))", function(v) return log(exp(2 * damo.abs(v)) - exp(damo.abs(v))) end, nil,
      { [1] = -2, [2] = -2, [7] = 2 } },
    { "log(1 + exp(x) + exp(2x))", function(v) return log(1 + exp(v) + exp(2 * v)) end, nil, { [1] = 0, [7] = 2 } },
    { "a mixture's log likelihood", function(v) return log(0.3 * exp(-v ^ 2) + 0.7 * exp(-(v - 1) ^ 2)) end, nil,
      { [1] = 1602 - 2, [7] = -1598 } },
    { "cross entropy of sigmoids", function(v)
      local p = damo.sigmoid(v)
      return -(0.3 * log(p) + 0.7 * log(1 - p))
    end, nil, { [1] = -0.3, [2] = -0.3, [6] = 0.7, [7] = 0.7 } },
    { "log(cosh(x))", function(v) return log(damo.cosh(v)) end, nil, { [1] = -1, [2] = -1, [7] = 1 } },
    { "log(1 - tanh(x)^2)", function(v) return log(1 - sqr(tanh(v))) end, nil, { [1] = 2, [2] = 2, [7] = -2 } },
    { "log(1 - tanh(x))", function(v) return log(1 - tanh(v)) end, nil, { [1] = 0, [2] = 0, [7] = -2 } },
    { "log(1 - exp(-exp(x/10)))", function(v) return log(1 - exp(-exp(v / 10))) end, nil, { [1] = 0.1, [7] = 0 } },
  }
  for _, case in ipairs(cases) do
    local name, f, whole, some = table.unpack(case, 1, 4)
    it(name .. " is finite far out, and right", function()
      local value = f(x)
      local run = damo.compile({ x }, { damo.sum(value), damo.grad(damo.sum(value), x) })
      local total, slope = run(far)
      assert.is_true(total == total and math.abs(total) < math.huge)
      for k, want in pairs(whole or some) do
        assert(math.abs(slope[k] - want) <= 1e-8 * math.max(1, math.abs(want)), ("%d: %s, not %s"):format(k, slope[k],
          want))
      end
      for k = 1, 7 do assert(slope[k] == slope[k] and math.abs(slope[k]) < math.huge, k) end
      damo.verify_grad(function(v) return damo.sum(f(v)) end, { damo.array { 0.4, 0.9, 1.7 } })
    end)
  end
end)
