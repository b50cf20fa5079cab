-- damo.progress around a loop.
local damo = require "damo"

local function sink()
  local texts = {}
  return { write = function(_, text) texts[#texts + 1] = text end }, texts
end

local function collected(...)
  local list = {}
  for i, v in damo.progress(...) do list[i] = v end
  return list
end

local function kind_of(f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  return err.kind, err.message
end

describe("damo.progress", function()
  it("counts, and gives the entries of a list, the rows of an Array, what an iterator gives", function()
    local quiet = { silent = true }
    assert.same({ 1, 2, 3 }, collected(3, quiet))
    assert.same({}, collected(0, quiet))
    assert.same({ "a", "b" }, collected({ "a", "b" }, quiet))
    assert.same({}, collected({}, quiet))
    assert.same({ 5, 7 }, collected(damo.array { 5, 7 }, quiet))
    local rows = collected(damo.array { { 1, 2 }, { 3, 4 } }, quiet)
    assert.equal(2, #rows)
    assert.equal(4, rows[2][2])
    assert.same({ "x", "yz" }, collected(("x yz"):gmatch("%a+"), quiet))
    for i, a, b in damo.progress(("k=1 l=2"):gmatch("(%a)=(%d)"), quiet) do
      assert.equal(i == 1 and "k" or "l", a)
      assert.equal(tostring(i), b)
    end
  end)

  it("writes nothing when silent", function()
    local out, texts = sink()
    collected(30, { silent = true, out = out })
    collected(30, { silent = true, out = out, terminal = true })
    assert.equal(0, #texts)
  end)

  it("draws a bar with rate and time left on a terminal", function()
    local out, texts = sink()
    collected(4, { title = "steps", out = out, terminal = true })
    local text = table.concat(texts)
    assert.truthy(text:find("^\rsteps %["))
    assert.truthy(text:find("4/4", 1, true))
    assert.truthy(text:find("%d/s"))
    assert.truthy(text:find(" left", 1, true))
    assert.equal("\n", texts[#texts])
  end)

  it("writes a line now and then elsewhere", function()
    local out, texts = sink()
    collected(1000, { title = "steps", out = out, terminal = false })
    assert.is_true(#texts >= 2 and #texts <= 12)
    assert.truthy(texts[#texts]:find("^steps 1000/1000 .* left\n$"))
    for _, text in ipairs(texts) do assert.falsy(text:find "[\r\27]") end
    out, texts = sink()
    collected(("x"):rep(50):gmatch("x"), { out = out, terminal = false })
    assert.equal(1, #texts)
    assert.truthy(texts[1]:find(" 50 "))
  end)

  it("refuses what it can't go through, and unknown options", function()
    assert.equal("type", (kind_of(damo.progress)))
    assert.equal("type", (kind_of(damo.progress, "abc")))
    assert.equal("type", (kind_of(damo.progress, damo.array(3))))
    assert.equal("value", (kind_of(damo.progress, -1)))
    assert.equal("value", (kind_of(damo.progress, 2.5)))
    assert.equal("type", (kind_of(damo.progress, 3, "title")))
    assert.equal("type", (kind_of(damo.progress, 3, { title = 5 })))
    assert.equal("type", (kind_of(damo.progress, 3, { silent = 1 })))
    assert.equal("type", (kind_of(damo.progress, 3, { out = 1 })))
    local kind, message = kind_of(damo.progress, 3, { tilte = "x" })
    assert.equal("value", kind)
    assert.equal("progress: unknown option 'tilte', did you mean 'title'?", message)
  end)
end)
