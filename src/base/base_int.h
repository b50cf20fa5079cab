/* base_int: private to base. */
#ifndef DAMO_BASE_BASE_INT_H
#define DAMO_BASE_BASE_INT_H

#include "base.h"

/* Called after a release. If the host's references are gone, releases the objects that the context itself holds, and
 * frees the context when no object is left. No effect during a drain, which calls it at its end. */
void ctx_settle(damo_ctx *ctx);

/* Called when the host's references are gone. False if other contexts still borrow from the owner: the last borrower
 * then settles it. */
bool lent_let_go(damo_ctx *owner);

/* Small blocks of the default allocator; all zero: none yet. */
#define SLAB_STEP ((size_t)16)
#define SLAB_CLASSES 16
#define SLAB_MOST (SLAB_STEP * SLAB_CLASSES)
typedef struct slab_link slab_link;
typedef struct slab_page slab_page;
typedef struct slab_arena slab_arena;
typedef struct mem_slab {
  slab_link *free[SLAB_CLASSES];
  char *at; /* where the open page is cut next */
  size_t left;
  slab_page *open, *empty;           /* the page being cut; those of which no block is in a list */
  size_t n_pages, n_empty, n_vacant; /* n_vacant: without blocks in use, but with blocks in lists */
  slab_arena *arenas;                /* the newest first */
} mem_slab;
void *slab_alloc(mem_slab *s, size_t size); /* 0 < size <= SLAB_MOST; NULL: no memory */
void slab_release(mem_slab *s, void *block, size_t size);
bool slab_is_same_class(size_t osize, size_t nsize); /* of two such sizes: one block serves both */
void slab_free(mem_slab *s);

/* The default allocator: heap_alloc is a damo_alloc_fn, its user data a mem_heap. NULL: no memory. */
typedef struct mem_heap mem_heap;
mem_heap *heap_new(void);
void heap_free(mem_heap *h); /* also frees the blocks that it keeps; no block may be in use */
/* Whether the system bounds the process's memory (setrlimit), so that malloc may fail. */
bool heap_is_limited(void);
void *heap_alloc(void *user, void *ptr, size_t osize, size_t nsize);

/* A point that fails after pace_stop. */
damo_status pace_poll(pace *p);
/* Sets b->n as pool_next does, at the time `now`, so that a part takes about part_ns. */
void pace_beat_set(pace_beat *b, int64_t most, int64_t part_ns, int64_t now);
/* Whether its slice ends by time, so that work must be cut. */
bool pace_is_limited(const pace *p);
/* The pool by which work of about that many nanoseconds is cut; NULL: it is too short. */
thread_pool *pace_pool(pace *p, double ns);
/* A pool without threads, which has points between shares. */
thread_pool *pool_new_cut(damo_ctx *ctx, double share_ns);
void pool_free_cut(damo_ctx *ctx, thread_pool *p);
void pool_estimate(thread_pool *p, double ns);

#endif
