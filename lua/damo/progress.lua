--- Progress of long loops: a bar with figures and the time left on a terminal, plain lines elsewhere.
--
--     local bar = progress.new(epochs, "training")
--     for epoch = 1, epochs do … bar:step(epoch, {loss = loss}) end
--     bar:finish()
--
-- @module damo.progress

local core = require "damo.core"
local system = core.system

local progress = {}

local Bar = {}
Bar.__index = Bar

local WIDTH = 24 -- characters of the bar itself
local REDRAW = 0.1 -- seconds between drawings

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

local function draw(bar, left)
  local share = bar.total > 0 and math.min(1, math.max(0, bar.done / bar.total)) or 1
  local full = math.floor(share * WIDTH + 0.5)
  bar.out:write(("\r%s [%s%s] %d/%d  %s  %s left \27[K"):format(bar.title, ("█"):rep(full), ("·"):rep(WIDTH - full),
    bar.done, bar.total, figures_text(bar.figures), clock_text(left)))
  flush(bar.out)
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
  local left = done > 0 and math.max(0, seconds / done * (self.total - done)) or 0
  if self.terminal then
    if seconds - self.drawn < REDRAW and done < self.total then return end
    self.drawn = seconds
    draw(self, left)
  elseif done >= self.next_line or done >= self.total then
    self.next_line = done + math.max(1, math.floor(self.total / 10))
    self.out:write(("%s %d/%d  %s  %s left\n"):format(self.title, done, self.total, figures_text(figures),
      clock_text(left)))
  end
end

--- Ends the bar's line.
function Bar:finish()
  if self.terminal then self.out:write "\n" end
  flush(self.out)
end

return require("damo.core").names.seal(progress, "damo.progress")
