--- Line plots and pictures of matrices: a file by gnuplot if that is installed, else text.
-- @module damo.plot

local core = require "damo.core"
local gnuplot = require "damo.gnuplot"
local system = core.system
local number_text = system.number_text
local plain, datum = gnuplot.plain, gnuplot.datum

local plot = {}

local huge = math.huge

-- ---- Arguments ----------------------------------------------------------------------------------------------------

local function fail(kind, text, ...) core.raise(kind, text:format(...)) end

local function check_text(func, name, value)
  if value == nil then return end
  if type(value) ~= "string" then
    fail("type", "plot.%s: option '%s' must be a string, got %s", func, name, system.typename(value))
  end
  if value:find("\0", 1, true) then fail("value", "plot.%s: option '%s' has a zero byte in it", func, name) end
end

local function check_flag(func, name, value)
  if value ~= nil and type(value) ~= "boolean" then
    fail("type", "plot.%s: option '%s' must be true or false, got %s", func, name, system.typename(value))
  end
end

--- Checks the options; in the result, `terminal` is the function that makes gnuplot's "set terminal" line.
local function check_options(func, options, texts, flags)
  local names, checked = {}, {}
  for _, name in ipairs(texts) do names[#names + 1] = name end
  for _, name in ipairs(flags) do names[#names + 1] = name end
  system.check_options("plot." .. func, options, names)
  for _, name in ipairs(texts) do
    checked[name] = options and options[name]
    check_text(func, name, checked[name])
  end
  for _, name in ipairs(flags) do
    checked[name] = options and options[name]
    check_flag(func, name, checked[name])
  end
  if checked.path and checked.text then
    fail("value", "plot.%s: with text = true the text is returned: leave path out", func)
  end
  if checked.path then checked.terminal = gnuplot.terminal("plot." .. func, checked.path) end
  return checked
end

-- The numbers of a list or a vector Array, as a list.
local function numbers(v, func, what)
  if type(v) == "userdata" then
    if system.typename(v) ~= "Array" or v.ndim ~= 1 then
      fail("type", "plot.%s: %s must be a list of numbers or a vector", func, what)
    end
    v = v:totable()
  end
  if type(v) ~= "table" then
    fail("type", "plot.%s: %s must be a list of numbers or a vector, got %s", func, what, system.typename(v))
  end
  local entries = 0
  for _ in pairs(v) do entries = entries + 1 end
  for k = 1, math.max(entries, #v) do -- a hole may hide the entries behind it from #
    if type(v[k]) ~= "number" then
      fail("type", "plot.%s: entry %d of %s must be a number, got %s", func, k, what, system.typename(v[k]))
    end
  end
  return v
end

local function check_name(func, what, name)
  if name ~= nil and type(name) ~= "string" and type(name) ~= "number" then
    fail("type", "plot.%s: the name of %s must be a string, got %s", func, what, system.typename(name))
  end
  if name ~= nil and tostring(name):find("\0", 1, true) then
    fail("value", "plot.%s: the name of %s has a zero byte in it", func, what)
  end
  return name ~= nil and tostring(name):gsub("%c", " ") or nil
end

local function is_finite(v) return v == v and v > -huge and v < huge end

--- The position of v between low and high, from 0 to 1. All are halved first if high - low overflows.
local function share_of(v, low, high)
  if high - low == huge then v, low, high = v / 2, low / 2, high / 2 end
  return (v - low) / (high - low)
end

local function range(low, high) return "[" .. number_text(low) .. ":" .. number_text(high) .. "]" end

--- Has gnuplot run the script and write its picture to the path; false if gnuplot is not installed.
local function draw(func, options, script)
  return gnuplot.draw("plot." .. func, options.path, script)
end

-- ---- Lines --------------------------------------------------------------------------------------------------------

local COLUMNS, ROWS = 64, 16

local function check_series(series)
  if type(series) ~= "table" or #series == 0 then
    fail("type", "plot.lines: argument 1 (series) must be a list of {name=, y=} tables")
  end
  local checked = {}
  for i, s in ipairs(series) do
    if type(s) ~= "table" or s.y == nil then fail("type", "plot.lines: series %d has no y", i) end
    system.check_options("plot.lines", s, { "name", "x", "y" })
    local y = numbers(s.y, "lines", ("y of series %d"):format(i))
    local x = s.x ~= nil and numbers(s.x, "lines", ("x of series %d"):format(i)) or nil
    if x and #x ~= #y then fail("shape", "plot.lines: series %d has %d x and %d y", i, #x, #y) end
    checked[i] = { name = check_name("lines", "series " .. i, s.name) or ("series " .. i), x = x, y = y }
  end
  return checked
end

--- The ranges of the finite points in x and y (with logy: of log y); low > high if there are none.
local function range_of(series, logy)
  local x0, x1, y0, y1 = huge, -huge, huge, -huge
  for _, s in ipairs(series) do
    for k, y in ipairs(s.y) do
      local x = s.x and s.x[k] or k
      if logy then y = y > 0 and math.log(y) / math.log(10) or huge end
      if is_finite(x) and is_finite(y) then
        x0, x1, y0, y1 = math.min(x0, x), math.max(x1, x), math.min(y0, y), math.max(y1, y)
      end
    end
  end
  return x0, x1, y0, y1
end

local function lines_script(series, options)
  local lines = {
    "set encoding utf8",
    "set terminal " .. options.terminal(800, 500),
    "set title " .. plain(options.title),
    "set xlabel " .. plain(options.xlabel),
    "set ylabel " .. plain(options.ylabel),
    "set grid",
    options.logy and "set logscale y" or "",
  }
  local x0, x1 = range_of(series, options.logy)
  if x0 > x1 then lines[#lines + 1] = "set xrange [0.5:1]\nset yrange [0.5:1]" end -- gnuplot refuses an empty range
  local parts = {}
  for i, s in ipairs(series) do
    local style = #s.y == 1 and "points pointtype 7" or "lines linewidth " .. (#s.y > 2000 and "0.6" or "2")
    parts[i] = ("'-' with %s title %s"):format(style, plain(s.name))
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  for _, s in ipairs(series) do
    for k, y in ipairs(s.y) do lines[#lines + 1] = datum(s.x and s.x[k] or k) .. " " .. datum(y) end
    lines[#lines + 1] = "e"
  end
  return lines
end

--- The series as text: a grid of characters, one letter a series.
local function text_lines(series, options)
  local x0, x1, y0, y1 = range_of(series, options.logy)
  local grid = {}
  for row = 1, ROWS do
    grid[row] = {}
    for column = 1, COLUMNS do grid[row][column] = " " end
  end
  local function place(v, low, high, n)
    return high > low and math.floor(share_of(v, low, high) * (n - 1) + 1.5) or 1
  end
  for i, s in ipairs(series) do
    for k, y in ipairs(s.y) do
      local x = s.x and s.x[k] or k
      local v = options.logy and (y > 0 and math.log(y) / math.log(10) or huge) or y
      if is_finite(x) and is_finite(v) then
        grid[ROWS + 1 - place(v, y0, y1, ROWS)][place(x, x0, x1, COLUMNS)] = string.char(96 + (i - 1) % 26 + 1)
      end
    end
  end
  local lines = { options.title or "" }
  for row = 1, ROWS do lines[#lines + 1] = "|" .. table.concat(grid[row]) end
  lines[#lines + 1] = "+" .. ("-"):rep(COLUMNS)
  local top, bottom = y1, y0
  if options.logy then top, bottom = 10 ^ y1, 10 ^ y0 end
  lines[#lines + 1] = x0 > x1 and "no finite values" or ("%s from %s to %s, %s from %s to %s"):format(
    options.xlabel or "x", number_text(x0, 4), number_text(x1, 4),
    options.ylabel or "y", number_text(bottom, 4), number_text(top, 4))
  for i, s in ipairs(series) do
    lines[#lines + 1] = ("  %s  %s"):format(string.char(96 + (i - 1) % 26 + 1), s.name)
  end
  return table.concat(lines, "\n")
end

--- Draws lines: to options.path if gnuplot is installed, else as text.
---@param series table list of {name=, y=, x=}: y and x lists of numbers or vector Arrays; x counts from 1 when absent
---@param options table|nil {title=, xlabel=, ylabel=, logy=, path=, text=}: the ending of path (.png, .svg, .pdf, .eps,
--- .jpg) says what the picture is; text=true asks for text
---@return string what the path of the picture, or the text
function plot.lines(series, options)
  local o = check_options("lines", options, { "title", "xlabel", "ylabel", "path" }, { "logy", "text" })
  local checked = check_series(series)
  if o.path and draw("lines", o, lines_script(checked, o)) then return o.path end
  return text_lines(checked, o)
end

-- ---- Pictures of matrices -----------------------------------------------------------------------------------------

--- The rows of a matrix Array or a list of lists, checked to be equally long.
local function rows_of(z, i)
  if type(z) == "userdata" and system.typename(z) == "Array" and z.ndim == 2 then return z:totable() end
  if type(z) ~= "table" or type(z[1]) ~= "table" then fail("type", "plot.image: panel %d has no matrix z", i) end
  for k, row in ipairs(z) do
    local what = ("row %d of panel %d"):format(k, i)
    if type(row) ~= "table" then fail("type", "plot.image: %s must be a list of numbers", what) end
    numbers(row, "image", what)
    if #row ~= #z[1] then fail("shape", "plot.image: %s has %d entries, the first %d", what, #row, #z[1]) end
  end
  return z
end

local function check_panels(panels)
  if type(panels) ~= "table" and type(panels) ~= "userdata" then
    fail("type", "plot.image: argument 1 (panels) must be a matrix or a list of {name=, z=}, got %s",
      system.typename(panels))
  end
  if type(panels) ~= "table" then panels = { z = panels } end
  if panels.z then panels = { panels } end
  if type(panels[1]) == "table" and type(panels[1][1]) == "number" then panels = { { z = panels } } end
  local checked = {}
  for i, p in ipairs(panels) do
    local is_panel = type(p) == "table"
    if is_panel then system.check_options("plot.image", p, { "name", "z" }) end
    local rows = rows_of(is_panel and p.z or nil, i)
    if #rows == 0 or #rows[1] == 0 then fail("shape", "plot.image: panel %d is empty", i) end
    checked[i] = { name = check_name("image", "panel " .. i, p.name) or "", rows = rows }
  end
  if #checked == 0 then fail("type", "plot.image: argument 1 (panels) is an empty list") end
  return checked
end

--- The least and the largest finite value; low > high if there is none.
local function values_range(rows)
  local low, high = huge, -huge
  for _, row in ipairs(rows) do
    for _, v in ipairs(row) do
      if is_finite(v) then low, high = math.min(low, v), math.max(high, v) end
    end
  end
  return low, high
end

--- gnuplot draws no image of one row or column: the row or column is doubled, at half its size.
local function add_image(lines, rows)
  local one_row, one_column = #rows == 1, #rows[1] == 1
  lines[#lines + 1] = ("plot '-' matrix using (%s):(%s):3 with image"):format(one_column and "$1/2-0.25" or "$1",
    one_row and "$2/2-0.25" or "$2")
  for _, row in ipairs(rows) do
    local words = {}
    for k, v in ipairs(row) do words[k] = datum(v) end
    if one_column then words[2] = words[1] end
    lines[#lines + 1] = table.concat(words, " ")
    if one_row then lines[#lines + 1] = lines[#lines] end
  end
  lines[#lines + 1] = "e"
end

local function image_script(panels, options)
  local across = math.min(#panels, 2)
  local down = math.ceil(#panels / across)
  local lines = {
    "set encoding utf8",
    "set terminal " .. options.terminal(440 * across, 400 * down),
    ("set multiplot layout %d,%d title %s"):format(down, across, plain(options.title)),
    "set size ratio -1",
    "unset tics",
    "set cbtics",
    "unset key",
  }
  for _, p in ipairs(panels) do
    local low, high = values_range(p.rows)
    lines[#lines + 1] = "set title " .. plain(p.name)
    lines[#lines + 1] = "set xrange " .. range(-0.5, #p.rows[1] - 0.5)
    lines[#lines + 1] = "set yrange " .. range(-0.5, #p.rows - 0.5)
    if low >= high then -- gnuplot refuses an empty range
      local middle = low > high and 0 or low
      local room = math.max(0.5, math.abs(middle) * 1e-3)
      low, high = middle - room, middle + room
    end
    lines[#lines + 1] = "set cbrange " .. range(low, high)
    add_image(lines, p.rows)
  end
  lines[#lines + 1] = "unset multiplot"
  return lines
end

local SHADES = " .:-=+*#%@"

--- A matrix as text, with denser characters for larger values; the last row is on top, as in the picture.
local function text_image(p)
  local low, high = values_range(p.rows)
  local m, n = #p.rows, #p.rows[1]
  local height, width = math.min(m, ROWS), math.min(n, 2 * ROWS)
  local ends = low > high and "no finite values" or
    ("from %s (' ') to %s ('@')"):format(number_text(low, 4), number_text(high, 4))
  local lines = { (p.name ~= "" and p.name .. ": " or "values ") .. ends }
  for i = height, 1, -1 do
    local row, shades = p.rows[math.floor((i - 0.5) * m / height) + 1], {}
    for j = 1, width do
      local v = row[math.floor((j - 0.5) * n / width) + 1]
      local share = high > low and v == v and share_of(math.max(low, math.min(high, v)), low, high) or 0
      local shade = math.floor(share * 9.999) + 1
      shades[j] = SHADES:sub(shade, shade)
    end
    lines[#lines + 1] = "|" .. table.concat(shades) .. "|"
  end
  return table.concat(lines, "\n")
end

--- Draws matrices as pictures: to options.path if gnuplot is installed, else as text.
---@param panels table a matrix (an Array or a list of rows), or a list of {name=, z=}; row 1 is at the bottom
---@param options table|nil {title=, path=, text=}: the ending of path (.png, .svg, .pdf, .eps, .jpg) says what the
--- picture is; text=true asks for text
---@return string what the path of the picture, or the text
function plot.image(panels, options)
  local o = check_options("image", options, { "title", "path" }, { "text" })
  local checked = check_panels(panels)
  if o.path and draw("image", o, image_script(checked, o)) then return o.path end
  local parts = { o.title }
  for _, p in ipairs(checked) do parts[#parts + 1] = text_image(p) end
  return table.concat(parts, "\n")
end

return require("damo.core").names.seal(plot, "damo.plot")
