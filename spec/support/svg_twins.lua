-- Loaded before a script by `lua -l`: each picture that damo.plot draws as .png is drawn as .svg beside it, too.
local damo = require "damo"

for _, name in ipairs { "lines", "scatter", "bar", "hist", "box", "image", "heatmap", "contour", "surface", "quiver",
  "spy", "figure" } do
  local draw = damo.plot[name]
  rawset(damo.plot, name, function(data, options)
    if options and options.path and options.path:match "%.png$" then
      local twin = {}
      for key, value in pairs(options) do twin[key] = value end
      twin.path = options.path:gsub("%.png$", ".svg")
      draw(data, twin)
    end
    return draw(data, options)
  end)
end
