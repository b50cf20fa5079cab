/* base_int: what the files of base share with each other only. */
#ifndef DAMO_BASE_BASE_INT_H
#define DAMO_BASE_BASE_INT_H

#include "base.h"

/* After something that may have been the last: lets go what the context holds itself when the host's references are
 * gone, and frees the context when nothing is left. Does nothing inside a drain, whose end calls it again. */
void ctx_settle(damo_ctx *ctx);

/* The host's references are gone: false where other contexts borrow still, the last of which settles then. */
bool lent_let_go(damo_ctx *owner);

/* The allocator of a context whose host gives none; heap_alloc is a damo_alloc_fn and its user data a mem_heap. NULL:
 * no memory. */
typedef struct mem_heap mem_heap;
mem_heap *heap_new(void);
void heap_free(mem_heap *h); /* and what it keeps; blocks in use must be gone */
/* Whether the system bounds the process's memory (setrlimit), so that malloc may fail. */
bool heap_is_limited(void);
void *heap_alloc(void *user, void *ptr, size_t osize, size_t nsize);

#endif
