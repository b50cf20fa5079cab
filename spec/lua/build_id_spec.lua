-- The Lua files and damo.core of one build belong together.

local child = require "spec.support.child"
local with_folder = require "spec.support.folder"

local core = os.getenv "DAMO_BUILT_CORE"

local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "*a"
  f:close()
  return text
end

local function write(path, text)
  local f = assert(io.open(path, "wb"))
  assert(f:write(text))
  f:close()
end

--- The module as another build would have it, in DIR/damo/core.so.
local function write_stale_core(dir)
  local id = require "damo.build_id"
  local other = id:reverse() ~= id and id:reverse() or ("0"):rep(#id)
  local text, count = read(core):gsub(id, other)
  assert(count > 0, "the module holds its id")
  assert(os.execute("mkdir -p '" .. dir .. "/damo'"))
  write(dir .. "/damo/core.so", text)
  return other
end

describe("The id of a build", function()
  it("is the same in the Lua files and in damo.core, and no name of damo", function()
    local damo = require "damo"
    local build = require "damo.core".build
    assert.equal(require "damo.build_id", build.id)
    assert.matches("^%x+$", build.id)
    assert.matches("core.so", build.file, 1, true)
    assert.is_nil(damo.build)
  end)

  it("that is not equal is an error that names both files", function()
    with_folder(function(dir)
      local other = write_stale_core(dir)
      local out, ok = child(([[
        local path = package.cpath
        package.cpath = %q .. path
        local ok, why = pcall(require, "damo")
        print(ok, why)
        assert(package.loaded["damo"] == nil and package.loaded["damo.core"] == nil)
        print(pcall(require, "damo") == false)
        package.loaded["damo.core"], package.cpath = nil, path -- the installed one, once it comes first
        print(require "damo".sum { 1, 2 })
      ]]):format(dir .. "/?.so;"))
      assert.is_true(ok, out)
      assert.matches(dir .. "/damo/core.so is of build " .. other, out, 1, true)
      assert.matches("damo/init.lua of build " .. require "damo.build_id", out, 1, true)
      assert.matches("\ntrue\n3", out)
    end)
  end)

  it("of Lua files from another build is found too", function()
    local out = child [[
      package.preload["damo.build_id"] = function() return "0123456789abcdef" end
      print(pcall(require, "damo"))
    ]]
    assert.matches("init.lua of build 0123456789abcdef", out, 1, true)
    assert.matches("core.so is of build " .. require "damo.build_id", out, 1, true)
  end)

  it("is not compared where a host has the modules without it", function()
    local out, ok = child [[
      package.preload["damo.build_id"] = function() error "left out" end
      print(require "damo".sum { 1, 2 })
    ]]
    assert.is_true(ok, out)
    assert.matches("^3", out)
  end)
end)
