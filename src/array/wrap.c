/* wrap: arrays over the host's memory, and the checks of their layouts. All checks come before the host's release
 * callback is stored, so that the failure path alone calls it.
 */
#include <stdlib.h>

#include "array_int.h"

/* The alignment in bytes that an element's address must have. */
static size_t wrap_alignment(damo_dtype dtype) {
  return dtype_is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
}

/* ---- Overlap ----------------------------------------------------------------------------------------------------- */

#define WRAP_STEPS_MAX 100000 /* of the search: what takes longer counts as overlapping */

/* Two elements whose positions differ by d overlap if |sum of d_k stride_k| < size. The search goes through all such
 * d != 0 with |d_k| < length_k, axis by axis from the largest stride down. reach[k] is what the axes below k can add at
 * most, so d_k has few candidates, and none where the strides are nested as in stored matrices. */
typedef struct wrap_search {
  int64_t size, length[DAMO_MAX_NDIM], stride[DAMO_MAX_NDIM], reach[DAMO_MAX_NDIM];
  int steps; /* left */
} wrap_search;

/* Fills in the axes with more than one element, by ascending modulus of their strides. Returns their number. */
static int wrap_sort_axes(wrap_search *s, int ndim, const int64_t *shape, const int64_t *strides) {
  int n = 0;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] <= 1) continue;
    int k = n++;
    for (; k > 0 && s->stride[k - 1] > llabs(strides[d]); k--) {
      s->stride[k] = s->stride[k - 1];
      s->length[k] = s->length[k - 1];
    }
    s->stride[k] = llabs(strides[d]);
    s->length[k] = shape[d];
  }
  for (int64_t k = 0, reach = 0; k < n; k++) {
    s->reach[k] = reach;
    reach += (s->length[k] - 1) * s->stride[k];
  }
  return n;
}

/* Whether the axes k, k - 1, … 0 can complete the distance `at` of the axes above, where d is not 0 if `moved`. Of d and
 * -d one is enough: the first d_k that is not 0 is positive. */
static bool wrap_finds(wrap_search *s, int k, int64_t at, bool moved) {
  if (k < 0) return moved;
  if (s->stride[k] == 0 || s->steps-- <= 0) return true;
  const int64_t least = moved ? 1 - s->length[k] : 0, within = s->size - 1 + s->reach[k];
  /* |at + d stride| <= within */
  int64_t low = (-within - at) / s->stride[k], high = (within - at) / s->stride[k];
  if (low * s->stride[k] < -within - at) low++;
  if (high * s->stride[k] > within - at) high--;
  if (low < least) low = least;
  if (high > s->length[k] - 1) high = s->length[k] - 1;
  for (int64_t d = low; d <= high; d++) {
    if (wrap_finds(s, k - 1, at + d * s->stride[k], moved || d != 0)) return true;
  }
  return false;
}

bool layout_overlaps(damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides) {
  wrap_search s = {.size = (int64_t)dtype_size(dtype), .steps = WRAP_STEPS_MAX};
  for (int d = 0; d < ndim; d++) {
    if (shape[d] == 0) return false;
  }
  const int n = wrap_sort_axes(&s, ndim, shape, strides);
  return wrap_finds(&s, n - 1, 0, false);
}

bool layout_extent(damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides, int64_t *low,
                   int64_t *high) {
  bool some = true;
  *low = 0;
  *high = 0;
  for (int d = 0; d < ndim; d++) some = some && shape[d] > 0;
  if (!some) return true;
  *high = (int64_t)dtype_size(dtype);
  for (int d = 0; d < ndim; d++) {
    int64_t reach;
    if (shape[d] == 1) continue;
    if (strides[d] == INT64_MIN || !i64_mul(shape[d] - 1, strides[d], &reach)) return false;
    int64_t *end = reach < 0 ? low : high;
    if (reach < 0 ? *end < INT64_MIN / 4 - reach : *end > INT64_MAX / 4 - reach) return false;
    *end += reach;
  }
  return true;
}

/* ---- Arrays over foreign memory ---------------------------------------------------------------------------------- */

damo_status array_check_address(damo_ctx *ctx, const char *func, damo_dtype dtype, const void *data) {
  if ((uintptr_t)data % (uintptr_t)wrap_alignment(dtype) == 0) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%s: data is not aligned for %s", func, dtype_name(dtype));
}

static damo_status wrap_check_aligned(const damo_array *a, const char *func, const int64_t *strides) {
  const damo_dtype dtype = array_dtype(a);
  const int64_t align = (int64_t)wrap_alignment(dtype);
  DAMO_TRY(array_check_address(a->obj.ctx, func, dtype, a->data));
  for (int d = 0; d < a->ndim; d++) {
    if (array_shape(a)[d] <= 1 || strides[d] % align == 0) continue;
    return ctx_fail(a->obj.ctx, DAMO_EVALUE, "%s: stride %d is %lld bytes, which is not aligned for %s", func, d + 1,
                    (long long)strides[d], dtype_name(dtype));
  }
  return DAMO_OK;
}

/* Sets the strides of `a`, which was made as a contiguous array, and the byte range of its buffer. */
static damo_status wrap_set_strides(damo_array *a, const char *func, const int64_t *strides) {
  damo_ctx *ctx = a->obj.ctx;
  int64_t low, high;
  if (!layout_extent(array_dtype(a), a->ndim, array_shape(a), strides, &low, &high)) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: the strides reach further than memory does", func);
  }
  if (a->writeable && layout_overlaps(array_dtype(a), a->ndim, array_shape(a), strides)) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: elements overlap: such an array must not be writeable", func);
  }
  a->buf->data = a->data + low;
  a->buf->nbytes = (size_t)(high - low);
  for (int d = 0; d < a->ndim; d++) array_strides(a)[d] = strides[d];
  return DAMO_OK;
}

static damo_status wrap_finish(damo_array *a, const char *func, const int64_t *strides) {
  damo_ctx *ctx = a->obj.ctx;
  const bool some = array_size(a) > 0;
  if (some) DAMO_TRY(ctx_check_given(ctx, func, "data", a->data));
  DAMO_TRY(wrap_check_aligned(a, func, strides != NULL ? strides : array_strides(a)));
  return strides != NULL && some ? wrap_set_strides(a, func, strides) : DAMO_OK;
}

damo_array *array_wrap(damo_ctx *ctx, const char *func, damo_dtype dtype, int ndim, const int64_t *shape,
                       const int64_t *strides, void *data, bool writeable, void (*release)(void *owner), void *owner) {
  damo_array *a = array_foreign(ctx, dtype, ndim, shape, data, writeable, NULL, NULL);
  if (a != NULL && wrap_finish(a, func, strides) == DAMO_OK) {
    a->buf->release = release;
    a->buf->owner = owner;
    return a;
  }
  damo_release(a);
  if (release != NULL) release(owner);
  return NULL;
}

void array_move_foreign(damo_array *a, void *data) {
  damo_assert(a->buf->obj.refs == 1 && a->buf->block == NULL && !array_is_part(a));
  a->buf->data = (char *)data + (a->buf->data - a->data);
  a->data = data;
  damo_assert(array_check(a, NULL));
}

damo_array *damo_array_wrap(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
                            void *data, bool writeable, damo_release_fn release, void *user) {
  if (ctx_check_list(ctx, "damo_array_wrap", "dimensions", shape, ndim) == DAMO_OK) {
    return array_wrap(ctx, "damo_array_wrap", dtype, ndim, shape, strides, data, writeable, release, user);
  }
  if (release != NULL) release(user);
  return NULL;
}
