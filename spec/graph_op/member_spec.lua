-- Every member of the Op contract is there, for Lua Ops and native Ops.
local damo = require "damo"
local names = require "spec.names"

local x = damo.dvector "x"

-- The types that a member may have; any other (nil if not listed) counts as missing.
local functions = { "make_node", "perform", "grad", "L_op", "R_op", "infer_shape", "connection_pattern",
  "do_constant_folding", "get_params", "prepare_node", "make_thunk", "make_c_thunk", "make_lua_thunk", "add_tag_trace" }
local kinds = { default_output = { "nil", "number" }, destroy_map = { "table" }, view_map = { "table" },
  props = { "table" }, itypes = { "nil", "table" }, otypes = { "nil", "table" }, params_type = { "nil", "table" } }
for _, name in ipairs(functions) do kinds[name] = { "function" } end

local function check(op)
  for _, name in ipairs(names.op_members) do
    assert.truthy(kinds[name], "the spec does not know " .. name)
    local kind = type(op[name])
    local allowed = false
    for _, k in ipairs(kinds[name]) do allowed = allowed or k == kind end
    assert.is_true(allowed, ("%s.%s is a %s"):format(op.name, name, kind))
  end
end

describe("the members of an Op", function()
  it("exist for an Op written in Lua", function()
    check(damo.Op { name = "Bare", make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end })
    check(damo.Op { name = "Bare", props = { "a" },
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end } { a = 1 })
  end)

  it("exist for native Ops", function()
    local m = damo.dmatrix "m"
    for _, v in ipairs { damo.exp(x), damo.dot(m, m), damo.sum(m), x[2], damo.zeros_like(x), damo.softmax(m) } do
      check(v.owner.op)
    end
  end)

  it("may each be given by a definition", function()
    local def = { make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end }
    for _, name in ipairs(functions) do def[name] = def[name] or function() return name end end
    local op = damo.Op(def)
    for _, name in ipairs(functions) do assert.equal(def[name], op[name]) end
    local ok, err = pcall(damo.Op, { make_node = print, prepair_node = print })
    assert.is_false(ok)
    assert.truthy(err.message:find "prepare_node")
  end)
end)

describe("a native Op has", function()
  local node = damo.exp(x).owner
  local op = node.op

  it("perform", function()
    local cell = {}
    op:perform(node, { { 0, 0 } }, { cell })
    assert.same({ 1, 1 }, cell[1]:totable())
  end)

  it("grad, L_op and R_op", function()
    local g = damo.dvector "g"
    local values = { [x] = { 0 }, [g] = { 3 } }
    assert.same({ 3 }, op:grad({ x }, { g })[1]:eval(values):totable())
    assert.same({ 3 }, op:L_op({ x }, node.outputs, { g })[1]:eval(values):totable())
    assert.same({ 3 }, op:R_op({ x }, { g })[1]:eval(values):totable())
  end)

  it("the rest", function()
    assert.equal(node.op, op:make_node(x).op)
    assert.is_true(op:do_constant_folding(nil, node))
    assert.same({ { true } }, op:connection_pattern(node))
    assert.equal(5, op:infer_shape(nil, node, { { 5 } })[1][1]:eval())
    assert.is_nil(op:prepare_node(node, nil, nil, "c"))
    local sum = damo.sum(damo.dmatrix "m", { axis = 1 }).owner
    assert.equal("table", type(sum.op:get_params(sum)))
  end)
end)

describe("add_tag_trace", function()
  it("puts the user's lines into the tag, and returns the thing", function()
    local y = damo.exp(x)
    local line = debug.getinfo(1, "l").currentline + 1
    assert.equal(y.owner, y.owner.op.add_tag_trace(y.owner))
    assert.truthy(y.owner.tag.trace[1]:find("member_spec.lua:" .. line .. "$"), y.owner.tag.trace[1])
    assert.equal(x, damo.graph.add_tag_trace(x, 1))
    assert.equal(1, #x.tag.trace)
    assert.equal(x, y.owner.op:add_tag_trace(x, 0))
    assert.equal(0, #x.tag.trace)
  end)

  it("is what errors in compiled calls show", function()
    local op = damo.Op { make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function() error "no" end }
    local y = op(x)
    local function mark(node)
      return (damo.graph.add_tag_trace(node))
    end
    mark(y.owner)
    local line = debug.getinfo(mark, "S").linedefined + 1
    local ok, err = pcall(damo.compile({ x }, y), { 1 })
    assert.is_false(ok)
    assert.truthy(err.trace[1]:find("member_spec.lua:" .. line .. "$"), err.trace[1])
  end)
end)
