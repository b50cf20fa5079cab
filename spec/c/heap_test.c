/* heap_test: base/heap.c: which freed blocks are kept and found again, how many, and what happens if malloc fails. The
 * file itself is included with a counting allocator, so that kept blocks can be told from malloc's. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

/* The counting allocator: blocks in use, number of calls, and the number of calls after which it fails. */
static int live, asked, fail = 1 << 30;
static size_t last_size, last_align;

static bool may_give(size_t size, size_t align) {
  asked++;
  last_size = size;
  last_align = align;
  return fail-- > 0;
}

static void *counted_malloc(size_t size) {
  void *p = may_give(size, 0) ? malloc(size) : NULL;
  live += p != NULL;
  return p;
}

static void *counted_calloc(size_t n, size_t size) {
  live++;
  return calloc(n, size);
}

static void *counted_realloc(void *ptr, size_t size) { return may_give(size, 0) ? realloc(ptr, size) : NULL; }

static int counted_memalign(void **ptr, size_t align, size_t size) {
  if (!may_give(size, align) || posix_memalign(ptr, align, size) != 0) return 1;
  live++;
  return 0;
}

static void counted_free(void *ptr) {
  live -= ptr != NULL;
  free(ptr);
}

#undef _DEFAULT_SOURCE /* the file defines it itself */
#define calloc counted_calloc
#define malloc counted_malloc
#define realloc counted_realloc
#define posix_memalign counted_memalign
#define free counted_free
#include "base/heap.c"
#undef calloc
#undef malloc
#undef realloc
#undef posix_memalign
#undef free

static mem_heap *heap;
static int before; /* blocks in use other than this heap's */

static void open_heap(void) {
  before = live;
  heap = heap_new();
}
static void close_heap(void) {
  heap_free(heap);
  CHECK_EQ_I(live, before);
}
static void *get(size_t size) { return heap_alloc(heap, NULL, 0, size); }
static void put(void *ptr, size_t size) { CHECK(heap_alloc(heap, ptr, size, 0) == NULL); }

static void test_counts(void) {
  open_heap();
  void *p = get(100);
  CHECK_EQ_I(heap->used, 100);
  p = heap_alloc(heap, p, 100, 300);
  CHECK_EQ_I(heap->used, 300);
  p = heap_alloc(heap, p, 300, 50);
  CHECK_EQ_I(heap->used, 50);
  CHECK_EQ_I(heap->peak, 300);
  put(NULL, 0);
  put(NULL, 7);
  CHECK_EQ_I(heap->used, 50);
  fail = 0;
  CHECK(heap_alloc(heap, p, 50, 5000) == NULL);
  CHECK(get(70000) == NULL);
  fail = 1 << 30;
  CHECK_EQ_I(heap->used, 50);
  CHECK_EQ_I(heap->peak, 300);
  put(p, 50);
  CHECK_EQ_I(heap->used, 0);
  close_heap();
}

/* Blocks are rounded up to whole large pages, aligned to one, if that costs at most an eighth. */
static void test_large_pages(void) {
  static const struct {
    size_t size, room;
  } cases[] = {
      {2 * MB - 1, 2 * MB},                    /* just below a large page: a whole one */
      {2 * MB, 2 * MB},                        /* as it is */
      {3 * MB, 3 * MB},                        /* a second page would be a third more */
      {17 * MB, 18 * MB},                      /* 1 MB of 17 */
      {32 * MB, 32 * MB},                      /* no additional page */
      {16 * MB, 16 * MB},                      /* nor if an eighth is a page */
      {33 * MB, 34 * MB},   {1864136, 2 * MB}, /* 233016 more; an eighth is 233017 */
  };
  open_heap();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    void *p = get(cases[i].size);
    CHECK_EQ_I(last_size, cases[i].room);
    CHECK_EQ_I(last_align, 2 * MB);
    put(p, cases[i].size);
    while (heap->n > 0) drop_oldest(heap);
  }
  void *p = get(1864135); /* 233017 more; an eighth is 233016 */
  CHECK_EQ_I(last_size, 1864135);
  CHECK_EQ_I(last_align, 0);
  put(p, 1864135);
  close_heap();
}

#ifdef DAMO_DEBUG

static void test_nothing_is_kept(void) {
  open_heap();
  void *p = get(MB);
  CHECK_EQ_I(live, before + 2);
  put(p, MB);
  CHECK_EQ_I(heap->n, 0);
  close_heap();
}

#else

/* The blocks kept while none of this heap is in use; one block is the heap itself. */
static int kept(void) { return live - before - 1; }

static void test_found_again(void) {
  open_heap();
  const size_t least = 16 * KB, size = 90 * KB;
  void *small = get(least - 1);
  put(small, least - 1);
  CHECK_EQ_I(heap->n, 0); /* the C library caches blocks of this size itself */
  void *p = get(least);
  put(p, least);
  CHECK_EQ_I(heap->n, 1);
  const int calls = asked;
  CHECK(get(least) == p);
  CHECK_EQ_I(asked, calls);
  put(p, least);

  p = get(size);
  put(p, size);
  CHECK_EQ_I(heap->bytes, least + size);
  void *larger = get(size + 1), *other = get(size / 9 * 8 - 9); /* an eighth of the latter is a byte too little */
  CHECK(larger != p && other != p);
  CHECK_EQ_I(heap->n, 2);
  CHECK(get(size / 9 * 8) == p); /* the rest is exactly an eighth */
  put(p, size);
  put(larger, size + 1);
  put(other, size / 9 * 8 - 9);
  close_heap();
}

/* The newest block that fits is reused first; older ones move up. */
static void test_order(void) {
  open_heap();
  const size_t size = 64 * KB;
  void *p[4];
  for (int i = 0; i < 4; i++) p[i] = get(size * (i == 1 ? 2 : 1));
  for (int i = 0; i < 4; i++) put(p[i], size * (i == 1 ? 2 : 1));
  CHECK(get(2 * size) == p[1]);
  CHECK(get(size) == p[3]);
  CHECK(get(size) == p[2]);
  CHECK(get(size) == p[0]);
  CHECK_EQ_I(heap->n, 0);
  CHECK_EQ_I(heap->bytes, 0);
  for (int i = 0; i < 4; i++) put(p[i], size * (i == 1 ? 2 : 1));
  close_heap();
}

/* At most as much is kept as brings the total back to its peak, at least 32 MB in any case, and never more than 256 MB.
 */
static void test_bounds(void) {
  open_heap();
  void *rest = get(60 * MB), *a = get(40 * MB);
  put(a, 40 * MB);
  CHECK_EQ_I(heap->bytes, 40 * MB); /* peak 100, in use 60 */
  a = get(34 * MB);                 /* the kept block is too large for it */
  put(a, 34 * MB);
  CHECK_EQ_I(heap->n, 1); /* the older block was dropped for it */
  CHECK_EQ_I(heap->bytes, 34 * MB);
  a = get(6 * MB);
  put(a, 6 * MB);
  CHECK_EQ_I(heap->n, 2); /* 40 MB to the byte */
  a = get(48 * MB);
  put(a, 48 * MB); /* the peak is 108 now */
  CHECK_EQ_I(heap->bytes, 48 * MB);
  put(rest, 60 * MB);
  CHECK_EQ_I(heap->bytes, 108 * MB);
  void *huge = get(257 * MB);
  put(huge, 257 * MB);
  CHECK_EQ_I(heap->bytes, 108 * MB); /* a single block too large to keep */
  close_heap();

  open_heap();
  rest = get(100 * MB), a = get(MB);
  void *b = get(33 * MB);
  heap->peak = 101 * MB; /* as if the third had replaced it */
  put(b, 33 * MB);
  CHECK_EQ_I(heap->n, 0);
  b = get(32 * MB);
  heap->peak = heap->used;
  put(a, MB);
  CHECK_EQ_I(heap->n, 1);
  put(b, 32 * MB);
  CHECK_EQ_I(heap->bytes, 32 * MB + MB); /* the most that may be kept is 33 */
  put(rest, 100 * MB);
  close_heap();
}

static void test_count_bound(void) {
  open_heap();
  const size_t size = 16 * KB;
  void *p[SPARE_MOST + 1];
  for (int i = 0; i <= SPARE_MOST; i++) p[i] = get(size);
  for (int i = 0; i <= SPARE_MOST; i++) put(p[i], size);
  CHECK_EQ_I(heap->n, SPARE_MOST);
  CHECK_EQ_I(kept(), SPARE_MOST);
  CHECK(heap->spares[0].ptr == p[1] && heap->spares[SPARE_MOST - 1].ptr == p[SPARE_MOST]);
  close_heap();
}

/* A large block that realloc has moved no longer consists of large pages. */
static void test_grown(void) {
  open_heap();
  void *p = get(100 * KB);
  p = heap_alloc(heap, p, 100 * KB, 8 * MB);
  if ((uintptr_t)p % LARGE_PAGE != 0) {
    put(p, 8 * MB);
    CHECK_EQ_I(heap->n, 0);
  } else {
    put(p, 8 * MB);
  }
  p = get(8 * MB);
  put(p, 8 * MB);
  CHECK(heap->spares[heap->n - 1].ptr == p);
  close_heap();
}

/* If malloc fails, the kept blocks are freed and malloc is tried once more. */
static void test_let_go(void) {
  open_heap();
  void *p = get(50 * KB), *q = get(70 * KB);
  put(p, 50 * KB);
  put(q, 70 * KB);
  CHECK_EQ_I(heap->n, 2);
  int calls = asked;
  q = get(30 * KB); /* nothing fails: the kept blocks stay */
  CHECK_EQ_I(heap->n, 2);
  CHECK_EQ_I(asked, calls + 1);
  put(q, 30 * KB);

  fail = 0;
  calls = asked;
  CHECK(get(200 * KB) == NULL);
  CHECK_EQ_I(asked, calls + 2);
  CHECK_EQ_I(heap->n, 0);
  CHECK_EQ_I(kept(), 0);
  calls = asked;
  CHECK(get(200 * KB) == NULL);
  CHECK_EQ_I(asked, calls + 1); /* nothing is kept: malloc is not tried again */
  fail = 1 << 30;

  p = get(50 * KB);
  q = get(70 * KB);
  put(p, 50 * KB);
  fail = 0;
  CHECK(heap_alloc(heap, q, 70 * KB, 90 * KB) == NULL);
  fail = 1 << 30;
  CHECK_EQ_I(heap->n, 0);
  CHECK_EQ_I(heap->used, 70 * KB);
  put(q, 70 * KB);
  close_heap();
}

#endif

int main(void) {
  test_counts();
  test_large_pages();
#ifdef DAMO_DEBUG
  test_nothing_is_kept();
#else
  test_found_again();
  test_order();
  test_bounds();
  test_count_bound();
  test_grown();
  test_let_go();
#endif
  TEST_MAIN_END;
}
