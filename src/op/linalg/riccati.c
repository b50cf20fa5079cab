/* riccati: ContinuousRiccati: the stabilising X of Aᴴ·X + X·A - X·B·R⁻¹·Bᴴ·X + Q = 0, from the deflating subspace of an
 * extended pencil in the left half plane (Van Dooren, 1981). Computed in complex128.
 *
 * The pencil [A 0 B; -Q -Aᴴ 0; 0 Bᴴ R] - λ·[I 0 0; 0 I 0; 0 0 0] has infinite eigenvalues; reflections that take the
 * last columns to a triangle leave the rows below it, a pencil of order 2n, to those that are finite.
 */
#include "compose.h"
#include "decompose.h"
#include "schur_form.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <math.h>
#include <string.h>

typedef struct care_props {
  prop_value on_fail;
} care_props;

typedef struct care_space {
  damo_c128 *all, *h, *j, *alpha, *beta, *v, *work, *u, *x;
  double *rwork;
  lapack_int *bwork, lwork;
  size_t total;
} care_space;

static care_space care_plan(const core_call *c) {
  carving w = {.data = c->work};
  const size_t n = (size_t)c->in[0].rows, k = (size_t)c->in[1].cols, order = 2 * n, size = sizeof(damo_c128);
  care_space s = {.lwork = (lapack_int)(order < 1000000 ? 66 * order + 1 : 2 * order + 1)};
  s.all = carve(&w, (order + k) * (2 * order + k) * size);
  s.h = carve(&w, order * order * size);
  s.j = carve(&w, order * order * size);
  s.v = carve(&w, order * order * size);
  s.alpha = carve(&w, order * size);
  s.beta = carve(&w, order * size);
  s.work = carve(&w, (size_t)s.lwork * size);
  s.u = carve(&w, n * n * size);
  s.x = carve(&w, n * n * size);
  s.rwork = carve(&w, 8 * order * sizeof(double));
  s.bwork = carve(&w, order * sizeof(lapack_int));
  s.total = w.used;
  return s;
}

static size_t care_workspace(const core_call *c) { return care_plan(c).total; }

/* The columns of B, 0 and R, of the pencil's first matrix, and of its second one, one after the other in s->all. */
static void care_fill(const core_call *c, const care_space *s, int64_t n, int64_t k) {
  const core_mat *a = &c->in[0], *b = &c->in[1], *q = &c->in[2], *r = &c->in[3];
  const int64_t rows = 2 * n + k;
  damo_c128 *last = s->all, *h = last + rows * k, *j = h + rows * 2 * n;
  memset(s->all, 0, (size_t)(rows * (4 * n + k)) * sizeof *s->all);
  for (int64_t col = 0; col < k; col++) {
    for (int64_t i = 0; i < n; i++) last[i + col * rows] = mat_get(b, i, col);
    for (int64_t i = 0; i < k; i++) last[2 * n + i + col * rows] = mat_get(r, i, col);
  }
  for (int64_t col = 0; col < n; col++) {
    for (int64_t i = 0; i < n; i++) {
      const damo_c128 v = mat_get(q, i, col), t = mat_get(a, col, i);
      h[i + col * rows] = mat_get(a, i, col);
      h[n + i + col * rows] = (damo_c128){-v.re, -v.im};
      h[n + i + (n + col) * rows] = (damo_c128){-t.re, t.im};
    }
    for (int64_t i = 0; i < k; i++) h[2 * n + i + (n + col) * rows] = complex_conj(mat_get(b, col, i));
    j[col + col * rows].re = 1;
    j[n + col + (n + col) * rows].re = 1;
  }
}

/* Reflects rows from `first` on so that column `first` has zeros below its diagonal; applied to the columns behind. */
static void care_reflect(damo_c128 *m, int64_t rows, int64_t cols, int64_t first) {
  damo_c128 *v = m + first * rows;
  double square = 0;
  for (int64_t i = first; i < rows; i++) square += v[i].re * v[i].re + v[i].im * v[i].im;
  const double size = sqrt(square), head = complex_size(v[first]);
  if (size == 0) return;
  const damo_c128 phase = head == 0 ? (damo_c128){1, 0} : (damo_c128){v[first].re / head, v[first].im / head};
  v[first] = (damo_c128){v[first].re + phase.re * size, v[first].im + phase.im * size};
  const double scale = 1 / (size * (size + head)); /* 2 / |v|² */
  for (int64_t j = first + 1; j < cols; j++) {
    damo_c128 *x = m + j * rows, sum = {0, 0};
    for (int64_t i = first; i < rows; i++) complex_add_product(&sum, complex_conj(v[i]), x[i]);
    const damo_c128 f = {-scale * sum.re, -scale * sum.im};
    for (int64_t i = first; i < rows; i++) complex_add_product(&x[i], f, v[i]);
  }
}

static damo_status care_run(core_call *c) {
  const int64_t n = c->in[0].rows, k = c->in[1].cols, all = 2 * n + k;
  const lapack_int order = (lapack_int)(2 * n), rows = (lapack_int)n;
  lapack_int left = 0, info = 0;
  if (n == 0) return DAMO_OK;
  const care_space s = care_plan(c);
  care_fill(c, &s, n, k);
  const core_mat whole = {.data = (char *)s.all,
                          .rows = all,
                          .cols = 4 * n + k,
                          .cs = all * (int64_t)sizeof(damo_c128),
                          .dtype = DAMO_COMPLEX128};
  DAMO_TRY(spectral_check_finite(c, &whole));
  for (int64_t i = 0; i < k; i++) care_reflect(s.all, all, 4 * n + k, i);
  for (int64_t j = 0; j < order; j++) {
    memcpy(s.h + j * order, s.all + (k + j) * all + k, (size_t)order * sizeof *s.h);
    memcpy(s.j + j * order, s.all + (k + order + j) * all + k, (size_t)order * sizeof *s.j);
  }
  lapack_gges_left(&order, s.h, s.j, &left, s.alpha, s.beta, s.v, s.work, &s.lwork, s.rwork, s.bwork, &info);
  if (info != 0 || left != rows) return core_fail(c, "there is no stabilising solution");
  return riccati_solution(c, n, order, s.v, s.u, s.bwork, s.x);
}

static const core_class care_class = {.func = "solve_continuous_are",
                                      .needs_lapack = core_needs_lapack,
                                      .form = {.signature = "(n,n),(n,k),(n,n),(k,k)->(n,n)"},
                                      .workspace = care_workspace,
                                      .run = care_run};

/* K = R⁻¹·Bᴴ·X */
static damo_var *build_care_gain(build *b, const damo_apply *node) {
  return build_matrix_solve(b, node->in[3], build_matmul(b, build_adjoint(b, node->in[1]), node->out[0]));
}

/* With the closed loop C = A - B·K a change of the operands moves X by the solution of Cᴴ·dX + dX·C + S = 0 with
 * S = (dA - dB·K)ᴴ·X + X·(dA - dB·K) + dQ + Kᴴ·dR·K. X is Hermitian, so G counts by its Hermitian part. */
static damo_status care_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *in = node->in[1], *x = node->out[0], *g = gout[0];
  if (g == NULL) return b->status;
  damo_var *k = build_care_gain(b, node), *kh = k != NULL ? build_adjoint(b, k) : NULL;
  damo_var *closed = build_sub(b, a, build_matmul(b, in, k));
  g = build_mul(b, build_add(b, g, build_adjoint(b, g)), build_num(b, -0.5));
  if (b->status != DAMO_OK) return b->status;
  damo_var *y = build_sylvester(b, closed, build_adjoint(b, closed), g);
  damo_var *ga = build_mul(b, build_matmul(b, x, y), build_num(b, 2));
  if (b->status != DAMO_OK) return b->status;
  gin[0] = build_unbroadcast(b, ga, a);
  gin[1] = build_unbroadcast(b, build_neg(b, build_matmul(b, ga, kh)), in);
  gin[2] = build_unbroadcast(b, y, node->in[2]);
  gin[3] = build_unbroadcast(b, build_matmul(b, build_matmul(b, k, y), kh), node->in[3]);
  return b->status;
}

const op_def continuous_riccati_def = {
    .name = "ContinuousRiccati",
    .library = "LAPACK",
    .doc = "stabilising solutions of continuous algebraic Riccati equations",
    .props = PROPS(PROP_WORD_OR_NIL(care_props, on_fail, "nan")),
    .n_in = 4,
    CORE_OP(care_class),
    .grad = care_grad,
    .no_check = "its equation has an inverse: spec/linalg/equations_spec.lua tests it",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct care_options {
  prop_value on_fail;
} care_options;

static damo_status fn_continuous_are(build *b, const fn_args *a, ptrvec *out) {
  care_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, care_options)->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &continuous_riccati_def, &props, a->in, 4));
}

const op_func linalg_riccati_funcs[] = {
    {.name = "linalg.solve_continuous_are",
     .operands = "a b q r",
     .options = OPTIONS(OPT(care_options, on_fail, OPT_STR)),
     .call = fn_continuous_are,
     .no_method = true,
     .doc = "the stabilising x of aᴴ·x + x·a - x·b·r⁻¹·bᴴ·x + q = 0"},
    {.name = NULL},
};

const op_def *const linalg_riccati_classes[] = {&continuous_riccati_def, NULL};
