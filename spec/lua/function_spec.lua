-- Op functions from Lua: operands, options, eager and symbolic use.
local damo = require "damo"
local failure = require "spec.support.failure"

describe("a function of values", function()
  it("computes eagerly", function()
    assert.equal(3.0, damo.sqrt(9))
    assert.same({ 5, 7, 9 }, damo.add(damo.array { 1, 2, 3 }, { 4, 5, 6 }):totable())
  end)

  it("gives 0-d results as Lua scalars", function()
    assert.equal("integer", math.type(damo.sum(damo.array({ 1, 2 }, "int32"))))
    assert.equal(true, damo.all(damo.array { true, true }))
  end)

  it("is a method too", function()
    local a = damo.array { { 1, 2 }, { 3, 4 } }
    assert.equal(10.0, a:sum())
    assert.same({ 4, 6 }, a:sum(1):totable())
    assert.same({ 2, 2 }, a:dot(damo.array { { 1, 0 }, { 0, 1 } }).shape)
  end)

  it("has several results as several values", function()
    local a, b = damo.split(damo.array { 1, 2, 3, 4, 5 }, { sizes = { 2, 3 }, axis = 1 })
    assert.same({ 1, 2 }, a:totable())
    assert.same({ 3, 4, 5 }, b:totable())
  end)
end)

describe("a function of Variables", function()
  it("builds graph", function()
    local x = damo.dvector "x"
    local y = damo.exp(x)
    assert.equal("Elemwise", y.owner.op.name)
    assert.equal(x, y.owner.inputs[1])
  end)

  it("takes values beside Variables", function()
    local x = damo.dvector "x"
    local y = x + damo.array { 1, 2 } + { 3, 4 } + 1
    assert.same({ 5, 7 }, y:eval({ [x] = { 0, 0 } }):totable())
  end)

  it("keeps a literal from widening", function()
    assert.equal("float32", (damo.fvector "x" + 1).dtype)
    assert.equal("float32", (2.5 * damo.fvector "x").dtype)
    assert.equal("int8", (damo.bvector "i" + 3).dtype)
    assert.equal("int16", (damo.bvector "i" + 300).dtype)
  end)

  it("does not see later changes of an Array that went into a graph", function()
    local a, x = damo.array { 1, 2 }, damo.dvector "x"
    local y = x + a
    a[1] = 100
    assert.same({ 1, 2 }, y:eval({ [x] = { 0, 0 } }):totable())
  end)
end)

describe("options", function()
  local a = damo.array { { 1, 2 }, { 3, 4 } }

  it("come in a table after the operands", function()
    assert.same({ { 3 }, { 7 } }, damo.sum(a, { axis = 2, keepdims = true }):totable())
  end)

  it("have an array part that stands for the first", function()
    assert.equal(10.0, a:sum { 1, 2 })
    assert.same({ { 10 } }, a:sum({ 1, 2, keepdims = true }):totable())
    assert.same({ 1, 2, 3, 4 }, a:reshape({ 4 }):totable())
    assert.same({ 4, 1 }, damo.reshape(a, { 4, 1 }).shape)
  end)

  it("may be one plain value, of the first option", function()
    assert.same({ 4, 6 }, a:sum(1):totable())
    assert.same({ 4 }, a:reshape(4).shape)
  end)

  it("are refused with a suggestion when misspelt", function()
    local err = failure("value", damo.sum, a, { axsi = 1 })
    assert.equal("sum: unknown option 'axsi', did you mean 'axis'?", err.message)
    err = failure("value", damo.sum, damo.dvector "x", { keepdim = true })
    assert.equal("sum: unknown option 'keepdim', did you mean 'keepdims'?", err.message)
  end)

  it("have their kind checked", function()
    local err = failure("type", damo.sum, a, { keepdims = 1 })
    assert.equal("sum: option 'keepdims' must be true or false, got number", err.message)
    failure("type", damo.sum, a, { axis = "x" })
    failure("type", damo.cast, a, { dtype = 3 })
    failure("value", damo.cast, a, { dtype = "flaot32" })
  end)

  it("take Variables where a shape does", function()
    local n, x = damo.lscalar "n", damo.dvector "x"
    local f = damo.compile({ x, n }, damo.reshape(x, { n, 2 }))
    assert.same({ 3, 2 }, f({ 1, 2, 3, 4, 5, 6 }, 3).shape)
  end)
end)

describe("lists of operands", function()
  it("come as one table", function()
    assert.same({ { 1, 2 }, { 3, 4 } }, damo.stack({ damo.array { 1, 2 }, damo.array { 3, 4 } }):totable())
    assert.same({ 1, 2, 3 }, damo.join(1, { damo.array { 1 }, damo.array { 2, 3 } }):totable())
    local columns = damo.stack({ damo.array { 1, 2 }, damo.array { 3, 4 } }, { axis = 2 })
    assert.same({ { 1, 3 }, { 2, 4 } }, columns:totable())
  end)

  it("may hold Variables", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    assert.same({ { 1 }, { 2 } }, damo.stack({ x, y }):eval({ [x] = { 1 }, [y] = { 2 } }):totable())
  end)

  it("are refused if they are anything else", function()
    local err = failure("type", damo.stack, damo.array { 1 })
    assert.equal("stack: argument 1 (xs) must be a list of operands, got Array", err.message)
  end)

  it("may be long", function()
    local list = {}
    for i = 1, 500 do list[i] = damo.array { i } end
    assert.same({ 500 }, damo.join(1, list).shape)
  end)
end)

describe("wrong arguments", function()
  it("are named", function()
    local err = failure("type", damo.add, damo.array { 1 })
    assert.equal("add: argument 2 (y) must be a Variable, Array, number or table, got nothing", err.message)
    err = failure("type", damo.exp, "x")
    assert.equal("exp: argument 1 (x) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      err.message)
    failure("type", damo.exp, { a = 1 })
    failure("type", damo.exp, io.stdout)
    failure("type", damo.exp, print)
  end)

  it("are refused when there are too many", function()
    local err = failure("type", damo.exp, 1, 2)
    assert.equal("exp: too many arguments: 2 given; operands: x", err.message)
    failure("type", damo.sum, damo.array { 1 }, 1, 2)
    failure("type", damo.sum, damo.array { 1 }, { axis = 1 }, 2)
  end)

  it("name the shapes that do not fit", function()
    local err = failure("shape", damo.add, damo.array { 1, 2 }, damo.array { 1, 2, 3 })
    assert.truthy(err.message:find("(2,)", 1, true), err.message)
    assert.truthy(err.message:find("(3,)", 1, true), err.message)
  end)
end)
