-- A sampled product and a product over the same rows as one node: which gradients have it, and that the results have
-- the
-- bits of two nodes.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local apart = damo.Mode { exclude = { "sparse_sampled_product" } }

local count = s.count

local function joined(f) return count(f, "SampledProduct") end

local function check(inputs, outputs, values, tol) return s.same_apart(apart, inputs, outputs, values, tol) end

local function structured(a, d, g)
  return damo.grad(nil, { a, d }, { known_grads = { [sparse.structured_dot(a, d)] = g } })
end

local function sampled(x, y, p)
  return damo.grad(sparse.sp_sum(sparse.sqr(sparse.sampling_dot(x, y, p))), { x, y, p })
end

local widths = { 1, 7, 31, 64, 100 }

for _, dtype in ipairs { "float32", "float64" } do
  describe("the gradients of " .. dtype .. " products", function()
    local tensor = damo.TensorType(dtype, { false, false })
    local x, y, g = tensor "x", tensor "y", tensor "g"

    it("of structured_dot are one node with the bits of two", function()
      for _, m in ipairs(s.matrices(dtype, { rows = 6, cols = 5, fixed = true })) do
        local a = sparse.matrix(m.value.format, "a", { dtype = dtype })
        for _, k in ipairs(widths) do
          local f = check({ a, y, g }, structured(a, y, g), { m.value, s.dense(5, k, dtype), s.dense(6, k, dtype, 7) })
          assert.equal(1, joined(f), m.name)
          assert.equal(0, count(f, "StructuredDot"))
        end
      end
    end)

    it("of sampling_dot are one node and a product with the bits of three", function()
      for _, m in ipairs(s.matrices(dtype, { rows = 6, cols = 5, fixed = true })) do
        local p = sparse.matrix(m.value.format, "p", { dtype = dtype })
        for _, k in ipairs(widths) do
          local f = check({ x, y, p }, sampled(x, y, p), { s.dense(6, k, dtype), s.dense(5, k, dtype, 3), m.value })
          assert.equal(1, joined(f), m.name)
          assert.equal(1, count(f, "SparseDot"))
        end
      end
    end)

    it("are right for strided dense operands", function()
      for _, format in ipairs(s.formats) do
        local m = s.matrix { rows = 6, cols = 5, dtype = dtype, format = format }
        local a = sparse.matrix(format, "a", { dtype = dtype })
        local d, e = s.dense(40, 5, dtype), s.dense(40, 6, dtype, 5)
        check({ a, y, g }, structured(a, y.T, g.T), { m, d, e })
        check({ x, y, a }, sampled(x.T, y.T, a), { e, d, m })
      end
    end)

    it("are right for matrices without rows, columns or entries, and dense operands without columns", function()
      for _, shape in ipairs { { 0, 0 }, { 0, 4 }, { 4, 0 }, { 4, 4 } } do
        for _, format in ipairs(s.formats) do
          local a, m = sparse.matrix(format, "a", { dtype = dtype }), damo.zeros(shape, { dtype = dtype })
          m = sparse[format .. "_from_dense"](m)
          for _, k in ipairs { 0, 3, 64 } do
            local d, e = damo.ones({ shape[2], k }, { dtype = dtype }), damo.ones({ shape[1], k }, { dtype = dtype })
            check({ a, y, g }, structured(a, y, g), { m, d, e })
            check({ x, y, a }, sampled(x, y, a), { e, d, m })
          end
        end
      end
    end)
  end)
end

describe("with other values", function()
  local x, y = damo.dmatrix "x", damo.dmatrix "y"

  --- The matrices of one format in both index dtypes; two have the same number of entries.
  local function matrices(format)
    local make = sparse[format]
    local function of(data, indices, indptr, shape, itype)
      return make { data = data, indices = indices, indptr = indptr, shape = shape, itype = itype }
    end
    local square, flat = { 3, 3 }, format == "csr" and { 2, 3 } or { 3, 2 }
    return {
      first = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 3, 4 }, square),
      values = of({ 5, -2, 7, 1 }, { 0, 2, 1, 2 }, { 0, 2, 3, 4 }, square),
      indices = of({ 1, 2, 3, 4 }, { 0, 2, 1, 0 }, { 0, 2, 3, 4 }, square),
      indptr = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 2, 4 }, square),
      flat = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 4 }, flat),
      wide = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 3, 4 }, square, "int64"),
      more = of({ 1, 2, 3, 4, 5 }, { 0, 2, 1, 0, 2 }, { 0, 2, 3, 5 }, square),
      longer = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 3, 4, 4 }, format == "csr" and { 4, 3 } or { 3, 4 }),
      broader = of({ 1, 2, 3, 4 }, { 0, 2, 1, 2 }, { 0, 2, 3, 4 }, format == "csr" and { 3, 4 } or { 4, 3 }),
      none = of({}, {}, { 0, 0, 0, 0 }, square),
    }
  end

  it("a node uses the current pattern, not that of an earlier call", function()
    local order = { "first", "first", "values", "indices", "first", "indptr", "flat", "first", "wide", "first", "more",
      "first", "none", "first", "more", "values", "longer", "first", "broader", "first", "longer" }
    for _, format in ipairs(s.formats) do
      local p = sparse.matrix(format, "p")
      local all, inputs = matrices(format), { x, y, p }
      for _, which in ipairs { "sampled", "structured" } do
        local grads = which == "sampled" and sampled(x, y, p) or structured(p, y, x)
        grads[#grads + 1] = damo.dot(p.T, damo.neg(x))
        local f, two = damo.compile(inputs, grads), damo.compile(inputs, grads, { mode = apart })
        assert.equal(1, joined(f))
        for k, name in ipairs(order) do
          local m = all[name]
          -- narrow and strided dense operands use the node's workspace in other ways
          for _, cols in ipairs { 64, k % 3 == 0 and 3 or 31, 64 } do
            local function block(n, seed)
              return k % 2 == 0 and s.dense(n, cols, "float64", seed) or s.dense(cols, n, "float64", seed).T
            end
            local values = { block(m.shape[1], k), block(m.shape[2], 7), m }
            local want = { two(table.unpack(values)) }
            for i, v in ipairs { f(table.unpack(values)) } do
              assert.same(s.flat(want[i]), s.flat(v), ("%s %s %s %d"):format(format, which, name, i))
            end
          end
        end
      end
    end
  end)
end)

describe("a samples and a product node", function()
  local x, y, g = damo.dmatrix "x", damo.dmatrix "y", damo.dmatrix "g"

  it("of a known pattern are merged too", function()
    for _, format in ipairs(s.formats) do
      local m = s.matrix { rows = 6, cols = 5, format = format }
      local a = sparse.matrix(format, "a", { pattern = m })
      local f = check({ a, y, g }, structured(a, y, g), { m, s.dense(5, 40), s.dense(6, 40, "float64", 3) })
      assert.equal(1, joined(f))
    end
  end)

  it("are not merged if one depends on the other", function()
    for _, format in ipairs(s.formats) do
      local p = sparse.matrix(format, "p")
      local scores = damo.grad(nil, p, { known_grads = { [sparse.structured_dot(p, y)] = x } })
      local f = check({ x, y, p }, { damo.dot(scores, y), damo.dot(scores.T, x), scores },
        { s.dense(6, 40), s.dense(5, 40, "float64", 3), s.matrix { rows = 6, cols = 5, format = format } })
      assert.equal(0, joined(f))
    end
  end)

  it("with other operands, patterns or dtypes are not merged", function()
    local a, b = sparse.csr_matrix "a", sparse.csr_matrix "b"
    local samples = damo.grad(nil, a, { known_grads = { [sparse.structured_dot(a, y)] = x } })
    assert.equal(0, joined(damo.compile({ a, b, x, y }, { samples, damo.dot(b, y) })))
    assert.equal(0, joined(damo.compile({ a, x, y, g }, { samples, damo.dot(a, g) })))
    assert.equal(1, joined(damo.compile({ a, x, y }, { samples, damo.dot(a, y) })))
    local c, z = sparse.csr_matrix("c", { dtype = "complex128" }), damo.zmatrix "z"
    local h = damo.zmatrix "h"
    assert.equal(0, joined(damo.compile({ c, z, h }, structured(c, z, h))))
  end)

  it("of two pairs make no cycle", function()
    local a, b = sparse.csr_matrix "a", sparse.csr_matrix "b"
    -- each pair could be merged alone; but the product of the first is an input of the second's samples, and vice versa
    local function samples(m, rows, cols)
      return damo.grad(nil, m, { known_grads = { [sparse.structured_dot(m, cols)] = rows } })
    end
    local p1 = damo.dot(a, y)
    local s2, p2 = samples(b, p1, x), damo.dot(b, x)
    local s1 = samples(a, p2, y)
    local A, B = s.matrix { rows = 6, cols = 5, format = "csr" }, s.matrix { rows = 6, cols = 5, format = "csr" }
    local f = check({ a, b, x, y }, { s1, s2, p1, p2 }, { A, B, s.dense(5, 40), s.dense(5, 40, "float64", 3) })
    assert.equal(1, joined(f))
  end)

  it("have the errors of the separate nodes", function()
    local ones = function(shape) return damo.ones(shape) end
    local dot = "%s: shapes (%d, %d) and (%d, %d) do not agree: axis 2 of the first is %d, axis 1 of the second is %d"
    local wide = "StructuredDotGrad%s: shapes (%d, %d) and (%d, %d) do not agree: axis 2 of the first is %d, axis 2 of "
      .. "the second is %d"
    for _, format in ipairs(s.formats) do
      local a, m = sparse.matrix(format, "a"), s.matrix { rows = 6, cols = 5, format = format }
      local upper = format:upper()
      local cost = damo.sum(sparse.sampling_dot(x, y, a))
      local product = sparse.structured_dot(a, y)
      local both = { damo.grad(nil, y, { known_grads = { [product] = g } }), product,
        damo.grad(nil, a, { known_grads = { [product] = g } }) }
      local own = { damo.dot(a, y), damo.grad(nil, a, { known_grads = { [product] = g } }) }
      for _, case in ipairs {
        { { x, y, a }, damo.grad(cost, { x, y, a }), {
          { { 4, 3 }, { 5, 3 }, dot:format("SparseDot", 5, 6, 4, 3, 6, 4) },
          { { 6, 3 }, { 4, 3 }, dot:format("SparseDot", 6, 5, 4, 3, 5, 4) },
          { { 6, 3 }, { 6, 3 }, dot:format("SparseDot", 6, 5, 6, 3, 5, 6) },
          { { 6, 3 }, { 5, 4 }, wide:format(upper, 5, 4, 6, 3, 4, 3) },
        } },
        { { g, y, a }, both, {
          { { 4, 3 }, { 5, 3 }, dot:format("StructuredDot", 5, 6, 4, 3, 6, 4) },
          { { 6, 3 }, { 4, 3 }, dot:format("StructuredDot", 6, 5, 4, 3, 5, 4) },
          { { 6, 2 }, { 5, 3 }, wide:format(upper, 5, 3, 6, 2, 3, 2) },
        } },
        { { g, y, a }, own, {
          { { 6, 3 }, { 7, 3 }, dot:format("SparseDot", 6, 5, 7, 3, 5, 7) },
          { { 6, 2 }, { 5, 3 }, wide:format(upper, 5, 3, 6, 2, 3, 2) },
        } },
      } do
        for _, mode in ipairs(s.modes) do
          local f = damo.compile(case[1], case[2], { mode = mode })
          if mode == "FAST_RUN" then assert.equal(1, joined(f)) end
          for _, fault in ipairs(case[3]) do
            local ok, err = pcall(f, ones(fault[1]), ones(fault[2]), m)
            assert.is_false(ok)
            assert.equal("shape", err.kind)
            assert.equal(fault[3], err.message, mode)
            assert.equal(fault[3]:match "^%a+", err.op)
          end
        end
      end
    end
  end)

  it("have the trace of the product", function()
    local a = sparse.csr_matrix "a"
    local product = sparse.structured_dot(a, y)
    local grads = damo.grad(nil, { a, y }, { known_grads = { [product] = g } })
    local m = s.matrix { rows = 6, cols = 5, format = "csr" }
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local f = damo.compile({ a, y, g }, grads, { mode = mode })
      local ok, err = pcall(f, m, damo.ones { 5, 3 }, damo.ones { 4, 3 })
      assert.is_false(ok)
      assert.same(product.owner.tag.trace, err.trace, mode)
    end
  end)
end)
