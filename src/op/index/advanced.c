/* advanced: indexing by integer lists and boolean masks: AdvancedSubtensor, AdvancedIncSubtensor. advanced.h says what
 * lists mean; subtensor.c has the spec and the functions.
 */
#include "advanced.h"
#include "kernel/kernel.h"

/* ---- AdvancedSubtensor ------------------------------------------------------------------------------------------- */

static damo_status advsubtensor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return adv_type(op, in[0]->type, in + 1, n_in - 1, &out[0]);
}

static damo_status advsubtensor_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  adv_plan p;
  DAMO_TRY(adv_plan_make(t, f, 1, x->ndim, array_shape(x), array_strides(x), &p));
  int64_t *offsets = thunk_scratch(t, f, adv_offsets_bytes(&p));
  if (!offsets) return DAMO_EMEMORY;
  DAMO_TRY(adv_plan_offsets(t, f, 1, &p, array_shape(x), array_strides(x), offsets));
  damo_array *out = thunk_out(t, f, 0, array_dtype(x), p.ndim, p.shape);
  if (!out) return DAMO_EMEMORY;
  adv_walk(&p, array_dtype(x), ADV_READ, x->data, offsets, out->data, array_strides(out));
  return DAMO_OK;
}

const op_def advsubtensor_def = {
    .name = "AdvancedSubtensor",
    .doc = "x at lists of positions and masks",
    .props = PROPS(PROP(index_props, spec)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_op_init,
    .infer_type = advsubtensor_type,
    .perform = advsubtensor_perform,
    .grad = index_read_grad,
    .rop = index_read_rop,
    .infer_shape = adv_infer_shape,
    .connection_pattern = connect_first,
    .notate = index_read_notate,
    .terms = TERMS_LINEAR,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

/* ---- AdvancedIncSubtensor ---------------------------------------------------------------------------------------- */

static damo_status advinc_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_type *region = NULL;
  if (n_in < 2) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: x and y are needed", op->def->name);
  DAMO_TRY(adv_type(op, in[0]->type, in + 2, n_in - 2, &region));
  damo_status s = index_write_type(op, in, region, out);
  damo_release(region);
  return s;
}

/* The strides of the output: x's when it is written in place, else C-contiguous ones. */
static void advinc_out_strides(const damo_array *x, bool in_place, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(x->dtype);
  for (int i = x->ndim - 1; i >= 0; i--) {
    strides[i] = in_place ? array_strides(x)[i] : step;
    step *= array_shape(x)[i];
  }
}

/* Copies y to dst, C-contiguous, and sets its strides over the region's ndim axes. */
static void advinc_copy_value(const damo_array *y, int ndim, char *dst, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(y->dtype);
  kernel_copy_nd(y->data, array_strides(y), dst, NULL, y->ndim, array_shape(y), dtype_size(y->dtype));
  for (int i = y->ndim - 1; i >= 0; i--) {
    strides[ndim - y->ndim + i] = array_shape(y)[i] == 1 ? 0 : step;
    step *= array_shape(y)[i];
  }
}

static damo_status advinc_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  bool in_place = OP_PROPS(op, index_props)->inplace.u.i && x->writeable, copies = in_place && array_may_overlap(x, y);
  int64_t strides[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
  adv_plan p;
  advinc_out_strides(x, in_place, strides);
  DAMO_TRY(adv_plan_make(t, f, 2, x->ndim, array_shape(x), strides, &p));
  DAMO_TRY(index_write_strides(t, f, y, p.ndim, p.shape, from));
  size_t table = adv_offsets_bytes(&p), value = copies ? (size_t)array_size(y) * dtype_size(y->dtype) : 0;
  char *work = thunk_scratch(t, f, table + value);
  if (!work) return DAMO_EMEMORY;
  DAMO_TRY(adv_plan_offsets(t, f, 2, &p, array_shape(x), strides, (int64_t *)(void *)work));
  damo_array *out = thunk_out_inplace(t, f, 0, 0);
  if (!out) return DAMO_EMEMORY;
  char *data = y->data;
  if (copies) advinc_copy_value(y, p.ndim, data = work + table, from);
  adv_walk(&p, array_dtype(x), OP_PROPS(op, index_props)->set_instead_of_inc.u.i ? ADV_SET : ADV_ADD, out->data,
           (const int64_t *)(void *)work, data, from);
  return DAMO_OK;
}

const op_def advincsubtensor_def = {
    .name = "AdvancedIncSubtensor",
    .doc = "x with y set or added at lists of positions and masks",
    .props = PROPS(PROP(index_props, spec), PROP(index_props, set_instead_of_inc), PROP(index_props, inplace)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_write_init,
    .infer_type = advinc_type,
    .perform = advinc_perform,
    .grad = index_write_grad,
    .rop = index_write_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = index_write_connected,
    .notate = index_write_notate,
    .terms = TERMS_LINEAR,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};
