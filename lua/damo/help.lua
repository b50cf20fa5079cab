--- damo.help: what the registry of op functions and the annotations say of a name, a function or an object.
-- @module damo.help

local damo = require "damo"
local core = require "damo.core"
local output = require "damo.output"
local examples = require "damo.help_examples"
local annotated = require "damo.help_names"
local system = core.system

local WIDTH = 100

local help = {}

-- ---- Names ----------------------------------------------------------------------------------------------------------

local modules = {
  "sparse", "linalg", "fft", "nn", "dist", "random", "tree", "graph", "rewrite", "printing", "io", "optim", "plot",
  "progress",
}
local module_docs = {
  sparse = "sparse matrices: makers, op functions, solvers", linalg = "linear algebra of dense matrices",
  fft = "Fourier transforms", nn = "networks: layers, activations, losses", dist = "distributions",
  random = "random numbers", tree = "nested tables of Variables", graph = "graphs as data", rewrite = "rewrite rules",
  printing = "graphs and programs as text", io = "files of values", optim = "optimisers", plot = "pictures",
  progress = "progress of long loops", ["nn.init"] = "initial values of parameters",
}

-- Damo's own types of objects by the word that system.typename gives.
local kinds = {
  Array = "Array", Variable = "Variable", Sparse = "Sparse", Type = "Type", Op = "Op", Apply = "Apply",
  Function = "Function", FunctionGraph = "FunctionGraph", Factor = "Factor",
}

-- "dot" of a row is damo.dot, "normal" of a row of draws damo.random.normal.
local function row_path(row)
  local home = row.random and not row.name:find(".", 1, true) and "random." or ""
  return "damo." .. home .. row.name
end

local function home_and_name(path) return path:match "^damo%.(.-)%.?([%w_]+)$" end

-- What a path names, nil where nothing has the name.
local function value_at(path)
  local home, name = home_and_name(path)
  if not home then return nil end
  local ok, module = true, damo
  if home ~= "" then
    ok, module = pcall(function() return damo[home] end)
  end
  if not ok or type(module) ~= "table" then return nil end
  local found, value = pcall(function() return module[name] end)
  return found and value or nil
end

local letters = {
  b = "int8", w = "int16", i = "int32", l = "int64", f = "float32", d = "float64", c = "complex64", z = "complex128",
}

local function is_maker(kind)
  return kind and (kind:match "^tensor%d$" or kind == "scalar" or kind == "vector" or kind == "matrix" or kind == "row"
    or kind == "col")
end

-- What names made by rule say: makers of Variables, Op classes.
local function doc_by_rule(path)
  local format, letter = path:match "^damo%.sparse%.(cs[rc])_(%l?)matrix$"
  if format then return ("an input of a graph: a %s matrix of %s"):format(format, letters[letter] or "floatX") end
  local name = path:match "^damo%.([%l%d]+)$" or ""
  local first, kind = name:match "^([bwilfdcz])(%l+%d?)$"
  if not is_maker(kind) then first, kind = "", name end
  if is_maker(kind) then return ("an input of a graph: a %s of %s"):format(kind, letters[first] or "floatX") end
  if path:match "^damo%.sparse%.%u" then return "the Op class: a table of its properties gives the Op" end
  return ""
end

-- An entry is {path, row or nil, args, doc, tags}; index.by_path["damo.dot"] gives one, index.list all in order.
local function new_index()
  local index = { list = {}, by_path = {}, by_value = {}, family_of = {} }
  local function add(path, entry)
    local known = index.by_path[path]
    if known then
      if known.doc == "" then known.doc = entry.doc end
      known.tags = known.tags or entry.tags
      return
    end
    entry.path = path
    entry.home, entry.name = path:match "^(.*)[.:]([%w_]+)$"
    index.by_path[path] = entry
    index.list[#index.list + 1] = entry
  end
  local titles, title = {}, nil
  for _, family in ipairs(annotated.families) do titles[family[1]] = family[2] end
  for _, row in ipairs(damo.registry()) do
    title = titles[row.name] or title
    index.family_of[row.name] = title
    add(row_path(row), { row = row, doc = row.doc })
  end
  for _, e in ipairs(annotated.entries) do
    add(e[1], { args = e[2] or nil, doc = e[3], tags = #e[4] > 0 and e[4] or nil })
  end
  local function add_all(prefix, module)
    local names = {}
    for name, value in pairs(module) do
      if type(name) == "string" and type(value) == "function" then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do add(prefix .. name, { doc = doc_by_rule(prefix .. name) }) end
  end
  add_all("damo.", damo)
  for _, name in ipairs(modules) do
    local ok, module = pcall(function() return damo[name] end)
    if ok and type(module) == "table" then add_all("damo." .. name .. ".", module) end
  end
  for _, entry in ipairs(index.list) do
    local value = entry.path:find("^damo%.") and value_at(entry.path)
    if value and index.by_value[value] == nil then index.by_value[value] = entry end
    if entry.row and entry.row.method then
      for _, object in ipairs { index.an_array or damo.zeros { 1 } } do
        local ok, method = pcall(function() return object[entry.row.name:match "[^.]*$"] end)
        if ok and type(method) == "function" and index.by_value[method] == nil then index.by_value[method] = entry end
      end
    end
  end
  return index
end

local index_made
local function get_index()
  index_made = index_made or new_index()
  return index_made
end

-- ---- Text -----------------------------------------------------------------------------------------------------------

-- Words over as many lines as are needed, each after the first with the indent.
local function wrapped(text, indent)
  local lines, line = {}, nil
  for word in text:gmatch "%S+" do
    if line and #line + 1 + #word > WIDTH - #indent then
      lines[#lines + 1] = line
      line = word
    else
      line = line and line .. " " .. word or word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n" .. indent)
end

local LABEL = ("%-10s")
local function add_part(out, label, text)
  if text and text ~= "" then out[#out + 1] = LABEL:format(label) .. text:gsub("\n", "\n" .. LABEL:format "") end
end

-- The first n characters of a text in UTF-8.
local function first_letters(text, n)
  local count, at = 0, 1
  for letter in text:gmatch "[%z\1-\127\194-\255][\128-\191]*" do
    count = count + 1
    if count > n then return text:sub(1, at - 1) .. "…" end
    at = at + #letter
  end
  return text
end

-- The first sentence.
local function short_doc(entry) return first_letters(entry.doc:match "^(.-%.)%s" or entry.doc, 78) end

-- ---- Calls and options ----------------------------------------------------------------------------------------------

local function operand_text(o)
  if o.list then return ("{%s1, …}"):format((o.name:gsub("s$", ""))) end
  return o.optional and ("[%s]"):format(o.name) or o.name
end

local shape_first = { zeros = "shape, [dtype]", ones = "shape, [dtype]", empty = "shape, [dtype]",
  full = "shape, value, [dtype]" }

local function operands_of(row, first)
  local parts = {}
  for i = first, #row.operands do parts[#parts + 1] = operand_text(row.operands[i]) end
  if #row.options > 0 or row.random then
    local names = {}
    for _, o in ipairs(row.options) do names[#names + 1] = o.name .. "=" end
    if row.random then names[#names + 1] = "rng=" end
    parts[#parts + 1] = "{" .. table.concat(names, ", ") .. "}"
  end
  return table.concat(parts, ", ")
end

local fields = { shape = true, size = true }

local function calls_of(entry)
  local row = entry.row
  if not row then return entry.path .. (entry.args or (entry.tags and "" or "(…)")) end
  if shape_first[row.name] then return ("%s(%s)"):format(entry.path, shape_first[row.name]) end
  local name = row.name:match "[^.]*$"
  local text = ("%s(%s)"):format(entry.path, operands_of(row, row.random and 2 or 1))
  if row.random and not row.name:find "^sparse%." then
    return text .. ("\nrs:%s(%s), of a RandomStream rs"):format(name, operands_of(row, 2))
  end
  if fields[row.name] then return text .. "\nx." .. name end
  if row.method and #row.operands > 0 then
    return text .. ("\n%s:%s(%s)"):format(row.operands[1].name, name, operands_of(row, 2))
  end
  return text
end

local option_words = {
  int = "an integer", num = "a number", bool = "true or false", str = "a string", dtype = 'a dtype, such as "float32"',
  axes = "a position from 1 or a list of them, negative from the end", ints = "a list of integers",
  shape = "a list of integers and Variables, or an integer vector", var = "a Variable or a value", any = "any value",
}

local function options_of(entry)
  local row = entry.row
  if not row then
    local lines = {}
    for _, tag in ipairs(entry.tags or {}) do
      local text = tag:gsub("^@t?param", ""):gsub("^%s+", "")
      local optional, kind, name, doc = tag:match "^@tparam(%[?[opt]*%]?) (%S+) (%S+)%s*(.*)"
      if name then -- LDoc's order, as annotations have it
        text = ("%s%s %s %s"):format(name, optional ~= "" and "?" or "", kind, doc):gsub("%s+$", "")
      end
      if tag:find "^@t?param" then lines[#lines + 1] = wrapped(text, "  ") end
    end
    return table.concat(lines, "\n")
  end
  local lines = {}
  for _, o in ipairs(row.options) do lines[#lines + 1] = ("%s: %s"):format(o.name, option_words[o.kind] or o.kind) end
  if row.random then
    lines[#lines + 1] = "rng: the state of a generator; with it the next state is the first result"
  end
  lines[#lines + 1] = "out: the Array that a call on values writes its result into"
  return table.concat(lines, "\n")
end

-- ---- Shapes, gradients, examples ------------------------------------------------------------------------------------

local shape_rules = {
  dot = "(m, k), (k, n) -> (m, n); (m, k), (k) -> (m); (k), (k) -> ()",
  matmul = "(…, m, k), (…, k, n) -> (…, m, n); leading axes broadcast", outer = "(m), (n) -> (m, n)",
  transpose = "(a, b, c) -> (c, b, a), or in the order of axes",
  ["linalg.solve"] = "(…, m, m), (…, m, k) -> (…, m, k)", ["linalg.inv"] = "(…, m, m) -> (…, m, m)",
  ["linalg.det"] = "(…, m, m) -> (…)", ["linalg.cholesky"] = "(…, m, m) -> (…, m, m)",
  ["linalg.svd"] = "(…, m, n) -> (…, m, m), (…, k), (…, n, n) with k = min(m, n)",
  ["sparse.dot"] = "(m, k), (k, n) -> (m, n)",
  ["nn.conv2d"] = "(batch, in, h, w), (out, in, kh, kw) -> (batch, out, h', w')",
}

local elementwise = {}
for _, title in ipairs {
  "Arithmetic of two operands", "Comparisons and tests", "Logic and bits", "Choice, copies", "Signs, roots, rounding",
  "Exponentials and logarithms", "Trigonometry", "Special functions", "Complex numbers", "Other names of these",
  "Conversion and closeness", "Composed elementwise functions",
} do elementwise[title] = true end

-- "(2, 3)" of a value, nil of what has no shape.
local function shape_text(v)
  if type(v) == "number" or type(v) == "boolean" then return "()" end
  local kind = system.typename(v)
  if kind ~= "Array" and kind ~= "Sparse" then return nil end
  local parts = {}
  for i, n in ipairs(v.shape) do parts[i] = tostring(n) end
  return "(" .. table.concat(parts, ", ") .. ")"
end

local function shapes_of_list(values)
  local parts = {}
  for _, v in ipairs(values) do
    local inner = type(v) == "table" and v or { v }
    for _, item in ipairs(inner) do
      if type(item) == "userdata" or inner[1] == v then parts[#parts + 1] = shape_text(item) end
    end
  end
  return table.concat(parts, ", ")
end

local function shapes_of(row, family, example)
  local rule = shape_rules[row.name]
  if not rule and elementwise[family] then
    rule = #row.operands > 1 and "operands broadcast; the result has their common shape" or "the result has x's shape"
  elseif not rule and family == "Reductions" then
    rule = "the result lacks the axes that it goes over (all without axis); with keepdims these have length 1"
  end
  local of_example
  if example and example.results then
    local before, after = shapes_of_list(example.values), shapes_of_list(example.results)
    if after ~= "" then of_example = ("in the example %s -> %s"):format(before == "" and "()" or before, after) end
  end
  if rule and of_example then return rule .. "\n" .. of_example end
  return rule or of_example or "as the options say"
end

local gradient_words = {
  yes = "yes", zero = "zero, as of a step function", disconnected = "disconnected: no path for a gradient",
  ["not implemented"] = "not implemented: grad raises a null_gradient error", ["-"] = "none: no operand is a float",
}

local function gradient_text(row)
  if row.name:find "^sparse%." then return "of stored entries or of all: docs/sparse.md says which" end
  return gradient_words[annotated.gradients[row.name]] or "ask damo.grad"
end

-- A value as it is printed, a list of values in braces.
local function value_text(v)
  if type(v) ~= "table" or getmetatable(v) then return tostring(v) end
  local texts = {}
  for i, item in ipairs(v) do texts[i] = value_text(item) end
  return "{" .. table.concat(texts, ", ") .. "}"
end

local function example_text(example)
  local lines = { example.text }
  for i, v in ipairs(example.results or {}) do
    local text = value_text(v)
    if #text > 600 then text = text:sub(1, 600):gsub("[^\n]*$", "") .. "…" end
    lines[#lines + 1] = (i == 1 and "--> " or "    ") .. text:gsub("\n", "\n    ")
  end
  return table.concat(lines, "\n")
end

-- ---- Near and related names -----------------------------------------------------------------------------------------

-- The number of letters inserted, deleted, changed, or swapped with their neighbour, between two words.
local function distance(a, b)
  local before, last = nil, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    local now = { [0] = i }
    for j = 1, #b do
      local change = a:byte(i) == b:byte(j) and 0 or 1
      now[j] = math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + change)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        now[j] = math.min(now[j], before[j - 2] + 1)
      end
    end
    before, last = last, now
  end
  return last[#b]
end

local function last_name(path) return path:match "[%w_]+$" end

-- Longer words are near to no name; a comparison takes time in proportion to the length.
local LONGEST_NEAR = 64

local function near_names(word)
  local found, bare = {}, last_name(word) or word
  if #bare > LONGEST_NEAR then return {} end
  bare = bare:lower()
  for i, entry in ipairs(get_index().list) do
    local name = last_name(entry.path):lower()
    local d = distance(bare, name)
    local inside = #bare > 2 and name:find(bare, 1, true)
    if d <= math.max(1, math.floor(#bare / 3)) or inside then
      found[#found + 1] = { path = entry.path, d = inside and math.min(d, 1.5) or d, i = i }
    end
  end
  table.sort(found, function(a, b)
    if a.d ~= b.d then return a.d < b.d end
    return a.i < b.i
  end)
  local names = {}
  for i = 1, math.min(8, #found) do names[i] = found[i].path end
  return names
end

local common = {}
for word in ("a an and as at by each for from have if in is it its not of on one or other over that the their them to "
  .. "with x y without which whose where what values value array entries"):gmatch "%S+" do common[word] = true end

local function words_of(text)
  local set = {}
  for word in text:lower():gmatch "[%w]+" do
    if not common[word] and #word > 1 then set[word] = true end
  end
  return set
end

local function words_of_entry(entry)
  entry.words = entry.words or words_of(entry.doc)
  return entry.words
end

local related = {
  dot = { "damo.matmul", "damo.tensordot", "damo.outer", "damo.einsum", "damo.sparse.dot" },
  matmul = { "damo.dot", "damo.tensordot", "damo.einsum" },
}

-- Entries that share words with this one, those of its family and of its own name first.
local function see_also(entry)
  local row, index = entry.row, get_index()
  local curated, out = row and related[row.name], {}
  for _, path in ipairs(curated or {}) do
    if index.by_path[path] then out[#out + 1] = path end
  end
  if #out > 0 then return table.concat(out, ", ") end
  local own, name, found = words_of_entry(entry), entry.name, {}
  local home, is_member = entry.home, entry.path:find "^%u" ~= nil
  for i, other in ipairs(index.list) do
    if other ~= entry and is_member == (other.path:find "^%u" ~= nil) then
      local score = 0
      for word in pairs(words_of_entry(other)) do score = score + (own[word] and 1 or 0) end
      local family = row and other.row and index.family_of[row.name] == index.family_of[other.row.name]
      if family then score = score + 1.5 end
      if other.home == home then score = score + (row and 1 or 2) end
      if other.name == name then score = score + 3 end
      if score >= 1.5 then found[#found + 1] = { path = other.path, score = score, i = i } end
    end
  end
  local at = 0
  for i, other in ipairs(index.list) do
    if other == entry then at = i end
  end
  table.sort(found, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    local da, db = math.abs(a.i - at), math.abs(b.i - at)
    if da ~= db then return da < db end
    return a.i < b.i
  end)
  for i = 1, math.min(5, #found) do out[i] = found[i].path end
  return table.concat(out, ", ")
end

-- ---- Pages ----------------------------------------------------------------------------------------------------------

local function row_page(entry)
  local row, family = entry.row, get_index().family_of[entry.row.name]
  local ok, example = pcall(examples.of_row, row, entry.path, value_at(entry.path))
  example = ok and example or nil
  local out = { ("%s: %s"):format(entry.path, wrapped(row.doc, "")), "" }
  add_part(out, "call", calls_of(entry))
  add_part(out, "options", options_of(entry))
  add_part(out, "shapes", shapes_of(row, family, example))
  add_part(out, "gradient", gradient_text(row))
  add_part(out, "example", example and example_text(example) or "docs/functions.md has its family: " .. (family or ""))
  add_part(out, "see also", see_also(entry))
  return table.concat(out, "\n")
end

local function plain_page(entry)
  local out = { entry.path .. (entry.doc ~= "" and ": " .. wrapped(entry.doc, "") or ""), "" }
  local returns = {}
  for _, tag in ipairs(entry.tags or {}) do
    local text = tag:match "^@t?return%S*%s*(.*)"
    if text then returns[#returns + 1] = text end
    local kind = tag:match "^@type%s+(.*)"
    if kind then add_part(out, "type", kind) end
  end
  if entry.args or not entry.tags then add_part(out, "call", calls_of(entry)) end
  add_part(out, "options", options_of(entry))
  add_part(out, "gives", table.concat(returns, "\n"))
  add_part(out, "example", examples.of_name(entry.path))
  add_part(out, "see also", see_also(entry))
  return table.concat(out, "\n")
end

local function page_of(entry) return entry.row and row_page(entry) or plain_page(entry) end

local function listed(entries)
  local lines, width = {}, 0
  for _, entry in ipairs(entries) do width = math.max(width, #entry.path) end
  width = math.min(width, 40)
  for _, entry in ipairs(entries) do
    lines[#lines + 1] = (("  %%-%ds  %%s"):format(width):format(entry.path, short_doc(entry)):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

local function module_page(name)
  local entries, prefix = {}, "damo." .. name .. "."
  for _, entry in ipairs(get_index().list) do
    if entry.path:sub(1, #prefix) == prefix then entries[#entries + 1] = entry end
  end
  local out = { ("damo.%s: %s\n\n%s"):format(name, module_docs[name] or "a module", listed(entries)), "" }
  add_part(out, "example", examples.of_name("damo." .. name))
  return table.concat(out, "\n")
end

--- "RandomStream" of a table that is one of damo's objects.
function help.class_of(x)
  local meta = getmetatable(x)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name:match "^damo%.(%u%w*)" or nil
end

-- The fields and methods of a kind of object; op functions that are methods too are not listed.
local function kind_page(kind)
  local entries = {}
  for _, entry in ipairs(get_index().list) do
    if entry.path:match "^(%u%w*)[.:]" == kind then entries[#entries + 1] = entry end
  end
  if kind == "Array" or kind == "Variable" or kind == "Sparse" then
    for _, entry in ipairs(get_index().list) do
      if entry.path:match "^Tensor[.:]" then entries[#entries + 1] = entry end
    end
  end
  if #entries == 0 then return nil end
  local more = (kind == "Array" or kind == "Variable") and "\nOp functions are methods too: x:sum{axis = 1}." or ""
  return ("%s: fields and methods\n\n%s%s"):format(kind, listed(entries), more)
end

local function overview()
  local out = {
    "damo.help(name) tells of a function, a module, a kind of object; several words search.",
    'For example: damo.help("dot"), damo.help("linalg"), damo.help("Array"), damo.help("matrix product").',
    "", "modules",
  }
  for _, name in ipairs(modules) do out[#out + 1] = ("  damo.%-10s %s"):format(name, module_docs[name] or "") end
  out[#out + 1] = "\nfamilies of functions"
  local titles = {}
  for _, family in ipairs(annotated.families) do titles[#titles + 1] = family[2] end
  out[#out + 1] = "  " .. wrapped(table.concat(titles, "; "), "  ")
  out[#out + 1] = "\nkinds of objects"
  out[#out + 1] = "  Array, Variable, Sparse, Type, Op, Apply, Function, FunctionGraph, RandomStream, Factor"
  return table.concat(out, "\n")
end

-- ---- Search ---------------------------------------------------------------------------------------------------------

-- Words by which functions are looked for and which their lines do not have.
local keywords = {
  ["damo.dot"] = "matrix inner product multiply", ["damo.matmul"] = "multiply",
  ["damo.linalg.solve"] = "linear system equations",
  ["damo.grad"] = "gradient derivative differentiate", ["damo.compile"] = "function compile graph",
  ["damo.shared"] = "shared parameter weight state", ["damo.random.normal"] = "gaussian random numbers",
  ["damo.mean"] = "mean average", ["damo.scan"] = "scan loop recurrent", ["damo.array"] = "make array from table",
  ["damo.sparse.solve"] = "sparse linear system equations", ["damo.linalg.lstsq"] = "least squares fit",
  ["damo.optim.adam"] = "optimiser optimizer train", ["damo.optim.sgd"] = "optimiser optimizer train",
}

-- How well an entry answers the words: those in its name count most. With `all`, 0 unless every word is there.
local function score_of(entry, words, all)
  local name, score = entry.path:lower(), 0
  local doc = entry.doc:lower() .. " " .. (keywords[entry.path] or "")
  for _, word in ipairs(words) do
    local here = 0
    if last_name(name) == word then here = 4 elseif name:find(word, 1, true) then here = 3 end
    local whole = doc:find("%f[%w_]" .. word .. "%f[^%w_]")
    if whole then here = here + 2 elseif doc:find(word, 1, true) then here = here + 1 end
    if here == 0 and all then return 0 end
    score = score + here
  end
  return score
end

local function matches(words, all)
  local found = {}
  for i, entry in ipairs(get_index().list) do
    local score = score_of(entry, words, all)
    if score > 0 then found[#found + 1] = { entry = entry, score = score, i = i } end
  end
  table.sort(found, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.i < b.i
  end)
  local out = {}
  for i = 1, math.min(20, #found) do out[i] = found[i].entry end
  return out
end

local function search(text)
  local words = {}
  for word in text:lower():gmatch "[%w_]+" do
    if not common[word] then words[#words + 1] = word end
  end
  local found = #words > 0 and matches(words, true) or {}
  if #found == 0 and #words > 1 then found = matches(words, false) end
  if #found == 0 then return ("nothing is found for '%s'"):format(text) end
  return ("found for '%s'\n\n%s"):format(text, listed(found))
end

local function unknown(name)
  local near = near_names(name)
  local text = ("there is no name '%s'"):format(name)
  if #near > 0 then text = text .. ", did you mean " .. table.concat(near, ", ") .. "?" end
  local found = matches({ (last_name(name) or name):lower() }, true)
  if #found > 0 then text = text .. "\n\ntold of in\n" .. listed(found) end
  return text
end

-- ---- Names, functions, objects --------------------------------------------------------------------------------------

-- The entry of a bare name, as it stands in damo, in a module, or among an object's fields and methods.
local function entry_of_name(name)
  local index = get_index()
  local setting = name:match "^config%.([%w_]+)$"
  if setting then return index.by_path["Config." .. setting] end
  local found = index.by_path["damo." .. name]
  if found or name:find "[.:]" then return found end
  for _, module in ipairs(modules) do
    found = index.by_path["damo." .. module .. "." .. name]
    if found then return found end
  end
  for _, kind in ipairs { "Array", "Variable", "Tensor", "Sparse", "Function" } do
    found = index.by_path[kind .. ":" .. name] or index.by_path[kind .. "." .. name]
    if found then return found end
  end
  return nil
end

local function name_page(given)
  local name = given:gsub("^%s+", ""):gsub("%s+$", ""):gsub("%(%)$", "")
  if name == "" or name == "damo" then return overview() end
  local bare = name:gsub("^damo%.", "")
  for _, module in ipairs(modules) do
    if bare == module then return module_page(module) end
  end
  if bare == "nn.init" then return module_page(bare) end
  local entry = get_index().by_path[name] or entry_of_name(bare)
  if entry then return page_of(entry) end
  local kind = kind_page(bare == "config" and "Config" or bare)
  if kind then return kind end
  if name:find "%s" then return search(name) end
  local method = bare:match "^%l[%w_]*[.:]([%w_]+)$" or bare:match "^:([%w_]+)$"
  local is_module = bare:match "^%l[%w_]*" and rawget(module_docs, bare:match "^%l[%w_]*") ~= nil
  entry = method and not is_module and entry_of_name(method)
  return entry and page_of(entry) or unknown(name)
end

-- "Elemwise{exp}" and "Dot" → the row of exp, of dot.
local function row_of_op(op)
  local index = get_index()
  local name = tostring(op):match "{([%a_][%w_]*)" or op.name or ""
  local snake = name:gsub("(%l)(%u)", "%1_%2"):lower()
  return index.by_path["damo." .. name] or index.by_path["damo." .. snake] or index.by_path["damo.linalg." .. snake]
end

local function op_page(op)
  local lines = { tostring(op) .. ": an Op, called on Variables" }
  for _, prop in ipairs(op.props or {}) do
    lines[#lines + 1] = ("  %s = %s"):format(prop, tostring(op[prop]))
  end
  local entry = row_of_op(op)
  return table.concat(lines, "\n") .. "\n\n" .. (entry and page_of(entry) or kind_page "Op")
end

local function variable_page(v)
  local lines = { ("%s: a Variable of %s"):format(tostring(v), tostring(v.type)) }
  if v.owner then
    lines[#lines + 1] = ("  result %d of %s"):format(v.index, tostring(v.owner.op))
  else
    lines[#lines + 1] = "  an input, a constant or a shared Variable: no node computes it"
  end
  local trace = type(v.tag.trace) == "table" and v.tag.trace[1] or v.tag.trace
  if trace then lines[#lines + 1] = "  made at " .. tostring(trace) end
  local text = table.concat(lines, "\n")
  local entry = v.owner and row_of_op(v.owner.op)
  if entry then text = text .. "\n\n" .. page_of(entry) end
  return text .. "\n\n" .. kind_page "Variable"
end

local function array_page(a)
  return ("an Array of %s, shape %s\n\n%s"):format(a.dtype, shape_text(a), kind_page "Array")
end

local function object_page(x)
  local kind = system.typename(x)
  if kind == "Variable" then return variable_page(x) end
  if kind == "Array" then return array_page(x) end
  if kind == "Op" then return op_page(x) end
  if kind == "Apply" then return tostring(x) .. ": a node of " .. op_page(x.op) end
  if kinds[kind] then return ("%s: a %s\n\n%s"):format(tostring(x), kind, kind_page(kinds[kind]) or "") end
  for _, name in ipairs(modules) do
    local module = value_at("damo." .. name)
    if module == x then return module_page(name) end
  end
  if x == damo then return overview() end
  local class = type(x) == "table" and help.class_of(x)
  return class and kind_page(class) or class and ("%s: see damo.help(%q)"):format(class, class) or nil
end

--- The entry of the registry for a name, a function or an object: call, options, shapes, gradient, example, see also.
-- Several words search; of an unknown name the near ones are told.
-- @param x a name such as "dot", "linalg.solve", "Array", or words; a function; a Variable, Array, Op, module, …
-- @tparam[opt] table options `file`: an object with a method write (default: the text goes through `print`), or "str",
-- to have the text returned
-- @treturn ?string
function help.help(x, options)
  system.check_options("help", options, { "file" })
  local file = options and options.file
  output.check_file("help", file)
  local text
  if x == nil then
    text = overview()
  elseif type(x) == "string" then
    text = name_page(x)
  elseif type(x) == "function" then
    local entry = get_index().by_value[x]
    text = entry and page_of(entry) or "a function that is not damo's: " .. tostring(x)
  else
    text = (type(x) == "userdata" or type(x) == "table") and object_page(x) or nil
  end
  if not text then
    local kind = system.typename(x)
    core.raise("type", "help: argument 1 (x) must be a name, a function or an object of damo, got " .. kind)
  end
  return output.write(file, text)
end

help.get_index, help.modules = get_index, modules -- for completion

return help
