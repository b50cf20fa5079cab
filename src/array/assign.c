/* assign: copies, casts and assignment between strided arrays.
 *
 * Equal dtypes are copied by kernel_copy_nd. Otherwise the elements are gathered into contiguous blocks on the stack,
 * cast by kernel_cast, and scattered.
 */
#include <stdlib.h>
#include <string.h>

#include "array_int.h"
#include "kernel/kernel.h"

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

void block_cursor_begin(block_cursor *c, char *data, damo_dtype dtype, int ndim, const int64_t *shape,
                        const int64_t *strides) {
  c->dtype = dtype;
  nd_space_init(&c->space, c->numbers, ndim, shape, 1, &strides);
  nd_space_inner(&c->space);
  nd_cursor_begin(&c->at, &c->space, data);
}

void block_cursor_read(block_cursor *c, damo_dtype dtype, void *dst, int64_t n) {
  _Alignas(64) char raw[BLOCK_ELEMENTS * 16];
  nd_cursor_read(&c->at, c->dtype == dtype ? dst : raw, n, dtype_size(c->dtype));
  if (c->dtype != dtype) kernel_cast(c->dtype, dtype)(raw, dst, n);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

typedef struct assign_operand {
  char *data;
  const int64_t *strides;
  damo_dtype dtype;
} assign_operand;

static void convert_one(assign_operand src, assign_operand dst) {
  _Alignas(16) char from[16], to[16];
  memcpy(from, src.data, dtype_size(src.dtype));
  kernel_cast(src.dtype, dst.dtype)(from, to, 1);
  memcpy(dst.data, to, dtype_size(dst.dtype));
}

#define ASSIGN_PART 8192 /* elements between two points of a call */

static void convert_blocks(damo_ctx *ctx, assign_operand src, assign_operand dst, int ndim, const int64_t *shape) {
  _Alignas(64) char block[BLOCK_ELEMENTS * 16];
  block_cursor x, y;
  int64_t left = 1;
  for (int i = 0; i < ndim; i++) left *= shape[i];
  if (left == 1) {
    convert_one(src, dst);
    return;
  }
  block_cursor_begin(&x, src.data, src.dtype, ndim, shape, src.strides);
  block_cursor_begin(&y, dst.data, dst.dtype, ndim, shape, dst.strides);
  for (int64_t n; left > 0; left -= n) {
    n = left < BLOCK_ELEMENTS ? left : BLOCK_ELEMENTS;
    block_cursor_read(&x, dst.dtype, block, n);
    nd_cursor_write(&y.at, block, n, dtype_size(dst.dtype));
    if ((left - n) / ASSIGN_PART != left / ASSIGN_PART) ctx_point(ctx);
  }
}

/* The axis along which the parts of a copy lie: that of the greatest stride in dst; NULL: C order. */
static int copy_outer_axis(const int64_t *dst_strides, int ndim, const int64_t *shape) {
  int axis = -1;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 2) continue;
    if (axis < 0 || (dst_strides != NULL && llabs(dst_strides[i]) > llabs(dst_strides[axis]))) axis = i;
  }
  return axis;
}

/* Bytes of dst along an axis, where its strides are those of C order. */
static int64_t copy_c_stride(int axis, int ndim, const int64_t *shape, size_t size) {
  int64_t stride = (int64_t)size;
  for (int i = axis + 1; i < ndim; i++) stride *= shape[i];
  return stride;
}

void array_copy_box(damo_ctx *ctx, const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides,
                    int ndim, const int64_t *shape, size_t size) {
  int64_t n = 1, part[DAMO_MAX_NDIM];
  for (int i = 0; i < ndim; i++) n *= part[i] = shape[i];
  const int axis = n > 2 * ASSIGN_PART ? copy_outer_axis(dst_strides, ndim, shape) : -1;
  if (axis < 0) {
    kernel_copy_nd(src, src_strides, dst, dst_strides, ndim, shape, size);
    return;
  }
  const int64_t per = n / shape[axis], step = per > ASSIGN_PART ? 1 : ASSIGN_PART / per;
  const int64_t pitch = dst_strides != NULL ? dst_strides[axis] : copy_c_stride(axis, ndim, shape, size);
  for (int64_t k = 0; k < shape[axis]; k += step) {
    part[axis] = shape[axis] - k < step ? shape[axis] - k : step;
    array_copy_box(ctx, src + k * src_strides[axis], src_strides, dst + k * pitch, dst_strides, ndim, part, size);
    ctx_point(ctx);
  }
}

void array_zero_bytes(damo_ctx *ctx, void *at, size_t bytes) {
  const size_t part = (size_t)ASSIGN_PART * 8;
  for (char *p = at; bytes > 0;) {
    const size_t n = bytes < part ? bytes : part;
    memset(p, 0, n);
    p += n;
    bytes -= n;
    if (bytes > 0) ctx_point(ctx);
  }
}

void array_cast_values(damo_ctx *ctx, damo_dtype from, damo_dtype to, const void *src, void *dst, int64_t n) {
  const size_t in = dtype_size(from), out = dtype_size(to);
  for (int64_t k = 0; k < n; k += ASSIGN_PART) {
    const int64_t part = n - k < ASSIGN_PART ? n - k : ASSIGN_PART;
    kernel_cast(from, to)((const char *)src + (size_t)k * in, (char *)dst + (size_t)k * out, part);
    if (k + part < n) ctx_point(ctx);
  }
}

/* dst = src over an n-dimensional box; the two must not overlap. */
static void copy_box(damo_ctx *ctx, assign_operand src, assign_operand dst, int ndim, const int64_t *shape) {
  if (src.dtype == dst.dtype) {
    array_copy_box(ctx, src.data, src.strides, dst.data, dst.strides, ndim, shape, dtype_size(src.dtype));
  } else {
    convert_blocks(ctx, src, dst, ndim, shape);
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
    copy_box(out->obj.ctx, operand_of(a), operand_of(out), a->ndim, array_shape(a));
    return out;
  }
  const size_t from = dtype_size(array_dtype(a)), to = dtype_size(dtype);
  for (int64_t k = 0; k < n; k += ASSIGN_PART) {
    const int64_t part = n - k < ASSIGN_PART ? n - k : ASSIGN_PART;
    if (array_dtype(a) == dtype)
      memcpy(out->data + (size_t)k * to, a->data + (size_t)k * from, (size_t)part * to);
    else
      kernel_cast(array_dtype(a), dtype)(a->data + (size_t)k * from, out->data + (size_t)k * to, part);
    if (part < n) ctx_point(out->obj.ctx);
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
  if (array_takes_writes(dst)) return DAMO_OK;
  if (dst->writeable)
    return ctx_fail(dst->obj.ctx, DAMO_ESTATE, "assign: the array is an input of a run that has not ended");
  return ctx_fail(dst->obj.ctx, DAMO_ESTATE, "assign: the array is read-only");
}

static bool is_same_view(const damo_array *a, const damo_array *b) {
  size_t bytes = 2 * (size_t)a->ndim * sizeof(int64_t);
  return a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->dims, b->dims, bytes) == 0;
}

/* The strides of src broadcast to dst's shape: 0 along a broadcast axis. False if it does not fit; src may have more
 * leading axes of length 1 than dst has axes. */
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
  copy_box(dst->obj.ctx, (assign_operand){src->data, strides, array_dtype(src)}, operand_of(dst), dst->ndim,
           array_shape(dst));
  damo_release(copy);
  return DAMO_OK;
}

damo_status array_fill(damo_array *dst, scalar value) {
  static const int64_t zeros[DAMO_MAX_NDIM];
  _Alignas(16) char one[16];
  DAMO_TRY(assign_check_writeable(dst));
  scalar_store(scalar_cast(value, array_dtype(dst)), one);
  copy_box(dst->obj.ctx, (assign_operand){one, zeros, array_dtype(dst)}, operand_of(dst), dst->ndim, array_shape(dst));
  return DAMO_OK;
}
