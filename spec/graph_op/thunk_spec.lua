-- make_thunk, make_c_thunk, make_lua_thunk, ThunkType; overriding make_thunk; lazy thunks; the fallback from c to lua.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"

local function same_type(self, v) return damo.Apply(self, { v }, { v.type() }) end

local function one(perform, more)
  local def = { name = "One", make_node = same_type, perform = perform }
  for k, v in pairs(more or {}) do def[k] = v end
  return damo.Op(def)
end

describe("make_thunk", function()
  it("works on native Ops", function()
    local y = damo.exp(x)
    local storage, computed = { [x] = { damo.array { 0, 0 } } }, { [x] = { true } }
    local t = y.owner.op:make_thunk(y.owner, storage, computed, {})
    assert.is_true(damo.graph.ThunkType(t))
    assert.is_false(t.lazy)
    assert.equal(1, #t.inputs)
    assert.is_true(rawequal(storage[x], t.inputs[1]))
    assert.is_true(rawequal(storage[y], t.outputs[1]))
    assert.is_nil(t())
    assert.same({ 1, 1 }, storage[y][1]:totable())
    assert.is_true(computed[y][1])
    t.inputs[1][1] = damo.array { 0 }
    t()
    assert.same({ 1 }, t.outputs[1][1]:totable())
  end)

  it("works on Lua Ops, and without maps", function()
    local op = one(function(_, _, i, o) o[1][1] = i[1] * 3 end)
    local t = op:make_thunk(op(x).owner)
    local err = failure("missing_input", t)
    assert.equal("One: the cell of input 1 is empty", err.message)
    t.inputs[1][1] = { 1, 2 }
    t()
    assert.same({ 3, 6 }, t.outputs[1][1]:totable())
    t.inputs[1][1] = "no"
    failure("type", t)
    assert.equal("thunk of One", tostring(t))
  end)

  it("has the values of constants", function()
    local y = damo.add(x, 2)
    local t = y.owner.op:make_thunk(y.owner, { [x] = { damo.array { 1 } } })
    t()
    assert.same({ 3 }, t.outputs[1][1]:totable())
  end)

  it("refuses wrong arguments", function()
    local y = damo.exp(x)
    failure("value", y.owner.op.make_thunk, damo.sin(x).owner.op, y.owner)
    failure("type", y.owner.op.make_thunk, y.owner.op, 3)
    failure("type", y.owner.op.make_thunk, y.owner.op, y.owner, 3)
    failure("type", y.owner.op.make_thunk, y.owner.op, y.owner, { [x] = 3 })
    local err = failure("value", y.owner.op.make_thunk, y.owner.op, y.owner, {}, {}, {}, "py")
    assert.equal("make_thunk: impl must be 'c', 'lua' or nil, got 'py'", err.message)
    failure("type", y.owner.op.make_thunk, y.owner.op, y.owner, {}, {}, {}, 3)
  end)

  it("raises errors with the node", function()
    local op = one(function() error "lost" end)
    local t = op:make_thunk(op(x).owner, { [x] = { damo.array { 1 } } })
    local err = failure("callback", t)
    assert.equal("One", err.node.op.name)
    err = failure("callback", t)
    assert.truthy(err.message:find "lost")
  end)
end)

describe("make_c_thunk and make_lua_thunk", function()
  it("make a thunk of that implementation", function()
    local y = damo.exp(x)
    local native = y.owner.op:make_c_thunk(y.owner, { [x] = { damo.array { 0 } } })
    native()
    assert.same({ 1 }, native.outputs[1][1]:totable())
    -- around the perform that a script can call
    for _, make in ipairs { "make_lua_thunk", "make_thunk" } do
      native = y.owner.op[make](y.owner.op, y.owner, { [x] = { damo.array { 0 } } }, nil, nil,
        make == "make_thunk" and "lua" or nil)
      native()
      assert.same({ 1 }, native.outputs[1][1]:totable())
    end
    local cell = {}
    y.owner.op:perform(y.owner, { damo.array { 0 } }, { cell })
    assert.same({ 1 }, cell[1]:totable())
    local A = damo.sparse.csr_matrix "A"
    local s = damo.sparse.neg(A)
    native = s.owner.op:make_lua_thunk(s.owner, { [A] = { damo.sparse.eye(2, { format = "csr" }) } })
    native()
    assert.equal(-1, native.outputs[1][1]:toarray()[{ 1, 1 }])
    local op = one(function(_, _, i, o) o[1][1] = i[1] * 3 end)
    local t = op:make_lua_thunk(op(x).owner, { [x] = { damo.array { 1 } } })
    t()
    assert.same({ 3 }, t.outputs[1][1]:totable())
    failure("not_implemented", op.make_c_thunk, op, op(x).owner, {})
    failure("not_implemented", op.make_thunk, op, op(x).owner, {}, {}, {}, "c")
  end)

  it("reuse the Array in an output's cell, if it fits and is not referenced elsewhere", function()
    local y = damo.exp(x)
    local op, node = y.owner.op, y.owner
    local function run(value, no_recycling, given)
      local storage = { [x] = { given or damo.array { 0, 0 } }, [y] = { value } }
      op:make_thunk(node, storage, nil, no_recycling, "c")()
      assert.same({ 1, 1 }, storage[y][1]:totable())
      return storage[y][1]
    end
    local room = damo.array { 7, 7 }
    assert.equal(room, run(room))
    assert.same({ 1, 1 }, room:totable())
    local kept = damo.array { 7, 7 }
    assert.not_equal(kept, run(kept, { y }))
    local view = kept[{ {} }] -- shares memory
    assert.not_equal(kept, run(kept))
    assert.not_equal(view, run(view))
    assert.same({ 7, 7 }, kept:totable())
    for _, other in ipairs { damo.array { 7 }, damo.array({ 7, 7 }, "float32") } do
      assert.not_equal(other, run(other))
      assert.equal(7, other[1])
    end
    local both = damo.array { 0, 0 } -- also the input
    assert.not_equal(both, run(both, nil, both))
    assert.same({ 0, 0 }, both:totable())
    local storage = { [x] = { damo.array { 0, 0 } } }
    local thunk = op:make_c_thunk(node, storage)
    thunk()
    local first = storage[y][1]
    storage[x][1] = damo.array { 1, 1 }
    thunk()
    assert.equal(first, storage[y][1])
    assert.is_true(math.abs(first[1] - math.exp(1)) < 1e-15)
  end)

  it("run debug_perform with debug, if there is one", function()
    local log = {}
    local op = one(function(_, _, i, o) log[#log + 1] = "plain"; o[1][1] = i[1] + 0 end,
      { debug_perform = function(_, _, i, o) log[#log + 1] = "debug"; o[1][1] = i[1] + 0 end })
    local storage = { [x] = { damo.array { 1 } } }
    op:make_lua_thunk(op(x).owner, storage, nil, {}, true)()
    op:make_lua_thunk(op(x).owner, storage, nil, {}, false)()
    assert.same({ "debug", "plain" }, log)
  end)
end)

describe("an Op's own make_thunk", function()
  it("may return a closure over the cells", function()
    local seen
    local op = one(nil, { make_thunk = function(self, node, storage_map, compute_map, no_recycling, impl)
      seen = { self.name, type(compute_map), type(no_recycling), impl }
      local input, output = storage_map[node.inputs[1]], storage_map[node.outputs[1]]
      return function() output[1] = input[1] * 2 end
    end })
    local f = damo.compile({ x }, damo.sum(op(x + 1)))
    assert.same({ "One", "table", "table", "lua" }, seen)
    assert.equal(10.0, f { 1, 2 })
    assert.equal(4.0, f { 1 })
  end)

  it("may wrap the thunk that make_lua_thunk makes", function()
    local runs = 0
    local op = one(function(_, _, i, o) o[1][1] = i[1] * 2 end, {
      make_thunk = function(self, node, storage_map, compute_map, no_recycling)
        local inner = self:make_lua_thunk(node, storage_map, compute_map, no_recycling)
        return function() runs = runs + 1; return inner() end
      end,
    })
    local f = damo.compile({ x }, op(x))
    assert.same({ 4 }, f({ 2 }):totable())
    assert.same({ 6 }, f({ 3 }):totable())
    assert.equal(2, runs)
  end)

  it("may return a lazy thunk, which asks for the inputs that it needs", function()
    local asked = {}
    local function probe(name)
      return one(function(_, _, i, o) asked[#asked + 1] = name; o[1][1] = i[1] * 2 end)
    end
    local Choose = damo.Op {
      name = "Choose",
      make_node = function(self, c, a, b) return damo.Apply(self, { c, a, b }, { a.type() }) end,
      make_thunk = function(_, node, storage_map, compute_map)
        local c, out = storage_map[node.inputs[1]], storage_map[node.outputs[1]]
        return setmetatable({ lazy = true, inputs = {}, outputs = {} }, { __call = function()
          if not compute_map[node.inputs[1]][1] then return { 1 } end
          local k = c[1]:item() > 0 and 2 or 3
          if not compute_map[node.inputs[k]][1] then return { k } end
          out[1] = storage_map[node.inputs[k]][1] + 0
        end })
      end,
    }
    local c = damo.dscalar "c"
    local f = damo.compile({ c, x }, Choose(c * 1, probe "a"(x), probe "b"(x)))
    assert.same({ 2 }, f(1, { 1 }):totable())
    assert.same({ "a" }, asked)
    assert.same({ 4 }, f(-1, { 2 }):totable())
    assert.same({ "a", "b" }, asked)
  end)

  it("names wrong results", function()
    local function made(make_thunk) return damo.compile({ x }, one(nil, { make_thunk = make_thunk })(x)) end
    local err = failure("type", made, function() return 3 end)
    assert.equal("One: make_thunk must return a function or a callable object, got number", err.message)
    failure("callback", made, function() error "no" end)
    failure("value", made(function() return function() end end), { 1 })
    failure("callback", made(function() return function() error "no" end end), { 1 })
    failure("type", made(function() return function() return { 1 } end end), { 1 })
  end)

  it("keeps all errors but not_implemented for c", function()
    local tried = {}
    local op = one(function(_, _, i, o) o[1][1] = i[1] end,
      { prepare_node = function(_, _, _, _, impl) tried[#tried + 1] = impl; error { code = 1 } end })
    local err = failure("callback", function() return damo.compile({ x }, op(x)) end)
    assert.same({ code = 1 }, err.cause)
    assert.same({ "lua" }, tried)
  end)
end)

describe("ThunkType", function()
  it("recognizes thunks, a script's own too", function()
    local ThunkType = damo.graph.ThunkType
    assert.is_false(ThunkType(print))
    assert.is_false(ThunkType(nil))
    assert.is_false(ThunkType {})
    assert.is_true(ThunkType(setmetatable({ inputs = {}, outputs = {}, lazy = false }, { __call = print })))
  end)
end)
