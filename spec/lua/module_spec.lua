-- A Lua module in C that is loaded beside damo.core (src/damo_module.h; spec/support/module.c).
local damo = require "damo"
local failure = require "spec.support.failure"

local lua_flags = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
local folder = os.tmpname()
os.remove(folder)

local function build()
  local compile = "mkdir %s && ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fPIC -shared -Isrc $(pkg-config --cflags %s) "
    .. "spec/support/module.c -o %s/module.so"
  assert(os.execute("env -u LD_PRELOAD sh -c '" .. compile:format(folder, lua_flags, folder) .. "'"))
  return assert(package.loadlib(folder .. "/module.so", "luaopen_module"))()
end

describe("a module in C beside damo.core", function()
  local module

  lazy_setup(function() module = build() end)
  lazy_teardown(function() os.execute("rm -r " .. folder) end)

  it("sees what a value of a script is", function()
    assert.equal("array", module.kind(damo.array { 1 }))
    assert.equal("sparse", module.kind(damo.sparse.csr_from_dense(damo.eye(2))))
    assert.equal("variable", module.kind(damo.dvector "x"))
    assert.equal("op", module.kind(damo.exp(damo.dvector "x").owner.op))
    assert.equal("other", module.kind(damo.dvector("x").type))
    for _, other in ipairs { 1, "x", {}, io.stdout, print } do assert.is_nil(module.kind(other)) end
    assert.is_nil(module.kind())
    assert.is_nil(module.nothing())
  end)

  it("makes Variables, which are the script's own objects", function()
    local x = damo.dvector "x"
    local y = module.double(x)
    assert.is_true(y.owner.inputs[1] == x)
    assert.same({ 2, 4 }, damo.compile({ x }, y)(damo.array { 1, 2 }):totable())
  end)

  it("makes nodes with the script's lines", function()
    local x = damo.dvector "x"
    local line = debug.getinfo(1, "l").currentline + 1
    local y = module.double(x)
    assert.truthy(y.tag.trace[1]:find("module_spec.lua:" .. line .. "$"), y.tag.trace[1])
  end)

  it("raises damo's error object", function()
    failure("value", function() module.double(nil) end)
    local freed = damo.array { 1 }
    freed:free()
    failure("state", function() module.kind(freed) end)
  end)

  it("runs each node of an impure class, in the graph's order, on constants and in loops too", function()
    local one = damo.array { 1, 1 }
    local a, b = damo.ops.Count { which = 1 }(one), damo.ops.Count { which = 1 }(one)
    local f = damo.compile({}, { a, b, damo.ops.Count { which = 2 }(a) })
    local first = { f() }
    assert.same({ 1, 2, 3 }, { first[1][1], first[2][1], first[3][1] })
    local again = { f() }
    assert.same({ 4, 5, 6 }, { again[1][1], again[2][1], again[3][1] })

    local debug = damo.compile({ damo.dvector "x" }, damo.ops.Count { which = 4 }(one), {
      mode = "DEBUG", on_unused_input = "ignore" })
    assert.equal(7, debug(one)[1]) -- once, and it is nobody's fault that a second run would give 8

    local s = damo.scan(function(c) return c + damo.ops.Count { which = 3 }(one) end,
      { outputs_info = damo.constant(damo.zeros(2)), n_steps = 4 })
    local results = damo.compile({}, s)()
    assert.same({ 8, 17, 27, 38 }, { results[1][1], results[2][1], results[3][1], results[4][1] })
  end)
end)
