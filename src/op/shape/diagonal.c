/* diagonal: ExtractDiag, a diagonal of two axes as a view, and its adjoint AllocDiag: diag, diagonal, trace. */
#include "graph/c_emit.h"
#include "shape_int.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- ExtractDiag ------------------------------------------------------------------------------------------------- */

typedef struct diag_data {
  int64_t offset;
  int axis1, axis2;
} diag_data;

/* Props: offset, axis1, axis2 (1-based, of the operand with both axes). */
static damo_status diag_init(damo_op *op) {
  diag_data *d = op->data;
  const diagonal_props *p = OP_PROPS(op, diagonal_props);
  *d = (diag_data){p->offset.u.i, (int)p->axis1.u.i - 1, (int)p->axis2.u.i - 1};
  if (d->axis1 == d->axis2)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "diagonal: the two axes are the same, %d", d->axis1 + 1);
  return DAMO_OK;
}

static int64_t diag_length(const diag_data *d, int64_t rows, int64_t cols) {
  int64_t n = d->offset < 0 ? rows + d->offset : rows, m = d->offset > 0 ? cols - d->offset : cols;
  int64_t least = n < m ? n : m;
  return least > 0 ? least : 0;
}

static damo_status extract_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const diag_data *d = op->data;
  const damo_type *t = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM];
  int n = 0;
  if (!type_is_tensor(t) || t->ndim <= d->axis1 || t->ndim <= d->axis2)
    return ctx_fail(op->obj.ctx, DAMO_EINDEX, "diagonal: the operand lacks axis %d or %d", d->axis1 + 1, d->axis2 + 1);
  for (int i = 0; i < t->ndim; i++)
    if (i != d->axis1 && i != d->axis2) shape[n++] = t->shape[i];
  int64_t rows = t->shape[d->axis1], cols = t->shape[d->axis2];
  shape[n++] = rows < 0 || cols < 0 ? -1 : diag_length(d, rows, cols);
  out[0] = type_tensor(op->obj.ctx, t->dtype, n, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

/* Shape and strides of the diagonal of an array, which becomes the last axis. Returns the byte offset of its first
 * entry. */
static int64_t diag_box(const diag_data *d, int ndim, const int64_t *shape, const int64_t *strides, int64_t *out_shape,
                        int64_t *out_strides) {
  int n = 0;
  for (int i = 0; i < ndim; i++) {
    if (i == d->axis1 || i == d->axis2) continue;
    out_shape[n] = shape[i];
    out_strides[n++] = strides[i];
  }
  out_shape[n] = diag_length(d, shape[d->axis1], shape[d->axis2]);
  out_strides[n] = strides[d->axis1] + strides[d->axis2];
  if (out_shape[n] == 0) return 0;
  return d->offset < 0 ? -d->offset * strides[d->axis1] : d->offset * strides[d->axis2];
}

static damo_status extract_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  int64_t offset = diag_box(t->node->op->data, x->ndim, array_shape(x), array_strides(x), shape, strides);
  return thunk_out_view(t, f, 0, x, x->ndim - 1, shape, strides, offset);
}

static damo_var *build_alloc_diag(build *b, const damo_op *like, damo_var *g, damo_var *const *dims, int ndim);
damo_var *build_diagonal(build *b, damo_var *x, int64_t offset, int axis1, int axis2);

static damo_status extract_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *dims[DAMO_MAX_NDIM];
  DAMO_TRY(build_dims(b, node->in[0], dims));
  gin[0] = build_alloc_diag(b, node->op, gout[0], dims, var_ndim(node->in[0]));
  return b->status;
}

static damo_status extract_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  const diag_data *d = node->op->data;
  int n = 0;
  for (int i = 0; i < var_ndim(node->in[0]); i++)
    if (i != d->axis1 && i != d->axis2) out_shape[0][n++] = in_shape[0][i];
  damo_var *rows = in_shape[0][d->axis1], *cols = in_shape[0][d->axis2];
  if (d->offset < 0) rows = build_add(b, rows, build_i64(b, d->offset));
  if (d->offset > 0) cols = build_sub(b, cols, build_i64(b, d->offset));
  out_shape[0][n] = build_maximum(b, build_minimum(b, rows, cols), build_i64(b, 0));
  return b->status;
}

static diagonal_props diagonal_moved(const damo_op *op, int k) {
  const diagonal_props *p = OP_PROPS(op, diagonal_props);
  return (diagonal_props){
      .offset = p->offset, .axis1 = prop_int(k + p->axis1.u.i), .axis2 = prop_int(k + p->axis2.u.i)};
}

static damo_status extract_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  const diagonal_props moved = diagonal_moved(node->op, k);
  (void)batched;
  return batch_apply(b, op_new(b->ctx, node->op->def, &moved), node, in, out);
}

static damo_status extract_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const c_value *x = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  const int64_t offset = diag_box(node->op->data, x->ndim, x->shape, x->strides, shape, strides);
  ce_out_view(e, 0, x, x->ndim - 1, shape, strides, offset);
  return e->status;
}

const op_def extractdiag_def = {
    .name = "ExtractDiag",
    .doc = "a diagonal of two axes as the last axis",
    .props = PROPS(PROP_INTEGER(diagonal_props, offset, -PROP_FAR, PROP_FAR), PROP_AXIS(diagonal_props, axis1),
                   PROP_AXIS(diagonal_props, axis2)),
    .n_in = 1,
    .data_size = sizeof(diag_data),
    .init = diag_init,
    .view_map = alias_first,
    .infer_type = extract_type,
    .perform = extract_perform,
    .emit_c = extract_emit_c,
    .grad = extract_grad,
    .rop = rop_again,
    .infer_shape = extract_infer_shape,
    .batch = extract_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

damo_var *build_diagonal(build *b, damo_var *x, int64_t offset, int axis1, int axis2) {
  if (!x || b->status != DAMO_OK) return NULL;
  const diagonal_props props = {.offset = prop_int(offset), .axis1 = prop_int(axis1 + 1), .axis2 = prop_int(axis2 + 1)};
  return build_op(b, op_new(b->ctx, &extractdiag_def, &props), &x, 1);
}

/* ---- AllocDiag: zeros of a shape (inputs 1…) with input 0 on the diagonal ---------------------------------------- */

static damo_status allocdiag_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[DAMO_MAX_NDIM];
  const diag_data *d = op->data;
  if (!type_is_tensor(in[0]->type)) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "diag: operand 1 must be a tensor");
  if (n_in - 1 != var_ndim(in[0]) + 1 || d->axis1 >= n_in - 1 || d->axis2 >= n_in - 1)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "diag: a diagonal of %d axes does not fit a result of %d axes",
                    var_ndim(in[0]), n_in - 1);
  DAMO_TRY(static_dims(op->obj.ctx, "diag", in + 1, n_in - 1, shape));
  out[0] = type_tensor(op->obj.ctx, var_dtype(in[0]), n_in - 1, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status allocdiag_perform(const thunk *t, frame *f) {
  const damo_array *v = thunk_in(t, f, 0);
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], along[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, f, "diag", 1, n, shape));
  damo_array *out = thunk_out(t, f, 0, array_dtype(v), n, shape);
  if (!out) return DAMO_EMEMORY;
  int64_t offset = diag_box(t->node->op->data, n, shape, array_strides(out), along, strides);
  DAMO_TRY(broadcast_strides(f->ctx, "diag", v, t->node->in[0]->type, n - 1, along, from));
  array_zero_bytes(f->ctx, out->data, (size_t)array_size(out) * dtype_size(v->dtype));
  array_copy_box(f->ctx, v->data, from, out->data + offset, strides, n - 1, along, dtype_size(v->dtype));
  return DAMO_OK;
}

static damo_status allocdiag_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const diag_data *d = node->op->data;
  gin[0] = build_diagonal(b, gout[0], d->offset, d->axis1, d->axis2);
  return b->status;
}

static damo_status allocdiag_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_alloc_diag(b, node->op, eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

static damo_status allocdiag_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                   damo_var **out) {
  damo_var *wide[DAMO_MAX_NDIM + 1];
  const int n = batch_result_lengths(b, node, in, batched, k, wide + 1);
  if (n < 0) return b->status;
  wide[0] = in[0];
  const diagonal_props moved = diagonal_moved(node->op, k);
  out[0] = build_op(b, op_new(b->ctx, node->op->def, &moved), wide, n + 1);
  return b->status;
}

static damo_status allocdiag_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0);
  const int n = node->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], along[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  for (int i = 0; i < n; i++) DAMO_TRY(ce_int(e, i + 1, "a length", &shape[i]));
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, shape);
  if (out == NULL) return e->status;
  const int64_t offset = diag_box(node->op->data, n, shape, out->strides, along, strides);
  for (int i = 0; i < n - 1; i++) {
    if (x->shape[i] != 1 && x->shape[i] != along[i]) return ce_refuse(e, "a diagonal of another length");
  }
  ce_takes_complex(e);
  ce_fill(e, out, dtype_is_complex(out->dtype) ? ce_text(e, "(%s){0, 0}", ce_type(out->dtype)) : "0");
  ce_copy(e, ce_view(e, out, n - 1, along, strides, offset), x);
  return e->status;
}

const op_def allocdiag_def = {
    .name = "AllocDiag",
    .doc = "zeros with a diagonal",
    .props = PROPS(PROP_INTEGER(diagonal_props, offset, -PROP_FAR, PROP_FAR), PROP_AXIS(diagonal_props, axis1),
                   PROP_AXIS(diagonal_props, axis2)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(diag_data),
    .init = diag_init,
    .infer_type = allocdiag_type,
    .perform = allocdiag_perform,
    .emit_c = allocdiag_emit_c,
    .grad = allocdiag_grad,
    .rop = allocdiag_rop,
    .infer_shape = infer_shape_value_lengths,
    .batch = allocdiag_batch,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

static damo_var *build_alloc_diag(build *b, const damo_op *like, damo_var *g, damo_var *const *dims, int ndim) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  if (!g || b->status != DAMO_OK) return NULL;
  in[0] = g;
  for (int i = 0; i < ndim; i++) in[i + 1] = dims[i];
  return build_op(b, op_new(b->ctx, &allocdiag_def, like->props), in, ndim + 1);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

damo_var *build_diag(build *b, damo_var *x, int64_t k) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (var_ndim(x) == 2) return build_diagonal(b, x, k, 0, 1);
  if (var_ndim(x) != 1)
    return build_fail(b, DAMO_ESHAPE, "diag: expected a vector or a matrix, got %d axes", var_ndim(x));
  damo_var *n = build_add(b, build_dim(b, x, 0), build_i64(b, k < 0 ? -k : k));
  if (x->type->shape[0] >= 0) n = build_i64(b, x->type->shape[0] + (k < 0 ? -k : k));
  damo_var *in[3] = {x, n, n};
  const diagonal_props props = {.offset = prop_int(k), .axis1 = prop_int(1), .axis2 = prop_int(2)};
  return build_op(b, op_new(b->ctx, &allocdiag_def, &props), in, 3);
}

damo_status fn_diag(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, build_diag(b, build_strong(b, a->in[0]), prop_int_or(FN_OPTIONS(a, diagonal_options)->k, 0)));
}

static damo_var *diagonal_of_call(build *b, const fn_args *a) {
  const diagonal_options *o = FN_OPTIONS(a, diagonal_options);
  const int64_t one = prop_int_or(o->axis1, 1), two = prop_int_or(o->axis2, 2);
  int axis1 = 0, axis2 = 0;
  damo_status s = fn_check_tensor(a, b->ctx, 0);
  damo_var *x = s == DAMO_OK ? build_strong(b, a->in[0]) : NULL;
  if (s == DAMO_OK && !x) return NULL;
  if (s == DAMO_OK) s = axis_check(b->ctx, a->func->name, one, var_ndim(x), &axis1);
  if (s == DAMO_OK) s = axis_check(b->ctx, a->func->name, two, var_ndim(x), &axis2);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  return build_diagonal(b, x, prop_int_or(o->offset, 0), axis1, axis2);
}

damo_status fn_diagonal(build *b, const fn_args *a, ptrvec *out) { return fn_give(b, out, diagonal_of_call(b, a)); }

/* The sum of a diagonal, which is the last axis. */
static damo_var *build_diagonal_sum(build *b, damo_var *diagonal) {
  const int last = diagonal != NULL ? var_ndim(diagonal) - 1 : 0;
  return build_reduce(b, REDUCE_SUM, diagonal, &last, 1, false);
}

damo_var *build_trace(build *b, damo_var *x) { return build_diagonal_sum(b, build_diagonal(b, x, 0, 0, 1)); }

damo_status fn_trace(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_diagonal_sum(b, diagonal_of_call(b, a)));
}

const op_def *const diagonal_classes[] = {&extractdiag_def, &allocdiag_def, NULL};
