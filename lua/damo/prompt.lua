--- The prompt of the command `damo`: reads Lua, runs it, prints what it gives. For that command only.
--
-- The host gives what a module of damo does not use itself: `env`, the global names; `load(text, name)`, as Lua's load
-- or loadstring; `run(handler, fn)`, an xpcall that Ctrl-C ends; `traceback(level)`; `out(text)`, `err(text)`;
-- `colour`, whether errors are coloured; `edited`, a line editor, or without one `read_line(prompt)`, the next line or
-- nil; `remember(text)`, which keeps an input in the history; `open_picture(value)`, which gives the text that says
-- where the picture of a graph is; `info()`, a text. `failed` is set where an input failed.
-- @module damo.prompt

local damo = require "damo"
local core = require "damo.core"
local completion = require "damo.completion"
local nil_names = require "damo.nil_names"
local system = core.system

local prompt = {}

local FIRST, NEXT = "> ", ">> "

-- ---- Inputs ---------------------------------------------------------------------------------------------------------

local function trimmed(text) return (text:gsub("^%s+", ""):gsub("%s+$", "")) end

local function is_command(text) return text:match "^%s*:%s*%a" ~= nil or text:match "^%s*:%s*$" ~= nil end

-- A `local` at the beginning of an input would end with it: the names become global.
local function lasting(text)
  local rest = text:match "^%s*local%s+(function%s+.*)$"
  if rest then return rest end
  local names, value = text:match "^%s*local%s+([%a_][%w_,%s]*)(=[^=].*)$"
  if not names or names:find "%f[%w_]function%f[^%w_]" then return text end
  return (names .. value)
end

local function passed_on(...) return ... end

-- The chunk that gives an expression's values. The expression stands among a call's arguments, not behind `return`: a
-- tail call would leave no line of the input for an error to name. Where the text is no expression: nil and why.
local function compiled_expression(host, text)
  local is_expression, why = host.load("return " .. text, "=prompt")
  if not is_expression then return nil, why end
  -- On one line, or errors would name the next; a comment at the end wants a line of its own.
  local chunk = host.load("return (...)(" .. text .. ")", "=prompt")
    or host.load("return (...)(" .. text .. "\n)", "=prompt")
  return chunk and function() return chunk(passed_on) end
end

local function wants_more(why) return why ~= nil and why:match "near '?<eof>'?$" ~= nil end

--- A chunk of an input: a function, or nil, why, and whether more of the text might make it one.
local function compiled(host, text)
  local expression = text:match "^%s*=(.*)$"
  if expression then text = "return " .. expression end
  local chunk, no_expression = compiled_expression(host, expression or text)
  if chunk then return chunk, nil, false end
  local why, lasts
  lasts = lasting(text)
  chunk, why = host.load(lasts, "=prompt")
  if chunk then return chunk, nil, false end
  local unfinished = wants_more(why) or wants_more(no_expression)
  if lasts ~= text and not unfinished then chunk, why = host.load(text, "=prompt") end
  return chunk, why, unfinished
end

--- Whether Enter ends the input.
function prompt.is_complete(host, text)
  if is_command(text) or trimmed(text) == "" then return true end
  local _, _, unfinished = compiled(host, text)
  return not unfinished
end

-- ---- Values ---------------------------------------------------------------------------------------------------------

local MOST_ITEMS, DEEPEST = 40, 3

local function key_text(key)
  if type(key) == "string" and key:match "^[%a_][%w_]*$" then return key end
  return "[" .. (type(key) == "string" and ("%q"):format(key) or tostring(key)) .. "]"
end

local function sorted_keys(t, n)
  local keys = {}
  for key in next, t do
    local in_list = type(key) == "number" and key >= 1 and key <= n and key % 1 == 0
    if not in_list then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) == type(b) and (type(a) == "string" or type(a) == "number") then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

--- A value as the prompt prints it; tables without a text of their own as Lua would write them.
function prompt.text_of(value, depth, seen)
  depth, seen = depth or 0, seen or {}
  if type(value) == "string" and depth > 0 then return ("%q"):format(value):gsub("\\\n", "\\n") end
  if type(value) == "function" and depth > 0 then return "function" end
  local meta = type(value) == "table" and getmetatable(value)
  if type(value) ~= "table" or type(meta) == "table" and meta.__tostring then return tostring(value) end
  if seen[value] or depth >= DEEPEST then return "{…}" end
  seen[value] = true
  local parts, n = {}, #value
  for i = 1, math.min(n, MOST_ITEMS) do parts[i] = prompt.text_of(rawget(value, i), depth + 1, seen) end
  for _, key in ipairs(sorted_keys(value, n)) do
    if #parts >= MOST_ITEMS then break end
    parts[#parts + 1] = key_text(key) .. " = " .. prompt.text_of(rawget(value, key), depth + 1, seen)
  end
  if #parts >= MOST_ITEMS then parts[#parts + 1] = "…" end
  seen[value] = nil
  local line = "{" .. table.concat(parts, ", ") .. "}"
  if #line <= 76 and not line:find "\n" then return line end
  local indent = ("  "):rep(depth + 1)
  for i, part in ipairs(parts) do parts[i] = indent .. part:gsub("\n", "\n" .. indent) end
  return "{\n" .. table.concat(parts, ",\n") .. "\n" .. ("  "):rep(depth) .. "}"
end

local function print_values(host, values)
  local texts, long = {}, false
  for i = 1, values.n do
    texts[i] = prompt.text_of(values[i])
    long = long or texts[i]:find "\n" ~= nil
  end
  if values.n > 0 then host.out(table.concat(texts, long and "\n" or "\t") .. "\n") end
end

-- ---- Errors ---------------------------------------------------------------------------------------------------------

local function show_error(host, text)
  host.err(host.colour and "\27[31m" .. text .. "\27[0m\n" or text .. "\n")
end

-- The message, and of an error in a file the lines of the traceback that are in files of the user's.
local function error_text(host, err)
  local is_plain = type(err) == "table" and not (getmetatable(err) or {}).__tostring
  local text = is_plain and prompt.text_of(err) or tostring(err)
  if type(err) ~= "string" then -- without the calls of the command itself
    return (text:gsub("\n  called from [^\n]*bin/damo:%d+", ""):gsub("\n  called from [^\n]*damo/prompt%.lua:%d+", ""))
  end
  local lines = {}
  for line in host.traceback(3):gmatch "[^\n]+" do
    if line:find "damo/prompt%.lua" or line:find "bin/damo" then break end
    if line:find ":%d+:" and not line:find "/damo/%w+%.lua:" then lines[#lines + 1] = line end
  end
  local hint = nil_names.hint(text)
  if hint then text = text .. "\n" .. hint end
  if #lines < 2 then return text end
  return text .. "\nstack traceback:\n" .. table.concat(lines, "\n")
end

-- ---- Commands -------------------------------------------------------------------------------------------------------

local commands, command_names

local function evaluated(host, text)
  local chunk, why = compiled(host, text)
  if not chunk then error(why, 0) end
  return chunk()
end

local function list_commands()
  local lines = { "commands" }
  for _, name in ipairs(command_names) do
    lines[#lines + 1] = ("  %-18s %s"):format(":" .. name .. " " .. commands[name].takes, commands[name].doc)
  end
  lines[#lines + 1] = "Anything else is Lua: an expression is printed, as is `=expression`."
  return table.concat(lines, "\n")
end

local function seconds_text(ns)
  if ns < 1e3 then return ("%d ns"):format(ns) end
  if ns < 1e6 then return ("%.3g us"):format(ns / 1e3) end
  if ns < 1e9 then return ("%.3g ms"):format(ns / 1e6) end
  return ("%.3g s"):format(ns / 1e9)
end

local function packed(...) return { n = select("#", ...), ... } end

commands = {
  help = { takes = "name", doc = "what is known of a function, a module, an object; several words search" },
  time = { takes = "expression", doc = "runs it once, prints what it gives and how long it took" },
  graph = { takes = "expression", doc = "shows the graph of a Variable or a Function as a picture" },
  info = { takes = "", doc = "versions, libraries, threads" },
  quit = { takes = "", doc = "ends; so does Ctrl-D" },
}
command_names = { "help", "time", "graph", "info", "quit" }

function commands.help.run(host, rest)
  if rest == "" then return host.out(list_commands() .. "\n\n" .. damo.help(nil, { file = "str" }) .. "\n") end
  local name = rest:gsub("^[\"'](.*)[\"']$", "%1")
  local value = name:match "^[%a_][%w_]*$" and rawget(host.env, name)
  local of_damo = type(value) == "userdata" or type(value) == "function" and value ~= damo[name]
  local text = damo.help(name, { file = "str" })
  if of_damo and text:find "^there is no name" then text = damo.help(value, { file = "str" }) end
  host.out(text .. "\n")
end

function commands.time.run(host, rest)
  local chunk, why = compiled(host, rest)
  if not chunk then error(why, 0) end
  local start = damo.clock()
  local values = packed(chunk())
  local ns = damo.clock() - start
  print_values(host, values)
  host.out("time: " .. seconds_text(ns) .. "\n")
end

function commands.graph.run(host, rest)
  local value = evaluated(host, rest)
  local kind = system.typename(value)
  if kind ~= "Variable" and kind ~= "Function" and kind ~= "FunctionGraph" and kind ~= "table" and kind ~= "Apply" then
    error(":graph takes a Variable, a list of them, a Function or a FunctionGraph, got " .. kind, 0)
  end
  host.out(host.open_picture(value) .. "\n")
end

function commands.info.run(host) host.out(host.info() .. "\n") end

-- Returns true where the prompt ends.
local function run_command(host, text)
  local name, rest = text:match "^%s*:%s*(%w*)%s*(.-)%s*$"
  local command = commands[name]
  if not command then
    show_error(host, ("there is no command :%s\n%s"):format(name, list_commands()))
    host.failed = true
    return false
  end
  if name == "quit" then return true end
  if rest == "" and (name == "time" or name == "graph") then
    show_error(host, (":%s wants an expression"):format(name))
    host.failed = true
    return false
  end
  command.run(host, rest)
  return false
end

-- ---- The loop -------------------------------------------------------------------------------------------------------

-- Runs one input; returns true where the prompt ends.
local function run_input(host, text)
  local ended = false
  local function body()
    if is_command(text) then
      ended = run_command(host, text)
      return
    end
    local chunk, why = compiled(host, text)
    if not chunk then
      host.failed = true
      return show_error(host, why)
    end
    local values = packed(chunk())
    if values.n > 0 and values[1] ~= nil then rawset(host.env, "_", values[1]) end
    print_values(host, values)
  end
  local ok, err = host.run(function(err) return error_text(host, err) end, body)
  if not ok then
    host.failed = true
    show_error(host, tostring(err))
  end
  return ended
end

-- The next input from lines: as many as make a chunk.
local function read_lines(host)
  local text = host.read_line(FIRST)
  if not text then return nil end
  while not prompt.is_complete(host, text) do
    local line = host.read_line(NEXT)
    if not line then break end
    text = text .. "\n" .. line
  end
  return text
end

--- What Tab may make of the name at the end of a text.
function prompt.complete(host, text)
  local names = {}
  for i, name in ipairs(command_names) do names[i] = ":" .. name end
  return completion.complete(text, host.env, names)
end

--- Reads and runs until the input ends; returns whether nothing failed.
function prompt.loop(host)
  host.failed = false
  while true do
    local text, why
    if host.edited then text, why = host.edited:read(FIRST, NEXT) else text, why = read_lines(host), "end" end
    if not text and why ~= "interrupt" then return not host.failed end
    if text and trimmed(text) ~= "" then
      host.remember(text)
      if run_input(host, text) then return not host.failed end
    end
  end
end

return prompt
