-- Op classes in the sources: each is in its family's list (which op_class_at walks) and has a unique name.
local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function sources()
  local list = {}
  local found = io.popen("find src -name '*.c' | sort")
  for path in found:lines() do list[#list + 1] = { path = path, text = read(path) } end
  found:close()
  return list
end

-- What gradients alone use, in graphs that no script makes by itself.
local unlisted = { pass_def = true, bits_def = true, scan_replay_def = true }

describe("an Op class", function()
  local classes, listed = {}, {}
  for _, source in ipairs(sources()) do
    for symbol, body in source.text:gmatch "\n[%a ]-const op_def ([%w_]+)[%[%]%w_]* = ([^;]-);" do
      classes[#classes + 1] = { symbol = symbol, path = source.path, name = body:match '%.name = "([^"]+)"' }
    end
    for list in source.text:gmatch "_classes%[%] = (%b{})" do
      for symbol in list:gmatch "&([%w_]+)" do listed[symbol] = true end
      for macro in list:gmatch "BOTH%(" do listed.sp_compare_ss_defs, listed.sp_compare_sd_defs = macro, macro end
    end
  end

  it("is in the list of its family", function()
    assert.is_true(#classes > 130, #classes)
    for _, class in ipairs(classes) do
      assert.is_true(listed[class.symbol] ~= nil or unlisted[class.symbol] ~= nil, class.path .. ": " .. class.symbol)
    end
  end)

  it("has a unique name and symbol", function()
    local seen = {}
    for _, class in ipairs(classes) do
      for _, key in ipairs { class.symbol, class.name } do
        assert.is_nil(seen[key], ("%s: %s, as in %s"):format(class.path, key, tostring(seen[key])))
        seen[key] = class.path
      end
    end
  end)
end)
