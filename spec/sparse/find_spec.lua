-- The positions of entries: find and nonzero, against dense tables; coo is their inverse.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

-- The rows, columns and values of the nonzero elements, in row-major or column-major order.
local function places(a, format)
  local rows, cols, values = {}, {}, {}
  local by_row = format == "csr"
  for k = 1, by_row and #a or #a[1] do
    for l = 1, by_row and #a[1] or #a do
      local i, j = by_row and k or l, by_row and l or k
      if a[i][j] ~= 0 and a[i][j] ~= false then
        rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i, j, a[i][j]
      end
    end
  end
  return rows, cols, values
end

describe("find and nonzero", function()
  for _, dtype in ipairs { "float64", "float32", "int64", "bool" } do
    it("are the elements that are not 0, of " .. dtype, function()
      for _, format in ipairs(s.formats) do
        for k, kind in ipairs(t.kinds) do
          local a = s.matrix { format = format, dtype = dtype, kind = kind, itype = s.itypes[k % 2 + 1] }
          local got = s.same_everywhere(sparse.find, { a })
          local two = s.same_everywhere(sparse.nonzero, { a })
          local want = { places(s.todense(a), format) }
          for i = 1, 3 do s.close(s.flat(got[i]), s.flat(damo.array(want[i], got[i].dtype)), kind, 1e-6) end
          for i = 1, 2 do assert.is_true(damo.array_equal(got[i], two[i])) end
          assert.same({ "int64", "int64", dtype }, { got[1].dtype, got[2].dtype, got[3].dtype })
          local back = sparse.coo { rows = got[1], cols = got[2], values = got[3], shape = a.shape, format = format }
          assert.is_true(damo.array_equal(a, back))
        end
      end
    end)
  end

  it("have values with gradients for the stored entries", function()
    for _, format in ipairs(s.formats) do
      for _, kind in ipairs { "plain", "unsorted", "duplicates" } do
        for _, dtype in ipairs { "float64", "complex128" } do
          t.check_derivatives(function(x) return (select(3, sparse.find(x))) end,
            { s.matrix { format = format, kind = kind, dtype = dtype } })
        end
      end
    end
    local x = sparse.csr_matrix "x"
    local rows = sparse.find(x)
    s.raises("disconnected_input", nil, function() return damo.grad(damo.sum(rows), x) end)
  end)

  it("are methods, are called by damo.nonzero, and count positions past 2^32", function()
    local a, x = s.huge { rows = 4, cols = 33 }, sparse.csr_matrix("x", { itype = "int64" })
    local f = damo.compile({ x }, { x:find() })
    for _, list in ipairs { { a:find() }, { a:nonzero() }, { damo.nonzero(a) }, { f(a) } } do
      assert.same({ 1, 2, 3, 4 }, list[1]:totable())
      assert.same({ 2 ^ 33, 2 ^ 33 - 1, 2 ^ 33 - 2, 2 ^ 33 - 3 }, list[2]:totable())
    end
  end)
end)
