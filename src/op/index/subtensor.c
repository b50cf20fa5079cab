/* subtensor: reading and writing parts of a tensor by positions and ranges; the functions of the index family.
 *
 * The contract between these Ops and their callers (the Lua binding parses index tables into it):
 *
 *   subtensor(x, {idx…}, {spec=})                    x[…]
 *   set_subtensor_at(x, y, {idx…}, {spec=}) x with y written there
 *   inc_subtensor_at(x, y, {idx…}, {spec=})          x with y added there; repeated positions add up
 *
 * spec has one group of characters for each item of the index table, in order; items consume operands idx in order:
 *
 *   i      a position: one integer scalar
 *   sABC   a range; A, B, C are 1 where start, stop, step are operands (consumed in that order), 0 where they are
 *          absent: {} is s000, {2, 4} is s110, {nil, 3} is s010, {1, -1, 2} is s111
 *   n      newaxis
 *   e      ellipsis (at most one; axes that no item names are whole)
 *   l      a list: one integer tensor of any rank, or a boolean tensor (a mask, which takes as many axes as it has)
 *
 * Positions are 1-based, ranges inclusive, negative numbers count from the end. A range whose stop lies before its
 * start in the direction of its step is empty (a stop of 0 included); any other end outside the axis is an index error,
 * while building where the lengths are known. Operands may be literals and constants of any dtype whose entries are
 * integers. A 0-d `l` is an `i`. y broadcasts to the shape of x[…] and must convert to x's dtype within its kind or
 * upward.
 *
 * Without a list the Op is Subtensor{spec} (a view) or IncSubtensor{spec, set_instead_of_inc, inplace}, else
 * AdvancedSubtensor{spec} or AdvancedIncSubtensor{spec, set_instead_of_inc, inplace} (advanced.c). Inputs are x, (y,)
 * idx… as int64 (masks bool): the property `spec` and the inputs of a node are all that a write to x[…] needs, and
 * set_subtensor(x[…], y) and inc_subtensor(x[…], y) read them from the node of x[…].
 */
#include "index_c.h"
#include "index_int.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

/* ---- The box that basic items select ---------------------------------------------------------------------------- */

typedef struct box {
  int ndim;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], offset;
} box;

static damo_status box_push(damo_ctx *ctx, box *r, int64_t length, int64_t stride) {
  if (r->ndim == DAMO_MAX_NDIM) return ctx_fail(ctx, DAMO_EINDEX, "index: more than %d axes", DAMO_MAX_NDIM);
  r->shape[r->ndim] = length;
  r->strides[r->ndim++] = stride;
  return DAMO_OK;
}

/* Adds the item, which applies to x's axis *axis, to the box; v are the values of its operands. Advances *axis. */
static damo_status box_item(damo_ctx *ctx, const index_item *it, const damo_array *x, int *axis, const int64_t *v,
                            box *r) {
  if (it->kind == ITEM_NEWAXIS) return box_push(ctx, r, 1, (int64_t)dtype_size(x->dtype));
  if (it->kind == ITEM_ELLIPSIS) return DAMO_OK;
  int64_t n = array_shape(x)[*axis], stride = array_strides(x)[*axis], first, count;
  int k = (*axis)++;
  if (it->kind == ITEM_POSITION) {
    DAMO_TRY(position_resolve(ctx, "index", k, n, v[0], &first));
    r->offset += first * stride;
    return DAMO_OK;
  }
  const int64_t *end[3] = {NULL, NULL, NULL};
  for (int e = 0; e < 3; e++)
    if (it->given >> e & 1) end[e] = v++;
  int64_t step = end[2] ? *end[2] : 1;
  DAMO_TRY(range_resolve(ctx, "index", k, n, end[0], end[1], step, &first, &count));
  r->offset += first * stride;
  return box_push(ctx, r, count, count > 1 ? stride * step : stride);
}

/* The box of x that the thunk's spec selects; index operands are the inputs from `first` on. */
static damo_status subtensor_box_of(const thunk *t, frame *f, int first, const damo_array *x, box *r) {
  const index_spec *spec = t->node->op->data;
  index_axes axes;
  int axis = 0;
  r->ndim = 0;
  r->offset = 0;
  DAMO_TRY(index_axes_of(f->ctx, "index", spec, x->ndim, NULL, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++, axis++)
      DAMO_TRY(box_push(f->ctx, r, array_shape(x)[axis], array_strides(x)[axis]));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    int64_t v[3] = {0, 0, 0};
    int n = it->kind == ITEM_POSITION ? 1 : (it->given & 1) + (it->given >> 1 & 1) + (it->given >> 2 & 1);
    for (int k = 0; k < n; k++) v[k] = array_int(thunk_in(t, f, first + it->operand + k));
    DAMO_TRY(box_item(f->ctx, it, x, &axis, v, r));
  }
  return DAMO_OK;
}

/* The static shape of x[spec]. */
static damo_status box_type(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const index_spec *spec = op->data;
  index_axes axes;
  box r = {.ndim = 0};
  int axis = 0;
  if (!type_is_tensor(x)) return ctx_fail(ctx, DAMO_ETYPE, "index: the operand must be a tensor");
  if (n_idx != spec->n_operands)
    return ctx_fail(ctx, DAMO_ETYPE, "index: %d operands for spec '%s'", n_idx, OP_PROPS(op, index_props)->spec.u.s);
  DAMO_TRY(index_axes_of(ctx, "index", spec, x->ndim, NULL, &axes));
  for (int i = 0; i < n_idx; i++)
    if (!type_is_tensor(idx[i]->type) || var_ndim(idx[i]) != 0 || var_dtype(idx[i]) != DAMO_INT64)
      return ctx_fail(ctx, DAMO_ETYPE, "index: a position or an end of a range must be an integer scalar");
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++) DAMO_TRY(box_push(ctx, &r, x->shape[axis++], 0));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    damo_var *ends[3];
    int64_t v, count;
    if (it->kind == ITEM_NEWAXIS) DAMO_TRY(box_push(ctx, &r, 1, 0));
    if (it->kind == ITEM_POSITION) {
      if (x->shape[axis] < 0) DAMO_TRY(position_check_known(ctx, "index", idx[it->operand]));
      if (x->shape[axis] >= 0 && var_static_int(idx[it->operand], &v))
        DAMO_TRY(position_resolve(ctx, "index", axis, x->shape[axis], v, &v));
      axis++;
    }
    if (it->kind != ITEM_RANGE) continue;
    range_ends(it, idx, ends);
    DAMO_TRY(range_static(ctx, "index", axis, x->shape[axis], ends, &count));
    axis++;
    DAMO_TRY(box_push(ctx, &r, count, 0));
  }
  *out = type_tensor(ctx, x->dtype, r.ndim, r.shape);
  return *out ? DAMO_OK : DAMO_EMEMORY;
}

/* ---- Subtensor --------------------------------------------------------------------------------------------------- */

static damo_status subtensor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return box_type(op, in[0]->type, in + 1, n_in - 1, &out[0]);
}

static damo_status subtensor_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  box r;
  DAMO_TRY(subtensor_box_of(t, f, 1, x, &r));
  return thunk_out_view(t, f, 0, x, r.ndim, r.shape, r.strides, r.offset);
}

static damo_status subtensor_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  const index_spec *spec = node->op->data;
  const int64_t *known = node->out[0]->type->shape;
  index_axes axes;
  int axis = 0, o = 0;
  DAMO_TRY(index_axes_of(b->ctx, "index", spec, var_ndim(node->in[0]), NULL, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++) out_shape[0][o++] = in_shape[0][axis++];
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    damo_var *ends[3];
    if (it->kind == ITEM_NEWAXIS) out_shape[0][o++] = build_i64(b, 1);
    if (it->kind == ITEM_POSITION) axis++;
    if (it->kind != ITEM_RANGE) continue;
    range_ends(it, node->in + 1, ends);
    damo_var *n = in_shape[0][axis++];
    out_shape[0][o] = known[o] >= 0 ? build_i64(b, known[o]) : range_length(b, n, ends);
    o++;
  }
  return b->status;
}

/* The elements of a vector that the spec takes, by constants from operand `first` on: positions first_at, + step, …
 * *count: how many; of a position 1. False: it is another spec, or is not known, or fails. */
static bool known_elements(const op_moves *m, damo_ctx *ctx, int first, int64_t *first_at, int64_t *step,
                           int64_t *count) {
  const index_spec *spec = m->node->op->data;
  if (spec->n != 1 || var_ndim(m->node->in[0]) != 1) return false;
  const index_item *it = &spec->item[0];
  int64_t v[3] = {0, 0, 1}; /* start, stop, step */
  const int n_given = it->kind == ITEM_POSITION ? 1 : 3;
  for (int k = 0, at = first + it->operand; k < n_given; k++) {
    if (it->kind != ITEM_POSITION && (it->given >> k & 1) == 0) continue;
    if (m->known[at] == NULL) return false;
    v[k] = scalar_to_int64(array_item(m->known[at++]));
  }
  damo_status s = DAMO_EVALUE;
  *step = v[2];
  *count = 1;
  if (it->kind == ITEM_POSITION)
    s = position_resolve(ctx, "index", 0, m->n_in[0], v[0], first_at);
  else if (it->kind == ITEM_RANGE)
    s = range_resolve(ctx, "index", 0, m->n_in[0], it->given & 1 ? &v[0] : NULL, it->given & 2 ? &v[1] : NULL, v[2],
                      first_at, count);
  else
    return false;
  if (s != DAMO_OK) ctx_clear_error(ctx);
  return s == DAMO_OK && *count <= OP_MOVES_MOST;
}

static bool subtensor_moves(const op_moves *m, damo_ctx *ctx) {
  int64_t at, step, n;
  if (!known_elements(m, ctx, 1, &at, &step, &n)) return false;
  for (int64_t i = 0; i < n; i++) m->out[i] = (op_move){.in = 0, .at = (int32_t)(at + i * step), .add = -1};
  m->n_out[0] = (int32_t)n;
  return true;
}

static bool incsubtensor_moves(const op_moves *m, damo_ctx *ctx) {
  const bool set = OP_PROPS(m->node->op, index_props)->set_instead_of_inc.u.i != 0;
  int64_t at, step, n;
  if (!known_elements(m, ctx, 2, &at, &step, &n) || (m->n_in[1] != n && m->n_in[1] != 1)) return false;
  for (int32_t i = 0; i < m->n_in[0]; i++) m->out[i] = (op_move){.in = 0, .at = i, .add = -1};
  for (int64_t i = 0; i < n; i++) {
    const int32_t from = m->n_in[1] == 1 ? 0 : (int32_t)i;
    op_move *to = &m->out[at + i * step];
    *to = set ? (op_move){.in = 1, .at = from, .add = -1}
              : (op_move){.in = 0, .at = (int32_t)(at + i * step), .add = 1, .add_at = from};
  }
  m->n_out[0] = m->n_in[0];
  return true;
}

const op_def subtensor_def = {
    .name = "Subtensor",
    .doc = "x at positions and ranges; a view",
    .props = PROPS(PROP(index_props, spec)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_op_init,
    .view_map = alias_first,
    .infer_type = subtensor_type,
    .perform = subtensor_perform,
    .emit_c = subtensor_emit_c,
    .moves = subtensor_moves,
    .grad = index_read_grad,
    .rop = index_read_rop,
    .infer_shape = subtensor_infer_shape,
    .batch = index_read_batch,
    .connection_pattern = connect_first,
    .notate = index_read_notate,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

/* ---- IncSubtensor ------------------------------------------------------------------------------------------------ */

damo_status index_write_init(damo_op *op) {
  DAMO_TRY(index_op_init(op));
  if (OP_PROPS(op, index_props)->inplace.u.i) op->destroy_map = alias_first;
  return DAMO_OK;
}

damo_status index_write_type(const damo_op *op, damo_var *const *in, const damo_type *region, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *x = in[0]->type, *y = in[1]->type;
  char from[160], to[160];
  if (!type_is_tensor(y) || y->dtype != x->dtype)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: the value must be a %s tensor", op->def->name, dtype_name(x->dtype));
  int lead = region->ndim - y->ndim;
  bool ok = lead >= 0;
  for (int i = 0; i < y->ndim && ok; i++) {
    int64_t n = y->shape[i], m = region->shape[lead + i];
    ok = n < 0 || m < 0 || n == 1 || n == m;
  }
  if (!ok)
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: a value of shape %s does not broadcast to the indexed part of shape %s",
                    OP_PROPS(op, index_props)->set_instead_of_inc.u.i ? "set_subtensor" : "inc_subtensor",
                    shape_format(from, sizeof from, y->ndim, y->shape),
                    shape_format(to, sizeof to, region->ndim, region->shape));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

damo_status index_write_strides(const thunk *t, frame *f, const damo_array *y, int ndim, const int64_t *shape,
                                int64_t *strides) {
  const damo_apply *node = t->node;
  return broadcast_strides(f->ctx,
                           OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i ? "set_subtensor" : "inc_subtensor",
                           y, node->in[1]->type, ndim, shape, strides);
}

static damo_status incsubtensor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_type *region = NULL;
  if (n_in < 2) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: x and y are needed", op->def->name);
  DAMO_TRY(box_type(op, in[0]->type, in + 2, n_in - 2, &region));
  damo_status s = index_write_type(op, in, region, out);
  damo_release(region);
  return s;
}

static damo_status incsubtensor_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  int64_t from[DAMO_MAX_NDIM];
  const char *data = y->data;
  box r;
  DAMO_TRY(subtensor_box_of(t, f, 2, x, &r));
  DAMO_TRY(index_write_strides(t, f, y, r.ndim, r.shape, from));
  damo_array *out = thunk_out_inplace(t, f, 0, 0);
  if (!out) return DAMO_EMEMORY;
  if (out == x && array_may_overlap(out, y) && array_size(y) > 0) {
    size_t size = dtype_size(y->dtype);
    int64_t step = (int64_t)size;
    char *copy = thunk_scratch(t, f, (size_t)array_size(y) * size);
    if (!copy) return DAMO_EMEMORY;
    array_copy_box(f->ctx, y->data, array_strides(y), copy, NULL, y->ndim, array_shape(y), size);
    for (int i = y->ndim - 1; i >= 0; i--) {
      from[r.ndim - y->ndim + i] = array_shape(y)[i] == 1 ? 0 : step;
      step *= array_shape(y)[i];
    }
    data = copy;
  }
  if (out != x) DAMO_TRY(subtensor_box_of(t, f, 2, out, &r));
  box_move(array_dtype(x), !OP_PROPS(t->node->op, index_props)->set_instead_of_inc.u.i, out->data + r.offset, r.strides,
           data, from, r.ndim, r.shape);
  return DAMO_OK;
}

void index_write_connected(const damo_apply *node, bool *connected) {
  for (int i = 2; i < node->n_in; i++) connected[i] = false;
}

const op_def incsubtensor_def = {
    .name = "IncSubtensor",
    .doc = "x with y set or added at positions and ranges",
    .props =
        PROPS(PROP(index_props, spec), PROP_FLAG(index_props, set_instead_of_inc), PROP_FLAG(index_props, inplace)),
    .n_in = OP_VARIADIC,
    .least_in = 2,
    .data_size = sizeof(index_spec),
    .init = index_write_init,
    .infer_type = incsubtensor_type,
    .perform = incsubtensor_perform,
    .emit_c = index_write_emit_c,
    .emit_c_settles = true,
    .moves = incsubtensor_moves,
    .grad = index_write_grad,
    .rop = index_write_rop,
    .infer_shape = infer_shape_same,
    .batch = index_write_batch,
    .connection_pattern = index_write_connected,
    .notate = index_write_notate,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

/* ---- Building, and gradients of all four Ops --------------------------------------------------------------------- */

static damo_var *apply_index(build *b, damo_op *take_op, damo_var *x, damo_var *y, damo_var *const *idx, int n) {
  damo_var *in[2 + 3 * INDEX_MAX_ITEMS];
  int k = 0;
  in[k++] = x;
  if (y) in[k++] = y;
  for (int i = 0; i < n; i++) in[k++] = idx[i];
  return build_op(b, take_op, in, k);
}

damo_var *index_read(build *b, damo_var *x, const char *spec, damo_var *const *idx, int n) {
  if (!x || b->status != DAMO_OK) return NULL;
  const index_props p = {.spec = prop_str(spec)};
  const op_def *def = strchr(spec, 'l') ? &advsubtensor_def : &subtensor_def;
  return apply_index(b, op_new(b->ctx, def, &p), x, NULL, idx, n);
}

damo_var *index_write(build *b, damo_var *x, damo_var *y, bool set, const char *spec, damo_var *const *idx, int n) {
  if (!x || !y || b->status != DAMO_OK) return NULL;
  const index_props p = {.spec = prop_str(spec), .set_instead_of_inc = prop_bool(set), .inplace = prop_bool(false)};
  const op_def *def = strchr(spec, 'l') ? &advincsubtensor_def : &incsubtensor_def;
  y = build_cast(b, y, var_dtype(x));
  return y ? apply_index(b, op_new(b->ctx, def, &p), x, y, idx, n) : NULL;
}

static const char *subtensor_spec_of(const damo_apply *node) { return OP_PROPS(node->op, index_props)->spec.u.s; }

damo_status index_read_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *zeros = gout[0] ? build_zeros_of(b, node->in[0], var_dtype(gout[0])) : NULL;
  if (zeros) gin[0] = index_write(b, zeros, gout[0], false, subtensor_spec_of(node), node->in + 1, node->n_in - 1);
  return b->status;
}

damo_status index_read_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = index_read(b, eval[0], subtensor_spec_of(node), node->in + 1, node->n_in - 1);
  return b->status;
}

/* Whether an index may name an entry twice: a list of positions that is no mask, and no constant vector of different
 * positions that all count from the same end. */
static bool may_repeat(const damo_apply *node) {
  const index_spec *spec = node->op->data;
  int lists = 0;
  for (int i = 0; i < spec->n; i++) {
    if (spec->item[i].kind != ITEM_LIST) continue;
    const damo_var *list = node->in[2 + spec->item[i].operand];
    const damo_array *known = var_constant_array(list);
    if (var_dtype(list) == DAMO_BOOL && lists++ == 0) continue;
    if (!known || known->ndim != 1 || lists++ > 0) return true;
    const int64_t n = array_shape(known)[0];
    if (n > 64) return true;
    for (int64_t k = 0; k < n; k++) {
      const int64_t at = scalar_to_int64(array_get(known, &k));
      for (int64_t j = 0; j < k; j++) {
        const int64_t other = scalar_to_int64(array_get(known, &j));
        if (at == other || (at < 0) != (other < 0)) return true;
      }
    }
  }
  return false;
}

/* g where a write of the node is the last one at its place, 0 where another one replaces it: the numbers of the entries
 * are written in their place and read again. g: of the shape of the indexed part. */
static damo_var *where_last(build *b, const damo_apply *node, damo_var *g) {
  const char *spec = subtensor_spec_of(node);
  if (!g) return NULL;
  damo_var *zeros = build_zeros_of(b, node->in[0], DAMO_INT64), *flat = build_ravel(b, g);
  damo_var *order = build_reshape_like(b, build_range(b, build_i64(b, 1), build_dim(b, flat, 0)), g);
  damo_var *written = index_write(b, zeros, order, true, spec, node->in + 2, node->n_in - 2);
  damo_var *read = index_read(b, written, spec, node->in + 2, node->n_in - 2);
  return read ? build_switch(b, build_eq(b, read, order), g, build_num(b, 0)) : NULL;
}

damo_status index_write_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *const *idx = node->in + 2;
  int n = node->n_in - 2;
  if (!g) return b->status;
  bool set = OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i;
  gin[0] = set ? index_write(b, g, build_scalar(b, var_dtype(g), 0), true, subtensor_spec_of(node), idx, n) : g;
  damo_var *part = index_read(b, g, subtensor_spec_of(node), idx, n);
  if (set && may_repeat(node)) part = where_last(b, node, part);
  gin[1] = build_unbroadcast(b, part, node->in[1]);
  return b->status;
}

damo_status index_write_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (!eval[0] && !eval[1]) return b->status;
  damo_var *x = eval[0] ? eval[0] : build_zeros_like(b, node->in[0]);
  damo_var *y = eval[1] ? eval[1] : build_zeros_like(b, node->in[1]);
  rout[0] = index_write(b, x, y, OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i, subtensor_spec_of(node),
                        node->in + 2, node->n_in - 2);
  return b->status;
}

/* A 0-based end of a range as a 1-based inclusive one: v + shift, where a negative constant (counted from the end) gets
 * one less. */
static damo_var *shift_end(build *b, damo_var *v, int64_t shift) {
  int64_t known;
  if (!v) return NULL;
  if (var_static_int(v, &known)) return build_i64(b, known < 0 ? known + shift - 1 : known + shift);
  v = build_integer(b, "index", "the end of a range", v);
  return shift == 0 ? v : build_add(b, v, build_i64(b, shift));
}

/* 0-based half-open start:stop is 1-based inclusive start + 1 … stop, backward start + 1 … stop + 2. */
damo_var *build_slice(build *b, damo_var *x, int axis, damo_var *start, damo_var *stop, int64_t step) {
  char spec[4 * DAMO_MAX_NDIM + 1], *p = spec;
  damo_var *idx[3];
  int n = 0;
  if (!x || b->status != DAMO_OK) return NULL;
  for (int i = 0; i < axis; i++, p += 4) memcpy(p, "s000", 4);
  snprintf(p, 5, "s%d%d%d", start != NULL, stop != NULL, step != 1);
  if (start) idx[n++] = shift_end(b, start, 1);
  if (stop) idx[n++] = shift_end(b, stop, step > 0 ? 0 : 2);
  if (step != 1) idx[n++] = build_i64(b, step);
  return b->status == DAMO_OK ? index_read(b, x, spec, idx, n) : NULL;
}

damo_var *build_index(build *b, damo_var *x, int axis, damo_var *position0) {
  char spec[4 * DAMO_MAX_NDIM + 2], *p = spec;
  if (!x || !position0 || b->status != DAMO_OK) return NULL;
  for (int i = 0; i < axis; i++, p += 4) memcpy(p, "s000", 4);
  memcpy(p, "i", 2);
  damo_var *position = shift_end(b, position0, 1);
  return position ? index_read(b, x, spec, &position, 1) : NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The operands from `first` on, converted for the Ops, into idx, and the spec with 0-d lists made positions into text.
 * The caller gives space for 3 INDEX_MAX_ITEMS operands and SPEC_TEXT characters. */
static damo_status index_operands(build *b, const fn_args *a, int first, char *text, damo_var **idx, int *n) {
  index_spec spec;
  const char *f = a->func->name, *given = prop_str_or(FN_OPTIONS(a, index_options)->spec, NULL);
  if (given == NULL) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option spec is missing", f);
  DAMO_TRY(index_spec_parse(b->ctx, given, &spec));
  *n = a->n_in - first;
  if (*n != spec.n_operands)
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: spec '%s' wants %d operands, got %d", f, given, spec.n_operands, *n);
  strcpy(text, given);
  char *p = text;
  for (int i = 0; i < spec.n; p += spec.item[i].kind == ITEM_RANGE ? 4 : 1, i++) {
    const index_item *it = &spec.item[i];
    int count = it->kind == ITEM_RANGE ? (it->given & 1) + (it->given >> 1 & 1) + (it->given >> 2 & 1)
                                       : it->kind == ITEM_POSITION || it->kind == ITEM_LIST;
    for (int k = it->operand; k < it->operand + count; k++) {
      damo_var *v = a->in[first + k];
      bool list = it->kind == ITEM_LIST;
      bool mask = list && type_is_tensor(v->type) && var_dtype(v) == DAMO_BOOL && var_ndim(v) > 0;
      idx[k] = mask ? v : build_integer(b, "index", list ? "a list of positions" : "positions and ends of ranges", v);
      if (!idx[k]) return b->status;
      if (list) DAMO_TRY(position_check_known(b->ctx, "index", idx[k]));
      if (list && var_ndim(idx[k]) == 0) *p = 'i';
    }
  }
  return DAMO_OK;
}

#define SPEC_TEXT (4 * INDEX_MAX_ITEMS + 1)

static damo_status fn_subtensor(build *b, const fn_args *a, ptrvec *out) {
  damo_var *idx[3 * INDEX_MAX_ITEMS];
  char spec[SPEC_TEXT];
  int n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  DAMO_TRY(index_operands(b, a, 1, spec, idx, &n));
  return fn_give(b, out, index_read(b, x, spec, idx, n));
}

/* The kinds in ascending order: bool, integer, float, complex. */
static int kind_level(damo_dtype dt) {
  return dt == DAMO_BOOL ? 0 : dtype_is_integer(dt) ? 1 : dtype_is_float(dt) ? 2 : 3;
}

damo_var *index_value(build *b, const char *func, damo_var *x, damo_var *y) {
  damo_var *pair[2] = {x, y};
  if (!type_is_tensor(y->type)) return build_fail(b, DAMO_ETYPE, "%s: the value must be a tensor", func);
  if (build_resolve(b, pair, 2, false, pair) != DAMO_OK) return NULL;
  if (kind_level(var_dtype(pair[1])) > kind_level(var_dtype(x)))
    return build_fail(b, DAMO_ETYPE, "%s: values of %s do not fit into a tensor of %s; cast one of them", func,
                      dtype_name(var_dtype(pair[1])), dtype_name(var_dtype(x)));
  return pair[1];
}

static damo_status write_at(build *b, const fn_args *a, ptrvec *out, bool set) {
  damo_var *idx[3 * INDEX_MAX_ITEMS];
  char spec[SPEC_TEXT];
  int n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *x = build_strong(b, a->in[0]),
           *y = x ? index_value(b, set ? "set_subtensor" : "inc_subtensor", x, a->in[1]) : NULL;
  if (!y) return b->status;
  DAMO_TRY(index_operands(b, a, 2, spec, idx, &n));
  return fn_give(b, out, index_write(b, x, y, set, spec, idx, n));
}
static damo_status fn_set_at(build *b, const fn_args *a, ptrvec *out) { return write_at(b, a, out, true); }
static damo_status fn_inc_at(build *b, const fn_args *a, ptrvec *out) { return write_at(b, a, out, false); }

/* The first operand is the Variable x[…]; the result is x with y written there. */
static damo_status write_part(build *b, const fn_args *a, ptrvec *out, bool set) {
  const damo_apply *node = a->in[0]->owner;
  if (!node || (node->op->def != &subtensor_def && node->op->def != &advsubtensor_def))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the first argument must be a part of a Variable, x[…]", a->func->name);
  damo_var *x = node->in[0], *y = index_value(b, set ? "set_subtensor" : "inc_subtensor", x, a->in[1]);
  return fn_give(b, out, y ? index_write(b, x, y, set, subtensor_spec_of(node), node->in + 1, node->n_in - 1) : NULL);
}
static damo_status fn_set_subtensor(build *b, const fn_args *a, ptrvec *out) { return write_part(b, a, out, true); }
static damo_status fn_inc_subtensor(build *b, const fn_args *a, ptrvec *out) { return write_part(b, a, out, false); }

const op_func index_funcs[] = {
    {.name = "subtensor",
     .operands = "x idx...",
     .options = OPTIONS(OPT(index_options, spec, OPT_STR)),
     .call = fn_subtensor,
     .doc = "x at an index: x[{2, {1, 3}}] is subtensor(x, {2, 1, 3}, {spec=\"is110\"}); spec has for each item i "
            "(position), "
            "s and three digits (range: 1 where idx has its start, stop, step), n (newaxis), e (ellipsis) or l (list "
            "or mask)"},
    {.name = "set_subtensor_at",
     .operands = "x y idx...",
     .options = OPTIONS(OPT(index_options, spec, OPT_STR)),
     .call = fn_set_at,
     .doc = "x with y set at an index; spec as subtensor's"},
    {.name = "inc_subtensor_at",
     .operands = "x y idx...",
     .options = OPTIONS(OPT(index_options, spec, OPT_STR)),
     .call = fn_inc_at,
     .doc = "x with y added at an index, repeated positions adding up; spec as subtensor's"},
    {.name = "set_subtensor",
     .operands = "x y",
     .call = fn_set_subtensor,
     .doc = "the tensor that x is a part of, with y in that part"},
    {.name = "inc_subtensor",
     .operands = "x y",
     .call = fn_inc_subtensor,
     .doc = "the tensor that x is a part of, with y added to that part"},
    {.name = "take",
     .operands = "x indices",
     .options = OPTIONS(OPT(move_options, axis, OPT_INT), OPT(move_options, mode, OPT_STR)),
     .call = fn_take,
     .doc = "entries of x at 1-based positions along an axis; of all entries in order without one; mode: positions "
            "outside \"raise\" an error, \"wrap\" around, \"clip\" to the ends",
     .remedy = "damo.sparse.get_item_list(x, list, {axis=}) takes rows or columns"},
    {.name = "take_along_axis",
     .operands = "x indices",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_take_along_axis,
     .doc = "entries of x at positions along one axis, chosen for each index of the other axes"},
    {.name = "one_hot",
     .operands = "x n",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_one_hot,
     .doc = "a last axis of n classes, one at the 1-based class that x names"},
    {.name = "to_one_hot",
     .operands = "x n",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_one_hot,
     .doc = "a last axis of n classes, one at the 1-based class that x names"},
    {.name = "nonzero",
     .operands = "x",
     .call = fn_nonzero,
     .doc = "the positions of entries that are not zero, a vector for each axis"},
    {.name = "flatnonzero",
     .operands = "x",
     .call = fn_flatnonzero,
     .doc = "the positions of entries that are not zero among all entries in order"},
    {.name = "nonzero_values",
     .operands = "x",
     .call = fn_nonzero_values,
     .doc = "the entries that are not zero, in order, as a vector"},
    {.name = "argwhere",
     .operands = "x",
     .call = fn_argwhere,
     .doc = "the positions of entries that are not zero, a row for each"},
    {.name = "compress",
     .operands = "condition x",
     .options = OPTIONS(OPT(move_options, axis, OPT_INT)),
     .call = fn_compress,
     .doc = "the slices along an axis where a bool vector is true; of all entries in order without one"},
    {.name = "extract",
     .operands = "condition x",
     .call = fn_extract,
     .doc = "the entries of x where the condition is not zero, in order"},
    {.name = "choose",
     .operands = "x choices...",
     .options = OPTIONS(OPT(move_options, mode, OPT_STR)),
     .call = fn_choose,
     .doc = "entry by entry of the choice whose number x has; mode as take's",
     .no_method = true,
     .bare_list = true},
    {.name = "select",
     .operands = "items...",
     .options = OPTIONS({"default", OPT_VAR, 0, "select_default_options"}),
     .call = fn_select,
     .doc =
         "conditions, then as many choices: entry by entry of the choice whose condition is the first that holds, else "
         "the default, 0; damo.select(conditions, choices, default) calls it",
     .no_method = true},
    {.name = "put",
     .operands = "x indices values",
     .options = OPTIONS(OPT(move_options, mode, OPT_STR)),
     .call = fn_put,
     .doc = "x with values at positions among all entries in order, repeated where there are fewer; mode as take's"},
    {.name = "put_along_axis",
     .operands = "x indices values",
     .options = OPTIONS(OPT(move_options, axis, OPT_INT)),
     .call = fn_put_along_axis,
     .doc = "x with values at positions along one axis (default -1), chosen for each index of the other axes"},
    {.name = "fill_diagonal",
     .operands = "x value",
     .options = OPTIONS(OPT(move_options, wrap, OPT_BOOL)),
     .call = fn_fill_diagonal,
     .doc = "x with a value on its diagonal; wrap: which begins again below the last column of a tall matrix"},
    {.name = NULL},
};
