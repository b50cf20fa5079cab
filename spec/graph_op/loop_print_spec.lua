-- damo.printing.loop: the programs of Loop nodes as text.
local damo = require "damo"
local failure = require "spec.support.failure"

local x, y = damo.dvector "x", damo.fmatrix "y"

describe("printing.loop", function()
  it("has a line for each register and output, with scalar names and dtypes", function()
    local f = damo.compile({ x }, damo.exp(x) * 2 + damo.sin(x))
    assert.equal(table.concat({
      "Loop 1",
      "  r1 = x: float64 (?,)",
      "  r2 = 2.0: float64 ()",
      "  r3 = exp(r1): float64",
      "  r4 = mul(r3, r2): float64",
      "  r5 = sin(r1): float64",
      "  r6 = add(r4, r5): float64",
      "  output 1 = r6",
    }, "\n"), damo.printing.loop(f))
    assert.equal(damo.printing.loop(f), damo.printing.loop(f.fgraph))
  end)

  it("says the dtypes of casts and comparisons", function()
    local text = damo.printing.loop(damo.compile({ y }, damo.cast(damo.gt(damo.exp(y), 1), "int8") + 1))
    assert.truthy(text:find("r1 = y: float32 (?, ?)", 1, true))
    assert.truthy(text:find("= exp(r1): float32", 1, true))
    assert.truthy(text:find(": bool", 1, true) and text:find(": int8", 1, true))
  end)

  it("has the product whose rows a Loop takes", function()
    local m, w = damo.dmatrix "m", damo.dmatrix "w"
    local f = damo.compile({ m, w, x }, damo.tanh(damo.dot(m, w) + x))
    assert.equal(table.concat({
      "Loop 1",
      "  r1 = Dot(m, w): float64",
      "  r2 = x: float64 (?,)",
      "  r3 = add(r1, r2): float64",
      "  r4 = tanh(r3): float64",
      "  output 1 = r4, in the memory of r1",
    }, "\n"), damo.printing.loop(f))
  end)

  it("says what has one value a row", function()
    local text = damo.printing.loop(damo.compile({ y }, y / damo.sum(damo.abs(y), { axis = 2, keepdims = true })))
    assert.equal(table.concat({
      "Loop 1",
      "  r1 = y: float32 (?, ?)",
      "  r2 = abs(r1): float32",
      "  r3 = Sum{axis={2}, keepdims}(r2): float32, one value a row",
      "  r4 = true_div(r1, r3): float32",
      "  output 1 = r4",
    }, "\n"), text)
  end)

  it("numbers the Loops of a program", function()
    local f = damo.compile({ x }, damo.exp(damo.cumsum(damo.exp(x) * x)) * x)
    local text = damo.printing.loop(f)
    assert.truthy(text:find "^Loop 1\n" and text:find "\nLoop 2\n")
  end)

  it("says when there is none", function()
    assert.equal("no Loop", damo.printing.loop(damo.compile({ x }, damo.cumsum(x))))
    local unfused = damo.Mode { exclude = { "fusion" } }
    assert.equal("no Loop", damo.printing.loop(damo.compile({ x }, damo.exp(x) * 2 + x, { mode = unfused })))
  end)

  it("takes Functions and FunctionGraphs", function()
    assert.equal("loop: argument 1 (x) must be a Function or a FunctionGraph, got Variable",
      failure("type", damo.printing.loop, x).message)
  end)
end)
