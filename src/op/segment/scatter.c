/* scatter: rows written to positions along the first axis, where several that meet are added, or their maximum or
 * minimum is taken.
 *
 * scatter_add is inc_subtensor at a list. Scatter{kind}(x, ids, values), kind max or min: x with row ids[i] replaced by
 * its maximum (minimum) with values[i], for each i; values broadcasts to ids.shape + x.shape[1:]. Negative positions
 * count from the end. Where entries are equal, each takes the gradient, as those of the reduction max do.
 */
#include "segment_int.h"
#include "kernel/kernel.h"

#include <string.h>

static bool scatter_shapes_fit(const damo_type *x, const damo_type *ids, const damo_type *v) {
  const int n = ids->ndim + x->ndim - 1, lead = n - v->ndim;
  if (lead < 0 || n > DAMO_MAX_NDIM) return false;
  for (int i = lead; i < n; i++) {
    const int64_t have = v->shape[i - lead], want = i < ids->ndim ? ids->shape[i] : x->shape[i - ids->ndim + 1];
    if (have >= 0 && want >= 0 && have != 1 && have != want) return false;
  }
  return true;
}

static damo_status scatter_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const char *kind = OP_PROPS(op, segment_props)->kind.u.s;
  const damo_type *x = in[0]->type, *ids = in[1]->type, *v = in[2]->type;
  char from[160], to[160], at[160];
  if (!type_is_tensor(x) || !type_is_tensor(ids) || !type_is_tensor(v) || x->ndim < 1 || ids->dtype != DAMO_INT64 ||
      v->dtype != x->dtype)
    return ctx_fail(ctx, DAMO_ETYPE, "scatter_%s: expected a tensor with an axis, integer positions, and values of %s",
                    kind, type_is_tensor(x) ? dtype_name(x->dtype) : "its dtype");
  if (segment_fold(segment_kind_of(op), x->dtype) == NULL)
    return ctx_fail(ctx, DAMO_ETYPE, "scatter_%s is not defined for %s", kind, dtype_name(x->dtype));
  if (!scatter_shapes_fit(x, ids, v))
    return ctx_fail(ctx, DAMO_ESHAPE, "scatter_%s: values of shape %s do not broadcast to positions %s of a tensor %s",
                    kind, shape_format(from, sizeof from, v->ndim, v->shape),
                    shape_format(at, sizeof at, ids->ndim, ids->shape), shape_format(to, sizeof to, x->ndim, x->shape));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

#define SCATTER_PART 1024 /* positions between two points */

/* The positions as ids from 1 on, C-contiguous; index error for one outside. */
static damo_status scatter_ids(frame *f, const char *func, const damo_array *ids, int64_t n, int64_t *to) {
  array_copy_box(f->ctx, ids->data, array_strides(ids), (char *)to, NULL, ids->ndim, array_shape(ids), sizeof(int64_t));
  const int64_t count = array_size(ids);
  for (int64_t i = 0; i < count; i++) {
    int64_t at;
    DAMO_TRY(position_resolve(f->ctx, func, 0, n, to[i], &at));
    to[i] = at + 1;
    ctx_point_each(f->ctx, i, SCATTER_PART);
  }
  return DAMO_OK;
}

static damo_status scatter_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *ids = thunk_in(t, f, 1), *v = thunk_in(t, f, 2);
  const segment_kind kind = segment_kind_of(t->node->op);
  const size_t size = dtype_size(x->dtype);
  const int ndim = ids->ndim + x->ndim - 1;
  int64_t shape[2 * DAMO_MAX_NDIM], strides[2 * DAMO_MAX_NDIM], width = 1;
  char func[16] = "scatter_";
  strcat(func, segment_kind_name(kind));
  memcpy(shape, array_shape(ids), (size_t)ids->ndim * sizeof *shape);
  for (int i = 1; i < x->ndim; i++) {
    shape[ids->ndim + i - 1] = array_shape(x)[i];
    width *= array_shape(x)[i];
  }
  DAMO_TRY(broadcast_strides(f->ctx, func, v, t->node->in[2]->type, ndim, shape, strides));
  const int64_t n = array_size(ids);
  const size_t ids_size = ((size_t)n * sizeof(int64_t) + 63) & ~(size_t)63;
  char *scratch = thunk_scratch(t, f, ids_size + (size_t)(n * width) * size + 1);
  damo_array *out = scratch ? thunk_out(t, f, 0, array_dtype(x), x->ndim, array_shape(x)) : NULL;
  if (!out) return damo_error_status(f->ctx);
  int64_t *at = (int64_t *)(void *)scratch;
  DAMO_TRY(scatter_ids(f, func, ids, array_shape(x)[0], at));
  array_copy_box(f->ctx, v->data, strides, scratch + ids_size, NULL, ndim, shape, size);
  array_copy_box(f->ctx, x->data, array_strides(x), out->data, NULL, x->ndim, array_shape(x), size);
  segment_run(f->ctx, kind, array_dtype(x), at, n, scratch + ids_size, width, out->data, array_shape(x)[0]);
  return DAMO_OK;
}

static damo_var *where_equal(build *b, damo_var *x, damo_var *y, damo_var *g) {
  return build_switch(b, build_eq(b, x, y), g, build_num(b, 0));
}

static damo_status scatter_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *ids = node->in[1], *v = node->in[2], *g = gout[0], *y = node->out[0];
  if (g == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(y))) {
    gin[0] = build_zero_grad(b, x);
    gin[2] = build_zero_grad(b, v);
    return b->status;
  }
  gin[0] = where_equal(b, x, y, g);
  gin[2] = build_unbroadcast(b, where_equal(b, v, build_take_axis(b, y, ids, 0), build_take_axis(b, g, ids, 0)), v);
  return b->status;
}

/* At most one operand has a zero gradient at each result: with several equal ones the tangent is their sum. */
static damo_status scatter_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *x = node->in[0], *ids = node->in[1], *v = node->in[2], *y = node->out[0];
  if (!eval[0] && !eval[2]) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(y))) {
    rout[0] = build_zero_grad(b, y);
    return b->status;
  }
  rout[0] = eval[0] ? where_equal(b, x, y, eval[0]) : build_zeros_like(b, y);
  if (!eval[2] || !rout[0]) return b->status;
  damo_var *e = where_equal(b, v, build_take_axis(b, y, ids, 0), eval[2]);
  rout[0] = index_write(b, rout[0], e, false, var_ndim(ids) ? "l" : "i", &ids, 1);
  return b->status;
}

static void scatter_connected(const damo_apply *node, bool *connected) {
  (void)node;
  connected[1] = false;
}

static damo_status scatter_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *ids = ce_in(e, 1), *v = ce_in(e, 2);
  int64_t shape[2 * DAMO_MAX_NDIM], strides[2 * DAMO_MAX_NDIM], width = 1;
  const int ndim = ids->ndim + x->ndim - 1;
  memcpy(shape, ids->shape, (size_t)ids->ndim * sizeof *shape);
  for (int k = 1; k < x->ndim; k++) width *= shape[ids->ndim + k - 1] = x->shape[k];
  if (ndim > DAMO_MAX_NDIM) return ce_refuse(e, "too many axes");
  for (int k = 0; k < v->ndim; k++) {
    if (v->shape[k] != 1 && v->shape[k] != shape[ndim - v->ndim + k])
      return ce_refuse(e, "its operands' shapes do not agree");
  }
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  const c_value *at = ce_scratch_like(e, DAMO_INT64, ids->ndim, ids->shape);
  ce_strides_along(v, ndim, strides);
  const c_value *rows = ce_contiguous(e, ce_view(e, v, ndim, shape, strides, 0));
  if (out == NULL || at == NULL || rows == NULL) return e->status;
  if (dtype_is_complex(out->dtype)) return ce_refuse(e, "complex numbers");
  c_nest nest;
  ce_nest_init(e, &nest, ids->ndim, ids->shape, 2, (const int64_t *const[]){ids->strides, at->strides});
  ce_nest_open(e, &nest);
  const char *k = ce_text(e, "k%d", nest.id);
  ce_line(e, "const int64_t %s = %s[%s];", k, ce_p(e, ids), ce_nest_at(e, &nest, 0));
  ce_line(e, "%s[%s] = %s < 0 ? %s + %lld : %s;", ce_p(e, at), ce_nest_at(e, &nest, 1), k, k,
          (long long)x->shape[0] + 1, k);
  ce_nest_close(e, &nest);
  ce_copy(e, out, x);
  segment_emit_fold(e, segment_kind_of(node->op), at, rows, out, width, false);
  return e->status;
}

const op_def scatter_def = {
    .name = "Scatter",
    .doc = "the maximum or minimum of a tensor and of rows at positions",
    .props = PROPS(PROP_WORD(segment_props, kind, "sum", "prod", "max", "min")),
    .n_in = 3,
    .infer_type = scatter_infer_type,
    .perform = scatter_perform,
    .emit_c = scatter_emit_c,
    .grad = scatter_grad,
    .rop = scatter_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = scatter_connected,
    .no_check = "dense: spec/op/rows/segment.lua has results by hand and from plain loops",
};

damo_status fn_scatter(build *b, const fn_args *a, ptrvec *out) {
  const char *kind = a->func->name + strlen("scatter_");
  for (int i = 0; i < 3; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *x = build_strong(b, a->in[0]), *ids = build_integer(b, a->func->name, "the positions", a->in[1]);
  damo_var *v = x ? index_value(b, a->func->name, x, a->in[2]) : NULL;
  if (!x || !ids || !v) return b->status;
  if (var_ndim(x) == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operand has no axis", a->func->name);
  DAMO_TRY(position_check_known(b->ctx, a->func->name, ids));
  if (strcmp(kind, "add") == 0) return fn_give(b, out, index_write(b, x, v, false, var_ndim(ids) ? "l" : "i", &ids, 1));
  const segment_props p = {.kind = prop_str(kind)};
  damo_var *const in[3] = {x, ids, build_cast(b, v, var_dtype(x))};
  return fn_give(b, out, in[2] ? build_op(b, op_new(b->ctx, &scatter_def, &p), in, 3) : NULL);
}
