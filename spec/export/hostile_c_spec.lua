-- Exported files of names, numbers and shapes that are out of the ordinary.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local values = exported.values
local huge, nan = math.huge, 0 / 0
local evil = '*/\n#error "no"\n\\"%s%n??/ '

local function read(name)
  local f = io.open(dir .. "/" .. name, "rb")
  local text = f and f:read "*a"
  if f then f:close() end
  return text
end

local x, A = damo.dvector(evil), damo.dmatrix "int main(void) {"
local k, f32 = damo.lvector "k", damo.fvector "f"

local models = {}
local function exact(name, inputs, outputs, args)
  models[#models + 1] = { name, inputs, outputs, args, exact = true }
  return models[#models]
end

exact("named", { x }, { x * damo.shared(damo.array { 1, 2, 3 }, evil) }, { values { 3 } })
local odd = damo.array { nan, huge, -huge, 0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308 }
exact("constants", { x }, { x + odd, damo.switch(damo.isnan(odd), x, -x), x * 5e-324, x / -0.0, x * nan, x + huge,
  damo.copysign(damo.ones_like(x), damo.constant(odd)) }, { values { 9 } })
exact("numbers", { x }, { x * 2, -x, damo.sqrt(damo.abs(x)), damo.maximum(x, 0), damo.minimum(x, nan), x:sum(),
  damo.max(x), damo.argmax(x), damo.sort(x), damo.argsort(x), damo.cumsum(x), damo.floor(x), damo.round(x),
  damo.sign(x), damo.eq(x, x), damo.cast(x, "int32"), damo.cast(x, "uint8"), damo.cast(x, "bool") }, { odd })
local least = damo.array({ -2147483648, 2147483647, -1, 0, 1 }, "int32")
local i32 = damo.ivector "i"
exact("int_min", { i32 }, { i32 * -1, -i32, damo.abs(i32), i32 + i32, damo.floor_div(i32, -1), i32 % -1,
  damo.floor_div(i32, 0), damo.sqr(i32), damo.cast(i32, "int64") * 4611686018427387904,
  damo.cast(i32, "int8"), damo.cast(i32, "float32") }, { least })
local minimum = damo.constant(damo.array(math.mininteger or -2 ^ 63, "int64"))
exact("int64_min", { k }, { damo.switch(damo.lt(k, 0), minimum, k),
  damo.left_shift(k, 62), damo.left_shift(k, 64), damo.right_shift(k, 63) }, { damo.array({ -5, 0, 7 }, "int64") })
exact("nothing", { x, A }, { x * 2, damo.sum(x), damo.prod(x), x[{ { 1, -1 } }], damo.join(1, { x, x }),
  damo.sum(A, 1), damo.sum(A, 2), A:dot(damo.zeros { 0 }), damo.sort(x), damo.cumsum(x), x[damo.constant(
    damo.array({}, "int64"))], damo.grad(damo.sum(damo.sqr(x)), x), damo.any(damo.gt(x, 0)), damo.all(damo.gt(x, 0)) },
  { damo.zeros { 0 }, damo.zeros { 3, 0 } })
exact("one_axis_of_none", { A }, { A + 1, damo.max(A, 1), A.T:dot(A), damo.reshape(A, { -1, 2 }) },
  { damo.zeros { 4, 0 } })
exact("backwards", { A }, { A[{ { -1, 1, -1 }, { -1, 1, -3 } }] + 1, A.T[{ { 2, -1, 2 } }] * 2,
  damo.sum(A[{ { -1, 1, -2 } }], 1) }, { values { 5, 7 } })
exact("broadcast", { A, x }, { damo.broadcast_to(x, { 4, 3 }) + A, damo.sum(damo.broadcast_to(x, { 4, 3 }), 1) },
  { values { 4, 3 }, values { 3 } })
exact("singles", { f32 }, { f32 * 3, f32 / 3, damo.sum(f32), f32 + 1e-45, damo.cast(f32, "float64") / 3 },
  { damo.array({ 1.5, 1e-45, 3.4028234e38, -0.0 }, "float32") })
exact("no_inputs", {}, { damo.constant(3.0) + 1, damo.arange(4) }, {})
exact("same_twice", { x }, { x, x, x * 1 }, { values { 3 } })
exact("constant_result", { x }, { damo.constant(damo.array { 1, 2 }), x[1] }, { values { 3 } })
local w = damo.shared(damo.array { 1.0, 2.0 }, "w")
exact("swapped", { x }, { w[1] }, { values { 2 } }).updates = { [w] = w[{ { -1, 1, -1 } }] }
models[#models].calls = 3

describe("export_c of the unusual", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler, "-O2"))
    end)
  end

  it("gives float32 results where every number is to be float32", function()
    local y = damo.dvector "y"
    local singles = {
      { "narrow", { y }, { damo.tanh(y) * 2, damo.sum(damo.sqr(y)), damo.grad(damo.sum(damo.exp(y) * y), y),
        y[{ { -1, 1, -1 } }], damo.nn.softmax(y), damo.mean(y), damo.eye(3):dot(y), damo.arange(3) + y },
        { values { 3 } }, dtype = "float32" },
      { "narrow_loop", { y }, { damo.scan(function(v, h) return h * 0.5 + v end,
        { sequences = y, outputs_info = damo.constant(0.0) }) }, { values { 7 } }, dtype = "float32" },
    }
    assert.same({}, exported.run(singles, dir, exported.compilers[1]))
  end)

  it("writes no text of the user", function()
    local text = read "named.c" .. read "named.h"
    assert.is_nil(text:find('#error "no"', 1, true) or text:find("int main", 1, true))
    assert.is_nil(text:find("%s%n", 1, true))
  end)

  it("gives headers that C++ takes", function()
    local compiler = os.execute "command -v g++ >/dev/null 2>&1" and "g++"
      or os.execute "command -v clang++ >/dev/null 2>&1" and "clang++"
    if not compiler then return pending "there is no C++ compiler" end
    local file = assert(io.open(dir .. "/user.cc", "w"))
    file:write [[
#include "named.h"
#include "nothing.h"
int main() {
  double x[3] = {1, 2, 3}, y[3], state[64], work[64];
  const void *in[] = {x};
  void *out[] = {y};
  if (named_state_size() > sizeof state || named_work_size() > sizeof work) return 1;
  if (named_state_init(state, nullptr)) return 1;
  return named(in, out, state, nullptr, work) || y[2] != 9;
}
]]
    file:close()
    assert(os.execute(("cd %s && cc -std=c99 -O1 -c named.c -o named.o && %s -std=c++11 -Wall -Wextra -Werror user.cc "
      .. "named.o -lm -o user && ./user"):format(dir, compiler)))
  end)

  it("refuses names that the file or C needs", function()
    local y = damo.dvector "y"
    local f = damo.compile({ y }, damo.exp(y) + damo.sum(y))
    local long = ("a"):rep(250)
    for _, name in ipairs { "exp_f64", "sum_block_f64", "9lives", "a-b", "a.b", "a/b", "../a", "_a", "a__b", "int",
      "new", "sinf", "powl", "errno", "x_t", "a\0b", long, "é", "a\n", "while", "UNROLLED",
      "APART" } do
      local ok, err = pcall(f.export_c, f, { name = name, dir = dir, shapes = { { 40 } } })
      assert(not ok, name)
      assert.truthy(tostring(err):find("name", 1, true), tostring(err))
    end
    local ok, err = pcall(f.export_c, f, { name = "fine", dir = dir .. "/nowhere", shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("io error", 1, true), tostring(err))
    for _, shape in ipairs { { 3, 4 }, { -1 }, { 1.5 }, { "3" }, { 2 ^ 62 }, { 2 ^ 50 } } do
      assert.is_false(pcall(f.export_c, f, { name = "fine", dir = dir, shapes = { shape } }))
    end
    f = damo.compile({ A }, A * 2 + damo.sum(A))
    for _, shape in ipairs { { 2 ^ 40, 2 ^ 40 }, { 2 ^ 32, 2 ^ 32 }, { 2 ^ 47, 4 } } do
      assert.is_false(pcall(f.export_c, f, { name = "fine", dir = dir, shapes = { shape } }))
    end
    assert.is_nil(read "fine.c")
  end)

  it("writes a gradient and a product with the Hessian of 100,000 variables in 200 kB", function()
    local n, t = 100000, {}
    for i = 1, n do t[i] = (i * 7919) % n + 1 end
    local others = damo.constant(damo.array(t, "int64"))
    local z, v = damo.dvector "z", damo.dvector "v"
    local d = z[others] - z
    local g = damo.grad(damo.sum(damo.sqr(d) + damo.cos(d)), z)
    local f = damo.compile({ z, v }, { g, damo.grad(damo.sum(g * v), z) })
    f:export_c { name = "coupled", dir = dir, shapes = { { n }, { n } } }
    assert.is_true(#read "coupled.c" < 200000)
    assert(os.execute(("cd %s && cc -std=c99 -O2 -c coupled.c -o coupled.o"):format(dir)))
  end)
end)
