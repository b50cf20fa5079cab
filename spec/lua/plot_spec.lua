-- damo.plot: pictures of matrices as text, and what is no matrix.
local damo = require "damo"

describe("plot.image", function()
  it("draws a matrix as characters, row 1 at the bottom", function()
    local text = damo.plot.image(damo.array { { 0, 9 }, { 5, 0 } }, { text = true, title = "two" })
    assert.equal("two\nvalues from 0 (' ') to 9 ('@')\n|+ |\n| @|", text)
  end)

  it("takes a list of rows, and named panels", function()
    assert.equal("values from 1 (' ') to 2 ('@')\n| @|", damo.plot.image({ { 1, 2 } }, { text = true }))
    local both = damo.plot.image({ { name = "a", z = { { 1, 2 } } },
      { name = "b", z = { { 3, 3 } } } }, { text = true })
    assert.equal("a: from 1 (' ') to 2 ('@')\n| @|\nb: from 3 (' ') to 3 ('@')\n|  |", both)
  end)

  it("says what is no matrix", function()
    local ok, err = pcall(damo.plot.image, { { name = "a" } })
    assert.is_false(ok)
    assert.matches("plot.image: panel 1 has no matrix z", err, 1, true)
  end)
end)
