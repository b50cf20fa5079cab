/* slice: entries picked by ranges and by lists of positions, by index type and element size. */
#include <string.h>

#include "arith.h"

#define CHUNK 1024 /* entries at a time */
#define FEW 8      /* of them that are looked at together */
#define LONG 64    /* entries of a sorted line in which its part is looked for */

static inline int64_t sp_lookup_head(const sparse_lookup *s, int64_t j) {
  return (int64_t)(((uint64_t)j * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - s->bits));
}

/* Where position j stands first in the list, -1: nowhere. */
static inline int64_t sp_lookup_first(const sparse_lookup *s, int64_t j) {
  const int64_t mask = ((int64_t)1 << s->bits) - 1;
  int64_t h = sp_lookup_head(s, j);
  while (s->heads[h] >= 0 && s->list[s->heads[h]] != j) h = (h + 1) & mask;
  return s->heads[h];
}

void kernel_sparse_lookup(sparse_lookup *s, int64_t n) {
  const int64_t size = (int64_t)1 << s->bits, mask = size - 1;
  for (int64_t h = 0; h < size; h++) s->heads[h] = -1;
  for (int64_t k = n - 1; k >= 0; k--) { /* from the end, so that chains ascend */
    int64_t h = sp_lookup_head(s, s->list[k]);
    while (s->heads[h] >= 0 && s->list[s->heads[h]] != s->list[k]) h = (h + 1) & mask;
    s->next[k] = s->heads[h];
    s->heads[h] = k;
  }
}

void kernel_sparse_places(const int64_t *list, int64_t n, int64_t axis, int32_t *heads, int32_t *next) {
  for (int64_t j = 0; j < axis; j++) heads[j] = -1;
  for (int64_t k = n - 1; k >= 0; k--) { /* from the end, so that chains ascend */
    const int32_t had = heads[list[k]];
    next[k] = had >= -1 ? had : -2 - had;
    heads[list[k]] = (int32_t)(had == -1 ? k : -2 - k);
  }
}

#define SPARSE_BODY "slice_body.h"
#include "sizes.h"

const sparse_part_fns *kernel_sparse_part(bool wide, size_t element_size) {
  switch (element_size) {
    case 1: return wide ? &sp_part_fns_w1 : &sp_part_fns_n1;
    case 2: return wide ? &sp_part_fns_w2 : &sp_part_fns_n2;
    case 4: return wide ? &sp_part_fns_w4 : &sp_part_fns_n4;
    case 8: return wide ? &sp_part_fns_w8 : &sp_part_fns_n8;
  }
  return wide ? &sp_part_fns_w16 : &sp_part_fns_n16;
}

#undef CHUNK
#undef FEW
#undef LONG
