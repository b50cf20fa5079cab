--- Progress of long loops: a bar with figures and the time left on a terminal, plain lines elsewhere.
--
--     local bar = progress.new(epochs, "training")
--     for epoch = 1, epochs do … bar:step(epoch, {loss = loss}) end
--     bar:finish()
--
-- @module damo.progress

local progress = {}

local Bar = {}
Bar.__index = Bar

local WIDTH = 24 -- characters of the bar itself
local REDRAW = 0.1 -- seconds between drawings

--- Whether standard error is a terminal: asked of `test`, as Lua has no call for it. TERM=dumb counts as none.
local function is_terminal()
  local term = os.getenv "TERM"
  if term == nil or term == "dumb" then return false end
  local answer = os.execute "test -t 2"
  return answer == true or answer == 0
end

--- Seconds as 7 s, 1:05, 2:03:04.
local function clock_text(seconds)
  seconds = math.floor(seconds + 0.5)
  if seconds < 60 then return seconds .. " s" end
  local minutes = math.floor(seconds / 60)
  if minutes < 60 then return ("%d:%02d"):format(minutes, seconds % 60) end
  return ("%d:%02d:%02d"):format(math.floor(minutes / 60), minutes % 60, seconds % 60)
end

--- "loss 0.1234  accuracy 0.95": figures in the order of their names.
local function figures_text(figures)
  local names = {}
  for name in pairs(figures or {}) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local value = figures[name]
    names[i] = name .. " " .. (type(value) == "number" and ("%.5g"):format(value) or tostring(value))
  end
  return table.concat(names, "  ")
end

--- A bar of `total` steps.
---@param total integer number of steps
---@param title string|nil what is being done
---@param options table|nil {out = file, terminal = boolean}: where to write (standard error); is that a terminal?
---@return table bar
function progress.new(total, title, options)
  options = options or {}
  local terminal = options.terminal
  if terminal == nil then terminal = options.out == nil and is_terminal() end
  return setmetatable({
    total = total, title = title or "", out = options.out or io.stderr, terminal = terminal,
    start = os.time(), cpu = os.clock(), drawn = -1, next_line = 1, done = 0,
  }, Bar)
end

local function elapsed(bar)
  -- os.time has whole seconds, os.clock counts processor time: the larger is nearer to what a watch shows
  return math.max(os.clock() - bar.cpu, os.difftime(os.time(), bar.start))
end

local function draw(bar, seconds)
  local share = bar.total > 0 and bar.done / bar.total or 1
  local full = math.floor(share * WIDTH + 0.5)
  local left = bar.done > 0 and seconds / bar.done * (bar.total - bar.done) or 0
  bar.out:write(("\r%s [%s%s] %d/%d  %s  %s left \27[K"):format(bar.title, ("█"):rep(full), ("·"):rep(WIDTH - full),
    bar.done, bar.total, figures_text(bar.figures), clock_text(left)))
  bar.out:flush()
end

--- Tells that step number `done` is finished.
---@param done integer
---@param figures table|nil numbers by name, shown beside the bar
function Bar:step(done, figures)
  self.done, self.figures = done, figures
  local seconds = elapsed(self)
  if self.terminal then
    if seconds - self.drawn < REDRAW and done < self.total then return end
    self.drawn = seconds
    draw(self, seconds)
  elseif done >= self.next_line or done >= self.total then
    self.next_line = done + math.max(1, math.floor(self.total / 10))
    local left = done > 0 and seconds / done * (self.total - done) or 0
    local line = "%s %d/%d  %s  %s left\n"
    self.out:write(line:format(self.title, done, self.total, figures_text(figures), clock_text(left)))
  end
end

--- Ends the bar's line.
function Bar:finish()
  if self.terminal then self.out:write "\n" end
  self.out:flush()
end

return progress
