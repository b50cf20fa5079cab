--- Files of Arrays and sparse matrices: `load`, `save` (.npy, .npz), `read_csv`, `read_mtx`, `write_mtx`.
-- @module damo.io

local core = require "damo.core"

return core.names.seal(core.io, "damo.io")
