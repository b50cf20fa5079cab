--- Discrete Fourier transforms: functions of Variables and values, which the core provides.
-- @module damo.fft

local core = require "damo.core"

return core.names.seal(core.fft, "damo.fft")
