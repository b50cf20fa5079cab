-- Functions composed of others, under NumPy's and PyTensor's names.
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "composed"
