-- hmc.lua: Hamiltonian Monte Carlo of a hierarchical model, the eight schools of D. B. Rubin, "Estimation in parallel
-- randomized experiments" (1981): the effect of coaching in each school, its standard error, and what they have in
-- common. The density comes from damo.dist; a transition of all chains, with its draws, is one compiled function.
--
--     lua5.4 examples/hmc.lua [draws] [folder for the pictures]
--
-- Pictures: pictures/hmc_mu.png, draws of the mean effect by four chains; and the same of tau.

local damo = require "damo"
local dist = damo.dist

local draws = tonumber(arg[1]) or 2000
local results = arg[2] or io.popen("mktemp -d"):read "*l" -- a new, private folder

local effect = damo.array { 28.0, 8, -3, 7, -1, 1, 18, 12 }
local error_of = damo.array { 15.0, 10, 16, 11, 9, 11, 10, 18 }
local schools, chains, leaps, warmup = 8, 4, 15, 500

-- ---- The model ----------------------------------------------------------------------------------------------------

-- A row of q is a chain: mu, log tau, and the schools' effects in units of tau about mu, which are independent of both
-- under the prior.
local function log_posterior(q)
  local mu, log_tau, eta = q[{ {}, { 1, 1 } }], q[{ {}, { 2, 2 } }], q[{ {}, { 3, -1 } }]
  local tau = damo.exp(log_tau)
  local prior = dist.Normal(0, 5):logp(mu) + dist.HalfCauchy(0, 5):logp(tau) + log_tau
  local schools_logp = dist.Normal(0, 1):logp(eta) + dist.Normal(mu + tau * eta, error_of):logp(effect)
  return damo.sum(prior, { axis = 2 }) + damo.sum(schools_logp, { axis = 2 })
end

-- ---- The transition -----------------------------------------------------------------------------------------------

local rs = damo.random.RandomStream(1981)
damo.random.seed(1981)
local state = damo.shared(damo.random.normal(0, 1, { size = { chains, 2 + schools } }), "q")
local step_size = damo.dscalar "step_size"

local function slope(q) return damo.grad(damo.sum(log_posterior(q)), q) end

-- Leapfrog steps of the motion whose potential is -log_posterior.
local momentum = rs:normal(0, 1, { size = { chains, 2 + schools } })
local q_path, p_path = damo.scan(function(q, p)
  p = p + step_size / 2 * slope(q)
  q = q + step_size * p
  return q, p + step_size / 2 * slope(q)
end, { outputs_info = { state, momentum }, n_steps = leaps })
local q, p = q_path[-1], p_path[-1]

local function energy(at, m) return damo.sum(m * m, { axis = 2 }) / 2 - log_posterior(at) end

local accept = damo.minimum(damo.exp(energy(state, momentum) - energy(q, p)), 1)
accept = damo.where(damo.isnan(accept), 0.0, accept)
local taken = damo.lt(rs:uniform(0, 1, { size = { chains } }), accept)
local moved = damo.where(taken:dimshuffle { 1, "x" }, q, state)
local transition = damo.compile({ step_size }, { moved, damo.mean(accept) }, { updates = { [state] = moved } })

-- ---- The chains ---------------------------------------------------------------------------------------------------

local start = os.clock()
local log_step, kept, accepted = math.log(0.1), {}, 0
for i = 1, warmup + draws do
  local at, rate = transition(math.exp(log_step))
  if i <= warmup then
    log_step = log_step + (rate - 0.8) / i ^ 0.6 -- towards a rate of 0.8
  else
    kept[i - warmup], accepted = at, accepted + rate / draws
  end
end
local seconds = os.clock() - start

-- The draws of a function of q: a row a chain.
local all = damo.stack(kept) -- draws, chains, parameters
local mu, tau = all[{ {}, {}, 1 }].T, damo.exp(all[{ {}, {}, 2 }]).T

-- How much the variance of all draws exceeds that within chains (A. Gelman, D. B. Rubin, 1992): near 1 where the chains
-- have mixed.
local function reduction(x)
  local within = damo.mean(damo.var(x, { axis = 2, ddof = 1 }))
  local between = damo.var(damo.mean(x, { axis = 2 }), { ddof = 1 })
  return math.sqrt((draws - 1) / draws + between / within)
end

print(("hmc: %d chains of %d draws after %d, %d leaps of %.3f, %.2f accepted, %.2f s"):format(chains, draws, warmup,
  leaps, math.exp(log_step), accepted, seconds))
local report = "hmc: %s %.2f, standard deviation %.2f, chains' variance ratio %.3f"
print(report:format("mu", damo.mean(mu), damo.std(mu), reduction(mu)))
print(report:format("tau", damo.mean(tau), damo.std(tau), reduction(tau)))
local theta = all[{ {}, {}, { 1, 1 } }] + damo.exp(all[{ {}, {}, { 2, 2 } }]) * all[{ {}, {}, { 3, -1 } }]
print("hmc: effects " .. tostring(damo.mean(theta, { axis = { 1, 2 } })))

-- Traces of the first 500 draws.
local function picture(name, x, title, logy)
  local traces, few = {}, math.min(draws, 500)
  for c = 1, chains do traces[c] = { name = "chain " .. c, y = x[c][{ { 1, few } }] } end
  print("hmc: picture " .. damo.plot.lines(traces, {
    title = title, xlabel = "draw", ylabel = name, logy = logy, path = ("%s/hmc_%s.png"):format(results, name),
  }))
end
picture("mu", mu, "Mean effect, four chains")
picture("tau", tau, "Standard deviation between schools, four chains", true)
