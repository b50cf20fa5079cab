--- What is done to a graph before it is compiled, and compiling it: `damo.rewrite.before` adds functions here.
-- @module damo.preparations

local core = require "damo.core"

local preparations = {}

local names, functions, inner_of = {}, {}, {}
local has_inner = false

local function check_function(at, what, fn)
  if fn ~= nil and type(fn) ~= "function" then
    core.raise("type", ("before: argument %d (%s) must be a function or nil, got %s"):format(at, what,
      core.system.typename(fn)))
  end
end

-- Calls the functions for graphs that Ops hold.
local function prepare_inner(fgraph)
  local now = {}
  for k, name in ipairs(names) do now[k] = inner_of[name] or false end
  for _, fn in ipairs(now) do
    if fn then fn(fgraph) end
  end
end

function preparations.set(name, prepare, inner)
  if type(name) ~= "string" then
    core.raise("type", "before: argument 1 (name) must be a string, got " .. core.system.typename(name))
  end
  check_function(2, "prepare", prepare)
  check_function(3, "inner", inner)
  if inner and not has_inner then
    core.rewrite.set_inner(prepare_inner)
    has_inner = true
  end
  inner_of[name] = prepare and inner
  local at = #names + 1
  for k, other in ipairs(names) do
    if other == name then at = k end
  end
  if prepare then
    names[at], functions[at] = name, prepare
  elseif names[at] then
    table.remove(names, at)
    table.remove(functions, at)
  end
end

--- Compiles what the functions make of inputs, outputs and options.
function preparations.compile(inputs, outputs, options)
  local now = {}
  for k, prepare in ipairs(functions) do now[k] = { name = names[k], prepare = prepare } end
  for _, it in ipairs(now) do
    local given = inputs ~= nil
    inputs, outputs, options = it.prepare(inputs, outputs, options)
    if given and inputs == nil then
      core.raise("type", ("compile: the function '%s' of damo.rewrite.before must return inputs, outputs and options, "
        .. "and gave no inputs"):format(it.name))
    end
  end
  return core.compile(inputs, outputs, options)
end

return preparations
