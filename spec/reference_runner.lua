-- Runs the reference cases of a folder (environment DAMO_REFERENCE, default spec/reference): values and every
-- vector-Jacobian product. Prints each failing case's name and ends with "N passed, N failed, N skipped".
--
--   lua spec/reference_runner.lua [part of a case's name]

local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/reference/?.lua;" .. package.path
local damo = require "damo"
local translate = require "translate"

-- ---- What is not built yet: its cases are skipped -----------------------------------------------------------------

local unclaimed = {
  families = {
    "dense_linalg",
    "sparse_add", "sparse_cast", "sparse_compare", "sparse_composite", "sparse_construct", "sparse_conversion",
    "sparse_csm", "sparse_diag_clean", "sparse_dot", "sparse_getitem", "sparse_monoids", "sparse_mul",
    "sparse_probability", "sparse_properties", "sparse_sampling_usmm", "sparse_scale", "sparse_sp_sum", "sparse_stack",
    "sparse_structured_dot", "sparse_sub", "sparse_transpose_neg", "sparse_true_dot", "sparse_vector_forms",
  },
  ops = {
    "i0", "i1", "iv", "ive", "j0", "j1", "jv", "kv", "betainc", "gammainc", "gammaincc", "polygamma",
    "bincount", "searchsorted",
  },
}

local function set(list)
  local s = {}
  for _, v in ipairs(list) do s[v] = true end
  return s
end
unclaimed = { families = set(unclaimed.families), ops = set(unclaimed.ops) }

-- Kinds of error that a case which must raise may meet.
local refusals = set { "type", "shape", "value", "index", "numeric", "null_gradient" }

-- ---- Values -------------------------------------------------------------------------------------------------------

local function size_of(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

local function bools(data)
  local out = {}
  for i, v in ipairs(data) do out[i] = v ~= 0 and v ~= false end
  return out
end

local function array_of(data, dtype, shape)
  if size_of(shape) == 0 then return damo.zeros(shape, dtype) end
  if dtype == "bool" then data = bools(data) end
  return damo.array(data, dtype):reshape { shape = shape }
end

-- A 0-d value as an Array, whatever eager functions make of it.
local function zero_d(v, dtype) return damo.array(v, dtype) end

-- The Array of a VALUE.
local function array(v)
  local part = v.dtype == "complex64" and "float32" or "float64"
  if v.kind == "scalar" then
    if v.re then return damo.complex(zero_d(v.re, part), zero_d(v.im, part)) end
    local value = v.value
    if v.dtype == "bool" then value = value ~= 0 and value ~= false end
    return zero_d(value, v.dtype)
  end
  if v.re then return damo.complex(array_of(v.re, part, v.shape), array_of(v.im, part, v.shape)) end
  return array_of(v.data, v.dtype, v.shape)
end

-- A Variable that a VALUE fits: a dimension of 1 is known, so that it broadcasts; the others are open.
local function variable(v, name)
  local shape = {}
  for k, d in ipairs(v.shape or {}) do shape[k] = d == 1 and 1 or false end
  return damo.tensor(name, { dtype = v.dtype, shape = shape })
end

local function flatten(t, out)
  if type(t) ~= "table" then
    out[#out + 1] = t == true and 1 or t == false and 0 or t
    return out
  end
  for _, x in ipairs(t) do flatten(x, out) end
  return out
end

-- A result as a VALUE; a number stands for a 0-d one, whose dtype the Variable tells.
local function plain(result, dtype)
  if type(result) ~= "userdata" then return { shape = {}, dtype = dtype, data = flatten(result, {}) } end
  local out = { shape = result.shape, dtype = result.dtype }
  if result.dtype:find "complex" then
    out.re = plain(damo.real(result)).data
    out.im = plain(damo.imag(result)).data
  else
    out.data = result.ndim == 0 and flatten(result:item(), {}) or flatten(result:totable(), {})
  end
  return out
end

-- ---- Comparison ---------------------------------------------------------------------------------------------------

local function text_of_shape(s) return "(" .. table.concat(s, ", ") .. ")" end

local function close(x, y, rtol, atol)
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  if x == y then return true end
  if x == math.huge or x == -math.huge or y == math.huge or y == -math.huge then return false end
  return math.abs(x - y) <= atol + rtol * math.abs(y)
end

local function compare_data(got, want, case, offset)
  for i = 1, #want do
    local w = want[i]
    if w == true or w == false then w = w and 1 or 0 end
    if got[i] == nil then return ("entry %d is missing"):format(i) end
    if not close(got[i] - offset, w, case.rtol or 0, case.atol or 0) then
      return ("entry %d is %s, expected %s"):format(i, got[i] - offset, w)
    end
  end
end

-- What is wrong with a result, or nil. offset: what damo's positions are ahead by; loose: dtypes don't count.
local function differs(got, want, case, offset, loose)
  local shape = want.shape or {}
  if text_of_shape(got.shape) ~= text_of_shape(shape) then
    return ("shape %s, expected %s"):format(text_of_shape(got.shape), text_of_shape(shape))
  end
  if not loose and got.dtype ~= want.dtype and got.dtype ~= case.alt_dtype then
    return ("dtype %s, expected %s"):format(got.dtype, want.dtype)
  end
  if want.re then
    local re, im = want.re, want.im
    if want.kind == "scalar" then re, im = { re }, { im } end
    if not got.re then return "a real result, expected a complex one" end
    return compare_data(got.re, re, case, 0) or compare_data(got.im, im, case, 0)
  end
  if got.re then
    for _, v in ipairs(got.im) do
      if v ~= 0 then return "a complex result, expected a real one" end
    end
  end
  local data = want.data or { want.value }
  if want.kind == "scalar" then data = { want.value } end
  return compare_data(got.data or got.re, data, case, offset)
end

-- ---- A case -------------------------------------------------------------------------------------------------------

local function operands_of(case)
  local vars, values = {}, {}
  for i, v in ipairs(case.inputs) do
    vars[i] = variable(v, "x" .. i)
    values[i] = array(v)
  end
  return vars, values
end

local function evaluate(vars, outputs, values)
  local f = damo.compile(vars, outputs, { on_unused_input = "ignore" })
  return { f(table.unpack(values)) }
end

local function check_outputs(case, vars, outputs, values, report)
  if #outputs ~= #case.outputs then
    return report(("%d outputs, expected %d"):format(#outputs, #case.outputs))
  end
  local results = evaluate(vars, outputs, values)
  for i, want in ipairs(case.outputs) do
    local offset = translate.positions[case.op] and 1 or 0
    local why = differs(plain(results[i], outputs[i].dtype), want, case, offset)
    if why then report(("output %d: %s"):format(i, why)) end
  end
end

-- No connection, no gradient, or zeros: what may stand where the reference records none.
local function is_none(g, vars, values)
  if g == nil or g.type == damo.DisconnectedType() or tostring(g.type):find "NullType" then return true end
  for _, v in ipairs(plain(evaluate(vars, { g }, values)[1], g.dtype).data or {}) do
    if v ~= 0 then return false end
  end
  return true
end

local function check_vjp(case, vjp, vars, outputs, values, report)
  local known = {}
  for i, c in ipairs(vjp.cotangent) do
    if c.kind ~= "disconnected" and c.kind ~= "null" then known[outputs[i]] = damo.constant(array(c)) end
  end
  local g = damo.grad(nil, vars[vjp.wrt], {
    known_grads = known,
    disconnected_inputs = "ignore",
    null_gradients = "return",
    return_disconnected = "none",
  })
  local want = vjp.result
  if want == nil or want.kind == "null" or want.kind == "disconnected" then
    if not is_none(g, vars, values) then report "a gradient, expected none" end
    return
  end
  if g == nil then return report "no gradient" end
  local result = plain(evaluate(vars, { g }, values)[1], g.dtype)
  local why = differs(result, want, case, 0, vjp.note ~= nil)
  if why then report(why) end
end

-- The line of an error that a message needs.
local function first_line(err)
  if type(err) == "table" or type(err) == "userdata" then
    local ok, text = pcall(function() return ("%s error: %s"):format(err.kind, err.message) end)
    err = ok and text or tostring(err)
  end
  return (tostring(err):gsub("\n.*", ""))
end

local function must_raise(case, report)
  local ok, err = pcall(function()
    local vars, values = operands_of(case)
    return evaluate(vars, translate.call(damo, case, vars), values)
  end)
  if ok then return report(("nothing was raised: %s"):format(case.raises)) end
  local has_kind, kind = pcall(function() return err.kind end)
  if not has_kind or not refusals[kind] then report("raised: " .. first_line(err)) end
end

local function run_case(case)
  local problems = {}
  local function reporter(prefix)
    return function(why) problems[#problems + 1] = prefix .. why end
  end
  if case.raises then
    must_raise(case, reporter "")
    return problems
  end
  local vars, values, outputs
  local ok, err = pcall(function()
    vars, values = operands_of(case)
    outputs = translate.call(damo, case, vars)
    check_outputs(case, vars, outputs, values, reporter "")
  end)
  if not ok then problems[#problems + 1] = first_line(err) end
  for i, vjp in ipairs(outputs and case.vjp or {}) do
    local prefix = ("vjp %d: "):format(i)
    local fine, why = pcall(check_vjp, case, vjp, vars, outputs, values, reporter(prefix))
    if not fine then problems[#problems + 1] = prefix .. first_line(why) end
  end
  return problems
end

-- ---- All of them --------------------------------------------------------------------------------------------------

local function files_of(folder)
  local list = {}
  local pipe = assert(io.popen(("ls '%s'"):format(folder:gsub("'", "'\\''"))))
  for name in pipe:lines() do
    local family = name:match "^(.*)%.lua$"
    if family and family ~= "translate" then list[#list + 1] = family end
  end
  pipe:close()
  return list
end

local count = { passed = 0, failed = 0, skipped = 0, advisory = 0 }

local function run_and_count(case)
  local problems = run_case(case)
  if #problems == 0 then
    count.passed = count.passed + 1
    return
  end
  local verdict = case.advisory and "advisory" or "failed"
  count[verdict] = count[verdict] + 1
  print(("%s %s: %s"):format(verdict, case.name, table.concat(problems, "; ")))
end

local function run_family(folder, family, only)
  local load_case = assert(loadfile(("%s/%s.lua"):format(folder, family), "t", { nan = 0 / 0, inf = 1 / 0 }))
  for _, case in ipairs(load_case()) do
    local asked = not only or case.name:find(only, 1, true)
    local is_unclaimed = unclaimed.families[family] or unclaimed.ops[case.op]
    if asked and is_unclaimed then count.skipped = count.skipped + 1 end
    if asked and not is_unclaimed then run_and_count(case) end
  end
end

local folder = os.getenv "DAMO_REFERENCE" or here .. "/reference"
for _, family in ipairs(files_of(folder)) do run_family(folder, family, arg[1]) end
if count.advisory > 0 then print(("%d advisory cases differ and are not counted"):format(count.advisory)) end
print(("%d passed, %d failed, %d skipped"):format(count.passed, count.failed, count.skipped))
os.exit(count.failed == 0 and count.passed + count.skipped > 0)
