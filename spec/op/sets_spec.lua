-- Sorting, searching, counting and sets.
local damo = require "damo"
local has = require "spec.support.has"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "sets"

local a = damo.array { 3., 1, 2 }
local x = damo.dvector "x"

h.run_errors("sets", {
    { "more entries than there are", "value", "topk: k is 4, axis 1 has 3 entries",
      function() return damo.topk(a, 4) end },
    { "more entries than there turn out to be", "value", "topk: k is -4, axis 1 has 3 entries",
      function() return damo.compile({ x }, damo.argtopk(x, { k = -4 }))(a) end },
    { "no k", "type", "topk: the option k is missing", function() return damo.topk(a) end },
    { "a scalar's greatest", "shape", "topk: the operand has no axis", function() return damo.topk(3, 1) end },
    { "a place outside", "value", "partition: kth is 4, axis 1 has 3 entries",
      function() return damo.partition(a, 4) end },
    { "place 0", "value", "partition: kth is 0, axis 1 has 3 entries",
      function() return damo.argpartition(a, { kth = { 1, 0 } }) end },
    { "a side", "value", 'searchsorted: side is "left" or "right", got "up"',
      function() return damo.searchsorted(a, a, { side = "up" }) end },
    { "a sorted matrix", "shape", "searchsorted: a sorted vector is expected, got a tensor of 2 axes",
      function() return damo.searchsorted(damo.zeros { 2, 2 }, a) end },
    { "bins in no order", "value", "digitize: the bins neither rise nor fall",
      function() return damo.digitize(a, a) end },
    { "falling edges", "value", "histogram: the edges of bins must rise",
      function() return damo.histogram(a, { bins = { 3, 2, 1 } }) end },
    { "no bins", "value", "histogram: 0 bins", function() return damo.histogram(a, { bins = 0 }) end },
    { "a range of nan", "value", "histogram: the range from nan to nan is not finite",
      function() return damo.histogram(damo.array { 1., 0 / 0 }) end },
    { "a falling range", "value", "histogram: the range from 2 to 1",
      function()
        local ok, err = pcall(damo.histogram, a, { range = { 2, 1 } })
        err.message = err.message:gsub("goes ", "")
        error(not ok and err or nil)
      end },
    { "unequal keys", "shape", "lexsort: keys of shapes (3,) and (2,)",
      function() return damo.lexsort { a, damo.zeros { 2 } } end },
    { "points and values that are not as many", "shape", "interp: 3 points xp and 2 values fp",
      function() return damo.interp(a, a, damo.zeros { 2 }) end },
    { "points and values that are not as many, found at run time", "value",
      "interp: xp and fp must have the same length",
      function()
        local xp, fp = damo.dvector "xp", damo.dvector "fp"
        damo.compile({ xp, fp }, damo.interp(2.5, xp, fp))(a, damo.zeros { 4 })
      end },
})

if has.integers then
  h.run_errors("sets, of the greatest and least integers,", {
    { "a number without modulus", "value", "topk: k is -9223372036854775808, no axis has as many entries",
      function() return damo.topk(x, math.mininteger) end },
    { "more bins than any memory holds", "value",
      "histogram2d: 4611686018427387904 bins are more than any memory holds",
      function() return damo.histogram2d(a, a, { bins = math.floor(2 ^ 62) }) end },
  })
end

describe("long vectors", function()
  local n = 3000
  local values = damo.sin(damo.arange(n) * 12.9898) * 43758.5453
  values = values - damo.floor(values)
  local many = damo.floor(values * 100)

  it("are selected from as sorting says", function()
    local sorted = damo.sort(values)
    for _, k in ipairs { 1, 5, 100, 187, 188, 1500, n } do
      assert.is_true(damo.array_equal(damo.topk(values, -k), sorted[{ { 1, k } }]), k)
      assert.is_true(damo.array_equal(damo.topk(values, k), sorted[{ { -1, -k, -1 } }]), k)
    end
    local order = damo.argsort(many)
    for _, k in ipairs { 1, 40, 900, n } do -- equal entries in their order
      assert.is_true(damo.array_equal(damo.argtopk(many, -k), order[{ { 1, k } }]), k)
    end
    local part = damo.partition(values, { kth = { 17, 2000, 2001 } })
    for _, k in ipairs { 17, 2000, 2001 } do
      assert.equal(sorted[k], part[k])
      assert.is_true(k == n or damo.max(part[{ { 1, k } }]) == sorted[k])
      assert.is_true(damo.min(part[{ { k, n } }]) == sorted[k])
    end
  end)

  it("in an order that is bad for partitions are selected from too", function()
    local saw = damo.concatenate { damo.arange(n), damo.arange(n), damo.flip(damo.arange(n)) }
    assert.equal(n - 1, damo.topk(saw, 400)[3])
    assert.is_true(damo.array_equal(damo.topk(saw, -n), damo.sort(saw)[{ { 1, n } }]))
  end)

  it("have different entries that counting finds", function()
    local u, index, inverse, counts =
      damo.unique(many, { return_index = true, return_inverse = true, return_counts = true })
    assert.is_true(damo.array_equal(u[inverse], many))
    assert.is_true(damo.array_equal(many[index], u))
    assert.equal(n, damo.sum(counts))
    assert.is_true(damo.array_equal(damo.bincount(inverse), counts))
  end)

  it("are searched as counting says", function()
    local sorted = damo.sort(many)
    local left, right = damo.searchsorted(sorted, many), damo.searchsorted(sorted, many, { side = "right" })
    local _, inverse, counts = damo.unique(many, { return_inverse = true, return_counts = true })
    assert.is_true(damo.array_equal(right - left, counts[inverse]))
    assert.is_true(damo.array_equal(damo.histogram(values, { bins = 7 }),
      damo.bincount(damo.minimum(damo.cast(damo.floor((values - damo.min(values)) / (damo.max(values)
        - damo.min(values)) * 7), "int64") + 1, 7))))
  end)
end)

describe("complex numbers", function()
  local z = damo.complex(damo.array { 1., 0, 1, 0 }, damo.array { 2., 5, 1, 5 })
  it("have different entries, order and neighbours", function()
    assert.same({ 0, 1, 1 }, damo.real(damo.unique(z)):totable())
    assert.same({ 5, 1, 2 }, damo.imag(damo.unique(z)):totable())
    assert.same({ 2, 1 }, damo.imag(damo.topk(z, 2)):totable())
    assert.same({ 2, 4, 3, 1 }, damo.argpartition(z, 1):totable())
    assert.same({ 3, 1, 2, 1 }, damo.searchsorted(damo.unique(z), z):totable())
  end)
end)

describe("the weights of a histogram", function()
  it("have a gradient, its edges may be a Variable", function()
    local w, edges = damo.dvector "w", damo.dvector "edges"
    local count = damo.histogram(x, w, { bins = edges })
    local g = damo.compile({ x, w, edges }, damo.grad(damo.sum(damo.sqr(count)), w))
    local got = g(damo.array { 1., 2, 9, 1 }, damo.array { 1., 2, 3, 4 }, damo.array { 0., 2, 3 })
    assert.same({ 10, 4, 0, 10 }, got:totable())
  end)
end)
