-- sparse_random_inputs and verify_grad_sparse.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

describe("sparse_random_inputs", function()
  it("gives Variables and values for them", function()
    for _, format in ipairs(s.formats) do
      for _, dtype in ipairs { "float32", "complex128", "int64" } do
        local vars, values = sparse.sparse_random_inputs(format, { 5, 4 }, { n = 3, p = 0.3, dtype = dtype })
        assert.equal(3, #vars)
        assert.equal(3, #values)
        for i, v in ipairs(vars) do
          assert.equal(format, v.format)
          assert.equal(dtype, v.dtype)
          assert.same({ 5, 4 }, values[i].shape)
          assert.equal(6, values[i].nnz)
          assert.equal(values[i].nnz, v.type:filter(values[i]).nnz)
        end
      end
    end
  end)

  it("stores a zero, and descending indices, if asked to", function()
    local _, values = sparse.sparse_random_inputs("csc", { 6, 3 }, {
      explicit_zero = true, unsorted_indices = true, p = 0.8,
    })
    local zeros = 0
    for _, v in ipairs(values[1].data:totable()) do zeros = zeros + (v == 0 and 1 or 0) end
    assert.equal(1, zeros)
    assert.is_false(values[1].has_sorted_indices)
    local indices, indptr = values[1].indices:totable(), values[1].indptr:totable()
    for line = 1, 3 do
      for k = indptr[line] + 2, indptr[line + 1] do assert.is_true(indices[k] < indices[k - 1]) end
    end
  end)

  it("checks its options", function()
    s.raises("value", "sparse_random_inputs: unknown option 'gap': the options are n, p, explicit_zero, "
      .. "unsorted_indices, dtype",
      function() sparse.sparse_random_inputs("csr", { 2, 2 }, { gap = 1 }) end)
  end)
end)

-- A 0-d 2.
local function part(dtype)
  local real = dtype == "complex64" and "float32" or dtype == "complex128" and "float64"
  return real and damo.complex(damo.array(2, real), damo.array(1, real)) or damo.array(2, dtype)
end

describe("verify_grad_sparse", function()
  it("accepts right gradients of every dtype and kind of operand", function()
    for _, dtype in ipairs(s.floats) do
      for _, format in ipairs(s.formats) do
        local a = s.matrix { format = format, dtype = dtype, rows = 3, cols = 3, kind = "unsorted" }
        sparse.verify_grad_sparse(sparse.sin, { a }, { structured = true })
        sparse.verify_grad_sparse(function(x, y) return sparse.hstack { x, y } end, { a, a })
        sparse.verify_grad_sparse(function(x, k) return sparse.structured_add(x, k) end, { a, part(dtype) },
          { structured = true })
      end
    end
    sparse.verify_grad_sparse(function(x) return sparse.sp_sum(x, { axis = 1 }) end, { s.matrix {} })
    sparse.verify_grad_sparse(sparse.sqr, { s.matrix { kind = "nnz0" } })
    local int = s.matrix { dtype = "int64", rows = 3, cols = 3 }
    local a = s.matrix { rows = 3, cols = 3 }
    sparse.verify_grad_sparse(function(x, n) return sparse.hstack { x, n } end, { a, int })
  end)

  it("notices a structured gradient where a regular one is required", function()
    local a = sparse.csr_from_dense(damo.array { { 1.0, 0.0 }, { 0.0, 2.0 } })
    local err = s.raises("numeric", nil, function() sparse.verify_grad_sparse(sparse.sin, { a }) end)
    assert.matches("^verify_grad_sparse: the gradient for input 1 at %([12], [12]%) is 0, finite", err.message)
  end)

  it("notices a wrong gradient, and names the worst element", function()
    local a = sparse.csr_from_dense(damo.array { { 1.0, 0.0 }, { 0.0, 20.0 } })
    local function wrong(x) return sparse.structured_monoid(function(v) return v * damo.zero_grad(v) end)(x) end
    local err = s.raises("numeric", nil, function() sparse.verify_grad_sparse(wrong, { a }, { structured = true }) end)
    assert.matches("input 1 at %(2, 2%) is", err.message)
  end)

  it("refuses wrong arguments", function()
    s.raises("value", "verify_grad_sparse: unknown option 'rng': the options are structured, eps, abs_tol, rel_tol",
      function() sparse.verify_grad_sparse(sparse.sin, { s.matrix {} }, { rng = 1 }) end)
    s.raises("type", "verify_grad_sparse: argument 2 (values) must be a list of values, got nil",
      function() sparse.verify_grad_sparse(sparse.sin) end)
    s.raises("type", "verify_grad_sparse: fn must return one Variable",
      function() sparse.verify_grad_sparse(function() return 3 end, { s.matrix {} }) end)
  end)
end)
