--- damo: numerical arrays and compiled graphs, scripted from Lua.
-- The table holds every op function (`damo.exp`, `damo.sum`, …), the makers of Variables and Arrays, `compile`, `grad`.
-- The submodules `random`, `linalg`, `fft`, `nn`, `dist`, `graph`, `rewrite`, `printing`, `io`, `optim`, `plot`,
-- `progress`, `tree` also load by themselves: `require "damo.random"`.
-- @module damo

local core = require "damo.core"

-- Files of one build belong together. A host that has the modules in itself may leave out damo.build_id.
local known, build_id = pcall(require, "damo.build_id")
if known and (not core.build or core.build.id ~= build_id) then
  local build = core.build or { id = "an older one", file = "damo.core", source = "" }
  package.loaded["damo.core"], package.loaded["damo"] = nil, nil -- Lua 5.1 keeps a mark of the failure otherwise
  local folder = build.source ~= "" and build.source or "damo/"
  error(("damo: %s is of build %s, but %sinit.lua of build %s: install both anew, or put the right folders first in "
    .. "package.path and package.cpath"):format(build.file, build.id, folder, build_id), 0)
end

---@class damo
local damo = {}
for name, value in pairs(core) do damo[name] = value end
damo.system, damo.names, damo.terminal = nil, nil, nil -- for damo's own files only
damo.dist, damo.nn, damo.ffi, damo.build = nil, nil, nil, nil

-- Set before the submodules are loaded, since they may require "damo".
package.loaded["damo"] = damo

local preparations = require "damo.preparations"
local gradient = require "damo.gradient"
for name, fn in pairs(gradient) do damo[name] = fn end
damo.ifelse = require "damo.ifelse"
-- Functions of lists are loaded when one is used.
for _, name in ipairs { "select", "piecewise", "stacklists", "block", "pack", "mgrid", "ogrid" } do
  damo[name] = function(...) return require("damo.lists")[name](...) end
end

-- Whether inputs or outputs may be nested: there are tables among them (In and Out too), or both names and positions.
local function may_be_nested(list)
  if type(list) ~= "table" then return false end
  local names, others = false, false
  for key, v in next, list do
    if type(v) == "table" then return true end
    if type(key) == "string" then names = true else others = true end
  end
  return names and others
end

function damo.compile(inputs, outputs, options) -- compile.lua is loaded when it is used
  if may_be_nested(inputs) or may_be_nested(outputs) then
    return require "damo.compile"(inputs, outputs, options)
  end
  return preparations.compile(inputs, outputs, options)
end

function damo.vectorize(...) return require "damo.vectorize"(...) end -- loaded when it is used

function damo.help(...) return require("damo.help").help(...) end -- loaded when it is used

damo.random = require "damo.random"
damo.sparse = require "damo.sparse"
damo.linalg = require "damo.linalg"
damo.fft = require "damo.fft"
damo.graph = require "damo.graph"
damo.rewrite = require "damo.rewrite"
damo.io = require "damo.io"
-- Loops are loaded when one is used.
for _, name in ipairs { "scan", "map", "reduce", "foldl", "foldr", "while_loop", "until_" } do
  damo[name] = function(...) return require("damo.scan")[name](...) end
end

--- x[index], as a function: `damo.subtensor(x, {{1, -1, 2}})` is `x[{{1, -1, 2}}]`. With the option `spec` the items
-- are operands as that says.
function damo.subtensor(x, index, options, ...)
  local is_index = type(index) == "table" and getmetatable(index) == nil
  if options == nil and is_index and type(x) == "userdata" and select("#", ...) == 0 then return x[index] end
  return core.subtensor(x, index, options, ...)
end

if core.ffi and not damo.config.sandbox and pcall(require, "ffi") then require "damo.front" end -- LuaJIT

core.system.set_hint(function(message) return require("damo.hint").of(message) end)
core.system.set_profile_maker(function(counts, f) return require "damo.profile"(counts, f) end)

-- Modules that only some scripts use are loaded at first access.
local lazy = {
  dist = true, explain = true, nn = true, printing = true, optim = true, plot = true, progress = true, tree = true,
}
setmetatable(damo, {
  __index = function(t, name)
    if not lazy[name] then return core.names.unknown(t, name, "damo", lazy) end
    local module = require("damo." .. name)
    rawset(t, name, module)
    return module
  end,
})

return damo
