/* sparse_solve: systems of equations with a factor.
 *
 * FactorSolve (F, A, b) or (F, b), with system 'n', 't', 'h': x with B·x = b, where B is A, Aᵀ or Aᴴ; b is a dense vector or
 * matrix, or a sparse matrix, and x of b's kind. Its gradient for b is z, the solution of the adjoint system with the same
 * factor; for A it is −z·xᴴ (turned for Aᵀ and Aᴴ), at A's stored places alone.
 *
 * Where A is rectangular x = B⁺·b, with the pseudo-inverse or what stands for it (factor.h), and A's gradient and tangent
 * have more terms (sparse_lstsq.c). Whether A is so may be known when it runs only, so these terms are made of columns that
 * are there or not, by the property minimum_norm: FactorColumns (F, x) is x where the term counts, and has no columns else,
 * which makes all that follows cost next to nothing; FactorColumnsBack (F, y, x), its adjoint, is y or zeros like x.
 * FactorGap (F, A, x, b) is B·x − b of such columns, FactorSolve with minimum_norm the solution for them, and FactorBeside
 * puts them beside those that always count.
 */
#include "sparse_factor.h"

#include <string.h>

static const op_def solve_def, columns_def, back_def, gap_def, beside_def;

static char system_of(const damo_op *op) {
  const prop_value *v = op_prop(op, "system");
  return v->kind == PROP_STR ? v->u.s[0] : 'n';
}

/* The axis of A along which the right side lies. */
static int right_axis(const damo_op *op) { return system_of(op) == 'n' ? 0 : 1; }

static damo_status solve_init(damo_op *op) {
  const prop_value *v = op_prop(op, "system");
  const bool known =
      v->kind == PROP_NIL || (v->kind == PROP_STR && strlen(v->u.s) == 1 && strchr("nth", v->u.s[0]) != NULL);
  if (known) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: system is 'n', 't' or 'h'", op->def->name);
}

static damo_status check_when(damo_op *op) {
  if (op_prop(op, "minimum_norm")->kind == PROP_BOOL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: minimum_norm is true or false", op->def->name);
}

static damo_status gap_init(damo_op *op) {
  DAMO_TRY(solve_init(op));
  return check_when(op);
}

/* `minimum_norm`: true: columns count where a rectangular A has full rank and more columns than rows; false: where it is
 * rectangular and that is not so; nil: always. */
static bool is_of_columns(const damo_op *op) { return op_prop(op, "minimum_norm")->kind == PROP_BOOL; }
static bool when_of(const damo_op *op) { return op_prop(op, "minimum_norm")->u.i != 0; }
static bool columns_count(const thunk *t) {
  const factor_info info = factor_get_info(thunk_in_factor(t, 0));
  const damo_op *op = t->node->op;
  return !is_of_columns(op) || (info.rectangular && info.minimum_norm == when_of(op));
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_status check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  if (n_in != 2 && n_in != 3) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "FactorSolve: expected F, A, b or F, b, got %d inputs", n_in);
  }
  DAMO_TRY(need_factor(op->def, in, 0, false));
  if (n_in == 3) {
    DAMO_TRY(need_sparse(op, in, 1));
    DAMO_TRY(need_same_length(op, in, 0, 0, 1, 0));
  }
  const damo_var *rhs = in[n_in - 1];
  char got[320];
  if (!type_has_shape(rhs->type) || (var_is_dense(rhs) && (var_ndim(rhs) < 1 || var_ndim(rhs) > 2))) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "FactorSolve: the right side must be a vector, a matrix or a sparse matrix, got %s",
                    type_format(got, sizeof got, rhs->type));
  }
  const int64_t *shape = in[0]->type->shape, n = shape[right_axis(op)], rows = rhs->type->shape[0];
  if (n < 0 || rows < 0 || n == rows) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE,
                  "FactorSolve: the matrix has shape (%lld, %lld) and the right side %s, expected %lld rows",
                  (long long)shape[0], (long long)shape[1],
                  shape_format(got, sizeof got, rhs->type->ndim, rhs->type->shape), (long long)n);
}

static damo_status solve_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(check_inputs(op, in, n_in));
  const damo_var *rhs = in[n_in - 1];
  const damo_dtype dt = dtype_promote(var_dtype(in[0]), dtype_to_float(var_dtype(rhs)));
  const int64_t rows = in[0]->type->shape[1 - right_axis(op)];
  int64_t shape[2] = {rows, var_ndim(rhs) == 2 ? rhs->type->shape[1] : 1};
  if (is_of_columns(op)) shape[1] = -1;
  if (var_is_dense(rhs)) return give_dense(op, out, dt, is_of_columns(op) ? 2 : var_ndim(rhs), shape);
  return give_sparse(op, out, var_format_of(rhs), dt, var_itype(rhs), rows, shape[1]);
}

static damo_sparse *no_columns(const damo_sparse *x, int64_t rows) {
  const int64_t shape[2] = {rows, 0};
  return sparse_from_places(x->obj.ctx, sparse_format(x), sparse_dtype(x), shape, 0, NULL, NULL, NULL, sparse_itype(x),
                            true);
}

static damo_array *as_columns(const damo_array *x) {
  const bool vector = x->ndim == 1;
  const int64_t shape[2] = {array_shape(x)[0], vector ? 1 : array_shape(x)[1]};
  const int64_t strides[2] = {array_strides(x)[0], vector ? (int64_t)dtype_size(array_dtype(x)) : array_strides(x)[1]};
  return array_view(x, 2, shape, strides, 0);
}

static damo_status solve_sparse(thunk *t, factor_system system, damo_sparse *b) {
  damo_factor *f = thunk_in_factor(t, 0);
  if (columns_count(t)) return thunk_give_sparse(t, 0, factor_solve_sparse(f, system, b));
  damo_sparse *none = no_columns(b, factor_solution_rows(f, system));
  damo_sparse *out = none != NULL ? sparse_cast(none, t->node->out[0]->type->dtype) : NULL;
  damo_release(none);
  return thunk_give_sparse(t, 0, out);
}

static factor_system system_number(const damo_op *op) {
  static const char names[] = "nth";
  return (factor_system)(strchr(names, system_of(op)) - names);
}

static damo_status solve_perform(thunk *t) {
  const factor_system system = system_number(t->node->op);
  damo_factor *f = thunk_in_factor(t, 0);
  const int rhs = t->n_in - 1, ndim = t->node->out[0]->type->ndim;
  if (thunk_in_is_sparse(t, rhs)) return solve_sparse(t, system, thunk_in_sparse(t, rhs));
  const damo_array *b = thunk_in(t, rhs);
  const bool all = columns_count(t);
  const int64_t shape[2] = {factor_solution_rows(f, system), !all ? 0 : b->ndim == 2 ? array_shape(b)[1] : 1};
  damo_array *out = thunk_out(t, 0, t->node->out[0]->type->dtype, ndim, shape);
  if (out == NULL || !all) return out != NULL ? DAMO_OK : damo_error_status(t->ctx);
  damo_array *right = ndim == b->ndim ? damo_retain((void *)(uintptr_t)b) : as_columns(b);
  damo_array *x = right != NULL ? factor_solve(f, system, right, out) : NULL;
  damo_release(right);
  if (x == NULL) return damo_error_status(t->ctx);
  damo_release(x);
  return DAMO_OK;
}

/* when: NULL, or a value for minimum_norm. */
static damo_var *make_solve(build *b, const factor_var *v, char system, const bool *when, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const prop_value props[3] = {prop_str(name), prop_bool(v->positive), when ? prop_bool(*when) : prop_nil()};
  damo_var *with[3] = {v->f, v->a, rhs}, *without[2] = {v->f, rhs};
  if (rhs == NULL || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &solve_def, props, 3), v->a ? with : without, v->a ? 3 : 2);
}

damo_var *build_factor_solve(build *b, const factor_var *v, char system, damo_var *rhs) {
  return make_solve(b, v, system, NULL, rhs);
}

/* ---- Columns of rectangular systems ------------------------------------------------------------------------------ */

static damo_status check_columns(const damo_op *op, damo_var *const *in, int i) {
  char got[320];
  DAMO_TRY(need_factor(op->def, in, 0, false));
  if (type_has_shape(in[i]->type) && (var_ndim(in[i]) == 2 || var_ndim(in[i]) == 1)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a vector, a matrix or a sparse matrix, got %s",
                  op->def->name, i + 1, type_format(got, sizeof got, in[i]->type));
}

static damo_status columns_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(check_columns(op, in, 1));
  const damo_var *x = in[1];
  const int64_t shape[2] = {x->type->shape[0], -1};
  if (var_is_dense(x)) return give_dense(op, out, var_dtype(x), 2, shape);
  return give_sparse(op, out, var_format_of(x), var_dtype(x), var_itype(x), shape[0], -1);
}

static damo_status columns_perform(thunk *t) {
  const bool all = columns_count(t);
  if (thunk_in_is_sparse(t, 1)) {
    damo_sparse *x = thunk_in_sparse(t, 1);
    if (all) return thunk_give(t, 0, damo_retain(x));
    return thunk_give(t, 0, no_columns(x, x->shape[0]));
  }
  const damo_array *x = thunk_in(t, 1);
  const bool vector = x->ndim == 1;
  const int64_t shape[2] = {array_shape(x)[0], !all ? 0 : vector ? 1 : array_shape(x)[1]};
  const int64_t strides[2] = {array_strides(x)[0], vector ? (int64_t)dtype_size(array_dtype(x)) : array_strides(x)[1]};
  return thunk_out_view(t, 0, x, 2, shape, strides, 0);
}

static damo_var *build_with_when(build *b, const op_def *def, bool minimum_norm, damo_var *const *in, int n) {
  const prop_value p = prop_bool(minimum_norm);
  for (int i = 0; i < n; i++) {
    if (in[i] == NULL) return NULL;
  }
  return b->status == DAMO_OK ? build_op(b, op_new(b->ctx, def, &p, 1), in, n) : NULL;
}

static damo_var *build_taken(build *b, damo_var *f, bool minimum_norm, damo_var *x) {
  return build_with_when(b, &columns_def, minimum_norm, (damo_var *[]){f, x}, 2);
}

static damo_var *build_back(build *b, damo_var *f, bool minimum_norm, damo_var *y, damo_var *x) {
  return build_with_when(b, &back_def, minimum_norm, (damo_var *[]){f, y, x}, 3);
}

static damo_status columns_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_back(b, node->in[0], when_of(node->op), gout[0], node->in[1]);
  return b->status;
}

static damo_status columns_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *d = build_tangent(b, eval[1], node->in[1]);
  if (d != NULL) rout[0] = build_taken(b, node->in[0], when_of(node->op), d);
  return b->status;
}

static damo_status columns_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  out_shape[0][0] = in_shape[1][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

static void columns_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = i == 1;
}

static const op_alias columns_views[] = {{0, 1}, OP_ALIAS_END};

static const op_def columns_def = {
    .name = "FactorColumns",
    .doc = "x as a matrix where a term of a rectangular system counts, else no columns of it: (F, x)",
    .props = "minimum_norm",
    .init = check_when,
    .n_in = 2,
    .view_map = columns_views,
    .infer_type = columns_type,
    .perform = columns_perform,
    .grad = columns_grad,
    .rop = columns_rop,
    .infer_shape = columns_shape,
    .connection_pattern = columns_connect,
};

static damo_status back_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(check_columns(op, in, 1));
  DAMO_TRY(check_columns(op, in, 2));
  if (var_ndim(in[1]) != 2) return need_matrix(op, in, 1);
  const damo_type *x = in[2]->type;
  const damo_dtype dt = var_dtype(in[1]);
  if (var_is_dense(in[1])) return give_dense(op, out, dt, x->ndim, x->shape);
  return give_sparse(op, out, var_format_of(in[1]), dt, var_itype(in[1]), x->shape[0], x->ndim == 2 ? x->shape[1] : 1);
}

static damo_status check_columns_of(thunk *t, const int64_t *y, const int64_t *wanted) {
  if (y[0] == wanted[0] && y[1] == wanted[1]) return DAMO_OK;
  return ctx_fail(t->ctx, DAMO_ESHAPE, "%s: the columns have shape (%lld, %lld), expected (%lld, %lld)",
                  t->node->op->def->name, (long long)y[0], (long long)y[1], (long long)wanted[0], (long long)wanted[1]);
}

static damo_status back_perform(thunk *t) {
  const bool all = columns_count(t), of_sparse = thunk_in_is_sparse(t, 2);
  const int64_t *like = of_sparse ? thunk_in_sparse(t, 2)->shape : array_shape(thunk_in(t, 2));
  const int ndim = of_sparse ? 2 : thunk_in(t, 2)->ndim;
  const int64_t shape[2] = {like[0], ndim == 2 ? like[1] : 1};
  if (thunk_in_is_sparse(t, 1)) {
    damo_sparse *y = thunk_in_sparse(t, 1);
    if (all) DAMO_TRY(check_columns_of(t, y->shape, shape));
    if (all) return thunk_give(t, 0, sparse_copy(y));
    return thunk_give(t, 0,
                      sparse_from_places(t->ctx, sparse_format(y), sparse_dtype(y), shape, 0, NULL, NULL, NULL,
                                         sparse_itype(y), true));
  }
  const damo_array *y = thunk_in(t, 1);
  if (all) DAMO_TRY(check_columns_of(t, array_shape(y), shape));
  damo_array *out = thunk_out(t, 0, array_dtype(y), ndim, shape);
  if (out == NULL) return DAMO_EMEMORY;
  if (!all) {
    array_fill(out, (scalar){.dtype = DAMO_FLOAT64});
    return DAMO_OK;
  }
  damo_array *seen = array_view(y, ndim, shape, array_strides(y), 0); /* a vector is the one column */
  const damo_status status = seen != NULL ? array_assign(out, seen) : DAMO_EMEMORY;
  damo_release(seen);
  return status;
}

static damo_status back_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_taken(b, node->in[0], when_of(node->op), gout[0]);
  return b->status;
}

static damo_status back_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *d = build_tangent(b, eval[1], node->in[1]);
  if (d != NULL) rout[0] = build_back(b, node->in[0], when_of(node->op), d, node->in[2]);
  return b->status;
}

static damo_status back_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  for (int k = 0; k < var_ndim(node->out[0]); k++)
    out_shape[0][k] = k < var_ndim(node->in[2]) ? in_shape[2][k] : build_int(b, 1);
  return b->status;
}

static const op_def back_def = {
    .name = "FactorColumnsBack",
    .doc = "the adjoint of FactorColumns: y in x's shape, or zeros where the columns do not count: (F, y, x)",
    .props = "minimum_norm",
    .init = check_when,
    .n_in = 3,
    .infer_type = back_type,
    .perform = back_perform,
    .grad = back_grad,
    .rop = back_rop,
    .infer_shape = back_shape,
    .connection_pattern = columns_connect,
};

/* ---- FactorGap ------------------------------------------------------------------------------------------------------- */

static damo_status gap_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_factor(op->def, in, 0, false));
  DAMO_TRY(need_sparse(op, in, 1));
  for (int i = 2; i < 4; i++) {
    DAMO_TRY(check_columns(op, in, i));
    if (!var_is_dense(in[i])) return need_dense(op, in, i, 2);
  }
  const damo_dtype dt =
      dtype_promote(var_dtype(in[0]), dtype_to_float(dtype_promote(var_dtype(in[2]), var_dtype(in[3]))));
  return give_dense(op, out, dt, 2, (const int64_t[2]){in[3]->type->shape[0], -1});
}

static damo_status gap_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 2), *b = thunk_in(t, 3);
  const bool all = columns_count(t);
  const int64_t shape[2] = {array_shape(b)[0], !all ? 0 : b->ndim == 2 ? array_shape(b)[1] : 1};
  const damo_dtype dt = t->node->out[0]->type->dtype;
  damo_array *out = thunk_out(t, 0, dt, 2, shape);
  if (out == NULL || !all) return out != NULL ? DAMO_OK : damo_error_status(t->ctx);
  damo_array *left = as_columns(x), *right = left != NULL ? as_columns(b) : NULL;
  const damo_status status =
      right != NULL ? factor_gap(thunk_in_factor(t, 0), system_number(t->node->op), left, right, out) : DAMO_EMEMORY;
  damo_release(left);
  damo_release(right);
  return status;
}

static damo_status gap_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  out_shape[0][0] = in_shape[3][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

/* ---- FactorBeside ---------------------------------------------------------------------------------------------------- */

static damo_status beside_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_dtype dt = DAMO_BOOL;
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(need_dense(op, in, i, 2));
    dt = i == 0 ? var_dtype(in[i]) : dtype_promote(dt, var_dtype(in[i]));
  }
  return give_dense(op, out, dt, 2, (const int64_t[2]){in[0]->type->shape[0], -1});
}

static damo_status copy_beside(thunk *t, damo_array *out) {
  int64_t from = 0;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, i);
    const int64_t columns = array_shape(x)[1], shape[2] = {array_shape(x)[0], columns};
    damo_array *part = array_view(out, 2, shape, array_strides(out), from * array_strides(out)[1]);
    const damo_status status = part != NULL ? array_assign(part, x) : DAMO_EMEMORY;
    damo_release(part);
    DAMO_TRY(status);
    from += columns;
  }
  return DAMO_OK;
}

static damo_status beside_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  const damo_dtype dt = t->node->out[0]->type->dtype;
  int64_t shape[2] = {array_shape(x)[0], 0};
  for (int i = 0; i < t->n_in; i++) {
    const int64_t *own = array_shape(thunk_in(t, i));
    if (own[0] != shape[0])
      return ctx_fail(t->ctx, DAMO_ESHAPE, "FactorBeside: the matrices have %lld and %lld rows", (long long)shape[0],
                      (long long)own[0]);
    shape[1] += own[1];
  }
  if (shape[1] == array_shape(x)[1] && array_dtype(x) == dt)
    return thunk_out_view(t, 0, x, 2, shape, array_strides(x), 0);
  damo_array *out = thunk_out(t, 0, dt, 2, shape);
  return out != NULL ? copy_beside(t, out) : damo_error_status(t->ctx);
}

static damo_var *build_beside(build *b, damo_var *const *xs) {
  if (xs[0] == NULL || xs[1] == NULL || xs[2] == NULL || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &beside_def, NULL, 0), xs, 3);
}

/* As Join has it. */
static damo_status beside_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *xs[4] = {build_int(b, 2), node->in[0], node->in[1], node->in[2]};
  damo_var *joined = gout[0] != NULL ? build_fn(b, "join", xs, 4, NULL) : NULL;
  return joined != NULL ? joined->owner->op->def->grad(b, joined->owner, gout, gin) : b->status;
}

static damo_status beside_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *xs[3];
  for (int i = 0; i < 3; i++) {
    damo_var *d = build_tangent(b, eval[i], node->in[i]);
    xs[i] = d != NULL ? d : build_zeros_like(b, node->in[i]);
  }
  if (eval[0] != NULL || eval[1] != NULL || eval[2] != NULL) rout[0] = build_beside(b, xs);
  return b->status;
}

static damo_status beside_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  out_shape[0][0] = in_shape[0][0];
  out_shape[0][1] = build_dim(b, node->out[0], 1);
  return b->status;
}

static const op_alias beside_views[] = {{0, 0}, OP_ALIAS_END};

static const op_def beside_def = {
    .name = "FactorBeside",
    .doc = "three matrices side by side; the first itself where the others have no columns",
    .n_in = 3,
    .view_map = beside_views,
    .infer_type = beside_type,
    .perform = beside_perform,
    .grad = beside_grad,
    .rop = beside_rop,
    .infer_shape = beside_shape,
};

/* ---- Gradients ----------------------------------------------------------------------------------------------------- */

/* A system with what its rules are made of: B is op(A). */
typedef struct rule {
  build *b;
  factor_var v;
  char system;
  bool rectangular; /* perhaps */
} rule;

static bool may_be_rectangular(const factor_var *v) {
  const int64_t *shape = v->f->type->shape;
  const damo_apply *made = v->f->owner;
  if (v->a == NULL || v->positive) return false;
  if (shape[0] >= 0 && shape[1] >= 0) return shape[0] != shape[1];
  if (made == NULL || made->op->def != &factorize_def) return true;
  const prop_value *assume = op_prop(made->op, "assume");
  return assume->kind != PROP_STR || strcmp(assume->u.s, "gen") == 0;
}

static rule rule_of(build *b, const damo_apply *node) {
  const factor_var v = factor_of_node(node, 3);
  return (rule){b, v, system_of(node->op), may_be_rectangular(&v)};
}

/* The terms that are there because of B·B⁺ ≠ 1, and those because of B⁺·B ≠ 1 (with minimum norm): when their columns
 * count. */
static bool outside(const rule *r) { return r->system != 'n'; }
static bool inside(const rule *r) { return r->system == 'n'; }

static damo_var *taken(const rule *r, bool when, damo_var *x) { return build_taken(r->b, r->v.f, when, x); }
static damo_var *back(const rule *r, bool when, damo_var *y, damo_var *x) {
  return build_back(r->b, r->v.f, when, y, x);
}

static damo_var *minus(const rule *r, damo_var *x, damo_var *y) {
  return x && y ? build_fn2(r->b, "sub", x, y) : x ? x : y ? build_fn1(r->b, "neg", y) : NULL;
}
static damo_var *plus(const rule *r, damo_var *x, damo_var *y) {
  return x && y ? build_fn2(r->b, "add", x, y) : x ? x : y;
}

/* B⁺·x; of its columns where `when` is not NULL. */
static damo_var *solution(const rule *r, const bool *when, damo_var *x) {
  return make_solve(r->b, &r->v, r->system, when, x);
}

/* B⁺ᴴ·g: what the cotangent g of x is as one of the right side. */
static damo_var *adjoint_solution(const rule *r, const bool *when, damo_var *g) {
  build *b = r->b;
  if (r->system == 'n') return make_solve(b, &r->v, 'h', when, g);
  if (r->system == 'h') return make_solve(b, &r->v, 'n', when, g);
  return build_conj(b, make_solve(b, &r->v, 'n', when, build_conj(b, g)));
}

static damo_var *product(const rule *r, damo_var *m, damo_var *x) {
  if (m == NULL || x == NULL) return NULL;
  return var_is_sparse(x) ? build_structured_dot(r->b, m, x) : build_sparse_dot(r->b, m, x);
}

/* op(D)·x and op(D)ᴴ·x, for A or a tangent of it. */
static damo_var *times(const rule *r, damo_var *d, damo_var *x) {
  if (r->system == 'h') d = build_conj(r->b, d);
  return product(r, r->system != 'n' ? build_sparse_transpose(r->b, d) : d, x);
}
static damo_var *times_adjoint(const rule *r, damo_var *d, damo_var *x) {
  if (r->system != 'h') d = build_conj(r->b, d);
  return product(r, r->system == 'n' ? build_sparse_transpose(r->b, d) : d, x);
}

/* B·x − b and Bᴴ·x − b, of their columns. */
static damo_var *make_gap(const rule *r, char system, bool when, damo_var *x, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const prop_value props[2] = {prop_str(name), prop_bool(when)};
  if (x == NULL || rhs == NULL || r->b->status != DAMO_OK) return NULL;
  return build_op(r->b, op_new(r->b->ctx, &gap_def, props, 2), (damo_var *[]){r->v.f, r->v.a, x, rhs}, 4);
}
static damo_var *gap(const rule *r, bool when, damo_var *x, damo_var *rhs) {
  if (!x || !rhs || (var_is_dense(x) && var_is_dense(rhs))) return make_gap(r, r->system, when, x, rhs);
  return minus(r, times(r, r->v.a, taken(r, when, x)), taken(r, when, rhs));
}
static damo_var *adjoint_gap(const rule *r, bool when, damo_var *x, damo_var *rhs) {
  build *b = r->b;
  if (x && rhs && !(var_is_dense(x) && var_is_dense(rhs)))
    return minus(r, times_adjoint(r, r->v.a, taken(r, when, x)), taken(r, when, rhs));
  if (r->system != 't') return make_gap(r, r->system == 'n' ? 'h' : 'n', when, x, rhs);
  return build_conj(b, make_gap(r, 'n', when, build_conj(b, x), build_conj(b, rhs)));
}

/* rows·colsᵀ at A's stored places: a vector. */
static damo_var *samples(build *b, damo_var *a, damo_var *rows, damo_var *cols) {
  if (rows == NULL || cols == NULL || b->status != DAMO_OK) return NULL;
  if (var_is_sparse(rows) && var_is_sparse(cols)) return sparse_samples_both(b, a, rows, cols);
  return sparse_samples(b, a, build_toarray(b, rows), build_toarray(b, cols));
}

/* What the gradient rows·colsᴴ of B is as one of A: turned as A is, at A's stored places; a vector. */
static damo_var *entries_of_a(const rule *r, damo_var *rows, damo_var *cols) {
  build *b = r->b;
  if (r->system == 'h') return samples(b, r->v.a, cols, build_conj(b, rows));
  cols = build_conj(b, cols);
  damo_var *sum = r->system == 't' ? samples(b, r->v.a, cols, rows) : samples(b, r->v.a, rows, cols);
  if (!r->v.positive || sum == NULL) return sum;
  damo_var *turned = r->system == 't' ? samples(b, r->v.a, build_conj(b, rows), build_conj(b, cols))
                                      : samples(b, r->v.a, build_conj(b, cols), build_conj(b, rows));
  return turned ? build_fn2(b, "mul", build_fn2(b, "add", sum, turned), build_num(b, 0.5)) : NULL;
}

/* Three matrices side by side. */
static damo_var *beside(build *b, damo_var *x, damo_var *y, damo_var *z) {
  if (x == NULL || y == NULL || z == NULL) return NULL;
  if (var_is_sparse(x) && var_is_sparse(y) && var_is_sparse(z))
    return build_fn(b, "join", (damo_var *[]){build_int(b, 2), x, y, z}, 4, NULL);
  return build_beside(b, (damo_var *[]){build_toarray(b, x), build_toarray(b, y), build_toarray(b, z)});
}

/* A's gradient, from x with the cotangent g, the right side and its cotangent z. */
static damo_var *matrix_gradient(const rule *r, damo_var *z, damo_var *g, damo_var *x, damo_var *rhs) {
  build *b = r->b;
  damo_var *rows = build_columns(b, z), *cols = build_columns(b, x);
  const bool o = outside(r), i = inside(r);
  if (r->rectangular) {
    rows = beside(b, rows, gap(r, o, x, rhs), adjoint_solution(r, &i, x));
    cols = beside(b, cols, solution(r, &o, z), adjoint_gap(r, i, z, g));
  }
  damo_var *sum = rows ? entries_of_a(r, build_fn1(b, "neg", rows), cols) : NULL;
  return sum ? sparse_with(b, r->v.a, sum) : NULL;
}

static damo_status solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const rule r = rule_of(b, node);
  const bool of_columns = is_of_columns(node->op), when = of_columns && when_of(node->op);
  damo_var *rhs = node->in[node->n_in - 1], *a = r.v.a, *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *z = adjoint_solution(&r, NULL, g), *of_rhs = of_columns ? back(&r, when, z, rhs) : z;
  gin[node->n_in - 1] = dtype_is_discrete(var_dtype(rhs)) ? build_zero_grad(b, rhs) : of_rhs;
  if (a == NULL) return b->status;
  if (dtype_is_discrete(var_dtype(a)))
    gin[1] = build_zero_grad(b, a);
  else
    gin[1] = matrix_gradient(&r, z, g, node->out[0], of_columns ? taken(&r, when, rhs) : rhs);
  return b->status;
}

/* x' = B⁺·(b' − B'·x + B⁺ᴴ·B'ᴴ·r) + (1 − B⁺·B)·B'ᴴ·u, with r = b − B·x and u = B⁺ᴴ·x, both 0 for a square A */
static damo_status solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const rule r = rule_of(b, node);
  const bool of_columns = is_of_columns(node->op), when = of_columns && when_of(node->op), o = outside(&r),
             i = inside(&r);
  damo_var *x = node->out[0], *rhs = node->in[node->n_in - 1], *sum = build_tangent(b, eval[node->n_in - 1], rhs);
  damo_var *a = r.v.a, *d = a != NULL && eval[1] != NULL ? build_tangent(b, eval[1], a) : NULL;
  if (of_columns && sum != NULL) sum = taken(&r, when, sum);
  if (d == NULL) {
    if (sum != NULL) rout[0] = solution(&r, NULL, sum);
    return b->status;
  }
  d = build_counting_part(b, &r.v, d);
  sum = minus(&r, sum, times(&r, d, x));
  if (r.rectangular) {
    damo_var *rest = times_adjoint(&r, d, gap(&r, o, x, of_columns ? taken(&r, when, rhs) : rhs));
    sum = minus(&r, sum, back(&r, o, adjoint_solution(&r, NULL, rest), sum));
  }
  rout[0] = sum ? solution(&r, NULL, sum) : NULL;
  if (r.rectangular && rout[0] != NULL) {
    damo_var *y = times_adjoint(&r, d, adjoint_solution(&r, &i, x));
    rout[0] = plus(&r, rout[0], back(&r, i, minus(&r, y, solution(&r, NULL, times(&r, a, y))), rout[0]));
  }
  return b->status;
}

/* With B·x − b: Bᴴ·g for x, −g for b, g·xᴴ for A. */
static damo_status gap_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const rule r = rule_of(b, node);
  const bool when = when_of(node->op);
  damo_var *g = gout[0], *x = node->in[2], *rhs = node->in[3], *a = r.v.a;
  if (g == NULL) return b->status;
  gin[2] = dtype_is_discrete(var_dtype(x)) ? build_zero_grad(b, x) : back(&r, when, times_adjoint(&r, a, g), x);
  gin[3] = dtype_is_discrete(var_dtype(rhs)) ? build_zero_grad(b, rhs) : back(&r, when, build_fn1(b, "neg", g), rhs);
  if (dtype_is_discrete(var_dtype(a))) {
    gin[1] = build_zero_grad(b, a);
    return b->status;
  }
  damo_var *sum = entries_of_a(&r, g, taken(&r, when, x));
  gin[1] = sum ? sparse_with(b, a, sum) : NULL;
  return b->status;
}

static damo_status gap_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const rule r = rule_of(b, node);
  const bool when = when_of(node->op);
  damo_var *x = node->in[2], *d = build_tangent(b, eval[1], r.v.a), *dx = build_tangent(b, eval[2], x);
  damo_var *db = build_tangent(b, eval[3], node->in[3]), *sum = d ? times(&r, d, taken(&r, when, x)) : NULL;
  if (dx != NULL) sum = plus(&r, sum, times(&r, r.v.a, taken(&r, when, dx)));
  if (db != NULL) sum = minus(&r, sum, taken(&r, when, db));
  rout[0] = sum;
  return b->status;
}

static const op_def gap_def = {
    .name = "FactorGap",
    .doc = "A x - b, with A turned as for FactorSolve, of FactorColumns: (F, A, x, b)",
    .props = "system minimum_norm",
    .n_in = 4,
    .init = gap_init,
    .infer_type = gap_type,
    .perform = gap_perform,
    .grad = gap_grad,
    .rop = gap_rop,
    .infer_shape = gap_shape,
    .connection_pattern = connect_all_but_factor,
};

static damo_status solve_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  damo_var *const *rhs = in_shape[node->n_in - 1];
  const int64_t *known = node->in[0]->type->shape;
  const bool square = known[0] >= 0 && known[0] == known[1];
  if (node->n_in == 3)
    out_shape[0][0] = in_shape[1][1 - right_axis(node->op)];
  else
    out_shape[0][0] = square ? rhs[0] : build_dim(b, node->out[0], 0);
  if (is_of_columns(node->op))
    out_shape[0][1] = build_dim(b, node->out[0], 1);
  else if (var_ndim(node->out[0]) == 2)
    out_shape[0][1] = rhs[1];
  return b->status;
}

static const op_def solve_def = {
    .name = "FactorSolve",
    .doc = "solves A x = b ('n'), A.T x = b ('t') or its conjugate ('h') with a factor: (F, A, b), A for the gradient",
    .props = "system positive minimum_norm",
    .n_in = OP_VARIADIC,
    .init = solve_init,
    .infer_type = solve_type,
    .perform = solve_perform,
    .grad = solve_grad,
    .rop = solve_rop,
    .infer_shape = solve_shape,
    .connection_pattern = connect_all_but_factor,
    .pattern = PATTERN_ONCE,
};

/* ---- Functions ----------------------------------------------------------------------------------------------------- */

static damo_status solve_with(build *b, const fn_args *a, ptrvec *out, char system) {
  factor_var v;
  if (!factor_operand(b, a, 0, &v)) return b->status;
  return fn_give(b, out, build_factor_solve(b, &v, system, any_operand(b, a, 1)));
}

static damo_status fn_solve(build *b, const fn_args *a, ptrvec *out) { return solve_with(b, a, out, 'n'); }
static damo_status fn_solve_t(build *b, const fn_args *a, ptrvec *out) { return solve_with(b, a, out, 't'); }

const op_func sparse_solve_funcs[] = {
    {.name = "sparse.solve",
     .operands = "A b",
     .options = "assume:str on_fail:str",
     .call = fn_solve,
     .doc = "x with A x = b for a sparse matrix or its factor and a dense or sparse b (least squares or minimum norm "
            "where "
            "A is rectangular); assume: 'pos', 'sym' or 'gen'"},
    {.name = "sparse.solve_t",
     .operands = "A b",
     .options = "assume:str on_fail:str",
     .call = fn_solve_t,
     .doc = "x with A.T x = b for a sparse matrix or its factor and a dense or sparse b"},
    {.name = NULL},
};

const op_def *const sparse_solve_classes[] = {&solve_def, &columns_def, &back_def, &gap_def, &beside_def, NULL};
