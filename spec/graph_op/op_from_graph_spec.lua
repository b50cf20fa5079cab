-- OpFromGraph and HasInnerGraph: a graph as an Op.
local damo = require "damo"
local garbage = require "spec.support.garbage"
local G = damo.graph

local function near(expected, got, tolerance)
  assert.is_true(damo.allclose(damo.array(expected), damo.array(got), { atol = tolerance or 1e-12 }))
end

local function names(f)
  local list = {}
  for i, node in ipairs(f.fgraph.apply_nodes) do list[i] = node.op.name end
  return list
end

local function count(list, name)
  local n = 0
  for _, v in ipairs(list) do n = n + (v == name and 1 or 0) end
  return n
end

-- z = sum(x² · y), u = x + y
local function make(options)
  local x, y = damo.dvector "x", damo.dscalar "y"
  return G.OpFromGraph({ x, y }, { damo.sum(x * x * y), x + y }, options)
end

describe("OpFromGraph", function()
  local a, b = damo.dvector "a", damo.dscalar "b"

  it("is an Op: applied, compiled, with the results of its graph", function()
    local op = make { name = "Squares" }
    assert.equal("Squares", op.name)
    local z, u = op(a, b)
    assert.equal("Squares", z.owner.op.name)
    local f = damo.compile({ a, b }, { z, u * 2 })
    assert.equal(1, count(names(f), "Squares"))
    local p, q = f(damo.array { 1, 2, 3 }, 10)
    near(140, p)
    near({ 22, 24, 26 }, q)
    p = f(damo.array { 1 }, 1) -- another shape
    near(1, p)
  end)

  it("has its own graph, independent of the script's later changes", function()
    local x = damo.dvector "x"
    local op = G.OpFromGraph({ x }, { x * 2 })
    near({ 8 }, damo.compile({ x }, op(op(x)) + op(x) - op(x))(damo.array { 2 }))
    assert.not_equal(x, op.inner_inputs[1])
    local ok, e = pcall(op.fgraph.replace, op.fgraph, op.inner_inputs[1], damo.dvector())
    assert.is_false(ok)
    assert.is_true(e.kind == "inconsistency" or e.kind == "missing_input")
    ok, e = pcall(op.fgraph.replace, op.fgraph, op.inner_outputs[1], op.inner_inputs[1])
    assert.is_false(ok)
    assert.equal("inconsistency", e.kind)
    near({ 4 }, damo.compile({ x }, op(x))(damo.array { 2 }))
  end)

  it("reads shared Variables in its graph at each call, and has gradients for them", function()
    local x, w = damo.dvector "x", damo.shared(damo.array { 1, 2 }, "w")
    local op = G.OpFromGraph({ x }, { damo.sum(x * x * w) })
    local cost = op(a)
    assert.equal(w, cost.owner.inputs[2])
    local f = damo.compile({ a }, { cost, damo.grad(cost, w), damo.grad(cost, a) })
    local c, gw, ga = f(damo.array { 3, 4 })
    near(41, c)
    near({ 9, 16 }, gw)
    near({ 6, 16 }, ga)
    w:set_value(damo.array { 10, 0 })
    near(90, (f(damo.array { 3, 4 })))
    local step = damo.compile({ a }, cost, { updates = { [w] = w - 0.5 * damo.grad(cost, w) } })
    step(damo.array { 1, 0 })
    near({ 9.5, 0 }, w:get_value())
  end)

  it("advances random streams in its graph", function()
    local rs, x = damo.random.RandomStream(3), damo.dscalar "x"
    local op = G.OpFromGraph({ x }, { x + rs:uniform() })
    local f = damo.compile({ b }, op(b))
    assert.not_equal(f(0), f(0))
  end)

  it("has gradients of every order, which verify_grad accepts", function()
    local op = make()
    damo.verify_grad(function(x, y)
      local z, u = op(x, y)
      return z + damo.sum(damo.exp(u))
    end, { damo.array { 0.3, -0.7 }, damo.array(1.5) })
    local z = op(a, b)
    local g = damo.grad(z, a)
    assert.equal("OpFromGraph_lop", g.owner.op.name)
    local h = damo.grad(damo.sum(g * g), a) -- Σ (2ay)² → 8ay²
    near({ 8 * 9, 16 * 9 }, damo.compile({ a, b }, h)(damo.array { 1, 2 }, 3))
  end)

  it("builds the gradient's Op once for all nodes", function()
    local op = make()
    local g1, g2 = damo.grad(op(a, b), a), damo.grad(op(a * 2, b), a)
    local found
    for _, node in ipairs(G.toposort { g2 }) do found = found or node.op == g1.owner.op end
    assert.is_true(found)
  end)

  it("sums the gradients that reach an input through outputs made from each other", function()
    local x = damo.dvector "x"
    local y = x * 3
    local op = G.OpFromGraph({ x }, { y, y * y, x, y })
    local p, q, r, s = op(a)
    local cost = damo.sum(p) + damo.sum(q) + damo.sum(r) + damo.sum(s) -- 3 + 18x + 1 + 3
    near({ 7 + 18, 7 + 36 }, damo.compile({ a }, damo.grad(cost, a))(damo.array { 1, 2 }))
  end)

  it("has an R_op", function()
    local op = make()
    local z, u = op(a, b)
    local tz, tu = table.unpack(damo.Rop({ z, u }, { a }, { damo.array { 1, 1 } }))
    near(2 * 5 * (1 + 2), damo.compile({ a, b }, tz)(damo.array { 1, 2 }, 5))
    near({ 1, 1 }, damo.compile({ a, b }, tu, { on_unused_input = "ignore" })(damo.array { 1, 2 }, 5))
  end)

  -- Facts that the inner graph's Types know about its inputs, but the arguments' Types do not.
  describe("over arguments with less static Types than its inputs'", function()
    local sparse = damo.sparse
    local fixed, open = damo.TensorType("float64", { 2, 3 }), damo.dmatrix "open"
    local row = damo.TensorType("float64", { 1, false })
    local v, r, w = fixed "v", row "r", damo.dmatrix "w"
    local s, m = sparse.csr_matrix("s", { shape = { 2, 3 } }), sparse.csr_matrix "m"
    local p = sparse.csr_matrix("p", { pattern = sparse.csr_from_dense(damo.ones { 2, 3 }) })
    local ones, four = damo.ones { 2, 3 }, damo.ones { 4, 3 }
    local tensor = "OpFromGraph: input 1 (%s): expected a value of TensorType(float64, shape=%s), got an Array of "
      .. "dtype float64 and shape (4, 3)\nwhile computing OpFromGraph"
    local matrix = "OpFromGraph: input 1 (%s): expected a value of SparseTensorType(csr, float64, shape=(2, 3)%s), got "
      .. "a sparse matrix (csr) of dtype float64 and shape "
    local cases = {
      ["the input itself"] = { { v }, v, open, ones, four, tensor:format("v", "(2, 3)"), "shape" },
      ["an output of a known shape"] = { { v }, v * 2, open, ones, four, tensor:format("v", "(2, 3)"), "shape" },
      ["a reduction"] = { { v }, damo.sum(v, { axis = 1 }), open, ones, four, tensor:format("v", "(2, 3)"), "shape" },
      ["an input that broadcasts"] = { { r, w }, r + w, open, damo.ones { 1, 3 }, four, tensor:format("r", "(1, ?)"),
        "shape" },
      ["a sparse input"] = { { s }, sparse.neg(s), m, sparse.csr_from_dense(ones), sparse.csr_from_dense(four),
        matrix:format("s", "") .. "(4, 3)\nwhile computing OpFromGraph", "shape" },
      ["an input of a known pattern"] = { { p }, sparse.neg(p), m, sparse.csr_from_dense(ones),
        sparse.csr_from_dense(damo.eye(2, 3)), matrix:format("p", ", pattern of 6")
        .. "(2, 3); row 1 has 1 stored entry, the pattern's 3\nwhile computing OpFromGraph", "value" },
    }
    for name, case in pairs(cases) do
      it("checks their values: " .. name, function()
        local inputs, y, x, right, wrong, message, kind = table.unpack(case)
        local want = inputs[2] and right + four or damo.compile(inputs, y)(right)
        for _, inline in ipairs { true, false } do
          local op = G.OpFromGraph(inputs, { y }, { inline = inline })
          local node = #inputs == 2 and op(x, damo.constant(four)) or op(x)
          for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
            local f = damo.compile({ x }, node, { mode = mode })
            local got = f(right)
            assert.is_true(damo.array_equal(sparse.is_sparse(got) and got:toarray() or got,
              sparse.is_sparse(want) and want:toarray() or want))
            local ok, err = pcall(f, wrong)
            assert.is_false(ok, mode)
            assert.equal(kind, err.kind)
            assert.equal("OpFromGraph", err.op)
            assert.equal(message, (err.message:gsub("\nin DEBUG mode's run of the graph as it was written", "")))
            assert.same(node.owner.tag.trace, err.trace)
          end
        end
      end)
    end

    it("has their gradients and shapes", function()
      for _, inline in ipairs { true, false } do
        local op = G.OpFromGraph({ r, w }, { r * w }, { inline = inline })
        local z = damo.dmatrix "z"
        local y = op(open, z)
        for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
          local f = damo.compile({ open, z }, { damo.grad(damo.sum(y), open), y.shape }, { mode = mode })
          local g, shape = f(damo.ones { 1, 3 }, four)
          near({ { 4, 4, 4 } }, g)
          near({ 4, 3 }, shape)
        end
      end
    end)

    it("checks nothing if they are as static", function()
      local x = damo.tensor("x", { shape = { 2, 3 } })
      local op = G.OpFromGraph({ w }, { w * 2 }, { inline = true })
      assert.equal(0, count(names(damo.compile({ x }, op(x))), "OfType"))
      op = G.OpFromGraph({ v }, { v * 2 }, { inline = true })
      assert.equal(0, count(names(damo.compile({ x }, op(x))), "OfType"))
      assert.equal(1, count(names(damo.compile({ open }, op(open))), "OfType"))
    end)
  end)

  it("is replaced by its inner graph with inline, also in gradients and nested", function()
    local op = make { inline = true }
    local outer = G.OpFromGraph({ a, b }, { (op(a, b)) * 2 }, { inline = true, name = "Outer" })
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local z = outer(a, b)
      assert.equal("Outer", z.owner.op.name)
      local f = damo.compile({ a, b }, { z, damo.grad(z, a) }, { mode = mode })
      assert.equal(0, count(names(f), "OpFromGraph") + count(names(f), "Outer"))
      local p, q = f(damo.array { 1, 2 }, 3)
      near(30, p)
      near({ 12, 24 }, q)
    end
  end)

  it("can be nested to any depth", function()
    local op
    for _ = 1, 40 do
      local x = damo.dscalar "x"
      op = G.OpFromGraph({ x }, { (op and op(x) or x) + 1 })
    end
    local y = op(b)
    near(41, damo.compile({ b }, y)(1))
    near(1, damo.compile({ b }, damo.grad(y, b), { on_unused_input = "ignore" })(1))
  end)

  it("has shapes that need no values", function()
    local x = damo.dvector "x"
    local calls = 0
    local loud = damo.Op {
      name = "Loud",
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, out) calls = calls + 1; out[1][1] = inputs[1]:copy() end,
      infer_shape = function(_, _, _, shapes) return { shapes[1] } end,
    }
    local op = G.OpFromGraph({ x }, { damo.join(1, { loud(x), x }) })
    local n = damo.compile({ a }, op(a).shape)(damo.array { 1, 2, 3 })
    near({ 6 }, n)
    assert.equal(0, calls)
  end)

  it("knows which inputs reach which outputs", function()
    local x, y = damo.dscalar "x", damo.dscalar "y"
    local op = G.OpFromGraph({ x, y }, { x * 2, damo.disconnected_grad(y) * x })
    local p, q = op(a[1], b)
    local ok, e = pcall(damo.grad, p, b)
    assert.is_false(ok)
    assert.equal("disconnected_input", e.kind)
    assert.is_false(pcall(damo.grad, q, b))
    local given = G.OpFromGraph({ x, y }, { x * y }, { connection_pattern = { { true }, { false } } })
    assert.is_false(pcall(damo.grad, given(a[1], b), b))
    near({ 3 }, damo.compile({ a, b }, damo.grad(given(a[1], b), a))(damo.array { 1 }, 3))
  end)

  describe("overrides", function()
    local x, y = damo.dscalar "x", damo.dscalar "y"
    local p, q = damo.dscalar "p", damo.dscalar "q"
    local function value(v) return damo.compile({ p, q }, v, { on_unused_input = "ignore" })(2, 3) end

    it("takes a function for all gradients", function()
      local op = G.OpFromGraph({ x, y }, { x * y }, {
        lop_overrides = function(inputs, outputs, grads)
          return { grads[1] * inputs[2] * 10, outputs[1] * 100 }
        end,
      })
      local z = op(p, q)
      near(30, value(damo.grad(z, p)))
      near(600, value(damo.grad(z, q)))
      near(600, value(damo.grad(op:clone()(p, q), q)))
    end)

    it("takes a list with 'default', and an Op among it", function()
      local g = damo.dscalar "g"
      local first = G.OpFromGraph({ x, y, p, g }, { g * 7 }, { on_unused_input = "ignore" })
      local op = G.OpFromGraph({ x, y }, { x * y }, { lop_overrides = { first, "default" } })
      local z = op(p, q)
      near(7, value(damo.grad(z, p)))
      near(2, value(damo.grad(z, q)))
      local five = function() return damo.constant(5.0) end
      op = G.OpFromGraph({ x, y }, { x * y }, { lop_overrides = { "default", five } })
      near(3, value(damo.grad(op(p, q), p)))
      near(5, value(damo.grad(op(p, q), q)))
    end)

    it("takes an OpFromGraph for all gradients", function()
      local z, g = damo.dscalar "z", damo.dscalar "g"
      local lop = G.OpFromGraph({ x, y, z, g }, { g * y * 2, g * z }, { on_unused_input = "ignore" })
      local op = G.OpFromGraph({ x, y }, { x * y }, { lop_overrides = lop })
      near(6, value(damo.grad(op(p, q), p)))
      near(6, value(damo.grad(op(p, q), q)))
    end)

    it("takes rop_overrides", function()
      local op = G.OpFromGraph({ x, y }, { x * y }, {
        rop_overrides = function(_, eval_points)
          assert.equal(2, eval_points.n)
          return { eval_points[1] * 1000 }
        end,
      })
      near(1000, value(damo.Rop(op(p, q), { p }, { damo.constant(1.0) })))
    end)

    it("names the Op when one fails, keeps the cause, and stays usable", function()
      local fail = true
      local op = G.OpFromGraph({ x, y }, { x * y }, {
        name = "Touchy",
        lop_overrides = function(inputs, _, grads)
          if fail then error("not today") end
          return { grads[1], inputs[1] }
        end,
      })
      local z = op(p, q)
      local ok, e = pcall(damo.grad, z, p)
      assert.is_false(ok)
      assert.equal("callback", e.kind)
      assert.truthy(tostring(e.cause):find("not today", 1, true))
      assert.truthy(tostring(e):find("Touchy", 1, true))
      fail = false
      near(1, value(damo.grad(z, p)))
      local bad = G.OpFromGraph({ x, y }, { x * y }, { lop_overrides = function() return { 1, 2 } end })
      ok, e = pcall(damo.grad, bad(p, q), p)
      assert.is_false(ok)
      assert.equal("type", e.kind)
      ok, e = pcall(G.OpFromGraph, { x, y }, { x * y }, { lop_overrides = { "defualt", "default" } })
      assert.is_false(ok)
      assert.equal("value", e.kind)
    end)
  end)

  describe("errors", function()
    local x, y = damo.dvector "x", damo.dscalar "y"

    it("names unused, missing, doubled and wrong inputs", function()
      local function kind_of(...)
        local ok, e = pcall(...)
        assert.is_false(ok)
        return e.kind, tostring(e)
      end
      assert.equal("unused_input", (kind_of(G.OpFromGraph, { x, y }, { x * 2 })))
      G.OpFromGraph({ x, y }, { x * 2 }, { on_unused_input = "ignore" })
      assert.equal("missing_input", (kind_of(G.OpFromGraph, { x }, { x * y })))
      assert.equal("value", (kind_of(G.OpFromGraph, { x, x }, { x * 2 })))
      assert.equal("value", (kind_of(G.OpFromGraph, { x }, { x }, { inlien = true })))
      assert.equal("type", (kind_of(G.OpFromGraph, { damo.shared(1.0) }, { y }, {})))
      local op = G.OpFromGraph({ x }, { x * 2 }, { name = "Twice" })
      local kind, text = kind_of(op, y)
      assert.equal("type", kind)
      assert.truthy(text:find("Twice: input 1", 1, true))
      kind, text = kind_of(op, x, x)
      assert.equal("type", kind)
      assert.truthy(text:find("expected 1 input, got 2", 1, true))
    end)

    it("names what failed in its graph, and stays usable", function()
      local m = damo.dmatrix "m"
      local op = G.OpFromGraph({ m, x }, { damo.dot(m, x) }, { name = "Product" })
      local n = damo.dmatrix "n"
      local f = damo.compile({ n, a }, op(n, a))
      local ok, e = pcall(f, damo.ones { 2, 3 }, damo.ones { 2 })
      assert.is_false(ok)
      assert.equal("shape", e.kind)
      assert.truthy(tostring(e):find("while computing Product", 1, true))
      near({ 3, 3 }, f(damo.ones { 2, 3 }, damo.ones { 3 }))
    end)
  end)

  it("converts literals, and values without loss", function()
    local x, y = damo.dvector "x", damo.dscalar "y"
    local op = G.OpFromGraph({ x, y }, { x * y })
    near({ 4 }, damo.compile({ a }, op(a, 2))(damo.array { 2 }))
    local i = damo.ivector "i"
    near({ 6 }, damo.compile({ i }, op(i, 2))(damo.array({ 3 }, "int32")))
  end)

  it("does not overwrite its results, which the caller owns", function()
    local x = damo.dvector "x"
    local op = G.OpFromGraph({ x }, { x * 2, x, damo.constant(damo.array { 9 }) })
    local f = damo.compile({ a }, { op(a) })
    local one, same, const = f(damo.array { 1 })
    const[1] = 0
    same[1] = 50
    local two, _, again = f(damo.array { 2 })
    near({ 2 }, one)
    near({ 4 }, two)
    near({ 9 }, again)
    -- an in-place Op after it must not write to memory that the inner graph keeps
    local g = damo.compile({ a }, damo.exp(op(a) + 0.0))
    near({ math.exp(4) }, g(damo.array { 2 }))
    near({ math.exp(4) }, g(damo.array { 2 }))
  end)

  it("does not copy its inputs", function()
    local seen
    local spy = damo.Op {
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, out) seen = inputs[1]:pointer(); out[1][1] = inputs[1]:copy() end,
    }
    local x = damo.dvector "x"
    local op = G.OpFromGraph({ x }, { spy(x) })
    local v = damo.array { 1, 2 }
    damo.compile({ a }, op(a))(v)
    assert.equal(v:pointer(), seen)
  end)
end)

describe("HasInnerGraph", function()
  local x = damo.dvector "x"
  local op = G.OpFromGraph({ x }, { x * 2 })

  it("has fgraph, fn, inner_inputs, inner_outputs, clone", function()
    assert.is_true(G.HasInnerGraph(op))
    assert.is_false(G.HasInnerGraph((x * 2).owner.op))
    assert.is_false(G.HasInnerGraph(3))
    assert.equal(op.fgraph.inputs[1], op.inner_inputs[1])
    assert.equal(op.fgraph.outputs[1], op.inner_outputs[1])
    assert.equal(op.fn, op.fn)
    near({ 6 }, op.fn(damo.array { 3 }))
    local copy = op:clone()
    assert.is_false(copy == op)
    assert.not_equal(copy.fgraph, op.fgraph)
    near({ 6 }, damo.compile({ x }, copy(x))(damo.array { 3 }))
  end)

  it("compiles fn again after it was freed, and works while fn runs", function()
    op.fn:free()
    near({ 6 }, op.fn(damo.array { 3 }))
    near({ 6 }, damo.compile({ x }, op(x))(damo.array { 3 }))
  end)
end)

describe("memory of OpFromGraph", function()
  it("keeps Lua Ops in its graph alive as long as it is reachable, and is collected when dropped", function()
    local gone = setmetatable({}, { __mode = "k" })
    local f
    do
      local marker = {}
      gone[marker] = true
      local twice = damo.Op {
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, out) assert(marker); out[1][1] = inputs[1] * 2 end,
        grad = function(_, _, grads) return { grads[1] * 2 } end,
      }
      local x = damo.dvector "x"
      local op = G.OpFromGraph({ x }, { twice(x) })
      local y = damo.dvector "y"
      f = damo.compile({ y }, { op(y), damo.grad(damo.sum(op(y)), y) })
    end
    garbage.collect()
    local p, q = f(damo.array { 1, 2 })
    near({ 2, 4 }, p)
    near({ 2, 2 }, q)
    f = nil -- luacheck: ignore
    garbage.collect()
    assert.is_nil(next(gone))
  end)

  it("collects an override that holds its own Op", function()
    local gone = setmetatable({}, { __mode = "k" })
    do
      local x, box = damo.dvector "x", {}
      gone[box] = true
      box.op = G.OpFromGraph({ x }, { x * 2 }, { lop_overrides = function(_, _, grads) return { grads[1], box } end })
      box.node = box.op(x)
    end
    garbage.collect()
    assert.is_nil(next(gone))
  end)

  it("does not grow when one is made, differentiated, compiled and dropped in a loop", function()
    local function round()
      local x = damo.dvector "x"
      local op = G.OpFromGraph({ x }, { x * x }, { lop_overrides = { "default" } })
      local y = damo.dvector "y"
      return damo.compile({ y }, damo.grad(damo.sum(op(y)), y))(damo.array { 1, 2 })
    end
    local before
    for i = 1, 120 do
      round()
      if i % 60 == 0 then
        garbage.collect()
        local now = damo.memory().objects
        if before then assert.is_true(now <= before + 5, now .. " objects after " .. before) end
        before = now
      end
    end
  end)
end)
