/* leak_case: an allocator that counts the bytes in use by the sizes passed to it. If the count is not 0 once the
 * context is gone, a block has leaked or was freed with another size. */
#ifndef LEAK_CASE_H
#define LEAK_CASE_H

#include <stdlib.h>

#include "damo.h"
#include "test.h"

static int64_t leak_bytes;

static inline void *leak_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)user;
  const int64_t change = (int64_t)nsize - (ptr != NULL ? (int64_t)osize : 0);
  if (nsize == 0) {
    free(ptr);
    leak_bytes += change;
    return NULL;
  }
  void *got = realloc(ptr, nsize);
  if (got != NULL) leak_bytes += change;
  return got;
}

/* Releases the last reference to the context, and checks the count. */
static inline void leak_end(damo_ctx *c) {
  damo_ctx_release(c);
  CHECK_EQ_I(leak_bytes, 0);
  leak_bytes = 0;
}

#endif
