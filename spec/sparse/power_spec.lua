-- Powers of sparse matrices, against dense tables.
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = require("damo").sparse

describe("power", function()
  local function dot(a, b)
    return t.map(a, function(_, i, j)
      local sum = 0
      for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
      return sum
    end)
  end
  for n = 0, 5 do
    it("of " .. n .. " factors", function()
      local function fn(x) return sparse.power(x, n) end
      t.check_all(fn, function(a)
        local out = t.map(a, function(_, i, j) return i == j and 1 or 0 end)
        for _ = 1, n do out = dot(out, a) end
        return out
      end, nil, 4, 4)
      if n > 0 then t.check_derivatives(fn, { s.matrix { rows = 3, cols = 3 } }, { tol = 1e-4 }) end
    end)
  end
  it("refuses wrong arguments", function()
    local a = s.matrix { rows = 3, cols = 3 }
    s.raises("value", "sparse.power: the power must be an integer of 0 or more", function() sparse.power(a, -1) end)
    s.raises("shape", "sparse.power: shape (4, 5) is not square", function() sparse.power(s.matrix {}, 2) end)
  end)
  it("has a shape that needs no values", function()
    t.check_shape(function(x) return sparse.power(x, 0) end, { s.matrix { rows = 3, cols = 3 } }, "EyeLike")
  end)
end)
