/* layout.c: gives arrays of known lifetimes places in one block of memory.
 *
 * Dynamic storage allocation is NP-hard; two heuristics are tried. Best fit goes through the births in order, as an
 * allocator would, and takes the smallest gap that fits. First fit by decreasing size places the large spans first, each
 * at the lowest offset that is free for its whole life; it costs n² steps, so it is tried for few spans, and only where
 * best fit has left gaps.
 */
#include <stdlib.h>

#include "vm.h"

/* The most spans for which the second heuristic is tried. */
#define LAYOUT_BY_SIZE 512

size_t layout_work(int64_t n) { return (size_t)(n + 1) * (sizeof(int64_t) + sizeof(vm_gap) + sizeof(size_t)); }

static int compare_keys(const void *x, const void *y) {
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* The spans' numbers by death, in the lower halves of the keys. */
static void sort_by_death(const vm_span *s, int64_t n, int64_t *keys) {
  for (int64_t i = 0; i < n; i++) keys[i] = ((int64_t)s[i].death << 32) | i;
  qsort(keys, (size_t)n, sizeof *keys, compare_keys);
}

size_t layout_peak(const vm_span *s, int64_t n, void *work) {
  int64_t *keys = work, next = 0;
  size_t live = 0, peak = 0;
  sort_by_death(s, n, keys);
  for (int64_t i = 0; i < n; i++) {
    for (; next < n && keys[next] >> 32 < s[i].birth; next++) live -= arena_round(s[(int32_t)keys[next]].bytes);
    live += arena_round(s[i].bytes);
    if (live > peak) peak = live;
  }
  return peak;
}

/* ---- Best fit ---------------------------------------------------------------------------------------------------- */

static void gap_remove(vm_gaps *g, int64_t i) {
  g->n--;
  for (; i < g->n; i++) g->at[i] = g->at[i + 1];
}

void gap_release(vm_gaps *g, size_t at, size_t size) {
  int64_t i = g->n;
  while (i > 0 && g->at[i - 1].at > at) i--;
  const bool after = i > 0 && g->at[i - 1].at + g->at[i - 1].size == at;
  const bool before = i < g->n && at + size == g->at[i].at;
  if (after) {
    g->at[i - 1].size += size + (before ? g->at[i].size : 0);
    if (before) gap_remove(g, i);
  } else if (before) {
    g->at[i] = (vm_gap){at, g->at[i].size + size};
  } else {
    for (int64_t k = g->n++; k > i; k--) g->at[k] = g->at[k - 1];
    g->at[i] = (vm_gap){at, size};
  }
  const vm_gap last = g->at[g->n - 1];
  if (last.at + last.size != g->top) return;
  g->top = last.at;
  g->n--;
}

size_t gap_take(vm_gaps *g, size_t size) {
  int64_t best = -1;
  for (int64_t i = 0; i < g->n; i++) {
    if (g->at[i].size >= size && (best < 0 || g->at[i].size < g->at[best].size)) best = i;
  }
  if (best < 0) {
    const size_t at = g->top;
    g->top += size;
    if (g->top > g->most) g->most = g->top;
    return at;
  }
  const size_t at = g->at[best].at;
  g->at[best] = (vm_gap){at + size, g->at[best].size - size};
  if (g->at[best].size == 0) gap_remove(g, best);
  return at;
}

static size_t place_best_fit(vm_span *s, int64_t n, int64_t *keys, vm_gap *gaps) {
  vm_gaps g = {.at = gaps};
  int64_t next = 0;
  sort_by_death(s, n, keys);
  for (int64_t i = 0; i < n; i++) {
    damo_assert(i == 0 || s[i].birth >= s[i - 1].birth);
    for (; next < n && keys[next] >> 32 < s[i].birth; next++) {
      const vm_span *dead = &s[(int32_t)keys[next]];
      gap_release(&g, dead->offset, arena_round(dead->bytes));
    }
    s[i].offset = gap_take(&g, arena_round(s[i].bytes));
  }
  return g.most;
}

/* ---- First fit by size ------------------------------------------------------------------------------------------- */

/* The lowest offset at which span i is free of the placed ones, which are numbers by offset. */
static size_t lowest_free(const vm_span *s, int64_t i, const int64_t *placed, int64_t n, const size_t *offset) {
  size_t at = 0;
  for (int64_t k = 0; k < n; k++) {
    const vm_span *other = &s[placed[k]];
    if (other->death < s[i].birth || other->birth > s[i].death) continue;
    if (offset[placed[k]] >= at + arena_round(s[i].bytes)) break;
    const size_t end = offset[placed[k]] + arena_round(other->bytes);
    if (end > at) at = end;
  }
  return at;
}

static size_t place_by_size(const vm_span *s, int64_t n, int64_t *placed, vm_gap *order, size_t *offset) {
  size_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t k = i;
    for (; k > 0 && order[k - 1].size < s[i].bytes; k--) order[k] = order[k - 1];
    order[k] = (vm_gap){(size_t)i, s[i].bytes};
  }
  for (int64_t j = 0; j < n; j++) {
    const int64_t i = (int64_t)order[j].at;
    offset[i] = lowest_free(s, i, placed, j, offset);
    if (offset[i] + arena_round(s[i].bytes) > most) most = offset[i] + arena_round(s[i].bytes);
    int64_t k = j;
    for (; k > 0 && offset[placed[k - 1]] > offset[i]; k--) placed[k] = placed[k - 1];
    placed[k] = i;
  }
  return most;
}

size_t layout_place(vm_span *s, int64_t n, void *work) {
  int64_t *keys = work;
  vm_gap *gaps = (vm_gap *)(keys + n + 1);
  size_t *offset = (size_t *)(gaps + n + 1);
  const size_t size = place_best_fit(s, n, keys, gaps);
  if (n > LAYOUT_BY_SIZE || size == layout_peak(s, n, work)) return size;
  const size_t by_size = place_by_size(s, n, keys, gaps, offset);
  if (by_size >= size) return size;
  for (int64_t i = 0; i < n; i++) s[i].offset = offset[i];
  return by_size;
}
