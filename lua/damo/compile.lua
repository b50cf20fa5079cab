--- compile, for nested tables of Variables: its Functions take and give such tables.
-- @module damo.compile

local core = require "damo.core"
local leaves = require "damo.leaves"
local preparations = require "damo.preparations"
local unpack = table.unpack or unpack -- luacheck: ignore

-- The entries of a list of Variables and trees, as one list; for each entry its treedef, or false.
local function spread(list, what)
  local flat, defs, n = {}, {}, 0
  for key in next, list do
    if type(key) == "number" and key > n then n = key end
  end
  for i = 1, n do
    local v = list[i]
    if v == nil then
      core.raise("type", ("compile: %s %d is nil"):format(what, i))
    elseif leaves.is_branch(v) and not leaves.is_value(v) then
      local of
      of, defs[i] = leaves.apart(v, "compile", leaves.is_value)
      for _, leaf in ipairs(of) do flat[#flat + 1] = leaf end
    else
      flat[#flat + 1], defs[i] = v, false
    end
  end
  return flat, defs
end

-- A function that makes of the arguments of a call those of the Function.
local function taker(defs, name)
  return function(...)
    local flat, n, given = {}, 0, select("#", ...)
    for i = 1, math.max(given, #defs) do
      local v = (select(i, ...))
      if not defs[i] then
        n = n + 1
        flat[n] = v
      else
        local of = leaves.beside(defs[i], v, name, function(what, path, got)
          local place = path == "" and "" or " at " .. path
          if what == "table" then
            core.raise("type", ("%s: input %d must be a table%s, got %s"):format(name, i, place,
              core.system.typename(got)))
          end
          core.raise("value", (what == "missing" and "%s: input %d has no entry %s"
            or "%s: input %d has an entry %s too many"):format(name, i, path))
        end)
        for k = 1, defs[i].n do flat[n + k] = of[k] end
        n = n + defs[i].n
      end
    end
    return unpack(flat, 1, n)
  end
end

-- A function that puts the Function's results into the form of the outputs.
local function giver(defs)
  return function(...)
    local flat, results, at = { ... }, {}, 0
    for i, def in ipairs(defs) do
      if not def then
        at = at + 1
        results[i] = flat[at]
      else
        local of = {}
        for k = 1, def.n do of[k] = flat[at + k] end
        at = at + def.n
        results[i] = leaves.together(def, of)
      end
    end
    return unpack(results, 1, #defs)
  end
end

-- Whether the outputs are one tree: a table with names that has branches or positions too.
local function is_tree(outputs)
  local names, others = false, false
  for key, v in next, outputs do
    if type(key) == "string" then names = true else others = true end
    if leaves.is_branch(v) and not leaves.is_value(v) then others = true end
  end
  return names and others
end

--- Makes calls of f take and give tables of these forms, lists of treedefs or nil. `name`: the Function's, in errors.
local function nest(f, taken, given, name)
  local form = ("%s;%s;%s"):format(taken and leaves.write(taken) or "", given and leaves.write(given) or "", name)
  core.system.nest_function(f, taken and taker(taken, name), given and giver(given), form)
end

core.system.set_nester(function(f, form)
  local taken, given, name = form:match "^([^;]*);([^;]*);(.*)$"
  nest(f, taken ~= "" and leaves.read(taken) or nil, given ~= "" and leaves.read(given) or nil, name)
end)

--- Compiles a graph: a Function that computes outputs from inputs.
-- An entry of inputs may be a nested table of Variables: a call then takes a table of that form in its place. Outputs
-- may be nested too: the results have their form.
-- @function compile
-- @tparam table inputs
-- @tparam Variable|table outputs
-- @tparam[opt] table options
-- @treturn Function
local function compile(inputs, outputs, options)
  local taken, given, name
  if leaves.is_nested(inputs) then
    for key in next, inputs do
      if type(key) == "string" then return core.compile(inputs, outputs, options) end -- refused there
    end
    inputs, taken = spread(inputs, "input")
    name = type(options) == "table" and type(options.name) == "string" and options.name or "function"
  end
  if leaves.is_branch(outputs) and is_tree(outputs) then
    local def
    outputs, def = leaves.apart(outputs, "compile", leaves.is_value)
    given = { def }
  elseif leaves.is_nested(outputs) then
    outputs, given = spread(outputs, "output")
  end
  local f = preparations.compile(inputs, outputs, options)
  if taken or given then nest(f, taken, given, name or "function") end
  return f
end

return compile
