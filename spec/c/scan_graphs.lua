-- Writes scan_graphs.h, graphs of loops over time and their gradients as bytes of files, for reproducible_test.c:
-- damo.h has no function that makes a Scan, but reads graphs. From the root of the tree:
-- lua5.4 spec/c/scan_graphs.lua > spec/c/scan_graphs.h
local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

local graphs = {}

-- A graph of the results, and of the gradients of the sum of all of them, for inputs of these shapes.
local function graph(name, dtype, shapes, build)
  local inputs = {}
  for i, shape in ipairs(shapes) do inputs[i] = damo.TensorType(dtype, shape)() end
  local outputs = { build(unpack(inputs)) }
  local cost
  for _, y in ipairs(outputs) do cost = cost and cost + damo.sum(y) or damo.sum(y) end
  for _, g in ipairs(damo.grad(cost, inputs)) do outputs[#outputs + 1] = g end
  graphs[#graphs + 1] = { name = name,
    bytes = damo.io.format({ inputs = inputs, outputs = outputs }, { format = "graph", lines = false }) }
end

for _, dtype in ipairs { "float64", "float32" } do
  graph("the Lorenz system " .. dtype, dtype, { {}, {} }, function(x0, rho)
    local function one() return damo.constant(damo.ones({}, { dtype = dtype })) end
    local x, y, z = damo.scan(function(x, y, z)
      return x + 0.01 * 10 * (y - x), y + 0.01 * (x * (rho + 25 - z) - y), z + 0.01 * (x * y - 8 / 3 * z)
    end, { outputs_info = { x0, one(), one() }, n_steps = 300 })
    return x[-1] + y[-1] * z[-1], x
  end)
  graph("a recurrent network " .. dtype, dtype, { { 20, 5, 7 }, { 7, 11 }, { 11, 11 } }, function(x, w, u)
    local h = damo.scan(function(xt, before) return damo.tanh(damo.dot(xt, w) + damo.dot(before, u) / 4) end,
      { sequences = x, outputs_info = damo.zeros({ 5, 11 }, { dtype = dtype }) })
    return damo.sum(damo.sqr(h[-1])), h
  end)
  graph("a map " .. dtype, dtype, { { 30, 3, 3 } }, function(x)
    return damo.map(function(a) return damo.sum(damo.exp(a) * a:transpose(), { axis = 1 }) end, { sequences = x })
  end)
end
graph("Newton's method", "float64", { { 20 } }, function(y)
  local x = damo.scan(function(x)
    local step = (damo.exp(x) - damo.sqr(y)) / damo.exp(x)
    return x - step, damo.until_(damo.lt(damo.max(damo.abs(step)), 1e-9))
  end, { outputs_info = damo.ones { 20 }, n_steps = 200 })
  return x[-1], x
end)

print("/* Written by scan_graphs.lua. */\n/* clang-format off */")
for i, g in ipairs(graphs) do
  print(("\n/* %s */\nstatic const unsigned char scan_graph_%d[] = {"):format(g.name, i))
  local line = " "
  for k = 1, #g.bytes do
    local item = (" %d,"):format(g.bytes:byte(k))
    if #line + #item > 118 then
      print(line)
      line = " "
    end
    line = line .. item
  end
  print(line .. "\n};")
end
print "\nstatic const struct {\n  const char *name;\n  const unsigned char *bytes;\n  size_t n;\n} scan_graphs[] = {"
for i, g in ipairs(graphs) do
  print(('    {"%s", scan_graph_%d, sizeof scan_graph_%d},'):format(g.name, i, i))
end
print "};"
