-- damo.save_graph and damo.load_graph, and the format "graph" of damo.io. Every op function's graph goes through these
-- bytes too: spec/op/harness.lua, spec/linalg/harness.lua, spec/sparse/debug_spec.lua.
local damo = require "damo"
local failure = require "spec.support.failure"
local stored = require "spec.support.stored"
local with_folder = require "spec.support.folder"
local garbage = require "spec.support.garbage"

local FORMAT = { format = "graph" }
local function bytes_of(graph, options)
  local o = { format = "graph" }
  for k, v in pairs(options or {}) do o[k] = v end
  return damo.io.format(graph, o)
end
local function again(graph, options) return damo.io.parse(bytes_of(graph), options) end
local function compiled(graph) return damo.compile(graph.inputs, graph.outputs, { updates = graph.updates }) end

-- A model with a shared matrix, draws, and an update.
local function model()
  local x = damo.dmatrix "x"
  local w = damo.shared({ { 1, 2 }, { 3, 4 } }, "w")
  local rs = damo.random.RandomStream(42)
  local y = damo.sum(damo.exp(damo.dot(x, w) / 10)) + damo.sum(rs:normal(0, 1, { size = { 2 } }))
  y.name = "loss"
  return { inputs = { x }, outputs = { y }, updates = { { w, w - 0.1 * damo.grad(y, w) } } }, x, w, y
end

local X = damo.array { { 1, 0 }, { 0, 1 } }

describe("a saved graph", function()
  it("names what an update is to be, where a text is given", function()
    local x, w = damo.dvector "x", damo.shared({ 1 }, "w")
    local ok, err = pcall(damo.io.format, { inputs = { x }, outputs = { x },
      updates = { { w, "a" } } }, { format = "graph" })
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
    assert.are.equal("format: updates: the new value of w must be a Variable or a value, got string", err.message)
  end)

  it("takes updates as compiling takes them", function()
    local x, w = damo.dvector "x", damo.shared({ 1.5, 2 }, "w")
    local function update(to) return { inputs = { x }, outputs = { x }, updates = { { w, to } } } end
    for _, to in ipairs { damo.dmatrix "m", damo.constant(damo.ones { 3, 3 }), damo.cast(x, "complex128") } do
      local said = failure("type", bytes_of, update(to)).message
      assert.is_truthy(said:find("save_graph: the update of w must be of TensorType(float64", 1, true), said)
      said = failure("type", damo.save_graph, "/nowhere/at/all", update(to)).message
      assert.is_truthy(said:find("the update of w", 1, true), said)
    end
    local f = compiled(again(update(damo.cast(x, "int8")))) -- cast back to float64
    f(damo.array { 7.9, 1 })
    local s = damo.shared(1.5, "s")
    local copy = again { inputs = {}, outputs = {}, updates = { { s, 4 } } } -- a literal
    compiled(copy)()
    assert.equal(4, copy.shared.s:get_value())
    local b = damo.dscalar "b"
    local err = failure("type", bytes_of, { inputs = { damo.In(b, { value = 1, update = x }) }, outputs = { b } })
    assert.is_truthy(err.message:find("save_graph: the update of b", 1, true))
  end)

  it("computes what the graph computes, draws and updates included", function()
    with_folder(function(dir)
      local g = model()
      local path = dir .. "/model.graph"
      assert.is_true(damo.save_graph(path, g))
      local copy = damo.load_graph(path)
      local f, h = compiled(g), compiled(copy)
      for _ = 1, 3 do assert.equal(f(X), h(X)) end
      assert.equal("x", copy.inputs[1].name)
      assert.equal("loss", copy.outputs[1].name)
      assert.equal("w", copy.shared[1].name)
      assert.equal(copy.shared[1], copy.shared.w)
      assert.equal(2, #copy.shared)
      assert.equal(copy.shared.w, copy.updates[1][1])
    end)
  end)

  it("is a Function's with all that it updates", function()
    local g = model()
    local f = compiled(g)
    f(X)
    local copy = again(f)
    local h = compiled(copy)
    assert.equal(2, #copy.updates)
    for _ = 1, 3 do assert.equal(f(X), h(X)) end
    local still = again(damo.compile(g.inputs, g.outputs, { no_default_updates = true }))
    h = compiled(still)
    assert.equal(0, #still.updates)
    assert.equal(h(X), h(X))
  end)

  it("keeps what an In says, and names of outputs", function()
    local a, b = damo.dscalar "a", damo.dscalar "b"
    local f = damo.compile({ a, damo.In(b, { value = 2, update = b + a, name = "sum" }) }, { twice = a * 2, b = b })
    local h = compiled(again(f))
    local first = h(5)
    assert.same({ twice = 10, b = 2 }, { twice = first.twice, b = first.b })
    assert.equal(7, h(5).b)
    assert.equal(1, h:call { a = 3, sum = 1 }.b)
  end)

  it("has givens in place", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local h = compiled(again(damo.compile({ y }, damo.sum(x), { givens = { { x, y * 2 } } })))
    assert.equal(12, h(damo.array { 1, 2, 3 }))
  end)

  it("gives the same bytes for the same graph", function()
    local bytes, plain = {}, {}
    for i = 1, 3 do
      local g = model()
      bytes[i], plain[i] = bytes_of(g), bytes_of(g, { lines = false })
      assert.is_true(bytes[i] == bytes_of(again(g)))
    end
    assert.is_true(bytes[1] == bytes[2] and bytes[1] == bytes[3] and plain[1] == plain[3])
    assert.is_true(plain[1] == bytes_of((model()), { lines = false }))
  end)

  it("keeps the user's lines unless told otherwise", function()
    local x = damo.dvector "x"
    local g = { inputs = { x }, outputs = { damo.assert_op(x, damo.all(x:gt(0))) } }
    local line = "save_graph_spec.lua:" .. debug.getinfo(1, "l").currentline - 1
    local with, without = bytes_of(g), bytes_of(g, { lines = false })
    assert.is_truthy(with:find(line, 1, true))
    assert.is_nil(without:find("save_graph_spec", 1, true))
    local copy = damo.io.parse(with)
    local err = failure("value", compiled(copy), damo.zeros { 3 })
    assert.is_truthy(tostring(err):find(line, 1, true), tostring(err))
    assert.equal(1, compiled(damo.io.parse(without))(damo.ones { 1 })[1])
  end)

  it("holds loops, graphs in Ops, branches and sparse values", function()
    local s, h0 = damo.dvector "s", damo.dscalar "h0"
    local function step(x_t, past) return damo.tanh(past * 0.5 + x_t) end
    local h = damo.scan(step, { sequences = s, outputs_info = h0 })
    local rs = damo.random.RandomStream(3)
    local walk = damo.scan(function(past) return past + rs:normal() end, { outputs_info = h0, n_steps = 4 })
    local k = damo.shared(3.0, "k")
    local op = damo.graph.OpFromGraph({ s, h0 }, { s * h0 + damo.exp(h0) * k }, { name = "Affine" })
    local A = damo.sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
    local y = op(s, h0)
    local z = damo.ifelse(damo.gt(h0, 0), damo.sum(y), h0 * 2)
    local outputs = {
      h, walk, y, z, damo.sparse.dot(damo.constant(A), s), damo.grad(damo.sum(h) + z, h0),
      damo.grad(damo.sum(walk), h0),
    }
    local f = damo.compile({ s, h0 }, outputs)
    local copy = again { inputs = { s, h0 }, outputs = outputs }
    local g = damo.compile(copy.inputs, copy.outputs)
    for _, start in ipairs { 0.5, -1 } do
      local want, got = { f(damo.array { 1, 2, 3 }, start) }, { g(damo.array { 1, 2, 3 }, start) }
      for i = 1, #outputs do
        local same = type(want[i]) == "number" and want[i] == got[i] or damo.array_equal(want[i], got[i])
        assert.is_true(same, "output " .. i)
      end
    end
    -- Derivatives of what was loaded are those of the original.
    local wanted = damo.compile({ s, h0 }, damo.grad(damo.sum(y) + damo.sum(h), { s, k }))
    local slopes = damo.grad(damo.sum(copy.outputs[3]) + damo.sum(copy.outputs[1]), { copy.inputs[1], copy.shared.k })
    local want, got = { wanted(damo.array { 1, 2, 3 }, 0.5) },
      { damo.compile(copy.inputs, slopes)(damo.array { 1, 2, 3 }, 0.5) }
    assert.is_true(damo.array_equal(want[1], got[1]))
    assert.equal(want[2], got[2])
  end)

  it("holds a graph as rewriting has left it", function()
    local x, w = damo.dmatrix "x", damo.dmatrix "w"
    local f = damo.compile({ x, w }, damo.sum(damo.tanh(damo.dot(x, w) + 1)))
    local fg = f.fgraph
    local inputs, outputs = stored(fg.inputs, fg.outputs)
    local h = damo.compile(inputs, outputs, { mode = damo.Mode { optimizer = "none" } })
    assert.equal(f(X, X), h(X, X))
  end)

  it("has Types with patterns, constants of all dtypes, strange numbers", function()
    local outputs = {}
    for _, dtype in ipairs { "bool", "int8", "uint64", "float32", "complex64", "complex128" } do
      outputs[#outputs + 1] = damo.tile(damo.constant(damo.array({ 1, 0, 1 }, dtype)), { 2 })
    end
    outputs[#outputs + 1] = damo.constant(damo.array { 1 / 0, -1 / 0, 0 / 0, -0.0 }) + damo.dvector "v"
    outputs[#outputs + 1] = damo.tile(damo.constant(damo.zeros { 0, 3 }), { 2, 1 })
    local A = damo.sparse.csc { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 3, 2 } }
    outputs[#outputs + 1] = damo.shared(A, "A") * 2
    assert.equal(#outputs, #select(2, stored({}, outputs)))
  end)

  it("is under another floatX what it was", function()
    local i = damo.ivector "i"
    local bytes = bytes_of { inputs = { i }, outputs = { damo.exp(i) / 3, damo.sqrt(i) } }
    local before = damo.config.floatX
    damo.config.floatX = "float32"
    local ok, copy = pcall(damo.io.parse, bytes)
    damo.config.floatX = before
    assert.is_true(ok, tostring(copy))
    assert.equal("float64", copy.outputs[1].dtype)
  end)
end)

describe("a graph that was read", function()
  local function chain(n)
    local x = damo.dvector "x"
    local y = x
    for i = 1, n do y = damo.tanh(y) + i end
    return bytes_of { inputs = { x }, outputs = { y } }
  end

  it("keeps what a script attaches to it", function()
    local g = damo.io.parse(chain(4))
    local y = g.outputs[1]
    g.inputs[1].tag.note = "x"
    y.owner.inputs[1].owner.tag.note = "node"
    local z = g.outputs[1] * 2
    g = nil -- luacheck: ignore
    garbage.collect()
    assert.equal("node", z.owner.inputs[1].owner.inputs[1].owner.tag.note)
    local below = y
    while below.owner do below = below.owner.inputs[1] end
    assert.equal("x", below.tag.note)
    assert.equal("x", damo.graph.graph_inputs({ z })[1].tag.note)
  end)

  it("is garbage when nothing refers to it", function()
    local seen = setmetatable({}, { __mode = "k" })
    for i = 1, 40 do
      local g = damo.io.parse(chain(3))
      seen[g.outputs[1]], seen[g.inputs[1]] = true, true
      if i % 3 == 0 then seen[g.outputs[1].owner] = true end
      g.outputs[1].tag.itself = g
    end
    garbage.collect()
    assert.is_nil(next(seen))
  end)
end)

describe("Ops of a script in a saved graph", function()
  local T = damo.TensorType("float64", { ndim = 1 })
  local Scale = damo.Op {
    name = "Scale", props = { "factor" }, itypes = { T }, otypes = { T },
    perform = function(op, _, inputs, out) out[1][1] = inputs[1] * op.factor end,
  }
  local one = damo.Op {
    name = "One", itypes = { T }, otypes = { T }, perform = function(_, _, inputs, out) out[1][1] = inputs[1] + 1 end,
  }

  it("come from `ops`, with their properties", function()
    local x = damo.dvector "x"
    local bytes = bytes_of { inputs = { x }, outputs = { Scale { factor = 3 }(one(x)) } }
    for _, class in ipairs { Scale, Scale { factor = 1 } } do
      local copy = damo.io.parse(bytes, { ops = { Scale = class, One = one } })
      assert.equal(6, damo.compile(copy.inputs, copy.outputs)(damo.ones { 1 })[1])
    end
    local err = failure("value", damo.io.parse, bytes)
    assert.is_truthy(err.message:find("One", 1, true))
    err = failure("value", damo.io.parse, bytes, { ops = { One = one } })
    assert.is_truthy(err.message:find("Scale", 1, true))
    failure("type", damo.io.parse, bytes, { ops = { One = 3 } })
    failure("type", damo.io.parse, bytes, { ops = { one } })
  end)
end)

describe("what no file can hold", function()
  local function refused(graph, name)
    with_folder(function(dir)
      local path = dir .. "/g"
      local err = failure("type", damo.save_graph, path, graph)
      assert.is_truthy(err.message:find(name, 1, true), err.message)
      assert.is_nil(io.open(path))
      damo.save_graph(path, { inputs = {}, outputs = { damo.constant(1.0) } })
      failure("type", damo.save_graph, path, graph)
      assert.equal(1, damo.compile({}, damo.load_graph(path).outputs)())
    end)
  end

  it("is refused by name before the file is touched", function()
    local x, s = damo.dscalar "x", damo.dvector "s"
    local settings = damo.constant({ "fast" }, { type = damo.GenericType() })
    settings.name = "settings"
    local use = damo.Op {
      name = "Use", make_node = function(op, y, g) return damo.Apply(op, { y, g }, { y.type() }) end,
      perform = function(_, _, inputs, out) out[1][1] = inputs[1] end,
    }
    refused({ inputs = { x }, outputs = { use(x, settings) } }, "settings")
    local op = damo.graph.OpFromGraph({ x }, { x * 2 }, {
      name = "Steep", lop_overrides = function(_, _, gs) return { gs[1] * 3 } end,
    })
    refused({ inputs = { x }, outputs = { op(x) } }, "Steep")
    local h = damo.scan(function(x_t) return x_t * 2 end, { sequences = s, progress = function() end, name = "slow" })
    refused({ inputs = { s }, outputs = { h } }, "slow")
  end)

  it("is no graph", function()
    failure("type", damo.io.format, 3, FORMAT)
    failure("value", damo.io.format, { inputs = {}, output = {} }, FORMAT)
    failure("type", damo.save_graph, "/tmp/none", nil)
    local err = failure("type", damo.io.format, { inputs = 3, outputs = {} }, FORMAT)
    assert.is_truthy(err.message:find("format: inputs must be a list of Variables, got number", 1, true), err.message)
    local x = damo.dscalar "x"
    failure("type", damo.io.format, { inputs = { x }, outputs = { x }, updates = { { x, x + 1 } } }, FORMAT)
    local f = damo.compile({ x }, x * 2)
    f:free()
    failure("state", damo.io.format, f, FORMAT)
  end)
end)

describe("a damaged graph", function()
  local bytes
  setup(function() bytes = bytes_of((model())) end)

  it("is refused wherever it is cut", function()
    for n = 0, #bytes - 1 do
      local kind = n >= 8 and "io" or "value" -- a file without its mark has no format
      failure(kind, damo.io.parse, bytes:sub(1, n))
      if n < 8 then failure("io", damo.io.parse, bytes:sub(1, n), FORMAT) end
    end
    failure("io", damo.io.parse, bytes .. "\0")
  end)

  it("is refused whichever byte is another", function()
    for i = 1, #bytes do
      local b = bytes:byte(i)
      for _, other in ipairs { (b + 1) % 256, (b + 128) % 256, b == 255 and 0 or 255 } do
        local err = failure("io", damo.io.parse, bytes:sub(1, i - 1) .. string.char(other) .. bytes:sub(i + 1), FORMAT)
        assert.is_truthy(err.message:find("^bytes: "))
      end
    end
  end)

  it("of a later version says so", function()
    local later = bytes:sub(1, 8) .. "\2" .. bytes:sub(10)
    assert.is_truthy(failure("io", damo.io.parse, later).message:find("version 2", 1, true))
  end)

  it("gives nil and the error where that is asked for", function()
    local nothing, err = damo.io.parse(bytes:sub(1, -2), { on_fail = "return" })
    assert.is_nil(nothing)
    assert.equal("io", err.kind)
    failure("io", damo.load_graph, "/nowhere/at/all")
  end)
end)
