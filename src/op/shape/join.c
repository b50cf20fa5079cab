/* join: arrays concatenated along an axis: Join, which copies, and the functions made of it: concatenate, stack,
 * vstack, hstack.
 */
#include "shape_int.h"
#include "graph/c_emit.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- Join -------------------------------------------------------------------------------------------------------- */

/* Merges the shape of operand i into shape (all axes but `axis`); shape error when they disagree. */
static damo_status merge_shape(damo_ctx *ctx, int axis, int ndim, int64_t *shape, const int64_t *other, int i) {
  char a[160], c[160];
  for (int k = 0; k < ndim; k++) {
    if (k == axis) continue;
    if (shape[k] >= 0 && other[k] >= 0 && shape[k] != other[k])
      return ctx_fail(ctx, DAMO_ESHAPE,
                      "join: along axis %d, operand %d of shape %s does not fit shape %s: axis %d differs", axis + 1,
                      i + 1, shape_format(a, sizeof a, ndim, other), shape_format(c, sizeof c, ndim, shape), k + 1);
    if (shape[k] < 0) shape[k] = other[k];
  }
  return DAMO_OK;
}

static damo_status join_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int ndim = n_in ? var_ndim(in[0]) : 0, axis = (int)OP_PROPS(op, axis_props)->axis.u.i - 1;
  int64_t shape[DAMO_MAX_NDIM];
  if (n_in < 1) return ctx_fail(ctx, DAMO_EVALUE, "join: no operands");
  if (axis >= ndim) return ctx_fail(ctx, DAMO_EINDEX, "join: axis %d of operands with %d axes", axis + 1, ndim);
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (!type_is_tensor(t) || t->ndim != ndim)
      return ctx_fail(ctx, DAMO_ESHAPE, "join: operand %d has %d axes, the first has %d", i + 1, t->ndim, ndim);
    if (t->dtype != var_dtype(in[0]))
      return ctx_fail(ctx, DAMO_ETYPE, "join: operand %d is %s, the first is %s", i + 1, dtype_name(t->dtype),
                      dtype_name(var_dtype(in[0])));
    if (i == 0) {
      memcpy(shape, t->shape, (size_t)ndim * sizeof *shape);
      continue;
    }
    DAMO_TRY(merge_shape(ctx, axis, ndim, shape, t->shape, i));
    shape[axis] = shape[axis] < 0 || t->shape[axis] < 0 ? -1 : shape[axis] + t->shape[axis];
  }
  out[0] = type_tensor(ctx, var_dtype(in[0]), ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status join_perform(const thunk *t, frame *f) {
  const damo_array *first = thunk_in(t, f, 0);
  int ndim = first->ndim, axis = (int)OP_PROPS(t->node->op, axis_props)->axis.u.i - 1;
  int64_t shape[DAMO_MAX_NDIM], at = 0;
  memcpy(shape, array_shape(first), (size_t)ndim * sizeof *shape);
  for (int i = 1; i < t->n_in; i++) {
    DAMO_TRY(merge_shape(f->ctx, axis, ndim, shape, array_shape(thunk_in(t, f, i)), i));
    shape[axis] += array_shape(thunk_in(t, f, i))[axis];
  }
  damo_array *out = thunk_out(t, f, 0, array_dtype(first), ndim, shape);
  if (!out) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, f, i);
    array_copy_box(f->ctx, x->data, array_strides(x), out->data + at * array_strides(out)[axis], array_strides(out),
                   x->ndim, array_shape(x), dtype_size(x->dtype));
    at += array_shape(x)[axis];
  }
  return DAMO_OK;
}

static damo_status join_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  int axis = (int)OP_PROPS(node->op, axis_props)->axis.u.i - 1, n = node->n_in;
  damo_var **sizes = mem_alloc(b->ctx, (size_t)n * sizeof *sizes);
  if (!sizes) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) sizes[i] = build_dim(b, node->in[i], axis);
  damo_apply *parts = build_split(b, gout[0], sizes, n, axis);
  for (int i = 0; parts && i < n; i++) gin[i] = parts->out[i];
  mem_free(b->ctx, sizes, (size_t)n * sizeof *sizes);
  return b->status;
}

static damo_status join_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  int n = node->n_in;
  bool any = false;
  damo_var **xs = mem_alloc(b->ctx, (size_t)n * sizeof *xs);
  if (!xs) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) {
    any = any || eval[i];
    xs[i] = eval[i] ? eval[i] : build_zeros_like(b, node->in[i]);
  }
  if (any) rout[0] = build_op(b, damo_retain(node->op), xs, n);
  mem_free(b->ctx, xs, (size_t)n * sizeof *xs);
  return b->status;
}

static damo_status join_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  int axis = (int)OP_PROPS(node->op, axis_props)->axis.u.i - 1;
  damo_var *sum = in_shape[0][axis];
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  for (int i = 1; i < node->n_in; i++) sum = build_add(b, sum, in_shape[i][axis]);
  out_shape[0][axis] = sum;
  return b->status;
}

static damo_status join_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out) {
  DAMO_TRY(batch_agree(b, in, batched, node->n_in, k, true));
  const axis_props moved = {.axis = prop_int(k + OP_PROPS(node->op, axis_props)->axis.u.i)};
  return batch_apply(b, op_new(b->ctx, &join_def, &moved), node, in, out);
}

static damo_status join_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const int axis = (int)OP_PROPS(node->op, axis_props)->axis.u.i - 1;
  const c_value *first = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM], at = 0;
  memcpy(shape, first->shape, (size_t)first->ndim * sizeof *shape);
  for (int i = 1; i < node->n_in; i++) {
    const damo_status s = merge_shape(e->ctx, axis, first->ndim, shape, ce_in(e, i)->shape, i);
    if (s != DAMO_OK) return e->status = s;
    shape[axis] += ce_in(e, i)->shape[axis];
  }
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), first->ndim, shape);
  for (int i = 0; i < node->n_in && out != NULL; i++) {
    const c_value *x = ce_in(e, i);
    ce_copy(e, ce_view(e, out, out->ndim, x->shape, out->strides, at * out->strides[axis]), x);
    at += x->shape[axis];
  }
  return e->status;
}

static bool join_moves(const op_moves *m, damo_ctx *ctx) {
  (void)ctx;
  int32_t n = 0;
  for (int i = 0; i < m->node->n_in; i++) {
    for (int32_t k = 0; k < m->n_in[i]; k++) {
      if (n == OP_MOVES_MOST) return false;
      m->out[n++] = (op_move){.in = i, .at = k, .add = -1};
    }
  }
  m->n_out[0] = n;
  return true;
}

const op_def join_def = {
    .name = "Join",
    .doc = "operands one after the other along an axis",
    .props = PROPS(PROP_AXIS(axis_props, axis)),
    .n_in = OP_VARIADIC,
    .infer_type = join_type,
    .perform = join_perform,
    .emit_c = join_emit_c,
    .moves = join_moves,
    .grad = join_grad,
    .rop = join_rop,
    .infer_shape = join_infer_shape,
    .batch = join_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/join.lua has results by hand and from plain loops",
};

damo_var *build_join(build *b, const char *func, int axis, damo_var *const *xs, int n) {
  if (b->status != DAMO_OK) return NULL;
  if (n == 0) return build_fail(b, DAMO_EVALUE, "%s: no operands", func);
  if (n == 1) return xs[0];
  const axis_props p = {.axis = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &join_def, &p), xs, n);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The n operands promoted to one dtype, in a new array that join_operands_free frees; NULL on failure. */
static damo_var **join_promoted(build *b, damo_var *const *in, int n) {
  damo_var **xs = mem_alloc(b->ctx, (size_t)n * sizeof *xs);
  if (!xs) b->status = DAMO_EMEMORY;
  if (xs && build_resolve(b, in, n, true, xs) == DAMO_OK) return xs;
  if (xs) mem_free(b->ctx, xs, (size_t)n * sizeof *xs);
  return NULL;
}

static void join_operands_free(build *b, damo_var **xs, int n) { mem_free(b->ctx, xs, (size_t)n * sizeof *xs); }

damo_var *build_concatenate(build *b, const char *func, int axis, damo_var *const *xs, int n) {
  damo_var **own = b->status == DAMO_OK ? join_promoted(b, xs, n) : NULL;
  if (own == NULL) return NULL;
  damo_var *out = build_join(b, func, axis, own, n);
  join_operands_free(b, own, n);
  return out;
}

/* The operands of a call from `first` on, in the same way. */
static damo_var **join_bring_together(build *b, const fn_args *a, int first, int *n) {
  *n = a->n_in - first;
  if (*n < 1) {
    build_fail(b, DAMO_EVALUE, "%s: no operands", a->func->name);
    return NULL;
  }
  for (int i = first; i < a->n_in; i++) {
    if ((b->status = fn_check_tensor(a, b->ctx, i)) != DAMO_OK) return NULL;
  }
  return join_promoted(b, a->in + first, *n);
}

static damo_status join_axis(build *b, const fn_args *a, int first, int64_t axis, ptrvec *out) {
  int n, k;
  damo_var **xs = join_bring_together(b, a, first, &n);
  if (!xs) return b->status;
  damo_status s = axis_check(b->ctx, a->func->name, axis, var_ndim(xs[0]), &k);
  if (s == DAMO_OK) s = fn_give(b, out, build_join(b, a->func->name, k, xs, n));
  join_operands_free(b, xs, n);
  return s;
}

static damo_status fn_join(build *b, const fn_args *a, ptrvec *out) {
  damo_var *axis = build_integer(b, "join", "the axis", a->in[0]);
  int64_t k;
  if (!axis) return b->status;
  if (!var_static_int(axis, &k)) return ctx_fail(b->ctx, DAMO_ETYPE, "join: the axis must be a known integer");
  return join_axis(b, a, 1, k, out);
}

static damo_status fn_concatenate(build *b, const fn_args *a, ptrvec *out) {
  return join_axis(b, a, 0, prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1), out);
}

damo_var *build_new_axis(build *b, damo_var *x, int axis) {
  int pattern[DAMO_MAX_NDIM];
  if (!x) return NULL;
  if (var_ndim(x) >= DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "stack: more than %d axes", DAMO_MAX_NDIM);
  for (int i = 0; i <= var_ndim(x); i++) pattern[i] = i < axis ? i : i == axis ? -1 : i - 1;
  return build_dimshuffle(b, x, pattern, var_ndim(x) + 1);
}

static damo_status fn_stack(build *b, const fn_args *a, ptrvec *out) {
  const int64_t axis = prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1);
  int n, k;
  damo_var **xs = join_bring_together(b, a, 0, &n);
  if (!xs) return b->status;
  int ndim = var_ndim(xs[0]);
  damo_status s = axis_check(b->ctx, "stack", axis, ndim + 1, &k);
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    if (var_ndim(xs[i]) != ndim)
      s = ctx_fail(b->ctx, DAMO_ESHAPE, "stack: operand %d has %d axes, the first has %d", i + 1, var_ndim(xs[i]),
                   ndim);
    else if (!(xs[i] = build_new_axis(b, xs[i], k)))
      s = b->status;
  }
  if (s == DAMO_OK) s = fn_give(b, out, build_join(b, "stack", k, xs, n));
  join_operands_free(b, xs, n);
  return s;
}

/* vstack: operands of at least two axes, one above the other. hstack: side by side; vectors end to end. */
static damo_status fn_stack_along(build *b, const fn_args *a, ptrvec *out, int least, int axis) {
  int n;
  damo_var **xs = join_bring_together(b, a, 0, &n);
  if (!xs) return b->status;
  for (int i = 0; i < n; i++)
    while (xs[i] && var_ndim(xs[i]) < least) xs[i] = build_new_axis(b, xs[i], 0);
  if (axis > 0 && xs[0] && var_ndim(xs[0]) == 1) axis = 0;
  damo_status s = b->status == DAMO_OK ? fn_give(b, out, build_join(b, a->func->name, axis, xs, n)) : b->status;
  join_operands_free(b, xs, n);
  return s;
}
static damo_status fn_vstack(build *b, const fn_args *a, ptrvec *out) { return fn_stack_along(b, a, out, 2, 0); }
static damo_status fn_hstack(build *b, const fn_args *a, ptrvec *out) { return fn_stack_along(b, a, out, 1, 1); }

const op_func join_funcs[] = {
    {.name = "join",
     .operands = "axis xs...",
     .call = fn_join,
     .doc = "xs one after the other along an axis",
     .no_method = true},
    {.name = "concatenate",
     .operands = "xs...",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_concatenate,
     .doc = "xs one after the other along an axis",
     .no_method = true},
    {.name = "stack",
     .operands = "xs...",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_stack,
     .doc = "xs along a new axis",
     .no_method = true},
    {.name = "vstack", .operands = "xs...", .call = fn_vstack, .doc = "xs one above the other", .no_method = true},
    {.name = "hstack", .operands = "xs...", .call = fn_hstack, .doc = "xs side by side", .no_method = true},
    {.name = NULL},
};

const op_def *const join_classes[] = {&join_def, NULL};
