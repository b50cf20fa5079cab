-- Small matrices of a stack are computed in SIMD lanes, a single matrix by LAPACK: both agree, for every size, and with
-- every number of threads to the bit.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local COUNT = 75 -- two blocks of lanes, and a part of one

local function one(stack, k) return stack[{ k }] end

--- fn of the stack agrees with fn of each entry.
local function check(name, fn, operands, tol)
  local results = table.pack(fn(table.unpack(operands)))
  for k = 1, COUNT, 7 do
    local own = {}
    for i, v in ipairs(operands) do own[i] = one(v, k) end
    local singles = table.pack(fn(table.unpack(own)))
    for i = 1, results.n do
      assert.is_true(damo.allclose(one(results[i], k), singles[i], { rtol = tol, atol = tol }), ("%s, entry %d, result %d"):format(name, k, i))
    end
  end
end

describe("small matrices", function()
  for n = 1, 8 do
    for _, dtype in ipairs { "float32", "float64" } do
      local tol = dtype == "float32" and 2e-4 or 1e-11
      it(("agree with LAPACK: %d × %d, %s"):format(n, n, dtype), function()
        local a = damo.cast(h.random({ COUNT, n, n }, 3 + n) + 2 * damo.eye(n), dtype)
        local c = damo.cast(h.positive({ COUNT, n, n }, 5), dtype)
        local b, v = damo.cast(h.random({ COUNT, n, 3 }, 6), dtype), damo.cast(h.random({ COUNT, n }, 7), dtype)
        for trans = 0, 1 do
          check("solve", function(x, y) return linalg.solve(x, y, { trans = trans }) end, { a, b }, tol)
          check("solve of vectors", function(x, y) return linalg.solve(x, y, { trans = trans, b_ndim = 1 }) end, { a, v }, tol)
          for _, lower in ipairs { true, false } do
            for _, unit in ipairs { true, false } do
              check("solve_triangular", function(x, y)
                return linalg.solve_triangular(x, y, { trans = trans, lower = lower, unit_diagonal = unit })
              end, { a, b }, 50 * tol)
            end
          end
          check("lu_solve", function(x, y)
            local lu, pivots = linalg.lu_factor(x)
            return lu, pivots, linalg.lu_solve(lu, pivots, y, { trans = trans })
          end, { a, b }, tol)
        end
        check("inv", linalg.inv, { a }, tol)
        check("det", linalg.det, { a }, 10 * tol)
        check("slogdet", linalg.slogdet, { a }, tol)
        check("cholesky", linalg.cholesky, { c }, tol)
        check("cholesky, upper", function(x) return linalg.cholesky(x, { lower = false }) end, { c }, tol)
      end)
    end
  end

  h.case("have derivatives", linalg.solve, { h.regular({ 40, 3, 3 }, 3), h.random({ 40, 3, 2 }, 4) })
  h.case("have derivatives of factors", linalg.cholesky, { h.positive({ 40, 3, 3 }, 3) })
  h.case("share one matrix", linalg.solve, { h.regular({ 3, 3 }, 3), h.random({ 40, 3, 2 }, 4) })
  h.case("share factors", function(a, b) return linalg.solve(a, b) * damo.reshape(linalg.det(a), { -1, 1, 1 }) end,
    { h.regular({ 40, 3, 3 }, 3), h.random({ 40, 3, 2 }, 4) })
  h.case("lie anywhere", function(a, b) return linalg.solve(damo.dimshuffle(a, { 3, 1, 2 }), b) end,
    { damo.dimshuffle(h.regular({ 40, 3, 3 }, 3), { 2, 3, 1 }):copy(), h.random({ 40, 3, 2 }, 4) }, { second = false })

  it("fail one by one", function()
    local a = h.regular({ COUNT, 3, 3 }, 3)
    a[{ 41 }] = damo.ones { 3, 3 }
    a[{ 70 }] = damo.zeros { 3, 3 }
    local b = h.random({ COUNT, 3, 1 }, 4)
    assert.equal("solve: the matrix is singular: pivot 2 is 0 (entry (41,) of the leading axes)", select(2, pcall(linalg.solve, a, b)).message)
    assert.equal("inv: the matrix is singular: pivot 2 is 0 (entry (41,) of the leading axes)", select(2, pcall(linalg.inv, a)).message)
    local x = linalg.solve(a, b, { on_fail = "nan" })
    for k = 1, COUNT do
      assert.equal(k == 41 or k == 70, x[{ k, 1, 1 }] ~= x[{ k, 1, 1 }], k)
    end
    assert.equal(0, linalg.det(a)[41])
    local sign, log = linalg.slogdet(a)
    assert.same({ 0, -math.huge }, { sign[70], log[70] })
    local c = damo.concatenate { h.positive({ 40, 3, 3 }, 3), damo.reshape(-1 * damo.eye(3), { 1, 3, 3 }) }
    assert.is_truthy(select(2, pcall(linalg.cholesky, c)).message:find("leading minor of order 1 is not positive (entry (41,)", 1, true))
    assert.equal("index", select(2, pcall(linalg.lu_solve, a, damo.zeros({ COUNT, 3 }, { dtype = "int64" }), b)).kind)
  end)

  it("take pivots that swap a row with an earlier one", function()
    local lu, pivots = damo.array { { 2, 1 }, { 0.5, 3 } }, damo.array({ 1, 1 }, "int64")
    local alone, b = linalg.lu_solve(lu, pivots, damo.array { 1, 5 }), damo.array { { 1, 5 }, { 1, 5 } }
    assert.same({ 2.75, -0.5 }, { alone[1], alone[2] })
    local x = linalg.lu_solve(damo.stack { lu, lu }, damo.stack { pivots, pivots }, b, { b_ndim = 1 })
    assert.same({ 2.75, -0.5 }, { x[{ 2, 1 }], x[{ 2, 2 }] })
  end)

  it("whose determinants leave the range are computed with care", function()
    local big = damo.stack { damo.eye(4) * damo.array { 1e200, 1e200, 1e-200, 1e-200 }, damo.eye(4) }
    assert.is_true(damo.allclose(linalg.det(big), damo.array { 1, 1 }))
  end)

  it("have the same bits with any number of threads", function()
    local before = damo.config.threads
    local a, b = h.regular({ 5000, 3, 3 }, 3), h.random({ 5000, 3, 2 }, 4)
    local x = linalg.solve(a, b)
    damo.config.threads = 3
    local y = linalg.solve(a, b)
    damo.config.threads = before
    assert.is_true(damo.array_equal(x, y))
    assert.is_true(damo.array_equal(x[{ { 1, 40 } }], linalg.solve(a[{ { 1, 40 } }], b[{ { 1, 40 } }])))
  end)
end)
