/* networks_floor: steps of training and products of small matrices in plain C, with OpenBLAS and SLEEF, for
 * networks.lua, as a Lua module (floor_case.h). */
#include <cblas.h>
#include <stdlib.h>

#include "floor_case.h"

/* So small that the loss stays the same over any number of steps. */
#define RATE 1e-12

enum { INPUTS = 784, HIDDEN = 500, CLASSES = 10 };

/* n is a multiple of W. */
static void tanh_vectors(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i += W) {
    const V v = *(const vec *)(x + i);
    *(vec *)(x + i) = VEC(tanh)(v);
  }
}

static void tanh_f64(double *x, int64_t n) {
  tanh_vectors(x, n / W * W);
  for (int64_t i = n / W * W; i < n; i++) x[i] = tanh(x[i]);
}

static void tanh_f32(float *x, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(x + i, Sleef_tanhf16_u10avx512f(_mm512_loadu_ps(x + i)));
#elif defined(__AVX2__)
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(x + i, Sleef_tanhf8_u10avx2(_mm256_loadu_ps(x + i)));
#endif
  for (; i < n; i++) x[i] = tanhf(x[i]);
}

#define REAL double
#define NAME(name) name##_f64
#define GEMM cblas_dgemm
#define TANH tanh_f64
#include "mlp_step.h"
#undef REAL
#undef NAME
#undef GEMM
#undef TANH
#define REAL float
#define NAME(name) name##_f32
#define GEMM cblas_sgemm
#define TANH tanh_f32
#include "mlp_step.h"

/* A step of logistic regression; in: x (n rows of INPUTS), y, w, b, of which the last two are changed; out: the mean
 * cross entropy plus the penalty 0.01 |w|^2. */
static void logistic(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  const double *x = in[0], *y = in[1];
  double *w = (double *)(uintptr_t)in[2], *b = (double *)(uintptr_t)in[3], *z = malloc((size_t)n * sizeof *z);
  if (z == NULL) return;
  double loss = 0, squares = 0, slope = 0;
  cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, INPUTS, 1, x, INPUTS, w, 1, 0, z, 1);
  for (int64_t i = 0; i < n; i++) {
    const double s = z[i] + b[0], e = exp(-fabs(s)), p = s > 0 ? 1 / (1 + e) : e / (1 + e);
    loss += (s > 0 ? s : 0) + log1p(e) - s * y[i];
    z[i] = (p - y[i]) / (double)n;
    slope += z[i];
  }
  for (int k = 0; k < INPUTS; k++) squares += w[k] * w[k];
  out[0] = loss / (double)n + 0.01 * squares;
  for (int k = 0; k < INPUTS; k++) w[k] -= RATE * 0.02 * w[k];
  cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, INPUTS, -RATE, x, INPUTS, z, 1, 1, w, 1);
  b[0] -= RATE * slope;
  free(z);
}

/* ---- Products of small matrices ---------------------------------------------------------------------------------- */

enum { SIDE = 8, AREA = SIDE * SIDE };

/* out = a b. */
static inline void product(double *restrict out, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < SIDE; i++) {
    double row[SIDE] = {0};
    for (int k = 0; k < SIDE; k++)
      for (int j = 0; j < SIDE; j++) row[j] += a[i * SIDE + k] * b[k * SIDE + j];
    memcpy(out + i * SIDE, row, sizeof row);
  }
}

static inline void transpose(double *restrict out, const double *restrict a) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) out[j * SIDE + i] = a[i * SIDE + j];
}

/* z = tanh(z A), n times, each kept; the sum of the last. */
static double product_steps(double *z, const double *const *in, int64_t n) {
  memcpy(z, in[0], AREA * sizeof *z);
  for (int64_t t = 0; t < n; t++) {
    product(z + (t + 1) * AREA, z + t * AREA, in[1]);
    tanh_vectors(z + (t + 1) * AREA, AREA);
  }
  double sum = 0;
  for (int i = 0; i < AREA; i++) sum += z[n * AREA + i];
  return sum;
}

enum { MOST = 20 };

static void products(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  double z[(MOST + 1) * AREA];
  out[0] = product_steps(z, in, n);
}

/* The sum, and its derivatives in z and A. */
static void products_gradient(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  double z[(MOST + 1) * AREA], g[AREA], d[AREA], across[AREA], before[AREA], part[AREA], total[AREA] = {0};
  out[0] = product_steps(z, in, n);
  transpose(across, in[1]);
  for (int i = 0; i < AREA; i++) g[i] = 1;
  for (int64_t t = n; t > 0; t--) {
    const double *after = z + t * AREA;
    for (int i = 0; i < AREA; i++) d[i] = g[i] * (1 - after[i] * after[i]);
    transpose(before, z + (t - 1) * AREA);
    product(part, before, d);
    for (int i = 0; i < AREA; i++) total[i] += part[i];
    product(g, d, across);
  }
  memcpy(out + 1, g, sizeof g);
  memcpy(out + 1 + AREA, total, sizeof total);
}

static const floor_case floor_cases[] = {{"mlp_f64", mlp_f64},
                                         {"mlp_f32", mlp_f32},
                                         {"logistic", logistic},
                                         {"products", products},
                                         {"products_gradient", products_gradient}};

int luaopen_networks_floor(lua_State *L);

int luaopen_networks_floor(lua_State *L) {
  return floor_module(L, floor_cases, sizeof floor_cases / sizeof *floor_cases);
}
