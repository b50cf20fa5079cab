--- gnuplot's language, and running it. For damo's own files only.
-- @module damo.gnuplot

local core = require "damo.core"
local system = core.system
local number_text = system.number_text

local gnuplot = {}

local huge = math.huge

-- 96 pixels are an inch: then letters have the same relative size as in a PNG.
local function paper(w, h) return number_text(w / 96, 6) .. "in," .. number_text(h / 96, 6) .. "in" end

-- gnuplot's terminals by the path's extension; width and height in pixels.
local terminals = {
  png = function(w, h) return ("pngcairo size %d,%d font ',11'"):format(w, h) end,
  svg = function(w, h) return ("svg size %d,%d font ',11' background rgb 'white'"):format(w, h) end,
  pdf = function(w, h) return "pdfcairo size " .. paper(w, h) .. " font ',11'" end,
}

--- The function that makes the "set terminal" line for a path, whose extension selects the kind of picture.
function gnuplot.terminal(func, path)
  local ending = (path:match "%.(%w+)$" or ""):lower()
  if not terminals[ending] then
    core.raise("value", ("%s: option 'path' must end in .png, .svg or .pdf, got '%s'"):format(func, path))
  end
  return terminals[ending]
end

--- A string in single quotes, inside which nothing is executed or expanded. A single quote and a line break (which
-- would end the command) become strings of their own; other control characters become spaces.
local apart = { ["'"] = [['."'".']], ["\n"] = [['."\n".']] }
function gnuplot.quoted(text)
  local seen = (text or ""):gsub("%c", function(c) return c ~= "\n" and " " or nil end)
  return "'" .. seen:gsub("['\n]", apart) .. "'"
end

--- The same for text that gnuplot draws: _ and ^ are ordinary characters.
function gnuplot.plain(text) return gnuplot.quoted(text) .. " noenhanced" end

--- A number; NaN, a gap in the plot, if it is not finite.
function gnuplot.datum(v) return v == v and v > -huge and v < huge and number_text(v, 12) or "NaN" end

--- Has gnuplot run the lines and write its picture to the path.
function gnuplot.draw(func, path, lines)
  if not system.draw_file(path, table.concat(lines, "\n") .. "\n", func, "gnuplot") then
    core.raise("io", ("%s: %s needs the program gnuplot, which is not installed (Debian's package is gnuplot-nox); " ..
      "leave path out for text"):format(func, path))
  end
end

return gnuplot
