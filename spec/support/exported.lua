-- Compares exported functions with the virtual machine's. models: a list of
--   {name, inputs, outputs, args, updates =, mode =, dtype =, calls =, exact =, fails =, f = its Function}
-- with args a list of Arrays and numbers, one for each input. run(models, dir, compiler, flags) exports each model
-- into dir, compiles all of them and a program that calls each of them `calls` times, and returns a list of messages,
-- one for each number that differs: in any bit if `exact`, else by more than 1e-12 (float32: 2e-6), relatively where
-- the number is above 1. fails: the call fails, in the file as in the virtual machine.
local damo = require "damo"

local unpack = table.unpack or unpack -- luacheck: ignore
local exported = {}

local c_types = { float64 = "double", float32 = "float", int8 = "int8_t", int16 = "int16_t", int32 = "int32_t",
  int64 = "int64_t", uint8 = "uint8_t", uint16 = "uint16_t", uint32 = "uint32_t", uint64 = "uint64_t",
  bool = "uint8_t", complex128 = "double", complex64 = "float" }

local function write(path, text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

local function read(path)
  local f = io.open(path, "rb")
  local text = f and f:read "*a"
  if f then f:close() end
  return text or ""
end

--- dtype: that of the Variable, since not every Lua tells 2.0 from 2.
local function as_array(v, dtype)
  if type(v) == "boolean" then return damo.array(v) end
  if type(v) ~= "number" then return v end
  return damo.array(v, dtype:find "int" and "int64" or "float64")
end

--- The numbers of an Array; of complex ones both parts, one after the other.
local function flat(a)
  if tostring(a.dtype):find "complex" then
    a = damo.stack({ damo.reshape(damo.real(a), { -1 }), damo.reshape(damo.imag(a), { -1 }) }, { axis = 2 })
  end
  return damo.reshape(damo.cast(a, "float64"), { -1 }):totable()
end

--- The dtype in the file.
local function written(dtype, single)
  return single and ({ float64 = "float32", complex128 = "complex64" })[dtype] or dtype
end

local function literal(v)
  if v ~= v then return "NAN" end
  if v == math.huge then return "INFINITY" end
  if v == -math.huge then return "-INFINITY" end
  local text = ("%.17g"):format(v)
  return text == "-0" and "-0.0" or text
end

local function number(text)
  if text:find "nan" then return 0 / 0 end
  if text:find "inf" then return text:sub(1, 1) == "-" and -math.huge or math.huge end
  return tonumber(text)
end

-- Numbers of that shape, between -1.3 and 1.3.
function exported.values(shape, seed, dtype)
  local n, t = 1, {}
  for _, d in ipairs(shape) do n = n * d end
  for i = 1, n do t[i] = math.sin(i * 1.7 + (seed or 1)) * 1.3 end
  return damo.reshape(damo.array(t, dtype or "float64"), shape)
end

exported.compilers = {}
for _, c in ipairs { "gcc", "clang" } do
  local found = os.execute("command -v " .. c .. " >/dev/null 2>&1")
  if found == true or found == 0 then exported.compilers[#exported.compilers + 1] = c end
end

-- A function that calls model m and prints what it returns; results: of one call.
local function driver(m, results)
  local n = m[1]
  local lines = { "#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <stdint.h>",
    '#include "' .. n .. '.h"', "int run_" .. n .. "(void);", "int run_" .. n .. "(void) {", "  void *data = NULL;" }
  local function add(...) lines[#lines + 1] = string.format(...) end
  local ins, outs = {}, {}
  for i, a in ipairs(m[4]) do
    local dtype = tostring(m[2][i].dtype)
    a = as_array(a, dtype)
    dtype = written(dtype, m.dtype)
    local list = {}
    for k, v in ipairs(flat(a)) do list[k] = literal(v == true and 1 or v == false and 0 or v) end
    add("  static const %s i%d[] = {%s};", c_types[dtype], i, #list > 0 and table.concat(list, ", ") or "0")
    ins[i] = "i" .. i
  end
  add('  FILE *f = fopen("%s.bin", "rb");', n)
  add("  if (f != NULL) { data = malloc(1 << 22); if (fread(data, 1, 1 << 22, f) == 0) return 1; fclose(f); }")
  for o, a in ipairs(results) do
    add("  void *o%d = calloc(%d, 8);", o, #flat(a) + 1)
    outs[o] = "o" .. o
  end
  add("  const void *in[] = {%s};", #ins > 0 and table.concat(ins, ", ") or "0")
  if m.fails then add("  static double any[4096];") end
  local none = m.fails and "any, any, any" or "0"
  add("  void *out[] = {%s};", #outs > 0 and table.concat(outs, ", ") or none)
  add("  void *state = malloc(%s_state_size() + 1), *work = malloc(%s_work_size() + 1);", n, n)
  add("  if (%s_state_init(state, data) != 0) return 2;", n)
  add("  for (int call = 0; call < %d; call++) {", m.calls or 1)
  add("    if (%s(in, out, state, data, work) %s 0) return 3;", n, m.fails and "==" or "!=")
  for o, a in ipairs(results) do
    local dtype = tostring(m[3][o].dtype)
    dtype = written(dtype, m.dtype)
    add('    for (int k = 0; k < %d; k++) printf("%%.17g ", (double)((%s *)o%d)[k]);', #flat(a), c_types[dtype], o)
    add('    printf("\\n");')
  end
  add("  }\n  free(state), free(work), free(data);")
  for o in ipairs(results) do add("  free(o%d);", o) end
  add("  return 0;\n}")
  return table.concat(lines, "\n") .. "\n"
end

local function compile(m)
  return damo.compile(m[2], m[3], { updates = m.updates, mode = m.mode, on_unused_input = "ignore" })
end

-- The results of m's calls, a list for each.
local function expected(m)
  local f, calls = m.f, {}
  if m.fails then
    if pcall(f, unpack(m[4])) then error(m[1] .. " does not fail") end
    return { {} }
  end
  for call = 1, m.calls or 1 do
    calls[call] = { f(unpack(m[4])) }
    for o, v in ipairs(calls[call]) do calls[call][o] = as_array(v, tostring(m[3][o].dtype)) end
  end
  return calls
end

-- Exports the model, and makes its part of the program. Keeps its results.
local function prepare(m, dir)
  if m.calls_made then return end
  m.f = m.f or compile(m)
  local shapes = {}
  for i, a in ipairs(m[4]) do shapes[i] = as_array(a, "float64").shape end
  m.f:export_c { name = m[1], dir = dir, shapes = shapes, dtype = m.dtype }
  m.calls_made = expected(m)
  write(dir .. "/run_" .. m[1] .. ".c", driver(m, m.calls_made[1]))
end

local function compare(m, compiler, lines, messages)
  for call, results in ipairs(m.calls_made) do
    for o, want in ipairs(results) do
      local line = lines()
      local k, list = 0, flat(want)
      for text in (line or ""):gmatch "%S+" do
        k = k + 1
        local got, w = number(text), list[k]
        if w == true then w = 1 elseif w == false then w = 0 end
        local bound = m.exact and 0 or (m.dtype or tostring(m[3][o].dtype) == "float32") and 2e-6 or 1e-12
        bound = m.bound or bound
        local same = got == w or (got ~= got and w ~= w)
        local near = w and math.abs(got - w) <= bound * math.max(1, math.abs(w))
        if not same and not near then
          messages[#messages + 1] = ("%s, %s, call %d, output %d, element %d: %.17g, expected %.17g"):format(
            compiler, m[1], call, o, k, got, w or 0 / 0)
        end
      end
      if k ~= #list then
        messages[#messages + 1] = ("%s, %s, output %d: %d elements, expected %d"):format(compiler, m[1], o, k, #list)
      end
    end
  end
end

function exported.run(models, dir, compiler, flags)
  local main, sources, messages = { "#include <stdio.h>" }, {}, {}
  for _, m in ipairs(models) do
    prepare(m, dir)
    main[#main + 1] = "int run_" .. m[1] .. "(void);"
    sources[#sources + 1] = "run_" .. m[1] .. ".c"
    sources[#sources + 1] = m[1] .. ".c"
  end
  main[#main + 1] = "int main(void) {\n  int status;"
  for _, m in ipairs(models) do
    main[#main + 1] = ('  printf("%s\\n"); status = run_%s();'):format(m[1], m[1])
    main[#main + 1] = '  if (status != 0) { printf("failed: %d\\n", status); return 1; }'
  end
  main[#main + 1] = "  return 0;\n}"
  write(dir .. "/main.c", table.concat(main, "\n") .. "\n")
  local command = ("cd %s && %s -std=c99 -pedantic -Wall -Wextra -Werror %s main.c %s -lm -o run 2>log.txt")
    :format(dir, compiler, flags or "-O1", table.concat(sources, " "))
  local status = os.execute(command) -- Lua 5.1 gives the number
  if status ~= true and status ~= 0 then return { read(dir .. "/log.txt"):sub(1, 4000) } end
  os.execute(("cd %s && ./run >out.txt 2>&1"):format(dir))
  local lines = read(dir .. "/out.txt"):gmatch "([^\n]*)\n"
  for _, m in ipairs(models) do
    local head = lines()
    if head ~= m[1] then
      messages[#messages + 1] = ("%s: expected the results of %s, got %s"):format(compiler, m[1], tostring(head))
      break
    end
    compare(m, compiler, lines, messages)
  end
  return messages
end

return exported
