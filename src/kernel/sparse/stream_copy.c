/* stream_copy: long copies of indices and values, once or again and again.
 *
 * The C library's memcpy may choose the processor's string copy, which on some takes up to twice as long as a loop
 * where the two are not aligned alike.
 */
#include "stream_copy.h"

#include <string.h>

#include "kernel/kernel.h"
#include "kernel_sparse.h"

#define COPY_LEAST 4096    /* bytes; fewer are memcpy's */
#define COPY_REPEATED 8192 /* bytes that stay in the nearest cache while they are copied again and again */

#define BYTES 16
#define NAME(f) f##_base
#include "stream_copy_body.h"

typedef void (*sp_copy_fn)(char *to, const char *from, size_t n);

static sp_copy_fn sp_copy_for(const char *isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "avx512") == 0) return sparse_copy_avx512;
  if (strcmp(isa, "avx2") == 0) return sparse_copy_avx2;
#endif
  (void)isa;
  return sp_copy_vectors_base;
}

void kernel_sparse_copy(void *to, const void *from, size_t n) {
  if (n >= COPY_LEAST) {
    sp_copy_for(kernel_table_select()->isa)(to, from, n);
  } else if (n > 0) {
    memcpy(to, from, n);
  }
}

void kernel_sparse_repeat(void *first, size_t n, int64_t times) {
  const sp_copy_fn copy = sp_copy_for(kernel_table_select()->isa);
  char *p = first;
  for (size_t i = 0; i < n; i += COPY_REPEATED) {
    const size_t part = n - i < COPY_REPEATED ? n - i : COPY_REPEATED;
    for (int64_t k = 1; k <= times; k++) copy(p + (size_t)k * n + i, p + i, part);
  }
}
