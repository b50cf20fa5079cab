-- dense.lua: times elementwise programs, rows and reductions against the loops of dense_floor.c, in turn.
--
--     lua5.4 bench/dense.lua [json] [WORD…]   a table, or a line of JSON for each case; cases whose title has a WORD

local damo = require "damo"
local have_floor, floor = pcall(require, "dense_floor")

local ROUNDS, BATCH = 9, 0.02

local function normal(...) return damo.random.normal(0, 1, { size = { ... } }) end

local function pointers(arrays)
  local list = {}
  for i, x in ipairs(arrays) do list[i] = x:pointer() end
  return list
end

--- A case: a title, the target for damo's time divided by the loop's, damo's function and its arguments, the loop's
--- name and operands, the elements that the loop writes, and those of them that are damo's first result.
local function case(c)
  c.first, c.m = c.first or c.size, c.m or 1
  return c
end

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
  local entropy = -damo.mean(damo.sum(damo.one_hot(y, m) * damo.log_softmax(x, { axis = 2 }), { axis = 2 }))
  return {
    case { title = "row log-sum-exp with gradient, 512 x 1000", target = 1.25,
      call = damo.compile({ x }, { damo.grad(lse, x), lse }), args = { logits },
      loop = "logsumexp", operands = { logits }, n = n, m = m, size = n * m + 1, first = n * m },
    case { title = "softmax cross entropy with gradient, 512 x 1000", target = 1.25,
      call = damo.compile({ x, y }, { damo.grad(entropy, x), entropy }), args = { logits, labels },
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

-- ---- The report -----------------------------------------------------------------------------------------------------

--- Large results are written into an Array that is there, as the loop's are: fresh memory is cleared by the system.
local function damo_runs(c)
  local call, args = c.call, c.args
  local result = call(table.unpack(args))
  if c.size >= 100000 and c.first == c.size then call = call:into(result) end
  return function(times)
    local start = os.clock()
    for _ = 1, times do call(table.unpack(args)) end
    return os.clock() - start
  end
end

local function loop_runs(c)
  local out = damo.zeros { c.size }
  local loop, operands = floor[c.loop], pointers(c.operands)
  return function(times) return loop(times, out:pointer(), operands, c.n, c.m) end, out
end

--- Whether the loop computes what damo does.
local function agrees(c, out)
  local got = damo.reshape(damo.cast(damo.array((c.call(table.unpack(c.args)))), "float64"), { c.first })
  return damo.allclose(got, out[{ { 1, c.first } }], { rtol = 1e-9, atol = 1e-11 })
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function measure(c)
  local ours, theirs = damo_runs(c), nil
  if have_floor then
    local out
    theirs, out = loop_runs(c)
    theirs(1)
    if not agrees(c, out) then return nil end
  end
  local function timed(f, times)
    f(1) -- the other has evicted the caches
    return f(times) / times
  end
  local times = math.max(1, math.tointeger(BATCH // math.max(ours(1), 1e-7)))
  local seconds, ratios = {}, {}
  for i = 1, ROUNDS do
    seconds[i] = timed(ours, times)
    ratios[i] = theirs and seconds[i] / timed(theirs, times)
  end
  return median(seconds), theirs and median(ratios)
end

local wanted, json = {}, false
for _, word in ipairs(arg) do
  if word == "json" then json = true else wanted[#wanted + 1] = word end
end

local function is_wanted(title)
  for _, word in ipairs(wanted) do
    if title:find(word, 1, true) then return true end
  end
  return #wanted == 0
end

local function show(c)
  local time, ratio = measure(c)
  if not time then
    print(("  %-48s left out: the loop's result is another"):format(c.title))
  elseif json then
    print(('{"case": "%s", "ms": %.6g, "floor": %s, "target": %s}'):format(c.title, time * 1e3,
      ratio and ("%.4g"):format(ratio) or "null", c.target or "null"))
  else
    print(("  %-48s %12.4f ms %s %s"):format(c.title, time * 1e3, ratio and ("%8.2f x plain loop"):format(ratio) or "",
      c.target and ("(target %g)"):format(c.target) or ""))
  end
end

if not json then print "dense: against plain C loops" end
for _, family in ipairs { elementwise, rows, reductions } do
  for _, c in ipairs(family()) do
    if is_wanted(c.title) then show(c) end
    c.args, c.operands = nil, nil
  end
end
