-- The modes agree: on special values, on empty arrays, on shapes that do not fit. Exact rules change no bit; others
-- change only the last bits, and no rule removes an error, a nan, an infinity or a zero.
local damo = require "damo"

local inf, nan = math.huge, 0 / 0
local specials = damo.array { 0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 2.5, 1e300, -1e-300, 5e-324, -3.0, 0.5, 1e160 }
local others = damo.array { 1.0, 0.0, -0.0, inf, -inf, 2.0, 1.0, nan, 1e300, 1e-300, -5e-324, inf, 0.0, -1e160 }

local function vectors(names)
  local vars = {}
  for i, name in ipairs(names) do vars[i] = damo.dvector(name) end
  return vars
end

-- Graphs of vectors x, y. Each is a function of Variables or Arrays.
local graphs = {
  { "x / x", function(x) return x / x end },
  { "x - x", function(x) return x - x end },
  { "0 * x", function(x) return 0 * x end },
  { "x * 0.0", function(x) return x * 0.0 end },
  { "0 / x", function(x) return 0 / x end },
  { "x * y / y", function(x, y) return x * y / y end },
  { "x / y * y", function(x, y) return x / y * y end },
  { "x / (x * y)", function(x, y) return x / (x * y) end },
  { "-x / x", function(x) return -x / x end },
  { "x * reciprocal(x)", function(x) return x * damo.reciprocal(x) end },
  { "x * y / x", function(x, y) return x * y / x end },
  { "exp(x) / exp(x)", function(x) return damo.exp(x) / damo.exp(x) end, cancels = "always" },
  { "y * sigmoid(x) / sigmoid(x)", function(x, y) return y * damo.sigmoid(x) / damo.sigmoid(x) end,
    cancels = "always" },
  { "(1 + sqr(x)) * y / (1 + sqr(x))", function(x, y) return (1 + damo.sqr(x)) * y / (1 + damo.sqr(x)) end,
    cancels = "always" },
  { "tanh(x) / tanh(x)", function(x) return damo.tanh(x) / damo.tanh(x) end },
  { "abs(x) / abs(x)", function(x) return damo.abs(x) / damo.abs(x) end },
  { "sqr(x) / sqr(x)", function(x) return damo.sqr(x) / damo.sqr(x) end },
  { "x + 0", function(x) return x + 0 end, sign = true },
  { "0 + x", function(x) return 0 + x end, sign = true },
  { "x - 0", function(x) return x - 0 end },
  { "x - -0.0", function(x) return x - damo.array(-0.0) end, sign = true },
  { "x * 1", function(x) return x * 1 end },
  { "x / 1", function(x) return x / 1 end },
  { "x * -1", function(x) return x * -1 end },
  { "x / -1", function(x) return x / -1 end },
  { "--x", function(x) return -(-x) end },
  { "x + -y", function(x, y) return x + -y end },
  { "x - -y", function(x, y) return x - -y end },
  { "-x + y", function(x, y) return -x + y end },
  { "-x * -y", function(x, y) return -x * -y end },
  { "-x / -y", function(x, y) return -x / -y end },
  { "x ^ 0", function(x) return x ^ 0 end },
  { "x ^ 1", function(x) return x ^ 1 end },
  { "x ^ 2", function(x) return x ^ 2 end },
  { "x ^ 0.5", function(x) return x ^ 0.5 end },
  { "sqr(x) ^ 0.5", function(x) return damo.sqr(x) ^ 0.5 end, cancels = true },
  { "x ^ -1", function(x) return x ^ -1 end },
  { "x ^ -2", function(x) return x ^ -2 end },
  { "x * x", function(x) return x * x end },
  { "1 / x", function(x) return 1 / x end },
  { "y * reciprocal(x)", function(x, y) return y * damo.reciprocal(x) end, cancels = true },
  { "(x * 3) * 5", function(x) return (x * 3.0) * 5.0 end },
  { "(x * 1e200) * 1e200", function(x) return (x * 1e200) * 1e200 end },
  { "(x * 1e-200) * 1e-200", function(x) return (x * 1e-200) * 1e-200 end },
  { "(x + 1e308) + 1e308", function(x) return (x + 1e308) + 1e308 end },
  { "(x + 2) + 3", function(x) return (x + 2.0) + 3.0 end },
  { "log(exp(x))", function(x) return damo.log(damo.exp(x)) end, cancels = true },
  { "exp(log(x))", function(x) return damo.exp(damo.log(x)) end },
  { "log(1 + x)", function(x) return damo.log(1 + x) end, cancels = true },
  { "log(1 - x)", function(x) return damo.log(1 - x) end, cancels = true },
  { "exp(x) - 1", function(x) return damo.exp(x) - 1 end, cancels = true },
  { "log(sigmoid(x))", function(x) return damo.log(damo.sigmoid(x)) end, cancels = true, sign = true },
  { "log(1 - sigmoid(x))", function(x) return damo.log(1 - damo.sigmoid(x)) end, cancels = true, sign = true },
  { "1 - sigmoid(x)", function(x) return 1 - damo.sigmoid(x) end, cancels = true },
  { "log(1 - exp(x))", function(x) return damo.log(1 - damo.exp(x)) end, cancels = true, sign = true },
  { "log(1 + exp(x))", function(x) return damo.log(1 + damo.exp(x)) end, cancels = true },
  { "log(exp(x) + exp(y))", function(x, y) return damo.log(damo.exp(x) + damo.exp(y)) end, cancels = true },
  { "log(sum(exp(x)))", function(x) return damo.log(damo.sum(damo.exp(x))) end, cancels = true },
  { "log(softmax(x))", function(x) return damo.log(damo.softmax(x)) end, cancels = true },
  { "1 / (1 + exp(-x))", function(x) return 1 / (1 + damo.exp(-x)) end },
  { "sqrt(sqr(x))", function(x) return damo.sqrt(damo.sqr(x)) end, cancels = true },
  { "switch(x, y, y)", function(x, y) return damo.switch(damo.gt(x, 0), y, y) end },
  { "switch(true, x, y)", function(x, y) return damo.switch(true, x, y) end },
  { "second(x, y)", function(x, y) return damo.second(x, y) end },
  { "x * second(x, y)", function(x, y) return x * damo.second(x, y) end },
  { "y * second(x, y)", function(x, y) return y * damo.second(x, y) end },
  { "second(y, 2) + x", function(x, y) return damo.second(y, 2.0) + x end },
  { "second(x, 0) * y", function(x, y) return damo.second(x, 0.0) * y end },
  { "sum(second(x, inf))", function(x) return damo.sum(damo.second(x, inf)) end },
  { "sum(second(x, nan))", function(x) return damo.sum(damo.second(x, nan)) end },
  { "sum(second(x, 3))", function(x) return damo.sum(damo.second(x, 3.0)) end },
  { "mean(second(x, 3))", function(x) return damo.mean(damo.second(x, 3.0)) end },
  { "prod(second(x, 0.5))", function(x) return damo.prod(damo.second(x, 0.5)) end },
  { "sum(full_like(x, y[1]))", function(x) return damo.sum(damo.full({ x.shape[1] }, inf)) end },
  { "reshape twice", function(x) return x:reshape { shape = { 2, -1 } }:reshape { shape = { -1 } } end },
  { "reshape to what does not fit, and back",
    function(x) return x:reshape { shape = { 4, 1 } }:reshape { shape = { 2, 2 } } end },
  { "specify_shape", function(x) return damo.specify_shape(x, { 3 }) end },
  { "specify_shape(-1)", function(x) return damo.specify_shape(x, { -1 }) end },
  { "squeezed", function(x) return damo.dimshuffle(damo.dimshuffle(x, { "x", 1 }), { 2 }) end },
  { "clip(x, y, 1)", function(x, y) return damo.clip(x, y, 1) end },
  { "x // y", function(x, y) return damo.floor_div(x, y) end },
  { "x % y", function(x, y) return damo.mod(x, y) end },
  { "dot(x, y) * 0", function(x, y) return damo.dot(x, y) * 0 end },
}

local modes = { FAST_COMPILE = "FAST_COMPILE", FAST_RUN = "FAST_RUN", exact = damo.Mode { exclude = { "inexact" } },
  compile_exact = damo.Mode { optimizer = "fast_compile", exclude = { "inexact" } } }

local operands = {
  specials = { specials, others },
  empty = { damo.zeros { 0 }, damo.zeros { 0 } },
  three = { damo.array { 1, 2, -4 }, damo.array { 0.1, 0.2, 0.3 } },
  four = { damo.array { 1, 2, -4, 3 }, damo.array { 0.1, 0.2, 0.3, 7 } },
  one = { damo.array { 3 }, damo.array { -0.5 } },
  ["3 and 5"] = { damo.ones { 3 }, damo.ones { 5 } },
  ["5 and 3"] = { damo.ones { 5 }, damo.ones { 3 } },
  ["1 and 3"] = { damo.ones { 1 }, damo.ones { 3 } },
  ["3 and 1"] = { damo.ones { 3 }, damo.ones { 1 } },
  ["3 and 0"] = { damo.ones { 3 }, damo.ones { 0 } },
}

local function list(v)
  if type(v) ~= "userdata" then return { v } end
  return v.size == 0 and {} or v:reshape({ shape = { -1 } }):totable()
end

local function shape(v) return type(v) == "userdata" and table.concat(v.shape, "x") or "" end

local function same_bits(a, b) return (a ~= a and b ~= b) or (a == b and (a ~= 0 or 1 / a == 1 / b)) end

-- Whether the values are close, finite at the same positions, and have the same infinities and zeros.
local function close(a, b, sign)
  if a ~= a or b ~= b then return a ~= a and b ~= b end
  if a == b then return sign or a ~= 0 or 1 / a == 1 / b end
  return math.abs(a - b) <= 1e-14 * math.max(math.abs(a), math.abs(b)) + 1e-322
end

local function outcome(f, ...)
  local ok, v = pcall(f, ...)
  if not ok then return nil, v.kind or error(v, 0) end
  return v
end

-- If a rule gives the exact value that rounding lost, or avoids an overflow, the values may differ. But nan and
-- infinite
-- operands, which rounding does not lose, must agree, unless the factor that cancels is always finite.
local function check(name, what, got, got_kind, want, want_kind, how)
  local where = ("%s of %s in %s"):format(name, what, how.mode)
  if want_kind or got_kind then
    return assert(got_kind == want_kind, ("%s: %s, not %s"):format(where, got_kind or "no error", want_kind or "none"))
  end
  assert(shape(got) == shape(want), where .. ": shape " .. shape(got) .. ", not " .. shape(want))
  local a, b = list(got), list(want)
  for i = 1, #b do
    local same = how.exact and same_bits(a[i], b[i]) or not how.exact and close(a[i], b[i], how.sign)
    local may_differ = how.cancels == "always" or (how.cancels and not how.special[i])
    same = same or (may_differ and not how.exact)
    assert(same, ("%s: entry %d is %.17g, not %.17g"):format(where, i, a[i], b[i]))
  end
end

-- The entries computed from a nan or an infinity.
local function specials_of(x, y)
  local out = {}
  if #x == #y then
    for i, v in ipairs(x:totable()) do
      local w = y:totable()[i]
      out[i] = v ~= v or w ~= w or v == inf or v == -inf or w == inf or w == -inf
    end
  end
  return out
end

-- Eagerly a length of 1 broadcasts; in a graph it is an error if the Types do not know it.
local function known_late(values) return #values[1] ~= #values[2] and (#values[1] == 1 or #values[2] == 1) end

describe("modes agree on", function()
  for _, graph in ipairs(graphs) do
    it(graph[1], function()
      local vars = vectors { "x", "y" }
      local made, expr = pcall(graph[2], table.unpack(vars))
      local compiled = {}
      if made then
        for mode, m in pairs(modes) do
          compiled[mode] = damo.compile(vars, expr, { mode = m, on_unused_input = "ignore" })
        end
      end
      for what, values in pairs(operands) do
        local want, kind = outcome(graph[2], values[1], values[2])
        if made and known_late(values) then want, kind = outcome(compiled.compile_exact, values[1], values[2]) end
        if not made then
          assert(kind == expr.kind, ("%s: making the graph: %s"):format(graph[1], tostring(expr)))
        else
          for mode, f in pairs(compiled) do
            local got, got_kind = outcome(f, values[1], values[2])
            check(graph[1], what, got, got_kind, want, kind, { mode = mode, exact = mode ~= "FAST_RUN",
              sign = graph.sign, cancels = graph.cancels, special = specials_of(values[1], values[2]) })
          end
        end
      end
    end)
  end
end)

-- Updates by BLAS, which does not check what it multiplies by 0.
describe("0 times infinity beside a product is nan:", function()
  local z, a, b, s = damo.dmatrix "z", damo.dmatrix "a", damo.dmatrix "b", damo.dscalar "s"
  local v, w = damo.dvector "v", damo.dvector "w"
  local bad, good = damo.array { { inf, 1 }, { nan, 2 } }, damo.array { { 1, 2 }, { 3, 4 } }
  local function agree(inputs, out, ...)
    local plain = damo.compile(inputs, out, { mode = "FAST_COMPILE" })(...):reshape({ shape = { -1 } }):totable()
    local fast = damo.compile(inputs, out)(...):reshape({ shape = { -1 } }):totable()
    for i, want in ipairs(plain) do assert(close(fast[i], want), ("entry %d: %g, not %g"):format(i, fast[i], want)) end
  end

  it("z + s * dot(a, b)", function()
    for _, scale in ipairs { 0.0, 1.0, -2.5, inf, -inf, nan } do
      agree({ z, a, b, s }, z + s * damo.dot(a, b), good, bad, good, scale)
      agree({ z, a, b, s }, z - s * damo.dot(a, b), bad, good, good, scale)
      agree({ z, a, b, s }, z + damo.dot(a, b) / s, good, good, good, scale)
      agree({ v, a, w, s }, v + s * damo.dot(a, w), good[1], bad, good[2], scale)
    end
  end)

  it("s * z + dot(a, b)", function()
    for _, scale in ipairs { 0.0, 1.0, inf, nan } do
      agree({ z, a, b, s }, s * z + damo.dot(a, b), bad, good, good, scale)
      agree({ v, a, w, s }, s * v + damo.dot(a, w), bad[1], good, good[2], scale)
    end
    agree({ z, a, b }, 0 * z + damo.dot(a, b), bad, good, good)
    agree({ z, a, b }, 0.9 * z + damo.dot(a, b), bad, good, good)
  end)
end)

describe("a factor that cancels", function()
  it("is not an integer that may wrap to 0", function()
    local i, y = damo.iscalar "i", damo.dscalar "y"
    local function int(v) return damo.constant(v, { dtype = "int32" }) end
    local factor = damo.sqr(i) + int(1) -- 2 at 1, and 2^30 * 2 * 2 is 0 in 32 bits
    local ints = { int(1073741824) * factor * factor, damo.prod(damo.stack { int(1073741824), factor, factor },
      { dtype = "int32" }), damo.maximum(int(1073741824) * factor * factor, int(0)) }
    for _, n in ipairs(ints) do
      local u = damo.cast(n, "float64")
      for _, mode in ipairs { "FAST_COMPILE", "FAST_RUN" } do
        local r = damo.compile({ i, y }, y * u / u, { mode = mode })(1, 3)
        assert.is_true(r ~= r)
      end
    end
  end)
end)

describe("an error is raised in every mode", function()
  local x, c = damo.dvector "x", damo.dscalar "c"
  local function raises(kind, inputs, out, ...)
    for _, mode in ipairs { "FAST_COMPILE", "FAST_RUN", "DEBUG" } do
      local ok, err = pcall(damo.compile(inputs, out, { mode = mode, on_unused_input = "ignore" }), ...)
      assert.is_false(ok)
      assert.equal(kind, err.kind)
    end
  end

  it("by the condition of an ifelse whose branches are the same", function()
    raises("value", { c, x }, damo.ifelse(damo.assert_op(damo.gt(c, 0), damo.gt(c, 1)), x, x), 0.5, damo.ones { 2 })
  end)

  it("by an axis that is dropped and added again", function()
    local m = damo.dmatrix "m"
    raises("shape", { m }, damo.dimshuffle(damo.dimshuffle(m, { 1 }), { 1, "x" }), damo.ones { 2, 2 })
  end)

  it("by a length of -1 that is asked for", function()
    assert.equal("value", select(2, pcall(damo.specify_shape, x, { -1 })).kind)
  end)
end)

describe("A rounding to decimals has the bits of its ops one by one", function()
  local x, y = damo.dvector "x", damo.dvector "y"
  local ticks = damo.round(damo.random.normal(0, 1000, { size = 2000 })) * 0.005
  local odd = damo.round(damo.random.normal(0, 10, { size = 2000 })) * 0.5 + 0.25
  local rounded = { x = x, ["3 x"] = 3 * x, ["x y"] = x * y, ["x / y"] = x / y, ["-x"] = -x, ["x y 3"] = x * y * 3,
    ["y reciprocal(x)"] = y * damo.reciprocal(x) }
  for name, operand in pairs(rounded) do
    it("of " .. name, function()
      for _, mode in ipairs { "half_to_even", "half_away_from_zero" } do
        for _, decimals in ipairs { 1, 2, 3, 7, -1, -2 } do
          local options = { decimals = decimals, mode = mode }
          for _, how in ipairs { "FAST_RUN", "FAST_COMPILE" } do
            local function value(v)
              return damo.compile({ x, y }, v, { mode = how, on_unused_input = "ignore" })(ticks, odd)
            end
            local want, got = damo.round(value(operand), options), value(damo.round(operand, options))
            assert.is_true(damo.array_equal(want, got, { equal_nan = true }),
              ("%s, %d, %s"):format(mode, decimals, how))
          end
        end
      end
    end)
  end

  it("of a number", function()
    local s = damo.dscalar "s"
    assert.equal(2.68, damo.compile({ s }, damo.round(s, { decimals = 2 }))(2.684))
    assert.equal(1200.0, damo.compile({ s }, damo.round(s, { decimals = -2 }))(1234.5))
  end)
end)

describe("docs/numerics.md", function()
  it("lists the rules that may change a bit", function()
    local file = assert(io.open "docs/numerics.md")
    local text = file:read "a"
    file:close()
    for _, name in ipairs(damo.rewrite.names "inexact") do
      if not text:find("`" .. name .. "`", 1, true) then error("no word of " .. name) end
    end
  end)
end)
