/* heap: the default allocator of a context.
 *
 * It is malloc with three additions. Small blocks are cut from chunks (slab.c). Large blocks are allocated on huge pages
 * (madvise), which costs a fraction of the page faults. And freed large blocks are cached: the C library would return
 * them to the system, which clears every page again for the next result of the same size. The cache holds at most
 * peak - used bytes, bounded by spare_low from below and spare_high from above; the context's counts do not include it,
 * and it is emptied when malloc fails. In debug builds each block is malloc's, and none is cached, so that a sanitizer
 * sees it freed.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <stdlib.h>
#include <string.h>

#include "base_int.h"

#if DAMO_POSIX
#include <sys/mman.h>
#include <sys/resource.h>
#endif

#define LARGE_PAGE ((size_t)2 << 20)

#ifdef DAMO_DEBUG
static const size_t spare_low = 0, spare_high = 0, small_most = 0;
#else
static const size_t spare_low = (size_t)32 << 20, spare_high = (size_t)256 << 20, small_most = SLAB_MOST;
#endif
#define SPARE_LEAST ((size_t)16 << 10) /* the C library caches smaller ones itself */
#define SPARE_MOST 128

typedef struct heap_spare {
  void *ptr;
  size_t size; /* usable bytes */
} heap_spare;

struct mem_heap {
  heap_spare spares[SPARE_MOST]; /* n cached blocks, oldest first, `bytes` in total */
  int n;
  size_t bytes, used, peak; /* used: bytes in use by the context */
  mem_slab small;
};

#if DAMO_POSIX
static bool is_bounded(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool heap_is_limited(void) { return is_bounded(RLIMIT_AS) || is_bounded(RLIMIT_DATA); }
#else
bool heap_is_limited(void) { return false; }
#endif

mem_heap *heap_new(void) { return calloc(1, sizeof(mem_heap)); }

static void remove_spare(mem_heap *h, int i) {
  h->bytes -= h->spares[i].size;
  h->n--;
  memmove(h->spares + i, h->spares + i + 1, (size_t)(h->n - i) * sizeof *h->spares);
}

static void drop_oldest(mem_heap *h) {
  free(h->spares[0].ptr);
  remove_spare(h, 0);
}

void heap_free(mem_heap *h) {
  while (h->n > 0) drop_oldest(h);
  slab_free(&h->small);
  free(h);
}

/* Takes a cached block of at least size bytes and at most an eighth more than needed; the newest one, which may still
 * be in the CPU's caches. */
static void *take_spare(mem_heap *h, size_t size) {
  for (int i = h->n - 1; i >= 0; i--) {
    const heap_spare s = h->spares[i];
    if (s.size < size || s.size - size > size / 8) continue;
    remove_spare(h, i);
    return s.ptr;
  }
  return NULL;
}

/* The most bytes that may be cached while `used` bytes are in use. */
static size_t most_kept(const mem_heap *h, size_t used) {
  const size_t bytes = h->peak - used;
  return bytes < spare_low ? spare_low : bytes < spare_high ? bytes : spare_high;
}

/* Whether to cache the block. A large one that is not aligned to a huge page was grown by realloc and has small
 * pages. */
static bool is_worth_keeping(const void *ptr, size_t size) {
  return size >= SPARE_LEAST && (size < LARGE_PAGE || (uintptr_t)ptr % LARGE_PAGE == 0);
}

static void heap_release(mem_heap *h, void *ptr, size_t size) {
  const size_t most = most_kept(h, h->used - size);
  if (!ptr || size > most || !is_worth_keeping(ptr, size)) {
    free(ptr);
    return;
  }
  while (h->n == SPARE_MOST || h->bytes + size > most) drop_oldest(h);
  h->spares[h->n++] = (heap_spare){ptr, size};
  h->bytes += size;
}

#if DAMO_POSIX
/* The size rounded up to whole huge pages if that adds at most an eighth: otherwise the end of a block would have small
 * pages. */
static size_t in_large_pages(size_t size) {
  const size_t whole = size / LARGE_PAGE * LARGE_PAGE, left = size - whole;
  return left > 0 && LARGE_PAGE - left <= size / 8 ? whole + LARGE_PAGE : size;
}

static void *heap_block_new(size_t size) {
  const size_t bytes = in_large_pages(size);
  if (bytes < LARGE_PAGE) return malloc(size);
  void *ptr = NULL;
  if (posix_memalign(&ptr, LARGE_PAGE, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  (void)madvise(ptr, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* advice: may be ignored */
#endif
  return ptr;
}
#else
static void *heap_block_new(size_t size) { return malloc(size); }
#endif

static void *heap_block_grow(void *ptr, size_t size) { return ptr ? realloc(ptr, size) : heap_block_new(size); }

static void *take(mem_heap *h, void *ptr, size_t size) {
  void *got = !ptr && size >= SPARE_LEAST ? take_spare(h, size) : NULL;
  if (!got) got = heap_block_grow(ptr, size);
  if (got || h->n == 0) return got;
  while (h->n > 0) drop_oldest(h);
  return heap_block_grow(ptr, size);
}

static void *take_from_slab(mem_heap *h, size_t size) {
  void *got = slab_alloc(&h->small, size);
  if (got || h->n == 0) return got;
  while (h->n > 0) drop_oldest(h);
  return slab_alloc(&h->small, size);
}

/* A block that is small before, or after, or both; NULL: no memory. */
static void *take_small(mem_heap *h, void *ptr, size_t osize, size_t nsize) {
  const bool was_small = ptr && osize <= small_most;
  if (was_small && nsize <= small_most && slab_is_same_class(osize, nsize)) return ptr;
  void *got = nsize <= small_most ? take_from_slab(h, nsize) : take(h, NULL, nsize);
  if (!got || !ptr) return got;
  memcpy(got, ptr, osize < nsize ? osize : nsize);
  if (was_small)
    slab_release(&h->small, ptr, osize);
  else
    heap_release(h, ptr, osize);
  return got;
}

void *heap_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  mem_heap *h = user;
  if (nsize == 0) {
    damo_assert(!ptr || h->used >= osize);
    if (ptr && osize <= small_most)
      slab_release(&h->small, ptr, osize);
    else
      heap_release(h, ptr, osize);
    h->used -= ptr ? osize : 0;
    return NULL;
  }
  void *got =
      nsize <= small_most || (ptr && osize <= small_most) ? take_small(h, ptr, osize, nsize) : take(h, ptr, nsize);
  if (!got) return NULL;
  h->used += nsize - (ptr ? osize : 0);
  if (h->used > h->peak) h->peak = h->used;
  return got;
}
