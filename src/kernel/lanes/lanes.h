/* lanes: small matrices, LANE_COUNT of them at a time, one in each SIMD lane: entry (i, j) of matrix l of n × m ones lies at
 * number (i·m + j)·LANE_COUNT + l. Factorizations and substitutions by the textbook's loops (G. H. Golub, C. F. Van Loan,
 * Matrix computations, 3.1, 3.4, 4.2), with LAPACK's choice of pivots. The bits do not depend on the instruction set, nor
 * on the lane.
 */
#ifndef DAMO_KERNEL_LANES_H
#define DAMO_KERNEL_LANES_H

#include "base/base.h"

#define LANE_COUNT 32

/* Of one dtype, float or double; arrays of it are `void *`. */
typedef struct lane_fns {
  /* a (n × n) becomes L and U of P·a, L without its ones; pivots (n): the row, from 1, that row p was swapped with.
   * failed[l]: the first pivot, from 1, that is 0, else 0. */
  void (*factor)(int n, void *a, void *pivots, uint8_t *failed);
  /* b (n × k) becomes x of a·x = b, or with `transposed` of aᵀ·x = b. */
  void (*solve)(int n, int k, const void *lu, const void *pivots, bool transposed, void *b);
  /* The same for a triangle of a. */
  void (*substitute)(int n, int k, const void *a, bool lower, bool unit, bool transposed, void *b);
  /* The lower triangle of a becomes its Cholesky factor, the upper one 0. failed[l]: the order of the first leading minor
   * that is not positive, else 0. */
  void (*cholesky)(int n, void *a, uint8_t *failed);
  /* failed[l]: the first entry on a's diagonal, from 1, that is 0, else 0. */
  void (*zero_diagonal)(int n, const void *a, uint8_t *failed);
  /* det (1): the product of the diagonal, and the sign of the swaps. */
  void (*determinant)(int n, const void *lu, const void *pivots, void *det);
} lane_fns;

/* [0] for float32, [1] for float64 */
extern const lane_fns lane_fns_base[2], lane_fns_avx2[2], lane_fns_avx512[2];

#endif
