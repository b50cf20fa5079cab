-- Stacking sparse matrices horizontally and vertically, against tables of rows.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function side_by_side(...)
  local out = {}
  for _, block in ipairs { ... } do
    for i, row in ipairs(block) do
      out[i] = out[i] or {}
      for _, v in ipairs(row) do table.insert(out[i], v) end
    end
  end
  return out
end

local function above(...)
  local out = {}
  for _, block in ipairs { ... } do
    for _, row in ipairs(block) do table.insert(out, row) end
  end
  return out
end

local stacks = {
  { name = "hstack", reference = side_by_side, shape = function(k) return 4, 2 + k end },
  { name = "vstack", reference = above, shape = function(k) return 2 + k, 4 end },
}

-- n blocks that fit, in mixed formats and kinds.
local function blocks_of(stack, dtype, format, n, kinds)
  local list = {}
  for k = 1, n do
    local rows, cols = stack.shape(k)
    list[k] = s.matrix { rows = rows, cols = cols, dtype = dtype, seed = 10 * k, kind = kinds[(k - 1) % #kinds + 1],
      format = format or s.formats[k % 2 + 1], itype = s.itypes[(k + 1) % 2 + 1] }
  end
  return list
end

-- The result's shape is computed without the result: no node of that class is left.
local function check_shape(fn, values, class)
  local vars = s.variables(values)
  local f = damo.compile(vars, fn(table.unpack(vars)).shape, { on_unused_input = "ignore" })
  local want = fn(table.unpack(values))
  s.close(f(table.unpack(values)), type(want) == "userdata" and want.shape or {}, class)
  for _, node in ipairs(f.fgraph:toposort()) do assert.is_nil(tostring(node.op):find(class, 1, true), class) end
end

for _, stack in ipairs(stacks) do
  local fn = sparse[stack.name]
  describe(stack.name, function()
    for _, format in ipairs(s.formats) do
      local function stacked(...) return fn({ ... }, { format = format }) end
      it("stacks blocks as " .. format, function()
        for _, dtype in ipairs { "float32", "float64", "int8", "int64" } do
          for _, kinds in ipairs { { "plain" }, { "unsorted" }, { "duplicates" }, { "zeros" }, { "nnz0", "plain" } } do
            for _, own in ipairs { "csr", "csc", false } do
              local blocks = blocks_of(stack, dtype, own, 3, kinds)
              local got = s.check_value(stacked, blocks, stack.reference)
              assert.equal(format, got.format)
              assert.equal(dtype, got.dtype)
            end
          end
        end
        for _, kind in ipairs { "plain", "duplicates", "nnz0" } do
          for _, dtype in ipairs { "float32", "float64", "complex128" } do
            local block, other = table.unpack(blocks_of(stack, dtype, false, 2, { kind }))
            s.check_value(function(x, y) return stacked(x, x, x, y, y, x) end, { block, other }, function(x, y)
              return stack.reference(x, x, x, y, y, x)
            end)
          end
        end
        for _, dtype in ipairs { "complex64", "complex128", "bool" } do
          local blocks = blocks_of(stack, dtype, false, 2, { "plain" })
          local got = s.same_everywhere(stacked, blocks)[1]
          assert.equal(dtype, got.dtype)
          assert.equal(blocks[1].nnz + blocks[2].nnz, got.nnz)
        end
      end)

      it("has gradients, R_op and second derivatives as " .. format, function()
        for _, dtype in ipairs { "float64", "complex128" } do
          local blocks = blocks_of(stack, dtype, false, 3, { "plain", "unsorted" })
          s.check_grad(stacked, blocks)
          s.check_rop(stacked, blocks)
          local function squared(...) return sparse.square(stacked(...)) end
          s.check_second(squared, blocks, { tol = 1e-5 })
        end
      end)
    end

    it("gives csc by default, the common dtype, or the one asked for", function()
      local a, b = s.matrix { rows = 3, cols = 3, dtype = "float32" }, s.matrix { rows = 3, cols = 3, dtype = "int64" }
      assert.equal("csc", fn({ a, b }).format)
      assert.equal("float64", fn({ a, b }).dtype)
      assert.equal("int32", fn({ a, b }, { dtype = "int32" }).dtype)
      s.same_storage(fn({ a }, { format = "csr" }), a)
      local x, y = sparse.csr_fmatrix "x", sparse.csc_matrix("y", { dtype = "complex64" })
      assert.equal("complex64", fn({ x, y }).dtype)
    end)

    it("drops zeros from the gradient's blocks", function()
      local a = s.matrix { rows = 3, cols = 3 }
      local x, other = sparse.csr_matrix "x", sparse.csr_matrix "other"
      local y = fn({ x, other }, { format = "csr" })
      local cotangent = sparse.csr { data = damo.array { 0.0, 2.0 }, indices = { 0, 1 },
        indptr = stack.name == "hstack" and { 0, 1, 2, 2 } or { 0, 1, 2, 2, 2, 2, 2 },
        shape = stack.name == "hstack" and { 3, 6 } or { 6, 3 } }
      local g = damo.grad(nil, x, { known_grads = { [y] = damo.constant(cotangent) } })
      assert.equal(1, damo.compile({ x, other }, g, { on_unused_input = "ignore" })(a, a).nnz)
    end)

    it("has a shape that needs no values", function()
      check_shape(function(...) return fn { ... } end, blocks_of(stack, "float64", false, 3, { "plain" }), "Stack")
    end)

    it("accepts empty blocks", function()
      for _, format in ipairs(s.formats) do
        local none = sparse.from_dense(damo.zeros({ 0, 0 }), format)
        assert.same({ 0, 0 }, fn({ none, none }, { format = format }).shape)
        local flat = stack.name == "hstack" and { 3, 0 } or { 0, 3 }
        local a = s.matrix { rows = 3, cols = 3 }
        s.close(fn({ sparse.from_dense(damo.zeros(flat), format), a }), sparse.toarray(a))
      end
    end)

    it("works on huge axes", function()
      for _, format in ipairs(s.formats) do
        local long = (format == "csr") == (stack.name == "vstack") and 4 or 33
        local rows, cols = long, 4
        if stack.name == "hstack" then rows, cols = 4, long end
        if long == 4 then rows, cols = format == "csr" and 4 or 33, format == "csr" and 33 or 4 end
        local a = s.huge { format = format, rows = rows, cols = cols }
        local got = fn({ a, a }, { format = format })
        assert.equal(2 * a.nnz, got.nnz)
        local axis = stack.name == "hstack" and 2 or 1
        assert.equal(2 * a.shape[axis], got.shape[axis])
      end
    end)

    it("refuses wrong arguments", function()
      local a, wrong = s.matrix { rows = 3, cols = 3 }, s.matrix { rows = 4, cols = 4 }
      local class = stack.name == "hstack" and "HStack" or "VStack"
      s.raises("value", ("sparse.%s: there are no blocks"):format(stack.name), function() fn {} end)
      s.raises("value", class .. ": the format is 'csc' or 'csr', not 'rows'",
        function() fn({ a }, { format = "rows" }) end)
      s.raises("type", class .. ": operand 2 must be sparse, got TensorType(float64, shape=(1, 1)); "
        .. "damo.sparse.csr_from_dense(x) makes it sparse",
        function() fn { a, damo.array { { 1.0 } } } end)
      s.raises("shape", nil, function() fn { a, wrong } end)
      local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
      local lines = stack.name == "hstack" and "rows" or "columns"
      s.raises("shape", ("%s: block 2 has 4 %s, block 1 has 3"):format(class, lines),
        function() damo.compile({ x, y }, fn { x, y })(a, wrong) end)
    end)
  end)
end

describe("stacking by the tensor functions", function()
  it("takes sparse operands, in the first one's format", function()
    local a, b = s.matrix { format = "csr" }, s.matrix { format = "csc", seed = 9 }
    s.same_storage(damo.hstack { a, b }, sparse.hstack { a, b })
    s.same_storage(damo.vstack { a, b }, sparse.vstack { a, b })
    s.same_storage(damo.concatenate({ a, b }, { axis = 2 }), sparse.hstack({ a, b }, { format = "csr" }))
    s.same_storage(damo.join(1, { b, a }), sparse.vstack({ b, a }, { format = "csc" }))
    s.raises("index", nil, function() damo.concatenate({ a, b }, { axis = 3 }) end)
  end)

  it("has Op classes", function()
    local x = sparse.csr_matrix "x"
    local y = sparse.HStack { format = "csr", dtype = "float64" }(x, x)
    assert.equal("HStack", y.owner.op.name)
    assert.equal("csr", y.format)
    assert.equal("VStack", sparse.VStack {}(x, x).owner.op.name)
  end)
end)
