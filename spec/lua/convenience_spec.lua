-- Strings that C keeps: a zero byte, at which C would cut them, is a value error everywhere.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"
local cut = "a\0b"

describe("a zero byte", function()
  local places = {
    ["the name of a Variable"] = function() damo.dvector(cut) end,
    ["x.name"] = function() x.name = cut end,
    ["the name of a shared Variable"] = function() damo.shared(1, cut) end,
    ["the option name"] = function() damo.shared(1, { name = cut }) end,
    ["the name of a sparse Variable"] = function() damo.sparse.csr_matrix(cut) end,
    ["the name of a sparse constant"] = function() damo.sparse.as_sparse_variable(damo.sparse.eye(2), cut) end,
    ["a path that is loaded"] = function() damo.io.load "/tmp/a\0.npy" end,
    ["a path that is saved"] = function() damo.io.save("/tmp/a\0.npy", 1) end,
    ["a path of a csv"] = function() damo.io.read_csv "/etc/passwd\0.csv" end,
    ["a path of an mtx"] = function() damo.io.read_mtx "/etc/passwd\0.mtx" end,
    ["a path that an mtx is written to"] = function() damo.io.write_mtx("/tmp/a\0.mtx", damo.sparse.eye(2)) end,
    ["a comment in an mtx"] = function() damo.io.write_mtx("/tmp/a.mtx", damo.sparse.eye(2), { comment = cut }) end,
    ["a name in an npz"] = function() damo.io.save("/tmp/a.npz", { [cut] = 1 }) end,
    ["a path of dot"] = function() damo.printing.dot(x, { path = "/tmp/a\0.gv" }) end,
    ["a picture of dot"] = function() damo.printing.dot(x, { path = "/tmp/a\0.svg" }) end,
    ["a path of a plot"] = function() damo.plot.lines({ { y = { 1 } } }, { path = "/tmp/a\0.png" }) end,
    ["the title of a plot"] = function() damo.plot.lines({ { y = { 1 } } }, { title = cut }) end,
    ["the name of a series"] = function() damo.plot.lines { { y = { 1 }, name = cut } } end,
    ["a dtype"] = function() damo.zeros({ 2 }, "float64\0") end,
    ["a format"] = function() damo.sparse.eye(2, 2, { format = "csr\0" }) end,
    ["the name of an option"] = function() damo.sum(damo.zeros { 2 }, { ["axis\0"] = 1 }) end,
    ["a word of an option"] = function() damo.grad(damo.sum(x), x, { disconnected_inputs = "raise\0" }) end,
    ["a mode"] = function() damo.compile({ x }, x, { mode = "FAST_RUN\0" }) end,
    ["a setting"] = function() damo.config.floatX = "float64\0" end,
    ["the name of a setting"] = function() damo.config["floatX\0"] = "float64" end,
    ["a tag of a Mode"] = function() damo.compile({ x }, x, { mode = damo.Mode { exclude = { "inplace\0" } } }) end,
    ["the name of an output"] = function() damo.compile({ x }, { [cut] = x }) end,
    ["the name of an input"] = function() damo.compile({ x }, x):call { ["x\0"] = { 1 } } end,
    ["the name of an Op"] = function() damo.Op { name = cut, make_node = print, perform = print } end,
    ["the name of a prop"] = function() damo.Op { name = "P", props = { cut }, make_node = print, perform = print } end,
    ["the reason of an undefined gradient"] = function() damo.grad_undefined("Op", 1, x, cut) end,
    ["the way of a thunk"] = function()
      local node = damo.exp(x).owner
      node.op:make_thunk(node, {}, {}, {}, "c\0")
    end,
    ["a tag of rewrite rules"] = function() damo.rewrite.names "inplace\0" end,
    ["a word of an override"] = function()
      damo.graph.OpFromGraph({ x }, { x * 2 }, { lop_overrides = "default\0" })
    end,
    ["the name of a host's class"] = function() return damo.ops["Cell\0"] end,
    ["the reason of a NullType"] = function() damo.NullType(cut) end,
  }
  for place, fn in pairs(places) do
    it("in " .. place .. " is a value error", function() failure("value", fn) end)
  end

  it("in the value of an Op's property is a value error: equal texts up to there are not equal Ops", function()
    local op = damo.Op { name = "Tagged", props = { "word" }, perform = function(_, _, i, o) o[1][1] = i[1] * 1 end,
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end }
    failure("value", op, { word = "a\0b" })
    assert.are_not_equal(op { word = "ab" }, op { word = "a" })
  end)
end)

describe("conveniences in Lua", function()
  it("raise damo's errors, not Lua's", function()
    local random, progress = damo.random, damo.progress
    assert.equal("random.eager: argument 1 (draw) must be a function, got nil",
      failure("type", random.eager).message)
    failure("type", random.eager, 3)
    failure("type", random.eager, function() end)
    failure("type", random.eager, function() return 1, 2 end)
    failure("type", progress.new)
    failure("type", progress.new, "ten")
    failure("value", progress.new, -1)
    failure("value", progress.new, 0 / 0)
    failure("value", progress.new, 2.5)
    failure("type", progress.new, 3, {})
    failure("type", progress.new, 3, "x", 3)
    failure("type", progress.new, 3, "x", { out = 3 })
    failure("type", progress.new, 3, "x", { out = {} })
    failure("type", progress.new, 3, "x", { terminal = 3 })
    assert.equal("progress.new: unknown option 'terminla', did you mean 'terminal'?",
      failure("value", progress.new, 3, "x", { terminla = true }).message)
    local written = {}
    local bar = progress.new(10, "x", { out = { write = function(_, text) written[#written + 1] = text end } })
    failure("type", bar.step, bar)
    failure("type", bar.step, bar, "1")
    failure("type", bar.step, bar, 1.5)
    failure("type", bar.step, bar, 1, 0.5)
    bar:step(1, { loss = 0.123456789, at = "x", [2] = 0 / 0 })
    bar:finish()
    assert.equal("x 1/10  2 nan  at x  loss 0.12346  0 s left\n", table.concat(written))
    failure("type", damo.printing.debugprint, x, { file = "x.txt" })
    failure("type", damo.printing.debugprint, x, { file = 3 })
    failure("type", damo.printing.debugprint, x, 3)
    failure("type", damo.printing.dot, x, { path = 3 })
    failure("type", damo.printing.dot, x, "x.gv")
  end)

  it("a stream's seed is a finite integer in both functions that take one", function()
    local function first(rs) return damo.compile({}, rs:uniform(0, 1))() end
    for _, seed in ipairs { "x", 1.5, 1 / 0, 0 / 0, {}, false } do
      failure("type", damo.random.RandomStream, seed)
      failure("type", function() damo.random.RandomStream(1):seed(seed) end)
    end
    local rs = damo.random.RandomStream(1)
    local f = damo.compile({}, rs:uniform(0, 1))
    rs:seed(123456789)
    assert.equal(first(damo.random.RandomStream(123456789)), f())
  end)

  it("a table that contains itself is an error where values are read from it", function()
    local t = {}
    t[1] = t
    failure("value", damo.sparse.csr_fbinomial, t, 0.5, { shape = { 2, 2 } })
    local ok, err = pcall(damo.sparse.csr_fbinomial, 1, 0.5, { shape = t })
    assert.is_false(ok)
    assert.is_table(err)
  end)

  it("debugprint writes to any object with a method write", function()
    local written = {}
    damo.printing.debugprint(damo.exp(x), { file = { write = function(_, text) written[#written + 1] = text end } })
    assert.equal("Elemwise{exp} [id A]\n ├─ x [id B]\n", table.concat(written))
  end)

  it("damo.clock returns nanoseconds that never decrease", function()
    local first = damo.clock()
    assert.equal("integer", math.type(first))
    local last = first
    for _ = 1, 1000 do
      local now = damo.clock()
      assert.is_true(now >= last)
      last = now
    end
    assert.is_true(last > first and last - first < 10e9)
  end)
end)
