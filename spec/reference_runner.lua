-- Runs the reference cases of a folder (environment DAMO_REFERENCE, default spec/data/reference): values and every
-- vector-Jacobian product. Prints each failing case's name and ends with "N passed, N failed, N skipped".
--
--   lua spec/reference_runner.lua [a family, such as sparse_add, or part of a case's name]
--
-- DAMO_REFERENCE_MODE: the mode to compile in. Functions that do not exist are listed with the number of their cases.

local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/reference/?.lua;" .. package.path
local damo = require "damo"
local translate = require "translate"
local library = require "translate_library"
local factors = require "factors"
local values = require "values"
local judge = require "judge"

-- ---- Cases that damo answers otherwise ------------------------------------------------------------------------------

local function set(list)
  local s = {}
  for _, v in ipairs(list) do s[v] = true end
  return s
end

-- Calls that the reference refuses but damo allows: operands of two dtypes are promoted as everywhere else
-- (spec/sparse/promotion_spec.lua).
local promoted = set { "true_dot" }
local function is_answered(case) return case.raises == "dtypes differ" and promoted[case.op] end

-- Cases whose reference has fewer digits than they ask for: SciPy solves for splines over several axes by iteration, to
-- about 1e-5 (spec/op/rows/table.lua has values by a direct solver), and a derivative of exp10 is a difference.
local function allow_for_reference(case)
  if case.op == "interpn" and case.kwargs.method == "cubic" and #case.inputs > 3 then
    case.rtol, case.atol = 1e-3, 1e-4
  elseif case.op == "exp10" and (case.rtol or 0) < 1e-8 then
    case.rtol = 1e-8
  end
end

-- The kinds of error that satisfy a case which must raise.
local refusals = set { "type", "shape", "value", "index", "numeric", "null_gradient" }

-- ---- A case -------------------------------------------------------------------------------------------------------

local function operands_of(case)
  local vars, operands = {}, {}
  for i, v in ipairs(case.home and library.inputs(case) or case.inputs) do
    vars[i] = values.variable(v, "x" .. i)
    operands[i] = values.make(v)
  end
  return vars, operands
end

local function call_of(case, vars)
  if case.is_sparse then return translate.sparse.call(damo, case, vars) end
  if case.home and not library.by_index[case.op] then return library.call(damo, case.home, case, vars) end
  return translate.call(damo, case, vars)
end

local mode = os.getenv "DAMO_REFERENCE_MODE"

-- The values of the outputs; a call without operands gave values at once.
local function evaluate(vars, outputs, operands)
  if #outputs > 0 and not damo.is_variable(outputs[1]) then return outputs end
  local f = damo.compile(vars, outputs, { on_unused_input = "ignore", mode = mode })
  return { f(table.unpack(operands)) }
end

local function check_outputs(case, vars, outputs, operands, report)
  if #outputs ~= #case.outputs then
    return report(("%d outputs, expected %d"):format(#outputs, #case.outputs))
  end
  local plain = evaluate(vars, outputs, operands)
  for i in ipairs(case.outputs) do plain[i] = values.plain(plain[i], outputs[i].dtype) end
  local results, turn = factors.align(case, plain)
  for i, want in ipairs(case.outputs) do
    local offset = case.home and library.offset(case, i) or translate.positions[case.op] and 1 or 0
    local why = judge.output(results[i], want, case, offset)
    if why then report(("output %d: %s"):format(i, why)) end
  end
  return turn
end

local function all_zero(v)
  for _, list in ipairs { v.data or v.re, v.im or {} } do
    for _, x in ipairs(list) do
      if x ~= 0 then return false end
    end
  end
  return true
end

local function has_no_value(g)
  return g == nil or g.type == damo.DisconnectedType() or tostring(g.type):find "NullType" ~= nil
end

-- Ops for which the reference has no gradient and damo may have one.
local extra_gradient = { get_item_2d = true, get_item_scalar = true, usmm = true, sampling_dot = true }

-- turn: as of factors.align.
local function check_vjp(case, vjp, vars, outputs, operands, turn, report)
  local known, all_vars, all_operands = {}, { table.unpack(vars) }, { table.unpack(operands) }
  for i, c in ipairs(vjp.cotangent) do
    if c.kind ~= "disconnected" and c.kind ~= "null" then
      c = turn(i, c)
      local v = values.variable(c, "g" .. i)
      known[outputs[i]] = v
      all_vars[#all_vars + 1], all_operands[#all_operands + 1] = v, values.make(c)
    end
  end
  local want = vjp.result
  local is_none = want == nil or want.kind == "null" or want.kind == "disconnected"
  local g = damo.grad(nil, vars[vjp.wrt], {
    known_grads = known,
    disconnected_inputs = "ignore",
    null_gradients = "return",
    return_disconnected = is_none and "none" or "zero",
  })
  if has_no_value(g) then return not is_none and report "no gradient" or nil end
  local result = values.plain(evaluate(all_vars, { g }, all_operands)[1], g.dtype)
  if is_none then
    if not extra_gradient[case.op] and not all_zero(result) then report "a gradient, expected none" end
    return
  end
  local why = judge.gradient(result, want, case, vjp)
  if why then report(why) end
end

-- The first line of an error.
local function first_line(err)
  if type(err) == "table" or type(err) == "userdata" then
    local ok, text = pcall(function() return ("%s error: %s"):format(err.kind, err.message) end)
    err = ok and text or tostring(err)
  end
  return (tostring(err):gsub("\n.*", ""))
end

local function must_raise(case, report)
  local ok, err = pcall(function()
    local vars, operands = operands_of(case)
    return evaluate(vars, call_of(case, vars), operands)
  end)
  if ok then return report(("nothing was raised: %s"):format(case.raises)) end
  if type(err) == "table" and err.missing then error(err, 0) end
  local has_kind, kind = pcall(function() return err.kind end)
  if not has_kind or not refusals[kind] then report("raised: " .. first_line(err)) end
end

-- The failures of a case, as a list; raises {missing = name} if the op does not exist.
local function run_case(case)
  local problems = {}
  local function reporter(prefix)
    return function(why) problems[#problems + 1] = prefix .. why end
  end
  if case.raises then
    must_raise(case, reporter "")
    return problems
  end
  local vars, operands, outputs, turn
  local ok, err = pcall(function()
    vars, operands = operands_of(case)
    outputs = call_of(case, vars)
    turn = check_outputs(case, vars, outputs, operands, reporter "")
  end)
  if not ok and type(err) == "table" and err.missing then error(err, 0) end
  if not ok then problems[#problems + 1] = first_line(err) end
  for i, vjp in ipairs(turn and case.vjp or {}) do
    local prefix = ("vjp %d: "):format(i)
    local fine, why = pcall(check_vjp, case, vjp, vars, outputs, operands, turn, reporter(prefix))
    if not fine then problems[#problems + 1] = prefix .. first_line(why) end
  end
  return problems
end

-- ---- All cases ----------------------------------------------------------------------------------------------------

local function families_of(folder)
  local list = {}
  local pipe = assert(io.popen(("ls '%s'"):format(folder:gsub("'", "'\\''"))))
  for name in pipe:lines() do
    local family = name:match "^(.*)%.lua$"
    if family and (family:find "^dense_" or family:find "^sparse_") then list[#list + 1] = family end
  end
  pipe:close()
  return list
end

local count = { passed = 0, failed = 0, skipped = 0, advisory = 0 }
local missing = {}

local function run_and_count(case)
  allow_for_reference(case)
  local ok, problems = pcall(run_case, case)
  if not ok and type(problems) == "table" and problems.missing then
    missing[problems.missing] = (missing[problems.missing] or 0) + 1
    return
  end
  if not ok then error(problems, 0) end
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
    case.is_sparse = family:find "^sparse_" ~= nil
    case.home = library.homes[family]
    local asked = not only or case.name:find(only, 1, true) or family == only
    if asked and is_answered(case) then
      count.skipped = count.skipped + 1
    elseif asked then
      run_and_count(case)
    end
  end
end

local folder = os.getenv "DAMO_REFERENCE" or here .. "/data/reference"
for _, family in ipairs(families_of(folder)) do run_family(folder, family, arg[1]) end
local names = {}
for name in pairs(missing) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do print(("missing: %s (%d cases)"):format(name, missing[name])) end
if count.advisory > 0 then print(("%d advisory cases differ and are not counted"):format(count.advisory)) end
print(("%d passed, %d failed, %d skipped"):format(count.passed, count.failed, count.skipped))
os.exit(count.failed == 0 and #names == 0 and count.passed + count.skipped > 0)
