-- elementwise graphs of 0-d values as machine code (src/op/elem/elem_jit.c): each op and cast has the kernels' bits, on
-- special values of each dtype that machine code has.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local enabled = damo.info().jit.enabled
local unpack = table.unpack or _G.unpack

-- The bits of a number or bool as text; any nan is any nan.
local function bits(v)
  if v ~= v then return "nan" end
  if v == 0 then return 1 / v < 0 and "-0" or "0" end
  return type(v) == "number" and ("%.17g"):format(v) or tostring(v)
end

local values = {
  float64 = { 0, -0.0, 1, -1, 0.5, -2.5, 2.5, 1 / 0, -1 / 0, 0 / 0, 1e300, 4.5e-310, 0.7 },
  float32 = { 0, -0.0, 1, -1, 0.5, -2.5, 1 / 0, -1 / 0, 0 / 0, 1e30, 1e-40, 0.75 },
  int64 = { 0, 1, -1, 7, -8, 2 ^ 53, -2 ^ 53, 3 },
  int32 = { 0, 1, -1, 7, -8, 2147483647, -2147483648, 3 },
  bool = { true, false },
}
local dtypes = { "float64", "float32", "int64", "int32", "bool" }

-- How many calls come before a Loop becomes machine code.
local WARM = 220

local n_made = 0 -- Functions that became machine code

-- Functions of operands of these dtypes with and without machine code give the same for all combinations of values.
local function compare(what, operands, make)
  local inputs = {}
  for i, dtype in ipairs(operands) do inputs[i] = damo.scalar("x" .. i, { dtype = dtype }) end
  local ok, made = pcall(make, inputs)
  if not ok then return end
  local real, others = {}, 0
  for i = 1, #inputs do real[i] = damo.cast(inputs[i], "float64") end
  for k = 1, 5 do others = others * 0.5 + real[(k - 1) % #real + 1] * k end -- enough operations for machine code
  local options = { on_unused_input = "ignore" }
  local f = damo.compile(inputs, { made, others + damo.cast(made, "float64") }, options)
  options.mode = damo.Mode { jit = false }
  local g = damo.compile(inputs, { made, others + damo.cast(made, "float64") }, options)
  local at, last = {}, 1
  for i, dtype in ipairs(operands) do
    at[i] = 1
    last = last * #values[dtype]
  end
  local args = {}
  for i, dtype in ipairs(operands) do args[i] = values[dtype][1] end
  local before = damo.info().jit.bytes
  for _ = 1, WARM do f(unpack(args)) end
  n_made = n_made + (damo.info().jit.bytes > before and 1 or 0)
  for _ = 1, last do
    for i, dtype in ipairs(operands) do args[i] = values[dtype][at[i]] end
    local r1, r2 = f(unpack(args))
    local s1, s2 = g(unpack(args))
    local text = what .. " of " .. table.concat({ tostring(args[1]), tostring(args[2]), tostring(args[3]) }, ", ")
    if bits(s1) ~= bits(r1) or bits(s2) ~= bits(r2) then
      assert.equal(bits(s1), bits(r1), text)
      assert.equal(bits(s2), bits(r2), text .. ", in a sum")
    end
    for i, dtype in ipairs(operands) do
      at[i] = at[i] % #values[dtype] + 1
      if at[i] > 1 then break end
    end
  end
  f:free()
  g:free()
end

local unary = { "neg", "abs", "sign", "sqr", "sqrt", "reciprocal", "ceil", "floor", "trunc", "round_half_to_even",
  "round_half_away_from_zero", "isnan", "isinf", "invert", "exp", "log", "sin", "tanh", "erf", "deg2rad", "rad2deg",
  "real", "imag", "angle", "conj" }
local binary = { "add", "sub", "mul", "true_div", "floor_div", "mod", "pow", "maximum", "minimum", "eq", "neq", "lt",
  "le", "gt", "ge", "and_", "or_", "xor", "second", "arctan2", "hypot", "logaddexp" }

describe("machine code of elementwise ops has the kernels' bits", function()
  it("for operands of one and two", function()
    for _, dtype in ipairs(dtypes) do
      for _, name in ipairs(unary) do
        compare(name .. " " .. dtype, { dtype }, function(x) return damo[name](x[1]) end)
      end
      for _, name in ipairs(binary) do
        compare(name .. " " .. dtype, { dtype, dtype }, function(x) return damo[name](x[1], x[2]) end)
      end
    end
  end)

  it("for operands of mixed dtypes", function()
    for i, first in ipairs(dtypes) do
      for k, second in ipairs(dtypes) do
        local name = binary[(5 * i + k) % #binary + 1]
        compare(name .. " " .. first .. " " .. second, { first, second }, function(x) return damo[name](x[1], x[2]) end)
      end
    end
  end)

  it("for casts, switch and clip", function()
    for _, from in ipairs(dtypes) do
      for _, to in ipairs(dtypes) do
        compare("cast " .. from .. " " .. to, { from }, function(x) return damo.cast(x[1], to) end)
      end
      compare("switch " .. from, { "bool", from, from }, function(x) return damo.switch(x[1], x[2], x[3]) end)
      compare("clip " .. from, { from, from, from }, function(x) return damo.clip(x[1], x[2], x[3]) end)
    end
  end)

  it("where it is made, as it is for most of them", function()
    if enabled then assert.is_true(n_made > 200, tostring(n_made)) end
  end)

  it("and it is made after some calls, but not in a Mode without it", function()
    local x, y = damo.dscalar "x", damo.dscalar "y"
    local z = x
    for i = 1, 10 do z = z * y + (x - i) / (y + i) end
    local function made(mode)
      garbage.collect()
      local before = damo.info().jit.bytes
      local f = damo.compile({ x, y }, z, { mode = mode })
      for _ = 1, WARM do f(1.5, 2.5) end
      return damo.info().jit.bytes > before
    end
    assert.equal(enabled, made())
    assert.is_false(made(damo.Mode { jit = false }))
    assert.is_false(made "FAST_COMPILE")
  end)
end)
