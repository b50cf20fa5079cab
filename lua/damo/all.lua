--- Loads every part of damo, also what is otherwise loaded when it is first used: for a host that closes `package.path`
-- before a script runs. Returns what `require "damo"` does. The prompt's parts and `damo.help` are left out.
-- @module damo.all

local damo = require "damo"

for _, name in ipairs {
  "arguments", "compile", "dist", "dist_continuous", "dist_discrete", "dist_shared", "dist_vector", "draws",
  "explain", "fft", "gnuplot", "gradient", "graph", "graph_page", "hint", "ifelse", "io", "jacobian", "leaves",
  "linalg", "lists", "mistakes", "nil_names", "nn", "optim", "output", "plot", "plot_data", "plot_gnuplot",
  "plot_panels", "plot_text", "preparations", "printing", "profile", "progress", "progress_option", "random",
  "rewrite", "scan", "sparse", "sparse_verify", "tree", "vectorize", "verify_grad",
} do
  require("damo." .. name)
end

return damo
