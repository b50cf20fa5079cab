-- The texts of kernels that an exported file carries. (What the functions give: rows_c_spec.lua.)
if _VERSION ~= "Lua 5.4" then return end -- the C is the same on every Lua, and compiling it takes minutes
local damo = require "damo"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

describe("export_c of special functions", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("carries the text of what it calls alone", function()
    local x = damo.dvector "x"
    local function text(y, name)
      damo.compile({ x }, y):export_c { name = name, dir = dir, shapes = { { 3 } } }
      local file = assert(io.open(dir .. "/" .. name .. ".c"))
      local all = file:read "*a"
      file:close()
      return all
    end
    local none, some = text(damo.exp(x), "no_text"), text(damo.psi(x), "base_text")
    assert.is_nil(none:find("special_", 1, true))
    assert.truthy(some:find("special_psi(", 1, true))
    assert.is_nil(some:find("special_i0(", 1, true))
    assert.is_true(#some < 40000, tostring(#some))
    assert.truthy(text(damo.i0(x), "bessel_text"):find("special_i0(", 1, true))
  end)

  it("refuses the name of a function of that text", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.i0(x))
    local ok, err = pcall(f.export_c, f, { name = "special_i0", dir = dir, shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("the name 'special_i0'", 1, true), tostring(err))
  end)
end)
