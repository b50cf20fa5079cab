-- public_header: returns a function that gives damo.h as one text, its parts in the place of their #includes. Its
-- argument is the path before src/ ("" or nil: the working folder).
local function text_of(root, path, seen)
  local file = assert(io.open(root .. "src/" .. path, "rb"))
  local text = file:read "*a"
  file:close()
  local folder = path:match "^.*/" or ""
  return (text:gsub('#include "([^"\n]+)"\n', function(name)
    local full = folder .. name
    if seen[full] then return "" end
    seen[full] = true
    return text_of(root, full, seen)
  end))
end

return function(root) return text_of(root or "", "damo.h", {}) end
