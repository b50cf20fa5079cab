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
end)
