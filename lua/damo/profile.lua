--- f.profile of a Function that was compiled with `profile = true`: its counts, and what shows them.
-- @module damo.profile

local core = require "damo.core"
local gnuplot = require "damo.gnuplot"
local output = require "damo.output"
local system = core.system

local Profile = {}

local MOST_NODES, MOST_RULES, MOST_BARS = 20, 10, 25

-- ---- Texts ----------------------------------------------------------------------------------------------------------

--- Seconds as text of 8 characters: " 12.3 us".
local function seconds_text(t)
  local unit, scale = "s ", 1
  if t < 1e-6 then
    unit, scale = "ns", 1e9
  elseif t < 1e-3 then
    unit, scale = "us", 1e6
  elseif t < 1 then
    unit, scale = "ms", 1e3
  end
  local v = t * scale
  return (v < 9.995 and "%5.2f %s" or v < 99.95 and "%5.1f %s" or "%5.0f %s"):format(v, unit)
end

local function bytes_text(n)
  if n < 1e4 then return ("%5d B "):format(n) end
  local unit, scale = "kB", 1e3
  if n >= 1e10 then
    unit, scale = "GB", 1e9
  elseif n >= 1e7 then
    unit, scale = "MB", 1e6
  end
  return ("%5.0f %s"):format(n / scale, unit)
end

local function share_of(part, whole) return whole > 0 and part / whole or 0 end

--- The entries with the most time, at most n, and the number of the others.
local function slowest(list, n)
  local sorted = {}
  for i, e in ipairs(list) do sorted[i] = { place = i, time = e.time, entry = e } end
  table.sort(sorted, function(a, b)
    if a.time ~= b.time then return a.time > b.time end
    return a.place < b.place
  end)
  local first = {}
  for i = 1, math.min(n, #sorted) do first[i] = sorted[i].entry end
  return first, #sorted - #first
end

local function add_rows(lines, profile, list, name_of)
  lines[#lines + 1] = "      time   share     calls     bytes  "
  local rows, left = slowest(list, MOST_NODES)
  for _, e in ipairs(rows) do
    lines[#lines + 1] = ("  %s  %4.1f %%  %8d  %s  %s"):format(seconds_text(e.time),
      100 * share_of(e.time, profile.time), e.calls, bytes_text(e.bytes), name_of(e))
  end
  if left > 0 then lines[#lines + 1] = ("  … and %d more"):format(left) end
end

local function one_line(value) return (tostring(value):gsub("%s+", " ")) end

local function sorted_rules(rules)
  local list = {}
  for name, r in pairs(rules) do
    if r.uses > 0 then list[#list + 1] = { name = name, time = r.time, uses = r.uses } end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return slowest(list, MOST_RULES)
end

local function profile_text(profile)
  local lines = {
    ("%s: %d call%s, %s, %.1f %% of it overhead, peak of memory %s"):format(profile.name, profile.calls,
      profile.calls == 1 and "" or "s", (seconds_text(profile.time):match "^%s*(.-)%s*$"), 100 * profile.overhead,
      (bytes_text(profile.peak):match "^%s*(.-)%s*$")),
    "ops",
  }
  add_rows(lines, profile, profile.ops, function(e)
    return e.nodes > 1 and ("%s (%d nodes)"):format(e.op, e.nodes) or e.op
  end)
  lines[#lines + 1] = "nodes"
  add_rows(lines, profile, profile.nodes, function(e) return one_line(e.node) end)
  lines[#lines + 1] = "compiled in " .. (seconds_text(profile.compile.time):match "^%s*(.-)%s*$")
  for _, phase in ipairs(profile.compile.phases) do
    lines[#lines + 1] = ("  %s  %s"):format(seconds_text(phase.time), phase.name)
  end
  local rules, left = sorted_rules(profile.rules)
  if #rules > 0 then lines[#lines + 1] = "rules" end
  for _, r in ipairs(rules) do
    lines[#lines + 1] = ("  %s  %6d use%s  %s"):format(seconds_text(r.time), r.uses, r.uses == 1 and " " or "s", r.name)
  end
  if left > 0 then lines[#lines + 1] = ("  … and %d more"):format(left) end
  return table.concat(lines, "\n")
end

--- Prints the counts as tables: Ops and nodes by their time, phases of the compilation, rewrite rules.
---@param options? { file?: any } "str" to have the text returned, or an object with a method write
---@return string?
function Profile:print(options)
  system.check_options("profile:print", options, { "file" })
  local file = options and options.file
  output.check_file("profile:print", file)
  return output.write(file, profile_text(self))
end

-- ---- Bars -----------------------------------------------------------------------------------------------------------

local function bars_text(rows, profile)
  local longest, lines = 0, { profile.name .. ": time of each node" }
  for _, e in ipairs(rows) do longest = math.max(longest, e.time) end
  for _, e in ipairs(rows) do
    lines[#lines + 1] = ("%s  %-40s  %s"):format(seconds_text(e.time),
      ("#"):rep(math.floor(40 * share_of(e.time, longest) + 0.5)), one_line(e.node))
  end
  return table.concat(lines, "\n")
end

--- A name of at most 40 bytes, cut at a whole character.
local function short(text)
  if #text <= 40 then return text end
  return text:sub(1, 37):gsub("[\192-\255][\128-\191]*$", "") .. "…"
end

local function bars_script(rows, profile, terminal)
  local names = {}
  for i, e in ipairs(rows) do names[i] = ("%s %d"):format(gnuplot.quoted(short(one_line(e.node))), 1 - i) end
  local lines = {
    "set encoding utf8",
    "set terminal " .. terminal(900, 120 + 24 * math.max(#rows, 1)),
    "set title " .. gnuplot.plain(profile.name .. ": time of each node, in milliseconds"),
    "set ytics noenhanced (" .. table.concat(names, ", ") .. ")",
    "set grid xtics",
    "unset key",
    "set style fill solid 0.7 noborder",
    ("set yrange [%s:1]"):format(gnuplot.datum(-math.max(#rows, 1))),
    "set xrange [0:*]",
  }
  if #rows == 0 then lines[#lines] = "set xrange [0:1]" end -- gnuplot refuses an empty range
  lines[#lines + 1] = "plot '-' using (0.5*$2):1:(0.5*$2):(0.35) with boxxyerror linecolor rgb '#4472a4'"
  for i, e in ipairs(rows) do lines[#lines + 1] = gnuplot.datum(1 - i) .. " " .. gnuplot.datum(1e3 * e.time) end
  if #rows == 0 then lines[#lines + 1] = "0 0" end
  lines[#lines + 1] = "e"
  return lines
end

--- Draws the time of the slowest nodes as bars: to options.path by gnuplot, without one as text.
---@param options? { path?: string } its ending (.png, .svg or .pdf) says what the picture is
---@return string what the path of the picture, or the text
function Profile:plot(options)
  system.check_options("profile:plot", options, { "path" })
  local path = options and options.path
  local rows = slowest(self.nodes, MOST_BARS)
  if path ~= nil then
    if type(path) ~= "string" then
      core.raise("type", "profile:plot: option 'path' must be a string, got " .. system.typename(path))
    end
    local terminal = gnuplot.terminal("profile:plot", path)
    gnuplot.draw("profile:plot", path, bars_script(rows, self, terminal))
    return path
  end
  return bars_text(rows, self)
end

-- ---- The graph ------------------------------------------------------------------------------------------------------

--- White at share 0, red at 1.
local function colour(share)
  local rest = math.floor(255 * (1 - math.min(1, share)) + 0.5)
  return ("#ff%02x%02x"):format(rest, rest)
end

--- The graph in Graphviz's language, each node coloured by its share of the time of all nodes.
---@param options? { path?: string } where it is also written: as a picture if it ends in .png, .svg or .pdf,
--- as a page that folds and searches if it ends in .html
---@return string
function Profile:dot(options)
  system.check_options("profile:dot", options, { "path" })
  local outputs, time_of, total, at = self.fgraph.outputs, {}, 0, 0
  for _, e in ipairs(self.nodes) do
    time_of[e.node] = e.time
    total = total + e.time
  end
  local order = core.graph.toposort(outputs)
  -- the text has the nodes in this order, each on a line that starts so
  local text = ("\n" .. core.graph.dot_text(self.fgraph)):gsub("(\n  n%d+ %[shape=)(%w+), ", function(head, shape)
    if shape == "box" then return nil end
    at = at + 1
    local time = time_of[order[at]]
    if not time then return nil end
    return ('%s%s, style=filled, fillcolor="%s", tooltip="%s, %.1f %%", '):format(head, shape,
      colour(share_of(time, total)), (seconds_text(time):match "^%s*(.-)%s*$"), 100 * share_of(time, total))
  end)
  return output.write_dot("profile:dot", options and options.path, text:sub(2))
end

-- ---- Trace ----------------------------------------------------------------------------------------------------------

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }
local function json_text(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

--- An event of the Chrome trace format: ph X is one with a beginning and a length, both in microseconds.
local function trace_event(name, category, thread, start, time, args)
  return ('{"name":%s,"cat":"%s","ph":"X","pid":1,"tid":%d,"ts":%.3f,"dur":%.3f%s}'):format(json_text(name), category,
    thread, start, time, args or "")
end

local function thread_name(thread, name)
  return ('{"name":"thread_name","ph":"M","pid":1,"tid":%d,"args":{"name":%s}}'):format(thread, json_text(name))
end

--- The latest events in Chrome's trace format, which chrome://tracing and ui.perfetto.dev show: calls and the nodes
--- that they ran, after the phases of the compilation.
---@param options? { path?: string } where it is also written
---@return string
function Profile:trace(options)
  system.check_options("profile:trace", options, { "path" })
  local lines = { thread_name(1, "calls of " .. self.name), thread_name(2, "compilation") }
  local now, first = 0, math.huge
  for _, phase in ipairs(self.compile.phases) do
    lines[#lines + 1] = trace_event(phase.name, "compile", 2, now, 1e6 * phase.time)
    now = now + 1e6 * phase.time
  end
  for _, e in ipairs(self.events) do first = math.min(first, e[1]) end
  for _, e in ipairs(self.events) do
    local node = self.nodes[e[3]]
    local start, time = now + (e[1] - first) / 1e3, e[2] / 1e3
    lines[#lines + 1] = node
      and trace_event(node.op, "node", 1, start, time, (',"args":{"node":%d}'):format(e[3]))
      or trace_event("call", "call", 1, start, time)
  end
  local text = '{"displayTimeUnit":"ns","traceEvents":[\n' .. table.concat(lines, ",\n") .. "\n]}\n"
  local path = options and options.path
  if path ~= nil then system.write_text(path, text, "profile:trace") end
  return text
end

-- ---- Making one -----------------------------------------------------------------------------------------------------

core.names.seal_methods(Profile, "profile")

--- The totals of nodes of the same Op, the most time first.
local function totals(nodes)
  local ops, of = {}, {}
  for _, n in ipairs(nodes) do
    local sum = of[n.op]
    if not sum then
      sum = { op = n.op, nodes = 0, calls = 0, time = 0, bytes = 0 }
      of[n.op] = sum
      ops[#ops + 1] = sum
    end
    sum.nodes, sum.calls = sum.nodes + 1, sum.calls + n.calls
    sum.time, sum.bytes = sum.time + n.time, sum.bytes + n.bytes
  end
  return (slowest(ops, #ops))
end

-- Fields that only some methods need, computed when they are read.
local late = setmetatable({}, { __mode = "k" })

local metatable = {
  __index = function(profile, name)
    if name == "fgraph" then return late[profile].fgraph end
    if name == "events" then return late[profile].events end
    return Profile[name]
  end,
  __tostring = profile_text,
}

--- f.profile: the counts of the Function f, with methods.
return function(counts, f)
  counts.ops = totals(counts.nodes)
  local profile = setmetatable(counts, metatable)
  late[profile] = { fgraph = f.fgraph, events = system.profile_events(f) }
  return profile
end
