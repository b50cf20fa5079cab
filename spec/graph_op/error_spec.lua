-- An error in any callback leaks nothing and leaves everything usable; memory stays constant over many objects.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local x = damo.dvector "x"

-- Calls that run each callback. The Op is new each time; bad: its callback throws.
local use = {
  make_node = function(op) return op(x) end,
  perform = function(op) return damo.compile({ x }, op(x)) { 1 } end,
  grad = function(op) return damo.grad(damo.sum(op(x)), x) end,
  L_op = function(op) return damo.grad(damo.sum(op(x)), x) end,
  R_op = function(op) return damo.Rop(op(x), x, x) end,
  infer_shape = function(op) return damo.compile({ x }, op(x).shape[1]) { 1 } end,
  connection_pattern = function(op) return damo.grad(damo.sum(op(x)), x) end,
  do_constant_folding = function(op) return damo.compile({}, op(damo.constant { 1 }))() end,
  get_params = function(op) return damo.compile({ x }, op(x)) { 1 } end,
  prepare_node = function(op) return damo.compile({ x }, op(x)) { 1 } end,
  make_thunk = function(op) return damo.compile({ x }, op(x)) { 1 } end,
}

local good = {
  make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
  perform = function(_, _, i, o) o[1][1] = i[1] * 2 end,
  grad = function(_, _, g) return { g[1] * 2 } end,
  L_op = function(_, _, _, g) return { g[1] * 2 } end,
  R_op = function(_, _, eval) return { eval[1] * 2 } end,
  infer_shape = function(_, _, _, shapes) return shapes end,
  connection_pattern = function() return { { true } } end,
  do_constant_folding = function() return true end,
  get_params = function() return { k = 1 } end,
  prepare_node = function() end,
  make_thunk = function(self, node, s, c, r) return self:make_lua_thunk(node, s, c, r) end,
}

local function op_with(name, fn)
  local def = { name = "Bad", props = {}, make_node = good.make_node, perform = good.perform, grad = good.grad }
  if name == "L_op" then def.grad = nil end
  def[name] = fn
  return damo.Op(def) {}
end

local memo_cap = damo.config.memo_cap

local function flat(fn, n)
  local function round()
    for _ = 1, n do fn() end
    damo.config.memo_cap = 0 -- forgets the compiled graphs, whose memory grows to the cap
    damo.config.memo_cap = memo_cap
    garbage.collect()
    return damo.memory(), collectgarbage "count"
  end
  local native, lua = round()
  local after, now = round()
  -- tables of the core and of Lua keep their largest size, and sometimes double: without a leak, a round that adds
  -- nothing
  -- comes soon
  for _ = 1, 4 do
    if after.bytes <= native.bytes + 20000 and now <= lua + 100 + n * 0.01 then break end
    native, lua = after, now
    after, now = round()
  end
  assert.is_true(after.objects <= native.objects + 20, ("%d objects, then %d"):format(native.objects, after.objects))
  assert.is_true(after.bytes <= native.bytes + 20000, ("%d bytes, then %d"):format(native.bytes, after.bytes))
  assert.is_true(now <= lua + 100 + n * 0.01, ("%.0f KB, then %.0f"):format(lua, now))
end

local function keys(t)
  local list = {}
  for k in pairs(t) do list[#list + 1] = k end
  table.sort(list)
  return list
end

describe("an error in a callback", function()
  for _, name in ipairs(keys(use)) do
    it("changes nothing: " .. name, function()
      local bad = true
      local function once()
        bad = true
        local op = op_with(name, function(...)
          if bad then error({ name = name }, 0) end
          return good[name](...)
        end)
        local ok, err = pcall(use[name], op)
        assert.is_false(ok)
        assert.equal(name, (err.cause or err).name)
        bad = false
        assert(use[name](op))
      end
      flat(once, 60)
    end)
  end
end)

-- Callbacks that are not members of an Op: each entry runs one whose code calls fail() first.
local x2 = damo.dvector "x2"

local function overridden(field)
  return function(fail)
    local op = damo.graph.OpFromGraph({ x }, { x * 2 }, {
      [field] = function(_, along, grads) -- inputs, eval_points; or inputs, outputs, output_grads
        fail()
        return { (grads or along)[1] * 2 }
      end,
    })
    local y = op(x2)
    return field == "lop_overrides" and damo.grad(damo.sum(y), x2) or damo.Rop(y, x2, x2)
  end
end

local function featured(name)
  return function(fail)
    local fg = damo.graph.FunctionGraph({ x }, { damo.exp(x) })
    local feature = { [name] = function() fail() end }
    fg:attach_feature(feature)
    fg:replace_validate(fg.outputs[1], damo.log(fg.inputs[1]))
    fg:remove_feature(feature)
    return fg
  end
end

local others = {
  rewriter = function(fail)
    damo.rewrite.register("flat", function(_, node)
      if node.op.scalar ~= "exp" then return nil end
      fail()
      return damo.sin(node.inputs[1])
    end, "flat")
    local ok, result = pcall(damo.compile, { x }, damo.exp(x), { mode = damo.Mode { include = { "flat" } } })
    damo.rewrite.unregister "flat"
    if not ok then error(result, 0) end
    return result { 1 }
  end,
  ["a closure that make_thunk returned"] = function(fail)
    local op = op_with("make_thunk", function(_, node, storage)
      return function()
        fail()
        storage[node.outputs[1]][1] = storage[node.inputs[1]][1] * 2
      end
    end)
    return damo.compile({ x }, op(x)) { 1 }
  end,
  ["perform under DEBUG"] = function(fail)
    local op = op_with("perform", function(_, _, i, o)
      fail()
      o[1][1] = i[1] * 2
    end)
    return damo.compile({ x }, op(x), { mode = "DEBUG" }) { 1 }
  end,
  lop_overrides = overridden "lop_overrides",
  rop_overrides = overridden "rop_overrides",
}
for _, name in ipairs { "on_attach", "on_import", "on_change_input", "validate", "on_prune", "on_detach" } do
  others["a feature's " .. name] = featured(name)
end

describe("an error in a callback beside an Op's", function()
  for _, name in ipairs(keys(others)) do
    it("changes nothing: " .. name, function()
      flat(function()
        local ok, err = pcall(others[name], function() error({ name = name }, 0) end)
        assert.is_false(ok)
        assert.equal(name, err.cause.name)
        assert(others[name](function() end))
      end, 60)
    end)
  end
end)

describe("memory does not grow", function()
  it("with many Ops, Variables and Functions", function()
    local n = tonumber(os.getenv "DAMO_FLAT_LOOPS") or os.getenv "DAMO_MODE" == "asan" and 2000 or 50000 -- twice
    flat(function()
      local op = op_with("grad", good.grad)
      local v = damo.dscalar "v"
      damo.compile({ v }, op(v) * 2)(1.5)
    end, n)
  end)

  it("with Ops that hold their own output, Function and thunk", function()
    flat(function()
      local held = {}
      local op = op_with("perform", function(_, _, i, o) held.n = 1; o[1][1] = i[1] * 2 end)
      held.y = op(x)
      held.y.tag.self = held
      held.f = damo.compile({ x }, held.y)
      held.f { 1 }
      held.t = op:make_thunk(held.y.owner, { [x] = { damo.array { 1 } } })
      held.t()
    end, 300)
  end)
end)
