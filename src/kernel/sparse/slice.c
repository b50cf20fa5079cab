/* slice: entries selected by ranges and by lists of positions, by index type and element size. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#define CHUNK 1024 /* entries processed at a time */
#define FEW 8      /* entries tested together */
#define LONG 64    /* a sorted major vector of more entries is searched for its part */

static inline int64_t sp_lookup_head(const sparse_lookup *s, int64_t j) {
  return (int64_t)(((uint64_t)j * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - s->bits));
}

/* The first place of position j in the list; -1: none. */
static inline int64_t sp_lookup_first(const sparse_lookup *s, int64_t j) {
  const int64_t mask = ((int64_t)1 << s->bits) - 1;
  int64_t h = sp_lookup_head(s, j);
  while (s->heads[h] >= 0 && s->list[s->heads[h]] != j) h = (h + 1) & mask;
  return s->heads[h];
}

void kernel_sparse_lookup(sparse_lookup *s, int64_t n) {
  const int64_t size = (int64_t)1 << s->bits, mask = size - 1;
  for (int64_t h = 0; h < size; h++) s->heads[h] = -1;
  for (int64_t k = n - 1; k >= 0; k--) { /* backwards, so that chains ascend */
    int64_t h = sp_lookup_head(s, s->list[k]);
    while (s->heads[h] >= 0 && s->list[s->heads[h]] != s->list[k]) h = (h + 1) & mask;
    s->next[k] = s->heads[h];
    s->heads[h] = k;
  }
}

void kernel_sparse_places(const int64_t *list, int64_t n, int64_t axis, int32_t *heads, int32_t *next) {
  for (int64_t j = 0; j < axis; j++) heads[j] = -1;
  for (int64_t k = n - 1; k >= 0; k--) { /* backwards, so that chains ascend */
    const int32_t had = heads[list[k]];
    next[k] = had >= -1 ? had : -2 - had;
    heads[list[k]] = (int32_t)(had == -1 ? k : -2 - k);
  }
}

#define SPARSE_BODY "slice_body.h"
#include "sizes.h"

#define FNS(size) &sp_part_fns_n##size
const sparse_part_fns *const sparse_part_narrow[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS
#define FNS(size) &sp_part_fns_w##size
const sparse_part_fns *const sparse_part_wide[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS

#undef CHUNK
#undef FEW
#undef LONG
