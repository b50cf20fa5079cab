-- The rows of the reductions.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local m = { { 3, -1, 2 }, { 5, 4, -7 } }
  local cube = { { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { { -1, 0 }, { 2, 7 }, { -3, 8 } } }
  local none = h.shape(0)
  local rows = {}

  --- Cases over all axes, each axis, an axis from the end, several axes, keepdims, and the forms of the options.
  local function over_axes(all, first, last, kept, outer, fields)
    local function case(want, opts)
      local c = { m, want = want, opts = opts }
      for k, v in pairs(fields) do c[k] = v end
      return c
    end
    local cases = {
      case(all), case(first, { axis = 1 }), case(last, { axis = -1 }), case(last, 2), case(first, { 1 }),
      case(all, { axis = { 1, 2 } }), case(kept, { axis = 2, keepdims = true }), case({ { all } }, { keepdims = true }),
    }
    local c = case(outer, { axis = { 1, -1 } })
    c[1] = cube
    cases[#cases + 1] = c
    return cases
  end

  local function plus(cases, more)
    for _, case in ipairs(more) do cases[#cases + 1] = case end
    return cases
  end

  rows.sum = plus(over_axes(6, { 8, 3, -5 }, { 4, 2 }, { { 4 }, { 2 } }, { 2, 16, 16 }, { int = "int64" }), {
    { {}, want = 0, grad = false },
    { damo.zeros { 0, 3 }, opts = { axis = 1 }, want = { 0, 0, 0 }, grad = false },
    { damo.zeros { 0, 3 }, opts = { axis = 2 }, want = none, grad = false },
    { damo.array(2.5), want = 2.5 },
    { { 1e16, 1, -1e16, nan }, want = nan, f32 = false, grad = false },
    { damo.array({ 200, 100 }, "uint8"), want = 300, dtype = "uint64" },
    { damo.array({ 100, 100 }, "int8"), want = 200, dtype = "int64" },
    { h.bools { true, true, false }, want = 2, dtype = "int64" },
    { h.floats { 1, 2 }, opts = { dtype = "float64" }, want = 3 },
    { h.ints { 1, 2 }, opts = { dtype = "float32" }, want = 3, dtype = "float32" },
  })
  rows.prod = plus(over_axes(840, { 15, -4, -14 }, { -6, -140 }, { { -6 }, { -140 } }, { 0, 168, -720 }, { int = "int64" }), {
    { {}, want = 1, grad = false },
    { { 2, 0, 5 }, want = 0 },
    { { 0, 0, 5 }, want = 0 },
    { { { 1.5, 0 }, { 2, 3 } }, opts = { axis = 2 }, want = { 0, 6 } },
    { damo.array({ 100, 100 }, "int8"), want = 10000, dtype = "int64" },
  })
  rows.max = plus(over_axes(5, { 5, 4, 2 }, { 3, 5 }, { { 3 }, { 5 } }, { 2, 7, 8 }, { int = "int64" }), {
    { { 1, nan, 3 }, want = nan, grad = false },
    { { -inf, -1 }, want = -1, grad = false },
    { damo.array({ 200, 3 }, "uint8"), want = 200, dtype = "uint8" },
    { damo.zeros { 3, 0 }, opts = { axis = 1 }, want = none, grad = false },
    { h.bools { false, true }, want = true, dtype = "bool" },
  })
  rows.min = plus(over_axes(-7, { 3, -1, -7 }, { -1, -7 }, { { -1 }, { -7 } }, { -1, 2, -3 }, { int = "int64" }), {
    { { 1, nan, 3 }, want = nan, grad = false },
    { damo.array({ 200, 3 }, "uint8"), want = 3, dtype = "uint8" },
    { h.bools { false, true }, want = false, dtype = "bool" },
  })

  local b = { { true, false, true }, { true, true, true } }
  rows.any = {
    { h.bools(b), want = true, dtype = "bool" },
    { h.bools(b), opts = { axis = 1 }, want = { true, true, true }, dtype = "bool" },
    { h.bools { { false, true }, { false, false } }, opts = { axis = 2, keepdims = true }, want = { { true }, { false } }, dtype = "bool" },
    { { 0, 0, 2 }, want = true, dtype = "bool", int = "bool" },
    { { 0, nan }, want = true, dtype = "bool" },
    { {}, want = false, dtype = "bool" },
  }
  rows.all = {
    { h.bools(b), want = false, dtype = "bool" },
    { h.bools(b), opts = { axis = 1 }, want = { true, false, true }, dtype = "bool" },
    { { { 1, 0 }, { 2, 3 } }, opts = { axis = -1 }, want = { false, true }, dtype = "bool", int = "bool" },
    { {}, want = true, dtype = "bool" },
  }
  rows.argmax = {
    { m, want = 4, dtype = "int64", int = "int64" },
    { m, opts = { axis = 1 }, want = { 2, 2, 1 }, dtype = "int64", int = "int64" },
    { m, opts = { axis = -1, keepdims = true }, want = { { 1 }, { 1 } }, dtype = "int64" },
    { { 2, 7, 7, 1 }, want = 2, dtype = "int64" },
    { { 1, nan, 3, nan }, want = 2, dtype = "int64" },
    { cube, opts = { axis = { 1, 3 } }, want = { 2, 4, 4 }, dtype = "int64" },
  }
  rows.argmin = {
    { m, want = 6, dtype = "int64", int = "int64" },
    { m, opts = { axis = 1 }, want = { 1, 1, 2 }, dtype = "int64", int = "int64" },
    { { 7, 1, 1 }, want = 2, dtype = "int64" },
    { { 1, nan, 0 }, want = 2, dtype = "int64" },
  }

  local exp, log, sqrt = math.exp, math.log, math.sqrt
  rows.logsumexp = {
    { m, want = log(exp(3) + exp(-1) + exp(2) + exp(5) + exp(4) + exp(-7)), int = "float64" },
    { m, opts = { axis = 2 }, want = { log(exp(3) + exp(-1) + exp(2)), log(exp(5) + exp(4) + exp(-7)) } },
    { { 1000, 1000 }, want = 1000 + log(2) },
    { { -inf, -inf }, want = -inf, grad = false },
    { { { 1, 2 } }, opts = { axis = 1, keepdims = true }, want = { { 1, 2 } } },
    { m, { 0.5, 2, 1 }, opts = { axis = 2 },
      want = { log(0.5 * exp(3) + 2 * exp(-1) + exp(2)), log(0.5 * exp(5) + 2 * exp(4) + exp(-7)) } },
    { m, { { 2 }, { 0.5 } }, opts = { axis = 1, keepdims = true },
      want = { { log(2 * exp(3) + 0.5 * exp(5)), log(2 * exp(-1) + 0.5 * exp(4)), log(2 * exp(2) + 0.5 * exp(-7)) } } },
    { { 1, 2, 3 }, { 0, 1, 2 }, want = log(exp(2) + 2 * exp(3)) },
    { { 900, 2, 3 }, { 0, 1, 2 }, want = log(exp(2) + 2 * exp(3)), grad = { 1 } },
    { { 1000, -inf }, { 2, 3 }, want = 1000 + log(2), grad = false },
    { { -inf, -inf }, { 2, 3 }, want = -inf, grad = false },
    { { 0, 0 }, { 1, -2 }, want = nan, grad = false },
    { { 0.5, 1 }, { 1, -2 }, opts = { return_sign = true }, wants = { log(2 * exp(1) - exp(0.5)), -1 },
      dtype = { "float64", "float64" }, grad = { 1, 2 } },
    { { 0.5, 1 }, opts = { return_sign = true }, wants = { log(exp(1) + exp(0.5)), 1 },
      dtype = { "float64", "float64" } },
    { { inf, 2 }, { 1, 3 }, want = inf, grad = false },
    { { inf, 2 }, { 0, 1 }, want = 2, grad = false },
  }
  rows.mean = plus(over_axes(1, { 4, 1.5, -2.5 }, { 4 / 3, 2 / 3 }, { { 4 / 3 }, { 2 / 3 } }, { 0.5, 4, 4 }, { int = "float64" }), {
    { h.bools { true, false }, want = 0.5 },
    { {}, want = nan, grad = false },
  })
  rows.var = {
    { m, want = 98 / 6, int = "float64" },
    { m, opts = { axis = 1 }, want = { 1, 6.25, 20.25 } },
    { m, opts = { axis = 1, ddof = 1, keepdims = true }, want = { { 2, 12.5, 40.5 } } },
    { { 1e8 + 1, 1e8 + 2, 1e8 + 3 }, want = 2 / 3, f32 = false, grad = false },
  }
  rows.std = {
    { m, want = sqrt(98 / 6), int = "float64" },
    { m, opts = { axis = -2, ddof = 1 }, want = { sqrt(2), sqrt(12.5), sqrt(40.5) } },
  }
  rows.ptp = {
    { m, want = 12, int = "int64" },
    { m, opts = { axis = 1 }, want = { 2, 5, 9 }, int = "int64" },
    { m, opts = { axis = 2, keepdims = true }, want = { { 4 }, { 12 } } },
  }
  rows.max_and_argmax = {
    { m, wants = { 5, 4 }, dtype = { "float64", "int64" }, int = "int64", grad = { 1 } },
    { m, opts = { axis = 2 }, wants = { { 3, 5 }, { 1, 1 } }, dtype = { "float64", "int64" }, int = "int64", grad = { 1 } },
    { m, opts = { axis = 1, keepdims = true }, wants = { { { 5, 4, 2 } }, { { 2, 2, 1 } } }, dtype = { "float64", "int64" } },
  }
  return rows
end
