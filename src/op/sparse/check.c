/* check: Ops that pass their input on and check the shape that a function needs, when the lengths are known, in every
 * mode.
 *
 * SquareMatrix (x) is x, for a function whose computation would not notice: a power that multiplies nothing. SameShape
 * (v, x, rows, cols) is v where the matrix x has the shape (rows, cols) of another matrix. v goes into a comparison
 * with a dense row, which would broadcast, or into a gradient whose shorter form reads only one of the two matrices.
 * The property is the name of the function, for errors.
 */
#include "sparse_op.h"

typedef struct check_props {
  prop_value func;
} check_props;

static const char *sp_check_func(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, check_props)->func;
  return v->kind == PROP_STR ? v->u.s : op->def->name;
}

/* ---- SquareMatrix ------------------------------------------------------------------------------------------------ */

static damo_status sp_check_need_square(damo_ctx *ctx, const damo_op *op, const int64_t *shape) {
  if (shape[0] < 0 || shape[1] < 0 || shape[0] == shape[1]) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: shape (%lld, %lld) is not square", sp_check_func(op), (long long)shape[0],
                  (long long)shape[1]);
}

static damo_status sp_check_square_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_check_need_square(op->obj.ctx, op, in[0]->type->shape));
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status sp_check_square_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  DAMO_TRY(sp_check_need_square(f->ctx, t->node->op, x->shape));
  return thunk_give(t, f, 0, damo_retain(x));
}

static const op_def sp_check_square_def = {
    .name = "SquareMatrix",
    .doc = "a sparse matrix as it is; a shape error that names func unless it is square",
    .props = PROPS(PROP_TEXT_OR_NIL(check_props, func)),
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = sp_check_square_type,
    .perform = sp_check_square_perform,
    .grad = grad_pass,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

damo_var *build_square(build *b, const char *func, damo_var *x) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const check_props name = {.func = prop_str(func)};
  return build_op(b, op_new(b->ctx, &sp_check_square_def, &name), &x, 1);
}

/* ---- SameShape --------------------------------------------------------------------------------------------------- */

static damo_status sp_check_same_shape_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_matrix(op, in, 1));
  for (int i = 2; i < 4; i++) DAMO_TRY(type_need_dense(op, in, i, 0));
  if (var_is_sparse(in[0])) return type_give_like(op, out, in[0], var_dtype(in[0]));
  if (!var_is_dense(in[0])) return type_need_matrix(op, in, 0);
  return type_give_dense(op, out, var_dtype(in[0]), var_ndim(in[0]), in[0]->type->shape);
}

static damo_status sp_check_same_shape_perform(const thunk *t, frame *f) {
  const damo_obj *v = thunk_value(t, f, 1);
  const int64_t *x = v->kind == OBJ_SPARSE ? ((const damo_sparse *)v)->shape : array_shape((const damo_array *)v);
  const int64_t y[2] = {scalar_to_int64(array_item(thunk_in(t, f, 2))), scalar_to_int64(array_item(thunk_in(t, f, 3)))};
  if (x[0] == y[0] && x[1] == y[1]) return thunk_give(t, f, 0, damo_retain(thunk_value(t, f, 0)));
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes (%lld, %lld) and (%lld, %lld) are not equal",
                  sp_check_func(t->node->op), (long long)x[0], (long long)x[1], (long long)y[0], (long long)y[1]);
}

static const op_def sp_check_same_shape_def = {
    .name = "SameShape",
    .doc = "its first input as it is; a shape error that names func unless a matrix has the lengths given",
    .props = PROPS(PROP_TEXT_OR_NIL(check_props, func)),
    .n_in = 4,
    .view_map = alias_first,
    .infer_type = sp_check_same_shape_type,
    .perform = sp_check_same_shape_perform,
    .grad = grad_pass,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

damo_var *build_same_shape(build *b, const char *func, damo_var *v, damo_var *x, damo_var *y) {
  damo_var *dims[2];
  if (v == NULL || x == NULL || y == NULL || build_dims(b, y, dims) != DAMO_OK) return NULL;
  const check_props name = {.func = prop_str(func)};
  return build_op(b, op_new(b->ctx, &sp_check_same_shape_def, &name), (damo_var *[]){v, x, dims[0], dims[1]}, 4);
}

/* The input whose shape the node's output has, or NULL. */
static const damo_var *sp_check_shaped_like(const damo_apply *node) {
  if (node->op->def == &sampling_dot_def) return node->in[2];
  return node->op->def->infer_shape == infer_shape_same ? node->in[0] : NULL;
}

damo_var *var_shape_root(const damo_var *v) {
  for (const damo_var *x = v; x != NULL; x = v->owner != NULL ? sp_check_shaped_like(v->owner) : NULL) v = x;
  return (damo_var *)(uintptr_t)v;
}

const op_def *const sparse_check_classes[] = {&sp_check_square_def, &sp_check_same_shape_def, NULL};
