-- Every row of the registry is a function and, unless it says otherwise, a method of Arrays and Variables.
local damo = require "damo"

-- Rows that are fields of Arrays and Variables instead of methods.
local fields = { shape = true, size = true }

describe("the registry", function()
  local rows = damo.registry()

  it("has rows, each with a text", function()
    assert.is_true(#rows > 100)
    for _, row in ipairs(rows) do assert.is_true(#row.doc > 0, row.name .. " has no doc") end
  end)

  it("has each name once", function()
    local seen = {}
    for _, row in ipairs(rows) do
      assert.is_nil(seen[row.name], row.name)
      seen[row.name] = true
    end
  end)

  it("gives each row as a function", function()
    for _, row in ipairs(rows) do
      local home = row.random and damo.random or damo
      assert.equal("function", type(home[row.name]), row.name)
    end
  end)

  it("gives each row as a method of Variables and of Arrays, or as a field", function()
    local x, a = damo.dmatrix "x", damo.zeros { 2, 2 }
    for _, row in ipairs(rows) do
      if row.method then
        assert.equal("function", type(x[row.name]), row.name)
        assert.equal("function", type(a[row.name]), row.name)
      elseif fields[row.name] then
        assert.is_not_nil(x[row.name], row.name)
        assert.is_not_nil(a[row.name], row.name)
      end
    end
  end)

  it("is honest about operators", function()
    local x = damo.dvector "x"
    assert.equal(damo.add(x, x).owner.op, (x + x).owner.op)
    assert.equal(damo.neg(x).owner.op, (-x).owner.op)
    assert.equal(damo.pow(x, x).owner.op, (x ^ x).owner.op)
  end)
end)
