-- library.lua: times factorizations, transforms, segments and draws.
--
--     lua5.4 bench/library.lua [json] [serve] [WORD…]   as against.lua says; library_peers.py asks it

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore
local against = dofile((arg[0]:match("^(.*)/") or ".") .. "/against.lua")

local case = against.case
damo.random.seed(3)

local linalg, fft = damo.linalg, damo.fft

local function normal(...) return damo.random.normal(0, 1, { size = { ... } }) end

--- A Function of a matrix, and of its cost's gradient.
local function with_gradient(name, title, f, a)
  local x = damo.dmatrix "x"
  local results = { f(x) }
  local cost = 0
  for _, y in ipairs(results) do cost = cost + damo.sum(damo.sin(y)) end
  return case { name = name, title = title, call = damo.compile({ x }, results), args = { a } },
    case { name = name .. "_gradient", title = title .. ", gradient", args = { a },
      call = damo.compile({ x }, damo.grad(cost, x)) }
end

local function factorizations()
  local n = 500
  local a = normal(n, n)
  local spd = damo.dot(a, damo.transpose(a)) + n * damo.eye(n)
  local symmetric = a + damo.transpose(a)
  local b = damo.dvector "b"
  local x = damo.dmatrix "x"
  local right = normal(n)
  local list = {}
  local function add(...)
    for _, c in ipairs { ... } do list[#list + 1] = c end
  end
  add(with_gradient("cholesky", "cholesky 500 x 500", linalg.cholesky, spd))
  add(case { name = "solve", title = "solve 500 x 500, one right side", args = { spd, right },
    call = damo.compile({ x, b }, linalg.solve(x, b, { b_ndim = 1 })) })
  add(with_gradient("svd", "svd 500 x 500", function(m) return linalg.svd(m, { full_matrices = false }) end, a))
  add(with_gradient("eigh", "eigh 500 x 500", linalg.eigh, symmetric))
  return list
end

local function small_systems()
  local n = 86268
  local a = damo.add(normal(n, 3, 3), 3 * damo.eye(3))
  local b = normal(n, 3)
  local x, y = damo.dtensor3 "x", damo.dmatrix "y"
  local cost = damo.sum(damo.sin(linalg.solve(x, y, { b_ndim = 1 })))
  return { case { name = "systems", title = "86268 systems 3 x 3 with gradient",
    call = damo.compile({ x, y }, { cost, unpack(damo.grad(cost, { x, y })) }), args = { a, b } } }
end

local function transforms()
  local x, m = damo.dvector "x", damo.dmatrix "m"
  return {
    case { name = "rfft", title = "rfft of 2^16", call = damo.compile({ x }, fft.rfft(x)), args = { normal(65536) } },
    case { name = "rfft_rows", title = "rfft of 1000 rows of 1000", call = damo.compile({ m }, fft.rfft(m)),
      args = { normal(1000, 1000) } },
    case { name = "rfft2", title = "rfft2 of 1000 x 1000", call = damo.compile({ m }, fft.rfft2(m)),
      args = { normal(1000, 1000) } },
  }
end

local function segments()
  local n, count = 1000000, 1000
  local x, ids = damo.dvector "x", damo.lvector "ids"
  local places = damo.random.integers(1, count, { size = { n } })
  return { case { name = "segment_sum", title = "segment_sum of 1e6, 1000 segments", args = { normal(n), places },
    call = damo.compile({ x, ids }, damo.segment_sum(x, ids, { num_segments = count })) } }
end

local function draws()
  local n = 1000000
  local function drawn(name, title, ...)
    local stream = damo.random.RandomStream(5)
    return case { name = name, title = title, call = damo.compile({}, stream[name](stream, ...)), args = {} }
  end
  return {
    drawn("normal", "1e6 normal draws", 0, 1, { size = { n } }),
    drawn("gamma", "1e6 gamma draws, shape 2", 2.0, 1.0, { size = { n } }),
  }
end

local function products()
  local a, b, c = damo.dtensor3 "a", damo.dmatrix "b", damo.dmatrix "c"
  return { case { name = "einsum", title = "einsum ijk,kl,lm->ijm of 50 x 60 x 70, 70 x 80, 80 x 30",
    call = damo.compile({ a, b, c }, damo.einsum({ a, b, c }, "ijk,kl,lm->ijm")),
    args = { normal(50, 60, 70), normal(70, 80), normal(80, 30) } } }
end

against.report("library", nil, { factorizations, small_systems, transforms, segments, draws, products })
