-- .safetensors: named Arrays and texts, both ways; files of others are not trusted.
local damo = require "damo"
local failure = require "spec.support.failure"

--- Unsigned integers of `size` bytes each, little-endian.
local function bytes(size, ...)
  local out = {}
  for i, value in ipairs { ... } do
    for k = 1, size do out[size * (i - 1) + k] = string.char(math.floor(value / 256 ^ (k - 1)) % 256) end
  end
  return table.concat(out)
end

local function file(json, data) return bytes(8, #json) .. json .. (data or "") end
local function parse(json, data) return damo.io.parse(file(json, data), { format = "safetensors" }) end

describe("safetensors", function()
  it("come back with their metadata", function()
    local path = os.tmpname() .. ".safetensors"
    local values = { layers = { { w = damo.array { { 1, 2 }, { 3, 4 } } } }, b = damo.array({ 1, 0 }, "bool"),
      ["a\"\\\n"] = damo.array({ 5 }, "int16"), none = damo.zeros { 0, 3 } }
    damo.io.save(path, values, { metadata = { format = "pt", ["ü"] = "\"x\"" } })
    local t, meta = damo.io.load(path)
    os.remove(path)
    assert.same({ format = "pt", ["ü"] = "\"x\"" }, meta)
    assert.equal(4, t.layers[1].w[2][2])
    assert.equal("bool", t.b.dtype)
    assert.equal(5, t["a\"\\\n"][1])
    assert.same({ 0, 3 }, { t.none.shape[1], t.none.shape[2] })
    local text = damo.io.format(values, { format = "safetensors" })
    assert.equal(text, damo.io.format(damo.io.parse(text), { format = "safetensors" }))
    failure("type", damo.io.format, { z = damo.array({ 1 }, "complex128") }, { format = "safetensors" })
    failure("value", damo.io.save, "x.npz", {}, { metadata = {} })
  end)

  it("have 16-bit floats, which are read as float32", function()
    local h = parse('{"h":{"dtype":"F16","shape":[5],"data_offsets":[0,10]}}',
      bytes(2, 0x3C00, 0xC100, 0x0001, 0x7C00, 0x8000)).h
    assert.equal("float32", h.dtype)
    assert.same({ 1, -2.5, 2 ^ -24, math.huge, 0 }, h:totable())
    local b = parse('{"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}', bytes(2, 0x3F80, 0xC020)).b
    assert.same({ 1, -2.5 }, b:totable())
  end)

  it("that lie are refused", function()
    local function u8(n, b, e) return ('{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}'):format(n, b, e) end
    local bad = {
      ["an overlap"] = { '{"a":' .. u8(2, 0, 2) .. ',"b":' .. u8(2, 1, 3) .. "}", "xyz" },
      ["a hole"] = { '{"a":' .. u8(1, 0, 1) .. ',"b":' .. u8(1, 2, 3) .. "}", "xyz" },
      ["of no tensor"] = { '{"a":' .. u8(1, 0, 1) .. "}", "xy" },
      ["ends behind"] = { '{"a":' .. u8(3, 0, 3) .. "}", "xy" },
      ["which its shape"] = { '{"a":' .. u8(3, 0, 2) .. "}", "xy" },
      ["'a' twice"] = { '{"a":' .. u8(1, 0, 1) .. ',"a":' .. u8(1, 1, 2) .. "}", "xy" },
      ["F8_E4M3 is not"] = { '{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}', "x" },
      ["stands twice"] = { '{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', "x" },
      ["out of range"] = { '{"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}}', "x" },
      ["something follows"] = { "{}x" },
      ["leading zeros"] = { '{"a":{"dtype":"U8","shape":[01],"data_offsets":[0,1]}}', "x" },
      ["not UTF%-8"] = { '{"\255":' .. u8(1, 0, 1) .. "}", "x" },
      ["zero byte"] = { '{"\\u0000":' .. u8(1, 0, 1) .. "}", "x" },
      ["lacks dtype"] = { '{"a":{}}' },
    }
    for message, case in pairs(bad) do
      assert.matches(message, failure("io", parse, case[1], case[2]).message)
    end
    local whole = damo.io.format({ a = { 1, 2 } }, { format = "safetensors" })
    for n = 0, #whole - 1 do failure("io", damo.io.parse, whole:sub(1, n), { format = "safetensors" }) end
    failure("io", damo.io.parse, ("\255"):rep(8) .. "{", { format = "safetensors" })
  end)
end)
