--- Plots: a picture by gnuplot where a path is given, else characters for the terminal.
--
-- Every function takes `options`, which for all of them may hold `path` (its ending, .png, .svg or .pdf, says what the
-- picture is), `text` (true: characters; so are they without a path), `width` and `height` in pixels, and `title`; most
-- also `xlabel`, `ylabel`, `logx`, `logy`, `xrange` and `yrange` ({low, high}). Each gives the path, or the text.
-- Errors: a value error for an option or an ending that is not known, an io error where gnuplot is needed and is not
-- installed. A series is {name=, y=, x=} with lists of numbers or vector Arrays; x counts from 1 where it is not given.
-- @module damo.plot

local core = require "damo.core"
local data = require "damo.plot_data"
local gnuplot = require "damo.gnuplot"
local panels_of = require "damo.plot_panels"
local pictures = require "damo.plot_gnuplot"
local texts = require "damo.plot_text"

local plot = {}

local picture_options = { path = "text", text = "flag", width = "count", height = "count" }

--- Splits the options of a function into those of its panels and {path=, text=, width=, height=}.
local function split(func, options, known)
  local all = {}
  for name, kind in pairs(known) do all[name] = kind end
  for name, kind in pairs(picture_options) do all[name] = kind end
  local checked = data.options(func, options, all)
  local picture = { width = checked.width, height = checked.height, path = checked.path }
  if checked.path and checked.text then
    data.fail(func, "value", "with text = true the text is returned: leave path out")
  end
  if checked.path then picture.terminal = gnuplot.terminal("plot." .. func, checked.path) end
  return checked, picture
end

--- Draws panels to the picture's path, or gives their text.
local function show(func, panels, picture)
  if not picture.path then return texts.text(panels, picture.title) end
  gnuplot.draw("plot." .. func, picture.path, pictures.script(panels, picture.terminal, picture))
  return picture.path
end

local function draw(func, first, options)
  local checked, picture = split(func, options, panels_of.options[func])
  local panels = panels_of[func](first, checked)
  if func == "image" then picture.title = checked.title end -- over all the panels, whose names are their own
  return show(func, panels, picture)
end

--- Draws lines.
---@param series table list of {name=, y=, x=, low=, high=, error=}: low and high, or error, draw a band about y; or one
--- list or vector y
---@param options table|nil {title=, xlabel=, ylabel=, logx=, logy=, xrange=, yrange=, path=, text=, width=, height=}
---@return string what the path of the picture, or the text
function plot.lines(series, options) return draw("lines", series, options) end

--- Draws points.
---@param series table list of {name=, y=, x=, error=, color=}: error draws bars about y, color (numbers) colours points
---@param options table|nil as of lines
---@return string what the path of the picture, or the text
function plot.scatter(series, options) return draw("scatter", series, options) end

--- Draws bars, those of several series side by side or, with stacked=true, one on another.
---@param series table list of {name=, y=, error=}, or one list or vector y
---@param options table|nil labels= the names of the places; stacked=; title=, xlabel=, ylabel=, logy=, yrange=, …
---@return string what the path of the picture, or the text
function plot.bar(series, options) return draw("bar", series, options) end

--- Draws histograms over the same bins.
---@param series table list of {name=, x=}, or one list or vector of values
---@param options table|nil bins= their number or edges (else NumPy's rule "auto"); density=true for area 1; …
---@return string what the path of the picture, or the text
function plot.hist(series, options) return draw("hist", series, options) end

--- Draws a box for each series: median, quartiles, whiskers to the last value within 1.5 interquartile ranges, and what
--- lies beyond as points.
---@param series table list of {name=, y=}, or one list or vector of values
---@param options table|nil labels= the names of the boxes; title=, xlabel=, ylabel=, logy=, yrange=, path=, …
---@return string what the path of the picture, or the text
function plot.box(series, options) return draw("box", series, options) end

--- Draws matrices as pictures, row 1 at the bottom; an Array (rows, columns, 3) is in colours: floats from 0 to 1,
--- integers from 0 to 255.
---@param panels table a matrix (an Array or a list of rows), or a list of {name=, z=}
---@param options table|nil palette= "viridis", "gray" or "diverging"; title=, path=, text=, width=, height=
---@return string what the path of the picture, or the text
function plot.image(panels, options) return draw("image", panels, options) end

--- Draws a matrix as coloured cells, row 1 on top, with names for rows and columns.
---@param z table a matrix
---@param options table|nil rows=, columns= lists of names; values=true writes the numbers; palette=, title=, path=, …
---@return string what the path of the picture, or the text
function plot.heatmap(z, options) return draw("heatmap", z, options) end

--- Draws lines of equal value of a matrix.
---@param z table a matrix: z[i][j] at y[i] and x[j]
---@param options table|nil x=, y= coordinates; levels= their number (8) or values; filled=true; palette=, title=, …
---@return string what the path of the picture, or the text
function plot.contour(z, options) return draw("contour", z, options) end

--- Draws a matrix as a surface.
---@param z table a matrix: z[i][j] at y[i] and x[j]
---@param options table|nil x=, y= coordinates; palette=, zlabel=, title=, xlabel=, ylabel=, path=, …
---@return string what the path of the picture, or the text
function plot.surface(z, options) return draw("surface", z, options) end

--- Draws a field of arrows.
---@param field table {x=, y=, u=, v=}: matrices u and v over the columns' x and the rows' y (else counted from 1), or
--- four lists or vectors
---@param options table|nil scale= the length of an arrow of length 1; title=, xlabel=, ylabel=, path=, …
---@return string what the path of the picture, or the text
function plot.quiver(field, options) return draw("quiver", field, options) end

--- Draws where a matrix has entries, row 1 on top: of a sparse matrix the stored ones, else those that are not zero.
---@param a damo.Sparse|damo.Array|table the matrix
---@param options table|nil {title=, path=, text=, width=, height=}
---@return string what the path of the picture, or the text
function plot.spy(a, options) return draw("spy", a, options) end

--- Draws several plots in one picture, row by row.
---@param plots table list of {function's name, its first argument, its options}, as {"lines", series, {title=}}
---@param options table|nil {title=, columns=, path=, text=, width=, height=}: columns is 2 where there are several
---@return string what the path of the picture, or the text
function plot.figure(plots, options)
  local checked, picture = split("figure", options, { title = "text", columns = "count" })
  picture.title, picture.columns = checked.title, checked.columns
  if type(plots) ~= "table" or #plots == 0 then
    data.fail("figure", "type", "argument 1 (plots) must be a list of {name, data, options} tables")
  end
  local all = {}
  for i, p in ipairs(plots) do
    local func = type(p) == "table" and p[1]
    local known = type(func) == "string" and panels_of.options[func]
    if not known then
      data.fail("figure", "value", "plot %d must begin with the name of a function of damo.plot, as 'lines', got %s", i,
        type(func) == "string" and "'" .. func .. "'" or core.system.typename(func))
    end
    local checked_panel = data.options(func, p[3], known)
    for _, panel in ipairs(panels_of[func](p[2], checked_panel)) do
      panel.title = panel.title or checked_panel.title
      all[#all + 1] = panel
    end
  end
  if checked.columns and checked.columns > #all then picture.columns = #all end
  return show("figure", all, picture)
end

return core.names.seal(plot, "damo.plot")
