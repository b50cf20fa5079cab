-- Reading a name that does not exist raises an error which suggests the right one: of the modules and of damo's
-- objects.
local damo = require "damo"
local has = require "spec.support.has"
local failure = require "spec.support.failure"

local sparse = damo.sparse
local x = damo.dmatrix "x"
local objects = {
  Array = damo.ones { 2, 2 }, Sparse = sparse.eye(2), Variable = x, Function = damo.compile({ x }, x * 2),
  Type = x.type, Apply = damo.exp(x).owner, FunctionGraph = damo.graph.FunctionGraph({ x }, { damo.exp(x) }),
  RandomStream = damo.random.RandomStream(1), Factor = sparse.factorize(sparse.eye(2)),
}
local modules = {
  damo = damo, ["damo.sparse"] = sparse, ["damo.linalg"] = damo.linalg, ["damo.fft"] = damo.fft, ["damo.nn"] = damo.nn,
  ["damo.random"] = damo.random, ["damo.graph"] = damo.graph,
  ["damo.rewrite"] = damo.rewrite, ["damo.printing"] = damo.printing, ["damo.io"] = damo.io,
  ["damo.optim"] = damo.optim, ["damo.plot"] = damo.plot, ["damo.progress"] = damo.progress,
}

local function message(thing, name)
  return failure("value", function() return thing[name] end).message
end

describe("an unknown name", function()
  it("of a module suggests the right one", function()
    assert.equal("damo: there is no 'sogmoid', did you mean 'sigmoid'?", message(damo, "sogmoid"))
    assert.equal("damo.sparse: there is no 'slove', did you mean 'solve'?", message(sparse, "slove"))
    assert.equal("damo.random: there is no 'norml', did you mean 'normal'?", message(damo.random, "norml"))
    assert.equal("damo.optim: there is no 'momentun', did you mean 'momentum'?", message(damo.optim, "momentun"))
    assert.equal("damo.io: there is no 'read_cvs', did you mean 'read_csv'?", message(damo.io, "read_cvs"))
    assert.equal("damo: there is no 'spares', did you mean 'sparse'?", message(damo, "spares"))
    assert.equal("damo: there is no 'Exp', did you mean 'exp'?", message(damo, "Exp"))
  end)

  it("of a module that is similar to no other is nil, so that a script can ask whether it exists", function()
    for _, module in pairs(modules) do
      assert.is_nil(module.no_such_name_at_all)
      assert.is_nil(module.x)
    end
    for _, name in ipairs { "viewpoint", "manual" } do
      assert.is_nil(damo[name], name)
    end
    assert.is_nil(rawget(damo, "sogmoid"))
  end)

  it("of an object suggests fields and methods", function()
    assert.equal("Array: there is no field or method 'sumo', did you mean 'sum'?",
      failure("value", function() return objects.Array:sumo() end).message)
    assert.equal("Variable: there is no field or method 'shpe', did you mean 'shape'?", message(x, "shpe"))
    assert.equal("Array: there is no field or method 'shpae', did you mean 'shape'?", message(objects.Array, "shpae"))
    assert.equal("Array: there is no field or method 'totabel', did you mean 'totable'?",
      message(objects.Array, "totabel"))
    assert.equal("Sparse: there is no field or method 'toaray', did you mean 'toarray'?",
      message(objects.Sparse, "toaray"))
    assert.equal("Function: there is no field or method 'intro', did you mean 'into'?",
      message(objects.Function, "intro"))
    assert.equal("RandomStream: there is no field or method 'norml', did you mean 'normal'?",
      message(objects.RandomStream, "norml"))
    for kind, object in pairs(objects) do
      assert.truthy(message(object, "frobnicate"):find("there is no field or method 'frobnicate'", 1, true), kind)
    end
  end)

  it("of a Variable advises to use the tag for a script's own values", function()
    assert.equal("Variable: there is no field or method 'frobnicate'; x.tag.frobnicate is free for values of your own",
      message(x, "frobnicate"))
    assert.is_nil(x.tag.frobnicate)
    x.tag.frobnicate = 1
    assert.equal(1, x.tag.frobnicate)
  end)

  it("of an Op is nil: a script's Ops have members of their own", function()
    assert.is_nil(damo.exp(x).owner.op.frobnicate)
  end)

  it("of another library advises the name that it has here", function()
    assert.truthy(message(damo, "function_"):find("damo.compile", 1, true))
    for _, thing in ipairs { damo, x, objects.Array, objects.Sparse } do
      local text = message(thing, "inv")
      assert.truthy(text:find("reciprocal", 1, true))
      assert.truthy(text:find("damo.linalg.inv(A) the inverse of a matrix", 1, true))
    end
  end)

  it("suggests no name that shares only half of a short word", function()
    assert.is_nil(message(objects.Array, "foo"):find("did you mean", 1, true))
  end)

  it("is the same error each time, whatever the order of a table", function()
    local first = message(damo, "tensor8")
    for _ = 1, 5 do assert.equal(first, message(damo, "tensor8")) end
  end)
end)

describe("reading a name that need not exist", function()
  it("gets nil for names of protocols, which begin with an underscore", function()
    for _, thing in pairs(modules) do assert.is_nil(thing.__call) assert.is_nil(thing._VERSION) end
    for _, thing in pairs(objects) do assert.is_nil(thing.__index) assert.is_nil(thing._M) end
  end)

  it("gets nil for a field that other values have, which tells them apart", function()
    local a, m = objects.Array, objects.Sparse
    assert.is_nil(a.owner) assert.is_nil(a.format) assert.is_nil(a.data) assert.is_nil(a.tag)
    assert.is_nil(m.strides) assert.is_nil(m.type)
    assert.is_nil(x.writeable)
    failure("value", function() return a.get_value end)
    failure("value", function() return x.totable end)
  end)

  it("gets nil for positions of a module, so that ipairs ends", function()
    for _, thing in pairs(modules) do
      for _ in ipairs(thing) do error "a module has no positions" end
      assert.equal(0, #thing)
    end
  end)

  it("walks a module by pairs", function()
    for _, thing in pairs(modules) do assert.is_not_nil((next(thing))) end
  end)

  it("ends ipairs over an Array by nil", function()
    local n = 0
    if has.ipairs_of_objects then
      for _ in ipairs(damo.array { 1, 2, 3 }) do n = n + 1 end
      assert.equal(3, n)
    end
    assert.is_nil(damo.array { 1, 2, 3 }[4])
  end)

  it("finds the modules that are loaded at first access", function()
    assert.is_function(damo.optim.adam)
    assert.equal(damo.plot, require "damo.plot")
    assert.is_false((pcall(require, "damo.no_such_module")))
  end)

  it("allows a script to add names to a module", function()
    damo.my_own = 3
    assert.equal(3, damo.my_own)
    damo.my_own = nil
    assert.is_nil(damo.my_own)
  end)

  it("allows an Array to be freed twice", function()
    local a = damo.ones { 2 }
    a:free()
    a:free()
    assert.equal("Array: freed", tostring(a))
  end)
end)
