-- Index tables on Arrays: 1-based positions, inclusive ranges, lists, assignment.
local damo = require "damo"
local has = require "spec.support.has"
local failure = require "spec.support.failure"

local function grid() return damo.array({ { 1, 2, 3 }, { 4, 5, 6 } }, "int64") end

describe("reading", function()
  it("takes positions from either end", function()
    local v = damo.array { 10, 20, 30 }
    assert.equal(10, v[1])
    assert.equal(30, v[-1])
    assert.equal(20, v[2.0])
    assert.same({ 4, 5, 6 }, grid()[2]:totable())
    assert.equal(6, grid()[{ 2, 3 }])
    assert.equal(3, grid()[{ 1, -1 }])
    assert.equal(5, grid()[2][2])
  end)

  it("is a function too", function()
    assert.same({ 5, 6 }, damo.subtensor(grid(), { 2, { 2, 3 } }):totable())
    assert.same({ 6, 5 }, damo.subtensor(grid(), { 2, { -1, 2, -1 } }):totable())
    local x = damo.dvector "x"
    assert.same({ 3, 1 }, damo.compile({ x }, damo.subtensor(x, { { -1, 1, -2 } })) { 1, 2, 3 }:totable())
    failure("type", function() return damo.subtensor({ 1, 2 }, { 1 }) end)
    failure("index", function() return damo.subtensor(grid(), { 3 }) end)
  end)

  it("gives nil just past the end, so that ipairs ends", function()
    local v, seen = damo.array { 1, 2 }, {}
    assert.is_nil(v[3])
    if not has.ipairs_of_objects then return end
    for i, x in ipairs(v) do seen[i] = x end
    assert.same({ 1, 2 }, seen)
    local rows = 0
    for _ in ipairs(grid()) do rows = rows + 1 end
    assert.equal(2, rows)
  end)

  it("refuses every other position out of range", function()
    local v = damo.array { 1, 2 }
    for _, i in ipairs { 0, 4, -3 } do failure("index", function() return v[i] end) end
    local err = failure("index", function() return grid()[{ 1, 4 }] end)
    assert.equal("index: position 4 is outside axis 2 of length 3", err.message)
    failure("index", function() return grid()[{ 3, 1 }] end)
    failure("index", function() return grid()[{ 1, 1, 1 }] end)
    failure("index", function() return v[1.5] end)
    failure("index", function() return damo.array(1)[1] end)
    failure("index", function() return grid()[{ nil, 1 }] end)
    failure("type", function() return v[true] end)
    failure("type", function() return v[{ "x" }] end)
    failure("type", function() return v[{ 1, x = 2 }] end)
  end)

  it("takes ranges with both ends", function()
    local v = damo.array { 1, 2, 3, 4, 5 }
    assert.same({ 2, 3, 4 }, v[{ { 2, 4 } }]:totable())
    assert.same({ 1, 3, 5 }, v[{ { 1, -1, 2 } }]:totable())
    assert.same({ 1, 2, 3, 4, 5 }, v[{ {} }]:totable())
    assert.same({ 3, 4, 5 }, v[{ { 3 } }]:totable())
    assert.same({ 1, 2, 3 }, v[{ { nil, 3 } }]:totable())
    assert.same({ 5, 4, 3, 2, 1 }, v[{ { nil, nil, -1 } }]:totable())
    assert.same({ 4, 2 }, v[{ { 4, 1, -2 } }]:totable())
    assert.same({ { 2, 3 }, { 5, 6 } }, grid()[{ {}, { 2, 3 } }]:totable())
    assert.same({ 5 }, v[{ { damo.array(5, "int8"), damo.array(5, "int32") } }]:totable())
  end)

  it("makes a range empty whose stop is before its start", function()
    local v = damo.array { 1, 2, 3 }
    assert.same({ 0 }, v[{ { 1, 0 } }].shape)
    assert.same({ 0 }, v[{ { 3, 2 } }].shape)
    assert.same({ 0 }, v[{ { 4 } }].shape)
    assert.same({ 0 }, v[{ { 1, 2, -1 } }].shape)
    assert.same({ 0 }, damo.array({})[{ {} }].shape)
  end)

  it("refuses other ends out of range, and a step of 0", function()
    local v = damo.array { 1, 2, 3 }
    local err = failure("index", function() return v[{ { 2, 4 } }] end)
    assert.equal("index: the range's stop, 4, is outside axis 1 of length 3", err.message)
    failure("index", function() return v[{ { 0, 3 } }] end)
    failure("index", function() return v[{ { -4, 3 } }] end)
    failure("value", function() return v[{ { 1, 3, 0 } }] end)
    err = failure("index", function() return v[{ { 1, 2, 1, 3 } }] end)
    assert.matches("damo%.idx", err.message)
  end)

  it("adds axes with newaxis, and fills with an ellipsis", function()
    assert.same({ 1, 2, 3 }, grid()[{ damo.newaxis }].shape)
    assert.same({ 2, 1 }, grid()[{ {}, damo.newaxis, 1 }].shape)
    assert.same({ 2 }, grid()[{ damo.ellipsis, 1 }].shape)
    assert.same({ 2, 3 }, grid()[{}].shape)
    assert.same({ 3 }, grid()[{ 1, damo.ellipsis }].shape)
    failure("index", function() return grid()[{ damo.ellipsis, damo.ellipsis }] end)
    assert.equal("damo.newaxis", tostring(damo.newaxis))
  end)

  it("gives views for basic keys", function()
    local a = grid()
    a[1][2] = 20
    a[{ {}, { 3, 1, -2 } }][{ 2, 1 }] = 60
    assert.same({ { 1, 20, 3 }, { 4, 5, 60 } }, a:totable())
    a.T[3][1] = 30
    assert.equal(30, a[{ 1, 3 }])
  end)

  it("gives copies for lists", function()
    local a = grid()
    local b = a[damo.idx { 2, 1, 2 }]
    assert.same({ { 4, 5, 6 }, { 1, 2, 3 }, { 4, 5, 6 } }, b:totable())
    b[{ 1, 1 }] = 99
    assert.equal(4, a[{ 2, 1 }])
    assert.same({ { 3, 1 }, { 6, 4 } }, a[{ {}, damo.idx { -1, 1 } }]:totable())
    assert.same({ 4, 5, 6 }, a[a:gt(3)]:totable())
    failure("index", function() return a[damo.idx { 3 }] end)
    failure("type", function() return a[damo.array { 1.5 }] end)
    failure("value", damo.idx, { 1.5 })
    failure("type", damo.idx, 3)
  end)
end)

describe("assigning", function()
  it("writes positions, rows and ranges", function()
    local a = grid()
    a[{ 1, 1 }] = 10
    a[2] = { 7, 8, 9 }
    a[{ {}, 2 }] = 0
    assert.same({ { 10, 0, 3 }, { 7, 0, 9 } }, a:totable())
    local v = damo.zeros(4)
    v[1] = 1.5
    v[-1] = true
    v[{ { 2, 3 } }] = damo.array { 5, 6 }
    assert.same({ 1.5, 5, 6, 1 }, v:totable())
  end)

  it("broadcasts", function()
    local a = damo.zeros { 2, 3 }
    a[{}] = { 1, 2, 3 }
    a[{ {}, { 3 } }] = damo.array { { 8 }, { 9 } }
    assert.same({ { 1, 2, 8 }, { 1, 2, 9 } }, a:totable())
    failure("shape", function() a[{}] = { 1, 2 } end)
  end)

  it("reads an overlapping source before it writes", function()
    local v = damo.array { 1, 2, 3, 4 }
    v[{ { 2, 4 } }] = v[{ { 1, 3 } }]
    assert.same({ 1, 1, 2, 3 }, v:totable())
    v[{ {} }] = v[{ { -1, 1, -1 } }]
    assert.same({ 3, 2, 1, 1 }, v:totable())
  end)

  it("writes through lists", function()
    local v = damo.zeros(4)
    v[damo.idx { 1, 3 }] = { 5, 6 }
    v[damo.array { false, false, false, true }] = 7
    assert.same({ 5, 0, 6, 7 }, v:totable())
  end)

  it("refuses values that do not fit, and does not change the Array", function()
    local a = damo.array({ 1, 2 }, "uint8")
    failure("value", function() a[1] = 300 end)
    failure("value", function() a[1] = 1.5 end)
    failure("value", function() a[1] = -1 end)
    failure("type", function() a[1] = "1" end)
    failure("type", function() a[1] = nil end)
    failure("index", function() a[3] = 1 end)
    failure("shape", function() a[1] = { 1, 2 } end)
    assert.same({ 1, 2 }, a:totable())
  end)

  it("takes no Variable", function()
    local a = damo.zeros(2)
    local err = failure("type", function() a[1] = damo.scalar("x") end)
    assert.matches("set_subtensor", err.message)
  end)
end)
