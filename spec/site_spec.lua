-- The pages as a site: what docs/site/markdown.lua makes of Markdown, and that docs/site.lua finds every link.
local markdown = dofile "docs/site/markdown.lua"
local highlight = assert(loadfile "docs/site/highlight.lua")(markdown.escape)

local function page(text)
  return markdown.page(text, {
    link = function(target) return target end,
    code = function(code, language) return ("<pre %s>%s</pre>"):format(language, markdown.escape(code)) end,
  })
end

local function html(text) return page(text).html end

describe("Markdown", function()
  it("has paragraphs, emphasis, code and links", function()
    assert.equal("<p>a <em>b</em> <strong>c d</strong> <code>x &lt; *y*</code></p>", html "a *b* **c d** `x < *y*`")
    assert.equal('<p><a href="b.md#c">see <code>a[1]</code></a></p>', html "[see `a[1]`](b.md#c)")
    assert.equal('<p><a href="https://x.org/?a=1&amp;b">https://x.org/?a=1&amp;b</a></p>',
      html "<https://x.org/?a=1&b>")
    assert.equal("<p>one\ntwo</p>\n<p>three</p>", (html "one\ntwo\n\nthree":gsub("\n+", "\n")))
    assert.equal('<p><img src="a.png" alt="what it shows" loading="lazy"></p>', html "![what it shows](a.png)")
  end)

  it("leaves marks alone that stand for themselves", function()
    assert.equal("<p>a * b, 2*3, snake_case_name, a[1], \\ *x* ! &lt;close&gt; `</p>",
      html "a * b, 2*3, snake_case_name, a[1], \\\\ \\*x\\* ! <close> `")
  end)

  it("never passes HTML through", function()
    assert.equal("<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>", html "<script>alert(1)</script>")
    assert.equal('<p><a href="&quot;&gt;x">a</a></p>', html '[a](">x)')
  end)

  it("has headings with the anchors that GitHub gives", function()
    local read = page "# The `top`, and more\n\n## A, b\n## A b\n### `x:y()`"
    assert.equal("The top, and more", read.title)
    local ids = {}
    for i, heading in ipairs(read.headings) do ids[i] = heading.id end
    assert.same({ "the-top-and-more", "a-b", "a-b-1", "xy" }, ids)
  end)

  it("has tables, whose rows of code are names", function()
    local read = page "| a | b |\n|---|---|\n| `f(x)`, `g` | \\|x\\| `p\\|q` |\n| plain | |\nafter"
    local first = '<tr id="f"><td><code>f(x)</code>, <code>g</code></td><td>|x| <code>p|q</code></td></tr>'
    assert.truthy(read.html:find(first, 1, true))
    assert.truthy(read.html:find("<tr><td>plain</td><td></td></tr>", 1, true))
    assert.truthy(read.html:find("<p>after</p>", 1, true))
    local about = "|x| p|q"
    assert.same({ { text = "f(x)", id = "f", about = about }, { text = "g", id = "f", about = about } }, read.names)
  end)

  it("has lists, also in lists and with code", function()
    assert.equal("<ul>\n<li>a\nb</li>\n<li>c<ul>\n<li>d</li>\n</ul></li>\n</ul>",
      (html "- a\n  b\n- c\n  - d":gsub("\n<ul>", "<ul>")))
    assert.equal("<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n<p>after</p>", (html "1. a\n2. b\n\nafter"))
    assert.truthy(html "- a\n\n      code\n":find("<pre >code</pre>", 1, true))
  end)

  it("has code, quotes, rules and comments", function()
    assert.equal("<pre lua>a &lt; b\n\n  c</pre>", html "```lua\na < b\n\n  c\n```")
    assert.equal("<p>x</p>\n<pre >make *all*\n\nmake</pre>", html "x\n\n    make *all*\n\n    make\n")
    assert.equal("<blockquote><p>type error: x</p></blockquote>", html "> type error: x")
    assert.equal("<hr>", html "---")
    assert.equal("<p>b</p>", (html "<!-- a\n# c\n-->\nb":gsub("^\n", "")))
  end)

  it("ends on broken text", function()
    local texts = { "", "```lua\nx", "[a](b", "**a", "`a", "| a |\n|---|", "- ", "<!-- a", "![", "\\", "*", "> " }
    for _, text in ipairs(texts) do assert.is_string(html(text), text) end
  end)
end)

describe("highlighting", function()
  it("marks strings, comments, numbers, words and calls", function()
    assert.equal('<pre><code><span class="k">local</span> x = <span class="f">f</span>('
      .. '<span class="s">&quot;--&quot;</span>, <span class="n">1.5e3</span>) '
      .. '<span class="c">-- a &lt; b</span>\n</code></pre>',
      highlight('local x = f("--", 1.5e3) -- a < b', "lua"))
    local long = highlight("x = [==[ ]] ]==] .. y --[[ a\nb ]] z", "lua")
    assert.truthy(long:find('<span class="c">--[[ a\nb ]]</span> z', 1, true))
    assert.equal('<pre><code><span class="k">#include</span> &lt;a.h&gt;\n<span class="t">int</span> x; '
      .. '<span class="c">/* &quot;c&quot; */</span>\n</code></pre>',
      highlight('#include <a.h>\nint x; /* "c" */', "c"))
  end)

  it("changes no character of a page's code", function()
    local pipe = io.popen "ls docs/*.md lua/damo/*.lua"
    for path in pipe:lines() do
      local file = assert(io.open(path))
      local text = file:read "*a"
      file:close()
      for _, language in ipairs { "lua", "c", "" } do
        local made = highlight(text, language):gsub("</?%a[^>]*>", "")
        assert.is_true(made == markdown.escape(text) .. "\n", path .. " as " .. language)
      end
    end
    pipe:close()
  end)
end)

describe("the site", function()
  it("has a page for each page, and every link leads to a page and an anchor", function()
    local site = dofile "docs/site.lua"
    for _, name in ipairs { "index.html", "functions.html", "sparse.html", "damo.h.html" } do
      assert.is_string(site.pages[name], name)
    end
    for name, text in pairs(site.pages) do
      assert.is_nil(text:gsub(' href="https?:[^"]*"', ""):find('="https?:'), name .. " loads something from elsewhere")
    end
    -- The reference has the example of each function, run.
    assert.truthy(site.pages["names_damo_linalg.html"]:find("--&gt; [[1.41421356 0.", 1, true))
    assert.truthy(site.files["index.js"]:find("functions.html#damo.dot", 1, true))
    -- Each of damo's names on a sheet of another library's names leads to its entry.
    for _, sheet in ipairs { "pytensor", "numpy", "torch" } do
      local main, count = site.pages[sheet .. "_names.html"]:match "<main>(.*)</main>", 0
      for before, name in main:gmatch "(..)<code>(damo%.[%w_.]+)</code>" do
        assert.equal('">', before, sheet .. ": " .. name)
        count = count + 1
      end
      assert.is_true(count > 400, sheet)
    end
    local link = '<a href="names_damo.html#damoabs"><code>damo.abs</code></a>'
    assert.truthy(site.pages["torch_names.html"]:find(link, 1, true))
    -- The gallery has the whole code of each example.
    local gallery, count = site.pages["examples.html"], 0
    for path in io.popen("ls examples/*.lua"):lines() do
      local name = path:match "[^/]*$"
      local code = gallery:match("<summary>The whole of " .. name:gsub("%p", "%%%0") .. "</summary>(.-)</details>")
      assert.truthy(code and code:find "require", name)
      count = count + 1
    end
    assert.is_true(count > 10)
  end)
end)

describe("the reference of damo.h", function()
  it("has each function with its declaration and lines of a program that call it", function()
    local reference = assert(loadfile "docs/site/c_reference.lua")("")
    local count = select(2, dofile "make/public_header.lua"():gsub("\nDAMO_API ", ""))
    assert.equal(count, reference.count)
    assert.equal("", table.concat(reference.missing, " "))
    for name in reference.text:gmatch "\n### `([%w_]+)`" do
      local entry = reference.text:match("### `" .. name .. "`\n(.*)$")
      local declaration, example = entry:match "```c\n(.-)\n```.-```c\n(.-)\n```"
      assert.truthy(declaration:find(name .. "(", 1, true), name)
      assert.truthy(example:find(name, 1, true), name)
      assert.falsy(declaration:find("DAMO_API", 1, true), name)
    end
  end)
end)
