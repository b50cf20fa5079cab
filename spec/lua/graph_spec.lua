-- Graphs as data: nodes, FunctionGraphs with features, walks, texts.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"
local graph = damo.graph

local x, y = damo.dvector "x", damo.dvector "y"

describe("an Apply", function()
  local z = x + y
  local node = z.owner

  it("has fields", function()
    assert.equal("Elemwise", node.op.name)
    assert.is_true(node.inputs[1] == x and node.inputs[2] == y)
    assert.equal(z, node.outputs[1])
    assert.same({ 2, 1 }, { node.nin, node.nout })
    assert.equal(z, node:default_output())
    node.tag.mark = 1
    assert.equal(1, z.owner.tag.mark)
  end)

  it("can be cloned, over other inputs too", function()
    local copy = node:clone()
    assert.is_false(copy == node)
    assert.equal(x, copy.inputs[1])
    local other = node:clone_with_new_inputs { y, y }
    assert.same({ 4 }, other.outputs[1]:eval({ [y] = { 2 } }):totable())
    failure("type", node.clone_with_new_inputs, node, { damo.dscalar(), y })
    assert.equal(1, node:clone_with_new_inputs({ damo.dscalar(), y }, false).outputs[1].ndim)
    failure("value", node.clone_with_new_inputs, node, { y })
    failure("type", node.clone_with_new_inputs, node, { y, y }, { strict = false })
  end)

  it("is made by hand from an Op, inputs and outputs", function()
    local out = x.type()
    local made = damo.Apply(node.op, { x, x }, { out })
    assert.equal(made, out.owner)
    assert.same({ 2 }, out:eval({ [x] = { 1 } }):totable())
    failure("value", damo.Apply, node.op, { x }, { out })
    failure("value", damo.Apply, node.op, { x }, { damo.shared { 1 } })
    local fresh = x.type()
    failure("value", damo.Apply, node.op, { x }, { fresh, fresh })
    failure("inconsistency", damo.Apply, node.op, { fresh }, { fresh })
    failure("inconsistency", damo.Apply, node.op, { damo.exp(fresh) }, { fresh })
    failure("type", damo.Apply, node.op, { x }, { 3 })
    failure("type", damo.Apply, 3, { x }, { fresh })
    failure("type", damo.Apply, node.op, x, { fresh })
  end)
end)

describe("walks", function()
  local a = x * 2
  local b = damo.exp(a) + y

  it("find inputs, nodes and Variables", function()
    assert.same(3, #graph.graph_inputs { b })
    assert.equal(3, #graph.toposort { b })
    assert.equal("mul", tostring(graph.toposort({ b })[1].op):match "mul")
    local found = {}
    for _, v in ipairs(graph.ancestors { b }) do found[v] = true end
    assert.is_true(found[x] and found[y] and found[a] and found[b])
    assert.equal(2, #graph.toposort(b) - 1)
    assert.equal(a, graph.variables({ a }, { b })[1])
  end)

  it("copy with replacements", function()
    local c = graph.clone_replace({ b }, { [a] = y })[1]
    assert.near(math.exp(2) + 2, c:eval({ [y] = { 2 } })[1], 1e-12)
    failure("type", graph.clone_replace, { b }, { [a] = damo.dmatrix() })
  end)

  it("compare", function()
    assert.is_true(graph.equal_computations({ x + y }, { x + y }))
    assert.is_false(graph.equal_computations({ x + y }, { y + x }))
    assert.is_true(graph.equal_computations({ x + y }, { y + x }, { x, y }, { y, x }))
    failure("value", graph.equal_computations, { x }, { x, y })
  end)

  it("return the same objects, with their tags", function()
    local deep = damo.sum(damo.tanh(x) * y)
    graph.ancestors({ deep })[2].tag.mark = "here"
    garbage.collect()
    assert.equal("here", graph.ancestors({ deep })[2].tag.mark)
  end)
end)

describe("a FunctionGraph", function()
  local function make(clone)
    local a = x * 2
    local b = a + y
    return graph.FunctionGraph({ x, y }, { b }, { clone = clone }), a, b
  end

  it("has its own copy by default", function()
    local fg = make()
    assert.is_false(fg.inputs[1] == x)
    local plain, a, b = make(false)
    assert.equal(x, plain.inputs[1])
    assert.equal(b, plain.outputs[1])
    assert.equal(2, #plain.apply_nodes)
    assert.equal(2, #plain:toposort())
    assert.equal("FunctionGraph(2 inputs, 1 outputs, 2 nodes)", tostring(plain))
    local names = {}
    for _, v in ipairs(plain.variables) do names[v] = true end
    assert.is_true(names[x] and names[a] and names[b])
  end)

  it("knows the users of each Variable", function()
    local fg, a, b = make(false)
    assert.same({ { a.owner, 1 } }, fg:clients(x))
    assert.same({ { "output", 1 } }, fg:clients(b))
    assert.same({}, fg:clients(damo.dscalar()))
  end)

  it("is changed by checked replacement", function()
    local fg, a = make(false)
    fg:replace(a, x * 3, { reason = "because" })
    assert.equal(2, #fg.apply_nodes)
    assert.same({ 8 }, fg.outputs[1]:eval({ [x] = { 2 }, [y] = { 2 } }):totable())
    failure("type", fg.replace, fg, fg.outputs[1], damo.dmatrix())
    fg:validate()
    assert.is_true(fg:consistent())
  end)

  it("refuses cycles, and does not change then", function()
    local fg, a, b = make(false)
    local before = damo.printing.debugprint(fg, { file = "str" })
    failure("inconsistency", fg.replace, fg, x, b)
    failure("inconsistency", fg.change_node_input, fg, a.owner, 1, b)
    assert.equal(before, damo.printing.debugprint(fg, { file = "str" }))
    assert.is_true(fg:consistent())
  end)

  it("refuses unknown inputs", function()
    local fg, a = make(false)
    failure("missing_input", fg.replace, fg, a, damo.dvector "new" * 1)
    failure("missing_input", graph.FunctionGraph, { x }, { x + y })
    failure("value", graph.FunctionGraph, { x, x }, { x + 1 })
  end)

  it("replaces many at once, or none", function()
    local fg, a, b = make(false)
    failure("type", fg.replace_all, fg, { { a, x * 3 }, { b, damo.dmatrix() } })
    assert.equal(b, fg.outputs[1])
    fg:replace_all { [a] = x * 5 }
    assert.same({ 10 }, fg.outputs[1]:eval({ [x] = { 2 }, [y] = { 0 } }):totable())
    fg:change_node_input("output", 1, y + 1)
    assert.same({ 1 }, fg.outputs[1]:eval({ [y] = { 0 } }):totable())
    failure("index", fg.change_node_input, fg, "output", 2, y)
  end)

  it("can be cloned", function()
    local fg = make()
    local copy = fg:clone()
    assert.is_false(copy.outputs[1] == fg.outputs[1])
    assert.is_true(graph.equal_computations(fg.outputs, copy.outputs, fg.inputs, copy.inputs))
  end)
end)

describe("a feature", function()
  local function traced()
    local calls = {}
    local feature = {}
    for _, name in ipairs { "on_attach", "on_detach", "on_import", "on_prune", "on_change_input" } do
      feature[name] = function(self, fg, node, i)
        assert.equal(feature, self)
        assert.equal("userdata", type(fg))
        calls[#calls + 1] = name .. (type(node) == "userdata" and " " .. node.op.name or "") .. (i and " " .. i or "")
      end
    end
    return feature, calls
  end

  it("is called for each event", function()
    local a = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { a + 1 }, { clone = false })
    local feature, calls = traced()
    fg:attach_feature(feature)
    assert.equal(feature, fg.features[1])
    fg:replace(a, damo.dot(x, x) * x)
    local told = {}
    for _, call in ipairs(calls) do told[call] = true end
    assert.equal("on_attach", calls[1])
    assert.is_true(told["on_import Dot"] and told["on_change_input Elemwise 1"] and told["on_prune Elemwise"])
    fg:remove_feature(feature)
    assert.equal("on_detach", calls[#calls])
    assert.equal(0, #fg.features)
    failure("value", fg.remove_feature, fg, feature)
  end)

  it("may refuse a change", function()
    local a = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { a + 1 }, { clone = false })
    fg:attach_feature { validate = function() damo.raise("inconsistency", "not this") end }
    local err = failure("inconsistency", fg.replace_validate, fg, a, x)
    assert.truthy(err.message:find "not this", err.message)
    assert.equal(a, fg.outputs[1].owner.inputs[1])
    assert.is_false(fg:consistent())
    failure("type", fg.attach_feature, fg, 3)
  end)

  it("is not asked by replace", function()
    local a = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { a + 1 }, { clone = false })
    fg:attach_feature { validate = function() damo.raise("inconsistency", "not this") end }
    fg:replace(a, x)
    assert.equal(x, fg.outputs[1].owner.inputs[1])
    failure("inconsistency", fg.validate, fg)
  end)

  it("is attached once", function()
    local n, fg = 0, graph.FunctionGraph({ x }, { damo.exp(x) })
    local f = { on_attach = function() n = n + 1 end }
    fg:attach_feature(f)
    fg:attach_feature(f)
    assert.same({ 1, 1 }, { n, #fg.features })
    local handler = graph.DestroyHandler()
    fg:attach_feature(handler)
    fg:attach_feature(handler)
    assert.equal(2, #fg.features)
    fg:remove_feature(f)
    fg:attach_feature(f)
    assert.same({ 2, 2 }, { n, #fg.features })
  end)

  it("that fails when a node is pruned does not undo the change, and its error is raised", function()
    local a = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { a + 1 }, { clone = false })
    fg:attach_feature { on_prune = function() error "too late" end }
    local err = failure("callback", fg.replace, fg, a, x)
    assert.truthy(err.message:find "on_prune failed")
    assert.equal(x, fg.outputs[1].owner.inputs[1])
    assert.is_true(fg:consistent())
  end)

  it("is freed with its FunctionGraph, also in a cycle", function()
    local function cycle()
      local fg = graph.FunctionGraph({ x }, { x + 1 })
      fg:attach_feature { fg = fg, on_import = function() return fg end }
    end
    cycle()
    garbage.collect()
    local before = damo.memory().objects
    for _ = 1, 50 do cycle() end
    garbage.collect()
    assert.equal(before, damo.memory().objects)
  end)
end)

describe("texts", function()
  local z = damo.exp(x) * y

  it("are trees", function()
    local text = damo.printing.debugprint(z, { file = "str" })
    assert.truthy(text:find("exp", 1, true), text)
    assert.truthy(text:find("x [id", 1, true), text)
    assert.truthy(damo.printing.debugprint(z, { file = "str", print_type = true }):find("float64", 1, true))
    local f = damo.compile({ x, y }, z)
    assert.truthy(damo.printing.debugprint(f, { file = "str" }):find("exp", 1, true))
    failure("value", damo.printing.debugprint, z, { fiel = "str" })
  end)

  it("are lines", function() assert.equal("exp(x) * y", damo.printing.pprint(z)) end)

  it("are drawings", function()
    local text = damo.printing.dot(z)
    assert.truthy(text:find "^digraph")
    assert.truthy(text:find("exp", 1, true))
  end)
end)

describe("import_missing", function()
  local a, b = damo.dvector "a", damo.dvector "b"

  it("adds the inputs that a replacement needs", function()
    local e = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { e * 2 }, { clone = false })
    failure("missing_input", fg.replace, fg, e, a + b)
    assert.equal(1, #fg.inputs)
    fg:replace(e, a + b, { import_missing = true })
    assert.same({ x, a, b }, fg.inputs)
    assert.is_true(fg:consistent())
    local f = damo.compile(fg.inputs, fg.outputs[1], { on_unused_input = "ignore" })
    assert.same({ 14 }, f({ 0 }, { 1 }, { 6 }):totable())
  end)

  it("is an option of each form of replacement", function()
    for _, change in ipairs {
      function(fg, e, now, o) fg:replace_validate(e, now, o) end,
      function(fg, e, now, o) fg:replace_all({ [e] = now }, o) end,
      function(fg, e, now, o) fg:replace_all_validate({ { e, now } }, o) end,
      function(fg, _, now, o) fg:change_node_input(fg.outputs[1].owner, 1, now, o) end,
    } do
      local e = damo.exp(x)
      local fg = graph.FunctionGraph({ x }, { e * 2 }, { clone = false })
      change(fg, e, a, { import_missing = true })
      assert.same({ x, a }, fg.inputs)
      assert.same({ fg.outputs[1].owner, 1 }, fg:clients(a)[1])
    end
  end)

  it("adds nothing if the change fails", function()
    local e = damo.exp(x)
    local fg = graph.FunctionGraph({ x }, { e * 2 }, { clone = false })
    failure("type", fg.replace, fg, e, damo.dmatrix "m" * 2, { import_missing = true })
    fg:attach_feature { validate = function() damo.raise("inconsistency", "not this") end }
    failure("inconsistency", fg.replace_validate, fg, e, a, { import_missing = true })
    assert.same({ x }, fg.inputs)
    assert.equal(e, fg.outputs[1].owner.inputs[1])
  end)
end)

describe("a node over inputs with more static Types", function()
  local one = damo.tensor("one", { dtype = "float64", shape = { 1 } })
  local three = damo.tensor("three", { dtype = "float64", shape = { 3 } })

  it("is made anew by its Op, strict or not", function()
    local node = damo.add(x, one).owner
    for _, strict in ipairs { true, false } do
      local made = node:clone_with_new_inputs({ one, one }, strict)
      assert.equal("TensorType(float64, shape=(1,))", tostring(made.outputs[1].type))
      assert.equal(node.op, made.op)
    end
    assert.equal("TensorType(float64, shape=(?,))", tostring(node:clone().outputs[1].type))
    failure("type", node.clone_with_new_inputs, node, { damo.dmatrix "m", one })
    local Id = damo.Op { name = "Id", perform = print,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end }
    assert.equal(three.type, Id(x).owner:clone_with_new_inputs({ three }).outputs[1].type)
  end)

  it("is so in clone_replace, throughout the graph", function()
    local z = damo.exp(damo.add(x, 1) * 2)
    local made = graph.clone_replace({ z }, { [x] = three })[1]
    assert.equal("TensorType(float64, shape=(3,))", tostring(made.type))
    assert.same({ 3 }, { damo.compile({ three }, made)(damo.zeros { 3 }).size })
  end)
end)
