-- Every op function has a row of tests, is a function of damo, and is a method if its row in the registry says so.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

-- Functions without a row of tests, and why.
local elsewhere = {
  ["dist.quantile"] = "by distribution: dist_spec.lua",
  ifelse = "lazy: graph_op/ifelse_spec.lua",
  ifelse_list = "the same over a flat list",
  select = "damo.select takes two lists: grid_spec.lua",
  pack = "damo.pack gives a list of shapes, too: grid_spec.lua",
  set_subtensor = "takes x[…] and not x: index_spec.lua",
  inc_subtensor = "takes x[…] and not x: index_spec.lua",
}

-- Functions of stacks of matrices are tested by spec/linalg, which has a harness of its own.
local function linalg_specs()
  local pipe = assert(io.popen "cat spec/linalg/*_spec.lua")
  local text = pipe:read "a"
  pipe:close()
  return text
end

describe("every op function", function()
  local of_matrices = linalg_specs()
  local rows = {}
  for _, family in ipairs(h.families) do
    for name, cases in pairs(h.rows(family)) do
      assert(not rows[name], name .. " has two rows")
      rows[name] = cases
    end
  end

  it("has a row of tests", function()
    local missing = {}
    for name, row in pairs(h.registry) do
      local tested = rows[name] or row.random or elsewhere[name]
        or name:find("^linalg%.") and of_matrices:find("%f[%w]" .. name:gsub("%.", "%%.") .. "%f[^%w_]")
      if not tested then missing[#missing + 1] = name end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("of random numbers has a row in random_spec.lua", function()
    local known, missing = assert(loadfile "spec/op/rows/random.lua")(), {}
    for name, row in pairs(h.registry) do
      if row.random and not known[name:gsub("^random%.", "")] then missing[#missing + 1] = name end
    end
    assert.equal("", table.concat(missing, " "))
  end)

  it("with a row exists, and each row has a case", function()
    for name, cases in pairs(rows) do
      assert.is_truthy(h.registry[name], name)
      assert.is_true(#cases > 0, name)
    end
    for name in pairs(elsewhere) do assert.is_truthy(h.registry[name], name) end
  end)

  it("has a description", function()
    for name, row in pairs(h.registry) do assert.is_true(#row.doc > 0, name) end
  end)

  it("is a method of Arrays and Variables, or only a function", function()
    local a, x = damo.zeros { 2, 2 }, damo.matrix "x"
    local fields = { shape = true, size = true }
    for name, row in pairs(h.registry) do
      if row.method then
        assert.equal("function", type(a[name]), name)
        assert.equal("function", type(x[name]), name)
      elseif not fields[name] then
        assert.is_false(pcall(function() return a[name](a) end), name)
      end
    end
  end)
end)
