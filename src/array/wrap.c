/* wrap: damo_array_wrap, an array over the host's memory. All checks come before the host's release callback is stored,
 * so that the failure path alone calls it.
 */
#include <stdlib.h>

#include "array_int.h"

/* The alignment in bytes that an element's address must have. */
static size_t wrap_alignment(damo_dtype dtype) {
  return dtype_is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
}

/* Sorts the axes with more than one element by the modulus of their strides. Returns their number. */
static int wrap_sort_axes(int ndim, const int64_t *shape, const int64_t *strides, int *axes) {
  int n = 0;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] <= 1) continue;
    int k = n++;
    for (; k > 0 && llabs(strides[axes[k - 1]]) > llabs(strides[d]); k--) axes[k] = axes[k - 1];
    axes[k] = d;
  }
  return n;
}

/* Whether no elements overlap. Sufficient condition: the stride of each axis exceeds the span of all axes with smaller
 * strides. It is not necessary (strides of 2 and 3 elements may interleave), but no matrix is stored that way. */
static bool wrap_lies_apart(size_t size, int ndim, const int64_t *shape, const int64_t *strides) {
  int axes[DAMO_MAX_NDIM];
  const int n = wrap_sort_axes(ndim, shape, strides, axes);
  int64_t span = (int64_t)size;
  for (int k = 0; k < n; k++) {
    const int64_t stride = llabs(strides[axes[k]]);
    if (stride < span) return false;
    span += (shape[axes[k]] - 1) * stride;
  }
  return true;
}

/* The byte range [*low, *high) of the elements, relative to the first one; false if it overflows an int64. */
static bool wrap_extent(size_t size, int ndim, const int64_t *shape, const int64_t *strides, int64_t *low,
                        int64_t *high) {
  *low = 0;
  *high = (int64_t)size;
  for (int d = 0; d < ndim; d++) {
    int64_t reach;
    if (strides[d] == INT64_MIN || !i64_mul(shape[d] - 1, strides[d], &reach)) return false;
    int64_t *end = reach < 0 ? low : high;
    if (reach < 0 ? *end < INT64_MIN / 2 - reach : *end > INT64_MAX / 2 - reach) return false;
    *end += reach;
  }
  return true;
}

static damo_status wrap_check_aligned(damo_ctx *ctx, const damo_array *a, const int64_t *strides) {
  const damo_dtype dtype = array_dtype(a);
  const int64_t align = (int64_t)wrap_alignment(dtype);
  if ((uintptr_t)a->data % (uintptr_t)align != 0) {
    return ctx_fail(ctx, DAMO_EVALUE, "damo_array_wrap: data is not aligned for %s", dtype_name(dtype));
  }
  for (int d = 0; d < a->ndim; d++) {
    if (array_shape(a)[d] <= 1 || strides[d] % align == 0) continue;
    return ctx_fail(ctx, DAMO_EVALUE, "damo_array_wrap: stride %d is %lld bytes, which is not aligned for %s", d + 1,
                    (long long)strides[d], dtype_name(dtype));
  }
  return DAMO_OK;
}

/* Sets the strides of `a`, which was made as a contiguous array, and the byte range of its buffer. */
static damo_status wrap_set_strides(damo_array *a, const int64_t *strides) {
  damo_ctx *ctx = a->obj.ctx;
  int64_t low, high;
  const size_t size = dtype_size(array_dtype(a));
  if (!wrap_extent(size, a->ndim, array_shape(a), strides, &low, &high)) {
    return ctx_fail(ctx, DAMO_EVALUE, "damo_array_wrap: the strides reach further than memory does");
  }
  if (a->writeable && !wrap_lies_apart(size, a->ndim, array_shape(a), strides)) {
    return ctx_fail(ctx, DAMO_EVALUE, "damo_array_wrap: elements overlap: such an array must not be writeable");
  }
  a->buf->data = a->data + low;
  a->buf->nbytes = (size_t)(high - low);
  for (int d = 0; d < a->ndim; d++) array_strides(a)[d] = strides[d];
  return DAMO_OK;
}

static damo_status wrap_finish(damo_array *a, const int64_t *strides) {
  damo_ctx *ctx = a->obj.ctx;
  const bool some = array_size(a) > 0;
  if (some) DAMO_TRY(ctx_check_given(ctx, "damo_array_wrap", "data", a->data));
  DAMO_TRY(wrap_check_aligned(ctx, a, strides != NULL ? strides : array_strides(a)));
  return strides != NULL && some ? wrap_set_strides(a, strides) : DAMO_OK;
}

damo_array *damo_array_wrap(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
                            void *data, bool writeable, damo_release_fn release, void *user) {
  damo_array *a = NULL;
  if (ctx_check_list(ctx, "damo_array_wrap", "dimensions", shape, ndim) == DAMO_OK) {
    a = array_foreign(ctx, dtype, ndim, shape, data, writeable, NULL, NULL);
  }
  if (a != NULL && wrap_finish(a, strides) == DAMO_OK) {
    a->buf->release = release;
    a->buf->owner = user;
    return a;
  }
  damo_release(a);
  if (release != NULL) release(user);
  return NULL;
}
