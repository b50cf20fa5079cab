--- Convolutions, pooling, normalisation, attention, activations, losses: functions of Variables and values, which the core provides.
-- @module damo.nn

local core = require "damo.core"

return core.names.seal(core.nn or {}, "damo.nn")
