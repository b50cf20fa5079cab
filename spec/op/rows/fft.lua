-- The rows of Fourier transforms, against the sums that define them.
-- luacheck: no max line length
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

  -- ---- Cosine and sine transforms: values of SciPy's -----------------------------------------------------------------

  local c = { 1, -2, 0.5, 3, -1 }
  local grid = { { 1, 2, -1 }, { 3, 5, 0.5 } }
  rows["fft.dct"] = {
    { c, opts = { type = 1, norm = "backward" }, want = { 3, -5.07106781186548, -1, 9.07106781186548, -1 } },
    { c, opts = { type = 1, norm = "ortho" }, want = { 0.75, -1.5, -0.353553390593274, 3.5, -0.25 } },
    { c, opts = { type = 1, norm = "forward" }, want = { 0.375, -0.633883476483184, -0.125, 1.13388347648318, -0.125 } },
    { c, opts = { type = 2, norm = "backward" }, want = { 3, -2.07362645774412, -1.61803398874989, 11.8617061721214, -0.618033988749895 } },
    { c, opts = { type = 2, norm = "ortho" }, want = { 0.670820393249937, -0.655738262285831, -0.511667273601693, 3.7510008439581, -0.195439507584855 } },
    { c, opts = { type = 2, norm = "forward" }, want = { 0.3, -0.207362645774412, -0.16180339887499, 1.18617061721214, -0.0618033988749895 } },
    { c, opts = { type = 3, norm = "backward" }, want = { 0.913468454199278, -5.74846311256587, -2, 10.3664971013158, 1.46849755705083 } },
    { c, opts = { type = 3, norm = "ortho" }, want = { 0.419849918081412, -1.68683781863378, -0.501469702550556, 3.40916004925223, 0.595365531350488 } },
    { c, opts = { type = 3, norm = "forward" }, want = { 0.0913468454199278, -0.574846311256587, -0.2, 1.03664971013158, 0.146849755705083 } },
    { c, opts = { type = 4, norm = "backward" }, want = { 1.52953143398017, -4.56898063706247, 6.36396103067893, 8.28646098166431, -4.48547811609529 } },
    { c, opts = { type = 4, norm = "ortho" }, want = { 0.48368030842008, -1.44483853983245, 2.01246117974981, 2.6204090444174, -1.41843272417023 } },
    { c, opts = { type = 4, norm = "forward" }, want = { 0.152953143398017, -0.456898063706247, 0.636396103067893, 0.828646098166431, -0.448547811609529 } },
    { c, opts = { n = 3 }, want = { -1, 0.866025403784439, 5.5 }, int = false },
    { c, opts = { n = 7, type = 3 }, want = { 1.44526651026584, -2.70616969481631, -6.76355036350728, -2, 8.40665449561507, 8.75508703433862, -0.137287981895934 } },
    { c, opts = { orthogonalize = true }, want = { 2.12132034355964, -2.07362645774412, -1.61803398874989, 11.8617061721214, -0.618033988749895 } },
    { grid, opts = { axis = 1 }, want = { { 8, 14, -1 }, { -2.82842712474619, -4.24264068711928, -2.12132034355964 } } },
  }
  rows["fft.idct"] = {
    { c, opts = { type = 1, norm = "backward" }, want = { 0.375, -0.633883476483184, -0.125, 1.13388347648318, -0.125 } },
    { c, opts = { type = 1, norm = "ortho" }, want = { 0.75, -1.5, -0.353553390593274, 3.5, -0.25 } },
    { c, opts = { type = 2, norm = "backward" }, want = { 0.0913468454199278, -0.574846311256587, -0.2, 1.03664971013158, 0.146849755705083 } },
    { c, opts = { type = 2, norm = "ortho" }, want = { 0.419849918081412, -1.68683781863378, -0.501469702550556, 3.40916004925223, 0.595365531350488 } },
    { c, opts = { type = 3, norm = "backward" }, want = { 0.3, -0.207362645774412, -0.16180339887499, 1.18617061721214, -0.0618033988749895 } },
    { c, opts = { type = 3, norm = "ortho" }, want = { 0.670820393249937, -0.655738262285831, -0.511667273601693, 3.7510008439581, -0.195439507584855 } },
    { c, opts = { type = 4, norm = "backward" }, want = { 0.152953143398017, -0.456898063706247, 0.636396103067893, 0.828646098166431, -0.448547811609529 } },
    { c, opts = { type = 4, norm = "ortho" }, want = { 0.48368030842008, -1.44483853983245, 2.01246117974981, 2.6204090444174, -1.41843272417023 } },
    { c, opts = { n = 3 }, want = { -0.327350269189626, 1.11022302462516e-16, 0.827350269189626 }, int = false },
    { c, opts = { n = 7, type = 3 }, want = { 0.214285714285714, 0.008870079417443, -0.318904014154406, 0.0267438703472015, 0.790955429234533, 0.508069541026179, -0.282997699468204 } },
    { c, opts = { orthogonalize = true }, want = { 0.132768201657237, -0.533424955019277, -0.158578643762691, 1.07807106636889, 0.188271111942392 } },
    { grid, opts = { axis = 1 }, want = { { 1.31066017177982, 2.26776695296637, -0.0732233047033631 }, { -0.810660171779821, -1.26776695296637, -0.426776695296637 } } },
  }
  rows["fft.dst"] = {
    { c, opts = { type = 1, norm = "backward" }, want = { 2.73205080756888, -5.19615242270663, -1, 12.1243556529821, -0.732050807568878 } },
    { c, opts = { type = 1, norm = "ortho" }, want = { 0.788675134594813, -1.5, -0.288675134594813, 3.5, -0.211324865405187 } },
    { c, opts = { type = 1, norm = "forward" }, want = { 0.22767090063074, -0.433012701892219, -0.0833333333333333, 1.01036297108184, -0.0610042339640731 } },
    { c, opts = { type = 2, norm = "backward" }, want = { 2.61803398874989, -7.15942415378164, -0.381966011250106, 9.68207858810534, -1 } },
    { c, opts = { type = 2, norm = "ortho" }, want = { 0.827895039618531, -2.26400870611736, -0.120788258431983, 3.06174208231601, -0.223606797749979 } },
    { c, opts = { type = 2, norm = "forward" }, want = { 0.261803398874989, -0.715942415378164, -0.0381966011250106, 0.968207858810535, -0.1 } },
    { c, opts = { type = 3, norm = "backward" }, want = { 3.78224907172587, -4.40388659581061, 0, 10.2579885620603, -2.92814710547619 } },
    { c, opts = { type = 3, norm = "ortho" }, want = { 1.06506634498801, -1.26164539050157, -0.13098582948312, 3.37484663628972, -1.05694724721652 } },
    { c, opts = { type = 3, norm = "forward" }, want = { 0.378224907172587, -0.440388659581061, 0, 1.02579885620603, -0.292814710547619 } },
    { c, opts = { type = 4, norm = "backward" }, want = { 2.57467617624875, -1.49225932357956, -7.77817459305202, 8.53475517040103, 3.20969763061255 } },
    { c, opts = { type = 4, norm = "ortho" }, want = { 0.814184095431918, -0.471893832213362, -2.45967477524977, 2.69892656103658, 1.01499551131815 } },
    { c, opts = { type = 4, norm = "forward" }, want = { 0.257467617624875, -0.149225932357956, -0.777817459305202, 0.853475517040103, 0.320969763061255 } },
    { c, opts = { n = 3 }, want = { -2.5, 0.866025403784439, 7 }, int = false },
    { c, opts = { n = 7, type = 3 }, want = { 2.22204787230447, 1.29658112551057, -6.15049699739707, -1, 11.8032898085291, 3.88939955355446, -3.68886000437142 } },
    { c, opts = { orthogonalize = true }, want = { 2.61803398874989, -7.15942415378164, -0.381966011250106, 9.68207858810534, -0.707106781186548 } },
    { grid, opts = { axis = 1 }, want = { { 5.65685424949238, 9.89949493661166, -0.707106781186547 }, { -4, -6, -3 } } },
  }
  rows["fft.idst"] = {
    { c, opts = { type = 1, norm = "backward" }, want = { 0.22767090063074, -0.433012701892219, -0.0833333333333333, 1.01036297108184, -0.0610042339640731 } },
    { c, opts = { type = 1, norm = "ortho" }, want = { 0.788675134594813, -1.5, -0.288675134594813, 3.5, -0.211324865405187 } },
    { c, opts = { type = 2, norm = "backward" }, want = { 0.378224907172587, -0.440388659581061, 0, 1.02579885620603, -0.292814710547619 } },
    { c, opts = { type = 2, norm = "ortho" }, want = { 1.06506634498801, -1.26164539050157, -0.13098582948312, 3.37484663628972, -1.05694724721652 } },
    { c, opts = { type = 3, norm = "backward" }, want = { 0.261803398874989, -0.715942415378164, -0.0381966011250106, 0.968207858810535, -0.1 } },
    { c, opts = { type = 3, norm = "ortho" }, want = { 0.827895039618531, -2.26400870611736, -0.120788258431983, 3.06174208231601, -0.223606797749979 } },
    { c, opts = { type = 4, norm = "backward" }, want = { 0.257467617624875, -0.149225932357956, -0.777817459305202, 0.853475517040103, 0.320969763061255 } },
    { c, opts = { type = 4, norm = "ortho" }, want = { 0.814184095431918, -0.471893832213362, -2.45967477524977, 2.69892656103658, 1.01499551131815 } },
    { c, opts = { n = 3 }, want = { -0.327350269189626, 0.25, 0.827350269189626 }, int = false },
    { c, opts = { n = 7, type = 3 }, want = { 0.217865270898234, -0.0490321230777207, -0.581026780995421, -0.221189694862832, 0.665393662392059, 0.455630926542031, -0.0714285714285714 } },
    { c, opts = { orthogonalize = true }, want = { 0.336803550935278, -0.398967303343752, -0.0414213562373095, 1.06722021244334, -0.334236066784928 } },
    { grid, opts = { axis = 1 }, want = { { 1.10355339059327, 1.95710678118655, -0.228553390593274 }, { -0.396446609406726, -0.542893218813453, -0.478553390593274 } } },
  }
  rows["fft.dctn"] = {
    { grid, want = { { 42, 15.5884572681199, -21 }, { -18.3847763108502, -1.22474487139159, 3.53553390593274 } } },
    { grid, opts = { type = 4, norm = "ortho" }, want = { { 3.6507921888364, -0.552355956725986, -2.31140017555859 }, { -4.28772513878717, 1.33350524198544, 1.05414677499767 } } },
    { grid, opts = { s = { 3, 2 }, axes = { 1, 2 } }, want = { { 44, -8.48528137423857 }, { 10.3923048454133, -2.44948974278318 }, { -26, 4.24264068711928 } } },
  }
  rows["fft.idctn"] = {
    { grid, want = { { 0.860887408223312, 0.242851130197758, -0.448408452531159 }, { -0.572212273628499, 0.00714886980224211, 0.159733317936346 } } },
    { grid, opts = { type = 4, norm = "ortho" }, want = { { 3.6507921888364, -0.552355956725986, -2.31140017555859 }, { -4.28772513878717, 1.33350524198544, 1.05414677499767 } } },
    { grid, opts = { s = { 3, 2 }, axes = { 1, 2 } }, want = { { 0.886334510890363, -0.36998847566481 }, { 0.159517796864425, -0.0761844635310912 }, { -0.567298917161514, 0.217619548602628 } } },
  }
  rows["fft.dstn"] = {
    { grid, want = { { 24.7487373415292, 11.0227038425243, -9.89949493661166 }, { -19, -1.73205080756888, -2 } } },
    { grid, opts = { type = 4, norm = "ortho" }, want = { { 3.83798942756331, 4.88428525671791, -0.604411063773806 }, { -0.96482784493371, 0.476540516998749, -0.374564168344105 } } },
    { grid, opts = { s = { 3, 2 }, axes = { 1, 2 } }, want = { { 26.8700576850888, -10 }, { 7.34846922834953, -3.46410161513776 }, { -14.1421356237309, 4 } } },
  }
  rows["fft.idstn"] = {
    { grid, want = { { 0.710801396808781, 0.405943361963303, -0.419134730142114 }, { -0.302553106344918, -0.0523899713700298, 0.0108864396782513 } } },
    { grid, opts = { type = 4, norm = "ortho" }, want = { { 3.83798942756331, 4.88428525671791, -0.604411063773806 }, { -0.96482784493371, 0.476540516998749, -0.374564168344105 } } },
    { grid, opts = { s = { 3, 2 }, axes = { 1, 2 } }, want = { { 0.809289034523626, -0.0790654686300732 }, { 0.284517796864425, -0.0488155364689087 }, { -0.524771237659201, 0.0302499321611645 } } },
  }
  return rows
end
