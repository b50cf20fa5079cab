--- What is done to a graph before it is compiled, and compiling it: `damo.rewrite.before` adds functions here.
-- @module damo.preparations

local core = require "damo.core"

local preparations = {}

local names, functions = {}, {}

function preparations.set(name, prepare)
  if type(name) ~= "string" then
    core.raise("type", "before: argument 1 (name) must be a string, got " .. core.system.typename(name))
  end
  if prepare ~= nil and type(prepare) ~= "function" then
    core.raise("type", "before: argument 2 (prepare) must be a function or nil, got " .. core.system.typename(prepare))
  end
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
