/* compare: comparisons, entry by entry.
 *
 * Most places hold 0 in both operands, and there a comparison has the one result `of_zeros`. Only exceptions to it are
 * searched for, among the places that either operand stores. If of_zeros is true, the result is the complement of the
 * exceptions.
 */
#include "sparse/sparse_int.h"

#include <string.h>

/* True at every place except those of e, which is canonical. */
static damo_sparse *sp_all_but(const damo_sparse *e) {
  damo_assert(sparse_is_canonical(e));
  damo_ctx *ctx = e->obj.ctx;
  int64_t size;
  if (shape_size(ctx, 2, e->shape, &size) != DAMO_OK) return NULL;
  const int64_t nnz = size - sparse_nnz(e);
  const damo_dtype itype = sparse_itype_for(sparse_itype(e), e->shape[0], e->shape[1], nnz);
  damo_sparse *own = damo_retain(e), *same = sparse_to_itype(own, itype), *out = NULL;
  if (same) out = sparse_empty(ctx, sparse_format(e), DAMO_BOOL, itype, e->shape, nnz);
  if (out) {
    const sparse_raw raw = sparse_raw_of(same);
    ctx->isa->sparse.flags[itype == DAMO_INT64]->complement(&raw, out->indptr->data, out->indices->data);
    if (nnz > 0) memset(out->data->data, 1, (size_t)nnz);
    out->sorted = out->unique = true;
    damo_assert(sparse_check(out, NULL));
  }
  damo_release(own);
  damo_release(same);
  return out;
}

/* The places where a comparison is true, given its results at `places` (flags; canonical) and its one result elsewhere.
 * Overwrites flags. */
static damo_sparse *sp_true_places(const damo_sparse *places, damo_array *flags, bool elsewhere) {
  damo_assert(sparse_is_canonical(places) && array_size(flags) == sparse_nnz(places));
  uint8_t *at = (uint8_t *)flags->data;
  for (int64_t p = 0; elsewhere && p < array_size(flags); p++) at[p] = !at[p];
  damo_sparse *all = sparse_with_data(places, flags), *exceptions = all ? sparse_drop_zeros(all) : NULL, *out = NULL;
  if (exceptions) out = elsewhere ? sp_all_but(exceptions) : damo_retain(exceptions);
  damo_release(all);
  damo_release(exceptions);
  return out;
}

/* The places where the relation differs from that of 0 and 0: one merge of both operands. */
static damo_sparse *sp_exceptions_of(sparse_relation op, const damo_sparse *x, const damo_sparse *y) {
  damo_sparse *out =
      sparse_empty(x->obj.ctx, sparse_format(x), DAMO_BOOL, sparse_itype(x), x->shape, sparse_nnz(x) + sparse_nnz(y));
  if (!out) return NULL;
  const sparse_raw rx = sparse_raw_of(x), ry = sparse_raw_of(y);
  const int64_t n = value_fns_of(x)->relate(op, &rx, &ry, out->indptr->data, out->indices->data);
  if (n > 0) memset(out->data->data, 1, (size_t)n);
  out->sorted = out->unique = true;
  return sparse_cut(out, n);
}

damo_sparse *sparse_relate(sparse_relation op, damo_sparse *a, damo_sparse *b) {
  const bool of_zeros = op == SPARSE_EQ || op == SPARSE_LE || op == SPARSE_GE;
  damo_sparse *x, *y, *out = NULL;
  if (sparse_alike(a, b, &x, &y) != DAMO_OK) return NULL;
  damo_sparse *exceptions = sp_exceptions_of(op, x, y);
  if (exceptions) out = of_zeros ? sp_all_but(exceptions) : damo_retain(exceptions);
  damo_release(x);
  damo_release(y);
  damo_release(exceptions);
  return out;
}

damo_sparse *sparse_relate_number(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *s) {
  _Alignas(16) char zero[sizeof(damo_c128)] = {0};
  uint8_t of_zero = 0;
  damo_sparse *x = sparse_sum_duplicates(a), *out = NULL;
  damo_array *one = x ? array_as_contiguous(s, loop) : NULL;
  damo_array *flags = one ? sparse_vector(a->obj.ctx, DAMO_BOOL, sparse_nnz(x)) : NULL;
  if (flags && sparse_entries_with(op, loop, x, s, flags) == DAMO_OK) {
    op((void *[]){zero, one->data, &of_zero}, 1);
    out = sp_true_places(x, flags, of_zero != 0);
  }
  damo_release(x);
  damo_release(one);
  damo_release(flags);
  return out;
}

#define RELATE_BLOCK 256 /* dense elements compared with 0 at a time */

/* op(0, y) for all of y, contiguous. */
static void sp_relate_zeros(kernel_fn op, const damo_array *y, uint8_t *out) {
  _Alignas(64) char zeros[RELATE_BLOCK * sizeof(damo_c128)] = {0};
  const int64_t n = array_size(y), size = (int64_t)dtype_size(array_dtype(y));
  for (int64_t at = 0; at < n; at += RELATE_BLOCK) {
    op((void *[]){zeros, y->data + at * size, out + at}, n - at < RELATE_BLOCK ? n - at : RELATE_BLOCK);
  }
}

damo_status sparse_relate_dense(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *y, damo_array *out) {
  damo_sparse *x = sparse_sum_duplicates(a);
  damo_array *whole = x ? array_as_contiguous(y, loop) : NULL;
  damo_array *flags = whole ? sparse_vector(a->obj.ctx, DAMO_BOOL, sparse_nnz(x)) : NULL;
  damo_status s = flags ? sparse_entries_with(op, loop, x, whole, flags) : damo_error_status(a->obj.ctx);
  if (s == DAMO_OK) {
    const sparse_raw raw = sparse_raw_of(x);
    const bool csc = a->format == DAMO_CSC;
    sp_relate_zeros(op, whole, (uint8_t *)out->data);
    x->obj.ctx->isa->sparse.flags[sparse_is_wide(x)]->put(&raw, (const uint8_t *)flags->data, (uint8_t *)out->data,
                                                          array_strides(out)[csc], array_strides(out)[!csc]);
  }
  damo_release(x);
  damo_release(whole);
  damo_release(flags);
  return s;
}
