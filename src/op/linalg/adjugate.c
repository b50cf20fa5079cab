/* adjugate: the gradient of a determinant, whatever the rank: Adjugate, AdjugateTangent, AdjugateSecond, LUAdjugate.
 *
 * The entries of adj(A) = det(A)·A⁻¹ are polynomials of A's, its cofactors, and so are those of the derivative of adj at
 * A in direction H, T(A, H), and of the second one in directions H and K, S(A, H, K). Of a matrix far from singular both come from its inverse. Else A is eliminated with the
 * greatest entry of all rows and columns left: A = Pᵀ·L·D·R·Qᵀ with unit triangles L and R, and D holds all that is
 * small, so that
 *
 *   adj(A) = ±Q·R⁻¹·adj(D)·L⁻¹·P,   adj(D)(i, i) = Π d(k), k ≠ i;
 *   T(A, H) = ±Q·R⁻¹·T(D, M)·L⁻¹·P,  M = L⁻¹·P·H·Q·R⁻¹,
 *   T(D, M)(i, j) = -M(i, j)·Π d(k), k ≠ i, j;  T(D, M)(i, i) = Σ M(j, j)·Π d(k), k ≠ i, j; j ≠ i.
 *
 * S(A, H, K) comes from S(D, M, N) in the same way, which is the sum over all three places i, j, k of Π d(l), l ≠ i, j, k,
 * times the second derivative of the adjugate of a matrix of these three rows and columns, in directions M and N.
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/lanes/lanes.h"
#include "op/complex_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Elimination with complete pivoting -------------------------------------------------------------------------- */

/* A number as z·2^exponent: products of many neither overflow nor vanish on the way. */
typedef struct adj_product {
  damo_c128 z;
  int64_t exponent;
} adj_product;

static adj_product adj_times(adj_product s, damo_c128 v, int64_t exponent) {
  const damo_c128 z = mul_c128(s.z, v);
  const double size = fmax(fabs(z.re), fabs(z.im));
  int e = 0;
  if (size > 0 && isfinite(size)) frexp(size, &e);
  return (adj_product){{ldexp(z.re, -e), ldexp(z.im, -e)}, s.exponent + exponent + e};
}
static double adj_part(double x, int64_t e) { return ldexp(x, e > 5000 ? 5000 : e < -5000 ? -5000 : (int)e); }
static damo_c128 adj_value(adj_product s) {
  return (damo_c128){adj_part(s.z.re, s.exponent), adj_part(s.z.im, s.exponent)};
}

typedef struct adj_elimination {
  int64_t n;
  damo_c128 *a, *x;    /* L, D and R of the matrix; a matrix in the making */
  int64_t *row, *col;  /* row i of L·D·R is row row[i] of the matrix */
  adj_product *before; /* Π d(k), k < i */
  adj_product *behind; /* Π d(k), k ≥ i */
  damo_c128 *sum;      /* of T(D, M)'s diagonal */
  bool odd;            /* an odd number of swaps */
} adj_elimination;

static size_t adj_round(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

static size_t adj_bytes(int64_t n) {
  const size_t k = (size_t)n;
  return 2 * adj_round(k * k * sizeof(damo_c128)) + 2 * adj_round(k * sizeof(int64_t)) +
         2 * adj_round((k + 1) * sizeof(adj_product)) + adj_round(k * sizeof(damo_c128));
}

static void *adj_take(char **at, size_t bytes) {
  char *part = *at;
  *at += adj_round(bytes);
  return part;
}

static adj_elimination adj_space(char *work, int64_t n) {
  const size_t k = (size_t)n;
  adj_elimination e = {.n = n};
  e.a = adj_take(&work, k * k * sizeof *e.a);
  e.x = adj_take(&work, k * k * sizeof *e.x);
  e.row = adj_take(&work, k * sizeof *e.row);
  e.col = adj_take(&work, k * sizeof *e.col);
  e.before = adj_take(&work, (k + 1) * sizeof *e.before);
  e.behind = adj_take(&work, (k + 1) * sizeof *e.behind);
  e.sum = adj_take(&work, k * sizeof *e.sum);
  return e;
}

static double adj_modulus(damo_c128 v) { return v.im == 0 ? fabs(v.re) : hypot(v.re, v.im); }

/* y -= f·x, n numbers. */
static void adj_subtract(damo_c128 *y, damo_c128 f, const damo_c128 *x, int64_t n) {
  if (f.re == 0 && f.im == 0) return;
  for (int64_t j = 0; j < n; j++) {
    y[j].re -= f.re * x[j].re - f.im * x[j].im;
    y[j].im -= f.re * x[j].im + f.im * x[j].re;
  }
}

/* Swaps rows and columns k so that the greatest entry from there on is the pivot; false: all are 0. */
static bool adj_pivot(adj_elimination *e, int64_t k) {
  const int64_t n = e->n;
  int64_t row = k, col = k;
  double best = 0;
  for (int64_t i = k; i < n; i++) {
    for (int64_t j = k; j < n; j++) {
      const double size = adj_modulus(e->a[i * n + j]);
      if (size > best) best = size, row = i, col = j;
    }
  }
  for (int64_t j = 0; j < n && row != k; j++) {
    const damo_c128 t = e->a[k * n + j];
    e->a[k * n + j] = e->a[row * n + j], e->a[row * n + j] = t;
  }
  for (int64_t i = 0; i < n && col != k; i++) {
    const damo_c128 t = e->a[i * n + k];
    e->a[i * n + k] = e->a[i * n + col], e->a[i * n + col] = t;
  }
  const int64_t r = e->row[k], c = e->col[k];
  e->row[k] = e->row[row], e->row[row] = r;
  e->col[k] = e->col[col], e->col[col] = c;
  e->odd = e->odd != ((row != k) != (col != k));
  return best > 0;
}

/* e->a holds the matrix, of finite entries, and becomes its factors. */
static void adj_eliminate(adj_elimination *e) {
  const int64_t n = e->n;
  for (int64_t i = 0; i < n; i++) e->row[i] = e->col[i] = i;
  for (int64_t k = 0; k < n && adj_pivot(e, k); k++) {
    const damo_c128 *pivot = e->a + k * n + k;
    for (int64_t i = k + 1; i < n; i++) {
      damo_c128 *x = e->a + i * n + k;
      x[0] = div_c128(x[0], pivot[0]);
      adj_subtract(x + 1, x[0], pivot + 1, n - k - 1);
    }
    for (int64_t j = 1; j < n - k; j++) e->a[k * n + k + j] = div_c128(pivot[j], pivot[0]);
  }
  e->before[0] = e->behind[n] = (adj_product){{1, 0}, 0};
  for (int64_t i = 0; i < n; i++) e->before[i + 1] = adj_times(e->before[i], e->a[i * n + i], 0);
  for (int64_t i = n - 1; i >= 0; i--) e->behind[i] = adj_times(e->behind[i + 1], e->a[i * n + i], 0);
}

/* x := L⁻¹·x, R⁻¹·x, x·L⁻¹, x·R⁻¹ */
static void adj_left_lower(const adj_elimination *e) {
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t k = 0; k < i; k++) adj_subtract(e->x + i * e->n, e->a[i * e->n + k], e->x + k * e->n, e->n);
}
static void adj_left_upper(const adj_elimination *e) {
  for (int64_t i = e->n - 1; i >= 0; i--)
    for (int64_t k = i + 1; k < e->n; k++) adj_subtract(e->x + i * e->n, e->a[i * e->n + k], e->x + k * e->n, e->n);
}
static void adj_right_lower(const adj_elimination *e) {
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t k = e->n - 1; k > 0; k--) adj_subtract(e->x + i * e->n, e->x[i * e->n + k], e->a + k * e->n, k);
}
static void adj_right_upper(const adj_elimination *e) {
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t k = 0; k < e->n - 1; k++)
      adj_subtract(e->x + i * e->n + k + 1, e->x[i * e->n + k], e->a + k * e->n + k + 1, e->n - k - 1);
}

/* x := adj(D) */
static void adj_of_diagonal(adj_elimination *e) {
  memset(e->x, 0, (size_t)(e->n * e->n) * sizeof *e->x);
  for (int64_t i = 0; i < e->n; i++)
    e->x[i * e->n + i] = adj_value(adj_times(e->before[i], e->behind[i + 1].z, e->behind[i + 1].exponent));
}

/* x := T(D, x) */
static void adj_tangent_of_diagonal(adj_elimination *e) {
  const int64_t n = e->n;
  memset(e->sum, 0, (size_t)n * sizeof *e->sum);
  for (int64_t i = 0; i < n; i++) {
    adj_product others = e->before[i];
    for (int64_t j = i + 1; j < n; j++) {
      const damo_c128 p = adj_value(adj_times(others, e->behind[j + 1].z, e->behind[j + 1].exponent));
      damo_c128 *above = e->x + i * n + j, *below = e->x + j * n + i;
      e->sum[i] = add_c128(e->sum[i], mul_c128(p, e->x[j * n + j]));
      e->sum[j] = add_c128(e->sum[j], mul_c128(p, e->x[i * n + i]));
      *above = mul_c128((damo_c128){-p.re, -p.im}, *above);
      *below = mul_c128((damo_c128){-p.re, -p.im}, *below);
      others = adj_times(others, e->a[j * n + j], 0);
    }
  }
  for (int64_t i = 0; i < n; i++) e->x[i * n + i] = e->sum[i];
}

/* x += v times the second derivative of the adjugate of the rows and columns at[]. */
static void adj_add_minor(adj_elimination *e, const damo_c128 *m, const damo_c128 *k, const int64_t at[3],
                          damo_c128 v) {
  const int64_t n = e->n;
  for (int p = 0; p < 6; p++) { /* the three places in every order */
    const int64_t a = at[p % 3], b = at[(p % 3 + 1 + p / 3) % 3], c = at[(p % 3 + 2 - p / 3) % 3];
    const damo_c128 across = add_c128(mul_c128(m[a * n + c], k[c * n + b]), mul_c128(k[a * n + c], m[c * n + b]));
    const damo_c128 beside = add_c128(mul_c128(m[a * n + b], k[c * n + c]), mul_c128(k[a * n + b], m[c * n + c]));
    damo_c128 *to = e->x + a * n + b, *diagonal = e->x + a * n + a;
    *to = add_c128(*to, mul_c128(v, (damo_c128){across.re - beside.re, across.im - beside.im}));
    const damo_c128 own = mul_c128(m[b * n + b], k[c * n + c]), other = mul_c128(m[b * n + c], k[c * n + b]);
    *diagonal = add_c128(*diagonal, mul_c128(v, (damo_c128){own.re - other.re, own.im - other.im}));
  }
}

/* x := S(D, m, k) */
static void adj_second_of_diagonal(adj_elimination *e, const damo_c128 *m, const damo_c128 *k) {
  const int64_t n = e->n;
  memset(e->x, 0, (size_t)(n * n) * sizeof *e->x);
  for (int64_t i = 0; i < n; i++) {
    adj_product without_i = e->before[i];
    for (int64_t j = i + 1; j < n; j++) {
      adj_product without_j = without_i;
      for (int64_t l = j + 1; l < n; l++) {
        const adj_product rest = adj_times(without_j, e->behind[l + 1].z, e->behind[l + 1].exponent);
        adj_add_minor(e, m, k, (const int64_t[3]){i, j, l}, adj_value(rest));
        without_j = adj_times(without_j, e->a[l * n + l], 0);
      }
      without_i = adj_times(without_i, e->a[j * n + j], 0);
    }
  }
}

/* ±Q·x·P times w, into out. */
static void adj_give(const adj_elimination *e, damo_c128 w, const core_mat *out) {
  if (e->odd) w = (damo_c128){-w.re, -w.im};
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t j = 0; j < e->n; j++) mat_put(out, e->col[i], e->row[j], mul_c128(w, e->x[i * e->n + j]));
}

static bool adj_load(adj_elimination *e, const core_mat *m) {
  bool finite = true;
  for (int64_t i = 0; i < e->n; i++) {
    for (int64_t j = 0; j < e->n; j++) {
      const damo_c128 v = mat_get(m, i, j);
      e->a[i * e->n + j] = v;
      finite = finite && isfinite(v.re) && isfinite(v.im);
    }
  }
  return finite;
}

static void adj_fill_nan(const core_mat *out) {
  const damo_c128 v = {NAN, dtype_is_complex(out->dtype) ? NAN : 0};
  for (int64_t i = 0; i < out->rows; i++)
    for (int64_t j = 0; j < out->cols; j++) mat_put(out, i, j, v);
}

/* out = w·adj(a) for the matrix that was loaded. */
static void adj_run_eliminated(adj_elimination *e, damo_c128 w, const core_mat *out) {
  adj_eliminate(e);
  adj_of_diagonal(e);
  adj_right_lower(e);
  adj_left_upper(e);
  adj_give(e, w, out);
}

/* ---- Adjugate ---------------------------------------------------------------------------------------------------- */

static lapack_int adj_getri_length(const core_call *c) {
  double work[2] = {0};
  const lapack_int n = (lapack_int)c->dim[0], query = -1, ld = n > 1 ? n : 1;
  lapack_int info = 0, ipiv = 0;
  lapack_of(c->dtype)->getri(&n, work, &ld, &ipiv, work, &query, &info);
  return lapack_work_length(c->dtype, work);
}

/* The least modulus of a factor's diagonal over the greatest: below this the inverse is left alone. */
static double adj_threshold(damo_dtype dtype) {
  return dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? 64 * (double)FLT_EPSILON : 64 * DBL_EPSILON;
}

static bool adj_is_regular(const core_mat *factors) {
  double least = INFINITY, most = 0;
  for (int64_t i = 0; i < factors->rows; i++) {
    const double size = adj_modulus(mat_get(factors, i, i));
    if (!(size < INFINITY)) return false;
    least = fmin(least, size), most = fmax(most, size);
  }
  return least > adj_threshold(factors->dtype) * most;
}

/* m holds the factors of LAPACK's getrf and becomes w·det·inverse. */
static void adj_of_factors(core_call *c, const core_mat *m, const lapack_int *ipiv, damo_c128 w, char *work) {
  const lapack_int n = (lapack_int)m->rows, length = adj_getri_length(c);
  lapack_int info = 0;
  adj_product det = adj_times((adj_product){{1, 0}, 0}, w, 0);
  for (int64_t i = 0; i < m->rows; i++) {
    const damo_c128 v = mat_get(m, i, i);
    det = adj_times(det, ipiv[i] != i + 1 ? (damo_c128){-v.re, -v.im} : v, 0);
  }
  lapack_of(c->dtype)->getri(&n, m->data, &n, ipiv, work, &length, &info);
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) {
      const damo_c128 v = mul_c128(mat_get(m, i, j), det.z);
      mat_put(m, i, j, (damo_c128){adj_part(v.re, det.exponent), adj_part(v.im, det.exponent)});
    }
  }
}

static size_t adj_ipiv_bytes(const core_call *c) { return adj_round((size_t)c->dim[0] * sizeof(lapack_int)); }

static size_t adj_workspace(const core_call *c) {
  return adj_ipiv_bytes(c) + adj_round((size_t)adj_getri_length(c) * dtype_size(c->dtype)) + adj_bytes(c->dim[0]);
}

/* The transpose's adjugate is the adjugate's transpose, so it does not matter that the matrix lies by rows. */
static damo_status adj_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const lapack_int n = (lapack_int)m->rows;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  char *work = c->work + adj_ipiv_bytes(c);
  const damo_c128 w = mat_get(&c->in[1], 0, 0);
  if (n == 0) return DAMO_OK;
  lapack_of(c->dtype)->getrf(&n, &n, m->data, &n, ipiv, &info);
  if (adj_is_regular(m)) {
    adj_of_factors(c, m, ipiv, w, work);
    return DAMO_OK;
  }
  adj_elimination e = adj_space(work + adj_round((size_t)adj_getri_length(c) * dtype_size(c->dtype)), n);
  if (adj_load(&e, &c->in[0]))
    adj_run_eliminated(&e, w, m);
  else
    adj_fill_nan(m);
  return DAMO_OK;
}

static bool adj_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->spare = (int)c->in[0].rows + 1;
  return true;
}

static void adj_finish_lanes(const core_call *c, const core_lanes *l, const void *factors, const void *pivots,
                             void *det) {
  const int n = (int)c->in[0].rows;
  l->fns->determinant(n, factors, pivots, det);
  lanes_check_normal(c, det, l->failed);
  lanes_check_regular(c, n, factors, adj_threshold(c->dtype), l->failed);
  lanes_scale(c, n * n, det, l->in[c->n_in - 1], l->out[0]);
}

static void adj_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  char *pivots = (char *)l->spare + lanes_entry(c);
  l->fns->factor(n, l->in[0], pivots, l->failed);
  lanes_identity(c, n, l->out[0]);
  l->fns->solve(n, n, l->in[0], pivots, false, l->out[0]);
  adj_finish_lanes(c, l, l->in[0], pivots, l->spare);
}

static const core_class adj_class = {
    .func = "adjugate",
    .form = {.signature = "(n,n),()->(n,n)", .in_layout = "ss", .from = "1"},
    .workspace = adj_workspace,
    .run = adj_run,
    .plan_lanes = adj_plan_lanes,
    .run_lanes = adj_lanes,
    .emit_c = adjugate_emit_c,
    .emits_complex = true,
};

/* ---- AdjugateTangent --------------------------------------------------------------------------------------------- */

/* x := L⁻¹·P·H·Q·R⁻¹ */
static void adj_load_direction(adj_elimination *e, const core_mat *h) {
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t j = 0; j < e->n; j++) e->x[i * e->n + j] = mat_get(h, e->row[i], e->col[j]);
  adj_left_lower(e);
  adj_right_upper(e);
}

static size_t adj_tangent_workspace(const core_call *c) { return adj_bytes(c->dim[0]); }

static damo_status adj_tangent_run(core_call *c) {
  const core_mat *h = &c->in[1];
  const int64_t n = c->dim[0];
  adj_elimination e = adj_space(c->work, n);
  if (n == 0) return DAMO_OK;
  if (!adj_load(&e, &c->in[0])) {
    adj_fill_nan(&c->out[0]);
    return DAMO_OK;
  }
  adj_eliminate(&e);
  adj_load_direction(&e, h);
  adj_tangent_of_diagonal(&e);
  adj_right_lower(&e);
  adj_left_upper(&e);
  adj_give(&e, (damo_c128){1, 0}, &c->out[0]);
  return DAMO_OK;
}

static const core_class adj_tangent_class = {
    .func = "adjugate_tangent",
    .form = {.signature = "(n,n),(n,n)->(n,n)", .in_layout = "ss"},
    .workspace = adj_tangent_workspace,
    .run = adj_tangent_run,
    .emit_c = adjugate_tangent_emit_c,
};

/* ---- AdjugateSecond ------------------------------------------------------------------------------------------------ */

static size_t adj_direction_bytes(int64_t n) { return adj_round((size_t)n * (size_t)n * sizeof(damo_c128)); }
static size_t adj_second_workspace(const core_call *c) {
  return adj_bytes(c->dim[0]) + 2 * adj_direction_bytes(c->dim[0]);
}

static damo_status adj_second_run(core_call *c) {
  const int64_t n = c->dim[0];
  adj_elimination e = adj_space(c->work, n);
  damo_c128 *const directions[2] = {(damo_c128 *)(void *)(c->work + adj_bytes(n)),
                                    (damo_c128 *)(void *)(c->work + adj_bytes(n) + adj_direction_bytes(n))};
  if (n == 0) return DAMO_OK;
  if (!adj_load(&e, &c->in[0])) {
    adj_fill_nan(&c->out[0]);
    return DAMO_OK;
  }
  adj_eliminate(&e);
  for (int d = 0; d < 2; d++) {
    adj_load_direction(&e, &c->in[1 + d]);
    memcpy(directions[d], e.x, (size_t)(n * n) * sizeof *e.x);
  }
  adj_second_of_diagonal(&e, directions[0], directions[1]);
  adj_right_lower(&e);
  adj_left_upper(&e);
  adj_give(&e, (damo_c128){1, 0}, &c->out[0]);
  return DAMO_OK;
}

static const core_class adj_second_class = {
    .func = "adjugate_second",
    .form = {.signature = "(n,n),(n,n),(n,n)->(n,n)", .in_layout = "sss"},
    .workspace = adj_second_workspace,
    .run = adj_second_run,
    .emit_c = adjugate_second_emit_c,
};

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static const op_def adjugate_second_def;

damo_var *build_adjugate(build *b, damo_var *a, damo_var *w) {
  return a && w ? build_core_first(b, &adjugate_def, NULL, (damo_var *const[]){a, w}, 2) : NULL;
}

static damo_var *build_adj_tangent(build *b, damo_var *a, damo_var *h) {
  return a && h ? build_core_first(b, &adjugate_tangent_def, NULL, (damo_var *const[]){a, h}, 2) : NULL;
}

static damo_var *adj_as_matrix(build *b, damo_var *x) { return build_as_columns(b, build_as_columns(b, x)); }

damo_var *build_matrix_inner(build *b, damo_var *x, damo_var *y) {
  damo_var *p = build_mul(b, x, y);
  if (p == NULL) return NULL;
  const int axes[2] = {var_ndim(p) - 2, var_ndim(p) - 1};
  return build_reduce(b, REDUCE_SUM, p, axes, 2, false);
}

/* Y = w·adj(A): dY = dw·adj(A) + T(A, w·dA). T is its own adjoint in that <G, T(A, H)> = <T(A, Gᴴ)ᴴ, H>. */
static damo_status adjugate_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *w = node->in[1], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *h = build_mul(b, adj_as_matrix(b, w), build_adjoint(b, g));
  gin[0] = build_unbroadcast(b, build_adjoint(b, build_adj_tangent(b, a, h)), a);
  damo_var *one = build_ones_like(b, w);
  gin[1] = build_unbroadcast(b, build_matrix_inner(b, build_conj_if_complex(b, build_adjugate(b, a, one)), g), w);
  return b->status;
}

static damo_status adjugate_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *a = node->in[0], *w = node->in[1], *sum = NULL;
  if (eval[1] != NULL) sum = build_adjugate(b, a, eval[1]);
  if (eval[0] != NULL)
    sum = build_add_present(b, sum, build_adj_tangent(b, a, build_mul(b, adj_as_matrix(b, w), eval[0])));
  rout[0] = sum;
  return b->status;
}

/* tr(X·Y) as a matrix of one entry. */
static damo_var *adj_trace(build *b, damo_var *x, damo_var *y) {
  return adj_as_matrix(b, build_matrix_inner(b, x, build_swap_last(b, y)));
}

static damo_var *build_adj_second(build *b, damo_var *a, damo_var *h, damo_var *k) {
  return a && h && k ? build_core_first(b, &adjugate_second_def, NULL, (damo_var *const[]){a, h, k}, 3) : NULL;
}

/* tr(K·T(A, H)), the second derivative of det in directions H and K, and its derivative tr(S(A, H, K)·dA), the third one, do
 * not depend on the order of the directions. */
static damo_status adj_tangent_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *h = node->in[1], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *k = build_adjoint(b, g);
  gin[0] = build_unbroadcast(b, build_adjoint(b, build_adj_second(b, a, h, k)), a);
  gin[1] = build_unbroadcast(b, build_adjoint(b, build_adj_tangent(b, a, k)), h);
  return b->status;
}

static damo_status adj_tangent_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *sum = NULL;
  if (eval[0] != NULL) sum = build_adj_second(b, node->in[0], node->in[1], eval[0]);
  if (eval[1] != NULL) sum = build_add_present(b, sum, build_adj_tangent(b, node->in[0], eval[1]));
  rout[0] = sum;
  return b->status;
}

/* The third derivative of adj at A far from singular, with X = A⁻¹ and P, Q, R = X·H, X·K, X·E: det(A) times
 *   (tr P tr Q tr R - tr P tr QR - tr Q tr PR - tr R tr PQ + tr PQR + tr PRQ)·X - Σ (tr P tr Q - tr PQ)·R·X
 *   + Σ tr P·(Q·R + R·Q)·X - Σ P·Q·R·X over all orders. */
static damo_var *build_adj_third(build *b, damo_var *a, damo_var *const *directions) {
  damo_var *x = build_inv(b, a), *p[3], *traces[3], *square[3], *pair[3], *sum = NULL, *scale = NULL;
  for (int i = 0; i < 3; i++) {
    p[i] = build_matmul(b, x, directions[i]);
    traces[i] = adj_trace(b, x, directions[i]);
  }
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < 3; i++) { /* of the other two, both ways */
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    damo_var *one_way = build_matmul(b, p[j], p[k]);
    square[i] = build_add(b, one_way, build_matmul(b, p[k], p[j]));
    pair[i] = build_sub(b, build_mul(b, traces[j], traces[k]), adj_trace(b, p[j], p[k]));
    if (b->status != DAMO_OK) return NULL;
    damo_var *term = build_sub(b, build_mul(b, traces[i], square[i]), build_mul(b, pair[i], p[i]));
    term = build_sub(b, term, build_matmul(b, p[i], square[i]));
    sum = build_add_present(b, sum, term);
    if (i == 0) scale = build_add(b, build_mul(b, traces[0], pair[0]), adj_trace(b, p[0], square[0]));
    if (i > 0) scale = build_sub(b, scale, build_mul(b, traces[i], adj_trace(b, p[0], p[3 - i])));
  }
  if (b->status != DAMO_OK) return NULL;
  damo_var *det = adj_as_matrix(b, build_core_first(b, &det_def, NULL, &a, 1));
  return build_mul(b, det, build_add(b, build_mul(b, scale, x), build_matmul(b, sum, x)));
}

/* A singular matrix is told by the inverse: fourth derivatives of its determinant are not there. */
static damo_status adj_second_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *h = node->in[1], *k = node->in[2];
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *e = build_adjoint(b, gout[0]);
  gin[0] = build_unbroadcast(b, build_adjoint(b, build_adj_third(b, a, (damo_var *const[]){h, k, e})), a);
  gin[1] = build_unbroadcast(b, build_adjoint(b, build_adj_second(b, a, k, e)), h);
  gin[2] = build_unbroadcast(b, build_adjoint(b, build_adj_second(b, a, h, e)), k);
  return b->status;
}

const op_def adjugate_def = {
    .name = "Adjugate",
    .library = "LAPACK",
    .doc = "adjugates of a stack of matrices, det(a)·inv(a) also where a is singular, times a stack of scalars",
    .n_in = 2,
    CORE_OP(adj_class),
    .emit_c = core_emit_c,
    .grad = adjugate_grad,
    .rop = adjugate_rop,
    OP_CHECK(adjugate_check),
};

const op_def adjugate_tangent_def = {
    .name = "AdjugateTangent",
    .doc = "the derivatives of a stack of matrices' adjugates in the directions of a second stack",
    .n_in = 2,
    CORE_OP(adj_tangent_class),
    .emit_c = core_emit_c,
    .grad = adj_tangent_grad,
    .rop = adj_tangent_rop,
    .no_check = "a sum of minors without an equation of its own: spec/linalg/solve_spec.lua has differences",
};

static const op_def adjugate_second_def = {
    .name = "AdjugateSecond",
    .doc = "the second derivatives of a stack of matrices' adjugates in the directions of two further stacks",
    .n_in = 3,
    CORE_OP(adj_second_class),
    .emit_c = core_emit_c,
    .grad = adj_second_grad,
    .no_check = "a sum of minors without an equation of its own: spec/linalg/solve_spec.lua has differences",
};

/* ---- From shared factors ----------------------------------------------------------------------------------------- */

/* Restores the matrix from the factors P·L·U that lie by columns in m, into e->a, transposed. */
static bool adj_load_factors(adj_elimination *e, const core_mat *m, const lapack_int *ipiv) {
  const int64_t n = e->n;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      damo_c128 sum = {0, 0};
      for (int64_t k = 0; k <= i && k <= j; k++) {
        /* in the memory's order, row k of U is column k */
        const damo_c128 u = mat_get(m, j, k), l = k == i ? (damo_c128){1, 0} : mat_get(m, k, i);
        sum = add_c128(sum, mul_c128(l, u));
      }
      e->a[j * n + i] = sum;
    }
  }
  bool finite = true;
  for (int64_t k = 0; k < n * n; k++) finite = finite && isfinite(e->a[k].re) && isfinite(e->a[k].im);
  for (int64_t k = n - 1; k >= 0; k--) {
    const int64_t other = ipiv[k] - 1;
    for (int64_t j = 0; j < n && other != k; j++) {
      const damo_c128 t = e->a[j * n + k];
      e->a[j * n + k] = e->a[j * n + other], e->a[j * n + other] = t;
    }
  }
  return finite;
}

static damo_status lu_adjugate_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const int64_t *pivots = (const int64_t *)(const void *)c->in[1].data, n = m->rows;
  lapack_int *ipiv = (lapack_int *)(void *)c->work;
  char *work = c->work + adj_ipiv_bytes(c);
  const damo_c128 w = mat_get(&c->in[2], 0, 0);
  for (int64_t i = 0; i < n; i++) ipiv[i] = (lapack_int)pivots[i];
  if (n == 0) return DAMO_OK;
  if (adj_is_regular(m)) {
    adj_of_factors(c, m, ipiv, w, work);
    return DAMO_OK;
  }
  adj_elimination e = adj_space(work + adj_round((size_t)adj_getri_length(c) * dtype_size(c->dtype)), n);
  if (adj_load_factors(&e, m, ipiv))
    adj_run_eliminated(&e, w, m);
  else
    adj_fill_nan(m);
  return DAMO_OK;
}

static bool lu_adjugate_plan_lanes(const core_call *c, core_lane_plan *plan) {
  (void)c;
  plan->transposed_in[0] = true;
  plan->spare = 1;
  return true;
}

static void lu_adjugate_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  lanes_identity(c, n, l->out[0]);
  l->fns->solve(n, n, l->in[0], l->in[1], true, l->out[0]);
  adj_finish_lanes(c, l, l->in[0], l->in[1], l->spare);
}

static const core_class lu_adjugate_class = {
    .func = "adjugate",
    .form = {.signature = "(n,n),(n),()->(n,n)", .in = "fif", .in_layout = "-cs", .from = "1"},
    .workspace = adj_workspace,
    .run = lu_adjugate_run,
    .plan_lanes = lu_adjugate_plan_lanes,
    .run_lanes = lu_adjugate_lanes,
    .emit_c = lu_adjugate_emit_c,
    .emits_complex = true,
};

static const op_def lu_adjugate_def = {
    .name = "LUAdjugate",
    .library = "LAPACK",
    .doc = "adjugates of a stack of matrices from their factors, times a stack of scalars",
    .n_in = 3,
    CORE_OP(lu_adjugate_class),
    .emit_c = core_emit_c,
    .no_check = "of factors that rewriting makes: DEBUG compares the graph before it",
};

damo_var *build_lu_adjugate(build *b, const damo_apply *factors, damo_var *w) {
  if (factors == NULL) return NULL;
  return build_core_first(b, &lu_adjugate_def, NULL, (damo_var *const[]){factors->out[0], factors->out[1], w}, 3);
}

const op_func linalg_adjugate_funcs[] = {{.name = NULL}};
const op_def *const linalg_adjugate_classes[] = {&adjugate_def, &adjugate_tangent_def, &adjugate_second_def,
                                                 &lu_adjugate_def, NULL};
