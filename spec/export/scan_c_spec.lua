-- Loops and branches as functions of an exported file.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local x, y, A, W = damo.dvector "x", damo.dvector "y", damo.dmatrix "A", damo.dmatrix "W"
local s = damo.dscalar "s"
local values = exported.values

local models = {}
local function exact(name, inputs, outputs, args)
  models[#models + 1] = { name, inputs, outputs, args, exact = true }
  return models[#models]
end
local function near(name, ...) exact(name, ...).exact = nil end

local sums = damo.scan(function(v, h) return h * 0.5 + v end, { sequences = x, outputs_info = s })
exact("sums", { x, s }, { sums }, { values { 20 }, 0.3 })
exact("last_sum", { x, s }, { sums[-1] }, { values { 20 }, 0.3 })
exact("last_sums", { x, s }, { sums[{ { -3 } }] }, { values { 20 }, 0.3 })
exact("sums_grad", { x, s }, damo.grad(damo.sum(damo.sqr(sums)), { x, s }), { values { 20 }, 0.3 })
exact("sums_hvp", { x, y, s }, { damo.grad(damo.sum(damo.grad(damo.sum(sums * damo.sqr(sums)), x) * y), x) },
  { values { 12 }, values({ 12 }, 3), 0.4 })
exact("no_step", { x, s }, { sums }, { damo.zeros { 0 }, 0.5 })

local net = damo.scan(function(v, h, w) return damo.tanh(v + damo.dot(w, h)) end,
  { sequences = A, outputs_info = x, non_sequences = W })
near("net", { A, x, W }, { net[-1] }, { values { 7, 4 }, values { 4 }, values { 4, 4 } })
near("net_grad", { A, x, W }, damo.grad(damo.sum(damo.sqr(net)), { A, x, W }),
  { values { 7, 4 }, values { 4 }, values { 4, 4 } })

local two_back = damo.scan(function(a, b) return a + b end,
  { outputs_info = { { initial = x, taps = { -2, -1 } } }, n_steps = 10 })
exact("two_back", { x }, { two_back, damo.grad(damo.sum(damo.sqr(two_back)), x) }, { values { 2 } })
local three_back = damo.scan(function(a, b) return a * 0.9 - b * 0.2 end,
  { outputs_info = { { initial = x, taps = { -1, -3 } } }, n_steps = 10 })
exact("three_back", { x }, { three_back[-1], damo.grad(three_back[-1], x) }, { values { 3 } })
local neighbours = damo.scan(function(a, b, c) return a - 2 * b + c end,
  { sequences = { { input = x, taps = { -1, 0, 1 } } } })
exact("neighbours", { x }, { neighbours, damo.grad(damo.sum(damo.sqr(neighbours)), x) }, { values { 9 } })
exact("backwards", { x }, { damo.scan(function(v, h) return h + v * v end,
  { sequences = x, outputs_info = damo.constant(0.0), go_backwards = true }) }, { values { 9 } })
exact("mapped", { A }, { damo.map(function(v) return damo.sum(v * 2) end, { sequences = A }) }, { values { 5, 6 } })
exact("columns", { A, s }, { damo.scan(function(v, h) return damo.sum(v) + h end,
  { sequences = A.T, outputs_info = s }) }, { values { 3, 4 }, 0.5 })
exact("two_states", { x, s }, { damo.scan(function(v, a, b) return { a + v * b, b - 0.1 * a } end,
  { sequences = x, outputs_info = { s, s * 2 } }) }, { values { 9 }, 0.5 })

for _, checkpoint in ipairs { "all", 1, 3, "log" } do
  local chain = damo.scan(function(h) return damo.sqr(h) * 0.9 - 0.4 end,
    { outputs_info = x, n_steps = 37, checkpoint = checkpoint })
  exact("checkpoint_" .. checkpoint, { x }, { damo.grad(damo.sum(chain[-1]), x) }, { values { 6 } })
end

exact("bounded", { s }, { damo.while_loop(function(v) return damo.lt(v, 100) end, function(v) return v * 1.5 end, s,
  { max_steps = 50 }) }, { 1.0 })
exact("bounded_not_entered", { s }, { damo.while_loop(function(v) return damo.lt(v, 100) end,
  function(v) return v * 1.5 end, s, { max_steps = 50 }) }, { 200.0 })
exact("stopped", { x, s }, { damo.scan(function(v, h)
  local sum = h + v
  return sum, damo.until_(damo.gt(sum, 3))
end, { sequences = damo.sqr(x), outputs_info = s })[-1] }, { values { 20 }, 0.5 })
local nested = damo.scan(function(row, h)
  return damo.scan(function(v, a) return a + v * v end, { sequences = row, outputs_info = h })[-1]
end, { sequences = A, outputs_info = s })
exact("nested", { A, s }, { nested, damo.grad(damo.sum(nested), A) }, { values { 3, 4 }, 0.5 })

local w = damo.shared(damo.array { 1, 2, 3 })
exact("updates", { x }, { damo.scan(function(v) return w * v, { [w] = w + v } end, { sequences = x }) },
  { values { 4 } }).calls = 2

local branch = damo.ifelse(damo.gt(s, 0), damo.sum(damo.sqr(x)), damo.prod(x))
for name, at in pairs { first = 1.0, second = -1.0 } do
  exact("branch_" .. name, { s, x }, { branch, damo.grad(branch, x) }, { at, values { 5 } })
end
local branches = damo.ifelse(damo.gt(s, 0), damo.ifelse(damo.gt(s, 1), x, x * 2), x * 3)
for i, at in ipairs { 2, 0.5, -0.5 } do
  exact("branches_" .. i, { s, x }, { branches, damo.grad(damo.sum(damo.sqr(branches)), x) }, { at, values { 4 } })
end
-- A branch that no call takes may hold what can't be computed, for short operands too, which are constants of the file.
for i, no in ipairs { damo.linalg.inv(damo.zeros_like(A)), damo.linalg.inv(damo.constant { { 0, 0 }, { 0, 0 } }),
  damo.linalg.cholesky(damo.zeros_like(A)),
  A[damo.cast(damo.zeros_like(A[1]), "int64")] } do
  exact("untaken_" .. i, { s, A }, { damo.ifelse(damo.gt(s, 0), A, no) }, { 1.0, values { 2, 2 } })
end
-- What is known while exporting: a branch that a length chooses, the rows of constants of a loop of one step.
local longer = damo.gt(damo.shape(x)[1], 3)
local constants = damo.ifelse(longer, damo.constant { 1.5, -0.0, 3 }, damo.constant { 0.5, 2, -1 })
for i, n in ipairs { 3, 4 } do
  exact("length_" .. i, { x }, { damo.ifelse(longer, x * 2, x + 1), constants * damo.sum(x), constants },
    { values { n } })
end
local rows = damo.constant { { 1, 2, 0 }, { 3, -4, 0.5 }, { -0.0, 1, 7 } }
local once = damo.scan(function(a, b, c, h) return h * a - b + c[{ { -1, 1, -1 } }] end, {
  sequences = { { input = rows, taps = { -1, 0, 1 } } }, outputs_info = x[{ { 1, 3 } }], n_steps = 1 })
exact("once", { x }, { once, damo.grad(damo.sum(once[-1] * x[{ { 1, 3 } }]), x) }, { values { 5 } })
local both = damo.jacobian(damo.stack { x[1] * x[2], x[2] / x[1], damo.sum(x) }, x)
exact("jacobian", { x }, { both }, { values { 4 } })
models[#models + 1] = { "jacobian_single", { x }, { both }, { values { 4 } }, dtype = "float32" }
local k = damo.lscalar "k" -- a position outside of its axis fails only in the branch that reads it
exact("guarded", { k, x }, { damo.ifelse(damo.gt(k, 4), damo.constant(1.0), x[k]) }, { 5, values { 4 } })

local function fails(f, options, message)
  local ok, err = pcall(f.export_c, f, options)
  assert.is_false(ok)
  assert.truthy(tostring(err):find(message, 1, true), tostring(err))
end

describe("export_c of loops and branches", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler))
    end)
  end

  it("refuses loops without a known bound, and results whose shapes depend on values", function()
    local n = damo.lscalar "n"
    local f = damo.compile({ s, n }, damo.scan(function(h) return h * 2 end, { outputs_info = s, n_steps = n })[-1])
    fails(f, { name = "unbounded", dir = dir }, "a loop without a known bound")
    f = damo.compile({ s }, damo.while_loop(function(v) return damo.lt(v, 9) end, function(v) return v * 2 end, s))
    fails(f, { name = "unbounded", dir = dir }, "a loop without a known bound")
    f = damo.compile({ x, s }, damo.scan(function(v, h)
      local sum = h + v
      return sum, damo.until_(damo.gt(sum, 3))
    end, { sequences = damo.sqr(x), outputs_info = s }))
    fails(f, { name = "unbounded", dir = dir, shapes = { { 3 }, {} } }, "the number of steps")
    f = damo.compile({ s, x, y }, damo.ifelse(damo.gt(s, 0), x, y))
    fails(f, { name = "unbounded", dir = dir, shapes = { {}, { 3 }, { 4 } } }, "different shapes")
    f = damo.compile({ x }, damo.scan(function(v) return v * 2 end, { sequences = x, progress = function() end }))
    fails(f, { name = "unbounded", dir = dir, shapes = { { 3 } } }, "progress")
    assert.is_nil(io.open(dir .. "/unbounded.c"))
  end)
end)
