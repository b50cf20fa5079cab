--- compile, for nested tables of Variables: its Functions take and give such tables.
-- @module damo.compile

local core = require "damo.core"
local leaves = require "damo.leaves"
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

--- Compiles a graph: a Function that computes outputs from inputs.
-- An entry of inputs may be a nested table of Variables: a call then takes a table of that form in its place. Outputs
-- may be nested too: the results have their form.
-- @function compile
-- @tparam table inputs
-- @tparam Variable|table outputs
-- @tparam[opt] table options
-- @treturn Function
local function compile(inputs, outputs, options)
  local take, give
  if leaves.is_nested(inputs) then
    for key in next, inputs do
      if type(key) == "string" then return core.compile(inputs, outputs, options) end -- refused there
    end
    local defs
    inputs, defs = spread(inputs, "input")
    local name = type(options) == "table" and type(options.name) == "string" and options.name or "function"
    take = taker(defs, name)
  end
  if leaves.is_branch(outputs) and is_tree(outputs) then
    local def
    outputs, def = leaves.apart(outputs, "compile", leaves.is_value)
    give = giver { def }
  elseif leaves.is_nested(outputs) then
    local defs
    outputs, defs = spread(outputs, "output")
    give = giver(defs)
  end
  local f = core.compile(inputs, outputs, options)
  if take or give then core.system.nest_function(f, take, give) end
  return f
end

return compile
