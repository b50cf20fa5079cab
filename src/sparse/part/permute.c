/* permute: rows and columns in another order. */
#include "sparse/sparse_int.h"

#include <string.h>

#define PERMUTE_PART 4096 /* positions between two points */

/* The inverse permutation, fresh; NULL with an error: v is no permutation of n. */
static damo_array *sp_inverse_permutation(damo_ctx *ctx, const char *what, const damo_array *v, int64_t n) {
  if (v->ndim != 1 || array_size(v) != n || array_dtype(v) != DAMO_INT64) {
    ctx_fail(ctx, DAMO_ESHAPE, "permute: %s has %lld entries, expected %lld", what, (long long)array_size(v),
             (long long)n);
    return NULL;
  }
  damo_array *out = sparse_vector(ctx, DAMO_INT64, n);
  if (!out) return NULL;
  int64_t *to = (int64_t *)(void *)out->data;
  for (int64_t i = 0; i < n; i++) to[i] = -1;
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = ((const int64_t *)(const void *)v->data)[i];
    if (k >= 0 && k < n && to[k] < 0) {
      to[k] = i;
      ctx_point_each(ctx, i, PERMUTE_PART);
      continue;
    }
    ctx_fail(ctx, DAMO_EVALUE, "permute: %s is no permutation of 1 to %lld: entry %lld is %lld%s", what, (long long)n,
             (long long)i + 1, (long long)k + 1, k >= 0 && k < n ? ", for the second time" : "");
    damo_release(out);
    return NULL;
  }
  return out;
}

damo_sparse *sparse_permute(damo_sparse *a, const damo_array *rows, const damo_array *cols) {
  damo_ctx *ctx = a->obj.ctx;
  const bool csr = a->format == DAMO_CSR;
  damo_array *r = sp_inverse_permutation(ctx, "rows", rows, a->shape[0]),
             *c = r ? sp_inverse_permutation(ctx, "cols", cols, a->shape[1]) : NULL;
  damo_sparse *taken = c ? sparse_take(a, !csr, csr ? rows : cols) : NULL, *out = NULL;
  if (taken) {
    out = sparse_empty(ctx, sparse_format(a), sparse_dtype(a), sparse_itype(taken), a->shape, 0);
    damo_array *indices = out ? sparse_vector(ctx, sparse_itype(taken), sparse_nnz(taken)) : NULL;
    if (indices) {
      const bool wide = sparse_is_wide(taken);
      const int64_t *to = (const int64_t *)(const void *)(csr ? c : r)->data;
      for (int64_t p = 0; p < sparse_nnz(taken); p++) {
        sparse_index_set(indices->data, wide, p, to[sparse_index_get(taken->indices->data, wide, p)]);
        ctx_point_each(ctx, p, PERMUTE_PART);
      }
      memcpy(out->indptr->data, taken->indptr->data, (size_t)(sparse_major(a) + 1) * dtype_size(sparse_itype(taken)));
      indices->writeable = false;
      indices->buf->obj.flags |= BUFFER_FROZEN;
      damo_release(out->indices);
      damo_release(out->data);
      out->indices = indices;
      out->data = damo_retain(taken->data);
      out->sorted = false;
      out->unique = false;
      sparse_find_flags(out);
    } else {
      damo_release(out);
      out = NULL;
    }
  }
  damo_release(r);
  damo_release(c);
  damo_release(taken);
  return out;
}
