--- Line plots and pictures of matrices: a PNG by gnuplot where that is installed, else text.
-- @module damo.plot

local plot = {}

local function have_gnuplot()
  local answer = os.execute "command -v gnuplot >/dev/null 2>&1"
  return answer == true or answer == 0
end

--- A list of numbers from a list or a vector Array.
local function numbers(v)
  if type(v) == "table" then return v end
  return v:totable()
end

local function check_series(series)
  if type(series) ~= "table" or #series == 0 then error("plot.lines: expected a list of {name=, y=} tables", 3) end
  local checked = {}
  for i, s in ipairs(series) do
    if type(s) ~= "table" or s.y == nil then error(("plot.lines: series %d has no y"):format(i), 3) end
    local y = numbers(s.y)
    local x = s.x and numbers(s.x)
    if x and #x ~= #y then error(("plot.lines: series %d has %d x and %d y"):format(i, #x, #y), 3) end
    checked[i] = { name = s.name or ("series " .. i), x = x, y = y }
  end
  return checked
end

--- A string as gnuplot reads it between double quotes.
local function quoted(text) return '"' .. tostring(text):gsub('[\\"]', "\\%0") .. '"' end

local function gnuplot_script(series, options)
  local lines = {
    "set terminal pngcairo size 800,500 font ',11'",
    "set output " .. quoted(options.path),
    "set title " .. quoted(options.title or ""),
    "set xlabel " .. quoted(options.xlabel or ""),
    "set ylabel " .. quoted(options.ylabel or ""),
    "set grid",
    options.logy and "set logscale y" or "",
  }
  local parts = {}
  for i, s in ipairs(series) do
    parts[i] = ("'-' with lines linewidth %s title %s"):format(#s.y > 2000 and "0.6" or "2", quoted(s.name))
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  for _, s in ipairs(series) do
    for k, y in ipairs(s.y) do lines[#lines + 1] = ("%.9g %.9g"):format(s.x and s.x[k] or k, y) end
    lines[#lines + 1] = "e"
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Runs gnuplot on the script; true when it made the picture.
local function run_gnuplot(script)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(script)
  file:close()
  local answer = os.execute("gnuplot " .. name .. " 2>/dev/null")
  os.remove(name)
  return answer == true or answer == 0
end

local COLUMNS, ROWS = 64, 16

local function range_of(series, logy)
  local x0, x1, y0, y1 = math.huge, -math.huge, math.huge, -math.huge
  for _, s in ipairs(series) do
    for k, y in ipairs(s.y) do
      local x = s.x and s.x[k] or k
      if logy then y = y > 0 and math.log(y, 10) or nil end
      if y and y == y and math.abs(y) < math.huge then
        x0, x1, y0, y1 = math.min(x0, x), math.max(x1, x), math.min(y0, y), math.max(y1, y)
      end
    end
  end
  return x0, x1, y0, y1
end

--- The series as characters on a grid, one letter a series.
local function text_plot(series, options)
  local x0, x1, y0, y1 = range_of(series, options.logy)
  local grid = {}
  for row = 1, ROWS do
    grid[row] = {}
    for column = 1, COLUMNS do grid[row][column] = " " end
  end
  local function place(v, low, high, n)
    return high > low and math.floor((v - low) / (high - low) * (n - 1) + 1.5) or 1
  end
  for i, s in ipairs(series) do
    for k, y in ipairs(s.y) do
      local v = options.logy and (y > 0 and math.log(y, 10) or y0) or y
      if v == v and math.abs(v) < math.huge then
        grid[ROWS + 1 - place(v, y0, y1, ROWS)][place(s.x and s.x[k] or k, x0, x1, COLUMNS)] = string.char(96 + i)
      end
    end
  end
  local lines = { options.title or "" }
  for row = 1, ROWS do lines[#lines + 1] = "|" .. table.concat(grid[row]) end
  lines[#lines + 1] = "+" .. ("-"):rep(COLUMNS)
  local top, bottom = y1, y0
  if options.logy then top, bottom = 10 ^ y1, 10 ^ y0 end
  lines[#lines + 1] = ("%s from %.4g to %.4g, %s from %.4g to %.4g"):format(options.xlabel or "x", x0, x1,
    options.ylabel or "y", bottom, top)
  for i, s in ipairs(series) do lines[#lines + 1] = ("  %s  %s"):format(string.char(96 + i), s.name) end
  return table.concat(lines, "\n")
end

--- Draws lines: into options.path as a PNG where gnuplot is installed, else as text.
---@param series table list of {name=, y=, x=}: y and x lists of numbers or vector Arrays; x counts from 1 when absent
---@param options table|nil {title=, xlabel=, ylabel=, logy=, path=, text=}: text=true asks for text
---@return string what the path of the PNG, or the text
function plot.lines(series, options)
  options = options or {}
  local checked = check_series(series)
  local drawn = options.path and not options.text and have_gnuplot() and run_gnuplot(gnuplot_script(checked, options))
  if drawn then return options.path end
  return text_plot(checked, options)
end

-- ---- Pictures of matrices -----------------------------------------------------------------------------------------

--- A list of rows from a matrix Array or a list of lists.
local function rows_of(z)
  if type(z) == "table" then return z end
  return z:totable()
end

local function check_panels(panels)
  if type(panels) ~= "table" or panels.z then panels = { panels.z and panels or { z = panels } } end
  if type(panels[1]) == "table" and type(panels[1][1]) == "number" then panels = { { z = panels } } end
  local checked = {}
  for i, p in ipairs(panels) do
    local rows = type(p) == "table" and p.z ~= nil and rows_of(p.z)
    if not rows or type(rows[1]) ~= "table" then
      error(("plot.image: panel %d has no matrix z"):format(i), 3)
    end
    checked[i] = { name = p.name or "", rows = rows }
  end
  return checked
end

local function image_script(panels, options)
  local across = math.min(#panels, 2)
  local down = math.ceil(#panels / across)
  local lines = {
    ("set terminal pngcairo size %d,%d font ',11'"):format(440 * across, 400 * down),
    "set output " .. quoted(options.path),
    ("set multiplot layout %d,%d title %s"):format(down, across, quoted(options.title or "")),
    "set size ratio -1",
    "unset tics",
    "set cbtics",
    "unset key",
  }
  for _, p in ipairs(panels) do
    lines[#lines + 1] = "set title " .. quoted(p.name)
    lines[#lines + 1] = ("set xrange [-0.5:%g]"):format(#p.rows[1] - 0.5)
    lines[#lines + 1] = ("set yrange [-0.5:%g]"):format(#p.rows - 0.5)
    lines[#lines + 1] = "plot '-' matrix with image"
    for _, row in ipairs(p.rows) do
      local words = {}
      for k, v in ipairs(row) do words[k] = ("%.6g"):format(v) end
      lines[#lines + 1] = table.concat(words, " ")
    end
    lines[#lines + 1] = "e"
  end
  lines[#lines + 1] = "unset multiplot"
  return table.concat(lines, "\n") .. "\n"
end

local SHADES = " .:-=+*#%@"

--- A matrix as characters, darker where it is larger; the last row on top, as in the PNG.
local function text_image(p)
  local low, high = math.huge, -math.huge
  for _, row in ipairs(p.rows) do
    for _, v in ipairs(row) do
      if v == v then low, high = math.min(low, v), math.max(high, v) end
    end
  end
  local m, n = #p.rows, #p.rows[1]
  local height, width = math.min(m, ROWS), math.min(n, 2 * ROWS)
  local lines = { ("%s from %.4g (' ') to %.4g ('@')"):format(p.name ~= "" and p.name .. ":" or "values", low, high) }
  for i = height, 1, -1 do
    local row, shades = p.rows[math.floor((i - 0.5) * m / height) + 1], {}
    for j = 1, width do
      local v = row[math.floor((j - 0.5) * n / width) + 1]
      local shade = (v == v and high > low) and math.floor((v - low) / (high - low) * 9.999) + 1 or 1
      shades[j] = SHADES:sub(shade, shade)
    end
    lines[#lines + 1] = "|" .. table.concat(shades) .. "|"
  end
  return table.concat(lines, "\n")
end

--- Draws matrices as pictures: into options.path as a PNG where gnuplot is installed, else as text.
---@param panels table a matrix (an Array or a list of rows), or a list of {name=, z=}; row 1 is at the bottom
---@param options table|nil {title=, path=, text=}: text=true asks for text
---@return string what the path of the PNG, or the text
function plot.image(panels, options)
  options = options or {}
  local checked = check_panels(panels)
  local drawn = options.path and not options.text and have_gnuplot() and run_gnuplot(image_script(checked, options))
  if drawn then return options.path end
  local parts = { options.title }
  for _, p in ipairs(checked) do parts[#parts + 1] = text_image(p) end
  return table.concat(parts, "\n")
end

return plot
