/* dense_floor: the plain C loops of the dense benchmark, one for each case, as a Lua module.
 *
 * dense_floor.NAME(times, out, {in…}, n, m) runs the case and returns the seconds. out and in are pointers to float64:
 * vectors of n elements or matrices of n rows and m columns. The loops are fused by hand and write into memory that is
 * there; transcendental functions are SLEEF's with an error of 1 ULP, in the longest vectors of the machine.
 */
#include "floor_case.h"

static double largest(const double *x, int64_t n) {
  double part[32], top = x[0];
  int64_t i = 0;
  for (int c = 0; c < 32; c++) part[c] = x[0];
  for (; i + 32 <= n; i += 32)
    for (int c = 0; c < 32; c++) part[c] = part[c] > x[i + c] ? part[c] : x[i + c];
  for (; i < n; i++) top = top > x[i] ? top : x[i];
  for (int c = 0; c < 32; c++) top = top > part[c] ? top : part[c];
  return top;
}

/* Independent sums, which the compiler may not make of one: it must not reorder floating-point additions. */
static double total(const double *x, int64_t n) {
  double part[32] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
    for (int c = 0; c < 32; c++) part[c] += x[i + c];
  for (; i < n; i++) sum += x[i];
  for (int c = 0; c < 32; c++) sum += part[c];
  return sum;
}

/* ---- Elementwise ------------------------------------------------------------------------------------------------- */

static double chain_at(double v) { return exp(-v * v) * sin(v) + log1p(v * v); }

static void chain(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    const V v = *(const vec *)(in[0] + i), s = v * v;
    *(vec *)(out + i) = VEC(exp)(-s) * VEC(sin)(v) + VEC(log1p)(s);
  }
  for (; i < n; i++) out[i] = chain_at(in[0][i]);
}

static void eight(double *restrict out, const double *const *in, int64_t n, int64_t m) {
  const double *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4];
  (void)m;
  for (int64_t i = 0; i < n; i++) out[i] = ((a[i] + b[i]) * c[i] - d[i]) * e[i] + (a[i] - c[i]) * (b[i] + d[i]);
}

/* n is a multiple of the vector's length, out aligned to it. */
static void multiply_add(double *out, const double *const *in, int64_t n, int64_t m) {
  const double *x = in[0], *y = in[1], *z = in[2];
  (void)m;
  for (int64_t i = 0; i < n; i += W)
    STREAM(out + i, 2 * *(const vec *)(x + i) + *(const vec *)(y + i) * *(const vec *)(z + i));
}

static void outer_tanh(double *out, const double *const *in, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++, out += m) {
    int64_t j = 0;
    for (; j + W <= m; j += W) *(vec *)(out + j) = VEC(tanh)(in[0][i] + *(const vec *)(in[1] + j));
    for (; j < m; j++) out[j] = tanh(in[0][i] + in[1][j]);
  }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* e = exp(x - top), and their sum. */
static double exp_row(double *e, const double *x, double top, int64_t m) {
  int64_t j = 0;
  for (; j + W <= m; j += W) *(vec *)(e + j) = VEC(exp)(*(const vec *)(x + j) - top);
  for (; j < m; j++) e[j] = exp(x[j] - top);
  return total(e, m);
}

/* The sum of the rows' log-sum-exps, in the first element after the gradient by x. */
static void logsumexp(double *out, const double *const *in, int64_t n, int64_t m) {
  const double *x = in[0];
  double cost = 0, *e = out;
  for (int64_t i = 0; i < n; i++, x += m, e += m) {
    const double top = largest(x, m), sum = exp_row(e, x, top, m), scale = 1 / sum;
    for (int64_t j = 0; j < m; j++) e[j] *= scale;
    cost += top + log(sum);
  }
  *e = cost;
}

/* The mean over rows of -log softmax(x) at the column of in[1], in the first element after the gradient by x. */
static void cross_entropy(double *out, const double *const *in, int64_t n, int64_t m) {
  const double *x = in[0];
  double cost = 0, *e = out;
  for (int64_t i = 0; i < n; i++, x += m, e += m) {
    const int64_t y = (int64_t)in[1][i] - 1;
    const double top = largest(x, m), sum = exp_row(e, x, top, m), scale = 1 / (sum * (double)n);
    for (int64_t j = 0; j < m; j++) e[j] *= scale;
    e[y] -= 1 / (double)n;
    cost += top + log(sum) - x[y];
  }
  *e = cost / (double)n;
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static void sum_1(double *restrict out, const double *const *in, int64_t n, int64_t m) {
  memset(out, 0, (size_t)m * sizeof *out);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) out[j] += in[0][i * m + j];
}

static void sum_2(double *out, const double *const *in, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++) out[i] = total(in[0] + i * m, m);
}

static void sum_all(double *out, const double *const *in, int64_t n, int64_t m) { *out = total(in[0], n * m); }

static void max_2(double *out, const double *const *in, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++) out[i] = largest(in[0] + i * m, m);
}

static void argmax_2(double *out, const double *const *in, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++) {
    const double *x = in[0] + i * m, top = largest(x, m);
    int64_t j = 0;
    while (x[j] != top) j++;
    out[i] = (double)(j + 1);
  }
}

/* out has room for the n largest elements behind the m positions. */
static void argmax_1(double *restrict out, const double *const *in, int64_t n, int64_t m) {
  double *restrict top = out + m;
  memcpy(top, in[0], (size_t)m * sizeof *top);
  for (int64_t j = 0; j < m; j++) out[j] = 1;
  for (int64_t i = 1; i < n; i++) {
    const double *restrict x = in[0] + i * m;
    for (int64_t j = 0; j < m; j++) {
      const int better = x[j] > top[j];
      top[j] = better ? x[j] : top[j];
      out[j] = better ? (double)(i + 1) : out[j];
    }
  }
}

/* The same with the means behind the variances. */
static void var_1(double *restrict out, const double *const *in, int64_t n, int64_t m) {
  double *restrict mean = out + m;
  sum_1(mean, in, n, m);
  for (int64_t j = 0; j < m; j++) mean[j] /= (double)n;
  memset(out, 0, (size_t)m * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    const double *restrict x = in[0] + i * m;
    for (int64_t j = 0; j < m; j++) out[j] += (x[j] - mean[j]) * (x[j] - mean[j]);
  }
  for (int64_t j = 0; j < m; j++) out[j] /= (double)n;
}

static void var_2(double *out, const double *const *in, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++) {
    const double *x = in[0] + i * m, mean = total(x, m) / (double)m;
    double part[32] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + 32 <= m; j += 32)
      for (int c = 0; c < 32; c++) part[c] += (x[j + c] - mean) * (x[j + c] - mean);
    for (; j < m; j++) sum += (x[j] - mean) * (x[j] - mean);
    for (int c = 0; c < 32; c++) sum += part[c];
    out[i] = sum / (double)m;
  }
}

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

static const floor_case floor_cases[] = {
    {"chain", chain},         {"eight", eight}, {"multiply_add", multiply_add},   {"outer_tanh", outer_tanh},
    {"logsumexp", logsumexp}, {"sum_1", sum_1}, {"cross_entropy", cross_entropy}, {"sum_2", sum_2},
    {"sum_all", sum_all},     {"max_2", max_2}, {"argmax_1", argmax_1},           {"argmax_2", argmax_2},
    {"var_1", var_1},         {"var_2", var_2}};

int luaopen_dense_floor(lua_State *L);

int luaopen_dense_floor(lua_State *L) { return floor_module(L, floor_cases, sizeof floor_cases / sizeof *floor_cases); }
