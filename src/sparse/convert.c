/* convert: the same matrix in another format, dtype or index dtype, dense, sorted, or without duplicates or zeros. */
#include "sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

void sparse_add_to_dense(const damo_sparse *a, damo_array *dense) {
  const sparse_raw raw = sparse_raw_of(a);
  const int64_t *strides = array_strides(dense);
  const bool csc = a->format == DAMO_CSC;
  value_fns_of(a)->add_dense(&raw, dense->data, strides[csc], strides[!csc]);
}

damo_array *sparse_to_dense(const damo_sparse *a) {
  damo_array *out = damo_array_new(a->obj.ctx, sparse_dtype(a), 2, a->shape);
  if (out) sparse_add_to_dense(a, out);
  return out;
}

damo_sparse *sparse_copy(const damo_sparse *a) {
  damo_array *data = array_copy(a->data);
  damo_sparse *b = data ? sparse_with_data(a, data) : NULL;
  damo_release(data);
  return b;
}

damo_sparse *sparse_transpose(const damo_sparse *a) {
  damo_sparse *b = sparse_with_data(a, a->data);
  if (!b) return NULL;
  b->format = a->format == DAMO_CSR ? DAMO_CSC : DAMO_CSR;
  b->shape[0] = a->shape[1];
  b->shape[1] = a->shape[0];
  return b;
}

damo_sparse *sparse_to_format(damo_sparse *a, damo_format format) {
  if (sparse_format(a) == format) return damo_retain(a);
  damo_sparse *b = sparse_empty(a->obj.ctx, format, sparse_dtype(a), sparse_itype(a), a->shape, sparse_nnz(a));
  if (!b) return NULL;
  const sparse_raw raw = sparse_raw_of(a);
  move_fns_of(a)->swap(&raw, b->indptr->data, b->indices->data, b->data->data);
  b->sorted = true;
  b->unique = a->unique;
  if (!a->unique) sparse_find_flags(b);
  damo_assert(sparse_check(b, NULL));
  return b;
}

damo_sparse *sparse_cast(damo_sparse *a, damo_dtype dtype) {
  if (sparse_dtype(a) == dtype) return damo_retain(a);
  damo_sparse *own = sparse_summed_for(a, dtype);
  damo_array *data = own ? array_cast(own->data, dtype) : NULL;
  damo_sparse *b = data ? sparse_with_data(own, data) : NULL;
  damo_release(own);
  damo_release(data);
  return b;
}

damo_sparse *sparse_to_itype(damo_sparse *a, damo_dtype itype) {
  if (sparse_itype(a) == itype) return damo_retain(a);
  if (sparse_itype_for(itype, a->shape[0], a->shape[1], sparse_nnz(a)) != itype) {
    ctx_fail(a->obj.ctx, DAMO_EVALUE, "itype: a %s matrix of shape (%lld, %lld) with %lld entries needs int64 indices",
             sparse_format_name(sparse_format(a)), (long long)a->shape[0], (long long)a->shape[1],
             (long long)sparse_nnz(a));
    return NULL;
  }
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), itype, a->shape, 0);
  if (!b) return NULL;
  const cast_fn cast = kernel_cast(sparse_itype(a), itype);
  damo_array *indices = sparse_vector(a->obj.ctx, itype, sparse_nnz(a));
  if (!indices) {
    damo_release(b);
    return NULL;
  }
  cast(a->indices->data, indices->data, sparse_nnz(a));
  cast(a->indptr->data, b->indptr->data, sparse_major(a) + 1);
  sparse_freeze(indices);
  damo_release(b->indices);
  damo_release(b->data);
  b->indices = indices;
  b->data = damo_retain(a->data);
  b->sorted = a->sorted;
  b->unique = a->unique;
  damo_assert(sparse_check(b, NULL));
  return b;
}

/* ---- Clean forms ------------------------------------------------------------------------------------------------- */

/* A copy with arrays of its own, `sorted` and `unique` not set. sort: indices ascend in each major vector; else the
 * order inside them stays. */
static damo_sparse *sp_uninitialized_copy(const damo_sparse *a, bool sort) {
  damo_ctx *ctx = a->obj.ctx;
  const int64_t nnz = sparse_nnz(a);
  const sparse_raw raw = sparse_raw_of(a);
  const size_t bytes = sort ? move_fns_of(a)->sort_workspace(index_fns_of(a)->longest(&raw)) : 0;
  void *work = sort ? mem_alloc(ctx, bytes) : NULL;
  if (sort && !work) return NULL;
  damo_sparse *b = sparse_empty(ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape, nnz);
  if (b) {
    memcpy(b->indptr->data, a->indptr->data, (size_t)(sparse_major(a) + 1) * dtype_size(sparse_itype(a)));
    if (sort) {
      move_fns_of(a)->sort(&raw, b->indices->data, b->data->data, work);
    } else if (nnz > 0) {
      memcpy(b->indices->data, a->indices->data, (size_t)nnz * dtype_size(sparse_itype(a)));
      memcpy(b->data->data, a->data->data, (size_t)nnz * dtype_size(sparse_dtype(a)));
    }
  }
  if (work) mem_free(ctx, work, bytes);
  return b;
}

damo_sparse *sparse_sort(damo_sparse *a) {
  if (a->sorted) return damo_retain(a);
  damo_sparse *b = sp_uninitialized_copy(a, true);
  if (b) sparse_find_flags(b);
  damo_assert(!b || b->sorted);
  return b;
}

damo_sparse *sparse_sum_duplicates(damo_sparse *a) {
  if (sparse_is_canonical(a)) return damo_retain(a);
  damo_sparse *b = sp_uninitialized_copy(a, !a->sorted);
  if (!b) return NULL;
  const int64_t n =
      value_fns_of(b)->sum_duplicates(b->obj.ctx, sparse_major(b), b->indptr->data, b->indices->data, b->data->data);
  b->sorted = b->unique = true;
  return sparse_cut(b, n);
}

damo_sparse *sparse_summed_for(damo_sparse *a, damo_dtype dtype) {
  if (a->unique || dtype_cast_keeps_sums(sparse_dtype(a), dtype)) return damo_retain(a);
  damo_sparse *once = sparse_sum_duplicates(a);
  if (!once || sparse_nnz(once) < sparse_nnz(a)) return once;
  damo_release(once);
  return damo_retain(a);
}

#define ZERO_SEARCH 4096 /* entries searched for a 0 at a time */

static bool sp_holds_zero(const damo_sparse *a) {
  const int64_t nnz = sparse_nnz(a);
  const size_t size = dtype_size(sparse_dtype(a));
  for (int64_t p = 0; p < nnz; p += ZERO_SEARCH) {
    const int64_t n = nnz - p < ZERO_SEARCH ? nnz - p : ZERO_SEARCH;
    if (value_fns_of(a)->count_zeros(a->obj.ctx, a->data->data + (size_t)p * size, n) > 0) return true;
  }
  return false;
}

damo_sparse *sparse_drop_zeros(damo_sparse *a) {
  if (!sp_holds_zero(a)) return damo_retain(a);
  damo_sparse *b =
      sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape, sparse_nnz(a));
  if (!b) return NULL;
  const sparse_raw raw = sparse_raw_of(a);
  const uint64_t bits = sparse_value_bits(sparse_dtype(a));
  const int64_t n = compact_fns_of(a)->squeeze(&raw, bits, b->indptr->data, b->indices->data, b->data->data);
  b->sorted = a->sorted;
  b->unique = a->unique;
  return sparse_cut(b, n);
}

/* ---- In place ---------------------------------------------------------------------------------------------------- */

/* A matrix that shares a's data, with copies of a's indices and indptr that the caller may change. */
static damo_sparse *sp_own_pattern(const damo_sparse *a) {
  const size_t size = dtype_size(sparse_itype(a)), nnz = (size_t)sparse_nnz(a);
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape, 0);
  damo_array *indices = b ? sparse_vector(a->obj.ctx, sparse_itype(a), (int64_t)nnz) : NULL;
  if (!indices) {
    damo_release(b);
    return NULL;
  }
  if (nnz > 0) memcpy(indices->data, a->indices->data, nnz * size);
  memcpy(b->indptr->data, a->indptr->data, (size_t)(sparse_major(a) + 1) * size);
  sparse_freeze(indices);
  damo_release(b->indices);
  damo_release(b->data);
  b->indices = indices;
  b->data = damo_retain(a->data);
  return b;
}

damo_sparse *sparse_sort_within(damo_sparse *a) {
  if (a->sorted || !a->data->writeable) return sparse_sort(a);
  damo_ctx *ctx = a->obj.ctx;
  const sparse_raw raw = sparse_raw_of(a);
  const size_t bytes = move_fns_of(a)->sort_workspace(index_fns_of(a)->longest(&raw));
  void *work = mem_alloc(ctx, bytes);
  damo_sparse *b = work ? sp_own_pattern(a) : NULL;
  if (b) {
    move_fns_of(a)->sort(&raw, b->indices->data, b->data->data, work);
    sparse_find_flags(b);
  }
  if (work) mem_free(ctx, work, bytes);
  return b;
}

damo_sparse *sparse_drop_zeros_within(damo_sparse *a) {
  const int64_t zeros = sparse_count_zeros(a);
  if (zeros == 0 || !a->data->writeable) return sparse_drop_zeros(a);
  const int64_t left = sparse_nnz(a) - zeros;
  damo_array *head = array_view(a->data, 1, &left, array_strides(a->data), 0);
  damo_sparse *b = head ? sp_own_pattern(a) : NULL;
  damo_array *indices = b ? array_view(b->indices, 1, &left, array_strides(b->indices), 0) : NULL;
  if (!indices) {
    damo_release(head);
    damo_release(b);
    return NULL;
  }
  value_fns_of(b)->drop_zeros(b->obj.ctx, sparse_major(b), b->indptr->data, b->indices->data, b->data->data);
  damo_release(b->data);
  damo_release(b->indices);
  b->data = head;
  b->indices = indices;
  b->sorted = a->sorted;
  b->unique = a->unique;
  return b;
}
