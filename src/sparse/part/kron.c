/* kron: the pattern of a Kronecker product, and which entries of the operands meet at each of its places. */
#include "sparse/sparse_int.h"

#define KRON_PART 2048 /* entries between two points */

damo_sparse *sparse_kron_places(damo_sparse *a, damo_sparse *b, damo_array **left, damo_array **right) {
  damo_ctx *ctx = a->obj.ctx;
  int64_t shape[2], nnz;
  const bool fits = i64_mul(a->shape[0], b->shape[0], &shape[0]) && i64_mul(a->shape[1], b->shape[1], &shape[1]) &&
                    i64_mul(sparse_nnz(a), sparse_nnz(b), &nnz) && shape[0] < INT64_MAX && shape[1] < INT64_MAX;
  if (!fits) {
    ctx_fail(ctx, DAMO_EVALUE, "kron: the product of shapes (%lld, %lld) and (%lld, %lld) is too large",
             (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0], (long long)b->shape[1]);
    return NULL;
  }
  const damo_dtype least = sparse_is_wide(a) || sparse_is_wide(b) ? DAMO_INT64 : DAMO_INT32;
  const damo_dtype itype = sparse_itype_for(least, shape[0], shape[1], nnz);
  damo_sparse *out = sparse_empty(ctx, sparse_format(a), DAMO_BOOL, itype, shape, nnz);
  *left = out ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  *right = *left ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  if (!*right) {
    damo_release(*left);
    damo_release(out);
    return NULL;
  }
  int64_t n = 0, since = 0, *l = (int64_t *)(void *)(*left)->data, *r = (int64_t *)(void *)(*right)->data;
  const bool wa = sparse_is_wide(a), wb = sparse_is_wide(b), wide = sparse_is_wide(out);
  sparse_index_set(out->indptr->data, wide, 0, 0);
  for (int64_t i = 0; i < sparse_major(a); i++) {
    const int64_t first = sparse_index_get(a->indptr->data, wa, i), last = sparse_index_get(a->indptr->data, wa, i + 1);
    for (int64_t k = 0; k < sparse_major(b); k++) { /* major vector i of a times k of b is i·major(b) + k of out */
      const int64_t from = sparse_index_get(b->indptr->data, wb, k), end = sparse_index_get(b->indptr->data, wb, k + 1);
      for (int64_t p = first; p < last; p++) {
        const int64_t base = sparse_index_get(a->indices->data, wa, p) * sparse_minor(b);
        for (int64_t q = from; q < end; q++, n++) {
          sparse_index_set(out->indices->data, wide, n, base + sparse_index_get(b->indices->data, wb, q));
          out->data->data[n] = 1;
          l[n] = p + 1;
          r[n] = q + 1;
        }
        ctx_point_after(ctx, &since, end - from, KRON_PART);
      }
      sparse_index_set(out->indptr->data, wide, i * sparse_major(b) + k + 1, n);
    }
  }
  out->sorted = a->sorted && b->sorted && a->unique;
  out->unique = a->unique && b->unique;
  return out;
}
