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
  local text = file:read "a"
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
          return io.open(dir .. "/a.png"):read "a":match "(plot '.*e\n)unset multiplot"
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
    for _, path in ipairs { "a.gif", "a", "png", "|id", "a.png ", "a.png|id", "" } do
      local e = failure("value", plot.lines, { { y = { 1, 2 } } }, { path = path })
      assert.equal(("plot.lines: option 'path' must end in .png, .svg, .pdf, .eps or .jpg, got '%s'"):format(path),
        e.message)
    end
    failure("value", plot.image, { { 1, 2 } }, { path = "a.txt" })
  end)

  if not have_gnuplot then return end

  it("has the format of its extension", function()
    local begin = { png = "\137PNG", svg = "<?xml", pdf = "%PDF", eps = "%!PS", jpg = "\255\216\255",
      jpeg = "\255\216\255", PNG = "\137PNG" }
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
      assert.equal("", io.popen("ls -A " .. dir):read "a")
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
        assert.equal("a.png\n", io.popen("ls -A " .. dir):read "a", text)
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
      assert.equal("gnuplot\n", io.popen("ls -A " .. dir):read "a")
    end)
  end)

  it("is drawn as text if gnuplot is not installed", function()
    with_folder(function(dir)
      local lua = io.popen("command -v '" .. (arg and arg[-1] or "lua5.4") .. "'"):read "l"
      os.execute(("ln -s '%s' %s/the_lua"):format(lua, dir))
      local file = assert(io.open(dir .. "/script.lua", "w"))
      file:write(([[
        local damo = require "damo"
        io.write(damo.plot.lines({ { y = { 1, 2 }, name = "steps" } }, { path = "%s/a.png" }))
      ]]):format(dir))
      file:close()
      local out = io.popen(("PATH=%s %s/the_lua %s/script.lua 2>&1"):format(dir, dir, dir)):read "a"
      assert.truthy(out:find("a  steps", 1, true), out)
      assert.is_nil(get(dir .. "/a.png"))
    end)
  end)
end)
