--- Files of Arrays and sparse matrices: `load`, `save` (.npy, .npz), `read_csv`, `read_mtx`, `write_mtx`.
-- @module damo.io

return require("damo.core").io
