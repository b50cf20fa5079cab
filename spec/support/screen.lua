-- What a terminal of that many columns shows after these bytes: a list of rows, and the cursor's row and column (from
-- 1). It knows what damo's line editor sends, and wraps as VT100 and xterm do: the cursor stays in the last column
-- until the next letter comes. A letter of two columns fills the second with "".

local line_editor = require "damo.line_editor"

return function(bytes, columns)
  local rows, row, col, waits = { {} }, 1, 1, false
  local function at_row(r)
    for k = #rows + 1, r do rows[k] = {} end
    return rows[r]
  end
  local function put(letter)
    local width = line_editor.width(letter)
    if width == 0 then
      local cell = math.max(col - (waits and 0 or 1), 1)
      rows[row][cell] = (rows[row][cell] or "") .. letter
      return
    end
    if waits or col + width - 1 > columns then row, col = row + 1, 1 end
    local cells = at_row(row)
    cells[col] = letter
    if width == 2 then cells[col + 1] = "" end
    col = col + width
    waits = col > columns
    if waits then col = columns end
  end
  local function clear_from(cells, first)
    for k = first, columns do cells[k] = nil end
  end
  local i = 1
  while i <= #bytes do
    local c = bytes:sub(i, i)
    local count, way = bytes:match("^\27%[%??(%d*)(%a)", i)
    if way then
      local n = tonumber(count) or 1
      i = i + #bytes:match("^\27%[%??%d*%a", i) - 1
      if way == "A" then row = math.max(row - n, 1) end
      if way == "B" then row = row + n end
      if way == "C" then col = math.min(col + n, columns) end
      if way == "D" then col = math.max(col - n, 1) end
      if way == "H" then row, col = 1, 1 end
      if way == "J" and n == 2 and count ~= "" then rows = { {} } end
      if way == "J" and count == "" then
        clear_from(at_row(row), col)
        for k = row + 1, #rows do rows[k] = nil end
      end
      if way ~= "h" and way ~= "l" and way ~= "m" then waits = false end
      at_row(row)
    elseif c == "\r" then
      col, waits = 1, false
    elseif c == "\n" then
      row, waits = row + 1, false
      at_row(row)
    elseif c:byte() >= 32 then
      local letter = bytes:match("^[\194-\244][\128-\191]*", i) or c
      i = i + #letter - 1
      put(letter)
    end
    i = i + 1
  end
  local lines = {}
  for r, cells in ipairs(rows) do
    local line = {}
    for k = 1, columns do line[k] = cells[k] or " " end
    lines[r] = (table.concat(line):gsub("%s+$", ""))
  end
  return lines, row, col
end
