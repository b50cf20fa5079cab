-- Each link of README.md and of the pages in docs/ and examples/ leads to a file, and to a heading if it names one.

local function read(path)
  local file = io.open(path)
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

--- The anchors of a page: its headings in lower case, without punctuation, with hyphens for spaces.
local function anchors(text)
  local found, code = {}, false
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if line:match "^```" then code = not code end
    local heading = not code and line:match "^#+ (.*)"
    if heading then found[heading:lower():gsub("[^%w _-]", ""):gsub(" ", "-")] = true end
  end
  return found
end

local pages = { "README.md" }
for path in io.popen("ls docs/*.md examples/*.md examples/hosts/*/*.md"):lines() do pages[#pages + 1] = path end

describe("links", function()
  for _, page in ipairs(pages) do
    it("of " .. page .. " lead somewhere", function()
      local folder = page:match "^(.*/)" or ""
      for target in read(page):gsub("```.-```", ""):gmatch "%]%(([^%s)]+)%)" do
        local path, anchor = target:match "^([^#]*)#?(.*)$"
        if not path:match "^https?:" then
          local text = read(path == "" and page or folder .. path)
          assert.truthy(text, page .. ": " .. target)
          if anchor ~= "" then assert.is_true(anchors(text)[anchor], page .. ": " .. target) end
        end
      end
    end)
  end
end)
