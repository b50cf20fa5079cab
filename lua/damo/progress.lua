--- Progress of long loops: a bar with figures and the time left on a terminal, plain lines elsewhere.
--
--     local bar = progress.new(epochs, "training")
--     for epoch = 1, epochs do … bar:step(epoch, {loss = loss}) end
--     bar:finish()
--
-- or around a loop: for i, v in progress(list, {title = "training"}) do … end
--
-- @module damo.progress

local core = require "damo.core"
local system = core.system

local progress = {}

local Bar = {}
Bar.__index = Bar

local WIDTH = 24 -- characters of the bar itself
local REDRAW = 0.1 -- seconds between drawings
local FIRST_LINE, LINES_APART = 1, 10 -- seconds, of lines where the end is not known; the distance doubles

-- The default `out`: standard error; in a sandbox the state's `print`.
local default_out = {}

function default_out.write(_, text)
  if core.config.sandbox then
    print((text:gsub("\n$", "")))
  else
    system.write_error(text)
  end
end

--- Seconds as "7 s", "1:05" or "2:03:04".
local function clock_text(seconds)
  seconds = math.floor(seconds + 0.5)
  if seconds < 60 then return ("%d s"):format(seconds) end
  local minutes = math.floor(seconds / 60)
  if minutes < 60 then return ("%d:%02d"):format(minutes, seconds % 60) end
  return ("%d:%02d:%02d"):format(math.floor(minutes / 60), minutes % 60, seconds % 60)
end

--- "accuracy 0.95  loss 0.1234": the figures, sorted by name.
local function figures_text(figures)
  local texts = {}
  for name, value in pairs(figures or {}) do
    texts[#texts + 1] = ("%s %s"):format(tostring(name),
      type(value) == "number" and system.number_text(value, 5) or tostring(value))
  end
  table.sort(texts)
  return table.concat(texts, "  ")
end

local function wrong(where, what, wanted, value)
  core.raise("type", ("progress.%s: %s must be %s, got %s"):format(where, what, wanted, system.typename(value)))
end

local function wrong_loop(what, wanted, value)
  core.raise("type", ("progress: %s must be %s, got %s"):format(what, wanted, system.typename(value)))
end

local function check_new(total, title, options)
  if type(total) ~= "number" then wrong("new", "argument 1 (total)", "a number of steps", total) end
  if not (total >= 0 and total < math.huge and total == math.floor(total)) then
    core.raise("value", "progress.new: argument 1 (total) must be an integer from 0 on")
  end
  if title ~= nil and type(title) ~= "string" then wrong("new", "argument 2 (title)", "a string", title) end
  system.check_options("progress.new", options, { "out", "terminal" })
  local out, terminal = options and options.out, options and options.terminal
  if out ~= nil and not system.can_write(out) then
    wrong("new", "option 'out'", "a file or a table with a method write", out)
  end
  if terminal ~= nil and type(terminal) ~= "boolean" then
    wrong("new", "option 'terminal'", "true or false", terminal)
  end
end

--- A bar of `total` steps.
---@param total integer number of steps
---@param title string|nil what is being done
---@param options table|nil {out = file, terminal = boolean}: where to write (standard error; in a sandbox by `print`);
--- is that a terminal?
---@return table bar
function progress.new(total, title, options)
  check_new(total, title, options)
  options = options or {}
  local terminal = options.terminal
  if terminal == nil then terminal = options.out == nil and not core.config.sandbox and system.is_terminal() end
  return setmetatable({
    total = total, title = title or "", out = options.out or default_out, terminal = terminal,
    start = core.clock(), drawn = -1, next_line = 1, done = 0,
  }, Bar)
end

-- A table given as `out` need not have flush.
local function flush(out)
  if out.flush then out:flush() end
end

-- "12.3/s", or "4.5 s each" where there is less than one a second.
local function rate_text(done, seconds)
  if done <= 0 or seconds <= 0 then return "" end
  local rate = done / seconds
  if rate >= 1 then return system.number_text(rate, 3) .. "/s" end
  return system.number_text(1 / rate, 3) .. " s each"
end

local function joined(...)
  local texts = {}
  for _, text in ipairs { ... } do
    if text ~= "" then texts[#texts + 1] = text end
  end
  return table.concat(texts, "  ")
end

local function draw(bar, seconds, left)
  local text, rate = figures_text(bar.figures), rate_text(bar.done, seconds)
  if bar.total then
    local share = bar.total > 0 and math.min(1, math.max(0, bar.done / bar.total)) or 1
    local full = math.floor(share * WIDTH + 0.5)
    text = joined(("%s [%s%s] %d/%d"):format(bar.title, ("█"):rep(full), ("·"):rep(WIDTH - full), bar.done, bar.total),
      rate, text, clock_text(left) .. " left")
  else
    text = joined(("%s %d"):format(bar.title, bar.done), rate, text, clock_text(seconds))
  end
  bar.out:write(("\r%s \27[K"):format(text))
  flush(bar.out)
end

-- A line where the end is not known: after a second, then rarer and rarer.
local function write_open_line(bar, seconds)
  bar.out:write(joined(("%s %d"):format(bar.title, bar.done), rate_text(bar.done, seconds), figures_text(bar.figures),
    clock_text(seconds)) .. "\n")
  bar.next_line = seconds + bar.apart
  bar.apart = 2 * bar.apart
end

--- Reports that step number `done` is finished.
---@param done integer
---@param figures table|nil numbers by name, shown beside the bar
function Bar:step(done, figures)
  if type(done) ~= "number" or done ~= math.floor(done) then
    wrong("step", "argument 1 (done)", "an integer", done)
  end
  if figures ~= nil and type(figures) ~= "table" then wrong("step", "argument 2 (figures)", "a table", figures) end
  self.done, self.figures = done, figures
  local seconds = (core.clock() - self.start) * 1e-9
  local total = self.total
  local left = total and done > 0 and math.max(0, seconds / done * (total - done)) or 0
  if self.terminal then
    if seconds - self.drawn < REDRAW and (not total or done < total) then return end
    self.drawn = seconds
    draw(self, seconds, left)
  elseif not total then
    if seconds >= self.next_line then write_open_line(self, seconds) end
  elseif done >= self.next_line or done >= self.total then
    self.next_line = done + math.max(1, math.floor(self.total / 10))
    self.out:write(("%s %d/%d  %s  %s left\n"):format(self.title, done, self.total, figures_text(figures),
      clock_text(left)))
  end
end

-- ---- Loops ------------------------------------------------------------------------------------------------------

local NEEDED = "a number of steps, a list, an Array or an iterator"

-- The number of rounds (nil: not known), and a function that gives the values of round i, the first of them nil at the
-- end.
local function rounds_of(x)
  local kind = system.typename(x)
  if type(x) == "number" then
    if not (x >= 0 and x < math.huge and x == math.floor(x)) then
      core.raise("value", "progress: the number of steps must be an integer from 0 on")
    end
    return x, function(i) if i <= x then return i end end
  end
  if kind == "Array" then
    if #x.shape == 0 then core.raise("type", "progress: a 0-d Array has no entries") end
    local n = x.shape[1]
    return n, function(i) if i <= n then return x[i] end end
  end
  local meta = getmetatable(x)
  if type(x) == "function" or (type(meta) == "table" and meta.__call) then return nil, function() return x() end end
  if type(x) ~= "table" then wrong_loop("argument 1", NEEDED, x) end
  local n = #x
  return n, function(i) if i <= n then return x[i] end end
end

local function new_open(title, options)
  local bar = progress.new(0, title, { out = options.out, terminal = options.terminal })
  bar.total, bar.next_line, bar.apart = nil, FIRST_LINE, LINES_APART
  return bar
end

-- Ends the display of a loop that was left: the fourth value of Lua 5.4's for.
local Ending = { __close = function(ending) ending.finish() end }

--- Shows how far a loop is: `for i, v in progress(list, {title = "training"}) do`.
---@param x any a number of steps, a list, an Array (its rows), or an iterator, of whose values v is the first
---@param options table|nil {title = string, out = file, terminal = boolean, silent = boolean}
---@return function, nil, nil, table
local function loop_progress(_, x, options)
  if options ~= nil and type(options) ~= "table" then wrong_loop("argument 2", "a table of options", options) end
  options = options or {}
  system.check_options("progress", options, { "title", "out", "terminal", "silent" })
  local title = options.title
  if title ~= nil and type(title) ~= "string" then wrong_loop("option 'title'", "a string", title) end
  if options.silent ~= nil and type(options.silent) ~= "boolean" then
    wrong_loop("option 'silent'", "true or false", options.silent)
  end
  local n, round = rounds_of(x)
  check_new(n or 0, title, { out = options.out, terminal = options.terminal })
  local bar
  if options.silent then
    bar = nil
  elseif n then
    bar = progress.new(n, title, { out = options.out, terminal = options.terminal })
  else
    bar = new_open(title, options)
  end
  local function finish()
    if not bar then return end
    if not bar.total and not bar.terminal then write_open_line(bar, (core.clock() - bar.start) * 1e-9) end
    bar:finish()
    bar = nil
  end
  local i = 0
  local function go_on(v, ...)
    if v == nil then return finish() end
    i = i + 1
    return i, v, ...
  end
  return function()
    if bar and i > 0 then bar:step(i) end
    return go_on(round(i + 1))
  end, nil, nil, setmetatable({ finish = finish }, Ending)
end

--- Ends the bar's line.
function Bar:finish()
  if self.terminal then self.out:write "\n" end
  flush(self.out)
end

local module = core.names.seal(progress, "damo.progress")
getmetatable(module).__call = loop_progress
return module
