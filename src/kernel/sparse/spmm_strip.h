/* spmm_strip: products of a sparse matrix with a dense row-major block, a strip of columns at a time.
 *
 * A row of a strip is a few vectors that stay in registers while all entries of a major vector are processed. The last
 * vector may overlap the one before it, so that any number of columns takes one pass. Each element is the same sum in
 * the same order for every vector width. */
#ifndef DAMO_KERNEL_SPARSE_SPMM_STRIP_H
#define DAMO_KERNEL_SPARSE_SPMM_STRIP_H

#include "kernel_sparse.h"

/* Y = alpha·A·X + Z, or Y += alpha·Aᵀ·X, for `cols` columns from x, y and z on; strides in elements. */
typedef struct sparse_strip {
  sparse_raw a;
  const void *alpha, *x, *z; /* alpha NULL: 1; z NULL: 0 */
  void *y;
  int64_t cols, x_stride, y_stride, z_stride;
  int64_t known; /* indices that may be read ahead to prefetch rows; 0: no prefetch */
  bool stream;   /* the result is stored with non-temporal stores */
} sparse_strip;

typedef void sparse_strip_fn(const sparse_strip *s);

#define STRIP_SIZES 5 /* 1, 2, 3, 4 and 8 vectors */

/* The kernels for one vector width; widths below the machine's have only those for 1 and 2 vectors. */
typedef struct sparse_strip_fns {
  int64_t bytes;
  sparse_strip_fn *gather[STRIP_SIZES], *scatter[STRIP_SIZES];
} sparse_strip_fns;

/* size, index: bytes of an element, of an index. widths: widest first; the last one holds one element. */
typedef struct sparse_strip_set {
  const sparse_strip_fns *const *widths;
  int64_t size, index;
} sparse_strip_set;

/* Computes all columns, cut into strips. */
void sparse_strips(const sparse_strip_set *set, const sparse_strip *whole, bool scatters);

/* Rows of a large block come in an order that no hardware prefetcher predicts: each is prefetched so many entries
 * ahead. */
#define SPARSE_AHEAD 12
#define SPARSE_LINE 64

/* Prefetches the cache lines from p on. */
static inline void sparse_ask(const void *p, int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += SPARSE_LINE) __builtin_prefetch((const char *)p + k);
}

/* SWAPS_n: shuffle indices that exchange the lanes of each pair. SIGNED_n(v): v in all lanes, negated in the first of
 * each pair. */
#define SWAPS_2 1, 0
#define SWAPS_4 1, 0, 3, 2
#define SWAPS_8 1, 0, 3, 2, 5, 4, 7, 6
#define SWAPS_16 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define SIGNED_2(v) -(v), (v)
#define SIGNED_4(v) SIGNED_2(v), SIGNED_2(v)
#define SIGNED_8(v) SIGNED_4(v), SIGNED_4(v)
#define SIGNED_16(v) SIGNED_8(v), SIGNED_8(v)

#endif
