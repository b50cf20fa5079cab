-- perform: its arguments and what it may do with them; params; destroy_map and view_map; prepare_node; no_recycling.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"

local function same_type(self, v) return damo.Apply(self, { v }, { v.type() }) end

local function one(perform, more)
  local def = { name = "One", make_node = same_type, perform = perform }
  for k, v in pairs(more or {}) do def[k] = v end
  return damo.Op(def)
end

local function run(op, ...) return damo.compile({ x }, op(x))(...) end

describe("the inputs of perform", function()
  it("are read-only values", function()
    local err = failure("state", run, one(function(_, _, i) i[1][1] = 5 end), { 1 })
    assert.equal("One", err.op)
  end)

  it("are lent for the call", function()
    local kept, copied
    local op = one(function(_, _, i, o) kept = i[1]; copied = i[1]:copy(); o[1][1] = i[1] + 0 end)
    local f = damo.compile({ x }, op(x))
    f { 1, 2 }
    assert.same({ 1, 2 }, copied:totable())
    failure("state", function() return kept:totable() end)
    f { 3 }
    assert.same({ 3 }, copied:totable())
  end)

  it("are lent for the call: a sparse input with its parts", function()
    local sparse = damo.sparse
    local m = sparse.csr_matrix "m"
    local function same(self, v) return damo.Apply(self, { v }, { v.type() }) end
    local a = sparse.csr_from_dense(damo.array { { 1.0, 0 }, { 2, 3 } })
    local kept, whole, copied
    local op = damo.Op {
      name = "Keeps", make_node = same,
      perform = function(_, _, i, o)
        if not kept then kept, whole, copied = i[1].data, i[1], i[1]:copy() end
        o[1][1] = i[1] * 2
      end,
    }
    local f = damo.compile({ m }, op(sparse.neg(m)))
    assert.same({ -2, -4, -6 }, f(a).data:totable())
    assert.equal("this Array has been freed", failure("state", function() return kept:totable() end).message)
    assert.equal("this Sparse has been freed", failure("state", function() return whole.nnz end).message)
    assert.same({ -6, -12, -18 }, f(a * 3).data:totable())
    assert.same({ -1, -2, -3 }, copied.data:totable())
    -- the caller's matrix is not affected
    assert.same({ 1, 2, 3 }, a.data:totable())
  end)

  it("stay valid if something keeps them: a sparse input's values", function()
    local sparse = damo.sparse
    local m, s = sparse.csr_matrix "m", damo.shared(damo.zeros { 3 })
    local a = sparse.csr_from_dense(damo.array { { 1.0, 0 }, { 2, 3 } })
    local op = damo.Op {
      name = "Stays", make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, i, o)
        s:set_value(i[1].data, { borrow = true })
        o[1][1] = i[1] * 2
      end,
    }
    damo.compile({ m }, op(m))(a)
    assert.same({ 1, 2, 3 }, s:get_value():totable())
  end)

  it("stay valid if something keeps them", function()
    local s = damo.shared(damo.zeros { 2 })
    local op = one(function(_, _, i, o) s:set_value(i[1], { borrow = true }); o[1][1] = i[1] + 0 end)
    local f = damo.compile({ x }, op(x))
    f { 1, 2 }
    f { 3, 4 }
    assert.same({ 3, 4 }, s:get_value():totable())
    local before = s:get_value({ borrow = true })
    f { 5, 6 }
    assert.same({ 3, 4 }, before:totable())
  end)

  it("may be nil, as the value of a GenericType", function()
    local none, seen = damo.GenericType(), nil
    local function taking(change)
      return damo.Op {
        name = "Taking",
        make_node = function(self, ...) return damo.Apply(self, { ... }, { x.type() }) end,
        perform = function(_, node, i, o)
          if change then change(i) end
          seen = {}
          for k = 1, #node.inputs do seen[k] = i[k] == nil and "nil" or i[k]:totable()[1] end
          o[1][1] = damo.array { #node.inputs }
        end,
      }
    end
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      for _, n in ipairs { damo.constant(nil, { type = none }), damo.shared(nil, { type = none }) } do
        for _, case in ipairs {
          { n, x, want = { "nil", 5 } }, { x, n, want = { 5, "nil" } }, { n, want = { "nil" } },
          { x, n, x, n, n, want = { 5, "nil", 5, "nil", "nil" } }, { n, n, x, want = { "nil", "nil", 5 } },
        } do
          local options = { mode = mode, on_unused_input = "ignore" }
          local f = damo.compile({ x }, taking()(table.unpack(case)), options)
          for _ = 1, 2 do
            assert.same({ #case }, f({ 5 }):totable())
            assert.same(case.want, seen)
          end
          for _, change in ipairs {
            function(i) rawset(i, #case + 1, 1) end,
            function(i) i[case[#case] == x and #case or #case + 1] = case[#case] ~= x and 1 or nil end,
            function(i) rawset(i, case[1] == x and 1 or #case + 1, case[1] ~= x and 1 or nil) end,
          } do
            local g = damo.compile({ x }, taking(change)(table.unpack(case)), options)
            local text = failure("value", g, { 5 }).message
            assert.truthy(text:find "Taking: perform changed the length of a list that it was given"
              or text:find "the lists that perform gets have one entry for each input and output", text)
          end
        end
      end
    end
  end)

  it("come in a list whose length can't be changed", function()
    local err = failure("value", run, one(function(_, _, i) i[2] = 1 end), { 1 })
    assert.equal("One", err.op)
    failure("value", run, one(function(_, _, i, o) o[1][1] = i[1]; i[1] = nil end), { 1 })
  end)
end)

describe("the outputs of perform", function()
  it("are cells in a list whose length can't be changed", function()
    failure("value", run, one(function(_, _, i, o) o[1][1] = i[1]; o[2] = {} end), { 1 })
    failure("value", run, one(function(_, _, i, o) o[1][1] = i[1]; o[1][2] = i[1] end), { 1 })
    failure("type", run, one(function(_, _, i, o) o[1] = { i[1] } end), { 1 })
    failure("value", run, one(function(_, _, i, o) o[1][1] = i[1]; o[1] = nil end), { 1 })
  end)

  it("of the wrong type, dtype or rank are errors that name the node", function()
    for _, value in ipairs { damo.array({ 1 }, "float32"), damo.zeros { 1, 1 }, "text", { 1 }, x } do
      local err = failure("type", run, one(function(_, _, _, o) o[1][1] = value end), { 1 })
      assert.equal("One", err.node.op.name)
      assert.truthy(err.message:find("One: perform put an? ", 1), err.message)
    end
    local err = failure("value", run, one(function() end), { 1 })
    assert.equal("One: perform left output 1 empty", err.message)
    assert.equal("One", err.node.op.name)
  end)

  it("may be the old value, overwritten", function()
    local seen, reused = {}, 0
    local op = one(function(_, _, i, o)
      local old = o[1][1]
      seen[#seen + 1] = old and old:totable() or "none"
      if old and old.shape[1] == i[1].shape[1] then
        reused = reused + 1
        for k = 1, #old do old[k] = i[1][k] * 2 end
      else
        o[1][1] = i[1] * 2
      end
    end)
    -- the sum reads the Op's output, which stays in its cell between calls
    local f = damo.compile({ x }, damo.sum(op(x)))
    assert.equal(6.0, f { 1, 2 })
    collectgarbage() -- a result whose userdata waits for its finalizer is not lent again
    assert.equal(14.0, f { 3, 4 })
    assert.equal(22.0, f { 5, 6 })
    assert.equal("none", seen[1])
    assert.equal(2, reused)
    assert.same({ 2, 4 }, seen[2])
  end)

  it("are never the caller's old results", function()
    local op = one(function(_, _, i, o)
      local old = o[1][1]
      if old then for k = 1, #old do old[k] = -1 end end
      o[1][1] = i[1] * 2
    end)
    local f = damo.compile({ x }, op(x))
    local a = f { 1 }
    local b = f { 2 }
    assert.same({ 2, 4 }, { a[1], b[1] })
  end)
end)

describe("params", function()
  it("are the properties as a table, nil if there are none", function()
    local got
    local P = damo.Op { name = "P", props = { "a", "b" }, make_node = same_type,
      perform = function(_, _, i, o, params) got = params; o[1][1] = i[1] + 0 end }
    run(P { a = 5, b = "t" }, { 1 })
    assert.same({ a = 5, b = "t" }, got)
    got = 1
    run(one(function(_, _, i, o, params) got = params; o[1][1] = i[1] + 0 end), { 1 })
    assert.is_nil(got)
  end)

  it("are the results of get_params, typed, read once when the thunk is made", function()
    local asked, got = 0, {}
    local P = damo.Op { name = "P", props = { "k" }, make_node = same_type,
      params_type = { k = "float64", n = "int32" },
      get_params = function(self, node)
        asked = asked + 1
        assert.equal("P", node.op.name)
        return { k = self.k / 2, n = 3 }
      end,
      perform = function(_, _, i, o, params) got = params; o[1][1] = i[1] * params.k end }
    local f = damo.compile({ x }, P { k = 5 }(x))
    assert.equal(1, asked)
    assert.same({ 5 }, f({ 2 }):totable())
    f { 3 }
    assert.equal(1, asked)
    assert.same({ k = 2.5, n = 3 }, got)
    assert.same({ k = "float64", n = "int32" }, P({ k = 1 }).params_type)
  end)

  it("of the wrong type are errors when the thunk is made", function()
    local function with(params, types)
      return one(print, { params_type = types or { k = "int32" }, get_params = function() return params end })
    end
    local err = failure("type", function() damo.compile({ x }, with({ k = 2.5 })(x)) end)
    assert.truthy(err.message:find("get_params gave a number for 'k', expected a int32", 1, true), err.message)
    failure("value", function() damo.compile({ x }, with({})(x)) end)
    failure("type", function() damo.compile({ x }, with(3)(x)) end)
    failure("type", function() damo.compile({ x }, with({ k = 1 }, { k = "what" })(x)) end)
  end)
end)

describe("destroy_map and view_map", function()
  it("count from 1 and are fields of the Op", function()
    local op = one(print, { destroy_map = { { 1 } }, view_map = { [1] = { 1 } } })
    assert.same({ { 1 } }, op.destroy_map)
    assert.same({ { 1 } }, op.view_map)
    failure("value", one, print, { destroy_map = { { 0 } } })
    assert.same({}, damo.exp(x).owner.op.destroy_map)
  end)

  it("let an Op write to its input, which is a copy if others need it", function()
    local op = one(function(_, _, i, o)
      for k = 1, #i[1] do i[1][k] = i[1][k] + 1 end
      o[1][1] = i[1]
    end, { destroy_map = { { 1 } } })
    local f = damo.compile({ x }, { op(x), x * 2 })
    local a = damo.array { 1, 2 }
    local y, double = f(a)
    assert.same({ 2, 3 }, y:totable())
    assert.same({ 2, 4 }, double:totable())
    assert.same({ 1, 2 }, a:totable())
  end)

  it("let an Op return a view of its input", function()
    local op = one(function(_, _, i, o) o[1][1] = i[1][{ { 1, 2 } }] end, { view_map = { { 1 } } })
    local f = damo.compile({ x }, damo.sum(op(x * 1.5)))
    assert.equal(4.5, f { 1, 2, 3 })
    local same = one(function(_, _, i, o) o[1][1] = i[1] end, { view_map = { { 1 } } })
    local g = damo.compile({ x }, { same(x), damo.exp(same(x * 0)) })
    for k = 1, 3 do
      local a, b = g { k, k }
      assert.same({ k, k }, a:totable())
      assert.same({ 1, 1 }, b:totable())
    end
  end)
end)

describe("prepare_node", function()
  it("runs before the thunk is made, once an implementation", function()
    local log = {}
    local op = one(function(_, node, i, o) log[#log + 1] = node.tag.prepared; o[1][1] = i[1] + 0 end, {
      prepare_node = function(self, node, storage_map, compute_map, impl)
        assert.equal("One", self.name)
        log[#log + 1] = impl
        assert.is_nil(storage_map)
        assert.is_nil(compute_map)
        node.tag.prepared = "ready"
      end,
    })
    local f = damo.compile({ x }, op(x))
    assert.same({ "lua" }, log)
    collectgarbage()
    f { 1 }
    f { 1 }
    assert.same({ "lua", "ready", "ready" }, log)
  end)

  it("sees the maps of a script's make_thunk, and may be called again", function()
    local got
    local op = one(function(_, _, i, o) o[1][1] = i[1] + 0 end,
      { prepare_node = function(_, _, storage_map, compute_map) got = { storage_map, compute_map } end })
    local y = op(x)
    local storage, computed = {}, {}
    op:make_thunk(y.owner, storage, computed, {})
    assert.equal(storage, got[1])
    assert.equal(computed, got[2])
    op:prepare_node(y.owner, nil, nil, "lua")
    op:prepare_node(y.owner, nil, nil, "lua")
    assert.is_nil(got[1])
  end)
end)

describe("no_recycling", function()
  -- an Op with a bug: it adds the value left in its cell
  local function adder()
    return one(function(_, _, i, o)
      local old = o[1][1]
      o[1][1] = old and old + i[1] or i[1] + 0
    end)
  end

  it("hides the value of an earlier call", function()
    local op = adder()
    local y = op(x)
    local leaky, clean = { [x] = { damo.array { 1 } } }, { [x] = { damo.array { 1 } } }
    local a = op:make_thunk(y.owner, leaky, nil, {})
    local b = op:make_thunk(y.owner, clean, nil, { y })
    a() a() a()
    b() b() b()
    assert.same({ 3 }, leaky[y][1]:totable())
    assert.same({ 1 }, clean[y][1]:totable())
  end)
end)
