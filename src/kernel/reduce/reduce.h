/* reduce: sums, products, extremes and their positions along axes of strided arrays. */
#ifndef DAMO_KERNEL_REDUCE_REDUCE_H
#define DAMO_KERNEL_REDUCE_REDUCE_H

#include "base/base.h"

typedef enum reduce_kind {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MAX,
  REDUCE_MIN,
  REDUCE_ANY,
  REDUCE_ALL,
  REDUCE_ARGMAX,
  REDUCE_ARGMIN,
  REDUCE_LOGSUMEXP,
  REDUCE_SUM_SQR,    /* of |x|² */
  REDUCE_SUM_SQR_DEV /* of (x - mean)², mean = sum / n */
} reduce_kind;

/* The output dtype of a reduction over dtype `in`: sum and prod of bool and signed integers int64, of unsigned uint64;
 * any, all bool; argmax, argmin int64 (1-based positions); logsumexp dtype_to_float; sum_sqr of complex the matching
 * float; others `in`. */
damo_dtype reduce_out_dtype(reduce_kind kind, damo_dtype in);
/* false when the kind is not defined for the dtype (logsumexp of complex, sum_sqr of integers, sum_sqr_dev of what is no float). */
bool reduce_supported(reduce_kind kind, damo_dtype in);

/* Reduces x (dtype `in`, shape and byte strides of ndim entries) over the axes whose bit is set in `axes`, into `out`:
 * C-contiguous over the kept axes, of reduce_out_dtype. float sums and products are pairwise in blocks, with an order
 * that depends on the shape alone. Empty: sum 0, prod 1, any false, all true; max, min, argmax, argmin over an empty
 * axis must not be asked for. max, min, argmax, argmin give nan (the first nan's position) where there is a nan. argmax
 * over several axes counts positions in C order over the reduced axes. sum_sqr_dev takes two passes, and has the bits of
 * a sum, a division by the number of elements, differences, squares and their sum. work: reduce_workspace bytes, 64-byte
 * aligned. */
size_t reduce_workspace(reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape, uint32_t axes);
void kernel_reduce(const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x, int ndim,
                   const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work);

/* The same, divided among the threads of the pool (NULL: this one), with the same bits for any number of them. */
size_t reduce_workspace_on(const thread_pool *pool, reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape,
                           uint32_t axes);
void kernel_reduce_on(thread_pool *pool, const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x,
                      int ndim, const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work);

/* One result of a reduction whose elements come in blocks, for a loop that computes them: the bits are kernel_reduce's.
 * Each block has REDUCE_FOLD_BLOCK elements but the last, which may be shorter; there is at least one element. Not for
 * logsumexp and sum_sqr_dev, which take two passes. */
#define REDUCE_FOLD_BLOCK 512

typedef struct reduce_fold reduce_fold;

size_t reduce_fold_bytes(void); /* of a fold; 64-byte aligned memory */
void reduce_fold_init(reduce_fold *f, const kernel_isa *isa, reduce_kind kind, damo_dtype in);
/* Begins a result of that many elements. */
void reduce_fold_begin(reduce_fold *f, int64_t n_per);
void reduce_fold_add(reduce_fold *f, const void *block, int64_t n);
/* Writes the result, of reduce_out_dtype. */
void reduce_fold_end(reduce_fold *f, void *out);

/* A result whose elements come in parts, each on a thread of its own: a part is a whole subtree of the pairwise tree, so
 * the bits stay. Each but the last, which may be shorter and is added by reduce_fold_add, has REDUCE_PART elements. */
#define REDUCE_PART_LEVEL 7
#define REDUCE_PART ((int64_t)REDUCE_FOLD_BLOCK << REDUCE_PART_LEVEL)

typedef struct reduce_part {
  _Alignas(16) char value[16];
  int64_t at;
} reduce_part;

/* Takes what a fold has after the REDUCE_PART elements of a part; it was begun with the elements of the whole result. */
void reduce_fold_part(const reduce_fold *f, reduce_part *part);
/* Adds the next part to the fold of the result. */
void reduce_fold_join(reduce_fold *f, const reduce_part *part);

/* Results side by side, whose elements come as rows, for a loop that computes them: row i holds element i of each result.
 * The bits are kernel_reduce's. There is at least one row. Not for logsumexp and sum_sqr_dev. */
typedef struct reduce_sides reduce_sides;

/* Bytes for results of n_per elements each, at most `width` of them; 64-byte aligned memory. */
size_t reduce_sides_bytes(reduce_kind kind, damo_dtype in, int64_t width, int64_t n_per);
void reduce_sides_init(reduce_sides *f, const kernel_isa *isa, reduce_kind kind, damo_dtype in, int64_t width,
                       int64_t n_per);
/* Begins so many results. */
void reduce_sides_begin(reduce_sides *f, int64_t width);
/* Adds the next m elements of each: m rows, contiguous. */
void reduce_sides_add(reduce_sides *f, const void *rows, int64_t m);
/* Writes the results, of reduce_out_dtype. */
void reduce_sides_end(reduce_sides *f, void *out);

#endif
