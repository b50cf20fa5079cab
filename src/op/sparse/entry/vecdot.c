/* vecdot: sums of products over a matrix's stored entries.
 *
 * SpVecdot{axis} (m, x, y): for each column of m (axis 1) or each row (2) the sum over its stored entries p of
 * x[p]·y[p]. x and y are vectors with a number for each entry of m, of one dtype. Rewriting puts it in place of SpSum
 * over m with the values x·y, which the gradient of a matrix scaled by a vector needs. It has no gradient.
 */
#include "op/sparse/sparse_op.h"

#include <string.h>

static int sp_vecdot_axis(const damo_op *op) { return (int)OP_PROPS(op, axis_props)->axis.u.i - 1; }

static damo_status sp_vecdot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int i = 1; i < n_in; i++) DAMO_TRY(type_need_dense(op, in, i, 1));
  return type_give_dense(op, out, var_dtype(in[1]), 1, &in[0]->type->shape[sp_vecdot_axis(op) == 0]);
}

static damo_status sp_vecdot_check_lengths(const thunk *t, frame *f) {
  const damo_sparse *m = thunk_in_sparse(t, f, 0);
  for (int i = 1; i < t->n_in; i++) {
    const int64_t n = array_size(thunk_in(t, f, i));
    if (n == sparse_nnz(m)) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "SpVecdot: a vector of %lld for a matrix with %lld entries", (long long)n,
                    (long long)sparse_nnz(m));
  }
  return DAMO_OK;
}

static damo_status sp_vecdot_run(const thunk *t, frame *f, const damo_array *x, const damo_array *y) {
  const damo_sparse *m = thunk_in_sparse(t, f, 0);
  const damo_dtype dtype = var_dtype(t->node->out[0]);
  const int axis = sp_vecdot_axis(t->node->op);
  const sparse_value_fns *fns = f->ctx->isa->sparse.value[sparse_is_wide(m)][dtype];
  damo_array *out = thunk_out(t, f, 0, dtype, 1, &m->shape[axis == 0]);
  if (out == NULL) return DAMO_EMEMORY;
  const sparse_raw raw = sparse_raw_of(m);
  if ((axis == 1) == (sparse_format(m) == DAMO_CSR)) {
    fns->vecdot_major(&raw, x->data, y->data, out->data);
  } else {
    array_zero_bytes(f->ctx, out->data, (size_t)array_size(out) * dtype_size(dtype));
    fns->vecdot_minor(&raw, x->data, y->data, out->data);
  }
  return DAMO_OK;
}

static damo_status sp_vecdot_perform(const thunk *t, frame *f) {
  DAMO_TRY(sp_vecdot_check_lengths(t, f));
  const damo_dtype dtype = var_dtype(t->node->out[0]);
  damo_array *x = array_as_contiguous(thunk_in(t, f, 1), dtype);
  damo_array *y = x != NULL ? array_as_contiguous(thunk_in(t, f, 2), dtype) : NULL;
  const damo_status s = y != NULL ? sp_vecdot_run(t, f, x, y) : damo_error_status(f->ctx);
  damo_release(x);
  damo_release(y);
  return s;
}

static damo_status sp_vecdot_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                   damo_var ***out_shape) {
  out_shape[0][0] = in_shape[0][sp_vecdot_axis(node->op) == 0];
  return b->status;
}

static const op_def sp_vecdot_def = {
    .name = "SpVecdot",
    .doc = "for each column or row of a sparse matrix the sum of products of two numbers for each stored position",
    .props = PROPS(PROP_INTEGER(axis_props, axis, 1, 2)),
    .n_in = 3,
    .infer_type = sp_vecdot_type,
    .perform = sp_vecdot_perform,
    .terms = TERMS_LINEAR,
    .infer_shape = sp_vecdot_shape,
    OP_CHECK(vecdot_check),
};

damo_var *build_sp_vecdot(build *b, damo_var *m, damo_var *x, damo_var *y, int axis) {
  const axis_props prop = {.axis = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &sp_vecdot_def, &prop), (damo_var *[]){m, x, y}, 3);
}

const op_def *const sparse_vecdot_classes[] = {&sp_vecdot_def, NULL};
