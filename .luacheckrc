std = "lua54"
max_line_length = 120
self = false
exclude_files = { "build/**" }
files["spec/**/*_spec.lua"] = { std = "+busted" }
