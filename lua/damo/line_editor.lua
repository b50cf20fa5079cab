--- A line of input with editing, history and completion on a terminal, in UTF-8, over as many rows as it needs. For
-- the command `damo` only: the terminal is an object with the functions of core.terminal.
-- @module damo.line_editor

local unpack = table.unpack or unpack -- luacheck: ignore

local Editor = {}
Editor.__index = Editor

local line_editor = {}

-- ---- Letters: characters of UTF-8 and their widths ------------------------------------------------------------------

-- Ranges of code points from the Unicode Character Database 15: those of no width (marks, format characters), and those
-- of two columns (East Asian Width W and F).
local no_width = {
  0x300, 0x36F, 0x483, 0x489, 0x591, 0x5BD, 0x610, 0x61A, 0x64B, 0x65F, 0x6D6, 0x6DC, 0x6DF, 0x6E4, 0x900, 0x902,
  0x93C, 0x93C, 0x941, 0x948, 0x94D, 0x94D, 0xE31, 0xE31, 0xE34, 0xE3A, 0xE47, 0xE4E, 0x1AB0, 0x1AFF, 0x1DC0, 0x1DFF,
  0x200B, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x20D0, 0x20F0, 0x302A, 0x302D, 0x3099, 0x309A, 0xFE00, 0xFE0F,
  0xFE20, 0xFE2F, 0xFEFF, 0xFEFF, 0x1F3FB, 0x1F3FF, 0xE0100, 0xE01EF,
}
local two_columns = {
  0x1100, 0x115F, 0x231A, 0x231B, 0x2329, 0x232A, 0x23E9, 0x23EC, 0x23F0, 0x23F0, 0x23F3, 0x23F3, 0x25FD, 0x25FE,
  0x2614, 0x2615, 0x2648, 0x2653, 0x267F, 0x267F, 0x2693, 0x2693, 0x26A1, 0x26A1, 0x26AA, 0x26AB, 0x26BD, 0x26BE,
  0x26C4, 0x26C5, 0x26CE, 0x26CE, 0x26D4, 0x26D4, 0x26EA, 0x26EA, 0x26F2, 0x26F3, 0x26F5, 0x26F5, 0x26FA, 0x26FA,
  0x26FD, 0x26FD, 0x2705, 0x2705, 0x270A, 0x270B, 0x2728, 0x2728, 0x274C, 0x274C, 0x274E, 0x274E, 0x2753, 0x2755,
  0x2757, 0x2757, 0x2795, 0x2797, 0x27B0, 0x27B0, 0x27BF, 0x27BF, 0x2B1B, 0x2B1C, 0x2B50, 0x2B50, 0x2B55, 0x2B55,
  0x2E80, 0x303E, 0x3041, 0x33FF, 0x3400, 0x4DBF, 0x4E00, 0xA4CF, 0xA960, 0xA97F, 0xAC00, 0xD7A3, 0xF900, 0xFAFF,
  0xFE10, 0xFE19, 0xFE30, 0xFE6F, 0xFF01, 0xFF60, 0xFFE0, 0xFFE6, 0x16FE0, 0x18AFF, 0x1B000, 0x1B2FF, 0x1F004, 0x1F004,
  0x1F0CF, 0x1F0CF, 0x1F18E, 0x1F18E, 0x1F191, 0x1F19A, 0x1F200, 0x1F320, 0x1F32D, 0x1F335, 0x1F337, 0x1F37C,
  0x1F37E, 0x1F393, 0x1F3A0, 0x1F3CA, 0x1F3CF, 0x1F3D3, 0x1F3E0, 0x1F3F0, 0x1F3F4, 0x1F3F4, 0x1F3F8, 0x1F43E,
  0x1F440, 0x1F440, 0x1F442, 0x1F4FC, 0x1F4FF, 0x1F53D, 0x1F54B, 0x1F54E, 0x1F550, 0x1F567, 0x1F57A, 0x1F57A,
  0x1F595, 0x1F596, 0x1F5A4, 0x1F5A4, 0x1F5FB, 0x1F64F, 0x1F680, 0x1F6C5, 0x1F6CC, 0x1F6CC, 0x1F6D0, 0x1F6D2,
  0x1F6D5, 0x1F6D7, 0x1F6DC, 0x1F6DF, 0x1F6EB, 0x1F6EC, 0x1F6F4, 0x1F6FC, 0x1F7E0, 0x1F7EB, 0x1F7F0, 0x1F7F0,
  0x1F90C, 0x1F93A, 0x1F93C, 0x1F945, 0x1F947, 0x1F9FF, 0x1FA70, 0x1FAFF, 0x20000, 0x3FFFD,
}

local function is_in(ranges, code)
  local low, high = 1, #ranges / 2
  while low <= high do
    local mid = math.floor((low + high) / 2)
    if code < ranges[2 * mid - 1] then
      high = mid - 1
    elseif code > ranges[2 * mid] then
      low = mid + 1
    else
      return true
    end
  end
  return false
end

-- The length of the letter at a byte, 1 where the bytes are not UTF-8; nil where the text ends inside it.
local function letter_length(text, at)
  local first = text:byte(at)
  local n = first < 0x80 and 1 or first >= 0xC2 and first < 0xE0 and 2 or first >= 0xE0 and first < 0xF0 and 3
    or first >= 0xF0 and first < 0xF5 and 4 or 1
  for k = 1, n - 1 do
    local byte = text:byte(at + k)
    if not byte then return nil end
    if byte < 0x80 or byte > 0xBF then return 1 end
  end
  return n
end

local function letters_of(text)
  local list, at = {}, 1
  while at <= #text do
    local n = letter_length(text, at) or 1
    list[#list + 1] = text:sub(at, at + n - 1)
    at = at + n
  end
  return list
end

-- How a letter is drawn, and how many columns that takes.
local function drawn(letter)
  local first = letter:byte()
  if #letter == 1 then
    if first == 9 then return " ", 1 end
    if first < 32 then return "^" .. string.char(first + 64), 2 end
    if first == 127 then return "^?", 2 end
    if first >= 128 then return "\239\191\189", 1 end
    return letter, 1
  end
  local code = #letter == 2 and first - 0xC0 or #letter == 3 and first - 0xE0 or first - 0xF0
  for k = 2, #letter do code = code * 64 + letter:byte(k) - 0x80 end
  if code < 0xA0 then return "\239\191\189", 1 end -- control characters of Latin 1
  return letter, is_in(no_width, code) and 0 or is_in(two_columns, code) and 2 or 1
end

--- The columns that a text takes on a terminal.
function line_editor.width(text)
  local n = 0
  for _, letter in ipairs(letters_of(text)) do
    local _, width = drawn(letter)
    n = n + width
  end
  return n
end

-- ---- Keys -----------------------------------------------------------------------------------------------------------

local controls = {
  [1] = "home", [2] = "left", [3] = "interrupt", [4] = "delete_or_end", [5] = "end", [6] = "right", [7] = "cancel",
  [8] = "backspace", [9] = "tab", [10] = "enter", [11] = "kill_to_end", [12] = "clear", [13] = "enter", [14] = "down",
  [16] = "up", [18] = "search", [20] = "swap", [21] = "kill_to_start", [23] = "kill_word", [25] = "yank",
  [127] = "backspace",
}
local sequences = {
  ["[A"] = "up", ["[B"] = "down", ["[C"] = "right", ["[D"] = "left", ["[H"] = "home", ["[F"] = "end", ["OA"] = "up",
  ["OB"] = "down", ["OC"] = "right", ["OD"] = "left", ["OH"] = "home", ["OF"] = "end", ["[1~"] = "home",
  ["[3~"] = "delete", ["[4~"] = "end", ["[7~"] = "home", ["[8~"] = "end", ["[1;5C"] = "word_right",
  ["[1;5D"] = "word_left", ["[1;3C"] = "word_right", ["[1;3D"] = "word_left", ["[200~"] = "paste",
  ["b"] = "word_left", ["f"] = "word_right", ["d"] = "kill_word_right", ["\127"] = "kill_word", ["\r"] = "newline",
}

local ESCAPE_MS = 50 -- for the rest of a sequence that begins with the key Escape

-- More bytes of input: false at its end. A time that runs out gives true and no bytes.
function Editor:fill(ms)
  local bytes = self.terminal.read(ms or -1)
  if not bytes then return false end
  self.bytes = self.bytes .. bytes
  return true
end

function Editor:take(n)
  local taken = self.bytes:sub(1, n)
  self.bytes = self.bytes:sub(n + 1)
  return taken
end

function Editor:escape_key()
  for _ = 1, 16 do
    local rest = self.bytes:sub(2)
    local sequence = rest:match "^%[[%d;?]*[%a~]" or rest:match "^O%a" or rest:match "^[^%[O]"
    if sequence then
      self:take(1 + #sequence)
      return sequences[sequence] or "unknown"
    end
    local before = #self.bytes
    if not self:fill(ESCAPE_MS) or #self.bytes == before then break end
  end
  self:take(#self.bytes)
  return "unknown"
end

--- The next key: "text" and letters, or its name; nil at the end of the input.
function Editor:key()
  while true do
    if self.bytes == "" and not self:fill() then return nil end
    if self.bytes == "" then return "signal" end -- the window may have another size
    local first = self.bytes:byte()
    if first == 27 then return self:escape_key() end
    if first < 32 or first == 127 then
      self:take(1)
      return controls[first] or "unknown"
    end
    local run = self.bytes:match "^[ -~]+" -- what was typed ahead is drawn at once
    if run then return "text", self:take(#run) end
    local n = letter_length(self.bytes, 1)
    if n then return "text", self:take(n) end
    local before = #self.bytes
    if not self:fill(ESCAPE_MS) or #self.bytes == before then return "text", self:take(1) end
  end
end

-- What a terminal sends between the marks of a paste; line ends are newlines.
function Editor:pasted()
  local from, to
  while true do
    from, to = self.bytes:find("\27[201~", 1, true)
    if from or not self:fill() then break end
  end
  local text = self:take(from and from - 1 or #self.bytes)
  if to then self:take(to - from + 1) end
  return (text:gsub("\r\n?", "\n"))
end

-- ---- Drawing --------------------------------------------------------------------------------------------------------

-- The text as it is drawn, its last row and column, and the cursor's; all from 0.
function Editor:layout()
  local columns, parts = self.columns, { self.prompt }
  local row, col = 0, line_editor.width(self.prompt) % columns
  local cursor_row, cursor_col
  local function here()
    if col >= columns then return row + 1, 0 end
    return row, col
  end
  for i = 1, #self.letters do
    local letter = self.letters[i]
    if i == self.at + 1 then cursor_row, cursor_col = here() end
    if letter == "\n" then
      parts[#parts + 1] = "\r\n" .. self.continuation
      row, col = row + 1, line_editor.width(self.continuation)
    else
      local text, width = drawn(letter)
      if col + width > columns then
        row, col = row + 1, 0
        if i == self.at + 1 then cursor_row, cursor_col = row, col end
      end
      parts[#parts + 1] = text
      col = col + width
    end
  end
  self.filled = col >= columns
  if self.filled then -- a terminal moves to the next row only with the next letter
    parts[#parts + 1] = " \r"
    row, col = row + 1, 0
  end
  if not cursor_row then cursor_row, cursor_col = row, col end
  return table.concat(parts), row, cursor_row, cursor_col
end

-- Whether a terminal puts marks around what is pasted.
local PASTES_ON, PASTES_OFF = "\27[?2004h", "\27[?2004l"

local function moved(n, way) return n > 0 and ("\27[%d%s"):format(n, way) or "" end

function Editor:draw()
  self.columns = math.max(self.terminal.width() or 80, 4)
  local text, last_row, row, col = self:layout()
  local to_cursor = moved(last_row - row, "A") .. "\r" .. moved(col, "C")
  self.terminal.write(moved(self.row, "A") .. "\r\27[J" .. text .. to_cursor)
  self.row, self.col = row, col
end

-- Leaves the text as it is drawn, and goes to the row after it.
function Editor:finish(mark)
  self.at = #self.letters
  self:draw()
  self.terminal.write((mark or "") .. PASTES_OFF .. ((mark or not self.filled) and "\r\n" or ""))
  self.row = 0
end

-- ---- Editing --------------------------------------------------------------------------------------------------------

function Editor:text() return table.concat(self.letters) end

function Editor:set(text)
  self.letters = letters_of(text)
  self.at = #self.letters
end

function Editor:insert(text)
  local new = letters_of(text)
  if self.at == #self.letters and text:match "^[ -~]+$" and self.col + #text < self.columns then -- nothing else moves
    for _, letter in ipairs(new) do self.letters[#self.letters + 1] = letter end
    self.at, self.col = self.at + #new, self.col + #new
    return self.terminal.write(text)
  end
  local letters = {}
  for i = 1, self.at do letters[i] = self.letters[i] end
  for _, letter in ipairs(new) do letters[#letters + 1] = letter end
  for i = self.at + 1, #self.letters do letters[#letters + 1] = self.letters[i] end
  self.letters, self.at = letters, self.at + #new
  self:draw()
end

-- Removes the letters from one position to another, which it returns.
function Editor:remove(from, to)
  local letters, removed = {}, {}
  for i, letter in ipairs(self.letters) do
    if i > from and i <= to then removed[#removed + 1] = letter else letters[#letters + 1] = letter end
  end
  self.letters, self.at = letters, from
  self:draw()
  return table.concat(removed)
end

function Editor:kill(from, to)
  if to > from then self.killed = self:remove(from, to) end
end

local function is_word(letter) return letter ~= nil and (letter:match "^[%w_]$" or #letter > 1) and true or false end

function Editor:word_left()
  local at = self.at
  while at > 0 and not is_word(self.letters[at]) do at = at - 1 end
  while at > 0 and is_word(self.letters[at]) do at = at - 1 end
  return at
end

function Editor:word_right()
  local at = self.at
  while at < #self.letters and not is_word(self.letters[at + 1]) do at = at + 1 end
  while at < #self.letters and is_word(self.letters[at + 1]) do at = at + 1 end
  return at
end

-- The line of a text of several in which the cursor is: where it begins and ends.
function Editor:line_start()
  local at = self.at
  while at > 0 and self.letters[at] ~= "\n" do at = at - 1 end
  return at
end

function Editor:line_end()
  local at = self.at
  while at < #self.letters and self.letters[at + 1] ~= "\n" do at = at + 1 end
  return at
end

-- A letter of no width belongs to the one before it.
function Editor:step_left(at)
  repeat
    at = at - 1
  until at <= 0 or select(2, drawn(self.letters[at + 1])) > 0 or self.letters[at + 1] == "\n"
  return math.max(at, 0)
end

function Editor:step_right(at)
  repeat
    at = at + 1
  until at >= #self.letters or select(2, drawn(self.letters[at + 1])) > 0 or self.letters[at + 1] == "\n"
  return math.min(at, #self.letters)
end

-- ---- History --------------------------------------------------------------------------------------------------------

function Editor:recall(step)
  local to = self.place + step
  if to < 1 or to > #self.history + 1 then return end
  self.edits[self.place] = self:text()
  self.place = to
  self:set(self.edits[to] or self.history[to] or "")
  self:draw()
end

function Editor:up()
  local start = self:line_start()
  if start == 0 then return self:recall(-1) end
  local column = self.at - start
  self.at = start - 1
  self.at = math.min(self:line_start() + column, self.at)
  self:draw()
end

function Editor:down()
  local stop = self:line_end()
  if stop == #self.letters then return self:recall(1) end
  local column = self.at - self:line_start()
  self.at = stop + 1
  self.at = math.min(self.at + column, self:line_end())
  self:draw()
end

-- The newest entry before a place that contains the words.
function Editor:find(words, place)
  for i = math.min(place, #self.history), 1, -1 do
    if self.history[i]:find(words, 1, true) then return i end
  end
end

-- Ctrl-R: the newest entry with what is typed; Ctrl-R again an older one. Returns a key that ends it, which is then
-- done to the entry.
function Editor:search()
  local before, prompt, words, place = self:text(), self.prompt, "", #self.history
  local key, letters
  while true do
    self.prompt = ("(search '%s') "):format(words)
    self:draw()
    key, letters = self:key()
    if key == "text" then
      words = words .. letters
    elseif key == "backspace" then
      words = table.concat(letters_of(words), "", 1, math.max(#letters_of(words) - 1, 0))
      place = #self.history
    elseif key == "search" then
      place = place - 1
    elseif key ~= "signal" then
      break
    end
    local found = words ~= "" and self:find(words, place)
    if found then
      place = found
      self:set(self.history[found])
    end
  end
  self.prompt = prompt
  if key == "cancel" or key == "interrupt" then
    self:set(before)
    key = "signal"
  end
  self:draw()
  return key
end

-- ---- Completion -----------------------------------------------------------------------------------------------------

local function common_start(words)
  local start = words[1]
  for i = 2, #words do
    while words[i]:sub(1, #start) ~= start do start = start:sub(1, -2) end
  end
  return start
end

local MANY = 120 -- names that are listed at most

-- Names in columns under the input.
function Editor:list(words)
  local longest, lines = 0, {}
  for i = 1, math.min(#words, MANY) do longest = math.max(longest, line_editor.width(words[i])) end
  local n = math.min(#words, MANY)
  local across = math.max(math.floor(self.columns / (longest + 2)), 1)
  local down = math.ceil(n / across)
  for r = 1, down do
    local cells = {}
    for i = r, n, down do
      cells[#cells + 1] = words[i] .. (" "):rep(longest + 2 - line_editor.width(words[i]))
    end
    lines[r] = (table.concat(cells):gsub("%s+$", ""))
  end
  if #words > MANY then lines[#lines + 1] = ("… %d more"):format(#words - MANY) end
  local at = self.at
  self:finish()
  self.terminal.write(table.concat(lines, "\r\n") .. "\r\n" .. PASTES_ON)
  self.at = at
  self:draw()
end

-- The first Tab adds what all names have in common, the second lists them.
function Editor:tab(again)
  local before = table.concat(self.letters, "", 1, self.at)
  if before:match "[^\n]*$":match "^%s*$" then return self:insert "  " end
  local start, words = self.complete(before)
  if not words or #words == 0 then return self.terminal.write "\a" end
  local typed, common = before:sub(start), common_start(words)
  if #common > #typed then
    self:insert(common:sub(#typed + 1))
  elseif #words > 1 and again then
    self:list(words)
  elseif #words > 1 then
    self.terminal.write "\a"
  end
end

-- ---- The keys' actions ----------------------------------------------------------------------------------------------

local actions = {}

local function goes(to)
  return function(e)
    e.at = to(e)
    e:draw()
  end
end

actions.left = goes(function(e) return e:step_left(e.at) end)
actions.right = goes(function(e) return e:step_right(e.at) end)
actions.home = goes(Editor.line_start)
actions["end"] = goes(Editor.line_end)
actions.word_left = goes(Editor.word_left)
actions.word_right = goes(Editor.word_right)
actions.up = Editor.up
actions.down = Editor.down
actions.signal = Editor.draw
function actions.backspace(e)
  if e.at > 0 then e:remove(e:step_left(e.at), e.at) end
end
function actions.delete(e)
  if e.at < #e.letters then e:remove(e.at, e:step_right(e.at)) end
end
function actions.kill_to_end(e) e:kill(e.at, e:line_end()) end
function actions.kill_to_start(e) e:kill(e:line_start(), e.at) end
function actions.kill_word(e) e:kill(e:word_left(), e.at) end
function actions.kill_word_right(e) e:kill(e.at, e:word_right()) end
function actions.yank(e) e:insert(e.killed) end
function actions.paste(e) e:insert(e:pasted()) end
function actions.newline(e) e:insert "\n" end
function actions.swap(e)
  if e.at == 0 or #e.letters < 2 then return end
  local i = math.min(e.at, #e.letters - 1)
  e.letters[i], e.letters[i + 1] = e.letters[i + 1], e.letters[i]
  e.at = i + 1
  e:draw()
end
function actions.clear(e)
  e.terminal.write "\27[H\27[2J"
  e.row = 0
  e:draw()
end

-- Keys that end the reading: what it returns.
local function ending(e, key)
  if key == nil then return true, nil, "end" end
  if key == "interrupt" then
    e:finish "^C"
    return true, nil, "interrupt"
  end
  if key == "delete_or_end" and #e.letters == 0 then
    e:finish()
    return true, nil, "end"
  end
  if key == "enter" then
    if e.is_complete(e:text()) then
      e:finish()
      return true, e:text()
    end
    e:insert "\n"
  elseif key == "delete_or_end" then
    actions.delete(e)
  end
  return false
end

function Editor:edit()
  local last
  self:draw()
  while true do
    local key, letters = self:key()
    if key == "search" then key = self:search() end
    local ended, text, why = ending(self, key)
    if ended then return text, why end
    if key == "text" then
      self:insert(letters)
    elseif key == "tab" then
      self:tab(last == "tab")
    elseif actions[key] then
      actions[key](self)
    end
    last = key
  end
end

--- Reads an input: its text, or nil and why it ended: "interrupt" (Ctrl-C) or "end" (Ctrl-D on an empty line, or no
-- more input).
function Editor:read(prompt, continuation)
  self.prompt, self.continuation = prompt, continuation or prompt
  self.letters, self.at, self.row, self.col = {}, 0, 0, 0
  self.place, self.edits = #self.history + 1, {}
  local settings = self.terminal.enter()
  self.terminal.write(PASTES_ON)
  local got = { pcall(self.edit, self) }
  if not got[1] or got[2] == nil and got[3] == "end" then self.terminal.write(PASTES_OFF) end
  if settings then self.terminal.leave(settings) end
  if not got[1] then error(got[2], 0) end
  return unpack(got, 2, 3)
end

--- An editor. options: `terminal`; `history`, a list of texts to which the caller adds; `complete(text)`, which gives
-- the position where a name begins and the names that it may become; `is_complete(text)`, whether Enter ends the input.
function line_editor.new(options)
  return setmetatable({
    terminal = options.terminal, history = options.history or {}, bytes = "", killed = "", columns = 80,
    complete = options.complete or function() end, is_complete = options.is_complete or function() return true end,
  }, Editor)
end

return line_editor
