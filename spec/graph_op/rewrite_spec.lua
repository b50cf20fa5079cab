-- Rewrite rules written in Lua: what a rewriter may return, how modes select its rule, how DEBUG reports a wrong one.
local damo = require "damo"
local failure = require "spec.support.failure"
local rewrite = require "damo.rewrite"
local garbage = require "spec.support.garbage"

local x = damo.dvector "x"

local registered = {}
local function register(name, rewriter, ...)
  rewrite.register(name, rewriter, ...)
  registered[#registered + 1] = name
end

local function compile(ins, outs, fields) return damo.compile(ins, outs, { mode = damo.Mode(fields) }) end

local function names(f)
  local seen = {}
  for _, node in ipairs(f.fgraph.apply_nodes) do seen[#seen + 1] = node.op.scalar or node.op.name end
  return table.concat(seen, " ")
end

local function is_exp(node) return node.op.scalar == "exp" end
local function exp_to_sin(_, node) return is_exp(node) and damo.sin(node.inputs[1]) end

describe("a rewrite rule written in Lua", function()
  after_each(function()
    for _, name in ipairs(registered) do pcall(rewrite.unregister, name) end
    registered = {}
  end)

  it("is selected by its name and by its tags", function()
    register("my_rule", exp_to_sin, "odd", "strange")
    local y = damo.exp(x)
    assert.equal("exp", names(damo.compile({ x }, y)))
    assert.equal("sin", names(compile({ x }, y, { include = { "my_rule" } })))
    assert.equal("sin", names(compile({ x }, y, { include = { "odd" } })))
    assert.equal("exp", names(compile({ x }, y, { include = { "odd" }, exclude = { "strange" } })))
    assert.equal("exp", names(compile({ x }, y, { include = { "odd" }, exclude = { "my_rule" } })))
    assert.equal("sin", names(compile({ x }, y, { include = { "odd" }, require = { "strange" } })))
    assert.equal("exp", names(compile({ x }, y, { include = { "odd" }, require = { "fast_run" } })))
  end)

  it("runs in FAST_RUN or FAST_COMPILE if a tag says so, until nothing changes", function()
    register("peel", function(_, node)
      local up = node.op.scalar == "abs" and node.inputs[1].owner
      return up and up.op.scalar == "abs" and node.inputs[1]
    end, "fast_run", "canonicalize")
    local y = x
    for _ = 1, 20 do y = damo.abs(y) end
    assert.equal("abs", names(damo.compile({ x }, y)))
    assert.equal(20, #damo.compile({ x }, y, { mode = "FAST_COMPILE" }).fgraph.apply_nodes)
    rewrite.unregister "peel"
    assert.equal(20, #compile({ x }, y, { exclude = { "fuse_elemwise" } }).fgraph.apply_nodes)
    register("peel", function(_, node) return is_exp(node) and damo.sin(node.inputs[1]) end, "fast_compile")
    assert.equal("sin", names(damo.compile({ x }, damo.exp(x), { mode = "FAST_COMPILE" })))
    assert.equal("exp", names(damo.compile({ x }, damo.exp(x))))
  end)

  it("runs in the order of registration within its phase, phases in theirs", function()
    local seen = {}
    local function note(name, ...)
      register(name, function(_, node)
        if is_exp(node) then seen[#seen + 1] = name end
      end, "noted", ...)
    end
    note("c", "specialize") note("b", "stabilize") note("d") note("a", "canonicalize") note("e", "inplace")
    for _ = 1, 3 do
      seen = {}
      compile({ x }, damo.exp(x), { optimizer = "none", include = { "noted" } })
      assert.equal("a b c d e", table.concat(seen, " "))
    end
  end)

  it("gets the graph and the node", function()
    local graph, users
    register("look", function(fgraph, node)
      if not is_exp(node) then return end
      graph, users = fgraph, fgraph:clients(node.outputs[1])
      assert.equal(node, fgraph:toposort()[1])
    end, "look")
    local f = compile({ x }, damo.exp(x) * 2, { include = { "look" } })
    assert.equal(f.fgraph, graph)
    assert.equal(1, #users)
  end)

  it("replaces each output of a node, or some", function()
    local Pair = damo.Op {
      name = "Pair", default_output = nil,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type(), v.type() }) end,
      perform = function(_, _, inputs, storage)
        storage[1][1], storage[2][1] = inputs[1] + 1, inputs[1] + 2
      end,
    }
    local a, b = Pair(x)
    local result
    register("split", function(_, node) return node.op == Pair and result(node.inputs[1]) end, "split")
    local function run()
      return { compile({ x }, { a, b }, { include = { "split" } })(damo.array { 1 }) }
    end
    local function values(list) return { list[1][1], list[2][1] } end
    result = function(v) return { v + 10, v + 20 } end
    assert.same({ 11, 21 }, values(run()))
    result = function(v) return { false, v + 20 } end
    assert.same({ 2, 21 }, values(run()))
    result = function() return {} end
    assert.matches("'split' returned 0 replacements for 2 outputs", failure("value", run).message)
    result = function(v) return v end
    assert.matches("'split' returned 1 replacement for 2 outputs", failure("value", run).message)
  end)

  it("may add Lua Ops to the graph, which live as long as the Function", function()
    register("to_lua", function(_, node)
      if not is_exp(node) then return end
      local Mine = damo.Op {
        name = "Mine",
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, storage) storage[1][1] = inputs[1] * 3 end,
      }
      return Mine(node.inputs[1])
    end, "to_lua")
    local f = compile({ x }, damo.exp(x), { include = { "to_lua" } })
    garbage.collect()
    assert.same({ 3, 6 }, f({ 1, 2 }):totable())
    assert.same({ 3 }, f:copy()({ 1 }):totable())
  end)

  it("that returns the same node changes nothing; an endless one is cut off with a warning", function()
    local before, warned = damo.config.on_warning, {}
    damo.config.on_warning = function(kind, message) warned[#warned + 1] = kind .. ": " .. message end
    register("again", function(_, node) return is_exp(node) and damo.exp(node.inputs[1]) end, "again")
    register("swing", function(_, node)
      local scalar = node.op.scalar
      return (scalar == "sin" and damo.cos(node.inputs[1])) or (scalar == "cos" and damo.sin(node.inputs[1]))
    end, "swing")
    local again = names(compile({ x }, damo.exp(x), { include = { "again" } }))
    local none = #warned
    compile({ x }, damo.sin(x), { include = { "swing" } })
    damo.config.on_warning = before
    assert.equal("exp", again)
    assert.equal(0, none)
    assert.equal(1, #warned)
    assert.matches("^rewrite: .* the rule swing goes on for ever", warned[1])
  end)

  it("of damo's ends in a long chain of reads, without a warning", function()
    local before, warned = damo.config.on_warning, {}
    damo.config.on_warning = function(_, message) warned[#warned + 1] = message end
    for _, item in ipairs { { -1, 1, -1 }, { 2, -1 } } do
      local y, want = x, damo.arange(1, 301)
      for _ = 1, 300 do y, want = damo.sin(y)[{ item }], damo.sin(want)[{ item }] end
      assert.is_true(damo.array_equal(want, compile({ x }, y)(damo.arange(1, 301))))
    end
    damo.config.on_warning = before
    assert.same({}, warned)
  end)
end)

describe("a wrong rewrite rule written in Lua", function()
  after_each(function()
    for _, name in ipairs(registered) do pcall(rewrite.unregister, name) end
    registered = {}
  end)

  local line = debug.getinfo(1, "l").currentline + 1
  local y = damo.exp(x)

  local function broken(rewriter)
    register("broken", rewriter, "broken")
    local graph = damo.neg(y)
    local ok, err = pcall(compile, { x }, graph, { include = { "broken" } })
    rewrite.unregister "broken"
    assert.is_false(ok)
    assert.matches("while rewriting by broken", err.message)
    assert.matches("rewrite_spec.lua:", err.trace[1])
    assert.same({ -1 }, damo.compile({ x }, graph)({ 0 }):totable()) -- everything is usable
    return err
  end

  it("by its result's type, dtype or rank is an error", function()
    local err = broken(function(_, node) return is_exp(node) and damo.cast(node.inputs[1], "float32") end)
    assert.equal("type", err.kind)
    assert.matches("rewrite rule 'broken' returned .*float32.* for output 1, which is .*float64", err.message)
    assert.matches("rewrite_spec.lua:" .. line, err.trace[1])
    assert.equal("type", broken(function(_, node) return is_exp(node) and damo.sum(node.inputs[1]) end).kind)
    for _, what in ipairs { 3, "text", true, { 3 } } do
      assert.equal("type", broken(function() return what end).kind)
    end
    assert.matches("got number for output 1", broken(function() return { 3 } end).message)
  end)

  it("by its number of results is an error", function()
    assert.equal("value", broken(function(_, node) return { node.inputs[1], node.inputs[1] } end).kind)
  end)

  it("by an error that it throws has its name, the cause and the node in the error", function()
    local thing = {}
    local err = broken(function(_, node) if is_exp(node) then error(thing) end end)
    assert.equal("callback", err.kind)
    assert.equal(thing, err.cause)
    assert.matches("rewrite rule 'broken' failed", err.message)
    assert.matches("exp", err.op)
    assert.matches("rewrite_spec.lua:" .. line, err.trace[1])
    assert.equal("shape", broken(function() damo.dot(damo.ones { 2, 3 }, damo.ones { 2, 3 }) end).kind)
    assert.matches("yields", broken(function() coroutine.yield() end).message)
  end)

  it("by a cycle or a foreign input changes nothing", function()
    assert.equal("inconsistency",
      broken(function(fgraph, node) return is_exp(node) and fgraph.outputs[1] end).kind)
    assert.equal("inconsistency",
      broken(function(fgraph, node) return is_exp(node) and damo.sin(fgraph.outputs[1]) end).kind)
    assert.equal("missing_input", broken(function(_, node) return is_exp(node) and damo.dvector "z" end).kind)
  end)

  it("by the value is named by DEBUG, with the node, the line and both values", function()
    register("exp_to_sin", exp_to_sin, "fast_run", "mine")
    local f = damo.compile({ x }, damo.neg(y) * 1 + 0, { mode = "DEBUG" })
    for _, g in ipairs { f, f:copy() } do
      local err = failure("inconsistency", g, { 1 })
      assert.matches("the rewrite 'exp_to_sin' changed the value", err.message)
      assert.matches("2.718281828459045%d* against 0.841470984807896%d* at {1}", err.message)
      assert.matches("exp", err.op)
      assert.matches("rewrite_spec.lua:" .. line, err.trace[1])
    end
    assert.same({ -0.0 }, damo.compile({ x }, damo.neg(y), { mode = "FAST_RUN" })({ 0 }):totable())
  end)

  it("by the shape is named too, even if the wrong graph cannot run", function()
    register("longer", function(_, node)
      return is_exp(node) and damo.join(1, { node.inputs[1], damo.constant { 1.0 } })
    end, "fast_run")
    local z = damo.dvector "z"
    local err = failure("inconsistency", damo.compile({ x, z }, y + z, { mode = "DEBUG" }), { 1, 2 }, { 3, 4 })
    assert.matches("the rewrite 'longer'.*%(2,%) against float64 %(3,%)", err.message)
    assert.matches("rewrite_spec.lua:" .. line, err.trace[1])
  end)

  it("is noticed inside an OpFromGraph too", function()
    register("exp_to_sin", exp_to_sin, "fast_run", "mine")
    local op = damo.graph.OpFromGraph({ x }, { damo.exp(x) + 1 }, { name = "Inner" })
    local z = damo.dvector "z"
    local graph = op(z) * 2
    assert.is_true(math.abs(damo.compile({ z }, graph)({ 1 })[1] - 2 * math.sin(1) - 2) < 1e-12)
    local err = failure("inconsistency", damo.compile({ z }, graph, { mode = "DEBUG" }), { 1 })
    assert.matches("the rewrite 'exp_to_sin' changed the value", err.message)
    assert.matches("while computing Inner", err.message)
  end)

  it("by less than the tolerance passes DEBUG", function()
    register("nearly", function(_, node)
      local up = node.inputs[1].owner
      return is_exp(node) and not up and 1 / damo.exp(-node.inputs[1])
    end, "fast_run")
    local f = damo.compile({ x }, damo.neg(y), { mode = "DEBUG" })
    assert.is_true(math.abs(f({ 1 })[1] + math.exp(1)) < 1e-12)
  end)
end)

-- The sum of such large terms is only the rounding error of the order in which they are added.
describe("DEBUG, if large terms cancel,", function()
  local n = 300
  local half = damo.sin(damo.arange(n / 2) + 1) * 1e8
  local terms = damo.join(1, { half, -half })
  local rows = damo.cos(damo.reshape(damo.arange(2 * n), { shape = { 4, n / 2 } }))
  local mirrored = damo.join(2, { rows, rows })
  local A, v, z = damo.dmatrix "A", damo.dvector "v", damo.dvector "z"

  local function is_dot(node) return node.op.name == "Dot" end
  local function backwards(w) return w[{ { -1, 1, -1 } }] end

  after_each(function()
    for _, name in ipairs(registered) do pcall(rewrite.unregister, name) end
    registered = {}
  end)

  -- Compiles in DEBUG with a rule that replaces A·v once.
  local function debug_with(replacement)
    register("other_dot", function(_, node)
      if not is_dot(node) or node.inputs[1].owner then return end
      return replacement(table.unpack(node.inputs))
    end, "fast_run", "canonicalize")
    return damo.compile({ A, v, z }, z - damo.dot(A, v), { mode = "DEBUG" })
  end
  local function turned(m, w)
    return damo.dot(m[{ {}, { -1, 1, -1 } }], backwards(w))
  end

  it("accepts another order of them", function()
    local residual = damo.compile({ A, v, z }, z - damo.dot(A, v), { mode = "DEBUG" })
    assert.has_no_error(function() residual(mirrored, terms, damo.zeros { 4 }) end)
    local shuffled = debug_with(turned)
    assert.has_no_error(function() shuffled(mirrored, terms, damo.zeros { 4 }) end)
    local gradient = damo.grad(damo.sum(damo.sqr(z - damo.dot(A, v))), { A, v })
    local f = damo.compile({ A, v, z }, gradient, { mode = "DEBUG" })
    assert.has_no_error(function() f(mirrored, terms, damo.dot(mirrored, terms) + 1e-8) end)
  end)

  it("still notices a rule that changes a term, or adds one", function()
    for _, wrong in ipairs {
      function(m, w) return turned(m, w * (1 + 1e-9 * damo.sin(damo.arange(n) + 1))) end,
      function(m, w) return turned(m, w) + 1e-2 end,
      function(m, w) return turned(m, damo.set_subtensor(w[{ 7 }], 0)) end,
    } do
      local err = failure("inconsistency", debug_with(wrong), mirrored, terms, damo.zeros { 4 })
      assert.matches("the rewrite 'other_dot' changed the value", err.message)
      rewrite.unregister "other_dot"
    end
  end)

  it("notices a wrong rule if they do not cancel", function()
    local err = failure("inconsistency", debug_with(function(m, w) return turned(m, w) + 1 end), mirrored,
      damo.abs(terms) * 1e-6, damo.zeros { 4 })
    assert.matches("the rewrite 'other_dot' changed the value", err.message)
  end)

  it("follows them through moves of sparse entries", function()
    local sparse = damo.sparse
    local P, V = damo.dmatrix "P", damo.reshape(terms, { shape = { n, 1 } }) * damo.array { { 1, -3, 2, 0.5 } }
    register("other_dot", function(_, node)
      if not is_dot(node) then return end
      local m, w = table.unpack(node.inputs)
      return not m.owner and damo.dot(m[{ {}, { -1, 1, -1 } }], w[{ { -1, 1, -1 } }])
    end, "fast_run", "canonicalize")
    local eye = sparse.eye(4, 4)
    local moves = {
      diagonal = function(m) return sparse.diagonal(m, 1) end,
      diagonal_back = function(m) return damo.grad(damo.sum(sparse.diagonal(m, 1) * sparse.diagonal(m, 1)), m) end,
      bmat = function(m) return sparse.bmat { { m, false }, { eye, m } } end,
      block_diag = function(m) return sparse.block_diag { m, eye } end,
      permute = function(m) return sparse.permute(m, { 2, 1, 4, 3 }, { 4, 3, 2, 1 }) end,
      tril = function(m) return sparse.tril(m) end,
      rows = function(m) return m[{ { 2, 3 } }] end,
      entry = function(m) return m[{ 2, 3 }] end,
      list = function(m) return sparse.get_item_list(m, { 3, 1 }) end,
      lists = function(m) return sparse.get_item_2lists(m, { 3, 1 }, { 2, 4 }) end,
    }
    for name, move in pairs(moves) do
      local out = move(sparse.csr_from_dense(damo.dot(A, P)))
      local f = damo.compile({ A, P }, out, { mode = "DEBUG" })
      local ok, err = pcall(f, mirrored, V)
      assert.is_true(ok, name .. ": " .. tostring(err))
    end
  end)

  it("follows them through sums, and through no other reduction", function()
    register("other_dot", function(_, node)
      return is_dot(node) and not node.inputs[1].owner and turned(table.unpack(node.inputs))
    end, "fast_run", "canonicalize")
    local product = damo.dot(A, v)
    for name, out in pairs {
      sum = damo.sum(product), squares = damo.sum(damo.sqr(product)), running = damo.cumsum(product),
    } do
      local ok, err = pcall(damo.compile({ A, v }, out, { mode = "DEBUG" }), mirrored, terms)
      assert.is_true(ok, name .. ": " .. tostring(err))
    end
    register("one_more", function(_, node)
      return node.op.name == "Reduce" and node.op.kind == "max" and node.inputs[1][{ 1 }] + 1
    end, "fast_run", "canonicalize")
    local err = failure("inconsistency", damo.compile({ v }, damo.max(v), { mode = "DEBUG" }), damo.array { -1, -1e20 })
    assert.matches("the rewrite 'one_more' changed the value", err.message)
  end)

  it("ignores a script's Op that has the name of one of the engine's", function()
    local function called(name, kind)
      return damo.Op {
        name = name,
        props = { "kind" },
        make_node = function(self, w) return damo.Apply(self, { w }, { w.type() }) end,
        perform = function(_, _, inputs, storage)
          storage[1][1] = inputs[1] + damo.cast(damo.ge(inputs[1], 0), "float64") * 1e20
        end,
      } { kind = kind }
    end
    register("one_more", function(_, node)
      return node.op.kind == "sum" and node.inputs[1] + 1
    end, "fast_run", "canonicalize")
    for _, name in ipairs { "Dot", "Reduce", "Cumulative", "MulSD", "Trace", "FactorSolve", "FactorLeast" } do
      local f = damo.compile({ v }, called(name, "sum")(v), { mode = "DEBUG" })
      local err = failure("inconsistency", f, damo.array { -1, -2 })
      assert.matches("the rewrite 'one_more' changed the value", err.message, 1, true)
    end
  end)
end)

describe("DEBUG with Ops that rewriting removed", function()
  it("keeps them alive as long as the Function", function()
    local f
    do
      local Gone = damo.Op {
        name = "Gone",
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, storage) storage[1][1] = inputs[1] + 1 end,
      }
      f = damo.compile({ x }, x + Gone(damo.constant { 1.0 }), { mode = "DEBUG" })
    end
    garbage.collect()
    assert.same({ 3 }, f({ 1 }):totable())
    local g = f:copy()
    f = nil -- luacheck: ignore
    garbage.collect()
    assert.same({ 3 }, g({ 1 }):totable())
  end)
end)

describe("damo.rewrite", function()
  it("lists rules, removes those of scripts, and refuses names that are taken or no words", function()
    local before = #rewrite.names()
    rewrite.register("extra", print, "some_tag")
    assert.equal(before + 1, #rewrite.names())
    assert.same({ "extra" }, rewrite.names "some_tag")
    assert.equal("merge", rewrite.names "fast_run"[1])
    local err = failure("value", rewrite.register, "extra", print)
    assert.matches("there is a rewrite rule 'extra' already", err.message)
    failure("value", rewrite.register, "merge", print)
    rewrite.unregister "extra"
    assert.equal(before, #rewrite.names())
    failure("value", rewrite.unregister, "extra")
    failure("value", rewrite.unregister, "merge")
    failure("type", rewrite.register, "two words", print)
    failure("type", rewrite.register, "", print)
    failure("type", rewrite.register, "x", 3)
    failure("type", rewrite.register, "x", print, "two tags")
    failure("type", rewrite.register, "x")
    failure("type", rewrite.unregister)
    assert.equal(rewrite, damo.rewrite)
  end)

  it("keeps a rule's function until it is unregistered, whatever it holds", function()
    local gone = setmetatable({}, { __mode = "k" })
    do
      local held = {}
      held.rule = function(_, node)
        held.node = node
      end
      gone[held] = true
      rewrite.register("holder", held.rule, "holder")
    end
    garbage.collect()
    compile({ x }, damo.exp(x), { include = { "holder" } })
    assert.is_not_nil(next(gone))
    rewrite.unregister "holder"
    garbage.collect()
    assert.is_nil(next(gone))
  end)

  it("cannot remove a rule while rules run, but can add one", function()
    rewrite.register("inner", function()
      failure("state", rewrite.unregister, "inner")
      if #rewrite.names "late" == 0 then rewrite.register("late", function() end, "late") end
    end, "inner")
    compile({ x }, damo.exp(x), { include = { "inner" } })
    rewrite.unregister "inner"
    rewrite.unregister "late"
  end)
end)

-- The engine's rules match classes, not names: a script may give its Ops the same names.
describe("an Op with the name of one of the engine's", function()
  local own = { "Neg", "Transpose", "ColScaleCSC", "WithData", "GatherData", "DenseFromSparse", "CSM", "MulSS",
    "DimShuffle", "Reshape", "Shape", "Shape_i", "MakeVector", "Alloc", "Subtensor", "Elemwise", "Reduce", "Softmax",
    "Pick", "Dot", "IfElse", "ZeroGrad", "Usmm", "SpSumGrad", "StructuredDotGradCSR" }
  local plus = damo.sparse.csr_from_dense(damo.array { { 1, 0 }, { 0, 3 } })

  local function twofold(name)
    return damo.Op {
      name = name,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, out) out[1][1] = inputs[1] * 2 end,
      grad = function(_, _, g) return { g[1] * 2 } end,
    }
  end

  it("is not rewritten", function()
    for _, mode in ipairs { "FAST_COMPILE", "FAST_RUN", "DEBUG" } do
      for _, name in ipairs(own) do
        local op = twofold(name)
        local f = damo.compile({ x }, damo.sum(op(op(x) + 1)), { mode = mode })
        assert.equal(16, f(damo.array { 1.0, 2 }), name)
        local m = damo.sparse.csr_matrix "m"
        local y = op(op(m))
        f = damo.compile({ m }, { y, damo.grad(damo.sum(y), m) }, { mode = mode })
        local value, slope = f(plus)
        assert.same({ { 4, 0 }, { 0, 12 } }, value:toarray():totable(), name)
        assert.same({ { 4, 4 }, { 4, 4 } }, slope:toarray():totable(), name)
      end
    end
  end)

  it("is not rewritten if it holds a graph", function()
    local v = damo.dvector "v"
    for _, name in ipairs { "ZeroGrad", "DimShuffle", "Reshape" } do
      local op = damo.graph.OpFromGraph({ v }, { v * 2 }, { name = name })
      assert.equal(16, damo.compile({ x }, damo.sum(op(op(x) + 1)))(damo.array { 1.0, 2 }))
    end
  end)
end)
