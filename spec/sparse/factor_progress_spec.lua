-- The option progress of factorize: what is told of a factorization on its way.
local damo = require "damo"
local failure = require "spec.support.failure"

local sparse = damo.sparse
local matrices = {
  ["a positive definite"] = sparse.csc { { 4, 1 }, { 1, 3 } },
  ["an indefinite"] = sparse.csr { { 1, 2 }, { 2, 1 } }, -- Cholesky gives way to LU
  ["an unsymmetric"] = sparse.csc { { 4, 1 }, { 2, 3 } },
  ["a complex"] = sparse.csc(damo.complex(damo.eye(2), damo.ones { 2, 2 })),
}

local function told(A, options)
  local stages = {}
  options.progress = function(stage, n) stages[#stages + 1] = stage .. "/" .. n end
  local F, err = sparse.factorize(A, options)
  return table.concat(stages, " "), F, err
end

describe("the progress of a factorization", function()
  for name, A in pairs(matrices) do
    it("of " .. name .. " matrix has three stages, each told once", function()
      local stages, F = told(A, {})
      assert.equal("1/3 2/3 3/3", stages)
      local b = damo.array({ 1, 2 }, "float64")
      assert.is_true(damo.allclose(damo.dot(A, F:solve(b)), b))
      assert.equal(sparse.factorize(A).kind, F.kind)
    end)
  end

  it("passes the other options on", function()
    local stages, F = told(matrices["a positive definite"], { assume = "gen" })
    assert.equal("lu", F.kind)
    assert.equal("1/3 2/3 3/3", stages)
    local early, nothing, err = told(matrices["an indefinite"], { assume = "pos", on_fail = "return" })
    assert.equal("1/3 2/3", early)
    assert.is_nil(nothing)
    assert.equal("numeric", err.kind)
    failure("numeric", told, matrices["an indefinite"], { assume = "pos" })
    failure("value", told, matrices["an indefinite"], { asume = "pos" })
    assert.equal("lu", sparse.factorize(matrices["an unsymmetric"], { progress = false }).kind)
  end)

  it("may be a bar, elsewhere than on a terminal a line now and then on standard error", function()
    local code = "local s = require 'damo'.sparse s.factorize(s.eye(9), {progress = true})"
    local pipe = assert(io.popen(("'%s' -e \"%s\" 2>&1"):format(arg[-1] or "lua", code)))
    local out = pipe:read "*a"
    pipe:close()
    assert.truthy(out:find("factorize 3/3", 1, true), out)
  end)

  it("is ended by an error of the function, with the factors dropped", function()
    local function bytes() -- without what a collection would free
      collectgarbage()
      collectgarbage()
      return damo.memory().bytes
    end
    local before = bytes()
    local err = failure("callback", sparse.factorize, matrices["an unsymmetric"], {
      progress = function(stage) if stage == 2 then error "enough" end end,
    })
    assert.truthy(err.message:find("enough", 1, true))
    assert.equal(before, bytes())
  end)

  it("may use damo itself", function()
    local seen
    sparse.factorize(matrices["a complex"], { progress = function()
      seen = sparse.factorize(matrices["an unsymmetric"]):solve(damo.ones { 2 })
    end })
    assert.is_true(damo.allclose(seen, damo.array { 0.2, 0.2 }))
  end)

  it("is of values alone", function()
    failure("type", sparse.factorize, sparse.csr_matrix "A", { progress = print })
    failure("type", sparse.factorize, matrices["an unsymmetric"], { progress = 3 })
  end)
end)
