-- FunctionGraph features written in Lua: the arguments of each callback, and what happens if one fails.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"
local G = damo.graph

local x, y = damo.dvector "x", damo.dvector "y"

-- A feature that records its callbacks; `fail` names the callback that throws.
local function recorder()
  local log = {}
  local feature = { log = log }
  local function note(name, ...)
    log[#log + 1] = { name, ... }
    if feature.fail == name then error("stop in " .. name) end
  end
  function feature:on_attach(fg) note("on_attach", self, fg) end
  function feature:on_detach(fg) note("on_detach", self, fg) end
  function feature:on_import(fg, node) note("on_import", self, fg, node) end
  function feature:on_prune(fg, node) note("on_prune", self, fg, node) end
  function feature:on_change_input(fg, node, i, old, new) note("on_change_input", self, fg, node, i, old, new) end
  return feature
end

local function names(log)
  local list = {}
  for i, entry in ipairs(log) do list[i] = entry[1] end
  return table.concat(list, " ")
end

local function graph() return G.FunctionGraph({ x, y }, { damo.exp(x + y) }) end

describe("a feature written in Lua", function()
  it("is called when it is attached and detached", function()
    local fg, f = graph(), recorder()
    fg:attach_feature(f)
    assert.same({ f }, fg.features)
    fg:remove_feature(f)
    assert.same({}, fg.features)
    assert.equal("on_attach on_detach", names(f.log))
    assert.equal(f, f.log[1][2])
    assert.equal(fg, f.log[1][3])
    failure("value", fg.remove_feature, fg, f)
  end)

  it("is called for added and removed nodes, and for changed inputs, with 1-based positions", function()
    local fg, f = graph(), recorder()
    fg:attach_feature(f)
    local exp = fg.outputs[1].owner
    local sum = exp.inputs[1]
    local a, b = table.unpack(fg.inputs)
    local product = a * b
    fg:replace(sum, product, { reason = "test" })
    assert.equal("on_attach on_import on_change_input on_prune", names(f.log))
    assert.equal(product.owner, f.log[2][4])
    local change = f.log[3]
    assert.equal(exp, change[4])
    assert.equal(1, change[5])
    assert.equal(sum, change[6])
    assert.equal(product, change[7])
    assert.equal(sum.owner, f.log[4][4])
  end)

  it("gets 'output' if an output changes", function()
    local fg, f = graph(), recorder()
    fg:attach_feature(f)
    fg:change_node_input("output", 1, fg.inputs[1])
    assert.equal("on_attach on_change_input on_prune on_prune", names(f.log))
    assert.equal("output", f.log[2][4])
  end)

  it("may have any of the callbacks, or none", function()
    local fg = graph()
    local seen = 0
    fg:attach_feature {}
    fg:attach_feature { on_import = function() seen = seen + 1 end }
    fg:replace(fg.outputs[1], damo.log(fg.inputs[1]))
    assert.equal(1, seen)
  end)

  it("may read the graph inside a callback", function()
    local fg, users = graph(), nil
    fg:attach_feature { on_import = function(_, g, node) users = #g:clients(node.inputs[1]) end }
    fg:replace(fg.outputs[1], damo.log(fg.inputs[1]))
    assert.equal(2, users)
  end)
end)

describe("a feature that fails", function()
  -- The graph computes the same as before, its own check passes, and the other feature has seen each change undone.
  local function sound(fg, text)
    assert.is_true(fg:consistent())
    assert.equal(text, damo.printing.debugprint(fg, { file = "str" }))
    assert.equal(#fg:toposort(), #fg.apply_nodes)
  end

  for _, place in ipairs { "on_import", "on_change_input" } do
    it("in " .. place .. " undoes the change, keeps the cause, and leaves the graph usable", function()
      local fg, f, other, later = graph(), recorder(), recorder(), recorder()
      fg:attach_feature(other)
      fg:attach_feature(f)
      fg:attach_feature(later)
      local before = damo.printing.debugprint(fg, { file = "str" })
      f.fail = place
      local e = failure("callback", fg.replace, fg, fg.outputs[1], damo.log(fg.inputs[1] * fg.inputs[2]))
      assert.truthy(tostring(e.cause):find("stop in " .. place, 1, true))
      assert.truthy(tostring(e):find(place, 1, true))
      sound(fg, before)
      for _, one in ipairs { other, later } do
        local balance = 0
        for _, entry in ipairs(one.log) do
          balance = balance + (entry[1] == "on_import" and 1 or entry[1] == "on_prune" and -1 or 0)
        end
        assert.equal(0, balance)
      end
      f.fail = nil
      fg:replace(fg.outputs[1], damo.log(fg.inputs[1] * fg.inputs[2]))
      assert.is_true(fg:consistent())
      local g = damo.compile(fg.inputs, fg.outputs[1])
      assert.equal(math.log(6), g(damo.array { 2 }, damo.array { 3 })[1])
    end)
  end

  it("in on_change_input leaves the others with balanced callbacks", function()
    local fg, first, f, last = graph(), recorder(), recorder(), recorder()
    for _, one in ipairs { first, f, last } do fg:attach_feature(one) end
    local sum = fg.outputs[1].owner.inputs[1]
    f.fail = "on_change_input"
    failure("callback", fg.replace, fg, sum, fg.inputs[1] * fg.inputs[2])
    assert.equal("on_attach on_import on_change_input on_change_input on_prune", names(first.log))
    local there, back = first.log[3], first.log[4]
    assert.equal(there[6], back[7]) -- old and new exchanged
    assert.equal(there[7], back[6])
    assert.equal("on_attach on_import on_change_input on_prune", names(f.log))
    assert.equal("on_attach on_import on_prune", names(last.log)) -- attached after it: not told of the change
  end)

  it("in on_attach is not attached", function()
    local fg, f = graph(), recorder()
    f.fail = "on_attach"
    local e = failure("callback", fg.attach_feature, fg, f)
    assert.truthy(tostring(e.cause):find("stop in on_attach", 1, true))
    assert.same({}, fg.features)
    f.fail = nil
    fg:attach_feature(f)
    assert.same({ f }, fg.features)
  end)

  it("in on_prune or on_detach is reported, after the change was made", function()
    local fg, f = graph(), recorder()
    fg:attach_feature(f)
    f.fail = "on_prune"
    local e = failure("callback", fg.replace, fg, fg.outputs[1], damo.log(fg.inputs[1]))
    assert.truthy(tostring(e.cause):find("stop in on_prune", 1, true))
    assert.is_true(fg:consistent())
    assert.equal(1, #fg.apply_nodes)
    f.fail = "on_detach"
    e = failure("callback", fg.remove_feature, fg, f)
    assert.truthy(tostring(e.cause):find("stop in on_detach", 1, true))
    assert.same({}, fg.features)
    assert.is_true(fg:consistent())
  end)

  it("may throw any value, also damo's error objects", function()
    local fg = graph()
    fg:attach_feature { on_import = function() damo.dot(damo.ones { 2, 3 }, damo.ones { 2, 3 }) end }
    failure("shape", fg.replace, fg, fg.outputs[1], damo.log(fg.inputs[1]))
    fg = graph()
    local thing = {}
    fg:attach_feature { on_import = function() error(thing) end }
    assert.equal(thing, failure("callback", fg.replace, fg, fg.outputs[1], damo.log(fg.inputs[1])).cause)
    assert.is_true(fg:consistent())
  end)
end)

it("features that hold their own graph are collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  do
    local fg, f = graph(), recorder()
    f.graph = fg
    gone[f] = true
    fg:attach_feature(f)
    fg:replace(fg.outputs[1], damo.log(fg.inputs[1]))
  end
  garbage.collect()
  assert.is_nil(next(gone))
end)
