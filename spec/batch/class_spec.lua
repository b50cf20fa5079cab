-- Each class's rule for batches, beside the class's nodes over single entries; most cases also have the classes of
-- gradients.
local damo = require "damo"
local harness = require "spec.batch.harness"

local function at(spec)
  return function(x, ...) return damo.subtensor(x, { ... }, { spec = spec }) end
end
local function set(spec)
  return function(x, y, ...) return damo.set_subtensor_at(x, y, { ... }, { spec = spec }) end
end
local function inc(spec)
  return function(x, y, ...) return damo.inc_subtensor_at(x, y, { ... }, { spec = spec }) end
end
local function ints(list) return damo.constant(damo.array(list, "int64")) end

local two = "int64"

describe("cumulative and sorting Ops over a batch", function()
  harness.run(it, {
    { name = "cumsum", cores = { { 4 } }, fn = damo.cumsum },
    { name = "cumprod of axis 2", cores = { { 2, 3 } }, fn = function(x) return damo.cumprod(x, { axis = 2 }) end },
    { name = "of all axes", cores = { { 2, 3 } }, fn = function(x) return damo.cumsum(x) end },
    { name = "sort, argsort", cores = { { 5 } }, fn = function(x) return damo.sort(x), damo.argsort(x) end },
    { name = "sort of axis 1", cores = { { 5, 2 } }, fn = function(x)
      return damo.sort(x, { axis = 1 }), damo.diff(x, { axis = 1 })
    end },
  })
end)

describe("parts over a batch", function()
  harness.run(it, {
    { name = "a position", cores = { { 4, 2 } }, fn = function(x) return x[2], at "ei"(x, ints(-1)) end },
    { name = "ranges", cores = { { 4, 3 } }, fn = function(x)
      return at "s110s111"(x, ints(2), ints(3), ints(-1), ints(1), ints(-1)), at "ns000ni"(x, ints(1))
    end },
    { name = "a list", cores = { { 4, 3 } }, fn = function(x)
      return at "l"(x, ints { 3, 1, 3 }), at "s000l"(x, ints { { 3 }, { 1 } })
    end },
    { name = "lists", cores = { { 4, 3, 2 } }, fn = function(x)
      return at "ll"(x, ints { 3, 1, 3 }, ints { 1, 2, 2 }), at "ls000l"(x, ints { 4, 1 }, ints { 1, 2 }),
        at "s000ll"(x, ints { { 1 }, { 2 } }, ints { 2, 1 }), at "is000l"(x, ints(2), ints { 1, 2 })
    end },
    { name = "a mask", cores = { { 4, 3 } }, fn = function(x)
      return at "l"(x, damo.constant(damo.array({ true, false, true, true }, "bool"))),
        at "s000l"(x, damo.constant(damo.array({ true, false, true }, "bool")))
    end },
    { name = "positions of the batch", cores = { { 4, 3 }, {} }, dtypes = { nil, two }, most = { nil, 3 },
      fn = function(x, i)
        return at "i"(x, i), at "ei"(x, i), at "ii"(x, i, ints(2)), at "s110i"(x, ints(2), ints(3), i),
          at "is111"(x, i, ints(-1), ints(1), ints(-1)), at "ni"(x, i)
      end },
    { name = "positions apart", cores = { { 4, 2, 3 }, {} }, dtypes = { nil, two }, most = { nil, 3 },
      fn = function(x, i)
      return at "is000i"(x, i, i), at "is000l"(x, i, ints { 1, 3 }), at "ns000s000i"(x, i), at "es000i"(x, i)
    end },
    { name = "lists of the batch", cores = { { 4, 3, 2 }, { 3 } }, dtypes = { nil, two }, most = { nil, 2 },
      fn = function(x, i)
        return at "l"(x, i), at "s000l"(x, i), at "ll"(x, i, i), at "ls000l"(x, i, i), at "s000s000l"(x, i),
          at "lil"(x, i, ints(3), ints { 1, 2, 1 }), at "s000li"(x, i, ints(2))
      end },
    { name = "take", cores = { { 4, 3 }, { 2, 2 } }, dtypes = { nil, two }, most = { nil, 3 }, fn = function(x, i)
      return damo.take(x, i, { axis = 2 }), damo.take(x, i, { axis = 1 }), damo.take(x, i)
    end },
    { name = "take_along_axis", cores = { { 4, 3 }, { 2, 3 } }, dtypes = { nil, two }, most = { nil, 3 },
      fn = function(x, i) return damo.take_along_axis(x, i, { axis = 1 }) end },
    { name = "ends of the batch", cores = { { 4 }, {} }, dtypes = { nil, two }, most = { nil, 1 }, loop = true,
      fn = function(x, i) return at "s110"(x, i, i + 1) end, leads = { { { 3 }, { 3 } }, { {}, { 3 } } } },
  })
end)

describe("written parts over a batch", function()
  local x4, none = { 4, 3 }, {}
  harness.run(it, {
    { name = "at a position", cores = { x4, { 3 } }, fn = function(x, y)
      return set "i"(x, y, ints(2)), inc "i"(x, y, ints(-1))
    end },
    { name = "in ranges", cores = { x4, { 2 } }, fn = function(x, y)
      return inc "s000s111"(x, y, ints(-1), ints(1), ints(-2)), set "s000s110"(x, y, ints(1), ints(2))
    end },
    { name = "of lists", cores = { { 4, 3, 2 }, { 2 } }, fn = function(x, y)
      return inc "s000l"(x, y, ints { 1, 1 }),
        set "ls000l"(x, damo.dimshuffle(y, { 1, "x" }), ints { 1, 3 }, ints { 2, 1 }),
        inc "l"(x, y, ints { 2, 2, 1 })
    end },
    { name = "of a mask", cores = { x4, none }, fn = function(x, y)
      return inc "s000l"(x, y, damo.constant(damo.array({ true, false, true }, "bool")))
    end },
    { name = "at positions of the batch", cores = { x4, { 3 }, none }, dtypes = { nil, nil, two },
      most = { nil, nil, 4 }, fn = function(x, y, i) return set "i"(x, y, i), inc "i"(x, y, i) end },
    { name = "behind other axes", cores = { x4, { 4 }, none }, dtypes = { nil, nil, two }, most = { nil, nil, 3 },
      fn = function(x, y, i) return inc "ei"(x, y, i), set "s000i"(x, 2, i) end },
    { name = "at lists of the batch", cores = { { 4, 3, 2 }, { 2, 3 }, { 3 } }, dtypes = { nil, nil, two },
      most = { nil, nil, 2 }, fn = function(x, y, i)
        return inc "s000s000l"(x, y[1], i), inc "s110l"(x, damo.dimshuffle(y, { 1, 2, "x" }), ints(1), ints(2), i),
          inc "ls110l"(x, damo.transpose(y), i, ints(2), ints(3), i)
      end },
  })
end)

describe("shapes over a batch", function()
  harness.run(it, {
    { name = "reshape", cores = { { 4, 3 } }, fn = function(x)
      return damo.reshape(x, { 2, 6 }), damo.reshape(x, { 3, 4 }), damo.flatten(x),
        damo.reshape(x, damo.shape(damo.transpose(x)))
    end },
    { name = "reshape with a length left open", cores = { { 4, 3 } }, leads = { { { 3 } }, { { 2, 1 } } },
      fn = function(x)
      return damo.reshape(x, { 2, -1 }), damo.ravel(x)
    end },
    { name = "shape", cores = { { 4, 3 } }, fn = function(x)
      return damo.shape(x) * 2, damo.size(x), damo.shape_i(x, { axis = 2 })
    end },
    { name = "alloc and broadcast", cores = { { 3 }, {} }, fn = function(x, y)
      return damo.broadcast_to(x, { shape = { 2, 3 } }), damo.alloc(y, { 2, 2 }), damo.zeros_like(x) + y,
        damo.fill(x, y)
    end },
    { name = "join", cores = { { 2, 3 }, { 2, 3 } }, fn = function(x, y)
      return damo.concatenate({ x, y, x }, { axis = 2 }), damo.join(1, { x, y }), damo.stack { x, y }
    end },
    { name = "split", cores = { { 5, 2 } }, fn = function(x)
      return damo.split(x, { sizes = { 2, 3 }, axis = 1 })
    end },
    { name = "diagonals", cores = { { 3, 4 } }, fn = function(x)
      return damo.diag(x), damo.diagonal(x, { offset = 1 }), damo.trace(x), damo.tril(x), damo.triu(x, { k = 1 })
    end },
    { name = "matrices of diagonals", cores = { { 3 } }, fn = function(x)
      return damo.diag(x), damo.diag(x, { k = -1 })
    end },
    { name = "repeated entries", cores = { { 3, 2 } }, fn = function(x)
      return damo.tile(x, { reps = { 2, 1 } }), damo.repeat_(x, 2, { axis = 1 }),
        damo.repeat_(x, ints { 1, 0, 2 }, { axis = 1 })
    end },
    { name = "rolled and padded", cores = { { 3, 2 } }, fn = function(x)
      return damo.roll(x, 1, { axis = 1 }), damo.pad(x, { pad_width = { { 1, 0 }, { 0, 2 } } }),
        damo.flip(x, { axis = 1 })
    end },
    { name = "classes", cores = { { 3 } }, dtypes = { two }, most = { 4 }, fn = function(i)
      return damo.one_hot(i, 4)
    end },
    { name = "eye of values", cores = { {} }, dtypes = { two }, most = { 2 }, loop = true, fn = function(k)
      return damo.eye(3, 3, k)
    end, leads = { { { 3 } } } },
  })
end)

describe("products, networks and markers over a batch", function()
  harness.run(it, {
    { name = "tensordot", cores = { { 2, 3, 4 }, { 4, 3, 2 } }, fn = function(x, y)
      return damo.tensordot(x, y, { axes = { { 2, 3 }, { 2, 1 } } }), damo.tensordot(x, y, { axes = 1 })
    end },
    { name = "einsum", cores = { { 2, 3, 4 }, { 2, 4, 3 } }, fn = function(x, y)
      return damo.einsum({ x, y }, "bij,bjk->bik"), damo.einsum({ x, y }, "bij,bjk->ki"),
        damo.einsum({ x[{ {}, { 1, 3 }, { 1, 3 } }] }, "bii->b")
    end },
    { name = "outer, kron and their kin", cores = { { 3 }, { 2 } }, fn = function(x, y)
      return damo.outer(x, y), damo.kron(damo.outer(x, y), damo.outer(y, x))
    end },
    { name = "softmax", cores = { { 2, 3 } }, fn = function(x)
      return damo.softmax(x, { axis = 2 }), damo.log_softmax(x, { axis = 1 }), damo.softmax(x)
    end },
    { name = "crossentropy", cores = { { 2, 3 }, { 2 } }, dtypes = { nil, two }, most = { nil, 3 }, fn = function(x, i)
      return damo.categorical_crossentropy(damo.softmax(x, { axis = 2 }), i)
    end },
    { name = "markers", cores = { { 3 } }, fn = function(x)
      return damo.disconnected_grad(x) * x, damo.zero_grad(x) * x, damo.consider_constant(x) * x,
        damo.grad_clip(x, { lower = -1, upper = 1 }), damo.grad_scale(x, { multiplier = 2 }),
        damo.specify_shape(x, { shape = { 3 } }), damo.unbroadcast(x, { axes = { 1 } }),
        damo.assert_op(x, damo.gt(damo.sum(damo.sqr(x)), -1))
    end },
    { name = "a branch for all", cores = { { 2 }, { 2 } }, fn = function(x, y)
      return damo.ifelse(damo.gt(damo.size(x), 1), x * y, damo.exp(y))
    end },
    { name = "where", cores = { { 3 }, {} }, fn = function(x, y)
      return damo.switch(damo.gt(x, y), x, y), damo.clip(x, -1, 1), damo.minimum(x, y)
    end },
    { name = "statistics", cores = { { 4, 2 } }, fn = function(x)
      return damo.mean(x, { axis = 1 }), damo.var(x), damo.std(x, { axis = 2 }), damo.ptp(x, { axis = 1 }),
        damo.max_and_argmax(x, { axis = 1 })
    end },
    { name = "float32", cores = { { 4, 3 }, { 3 } }, dtypes = { "float32", "float32" }, fn = function(x, y)
      return damo.tanh(damo.dot(x, y)), damo.softmax(x, { axis = 1 })
    end },
  })
end)

describe("Ops of the library over a batch", function()
  harness.run(it, {
    { name = "factors and triangular systems", cores = { { 3, 3 }, { 3 } }, fn = function(a, y)
      local spd = damo.dot(a, damo.transpose(a)) + 3 * damo.eye(3)
      local l = damo.linalg.cholesky(spd)
      return l, damo.linalg.solve_triangular(l, y, { lower = true })
    end },
    { name = "Fourier transforms", cores = { { 2, 6 } }, fn = function(x)
      return damo.real(damo.fft.fft(x)), damo.imag(damo.fft.rfft(x, { axis = 1 })), damo.fft.irfft(damo.fft.rfft(x))
    end },
    { name = "running extremes", cores = { { 4, 2 } }, fn = function(x) return damo.cummax(x, { axis = 1 }) end },
    { name = "the greatest", cores = { { 6 } }, fn = function(x)
      return damo.topk(x, 2), damo.argtopk(x, -3), damo.partition(x, 3)
    end },
    { name = "segments", cores = { { 5, 2 } }, fn = function(x)
      local ids = damo.constant(damo.array({ 1, 3, 1, 2, 3 }, "int64"))
      return damo.segment_sum(x, ids, { num_segments = 4 }), damo.segment_max(x, ids, { num_segments = 3 })
    end },
    { name = "sorted places", cores = { { 3 } }, fn = function(x)
      return damo.searchsorted(damo.constant(damo.array { -1, 0, 1 }), x)
    end },
    { name = "convolutions with shared filters", cores = { { 2, 2, 4, 5 } }, fn = function(x)
      local w = damo.constant(damo.reshape(damo.arange(24) - 11.5, { 3, 2, 2, 2 }))
      local v = damo.constant(damo.reshape(damo.arange(24) - 11.5, { 2, 3, 2, 2 }))
      return damo.nn.conv2d(x, w, { border_mode = "half" }), damo.nn.conv2d_transpose(x, v, { subsample = { 2, 2 } })
    end },
    { name = "pools", cores = { { 2, 1, 4, 4 } }, fn = function(x)
      return damo.nn.max_pool2d(x, { size = { 2, 2 } }), damo.nn.avg_pool2d(x, { size = { 2, 2 } })
    end },
  })
end)
