-- scan: values against loops in plain Lua, the forms of its arguments, and what is refused.
local damo = require "damo"

local A = damo.array

local function draw(seed, ...)
  local _, v = damo.random.normal(0, 1, { size = { ... }, rng = damo.random.state(seed) })
  return v
end

-- Both as tables of numbers, within rounding.
local function close(expected, actual)
  assert.equal(#expected, #actual)
  for i = 1, #expected do assert.near(expected[i], actual[i], 1e-12) end
end

local function failure(kind, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(kind, err.kind, err.message)
  return err.message
end

describe("scan", function()
  it("stacks the states of a recurrence over a sequence", function()
    local x = damo.dvector "x"
    local h = damo.scan(function(x_t, h_prev) return h_prev * 0.5 + x_t end,
      { sequences = { x }, outputs_info = { 0 } })
    local f = damo.compile({ x }, h)
    local expected, state = {}, 0
    for i, v in ipairs { 1, 2, 3, 4 } do
      state = state * 0.5 + v
      expected[i] = state
    end
    close(expected, f(A { 1, 2, 3, 4 }):totable())
    assert.same({ 0 }, f(A({}, "float64")).shape)
  end)

  it("passes slices, pasts and non_sequences in that order", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local got
    local h = damo.scan(function(...)
      got = select("#", ...)
      local x_before, x_after, y_now, h2, h1, w = ...
      return h1 + h2 * w + x_before - x_after * y_now
    end, { sequences = { { input = x, taps = { -1, 1 } }, y }, outputs_info = { { initial = A { 1, 2 }, taps = { -2,
      -1 } } },
      non_sequences = { 3.0 } })
    assert.equal(6, got)
    local xs, ys = { 1, 2, 3, 4, 5 }, { 5, 6, 7 }
    local expected, h2, h1 = {}, 1, 2
    for t = 1, 3 do
      local now = h1 + h2 * 3 + xs[t] - xs[t + 2] * ys[t]
      expected[t], h2, h1 = now, h1, now
    end
    close(expected, damo.compile({ x, y }, h)(A(xs), A(ys)):totable())
  end)

  it("takes taps of the future and one tap as a number", function()
    local x = damo.dvector "x"
    local y = damo.scan(function(a) return a * 2 end, { sequences = { input = x, taps = 2 } })
    assert.same({ 6, 8 }, damo.compile({ x }, y)(A { 1, 2, 3, 4 }):totable())
  end)

  it("takes rows as the past where taps are given, whatever fn returns", function()
    local function double(h) return h * 2 end
    local rows, row = A { { 1, 5 } }, A { 1, 5 }
    assert.same({ { 2, 10 }, { 4, 20 } },
      damo.scan(double, { outputs_info = { { initial = rows, taps = { -1 } } }, n_steps = 2 }):totable())
    assert.same({ { 2, 10 }, { 4, 20 } },
      damo.scan(double, { outputs_info = { { initial = row } }, n_steps = 2 }):totable())
    assert.same({ 2, 4 }, damo.scan(double, { outputs_info = { { initial = row, taps = -1 } }, n_steps = 2 }):totable())
  end)

  it("names what fn gets after the operand and the step", function()
    local names
    damo.scan(function(a, b, c, d)
      names = table.concat({ a.name, b.name, c.name, d.name }, " ")
      return c, d
    end, { sequences = { { input = damo.dvector "x", taps = { -1, 0 } } },
      outputs_info = { damo.dscalar "h", { initial = damo.dvector "g", taps = { -2 } } } })
    assert.equal("x[t-1] x[t] h[t-1] g[t-2]", names)
  end)

  it("gives several outputs, of which some do not recur", function()
    local x = damo.dvector "x"
    local s, p = damo.scan(function(x_t, s) return { s + x_t, x_t * s } end,
      { sequences = x, outputs_info = { 0, false } })
    local sums, products = damo.compile({ x }, { s, p })(A { 1, 2, 3 })
    assert.same({ 1, 3, 6 }, sums:totable())
    assert.same({ 0, 2, 9 }, products:totable())
    local list = damo.scan(function(x_t, s2) return s2 + x_t, x_t end,
      { sequences = x, outputs_info = { 0, false }, return_list = true })
    assert.equal(2, #list)
  end)

  it("goes backwards", function()
    local x = damo.dvector "x"
    local y = damo.scan(function(a, b, h) return h * 2 + a * 10 + b end,
      { sequences = { { input = x, taps = { 0, 1 } } }, outputs_info = { 0 }, go_backwards = true })
    assert.same({ 34, 2 * 34 + 23, 2 * (2 * 34 + 23) + 12 }, damo.compile({ x }, y)(A { 1, 2, 3, 4 }):totable())
  end)

  it("takes n_steps as a number, a Variable of any integer dtype, zero included", function()
    for _, dtype in ipairs { "int8", "uint8", "int32", "uint64" } do
      local n = damo.scalar("n", { dtype = dtype })
      local y = damo.scan(function(h) return h * 2 end, { outputs_info = 1, n_steps = n })
      local f = damo.compile({ n }, y)
      assert.same({ 2, 4, 8 }, f(A(3, dtype)):totable())
      assert.same({ 0 }, f(A(0, dtype)).shape)
    end
    assert.same({ 2, 4 }, damo.scan(function(h) return h * 2 end, { outputs_info = 1, n_steps = 2 }):totable())
    local n = damo.lscalar "n"
    local f = damo.compile({ n }, damo.scan(function(h) return h * 2 end, { outputs_info = 1, n_steps = n }))
    assert.equal("Scan: n_steps must not be negative, got -1", failure("value", f, A(-1, "int64")):match "^[^\n]*")
    assert.equal("scan: n_steps must not be negative, got -2", failure("value", damo.scan, function(h) return h end,
      { outputs_info = 1, n_steps = -2 }))
    assert.equal("scan: n_steps must be an integer, got 2.5", failure("type", damo.scan, function(h) return h end,
      { outputs_info = 1, n_steps = 2.5 }))
  end)

  it("ends with the step that says so", function()
    local limit = damo.dscalar "limit"
    local h = damo.scan(function(h) return h * 2, damo.until_(damo.gt(h, limit)) end, { outputs_info = 1 })
    local f = damo.compile({ limit }, h)
    assert.same({ 2, 4, 8, 16 }, f(7):totable())
    assert.same({ 2 }, f(0):totable())
    assert.equal(101, f(1e30).size)
    local x = damo.dvector "x"
    local y = damo.scan(function(x_t, s) return s + x_t, damo.until_(damo.gt(s + x_t, 3)) end,
      { sequences = x, outputs_info = 0 })
    local g = damo.compile({ x }, y)
    assert.same({ 1, 3, 6 }, g(A { 1, 2, 3, 4, 5 }):totable())
    assert.same({ 1, 2 }, g(A { 1, 1 }):totable())
  end)

  it("finds what fn uses of outside, and computes above it once", function()
    local x, w, s = damo.dvector "x", damo.dscalar "w", damo.shared(2.0, "s")
    local outside = damo.exp(w)
    local y = damo.scan(function(x_t) return x_t * outside * s end, { sequences = x })
    local f = damo.compile({ x, w }, y)
    close({ 2 * math.exp(1), 4 * math.exp(1) }, f(A { 1, 2 }, 1):totable())
    s:set_value(0.0)
    assert.same({ 0, 0 }, f(A { 1, 2 }, 1):totable())
    for _, node in ipairs(y.owner.op.fgraph.apply_nodes) do assert.is_nil(tostring(node.op):find "exp") end
    assert.equal("scan: strict: fn uses w, which is not among non_sequences",
      failure("value", damo.scan, function(x_t) return x_t * w end, { sequences = x, strict = true }))
    damo.scan(function(x_t, v) return x_t * v end, { sequences = x, non_sequences = w, strict = true })
  end)

  it("computes at once where all arguments are values", function()
    assert.same({ 1, 3, 6 }, damo.scan(function(x_t, h) return h + x_t end,
      { sequences = A { 1, 2, 3 }, outputs_info = 0 }):totable())
    local a, b = damo.scan(function(x_t) return x_t, x_t * 2 end, { sequences = { { 1, 2 } } })
    assert.same({ 1, 2 }, a:totable())
    assert.same({ 2, 4 }, b:totable())
  end)

  it("has states of any dtype, and a number takes the output's", function()
    for _, dtype in ipairs { "int32", "float32", "complex128", "int16" } do
      local x = damo.vector("x", { dtype = dtype })
      local y = damo.scan(function(x_t, h) return h * 2 + x_t end, { sequences = x, outputs_info = 0 })
      assert.equal(dtype, y.dtype)
      assert.equal(5, damo.compile({ x }, damo.abs(y):sum())(A({ 1, 2 }, dtype)))
    end
    local function alone(fn, start) return damo.scan(fn, { outputs_info = start, n_steps = 2 }).dtype end
    assert.equal("float64", alone(function(h) return h * 2 end, 1))
    assert.equal("float64", alone(function(h) return damo.tanh(h) end, 1))
    assert.equal("int16", alone(function(h) return damo.cast(h * 2, "int16") end, 1))
    assert.equal("bool", damo.scan(function(h) return damo.logical_not(h) end, { outputs_info = true,
      n_steps = 2 }).dtype)
    local z = damo.scan(function(h) return h + damo.constant(A { 1.5, 2.5 }) end, { outputs_info = 0, n_steps = 2 })
    assert.same({ { 1.5, 2.5 }, { 3, 5 } }, z:totable())
  end)

  it("calls fn again for a wider Type, and draws count once", function()
    local rs, other = damo.random.RandomStream(5), damo.random.RandomStream(5)
    local calls, x = 0, damo.fvector "x"
    damo.scan(function(x_t, h)
      calls = calls + 1
      rs:normal()
      return h + x_t
    end, { sequences = x, outputs_info = 0 })
    assert.equal(2, calls)
    other:normal()
    assert.equal(other.n, rs.n)
  end)

  it("has sparse non_sequences and sparse states, whose last value is the result", function()
    local S = damo.sparse.csr_matrix "S"
    local v = damo.dvector "v"
    local y = damo.scan(function(h, m) return damo.dot(m, h) end, { outputs_info = v, non_sequences = S, n_steps = 2 })
    local eye = damo.sparse.from_dense(A { { 2, 0 }, { 0, 3 } }, "csr")
    assert.same({ { 2, 3 }, { 4, 9 } }, damo.compile({ S, v }, y)(eye, A { 1, 1 }):totable())
    local power = damo.scan(function(p, m) return damo.sparse.true_dot(p, m) end,
      { outputs_info = S, non_sequences = S, n_steps = 3 })
    assert.same({ { 16, 0 }, { 0, 81 } }, damo.compile({ S }, power)(eye):toarray():totable())
  end)

  it("nests", function()
    local x = damo.dvector "x"
    local y = damo.scan(function(x_t)
      return damo.scan(function(h) return h * x_t end, { outputs_info = 1, n_steps = 3 })[-1]
    end, { sequences = x })
    assert.same({ 1, 8, 27 }, damo.compile({ x }, y)(A { 1, 2, 3 }):totable())
  end)

  it("stands in an OpFromGraph, and holds one", function()
    local x, w = damo.dvector "x", damo.dscalar "w"
    local y = damo.scan(function(x_t, h) return h * w + x_t end, { sequences = x, outputs_info = 0 })
    local op = damo.graph.OpFromGraph({ x, w }, { y })
    local f = damo.compile({ x, w }, { op(x, w), damo.grad(op(x, w):sum(), w) })
    local value, slope = f(A { 1, 2, 3 }, 2)
    assert.same({ 1, 4, 11 }, value:totable())
    assert.near(1 + 2 + 2 * 2 * 1, slope, 1e-12)
    local a, b, c = damo.dscalar "a", damo.dscalar "b", damo.dscalar "c"
    local step = damo.graph.OpFromGraph({ a, b, c }, { a * c + b })
    local z = damo.scan(function(x_t, h) return step(h, x_t, w) end, { sequences = x, outputs_info = 0 })
    assert.same({ 1, 4, 11 }, damo.compile({ x, w }, z)(A { 1, 2, 3 }, 2):totable())
  end)

  it("is an Op that holds its graph; equal graphs make equal Ops", function()
    local x = damo.dvector "x"
    local function loop(name)
      return damo.scan(function(x_t, h) return h * 2 + x_t end, { sequences = x, outputs_info = 0, name = name })
    end
    local op = loop().owner.op
    assert.is_true(damo.graph.HasInnerGraph(op))
    assert.equal(2, #op.inner_inputs)
    assert.equal(1, #op.inner_outputs)
    assert.equal(op, loop().owner.op)
    assert.not_equal(op, loop("rnn").owner.op)
    assert.equal("Scan{rnn}", tostring(loop("rnn").owner.op))
    assert.truthy(damo.printing.debugprint(loop(), { file = "str" }):find("Inner graphs:", 1, true))
    local node = loop().owner
    local outputs = damo.compile({ x }, { loop(), loop() }).fgraph.outputs
    assert.equal(outputs[1], outputs[2])
    assert.equal("Scan", node.op.name)
  end)

  it("runs its graph in DEBUG and NANGUARD", function()
    local x = damo.dvector "x"
    local y = damo.scan(function(x_t, h) return damo.log(h) + x_t end, { sequences = x, outputs_info = 1 })
    local f = damo.compile({ x }, { y, damo.grad(y:sum(), x) }, { mode = "DEBUG" })
    assert.near(2 + math.log(3), f(A { 3, 2 }):totable()[2], 1e-12)
    local g = damo.compile({ x }, y, { mode = "NANGUARD" })
    assert.truthy(failure("numeric", g, A { -1, 2 }))
  end)
end)

describe("long rows, which steps write in place", function()
  local n = 700
  local function reference(x, g, h)
    local ys, zs = {}, {}
    for t = 1, x.shape[1] do
      local y = damo.sin(g) + h * 0.5 + x[t]
      ys[t], zs[t] = y, damo.cumsum(y) * 0.01
      g, h = h, y
    end
    return ys, zs
  end
  local function same(a, b) assert.near(0, damo.max(damo.abs(a - b)), 1e-12) end
  local function check(x, past, ys, zs)
    local y, z = reference(x, past[1], past[2])
    for t = 1, ys.shape[1] do
      same(y[t], ys[t])
      same(z[t], zs[t])
    end
  end
  local x, h0, limit = damo.dmatrix "x", damo.dmatrix "h0", damo.lscalar "limit"
  local function loop()
    return damo.scan(function(v, g, h, k)
      local y = damo.sin(g) + h * 0.5 + v
      return y, damo.cumsum(y) * 0.01, k + 1, damo.until_(damo.ge(k + 1, limit))
    end, { sequences = x, outputs_info = { { initial = h0, taps = { -2, -1 } }, false, damo.constant(A(0, "int64")) } })
  end

  it("have the values of the loop, and belong to their call", function()
    local y, z = damo.scan(function(v, g, h)
      local value = damo.sin(g) + h * 0.5 + v
      return value, damo.cumsum(value) * 0.01
    end, { sequences = x, outputs_info = { { initial = h0, taps = { -2, -1 } }, false } })
    local f, last = damo.compile({ x, h0 }, { y, z }), damo.compile({ x, h0 }, { y[{ { -3, -1 } }], z[-1] })
    local past, kept = draw(1, 2, n), {}
    for call, steps in ipairs { 9, 4, 9, 1 } do
      local v = draw(call, steps, n)
      kept[call] = { v, f(v, past) }
      if steps > 3 then
        local tail, final = last(v, past)
        same(kept[call][2][{ { -3, -1 } }], tail)
        same(kept[call][3][-1], final)
      end
    end
    for _, call in ipairs(kept) do check(call[1], past, call[2], call[3]) end
  end)

  it("go on when their number is not known", function()
    local y, z = loop()
    local f = damo.compile({ x, h0, limit }, { y, z })
    local v, past = draw(3, 60, n), draw(1, 2, n)
    for _, steps in ipairs { 40, 17, 60, 3 } do
      local ys, zs = f(v, past, steps)
      assert.equal(steps, ys.shape[1])
      check(v, past, ys, zs)
    end
  end)
end)

describe("NANGUARD", function()
  local rows = damo.dmatrix "rows"
  local function log_rows()
    return damo.scan(function(row)
      return damo.scan(function(v, h) return damo.exp(damo.log(v + 0 * h)) end,
        { sequences = row, outputs_info = 1, name = "inner" })
    end, { sequences = rows, name = "outer" })
  end

  it("names the inner node and the steps", function()
    local f = damo.compile({ rows }, log_rows(), { mode = "NANGUARD" })
    local message = failure("numeric", f, A { { 1, 1 }, { 2, -1 } })
    assert.equal("NANGUARD: the result Elemwise{log}.1 holds nan\nin step 2 of Scan{inner}\nin step 2 of Scan{outer}",
      message)
    f = damo.compile({ rows }, log_rows() + 1, { mode = "NANGUARD" }) -- the node of the sum finds it
    message = failure("numeric", f, A { { 1, 1 }, { 2, -1 } })
    assert.truthy(message:find("Elemwise{log}.1 holds nan in step 2 of Scan{inner} in step 2 of Scan{outer}", 1, true))
  end)

  it("lets a switch outside of the loop discard entries", function()
    local y = log_rows()
    local f = damo.compile({ rows }, damo.switch(damo.isnan(y), 0, y), { mode = "NANGUARD" })
    assert.same({ { 1, 0 } }, f(A { { 1, -1 } }):totable())
  end)
end)

describe("what scan refuses", function()
  local x = damo.dvector "x"

  it("a sequence that is too short, with its name and both lengths", function()
    local y = damo.scan(function(x_t) return x_t end, { sequences = x, n_steps = 4 })
    local message = failure("shape", damo.compile({ x }, y), A { 1, 2, 3 })
    assert.truthy(message:find("Scan: sequence 1 (x) has length 3, too short for 4 steps", 1, true), message)
  end)

  it("taps that leave fewer than 0 steps", function()
    local y = damo.scan(function(a, b) return a + b end, { sequences = { { input = x, taps = { -2, 1 } } } })
    local f = damo.compile({ x }, y)
    assert.same({ 0 }, f(A { 1, 2, 3 }).shape)
    assert.truthy(failure("shape", f, A { 1, 2 }):find("sequence 1 (x) has length 2, fewer than the 3 rows", 1, true))
  end)

  it("an entry with another field, or without its Variable, and a step that gives nothing", function()
    local function step(x_t) return x_t end
    for text, options in pairs {
      ["entry 1 of sequences has the unknown field 'inptu'"] = { sequences = { { inptu = x, taps = { 0 } } } },
      ["entry 2 of sequences has taps, but no input"] = { sequences = { x, { taps = { 0 } } } },
      ["entry 1 of outputs_info has the unknown field 'intial'"] = { outputs_info = { { intial = x } }, n_steps = 2 },
      ["entry 1 of outputs_info has taps, but no initial"] = { outputs_info = { { taps = { -1 } } }, n_steps = 2 },
    } do
      assert.truthy(failure("value", damo.scan, step, options):find(text, 1, true), text)
    end
    assert.truthy(failure("value", damo.scan, function() end, { sequences = x }):find("fn returned nothing", 1, true))
  end)

  it("a state whose Type changes", function()
    local h0 = damo.lscalar "h0"
    assert.truthy(failure("type", damo.scan, function(h) return h * 0.5 end, { outputs_info = h0, n_steps = 2 })
      :find("output 1 changes its Type from step to step", 1, true))
    assert.truthy(failure("type", damo.scan, function(h) return h:sum() end, { outputs_info = x, n_steps = 2 })
      :find("output 1 changes its Type", 1, true))
  end)

  it("a state whose shape changes, with the step", function()
    local y = damo.scan(function(h) return damo.concatenate({ h, h }) end, { outputs_info = x, n_steps = 3 })
    local message = failure("shape", damo.compile({ x }, y), A { 1, 2 })
    assert.truthy(message:find("output 1 has shape {4} in step 1", 1, true) or message:find("step 2", 1, true), message)
  end)

  it("an error in a step names the step and the inner line", function()
    local y = damo.scan(function(x_t, h) return damo.assert_op(h + x_t, damo.lt(x_t, 3)) end,
      { sequences = x, outputs_info = 0, name = "walk" })
    local ok, err = pcall(damo.compile({ x }, y), A { 1, 2, 3 })
    assert.is_false(ok)
    assert.truthy(err.message:find("in step 3 of Scan{walk}", 1, true), err.message)
    assert.truthy(err.trace[1]:find("scan_spec.lua", 1, true))
  end)

  it("an initial value with too few rows, by the number of the output", function()
    local _, y = damo.scan(function(a, b) return damo.ones { 2 }, a + b end,
      { outputs_info = { false, { initial = x, taps = { -2, -1 } } }, n_steps = 3 })
    assert.truthy(failure("shape", damo.compile({ x }, y), A { 1 })
      :find("the initial value of output 2 (x) has 1 row, its taps reach 2 steps back", 1, true))
    assert.equal("scan: the initial value of output 1 must have a first axis with 1 row, for its taps, got "
      .. "TensorType(float64, shape=())",
      failure("type", damo.scan, function(h) return h end,
        { outputs_info = { { initial = 1, taps = -1 } }, n_steps = 2 }))
  end)

  it("wrong arguments", function()
    local function id(v) return v end
    assert.equal("scan: argument 1 (fn) must be a function, got nil", failure("type", damo.scan))
    assert.truthy(failure("value", damo.scan, id, { sequence = x }):find "did you mean 'sequences'")
    assert.equal("scan: give n_steps, or a sequence to go along, or return until_(cond) from fn",
      failure("value", damo.scan, id, { outputs_info = 1 }))
    assert.equal("scan: outputs_info has 2 entries, fn returns 1 output",
      failure("value", damo.scan, function(_, h) return h end, { sequences = x, outputs_info = { 0, 0 } }))
    assert.equal("scan: the taps of entry 1 of outputs_info must be negative, got 0",
      failure("value", damo.scan, id, { outputs_info = { { initial = x, taps = { 0 } } }, n_steps = 2 }))
    assert.equal("scan: sequence 1 must have a first axis to go along, got TensorType(float64, shape=())",
      failure("type", damo.scan, id, { sequences = 2 }))
    assert.equal("scan: checkpoint must be 'all', 'log' or a number of steps from 1 on, got some",
      failure("value", damo.scan, id, { sequences = x, checkpoint = "some" }))
    assert.equal("scan: output 1 of fn must be a Variable or a value, got function",
      failure("type", damo.scan, function() return print end, { sequences = x }))
    assert.equal("scan: unknown mode 'FAST_RUM', did you mean 'FAST_RUN'?",
      failure("value", damo.scan, id, { sequences = x, mode = "FAST_RUM" }))
  end)
end)

describe("the mode of a scan", function()
  it("is that of its inner graph: a name, or the linker of a Mode", function()
    local x = damo.dvector "x"
    for _, mode in ipairs { "NANGUARD", damo.Mode { linker = "nanguard" } } do
      local y = damo.scan(function(e, sum) return sum + damo.log(e) end,
        { sequences = x, outputs_info = 0, mode = mode })
      local f = damo.compile({ x }, y)
      assert.equal(2, #f(damo.ones { 2 }))
      assert.truthy(failure("numeric", f, damo.array { 1, -1 }):find("NANGUARD", 1, true))
    end
  end)
end)

describe("updates in a scan", function()
  it("are made by a Function whose graph holds a result, once", function()
    local s = damo.shared(0, "s")
    local y = damo.scan(function() return s * 1, { [s] = s + 1 } end, { n_steps = 5 })
    local f = damo.compile({}, { y, y[-1] })
    assert.same({ 0, 1, 2, 3, 4 }, (f()):totable())
    assert.equal(5, s:get_value())
    f()
    assert.equal(10, s:get_value())
    local none = damo.compile({}, s * 2)
    none()
    assert.equal(10, s:get_value())
  end)

  it("of one shared Variable by two scans are an error that names both, unless updates says which", function()
    local s = damo.shared(0, "s")
    local function count(name, by)
      return damo.scan(function() return s * 1, { [s] = s + by } end, { n_steps = 2, name = name })
    end
    local a, b = count("a", 1), count("b", 2)
    local message = failure("value", damo.compile, {}, { a, b })
    assert.truthy(message:find("Scan{a}", 1, true) and message:find("Scan{b}", 1, true), message)
    damo.compile({}, { a, b }, { updates = { [s] = damo.constant(7) } })()
    assert.equal(7, s:get_value())
  end)

  it("are handed back with return_updates", function()
    local s = damo.shared(1.0, "s")
    local y, updates = damo.scan(function() return s * 1, { [s] = s * 2 } end, { n_steps = 3, return_updates = true })
    damo.compile({}, y)()
    assert.equal(1, s:get_value())
    damo.compile({}, y, { updates = updates })()
    assert.equal(8, s:get_value())
  end)

  it("that are handed back are left to the script, those of random streams too", function()
    local rs, m = damo.random.RandomStream(1), damo.dscalar "m"
    local y, updates = damo.scan(function(h) return h * m + rs:normal(0, 1) end,
      { outputs_info = 1.0, n_steps = 3, return_updates = true })
    for _, result in ipairs { y, y[-1], damo.grad(y[-1], m), damo.Rop(y, m, damo.constant(1.0)) } do
      local same = damo.compile({ m }, result)
      assert.equal(tostring(same(2)), tostring(same(2)))
      local other = damo.compile({ m }, result, { updates = updates })
      assert.not_equal(tostring(other(2)), tostring(other(2)))
    end
  end)

  it("are made inside an OpFromGraph too, with its gradient once, and in Ops inside that one", function()
    local s, a, x = damo.shared(0.0, "s"), damo.dvector "a", damo.dvector "x"
    local op = damo.graph.OpFromGraph({ a },
      { damo.scan(function(v) return v * 2, { [s] = s + v } end, { sequences = a }) })
    local function rises(by, f, ...)
      local before = s:get_value()
      f(...)
      assert.equal(before + by, s:get_value())
    end
    rises(3, damo.compile({ x }, op(x)), A { 1, 2 })
    rises(3, damo.compile({ x }, damo.grad(op(x):sum(), x)), A { 1, 2 })
    rises(3, damo.compile({ x }, { op(x), damo.grad((op(x) ^ 2):sum(), x) }), A { 1, 2 })
    local b, rows = damo.dvector "b", damo.dmatrix "rows"
    local outer = damo.graph.OpFromGraph({ b }, { op(b) + 1 })
    rises(3, damo.compile({ x }, outer(x)), A { 1, 2 })
    rises(10, damo.compile({ rows }, damo.scan(function(row) return outer(row) end, { sequences = rows })),
      A { { 1, 2 }, { 3, 4 } })
    local rs = damo.random.RandomStream(1)
    local draws = damo.graph.OpFromGraph({ a },
      { damo.scan(function(v) return rs:normal(v, 1) end, { sequences = a }) })
    local f = damo.compile({ x }, draws(x))
    assert.not_equal(tostring(f(A { 1, 2 })), tostring(f(A { 1, 2 })))
  end)

  it("of random streams go on from call to call, with the gradient too, which has the same draws", function()
    local m = damo.dscalar "m"
    local function make()
      local rs = damo.random.RandomStream(1)
      local y = damo.scan(function(h) return h * m * rs:normal(m, 1.0) end, { outputs_info = 1.0, n_steps = 3 })
      return y, damo.grad(y:sum(), m)
    end
    local y, g = make()
    local both = damo.compile({ m }, { y, g })
    local _, alone = make()
    local only = damo.compile({ m }, alone)
    local first, slope = both(2.0)
    assert.equal(slope, only(2.0))
    local second, later = both(2.0)
    assert.not_equal(first:totable()[1], second:totable()[1])
    assert.equal(later, only(2.0))
  end)
end)

describe("updates in a scan", function()
  it("must be of the Type of what they update, or fit into it", function()
    local x, s = damo.dvector "x", damo.shared(0.5, "s")
    local function loop(now) return damo.scan(function(e) return e * s, { [s] = now } end, { sequences = x }) end
    assert.equal("scan: the update of s must be of TensorType(float64, shape=()), got TensorType(float64, shape=(?,))",
      failure("type", loop, x))
    damo.compile({ x }, loop(damo.constant(damo.array(7, "int64"))))(damo.ones { 2 })
    assert.equal(7, s:get_value())
    local n = damo.shared(damo.array(1, "int64"), "n")
    assert.equal("scan: the update of n must be of TensorType(int64, shape=()), got TensorType(float64, shape=()); "
      .. 'damo.cast(e, "int64") converts it',
      failure("type", damo.scan, function(e) return e, { [n] = n + 0.5 } end, { sequences = x }))
  end)
end)

describe("map, reduce, foldl, foldr", function()
  it("are scans", function()
    local x = damo.dvector "x"
    local function fold(v, s) return s * 0.5 + v end
    local f = damo.compile({ x }, { damo.map(function(v) return v * v end, { sequences = x }),
      damo.reduce(fold, { sequences = x, outputs_info = 0 }), damo.foldl(fold, { sequences = x, outputs_info = 0 }),
      damo.foldr(fold, { sequences = x, outputs_info = 0 }) })
    local squares, sum, left, right = f(A { 1, 2, 3 })
    assert.same({ 1, 4, 9 }, squares:totable())
    assert.equal(4.25, sum)
    assert.equal(4.25, left)
    assert.equal(2.75, right)
    assert.equal(6, damo.reduce(function(v, s) return s + v end, { sequences = A { 1, 2, 3 }, outputs_info = 0 }))
    assert.truthy(failure("value", damo.map, function(v) return v end, { outputs_info = 0 }):find "outputs_info")
  end)
end)

describe("while_loop", function()
  it("gives the final state", function()
    local n = damo.dscalar "n"
    local a, b = damo.while_loop(function(v) return damo.lt(v, n) end, function(v, k) return v * 2, k + 1 end, { 1, 0 })
    local f = damo.compile({ n }, { a, b })
    local value, steps = f(100)
    assert.equal(128, value)
    assert.equal(7, steps)
    value, steps = f(0.5)
    assert.equal(1, value)
    assert.equal(0, steps)
  end)

  it("takes one Variable, and stops at max_steps without an error", function()
    local v = damo.dvector "v"
    local y = damo.while_loop(function() return true end, function(h) return h * 2 end, v, { max_steps = 3 })
    assert.same({ 8, 16 }, damo.compile({ v }, y)(A { 1, 2 }):totable())
    assert.equal(64, (damo.while_loop(function(h) return damo.lt(h, 50) end, function(h) return h * 2 end, 1)))
  end)

  it("may change the length of a vector", function()
    local v = damo.dvector "v"
    local y = damo.while_loop(function(h) return damo.lt(h.shape[1], 5) end,
      function(h) return damo.concatenate({ h, h }) end, v)
    assert.same({ 8 }, damo.compile({ v }, y)(A { 1, 2 }).shape)
  end)

  it("refuses another number of values or another Type", function()
    assert.equal("while_loop: body must give 1 value, it gives 2", failure("value", damo.while_loop,
      function() return true end, function(h) return h, h end, 1))
    assert.truthy(failure("type", damo.while_loop, function() return true end, function(h) return h:sum() end,
      damo.dvector "v"):find("output 1 changes its Type", 1, true))
  end)
end)

describe("progress", function()
  it("is told each step, and its error ends the call with nothing done", function()
    local told, s = {}, damo.shared(0, "s")
    local y = damo.scan(function() return s * 1, { [s] = s + 1 } end, { n_steps = 3, progress = function(k, n)
      told[#told + 1] = k .. "/" .. n
      if s:get_value() > 0 and k == 2 then error("enough", 0) end
    end })
    local f = damo.compile({}, y)
    f()
    assert.same({ "1/3", "2/3", "3/3" }, told)
    assert.equal(3, s:get_value())
    assert.truthy(failure("callback", f):find "enough")
    assert.equal(3, s:get_value())
  end)
end)

describe("progress in DEBUG", function()
  it("is told each step once", function()
    local steps, x = {}, damo.dvector "x"
    local y = damo.scan(function(v) return v * 2 end,
      { sequences = x, progress = function(step, total) steps[#steps + 1] = step .. "/" .. total end })
    damo.compile({ x }, y, { mode = "DEBUG" })(A { 1, 2, 3 })
    assert.same({ "1/3", "2/3", "3/3" }, steps)
  end)
end)

describe("the profile of a scan", function()
  it("has the steps and the nodes of a step", function()
    local x = damo.dvector "x"
    local y = damo.scan(function(x_t, h) return damo.tanh(h) + x_t end, { sequences = x, outputs_info = 0 })
    local f = damo.compile({ x }, y, { profile = true })
    f(damo.ones { 4 })
    f(damo.ones { 3 })
    local found = false
    for _, entry in ipairs(f.profile.nodes) do
      if entry.op:find "^Scan" then
        found = true
        assert.equal(7, entry.steps)
        assert.equal(7, entry.nodes[1].calls)
      end
    end
    assert.is_true(found)
    assert.truthy(f.profile:print { file = "str" })
  end)
end)

describe("progress = true", function()
  it("writes a bar", function()
    local progress, told = require "damo.progress", {}
    local new = progress.new
    rawset(progress, "new", function(total, title)
      return new(total, title, { out = { write = function(_, text) told[#told + 1] = text end } })
    end)
    damo.scan(function(h) return h + 1 end, { outputs_info = 0, n_steps = 3, progress = true, name = "count" })
    rawset(progress, "new", new)
    assert.equal(3, #told)
    assert.truthy(told[3]:find("^count 3/3"))
  end)

  it("keeps its function while the node is made, whenever the collector runs", function()
    local pause, stepmul = collectgarbage("setpause", 1), collectgarbage("setstepmul", 10000)
    local calls = 0
    local ok, err = pcall(function()
      for _ = 1, 20 do
        damo.scan(function(h) return h + 1 end,
          { outputs_info = 0, n_steps = 3, progress = function() calls = calls + 1 end })
      end
    end)
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", stepmul)
    assert.is_true(ok, tostring(err))
    assert.equal(60, calls)
  end)
end)

describe("a long scan", function()
  it("ends with the error that a debug hook raises, and leaves nothing half done", function()
    local s = damo.shared(0, "s")
    local y = damo.while_loop(function(h) return damo.ge(h, s) end, function(h) return h + 1 end, 0)
    local f = damo.compile({}, damo.scan(function(h) return h + s, { [s] = s + 1 } end,
      { outputs_info = 0, n_steps = 1e15 })[-1])
    for _, endless in ipairs { f, damo.compile({}, y) } do
      local started = os.clock()
      debug.sethook(function()
        if os.clock() - started < 0.02 then return end
        debug.sethook()
        error("too long", 0)
      end, "", 100)
      local ok, err = pcall(endless)
      debug.sethook()
      assert.is_false(ok)
      assert.truthy(tostring(err):find "too long")
    end
    assert.equal(0, s:get_value())
  end)

  it("looks for it again after some steps, since the next ones may take longer", function()
    local x, n, looks = damo.dscalar "x", damo.lscalar "n", 0
    local f = damo.compile({ x, n }, damo.scan(function(h) return h * 0.999 end, { outputs_info = x, n_steps = n })[-1],
      { mode = damo.Mode { jit = false } })
    f(1, 100)
    debug.sethook(function() looks = looks + 1 end, "c") -- a call in each look
    f(1, 32000)
    debug.sethook()
    assert.is_true(looks >= 32000 / 32, looks)
  end)
end)

describe("an empty scan", function()
  it("has rows of the right shape", function()
    local x = damo.dmatrix "x"
    local a, b = damo.scan(function(x_t, h) return h + x_t, x_t * 2 end,
      { sequences = x, outputs_info = { damo.constant(draw(1, 3)), false } })
    local h, y = damo.compile({ x }, { a, b })(damo.zeros({ 0, 3 }))
    assert.same({ 0, 3 }, h.shape)
    assert.same({ 0, 3 }, y.shape)
  end)

  it("computes the new value of a shared Variable in each step, whenever it was built", function()
    local s = damo.shared(0.0, { name = "s" })
    s.default_update = s + 1
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.scan(function(x_t) return x_t + s end, { sequences = x }))
    assert.same({ 0, 1, 2, 3 }, f(damo.zeros { 4 }):totable())
    assert.equal(4, s:get_value())
    local r = damo.shared(0.0, { name = "r" })
    local next_r = r + 1
    local g = damo.compile({}, damo.scan(function() return r * 1, { [r] = next_r } end, { n_steps = 4 }))
    assert.same({ 0, 1, 2, 3 }, g():totable())
    assert.equal(4, r:get_value())
  end)

  it("draws anew in each step from an Op that holds a graph", function()
    local stream, a, x = damo.random.RandomStream(1), damo.dscalar "a", damo.dvector "x"
    local op = damo.graph.OpFromGraph({ a }, { stream:normal(0, 1) + a })
    local f = damo.compile({ x }, damo.scan(function(x_t) return op(x_t) end, { sequences = x }))
    local seen = {}
    for _ = 1, 2 do
      for _, v in ipairs(f(damo.zeros { 4 }):totable()) do
        assert.is_nil(seen[v])
        seen[v] = true
      end
    end
  end)

  it("gives a number as initial state the dtype of what it meets", function()
    local x = damo.fvector "x"
    local function dtype(step, initial)
      return damo.scan(step, { sequences = x, outputs_info = initial }).dtype
    end
    local function sum(x_t, h) return h + x_t end
    local function rnn(x_t, h) return damo.tanh(h * 0.5 + x_t) end
    for _, step in ipairs { sum, rnn } do
      for _, initial in ipairs { 0, 0.5 } do assert.equal("float32", dtype(step, initial)) end
    end
    local w = damo.dscalar "w"
    local nested = damo.scan(function(h)
      return damo.scan(function(g) return g * w end, { outputs_info = h, n_steps = 2 })[-1]
    end, { outputs_info = 1.5, n_steps = 2 })
    assert.same({ 6, 24 }, damo.compile({ w }, nested)(2):totable())
  end)

  it("takes constants as numbers of steps", function()
    local h = damo.dscalar "h"
    for _, n in ipairs { damo.constant(damo.array(3, "int64")), damo.array(3, "int64") } do
      local y = damo.scan(function(v) return v * 2 end, { outputs_info = h, n_steps = n })
      assert.same({ 2, 4, 8 }, damo.compile({ h }, y)(1):totable())
    end
  end)
end)
