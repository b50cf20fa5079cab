-- Functions as C source: each model is exported, all are compiled into one program, and its results are compared with
-- those of the virtual machine.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local function write(name, text)
  local f = assert(io.open(dir .. "/" .. name, "w"))
  f:write(text)
  f:close()
end

local function read(name)
  local f = io.open(dir .. "/" .. name, "rb")
  local text = f and f:read "a"
  if f then f:close() end
  return text
end

local x, y, A = damo.dvector "x", damo.dvector "y", damo.dmatrix "A"
local s = damo.dscalar "s"
local index = damo.idx { 3, 1, 3, 2, 5 }

-- name, inputs, outputs, shapes; exact: to the bit, since no function of a library takes part
local models = {
  { "sum", { x }, { damo.sum(x) }, { { 1500 } }, exact = true },
  { "sqr", { x, y }, { damo.sum((x - y) * (x - y)), x / y }, { { 700 }, { 700 } }, exact = true },
  { "prod", { x }, { damo.prod(x), damo.max(x), damo.min(x), damo.argmax(x), damo.argmin(x) }, { { 37 } },
    exact = true },
  { "axes", { A },
    { damo.sum(A, 1), damo.sum(A, 2), damo.max(A, 1), damo.mean(A, 2) }, { { 40, 600 } }, exact = true },
  { "rows", { A }, { A - damo.max(A, { axis = 2, keepdims = true }) }, { { 7, 9 } }, exact = true },
  { "turned", { A }, { A.T + 1, damo.reshape(A, { -1 }) * 2, damo.reshape(A.T, { -1 }) }, { { 4, 6 } }, exact = true },
  { "scalar", { s }, { s * s + 1, damo.switch(damo.gt(s, 0), s, -s) }, { {} }, exact = true },
  { "part", { x }, { x[{ { 2, 5 } }], x[3] + x[-1], x[{ { -1, 1, -2 } }] }, { { 9 } }, exact = true },
  { "write", { x, y },
    { damo.set_subtensor(x[{ { 2, 4 } }], y), damo.inc_subtensor(x[{ { 2, 4 } }], y) }, { { 9 }, { 3 } },
    exact = true },
  { "gather", { x }, { x[index] * 2 }, { { 9 } }, exact = true },
  { "scatter", { x, y }, { damo.inc_subtensor(x[index], y) }, { { 9 }, { 5 } }, exact = true },
  { "joined", { x, y }, { damo.join(1, { x, y, x }), damo.zeros_like(x) + 3 }, { { 3 }, { 4 } }, exact = true },
  { "ints", { x },
    { damo.floor_div(damo.cast(x * 100, "int32"), 7), damo.cast(x * 100, "int64") % -5, damo.floor(x * 9) }, { { 50 } },
    exact = true },
  { "grad", { x }, { damo.grad(damo.sum(damo.sqr(x[{ { 2 } }] - x[{ { 1, -2 } }])), x) }, { { 600 } }, exact = true },
  { "exps", { x }, { damo.exp(x), damo.tanh(x), damo.sigmoid(x), damo.log1p(x * x), damo.sin(x) }, { { 100 } } },
  { "lse", { A }, { damo.logsumexp(A, 2), damo.nn.softmax(A, 2) }, { { 5, 600 } } },
  { "dot", { A, x }, { A:dot(x), A.T:dot(A), damo.dot(x, x) }, { { 6, 8 }, { 8 } } },
  { "layer", { A, x }, { damo.grad(damo.sum(damo.tanh(A:dot(x))), A) }, { { 6, 8 }, { 8 } } },
  { "hvp", { x, y },
    { damo.grad(damo.sum(damo.grad(damo.sum(damo.sin(x[index]) * x[index]), x) * y), x) },
    { { 9 }, { 9 } } },
}

for _, m in ipairs(models) do
  local shapes = m[4]
  m[1], m[4] = "model_" .. m[1], {}
  for i, shape in ipairs(shapes) do m[4][i] = exported.values(shape, i) end
end

describe("export_c", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("gives C source that compiles without a warning and has the virtual machine's results", function()
    assert.is_true(#exported.compilers > 0)
    for _, compiler in ipairs(exported.compilers) do
      assert.same({}, exported.run(models, dir, compiler))
    end
  end)

  it("keeps shared values in the state", function()
    local w = damo.shared(damo.array { 1, 2, 3 }, "w")
    local f = damo.compile({ x }, damo.sum(w * x), { updates = { [w] = w + x } })
    f:export_c { name = "stateful", dir = dir, shapes = { { 3 } } }
    write("state_main.c", [[
#include <stdio.h>
#include <stdlib.h>
#include "stateful.h"
int main(void) {
  double x[3] = {1, 1, 2}, r;
  const void *in[] = {x};
  void *out[] = {&r}, *state = malloc(stateful_state_size()), *work = malloc(stateful_work_size() + 1);
  if (stateful_state_init(state, NULL) != 0) return 1;
  for (int i = 0; i < 3; i++) {
    if (stateful(in, out, state, NULL, work) != 0) return 1;
    printf("%g ", r);
  }
  return 0;
}
]])
    local command = "cd %s && cc -std=c99 -pedantic -Wall -Wextra -Werror state_main.c stateful.c -lm -o st "
      .. "&& ./st >st.txt"
    assert(os.execute(command:format(dir)))
    assert.equal("9 15 21 ", read "st.txt")
    assert.same({ 1, 2, 3 }, w:get_value():totable())
  end)

  it("writes the gradient of a long chain as loops over an index table", function()
    local n = 100000
    local t = {}
    for i = 1, n do t[i] = (i * 7919) % n + 1 end
    local table_ = damo.constant(damo.array(t, "int64"))
    local z = damo.dvector "z"
    local d = z[table_] - z
    local f = damo.compile({ z }, damo.grad(damo.sum(damo.sqr(d) + damo.cos(d)), z))
    f:export_c { name = "chain", dir = dir, shapes = { { n } } }
    assert.is_true(#read "chain.c" < 200000)
    assert.is_true(#read "chain.bin" >= 8 * n)
  end)

  it("has the text of kernel/plain as it is in the tree", function()
    local status = os.execute "sh make/plain-text --check"
    assert.is_true(status == true or status == 0)
  end)

  it("refuses names, shapes and Ops that it can't write, before a file is written", function()
    local f = damo.compile({ x }, x * 2)
    local function fails(options, message)
      local ok, err = pcall(f.export_c, f, options)
      assert.is_false(ok)
      assert.truthy(tostring(err):find(message, 1, true), tostring(err))
    end
    fails({ dir = dir, shapes = { { 3 } } }, "name must be a string")
    for _, name in ipairs { "", "2x", "a b", "_x", "a__b", "int", "class", "main", "sinf", "x;y", "x_t", "ä" } do
      fails({ name = name, dir = dir, shapes = { { 3 } } }, "export_c: the name")
    end
    local z = damo.zmatrix "z"
    f = damo.compile({ z }, { z * 2, (damo.linalg.qr(z, { pivoting = true, mode = "economic" })), damo.linalg.det(z) })
    for _, name in ipairs { "c128", "c64", "pair_f64", "qr_entry_c128", "over_pair_f64" } do
      fails({ name = name, dir = dir, shapes = { { 3, 3 } } }, "is that of a function or a type that the file needs")
    end
    f = damo.compile({ x }, damo.exp(x), { mode = damo.Mode { reproducible = true } })
    for _, name in ipairs { "plain_upper", "plain_pair" } do
      fails({ name = name, dir = dir, shapes = { { 3 } } }, "is that of a function or a type that the file needs")
    end
    f = damo.compile({ x }, x * 2)
    fails({ name = "f", dir = dir }, "the length of axis 1 of input 1 is not known")
    fails({ name = "f", dir = dir, shapes = { { 3, 4 } } }, "expected 1")
    fails({ name = "f", dir = dir, shapes = {} }, "one for each input")
    fails({ name = "f", dir = dir, shap = {} }, "the options are name, dir, shapes, dtype")
    f = damo.compile({ A }, damo.linalg.solve_continuous_are(A, A, A, A))
    fails({ name = "form", dir = dir, shapes = { { 3, 3 } } }, "there is no C source for it")
    assert.is_nil(read "form.c")
    assert.is_nil(read "f.c")
  end)
end)
