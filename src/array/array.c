/* array: construction, queries and checks of arrays and views.
 *
 * A buffer of at most SMALL_BYTES has its data in its own allocation (flag BUFFER_INLINE), so that a 0-d array takes
 * two allocations.
 */
#include <stdio.h>
#include <string.h>

#include "array_int.h"
#include "kernel/isa.h"

#define ALIGN 64
#define SMALL_BYTES 64
#define BUFFER_INLINE 1 /* obj.flags: the data follow the buffer object */

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

char *shape_format(char *dst, size_t n, int ndim, const int64_t *shape) {
  size_t at = 0;
  if (n == 0) return dst;
  dst[0] = '\0';
  for (int i = 0; i < ndim && at < n; i++) {
    const char *before = i ? ", " : "(";
    int len = shape[i] == -1 ? snprintf(dst + at, n - at, "%s?", before)
                             : snprintf(dst + at, n - at, "%s%lld", before, (long long)shape[i]);
    if (len < 0) return dst;
    at += (size_t)len;
  }
  if (at < n) snprintf(dst + at, n - at, ndim == 0 ? "()" : ndim == 1 ? ",)" : ")");
  return dst;
}

/* The product of the nonzero lengths; false on overflow. Zero lengths are skipped, because the strides of an empty
 * array must not overflow either. */
static bool nonzero_product(int ndim, const int64_t *shape, int64_t *out) {
  int64_t n = 1;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] != 0 && !i64_mul(n, shape[i], &n)) return false;
  }
  *out = n;
  return true;
}

static damo_status array_check_shape(damo_ctx *ctx, int ndim, const int64_t *shape, size_t size) {
  char text[256];
  if (ndim < 0 || ndim > DAMO_MAX_NDIM) {
    return ctx_fail(ctx, DAMO_ESHAPE, "array: %d dimensions asked, at most %d are supported", ndim, DAMO_MAX_NDIM);
  }
  for (int i = 0; i < ndim; i++) {
    if (shape[i] >= 0) continue;
    return ctx_fail(ctx, DAMO_ESHAPE, "array: dimension %d is %lld, expected 0 or more", i + 1, (long long)shape[i]);
  }
  int64_t n;
  if (nonzero_product(ndim, shape, &n) && n <= INT64_MAX / (int64_t)size) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "array: shape %s is too large", shape_format(text, sizeof text, ndim, shape));
}

damo_status shape_size(damo_ctx *ctx, int ndim, const int64_t *shape, int64_t *out) {
  DAMO_TRY(array_check_shape(ctx, ndim, shape, 1));
  int64_t n = 1;
  for (int i = 0; i < ndim; i++) n = shape[i] == 0 ? 0 : n * shape[i];
  *out = n;
  return DAMO_OK;
}

void strides_contiguous(int ndim, const int64_t *shape, size_t size, int64_t *out) {
  int64_t stride = (int64_t)size;
  for (int i = ndim - 1; i >= 0; i--) {
    out[i] = stride;
    if (shape[i] > 1) stride *= shape[i];
  }
}

bool shape_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out) {
  int n = na > nb ? na : nb;
  for (int i = 0; i < n; i++) {
    int64_t da = i < n - na ? 1 : a[i - (n - na)];
    int64_t db = i < n - nb ? 1 : b[i - (n - nb)];
    if (da != db && da != 1 && db != 1) return false;
    out[i] = da == 1 ? db : da;
  }
  *nout = n;
  return true;
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static char *align_up(void *p) { return (char *)(((uintptr_t)p + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1)); }

static damo_buffer *buffer_new_small(damo_ctx *ctx, size_t nbytes) {
  size_t size = sizeof(damo_buffer) + ALIGN - 1 + nbytes;
  damo_buffer *buf = obj_new(ctx, OBJ_BUFFER, size);
  if (!buf) return NULL;
  buf->obj.flags = BUFFER_INLINE;
  buf->data = align_up(buf + 1);
  buf->nbytes = nbytes;
  buf->block = buf;
  buf->block_size = size;
  return buf;
}

damo_buffer *buffer_new(damo_ctx *ctx, size_t nbytes) {
  if (nbytes <= SMALL_BYTES) return buffer_new_small(ctx, nbytes);
  size_t size;
  if (!size_add(nbytes, ALIGN - 1, &size)) {
    ctx_fail_memory(ctx);
    return NULL;
  }
  damo_buffer *buf = obj_new(ctx, OBJ_BUFFER, sizeof(damo_buffer));
  if (!buf) return NULL;
  buf->block = mem_alloc(ctx, size);
  if (!buf->block) {
    obj_free(&buf->obj, sizeof(damo_buffer));
    return NULL;
  }
  buf->block_size = size;
  buf->data = align_up(buf->block);
  buf->nbytes = nbytes;
  damo_assert(buf->data + nbytes <= (char *)buf->block + size);
  return buf;
}

static void buffer_destroy(damo_obj *obj) {
  damo_buffer *buf = (damo_buffer *)obj;
  if (obj->flags & BUFFER_INLINE) {
    obj_free(obj, buf->block_size);
    return;
  }
  if (buf->release) buf->release(buf->owner);
  if (buf->block) mem_free(obj->ctx, buf->block, buf->block_size);
  obj_free(obj, sizeof(damo_buffer));
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static size_t header_size(int ndim) { return sizeof(damo_array) + 2 * (size_t)ndim * sizeof(int64_t); }

static void array_destroy(damo_obj *obj) {
  damo_array *a = (damo_array *)obj;
  damo_release(a->buf);
  obj_free(obj, header_size(a->ndim));
}

void array_register(damo_ctx *ctx) {
  ctx->isas[0] = kernel_isa_select();
  ctx->isas[1] = ctx->isas[0]->plain;
  ctx_set_reproducible(ctx, false);
  ctx_register_kind(ctx, OBJ_BUFFER, buffer_destroy, NULL);
  ctx_register_kind(ctx, OBJ_ARRAY, array_destroy, NULL);
}

static damo_array *array_header_new(damo_ctx *ctx, damo_dtype dtype, int ndim) {
  damo_array *a = obj_new(ctx, OBJ_ARRAY, header_size(ndim));
  if (!a) return NULL;
  a->ndim = ndim;
  a->dtype = (uint8_t)dtype;
  return a;
}

static void copy_dims(int64_t *dst, const int64_t *src, int ndim) {
  for (int i = 0; i < ndim; i++) dst[i] = src[i];
}

size_t shape_bytes(int ndim, const int64_t *shape, damo_dtype dtype) {
  size_t n = dtype_size(dtype);
  for (int i = 0; i < ndim; i++) n = shape[i] == 0 ? 0 : n * (size_t)shape[i];
  return n;
}

damo_array *array_take_buffer(damo_buffer *buf, damo_dtype dtype, int ndim, const int64_t *shape, bool writeable) {
  damo_assert(buf->obj.refs == 1 && buf->nbytes >= shape_bytes(ndim, shape, dtype));
  damo_array *a = array_header_new(buf->obj.ctx, dtype, ndim);
  if (!a) {
    damo_release(buf);
    return NULL;
  }
  a->buf = buf;
  a->data = buf->data;
  a->writeable = writeable;
  copy_dims(a->dims, shape, ndim);
  strides_contiguous(ndim, shape, dtype_size(dtype), array_strides(a));
  return a;
}

static damo_status check_new(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  if ((unsigned)dtype >= DAMO_N_DTYPES) return ctx_fail(ctx, DAMO_ETYPE, "array: %d is not a dtype", (int)dtype);
  return array_check_shape(ctx, ndim, shape, dtype_size(dtype));
}

damo_array *array_empty(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (check_new(ctx, dtype, ndim, shape) != DAMO_OK) return NULL;
  damo_buffer *buf = buffer_new(ctx, shape_bytes(ndim, shape, dtype));
  return buf ? array_take_buffer(buf, dtype, ndim, shape, true) : NULL;
}

damo_array *array_foreign(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, void *data, bool writeable,
                          void (*release)(void *owner), void *owner) {
  damo_buffer *buf = NULL;
  if (check_new(ctx, dtype, ndim, shape) == DAMO_OK) buf = obj_new(ctx, OBJ_BUFFER, sizeof(damo_buffer));
  if (!buf) {
    if (release) release(owner);
    return NULL;
  }
  buf->data = data;
  buf->nbytes = shape_bytes(ndim, shape, dtype);
  buf->release = release;
  buf->owner = owner;
  return array_take_buffer(buf, dtype, ndim, shape, writeable);
}

damo_array *array_lend(damo_ctx *ctx, const damo_array *a) {
  damo_buffer *buf = obj_new(ctx, OBJ_BUFFER, sizeof(damo_buffer));
  if (!buf) return NULL;
  buf->obj.flags = a->buf->obj.flags & BUFFER_FROZEN;
  buf->data = a->buf->data;
  buf->nbytes = a->buf->nbytes;
  damo_array *view = array_take_buffer(buf, array_dtype(a), a->ndim, array_shape(a), false);
  if (!view) return NULL;
  view->data = a->data;
  copy_dims(array_strides(view), array_strides(a), a->ndim);
  damo_assert(array_check(view, NULL) && !view->writeable);
  return view;
}

damo_array *array_copy_to(damo_ctx *ctx, const damo_array *a) {
  damo_array *copy = array_empty(ctx, array_dtype(a), a->ndim, array_shape(a));
  if (!copy || array_assign(copy, a) == DAMO_OK) return copy;
  damo_release(copy);
  return NULL;
}

void array_reseat(damo_array *a, const damo_array *base, const int64_t *shape, const int64_t *strides, int64_t offset) {
  if (a->buf != base->buf) {
    damo_buffer *old = a->buf;
    a->buf = damo_retain(base->buf);
    damo_release(old);
  }
  a->data = base->data + offset;
  a->dtype = base->dtype;
  a->writeable = base->writeable;
  copy_dims(a->dims, shape, a->ndim);
  copy_dims(array_strides(a), strides, a->ndim);
  damo_assert(array_check(a, NULL));
}

void array_detach(damo_array *a) {
  damo_assert(a->obj.refs == 1);
  damo_buffer *buf = a->buf;
  a->buf = NULL;
  a->data = NULL;
  damo_release(buf);
}

damo_array *array_view(const damo_array *base, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset) {
  damo_array *a = array_header_new(base->obj.ctx, array_dtype(base), ndim);
  if (a) array_reseat(a, base, shape, strides, offset);
  return a;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static bool stride_fits(const damo_array *a, int i, int64_t *expect) {
  if (array_shape(a)[i] == 1) return true;
  if (array_strides(a)[i] != *expect) return false;
  *expect *= array_shape(a)[i];
  return true;
}

bool array_is_contiguous(const damo_array *a) {
  if (array_size(a) <= 1) return true;
  int64_t expect = (int64_t)dtype_size(a->dtype);
  for (int i = a->ndim - 1; i >= 0; i--) {
    if (!stride_fits(a, i, &expect)) return false;
  }
  return true;
}

bool array_is_f_contiguous(const damo_array *a) {
  if (array_size(a) <= 1) return true;
  int64_t expect = (int64_t)dtype_size(a->dtype);
  for (int i = 0; i < a->ndim; i++) {
    if (!stride_fits(a, i, &expect)) return false;
  }
  return true;
}

/* The address range [*low, *high) of the elements, relative to a->data. The array is not empty. */
static void extent(const damo_array *a, int64_t *low, int64_t *high) {
  *low = 0;
  *high = (int64_t)dtype_size(a->dtype);
  for (int i = 0; i < a->ndim; i++) {
    int64_t reach = (array_shape(a)[i] - 1) * array_strides(a)[i];
    if (reach < 0) {
      *low += reach;
    } else {
      *high += reach;
    }
  }
}

bool array_may_overlap(const damo_array *a, const damo_array *b) {
  const damo_buffer *x = a->buf, *y = b->buf;
  if (x != y && x != NULL && y != NULL && x->block != NULL && y->block != NULL) return false; /* two allocations */
  if (array_size(a) == 0 || array_size(b) == 0) return false;
  int64_t la, ha, lb, hb;
  extent(a, &la, &ha);
  extent(b, &lb, &hb);
  uintptr_t pa = (uintptr_t)a->data, pb = (uintptr_t)b->data;
  return pa + (uintptr_t)la < pb + (uintptr_t)hb && pb + (uintptr_t)lb < pa + (uintptr_t)ha;
}

static const char *check_reach(const damo_array *a) {
  if (array_size(a) == 0) return NULL;
  int64_t low, high;
  extent(a, &low, &high);
  int64_t at = a->data - a->buf->data;
  if (at + low < 0) return "an element lies before the buffer";
  if (at + high > (int64_t)a->buf->nbytes) return "an element lies past the buffer";
  return NULL;
}

static const char *array_find_flaw(const damo_array *a) {
  if (a->obj.kind != OBJ_ARRAY) return "not an array";
  if (a->obj.refs == 0) return "no references";
  if (a->dtype >= DAMO_N_DTYPES) return "unknown dtype";
  if (a->ndim < 0 || a->ndim > DAMO_MAX_NDIM) return "rank out of range";
  int64_t n;
  for (int i = 0; i < a->ndim; i++) {
    if (array_shape(a)[i] < 0) return "negative dimension";
  }
  if (!nonzero_product(a->ndim, array_shape(a), &n)) return "size overflows";
  if (!a->buf) return a->data ? "data without a buffer" : NULL;
  if (a->buf->obj.kind != OBJ_BUFFER || a->buf->obj.refs == 0) return "buffer is dead";
  if (a->buf->block && (uintptr_t)a->buf->data % ALIGN != 0) return "own buffer is not aligned";
  return check_reach(a);
}

bool array_check(const damo_array *a, const char **why) {
  const char *flaw = array_find_flaw(a);
  if (why) *why = flaw;
  return flaw == NULL;
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

/* A public function's shape must not be NULL if ndim > 0. */
static bool array_check_public(damo_ctx *ctx, const char *func, int ndim, const int64_t *shape) {
  return ctx_check_list(ctx, func, "dimensions", shape, ndim) == DAMO_OK;
}

damo_array *damo_array_new(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (!array_check_public(ctx, "damo_array_new", ndim, shape)) return NULL;
  damo_array *a = array_empty(ctx, dtype, ndim, shape);
  if (a) array_zero_bytes(ctx, a->data, a->buf->nbytes);
  return a;
}

damo_array *damo_array_from(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const void *data) {
  if (!array_check_public(ctx, "damo_array_from", ndim, shape)) return NULL;
  damo_array *a = array_empty(ctx, dtype, ndim, shape);
  if (!a || a->buf->nbytes == 0) return a;
  if (ctx_check_given(ctx, "damo_array_from", "data", data) != DAMO_OK) {
    damo_release(a);
    return NULL;
  }
  memcpy(a->data, data, a->buf->nbytes);
  return a;
}

damo_array *damo_array_scalar(damo_ctx *ctx, damo_dtype dtype, double value) {
  if (!ctx || check_new(ctx, dtype, 0, NULL) != DAMO_OK) return NULL;
  scalar s = {.dtype = DAMO_FLOAT64, .v.f = value};
  return array_from_scalar(ctx, scalar_cast(s, dtype));
}

int damo_array_ndim(const damo_array *a) { return a ? a->ndim : 0; }

damo_dtype damo_array_dtype(const damo_array *a) { return a ? array_dtype(a) : DAMO_N_DTYPES; }

const int64_t *damo_array_shape(const damo_array *a) { return a ? array_shape(a) : NULL; }

const int64_t *damo_array_strides(const damo_array *a) { return a ? array_strides(a) : NULL; }

void *damo_array_data(const damo_array *a) { return a ? a->data : NULL; }

bool damo_array_is_writeable(const damo_array *a) { return a && a->writeable; }

int64_t damo_array_size(const damo_array *a) { return a ? array_size(a) : 0; }

damo_status damo_array_item(const damo_array *a, double *out) {
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_array_item", "out", out));
  if (array_size(a) != 1) {
    char text[256];
    return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "item: the array has shape %s, expected exactly one element",
                    shape_format(text, sizeof text, a->ndim, array_shape(a)));
  }
  *out = scalar_to_double(array_item(a));
  return DAMO_OK;
}
