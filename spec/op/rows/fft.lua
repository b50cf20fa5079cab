-- The rows of Fourier transforms, against the sums that define them.
return function(h)
  local damo = require "damo"
  local rows = {}

  -- y_k = scale * sum of (x_j + i z_j) exp(sign 2 pi i j k / n), as two lists.
  local function transform(x, z, n, sign, scale)
    local re, im = {}, {}
    for k = 0, n - 1 do
      local a, b = 0, 0
      for j = 0, n - 1 do
        local t = sign * 2 * math.pi * (j * k % n) / n
        local c, s, u, v = math.cos(t), math.sin(t), x[j + 1] or 0, z and z[j + 1] or 0
        a, b = a + u * c - v * s, b + u * s + v * c
      end
      re[k + 1], im[k + 1] = scale * a, scale * b
    end
    return re, im
  end

  local function first(list, n) return { table.unpack(list, 1, n) } end

  -- A check that a complex result has these parts; im nil: that it is real.
  local function is(re, im)
    return function(y)
      h.compare(damo.real(y), re, 1e-12, "real parts")
      if im then h.compare(damo.imag(y), im, 1e-12, "imaginary parts") end
    end
  end

  local x = { 1, -2, 0.5, 3, -1, 0.25 }
  local z = { 0.5, 1, -1, 2, 0, -0.75 }
  local function forward(n, scale) return is(transform(x, nil, n, -1, scale)) end
  local function half(n, scale)
    local re, im = transform(x, nil, n, -1, scale)
    return is(first(re, math.floor(n / 2) + 1), first(im, math.floor(n / 2) + 1))
  end
  local complex = damo.complex(damo.array(x), damo.array(z))

  rows["fft.fft"] = {
    { x, check = forward(6, 1), grad = false },
    { x, opts = { n = 4 }, check = forward(4, 1), grad = false },
    { x, opts = { n = 9, norm = "ortho" }, check = forward(9, 1 / 3), grad = false },
    { x, opts = { norm = "forward" }, check = forward(6, 1 / 6), grad = false },
    { complex, check = is(transform(x, z, 6, -1, 1)), grad = false, dtypes = false },
  }
  rows["fft.ifft"] = {
    { complex, check = is(transform(x, z, 6, 1, 1 / 6)), grad = false, dtypes = false },
    { x, opts = { n = 5, norm = "forward" }, check = is(transform(x, nil, 5, 1, 1)), grad = false },
  }
  rows["fft.rfft"] = {
    { x, check = half(6, 1), grad = false },
    { x, opts = { n = 5 }, check = half(5, 1), grad = false },
    { x, opts = { n = 8, norm = "forward" }, check = half(8, 1 / 8), grad = false },
  }

  -- The n points of which the first n/2 + 1 are x + i z, their other half being conjugates.
  local function from_half(n, sign, scale)
    local re, im = {}, {}
    for j = 0, n - 1 do
      local k = 2 * j <= n and j or n - j
      local alone = k == 0 or 2 * k == n
      re[j + 1], im[j + 1] = x[k + 1] or 0, alone and 0 or (k == j and 1 or -1) * (z[k + 1] or 0)
    end
    return transform(re, im, n, sign, scale)
  end
  rows["fft.irfft"] = {
    { complex, want = from_half(10, 1, 1 / 10), dtypes = false },
    { complex, opts = { n = 11 }, want = from_half(11, 1, 1 / 11), dtypes = false },
    { complex, opts = { n = 7, norm = "ortho" }, want = from_half(7, 1, 1 / math.sqrt(7)), dtypes = false },
  }
  rows["fft.hfft"] = { { complex, opts = { n = 9 }, want = from_half(9, -1, 1), dtypes = false } }
  rows["fft.ihfft"] = {
    { x, check = function(y)
      local re, im = transform(x, nil, 6, 1, 1 / 6)
      is(first(re, 4), first(im, 4))(y)
    end, grad = false },
  }

  -- Along two axes: rows, then columns.
  local m = { { 1, -2, 0.5 }, { 3, -1, 0.25 }, { 0, 2, -4 }, { 1, 1, 5 } }
  local function both(rows_n, columns_n, sign, scale, keep)
    local re, im, out_re, out_im = {}, {}, {}, {}
    for i = 1, rows_n do re[i], im[i] = transform(m[i] or {}, nil, columns_n, sign, scale) end
    for k = 1, keep or columns_n do
      local a, b = {}, {}
      for i = 1, rows_n do a[i], b[i] = re[i][k], im[i][k] end
      local c, d = transform(a, b, rows_n, sign, 1)
      for i = 1, rows_n do
        out_re[i], out_im[i] = out_re[i] or {}, out_im[i] or {}
        out_re[i][k], out_im[i][k] = c[i], d[i]
      end
    end
    return is(out_re, out_im)
  end
  for _, name in ipairs { "fft.fft2", "fft.fftn" } do
    rows[name] = {
      { m, check = both(4, 3, -1, 1), grad = false },
      { m, opts = { s = { 3, 5 }, norm = "forward" }, check = both(3, 5, -1, 1 / 15), grad = false },
    }
  end
  for _, name in ipairs { "fft.ifft2", "fft.ifftn" } do
    rows[name] = { { m, check = both(4, 3, 1, 1 / 12), grad = false } }
  end
  for _, name in ipairs { "fft.rfft2", "fft.rfftn" } do
    rows[name] = {
      { m, check = both(4, 3, -1, 1, 2), grad = false },
      { m, opts = { s = { 2, 4 }, axes = { 1, 2 } }, check = both(2, 4, -1, 1, 3), grad = false },
    }
  end
  for _, name in ipairs { "fft.irfft2", "fft.irfftn" } do
    rows[name] = { { damo.fft.rfft2(damo.array(m)), opts = { s = { 4, 3 } }, want = m, dtypes = false } }
  end

  rows["fft.fftshift"] = {
    { { 1, 2, 3, 4, 5 }, want = { 4, 5, 1, 2, 3 } },
    { m, opts = { axes = 1 }, want = { m[3], m[4], m[1], m[2] } },
  }
  rows["fft.ifftshift"] = {
    { { 4, 5, 1, 2, 3 }, want = { 1, 2, 3, 4, 5 } },
    { { 3, 4, 1, 2 }, want = { 1, 2, 3, 4 } },
  }
  rows["fft.fftfreq"] = {
    { opts = { n = 5 }, want = { 0, 0.2, 0.4, -0.4, -0.2 } },
    { opts = { n = 4, d = 0.5 }, want = { 0, 0.5, -1, -0.5 } },
  }
  rows["fft.rfftfreq"] = { { opts = { n = 5, d = 2 }, want = { 0, 0.1, 0.2 } } }
  return rows
end
