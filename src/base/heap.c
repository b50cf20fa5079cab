/* heap: the allocator of a context whose host gives none.
 *
 * It is malloc, with two things that large blocks gain from. They ask for large pages, so that touching fresh memory
 * costs a fraction of the faults. And freed ones are kept for a while: the C library would give them back to the
 * system, which clears every page again for the next result of the same size. Kept is no more than brings the whole
 * back to the most that was ever in use, between spare_low and spare_high; no count of the context includes it, and it
 * is let go when malloc fails. Debug builds keep nothing, so that a sanitizer sees each block's end.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base_int.h"

#define LARGE_PAGE ((size_t)2 << 20)

#ifdef DAMO_DEBUG
static const size_t spare_low = 0, spare_high = 0;
#else
static const size_t spare_low = (size_t)32 << 20, spare_high = (size_t)256 << 20;
#endif
#define SPARE_LEAST ((size_t)16 << 10) /* the C library has smaller ones ready */
#define SPARE_MOST 128

typedef struct heap_spare {
  void *ptr;
  size_t size; /* that may be used; at least what was asked for last */
} heap_spare;

struct mem_heap {
  heap_spare spares[SPARE_MOST]; /* n of them, oldest first, `bytes` in all */
  int n;
  size_t bytes, used, peak; /* used: by the context */
};

static bool is_bounded(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool heap_is_limited(void) { return is_bounded(RLIMIT_AS) || is_bounded(RLIMIT_DATA); }

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
  free(h);
}

/* A kept block of at least size bytes, and not much more; the newest, which may still be in the caches. */
static void *take_spare(mem_heap *h, size_t size) {
  for (int i = h->n - 1; i >= 0; i--) {
    const heap_spare s = h->spares[i];
    if (s.size < size || s.size - size > size / 8) continue;
    remove_spare(h, i);
    return s.ptr;
  }
  return NULL;
}

/* While `used` bytes are in use. */
static size_t most_kept(const mem_heap *h, size_t used) {
  const size_t bytes = h->peak - used;
  return bytes < spare_low ? spare_low : bytes < spare_high ? bytes : spare_high;
}

/* A large block that grew to its size has small pages. */
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

/* Up to whole large pages where that costs an eighth at most: the rest of a block would have small ones. */
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
  (void)madvise(ptr, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* no more than advice */
#endif
  return ptr;
}

static void *heap_block_grow(void *ptr, size_t size) { return ptr ? realloc(ptr, size) : heap_block_new(size); }

static void *take(mem_heap *h, void *ptr, size_t size) {
  void *got = !ptr && size >= SPARE_LEAST ? take_spare(h, size) : NULL;
  if (!got) got = heap_block_grow(ptr, size);
  if (got || h->n == 0) return got;
  while (h->n > 0) drop_oldest(h);
  return heap_block_grow(ptr, size);
}

void *heap_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  mem_heap *h = user;
  if (nsize == 0) {
    heap_release(h, ptr, osize);
    h->used -= ptr ? osize : 0;
    return NULL;
  }
  void *got = take(h, ptr, nsize);
  if (!got) return NULL;
  h->used += nsize - (ptr ? osize : 0);
  if (h->used > h->peak) h->peak = h->used;
  return got;
}
