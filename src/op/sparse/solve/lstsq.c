/* lstsq: least squares with a QR factor.
 *
 * FactorLeast (F, A, b) or (F, b): x = A⁺·b, the residual b − A·x and the rank. FactorLeastAdjoint (F, A, g): A⁺ᴴ·g,
 * and whether x is a minimum-norm solution (1.0 or 0.0). The derivative of the pseudo-inverse (Golub, Pereyra 1973),
 * with r = b − A·x and u = A⁺ᴴ·x:
 *
 *     dx = A⁺·(db − dA·x) + A⁺·A⁺ᴴ·dAᴴ·r + (I − A⁺·A)·dAᴴ·u
 *
 * Its last term is there for minimum-norm solutions only: with full column rank I − A⁺·A is 0, and a basic solution of
 * a rank-deficient matrix keeps its columns.
 */
#include "system.h"
#include "op/elem/build_arith.h"

static const op_def sp_factor_least_def, sp_factor_least_adjoint_def;

static damo_status sp_factor_least_init(damo_op *op) { return factor_fields_init(op, NULL, NULL, NULL); }

static damo_status sp_factor_least_check_inputs(const damo_op *op, damo_var *const *in, int n_in, int axis) {
  char got[320];
  DAMO_TRY(type_need_system(op, in, n_in, true));
  const damo_var *rhs = in[n_in - 1];
  if (!var_is_dense(rhs) || var_ndim(rhs) < 1 || var_ndim(rhs) > 2) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the right side must be a dense vector or matrix, got %s",
                    op->def->name, type_format(got, sizeof got, rhs->type));
  }
  return type_need_right_rows(op, in, n_in, axis);
}

/* The dense Type of a solution: the right side's columns, that many rows, the promoted dtype. */
static damo_type *sp_factor_least_type_of_rows(const damo_op *op, damo_var *const *in, int n_in, int64_t rows) {
  const damo_type *t = in[n_in - 1]->type;
  const int64_t shape[2] = {rows, t->ndim == 2 ? t->shape[1] : -1};
  return type_tensor(op->obj.ctx, dtype_promote(var_dtype(in[0]), dtype_to_float(t->dtype)), t->ndim, shape);
}

/* ---- Algebra of the rules ---------------------------------------------------------------------------------------- */

static damo_apply *build_least_node(build *b, const factor_var *v, damo_var *rhs) {
  return build_factor_apply(b, &sp_factor_least_def, NULL, v, &rhs, 1);
}

/* A⁺·b */
static damo_var *build_least(build *b, const factor_var *v, damo_var *rhs) {
  damo_apply *node = build_least_node(b, v, rhs);
  return node ? node->out[0] : NULL;
}

/* A⁺ᴴ·g; *wide (may be NULL): 1 for minimum-norm solutions. */
static damo_var *build_least_adjoint(build *b, const factor_var *v, damo_var *g, damo_var **wide) {
  damo_apply *node = build_factor_apply(b, &sp_factor_least_adjoint_def, NULL, v, &g, 1);
  if (node != NULL && wide != NULL) *wide = node->out[1];
  return node ? node->out[0] : NULL;
}

static damo_var *build_least_dot(build *b, damo_var *m, damo_var *x) {
  return m && x ? build_sparse_dot(b, m, x) : NULL;
}
static damo_var *build_sparse_adjoint(build *b, damo_var *m) {
  return build_sparse_transpose(b, build_conj_if_complex(b, m));
}
static damo_var *build_least_mul(build *b, damo_var *x, damo_var *y) { return x && y ? build_mul(b, x, y) : NULL; }

/* rows·colsᴴ at A's stored positions: a vector. */
static damo_var *build_outer_at(build *b, damo_var *a, damo_var *rows, damo_var *cols) {
  return build_samples(b, a, build_columns(b, rows), build_conj_if_complex(b, build_columns(b, cols)));
}

/* ---- FactorLeast ------------------------------------------------------------------------------------------------- */

static damo_status sp_factor_least_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_least_check_inputs(op, in, n_in, 0));
  const int64_t *shape = in[0]->type->shape, rows = in[n_in - 1]->type->shape[0];
  out[0] = sp_factor_least_type_of_rows(op, in, n_in, shape[1]);
  out[1] = sp_factor_least_type_of_rows(op, in, n_in, shape[0] >= 0 ? shape[0] : rows);
  out[2] = type_tensor(op->obj.ctx, DAMO_INT64, 0, NULL);
  return out[0] && out[1] && out[2] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status sp_factor_least_perform(const thunk *t, frame *f) {
  ctx_set_due(f->ctx);
  damo_factor *factor = thunk_in_factor(t, f, 0);
  damo_array *x = NULL, *residual = NULL, *rank = thunk_out(t, f, 2, DAMO_INT64, 0, NULL);
  if (rank == NULL) return DAMO_EMEMORY;
  DAMO_TRY(factor_lstsq(factor, thunk_in(t, f, t->n_in - 1), &x, &residual));
  array_set(rank, NULL, (scalar){.dtype = DAMO_INT64, .v.i = factor_rank(factor)});
  thunk_set_out(t, f, 0, &x->obj);
  thunk_set_out(t, f, 1, &residual->obj);
  return DAMO_OK;
}

/* With v = A⁺ᴴ·g the gradient of b is v, that of A −v·xᴴ + r·(A⁺v)ᴴ + u·(g − Aᴴv)ᴴ. A cotangent gr of the residual b −
 * A·x makes of g first g − Aᴴ·gr, and adds gr to v in the gradient of b and in −v·xᴴ. */
static damo_status sp_factor_least_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 3);
  damo_var *g = gout[0], *gr = gout[1], *x = node->out[0], *r = node->out[1], *wide = NULL;
  if (g == NULL && gr == NULL) return b->status;
  if (v.a == NULL) {
    gin[1] = build_null(b, "the gradient of least squares needs the matrix that the factor was made from");
    return b->status;
  }
  if (gr != NULL) g = build_difference(b, g, build_least_dot(b, build_sparse_adjoint(b, v.a), gr));
  damo_var *w = build_least_adjoint(b, &v, g, &wide), *both = build_add_present(b, w, gr);
  gin[node->n_in - 1] = both;
  damo_var *u = build_least_adjoint(b, &v, x, NULL),
           *rest =
               build_least_mul(b, wide, build_difference(b, g, build_least_dot(b, build_sparse_adjoint(b, v.a), w)));
  damo_var *data =
      build_difference(b, build_outer_at(b, v.a, r, build_least(b, &v, w)), build_outer_at(b, v.a, both, x));
  data = data && rest ? build_add_present(b, data, build_outer_at(b, v.a, u, rest)) : NULL;
  gin[1] = data ? build_with_data(b, v.a, data) : NULL;
  return b->status;
}

static damo_status sp_factor_least_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 3);
  damo_var *x = node->out[0], *r = node->out[1], *wide = NULL;
  damo_var *db = build_tangent(b, eval[node->n_in - 1], node->in[node->n_in - 1]);
  damo_var *da = v.a ? build_tangent(b, eval[1], v.a) : NULL, *moved = da ? build_least_dot(b, da, x) : NULL;
  if (db == NULL && da == NULL) return b->status;
  damo_var *rhs = build_difference(b, db, moved);
  rout[0] = build_least(b, &v, rhs);
  if (da != NULL) {
    damo_var *dah = build_sparse_adjoint(b, da), *u = build_least_adjoint(b, &v, x, &wide),
             *y = build_least_dot(b, dah, u);
    damo_var *seen = build_least(b, &v, build_least_adjoint(b, &v, build_least_dot(b, dah, r), NULL));
    damo_var *rest = build_least_mul(b, wide, build_difference(b, y, build_least(b, &v, build_least_dot(b, v.a, y))));
    rout[0] = build_add_present(b, build_add_present(b, rout[0], seen), rest);
  }
  if (v.a != NULL) rout[1] = build_difference(b, rhs, build_least_dot(b, v.a, rout[0]));
  return b->status;
}

static damo_status sp_factor_least_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  damo_var *const *rhs = in_shape[node->n_in - 1];
  out_shape[0][0] = node->n_in == 3 ? in_shape[1][1] : build_dim(b, node->out[0], 0);
  out_shape[1][0] = rhs[0];
  for (int o = 0; o < 2 && var_ndim(node->out[0]) == 2; o++) out_shape[o][1] = rhs[1];
  return b->status;
}

static void sp_factor_least_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) {
    for (int o = 0; o < 3; o++) connected[i * 3 + o] = i > 0 && o < 2;
  }
}

static const op_def sp_factor_least_def = {
    .name = "FactorLeast",
    .library = "SuiteSparse",
    .doc = "the least-squares solution, its residual and the rank with a QR factor: (F, A, b), A for the gradient",
    .n_in = OP_VARIADIC,
    .n_out = 3,
    .data_size = sizeof(factor_fields),
    .init = sp_factor_least_init,
    .infer_type = sp_factor_least_type,
    .perform = sp_factor_least_perform,
    .grad = sp_factor_least_grad,
    .rop = sp_factor_least_rop,
    .infer_shape = sp_factor_least_shape,
    .connection_pattern = sp_factor_least_connect,
    .terms = TERMS_LEAST,
    OP_CHECK(factor_least_check),
};

/* ---- FactorLeastAdjoint ------------------------------------------------------------------------------------------ */

static damo_status sp_factor_least_adjoint_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_least_check_inputs(op, in, n_in, 1));
  out[0] = sp_factor_least_type_of_rows(op, in, n_in, in[0]->type->shape[0]);
  out[1] = type_tensor(op->obj.ctx, dtype_of_modulus(var_dtype(in[0])), 0, NULL);
  return out[0] && out[1] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

/* Solved by the orthogonal factor: the normal equations, which square A's condition number, would lose twice as many
 * digits. */
static damo_status sp_factor_least_adjoint_perform(const thunk *t, frame *f) {
  damo_factor *factor = thunk_in_factor(t, f, 0);
  const damo_dtype dt = t->node->out[0]->type->dtype;
  damo_array *flag = thunk_out(t, f, 1, t->node->out[1]->type->dtype, 0, NULL);
  damo_array *found = flag ? factor_solve(factor, FACTOR_H, thunk_in(t, f, 2), NULL) : NULL, *out = NULL;
  if (found != NULL) out = array_dtype(found) == dt ? damo_retain(found) : array_cast(found, dt);
  damo_release(found);
  if (out == NULL) return damo_error_status(f->ctx);
  const scalar wide = {.dtype = DAMO_FLOAT64, .v.f = factor_get_info(factor).minimum_norm};
  array_set(flag, NULL, scalar_cast(wide, array_dtype(flag)));
  thunk_set_out(t, f, 0, &out->obj);
  return DAMO_OK;
}

/* The Op is the pseudo-inverse of Aᴴ. With c the cotangent, v = A⁺ᴴ·g, p = A⁺·c, h = g − Aᴴ·v and q = A⁺·v, the
 * gradient of g is p and that of A is −v·pᴴ + (A⁺ᴴ·p)·hᴴ + (c − A·p)·qᴴ. */
static damo_status sp_factor_least_adjoint_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 3);
  damo_var *c = gout[0], *g = node->in[2], *w = node->out[0], *wide = node->out[1];
  if (c == NULL) return b->status;
  damo_var *p = build_least(b, &v, c), *q = build_least(b, &v, w);
  damo_var *h = build_least_mul(b, wide, build_difference(b, g, build_least_dot(b, build_sparse_adjoint(b, v.a), w)));
  gin[2] = p;
  damo_var *data =
      build_difference(b, build_outer_at(b, v.a, build_least_adjoint(b, &v, p, NULL), h), build_outer_at(b, v.a, w, p));
  data = data
             ? build_add_present(b, data, build_outer_at(b, v.a, build_difference(b, c, build_least_dot(b, v.a, p)), q))
             : NULL;
  gin[1] = data ? build_with_data(b, v.a, data) : NULL;
  return b->status;
}

static damo_status sp_factor_least_adjoint_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 3);
  damo_var *g = node->in[2], *w = node->out[0], *wide = node->out[1];
  damo_var *dg = build_tangent(b, eval[2], g), *da = build_tangent(b, eval[1], v.a), *sum = dg;
  if (da != NULL) sum = build_difference(b, dg, build_least_dot(b, build_sparse_adjoint(b, da), w));
  rout[0] = sum ? build_least_adjoint(b, &v, sum, NULL) : NULL;
  if (da == NULL) return b->status;
  damo_var *h = build_least_mul(b, wide, build_difference(b, g, build_least_dot(b, build_sparse_adjoint(b, v.a), w))),
           *y = build_least_dot(b, da, build_least(b, &v, w));
  damo_var *seen = build_least_adjoint(b, &v, build_least(b, &v, build_least_dot(b, da, h)), NULL);
  rout[0] = build_add_present(b, build_add_present(b, rout[0], seen),
                              build_difference(b, y, build_least_dot(b, v.a, build_least(b, &v, y))));
  return b->status;
}

static damo_status sp_factor_least_adjoint_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                                 damo_var ***out_shape) {
  out_shape[0][0] = in_shape[1][0];
  if (var_ndim(node->out[0]) == 2) out_shape[0][1] = in_shape[2][1];
  return b->status;
}

static void sp_factor_least_adjoint_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) {
    connected[i * 2] = i > 0;
    connected[i * 2 + 1] = false;
  }
}

static const op_def sp_factor_least_adjoint_def = {
    .name = "FactorLeastAdjoint",
    .library = "SuiteSparse",
    .doc = "the adjoint of FactorLeast's solution, and 1 where that has minimum norm: (F, A, g)",
    .n_in = 3,
    .n_out = 2,
    .data_size = sizeof(factor_fields),
    .init = sp_factor_least_init,
    .infer_type = sp_factor_least_adjoint_type,
    .perform = sp_factor_least_adjoint_perform,
    .grad = sp_factor_least_adjoint_grad,
    .rop = sp_factor_least_adjoint_rop,
    .infer_shape = sp_factor_least_adjoint_shape,
    .connection_pattern = sp_factor_least_adjoint_connect,
    .terms = TERMS_SOLVED,
    OP_CHECK(factor_least_adjoint_check),
};

/* ---- Function ---------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_lstsq(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *rhs = any_operand(b, a, 1);
  factor_var v = {.a = x};
  if (!check_on_fail(b, a)) return b->status;
  if (x != NULL) v.f = build_class(b, &factorize_qr_def, &x, 1);
  damo_apply *node = v.f ? build_least_node(b, &v, rhs) : NULL;
  for (int i = 0; i < 3 && node != NULL; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return b->status;
}

const op_func sparse_lstsq_funcs[] = {
    {.name = "sparse.lstsq",
     .operands = "A b",
     .options = OPTIONS(OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_lstsq,
     .doc =
         "the least-squares solution of A x = b for a sparse A of any shape (of minimum norm where it has more columns "
         "than rows), the residual b - A x, and A's rank"},
    {.name = NULL},
};

const op_def *const sparse_lstsq_classes[] = {&sp_factor_least_def, &sp_factor_least_adjoint_def, NULL};
