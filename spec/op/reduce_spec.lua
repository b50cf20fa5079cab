local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "reduce"
