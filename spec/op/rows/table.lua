-- The rows of tables. Values of cubic and pchip are by SciPy's RegularGridInterpolator with a direct solver.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local list = h.list
  local p, u = { 0, 1, 2, 3 }, { 0, 0.5, 2, 3.5 } -- even and not
  local v = { 1, 3, 2, 5 }
  local plane = { { 1, 3, 2 }, { 4, -1, 0.5 }, { 2, 2, 7 }, { -3, 1, 4 } }
  local q = { { 0.25, 1.5 }, { 2.9, 0.1 }, { 1.6, 1.9 } }
  local three = { 0, 1, 3 }
  --- The bilinear value of plane over points p and three.
  local function bilinear(x, y)
    local i, j = math.min(math.floor(x), 2), y < 1 and 0 or 1
    local s, t = x - i, (y - three[j + 1]) / (three[j + 2] - three[j + 1])
    local low, high = plane[i + 1], plane[i + 2]
    return (low[j + 1] * (1 - t) + low[j + 2] * t) * (1 - s) + (high[j + 1] * (1 - t) + high[j + 2] * t) * s
  end
  local function bilinears() return { bilinear(0.25, 1.5), bilinear(2.9, 0.1), bilinear(1.6, 1.9) } end
  local cube, flat = {}, {}
  for i = 1, 3 do
    cube[i] = {}
    for j = 1, 2 do
      cube[i][j] = {}
      for k = 1, 3 do
        cube[i][j][k] = math.sin(i + 2 * j + 3 * k * k)
        flat[#flat + 1] = cube[i][j][k]
      end
    end
  end

  local uneven, waves = { 0, 0.5, 2, 3.5, 4 }, {}
  local points = { { 0.3, 1.2 }, { 2.2, 2.9 }, { 3.7, 0.1 } }
  for i = 1, 5 do
    waves[i] = {}
    for j = 1, 4 do waves[i][j] = math.sin((4 * i + j - 5) ^ 2) end
  end

  local rows = {}
  rows.interpn = {
    -- linear
    { list { p }, v, { 0.5, 1.25, 2.9 }, want = { 2, 2.75, 4.7 } },
    { list { u }, v, { { 0.25 }, { 1.25 }, { 3.2 } }, want = { 2, 2.5, 4.4 } },
    { list { p }, v, damo.array(2.5), want = 3.5 },
    { list { p }, v, { 0, 1, 3 }, want = { 1, 3, 5 }, grad = { 2 } },
    { list { p }, v, { -1, 4 }, opts = { outside = "extrapolate" }, want = { -1, 8 } },
    { list { p }, v, { -1, 4, 0.5 }, opts = { outside = "clip" }, want = { 1, 5, 2 } },
    { list { p }, v, { -1, 4, 0.5 }, opts = { outside = -7.5 }, want = { -7.5, -7.5, 2 } },
    { list { p, three }, plane, q, want = bilinears() },
    { list { p, three }, plane, { q, q }, want = { bilinears(), bilinears() } },
    { list { { 0, 1, 2 }, { 0, 2 }, { 0, 0.5, 2 } }, cube, { { 0.5, 1, 0.25 }, { 2, 2, 2 } },
      want = { (flat[1] + flat[2] + flat[4] + flat[5] + flat[7] + flat[8] + flat[10] + flat[11]) / 8, flat[18] }, grad = { 4 } },
    { list { { 0, 1, 2 } }, cube, { 0.5 }, want = { { { (flat[1] + flat[7]) / 2, (flat[2] + flat[8]) / 2, (flat[3] + flat[9]) / 2 },
      { (flat[4] + flat[10]) / 2, (flat[5] + flat[11]) / 2, (flat[6] + flat[12]) / 2 } } } },
    { list { p }, v, { nan, 0.5 }, opts = { outside = "extrapolate" }, want = { nan, 2 }, grad = false },
    { list { p }, v, { nan, 7 }, opts = { outside = 0 }, want = { nan, 0 }, grad = false },
    { list { p, three }, plane, damo.zeros { 0, 2 }, want = h.shape(0) },
    { list { p }, { 1, inf, 2, 3 }, { 2.5 }, want = { 2.5 }, grad = false },
    { list { h.ints { 0, 1, 2 } }, h.ints { 1, 3, 2 }, { 0.5 }, want = { 2 }, f32 = false },
    { list { p }, damo.complex({ 1, 3, 2, 5 }, { 0, 2, 4, 8 }), { 0.5 }, check = function(y)
      h.compare(damo.real(y), { 2 }, 1e-15, "real part")
      h.compare(damo.imag(y), { 1 }, 1e-15, "imaginary part")
    end },
    -- nearest: the lower point halfway
    { list { p }, v, { 0.5, 0.51, 2.7 }, opts = { method = "nearest" }, want = { 1, 3, 5 }, grad = { 2 } },
    { list { p, three }, plane, { { 1.2, 2 }, { 1.2, 2.1 }, { 9, -4 } }, opts = { method = "nearest", outside = "extrapolate" },
      want = { -1, 0.5, -3 }, grad = { 3 } },
    { list { { 2 } }, { 7 }, { 1, 3 }, opts = { method = "nearest", outside = "clip" }, want = { 7, 7 }, grad = { 2 } },
    -- pchip
    { list { p }, v, { 0.5, 1.25, 2.9 }, opts = { method = "pchip" }, want = { 2.4375, 2.84375, 4.511 }, tol = 1e-11 },
    { list { uneven, p }, waves, points, opts = { method = "pchip" }, tol = 1e-11, f32 = false,
      want = { 0.02793732034461957, 0.7143247564332771, -0.6544448303899136 } },
    { list { uneven, p }, waves, points, opts = { method = "pchip", outside = 1.5 }, tol = 1e-11, f32 = false,
      want = { 0.02793732034461957, 0.7143247564332771, -0.6544448303899136 } },
    { list { p }, v, { -1, 4 }, opts = { method = "pchip", outside = "clip" }, want = { 1, 5 } },
    { list { p }, v, { -1, 4, nan }, opts = { method = "pchip", outside = 2 }, want = { 2, 2, nan }, grad = false },
    { list { { 0, 2 } }, { 1, 5 }, { 0.5 }, opts = { method = "pchip" }, want = { 2 } },
    -- cubic
    { list { uneven, p }, waves, points, opts = { method = "cubic" }, tol = 1e-11, f32 = false, grad = { 3, 4 },
      want = { -0.00913315434791422, 0.8018280115601262, -0.8173633780971735 } },
    { list { p }, { 0, 1, 8, 27 }, { 0.5, 1.5, 2.9 }, opts = { method = "cubic" }, want = { 0.125, 3.375, 24.389 }, tol = 1e-11,
      tol32 = 1e-4, grad = { 2, 3 } },
    { list { p }, { 0, 1, 8, 27 }, { -1, 4 }, opts = { method = "cubic", outside = "extrapolate" }, want = { -1, 64 }, tol = 1e-11,
      tol32 = 1e-4, grad = { 2, 3 } },
  }
  return rows
end
