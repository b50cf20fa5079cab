-- The special functions: their rows, and their errors against correctly rounded values.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "special"

-- Functions whose errors the table does not bound in ULP, with the relative error that it allows.
local loose = {
  hyp1f1_grad_a = 1e-12, hyp1f1_grad_b = 1e-12,
  hyp2f1_grad_a = 1e-12, hyp2f1_grad_b = 1e-12, hyp2f1_grad_c = 1e-12,
  zeta_grad_s = 1e-13, riemann_zeta_grad = 1e-13, expn_grad_n = 1e-13,
  zeta_grad_ss = 1e-12, riemann_zeta_grad_ss = 1e-12,
  jv_grad_v = 1e-12, yv_grad_v = 1e-12, ive_grad_v = 1e-12, kve_grad_v = 1e-13,
  gammainc_grad_aa = 1e-11, betainc_grad_aa = 1e-12, betainc_grad_ab = 1e-12, betainc_grad_bb = 1e-12,
  jv_grad_vv = 1e-12, yv_grad_vv = 1e-12, ive_grad_vv = 1e-12, kve_grad_vv = 1e-13, expn_grad_nn = 1e-13,
  gammainc_grad_a = 1e-12, betainc_grad_a = 1e-12, betainc_grad_b = 1e-12,
  gammaincinv = 2e-14, gammainccinv = 2e-14, betaincinv = 2e-14,
}

local function ulp(x) return 2.0 ^ (math.floor(math.log(math.abs(x), 2)) - 52) end

--- The functions that have a file of values.
local function names_with_data()
  local names = {}
  for name in pairs(h.rows "special") do
    if name ~= "zeta" and name ~= "lambertw" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- The values at the table's points, and the wanted ones.
local function table_of(name)
  local data = dofile("spec/data/special/" .. name .. ".lua").table
  local columns, want = {}, {}
  for k, line in ipairs(data) do
    for i = 1, #line - 1 do
      columns[i] = columns[i] or {}
      columns[i][k] = line[i]
    end
    want[k] = line[#line]
  end
  local operands = {}
  for i, column in ipairs(columns) do operands[i] = damo.array(column, "float64") end
  return damo[name](table.unpack(operands)):totable(), want, data
end

describe("errors against mpmath", function()
  local names = names_with_data()
  for _, name in ipairs(names) do
    it(name, function()
      local got, want, data = table_of(name)
      local errors = {}
      for k = 1, #want do
        local off = math.abs(got[k] - want[k])
        errors[k] = off / ulp(want[k])
        local bound = loose[name] and loose[name] * math.abs(want[k]) or 50 * ulp(want[k])
        assert(off <= bound, ("%s at %s: %.17g, not %.17g (%.1f ULP)"):format(name,
          table.concat(data[k], ", ", 1, #data[k] - 1), got[k], want[k], errors[k]))
      end
      table.sort(errors)
      assert(loose[name] or errors[math.floor(#errors / 2) + 1] <= 2, ("%s: median error %.2f ULP"):format(name,
        errors[math.floor(#errors / 2) + 1]))
    end)
  end
end)

-- ---- Forward mode, second derivatives ----------------------------------------------------------------

-- Operands without a derivative, and functions without a second one.
local first, two, three = { true }, { true, true }, { true, true, true }
local no_slope = {
  polygamma = first, spherical_jn = first, gammainc_grad_aa = first, betainc_grad_aa = two, betainc_grad_ab = two,
  betainc_grad_bb = two, zeta_grad_ss = first, expn_grad_nn = first, jv_grad_vv = first, yv_grad_vv = first,
  ive_grad_vv = first, kve_grad_vv = first,
  ellipdinc = { false, true }, ellipkinc_grad_m = { false, true }, hyp1f1_grad_a = two,
  hyp1f1_grad_b = two,
  riemann_zeta_grad_ss = first, hyp2f1_grad_a = three, hyp2f1_grad_b = three, hyp2f1_grad_c = three,
}
local no_second = {
  riemann_zeta_grad = true, riemann_zeta_grad_ss = true, ellipkinc = true, ellipeinc = true, ellipdinc = true,
  ellipkinc_grad_m = true, jacobi_am = true, jacobi_sn = true, jacobi_cn = true, jacobi_dn = true,
}

local function near(got, want, tol, what)
  for k = 1, #want do
    local ok = math.abs(got[k] - want[k]) <= tol * (1 + math.abs(want[k]))
    assert(ok, ("%s: entry %d is %.12g, not %.12g"):format(what, k, got[k], want[k]))
  end
end

describe("derivatives of", function()
  local names = names_with_data()
  for _, name in ipairs(names) do
    local data = dofile("spec/data/special/" .. name .. ".lua")
    local values, vars, last = {}, {}, #data.at
    for i, column in ipairs(data.at) do values[i], vars[i] = damo.array(column, "float64"), damo.dvector("x" .. i) end
    local y = damo[name](table.unpack(vars))
    local quiet = { on_unused_input = "ignore" }
    local without = no_slope[name] or {}

    it(name .. ": forward mode gives what reverse mode gives", function()
      for i = 1, last do
        if not without[i] then
          local forward = damo.Rop(y, { vars[i] }, { damo.ones_like(vars[i]) })
          local f = damo.compile(vars, { forward, damo.grad(damo.sum(y), vars[i]) }, quiet)
          local a, b = f(table.unpack(values))
          near(a:totable(), b:totable(), 1e-12, "operand " .. i)
        else
          assert.is_false((pcall(damo.grad, damo.sum(y), vars[i])))
          local ok, err = pcall(damo.Rop, y, { vars[i] }, { damo.ones_like(vars[i]) })
          assert(not ok and err.kind == "not_implemented", tostring(err))
        end
      end
    end)

    it(name .. ": the second derivative in the last operand", function()
      if no_second[name] then return end
      local slope = damo.grad(damo.sum(y), vars[last])
      local f = damo.compile(vars, { slope, damo.grad(damo.sum(slope), vars[last]) }, quiet)
      local moved, want, step = table.move(values, 1, last, 1, {}), {}, 1e-5
      moved[last] = values[last] + step
      local up = f(table.unpack(moved))
      moved[last] = values[last] - step
      local down = f(table.unpack(moved))
      local _, second = f(table.unpack(values))
      for k = 1, #data.at[last] do want[k] = (up[k] - down[k]) / (2 * step) end
      near(second:totable(), want, 1e-6, "second derivative")
    end)
  end
end)

describe("second derivatives in parameters", function()
  -- The slope of a sum of first derivatives along each operand, and its differences.
  local function check(name, values)
    local vars, mixed, step = {}, 0, 1e-5
    for i = 1, #values do vars[i] = damo.dvector("x" .. i) end
    for i, g in ipairs(damo.grad(damo.sum(damo[name](table.unpack(vars))), vars)) do mixed = mixed + (i + 1) * g end
    local slope = damo.compile(vars, mixed)
    local second = { damo.compile(vars, damo.grad(damo.sum(mixed), vars))(table.unpack(values)) }
    for i = 1, #values do
      local moved = table.move(values, 1, #values, 1, {})
      moved[i] = values[i] + step
      local up = slope(table.unpack(moved))
      moved[i] = values[i] - step
      local want = (up - slope(table.unpack(moved))) / (2 * step)
      near(second[i]:totable(), want:totable(), 1e-6, name .. " in operand " .. i)
    end
  end

  it("agree with differences of the first ones", function()
    local A = damo.array
    local a, x, p = A { 0.7, 2.5, 40 }, A { 0.4, 3.5, 38 }, A { 0.3, 0.9, 0.5 }
    for _, name in ipairs { "gammainc", "gammaincc" } do check(name, { a, x }) end
    check("gammaincinv", { a, p })
    check("gammainccinv", { a, p })
    check("gammal", { A { 0.7, 2.5, 4 }, A { 0.4, 3.5, 5 } })
    check("gammau", { A { 0.7, 2.5, 4 }, A { 0.4, 3.5, 5 } })
    for _, name in ipairs { "betainc", "betaincinv" } do
      check(name, { A { 0.7, 2.5, 8 }, A { 1.3, 0.6, 20 }, A { 0.2, 0.8, 0.3 } })
    end
    for _, name in ipairs { "jv", "yv", "iv", "kv", "ive", "kve", "expn" } do
      check(name, { A { 0.3, 2.5, 4 }, A { 0.8, 3.5, 6 } })
    end
    for _, name in ipairs { "jv", "yv", "iv", "kv" } do check(name, { A { -0.3, -2.5, -4.25 }, A { 0.8, 3.5, 6 } }) end
  end)
end)

it("the derivatives of betainc are as exact at whole parameters, where its fraction ends", function()
  -- I_x(a, 1) = x^a and I_x(1, b) = 1 - (1 - x)^b
  for _, p in ipairs { 1, 2, 5, 1 + 1e-12 } do
    for _, x in ipairs { 0.1, 0.3, 0.63, 0.9 } do
      local l, m = math.log(x), math.log(1 - x)
      local want = { x ^ p * l, x ^ p * l ^ 2, -(1 - x) ^ p * m, -(1 - x) ^ p * m ^ 2 }
      local got = { damo.betainc_grad_a(p, 1, x), damo.betainc_grad_aa(p, 1, x), damo.betainc_grad_b(1, p, x),
        damo.betainc_grad_bb(1, p, x) }
      for k = 1, 4 do
        local y = damo.compile({}, got[k])()
        assert(math.abs(y - want[k]) < 2e-14, ("%d at %g, %g: %.16g, not %.16g"):format(k, p, x, y, want[k]))
      end
    end
  end
end)

it("the derivatives of betainc are as exact where its fraction is long", function()
  local function derivatives(a, b, x)
    local at, y = {}, {}
    for k, v in ipairs { a, b, x } do at[k] = damo.array(v, "float64") end
    for k, of in ipairs { "a", "b", "aa", "ab", "bb" } do y[k] = damo["betainc_grad_" .. of](table.unpack(at)) end
    return { damo.compile({}, y)() }
  end
  -- a, b, x, and the derivatives in a, b, aa, ab and bb by mpmath
  for _, at in ipairs {
    { 1e-300, 10000.0, 1e-300, -680.98802186216932, 1.0000500016666667e-304,
      463743.04108568856, 0.00010000500016666667, -1.000100005e-308 },
    { 0.00127, 19739, 6.5e-08, -6.0378721641590513, 6.3764300349939806e-8,
      35.111994023142168, 4.9820203644073496e-5, -3.2304950919220919e-12 },
    { 2, 1e-20, 0.999999999, -6.4493406584822643e-21, 19.723265866228343,
      4.0411380631918855e-21, -0.64493406584822646, -388.00721643192807 },
  } do
    for k, y in ipairs(derivatives(at[1], at[2], at[3])) do
      assert(math.abs(y - at[k + 3]) < 1e-14 * math.abs(at[k + 3]),
        ("%d at %g, %g, %g: %.17g, not %.17g"):format(k, at[1], at[2], at[3], y, at[k + 3]))
    end
  end
  for _, a in ipairs { 1e11, 1e15, 1e100 } do -- to a part of 1 / a
    local y, d, s = derivatives(a, a, 0.5), 0.5 / math.sqrt(math.pi * a), 0.25 / math.sqrt(math.pi * a) / a
    for k, want in ipairs { -d, d, s, 0, -s } do
      assert(math.abs(y[k] - want) < 1e-10 * (k < 3 and d or s),
        ("%d at %g: %.17g, not %.17g"):format(k, a, y[k], want))
    end
  end
end)

it("derivatives in the order are as exact for large orders and arguments", function()
  -- name, order, argument, first and second derivative by mpmath
  for _, at in ipairs {
    { "jv", 3, 1e5, -0.0027005937582363472, 0.0045563651078816176 },
    { "jv", 250, 300, -0.0079540398867662221, -0.020688797519412793 },
    { "jv", 300, 280, -9.704885638256154e-5, 3.5444367586704612e-5 },
    { "jv", -8.5, 40, -0.013854075658159144, 0.40598727191765236 },
    { "yv", 3, 1e5, 0.0029007165724222937, 0.0042419832712513268 },
    { "yv", 250, 300, -0.035410768443906154, 0.0048607889564058479 },
    { "yv", 300, 280, -4.2815100057844917, -1.6674719905403531 },
    { "yv", -8.5, 40, 0.2273531316241918, 0.02083585201647064 },
    { "ive", 400, 1000, -2.3716229780583428e-37, 9.1978093836509868e-38 },
    { "ive", 40, 200, -0.00010331465681114705, 1.8028523919497439e-5 },
    { "ive", -8.5, 40, 0.0054330406495822999, 0.00053089649425650884 },
    { "ive", 0, 36, -1.1200009394860643e-32, -0.0018800255637414219 },
    { "ive", 2.5, 1e155, -3.1539156525252002e-233, -1.2615662610100801e-233 },
    { "ive", -2.5, 1e200, 9.9735570100358174e-301, -3.9894228040143265e-301 },
  } do
    local name, v, x = at[1], damo.array(at[2], "float64"), damo.array(at[3], "float64")
    local got = damo.compile({}, { damo[name .. "_grad_v"](v, x), damo[name .. "_grad_vv"](v, x) })
    for k, y in ipairs { got() } do
      assert(math.abs(y - at[k + 3]) < 3e-13 * math.abs(at[k + 3]),
        ("%s %d at %g, %g: %.17g, not %.17g"):format(name, k, at[2], at[3], y, at[k + 3]))
    end
  end
end)

it("derivatives in the order have their limits where terms underflow or overflow", function()
  local inf, tiny = math.huge, 2.0 ^ -1074
  for _, at in ipairs {
    { "kve_grad_v", tiny, 1, tiny }, { "kve_grad_v", -tiny, 1, -tiny }, { "kve_grad_v", 1e-300, 1e150, 0 },
    { "kve_grad_v", 1000.25, 1e-320, inf }, { "kve_grad_vv", 1000.25, 1e-320, inf },
    -- the signs of values by mpmath that are too large
    { "jv_grad_v", -333.3, 24.9, inf }, { "jv_grad_vv", -333.3, 24.9, -inf },
    { "yv_grad_v", -333.3, 24.9, inf }, { "yv_grad_vv", -333.3, 24.9, -inf },
    { "jv_grad_v", -333, 1, inf }, { "jv_grad_vv", -333, 1, -inf },
    { "yv_grad_v", -333, 1, -inf }, { "yv_grad_vv", -333, 1, inf },
    { "jv_grad_v", -332.5, 1, -inf }, { "yv_grad_vv", -332.5, 1, inf },
    { "ive_grad_v", -333.3, 1e-320, inf }, { "ive_grad_vv", -333.3, 1e-320, -inf },
    { "ive_grad_v", -9999.9, 1e-320, inf }, { "ive_grad_vv", -9999.9, 1e-320, -inf },
  } do
    local y = damo.compile({}, damo[at[1]](damo.array(at[2], "float64"), damo.array(at[3], "float64")))()
    assert(y == at[4], ("%s at %g, %g: %g, not %g"):format(at[1], at[2], at[3], y, at[4]))
  end
end)

it("the derivatives of ellipd and ellipk are as exact near 0, where its formula cancels", function()
  local m = damo.dvector "m"
  local d1 = damo.grad(damo.sum(damo.ellipd(m)), m)
  local d2 = damo.grad(damo.sum(d1), m)
  local d3 = damo.grad(damo.sum(d2), m)
  -- pi / 4 F(1/2, 3/2; 2; m), by mpmath.
  local at = damo.array { 0, 1e-7, 9e-6, 1.1e-5, -0.2, 0.24, 0.26, -3, 0.9 }
  local want = {
    { 0.2945243112740431, 0.2945243480895861, 0.2945276247051615, 0.2945283610320468, 0.2341967888895539,
      0.4138355868782426, 0.4276075920718479, 0.04839580119008364, 4.318727057437322 },
    { 0.3681553890925539, 0.3681554696265579, 0.3681626372545192, 0.3681642479850839, 0.2467322348161901,
      0.6690010418133171, 0.7087521264006945, 0.01636585460367881, 47.23192693418011 },
    { 0.8053399136399617, 0.8053401673220868, 0.8053627454503274, 0.8053678193010764, 0.4528790872038879,
      1.906148988648241, 2.07198469536512, 0.009425094033617076, 967.1457429628905 },
  }
  local got = { damo.compile({ m }, { d1, d2, d3 })(at) }
  for order = 1, 3 do
    for k, w in ipairs(want[order]) do
      local off = math.abs(got[order][k] - w)
      assert(off <= 1e-12 * w, ("order %d at %g: %.16g, not %.16g"):format(order, at[k], got[order][k], w))
    end
  end
  local k2 = damo.grad(damo.sum(damo.grad(damo.sum(damo.ellipk(m)), m)), m)
  assert.is_true(math.abs(damo.compile({ m }, k2)(damo.zeros(1))[1] - 9 * math.pi / 64) < 1e-15)
end)

describe("lambertw of complex numbers", function()
  local z = damo.complex({ 1.101, 0.001, -0.3, -0.776, 2.674, -40 }, { 1.801, -2.459, 0.02, -0.307, -0.773, 1e-3 })

  it("inverts w exp(w)", function()
    for _, k in ipairs { 0, -1 } do
      local w = damo.lambertw(z, { k = k })
      assert.equal("complex128", w.dtype)
      assert.is_true(damo.allclose(damo.abs(w * damo.exp(w) - z), 0, { atol = 1e-13 }))
    end
    local w = damo.lambertw(z:astype "complex64")
    assert.equal("complex64", w.dtype)
    assert.is_true(damo.allclose(damo.abs(w - damo.lambertw(z)), 0, { atol = 1e-6 }))
    assert.is_true(math.abs(damo.lambertw(z)[1]:real() - 0.8077329852292366) < 1e-14)
  end)

  it("has a gradient", function()
    local v = damo.zvector "v"
    local cost = damo.sum(damo.real(damo.lambertw(v)) * damo.arange(1, 7))
    local f = damo.compile({ v }, { cost, damo.grad(cost, v) })
    local _, slope = f(z)
    local step = 1e-6
    for n = 1, 6 do
      local up, down = z:copy(), z:copy()
      up[n], down[n] = z[n] + step, z[n] - step
      local differs = (f(up) - f(down)) / (2 * step)
      assert(math.abs(damo.real(slope)[n] - differs) < 1e-7 * (1 + math.abs(differs)))
    end
  end)
end)

-- Sums of the series with 200 digits.
it("hyp2f1 keeps its digits where the terms of its series cancel", function()
  local points = {
    { 20, -30.5, 40, 0.99, 5.6957869074981062e-07 },
    { -10.5, 8.25, 3.125, 0.95, 1.7512756127613034e-06 },
    { -20.5, 21.5, 2.5, 0.875, -0.0006128780144679973 },
    { 12.25, -25.5, 6, 0.5, -1.736282428326345e-07 },
    { 18, -33.25, 7.25, 0.92, -1.2091626982071007e-16 },
    { 30, -40, 12.5, -0.75, 744879655527681.25 },
    { -20, 15.5, 4.25, 0.9375, 4.7196479527865693e-10 },
    { -8, 30.5, 2.5, -3, 25466387300.425781 },
  }
  for _, p in ipairs(points) do
    local a, b, c, x, want = table.unpack(p)
    local got = damo.hyp2f1(a, b, c, x)
    assert(math.abs(got / want - 1) < 1e-13, ("%g, %g, %g, %g: %.17g, not %.17g"):format(a, b, c, x, got, want))
  end
end)
