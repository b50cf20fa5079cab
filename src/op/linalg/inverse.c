/* inverse: inverses, determinants and their logarithms: Inv, Det, SLogDet. */
#include "core_c.h"
#include "decompose.h"
#include "kernel/lanes/lanes.h"
#include "op/shape/shape_int.h"

#include <math.h>
#include <string.h>

typedef struct inverse_options {
  prop_value on_fail;
} inverse_options;

static lapack_int inverse_length(damo_dtype dtype, lapack_int n) {
  double work[2] = {0};
  const lapack_int query = -1, ld = n > 1 ? n : 1;
  lapack_int info = 0, ipiv = 0;
  lapack_of(dtype)->getri(&n, work, &ld, &ipiv, work, &query, &info);
  return lapack_work_length(dtype, work);
}

static size_t inverse_pivots(const core_call *c) { return ((size_t)c->dim[0] * sizeof(lapack_int) + 63) & ~(size_t)63; }

/* ---- Inv --------------------------------------------------------------------------------------------------------- */

static size_t inv_workspace(const core_call *c) {
  return inverse_pivots(c) + (size_t)inverse_length(c->dtype, (lapack_int)c->dim[0]) * dtype_size(c->dtype);
}

/* The transpose's inverse is the inverse's transpose, so it does not matter that the matrix lies by rows. */
static damo_status inv_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const lapack_int n = (lapack_int)m->rows, length = inverse_length(c->dtype, n);
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  lapack_of(c->dtype)->getrf(&n, &n, m->data, &n, ipiv, &info);
  if (info == 0) lapack_of(c->dtype)->getri(&n, m->data, &n, ipiv, c->work + inverse_pivots(c), &length, &info);
  return info > 0 ? core_fail(c, "the matrix is singular: pivot %d is 0", (int)info) : DAMO_OK;
}

static bool inv_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->spare = (int)c->in[0].rows;
  return true;
}

static void inv_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  l->fns->factor(n, l->in[0], l->spare, l->failed);
  lanes_identity(c, n, l->out[0]);
  l->fns->solve(n, n, l->in[0], l->spare, false, l->out[0]);
}

static const core_class inv_class = {.func = "inv",
                                     .form = {.signature = "(n,n)->(n,n)", .in_layout = "-", .from = "1"},
                                     .workspace = inv_workspace,
                                     .run = inv_run,
                                     .plan_lanes = inv_plan_lanes,
                                     .run_lanes = inv_lanes,
                                     .emit_c = inv_emit_c,
                                     .emits_complex = true};

damo_var *build_inv(build *b, damo_var *a) {
  const inverse_props none = {.on_fail = prop_nil()};
  return build_core_first(b, &inv_def, &none, &a, 1);
}

/* dY = -Y·dA·Y, Ā = -Yᴴ·Ȳ·Yᴴ */
static damo_status inv_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *h = build_adjoint(b, node->out[0]);
  if (gout[0] != NULL) gin[0] = build_neg(b, build_matmul(b, build_matmul(b, h, gout[0]), h));
  return b->status;
}

static damo_status inv_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *y = node->out[0];
  if (eval[0] != NULL) rout[0] = build_neg(b, build_matmul(b, build_matmul(b, y, eval[0]), y));
  return b->status;
}

const op_def inv_def = {
    .name = "MatrixInverse",
    .library = "LAPACK",
    .doc = "inverses of a stack of matrices",
    .props = PROPS(PROP_WORD_OR_NIL(inverse_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(inv_class),
    .emit_c = core_emit_c,
    .grad = inv_grad,
    .rop = inv_rop,
    .masks = MASKS_WHOLE,
    OP_CHECK(inv_check),
};

/* ---- Det, SLogDet ------------------------------------------------------------------------------------------------ */

/* A number as z·2^exponent, so that a product of many does not overflow before its end. */
typedef struct scaled {
  damo_c128 z;
  int64_t exponent;
} scaled;

static void scaled_times(scaled *s, damo_c128 v) {
  const damo_c128 z = {s->z.re * v.re - s->z.im * v.im, s->z.re * v.im + s->z.im * v.re};
  const double size = fmax(fabs(z.re), fabs(z.im));
  int e = 0;
  if (size > 0 && isfinite(size)) frexp(size, &e);
  s->z = (damo_c128){ldexp(z.re, -e), ldexp(z.im, -e)};
  s->exponent += e;
}

static double scaled_part(double x, int64_t e) { return ldexp(x, e > 5000 ? 5000 : e < -5000 ? -5000 : (int)e); }

static size_t det_workspace(const core_call *c) { return inverse_pivots(c); }

/* Factorizes the operand; returns whether rows were swapped an odd number of times. */
static bool det_factorize(core_call *c) {
  const core_mat *m = &c->in[0];
  const lapack_int n = (lapack_int)m->rows, ld = (lapack_int)m->ld;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  bool odd = false;
  if (n > 0) lapack_of(c->dtype)->getrf(&n, &n, m->data, &ld, ipiv, &info);
  for (lapack_int i = 0; i < n; i++) odd = odd != (ipiv[i] != i + 1);
  return odd;
}

/* The determinant from the diagonal of a factor. */
static void det_of_diagonal(core_call *c, bool odd) {
  scaled s = {{odd ? -1 : 1, 0}, 0};
  for (int64_t i = 0; i < c->in[0].rows; i++) scaled_times(&s, mat_get(&c->in[0], i, i));
  mat_put(&c->out[0], 0, 0, (damo_c128){scaled_part(s.z.re, s.exponent), scaled_part(s.z.im, s.exponent)});
}

static void slogdet_of_diagonal(core_call *c, bool odd) {
  damo_c128 sign = {odd ? -1 : 1, 0};
  double log_abs = 0;
  for (int64_t i = 0; i < c->in[0].rows; i++) {
    const damo_c128 v = mat_get(&c->in[0], i, i);
    const double size = v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
    const damo_c128 unit = size == 0 ? (damo_c128){0, 0} : (damo_c128){v.re / size, v.im / size};
    sign = (damo_c128){sign.re * unit.re - sign.im * unit.im, sign.re * unit.im + sign.im * unit.re};
    log_abs += log(size);
  }
  if (sign.re == 0 && sign.im == 0) sign = (damo_c128){0, 0};
  mat_put(&c->out[0], 0, 0, sign);
  mat_put(&c->out[1], 0, 0, (damo_c128){log_abs, 0});
}

static damo_status det_run(core_call *c) {
  det_of_diagonal(c, det_factorize(c));
  return DAMO_OK;
}

static damo_status slogdet_run(core_call *c) {
  slogdet_of_diagonal(c, det_factorize(c));
  return DAMO_OK;
}

/* A determinant that is 0, or that has left the range of normal numbers on the way, is left to run. */
static void det_give_lanes(const core_call *c, const core_lanes *l, void *det) {
  lanes_check_normal(c, det, l->failed);
  if (c->n_out == 2)
    lanes_sign_log(c, det, l->out[0], l->out[1]);
  else
    lanes_copy(c, l->out[0], det, 1);
}

static bool det_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->spare = (int)c->in[0].rows + 1;
  return true;
}

static void det_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  char *pivots = (char *)l->spare + lanes_entry(c);
  l->fns->factor(n, l->in[0], pivots, l->failed);
  l->fns->determinant(n, l->in[0], pivots, l->spare);
  det_give_lanes(c, l, l->spare);
}

static const core_class det_class = {.func = "det",
                                     .form = {.signature = "(n,n)->()", .in_layout = "E"},
                                     .workspace = det_workspace,
                                     .run = det_run,
                                     .plan_lanes = det_plan_lanes,
                                     .run_lanes = det_lanes,
                                     .emit_c = det_emit_c,
                                     .emits_complex = true};
static const core_class slogdet_class = {.func = "slogdet",
                                         .form = {.signature = "(n,n)->(),()", .out = "fr", .in_layout = "E"},
                                         .workspace = det_workspace,
                                         .run = slogdet_run,
                                         .plan_lanes = det_plan_lanes,
                                         .run_lanes = det_lanes,
                                         .emit_c = det_emit_c,
                                         .emits_complex = true};

/* A scalar of each entry as a matrix of one row and column. */
static damo_var *as_matrix(build *b, damo_var *x) { return build_as_columns(b, build_as_columns(b, x)); }

/* tr(A⁻¹·dA) */
static damo_var *build_log_tangent(build *b, damo_var *a, damo_var *d) {
  damo_var *x = build_matrix_solve(b, a, d);
  if (x == NULL) return NULL;
  const int n = var_ndim(x), last = n - 2;
  damo_var *diagonal = build_diagonal(b, x, 0, n - 2, n - 1);
  return build_reduce(b, REDUCE_SUM, diagonal, &last, 1, false);
}

/* d det = tr(adj(A)·dA), whatever A's rank. */
static damo_status det_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = build_adjoint(b, build_adjugate(b, node->in[0], build_conj_if_complex(b, gout[0])));
  return b->status;
}

static damo_status det_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *adjugate = build_adjugate(b, node->in[0], build_ones_like(b, node->out[0]));
  rout[0] = build_matrix_inner(b, adjugate, build_swap_last(b, eval[0]));
  return b->status;
}

/* With t = tr(A⁻¹·dA): d log|det| = Re t; of a complex sign s, ds = i·s·Im t. */
static damo_status slogdet_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *scale = gout[1];
  const bool turns = dtype_is_complex(var_dtype(node->out[0]));
  if (turns && gout[0] != NULL) {
    damo_var *w = build_neg(b, build_imag(b, build_mul(b, build_conj_if_complex(b, gout[0]), node->out[0])));
    damo_var *i_w = build_complex(b, build_zeros_like(b, w), w);
    scale = scale != NULL ? build_add(b, scale, i_w) : i_w;
  }
  if (scale != NULL) gin[0] = build_mul(b, as_matrix(b, scale), build_adjoint(b, build_inv(b, node->in[0])));
  if (gin[0] == NULL && gout[0] != NULL) gin[0] = build_zero_grad(b, node->in[0]);
  return b->status;
}

static damo_status slogdet_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *t = build_log_tangent(b, node->in[0], eval[0]);
  if (t == NULL) return b->status;
  const bool turns = dtype_is_complex(var_dtype(t));
  rout[1] = turns ? build_real(b, t) : t;
  if (turns) {
    damo_var *im = build_imag(b, t);
    rout[0] = build_mul(b, node->out[0], build_complex(b, build_zeros_like(b, im), im));
  } else {
    rout[0] = build_zeros_like(b, node->out[0]);
  }
  return b->status;
}

const op_def det_def = {
    .name = "Det",
    .library = "LAPACK",
    .doc = "determinants of a stack of matrices",
    .n_in = 1,
    CORE_OP(det_class),
    .emit_c = core_emit_c,
    .grad = det_grad,
    .rop = det_rop,
    OP_CHECK(det_check),
};

const op_def slogdet_def = {
    .name = "SLogDet",
    .library = "LAPACK",
    .doc = "sign and logarithm of the determinants of a stack of matrices",
    .n_in = 1,
    .n_out = 2,
    CORE_OP(slogdet_class),
    .emit_c = core_emit_c,
    .grad = slogdet_grad,
    .rop = slogdet_rop,
    .nonfinite = NONFINITE_INFINITE, /* of a singular matrix the logarithm is -inf */
    OP_CHECK(slogdet_check),
};

/* ---- From shared factors ----------------------------------------------------------------------------------------- */

/* LUDet, LUInverse: the same from the factors and pivots that LUFactor{columns} gives. Rewriting makes them, after
 * gradients were taken, so they have none. */
typedef struct lu_det_props {
  prop_value logarithm;
} lu_det_props;

static const core_form lu_det_forms[2] = {
    {.signature = "(n,n),(n)->()", .in = "fi", .in_layout = "sc"},
    {.signature = "(n,n),(n)->(),()", .in = "fi", .out = "fr", .in_layout = "sc"},
};
static bool lu_det_logarithm(const damo_op *op) { return prop_bool_or(OP_PROPS(op, lu_det_props)->logarithm, false); }
static const core_form *lu_det_form(const damo_op *op) { return &lu_det_forms[lu_det_logarithm(op)]; }
static int lu_det_count(const damo_op *op, int n_in) {
  (void)n_in;
  return lu_det_logarithm(op) ? 2 : 1;
}

static damo_status lu_det_run(core_call *c) {
  const int64_t *pivots = (const int64_t *)(const void *)c->in[1].data;
  bool odd = false;
  for (int64_t i = 0; i < c->in[1].rows; i++) odd = odd != (pivots[i] != i + 1);
  if (c->n_out == 2)
    slogdet_of_diagonal(c, odd);
  else
    det_of_diagonal(c, odd);
  return DAMO_OK;
}

static void lu_det_lanes(const core_call *c, const core_lanes *l) {
  l->fns->determinant((int)c->in[0].rows, l->in[0], l->in[1], l->spare);
  det_give_lanes(c, l, l->spare);
}

static const core_class lu_det_class = {.func = "det",
                                        .form_of = lu_det_form,
                                        .run = lu_det_run,
                                        .plan_lanes = det_plan_lanes,
                                        .run_lanes = lu_det_lanes,
                                        .emit_c = lu_det_emit_c,
                                        .emits_complex = true};

static const op_def lu_det_def = {
    .name = "LUDet",
    .doc = "determinants of a stack of matrices from their factors",
    .props = PROPS(PROP_FLAG(lu_det_props, logarithm)),
    .n_in = 2,
    .n_out = OP_VARIADIC,
    .count_out = lu_det_count,
    CORE_OP(lu_det_class),
    .emit_c = core_emit_c,
    .nonfinite = NONFINITE_INFINITE, /* of a singular matrix the logarithm is -inf */
    .no_check = "of factors that rewriting makes: DEBUG compares the graph before it",
};

static damo_status lu_inverse_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const int64_t *pivots = (const int64_t *)(const void *)c->in[1].data, zero = mat_zero_on_diagonal(m);
  const lapack_int n = (lapack_int)m->rows, length = inverse_length(c->dtype, n);
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  if (zero > 0) return core_fail(c, "the matrix is singular: pivot %lld is 0", (long long)zero);
  for (lapack_int i = 0; i < n; i++) ipiv[i] = (lapack_int)pivots[i];
  lapack_of(c->dtype)->getri(&n, m->data, &n, ipiv, c->work + inverse_pivots(c), &length, &info);
  return DAMO_OK;
}

static bool lu_inverse_plan_lanes(const core_call *c, core_lane_plan *plan) {
  (void)c;
  plan->transposed_in[0] = true;
  return true;
}

static void lu_inverse_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  l->fns->zero_diagonal(n, l->in[0], l->failed);
  lanes_identity(c, n, l->out[0]);
  l->fns->solve(n, n, l->in[0], l->in[1], true, l->out[0]);
}

static const core_class lu_inverse_class = {
    .func = "inv",
    .form = {.signature = "(n,n),(n)->(n,n)", .in = "fi", .in_layout = "-c", .from = "1"},
    .workspace = inv_workspace,
    .run = lu_inverse_run,
    .plan_lanes = lu_inverse_plan_lanes,
    .run_lanes = lu_inverse_lanes,
    .emit_c = lu_inverse_emit_c,
    .emits_complex = true};

static const op_def lu_inverse_def = {
    .name = "LUInverse",
    .library = "LAPACK",
    .doc = "inverses of a stack of matrices from their factors",
    .props = PROPS(PROP_WORD_OR_NIL(inverse_props, on_fail, "nan")),
    .n_in = 2,
    CORE_OP(lu_inverse_class),
    .emit_c = core_emit_c,
    .no_check = "of factors that rewriting makes: DEBUG compares the graph before it",
};

damo_apply *build_lu_det(build *b, const damo_apply *factors, bool logarithm) {
  const lu_det_props props = {.logarithm = prop_bool(logarithm)};
  return factors != NULL ? build_core(b, &lu_det_def, &props, factors->out, 2) : NULL;
}

damo_var *build_lu_inverse(build *b, const damo_apply *factors, bool nan_on_fail) {
  const inverse_props props = {.on_fail = nan_on_fail ? prop_str("nan") : prop_nil()};
  return factors != NULL ? build_core_first(b, &lu_inverse_def, &props, factors->out, 2) : NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status fn_inv(build *b, const fn_args *a, ptrvec *out) {
  inverse_props props;
  if (!core_on_fail(b, a, FN_OPTIONS(a, inverse_options)->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &inv_def, &props, a->in, 1));
}

static damo_status fn_det(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_core_first(b, &det_def, NULL, a->in, 1));
}

static damo_status fn_slogdet(build *b, const fn_args *a, ptrvec *out) {
  const damo_apply *node = build_core(b, &slogdet_def, NULL, a->in, 1);
  for (int i = 0; i < 2 && node != NULL; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return b->status;
}

const op_func linalg_inverse_funcs[] = {
    {.name = "linalg.inv",
     .operands = "a",
     .options = OPTIONS(OPT(inverse_options, on_fail, OPT_STR)),
     .call = fn_inv,
     .no_method = true,
     .doc = "the inverse"},
    {.name = "linalg.det", .operands = "a", .call = fn_det, .no_method = true, .doc = "the determinant"},
    {.name = "linalg.slogdet",
     .operands = "a",
     .call = fn_slogdet,
     .no_method = true,
     .doc = "the sign of the determinant, of a complex one its phase, and the logarithm of its modulus"},
    {.name = NULL},
};

const op_def *const linalg_inverse_classes[] = {&inv_def, &det_def, &slogdet_def, &lu_det_def, &lu_inverse_def, NULL};
