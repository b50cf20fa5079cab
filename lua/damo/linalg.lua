--- Linear algebra of dense matrices: functions of Variables and values, which the core provides.
-- @module damo.linalg

local core = require "damo.core"

return core.names.seal(core.linalg, "damo.linalg")
