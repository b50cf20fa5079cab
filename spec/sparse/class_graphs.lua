-- A graph for each sparse class that has a check: DEBUG mode accepts it as it is (debug_spec.lua), and refuses it if
-- the
-- class's results are broken (spec/c/check_test.c).
local damo = require "damo"
local sparse = damo.sparse

local function dense(m, n, seed)
  local rows = {}
  for i = 1, m do
    rows[i] = {}
    for j = 1, n do rows[i][j] = math.sin(12.9 * seed + 78.2 * i + 3.7 * j) * 3 end
  end
  return damo.array(rows)
end

local A = sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }

local x, y, z, sq = sparse.csr_matrix "x", sparse.csc_matrix "y", sparse.csr_matrix "z", sparse.csr_matrix "sq"
local d, v, w, g = damo.matrix "d", damo.vector "v", damo.vector "w", damo.vector "g"
local rows, cols, k = damo.lvector "rows", damo.lvector "cols", damo.lscalar "k"
local left, right = damo.matrix "left", damo.matrix "right"
local inputs = { x, y, z, sq, d, v, w, g, rows, cols, k, left, right }
local function of(class, props, ...) return sparse[class](props)(...) end
local function whole(list) return damo.array(list, "int64") end
local parts = { sparse.csm_properties(x) }
local function second_of_logdet()
  local first = damo.grad(sparse.logdet(sq), sq)
  return damo.grad(damo.sum(first.data * first.data), sq)
end
local function least(wrt) return damo.grad(damo.sum(damo.sqr((sparse.lstsq(x, v)))), wrt) end
-- A matrix with far more columns than entries, and the factor of one with more rows than columns.
local far = damo.constant(sparse.csr { data = { 1, 2, 3 }, indices = { 7, 90000, 7 }, indptr = { 0, 2, 3 },
  shape = { 2, 100000 } })
local tall = sparse.factorize(x.T)
local two = damo.constant(damo.array(2, "float64"))
local plain = damo.Mode { linker = "debug", optimizer = "none" }
-- A node of the named class over these inputs, in a graph that is not rewritten.
local function alone(class, props, ...)
  local given = { ... }
  return { class, function() return of(class, props, table.unpack(given)) end, mode = plain }
end

-- {class, function that makes the outputs}; mode: where rewriting would remove the class.
local list = {
  { "DenseFromSparse", function() return x:toarray(), y:toarray() end },
  { "SparseFromDense", function() return sparse.csr_from_dense(d), sparse.csc_from_dense(d) end },
  { "ToFormat", function() return x:tocsc(), y:tocsr() end },
  { "Cast", function() return sparse.cast(x, "float32") end },
  alone("SumDuplicates", {}, x), alone("EnsureSortedIndices", {}, z), alone("Remove0", {}, z),
  alone("Transpose", {}, x), alone("Neg", {}, x), alone("SparseZeros", { dtype = "float32" }, x),
  alone("AddSS", {}, x, z), alone("AddSD", {}, x, d), alone("AddSSData", {}, x, sparse.sin(x)),
  alone("MulSS", {}, x, z), alone("MulSD", {}, x, d), alone("DivSD", {}, x, d), alone("MulSV", {}, x, w),
  alone("ColScaleCSC", {}, y, w), alone("RowScaleCSC", {}, y, v),
  { "SparseDot", function() return of("Dot", {}, x, d.T) end, mode = plain },
  alone("StructuredDot", {}, x, d.T), alone("TrueDot", {}, x, z.T),
  alone("SamplingDot", {}, d, d, x[{ { 1, 2 }, { 1, 2 } }]),
  alone("Usmm", {}, two, x, right, d), alone("UsmmCscDense", {}, two, y, right, d),
  alone("UsmmCsrDense", {}, two, x, right, d),
  { "SampledProduct", function()
    local gy = damo.grad(nil, { y, right }, { known_grads = { [sparse.structured_dot(y, right)] = d } })
    local gx = damo.grad(nil, { x, right }, { known_grads = { [sparse.structured_dot(x, right)] = d } })
    return gx[1], gx[2], gy[1], gy[2]
  end },
  { "SpSum", function() return sparse.sp_sum(x), sparse.sp_sum(x, { axis = 1 }), sparse.sp_sum(y, { axis = 2 }) end },
  { "SpVecdot", function()
    local gs = damo.grad(nil, { w, x }, { known_grads = { [sparse.col_scale(x, w)] = z } })
    return gs[1], gs[2]
  end },
  alone("HStack", {}, x, z), alone("VStack", {}, x, z), alone("Diag", {}, sq), alone("SquareDiagonal", {}, w),
  alone("NarrowMinor", {}, far), alone("SquareMatrix", { func = "f" }, sq),
  alone("SameShape", { func = "f" }, d, x, k, k + 1),
  { "Factorize", function() return sparse.factorize(sq), sparse.factorize(x), sparse.factorize(x.T) end },
  { "FactorizeQR", function() return sparse.FactorizeQR {}(x), sparse.FactorizeQR {}(sq) end },
  { "FactorRcond", function() return sparse.rcond(sq) end },
  alone("FactorColumns", { minimum_norm = false }, tall, w),
  alone("FactorColumns", { minimum_norm = false }, tall, x.T),
  alone("FactorColumnsBack", { minimum_norm = false }, tall, right, right),
  alone("FactorColumnsBack", { minimum_norm = true }, tall, right, w),
  alone("FactorBeside", {}, d, d, d),
  alone("FactorGap", { system = "n", minimum_norm = false }, tall, x.T, v, w),
  alone("FactorGap", { system = "t", minimum_norm = false }, tall, x.T, right, d),
  alone("EqualSS", {}, x, z), alone("EqualSD", {}, x, d), alone("EqualSD", {}, x, 1.5),
  alone("NotEqualSS", {}, x, z), alone("NotEqualSD", {}, x, d), alone("NotEqualSD", {}, x, 1.5),
  alone("LessThanSS", {}, x, z), alone("LessThanSD", {}, x, d), alone("LessThanSD", {}, x, 1.5),
  alone("LessEqualSS", {}, x, z), alone("LessEqualSD", {}, x, d), alone("LessEqualSD", {}, x, 1.5),
  alone("GreaterThanSS", {}, x, z), alone("GreaterThanSD", {}, x, d), alone("GreaterThanSD", {}, x, 1.5),
  alone("GreaterEqualSS", {}, x, z), alone("GreaterEqualSD", {}, x, d), alone("GreaterEqualSD", {}, x, 1.5),
  { "GetItemList", function()
    return sparse.get_item_list(x, rows), sparse.get_item_list(y, cols, { axis = 2 })
  end },
  { "GetItemListGrad", function()
    local axis = { axis = 2 }
    return of("GetItemListGrad", {}, x, rows, of("GetItemList", {}, z, rows)),
      of("GetItemListGrad", axis, x, cols, of("GetItemList", axis, z, cols))
  end },
  { "GetItem2Lists", function() return sparse.get_item_2lists(x, rows, cols) end },
  { "GetItem2ListsGrad", function() return of("GetItem2ListsGrad", {}, x, rows, cols, g) end },
  { "GetItemScalar", function() return x[{ k, 3 }] end },
  { "GetItem2d", function() return x[{ { 1, k }, { 3, 1, -2 } }] end },
  { "GetItem2dGrad", function() return damo.grad(sparse.sp_sum(sparse.sqr(x[{ { 1, k }, { 3, 1, -2 } }])), x) end },
  { "ConstructSparseFromList", function() return sparse.construct_sparse_from_list(left, right, rows) end },
  { "Permute", function() return sparse.permute(x, whole { 2, 1 }, whole { 3, 1, 2 }) end },
  { "BlockDiag", function() return sparse.block_diag { x, y, z } end },
  { "BlockMatrix", function()
    return sparse.bmat { { x, false }, { y, z } }, sparse.bmat({ { x, false }, { y, z } }, { format = "csc" })
  end },
  { "Diagonal", function() return sparse.diagonal(x, { k = 1 }), y:diagonal(-1) end },
  { "PutDiagonal", function() return damo.grad(damo.sum(damo.sqr(sparse.diagonal(x, { k = 1 }))), x) end },
  { "Coordinates", function() return sparse.find(x) end },
  { "SparseSplit", function() return damo.grad(sparse.sp_sum(sparse.sqr(sparse.hstack { x, y })), y) end },
  { "Band", function() return sparse.tril(x), sparse.triu(x, { k = 1 }) end },
  { "Trace", function() return sparse.trace(sq) end },
  { "EyeLike", function() return damo.grad(damo.sqr(sparse.trace(sq)), sq) end },
  { "SpExtremum", function() return sparse.max(x, { axis = 1 }), sparse.argmin(x), sparse.min(y, { axis = 2 }) end },
  { "KronPlaces", function() return sparse.kron(x, y) end },
  { "WithData", function() return sparse.structured_exp(x) end },
  { "SparseData", function() return damo.sqr(sparse.csm_data(x)) end },
  { "GatherData", function() return sparse.gather(y, x), sparse.gather(d, x) end },
  { "CSM", function() return sparse.CSC(damo.sqr(parts[1]), parts[2], parts[3], whole { 3, 2 }) end },
  { "CSMProperties", function() return parts[1] * 2, parts[2] + 1 end },
  { "CSMGrad", function()
    local own = { sparse.csm_properties(z) }
    return of("CSMGrad", {}, parts[1], parts[2], parts[3], parts[4], own[1] * 2, own[2], own[3], own[4])
  end },
  { "SpSumGrad", function()
    return damo.grad(damo.sum(damo.sqr(sparse.sp_sum(x, { axis = 2, sparse_grad = true }))), x),
      damo.grad(damo.sum(damo.sqr(sparse.sp_sum(y, { axis = 1 }))), y), damo.grad(damo.sqr(sparse.sp_sum(z)), z)
  end },
  { "StructuredDotGradCSR", function() return damo.grad(damo.sum(damo.sqr(sparse.structured_dot(x, d.T))), x) end },
  { "StructuredDotGradCSC", function() return damo.grad(damo.sum(damo.sqr(sparse.structured_dot(y, d.T))), y) end },
  { "StructuredDotGrad", function()
    return of("StructuredDotGrad", {}, x, sparse.transpose(y), sq[{ { 1, 2 }, { 1, 2 } }])
  end },
  { "StructuredAddSV", function() return of("StructuredAddSV", {}, x, w) end },
  { "MaximumSS", function() return damo.maximum(x, z), damo.maximum(y, x) end },
  { "MinimumSS", function() return damo.minimum(x, z), damo.minimum(y, x) end },
  { "AddCotangents", function() return damo.grad(sparse.sp_sum(sparse.sqr(x)) + sparse.sp_sum(x), x) end },
  { "MoveCotangent", function() return damo.grad(sparse.sp_sum(sparse.sqr(sparse.ensure_sorted_indices(x))), x) end },
  { "FactorSolve", function()
    return sparse.solve(sq, w), sparse.solve_t(sq, right.T), sparse.solve(sq, w, { assume = "pos" }),
      sparse.solve(sq, x.T)
  end },
  { "FactorLogdet", function() return sparse.logdet(sq) end },
  { "FactorDet", function() return sparse.det(sq) end },
  { "FactorInverse", function() return damo.grad(sparse.logdet(sq), sq) end },
  { "FactorSandwich", second_of_logdet },
  { "FactorLeast", function() return sparse.lstsq(x, v), sparse.lstsq(x.T, w) end },
  { "FactorLeastAdjoint", function() return least(v), damo.grad(damo.sum(damo.sqr((sparse.lstsq(x.T, w)))), w) end },
}

local B = sparse.csc { data = { 5, 6 }, indices = { 1, 0 }, indptr = { 0, 1, 1, 2 }, shape = { 2, 3 } }
local C = sparse.csr { data = { 7, 8, 0, 4 }, indices = { 2, 1, 0, 1 }, indptr = { 0, 2, 4 }, shape = { 2, 3 } }
local S = sparse.csr { data = { 4, 1, 1, 5, 2, 6 }, indices = { 0, 1, 0, 1, 0, 2 }, indptr = { 0, 2, 4, 6 },
  shape = { 3, 3 } }
local values = { A, B, C, S, dense(2, 3, 1), damo.array { 1, 2 }, damo.array { 1, 2, 3 }, damo.array { 4, 5, 6 },
  whole { 2, 1, 2 }, whole { 3, 1, 3 }, 2, dense(4, 3, 1), dense(3, 3, 9) }

local function compile(row)
  return damo.compile(inputs, { row[2]() }, { mode = row.mode or "DEBUG", on_unused_input = "ignore" })
end

return { rows = list, inputs = inputs, values = values, compile = compile }
