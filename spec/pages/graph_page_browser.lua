-- The HTML page of a graph, in a real browser: it draws, folds, searches, and shows a profile.
local browser = require "spec.support.browser"
local damo = require "damo"
local with_folder = require "spec.support.folder"

--- The texts of the nodes that a page shows, sorted.
local function shown(dom)
  local labels = {}
  for label in dom:gmatch '<g class="node[^>]*>.-<text[^>]*>(.-)</text>' do labels[#labels + 1] = label end
  table.sort(labels)
  return labels
end

local function with_page(x, fn)
  with_folder(function(dir)
    damo.printing.dot(x, { path = dir .. "/g.html" })
    fn(dir .. "/g.html")
  end)
end

describe("the page of a graph", function()
  local x, w = damo.dmatrix "x", damo.dmatrix "w"
  local y = damo.exp(damo.dot(x, w)) + 2

  it("draws every node", function()
    with_page(y, function(path)
      local dom = browser.dom(path)
      assert.same({ "2.0", "Dot", "Elemwise{add}", "Elemwise{exp}", "output 1", "w", "x" }, shown(dom))
      assert.truthy(dom:find("7 of 7 shown", 1, true))
    end)
  end)

  it("folds what only a node needs", function()
    with_page(y, function(path)
      local id = damo.printing.dot(y):match '(n%d+) %[[^\n]*label="Elemwise{exp}"'
      local dom = browser.dom(path, "fold=" .. id)
      assert.same({ "2.0", "Elemwise{add}", "Elemwise{exp}  ⊕", "output 1" }, shown(dom))
      assert.truthy(dom:find("4 of 7 shown", 1, true))
    end)
  end)

  it("finds by Op, name and Type, and unfolds what hides a hit", function()
    with_page(y, function(path)
      local id = damo.printing.dot(y):match '(n%d+) %[[^\n]*label="Elemwise{exp}"'
      local dom = browser.dom(path, "fold=" .. id .. "&find=DOT")
      assert.truthy(dom:find("1 found", 1, true))
      assert.truthy(dom:find 'class="node found chosen"')
      assert.equal(7, #shown(dom))
    end)
  end)

  it("of a large graph begins with what is near its outputs", function()
    local v = damo.dvector "v"
    local deep = v
    for k = 1, 3000 do deep = damo.tanh(deep * k) end
    with_page(deep, function(path)
      local count = tonumber((browser.dom(path):match "(%d+) of 9002 shown"))
      assert.is_true(count and count >= 200 and count < 300, count)
    end)
  end)

  it("shows texts as they are", function()
    local name = [[</script><script>document.title="run"</script> "quoted" \ & ü]]
    local z = damo.dscalar(name) + 1
    with_page(z, function(path)
      local dom = browser.dom(path)
      assert.falsy(dom:find("<title>run", 1, true))
      assert.truthy(dom:find("3 of 3 shown", 1, true) or dom:find("4 of 4 shown", 1, true), dom:sub(1, 400))
    end)
  end)

  it("is coloured by a profile, the slowest nodes in a list", function()
    local f = damo.compile({ x, w }, y, { profile = true, mode = damo.Mode { exclude = { "fusion" } } })
    f(damo.ones { 40, 40 }, damo.ones { 40, 40 })
    with_folder(function(dir)
      f.profile:dot { path = dir .. "/p.html" }
      local dom = browser.dom(dir .. "/p.html")
      assert.truthy(dom:find 'fill="#ff%x%x%x%x"')
      assert.truthy(dom:find '<li>[^<]* %%  [^<]*Dot')
    end)
  end)
end)
