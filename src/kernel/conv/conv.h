/* conv: the products that convolutions are made of.
 *
 * A sample is copied with its padding (conv_pad), so that for a tap of the filter (a channel and a place in the filter) the
 * entries that it meets at consecutive positions of the result lie one after the other: at a distance from the position
 * that depends on the tap alone. Along an axis with a stride the copy has the entries of each residue (phase) together.
 * Positions run over rows of the copy, past the end of the result's rows: what is computed there is left out when results
 * are copied. So a product needs no matrix of patches.
 *
 * Each entry of a result is the sum of its terms in the order of the taps, whatever tile it lies in.
 */
#ifndef DAMO_KERNEL_CONV_H
#define DAMO_KERNEL_CONV_H

#include "kernel/isa.h"

#define CONV_AXES 3

/* Axes of a sample: [channels][phases of the three axes][three lengths], C-contiguous. */
typedef struct conv_source {
  int64_t channels;
  int64_t in[CONV_AXES];     /* of the array copied */
  int64_t first[CONV_AXES];  /* the array's position that the copy's position 0 stands for: -padding */
  int64_t phases[CONV_AXES]; /* strides */
  int64_t length[CONV_AXES]; /* of each phase */
} conv_source;

/* Elements of the copy, without what kernels read past its end. */
int64_t conv_source_size(const conv_source *s);
/* The distance of position `at` (from 0, in the padded array) of a channel in the copy. */
int64_t conv_source_offset(const conv_source *s, int64_t channel, const int64_t *at);
/* Copies one sample's channels, which lie C-contiguous one after the other; zeros where the array has no entries. The
 * `past` elements after the copy become 0. size: bytes of an element, 4 or 8. The pool, if any, has points where it cuts. */
void conv_pad(const conv_source *s, size_t size, const void *x, void *to, int64_t past, thread_pool *pool);

/* The number of rows of the next panel of packed weights, where `left` rows are left: a power of two up to `most`. */
static inline int64_t conv_panel(int64_t left, int64_t most) {
  while (most > left) most /= 2;
  return most;
}

/* Positions of results, and where they go: position (a, b, c) of `length` belongs at origin + step · position. */
typedef struct conv_grid {
  int64_t length[CONV_AXES], origin[CONV_AXES], step[CONV_AXES];
  int64_t shape[CONV_AXES]; /* of a plane of the results */
} conv_grid;

/* Copies the results of positions from … from + n - 1 of slab a, (b, c) being number b·pitch + c, to their places.
 * results: `rows` rows a `row` of elements apart; to: planes, one a row. */
void conv_put(const conv_grid *g, size_t size, int64_t a, int64_t pitch, int64_t from, int64_t n, int64_t rows,
              const void *results, int64_t row, void *to);
/* The cotangents of slab a as a matrix: row b·pitch + c has the `rows` planes' entries, then zeros up to `width`. Rows
 * that belong to no result are 0. */
void conv_transpose_slab(const conv_grid *g, size_t size, int64_t a, int64_t pitch, int64_t rows, const void *planes,
                         int64_t width, void *to, thread_pool *pool);

#define CONV_PART 4096 /* entries that are copied between two points */
/* A point of the pool where the entries copied since the last one, *since and these, are so many. */
static inline void conv_point_after(thread_pool *pool, int64_t *since, int64_t entries) {
  if ((*since += entries) < CONV_PART) return;
  *since = 0;
  pool_point(pool);
}

extern const conv_isa conv_isa_base;
#if defined(__x86_64__)
extern const conv_isa conv_isa_avx2, conv_isa_avx512;
extern const conv_isa conv_isa_plain_avx2, conv_isa_plain_avx512; /* with the bits of base */
#endif

#endif
