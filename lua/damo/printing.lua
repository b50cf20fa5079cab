--- Graphs as text.
-- @module damo.printing

local core = require "damo.core"

---@class damo.printing
local printing = {}

local known = {
  "print_type", "depth", "stop_on_name", "id_type", "print_destroy_map", "print_view_map", "print_storage", "file",
}
local is_known = {}
for _, name in ipairs(known) do is_known[name] = true end

--- The tree of a Variable, a list of Variables, a node, a FunctionGraph or a Function, shared parts printed once.
-- @param x what to print
-- @tparam[opt] table options `print_type`, `depth`, `stop_on_name`, `print_destroy_map`, `print_view_map`, and `file`:
-- a file handle (default stdout) or "str", which returns the text
-- @treturn ?string
function printing.debugprint(x, options)
  options = options or {}
  for name in pairs(options) do
    if not is_known[name] then
      core.raise("value", ("debugprint: unknown option '%s': the options are %s"):format(tostring(name),
        table.concat(known, ", ")))
    end
  end
  local text = core.graph.debug_text(x, options)
  if options.file == "str" then return text end
  local file = options.file or io.stdout
  file:write(text)
  if text:sub(-1) ~= "\n" then file:write("\n") end
  return nil
end

--- One line, infix: "(x * 2) + exp(y)".
-- @function pprint
-- @param x a Variable
-- @treturn string
printing.pprint = core.graph.pprint

local function quote(s) return '"' .. s:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"' end

--- The graph in the language of Graphviz; with `path` it is also written there.
-- @param x a Variable, a list of Variables, or a Function
-- @tparam[opt] table options `path`
-- @treturn string
function printing.dot(x, options)
  local outputs = x
  if type(x) == "userdata" then
    outputs = core.is_variable(x) and { x } or (x.fgraph and x.fgraph.outputs) or x.outputs
  end
  local lines, ids, n = { "digraph damo {", "  rankdir = TB;" }, {}, 0
  local function id_of(object, label, shape)
    if ids[object] then return ids[object] end
    n = n + 1
    ids[object] = "n" .. n
    lines[#lines + 1] = ("  n%d [label=%s, shape=%s];"):format(n, quote(label), shape)
    return ids[object]
  end
  for _, node in ipairs(core.graph.toposort(outputs)) do
    local to = id_of(node, tostring(node.op), "ellipse")
    for i, input in ipairs(node.inputs) do
      local from = input.owner and id_of(input.owner, tostring(input.owner.op), "ellipse")
        or id_of(input, tostring(input), "box")
      lines[#lines + 1] = ("  %s -> %s [label=%s];"):format(from, to, quote(tostring(i)))
    end
  end
  for i, output in ipairs(outputs) do
    local from = output.owner and ids[output.owner] or id_of(output, tostring(output), "box")
    lines[#lines + 1] = ("  out%d [label=%s, shape=box]; %s -> out%d;"):format(i, quote("output " .. i), from, i)
  end
  lines[#lines + 1] = "}\n"
  local text = table.concat(lines, "\n")
  if options and options.path then
    local file = assert(io.open(options.path, "w"))
    file:write(text)
    file:close()
  end
  return text
end

return printing
