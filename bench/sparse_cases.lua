-- sparse_cases.lua: benchmark cases of sparse ops, compared with plain C loops (floor.c).

local damo = require "damo"
local have_floor, floor = pcall(require, "floor")
local unpack = table.unpack or unpack -- luacheck: ignore
local sparse = damo.sparse

local COLS = 64

-- ---- Matrices -------------------------------------------------------------------------------------------------------

local here = arg[0]:match("^(.*)/") or "."

local read = {
  random = function() return sparse.random(100000, 100000, { density = 1e-4 }) end,
  bayer10 = function() return damo.io.read_mtx(here .. "/data/bayer10.mtx") end,
}

--- The matrix and the dense operands of the cases.
local function load_matrix(name)
  damo.random.seed(3)
  local A = read[name]()
  local n = A.shape[1]
  local function normal(size) return damo.random.normal(0, 1, { size = size }) end
  local d = {
    A = A, A1 = A, A2 = A, A3 = A, D = normal { n, COLS }, G = normal { n, COLS }, v = normal { n },
    S = sparse.diags({ normal { n } }, { 0 }),
    rows = damo.random.integers(1, n, { size = { 1000 } }),
  }
  d.raw = { n, n, A.nnz, indptr = A.indptr:pointer(), indices = A.indices:pointer(), data = A.data:pointer() }
  return d
end

-- ---- Cases ----------------------------------------------------------------------------------------------------------

local a, S = sparse.csr_matrix "A", sparse.csr_matrix "S"
local D, G, v, list = damo.dmatrix "D", damo.dmatrix "G", damo.dvector "v", damo.lvector "rows"

-- Three blocks for the gradient of a stack.
local block, blocks = { sparse.csr_matrix "A1", sparse.csr_matrix "A2", sparse.csr_matrix "A3" }, "A1 A2 A3"

local function ten(x)
  local copies = {}
  for k = 1, 10 do copies[k] = x end
  return copies
end

--- key, title, targets (a ratio to "floor", "scipy", "pytensor" or the "best" peer), names of the operands, a function
--- that returns the result, and which of the operands the floor takes beside the matrix.
local plain = {
  { "matvec", "A v", { best = 1.05 }, "A v", function() return damo.dot(a, v) end, "v" },
  { "matmat", "A D, 64 columns", { floor = 1.15, scipy = 0.6 }, "A D", function() return damo.dot(a, D) end, "D" },
  { "dot_grad", "gradient of structured_dot, both", { floor = 1.25, pytensor = 0.45 }, "A D G", function()
    local y = sparse.structured_dot(a, D)
    return damo.grad(nil, { a, D }, { known_grads = { [y] = G } })
  end, "D G" },
  { "gram", "A A', true_dot", { best = 0.6 }, "A", function() return sparse.true_dot(a, a.T) end, "" },
  { "sampling", "sampling_dot, k = 64", { best = 0.6 }, "D G A", function()
    return sparse.sampling_dot(D, G, a)
  end, "D G" },
  { "usmm", "usmm, 2 A D + G", { pytensor = 0.65 }, "A D G", function() return sparse.usmm(2.0, a, D, G) end, "D G" },
  { "add_transpose", "A + A'", { best = 1.1 }, "A", function() return a + a.T end, "" },
  { "tocsc", "csr to csc", { best = 1.1 }, "A", function() return sparse.tocsc(a) end, "" },
  { "sum_columns", "sum, axis 1", { best = 1.1 }, "A", function() return sparse.sp_sum(a, { axis = 1 }) end, "" },
  { "sum_rows", "sum, axis 2", { best = 1.1 }, "A", function() return sparse.sp_sum(a, { axis = 2 }) end, "" },
  { "sum_all", "sum", { best = 1.1 }, "A", function() return sparse.sp_sum(a) end, "" },
  { "col_scale", "col_scale", { best = 0.4 }, "A v", function() return sparse.col_scale(a, v) end, "v" },
  { "hstack", "hstack of 10", { best = 0.3 }, "A", function()
    return sparse.hstack(ten(a), { format = "csr" })
  end, "" },
  { "vstack", "vstack of 10", { best = 0.6 }, "A", function()
    return sparse.vstack(ten(a), { format = "csr" })
  end, "" },
  { "rows", "1000 rows by list", { best = 0.25 }, "A rows", function()
    return sparse.get_item_list(a, list)
  end, "rows" },
  { "structured_exp", "structured_exp", { scipy = 0.9 }, "A", function() return sparse.structured_exp(a) end, "" },
}

--- Ops whose gradient is compared with their value: title, names of the operands, the result, and the operands to
--- differentiate by (default: all). A gradient that is regular in a sparse operand may be as large as the dense matrix:
--- those of dot and usmm are left out, and true_dot has a diagonal matrix S as its second operand, for which it is not.
local slopes = {
  { "dot", "A D", function() return damo.dot(a, D) end, "D" },
  { "structured_dot", "A D", function() return sparse.structured_dot(a, D) end },
  { "true_dot", "A S", function() return sparse.true_dot(a, S) end, "A" },
  { "sampling_dot", "D G A", function() return sparse.sampling_dot(D, G, a) end },
  { "usmm", "A D G", function() return sparse.usmm(2.0, a, D, G) end, "D G" },
  { "add", "A", function() return a + a.T end },
  { "mul", "A", function() return a * a end },
  { "col_scale", "A v", function() return sparse.col_scale(a, v) end },
  { "row_scale", "A v", function() return sparse.row_scale(a, v) end },
  { "hstack", blocks, function() return sparse.hstack(block, { format = "csr" }) end },
  { "vstack", blocks, function() return sparse.vstack(block, { format = "csr" }) end },
  { "get_item_list", "A rows", function() return sparse.get_item_list(a, list) end },
  { "transpose", "A", function() return sparse.transpose(a) end },
  { "structured_exp", "A", function() return sparse.structured_exp(a) end },
}

local variables = { A = a, S = S, D = D, G = G, v = v, rows = list }
for k = 1, 3 do variables["A" .. k] = block[k] end

--- The Variables and the values of these operands.
local function operands(names, data)
  local inputs, values = {}, {}
  for name in names:gmatch "%S+" do
    inputs[#inputs + 1], values[#values + 1] = variables[name], data[name]
  end
  return inputs, values
end

local function timer(f, values)
  local a1, a2, a3, a4 = unpack(values)
  local calls = {
    function() f(a1) end, function() f(a1, a2) end, function() f(a1, a2, a3) end, function() f(a1, a2, a3, a4) end,
  }
  local call = calls[#values]
  return function(n)
    local start = os.clock()
    for _ = 1, n do call() end
    return os.clock() - start
  end
end

--- The sum of all entries of the results.
local function total(...)
  local sum = 0
  for _, r in ipairs { ... } do
    if type(r) == "number" then
      sum = sum + r
    else
      sum = sum + damo.sum(sparse.is_sparse(r) and r.data or r)
    end
  end
  return sum
end

local function make_plain(key, names, result, dense, data)
  local inputs, values = operands(names, data)
  local f = damo.compile(inputs, result())
  local made = { damo = timer(f, values), total = function() return total(f(unpack(values))) end }
  if have_floor then
    local _, others = operands(dense, data)
    local x, y = others[1] and others[1]:pointer(), others[2] and others[2]:pointer()
    if key == "rows" then y = #others[1] end
    made.floor = function(n) return floor[key](n, data.raw, x, y) end
  end
  return made
end

local function make_slope(names, result, wrt_names, data)
  local inputs, values = operands(names, data)
  local wrt, y = operands(((wrt_names or names):gsub("rows", "")), data), result()
  local f, g = damo.compile(inputs, y), y.type "g"
  local made = { value = timer(f, values) }
  values[#values + 1] = f(unpack(values))
  local slope = damo.grad(nil, wrt, { known_grads = { [y] = g } })
  inputs[#inputs + 1] = g
  made.damo = timer(damo.compile(inputs, slope, { on_unused_input = "ignore" }), values)
  return made
end

--- The cases in order: key, title, target and make(data). make returns functions of n that run n times and return
--- seconds: damo; floor, if it was built (its second result is the sum of its entries, as total() is of damo's); value,
--- if the case is the gradient of a value.
local cases = {}
for i, c in ipairs(plain) do
  local key, title, target, names, result, dense = unpack(c)
  cases[i] = {
    key = key, title = title, target = target,
    make = function(data) return make_plain(key, names, result, dense, data) end,
  }
end
for _, c in ipairs(slopes) do
  local title, names, result, wrt = unpack(c)
  cases[#cases + 1] = {
    key = "grad_" .. title, title = "gradient of " .. title, target = { value = 3 },
    make = function(data) return make_slope(names, result, wrt, data) end,
  }
end

return { matrices = { "random", "bayer10" }, load = load_matrix, cases = cases }
