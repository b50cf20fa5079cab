-- A page after its scripts have run, as a headless Chromium has it. Chromium is only there for `make test-pages`.
local browser = {}

--- The page at a path, as HTML; `state` is the part of the address behind #.
function browser.dom(path, state)
  local address = ("'file://%s%s'"):format(path, state and "#" .. state or "")
  local pipe = assert(io.popen("chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 " ..
    "--dump-dom " .. address .. " 2>/dev/null"))
  local text = pipe:read "*a"
  pipe:close()
  assert(text:find("<html", 1, true), "chromium gave no page")
  return text
end

return browser
