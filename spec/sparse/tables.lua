-- Functions of sparse matrices against the same on plain tables of rows: values, derivatives, shapes.
local assert = require "luassert"
local damo = require "damo"
local s = require "spec.sparse.support"

local M = {}

function M.map(rows, f)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for j, v in ipairs(row) do out[i][j] = f(v, i, j) end
  end
  return out
end

function M.transposed(rows)
  local out = {}
  for i, row in ipairs(rows) do
    for j, v in ipairs(row) do
      out[j] = out[j] or {}
      out[j][i] = v
    end
  end
  return out
end

function M.check_derivatives(fn, values, o)
  s.check_grad(fn, values, o)
  s.check_rop(fn, values, o)
end

-- The result's shape is computed without the result: no node of that class is left.
function M.check_shape(fn, values, class)
  local vars = s.variables(values)
  local f = damo.compile(vars, fn(table.unpack(vars)).shape, { on_unused_input = "ignore" })
  local want = fn(table.unpack(values))
  s.close(f(table.unpack(values)), type(want) == "userdata" and want.shape or {}, class)
  for _, node in ipairs(f.fgraph:toposort()) do assert.is_nil(tostring(node.op):find(class, 1, true), class) end
end

M.kinds = { "plain", "unsorted", "duplicates", "zeros", "nnz0" }

-- Compares fn for matrices of every format, dtype and kind with the dense computation.
function M.check_all(fn, reference, dtypes, rows, cols)
  for _, dtype in ipairs(dtypes or { "float64", "int64" }) do
    for _, format in ipairs(s.formats) do
      for k, kind in ipairs(M.kinds) do
        local itype = s.itypes[k % 2 + 1]
        local m = s.matrix { format = format, dtype = dtype, kind = kind, itype = itype, rows = rows, cols = cols }
        s.check_value(fn, { m }, reference)
      end
    end
  end
end

return M
