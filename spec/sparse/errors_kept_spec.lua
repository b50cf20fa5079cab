-- Errors in operands are reported in every mode: no rewrite removes a check of values that are read.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
local v, w, d = damo.dvector "v", damo.dvector "w", damo.dmatrix "d"
local one = damo.tensor("one", { dtype = "float64", shape = { 1 } })
local function M(rows, cols) return s.matrix { rows = rows, cols = cols } end
local modes = { damo.Mode { optimizer = "none" }, "FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD" }

local function refused(ins, out, values, message)
  for _, mode in ipairs(modes) do
    local f = damo.compile(ins, out, { mode = mode, on_unused_input = "ignore" })
    local ok, err = pcall(f, table.unpack(values))
    assert.is_false(ok, tostring(mode))
    assert.equal("shape", err.kind)
    if message then assert.equal(message, err.message) end
  end
end

describe("a shape error is raised in every mode", function()
  it("in powers of matrices that are not square, with a product or without", function()
    for n = 0, 4 do
      refused({ x }, sparse.power(x, n), { M(2, 3) }, "sparse.power: shape (2, 3) is not square")
      s.raises("shape", "sparse.power: shape (2, 3) is not square", function() return sparse.power(M(2, 3), n) end)
      s.check_grad(function(a) return sparse.power(a, n) end, { M(3, 3) }, { tol = 1e-4 })
    end
  end)

  it("in isclose and allclose, which never broadcast", function()
    for _, ones in ipairs { damo.ones { 1, 3 }, damo.ones { 4, 1 }, damo.ones { 1, 1 } } do
      refused({ x }, sparse.isclose(x, ones), { M(4, 3) },
        ones.shape[1] == 1 and ones.shape[2] == 3 and "sparse.isclose: shapes (4, 3) and (1, 3) are not equal" or nil)
      refused({ x }, sparse.isclose(ones, x), { M(4, 3) })
      refused({ x }, sparse.allclose(x, ones), { M(4, 3) })
      refused({ x, d }, sparse.isclose(x, d), { M(4, 3), ones })
      refused({ x, d }, sparse.allclose(x, d), { M(4, 3), ones })
    end
    refused({ x, y }, sparse.isclose(x, y), { M(4, 3), M(1, 3) })
    local f = damo.compile({ x }, sparse.isclose(x, damo.zeros { 1, 3 }))
    assert.same({ { true, true, true } }, f(sparse.csr { shape = { 1, 3 } }):totable())
  end)

  it("in scalings by two vectors, one of which could broadcast", function()
    refused({ x, one, v }, sparse.col_scale(sparse.col_scale(x, one), v), { M(2, 3), damo.ones { 1 }, damo.ones { 3 } })
    refused({ x, one, v }, sparse.row_scale(sparse.row_scale(x, v), one), { M(2, 3), damo.ones { 1 }, damo.ones { 2 } })
  end)

  it("in vectors of the wrong number of values, whose matrix's parts are read", function()
    local a, four = s.matrix { rows = 2, cols = 3 }, damo.ones { 40 }
    refused({ x, v }, sparse.csm_data(sparse.with_data(x, v)), { a, four })
    refused({ x, v }, (sparse.csm_properties(sparse.with_data(x, v))), { a, four })
    refused({ x, v, w }, sparse.csm_data(sparse.with_data(x, v * w)), { a, four, four })
    refused({ x, v }, sparse.sum(sparse.with_data(x, v * v), { axis = 1 }), { a, four })
  end)

  it("in gradients of products", function()
    for _, cost in ipairs { sparse.sum(x * y), damo.sum(sparse.sum(x * y, { axis = 1 })),
      damo.sum(damo.sqr(sparse.sum(x * y, { axis = 2 }))) } do
      refused({ x, y }, damo.grad(cost, x), { M(2, 3), M(3, 3) })
    end
    local spread = damo.grad(sparse.sum(x), x)
    refused({ x, y }, sparse.gather(spread, y), { M(2, 3), M(3, 3) })
    refused({ x, y }, sparse.gather(sparse.transpose(spread), y), { M(2, 3), M(2, 3) })
  end)
end)

describe("scaling twice", function()
  it("wraps around as the two steps do", function()
    local a, b = damo.tensor("a", { dtype = "int8", shape = { false } }), damo.tensor("b", { dtype = "int8",
      shape = { false } })
    local hundred = damo.full({ 3 }, 100, "int8")
    local z = sparse.csr_matrix("z", { dtype = "int8" })
    local ones = sparse.csr_from_dense(damo.ones { 2, 3 })
    local out = { sparse.col_scale(sparse.col_scale(x, a), b), sparse.col_scale(sparse.col_scale(z, a), v) }
    for _, mode in ipairs(modes) do
      local f = damo.compile({ x, z, a, b, v }, out, { mode = mode })
      local p, q = f(ones, ones:cast "int8" * damo.array(3, "int8"), hundred, hundred, damo.ones { 3 })
      assert.equal(10000, p:toarray()[{ 1, 1 }])
      assert.equal(300 - 256, q:toarray()[{ 1, 1 }])
    end
  end)

  it("is one scaling where that makes no difference", function()
    local f = damo.compile({ x, v, w }, sparse.col_scale(sparse.col_scale(x, v), w))
    local n = 0
    for _, node in ipairs(f.fgraph.apply_nodes) do n = n + (node.op.name == "ColScaleCSC" and 1 or 0) end
    assert.equal(1, n)
  end)
end)
