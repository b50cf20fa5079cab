-- Modes: names, damo.Mode, NANGUARD, DEBUG.
local damo = require "damo"

local x = damo.dvector "x"

local function failure(kind, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(kind, err.kind, tostring(err))
  return err
end

-- Runs fn and returns its warnings.
local function warnings(fn)
  local before, got = damo.config.on_warning, {}
  damo.config.on_warning = function(kind, message) got[#got + 1] = kind .. ": " .. message end
  local ok, err = pcall(fn)
  damo.config.on_warning = before
  if not ok then error(err, 0) end
  return got
end

local function names(f)
  local seen = {}
  for _, node in ipairs(f.fgraph.apply_nodes) do seen[#seen + 1] = node.op.scalar or node.op.name end
  return table.concat(seen, " ")
end

describe("a mode that looks at values", function()
  it("looks once at what broadcasting repeats", function()
    local n, m, s = 2 ^ 40, damo.dmatrix "m", damo.dscalar "s"
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      local parts = { m[{ 5, 2 }], m.T[{ 1, 3 }], damo.broadcast_to(s, { n, 2 })[{ 7, 1 }] }
      local f = damo.compile({ m, s }, parts, { mode = mode })
      local wide = damo.broadcast_to(damo.array { 1., 2 }, { n, 2 })
      assert.same({ 2, 1, 4 }, { f(wide, 4) })
      local err = failure("numeric", f, damo.broadcast_to(damo.array { 1., 0 / 0 }, { n, 2 }), 4)
      assert.matches("nan at {1, 2}", err.message, 1, true)
    end
  end)
end)

describe("a mode", function()
  it("is given by its name, and a misspelt one is an error", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD" } do
      assert.same({ 3, 5 }, damo.compile({ x }, x * 2 + 1, { mode = mode })({ 1, 2 }):totable())
    end
    local err = failure("value", damo.compile, { x }, x, { mode = "NANGARD" })
    assert.matches("did you mean 'NANGUARD'", err.message)
    failure("type", damo.compile, { x }, x, { mode = 3 })
  end)

  it("is config.mode by default", function()
    local before = damo.config.mode
    damo.config.mode = "NANGUARD"
    local ok, err = pcall(function() return damo.compile({ x }, damo.log(x)) { -1 } end)
    damo.config.mode = before
    assert.is_false(ok)
    assert.equal("numeric", err.kind)
  end)

  it("is an object too: linker, optimizer, tags", function()
    local y = damo.log(1 + x)
    assert.matches("log1p", names(damo.compile({ x }, y, { mode = damo.Mode { optimizer = "fast_run" } })))
    assert.not_matches("log1p", names(damo.compile({ x }, y, { mode = damo.Mode { exclude = { "stabilize" } } })))
    assert.not_matches("log1p", names(damo.compile({ x }, y, { mode = damo.Mode { optimizer = "none" } })))
    assert.not_matches("log1p", names(damo.compile({ x }, y, { mode = damo.Mode { require = { "fast_compile" } } })))
    local included = damo.Mode { optimizer = "fast_compile", include = { "stabilize" } }
    assert.matches("log1p", names(damo.compile({ x }, y, { mode = included })))
    failure("numeric", damo.compile({ x }, y, { mode = damo.Mode { linker = "nanguard" } }), { -2 })
    assert.matches("did you mean 'fast_run'", failure("value", damo.Mode, { optimizer = "fast_rum" }).message)
    failure("value", damo.Mode, { linker = "wm" })
    failure("value", damo.Mode, { optimiser = "fast_run" })
  end)

  it("takes the names and tags of rewrites, and refuses others", function()
    for _, field in ipairs { "include", "exclude", "require" } do
      local err = failure("value", damo.Mode, { [field] = { "inplace", "inexcat" } })
      assert.equal("Mode: no rewrite has the name or tag 'inexcat' of " .. field .. ", did you mean 'inexact'?",
        err.message)
      assert.equal("Mode: no rewrite has the name or tag 'xyzzy' of " .. field,
        failure("value", damo.Mode, { [field] = "xyzzy" }).message)
      -- the nearest tag, not the first similar one: "fuse" comes before it
      assert.matches("did you mean 'fusion'?", failure("value", damo.Mode, { [field] = "fusoin" }).message, 1, true)
      for _, word in ipairs { "fusion", "fuse", "inplace", "inexact", "fast_run", "stabilize", "stable_log" } do
        damo.Mode { [field] = { word } }
      end
    end
    assert.matches("'cancel_factors'", failure("value", damo.Mode, { exclude = { "cancel_factor" } }).message)
    damo.rewrite.register("mine", function() end, "fast_run", "my_tag")
    local mode = damo.Mode { exclude = { "my_tag" } }
    damo.compile({ x }, x + 1, { mode = mode })
    damo.rewrite.unregister "mine"
    failure("value", damo.compile, { x }, x + 1, { mode = mode })
  end)
end)

describe("NANGUARD", function()
  it("names the node, the line and the value", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local bad = damo.log(x)
    local f = damo.compile({ x }, damo.sum(bad), { mode = "NANGUARD" })
    assert.equal(0.0, f { 1 })
    local err = failure("numeric", f, { 1, -1 })
    assert.matches("nan at {2}", err.message)
    assert.matches("log", err.op)
    assert.matches("mode_spec.lua:" .. line, err.trace[1])
    assert.matches("inf at {1}", failure("numeric", f, { 0 }).message)
  end)

  it("ignores entries read only by the branch of a where that is not taken", function()
    local values = damo.array { 4, -1 }
    local root = damo.sqrt(x)
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      local function value(out) return damo.compile({ x }, out, { mode = mode })(values):totable() end
      assert.same({ 2, 0 }, value(damo.where(damo.gt(x, 0), root, 0)))
      assert.same({ 0, 2 }, value(damo.where(damo.gt(x, 0), 0, damo.sqrt(-x) + 1)))
      assert.same({ 5, 0 }, value(damo.where(damo.gt(x, 0), 2 * root + 1, 0)))
      assert.same({ 2, 0 }, value(damo.where(damo.gt(x, 0), damo.where(damo.lt(x, 5), root, 1), 0)))
      assert.same({ 2, 0 }, value(damo.where(damo.gt(x, -3), damo.where(damo.gt(x, 0), root, 0), 1)))
      -- A row with nonfinite entries, broadcast against a matrix: an entry counts as read if any position reads it.
      local m = damo.dmatrix "m"
      local f = damo.compile({ m, x }, damo.where(damo.gt(m, 0), damo.log(x), 0), { mode = mode })
      assert.equal(0, f(damo.array { { 1, -1 }, { 1, 0 } }, damo.array { 1, -1 })[2][2])
      local taken = failure("numeric", f, damo.array { { 1, -1 }, { 1, 2 } }, damo.array { 1, -1 })
      assert.matches("nan at {2}", taken.message)
      -- Axes may be permuted in between.
      local lines = damo.log(x):dimshuffle { "x", 1 }
      f = damo.compile({ m, x }, damo.where(damo.gt(m, 0), lines, 0), { mode = mode })
      assert.equal(0, f(damo.array { { 1, -1 }, { 1, 0 } }, damo.array { 1, -1 })[2][2])
      f = damo.compile({ m }, damo.where(damo.gt(m, 0), damo.log(m.T).T, 0), { mode = mode })
      assert.same({ { 0, 0 }, { 0, 0 } }, f(damo.array { { 1, -1 }, { 1, 1 } }):totable())
      taken = failure("numeric", damo.compile({ m }, damo.log(m.T).T, { mode = mode }), damo.array { { 1, -1 } })
      assert.matches("nan at", taken.message)
      local function fails(out)
        local err = failure("numeric", damo.compile({ x }, out, { mode = mode }), values)
        assert.matches("sqrt", err.op)
        assert.matches("nan at {2}", err.message)
      end
      fails(root)
      fails(damo.sum(root))
      fails(damo.where(damo.lt(x, 5), root, 0))
      fails(damo.where(damo.gt(x, 0), root, 0) + root)
      fails(damo.where(damo.gt(root, 1), 1, 0))
      fails(damo.where(damo.lt(x, 5), damo.maximum(damo.lt(root, 1), true), false)) -- the nan is not in its result
    end
  end)

  it("follows them through conditions, reductions and moved entries", function()
    local m = damo.dmatrix "m"
    local values, rows = damo.array { 4, -1 }, damo.array { { 1, 2 }, { 0, 3 } }
    local positive, root, logs = damo.gt(x, 0), damo.sqrt(x), damo.log(m)
    local used = damo.gt(damo.transpose(m)[1], 0)
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      local function value(out)
        return damo.compile({ x, m }, out, { mode = mode, on_unused_input = "ignore" })(values, rows)
      end
      assert.same({ 1, 0 }, value(damo.where(positive, damo.where(damo.gt(root, 1), 1, 2), 0)):totable())
      assert.same({ 1, 0 }, value(damo.where(damo.and_(positive, damo.gt(root, 1)), 1, 0)):totable())
      assert.same({ 1, 1 }, value(damo.where(damo.or_(damo.lt(x, 0), damo.gt(root, 1)), 1, 0)):totable())
      local log2 = math.log(2)
      for _, y in ipairs { damo.sum(logs, { axis = 2 }), damo.max(logs, { axis = 2 }), damo.dot(logs, damo.ones { 2 }),
        damo.reshape(logs, { 4 })[{ { 1, 3, 2 } }], damo.cumsum(logs, { axis = 2 })[{ { 1, 2 }, 2 }] } do
        assert.equal(0, value(damo.where(used, y, 0))[2])
        local err = failure("numeric", value, damo.where(damo.gt(used, -1), y, 0))
        assert.matches("log", err.op)
        assert.matches("inf at {2, 1}", err.message)
      end
      assert.is_true(math.abs(value(damo.where(used, damo.sum(logs, { axis = 2 }), 0))[1] - log2) < 1e-15)
      assert.same({ 1, 2 }, value(damo.where(damo.isnan(root), 2, 1)):totable())
      assert.same({ 2, 2 }, value(damo.where(damo.isnan(root), 2, root)):totable())
      assert.same({ 4, -1 }, value(damo.ifelse(damo.isnan(damo.sum(root)), x, root)):totable())
      assert.matches("nan at {2}", failure("numeric", value, damo.ifelse(damo.isnan(damo.sum(root)), root, x)).message)
      assert.matches("nan at {2}", failure("numeric", value, damo.ifelse(damo.gt(damo.sum(root), 0), x, x + 1)).message)
      -- exp(-inf) is finite, and the result of the branch taken still depends on it
      assert.matches("inf at {2, 1}", failure("numeric", value, damo.sum(damo.softmax(logs))).message)
      assert.matches("inf at {2, 1}", failure("numeric", value, damo.sum(damo.exp(logs), { axis = 2 })).message)
      assert.matches("inf at {2, 1}", failure("numeric", value, damo.argmax(logs, { axis = 2 })).message)
    end
  end)

  it("checks arguments and shared values", function()
    local s = damo.shared(damo.array { 1, 1 / 0 }, "weights")
    assert.matches("weights", failure("numeric", damo.compile({ x }, x + s, { mode = "NANGUARD" }), { 1, 2 }).message)
    assert.matches("input 1", failure("numeric", damo.compile({ x }, x, { mode = "NANGUARD" }), { 0 / 0 }).message)
  end)

  it("ignores an Op whose class says so, in DEBUG too", function()
    local function log_op(check)
      return damo.Op {
        name = "Log",
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, storage) storage[1][1] = damo.log(inputs[1]) end,
        nan_guard_mode_check = check,
      }
    end
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      for _, values in ipairs { { 1, 0 }, { 1, -1 } } do
        local f = damo.compile({ x }, log_op(false)(x), { mode = mode })
        assert.equal(0, f(values)[1])
        for _, check in ipairs { true, "none" } do
          local g = damo.compile({ x }, log_op(check == true or nil)(x), { mode = mode })
          assert.matches("the result Log.1 holds", failure("numeric", g, values).message)
        end
        -- later nodes are checked as usual
        assert.matches("neg", failure("numeric", damo.compile({ x }, -log_op(false)(x), { mode = mode }), values).op)
      end
    end
    local err = failure("type", damo.Op, { name = "Odd", nan_guard_mode_check = 1 })
    assert.equal("Op: nan_guard_mode_check must be a boolean, got number", err.message)
  end)

  it("warns of an integer division by zero", function()
    local i = damo.lvector "i"
    for _, mode in ipairs { "NANGUARD", "DEBUG" } do
      local f = damo.compile({ i }, { damo.floor_div(7, i), 7 % i }, { mode = mode })
      local got = warnings(function() f { 0, 2 } end)
      assert.equal(2, #got)
      assert.matches("^numeric: .*divided by zero", got[1])
      assert.matches("mode_spec.lua", got[1])
      assert.equal(0, #warnings(function() f { 1, 2 } end))
    end
  end)
end)

describe("DEBUG", function()
  local function unary(fields)
    fields.make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end
    return damo.Op(fields)
  end

  it("accepts correct graphs, with updates and gradients", function()
    local w = damo.shared(damo.array { { 1, 2 }, { 3, 4 } })
    local cost = damo.sum(damo.tanh(damo.dot(w, x)) ^ 2)
    local updates = { [w] = w - 0.1 * damo.grad(cost, w) }
    local f = damo.compile({ x }, { cost, damo.softmax(x) }, { mode = "DEBUG", updates = updates })
    local g = damo.compile({ x }, cost, { givens = { [w] = damo.constant(w:get_value()) } })
    assert.is_true(math.abs(f { 0.5, 1 } - g { 0.5, 1 }) < 1e-12)
    assert.is_true(f { 0.5, 1 } < g { 0.5, 1 })
    local rs = damo.random.RandomStream(3)
    local draw = damo.compile({}, rs:normal(0, 1, { size = { 3 } }), { mode = "DEBUG" })
    assert.is_false(damo.array_equal(draw(), draw()))
  end)

  it("notices an Op whose result changes when it runs again", function()
    local n = 0
    local Moody = unary {
      name = "Moody",
      perform = function(_, _, inputs, storage)
        n = n + 1
        storage[1][1] = inputs[1] + n
      end,
    }
    local line = debug.getinfo(1, "l").currentline + 1
    local y = Moody(x)
    local err = failure("inconsistency", damo.compile({ x }, y, { mode = "DEBUG" }), { 1 })
    assert.equal("Moody", err.op)
    assert.matches("2 against 3", err.message)
    assert.matches("mode_spec.lua:" .. line, err.trace[1])
  end)

  it("notices nan", function()
    assert.matches("nan", failure("numeric", damo.compile({ x }, damo.sqrt(x), { mode = "DEBUG" }), { -1 }).message)
  end)

  it("does not change the caller's values", function()
    local given, out = damo.array { 1, 2 }, damo.zeros { 2 }
    damo.compile({ x }, x * 2, { mode = "DEBUG" }):into(out)(given)
    assert.same({ 2, 4 }, out:totable())
    assert.same({ 1, 2 }, given:totable())
  end)
end)
