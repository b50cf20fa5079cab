-- Factors of matrices are not unique: the sign (complex: the phase) of each column of eigenvectors, of U, Q or Z is
-- free, and rows or columns of the other factors go with it; the order of the eigenvalues of a general matrix too.
--
--   factors.align(case, got) → got with the reference's signs and order; turn(i, cotangent), the cotangent of output i
--                              as it belongs to the signs and the order of `got`
-- got is a list of plain values (values.lua), one an output.

local factors = {}

-- What is free in the outputs: columns or rows by a phase of their own (first), or by that of the first factor.
local free = {
  eigh = { nil, "columns" },
  eig = { "order", "columns" },
  eigvals = { "order" },
  svd = { "columns", nil, "rows" },
  qr = { "columns", "rows" },
  schur = { "both", "columns" },
}

local function complex_parts(v)
  local re, im = v.re or v.data, v.im
  if not im then
    im = {}
    for k = 1, #re do im[k] = 0 end
  end
  return re, im
end

-- The batch's size, rows and columns; a vector is one column.
local function extents(v)
  local s, batch = v.shape, 1
  for k = 1, #s - 2 do batch = batch * s[k] end
  return batch, s[#s - 1] or 1, s[#s]
end

-- For each vector (columns or rows) of each matrix the phase d such that got = d * want.
local function phases_of(got, want, along)
  local batch, m, n = extents(want)
  local gr, gi = complex_parts(got)
  local wr, wi = complex_parts(want)
  local list = {}
  for b = 0, batch - 1 do
    for q = 0, (along == "columns" and n or m) - 1 do
      local re, im = 0, 0
      for p = 0, (along == "columns" and m or n) - 1 do
        local i, j = along == "columns" and p or q, along == "columns" and q or p
        local k = b * m * n + i * n + j + 1
        re, im = re + wr[k] * gr[k] + wi[k] * gi[k], im + wr[k] * gi[k] - wi[k] * gr[k]
      end
      local size = math.sqrt(re * re + im * im)
      list[#list + 1] = size > 0 and { re / size, im / size } or { 1, 0 }
    end
  end
  return list
end

-- v with entry (i, j) of matrix b multiplied by factor(b, i, j), a pair.
local function scaled(v, factor)
  local batch, m, n = extents(v)
  local re, im = complex_parts(v)
  local out = { kind = v.kind, shape = v.shape, dtype = v.dtype }
  local r, s = {}, {}
  for b = 0, batch - 1 do
    for i = 0, m - 1 do
      for j = 0, n - 1 do
        local k, f = b * m * n + i * n + j + 1, factor(b, i, j)
        r[k], s[k] = re[k] * f[1] - im[k] * f[2], re[k] * f[2] + im[k] * f[1]
      end
    end
  end
  if v.re then
    out.re, out.im = r, s
  else
    out.data = r
  end
  return out
end

-- v with the entries of its last axis moved: entry j of matrix b comes from place(b, j) (0-based).
local function moved(v, n, place)
  local out = { kind = v.kind, shape = v.shape, dtype = v.dtype }
  local rows = #(v.re or v.data) / n
  local per_batch = #v.shape >= 2 and v.order_rows or 1
  for _, part in ipairs { "re", "im", "data" } do
    local from = v[part]
    if from then
      local to = {}
      for row = 0, rows - 1 do
        for j = 0, n - 1 do to[row * n + j + 1] = from[row * n + place(math.floor(row / per_batch), j) + 1] end
      end
      out[part] = to
    end
  end
  return out
end

-- For each matrix of the batch: the place of the computed eigenvalue that is nearest to each of the reference's.
local function nearest(got, want)
  local n = want.shape[#want.shape]
  local gr, gi = complex_parts(got)
  local wr, wi = complex_parts(want)
  local places = {}
  for b = 0, #wr / n - 1 do
    local taken, list = {}, {}
    for j = 0, n - 1 do
      local best, least
      for k = 0, n - 1 do
        local d = (gr[b * n + k + 1] - wr[b * n + j + 1]) ^ 2 + (gi[b * n + k + 1] - wi[b * n + j + 1]) ^ 2
        if not taken[k] and (least == nil or d < least) then best, least = k, d end
      end
      taken[best], list[j] = true, best
    end
    places[b] = list
  end
  return places, n
end

local function conjugate(d) return { d[1], -d[2] } end

local function identity() end

function factors.align(case, got)
  local kinds = free[case.op]
  if case.op == "qr" and #got == 1 then kinds = { "rows" } end
  if not kinds or not (case.compare or ""):find "^up_to" then return got, function(_, g) return g end end
  local out, turns, want = {}, {}, case.outputs
  for i = 1, #got do out[i], turns[i] = got[i], identity end

  local back
  if kinds[1] == "order" and (want[1].re or want[1].data) then
    local places, n = nearest(got[1], want[1])
    back = { n = n, place = {} }
    for b, list in pairs(places) do
      back.place[b] = {}
      for j, k in pairs(list) do back.place[b][k] = j end
    end
    for i = 1, #got do
      out[i].order_rows = i == 1 and 1 or n
      out[i] = moved(got[i], n, function(b, j) return places[b][j] end)
    end
  end

  -- The phases of the first factor that has columns decide those of the other.
  local first
  for i = #got, 1, -1 do
    if kinds[i] == "columns" then first = i end
  end
  local phases = first and phases_of(out[first], want[first], "columns")
  local count = first and select(3, extents(want[first])) or 0
  local function phase(b, j) return j < count and phases[b * count + j + 1] or { 1, 0 } end
  for i = 1, #got do
    local own = kinds[i] == "rows" and phases_of(out[i], want[i], "rows")
    local m = own and select(2, extents(want[i]))
    local function row_phase(b, k)
      if first and k < count then return conjugate(phase(b, k)) end
      return own[b * m + k + 1]
    end
    if kinds[i] == "columns" then
      out[i] = scaled(out[i], function(b, _, j) return conjugate(phase(b, j)) end)
      turns[i] = function(g) return scaled(g, function(b, _, j) return phase(b, j) end) end
    elseif kinds[i] == "rows" then
      out[i] = scaled(out[i], function(b, k) return conjugate(row_phase(b, k)) end)
      turns[i] = function(g) return scaled(g, function(b, k) return row_phase(b, k) end) end
    elseif kinds[i] == "both" then
      out[i] = scaled(out[i], function(b, k, j)
        local p, q = phase(b, k), phase(b, j)
        return { p[1] * q[1] + p[2] * q[2], p[2] * q[1] - p[1] * q[2] }
      end)
    end
  end

  return out, function(i, g)
    if g.kind == "disconnected" or g.kind == "null" then return g end
    if turns[i] ~= identity then g = turns[i](g) end
    if back then
      g.order_rows = i == 1 and 1 or back.n
      g = moved(g, back.n, function(b, j) return back.place[b][j] end)
    end
    return g
  end
end

return factors
