/* lstsq: least squares and pseudo-inverses by singular values: Lstsq, Pinv. Singular values below rcond times the
 * greatest count as 0; without rcond, below max(m, n) times the dtype's epsilon.
 *
 * Derivatives are those of a matrix whose rank stays: G. H. Golub, V. Pereyra, The differentiation of pseudo-inverses and
 * nonlinear least squares problems whose variables separate, SIAM J. Numer. Anal. 10 (1973), (4.12).
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/kernel.h"
#include "op/shape/shape_int.h"
#include "spectral.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double rcond_of_call(const core_call *c) {
  const int64_t m = c->dim[0], n = c->dim[1];
  const double epsilon = c->dtype == DAMO_FLOAT32 || c->dtype == DAMO_COMPLEX64 ? FLT_EPSILON : DBL_EPSILON;
  return prop_num_or(OP_PROPS(c->op, rcond_props)->rcond, (double)(m > n ? m : n) * epsilon);
}

static bool lstsq_is_single(damo_dtype dtype) { return dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64; }
static size_t whole_lines(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* ---- Lstsq ------------------------------------------------------------------------------------------------------- */

static const core_form lstsq_forms[2] = {
    {.signature = "(m,n),(m,k)->(n,k)", .in_layout = "Cs", .out_layout = "c"},
    {.signature = "(m,n),(m)->(n)", .in_layout = "Cs", .out_layout = "c"},
};
static const core_form *lstsq_form(const damo_op *op) {
  return &lstsq_forms[prop_bool_or(OP_PROPS(op, rcond_props)->vector, false)];
}

/* Workspace: b and x (max(m, n) rows), singular values, rwork, iwork, then work of `length` entries. */
typedef struct lstsq_space {
  size_t values, rwork, iwork, work, bytes;
  lapack_int length;
} lstsq_space;

static lstsq_space lstsq_space_of(const core_call *c) {
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], k = (lapack_int)c->in[1].cols, query = -1;
  const lapack_int ld = m > 1 ? m : 1, most = m > n ? m : n, ldb = most > 1 ? most : 1, least = m < n ? m : n;
  const size_t size = dtype_size(c->dtype);
  const double rcond = 0;
  double work[2] = {0}, rwork[2] = {0};
  lapack_int info = 0, rank = 0, iwork[2] = {0};
  lstsq_space s;
  lapack_of(c->dtype)->gelsd(&m, &n, &k, work, &ld, work, &ldb, work, &rcond, &rank, work, &query, rwork, iwork, &info);
  s.length = lapack_work_length(c->dtype, work);
  s.values = whole_lines((size_t)ldb * (size_t)k * size);
  s.rwork = s.values + whole_lines((size_t)(least + 1) * sizeof(double));
  const size_t reals = (size_t)lapack_work_length(c->dtype, rwork);
  s.iwork = s.rwork + whole_lines((dtype_is_complex(c->dtype) ? reals + 1 : 1) * sizeof(double));
  s.work = s.iwork + whole_lines(((size_t)iwork[0] + 1) * sizeof(lapack_int));
  s.bytes = s.work + (size_t)s.length * size;
  return s;
}

static size_t lstsq_workspace(const core_call *c) { return lstsq_space_of(c).bytes; }

static damo_status lstsq_run(core_call *c) {
  const lstsq_space s = lstsq_space_of(c);
  const core_mat *a = &c->in[0], *rhs = &c->in[1], *x = &c->out[0];
  const size_t size = dtype_size(c->dtype);
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], k = (lapack_int)rhs->cols;
  const lapack_int ld = m > 1 ? m : 1, most = m > n ? m : n, ldb = most > 1 ? most : 1;
  const double rcond = rcond_of_call(c);
  const float rcond32 = (float)rcond;
  lapack_int info = 0, rank = 0;
  /* LAPACK's iterations may not end where an entry is nan or infinite. */
  DAMO_TRY(spectral_check_finite(c, a));
  memset(c->work, 0, (size_t)ldb * (size_t)k * size);
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < m; i++)
      memcpy(c->work + (size_t)(i + j * ldb) * size, rhs->data + i * rhs->rs + j * rhs->cs, size);
  if (!kernel_all_finite(c->dtype, c->work, (int64_t)ldb * k))
    return core_fail(c, "the right side has an entry that is nan or infinite");
  if (m > 0) {
    lapack_of(c->dtype)->gelsd(&m, &n, &k, a->data, &ld, c->work, &ldb, c->work + s.values,
                               lstsq_is_single(c->dtype) ? (const void *)&rcond32 : &rcond, &rank, c->work + s.work,
                               &s.length, c->work + s.rwork, (lapack_int *)(void *)(c->work + s.iwork), &info);
  }
  DAMO_TRY(spectral_outcome(c, info, "the singular values do not converge"));
  for (int64_t j = 0; j < k; j++)
    memcpy(x->data + (size_t)(j * n) * size, c->work + (size_t)(j * ldb) * size, (size_t)n * size);
  return DAMO_OK;
}

static const core_class lstsq_class = {.func = "lstsq",
                                       .needs_lapack = core_needs_lapack,
                                       .form_of = lstsq_form,
                                       .workspace = lstsq_workspace,
                                       .run = lstsq_run,
                                       .emit_c = lstsq_emit_c,
                                       .emits_complex = true};

static damo_var *build_lstsq(build *b, const rcond_props *p, damo_var *a, damo_var *x) {
  return build_core_first(b, &lstsq_def, p, (damo_var *const[]){a, x}, 2);
}

static damo_var *lstsq_times(build *b, damo_var *a, damo_var *x, bool vector) {
  return build_tangent_product(b, 'n', a, x, vector);
}

/* With A⁺ the pseudo-inverse, x = A⁺·b, r = b - A·x: dx = A⁺·(db - dA·x) + A⁺·A⁺ᴴ·dAᴴ·r + (1 - A⁺·A)·dAᴴ·A⁺ᴴ·x. So b̄ = A⁺ᴴ·x̄ and
 * Ā = -b̄·xᴴ + r·(A⁺·b̄)ᴴ + A⁺ᴴ·x·(x̄ - A⁺·A·x̄)ᴴ. */
static damo_status lstsq_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const rcond_props *p = OP_PROPS(node->op, rcond_props);
  const bool vector = prop_bool_or(p->vector, false);
  damo_var *a = node->in[0], *x = node->out[0], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *ah = build_adjoint(b, a), *gb = build_lstsq(b, p, ah, g);
  damo_var *r = build_sub(b, node->in[1], lstsq_times(b, a, x, vector));
  damo_var *w = build_lstsq(b, p, a, gb), *u = build_lstsq(b, p, ah, x);
  damo_var *y = build_sub(b, g, build_lstsq(b, p, a, lstsq_times(b, a, g, vector)));
  damo_var *plus =
      build_add(b, build_system_gradient(b, 'n', r, w, vector), build_system_gradient(b, 'n', u, y, vector));
  gin[0] = build_unbroadcast(b, build_sub(b, build_system_gradient(b, 'n', gb, x, vector), plus), a);
  gin[1] = build_unbroadcast(b, gb, node->in[1]);
  return b->status;
}

static damo_status lstsq_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const rcond_props *p = OP_PROPS(node->op, rcond_props);
  const bool vector = prop_bool_or(p->vector, false);
  damo_var *a = node->in[0], *x = node->out[0], *rhs = eval[1];
  if (eval[0] == NULL) {
    if (rhs != NULL) rout[0] = build_lstsq(b, p, a, rhs);
    return b->status;
  }
  damo_var *ah = build_adjoint(b, a), *dh = build_adjoint(b, eval[0]);
  damo_var *r = build_sub(b, node->in[1], lstsq_times(b, a, x, vector));
  damo_var *moved = lstsq_times(b, eval[0], x, vector);
  rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  rhs = build_add(b, rhs, build_lstsq(b, p, ah, lstsq_times(b, dh, r, vector)));
  damo_var *rest = lstsq_times(b, dh, build_lstsq(b, p, ah, x), vector);
  rest = build_sub(b, rest, build_lstsq(b, p, a, lstsq_times(b, a, rest, vector)));
  rout[0] = build_add(b, build_lstsq(b, p, a, rhs), rest);
  return b->status;
}

#define RCOND_PROPS \
  PROPS(PROP_NUMBER(rcond_props, rcond), PROP_FLAG(rcond_props, vector), PROP_WORD_OR_NIL(rcond_props, on_fail, "nan"))

const op_def lstsq_def = {
    .name = "Lstsq",
    .library = "LAPACK",
    .doc = "least squares solutions of least norm of a stack of systems",
    .props = RCOND_PROPS,
    .n_in = 2,
    CORE_OP(lstsq_class),
    .emit_c = core_emit_c,
    .grad = lstsq_grad,
    .rop = lstsq_rop,
    .terms = TERMS_SOLVED,
    OP_CHECK(lstsq_check),
};

/* ---- Pinv -------------------------------------------------------------------------------------------------------- */

/* Single precision is computed in double and rounded once: derivatives multiply the result by itself, and would enlarge
 * the error of singular vectors. */
static damo_dtype pinv_dtype(const core_call *c) {
  return !lstsq_is_single(c->dtype) ? c->dtype : dtype_is_complex(c->dtype) ? DAMO_COMPLEX128 : DAMO_FLOAT64;
}

/* The matrix by rows is LAPACK's n × m matrix M = Aᵀ = U·S·Vᴴ, and M⁺ = V·S⁺·Uᴴ, m × n, by columns is A⁺ by rows.
 * Workspace: S, U (n × k), Vᴴ (k × m), rwork, iwork, then A and A⁺ in double precision, work. */
typedef struct pinv_space {
  size_t u, vt, rwork, iwork, a, y, work, bytes;
  lapack_int length;
} pinv_space;

static pinv_space pinv_space_of(const core_call *c) {
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], k = m < n ? m : n, query = -1;
  const damo_dtype dtype = pinv_dtype(c);
  const size_t size = dtype_size(dtype), matrix = whole_lines((size_t)m * (size_t)n * size);
  const size_t most = (size_t)(m > n ? m : n), least = (size_t)k;
  double work[2] = {0};
  lapack_int info = 0, iwork = 0;
  pinv_space s = {.length = 1};
  if (k > 0) {
    lapack_of(dtype)->gesdd("S", &n, &m, work, &n, work, work, &n, work, &k, work, &query, work, &iwork, &info, 1);
    s.length = lapack_work_length(dtype, work);
  }
  s.u = whole_lines((least + 1) * sizeof(double));
  s.vt = s.u + whole_lines((size_t)n * least * size);
  s.rwork = s.vt + whole_lines((size_t)m * least * size);
  /* LAPACK 3.7's bound for jobz = S */
  const size_t bound = 5 * least * least + 5 * least, other = 2 * most * least + 2 * least * least + least;
  s.iwork = s.rwork + (dtype_is_complex(dtype) ? whole_lines((bound > other ? bound : other) * sizeof(double)) : 64);
  s.a = s.iwork + whole_lines((8 * least + 1) * sizeof(lapack_int));
  s.y = s.a + (dtype == c->dtype ? 0 : matrix);
  s.work = s.y + (dtype == c->dtype ? 0 : matrix);
  s.bytes = s.work + (size_t)s.length * size;
  return s;
}

static size_t pinv_workspace(const core_call *c) { return pinv_space_of(c).bytes; }

/* U's columns divided by the singular values, 0 where these count as 0. */
static void pinv_scale(const core_call *c, double *u, const double *values, lapack_int k) {
  const double rcond = rcond_of_call(c);
  const int64_t length = c->dim[1] * (dtype_is_complex(c->dtype) ? 2 : 1);
  for (int64_t j = 0; j < k; j++) {
    const double scale = values[j] > rcond * values[0] ? 1 / values[j] : 0;
    for (int64_t i = 0; i < length; i++) u[j * length + i] *= scale;
  }
}

static damo_status pinv_run(core_call *c) {
  const damo_dtype dtype = pinv_dtype(c);
  const lapack_table *la = lapack_of(dtype);
  const pinv_space s = pinv_space_of(c);
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], k = m < n ? m : n;
  const int64_t numbers = (int64_t)m * n * (dtype_is_complex(dtype) ? 2 : 1);
  const bool wide = dtype != c->dtype;
  lapack_int info = 0;
  DAMO_TRY(spectral_check_finite(c, &c->in[0]));
  double *u = (double *)(void *)(c->work + s.u), *values = (double *)(void *)c->work;
  void *vt = c->work + s.vt, *a = wide ? (void *)(c->work + s.a) : c->in[0].data;
  void *y = wide ? (void *)(c->work + s.y) : c->out[0].data;
  if (wide)
    for (int64_t i = 0; i < numbers; i++) ((double *)a)[i] = (double)((const float *)(const void *)c->in[0].data)[i];
  la->gesdd("S", &n, &m, a, &n, values, u, &n, vt, &k, c->work + s.work, &s.length, c->work + s.rwork,
            (lapack_int *)(void *)(c->work + s.iwork), &info, 1);
  DAMO_TRY(spectral_outcome(c, info, "the singular values do not converge"));
  pinv_scale(c, u, values, k);
  const char *op = dtype_is_complex(dtype) ? "C" : "T";
  la->gemm(op, op, &m, &n, &k, lapack_one(dtype), vt, &k, u, &n, lapack_zero(dtype), y, &m, 1, 1);
  if (wide)
    for (int64_t i = 0; i < numbers; i++) ((float *)(void *)c->out[0].data)[i] = (float)((const double *)y)[i];
  return DAMO_OK;
}

static const core_class pinv_class = {.func = "pinv",
                                      .needs_lapack = core_needs_lapack,
                                      .form = {.signature = "(m,n)->(n,m)", .in_layout = "R"},
                                      .workspace = pinv_workspace,
                                      .run = pinv_run,
                                      .emit_c = pinv_emit_c,
                                      .emits_complex = true};

damo_var *build_pinv(build *b, damo_var *a, prop_value rcond) {
  const rcond_props props = {.rcond = rcond, .vector = prop_bool(false)};
  return build_core_first(b, &pinv_def, &props, &a, 1);
}

/* (1 - A·Y)·x, twice: the first difference has rounding errors inside A's range, which factors Y behind it would
 * amplify. */
static damo_var *pinv_left_rest(build *b, damo_var *a, damo_var *y, damo_var *x) {
  for (int k = 0; k < 2; k++) x = build_sub(b, x, build_matmul(b, a, build_matmul(b, y, x)));
  return x;
}
/* x·(1 - Y·A) */
static damo_var *pinv_right_rest(build *b, damo_var *a, damo_var *y, damo_var *x) {
  for (int k = 0; k < 2; k++) x = build_sub(b, x, build_matmul(b, build_matmul(b, x, y), a));
  return x;
}

/* dY = -Y·dA·Y + Y·Yᴴ·dAᴴ·(1 - A·Y) + (1 - Y·A)·dAᴴ·Yᴴ·Y, so with H = Ȳᴴ: Ā = -(Y·H·Y)ᴴ + (1 - A·Y)·H·Y·Yᴴ +
 * Yᴴ·Y·H·(1 - Y·A). */
static damo_status pinv_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *a = node->in[0], *y = node->out[0];
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *h = build_adjoint(b, gout[0]), *yh = build_adjoint(b, y);
  damo_var *below = build_matmul(b, build_matmul(b, pinv_left_rest(b, a, y, h), y), yh);
  damo_var *beside = build_matmul(b, yh, build_matmul(b, y, pinv_right_rest(b, a, y, h)));
  damo_var *inside = build_adjoint(b, build_matmul(b, build_matmul(b, y, h), y));
  gin[0] = build_sub(b, build_add(b, below, beside), inside);
  return b->status;
}

static damo_status pinv_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *a = node->in[0], *y = node->out[0], *d = eval[0];
  if (d == NULL) return DAMO_OK;
  damo_var *dh = build_adjoint(b, d), *yh = build_adjoint(b, y);
  damo_var *below = build_matmul(b, y, build_matmul(b, yh, pinv_right_rest(b, y, a, dh)));
  damo_var *beside = build_matmul(b, build_matmul(b, pinv_left_rest(b, y, a, dh), yh), y);
  rout[0] = build_sub(b, build_add(b, below, beside), build_matmul(b, build_matmul(b, y, d), y));
  return b->status;
}

const op_def pinv_def = {
    .name = "MatrixPinv",
    .library = "LAPACK",
    .doc = "pseudo-inverses of a stack of matrices",
    .props = RCOND_PROPS,
    .n_in = 1,
    CORE_OP(pinv_class),
    .emit_c = core_emit_c,
    .grad = pinv_grad,
    .rop = pinv_rop,
    OP_CHECK(pinv_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct rcond_options {
  prop_value rcond, hermitian, b_ndim, on_fail;
} rcond_options;

static damo_status fn_lstsq(build *b, const fn_args *a, ptrvec *out) {
  const rcond_options *o = FN_OPTIONS(a, rcond_options);
  const int vector = vector_option(b, a, o->b_ndim, a->in[1]);
  rcond_props props = {.rcond = o->rcond, .vector = prop_bool(vector == 1)};
  if (vector < 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_lstsq(b, &props, a->in[0], a->in[1]));
}

static damo_status fn_pinv(build *b, const fn_args *a, ptrvec *out) {
  const rcond_options *o = FN_OPTIONS(a, rcond_options);
  rcond_props props = {.rcond = o->rcond, .vector = prop_bool(false)};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &pinv_def, &props, a->in, 1));
}

const op_func linalg_lstsq_funcs[] = {
    {.name = "linalg.lstsq",
     .operands = "a b",
     .options = OPTIONS(OPT(rcond_options, rcond, OPT_NUM), OPT(rcond_options, b_ndim, OPT_INT),
                        OPT(rcond_options, on_fail, OPT_STR)),
     .call = fn_lstsq,
     .no_method = true,
     .doc = "the x of least norm among those for which the norm of b - a·x is least"},
    {.name = "linalg.pinv",
     .operands = "a",
     .options = OPTIONS(OPT(rcond_options, rcond, OPT_NUM), OPT(rcond_options, hermitian, OPT_BOOL),
                        OPT(rcond_options, on_fail, OPT_STR)),
     .call = fn_pinv,
     .no_method = true,
     .doc = "the pseudo-inverse, by singular values"},
    {.name = NULL},
};

const op_def *const linalg_lstsq_classes[] = {&lstsq_def, &pinv_def, NULL};
