/* band: the band of a matrix, the entries of which the column minus the row lies between two bounds. */
#include "sparse/sparse_int.h"

#include <string.h>

/* Whether an entry is in the band; low and high bound index - major. */
static inline bool sp_in_band(int64_t major, int64_t index, int64_t low, int64_t high) {
  const int64_t k = index - major;
  return k >= low && k <= high;
}

static int64_t sp_count_band(const damo_sparse *a, int64_t low, int64_t high) {
  const bool wide = sparse_is_wide(a);
  int64_t n = 0;
  for (int64_t i = 0; i < sparse_major(a); i++) {
    const int64_t end = sparse_index_get(a->indptr->data, wide, i + 1);
    for (int64_t p = sparse_index_get(a->indptr->data, wide, i); p < end; p++) {
      sparse_point_each(a->obj.ctx, p);
      n += sp_in_band(i, sparse_index_get(a->indices->data, wide, p), low, high);
    }
  }
  return n;
}

damo_sparse *sparse_band(damo_sparse *a, int64_t low, int64_t high) {
  const bool wide = sparse_is_wide(a);
  const size_t size = dtype_size(sparse_dtype(a));
  if (a->format == DAMO_CSC) { /* major is the column: the bounds are those of row - column */
    const int64_t t = low;
    low = -high;
    high = -t;
  }
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape,
                                sp_count_band(a, low, high));
  if (!b) return NULL;
  int64_t n = 0;
  sparse_index_set(b->indptr->data, wide, 0, 0);
  for (int64_t i = 0; i < sparse_major(a); i++) {
    const int64_t end = sparse_index_get(a->indptr->data, wide, i + 1);
    for (int64_t p = sparse_index_get(a->indptr->data, wide, i); p < end; p++) {
      const int64_t index = sparse_index_get(a->indices->data, wide, p);
      sparse_point_each(a->obj.ctx, p);
      if (!sp_in_band(i, index, low, high)) continue;
      sparse_index_set(b->indices->data, wide, n, index);
      memcpy(b->data->data + (size_t)n * size, a->data->data + (size_t)p * size, size);
      n++;
    }
    sparse_index_set(b->indptr->data, wide, i + 1, n);
    sparse_point_each(a->obj.ctx, i);
  }
  b->sorted = a->sorted;
  b->unique = a->unique;
  return b;
}
