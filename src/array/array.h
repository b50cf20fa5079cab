/* array: strided n-d arrays over reference-counted buffers.
 *
 * In: dtypes, shapes, raw data. Out: arrays, views, copies, casts, comparisons, text. Always holds: a view keeps its
 * buffer alive; buffers made by damo are 64-byte aligned; shape and strides (in bytes) have ndim entries and every
 * element lies inside the buffer; the size never overflows int64_t; an array that is not writeable is never written
 * through that array object.
 */
#ifndef DAMO_ARRAY_H
#define DAMO_ARRAY_H

#include "base/base.h"

typedef struct damo_buffer {
  damo_obj obj;
  char *data; /* aligned */
  size_t nbytes;
  void *block; /* the allocation, block_size bytes (the buffer object itself if small); NULL for foreign memory */
  size_t block_size;
  void (*release)(void *owner); /* foreign memory: called when the last view is freed; may be NULL */
  void *owner;
  int32_t readers; /* calls in slices that read the buffer: until they end, scripts and hosts can't write it */
} damo_buffer;

#define BUFFER_FROZEN 2 /* obj.flags: the contents are final, every view is read-only (indices of sparse matrices) */
#define BUFFER_PART 4   /* obj.flags: a part of an arena's memory, which its frame keeps (array_part_new) */

struct damo_array {
  damo_obj obj;
  damo_buffer *buf; /* owned; NULL only in a detached array object (array_detach) */
  char *data;       /* first element */
  int32_t ndim;
  uint8_t dtype;
  bool writeable;
  int64_t dims[]; /* shape, then strides in bytes */
};

#define array_shape(a) ((a)->dims)
#define array_strides(a) ((a)->dims + (a)->ndim)
/* Whether who passed the array may write it now. */
static inline bool array_takes_writes(const damo_array *a) {
  return a->writeable && (a->buf == NULL || a->buf->readers == 0);
}
static inline damo_dtype array_dtype(const damo_array *a) { return (damo_dtype)a->dtype; }
static inline int64_t array_size(const damo_array *a) {
  int64_t n = 1;
  for (int i = 0; i < a->ndim; i++) n *= a->dims[i];
  return n;
}

/* One value of any dtype. Signed integers and bool are in i, unsigned integers in u, floats in f, complex numbers in
 * c. */
typedef struct scalar {
  damo_dtype dtype;
  union {
    int64_t i;
    uint64_t u;
    double f;
    damo_c128 c;
  } v;
} scalar;

/* Registers destructors and selects the kernels for this CPU (ctx->isa). Called once by the api layer. */
void array_register(damo_ctx *ctx);

/* *out: the number of elements. A shape error for a negative dimension or too many dimensions, a value error if the
 * number overflows int64_t. */
damo_status shape_size(damo_ctx *ctx, int ndim, const int64_t *shape, int64_t *out);
/* "(2, 3)" as users write shapes: {2, 3}; unknown dims (-1) print as ?. Writes at most n bytes; returns dst. */
char *shape_format(char *dst, size_t n, int ndim, const int64_t *shape);

/* A new C-contiguous array, contents undefined. */
damo_array *array_empty(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A view of base with the same dtype and writeable flag; offset is in bytes from base->data. The caller must ensure
 * that all elements are inside the buffer. */
damo_array *array_view(const damo_array *base, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Makes the existing array object `a` (of rank a->ndim) a view of base without allocating, for cells that are reused in
 * each call. */
void array_reseat(damo_array *a, const damo_array *base, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Releases a view's buffer and keeps the array object for array_reseat. */
void array_detach(damo_array *a);
/* Gives a C-contiguous array that is alone with its buffer another shape of the same rank, whose elements fit into the
 * buffer. The contents are undefined then. */
void array_refit(damo_array *a, const int64_t *shape);

/* A buffer without an array, which serves as the arena of a frame. NULL: memory error. */
damo_buffer *buffer_new(damo_ctx *ctx, size_t nbytes);
/* A C-contiguous array over nbytes of the arena from `offset` on (a multiple of 64), contents undefined. It counts as
 * exclusive, although it does not hold the arena: who makes it keeps the arena as long as the array lives, or calls
 * array_part_keep. */
damo_array *array_part_new(damo_buffer *arena, size_t offset, size_t nbytes, damo_dtype dtype, int ndim,
                           const int64_t *shape);
static inline bool array_is_part(const damo_array *a) { return a->buf != NULL && (a->buf->obj.flags & BUFFER_PART); }
/* Gives such an array, but not its contents, another place, which may be in another arena, and another shape of the same
 * rank. */
void array_part_move(damo_array *a, damo_buffer *arena, size_t offset, size_t nbytes, const int64_t *shape);
/* Makes the array hold the arena, in which it is. It is a part no more, but an array over foreign memory. */
void array_part_keep(damo_array *a, damo_buffer *arena);

/* An array over foreign memory (C-contiguous). release(owner) is called when the last view is freed, or at once on
 * failure. */
damo_array *array_foreign(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, void *data, bool writeable,
                          void (*release)(void *owner), void *owner);
/* The same with strides in bytes (NULL: C order) and with the checks of damo_array_wrap; errors name `func`. */
damo_array *array_wrap(damo_ctx *ctx, const char *func, damo_dtype dtype, int ndim, const int64_t *shape,
                       const int64_t *strides, void *data, bool writeable, void (*release)(void *owner), void *owner);
/* Gives an array over foreign memory, which alone holds its buffer, other memory in the same layout. */
void array_move_foreign(damo_array *a, void *data);
/* A value error if data is not aligned for elements of that dtype. */
damo_status array_check_address(damo_ctx *ctx, const char *func, damo_dtype dtype, const void *data);
/* The byte range [*low, *high) of the elements, relative to the first one, empty if there are none; false if it is
 * longer than memory can be. */
bool layout_extent(damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides, int64_t *low,
                   int64_t *high);
/* Whether two elements overlap, in a layout that has an extent. Exact, but true for layouts whose strides interleave so
 * often that telling takes too long. */
bool layout_overlaps(damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides);
/* A read-only array of ctx over a's memory, which must outlive it, with a's strides. a may belong to another context:
 * its reference counts are not touched. */
damo_array *array_lend(damo_ctx *ctx, const damo_array *a);
/* A C-contiguous copy in ctx; a's reference counts are not touched. */
damo_array *array_copy_to(damo_ctx *ctx, const damo_array *a);
damo_array *array_copy(const damo_array *a); /* fresh, C-contiguous, writeable */
/* A new C-contiguous array with the values cast to that dtype: complex to real drops the imaginary part, float to
 * integer truncates, nan to integer gives 0. */
damo_array *array_cast(const damo_array *a, damo_dtype dtype);
/* a itself (retained) if it is C-contiguous, aligned and of that dtype, else a copy. */
damo_array *array_as_contiguous(const damo_array *a, damo_dtype dtype);
/* dst[...] = src, where src is broadcast and cast; the two may overlap. A state error if dst is read-only, a shape
 * error if src does not broadcast to dst's shape. */
damo_status array_assign(damo_array *dst, const damo_array *src);
/* kernel_copy_nd, memset to 0, and the kernel of a cast of n contiguous values, in parts with points of the context
 * (ctx_point) between them. */
void array_copy_box(damo_ctx *ctx, const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides,
                    int ndim, const int64_t *shape, size_t size);
void array_zero_bytes(damo_ctx *ctx, void *at, size_t bytes);
void array_cast_values(damo_ctx *ctx, damo_dtype from, damo_dtype to, const void *src, void *dst, int64_t n);
/* Sets every element to the value, cast as by array_cast. A state error if dst is read-only. */
damo_status array_fill(damo_array *dst, scalar value);

bool array_is_contiguous(const damo_array *a); /* C order; arrays of size 0 or 1 are */
bool array_is_f_contiguous(const damo_array *a);
/* Writeable, owned memory, no other reference to array or buffer. */
static inline bool array_is_exclusive(const damo_array *a) {
  if (ctx_stress(a->obj.ctx, STRESS_MOVE)) return false;
  if (!a->writeable || a->obj.refs != 1 || !a->buf || a->buf->obj.refs != 1) return false;
  return a->buf->block != NULL || array_is_part(a);
}
bool array_may_overlap(const damo_array *a, const damo_array *b); /* by address ranges: conservative */

bool array_same_shape(const damo_array *a, const damo_array *b);
/* Equality of dtype, shape and values (0.0 equals -0.0; nan equals nan if equal_nan). */
bool array_equal(const damo_array *a, const damo_array *b, bool equal_nan);
/* Whether |a - b| <= atol + rtol |b| for all elements, with equal infinities and, if equal_nan, nan pairs also close.
 * False if the shapes differ; dtypes may differ. */
bool array_allclose(const damo_array *a, const damo_array *b, double rtol, double atol, bool equal_nan);

scalar array_get(const damo_array *a, const int64_t *index); /* index of ndim entries, in bounds */
void array_set(damo_array *a, const int64_t *index, scalar value);
scalar array_item(const damo_array *a);              /* the first element; the array is not empty */
scalar scalar_load(damo_dtype dtype, const void *p); /* the element at p, which need not be aligned */
scalar scalar_cast(scalar s, damo_dtype dtype);
double scalar_to_double(scalar s);
int64_t scalar_to_int64(scalar s);
double number_shown(double x); /* x for the %g of a message: a nan without its sign, which differs between machines */
/* Writes x with at most `digits` significant digits (0: the fewest that read back as x), and with a decimal point
 * whatever the locale. Returns the length; dst has NUMBER_TEXT_MAX bytes. */
#define NUMBER_TEXT_MAX 64
int number_plain(double x, int digits, char *dst);
/* A new 0-d array of that value. */
damo_array *array_from_scalar(damo_ctx *ctx, scalar s);

/* NumPy's broadcast of two shapes into out (DAMO_MAX_NDIM entries); false if they are incompatible. */
bool shape_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);

/* Text as NumPy prints it (brackets, aligned columns, 8 significant digits by default, long arrays cut in the middle).
 * array_format: "[[1. 2.]\n [3. 4.]]". Never fails: a failed allocation leaves buf->failed set. */
void array_format(strbuf *buf, const damo_array *a);

/* Checks the invariants of an array; on false, *why names the violated one. */
bool array_check(const damo_array *a, const char **why);

#endif
