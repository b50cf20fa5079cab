-- Singular systems: the pivot that the error names, in cases where only one is right.

local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

-- A full upper triangle of n rows, so that only the natural order of its columns keeps it triangular: KLU eliminates
-- them
-- from the first to the last (csr: through Aᵀ, from the last row to the first). put: entries {i, j, value} that replace
-- or
-- are added to its own.
local function upper(n, put, o)
  local at = {}
  for i = 1, n do
    for j = i, n do at[i * n + j] = { i, j, i == j and 2.0 + i or 1.0 / (i + j) } end
  end
  for _, e in ipairs(put) do at[e[1] * n + e[2]] = e end
  local rows, cols, values = {}, {}, {}
  for k = 1, n * n + n do
    local e = at[k]
    if e then rows[#rows + 1], cols[#cols + 1], values[#values + 1] = e[1], e[2], e[3] end
  end
  local m = sp.coo {
    rows = rows, cols = cols, values = damo.array(values, o.dtype), shape = { n, n }, format = o.format,
  }
  return sp[o.format] { data = m.data, indices = m.indices, indptr = m.indptr, shape = m.shape, itype = o.itype }
end

local function each(check)
  for _, dtype in ipairs(s.floats) do
    for _, format in ipairs(s.formats) do
      for _, itype in ipairs(s.itypes) do check { dtype = dtype, format = format, itype = itype } end
    end
  end
end

-- The elimination step of column k if it is the last of its block, and of a block of `size` columns that begins at k.
local function step_of(k, format, size)
  size = size or 1
  return format == "csc" and k + size - 1 or 9 - k + 1
end

local function refused(A, step, column)
  local text = ("the matrix is singular: pivot %d of 9 (column %d) is 0; rcond is 0"):format(step, column)
  s.raises("numeric", text, function() sp.solve(A, damo.ones { 9 }) end)
end

describe("the pivot of a singular matrix", function()
  it("is named if its block is one entry", function()
    each(function(o)
      for k = 1, 9 do refused(upper(9, { { k, k, 0 } }, o), step_of(k, o.format), k) end
    end)
  end)

  it("is named if a block has dependent columns: the last of them", function()
    each(function(o)
      for k = 1, 8 do
        local block = { { k, k, 1 }, { k, k + 1, 2 }, { k + 1, k, 2 }, { k + 1, k + 1, 4 } }
        refused(upper(9, block, o), step_of(k, o.format, 2), k + 1)
      end
    end)
  end)

  it("is named if a column of a block is 0", function()
    each(function(o)
      for zero = 3, 5 do
        local block = {}
        for i = 1, 5 do
          for j = 3, 5 do
            if i >= 3 then block[#block + 1] = { i, j, j == zero and 0 or i * j + (i == j and 1 or 0) } end
          end
        end
        -- in Aᵀ it is a row, eliminated last
        refused(upper(9, block, o), o.format == "csc" and zero or 7, zero)
      end
    end)
  end)

  it("is named if it is not 0 but too small", function()
    for _, format in ipairs(s.formats) do
      for k = 1, 9 do
        local A = upper(9, { { k, k, 1e-30 } }, { dtype = "float64", format = format, itype = "int32" })
        local err = s.raises("numeric", nil, function() sp.solve(A, damo.ones { 9 }) end)
        local text = "the matrix is singular to working precision: pivot %d of 9 (column %d) is the smallest; rcond is "
        text = text:format(step_of(k, format), k)
        assert.equal(text, err.message:sub(1, #text))
        assert.matches(", below the epsilon of float64, 2.22e%-16$", err.message)
      end
    end
  end)
end)

describe("functions of a square factor", function()
  local function of(rows, cols) return sp.FactorType("float64", { shape = { rows, cols } })() end

  it("accept factors that may be square, and refuse others", function()
    for _, class in ipairs { "FactorDet", "FactorLogdet", "FactorRcond" } do
      for _, shape in ipairs { { 3, 3 }, { 3, false }, { false, 3 }, { false, false }, { 0, 0 } } do
        assert.equal(class, sp[class] {}(of(shape[1], shape[2])).owner.op.name)
      end
      for _, shape in ipairs { { 3, 4 }, { 4, 3 }, { 0, 1 } } do
        local text = "%s: the matrix has shape (%d, %d), expected a square one"
        s.raises("shape", text:format(class, shape[1], shape[2]),
          function() sp[class] {}(of(shape[1], shape[2])) end)
      end
    end
  end)
end)
