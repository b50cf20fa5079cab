/* sort: sorting and selecting numbers by keys. Part of kernel: no allocation, no failure; the context is for points alone.
 *
 * An item is a number's key, an unsigned integer in the numbers' order with nan above all and -0 equal to 0, and its
 * 1-based position. Numbers are first converted to sort_wide of their dtype. Complex numbers have no key of 64 bits:
 * they are sorted in passes, by real, then by imaginary parts, those that hold a nan last.
 */
#ifndef DAMO_KERNEL_SORT_H
#define DAMO_KERNEL_SORT_H

#include "base/base.h"

typedef struct sort_item {
  uint64_t key;
  int64_t at;
} sort_item;

/* int64, uint64, float64 or complex128: what numbers of that dtype are converted to. */
damo_dtype sort_wide(damo_dtype dt);
/* The key of the number at p, of a wide dtype that is not complex. */
uint64_t sort_key(const void *p, damo_dtype wide);
/* Whether numbers i and j (0-based) sort equal; all nan do. */
bool sort_equal(const void *wide, damo_dtype dt, int64_t i, int64_t j);

/* The positions 1 … n, without keys. */
void sort_begin(damo_ctx *ctx, sort_item *items, int64_t n);
/* Sorts n items, stable, by the numbers at their positions, which are `step` elements apart; a merge sort in O(n log
 * n). work: n items. Returns the sorted items: items or work. There are points of ctx (ctx_point); where one stops the
 * call, the items are in some order. */
sort_item *sort_by(damo_ctx *ctx, const void *wide, damo_dtype dt, int64_t step, sort_item *items, sort_item *work,
                   int64_t n);
/* Elements that are sorted, merged or moved between two points. */
#define SORT_PART 2048

/* The items of n contiguous numbers of a dtype that is not complex; with `down` in falling order: keys are inverted. */
void sort_fill(damo_ctx *ctx, const void *wide, damo_dtype dt, bool down, sort_item *items, int64_t n);
/* Order below is by key, then by position, so there is one result whatever the order of the items. */
/* Sorts in place. */
void sort_pairs(damo_ctx *ctx, sort_item *items, int64_t n);
/* Reorders the items so that the one at index k (0-based) is where sorting would put it, smaller ones before it, greater
 * ones behind it. */
void sort_select(damo_ctx *ctx, sort_item *items, int64_t n, int64_t k);
/* The k least of n contiguous numbers, sorted, into `least`: one pass with a heap of k items, for a small k. */
void sort_least(damo_ctx *ctx, const void *wide, damo_dtype dt, bool down, int64_t n, sort_item *least, int64_t k);

#endif
