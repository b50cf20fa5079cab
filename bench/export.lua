-- Times exported C (f:export_c) against the C that CasADi generates of the same models: values, gradients and products
-- with the Hessian of chains of springs of several lengths and of Rosenbrock's function, a cart with a pendulum and its
-- Jacobian, a small network, and the gradient of a rolled-out oscillator. lua5.4 bench/export.lua [python]; without a
-- Python that has casadi, damo's alone. Prints nanoseconds of a call (processor time, the least of 41), bytes of
-- source, and the seconds that the compiler takes.
local damo = require "damo"

local dir = os.tmpname()
os.remove(dir)
assert(os.execute("mkdir " .. dir))
local unpack = table.unpack or unpack -- luacheck: ignore

local x, v, s = damo.dvector "x", damo.dvector "v", damo.dvector "s"

-- The energy of springs between neighbours, with a cubic term and a sine at each end.
local function energy(q)
  local d = q[{ { 2 } }] - q[{ { 1, -2 } }]
  return damo.sum(0.5 * d * d + 0.1 * d * d * d * d) + damo.sum(damo.cos(q))
end

local function rollout(state, steps)
  local q, p = state[1], state[2]
  local last, _ = damo.scan(function(a, b)
    local c = b - 0.01 * damo.sin(a)
    return { a + 0.01 * c, c }
  end, { outputs_info = { q, p }, n_steps = steps })
  return damo.sqr(last[-1])
end

local w1, w2, b1, u = damo.dmatrix "w1", damo.dmatrix "w2", damo.dvector "b1", damo.dvector "u"

local function rosenbrock(q)
  local head, tail = q[{ { 1, -2 } }], q[{ { 2 } }]
  return damo.sum(100 * damo.sqr(tail - damo.sqr(head)) + damo.sqr(1 - head))
end

-- A cart with a pendulum: position, angle, and their speeds; the force is u[1].
local function cart(q, force)
  local angle, speed, spin = q[2], q[3], q[4]
  local sine, cosine = damo.sin(angle), damo.cos(angle)
  local mass = 1 + 0.1 * sine * sine
  local push = force + 0.05 * sine * spin * spin
  return damo.stack { speed, spin, (push + 0.981 * sine * cosine) / mass,
    -(push * cosine + 10.791 * sine) / (0.5 * mass) }
end

-- A step of Runge and Kutta's method of the fourth order.
local function step(q, force)
  local h = 0.02
  local k1 = cart(q, force)
  local k2 = cart(q + 0.5 * h * k1, force)
  local k3 = cart(q + 0.5 * h * k2, force)
  local k4 = cart(q + h * k3, force)
  return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
end

local function network()
  return damo.sum(damo.sqr(damo.dot(w2, damo.tanh(damo.dot(w1, x) + b1)) - u))
end

local cases = {}
local function case(...) cases[#cases + 1] = { ... } end

for _, n in ipairs { 6, 30, 100, 1000 } do
  case("chain_gradient_" .. n, { x }, damo.grad(energy(x), x), { { n } })
  case("chain_product_" .. n, { x, v }, damo.grad(damo.sum(damo.grad(energy(x), x) * v), x), { { n }, { n } })
end
for _, n in ipairs { 10, 100 } do
  case("rosenbrock_value_" .. n, { x }, rosenbrock(x), { { n } })
  case("rosenbrock_gradient_" .. n, { x }, damo.grad(rosenbrock(x), x), { { n } })
end
case("cart", { x, u }, cart(x, u[1]), { { 4 }, { 1 } })
case("cart_step", { x, u }, step(x, u[1]), { { 4 }, { 1 } })
case("cart_step_gradient", { x, u, v }, damo.grad(damo.sum(step(x, u[1]) * v), x), { { 4 }, { 1 }, { 4 } })
case("cart_step_jacobian", { x, u }, damo.jacobian(step(x, u[1]), x), { { 4 }, { 1 } })
case("network_gradient", { x, u, w1, b1, w2 }, damo.grad(network(), w1), { { 6 }, { 3 }, { 16, 6 }, { 16 }, { 3, 16 } })
case("rollout_gradient", { s }, damo.grad(rollout(s, 200), s), { { 2 } })

local function size(path)
  local f = io.open(path, "rb")
  local n = f and f:seek "end"
  if f then f:close() end
  return n
end

local function write(path, text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

local timing = [[
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <math.h>
%s
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
int main(void) {
  static double in[5][1000], out[1000];
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 1000; i++) in[k][i] = sin((k + 1.7) * i + k);
%s
  double best[41];
  for (int k = 0; k < 41; k++) {
    const double from = now();
    for (int i = 0; i < %d; i++) {
      %s
    }
    best[k] = (now() - from) / %d;
  }
  qsort(best, 41, sizeof *best, by_value);
  double sum = 0;
  for (int i = 0; i < %d; i++) sum += out[i] * (i %% 7 + 1);
  printf("%%.1f %%.17g\n", best[0], sum);
  return 0;
}
]]

local function seconds(command)
  local from = damo.clock()
  assert(os.execute(command))
  return (damo.clock() - from) * 1e-9
end

-- Compiles and runs a program; returns nanoseconds, a sum of results, and the compiler's seconds.
local function run(name, sources, text)
  write(dir .. "/" .. name .. "_main.c", text)
  local took = seconds(("cd %s && cc -std=gnu99 -O2 -w -o %s %s %s_main.c -lm"):format(dir, name, sources, name))
  local pipe = io.popen(dir .. "/" .. name)
  local ns, sum = pipe:read("*l"):match "(%S+) (%S+)"
  pipe:close()
  return tonumber(ns), tonumber(sum), took
end

local python = arg and arg[1]
if python then
  local here = arg[0]:match "^(.*/)" or "./"
  if not os.execute(("%s %sexport_peers.py %s"):format(python, here, dir)) then python = nil end
end

print(("%-24s %12s %12s %8s %12s %12s %10s %10s"):format("", "damo ns", "casadi ns", "ratio", "damo bytes",
  "casadi bytes", "damo s", "casadi s"))
for _, c in ipairs(cases) do
  local name, shapes, n_out = c[1], c[4], 1
  local f = damo.compile(c[2], c[3])
  local inputs = {}
  for i, shape in ipairs(shapes) do inputs[i] = damo.zeros(shape) end
  local result = f(unpack(inputs))
  for _, n in ipairs(type(result) == "number" and {} or result.shape) do n_out = n_out * n end
  f:export_c { name = name, dir = dir, shapes = shapes }
  local calls = math.max(400, math.floor(4e5 / n_out / (name:find "rollout" and 200 or 1)))
  local ns, sum, took = run(name .. "_damo", name .. ".c", timing:format('#include "' .. name .. '.h"', ([[
  const void *args[] = {in[0], in[1], in[2], in[3], in[4]};
  void *results[] = {out};
  void *state = malloc(%s_state_size() + 1), *work = malloc(%s_work_size() + 1);
  if (%s_state_init(state, NULL) != 0) return 1;]]):format(name, name, name), calls,
    name .. "(args, results, state, NULL, work);", calls, n_out))
  local row = { name, ns, 0 / 0, 0 / 0, size(dir .. "/" .. name .. ".c"), 0 / 0, took, 0 / 0 }
  if python then
    local peer = name .. "_casadi"
    local peer_ns, peer_sum, peer_took = run(peer .. "_run", peer .. ".c", timing:format(([[
int %s(const double **arg, double **res, long long *iw, double *w, int mem);
int %s_work(long long *, long long *, long long *, long long *);]]):format(peer, peer), ([[
  long long a, r, i, w;
  if (%s_work(&a, &r, &i, &w) != 0) return 1;
  const double **args = malloc((a + 6) * sizeof *args);
  double **results = malloc((r + 1) * sizeof *results), *work = malloc((w + 1) * sizeof *work);
  long long *integers = malloc((i + 1) * sizeof *integers);]]):format(peer), calls,
      ([[for (int k = 0; k < 5; k++) args[k] = in[k];
      results[0] = out;
      %s(args, results, integers, work, 0);]]):format(peer), calls, n_out))
    assert(math.abs(sum - peer_sum) <= 1e-9 * (1 + math.abs(sum)), name .. ": the results differ")
    row[3], row[4], row[6], row[8] = peer_ns, ns / peer_ns, size(dir .. "/" .. peer .. ".c"), peer_took
  end
  print(("%-24s %12.0f %12.0f %8.2f %12.0f %12.0f %10.2f %10.2f"):format(unpack(row)))
end
os.execute("rm -r " .. dir)
