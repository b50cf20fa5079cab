--- Files of Arrays: `load`, `save` (.npy, .npz), `read_csv`.
-- @module damo.io

return require("damo.core").io
