/* sparse_move: format conversion, sorting, gathering and placing of entries, by index type and element size. */
#include <string.h>

#include "sparse_arith.h"

#define LOOSE 4         /* entries behind a line that a copy by whole vectors may touch */
#define COPY_LEAST 4096 /* bytes; fewer are memcpy's */
#define SQUEEZED 1024   /* entries at a time */
#define SPLIT_FEW 8     /* parts that are counted one after the other */

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

#define SPARSE_BODY "sparse_move_body.h"
#include "sparse_sizes.h"

/* The C library's memcpy may choose the processor's string copy, which on some takes up to twice as long as a loop
 * where the two are not aligned alike. */
void kernel_sparse_copy(void *to, const void *from, size_t n) {
  typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));
  char *q = to;
  const char *p = from;
  const size_t head = (64 - ((uintptr_t)q & 63)) & 63;
  if (n < COPY_LEAST) {
    if (n > 0) memcpy(q, p, n);
    return;
  }
  memcpy(q, p, head);
  size_t i = head;
  for (; i + 64 <= n; i += 64) {
    const pair *s = (const pair *)(const void *)(p + i);
    pair *d = (pair *)(void *)(q + i);
    const pair a = s[0], b = s[1], c = s[2], e = s[3];
    d[0] = a, d[1] = b, d[2] = c, d[3] = e;
  }
  memcpy(q + i, p + i, n - i);
}

const sparse_move_fns *kernel_sparse_move(bool wide, size_t element_size) {
  switch (element_size) {
    case 1: return wide ? &move_fns_w1 : &move_fns_n1;
    case 2: return wide ? &move_fns_w2 : &move_fns_n2;
    case 4: return wide ? &move_fns_w4 : &move_fns_n4;
    case 8: return wide ? &move_fns_w8 : &move_fns_n8;
  }
  return wide ? &move_fns_w16 : &move_fns_n16;
}
