-- Tables of text: columns of numbers and of texts, missing values, exact numbers. Matrices: spec/c/io_test.c,
-- save_spec.lua.
local damo = require "damo"
local failure = require "spec.support.failure"

local function parse(text, options)
  local o = { format = "csv" }
  for k, v in pairs(options or {}) do o[k] = v end
  return damo.io.parse(text, o)
end

local nan = 0 / 0
local function numbers(want, got)
  assert.is_true(damo.array_equal(damo.array(want), got, { equal_nan = true }), tostring(got))
end

describe("read_csv by columns", function()
  local people = 'name, born ,size,"in, out"\nann,2001-02-03,1.5,2\n"bob ""b""",1999-12-31,NA,-999\n,,3.5,\n'

  it("gives numbers as Arrays, anything else as texts, names in order", function()
    local t = parse(people, { columns = true, missing = { "NA", -999 } })
    assert.same({ "name", "born", "size", "in, out" }, { t[1], t[2], t[3], t[4] })
    assert.is_nil(t[5])
    assert.same({ "ann", 'bob "b"', "" }, t.name)
    assert.same({ "2001-02-03", "1999-12-31", "" }, t.born)
    numbers({ 1.5, nan, 3.5 }, t.size)
    numbers({ 2, nan, nan }, t["in, out"])
  end)

  it("takes cells for texts that are not listed as missing", function()
    assert.same({ "1", "?", "2" }, parse("a\n1\n?\n2\n", { columns = true }).a)
    numbers({ 1, nan, 2 }, parse("a\n1\n?\n2\n", { columns = { "a" }, text_as_nan = true }).a)
    numbers({ 1.5, nan, 3.5 }, parse(people, { columns = true }).size) -- nan and na are numbers
  end)

  it("takes lists of missing texts alone, and delimiters that no number has", function()
    local err = failure("type", parse, people, { columns = true, missing = "NA" })
    assert.is_truthy(err.message:find("must be a list of strings, as {\"NA\"}, got a string", 1, true), err.message)
    for _, d in ipairs { "1", "-", "+", ".", "e", "N", "\"", "\n", "\r", "\0", "\200" } do
      failure("value", parse, "a1b\n", { delimiter = d })
      failure("value", damo.io.format, damo.ones { 2, 2 }, { format = "csv", delimiter = d })
    end
    for _, d in ipairs { ";", "\t", "|", " ", ":", "#" } do
      local bytes = damo.io.format(damo.array { { 1, 2 } }, { format = "csv", delimiter = d })
      assert.same({ { 1, 2 } }, damo.io.parse(bytes, { format = "csv", delimiter = d }):totable())
    end
  end)

  it("reads the named columns alone, in that order", function()
    local t = parse(people, { columns = { "size", "name" }, missing = { "NA" } })
    assert.same({ "size", "name" }, { t[1], t[2] })
    assert.is_nil(t.born)
    assert.equal(3, #t.name)
    local err = failure("value", parse, people, { columns = { "weight" } })
    assert.is_truthy(err.message:find("weight", 1, true))
    failure("value", parse, people, { columns = { "size", "size" } })
    failure("type", parse, people, { columns = 3 })
    failure("type", parse, people, { columns = { {} } })
  end)

  it("names columns that have no header", function()
    local t = parse("1,2\n3,4\n", { columns = true })
    numbers({ 2, 4 }, t.c2)
    t = parse("1,2\n3,4\n", { columns = { "a", "b" } })
    assert.same({ "a", "b" }, { t[1], t[2] })
    numbers({ 1, 3 }, t.a)
    failure("io", parse, "1,2\n3,4\n", { columns = { "a" } })
    t = parse("x,1\ny,2\n", { columns = true, skip = 0 })
    assert.same({ "x", "y" }, t.c1)
  end)

  it("has the dtype of `dtype`, quoted numbers, texts over several lines, no rows", function()
    local t = parse('a;b\r\n"1";"two\nlines"\r\n-2;" x "\r\n', { columns = true, dtype = "int32", delimiter = ";" })
    assert.equal("int32", t.a.dtype)
    assert.equal(-2, t.a[2])
    assert.same({ "two\nlines", " x " }, t.b)
    t = parse("a,b\n", { columns = true })
    assert.equal(0, t.a.size)
    failure("io", parse, "", { columns = true })
    failure("io", parse, "a,a\n1,2\n", { columns = true })
    local err = failure("io", parse, "a,b\n1,2\nx\n", { columns = true })
    assert.is_truthy(err.message:find("line 3 has 1 cells", 1, true))
    err = failure("io", parse, "a,b\n1,2\n3,x,5\n", { columns = true })
    assert.is_truthy(err.message:find("line 3 has 3 cells", 1, true))
    failure("io", parse, 'a,b\n1,"x\n', { columns = true })
  end)

  it("reads files, and fails softly where that is asked for", function()
    local path = os.tmpname()
    local file = io.open(path, "w")
    file:write(people)
    file:close()
    assert.equal("bob \"b\"", damo.io.read_csv(path, { columns = true }).name[2])
    local nothing, err = damo.io.read_csv(path, { columns = { "none" }, on_fail = "return" })
    assert.is_nil(nothing)
    assert.equal("value", err.kind)
    os.remove(path)
  end)
end)

describe("a matrix of a CSV", function()
  it("has nan where a cell is missing", function()
    numbers({ { 1, nan }, { 3, 4 } }, (parse("a,b\n1,?\n3,4\n", { missing = { "?", "-" } })))
    numbers({ { 1, nan, nan } }, (parse("1,-999,-999.0\n", { missing = { -999 } })))
    failure("io", parse, "1,?\n", { missing = { "-" }, skip = 0 })
    failure("io", parse, "1,?\n", { missing = { "?" }, skip = 0, dtype = "int32" })
  end)

  it("has the nearest double of every text", function()
    local seed, texts, want = 12345, {}, {}
    local function draw()
      seed = (seed * 16807) % 2147483647
      return seed / 2147483647
    end
    for i = 1, 20000 do
      local x = (draw() - 0.5) * 10 ^ math.floor(draw() * 640 - 325)
      local text = ("%%.%dg"):format(1 + math.floor(draw() * 20)):format(x == x and math.abs(x) < 1 / 0 and x or 1)
      if not text:find "[e.]" then text = text .. ".0" end
      texts[i], want[i] = text, tonumber(text)
    end
    for _, text in ipairs {
      "9007199254740993.0", "9007199254740992.99999999999999999999", "2.2250738585072011e-308", "4.9e-324", "2.4e-324",
      "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623159e308", "1e400", "-0.0", ".5", "5.",
      "1448997445238699", "12345678901234567890123456789e-10", "0.000000000000000000000000000012345678901234567890",
      "6.631236846766476e-316", "3.2378839133029012895883524125015321748630094e-319", "1e23", "8.5e22", "1e-23",
    } do
      texts[#texts + 1], want[#want + 1] = text, tonumber(text)
    end
    local got = damo.io.parse(table.concat(texts, "\n"), { format = "csv" }):reshape { -1 }
    local wrong = {}
    for i = 1, #texts do
      if got[i] ~= want[i] or 1 / got[i] ~= 1 / want[i] then wrong[#wrong + 1] = texts[i] end
    end
    assert.equal("", table.concat(wrong, " "))
  end)
end)
