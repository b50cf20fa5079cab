--- Rewrite rules written in Lua. Rules stand beside damo's own in one database and are picked by name and by tag:
-- `FAST_RUN` takes those tagged "fast_run", `FAST_COMPILE` those tagged "fast_compile", `damo.Mode{include={…}}` any.
-- @module damo.rewrite

local core = require "damo.core"

---@class damo.rewrite
local rewrite = {}

--- Adds a rule over single nodes. The rewriter is called for every node of a graph that is compiled, until nothing
-- changes, and returns nil or false (nothing), a Variable that takes the place of the node's one output, or a list with
-- an entry an output (false keeps that output). A replacement has the output's kind, dtype and rank; one whose Type
-- knows less of the shape is not taken. The graph itself is changed by what is returned alone.
--
-- A tag "canonicalize", "stabilize", "specialize" or "inplace" says when the rule runs ("specialize" without one of
-- these); rules of one phase run in the order in which they were registered, damo's own first.
-- @function register
-- @tparam string name one word; a name that is taken is an error
-- @tparam function rewriter `function(fgraph, node)`
-- @tparam string ... tags, one word each
-- @usage rewrite.register("pow_two", function(_, node)
--   …
-- end, "fast_run", "specialize")
rewrite.register = core.rewrite.register

--- Takes a rule away that a script has registered. Functions compiled with it stay as they are.
-- @function unregister
-- @tparam string name
rewrite.unregister = core.rewrite.unregister

--- The names of all rules in the order in which they were registered.
-- @function names
-- @tparam[opt] string tag of those that have this tag (or name) alone
-- @treturn {string,...}
rewrite.names = core.rewrite.names

return core.names.seal(rewrite, "damo.rewrite")
