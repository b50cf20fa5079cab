-- destroy_map and view_map: the compiler keeps in-place Ops safe; damo.graph.DestroyHandler refuses those that cannot
-- be.
local damo = require "damo"

local x, y = damo.dvector "x", damo.dvector "y"

local function unary(name, fields, perform)
  fields.name = name
  fields.make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end
  fields.perform = perform
  return damo.Op(fields)
end
local Over = unary("Over", { destroy_map = { [1] = { 1 } } }, function(_, _, inputs, storage)
  inputs[1][1] = -99
  storage[1][1] = inputs[1]
end)
local View = unary("View", { view_map = { [1] = { 1 } } }, function(_, _, inputs, storage)
  storage[1][1] = inputs[1]
end)

local modes = { "FAST_RUN", "FAST_COMPILE", "DEBUG" }

describe("a destroyer in a compiled function", function()
  it("runs after the other readers of its input", function()
    for _, mode in ipairs(modes) do
      local t = x + 1
      local f = damo.compile({ x }, { Over(t), damo.sum(t), damo.sum(View(t)) }, { mode = mode })
      local a, b, c = f { 1, 2, 3 }
      assert.same({ -99, 3, 4 }, a:totable())
      assert.same({ 9, 9 }, { b, c })
    end
  end)

  it("works on a copy of an input, a constant, a shared value, a result", function()
    for _, mode in ipairs(modes) do
      local s, k, t = damo.shared(damo.array { 5, 6 }), damo.constant(damo.array { 7, 8 }), x * 2
      local f = damo.compile({ x }, { Over(x), Over(s), Over(k), Over(t), t, Over(View(t)) }, { mode = mode })
      local given = damo.array { 1, 2 }
      for _ = 1, 2 do
        local r = { f(given) }
        for i = 1, 6 do r[i] = r[i]:totable() end
        assert.same({ { -99, 2 }, { -99, 6 }, { -99, 8 }, { -99, 4 }, { 2, 4 }, { -99, 4 } }, r)
      end
      assert.same({ 1, 2 }, given:totable())
      assert.same({ 5, 6 }, s:get_value():totable())
    end
  end)

  it("overwrites a mutable input", function()
    local f = damo.compile({ damo.In(x, { mutable = true }), y }, { damo.sum(Over(x)), damo.sum(y) })
    local given = damo.array { 1, 2 }
    assert.equal(-97.0, f(given, { 1 }))
    assert.same({ -99, 2 }, given:totable())
    given = damo.array { 1, 2 }
    local a, b = f(given, given)
    assert.same({ -97, 3 }, { a, b })
    assert.same({ 1, 2 }, given:totable())
  end)
end)

describe("the destroy handler", function()
  local function attach(inputs, outputs)
    local fg = damo.graph.FunctionGraph(inputs, outputs, { clone = false })
    fg:attach_feature(damo.graph.DestroyHandler())
    return fg
  end
  local function refused(inputs, outputs, text)
    local fg = attach(inputs, outputs)
    assert.is_false(fg:consistent())
    local ok, err = pcall(fg.validate, fg)
    assert.is_false(ok)
    assert.equal("inconsistency", err.kind)
    assert.matches(text, err.message)
  end
  local t = x + 1

  it("refuses two destroyers of one value", function()
    refused({ x }, { damo.sum(Over(t)), damo.sum(Over(t) * 2), damo.sum(Over(View(t))) }, "another node destroys too")
  end)

  it("refuses to destroy a value whose view is read later", function()
    refused({ x }, { Over(t) + View(t) }, "still reads")
    refused({ x }, { damo.sum(Over(t)), View(t) }, "an output of the graph")
  end)

  it("refuses to destroy a constant, and an input that is indestructible", function()
    refused({}, { Over(damo.constant(damo.array { 1, 2 })) }, "a constant")
    local v = damo.dvector "v"
    attach({ v }, { Over(v) })
    v.tag.indestructible = true
    refused({ v }, { Over(v) }, "indestructible")
    refused({ v }, { Over(View(v)) }, "indestructible")
  end)

  it("refuses a cycle of orders", function()
    local Two = damo.Op {
      name = "Two",
      destroy_map = { [1] = { 1 } },
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
      perform = function(_, _, inputs, storage) storage[1][1] = inputs[1] end,
    }
    local p, q = damo.exp(x), damo.neg(x)
    refused({ x }, { damo.sum(Two(p, View(q))), damo.sum(Two(q, View(p))) }, "still reads")
  end)

  it("orders readers before the destroyer, and undoes a change that it refuses", function()
    local d, e = Over(t), damo.exp(t)
    local total = damo.sum(d)
    local fg = attach({ x }, { total, e })
    local order = fg:toposort()
    assert.equal(t.owner, order[1])
    assert.equal(e.owner, order[2])
    assert.equal(d.owner, order[3])
    for _, change in ipairs { { "replace_validate", e, Over(t) }, { "replace_all_validate", { [e] = Over(t) } } } do
      local ok, err = pcall(fg[change[1]], fg, change[2], change[3])
      assert.is_false(ok)
      assert.equal("inconsistency", err.kind)
      assert.equal(e, fg.outputs[2])
    end
    assert.is_true(fg:consistent())
  end)

  it("refuses only when asked: replace allows graphs that consistent and validate refuse", function()
    local d, e = Over(t), damo.exp(t)
    local again = Over(t)
    local fg = attach({ x }, { damo.sum(d), e })
    fg:replace(e, again)
    assert.equal(again, fg.outputs[2])
    assert.is_false(fg:consistent())
    assert.equal("inconsistency", select(2, pcall(fg.validate, fg)).kind)
    assert.equal("inconsistency", select(2, pcall(fg.toposort, fg)).kind)
    fg:change_node_input("output", 2, e)
    assert.is_true(fg:consistent())
    fg:replace_all { [e] = again }
    assert.is_false(fg:consistent())
    fg:replace_validate(again, e) -- back to an allowed graph
    assert.is_true(fg:consistent())
    assert.equal(4, #fg:toposort())
  end)

  it("can be removed", function()
    local fg = damo.graph.FunctionGraph({ x }, { damo.sum(Over(t)), damo.exp(t) }, { clone = false })
    local handler = damo.graph.DestroyHandler()
    fg:attach_feature(handler)
    assert.equal(handler, fg.features[1])
    fg:remove_feature(handler)
    fg:replace(fg.outputs[2], t)
    assert.equal(t, fg.outputs[2])
  end)
end)

describe("a map with positions that do not exist", function()
  local vector = damo.TensorType("float64", { ndim = 1 })
  local function run(_, _, inputs, storage) storage[1][1] = inputs[1] * 1 end
  local function refused(message, fn, ...)
    local ok, err = pcall(fn, ...)
    assert.is_false(ok)
    assert.equal("value", err.kind)
    assert.equal(message, err.message)
  end

  it("is refused when a node is made, with the Op's name", function()
    refused("BadIn: its destroy_map names input 2, but it has 1 input",
      unary("BadIn", { destroy_map = { { 2 } } }, run), x)
    refused("BadOut: its view_map names output 3, but it has 1 output",
      unary("BadOut", { view_map = { [3] = { 1 } } }, run), x)
    local bad = unary("BadApply", { view_map = { { 1, 2 } } }, run)
    refused("BadApply: its view_map names input 2, but it has 1 input", damo.Apply, bad, { x }, { x.type() })
    local bare = damo.Op { name = "Class", props = { "k" }, destroy_map = { { 4 } }, perform = run,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end }
    refused("Class: its destroy_map names input 4, but it has 1 input", bare { k = 1 }, x)
  end)

  it("is refused in the definition if itypes and otypes are given", function()
    refused("Typed: its destroy_map names input 2, but it has 1 input", damo.Op, { name = "Typed",
      itypes = { vector }, otypes = { vector }, destroy_map = { { 2 } }, perform = run })
    refused("Typed: its view_map names output 2, but it has 1 output", damo.Op, { name = "Typed",
      itypes = { vector }, otypes = { vector }, view_map = { [2] = { 1 } }, perform = run })
  end)

  it("is refused in the definition if it is no position", function()
    refused("Zero: its destroy_map holds positions, which count from 1, got 0", unary, "Zero",
      { destroy_map = { [1] = { 0 } } }, run)
    refused("Zero: its view_map holds positions, which count from 1, got 0", unary, "Zero",
      { view_map = { [0] = { 1 } } }, run)
    refused("Half: its view_map holds positions, which count from 1, got 1.5", unary, "Half",
      { view_map = { 1.5 } }, run)
    refused("Text: its view_map holds positions, which count from 1, got string", unary, "Text",
      { view_map = { "one" } }, run)
  end)
end)
