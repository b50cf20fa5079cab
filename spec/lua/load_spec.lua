-- What `require "damo"` loads, and from where.

--- Runs a script in a new interpreter; returns what it prints.
local function run(script)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local pipe = assert(io.popen(("'%s' '%s' 2>&1"):format(arg[-1] or "lua", path)))
  local out = pipe:read "a"
  pipe:close()
  os.remove(path)
  return out
end

describe("loading damo", function()
  -- Tables and closures take more on the Luas before 5.4.
  local limit = _VERSION == "Lua 5.4" and 400 or jit and 420 or 550 -- luacheck: ignore
  it("takes less than " .. limit .. " KB of Lua's heap", function()
    local out = run [[
      pcall(require, "ffi") -- LuaJIT's own library, which is no part of damo
      collectgarbage()
      local before = collectgarbage "count"
      require "damo"
      collectgarbage()
      collectgarbage()
      print(collectgarbage "count" - before)]]
    assert.is_true((tonumber(out) or math.huge) < limit, out)
  end)

  it("leaves optimisers, plots and progress for when they are used", function()
    local out = run [[
      local damo = require "damo"
      local lazy = { "optim", "plot", "progress" }
      for _, name in ipairs(lazy) do assert(not package.loaded["damo." .. name], name) end
      for _, name in ipairs(lazy) do assert(damo[name] == require("damo." .. name), name) end
      print "well"]]
    assert.equal("well\n", out)
  end)

  it("of all parts leaves nothing to load later", function()
    local out = run [[
      require "damo.all"
      local left = { meta = true, all = true, front = true, prompt = true, line_editor = true, completion = true }
      for path in io.popen "ls lua/damo/*.lua":lines() do
        local name = path:match "lua/damo/(.*)%.lua"
        if not name:find "^help" and name ~= "init" then
          assert(left[name] or package.loaded["damo." .. name], name)
        end
      end
      package.path, package.cpath = "", ""
      local damo = require "damo"
      local x = damo.dvector "x"
      damo.scan(function(h) return h * 2 end, { outputs_info = { x }, n_steps = 3 })
      damo.jacobian(x ^ 2, x)
      damo.vectorize(function(a) return a * 2 end, "(n)->(n)")
      damo.compile({ { a = x } }, { { b = x * 2 } })
      damo.pack(x, x)
      damo.nn.relu(damo.dist.Normal(0, 1):logp(x))
      local ok, err = pcall(damo.exp, print)
      assert(not ok and tostring(err):find "exp")
      print(damo.printing.debugprint(x), damo.optim, damo.plot)]]
    assert.truthy(out:find "^x", out)
  end)

  it("works from strings in package.preload, without a path", function()
    local out = run [[
      local code = {}
      for path in io.popen "ls lua/damo/*.lua":lines() do
        local name = path:match "lua/damo/(.*)%.lua"
        if name ~= "meta" then
          local file = assert(io.open(path))
          local text = file:read "*a"
          file:close()
          code[name == "init" and "damo" or "damo." .. name] = text
        end
      end
      for name, text in pairs(code) do package.preload[name] = assert((loadstring or load)(text, "=" .. name)) end
      package.preload["damo.core"] = package.loadlib(os.getenv "DAMO_BUILT_CORE", "luaopen_damo_core")
      package.path, package.cpath = "", ""
      local damo = require "damo"
      for name in pairs(code) do require(name) end
      print(damo.sum { 1, 2 })]]
    assert.equal(tostring(3.0) .. "\n", out)
  end)
end)
