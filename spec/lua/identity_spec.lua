-- One C object has one userdata; reachable objects live, others are collected.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local function settle() return garbage.collect().objects end

describe("identity", function()
  it("is the same userdata for the same object", function()
    local x = damo.vector("x")
    local y = damo.exp(x)
    assert.is_true(rawequal(y.owner, y.owner))
    assert.is_true(rawequal(y.owner.inputs[1], x))
    assert.is_true(rawequal(y.owner.outputs[1], y))
    assert.is_true(rawequal(y.owner.op, damo.exp(x).owner.op))
    assert.is_true(rawequal(x.type, damo.vector("z").type))
  end)

  it("makes Variables and nodes good keys", function()
    local x = damo.vector("x")
    local y = damo.exp(x)
    local t = { [x] = 1, [y] = 2, [y.owner] = 3 }
    assert.equal(1, t[y.owner.inputs[1]])
    assert.equal(3, t[y.owner])
  end)

  it("keeps tags for as long as the object can be reached", function()
    local function graph()
      local x = damo.vector("x")
      local inner = damo.exp(x)
      inner.tag.note = "inner"
      x.tag.note = "leaf"
      return damo.sum(inner * 2)
    end
    local root = graph()
    settle()
    local inner = root.owner.inputs[1].owner.inputs[1]
    assert.equal("inner", inner.tag.note)
    assert.equal("leaf", inner.owner.inputs[1].tag.note)
    inner.tag.again = true
    inner = nil -- luacheck: ignore
    settle()
    assert.is_true(root.owner.inputs[1].owner.inputs[1].tag.again)
  end)

  it("keeps a node's outputs and their tags through the node alone", function()
    local node
    do
      local y = damo.exp(damo.vector("x"))
      y.tag.note = 7
      node = y.owner
    end
    settle()
    assert.equal(7, node.outputs[1].tag.note)
  end)
end)

local function identity_op(name, perform)
  return damo.Op {
    name = name,
    make_node = function(self, x) return damo.Apply(self, { x }, { x.type() }) end,
    perform = perform,
    grad = function(_, _, gs) return { gs[1] } end,
  }
end

describe("what is reachable", function()
  it("lives: a Lua Op deep inside a graph held only by a gradient's root", function()
    local calls = 0
    local function make_root()
      local x = damo.vector("x")
      local op = identity_op("Pass", function(_, _, inputs, out)
        calls = calls + 1
        out[1][1] = inputs[1] * 2
      end)
      local y = damo.sum(damo.sqr(op(x)))
      return damo.grad(y, x)
    end
    local root = make_root()
    settle()
    local function find(v, name)
      local todo, seen = { v }, {}
      while #todo > 0 do
        local w = table.remove(todo)
        if w.name == name then return w end
        if w.owner and not seen[w.owner] then
          seen[w.owner] = true
          for _, input in ipairs(w.owner.inputs) do todo[#todo + 1] = input end
        end
      end
    end
    find(root, "x").tag.note = "here"
    settle()
    local x = find(root, "x")
    assert.equal("here", x.tag.note)
    local f = damo.compile({ x }, root)
    x, root = nil, nil -- luacheck: ignore
    settle()
    assert.same({ 4, 8 }, f(damo.array { 1, 2 }):totable())
    assert.is_true(calls > 0)
  end)
end)

describe("the nodes of many gradients", function()
  local n = 60

  -- A cost of two leaves whose gradients have some hundred nodes.
  local function model()
    local x, y = damo.dscalar "x", damo.dscalar "y"
    local cost = x
    for _ = 1, n do cost = damo.sin(cost) * y end
    return cost, x, y
  end

  it("have one userdata each, met from any side", function()
    local cost, x, y = model()
    local g = damo.grad(cost, { x, y })
    local seen, count = {}, 0
    for _, v in ipairs(damo.graph.ancestors { g[1] }) do seen[v] = true end
    for _, v in ipairs(damo.graph.ancestors { g[2] }) do
      if seen[v] then count = count + 1 end
    end
    assert.is_true(count > 2 * n)
    assert.is_true(seen[g[1].owner.inputs[1]])
    assert.is_true(rawequal(g[1].owner.outputs[1], g[1]))
  end)

  it("keep their tags, and those of the older graph", function()
    local function gradients()
      local cost, x, y = model()
      x.tag.note, cost.owner.inputs[1].tag.note = "leaf", "node"
      local wrt = { x, y }
      local g = damo.grad(cost, wrt)
      wrt[1], wrt[2] = nil, nil
      return g
    end
    local g = gradients()
    settle()
    local notes = {}
    g[1].owner.inputs[1].tag.mine = true
    settle()
    for _, v in ipairs(damo.graph.ancestors { g[1], g[2] }) do
      if v.tag.note then notes[#notes + 1] = v.tag.note end
    end
    table.sort(notes)
    assert.same({ "leaf", "node" }, notes)
    assert.is_true(g[1].owner.inputs[1].tag.mine)
  end)

  it("keep what one gradient was asked for, though only another one is left", function()
    local cost, x, y = model()
    local both = damo.grad(cost, { x, y })
    for _, v in ipairs(damo.graph.ancestors { both[1] }) do v.tag.mark = "seen" end
    cost, x, y = nil, nil, nil -- luacheck: ignore
    local other = both[2]
    both = nil -- luacheck: ignore
    settle()
    local marks = 0
    for _, v in ipairs(damo.graph.ancestors { other }) do
      if v.tag.mark then marks = marks + 1 end
    end
    assert.is_true(marks > n)
  end)

  it("are reached through what was made of a gradient, and through a second derivative", function()
    local function second()
      local cost, x, y = model()
      y.tag.note = "leaf"
      return damo.grad(damo.grad(cost, x) * 2, y) * 3
    end
    local h = second()
    settle()
    local found = 0
    for _, v in ipairs(damo.graph.ancestors { h }) do
      if v.tag.note == "leaf" then found = found + 1 end
      v.tag.mark = true
    end
    assert.equal(1, found)
    settle()
    for _, v in ipairs(damo.graph.ancestors { h }) do assert.is_true(v.tag.mark) end
  end)

  it("are freed with the gradients", function()
    local before = settle()
    for _ = 1, 40 do
      local cost, x, y = model()
      local g = damo.grad(cost, { x, y })
      x.tag.gradient = g -- a cycle through the older graph
    end
    assert.equal(before, settle())
  end)
end)

describe("garbage", function()
  it("is a Lua Op that captures its own output, and the Function that runs it", function()
    local before = settle()
    for i = 1, 5000 do
      local held = {}
      local x = damo.vector("x")
      local op = identity_op("Own", function(_, _, inputs, out)
        held.used = true
        out[1][1] = inputs[1]
      end)
      held.y = op(x)
      if i % 50 == 0 then held.f = damo.compile({ x }, held.y) end
    end
    assert.is_true(settle() <= before + 10)
  end)

  it("is a tag that holds its own Variable", function()
    local before = settle()
    for _ = 1, 1000 do
      local x = damo.vector("x")
      local y = x + 1
      y.tag.self = y
      x.tag.user = y
    end
    assert.is_true(settle() <= before + 10)
  end)

  it("is a chain of any length, without recursion", function()
    local before = settle()
    do
      local y = damo.scalar("x")
      for _ = 1, 100000 do y = damo.exp(y) end
      settle()
      assert.equal(0, y.ndim)
    end
    assert.is_true(settle() <= before + 10)
  end)

  it("of a state is freed when it is closed, whatever it holds", function()
    local lua = arg and arg[-1] or "lua5.4"
    local script = [[
      local damo = require "damo"
      local x = damo.vector("x")
      x.tag.self = x
      keep = { x, damo.exp(x), damo.zeros(3), damo.zeros(3)[1] }
      late = setmetatable({}, { __gc = function() pcall(function() return keep[3]:sum() end) end })
      print "done"
    ]]
    local path = os.tmpname()
    local f = assert(io.open(path, "w"))
    f:write(script)
    f:close()
    local p = assert(io.popen(("%s %s 2>&1"):format(lua, path)))
    assert.equal("done\n", p:read "a")
    assert.is_true(p:close())
    os.remove(path)
  end)
end)
