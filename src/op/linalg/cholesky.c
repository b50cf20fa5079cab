/* cholesky: Cholesky: A = L·Lᴴ with L lower triangular, or A = Uᴴ·U.
 *
 * One triangle of A is read, as `lower` says. The other one is taken as its conjugate transpose, so the gradient lies in
 * the triangle that is read, and what belongs to both entries is added there.
 */
#include "decompose.h"
#include "lapack.h"
#include "op/shape/shape_int.h"

#include <string.h>

static damo_status cholesky_run(core_call *c) {
  const core_mat *m = &c->out[0];
  const bool lower = OP_PROPS(c->op, cholesky_props)->lower.u.i != 0;
  const lapack_int n = (lapack_int)m->rows, ld = (lapack_int)m->ld;
  const size_t size = dtype_size(m->dtype);
  lapack_int info = 0;
  /* By rows, so that LAPACK sees the transpose of the other triangle: Aᵀ = L̄·Lᵀ, whose upper factor is Lᵀ. */
  lapack_of(c->dtype)->potrf(lower ? "U" : "L", &n, m->data, &ld, &info, 1);
  if (info > 0) {
    return core_fail(c, "the matrix is not positive definite: its leading minor of order %d is not positive",
                     (int)info);
  }
  for (int64_t i = 0; i < n; i++) {
    char *row = m->data + (size_t)(i * n) * size;
    if (lower)
      memset(row + (size_t)(i + 1) * size, 0, (size_t)(n - i - 1) * size);
    else
      memset(row, 0, (size_t)i * size);
  }
  return DAMO_OK;
}

static const core_class cholesky_class = {
    .func = "cholesky",
    .form = {.signature = "(n,n)->(n,n)", .in_layout = "-", .from = "1"},
    .run = cholesky_run,
};

damo_var *build_cholesky(build *b, damo_var *a, bool lower) {
  const cholesky_props props = {.lower = prop_bool(lower)};
  return build_core_first(b, &cholesky_def, &props, &a, 1);
}

/* The lower triangle of x with half its diagonal. */
static damo_var *build_half_triangle(build *b, damo_var *x) {
  return build_mul(b, build_add(b, build_triangle(b, x, 0, true), build_triangle(b, x, -1, true)), build_num(b, 0.5));
}

/* The lower factor, or its conjugate transpose; and back. */
static damo_var *as_lower(build *b, damo_var *x, bool lower) { return lower ? x : build_adjoint(b, x); }

/* With Φ the lower triangle with half its diagonal: S = L⁻ᴴ·Φ(Lᴴ·L̄)·L⁻¹, and Ā = Φ(S + Sᴴ) in the triangle that is
 * read. I. Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, (10), with one triangle for both. */
static damo_status cholesky_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const bool lower = OP_PROPS(node->op, cholesky_props)->lower.u.i != 0;
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *l = as_lower(b, node->out[0], lower), *g = as_lower(b, gout[0], lower);
  const triangle_var t = {l, true, false};
  damo_var *p = build_half_triangle(b, build_matmul(b, build_adjoint(b, l), g));
  damo_var *s = build_triangular_right(b, t, 'n', build_triangular_left(b, t, 'h', p));
  gin[0] = as_lower(b, build_half_triangle(b, build_add(b, s, build_adjoint(b, s))), lower);
  return b->status;
}

/* dL = L·Φ(L⁻¹·dA·L⁻ᴴ), dA the Hermitian matrix of the triangle: Φ(dA) + Φ(dA)ᴴ. */
static damo_status cholesky_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const bool lower = OP_PROPS(node->op, cholesky_props)->lower.u.i != 0;
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *l = as_lower(b, node->out[0], lower), *half = build_half_triangle(b, as_lower(b, eval[0], lower));
  const triangle_var t = {l, true, false};
  damo_var *d = build_add(b, half, build_adjoint(b, half));
  damo_var *middle = build_triangular_right(b, t, 'h', build_triangular_left(b, t, 'n', d));
  rout[0] = as_lower(b, build_matmul(b, l, build_half_triangle(b, middle)), lower);
  return b->status;
}

const op_def cholesky_def = {
    .name = "Cholesky",
    .doc = "Cholesky factor of a stack of positive definite matrices",
    .props = PROPS(PROP(cholesky_props, lower), PROP(cholesky_props, on_fail)),
    .n_in = 1,
    CORE_OP(cholesky_class),
    .grad = cholesky_grad,
    .rop = cholesky_rop,
    OP_CHECK(cholesky_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct cholesky_options {
  prop_value lower, on_fail;
} cholesky_options;

static damo_status fn_cholesky(build *b, const fn_args *a, ptrvec *out) {
  const cholesky_options *o = FN_OPTIONS(a, cholesky_options);
  cholesky_props props = {.lower = prop_bool(prop_bool_or(o->lower, true))};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &cholesky_def, &props, a->in, 1));
}

const op_func linalg_cholesky_funcs[] = {
    {.name = "linalg.cholesky",
     .operands = "a",
     .options = OPTIONS(OPT(cholesky_options, lower, OPT_BOOL), OPT(cholesky_options, on_fail, OPT_STR)),
     .call = fn_cholesky,
     .no_method = true,
     .doc = "the lower triangular L of a = L·Lᴴ, or with lower=false the upper U of a = Uᴴ·U"},
    {.name = NULL},
};

const op_def *const linalg_cholesky_classes[] = {&cholesky_def, NULL};
