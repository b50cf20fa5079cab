-- A node that stands for equal ones keeps the lines of all of them.
local damo = require "damo"

describe("the trace of merged nodes", function()
  local function lines_of(build, n)
    local x, y = damo.dmatrix "x", damo.dmatrix "y"
    local made, first = {}, debug.getinfo(build, "S").linedefined
    local f = damo.compile({ x, y }, build(x, y, made), { mode = damo.Mode { exclude = { "fusion" } } })
    local ok, err = pcall(f, damo.ones { 2, 3 }, damo.ones { 2, 3 })
    assert.is_false(ok)
    assert.is_true(#err.trace >= n)
    local lines = {}
    for i = 1, n do lines[i] = tonumber(err.trace[i]:match "merged_trace_spec.lua:(%d+)") - first end
    return lines
  end

  it("has the innermost line of each first", function()
    local lines = lines_of(function(x, y)
      local a = damo.dot(x, y)
      local b = damo.dot(x, y)
      local c = damo.dot(x, y)
      return a + damo.exp(b) - damo.tanh(c)
    end, 3)
    assert.same({ 1, 2, 3 }, lines)
  end)

  it("has each line once, and then the calls around the first one", function()
    local function product(x, y) local p = damo.dot(x, y) return p end -- a tail call may leave no line
    local lines = lines_of(function(x, y)
      local a = product(x, y)
      return a + damo.exp(product(x, y))
    end, 2)
    assert.same({ -1, 1 }, lines)
  end)

  it("has eight at most", function()
    local lines = lines_of(function(x, y)
      local v = {}
      v[1] = damo.dot(x, y)
      v[2] = damo.dot(x, y)
      v[3] = damo.dot(x, y)
      v[4] = damo.dot(x, y)
      v[5] = damo.dot(x, y)
      v[6] = damo.dot(x, y)
      v[7] = damo.dot(x, y)
      v[8] = damo.dot(x, y)
      v[9] = damo.dot(x, y)
      v[10] = damo.dot(x, y)
      local sum = v[1]
      for i = 2, 10 do sum = sum + damo.exp(v[i] * i) end
      return sum
    end, 8)
    assert.same({ 2, 3, 4, 5, 6, 7, 8, 9 }, lines)
  end)

  it("leaves the user's nodes as they are", function()
    local x = damo.dvector "x"
    local a = damo.exp(x)
    local b = damo.exp(x)
    local before = { tostring(a.tag.trace and a.tag.trace[1]), tostring(b.tag.trace and b.tag.trace[1]) }
    damo.compile({ x }, a * 2 + b)
    assert.same(before, { tostring(a.tag.trace and a.tag.trace[1]), tostring(b.tag.trace and b.tag.trace[1]) })
  end)
end)
