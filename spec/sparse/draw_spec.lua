-- Random sparse matrices: the distributions (fixed seeds, bounds that a correct sampler passes), states, errors.
local damo = require "damo"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local sparse = damo.sparse

local function state(seed) return damo.random.state(seed or 11) end

-- A 1 × n csr matrix with the value in each element.
local function row_of(n, value) return sparse.csr_from_dense(damo.full({ 1, n }, value)) end

-- All elements as a list, zeros included.
local function all_of(m) return sparse.toarray(m):reshape({ shape = { m.shape[1] * m.shape[2] } }):totable() end

local function moments(list)
  local n, sum, squares = #list, 0, 0
  for _, v in ipairs(list) do sum = sum + v end
  local mean = sum / n
  for _, v in ipairs(list) do squares = squares + (v - mean) ^ 2 end
  return mean, squares / (n - 1)
end

-- The mean within 5 standard errors, the variance within 5 of its standard errors (the kurtosis is at most
-- 3 + 1/variance).
local function check_moments(list, mean, variance, what)
  local m, v = moments(list)
  local n = #list
  local function near(got, want, bound, name)
    if math.abs(got - want) > bound then
      error(("%s: %s %.6g, expected %.6g (+- %.2g)"):format(what, name, got, want, bound), 3)
    end
  end
  near(m, mean, 5 * math.sqrt(variance / n) + 1e-12, "mean")
  near(v, variance, 5 * variance * math.sqrt((2 + 1 / variance) / n) + 1e-12, "variance")
end

-- Pearson's statistic of counts against probabilities; bins with an expectation below 8 are joined with the last one.
local function chi_square(list, chance)
  local counts, n = {}, #list
  for _, v in ipairs(list) do counts[v] = (counts[v] or 0) + 1 end
  local statistic, bins, rest, seen = 0, 0, 1, 0
  local k = 0
  while rest * n > 16 and k < 5000 do
    local expected, observed = 0, 0
    repeat
      local p = chance(k)
      expected, observed, rest = expected + p * n, observed + (counts[k] or 0), rest - p
      k = k + 1
    until expected >= 8 or k > 5000
    statistic, bins, seen = statistic + (observed - expected) ^ 2 / expected, bins + 1, seen + observed
  end
  if rest * n > 1 then
    statistic, bins = statistic + (n - seen - rest * n) ^ 2 / (rest * n), bins + 1
  end
  return statistic, bins - 1
end

-- Below a bound far out in the tail of chi-square, which has mean f and variance 2 f.
local function check_chi_square(list, chance, what)
  local statistic, f = chi_square(list, chance)
  if statistic > f + 5 * math.sqrt(2 * f) + 5 then
    error(("%s: chi-square %.1f with %d degrees of freedom"):format(what, statistic, f), 2)
  end
end

local function poisson_chance(mean)
  return function(k)
    local log = -mean
    for i = 1, k do log = log + math.log(mean / i) end
    return math.exp(log)
  end
end

local function binomial_chance(n, p)
  return function(k)
    if k > n then return 0 end
    local log = n * math.log(1 - p)
    for i = 1, k do log = log + math.log((n - i + 1) / i * p / (1 - p)) end
    return math.exp(log)
  end
end

describe("poisson", function()
  it("has the distribution of its means", function()
    for i, mean in ipairs { 0.05, 0.7, 4, 9.5, 10.5, 40, 1000 } do
      local _, draw = sparse.poisson(row_of(mean > 10 and mean < 50 and 400000 or 40000, mean), { rng = state(i) })
      local list = all_of(draw)
      check_moments(list, mean, mean, "mean " .. mean)
      if mean <= 40 then check_chi_square(list, poisson_chance(mean), "mean " .. mean) end
    end
  end)

  it("keeps format, dtype and shape, and stores no zeros", function()
    for _, dtype in ipairs { "float32", "float64", "int32" } do
      for _, m in ipairs(s.matrices(dtype, { low = 0.1, high = 3 })) do
        local following, draw = sparse.poisson(m.value, { rng = state() })
        assert.equal(m.format, draw.format)
        assert.equal(dtype, draw.dtype)
        assert.same(m.value.shape, draw.shape)
        assert.is_true(draw.nnz <= m.value.nnz)
        for _, v in ipairs(s.flat(draw.data)) do assert.is_true(v > 0 and v == math.floor(v)) end
        assert.equal("uint64", following.dtype)
      end
    end
  end)

  it("accepts large means", function()
    local _, draw = sparse.poisson(row_of(100, 1e12), { rng = state() })
    check_moments(all_of(draw), 1e12, 1e12, "mean 1e12")
  end)

  it("refuses wrong arguments", function()
    s.raises("value", "Poisson: a mean must be 0 or more, stored entry 1 is -1",
      function() sparse.poisson(row_of(2, -1)) end)
    s.raises("value", nil, function() sparse.poisson(row_of(2, 0 / 0)) end)
    s.raises("type", "Poisson: values of dtype complex128 can't be drawn from",
      function() sparse.poisson(s.matrix { dtype = "complex128" }) end)
    s.raises("type", nil, function() sparse.poisson(damo.array { 1.0 }) end)
  end)
end)

describe("binomial draws", function()
  local makers = {
    csr_fbinomial = { "csr", "float32" }, csr_dbinomial = { "csr", "float64" },
    csc_fbinomial = { "csc", "float32" }, csc_dbinomial = { "csc", "float64" },
  }
  for name, kind in pairs(makers) do
    it(name .. " has the distribution", function()
      for i, case in ipairs { { 1, 0.01 }, { 1, 0.6 }, { 5, 0.3 }, { 20, 0.9 }, { 8, 0.5 }, { 100, 0.02 }, { 100, 0.3 },
        { 1000, 0.4 }, { 1000, 0.97 } } do
        local n, p = case[1], case[2]
        local rows = n == 100 and p == 0.3 and name == "csr_dbinomial" and 2000 or 150
        local _, draw = sparse[name](n, p, { rows, 200 }, { rng = state(100 + i) })
        assert.equal(kind[1], draw.format)
        assert.equal(kind[2], draw.dtype)
        local list = all_of(draw)
        local what = ("n %d, p %g"):format(n, p)
        check_moments(list, n * p, n * p * (1 - p), what)
        if n <= 100 then check_chi_square(list, binomial_chance(n, p), what) end
        assert.is_true(damo.min(draw.data) > 0)
        assert.is_true(draw.has_canonical_format)
      end
    end)
  end

  it("cover a huge shape with memory for the drawn entries only", function()
    local _, draw = sparse.csr_dbinomial(3, 1e-9, { shape = { 1000, math.floor(2 ^ 30) }, rng = state() })
    local want = 3e-9 * 1000 * 2 ^ 30
    assert.is_true(math.abs(draw.nnz - want) < 5 * math.sqrt(want))
    assert.same({ 1000, math.floor(2 ^ 30) }, draw.shape)
  end)

  it("refuse at once draws that no memory holds", function()
    local side = 2 ^ 31
    for _, name in ipairs { "csr_fbinomial", "csr_dbinomial", "csc_fbinomial", "csc_dbinomial" } do
      for _, call in ipairs { { math.floor(2 ^ 62), 0.5, { side, side } }, { 1, 1e-6, { side, side } },
        { 1, 0.5, { math.floor(2 ^ 62), 1 } } } do
        local ok, err = pcall(sparse[name], call[1], call[2], { shape = call[3] })
        assert.is_false(ok)
        assert.equal("memory", err.kind)
        assert.is_truthy(err.message:find("use a smaller shape, n or p", 1, true))
      end
      damo.config.memory_cap = damo.memory().bytes + 64 * 2 ^ 20
      local ok, err = pcall(sparse[name], 1, 0.5, { shape = { 2 ^ 20, 2 ^ 10 } })
      damo.config.memory_cap = 0
      assert.is_false(ok)
      assert.equal("memory", err.kind)
    end
    assert.equal(0, sparse.csr_dbinomial(math.floor(2 ^ 62), 0, { shape = { 10, math.floor(2 ^ 59) } }).nnz)
  end)

  it("accept a shape vector of unknown length", function()
    local n, p, shape = damo.lscalar "n", damo.dscalar "p", damo.lvector "shape"
    for _, name in ipairs { "csr_fbinomial", "csr_dbinomial", "csc_fbinomial", "csc_dbinomial" } do
      for _, vector in ipairs { shape, damo.ivector "shape" } do
        local draw = sparse[name](n, p, vector)
        assert.equal(name:sub(1, 3), draw.format)
        for _, mode in ipairs(s.modes) do
          local f = damo.compile({ n, p, vector }, { draw, draw.shape }, { mode = mode })
          local m, dims = f(5, 1, damo.array({ 3, 4 }, vector.dtype))
          assert.same({ 3, 4 }, m.shape)
          assert.same({ 3, 4 }, dims:totable())
          assert.equal(12 * 5, m:toarray():sum())
          for _, wrong in ipairs { { 3 }, { 3, 4, 5 } } do
            local ok, err = pcall(f, 5, 1, damo.array(wrong, vector.dtype))
            assert.is_false(ok)
            assert.equal("shape", err.kind)
          end
        end
      end
    end
    s.raises("type", nil, function() sparse.csr_dbinomial(n, p, damo.dvector "shape") end)
  end)

  it("are empty at p = 0, n = 0 and in empty shapes, full at p = 1", function()
    assert.equal(0, sparse.csr_dbinomial(5, 0, { 3, 4 }).nnz)
    assert.equal(0, sparse.csr_dbinomial(0, 0.5, { 3, 4 }).nnz)
    assert.equal(0, sparse.csc_dbinomial(5, 0.5, { 0, 4 }).nnz)
    s.close(sparse.csc_dbinomial(5, 1, { 2, 3 }), damo.full({ 2, 3 }, 5.0))
  end)

  it("refuse wrong arguments", function()
    s.raises("value", "Binomial: p must lie between 0 and 1, got 2",
      function() sparse.csr_dbinomial(5, 2, { 2, 2 }) end)
    s.raises("value", "Binomial: n must be 0 or more, got -1", function() sparse.csr_dbinomial(-1, 0.5, { 2, 2 }) end)
    s.raises("shape", "sparse.csr_dbinomial: the shape has 3 lengths, not 2",
      function() sparse.csr_dbinomial(5, 0.5, { 2, 2, 2 }) end)
    s.raises("type", "sparse.csr_dbinomial: the shape is missing", function() sparse.csr_dbinomial(5, 0.5) end)
    s.raises("value", "Binomial: shape (4294967296, 4294967296) has more than 2^63 - 1 elements",
      function() sparse.csr_dbinomial(5, 0.5, { math.floor(2 ^ 32), math.floor(2 ^ 32) }) end)
    s.raises("value", "Binomial: the format is 'csc' or 'csr', not 'rows'",
      function() sparse.Binomial { format = "rows" } end)
  end)
end)

describe("multinomial", function()
  it("has the distribution, and its counts add up", function()
    local rows, n, p = 4000, 12, { 0.5, 0.1, 0.15, 0.25 }
    local probabilities = {}
    for i = 1, rows do probabilities[i] = p end
    local _, draw = sparse.multinomial(n, sparse.csr_from_dense(damo.array(probabilities)), { rng = state() })
    local counts = sparse.toarray(draw):totable()
    for k = 1, 4 do
      local list = {}
      for i = 1, rows do list[i] = counts[i][k] end
      check_moments(list, n * p[k], n * p[k] * (1 - p[k]), "place " .. k)
      check_chi_square(list, binomial_chance(n, p[k]), "place " .. k)
    end
    for i = 1, rows do
      assert.equal(n, counts[i][1] + counts[i][2] + counts[i][3] + counts[i][4])
    end
  end)

  it("takes a count for each row, and keeps empty rows empty", function()
    local p = sparse.csr { data = damo.array { 0.25, 0.75, 1.0 }, indices = { 1, 0, 2 }, indptr = { 0, 2, 2, 3 },
      shape = { 3, 3 } }
    local draw = sparse.multinomial(damo.array({ 7, 9, 4 }, "int64"), p)
    s.close(sparse.sp_sum(draw, { axis = 2 }), { 7, 0, 4 })
    assert.equal("float64", draw.dtype)
  end)

  it("refuses wrong arguments", function()
    local p = sparse.csr_from_dense(damo.array { { 0.7, 0.7 } })
    s.raises("value", "Multinomial: the probabilities of row 1 add up to 1.4, more than 1",
      function() sparse.multinomial(1, p) end)
    s.raises("value", "Multinomial: a probability must be 0 or more, row 1 has -1",
      function() sparse.multinomial(1, sparse.neg(row_of(2, 1.0))) end)
    s.raises("value", "Multinomial: n must be 0 or more, got -2", function() sparse.multinomial(-2, row_of(2, 0.5)) end)
    s.raises("shape", nil, function() sparse.multinomial(damo.array({ 1, 2 }, "int64"), p) end)
    s.raises("type", "Multinomial: p must be a csr matrix of floats, got SparseTensorType(csc, float64, shape=(2, 1))",
      function() sparse.multinomial(1, row_of(2, 0.5).T) end)
  end)
end)

describe("the state of a draw", function()
  it("determines it: the same state gives the same draw, the next another", function()
    local a = row_of(1000, 5.0)
    local following, first = sparse.poisson(a, { rng = state() })
    local _, again = sparse.poisson(a, { rng = state() })
    local _, second = sparse.poisson(a, { rng = following })
    s.same_storage(again, first)
    assert.is_false(pcall(s.same_storage, second, first))
  end)

  it("is the eager stream's without rng: damo.random.seed sets it", function()
    damo.random.seed(5)
    local first, second = sparse.csr_dbinomial(9, 0.5, { 5, 5 }), sparse.csr_dbinomial(9, 0.5, { 5, 5 })
    damo.random.seed(5)
    s.same_storage(sparse.csr_dbinomial(9, 0.5, { 5, 5 }), first)
    s.same_storage(sparse.csr_dbinomial(9, 0.5, { 5, 5 }), second)
    assert.is_false(pcall(s.same_storage, first, second))
  end)

  it("is a new shared Variable if Variables are given: a Function draws anew in each call", function()
    local x = sparse.csr_matrix "x"
    local a = row_of(500, 5.0)
    local function run()
      damo.random.seed(8)
      local f = damo.compile({ x }, sparse.poisson(x))
      return f(a), f(a)
    end
    local first, second = run()
    local third, fourth = run()
    assert.is_false(pcall(s.same_storage, first, second))
    s.same_storage(third, first)
    s.same_storage(fourth, second)
    local y, z = sparse.poisson(x), sparse.poisson(x)
    local one, other = damo.compile({ x }, { y, z })(a)
    assert.is_false(pcall(s.same_storage, one, other))
  end)

  it("may be a Variable, and the graph is the same in every mode", function()
    local x = sparse.csr_matrix "x"
    local rng = damo.constant(state())
    local ok, following, draw = pcall(sparse.poisson, x, { rng = rng })
    assert.is_true(ok)
    local want
    for _, mode in ipairs(s.modes) do
      local got = damo.compile({ x }, { following, draw }, { mode = mode })
      local _, value = got(row_of(50, 3.0))
      want = want or value
      s.same_storage(value, want)
    end
  end)

  it("lives as long as the draw", function()
    local x = sparse.csr_matrix "x"
    local y = sparse.poisson(x)
    garbage.collect()
    local f = damo.compile({ x }, y)
    assert.is_false(pcall(s.same_storage, f(row_of(500, 5.0)), f(row_of(500, 5.0))))
  end)
end)

describe("the Op classes of draws", function()
  it("make nodes, with a new state or a given one", function()
    local x, n, p = sparse.csr_matrix "x", damo.tensor("n", { dtype = "int64", ndim = 0 }), damo.scalar "p"
    assert.equal("Poisson", sparse.Poisson {}(x).owner.op.name)
    assert.equal("Multinomial", sparse.Multinomial {}(n, x).owner.op.name)
    local y = sparse.Binomial { format = "csc", dtype = "float32" }(n, p, { 3, 4 })
    assert.equal("Binomial", y.owner.op.name)
    assert.equal("SparseTensorType(csc, float32, shape=(3, 4))", tostring(y.type))
    assert.equal("Poisson", sparse.Poisson {}.name)
    assert.same({ 3, 4 }, damo.compile({ n, p }, y)(5, 0.5).shape)
  end)

  it("draw in the dtype that floatX had when the node was made", function()
    local n, p = damo.tensor("n", { dtype = "int64", ndim = 0 }), damo.scalar "p"
    local y = sparse.Binomial {}(n, p, { 3, 4 })
    damo.config.floatX = "float32"
    finally(function() damo.config.floatX = "float64" end)
    assert.equal("float64", y.dtype)
    assert.equal("float64", damo.compile({ n, p }, y)(5, 0.5).dtype)
  end)

  it("have no gradient", function()
    local x = sparse.csr_matrix "x"
    s.raises("null_gradient",
      "grad: the gradient for x is undefined: Poisson: a random draw has no derivative",
      function() damo.grad(sparse.sp_sum(sparse.poisson(x)), x) end)
  end)

  it("have shapes that need no draws", function()
    local x = sparse.csr_matrix "x"
    local f = damo.compile({ x }, sparse.poisson(x).shape)
    s.close(f(row_of(7, 1.0)), { 1, 7 })
  end)
end)
