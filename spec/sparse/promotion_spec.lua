-- Two operands of different dtypes promote as in NumPy, whichever is sparse; each gradient has its operand's dtype.
local damo = require "damo"
local s = require "spec.sparse.support"
local failure = require "spec.support.failure"
local sparse = damo.sparse

local dtypes = { "bool", "int8", "int64", "float32", "float64", "complex64", "complex128" }

-- name → function, and makers of its operands of a dtype.
local function A(dtype) return s.matrix { rows = 4, cols = 5, dtype = dtype } end
local function At(dtype) return s.matrix { rows = 5, cols = 4, dtype = dtype, seed = 5 } end
local function D(dtype) return s.dense(4, 5, dtype) end
local function Dt(dtype) return s.dense(5, 4, dtype) end
local function v(dtype) return s.vector(5, dtype) end
local function w(dtype) return s.vector(4, dtype) end

local functions = {
  true_dot = { sparse.true_dot, A, At }, true_dot_dense = { sparse.true_dot, A, Dt },
  dense_true_dot = { sparse.true_dot, D, At }, dot = { sparse.dot, A, Dt }, dot_sparse = { sparse.dot, A, At },
  structured_dot = { sparse.structured_dot, A, Dt }, structured_dot_sparse = { sparse.structured_dot, A, At },
  matmul = { damo.matmul, D, At }, add = { sparse.add, A, A }, add_dense = { sparse.add, A, D },
  mul = { sparse.mul, A, A }, mul_dense = { sparse.mul, A, D }, add_s_s = { sparse.add_s_s, A, A },
  add_s_d = { sparse.add_s_d, A, D }, mul_s_s = { sparse.mul_s_s, A, A }, mul_s_d = { sparse.mul_s_d, A, D },
  col_scale = { sparse.col_scale, A, v },
  row_scale = { sparse.row_scale, A, w }, kron = { sparse.kron, A, A },
  hstack = { function(x, y) return sparse.hstack { x, y } end, A, A },
  vstack = { function(x, y) return sparse.vstack { x, y } end, A, A },
  block_diag = { function(x, y) return sparse.block_diag { x, y } end, A, A },
}
local names = {}
for name in pairs(functions) do names[#names + 1] = name end
table.sort(names)

-- The dtype of the sum of dense operands.
local function promoted(a, b) return damo.add(damo.zeros({ 1 }, a), damo.zeros({ 1 }, b)).dtype end
local function is_float(dtype) return dtype:find "float" ~= nil or dtype:find "complex" ~= nil end

describe("operands of two dtypes", function()
  for _, name in ipairs(names) do
    local fn, first, second = table.unpack(functions[name])

    it("promote in " .. name, function()
      for _, a in ipairs(dtypes) do
        for _, b in ipairs(dtypes) do
          local x, y, dtype = first(a), second(b), promoted(a, b)
          local got, what = fn(x, y), name .. " of " .. a .. " and " .. b
          assert.equal(dtype, got.dtype, what)
          s.close(got, s.flat(fn(damo.cast(x, dtype), damo.cast(y, dtype))), what, 1e-5)
        end
      end
    end)

    it("have gradients of their own dtypes in " .. name, function()
      for _, a in ipairs { "float32", "float64", "complex128" } do
        for _, b in ipairs { "float32", "float64", "complex64" } do
          local values = { first(a), second(b) }
          local vars = s.variables(values)
          local y, what = fn(vars[1], vars[2]), name .. " of " .. a .. " and " .. b
          local cost = damo.sum(damo.real(y.format and sparse.toarray(y, { structured = false }) or y))
          local gx, gy = table.unpack(damo.grad(cost, vars))
          assert.equal(a, gx.dtype, what)
          assert.equal(b, gy.dtype, what)
          local wide = { damo.cast(values[1], "complex128"), damo.cast(values[2], "complex128") }
          local wide_vars = s.variables(wide)
          local z = fn(wide_vars[1], wide_vars[2])
          cost = damo.sum(damo.real(z.format and sparse.toarray(z, { structured = false }) or z))
          local want = { damo.compile(wide_vars, damo.grad(cost, wide_vars), { on_unused_input = "ignore" })(
            wide[1], wide[2]) }
          for _, mode in ipairs(s.modes) do
            local f = damo.compile(vars, { gx, gy }, { mode = mode, on_unused_input = "ignore" })
            for i, g in ipairs { f(values[1], values[2]) } do
              local real = is_float(values[i].dtype) and not values[i].dtype:find "complex"
              s.close(g, s.flat(real and damo.real(want[i]) or want[i]), what .. " in " .. mode, 1e-4)
            end
          end
        end
      end
    end)
  end

  it("are refused by the functions of one vector, and of one pattern", function()
    for name, second in pairs { mul_s_v = v, structured_add_s_v = v, add_s_s_data = A } do
      failure("type", sparse[name], A "float64", second "float32")
      failure("type", sparse[name], s.variables { A "float64" }[1], second "float32")
    end
  end)

  it("are what true_dot takes", function()
    local c = sparse.true_dot(sparse.eye(2), sparse.eye(2):astype "float32")
    assert.equal("float64", c.dtype)
    assert.same({ { 1, 0 }, { 0, 1 } }, c:toarray():totable())
  end)
end)
