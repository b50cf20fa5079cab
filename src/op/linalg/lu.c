/* lu: factors P·L·U of matrices: LUFactor, the systems that they solve, LUSolve, and permutations of rows.
 *
 * L, without its diagonal of ones, and U lie in one matrix. Pivots are LAPACK's: row i was swapped with row pivots[i],
 * one after the other, from 1. A permutation p of rows of x is the stack of x's rows p[1], p[2], …
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/lanes/lanes.h"
#include "lapack.h"
#include "op/shape/shape_int.h"

#include <string.h>

/* ---- LUFactor ---------------------------------------------------------------------------------------------------- */

static const core_form lu_form_any = {
    .signature = "(m,n)->(m,n),(min(m,n))", .out = "fi", .in_layout = "-", .out_layout = "cr", .from = "1-"};
static const core_form lu_form_square = {
    .signature = "(n,n)->(n,n),(n)", .out = "fi", .in_layout = "-", .out_layout = "cr", .from = "1-"};
static const core_form lu_form_columns = {
    .signature = "(n,n)->(n,n),(n)", .out = "fi", .in_layout = "-", .out_layout = "rr", .from = "1-"};

static const core_form *lu_form(const damo_op *op) {
  const lu_factor_props *p = OP_PROPS(op, lu_factor_props);
  if (prop_bool_or(p->columns, false)) return &lu_form_columns;
  return prop_bool_or(p->square, false) ? &lu_form_square : &lu_form_any;
}

static size_t lu_factor_workspace(const core_call *c) { return (size_t)c->out[1].rows * sizeof(lapack_int); }

/* By columns LAPACK sees the matrix; by rows its transpose. */
static damo_status lu_factor_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const bool turned = prop_bool_or(OP_PROPS(c->op, lu_factor_props)->columns, false);
  const lapack_int rows = (lapack_int)(turned ? m->cols : m->rows), cols = (lapack_int)(turned ? m->rows : m->cols);
  const lapack_int ld = rows > 1 ? rows : 1;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  int64_t *pivots = (int64_t *)(void *)c->out[1].data;
  if (rows > 0 && cols > 0) lapack_of(c->dtype)->getrf(&rows, &cols, m->data, &ld, ipiv, &info);
  for (int64_t i = 0; i < c->out[1].rows; i++) pivots[i] = ipiv[i];
  return DAMO_OK;
}

static bool lu_factor_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->transposed_in[0] = plan->transposed_out[0] = prop_bool_or(OP_PROPS(c->op, lu_factor_props)->columns, false);
  return c->in[0].rows == c->in[0].cols;
}

static void lu_factor_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  lanes_copy(c, l->out[0], l->in[0], n * n);
  l->fns->factor(n, l->out[0], l->out[1], l->failed);
  memset(l->failed, 0, LANE_COUNT); /* a singular matrix has factors too */
}

static const core_class lu_factor_class = {.func = "lu_factor",
                                           .form_of = lu_form,
                                           .workspace = lu_factor_workspace,
                                           .run = lu_factor_run,
                                           .plan_lanes = lu_factor_plan_lanes,
                                           .run_lanes = lu_factor_lanes,
                                           .emit_c = lu_factor_emit_c,
                                           .emits_complex = true};

/* ---- Rules of LUFactor ------------------------------------------------------------------------------------------- */

static damo_var *build_pivot_rows(build *b, damo_var *pivots, damo_var *lu, bool inverse);

/* The lengths of a matrix, and the lesser of them. */
typedef struct lu_lengths {
  damo_var *m, *n, *k;
  bool tall, wide; /* may be so */
} lu_lengths;

static lu_lengths lu_lengths_of(build *b, const damo_apply *node) {
  damo_var *f = node->out[0];
  const int axis = var_ndim(f) - 2;
  const int64_t m = f->type->shape[axis], n = f->type->shape[axis + 1];
  const bool square = OP_PROPS(node->op, lu_factor_props)->square.u.i != 0;
  lu_lengths l = {.m = build_dim(b, f, axis), .n = build_dim(b, f, axis + 1)};
  l.tall = !square && (m < 0 || n < 0 || m > n);
  l.wide = !square && (m < 0 || n < 0 || m < n);
  l.k = !l.tall ? l.m : !l.wide ? l.n : build_minimum(b, l.m, l.n);
  return l;
}

/* Rows (axis 0) or columns (1) of x from `first` to before `last`; NULL: from the start, to the end. */
static damo_var *lu_part(build *b, damo_var *x, int axis, damo_var *first, damo_var *last) {
  return x != NULL ? build_slice(b, x, var_ndim(x) - 2 + axis, first, last, 1) : NULL;
}

/* L (m × k, without the diagonal of ones) and U (k × n) of a matrix of both. */
static damo_var *lu_lower(build *b, const lu_lengths *l, damo_var *f) {
  return build_triangle(b, l->wide ? lu_part(b, f, 1, NULL, l->k) : f, -1, true);
}
static damo_var *lu_upper(build *b, const lu_lengths *l, damo_var *f) {
  return build_triangle(b, l->tall ? lu_part(b, f, 0, NULL, l->k) : f, 0, false);
}

/* x·U⁻¹, x·U⁻ᴴ, L⁻¹·x, L⁻ᴴ·x for the square triangles of f. */
static damo_var *lu_right(build *b, damo_var *f, char system, damo_var *x) {
  return build_triangular_right(b, (triangle_var){f, false, false}, system, x);
}
static damo_var *lu_left(build *b, damo_var *f, char system, damo_var *x) {
  return build_triangular_left(b, (triangle_var){f, true, true}, system, x);
}

/* Of a square matrix B = L·U = Pᵀ·A with cotangents of L and U in one matrix g: B̄ = L⁻ᴴ·(tril(Lᴴ·L̄, -1) +
 * triu(Ū·Uᴴ))·U⁻ᴴ (S. F. Walter, Structured higher-order algorithmic differentiation, 2012, 2.3). A taller matrix has the
 * rows L₂ = B₂·U⁻¹ below, a wider one the columns U₂ = L⁻¹·B₂ to the right. */
static damo_status lu_factor_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *f = node->out[0], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  if (prop_bool_or(OP_PROPS(node->op, lu_factor_props)->columns, false)) {
    gin[0] = build_null(b, "the factors of a transpose have no gradient");
    return b->status;
  }
  const lu_lengths l = lu_lengths_of(b, node);
  damo_var *lower = lu_lower(b, &l, f), *upper = lu_upper(b, &l, f), *gl = lu_lower(b, &l, g), *gu = lu_upper(b, &l, g);
  damo_var *f1 = f, *below = NULL, *beside = NULL;
  damo_var *l1 = lower, *u1 = upper, *gl1 = gl, *gu1 = gu;
  if (l.tall) {
    f1 = lu_part(b, f1, 0, NULL, l.k);
    l1 = lu_part(b, lower, 0, NULL, l.k), gl1 = lu_part(b, gl, 0, NULL, l.k);
  }
  if (l.wide) {
    f1 = lu_part(b, f1, 1, NULL, l.k);
    u1 = lu_part(b, upper, 1, NULL, l.k), gu1 = lu_part(b, gu, 1, NULL, l.k);
  }
  if (l.tall) { /* dL₂ = (dB₂ - L₂·dU)·U⁻¹ */
    below = lu_right(b, f1, 'h', lu_part(b, gl, 0, l.k, NULL));
    gu1 = build_sub(b, gu1, build_matmul(b, build_adjoint(b, lu_part(b, lower, 0, l.k, NULL)), below));
  }
  if (l.wide) { /* dU₂ = L⁻¹·(dB₂ - dL·U₂) */
    beside = lu_left(b, f1, 'h', lu_part(b, gu, 1, l.k, NULL));
    gl1 = build_sub(b, gl1, build_matmul(b, beside, build_adjoint(b, lu_part(b, upper, 1, l.k, NULL))));
  }
  /* Lᴴ·L̄ with L's ones adds L̄ itself, and below the diagonal no other entries of L̄ take part than those below. */
  gl1 = build_triangle(b, gl1, -1, true);
  damo_var *inner =
      build_add(b, build_triangle(b, build_add(b, gl1, build_matmul(b, build_adjoint(b, l1), gl1)), -1, true),
                build_triangle(b, build_matmul(b, build_triangle(b, gu1, 0, false), build_adjoint(b, u1)), 0, false));
  damo_var *gb = lu_left(b, f1, 'h', lu_right(b, f1, 'h', inner));
  if (b->status != DAMO_OK) return b->status;
  const int axis = var_ndim(f) - 2;
  if (l.tall) gb = build_join(b, "lu", axis, (damo_var *const[]){gb, below}, 2);
  if (l.wide) {
    if (l.tall)
      beside = build_join(
          b, "lu", axis,
          (damo_var *const[]){beside, build_zeros_like(b, lu_part(b, lu_part(b, f, 0, l.k, NULL), 1, l.k, NULL))}, 2);
    gb = build_join(b, "lu", axis + 1, (damo_var *const[]){gb, beside}, 2);
  }
  gin[0] = build_permute_rows(b, build_pivot_rows(b, node->out[1], f, false), gb, true);
  return b->status;
}

/* dB = L·(F)·U₁ with F = L⁻¹·dB₁·U⁻¹: dL = L₁·tril(F, -1), dU = triu(F)·U₁, and the rows below and columns beside as
 * above. */
static damo_status lu_factor_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *f = node->out[0];
  if (eval[0] == NULL) return DAMO_OK;
  const lu_lengths l = lu_lengths_of(b, node);
  damo_var *d = build_permute_rows(b, build_pivot_rows(b, node->out[1], f, false), eval[0], false);
  damo_var *lower = lu_lower(b, &l, f), *upper = lu_upper(b, &l, f), *f1 = f, *d1 = d, *l1 = lower, *u1 = upper;
  if (l.tall) f1 = lu_part(b, f1, 0, NULL, l.k), d1 = lu_part(b, d1, 0, NULL, l.k), l1 = lu_part(b, l1, 0, NULL, l.k);
  if (l.wide) f1 = lu_part(b, f1, 1, NULL, l.k), d1 = lu_part(b, d1, 1, NULL, l.k), u1 = lu_part(b, u1, 1, NULL, l.k);
  damo_var *inner = lu_left(b, f1, 'n', lu_right(b, f1, 'n', d1));
  damo_var *low = build_triangle(b, inner, -1, true), *up = build_triangle(b, inner, 0, false);
  damo_var *dl = build_add(b, low, build_matmul(b, l1, low)), *du = build_matmul(b, up, u1);
  damo_var *out = build_add(b, dl, du);
  if (b->status != DAMO_OK) return b->status;
  const int axis = var_ndim(f) - 2;
  if (l.tall) {
    damo_var *d2 = lu_part(b, d, 0, l.k, NULL);
    if (l.wide) d2 = lu_part(b, d2, 1, NULL, l.k);
    damo_var *l2 = lu_part(b, lower, 0, l.k, NULL);
    damo_var *below = lu_right(b, f1, 'n', build_sub(b, d2, build_matmul(b, l2, du)));
    out = build_join(b, "lu", axis, (damo_var *const[]){out, below}, 2);
  }
  if (l.wide) {
    damo_var *d2 = lu_part(b, d, 1, l.k, NULL);
    if (l.tall) d2 = lu_part(b, d2, 0, NULL, l.k);
    damo_var *beside = lu_left(b, f1, 'n', build_sub(b, d2, build_matmul(b, dl, lu_part(b, upper, 1, l.k, NULL))));
    if (l.tall)
      beside = build_join(
          b, "lu", axis,
          (damo_var *const[]){beside, build_zeros_like(b, lu_part(b, lu_part(b, f, 0, l.k, NULL), 1, l.k, NULL))}, 2);
    out = build_join(b, "lu", axis + 1, (damo_var *const[]){out, beside}, 2);
  }
  rout[0] = out;
  return b->status;
}

static void lu_factor_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[1] = false;
}

const op_def lu_factor_def = {
    .name = "LUFactor",
    .library = "LAPACK",
    .doc = "triangular factors and pivots of a stack of matrices",
    .props = PROPS(PROP_FLAG(lu_factor_props, columns), PROP_FLAG(lu_factor_props, square)),
    .n_in = 1,
    .n_out = 2,
    CORE_OP(lu_factor_class),
    .emit_c = core_emit_c,
    .grad = lu_factor_grad,
    .rop = lu_factor_rop,
    .connection_pattern = lu_factor_connect,
    OP_CHECK(lu_factor_check),
};

damo_apply *build_lu_columns(build *b, damo_var *a) {
  const lu_factor_props props = {.columns = prop_bool(true), .square = prop_bool(true)};
  return build_core(b, &lu_factor_def, &props, &a, 1);
}

/* ---- Permutations ------------------------------------------------------------------------------------------------ */

typedef struct permute_props {
  prop_value inverse;
} permute_props;

/* The permutation p with Pᵀ·x = x[p] for the matrix P of the pivots; with `inverse` the one with P·x = x[p]. */
static damo_status pivot_rows_run(core_call *c) {
  const int64_t *pivots = (const int64_t *)(const void *)c->in[0].data, m = c->out[0].rows;
  int64_t *p = (int64_t *)(void *)c->out[0].data, *swapped = (int64_t *)(void *)c->work;
  const bool inverse = prop_bool_or(OP_PROPS(c->op, permute_props)->inverse, false);
  for (int64_t i = 0; i < m; i++) swapped[i] = i + 1;
  for (int64_t i = 0; i < c->in[0].rows; i++) {
    if (pivots[i] < 1 || pivots[i] > m)
      return ctx_fail(c->ctx, DAMO_EINDEX, "pivots: position %lld is not one of %lld rows", (long long)pivots[i],
                      (long long)m);
    const int64_t t = swapped[i];
    swapped[i] = swapped[pivots[i] - 1];
    swapped[pivots[i] - 1] = t;
  }
  for (int64_t i = 0; i < m; i++) {
    if (inverse)
      p[swapped[i] - 1] = i + 1;
    else
      p[i] = swapped[i];
  }
  return DAMO_OK;
}

static size_t pivot_rows_workspace(const core_call *c) { return (size_t)c->out[0].rows * sizeof(int64_t); }

static const core_class pivot_rows_class = {
    .func = "pivots",
    .form = {.signature = "(k),(m,n)->(m)", .in = "if", .out = "i", .in_layout = "c-"},
    .workspace = pivot_rows_workspace,
    .run = pivot_rows_run,
    .emit_c = pivot_rows_emit_c,
    .emits_complex = true};

static const op_def pivot_rows_def = {
    .name = "PivotToPermutations",
    .doc = "the permutation of the rows of a matrix that pivots stand for",
    .props = PROPS(PROP_FLAG(permute_props, inverse)),
    .n_in = 2,
    CORE_OP(pivot_rows_class),
    .emit_c = core_emit_c,
    .grad = grad_none,
    .rop = rop_none,
    .connection_pattern = connect_none,
    .no_check = "moves positions: spec/linalg/solve_spec.lua multiplies the factors",
};

static damo_var *build_pivot_rows(build *b, damo_var *pivots, damo_var *lu, bool inverse) {
  const permute_props props = {.inverse = prop_bool(inverse)};
  return build_core_first(b, &pivot_rows_def, &props, (damo_var *const[]){pivots, lu}, 2);
}

/* x[p], or with `inverse` the y of which it is y[p]. */
static damo_status permute_rows_run(core_call *c) {
  const int64_t *p = (const int64_t *)(const void *)c->in[0].data;
  const core_mat *x = &c->in[1], *y = &c->out[0];
  const bool inverse = prop_bool_or(OP_PROPS(c->op, permute_props)->inverse, false);
  const size_t row = (size_t)x->cols * dtype_size(x->dtype);
  for (int64_t i = 0; i < x->rows; i++) {
    if (p[i] < 1 || p[i] > x->rows)
      return ctx_fail(c->ctx, DAMO_EINDEX, "permutation: position %lld is not one of %lld rows", (long long)p[i],
                      (long long)x->rows);
    const int64_t to = inverse ? p[i] - 1 : i, from = inverse ? i : p[i] - 1;
    memcpy(y->data + (size_t)to * row, x->data + from * x->rs, row);
  }
  return DAMO_OK;
}

static const core_class permute_rows_class = {.func = "permute_rows",
                                              .form = {.signature = "(n),(n,k)->(n,k)", .in = "if", .in_layout = "cr"},
                                              .run = permute_rows_run,
                                              .emit_c = permute_rows_emit_c,
                                              .emits_complex = true};

static damo_status permute_rows_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const bool inverse = prop_bool_or(OP_PROPS(node->op, permute_props)->inverse, false);
  if (gout[0] != NULL)
    gin[1] = build_unbroadcast(b, build_permute_rows(b, node->in[0], gout[0], !inverse), node->in[1]);
  return b->status;
}

static damo_status permute_rows_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[1] != NULL) rout[0] = build_op(b, damo_retain(node->op), (damo_var *const[]){node->in[0], eval[1]}, 2);
  return b->status;
}

static const op_def permute_rows_def = {
    .name = "PermuteRows",
    .doc = "the rows of a stack of matrices in the order of a stack of permutations",
    .props = PROPS(PROP_FLAG(permute_props, inverse)),
    .n_in = 2,
    CORE_OP(permute_rows_class),
    .emit_c = core_emit_c,
    .grad = permute_rows_grad,
    .rop = permute_rows_rop,
    .connection_pattern = connect_second,
    .terms = TERMS_LINEAR,
    .no_check = "moves entries: spec/linalg/solve_spec.lua multiplies the factors",
};

damo_var *build_permute_rows(build *b, damo_var *p, damo_var *x, bool inverse) {
  const permute_props props = {.inverse = prop_bool(inverse)};
  return p && x ? build_core_first(b, &permute_rows_def, &props, (damo_var *const[]){p, x}, 2) : NULL;
}

/* ---- LUSolve ----------------------------------------------------------------------------------------------------- */

static const core_form lu_solve_forms[2][2] = {
    {{.signature = "(n,n),(n),(n,k)->(n,k)", .in = "fif", .in_layout = "cc-", .out_layout = "c", .from = "3"},
     {.signature = "(n,n),(n),(n)->(n)", .in = "fif", .in_layout = "cc-", .out_layout = "c", .from = "3"}},
    {{.signature = "(n,n),(n),(n,k)->(n,k)", .in = "fif", .in_layout = "rc-", .out_layout = "c", .from = "3"},
     {.signature = "(n,n),(n),(n)->(n)", .in = "fif", .in_layout = "rc-", .out_layout = "c", .from = "3"}},
};
static const core_form *lu_solve_form(const damo_op *op) {
  const lu_solve_props *p = OP_PROPS(op, lu_solve_props);
  return &lu_solve_forms[prop_bool_or(p->columns, false)][prop_bool_or(p->vector, false)];
}

static size_t lu_solve_workspace(const core_call *c) { return (size_t)c->in[0].rows * sizeof(lapack_int); }

damo_status mat_lu_solve(const core_mat *lu, const lapack_int *ipiv, const core_mat *x, bool turned, char system) {
  const lapack_int n = (lapack_int)lu->rows, k = (lapack_int)x->cols, ld = (lapack_int)lu->ld, ldx = n > 1 ? n : 1;
  const bool transposed = (system != 'n') != turned, conjugated = system == 'h' && dtype_is_complex(lu->dtype);
  lapack_int info = 0;
  if (conjugated && !transposed) mat_conjugate(x);
  lapack_of(lu->dtype)->getrs(!transposed  ? "N"
                              : conjugated ? "C"
                                           : "T",
                              &n, &k, lu->data, &ld, ipiv, x->data, &ldx, &info, 1);
  if (conjugated && !transposed) mat_conjugate(x);
  return DAMO_OK;
}

static damo_status lu_solve_run(core_call *c) {
  const lu_solve_props *p = OP_PROPS(c->op, lu_solve_props);
  const core_mat *lu = &c->in[0];
  const int64_t *pivots = (const int64_t *)(const void *)c->in[1].data, zero = mat_zero_on_diagonal(lu);
  lapack_int *ipiv = (lapack_int *)(void *)c->work;
  for (int64_t i = 0; i < lu->rows; i++) {
    if (pivots[i] < 1 || pivots[i] > lu->rows)
      return ctx_fail(c->ctx, DAMO_EINDEX, "lu_solve: pivot %lld is not one of %lld rows", (long long)pivots[i],
                      (long long)lu->rows);
    ipiv[i] = (lapack_int)pivots[i];
  }
  if (zero > 0) return core_fail(c, "the matrix is singular: pivot %lld is 0", (long long)zero);
  return mat_lu_solve(lu, ipiv, &c->out[0], prop_bool_or(p->columns, false), system_of(p->trans));
}

static bool lu_solve_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->transposed_in[0] = prop_bool_or(OP_PROPS(c->op, lu_solve_props)->columns, false);
  return true;
}

static void lu_solve_lanes(const core_call *c, const core_lanes *l) {
  const lu_solve_props *p = OP_PROPS(c->op, lu_solve_props);
  const int n = (int)c->in[0].rows, k = (int)c->in[2].cols;
  l->fns->zero_diagonal(n, l->in[0], l->failed);
  lanes_check_pivots(c, n, l->in[1], l->failed);
  lanes_copy(c, l->out[0], l->in[2], n * k);
  l->fns->solve(n, k, l->in[0], l->in[1], (system_of(p->trans) != 'n') != prop_bool_or(p->columns, false), l->out[0]);
}

static const core_class lu_solve_class = {.func = "lu_solve",
                                          .form_of = lu_solve_form,
                                          .workspace = lu_solve_workspace,
                                          .run = lu_solve_run,
                                          .runs_empty = true,
                                          .plan_lanes = lu_solve_plan_lanes,
                                          .run_lanes = lu_solve_lanes,
                                          .emit_c = lu_solve_emit_c,
                                          .emits_complex = true};

static damo_var *build_lu_solve(build *b, const lu_solve_props *p, damo_var *lu, damo_var *pivots, damo_var *x) {
  return build_core_first(b, &lu_solve_def, p, (damo_var *const[]){lu, pivots, x}, 3);
}

damo_var *build_lu_columns_solve(build *b, const damo_apply *factors, char system, damo_var *x, bool vector,
                                 bool nan_on_fail) {
  const lu_solve_props props = {.columns = prop_bool(true),
                                .trans = system_prop(system),
                                .vector = prop_bool(vector),
                                .on_fail = nan_on_fail ? prop_str("nan") : prop_nil()};
  return factors != NULL ? build_lu_solve(b, &props, factors->out[0], factors->out[1], x) : NULL;
}

/* With A = P·L·U and op(A)·x = b: g = op(A)⁻ᴴ·x̄ is b's gradient, op(A)'s is -g·xᴴ; B̄ = Pᵀ·Ā gives L̄ = B̄·Uᴴ and
 * Ū = Lᴴ·B̄. */
static damo_status lu_solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  lu_solve_props p = *OP_PROPS(node->op, lu_solve_props);
  damo_var *lu = node->in[0], *pivots = node->in[1], *x = node->out[0];
  const char system = system_of(p.trans);
  const bool vector = prop_bool_or(p.vector, false);
  if (gout[0] == NULL) return DAMO_OK;
  char adjoint = system;
  damo_var *luh = build_adjoint_system(b, lu, &adjoint);
  p.trans = system_prop(adjoint);
  damo_var *g = build_lu_solve(b, &p, luh, pivots, gout[0]);
  gin[2] = build_unbroadcast(b, g, node->in[2]);
  if (prop_bool_or(p.columns, false)) {
    gin[0] = build_null(b, "the factors of a transpose have no gradient");
    return b->status;
  }
  damo_var *gb = build_permute_rows(b, build_pivot_rows(b, pivots, lu, false),
                                    build_system_gradient(b, system, g, x, vector), false);
  damo_var *lower = build_triangle(b, lu, -1, true), *upper = build_triangle(b, lu, 0, false);
  damo_var *gl = build_triangle(b, build_matmul(b, gb, build_adjoint(b, upper)), -1, true);
  damo_var *gu = build_triangle(b, build_add(b, gb, build_matmul(b, build_adjoint(b, lower), gb)), 0, false);
  gin[0] = build_unbroadcast(b, build_add(b, gl, gu), lu);
  return b->status;
}

static damo_status lu_solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const lu_solve_props *p = OP_PROPS(node->op, lu_solve_props);
  damo_var *lu = node->in[0], *pivots = node->in[1], *rhs = eval[2];
  if (eval[0] != NULL) {
    damo_var *lower = build_triangle(b, lu, -1, true), *upper = build_triangle(b, lu, 0, false);
    damo_var *dl = build_triangle(b, eval[0], -1, true), *du = build_triangle(b, eval[0], 0, false);
    damo_var *d = build_add(b, build_matmul(b, dl, upper), build_add(b, du, build_matmul(b, lower, du)));
    d = build_permute_rows(b, build_pivot_rows(b, pivots, lu, false), d, true);
    damo_var *moved = build_tangent_product(b, system_of(p->trans), d, node->out[0], prop_bool_or(p->vector, false));
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_lu_solve(b, p, lu, pivots, rhs);
  return b->status;
}

static void lu_solve_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[1] = false;
}

const op_def lu_solve_def = {
    .name = "LUSolve",
    .library = "LAPACK",
    .doc = "solutions of a stack of systems from factors and pivots",
    .props = PROPS(PROP_FLAG(lu_solve_props, columns), SYSTEM_PROP(lu_solve_props, trans),
                   PROP_FLAG(lu_solve_props, vector), PROP_WORD_OR_NIL(lu_solve_props, on_fail, "nan")),
    .n_in = 3,
    CORE_OP(lu_solve_class),
    .emit_c = core_emit_c,
    .grad = lu_solve_grad,
    .rop = lu_solve_rop,
    .connection_pattern = lu_solve_connect,
    .terms = TERMS_SOLVED,
    OP_CHECK(lu_solve_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct lu_options {
  prop_value permute_l, p_indices, trans, b_ndim, on_fail;
} lu_options;

/* x = P·L·U: P's real matrix, L with its ones, U. */
static damo_status fn_lu(build *b, const fn_args *a, ptrvec *out) {
  const lu_options *o = FN_OPTIONS(a, lu_options);
  const lu_factor_props props = {.columns = prop_bool(false), .square = prop_bool(false)};
  const damo_apply *node = build_core(b, &lu_factor_def, &props, a->in, 1);
  if (node == NULL) return b->status;
  damo_var *f = node->out[0];
  const lu_lengths l = lu_lengths_of(b, node);
  const damo_dtype dtype = var_dtype(f);
  const damo_dtype real = dtype == DAMO_COMPLEX64 ? DAMO_FLOAT32 : dtype == DAMO_COMPLEX128 ? DAMO_FLOAT64 : dtype;
  damo_var *lower = build_add(b, lu_lower(b, &l, f), build_eye(b, l.m, l.k, dtype)), *upper = lu_upper(b, &l, f);
  damo_var *p = build_pivot_rows(b, node->out[1], f, true); /* x = (L·U)[p] */
  if (prop_bool_or(o->permute_l, false)) {
    DAMO_TRY(fn_give(b, out, build_permute_rows(b, p, lower, false)));
    return fn_give(b, out, upper);
  }
  if (!prop_bool_or(o->p_indices, false)) p = build_permute_rows(b, p, build_eye(b, l.m, l.m, real), false);
  DAMO_TRY(fn_give(b, out, p));
  DAMO_TRY(fn_give(b, out, lower));
  return fn_give(b, out, upper);
}

static damo_status fn_lu_factor(build *b, const fn_args *a, ptrvec *out) {
  const lu_factor_props props = {.columns = prop_bool(false), .square = prop_bool(true)};
  const damo_apply *node = build_core(b, &lu_factor_def, &props, a->in, 1);
  for (int i = 0; i < 2 && node != NULL; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return b->status;
}

static damo_status fn_lu_solve(build *b, const fn_args *a, ptrvec *out) {
  const lu_options *o = FN_OPTIONS(a, lu_options);
  const int vector = vector_option(b, a, o->b_ndim, a->in[2]);
  const char system = system_option(b, a, o->trans);
  lu_solve_props props = {.columns = prop_bool(false), .vector = prop_bool(vector == 1)};
  if (vector < 0 || system == 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  props.trans = system_prop(system);
  return fn_give(b, out, build_lu_solve(b, &props, a->in[0], a->in[1], a->in[2]));
}

const op_func linalg_lu_funcs[] = {
    {.name = "linalg.lu",
     .operands = "a",
     .options = OPTIONS(OPT(lu_options, permute_l, OPT_BOOL), OPT(lu_options, p_indices, OPT_BOOL)),
     .call = fn_lu,
     .no_method = true,
     .doc = "p, l, u with a = p·l·u; with permute_l p·l and u; with p_indices a = (l·u)[p]"},
    {.name = "linalg.lu_factor",
     .operands = "a",
     .call = fn_lu_factor,
     .no_method = true,
     .doc =
         "the factors L and U of a square matrix in one matrix, and the pivots: row i was swapped with row pivots[i]"},
    {.name = "linalg.lu_solve",
     .operands = "lu pivots b",
     .options =
         OPTIONS(OPT(lu_options, trans, OPT_ANY), OPT(lu_options, b_ndim, OPT_INT), OPT(lu_options, on_fail, OPT_STR)),
     .call = fn_lu_solve,
     .no_method = true,
     .doc = "x of a·x = b from what lu_factor gives of a"},
    {.name = NULL},
};

const op_def *const linalg_lu_classes[] = {&lu_factor_def, &pivot_rows_def, &permute_rows_def, &lu_solve_def, NULL};
