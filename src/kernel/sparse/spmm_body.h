/* spmm_body: products with a dense row-major block (spmm) for one element type. Included with I, IX, T, TX, C, PAIRS,
 * SINGLE (1: a component is a float32), BYTES, STREAM, STREAMS and STREAMED. */
#define FAR_BYTES (1 << 20)    /* larger blocks do not stay in cache */
#define STREAM_BYTES (4 << 20) /* larger results leave the caches before they are read */

#if SINGLE && !PAIRS
#define VB 4
#define LANES 1
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#if SINGLE
#define VB 8
#define LANES 2
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#define VB 16
#define LANES 4
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#if BYTES >= 32
#define VB 32
#define LANES 8
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#if BYTES >= 64
#define VB 64
#define LANES 16
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#else
#if !PAIRS
#define VB 8
#define LANES 1
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#define VB 16
#define LANES 2
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#if BYTES >= 32
#define VB 32
#define LANES 4
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#if BYTES >= 64
#define VB 64
#define LANES 8
#include "spmm_strip_body.h"
#undef VB
#undef LANES
#endif
#endif

#define NAME(f) PASTE4(sp_dense_##f, IX, TX, ISA)
#define STRIPS(bytes) &PASTE2(PASTE4(sp_strip_fns, IX, TX, ISA), bytes)

static const sparse_strip_fns *const NAME(widths)[] = {
#if BYTES >= 64
    STRIPS(64),
#endif
#if BYTES >= 32
    STRIPS(32),
#endif
    STRIPS(16),
#if SINGLE || !PAIRS
    STRIPS(8),
#endif
#if SINGLE && !PAIRS
    STRIPS(4),
#endif
};

static const sparse_strip_set NAME(set) = {NAME(widths), sizeof(T), sizeof(I)};

/* How many indices may be read ahead for prefetching; 0 if the block stays in cache anyway. */
static inline int64_t NAME(known)(const sparse_raw *a, const sparse_block *b) {
  const bool is_far = a->minor > FAR_BYTES / (int64_t)sizeof(T) / (b->cols > 0 ? b->cols : 1);
  return is_far ? ((const I *)a->indptr)[a->major] : 0;
}

/* Whether to store the result with non-temporal stores: it exceeds the caches, is not read, and its rows fill whole
 * cache lines. */
static inline bool NAME(goes_past)(int64_t rows, const sparse_block *z, const sparse_block *y) {
  const int64_t row = y->cols * (int64_t)sizeof(T), step = y->stride * (int64_t)sizeof(T);
  const bool is_read = z && z->data == y->data, in_lines = row % SPARSE_LINE == 0 && step % SPARSE_LINE == 0;
  return STREAMS && !is_read && in_lines && (uintptr_t)y->data % SPARSE_LINE == 0 && row > 0 &&
         rows >= STREAM_BYTES / row;
}

static void NAME(matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *z,
                         const sparse_block *y) {
  const sparse_strip s = {.a = *a,
                          .alpha = alpha,
                          .x = x->data,
                          .z = z ? z->data : NULL,
                          .y = y->data,
                          .cols = y->cols,
                          .x_stride = x->stride,
                          .y_stride = y->stride,
                          .z_stride = z ? z->stride : 0,
                          .known = NAME(known)(a, x),
                          .stream = NAME(goes_past)(a->major, z, y)};
  sparse_strips(&NAME(set), &s, false);
  if (s.stream) STREAMED();
}

static void NAME(matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y) {
  const sparse_strip s = {.a = *a,
                          .alpha = alpha,
                          .x = x->data,
                          .y = y->data,
                          .cols = y->cols,
                          .x_stride = x->stride,
                          .y_stride = y->stride,
                          .known = NAME(known)(a, y)};
  sparse_strips(&NAME(set), &s, true);
}

#undef NAME
#undef STRIPS
#undef FAR_BYTES
#undef STREAM_BYTES
