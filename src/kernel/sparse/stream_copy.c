/* stream_copy: long copies of indices and values, once or repeated.
 *
 * The C library's memcpy may choose the processor's string copy, which on some takes up to twice as long as a vector
 * loop if source and destination are not aligned alike.
 */
#include "stream_copy.h"

#include <string.h>

#include "kernel/isa.h"
#include "kernel_sparse.h"

#define COPY_LEAST 4096    /* bytes; shorter copies use memcpy */
#define COPY_REPEATED 8192 /* bytes that stay in the L1 cache while they are copied repeatedly */

#define BYTES 16
#define NAME(f) f##_base
#include "stream_copy_body.h"

void kernel_sparse_copy(const kernel_isa *isa, void *to, const void *from, size_t n) {
  if (n >= COPY_LEAST) {
    isa->stream_copy(to, from, n);
  } else if (n > 0) {
    memcpy(to, from, n);
  }
}

void kernel_sparse_repeat(const kernel_isa *isa, void *first, size_t n, int64_t times) {
  char *p = first;
  for (size_t i = 0; i < n; i += COPY_REPEATED) {
    const size_t part = n - i < COPY_REPEATED ? n - i : COPY_REPEATED;
    for (int64_t k = 1; k <= times; k++) isa->stream_copy(p + (size_t)k * n + i, p + i, part);
  }
}
