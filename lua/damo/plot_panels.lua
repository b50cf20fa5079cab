--- What damo.plot draws, as plain tables: each function checks its data and gives a list of panels, which
-- damo.plot_gnuplot writes as pictures and damo.plot_text as characters. For damo's own files only.
--
-- A panel of axes is {title=, xlabel=, ylabel=, logx=, logy=, xrange=, yrange=, xtics=, down=, marks=}; `xtics` are the
-- names of 1, 2, …; `down` says that the first row is on top. A mark is {type=, name=, x=, y=} and what its type needs:
-- lines, points (values=), band (low=, high=), errors (error=), bars (base=, width= or widths=), boxes (the numbers of
-- each box in low=, first=, median=, third=, high=), arrows (u=, v=, scale=). Marks of one series have one `color`,
-- counted from 1.
-- A panel of a matrix is {style=, rows=, xs=, ys=, …} with the style image, rgb, heatmap, contour or surface.
-- @module damo.plot_panels

local core = require "damo.core"
local data = require "damo.plot_data"
local system = core.system
local fail, is_finite = data.fail, data.is_finite

local panels = {}

-- The options of axes, which all functions but image and figure take.
local axes_options = {
  title = "text", xlabel = "text", ylabel = "text", logx = "flag", logy = "flag", xrange = "range", yrange = "range",
}

local function known_options(more, less)
  local known = {}
  for name, kind in pairs(axes_options) do known[name] = kind end
  for name, kind in pairs(more or {}) do known[name] = kind end
  for _, name in ipairs(less or {}) do known[name] = nil end
  return known
end

--- name of a function → its options besides those of the picture.
panels.options = {
  lines = known_options(),
  scatter = known_options(),
  bar = known_options({ labels = "labels", stacked = "flag" }, { "logx", "xrange" }),
  hist = known_options { bins = "any", density = "flag" },
  box = known_options({ labels = "labels" }, { "logx", "xrange" }),
  image = { title = "text", palette = "text" },
  heatmap = { title = "text", xlabel = "text", ylabel = "text", palette = "text", rows = "labels", columns = "labels",
    values = "flag" },
  contour = known_options({ x = "any", y = "any", levels = "any", filled = "flag", palette = "text" },
    { "logx", "logy" }),
  surface = known_options({ x = "any", y = "any", palette = "text", zlabel = "text" }, { "logx", "logy" }),
  quiver = known_options({ scale = "any" }, { "logx", "logy" }),
  spy = { title = "text" },
}

local function axes(o, marks)
  return {
    title = o.title, xlabel = o.xlabel, ylabel = o.ylabel, logx = o.logx, logy = o.logy, xrange = o.xrange,
    yrange = o.yrange, marks = marks,
  }
end

local palettes = { viridis = true, gray = true, diverging = true }

local function check_palette(func, o)
  if o.palette and not palettes[o.palette] then
    fail(func, "value", "option 'palette' must be 'viridis', 'gray' or 'diverging', got '%s'", o.palette)
  end
  return o.palette or "viridis"
end

-- ---- Series -------------------------------------------------------------------------------------------------------

local function counted(n) return data.axis(nil, n) end

local function plus(list, other, sign)
  local sum = {}
  for k, v in ipairs(list) do sum[k] = v + sign * other[k] end
  return sum
end

function panels.lines(series, o)
  local marks = {}
  for i, s in ipairs(data.series(series, "lines", "y", { "x", "low", "high", "error" })) do
    if (s.low == nil) ~= (s.high == nil) then
      fail("lines", "value", "series %d has one of low and high: a band needs both", i)
    end
    local x = s.x or counted(#s.y)
    local low = s.low or s.error and plus(s.y, s.error, -1)
    if low then
      marks[#marks + 1] = { type = "band", color = i, x = x, low = low, high = s.high or plus(s.y, s.error, 1) }
    end
    marks[#marks + 1] = { type = #s.y == 1 and "points" or "lines", name = s.name, color = i, x = x, y = s.y }
  end
  return { axes(o, marks) }
end

function panels.scatter(series, o)
  local marks = {}
  for i, s in ipairs(data.series(series, "scatter", "y", { "x", "error", "color" })) do
    local x = s.x or counted(#s.y)
    if s.error then marks[#marks + 1] = { type = "errors", color = i, x = x, y = s.y, error = s.error } end
    marks[#marks + 1] = { type = "points", name = s.name, color = i, x = x, y = s.y, values = s.color }
  end
  return { axes(o, marks) }
end

local function check_labels(func, labels, n)
  if labels and #labels ~= n then fail(func, "shape", "option 'labels' has %d entries for %d places", #labels, n) end
end

function panels.bar(series, o)
  local list, marks, n = data.series(series, "bar", "y", { "error" }), {}, 0
  for _, s in ipairs(list) do n = math.max(n, #s.y) end
  check_labels("bar", o.labels, n)
  local below_zero, above_zero = {}, {}
  local width = o.stacked and 0.8 or 0.8 / #list
  for i, s in ipairs(list) do
    local x, base, top = {}, {}, {}
    for k, y in ipairs(s.y) do
      x[k] = o.stacked and k or k + (i - (#list + 1) / 2) * width
      local stack = y < 0 and below_zero or above_zero
      base[k] = o.stacked and stack[k] or 0
      top[k] = base[k] + y
      if is_finite(y) then stack[k] = top[k] end
    end
    marks[#marks + 1] = { type = "bars", name = s.name, color = i, x = x, y = top, base = base, width = width }
    if s.error then marks[#marks + 1] = { type = "errors", color = 7, x = x, y = top, error = s.error } end
  end
  local panel = axes(o, marks)
  panel.xtics, panel.xrange = o.labels or counted(n), { 0.4, math.max(n, 1) + 0.6 }
  return { panel }
end

-- ---- Distributions ------------------------------------------------------------------------------------------------

local function sorted_finite(list)
  local sorted = {}
  for _, v in ipairs(list) do
    if is_finite(v) then sorted[#sorted + 1] = v end
  end
  table.sort(sorted)
  return sorted
end

--- The quantile of a sorted list, linear between neighbours.
local function quantile(sorted, q)
  local place = q * (#sorted - 1) + 1
  local k = math.floor(place)
  return sorted[k] + (place - k) * ((sorted[k + 1] or sorted[k]) - sorted[k])
end

--- The number of bins by NumPy's rule "auto": the larger of Sturges' and of Freedman and Diaconis'.
local function bins_of(sorted)
  local n = #sorted
  local span = sorted[n] - sorted[1]
  local count = math.log(n) / math.log(2) + 1
  local width = 2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / n ^ (1 / 3)
  if width > 0 then count = math.max(count, span / width) end
  return math.max(1, math.min(1000, math.ceil(count)))
end

local function check_edges(bins)
  local edges = data.vector(bins, "hist", "option 'bins'")
  if #edges < 2 then fail("hist", "value", "option 'bins' needs at least two edges") end
  for k, edge in ipairs(edges) do
    if not is_finite(edge) or k > 1 and edge <= edges[k - 1] then
      fail("hist", "value", "the edges of option 'bins' must be finite and increase")
    end
  end
  return edges
end

local function edges_of(list, bins)
  if bins ~= nil and type(bins) ~= "number" then return check_edges(bins) end
  if bins and (bins % 1 ~= 0 or bins < 1 or bins > 100000) then
    fail("hist", "value", "option 'bins' must be an integer from 1 to 100000, or a list of edges")
  end
  local all = {}
  for _, s in ipairs(list) do
    for _, v in ipairs(s.x) do all[#all + 1] = v end
  end
  local sorted = sorted_finite(all)
  local low, high = data.widened(sorted[1] or 0, sorted[#sorted] or 0)
  local n = bins or (#sorted > 1 and sorted[1] < sorted[#sorted] and bins_of(sorted)) or 1
  local edges = {}
  for k = 0, n do edges[k + 1] = low * (1 - k / n) + high * (k / n) end
  return edges
end

--- The number of values between neighbouring edges; the last edge belongs to the last bin.
local function counts_of(values, edges)
  local counts = {}
  for k = 1, #edges - 1 do counts[k] = 0 end
  for _, v in ipairs(values) do
    if v >= edges[1] and v <= edges[#edges] then
      local low, high = 1, #edges -- edges[low] <= v < edges[high], or v is the last edge
      while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        if v >= edges[middle] then low = middle else high = middle end
      end
      counts[low] = counts[low] + 1
    end
  end
  return counts
end

function panels.hist(series, o)
  local list = data.series(series, "hist", "x", {})
  local edges = edges_of(list, o.bins)
  local marks = {}
  for i, s in ipairs(list) do
    local counts, total = counts_of(s.x, edges), 0
    for _, count in ipairs(counts) do total = total + count end
    local x, width = {}, {}
    for k, count in ipairs(counts) do
      width[k] = edges[k + 1] - edges[k]
      x[k] = edges[k] + width[k] / 2
      if o.density then counts[k] = total > 0 and count / total / width[k] or 0 end
    end
    marks[i] = { type = "bars", name = s.name, color = i, x = x, y = counts, base = {}, widths = width,
      clear = #list > 1 }
  end
  local panel = axes(o, marks)
  panel.ylabel = o.ylabel or (o.density and "density" or "count")
  return { panel }
end

function panels.box(series, o)
  local list = data.series(series, "box", "y", {})
  check_labels("box", o.labels, #list)
  local box = { type = "boxes", color = 1, x = {}, low = {}, first = {}, median = {}, third = {}, high = {} }
  local far, names = { type = "points", color = 1, x = {}, y = {} }, {}
  for i, s in ipairs(list) do
    names[i] = o.labels and o.labels[i] or s.name
    local sorted = sorted_finite(s.y)
    if #sorted > 0 then
      local k, first, third = #box.x + 1, quantile(sorted, 0.25), quantile(sorted, 0.75)
      local reach = 1.5 * (third - first) -- Tukey's whiskers
      box.x[k], box.first[k], box.median[k], box.third[k] = i, first, quantile(sorted, 0.5), third
      box.low[k], box.high[k] = first, third
      for _, v in ipairs(sorted) do
        if v < first - reach or v > third + reach then
          far.x[#far.x + 1], far.y[#far.y + 1] = i, v
        else
          box.low[k], box.high[k] = math.min(box.low[k], v), math.max(box.high[k], v)
        end
      end
    end
  end
  local panel = axes(o, #far.x > 0 and { box, far } or { box })
  panel.xtics, panel.xrange = names, { 0.4, #list + 0.6 }
  return { panel }
end

-- ---- Matrices -----------------------------------------------------------------------------------------------------

--- The rows of an Array (rows, columns, 3) as {r, g, b}, each from 0 to 255; of floats from 0 to 1.
local function rgb_rows(z, what)
  if z.shape[3] ~= 3 then
    fail("image", "shape", "the last axis of %s has %d entries, not 3 colours", what, z.shape[3])
  end
  local scale = z.dtype:match "^float" and 255 or 1
  local rows = z:totable()
  for _, row in ipairs(rows) do
    for _, pixel in ipairs(row) do
      for k, v in ipairs(pixel) do
        pixel[k] = v == v and math.floor(math.max(0, math.min(255, v * scale)) + 0.5) or 0
      end
    end
  end
  if #rows == 0 or #rows[1] == 0 then fail("image", "shape", "%s is empty", what) end
  return rows
end

local function image_panel(p, i)
  local is_panel = type(p) == "table" and (p.z ~= nil or p.name ~= nil)
  if is_panel then system.check_options("plot.image", p, { "name", "z" }) end
  local z = p
  if is_panel then z = p.z end
  local what = ("panel %d"):format(i)
  if z == nil then fail("image", "type", "%s has no matrix z", what) end
  local name = is_panel and data.name(p.name, "image", what) or nil
  if system.typename(z) == "Array" and z.ndim == 3 then
    local rows = rgb_rows(z, what)
    return { style = "rgb", title = name, rows = rows }
  end
  return { style = "image", title = name, rows = data.matrix(z, "image", what) }
end

function panels.image(list, o)
  if type(list) ~= "table" and type(list) ~= "userdata" then
    fail("image", "type", "argument 1 (panels) must be a matrix or a list of {name=, z=}, got %s",
      system.typename(list))
  end
  if type(list) ~= "table" or list.z ~= nil or list[1] ~= nil and data.is_vector(list[1]) then
    list = { list }
  end
  local made, palette = {}, check_palette("image", o)
  for i, p in ipairs(list) do
    made[i] = image_panel(p, i)
    made[i].palette = palette
  end
  if #made == 0 then fail("image", "type", "argument 1 (panels) is an empty list") end
  return made
end

function panels.heatmap(z, o)
  local rows = data.matrix(z, "heatmap", "argument 1 (z)")
  for name, n in pairs { rows = #rows, columns = #rows[1] } do
    if o[name] and #o[name] ~= n then
      fail("heatmap", "shape", "option '%s' has %d names for %d %s of the matrix", name, #o[name], n, name)
    end
  end
  return { { style = "heatmap", title = o.title, xlabel = o.xlabel, ylabel = o.ylabel, rows = rows, down = true,
    row_names = o.rows, column_names = o.columns, values = o.values, palette = check_palette("heatmap", o) } }
end

local function grid_panel(func, style, z, o)
  local rows = data.matrix(z, func, "argument 1 (z)")
  if #rows < 2 or #rows[1] < 2 then fail(func, "shape", "argument 1 (z) needs at least two rows and columns") end
  local panel = axes(o)
  panel.style, panel.rows, panel.palette = style, rows, check_palette(func, o)
  panel.xs = data.axis(o.x, #rows[1], func, "option 'x'")
  panel.ys = data.axis(o.y, #rows, func, "option 'y'")
  return panel
end

function panels.contour(z, o)
  local panel = grid_panel("contour", "contour", z, o)
  panel.filled = o.filled
  local low, high = data.range(panel.rows)
  if o.levels == nil or type(o.levels) == "number" then
    local n = o.levels or 8
    if n % 1 ~= 0 or n < 1 or n > 1000 then
      fail("contour", "value", "option 'levels' must be an integer from 1 to 1000, or a list of values")
    end
    panel.levels = {}
    for k = 1, n do panel.levels[k] = low < high and low + (high - low) * (k / (n + 1)) or nil end
  else
    panel.levels = sorted_finite(data.vector(o.levels, "contour", "option 'levels'"))
  end
  return { panel }
end

function panels.surface(z, o)
  local panel = grid_panel("surface", "surface", z, o)
  panel.zlabel = o.zlabel
  return { panel }
end

--- The components of a field as lists: matrices are read by rows, x over their columns and y over their rows.
local function arrows_of(field)
  local u_is_list = data.is_vector(field.u)
  if u_is_list then
    local arrows = data.series({ { u = field.u, v = field.v, x = field.x, y = field.y } }, "quiver", "u",
      { "v", "x", "y" })[1]
    if not arrows.x or not arrows.y then fail("quiver", "type", "a field of vectors needs x and y of each arrow") end
    return arrows
  end
  local u, v = data.matrix(field.u, "quiver", "u"), data.matrix(field.v, "quiver", "v")
  if #u ~= #v or #u[1] ~= #v[1] then fail("quiver", "shape", "u and v have different shapes") end
  local xs, ys = data.axis(field.x, #u[1], "quiver", "x"), data.axis(field.y, #u, "quiver", "y")
  local arrows = { x = {}, y = {}, u = {}, v = {} }
  for i, y in ipairs(ys) do
    for j, x in ipairs(xs) do
      local k = #arrows.x + 1
      arrows.x[k], arrows.y[k], arrows.u[k], arrows.v[k] = x, y, u[i][j], v[i][j]
    end
  end
  return arrows
end

function panels.quiver(field, o)
  if type(field) ~= "table" then
    fail("quiver", "type", "argument 1 (field) must be a table {x=, y=, u=, v=}, got %s", system.typename(field))
  end
  system.check_options("plot.quiver", field, { "x", "y", "u", "v" })
  if field.u == nil or field.v == nil then fail("quiver", "type", "argument 1 (field) needs u and v") end
  if o.scale ~= nil and not (type(o.scale) == "number" and o.scale > 0 and is_finite(o.scale)) then
    fail("quiver", "value", "option 'scale' must be a positive number")
  end
  local arrows = arrows_of(field)
  -- The longest arrow is as long as neighbours are apart, were the arrows spread evenly over the picture.
  local x0, x1 = data.widened(data.range { arrows.x })
  local y0, y1 = data.widened(data.range { arrows.y })
  local longest = 0
  for k, u in ipairs(arrows.u) do
    local length = math.max(math.abs(u) / (x1 - x0), math.abs(arrows.v[k]) / (y1 - y0))
    if is_finite(length) then longest = math.max(longest, length) end
  end
  local scale = o.scale or longest > 0 and 1 / longest / math.max(1, math.sqrt(#arrows.u) - 1) or 1
  return { axes(o, { { type = "arrows", color = 1, x = arrows.x, y = arrows.y, u = arrows.u, v = arrows.v,
    scale = scale } }) }
end

-- ---- Patterns of stored entries -----------------------------------------------------------------------------------

local CELLS = 500 -- the finest grid on which a pattern is drawn: a picture has no more pixels to tell entries apart

--- Calls visit(row, column) for each stored entry of a sparse matrix, each nonzero of a dense one; gives the shape.
local function each_entry(a, visit)
  if system.typename(a) == "Sparse" then
    local pointers, indices = a.indptr:totable(), a.indices:totable()
    local by_column = a.format == "csc"
    for major = 1, #pointers - 1 do
      for p = pointers[major] + 1, pointers[major + 1] do
        local minor = indices[p] + 1
        if by_column then visit(minor, major) else visit(major, minor) end
      end
    end
    return a.shape[1], a.shape[2]
  end
  local rows = data.matrix(a, "spy", "argument 1 (A)")
  for i, row in ipairs(rows) do
    for j, v in ipairs(row) do
      if v ~= 0 then visit(i, j) end
    end
  end
  return #rows, #rows[1]
end

function panels.spy(a, o)
  local rows, columns = {}, {}
  local m, n = each_entry(a, function(i, j) rows[#rows + 1], columns[#columns + 1] = i, j end)
  local cell = math.max(1, m / CELLS, n / CELLS)
  local seen, x, y = {}, {}, {}
  for k, i in ipairs(rows) do
    local row, column = math.floor((i - 1) / cell), math.floor((columns[k] - 1) / cell)
    local key = row * (CELLS + 1) + column
    if not seen[key] then
      seen[key] = true
      x[#x + 1], y[#y + 1] = (column + 0.5) * cell + 0.5, (row + 0.5) * cell + 0.5
    end
  end
  return { { title = o.title, xlabel = ("%d × %d, %d stored"):format(m, n, #rows), down = true, square = true,
    xrange = { 0.5, math.max(n, 1) + 0.5 }, yrange = { 0.5, math.max(m, 1) + 0.5 },
    marks = { { type = "points", color = 1, x = x, y = y, cells = { m / cell, n / cell } } } } }
end

return panels
