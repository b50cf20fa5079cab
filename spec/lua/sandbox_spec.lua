-- damo.config.sandbox, which cannot be undone, tested through every function that reaches outside. Each script runs in
-- its own process.
local child = require "spec.support.child"
local with_folder = require "spec.support.folder"

-- The common head of the scripts: `forbidden(name, fn)` reports if fn does not raise the state error of a sandbox.
local head = [[
  local damo = require "damo"
  local bad = {}
  local function tell(name, what) bad[#bad + 1] = name .. ": " .. tostring(what) end
  local function forbidden(name, fn, ...)
    local ok, err = pcall(fn, ...)
    if ok then return tell(name, "went through") end
    local said = type(err) == "table" and err.kind == "state" and err.message:find("sandbox forbids", 1, true)
    if not said then tell(name, err) end
  end
  local function allowed(name, fn, ...)
    local ok, err = pcall(fn, ...)
    if not ok then tell(name, err) end
    return err
  end
]]
local foot = [[
  io.write(#bad == 0 and "fine" or table.concat(bad, "\n"))
]]

local function check(script, env)
  local out, ok = child(head .. script .. foot, env)
  assert.equal("fine", out)
  assert.is_true(ok)
end

describe("config.sandbox", function()
  it("cannot be undone from inside the state", function()
    check [[
      local config = damo.config
      if config.sandbox ~= false then tell("at first", config.sandbox) end
      config.sandbox = false
      local ok, err = pcall(function() config.sandbox = 1 end)
      if ok or err.kind ~= "type" then tell("1", err) end
      config.sandbox = true
      config.sandbox = true
      if config.sandbox ~= true then tell("then", config.sandbox) end
      local function cannot_save(name)
        forbidden(name, damo.io.save, "/nowhere/x.npy", 1)
        forbidden(name .. ", cap", function() getmetatable(config).__newindex(config, "memory_cap", 0) end)
      end
      local newindex = getmetatable(config).__newindex
      ok, err = pcall(function() config.sandbox = false end)
      if ok or err.kind ~= "state" then tell("false", err) end
      ok, err = pcall(newindex, config, "sandbox", false)
      if ok or err.kind ~= "state" then tell("__newindex", err) end
      cannot_save "set to false"
      rawset(config, "sandbox", false)
      rawset(config, "memory_cap", 0)
      cannot_save "rawset"
      config.sandbox, config.memory_cap = nil, nil
      package.loaded["damo.core"], package.loaded["damo"], package.loaded["damo.io"] = nil, nil, nil
      local again = require "damo"
      forbidden("required again", again.io.save, "/nowhere/x.npy", 1)
      collectgarbage()
      collectgarbage()
      cannot_save "collected"
      local meta = getmetatable(config)
      setmetatable(config, nil)
      forbidden("without its metatable", function() meta.__newindex(config, "memory_cap", 0) end)
      forbidden("a coroutine", coroutine.wrap(function() damo.io.save("/nowhere/x.npy", 1) end))
    ]]
  end)

  it("forbids files in every function that opens one", function()
    with_folder(function(dir)
      check(("local dir = %q\n"):format(dir) .. [[
        local x = damo.dvector "x"
        local A = damo.sparse.eye(2)
        local saved, plot, dot = damo.io.save, damo.plot, damo.printing.dot
        local load, read_csv = damo.io.load, damo.io.read_csv
        saved(dir .. "/a.npy", { 1, 2 })
        saved(dir .. "/a.npz", A)
        damo.config.sandbox = true
        forbidden("load", load, dir .. "/a.npy")
        forbidden("load softly", load, dir .. "/a.npz", { on_fail = "return" })
        forbidden("load, max_bytes", damo.io.load, dir .. "/a.npz", { max_bytes = 1 })
        forbidden("save", saved, dir .. "/b.npy", 1)
        forbidden("save softly", saved, dir .. "/b.npy", 1, { on_fail = "return" })
        forbidden("save npz", damo.io.save, dir .. "/b.npz", { a = 1 })
        forbidden("save sparse", damo.io.save, dir .. "/b.npz", A)
        forbidden("read_csv", read_csv, "/etc/passwd")
        forbidden("read_csv softly", read_csv, "/etc/passwd", { on_fail = "return" })
        forbidden("read_mtx", damo.io.read_mtx, "/etc/passwd")
        forbidden("write_mtx", damo.io.write_mtx, dir .. "/b.mtx", A)
        forbidden("dot to a text", dot, x, { path = dir .. "/b.gv" })
        forbidden("dot to a picture", dot, x, { path = dir .. "/b.svg" })
        forbidden("plot.lines", plot.lines, { { y = { 1, 2 } } }, { path = dir .. "/b.png" })
        forbidden("plot.image", plot.image, { { 1, 2 } }, { path = dir .. "/b.svg" })
        local warn = damo.config.on_warning
        forbidden("the default on_warning", warn, "state", "text to standard error")
        local system = require "damo.core".system
        forbidden("system.write_error", system.write_error, "text to standard error")
        forbidden("system.write_text", system.write_text, dir .. "/b.txt", "text", "f")
        forbidden("system.draw_file", system.draw_file, dir .. "/b.png", "!id", "f", "gnuplot")
        local op = damo.Op {
          name = "Saver",
          make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
          perform = function(_, _, i, o) saved(dir .. "/b.npy", 1) o[1][1] = i[1] end,
        }
        local f = damo.compile({ x }, op(x))
        forbidden("perform", f, damo.array { 1 })
        local list = io.popen("ls " .. dir):read "*a"
        if list ~= "a.npy\na.npz\n" then tell("files", list) end
      ]])
    end)
  end)

  it("lets no script write to standard error", function()
    local out = child [[
      local damo = require "damo"
      damo.config.sandbox = true
      damo.config.on_warning = function() error "SECRET" end
      local a, b = damo.lvector "a", damo.lvector "b"
      local f = damo.compile({ a, b }, damo.floor_div(a, b), { mode = "NANGUARD" })
      f(damo.array({ 1 }, "int64"), damo.array({ 0 }, "int64"))
    ]]
    assert.truthy(out:find("damo: callback warning: config.on_warning failed\n", 1, true), out)
    assert.falsy(out:find("SECRET", 1, true))
  end)

  it("keeps alive the strings that damo's own helpers use", function()
    check [[
      local list = {}
      for i = 1, 300000 do list[i] = i + 0.5 end
      local ok, err = pcall(require "damo.core".system.check_options, "f", { x = 1 }, list)
      if ok or err.kind ~= "type" then tell("names that are numbers", err) end
    ]]
  end)

  it("forbids programs", function()
    with_folder(function(dir)
      for _, name in ipairs { "gnuplot", "dot" } do
        local file = assert(io.open(dir .. "/" .. name, "w"))
        file:write("#!/bin/sh\ntouch " .. dir .. "/started\ncat\n")
        file:close()
        os.execute("chmod +x " .. dir .. "/" .. name)
      end
      local script = ("local dir = %q\n"):format(dir) .. [[
        damo.config.sandbox = true
        forbidden("plot", damo.plot.lines, { { y = { 1, 2 } } }, { path = dir .. "/b.png" })
        forbidden("dot", damo.printing.dot, damo.dvector "x", { path = dir .. "/b.png" })
      ]]
      check(script, "PATH=" .. dir .. ":$PATH")
      assert.is_nil(io.open(dir .. "/started"))
    end)
  end)

  it("reads graphs from bytes, and not from files", function()
    check [[
      local x = damo.dvector "x"
      local load, save, graph = damo.load_graph, damo.save_graph, { inputs = { x }, outputs = { x * 2 } }
      damo.config.sandbox = true
      local bytes = damo.io.format(graph, { format = "graph" })
      local copy = damo.io.parse(bytes)
      assert(damo.compile(copy.inputs, copy.outputs)(damo.array { 3 })[1] == 6)
      forbidden("load_graph", load, "/etc/passwd")
      forbidden("save_graph", save, "/tmp/graph", graph)
      for i = 1, #bytes do -- without the sum that fits
        local ok, err = pcall(damo.io.parse, bytes:sub(1, i - 1) .. "\255" .. bytes:sub(i + 1), { format = "graph" })
        assert(ok or err.kind == "io")
      end
    ]]
  end)

  it("forbids native pointers", function()
    check [[
      local a = damo.array { 1, 2, 3 }
      local p, frompointer, pointer, make_view = a:pointer(), damo.frompointer, a.pointer, damo.view
      local v = make_view(p, { shape = { 3 } })
      local object = { getPointer = function() return p end, getSize = function() return 24 end }
      damo.config.sandbox = true
      forbidden("frompointer", frompointer, p, "float64", { 3 })
      forbidden("frompointer far", damo.frompointer, p, "float64", { 1000000 })
      forbidden(":pointer()", function() return a:pointer() end)
      forbidden("pointer", pointer, damo.sparse.eye(2).data)
      forbidden("frompointer in a coroutine", coroutine.wrap(function(...) frompointer(...) end), p, "float64", { 3 })
      forbidden("view", make_view, p, { shape = { 3 } })
      forbidden("view of an object", damo.view, object)
      forbidden("rebind", v.rebind, v, p)
      forbidden("the functions of a module in C", require("damo.core").system.functions)
      forbidden("rebind to an object", v.rebind, v, object)
    ]]
  end)

  it("shows no memory that was freed, and no address", function()
    check [[
      damo.config.sandbox = true
      local n, x = damo.lscalar "n", damo.dvector "x"
      local f = damo.compile({ n }, { damo.empty({ n }, "int64"), damo.empty_like(damo.empty({ n, 2 }, "int64")) })
      local stale = 0
      local function count(a) stale = stale + damo.sum(damo.neq(a, 0)) end
      for i = 1, 100 do
        local list = {}
        for k = 1, 50 do list[k] = damo.dvector("x" .. k) end
        list = nil
        if i % 10 == 0 then collectgarbage() end
        count(damo.empty({ i }, "int64"))
        local a, b = f(i)
        count(a)
        count(b)
      end
      if stale > 0 then tell("empty", stale .. " words of freed memory") end
      local g = damo.compile({ x }, x * 2)
      for _, v in ipairs { g, x, damo.newaxis,
        (x * 2).owner, (x * 2).owner.op, x.type, g.fgraph, g:start(damo.ones { 2 }), damo.ellipsis,
        g:into(damo.ones { 2 }) } do
        if tostring(v):find "0x" then tell("tostring", tostring(v)) end
        if type(getmetatable(v)) == "table" then tell("metatable", tostring(v)) end
      end
    ]]
  end)

  it("forbids changing a limit, and allows reading it", function()
    check [[
      damo.config.memory_cap = 2 ^ 30
      damo.config.sandbox = true
      forbidden("memory_cap", function() damo.config.memory_cap = 0 end)
      forbidden("gc_floor", function() damo.config.gc_floor = 0 end)
      forbidden("plan_cap", function() damo.config.plan_cap = 0 end)
      forbidden("memo_cap", function() damo.config.memo_cap = 0 end)
      forbidden("threads", function() damo.config.threads = 4 end)
      local x = damo.dvector "x"
      forbidden("option 'threads'", function() damo.compile({ x }, x, { threads = 2 }) end)
      damo.compile({ x }, x, { threads = 1 })
      if damo.config.memory_cap ~= 2 ^ 30 or damo.memory().cap ~= 2 ^ 30 then tell("cap", damo.config.memory_cap) end
      damo.config.floatX = "float32"
      damo.config.compute_test_value = "raise"
      damo.config.traceback_limit = 4
      damo.config.mode = "FAST_COMPILE"
    ]]
  end)

  it("allows everything else", function()
    check [[
      damo.config.sandbox = true
      local written = {}
      function print(...) written[#written + 1] = table.concat({ ... }, "\t") end -- luacheck: ignore
      local x, y = damo.dvector "x", damo.dvector "y"
      local f = damo.compile({ x, y }, damo.sum(x * y))
      if f(damo.array { 1, 2 }, damo.array { 3, 4 }) ~= 11 then tell("call", "wrong") end
      local text = allowed("plot", damo.plot.lines, { { y = { 1, 2 } } }, { title = "t" })
      if not text:find("series 1", 1, true) then tell("plot", text) end
      allowed("image", damo.plot.image, { { 1, 2 } })
      allowed("dot", damo.printing.dot, x)
      allowed("debugprint", damo.printing.debugprint, x * y)
      if not (written[1] or ""):find("mul", 1, true) then tell("debugprint", written[1]) end
      local bar = damo.progress.new(2, "steps")
      bar:step(1, { loss = 0.5 })
      bar:step(2)
      bar:finish()
      if not (written[2] or ""):find("^steps 1/2  loss 0.5") then tell("progress", written[2]) end
      local t = damo.clock()
      if damo.clock() < t then tell("clock", "back") end
      allowed("random", damo.random.normal, 0, 1, { size = { 3 } })
      allowed("stream", damo.random.RandomStream)
      allowed("frombytes", damo.frombytes, ("\0"):rep(16), "float64")
    ]]
  end)
end)

describe("a state without io and os", function()
  it("has every function that needs neither", function()
    with_folder(function(dir)
    check(("local dir = %q\n"):format(dir) .. [[
      local write = io.write
      for name in pairs(package.loaded) do
        if name:find "^damo" and name ~= "damo.core" then package.loaded[name] = nil end
      end
      for _, name in ipairs { "io", "os", "debug", "utf8" } do
        _G[name], package.loaded[name] = nil, nil
      end
      local fresh = require "damo"
      allowed("plot", fresh.plot.lines, { { y = { 1, 2 } } })
      allowed("image", fresh.plot.image, { { 1, 2 } })
      allowed("dot", fresh.printing.dot, fresh.dvector "x")
      allowed("dot to a file", fresh.printing.dot, fresh.dvector "x", { path = dir .. "/a.gv" })
      allowed("save", fresh.io.save, dir .. "/a.npy", 1)
      local bar = allowed("progress", fresh.progress.new, 3, "x", { out = { write = function() end } })
      allowed("step", bar.step, bar, 3)
      allowed("finish", bar.finish, bar)
      allowed("random", fresh.random.uniform, 0, 1, { size = { 3 } })
      allowed("stream", fresh.random.RandomStream)
      allowed("verify_grad", fresh.verify_grad, fresh.exp, { fresh.array { 1, 2 } })
      allowed("optim", function() return fresh.optim.sgd end)
      io = { write = write } -- luacheck: ignore
    ]])
    end)
  end)
end)
