-- Options: a table with string keys. Other keys, surplus arguments and tables that contain themselves are errors.
local damo = require "damo"
local failure = require "spec.support.failure"

local S = damo.sparse
local x, y, c = damo.dvector "x", damo.dvector "y", damo.iscalar "c"

describe("a table of options", function()
  it("has only string keys", function()
    for _, key in ipairs { true, {}, print } do
      local odd = { [key] = 1 }
      failure("type", damo.sum, x, odd)
      failure("type", damo.sum, x, { axis = 1, [key] = 1 })
      failure("type", damo.compile, { x }, x * 2, odd)
      failure("type", damo.grad, damo.sum(x), x, odd)
      failure("type", damo.dvector, "v", odd)
      failure("type", damo.random.normal, 0, 1, odd)
      local rs = damo.random.RandomStream(1)
      failure("type", rs.normal, rs, 0, 1, odd)
    end
  end)

  it("has no list part unless that stands for an option", function()
    local err = failure("value", damo.grad, damo.sum(x), x, { "ignore" })
    assert.truthy(err.message:find("grad: an option without its name: the options are", 1, true), err.message)
    failure("value", damo.compile, { x }, x * 2, { 3 })
    failure("value", damo.dvector, "v", { 1 })
    failure("type", damo.sum, damo.dmatrix(), { axis = 1, [3] = 1 })
    assert.equal(1, damo.sum(damo.dmatrix(), { 1, keepdims = false }).ndim) -- the first option's value
    assert.same({ 2, 3 }, damo.zeros({ 2, 3, dtype = "int8" }).shape)
  end)
end)

describe("a table that contains itself", function()
  local self = {}
  self[1] = self
  it("is a value error", function()
    local P = damo.Op { name = "P", props = { "p" }, make_node = print, perform = print }
    failure("value", P, { p = self })
    for _, call in ipairs {
      function() damo.array(self) end,
      function() damo.sum(self) end,
      function() damo.join(1, self) end,
      function() damo.shared(self) end,
      function() x:eval { [x] = self } end,
      function() S.csr { data = self, indices = { 0 }, indptr = { 0, 1 }, shape = { 1, 1 } } end,
      function() S.csr_fbinomial(1, self, { shape = { 2, 2 } }) end,
      function() S.poisson(self) end,
    } do
      failure("value", call)
    end
    failure("type", S.csr_fbinomial, 1, 0.5, self) -- no list of integers
    failure("type", S.csc_dbinomial, 1, 0.5, { shape = self })
  end)

  it("is visited once, however often it contains itself", function()
    local twice = {}
    twice[1], twice[2] = twice, twice
    failure("value", S.csr_fbinomial, twice, 0.5, { shape = { 2, 2 } })
    failure("type", S.csr_fbinomial, 1, 0.5, { shape = twice })
    failure("value", damo.array, twice)
  end)
end)

describe("surplus arguments", function()
  it("are type errors", function()
    failure("type", damo.jacobian, x, x, {}, 1)
    failure("type", damo.hessian, damo.sum(x), x, nil, 1)
    failure("type", damo.hessian_vector_product, damo.sum(x), x, x, 1)
    failure("type", damo.verify_grad, damo.exp, { damo.ones { 1 } }, {}, 1)
    local w = damo.shared(damo.ones { 1 })
    for _, name in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
      failure("type", damo.optim[name], { w }, { w }, {}, 1)
    end
    failure("type", damo.ifelse, c, x, y, nil, 1)
  end)
end)

describe("ifelse", function()
  it("returns a list if asked to", function()
    local list = damo.ifelse(c, { x, y }, { y, x }, { return_list = true })
    assert.equal(2, #list)
    assert.equal(1, #damo.ifelse(c, x, y, { return_list = true }))
    failure("type", damo.ifelse, c, { x, y }, { y, x }, { return_list = "no" })
    local a, b = damo.ifelse(c, { x, y }, { y, x }, { return_list = false })
    assert.same({ "userdata", "userdata" }, { type(a), type(b) })
    local f = damo.compile({ c, x, y }, list)
    assert.same({ 2 }, (f(0, { 1 }, { 2 })):totable())
  end)

  it("takes no other option", function()
    local err = failure("value", damo.ifelse, c, { x, y }, { y, x }, { retrun_list = true })
    assert.truthy(err.message:find("retrun_list", 1, true))
    failure("type", damo.ifelse, c, x, y, 3)
    failure("type", damo.ifelse, c, { x, name = y }, { y })
  end)
end)
