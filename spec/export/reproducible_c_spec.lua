-- Exported files of Functions of reproducible modes: to the bit, elementary functions and products included.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local values = exported.values
local mode = damo.Mode { reproducible = true }
local x, A, B = damo.dvector "x", damo.dmatrix "A", damo.dmatrix "B"
local f = damo.fvector "f"
local models = {}
local function model(name, inputs, outputs, args)
  models[#models + 1] = { name, inputs, outputs, args, exact = true, mode = mode }
  return models[#models]
end

local function functions_of(v)
  local u = damo.tanh(v) * 0.9
  return { damo.exp(v), damo.exp2(v), damo.expm1(v), damo.log(damo.abs(v)), damo.log1p(v * v), damo.sigmoid(v),
    damo.softplus(v), damo.sin(v), damo.cos(v), damo.tan(v), damo.arcsin(u), damo.arccos(u), damo.arctan(v),
    damo.sinh(v), damo.cosh(v), damo.tanh(v), damo.erf(v), damo.pow(damo.abs(v), 1.7), damo.arctan2(v, v + 1),
    damo.logaddexp(v, -v), damo.log1mexp(-damo.abs(v)), damo.sin(v * 1e9) }
end
model("functions", { x }, functions_of(x), { values { 200 } * 4 })
model("functions_of_singles", { f }, functions_of(f), { damo.cast(values { 200 } * 4, "float32") })
model("rows", { A }, { damo.nn.softmax(A, 2), damo.nn.softmax(A, 1), damo.logsumexp(A, 2) }, { values { 5, 700 } })
model("products", { A, B, x }, { A:dot(B), A:dot(x), x:dot(B), damo.dot(x, x),
  damo.grad(damo.sum(damo.tanh(A:dot(B))), A) }, { values { 9, 150 }, values { 150, 21 }, values { 150 } })
model("network", { A, B, x }, damo.grad(damo.sum(damo.sqr(damo.tanh(A:dot(B) + x))), { A, B, x }),
  { values { 40, 30 }, values { 30, 20 }, values { 20 } })
model("loop", { x, B }, { damo.scan(function(h) return damo.tanh(B:dot(h)) end,
  { outputs_info = x, n_steps = 9 })[-1] }, { values { 6 }, values { 6, 6 } })
local g = damo.random.RandomStream(3)
model("draws", { x }, { damo.exp(g:normal(x, 1)), g:uniform { size = { 5 } } }, { values { 7 } }).calls = 2

describe("export_c of reproducible modes", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    for _, flags in ipairs { "-O0", "-O3 -march=native" } do
      it(("gives the virtual machine's bits, by %s %s"):format(compiler, flags), function()
        assert.same({}, exported.run(models, dir, compiler, flags))
      end)
    end
  end

  it("refuses functions that only a library has", function()
    local h = damo.compile({ x }, damo.cbrt(x) + damo.gammaln(x), { mode = mode })
    local ok, err = pcall(h.export_c, h, { name = "refused", dir = dir, shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("in reproducible mode", 1, true), tostring(err))
    assert.is_nil(io.open(dir .. "/refused.c"))
  end)

  it("links with the same bits", function()
    local v = values { 50 }
    local linked = damo.compile({ x }, damo.tanh(x), { mode = damo.Mode { linker = "cc", reproducible = true } })
    assert.same(damo.compile({ x }, damo.tanh(x), { mode = mode })(v):totable(), linked(v):totable())
  end)
end)
