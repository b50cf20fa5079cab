/* pattern: the stored values of a matrix as a vector, separate from its pattern. Structured ops are built on these.
 *
 * SparseData gives the values, WithData replaces them, GatherData gathers a matrix, sparse or dense, at the stored
 * positions of another, SparseZeros is an empty matrix of x's shape. Values are in the order of storage, and neither
 * checked nor copied. (csm.c has ops on matrices given by their vectors, with checks.)
 */
#include "op/sparse/sparse_op.h"

#include <string.h>

/* ---- SparseData -------------------------------------------------------------------------------------------------- */

static damo_status sp_data_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_dense(op, out, var_dtype(in[0]), 1, NULL);
}

static damo_status sp_data_perform(const thunk *t, frame *f) {
  const damo_array *v = thunk_in_sparse(t, f, 0)->data;
  return thunk_out_view(t, f, 0, v, 1, array_shape(v), array_strides(v), 0);
}
damo_status sp_data_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[0] = build_with_data(b, node->in[0], gout[0]);
  return b->status;
}

damo_status sp_data_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_gather(b, eval[0], node->in[0]);
  return b->status;
}

/* The first output of CSMProperties by itself; unlike the indices it has one Type for matrices of every size. */
const op_def sp_data_def = {
    .name = "SparseData",
    .doc = "the vector of a sparse matrix's stored values, a view",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = sp_data_type,
    .perform = sp_data_perform,
    .grad = sp_data_grad,
    .rop = sp_data_rop,
    .terms = TERMS_LINEAR,
    OP_CHECK(data_check),
};

damo_var *build_data(build *b, damo_var *x) { return build_class(b, &sp_data_def, &x, 1); }

/* ---- WithData ---------------------------------------------------------------------------------------------------- */

static damo_status sp_with_data_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_dense(op, in, 1, 1));
  return type_give_like(op, out, in[0], var_dtype(in[1]));
}

static damo_status sp_with_data_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  const damo_array *v = thunk_in(t, f, 1);
  if (array_size(v) != sparse_nnz(x)) {
    return ctx_fail(f->ctx, DAMO_ESHAPE, "WithData: %lld values for a matrix with %lld stored entries",
                    (long long)array_size(v), (long long)sparse_nnz(x));
  }
  damo_array *data = array_as_contiguous(v, array_dtype(v));
  damo_sparse *out = data ? sparse_with_data(x, data) : NULL;
  damo_release(data);
  return thunk_give(t, f, 0, out);
}

static damo_status sp_with_data_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[1] = build_gather(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status sp_with_data_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[1] != NULL) rout[0] = build_with_data(b, node->in[0], eval[1]);
  return b->status;
}

static void sp_with_data_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[0] = false;
}

static const op_alias sp_with_data_views[] = {{0, 1}, OP_ALIAS_END};

const op_def sp_with_data_def = {
    .name = "WithData",
    .doc = "a sparse matrix's pattern with other values",
    .n_in = 2,
    .view_map = sp_with_data_views,
    .infer_type = sp_with_data_type,
    .perform = sp_with_data_perform,
    .grad = sp_with_data_grad,
    .rop = sp_with_data_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_with_data_connect,
    .pattern = PATTERN_SHARED,
    .terms = TERMS_LINEAR,
    OP_CHECK(with_data_check),
};

damo_var *build_with_data(build *b, damo_var *x, damo_var *data) {
  return build_class(b, &sp_with_data_def, (damo_var *[]){x, data}, 2);
}

/* ---- GatherData -------------------------------------------------------------------------------------------------- */

static damo_status sp_gather_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_matrix(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_length(op, in, 0, 0, 1, 0));
  DAMO_TRY(type_need_same_length(op, in, 0, 1, 1, 1));
  return type_give_dense(op, out, var_dtype(in[0]), 1, NULL);
}

static damo_status sp_gather_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 1);
  return thunk_give(
      t, f, 0,
      thunk_in_is_sparse(t, f, 0) ? sparse_at(thunk_in_sparse(t, f, 0), x) : sparse_at_dense(thunk_in(t, f, 0), x));
}

/* The gradient of a dense g is dense. */
static damo_status sp_gather_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = build_with_data(b, node->in[1], gout[0]);
  if (!var_is_sparse(node->in[0])) gin[0] = build_toarray(b, gin[0]);
  return b->status;
}

static damo_status sp_gather_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_gather(b, eval[0], node->in[1]);
  return b->status;
}

const op_def sp_gather_def = {
    .name = "GatherData",
    .doc = "the values of a sparse or dense matrix at the stored positions of another",
    .n_in = 2,
    .view_map = alias_first,
    .infer_type = sp_gather_type,
    .perform = sp_gather_perform,
    .grad = sp_gather_grad,
    .rop = sp_gather_rop,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    OP_CHECK(gather_check),
};

damo_var *build_gather(build *b, damo_var *g, damo_var *x) {
  return build_class(b, &sp_gather_def, (damo_var *[]){g, x}, 2);
}

damo_var *build_structured(build *b, damo_var *g, damo_var *x) { return build_with_data(b, x, build_gather(b, g, x)); }

/* ---- Zeros ------------------------------------------------------------------------------------------------------- */

static damo_dtype sp_zeros_dtype(const damo_op *op) {
  damo_dtype dt = DAMO_FLOAT64;
  damo_dtype_from_name(OP_PROPS(op, dtype_props)->dtype.u.s, &dt);
  return dt;
}

static damo_status sp_zeros_init(damo_op *op) {
  damo_dtype dt;
  const prop_value *v = &OP_PROPS(op, dtype_props)->dtype;
  if (v->kind == PROP_STR && damo_dtype_from_name(v->u.s, &dt)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "SparseZeros: dtype must be the name of a dtype, got '%s'",
                  v->kind == PROP_STR ? v->u.s : "another value");
}

static damo_status sp_zeros_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_like(op, out, in[0], sp_zeros_dtype(op));
}

static damo_status sp_zeros_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  damo_dtype itype = sparse_itype_for((damo_dtype)t->node->out[0]->type->itype, x->shape[0], x->shape[1], 0);
  damo_sparse *y = sparse_empty(f->ctx, sparse_format(x), sp_zeros_dtype(t->node->op), itype, x->shape, 0);
  if (y == NULL) return damo_error_status(f->ctx);
  memset(y->indptr->data, 0, (size_t)array_size(y->indptr) * dtype_size(itype));
  y->sorted = y->unique = true;
  return thunk_give(t, f, 0, y);
}

static const op_def sp_zeros_def = {
    .name = "SparseZeros",
    .doc = "a sparse matrix of another's shape and format with nothing stored",
    .props = PROPS(PROP(dtype_props, dtype)),
    .n_in = 1,
    .init = sp_zeros_init,
    .infer_type = sp_zeros_type,
    .perform = sp_zeros_perform,
    .grad = grad_none,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_none,
    .pattern = PATTERN_ONCE,
    OP_CHECK(zeros_check),
};

damo_var *build_sparse_zeros(build *b, damo_var *x, damo_dtype dtype) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const dtype_props p = {.dtype = prop_str(dtype_name(dtype))};
  return build_op(b, op_new(b->ctx, &sp_zeros_def, &p), &x, 1);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

damo_var *build_sparse_ones(build *b, damo_var *x) {
  damo_var *data = build_data(b, x);
  return data ? build_with_data(b, x, build_ones_like(b, data)) : NULL;
}

static damo_status sp_fn_ones(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_sparse_ones(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_zeros(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, x ? build_sparse_zeros(b, x, var_dtype(x)) : NULL);
}

static damo_status sp_fn_with_data(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_with_data(b, sparse_operand(b, a, 0), any_operand(b, a, 1)));
}

static damo_status sp_fn_gather(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_gather(b, any_operand(b, a, 0), sparse_operand(b, a, 1)));
}

const op_func sparse_pattern_funcs[] = {
    {.name = "sparse.sp_ones_like", .operands = "x", .call = sp_fn_ones, .doc = "ones at x's stored positions"},
    {.name = "sparse.sp_zeros_like", .operands = "x", .call = sp_fn_zeros, .doc = "x's shape, with nothing stored"},
    {.name = "sparse.zeros_like", .operands = "x", .call = sp_fn_zeros, .doc = "x's shape, with nothing stored"},
    {.name = "sparse.with_data",
     .operands = "x data",
     .call = sp_fn_with_data,
     .doc = "x's pattern with the values of a vector, in the order in which x's are stored"},
    {.name = "sparse.gather",
     .operands = "g x",
     .call = sp_fn_gather,
     .doc = "the values of g, sparse or dense, at the stored positions of x, in their order",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_pattern_classes[] = {&sp_data_def, &sp_with_data_def, &sp_gather_def, &sp_zeros_def, NULL};
