--- Loops over time: `scan`, `map`, `reduce`, `foldl`, `foldr`, `while_loop`, `until_`.
--
-- fn is called with Variables that stand for one step, and what it returns becomes the inner graph of one node. Where
-- the Type of an initial value turns out to say too much (a dtype, a length) for what fn returns, fn is called again
-- with Variables of a wider Type; the draws of the call before are taken back.
-- @module damo.scan

local core = require "damo.core"
local arguments = require "damo.arguments"
local draws = require "damo.draws"
local progress_option = require "damo.progress_option"
local system = core.system

local scan = {}

local ROLE_SEQUENCE, ROLE_STATE, ROLE_COLLECT = 0, 1, 3
local NO_LIMIT = math.maxinteger or 9007199254740992
local MOST_CALLS = 3

local is_variable, kind_of, typename = core.is_variable, system.variable_kind, system.typename

-- A constant of that dtype, which gives way to no other operand.
local function strong(value, dtype) return core.constant(core.array(value, dtype)) end

local function fail(kind, message, ...) core.raise(kind, message:format(...)) end

-- ---- Options --------------------------------------------------------------------------------------------------------

local scan_options = { "sequences", "outputs_info", "non_sequences", "n_steps", "go_backwards", "truncate_gradient",
  "strict", "name", "mode", "return_updates", "return_list", "checkpoint", "progress" }
local map_options = { "sequences", "non_sequences", "n_steps", "go_backwards", "truncate_gradient", "strict", "name",
  "mode", "return_updates", "return_list", "checkpoint", "progress" }
local fold_options = { "sequences", "outputs_info", "non_sequences", "n_steps", "truncate_gradient", "strict", "name",
  "mode", "return_updates", "return_list", "checkpoint", "progress" }
local while_options = { "max_steps", "name", "mode", "return_list", "checkpoint", "non_sequences" }

local function boolean(loop, options, name)
  local value = options[name]
  if value == nil then return false end
  if type(value) ~= "boolean" then
    fail("type", "%s: option '%s' must be a boolean, got %s", loop, name, typename(value))
  end
  return value
end

local function is_whole(value) return type(value) == "number" and value == math.floor(value) and value - value == 0 end

local function text(loop, options, name)
  local value = options[name]
  if value ~= nil and type(value) ~= "string" then
    fail("type", "%s: option '%s' must be a string, got %s", loop, name, typename(value))
  end
  return value
end

-- 0: gradients go back through all steps.
local function truncation(loop, value)
  if value == nil or value == -1 then return 0 end
  if not is_whole(value) then
    fail("type", "%s: option 'truncate_gradient' must be an integer, got %s", loop, typename(value))
  end
  if value < 1 then fail("value", "%s: truncate_gradient must be 1 or more steps, or -1 for all, got %d", loop,
    value) end
  return value
end

local function checkpoints(loop, value)
  if value == nil or value == "all" then return 0 end
  if value == "log" then return -1 end
  if is_whole(value) and value >= 1 then return value end
  if type(value) ~= "number" and type(value) ~= "string" then
    fail("type", "%s: checkpoint must be 'all', 'log' or a number of steps, got %s", loop, typename(value))
  end
  return fail("value", "%s: checkpoint must be 'all', 'log' or a number of steps from 1 on, got %s", loop,
    tostring(value))
end

-- ---- Operands -------------------------------------------------------------------------------------------------------

-- A value or Variable as a Variable; what: for errors. Counts the values that are Variables of the script.
local function as_variable(at, value, what)
  if is_variable(value) then
    at.symbolic = true
    return value
  end
  local ok, v = pcall(core.as_variable, value)
  if ok then return v end
  return fail("type", "%s: %s must be a Variable or a value, got %s", at.loop, what, typename(value))
end

-- A plain table without a metatable.
local function is_plain(value) return type(value) == "table" and getmetatable(value) == nil end

-- Whether the table is one entry with fields.
local function is_entry(value, field) return is_plain(value) and value[field] ~= nil end

-- Whether the table has names for keys: an entry with fields, right or wrong ones.
local function has_names(value)
  if not is_plain(value) then return false end
  for key in pairs(value) do
    if type(key) == "string" then return true end
  end
  return false
end

-- The entries of an option that is a list, or one entry that stands alone.
local function entries(at, value, option, field)
  if value == nil then return {} end
  if not is_plain(value) or is_entry(value, field) then return { value } end
  local n = 0
  for key in pairs(value) do
    if not is_whole(key) or key < 1 then
      fail("value", "%s: %s must be a list, it has the key '%s'", at.loop, option, tostring(key))
    end
    if key > n then n = key end
  end
  for i = 1, n do
    if value[i] == nil then
      fail("value", "%s: entry %d of %s is missing; false stands for an output that does not recur", at.loop, i, option)
    end
  end
  return value
end

local function check_fields(at, entry, option, i, known)
  for key in pairs(entry) do
    if not known[key] then
      fail("value", "%s: entry %d of %s has the unknown field '%s'", at.loop, i, option, tostring(key))
    end
  end
end

-- The taps of an entry as a list of integers.
local function read_taps(at, taps, option, i, preset, past)
  if taps == nil then return { preset } end
  if type(taps) == "number" then taps = { taps } end
  if type(taps) ~= "table" or #taps == 0 then
    fail("type", "%s: the taps of entry %d of %s must be integers, got %s", at.loop, i, option,
      type(taps) == "table" and "none" or typename(taps))
  end
  local list, seen = {}, {}
  for k, tap in ipairs(taps) do
    if not is_whole(tap) then
      fail("type", "%s: the taps of entry %d of %s must be integers, got %s", at.loop, i, option,
        type(tap) == "number" and tostring(tap) or typename(tap))
    end
    if past and tap >= 0 then
      fail("value", "%s: the taps of entry %d of %s must be negative, got %d", at.loop, i, option, tap)
    end
    if math.abs(tap) > 1000000000 then
      fail("value", "%s: the taps of entry %d of %s reach too far: %d", at.loop, i, option, tap)
    end
    if seen[tap] then fail("value", "%s: entry %d of %s has the tap %d twice", at.loop, i, option, tap) end
    seen[tap] = true
    list[k] = math.tointeger and math.tointeger(tap) or tap
  end
  return list
end

local function shape_without_first(v)
  local shape = {}
  for k = 2, v.ndim do shape[k - 1] = v.type.shape[k] end
  return shape
end

local sequence_fields, state_fields = { input = true, taps = true }, { initial = true, taps = true }

-- The sequences: {outer=, taps=, type=, name=}.
local function read_sequences(at, value)
  local list = {}
  for i, entry in ipairs(entries(at, value, "sequences", "input")) do
    local input, taps = entry, nil
    if has_names(entry) then
      check_fields(at, entry, "sequences", i, sequence_fields)
      if entry.input == nil then fail("value", "%s: entry %d of sequences has taps, but no input", at.loop, i) end
      input, taps = entry.input, entry.taps
    elseif entry == false then
      fail("type", "%s: entry %d of sequences must be a Variable or a value, got false", at.loop, i)
    end
    local x = as_variable(at, input, ("sequence %d"):format(i))
    if core.sparse.is_sparse(x) then
      fail("type", "%s: sequence %d is sparse: a sequence must be dense", at.loop, i)
    end
    if not x.ndim or x.ndim == 0 then
      fail("type", "%s: sequence %d must have a first axis to go along, got %s", at.loop, i, tostring(x.type))
    end
    list[i] = { outer = x, taps = read_taps(at, taps, "sequences", i, 0),
      type = core.TensorType(x.dtype, { shape = shape_without_first(x) }) }
  end
  return list
end

-- The outputs that recur, by number: {outer=, taps=, bare=, type=, number=}; false: the others. nil: none is given.
local function read_states(at, value)
  if value == nil then return nil end
  local list = {}
  for i, entry in ipairs(entries(at, value, "outputs_info", "initial")) do
    if entry == false then
      list[i] = false
    else
      local initial, taps = entry, nil
      if has_names(entry) or (is_plain(entry) and next(entry) == nil) then
        check_fields(at, entry, "outputs_info", i, state_fields)
        if entry.initial == nil then
          if entry.taps ~= nil then fail("value", "%s: entry %d of outputs_info has taps, but no initial", at.loop,
            i) end
          list[i] = false
        end
        initial, taps = entry.initial, entry.taps
      end
      if list[i] == nil then
        local x = as_variable(at, initial, ("the initial value of output %d"):format(i))
        local state = { outer = x, number = i, literal = type(initial) == "number" or type(initial) == "boolean",
          taps = read_taps(at, taps, "outputs_info", i, -1, true) }
        state.span = 0
        for _, tap in ipairs(state.taps) do state.span = math.max(state.span, -tap) end
        state.bare = taps == nil -- else its first rows are the past
        if not state.bare and (core.sparse.is_sparse(x) or not x.ndim or x.ndim == 0) then
          fail("type", "%s: the initial value of output %d must have a first axis with %d %s, for its taps, got %s",
            at.loop, i, state.span, state.span == 1 and "row" or "rows", tostring(x.type))
        end
        if type(initial) == "number" and state.bare then
          state.probe = initial == math.floor(initial) and "int8" or "float32"
          state.value = initial
        end
        state.type = state.probe and core.TensorType(state.probe, { shape = {} }) or state.bare and x.type
          or core.TensorType(x.dtype, { shape = shape_without_first(x) })
        list[i] = state
      end
    end
  end
  return list
end

local function read_fixed(at, value)
  local list = {}
  for i, entry in ipairs(entries(at, value, "non_sequences", "\0")) do
    list[i] = as_variable(at, entry, ("entry %d of non_sequences"):format(i))
  end
  return list
end

local function is_integer_dtype(dtype) return dtype:find("^u?int") ~= nil end

local function read_steps(at, value)
  if value == nil then return nil end
  local what = ("%s: n_steps must be an integer, got "):format(at.loop)
  if type(value) == "number" and not is_whole(value) then core.raise("type", what .. tostring(value)) end
  if type(value) == "number" then
    if value < 0 then fail("value", "%s: n_steps must not be negative, got %d", at.loop, value) end
    return strong(value, "int64")
  end
  if type(value) ~= "userdata" then core.raise("type", what .. typename(value)) end
  local n = as_variable(at, value, "n_steps")
  if core.sparse.is_sparse(n) or n.ndim ~= 0 or not is_integer_dtype(n.dtype) then
    core.raise("type", what .. tostring(n.type))
  end
  local known = kind_of(n) == "constant" and (type(n.data) == "number" and n.data or n.data:item())
  if known and known < 0 then fail("value", "%s: n_steps must not be negative, got %d", at.loop, known) end
  return core.cast(n, "int64")
end

-- ---- The end of a loop ----------------------------------------------------------------------------------------------

local until_meta = { __name = "damo.until" }

--- Ends a scan after the step in which `cond` is true; fn returns it last.
-- @function until_
-- @tparam Variable|boolean cond a scalar
function scan.until_(cond, ...)
  arguments.no_more("until_", "cond", ...)
  if cond == nil then core.raise("type", "until_: argument 1 (cond) must be a scalar, got nil") end
  return setmetatable({ condition = cond }, until_meta)
end

local function read_condition(at, cond, what)
  local ok, v = pcall(core.as_variable, cond)
  if type(cond) == "boolean" then ok, v = true, strong(cond, "bool") end
  if not ok then fail("type", "%s: %s must be a scalar, got %s", at.loop, what, typename(cond)) end
  if core.sparse.is_sparse(v) or v.ndim ~= 0 then
    fail("type", "%s: %s must be a scalar, got %s", at.loop, what, tostring(v.type))
  end
  if v.dtype ~= "bool" then v = core.neq(v, 0) end
  return v
end

-- ---- What fn returns ------------------------------------------------------------------------------------------------

local function is_shared(v) return kind_of(v) == "shared" end

-- Whether the table is updates: by shared Variable, or a list of pairs.
local function is_updates(value)
  if not is_plain(value) then return false end
  local key = next(value)
  if is_variable(key) then return true end
  local first = value[1]
  return is_plain(first) and #first == 2 and is_variable(first[1]) and is_shared(first[1])
end

local function read_updates(at, value)
  local list, seen = {}, {}
  local function add(shared, now)
    if not is_variable(shared) or not is_shared(shared) then
      fail("type", "%s: updates are of shared Variables, %s is none", at.loop, tostring(shared))
    end
    if seen[shared] then fail("value", "%s: %s has two updates", at.loop, tostring(shared)) end
    seen[shared] = true
    local v = is_variable(now) and now or as_variable({ loop = at.loop }, now,
      ("the update of %s"):format(tostring(shared)))
    list[#list + 1] = { shared = shared, now = v }
  end
  if is_variable((next(value))) then
    for shared, now in pairs(value) do add(shared, now) end
    table.sort(list, function(a, b) return tostring(a.shared) < tostring(b.shared) end)
  else
    for _, pair in ipairs(value) do add(pair[1], pair[2]) end
  end
  return list
end

-- Splits the values that fn has returned into outputs, updates and the condition.
local function read_results(at, ...)
  local n, values = select("#", ...), { ... }
  while n > 0 and values[n] == nil do n = n - 1 end
  if n == 0 then fail("value", "%s: fn returned nothing; it returns what a step gives", at.loop) end
  local found = { outputs = {}, updates = {} }
  if n > 0 and type(values[n]) == "table" and getmetatable(values[n]) == until_meta then
    found.stop = read_condition(at, values[n].condition, "the condition of until_")
    n = n - 1
  end
  if n > 0 and is_plain(values[n]) and (is_updates(values[n]) or (n > 1 and next(values[n]) == nil)) then
    found.updates = read_updates(at, values[n])
    n = n - 1
  end
  if n == 1 and is_plain(values[1]) then
    values = values[1]
    n = #values
  end
  for i = 1, n do
    local v = values[i]
    if v == nil then fail("type", "%s: output %d of fn is nil", at.loop, i) end
    if getmetatable(v) == until_meta then
      fail("value", "%s: until_ must be the last value that fn returns", at.loop)
    end
    if not is_variable(v) then
      local ok, made = pcall(core.as_variable, v)
      if not ok then fail("type", "%s: output %d of fn must be a Variable or a value, got %s", at.loop, i,
        typename(v)) end
      v, found.literal = made, found.literal or {}
      found.literal[i] = true
    end
    found.outputs[i] = v
  end
  return found
end

-- ---- Types of states ------------------------------------------------------------------------------------------------

local function refuse_state(at, state, now)
  fail("type", "%s: output %d changes its Type from step to step: the state is %s, and fn returns %s", at.loop,
    state.number, tostring(state.had), tostring(now.type))
end

local function is_constant(state) return kind_of(state.outer) == "constant" end

-- The Type by which a state of Type `had` may have the values of Type `now`: lengths that disagree are unknown.
local function wider(had, now)
  local shape = {}
  for k = 1, had.ndim do shape[k] = had.shape[k] == now.shape[k] and had.shape[k] or false end
  return core.TensorType(now.dtype, { shape = shape })
end

-- Whether the initial value is an integer (or boolean) constant that the dtype holds.
local function may_cast(state, dtype)
  if state.literal then return true end
  if not is_constant(state) then return false end
  local has = state.outer.dtype
  return (is_integer_dtype(has) or has == "bool") and dtype ~= "bool"
end

local function is_tensor(v)
  return not core.sparse.is_sparse(v) and tostring(v.type):find("^TensorType") ~= nil
end

-- The dtype of a state that begins with a Lua number, as a literal has it next to other operands: fn was called with a
-- Variable of the least dtype, state.probe, and has given that dtype. floatX where nothing else decides.
local function dtype_of_number(at, state, now)
  local dtype, has = now.dtype, {}
  if dtype == "bool" then return dtype end
  if is_integer_dtype(dtype) and state.value ~= math.floor(state.value) then return core.config.floatX end
  for _, leaf in ipairs(core.graph.graph_inputs { now }) do -- what else decides
    local is_number = false
    for _, s in ipairs(at.states) do is_number = is_number or (s and s.inner[1] == leaf and s.value ~= nil) end
    if not is_number and leaf.dtype and kind_of(leaf) ~= "constant" then has[leaf.dtype] = true end
  end
  if dtype == "float32" or (dtype == "float64" and state.probe == "int8" and not has.float64) then
    return has.float32 and "float32" or core.config.floatX -- a function of a small integer is a float
  end
  return dtype == state.probe and core.config.floatX or dtype
end

-- Compares the state with what fn returned. Returns true if fn must be called again, with a wider Type.
local function settle(at, state, now)
  if state.probe then
    local dtype = dtype_of_number(at, state, now)
    state.cast, state.probe = dtype, nil
    state.type = core.TensorType(dtype, { shape = {} })
    if is_tensor(now) and now.ndim > 0 then
      state.like, state.like_over = now, at.current
      state.type = core.TensorType(dtype, { shape = now.type.shape })
    end
    return true
  end
  local had = state.type
  state.had = had -- for the error, which may come after the Type was widened
  if had == now.type then return false end
  if not is_tensor(now) or not is_tensor(state.outer) then
    if tostring(had) ~= tostring(now.type) and not (core.sparse.is_sparse(now) and core.sparse.is_sparse(state.outer)
      and now.format == state.outer.format and now.dtype == state.outer.dtype) then
      refuse_state(at, state, now)
    end
    return false
  end
  local again = false
  if had.dtype ~= now.dtype then
    if not may_cast(state, now.dtype) then refuse_state(at, state, now) end
    state.cast, again = now.dtype, true
  end
  if had.ndim ~= now.ndim then
    if not (is_constant(state) and state.bare and now.ndim > had.ndim) then refuse_state(at, state, now) end
    state.like, state.like_over, state.type = now, at.current, now.type
    return true
  end
  for k = 1, had.ndim do
    local a, b = had.shape[k], now.type.shape[k]
    if a and a ~= b then
      if a == 1 and is_constant(state) and state.bare then
        state.like, state.like_over = now, at.current
      elseif b then
        refuse_state(at, state, now)
      end
      again = true
    end
  end
  if again then state.type = state.like and now.type or wider(had, now.type) end
  return again
end

-- ---- Calling fn -----------------------------------------------------------------------------------------------------

local function placeholders(of, type, call, current)
  local name = of.outer.name
  of.inner = {}
  for k, tap in ipairs(of.taps) do
    of.inner[k] = type(name and ("%s[t%s]"):format(name, tap == 0 and "" or ("%+d"):format(tap)))
    call[#call + 1] = of.inner[k]
    current[of.inner[k]] = of
  end
end

local unpack = table.unpack or unpack -- luacheck: ignore

-- Calls fn once with fresh Variables.
local function call_once(at, fn)
  local call = {}
  at.current = {} -- inner Variable → its entry, or the Variable of outside
  at.mark = core.TensorType("bool", { shape = {} })()
  for _, x in ipairs(at.sequences) do placeholders(x, x.type, call, at.current) end
  for _, state in ipairs(at.states or {}) do
    if state then placeholders(state, state.type, call, at.current) end
  end
  for i, v in ipairs(at.fixed) do
    at.fixed_inner[i] = v.type(v.name)
    call[#call + 1] = at.fixed_inner[i]
    at.current[at.fixed_inner[i]] = { outer = v, bare = true }
  end
  return read_results(at, fn(unpack(call, 1, #call)))
end

local function check_count(at, found)
  if at.states and #at.states ~= #found.outputs then
    fail("value", "%s: outputs_info has %d %s, fn returns %d %s", at.loop, #at.states,
      #at.states == 1 and "entry" or "entries", #found.outputs, #found.outputs == 1 and "output" or "outputs")
  end
end

-- Where fn takes no Variable of the least dtype for a number, as a loop inside it, the number is of floatX.
local function widen_probes(at)
  local did = false
  for _, state in ipairs(at.states or {}) do
    if state and state.probe then
      state.cast, state.probe, did = core.config.floatX, nil, true
      state.type = core.TensorType(core.config.floatX, { shape = {} })
    end
  end
  return did
end

-- Calls fn until the Types of the states are settled.
local function call_fn(at, fn)
  for attempt = 1, MOST_CALLS do
    draws.begin()
    local ok, found = pcall(call_once, at, fn)
    local again = false
    if ok then
      ok, again = pcall(function()
        check_count(at, found)
        local more = false
        for i, state in ipairs(at.states or {}) do
          local now = found.outputs[i]
          if state and found.literal and found.literal[i] and now.dtype ~= state.type.dtype and is_tensor(now)
            and now.ndim == state.type.ndim then
            found.outputs[i] = core.cast(now, state.type.dtype) -- a number takes the state's dtype
            now = found.outputs[i]
          end
          if state and settle(at, state, now) then
            if attempt == MOST_CALLS then refuse_state(at, state, now) end
            more = true
          end
        end
        return more
      end)
      if not ok then found, again = again, false end
    elseif attempt < MOST_CALLS then
      again = widen_probes(at)
    end
    draws.finish(not ok or again)
    if not ok and not again then error(found, 0) end
    if ok and not again then return found end
  end
end

-- ---- The node -------------------------------------------------------------------------------------------------------

-- What fn returned for the state in the call that found its shape, over the first rows of what it gets, for its shape
-- alone.
local function first_like(state)
  local given = {}
  for inner, of in pairs(state.like_over) do
    local x = of.outer
    if not of.bare then x = x[1] end
    given[inner] = is_tensor(inner) and core.cast(x, inner.dtype) or x
  end
  return core.graph.clone_replace({ state.like }, given)[1]
end

-- The initial value as an operand of the node: of the state's dtype and shape.
local function initial_value(state)
  local x = state.outer
  if state.cast then x = core.cast(x, state.cast) end
  if state.like then x = core.fill(first_like(state), x) end
  return x
end

local function n_steps_of(at, stop)
  if at.n_steps then return at.n_steps end
  local n
  for _, x in ipairs(at.sequences) do
    local least, most = 0, 0
    for _, tap in ipairs(x.taps) do least, most = math.min(least, tap), math.max(most, tap) end
    local rows = core.shape(x.outer)[1]
    if most > least then rows = rows - strong(most - least, "int64") end
    n = n and core.minimum(n, rows) or rows
  end
  if n then return n end
  if stop then return strong(NO_LIMIT, "int64") end
  return fail("value", "%s: give n_steps, or a sequence to go along, or return until_(cond) from fn", at.loop)
end

local function node_of(at, options, found)
  local parts, n_inner = {}, 0
  local function add(part)
    parts[#parts + 1] = part
    n_inner = n_inner + #(part.inner or {})
  end
  for _, x in ipairs(at.sequences) do
    local outer, taps = x.outer, x.taps
    if at.backwards then -- tap k of the reversed sequence is tap -k
      outer, taps = core.flip(outer, { axis = 1 }), {}
      for k, tap in ipairs(x.taps) do taps[k] = -tap end
    end
    add { role = ROLE_SEQUENCE, outer = outer, taps = taps, inner = x.inner }
  end
  for i, v in ipairs(found.outputs) do
    local state = at.states and at.states[i]
    if state then
      add { role = ROLE_STATE, outer = initial_value(state), taps = state.taps, inner = state.inner, next = v,
        bare = state.bare, number = i, no_stack = at.last_only }
    else
      add { role = ROLE_COLLECT, next = v, number = i }
    end
  end
  for _, update in ipairs(found.updates) do
    add { role = ROLE_STATE, outer = update.shared, taps = { -1 }, inner = { update.shared }, next = update.now,
      bare = true, update = true, last = true, number = 0 }
  end
  for i, v in ipairs(at.fixed) do add { role = 2, outer = v, inner = { at.fixed_inner[i] } } end
  return system.scan_node { parts = parts, n_inner = n_inner, n_steps = n_steps_of(at, found.stop), stop = found.stop,
    mark = at.mark, name = text(at.loop, options, "name"), mode = system.mode_text(at.loop, options.mode),
    strict = at.strict, truncate = truncation(at.loop, options.truncate_gradient),
    checkpoint = checkpoints(at.loop, options.checkpoint), return_updates = at.return_updates,
    progress = progress_option(at.loop, options.progress, options.name) }
end

-- Whether the results depend on constants alone.
local function is_closed(results)
  for _, v in ipairs(core.graph.graph_inputs(results)) do
    if kind_of(v) ~= "constant" then return false end
  end
  return true
end

-- Hands over the results: computed if all arguments are values.
local function give(at, options, results, updates)
  local as_list = boolean(at.loop, options, "return_list")
  if not at.symbolic and #results > 0 and is_closed(results) then
    results = { core.compile({}, results)() }
  end
  if as_list then
    if updates then return results, updates end
    return results
  end
  if updates then results[#results + 1] = updates end
  return unpack(results, 1, #results)
end

-- Sums up what the loops have in common. known: the options; how: what differs.
local function run(loop, fn, options, known, how, ...)
  arguments.no_more(loop, "fn and options", ...)
  options = options == nil and {} or options
  arguments.check_options(loop, 2, options, known)
  local meta = type(fn) ~= "function" and type(fn) ~= "string" and getmetatable(fn)
  if type(fn) ~= "function" and not (type(meta) == "table" and meta.__call) then
    fail("type", "%s: argument 1 (fn) must be a function, got %s", loop, typename(fn))
  end
  local at = { loop = loop, fixed_inner = {}, last_only = how.last_only }
  at.backwards = boolean(loop, options, "go_backwards") or how.backwards or false
  at.strict = boolean(loop, options, "strict")
  at.return_updates = boolean(loop, options, "return_updates")
  at.sequences = read_sequences(at, options.sequences)
  at.states = read_states(at, options.outputs_info)
  at.fixed = read_fixed(at, options.non_sequences)
  at.n_steps = read_steps(at, options.n_steps)
  local parts = node_of(at, options, call_fn(at, fn))
  local results, updates = {}, {}
  for _, part in ipairs(parts) do
    if part.number > 0 then results[part.number] = part.stack or part.last end
    if part.update then updates[part.update] = part.last end
    if part.number > 0 and how.last_only and not part.last then results[part.number] = part.stack[-1] end
  end
  return give(at, options, results, at.return_updates and updates or nil)
end

--- A loop over time: fn is called for the steps, and its results are stacked along a new first axis.
-- fn gets the slices of each sequence, the past values of each output that recurs, and the non_sequences; it returns
-- the outputs, then optionally a table of updates, then optionally `until_(cond)`.
-- @function scan
-- @tparam function fn
-- @tparam[opt] table options `sequences`, `outputs_info`, `non_sequences`, `n_steps`, `go_backwards`,
-- `truncate_gradient`, `strict`, `name`, `mode`, `return_updates`, `return_list`, `checkpoint`, `progress`
-- @return one result an output
function scan.scan(fn, options, ...) return run("scan", fn, options, scan_options, {}, ...) end

--- Applies fn to the slices of the sequences; its results are stacked.
-- @function map
-- @tparam function fn
-- @tparam[opt] table options as scan's, without `outputs_info`
function scan.map(fn, options, ...) return run("map", fn, options, map_options, {}, ...) end

--- The last values of a loop over the sequences.
-- @function reduce
-- @tparam function fn gets the slices, then the values so far
-- @tparam[opt] table options as scan's
function scan.reduce(fn, options, ...) return run("reduce", fn, options, scan_options, { last_only = true }, ...) end

--- As `reduce`, from the first slice to the last.
-- @function foldl
-- @tparam function fn
-- @tparam[opt] table options as scan's, without `go_backwards`
function scan.foldl(fn, options, ...) return run("foldl", fn, options, fold_options, { last_only = true }, ...) end

--- As `reduce`, from the last slice to the first.
-- @function foldr
-- @tparam function fn
-- @tparam[opt] table options as scan's, without `go_backwards`
function scan.foldr(fn, options, ...)
  return run("foldr", fn, options, fold_options, { last_only = true, backwards = true }, ...)
end

-- ---- while ----------------------------------------------------------------------------------------------------------

local function max_steps(at, value)
  if value == nil then return strong(NO_LIMIT, "int64") end
  at.n_steps = nil
  if type(value) == "number" and (not is_whole(value) or value < 0) then
    fail(is_whole(value) and "value" or "type", "while_loop: max_steps must be an integer from 0 on, got %s",
      tostring(value))
  end
  local ok, n = pcall(read_steps, at, value)
  if not ok then error(n, 0) end
  return n
end

--- The state after `state = body(state)` as often as `cond(state)` holds.
-- @function while_loop
-- @tparam function cond gets the state, gives a scalar
-- @tparam function body gets the state, gives the new one, of the same number and Types
-- @tparam Variable|Array|number|table init a value, or a list of values
-- @tparam[opt] table options `max_steps`, `name`, `mode`, `return_list`, `checkpoint`
-- @return one result a value of the state
function scan.while_loop(cond, body, init, options, ...)
  arguments.no_more("while_loop", "cond, body, init and options", ...)
  options = options == nil and {} or options
  arguments.check_options("while_loop", 4, options, while_options)
  for place, fn in ipairs { cond or false, body or false } do
    if type(fn) ~= "function" then
      fail("type", "while_loop: argument %d (%s) must be a function, got %s", place, place == 1 and "cond" or "body",
        fn and typename(fn) or "nil")
    end
  end
  local at = { loop = "while_loop", fixed_inner = {}, last_only = true, sequences = {}, strict = false }
  if init == nil then fail("type", "while_loop: argument 3 (init) must be a value or a list of values, got nil") end
  at.states = read_states(at, init)
  if #at.states == 0 then fail("value", "while_loop: init must have at least one value") end
  for i, state in ipairs(at.states) do
    if not state then fail("type", "while_loop: value %d of init is false", i) end
  end
  at.fixed = {}
  local most = max_steps(at, options.max_steps)
  local starts = {}
  local function step(...)
    local results = { body(...) }
    if #results == 1 and is_plain(results[1]) then results = results[1] end
    if #results ~= #at.states then
      fail("value", "while_loop: body must give %d %s, it gives %d", #at.states, #at.states == 1 and "value"
        or "values",
        #results)
    end
    for i, v in ipairs(results) do
      if not is_variable(v) then
        v = as_variable({ loop = "while_loop" }, v, ("value %d of body"):format(i))
        if is_tensor(v) and v.dtype ~= at.states[i].type.dtype then v = core.cast(v, at.states[i].type.dtype) end
        results[i] = v
      end
    end
    local go_on = read_condition(at, (cond(unpack(results, 1, #results))), "what cond gives")
    return results, scan.until_(core.logical_not(go_on))
  end
  at.n_steps = most
  local found = call_fn(at, step)
  for i, state in ipairs(at.states) do starts[i] = initial_value(state) end
  local first = read_condition(at, (cond(unpack(starts, 1, #starts))), "what cond gives")
  at.n_steps = core.switch(first, most, strong(0, "int64"))
  local results = {}
  for _, part in ipairs((node_of(at, options, found))) do
    if part.number > 0 then results[part.number] = part.last end
  end
  return give(at, options, results, nil)
end

return scan
