/* array: strided n-d arrays over reference-counted buffers.
 *
 * In: dtypes, shapes, raw data. Out: arrays, views, copies, casts, comparisons, text. Always holds: a view keeps its
 * buffer alive; data is 64-byte aligned in buffers that damo made; shape and strides (bytes) have ndim entries and
 * every reachable element lies inside the buffer; a size never overflows int64_t; an array that is not writeable is
 * never written through that array object.
 */
#ifndef DAMO_ARRAY_H
#define DAMO_ARRAY_H

#include "base/base.h"

typedef struct damo_buffer {
  damo_obj obj;
  char *data; /* aligned */
  size_t nbytes;
  void *block; /* what mem_alloc gave, block_size bytes (the buffer itself when small); NULL for foreign memory */
  size_t block_size;
  void (*release)(void *owner); /* foreign memory: told when the last view is gone; may be NULL */
  void *owner;
} damo_buffer;

#define BUFFER_FROZEN 2 /* obj.flags: nobody writes any more, every view is read-only (indices of sparse matrices) */

struct damo_array {
  damo_obj obj;
  damo_buffer *buf; /* owned; NULL only in a detached view header (array_detach) */
  char *data;       /* first element */
  int32_t ndim;
  uint8_t dtype;
  bool writeable;
  int64_t dims[]; /* shape, then strides in bytes */
};

#define array_shape(a) ((a)->dims)
#define array_strides(a) ((a)->dims + (a)->ndim)
static inline damo_dtype array_dtype(const damo_array *a) { return (damo_dtype)a->dtype; }
static inline int64_t array_size(const damo_array *a) {
  int64_t n = 1;
  for (int i = 0; i < a->ndim; i++) n *= a->dims[i];
  return n;
}

/* One value of any dtype. Integers live in i or u by signedness, bool in i, complex in c. */
typedef struct scalar {
  damo_dtype dtype;
  union {
    int64_t i;
    uint64_t u;
    double f;
    damo_c128 c;
  } v;
} scalar;

/* Destructors, and the kernels for this CPU (ctx->isa); called once by the api layer. */
void array_register(damo_ctx *ctx);

/* Number of elements; shape error when negative or past int64_t. */
damo_status shape_size(damo_ctx *ctx, int ndim, const int64_t *shape, int64_t *out);
/* "(2, 3)" as users write shapes: {2, 3}; unknown dims (-1) print as ?. Writes at most n bytes; returns dst. */
char *shape_format(char *dst, size_t n, int ndim, const int64_t *shape);

/* A new contiguous array; contents undefined. (damo_array_new zeroes.) */
damo_array *array_empty(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A view: offset in bytes from base->data. Same dtype, writeable as base. The caller vouches for the bounds. */
damo_array *array_view(const damo_array *base, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Makes the existing header `a` (of rank a->ndim) a view of base: no allocation. For cells that are reused call after
 * call. */
void array_reseat(damo_array *a, const damo_array *base, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Drops a view header's hold on its buffer and keeps the header for array_reseat. */
void array_detach(damo_array *a);
/* An array over foreign memory (C-contiguous); release(owner) is called when the last view is gone, on failure too. */
damo_array *array_foreign(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, void *data, bool writeable,
                          void (*release)(void *owner), void *owner);
/* A read-only array of ctx with a's strides over a's memory, which must outlive it: a's counts are left alone. */
damo_array *array_lend(damo_ctx *ctx, const damo_array *a);
/* A copy in ctx, as array_copy's; a's counts are left alone. */
damo_array *array_copy_to(damo_ctx *ctx, const damo_array *a);
damo_array *array_copy(const damo_array *a); /* fresh, C-contiguous, writeable */
/* A fresh C-contiguous array of that dtype; C's conversions (complex drops the imaginary part, float to integer
 * truncates, nan gives 0). */
damo_array *array_cast(const damo_array *a, damo_dtype dtype);
/* a itself (retained) when already contiguous, aligned and of that dtype, else a copy. */
damo_array *array_as_contiguous(const damo_array *a, damo_dtype dtype);
/* dst[...] = src with broadcasting of src and conversion; overlap is handled. state error when dst is read-only, shape
 * error when src does not fit. */
damo_status array_assign(damo_array *dst, const damo_array *src);
/* Fills with one value converted as array_cast does. */
damo_status array_fill(damo_array *dst, scalar value);

bool array_is_contiguous(const damo_array *a); /* C order; arrays of size 0 or 1 are */
bool array_is_f_contiguous(const damo_array *a);
bool array_is_exclusive(
    const damo_array *a); /* nobody else holds the array or its buffer: may be overwritten and reused */
bool array_may_overlap(const damo_array *a, const damo_array *b); /* by address ranges: may say true falsely */

bool array_same_shape(const damo_array *a, const damo_array *b);
/* Exact equality of dtype, shape and bits as values (nan equals nan when equal_nan). */
bool array_equal(const damo_array *a, const damo_array *b, bool equal_nan);
/* |a - b| <= atol + rtol |b| everywhere, after broadcasting of equal shapes; nan as told; shape mismatch is false.
 * Dtypes may differ. */
bool array_allclose(const damo_array *a, const damo_array *b, double rtol, double atol, bool equal_nan);

scalar array_get(const damo_array *a, const int64_t *index); /* index of ndim entries, in bounds */
void array_set(damo_array *a, const int64_t *index, scalar value);
scalar array_item(const damo_array *a);              /* the first element; the array is not empty */
scalar scalar_load(damo_dtype dtype, const void *p); /* the element at p, which need not be aligned */
scalar scalar_cast(scalar s, damo_dtype dtype);
double scalar_to_double(scalar s);
int64_t scalar_to_int64(scalar s);
double number_shown(double x); /* for the %g of a message: a nan without its sign, which differs between machines */
/* x as text, with a decimal point whatever the locale: at most so many significant digits, or the fewest that read back
 * to it (0). Returns the length; dst has NUMBER_TEXT_MAX bytes. */
#define NUMBER_TEXT_MAX 64
int number_plain(double x, int digits, char *dst);
/* 0-d array of that value. */
damo_array *array_from_scalar(damo_ctx *ctx, scalar s);

/* NumPy's broadcast of two shapes into out (DAMO_MAX_NDIM long); false when they disagree. */
bool shape_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);

/* Text as NumPy prints it (brackets, aligned columns, 8 significant digits by default, long arrays cut in the middle).
 * array_format: "[[1. 2.]\n [3. 4.]]". Never fails: a failed allocation leaves buf->failed set. */
void array_format(strbuf *buf, const damo_array *a);

/* Debug invariants; returns false and says why through *why. */
bool array_check(const damo_array *a, const char **why);

#endif
