-- Functions that run through the machine's C compiler.
local damo = require "damo"
local child = require "spec.support.child"
local failure = require "spec.support.failure"
local with_folder = require "spec.support.folder"

local x, A = damo.dvector "x", damo.dmatrix "A"

local function files(dir)
  local pipe = io.popen("ls " .. dir)
  local names = {}
  for name in pipe:lines() do names[#names + 1] = name end
  pipe:close()
  return names
end

describe("Mode{linker = \"cc\"}", function()
  it("alone has a folder for libraries", function()
    for _, linker in ipairs { "vm", "c", "debug", "nanguard" } do
      local said = failure("value", damo.Mode, { linker = linker, dir = "/tmp" }).message
      assert.is_truthy(said:find("the linker '" .. linker .. "' has none", 1, true), said)
    end
    failure("value", damo.Mode, { dir = "/tmp" })
    assert.equal("/tmp", damo.Mode({ linker = "cc", dir = "/tmp" }).dir)
  end)

  it("gives the results of the virtual machine, for each shape", function()
    with_folder(function(dir)
      local mode = damo.Mode { linker = "cc", dir = dir }
      local y = damo.grad(damo.sum(damo.sqr(x[{ { 2 } }] - x[{ { 1, -2 } }])), x)
      local f, g = damo.compile({ x }, y, { mode = mode }), damo.compile({ x }, y)
      for n = 2, 4 do
        local v = damo.arange(n) * damo.arange(n) * 0.3
        assert.same(g(v):totable(), f(v):totable())
        assert.same(g(v):totable(), f(v):totable())
      end
      local v = damo.array { 1, 5, 2, 7, 3 }[{ { -1, 1, -2 } }]
      assert.same(g(v):totable(), f(v):totable()) -- strided
      assert.equal(3, #files(dir))
      local again = damo.compile({ x }, y, { mode = mode })
      assert.same(g(v):totable(), again(v):totable())
      assert.equal(3, #files(dir))
    end)
  end)

  it("makes the updates of shared Variables and generators", function()
    local w = damo.shared(damo.array { 1, 2, 3 }, "w")
    local f = damo.compile({ x }, damo.sum(w * x),
      { updates = { [w] = w + x }, mode = damo.Mode { linker = "cc" } })
    assert.equal(6, f(damo.array { 1, 1, 1 }))
    assert.equal(9, f(damo.array { 1, 1, 1 }))
    assert.same({ 3, 4, 5 }, w:get_value():totable())
    w:set_value(damo.array { 0, 0, 0 })
    assert.equal(0, f(damo.array { 1, 1, 1 }))
  end)

  it("gives the virtual machine's errors, and changes nothing then", function()
    local k, w = damo.lscalar "k", damo.shared(0.5, "w")
    local f = damo.compile({ x, k }, x[k] + w, { updates = { [w] = w + 1 }, mode = damo.Mode { linker = "cc" } })
    assert.equal(2.5, f(damo.array { 1, 2 }, 2))
    local ok, err = pcall(f, damo.array { 1, 2 }, 3)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("index error", 1, true), tostring(err))
    assert.equal(1.5, w:get_value())
    ok, err = pcall(f, damo.array { { 1 } }, 1)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("type error", 1, true), tostring(err))
  end)

  it("writes into targets and keeps names of inputs", function()
    local mode = damo.Mode { linker = "cc" }
    local f = damo.compile({ damo.In(x, { name = "points" }) }, x * 2, { mode = mode })
    local to = damo.zeros { 3 }
    f:into(to)(damo.array { 1, 2, 3 })
    assert.same({ 2, 4, 6 }, to:totable())
    local ok, err = pcall(f)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("points", 1, true), tostring(err))
  end)

  it("refuses what can't be exported, when compiling", function()
    local equation = damo.linalg.solve_continuous_are(A, A, A, A)
    local ok, err = pcall(damo.compile, { A }, equation, { mode = damo.Mode { linker = "cc" } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("not_implemented", 1, true), tostring(err))
    assert.truthy(tostring(err):find("Riccati", 1, true), tostring(err))
    ok, err = pcall(damo.Mode, { linker = "ccc" })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("linker", 1, true), tostring(err))
  end)

  it("says that there is no compiler", function()
    local out = child([[
local damo = require "damo"
local x = damo.dvector "x"
local f = damo.compile({ x }, x * 2, { mode = damo.Mode { linker = "cc" } })
print(pcall(f, damo.array { 1 }))]], "CC=/nowhere/cc")
    assert.truthy(out:find("there is no C compiler", 1, true), out)
  end)

  it("writes no graph that could not be read", function()
    local f = damo.compile({ x }, x * 2, { mode = damo.Mode { linker = "cc" } })
    local ok, err = pcall(damo.io.format, f, { format = "graph" })
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
    assert.truthy(err.message:find("CompiledC can't be in a file", 1, true), err.message)
  end)

  it("is not there in a sandbox", function()
    local out = child([[
local damo = require "damo"
local x = damo.dvector "x"
local f = damo.compile({ x }, x * 2, { mode = damo.Mode { linker = "cc" } })
damo.config.sandbox = true
print(pcall(f, damo.array { 1 }))]])
    assert.truthy(out:find("sandbox", 1, true), out)
  end)
end)
