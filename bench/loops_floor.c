/* loops_floor: the plain C loops of the benchmark of loops over time, one for each case, as a Lua module
 * (floor_case.h). */
#include <stdlib.h>

#include "floor_case.h"

/* ---- Lorenz ------------------------------------------------------------------------------------------------------ */

/* in[0]: sigma, rho, beta, the step; in[1]: the state. n Euler steps; states, if not NULL, gets that before each. */
static void lorenz_steps(double *s, const double *const *in, int64_t n, double *states) {
  const double sigma = in[0][0], rho = in[0][1], beta = in[0][2], dt = in[0][3];
  double x = in[1][0], y = in[1][1], z = in[1][2];
  for (int64_t t = 0; t < n; t++) {
    if (states) {
      states[3 * t] = x;
      states[3 * t + 1] = y;
      states[3 * t + 2] = z;
    }
    const double dx = sigma * (y - x), dy = x * (rho - z) - y, dz = x * y - beta * z;
    x += dt * dx;
    y += dt * dy;
    z += dt * dz;
  }
  s[0] = x;
  s[1] = y;
  s[2] = z;
}

static void lorenz(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  lorenz_steps(out, in, n, NULL);
}

/* The last x, and its derivatives in sigma, rho and beta. */
static void lorenz_gradient(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  double *states = malloc((size_t)n * 3 * sizeof *states), last[3];
  if (states == NULL) return;
  lorenz_steps(last, in, n, states);
  const double sigma = in[0][0], rho = in[0][1], beta = in[0][2], dt = in[0][3];
  double gx = 1, gy = 0, gz = 0, g_sigma = 0, g_rho = 0, g_beta = 0;
  for (int64_t t = n - 1; t >= 0; t--) {
    const double x = states[3 * t], y = states[3 * t + 1], z = states[3 * t + 2];
    const double hx = dt * gx, hy = dt * gy, hz = dt * gz;
    g_sigma += hx * (y - x);
    g_rho += hy * x;
    g_beta -= hz * z;
    gx += hy * (rho - z) + hz * y - hx * sigma;
    gy += hx * sigma + hz * x - hy;
    gz += -hy * x - hz * beta;
  }
  out[0] = last[0];
  out[1] = g_sigma;
  out[2] = g_rho;
  out[3] = g_beta;
  free(states);
}

/* ---- A recurrent network ----------------------------------------------------------------------------------------- */

enum { UNITS = 64 };

/* out += x A, for a row x and a matrix of UNITS columns: sums stay in registers. */
static inline void add_row_product(double *restrict out, const double *restrict x, const double *restrict a) {
  double sum[UNITS];
  for (int j = 0; j < UNITS; j++) sum[j] = out[j];
  for (int k = 0; k < UNITS; k++)
    for (int j = 0; j < UNITS; j++) sum[j] += x[k] * a[k * UNITS + j];
  for (int j = 0; j < UNITS; j++) out[j] = sum[j];
}

/* h[t + 1] = tanh(h[t] W + x[t] U); in: x, h0, W, U. h has n + 1 rows. */
static void rnn_steps(double *h, const double *const *in, int64_t n) {
  memcpy(h, in[1], UNITS * sizeof *h);
  for (int64_t t = 0; t < n; t++) {
    double *next = h + (t + 1) * UNITS;
    memset(next, 0, UNITS * sizeof *next);
    add_row_product(next, in[0] + t * UNITS, in[3]);
    add_row_product(next, h + t * UNITS, in[2]);
    for (int j = 0; j < UNITS; j += W) {
      const V v = *(const vec *)(next + j);
      *(vec *)(next + j) = VEC(tanh)(v);
    }
  }
}

static double sum_of_squares(const double *x) {
  double sum = 0;
  for (int j = 0; j < UNITS; j++) sum += x[j] * x[j];
  return sum;
}

static void rnn(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  double *h = malloc((size_t)(n + 1) * UNITS * sizeof *h);
  if (h == NULL) return;
  rnn_steps(h, in, n);
  out[0] = sum_of_squares(h + n * UNITS);
  free(h);
}

/* A' D, for matrices of n rows. */
static void outer_products(double *restrict out, const double *restrict a, const double *restrict d, int64_t n) {
  for (int k = 0; k < UNITS; k++) {
    double sum[UNITS] = {0};
    for (int64_t t = 0; t < n; t++)
      for (int j = 0; j < UNITS; j++) sum[j] += a[t * UNITS + k] * d[t * UNITS + j];
    memcpy(out + k * UNITS, sum, sizeof sum);
  }
}

/* The sum of squares of the last state, and its derivatives in W and U. */
static void rnn_gradient(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  double *h = malloc((size_t)(2 * n + 1) * UNITS * sizeof *h), *d = h + (n + 1) * UNITS;
  if (h == NULL) return;
  double transposed[UNITS * UNITS], g[UNITS];
  for (int k = 0; k < UNITS; k++)
    for (int j = 0; j < UNITS; j++) transposed[j * UNITS + k] = in[2][k * UNITS + j];
  rnn_steps(h, in, n);
  out[0] = sum_of_squares(h + n * UNITS);
  for (int j = 0; j < UNITS; j++) g[j] = 2 * h[n * UNITS + j];
  for (int64_t t = n - 1; t >= 0; t--) {
    double *dt = d + t * UNITS;
    const double *after = h + (t + 1) * UNITS;
    for (int j = 0; j < UNITS; j++) dt[j] = g[j] * (1 - after[j] * after[j]);
    memset(g, 0, sizeof g);
    add_row_product(g, dt, transposed);
  }
  outer_products(out + 1, h, d, n);
  outer_products(out + 1 + UNITS * UNITS, in[0], d, n);
  free(h);
}

/* ---- A system of linear equations in time ------------------------------------------------------------------------ */

enum { STATES = 10 };

/* out = A x. */
static inline void rate(double *restrict out, const double *restrict a, const double *restrict x) {
  for (int i = 0; i < STATES; i++) {
    double sum = 0;
    for (int j = 0; j < STATES; j++) sum += a[i * STATES + j] * x[j];
    out[i] = sum;
  }
}

/* The sum of the last state of x' = A x after n steps of the classical Runge-Kutta rule; in: A, x0, the step. */
static void runge_kutta(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  const double *a = in[0], h = in[2][0];
  double x[STATES], k1[STATES], k2[STATES], k3[STATES], k4[STATES], y[STATES], sum = 0;
  memcpy(x, in[1], sizeof x);
  for (int64_t t = 0; t < n; t++) {
    rate(k1, a, x);
    for (int i = 0; i < STATES; i++) y[i] = x[i] + h / 2 * k1[i];
    rate(k2, a, y);
    for (int i = 0; i < STATES; i++) y[i] = x[i] + h / 2 * k2[i];
    rate(k3, a, y);
    for (int i = 0; i < STATES; i++) y[i] = x[i] + h * k3[i];
    rate(k4, a, y);
    for (int i = 0; i < STATES; i++) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  for (int i = 0; i < STATES; i++) sum += x[i];
  out[0] = sum;
}

/* ---- Newton's square root ---------------------------------------------------------------------------------------- */

static void newton(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)n, (void)m;
  const double a = in[0][0];
  double x = a;
  while (fabs(x * x - a) > 1e-12) x = (x + a / x) / 2;
  out[0] = x;
}

static const floor_case floor_cases[] = {{"lorenz", lorenz},
                                         {"lorenz_gradient", lorenz_gradient},
                                         {"rnn", rnn},
                                         {"rnn_gradient", rnn_gradient},
                                         {"runge_kutta", runge_kutta},
                                         {"newton", newton}};

int luaopen_loops_floor(lua_State *L);

int luaopen_loops_floor(lua_State *L) { return floor_module(L, floor_cases, sizeof floor_cases / sizeof *floor_cases); }
