-- dense.lua: times elementwise programs, rows and reductions against the loops of dense_floor.c, in turn.
--
--     lua5.4 bench/dense.lua [json] [WORD…]   a table, or a line of JSON for each case; cases whose title has a WORD

local damo = require "damo"
local against = dofile((arg[0]:match("^(.*)/") or ".") .. "/against.lua")

local function normal(...) return damo.random.normal(0, 1, { size = { ... } }) end

local case = against.case

damo.random.seed(3)

local function elementwise()
  local cases = {}
  local v = damo.dvector "v"
  local f = damo.compile({ v }, damo.exp(-damo.sqr(v)) * damo.sin(v) + damo.log1p(damo.sqr(v)))
  local limits = { { 10 }, { 1000, 1.15 }, { 100000, 1.15 }, { 1000000, 1.2 }, { 10000000, 1.35 } }
  for _, limit in ipairs(limits) do
    local n, x = limit[1], normal(limit[1])
    cases[#cases + 1] = case { title = ("exp(-v^2) sin v + log1p v^2, n = %d"):format(n), target = limit[2], call = f,
      args = { x }, loop = "chain", operands = { x }, n = n, size = n }
  end
  local a, b, c, d, e = damo.dvector "a", damo.dvector "b", damo.dvector "c", damo.dvector "d", damo.dvector "e"
  local g = damo.compile({ a, b, c, d, e }, ((a + b) * c - d) * e + (a - c) * (b + d))
  for _, limit in ipairs { { 16 }, { 100 }, { 1000, 1.6 }, { 1000000, 1.4 } } do
    local n, args = limit[1], {}
    for i = 1, 5 do args[i] = normal(n) end
    cases[#cases + 1] = case { title = ("eight cheap operations, n = %d"):format(n), target = limit[2], call = g,
      args = args, loop = "eight", operands = args, n = n, size = n }
  end
  local s, x, y, z = damo.dscalar "s", damo.dvector "x", damo.dvector "y", damo.dvector "z"
  local n = 10000000
  local xs, ys, zs = normal(n), normal(n), normal(n)
  cases[#cases + 1] = case { title = "a x + y z, n = 1e7", target = 1.15,
    call = damo.compile({ s, x, y, z }, s * x + y * z), args = { 2.0, xs, ys, zs },
    loop = "multiply_add", operands = { xs, ys, zs }, n = n, size = n }
  local column, row = normal(1000, 1), normal(1, 1000)
  local p, q = damo.col "p", damo.row "q"
  cases[#cases + 1] = case { title = "tanh((1000, 1) + (1, 1000))", target = 0.6,
    call = damo.compile({ p, q }, damo.tanh(p + q)), args = { column, row },
    loop = "outer_tanh", operands = { column, row }, n = 1000, m = 1000, size = 1000000 }
  return cases
end

local function rows()
  local n, m = 512, 1000
  local x, y = damo.dmatrix "x", damo.lvector "y"
  local logits, labels = normal(n, m), damo.zeros({ n }, "int64")
  for i = 1, n do labels[i] = i * 37 % m + 1 end
  local lse = damo.sum(damo.logsumexp(x, { axis = 2 }))
  local entropy = damo.mean(damo.categorical_crossentropy(damo.softmax(x, { axis = 2 }), y))
  local written = -damo.mean(damo.sum(damo.one_hot(y, m) * damo.log_softmax(x, { axis = 2 }), { axis = 2 }))
  return {
    case { title = "row log-sum-exp with gradient, 512 x 1000", target = 1.25,
      call = damo.compile({ x }, { damo.grad(lse, x), lse }), args = { logits },
      loop = "logsumexp", operands = { logits }, n = n, m = m, size = n * m + 1, first = n * m },
    case { title = "softmax cross entropy with gradient, 512 x 1000", target = 1.25,
      call = damo.compile({ x, y }, { damo.grad(entropy, x), entropy }), args = { logits, labels },
      loop = "cross_entropy", operands = { logits, damo.cast(labels, "float64") }, n = n, m = m, size = n * m + 1,
      first = n * m },
    -- Each entry of the product is read, since 0 times an infinity is nan.
    case { title = "softmax cross entropy written with one_hot, with gradient",
      call = damo.compile({ x, y }, { damo.grad(written, x), written }), args = { logits, labels },
      loop = "cross_entropy", operands = { logits, damo.cast(labels, "float64") }, n = n, m = m, size = n * m + 1,
      first = n * m },
  }
end

local function reductions()
  local n = 2000
  local x, value = damo.dmatrix "x", normal(n, n)
  local cases = {}
  local function add(name, axis)
    local f = damo.compile({ x }, damo[name](x, axis and { axis = axis }))
    cases[#cases + 1] = case { title = ("%s %s of 2000 x 2000"):format(name, axis and "axis " .. axis or "of all"),
      call = f, args = { value }, loop = name .. "_" .. (axis or "all"), operands = { value }, n = n, m = n,
      size = 2 * n, first = axis and n or 1 }
  end
  add("sum", 1)
  add("sum", 2)
  add("sum")
  add("max", 2)
  add("argmax", 1)
  add("argmax", 2)
  add("var", 1)
  add("var", 2)
  return cases
end

against.report("dense", "dense_floor", { elementwise, rows, reductions })
