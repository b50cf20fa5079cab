-- The pieces of a call in slices: every op function is cut into pieces whose number grows with its operands.
--
-- A step with a budget of 0 computes one piece, so pieces are counted, and no time is measured: a call on operands of
-- N entries has at least N / MOST pieces, and fewer than SURE of them are more than those of a call on a quarter. What
-- is one piece is listed below, with the reason, and in docs/frames.md.
local damo = require "damo"
local calls = require "spec.support.large_calls"

local unpack = table.unpack or unpack -- luacheck: ignore 113 143
local N, MOST, SURE = 65536, 16384, 6

-- Functions that take no time for their operands: views, and what reads lengths alone.
local constant = {}
for name in ("real broadcast_to broadcast_arrays broadcast_shape shape shape_i size flatten ravel transpose "
  .. "matrix_transpose dimshuffle expand_dims squeeze moveaxis swapaxes atleast_1d atleast_2d atleast_3d "
  .. "atleast_Nd diagonal specify_broadcastable specify_shape unbroadcast split vsplit hsplit dsplit "
  .. "subtensor unpack identity disconnected_grad zero_grad consider_constant grad_clip grad_scale "
  .. "positive second conj conjugate empty linalg.tensorsolve linalg.tensorinv linalg.trace trace "
  .. "linalg.orth roots diag empty_like indices sparse.csm_data sparse.csm_indices sparse.csm_indptr "
  .. "sparse.csm_shape sparse.csm_properties sparse.get_shape sparse.size sparse.nnz "
  .. "sparse.get_item_scalar sparse.transpose sparse.with_data sparse.identity sparse.sp_zeros_like "
  .. "sparse.zeros_like"):gmatch "%S+" do
  constant[name] = true
end

-- One call of BLAS or LAPACK, or one factorization, does the work.
local library = {}
for name in ("dot matmul tensordot outer inner vdot vecdot matvec vecmat dense_layer polyfit linalg.matrix_dot "
  .. "linalg.multi_dot linalg.solve_banded linalg.cholesky_banded linalg.cho_solve_banded linalg.solveh_banded "
  .. "linalg.null_space sparse.factorize sparse.rcond sparse.solve sparse.solve_t "
  .. "sparse.logdet sparse.slogdet sparse.det sparse.lstsq"):gmatch "%S+" do
  library[name] = true
end

local function pieces(row, n)
  local call = assert(calls.of(row, n), row.name .. " has no call")
  local inputs, outputs, values = calls.graph(call)
  local run = damo.compile(inputs, outputs, { on_unused_input = "ignore" }):start(unpack(values))
  local count = 0
  repeat
    count = count + 1
  until run:step(0)
  return count
end

-- Functions with loops that take some nanoseconds for an entry: so many pieces at least.
local fine = { ["sparse.structured_dot"] = 700, ["sparse.power"] = 700, ["sparse.kron"] = 440, ["sparse.find"] = 70,
  ["sparse.nonzero"] = 62, ["sparse.permute"] = 50, cbrt = 60, arctanh = 50, partition = 180, ["nn.conv1d"] = 15,
  ["nn.conv2d"] = 30, ["nn.conv2d_transpose"] = 36, ["nn.conv3d"] = 60 }

describe("a call in slices", function()
  local families, list = {}, {}
  for _, row in ipairs(require("damo.core").registry()) do
    local family = row.name:match "^(.-)%." or "damo"
    if not families[family] then
      families[family] = {}
      list[#list + 1] = family
    end
    if not constant[row.name] and not library[row.name] and calls.has(row) then
      table.insert(families[family], row)
    end
  end
  for _, family in ipairs(list) do
    it("has pieces in proportion to its operands: " .. family, function()
      local few = {}
      for _, row in ipairs(families[family]) do
        local count = pieces(row, N)
        if count < (fine[row.name] or N / MOST) or (count < SURE and pieces(row, math.floor(N / 4)) >= count) then
          few[#few + 1] = ("%s: %d"):format(row.name, count)
        end
        collectgarbage()
      end
      assert.equal("", table.concat(few, ", "))
    end)
  end

  it("cuts functions of complex numbers by what they take", function()
    local z = damo.zvector "z"
    local value = damo.cast(damo.linspace(0, 1, N), "complex128")
    for _, name in ipairs { "exp", "log", "sqrt", "tanh", "cosh", "arcsin" } do
      local run, count = damo.compile({ z }, damo[name](z)):start(value), 0
      repeat count = count + 1 until run:step(0)
      assert.is_true(count >= N / 1000, ("%s: %d"):format(name, count))
    end
  end)

  -- The number of steps of one piece until the call fails; the error.
  local function steps_to_error(run)
    local steps, ok, err = 0, true, false
    while ok and not err do
      ok, err = pcall(run.step, run, 0)
      steps = steps + 1
    end
    assert.is_false(ok)
    return steps, err
  end

  it("reads a list of positions in parts, so that one that is outside is met in a later step", function()
    local x, rows, cols = damo.sparse.csr_matrix "x", damo.lvector "rows", damo.lvector "cols"
    local m, good = damo.sparse.eye(10), damo.ones({ N }, "int64")
    local bad = good:copy()
    bad[N] = 11
    for _, lists in ipairs { { bad, good }, { good, bad } } do
      local f = damo.compile({ x, rows, cols }, damo.sparse.get_item_2lists(x, rows, cols))
      local steps, err = steps_to_error(f:start(m, unpack(lists)))
      assert.equal("index", err.kind)
      assert.is_true(steps >= N / 8192, tostring(steps))
    end
  end)

  it("converts the stored values of a draw in parts, before it looks at the first", function()
    local x = damo.sparse.csr_fmatrix "x"
    local mean = -1 * damo.sparse.eye(N, { dtype = "float32", format = "csr" })
    local steps, err = steps_to_error(damo.compile({ x }, damo.sparse.poisson(x)):start(mean))
    assert.equal("value", err.kind)
    assert.is_true(steps >= N / MOST, tostring(steps))
  end)
end)
