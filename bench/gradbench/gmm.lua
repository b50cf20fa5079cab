-- gmm: the log likelihood of points under a mixture of normal distributions whose inverse covariances have the factors
-- Q, with a Wishart prior, and its gradient in all parameters. The diagonal of Q is exp(q), what is below it is l.

local damo = require "damo"

--- The logarithm of the multivariate gamma function of dimension d.
local function log_gamma(a, d)
  local total = d * (d - 1) / 4 * math.log(math.pi)
  for j = 1, d do total = total + damo.gammaln(a + (1 - j) / 2) end
  return total
end

--- The Functions of (alpha, mu, q, l, x) for points of d coordinates and a mixture of k; gamma, m: the prior's.
local function compiled(d, k, gamma, m)
  local alpha, mu, q, l, x =
    damo.dvector "alpha", damo.dmatrix "mu", damo.dmatrix "q", damo.dmatrix "l", damo.dmatrix "x"
  local diagonal, sums = damo.exp(q), damo.sum(q, { axis = 2 })
  -- Q, an entry for each (row, column): l counts them down one column after the other.
  local rows, columns, all = {}, {}, {}
  for column = 1, d do
    all[column] = column
    for row = column + 1, d do rows[#rows + 1], columns[#columns + 1] = row, column end
  end
  local each = damo.idx(all)
  local factors = damo.constant(damo.zeros { k, d, d })
  factors = damo.set_subtensor(factors[{ {}, each, each }], diagonal)
  factors = damo.set_subtensor(factors[{ {}, damo.idx(rows), damo.idx(columns) }], l)
  -- Q (x - mu) for all points and all of the mixture by one product of matrices.
  local flat = factors:reshape { k * d, d }
  local centres = damo.sum(factors * mu:reshape { k, 1, d }, { axis = 3 }):reshape { 1, k, d }
  local scaled = damo.dot(x, flat.T):reshape { -1, k, d } - centres
  local terms = alpha + sums - 0.5 * damo.sum(damo.sqr(scaled), { axis = 3 })
  local function logsumexp(v, axis)
    local top = damo.max(v, { axis = axis, keepdims = true })
    -- Terms below exp(-600) of the largest change no digit, but their gradients would be subnormal, which is slow.
    local shifted = damo.maximum(v - top, -600)
    return damo.log(damo.sum(damo.exp(shifted), { axis = axis })) + damo.sum(top, { axis = axis })
  end
  local n = x.shape[1]
  local likelihood = damo.sum(logsumexp(terms, 2)) - n * logsumexp(alpha, 1) - n * (d / 2 * math.log(2 * math.pi))
  local freedom = d + m + 1
  local constant = k * (freedom * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma(0.5 * freedom, d))
  local squares = damo.sum(damo.sqr(diagonal)) + damo.sum(damo.sqr(l))
  local prior = constant - 0.5 * gamma ^ 2 * squares + m * damo.sum(sums)
  local objective = likelihood + prior
  local inputs = { alpha, mu, q, l, x }
  return { objective = damo.compile(inputs, objective),
    jacobian = damo.compile(inputs, damo.grad(objective, { alpha, mu, q, l })) }
end

local function prepared(name, answer)
  return function(input)
    local f = compiled(input.d, input.k, input.gamma, input.m)[name]
    local alpha, mu, q, l = damo.array(input.alpha), damo.array(input.mu), damo.array(input.q), damo.array(input.l)
    local x = damo.array(input.x)
    return function() return f(alpha, mu, q, l, x) end, answer
  end
end

return {
  objective = prepared "objective",
  jacobian = prepared("jacobian", function(alpha, mu, q, l)
    return { alpha = alpha:totable(), mu = mu:totable(), q = q:totable(), l = l:totable() }
  end),
}
