--- Graphs as text.
-- @module damo.printing

local core = require "damo.core"
local output = require "damo.output"
local system = core.system

---@class damo.printing
local printing = {}

local debugprint_options = {
  "print_type", "depth", "stop_on_name", "id_type", "print_destroy_map", "print_view_map", "print_storage", "file",
}

--- Prints a Variable, a list of Variables, a node, a FunctionGraph or a Function as a tree; shared subtrees once.
-- @param x what to print
-- @tparam[opt] table options `print_type`, `depth`, `stop_on_name`, `print_destroy_map`, `print_view_map`, `id_type`
-- ("CHAR"; "int" in the order of the text; "id" the same in every text; "" none), `print_storage` (of a Function: the
-- values in its cells), and `file`: an object with a method write (default: the text goes through `print`), or "str",
-- to have the text returned
-- @treturn ?string
function printing.debugprint(x, options)
  system.check_options("debugprint", options, debugprint_options)
  local file = options and options.file
  output.check_file("debugprint", file)
  return output.write(file, core.graph.debug_text(x, options))
end

--- One line, infix: "(x * 2) + exp(y)".
-- @function pprint
-- @param x a Variable
-- @treturn string
printing.pprint = core.graph.pprint

--- The graph in Graphviz's language: Ops as ellipses (red edges: destroyed inputs, blue: viewed), inputs green, shared
-- Variables gold, constants grey. With `path` it is also written there: as a picture if the path ends in .png, .svg
-- or .pdf (by Graphviz's program `dot`), as a page that folds and searches if it ends in .html, else as text.
-- @param x a Variable, a list of Variables, a node, a FunctionGraph or a Function
-- @tparam[opt] table options `path`
-- @treturn string
function printing.dot(x, options)
  system.check_options("dot", options, { "path" })
  return output.write_dot("dot", options and options.path, core.graph.dot_text(x))
end

--- An Op that passes its input on and writes it out with the message, "message = value", by the global function
-- `print`, once each time that a program computes it. It is neither merged with an equal node nor folded; gradients
-- pass through.
-- @function Print
---@param message? string
---@return damo.Op
printing.Print = system.print_op

local function variable_text(v) return tostring(v), v.dtype .. " " .. tostring(v.type):match "shape=(%b())" end

--- The Loop of a node and its inputs as pairs of texts: an expression, a Type. Of a DotLoop one input is the product,
-- of operands that come before the Loop's other inputs.
local function loop_inputs(node)
  local op, inputs, operands = node.op, {}, {}
  local loop = op.name == "DotLoop" and op.loop or op
  local n_product = op.name == "DotLoop" and #node.inputs - loop.n_in + 1 or 0
  for i, v in ipairs(node.inputs) do
    if i <= n_product then
      operands[i] = tostring(v)
    else
      inputs[#inputs + 1] = { variable_text(v) }
    end
  end
  if n_product > 0 then
    local product = ("%s(%s)"):format(tostring(op.product), table.concat(operands, ", "))
    table.insert(inputs, op.at + 1, { product, node.inputs[1].dtype })
  end
  return loop, inputs
end

--- How the inputs of a Loop that are read at their sources are read, by their numbers, and the dtypes of ranges.
local function loop_sources(op)
  local how, dtypes = {}, {}
  for _, source in ipairs(op.sources or {}) do
    local first, second, third = source[2] + 1, source[3] + 1, source[4] and source[4] + 1
    if third then
      how[first], dtypes[first] = (" to r%d by r%d"):format(second, third), source[1].dtype
    else -- the items before the list in spec are whole axes, of four letters each
      how[first] = (" at r%d along axis %d"):format(second, (source[1].spec:find "l" + 3) / 4)
    end
  end
  return how, dtypes
end

--- One Loop as lines: its inputs, the parts of its program over registers, its outputs.
local function add_loop(lines, node, number)
  local names, op, inputs = {}, loop_inputs(node)
  local function add(text, dtype)
    names[#names + 1] = "r" .. #names + 1
    lines[#lines + 1] = ("  %s = %s: %s"):format(names[#names], text, dtype)
  end
  lines[#lines + 1] = "Loop " .. number
  local how, dtypes = loop_sources(op)
  for i, input in ipairs(inputs) do add(input[1] .. (how[i] or ""), dtypes[i] or input[2]) end
  for _, part in ipairs(op.parts) do
    local operands = {}
    for k = 4, #part do operands[k - 3] = names[part[k] + 1] end
    local name = tostring(part[1]):gsub("^Elemwise{(.*)}$", "%1")
    local dtype = system.dtype_name(part[2]) .. ((part[3] == 1 or part[3] == 2) and ", one value a row" or "")
    add(("%s(%s)"):format(name, table.concat(operands, ", ")), dtype)
  end
  for o, register in ipairs(op.outs) do
    local over = op.inplace and op.inplace[o] or 0
    lines[#lines + 1] = ("  output %d = %s%s"):format(o, names[register + 1],
      over > 0 and ", in the memory of " .. names[over] or "")
  end
end

--- The programs of the Loop nodes, each one pass over memory for several elementwise Ops and reductions: a line for
-- each register, "r3 = mul(r1, r2): float64". Registers are the node's inputs, then the results of its parts; those of
-- reductions, and what is made of them alone, have one value a row. "r1 = x at r3 along axis 1" is x's entries at the
-- positions r3, "r1 = 0 to r4 by r5" the range that starts with 0: neither is an array of its own. A product of
-- matrices whose rows go through a Loop as they are made is an input of it.
---@param x damo.Function|damo.FunctionGraph
---@return string
function printing.loop(x)
  local kind = system.typename(x)
  if kind ~= "Function" and kind ~= "FunctionGraph" then
    core.raise("type", "loop: argument 1 (x) must be a Function or a FunctionGraph, got " .. kind)
  end
  local lines, number = {}, 0
  for _, node in ipairs((kind == "Function" and x.fgraph or x):toposort()) do
    if node.op.name == "Loop" or node.op.name == "DotLoop" then
      number = number + 1
      add_loop(lines, node, number)
    end
  end
  return number > 0 and table.concat(lines, "\n") or "no Loop"
end

return core.names.seal(printing, "damo.printing")
