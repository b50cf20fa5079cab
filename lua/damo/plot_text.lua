--- Panels of damo.plot as characters, for terminals and logs. For damo's own files only.
-- @module damo.plot_text

local core = require "damo.core"
local data = require "damo.plot_data"
local number_text = core.system.number_text
local is_finite, share = data.is_finite, data.share

local writer = {}

local huge = math.huge
local atan2 = math.atan2 or math.atan -- luacheck: ignore
local COLUMNS, ROWS, BAR = 64, 16, 40
local SHADES = " .:-=+*#%@"

-- ---- Axes ---------------------------------------------------------------------------------------------------------

local function log10(v) return v > 0 and math.log(v) / math.log(10) or huge end

--- Calls visit(x, y, character) with each point of a panel's marks, in the axes' own scales (of logarithms).
local function each_point(panel, visit)
  local letters, count = {}, 0
  for _, mark in ipairs(panel.marks) do
    if mark.name and not letters[mark.color] then
      count = count + 1
      letters[mark.color] = string.char(96 + (count - 1) % 26 + 1)
    end
  end
  local function put(x, y, character)
    if panel.logx then x = log10(x) end
    if panel.logy then y = log10(y) end
    if is_finite(x) and is_finite(y) then visit(x, y, character) end
  end
  local lists = { band = { "low", "high" }, boxes = { "low", "first", "median", "third", "high" } }
  local characters = { low = "-", first = "=", median = "#", third = "=", high = "-" }
  for _, mark in ipairs(panel.marks) do
    local letter = letters[mark.color] or "*"
    for k, x in ipairs(mark.x) do
      if lists[mark.type] then
        for _, field in ipairs(lists[mark.type]) do
          put(x, mark[field][k], mark.type == "band" and "." or characters[field])
        end
      elseif mark.type == "errors" then
        put(x, mark.y[k] - mark.error[k], "-")
        put(x, mark.y[k] + mark.error[k], "-")
      else
        put(x, mark.y[k], letter)
      end
    end
  end
end

--- The character of an arrow's direction: > / ^ \ < / v \, counted from the east.
local function arrow(u, v)
  if not is_finite(u) or not is_finite(v) then return " " end
  if u == 0 and v == 0 then return "." end
  local step = math.floor(atan2(v, u) / (math.pi / 4) + 0.5)
  return ({ [0] = ">", "/", "^", "\\", "<", "/", "v", "\\" })[step % 8]
end

local function place(v, low, high, n)
  if v < low or v > high then return nil end
  return high > low and math.floor(share(v, low, high) * (n - 1) + 1.5) or 1
end

local function limits(panel)
  local x0, x1, y0, y1 = huge, -huge, huge, -huge
  each_point(panel, function(x, y)
    x0, x1, y0, y1 = math.min(x0, x), math.max(x1, x), math.min(y0, y), math.max(y1, y)
  end)
  local function given(range, is_log, low, high)
    if not range then return low, high end
    if is_log then return log10(range[1]), log10(range[2]) end
    return range[1], range[2]
  end
  if x0 > x1 then return x0, x1, y0, y1 end
  x0, x1 = given(panel.xrange, panel.logx, x0, x1)
  y0, y1 = given(panel.yrange, panel.logy, y0, y1)
  return x0, x1, y0, y1
end

local function grid_of(rows, columns)
  local grid = {}
  for row = 1, rows do
    grid[row] = {}
    for column = 1, columns do grid[row][column] = " " end
  end
  return grid
end

local function draw_axes(panel)
  local x0, x1, y0, y1 = limits(panel)
  local grid = grid_of(ROWS, COLUMNS)
  each_point(panel, function(x, y, character)
    local row, column = place(y, y0, y1, ROWS), place(x, x0, x1, COLUMNS)
    if row and column then grid[ROWS + 1 - row][column] = character end
  end)
  for _, mark in ipairs(panel.marks) do
    for k, x in ipairs(mark.type == "arrows" and mark.x or {}) do
      local row, column = place(mark.y[k], y0, y1, ROWS), place(x, x0, x1, COLUMNS)
      if row and column then grid[ROWS + 1 - row][column] = arrow(mark.u[k], mark.v[k]) end
    end
  end
  return grid, x0, x1, y0, y1
end

local function text_axes(panel)
  local grid, x0, x1, y0, y1 = draw_axes(panel)
  local lines = { panel.title or "" }
  for row = 1, ROWS do lines[#lines + 1] = "|" .. table.concat(grid[row]) end
  lines[#lines + 1] = "+" .. ("-"):rep(COLUMNS)
  if panel.logy then y0, y1 = 10 ^ y0, 10 ^ y1 end
  if panel.logx then x0, x1 = 10 ^ x0, 10 ^ x1 end
  lines[#lines + 1] = x0 > x1 and "no finite values" or ("%s from %s to %s, %s from %s to %s"):format(
    panel.xlabel or "x", number_text(x0, 4), number_text(x1, 4),
    panel.ylabel or "y", number_text(y0, 4), number_text(y1, 4))
  local count = 0
  for _, mark in ipairs(panel.marks) do
    if mark.name then
      count = count + 1
      lines[#lines + 1] = ("  %s  %s"):format(string.char(96 + (count - 1) % 26 + 1), mark.name)
    end
  end
  for k, name in ipairs(panel.xtics or {}) do
    if type(name) == "string" then lines[#lines + 1] = ("  %d  %s"):format(k, name) end
  end
  return table.concat(lines, "\n")
end

--- Bars as rows of characters, one for each bar: its place, its series' name, the bar and its value.
local function text_bars(panel)
  local ends = { 0 }
  for _, mark in ipairs(panel.marks) do
    for _, y in ipairs(mark.type == "bars" and mark.y or {}) do ends[#ends + 1] = math.abs(y) end
  end
  local _, longest = data.range { ends }
  local rows, widths, several = {}, { 0, 0 }, false
  local function add(place_name, series, y, base)
    local value = is_finite(y) and math.min(math.abs(y - base), longest) or 0
    local length = longest > 0 and math.floor(value / longest * BAR + 0.5) or 0
    rows[#rows + 1] = { place_name, series, (y < base and "-" or "#"):rep(length), number_text(y - base, 4) }
    widths[1], widths[2] = math.max(widths[1], #place_name), math.max(widths[2], #series)
  end
  local count = 0
  for _, mark in ipairs(panel.marks) do
    if mark.type == "bars" then count = math.max(count, #mark.y) end
    several = several or mark.type == "bars" and mark.color > 1
  end
  for k = 1, count do
    for _, mark in ipairs(panel.marks) do
      if mark.type == "bars" and mark.y[k] then
        local width = mark.widths and mark.widths[k]
        local name = panel.xtics and tostring(panel.xtics[k]) or
          number_text(mark.x[k] - width / 2, 4) .. " to " .. number_text(mark.x[k] + width / 2, 4)
        add(name, several and mark.name or "", mark.y[k], mark.base[k] or 0)
      end
    end
  end
  local lines = { panel.title }
  if panel.ylabel then lines[#lines + 1] = panel.ylabel end
  for _, row in ipairs(rows) do
    lines[#lines + 1] = row[1] .. (" "):rep(widths[1] - #row[1]) .. (several and "  " .. row[2] ..
      (" "):rep(widths[2] - #row[2]) or "") .. " |" .. row[3] .. " " .. row[4]
  end
  return table.concat(lines, "\n")
end

--- A pattern of stored entries: a grid as wide as the matrix, or of `ROWS` and twice as many columns.
local function text_pattern(panel)
  local mark = panel.marks[1]
  local m, n = panel.yrange[2] - 0.5, panel.xrange[2] - 0.5
  local rows, columns = math.min(m, ROWS), math.min(n, 2 * ROWS)
  local grid = grid_of(rows, columns)
  for k, x in ipairs(mark.x) do
    local row = math.min(rows, math.floor((mark.y[k] - 0.5) / m * rows) + 1)
    grid[row][math.min(columns, math.floor((x - 0.5) / n * columns) + 1)] = "*"
  end
  local lines = { panel.title }
  lines[#lines + 1] = panel.xlabel
  for row = 1, rows do lines[#lines + 1] = "|" .. table.concat(grid[row]) .. "|" end
  return table.concat(lines, "\n")
end

-- ---- Matrices -----------------------------------------------------------------------------------------------------

--- The brightness of a colour, from 0 to 255 (the weights of ITU-R BT.601).
local function gray_rows(rows)
  local gray = {}
  for i, row in ipairs(rows) do
    gray[i] = {}
    for j, p in ipairs(row) do gray[i][j] = 0.299 * p[1] + 0.587 * p[2] + 0.114 * p[3] end
  end
  return gray
end

local function text_cells(panel)
  local rows = panel.style == "rgb" and gray_rows(panel.rows) or panel.rows
  local low, high = data.range(rows)
  local m, n = #rows, #rows[1]
  local height, width = math.min(m, ROWS), math.min(n, 2 * ROWS)
  local ends = low > high and "no finite values" or
    ("from %s (' ') to %s ('@')"):format(number_text(low, 4), number_text(high, 4))
  local lines = { (panel.title and panel.title ~= "" and panel.title .. ": " or "values ") .. ends }
  for k = 1, height do
    local i = panel.down and k or height + 1 - k
    local row, shades = rows[math.floor((i - 0.5) * m / height) + 1], {}
    for j = 1, width do
      local v = row[math.floor((j - 0.5) * n / width) + 1]
      local part = high > low and v == v and share(math.max(low, math.min(high, v)), low, high) or 0
      local shade = math.floor(part * 9.999) + 1
      shades[j] = SHADES:sub(shade, shade)
    end
    lines[#lines + 1] = "|" .. table.concat(shades) .. "|"
  end
  return table.concat(lines, "\n")
end

--- A heatmap's values as a table of numbers, with the names of its rows and columns.
local function text_table(panel)
  local columns, widths = {}, {}
  local function cell(k, text)
    widths[k] = math.max(widths[k] or 0, #text)
    return text
  end
  columns[1] = { cell(1, "") }
  for j = 1, #panel.rows[1] do
    columns[1][j + 1] = cell(j + 1, panel.column_names and panel.column_names[j] or tostring(j))
  end
  for i, row in ipairs(panel.rows) do
    local cells = { cell(1, panel.row_names and panel.row_names[i] or tostring(i)) }
    for j, v in ipairs(row) do cells[j + 1] = cell(j + 1, number_text(v, 3)) end
    columns[#columns + 1] = cells
  end
  local lines = { panel.title }
  for _, cells in ipairs(columns) do
    for k, text in ipairs(cells) do cells[k] = (" "):rep(widths[k] - #text) .. text end
    lines[#lines + 1] = table.concat(cells, "  ")
  end
  return table.concat(lines, "\n")
end

--- The panels' text, each below the one before.
function writer.text(panels, title)
  local parts = { title }
  for _, panel in ipairs(panels) do
    if panel.style == "heatmap" and panel.values then
      parts[#parts + 1] = text_table(panel)
    elseif panel.style then
      parts[#parts + 1] = text_cells(panel)
    elseif panel.marks[1].type == "bars" then
      parts[#parts + 1] = text_bars(panel)
    elseif panel.square then
      parts[#parts + 1] = text_pattern(panel)
    else
      parts[#parts + 1] = text_axes(panel)
    end
  end
  return table.concat(parts, "\n")
end

return writer
