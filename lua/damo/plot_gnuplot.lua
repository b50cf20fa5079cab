--- Panels of damo.plot as gnuplot's commands. For damo's own files only.
--
-- Every text of the user's stands in single quotes (gnuplot.plain) and every number is written by gnuplot.datum, so
-- that nothing a plot is given is run. Data stand after the command that draws them, each block ended by `e`.
-- @module damo.plot_gnuplot

local core = require "damo.core"
local data = require "damo.plot_data"
local gnuplot = require "damo.gnuplot"
local number_text = core.system.number_text
local plain, datum = gnuplot.plain, gnuplot.datum

local writer = {}

-- Okabe and Ito's colours, which the colour-blind tell apart; the pale yellow is left out.
local COLORS = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000" }

local PALETTES = {
  viridis = "defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', 5 '#28ae80', 6 '#5ec962', " ..
    "7 '#addc30', 8 '#fde725')",
  gray = "defined (0 '#000000', 1 '#ffffff')",
  diverging = "defined (0 '#2166ac', 1 '#67a9cf', 2 '#d1e5f0', 3 '#f7f7f7', 4 '#fddbc7', 5 '#ef8a62', 6 '#b2182b')",
}

local function color_of(mark) return " linecolor rgb '" .. COLORS[(mark.color - 1) % #COLORS + 1] .. "'" end

--- The interval of an axis; `down` turns it over, so that its first value is on top.
local function range(low, high, down)
  if down then low, high = high, low end
  return "[" .. number_text(low) .. ":" .. number_text(high) .. "]"
end

local function rows_of(...)
  local columns, rows = { ... }, {}
  for k = 1, #columns[1] do
    local words = {}
    for c, column in ipairs(columns) do words[c] = datum(column[k]) end
    rows[k] = table.concat(words, " ")
  end
  return rows
end

local function filled(n, value)
  local list = {}
  for k = 1, n do list[k] = value end
  return list
end

-- ---- Marks --------------------------------------------------------------------------------------------------------

local function title_of(mark, keyed) return keyed and mark.name and " title " .. plain(mark.name) or " notitle" end

-- type of mark → function(mark, keyed) giving a list of {what gnuplot's `plot` takes after '-', rows of data}
local marks = {}

function marks.lines(m, keyed)
  local dash = math.floor((m.color - 1) / #COLORS) % 4 + 1
  return { { ("with lines linewidth %s dashtype %d%s%s"):format(#m.y > 2000 and "0.6" or "2", dash, color_of(m),
    title_of(m, keyed)), rows_of(m.x, m.y) } }
end

function marks.points(m, keyed)
  if m.cells then -- a pattern of squares, as large as their cells may be seen
    local size = number_text(math.max(0.15, math.min(2, 60 / math.max(m.cells[1], m.cells[2]))), 3)
    return { { "with points pointtype 5 pointsize " .. size .. color_of(m) .. " notitle", rows_of(m.x, m.y) } }
  end
  local size = #m.y > 1000 and "0.4" or "0.8"
  if m.values then
    return { { ("using 1:2:3 with points pointtype 7 pointsize %s linecolor palette%s"):format(size,
      title_of(m, keyed)), rows_of(m.x, m.y, m.values) } }
  end
  return { { ("with points pointtype 7 pointsize %s%s%s"):format(size, color_of(m), title_of(m, keyed)),
    rows_of(m.x, m.y) } }
end

function marks.band(m)
  return { { "using 1:2:3 with filledcurves fillstyle transparent solid 0.2 noborder" .. color_of(m) .. " notitle",
    rows_of(m.x, m.low, m.high) } }
end

--- Error bars: arrows with flat heads, because yerrorbars clears a white circle about the value. On a log axis, where a
-- bar may reach below 0, yerrorbars ends it at the axis.
function marks.errors(m, _, panel)
  if panel.logy then
    return { { "using 1:2:3 with yerrorbars pointtype 0 linewidth 1.2" .. color_of(m) .. " notitle",
      rows_of(m.x, m.y, m.error) } }
  end
  local low, length = {}, {}
  for k, e in ipairs(m.error) do low[k], length[k] = m.y[k] - e, 2 * e end
  return { { "using 1:2:(0):3 with vectors heads size graph 0.01,90 linewidth 1.2" .. color_of(m) .. " notitle",
    rows_of(m.x, low, length) } }
end

--- Bars as boxes from `base` to y: gnuplot's boxxy takes the edges, so that stacks and uneven bins are the same.
function marks.bars(m, keyed)
  local left, right, base = {}, {}, {}
  for k, x in ipairs(m.x) do
    local half = (m.widths and m.widths[k] or m.width) / 2
    left[k], right[k], base[k] = x - half, x + half, m.base[k] or 0
  end
  local fill = m.clear and "transparent solid 0.5" or "solid 0.85"
  return { { ("using 1:2:3:4:5:6 with boxxyerror fillstyle %s noborder%s%s"):format(fill, color_of(m),
    title_of(m, keyed)), rows_of(m.x, m.y, left, right, base, m.y) } }
end

function marks.boxes(m)
  local n = #m.x
  return {
    { "using 1:2:3:4:5:6 with candlesticks fillstyle solid 0.25 border linewidth 1.2" .. color_of(m) ..
      " notitle whiskerbars 0.5", rows_of(m.x, m.first, m.low, m.high, m.third, filled(n, 0.5)) },
    { "using 1:2:2:2:2:3 with candlesticks linewidth 2.5" .. color_of(m) .. " notitle",
      rows_of(m.x, m.median, filled(n, 0.5)) },
  }
end

function marks.arrows(m)
  local u, v = {}, {}
  for k = 1, #m.x do u[k], v[k] = m.u[k] * m.scale, m.v[k] * m.scale end
  local head = "head filled size screen 0.012,20,60 linewidth 1.2"
  return { { "using 1:2:3:4 with vectors " .. head .. color_of(m) .. " notitle", rows_of(m.x, m.y, u, v) } }
end

-- ---- Axes ---------------------------------------------------------------------------------------------------------

local function add(lines, ...)
  for _, line in ipairs { ... } do lines[#lines + 1] = line end
end

--- The command that writes an axis's numbers with as many digits as tell its tics apart, and no more: gnuplot's own
-- format fills up with zeros where an end of the range is tiny.
local function number_format(axis, low, high)
  local digits = 6
  if low < high and high - low < math.huge then
    local tic, largest = (high - low) / 10, math.max(math.abs(low), math.abs(high))
    digits = math.max(6, math.min(16, math.ceil(math.log(largest / tic) / math.log(10)) + 1))
  end
  return ("set format %s '%%.%dg'"):format(axis, digits)
end

--- The finite values of axes, those below zero left out if the axis is logarithmic.
local function drawn_range(panel, axis)
  local low, high = math.huge, -math.huge
  local fields = axis == "x" and { "x" } or { "y", "low", "high", "first", "third" }
  for _, mark in ipairs(panel.marks) do
    for _, field in ipairs(fields) do
      for _, v in ipairs(mark[field] or {}) do
        if data.is_finite(v) and (v > 0 or not panel["log" .. axis]) then
          low, high = math.min(low, v), math.max(high, v)
        end
      end
    end
  end
  return low, high
end

local function letters_of(text) return select(2, text:gsub("[^\128-\191]", "")) end

local LINE = 16 -- the height of a line of text in pixels

--- The command for the names of first, first + 1, …: slanted where they are too long to stand side by side in `width`
-- pixels, and only every second, third, … where they are too many (`width` is a height for the y axis).
local function add_names(lines, axis, names, first, width)
  local words, longest = {}, 0
  local step = math.max(1, math.ceil(#names * LINE / width))
  for k = 1, #names, step do
    local name = tostring(names[k])
    longest = math.max(longest, letters_of(name))
    words[#words + 1] = gnuplot.quoted(name) .. " " .. first + k - 1
  end
  local slanted = axis == "x" and longest * 8 * #words > width
  add(lines, ("set %stics scale 0 (%s) noenhanced%s"):format(axis, table.concat(words, ", "),
    slanted and " rotate by -40 left" or ""))
end

--- A title as lines that `width` pixels hold, broken between words.
local function title_lines(title, width)
  local most = math.max(10, math.floor((width - 40) / 8))
  local lines = {}
  for given in ((title or "") .. "\n"):gmatch "([^\n]*)\n" do
    local line = ""
    for word in given:gmatch "%S+" do
      if #line > 0 and letters_of(line .. " " .. word) > most then
        lines[#lines + 1], line = line, word
      else
        line = line == "" and word or line .. " " .. word
      end
    end
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n")
end

local function is_keyed(panel)
  local named, first = 0, nil
  for _, mark in ipairs(panel.marks or {}) do
    if mark.name then named, first = named + 1, first or mark.name end
  end
  return named > 1 or named == 1 and first ~= "series 1"
end

local function add_axes(lines, panel, width)
  add(lines,
    "set title " .. plain(title_lines(panel.title, width)),
    "set xlabel " .. plain(panel.xlabel),
    "set ylabel " .. plain(panel.ylabel))
  for _, axis in ipairs { "x", "y" } do
    local low, high = drawn_range(panel, axis)
    local given = panel[axis .. "range"]
    if panel["log" .. axis] then
      add(lines, "set logscale " .. axis, "set format " .. axis .. " '%g'")
    else
      add(lines, number_format(axis, given and given[1] or low, given and given[2] or high))
    end
    if given then
      add(lines, ("set %srange %s"):format(axis, range(given[1], given[2], axis == "y" and panel.down)))
    elseif low > high then -- gnuplot refuses an empty range
      add(lines, ("set %srange [0.5:1]"):format(axis))
    elseif panel["log" .. axis] and panel.marks[1].type == "boxes" then -- some boxes may reach below zero, or all
      add(lines, ("set %srange %s"):format(axis, range(low / 1.2, math.min(high, 1e300) * 1.2)))
    elseif panel.marks[1].type == "arrows" then -- the range of the tails: heads stand out of it
      low, high = data.widened(low, high)
      local margin = 0.1 * (high - low)
      if margin < math.huge then add(lines, ("set %srange %s"):format(axis, range(low - margin, high + margin))) end
    end
  end
end

--- Room about points and above bars, so that the frame cuts none; an axis with a range of its own has none.
local function add_room(lines, panel)
  local kind = panel.marks[#panel.marks].type
  local x, y = kind == "points" and not panel.logx, not panel.logy
  if not x and not (y and (kind == "points" or panel.marks[1].type == "bars")) then return end
  add(lines, ("set offsets %s, %s, %s, %s"):format(x and "graph 0.03" or "0", x and "graph 0.03" or "0",
    y and "graph 0.04" or "0", y and kind == "points" and "graph 0.04" or "0"))
end

local function add_axes_plot(lines, panel, width)
  add_axes(lines, panel, width)
  add_room(lines, panel)
  local keyed = is_keyed(panel)
  add(lines, "set grid")
  if keyed then -- the title above the names of the series
    add(lines, "set title", "set key outside top center horizontal Left reverse samplen 2 width 1 noenhanced title " ..
      plain(title_lines(panel.title, width)))
  else
    add(lines, "unset key")
  end
  if panel.square then add(lines, "set size ratio -1") end
  if panel.xtics then add_names(lines, "x", panel.xtics, 1, width - 80) end
  local parts, blocks, has_palette = {}, {}, false
  for _, mark in ipairs(panel.marks) do
    has_palette = has_palette or mark.values ~= nil
    for _, part in ipairs(marks[mark.type](mark, keyed, panel)) do
      parts[#parts + 1] = "'-' " .. part[1]
      blocks[#blocks + 1] = part[2]
    end
  end
  if has_palette then add(lines, "set palette " .. PALETTES.viridis) end
  add(lines, "plot " .. table.concat(parts, ", "))
  for _, block in ipairs(blocks) do
    add(lines, (#block > 0 and table.concat(block, "\n") .. "\n" or "") .. "e")
  end
end

-- ---- Matrices -----------------------------------------------------------------------------------------------------

--- gnuplot draws no image of one row or column: the row or column is doubled, at half its size.
local function add_image(lines, rows)
  local one_row, one_column = #rows == 1, #rows[1] == 1
  add(lines, ("plot '-' matrix using (%s):(%s):3 with image"):format(one_column and "$1/2-0.25" or "$1",
    one_row and "$2/2-0.25" or "$2"))
  for _, row in ipairs(rows) do
    local words = {}
    for k, v in ipairs(row) do words[k] = datum(v) end
    if one_column then words[2] = words[1] end
    lines[#lines + 1] = table.concat(words, " ")
    if one_row then lines[#lines + 1] = lines[#lines] end
  end
  add(lines, "e")
end

--- The palette and the numbers beside the bar of its colours.
local function add_colors(lines, panel)
  local low, high = data.widened(data.range(panel.rows))
  add(lines, "set palette " .. PALETTES[panel.palette], "set cbrange " .. range(low, high),
    number_format("cb", low, high))
end

local function add_cells(lines, panel, width)
  add(lines,
    "set size ratio -1",
    "unset key",
    "set title " .. plain(title_lines(panel.title, width)),
    "set xrange " .. range(-0.5, #panel.rows[1] - 0.5),
    "set yrange " .. range(-0.5, #panel.rows - 0.5, panel.down))
  add_colors(lines, panel)
end

-- style of a panel → function(lines, panel, width, height)
local styles = {}

function styles.image(lines, panel, width)
  add_cells(lines, panel, width)
  add(lines, "unset tics", "set cbtics")
  add_image(lines, panel.rows)
end

function styles.rgb(lines, panel, picture_width)
  local height, width = #panel.rows, #panel.rows[1]
  local pixels = "boxxyerror fillstyle solid noborder linecolor rgb variable"
  add(lines, "set size ratio -1", "unset key", "unset tics",
    "set title " .. plain(title_lines(panel.title, picture_width)),
    "set xrange " .. range(-0.5, width - 0.5), "set yrange " .. range(-0.5, height - 0.5),
    height > 1 and width > 1 and "plot '-' using 1:2:3:4:5 with rgbimage" or -- which refuses one row or column
    "plot '-' using 1:2:(0.5):(0.5):($3*65536+$4*256+$5) with " .. pixels)
  for i, row in ipairs(panel.rows) do
    for j, p in ipairs(row) do
      lines[#lines + 1] = ("%d %d %d %d %d"):format(j - 1, i - 1, p[1], p[2], p[3])
    end
  end
  add(lines, "e")
end

--- Names at 0, 1, …, where an image has its cells; without names the positions, if there are few.
local function add_cell_names(lines, axis, names, n, length)
  if not names and n > 20 then
    add(lines, ("set %stics scale 0"):format(axis))
  else
    add_names(lines, axis, names or data.axis(nil, n), 0, math.max(length, 2 * LINE))
  end
end

function styles.heatmap(lines, panel, width, height)
  add_cells(lines, panel, width)
  add(lines, "set xlabel " .. plain(panel.xlabel), "set ylabel " .. plain(panel.ylabel))
  local m, n = #panel.rows, #panel.rows[1] -- of square cells
  add_cell_names(lines, "x", panel.column_names, n, math.min(width - 160, (height - 100) * n / m))
  add_cell_names(lines, "y", panel.row_names, m, math.min(height - 100, (width - 160) * m / n))
  if panel.values then
    local low, high = data.widened(data.range(panel.rows))
    for i, row in ipairs(panel.rows) do
      for j, v in ipairs(row) do
        local part = data.is_finite(v) and data.share(v, low, high) or 0.5
        local light = part < 0.5 and panel.palette ~= "diverging" or math.abs(part - 0.5) > 0.35 and
          panel.palette == "diverging"
        add(lines, ("set label %s at %d,%d center front textcolor rgb '%s' noenhanced"):format(
          gnuplot.quoted(number_text(v, 3)), j - 1, i - 1, light and "white" or "black"))
      end
    end
  end
  add_image(lines, panel.rows)
  add(lines, "unset label")
end

--- The points of a grid, a block of lines for each row of the matrix.
local function grid_points(panel)
  local points = {}
  for i, row in ipairs(panel.rows) do
    for j, v in ipairs(row) do
      points[#points + 1] = datum(panel.xs[j]) .. " " .. datum(panel.ys[i]) .. " " .. datum(v)
    end
    points[#points + 1] = ""
  end
  points[#points] = nil
  return points
end

local function add_grid(lines, panel, width)
  panel.marks = { { type = "grid", x = panel.xs, y = panel.ys } }
  add_axes(lines, panel, width)
  panel.marks = nil
  for axis, list in pairs { x = panel.xs, y = panel.ys } do
    if not panel[axis .. "range"] then
      add(lines, ("set %srange %s"):format(axis, range(data.widened(data.range { list }))))
    end
  end
  add(lines, "unset key")
  add_colors(lines, panel)
  add(lines, "$grid << EOD")
  for _, point in ipairs(grid_points(panel)) do lines[#lines + 1] = point end
  add(lines, "EOD")
end

--- Draws empty axes: gnuplot refuses to plot nothing but undefined points.
local function add_nothing(lines, command, panel)
  add(lines, command .. " '-' with dots linecolor rgb '#ffffff'",
    datum(panel.xs[1]) .. " " .. datum(panel.ys[1]) .. " 0", "e")
end

function styles.contour(lines, panel, width)
  add_grid(lines, panel, width)
  local levels = {}
  for k, level in ipairs(panel.levels) do levels[k] = number_text(level, 12) end
  local low, high = data.range(panel.rows)
  if low > high or #levels == 0 and not panel.filled then return add_nothing(lines, "plot", panel) end
  if #levels > 0 then
    add(lines, "set contour base", "unset surface", "set cntrparam levels discrete " .. table.concat(levels, ","),
      "set table $contours", "splot $grid using 1:2:3", "unset table", "unset contour", "set surface")
  end
  local parts = {}
  if panel.filled then
    add(lines, "set pm3d map interpolate 2,2", "set view map")
    parts[#parts + 1] = "$grid using 1:2:3 with pm3d"
    if #levels > 0 then parts[#parts + 1] = "$contours using 1:2:3 with lines linewidth 1 linecolor rgb '#ffffff'" end
    add(lines, "splot " .. table.concat(parts, ", "))
  else -- the two points keep the plot from being empty if no level is met
    add(lines, "plot $contours using 1:2:3 with lines linewidth 1.8 linecolor palette, " ..
      "$grid using 1:2 every 2::0:0:0:0 with dots linecolor rgb '#ffffff'")
  end
end

function styles.surface(lines, panel, width)
  add_grid(lines, panel, width)
  local low, high = data.range(panel.rows)
  add(lines, "set zlabel " .. plain(panel.zlabel) .. " rotate parallel",
    "set pm3d depthorder border linecolor rgb '#40404080'", "set view 55,35", "set xyplane relative 0.05",
    "set border 4095 linecolor rgb '#909090'", "set zrange " .. range(data.widened(low, high)),
    number_format("z", low, high), "set xtics offset 0,-0.4", "set ytics offset 0.6,-0.3")
  if low > high then return add_nothing(lines, "splot", panel) end
  add(lines, "splot $grid using 1:2:3 with pm3d")
end

-- ---- Pictures -----------------------------------------------------------------------------------------------------

--- The script of a picture: panels side by side, row by row.
-- @param terminal function(width, height) giving gnuplot's "set terminal" line
-- @param picture {title=, columns=, width=, height=}: width and height of the whole in pixels, or nil
function writer.script(panels, terminal, picture)
  local columns = picture.columns or math.min(#panels, 2)
  local rows = math.ceil(#panels / columns)
  local is_cells = panels[1].style == "image" or panels[1].style == "rgb"
  local width = picture.width or (#panels == 1 and not is_cells and 800 or 440) * columns
  local height = picture.height or (#panels == 1 and not is_cells and 500 or 400) * rows
  local lines = { "set encoding utf8", "set terminal " .. terminal(width, height) }
  if #panels > 1 then
    add(lines, ("set multiplot layout %d,%d title %s"):format(rows, columns,
      plain(title_lines(picture.title, width))))
  end
  for i, panel in ipairs(panels) do
    if i > 1 then add(lines, "reset") end
    if #panels == 1 and picture.title and not panel.title then panel.title = picture.title end
    local write = styles[panel.style] or add_axes_plot
    write(lines, panel, width / columns, height / rows)
  end
  if #panels > 1 then add(lines, "unset multiplot") end
  return lines
end

return writer
