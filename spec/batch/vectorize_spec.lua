-- vectorize and vectorize_graph: what they give, for which arguments, and what they refuse.
local damo = require "damo"
local harness = require "spec.batch.harness"

local function totable(v) return type(v) == "userdata" and v:totable() or v end

local function fails(kind, text, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.equal(kind, type(err) == "table" and err.kind or tostring(err))
  assert.truthy(tostring(err):find(text, 1, true), tostring(err))
end

local Half = damo.Op { -- x / 2, of a script
  name = "Half",
  make_node = function(self, x) return damo.Apply(self, { x }, { x.type() }) end,
  perform = function(_, _, inputs, storage) storage[1][1] = inputs[1] / 2 end,
  grad = function(_, _, gradients) return { gradients[1] / 2 } end,
}

local function mean_of()
  local x = damo.dvector "x"
  return damo.graph.OpFromGraph({ x }, { damo.sum(x * x) / 3, damo.exp(x) })
end

describe("a node over a batch", function()
  harness.run(it, {
    { name = "elementwise", cores = { { 4 }, { 2, 4 } }, fn = function(x, y) return damo.exp(x) + y * 2 end },
    { name = "of 0-d values", cores = { {}, {} }, fn = function(x, y) return x * y + 3, damo.sum(y) end },
    { name = "matrix by vector", cores = { { 4, 3 }, { 3 } }, fn = damo.dot },
    { name = "matrix by matrix", cores = { { 4, 3 }, { 3, 2 } }, fn = damo.dot },
    { name = "vector by matrix", cores = { { 3 }, { 3, 2 } }, fn = damo.dot },
    { name = "vector by vector", cores = { { 3 }, { 3 } }, fn = damo.dot },
    { name = "one row by matrix", cores = { { 1, 3 }, { 3, 2 } }, fn = damo.dot },
    { name = "stacks of matrices", cores = { { 2, 4, 3 }, { 2, 3, 2 } }, fn = damo.matmul },
    { name = "reductions", cores = { { 4, 2 } }, fn = function(x)
      return damo.sum(x, { axis = 2 }), damo.max(x), damo.argmax(x, { axis = 1 }), damo.argmin(x),
        damo.logsumexp(x, { axis = 1, keepdims = true }), damo.var(x, { axis = 2 }), damo.prod(x, { axis = 1 })
    end },
    { name = "axes", cores = { { 4, 2, 1 } }, fn = function(x)
      return damo.dimshuffle(x, { 2, "x", 1 }), damo.transpose(x)
    end },
    { name = "an Op of a script", cores = { { 3 } }, loop = true, fn = function(x) return Half(x) end },
    { name = "an OpFromGraph", cores = { { 3 } }, fn = function(x) return mean_of()(x) end },
    { name = "a loop", cores = { { 3 }, {} }, loop = true, fn = function(x, y)
      return damo.scan(function(xi, s) return s * y + xi end, { sequences = x, outputs_info = damo.constant(0.5) })
    end },
    { name = "a branch", cores = { { 2 }, { 2 } }, loop = true, fn = function(x, y)
      return damo.ifelse(damo.gt(damo.sum(x), 0), x * y, damo.exp(y))
    end, leads = { { { 3 }, {} }, { { 3 }, { 3 } } } },
  })
end)

describe("vectorize_graph", function()
  local x, y = damo.dvector "x", damo.dvector "y"

  it("gives a result the leading axes of what it depends on", function()
    local X = damo.tensor("X", { dtype = "float64", shape = { false, 1, false } })
    local Y = damo.dmatrix "Y"
    local out = damo.graph.vectorize_graph({ damo.sum(x), damo.sum(y), x * y, damo.exp(damo.dscalar "z") },
      { [x] = X, [y] = Y })
    assert.same({ 2, 1, 3, 0 }, { out[1].ndim, out[2].ndim, out[3].ndim, out[4].ndim })
    assert.equal(1, out[1].type.shape[2])
    assert.equal(2, damo.graph.vectorize_graph(x * y, { [x] = damo.dmatrix(), [y] = damo.dvector() }).ndim)
  end)

  it("replaces without leading axes too, and shares what depends on nothing replaced", function()
    local z, e = damo.dvector "z", damo.exp(y)
    local out = damo.graph.vectorize_graph(damo.sin(x) + e, { [x] = z })
    assert.equal(e, out.owner.inputs[2])
    assert.equal(z, out.owner.inputs[1].owner.inputs[1])
    assert.equal(e, damo.graph.vectorize_graph(e, { [x] = z }))
  end)

  it("replaces Variables between inputs and outputs", function()
    local e = damo.exp(x)
    local E = damo.dmatrix "E"
    local f = damo.compile({ E }, damo.graph.vectorize_graph(damo.sum(e) + 1, { [e] = E }))
    assert.same({ 4, 8 }, f({ { 1, 2 }, { 3, 4 } }):totable())
  end)

  it("keeps a sparse operand that all entries share, and refuses a batch of sparse results", function()
    local A = damo.sparse.csr_matrix "A"
    local X = damo.dmatrix "X"
    local f = damo.compile({ A, X }, damo.graph.vectorize_graph(damo.dot(A, x), { [x] = X }))
    local a = damo.sparse.csr_from_dense(damo.array { { 1, 0 }, { 0, 2 } })
    assert.same({ { 1, 4 }, { 3, 8 } }, f(a, { { 1, 2 }, { 3, 4 } }):totable())
    local scaled = damo.sparse.col_scale(A, x)
    fails("not_implemented", "of which there are no batches", damo.graph.vectorize_graph, scaled, { [x] = X })
  end)

  it("draws for each entry, and keeps the generator's state", function()
    local rs = damo.random.RandomStream(3)
    local draw = rs:normal(x, 1e-3)
    local X = damo.dmatrix "X"
    local f = damo.compile({ X }, damo.graph.vectorize_graph(draw, { [x] = X }))
    local seen = {}
    for _ = 1, 3 do
      for _, row in ipairs(f({ { 1, 2 }, { 3, 4 } }):totable()) do
        for _, v in ipairs(row) do
          local noise = ("%.12f"):format(v - math.floor(v + 0.5))
          assert.is_nil(seen[noise])
          seen[noise] = true
        end
      end
    end
  end)

  it("refuses what can't stand for a Variable", function()
    fails("type", "can't stand for x", damo.graph.vectorize_graph, x, { [x] = damo.fmatrix "m" })
    fails("type", "can't stand for x", damo.graph.vectorize_graph, x, { [x] = damo.dscalar "s" })
    local v = damo.tensor("v", { dtype = "float64", shape = { 3 } })
    local m = damo.tensor("m", { dtype = "float64", shape = { 2, 4 } })
    fails("shape", "axis 2 of m has length 4, not 3", damo.graph.vectorize_graph, v, { [v] = m })
    fails("type", "argument 2 (replace)", damo.graph.vectorize_graph, x)
    fails("type", "keys must be Variables", damo.graph.vectorize_graph, x, { x = x })
  end)
end)

describe("vectorize", function()
  local times = damo.vectorize(function(a, b) return damo.dot(a, b) end, "(m,n),(n)->(m)")

  it("computes on values, and makes graph of Variables", function()
    assert.same({ 5, 11 }, totable(times({ { 1, 2 }, { 3, 4 } }, { 1, 2 })))
    assert.same({ { 5, 11 }, { 11, 25 } }, totable(times({ { 1, 2 }, { 3, 4 } }, { { 1, 2 }, { 3, 4 } })))
    local A, b = damo.dtensor3 "A", damo.dvector "b"
    local f = damo.compile({ A, b }, times(A, b))
    assert.same({ { 3 }, { 7 } }, f({ { { 1, 2 } }, { { 3, 4 } } }, { 1, 1 }):totable())
    local g = damo.compile({ b }, times(damo.array { { 1, 2 }, { 3, 4 } }, b))
    assert.same({ 3, 7 }, g({ 1, 1 }):totable())
  end)

  it("broadcasts the leading axes", function()
    local inner = damo.vectorize(function(a, b) return damo.sum(a * b) end, "(n),(n)->()")
    local a, b = damo.ones { 2, 1, 3 }, damo.ones { 5, 3 }
    assert.same({ 2, 5 }, inner(a, b).shape)
    assert.equal(3, inner(damo.ones { 3 }, damo.ones { 3 }))
    assert.same({ 0 }, inner(damo.ones { 0, 3 }, damo.ones { 3 }).shape)
    fails("shape", "do not broadcast", inner, damo.ones { 2, 3 }, damo.ones { 4, 3 })
    fails("shape", "dimension n is 3 in operand 1, of shape (2, 3), and 1 in operand 2, of shape (2, 1)", inner,
      damo.ones { 2, 3 }, damo.ones { 2, 1 })
  end)

  it("takes several results, lists of them, and values among them", function()
    local f = damo.vectorize(function(a) return { damo.max(a), damo.cumsum(a), 3 } end, "(n)->(),(n),()")
    local most, sums, three = f { { 1, 2 }, { 3, 4 } }
    assert.same({ { 2, 4 }, { { 1, 3 }, { 3, 7 } }, { 3, 3 } }, { most:totable(), sums:totable(), three:totable() })
  end)

  it("takes lengths in a signature", function()
    local f = damo.vectorize(function(a) return a[1] + a[2] end, " ( 2 ) -> ( ) ")
    assert.same({ 3, 7 }, f({ { 1, 2 }, { 3, 4 } }):totable())
    fails("shape", "has length 3, the signature says 2", f, damo.ones { 3 })
    local x = damo.dvector "x"
    local g = damo.compile({ x }, f(x))
    assert.equal(3, g { 1, 2 })
    fails("shape", "vectorize: operand 1 (2), of dimension 2: axis 1 has length 3, not 2", g, { 1, 2, 3 })
  end)

  it("checks lengths when the graph runs where they are not known before", function()
    local f = damo.vectorize(function(a, b) return damo.sum(a) + damo.sum(b) end, "(n),(n)->()")
    local a, b = damo.dmatrix "a", damo.dvector "b"
    local g = damo.compile({ a, b }, f(a, b))
    assert.same({ 4, 4 }, g(damo.ones { 2, 2 }, damo.ones { 2 }):totable())
    fails("shape", "operand 2 (n), of dimension n as in operand 1: axis 1 has length 3, not 2", g, damo.ones { 2, 2 },
      damo.ones { 3 })
    local c = damo.tensor("c", { dtype = "float64", shape = { 3 } })
    local d = damo.tensor("d", { dtype = "float64", shape = { 4 } })
    fails("shape", "dimension n is 3 in operand 1, of shape (3,), and 4 in operand 2, of shape (4,)", f, c, d)
  end)

  it("calls f once for operands of the same Types", function()
    local n = 0
    local f = damo.vectorize(function(a)
      n = n + 1
      return damo.exp(a)
    end, "()->()")
    f(damo.ones { 2 })
    f(damo.ones { 3 })
    assert.equal(1, n)
    f(damo.ones { 3 }:astype "float32")
    assert.equal(2, n)
  end)

  it("refuses what it can't take", function()
    fails("type", "argument 1 (f) must be a function, got nil", damo.vectorize)
    fails("type", "argument 2 (signature) must be a string", damo.vectorize, damo.exp)
    fails("value", "an arrow", damo.vectorize, damo.exp, "(n)")
    fails("value", "no list of dimensions", damo.vectorize, damo.exp, "(n->(n)")
    fails("value", "no list of dimensions", damo.vectorize, damo.exp, "(n)(m)->(n)")
    fails("value", "the dimension '0'", damo.vectorize, damo.exp, "(0)->()")
    fails("type", "too many arguments", damo.vectorize, damo.exp, "()->()", 1)
    fails("value", "takes 2 operands, got 1", times, { 1 })
    fails("type", "operand 2 must be a Variable or a value, got nil", times, { { 1 } }, nil)
    fails("type", "operand 1 must be a tensor, got a sparse matrix", times, damo.sparse.eye(2), { 1, 2 })
    fails("shape", "operand 1 has 1 axis, its dimensions are (m,n)", times, { 1, 2 }, { 1, 2 })
    fails("value", "the signature has 2 results, the function gives 1", damo.vectorize(damo.exp, "()->(),()"), 1)
    fails("shape", "result 1 of the function has 0 axes, its dimensions are (n)", damo.vectorize(damo.sum, "(n)->(n)"),
      { 1, 2 })
    fails("type", "result 1 of the function must be a Variable or a value", damo.vectorize(function() return print end,
      "()->()"), 1)
  end)
end)
