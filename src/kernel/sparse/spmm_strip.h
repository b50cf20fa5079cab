/* spmm_strip: products of a sparse matrix with columns of a dense row-major block, a strip of columns at a time. A
 * row of a strip is a few vectors that stay in registers; the last one may overlap the one before it, so that any
 * number of columns takes one pass. Each element is the same sum in the same order whatever the vectors. */
#ifndef DAMO_KERNEL_SPARSE_SPMM_STRIP_H
#define DAMO_KERNEL_SPARSE_SPMM_STRIP_H

#include "kernel_sparse.h"

/* Y = alpha·A·X + Z, or Y += alpha·Aᵀ·X, on `cols` columns from where x, y and z point to; strides in elements. */
typedef struct sparse_strip {
  sparse_raw a;
  const void *alpha, *x, *z; /* NULL: 1; z NULL: nothing */
  void *y;
  int64_t cols, x_stride, y_stride, z_stride;
  int64_t known; /* so many indices may be read, to ask for rows ahead of their turn; 0: they are near */
  bool stream;   /* the result goes past the caches */
} sparse_strip;

typedef void sparse_strip_fn(const sparse_strip *s);

#define STRIP_SIZES 5 /* 1, 2, 3, 4 and 8 vectors */

/* For one width of vectors; those narrower than the machine's only know 1 and 2 of them. */
typedef struct sparse_strip_fns {
  int64_t bytes;
  sparse_strip_fn *gather[STRIP_SIZES], *scatter[STRIP_SIZES];
} sparse_strip_fns;

/* Elements, indices have so many bytes. widths: widest first, the last one holds one element. */
typedef struct sparse_strip_set {
  const sparse_strip_fns *const *widths;
  int64_t size, index;
} sparse_strip_set;

/* All columns, cut into strips. */
void sparse_strips(const sparse_strip_set *set, const sparse_strip *whole, bool scatters);

/* Rows of a large block are met in no order that the machine foresees: each is asked for so many entries before its
 * turn. */
#define SPARSE_AHEAD 12
#define SPARSE_LINE 64

/* Asks for the lines of memory from p on. */
static inline void sparse_ask(const void *p, int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += SPARSE_LINE) __builtin_prefetch((const char *)p + k);
}

/* Lanes of pairs changed within each; v in all lanes, with the sign changed in the first of each pair. */
#define SWAPS_2 1, 0
#define SWAPS_4 1, 0, 3, 2
#define SWAPS_8 1, 0, 3, 2, 5, 4, 7, 6
#define SWAPS_16 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define SIGNED_2(v) -(v), (v)
#define SIGNED_4(v) SIGNED_2(v), SIGNED_2(v)
#define SIGNED_8(v) SIGNED_4(v), SIGNED_4(v)
#define SIGNED_16(v) SIGNED_8(v), SIGNED_8(v)

#endif
