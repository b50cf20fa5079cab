/* matfun: Expm, Logm, Sqrtm: the exponential, the principal logarithm and the principal square root of square matrices.
 *
 * Everything is computed in double precision, the logarithm and the root in complex128.
 *
 *   Expm   diagonal Padé approximants with scaling and squaring, whose degree and scaling come from the norms of powers
 *          (Al-Mohy and Higham, A new scaling and squaring algorithm for the matrix exponential, 2009)
 *   Logm   the Schur form, square roots until it is near the identity, an approximant as partial fractions, squarings
 *          undone (Higham, Functions of Matrices, 2008, algorithm 11.9); the diagonal is exact
 *   Sqrtm  the Schur form, and the recurrence of Björck and Hammarling (1983) for the root of a triangular matrix
 *
 * The derivative of f at A in the direction E stands in the upper right block of f([A E; 0 A]) (Mathias, 1996), and the
 * gradient is the derivative at Aᴴ in the direction of the cotangent; that of the root solves Sᴴ·Y + Y·Sᴴ = G.
 */
#include "core_c.h"
#include "compose.h"
#include "schur_form.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct matfun_props {
  prop_value on_fail;
} matfun_props;

/* ---- Exponential ------------------------------------------------------------------------------------------------- */

/* The matrices of an entry: n × n, by columns, `width` doubles an entry. */
typedef struct expm_space {
  lapack_int n;
  int width;
  damo_dtype dtype;
  size_t count; /* doubles of a matrix */
  double *a, *a2, *a4, *a6, *a8, *u, *v, *t, *sums;
  lapack_int *pivots;
  size_t total;
} expm_space;

static expm_space expm_plan(const core_call *c) {
  carving w = {.data = c->work};
  expm_space s = {.n = (lapack_int)c->out[0].rows,
                  .dtype = dtype_is_complex(c->dtype) ? DAMO_COMPLEX128 : DAMO_FLOAT64};
  s.width = dtype_is_complex(s.dtype) ? 2 : 1;
  s.count = (size_t)s.n * (size_t)s.n * (size_t)s.width;
  double **const parts[8] = {&s.a, &s.a2, &s.a4, &s.a6, &s.a8, &s.u, &s.v, &s.t};
  for (int i = 0; i < 8; i++) *parts[i] = carve(&w, s.count * sizeof(double));
  s.sums = carve(&w, 2 * (size_t)s.n * sizeof(double));
  s.pivots = carve(&w, (size_t)s.n * sizeof(lapack_int));
  s.total = w.used;
  return s;
}

static size_t expm_workspace(const core_call *c) { return expm_plan(c).total; }

static void expm_multiply(const expm_space *s, const double *a, const double *b, double *c) {
  matrix_gemm(s->dtype, "N", "N", s->n, s->n, s->n, a, b, c);
}

static double expm_modulus(const expm_space *s, const double *m, int64_t i) {
  return s->width == 2 ? hypot(m[2 * i], m[2 * i + 1]) : fabs(m[i]);
}

/* The 1-norm: the largest sum of moduli of a column. */
static double expm_norm(const expm_space *s, const double *m) {
  double most = 0;
  for (int64_t j = 0; j < s->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) sum += expm_modulus(s, m, i + j * s->n);
    most = sum > most || isnan(sum) ? sum : most;
  }
  return most;
}

/* By how many more squarings 2^-s·A must be scaled for the approximant of degree m, s.t. its backward error is below the
 * unit roundoff (equation 3.11 of the paper): |A| has the norms of powers that A lacks. The factor is c(2m + 1) =
 * (m!)²/((2m)!·(2m + 1)!). */
static int expm_extra_squarings(const expm_space *s, const double *a, double norm, int m, int squarings) {
  const double scale = ldexp(1, -squarings);
  double *x = s->sums, *y = s->sums + s->n, factor = 1, most = 0;
  if (norm == 0) return 0;
  for (int64_t i = 0; i < s->n; i++) x[i] = 1;
  for (int k = 0; k < 2 * m + 1; k++) {
    for (int64_t j = 0; j < s->n; j++) {
      y[j] = 0;
      for (int64_t i = 0; i < s->n; i++) y[j] += scale * expm_modulus(s, a, i + j * s->n) * x[i];
    }
    double *const swap = x;
    x = y, y = swap;
  }
  for (int64_t i = 0; i < s->n; i++) most = fmax(most, x[i]);
  for (int k = 1; k <= m; k++) factor /= (double)(m + k);       /* m!/(2m)! */
  for (int k = m + 1; k <= 2 * m + 1; k++) factor /= (double)k; /* m!/(2m + 1)! */
  const double alpha = factor * most / (scale * norm);
  if (!(alpha > 0)) return 0;
  const double extra = ceil(log2(alpha / (DBL_EPSILON / 2)) / (2 * m));
  return extra > 0 ? (int)extra : 0;
}

/* to = Σ coefficient·power over the even powers I, A², A⁴, A⁶, A⁸. */
static void expm_combine(const expm_space *s, const double *const power[5], const double *coefficient, double *to) {
  memset(to, 0, s->count * sizeof *to);
  for (int k = 1; k < 5; k++) {
    if (coefficient[k] == 0) continue;
    for (size_t i = 0; i < s->count; i++) to[i] += coefficient[k] * power[k][i];
  }
  for (int64_t i = 0; i < s->n; i++) to[i * (s->n + 1) * s->width] += coefficient[0];
}

/* exp(A) ≈ (V - U)⁻¹·(V + U), into u; U has the odd powers, V the even ones. */
static bool expm_pade(const expm_space *s, const double *const power[5], int m) {
  double b[14] = {1}, even[5] = {0}, odd[5] = {0};
  for (int k = 0; k < m; k++) b[k + 1] = b[k] * (double)(m - k) / ((double)(2 * m - k) * (double)(k + 1));
  if (m < 13) {
    for (int k = 0; 2 * k <= m; k++) even[k] = b[2 * k];
    for (int k = 0; 2 * k + 1 <= m; k++) odd[k] = b[2 * k + 1];
    expm_combine(s, power, odd, s->t);
    expm_multiply(s, s->a, s->t, s->u);
    expm_combine(s, power, even, s->v);
  } else {
    const double high_odd[5] = {0, b[9], b[11], b[13], 0}, low_odd[5] = {b[1], b[3], b[5], b[7], 0};
    const double high_even[5] = {0, b[8], b[10], b[12], 0}, low_even[5] = {b[0], b[2], b[4], b[6], 0};
    expm_combine(s, power, high_odd, s->v);
    expm_multiply(s, s->a6, s->v, s->t);
    expm_combine(s, power, low_odd, s->v);
    for (size_t i = 0; i < s->count; i++) s->t[i] += s->v[i];
    expm_multiply(s, s->a, s->t, s->u);
    expm_combine(s, power, high_even, s->t);
    expm_multiply(s, s->a6, s->t, s->v);
    expm_combine(s, power, low_even, s->t);
    for (size_t i = 0; i < s->count; i++) s->v[i] += s->t[i];
  }
  for (size_t i = 0; i < s->count; i++) {
    s->t[i] = s->v[i] - s->u[i];
    s->u[i] += s->v[i];
  }
  lapack_int info = 0;
  const lapack_table *lapack = lapack_of(s->dtype);
  lapack->getrf(&s->n, &s->n, s->t, &s->n, s->pivots, &info);
  if (info != 0) return false;
  lapack->getrs("N", &s->n, &s->n, s->t, &s->n, s->pivots, s->u, &s->n, &info, 1);
  return true;
}

/* Multiplies A and its powers by 2^-squarings and so on. */
static void expm_scale(const expm_space *s, int squarings) {
  double *const power[4] = {s->a, s->a2, s->a4, s->a6};
  const int degree[4] = {1, 2, 4, 6};
  for (int k = 0; k < 4; k++) {
    const double by = ldexp(1, -squarings * degree[k]);
    for (size_t i = 0; i < s->count; i++) power[k][i] *= by;
  }
}

/* The degree of the approximant, -1 where norms overflow; *squarings: the scaling. Computes the powers that it needs. */
static int expm_choose(const expm_space *s, int *squarings) {
  static const double theta[4] = {1.495585217958292e-2, 2.539398330063230e-1, 9.504178996162932e-1, 2.097847961257068};
  static const int degree[4] = {3, 5, 7, 9};
  const double norm = expm_norm(s, s->a);
  *squarings = 0;
  expm_multiply(s, s->a, s->a, s->a2);
  expm_multiply(s, s->a2, s->a2, s->a4);
  expm_multiply(s, s->a4, s->a2, s->a6);
  const double n2 = expm_norm(s, s->a2), n4 = expm_norm(s, s->a4), n6 = expm_norm(s, s->a6);
  const double d4 = pow(n4, 0.25), d6 = pow(n6, 1.0 / 6), low = fmax(d4, d6);
  for (int k = 0; k < 2; k++) {
    if (low < theta[k] && expm_extra_squarings(s, s->a, norm, degree[k], 0) == 0) return degree[k];
  }
  expm_multiply(s, s->a4, s->a4, s->a8);
  const double n8 = expm_norm(s, s->a8), d8 = pow(n8, 0.125), middle = fmax(d6, d8);
  for (int k = 2; k < 4; k++) {
    if (middle < theta[k] && expm_extra_squarings(s, s->a, norm, degree[k], 0) == 0) return degree[k];
  }
  const double d10 = pow(fmin(n4 * n6, n2 * n8), 0.1), eta = fmin(middle, fmax(d8, d10));
  if (!isfinite(eta) || !isfinite(norm)) return -1;
  const double scale = eta > 0 ? ceil(log2(eta / 5.371920351148152)) : 0;
  *squarings = scale > 0 ? (int)scale : 0;
  *squarings += expm_extra_squarings(s, s->a, norm, 13, *squarings);
  return 13;
}

static damo_status expm_run(core_call *c) {
  const expm_space s = expm_plan(c);
  const core_mat a = {.data = (char *)s.a,
                      .rows = s.n,
                      .cols = s.n,
                      .rs = (int64_t)dtype_size(s.dtype),
                      .cs = s.n * (int64_t)dtype_size(s.dtype),
                      .dtype = s.dtype};
  int squarings = 0;
  if (s.n == 0) return DAMO_OK;
  load_columns(&c->in[0], s.dtype, s.a);
  DAMO_TRY(spectral_check_finite(c, &a));
  const int m = expm_choose(&s, &squarings);
  if (m < 0) return core_fail(c, "the exponential is too large");
  if (m == 13 && squarings > 0) expm_scale(&s, squarings);
  const double *const power[5] = {NULL, s.a2, s.a4, s.a6, s.a8};
  if (!expm_pade(&s, power, m)) return core_fail(c, "the approximant's denominator is singular");
  double *x = s.u, *y = s.v;
  for (int k = 0; k < squarings; k++) {
    expm_multiply(&s, x, x, y);
    double *const swap = x;
    x = y, y = swap;
  }
  store_columns(&c->out[0], s.dtype, x, 1);
  return spectral_check_finite(c, &c->out[0]) == DAMO_OK ? DAMO_OK : core_fail(c, "the exponential is too large");
}

static const core_class expm_class = {.func = "expm",
                                      .form = {.signature = "(n,n)->(n,n)"},
                                      .workspace = expm_workspace,
                                      .run = expm_run,
                                      .emit_c = expm_emit_c,
                                      .emits_complex = true};

/* ---- Logarithm and square root ----------------------------------------------------------------------------------- */

/* The Schur form of an entry in complex128, and matrices to work in, n × n by columns. */
typedef struct root_space {
  schur_form a;
  lapack_int n;
  damo_c128 *t, *x, *y, *sum;
  size_t total;
} root_space;

static root_space root_plan(const core_call *c) {
  carving w = {.data = c->work};
  const size_t n = (size_t)c->out[0].rows, bytes = n * n * sizeof(damo_c128);
  root_space s = {.a = schur_carve(&w, DAMO_COMPLEX128, (int64_t)n), .n = (lapack_int)n};
  s.t = (damo_c128 *)(void *)s.a.t;
  s.x = carve(&w, bytes);
  s.y = carve(&w, bytes);
  s.sum = carve(&w, bytes);
  s.total = w.used;
  return s;
}

static size_t root_workspace(const core_call *c) { return root_plan(c).total; }

/* log z, on the cut with the argument π. */
static damo_c128 complex_log(damo_c128 z) {
  return (damo_c128){log(complex_size(z)), z.im == 0 && z.re < 0 ? acos(-1.0) : atan2(z.im, z.re)};
}
static damo_c128 complex_sqrt(damo_c128 z) {
  const double size = complex_size(z);
  if (size == 0) return (damo_c128){0, 0};
  const double root = sqrt((size + fabs(z.re)) / 2), other = fabs(z.im) / (2 * root);
  return z.re >= 0 ? (damo_c128){root, copysign(other, z.im)} : (damo_c128){other, z.im < 0 ? -root : root};
}
/* e^z - 1 without cancellation: Re = expm1(x)·cos y - 2·sin²(y/2). */
static damo_c128 complex_expm1(damo_c128 z) {
  const double half = sin(z.im / 2);
  return (damo_c128){expm1(z.re) * cos(z.im) - 2 * half * half, exp(z.re) * sin(z.im)};
}

/* Whether the matrix is triangular, so that its eigenvalues are exact. */
static bool is_triangular(const core_mat *m) {
  bool upper = true, lower = true;
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) {
      if (i == j || complex_size(mat_get(m, i, j)) == 0) continue;
      if (i > j)
        upper = false;
      else
        lower = false;
    }
  }
  return upper || lower;
}

/* Eigenvalues that differ from a negative number by rounding become that number. False where one is 0, `exact` or to
 * rounding. */
static bool root_clean_diagonal(const root_space *s, bool exact) {
  double most = 0;
  for (int64_t i = 0; i < s->n; i++) most = fmax(most, complex_size(s->t[i * (s->n + 1)]));
  const double least = (double)s->n * DBL_EPSILON * most;
  bool regular = true;
  for (int64_t i = 0; i < s->n; i++) {
    damo_c128 *z = &s->t[i * (s->n + 1)];
    if (z->re < 0 && fabs(z->im) <= 4 * least) z->im = 0;
    regular = regular && complex_size(*z) > (exact ? 0 : least / 4);
  }
  return regular;
}

/* The root of an upper triangular matrix, into to, which may be from. False where there is none: two zeros on the diagonal,
 * and a number that is not 0 beside them. */
static bool root_triangular(const damo_c128 *from, lapack_int n, damo_c128 *to) {
  const int64_t step = n;
  for (int64_t j = 0; j < n; j++) {
    to[j + j * step] = complex_sqrt(from[j + j * step]);
    for (int64_t i = j - 1; i >= 0; i--) {
      damo_c128 v = from[i + j * step];
      double size = complex_size(v);
      for (int64_t k = i + 1; k < j; k++) {
        const damo_c128 p = mul_c128(to[i + k * step], to[k + j * step]);
        v.re -= p.re, v.im -= p.im;
        size += complex_size(p);
      }
      const damo_c128 d = {to[i + i * step].re + to[j + j * step].re, to[i + i * step].im + to[j + j * step].im};
      if (complex_size(d) > 0) {
        v = div_c128(v, d);
      } else if (complex_size(v) <= 8 * (double)n * DBL_EPSILON * size) {
        v = (damo_c128){0, 0};
      } else {
        return false;
      }
      to[i + j * step] = v;
    }
    for (int64_t i = j + 1; i < n; i++) to[i + j * step] = (damo_c128){0, 0};
  }
  return true;
}

/* Writes Z·F·Zᴴ; of a real operand its real part, if the rest is rounding. False where it is not. */
static bool root_store(core_call *c, const root_space *s, damo_c128 *f) {
  double most = 0, imaginary = 0;
  const lapack_int n = s->n;
  matrix_gemm(DAMO_COMPLEX128, "N", "N", n, n, n, s->a.z, f, s->sum);
  matrix_gemm(DAMO_COMPLEX128, "N", "C", n, n, n, s->sum, s->a.z, f);
  for (int64_t i = 0; i < (int64_t)n * n; i++) {
    most = fmax(most, complex_size(f[i]));
    imaginary = fmax(imaginary, fabs(f[i].im));
  }
  if (!dtype_is_complex(c->dtype) && imaginary > 1e-7 * most) return false;
  store_columns(&c->out[0], DAMO_COMPLEX128, f, 1);
  return true;
}

static damo_status sqrtm_run(core_call *c) {
  const root_space s = root_plan(c);
  if (s.n == 0) return DAMO_OK;
  DAMO_TRY(schur_factor(c, &s.a, &c->in[0]));
  root_clean_diagonal(&s, true); /* zeros may have a root */
  if (!root_triangular(s.t, s.n, s.x)) return core_fail(c, "the matrix is singular and has no square root");
  if (!root_store(c, &s, s.x))
    return core_fail(c,
                     "a real matrix has a negative eigenvalue, so its square root is complex: make it complex first");
  return DAMO_OK;
}

static double triangular_norm(const damo_c128 *x, lapack_int n) {
  double most = 0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i <= j; i++) sum += complex_size(x[i + j * n]);
    most = fmax(most, sum);
  }
  return most;
}

/* x = T^(1/2^k) - I of norm below the bound of the approximant of degree 7 (table 11.1 of the book), with T over s->x;
 * the diagonal is made from log t(i, i), so it has no cancellation. Returns k, -1 where a root fails. */
static int logm_roots(const root_space *s, const damo_c128 *logs) {
  const lapack_int n = s->n;
  memcpy(s->x, s->t, (size_t)n * (size_t)n * sizeof *s->x);
  for (int k = 0; k < 200; k++) {
    const double part = ldexp(1, -k);
    memcpy(s->y, s->x, (size_t)n * (size_t)n * sizeof *s->y);
    for (int64_t i = 0; i < n; i++)
      s->y[i * (n + 1)] = complex_expm1((damo_c128){logs[i].re * part, logs[i].im * part});
    if (triangular_norm(s->y, n) <= 0.264) return k;
    if (!root_triangular(s->x, n, s->x)) return -1;
  }
  return -1;
}

/* The approximant of log(I + X) of degree 7: Σ w(j)·X·(I + x(j)·X)⁻¹ with the nodes and weights of Gauss and Legendre on
 * [0, 1], times 2^k. X in s->y, the result into s->sum. */
static void logm_approximant(const root_space *s, int k) {
  static const double node[7] = {0.025446043828620738, 0.12923440720030278, 0.29707742431130142, 0.5,
                                 0.70292257568869858,  0.87076559279969722, 0.97455395617137926};
  static const double weight[7] = {0.064742483084434851, 0.13985269574463833, 0.19091502525255947, 0.20897959183673470,
                                   0.19091502525255947,  0.13985269574463833, 0.064742483084434851};
  const int64_t n = s->n, count = n * n;
  const lapack_table *lapack = lapack_of(DAMO_COMPLEX128);
  memset(s->sum, 0, (size_t)count * sizeof *s->sum);
  for (int j = 0; j < 7; j++) {
    for (int64_t i = 0; i < count; i++) s->t[i] = (damo_c128){node[j] * s->y[i].re, node[j] * s->y[i].im};
    for (int64_t i = 0; i < n; i++) s->t[i * (n + 1)].re += 1;
    memcpy(s->x, s->y, (size_t)count * sizeof *s->x);
    lapack->trsm("L", "U", "N", "N", &s->n, &s->n, lapack_one(DAMO_COMPLEX128), s->t, &s->n, s->x, &s->n, 1, 1, 1, 1);
    for (int64_t i = 0; i < count; i++) {
      s->sum[i].re += ldexp(weight[j], k) * s->x[i].re;
      s->sum[i].im += ldexp(weight[j], k) * s->x[i].im;
    }
  }
}

static damo_status logm_run(core_call *c) {
  const root_space s = root_plan(c);
  if (s.n == 0) return DAMO_OK;
  DAMO_TRY(schur_factor(c, &s.a, &c->in[0]));
  if (!root_clean_diagonal(&s, is_triangular(&c->in[0])))
    return core_fail(c, "the matrix is singular: it has no logarithm");
  damo_c128 *logs = (damo_c128 *)(void *)s.a.w;
  for (int64_t i = 0; i < s.n; i++) logs[i] = complex_log(s.t[i * (s.n + 1)]);
  const int k = logm_roots(&s, logs);
  if (k < 0) return core_fail(c, "the matrix is singular: it has no logarithm");
  logm_approximant(&s, k);
  memcpy(s.x, s.sum, (size_t)s.n * (size_t)s.n * sizeof *s.x);
  for (int64_t i = 0; i < s.n; i++) s.x[i * (s.n + 1)] = logs[i];
  if (!root_store(c, &s, s.x))
    return core_fail(c, "a real matrix has a negative eigenvalue, so its logarithm is complex: make it complex first");
  return DAMO_OK;
}

static const core_class sqrtm_class = {.func = "sqrtm",
                                       .needs_lapack = core_needs_lapack,
                                       .form = {.signature = "(n,n)->(n,n)"},
                                       .workspace = root_workspace,
                                       .run = sqrtm_run,
                                       .emit_c = sqrtm_emit_c,
                                       .emits_complex = true};
static const core_class logm_class = {.func = "logm",
                                      .needs_lapack = core_needs_lapack,
                                      .form = {.signature = "(n,n)->(n,n)"},
                                      .workspace = root_workspace,
                                      .run = logm_run,
                                      .emit_c = logm_emit_c,
                                      .emits_complex = true};

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* The derivative of the class's function at a in the direction e. */
static damo_var *build_frechet(build *b, const op_def *def, damo_var *a, damo_var *e) {
  if (a == NULL || e == NULL) return NULL;
  const int row = var_ndim(e) - 2, col = row + 1;
  damo_var *zero = build_zeros_like(b, e), *whole = build_add(b, a, zero), *n = build_dim(b, a, var_ndim(a) - 1);
  damo_var *upper = build_join(b, def->core->func, col, (damo_var *const[]){whole, e}, 2);
  damo_var *lower = build_join(b, def->core->func, col, (damo_var *const[]){zero, whole}, 2);
  if (b->status != DAMO_OK) return NULL;
  damo_var *blocks = build_join(b, def->core->func, row, (damo_var *const[]){upper, lower}, 2);
  damo_var *f = blocks != NULL ? build_core_first(b, def, NULL, &blocks, 1) : NULL;
  if (f == NULL) return NULL;
  return build_slice(b, build_slice(b, f, row, NULL, n, 1), col, n, NULL, 1);
}

static damo_status frechet_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[0] = build_frechet(b, node->op->def, build_adjoint(b, node->in[0]), gout[0]);
  return b->status;
}

static damo_status frechet_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_frechet(b, node->op->def, node->in[0], eval[0]);
  return b->status;
}

static damo_status sqrtm_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *s = build_adjoint(b, node->out[0]);
  if (gout[0] != NULL) gin[0] = build_sylvester(b, s, s, gout[0]);
  return b->status;
}

static damo_status sqrtm_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_sylvester(b, node->out[0], node->out[0], eval[0]);
  return b->status;
}

const op_def expm_def = {
    .name = "Expm",
    .library = "LAPACK",
    .doc = "exponentials of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(matfun_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(expm_class),
    .emit_c = core_emit_c,
    .grad = frechet_grad,
    .rop = frechet_rop,
    .no_check = "no equation of products determines it: spec/linalg/matfun_spec.lua has closed forms",
};

const op_def logm_def = {
    .name = "Logm",
    .library = "LAPACK",
    .doc = "principal logarithms of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(matfun_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(logm_class),
    .emit_c = core_emit_c,
    .grad = frechet_grad,
    .rop = frechet_rop,
    .no_check = "no equation of products determines it: spec/linalg/matfun_spec.lua has closed forms",
};

const op_def sqrtm_def = {
    .name = "Sqrtm",
    .library = "LAPACK",
    .doc = "principal square roots of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(matfun_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(sqrtm_class),
    .emit_c = core_emit_c,
    .grad = sqrtm_grad,
    .rop = sqrtm_rop,
    OP_CHECK(sqrtm_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct matfun_options {
  prop_value on_fail;
} matfun_options;

static damo_status matfun_call(build *b, const fn_args *a, const op_def *def, ptrvec *out) {
  matfun_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, matfun_options)->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, def, &props, a->in, 1));
}
static damo_status fn_expm(build *b, const fn_args *a, ptrvec *out) { return matfun_call(b, a, &expm_def, out); }
static damo_status fn_logm(build *b, const fn_args *a, ptrvec *out) { return matfun_call(b, a, &logm_def, out); }
static damo_status fn_sqrtm(build *b, const fn_args *a, ptrvec *out) { return matfun_call(b, a, &sqrtm_def, out); }

/* The exponential, and its derivative at a in the direction e. */
static damo_status fn_expm_frechet(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2] = {matrix_square_operand(b, a, 0), matrix_square_operand(b, a, 1)};
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(build_resolve(b, in, 2, true, in));
  damo_var *x = build_float(b, in[0]), *e = build_float(b, in[1]);
  DAMO_TRY(fn_give(b, out, x != NULL ? build_core_first(b, &expm_def, NULL, &x, 1) : NULL));
  return fn_give(b, out, build_frechet(b, &expm_def, x, e));
}

const op_func linalg_matfun_funcs[] = {
    {.name = "linalg.expm_frechet",
     .operands = "a e",
     .call = fn_expm_frechet,
     .no_method = true,
     .doc = "the exponential of square matrices, and its derivative in the direction e"},
    {.name = "linalg.expm",
     .operands = "a",
     .options = OPTIONS(OPT(matfun_options, on_fail, OPT_STR)),
     .call = fn_expm,
     .no_method = true,
     .doc = "the exponential of square matrices"},
    {.name = "linalg.logm",
     .operands = "a",
     .options = OPTIONS(OPT(matfun_options, on_fail, OPT_STR)),
     .call = fn_logm,
     .no_method = true,
     .doc = "the principal logarithm of square matrices; real for a real one, whose eigenvalues must not be negative"},
    {.name = "linalg.sqrtm",
     .operands = "a",
     .options = OPTIONS(OPT(matfun_options, on_fail, OPT_STR)),
     .call = fn_sqrtm,
     .no_method = true,
     .doc =
         "the principal square root of square matrices; real for a real one, whose eigenvalues must not be negative"},
    {.name = NULL},
};

const op_def *const linalg_matfun_classes[] = {&expm_def, &logm_def, &sqrtm_def, NULL};
