--- Examples for damo.help of damo.sparse and damo.dist: Lua whose last line is an
-- expression, and what it gives behind -->. For damo's own files only; spec/lua/help_spec.lua runs them.
-- @module damo.help_sparse

return {
  ["damo.sparse.csr"] = [==[
damo.sparse.csr {{1, 0}, {2, 3}}
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.csc"] = [==[
damo.sparse.csc {data = {1, 2, 3}, indices = {0, 1, 1}, indptr = {0, 2, 3}, shape = {2, 2}}
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.coo"] = [==[
damo.sparse.coo {rows = {1, 2}, cols = {1, 3}, values = {5, 6}, shape = {2, 3}}
--> <csr float64 (2, 3), 2 stored>
      (1, 1)  5.0
      (2, 3)  6.0]==],
  ["damo.sparse.from_dense"] = [==[
damo.sparse.from_dense({{1, 0}, {0, 3}}, "csc")
--> <csc float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  3.0]==],
  ["damo.sparse.eye"] = [==[
damo.sparse.eye(2)
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  1.0]==],
  ["damo.sparse.diags"] = [==[
damo.sparse.diags({{1, 1}, {2, 2, 2}}, {-1, 0}):toarray()
--> [[2. 0. 0.]
     [1. 2. 0.]
     [0. 1. 2.]]]==],
  ["damo.sparse.random"] = [==[
damo.sparse.random(10, 10, {density = 0.25}).nnz
--> 25]==],
  ["damo.sparse.SparseTensorType"] = [==[
damo.sparse.SparseTensorType("csr", "float64", {shape = {false, 3}})
--> SparseTensorType(csr, float64, shape=(?, 3))]==],
  ["damo.sparse.FactorType"] = [==[
damo.sparse.FactorType "float64"
--> FactorType(float64, shape=(?, ?))]==],
  ["damo.sparse.matrix"] = [==[
damo.sparse.matrix("csc", "A", {shape = {3, 3}}).type
--> SparseTensorType(csc, float64, shape=(3, 3))]==],
  ["damo.sparse.as_sparse_variable"] = [==[
damo.sparse.as_sparse_variable(damo.sparse.eye(2)).type
--> SparseTensorType(csr, float64, shape=(2, 2))]==],
  ["damo.sparse.as_sparse"] = [==[
damo.sparse.as_sparse(damo.sparse.eye(2), "I").name
--> I]==],
  ["damo.sparse.as_sparse_or_tensor_variable"] = [==[
damo.sparse.as_sparse_or_tensor_variable({1, 2}).type
--> TensorType(float64, shape=(2,))]==],
  ["damo.sparse.is_sparse"] = [==[
damo.sparse.is_sparse(damo.sparse.eye(2)), damo.sparse.is_sparse(damo.eye(2))
--> true
    false]==],
  ["damo.sparse.structured_monoid"] = [==[
local structured_cube = damo.sparse.structured_monoid(function(v) return v ^ 3 end)
structured_cube(damo.sparse.csr {{2, 0}, {0, 3}})
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  8.0
      (2, 2)  27.0]==],
  ["damo.sparse.sparse_random_inputs"] = [==[
local variables, values = damo.sparse.sparse_random_inputs("csr", {3, 3}, {n = 2, p = 0.5})
#variables, values[1].shape
--> 2
    {3, 3}]==],
  ["damo.sparse.verify_grad_sparse"] = [==[
damo.sparse.verify_grad_sparse(damo.sparse.transpose, {damo.sparse.eye(3)}, {structured = true})]==],
  ["damo.sparse.sparse_formats"] = [==[
damo.sparse.sparse_formats[1], damo.sparse.sparse_formats[2]
--> csc
    csr]==],
  ["damo.dist.Normal"] = [==[
damo.dist.Normal(0, 1):logp(0.5)
--> -1.0439385332047]==],
  ["damo.dist.LogNormal"] = [==[
damo.dist.LogNormal(0, 1):logp(2)
--> -1.8523122207237]==],
  ["damo.dist.HalfNormal"] = [==[
damo.dist.HalfNormal(0, 1):logp(0.5)
--> -0.35079135264473]==],
  ["damo.dist.HalfCauchy"] = [==[
damo.dist.HalfCauchy(0, 1):logp(0.5)
--> -0.67472625660366]==],
  ["damo.dist.TruncatedNormal"] = [==[
damo.dist.TruncatedNormal(0, 1, -1, 2):logp(0.5)
--> -0.84377223888021]==],
  ["damo.dist.StudentT"] = [==[
damo.dist.StudentT(5, 0, 1):logp(0.5)
--> -1.114990081563]==],
  ["damo.dist.Cauchy"] = [==[
damo.dist.Cauchy(0, 1):logp(0.5)
--> -1.3678734371636]==],
  ["damo.dist.Laplace"] = [==[
damo.dist.Laplace(0, 1):logp(0.5)
--> -1.1931471805599]==],
  ["damo.dist.Logistic"] = [==[
damo.dist.Logistic(0, 1):logp(0.5)
--> -1.4481539683602]==],
  ["damo.dist.Gumbel"] = [==[
damo.dist.Gumbel(0, 1):logp(0.5)
--> -1.1065306597126]==],
  ["damo.dist.Exponential"] = [==[
damo.dist.Exponential(2):logp(1)
--> -1.1931471805599]==],
  ["damo.dist.TruncatedExponential"] = [==[
damo.dist.TruncatedExponential(2, 0, 1):logp(1)
--> -0.85458654213114]==],
  ["damo.dist.Gamma"] = [==[
damo.dist.Gamma(2, 3):logp(1.5)
--> -2.2917594692281]==],
  ["damo.dist.InverseGamma"] = [==[
damo.dist.InverseGamma(3, 2):logp(0.5)
--> 0.15888308335967]==],
  ["damo.dist.F"] = [==[
damo.dist.F(3, 5):logp(2)
--> -1.9456354504357]==],
  ["damo.dist.ChiSquared"] = [==[
damo.dist.ChiSquared(3):logp(2)
--> -1.5723649429247]==],
  ["damo.dist.Weibull"] = [==[
damo.dist.Weibull(2, 1):logp(0.5)
--> -0.25]==],
  ["damo.dist.Pareto"] = [==[
damo.dist.Pareto(3, 1):logp(2)
--> -1.6739764335717]==],
  ["damo.dist.Rayleigh"] = [==[
damo.dist.Rayleigh(1):logp(0.5)
--> -0.81814718055995]==],
  ["damo.dist.Wald"] = [==[
damo.dist.Wald(1, 2):logp(0.5)
--> -0.032644172084782]==],
  ["damo.dist.Beta"] = [==[
damo.dist.Beta(2, 3):logp(0.25)
--> 0.52324814376455]==],
  ["damo.dist.Uniform"] = [==[
damo.dist.Uniform(0, 4):logp(1)
--> -1.3862943611199]==],
  ["damo.dist.Triangular"] = [==[
damo.dist.Triangular(0, 1, 3):logp(2)
--> -1.0986122886681]==],
  ["damo.dist.VonMises"] = [==[
damo.dist.VonMises(0, 2):logp(0.5)
--> -0.90670548411156]==],
  ["damo.dist.Bernoulli"] = [==[
damo.dist.Bernoulli(0.25):logp(1)
--> -1.3862943611199]==],
  ["damo.dist.Binomial"] = [==[
damo.dist.Binomial(10, 0.5):logp(4)
--> -1.584364274882]==],
  ["damo.dist.BetaBinomial"] = [==[
damo.dist.BetaBinomial(10, 2, 3):logp(4)
--> -1.9671123567059]==],
  ["damo.dist.Poisson"] = [==[
damo.dist.Poisson(3):logp(2)
--> -1.4959226032237]==],
  ["damo.dist.NegativeBinomial"] = [==[
damo.dist.NegativeBinomial(3, 0.5):logp(2)
--> -1.6739764335717]==],
  ["damo.dist.Geometric"] = [==[
damo.dist.Geometric(0.25):logp(3)
--> -1.9616585060235]==],
  ["damo.dist.Zipf"] = [==[
damo.dist.Zipf(2.5):logp(3)
--> -3.0403096136275]==],
  ["damo.dist.HyperGeometric"] = [==[
damo.dist.HyperGeometric(7, 3, 5):logp(2)
--> -2.484906649788]==],
  ["damo.dist.Categorical"] = [==[
damo.dist.Categorical({0.2, 0.3, 0.5}):logp(3)
--> -0.69314718055995]==],
  ["damo.dist.Multinomial"] = [==[
damo.dist.Multinomial(3, {0.2, 0.8}):logp({1, 2})
--> -0.95711272639441]==],
  ["damo.dist.Dirichlet"] = [==[
damo.dist.Dirichlet({1, 2, 3}):logp({0.2, 0.3, 0.5})
--> 1.5040773967763]==],
  ["damo.dist.MvNormal"] = [==[
damo.dist.MvNormal({0, 0}, {{2, 1}, {1, 2}}):logp({1, 0})
--> -2.7205165440767]==],
  ["damo.dist.Wishart"] = [==[
damo.dist.Wishart(3, {{2, 1}, {1, 2}}):logp({{1, 0}, {0, 1}})
--> -4.8456093466381]==],
  ["damo.sparse.AddSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.AddSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[2. 2.]
     [5. 7.]]]==],
  ["damo.sparse.AddSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.AddSS(a, b):eval()
--> <csr float64 (2, 2), 4 stored>
      (1, 1)  5.0
      (1, 2)  5.0
      (2, 1)  2.0
      (2, 2)  9.0]==],
  ["damo.sparse.AddSSData"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.AddSSData(a, b):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  5.0
      (2, 1)  7.0
      (2, 2)  9.0]==],
  ["damo.sparse.Band"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Band(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.CSMProperties"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.CSMProperties(a):eval()
--> [1. 2. 3.]]==],
  ["damo.sparse.ColScaleCSC"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.ColScaleCSC(a, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  6.0]==],
  ["damo.sparse.Coordinates"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Coordinates(a):eval()
--> [1 2 2]]==],
  ["damo.sparse.DenseFromSparse"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.DenseFromSparse(a):eval()
--> [[1. 0.]
     [2. 3.]]]==],
  ["damo.sparse.Diag"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Diag(a):eval()
--> [1. 3.]]==],
  ["damo.sparse.DivSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.DivSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  0.6666666666666666
      (2, 2)  0.75]==],
  ["damo.sparse.Dot"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.Dot(a, b):eval()
--> [[ 4.  5.]
     [ 8. 28.]]]==],
  ["damo.sparse.EnsureSortedIndices"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.EnsureSortedIndices(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.EqualSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.EqualSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[ true false]
     [false false]]]==],
  ["damo.sparse.EqualSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.EqualSS(a, b):eval()
--> <csr bool (2, 2), 0 stored>]==],
  ["damo.sparse.Factorize"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Factorize(a):eval()
--> <factor float64 (2, 2), lu by klu>]==],
  ["damo.sparse.FactorizeQR"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorizeQR(a):eval()
--> <factor float64 (2, 2), qr by spqr>]==],
  ["damo.sparse.GatherData"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.GatherData(a, b):eval()
--> [1. 0. 3.]]==],
  ["damo.sparse.GetItem2Lists"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItem2Lists(a, damo.idx {2, 1}, damo.idx {1, 1}):eval()
--> [2. 1.]]==],
  ["damo.sparse.GetItemList"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItemList(a, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.GetItemScalar"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItemScalar(a, 1, 2):eval()
--> 0.0]==],
  ["damo.sparse.GreaterEqualSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GreaterEqualSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[ true false]
     [false false]]]==],
  ["damo.sparse.GreaterEqualSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.GreaterEqualSS(a, b):eval()
--> <csr bool (2, 2), 1 stored>
      (2, 1)  true]==],
  ["damo.sparse.GreaterThanSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GreaterThanSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[false false]
     [false false]]]==],
  ["damo.sparse.GreaterThanSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.GreaterThanSS(a, b):eval()
--> <csr bool (2, 2), 1 stored>
      (2, 1)  true]==],
  ["damo.sparse.HStack"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.HStack(a):eval()
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.KronPlaces"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.KronPlaces(a, b):eval()
--> <csr bool (4, 4), 9 stored>
      (1, 1)  true
      (1, 2)  true
      (2, 2)  true
      (3, 1)  true
      (3, 2)  true
      (3, 3)  true
      (3, 4)  true
      (4, 2)  true
      (4, 4)  true]==],
  ["damo.sparse.LessEqualSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.LessEqualSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[ true  true]
     [ true  true]]]==],
  ["damo.sparse.LessEqualSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.LessEqualSS(a, b):eval()
--> <csr bool (2, 2), 3 stored>
      (1, 1)  true
      (1, 2)  true
      (2, 2)  true]==],
  ["damo.sparse.LessThanSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.LessThanSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[false  true]
     [ true  true]]]==],
  ["damo.sparse.LessThanSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.LessThanSS(a, b):eval()
--> <csr bool (2, 2), 3 stored>
      (1, 1)  true
      (1, 2)  true
      (2, 2)  true]==],
  ["damo.sparse.MaximumSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.MaximumSS(a, b):eval()
--> <csr float64 (2, 2), 4 stored>
      (1, 1)  4.0
      (1, 2)  5.0
      (2, 1)  2.0
      (2, 2)  6.0]==],
  ["damo.sparse.MinimumSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.MinimumSS(a, b):eval()
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  3.0]==],
  ["damo.sparse.MulSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.MulSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  6.0
      (2, 2)  12.0]==],
  ["damo.sparse.MulSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.MulSS(a, b):eval()
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  4.0
      (2, 2)  18.0]==],
  ["damo.sparse.MulSV"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.MulSV(a, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  6.0]==],
  ["damo.sparse.NarrowMinor"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.NarrowMinor(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.Neg"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Neg(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  -1.0
      (2, 1)  -2.0
      (2, 2)  -3.0]==],
  ["damo.sparse.NotEqualSD"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.NotEqualSD(a, damo.array {{1, 2}, {3, 4}}):eval()
--> [[false  true]
     [ true  true]]]==],
  ["damo.sparse.NotEqualSS"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.NotEqualSS(a, b):eval()
--> <csr bool (2, 2), 4 stored>
      (1, 1)  true
      (1, 2)  true
      (2, 1)  true
      (2, 2)  true]==],
  ["damo.sparse.Remove0"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Remove0(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.RowScaleCSC"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.RowScaleCSC(a, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  4.0
      (2, 2)  6.0]==],
  ["damo.sparse.SamplingDot"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SamplingDot(damo.array {{1, 2}, {3, 4}}, damo.array {{1, 0}, {0, 1}}, a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  6.0
      (2, 2)  12.0]==],
  ["damo.sparse.SpSum"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SpSum(a):eval()
--> 6.0]==],
  ["damo.sparse.SparseData"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SparseData(a):eval()
--> [1. 2. 3.]]==],
  ["damo.sparse.SquareDiagonal"] = [==[
damo.sparse.SquareDiagonal(damo.array {1, 2}):eval()
--> <csc float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  2.0]==],
  ["damo.sparse.SquareMatrix"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SquareMatrix(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.StructuredAddSV"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.StructuredAddSV(a, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  2.0
      (2, 1)  3.0
      (2, 2)  5.0]==],
  ["damo.sparse.StructuredDot"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.StructuredDot(a, b):eval()
--> <csr float64 (2, 2), 4 stored>
      (1, 1)  4.0
      (1, 2)  5.0
      (2, 1)  8.0
      (2, 2)  28.0]==],
  ["damo.sparse.SumDuplicates"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SumDuplicates(a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.Trace"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Trace(a):eval()
--> 4.0]==],
  ["damo.sparse.Transpose"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Transpose(a):eval()
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (1, 2)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.TrueDot"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.TrueDot(a, b):eval()
--> <csr float64 (2, 2), 4 stored>
      (1, 1)  4.0
      (1, 2)  5.0
      (2, 1)  8.0
      (2, 2)  28.0]==],
  ["damo.sparse.Usmm"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Usmm(2, a, damo.array {{1, 2}, {3, 4}}, damo.array {{1, 0}, {0, 1}}):eval()
--> [[ 3.  4.]
     [22. 33.]]]==],
  ["damo.sparse.VStack"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.VStack(a):eval()
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.BlockDiag"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.BlockDiag {format = "csr"}(a, b):eval()
--> <csr float64 (4, 4), 6 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0
      (3, 3)  4.0
      (3, 4)  5.0
      (4, 4)  6.0]==],
  ["damo.sparse.CSC"] = [==[
damo.sparse.CSC(damo.array {1, 2, 3}, damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.idx {2, 2})
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (1, 2)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.CSR"] = [==[
damo.sparse.CSR(damo.array {1, 2, 3}, damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.idx {2, 2})
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.CSM"] = [==[
damo.sparse.CSM {format = "csr"}(damo.array {1, 2, 3}, damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.idx {2, 2}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.Cast"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Cast {out_type = "float32"}(a):eval()
--> <csr float32 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.ConstructSparseFromList"] = [==[
damo.sparse.ConstructSparseFromList(damo.ones {3, 2}, damo.ones {1, 2}, damo.idx {2}):eval()
--> <csc float64 (3, 2), 2 stored>
      (2, 1)  1.0
      (2, 2)  1.0]==],
  ["damo.sparse.Diagonal"] = [==[
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.Diagonal {k = 1}(b):eval()
--> [5.]]==],
  ["damo.sparse.PutDiagonal"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.PutDiagonal {k = 0}(damo.array {1, 2}, a):eval()
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  2.0]==],
  ["damo.sparse.SameShape"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SameShape(a, a, 2, 2):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.FactorDet"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorDet(damo.sparse.Factorize(a)):eval()
--> 3.0]==],
  ["damo.sparse.FactorRcond"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorRcond(damo.sparse.Factorize(a)):eval()
--> 0.2]==],
  ["damo.sparse.FactorLogdet"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorLogdet(damo.sparse.Factorize(a)):eval()
--> 1.0986122886681]==],
  ["damo.sparse.FactorSolve"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorSolve(damo.sparse.Factorize(a), damo.array {1, 2}):eval()
--> [1. 0.]]==],
  ["damo.sparse.FactorInverse"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorInverse(damo.sparse.Factorize(a), a):eval()
--> [1.         0.         0.33333333]]==],
  ["damo.sparse.FactorLeast"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorLeast(damo.sparse.FactorizeQR(a), damo.array {1, 2}):eval()
--> [1.00000000e+00 1.65502277e-16]]==],
  ["damo.sparse.GetItem2ListsGrad"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItem2ListsGrad(a, damo.idx {2, 1}, damo.idx {2, 1}, damo.array {1, 2}):eval()
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  2.0
      (2, 2)  1.0]==],
  ["damo.sparse.GetItemListGrad"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItemListGrad(a, damo.idx {2, 1}, a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  2.0
      (1, 2)  3.0
      (2, 1)  1.0]==],
  ["damo.sparse.Permute"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Permute(a, damo.idx {2, 1}, damo.idx {2, 1}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 2)  2.0
      (1, 1)  3.0
      (2, 2)  1.0]==],
  ["damo.sparse.WithData"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.WithData(a, damo.array {5, 6, 7}):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  5.0
      (2, 1)  6.0
      (2, 2)  7.0]==],
  ["damo.sparse.SpExtremum"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SpExtremum {kind = "max"}(a):eval()
--> 3.0]==],
  ["damo.sparse.SparseFromDense"] = [==[
damo.sparse.SparseFromDense {format = "csr"}(damo.array {{1, 2}, {3, 4}}):eval()
--> <csr float64 (2, 2), 4 stored>
      (1, 1)  1.0
      (1, 2)  2.0
      (2, 1)  3.0
      (2, 2)  4.0]==],
  ["damo.sparse.ToFormat"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.ToFormat {format = "csc"}(a):eval()
--> <csc float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  2.0
      (2, 2)  3.0]==],
  ["damo.sparse.StructuredDotGradCSR"] = [==[
damo.sparse.StructuredDotGradCSR(damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.array {{1, 2}, {3,
  4}}, damo.array {{1, 2}, {3, 4}}):eval()
--> [ 5. 11. 25.]]==],
  ["damo.sparse.StructuredDotGradCSC"] = [==[
damo.sparse.StructuredDotGradCSC(damo.idx {0, 1, 1}, damo.idx {0, 2, 3}, damo.array {{1, 2}, {3,
  4}}, damo.array {{1, 2}, {3, 4}}):eval()
--> [ 5. 11. 25.]]==],
  ["damo.sparse.UsmmCsrDense"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.UsmmCsrDense(damo.constant(2.0), a, damo.array {{1, 2}, {3, 4}}, damo.array {{1, 2}, {3, 4}}):eval()
--> [[ 3.  6.]
     [25. 36.]]]==],
  ["damo.sparse.Poisson"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.Poisson {}(a).type.format
--> csr]==],
  ["damo.sparse.GetItem2d"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItem2d(a, 1, 1, 1, 1, 2, 1):eval()
--> <csr float64 (1, 2), 1 stored>
      (1, 1)  1.0]==],
  ["damo.sparse.CSMGrad"] = [==[
damo.sparse.CSMGrad(damo.array {1, 2, 3}, damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.idx {2, 2},
  damo.array {1, 2, 3}, damo.idx {0, 0, 1}, damo.idx {0, 1, 3}, damo.idx {2, 2}):eval()
--> [1. 2. 3.]]==],
  ["damo.sparse.BlockMatrix"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.BlockMatrix {rows = {1, 1}, cols = {1, 2}, format = "csr"}(a, b):eval()
--> <csr float64 (2, 4), 6 stored>
      (1, 1)  1.0
      (1, 3)  4.0
      (1, 4)  5.0
      (2, 1)  2.0
      (2, 2)  3.0
      (2, 4)  6.0]==],
  ["damo.sparse.SparseZeros"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SparseZeros {dtype = "float64"}(a):eval()
--> <csr float64 (2, 2), 0 stored>]==],
  ["damo.sparse.UsmmCscDense"] = [==[
local c = damo.sparse.csc {{1, 0}, {2, 3}}
damo.sparse.UsmmCscDense(damo.constant(2.0), c, damo.array {{1, 2}, {3, 4}}, damo.array {{1, 2}, {3, 4}}):eval()
--> [[ 3.  6.]
     [25. 36.]]]==],
  ["damo.sparse.SpSumGrad"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SpSumGrad {axis = 1}(damo.array {1, 2}, a):eval()
--> <csr float64 (2, 2), 3 stored>
      (1, 1)  1.0
      (2, 1)  1.0
      (2, 2)  2.0]==],
  ["damo.sparse.SparseSplit"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.SparseSplit {axis = 1, n = 2}(a, 1, 1):eval()
--> <csr float64 (1, 2), 1 stored>
      (1, 1)  1.0]==],
  ["damo.sparse.StructuredDotGrad"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
local b = damo.sparse.csr {{4, 5}, {0, 6}}
damo.sparse.StructuredDotGrad(a, b, b):eval()
--> [41. 30. 36.]]==],
  ["damo.sparse.GetItem2dGrad"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.GetItem2dGrad(a, damo.sparse.csr {{1, 0}}, 1, 1, 1, 1, 2, 1):eval()
--> <csr float64 (2, 2), 1 stored>
      (1, 1)  1.0]==],
  ["damo.sparse.FactorSandwich"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorSandwich(damo.sparse.Factorize(a), a, a, a):eval()
--> [1.         0.         0.33333333]]==],
  ["damo.sparse.FactorColumns"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorColumns {minimum_norm = true}(damo.sparse.Factorize(a), a):eval()
--> <csr float64 (2, 0), 0 stored>]==],
  ["damo.sparse.Binomial"] = [==[
damo.sparse.Binomial {}(damo.random_shared(damo.random_state(1)), 10, 0.5, {2, 2}):eval()
--> [10451216379200822465                    5                    0]]==],
  ["damo.sparse.EyeLike"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.EyeLike(2.5, a):eval()
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  2.5
      (2, 2)  2.5]==],
  ["damo.sparse.Multinomial"] = [==[
damo.sparse.Multinomial {}(5, damo.sparse.csr {{0.5, 0.5}, {0, 1}}).type
--> SparseTensorType(csr, float64, shape=(2, 2))]==],
  ["damo.sparse.FactorBeside"] = [==[
damo.sparse.FactorBeside(damo.eye(2), damo.eye(2), damo.eye(2)):eval()
--> [[1. 0. 1. 0. 1. 0.]
     [0. 1. 0. 1. 0. 1.]]]==],
  ["damo.sparse.FactorColumnsBack"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorColumnsBack {minimum_norm = true}(damo.sparse.Factorize(a), damo.ones {2, 1}, damo.ones {2, 1}):eval()
--> [[0.]
     [0.]]]==],
  ["damo.sparse.FactorGap"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorGap {minimum_norm = true}(damo.sparse.Factorize(a), a, damo.ones {2}, damo.ones {2}):eval()
--> []]==],
  ["damo.sparse.FactorLeastAdjoint"] = [==[
local a = damo.sparse.csr {{1, 0}, {2, 3}}
damo.sparse.FactorLeastAdjoint(damo.sparse.FactorizeQR(a), a, damo.ones {2}):eval()
--> [0.33333333 0.33333333]]==],
}
