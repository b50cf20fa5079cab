-- Every row of the registry is a function and, unless it says otherwise, a method of Arrays and Variables.
local damo = require "damo"

-- The table of functions that has a row, and the row's name there.
local function place_of(row)
  local home, name = row.name:match "^(.*)%.(.*)$"
  if row.random and not home then return damo.random, row.name end
  return home and damo[home] or damo, name or row.name
end

-- Rows whose names are fields of Arrays and Variables, so that they are no methods.
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
      local home, name = place_of(row)
      assert.equal("function", type(home[name]), row.name)
    end
  end)

  it("gives each row as a method of Variables and of Arrays, or as a field", function()
    local x, a = damo.dmatrix "x", damo.zeros { 2, 2 }
    for _, row in ipairs(rows) do
      local _, name = place_of(row)
      if row.method then
        assert.equal("function", type(x[name]), row.name)
        assert.equal("function", type(a[name]), row.name)
      elseif fields[row.name] then
        assert.is_not_nil(x[name], row.name)
        assert.is_not_nil(a[name], row.name)
      end
    end
  end)

  it("gives each row of sparse functions as a method of sparse Variables and matrices", function()
    local x, a = damo.sparse.csr_matrix "x", damo.sparse.eye(2)
    for _, row in ipairs(rows) do
      local _, name = place_of(row)
      if row.method then
        assert.equal("function", type(x[name]), row.name)
        assert.equal("function", type(a[name]), row.name)
      end
    end
  end)

  it("maps operators to the Ops of their functions", function()
    local x = damo.dvector "x"
    assert.equal(damo.add(x, x).owner.op, (x + x).owner.op)
    assert.equal(damo.neg(x).owner.op, (-x).owner.op)
    assert.equal(damo.pow(x, x).owner.op, (x ^ x).owner.op)
  end)
end)
