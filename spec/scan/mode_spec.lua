-- The mode in which the graph of a Scan, a ScanGrad and an OpFromGraph is compiled: its own, else the Function's.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local A = damo.array
local enabled = damo.info().jit.enabled

-- The Ops of the graphs inside, as they ran in a call.
local function inside(f, ...)
  f(...)
  local ops = {}
  for _, entry in ipairs(f.profile.nodes) do
    for _, inner in ipairs(entry.nodes or {}) do ops[#ops + 1] = tostring(inner.op):gsub(",inplace", "") end
  end
  return table.concat(ops, " ")
end

local PLAIN = "Elemwise{mul} Elemwise{add} Elemwise{sub} Elemwise{tanh}" -- as it was written
local SIMPLER = "Elemwise{mul} Elemwise{add} Elemwise{tanh}" -- of two constants one
local function step(h) return damo.tanh(h * 2 + 1 - 0.5) end

-- What makes a graph with that step, by the name of the Op that holds it.
local holders = {
  scan = function(x, mode) return damo.scan(step, { outputs_info = x, n_steps = 3, mode = mode })[-1] end,
  foldl = function(x, mode)
    return damo.foldl(function(_, h) return step(h) end, { sequences = A { 1, 2 }, outputs_info = x, mode = mode })
  end,
  while_loop = function(x, mode)
    local _, h = damo.while_loop(function(k) return damo.lt(k, 2) end, function(k, h) return k + 1, step(h) end,
      { damo.constant(A(0, "int8")), x }, { mode = mode })
    return h
  end,
  OpFromGraph = function(x, mode)
    local v = damo.dvector "v"
    return damo.graph.OpFromGraph({ v }, { step(v) }, { mode = mode })(x)
  end,
}

local Mode = damo.Mode
local modes = {
  { "a name", "FAST_COMPILE", PLAIN },
  { "an optimizer", Mode { optimizer = "fast_compile" }, PLAIN },
  { "no optimizer", Mode { optimizer = "none" }, PLAIN },
  { "tags that are left out", Mode { exclude = { "fusion" } }, SIMPLER },
  { "further tags", Mode { optimizer = "none", include = { "fast_run" }, exclude = "fusion" }, SIMPLER },
  { "required tags", Mode { require = { "inplace" } }, PLAIN },
}

describe("a mode of a graph inside", function()
  local x = damo.dvector "x"
  local ones = damo.ones { 100 }

  for name, hold in pairs(holders) do
    it("is its own, whatever the Function's: " .. name, function()
      for _, row in ipairs(modes) do
        local what, mode, want = row[1], row[2], row[3]
        for _, outer in ipairs { "FAST_RUN", "FAST_COMPILE", Mode { exclude = { "fusion" } } } do
          local ops = inside(damo.compile({ x }, hold(x, mode), { profile = true, mode = outer }), ones)
          assert.truthy(ops:find(want, 1, true), what .. ": " .. ops)
        end
      end
      for _, own in ipairs { "FAST_RUN", Mode {} } do
        local ops = inside(damo.compile({ x }, hold(x, own), { profile = true, mode = "FAST_COMPILE" }), ones)
        assert.truthy(ops:find("Loop{", 1, true), ops)
      end
    end)

    it("is the Function's where it has none of its own: " .. name, function()
      for _, row in ipairs(modes) do
        local f = damo.compile({ x }, hold(x), { profile = true, mode = row[2] })
        local ops = inside(f, ones)
        assert.truthy(ops:find(row[3], 1, true), row[1] .. ": " .. ops)
        assert.is_true(damo.allclose(f(ones), damo.compile({ x }, hold(x))(ones), { rtol = 1e-15 }))
        assert.is_true(damo.allclose(f(ones), damo.from_token(f:token())(ones), { rtol = 1e-15 }))
        assert.is_true(damo.allclose(f(ones), f:copy()(ones), { rtol = 1e-15 }))
      end
      damo.config.mode = "FAST_COMPILE"
      local ok, ops = pcall(function() return inside(damo.compile({ x }, hold(x), { profile = true }), ones) end)
      damo.config.mode = "FAST_RUN"
      assert.is_true(ok, ops)
      assert.truthy(ops:find(PLAIN, 1, true), ops)
    end)
  end

  it("is that of a graph inside of it that has none, and of a gradient", function()
    local plain = Mode { optimizer = "none" }
    local function rows(outer, inner)
      local y = damo.scan(function(h)
        return damo.scan(step, { outputs_info = h, n_steps = 2, mode = inner })[-1]
      end, { outputs_info = x, n_steps = 2, mode = outer })
      return damo.compile({ x }, y[-1], { profile = true })
    end
    local function innermost(f)
      f(ones)
      local ops = {}
      for _, entry in ipairs(f.profile.nodes) do
        for _, inner in ipairs(entry.nodes or {}) do
          for _, node in ipairs(inner.nodes or {}) do ops[#ops + 1] = tostring(node.op) end
        end
      end
      return table.concat(ops, " ")
    end
    assert.equal(PLAIN, innermost(rows(plain)))
    assert.truthy(innermost(rows(plain, "FAST_RUN")):find "^Loop")
    assert.equal(PLAIN, innermost(rows(nil, plain)))
    for _, policy in ipairs { "all", 2, "log" } do
      local y = damo.scan(step, { outputs_info = x, n_steps = 5, mode = plain, checkpoint = policy })
      local f = damo.compile({ x }, damo.grad(y[-1]:sum(), x), { profile = true })
      assert.is_nil(inside(f, ones):find "Loop")
    end
  end)

  it("keeps machine code out", function()
    local s = damo.dscalar "s"
    local function made(own, outer)
      local y = damo.scan(function(h) return h * 0.5 end, { outputs_info = s, n_steps = 300, mode = own })
      local f = damo.compile({ s }, y[-1] * 2, { mode = outer })
      garbage.collect()
      local before = damo.info().jit.bytes
      assert.near(2 * 0.5 ^ 300, f(1), 1e-100)
      return damo.info().jit.bytes > before
    end
    local without = Mode { jit = false }
    assert.equal(enabled, made())
    assert.equal(enabled, made(Mode { jit = true }))
    assert.is_false(made(without))
    assert.is_false(made(nil, without))
    assert.is_false(made(Mode { optimizer = "none" }))
  end)

  it("watches", function()
    local calls = 0
    local Twice = damo.Op { name = "Twice", make_node = function(op, v) return damo.Apply(op, { v }, { v.type() }) end,
      perform = function(_, _, inputs, out)
        calls = calls + 1
        out[1][1] = calls % 2 == 1 and inputs[1] * 2 or inputs[1] * 2 + 1
      end }
    local v = damo.dvector "v"
    local op = damo.graph.OpFromGraph({ v }, { damo.log(v) }, { mode = Mode { linker = "nanguard" } })
    local function kind(f, ...)
      local ok, err = pcall(f, ...)
      return not ok and err.kind
    end
    assert.equal("numeric", kind(damo.compile({ v }, damo.exp(op(v))), A { 0 }))
    local y = damo.scan(function(h) return Twice(h) end, { outputs_info = v, n_steps = 2,
      mode = Mode { linker = "debug", exclude = { "inplace" } } })
    assert.truthy(kind(damo.compile({ v }, y), A { 1 }))
    local z = damo.scan(function(h) return damo.log(h) end, { outputs_info = v, n_steps = 2 })
    local f = damo.compile({ v }, z, { mode = Mode { linker = "nanguard", exclude = { "fusion" } } })
    local ok, err = pcall(f, A { 1 })
    assert.is_false(ok)
    assert.equal("numeric", err.kind)
    assert.truthy(err.message:find("step", 1, true), err.message) -- it looks inside
  end)

  it("leaves no memory behind", function()
    local function use()
      local mode = Mode { optimizer = "none", include = { "fast_run" }, exclude = { "fusion", "inplace" } }
      local f = damo.compile({ x }, holders.scan(x, mode))
      f(ones)
      f:free()
    end
    local cap = damo.config.memo_cap
    damo.config.memo_cap = 0
    for _ = 1, 3 do use() end
    garbage.collect()
    local before = damo.memory().bytes
    for _ = 1, 20 do use() end
    garbage.collect()
    local after = damo.memory().bytes
    damo.config.memo_cap = cap
    assert.equal(before, after)
  end)

  it("must be one", function()
    local function message(fn, ...)
      local ok, err = pcall(fn, ...)
      assert.is_false(ok)
      return err.kind, err.message
    end
    for name, hold in pairs(holders) do
      for bad, kind in pairs { FAST_RUNN = "value", [3] = "type" } do
        local got, text = message(hold, x, bad)
        assert.equal(kind, got)
        assert.truthy(text:find(name .. ": ", 1, true), text)
      end
      assert.equal("type", (message(hold, x, {})))
    end
  end)

  it("goes into a file with its graph", function()
    local path = os.tmpname()
    damo.save_graph(path, damo.compile({ x }, holders.scan(x, Mode { optimizer = "none", jit = false })))
    local g = damo.load_graph(path)
    os.remove(path)
    assert.truthy(inside(damo.compile(g.inputs, g.outputs, { profile = true }), ones):find(PLAIN, 1, true))
  end)
end)
