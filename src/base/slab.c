/* slab: small blocks of the default allocator.
 *
 * Nodes, Variables, lists and names of a graph are blocks of a few dozen bytes that come and go by the thousand. Sizes
 * are rounded up to classes of SLAB_STEP bytes. A class keeps its free blocks in a list, and new ones are cut from
 * pages, one after another, so that what a graph makes in a row lies in a row.
 *
 * A list of free blocks is in the order in which they were released, and a graph made of them lies scattered: walks over
 * 30,000 nodes took 1.6 times as long. So a page counts its blocks in use. Once half of the pages in use have none, a
 * sweep takes the blocks of such pages off the lists, and the pages are cut anew from their start, in order of address.
 * A sweep costs a step a free block, of which it drops most. Arenas, which hold the pages, are given back with the heap.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base_int.h"

#define PAGE ((size_t)16 << 10)
#define ARENA_FIRST (2 * PAGE)
#define ARENA_LAST (64 * PAGE)
#define SWEEP_LEAST 16 /* pages without blocks in use */

struct slab_link {
  slab_link *next;
};

/* The head of a page, which is aligned to its size. */
struct slab_page {
  slab_page *next; /* of the empty ones */
  size_t live;     /* blocks in use; one more while the page is being cut */
};

/* The head of an arena; its pages begin at the next multiple of PAGE. */
struct slab_arena {
  slab_arena *next;
  size_t size;
};

static size_t class_of(size_t size) { return (size - 1) / SLAB_STEP; }

static slab_page *page_of(const void *block) { return (slab_page *)((uintptr_t)block & ~(uintptr_t)(PAGE - 1)); }

static void put_block(mem_slab *s, size_t class, void *block) {
  slab_link *link = block;
  link->next = s->free[class];
  s->free[class] = link;
}

/* Puts the arena's pages without blocks in use before the empty ones; the first page will be the first. */
static void collect_empty(mem_slab *s, slab_arena *arena) {
  char *end = (char *)page_of((char *)arena + arena->size), *first = (char *)page_of((char *)(arena + 1) + PAGE - 1);
  while (end != first) {
    slab_page *page = (slab_page *)(void *)(end -= PAGE);
    if (page->live > 0) continue;
    page->next = s->empty;
    s->empty = page;
    s->n_empty++;
  }
}

static bool add_arena(mem_slab *s) {
  const size_t size = s->arenas == NULL ? ARENA_FIRST : s->arenas->size < ARENA_LAST ? 2 * s->arenas->size : ARENA_LAST;
  slab_arena *arena = malloc(size);
  if (arena == NULL) return false;
  *arena = (slab_arena){s->arenas, size};
  s->arenas = arena;
  char *end = (char *)page_of((char *)arena + size);
  for (char *at = (char *)page_of((char *)(arena + 1) + PAGE - 1); at != end; at += PAGE) {
    *(slab_page *)(void *)at = (slab_page){NULL, 0};
    s->n_pages++;
  }
  collect_empty(s, arena);
  return true;
}

static void drop_use(mem_slab *s, slab_page *page) {
  if (--page->live == 0) s->n_vacant++;
}

/* Begins to cut the next empty page. The end of the last one becomes a free block. */
static bool open_page(mem_slab *s) {
  if (s->empty == NULL && !add_arena(s)) return false;
  if (s->left >= SLAB_STEP) put_block(s, s->left / SLAB_STEP - 1, s->at);
  if (s->open != NULL) drop_use(s, s->open);
  s->open = s->empty;
  s->empty = s->open->next;
  s->n_empty--;
  s->open->live = 1;
  s->at = (char *)s->open + sizeof(slab_page); /* blocks are aligned as malloc's are */
  s->left = PAGE - sizeof(slab_page);
  return true;
}

void *slab_alloc(mem_slab *s, size_t size) {
  const size_t class = class_of(size);
  slab_link *got = s->free[class];
  if (got != NULL) {
    s->free[class] = got->next;
    if (page_of(got)->live++ == 0) s->n_vacant--;
    return got;
  }
  const size_t bytes = (class + 1) * SLAB_STEP;
  if (s->left < bytes && !open_page(s)) return NULL;
  void *block = s->at;
  s->at += bytes;
  s->left -= bytes;
  s->open->live++;
  return block;
}

static void sweep_pages(mem_slab *s) {
  for (int class = 0; class < SLAB_CLASSES; class ++) {
    slab_link **at = &s->free[class];
    while (*at != NULL) {
      if (page_of(*at)->live > 0) {
        at = &(*at)->next;
      } else {
        *at = (*at)->next;
      }
    }
  }
  s->empty = NULL;
  s->n_empty = s->n_vacant = 0;
  for (slab_arena *arena = s->arenas; arena != NULL; arena = arena->next) collect_empty(s, arena);
}

void slab_release(mem_slab *s, void *block, size_t size) {
  put_block(s, class_of(size), block);
  drop_use(s, page_of(block));
  if (s->n_vacant >= SWEEP_LEAST && s->n_vacant >= (s->n_pages - s->n_empty) / 2) sweep_pages(s);
}

bool slab_is_same_class(size_t osize, size_t nsize) { return class_of(osize) == class_of(nsize); }

void slab_free(mem_slab *s) {
  while (s->arenas != NULL) {
    slab_arena *arena = s->arenas;
    s->arenas = arena->next;
    free(arena);
  }
}
