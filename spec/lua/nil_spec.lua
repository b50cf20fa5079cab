-- Trailing nils count as absent in every function, so that a wrapper may pass on arguments that it was not given,
-- `function(x, opts) return damo.sum(x, opts) end`.
local damo = require "damo"
local failure = require "spec.support.failure"
local sparse = damo.sparse

local a = damo.array { { 1.0, 2 }, { 3, 4 } }
local m = sparse.from_dense(a, "csr")
local x = damo.dmatrix "x"
local s = sparse.csr_matrix "s"
local k = damo.dscalar "k"
local scalars = damo.compile({ x, damo.In(k, { value = 2 }) }, damo.sum(x) * k)

local identity = damo.Op {
  name = "Identity",
  make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
  perform = function(_, _, inputs, out) out[1][1] = inputs[1] end,
}
local typed = damo.Op {
  name = "Typed", itypes = { damo.TensorType("float64", { false, false }) },
  otypes = { damo.TensorType("float64", { false, false }) },
  perform = function(_, _, inputs, out) out[1][1] = inputs[1] end,
}
local scale = damo.Op {
  name = "Scale", props = { "factor" },
  make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
  perform = function(self, _, inputs, out) out[1][1] = inputs[1] * self.factor end,
}
local graph = damo.graph.OpFromGraph({ x }, { x * 2 })

-- The functions, and their arguments.
local calls = {
  sin = { damo.sin, a }, add = { damo.add, a, 1 }, clip = { damo.clip, a, 0, 3 }, sum = { damo.sum, a },
  ["sum with options"] = { damo.sum, a, { axis = 1 } }, ["sum with an axis"] = { damo.sum, a, 1 },
  reshape = { damo.reshape, a, { 4 } }, dimshuffle = { damo.dimshuffle, a, { 2, 1 } },
  join = { damo.join, 1, { a, a } },
  ["a method"] = { a.sum, a }, ["a Variable's method"] = { x.sin, x }, ["a Variable"] = { damo.exp, x },
  ["a sparse function"] = { sparse.sin, m }, ["a function of a sparse matrix"] = { damo.sum, m, { axis = 1 } },
  ["a sparse method"] = { m.tocsc, m }, ["a sparse Variable"] = { sparse.neg, s },
  zeros = { damo.zeros, { 2, 2 } }, array = { damo.array, { 1, 2 } }, arange = { damo.arange, 3 },
  range = { damo.range, 3 }, shared = { damo.shared, a }, constant = { damo.constant, a },
  ["a maker"] = { damo.dmatrix, "x" }, ["a sparse maker"] = { sparse.csr_matrix, "A" },
  ["a maker by format"] = { sparse.matrix, "csr", "A" }, ["a maker without a name"] = { sparse.csr_matrix },
  from_dense = { sparse.from_dense, a, "csr" }, csr_from_dense = { sparse.csr_from_dense, a },
  compile = { damo.compile, { x }, damo.sum(x) }, grad = { damo.grad, damo.sum(x), x },
  ["an index and a value"] = { x.set, x, { 1 }, damo.dvector "v" }, ["x:inc"] = { x.inc, x, { 1 }, damo.dvector "v" },
  ["an Op"] = { damo.sum(x).owner.op, x }, ["an Op in Lua"] = { identity, x }, ["an Op of Types"] = { typed, x },
  ["a class of Ops"] = { scale, { factor = 2 } }, ["an Op of properties"] = { scale { factor = 2 }, x },
  ["an Op that holds a graph"] = { graph, x }, ["an Op of a list of results"] = { identity, x, { return_list = true } },
  make_node = { identity.make_node, identity, x },
  ["a class of the engine's Ops"] = { sparse.ToFormat, { format = "csc" } },
  ["such a class called"] = { sparse.Neg, s }, ["such a class without properties"] = { sparse.Neg },
  ["a Function"] = { scalars, a }, ["a Function, all inputs given"] = { scalars, a, 3 },
  ["f:call"] = { scalars.call, scalars, { a } }, ["f:into"] = { scalars.into, scalars, damo.zeros {} },
  ["a Function with places for results"] = { scalars:into(damo.zeros {}), a },
  ["a draw"] = { damo.random.normal, 0, 1 }, ["a draw of a state"] = { damo.random.normal, 0, 1,
    { rng = damo.random.state(1) } },
  ["a sparse draw"] = { sparse.poisson, m }, ["a draw of a stream"] = { function(...)
    return damo.random.RandomStream(1):normal(...)
  end, 0, 1 },
}

local a_plus_b = x + x

local function count(...) return select("#", ...) end

describe("a trailing nil", function()
  for name, call in pairs(calls) do
    it("is absent: " .. name, function()
      local n = #call
      local want = count(call[1](table.unpack(call, 2, n)))
      for extra = 1, 3 do assert.equal(want, count(call[1](table.unpack(call, 2, n + extra)))) end
    end)
  end

  it("does not change the error of a function called without arguments", function()
    local seen = {}
    local function said(f, ...)
      local ok, err = pcall(f, ...)
      if ok then return "nothing" end
      return (tostring(type(err) == "string" and err or err.message):gsub("got %a+$", ""):gsub("no value", "nil"))
    end
    local function walk(t, path)
      for name, f in pairs(t) do
        if type(f) == "function" and not seen[f] then
          seen[f] = true
          assert.equal(said(f), said(f, nil), path .. name)
          assert.equal(said(f), said(f, nil, nil, nil, nil, nil), path .. name)
        elseif type(f) == "table" and not seen[f] and f ~= damo.config then
          seen[f] = true
          walk(f, path .. tostring(name) .. ".")
        end
      end
    end
    walk(damo, "")
  end)

  it("does not stand for a required argument", function()
    local y = "add: argument 2 (y) must be a Variable, Array, number or table, got nil"
    assert.equal(y, failure("type", damo.add, a, nil).message)
    assert.equal(y, failure("type", damo.add, a, nil, nil).message)
    local err = failure("missing_input", scalars, nil, nil, nil)
    assert.equal("function: input 1 (x) is missing", err.message)
    assert.matches("Typed: argument 1 must be .*, got nil", failure("type", typed, nil).message)
    assert.equal("add: expected 2 operands, got 1", failure("type", a_plus_b.owner.op, x, nil).message)
    failure("type", x.set, x, { 1 }, nil)
    failure("type", scalars.into, scalars, nil, a)
  end)

  it("is a value if an Op takes any value", function()
    local any = damo.Op { name = "Any", itypes = { damo.GenericType() }, otypes = { damo.GenericType() } }
    for extra = 1, 3 do assert.equal(1, #any(table.unpack({}, 1, extra)).owner.inputs) end
  end)

  it("before another argument is an error that names its position", function()
    local err = failure("type", damo.add, nil, a)
    assert.equal("add: argument 1 (x) must be a Variable, Array, number or table, got nil", err.message)
    err = failure("type", damo.clip, a, nil, 3)
    assert.equal("clip: argument 2 (min) must be a Variable, Array, number or table, got nil", err.message)
    err = failure("missing_input", scalars, nil, 3)
    assert.equal("function: input 1 (x) is missing", err.message)
    err = failure("type", typed, nil, x)
    assert.matches("Typed: argument 1 must be .*, got nil", err.message)
    err = failure("type", a_plus_b.owner.op, nil, x)
    assert.matches("Elemwise: argument 1 must be .*, got nil", err.message)
  end)

  it("is not counted among surplus arguments", function()
    assert.equal("sin: too many arguments: 2 given; operands: x", failure("type", damo.sin, a, a, nil).message)
    assert.equal("sin: too many arguments: 3 given; operands: x", failure("type", damo.sin, a, nil, 1, nil).message)
    assert.equal("function: expected 2 arguments, got 3", failure("type", scalars, a, 1, 2, nil).message)
  end)
end)
