-- The errors of the most frequent mistakes say what to write instead.
local damo = require "damo"
local failure = require "spec.support.failure"

local sparse = damo.sparse
local x, v, M = damo.dvector "x", damo.dvector "v", damo.dmatrix "M"
local a = damo.array { { 1, 2 }, { 3, 4 } }

-- fn raises an error of that kind whose message contains the text.
local function says(kind, text, fn, ...)
  local message = failure(kind, fn, ...).message
  assert.truthy(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
end

describe("calling a value that is no function", function()
  it("of a Variable names compile and eval", function()
    says("type", "damo.compile", function() return M(1) end)
    says("type", ":eval", function() return (M + 1)(a) end)
    says("type", "damo.compile", function() return sparse.csr_matrix "A"(1) end)
  end)

  it("of an Array or a sparse matrix names the index", function()
    says("type", "a[{i, j}]", function() return a(1, 2) end)
    says("type", "a[{i, j}]", function() return sparse.eye(2)(1, 2) end)
  end)
end)

describe("a method called with a dot", function()
  it("asks for a colon", function()
    says("type", "reshape: call it with a colon, x:reshape(", function() return a.reshape { 2, 2 } end)
    says("type", "sum: call it with a colon, x:sum(", function() return a.sum() end)
    says("type", "sum: call it with a colon", function() return M.sum(1) end)
    says("type", "toarray: call it with a colon", function() return sparse.eye(2).toarray() end)
    says("type", "copy: argument 1 (self) must be an Array, got nothing; call it with a colon, x:copy(…)",
      function() return a.copy() end)
    says("type", "call it with a colon, x:astype(…)", function() return a.astype "float32" end)
    says("type", "call it with a colon, x:get_value(…)", function() return x.get_value() end)
    says("type", "call it with a colon", function() return damo.compile({ x }, x).into(a) end)
  end)

  it("of a random stream asks for one too", function()
    local rs = damo.random.RandomStream(1)
    says("type", "normal: call it with a colon, rs:normal(", function() return rs.normal(0, 1) end)
    says("type", "seed: call it with a colon", function() return rs.seed(1) end)
    says("type", "next_seed: call it with a colon", function() return rs.next_seed() end)
  end)

  it("is accepted if its first argument is an object", function()
    assert.equal(10.0, a.sum(a))
    assert.equal(M, M.sum(M).owner.inputs[1])
  end)
end)

describe("values that belong in one table", function()
  it("of a shape are refused one by one", function()
    for _, maker in ipairs { "zeros", "ones", "empty" } do
      says("type", maker .. ": a shape of several lengths is one table, as in damo." .. maker .. "{2, 3}",
        damo[maker], 2, 3)
      says("type", "one table", damo[maker], 2, 3, 4)
    end
    says("type", "one table, as in damo.full({2, 3}, value)", damo.full, 2, 3, 1.5)
    says("type", "one table", damo.zeros, 2, damo.lscalar "n")
  end)

  it("of an option are refused one by one", function()
    says("type", "reshape: the values of option 'shape' stand in one table, {2, 2}", damo.reshape, a, 2, 2)
    says("type", "{2, 2}", a.reshape, a, 2, 2)
    says("type", "{1, \"x\"}", M.dimshuffle, x, 1, "x")
    says("type", "{2, 1}", damo.transpose, a, 2, 1)
    says("type", "{1, 2}", damo.sum, a, 1, 2)
    says("type", "{2, 2}", damo.tile, a, 2, 2)
  end)
end)

describe("a dtype of another language", function()
  local same = {
    float = "float64", double = "float64", single = "float32", int = "int64", long = "int64", integer = "int64",
    uint = "uint64", complex = "complex128", boolean = "bool", short = "int16", f8 = "float64", i4 = "int32",
    number = "float64",
  }
  it("suggests damo's", function()
    for word, name in pairs(same) do
      local text = ("unknown dtype '%s', did you mean '%s'?"):format(word, name)
      says("value", text, damo.zeros, { 2 }, word)
      says("value", text, damo.cast, x, word)
      says("value", text, damo.tensor, "t", { dtype = word })
      says("value", text, damo.sum, x, { dtype = word })
      says("value", text, a.astype, a, word)
    end
    says("value", "unknown dtype 'folat32', did you mean 'float32'?", damo.zeros, { 2 }, "folat32")
  end)
end)

describe("a second operand", function()
  it("of max and min names maximum and minimum", function()
    says("type", "damo.maximum(x, y)", damo.max, a, a)
    says("type", "damo.minimum(x, y)", damo.min, x, v)
    says("type", "damo.maximum(x, y)", damo.max, x, 0.5)
    says("type", "damo.maximum(x, y)", damo.max, sparse.eye(2), sparse.eye(2))
    says("type", "damo.add(x, y)", damo.sum, x, v)
    says("type", "damo.mul(x, y)", damo.prod, x, v)
    says("type", "damo.and_(x, y)", damo.all, damo.eq(x, v), damo.eq(x, v))
    says("type", "damo.or_(x, y)", damo.any, damo.eq(x, v), damo.eq(x, v))
  end)
end)

describe("an index of floats", function()
  it("names idx and an integer dtype", function()
    for _, thing in ipairs { a, M } do
      says("type", "damo.idx{…}", function() return thing[damo.array { 1, 2 }] end)
      says("type", ':astype "int64"', function() return thing[damo.array { 1, 2 }] end)
    end
  end)
end)

describe("a position of 0", function()
  local i = damo.lvector "i"
  it("of a Variable is an error when the graph is built", function()
    says("index", "positions count from 1", function() return v[0] end)
    says("index", "positions count from 1", function() return M[{ 1, 0 }] end)
    says("index", "positions count from 1", function() return M[{ { 0 } }] end)
    says("index", "positions count from 1", function() return M[{ { 0, 2 } }] end)
    says("index", "positions count from 1", function() return v[damo.idx { 1, 0 }] end)
    says("index", "positions count from 1", function() return v:set(0, 1) end)
    says("index", "positions count from 1", function() return v:inc(damo.idx { 0 }, 1) end)
    says("index", "positions count from 1", function() return v[damo.constant(0, { dtype = "int64" })] end)
    says("index", "positions count from 1", function() return sparse.csr_matrix "A"[{ 0, 1 }] end)
    says("index", "positions count from 1", function() return sparse.csr_matrix "A"[{ { 0, 1 }, {} }] end)
  end)

  it("of an Array and a sparse matrix has the same advice", function()
    says("index", "positions count from 1", function() return a[0] end)
    says("index", "positions count from 1", function() return a[{ 1, 0 }] end)
    says("index", "positions count from 1", function() return a[{ { 0, 2 } }] end)
    says("index", "positions count from 1", function() return a[damo.idx { 0 }] end)
    says("index", "positions count from 1", function() return sparse.eye(2)[{ 0, 1 }] end)
  end)

  it("is found by the call if only the call knows the position", function()
    says("index", "positions count from 1", damo.compile({ v, i }, v[i]), damo.ones { 3 }, damo.idx { 0 })
    says("index", "positions count from 1", damo.compile({ v, i }, v[i[1]]), damo.ones { 3 }, damo.idx { 0 })
  end)

  it("is no error in empty ranges and masks", function()
    assert.equal(0, #damo.compile({ v }, v[{ { 1, 0 } }])(damo.ones { 3 }))
    assert.equal(0, #damo.compile({ v }, v[damo.array { false, false, false }])(damo.ones { 3 }))
    assert.equal(0, #damo.compile({ v }, v[{ { 2, 0 } }])(damo.ones { 3 }))
  end)
end)

describe("a Variable in place of a value", function()
  it("in a table names stack", function()
    says("type", "damo.stack{x, y}", damo.array, { x, 1 })
    says("type", "damo.stack{x, y}", damo.array, { { 1, x } })
    says("type", "damo.stack{x, y}", damo.sum, { x, v })
    says("type", "damo.stack{x, y}", damo.constant, { x, 1 })
  end)

  it("by itself says that it has no value yet", function()
    says("type", "a Variable has no value before its graph is run", damo.array, x)
  end)
end)

describe("an input that is computed from another Variable", function()
  it("is advised to be a new input, and allowed if the outputs use it", function()
    says("unused_input", "damo.dvector", damo.compile, { v + 1 }, v + 1)
    says("unused_input", "compute it anew", damo.compile, { v + 1 }, v + 1)
    local w = v + 1
    assert.equal(10.0, damo.compile({ w }, damo.sum(w * 2))(damo.array { 2, 3 }))
  end)
end)

describe("astype of a Variable", function()
  it("casts, dense and sparse, in graphs and eagerly", function()
    assert.equal("float32", v:astype("float32").dtype)
    assert.equal("int8", damo.astype(v, "int8").dtype)
    assert.equal(damo.cast(v, "float32").owner.op, v:astype("float32").owner.op)
    assert.equal("float32", sparse.csr_matrix "A":astype("float32").dtype)
    assert.equal("float32", damo.astype(sparse.eye(2), "float32").dtype)
    assert.equal("int64", damo.astype(a, "int64").dtype)
    assert.equal("int64", a:astype("int64").dtype)
    assert.equal("int64", a:astype({ dtype = "int64" }).dtype)
    failure("value", a.astype, a, { dtpye = "int64" })
    local f = damo.compile({ v }, v:astype "int64")
    assert.same({ 1, -2 }, f(damo.array { 1.5, -2.5 }):totable())
  end)

  it("has cast's gradient, in every mode", function()
    local w = damo.fvector "w"
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local g = damo.grad(damo.sum(damo.sqr(w:astype "float64")), w)
      assert.equal("float32", g.dtype)
      assert.same({ 2, 4 }, damo.compile({ w }, g, { mode = mode })(damo.array({ 1, 2 }, "float32")):totable())
    end
  end)

  it("has cast's errors for a misspelt and a missing dtype", function()
    says("value", "did you mean 'float64'?", v.astype, v, "double")
    failure("type", v.astype, v)
  end)
end)
