-- Functions as C source: each model is exported, all are compiled into one program, and its results are compared with
-- those of the virtual machine.
local damo = require "damo"

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

local function values(shape, seed, dtype)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  local t = {}
  for i = 1, n do t[i] = math.sin(i * 1.7 + seed) * 1.3 end
  if n == 0 then t[1] = nil end
  return damo.reshape(damo.array(t, dtype or "float64"), shape)
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
    { damo.cast(x * 100, "int32") // 7, damo.cast(x * 100, "int64") % -5, damo.floor(x * 9) }, { { 50 } },
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

local function export(m, options)
  local f = damo.compile(m[2], m[3])
  options = options or {}
  options.name, options.dir, options.shapes = "model_" .. m[1], dir, m[4]
  f:export_c(options)
  return f
end

local function bytes_of(path, arrays)
  local parts = {}
  for _, a in ipairs(arrays) do
    local flat = damo.reshape(type(a) == "number" and damo.array { a } or a, { -1 }):totable()
    for _, v in ipairs(flat) do parts[#parts + 1] = string.pack("<d", v) end
  end
  write(path, table.concat(parts))
end

local compilers = {}
for _, c in ipairs { "gcc", "clang" } do
  if os.execute("command -v " .. c .. " >/dev/null 2>&1") then compilers[#compilers + 1] = c end
end

-- A main that calls a model once on the numbers of a file, and prints all results.
local function driver(m, results)
  local n = "model_" .. m[1]
  local lines = { '#include <stdio.h>', '#include <stdlib.h>', '#include <stdint.h>', '#include "' .. n .. '.h"',
    "int run_" .. m[1] .. "(void);", "int run_" .. m[1] .. "(void) {", '  FILE *f = fopen("' .. n .. '.in", "rb");',
    "  void *data = NULL;", "  if (f == NULL) return 1;" }
  local function add(...) lines[#lines + 1] = string.format(...) end
  for i, shape in ipairs(m[4]) do
    local size = 1
    for _, d in ipairs(shape) do size = size * d end
    add("  double *i%d = malloc(%d);", i, 8 * size + 8)
    add("  if (fread(i%d, 8, %d, f) != %d) return 1;", i, size, size)
  end
  add("  fclose(f);")
  add('  f = fopen("%s.bin", "rb");', n)
  add("  if (f != NULL) { data = malloc(1 << 20); if (fread(data, 1, 1 << 20, f) == 0) return 1; fclose(f); }")
  local ins, outs = {}, {}
  for i in ipairs(m[4]) do ins[i] = "i" .. i end
  for o, a in ipairs(results) do
    add("  void *o%d = calloc(%d, 8);", o, damo.reshape(a, { -1 }).shape[1] + 1)
    outs[o] = "o" .. o
  end
  add("  const void *in[] = {%s};", table.concat(ins, ", "))
  add("  void *out[] = {%s};", table.concat(outs, ", "))
  add("  void *state = malloc(%s_state_size() + 1), *work = malloc(%s_work_size() + 64);", n, n)
  add("  if (%s_state_init(state, data) != 0 || %s(in, out, state, data, work) != 0) return 2;", n, n)
  local types = { float64 = "double", float32 = "float", int64 = "int64_t", int32 = "int32_t", bool = "uint8_t" }
  for o, a in ipairs(results) do
    add('  for (int k = 0; k < %d; k++) printf("%%a ", (double)((%s *)o%d)[k]);', damo.reshape(a, { -1 }).shape[1],
      types[tostring(a.dtype)], o)
    add('  printf("\\n");')
  end
  add("  return 0;\n}")
  return table.concat(lines, "\n") .. "\n"
end

local function as_array(v)
  return type(v) == "number" and damo.array(v, math.type(v) == "integer" and "int64" or "float64") or v
end

describe("export_c", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("gives C source that compiles without a warning and has the virtual machine's results", function()
    local main, expected = { "#include <stdio.h>" }, {}
    local sources = {}
    for _, m in ipairs(models) do
      local f = export(m)
      local args = {}
      for i, shape in ipairs(m[4]) do args[i] = values(shape, i) end
      bytes_of("model_" .. m[1] .. ".in", args)
      local results = { f(table.unpack(args)) }
      for o, v in ipairs(results) do results[o] = as_array(v) end
      write("run_" .. m[1] .. ".c", driver(m, results))
      expected[m[1]] = results
      main[#main + 1] = "int run_" .. m[1] .. "(void);"
      sources[#sources + 1] = "run_" .. m[1] .. ".c"
      sources[#sources + 1] = "model_" .. m[1] .. ".c"
    end
    main[#main + 1] = "int main(void) {"
    for _, m in ipairs(models) do
      main[#main + 1] = ('  printf("%s\\n"); if (run_%s() != 0) { printf("failed\\n"); return 1; }'):format(m[1], m[1])
    end
    main[#main + 1] = "  return 0;\n}"
    write("main.c", table.concat(main, "\n") .. "\n")
    assert.is_true(#compilers > 0)
    for _, c in ipairs(compilers) do
      local command = ("cd %s && %s -std=c99 -pedantic -Wall -Wextra -Werror -O1 main.c %s -lm -o run_%s 2>log.txt")
        :format(dir, c, table.concat(sources, " "), c)
      assert(os.execute(command), read "log.txt")
      assert(os.execute(("cd %s && ./run_%s >out.txt"):format(dir, c)), (read "out.txt" or ""):sub(-80))
      local lines = read("out.txt"):gmatch "[^\n]*"
      for _, m in ipairs(models) do
        assert.equal(m[1], lines())
        for o, want in ipairs(expected[m[1]]) do
          local flat, k = damo.reshape(damo.cast(want, "float64"), { -1 }):totable(), 0
          for text in lines():gmatch "%S+" do
            k = k + 1
            local got, w = tonumber(text), flat[k]
            local where = ("%s, %s, output %d, element %d: %.17g, expected %.17g"):format(c, m[1], o, k, got, w)
            if m.exact then
              assert(got == w or (got ~= got and w ~= w), where)
            else
              assert(math.abs(got - w) <= 1e-12 * math.max(1, math.abs(w)), where)
            end
          end
          assert.equal(#flat, k)
        end
      end
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
    fails({ name = "f", dir = dir }, "the length of axis 1 of input 1 is not known")
    fails({ name = "f", dir = dir, shapes = { { 3, 4 } } }, "expected 1")
    fails({ name = "f", dir = dir, shapes = {} }, "one for each input")
    fails({ name = "f", dir = dir, shap = {} }, "the options are name, dir, shapes, dtype")
    f = damo.compile({ A }, damo.linalg.inv(A))
    fails({ name = "inverse", dir = dir, shapes = { { 3, 3 } } }, "there is no C source for it")
    assert.is_nil(read "inverse.c")
    assert.is_nil(read "f.c")
  end)
end)
