-- f.profile of a Function compiled with profile = true: what it counts, and how it is shown.
local damo = require "damo"
local failure = require "spec.support.failure"
local with_folder = require "spec.support.folder"

local have_gnuplot = os.execute "command -v gnuplot >/dev/null 2>&1"

local function get(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local x = damo.dmatrix "x"

-- exp, a product, a sum: with separate nodes, whatever rules fuse.
local function model(options)
  local o = { profile = true, mode = damo.Mode { exclude = { "fusion" } }, name = "model" }
  for k, v in pairs(options or {}) do o[k] = v end
  return damo.compile({ x }, damo.sum(damo.dot(damo.exp(x), x)), o)
end

describe("a profile", function()
  it("counts calls, and runs of nodes and Ops", function()
    local f = model()
    assert.equal(0, f.profile.calls)
    for _ = 1, 7 do f(damo.ones { 30, 30 }) end
    local p = f.profile
    assert.equal(7, p.calls)
    assert.equal(#damo.graph.toposort(f.fgraph.outputs), #p.nodes)
    local names = {}
    for _, n in ipairs(p.nodes) do
      assert.equal(7, n.calls)
      assert.is_true(n.time > 0)
      assert.equal(tostring(n.node.op), n.op)
      names[n.op] = n
    end
    assert.equal(7 * 30 * 30 * 8, names["Elemwise{exp}"].bytes)
    assert.equal(7 * 30 * 30 * 8, names.Dot.bytes)
    assert.equal(#p.nodes, #p.ops)
  end)

  it("has totals of Ops, the most time first", function()
    local f = damo.compile({ x }, damo.dot(damo.dot(x, damo.exp(x)), x), { profile = true })
    for _ = 1, 3 do f(damo.ones { 40, 40 }) end
    local ops, time = f.profile.ops, 1 / 0
    for _, o in ipairs(ops) do
      assert.is_true(o.time <= time)
      time = o.time
      if o.op == "Dot" then assert.same({ 6, 2 }, { o.calls, o.nodes }) end
    end
  end)

  it("splits the time between nodes and overhead", function()
    local f = model()
    for _ = 1, 5 do f(damo.ones { 100, 100 }) end
    local p, in_nodes = f.profile, 0
    for _, n in ipairs(p.nodes) do in_nodes = in_nodes + n.time end
    assert.is_true(in_nodes > 0 and in_nodes < p.time)
    assert.is_true(math.abs(p.overhead - (p.time - in_nodes) / p.time) < 1e-9)
  end)

  it("counts the bytes of what the program holds, and none for views and results in place", function()
    local v = damo.dvector "v"
    local unfused = damo.Mode { exclude = { "fusion" } }
    local f = damo.compile({ v }, damo.sum(damo.exp(damo.sqrt(v))), { profile = true, mode = unfused })
    for _ = 1, 3 do f(damo.ones { 1000 }) end
    local p = f.profile
    assert.same({ 24000, 0 }, { p.nodes[1].bytes, p.nodes[2].bytes })
    assert.is_true(p.peak >= 8008) -- the sum has a workspace
    f(damo.ones { 3000 })
    f(damo.ones { 10 })
    assert.is_true(f.profile.peak >= p.peak + 16000)
    local g = damo.compile({ v }, damo.exp(v[{ { 1, 5 } }]), { profile = true })
    g(damo.ones { 1000 })
    assert.same({ 0, 40 }, { g.profile.nodes[1].bytes, g.profile.nodes[2].bytes })
  end)

  it("counts the arrays of sparse results", function()
    local a, b = damo.sparse.csr_matrix "a", damo.sparse.csr_matrix "b"
    local f = damo.compile({ a, b }, damo.sparse.transpose(damo.sparse.add(a, b)), { profile = true })
    f(damo.sparse.eye(100), damo.sparse.eye(100))
    assert.equal(100 * 8 + 100 * 4 + 101 * 4, f.profile.peak)
  end)

  it("is what it was when it was read", function()
    local f = model()
    f(damo.ones { 3, 3 })
    local before = f.profile
    f(damo.ones { 3, 3 })
    assert.same({ 1, 2 }, { before.calls, f.profile.calls })
  end)

  it("says how the Function was compiled", function()
    local p = model().profile
    local names, total = {}, 0
    for i, phase in ipairs(p.compile.phases) do
      names[i] = phase.name
      total = total + phase.time
    end
    assert.equal("graph", names[1])
    assert.equal("plan", names[#names])
    assert.truthy(table.concat(names, " "):find("merge canonicalize", 1, true))
    assert.is_true(math.abs(total - p.compile.time) < 1e-9)
  end)

  it("says which rules were used, and how often", function()
    local y = damo.exp(x) * 1 + damo.exp(x) * 1 + 0
    local p = damo.compile({ x }, y, { profile = true }).profile
    assert.is_true(p.rules.merge.uses >= 1 and p.rules.merge.time > 0)
    assert.equal(1, p.rules.drop_neutral.uses) -- of one product, once the other was merged with it
    local none = damo.compile({ x }, y, { profile = true, mode = damo.Mode { optimizer = "none" } }).profile
    assert.is_nil(next(none.rules))
  end)

  it("counts rules written in Lua", function()
    damo.rewrite.register("profile_spec_rule", function() return nil end, "fast_run", "canonicalize")
    local f = damo.compile({ x }, damo.exp(x), { profile = true })
    damo.rewrite.unregister "profile_spec_rule"
    local rule = f.profile.rules.profile_spec_rule
    assert.is_true(rule.uses == 0 and rule.time > 0)
  end)

  it("belongs to one Function: a copy has its own", function()
    local f = model()
    f(damo.ones { 2, 2 })
    local g = f:copy()
    g(damo.ones { 2, 2 })
    g(damo.ones { 2, 2 })
    assert.same({ 1, 2 }, { f.profile.calls, g.profile.calls })
    assert.equal(f.profile.compile.time, g.profile.compile.time)
  end)

  it("counts calls that fail", function()
    local f = damo.compile({ x }, damo.assert_op(x, damo.gt(damo.sum(x), 0)), { profile = true })
    failure("value", f, -damo.ones { 2, 2 })
    f(damo.ones { 2, 2 })
    assert.equal(2, f.profile.calls)
    assert.equal(1, f.n_calls)
  end)

  it("counts the nodes of branches that are taken alone", function()
    local c = damo.dscalar "c"
    local f = damo.compile({ c, x }, damo.ifelse(damo.gt(c, 0), damo.sum(damo.dot(x, x)), damo.sum(damo.exp(x))),
      { profile = true })
    f(1, damo.ones { 3, 3 })
    f(1, damo.ones { 3, 3 })
    for _, n in ipairs(f.profile.nodes) do
      if n.op == "Dot" then assert.equal(2, n.calls) end
      if n.op:find "exp" then assert.equal(0, n.calls) end
    end
  end)

  it("has the nodes of graphs inside Ops", function()
    local u = damo.dmatrix "u"
    local inner = damo.graph.OpFromGraph({ u }, { damo.dot(damo.exp(u), u) }, { inline = false })
    local f = damo.compile({ x }, damo.sum(inner(inner(x))), { profile = true })
    for _ = 1, 3 do f(damo.zeros { 4, 4 }) end
    local found = 0
    for _, n in ipairs(f.profile.nodes) do
      if n.node.op == inner then
        found = found + 1
        assert.equal(2, #n.nodes)
        for _, part in ipairs(n.nodes) do assert.is_true(part.calls == 3 and part.time < n.time) end
      else
        assert.is_nil(n.nodes)
      end
    end
    assert.equal(2, found)
  end)

  it("is kept in the modes that check too", function()
    for _, mode in ipairs { "FAST_COMPILE", "NANGUARD", "DEBUG" } do
      local f = model { mode = mode }
      local want = damo.compile({ x }, damo.sum(damo.dot(damo.exp(x), x)))(damo.ones { 4, 4 })
      assert.is_true(math.abs(f(damo.ones { 4, 4 }) - want) < 1e-9)
      assert.equal(1, f.profile.calls)
      for _, n in ipairs(f.profile.nodes) do assert.equal(1, n.calls) end
    end
    local f = damo.compile({ x }, damo.log(x), { profile = true, mode = "NANGUARD" })
    failure("numeric", f, -damo.ones { 2, 2 })
  end)

  it("is not there without the option, but for the counts of sparse systems", function()
    local p = damo.compile({ x }, x * 2).profile
    assert.same({ 0, 0 }, { p.symbolic_analyses, p.factorizations })
    assert.is_nil(p.calls)
    assert.equal(0, model().profile.factorizations)
  end)
end)

describe("a profile shown", function()
  local f
  before_each(function()
    f = model()
    for _ = 1, 3 do f(damo.ones { 30, 30 }) end
  end)

  it("by print has Ops, nodes, phases and rules", function()
    local text = f.profile:print { file = "str" }
    assert.truthy(text:find("^model: 3 calls, "))
    for _, part in ipairs { "\nops\n", "\nnodes\n", "\ncompiled in ", "  merge", "Dot", "Elemwise{exp}(x)" } do
      assert.truthy(text:find(part, 1, true), part)
    end
    local written = {}
    f.profile:print { file = { write = function(_, t) written[#written + 1] = t end } }
    assert.equal("model: 3 calls", table.concat(written):match "^model: 3 calls")
    assert.equal("model: 3 calls", tostring(f.profile):match "^model: 3 calls")
  end)

  it("by plot draws bars", function()
    local text = f.profile:plot()
    assert.truthy(text:find("^model: time of each node\n"))
    assert.truthy(text:find "#+%s+%u%a+[({]") -- of the node that takes longest
    assert.truthy(text:find("Dot(", 1, true))
    if not have_gnuplot then return end
    with_folder(function(dir)
      for _, ending in ipairs { "png", "svg" } do
        local path = dir .. "/bars." .. ending
        assert.equal(path, f.profile:plot { path = path })
        assert.is_true(#get(path) > 1000)
      end
    end)
  end)

  it("by dot colours the nodes", function()
    local text = f.profile:dot()
    assert.truthy(text:find("^digraph damo {\n"))
    local coloured = 0
    for _ in text:gmatch 'shape=ellipse, style=filled, fillcolor="#ff%x%x%x%x", tooltip="[^"]* %%"' do
      coloured = coloured + 1
    end
    assert.equal(#f.profile.nodes, coloured)
    with_folder(function(dir)
      assert.equal(text, f.profile:dot { path = dir .. "/graph.gv" })
      assert.equal(text, get(dir .. "/graph.gv"))
    end)
  end)

  it("by trace has an event for each call, node and phase", function()
    local text = f.profile:trace()
    local function count(pattern)
      return select(2, text:gsub(pattern, ""))
    end
    assert.equal(3, count '"cat":"call","ph":"X"')
    assert.equal(3 * #f.profile.nodes, count '"cat":"node","ph":"X"')
    assert.equal(#f.profile.compile.phases, count '"cat":"compile","ph":"X"')
    assert.is_nil(text:find('"ts":-', 1, true))
    with_folder(function(dir)
      f.profile:trace { path = dir .. "/trace.json" }
      assert.equal(text, get(dir .. "/trace.json"))
    end)
  end)

  it("by trace keeps the latest events, a bounded number", function()
    local n = damo.dscalar "n"
    local g = damo.compile({ n }, n + 1, { profile = true })
    for i = 1, 40000 do g(i) end
    local p = g.profile
    assert.equal(40000, p.calls)
    assert.equal(65536, #p.events)
  end)

  it("before the first call", function()
    local p = model().profile
    assert.truthy(p:print { file = "str" }:find "^model: 0 calls")
    assert.truthy(p:plot())
    assert.truthy(p:dot():find('fillcolor="#ffffff"', 1, true))
    assert.truthy(p:trace():find "compilation")
    if not have_gnuplot then return end
    with_folder(function(dir)
      p:plot { path = dir .. "/a.png" }
      damo.compile({ x }, x, { profile = true }).profile:plot { path = dir .. "/b.png" }
      assert.is_true(#get(dir .. "/a.png") > 500 and #get(dir .. "/b.png") > 500)
    end)
  end)

  it("refuses wrong options", function()
    local p = f.profile
    assert.equal("profile:print: unknown option 'path': the options are file",
      failure("value", p.print, p, { path = "a" }).message)
    failure("type", p.print, p, { file = 3 })
    assert.equal("profile:plot: option 'path' must end in .png, .svg or .pdf, got 'a.txt'",
      failure("value", p.plot, p, { path = "a.txt" }).message)
    failure("type", p.plot, p, { path = 3 })
    failure("type", p.trace, p, { path = 3 })
    failure("type", p.dot, p, { path = 3 })
    failure("io", p.trace, p, { path = "/nonexistent/a.json" })
    assert.equal("profile: there is no field or method 'prin', did you mean 'print'?",
      failure("value", function() return p.prin end).message)
  end)
end)
