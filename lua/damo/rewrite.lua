--- Rewrite rules written in Lua. They are in one database with damo's own rules and are selected by name and by tag:
-- `FAST_RUN` selects the tag "fast_run", `FAST_COMPILE` the tag "fast_compile", `damo.Mode{include={…}}` any.
-- @module damo.rewrite

local core = require "damo.core"
local preparations = require "damo.preparations"

---@class damo.rewrite
local rewrite = {}

--- Adds a rule over single nodes. While a graph is compiled, the rewriter is called for its nodes until nothing
-- changes. It returns nil or false (no change), a Variable that replaces the node's only output, or a list with one
-- entry an output (false keeps that output). A replacement must have the output's kind, dtype and rank; one whose Type
-- knows less of the shape is ignored. The graph changes only by what the rewriter returns.
--
-- A tag "canonicalize", "stabilize", "specialize" or "inplace" selects the phase in which the rule runs ("specialize"
-- if there is none of these); the rules of a phase run in the order of registration, damo's own first.
-- @function register
-- @tparam string name one word; a name that is taken is an error
-- @tparam function rewriter `function(fgraph, node)`
-- @tparam string ... tags, one word each
-- @usage rewrite.register("pow_two", function(_, node)
--   …
-- end, "fast_run", "specialize")
rewrite.register = core.rewrite.register

--- Removes a rule that a script has registered. Functions compiled with it do not change.
-- @function unregister
-- @tparam string name
rewrite.unregister = core.rewrite.unregister

--- The names of all rules in the order of registration.
-- @function names
-- @tparam[opt] string tag only of rules that have this tag (or name)
-- @treturn {string,...}
rewrite.names = core.rewrite.names

--- Has `prepare` change what each later `damo.compile` is given, before anything else is done with it: for a module
-- whose Ops need more than a rule over single nodes, such as an order of their own. Several are called in the order in
-- which they were added.
-- @function before
-- @tparam string name one word; a function of that name that was added before is replaced
-- @tparam function|nil prepare `function(inputs, outputs, options)`, which returns these three, changed or not: a list
-- of Variables and `damo.In`; a Variable, a list or a table with names, or nil; a table or nil. nil: none any more
-- @tparam[opt] function inner `function(fgraph)`, which changes a FunctionGraph in place: a copy of the graph that a
-- loop or an OpFromGraph holds, before it is compiled. Its inputs, and the number and Types of its outputs, must stay
rewrite.before = preparations.set

return core.names.seal(rewrite, "damo.rewrite")
