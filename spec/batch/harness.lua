-- What a vectorised graph must give: each entry of the batch is what the graph gives for that entry alone, and so are
-- gradients, summed where an operand is shared.
local damo = require "damo"

local harness = {}

local unpack = table.unpack or unpack -- luacheck: ignore

local function as_array(v, dtype) return type(v) == "userdata" and v or damo.array(v, dtype) end

local function size(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

-- Values that repeat seldom; integers from 1 to `most`.
local seed = 1
local function draw(dtype, shape, most)
  local list = {}
  for i = 1, size(shape) do
    seed = (seed * 16807) % 2147483647
    list[i] = most and 1 + seed % most or seed % 2001 / 500 - 2
    if dtype == "bool" then list[i] = seed % 3 > 0 end
  end
  if dtype:match "^complex" then
    for i = 1, #list do list[i] = damo.complex and damo.complex(list[i], -list[i] / 3) or list[i] end
  end
  local flat = #list > 0 and damo.array(list, dtype) or damo.zeros { 0, dtype = dtype }
  return damo.reshape(flat, shape)
end

local function joined(a, b)
  local t = {}
  for _, v in ipairs(a) do t[#t + 1] = v end
  for _, v in ipairs(b) do t[#t + 1] = v end
  return t
end

-- The leading axes that all operands span.
local function span(leads)
  local most = {}
  for _, lead in ipairs(leads) do
    while #most < #lead do table.insert(most, 1, 1) end
    for k = 1, #lead do
      local at = #most - #lead + k
      if lead[k] ~= 1 then most[at] = lead[k] end
    end
  end
  return most
end

-- All positions of a box.
local function positions(shape)
  local list = { {} }
  for _, n in ipairs(shape) do
    local more = {}
    for _, p in ipairs(list) do
      for i = 1, n do more[#more + 1] = joined(p, { i }) end
    end
    list = more
  end
  return list
end

-- The place in an operand with these leading axes that belongs to a position.
local function place(position, lead)
  local p = {}
  for k = 1, #lead do p[k] = lead[k] == 1 and 1 or position[#position - #lead + k] end
  return p
end

local function entry(a, p)
  if type(a) == "number" then return as_array(a) end
  local dtype = a.dtype
  for _, i in ipairs(p) do a = a[i] end
  return as_array(a, dtype)
end

local function close(a, b, what)
  b = as_array(b, a.dtype)
  local sa, sb = table.concat(a.shape, ","), table.concat(b.shape, ",")
  assert(sa == sb, ("%s: shape (%s), expected (%s)"):format(what, sa, sb))
  assert(a.dtype == b.dtype, ("%s: dtype %s, expected %s"):format(what, a.dtype, b.dtype))
  local loose = a.dtype == "float32" or a.dtype == "complex64"
  local tol = loose and 1e-4 or 1e-9
  local same = damo.allclose(a, b, { rtol = tol, atol = tol, equal_nan = true })
  assert(same == true or same == 1, ("%s: %s, expected %s"):format(what, tostring(a), tostring(b)))
end

local function has_loop(outputs)
  for _, node in ipairs(damo.graph.toposort(outputs)) do
    if tostring(node.op):match "^Scan" then return true end
  end
  return false
end

-- One case over operands with these leading axes. case: {fn =, cores = {{shape}, …}, dtypes =, most =, loop =,
-- static =, grad = false}.
function harness.check(case, leads)
  local cores, vars, values, core_inputs, replace, name = case.cores, {}, {}, {}, {}, {}
  for i, core in ipairs(cores) do
    local dtype = case.dtypes and case.dtypes[i] or "float64"
    local lead, open, whole = leads[i], {}, {}
    for k, d in ipairs(core) do open[k] = (case.static or d == 1) and d or false end
    for k, d in ipairs(lead) do whole[k] = d == 1 and 1 or false end
    core_inputs[i] = damo.tensor("x" .. i, { dtype = dtype, shape = open })
    vars[i] = core_inputs[i]
    if #lead > 0 then vars[i] = damo.tensor("X" .. i, { dtype = dtype, shape = joined(whole, open) }) end
    values[i] = as_array(draw(dtype, joined(lead, core), case.most and case.most[i]), dtype)
    if #lead > 0 then replace[core_inputs[i]] = vars[i] end
    name[i] = "(" .. table.concat(lead, ",") .. ")"
  end
  name = case.name .. " over " .. table.concat(name, " ")
  local core_out = { case.fn(unpack(core_inputs)) }
  local out = damo.graph.vectorize_graph(core_out, replace)
  assert(has_loop(out) == (case.loop or false), name .. (case.loop and ": no loop" or ": a loop"))
  local options = { on_unused_input = "ignore", mode = case.mode }
  local whole = { damo.compile(vars, out, options)(unpack(values)) }
  local core = damo.compile(core_inputs, core_out, options)
  local all = span(leads)
  local function each(visit)
    for _, at in ipairs(positions(all)) do
      local args = {}
      for i, lead in ipairs(leads) do args[i] = entry(values[i], place(at, lead)) end
      visit(at, args)
    end
  end
  if size(all) == 0 then
    for o, v in ipairs(whole) do
      assert(#as_array(v).shape == out[o].ndim, name .. ": rank of an empty result")
    end
    return
  end
  each(function(at, args)
    for o, expected in ipairs { core(unpack(args)) } do
      local lead = {}
      local got = as_array(whole[o], out[o].dtype)
      for k = 1, #got.shape - core_out[o].ndim do lead[k] = got.shape[k] end
      close(entry(got, place(at, lead)), expected, ("%s: result %d, entry %s"):format(name, o,
        table.concat(at, ",")))
    end
  end)
  if case.grad == false then return end
  local function cost(outputs)
    local sum
    for _, v in ipairs(outputs) do
      if v.dtype:match "^float" then
        local term = damo.sum(damo.sqr(v) + v)
        sum = sum and sum + term or term
      end
    end
    return sum
  end
  if not cost(out) then return end
  -- A result that not all operands reach is counted once for each entry of the batch that it belongs to.
  local full = {}
  for o, v in ipairs(out) do
    local shape = {}
    for k, d in ipairs(all) do shape[k] = d end
    for k = 1, core_out[o].ndim do shape[#all + k] = damo.shape(v)[v.ndim - core_out[o].ndim + k] end
    full[o] = damo.broadcast_to(v, { shape = shape })
  end
  local wrt, core_wrt = {}, {}
  for i, v in ipairs(vars) do
    if v.dtype:match "^float" then
      wrt[#wrt + 1], core_wrt[#core_wrt + 1] = v, core_inputs[i]
    end
  end
  if #wrt == 0 then return end
  local ignore = { disconnected_inputs = "ignore" }
  local got = { damo.compile(vars, damo.grad(cost(full), wrt, ignore), options)(unpack(values)) }
  local core_grad = damo.compile(core_inputs, damo.grad(cost(core_out), core_wrt, ignore), options)
  local sums, w = {}, 0
  for i, v in ipairs(vars) do
    if v.dtype:match "^float" then w = w + 1 sums[w] = { lead = leads[i], at = {}, i = i } end
  end
  each(function(at, args)
    local grads = { core_grad(unpack(args)) }
    for k, s in ipairs(sums) do
      local p = table.concat(place(at, s.lead), ",")
      s.at[p] = s.at[p] and s.at[p] + grads[k] or grads[k]
    end
  end)
  for k, s in ipairs(sums) do
    for _, p in ipairs(positions(s.lead)) do
      local at = table.concat(p, ",")
      close(entry(as_array(got[k], vars[s.i].dtype), p), s.at[at],
        ("%s: gradient by operand %d, entry %s"):format(name, s.i, at))
    end
  end
end

-- Leading axes of one, two and three operands.
harness.leads = {
  { { { 3 } }, { { 2, 3 } }, { { 0 } } },
  { { { 3 }, { 3 } }, { { 3 }, {} }, { {}, { 3 } }, { { 2, 1 }, { 3 } }, { { 2, 3 }, {} }, { {}, { 2, 3 } },
    { { 0 }, { 0 } } },
  { { { 3 }, { 3 }, { 3 } }, { { 3 }, {}, {} }, { {}, { 3 }, {} }, { {}, {}, { 3 } }, { { 2, 1 }, { 3 }, {} },
    { {}, { 2, 1 }, { 3 } } },
}

--- Runs the cases as tests of busted, whose `it` is given.
function harness.run(it, cases)
  for _, case in ipairs(cases) do
    it(case.name, function()
      for _, leads in ipairs(case.leads or harness.leads[#case.cores]) do harness.check(case, leads) end
    end)
  end
end

return harness
