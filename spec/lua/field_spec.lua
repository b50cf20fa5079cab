-- Objects of damo have no fields that a script may set, except documented ones.
local damo = require "damo"
local failure = require "spec.support.failure"

describe("a field that can't be set", function()
  it("is a type error, for every kind of object", function()
    local x = damo.dvector "x"
    local Scale = damo.Op { name = "Scale", props = { "factor" }, perform = print,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end }
    local op, y = Scale { factor = 2 }, damo.exp(x)
    local objects = {
      Variable = x, Type = x.type, Apply = y.owner, Op = op, ["Op class"] = Scale, native = y.owner.op,
      FunctionGraph = damo.graph.FunctionGraph({ x }, { y }), Function = damo.compile({ x }, y),
      thunk = y.owner.op:make_thunk(y.owner, {}), factor = damo.sparse.factorize(damo.sparse.eye(2)),
      Array = damo.zeros { 2 }, sparse = damo.sparse.eye(2), graph = damo.graph.OpFromGraph({ x }, { y }),
    }
    for name, object in pairs(objects) do
      local err = failure("type", function() object.factor = 4 end)
      assert.truthy(err.message:find("factor", 1, true) or name == "Array", name .. ": " .. err.message)
    end
    assert.equal(2, op.factor)
    failure("type", function() op[1] = 4 end)
  end)
end)
