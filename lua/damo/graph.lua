--- Graphs as data: FunctionGraph, walks, copies, comparison.
-- @module damo.graph

local core = require "damo.core"

---@class damo.graph
local graph = {}

--- A graph with known users of every Variable, changed by checked replacement only.
-- @function FunctionGraph
-- @tparam {Variable,...} inputs
-- @tparam {Variable,...} outputs
-- @tparam[opt] table options `clone` (default true): over a copy of the graph
-- @treturn FunctionGraph
graph.FunctionGraph = core.graph.FunctionGraph

--- All Variables that the outputs depend on, themselves included.
-- @function ancestors
-- @tparam {Variable,...} outputs
-- @treturn {Variable,...}
graph.ancestors = core.graph.ancestors

--- Those of them without an owner: inputs, constants, shared Variables.
-- @function graph_inputs
-- @tparam {Variable,...} outputs
-- @treturn {Variable,...}
graph.graph_inputs = core.graph.graph_inputs

--- The nodes that compute the outputs, inputs before users.
-- @function toposort
-- @tparam {Variable,...} outputs
-- @treturn {Apply,...}
graph.toposort = core.graph.toposort

--- All Variables between inputs and outputs, both included.
-- @function variables
-- @tparam {Variable,...} inputs
-- @tparam {Variable,...} outputs
-- @treturn {Variable,...}
graph.variables = core.graph.variables

--- The outputs over a copy of their graph in which some Variables are replaced.
-- @function clone_replace
-- @tparam {Variable,...} outputs
-- @tparam table replace `{[old] = new}`
-- @treturn {Variable,...}
graph.clone_replace = core.graph.clone_replace

--- Whether two lists of graphs compute the same from corresponding inputs.
-- @function equal_computations
-- @tparam {Variable,...} xs
-- @tparam {Variable,...} ys
-- @tparam[opt] {Variable,...} in_xs
-- @tparam[opt] {Variable,...} in_ys
-- @treturn boolean
graph.equal_computations = core.graph.equal_computations

return graph
