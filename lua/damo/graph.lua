--- Graphs as data: FunctionGraph, walks, copies, comparison.
-- @module damo.graph

local core = require "damo.core"

---@class damo.graph
local graph = {}

--- A graph that knows the users of each of its Variables and is changed only by checked replacement.
-- @function FunctionGraph
-- @tparam {Variable,...} inputs
-- @tparam {Variable,...} outputs
-- @tparam[opt] table options `clone` (default true): of a copy of the graph
-- @treturn FunctionGraph
graph.FunctionGraph = core.graph.FunctionGraph

--- A feature for `fgraph:attach_feature`. It refuses, with an inconsistency error, in-place Ops that are not safe: two
-- destroyers of one value, or a destroyer of a constant, of an output, of an input with `tag.indestructible`, or of a
-- value that is read later. And it orders `fgraph:toposort()` so that readers come before the destroyer.
-- @function DestroyHandler
-- @treturn table
graph.DestroyHandler = core.graph.DestroyHandler

--- All Variables that the outputs depend on, themselves included.
-- @function ancestors
-- @tparam {Variable,...} outputs
-- @treturn {Variable,...}
graph.ancestors = core.graph.ancestors

--- The Variables without an owner that the outputs depend on: inputs, constants, shared Variables.
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

--- The outputs of a copy of their graph in which some Variables are replaced.
-- @function clone_replace
-- @tparam {Variable,...} outputs
-- @tparam table replace `{[old] = new}`
-- @treturn {Variable,...}
graph.clone_replace = core.graph.clone_replace

--- The outputs over a batch: Variables are replaced by ones with further leading axes, which the results then have
-- too. The leading axes broadcast. A result has as many as the most of a replaced Variable that it depends on.
-- @function vectorize_graph
-- @tparam Variable|{Variable,...} outputs
-- @tparam table replace `{[old] = new}`
-- @treturn Variable|{Variable,...}
graph.vectorize_graph = core.graph.vectorize_graph

--- Whether two lists of graphs compute the same from corresponding inputs.
-- @function equal_computations
-- @tparam {Variable,...} xs
-- @tparam {Variable,...} ys
-- @tparam[opt] {Variable,...} in_xs
-- @tparam[opt] {Variable,...} in_ys
-- @treturn boolean
graph.equal_computations = core.graph.equal_computations

--- Makes an Op of a graph, which is copied, rewritten and compiled once. Shared Variables in it become further inputs,
-- which are added when the Op is applied.
-- @function OpFromGraph
-- @tparam {Variable,...} inputs
-- @tparam {Variable,...} outputs
-- @tparam[opt] table options `inline` (compilation replaces the node by its inner graph), `lop_overrides` and
-- `rop_overrides` (a function, an Op, or a list of these and "default"), `connection_pattern`, `name`,
-- `on_unused_input`, `mode`
-- @treturn Op with the fields `fgraph`, `fn`, `inner_inputs`, `inner_outputs` and the method `clone`
graph.OpFromGraph = core.graph.OpFromGraph

--- Whether an Op holds a graph.
-- @function HasInnerGraph
-- @param op
-- @treturn boolean
graph.HasInnerGraph = core.graph.HasInnerGraph

--- Whether x is a thunk: callable, with lists of cells `inputs` and `outputs`, and `lazy`.
-- @function ThunkType
-- @param x
-- @treturn boolean
graph.ThunkType = core.graph.ThunkType

--- Sets `thing.tag.trace`, which errors show, to the current lines of the script.
-- @function add_tag_trace
-- @tparam Variable|Apply thing
-- @tparam[opt] integer limit of lines, at most `damo.config.traceback_limit`
-- @return the thing
graph.add_tag_trace = core.graph.add_tag_trace

--- Computes the test values of a node's outputs from those of its inputs.
-- @function compute_test_value
-- @tparam Apply node
graph.compute_test_value = core.graph.compute_test_value

--- The test value of a Variable; a missing_test_value error if there is none.
-- @function get_test_value
-- @param v a Variable, or a value
graph.get_test_value = core.graph.get_test_value

--- An iterator that returns the test values of all Variables once, or nothing if one is missing:
-- `for a, b in get_test_values(x, y) do … end`.
-- @function get_test_values
-- @tparam Variable ...
graph.get_test_values = core.graph.get_test_values

--- Reports a missing test value as `damo.config.compute_test_value` says: not at all, by a warning or by an error.
-- @function missing_test_message
-- @tparam string msg
graph.missing_test_message = core.graph.missing_test_message

return core.names.seal(graph, "damo.graph")
