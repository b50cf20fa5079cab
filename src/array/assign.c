/* assign: copies, casts and assignment between strided arrays.
 *
 * Equal dtypes go to kernel_copy_nd. Unequal ones are gathered into blocks on the stack, converted by kernel_cast on
 * contiguous memory, and scattered.
 */
#include <string.h>

#include "array_int.h"

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static void set_box(box_walk *w) {
  int64_t inner = 1;
  int k = w->axis;
  for (int i = k + 1; i < w->ndim; i++) {
    w->box[i - k] = w->shape[i];
    inner *= w->shape[i];
  }
  if (w->ndim == 0) {
    w->n = 1;
    return;
  }
  int64_t left = w->shape[k] - w->index[k];
  w->box[0] = left < w->step ? left : w->step;
  w->n = w->box[0] * inner;
}

bool box_walk_begin(box_walk *w, int ndim, const int64_t *shape) {
  *w = (box_walk){.ndim = ndim, .shape = shape};
  int64_t inner = 1;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == 0) return false;
  }
  for (int i = ndim - 1; i >= 0; i--) {
    w->axis = i;
    w->step = BOX_MAX / inner;
    if (shape[i] > w->step) break;
    inner *= shape[i];
  }
  set_box(w);
  return true;
}

bool box_walk_next(box_walk *w) {
  if (w->ndim == 0) return false;
  int i = w->axis;
  w->index[i] += w->box[0];
  while (w->index[i] >= w->shape[i]) {
    if (i == 0) return false;
    w->index[i] = 0;
    w->index[--i]++;
  }
  set_box(w);
  return true;
}

int64_t box_walk_offset(const box_walk *w, const int64_t *strides) {
  int64_t at = 0;
  for (int i = 0; i <= w->axis && i < w->ndim; i++) at += w->index[i] * strides[i];
  return at;
}

void box_gather(const box_walk *w, const char *data, const int64_t *strides, damo_dtype from, damo_dtype dtype,
                void *dst) {
  _Alignas(64) char raw[BOX_MAX * 16];
  const char *src = data + box_walk_offset(w, strides);
  int ndim = w->ndim - w->axis;
  void *to = from == dtype ? dst : raw;
  kernel_copy_nd(src, strides + w->axis, to, NULL, ndim, w->box, dtype_size(from));
  if (from != dtype) kernel_cast(from, dtype)(raw, dst, w->n);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

typedef struct assign_operand {
  char *data;
  const int64_t *strides;
  damo_dtype dtype;
} assign_operand;

static void convert_boxes(assign_operand src, assign_operand dst, int ndim, const int64_t *shape) {
  _Alignas(64) char block[BOX_MAX * 16];
  int64_t packed[DAMO_MAX_NDIM];
  box_walk w;
  for (bool more = box_walk_begin(&w, ndim, shape); more; more = box_walk_next(&w)) {
    box_gather(&w, src.data, src.strides, src.dtype, dst.dtype, block);
    size_t size = dtype_size(dst.dtype);
    strides_contiguous(ndim - w.axis, w.box, size, packed);
    kernel_copy_nd(block, packed, dst.data + box_walk_offset(&w, dst.strides), dst.strides + w.axis, ndim - w.axis,
                   w.box, size);
  }
}

static bool is_empty(int ndim, const int64_t *shape) {
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == 0) return true;
  }
  return false;
}

/* dst = src over the box; they share no memory. */
static void copy_box(assign_operand src, assign_operand dst, int ndim, const int64_t *shape) {
  if (is_empty(ndim, shape)) return;
  if (src.dtype == dst.dtype) {
    kernel_copy_nd(src.data, src.strides, dst.data, dst.strides, ndim, shape, dtype_size(src.dtype));
  } else {
    convert_boxes(src, dst, ndim, shape);
  }
}

static assign_operand operand_of(const damo_array *a) {
  return (assign_operand){a->data, array_strides(a), array_dtype(a)};
}

damo_array *array_cast(const damo_array *a, damo_dtype dtype) {
  damo_array *out = array_empty(a->obj.ctx, dtype, a->ndim, array_shape(a));
  if (!out) return NULL;
  int64_t n = array_size(a);
  if (n == 0) return out;
  if (!array_is_contiguous(a)) {
    copy_box(operand_of(a), operand_of(out), a->ndim, array_shape(a));
  } else if (array_dtype(a) == dtype) {
    memcpy(out->data, a->data, (size_t)n * dtype_size(dtype));
  } else {
    kernel_cast(array_dtype(a), dtype)(a->data, out->data, n);
  }
  return out;
}

damo_array *array_copy(const damo_array *a) { return array_cast(a, array_dtype(a)); }

static bool is_aligned(const damo_array *a) {
  size_t size = dtype_size(a->dtype);
  size_t align = dtype_is_complex(array_dtype(a)) ? size / 2 : size;
  return (uintptr_t)a->data % align == 0;
}

damo_array *array_as_contiguous(const damo_array *a, damo_dtype dtype) {
  if (array_dtype(a) == dtype && is_aligned(a) && array_is_contiguous(a)) return damo_retain(a);
  return array_cast(a, dtype);
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static damo_status assign_check_writeable(const damo_array *dst) {
  if (dst->writeable) return DAMO_OK;
  return ctx_fail(dst->obj.ctx, DAMO_ESTATE, "assign: the array is read-only");
}

static bool is_same_view(const damo_array *a, const damo_array *b) {
  size_t bytes = 2 * (size_t)a->ndim * sizeof(int64_t);
  return a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->dims, b->dims, bytes) == 0;
}

/* Strides of src under dst's shape: 0 along what is broadcast. Axes of length 1 in front may be more than dst has. */
static bool assign_strides(const damo_array *src, const damo_array *dst, int64_t *out) {
  int extra = src->ndim - dst->ndim;
  for (int i = 0; i < extra; i++) {
    if (array_shape(src)[i] != 1) return false;
  }
  for (int i = 0; i < dst->ndim; i++) {
    int j = i + extra;
    int64_t n = j < 0 ? 1 : array_shape(src)[j];
    if (n != 1 && n != array_shape(dst)[i]) return false;
    out[i] = n == 1 ? 0 : array_strides(src)[j];
  }
  return true;
}

static damo_status assign_fail_shape(const damo_array *dst, const damo_array *src) {
  char to[256], from[256];
  return ctx_fail(dst->obj.ctx, DAMO_ESHAPE, "assign: a value of shape %s does not fit into shape %s",
                  shape_format(from, sizeof from, src->ndim, array_shape(src)),
                  shape_format(to, sizeof to, dst->ndim, array_shape(dst)));
}

damo_status array_assign(damo_array *dst, const damo_array *src) {
  int64_t strides[DAMO_MAX_NDIM];
  DAMO_TRY(assign_check_writeable(dst));
  if (!assign_strides(src, dst, strides)) return assign_fail_shape(dst, src);
  if (is_same_view(dst, src)) return DAMO_OK;
  damo_array *copy = NULL;
  if (array_may_overlap(dst, src)) {
    copy = array_copy(src);
    if (!copy) return DAMO_EMEMORY;
    assign_strides(copy, dst, strides);
    src = copy;
  }
  copy_box((assign_operand){src->data, strides, array_dtype(src)}, operand_of(dst), dst->ndim, array_shape(dst));
  damo_release(copy);
  return DAMO_OK;
}

damo_status array_fill(damo_array *dst, scalar value) {
  static const int64_t zeros[DAMO_MAX_NDIM];
  _Alignas(16) char one[16];
  DAMO_TRY(assign_check_writeable(dst));
  scalar_store(scalar_cast(value, array_dtype(dst)), one);
  copy_box((assign_operand){one, zeros, array_dtype(dst)}, operand_of(dst), dst->ndim, array_shape(dst));
  return DAMO_OK;
}
