-- site: the pages as a static site, build/site/*.html, which needs no network and no server.
--
--     lua5.4 docs/site.lua [folder, build/site]          (`make site`)
--
-- Pages are README.md, docs/*.md and those of examples. A file of another kind that one of them links to becomes a page
-- with its text (code), or is copied (pictures). All lie in one folder, so an address is a file's name. Loaded with
-- dofile it gives {pages, files}: the HTML and what else to write, by name, and fails where a link leads nowhere.

local home = debug.getinfo(1, "S").source:match "^@(.*)site%.lua$"
local root = home .. "../"
local markdown = dofile(home .. "site/markdown.lua")
local escape = markdown.escape
local highlight = assert(loadfile(home .. "site/highlight.lua"))(escape)

local function read(path)
  local file = io.open(root .. path, "rb")
  local text = file and file:read "*a" -- nil of a folder
  if file then file:close() end
  return text
end

-- ---- What there is --------------------------------------------------------------------------------------------------

-- The pages by name, in the order in which one reads them; what stands in no group comes last.
local groups = {
  { "Begin", "README install tutorial examples prompt conventions" },
  { "Guides", "graphs gradients loops vectorize trees files tools objects mistakes numerics writing_ops" },
  { "Library", "linear_algebra matrix_functions sparse sparse_systems networks distributions special statistics "
    .. "transforms indexing tables" },
  { "In programs", "embedding c_api amalgamation export views frames game_loop sandboxes reproducible luas mpi scaling" },
  { "Coming from", "from_pytensor pytensor_names numpy_names torch_names" },
  { "Reference", "functions damo.h architecture" },
}

-- By name: path, the address in the site, text; in the order of the navigation.
local pages, by_path = {}, {}

local function add_page(name, path, address, group)
  local text = name == "damo.h" and dofile(root .. "make/public_header.lua")(root) or read(path)
  if not text then return end
  local page = { name = name, path = path, address = address, text = text, group = group }
  pages[#pages + 1], by_path[path] = page, page
end

local function path_of(name)
  if name == "README" then return "README.md", "index.html" end
  if name == "examples" then return "examples/README.md", "examples.html" end
  if name == "damo.h" then return "src/damo.h", "damo.h.html" end
  return "docs/" .. name .. ".md", name .. ".html"
end

for _, group in ipairs(groups) do
  for name in group[2]:gmatch "%S+" do
    local path, address = path_of(name)
    add_page(name, path, address, group[1])
  end
end
local list = assert(io.popen(("ls '%sdocs'"):format(root)))
for name in list:read("*a"):gmatch "([%w_]+)%.md\n" do
  local path = "docs/" .. name .. ".md"
  if not by_path[path] then
    add_page(name == "README" and "all_pages" or name, path, (name == "README" and "pages" or name) .. ".html", "More")
  end
end
list:close()
list = assert(io.popen(("ls '%sexamples/hosts'"):format(root)))
for name in list:read("*a"):gmatch "[%w_]+" do
  local path = ("examples/hosts/%s/README.md"):format(name)
  add_page(path, path, ("host_%s.html"):format(name), "Hosts")
end
list:close()

local function add_reference(page)
  pages[#pages + 1] = { name = page.name, path = "docs/" .. page.name .. ".md", address = page.name .. ".html",
    text = page.text, group = "Name by name", label = page.title }
end

-- Without a built damo there is no reference of its names in Lua.
local addresses = {} -- of the names in it
if pcall(require, "damo") then
  local list_of_names
  list_of_names, addresses = dofile(home .. "site/reference.lua")
  for _, page in ipairs(list_of_names) do add_reference(page) end
end
add_reference(assert(loadfile(home .. "site/c_reference.lua"))(root))

-- ---- Links ----------------------------------------------------------------------------------------------------------

local labels = { README = "First steps", examples = "Gallery", ["damo.h"] = "C API (damo.h)",
  all_pages = "All pages" }
local function title_of(text) return ("\n" .. text):match "\n# ([^\n]*)" end

local files = {} -- what is copied: name → bytes
local pictures = { png = true, svg = true, jpg = true }

--- The path of a link from the root, without `.` and `..`.
local function resolved(from, target)
  local parts = {}
  for part in ((from:match "^(.*/)" or "") .. target):gmatch "[^/]+" do
    if part == ".." and #parts > 0 then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

--- The address of the file at a path: a page of its own is made for code that none of the pages is.
local function address_of(path, from)
  local page = by_path[path]
  if page then return page.address end
  local text = read(path)
  assert(text, ("%s: a link leads to %s, which is no file"):format(from, path))
  local name = path:gsub("/", "_")
  if pictures[path:match "%.(%w+)$"] then
    files[name] = text
    return name
  end
  page = { name = path, path = path, address = name .. ".html", text = text }
  pages[#pages + 1], by_path[path] = page, page
  return page.address
end

--- The address of a link, and the title of the page it leads to where the link's text is the page's path.
local function linker(page)
  return function(target, text)
    if target:match "^%a[%w+.-]*:" or target:match "^#" then return target end
    if target:match "^names_" then return target end -- of one page of the reference to another
    local path, anchor = target:match "^([^#]*)(#?.*)$"
    local full = resolved(page.path, path)
    local address = address_of(full, page.path) .. anchor
    local other = text == path and full:match "%.md$" and by_path[full]
    return address, other and (labels[other.name] or title_of(other.text)) or nil
  end
end

-- ---- Pages of code --------------------------------------------------------------------------------------------------

local language_of = { lua = "lua", c = "c", h = "c", sh = "sh" }

--- The names that a C header declares, as {text, id, about}: a function's comment stands before it.
local function declared(text)
  local names, comment = {}, nil
  for line in text:gmatch "[^\n]*" do
    local words = line:match "^%s*/%*+%s*(.-)%s*%*?/?$" or line:match "^//%s*(.*)"
    local name = line:match "^DAMO_API.-[%s*]([%w_]+)%(" or line:match "^[%a][%w_ *]-[%s*](damo_[%w_]+)%("
    if words then
      comment = comment or words
    elseif name then
      names[#names + 1] = { text = name, id = name, about = comment or "" }
    elseif not line:match "^%s*%*" and not line:match "^%s%s" then
      comment = nil
    end
  end
  return names
end

--- A file of code as a page. Calls and names keep their lines, so an anchor goes around the first place of a name.
local function code_page(page)
  local title = page.name == "damo.h" and "damo.h: the C API" or page.path
  local html = highlight(page.text:gsub("\n$", ""), language_of[page.path:match "%.(%w+)$"] or "text")
  local names = page.path:match "%.h$" and declared(page.text) or {}
  local at, out = 1, {}
  for _, name in ipairs(names) do
    local first = html:find(">" .. name.id .. "<", at, true)
    if first then
      out[#out + 1] = html:sub(at, first) .. ('<a class="at" id="%s"></a>'):format(name.id)
      at = first + 1
    end
  end
  html = table.concat(out) .. html:sub(at)
  local kept = {}
  for _, name in ipairs(names) do
    if html:find(('id="%s"'):format(name.id), 1, true) then kept[#kept + 1] = name end
  end
  -- An example names its pictures at its head.
  local shown, folder = {}, page.path:match "^examples/" or ""
  for path in (page.text:match "^.-\n\n" or ""):gmatch "pictures/[%w_]+%.png" do
    shown[#shown + 1] = ('<p><img src="%s" alt="a picture of %s"></p>\n'):format(
      address_of(folder .. path, page.path), escape(page.path))
  end
  html = ("<h1>%s</h1>\n%s%s"):format(escape(title), table.concat(shown), html)
  return { title = title, headings = {}, names = kept, html = html }
end

-- ---- Whole pages ----------------------------------------------------------------------------------------------------

local function navigation(here)
  local out, group = {}, nil
  for _, page in ipairs(pages) do
    if page.group then
      if page.group ~= group then
        out[#out + 1] = (group and "</ul>" or "") .. ("<h2>%s</h2><ul>"):format(page.group)
        group = page.group
      end
      local sections = {}
      for _, heading in ipairs(page == here and page.read.headings or {}) do
        if heading.level == 2 then
          sections[#sections + 1] = ('<li><a href="#%s">%s</a></li>'):format(heading.id, escape(heading.text))
        end
      end
      local inner = #sections > 0 and #sections <= 40 and "<ul>" .. table.concat(sections) .. "</ul>" or ""
      out[#out + 1] = ('<li%s><a href="%s">%s</a>%s</li>'):format(
        page == here and ' class="here"' or "", page.address, escape(page.label), inner)
    end
  end
  return table.concat(out, "\n") .. "</ul>"
end

--- The pages before and after this one, in the order of the navigation.
local function turn(here)
  local shown, at = {}, nil
  for _, page in ipairs(pages) do
    if page.group then shown[#shown + 1] = page end
    if page == here and page.group then at = #shown end
  end
  if not at then return "" end
  local function link(page, text)
    return page and ('<a href="%s">%s</a>'):format(page.address, text:format(escape(page.label))) or "<span></span>"
  end
  return ('<div class="turn">%s%s</div>'):format(link(shown[at - 1], "← %s"), link(shown[at + 1], "%s →"))
end

local template = [[
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><a class="home" href="index.html">damo</a>
<div class="search"><input id="query" type="search" placeholder="Search names and headings  ( / )" autocomplete="off"
aria-label="search names and headings"><ul id="found" hidden></ul></div></header>
<div class="columns">
<nav><details id="pages" open><summary>Pages</summary>
%s
</details></nav>
<main>
%s
%s
</main>
</div>
<script src="index.js"></script>
<script src="search.js"></script>
</body>
</html>
]]

--- A block of code; what follows the line with --> in an example of the reference is its result.
local function code_of(code, language)
  if language ~= "example" then return highlight(code, language) end
  local call, result = code:match "^(.-)\n(%-%->.*)$"
  local html = highlight(call or code, "lua")
  if not result then return html end
  return html:sub(1, #html - #"</code></pre>") .. ('<span class="c">%s</span>\n</code></pre>'):format(escape(result))
end

--- The gallery with the whole code of each example, folded, behind the paragraph that names it.
local function with_code(html)
  return (html:gsub('(<p><a href="examples_([%w_]+%.lua)%.html">.-</p>)', function(paragraph, name)
    local text = read("examples/" .. name)
    if not text then return nil end
    return ("%s\n<details><summary>The whole of %s</summary>\n%s\n</details>"):format(paragraph, escape(name),
      highlight(text:gsub("\n$", ""), "lua"))
  end))
end

--- A sheet of another library's names, with links from damo's names to their entries in the reference.
local function with_links(html)
  return (html:gsub("<code>(damo%.[%w_.]+)</code>", function(name)
    local address = addresses[name]
    return address and ('<a href="%s"><code>%s</code></a>'):format(address, name)
  end))
end

local i = 1
while pages[i] do -- grows: a link to a file of code makes a page of it
  local page = pages[i]
  page.read = page.path:match "%.md$" and markdown.page(page.text, { link = linker(page), code = code_of })
    or code_page(page)
  if page.name == "examples" then page.read.html = with_code(page.read.html) end
  if page.name:match "_names$" then page.read.html = with_links(page.read.html) end
  page.title = page.read.title or page.name
  page.label = page.label or labels[page.name] or page.title
  i = i + 1
end

-- ---- The search -----------------------------------------------------------------------------------------------------

local function js(text)
  local quoted = text:gsub('[\\"]', "\\%0"):gsub("%c", " "):gsub("</", "<\\/")
  return '"' .. quoted .. '"'
end

local index = { "DAMO_INDEX = [" }
local function add_to_index(page, text, id, about)
  local address = page.address .. (id and "#" .. id or "")
  index[#index + 1] = ("[%s,%s,%s,%s],"):format(js(text), js(address), js(page.label), js(about))
end
-- Names of the reference before those of the guides: they come first where both match equally well.
local order = {}
for _, page in ipairs(pages) do
  table.insert(order, page.name == "functions" and 1 or #order + 1, page)
end
for _, page in ipairs(order) do
  for _, heading in ipairs(page.read.headings) do
    add_to_index(page, heading.text, heading.level > 1 and heading.id or nil, "")
  end
  if #page.read.headings == 0 then add_to_index(page, page.title, nil, "") end
  for _, name in ipairs(page.read.names) do add_to_index(page, name.text, name.id, name.about) end
end
index[#index + 1] = "];\n"

files["index.js"] = table.concat(index, "\n")
files["style.css"], files["search.js"] = read "docs/site/style.css", read "docs/site/search.js"
local site = { pages = {}, files = files }
for _, page in ipairs(pages) do
  local title = page.name == "README" and "damo" or page.title .. " · damo"
  site.pages[page.address] = template:format(escape(title), navigation(page), page.read.html, turn(page))
end

-- ---- Whether each link leads to an anchor ---------------------------------------------------------------------------

local wrong = {}
for address, html in pairs(site.pages) do
  for target in html:gmatch ' href="([^"]*)"' do
    local name, anchor = target:match "^([^#]*)#?(.*)$"
    if not target:match "^%a[%w+.-]*:" then
      local other = name == "" and html or site.pages[name]
      if not other and not files[name] then
        wrong[#wrong + 1] = address .. ": " .. target
      elseif anchor ~= "" and not (other and other:find((' id="%s"'):format(anchor), 1, true)) then
        wrong[#wrong + 1] = address .. ": " .. target
      end
    end
  end
end
table.sort(wrong)
assert(#wrong == 0, "links that lead nowhere:\n" .. table.concat(wrong, "\n"))

if not (arg and arg[0] and arg[0]:match "docs/site%.lua$") then return site end

local folder = arg[1] or "build/site"
assert(os.execute(("mkdir -p '%s'"):format(folder)))
local count = 0
for _, set in ipairs { site.pages, site.files } do
  for name, text in pairs(set) do
    local file = assert(io.open(folder .. "/" .. name, "wb"))
    file:write(text)
    file:close()
    count = count + 1
  end
end
print(("site: %s/index.html and %d more files"):format(folder, count - 1))
