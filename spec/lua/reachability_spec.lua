-- Cycles through Lua are collected, and nothing that is still reachable is lost.
local damo = require "damo"
local has = require "spec.support.has"
local garbage = require "spec.support.garbage"

local settle = garbage.collect

--- An identity Op written in Lua; its perform calls on_perform.
local function make_op(on_perform)
  return damo.Op {
    name = "Mine",
    make_node = function(self, x, ...)
      x = damo.as_tensor_variable(x)
      return damo.Apply(self, { x, ... }, { x.type() })
    end,
    perform = function(_, _, inputs, output_storage)
      if on_perform then on_perform(inputs) end
      output_storage[1][1] = inputs[1] * 2
    end,
    grad = function(_, _, output_grads) return { output_grads[1] * 2 } end,
  }
end

--- How many of n things that make() makes and drops are left, by a weak table and by damo's count of objects.
local function left_of(n, make)
  for _ = 1, 3 do make() end -- what the first ones make and the context keeps, as frames of eager calls
  settle()
  local before = damo.memory().objects
  local seen = setmetatable({}, { __mode = "k" })
  for i = 1, n do seen[make(i)] = true end
  local after, count = settle().objects, 0
  for _ in pairs(seen) do count = count + 1 end
  return count, after - before
end

local function assert_none(n, make)
  local count, objects = left_of(n, make)
  assert.equal(0, count)
  assert.is_true(objects <= 4, objects .. " objects are left")
end

describe("a cycle through Lua is collected:", function()
  it("a tag that holds its own Variable", function()
    assert_none(100, function()
      local x = damo.dvector "x"
      x.tag.me = x
      return x
    end)
  end)

  it("a tag that holds a Variable computed from its own", function()
    assert_none(100, function()
      local x = damo.dvector "x"
      local y = damo.exp(x * 2)
      x.tag.cost = y
      y.tag.gradient = damo.grad(damo.sum(y), x)
      return x
    end)
  end)

  it("tags of a node and of what it computes", function()
    assert_none(100, function()
      local y = damo.dvector "x" + 1
      y.owner.tag.out = y
      y.tag.node = y.owner
      return y
    end)
  end)

  it("a Lua Op whose closure holds its own output", function()
    assert_none(100, function()
      local y
      local op = make_op(function() return y end)
      y = op(damo.dvector "x")
      return y
    end)
  end)

  it("a Lua Op whose closure holds the Function that runs it", function()
    assert_none(20, function()
      local f
      local x = damo.dvector "x"
      f = damo.compile({ x }, make_op(function() return f end)(x))
      assert.same({ 2 }, f(damo.array { 1 }):totable())
      return f
    end)
  end)

  it("a generic constant that holds the Function that uses it", function()
    assert_none(20, function()
      local box = {}
      local x = damo.dvector "x"
      local c = damo.constant(box, { type = damo.GenericType() })
      local met
      box.f = damo.compile({ x }, make_op(function(inputs) met = inputs[2] end)(x, c))
      box.f(damo.array { 1 })
      assert.equal(box, met)
      return box
    end)
  end)

  it("a shared Variable referred to by its own updates and tag", function()
    assert_none(20, function()
      local s = damo.shared(1.0)
      s.tag.step = damo.compile({}, {}, { updates = { [s] = s + 1 } })
      s.tag.step()
      return s
    end)
  end)

  it("a FunctionGraph whose feature holds it", function()
    assert_none(20, function()
      local x = damo.dvector "x"
      local g = damo.graph.FunctionGraph({ x }, { damo.exp(x) })
      g:attach_feature { graph = g, on_import = function() end }
      return g
    end)
  end)

  it("100,000 Lua Ops that capture themselves do not grow memory", function()
    local x = damo.dvector "x"
    -- Weak tables keep the size that the most garbage between two collections gave them, which differs from cycle to
    -- cycle by as much as a megabyte: so there are collections at fixed places, and little garbage between them.
    local function round(n)
      for i = 1, n do
        if i % 250 == 0 then collectgarbage() end
        local op, y
        op = damo.Op {
          name = "Self",
          make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
          perform = function() return op, y end,
        }
        y = op(x)
        y.tag.op = op
      end
      settle()
      return collectgarbage "count" / 1024, damo.memory()
    end
    for _ = 1, 3 do round(10000) end -- tables of the interpreter and of damo grow to a level of their own first
    local lua_before, before = round(10000)
    local most = 0
    for _ = 1, 9 do
      local lua_now, now = round(10000)
      most = math.max(most, lua_now - lua_before, (now.bytes - before.bytes) / 2 ^ 20)
      assert.is_true(now.objects <= before.objects + 10)
    end
    assert.is_true(most < 0.1, most .. " MB more")
  end)
end)

describe("a Function dropped in the middle of its own call", function()
  it("finishes the call, and is collected then", function()
    local weak = setmetatable({}, { __mode = "v" })
    local function run()
      local f
      local x = damo.dvector "x"
      local op = make_op(function()
        f = nil
        settle()
        for _ = 1, 100 do damo.zeros(1000) end
      end)
      f = damo.compile({ x }, damo.sum(op(x) + op(x * 3)))
      weak.f = f
      return f(damo.array { 1, 2 })
    end
    assert.equal(24, run())
    settle()
    assert.is_nil(weak.f)
  end)

  it("or freed there, finishes the call too", function()
    local x = damo.dvector "x"
    local f
    f = damo.compile({ x }, make_op(function() f:free() end)(x) + 1)
    local ok, result = pcall(f, damo.array { 1, 2 })
    if ok then
      assert.same({ 3, 5 }, result:totable())
    else
      assert.equal("state", result.kind)
    end
    local again, err = pcall(f, damo.array { 1, 2 })
    assert.is_false(again)
    assert.equal("state", err.kind)
  end)
end)

describe("reachable objects are not lost:", function()
  --- The Variable of that name among the ancestors.
  local function find(root, name)
    for _, v in ipairs(damo.graph.ancestors { root }) do
      if v.name == name then return v end
    end
  end

  it("a tag of an inner Variable, and an inner Lua Op, when a gradient's root alone is held", function()
    local ran = 0
    local function make()
      local x = damo.dvector "x"
      local inner = damo.tanh(make_op(function() ran = ran + 1 end)(x))
      inner.name = "inner"
      return damo.grad(damo.sum(inner), x)
    end
    local root = make()
    settle()
    find(root, "inner").tag.mine = { "note" }
    settle()
    settle()
    assert.same({ "note" }, find(root, "inner").tag.mine)
    local f = damo.compile({ find(root, "x") }, root)
    settle()
    local slope = 2 * (1 - damo.tanh(2 * 0.3) ^ 2)
    assert.near(slope, f(damo.array { 0.3 })[1], 1e-12)
    assert.is_true(ran > 0)
  end)

  it("a Lua Op and a generic value of a Function that alone is held", function()
    local note
    local function make()
      local x = damo.dvector "x"
      local c = damo.constant({ "value" }, { type = damo.GenericType() })
      return damo.compile({ x }, make_op(function(inputs) note = inputs[2][1] end)(x, c))
    end
    local f = make()
    settle()
    assert.same({ 2, 4 }, f(damo.array { 1, 2 }):totable())
    assert.equal("value", note)
  end)

  it("identity and tags of nodes and Types found by a walk", function()
    local y = damo.exp(damo.dvector "x" + 1)
    local node = y.owner.inputs[1].owner
    node.tag.seen = true
    node = nil -- luacheck: ignore
    settle()
    assert.is_true(y.owner.inputs[1].owner.tag.seen)
    assert.is_true(rawequal(y.owner, y.owner.outputs[1].owner))
    assert.is_true(rawequal(y.owner.op, damo.exp(damo.dvector "z").owner.op))
  end)

  it("the base of a view", function()
    local view
    do
      local a = damo.arange(1000.0)
      view = a[{ { 11, 20 } }][{ { 2, -1, 3 } }]
    end
    settle()
    for _ = 1, 100 do damo.zeros(1000) end
    assert.same({ 11, 14, 17 }, view:totable())
  end)

  it("a shared Variable's state that a stream's draw uses", function()
    local f = damo.compile({}, damo.random.RandomStream(3):normal(0, 1, { size = 3 }))
    settle()
    local a = f()
    settle()
    assert.is_false(damo.array_equal(a, f()))
  end)
end)

-- ---- In other processes ---------------------------------------------------------------------------------------------

--- Runs the script in a new interpreter; returns its output and whether it succeeded.
local function run_script(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local pipe = assert(io.popen(('"%s" "%s" 2>&1'):format(arg[-1] or "lua", path)))
  local out = pipe:read "a"
  local ok = pipe:close()
  os.remove(path)
  return out, ok
end

describe("the same script", function()
  it("compiles to the same program each time", function()
    local script = [[
      local damo = require "damo"
      local x, y = damo.dmatrix "x", damo.lvector "y"
      local rs = damo.random.RandomStream(1)
      local params, updates = {}, {}
      for i = 1, 6 do params[i] = damo.shared(damo.ones { 4, 4 }, "p" .. i) end
      local hidden = x
      for i = 1, 6 do hidden = damo.tanh(damo.dot(hidden, params[i]) + rs:normal(0, 1, { size = { 4 } })) end
      local cost = damo.mean(damo.sqr(hidden)) + damo.sum(damo.one_hot(y, 4) * damo.log_softmax(hidden, { axis = 2 }))
      for i, g in ipairs(damo.grad(cost, params)) do updates[params[i] ] = params[i] - 0.1 * g end
      local z = damo.dmatrix "z"
      local f = damo.compile({ z, y }, { cost = cost, hidden = hidden, first = hidden[1] }, { updates = updates,
        givens = { [x] = z * 2 } })
      io.write(damo.printing.debugprint(f.fgraph, { file = "str" }))
    ]]
    local first, ok = run_script(script)
    assert.is_true(ok, first)
    assert.is_true(#first > 500)
    for _ = 1, 3 do assert.equal(first, (run_script(script))) end
  end)
end)

describe("a Lua state", function()
  it("closes in any order, with everything alive", function()
    local out, ok = run_script [[
      local damo = require "damo"
      local x = damo.dvector "x"
      local op, y, f
      op = damo.Op {
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, i, o) o[1][1] = i[1] + 1 return op, y, f end,
      }
      y = op(x)
      f = damo.compile({ x }, { y, damo.random.RandomStream(1):normal(0, 1, { size = 2 }) })
      x.tag.all = { x, op, y, f, damo.zeros(3), f(damo.array { 1 }) }
      keep = { setmetatable({}, { __gc = function() local _ = tostring(f), pcall(f, damo.array { 1 }) end }) }
      co = coroutine.wrap(function() coroutine.yield(damo.exp(y)) end)
      co()
      print "end"
      os.exit(0, true)
    ]]
    assert.equal("end\n", out)
    assert.is_true(ok)
  end)

  for _, mode in ipairs(has.generational and { "incremental", "generational" } or { "incremental" }) do
    it("that drops 10,000 Arrays of 1 MB never holds 150 MB in " .. mode .. " mode", function()
      local out, ok = run_script(([[
        local damo = require "damo"
        pcall(collectgarbage, "%s")
        local others, ring = {}, {}
        for i = 1, 200000 do others[i] = { i } end
        for i = 1, 10000 do ring[i %% 20 + 1] = damo.empty(131072) end
        ring = nil
        for i = 1, 10000 do damo.empty(131072) end
        local x = damo.zeros(131072)
        for i = 1, 1000 do x = x + 1 end
        assert(x[7] == 1000)
        print(damo.memory().peak < 150 * 2 ^ 20)
      ]]):format(mode))
      assert.equal("true\n", out)
      assert.is_true(ok)
    end)
  end
end)
