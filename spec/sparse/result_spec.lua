-- Results of a compiled Function that have a given pattern with the values of another node: the caller owns each,
-- whatever
-- later calls, other results and updates do.

local damo = require "damo"
local sparse = damo.sparse

local function matrix(scale)
  return sparse.from_dense(damo.array { { 0, 1, 2 }, { 3, 0, 0 }, { 0, 0, 4 } } * scale, "csr")
end

local function values(m) return (m.data or m):totable() end

local function exps(scale)
  local list = {}
  for k = 1, 4 do list[k] = math.exp(k * scale) end
  return list
end

local function near(expected, got)
  assert.equal(#expected, #got)
  for k, e in ipairs(expected) do assert.near(e, got[k], 1e-12 * math.abs(e)) end
end

describe("a sparse result", function()
  local a = sparse.csr_matrix "a"
  local y = sparse.structured_exp(a)

  for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
    it("is not changed by later calls, " .. mode, function()
      local f = damo.compile({ a }, y, { mode = mode })
      local first = f(matrix(1))
      local second = f(matrix(0.5))
      near(exps(1), values(first))
      near(exps(0.5), values(second))
      first.data[1] = -1
      near(exps(0.5), values(second))
      local third = f(matrix(0.25))
      assert.equal(-1, values(first)[1])
      near(exps(0.5), values(second))
      near(exps(0.25), values(third))
    end)

    it("shares no memory with another result, " .. mode, function()
      for _, outputs in ipairs {
        { y, sparse.csm_data(y) }, { sparse.csm_data(y), y }, { y, y }, { y, sparse.transpose(y) },
        { sparse.neg(y), sparse.transpose(sparse.neg(y)) },
      } do
        local f = damo.compile({ a }, outputs, { mode = mode })
        local one, two = f(matrix(1))
        local before = values(two)
        local data = one.data or one
        data[1] = 100
        assert.same(before, values(two))
        data = two.data or two
        data[2] = -100
        assert.is_true(values(one)[2] ~= -100)
        near({ table.unpack(before, 2) }, { table.unpack(values((select(2, f(matrix(1))))), 2) })
      end
    end)

    it("shares no memory with an argument, " .. mode, function()
      for _, output in ipairs { a, sparse.transpose(a), sparse.with_data(a, sparse.csm_data(a)) } do
        local A = matrix(1)
        local r = damo.compile({ a }, output, { mode = mode })(A)
        r.data[1] = 100
        assert.same({ 1, 2, 3, 4 }, values(A))
      end
    end)

    it("shares no memory with a shared variable that is updated with it, " .. mode, function()
      local s = damo.shared(matrix(1), "s")
      local new = sparse.structured_exp(s)
      local f = damo.compile({}, new, { updates = { [s] = new }, mode = mode })
      local r = f()
      near(exps(1), values(r))
      r.data[1] = 0
      near(exps(1), values(s:get_value()))
      f()
      assert.equal(0, values(r)[1])
      assert.near(math.exp(math.exp(1)), values(s:get_value())[1], 1e-12)
    end)
  end

  it("may be borrowed, and is then changed only by its reader", function()
    local f = damo.compile({ a }, damo.Out(y, { borrow = true }))
    near(exps(1), values(f(matrix(1))))
    near(exps(0.5), values(f(matrix(0.5))))
  end)
end)
