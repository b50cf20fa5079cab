-- Reductions.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "reduce"

local Z = damo.zeros

local X = damo.dvector "x"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("reduce", {
    { "an axis that is not there", "index", "sum: there is no axis 3 in a tensor of 2 dimensions",
      function() return damo.sum(Z { 2, 3 }, { axis = 3 }) end },
    { "axis 0", "index", "sum: there is no axis 0 in a tensor of 2 dimensions (axes count from 1)",
      function() return damo.sum(Z { 2, 3 }, { axis = 0 }) end },
    { "an axis too far from the end", "index", "max: there is no axis -3 in a tensor of 2 dimensions",
      function() return damo.max(damo.dmatrix "x", { axis = -3 }) end },
    { "an axis twice", "value", "mean: axis -2 is named twice",
      function() return damo.mean(Z { 2, 3 }, { axis = { 1, -2 } }) end },
    { "an axis of a scalar", "index", "sum: there is no axis 1 in a tensor of 0 dimensions",
      function() return damo.sum(damo.array(1.5), { axis = 1 }) end },
    { "an axis that is a fraction", "type", "sum: option 'axis' must be an integer or a list of integers, got number",
      function() return damo.sum(Z { 2, 3 }, { axis = 1.5 }) end },
    { "an axis that is a string", "type", "sum: option 'axis' must be an integer or a list of integers, got string",
      function() return damo.sum(Z { 2, 3 }, { axis = "rows" }) end },
    { "a misspelt option", "value", "sum: unknown option 'keepdim', did you mean 'keepdims'?",
      function() return damo.sum(Z { 2 }, { keepdim = true }) end },
    { "an option that is another function's", "value", "max: unknown option 'dtype': the options are axis, keepdims",
      function() return damo.max(Z { 2 }, { dtype = "int8" }) end },
    { "an option of the wrong kind", "type", "sum: option 'keepdims' must be true or false, got number",
      function() return damo.sum(Z { 2 }, { keepdims = 1 }) end },
    { "the maximum of nothing", "value", "max: axis 1 of shape (0,) is empty and has no such element",
      function() return damo.max(Z { 0 }) end },
    { "the minimum over an empty axis", "value", "min: axis 2 of shape (2, 0) is empty and has no such element",
      function() return damo.min(Z { 2, 0 }, { axis = 2 }) end },
    { "the position of the maximum of nothing", "value",
      "argmax: axis 1 of shape (0,) is empty and has no such element",
      function() return damo.argmax(Z { 0 }) end },
    { "the maximum of what turns out to be nothing", "value",
      "max: axis 1 of shape (0,) is empty and has no such element",
      function() return call({ X }, damo.max(X), Z { 0 }) end },
    { "a string", "type",
      "sum: argument 1 (x) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return damo.sum "abc" end },
    { "no operand", "type", "sum: argument 1 (x) must be a Variable, Array, number or table, got nothing",
      function() return damo.sum() end },
    { "too many arguments", "type", "sum: too many arguments: 4 given; operands: x, then a table of options",
      function() return damo.sum(Z { 2 }, 1, true, 4) end },
})

describe("logsumexp of complex numbers", function()
  local inf = math.huge
  local function z(re, im, dtype)
    return damo.cast(damo.complex(damo.array(re), damo.array(im)), dtype or "complex128")
  end
  -- From scipy.special.logsumexp.
  local x = z({ 1, 3, 0.5 }, { 2, 4, -1 })
  local function close(got, re, im, tol)
    assert.is_true(math.abs(damo.real(got) - re) <= tol and math.abs(damo.imag(got) - im) <= tol, tostring(got))
  end

  it("is the logarithm whose imaginary part lies between -pi and pi", function()
    close(damo.logsumexp(x), 2.9674576300161073, -2.3290149617655285, 2e-15)
    close(damo.logsumexp(x, z({ 1, 2, 0 }, { 0, 0, -1 })), 3.7068932, -2.3554214, 1e-7)
    close(damo.logsumexp(z({ 1, 3, 0.5 }, { 2, 4, -1 }, "complex64")), 2.96745763, -2.32901496, 1e-6)
    assert.equal("complex64", damo.logsumexp(damo.cast(x, "complex64")).dtype)
    close(damo.logsumexp(z({ 1000, 1000 }, { 3, 1 })), 1000.077520710174, 2, 1e-12)
    close(damo.logsumexp(z({ -inf, 2 }, { 3, 0 })), 2, 0, 0)
    for _, y in ipairs { z({ -inf, -inf }, { 0, 1 }), damo.zeros({ 0 }, "complex128") } do
      assert.equal(-inf, damo.real(damo.logsumexp(y)))
    end
    local far = damo.logsumexp(z({ inf, 2 }, { 1, 0 }))
    assert.equal(inf, damo.real(far))
    assert.is_true(math.abs(damo.imag(far) - math.pi / 4) < 1e-15)
  end)

  it("gives the modulus and the sign apart", function()
    local size, sign = damo.logsumexp(x, damo.array { 1, -2, 0 }, { return_sign = true })
    assert.equal("float64", damo.logsumexp(damo.stack { x, x }, { axis = 2, return_sign = true }).dtype)
    assert.is_true(math.abs(size - 3.7227051) < 1e-7)
    close(sign, 0.60726646, 0.79449823, 1e-8)
  end)

  it("has gradients, and compiles to the same", function()
    local weights = z({ 1, 2, 0.5 }, { 0.5, 0, -1 })
    damo.verify_grad(function(re, im) return damo.real(damo.logsumexp(damo.complex(re, im), weights)) end,
      { damo.real(x), damo.imag(x) })
    damo.verify_grad(function(re, im)
      local y = damo.logsumexp(damo.complex(re, im), { axis = 2, keepdims = true })
      return damo.real(y) + 3 * damo.imag(y)
    end, { damo.real(damo.stack { x, -x }), damo.imag(damo.stack { x, -x }) })
    damo.verify_grad(function(re, im)
      return damo.abs(damo.logsumexp(x, damo.complex(re, im)))
    end, { damo.real(weights), damo.imag(weights) })
    local v = damo.zvector "v"
    for _, mode in ipairs { "FAST_RUN", "DEBUG" } do
      for _, graph in ipairs { damo.logsumexp(v), damo.log(damo.sum(damo.exp(v))) } do
        close(damo.compile({ v }, graph, { mode = mode })(x), 2.9674576300161073, -2.3290149617655285, 2e-15)
      end
    end
  end)
end)

describe("the sign of a zero that is the greatest or least", function()
  -- A fold of one block: of equal elements a lane keeps the last, and lanes are folded by halves.
  local function fold(t, lanes, sign)
    local function better(a, b) if sign * a > sign * b then return a end return b end
    local acc = {}
    for i, v in ipairs(t) do
      local l = (i - 1) % lanes
      acc[l] = acc[l] and better(acc[l], v) or v
    end
    local half = lanes / 2
    while half >= 1 do
      for l = 0, half - 1 do
        if acc[l] and acc[l + half] then acc[l] = better(acc[l], acc[l + half]) end
      end
      half = half / 2
    end
    return acc[0]
  end

  it("is that of the lanes", function()
    math.randomseed(5)
    for _, dtype in ipairs { "float64", "float32" } do
      for _, n in ipairs { 5, 33, 64, 129, 300, 512 } do
        for round = 1, 20 do
          local sign, t = round % 2 == 0 and 1 or -1, {}
          for i = 1, n do t[i] = math.random(2) == 1 and -sign or math.random(2) == 1 and 0.0 or -0.0 end
          local x = (sign == 1 and damo.max or damo.min)(damo.array(t, dtype))
          local want = fold(t, dtype == "float64" and 8 or 16, sign)
          assert.equal(want, x)
          if want == 0 then assert.equal(1 / want, 1 / x) end
        end
      end
    end
  end)
end)
