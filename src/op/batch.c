/* batch: what the rules for batches (op_def.batch) of many classes have in common. */
#include "op/batch.h"

#include "op/shape/shape_int.h"

damo_var *batch_pad(build *b, damo_var *x, int k, int ndim) {
  int pattern[DAMO_MAX_NDIM];
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const int own = var_ndim(x) - k;
  if (own == ndim) return x;
  if (k + ndim > DAMO_MAX_NDIM) {
    return build_fail(b, DAMO_ESHAPE, "vectorize: %d leading axes and %d of the operand are more than %d", k, ndim,
                      DAMO_MAX_NDIM);
  }
  for (int i = 0; i < k + ndim; i++) pattern[i] = i < k ? i : i < k + ndim - own ? -1 : i - (ndim - own);
  return build_dimshuffle(b, x, pattern, k + ndim);
}

damo_status batch_lengths(build *b, damo_var *const *in, const bool *batched, int n, int k, damo_var **lengths) {
  if (b->status != DAMO_OK) return b->status;
  for (int axis = 0; axis < k; axis++) {
    damo_var *from = NULL;
    for (int i = 0; i < n; i++) {
      if (!batched[i] || type_dim_is_one(in[i]->type, axis)) continue;
      if (from == NULL || (from->type->shape[axis] < 0 && in[i]->type->shape[axis] >= 0)) from = in[i];
    }
    lengths[axis] = from != NULL ? build_dim(b, from, axis) : build_i64(b, 1);
  }
  return b->status;
}

damo_var *batch_expand(build *b, damo_var *x, bool batched, int k, damo_var *const *lengths) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const int own = var_ndim(x) - (batched ? k : 0);
  bool fits = batched;
  if (k + own > DAMO_MAX_NDIM) return batch_pad(b, x, 0, k + own); /* fails */
  for (int i = 0; i < k; i++) {
    int64_t one = -1;
    dims[i] = lengths[i];
    if (batched && type_dim_is_one(x->type, i)) fits = fits && var_static_int(lengths[i], &one) && one == 1;
  }
  if (fits) return x;
  for (int i = 0; i < own; i++) dims[k + i] = build_dim(b, x, (batched ? k : 0) + i);
  return build_broadcast_to(b, "vectorize", x, dims, k + own);
}

damo_status batch_agree(build *b, damo_var **in, const bool *batched, int n, int k, bool all) {
  damo_var *lengths[DAMO_MAX_NDIM];
  DAMO_TRY(batch_lengths(b, in, batched, n, k, lengths));
  for (int i = 0; i < n; i++) {
    if (batched[i] || (all && type_is_tensor(in[i]->type))) in[i] = batch_expand(b, in[i], batched[i], k, lengths);
  }
  return b->status;
}

damo_var *batch_size(build *b, int k, damo_var *const *lengths) {
  damo_var *n = NULL;
  int64_t known = 1, one;
  bool is_known = true;
  for (int i = 0; i < k; i++) {
    is_known = is_known && var_static_int(lengths[i], &one) && i64_mul(known, one, &known);
    n = n != NULL ? build_mul(b, n, lengths[i]) : lengths[i];
  }
  return is_known || n == NULL ? build_i64(b, known) : n;
}

damo_var *batch_fold(build *b, damo_var *x, int k) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (k == 1) return x;
  const int n = var_ndim(x);
  for (int i = 0; i < n; i++) dims[i] = build_dim(b, x, i);
  dims[k - 1] = batch_size(b, k, dims);
  return b->status == DAMO_OK ? build_reshape(b, x, build_vector(b, dims + k - 1, n - k + 1), n - k + 1) : NULL;
}

damo_var *batch_unfold(build *b, damo_var *y, int k, damo_var *const *lengths) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (y == NULL || b->status != DAMO_OK) return NULL;
  if (k == 1) return y;
  const int n = var_ndim(y);
  if (k + n - 1 > DAMO_MAX_NDIM) return batch_pad(b, y, 0, k + n - 1); /* fails */
  for (int i = 0; i < k; i++) dims[i] = lengths[i];
  for (int i = 1; i < n; i++) dims[k + i - 1] = build_dim(b, y, i);
  return b->status == DAMO_OK ? build_reshape(b, y, build_vector(b, dims, k + n - 1), k + n - 1) : NULL;
}

damo_var *batch_reshape(build *b, damo_var *x, int k, damo_var *const *dims, int n) {
  damo_var *all[DAMO_MAX_NDIM];
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (k + n > DAMO_MAX_NDIM) return batch_pad(b, x, k, n); /* fails */
  for (int i = 0; i < k; i++) all[i] = build_dim(b, x, i);
  for (int i = 0; i < n; i++) all[k + i] = dims[i];
  return b->status == DAMO_OK ? build_reshape(b, x, build_vector(b, all, k + n), k + n) : NULL;
}

damo_var *batch_move_axis(build *b, damo_var *x, int from, int to) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (from == to) return x;
  for (int i = 0; i < var_ndim(x); i++) {
    if (i == from) continue;
    if (n == to) pattern[n++] = from;
    pattern[n++] = i;
  }
  if (n == to) pattern[n++] = from;
  return build_dimshuffle(b, x, pattern, n);
}

int batch_result_lengths(build *b, const damo_apply *node, damo_var *const *in, const bool *batched, int k,
                         damo_var **dims) {
  const int n = k + node->n_in - 1;
  bool can = batched[0];
  for (int i = 1; i < node->n_in; i++) can = can && !batched[i];
  if (can && n > DAMO_MAX_NDIM) can = batch_pad(b, in[0], 0, n) != NULL; /* fails */
  for (int i = 0; i < n && can; i++) dims[i] = i < k ? build_dim(b, in[0], i) : in[i - k + 1];
  return can && b->status == DAMO_OK ? n : -1;
}

damo_status batch_apply(build *b, damo_op *take_op, const damo_apply *node, damo_var **in, damo_var **out) {
  const damo_apply *made = build_apply(b, take_op, in, node->n_in);
  for (int o = 0; made != NULL && o < node->n_out; o++) out[o] = made->out[o];
  return b->status;
}

damo_status batch_same_op(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out) {
  (void)k;
  for (int i = 0; i < node->n_in; i++) {
    if (batched[i] != (i == 0)) return b->status;
  }
  return batch_apply(b, damo_retain(node->op), node, in, out);
}

damo_status batch_same_op_agreed(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  DAMO_TRY(batch_agree(b, in, batched, node->n_in, k, true));
  return batch_apply(b, damo_retain(node->op), node, in, out);
}

damo_status batch_into_first(build *b, const damo_apply *node, damo_var **in, const bool *batched, int n, int k,
                             damo_var **out) {
  damo_var *lengths[DAMO_MAX_NDIM];
  DAMO_TRY(batch_agree(b, in, batched, n, k, true));
  for (int i = 0; i <= k; i++) lengths[i] = build_dim(b, in[0], i);
  for (int i = 0; i < n; i++) in[i] = batch_fold(b, in[i], k + 1);
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(batch_apply(b, damo_retain(node->op), node, in, out));
  for (int o = 0; o < node->n_out; o++) out[o] = batch_unfold(b, out[o], k + 1, lengths);
  return b->status;
}
