/* solve: systems of equations with a factor.
 *
 * FactorSolve (F, A, b) or (F, b), with system 'n', 't', 'h': x with B·x = b, where B is A, Aᵀ or Aᴴ; b is a dense
 * vector or matrix, or a sparse matrix, and x of b's kind. The gradient of b is z, the solution of the adjoint system
 * with the same factor; that of A is −z·xᴴ (transposed for Aᵀ and Aᴴ), at A's stored positions alone.
 *
 * Where A is rectangular x = B⁺·b, with the pseudo-inverse or a basic solution (sparse/factor/factor.h), and A's
 * gradient and tangent have more terms (as in lstsq.c). Whether A is rectangular may be known only at run time. So the
 * graph has these terms unless A is known to be square, and each is made of matrices whose columns are all present
 * where the term applies, and which have no columns where it does not. The property minimum_norm says when. true: where
 * a rectangular A has full rank and more columns than rows; false: where A is rectangular otherwise; nil (of
 * FactorSolve): always.
 *
 * FactorColumns (F, x) is x where the term applies, and else a matrix without columns, with which everything computed
 * from it costs next to nothing. FactorColumnsBack (F, y, x), its adjoint, is y or zeros like x. FactorGap (F, A, x, b)
 * is B·x − b of such columns, FactorSolve with minimum_norm the solution for them, and FactorBeside concatenates them
 * with the columns of the terms that always apply.
 */
#include "system.h"
#include "op/elem/build_arith.h"

typedef struct sp_factor_solve_props {
  prop_value system, positive, minimum_norm;
} sp_factor_solve_props;

typedef struct rect_columns_props {
  prop_value minimum_norm;
} rect_columns_props;

typedef struct rect_gap_props {
  prop_value system, minimum_norm;
} rect_gap_props;

static const op_def sp_factor_solve_def, rect_columns_def, rect_columns_back_def, rect_gap_def, rect_beside_def;

/* ---- Columns in a run -------------------------------------------------------------------------------------------- */

/* True when the property minimum_norm is not nil. */
static bool rect_is_of_columns(const damo_op *op) { return factor_fields_of(op)->by_rank; }

static bool rect_when(const damo_op *op) { return factor_fields_of(op)->minimum_norm; }

/* True when the columns are present, for the factor that is input 0 in this run. */
static bool rect_columns_count(const thunk *t, frame *f) {
  const factor_info info = factor_get_info(thunk_in_factor(t, f, 0));
  const damo_op *op = t->node->op;
  return !rect_is_of_columns(op) || (info.rectangular && info.minimum_norm == rect_when(op));
}

/* A matrix like x with that many rows and no columns. */
static damo_sparse *rect_no_columns(const damo_sparse *x, int64_t rows) {
  const int64_t shape[2] = {rows, 0};
  return sparse_from_places(x->obj.ctx, sparse_format(x), sparse_dtype(x), shape, 0, NULL, NULL, NULL, sparse_itype(x),
                            true);
}

/* Shape and strides of x as a matrix; a vector is one column. */
static void rect_columns_layout(const damo_array *x, int64_t *shape, int64_t *strides) {
  const bool vector = x->ndim == 1;
  shape[0] = array_shape(x)[0];
  shape[1] = vector ? 1 : array_shape(x)[1];
  strides[0] = array_strides(x)[0];
  strides[1] = vector ? (int64_t)dtype_size(array_dtype(x)) : array_strides(x)[1];
}

/* A view: a vector as a matrix of one column. */
static damo_array *rect_as_columns(const damo_array *x) {
  int64_t shape[2], strides[2];
  rect_columns_layout(x, shape, strides);
  return array_view(x, 2, shape, strides, 0);
}

/* ---- FactorColumns ----------------------------------------------------------------------------------------------- */

static damo_status rect_check_when(const damo_op *op) {
  if (rect_is_of_columns(op)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: minimum_norm is true or false", op->def->name);
}

static damo_status rect_columns_init(damo_op *op) {
  DAMO_TRY(factor_fields_init(op, NULL, NULL, &OP_PROPS(op, rect_columns_props)->minimum_norm));
  return rect_check_when(op);
}

static damo_status rect_check_columns(const damo_op *op, damo_var *const *in, int i) {
  char got[320];
  DAMO_TRY(type_need_factor(op->def, in, 0, false));
  if (type_has_shape(in[i]->type) && (var_ndim(in[i]) == 2 || var_ndim(in[i]) == 1)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a vector, a matrix or a sparse matrix, got %s",
                  op->def->name, i + 1, type_format(got, sizeof got, in[i]->type));
}

static damo_status rect_columns_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(rect_check_columns(op, in, 1));
  const damo_var *x = in[1];
  const int64_t shape[2] = {x->type->shape[0], -1};
  if (var_is_dense(x)) return type_give_dense(op, out, var_dtype(x), 2, shape);
  return type_give_sparse(op, out, var_format_of(x), var_dtype(x), var_itype(x), shape[0], -1);
}

static damo_status rect_columns_perform(const thunk *t, frame *f) {
  const bool all = rect_columns_count(t, f);
  if (thunk_in_is_sparse(t, f, 1)) {
    damo_sparse *x = thunk_in_sparse(t, f, 1);
    if (all) return thunk_give(t, f, 0, damo_retain(x));
    return thunk_give(t, f, 0, rect_no_columns(x, x->shape[0]));
  }
  const damo_array *x = thunk_in(t, f, 1);
  int64_t shape[2], strides[2];
  rect_columns_layout(x, shape, strides);
  if (!all) shape[1] = 0;
  return thunk_out_view(t, f, 0, x, 2, shape, strides, 0);
}

static damo_var *build_rect_with_when(build *b, const op_def *def, bool minimum_norm, damo_var *const *in, int n) {
  const rect_columns_props p = {.minimum_norm = prop_bool(minimum_norm)};
  for (int i = 0; i < n; i++) {
    if (in[i] == NULL) return NULL;
  }
  return b->status == DAMO_OK ? build_op(b, op_new(b->ctx, def, &p), in, n) : NULL;
}

static damo_var *build_rect_columns(build *b, damo_var *f, bool minimum_norm, damo_var *x) {
  return build_rect_with_when(b, &rect_columns_def, minimum_norm, (damo_var *[]){f, x}, 2);
}

static damo_var *build_rect_columns_back(build *b, damo_var *f, bool minimum_norm, damo_var *y, damo_var *x) {
  return build_rect_with_when(b, &rect_columns_back_def, minimum_norm, (damo_var *[]){f, y, x}, 3);
}

static damo_status rect_columns_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_rect_columns_back(b, node->in[0], rect_when(node->op), gout[0], node->in[1]);
  return b->status;
}

static damo_status rect_columns_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *d = build_tangent(b, eval[1], node->in[1]);
  if (d != NULL) rout[0] = build_rect_columns(b, node->in[0], rect_when(node->op), d);
  return b->status;
}

static damo_status rect_columns_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  out_shape[0][0] = in_shape[1][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

static const op_alias rect_columns_views[] = {{0, 1}, OP_ALIAS_END};

static const op_def rect_columns_def = {
    .name = "FactorColumns",
    .doc = "x as a matrix where a term of a rectangular system counts, else no columns of it: (F, x)",
    .props = PROPS(PROP(rect_columns_props, minimum_norm)),
    .data_size = sizeof(factor_fields),
    .init = rect_columns_init,
    .n_in = 2,
    .view_map = rect_columns_views,
    .infer_type = rect_columns_type,
    .perform = rect_columns_perform,
    .grad = rect_columns_grad,
    .rop = rect_columns_rop,
    .infer_shape = rect_columns_shape,
    .connection_pattern = connect_second,
    OP_CHECK(rect_columns_check),
};

/* ---- FactorColumnsBack ------------------------------------------------------------------------------------------- */

static damo_status rect_columns_back_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(rect_check_columns(op, in, 1));
  DAMO_TRY(rect_check_columns(op, in, 2));
  if (var_ndim(in[1]) != 2) return type_need_matrix(op, in, 1);
  const damo_type *x = in[2]->type;
  const damo_dtype dt = var_dtype(in[1]);
  if (var_is_dense(in[1])) return type_give_dense(op, out, dt, x->ndim, x->shape);
  return type_give_sparse(op, out, var_format_of(in[1]), dt, var_itype(in[1]), x->shape[0],
                          x->ndim == 2 ? x->shape[1] : 1);
}

static damo_status rect_check_columns_of(const thunk *t, frame *f, const int64_t *y, const int64_t *wanted) {
  if (y[0] == wanted[0] && y[1] == wanted[1]) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the columns have shape (%lld, %lld), expected (%lld, %lld)",
                  t->node->op->def->name, (long long)y[0], (long long)y[1], (long long)wanted[0], (long long)wanted[1]);
}

static damo_status rect_columns_back_perform(const thunk *t, frame *f) {
  const bool all = rect_columns_count(t, f), of_sparse = thunk_in_is_sparse(t, f, 2);
  const int64_t *like = of_sparse ? thunk_in_sparse(t, f, 2)->shape : array_shape(thunk_in(t, f, 2));
  const int ndim = of_sparse ? 2 : thunk_in(t, f, 2)->ndim;
  const int64_t shape[2] = {like[0], ndim == 2 ? like[1] : 1};
  if (thunk_in_is_sparse(t, f, 1)) {
    damo_sparse *y = thunk_in_sparse(t, f, 1);
    if (all) DAMO_TRY(rect_check_columns_of(t, f, y->shape, shape));
    if (all) return thunk_give(t, f, 0, sparse_copy(y));
    return thunk_give(t, f, 0,
                      sparse_from_places(f->ctx, sparse_format(y), sparse_dtype(y), shape, 0, NULL, NULL, NULL,
                                         sparse_itype(y), true));
  }
  const damo_array *y = thunk_in(t, f, 1);
  if (all) DAMO_TRY(rect_check_columns_of(t, f, array_shape(y), shape));
  damo_array *out = thunk_out(t, f, 0, array_dtype(y), ndim, shape);
  if (out == NULL) return DAMO_EMEMORY;
  if (!all) {
    array_fill(out, (scalar){.dtype = DAMO_FLOAT64});
    return DAMO_OK;
  }
  damo_array *seen = array_view(y, ndim, shape, array_strides(y), 0); /* where x is a vector, the only column */
  const damo_status status = seen != NULL ? array_assign(out, seen) : DAMO_EMEMORY;
  damo_release(seen);
  return status;
}

static damo_status rect_columns_back_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_rect_columns(b, node->in[0], rect_when(node->op), gout[0]);
  return b->status;
}

static damo_status rect_columns_back_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *d = build_tangent(b, eval[1], node->in[1]);
  if (d != NULL) rout[0] = build_rect_columns_back(b, node->in[0], rect_when(node->op), d, node->in[2]);
  return b->status;
}

static damo_status rect_columns_back_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                           damo_var ***out_shape) {
  for (int k = 0; k < var_ndim(node->out[0]); k++)
    out_shape[0][k] = k < var_ndim(node->in[2]) ? in_shape[2][k] : build_int(b, 1);
  return b->status;
}

static const op_def rect_columns_back_def = {
    .name = "FactorColumnsBack",
    .doc = "the adjoint of FactorColumns: y in x's shape, or zeros where the columns do not count: (F, y, x)",
    .props = PROPS(PROP(rect_columns_props, minimum_norm)),
    .data_size = sizeof(factor_fields),
    .init = rect_columns_init,
    .n_in = 3,
    .infer_type = rect_columns_back_type,
    .perform = rect_columns_back_perform,
    .grad = rect_columns_back_grad,
    .rop = rect_columns_back_rop,
    .infer_shape = rect_columns_back_shape,
    .connection_pattern = connect_second,
    OP_CHECK(rect_columns_back_check),
};

/* ---- FactorBeside ------------------------------------------------------------------------------------------------ */

static damo_status rect_beside_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_dtype dt = DAMO_BOOL;
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(type_need_dense(op, in, i, 2));
    dt = i == 0 ? var_dtype(in[i]) : dtype_promote(dt, var_dtype(in[i]));
  }
  return type_give_dense(op, out, dt, 2, (const int64_t[2]){in[0]->type->shape[0], -1});
}

static damo_status rect_copy_beside(const thunk *t, frame *f, damo_array *out) {
  int64_t from = 0;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, f, i);
    const int64_t columns = array_shape(x)[1], shape[2] = {array_shape(x)[0], columns};
    damo_array *part = array_view(out, 2, shape, array_strides(out), from * array_strides(out)[1]);
    const damo_status status = part != NULL ? array_assign(part, x) : DAMO_EMEMORY;
    damo_release(part);
    DAMO_TRY(status);
    from += columns;
  }
  return DAMO_OK;
}

static damo_status rect_beside_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  const damo_dtype dt = t->node->out[0]->type->dtype;
  int64_t shape[2] = {array_shape(x)[0], 0};
  for (int i = 0; i < t->n_in; i++) {
    const int64_t *own = array_shape(thunk_in(t, f, i));
    if (own[0] != shape[0])
      return ctx_fail(f->ctx, DAMO_ESHAPE, "FactorBeside: the matrices have %lld and %lld rows", (long long)shape[0],
                      (long long)own[0]);
    shape[1] += own[1];
  }
  if (shape[1] == array_shape(x)[1] && array_dtype(x) == dt)
    return thunk_out_view(t, f, 0, x, 2, shape, array_strides(x), 0);
  damo_array *out = thunk_out(t, f, 0, dt, 2, shape);
  return out != NULL ? rect_copy_beside(t, f, out) : damo_error_status(f->ctx);
}

static damo_var *build_rect_beside_of(build *b, damo_var *const *xs) {
  if (xs[0] == NULL || xs[1] == NULL || xs[2] == NULL || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &rect_beside_def, NULL), xs, 3);
}

/* The gradient of Join over the same matrices. */
static damo_status rect_beside_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *joined = gout[0] != NULL ? build_concatenate(b, "join", 1, node->in, 3) : NULL;
  return joined != NULL ? joined->owner->op->def->grad(b, joined->owner, gout, gin) : b->status;
}

static damo_status rect_beside_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *xs[3];
  for (int i = 0; i < 3; i++) {
    damo_var *d = build_tangent(b, eval[i], node->in[i]);
    xs[i] = d != NULL ? d : build_zeros_like(b, node->in[i]);
  }
  if (eval[0] != NULL || eval[1] != NULL || eval[2] != NULL) rout[0] = build_rect_beside_of(b, xs);
  return b->status;
}

static damo_status rect_beside_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  out_shape[0][0] = in_shape[0][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

static const op_alias rect_beside_views[] = {{0, 0}, OP_ALIAS_END};

static const op_def rect_beside_def = {
    .name = "FactorBeside",
    .doc = "three matrices side by side; the first itself where the others have no columns",
    .n_in = 3,
    .view_map = rect_beside_views,
    .infer_type = rect_beside_type,
    .perform = rect_beside_perform,
    .grad = rect_beside_grad,
    .rop = rect_beside_rop,
    .infer_shape = rect_beside_shape,
    OP_CHECK(rect_beside_check),
};

/* ---- The terms --------------------------------------------------------------------------------------------------- */

/* The values of minimum_norm with which the columns of the terms in I − B·B⁺, and of those in I − B⁺·B, are present: a
 * wide A makes B = A wide, and B = Aᵀ or Aᴴ tall. */
static bool rect_outside(const system_rule *r) { return r->system != 'n'; }
static bool rect_inside(const system_rule *r) { return r->system == 'n'; }

/* FactorColumns of x; and its adjoint, in x's shape. */
static damo_var *build_rect_taken(const system_rule *r, bool when, damo_var *x) {
  return build_rect_columns(r->b, r->v.f, when, x);
}
static damo_var *build_rect_back(const system_rule *r, bool when, damo_var *y, damo_var *x) {
  return build_rect_columns_back(r->b, r->v.f, when, y, x);
}

/* Three matrices side by side. */
static damo_var *build_rect_beside(build *b, damo_var *x, damo_var *y, damo_var *z) {
  if (x == NULL || y == NULL || z == NULL) return NULL;
  if (var_is_sparse(x) && var_is_sparse(y) && var_is_sparse(z))
    return build_sparse_stack(b, 1, var_format_of(x), (damo_var *[]){x, y, z}, 3);
  return build_rect_beside_of(b, (damo_var *[]){build_toarray(b, x), build_toarray(b, y), build_toarray(b, z)});
}

/* B·x − b and Bᴴ·x − b, of the columns that are present. */
static damo_var *build_rect_gap_node(const system_rule *r, char system, bool when, damo_var *x, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const rect_gap_props props = {.system = prop_str(name), .minimum_norm = prop_bool(when)};
  damo_apply *node = build_factor_apply(r->b, &rect_gap_def, &props, &r->v, (damo_var *[]){x, rhs}, 2);
  return node != NULL ? node->out[0] : NULL;
}

static damo_var *build_rect_gap(const system_rule *r, bool when, damo_var *x, damo_var *rhs) {
  if (!x || !rhs || (var_is_dense(x) && var_is_dense(rhs))) return build_rect_gap_node(r, r->system, when, x, rhs);
  return build_difference(r->b, build_system_times(r, r->v.a, build_rect_taken(r, when, x)),
                          build_rect_taken(r, when, rhs));
}

static damo_var *build_rect_adjoint_gap(const system_rule *r, bool when, damo_var *x, damo_var *rhs) {
  build *b = r->b;
  if (x && rhs && !(var_is_dense(x) && var_is_dense(rhs)))
    return build_difference(b, build_system_times_adjoint(r, r->v.a, build_rect_taken(r, when, x)),
                            build_rect_taken(r, when, rhs));
  if (r->system != 't') return build_rect_gap_node(r, r->system == 'n' ? 'h' : 'n', when, x, rhs);
  return build_conj_if_complex(
      b, build_rect_gap_node(r, 'n', when, build_conj_if_complex(b, x), build_conj_if_complex(b, rhs)));
}

/* ---- FactorGap --------------------------------------------------------------------------------------------------- */

static damo_status rect_gap_init(damo_op *op) {
  const rect_gap_props *p = OP_PROPS(op, rect_gap_props);
  DAMO_TRY(factor_fields_init(op, &p->system, NULL, &p->minimum_norm));
  return rect_check_when(op);
}

static damo_status rect_gap_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_factor(op->def, in, 0, false));
  DAMO_TRY(type_need_sparse(op, in, 1));
  for (int i = 2; i < 4; i++) {
    DAMO_TRY(rect_check_columns(op, in, i));
    if (!var_is_dense(in[i])) return type_need_dense(op, in, i, 2);
  }
  const damo_dtype dt =
      dtype_promote(var_dtype(in[0]), dtype_to_float(dtype_promote(var_dtype(in[2]), var_dtype(in[3]))));
  return type_give_dense(op, out, dt, 2, (const int64_t[2]){in[3]->type->shape[0], -1});
}

static damo_status rect_gap_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 2), *b = thunk_in(t, f, 3);
  const bool all = rect_columns_count(t, f);
  const int64_t shape[2] = {array_shape(b)[0], !all ? 0 : b->ndim == 2 ? array_shape(b)[1] : 1};
  const damo_dtype dt = t->node->out[0]->type->dtype;
  damo_array *out = thunk_out(t, f, 0, dt, 2, shape);
  if (out == NULL || !all) return out != NULL ? DAMO_OK : damo_error_status(f->ctx);
  damo_array *left = rect_as_columns(x), *right = left != NULL ? rect_as_columns(b) : NULL;
  const damo_status status =
      right != NULL ? factor_gap(thunk_in_factor(t, f, 0), system_number(t->node->op), left, right, out) : DAMO_EMEMORY;
  damo_release(left);
  damo_release(right);
  return status;
}

static damo_status rect_gap_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  out_shape[0][0] = in_shape[3][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

/* The gradients of B·x − b: of x Bᴴ·g, of b −g, of A g·xᴴ. */
static damo_status rect_gap_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const system_rule r = system_rule_of(b, node);
  const bool when = rect_when(node->op);
  damo_var *g = gout[0], *x = node->in[2], *rhs = node->in[3], *a = r.v.a;
  if (g == NULL) return b->status;
  gin[2] = build_rect_back(&r, when, build_system_times_adjoint(&r, a, g), x);
  gin[3] = build_rect_back(&r, when, build_neg(b, g), rhs);
  damo_var *sum = build_system_entries(&r, g, build_rect_taken(&r, when, x));
  gin[1] = sum ? build_with_data(b, a, sum) : NULL;
  return b->status;
}

static damo_status rect_gap_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const system_rule r = system_rule_of(b, node);
  const bool when = rect_when(node->op);
  damo_var *x = node->in[2], *d = build_tangent(b, eval[1], r.v.a), *dx = build_tangent(b, eval[2], x);
  damo_var *db = build_tangent(b, eval[3], node->in[3]),
           *sum = d ? build_system_times(&r, d, build_rect_taken(&r, when, x)) : NULL;
  if (dx != NULL) sum = build_add_present(b, sum, build_system_times(&r, r.v.a, build_rect_taken(&r, when, dx)));
  if (db != NULL) sum = build_difference(b, sum, build_rect_taken(&r, when, db));
  rout[0] = sum;
  return b->status;
}

static const op_def rect_gap_def = {
    .name = "FactorGap",
    .doc = "A x - b, with A transposed as for FactorSolve, of FactorColumns: (F, A, x, b)",
    .props = PROPS(PROP(rect_gap_props, system), PROP(rect_gap_props, minimum_norm)),
    .n_in = 4,
    .data_size = sizeof(factor_fields),
    .init = rect_gap_init,
    .infer_type = rect_gap_type,
    .perform = rect_gap_perform,
    .grad = rect_gap_grad,
    .rop = rect_gap_rop,
    .infer_shape = rect_gap_shape,
    .connection_pattern = connect_all_but_factor,
    OP_CHECK(rect_gap_check),
};

/* ---- FactorSolve: types and runs --------------------------------------------------------------------------------- */

static damo_status sp_factor_solve_init(damo_op *op) {
  const sp_factor_solve_props *p = OP_PROPS(op, sp_factor_solve_props);
  return factor_fields_init(op, &p->system, &p->positive, &p->minimum_norm);
}

static damo_status sp_factor_solve_check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  DAMO_TRY(type_need_system(op, in, n_in, false));
  if (n_in == 3) DAMO_TRY(type_need_same_length(op, in, 0, 0, 1, 0));
  const damo_var *rhs = in[n_in - 1];
  char got[320];
  if (!type_has_shape(rhs->type) || (var_is_dense(rhs) && (var_ndim(rhs) < 1 || var_ndim(rhs) > 2))) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "FactorSolve: the right side must be a vector, a matrix or a sparse matrix, got %s",
                    type_format(got, sizeof got, rhs->type));
  }
  return type_need_right_rows(op, in, n_in, system_right_axis(op));
}

static damo_status sp_factor_solve_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_solve_check_inputs(op, in, n_in));
  const damo_var *rhs = in[n_in - 1];
  const damo_dtype dt = dtype_promote(var_dtype(in[0]), dtype_to_float(var_dtype(rhs)));
  const int64_t rows = in[0]->type->shape[1 - system_right_axis(op)];
  int64_t shape[2] = {rows, var_ndim(rhs) == 2 ? rhs->type->shape[1] : 1};
  if (rect_is_of_columns(op)) shape[1] = -1;
  if (var_is_dense(rhs)) return type_give_dense(op, out, dt, rect_is_of_columns(op) ? 2 : var_ndim(rhs), shape);
  return type_give_sparse(op, out, var_format_of(rhs), dt, var_itype(rhs), rows, shape[1]);
}

static damo_status sp_factor_solve_sparse(const thunk *t, frame *f, factor_system system, damo_sparse *b) {
  damo_factor *factor = thunk_in_factor(t, f, 0);
  if (rect_columns_count(t, f)) return thunk_give_sparse(t, f, 0, factor_solve_sparse(factor, system, b));
  damo_sparse *none = rect_no_columns(b, factor_solution_rows(factor, system));
  damo_sparse *out = none != NULL ? sparse_cast(none, t->node->out[0]->type->dtype) : NULL;
  damo_release(none);
  return thunk_give_sparse(t, f, 0, out);
}

static damo_status sp_factor_solve_perform(const thunk *t, frame *f) {
  ctx_set_due(f->ctx);
  const factor_system system = system_number(t->node->op);
  damo_factor *factor = thunk_in_factor(t, f, 0);
  const int rhs = t->n_in - 1, ndim = t->node->out[0]->type->ndim;
  if (thunk_in_is_sparse(t, f, rhs)) return sp_factor_solve_sparse(t, f, system, thunk_in_sparse(t, f, rhs));
  const damo_array *b = thunk_in(t, f, rhs);
  const bool all = rect_columns_count(t, f);
  const int64_t shape[2] = {factor_solution_rows(factor, system), !all ? 0 : b->ndim == 2 ? array_shape(b)[1] : 1};
  damo_array *out = thunk_out(t, f, 0, t->node->out[0]->type->dtype, ndim, shape);
  if (out == NULL || !all) return out != NULL ? DAMO_OK : damo_error_status(f->ctx);
  damo_array *right = ndim == b->ndim ? damo_retain((void *)(uintptr_t)b) : rect_as_columns(b);
  damo_array *x = right != NULL ? factor_solve(factor, system, right, out) : NULL;
  damo_release(right);
  if (x == NULL) return damo_error_status(f->ctx);
  damo_release(x);
  return DAMO_OK;
}

/* when: the property minimum_norm; NULL: nil. */
static damo_var *build_solve(build *b, const factor_var *v, char system, const bool *when, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const sp_factor_solve_props props = {.system = prop_str(name),
                                       .positive = prop_bool(v->positive),
                                       .minimum_norm = when ? prop_bool(*when) : prop_nil()};
  damo_apply *node = build_factor_apply(b, &sp_factor_solve_def, &props, v, &rhs, 1);
  return node != NULL ? node->out[0] : NULL;
}

damo_var *build_factor_solve(build *b, const factor_var *v, char system, damo_var *rhs) {
  return build_solve(b, v, system, NULL, rhs);
}

/* ---- FactorSolve: gradients -------------------------------------------------------------------------------------- */

/* B⁺·x; where `when` is given, of the columns that are present with that minimum_norm. */
static damo_var *build_solution(const system_rule *r, const bool *when, damo_var *x) {
  return build_solve(r->b, &r->v, r->system, when, x);
}

/* B⁺ᴴ·g, which makes of a cotangent g of x one of the right side. */
static damo_var *build_adjoint_solution(const system_rule *r, const bool *when, damo_var *g) {
  build *b = r->b;
  if (r->system == 'n') return build_solve(b, &r->v, 'h', when, g);
  if (r->system == 'h') return build_solve(b, &r->v, 'n', when, g);
  return build_conj_if_complex(b, build_solve(b, &r->v, 'n', when, build_conj_if_complex(b, g)));
}

/* The gradient of A, of the solution x with the cotangent g and the right side with the cotangent z. */
static damo_var *build_solve_matrix_gradient(const system_rule *r, damo_var *z, damo_var *g, damo_var *x,
                                             damo_var *rhs) {
  build *b = r->b;
  damo_var *rows = build_columns(b, z), *cols = build_columns(b, x);
  const bool o = rect_outside(r), i = rect_inside(r);
  if (r->rectangular) {
    rows = build_rect_beside(b, rows, build_rect_gap(r, o, x, rhs), build_adjoint_solution(r, &i, x));
    cols = build_rect_beside(b, cols, build_solution(r, &o, z), build_rect_adjoint_gap(r, i, z, g));
  }
  damo_var *sum = rows ? build_system_entries(r, build_neg(b, rows), cols) : NULL;
  return sum ? build_with_data(b, r->v.a, sum) : NULL;
}

static damo_status sp_factor_solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const system_rule r = system_rule_of(b, node);
  const bool of_columns = rect_is_of_columns(node->op), when = of_columns && rect_when(node->op);
  damo_var *rhs = node->in[node->n_in - 1], *a = r.v.a, *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *z = build_adjoint_solution(&r, NULL, g), *of_rhs = of_columns ? build_rect_back(&r, when, z, rhs) : z;
  gin[node->n_in - 1] = of_rhs;
  if (a != NULL)
    gin[1] = build_solve_matrix_gradient(&r, z, g, node->out[0], of_columns ? build_rect_taken(&r, when, rhs) : rhs);
  return b->status;
}

/* x' = B⁺·(b' − B'·x + B⁺ᴴ·B'ᴴ·r) + (1 − B⁺·B)·B'ᴴ·u, with r = b − B·x and u = B⁺ᴴ·x, both 0 for a square A */
static damo_status sp_factor_solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const system_rule r = system_rule_of(b, node);
  const bool of_columns = rect_is_of_columns(node->op), when = of_columns && rect_when(node->op), o = rect_outside(&r),
             i = rect_inside(&r);
  damo_var *x = node->out[0], *rhs = node->in[node->n_in - 1], *sum = build_tangent(b, eval[node->n_in - 1], rhs);
  damo_var *a = r.v.a, *d = a != NULL && eval[1] != NULL ? build_tangent(b, eval[1], a) : NULL;
  if (of_columns && sum != NULL) sum = build_rect_taken(&r, when, sum);
  if (d == NULL) {
    if (sum != NULL) rout[0] = build_solution(&r, NULL, sum);
    return b->status;
  }
  d = build_counting_part(b, &r.v, d);
  sum = build_difference(b, sum, build_system_times(&r, d, x));
  if (r.rectangular) {
    damo_var *rest =
        build_system_times_adjoint(&r, d, build_rect_gap(&r, o, x, of_columns ? build_rect_taken(&r, when, rhs) : rhs));
    sum = build_difference(b, sum, build_rect_back(&r, o, build_adjoint_solution(&r, NULL, rest), sum));
  }
  rout[0] = sum ? build_solution(&r, NULL, sum) : NULL;
  if (r.rectangular && rout[0] != NULL) {
    damo_var *y = build_system_times_adjoint(&r, d, build_adjoint_solution(&r, &i, x));
    damo_var *rest = build_difference(b, y, build_solution(&r, NULL, build_system_times(&r, a, y)));
    rout[0] = build_add_present(b, rout[0], build_rect_back(&r, i, rest, rout[0]));
  }
  return b->status;
}

static damo_status sp_factor_solve_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  damo_var *const *rhs = in_shape[node->n_in - 1];
  const int64_t *known = node->in[0]->type->shape;
  const bool square = known[0] >= 0 && known[0] == known[1];
  if (node->n_in == 3)
    out_shape[0][0] = in_shape[1][1 - system_right_axis(node->op)];
  else
    out_shape[0][0] = square ? rhs[0] : build_dim(b, node->out[0], 0);
  if (rect_is_of_columns(node->op))
    out_shape[0][1] = build_dim(b, node->out[0], 1);
  else if (var_ndim(node->out[0]) == 2)
    out_shape[0][1] = rhs[1];
  return b->status;
}

static const op_def sp_factor_solve_def = {
    .name = "FactorSolve",
    .library = "SuiteSparse",
    .doc = "solves A x = b ('n'), A.T x = b ('t') or its conjugate ('h') with a factor: (F, A, b), A for the gradient",
    .props = PROPS(PROP(sp_factor_solve_props, system), PROP(sp_factor_solve_props, positive),
                   PROP(sp_factor_solve_props, minimum_norm)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(factor_fields),
    .init = sp_factor_solve_init,
    .infer_type = sp_factor_solve_type,
    .perform = sp_factor_solve_perform,
    .grad = sp_factor_solve_grad,
    .rop = sp_factor_solve_rop,
    .infer_shape = sp_factor_solve_shape,
    .connection_pattern = connect_all_but_factor,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_SOLVED,
    OP_CHECK(factor_solve_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_solve_with(build *b, const fn_args *a, ptrvec *out, char system) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  return fn_give(b, out, build_factor_solve(b, &v, system, any_operand(b, a, 1)));
}

static damo_status sp_fn_solve(build *b, const fn_args *a, ptrvec *out) { return sp_fn_solve_with(b, a, out, 'n'); }
static damo_status sp_fn_solve_t(build *b, const fn_args *a, ptrvec *out) { return sp_fn_solve_with(b, a, out, 't'); }

const op_func sparse_solve_funcs[] = {
    {.name = "sparse.solve",
     .operands = "A b",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_solve,
     .doc = "x with A x = b for a sparse matrix or its factor and a dense or sparse b (least squares or minimum norm "
            "where A is rectangular); assume: 'pos', 'sym' or 'gen'"},
    {.name = "sparse.solve_t",
     .operands = "A b",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_solve_t,
     .doc = "x with A.T x = b for a sparse matrix or its factor and a dense or sparse b"},
    {.name = NULL},
};

const op_def *const sparse_solve_classes[] = {&sp_factor_solve_def, &rect_columns_def, &rect_columns_back_def,
                                              &rect_gap_def,        &rect_beside_def,  NULL};
