-- The site of the pages in a real browser: the search finds names, links lead to what is there, no Markdown is left.
local browser = require "spec.support.browser"

local folder = os.tmpname()
local function with_site(fn) fn(folder .. "/site/") end

--- What the search answers: texts and addresses, in their order.
local function found(dom)
  local list = dom:match '<ul id="found"[^>]*>(.-)</ul>'
  local texts, addresses = {}, {}
  for address, text in list:gmatch '<a href="([^"]*)"><b>(.-)</b>' do
    texts[#texts + 1], addresses[#addresses + 1] = text, address
  end
  return texts, addresses
end

--- The text that a reader sees as prose: without code.
local function prose(dom)
  local main = dom:match "<main>(.*)</main>"
  return (main:gsub("<pre>.-</pre>", ""):gsub("<code>.-</code>", ""):gsub("<[^>]*>", ""))
end

describe("the site", function()
  setup(function()
    os.remove(folder)
    local pipe = assert(io.popen(("'%s' docs/site.lua '%s/site' 2>&1"):format(arg[-1] or "lua", folder)))
    local out = pipe:read "*a"
    pipe:close()
    assert.truthy(out:find("index.html", 1, true), out)
  end)
  teardown(function() os.execute(("rm -r '%s'"):format(folder)) end)

  it("finds names and headings from any page", function()
    with_site(function(dir)
      local texts, addresses = found(browser.dom(dir .. "loops.html?find=dot"))
      assert.equal("damo.dot(x, y)", texts[1])
      assert.equal("functions.html#damo.dot", addresses[1])
      assert.is_true(#texts > 5, #texts)
      texts = found(browser.dom(dir .. "index.html?find=linalg.cholesky"))
      assert.equal("damo.linalg.cholesky(a, {lower=bool, on_fail=str})", texts[1])
      assert.truthy(table.concat(texts, "\n"):find("\ndamo.linalg.cholesky\n", 1, true)) -- with its example
      assert.equal("damo_compile", found(browser.dom(dir .. "index.html?find=damo_compile"))[1])
      assert.equal("Sparse systems", found(browser.dom(dir .. "index.html?find=sparse%20SYSTEMS"))[1])
      local dom = browser.dom(dir .. "index.html?find=xyzzy%3Cb%3E")
      assert.same({}, (found(dom)))
      assert.truthy(dom:find("Nothing is called that.", 1, true))
    end)
  end)

  it("has links that lead to files and anchors that are there, also those of the search", function()
    with_site(function(dir)
      local pages, count = {}, 0
      local function text_of(name)
        if pages[name] == nil then
          local file = io.open(dir .. name, "rb")
          pages[name] = file and file:read "*a" or false
          if file then file:close() end
        end
        return pages[name]
      end
      local function check(from, target)
        local name, anchor = target:match "^([^#]*)#?(.*)$"
        local text = text_of(name == "" and from or name)
        assert.truthy(text, from .. " leads to " .. target)
        assert.truthy(anchor == "" or text:find(('id="%s"'):format(anchor), 1, true), from .. " leads to " .. target)
        count = count + 1
      end
      for target in text_of "index.js":gmatch '^?","([^"]*html[^"]*)"' do check("index.js", target) end
      local list = io.popen(("ls '%s'"):format(dir))
      for name in list:lines() do
        if name:match "%.html$" then
          local html = text_of(name)
          for target in html:gmatch '<a [^>]-href="([^"]*)"' do
            if not target:match "^https?:" then check(name, target) end
          end
          for target in html:gmatch ' src="([^"]*)"' do check(name, target) end
        end
      end
      list:close()
      assert.is_true(count > 3000, count)
    end)
  end)

  it("shows no raw Markdown", function()
    with_site(function(dir)
      local list = io.popen(("ls '%s' | grep html"):format(dir))
      for name in list:lines() do
        local file = assert(io.open(dir .. name))
        local text = prose(file:read "*a")
        file:close()
        for _, mark in ipairs { "```", "%]%(", "%*%*%a[^\n]*%*%*[%s.,:]", "|%-%-", "\n#+ ", "\n| " } do
          local at = text:find(mark)
          assert.is_nil(at, name .. ": " .. (at and text:sub(math.max(at - 40, 1), at + 40) or ""))
        end
      end
      list:close()
    end)
  end)

  it("fits a phone: nothing is wider than the screen", function()
    with_site(function(dir)
      for _, name in ipairs { "index.html", "functions.html", "embedding.html" } do
        local file = assert(io.open(dir .. name))
        local html = file:read "*a"
        file:close()
        assert.truthy(html:find("<main>", 1, true))
        file = assert(io.open(dir .. "narrow.html", "w"))
        file:write('<html><body><iframe id="f" width="380" height="700" src="', name, '"></iframe><script>',
          'onload = () => { const d = document.getElementById("f").contentDocument;',
          'document.title = d ? "width " + d.documentElement.scrollWidth : "none"; }</script></body></html>')
        file:close()
        local pipe = io.popen(("chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files "
          .. "--virtual-time-budget=5000 --dump-dom 'file://%snarrow.html' 2>/dev/null"):format(dir))
        local width = pipe:read "*a":match "<title>width (%d+)"
        pipe:close()
        assert.is_true(tonumber(width) <= 380, name .. " is " .. tostring(width) .. " wide")
      end
    end)
  end)
end)
