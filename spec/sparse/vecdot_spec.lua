-- Row or column sums of products at a matrix's positions as one node: which graphs have it, and that its bits are those
-- of
-- a product and a sum.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local apart = damo.Mode { exclude = { "sparse_sum_products" } }

local function joined(f) return s.count(f, "SpVecdot") end

local function check(inputs, outputs, values) return s.same_apart(apart, inputs, outputs, values) end

local scalings = { col_scale = 2, row_scale = 1, mul_s_v = 2 }

--- The gradients of x scaled by v along an axis, with respect to v and x, given the result's gradient.
local function gradients(fn, x, v, g) return damo.grad(nil, { v, x }, { known_grads = { [sparse[fn](x, v)] = g } }) end

describe("sums of products at a matrix's places", function()
  for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
    it("of " .. dtype .. " are one node with the bits of two", function()
      local vector = damo.TensorType(dtype, { false })
      for _, m in ipairs(s.matrices(dtype, { rows = 6, cols = 5, fixed = true })) do
        local x, g = sparse.matrix(m.value.format, "x", { dtype = dtype }), sparse.matrix("csr", "g", { dtype = dtype })
        local other = sparse.csr(m.value) * 2
        for fn, axis in pairs(scalings) do
          local v = vector "v"
          for _, cotangent in ipairs { m.value, other } do
            local scale = s.vector(m.value.shape[axis], dtype, 5)
            local f = check({ x, v, g }, gradients(fn, x, v, g), { m.value, scale, cotangent })
            assert.equal(1, joined(f), m.name)
          end
        end
      end
    end)
  end

  it("split long rows as sums do", function()
    local x, v, g = sparse.matrix("csr", "x"), damo.dvector "v", sparse.matrix("csr", "g")
    for _, n in ipairs { 127, 128, 129, 257, 1000 } do
      local m = sparse.csr(s.dense(3, n))
      for fn, axis in pairs(scalings) do
        for _, format in ipairs(s.formats) do
          local a = sparse.matrix(format, "a")
          check({ a, v, g }, gradients(fn, a, v, g), { sparse[format](m), damo.ones { m.shape[axis] }, m })
        end
      end
      assert.equal(1, joined(damo.compile({ x, v, g }, gradients("row_scale", x, v, g))))
    end
  end)

  it("take int64 indices and matrices without rows, columns or entries", function()
    for _, shape in ipairs { { 0, 0 }, { 0, 4 }, { 4, 0 }, { 4, 4 } } do
      for _, format in ipairs(s.formats) do
        for _, itype in ipairs { "int32", "int64" } do
          local x, v = sparse.matrix(format, "x", { itype = itype }), damo.dvector "v"
          local m = sparse[format](sparse.from_dense(damo.zeros(shape), format), { itype = itype })
          for fn, axis in pairs(scalings) do
            local f = check({ x, v }, gradients(fn, x, v, x), { m, damo.ones { shape[axis] } })
            assert.equal(1, joined(f))
          end
        end
      end
    end
  end)

  it("have a shape that needs no values", function()
    local x, v, g = sparse.csr_matrix "x", damo.dvector "v", sparse.csr_matrix "g"
    for fn, axis in pairs(scalings) do
      local sums = gradients(fn, x, v, g)[1]
      local graph = damo.compile({ x, v, g }, sums, { on_unused_input = "ignore" }).fgraph
      local m, rewritten = s.matrix { rows = 6, cols = 5, format = "csr" }, graph.outputs[1]
      assert.equal("SpVecdot", rewritten.owner.op.name)
      for inputs, shape in pairs { [{ x, v, g }] = sums.shape, [graph.inputs] = rewritten.shape } do
        local f = damo.compile(inputs, shape, { on_unused_input = "ignore" })
        assert.equal(0, joined(f))
        assert.same({ m.shape[axis] }, f(m, damo.ones { m.shape[axis] }, m):totable())
      end
    end
  end)

  it("are not merged if the products are used too, if all are summed, and for other dtypes", function()
    local x, v, g = sparse.csr_matrix "x", damo.dvector "v", sparse.csr_matrix "g"
    local data = sparse.csm_data(x)
    local product = data * damo.exp(data)
    local function sum(axis, vector) return sparse.sp_sum(sparse.with_data(x, vector), { axis = axis }) end
    local m = s.matrix { rows = 6, cols = 5, format = "csr" }
    assert.equal(1, joined(check({ x }, sum(1, product), { m })))
    assert.equal(0, joined(check({ x }, { sum(1, product), product }, { m })))
    assert.equal(0, joined(check({ x }, { sum(1, product), sum(2, product) }, { m })))
    assert.equal(0, joined(check({ x }, { sum(1, product), sparse.with_data(x, product) }, { m })))
    assert.equal(0, joined(damo.compile({ x }, sum(nil, product))))
    -- g may have more or fewer entries than x
    assert.equal(0, joined(check({ x, g }, sum(1, data * sparse.csm_data(g)), { m, m })))
    local n = sparse.csr_matrix("n", { dtype = "int32" })
    local ints = sparse.csm_data(n)
    assert.equal(0, joined(damo.compile({ n }, sparse.sp_sum(sparse.with_data(n, ints * -ints), { axis = 1 }))))
    local single = sparse.csr_matrix("single", { dtype = "float32" })
    local mixed = sparse.csm_data(sparse.row_scale(single, v)) * damo.exp(sparse.csm_data(single))
    local values = { sparse.cast(m, "float32"), damo.ones { 6 } }
    assert.equal(0, joined(check({ single, v }, sparse.sp_sum(sparse.with_data(single, mixed), { axis = 1 }), values)))
    assert.equal(1, joined(damo.compile({ x, v, g }, gradients("col_scale", x, v, g))))
  end)

  it("have the errors of the separate nodes", function()
    local x, v, g = sparse.csr_matrix "x", damo.dvector "v", sparse.csr_matrix "g"
    local m, other = s.matrix { rows = 6, cols = 5, format = "csr" }, s.matrix { rows = 6, cols = 4, format = "csr" }
    local said = {}
    for i, mode in ipairs { "FAST_RUN", apart } do
      local f = damo.compile({ x, v, g }, gradients("col_scale", x, v, g), { mode = mode })
      local ok, err = pcall(f, m, damo.ones { 5 }, other)
      assert.is_false(ok)
      said[i] = err.kind .. err.message
    end
    assert.equal(said[2], said[1])
  end)
end)
