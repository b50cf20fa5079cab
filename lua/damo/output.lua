--- Where texts and pictures go: the options `file` and `path`. For damo's own files only.
-- @module damo.output

local core = require "damo.core"
local system = core.system

local output = {}

--- Refuses an option `file` that is neither nil, "str" nor an object with a method write.
function output.check_file(func, file)
  if file ~= nil and file ~= "str" and not system.can_write(file) then
    core.raise("type", func .. ": option 'file' must be 'str' or have a method write, got " .. system.typename(file))
  end
end

--- Writes the text to a checked `file`: nil prints it, "str" returns it.
function output.write(file, text)
  if file == "str" then return text end
  if text:sub(-1) ~= "\n" then text = text .. "\n" end
  if file then
    file:write(text)
  else
    print((text:sub(1, -2)))
  end
  return nil
end

local formats = { png = "png", svg = "svg", pdf = "pdf" }

--- Writes a text in Graphviz's language to the path (nil: nowhere): a picture if the path ends in .png, .svg or .pdf,
-- a page that folds and searches if it ends in .html, else as it is. Returns the text.
function output.write_dot(func, path, text)
  if path == nil then return text end
  local ending = type(path) == "string" and (path:match "%.(%w+)$" or ""):lower()
  local format = formats[ending]
  if ending == "html" then
    system.write_text(path, require("damo.graph_page").html(text, path:match "([^/]*)%.%w+$"), func)
  elseif not format then
    system.write_text(path, text, func)
  elseif not system.draw_file(path, text, func, "dot", format) then
    core.raise("io", ("%s: %s needs Graphviz's program `dot`, which is not installed (Debian's package is " ..
      "graphviz); write a .gv or an .html file instead"):format(func, path))
  end
  return text
end

return output
