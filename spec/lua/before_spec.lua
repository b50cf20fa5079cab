-- damo.rewrite.before: functions that change what compile is given.
local damo = require "damo"

local function trebled(inputs, outputs, options) return inputs, outputs * 3, options end

describe("damo.rewrite.before", function()
  local x = damo.dscalar "x"

  after_each(function()
    for _, name in ipairs { "one", "two" } do damo.rewrite.before(name, nil) end
  end)

  it("changes what is compiled, in the order of adding, until it is taken away", function()
    damo.rewrite.before("one", trebled)
    damo.rewrite.before("two", function(inputs, outputs, options) return inputs, outputs + 1, options end)
    assert.are.equal(7, damo.compile({ x }, x)(2))
    damo.rewrite.before("one", nil)
    assert.are.equal(3, damo.compile({ x }, x)(2))
    damo.rewrite.before("two", nil)
    assert.are.equal(2, damo.compile({ x }, x)(2))
    damo.rewrite.before("two", nil)
  end)

  it("replaces a function of the same name", function()
    damo.rewrite.before("one", trebled)
    damo.rewrite.before("one", function(inputs, outputs, options) return inputs, outputs - 1, options end)
    assert.are.equal(1, damo.compile({ x }, x)(2))
  end)

  it("gets inputs and options, and nested tables as lists", function()
    local got
    damo.rewrite.before("one", function(inputs, outputs, options)
      got = { inputs = #inputs, outputs = outputs, name = options and options.name }
      return inputs, outputs, options
    end)
    local f = damo.compile({ { a = x } }, { { b = x * 2 }, x }, { name = "nested" })
    assert.are.equal(4, f({ a = 2 }).b)
    assert.are.equal(1, got.inputs)
    assert.are.equal(2, #got.outputs)
    assert.are.equal("nested", got.name)
  end)

  it("may take itself away, and the next one is called all the same", function()
    damo.rewrite.before("one", function(inputs, outputs, options)
      damo.rewrite.before("one", nil)
      return inputs, outputs, options
    end)
    damo.rewrite.before("two", trebled)
    assert.are.equal(6, damo.compile({ x }, x)(2))
    damo.rewrite.before("two", nil)
  end)

  it("raises its error, and checks its arguments", function()
    damo.rewrite.before("one", function() damo.raise("value", "not today") end)
    local ok, err = pcall(damo.compile, { x }, x)
    assert.is_false(ok)
    assert.are.equal("not today", err.message)
    damo.rewrite.before("one", function() end)
    ok, err = pcall(damo.compile, { x }, x)
    assert.is_false(ok)
    assert.truthy(err.message:find("'one' of damo.rewrite.before must return inputs", 1, true), err.message)
    for _, bad in ipairs { { 1, trebled }, { "one", 1 }, {} } do
      ok, err = pcall(damo.rewrite.before, bad[1], bad[2])
      assert.is_false(ok)
      assert.are.equal("type", err.kind)
    end
  end)

  it("changes the graph that a loop or an OpFromGraph holds", function()
    local function same(inputs, outputs, options) return inputs, outputs, options end
    local function doubled(fgraph)
      local out = fgraph.outputs[1]
      fgraph:change_node_input("output", 1, out * 2, { import_missing = true })
    end
    local v = damo.dvector "v"
    local function loop()
      return damo.scan(function(e, h) return h + e end, { sequences = { v }, outputs_info = { x } })
    end
    local function op() return damo.graph.OpFromGraph({ x }, { x + 1 })(x) end
    damo.rewrite.before("one", same, doubled)
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local f = damo.compile({ v, x }, loop(), { mode = mode })
      assert.are.same({ 2, 8 }, f(damo.array { 1, 2 }, 0):totable())
      assert.are.equal(4, damo.compile({ x }, op(), { mode = mode })(1))
    end
    damo.rewrite.before("two", same, function(fgraph)
      local out = fgraph.outputs[1]
      fgraph:change_node_input("output", 1, out + 1, { import_missing = true })
    end)
    local three = damo.graph.OpFromGraph({ x }, { x + 3 })
    assert.are.equal(9, damo.compile({ x }, three(x))(1))
    damo.rewrite.before("one", same)
    damo.rewrite.before("two", nil)
    local four = damo.graph.OpFromGraph({ x }, { x + 4 })
    assert.are.equal(5, damo.compile({ x }, four(x))(1))
    -- what the Op shows stays as it was
    assert.are.equal("Elemwise{add}", tostring(three.fgraph.outputs[1].owner.op))
  end)

  it("tells what is wrong with a function for inner graphs", function()
    local function same(inputs, outputs, options) return inputs, outputs, options end
    local ok, err = pcall(damo.rewrite.before, "one", same, 3)
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
    damo.rewrite.before("one", same, function() error "no inner graphs" end)
    ok, err = pcall(function() return damo.compile({ x }, damo.graph.OpFromGraph({ x }, { x + 5 })(x))(1) end)
    assert.is_false(ok)
    assert.are.equal("callback", err.kind)
    assert.is_truthy(tostring(err):find("no inner graphs", 1, true))
    damo.rewrite.before("one", same, function(fgraph)
      fgraph:change_node_input("output", 1, fgraph.outputs[1] + damo.dscalar "new", { import_missing = true })
    end)
    ok, err = pcall(function() return damo.compile({ x }, damo.graph.OpFromGraph({ x }, { x + 6 })(x))(1) end)
    assert.is_false(ok)
    assert.are.equal("value", err.kind, tostring(err))
    assert.is_truthy(err.message:find("how many inputs", 1, true), err.message)
  end)
end)
