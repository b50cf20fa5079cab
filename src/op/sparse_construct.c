/* sparse_construct: diagonals, and matrices out of rows.
 *
 * SquareDiagonal: a vector as the diagonal of a csc matrix; Diag: the diagonal of a square matrix;
 * ConstructSparseFromList: rows of a dense matrix put where a list says, into a csc matrix of another dense matrix's
 * shape. Zeros are stored.
 */
#include "sparse_op.h"

/* ---- SquareDiagonal ---------------------------------------------------------------------------------------------- */

static damo_status square_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_dense(op, in, 0, 1));
  const int64_t n = in[0]->type->shape[0];
  return give_sparse(op, out, DAMO_CSC, var_dtype(in[0]), DAMO_INT32, n, n);
}

static damo_status square_perform(thunk *t) { return thunk_give(t, 0, sparse_square_diagonal(thunk_in(t, 0))); }

static damo_status square_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_fn1(b, "diag", gout[0]);
  return b->status;
}

static damo_status square_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = out_shape[0][1] = in_shape[0][0];
  return b->status;
}

static const op_def square_def = {
    .name = "SquareDiagonal",
    .doc = "a csc matrix with a vector on its diagonal",
    .n_in = 1,
    .infer_type = square_type,
    .perform = square_perform,
    .grad = square_grad,
    .rop = rop_again,
    .infer_shape = square_shape,
    .pattern = PATTERN_ONCE,
};

/* ---- Diag -------------------------------------------------------------------------------------------------------- */

static damo_status not_square(damo_ctx *ctx, const int64_t *shape) {
  return ctx_fail(ctx, DAMO_ESHAPE, "Diag: the matrix has shape (%lld, %lld), expected a square one",
                  (long long)shape[0], (long long)shape[1]);
}

static damo_status diag_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  if (shape[0] >= 0 && shape[1] >= 0 && shape[0] != shape[1]) return not_square(op->obj.ctx, shape);
  return give_dense(op, out, var_dtype(in[0]), 1, &shape[shape[0] < 0]);
}

static damo_status diag_perform(thunk *t) {
  const damo_sparse *x = thunk_in_sparse(t, 0);
  if (x->shape[0] != x->shape[1]) return not_square(t->ctx, x->shape);
  damo_array *out = thunk_out(t, 0, sparse_dtype(x), 1, x->shape);
  if (out == NULL) return DAMO_EMEMORY;
  sparse_diagonal(x, out->data);
  return DAMO_OK;
}

static damo_status diag_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_class(b, &square_def, gout, 1);
  return b->status;
}

static damo_status diag_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node;
  if (eval[0] != NULL) rout[0] = build_fn1(b, "diag", eval[0]);
  return b->status;
}

static damo_status diag_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = in_shape[0][0];
  return b->status;
}

static const op_def diag_def = {
    .name = "Diag",
    .doc = "the diagonal of a square sparse matrix, as a dense vector",
    .n_in = 1,
    .infer_type = diag_type,
    .perform = diag_perform,
    .grad = diag_grad,
    .rop = diag_rop,
    .infer_shape = diag_shape,
};

/* ---- ConstructSparseFromList ------------------------------------------------------------------------------------- */

static damo_status construct_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_dense(op, in, 0, 2));
  DAMO_TRY(need_dense(op, in, 1, 2));
  DAMO_TRY(need_dense(op, in, 2, 1));
  if (var_dtype(in[2]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the list of rows must be an int64 vector, got %s", op->def->name,
                    dtype_name(var_dtype(in[2])));
  DAMO_TRY(need_same_length(op, in, 1, 0, 2, 0));
  DAMO_TRY(need_same_length(op, in, 1, 1, 0, 1));
  const int64_t *shape = in[0]->type->shape;
  return give_sparse(op, out, DAMO_CSC, var_dtype(in[1]), DAMO_INT32, shape[0], shape[1]);
}

static damo_status construct_perform(thunk *t) {
  const int64_t *shape = array_shape(thunk_in(t, 0)), *given = array_shape(thunk_in(t, 1));
  const int64_t n = array_size(thunk_in(t, 2));
  if (given[0] != n || given[1] != shape[1])
    return ctx_fail(t->ctx, DAMO_ESHAPE, "%s: the values have shape (%lld, %lld), expected (%lld, %lld)",
                    t->node->op->def->name, (long long)given[0], (long long)given[1], (long long)n,
                    (long long)shape[1]);
  int64_t *rows = thunk_scratch(t, (size_t)(n + 1) * sizeof *rows);
  if (rows == NULL) return DAMO_EMEMORY;
  DAMO_TRY(thunk_positions(t, 2, 0, shape[0], rows));
  return thunk_give(t, 0, sparse_from_rows(thunk_in(t, 1), rows, shape));
}

/* The rows of the cotangent that the values became. */
static damo_status construct_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_toarray(b, build_take_rows(b, gout[0], node->in[2]));
  return b->status;
}

static damo_status construct_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[3] = {node->in[0], eval[1], node->in[2]};
  if (eval[1] != NULL) rout[0] = build_op(b, damo_retain(node->op), in, 3);
  return b->status;
}

static void connect_values(const damo_apply *node, bool *connected) {
  (void)node;
  connected[0] = connected[2] = false;
}

static damo_apply *construct_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  damo_type *out = NULL;
  if (n_in != 3) return build_fail(b, DAMO_ETYPE, "%s: expected x, values and a list", op->def->name), NULL;
  damo_var *own[3] = {build_strong(b, in[0]), build_strong(b, in[1]),
                      build_integer(b, op->def->name, "the list of rows", in[2])};
  if (b->status != DAMO_OK || construct_type(op, own, 3, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, 3, &out, 1);
  damo_release(out);
  return node;
}

static const op_def construct_def = {
    .name = "ConstructSparseFromList",
    .doc = "a csc matrix of x's shape with the rows of values where a list says; rows that meet add up",
    .n_in = 3,
    .infer_type = construct_type,
    .make_node = construct_node,
    .perform = construct_perform,
    .grad = construct_grad,
    .rop = construct_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_values,
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status fn_square(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = any_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &square_def, &x, 1));
}

static damo_status fn_sparse_diag(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &diag_def, &x, 1));
}

/* The result has x's dtype, which must hold values of that kind. */
static damo_status fn_construct(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = any_operand(b, a, 0), *values = any_operand(b, a, 1), *list = list_operand(b, a, 2);
  if (b->status != DAMO_OK) return b->status;
  if (dtype_is_complex(var_dtype(values)) && !dtype_is_complex(var_dtype(x)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: values of %s do not fit into a matrix of %s", a->func->name,
                    dtype_name(var_dtype(values)), dtype_name(var_dtype(x)));
  if (var_is_dense(values)) values = build_cast(b, values, var_dtype(x));
  return fn_give(b, out, build_class(b, &construct_def, (damo_var *[]){x, values, list}, 3));
}

const op_func sparse_construct_funcs[] = {
    {.name = "sparse.square_diagonal",
     .operands = "x",
     .call = fn_square,
     .doc = "a csc matrix with a vector on its diagonal"},
    {.name = "sparse.diag",
     .operands = "x",
     .call = fn_sparse_diag,
     .doc = "the diagonal of a square sparse matrix, as a dense vector"},
    {.name = "sparse.construct_sparse_from_list",
     .operands = "x values ilist",
     .call = fn_construct,
     .doc = "a csc matrix of the shape of a dense x, row ilist[k] of it row k of values; what meets adds up",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_construct_classes[] = {&square_def, &diag_def, &construct_def, NULL};
