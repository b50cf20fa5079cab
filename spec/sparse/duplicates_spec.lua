-- Matrices with duplicate entries: functions of stored values take each entry by itself, all others their sum.
-- Gradients
-- with respect to the stored entries are right in both cases, through any chain of the two; gather reads them.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local n = 4
local D, P, V = s.dense(n, n, "float64", 11), s.dense(n, n, "float64", 12, 0.5, 2), s.vector(n, "float64", 13)
local B = s.matrix { rows = n, cols = n, seed = 5 }
local function whole(list) return damo.array(list, "int64") end

-- Functions from square matrices to square matrices.
local steps = {
  tocsc = function(x) return x:tocsc() end,
  tocsr = function(x) return x:tocsr() end,
  transpose = function(x) return x.T end,
  neg = function(x) return -x end,
  sqr = sparse.sqr,
  sin = sparse.sin,
  exp = sparse.structured_exp,
  times_dense = function(x) return x * D end,
  times_number = function(x) return x * 1.5 end,
  divided = function(x) return x / P end,
  columns = function(x) return sparse.col_scale(x, V) end,
  rows = function(x) return sparse.row_scale(x, V) end,
  times_row = function(x) return x * V:reshape { 1, n } end,
  times_column = function(x) return V:reshape { n, 1 } * x end,
  columns_dropped = function(x) return sparse.mul_s_v(x, V) end,
  plus = function(x) return x + B end,
  plus_first = function(x) return B + x end,
  times = function(x) return x * B end,
  twice = function(x) return x + sparse.sin(x) end,
  turned_sum = function(x) return x + x.T end,
  hstack = function(x) return sparse.hstack({ B, x }, { format = "csr" })[{ { 1, n }, { n + 1, 2 * n } }] end,
  vstack = function(x) return sparse.vstack({ x, B }, { format = "csc" })[{ { 1, n } }] end,
  every_other = function(x) return sparse.vstack({ x, x }, { format = "csr" })[{ { 1, 2 * n, 2 } }] end,
  list = function(x) return sparse.get_item_list(x, whole { 2, 1, 2, 4 }) end,
  list_of_columns = function(x) return sparse.get_item_list(x, whole { 4, 2, 2, 1 }, { axis = 2 }) end,
  parts = function(x) return sparse.vstack({ x[{ { 1, 2 } }], x[{ { 3, 4 } }] }, { format = "csr" }) end,
  sorted = sparse.ensure_sorted_indices,
  cleaned = sparse.clean,
  permuted = function(x) return sparse.permute(x, whole { 2, 1, 4, 3 }, whole { 4, 1, 2, 3 }) end,
  triangle = function(x) return sparse.tril(x, { k = 1 }) end,
  blocks = function(x) return sparse.block_diag({ x, B }, { format = "csr" })[{ { 1, n }, { 1, n } }] end,
  matrix_of_blocks = function(x) return sparse.bmat { { B, false }, { x, B } }[{ { n + 1, 2 * n }, { 1, n } }] end,
  product = function(x) return sparse.true_dot(x, B) end,
  structured_product = function(x) return sparse.structured_dot(x, B) end,
  sampled = function(x) return sparse.sampling_dot(D, D, x) end,
  columns_added = function(x) return sparse.structured_add_s_v(x, V) end,
  with_data = function(x) return sparse.with_data(x, sparse.csm_data(x) * 2) end,
  data_added = function(x) return (sparse.AddSSData {}(x, sparse.sin(x))) end,
}
local names = {}
for name in pairs(steps) do names[#names + 1] = name end
table.sort(names)

local function chained(chain)
  return function(x)
    for _, name in ipairs(chain) do x = steps[name](x) end
    return x
  end
end

-- Unsorted indices, duplicates anywhere.
local function matrix(format, seed)
  local draw = s.numbers(seed, 0, 1)
  local indices, indptr = { 1, 3, 1 }, { 0, 3 }
  for i = 2, n do
    for _ = 1, math.floor(draw() * 5) do indices[#indices + 1] = math.floor(draw() * n) end
    indptr[i + 1] = #indices
  end
  return sparse[format] {
    data = s.vector(#indices, "float64", seed + 1, -1, 1), indices = whole(indices), indptr = whole(indptr),
    shape = { n, n },
  }
end

-- Compares the gradient of a cost with respect to a's stored entries with central differences.
local function check(cost_of, a, mode, what)
  local x = sparse.matrix(a.format, "x")
  local cost = cost_of(x)
  local f = damo.compile({ x }, cost)
  local got = s.flat(sparse.gather(damo.compile({ x }, damo.grad(cost, x), { mode = mode })(a), a))
  local data, want, eps = s.flat(a.data), {}, 1e-6
  local function at(k, by)
    data[k] = data[k] + by
    local moved = sparse[a.format] { data = damo.array(data), indices = a.indices, indptr = a.indptr, shape = a.shape }
    data[k] = data[k] - by
    return f(moved)
  end
  for k = 1, #data do want[k] = (at(k, eps) - at(k, -eps)) / (2 * eps) end
  s.close(got, want, what, 1e-4)
end

local function weighed(y) return damo.sum(sparse.toarray(y, { structured = false }) * D) end

describe("the gradient for duplicate entries", function()
  for _, name in ipairs(names) do
    it("is right through " .. name, function()
      for seed, format in ipairs { "csr", "csc", "csr", "csc" } do
        local chains = {
          { name }, { name, "sqr" }, { "sqr", name, "sqr" }, { "tocsc", name, "sqr" }, { "tocsr", name, "sqr" },
          { "tocsc", name, "tocsr", "sqr" }, { name, "tocsc", "hstack", "sqr" },
        }
        for _, chain in ipairs(chains) do
          local fn = chained(chain)
          check(function(x) return weighed(fn(x)) end, matrix(format, 20 + seed), s.modes[seed % 3 + 1], format)
        end
      end
    end)

    it("is right for the sum in " .. name .. " and a function of stored values give", function()
      for seed, format in ipairs { "csr", "csc" } do
        for _, other in ipairs { { "sqr" }, { "tocsc", "sqr" }, { "tocsr", "sin" } } do
          local fn, more = chained { name }, chained(other)
          check(function(x) return weighed(fn(x)) + weighed(more(x)) end, matrix(format, 30 + seed), nil, format)
        end
      end
    end)
  end

  it("is right through chains of them", function()
    local draw = s.numbers(3, 0, 1)
    for seed = 1, 150 do
      local chain, other = {}, {}
      for k = 1, 2 + math.floor(draw() * 3) do chain[k] = names[1 + math.floor(draw() * #names)] end
      for k = 1, 1 + math.floor(draw() * 2) do other[k] = names[1 + math.floor(draw() * #names)] end
      local fn, more = chained(chain), chained(other)
      local function cost(x) return weighed(fn(x)) + weighed(more(x)) end
      check(cost, matrix(s.formats[seed % 2 + 1], seed), s.modes[seed % 3 + 1],
        table.concat(chain, " ") .. " + " .. table.concat(other, " "))
    end
  end)

  -- The cotangents of a product and of a whole array are dense.
  it("is right where a dense cotangent and one entry by entry meet", function()
    local dense = {
      product = function(x) return damo.sum(sparse.dot(x, D) ^ 2) end,
      array = function(x) return damo.sum(sparse.toarray(x, { structured = false }) ^ 2) end,
    }
    for seed, format in ipairs { "csr", "csc" } do
      for what, cost in pairs(dense) do
        for _, name in ipairs { "sqr", "exp", "turned_sum", "sampled" } do
          for _, first in ipairs { "neg", "transpose", "list", "with_data" } do
            check(function(x)
              local y = steps[first](x)
              return cost(y) + weighed(steps[name](y))
            end, matrix(format, 50 + seed), s.modes[seed % 3 + 1], what .. ", " .. name .. " of " .. first)
          end
        end
      end
    end
  end)

  it("is the usual one without duplicates", function()
    local x = sparse.csr_matrix "x"
    local g = damo.grad(weighed(sparse.sqr(x:tocsc())) + weighed(x), x)
    local a = s.matrix { rows = n, cols = n }
    s.close(damo.compile({ x }, g)(a), s.flat(damo.array(a:toarray() * 2 * D + D)), "everywhere")
  end)
end)

describe("tangents and second derivatives of duplicate entries", function()
  for _, name in ipairs(names) do
    it("are right through " .. name, function()
      for seed, format in ipairs { "csr", "csc" } do
        for _, chain in ipairs { { name }, { name, "sqr" }, { "sqr", name, "sqr" } } do
          local a = matrix(format, 40 + seed)
          s.check_rop(chained(chain), { a }, { tol = 1e-5 })
          if name ~= "data_added" then s.check_second(chained(chain), { a }, { tol = 1e-4 }) end
        end
      end
    end)
  end
end)

describe("knowledge of duplicates", function()
  local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"

  -- The number of Ops in a graph that keep duplicates separate.
  local function count(graph)
    local text = damo.printing.debugprint(graph, { file = "str" })
    return select(2, text:gsub("AddCotangents", "")) + select(2, text:gsub("MoveCotangent", ""))
  end

  local function slope(cost) return damo.grad(cost, x) end
  local function turned(m) return weighed(sparse.sqr(m:tocsc())) end

  it("removes the Ops for them if there are none", function()
    local once = sparse.mul(x, y)
    for name, fn in pairs {
      multiplied = function(m) return m * 2 end,
      sliced = function(m) return sparse.tril(-m)[{ {}, { 1, n } }] end,
      stacked = function(m) return sparse.vstack({ m, B, m }, { format = "csr" })[{ { 1, n } }] end,
      added = function(m) return x + m end,
      taken = function(m) return sparse.get_item_list(m.T.T, whole { 1, 2, 3, 4 }) end,
      columns_taken = function(m) return sparse.get_item_list(m, whole { 4, 1, 2, 3 }, { axis = 2 }) end,
      mapped = function(m) return sparse.structured_exp(m) end,
    } do
      local from = fn(once)
      local m = from + sparse.sin(from)
      local g = damo.grad(turned(m) + weighed(m), from)
      assert.equal(0, count(g), name)
    end
    assert.is_true(count(slope(turned(x * 2) + weighed(sparse.sqr(x)))) > 0)
    assert.is_true(count(slope(weighed(sparse.sqr(sparse.tril(x))))) > 0)
  end)

  it("spares them where all that comes is a dense matrix's, or stands on the matrix's own arrays", function()
    local stack, d = sparse.hstack({ x, B }, { format = "csr" }), damo.dmatrix "d"
    assert.equal(0, count(slope(damo.sum(sparse.toarray(stack, { structured = false }) * d))))
    assert.equal(0, count(slope(weighed(sparse.sqr(x)) + weighed(sparse.sin(-x)))))
  end)

  it("removes them when a constant replaces a Variable", function()
    local g, a = slope(turned(x) + weighed(x)), s.matrix { rows = n, cols = n }
    assert.is_true(count(g) > 0)
    local f = damo.compile({}, g, { givens = { [x] = damo.constant(a) } })
    assert.equal(0, count(f))
    s.close(f(), s.flat(damo.compile({ x }, g)(a)), "with a constant")
  end)

  it("uses a pattern that a Type has", function()
    local a = s.matrix { rows = n, cols = n }
    local z = sparse.csr_matrix("z", { pattern = a })
    assert.equal(0, count(damo.grad(turned(z) + weighed(z), z)))
  end)

  it("computes no value only for them", function()
    local stack = sparse.hstack({ x, y }, { format = "csr" })
    local g = stack.type "g"
    local f = damo.compile({ x, y, g }, damo.grad(nil, { x, y }, { known_grads = { [stack] = g } }))
    assert.is_true(count(f) > 0)
    -- (blocks of unequal heights, which cannot be stacked)
    local first, second = f(s.matrix { rows = 2, cols = 3 }, s.matrix { rows = 5, cols = 1 },
      s.matrix { rows = 4, cols = 4 })
    assert.same({ 4, 3 }, first.shape)
    assert.same({ 4, 1 }, second.shape)
  end)

  it("is checked by DEBUG for every Op", function()
    for _, name in ipairs(names) do
      for seed, format in ipairs(s.formats) do
        local m = sparse.matrix(format, "m")
        local out = steps[name](m)
        local g = damo.grad(weighed(sparse.sqr(out)) + weighed(m), m)
        local f = damo.compile({ m }, { out, g }, { mode = "DEBUG" })
        f(matrix(format, 50 + seed))
        f(s.matrix { format = format, rows = n, cols = n })
      end
    end
  end)
end)
