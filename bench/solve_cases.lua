-- solve_cases.lua: benchmark cases of sparse systems, compared with direct calls of CHOLMOD and KLU (solve_floor.c).

local damo = require "damo"
local have_floor, floor = pcall(require, "solve_floor")
local unpack = table.unpack or unpack -- luacheck: ignore
local sparse = damo.sparse

-- ---- Matrices -------------------------------------------------------------------------------------------------------

local here = arg[0]:match("^(.*)/") or "."

--- The Laplacian on a grid of k × k points.
local function laplacian(k)
  local T = sparse.diags({ { -1 }, { 2 }, { -1 } }, { -1, 0, 1 }, { shape = { k, k }, format = "csc" })
  local E = sparse.eye(k, { format = "csc" })
  return sparse.tocsc(sparse.kron(T, E) + sparse.kron(E, T))
end

local read = {
  laplacian300 = function() return laplacian(300) end,
  laplacian100 = function() return laplacian(100) end,
  bcsstk13 = function() return damo.io.read_mtx(here .. "/data/bcsstk13.mtx") end,
  bayer10 = function() return damo.io.read_mtx(here .. "/data/bayer10.mtx") end,
  adder_dcop_05 = function() return damo.io.read_mtx(here .. "/../spec/data/mtx/adder_dcop_05.mtx") end,
}

local function load_matrix(name)
  damo.random.seed(7)
  local A = sparse.tocsc(read[name]())
  local n = A.shape[1]
  local d = { A = A, other = A * 1.25, b = damo.random.normal(0, 1, { size = { n } }) }
  d.raw = { n, n, A.nnz, indptr = A.indptr:pointer(), indices = A.indices:pointer(), data = A.data:pointer() }
  return d
end

-- ---- Cases ----------------------------------------------------------------------------------------------------------

local a, b, g = sparse.csc_matrix "A", damo.dvector "b", damo.dvector "g"

local function timer(call)
  return function(n)
    local start = os.clock()
    for k = 1, n do call(k) end
    return os.clock() - start
  end
end

--- A function that calls f alternately with A's values and with others on the same pattern, then the further arguments.
local function in_turn(f, d, ...)
  local A, B = d.A, d.other
  local rest, odd = { ... }, true
  return function()
    odd = not odd
    return f(odd and A or B, unpack(rest))
  end
end

--- Solving a system: from scratch, with new values, and with a factor that exists.
local solves = {
  cold = function(d) return function() return sparse.solve(d.A, d.b) end end,
  new = function(d) return in_turn(damo.compile({ a, b }, sparse.solve(a, b)), d, d.b) end,
  kept = function(d)
    local F = sparse.factorize(d.A)
    local f = damo.compile({ b }, F:solve(b))
    return function() return f(d.b) end
  end,
}

local function make_solve(how, backend, d)
  local made = { damo = timer(solves[how](d)), total = function() return damo.sum(sparse.solve(d.A, d.b)) end }
  local by_hand = have_floor and floor[(backend or "") .. "_" .. how]
  if by_hand then made.floor = function(n) return by_hand(n, d.raw, d.b:pointer()) end end
  return made
end

--- The gradient for A and b when the solution is known. `value`, to which the time is compared: a solve with the factor
--- kept and A an input, as in the gradient, plus 1/1.6 of a pass over A's entries. So the target 1.6 allows 1.6 solves
--- and one pass.
local function make_gradient(d)
  local x = sparse.solve(a, b)
  local known = x.type "x"
  local slope = damo.grad(nil, { a, b }, { known_grads = { [x] = g } })
  local f = damo.compile({ a, b, known, g }, slope, { givens = { [x] = known }, on_unused_input = "ignore" })
  local forward = damo.compile({ a, b }, x)
  local value, solution = timer(function() forward(d.A, d.b) end), forward(d.A, d.b)
  return {
    damo = timer(function() f(d.A, d.b, solution, d.b) end),
    value = function(n)
      return value(n) + (have_floor and floor.pass(n, d.raw, d.b:pointer()) or 0) / 1.6
    end,
  }
end

--- log |det A| and its gradient with new values, compared with their factorization by direct calls.
local function make_logdet(d)
  local log = sparse.logdet(a)
  local f = damo.compile({ a }, { log, damo.grad(log, a) })
  local made = { damo = timer(in_turn(f, d)), total = function() return (f(d.A)) end }
  if have_floor and floor.chol_factor then
    made.floor = function(n) return floor.chol_factor(n, d.raw, d.b:pointer()) end
  end
  return made
end

local cases = {}

--- One case; its key is "MATRIX.HOW".
local function case(matrix, how, title, target, make)
  cases[#cases + 1] = { matrix = matrix, key = matrix .. "." .. how, title = title, target = target, make = make }
end

local function solve_case(matrix, backend, how, target)
  local titles = { cold = "solve, cold", new = "solve, new values", kept = "solve, kept factor" }
  case(matrix, how, titles[how], target, function(d) return make_solve(how, backend, d) end)
end

solve_case("laplacian300", "chol", "cold", { floor = 1.05, scipy = 0.6 })
solve_case("laplacian300", "chol", "new", { floor = 1.05, scipy = 0.45 })
solve_case("laplacian300", "chol", "kept", {})
case("laplacian300", "gradient", "gradient of solve, both", { value = 1.6 }, make_gradient)
solve_case("bcsstk13", "chol", "cold", { floor = 1.1, scipy = 0.45 })
solve_case("bcsstk13", "chol", "new", { floor = 1.1, scipy = 0.35 })
solve_case("bcsstk13", "chol", "kept", {})
case("bcsstk13", "gradient", "gradient of solve, both", { value = 1.6 }, make_gradient)
solve_case("bayer10", nil, "cold", { scipy = 1.1 })
solve_case("bayer10", nil, "new", { scipy = 0.4 })
solve_case("bayer10", nil, "kept", {})
case("bayer10", "gradient", "gradient of solve, both", { value = 1.6 }, make_gradient)
solve_case("adder_dcop_05", "klu", "cold", { floor = 1.15, scipy = 0.4 })
solve_case("adder_dcop_05", "klu", "new", { casadi = 0.08 })
solve_case("adder_dcop_05", "klu", "kept", { scipy = 0.3 })
case("adder_dcop_05", "gradient", "gradient of solve, both", { value = 1.6 }, make_gradient)
case("laplacian100", "logdet", "logdet with its gradient", { floor = 4 }, make_logdet)

local matrices, seen = {}, {}
for _, c in ipairs(cases) do
  if not seen[c.matrix] then matrices[#matrices + 1] = c.matrix end
  seen[c.matrix] = true
end

return { matrices = matrices, load = load_matrix, cases = cases }
