/* sylvester: Schur, Sylvester, DiscreteLyapunov, DiscreteRiccati: the Schur form of a matrix, and matrix equations that
 * are solved in it. Float32 operands are solved in double precision.
 *
 *   Sylvester           A·X + X·B = Q, by LAPACK's trsyl between Schur forms (Bartels and Stewart, 1972)
 *   DiscreteLyapunov    X = A·X·Aᴴ + Q, column by column in the Schur form of A (Kitagawa, 1977)
 *   DiscreteRiccati     X = Aᴴ·X·A - Aᴴ·X·B·(R + Bᴴ·X·B)⁻¹·Bᴴ·X·A + Q, the stabilising solution, from the deflating
 *                       subspace of the extended pencil inside the unit circle (Van Dooren, 1981)
 *
 * Gradients solve the adjoint equation: with Y of Aᴴ·Y + Y·Bᴴ = G, those of A, B, Q are -Y·Xᴴ, -Xᴴ·Y, Y.
 */
#include "core_c.h"
#include "compose.h"
#include "decompose.h"
#include "schur_form.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct equation_props {
  prop_value on_fail;
} equation_props;

/* ---- Schur ------------------------------------------------------------------------------------------------------- */

/* The parts of the workspace of gees in the operands' dtype. */
typedef struct schur_space {
  char *w, *work, *rwork;
  lapack_int lwork;
  size_t total;
} schur_space;

static schur_space schur_plan(const core_call *c) {
  carving w = {.data = c->work};
  const size_t n = (size_t)c->out[0].rows, size = dtype_size(c->dtype);
  schur_space s = {.lwork = schur_work_length(c->dtype, (lapack_int)n)};
  s.w = carve(&w, 2 * n * size);
  s.work = carve(&w, (size_t)s.lwork * size);
  s.rwork = carve(&w, n * size);
  s.total = w.used;
  return s;
}

static size_t schur_workspace(const core_call *c) { return schur_plan(c).total; }

static damo_status schur_run(core_call *c) {
  const core_mat *t = &c->out[0], *z = &c->out[1];
  const lapack_int n = (lapack_int)t->rows, ldt = (lapack_int)t->ld, ldz = (lapack_int)z->ld;
  lapack_int info = 0;
  if (n == 0) return DAMO_OK;
  const schur_space s = schur_plan(c);
  DAMO_TRY(spectral_check_finite(c, t));
  spectral_of(c->dtype)->gees(&n, t->data, &ldt, s.w, z->data, &ldz, s.work, &s.lwork, s.rwork, &info);
  return spectral_outcome(c, info, "the iteration for the Schur form did not converge");
}

static const core_class schur_class = {
    .func = "schur",
    .needs_lapack = core_needs_lapack,
    .form = {.signature = "(n,n)->(n,n),(n,n)", .in_layout = "-", .out_layout = "cc", .from = "1-"},
    .workspace = schur_workspace,
    .run = schur_run,
    .emit_c = schur_emit_c,
    .emits_complex = true};

static damo_status schur_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL || gout[1] != NULL)
    gin[0] =
        build_null(b, "the Schur form has no gradient here; write the function by eigenvalues or matrix functions");
  return b->status;
}

const op_def schur_def = {
    .name = "Schur",
    .library = "LAPACK",
    .doc = "Schur form of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(equation_props, on_fail, "nan")),
    .n_in = 1,
    .n_out = 2,
    CORE_OP(schur_class),
    .emit_c = core_emit_c,
    .grad = schur_grad,
    OP_CHECK(schur_check),
};

/* ---- Sylvester --------------------------------------------------------------------------------------------------- */

typedef struct sylvester_space {
  schur_form a, b;
  char *f, *g;
  size_t total;
} sylvester_space;

static sylvester_space sylvester_plan(const core_call *c) {
  carving w = {.data = c->work};
  const damo_dtype dtype = dtype_is_complex(c->dtype) ? DAMO_COMPLEX128 : DAMO_FLOAT64;
  const size_t bytes = (size_t)c->out[0].rows * (size_t)c->out[0].cols * dtype_size(dtype);
  sylvester_space s = {.a = schur_carve(&w, dtype, c->in[0].rows), .b = schur_carve(&w, dtype, c->in[1].rows)};
  s.f = carve(&w, bytes);
  s.g = carve(&w, bytes);
  s.total = w.used;
  return s;
}

static size_t sylvester_workspace(const core_call *c) { return sylvester_plan(c).total; }

/* With A = U·S·Uᴴ and B = V·T·Vᴴ: S·Y + Y·T = Uᴴ·Q·V, X = U·Y·Vᴴ. */
static damo_status sylvester_run(core_call *c) {
  const sylvester_space s = sylvester_plan(c);
  const damo_dtype dtype = s.a.dtype;
  const lapack_int m = s.a.n, n = s.b.n, plus = 1;
  double scale = 1;
  lapack_int info = 0;
  if (m == 0 || n == 0) return DAMO_OK;
  DAMO_TRY(schur_factor(c, &s.a, &c->in[0]));
  DAMO_TRY(schur_factor(c, &s.b, &c->in[1]));
  const double least = 8 * DBL_EPSILON * fmax(schur_radius(&s.a), schur_radius(&s.b));
  for (lapack_int i = 0; i < m; i++) {
    for (lapack_int j = 0; j < n; j++) {
      const damo_c128 x = schur_value(&s.a, i), y = schur_value(&s.b, j);
      if (hypot(x.re + y.re, x.im + y.im) <= least)
        return core_fail(c, "a and -b have a common eigenvalue (to rounding): there is no unique solution");
    }
  }
  load_columns(&c->in[2], dtype, s.g);
  matrix_gemm(dtype, "C", "N", m, n, m, s.a.z, s.g, s.f);
  matrix_gemm(dtype, "N", "N", m, n, n, s.f, s.b.z, s.g);
  spectral_of(dtype)->trsyl("N", "N", &plus, &m, &n, s.a.t, &m, s.b.t, &n, s.g, &m, &scale, &info, 1, 1);
  if (info != 0 || !(scale > 0))
    return core_fail(c, "a and -b have a common eigenvalue (to rounding): there is no unique solution");
  matrix_gemm(dtype, "N", "N", m, n, m, s.a.z, s.g, s.f);
  matrix_gemm(dtype, "N", "C", m, n, n, s.f, s.b.z, s.g);
  store_columns(&c->out[0], dtype, s.g, 1 / scale);
  return DAMO_OK;
}

static const core_class sylvester_class = {.func = "solve_sylvester",
                                           .needs_lapack = core_needs_lapack,
                                           .form = {.signature = "(m,m),(n,n),(m,n)->(m,n)"},
                                           .workspace = sylvester_workspace,
                                           .run = sylvester_run,
                                           .emit_c = sylvester_emit_c,
                                           .emits_complex = true};

damo_var *build_sylvester(build *b, damo_var *a, damo_var *c, damo_var *q) {
  return build_core_first(b, &sylvester_def, NULL, (damo_var *const[]){a, c, q}, 3);
}

static damo_status sylvester_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->out[0];
  if (gout[0] == NULL) return b->status;
  damo_var *y = build_sylvester(b, build_adjoint(b, node->in[0]), build_adjoint(b, node->in[1]), gout[0]);
  damo_var *xh = build_adjoint(b, x);
  if (y == NULL || xh == NULL) return b->status;
  damo_var *minus = build_neg(b, y);
  gin[0] = build_unbroadcast(b, build_matmul(b, minus, xh), node->in[0]);
  gin[1] = build_unbroadcast(b, build_matmul(b, xh, minus), node->in[1]);
  gin[2] = build_unbroadcast(b, y, node->in[2]);
  return b->status;
}

static damo_status sylvester_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *x = node->out[0], *q = eval[2];
  for (int i = 0; i < 2; i++) {
    if (eval[i] == NULL) continue;
    damo_var *term = i == 0 ? build_matmul(b, eval[0], x) : build_matmul(b, x, eval[1]);
    q = q != NULL ? build_sub(b, q, term) : build_neg(b, term);
  }
  if (q != NULL) rout[0] = build_sylvester(b, node->in[0], node->in[1], q);
  return b->status;
}

const op_def sylvester_def = {
    .name = "Sylvester",
    .library = "LAPACK",
    .doc = "solutions x of a·x + x·b = q",
    .props = PROPS(PROP_WORD_OR_NIL(equation_props, on_fail, "nan")),
    .n_in = 3,
    CORE_OP(sylvester_class),
    .emit_c = core_emit_c,
    .grad = sylvester_grad,
    .rop = sylvester_rop,
    OP_CHECK(sylvester_check),
};

/* ---- Discrete Lyapunov equation ---------------------------------------------------------------------------------- */

typedef struct lyapunov_space {
  schur_form a;
  damo_c128 *y, *f, *r;
  size_t total;
} lyapunov_space;

static lyapunov_space lyapunov_plan(const core_call *c) {
  carving w = {.data = c->work};
  const size_t n = (size_t)c->in[0].rows;
  lyapunov_space s = {.a = schur_carve(&w, DAMO_COMPLEX128, (int64_t)n)};
  s.y = carve(&w, n * n * sizeof(damo_c128));
  s.f = carve(&w, n * n * sizeof(damo_c128));
  s.r = carve(&w, n * sizeof(damo_c128));
  s.total = w.used;
  return s;
}

static size_t lyapunov_workspace(const core_call *c) { return lyapunov_plan(c).total; }

/* Y = T·Y·Tᴴ + F with T upper triangular, over F. Column k, the last one first, solves
 * (I - conj(t(k, k))·T)·y = f(:, k) + T·r with r the sum of y(:, j)·conj(t(k, j)) over j > k. */
static bool lyapunov_solve(const lyapunov_space *s, lapack_int n, damo_c128 *f) {
  const damo_c128 *t = (const damo_c128 *)(const void *)s->a.t;
  const double radius = schur_radius(&s->a), least = 8 * DBL_EPSILON * fmax(1, radius * radius);
  for (lapack_int k = n - 1; k >= 0; k--) {
    damo_c128 *y = f + (int64_t)k * n;
    memset(s->r, 0, (size_t)n * sizeof *s->r);
    for (lapack_int j = k + 1; j < n; j++) {
      const damo_c128 tkj = complex_conj(t[k + (int64_t)j * n]), *yj = f + (int64_t)j * n;
      for (lapack_int i = 0; i < n; i++) complex_add_product(&s->r[i], yj[i], tkj);
    }
    for (lapack_int j = 0; j < n; j++)
      for (lapack_int i = 0; i <= j; i++) complex_add_product(&y[i], t[i + (int64_t)j * n], s->r[j]);
    const damo_c128 d = complex_conj(t[k + (int64_t)k * n]);
    for (lapack_int i = n - 1; i >= 0; i--) {
      const damo_c128 p = mul_c128(d, t[i + (int64_t)i * n]), divisor = {1 - p.re, -p.im};
      if (hypot(divisor.re, divisor.im) <= least) return false;
      y[i] = div_c128(y[i], divisor);
      const damo_c128 dy = mul_c128(d, y[i]);
      for (lapack_int l = 0; l < i; l++) complex_add_product(&y[l], t[l + (int64_t)i * n], dy);
    }
  }
  return true;
}

static damo_status lyapunov_run(core_call *c) {
  const lyapunov_space s = lyapunov_plan(c);
  const lapack_int n = s.a.n;
  if (n == 0) return DAMO_OK;
  DAMO_TRY(schur_factor(c, &s.a, &c->in[0]));
  load_columns(&c->in[1], DAMO_COMPLEX128, s.y);
  matrix_gemm(DAMO_COMPLEX128, "C", "N", n, n, n, s.a.z, s.y, s.f);
  matrix_gemm(DAMO_COMPLEX128, "N", "N", n, n, n, s.f, s.a.z, s.y);
  if (!lyapunov_solve(&s, n, s.y))
    return core_fail(c, "two eigenvalues of a have the product 1 (to rounding): there is no unique solution");
  matrix_gemm(DAMO_COMPLEX128, "N", "N", n, n, n, s.a.z, s.y, s.f);
  matrix_gemm(DAMO_COMPLEX128, "N", "C", n, n, n, s.f, s.a.z, s.y);
  store_columns(&c->out[0], DAMO_COMPLEX128, s.y, 1);
  return DAMO_OK;
}

static const core_class lyapunov_class = {.func = "solve_discrete_lyapunov",
                                          .needs_lapack = core_needs_lapack,
                                          .form = {.signature = "(n,n),(n,n)->(n,n)"},
                                          .workspace = lyapunov_workspace,
                                          .run = lyapunov_run,
                                          .emit_c = lyapunov_emit_c,
                                          .emits_complex = true};

damo_var *build_discrete_lyapunov(build *b, damo_var *a, damo_var *q) {
  return build_core_first(b, &discrete_lyapunov_def, NULL, (damo_var *const[]){a, q}, 2);
}

/* With Y = Aᴴ·Y·A + G: that of A is Y·A·Xᴴ + Yᴴ·A·X. */
static damo_status lyapunov_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *x = node->out[0];
  if (gout[0] == NULL) return b->status;
  damo_var *y = build_discrete_lyapunov(b, build_adjoint(b, a), gout[0]);
  if (y == NULL) return b->status;
  damo_var *one = build_matmul(b, build_matmul(b, y, a), build_adjoint(b, x));
  damo_var *two = build_matmul(b, build_matmul(b, build_adjoint(b, y), a), x);
  gin[0] = build_unbroadcast(b, build_add(b, one, two), a);
  gin[1] = build_unbroadcast(b, y, node->in[1]);
  return b->status;
}

static damo_status lyapunov_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *a = node->in[0], *q = eval[1];
  if (eval[0] != NULL) {
    damo_var *ax = build_matmul(b, a, node->out[0]), *ah = build_adjoint(b, a);
    damo_var *one = build_matmul(b, build_matmul(b, eval[0], node->out[0]), ah);
    q = build_add_present(b, q, build_add(b, one, build_matmul(b, ax, build_adjoint(b, eval[0]))));
  }
  if (q != NULL) rout[0] = build_discrete_lyapunov(b, a, q);
  return b->status;
}

const op_def discrete_lyapunov_def = {
    .name = "DiscreteLyapunov",
    .library = "LAPACK",
    .doc = "solutions x of x = a·x·aᴴ + q",
    .props = PROPS(PROP_WORD_OR_NIL(equation_props, on_fail, "nan")),
    .n_in = 2,
    CORE_OP(lyapunov_class),
    .emit_c = core_emit_c,
    .grad = lyapunov_grad,
    .rop = lyapunov_rop,
    OP_CHECK(lyapunov_check),
};

/* ---- Discrete Riccati equation ----------------------------------------------------------------------------------- */

typedef struct riccati_space {
  damo_c128 *h, *j, *alpha, *beta, *v, *work, *u, *x;
  double *rwork;
  lapack_int *bwork, lwork;
  size_t total;
} riccati_space;

static riccati_space riccati_plan(const core_call *c) {
  carving w = {.data = c->work};
  const size_t n = (size_t)c->in[0].rows, order = 2 * n + (size_t)c->in[1].cols, size = sizeof(damo_c128);
  riccati_space s = {.lwork = (lapack_int)(order < 1000000 ? 66 * order + 1 : 2 * order + 1)};
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

static size_t riccati_workspace(const core_call *c) { return riccati_plan(c).total; }

/* H = [A 0 B; -Q I 0; 0 0 R] and J = [I 0 0; 0 Aᴴ 0; 0 -Bᴴ 0], by columns. */
static void riccati_pencil(const core_call *c, const riccati_space *s, int64_t n, int64_t k) {
  const core_mat *a = &c->in[0], *b = &c->in[1], *q = &c->in[2], *r = &c->in[3];
  const int64_t order = 2 * n + k;
  memset(s->h, 0, (size_t)(order * order) * sizeof *s->h);
  memset(s->j, 0, (size_t)(order * order) * sizeof *s->j);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      const damo_c128 v = mat_get(q, i, j);
      s->h[i + j * order] = mat_get(a, i, j);
      s->h[n + i + j * order] = (damo_c128){-v.re, -v.im};
      s->j[n + i + (n + j) * order] = complex_conj(mat_get(a, j, i));
    }
    s->h[n + j + (n + j) * order].re = 1;
    s->j[j + j * order].re = 1;
    for (int64_t i = 0; i < k; i++) {
      const damo_c128 v = mat_get(b, j, i);
      s->j[2 * n + i + (n + j) * order] = (damo_c128){-v.re, v.im};
      s->h[j + (2 * n + i) * order] = v;
    }
  }
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < k; i++) s->h[2 * n + i + (2 * n + j) * order] = mat_get(r, i, j);
}

damo_status riccati_solution(core_call *c, int64_t n, int64_t order, const damo_c128 *v, damo_c128 *u,
                             lapack_int *pivots, damo_c128 *x) {
  const lapack_int rows = (lapack_int)n;
  lapack_int info = 0;
  /* Xᵀ solves U₁ᵀ·Xᵀ = U₂ᵀ: by columns, so X by rows. */
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      u[i + j * n] = v[i + j * order];
      x[j + i * n] = v[n + i + j * order];
    }
  }
  const lapack_table *lapack = lapack_of(DAMO_COMPLEX128);
  lapack->getrf(&rows, &rows, u, &rows, pivots, &info);
  if (info != 0) return core_fail(c, "there is no stabilising solution");
  lapack->getrs("T", &rows, &rows, u, &rows, pivots, x, &rows, &info, 1);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const damo_c128 one = x[i * n + j], other = x[j * n + i];
      mat_put(&c->out[0], i, j, (damo_c128){(one.re + other.re) / 2, (one.im - other.im) / 2});
    }
  }
  return DAMO_OK;
}

static damo_status riccati_run(core_call *c) {
  const int64_t n = c->in[0].rows, k = c->in[1].cols;
  const lapack_int order = (lapack_int)(2 * n + k), rows = (lapack_int)n;
  lapack_int inside = 0, info = 0;
  if (n == 0) return DAMO_OK;
  const riccati_space s = riccati_plan(c);
  riccati_pencil(c, &s, n, k);
  const core_mat pencil = {.data = (char *)s.h,
                           .rows = order,
                           .cols = order,
                           .cs = order * (int64_t)sizeof(damo_c128),
                           .dtype = DAMO_COMPLEX128};
  DAMO_TRY(spectral_check_finite(c, &pencil));
  lapack_gges_inside(&order, s.h, s.j, &inside, s.alpha, s.beta, s.v, s.work, &s.lwork, s.rwork, s.bwork, &info);
  if (info != 0 || inside != rows) return core_fail(c, "there is no stabilising solution");
  return riccati_solution(c, n, order, s.v, s.u, s.bwork, s.x);
}

static const core_class riccati_class = {.func = "solve_discrete_are",
                                         .needs_lapack = core_needs_lapack,
                                         .form = {.signature = "(n,n),(n,k),(n,n),(k,k)->(n,n)"},
                                         .workspace = riccati_workspace,
                                         .run = riccati_run};

/* With K = (R + Bᴴ·X·B)⁻¹·Bᴴ·X·A and the closed loop C = A - B·K, a change of the operands moves X by the solution of
 * dX = Cᴴ·dX·C + Cᴴ·X·(dA - dB·K) + (dA - dB·K)ᴴ·X·C + dQ + Kᴴ·dR·K. X is Hermitian, so G counts by its Hermitian part. */
static damo_status riccati_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *in = node->in[1], *r = node->in[3], *x = node->out[0], *g = gout[0];
  if (g == NULL) return b->status;
  damo_var *bhx = build_matmul(b, build_adjoint(b, in), x);
  damo_var *k = build_matrix_solve(b, build_add(b, r, build_matmul(b, bhx, in)), build_matmul(b, bhx, a));
  damo_var *closed = build_sub(b, a, build_matmul(b, in, k));
  g = build_mul(b, build_add(b, g, build_adjoint(b, g)), build_num(b, 0.5));
  damo_var *y = build_discrete_lyapunov(b, closed, g), *kh = k == NULL ? NULL : build_adjoint(b, k);
  damo_var *ga = build_mul(b, build_matmul(b, build_matmul(b, x, closed), y), build_num(b, 2));
  if (b->status != DAMO_OK) return b->status;
  gin[0] = build_unbroadcast(b, ga, a);
  gin[1] = build_unbroadcast(b, build_neg(b, build_matmul(b, ga, kh)), in);
  gin[2] = build_unbroadcast(b, y, node->in[2]);
  gin[3] = build_unbroadcast(b, build_matmul(b, build_matmul(b, k, y), kh), r);
  return b->status;
}

const op_def discrete_riccati_def = {
    .name = "DiscreteRiccati",
    .library = "LAPACK",
    .doc = "stabilising solutions of discrete algebraic Riccati equations",
    .props = PROPS(PROP_WORD_OR_NIL(equation_props, on_fail, "nan")),
    .n_in = 4,
    CORE_OP(riccati_class),
    .grad = riccati_grad,
    .no_check = "its equation has an inverse: spec/linalg/equations_spec.lua tests it",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct equation_options {
  prop_value output, on_fail;
} equation_options;

static damo_status equation_call(build *b, const fn_args *a, const op_def *def, damo_var *const *in, int n_in,
                                 ptrvec *out) {
  equation_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, equation_options)->on_fail, &props.on_fail)) return b->status;
  damo_apply *node = build_core(b, def, &props, in, n_in);
  if (node == NULL) return b->status;
  for (int i = 0; i < node->n_out; i++) DAMO_TRY(ptrvec_push(out, node->out[i]));
  return DAMO_OK;
}

static damo_status fn_schur(build *b, const fn_args *a, ptrvec *out) {
  const char *output = prop_str_or(FN_OPTIONS(a, equation_options)->output, "real");
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 2));
  if (x == NULL) return b->status;
  const bool as_complex = strcmp(output, "complex") == 0;
  if (!as_complex && strcmp(output, "real") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "schur: the output is \"real\" or \"complex\", not '%s'", output);
  if (as_complex && !dtype_is_complex(var_dtype(x)))
    x = build_cast(b, x, var_dtype(x) == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128);
  return equation_call(b, a, &schur_def, &x, 1, out);
}

static damo_status fn_solve_sylvester(build *b, const fn_args *a, ptrvec *out) {
  return equation_call(b, a, &sylvester_def, a->in, 3, out);
}

/* a·x + x·aᴴ = q */
static damo_status fn_continuous_lyapunov(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = matrix_operand(b, a, 0, 2);
  if (x == NULL) return b->status;
  return equation_call(b, a, &sylvester_def, (damo_var *const[]){x, build_adjoint(b, x), a->in[1]}, 3, out);
}

static damo_status fn_discrete_lyapunov(build *b, const fn_args *a, ptrvec *out) {
  return equation_call(b, a, &discrete_lyapunov_def, a->in, 2, out);
}

static damo_status fn_discrete_are(build *b, const fn_args *a, ptrvec *out) {
  return equation_call(b, a, &discrete_riccati_def, a->in, 4, out);
}

const op_func linalg_sylvester_funcs[] = {
    {.name = "linalg.schur",
     .operands = "a",
     .options = OPTIONS(OPT(equation_options, output, OPT_STR), OPT(equation_options, on_fail, OPT_STR)),
     .call = fn_schur,
     .no_method = true,
     .doc = "t, z with a = z·t·zᴴ, t upper triangular; of real matrices with 2 × 2 blocks, unless output=\"complex\""},
    {.name = "linalg.solve_sylvester",
     .operands = "a b q",
     .options = OPTIONS(OPT(equation_options, on_fail, OPT_STR)),
     .call = fn_solve_sylvester,
     .no_method = true,
     .doc = "x of a·x + x·b = q"},
    {.name = "linalg.solve_continuous_lyapunov",
     .operands = "a q",
     .options = OPTIONS(OPT(equation_options, on_fail, OPT_STR)),
     .call = fn_continuous_lyapunov,
     .no_method = true,
     .doc = "x of a·x + x·aᴴ = q"},
    {.name = "linalg.solve_discrete_lyapunov",
     .operands = "a q",
     .options = OPTIONS(OPT(equation_options, on_fail, OPT_STR)),
     .call = fn_discrete_lyapunov,
     .no_method = true,
     .doc = "x of a·x·aᴴ - x + q = 0"},
    {.name = "linalg.solve_discrete_are",
     .operands = "a b q r",
     .options = OPTIONS(OPT(equation_options, on_fail, OPT_STR)),
     .call = fn_discrete_are,
     .no_method = true,
     .doc = "the stabilising x of x = aᴴ·x·a - aᴴ·x·b·(r + bᴴ·x·b)⁻¹·bᴴ·x·a + q"},
    {.name = NULL},
};

const op_def *const linalg_sylvester_classes[] = {&schur_def, &sylvester_def, &discrete_lyapunov_def,
                                                  &discrete_riccati_def, NULL};
