/* sort: stable merge sort by keys; selection and sorting of pairs of key and position. */
#include "sort.h"

#include <math.h>
#include <string.h>

damo_dtype sort_wide(damo_dtype dt) {
  if (dtype_is_complex(dt)) return DAMO_COMPLEX128;
  if (dtype_is_float(dt)) return DAMO_FLOAT64;
  return dt == DAMO_BOOL || dtype_is_signed(dt) ? DAMO_INT64 : DAMO_UINT64;
}

static inline uint64_t key_of_signed(int64_t v) { return (uint64_t)v ^ (UINT64_C(1) << 63); }

static inline uint64_t key_of_double(double v) {
  uint64_t bits;
  if (isnan(v)) return UINT64_MAX;
  v += 0.0; /* -0 equals 0 */
  memcpy(&bits, &v, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

uint64_t sort_key(const void *p, damo_dtype wide) {
  if (wide == DAMO_FLOAT64) return key_of_double(*(const double *)p);
  return wide == DAMO_INT64 ? key_of_signed(*(const int64_t *)p) : *(const uint64_t *)p;
}

static bool same_key(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

bool sort_equal(const void *wide, damo_dtype dt, int64_t i, int64_t j) {
  if (dt == DAMO_COMPLEX128) {
    const damo_c128 *z = wide;
    return same_key(z[i].re, z[j].re) && same_key(z[i].im, z[j].im);
  }
  const char *x = wide;
  return sort_key(x + i * 8, dt) == sort_key(x + j * 8, dt);
}

/* ---- Stable sorting ---------------------------------------------------------------------------------------------- */

void sort_begin(damo_ctx *ctx, sort_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    items[i].at = i + 1;
    ctx_point_each(ctx, i, SORT_PART);
  }
}

/* Stable merge of the sorted runs a[0, middle) and a[middle, n) into out. */
static void merge_runs(damo_ctx *ctx, const sort_item *a, int64_t middle, int64_t n, sort_item *out) {
  int64_t i = 0, j = middle;
  for (int64_t k = 0; k < n;) {
    const int64_t end = n - k < SORT_PART ? n : k + SORT_PART;
    for (; k < end; k++) {
      bool left = j >= n || (i < middle && a[i].key <= a[j].key);
      out[k] = left ? a[i++] : a[j++];
    }
    if (end < n) ctx_point(ctx);
  }
}

/* Bottom-up merge sort of a's n items, stable, in O(n log n); b is a workspace of n items. Returns the result: a or
 * b. */
static sort_item *merge_sort(damo_ctx *ctx, sort_item *a, sort_item *b, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t i = 0, since = 0; i < n; i += 2 * width) {
      int64_t left = n - i, run = left < 2 * width ? left : 2 * width;
      merge_runs(ctx, a + i, run < width ? run : width, run, b + i);
      if ((since += run) < SORT_PART) continue;
      since = 0;
      ctx_point(ctx);
      if (ctx_is_stopped(ctx)) return a;
    }
    sort_item *swap = a;
    a = b, b = swap;
  }
  return a;
}

static bool has_nan(damo_c128 z) { return isnan(z.re) || isnan(z.im); }

/* Sorts by real, then imaginary parts with three stable passes: by imaginary parts, by real parts, and elements that
 * hold a nan last. As in NumPy a nan real part comes after a nan imaginary one: the second pass orders them so, the
 * third keeps that. */
static sort_item *sort_by_complex(damo_ctx *ctx, const damo_c128 *z, int64_t step, sort_item *a, sort_item *b,
                                  int64_t n) {
  for (int pass = 0; pass < 3; pass++) {
    for (int64_t i = 0; i < n; i++) {
      const damo_c128 v = z[(a[i].at - 1) * step];
      a[i].key = pass == 0 ? key_of_double(v.im) : pass == 1 ? key_of_double(v.re) : has_nan(v);
    }
    sort_item *sorted = merge_sort(ctx, a, b, n);
    b = sorted == a ? b : a;
    a = sorted;
  }
  return a;
}

sort_item *sort_by(damo_ctx *ctx, const void *wide, damo_dtype dt, int64_t step, sort_item *items, sort_item *work,
                   int64_t n) {
  if (dt == DAMO_COMPLEX128) return sort_by_complex(ctx, wide, step, items, work, n);
  for (int64_t i = 0; i < n;) {
    const int64_t end = n - i < SORT_PART ? n : i + SORT_PART;
    for (; i < end; i++) items[i].key = sort_key((const char *)wide + (items[i].at - 1) * step * 8, dt);
    if (end < n) ctx_point(ctx);
  }
  return merge_sort(ctx, items, work, n);
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

void sort_fill(damo_ctx *ctx, const void *wide, damo_dtype dt, bool down, sort_item *items, int64_t n) {
  const uint64_t flip = down ? UINT64_MAX : 0;
  for (int64_t i = 0; i < n; i++) {
    items[i].key = sort_key((const char *)wide + i * 8, dt) ^ flip;
    items[i].at = i + 1;
    ctx_point_each(ctx, i, SORT_PART);
  }
}

static inline bool pair_less(sort_item a, sort_item b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }

static inline void pair_swap(sort_item *a, sort_item *b) {
  const sort_item t = *a;
  *a = *b;
  *b = t;
}

/* Moves the item at i down in a heap of n items whose greatest item is the first. */
static void sift_down(sort_item *heap, int64_t i, int64_t n) {
  const sort_item moved = heap[i];
  for (int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
    if (child + 1 < n && pair_less(heap[child], heap[child + 1])) child++;
    if (!pair_less(moved, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = moved;
}

#define HEAP_PART 64 /* items that sink between two points */

static void heap_make(damo_ctx *ctx, sort_item *items, int64_t n) {
  for (int64_t i = n / 2 - 1; i >= 0; i--) {
    sift_down(items, i, n);
    ctx_point_each(ctx, i, HEAP_PART);
  }
}

/* Sorts a heap. */
static void heap_unwind(damo_ctx *ctx, sort_item *items, int64_t n) {
  for (int64_t end = n - 1; end > 0; end--) {
    pair_swap(&items[0], &items[end]);
    sift_down(items, 0, end);
    ctx_point_each(ctx, end, HEAP_PART);
  }
}

static void insertion_sort(sort_item *items, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const sort_item v = items[i];
    int64_t j = i;
    for (; j > 0 && pair_less(v, items[j - 1]); j--) items[j] = items[j - 1];
    items[j] = v;
  }
}

#define SORT_SMALL 24
#define PARTITION_PART 512 /* items that a partition passes between two points: half of its jumps are guessed wrong */

/* Hoare's partition of n > SORT_SMALL items around the median of three: gives m, 0 < m < n, such that none of the first
 * m items is greater than any other one. */
static int64_t pair_partition(damo_ctx *ctx, sort_item *items, int64_t n) {
  const int64_t middle = n / 2;
  if (pair_less(items[middle], items[0])) pair_swap(&items[middle], &items[0]);
  if (pair_less(items[n - 1], items[middle])) {
    pair_swap(&items[n - 1], &items[middle]);
    if (pair_less(items[middle], items[0])) pair_swap(&items[middle], &items[0]);
  }
  const sort_item pivot = items[middle];
  int64_t i = 0, j = n - 1;
  for (;;) {
    for (; pair_less(items[i], pivot); i++) ctx_point_each(ctx, i, PARTITION_PART);
    for (; pair_less(pivot, items[j]); j--) ctx_point_each(ctx, j, PARTITION_PART);
    if (i >= j) return i > 0 ? i : 1;
    pair_swap(&items[i++], &items[j--]);
  }
}

/* The partitions after which a heap sort takes over: 2 log2 n. */
static int partition_limit(int64_t n) {
  int limit = 0;
  for (; n > 0; n >>= 1) limit += 2;
  return limit;
}

void sort_pairs(damo_ctx *ctx, sort_item *items, int64_t n) {
  for (int limit = partition_limit(n); n > SORT_SMALL; limit--) {
    if (limit == 0) {
      heap_make(ctx, items, n);
      heap_unwind(ctx, items, n);
      return;
    }
    const int64_t m = pair_partition(ctx, items, n);
    /* The smaller part by recursion: its depth is below log2 n. */
    if (m <= n - m) {
      sort_pairs(ctx, items, m);
      items += m;
      n -= m;
    } else {
      sort_pairs(ctx, items + m, n - m);
      n = m;
    }
  }
  insertion_sort(items, n);
}

void sort_select(damo_ctx *ctx, sort_item *items, int64_t n, int64_t k) {
  for (int limit = partition_limit(n); n > SORT_SMALL; limit--) {
    if (limit == 0) {
      heap_make(ctx, items, n);
      heap_unwind(ctx, items, n);
      return;
    }
    const int64_t m = pair_partition(ctx, items, n);
    if (k < m) {
      n = m;
    } else {
      items += m;
      n -= m;
      k -= m;
    }
  }
  insertion_sort(items, n);
}

void sort_least(damo_ctx *ctx, const void *wide, damo_dtype dt, bool down, int64_t n, sort_item *least, int64_t k) {
  const uint64_t flip = down ? UINT64_MAX : 0;
  if (k == 0) return;
  sort_fill(ctx, wide, dt, down, least, k);
  heap_make(ctx, least, k);
  for (int64_t i = k; i < n; i++) {
    const uint64_t key = sort_key((const char *)wide + i * 8, dt) ^ flip;
    ctx_point_each(ctx, i, HEAP_PART);
    if (key >= least[0].key) continue; /* an equal one before it stays */
    least[0] = (sort_item){key, i + 1};
    sift_down(least, 0, k);
  }
  heap_unwind(ctx, least, k);
}
