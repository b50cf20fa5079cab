-- damo.Mode{reproducible = true}: the same bits for every instruction set, number of threads, with and without machine
-- code, whatever rounding mode the host has; and what it refuses.
local damo = require "damo"
local failure = require "spec.support.failure"

local mode = damo.Mode { reproducible = true }

-- Lines of the models under these settings, or nil where the CPU lacks the instruction set.
local function lines_of(isa, words)
  local pipe = assert(io.popen(("DAMO_ISA=%s %s spec/support/reproducible_models.lua %s 2>&1"):format(isa,
    arg and arg[-1] or "lua5.4", words or "")))
  local kernels, text = pipe:read "*l", pipe:read "*a"
  pipe:close()
  if kernels ~= isa then
    assert.is_true(kernels == "sse2" or kernels == "avx2" or kernels == "avx512" or kernels == "neon", kernels)
    return nil
  end
  return text
end

describe("Mode reproducible", function()
  it("gives the same bits for every instruction set, 1 and 4 threads, with and without machine code", function()
    local first, n
    for _, isa in ipairs { "sse2", "avx2", "avx512", "neon" } do
      for _, words in ipairs { "1", "4 nojit" } do
        local text = lines_of(isa, words)
        if text then
          first = first or text
          n = select(2, text:gsub("\n", ""))
          assert.equal(first, text, isa .. " " .. words)
        end
      end
    end
    assert.is_true(n >= 40)
  end)

  it("refuses by name what a library computes", function()
    local A, x = damo.dmatrix "A", damo.dvector "x"
    local S = damo.sparse.csr_matrix "S"
    for name, y in pairs {
      Cholesky = damo.linalg.cholesky(A), Solve = damo.linalg.solve(A, x), MatrixInverse = damo.linalg.inv(A),
      SVD = damo.linalg.svd(A), EigenvaluesHermitian = damo.linalg.eigh(A), QR = damo.linalg.qr(A),
      Expm = damo.linalg.expm(A), Det = damo.linalg.det(A), psi = damo.psi(x),
      gammainc = damo.gammainc(x, x), Factorize = damo.sparse.solve(S, x),
    } do
      local e = failure("not_implemented", damo.compile, { A, x, S }, { y },
        { mode = mode, on_unused_input = "ignore" })
      assert.truthy(e.message:find(name, 1, true), e.message)
      damo.compile({ A, x, S }, { y }, { on_unused_input = "ignore" })
    end
  end)

  it("refuses it inside of scans and inner graphs, fused, and in constants, when compiling", function()
    local x = damo.dvector "x"
    local inner = damo.scan(function(h) return damo.psi(h) + 1 end, { outputs_info = x, n_steps = 3 })
    local op = damo.graph.OpFromGraph({ x }, { damo.tri_gamma(x) })
    local m = damo.constant { { 2.0, 1 }, { 1, 3 } }
    for name, y in pairs {
      psi = inner, tri_gamma = op(x), erfinv = damo.sin(x) + damo.erfinv(damo.tanh(x)),
      Solve = damo.dot(damo.linalg.inv(m), x[{ { 1, 2 } }]),
    } do
      local e = failure("not_implemented", damo.compile, { x }, { y }, { mode = mode })
      assert.truthy(e.message:find(name, 1, true), e.message)
    end
  end)

  it("belongs to one Function: others over the same graph are as they were", function()
    local x = damo.dvector "x"
    local h = damo.scan(function(h) return damo.sin(h) * 1.5 end, { outputs_info = x, n_steps = 30 })
    local value = damo.linspace(0.1, 3, 1000)
    local plain = damo.compile({ x }, { h[-1], damo.exp(x) })
    local before, before_exp = plain(value)
    local same = damo.compile({ x }, { h[-1], damo.exp(x) }, { mode = mode })
    local first, first_exp = same(value)
    for _ = 1, 3 do
      local a, b = plain(value)
      assert.is_true(damo.array_equal(before, a) and damo.array_equal(before_exp, b))
      a, b = same(value)
      assert.is_true(damo.array_equal(first, a) and damo.array_equal(first_exp, b))
    end
    assert.is_true(damo.allclose(before, first, { rtol = 1e-9 }))
    local copy = same:copy()
    assert.is_true(damo.array_equal(first, (copy(value))))
    -- an eager call is in no mode
    assert.is_true(damo.array_equal(before_exp, damo.exp(value)))
  end)

  it("holds in slices, for copies by tokens, probes and modes that look on, beside calls of other Functions", function()
    local x = damo.dvector "x"
    local h = damo.scan(function(h) return damo.sin(h) * 1.3 + damo.exp(-h * h) end, { outputs_info = x, n_steps = 20 })
    local outputs = { damo.tanh(h[-1]), damo.sum(damo.exp(x)), damo.dot(x, x) }
    local f, other = damo.compile({ x }, outputs, { mode = mode }), damo.compile({ x }, outputs)
    local value = damo.linspace(-1, 1, 4001)
    local want, others = { f(value) }, { other(value) }
    local function is(expected, ...)
      for i, y in ipairs { ... } do assert.is_true(damo.array_equal(expected[i], y), i) end
    end
    local run = f:start(value)
    while not run:step(50) do is(others, other(value)) end
    is(want, run:result())
    is(want, damo.from_token(f:token())(value))
    is(others, damo.from_token(other:token())(value))
    is(want, f:probe(outputs[1])(value))
    for _, linker in ipairs { "debug", "nanguard" } do
      is(want, damo.compile({ x }, outputs, { mode = damo.Mode { linker = linker, reproducible = true } })(value))
    end
    is(others, other(value))
  end)

  it("holds for functions that an Op of a script calls with values", function()
    local types = { damo.TensorType("float64", { ndim = 1 }) }
    local op = damo.Op { name = "Both", itypes = types, otypes = types,
      perform = function(_, _, inputs, output_storage)
        local y = damo.exp(inputs[1])
        for _ = 1, 5 do y = damo.exp(inputs[1]) end -- a frame kept for calls with values has the default's kernels
        output_storage[1][1] = y
      end }
    local x = damo.dvector "x"
    local value = damo.linspace(-3, 3, 1001)
    for _ = 1, 5 do damo.exp(value) end
    local want = damo.compile({ x }, damo.exp(x), { mode = mode })(value)
    assert.is_true(damo.array_equal(want, damo.compile({ x }, op(x), { mode = mode })(value)))
    local refused = damo.Op { name = "Refused", itypes = types, otypes = types,
      perform = function(_, _, inputs, output_storage) output_storage[1][1] = damo.psi(inputs[1]) end }
    local f = damo.compile({ x }, refused(x), { mode = mode })
    assert.truthy(failure("not_implemented", f, value).message:find("psi", 1, true))
    assert.is_true(damo.array_equal(damo.psi(value ^ 2 + 1), damo.compile({ x }, refused(x))(value ^ 2 + 1)))
  end)

  it("checks its field", function()
    failure("type", damo.Mode, { reproducible = 1 })
  end)
end)
