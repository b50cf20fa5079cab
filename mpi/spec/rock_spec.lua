-- What the rock installs works from where it is installed, without the source tree's files of damo-mpi.
local mpi = require "damo.mpi"
if mpi.size > 1 then return end -- mpirun is started here

local build = assert(package.searchpath("damo.mpi.core", package.cpath)):match "^(.*)/mpi/lua/damo/mpi/core%.so$"

local function run(command)
  local pipe = assert(io.popen(("env -u MAKEFLAGS -u MFLAGS sh -c '%s' 2>&1"):format(command)))
  local out = pipe:read "*a"
  local ok = pipe:close()
  return ok, out
end

describe("the rock", function()
  local folder = os.tmpname()
  os.remove(folder)

  it("is a valid one", function()
    local ok, out = run "luarocks --lua-version 5.4 lint rocks/damo-mpi-scm-1.rockspec"
    assert(ok, out)
    assert.is_nil(out:find "rror", out)
  end)

  it("installs what a job needs", function()
    local here = select(2, run "pwd"):match "[^\n]+"
    local ok, out = run(("make -f mpi/Makefile LB=%s LUADIR=%s/lua LIBDIR=%s/so install"):format(
      build:gsub("^" .. here:gsub("%p", "%%%0") .. "/", ""), folder, folder))
    assert(ok, out)
    local script = assert(io.open(folder .. "/job.lua", "w"))
    script:write [[
      local damo, mpi = require "damo", require "damo.mpi"
      assert(package.searchpath("damo.mpi.core", package.cpath):find(arg[1], 1, true))
      assert(package.searchpath("damo.mpi", package.path):find(arg[1], 1, true))
      if mpi.allreduce(1) == 2 then mpi.print "two ranks met" end
    ]]
    script:close()
    -- damo itself is the built one.
    local paths = ("LUA_PATH=\"%s/lua/?.lua;%s/lua/?/init.lua;%s/lua/?.lua;%s/lua/?/init.lua\""):format(folder, folder,
      here, here)
    local cpath = ("LUA_CPATH=\"%s/so/?.so;%s/lua/?.so\""):format(folder, build)
    ok, out = run(("%s %s sh mpi/launch 2 %s -ldamo.mpi.launch %s/job.lua %s"):format(paths, cpath,
      os.getenv "LUA" or "lua5.4", folder, folder))
    assert(ok, out)
    assert.is_truthy(out:find("two ranks met", 1, true), out)
  end)

  teardown(function() run(("rm -rf %s"):format(folder)) end)
end)
