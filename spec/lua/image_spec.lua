-- Images as PNG and PPM; .npz compressed, .npy mapped. The PNGs of every kind that the reader must know are written
-- here, stored rather than deflated.
local damo = require "damo"
local failure = require "spec.support.failure"

local floor, char = math.floor, string.char

-- ---- A writer of PNGs -----------------------------------------------------------------------------------------------

local function xor(a, b)
  local r, bit = 0, 1
  while a > 0 or b > 0 do
    if a % 2 ~= b % 2 then r = r + bit end
    a, b, bit = floor(a / 2), floor(b / 2), bit * 2
  end
  return r
end

local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do c = c % 2 == 1 and xor(floor(c / 2), 0xEDB88320) or floor(c / 2) end
  crc_table[i] = c
end

local function crc(s)
  local c = 0xFFFFFFFF
  for i = 1, #s do c = xor(crc_table[xor(c % 256, s:byte(i))], floor(c / 256)) end
  return xor(c, 0xFFFFFFFF)
end

local function big(v) return char(floor(v / 2 ^ 24) % 256, floor(v / 65536) % 256, floor(v / 256) % 256, v % 256) end
local function chunk(name, data) return big(#data) .. name .. data .. big(crc(name .. data)) end

local function stored(data) -- a zlib stream of one stored block
  local a, b = 1, 0
  for i = 1, #data do
    a = (a + data:byte(i)) % 65521
    b = (b + a) % 65521
  end
  local n = #data
  return "\120\1\1" .. char(n % 256, floor(n / 256), 255 - n % 256, 255 - floor(n / 256)) .. data .. big(b * 65536 + a)
end

local function paeth(a, b, c)
  local p = a + b - c
  local pa, pb, pc = math.abs(p - a), math.abs(p - b), math.abs(p - c)
  return pa <= pb and pa <= pc and a or pb <= pc and b or c
end

local channels_of = { [0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4 }

-- The rows of the pixels x0, x0 + dx …, filtered by 0 to 4 by turns. pixel(x, y) gives the samples.
local function pass(o, pixel, x0, y0, dx, dy)
  local out, before = {}, {}
  local n, filter = channels_of[o.color], 0
  local step = math.max(1, floor(n * o.depth / 8))
  if x0 >= o.width then return "" end
  for y = y0, o.height - 1, dy do
    local bits, row = {}, {}
    for x = x0, o.width - 1, dx do
      local samples = pixel(x, y)
      for k = 1, n do
        for bit = o.depth - 1, 0, -1 do bits[#bits + 1] = floor(samples[k] / 2 ^ bit) % 2 end
      end
    end
    while #bits % 8 ~= 0 do bits[#bits + 1] = 0 end
    for i = 1, #bits, 8 do
      local v = 0
      for k = 0, 7 do v = 2 * v + bits[i + k] end
      row[#row + 1] = v
    end
    local line = { char(filter) }
    for i = 1, #row do
      local a, b, c = row[i - step] or 0, before[i] or 0, before[i - step] or 0
      local p = ({ 0, a, b, floor((a + b) / 2), paeth(a, b, c) })[filter + 1]
      line[i + 1] = char((row[i] - p) % 256)
    end
    out[#out + 1] = table.concat(line)
    before, filter = row, (filter + 1) % 5
  end
  return table.concat(out)
end

local adam7 = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 }, { 0, 2, 2, 4 }, { 1, 0, 2, 2 },
  { 0, 1, 1, 2 } }

local function png(o, pixel)
  local parts = {}
  for i, p in ipairs(o.interlaced and adam7 or { { 0, 0, 1, 1 } }) do
    parts[i] = pass(o, pixel, p[1], p[2], p[3], p[4])
  end
  local data = stored(table.concat(parts))
  local half = floor(#data / 2)
  return "\137PNG\r\n\26\n" .. chunk("IHDR", big(o.width) .. big(o.height)
    .. char(o.depth, o.color, 0, 0, o.interlaced and 1 or 0)) .. chunk("tEXt", "Comment\0none") .. (o.chunks or "")
    .. chunk("IDAT", data:sub(1, half)) .. chunk("IDAT", "") .. chunk("IDAT", data:sub(half + 1)) .. chunk("IEND", "")
end

-- ---- Reading --------------------------------------------------------------------------------------------------------

local function noise(x, y, k, depth) return (x * 7919 + y * 104729 + k * 31337 + x * y * 17) % 2 ^ depth end

local function check(o, channels, value)
  local a = damo.io.parse(png(o, function(x, y)
    local s = {}
    for k = 1, channels_of[o.color] do s[k] = noise(x, y, k, o.depth) end
    return s
  end))
  local want = {}
  for y = 0, o.height - 1 do
    for x = 0, o.width - 1 do
      for k = 1, channels do want[#want + 1] = value(x, y, k) end
    end
  end
  local shape = { o.height, o.width }
  if channels > 1 then shape[3] = channels end
  assert.equal(o.depth == 16 and "uint16" or "uint8", a.dtype)
  assert.same(shape, { a.shape[1], a.shape[2], a.shape[3] })
  assert.is_true(damo.array_equal(damo.array(want, a.dtype):reshape(shape), a),
    ("color %d, depth %d, %d x %d"):format(o.color, o.depth, o.width, o.height))
end

describe("a PNG", function()
  local sizes = { { 1, 1 }, { 3, 2 }, { 9, 11 }, { 5, 1 } }
  local depths = { [0] = { 1, 2, 4, 8, 16 }, [2] = { 8, 16 }, [4] = { 8, 16 }, [6] = { 8, 16 } }

  it("is read with every colour type, depth, filter and interlacing", function()
    for color, list in pairs(depths) do
      for _, depth in ipairs(list) do
        for _, size in ipairs(sizes) do
          for _, interlaced in ipairs { false, true } do
            local scale = depth < 8 and 255 / (2 ^ depth - 1) or 1
            check({ color = color, depth = depth, width = size[1], height = size[2], interlaced = interlaced },
              channels_of[color], function(x, y, k) return noise(x, y, k, depth) * scale end)
          end
        end
      end
    end
  end)

  it("is read with a palette, and with transparent colours", function()
    for _, depth in ipairs { 1, 2, 4, 8 } do
      local palette, n = {}, 2 ^ depth
      for i = 0, n - 1 do palette[i + 1] = char(i, 255 - i, (i * 7) % 256) end
      local chunks = chunk("PLTE", table.concat(palette))
      local function color(x, y, k)
        local i = noise(x, y, 1, depth)
        return k == 1 and i or k == 2 and 255 - i or k == 3 and (i * 7) % 256 or i == 0 and 10 or i == 1 and 20 or 255
      end
      local o = { color = 3, depth = depth, width = 9, height = 7, chunks = chunks }
      check(o, 3, color)
      o.chunks, o.interlaced = chunks .. chunk("tRNS", "\10\20"), true
      check(o, 4, color)
    end
    local key = noise(2, 3, 1, 8)
    check({ color = 0, depth = 8, width = 6, height = 6, chunks = chunk("tRNS", char(0, key)) }, 2, function(x, y, k)
      local v = noise(x, y, 1, 8)
      return k == 1 and v or v == key and 0 or 255
    end)
  end)

  it("is what was written", function()
    for _, dtype in ipairs { "uint8", "uint16" } do
      for _, shape in ipairs { { 5, 7 }, { 1, 1 }, { 4, 3, 2 }, { 3, 1, 3 }, { 17, 31, 4 } } do
        local n = 1
        for _, d in ipairs(shape) do n = n * d end
        local a = damo.cast(damo.arange(n) * 77 % (dtype == "uint8" and 256 or 65536), dtype):reshape(shape)
        assert.is_true(damo.array_equal(a, damo.io.parse(damo.io.format(a, { format = "png" }))))
        local t = a[{ { -1, 1, -1 } }]
        assert.is_true(damo.array_equal(t, damo.io.parse(damo.io.format(t, { format = "png" }))))
        if shape[3] ~= 2 and shape[3] ~= 4 then
          assert.is_true(damo.array_equal(t, damo.io.parse(damo.io.format(t, { format = "ppm" }))))
        end
      end
    end
    local path = os.tmpname()
    for _, ending in ipairs { ".png", ".ppm", ".pgm" } do
      local a = damo.array({ { 0, 9 }, { 255, 3 } }, "uint8")
      damo.io.save(path .. ending, a)
      assert.is_true(damo.array_equal(a, damo.io.load(path .. ending)))
      os.remove(path .. ending)
    end
    os.remove(path)
  end)

  it("is refused when it is damaged, wherever that is", function()
    local a = damo.cast(damo.arange(60) % 256, "uint8"):reshape { 4, 5, 3 }
    local bytes = damo.io.format(a, { format = "png" })
    for n = 8, #bytes - 1 do failure("io", damo.io.parse, bytes:sub(1, n)) end
    for i = 9, #bytes do
      local other = bytes:sub(1, i - 1) .. char((bytes:byte(i) + 1) % 256) .. bytes:sub(i + 1)
      failure("io", damo.io.parse, other)
    end
    local function lying(width, height) -- a right sum over sizes that are not there
      local head = big(width) .. big(height) .. char(8, 2, 0, 0, 0)
      return bytes:sub(1, 8) .. chunk("IHDR", head) .. bytes:sub(34)
    end
    for _, size in ipairs { { 2 ^ 31 - 1, 2 ^ 31 - 1 }, { 100000, 100000 }, { 5, 5 }, { 0, 4 }, { 2 ^ 32 - 1, 1 } } do
      failure("io", damo.io.parse, lying(size[1], size[2]))
    end
    failure("io", damo.io.parse, bytes, { max_bytes = 59 })
    failure("io", damo.io.parse, png({ color = 3, depth = 8, width = 2, height = 2, chunks = chunk("PLTE", "abc") },
      function() return { 1 } end))
  end)
end)

describe("a PPM", function()
  local function read(text) return damo.io.parse(text, { format = "ppm" }) end
  local function same(want, got) assert.is_true(damo.array_equal(damo.array(want, got.dtype), got), tostring(got)) end

  it("is read as text and as bytes, scaled to its dtype", function()
    same({ { 0, 255 }, { 255, 0 } }, read "P1\n# black is 1\n2 2\n10\n0 1\n")
    same({ { 0, 255, 51 } }, read "P2 3 1 5 0 5 1")
    same({ { { 1, 2, 3 }, { 4, 5, 6 } } }, read "P3 2 1 255\n1 2 3\n4 5 6\n")
    same({ { 0, 255, 255, 255, 255, 255, 255, 255, 255, 0 } }, read "P4\n10 1\n\128\64")
    same({ { 7, 8 } }, read "P5 2 1 255\n\7\8")
    local wide = read "P5 2 1 65535\n\1\2\255\255"
    same({ { 258, 65535 } }, wide)
    assert.equal("uint16", wide.dtype)
    assert.same({ 1, 1, 3 }, { read("P6\n1 1\n255\nabc").shape[1], 1, read("P6\n1 1\n255\nabc").shape[3] })
  end)

  it("is refused when it lies", function()
    for _, text in ipairs { "P6 2 2 255\nabc", "P7 1 1 1 1", "P5 0 1 255\n", "P5 1 1 70000\n12",
      "P5 99999999 99999999 255 ", "P2 2 1 5 1", "P2 1 1 5 6", "P5 1 1 5\n\9", "P1 1 1 2", "P5 1 1 255", "P3 1", "" } do
      failure("io", read, text)
    end
  end)
end)

describe("what is no image", function()
  it("is refused", function()
    failure("type", damo.io.format, damo.ones { 2, 2 }, { format = "png" })
    failure("shape", damo.io.format, damo.zeros({ 4 }, { dtype = "uint8" }), { format = "png" })
    failure("shape", damo.io.format, damo.zeros({ 4, 4, 5 }, { dtype = "uint8" }), { format = "png" })
    failure("shape", damo.io.format, damo.zeros({ 0, 4 }, { dtype = "uint8" }), { format = "png" })
    failure("value", damo.io.format, damo.zeros({ 4, 4, 4 }, { dtype = "uint8" }), { format = "ppm" })
  end)
end)

describe("an .npz", function()
  it("is deflated where that is asked for", function()
    local a = { w = damo.zeros { 100, 100 }, n = damo.array { 1, 2 }, none = damo.zeros { 0, 3 } }
    local plain = damo.io.format(a, { format = "npz" })
    local packed = damo.io.format(a, { format = "npz", compressed = true })
    assert.is_true(#packed < #plain / 20)
    local b = damo.io.parse(packed)
    assert.is_true(damo.array_equal(a.w, b.w) and b.n[2] == 2 and b.none.shape[2] == 3)
    local m = damo.sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
    assert.equal(3, damo.io.parse(damo.io.format(m, { format = "npz", compressed = true })).nnz)
    failure("value", damo.io.format, a.n, { format = "npy", compressed = true })
    for i = 1, #packed, 7 do
      local other = packed:sub(1, i - 1) .. char((packed:byte(i) + 1) % 256) .. packed:sub(i + 1)
      pcall(damo.io.parse, other)
    end
  end)
end)

describe("an .npy", function()
  it("is mapped where that is asked for", function()
    local path = os.tmpname()
    local function mapped(bytes)
      local file = io.open(path .. ".npy", "wb")
      file:write(bytes)
      file:close()
      return damo.io.load(path .. ".npy", { mmap = true })
    end
    local a = damo.array { { 1, 2, 3 }, { 4, 5, 6 } }
    local bytes = damo.io.format(a, { format = "npy" })
    local m = mapped(bytes)
    assert.is_true(damo.array_equal(a, m))
    failure("state", function() m[{ 1, 1 }] = 3 end)
    assert.equal(21, damo.sum(m))
    m = mapped((bytes:gsub("False, ", "True,  ")))
    assert.is_true(damo.array_equal(damo.array { { 1, 3, 5 }, { 2, 4, 6 } }, m))
    failure("io", mapped, bytes:sub(1, -2))
    failure("io", mapped, "")
    failure("value", mapped, (bytes:gsub("<f8", ">f8")))
    failure("value", damo.io.load, path .. ".npz", { mmap = true })
    os.remove(path .. ".npy")
    os.remove(path)
  end)
end)
