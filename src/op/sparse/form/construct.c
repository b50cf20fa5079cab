/* construct: diagonals, and matrices out of rows.
 *
 * SquareDiagonal: a vector as the diagonal of a csc matrix; Diag: the diagonal of a square matrix; Diagonal: the k-th
 * diagonal of any matrix, and its adjoint PutDiagonal, a vector as the k-th diagonal of a matrix of x's shape;
 * ConstructSparseFromList: the rows of a dense matrix, at the row positions of a list, in a csc matrix of another dense
 * matrix's shape. Zeros are stored.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

typedef struct sp_diagonal_props {
  prop_value k;
} sp_diagonal_props;

/* ---- SquareDiagonal ---------------------------------------------------------------------------------------------- */

static const op_def sp_diag_def, sp_diagonal_def;

/* The main diagonal of a sparse or dense square matrix. */
static damo_var *build_any_diag(build *b, damo_var *x) {
  return x == NULL || var_is_sparse(x) ? build_class(b, &sp_diag_def, &x, 1) : build_diag(b, x, 0);
}

static damo_status sp_square_diagonal_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 1));
  const int64_t n = in[0]->type->shape[0];
  return type_give_sparse(op, out, DAMO_CSC, var_dtype(in[0]), DAMO_INT32, n, n);
}

static damo_status sp_square_diagonal_perform(const thunk *t, frame *f) {
  return thunk_give(t, f, 0, sparse_square_diagonal(thunk_in(t, f, 0)));
}

static damo_status sp_square_diagonal_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[0] = build_any_diag(b, gout[0]);
  return b->status;
}

static damo_status sp_square_diagonal_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                            damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = out_shape[0][1] = in_shape[0][0];
  return b->status;
}

static const op_def sp_square_diagonal_def = {
    .name = "SquareDiagonal",
    .doc = "a csc matrix with a vector on its diagonal",
    .n_in = 1,
    .infer_type = sp_square_diagonal_type,
    .perform = sp_square_diagonal_perform,
    .grad = sp_square_diagonal_grad,
    .rop = rop_again,
    .infer_shape = sp_square_diagonal_shape,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(square_diagonal_check),
};

/* ---- Diag -------------------------------------------------------------------------------------------------------- */

static damo_status sp_diag_fail_square(damo_ctx *ctx, const int64_t *shape) {
  return ctx_fail(ctx, DAMO_ESHAPE, "Diag: the matrix has shape (%lld, %lld), expected a square one",
                  (long long)shape[0], (long long)shape[1]);
}

static damo_status sp_diag_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  if (shape[0] >= 0 && shape[1] >= 0 && shape[0] != shape[1]) return sp_diag_fail_square(op->obj.ctx, shape);
  return type_give_dense(op, out, var_dtype(in[0]), 1, &shape[shape[0] < 0]);
}

static damo_status sp_diag_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  if (x->shape[0] != x->shape[1]) return sp_diag_fail_square(f->ctx, x->shape);
  damo_array *out = thunk_out(t, f, 0, sparse_dtype(x), 1, x->shape);
  if (out == NULL) return DAMO_EMEMORY;
  sparse_diagonal(x, 0, out->data);
  return DAMO_OK;
}

static damo_status sp_diag_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_class(b, &sp_square_diagonal_def, gout, 1);
  return b->status;
}

static damo_status sp_diag_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node;
  rout[0] = build_any_diag(b, eval[0]);
  return b->status;
}

static damo_status sp_diag_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = in_shape[0][0];
  return b->status;
}

static const op_def sp_diag_def = {
    .name = "Diag",
    .doc = "the diagonal of a square sparse matrix, as a dense vector",
    .n_in = 1,
    .infer_type = sp_diag_type,
    .perform = sp_diag_perform,
    .grad = sp_diag_grad,
    .rop = sp_diag_rop,
    .infer_shape = sp_diag_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(square_diagonal_check),
};

/* ---- Diagonal, PutDiagonal --------------------------------------------------------------------------------------- */

static const op_def sp_put_diagonal_def;

static int64_t sp_diagonal_offset(const damo_op *op) { return OP_PROPS(op, sp_diagonal_props)->k.u.i; }

static damo_status sp_diagonal_init(damo_op *op) {
  if (OP_PROPS(op, sp_diagonal_props)->k.kind == PROP_INT) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: k, the diagonal, must be an integer", op->def->name);
}

static damo_status sp_diagonal_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  const int64_t n = shape[0] < 0 || shape[1] < 0 ? -1 : sparse_diagonal_length(shape, sp_diagonal_offset(op));
  return type_give_dense(op, out, var_dtype(in[0]), 1, &n);
}

static damo_status sp_diagonal_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int64_t k = sp_diagonal_offset(t->node->op), n = sparse_diagonal_length(x->shape, k);
  damo_array *out = thunk_out(t, f, 0, sparse_dtype(x), 1, &n);
  if (out == NULL) return DAMO_EMEMORY;
  sparse_diagonal(x, k, out->data);
  return DAMO_OK;
}

damo_var *build_any_diagonal(build *b, damo_var *x, int64_t k) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return build_diagonal(b, x, k, 0, 1);
  const sp_diagonal_props p = {.k = prop_int(k)};
  return build_op(b, op_new(b->ctx, &sp_diagonal_def, &p), &x, 1);
}

static damo_status sp_diagonal_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return b->status;
  damo_var *in[2] = {gout[0], node->in[0]};
  gin[0] = build_op(b, op_new(b->ctx, &sp_put_diagonal_def, node->op->props), in, 2);
  return b->status;
}

static damo_status sp_diagonal_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  rout[0] = build_any_diagonal(b, eval[0], sp_diagonal_offset(node->op));
  return b->status;
}

static damo_status sp_diagonal_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  const int64_t k = sp_diagonal_offset(node->op);
  damo_var *rows = in_shape[0][0], *cols = in_shape[0][1];
  if (k < 0) rows = build_add(b, rows, build_i64(b, k));
  if (k > 0) cols = build_sub(b, cols, build_i64(b, k));
  out_shape[0][0] = build_maximum(b, build_minimum(b, rows, cols), build_i64(b, 0));
  return b->status;
}

static const op_def sp_diagonal_def = {
    .name = "Diagonal",
    .doc = "the k-th diagonal of a sparse matrix (0: the main one, positive: above), as a dense vector",
    .props = PROPS(PROP(sp_diagonal_props, k)),
    .n_in = 1,
    .init = sp_diagonal_init,
    .infer_type = sp_diagonal_type,
    .perform = sp_diagonal_perform,
    .grad = sp_diagonal_grad,
    .rop = sp_diagonal_rop,
    .infer_shape = sp_diagonal_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(diagonal_check),
};

static damo_status sp_put_diagonal_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 1));
  DAMO_TRY(type_need_sparse(op, in, 1));
  return type_give_like(op, out, in[1], var_dtype(in[0]));
}

static damo_status sp_put_diagonal_perform(const thunk *t, frame *f) {
  const damo_array *v = thunk_in(t, f, 0);
  const damo_sparse *x = thunk_in_sparse(t, f, 1);
  const int64_t k = sp_diagonal_offset(t->node->op), n = sparse_diagonal_length(x->shape, k);
  if (array_size(v) != n)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "PutDiagonal: the vector has %lld entries, the diagonal %lld",
                    (long long)array_size(v), (long long)n);
  damo_sparse *y = sparse_eye(f->ctx, x->shape[0], x->shape[1], k, array_dtype(v), sparse_format(x));
  if (y == NULL) return damo_error_status(f->ctx);
  const size_t size = dtype_size(array_dtype(v));
  if (n > 0) kernel_copy_strided(v->data, array_strides(v)[0], y->data->data, (int64_t)size, n, size);
  return thunk_give_sparse(t, f, 0, y);
}

static damo_status sp_put_diagonal_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_any_diagonal(b, gout[0], sp_diagonal_offset(node->op));
  return b->status;
}

static damo_status sp_put_diagonal_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[2] = {eval[0], node->in[1]};
  if (eval[0] != NULL) rout[0] = build_op(b, damo_retain(node->op), in, 2);
  return b->status;
}

static damo_status sp_put_diagonal_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  (void)node;
  for (int axis = 0; axis < 2; axis++) out_shape[0][axis] = in_shape[1][axis];
  return b->status;
}

static const op_def sp_put_diagonal_def = {
    .name = "PutDiagonal",
    .doc = "a vector as the k-th diagonal of a sparse matrix of x's shape; its zeros are stored",
    .props = PROPS(PROP(sp_diagonal_props, k)),
    .n_in = 2,
    .init = sp_diagonal_init,
    .infer_type = sp_put_diagonal_type,
    .perform = sp_put_diagonal_perform,
    .grad = sp_put_diagonal_grad,
    .rop = sp_put_diagonal_rop,
    .infer_shape = sp_put_diagonal_shape,
    .connection_pattern = connect_first,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(put_diagonal_check),
};

/* ---- ConstructSparseFromList ------------------------------------------------------------------------------------- */

static damo_status sp_construct_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 2));
  DAMO_TRY(type_need_dense(op, in, 1, 2));
  DAMO_TRY(type_need_dense(op, in, 2, 1));
  if (var_dtype(in[2]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the list of rows must be an int64 vector, got %s", op->def->name,
                    dtype_name(var_dtype(in[2])));
  DAMO_TRY(type_need_same_length(op, in, 1, 0, 2, 0));
  DAMO_TRY(type_need_same_length(op, in, 1, 1, 0, 1));
  const int64_t *shape = in[0]->type->shape;
  return type_give_sparse(op, out, DAMO_CSC, var_dtype(in[1]), DAMO_INT32, shape[0], shape[1]);
}

static damo_status sp_construct_perform(const thunk *t, frame *f) {
  const int64_t *shape = array_shape(thunk_in(t, f, 0)), *given = array_shape(thunk_in(t, f, 1));
  const int64_t n = array_size(thunk_in(t, f, 2));
  if (given[0] != n || given[1] != shape[1])
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the values have shape (%lld, %lld), expected (%lld, %lld)",
                    t->node->op->def->name, (long long)given[0], (long long)given[1], (long long)n,
                    (long long)shape[1]);
  int64_t *rows = thunk_scratch(t, f, (size_t)(n + 1) * sizeof *rows);
  if (rows == NULL) return DAMO_EMEMORY;
  DAMO_TRY(thunk_positions(t, f, 2, 0, shape[0], rows));
  return thunk_give(t, f, 0, sparse_from_rows(thunk_in(t, f, 1), rows, shape));
}

/* The rows of the cotangent at the listed positions. */
static damo_status sp_construct_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_toarray(b, build_take_rows(b, gout[0], node->in[2]));
  return b->status;
}

static damo_status sp_construct_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[3] = {node->in[0], eval[1], node->in[2]};
  if (eval[1] != NULL) rout[0] = build_op(b, damo_retain(node->op), in, 3);
  return b->status;
}

static void sp_construct_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[0] = connected[2] = false;
}

static damo_apply *sp_construct_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  damo_type *out = NULL;
  if (n_in != 3) return build_fail(b, DAMO_ETYPE, "%s: expected x, values and a list", op->def->name), NULL;
  damo_var *own[3] = {build_strong(b, in[0]), build_strong(b, in[1]),
                      build_integer(b, op->def->name, "the list of rows", in[2])};
  if (b->status != DAMO_OK || sp_construct_type(op, own, 3, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, 3, &out, 1);
  damo_release(out);
  return node;
}

static const op_def sp_construct_def = {
    .name = "ConstructSparseFromList",
    .doc = "a csc matrix of x's shape with the rows of values where a list says; rows that meet add up",
    .n_in = 3,
    .infer_type = sp_construct_type,
    .make_node = sp_construct_node,
    .perform = sp_construct_perform,
    .grad = sp_construct_grad,
    .rop = sp_construct_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_construct_connect,
    OP_CHECK(construct_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_square_diagonal(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = any_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &sp_square_diagonal_def, &x, 1));
}

static damo_status sp_fn_diag(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &sp_diag_def, &x, 1));
}

/* The option is k, or offset as in the function of tensors. */
static damo_status sp_fn_diagonal(build *b, const fn_args *a, ptrvec *out) {
  const diagonal_options *o = FN_OPTIONS(a, diagonal_options);
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  if (prop_given(o->k) && prop_given(o->offset))
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: k and offset are the same thing: give one of them", a->func->name);
  return fn_give(b, out, build_any_diagonal(b, x, prop_int_or(o->k, prop_int_or(o->offset, 0))));
}

/* The result has x's dtype, which must hold values of that kind. */
static damo_status sp_fn_construct(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = any_operand(b, a, 0), *values = any_operand(b, a, 1), *list = list_operand(b, a, 2);
  if (b->status != DAMO_OK) return b->status;
  if (dtype_is_complex(var_dtype(values)) && !dtype_is_complex(var_dtype(x)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: values of %s do not fit into a matrix of %s", a->func->name,
                    dtype_name(var_dtype(values)), dtype_name(var_dtype(x)));
  if (var_is_dense(values)) values = build_cast(b, values, var_dtype(x));
  return fn_give(b, out, build_class(b, &sp_construct_def, (damo_var *[]){x, values, list}, 3));
}

const op_func sparse_construct_funcs[] = {
    {.name = "sparse.square_diagonal",
     .operands = "x",
     .call = sp_fn_square_diagonal,
     .doc = "a csc matrix with a vector on its diagonal"},
    {.name = "sparse.diag",
     .operands = "x",
     .call = sp_fn_diag,
     .doc = "the diagonal of a square sparse matrix, as a dense vector"},
    {.name = "sparse.diagonal",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT), OPT(diagonal_options, offset, OPT_INT)),
     .call = sp_fn_diagonal,
     .doc = "the k-th diagonal of a sparse matrix of any shape, as a dense vector; offset is another name of k"},
    {.name = "sparse.construct_sparse_from_list",
     .operands = "x values ilist",
     .call = sp_fn_construct,
     .doc = "a csc matrix of the shape of a dense x, row ilist[k] of it row k of values; what meets adds up",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_construct_classes[] = {&sp_square_diagonal_def, &sp_diag_def,      &sp_diagonal_def,
                                                  &sp_put_diagonal_def,    &sp_construct_def, NULL};
