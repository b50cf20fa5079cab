/* triangle: Triangle: entries outside a triangle of the last two axes become 0: tril, triu. */
#include "graph/c_emit.h"
#include "shape_int.h"
#include "kernel/kernel.h"

#include <string.h>

/* Props: k, lower. */
static damo_status triangle_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || var_ndim(in[0]) < 2)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: expected at least 2 axes, got %d",
                    OP_PROPS(op, triangle_props)->lower.u.i ? "tril" : "triu", var_ndim(in[0]));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

#define TRIANGLE_PART 8192 /* entries between two points */

static damo_status triangle_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int64_t k = OP_PROPS(t->node->op, triangle_props)->k.u.i;
  bool lower = OP_PROPS(t->node->op, triangle_props)->lower.u.i;
  damo_array *out = thunk_out(t, f, 0, array_dtype(x), x->ndim, array_shape(x));
  if (!out) return DAMO_EMEMORY;
  int64_t size = (int64_t)dtype_size(x->dtype), rows = array_shape(x)[x->ndim - 2], cols = array_shape(x)[x->ndim - 1];
  array_copy_box(f->ctx, x->data, array_strides(x), out->data, NULL, x->ndim, array_shape(x), (size_t)size);
  int64_t n = cols ? array_size(x) / cols : 0, since = 0;
  for (int64_t r = 0; r < n; r++) {
    int64_t keep = r % rows + k + (lower ? 1 : 0); /* lower keeps columns [0, keep), upper [keep, cols) */
    keep = keep < 0 ? 0 : keep > cols ? cols : keep;
    char *row = out->data + r * cols * size;
    if (lower)
      memset(row + keep * size, 0, (size_t)((cols - keep) * size));
    else
      memset(row, 0, (size_t)(keep * size));
    ctx_point_after(f->ctx, &since, 16 + cols, TRIANGLE_PART);
  }
  return DAMO_OK;
}

static damo_status triangle_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_op(b, damo_retain(node->op), gout, 1);
  return b->status;
}

static damo_status triangle_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *out = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  ce_takes_complex(e);
  if (out == NULL || ce_size(out) == 0) return e->status;
  const char *zero = dtype_is_complex(out->dtype) ? ce_text(e, "(%s){0, 0}", ce_type(out->dtype)) : "0";
  const long long rows = (long long)x->shape[x->ndim - 2], cols = (long long)x->shape[x->ndim - 1];
  const bool lower = OP_PROPS(node->op, triangle_props)->lower.u.i != 0;
  int64_t k = OP_PROPS(node->op, triangle_props)->k.u.i;
  k = k < -rows ? -rows : k > cols ? cols : k;
  ce_copy(e, out, x);
  ce_for(e, "r", ce_size(out) / cols);
  ce_for(e, "j", cols);
  ce_line(e, "if (j - r %% %lld %s %lld) %s[r * %lld + j] = %s;", rows, lower ? ">" : "<", (long long)k, ce_p(e, out),
          cols, zero);
  ce_close(e);
  ce_close(e);
  return e->status;
}

const op_def triangle_def = {
    .name = "Triangle",
    .doc = "one triangle of the last two axes, zeros elsewhere",
    .props = PROPS(PROP_INTEGER(triangle_props, k, -PROP_FAR, PROP_FAR), PROP_FLAG(triangle_props, lower)),
    .n_in = 1,
    .infer_type = triangle_type,
    .perform = triangle_perform,
    .emit_c = triangle_emit_c,
    .grad = triangle_grad,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

damo_var *build_triangle(build *b, damo_var *x, int64_t k, bool lower) {
  const triangle_props props = {.k = prop_int(k), .lower = prop_bool(lower)};
  return x != NULL ? build_op(b, op_new(b->ctx, &triangle_def, &props), &x, 1) : NULL;
}

static damo_status call_triangle(build *b, const fn_args *a, ptrvec *out, bool lower) {
  const int64_t k = prop_int_or(FN_OPTIONS(a, diagonal_options)->k, 0);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, build_triangle(b, build_strong(b, a->in[0]), k, lower));
}

damo_status fn_tril(build *b, const fn_args *a, ptrvec *out) { return call_triangle(b, a, out, true); }
damo_status fn_triu(build *b, const fn_args *a, ptrvec *out) { return call_triangle(b, a, out, false); }

const op_def *const triangle_classes[] = {&triangle_def, NULL};
