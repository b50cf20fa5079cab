-- damo.plot: pictures by gnuplot and as text; strings passed to gnuplot execute nothing there; refused arguments.
local child = require "spec.support.child"
local damo = require "damo"
local failure = require "spec.support.failure"
local with_folder = require "spec.support.folder"

local plot = damo.plot
local have_gnuplot = os.execute "command -v gnuplot >/dev/null 2>&1"

local function get(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "*a"
  file:close()
  return text
end

-- Calls fn with a stand-in for gnuplot on the PATH, which copies its input to its output: the picture is the script.
local function with_standin(fn)
  with_folder(function(dir)
    local file = assert(io.open(dir .. "/gnuplot", "w"))
    file:write "#!/bin/sh\nexec cat\n"
    file:close()
    os.execute("chmod +x " .. dir .. "/gnuplot")
    fn(dir, "PATH=" .. dir .. ":$PATH")
  end)
end

describe("plot.image", function()
  it("draws a matrix as characters, row 1 at the bottom", function()
    local text = plot.image(damo.array { { 0, 9 }, { 5, 0 } }, { text = true, title = "two" })
    assert.equal("two\nvalues from 0 (' ') to 9 ('@')\n|+ |\n| @|", text)
  end)

  it("takes a list of rows, and named panels", function()
    assert.equal("values from 1 (' ') to 2 ('@')\n| @|", plot.image({ { 1, 2 } }, { text = true }))
    local both = plot.image({ { name = "a", z = { { 1, 2 } } },
      { name = "b", z = { { 3, 3 } } } }, { text = true })
    assert.equal("a: from 1 (' ') to 2 ('@')\n| @|\nb: from 3 (' ') to 3 ('@')\n|  |", both)
  end)

  it("draws nonfinite values, and matrices with nothing else", function()
    assert.equal("values from 1 (' ') to 1 ('@')\n|  |", plot.image { { 1, 0 / 0 } })
    assert.equal("values no finite values\n|  |", plot.image { { 1 / 0, 0 / 0 } })
  end)

  it("draws values whose difference overflows", function()
    assert.equal("values from -1.7e+308 (' ') to 1.7e+308 ('@')\n| @=|", plot.image { { -1.7e308, 1.7e308, 0 } })
    assert.equal("values from 0 (' ') to 4.941e-324 ('@')\n| @|", plot.image { { 0, 5e-324 } })
  end)

  it("of one row or column gives gnuplot two, since it draws no image of one", function()
    with_standin(function(dir, env)
      local out = child(("local dir = %q\n"):format(dir) .. [[
        local plot = require "damo".plot
        local function script(z)
          plot.image(z, { path = dir .. "/a.png" })
          return io.open(dir .. "/a.png"):read("*a"):match "(plot '.*e\n)$"
        end
        io.write(script { { 1, 2 } }, script { { 1 }, { 2 } }, script { { 1, 2 }, { 3, 4 } })
      ]], env)
      assert.equal("plot '-' matrix using ($1):($2/2-0.25):3 with image\n1 2\n1 2\ne\n" ..
        "plot '-' matrix using ($1/2-0.25):($2):3 with image\n1 1\n2 2\ne\n" ..
        "plot '-' matrix using ($1):($2):3 with image\n1 2\n3 4\ne\n", out)
    end)
  end)

  it("refuses values that are no matrix", function()
    local e = failure("type", plot.image, { { name = "a" } })
    assert.equal("plot.image: panel 1 has no matrix z", e.message)
    failure("type", plot.image, {})
    failure("type", plot.image, nil)
    failure("type", plot.image, damo.array { 1, 2 })
    failure("type", plot.image, { { 1, "2\ne\n!id" } })
    failure("type", plot.image, { { name = {}, z = { { 1 } } } })
    failure("shape", plot.image, { { 1, 2 }, { 3 } })
    failure("shape", plot.image, damo.zeros { 0, 2 })
    e = failure("value", plot.image, { { name = "a", zz = { { 1 } }, z = { { 1 } } } })
    assert.equal("plot.image: unknown option 'zz', did you mean 'z'?", e.message)
  end)
end)

describe("plot.lines", function()
  it("draws characters, one letter a series", function()
    local text = plot.lines({ { y = { 1, 2.5 } }, { y = damo.array { 2.5, 1 }, x = { 1, 3 }, name = "down" } },
      { title = "two", xlabel = "s", ylabel = "loss" })
    assert.truthy(text:find("s from 1 to 3, loss from 1 to 2.5\n  a  series 1\n  b  down", 1, true))
    assert.equal("two", text:match "[^\n]*")
    assert.truthy(plot.lines({ { y = { 0 / 0, 1 / 0 } } }):find("no finite values", 1, true))
    assert.truthy(plot.lines({ { y = { 10, 1, 1 / 0, 0 } } }, { logy = true }):find("y from 1 to 10", 1, true))
  end)

  it("draws values whose difference overflows", function()
    local text = plot.lines({ { y = { -1.7e308, 1.7e308 } } })
    assert.equal("y from -1.7e+308 to 1.7e+308", text:match "y from [^\n]*")
  end)

  it("raises damo's errors for wrong arguments", function()
    assert.equal("plot.lines: entry 2 of y of series 1 must be a number, got nil",
      failure("type", plot.lines, { { y = { 1, nil, 3 } } }).message)
    local one = { { y = { 1, 2 } } }
    assert.equal("plot.lines: series 1 has no y", failure("type", plot.lines, { { name = "a" } }).message)
    failure("type", plot.lines, {})
    failure("type", plot.lines, "x")
    failure("type", plot.lines, { { y = "abc" } })
    failure("type", plot.lines, { { y = damo.dvector "y" } })
    failure("type", plot.lines, { { y = damo.zeros { 2, 2 } } })
    local e = failure("type", plot.lines, { { y = { 1, "2" } } })
    assert.equal("plot.lines: entry 2 of y of series 1 must be a number, got string", e.message)
    failure("shape", plot.lines, { { y = { 1, 2 }, x = { 1 } } })
    e = failure("value", plot.lines, one, { tilte = "x" })
    assert.equal("plot.lines: unknown option 'tilte', did you mean 'title'?", e.message)
    failure("value", plot.lines, { { y = { 1 }, nmae = "x" } })
    failure("type", plot.lines, one, { title = 1 })
    failure("type", plot.lines, one, { logy = "yes" })
    failure("type", plot.lines, one, { path = 3 })
    failure("type", plot.lines, one, "x.png")
    failure("value", plot.lines, one, { title = "a\0b" })
    failure("value", plot.lines, one, { path = "a\0b.png" })
    failure("value", plot.lines, { { y = { 1 }, name = "a\0b" } })
    failure("value", plot.lines, one, { path = "x.png", text = true })
  end)

  it("selects the format by the path's extension, and refuses unknown ones", function()
    for _, path in ipairs { "a.gif", "a.eps", "a.jpg", "a", "png", "|id", "a.png ", "a.png|id", "" } do
      local e = failure("value", plot.lines, { { y = { 1, 2 } } }, { path = path })
      assert.equal(("plot.lines: option 'path' must end in .png, .svg or .pdf, got '%s'"):format(path),
        e.message)
    end
    failure("value", plot.image, { { 1, 2 } }, { path = "a.txt" })
  end)

  if not have_gnuplot then return end

  it("has the format of its extension", function()
    local begin = { png = "\137PNG", svg = "<?xml", pdf = "%PDF", PNG = "\137PNG" }
    with_folder(function(dir)
      for ending, head in pairs(begin) do
        local path = dir .. "/a." .. ending
        assert.equal(path, plot.lines({ { y = { 1, 2 } } }, { path = path }))
        assert.equal(head, get(path):sub(1, #head))
        assert.equal(path, plot.image({ { 1, 2 }, { 3, 0 / 0 } }, { path = path }))
        assert.equal(head, get(path):sub(1, #head))
      end
    end)
  end)

  it("draws nonfinite values, and empty series", function()
    with_folder(function(dir)
      local path = dir .. "/a.png"
      for _, y in ipairs { { 0 / 0 }, {}, { 1 / 0, -1 / 0 }, { 1, 0 / 0, 2 }, { 3, 3 }, { -1, 0 } } do
        assert.equal(path, plot.lines({ { y = y } }, { path = path }))
        assert.equal(path, plot.lines({ { y = y } }, { path = path, logy = true }))
      end
      assert.equal(path, plot.image({ { 0 / 0, 1 / 0 } }, { path = path }))
      assert.equal(path, plot.image({ { 2, 2 } }, { path = path }))
      assert.equal(path, plot.image({ { -1e200, -1e200 } }, { path = path }))
    end)
  end)

  it("names a path that can't be written, and leaves no file", function()
    with_folder(function(dir)
      local e = failure("io", plot.lines, { { y = { 1, 2 } } }, { path = dir .. "/none/a.png" })
      assert.equal(dir .. "/none/a.png: can't be written: No such file or directory", e.message)
      failure("io", plot.image, { { 1 } }, { path = dir .. "/none/a.png" })
      assert.equal("", io.popen("ls -A " .. dir):read "*a")
    end)
  end)

  it("executes nothing in a string of the user's", function()
    with_folder(function(dir)
      local run = "touch " .. dir .. "/run"
      local texts = { "`" .. run .. "`", "x\n!" .. run, "x\r!" .. run, "'\n!" .. run .. "\n'", "\"\n!" .. run,
        "a' ; system('" .. run .. "') ; '", "a\".system(\"" .. run .. "\").\"", "\\\n!" .. run, "$(" .. run .. ")",
        "@run", "it's", "''", "'", "\"", "\\", "{/Symbol a}_b^c", "%s %d", "x\n\n", "#", "",
        ("'"):rep(300), ("x'y\n"):rep(50),
        "' ; set output '" .. dir .. "/run' ; plot x ; '", "' ; load '<" .. run .. "' ; '" }
      for _, text in ipairs(texts) do
        local path = dir .. "/a.png"
        plot.lines({ { y = { 1, 2 }, name = text }, { y = { 2, 1 }, name = text } },
          { title = text, xlabel = text, ylabel = text, path = path })
        plot.image({ { z = { { 1, 2 } }, name = text } }, { title = text, path = path })
        assert.equal("a.png\n", io.popen("ls -A " .. dir):read "*a", text)
      end
      local names = { "`" .. run .. "`.png", "|touch run; echo .png", "a'; !touch run; '.png", "$(touch run).png" }
      for _, name in ipairs(names) do
        plot.lines({ { y = { 1, 2 } } }, { path = dir .. "/" .. name:gsub("/", "_") })
        assert.is_nil(get(dir .. "/run"))
      end
    end)
    assert.is_nil(get "run")
  end)
end)

--- The counts that text bars end with.
local function last_numbers(text)
  local numbers = {}
  for line in text:gmatch "[^\n]+" do numbers[#numbers + 1] = tonumber(line:match "|%S* (%S+)$") end
  return numbers
end

describe("plot.hist", function()
  it("counts values in bins as NumPy does: the last edge belongs to the last bin", function()
    assert.same({ 2, 1, 2 }, last_numbers(plot.hist({ 0, 0.5, 1, 2, 3 }, { bins = 3 })))
    assert.same({ 1, 3 }, last_numbers(plot.hist(damo.array { 0, 1, 1.5, 2, 7 }, { bins = { 0, 1, 2 } })))
    assert.same({ 0.2, 0.4 }, last_numbers(plot.hist({ 1, 2, 3 }, { bins = { 0, 5 / 3, 10 / 3 }, density = true })))
  end)

  it("chooses the number of bins by the rule of Sturges or of Freedman and Diaconis", function()
    local values = {}
    for k = 1, 1000 do values[k] = k end
    assert.equal(11, #last_numbers(plot.hist(values))) -- ceil(log2(1000) + 1)
    assert.equal(1, #last_numbers(plot.hist { 3, 3, 3 }))
    assert.equal(1, #last_numbers(plot.hist { 0 / 0 }))
  end)

  it("refuses bins that are none", function()
    for _, bins in ipairs { 0, 1.5, -1, { 1 }, { 1, 1 }, { 2, 1 }, { 0, 1 / 0 } } do
      failure("value", plot.hist, { 1, 2 }, { bins = bins })
    end
    failure("type", plot.hist, { 1, 2 }, { bins = { "a", 2 } })
    failure("type", plot.hist, { 1, 2 }, { bins = "many" })
  end)
end)

describe("plot.bar", function()
  it("draws a bar for each place and series", function()
    assert.equal("a |########## 1\nb |---------------------------------------- -4",
      plot.bar({ 1, -4 }, { labels = { "a", "b" } }))
    local text = plot.bar({ { name = "one", y = { 1, 2 } }, { name = "two", y = { 3, 4 } } }, { stacked = true })
    assert.same({ 1, 3, 2, 4 }, last_numbers(text))
    failure("shape", plot.bar, { 1, 2 }, { labels = { "a" } })
  end)
end)

describe("plot.box", function()
  it("has Tukey's whiskers", function()
    with_standin(function(dir, env)
      local out = child(("local dir = %q\n"):format(dir) .. [[
        local plot = require "damo".plot
        plot.box({ 1, 2, 3, 4, 100 }, { path = dir .. "/a.svg" })
        io.write((io.open(dir .. "/a.svg"):read "*a":match "(1 2[^e]*e\n1 3.*)$"))
      ]], env)
      assert.equal("1 2 1 4 4 0.5\ne\n1 3 0.5\ne\n1 100\ne\n", out) -- quartiles 2 and 4, whiskers 1 and 4, 100 beyond
    end)
  end)
end)

describe("plot.spy", function()
  it("draws stored entries, row 1 on top", function()
    assert.equal("2 × 3, 2 stored\n|* *|\n|   |", plot.spy { { 1, 0, 2 }, { 0, 0, 0 } })
    local csc = damo.sparse.csc_from_dense and damo.sparse.csc_from_dense(damo.array { { 0, 1 }, { 0, 0 } })
    if csc then assert.equal("2 × 2, 1 stored\n| *|\n|  |", plot.spy(csc)) end
    assert.truthy(plot.spy(damo.sparse.eye(3000)):find("3000 × 3000, 3000 stored", 1, true))
  end)
end)

describe("plot.heatmap", function()
  it("writes values with the names of rows and columns", function()
    assert.equal("   x    y\na  1    2\nb  3  nan", plot.heatmap({ { 1, 2 }, { 3, 0 / 0 } },
      { values = true, rows = { "a", "b" }, columns = { "x", "y" } }):gsub("%-nan", "nan"), nil)
    failure("shape", plot.heatmap, { { 1, 2 } }, { rows = { "a", "b" } })
  end)
end)

describe("plot.figure", function()
  it("draws several plots", function()
    local text = plot.figure({ { "lines", { 1, 2 }, { title = "first" } }, { "image", { { 1, 2 } } },
      { "bar", { 3 } } }, { title = "all" })
    assert.truthy(text:find("^all\nfirst\n"))
    assert.truthy(text:find("values from 1 (' ') to 2 ('@')", 1, true))
    assert.truthy(text:find("1 |######################################## 3", 1, true))
  end)

  it("refuses what is no plot", function()
    assert.equal("plot.figure: plot 1 must begin with the name of a function of damo.plot, as 'lines', got 'liens'",
      failure("value", plot.figure, { { "liens", { 1, 2 } } }).message)
    failure("type", plot.figure, {})
    failure("value", plot.figure, { 1 })
    assert.equal("plot.lines: unknown option 'path'",
      failure("value", plot.figure, { { "lines", { 1, 2 }, { path = "a.png" } } }).message:match "^[^:]*:[^:]*")
  end)
end)

describe("every plot", function()
  local z = { { 1, 2, 3 }, { 2, 4, 9 }, { 0 / 0, 1, 0 } }
  local first = {
    lines = { { y = { 1, 2, 3 }, error = { 1, 1, 1 } } }, scatter = { { y = { 1, 2 }, color = { 0, 1 } } },
    bar = { 1, 2 },
    hist = { 1, 2, 2 }, box = { 1, 2, 9 }, image = z, heatmap = z, contour = z, surface = z,
    quiver = { u = z, v = z }, spy = damo.sparse.eye(4), figure = { { "lines", { 1, 2 } }, { "spy", z } },
  }

  it("gives text, and refuses unknown options and values that are no data", function()
    for name, data in pairs(first) do
      assert.equal("string", type(plot[name](data)), name)
      assert.equal("string", type(plot[name](data, { text = true, title = "t" })), name)
      failure("value", plot[name], data, { tilte = "x" })
      failure("value", plot[name], data, { path = "a.gif" })
      failure("value", plot[name], data, { path = "a.png", text = true })
      failure("type", plot[name], data, { title = {} })
      failure("value", plot[name], data, { width = 0.5 })
      for _, wrong in ipairs { 3, "abc", true, {} } do failure("type", plot[name], wrong) end
      failure("type", plot[name], nil)
      failure("type", plot[name], damo.dvector "v")
    end
  end)

  it("takes integers and bools, and refuses complex numbers", function()
    assert.equal(plot.lines { 0, 1, 1 }, plot.lines(damo.array({ 0, 1, 1 }, "bool")))
    assert.equal(plot.bar { 0, 1, 1 }, plot.bar(damo.array({ 0, 1, 1 }, "int32")))
    failure("type", plot.lines, damo.zeros({ 3 }, "complex128"))
  end)

  if not have_gnuplot then return end

  it("draws pictures of each kind", function()
    with_folder(function(dir)
      for name, data in pairs(first) do
        for _, ending in ipairs { "png", "svg", "pdf" } do
          local path = dir .. "/" .. name .. "." .. ending
          assert.equal(path, plot[name](data, { path = path, title = name, width = 400, height = 300 }))
          assert.is_true(#get(path) > 500, path)
        end
      end
    end)
  end)

  it("draws constants, single entries, and values that are not finite", function()
    with_folder(function(dir)
      local path = dir .. "/a.svg"
      local none = { { 0 / 0, 1 / 0 }, { 0 / 0, 0 / 0 } }
      for _, name in ipairs { "image", "heatmap", "contour", "surface", "spy" } do
        plot[name](none, { path = path })
        plot[name]({ { 2, 2 }, { 2, 2 } }, { path = path })
        plot[name]({ { 1e300, 2 }, { -1e300, 2 } }, { path = path })
      end
      plot.heatmap({ { 1 } }, { path = path, values = true })
      for _, name in ipairs { "lines", "scatter", "bar", "hist", "box" } do
        for _, values in ipairs { { 0 / 0 }, { 1 / 0, 1 }, { 3 }, { 2, 2, 2 }, { 1e300, -1e300 } } do
          plot[name](values, { path = path })
          plot[name](values, { path = path, logy = true })
        end
      end
      plot.quiver({ x = { 1 }, y = { 1 }, u = { 0 }, v = { 0 } }, { path = path })
      plot.quiver({ x = { 1, 2 }, y = { 1, 1 }, u = { 0 / 0, 1 }, v = { 0, 1 / 0 } }, { path = path })
      plot.contour({ { 1, 2 }, { 3, 4 } }, { path = path, levels = { 100 }, filled = true })
      plot.image(damo.zeros { 1, 4, 3 }, { path = path })
      plot.image(damo.zeros({ 2, 4, 3 }, "uint8"), { path = path })
    end)
  end)

  it("executes nothing in its texts", function()
    with_folder(function(dir)
      local run = "touch " .. dir .. "/run"
      local texts = { "`" .. run .. "`", "x\n!" .. run, "' ; system('" .. run .. "') ; '", "\"", "@run", "\\" }
      for _, text in ipairs(texts) do
        local path, labels = dir .. "/a.png", { text, text, text }
        plot.bar({ 1, 2, 3 }, { path = path, labels = labels, title = text, ylabel = text })
        plot.box({ { y = { 1 }, name = text } }, { path = path })
        plot.heatmap(z, { path = path, rows = labels, columns = labels, xlabel = text, values = true })
        plot.surface(z, { path = path, zlabel = text })
        plot.figure({ { "hist", { { x = { 1 }, name = text } }, { title = text } }, { "spy", z } },
          { path = path, title = text })
        assert.equal("a.png\n", io.popen("ls -A " .. dir):read "*a", text)
      end
    end)
  end)

  it("has error bars through which the bars are seen", function()
    with_folder(function(dir)
      local path = dir .. "/a.svg"
      plot.bar({ { name = "u", y = { 1, 3 }, error = { 0.5, 2 } } }, { path = path })
      assert.falsy(get(path):find("gpPt6' transform", 1, true), "a white circle about the value")
      -- On a log axis a bar may reach below 0.
      plot.scatter({ { name = "u", y = { 1, 3 }, error = { 0.5, 4 } } }, { path = path, logy = true })
      assert.same({}, require "spec.support.svg_text".cut(get(path)))
    end)
  end)

  it("has labels that do not overlap, however long", function()
    local svg_text = require "spec.support.svg_text"
    with_folder(function(dir)
      local path, names, series = dir .. "/a.svg", {}, {}
      for k = 1, 12 do
        names[k] = "a name of some length " .. k
        series[k] = { name = names[k], y = { k, 2 * k, k } }
      end
      local calls = {
        function() plot.lines(series, { path = path, title = "many", xlabel = "time", ylabel = "value" }) end,
        function() plot.bar(series[12].y, { path = path, labels = { "one", "two", "three" }, ylabel = "ms" }) end,
        function() plot.bar({ { name = "n", y = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } } },
          { path = path, labels = names }) end,
        function() plot.heatmap(z, { path = path, values = true, title = "z", xlabel = "x" }) end,
        function() plot.figure({ { "lines", series[1].y, { title = "a" } }, { "image", z },
          { "contour", z, { title = "c" } }, { "hist", { 1, 2, 3 } } }, { path = path, title = "four" }) end,
        function() plot.contour({ { 1e-9, 1 }, { 0.5, 0.25 } }, { path = path, title = ("long "):rep(60) }) end,
        function() plot.heatmap(damo.ones { 12, 12 }, { path = path, rows = names, columns = names, height = 200 }) end,
        function() plot.image({ { 1e-9, 1.07 }, { 0.5, 0.25 } }, { path = path, title = ("title "):rep(40) }) end,
      }
      for k, call in ipairs(calls) do
        call()
        assert.same({}, svg_text.overlaps(get(path)), k)
        assert.same({}, svg_text.cut(get(path)), k)
      end
    end)
  end)
end)

describe("an axis", function()
  local function texts(...)
    local svg_text, got = require "spec.support.svg_text", {}
    local kind, first, options = ...
    with_folder(function(dir)
      options.path = dir .. "/a.svg"
      plot[kind](first, options)
      for _, box in ipairs(svg_text.boxes(get(options.path))) do got[box.text] = box end
    end)
    return got
  end
  if not have_gnuplot then return end

  it("has as many digits as tell its tics apart, and no more", function()
    local colours = texts("heatmap", { { 1e-9, 1 }, { 0.5, 0.25 } }, {})
    assert.truthy(colours["0.2"] and colours["0.4"] and colours["1"])
    local far = texts("lines", { 1000000001, 1000000003 }, {})
    assert.truthy(far["1000000001"] and far["1000000003"])
    local log = texts("lines", { 1e-6, 1, 1e5 }, { logy = true })
    assert.truthy(log["1e-06"] and log["1"])
  end)

  it("leaves room about points and above bars, unless its range is given", function()
    assert.truthy(texts("scatter", { { x = { 1, 4 }, y = { 0, 10 } } }, {})["4.5"])
    assert.truthy(texts("bar", { 6, 3 }, {})["7"])
    assert.falsy(texts("bar", { 6, 3 }, { yrange = { 0, 6 } })["7"])
  end)

  it("has the title above the names of the series", function()
    local series = { { name = "first", y = { 1, 2 } }, { name = "second", y = { 2, 1 } } }
    local got = texts("lines", series, { title = "top" })
    assert.is_true(got.top.y1 <= got.first.y0, got.top.y1 .. " " .. got.first.y0)
  end)
end)

describe("the script for gnuplot", function()
  it("has every string in single quotes, one a line", function()
    with_standin(function(dir, path)
      local out = child(([[
        local damo = require "damo"
        damo.plot.lines({ { y = { 1, 2 }, name = "it's\n!id" } },
          { title = "a`id`\n!id", xlabel = "'", ylabel = "_", path = "%s/a.png" })
      ]]):format(dir), path)
      assert.equal("", out)
      local script = get(dir .. "/a.png")
      assert.truthy(script:find([[set title 'a`id`'."\n".'!id' noenhanced]], 1, true))
      assert.truthy(script:find([[set xlabel ''."'".'' noenhanced]], 1, true))
      assert.truthy(script:find([[title 'it'."'".'s !id' noenhanced]], 1, true))
      assert.falsy(script:find "\n!")
      assert.falsy(script:find(dir, 1, true))
    end)
  end)

  it("has decimal points, whatever the locale", function()
    with_standin(function(dir, path)
      local out = child(([[
        local damo = require "damo"
        for _, name in ipairs { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" } do
          if os.setlocale(name) then break end
        end
        local format = string.format -- without such a locale: what Lua's format would write
        string.format = function(...) return (format(...):gsub("(%%d)%%.(%%d)", "%%1,%%2")) end
        damo.plot.lines({ { y = { 1.25, -3e-10 }, x = { 0.5, 1e300 } } }, { path = "%s/a.svg" })
        damo.plot.lines({ { y = { 1.25 } } }, { path = "%s/a.pdf" })
        damo.plot.image({ { 1.5, 1.5 } }, { path = "%s/b.svg" })
      ]]):format(dir, dir, dir), path)
      assert.equal("", out)
      assert.truthy(get(dir .. "/a.svg"):find("\n0.5 1.25\n1e+300 -3e-10\ne\n", 1, true))
      assert.truthy(get(dir .. "/a.pdf"):find("size 8.33333in,5.20833in", 1, true))
      assert.truthy(get(dir .. "/b.svg"):find("\n1.5 1.5\ne\n", 1, true))
      assert.truthy(get(dir .. "/b.svg"):find("set xrange [-0.5:1.5]", 1, true))
    end)
  end)

  it("is quoted in the error if gnuplot fails", function()
    with_folder(function(dir)
      local file = assert(io.open(dir .. "/gnuplot", "w"))
      file:write "#!/bin/sh\nprintf 'half a picture'\necho 'no such\n  terminal' >&2\nexit 1\n"
      file:close()
      os.execute("chmod +x " .. dir .. "/gnuplot")
      local out = child(([[
        local damo = require "damo"
        local ok, e = pcall(damo.plot.lines, { { y = { 1, 2 } } }, { path = "%s/a.png" })
        io.write(tostring(ok), " ", e.kind, " ", e.message)
      ]]):format(dir), "PATH=" .. dir .. ":$PATH")
      assert.equal(("false io %s/a.png: gnuplot failed to draw it: no such terminal"):format(dir), out)
      assert.equal("gnuplot\n", io.popen("ls -A " .. dir):read "*a")
    end)
  end)

  it("names gnuplot's package in the error if it is not installed", function()
    with_folder(function(dir)
      local lua = io.popen("command -v '" .. (arg and arg[-1] or "lua5.4") .. "'"):read "*l"
      os.execute(("ln -s '%s' %s/the_lua"):format(lua, dir))
      local file = assert(io.open(dir .. "/script.lua", "w"))
      file:write(([[
        local damo = require "damo"
        local one = { { y = { 1, 2 }, name = "steps" } }
        local ok, e = pcall(damo.plot.lines, one, { path = "%s/a.png" })
        io.write(tostring(ok), " ", e.kind, " ", e.message, "\n", damo.plot.lines(one))
      ]]):format(dir))
      file:close()
      local out = io.popen(("PATH=%s %s/the_lua %s/script.lua 2>&1"):format(dir, dir, dir)):read "*a"
      assert.truthy(out:find(("false io plot.lines: %s/a.png needs the program gnuplot, which is not installed " ..
        "(Debian's package is gnuplot-nox); leave path out for text\n"):format(dir), 1, true), out)
      assert.truthy(out:find("a  steps", 1, true), out)
      assert.is_nil(get(dir .. "/a.png"))
    end)
  end)
end)
