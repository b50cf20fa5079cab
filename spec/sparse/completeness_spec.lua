-- Completeness: every name in spec/names.lua exists, every row of the registry has a case, and every case runs in every
-- mode, format, dtype and index dtype, with its shape, gradient, R_op, second derivative, reference cases, docs and
-- memory. What is not demanded of a row has its reason in completeness_rows.lua.
local damo = require "damo"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local names = dofile "spec/names.lua"
local cases = dofile "spec/sparse/completeness_rows.lua"
local sparse = damo.sparse

-- ---- Names --------------------------------------------------------------------------------------------------------

describe("every name in spec/names.lua:", function()
  for _, name in ipairs(names.sparse_functions) do
    it(name, function()
      local f = sparse[name]
      local meta = type(f) ~= "function" and getmetatable(f)
      assert.is_true(type(f) == "function" or (type(meta) == "table" and meta.__call ~= nil), "damo.sparse." .. name)
    end)
  end

  for _, name in ipairs(names.sparse_values) do
    it(name, function() assert.equal("table", type(sparse[name])) end)
  end

  it("methods of Variables and matrices", function()
    local x, a = sparse.csr_matrix "x", sparse.eye(2)
    for _, name in ipairs(names.sparse_variable_methods) do
      assert.equal("function", type(x[name]), name)
      assert.equal("function", type(a[name]), name)
    end
    for _, field in ipairs { "T", "shape", "data", "indices", "indptr", "format", "dtype", "ndim" } do
      assert.is_not_nil(x[field], field)
      assert.is_not_nil(a[field], field)
    end
  end)
end)

-- ---- Op classes ---------------------------------------------------------------------------------------------------

local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
local d, v = damo.matrix "d", damo.vector "v"
local n, lists, k = damo.scalar "n", damo.lvector "l", damo.lscalar "k"
local state = damo.random.state(11)

-- Inputs for each class, with the properties that it needs.
local class_inputs = {
  AddSD = { x, d }, AddSS = { x, y }, AddSSData = { x, y }, CSM = { v, lists, lists, lists,
    props = { format = "csr" } },
  CSMGrad = { v, lists, lists, lists, v, lists, lists, lists }, CSMProperties = { x }, Cast = { x,
    props = { out_type = "float32" } },
  ColScaleCSC = { x, v }, RowScaleCSC = { x, v }, ConstructSparseFromList = { d, d, lists }, DenseFromSparse = { x },
  SparseFromDense = { d, props = { format = "csr" } }, Diag = { x }, Dot = { x, d }, EnsureSortedIndices = { x },
  GetItem2Lists = { x, lists, lists }, GetItem2ListsGrad = { x, lists, lists, v }, GetItem2d = true,
    GetItemList = { x, lists },
  GetItemListGrad = { x, lists, y }, GetItemScalar = { x, k, k }, HStack = { x, y }, VStack = { x, y }, MulSD = { x,
    d },
  MulSS = { x, y }, MulSV = { x, v }, Neg = { x }, Remove0 = { x }, SamplingDot = { d, d, x }, SpSum = { x },
    SquareDiagonal = { v },
  StructuredAddSV = { x, v }, StructuredDot = { x, d }, StructuredDotGradCSC = { lists, lists, d, d },
    StructuredDotGradCSR = { lists, lists, d, d },
  Transpose = { x }, TrueDot = { x, y }, Usmm = { n, x, d, d }, Poisson = true, Binomial = true, Multinomial = true,
}

describe("every Op class in spec/names.lua:", function()
  for _, name in ipairs(names.sparse_ops) do
    it(name, function()
      local class = sparse[name]
      assert.is_not_nil(class, "damo.sparse." .. name)
      local inputs = assert(class_inputs[name], "no inputs for the class " .. name)
      if inputs == true then
        assert.equal("function", type(class))
        return
      end
      local out = class(inputs.props or {})(table.unpack(inputs))
      assert.equal(name == "Dot" and "SparseDot" or name, out.owner.op.name) -- Dot is the dense class's
    end)
  end

  it("classes made by functions have their names", function()
    assert.equal("GetItem2d", x[{ { 1, 2 } }].owner.op.name)
    local _, draw = sparse.poisson(x, { rng = state })
    assert.equal("Poisson", draw.owner.op.name)
    _, draw = sparse.multinomial(lists, x, { rng = state })
    assert.equal("Multinomial", draw.owner.op.name)
    _, draw = sparse.csr_dbinomial(k, 0.5, { 2, 3 }, { rng = state })
    assert.equal("Binomial", draw.owner.op.name)
  end)
end)

-- ---- Rows ---------------------------------------------------------------------------------------------------------

local function reference_ops()
  local ops = {}
  local pipe = assert(io.popen "ls spec/data/reference/sparse_*.lua")
  for file in pipe:lines() do
    for _, case in ipairs(assert(loadfile(file, "t", { nan = 0 / 0, inf = 1 / 0 }))()) do
      if not case.raises then ops[case.op] = (ops[case.op] or 0) + 1 end
    end
  end
  pipe:close()
  return ops
end

local function annotations()
  local f = assert(io.open "lua/damo/meta.lua")
  local text = f:read "a"
  f:close()
  return text
end

local rows = {}
for _, row in ipairs(damo.registry()) do
  local name = row.name:match "^sparse%.(.*)$"
  if name then rows[#rows + 1] = { name = name, row = row } end
end

local function caller(name, case)
  return function(...)
    if case.call then return case.call(sparse[name], ...) end
    return sparse[name](...)
  end
end

-- o.format × o.dtype × o.itype
local function each(case, dtypes, itypes, fn)
  for _, format in ipairs(s.formats) do
    for _, dtype in ipairs(dtypes) do
      for _, itype in ipairs(itypes) do
        local o = { format = format, dtype = dtype, itype = itype }
        local ok, err = pcall(fn, o, case.args(o))
        if not ok then error(("%s %s %s: %s"):format(format, dtype, itype, tostring(err)), 0) end
      end
    end
  end
end

local function has(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then return true end
  end
  return false
end

local function doubles(case)
  local list = {}
  for _, dtype in ipairs { "float64", "complex128" } do
    if has(case.dtypes or s.floats, dtype) then list[#list + 1] = dtype end
  end
  return list
end

-- Each output's shape, compiled alone, does not need the node that makes the output.
local function check_shape(fn, values)
  local vars = s.variables(values)
  local outputs = { fn(table.unpack(vars)) }
  local results = s.run(vars, outputs, values)
  for i, out in ipairs(outputs) do
    if out.ndim > 0 and out.owner then
      local f = damo.compile(vars, out.shape, { on_unused_input = "ignore" })
      for _, node in ipairs(f.fgraph.apply_nodes) do
        assert(node.op.name ~= out.owner.op.name, "the shape computes " .. out.owner.op.name)
      end
      s.close(f(table.unpack(values)), results[i].shape, "shape")
    end
  end
end

-- Gradients in single precision have that dtype and agree with those in double precision; int64 indices change nothing.
local function check_narrow(fn, case)
  for _, narrow in ipairs { "float32", "complex64" } do
    if has(case.dtypes or s.floats, narrow) and not case.loose then
      local wide = narrow == "float32" and "float64" or "complex128"
      local function gradients(dtype, itype, format)
        local values = case.args { format = format, dtype = dtype, itype = itype }
        local vars = s.variables(values)
        local out = { fn(table.unpack(vars)) }
        local y1 = out[1].format and sparse.toarray(out[1], { structured = false }) or out[1]
        local cost = damo.sum(damo.real(y1 * y1))
        local i = case.wrt and case.wrt[1] or 1
        local g = damo.grad(cost, vars[i], { disconnected_inputs = "ignore" })
        assert(g.dtype == dtype, "the gradient's dtype is " .. g.dtype)
        return s.flat(s.run(vars, { g }, values)[1])
      end
      for _, format in ipairs(s.formats) do
        local want = gradients(wide, "int32", format)
        s.close(gradients(narrow, "int32", format), want, narrow, 2e-3)
        s.close(gradients(wide, "int64", format), want, "int64 indices", 1e-12)
      end
    end
  end
end

-- The value, and the gradient with respect to each operand, under a memory cap beyond the operands. o as for args.
local function check_cap(fn, case, o, bytes)
  local values = case.args(o)
  local vars = s.variables(values)
  local out = fn(table.unpack(vars))
  local wanted = { out }
  if not case.grad then
    local i = case.wrt and case.wrt[1] or 1
    local cost = damo.real(sparse.sp_sum(out, { sparse_grad = true }))
    wanted[2] = damo.grad(cost, vars[i], { disconnected_inputs = "ignore" })
  end
  local f = damo.compile(vars, wanted, { on_unused_input = "ignore" })
  garbage.collect()
  damo.config.memory_cap = damo.memory().bytes + bytes
  local ok, err = pcall(f, table.unpack(values))
  damo.config.memory_cap = 0
  if not ok then error(o.format .. ": " .. tostring(err), 0) end
end

local function check_formats(fn, case, o, bytes)
  for _, format in ipairs(s.formats) do
    check_cap(fn, case, { format = format, dtype = "float64", itype = "int32", huge = o.huge, far = o.far }, bytes)
  end
end

describe("every row of the registry:", function()
  local ops, text = reference_ops(), annotations()

  for _, entry in ipairs(rows) do
    local name, case = entry.name, cases[entry.name]
    it(name .. " has a case, a text, docs, a reference", function()
      assert.is_not_nil(case, "completeness_rows.lua says nothing of sparse." .. name)
      assert.is_true(#entry.row.doc > 0)
      assert.is_truthy(text:find("function sparse." .. name .. "(", 1, true), "no annotation")
      if type(case.reference) == "table" then
        assert.equal("string", type(case.reference[1]))
      else
        assert.is_truthy(ops[case.reference or name], "no reference case")
      end
    end)

    if case and not case.draw and not case.elsewhere then
      local fn = caller(name, case)
      it(name .. " runs eagerly and in every mode", function()
        each(case, case.dtypes or s.floats, s.itypes, function(o, values)
          s.same_everywhere(fn, values, o.dtype == "float64" and s.modes or { "FAST_RUN" })
        end)
      end)
      if not case.shape then
        it(name .. " infers its shape", function()
          each(case, { "float64" }, { "int32" }, function(_, values) check_shape(fn, values) end)
        end)
      end
      if not case.grad then
        it(name .. " has a gradient", function()
          each(case, doubles(case), { "int32" }, function(_, values) s.check_grad(fn, values, { wrt = case.wrt,
            eps = case.eps, tol = case.tol }) end)
          check_narrow(fn, case)
        end)
      end
      if not case.rop then
        it(name .. " has an R_op", function()
          each(case, doubles(case), { "int32" }, function(_, values) s.check_rop(fn, values, { eps = case.eps,
            tol = case.tol }) end)
        end)
      end
      if not case.second then
        it(name .. " has a second derivative", function()
          each(case, { "float64" }, { "int32" }, function(_, values) s.check_second(fn, values, { wrt = case.wrt,
            tol = 1e-5 }) end)
        end)
      end
      if case.sparse and not case.huge then
        it(name .. " takes memory as its entries do, its gradient too", function()
          check_formats(fn, case, { huge = true }, 160 * 2 ^ 20)
        end)
      end
      if case.sparse and not case.huge and not case.far then
        it(name .. " takes no memory for a minor axis of 2^33", function() check_formats(fn, case, { far = true },
          4 * 2 ^ 20) end)
      end
    end
  end

  it("no case without a row", function()
    local known = {}
    for _, entry in ipairs(rows) do known[entry.name] = true end
    for name, case in pairs(cases) do assert.is_true(known[name] ~= nil or case.elsewhere ~= nil, name) end
  end)

  it("a result that is sparse has its memory measured, or a reason", function()
    for name, case in pairs(cases) do
      assert.is_true(case.draw ~= nil or case.elsewhere ~= nil or case.sparse == true or type(
        case.huge) == "string", name)
    end
  end)
end)
