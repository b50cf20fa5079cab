/* split: an array split along an axis: Split, whose inputs are x and the length of each part. The parts are views. */
#include "shape_int.h"
#include "graph/c_emit.h"

#include <string.h>

typedef struct split_data {
  op_alias *views;
  int n;
} split_data;

/* Props: axis, n. Every part is a view of x. */
static damo_status split_init(damo_op *op) {
  split_data *d = op->data;
  d->n = (int)OP_PROPS(op, split_props)->n.u.i;
  d->views = mem_alloc(op->obj.ctx, (size_t)(d->n + 1) * sizeof *d->views);
  if (!d->views) return DAMO_EMEMORY;
  for (int i = 0; i < d->n; i++) d->views[i] = (op_alias){(int16_t)i, 0};
  d->views[d->n] = (op_alias)OP_ALIAS_END;
  op->view_map = d->views;
  return DAMO_OK;
}

static void split_clear(damo_op *op) {
  split_data *d = op->data;
  if (d->views) mem_free(op->obj.ctx, d->views, (size_t)(d->n + 1) * sizeof *d->views);
}

static int split_count(const damo_op *op, int n_in) {
  (void)n_in;
  return (int)OP_PROPS(op, split_props)->n.u.i;
}

static damo_status split_bad_sizes(damo_ctx *ctx, int axis, int64_t sum, int64_t length) {
  return ctx_fail(ctx, DAMO_ESHAPE, "split: the sizes add up to %lld, but axis %d has length %lld", (long long)sum,
                  axis + 1, (long long)length);
}

static damo_status split_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *t = in[0]->type;
  int axis = (int)OP_PROPS(op, split_props)->axis.u.i - 1, n = n_in - 1, open = -1, unknown = 0;
  int64_t shape[DAMO_MAX_NDIM], sum = 0;
  if (!type_is_tensor(t) || axis >= t->ndim)
    return ctx_fail(ctx, DAMO_EINDEX, "split: axis %d of an operand with %d axes", axis + 1, t->ndim);
  if (n != OP_PROPS(op, split_props)->n.u.i)
    return ctx_fail(ctx, DAMO_ETYPE, "split: %d sizes for %lld parts", n, (long long)OP_PROPS(op, split_props)->n.u.i);
  for (int i = 0; i < n; i++) {
    int64_t v;
    DAMO_TRY(static_dims(ctx, "split", in + 1 + i, 1, &v));
    if (v >= 0)
      sum += v;
    else
      open = i, unknown++;
  }
  int64_t length = t->shape[axis];
  if (length >= 0 && (unknown ? sum > length : sum != length)) return split_bad_sizes(ctx, axis, sum, length);
  memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
  for (int i = 0; i < n; i++) {
    shape[axis] = -1;
    var_static_int(in[1 + i], &shape[axis]);
    if (i == open && unknown == 1 && length >= 0) shape[axis] = length - sum;
    out[i] = type_tensor(ctx, t->dtype, t->ndim, shape);
    if (!out[i]) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status split_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int axis = (int)OP_PROPS(t->node->op, split_props)->axis.u.i - 1;
  int64_t shape[DAMO_MAX_NDIM], sum = 0, at = 0;
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  for (int i = 1; i < t->n_in; i++) {
    int64_t v;
    DAMO_TRY(thunk_dims(t, f, "split", i, 1, &v));
    sum += v;
  }
  if (sum != array_shape(x)[axis]) return split_bad_sizes(f->ctx, axis, sum, array_shape(x)[axis]);
  for (int i = 1; i < t->n_in; i++) {
    shape[axis] = array_int(thunk_in(t, f, i));
    int64_t offset = shape[axis] ? at * array_strides(x)[axis] : 0;
    DAMO_TRY(thunk_out_view(t, f, i - 1, x, x->ndim, shape, array_strides(x), offset));
    at += shape[axis];
  }
  return DAMO_OK;
}

static damo_status split_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  int n = node->n_out;
  damo_var **xs = mem_alloc(b->ctx, (size_t)(n ? n : 1) * sizeof *xs);
  if (!xs) return b->status = DAMO_EMEMORY;
  bool any = false;
  damo_dtype dt = var_dtype(node->in[0]);
  for (int i = 0; i < n; i++)
    if (gout[i]) any = true, dt = var_dtype(gout[i]);
  for (int i = 0; i < n; i++) xs[i] = gout[i] ? gout[i] : build_zeros_of(b, node->out[i], dt);
  if (any) gin[0] = build_join(b, "split", (int)OP_PROPS(node->op, split_props)->axis.u.i - 1, xs, n);
  mem_free(b->ctx, xs, (size_t)(n ? n : 1) * sizeof *xs);
  return b->status;
}

static damo_status split_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (!eval[0]) return b->status;
  damo_apply *parts =
      build_split(b, eval[0], node->in + 1, node->n_out, (int)OP_PROPS(node->op, split_props)->axis.u.i - 1);
  for (int i = 0; parts && i < node->n_out; i++) rout[i] = parts->out[i];
  return b->status;
}

static damo_status split_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  int axis = (int)OP_PROPS(node->op, split_props)->axis.u.i - 1;
  for (int o = 0; o < node->n_out; o++)
    for (int i = 0; i < var_ndim(node->in[0]); i++) out_shape[o][i] = i == axis ? node->in[o + 1] : in_shape[0][i];
  return b->status;
}

static damo_status split_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                               damo_var **out) {
  const split_props *p = OP_PROPS(node->op, split_props);
  const split_props moved = {.axis = prop_int(k + p->axis.u.i), .n = p->n};
  for (int i = 1; i < node->n_in; i++) {
    if (batched[i]) return b->status; /* parts of different lengths */
  }
  return batch_apply(b, op_new(b->ctx, &split_def, &moved), node, in, out);
}

static damo_status split_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const int axis = (int)OP_PROPS(node->op, split_props)->axis.u.i - 1;
  const c_value *x = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM], at = 0;
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  for (int i = 1; i < node->n_in; i++) {
    DAMO_TRY(ce_int(e, i, "a length", &shape[axis]));
    if (shape[axis] < 0 || at + shape[axis] > x->shape[axis]) return ce_refuse(e, "its lengths do not fit");
    ce_out_view(e, i - 1, x, x->ndim, shape, x->strides, shape[axis] > 0 ? at * x->strides[axis] : 0);
    at += shape[axis];
  }
  return e->status;
}

static bool split_moves(const op_moves *m, damo_ctx *ctx) {
  (void)ctx;
  int32_t at = 0;
  for (int o = 0; o < m->node->n_out; o++) {
    const int64_t n = m->known[1 + o] != NULL ? scalar_to_int64(array_item(m->known[1 + o])) : -1;
    if (n < 0 || n > m->n_in[0] - at) return false;
    for (int32_t i = 0; i < n; i++) m->out[o * OP_MOVES_MOST + i] = (op_move){.in = 0, .at = at + i, .add = -1};
    m->n_out[o] = (int32_t)n;
    at += (int32_t)n;
  }
  return at == m->n_in[0];
}

const op_def split_def = {
    .name = "Split",
    .doc = "the parts of x along an axis",
    .props = PROPS(PROP_AXIS(split_props, axis), PROP_INTEGER(split_props, n, 0, INT16_MAX)),
    .n_in = OP_VARIADIC,
    .n_out = OP_VARIADIC,
    .count_out = split_count,
    .data_size = sizeof(split_data),
    .init = split_init,
    .clear = split_clear,
    .infer_type = split_type,
    .perform = split_perform,
    .emit_c = split_emit_c,
    .moves = split_moves,
    .grad = split_grad,
    .rop = split_rop,
    .infer_shape = split_infer_shape,
    .batch = split_batch,
    .connection_pattern = connect_first,
    .masks = MASKS_MOVED,
    .no_check = "dense: spec/op/rows/join.lua has results by hand and from plain loops",
};

damo_apply *build_split(build *b, damo_var *x, damo_var *const *sizes, int n, int axis) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (n > INT16_MAX) {
    build_fail(b, DAMO_EVALUE, "split: %d parts, at most %d", n, INT16_MAX);
    return NULL;
  }
  damo_var **in = mem_alloc(b->ctx, (size_t)(n + 1) * sizeof *in);
  if (!in) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  in[0] = x;
  for (int i = 0; i < n; i++) in[i + 1] = sizes[i];
  const split_props props = {.axis = prop_int(axis + 1), .n = prop_int(n)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &split_def, &props), in, n + 1);
  mem_free(b->ctx, in, (size_t)(n + 1) * sizeof *in);
  return node;
}

/* sizes: in the form of a shape option (shape_check) */
typedef struct split_options {
  prop_value sizes, axis;
} split_options;

static damo_status fn_split(build *b, const fn_args *a, ptrvec *out) {
  const split_options *o = FN_OPTIONS(a, split_options);
  damo_var *sizes[DAMO_MAX_NDIM];
  int n, k;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (!prop_given(o->sizes)) return ctx_fail(b->ctx, DAMO_ETYPE, "split: the sizes are missing");
  DAMO_TRY(axis_check(b->ctx, "split", prop_int_or(o->axis, 1), var_ndim(x), &k));
  DAMO_TRY(shape_check(b, "split", &o->sizes, sizes, &n));
  if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "split: no sizes");
  damo_apply *node = build_split(b, x, sizes, n, k);
  for (int i = 0; node && i < n; i++) DAMO_TRY(ptrvec_push(out, node->out[i]));
  return b->status;
}

const op_func split_funcs[] = {
    {.name = "split",
     .operands = "x",
     .options = OPTIONS(OPT(split_options, sizes, OPT_SHAPE), OPT(split_options, axis, OPT_INT)),
     .call = fn_split,
     .doc = "the parts of x along an axis, of these sizes; views"},
    {.name = NULL},
};

const op_def *const split_classes[] = {&split_def, NULL};
