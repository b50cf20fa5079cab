-- damo.view: Arrays over memory that a source stands for, their layouts, rebind, and what keeps the memory alive.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"

-- An object as LÖVE's Data: `values` is the Array whose memory it stands for.
local function data_of(values, size)
  return {
    values = values,
    getPointer = function(self) return self.values:pointer() end,
    getSize = function() return size or values.size * #values:tobytes() / values.size end,
  }
end

local collect = garbage.collect

describe("damo.view", function()
  local base, p
  before_each(function()
    base = damo.array { 1, 2, 3, 4, 5, 6 }
    p = base:pointer()
  end)

  it("reads and writes the memory of a light userdata", function()
    local v = damo.view(p, { dtype = "float64", shape = { 2, 3 } })
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, v:totable())
    v[{ 2, 3 }] = 60
    base[1] = 10
    assert.equal(60, base[6])
    assert.equal(10, v[{ 1, 1 }])
  end)

  it("takes strides and an offset in bytes", function()
    local backward = damo.view(p, { shape = { 3 }, strides = { -16 }, offset = 32, size = 48 })
    assert.same({ 5, 3, 1 }, backward:totable())
    assert.same({ { 1, 3, 5 }, { 2, 4, 6 } }, damo.view(p, { shape = { 2, 3 }, strides = { 8, 16 } }):totable())
    assert.same({ 2, 2 }, damo.view(p, { shape = 2, strides = { 0 }, offset = 8, readonly = true }):totable())
    local halves = damo.view(p, { dtype = "uint32", shape = { 2 }, offset = 4, strides = { 8 } })
    assert.same({ 0x3ff00000, 0x40000000 }, halves:totable())
  end)

  it("takes an object with getPointer and getSize, whole without a shape", function()
    assert.same(base:totable(), damo.view(data_of(base)):totable())
    assert.same({ 5, 6 }, damo.view(data_of(base), { offset = 32 }):totable())
    assert.same({ 5 }, damo.view(data_of(base), { offset = 32, size = 40 }):totable())
    assert.equal(0, damo.view(data_of(base), { offset = 48 }).size)
    local proxy = setmetatable({}, { __index = data_of(base) })
    assert.equal(6, damo.view(proxy).size)
    failure("value", damo.view, data_of(base, 47))
    failure("value", damo.view, data_of(base, 1.5))
    failure("value", damo.view, data_of(base, -8))
  end)

  it("is an index error past the size", function()
    for _, source in ipairs { data_of(base), p } do
      local function at(options)
        options.size = 48
        return damo.view(source, options)
      end
      assert.equal(6, at({ shape = { 6 } }).size)
      failure("index", at, { shape = { 7 } })
      failure("index", at, { shape = { 6 }, offset = 8 })
      failure("index", at, { shape = { 2 }, strides = { 48 } })
      failure("index", at, { shape = { 2 }, strides = { -8 } })
      failure("index", at, { shape = { 2 }, strides = { 2 ^ 52 } })
      failure("index", at, { offset = 56 })
      local err = failure("index", at, { shape = { 2 ^ 40, 2 ^ 40 } })
      assert.equal("view: shape (1099511627776, 1099511627776) of float64 needs more than 2^63 bytes, "
        .. "but the source has 48", err.message)
      failure("index", at, { dtype = "int8", shape = { 2 ^ 40, 2 ^ 40 }, strides = { 0, 0 }, readonly = true })
      assert.equal(0, at({ shape = { 0, 1000 }, offset = 48 }).size)
    end
    failure("index", damo.view, data_of(base), { size = 56, shape = { 1 } })
  end)

  it("refuses misaligned elements, and overlapping ones that may be written", function()
    failure("value", damo.view, p, { shape = { 1 }, offset = 4 })
    failure("value", damo.view, p, { shape = { 2 }, strides = { 12 } })
    failure("value", damo.view, p, { shape = { 1 }, offset = 4, readonly = true })
    failure("value", damo.view, p, { shape = { 2 }, strides = { 0 } })
    failure("value", damo.view, p, { shape = { 2, 2 }, strides = { 8, 8 } })
    failure("value", damo.view, p, { shape = { 3, 3 }, strides = { 16, 8 } })
    assert.equal(4, damo.view(p, { shape = { 2, 2 }, strides = { 8, 8 }, readonly = true }).size)
    assert.equal(4, damo.view(p, { shape = { 2, 2 }, strides = { 24, 16 } }).size) -- at 0, 2, 3, 5: interleaved, apart
    assert.equal(1, damo.view(p, { shape = { 1, 1 }, strides = { 0, 3 } }).size)
  end)

  it("refuses other sources and options", function()
    for _, bad in ipairs { 3, "x", base, io.stdout, {}, { getPointer = function() return p end }, print } do
      failure("type", damo.view, bad, { shape = { 1 } })
    end
    failure("type", damo.view)
    failure("type", damo.view, { getPointer = function() return 3 end, getSize = function() return 8 end })
    failure("type", damo.view, p, 3)
    failure("value", damo.view, p, { shap = { 1 } })
    failure("value", damo.view, p) -- no shape, no size
    failure("value", damo.view, p, { strides = { 8 }, size = 48 })
    failure("shape", damo.view, p, { shape = { 2 }, strides = { 8, 8 } })
    failure("type", damo.view, p, { shape = { 2 }, strides = 8 })
    failure("type", damo.view, p, { shape = { 2 }, strides = { "8x" } })
    failure("value", damo.view, p, { shape = { 2 }, strides = { 8.5 } })
    failure("value", damo.view, p, { shape = { 2 }, offset = -8 })
    failure("type", damo.view, p, { shape = { 2 }, offset = "0" })
    failure("value", damo.view, p, { shape = { 2 }, dtype = "float46" })
  end)

  it("can be read-only", function()
    local v = damo.view(p, { shape = { 6 }, readonly = true })
    assert.is_false(v.writeable)
    failure("state", function() v[1] = 3 end)
    local x = damo.dvector "x"
    failure("state", function() damo.compile({ x }, -x):into(v) end)
  end)
end)

describe("the layouts of damo.view", function()
  -- Whether two elements share a byte, by marking every byte
  local function overlap(shape, strides, size)
    local seen, index = {}, {}
    for d = 1, #shape do
      if shape[d] == 0 then return false end
      index[d] = 0
    end
    while true do
      local at = 0
      for d = 1, #shape do at = at + index[d] * strides[d] end
      for b = at, at + size - 1 do
        if seen[b] then return true end
        seen[b] = true
      end
      local d = #shape
      while d > 0 and index[d] == shape[d] - 1 do
        index[d] = 0
        d = d - 1
      end
      if d == 0 then return false end
      index[d] = index[d] + 1
    end
  end

  it("are judged exactly: random shapes and strides", function()
    local memory = damo.zeros { 4096 }
    local p, bytes = memory:pointer(), 4096 * 8
    local state, apart, alike, outside = 7, 0, 0, 0
    local function draw(n) -- Lehmer's generator: 0 … n - 1
      state = state * 48271 % 2147483647
      return state % n
    end
    for _ = 1, 3000 do
      local dtype, size = "int16", 2
      if draw(2) == 0 then dtype, size = "float64", 8 end
      local shape, strides, low, high = {}, {}, 0, size
      for d = 1, draw(5) do
        shape[d], strides[d] = draw(5) + (draw(8) > 0 and 1 or 0), (draw(41) - 20) * size
        local reach = (shape[d] - 1) * strides[d]
        if reach < 0 then low = low + reach else high = high + reach end
      end
      local n = 1
      for d = 1, #shape do n = n * shape[d] end
      local offset = draw(3) == 0 and draw(40) * 8 or 2000 * 8
      local options = { dtype = dtype, shape = shape, strides = strides, offset = offset, size = bytes }
      local ok, v = pcall(damo.view, p, options)
      if n > 0 and (offset + low < 0 or offset + high > bytes) then
        outside = outside + 1
        assert(not ok and v.kind == "index", tostring(v))
      elseif overlap(shape, strides, size) then
        alike = alike + 1
        assert(not ok and v.kind == "value", tostring(v))
      else
        apart = apart + 1
        assert(ok, tostring(v))
        memory[{}] = 0
        v[{}] = 1
        assert.equal(n, damo.sum(damo.neq(damo.view(p, { dtype = dtype, shape = { bytes / size } }), 0)))
      end
    end
    assert(apart > 500 and alike > 500 and outside > 20, ("%d %d %d"):format(apart, alike, outside))
  end)
end)

describe("a view's memory", function()
  it("is kept by the view and by all that views it", function()
    for _, how in ipairs { "view", "slice", "transposed", "into", "shared" } do
      local alive = setmetatable({}, { __mode = "k" })
      local held
      do
        local memory = damo.array { 1, 2, 3, 4 }
        local source, owner = data_of(memory), {}
        alive[source], alive[owner] = true, true
        local v = damo.view(source, { shape = { 2, 2 }, owner = owner })
        local x = damo.dmatrix "x"
        held = how == "view" and v or how == "slice" and v[{ 1 }] or how == "transposed" and v.T
          or how == "into" and damo.compile({ x }, -x):into(v) or damo.shared(v, { borrow = true })
      end
      collect()
      local n = 0
      for _ in pairs(alive) do n = n + 1 end
      assert.equal(2, n, how)
      if how == "into" then held(damo.ones { 2, 2 }) end
      held = nil -- luacheck: ignore
      collect()
      assert.is_nil(next(alive), how)
    end
  end)

  it("changes by rebind, for those who hold the view", function()
    local one, two = damo.array { 1, 2, 3 }, damo.array { 10, 20, 30 }
    local v = damo.view(one:pointer(), { shape = { 2 }, offset = 8, size = 24, owner = one })
    local x = damo.dvector "x"
    local f = damo.compile({ x }, x * 2)
    local out = damo.view(one:pointer(), { shape = { 2 } })
    local double = f:into(out)
    double(v)
    assert.same({ 4, 6, 3 }, one:totable())
    assert.equal(v, v:rebind(two:pointer()))
    assert.same({ 20, 30 }, v:totable())
    out:rebind(two:pointer())
    double(v)
    assert.same({ 40, 60, 30 }, two:totable())
    assert.same({ 4, 6, 3 }, one:totable())
  end)

  it("stays with those who view a view that is bound anew", function()
    local alive = setmetatable({}, { __mode = "k" })
    local two = data_of(damo.array { 10, 20, 30 })
    local v, part
    do
      local one, owner = data_of(damo.array { 1, 2, 3 }), {}
      alive[one], alive[owner] = "source", "owner"
      v = damo.view(one, { owner = owner })
      part = v[{ { 2, 3 } }]
    end
    v:rebind(two)
    collect()
    assert.same({ 2, 3 }, part:totable())
    assert.same({ 10, 20, 30 }, v:totable())
    assert.is_truthy(next(alive))
    part:rebind(two)
    assert.same({ 20, 30 }, part:totable())
    part[1] = 5
    assert.equal(5, v[2])
    collect()
    local kinds = {}
    for _, kind in pairs(alive) do kinds[kind] = true end
    assert.same({ owner = true }, kinds) -- both still have the option `owner`
  end)

  it("is not rebound while a call in slices reads it", function()
    local x = damo.vector "x"
    local f = damo.compile({ x }, damo.sum(damo.exp(x)))
    local other = damo.array { 6, 5, 4, 3, 2, 1 }
    local base = damo.array { 1, 2, 3, 4, 5, 6 }
    local v = damo.view(base:pointer(), { dtype = "float64", shape = { 6 }, owner = base })
    local run = f:start(v)
    failure("state", v.rebind, v, other:pointer())
    assert.is_true(run:step())
    assert.equal(f(base), run:result())
    v:rebind(other:pointer())
    assert.equal(6, v[1])
  end)

  it("is checked by rebind", function()
    local memory = damo.zeros { 4 }
    local v = damo.view(data_of(memory), { shape = { 3 }, offset = 8 })
    failure("index", v.rebind, v, data_of(memory, 31))
    failure("type", v.rebind, v, 3)
    failure("type", v.rebind, memory, data_of(memory))
    failure("type", v.rebind, damo.dvector "x", data_of(memory))
    local odd = damo.view(memory:pointer(), { dtype = "uint8", shape = { 32 } })[{ { 2, 30 } }]
    local misaligned = { getPointer = function() return odd:pointer() end, getSize = function() return 64 end }
    failure("value", v.rebind, v, misaligned)
    local limited = damo.view(memory:pointer(), { shape = { 3 }, offset = 8, size = 32 })
    assert.equal(limited, limited:rebind(memory:pointer()))
    local x, inner = damo.dvector "x", nil
    local Meddler = damo.Op {
      name = "Meddler",
      make_node = function(self, a) return damo.Apply(self, { a }, { a.type() }) end,
      perform = function(_, _, inputs, outputs)
        inner = failure("state", v.rebind, v, data_of(memory))
        outputs[1][1] = inputs[1]:copy()
      end,
    }
    damo.compile({ x }, Meddler(x))(v)
    assert.matches("under way", inner.message)
    v:free()
    failure("state", v.rebind, v, data_of(memory))
  end)

  it("makes no garbage where it is bound anew", function()
    local one, two = damo.zeros { 3 }, damo.zeros { 3 }
    local p, q = one:pointer(), two:pointer()
    local object = { getPointer = function() return q end, getSize = function() return 24 end }
    local v = damo.view(p, { shape = { 3 } })
    local function run()
      for _ = 1, 100 do
        v:rebind(q)
        v:rebind(object)
        v:rebind(p)
      end
    end
    run()
    local native = collect().bytes
    assert.equal(0, garbage.made(run))
    assert.equal(native, damo.memory().bytes)
  end)
end)

describe("a frame", function()
  it("reads the host's array and writes it without garbage, in Lua or in damo", function()
    local memory = damo.array { 1, -1, 2, -2, 3, -3 } -- position, force, position, …
    local other = memory * 1
    local front = { getPointer = function() return memory:pointer() end, getSize = function() return 48 end }
    local p, q = memory:pointer(), other:pointer()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.grad(-damo.sum(x * x * x), x))
    local at = damo.view(p, { shape = { 3 }, strides = { 16 }, size = 48, readonly = true, owner = front })
    local force = damo.view(q, { shape = { 3 }, strides = { 16 }, offset = 8, size = 48, owner = other })
    local write = f:into(force)
    local slices = f:into(force):start(at)
    slices:step()
    local function run()
      for _ = 1, 100 do
        at:rebind(p)
        force:rebind(p)
        write(at)
        at:rebind(q)
        force:rebind(q)
        slices:restart(at)
        repeat until slices:step(100)
      end
    end
    for _ = 1, 15 do run() end -- a loop that has run often becomes machine code, once
    local before = collect()
    assert.equal(0, garbage.made(run))
    assert.same(before, collect())
    assert.same({ 1, -3, 2, -12, 3, -27 }, memory:totable())
    assert.same(memory:totable(), other:totable())
  end)
end)

describe("views of one memory", function()
  local x, y = damo.dvector "x", damo.dvector "y"

  -- Two views of the same bytes with buffers of their own, the second one shifted
  local function pair(shift)
    local memory = damo.array { 1, 2, 3, 4, 5, 6, 7, 8 }
    return damo.view(memory:pointer(), { shape = { 6 }, owner = memory }),
      damo.view(memory:pointer(), { shape = { 6 }, offset = shift * 8, owner = memory }), memory
  end

  it("are seen to overlap by their addresses", function()
    for shift = 0, 2 do
      local a, b = pair(shift)
      local want = a:copy()[{ { -1, 1, -1 } }] + a:copy()
      damo.compile({ x }, x[{ { -1, 1, -1 } }] + x):into(b)(a)
      assert.same(want:totable(), b:totable(), shift)
      a, b = pair(shift)
      want = damo.cumsum(a:copy()):totable()
      damo.compile({ x }, damo.cumsum(x)):into(b)(a)
      assert.same(want, b:totable(), shift)
    end
  end)

  it("are right as two outputs, and as inputs that may be overwritten", function()
    local a, _, memory = pair(6)
    local b = damo.view(memory:pointer(), { shape = { 2 }, offset = 48, owner = memory })
    local f = damo.compile({ x }, { x[{ { 5, 6 } }], x * 2 })
    f:into(b, a)(a)
    assert.same({ 2, 4, 6, 8, 10, 12, 5, 6 }, memory:totable())
    local g = damo.compile({ damo.In(x, { mutable = true }), y }, { damo.exp(x), y * 3 })
    local c, d = pair(1)
    local want = d:copy() * 3
    local _, second = g(c, d)
    assert.same(want:totable(), second:totable())
  end)

  it("are right as `out` of an eager call", function()
    local a, b = pair(1)
    local want = damo.cumsum(a:copy()):totable()
    damo.cumsum(a, { out = b })
    assert.same(want, b:totable())
    a, b = pair(2)
    want = (a:copy() * a:copy()):totable()
    damo.mul(a, a, { out = b })
    assert.same(want, b:totable())
  end)

  it("are right where they interleave", function()
    local memory = damo.array { 1, -1, 2, -2, 3, -3 } -- position, force, position, …
    local position = damo.view(memory:pointer(), { shape = { 3 }, strides = { 16 }, size = 48 })
    local force = damo.view(memory:pointer(), { shape = { 3 }, strides = { 16 }, offset = 8, size = 48 })
    damo.compile({ x }, damo.grad(-damo.sum(x * x * x), x)):into(force)(position)
    assert.same({ 1, -3, 2, -12, 3, -27 }, memory:totable())
  end)
end)

if pcall(require, "ffi") then
  local ffi = require "ffi"

  describe("damo.view of a cdata", function()
    it("takes arrays, pointers, references and structs", function()
      local a = ffi.new("double[4]", 1, 2, 3, 4)
      assert.same({ 1, 2, 3, 4 }, damo.view(a):totable())
      assert.same({ 3, 4 }, damo.view(ffi.cast("const double *", a) + 2, { shape = { 2 } }):totable())
      local s = ffi.new("struct { int32_t n; double at[3]; }", 3, { 5, 6, 7 })
      assert.same({ 5, 6, 7 }, damo.view(s.at):totable())
      assert.same({ 3 }, damo.view(s, { dtype = "int32", shape = { 1 } }):totable())
      failure("index", damo.view, a, { shape = { 5 } })
      failure("index", damo.view, s.at, { shape = { 4 } })
      failure("value", damo.view, ffi.cast("double *", a))
      failure("value", damo.view, ffi.cast("double *", nil), { shape = { 1 } })
      failure("type", damo.view, ffi.new("int64_t", 1), { shape = { 1 } })
      local object = { getSize = function() return 32 end, getFFIPointer = function() return ffi.cast("void *", a) end }
      assert.same({ 1, 2, 3, 4 }, damo.view(object):totable())
    end)

    it("knows the size of what a reference refers to, be it as long as a pointer", function()
      local pairs_of = ffi.new("struct { float x, y; }[3]", { { 1, 2 }, { 3, 4 }, { 5, 6 } })
      local rows = ffi.new("double[2][1]", { { 7 }, { 8 } })
      assert.same({ 3, 4 }, damo.view(pairs_of[1], { dtype = "float32" }):totable())
      assert.same({ 8 }, damo.view(rows[1]):totable())
      failure("index", damo.view, pairs_of[1], { dtype = "float32", shape = { 3 } })
      failure("index", damo.view, rows[1], { shape = { 2 } })
      local of = ffi.new("struct { double *at; double *const const_at; double (*rows)[1]; int (*call)(void); }[1]")
      of[0].at, of[0].rows = rows[0], rows
      assert.same({ 7, 8 }, damo.view(of[0].at, { shape = { 2 } }):totable())
      assert.same({ 7, 8 }, damo.view(of[0].rows, { shape = { 2 } }):totable())
      failure("value", damo.view, of[0].const_at, { shape = { 1 } }) -- null
      failure("value", damo.view, of[0].at)
      local pointer = ffi.new("double *[1]", rows[0])
      assert.same({ 7, 8 }, damo.view(ffi.cast("double *&", pointer), { shape = { 2 } }):totable())
      assert.same({ 7, 8 }, damo.view(ffi.cast("double *const &", pointer), { shape = { 2 } }):totable())
    end)

    it("refuses C functions and pointers to them", function()
      ffi.cdef "double sqrt(double); struct spec_view_calls { int (*call)(void); int (*list[2])(void); };"
      local of = ffi.new "struct spec_view_calls[1]"
      of[0].call, of[0].list[0] = ffi.cast("int (*)(void)", 64), ffi.cast("int (*)(void)", 64)
      local object = { getSize = function() return 32 end, getFFIPointer = function() return of[0].call end }
      for _, source in ipairs { ffi.C.sqrt, ffi.cast("double (*)(double)", ffi.C.sqrt), of[0].call,
        ffi.cast("double *(*)(double *)", 64), ffi.cast("int (*const *)(void)", of[0].list)[0], object } do
        for _ = 1, 2 do failure("type", damo.view, source, { dtype = "int8", shape = { 1 } }) end
      end
      assert.equal(64, damo.view(of[0].list, { dtype = "int64" })[1])
      assert.equal(64, damo.view(ffi.cast("int (**)(void)", of[0].list), { dtype = "int64", shape = { 1 } })[1])
    end)

    it("takes an array at the end of a struct, whose size no type tells", function()
      local s = ffi.new("struct { int n; double at[?]; }", 2)
      s.at[0], s.at[1] = 3, 4
      assert.same({ 3, 4 }, damo.view(s.at, { shape = { 2 } }):totable())
      assert.same({ 3, 4 }, damo.view(s.at, { size = 16 }):totable())
      failure("value", damo.view, s.at)
    end)

    it("is bound to pointers of several types in turn without garbage", function()
      local b = ffi.new("double[4]")
      local kinds = { ffi.cast("double *", b), ffi.cast("float *", b), ffi.cast("const void *", b), b }
      local v = damo.view(kinds[1], { shape = { 4 } })
      local function run()
        for _ = 1, 50 do
          for k = 1, #kinds do v:rebind(kinds[k]) end
        end
      end
      assert.equal(0, garbage.made(run))
    end)

    it("keeps the cdata, and is bound to another without garbage", function()
      local v
      do
        local a = ffi.new("double[1000]")
        a[999] = 7
        v = damo.view(a)
      end
      collect()
      for _ = 1, 100 do ffi.fill(ffi.new("double[1000]"), 8000, 1) end
      assert.equal(7, v[1000])
      local b = ffi.new("double[1000]")
      local pointer = ffi.cast("double *", b)
      local function run()
        for _ = 1, 100 do
          v:rebind(b)
          v:rebind(pointer)
        end
      end
      assert.equal(0, garbage.made(run))
    end)
  end)
end
