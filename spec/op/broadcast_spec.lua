-- An axis broadcasts if the operand's Type knows that its length is 1, in every op and mode; if the length turns out to
-- be 1 only at run time, the error says how to declare it.
local damo = require "damo"

local x, y, m = damo.dvector "x", damo.dvector "y", damo.dmatrix "m"
local t, u = damo.dtensor3 "t", damo.dtensor3 "u"
local k, rows, cols = damo.iscalar "k", damo.lvector "rows", damo.lvector "cols"
local mask = damo.tensor("mask", { dtype = "bool", shape = { false } })
local three, one = damo.array { 1, 2, 3 }, damo.ones { 1 }
local first, all = damo.array({ 1 }, "int64"), damo.array({ 1, 2, 3 }, "int64")

-- The expression, its inputs, their values: the last operand has a length of 1 that its Type does not know.
local cases = {
  add = { x + y, { x, y }, { three, one } },
  second = { damo.second(x, y), { x, y }, { three, one } },
  ["second, the other way"] = { damo.second(x, y), { x, y }, { one, three }, hint = "(1,)" },
  where = { damo.where(damo.gt(x, 0), x, y), { x, y }, { three, one } },
  clip = { damo.clip(x, y, 1), { x, y }, { three, one } },
  isclose = { damo.isclose(x, y), { x, y }, { three, one } },
  alloc = { damo.alloc(y, { shape = { k } }), { k, y }, { 3, one } },
  full = { damo.full({ 3 }, y), { y }, { one } },
  full_like = { damo.full_like(x, y), { x, y }, { three, one } },
  broadcast_to = { damo.broadcast_to(y, { shape = { k } }), { k, y }, { 3, one } },
  set = { x:set({ { 1, 3 } }, y), { x, y }, { three, one } },
  inc = { x:inc({ {} }, y), { x, y }, { three, one } },
  ["set, a column"] = { damo.set_subtensor(m[{ {}, 1 }], y), { m, y }, { damo.ones { 3, 3 }, one } },
  ["set by list"] = { x:set({ rows }, y), { x, y, rows }, { three, one, all } },
  ["inc by list"] = { x:inc({ rows }, y), { x, y, rows }, { three, one, all } },
  ["two lists"] = { m[{ rows, cols }], { m, rows, cols }, { damo.ones { 3, 3 }, all, first }, kind = "index" },
  ["a list and a mask"] = { m[{ rows, mask }], { m, rows, mask },
    { damo.ones { 3, 3 }, all, damo.array { true, false, false } }, kind = "index",
    hint = "a mask with one true entry" },
  matmul = { damo.matmul(t, u), { t, u }, { damo.ones { 1, 2, 2 }, damo.ones { 3, 2, 2 } } },
  einsum = { damo.einsum({ t, u }, { subscripts = "bij,bjk->bik" }), { t, u },
    { damo.ones { 1, 2, 2 }, damo.ones { 3, 2, 2 } }, hint = "do not agree" },
  normal = { damo.random.RandomStream(4):normal(x, y), { x, y }, { three, damo.ones { 1 } } },
}

describe("a length of 1 known only at run time does not broadcast in", function()
  for name, case in pairs(cases) do
    it(name, function()
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", damo.Mode { exclude = { "inexact" } } } do
        local f = damo.compile(case[2], case[1], { mode = mode })
        local ok, err = pcall(f, table.unpack(case[3]))
        assert.is_false(ok)
        assert.equal(case.kind or "shape", err.kind)
        local hint = "is 1, which broadcasts only where its Type says so; declare it: damo.tensor(name, {shape={1"
        assert.matches(case.hint or hint, err.message, 1, true)
      end
    end)
  end
end)

describe("a length of 1 that the Type knows broadcasts in", function()
  local row = damo.tensor("row", { dtype = "float64", shape = { 1 } })
  local at = damo.tensor("at", { dtype = "int64", shape = { 1 } })
  local wide = damo.tensor("wide", { dtype = "float64", shape = { 1, false, false } })
  for name, case in pairs {
    alloc = { damo.alloc(row, { shape = { k } }), { k, row }, { 3, one }, { 1, 1, 1 } },
    second = { damo.second(x, row), { x, row }, { three, one }, { 1, 1, 1 } },
    set = { x:set({ {} }, row), { x, row }, { three, one }, { 1, 1, 1 } },
    ["inc by list"] = { x:inc({ rows }, row), { x, row, rows }, { three, one, all }, { 2, 3, 4 } },
    ["two lists"] = { m[{ rows, at }], { m, rows, at }, { damo.ones { 3, 3 }, all, first }, { 1, 1, 1 } },
    matmul = { damo.sum(damo.matmul(wide, u), { axis = { 2, 3 } }), { wide, u },
      { damo.ones { 1, 2, 2 }, damo.ones { 3, 2, 2 } }, { 8, 8, 8 } },
    ["the gradient of alloc"] = { damo.grad(damo.sum(damo.alloc(row, { shape = { k } })), row), { k, row }, { 3, one },
      { 3 } },
    ["the gradient of set"] = { damo.grad(damo.sum(x:set({ {} }, row)), row), { x, row }, { three, one }, { 3 } },
  } do
    it(name, function()
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
        local f = damo.compile(case[2], case[1], { mode = mode, on_unused_input = "ignore" })
        assert.same(case[4], f(table.unpack(case[3])):totable())
      end
    end)
  end

  it("eager calls, where all lengths are known", function()
    assert.same({ 3, 3, 3 }, damo.full({ 3 }, damo.array { 3 }):totable())
    assert.same({ 2, 3, 4 }, (three + one):totable())
  end)
end)
