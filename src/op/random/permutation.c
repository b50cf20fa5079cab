/* permutation: a random order: of 1…n, or of the entries along an array's first axis. A pure function of the state. */
#include <string.h>

#include "draw.h"
#include "kernel/kernel.h"

static damo_status permutation_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *x = in[1]->type;
  int64_t n = -1;
  char text[256];
  (void)n_in;
  if (in[0]->type->kind != TYPE_RANDOM) {
    return ctx_fail(ctx, DAMO_ETYPE, "permutation: rng must be a generator's state, got %s",
                    type_format(text, sizeof text, in[0]->type));
  }
  if (!type_is_tensor(x) || (x->ndim == 0 && x->dtype != DAMO_INT64)) {
    return ctx_fail(ctx, DAMO_ETYPE, "permutation: x must be an int64 scalar or a tensor, got %s",
                    type_format(text, sizeof text, x));
  }
  out[0] = type_random(ctx);
  if (x->ndim > 0) {
    out[1] = damo_retain((damo_type *)x);
  } else {
    if (!var_static_int(in[1], &n) || n < 0) n = -1;
    out[1] = type_tensor(ctx, DAMO_INT64, 1, &n);
  }
  return out[0] && out[1] ? DAMO_OK : ctx->error.status;
}

/* Copies x's n slices along the first axis to out in that order (0-based). */
static void copy_slices(damo_ctx *ctx, const damo_array *x, damo_array *out, const int64_t *order, int64_t n) {
  const size_t size = dtype_size(array_dtype(x));
  const int64_t slice = n > 0 ? array_size(x) / n * (int64_t)size : 0;
  int64_t since = 0;
  for (int64_t i = 0; i < n; i++) {
    array_copy_box(ctx, x->data + order[i] * array_strides(x)[0], array_strides(x) + 1, out->data + i * slice, NULL,
                   x->ndim - 1, array_shape(x) + 1, size);
    ctx_point_after(ctx, &since, 64 + slice, PERMUTATION_PART * (int64_t)sizeof(int64_t));
  }
}

static damo_status permutation_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 1);
  philox_state s = random_state_read(thunk_in(t, f, 0));
  const int64_t n = x->ndim == 0 ? scalar_to_int64(array_item(x)) : array_shape(x)[0];
  size_t bytes;
  if (n < 0) return ctx_fail(f->ctx, DAMO_EVALUE, "permutation: n must not be negative, got %lld", (long long)n);
  if (!size_mul((size_t)n, sizeof(int64_t), &bytes)) return ctx_fail_memory(f->ctx);
  damo_array *next = thunk_out(t, f, 0, DAMO_UINT64, 1, (const int64_t[]){3});
  damo_array *out = !next          ? NULL
                    : x->ndim == 0 ? thunk_out(t, f, 1, DAMO_INT64, 1, &n)
                                   : thunk_out(t, f, 1, array_dtype(x), x->ndim, array_shape(x));
  if (!out) return DAMO_EMEMORY;
  int64_t *order = x->ndim == 0 ? (int64_t *)out->data : thunk_scratch(t, f, bytes);
  if (!order) return DAMO_EMEMORY;
  philox_permutation(f->ctx, &s, order, n);
  if (x->ndim > 0)
    copy_slices(f->ctx, x, out, order, n);
  else
    for (int64_t i = 0; i < n; i++) {
      order[i]++;
      ctx_point_each(f->ctx, i, PERMUTATION_PART);
    }
  philox_advance(&s, philox_blocks(n));
  state_write(next, &s);
  return DAMO_OK;
}

static void no_connections(const damo_apply *node, bool *connected) {
  for (int i = 0; i < 2 * node->n_in; i++) connected[i] = i == 0;
}

static damo_status permutation_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[1] && var_ndim(node->in[1]) > 0) gin[1] = build_null(b, "permutation has no derivative");
  return b->status;
}

static damo_status permutation_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                           damo_var ***out_shape) {
  const int n = var_ndim(node->in[1]);
  if (n == 0) out_shape[1][0] = node->in[1];
  for (int i = 0; i < n; i++) out_shape[1][i] = in_shape[1][i];
  return b->status;
}

const op_def permutation_def = {
    .name = "Permutation",
    .doc = "a random order of 1…n or of an array's slices, and the generator's next state",
    .n_in = 2,
    .n_out = 2,
    .infer_type = permutation_infer_type,
    .perform = permutation_perform,
    .grad = permutation_grad,
    .infer_shape = permutation_infer_shape,
    .connection_pattern = no_connections,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
