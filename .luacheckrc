std = "lua54"
max_line_length = 120
self = false
exclude_files = { "build/**", "spec/data/**" } -- the cases are data, one a line
files["spec/**/*_spec.lua"] = { std = "+busted" }
files["spec/pages/*_browser.lua"] = { std = "+busted" }
files["spec/op/rows/*.lua"] = { max_line_length = false } -- tables, a case a row
files["spec/names.lua"] = { max_line_length = false } -- a list of names
files["examples/hosts/love/*.lua"] = { std = "+love" }
