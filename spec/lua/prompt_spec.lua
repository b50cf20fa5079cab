-- The command damo on a pseudo-terminal, with real keys: what the screen shows, what the history keeps; and without a
-- terminal.
local screen = require "spec.support.screen"

local folder, driver, home

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "*a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local interpreter = arg and arg[-1] or "lua5.4"

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  driver, home = folder .. "/pty", folder .. "/state"
  local made = os.execute(("%s -o %s spec/support/pty.c"):format(os.getenv "CC" or "cc", driver))
  assert(made == true or made == 0)
end)

teardown(function() os.execute("rm -r " .. folder) end)

before_each(function() os.execute("rm -rf " .. home) end)

-- Runs the command on a terminal with these steps (spec/support/pty.c); returns what it wrote, and the exit status.
local function session(steps, options)
  options = options or {}
  local columns, played = options.columns or 72, {}
  for i, step in ipairs(steps) do
    -- The mark that comes before each prompt, and not when it is drawn again: keys that follow it reach the editor.
    played[i] = step == "wait > " and options.term ~= "dumb" and "wait \\e[?2004h" or step
  end
  write(folder .. "/steps", table.concat(played, "\n") .. "\n")
  local env = ("env -u NO_COLOR -u DISPLAY -u WAYLAND_DISPLAY -u DAMO_VIEWER TERM=%s XDG_STATE_HOME=%s %s"):format(
    options.term or "xterm", home, options.env or "")
  local command = "%s %s %d 24 20 %s %s <%s/steps 2>%s/status"
  local program = options.program or "lua/bin/damo"
  local pipe = assert(io.popen(command:format(env, driver, columns, interpreter, program, folder, folder)))
  local bytes = pipe:read "*a"
  pipe:close()
  local told = read(folder .. "/status")
  assert(not told:find "the program", told .. bytes)
  return bytes, tonumber(told:match "status (%d+)")
end

local function has(text, words) assert.is_truthy(text:find(words, 1, true), words .. "\n--- in:\n" .. text) end
local function has_not(text, words) assert.is_nil(text:find(words, 1, true)) end

-- The lines that the screen shows in the end.
local function shown(steps, options)
  local bytes, status = session(steps, options)
  local lines = screen(bytes, options and options.columns or 72)
  return table.concat(lines, "\n") .. "\n", status, bytes
end

describe("the prompt on a terminal", function()
  it("prints expressions, keeps names, and ends with Ctrl-D", function()
    local text, status = shown {
      "wait > ", "send 1 + 1\\r", "wait \\n2", "wait > ", "send x = 21\\r", "wait > ", "send =x * 2\\r", "wait \\n42",
      "wait > ", "send local y = x\\r", "wait > ", "send y, nil\\r", "wait 21\\tnil", "wait > ", "send \\x04",
    }
    assert.equal(0, status)
    has(text, "> 1 + 1\n2\n> x = 21\n> =x * 2\n42\n> local y = x\n> y, nil\n21")
  end)

  it("prints arrays and tables well", function()
    local text = shown {
      "wait > ", "send damo.array {{1, 2}, {3, 4}}\\r", "wait 4.]]", "wait > ", "send {1, a = {b = 'c'}}\\r", "wait }}",
      "wait > ", "send damo.eye(2), damo.ones {2}\\r", "wait [1. 1.]", "wait > ", "send :quit\\r",
    }
    has(text, "\n[[1. 2.]\n [3. 4.]]\n")
    has(text, '\n{1, a = {b = "c"}}\n')
    has(text, "\n[[1. 0.]\n [0. 1.]]\n[1. 1.]\n")
  end)

  it("reads inputs of several lines, which stay one entry of the history", function()
    local text = shown {
      "wait > ", "send for i = 1, 2 do\\r", "wait >> ", "send print(i * 10)\\r", "wait >> ", "send end\\r", "wait 20",
      "wait > ", "send \\e[A", "wait end", "send \\e[A\\e[F0\\r", "wait 200", "wait > ", "send \\x04",
    }
    has(text, "> for i = 1, 2 do\n>> print(i * 10)\n>> end\n10\n20\n")
    has(text, ">> print(i * 10)0\n") -- Up goes to the line above first
    assert.equal("for i = 1, 2 do\\nprint(i * 10)\\nend\nfor i = 1, 2 do\\nprint(i * 10)0\\nend\n",
      (read(home .. "/damo/history")))
  end)

  it("goes on behind an operator that wants its second operand", function()
    has(shown { "wait > ", "send 1 +\\r", "wait >> ", "send 41\\r", "wait 42", "wait > ", "send \\x04" },
      "> 1 +\n>> 41\n42\n")
  end)

  it("tells which name of damo is meant where Lua finds no value", function()
    local text = shown {
      "wait > ", "send damo.dto(1)\\r", "wait damo.dot", "wait > ", "send ones {3}\\r", "wait damo.ones", "wait > ",
      "send linalg.det {{1}}\\r", "wait damo.linalg", "wait > ", "send nowhere.x\\r", "wait nil value", "wait > ",
      "send \\x04",
    }
    has(text, "there is no 'dto', did you mean damo.dot")
    has(text, "'ones' is damo.ones\n")
    has(text, "'linalg' is damo.linalg\n")
    has(text, _VERSION == "Lua 5.1" and "prompt:1: attempt to index global 'nowhere' (a nil value)\n>"
      or "prompt:1: attempt to index a nil value (global 'nowhere')\n>")
  end)

  it("edits with the usual keys", function()
    local cases = {
      { "abc\\x01x = '\\x05'", "x = 'abc'" }, -- Ctrl-A, Ctrl-E
      { "'ac'\\e[D\\e[Db", "'abc'" }, { "'abxc'\\x02\\x02\\x7f", "'abc'" }, -- arrows, Ctrl-B, Backspace
      { "'abxc'\\e[D\\e[D\\e[D\\e[3~", "'abc'" }, { "'abc'zz\\x02\\x02\\x0b", "'abc'" }, -- Delete, Ctrl-K
      { "xyz 'abc'\\e[1;5D\\x15'", "'abc'" }, { "'abc' xyz\\x17", "'abc' " }, -- Ctrl-Left and Ctrl-U, Ctrl-W
      { "'one two'\\x17three'", "'one three'" }, { "'ab\\x14", "'ba" }, -- Ctrl-T
      { "'a'\\x15\\x19..\\x19", "'a'..'a'" }, { "'c'\\e[Ha = \\e[F", "a = 'c'" }, -- Ctrl-Y; Home, End
      { "1 + bc\\eb\\x0b2", "1 + 2" }, -- Alt-B
    }
    for _, case in ipairs(cases) do
      local text = shown { "wait > ", "send " .. case[1], "pause 60", "send \\x03", "wait > ", "send \\x04" }
      has(text, "> " .. case[2] .. "^C\n")
    end
  end)

  it("draws UTF-8, letters of two columns and marks, and edits them whole", function()
    local text = shown {
      "wait > ", "send s = 'äöü日本e\204\129'\\e[D\\e[D\\e[D\\x7f語\\r", "wait > ", "send s\\r", "wait > ", "send \\x04",
    }
    has(text, "> s = 'äöü語本e\204\129'\n> s\näöü語本e\204\129\n")
    local bad = shown { "wait > ", "send 'a\\xffb'\\r", "wait > ", "send #'\\xff'\\r", "wait > ", "send \\x04" }
    has(bad, "> 'a\239\191\189b'")
  end)

  it("wraps lines that are wider than the terminal", function()
    local long = "x = '" .. ("abcdefghij"):rep(6) .. "'"
    local text = shown({
      "wait > ", "send " .. long .. "\\x01y, \\x05 .. '!'", "pause 60", "send \\x01\\e[3~\\e[3~\\e[3~\\r", "wait > ",
      "send #x\\r", "wait 61", "wait > ", "send \\x04",
    }, { columns = 30 })
    local wrapped = ("> " .. long .. " .. '!'")
    has(text, wrapped:sub(1, 30) .. "\n" .. wrapped:sub(31, 60) .. "\n" .. wrapped:sub(61) .. "\n> #x\n61\n")
    for _, n in ipairs { 27, 28, 29, 57, 58 } do -- around the last column
      local full = "'" .. ("m"):rep(n - 2) .. "'"
      local rows = shown({
        "wait > ", "send " .. full .. "\\e[D\\e[C\\r", "pause 150", "wait > ", "send \\x04",
      }, { columns = 30 })
      local typed = "> " .. full
      has(rows, "\n" .. typed:sub(1, 30) .. "\n" .. (n > 28 and typed:sub(31) .. "\n" or "") .. "mmm")
    end
    local wide = shown({ "wait > ", "send x='" .. ("日"):rep(14) .. "'", "pause 60", "send \\x01\\x05\\r", "wait > ",
      "send \\x04" }, { columns = 20 })
    has(wide, "> x='" .. ("日"):rep(7) .. "\n" .. ("日"):rep(7) .. "'\n>")
  end)

  it("draws anew after the window changed", function()
    local text = shown({
      "wait > ", "send x = '" .. ("a"):rep(20) .. "'", "pause 60", "size 60 24", "pause 60", "send \\x01\\x05\\r",
      "wait > ", "send #x\\r", "wait 20", "wait > ", "send \\x04",
    }, { columns = 60 })
    has(text, "20\n")
  end)

  it("completes names, fields, options and commands", function()
    local text = shown {
      "wait > ", "send dam\\t.linalg.solve_tri\\t", "wait solve_triangular", "send \\x03", "wait > ",
      "send v = damo.ones {3}\\r", "wait > ", "send v:cums\\t", "wait v:cumsum", "send {ax\\t", "wait axis = ",
      "send 1}\\r", "wait [1. 2. 3.]", "wait > ", "send damo.sum(v, {keep\\ttrue})\\r", "wait [3.]", "wait > ",
      "send damo.compile({}, {}, {upd\\t", "wait updates = ", "send \\x03", "wait > ", "send :he\\t log1p\\r",
      "wait log(1 + x)", "wait > ", "send :q\\t\\r",
    }
    has(text, "> damo.linalg.solve_triangular^C\n")
    has(text, "> v:cumsum{axis = 1}\n[1. 2. 3.]\n")
    has(text, "> damo.sum(v, {keepdims = true})\n[3.]\n")
  end)

  it("lists several names at the second Tab", function()
    local text, _, bytes = shown {
      "wait > ", "send damo.linalg.solve\\t", "wait \\x07", "send \\t", "wait solve_triangular", "wait solve",
      "send _ban\\t", "wait banded", "send \\x03", "wait > ", "send \\x04",
    }
    has(text, "solve_banded")
    has(text, "> damo.linalg.solve_banded^C")
    has(bytes, "\a")
  end)

  it("keeps its history in the state folder, and Up, Down and Ctrl-R find entries", function()
    shown { "wait > ", "send first = 1\\r", "wait > ", "send 'second'\\r", "wait > ", "send \\x04" }
    assert.equal("first = 1\n'second'\n", read(home .. "/damo/history"))
    local listed = assert(io.popen("ls -l " .. home .. "/damo/history")):read "*a"
    assert.is_truthy(listed:find "^%-rw%-%-%-%-%-%-%-") -- nobody else's business
    local text = shown {
      "wait > ", "send draft\\e[A\\e[A", "wait first", "send \\e[B\\e[B", "wait draft", "send \\x03", "wait > ",
      "send \\x10\\r", "wait \\nsecond", "wait > ", "send \\x12fir", "wait first = 1", "send \\r", "wait > ",
      "send first\\r", "wait \\n1", "wait > ", "send \\x12zzz\\x07", "pause 60", "send \\x04",
    }
    has(text, "> draft^C\n> 'second'\nsecond\n> first = 1\n> first\n1\n>")
    assert.equal("first = 1\n'second'\nfirst = 1\nfirst\n", read(home .. "/damo/history"):gsub("draft\n", ""))
  end)

  it("clears the line at Ctrl-C, and ends a running loop or call at it, as often as it comes", function()
    local text, status = shown {
      "wait > ", "send nonsense (((\\x03", "wait > ", "send while true do os.time() end\\r", "pause 300", "send \\x03",
      "wait interrupted", "wait > ", "send for i = 1, math.huge do damo.exp(i) end\\r", "pause 300", "send \\x03",
      "wait interrupted", "wait > ", "send 'still ' .. 'here'\\r", "wait still here", "wait > ", "send \\x04",
    }
    assert.equal(0, status)
    has(text, "> nonsense (((^C\n")
  end)

  -- s is updated by a call of many steps, which Ctrl-C ends with nothing committed.
  local long_call = [[
    local damo = require "damo"
    s = damo.shared(1.0, "s")
    local n = damo.lscalar "n"
    local last = damo.scan(function(x) return damo.cos(x) + 1e-9 end, { outputs_info = s, n_steps = n })
    f = damo.compile({ n }, {}, { updates = { { s, last[-1] } } })
    f(3)
    before = s:get_value()
  ]]

  it("ends a call at Ctrl-C with nothing committed", function()
    write(folder .. "/long.lua", long_call)
    local text, status = shown {
      "wait > ", "send dofile '" .. folder .. "/long.lua'\\r", "wait > ", "send f(1e8)\\r", "pause 400", "send \\x03",
      "wait interrupted", "wait > ", "send s:get_value() == before\\r", "wait true", "wait > ",
      "send f(2)\\r", "wait > ", "send s:get_value() == before\\r", "wait false", "wait > ", "send \\x04",
    }
    assert.equal(0, status)
    has(text, "true")
  end)

  it("ends a call of an op function at Ctrl-C", function()
    local text, status = shown {
      "wait > ", "send x = damo.ones {40000, 500}\\r", "wait > ",
      "send for i = 1, 3000 do y = damo.sort(damo.sin(x * i)) end\\r", "pause 700", "send \\x03", "wait interrupted",
      "wait > ", "send damo.sum(x)\\r", "wait 20000000", "wait > ", "send \\x04",
    }
    assert.equal(0, status)
    has(text, "interrupted")
  end)

  for _, program in ipairs { "lua/bin/damo", "" } do
    it("ends a script of " .. (program == "" and "the interpreter" or "damo") .. " at Ctrl-C", function()
      write(folder .. "/script.lua", long_call .. [[
        io.stdout:setvbuf "no"
        print "begun"
        local ok, err = pcall(f, 100000000)
        print(ok, tostring(err):match "interrupted")
        print(s:get_value() == before and "as before")
        f(1e8)
      ]])
      local bytes, status = session({ "wait begun", "pause 300", "send \\x03", "wait as before", "pause 300",
        "send \\x03" }, { program = program .. " " .. folder .. "/script.lua" })
      has(bytes, "false\tinterrupted")
      assert.equal(130, status) -- by the signal, which is the system's again after the first
    end)
  end

  it("ends an input that is not finished at Ctrl-C", function()
    local text = shown { "wait > ", "send f = function()\\r", "wait >> ", "send \\x03", "wait > ", "send f\\r",
      "wait nil", "wait > ", "send \\x04" }
    has(text, "> f\nnil\n")
  end)

  it("shows errors in red, without the command's own lines, and plain with NO_COLOR", function()
    local steps = { "wait > ", "send error 'oops'\\r", "wait oops", "wait > ", "send x x\\r", "wait near",
      "wait > ", "send damo.dot(damo.ones{2}, damo.ones{3})\\r", "wait shape error", "wait > ", "send \\x04" }
    local bytes = session(steps)
    has(bytes, "\27[31mprompt:1: oops\27[0m")
    has(bytes, "\27[31mshape error")
    has_not(bytes, "bin/damo:")
    has_not(bytes, "damo/prompt.lua")
    local plain = session(steps, { env = "NO_COLOR=1" })
    has(plain, "prompt:1: oops")
    has_not(plain, "\27[31m")
  end)

  it("has the commands help, time, graph, info and quit, and lists them for another", function()
    local text = shown {
      "wait > ", "send :help dot\\r", "wait see also", "wait > ", "send :time damo.sum(damo.ones {10})\\r",
      "wait time: ", "wait > ", "send y = damo.exp(damo.dvector 'x')\\r", "wait > ", "send :graph y\\r", "wait > ",
      "send :info\\r", "wait isa ", "wait > ", "send :bad\\r", "wait there is no command :bad",
      "wait :graph expression", "wait > ",
      "send :graph 3\\r", "wait :graph takes a Variable", "wait > ", "send :time\\r", "wait wants an expression",
      "wait > ", "send :help y\\r", "wait a Variable of", "wait > ",
      "send :quit\\r",
    }
    has(text, "damo.dot(x, y)")
    has(text, "\n" .. tostring(10.0) .. "\ntime: ")
    local path = text:match "> :graph y\n(/[^%s]+)"
    assert.is_truthy(path and read(path), text)
    os.remove(path)
  end)

  it("opens the picture of a graph with a viewer", function()
    write(folder .. "/viewer", "#!/bin/sh\ncp \"$1\" " .. folder .. "/viewed\n")
    os.execute("chmod +x " .. folder .. "/viewer")
    write(folder .. "/dot", "#!/bin/sh\necho '<svg>'; cat\n")
    os.execute("chmod +x " .. folder .. "/dot")
    local text = shown({
      "wait > ", "send :graph damo.exp(damo.dvector 'x')\\r", "wait opened ", "wait > ", "pause 200", "send \\x04",
    }, { env = ("DAMO_VIEWER=%s/viewer PATH=%s:$PATH"):format(folder, folder) })
    has(text, ".svg")
    has(read(folder .. "/viewed"), "<svg>")
    os.remove((text:match "opened (%S+)"))
  end)

  it("takes a paste as one input, whatever keys it holds", function()
    local text = shown {
      "wait > ", "send \\e[200~for i = 1, 2 do\\n\\tprint(i)\\nend\\e[201~", "pause 60", "send \\r", "wait 2",
      "wait > ", "send \\x04",
    }
    has(text, ">> end\n1\n2\n")
  end)

  it("leaves the terminal as it was while a script reads, and after it ends", function()
    local text = shown { "wait > ", "send name = io.read()\\r", "pause 200", "send someone\\n", "wait > ",
      "send name\\r", "wait \\nsomeone", "wait > ", "send os.execute 'stty -a | grep -c \" icanon\"'\\r",
      "wait 1", "wait > ", "send \\x04" }
    has(text, "> name\nsomeone\n")
  end)

  it("works on a dumb terminal", function()
    local bytes, status = session({ "wait > ", "send 1 + 1\\n", "wait 2", "wait > ", "send \\x04" }, { term = "dumb" })
    assert.equal(0, status)
    has_not(bytes, "\27")
  end)
end)

-- The output, error output included, and the exit status.
local function run(arguments, input, env)
  write(folder .. "/input", input or "")
  local command = "env %s XDG_STATE_HOME=%s %s lua/bin/damo %s <%s/input 2>&1; echo status $?"
  local pipe = io.popen(command:format(env or "", home, interpreter, arguments, folder))
  local text = pipe:read "*a"
  pipe:close()
  return text:gsub("status %d+\n$", ""), tonumber(text:match "status (%d+)\n$")
end

describe("the command damo", function()
  it("runs what is piped in, without prompts and colours", function()
    local text, status = run("", "1 + 1\nfor i = 1, 2 do\n  print(i)\nend\n=damo.ones {2}\n:time 3\n")
    assert.equal(0, status)
    assert.is_truthy(text:find "^2\n1\n2\n%[1%. 1%.%]\n3\ntime: %S+ %S+\n$", text)
    text, status = run("", "error 'oops'\n'after'\n")
    assert.equal("prompt:1: oops\nafter\n", text)
    assert.equal(1, status)
    text, status = run("", "for i = 1, 2 do\n")
    has(text, "<eof>")
    assert.equal(1, status)
    assert.is_nil(read(home .. "/damo/history"))
  end)

  it("runs a script with its arguments", function()
    local script = folder .. "/script.lua"
    write(script, "print(damo.sum(damo.ones {3}), arg[0], arg[1], select('#', ...), (select(2, ...)))\n")
    local text, status = run(script .. " a 'b c'")
    assert.equal(("%s\t%s\ta\t2\tb c\n"):format(tostring(3.0), script), text)
    assert.equal(0, status)
    write(script, "local function f() error 'oops' end\nf()\n")
    text, status = run(script)
    assert.equal(1, status)
    has(text, "script.lua:1: oops\nstack traceback:")
    text, status = run(folder .. "/none.lua")
    assert.equal(1, status)
    has(text, "none.lua")
    text, status = run("-", "print(...)")
    assert.equal("\n", text)
    assert.equal(0, status)
    assert.equal("5\n", (run "-e 'print(2 + 3)'"))
    write(script, "os.exit(7)\n")
    assert.equal(7, select(2, run(script)))
  end)

  it("says where the time of a script's Functions went", function()
    local script = folder .. "/script.lua"
    write(script, "local x = damo.dvector 'x'\nlocal f = damo.compile({x}, damo.exp(x), {name = 'growth'})\n"
      .. "for _ = 1, 5 do f(damo.ones {3}) end\nprint 'done'\n")
    local text, status = run("--profile " .. script)
    assert.equal(0, status)
    has(text, "done\n")
    has(text, "1 Functions compiled, 1 called")
    has(text, "growth")
    has(text, "5 calls")
  end)

  it("tells of itself", function()
    local text, status = run "info"
    assert.equal(0, status)
    local words = { "damo ", "lua ", "isa ", "threads ", "libraries ", "SLEEF ", "paths ", "core.so", "history " }
    for _, word in ipairs(words) do has(text, word) end
    has(run "--help", "usage: damo")
    assert.is_truthy(run "--version":find "^damo %d+%.%d+%.%d+\n$")
    text, status = run "--nonsense"
    assert.equal(2, status)
    has(text, "unknown option --nonsense")
  end)

  it("finds the library beside itself", function()
    local text = run("--version", "", "-u LUA_PATH -u LUA_CPATH")
    has(text, "damo ")
  end)
end)
