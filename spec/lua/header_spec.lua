-- spec/c/api_args_test.c calls every function that damo.h declares with invalid arguments.
local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- Functions that take a lua_State; host_test.c does it for these.
local elsewhere = {
  luaopen_damo_core = true, damo_lua_set_context = true, damo_lua_get_context = true, damo_lua_get = true,
  damo_lua_push = true, damo_lua_raise = true,
}
-- Functions without invalid arguments: a new context's allocator may be NULL.
local anything_goes = { damo_ctx_new = true }

local header = dofile "make/public_header.lua"()

describe("damo.h", function()
  it("declares what LuaJIT's ffi is told", function()
    local status = os.execute "sh make/front-types --check"
    assert.is_true(status == true or status == 0)
  end)

  it("declares only functions that are tried with wrong arguments", function()
    local tried, n = read "spec/c/api_args_test.c", 0
    for name in header:gmatch "\nDAMO_API [^;(]-([%w_]+)%(" do
      n = n + 1
      if not (elsewhere[name] or anything_goes[name]) then
        assert.truthy(tried:find(name .. "%("), name .. " is not in spec/c/api_args_test.c")
      end
    end
    assert.is_true(n > 90)
  end)

  it("declares no function without a comment before it, or before the group that it stands in", function()
    for block in (header .. "\n\n"):gmatch "(.-)\n\n" do
      local comment, function_ = block:find("/*", 1, true), ("\n" .. block):find "\nDAMO_API "
      if function_ then assert.is_true(comment ~= nil and comment <= function_, block) end
    end
  end)

  it("declares only functions that a C test calls correctly", function()
    local all = {}
    for path in io.popen("ls spec/c/*.[ch]"):lines() do
      if not path:find("api_args_test", 1, true) then all[#all + 1] = read(path) end
    end
    all = table.concat(all)
    for name in header:gmatch "\nDAMO_API [^;(]-([%w_]+)%(" do
      assert.truthy(elsewhere[name] or all:find(name .. "[%(,]"), name .. " is called by no C test but api_args_test.c")
    end
  end)
end)
