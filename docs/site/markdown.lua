-- markdown: the part of Markdown that the pages of this project use, as HTML: headings, paragraphs, lists, tables,
-- fenced and indented code, quotes, rules, comments; code spans, links, pictures, emphasis, escapes.
--
-- markdown.page(text, {link, code}) returns {html, title, headings, names}. `link(target, text)` gives the address that
-- a link of the page leads to, and another text for it or nil; `code(text, language)` gives the HTML of a block of
-- code. Headings are {level, text, id}; names are {text, id, about}: the rows of tables that begin with code, for a
-- search.

local markdown = {}

local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

function markdown.escape(text) return (text:gsub('[&<>"]', escapes)) end
local escape = markdown.escape

-- ---- Within a line --------------------------------------------------------------------------------------------------

--- The end of a bracket that opens at `from`; brackets in code spans count for nothing.
local function closing(s, from, open, close)
  local depth, i = 0, from
  while i <= #s do
    local c = s:sub(i, i)
    if c == "\\" then
      i = i + 1
    elseif c == "`" then
      local ticks = s:match("^`+", i)
      local _, last = s:find(ticks, i + #ticks, true)
      i = last or i
    elseif c == open then
      depth = depth + 1
    elseif c == close then
      depth = depth - 1
      if depth == 0 then return i end
    end
    i = i + 1
  end
end

local inline

-- Each reads what begins at i and returns its HTML, its plain text and the position after it; or nothing, where the
-- character stands for itself.
local readers = {}

readers["\\"] = function(s, i)
  local c = s:match("^[%p]", i + 1)
  if c then return escape(c), c, i + 2 end
end

readers["`"] = function(s, i)
  local ticks = s:match("^`+", i)
  local from = i + #ticks
  local first, last = s:find(ticks, from, true)
  if not first then return escape(ticks), ticks, from end
  local text = s:sub(from, first - 1)
  if text:match "^ .* $" and text:find "%S" then text = text:sub(2, -2) end
  return "<code>" .. escape(text) .. "</code>", text, last + 1
end

readers["["] = function(s, i, options)
  local close = closing(s, i, "[", "]")
  local target = close and s:match("^%(([^%s()]*)%)", close + 1)
  if not target then return end
  local html, text = inline(s:sub(i + 1, close - 1), options)
  local address, title = options.link(target, text)
  return ('<a href="%s">%s</a>'):format(escape(address), title and escape(title) or html), text, close + #target + 3
end

readers["!"] = function(s, i, options)
  local close = s:sub(i + 1, i + 1) == "[" and closing(s, i + 1, "[", "]")
  local target = close and s:match("^%(([^%s()]*)%)", close + 1)
  if not target then return end
  local _, text = inline(s:sub(i + 2, close - 1), options)
  local address = options.link(target, text)
  return ('<img src="%s" alt="%s" loading="lazy">'):format(escape(address), escape(text)), text, close + #target + 3
end

readers["<"] = function(s, i)
  local address = s:match("^<(https?://[^%s<>]+)>", i)
  if address then return ('<a href="%s">%s</a>'):format(escape(address), escape(address)), address, i + #address + 2 end
end

local function emphasis(s, i, options)
  local mark = s:match("^%*%*", i) or s:sub(i, i)
  local from = i + #mark
  local before = s:sub(i - 1, i - 1)
  if s:match("^%s", from) or (mark == "_" and before:match "[%w]") then return end
  local first = from
  repeat
    first = s:find(mark, first + 1, true)
    local after = first and s:sub(first + #mark, first + #mark) or ""
  until not first or (not s:sub(first - 1, first - 1):match "[%s\\]" and not (mark == "_" and after:match "%w"))
  if not first then return end
  local html, text = inline(s:sub(from, first - 1), options)
  local tag = #mark == 2 and "strong" or "em"
  return ("<%s>%s</%s>"):format(tag, html, tag), text, first + #mark
end
readers["*"], readers["_"] = emphasis, emphasis

--- A text without blocks: its HTML, and what it says without marks.
function inline(s, options)
  local html, plain, i = {}, {}, 1
  while i <= #s do
    local run = s:match("^[^\\`%[!<*_]+", i)
    local h, p, after = run and escape(run), run, run and i + #run
    if not run then
      local c = s:sub(i, i)
      h, p, after = readers[c](s, i, options)
      if not h then h, p, after = escape(c), c, i + 1 end
    end
    html[#html + 1], plain[#plain + 1], i = h, p, after
  end
  return table.concat(html), table.concat(plain)
end

-- ---- Blocks ---------------------------------------------------------------------------------------------------------

--- A new anchor of the page, the one of a text that nobody else has.
local function anchor(id, page)
  if id == "" then id = "section" end
  local count = page.ids[id]
  page.ids[id] = (count or 0) + 1
  return count and ("%s-%d"):format(id, count) or id
end

local function cells_of(line)
  local cells, cell = {}, ""
  line = line:gsub("^%s*|", ""):gsub("|%s*$", "")
  local i = 1
  while i <= #line do
    local c = line:sub(i, i)
    if c == "\\" and line:sub(i + 1, i + 1) == "|" then
      cell, i = cell .. "|", i + 1
    elseif c == "|" then
      cells[#cells + 1], cell = cell, ""
    else
      cell = cell .. c
    end
    i = i + 1
  end
  cells[#cells + 1] = cell
  for k, text in ipairs(cells) do cells[k] = text:match "^%s*(.-)%s*$" end
  return cells
end

local function table_of(lines, i, page)
  local out, head = { '<div class="table"><table>' }, cells_of(lines[i])
  if table.concat(head) ~= "" then
    for k, text in ipairs(head) do head[k] = "<th>" .. inline(text, page.options) .. "</th>" end
    out[#out + 1] = "<thead><tr>" .. table.concat(head) .. "</tr></thead>"
  end
  out[#out + 1] = "<tbody>"
  i = i + 2
  while lines[i] and lines[i]:match "^%s*|" do
    local row, id = {}, nil
    local cells = cells_of(lines[i])
    local _, about = inline(cells[2] or "", page.options)
    for k, text in ipairs(cells) do row[k] = "<td>" .. inline(text, page.options) .. "</td>" end
    if cells[1]:match "^`" then
      local rest = {}
      for k = 2, #cells do rest[#rest + 1] = select(2, inline(cells[k], page.options)) end
      about = #rest > 0 and rest[1] or about
      for name in cells[1]:gmatch "`([^`]+)`" do
        id = id or anchor(name:match "^[%w_.:]+" or "name", page)
        page.names[#page.names + 1] = { text = name, id = id, about = about }
      end
    end
    out[#out + 1] = (id and ('<tr id="%s">'):format(id) or "<tr>") .. table.concat(row) .. "</tr>"
    i = i + 1
  end
  out[#out + 1] = "</tbody></table></div>"
  return table.concat(out, "\n"), i
end

local function fenced(lines, i, page)
  local fence, language = lines[i]:match "^(```+)%s*(%w*)"
  local code = {}
  i = i + 1
  while lines[i] and lines[i]:sub(1, #fence) ~= fence do
    code[#code + 1] = lines[i]
    i = i + 1
  end
  return page.options.code(table.concat(code, "\n"), language), i + 1
end

local function indented(lines, i, page)
  local code = {}
  while lines[i] and (lines[i]:match "^    " or lines[i]:match "^%s*$") do
    code[#code + 1] = lines[i]:sub(5)
    i = i + 1
  end
  while code[#code]:match "^%s*$" do code[#code] = nil end
  return page.options.code(table.concat(code, "\n"), ""), i
end

local function heading(lines, i, page)
  local marks, text = lines[i]:match "^(#+)%s+(.-)%s*#*$"
  local html, plain = inline(text, page.options)
  -- As GitHub makes it: in lower case, hyphens for spaces, without punctuation.
  local id, level = anchor((plain:lower():gsub("[^%w _-]", ""):gsub(" ", "-")), page), #marks
  if level == 1 and not page.title then page.title = plain end
  page.headings[#page.headings + 1] = { level = level, text = plain, id = id }
  local mark = ('<a class="anchor" href="#%s" aria-label="link to this section">#</a>'):format(id)
  return ('<h%d id="%s">%s%s</h%d>'):format(level, id, html, level > 1 and mark or "", level), i + 1
end

local blocks

local function quote(lines, i, page)
  local inner = {}
  while lines[i] and lines[i]:match "^>" do
    inner[#inner + 1] = lines[i]:gsub("^> ?", "")
    i = i + 1
  end
  return "<blockquote>" .. blocks(inner, page) .. "</blockquote>", i
end

--- What a line says as the beginning of an item: the width of its mark, and whether items are numbered.
local function item_mark(line)
  local mark = line:match "^%s?%s?[-*+]%s+" or line:match "^%s?%s?%d+[.)]%s+"
  if mark then return #mark, mark:match "%d" ~= nil end
end

local function list(lines, i, page)
  local _, numbered = item_mark(lines[i])
  local items, loose = {}, false
  while lines[i] do
    local width, is_numbered = item_mark(lines[i])
    if not width or is_numbered ~= numbered then break end
    local inner = { lines[i]:sub(width + 1) }
    i = i + 1
    while lines[i] do
      local blank = lines[i]:match "^%s*$"
      local deeper = lines[i]:match "^%s+%S" and #lines[i]:match "^%s+" >= math.min(width, 2)
      if blank then
        local following = lines[i + 1] or ""
        if not (following:match "^%s+%S" and #following:match "^%s+" >= width) then break end
        inner[#inner + 1], loose = "", true
      elseif deeper then
        inner[#inner + 1] = lines[i]:sub(math.min(#lines[i]:match "^%s+", width) + 1)
      elseif item_mark(lines[i]) or inner[#inner] == "" then
        break
      else
        inner[#inner + 1] = lines[i] -- a paragraph that goes on without being indented
      end
      i = i + 1
    end
    items[#items + 1] = inner
    -- Blank lines between items.
    local k = i
    while lines[k] and lines[k]:match "^%s*$" do k = k + 1 end
    local next_width, next_numbered = item_mark(lines[k] or "")
    if k > i and next_width and next_numbered == numbered then i, loose = k, true end
  end
  local out = { numbered and "<ol>" or "<ul>" }
  for _, inner in ipairs(items) do
    local html = blocks(inner, page)
    if not loose then html = html:gsub("^<p>(.-)</p>", "%1") end
    out[#out + 1] = "<li>" .. html .. "</li>"
  end
  out[#out + 1] = numbered and "</ol>" or "</ul>"
  return table.concat(out, "\n"), i
end

local function is_table(lines, i)
  return lines[i]:match "^%s*|" and lines[i + 1] and lines[i + 1]:match "^%s*|[%s:|-]+$"
end

--- Whether a line begins a block of its own, so that a paragraph before it ends.
local function begins_block(lines, i)
  local line = lines[i]
  return line:match "^%s*$" or line:match "^#+%s" or line:match "^```" or line:match "^>" or is_table(lines, i)
    or item_mark(line) or line:match "^<!%-%-"
end

local function paragraph(lines, i, page)
  local text = {}
  repeat
    text[#text + 1] = lines[i]:match "^%s*(.-)%s*$"
    i = i + 1
  until not lines[i] or begins_block(lines, i)
  local html = inline(table.concat(text, "\n"), page.options)
  return "<p>" .. html .. "</p>", i
end

local function comment(lines, i)
  while lines[i] and not lines[i]:find("-->", 1, true) do i = i + 1 end
  return "", i + 1
end

function blocks(lines, page)
  local out, i = {}, 1
  while i <= #lines do
    local line, read = lines[i], paragraph
    if line:match "^%s*$" then
      read = nil
    elseif line:match "^<!%-%-" then
      read = comment
    elseif line:match "^#+%s" then
      read = heading
    elseif line:match "^```" then
      read = fenced
    elseif line:match "^    " then
      read = indented
    elseif line:match "^%-%-%-+%s*$" then
      read = function(_, k) return "<hr>", k + 1 end
    elseif line:match "^>" then
      read = quote
    elseif is_table(lines, i) then
      read = table_of
    elseif item_mark(line) then
      read = list
    end
    if read then
      out[#out + 1], i = read(lines, i, page)
    else
      i = i + 1
    end
  end
  return table.concat(out, "\n")
end

function markdown.page(text, options)
  local lines = {}
  for line in (text:gsub("\r\n", "\n") .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  local page = { options = options, headings = {}, names = {}, ids = {} }
  page.html = blocks(lines, page)
  return page
end

return markdown
