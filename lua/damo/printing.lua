--- Graphs as text.
-- @module damo.printing

local core = require "damo.core"

---@class damo.printing
local printing = {}

local known = {
  "print_type", "depth", "stop_on_name", "id_type", "print_destroy_map", "print_view_map", "print_storage", "file",
}
local is_known = {}
for _, name in ipairs(known) do is_known[name] = true end

--- The tree of a Variable, a list of Variables, a node, a FunctionGraph or a Function, shared parts printed once.
-- @param x what to print
-- @tparam[opt] table options `print_type`, `depth`, `stop_on_name`, `print_destroy_map`, `print_view_map`, `id_type`
-- ("CHAR"; "int" in the order of the text; "id" the same in every text; "" none), `print_storage` (of a Function: what
-- its cells hold), and `file`: a file handle (default stdout) or "str", which returns the text
-- @treturn ?string
function printing.debugprint(x, options)
  options = options or {}
  for name in pairs(options) do
    if not is_known[name] then
      core.raise("value", ("debugprint: unknown option '%s': the options are %s"):format(tostring(name),
        table.concat(known, ", ")))
    end
  end
  local text = core.graph.debug_text(x, options)
  if options.file == "str" then return text end
  local file = options.file or io.stdout
  file:write(text)
  if text:sub(-1) ~= "\n" then file:write("\n") end
  return nil
end

--- One line, infix: "(x * 2) + exp(y)".
-- @function pprint
-- @param x a Variable
-- @treturn string
printing.pprint = core.graph.pprint

local formats = { png = "png", svg = "svg", pdf = "pdf" }

local function write_file(path, text)
  local file, why = io.open(path, "w")
  if not file then core.raise("io", ("dot: %s can't be written: %s"):format(path, why)) end
  file:write(text)
  file:close()
end

-- The shell's words, quoted.
local function quoted(s) return "'" .. s:gsub("'", [['\'']]) .. "'" end

local function succeeded(first) return first == true or first == 0 end

-- Runs Graphviz on the text, by a file beside the picture.
local function draw(path, format, text)
  local source = path .. ".gv"
  write_file(source, text)
  local done = succeeded(os.execute(("dot -T%s -o %s %s 2>/dev/null"):format(format, quoted(path), quoted(source))))
  os.remove(source)
  if done then return end
  if not succeeded(os.execute("command -v dot >/dev/null 2>&1")) then
    core.raise("io", ("dot: %s needs Graphviz's program `dot`, which is not installed; write a .gv file instead")
      :format(path))
  end
  core.raise("io", "dot: Graphviz failed to draw " .. path)
end

--- The graph in the language of Graphviz: Ops as ellipses (red edges: destroyed, blue: viewed), inputs green, shared
-- Variables gold, constants grey. With `path` it is also written there: as a picture where the path ends in .png, .svg
-- or .pdf (by Graphviz's program `dot`), as text else.
-- @param x a Variable, a list of Variables, a node, a FunctionGraph or a Function
-- @tparam[opt] table options `path`
-- @treturn string
function printing.dot(x, options)
  for name in pairs(options or {}) do
    if name ~= "path" then
      core.raise("value", ("dot: unknown option '%s': the option is path"):format(tostring(name)))
    end
  end
  local text, path = core.graph.dot_text(x), options and options.path
  if path then
    local format = formats[(path:match("%.(%w+)$") or ""):lower()]
    if format then
      draw(path, format, text)
    else
      write_file(path, text)
    end
  end
  return text
end

return printing
