-- reference: Markdown of one page for each module with what damo.help says of its names: calls, options, shapes,
-- gradients, an example, which spec/lua/help_spec.lua runs. It gives a list of {name, title, text}, in order, and the
-- addresses of the names: {["damo.dot"] = "names_damo.html#damodot"}.

local damo = require "damo"
local annotated = require "damo.help_names"

local titles = {
  ["damo"] = "damo", ["damo.linalg"] = "damo.linalg", ["damo.sparse"] = "damo.sparse", ["damo.nn"] = "damo.nn",
  ["damo.fft"] = "damo.fft", ["damo.dist"] = "damo.dist", ["damo.random"] = "damo.random",
}
local rest, objects = "Other modules", "Fields and methods"
local order = { "damo", "damo.linalg", "damo.sparse", "damo.nn", "damo.fft", "damo.dist", "damo.random", rest, objects }

--- All names in the order of the registry, then of the annotations: {path, section}.
local function all_names()
  local names, seen, section_at, section = {}, {}, {}, nil
  for _, family in ipairs(annotated.families) do section_at[family[1]] = family[2] end
  local function add(path, title)
    if not seen[path] then names[#names + 1] = { path = path, section = title } end
    seen[path] = true
  end
  for _, row in ipairs(damo.registry()) do
    section = section_at[row.name] or section
    local home = row.random and not row.name:find(".", 1, true) and "random." or ""
    add("damo." .. home .. row.name, section)
  end
  for _, entry in ipairs(annotated.entries) do
    add(entry[1], entry[1]:match "^damo%.[%w_]+$" and "Graphs, calls, settings" or nil)
  end
  for _, entry in ipairs(annotated.entries) do -- modules are loaded when they are first used
    local module = entry[1]:match "^damo%.([%w_]+)%."
    if module and type(damo[module]) == "table" then add("damo." .. module, "Modules") end
  end
  -- Makers of inputs, Op classes of the sparse family, and modules as a whole have no row and no annotation.
  for _, home in ipairs { "damo", "damo.sparse", "damo.nn" } do
    local module = home == "damo" and damo or damo[home:match "%.(.*)"]
    for _, kind in ipairs { "function", "table" } do
      local rest_of = {}
      for key, value in pairs(module) do
        if type(key) == "string" and type(value) == kind then rest_of[#rest_of + 1] = home .. "." .. key end
      end
      table.sort(rest_of)
      for _, path in ipairs(rest_of) do add(path, kind == "table" and "Modules" or "Inputs of graphs") end
    end
  end
  return names
end

local function page_of(path)
  local home = path:match "^(.*)[.:][%w_]+$" or ""
  if titles[home] then return home end
  return home:match "^damo%." and rest or objects
end

local function address(page, path)
  local name = page:lower():gsub("[^%w]", "_")
  return ("names_%s.html#%s"):format(name, (path:lower():gsub("[^%w _-]", "")))
end

local function plain(text) return (text:gsub("[\\`*_%[%]<>#|!]", "\\%0")) end

--- An entry of damo.help as Markdown; its parts have labels in the first ten columns.
local function entry_text(path, text, page_by_path)
  local doc, parts = text:match "^(.-)\n\n(.*)$"
  doc, parts = doc or text, parts or ""
  doc = doc:gsub("^[%w_.:]+: ?", ""):gsub("%s+", " ")
  local out, facts, example, related, label = { ("### `%s`\n"):format(path), plain(doc), "" }, {}, {}, {}, nil
  for line in parts:gmatch "[^\n]+" do
    local new = line:sub(1, 10):match "^(%l[%l ]-)%s+$"
    label = new or label
    if label == "example" then
      example[#example + 1] = line:sub(11)
    elseif label == "see also" then
      related[#related + 1] = line:sub(11)
    else
      facts[#facts + 1] = line
    end
  end
  if #facts > 0 then out[#out + 1] = "```text\n" .. table.concat(facts, "\n") .. "\n```\n" end
  if #example > 0 then out[#out + 1] = "```example\n" .. table.concat(example, "\n") .. "\n```\n" end
  local links = {}
  for name in table.concat(related, " "):gmatch "[^%s,]+" do
    local page = page_by_path[name]
    links[#links + 1] = page and ("[`%s`](%s)"):format(name, address(page, name)) or ("`%s`"):format(name)
  end
  if #links > 0 then out[#out + 1] = "See also " .. table.concat(links, ", ") .. ".\n" end
  return table.concat(out, "\n")
end

local names, page_by_path, pages = all_names(), {}, {}
for _, title in ipairs(order) do
  pages[title] = { name = "names_" .. title:lower():gsub("[^%w]", "_"), title = title, text = {} }
end
local known = {}
for _, name in ipairs(names) do
  local ok, text = pcall(damo.help, name.path, { file = "str" })
  name.text = ok and text or nil
  if name.text then page_by_path[name.path] = page_by_path[name.path] or page_of(name.path) end
end
for _, name in ipairs(names) do
  local page = name.text and pages[page_by_path[name.path]]
  if page then
    local section = page.title == "damo" and name.section or (page.title == rest or page.title == objects)
      and name.path:match "^(.*)[.:]"
    if section and page.section ~= section then
      page.section = section
      -- A section that goes on after another one keeps its first heading.
      if not known[page.title .. section] then table.insert(page.text, "## " .. plain(section) .. "\n") end
      known[page.title .. section] = true
    end
    table.insert(page.text, entry_text(name.path, name.text, page_by_path))
  end
end

local list = {}
for _, title in ipairs(order) do
  local page = pages[title]
  local head = "# %s, name by name\n\nWhat `damo.help` says; each example was run.\n\n"
  page.text = head:format(title) .. table.concat(page.text, "\n")
  list[#list + 1] = page
end
local addresses = {}
for path, title in pairs(page_by_path) do addresses[path] = address(title, path) end
return list, addresses
