-- run.lua: times damo alone; bench/peers.py compares it with its peers.

package.path = (arg[0]:match("^(.*)/") or ".") .. "/?.lua;" .. package.path
local cases = require "cases"
local unpack = table.unpack or unpack -- luacheck: ignore

local plan = {
  { "call", 1000000, "f(x) = x*x + 1, number in and out", 1e9, "ns a call" },
  { "native_op", 100000, "a native Op, its kernel of one number included", 1e9, "ns an Op" },
  { "lua_op", 300000, "an Op written in Lua, above its own Lua code", 1e9, "ns a call" },
  { "compile", 5, "digits network: build, differentiate, compile, first call", 1e3, "ms" },
  { "compile_again", 20, "digits network: the same where an equal graph was compiled before", 1e3, "ms" },
  { "step", 200, "digits network: training step, batch of 64", 1e6, "us a step" },
  { "elemwise", 10, "exp(-x*x)*tanh(x) + 1 over 1e6 entries", 1e3, "ms" },
  { "chain", 10000, "chain of 10,000 products: gradient and compile", 1e6, "us a node" },
}

for _, row in ipairs(plan) do
  local name, n, what, scale, unit = unpack(row)
  local run = cases[name]()
  run(math.max(1, math.floor(n / 10)))
  local times = {}
  for i = 1, 5 do times[i] = run(n) / n end
  table.sort(times)
  print(string.format("%-58s %10.3f %s", what, times[3] * scale, unit))
end
