-- Exponentials, logarithms and square roots of matrices.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function message(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok)
  return err.message, err.kind
end
local function close(x, y, tol) assert.is_true(damo.allclose(x, y, { rtol = tol or 1e-12, atol = tol or 1e-13 })) end

describe("expm", function()
  for kind, a in pairs { real = h.random({ 3, 3 }, 3), complex = h.complex(h.random({ 3, 3 }, 3)) } do
    -- one size for each degree of the approximant, and for squarings
    for _, size in ipairs { 0.003, 0.05, 0.3, 1, 8 } do
      h.case(("of a %s matrix of size %g"):format(kind, size), linalg.expm, { size * a }, { second = size == 1 })
      it(("of a %s matrix of size %g is its series"):format(kind, size), function()
        -- 2^8 squarings of the series of the matrix / 2^8
        local x = size / 256 * a
        local sum, term = damo.eye(3) + x, x
        for k = 2, 20 do
          term = damo.dot(term, x) / k
          sum = sum + term
        end
        for _ = 1, 8 do sum = damo.dot(sum, sum) end
        close(linalg.expm(size * a), sum, 1e-11)
      end)
    end
    h.case("of a stack, " .. kind, linalg.expm, { damo.stack { a, 2 * a } }, { second = false })
  end

  it("has closed forms", function()
    local angle = 20 * math.pi + 1
    close(linalg.expm(damo.array { { 0, -angle }, { angle, 0 } }), damo.array { { math.cos(1), -math.sin(1) }, { math.sin(1), math.cos(1) } }, 1e-12)
    close(linalg.expm(damo.array { { 0, 1, 2 }, { 0, 0, 3 }, { 0, 0, 0 } }), damo.array { { 1, 1, 3.5 }, { 0, 1, 3 }, { 0, 0, 1 } })
    close(linalg.expm(damo.array { { 1, 1e6 }, { 0, -1 } }), damo.array { { math.exp(1), 1e6 * (math.exp(1) - math.exp(-1)) / 2 }, { 0, math.exp(-1) } })
    close(linalg.expm(damo.diag(damo.array { -700, 0, 700 })), damo.diag(damo.exp(damo.array { -700, 0, 700 })), 1e-12)
    assert.is_true(damo.array_equal(linalg.expm(damo.zeros { 2, 2 }), damo.eye(2)))
  end)

  it("keeps dtypes, takes empty matrices, and tells what is wrong", function()
    assert.equal("float32", linalg.expm(damo.eye(2, { dtype = "float32" })).dtype)
    assert.equal("float64", linalg.expm(damo.array({ { 1 } }, "int8")).dtype)
    assert.same({ 3, 0, 0 }, linalg.expm(damo.zeros { 3, 0, 0 }).shape)
    assert.equal("expm: the exponential is too large", (message(linalg.expm, damo.array { { 1000 } })))
    assert.equal("expm: the matrix has an entry that is nan or infinite", (message(linalg.expm, damo.array { { 0 / 0 } })))
    assert.equal("shape", select(2, message(linalg.expm, damo.ones { 2, 3 })))
  end)
end)

describe("a root", function()
  local cases = {
    ["of a positive definite matrix"] = h.positive({ 4, 4 }, 3),
    ["of a real matrix with complex eigenvalues"] = damo.array { { 1, -2, 0 }, { 2, 1, 0.5 }, { 0, 0.3, 4 } },
    ["of a complex matrix"] = h.complex(h.regular({ 3, 3 }, 2)),
    ["of a stack"] = h.positive({ 2, 2, 2 }, 5),
    ["of a matrix far from the identity"] = 1e6 * h.positive({ 3, 3 }, 7),
  }
  for name, a in pairs(cases) do
    local o = { second = not name:find "far" }
    h.case("(sqrtm) " .. name, linalg.sqrtm, { a }, o)
    h.case("(logm) " .. name, linalg.logm, { a }, o)
    it("and its inverse " .. name, function()
      local s = linalg.sqrtm(a)
      close(damo.matmul(s, s), a, 1e-10)
      close(linalg.expm(linalg.logm(a)), a, 1e-10)
    end)
  end

  it("has closed forms", function()
    close(linalg.logm(damo.array { { 1, 1 }, { 0, 1 } }), damo.array { { 0, 1 }, { 0, 0 } })
    close(linalg.logm(damo.array { { 1e-20, 0 }, { 0, 1e20 } }), damo.diag(damo.log(damo.array { 1e-20, 1e20 })))
    close(linalg.sqrtm(damo.array { { 1, 1 }, { 1, 1 } }), damo.ones { 2, 2 } / math.sqrt(2))
    close(linalg.sqrtm(damo.zeros { 2, 2 }), damo.zeros { 2, 2 })
    local turn = damo.complex(damo.array { { -1, 0 }, { 0, 4 } }, damo.zeros { 2, 2 })
    close(damo.imag(linalg.logm(turn)), damo.array { { math.pi, 0 }, { 0, 0 } })
    close(damo.imag(linalg.sqrtm(turn)), damo.array { { 1, 0 }, { 0, 0 } })
  end)

  it("that does not exist, or is complex, is told", function()
    assert.equal("logm: the matrix is singular: it has no logarithm", (message(linalg.logm, damo.ones { 2, 2 })))
    assert.equal("sqrtm: the matrix is singular and has no square root", (message(linalg.sqrtm, damo.array { { 0, 1 }, { 0, 0 } })))
    assert.equal("logm: a real matrix has a negative eigenvalue, so its logarithm is complex: make it complex first", (message(linalg.logm, -damo.eye(2))))
    assert.equal("numeric", select(2, linalg.sqrtm(-damo.eye(2), { on_fail = "return" })).kind)
    assert.equal("float32", linalg.sqrtm(damo.eye(2, { dtype = "float32" })).dtype)
    assert.same({ 0, 0 }, linalg.logm(damo.zeros { 0, 0 }).shape)
  end)
end)
