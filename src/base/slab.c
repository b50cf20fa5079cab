/* slab: small blocks of the default allocator.
 *
 * Nodes, Variables, lists and names of a graph are blocks of a few dozen bytes that come and go by the thousand. Sizes
 * are rounded up to classes of SLAB_STEP bytes. A class keeps its free blocks in a list, and new ones are cut from
 * chunks, one after another, so that what a graph makes in a row lies in a row. Chunks are given back with the heap.
 */
#include <stdlib.h>

#include "base_int.h"

#define CHUNK_FIRST ((size_t)4 << 10)
#define CHUNK_LAST ((size_t)256 << 10)

/* A free block, or the head of a chunk. */
struct slab_link {
  slab_link *next;
};

static size_t class_of(size_t size) { return (size - 1) / SLAB_STEP; }

static void put_block(mem_slab *s, size_t class, void *block) {
  slab_link *link = block;
  link->next = s->free[class];
  s->free[class] = link;
}

/* Allocates the next chunk, from which blocks are cut. The end of the last one becomes a free block. */
static bool add_chunk(mem_slab *s) {
  const size_t size = s->chunk == 0 ? CHUNK_FIRST : s->chunk < CHUNK_LAST ? 2 * s->chunk : CHUNK_LAST;
  slab_link *chunk = malloc(size);
  if (chunk == NULL) return false;
  if (s->left >= SLAB_STEP) put_block(s, s->left / SLAB_STEP - 1, s->at);
  chunk->next = s->chunks;
  s->chunks = chunk;
  s->chunk = size;
  s->at = (char *)chunk + SLAB_STEP; /* blocks are aligned as malloc's are */
  s->left = size - SLAB_STEP;
  return true;
}

void *slab_alloc(mem_slab *s, size_t size) {
  const size_t class = class_of(size);
  slab_link *got = s->free[class];
  if (got != NULL) {
    s->free[class] = got->next;
    return got;
  }
  const size_t bytes = (class + 1) * SLAB_STEP;
  if (s->left < bytes && !add_chunk(s)) return NULL;
  void *block = s->at;
  s->at += bytes;
  s->left -= bytes;
  return block;
}

void slab_release(mem_slab *s, void *block, size_t size) { put_block(s, class_of(size), block); }

bool slab_is_same_class(size_t osize, size_t nsize) { return class_of(osize) == class_of(nsize); }

void slab_free(mem_slab *s) {
  while (s->chunks != NULL) {
    slab_link *chunk = s->chunks;
    s->chunks = chunk->next;
    free(chunk);
  }
}
