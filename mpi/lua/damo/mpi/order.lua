--- The order of collectives in a graph that is compiled: each waits for the one before, in the order in which the
-- script made them, and the last is needed in every call, so a call runs all of them on every rank, those of a branch
-- that is not taken included.
-- @module damo.mpi.order

local damo = require "damo"
local core = require "damo.mpi.core"
local overlap = require "damo.mpi.overlap"

local graph = damo.graph

-- Bit 0 of a ticket: each collective that gets it compares what the ranks are about to do.
local CHECK = 1

local function fail(kind, text, ...) damo.raise(kind, text:format(...)) end

-- ---- What a node is ----

local kind_of = require "damo.core".system.variable_kind

local function is_constant(v) return kind_of(v) == "constant" end
local function is_shared(v) return kind_of(v) == "shared" end

local is_agreed

-- Whether an answer of that group is the same on all ranks that the groups have: the world's, or that of the only one.
local function covers(group, groups)
  if group == 0 then return true end
  for other in pairs(groups) do
    if other ~= group then return false end
  end
  return true
end

-- Whether a condition is the same on every rank: made of answers of mpi.agree and of constants alone.
function is_agreed(v, groups)
  local node = v.owner
  if not node then return is_constant(v) end
  local number, group = core.number(node.op)
  if number then return v.dtype == "bool" and node.op.name == "MpiAllreduce" and covers(group, groups) end
  if not node.op.name:find "^Elemwise" then return false end
  for k = 1, #node.inputs do
    if not is_agreed(node.inputs[k], groups) then return false end
  end
  return true
end

-- Whether a loop ends by a condition: the last of its results is then the number of steps.
local function stop_of(node)
  local inner, outer = node.op.fgraph.outputs, node.outputs
  local stop, steps = inner[#inner], outer[#outer]
  if stop.dtype == "bool" and stop.ndim == 0 and steps.dtype == "int64" and steps.ndim == 0 then return stop end
  return nil
end

local place_of

-- The greatest number of the collectives in a graph that an Op holds; nil without any. Their groups are set in
-- `groups`.
local function place_inside(node, groups)
  local last
  local inside = {}
  for _, inner in ipairs(node.op.fgraph.apply_nodes) do
    local place = place_of(inner, inside)
    if place and (not last or place > last) then last = place end
  end
  if not last then return nil end
  for group in pairs(inside) do
    if groups then groups[group] = true end
  end
  local stop = node.op.name:find "^Scan" and stop_of(node)
  if stop and not is_agreed(stop, inside) then
    fail("value", "mpi: a loop that ends by a condition has collectives in it, and its condition may differ between " ..
      "ranks, so that some would wait for ever: use mpi.agree(cond) as the condition")
  end
  return last
end

--- The place of a node in the order of collectives, nil if it is none and holds none. The groups that it works in are
-- set in the table `groups`, if there is one.
function place_of(node, groups)
  local number, group = core.number(node.op)
  if number and groups then groups[group] = true end
  if number or not graph.HasInnerGraph(node.op) then return number end
  return place_inside(node, groups)
end

-- What a loop that holds collectives takes in place of its first input, the number of steps, so that it waits for the
-- ticket: the number is compared on all ranks, for a rank with more steps would wait for the others.
local function waiting(node, ticket)
  local first, groups, ids = node.inputs[1], {}, {}
  place_of(node, groups)
  for id in pairs(groups) do ids[#ids + 1] = id end
  table.sort(ids)
  for _, id in ipairs(ids) do
    first = damo.ops.MpiSame { group = id, seq = core.next_number() }(first, ticket)
    ticket = first
  end
  return first
end

-- ---- Ops that are no loops ----

-- The Variables that the node of an OpFromGraph with collectives computes, as a part of the graph around it; nil of any
-- other node. Only such Ops can be cloned.
local function expanded(node)
  if core.number(node.op) or not graph.HasInnerGraph(node.op) or not place_of(node) then return nil end
  if not pcall(node.op.clone, node.op) then return nil end
  local replace = {}
  for k, v in ipairs(node.op.inner_inputs) do replace[v] = node.inputs[k] end
  return graph.clone_replace(node.op.inner_outputs, replace)
end

-- Puts the graphs of Ops that hold collectives and are no loops in their places: in one graph all have one order.
local function expand(fg)
  local any
  repeat
    any = false
    for _, node in ipairs(fg:toposort()) do
      local now, pairs_of = expanded(node), {}
      for k, v in ipairs(now or {}) do pairs_of[k] = { node.outputs[k], v } end
      if now then
        fg:replace_all(pairs_of, { import_missing = true })
        any = true
      end
    end
  until not any
end

-- ---- The graph that is compiled ----

-- The Variables of inputs, outputs and updates, as flat lists, with what puts changed ones back into their form.

local function variable_of(entry)
  if damo.is_variable(entry) then return entry end
  return type(entry) == "table" and damo.is_variable(entry.variable) and entry.variable or nil
end

-- A copy of what stands for an output, over another Variable.
local function with_variable(entry, v)
  if damo.is_variable(entry) then return v end
  local copy = {}
  for key, field in pairs(entry) do copy[key] = field end
  copy.variable = v
  return setmetatable(copy, getmetatable(entry))
end

-- Calls visit(entry, set) for each output, in an order that is the same on every rank.
local function for_each_output(outputs, visit)
  local keys = {}
  for key in pairs(outputs) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  for _, key in ipairs(keys) do visit(outputs[key], function(v) outputs[key] = v end) end
end

-- The parts of what compile is given. Entries that are no Variables are left to compile, which refuses them.
local function parts_of(outputs, options)
  local parts = { places = {}, variables = {} }
  local function add(entry, set)
    local v = variable_of(entry)
    if not v then return end
    parts.variables[#parts.variables + 1] = v
    parts.places[#parts.places + 1] = function(new) set(with_variable(entry, new)) end
  end
  parts.outputs = outputs
  if variable_of(outputs) then
    add(outputs, function(v) parts.outputs = v end)
  elseif type(outputs) == "table" then
    parts.outputs = setmetatable({}, getmetatable(outputs))
    for key, v in pairs(outputs) do parts.outputs[key] = v end
    for_each_output(parts.outputs, add)
  end
  parts.options = {}
  for key, v in pairs(options or {}) do parts.options[key] = v end
  if type(parts.options.updates) == "table" then
    local updates = {}
    for key, v in pairs(parts.options.updates) do
      local is_pair = type(key) == "number" and type(v) == "table"
      updates[key] = is_pair and { v[1], v[2] } or v
    end
    parts.options.updates = updates
    for key, v in pairs(updates) do
      if type(key) == "number" and type(v) == "table" then
        add(v[2], function(new) v[2] = new end)
      else
        add(v, function(new) updates[key] = new end)
      end
    end
  end
  return parts
end

-- The collectives among nodes, in their order; nodes come before their users. A node that depends on one of a greater
-- number, as a loop on the first answer of its condition, comes right after it.
local function ordered(nodes, is_plain)
  local found, after, plain = {}, {}, is_plain
  for k, node in ipairs(nodes) do
    local place = place_of(node)
    if place then
      found[#found + 1] = { node = node, at = k, place = place, number = place }
      plain = plain and core.number(node.op) ~= nil
    end
  end
  if not plain then
    local next_found = 1
    for k, node in ipairs(nodes) do
      local last
      for i = 1, #node.inputs do
        local place = after[node.inputs[i]]
        if place and (not last or place > last) then last = place end
      end
      local entry = found[next_found]
      if entry and entry.at == k then
        next_found = next_found + 1
        if last and last >= entry.place then entry.place = last + 2 ^ -10 end
        last = entry.place
      end
      for o = 1, last and #node.outputs or 0 do after[node.outputs[o]] = last end
    end
  end
  table.sort(found, function(p, q)
    if p.place ~= q.place then return p.place < q.place end
    return p.number < q.number
  end)
  return found
end

local function is_debug(options)
  local mode = options.mode == nil and damo.config.mode or options.mode
  return mode == "DEBUG" or type(mode) ~= "string" and mode.linker == "debug"
end

local function first_ticket(value) return damo.constant(damo.array(value, { dtype = "int64" })) end

-- Hands the ticket of each collective to the next one; returns the last ticket.
local function chain(fg, found, ticket)
  for _, entry in ipairs(found) do
    local node = entry.node
    for _, v in ipairs(entry.work or {}) do ticket = damo.ops.MpiTicket(v, ticket) end
    if core.number(node.op) then
      fg:change_node_input(node, #node.inputs, ticket, { import_missing = true })
      ticket = node.outputs[#node.outputs]
    else
      fg:change_node_input(node, 1, waiting(node, ticket), { import_missing = true })
      ticket = damo.ops.MpiTicket(node.outputs[1], ticket)
    end
  end
  return ticket
end

-- Has each call compute the last ticket, as the update of a shared Variable that nothing else reads: an output in its
-- place would be one more result, and one that waits for it could not be written where the caller wants it.
local function keep(options, ticket)
  local last = damo.shared(damo.array(0, { dtype = "int64" }), { name = "mpi_order" })
  local updates = options.updates or {}
  if updates[1] ~= nil then updates[#updates + 1] = { last, ticket } else updates[last] = ticket end
  options.updates = updates
end

-- What the graph begins with, and inputs of the call that it could compute. A copy of the graph has Variables of its
-- own in their places, which compiling replaces by these again.
local function roots_of(inputs, variables)
  local roots, seen = {}, {}
  local function add(v)
    if not seen[v] and not is_constant(v) and not is_shared(v) then
      seen[v] = true
      roots[#roots + 1] = v
    end
  end
  for _, entry in ipairs(type(inputs) == "table" and inputs or {}) do
    local v = variable_of(entry)
    if v and v.owner then add(v) end
  end
  for _, v in ipairs(graph.graph_inputs(variables)) do add(v) end
  return roots
end

--- What damo.rewrite.before calls: the same inputs, and outputs and options with the collectives in order.
local function prepare(inputs, outputs, options)
  if core.n_collectives() == 0 or (options ~= nil and type(options) ~= "table") then return inputs, outputs, options end
  local parts = parts_of(outputs, options)
  local variables = parts.variables
  if #variables == 0 then return inputs, outputs, options end
  if parts.options.givens ~= nil then
    variables = graph.clone_replace(variables, parts.options.givens)
    if damo.is_variable(variables) then variables = { variables } end
  end
  local any = false
  for _, node in ipairs(graph.toposort(variables)) do any = any or place_of(node) ~= nil end
  if not any then return inputs, outputs, options end
  local roots = roots_of(inputs, variables)
  local fg = graph.FunctionGraph(roots, variables)
  expand(fg)
  local found = ordered(fg:toposort(), options == nil or options.givens == nil)
  local has_work = overlap.plan(fg, found)
  local first = damo.ops.MpiBegin(first_ticket(is_debug(parts.options) and CHECK or 0))
  local ticket = damo.ops.MpiEnd(chain(fg, found, first))
  local made = {}
  for k = 1, #variables do made[k] = fg.outputs[k] end
  -- A program computes the operands of a node from the first one on: by this node the collectives, and with them what
  -- is to be computed while a sum goes on, before all else.
  if has_work then made[1] = damo.ops.MpiBefore(ticket, made[1]) end
  keep(parts.options, ticket)
  for k, place in ipairs(parts.places) do place(made[k]) end
  local givens = {}
  for k, v in ipairs(roots) do givens[k] = { fg.inputs[k], v } end
  parts.options.givens = givens
  return inputs, parts.outputs, parts.options
end

-- Whether an identity may stand between a Variable and the output that it is.
local function is_computed(v) return v.owner and not is_constant(v) and tostring(v.type):find "^Tensor" ~= nil end

--- The same for a graph that an Op holds: each of its runs, a step of a loop, has all its collectives, in order.
local function prepare_inner(fg)
  if core.n_collectives() == 0 then return end
  expand(fg)
  local found = ordered(fg:toposort(), true)
  if #found == 0 then return end
  local ticket, outputs = chain(fg, found, first_ticket(0)), fg.outputs
  for k = 1, #outputs do
    if is_computed(outputs[k]) then
      fg:change_node_input("output", k, damo.ops.MpiAfter(outputs[k], ticket), { import_missing = true })
      return
    end
  end
end

damo.rewrite.before("mpi_order", prepare, prepare_inner)

return prepare
