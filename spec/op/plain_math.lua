-- Reference values in plain Lua, accurate to about 1e-13, with which the rows compare the kernels.
local M = {}

local exp, log, sqrt, floor, pi = math.exp, math.log, math.sqrt, math.floor, math.pi
local inf, nan = math.huge, 0 / 0

function M.sinh(x) return (exp(x) - exp(-x)) / 2 end
function M.cosh(x) return (exp(x) + exp(-x)) / 2 end
function M.tanh(x) return M.sinh(x) / M.cosh(x) end
function M.arcsinh(x) return x < 0 and -log(-x + sqrt(x * x + 1)) or log(x + sqrt(x * x + 1)) end
function M.arccosh(x) return log(x + sqrt(x * x - 1)) end
function M.arctanh(x) return log((1 + x) / (1 - x)) / 2 end
function M.sigmoid(x) return 1 / (1 + exp(-x)) end

function M.sign(x) return x > 0 and 1 or x < 0 and -1 or x end
function M.trunc(x) return x < 0 and -floor(-x) or floor(x) end
function M.half_away(x) return x < 0 and -floor(-x + 0.5) or floor(x + 0.5) end

function M.half_even(x)
  local low = floor(x)
  local rest = x - low
  if rest < 0.5 or (rest == 0.5 and low % 2 == 0) then return low end
  return low + 1
end

--- The sum term(0) + term(1) + …, where term(k) = term(k - 1) * ratio(k), until a term no longer changes it.
local function series(first, ratio)
  local sum, term = first, first
  for k = 1, 500 do
    term = term * ratio(k)
    sum = sum + term
    if math.abs(term) < 1e-18 * math.abs(sum) then break end
  end
  return sum
end

function M.erf(x)
  return 2 / sqrt(pi) * x * exp(-x * x) * series(1, function(k) return 2 * x * x / (2 * k + 1) end)
end

--- erfc, by its continued fraction where 1 - erf would lose digits.
function M.erfc(x)
  if x < 2 then return 1 - M.erf(x) end
  local f = 0
  for k = 200, 1, -1 do f = k / 2 / (x + f) end
  return exp(-x * x) / sqrt(pi) / (x + f)
end

function M.erfcx(x) return exp(x * x) * M.erfc(x) end

--- y with f(y) = x, by Newton's method.
local function inverse(f, slope, x, y)
  for _ = 1, 60 do y = y - (f(y) - x) / slope(y) end
  return y
end

local function bell(y) return 2 / sqrt(pi) * exp(-y * y) end
function M.erfinv(x) return inverse(M.erf, bell, x, 0) end
function M.erfcinv(x) return M.erfinv(1 - x) end

--- log gamma for x > 0: Stirling's series after increasing x by the recurrence.
function M.gammaln(x)
  local shift = 0
  while x < 15 do
    shift = shift + log(x)
    x = x + 1
  end
  local u = 1 / (x * x)
  local tail = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x
  return (x - 0.5) * log(x) - x + log(2 * pi) / 2 + tail - shift
end

function M.gamma(x)
  if x > 0 then return exp(M.gammaln(x)) end
  return pi / (math.sin(pi * x) * exp(M.gammaln(1 - x)))
end

function M.psi(x)
  local shift = 0
  while x < 15 do
    shift = shift + 1 / x
    x = x + 1
  end
  local u = 1 / (x * x)
  return log(x) - 0.5 / x - u * (1 / 12 - u * (1 / 120 - u * (1 / 252 - u * (1 / 240 - u / 132)))) - shift
end

function M.tri_gamma(x)
  local shift = 0
  while x < 20 do
    shift = shift + 1 / x ^ 2
    x = x + 1
  end
  local u = 1 / (x * x)
  return 1 / x + u / 2 + (u / x) * (1 / 6 - u * (1 / 30 - u * (1 / 42 - u * (1 / 30 - u * 5 / 66)))) + shift
end

function M.tetra_gamma(x)
  local shift = 0
  while x < 25 do
    shift = shift - 2 / x ^ 3
    x = x + 1
  end
  local u = 1 / (x * x)
  return -u - u / x - u * u * (1 / 2 - u * (1 / 6 - u * (1 / 6 - u * (3 / 10 - u * 5 / 6)))) + shift
end

function M.i0(x) return series(1, function(k) return (x / 2) ^ 2 / k ^ 2 end) end
function M.i1(x) return x / 2 * series(1, function(k) return (x / 2) ^ 2 / (k * (k + 1)) end) end
function M.j0(x) return series(1, function(k) return -(x / 2) ^ 2 / k ^ 2 end) end
function M.j1(x) return x / 2 * series(1, function(k) return -(x / 2) ^ 2 / (k * (k + 1)) end) end

M.inf, M.nan = inf, nan
return M
