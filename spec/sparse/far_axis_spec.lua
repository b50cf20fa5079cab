-- Matrices with an axis of 2^40 and few entries, under a memory cap: values, gradients with respect to each operand,
-- R_ops and second derivatives need memory in proportion to the entries, and agree with those on a short axis. Here are
-- the cases that completeness_spec.lua cannot make for every row: operands of several shapes and formats.
local damo = require "damo"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local sparse = damo.sparse

local FAR, NEAR, ROOM = 2 ^ 40, 6, 2 ^ 20

-- Entries near the end of an axis: the same ones on FAR as on NEAR.
local function matrix(format, shape, far, seed)
  local next_number = s.numbers(seed, 0, 1)
  local rows, cols, values = {}, {}, {}
  local axes = { shape[1] == "far" and far or shape[1], shape[2] == "far" and far or shape[2] }
  local short = { shape[1] == "far" and NEAR or shape[1], shape[2] == "far" and NEAR or shape[2] }
  for i = 1, short[1] do
    for j = 1, short[2] do
      if next_number() < 0.5 then
        rows[#rows + 1], cols[#cols + 1] = axes[1] - short[1] + i, axes[2] - short[2] + j
        values[#values + 1] = 0.25 + next_number()
      end
    end
  end
  return sparse.coo { rows = rows, cols = cols, values = values, shape = axes, format = format }
end

local function operand(o, far, seed)
  if o[1] == "dense" then return s.dense(o[2], o[3], "float64", seed) end
  if o[1] == "vector" then return s.vector(o[2], "float64", seed) end
  return matrix(o[1], { o[2], o[3] }, far, seed)
end

local function operands(list, far)
  local values = {}
  for i, o in ipairs(list) do values[i] = operand(o, far, 3 * i) end
  return values
end

-- The part that fits a short axis, dense.
local function near_part(v)
  if not sparse.is_sparse(v) then return v end
  local range = {}
  for a = 1, 2 do range[a] = v.shape[a] == FAR and { FAR - NEAR + 1, FAR } or { 1, v.shape[a] } end
  return sparse.toarray(v[range])
end

local function cost_of(y)
  if y.format then return sparse.sp_sum(sparse.square(y), { sparse_grad = true }) end
  return damo.sum(damo.sqr(y))
end

-- The operands' Variables, and the derivatives: pairs of text and Variable.
local function derivatives(fn, values)
  local vars = s.variables(values)
  local out = fn(table.unpack(vars))
  local list = { { "value", out } }
  local inputs, tangents = { table.unpack(vars) }, {}
  for i, x in ipairs(vars) do
    local g = damo.grad(cost_of(out), x)
    list[#list + 1] = { "gradient by " .. i, g }
    for k, w in ipairs(vars) do
      local h = damo.grad(cost_of(g), w, { disconnected_inputs = "ignore" })
      list[#list + 1] = { ("gradient by %d, of it by %d"):format(i, k), h }
    end
    tangents[i] = s.variable(values[i], "e" .. i)
    inputs[#inputs + 1] = tangents[i]
  end
  list[#list + 1] = { "R_op", damo.Rop(out, vars, tangents) }
  return inputs, list
end

-- Computes each one separately, so that none is computed on the way to another.
local function results(fn, list, far)
  local values = operands(list, far)
  local inputs, wanted = derivatives(fn, values)
  local all = { table.unpack(values) }
  for _, v in ipairs(values) do all[#all + 1] = v end
  local got = {}
  for k, w in ipairs(wanted) do
    local f = damo.compile(inputs, w[2], { on_unused_input = "ignore" })
    garbage.collect()
    damo.config.memory_cap = damo.memory().bytes + ROOM
    local ok, r = pcall(f, table.unpack(all))
    damo.config.memory_cap = 0
    if not ok then error(w[1] .. ": " .. tostring(r), 0) end
    got[k] = { w[1], near_part(r) }
  end
  return got
end

local function check(fn, list)
  local far, near = results(fn, list, FAR), results(fn, list, NEAR)
  for k, r in ipairs(near) do s.close(far[k][2], r[2], r[1]) end
end

local both = {
  { { "csr", 4, 5 }, { "csr", 5, "far" } },
  { { "csr", 4, "far" }, { "csc", "far", 5 } },
  { { "csc", "far", 4 }, { "csc", 4, 5 } },
  { { "csc", "far", 4 }, { "csr", 4, 5 } },
}
local mixed = { { { "dense", 4, 5 }, { "csr", 5, "far" } }, { { "csc", "far", 4 }, { "dense", 4, 5 } } }

local function title(list)
  local words = {}
  for i, o in ipairs(list) do words[i] = ("%s (%s)"):format(o[1], table.concat({ table.unpack(o, 2) }, ", ")) end
  return table.concat(words, " and ")
end

describe("on an axis of 2^40 memory is in proportion to the entries:", function()
  local function cases(name, fn, lists)
    for _, list in ipairs(lists) do
      it(name .. " of " .. title(list), function() check(fn, list) end)
    end
  end

  cases("true_dot", function(x, y) return sparse.true_dot(x, y) end, both)
  cases("true_dot", function(x, y) return sparse.true_dot(x, y) end, mixed)
  cases("true_dot, all sparse,", function(x, y) return sparse.true_dot(x, y, { grad_preserves_dense = false }) end,
    mixed)
  cases("true_dot, its cotangent in the other format,", function(x, y) return sparse.tocsc(sparse.true_dot(x, y)) end,
    { both[2] })
  cases("structured_dot", function(x, y) return sparse.structured_dot(x, y) end, both)

  for _, format in ipairs(s.formats) do
    local one = format == "csr" and { format, 4, "far" } or { format, "far", 4 }
    local v = { "vector", 4 }
    cases("a short axis scaled,", function(x, w)
      return format == "csr" and sparse.row_scale(x, w) or sparse.col_scale(x, w)
    end, { { one, v } })
    cases("products with numbers", function(x) return x * 2.5 end, { { one } })
  end
  cases("mul_s_v", function(x, w) return sparse.mul_s_v(x, w) end, { { { "csc", "far", 4 }, { "vector", 4 } } })
  cases("structured_add_s_v", function(x, w) return sparse.structured_add_s_v(x, w) end,
    { { { "csc", "far", 4 }, { "vector", 4 } } })
  cases("columns by a list", function(x)
    return sparse.get_item_list(x, damo.array({ 2, 4, 2 }, "int64"), { axis = 2 })
  end, { { { "csc", "far", 4 } } })
  cases("norms of columns", function(x) return sparse.norm(x, { axis = 2, ord = 3 }) + sparse.norm(x, { axis = 2 }) end,
    { { { "csr", 4, "far" } } })
  cases("norms of rows", function(x) return sparse.norm(x, { axis = 1, ord = 1 }) + sparse.norm(x, { axis = 1 }) end,
    { { { "csc", "far", 4 } } })
  cases("the larger of an element and a number", function(x) return damo.maximum(x, -0.5) + damo.minimum(x, 0.4) end,
    { { { "csr", 4, "far" } }, { { "csc", "far", 4 } } })
  cases("rows put together,", function(x, y) return sparse.vstack({ x, y }, { format = "csr" }) end,
    { { { "csr", 4, "far" }, { "csr", 3, "far" } } })
  cases("columns put together,", function(x, y) return sparse.hstack({ x, y }, { format = "csc" }) end,
    { { { "csc", "far", 4 }, { "csc", "far", 3 } } })
end)
