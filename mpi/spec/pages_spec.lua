-- The snippets of the pages that need damo-mpi run on every rank.

describe("docs/mpi.md", function()
  local block, start, line_number = nil, nil, 0
  for line in io.lines "docs/mpi.md" do
    line_number = line_number + 1
    if line:match "^```lua" then
      block, start = {}, line_number
    elseif line:match "^```" and block then
      local code, at = table.concat(block, "\n"), start
      it(("has a snippet at line %d that runs"):format(at), function()
        assert((loadstring or load)(code, "@docs/mpi.md:" .. at))() -- luacheck: ignore 113
      end)
      block = nil
    elseif block then
      block[#block + 1] = line
    end
  end
end)
