-- A call that runs out of memory is undone, Lua collects its garbage, and the call runs again from its start: for every
-- public function, under memory caps that make it fail at different allocations.
local damo = require "damo"
local has = require "spec.support.has"
local usual_pace = require "spec.support.usual_pace"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)
local sparse_cases = dofile "spec/sparse/completeness_rows.lua"
local sparse = damo.sparse

local MARGINS = { 0, 150, 400, 1000, 2500, 6000, 15000, 40000, 100000 } -- bytes beyond what is in use

-- Makes garbage that Lua itself would not collect soon.
local function litter()
  for _ = 1, 100 do damo.empty(4096) end
end

local called = {} -- the functions that were run under caps

-- Runs the function under each cap. It needs less memory than the garbage has, so it must succeed.
local function under_caps(run)
  debug.sethook(function() called[debug.getinfo(2, "f").func] = true end, "c")
  run()
  debug.sethook()
  for _, margin in ipairs(MARGINS) do
    damo.config.memory_cap = 0
    litter()
    damo.config.memory_cap = damo.memory().bytes + margin
    local ok, err = pcall(run)
    damo.config.memory_cap = 0
    assert(ok, ("%d bytes beyond what is in use: %s"):format(margin, tostring(err)))
  end
end

describe("under a memory cap", function()
  setup(usual_pace.set)
  teardown(usual_pace.restore)
  local floor
  setup(function()
    floor = damo.config.gc_floor
    damo.config.gc_floor = 2 ^ 40
    if _VERSION == "Lua 5.4" then collectgarbage("incremental", 1000, 100) end
  end)
  teardown(function()
    damo.config.gc_floor = floor
    damo.config.memory_cap = 0
    if _VERSION == "Lua 5.4" then collectgarbage("incremental", 200, 100) end
  end)

  it("a call that needs more than the cap fails, with the garbage collected", function()
    litter()
    local before = damo.memory().bytes
    damo.config.memory_cap = before + 1000
    local ok, err = pcall(damo.zeros, { 1000, 1000 })
    damo.config.memory_cap = 0
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.is_true(damo.memory().bytes < before - 2 ^ 20)
  end)

  it("a stopped collector is asked for nothing", function()
    if not has.stopped_collector then return pending "Lua 5.1 cannot tell" end
    collectgarbage "stop"
    litter()
    local before = damo.memory().bytes
    damo.config.memory_cap = before + 1000
    local ok, err = pcall(damo.zeros, { 1000 })
    damo.config.memory_cap = 0
    collectgarbage "restart"
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.is_true(damo.memory().bytes >= before)
  end)

  -- The sanitizer's own memory would exceed a limit.
  if os.getenv "DAMO_MODE" ~= "asan" then
    it("of the process, too, makes a call run again", function()
      local script = [[
        local damo = require "damo"
        damo.config.gc_floor = 2 ^ 40
        for _ = 1, 60 do damo.empty { 2 ^ 22 } end
        print "done"]]
      local command = "ulimit -v 800000; OPENBLAS_NUM_THREADS=1 '%s' -e '%s' 2>&1"
      local pipe = assert(io.popen(command:format(arg[-1] or "lua", script)))
      local text = pipe:read "a"
      pipe:close()
      assert.matches("done", text)
    end)
  end

  for _, family in ipairs(h.families) do
    it("functions of the family " .. family, function()
      for name, cases in pairs(h.rows(family)) do
        local eager, graph = h.calls(name, cases[1])
        under_caps(eager)
        if graph and cases[1].compiled ~= false then under_caps(graph) end
      end
    end)
  end

  it("sparse functions", function()
    local options = { format = "csr", dtype = "float64", itype = "int32" }
    for name, case in pairs(sparse_cases) do
      local f = sparse[name]
      if type(f) == "function" and case.args then
        local args = case.args(options)
        under_caps(function()
          if case.call then return case.call(f, table.unpack(args)) end
          return f(table.unpack(args))
        end)
      end
    end
  end)

  it("draws, which a second run does not repeat", function()
    local function draws()
      damo.random.seed(7)
      local many, few, cov = { size = { 50 } }, { size = { 5 } }, damo.eye(2) + 1
      return {
        damo.random.normal(0, 1, many), damo.random.uniform(0, 1, many), damo.random.gamma(0.5, 2, many),
        damo.random.poisson(3, many), damo.random.categorical({ 0.5, 0.5 }, many),
        damo.random.multinomial(4, { 0.5, 0.5 }, few), damo.random.dirichlet({ 1, 2 }, few),
        damo.random.multivariate_normal({ 0, 1 }, cov, few), damo.random.wishart(3, cov, few),
        damo.random.choice(9, { size = { 5 }, replace = false }), damo.random.choice(damo.arange(4.0), few),
      }
    end
    local want = draws()
    under_caps(function()
      local got = draws()
      for i, x in ipairs(want) do assert(damo.array_equal(x, got[i]), "other numbers") end
    end)
  end)

  -- Functions that are neither op functions nor sparse: each entry is run under the caps.
  local a, square = damo.array { 1, 2, 3, 4 }, damo.array { { 4, 1 }, { 1, 3 } }
  local x, m, c = damo.dvector "x", damo.dmatrix "m", damo.iscalar "c"
  local w, table_of_numbers = damo.shared(damo.ones { 4 }, "w"), { { 1, 2 }, { 3, 4 } }
  local A = sparse.coo { rows = { 1, 2, 2 }, cols = { 3, 1, 3 }, values = { 4, 5, 6 }, shape = { 2, 3 } }
  local graph_op = damo.Op {
    name = "Twice", make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
    perform = function(_, _, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
    grad = function(_, _, cotangents) return { cotangents[1] * 2 } end,
  }
  local cost = damo.sum(damo.sqr(damo.tanh(x) * w))
  local f = damo.compile({ x }, { cost, damo.grad(cost, x) })
  local lua_f = damo.compile({ x }, graph_op(x))
  local update = damo.compile({}, w * 1.5, { updates = { [w] = w + 1 } })
  local named = damo.compile({ x }, { total = damo.sum(x), all = x * 2 })
  local path = os.tmpname()
  local csv = assert(io.open(path .. ".csv", "w"))
  csv:write "1,2\n3,4\n"
  csv:close()
  local everything = {
    array = function() return damo.array(table_of_numbers, "float32") end,
    ["array of an Array"] = function() return damo.array(a) end,
    zeros = function() return damo.zeros { 20, 20 } end,
    full = function() return damo.full({ 7 }, 2) end,
    arange = function() return damo.arange(100) end,
    ["mgrid, ogrid"] = function()
      local slices = { { start = 0, stop = 4 }, { start = 0, stop = 1, step = 0.5 } }
      return damo.mgrid { slices = slices }, damo.ogrid { slices = slices }
    end,
    ["piecewise, block, stacklists"] = function()
      return damo.piecewise(a, { a:gt(1) }, { damo.exp, 2 }), damo.block { { a, a }, { a, a } },
        damo.stacklists { { a, a }, { a, a } }
    end,
    select = function() return damo.select({ damo.gt(a, 3), damo.gt(a, 2) }, { a, -a }, a * 2) end,
    pack = function()
      local vector, shapes = damo.pack(a, square)
      return damo.unpack(vector, { shapes = shapes })
    end,
    linspace = function() return damo.linspace(0, 1, 50) end,
    frombytes = function() return damo.frombytes(a:tobytes(), "float64", { 4 }) end,
    ["a[i]"] = function() return square[2] end,
    ["a[{}]"] = function() return square[{ {}, 1 }] end,
    ["a[list]"] = function() return a[{ damo.idx { 4, 1 } }] end,
    ["a[i] = v"] = function() square[{ 1, 1 }] = 4 end,
    ["a[range] = v"] = function() a[{ { 1, 2 } }] = damo.array { 1, 2 } end,
    ["a.T"] = function() return square.T end,
    copy = function() return a:copy() end,
    astype = function() return a:astype "float32" end,
    totable = function() return a:totable() end,
    tobytes = function() return a:tobytes() end,
    tostring = function() return tostring(square) end,
    operators = function() return (a + 1) * a - a / 2, -a, a ^ 2 end,
    ["graph by operators"] = function() return (damo.exp(x) * 2 + 1) / x end,
    ["x[i]"] = function() return x[2], m[{ {}, 1 }] end,
    ["x:set"] = function() return x:set({ 1 }, 0), x:inc({ 1 }, 1) end,
    makers = function() return damo.dmatrix "y", damo.tensor("t", { shape = { 3, false } }), sparse.csr_matrix "s" end,
    types = function() return damo.TensorType("int8", { shape = { 3, 9 } })() end,
    constant = function() return damo.constant(a) end,
    as_tensor_variable = function() return damo.as_tensor_variable(table_of_numbers) end,
    shared = function() return damo.shared(a) end,
    ["shared sparse"] = function() return damo.shared(A) end,
    get_value = function() return w:get_value() end,
    set_value = function() w:set_value(damo.ones { 4 }) end,
    ["set_value of a table"] = function() w:set_value { 1, 1, 1, 1 } end,
    eval = function() return cost:eval { [x] = a } end,
    grad = function() return damo.grad(cost, { x, w }) end,
    Rop = function() return damo.Rop(damo.exp(x), x, x) end,
    Lop = function() return damo.Lop(damo.exp(x), x, x) end,
    compile = function() return damo.compile({ x }, damo.grad(cost, x)) end,
    ["compile, FAST_COMPILE"] = function() return damo.compile({ x }, cost, { mode = "FAST_COMPILE" }) end,
    ["f()"] = function() return f(a) end,
    ["f() of a table"] = function() return f { 1, 2, 3, 4 } end,
    ["f:call"] = function() return f:call { x = a } end,
    ["f:copy"] = function() return f:copy()(a) end,
    ["f:into"] = function() return f:into(damo.array(0), damo.zeros { 4 })(a) end,
    ["named outputs"] = function() return named(a) end,
    ["an Op in Lua"] = function() return lua_f(a) end,
    ["a graph with an Op in Lua"] = function() return damo.grad(damo.sum(graph_op(x)), x) end,
    ["damo.Op"] = function() return damo.Op { name = "Other", make_node = print, perform = print } end,
    FunctionGraph = function()
      local fg = damo.graph.FunctionGraph({ x }, { cost }, { clone = true })
      fg:replace(fg.outputs[1], fg.outputs[1].owner.inputs[1]:sum())
      return fg:toposort()
    end,
    walks = function()
      return damo.graph.ancestors { cost }, damo.graph.graph_inputs { cost }, damo.graph.toposort { cost }
    end,
    clone_replace = function() return damo.graph.clone_replace({ cost }, { [w] = w * 2 }) end,
    profile = function()
      local profiled = damo.compile({ x }, damo.sum(damo.exp(x)), { profile = true })
      profiled(damo.ones { 3 })
      local p = profiled.profile
      return p:print { file = "str" }, p:plot(), p:dot(), p:trace()
    end,
    probe = function() return damo.compile({ x }, damo.sum(damo.exp(x))):probe(x)(damo.ones { 3 }) end,
    printing = function()
      damo.printing.Print "x" (x)
      damo.printing.loop(damo.compile({ x }, damo.exp(x) * 2))
      return damo.printing.debugprint(cost, { file = "str" }), damo.printing.pprint(cost)
    end,
    OpFromGraph = function() return damo.graph.OpFromGraph({ x }, { damo.exp(x) })(x) end,
    ["scan, map, reduce, foldl, foldr, while_loop"] = function()
      local function add(v, s) return s + v, damo.until_(damo.gt(s, 100)) end
      local function fold(v, s) return s + v end
      local o = { sequences = x, outputs_info = 0 }
      local sums = damo.scan(add, o)
      return sums, damo.grad(sums[-1], x), damo.map(damo.exp, { sequences = x }), damo.reduce(fold, o),
        damo.foldl(fold, o), damo.foldr(fold, o),
        damo.while_loop(function(s) return damo.lt(s, 9) end, function(s) return s * 2 end, 1)
    end,
    ["a loop over a sparse matrix, in a mode of its own"] = function()
      local start, factor = damo.sparse.csr_matrix "start", damo.dscalar "factor"
      local function step(now) return now * factor, damo.sparse.true_dot(now, start) end
      local last, product = damo.scan(step, { outputs_info = { start, false }, n_steps = 3, checkpoint = "log",
        mode = damo.Mode { exclude = { "fusion" }, optimizer = "none" } })
      local slope = damo.grad(damo.sin((last + product):toarray()):sum(), factor)
      return slope, damo.Rop(slope, start, start)
    end,
    ifelse = function() return damo.ifelse(damo.gt(x[1], 0), x, x * 2) end,
    save = function()
      damo.io.save(path .. ".npy", a)
      return damo.io.load(path .. ".npy")
    end,
    ["save sparse"] = function()
      damo.io.save(path .. ".npz", A)
      return damo.io.load(path .. ".npz")
    end,
    write_mtx = function()
      damo.io.write_mtx(path .. ".mtx", A)
      return damo.io.read_mtx(path .. ".mtx")
    end,
    ["parse, format"] = function()
      return damo.io.parse(damo.io.format(A, { format = "mtx" })), damo.io.parse(damo.io.format(a, { format = "npy" })),
        damo.io.parse(damo.io.format({ a = a }, { format = "npz" })),
        damo.io.parse("1,2\n3,4", { format = "csv" })
    end,
    write_csv = function()
      damo.io.write_csv(path .. ".csv", damo.ones { 2, 2 }, { header = { "a", "b" } })
      return damo.io.read_csv(path .. ".csv")
    end,
    save_graph = function()
      damo.save_graph(path .. ".graph", { inputs = { x }, outputs = { cost } })
      damo.save_graph(path .. ".graph", f)
      local graph = damo.load_graph(path .. ".graph")
      return graph.inputs[1], graph.outputs[1]
    end,
    ["load softly"] = function()
      damo.io.save(path .. ".npy", a)
      return assert(damo.io.load(path .. ".npy", { on_fail = "return" }))
    end,
    coo = function() return sparse.coo { rows = { 1, 2 }, cols = { 2, 1 }, values = { 1, 2 } } end,
    csr = function() return sparse.csr(square) end,
    eye = function() return sparse.eye(30) * 2 end,
    ["A[i, j]"] = function() return A[{ 1, 3 }], A[{ { 1, 1 }, {} }] end,
    ["A.data"] = function() return A.data, A.indices, A.indptr, A.T end,
    toarray = function() return A:toarray(), A:tocsc(), A:copy() end,
    factorize = function() return sparse.factorize(sparse.csr(square)):solve(damo.array { 1, 2 }) end,
    idx = function() return damo.idx { 1, 2, 3 } end,
    ["random stream"] = function() return damo.random.RandomStream(1):normal(0, 1, { size = { 5 } }):eval() end,
    info = function() return damo.memory(), damo.registry() end,
    optim = function()
      for _, rule in ipairs { "sgd", "momentum", "rmsprop", "adam" } do damo.optim[rule]({ w }, { w * 2 }) end
    end,
    ["other Types"] = function()
      return damo.DisconnectedType(), damo.GenericType(), damo.NullType "why", damo.RandomType(),
        sparse.SparseTensorType("csr", "float64"), sparse.FactorType()
    end,
    ["In, Out, Mode"] = function()
      local mode = damo.Mode { linker = "vm", exclude = { "inplace" } }
      return damo.compile({ damo.In(x, { value = a }) }, damo.Out(x * 2), { mode = mode })()
    end,
    ["as_variable and its like"] = function()
      return damo.as_variable(a), damo.as_tensor(a), sparse.as_sparse_variable(A), sparse.as_sparse(A),
        sparse.as_sparse_or_tensor_variable(A)
    end,
    questions = function()
      return damo.is_variable(x), sparse.is_sparse(A), damo.array_equal(a, a), damo.graph.ThunkType(print),
        damo.graph.HasInnerGraph(damo.exp(x).owner.op)
    end,
    range = function() return damo.range(1, 50) end,
    derivatives = function()
      local z = damo.dvector("z", { shape = { 3 } })
      return damo.jacobian(z * z, z), damo.hessian(damo.sum(z ^ 3.0), z),
        damo.hessian_vector_product(damo.sum(z ^ 3.0), z, z)
    end,
    trees = function()
      local list, def = damo.tree.flatten { 1, { x = 2 } }
      return damo.tree.unflatten(def, list), damo.tree.map(tostring, { 1 }), damo.tree.leaves { 1 }
    end,
    batches = function()
      local z, Z = damo.dvector "z", damo.dmatrix "Z"
      return damo.graph.vectorize_graph({ damo.sum(z), damo.cumsum(z) }, { [z] = Z }),
        damo.vectorize(function(v) return damo.sum(v * v) end, "(n)->()")(a), damo.subtensor(a, { 1 })
    end,
    ["gradients that are none"] = function()
      local op = damo.exp(x).owner.op
      return damo.grad_undefined(op, 1, x, "why"), damo.grad_not_implemented(op, 1, x, "why")
    end,
    verify_grad = function()
      damo.verify_grad(damo.tanh, { a })
      sparse.verify_grad_sparse(function(s) return sparse.toarray(s) end, { A }, { structured = true })
    end,
    ["more matrices"] = function()
      return sparse.csc(square), sparse.diags({ a }, { 0 }), sparse.from_dense(square, "csr"),
        sparse.random(5, 5, { density = 0.4 }), sparse.matrix("csr", "q"),
        sparse.sparse_random_inputs("csr", { 4, 4 })
    end,
    systems = function()
      local s, b = sparse.csr(square), damo.array { 1, 2 }
      return sparse.solve(s, b), sparse.solve_t(s, b), sparse.lstsq(s, b), sparse.det(s), sparse.logdet(s),
        sparse.slogdet(s), sparse.rcond(s)
    end,
    ["sparse draws"] = function()
      damo.random.seed(3)
      local shape = { shape = { 5, 5 } }
      return sparse.csr_fbinomial(3, 0.4, shape), sparse.csc_fbinomial(3, 0.4, shape),
        sparse.csr_dbinomial(3, 0.4, shape), sparse.csc_dbinomial(3, 0.4, shape), sparse.poisson(A),
        sparse.multinomial(3, sparse.eye(3))
    end,
    ["lists of operands"] = function()
      local parts = { damo.pack(a, a), damo.mgrid { slices = { { start = 0, stop = 3 }, { start = 1, stop = 3 } } } }
      return parts, damo.ogrid { slices = { { start = 0, stop = 3 } } },
        damo.select({ damo.gt(a, 1), damo.gt(a, 2) }, { a, -a }, 0)
    end,
    structured_monoid = function() return sparse.structured_monoid(damo.exp)(A) end,
    ["Op classes"] = function() return sparse.Neg(A), sparse.CSM { format = "csr" } end,
    ["states of random numbers"] = function()
      return damo.random.state(1), damo.random_state(1), damo.random_shared(damo.random_state(2)),
        damo.random.eager(function(state) return damo.random.normal(0, 1, { size = { 5 }, rng = state }) end)
    end,
    ["test values"] = function()
      damo.config.compute_test_value = "ignore"
      local v = damo.dvector "v"
      v.tag.test_value = a
      local y = damo.exp(v)
      damo.graph.compute_test_value(y.owner)
      local value = damo.graph.get_test_value(y)
      for _ in damo.graph.get_test_values(y) do damo.graph.missing_test_message "none" end
      damo.config.compute_test_value = "off"
      return value
    end,
    ["more of graphs"] = function()
      damo.graph.FunctionGraph({ x }, { damo.exp(x) }, { clone = true }):attach_feature(damo.graph.DestroyHandler())
      damo.graph.add_tag_trace(damo.exp(x))
      return damo.graph.equal_computations({ x }, { x }), damo.graph.variables({ x }, { cost })
    end,
    rules = function()
      damo.rewrite.register("of_a_spec", function() end, "of_a_spec")
      damo.rewrite.unregister "of_a_spec"
      damo.rewrite.before("of_a_spec", function(...) return ... end)
      damo.rewrite.before("of_a_spec", nil)
      return damo.rewrite.names()
    end,
    ["programs by name"] = function()
      local g = damo.from_token(f:token())
      return g(a), damo.from_token(f:token())
    end,
    ["a call in slices"] = function()
      local run = f:start(a)
      run:step(0)
      run:step()
      return run:result()
    end,
    snapshot = function() return update:snapshot(), f:snapshot() end,
    read_csv = function() return damo.io.read_csv(path .. ".csv") end,
    dot = function() return damo.printing.dot(cost, { path = path .. ".gv" }) end,
    ifelse_list = function() return damo.ifelse(c, { x, x }, { x * 2, x }) end,
    ["set_subtensor, inc_subtensor"] = function()
      return damo.set_subtensor(x[1], 2), damo.inc_subtensor(x[{ { 1, 2 } }], 2)
    end,
    thunks = function()
      local node = damo.exp(x).owner
      return node.op:make_thunk(node, {}, {}, {})
    end,
  }
  local names = {}
  for name in pairs(everything) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    it(name, function() under_caps(everything[name]) end)
  end

  it("a call with updates, which are made once", function()
    w:set_value { 0, 0, 0, 0 }
    local calls = 0
    under_caps(function()
      update()
      calls = calls + 1
    end)
    assert.equal(calls, w:get_value()[1])
  end)

  -- Not run: they allocate no native memory, or others of the same kind are tested.
  local elsewhere = {
    ["^%a*scalar$"] = "makers", ["^%a*vector$"] = "makers", ["^%a*matrix$"] = "makers", ["^%a?row$"] = "makers",
    ["^%a?col$"] = "makers", ["^%a?tensor%d$"] = "makers", ["^sparse%.get_item_[2s]"] = "A[{1, 2}]",
    ["^sparse%.subtensor$"] = "A[{1, 2}]", ["^frompointer$"] = "takes no memory", ["^view$"] = "takes no memory",
    ["^raise$"] = "makes an error", ["^clock$"] = "a number", ["^info$"] = "asks the system's loader",
    ["^sparse%.cs[rc]_%a*matrix$"] = "makers: csr_matrix", ["^sparse%.[A-Z]"] = "classes: Neg",
    ["^help$"] = "text alone", ["^explain$"] = "text alone", ["^plot%."] = "text alone", ["^progress%."] = "text alone",
    ["^random%."] = "draws: normal",
  }

  it("were run: every public function", function()
    local missing = {}
    local function look(home, prefix)
      for name, value in pairs(home) do
        local full, excused = prefix .. name, type(value) ~= "function" or called[value]
        for pattern, why in pairs(elsewhere) do excused = excused or (why and full:match(pattern)) end
        if not excused then missing[#missing + 1] = full end
      end
    end
    look(damo, "")
    for _, home in ipairs { "sparse", "random", "graph", "rewrite", "printing", "io", "optim", "plot", "progress",
      "tree" } do
      look(damo[home], home .. ".")
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  teardown(function()
    for _, ending in ipairs { "", ".npy", ".npz", ".mtx", ".csv", ".gv" } do os.remove(path .. ending) end
  end)
end)

describe("nested calls past the cap", function()
  setup(usual_pace.set)
  teardown(usual_pace.restore)
  it("run a second time once, not once a level", function()
    local x, runs = damo.dvector "x", 0
    local function call(v)
      runs = runs + 1
      damo.empty(1000)
      return damo.empty { 10000, 10000 }, v
    end
    for i = 1, 6 do
      local inner = call
      local op = damo.Op {
        name = "Level" .. i,
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, outputs)
          damo.empty(1000)
          outputs[1][1] = inner(inputs[1])
        end,
      }
      call = damo.compile({ x }, op(x))
    end
    collectgarbage()
    damo.config.memory_cap = damo.memory().bytes + 2 ^ 23
    local ok, err = pcall(call, damo.ones { 2 })
    damo.config.memory_cap = 0
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.is_true(runs <= 7, runs .. " runs")
  end)
end)
