-- examples/host_op.c, a host with its own Op, compiled and run; and damo.ops without a host.
local damo = require "damo"
local failure = require "spec.support.failure"

local function run(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1; echo status $?"))
  local text = pipe:read("a")
  pipe:close()
  return text
end

it("examples/host_op.c registers an Op that its script uses by name", function()
  local built = os.getenv("DAMO_BUILT_CORE")
  local version = _VERSION:match("%d%.%d")
  if not built or version ~= "5.4" then return end
  local library = built:gsub("lua/damo/core.so$", "libdamo.a")
  local sanitize = os.getenv("DAMO_MODE") == "asan" and " -fsanitize=address,undefined" or ""
  local program = os.tmpname()
  local command = "cc -std=c11 -Wall -Wextra -Werror -Isrc%s examples/host_op.c %s"
    .. " $(pkg-config --cflags --libs lua5.4) $(make -s print-libs 2>/dev/null) -o %s"
  local compiled = run("env -u LD_PRELOAD " .. command:format(sanitize, library, program))
  assert.equal("status 0\n", compiled)
  local text = run(("LD_PRELOAD= LUA_PATH='lua/?.lua;lua/?/init.lua' LUA_CPATH= %s"):format(program))
  os.remove(program)
  assert.truthy(text:find("status 0\n", 1, true), text)
  assert.truthy(text:find("SoftClip{low=-2, high=2}", 1, true), text)
  assert.truthy(text:find("fitted\t[-1.   0.5  1.5]", 1, true), text)
  assert.truthy(text:find("type\tSoftClip: the input must be of dtype float64", 1, true), text)
end)

it("damo.ops refuses a class that is not registered", function()
  local e = failure("value", function() return damo.ops.NoSuchOp end)
  assert.truthy(e.message:find("NoSuchOp", 1, true))
end)
