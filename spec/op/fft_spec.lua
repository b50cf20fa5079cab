-- Fourier transforms: rows, all lengths, derivatives, batches, instruction sets, errors.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "fft"

local fft = damo.fft
local Z = damo.zeros

local function normal(shape, dtype) return damo.cast(damo.random.normal(0, 1, { size = shape }), dtype or "float64") end

local function complex_normal(shape) return damo.complex(normal(shape), normal(shape)) end

local function distance(a, b) return damo.max(damo.abs(damo.sub(a, b))) end

describe("a Fourier transform", function()
  it("is undone by its inverse, at any length", function()
    for n = 1, 130 do
      local z, x = complex_normal { 2, n }, normal { 2, n }
      assert.is_true(distance(fft.ifft(fft.fft(z)), z) < 1e-13 * n, n)
      assert.is_true(distance(fft.irfft(fft.rfft(x), { n = n }), x) < 1e-13 * n, n)
    end
    for _, n in ipairs { 1009, 4096, 5041, 10007, 32768 } do
      local x = normal { n }
      assert.is_true(distance(fft.irfft(fft.rfft(x), { n = n }), x) < 1e-12, n)
    end
  end)

  it("of real numbers is half of that of complex ones", function()
    for _, n in ipairs { 1, 2, 5, 12, 35, 64, 74, 100 } do
      local x = normal { 3, n }
      local half, whole = fft.rfft(x), fft.fft(x)
      assert.is_true(distance(half, whole[{ {}, { 1, math.floor(n / 2) + 1 } }]) < 1e-12, n)
      assert.equal(0, damo.max(damo.abs(damo.imag(half[{ {}, 1 }]))))
    end
  end)

  it("is the same along every axis and for every layout", function()
    local z = complex_normal { 20, 60, 7 }
    for axis = 1, 3 do
      local last = damo.moveaxis(z, { source = axis, destination = 3 }):copy()
      local want = damo.moveaxis(fft.fft(last), { source = 3, destination = axis })
      assert.is_true(distance(fft.fft(z, { axis = axis }), want) < 1e-12)
    end
    local strided = z[{ { 1, -1, 2 }, { -1, 1, -1 } }]
    assert.is_true(distance(fft.fft(strided, { axis = 2 }), fft.fft(strided:copy(), { axis = 2 })) == 0)
  end)

  it("of single precision stays single", function()
    local x = normal({ 4, 90 }, "float32")
    assert.equal("complex64", fft.rfft(x).dtype)
    assert.equal("float32", fft.irfft(fft.rfft(x)).dtype)
    assert.is_true(distance(fft.rfft(x), fft.rfft(damo.cast(x, "float64"))) < 2e-5)
    assert.equal("complex128", fft.fft(damo.array({ 1, 2, 3 }, "int32")).dtype)
    assert.equal("complex128", fft.fft(damo.array({ true, false }, "bool")).dtype)
  end)

  it("of an empty batch is empty", function()
    assert.same({ 0, 5 }, fft.rfft(Z { 0, 8 }).shape)
    assert.same({ 3, 0, 4 }, fft.fft(Z { 3, 0, 4 }).shape)
  end)

  it("has the same bits on several threads", function()
    local z = complex_normal { 600, 500 }
    local X = damo.zmatrix "x"
    local out = { fft.fft(X), fft.fft(X, { axis = 1 }) }
    local one, four = damo.compile({ X }, out, { threads = 1 }), damo.compile({ X }, out, { threads = 4 })
    local a, b = { one(z) }, { four(z) }
    assert.equal(0, distance(a[1], b[1]))
    assert.equal(0, distance(a[2], b[2]))
  end)

  it("with a symbolic length, and of an unknown one", function()
    local X, n = damo.dmatrix "x", damo.lscalar "n"
    local y = fft.rfft(X, { n = n })
    local f = damo.compile({ X, n }, { y, damo.shape(y), fft.irfft(fft.rfft(X)) })
    local x = normal { 3, 8 }
    for _, length in ipairs { 5, 8, 12 } do
      local r = { f(x, length) }
      assert.equal(0, distance(r[1], fft.rfft(x, { n = length })))
      assert.same({ 3, math.floor(length / 2) + 1 }, r[2]:totable())
      assert.is_true(distance(r[3], x) < 1e-14)
    end
  end)

  it("passes DEBUG mode's check", function()
    local X, C = damo.dmatrix "x", damo.zmatrix "c"
    local f = damo.compile({ X, C }, { fft.rfft(X), fft.rfft(X, { n = 5 }), fft.irfft(C), fft.irfft(C, { n = 7 }),
      fft.ifft2(C), fft.hfft(C), damo.grad(damo.sum(damo.sqr(damo.abs(fft.rfft(X, { n = 7 })))), X),
      damo.grad(damo.sum(damo.sqr(fft.irfft(C))), C) }, { mode = "DEBUG" })
    f(normal { 3, 6 }, complex_normal { 3, 4 })
  end)
end)

describe("its derivatives", function()
  -- A real function of a transform whose gradient mixes all parts.
  local function weigh(y)
    local w = damo.cos(damo.add(damo.arange(damo.size(y)), 0.3)):reshape(damo.shape(y))
    if y.dtype:find "complex" then
      return damo.sum(damo.mul(w, damo.add(damo.sqr(damo.real(y)), damo.mul(damo.imag(y), damo.real(y)))))
    end
    return damo.sum(damo.mul(w, damo.sqr(y)))
  end

  local functions = {
    fft = function(x) return fft.fft(x) end,
    ["fft, cut"] = function(x) return fft.fft(x, { n = 4, norm = "ortho" }) end,
    ["fft, padded"] = function(x) return fft.fft(x, { n = 9, axis = 1 }) end,
    ["ifft2"] = function(x) return fft.ifft2(x) end,
    rfft = function(x) return fft.rfft(x) end,
    ["rfft, odd"] = function(x) return fft.rfft(x, { n = 5, norm = "forward" }) end,
    ["rfft, padded"] = function(x) return fft.rfft(x, { n = 11 }) end,
    rfft2 = function(x) return fft.rfft2(x, { s = { 4, 4 } }) end,
    ["irfft of both parts"] = function(x)
      return fft.irfft(damo.complex(x, damo.sin(x)), { n = 9 })
    end,
    ["irfft, even"] = function(x) return fft.irfft(damo.complex(x, damo.sin(x))) end,
    ["irfft, cut"] = function(x) return fft.irfft(damo.complex(x, damo.sin(x)), { n = 6 }) end,
    ["irfft, padded"] = function(x) return fft.irfft(damo.complex(x, damo.sin(x)), { n = 16 }) end,
    irfftn = function(x) return fft.irfftn(damo.complex(x, damo.sin(x))) end,
    hfft = function(x) return fft.hfft(damo.complex(x, damo.sin(x))) end,
    ihfft = function(x) return fft.ihfft(x) end,
    shift = function(x) return damo.mul(fft.fftshift(x), x) end,
  }
  for name, f in pairs(functions) do
    it("agree with finite differences: " .. name, function()
      local x = normal { 3, 6 }
      damo.verify_grad(function(v) return weigh(f(v)) end, { x })
      local X = damo.dmatrix "x"
      local g = damo.grad(weigh(f(X)), X)
      damo.verify_grad(function(v)
        return damo.sum(damo.mul(damo.graph.clone_replace(g, { [X] = v }), damo.sin(damo.arange(6))))
      end, { x })
      local T = damo.dmatrix "t"
      local forward = damo.Rop(weigh(f(X)), X, T)
      local both = damo.compile({ X, T }, { forward, damo.sum(damo.mul(g, T)) })
      local r = { both(x, normal { 3, 6 }) }
      assert.is_true(math.abs(r[1] - r[2]) < 1e-9 * (1 + math.abs(r[2])))
    end)
  end
end)

h.run_errors("fft", {
    { "an axis that is not there", "index", "fft.fft: there is no axis 3 in a tensor of 2 dimensions",
      function() return fft.fft(Z { 2, 3 }, { axis = 3 }) end },
    { "no points", "value", "fft.rfft: a transform has at least one point, got 0",
      function() return fft.rfft(Z { 4 }, { n = 0 }) end },
    { "an empty axis", "value", "a Fourier transform needs at least one point along its axis, got 0",
      function() return fft.fft(Z { 3, 0 }) end },
    { "complex operands of rfft", "type",
      "fft.rfft: the operand must be real, got complex128; damo.fft.fft and fftn take complex ones",
      function() return fft.rfft(damo.zvector "z") end },
    { "an unknown norm", "value", 'fft.fft: norm is "backward", "ortho" or "forward", got "both"',
      function() return fft.fft(Z { 4 }, { norm = "both" }) end },
    { "lengths that do not fit the axes", "value", "fft.fftn: s has 1 lengths for 2 axes",
      function() return fft.fftn(Z { 4, 4 }, { s = { 4 }, axes = { 1, 2 } }) end },
    { "two axes of a vector", "shape", "fft.fft2: 2 axes of an operand of rank 1",
      function() return fft.fft2(Z { 4 }) end },
    { "a scalar", "shape", "fft.fft: the operand must have an axis, got a scalar", function() return fft.fft(1.5) end },
    { "frequencies without n", "type", "fft.fftfreq: n, the number of points, is missing",
      function() return fft.fftfreq() end },
  })
