/* banded: systems whose matrix is given by its diagonals: row r of ab, l + u + 1 rows by n columns, holds the entries
 * (j + r - u, j). SolveBanded, and for its rules the product of such a matrix, BandedDot, and the diagonals of an outer
 * product, BandedOuter. Places of ab outside the matrix are not read, and have a gradient of 0.
 */
#include "core_c.h"
#include "decompose.h"
#include "op/shape/shape_int.h"

#include <string.h>

static damo_status banded_check(damo_ctx *ctx, const damo_op *op, const int64_t *dim) {
  const banded_props *p = OP_PROPS(op, banded_props);
  const int64_t rows = p->l.u.i + p->u.u.i + 1;
  if (dim[0] < 0 || dim[0] == rows) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: operand 1 has %lld diagonals, but l = %lld and u = %lld are %lld",
                  op->def->core->func, (long long)dim[0], (long long)p->l.u.i, (long long)p->u.u.i, (long long)rows);
}

/* ---- SolveBanded ------------------------------------------------------------------------------------------------- */

static const core_form banded_forms[2] = {
    {.signature = "(w,n),(n,k)->(n,k)", .in_layout = "s-", .out_layout = "c", .from = "2"},
    {.signature = "(w,n),(n)->(n)", .in_layout = "s-", .out_layout = "c", .from = "2"},
};
static const core_form *banded_form(const damo_op *op) {
  return &banded_forms[prop_bool_or(OP_PROPS(op, banded_props)->vector, false)];
}

static size_t banded_pivots(const core_call *c) { return ((size_t)c->dim[1] * sizeof(lapack_int) + 63) & ~(size_t)63; }
static size_t banded_workspace(const core_call *c) {
  const banded_props *p = OP_PROPS(c->op, banded_props);
  return banded_pivots(c) + (size_t)(2 * p->l.u.i + p->u.u.i + 1) * (size_t)c->dim[1] * dtype_size(c->dtype);
}

static damo_status banded_run(core_call *c) {
  const banded_props *p = OP_PROPS(c->op, banded_props);
  const lapack_table *la = lapack_of(c->dtype);
  const core_mat *ab = &c->in[0], *x = &c->out[0];
  const int64_t l = p->l.u.i, u = p->u.u.i, size = (int64_t)dtype_size(c->dtype);
  const lapack_int n = (lapack_int)ab->cols, kl = (lapack_int)l, ku = (lapack_int)u, ld = 2 * kl + ku + 1;
  const lapack_int k = (lapack_int)x->cols;
  const char system = system_of(p->trans);
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  char *band = c->work + banded_pivots(c);
  memset(band, 0, (size_t)ld * (size_t)n * (size_t)size);
  for (int64_t r = 0; r <= l + u; r++) {
    for (int64_t j = 0; j < n; j++) {
      if (j + r - u >= 0 && j + r - u < n)
        memcpy(band + (j * ld + l + r) * size, ab->data + r * ab->rs + j * ab->cs, (size_t)size);
    }
  }
  la->gbtrf(&n, &n, &kl, &ku, band, &ld, ipiv, &info);
  if (info > 0) return core_fail(c, "the matrix is singular: pivot %d is 0", (int)info);
  la->gbtrs(system == 'n' ? "N" : system == 't' ? "T" : "C", &n, &kl, &ku, &k, band, &ld, ipiv, x->data, &n, &info, 1);
  return DAMO_OK;
}

static const core_class banded_class = {.func = "solve_banded",
                                        .needs_lapack = core_needs_lapack,
                                        .form_of = banded_form,
                                        .check = banded_check,
                                        .workspace = banded_workspace,
                                        .run = banded_run,
                                        .emit_c = banded_emit_c,
                                        .emits_complex = true};

static const op_def banded_outer_def, banded_dot_def;

/* Of p·qᴴ, stacks of matrices of n rows. */
static damo_var *build_banded_outer(build *b, const banded_props *like, damo_var *p, damo_var *q) {
  const banded_props props = {.l = like->l, .u = like->u};
  return build_core_first(b, &banded_outer_def, &props, (damo_var *const[]){p, q}, 2);
}

static damo_var *build_banded_dot(build *b, const banded_props *like, char system, damo_var *ab, damo_var *x) {
  const banded_props props = {.l = like->l, .u = like->u, .trans = system_prop(system)};
  return build_core_first(b, &banded_dot_def, &props, (damo_var *const[]){ab, x}, 2);
}

/* The diagonals of the gradient p·qᴴ of A, where op(A) has the gradient g·xᴴ. */
static damo_var *build_band_gradient(build *b, const banded_props *p, char system, damo_var *g, damo_var *x) {
  if (system == 'n') return build_banded_outer(b, p, g, x);
  if (system == 'h') return build_banded_outer(b, p, x, g);
  return build_banded_outer(b, p, build_conj_if_complex(b, x), build_conj_if_complex(b, g));
}

static damo_status banded_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  banded_props p = *OP_PROPS(node->op, banded_props);
  const char system = system_of(p.trans);
  const bool vector = prop_bool_or(p.vector, false);
  if (gout[0] == NULL) return DAMO_OK;
  char adjoint = system;
  damo_var *ah = build_adjoint_system(b, node->in[0], &adjoint);
  p.trans = system_prop(adjoint);
  damo_var *g = build_core_first(b, &solve_banded_def, &p, (damo_var *const[]){ah, gout[0]}, 2), *x = node->out[0];
  gin[1] = build_unbroadcast(b, g, node->in[1]);
  damo_var *ga =
      build_band_gradient(b, &p, system, vector ? build_as_columns(b, g) : g, vector ? build_as_columns(b, x) : x);
  gin[0] = build_unbroadcast(b, build_neg(b, ga), node->in[0]);
  return b->status;
}

static damo_status banded_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const banded_props *p = OP_PROPS(node->op, banded_props);
  const bool vector = prop_bool_or(p->vector, false);
  damo_var *rhs = eval[1], *x = node->out[0];
  if (eval[0] != NULL) {
    damo_var *moved = build_banded_dot(b, p, system_of(p->trans), eval[0], vector ? build_as_columns(b, x) : x);
    if (vector) moved = build_drop_columns(b, moved);
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_op(b, damo_retain(node->op), (damo_var *const[]){node->in[0], rhs}, 2);
  return b->status;
}

#define BANDED_PROPS                                                                                      \
  PROPS(PROP_INTEGER(banded_props, l, 0, INT32_MAX / 4), PROP_INTEGER(banded_props, u, 0, INT32_MAX / 4), \
        SYSTEM_PROP(banded_props, trans), PROP_FLAG(banded_props, vector),                                \
        PROP_WORD_OR_NIL(banded_props, on_fail, "nan"))

const op_def solve_banded_def = {
    .name = "SolveBanded",
    .library = "LAPACK",
    .doc = "solutions of a stack of systems with banded matrices",
    .props = BANDED_PROPS,
    .n_in = 2,
    CORE_OP(banded_class),
    .emit_c = core_emit_c,
    .grad = banded_grad,
    .rop = banded_rop,
    .terms = TERMS_SOLVED,
    OP_CHECK(solve_banded_check),
};

/* ---- BandedDot, BandedOuter -------------------------------------------------------------------------------------- */

/* op(A)·x */
static damo_status banded_dot_run(core_call *c) {
  const banded_props *p = OP_PROPS(c->op, banded_props);
  const core_mat *ab = &c->in[0], *x = &c->in[1], *out = &c->out[0];
  const int64_t l = p->l.u.i, u = p->u.u.i, n = ab->cols;
  const char system = system_of(p->trans);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < x->cols; k++) {
      damo_c128 sum = {0, 0};
      for (int64_t d = -(l > u ? l : u); d <= (l > u ? l : u); d++) {
        const int64_t j = i + d, row = system == 'n' ? i : j, col = system == 'n' ? j : i, r = row - col + u;
        if (j < 0 || j >= n || r < 0 || r > l + u) continue;
        damo_c128 a = mat_get(ab, r, col);
        const damo_c128 v = mat_get(x, j, k);
        if (system == 'h') a.im = -a.im;
        sum.re += a.re * v.re - a.im * v.im;
        sum.im += a.re * v.im + a.im * v.re;
      }
      mat_put(out, i, k, sum);
    }
  }
  return DAMO_OK;
}

static const core_class banded_dot_class = {.func = "banded_dot",
                                            .form = {.signature = "(w,n),(n,k)->(n,k)"},
                                            .check = banded_check,
                                            .run = banded_dot_run,
                                            .emit_c = banded_dot_emit_c,
                                            .emits_complex = true};

static damo_status banded_dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const banded_props *p = OP_PROPS(node->op, banded_props);
  const char system = system_of(p->trans);
  if (gout[0] == NULL) return DAMO_OK;
  char adjoint = system;
  damo_var *ah = build_adjoint_system(b, node->in[0], &adjoint);
  gin[0] = build_unbroadcast(b, build_band_gradient(b, p, system, gout[0], node->in[1]), node->in[0]);
  gin[1] = build_unbroadcast(b, build_banded_dot(b, p, adjoint, ah, gout[0]), node->in[1]);
  return b->status;
}

static damo_status banded_dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *x = eval[0] ? build_op(b, damo_retain(node->op), (damo_var *const[]){eval[0], node->in[1]}, 2) : NULL;
  damo_var *y = eval[1] ? build_op(b, damo_retain(node->op), (damo_var *const[]){node->in[0], eval[1]}, 2) : NULL;
  rout[0] = build_add_present(b, x, y);
  return b->status;
}

static const op_def banded_dot_def = {
    .name = "BandedDot",
    .doc = "products of a stack of banded matrices",
    .props = BANDED_PROPS,
    .n_in = 2,
    CORE_OP(banded_dot_class),
    .emit_c = core_emit_c,
    .grad = banded_dot_grad,
    .rop = banded_dot_rop,
    .terms = TERMS_LINEAR,
    .no_check = "plain loops: spec/linalg/solve_spec.lua compares derivatives with differences",
};

/* Row r, column j: the sum over k of p[j + r - u, k] and the conjugate of q[j, k]. */
static damo_status banded_outer_run(core_call *c) {
  const int64_t u = OP_PROPS(c->op, banded_props)->u.u.i;
  const core_mat *p = &c->in[0], *q = &c->in[1], *out = &c->out[0];
  for (int64_t r = 0; r < out->rows; r++) {
    for (int64_t j = 0; j < out->cols; j++) {
      const int64_t i = j + r - u;
      damo_c128 sum = {0, 0};
      for (int64_t k = 0; i >= 0 && i < p->rows && k < p->cols; k++) {
        const damo_c128 v = mat_get(p, i, k);
        const damo_c128 w = mat_get(q, j, k);
        sum.re += v.re * w.re + v.im * w.im;
        sum.im += v.im * w.re - v.re * w.im;
      }
      mat_put(out, r, j, sum);
    }
  }
  return DAMO_OK;
}

static void banded_outer_lengths(const damo_op *op, int64_t *dim) {
  const banded_props *p = OP_PROPS(op, banded_props);
  dim[2] = p->l.u.i + p->u.u.i + 1;
}

static const core_class banded_outer_class = {.func = "banded_outer",
                                              .form = {.signature = "(n,k),(n,k)->(w,n)"},
                                              .lengths = banded_outer_lengths,
                                              .run = banded_outer_run,
                                              .emit_c = banded_outer_emit_c,
                                              .emits_complex = true};

/* out = D(p·qᴴ): the gradient of p is G·q, that of q Gᴴ·p, for the banded matrix G. */
static damo_status banded_outer_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const banded_props *p = OP_PROPS(node->op, banded_props);
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = build_unbroadcast(b, build_banded_dot(b, p, 'n', gout[0], node->in[1]), node->in[0]);
  gin[1] = build_unbroadcast(b, build_banded_dot(b, p, 'h', gout[0], node->in[0]), node->in[1]);
  return b->status;
}

static const op_def banded_outer_def = {
    .name = "BandedOuter",
    .doc = "the diagonals of the products p·qᴴ of a stack of matrices",
    .props = BANDED_PROPS,
    .n_in = 2,
    CORE_OP(banded_outer_class),
    .emit_c = core_emit_c,
    .grad = banded_outer_grad,
    .rop = banded_dot_rop,
    .terms = TERMS_LINEAR,
    .no_check = "plain loops: spec/linalg/solve_spec.lua compares derivatives with differences",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct banded_options {
  prop_value l, u, trans, b_ndim, on_fail;
} banded_options;

static damo_status fn_solve_banded(build *b, const fn_args *a, ptrvec *out) {
  const banded_options *o = FN_OPTIONS(a, banded_options);
  const int vector = vector_option(b, a, o->b_ndim, a->in[1]);
  const char system = system_option(b, a, o->trans);
  banded_props props = {.l = o->l, .u = o->u, .vector = prop_bool(vector == 1)};
  if (vector < 0 || system == 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  if (prop_int_or(o->l, -1) < 0 || prop_int_or(o->u, -1) < 0) {
    build_fail(b, DAMO_EVALUE,
               "solve_banded: the numbers l and u of diagonals below and above the main one must be given");
    return b->status;
  }
  props.trans = system_prop(system);
  return fn_give(b, out, build_core_first(b, &solve_banded_def, &props, a->in, 2));
}

const op_func linalg_banded_funcs[] = {
    {.name = "linalg.solve_banded",
     .operands = "ab b",
     .options =
         OPTIONS(OPT(banded_options, l, OPT_INT), OPT(banded_options, u, OPT_INT), OPT(banded_options, trans, OPT_ANY),
                 OPT(banded_options, b_ndim, OPT_INT), OPT(banded_options, on_fail, OPT_STR)),
     .call = fn_solve_banded,
     .no_method = true,
     .doc = "x of a·x = b, where the rows of ab are a's diagonals: u above the main one, and l below it"},
    {.name = NULL},
};

const op_def *const linalg_banded_classes[] = {&solve_banded_def, &banded_dot_def, &banded_outer_def, NULL};
