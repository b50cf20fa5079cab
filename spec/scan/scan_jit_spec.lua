-- scan as machine code (src/jit, src/scan/scan_jit.c): the same bits as the steps of the VM, on random steps, and what
-- is and is not machine code.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local A = damo.array
local without = damo.Mode { jit = false }
local enabled = damo.info().jit.enabled
local unpack = table.unpack or _G.unpack

-- The bytes of machine code, of what is reachable.
local function code_bytes()
  garbage.collect()
  return damo.info().jit.bytes
end

-- The bits of a value as text; any nan is any nan.
local function bits(v)
  if type(v) == "table" then
    local each = {}
    for i, x in ipairs(v) do each[i] = bits(x) end
    return table.concat(each, " ")
  end
  if v ~= v then return "nan" end
  if v == 0 and type(v) == "number" then return 1 / v < 0 and "-0" or "0" end
  return type(v) == "number" and ("%.17g"):format(v) or tostring(v)
end

local function as_table(v)
  local is_array = type(v) ~= "number" and type(v) ~= "boolean" and v.totable
  return is_array and v:totable() or v
end

-- Compiles twice, with and without machine code, and compares what both give for each list of arguments.
local function compare(inputs, outputs, arguments, what)
  local f = damo.compile(inputs, outputs, { on_unused_input = "ignore" })
  local g = damo.compile(inputs, outputs, { on_unused_input = "ignore", mode = without })
  local before = code_bytes()
  for _, args in ipairs(arguments) do
    local r, s = { f(unpack(args)) }, { g(unpack(args)) }
    for i = 1, #s do assert.equal(bits(as_table(s[i])), bits(as_table(r[i])), what .. ", output " .. i) end
  end
  return damo.info().jit.bytes > before, f
end

local unary = { "neg", "abs", "sign", "sqr", "sqrt", "reciprocal", "ceil", "floor", "trunc", "round_half_to_even",
  "round_half_away_from_zero", "exp", "log", "sin", "cos", "tanh", "sigmoid", "erf", "log1p", "deg2rad", "rad2deg" }
local binary = { "add", "sub", "mul", "true_div", "maximum", "minimum", "mod", "pow", "arctan2", "floor_div" }
local relations = { "lt", "le", "gt", "ge", "eq", "neq" }
local casts = { "float32", "int64", "int32", "bool" }

-- A value of the pool's, changed by a random op; the result has the dtype `want`.
local function grow(pool, want)
  local function any() return pool[math.random(#pool)] end
  local k = math.random(9)
  local v
  if k <= 3 then
    v = damo[binary[math.random(#binary)]](any(), any())
  elseif k <= 5 then
    v = damo[unary[math.random(#unary)]](any())
  elseif k == 6 then
    v = damo.where(damo[relations[math.random(6)]](any(), any()), any(), any())
  elseif k == 7 then
    v = damo.cast(damo.cast(any(), casts[math.random(4)]), want)
  elseif k == 8 then
    v = damo.clip(any(), any(), any())
  else
    v = damo.where(damo.or_(damo.isnan(any()), damo.isinf(any())), any(), any() * 0.5 + any())
  end
  return damo.cast(v, want)
end

local reductions = { "sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "any", "all" }

local specials = { 0, -0.0, 1, -1, 0.5, 1 / 0, -1 / 0, 0 / 0, 1e300, 2.5, -3.5 }
local function draw() return math.random(4) == 1 and specials[math.random(#specials)] or math.random() * 4 - 2 end

-- A random scan of `dtype`: its inputs, results and arguments.
local function random_scan(dtype)
  local n = 230 + math.random(200)
  local inputs, args, sequences, outputs_info = {}, {}, {}, {}
  local function input(rows)
    local v = rows and damo.vector("v" .. #inputs, { dtype = dtype }) or damo.scalar("v" .. #inputs, { dtype = dtype })
    inputs[#inputs + 1] = v
    if rows then
      local list = {}
      for i = 1, rows do list[i] = draw() end
      args[#args + 1] = A(list, dtype)
    else
      args[#args + 1] = draw()
    end
    return v
  end
  local tap_lists = { { 0 }, { -1, 0 }, { 0, 2 }, { -2, 1 } }
  for i = 1, math.random(3) - 1 do
    local taps = tap_lists[math.random(4)]
    sequences[i] = { input = input(n + 5), taps = taps }
  end
  local past_lists = { { -1 }, { -1, -2 }, { -3 }, { -2, -1, -4 } }
  local n_states = math.random(4)
  for i = 1, n_states do
    local taps = past_lists[math.random(4)]
    outputs_info[i] = #taps == 1 and taps[1] == -1 and input() or { initial = input(4), taps = taps }
  end
  local n_collected = math.random(3) - 1
  for i = 1, n_collected do outputs_info[n_states + i] = false end
  local fixed = { input(), input() }
  local until_after = math.random(3) == 1 and math.random(n) or nil
  local results = damo.scan(function(...)
    local pool = { ... }
    for _ = 1, math.random(12) do pool[#pool + 1] = grow(pool, dtype) end
    local out = {}
    for i = 1, n_states + n_collected do out[i] = grow(pool, dtype) end
    if until_after then
      return out, damo.until_(damo.gt(damo.abs(out[1]) + pool[1], draw()))
    end
    return out
  end, { sequences = sequences, outputs_info = outputs_info, non_sequences = fixed, n_steps = n,
    go_backwards = math.random(3) == 1, return_list = true })
  local wanted = {}
  for i, r in ipairs(results) do wanted[i] = math.random(3) == 1 and r[-1] or r end
  if math.random(4) == 1 and not until_after then wanted[#wanted + 1] = results[1][{ { -3, -1 } }] end
  return inputs, wanted, { args }
end

-- A random scan of vectors of n entries, the Types with their length or without.
local function random_vectors(dtype, n)
  local steps = 230 + math.random(100)
  local inputs, args = {}, {}
  local is_static = math.random(2) == 1
  local function input(rows, flipped)
    local shape = rows and { rows, n } or { n }
    if flipped then shape = { n, rows } end
    local unknown = {}
    for i = 1, #shape do unknown[i] = is_static and shape[i] or false end
    local v = damo.tensor("v" .. #inputs, { dtype = dtype, shape = unknown })
    local list = {}
    for i = 1, shape[1] do
      list[i] = #shape == 1 and draw() or {}
      for j = 1, shape[2] or 0 do list[i][j] = draw() end
    end
    inputs[#inputs + 1], args[#args + 1] = v, A(list, dtype)
    return flipped and damo.transpose(v) or v
  end
  local number = damo.scalar("number", { dtype = dtype })
  inputs[1], args[1] = number, draw()
  local constant = {}
  for i = 1, n do constant[i] = draw() end
  local square, list = damo.tensor("square", { dtype = dtype, shape = { false, is_static and n or false } }), {}
  for i = 1, n do
    list[i] = {}
    for j = 1, n do list[i][j] = 0.3 * draw() end
  end
  inputs[#inputs + 1], args[#args + 1] = square, A(list, dtype)
  local turned = math.random(2) == 1 and damo.transpose(square) or square
  local known = A(list, dtype)
  local function at() return math.random(2) == 1 and math.random(n) or -math.random(n) end
  local function move(pool)
    local function any() return pool[math.random(#pool)] end
    local k, x = math.random(13), any()
    if k == 1 then
      local entries = {}
      for i = 1, n do entries[i] = any()[at()] end
      return damo.stack(entries)
    elseif k == 2 then
      local cut = math.random(n)
      return cut < n and damo.concatenate({ x[{ { cut + 1, n } }], any()[{ { 1, cut } }] }) or x[{ { -1, 1, -1 } }]
    elseif k == 3 then
      return damo.set_subtensor(x[at()], any()[at()])
    elseif k == 4 then
      local last = math.random(n)
      return damo.inc_subtensor(x[{ { 1, last } }], any()[{ { n - last + 1, n } }])
    elseif k == 5 then
      return damo.ifelse(damo.gt(any()[at()], number), x, any())
    elseif k == 6 then
      return x * any()[at()]
    elseif k == 7 then
      return x * damo[reductions[math.random(#reductions)]](any())
    elseif k == 8 then
      return (x - damo.mean(any())) / (1 + damo.sum(damo.abs(any() * any())))
    elseif k == 9 then
      return x + damo.dot(any(), any())
    elseif k == 10 then
      return damo.dot(turned, x)
    elseif k == 11 then
      return any() + 0.5 * damo.dot(x, turned)
    elseif k == 12 then
      return any() - damo.dot(known, x)
    end
    return x + A(constant, dtype) * number
  end
  local lists = { { -1 }, { -1, -2 }, { -3 } }
  local taps = lists[math.random(3)]
  local first = #taps == 1 and taps[1] == -1 and input() or { initial = input(3), taps = taps }
  local sequence = { input = input(steps + 3, math.random(2) == 1), taps = { 0, 1 } }
  local until_after = math.random(4) == 1
  local results = damo.scan(function(...)
    local pool = { ... }
    for _ = 1, math.random(6) do
      pool[#pool + 1] = damo.cast(math.random(2) == 1 and move(pool) or grow(pool, dtype), dtype)
    end
    local out = {}
    for i = 1, 3 do out[i] = damo.cast(move(pool), dtype) end
    if until_after then return out, damo.until_(damo.gt(out[1][1], 3.5)) end
    return out
  end, { sequences = { sequence }, outputs_info = { first, input(), false }, non_sequences = { input() },
    n_steps = steps, go_backwards = math.random(3) == 1, return_list = true })
  local wanted = {}
  for i, r in ipairs(results) do wanted[i] = math.random(2) == 1 and r[-1] or r end
  return inputs, wanted, { args }
end

-- A random scan of matrices of n rows and m columns and vectors of both lengths, and, with a policy, its gradients.
local function random_matrices(dtype, n, m, policy)
  local steps = 220 + math.random(60)
  local inputs, args = {}, {}
  -- A length of 1 that is known would broadcast, and a state's next value may not have it.
  local function input(shape, flipped)
    local unknown = {}
    for i = 1, #shape do
      local known = math.random(2) == 1
      unknown[i] = (policy or (known and shape[i] > 1)) and shape[i] or false
    end
    local v = damo.tensor("m" .. #inputs, { dtype = dtype, shape = flipped and { unknown[2], unknown[1] } or unknown })
    local size = flipped and { shape[2], shape[1] } or shape
    local x = damo.random.uniform(-1, 1, { size = size })
    inputs[#inputs + 1], args[#args + 1] = v, damo.cast(x, dtype)
    return flipped and damo.transpose(v) or v
  end
  local constant = damo.cast(damo.random.uniform(-1, 1, { size = { n, m } }), dtype)
  local square = input { n, n }
  local sequence = { input = input { steps + 2, n, m }, taps = { 0, 2 } }
  local first = math.random(2) == 1 and input { n, m } or { initial = input { 3, n, m }, taps = { -3, -1 } }
  local n_taps = type(first) == "table" and first.taps and 2 or 1
  local results = damo.scan(function(...)
    local given = { ... }
    local pool = {}
    for i = 1, 2 + n_taps do pool[i] = given[i] end
    local row, column, fixed = given[3 + n_taps], given[4 + n_taps], given[5 + n_taps]
    pool[#pool + 1] = fixed
    local function any() return pool[math.random(#pool)] end
    local function move()
      local k, x = math.random(9), any()
      if k == 1 then return x * 0.5 + any() end
      if k == 2 then return x * row end
      if k == 3 then return x - column:dimshuffle { 1, "x" } end
      if k == 4 then return x + damo.outer(column, row) end
      if k == 5 then return 0.25 * x + damo.outer(damo.dot(x, row), row) end
      if k == 6 then return damo.switch(damo.gt(x, any()), x, 0.5 * any()) end
      if k == 7 then return x + damo.outer(damo.dot(square, column), damo.dot(column, any())) end
      if k == 8 then return x - constant * damo.transpose(damo.transpose(any()) * column) end
      return damo.ifelse(damo.gt(row[1], column[1]), x, damo.abs(any()))
    end
    for _ = 1, math.random(5) do pool[#pool + 1] = damo.cast(move(), dtype) end
    local bounded = damo.clip(move(), -2, 2)
    return damo.cast(bounded, dtype), damo.cast(damo.clip(damo.dot(column, move()), -1, 1), dtype),
      damo.cast(0.5 * column + 0.1 * damo.dot(bounded, row), dtype), damo.cast(move(), dtype)
  end, { sequences = { sequence }, outputs_info = { first, input { m }, input { n }, false },
    non_sequences = { input({ n, m }, math.random(2) == 1) }, n_steps = steps, go_backwards = math.random(3) == 1,
    checkpoint = policy, return_list = true })
  local wanted = {}
  if not policy then
    for i, r in ipairs(results) do wanted[i] = math.random(2) == 1 and r[-1] or r end
    return inputs, wanted, { args }
  end
  local cost = damo.sum(results[1][-1]) + damo.sum(damo.sqr(results[3][-1])) + damo.sum(results[2][-1])
  for i, v in ipairs(inputs) do wanted[i] = damo.grad(cost, v, { disconnected_inputs = "ignore" }) end
  return inputs, wanted, { args, args }
end

describe("scan as machine code", function()
  it("has the VM's bits for products with small matrices, in reproducible mode too", function()
    local m, x0, b = damo.dmatrix "m", damo.dvector "x0", damo.dvector "b"
    local x = damo.scan(function(x) return damo.dot(m, x) * 0.5 + b - damo.dot(x, x) * 1e-3 end,
      { outputs_info = x0, n_steps = 400 })
    local cost = damo.sum(damo.sqr(x[-1]))
    local outputs = { x, damo.grad(cost, m), damo.grad(cost, x0), damo.grad(cost, b) }
    local rows = { { 0.9, 0.1, 0.2 }, { -0.3, 0.8, 0.1 }, { 0.05, -0.2, 0.7 } }
    local args = { A(rows), A { 1, 2, 3 }, A { 0.1, 0.2, -0.3 } }
    for _, reproducible in ipairs { false, true } do
      local f = damo.compile({ m, x0, b }, outputs, { mode = damo.Mode { reproducible = reproducible } })
      local g = damo.compile({ m, x0, b }, outputs, { mode = damo.Mode { reproducible = reproducible, jit = false } })
      local before = code_bytes()
      local r, s = { f(unpack(args)) }, { g(unpack(args)) }
      if enabled then assert.is_true(damo.info().jit.bytes > before) end
      for i = 1, #s do assert.is_true(bits(as_table(s[i])) == bits(as_table(r[i])), "output " .. i) end
      for _, wide in ipairs { 17, 2, 16 } do -- longer than vectors of machine code, then short again
        local eye = {}
        for i = 1, wide do
          eye[i] = {}
          for j = 1, wide do eye[i][j] = i == j and 0.5 or 0.01 * j end
        end
        local more = { A(eye), damo.ones { wide }, damo.ones { wide } * 0.1 }
        assert.is_true(bits(as_table((f(unpack(more))))) == bits(as_table((g(unpack(more))))))
      end
    end
  end)

  it("has the VM's bits for short vectors, on random steps", function()
    local ran = 0
    for seed = 1, 100 do
      math.randomseed(seed)
      local inputs, wanted, arguments = random_vectors(seed % 3 == 0 and "float32" or "float64", math.random(16))
      if compare(inputs, wanted, arguments, "vectors, seed " .. seed) then ran = ran + 1 end
    end
    if enabled then assert.is_true(ran > 40, ran .. " of 100") end
  end)

  it("has the VM's bits for small matrices, on random steps", function()
    local ran = 0
    for seed = 1, 60 do
      math.randomseed(seed)
      damo.random.seed(seed)
      local inputs, wanted, arguments =
        random_matrices(seed % 3 == 0 and "float32" or "float64", math.random(7), math.random(7))
      if compare(inputs, wanted, arguments, "matrices, seed " .. seed) then ran = ran + 1 end
    end
    if enabled then assert.is_true(ran > 40, ran .. " of 60") end
  end)

  it("has them for gradients of short vectors, and for vectors of another length afterwards", function()
    local s0, rates = damo.tensor("s0", { dtype = "float64", shape = { 3 } }), damo.dvector "rates"
    local s = damo.scan(function(s)
      local x, y, z = s[1], s[2], s[3]
      return s + 0.01 * damo.stack { rates[1] * (y - x), x * (rates[2] - z) - y, x * y - rates[3] * z }
    end, { outputs_info = { s0 }, n_steps = 300 })
    local cost = (s ^ 2):sum() + s[-1]:sum()
    local g = damo.grad(cost, { s0, rates })
    local ran = compare({ s0, rates }, { s, cost, g[1], g[2] },
      { { A { 1, 2, 3 }, A { 10, 28, 2.5 } }, { A { 1, 0, 0 }, A { 10, 28, 2.5 } } }, "gradient")
    if enabled then assert.is_true(ran) end

    local v, w = damo.dvector "v", damo.dvector "w"
    local h = damo.scan(function(h) return h * w + 0.5 end, { outputs_info = { v }, n_steps = 300 })
    ran = compare({ v, w }, { h, h[-1] }, {
      { A { 1, 2, 3 }, A { 0.5, 0.25, 2 } }, { A { 1, 2 }, A { 0.5, 0.25 } }, { damo.ones(17), damo.ones(17) },
      { A { 3, 2, 1 }, A { 0.5, 0.25, 2 } },
    }, "lengths")
    if enabled then assert.is_true(ran) end
    local f = damo.compile({ v, w }, h)
    f(A { 1, 2 }, A { 1, 2 })
    assert.has_error(function() f(A { 1, 2 }, A { 1, 2, 3 }) end)
  end)

  it("has the VM's bits, on random steps", function()
    local ran = 0
    for seed = 1, 150 do
      math.randomseed(seed)
      local inputs, wanted, arguments = random_scan(seed % 3 == 0 and "float32" or "float64")
      if compare(inputs, wanted, arguments, "seed " .. seed) then ran = ran + 1 end
    end
    if enabled then assert.is_true(ran > 100, ran .. " of 150") end
  end)

  it("has them for gradients", function()
    local x0, y0, s = damo.dscalar "x0", damo.dscalar "y0", damo.dscalar "s"
    local x, y = damo.scan(function(x, y, rate)
      return x + 0.01 * (rate * (y - x)), y + 0.01 * (x * damo.tanh(rate - y) - y * damo.abs(x))
    end, { outputs_info = { x0, y0 }, non_sequences = { s }, n_steps = 300 })
    local cost = (x ^ 2):sum() + y[-1]
    local g = damo.grad(cost, { x0, y0, s })
    local ran = compare({ x0, y0, s }, { cost, g[1], g[2], g[3] }, { { 1, 2, 3 }, { -1, 0.5, 0 } }, "gradient")
    if enabled then assert.is_true(ran) end
  end)

  it("counts in integers and in bools", function()
    local n0, m0, b0 = damo.lscalar "n0", damo.iscalar "m0", damo.scalar("b0", { dtype = "bool" })
    local n, m, b = damo.scan(function(n, m, b)
      local odd = damo.eq(n % 2, 1)
      return damo.where(odd, 3 * n + 1, damo.floor_div(n, 2)), damo.cast(m * 7 + damo.cast(n, "int32"), "int32"),
        damo.xor(b, damo.and_(odd, damo.gt(m, 0)))
    end, { outputs_info = { n0, m0, b0 }, n_steps = 250 })
    local ran = compare({ n0, m0, b0 }, { n, m, b, n[-1], b[-1] }, { { 27, 1, true }, { -5, -3, false } }, "integers")
    if enabled then assert.is_true(ran) end
  end)

  it("chooses between branches", function()
    local h0, limit = damo.dscalar "h0", damo.dscalar "limit"
    local h, n = damo.scan(function(h, n)
      local grown, counted = damo.ifelse(damo.lt(h, limit), { h * 1.5 + 1, n }, { damo.sqrt(h) - limit, n + 1 })
      return grown, counted
    end, { outputs_info = { h0, damo.cast(0, "float64") }, n_steps = 400 })
    local ran = compare({ h0, limit }, { h, n }, { { 1, 50 }, { -3, 1e6 }, { 0 / 0, 2 } }, "branches")
    if enabled then assert.is_true(ran) end
  end)

  it("runs over numbers alone from call to call, for other numbers of steps too", function()
    local n_ran = 0
    for seed = 1, 40 do
      math.randomseed(seed)
      local dtype = seed % 3 == 0 and "float32" or "float64"
      local x0, y0, m = damo.scalar("x0", { dtype = dtype }), damo.scalar("y0", { dtype = dtype }), damo.lscalar "m"
      local k0, steps, rate = damo.iscalar "k0", damo.lscalar "steps", damo.scalar("rate", { dtype = dtype })
      local kind = math.random(3)
      local function step(x, y, k, b)
        local pool = { x, y, rate, damo.cast(k, dtype), damo.where(b, x, y) }
        for _ = 1, math.random(8) do pool[#pool + 1] = grow(pool, dtype) end
        local count = damo.cast(k + damo.cast(damo.gt(x, y), "int32") + damo.cast(m, "int32"), "int32")
        local out = { grow(pool, dtype), grow(pool, dtype), count, damo.lt(x, rate) }
        if kind < 3 then out[5] = grow(pool, dtype) end
        if kind == 2 then return out, damo.until_(damo.gt(damo.abs(out[1]), draw())) end
        return out
      end
      local inputs, calls, starts = { x0, y0, m, k0, steps, rate }, {}, { x0, y0, k0, damo.constant(true) }
      for i, n in ipairs { 250, 1, 300, 7, 0, 500, 2 } do
        calls[i] = { draw(), draw(), math.random(9), math.random(9), n, draw() }
      end
      local last = {}
      if kind == 3 then
        last = damo.while_loop(function(x, y) return damo.isnan(x):or_(damo.gt(x, y)):or_(damo.lt(x, rate)) end, step,
          starts, { max_steps = steps, return_list = true })
      else
        starts[5] = false
        local results = damo.scan(step, { outputs_info = starts, n_steps = 230, return_list = true })
        for i, r in ipairs(results) do last[i] = r[-1] end
      end
      if compare(inputs, last, calls, "numbers, seed " .. seed) then n_ran = n_ran + 1 end
    end
    if enabled then assert.is_true(n_ran > 25, n_ran .. " of 40") end
    local a, most = damo.dscalar "a", damo.lscalar "most"
    local root = damo.while_loop(function(r) return damo.gt(damo.abs(r * r - a), 1e-12) end,
      function(r) return (r + a / r) / 2 end, a, { max_steps = most })
    local ran = compare({ a, most }, { root, root + a, damo.grad(root, a) },
      { { 2, 100 }, { 1, 100 }, { 9, 0 }, { 3, 2 }, { 0 / 0, 5 }, { -1, 1000 }, { 2, 100 } }, "a root")
    if enabled then assert.is_true(ran) end
    local f = damo.compile({ a, most }, root)
    for _, n in ipairs { 3, 3, -1, 3 } do assert.equal(n > 0, (pcall(f, 2, n))) end
  end)

  -- A random loop whose gradient goes over checkpoints, of numbers (width nil) or vectors; the gradients alone.
  local function random_gradient(seed, policy, width)
    math.randomseed(seed)
    local dtype, n = seed % 3 == 0 and "float32" or "float64", 220 + math.random(120)
    local inputs, args = {}, {}
    local function input(rows, kind)
      local shape = {}
      if rows then shape[1] = rows end
      if width then shape[#shape + 1] = width end
      local v = damo.tensor("v" .. #inputs, { dtype = kind or dtype, shape = shape })
      inputs[#inputs + 1] = v
      local _, x = damo.random.uniform(-1, 1, { size = shape, rng = damo.random.state(seed * 10 + #inputs) })
      args[#args + 1] = damo.cast(kind and 5 * x or x, kind or dtype)
      return v
    end
    local lists = { { -1 }, { -1, -2 }, { -3 }, { -2, -1, -4 } }
    local function state(kind)
      local taps = lists[math.random(4)]
      local reach = 1
      for _, tap in ipairs(taps) do reach = math.max(reach, -tap) end
      return reach == 1 and input(nil, kind) or { initial = input(reach, kind), taps = taps }, #taps
    end
    local counter = math.random(2) == 1
    local info, n_taps, sequence, rate = {}, {}, input(n + 3), input()
    for i = 1, counter and 3 or 2 do info[i], n_taps[i] = state(i == 3 and "int64" or nil) end
    local results = damo.scan(function(...)
      local given = { ... }
      local a, b, floats = given[1], given[2], {}
      for i = 3, 2 + n_taps[1] + n_taps[2] do floats[#floats + 1] = given[i] end
      local k, w = counter and given[3 + n_taps[1] + n_taps[2]], given[#given]
      local function any() return floats[math.random(#floats)] end
      local x = damo.tanh(any() * w + a) + 0.5 * any()
      local y = damo.where(damo.gt(any(), b), any() * x, damo.sin(any()) - a)
      if counter then x = x + damo.where(damo.eq(k % 2, 0), any(), 0.25 * y) end
      if width and math.random(2) == 1 then y = y * damo.sum(damo.sqr(any())) end
      local out = { damo.cast(0.7 * x, dtype), damo.cast(damo.clip(y, -2, 2), dtype) }
      if counter then out[3] = k * 3 + 1 end
      return out
    end, { sequences = { { input = sequence, taps = { 0, 2 } } }, outputs_info = info, non_sequences = rate,
      n_steps = n, go_backwards = math.random(3) == 1, checkpoint = policy, return_list = true,
      truncate_gradient = math.random(3) == 1 and math.random(n) or nil })
    local cost = damo.sum(results[1][-1]) + 2 * damo.sum(results[2][-1])
    local wanted = {}
    for i, v in ipairs(inputs) do
      if v.dtype == dtype then wanted[#wanted + 1] = damo.grad(cost, inputs[i], { disconnected_inputs = "ignore" }) end
    end
    return inputs, wanted, { args, args }
  end

  it("goes back over checkpoints", function()
    local ran, n = 0, 0
    for seed = 1, 30 do
      for _, policy in ipairs { "log", 1, 17 } do
        local inputs, wanted, arguments = random_gradient(seed, policy, seed > 15 and seed % 16 + 1 or nil)
        n = n + 1
        if compare(inputs, wanted, arguments, "checkpoint " .. policy .. ", seed " .. seed) then ran = ran + 1 end
      end
    end
    if enabled then assert.is_true(ran > 2 * n / 3, ran .. " of " .. n) end
  end)

  it("goes back over checkpoints with matrices as states, and adds up gradients of matrices", function()
    local ran, n = 0, 0
    for seed = 1, 20 do
      for _, policy in ipairs { "log", 17 } do
        math.randomseed(seed)
        damo.random.seed(seed)
        local inputs, wanted, arguments =
          random_matrices(seed % 3 == 0 and "float32" or "float64", math.random(5), math.random(5), policy)
        n = n + 1
        if compare(inputs, wanted, arguments, "matrices, " .. policy .. ", seed " .. seed) then ran = ran + 1 end
      end
    end
    if enabled then assert.is_true(ran > n / 2, ran .. " of " .. n) end
  end)

  it("is interrupted while it goes back, and leaves nothing half done", function()
    local x0, w, steps = damo.dscalar "x0", damo.dscalar "w", damo.lscalar "steps"
    local x = damo.reduce(function(x, rate) return damo.tanh(x * rate) + 0.1 end,
      { outputs_info = x0, non_sequences = w, n_steps = steps, checkpoint = "log" })
    local f = damo.compile({ x0, w, steps }, damo.grad(x, { x0, w }))
    local a, b = f(0.5, 1.1, 300)
    local clock, started = os.clock, os.clock()
    debug.sethook(function()
      if clock() - started < 0.02 then return end
      debug.sethook()
      error("too long", 0)
    end, "", 100)
    local ok, err = pcall(f, 0.5, 1.1, 1000000000)
    debug.sethook()
    assert.is_false(ok)
    assert.is_truthy(tostring(err):find "too long")
    assert.is_true(os.clock() - started < 5)
    local again, also = f(0.5, 1.1, 300)
    assert.same({ a, b }, { again, also })
  end)

  it("is interrupted, in a later call too, and goes on afterwards", function()
    local h0, most = damo.dscalar "h0", damo.dscalar "most"
    local f = damo.compile({ h0, most }, damo.while_loop(function(h) return h:lt(most) end,
      function(h) return h + 1 end, h0))
    for call = 1, 3 do
      local clock, started = os.clock, os.clock()
      debug.sethook(function()
        if clock() - started < 0.02 then return end
        debug.sethook()
        error("too long", 0)
      end, "", 100)
      local ok, err = pcall(f, 0, 1 / 0)
      debug.sethook()
      assert.is_false(ok)
      assert.is_truthy(tostring(err):find "too long")
      assert.equal(call, f(0, call))
    end
  end)

  it("keeps the rows that are asked for while the length is unknown", function()
    local h0, most = damo.dscalar "h0", damo.dscalar "most"
    local function loop()
      return damo.scan(function(h) return h + 1, damo.until_(h:ge(most)) end,
        { outputs_info = { h0 }, n_steps = 1000000 })
    end
    local f = damo.compile({ h0, most }, { loop(), loop()[-1], loop()[{ { -3, -1 } }] })
    for _, n in ipairs { 3, 5, 64, 65, 1000, 5000 } do
      local h, last, tail = f(0, n - 1)
      assert.equal(n, #h)
      assert.equal(n, h[n])
      assert.equal(n, last)
      assert.equal(n, tail:totable()[#tail])
    end
  end)

  it("runs in copies, under profile, in DEBUG and NANGUARD", function()
    local h0 = damo.dscalar "h0"
    local h = damo.scan(function(h_prev) return damo.cos(h_prev) + 0.5 end, { outputs_info = { h0 }, n_steps = 300 })
    local f = damo.compile({ h0 }, h[-1])
    local expected = bits(f(1))
    assert.equal(expected, bits(f:copy()(1)))
    local others = { { mode = "DEBUG" }, { mode = "NANGUARD" }, { profile = true }, { mode = "FAST_COMPILE" } }
    for _, options in ipairs(others) do
      assert.equal(expected, bits(damo.compile({ h0 }, h[-1], options)(1)))
    end
  end)

  it("gives its pages back", function()
    local before = code_bytes()
    for _ = 1, 20 do
      local h0 = damo.dscalar "h0"
      local h = damo.scan(function(h_prev) return h_prev * 0.5 end, { outputs_info = { h0 }, n_steps = 300 })
      local f = damo.compile({ h0 }, h[-1])
      f(1)
      f:free()
    end
    assert.is_true(code_bytes() <= before)
  end)

  it("is not made where a Mode says so, nor for long vectors", function()
    local h0, v0 = damo.dscalar "h0", damo.dvector "v0"
    local function made(x, value, mode)
      local h = damo.scan(function(h_prev) return h_prev * 0.5 end, { outputs_info = { x }, n_steps = 300 })
      local f = damo.compile({ x }, h[-1], { mode = mode })
      local before = code_bytes()
      f(value)
      return damo.info().jit.bytes > before
    end
    assert.equal(enabled, made(h0, 1))
    assert.is_false(made(h0, 1, without))
    assert.equal(enabled, made(v0, damo.ones(16)))
    assert.is_false(made(v0, damo.ones(17)))
    local m0 = damo.dmatrix "m0"
    assert.equal(enabled, made(m0, damo.ones { 16, 16 }))
    assert.is_false(made(m0, damo.ones { 2, 17 }))
    assert.has_error(function() damo.Mode { jit = "no" } end)
  end)
end)
