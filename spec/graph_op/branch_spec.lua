-- Branches in compiled programs: what runs, over random graphs, is what a lazy evaluation needs, once.
local damo = require "damo"

-- The same numbers on every Lua.
local state = 1
local function random(from, to)
  state = state * 16807 % 2147483647
  if not to then from, to = 1, from end
  return from + math.floor(state / 2147483647 * (to - from + 1))
end

local runs = {}
local Mark = damo.Op { -- x + i, and a note that i has run
  name = "Mark",
  make_node = function(self, x, i) return damo.Apply(self, { x, i }, { x.type() }) end,
  perform = function(_, _, inputs, storage)
    local i = inputs[2]:item()
    runs[i] = (runs[i] or 0) + 1
    storage[1][1] = inputs[1] + i
  end,
}

local Over = damo.Op { -- the same, written over x
  name = "Over",
  destroy_map = { [1] = { 1 } },
  make_node = function(self, x, i) return damo.Apply(self, { x, i }, { x.type() }) end,
  perform = function(_, _, inputs, storage)
    local x, i = inputs[1], inputs[2]:item()
    runs[i] = (runs[i] or 0) + 1
    x[1] = x[1] + i
    storage[1][1] = x
  end,
}

local Ask = damo.Op { -- a where c > 0, else b, by a thunk that asks for its inputs as it runs
  name = "Ask",
  make_node = function(self, c, a, b) return damo.Apply(self, { c, a, b }, { a.type() }) end,
  make_thunk = function(_, node, storage_map, compute_map)
    local c, out = storage_map[node.inputs[1]], storage_map[node.outputs[1]]
    return setmetatable({ lazy = true, inputs = {}, outputs = {} }, { __call = function()
      if not compute_map[node.inputs[1]][1] then return { 1 } end
      local k = c[1][1] > 0 and 2 or 3
      if not compute_map[node.inputs[k]][1] then return { k } end
      out[1] = storage_map[node.inputs[k]][1] + 0
    end })
  end,
}

-- A random graph over n inputs as rows { kind, operands… }: the last rows are likely to need many others.
local function random_rows(n, n_rows, asks)
  local rows = {}
  for i = 1, n do rows[i] = { kind = "input" } end
  local function any() return random(3) == 1 and random(#rows) or math.max(1, #rows - random(0, 5)) end
  for _ = 1, n_rows do
    local kind = random(10)
    if kind <= 4 then
      rows[#rows + 1] = { kind = random(3) == 1 and "over" or "mark", any() }
    elseif kind <= 6 then
      rows[#rows + 1] = { kind = "add", any(), any() }
    else
      rows[#rows + 1] = { kind = asks and random(4) == 1 and "ask" or "choose", any(), any(), any() }
    end
  end
  return rows
end

local function build(rows, inputs)
  local v = {}
  for i, r in ipairs(rows) do
    if r.kind == "input" then
      v[i] = inputs[i]
    elseif r.kind == "mark" then
      v[i] = Mark(v[r[1]], damo.constant(i))
    elseif r.kind == "over" then
      v[i] = Over(v[r[1]], damo.constant(i))
    elseif r.kind == "add" then
      v[i] = v[r[1]] - 2 * v[r[2]]
    elseif r.kind == "ask" then
      v[i] = Ask(v[r[1]], v[r[2]], v[r[3]])
    else
      v[i] = damo.ifelse(damo.gt(damo.sum(v[r[1]]), 0), v[r[2]], v[r[3]])
    end
  end
  return v
end

-- The value of row i, and the marks that it needs, by definition.
local function evaluate(rows, args, i, known, needed)
  if known[i] then return known[i] end
  local r, value = rows[i]
  local function of(k) return evaluate(rows, args, r[k], known, needed) end
  if r.kind == "input" then
    value = args[i]
  elseif r.kind == "mark" or r.kind == "over" then
    value = of(1) + i
    needed[i] = 1
  elseif r.kind == "add" then
    value = of(1) - 2 * of(2)
  else
    value = of(1) > 0 and of(2) or of(3)
  end
  known[i] = value
  return value
end

local function check(seed, asks, mode)
  state = seed * 7919
  local n, inputs = 4, {}
  for i = 1, n do inputs[i] = damo.dvector("x" .. i) end
  local rows = random_rows(n, 40, asks)
  local v, last = build(rows, inputs), #rows
  local outs = random(2) == 1 and { last } or { last, random(last - 10, last) }
  local results = {}
  for k, i in ipairs(outs) do results[k] = v[i] end
  local f = damo.compile(inputs, results, { mode = mode, on_unused_input = "ignore" })
  for _ = 1, 6 do
    local args, known, needed, expect = {}, {}, {}, {}
    for i = 1, n do args[i] = random(-3, 3) + 0.5 end
    for k, i in ipairs(outs) do expect[k] = evaluate(rows, args, i, known, needed) end
    runs = {}
    local got = { f({ args[1] }, { args[2] }, { args[3] }, { args[4] }) }
    for k, value in ipairs(got) do got[k] = value[1] end
    assert.same(expect, got, "seed " .. seed)
    if mode == "DEBUG" then -- it runs each node several times
      for i in pairs(runs) do runs[i] = 1 end
    end
    assert.same(needed, runs, "seed " .. seed)
  end
end

describe("a program with branches", function()
  for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "NANGUARD", "DEBUG" } do
    it("runs what its conditions need, once: " .. mode, function()
      for seed = 1, mode == "DEBUG" and 20 or 150 do check(seed, false, mode) end
    end)

    it("runs what lazy thunks ask for beside that: " .. mode, function()
      for seed = 1, mode == "DEBUG" and 20 or 150 do check(seed, true, mode) end
    end)
  end
end)

describe("a switch by a scalar", function()
  local c, x, y = damo.lscalar "c", damo.dvector "x", damo.dvector "y"

  local function count(f, name)
    local n = 0
    for _, node in ipairs(f.fgraph.apply_nodes) do n = n + (tostring(node.op):match "^%w+" == name and 1 or 0) end
    return n
  end

  it("over a costly branch computes one branch alone", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "NANGUARD" } do -- DEBUG computes the graph as it is written too
      local a, b = damo.sum(Mark(x, damo.constant(1))), damo.sum(Mark(y, damo.constant(2)))
      local f = damo.compile({ c, x, y }, damo.switch(damo.gt(c, 0), a, b), { mode = mode })
      assert.equal(1, count(f, "IfElse"))
      runs = {}
      assert.equal(5, f(1, { 1, 2 }, { 5 }))
      assert.is_nil(runs[2])
      runs = {}
      assert.equal(7, f(0, { 1, 2 }, { 5 }))
      assert.is_nil(runs[1])
    end
  end)

  it("stays where both branches are cheap, or are needed anyway, or may differ in shape", function()
    for _, outs in ipairs {
      { damo.switch(damo.gt(c, 0), damo.exp(x), x) },
      { damo.switch(damo.gt(c, 0), damo.cumsum(x), x), damo.cumsum(x) },
      { damo.switch(damo.gt(c, 0), damo.cumsum(x), y) },
      { damo.switch(damo.gt(x, 0), damo.cumsum(x), x) },
    } do
      assert.equal(0, count(damo.compile({ c, x, y }, outs, { on_unused_input = "ignore" }), "IfElse"))
    end
  end)

  it("has the gradient of the branch taken", function()
    local cost = damo.switch(damo.gt(c, 0), damo.sum(damo.cumsum(x)), damo.sum(damo.sqr(x)))
    local f = damo.compile({ c, x }, damo.grad(cost, x))
    assert.same({ 2, 1 }, f(1, { 3, 4 }):totable())
    assert.same({ 6, 8 }, f(0, { 3, 4 }):totable())
  end)
end)
