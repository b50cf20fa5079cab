/* read_at: values of one matrix gathered at the places of another one's entries. Duplicates are summed, or matched one
 * by one if the two matrices hold the same duplicates. */
#include <string.h>

#include "sparse/sparse_int.h"

static damo_status sp_at_check_shapes(const damo_sparse *x, const int64_t *shape) {
  if (x->shape[0] == shape[0] && x->shape[1] == shape[1]) return DAMO_OK;
  return ctx_fail(x->obj.ctx, DAMO_ESHAPE, "shapes (%lld, %lld) and (%lld, %lld) are not equal", (long long)shape[0],
                  (long long)shape[1], (long long)x->shape[0], (long long)x->shape[1]);
}

static damo_array *sp_at_pick(damo_sparse *g, const damo_sparse *x) {
  damo_array *out = sparse_vector(x->obj.ctx, sparse_dtype(g), sparse_nnz(x));
  if (!out) return NULL;
  const sparse_raw from = sparse_raw_of(g), at = sparse_raw_of(x);
  move_fns_of(g)->pick(&from, &at, out->data);
  return out;
}

/* Converts g to x's format without duplicates, both to the wider index dtype, and gathers. */
static damo_array *sp_at_pick_formed(damo_sparse *g, const damo_sparse *x) {
  damo_sparse *own = damo_retain(x), *wide = own;
  if (sparse_is_wide(g) && !sparse_is_wide(x)) {
    wide = sparse_to_itype(own, DAMO_INT64);
    damo_release(own);
  }
  damo_sparse *formed = wide ? sparse_to_format(g, sparse_format(x)) : NULL;
  damo_sparse *summed = formed ? sparse_sum_duplicates(formed) : NULL;
  damo_sparse *same = summed ? sparse_to_itype(summed, sparse_itype(wide)) : NULL;
  damo_array *out = same ? sp_at_pick(same, wide) : NULL;
  damo_release(wide);
  damo_release(formed);
  damo_release(summed);
  damo_release(same);
  return out;
}

damo_array *sparse_at_summed(damo_sparse *g, const damo_sparse *x) {
  return sp_at_check_shapes(x, g->shape) == DAMO_OK ? sp_at_pick_formed(g, x) : NULL;
}

/* ---- Duplicates one by one --------------------------------------------------------------------------------------- */

/* The entry numbers 0, 1, … as values on a's pattern, sorted, with int64 indices. */
static damo_sparse *sp_numbered(const damo_sparse *a) {
  const int64_t n = sparse_nnz(a);
  damo_array *numbers = sparse_vector(a->obj.ctx, DAMO_INT64, n);
  for (int64_t p = 0; numbers && p < n; p++) ((int64_t *)(void *)numbers->data)[p] = p;
  damo_sparse *own = numbers ? sparse_with_data(a, numbers) : NULL, *sorted = own ? sparse_sort(own) : NULL;
  damo_sparse *out = sorted ? sparse_to_itype(sorted, DAMO_INT64) : NULL;
  damo_release(numbers);
  damo_release(own);
  damo_release(sorted);
  return out;
}

/* a with its own values in that format, sorted, with int64 indices. */
static damo_sparse *sp_in_order(damo_sparse *a, damo_format format) {
  damo_sparse *formed = sparse_to_format(a, format), *sorted = formed ? sparse_sort(formed) : NULL;
  damo_sparse *out = sorted ? sparse_to_itype(sorted, DAMO_INT64) : NULL;
  damo_release(formed);
  damo_release(sorted);
  return out;
}

static const int64_t *sp_index_values(const damo_array *v) { return (const int64_t *)(const void *)v->data; }

/* The end of the run of equal indices that begins at p. */
static int64_t sp_run_end(const damo_sparse *a, int64_t p, int64_t end) {
  const int64_t first = sp_index_values(a->indices)[p];
  while (p < end && sp_index_values(a->indices)[p] == first) p++;
  return p;
}

/* Adds the entries of a major vector of `from` to elements of out, which the entries of `to` at the same places number.
 * Where a place has several entries the k-th is added to the k-th, cyclically if one run is shorter. */
static void sp_pair_major(const damo_sparse *from, const damo_sparse *to, int64_t major, damo_array *out) {
  damo_assert(from->sorted && to->sorted && sparse_is_wide(from) && sparse_is_wide(to));
  const size_t size = dtype_size(array_dtype(out));
  const kernel_fn add = out->obj.ctx->isa->add->fn[array_dtype(out)];
  int64_t p = sp_index_values(from->indptr)[major], q = sp_index_values(to->indptr)[major];
  const int64_t p_last = sp_index_values(from->indptr)[major + 1], q_last = sp_index_values(to->indptr)[major + 1];
  while (p < p_last && q < q_last) {
    const int64_t i = sp_index_values(from->indices)[p], j = sp_index_values(to->indices)[q];
    const int64_t p_end = sp_run_end(from, p, p_last), q_end = sp_run_end(to, q, q_last);
    const int64_t m = p_end - p, n = q_end - q, most = i != j ? 0 : m > n ? m : n;
    for (int64_t k = 0; k < most; k++) {
      char *at = out->data + (size_t)sp_index_values(to->data)[q + k % n] * size;
      add((void *[]){at, from->data->data + (size_t)(p + k % m) * size, at}, 1);
    }
    if (i <= j) p = p_end;
    if (j <= i) q = q_end;
  }
}

damo_array *sparse_pair(damo_sparse *g, const damo_sparse *x) {
  if (sp_at_check_shapes(x, g->shape) != DAMO_OK) return NULL;
  damo_sparse *to = sp_numbered(x), *from = to ? sp_in_order(g, sparse_format(x)) : NULL;
  damo_array *out = from ? damo_array_new(x->obj.ctx, sparse_dtype(g), 1, &(int64_t){sparse_nnz(x)}) : NULL;
  for (int64_t major = 0; out && major < sparse_major(x); major++) sp_pair_major(from, to, major, out);
  damo_release(to);
  damo_release(from);
  return out;
}

/* Both store the same places, each equally often. Both are sorted, with int64 indices. */
static bool sp_same_places(const damo_sparse *a, const damo_sparse *b) {
  damo_assert(a->sorted && b->sorted && sparse_is_wide(a) && sparse_is_wide(b));
  const size_t ends = (size_t)array_size(a->indptr) * sizeof(int64_t);
  const size_t entries = (size_t)sparse_nnz(a) * sizeof(int64_t);
  if (sparse_nnz(a) != sparse_nnz(b) || memcmp(a->indptr->data, b->indptr->data, ends) != 0) return false;
  return entries == 0 || memcmp(a->indices->data, b->indices->data, entries) == 0;
}

damo_status sparse_one_by_one(damo_sparse *g, const damo_sparse *x, bool *out) {
  *out = sparse_shares(g, x);
  if (*out || g->format == x->format || g->unique || x->unique || sparse_nnz(g) != sparse_nnz(x)) return DAMO_OK;
  damo_sparse *to = sp_numbered(x), *from = to ? sp_in_order(g, sparse_format(x)) : NULL;
  if (from) *out = sp_same_places(from, to);
  const damo_status status = from ? DAMO_OK : damo_error_status(x->obj.ctx);
  damo_release(to);
  damo_release(from);
  return status;
}

damo_array *sparse_at(damo_sparse *g, const damo_sparse *x) {
  bool one_by_one;
  /* Matrices with separate but equal pattern arrays do not count as sharing: duplicates of g then stand for their
   * sum. */
  if (sp_at_check_shapes(x, g->shape) != DAMO_OK || sparse_one_by_one(g, x, &one_by_one) != DAMO_OK) return NULL;
  if (sparse_shares(g, x)) return damo_retain(g->data);
  return one_by_one ? sparse_pair(g, x) : sp_at_pick_formed(g, x);
}

damo_status sparse_repeats(damo_sparse *a, bool *out) {
  *out = false;
  if (a->unique) return DAMO_OK;
  damo_sparse *once = sparse_sum_duplicates(a);
  if (!once) return damo_error_status(a->obj.ctx);
  *out = sparse_nnz(once) < sparse_nnz(a);
  damo_release(once);
  return DAMO_OK;
}

damo_array *sparse_at_dense(const damo_array *g, const damo_sparse *x) {
  if (sp_at_check_shapes(x, array_shape(g)) != DAMO_OK) return NULL;
  damo_array *out = sparse_vector(x->obj.ctx, array_dtype(g), sparse_nnz(x));
  if (!out) return NULL;
  const bool csc = x->format == DAMO_CSC;
  const sparse_raw at = sparse_raw_of(x);
  x->obj.ctx->isa->sparse.move[sparse_is_wide(x)][array_dtype(g)]->pick_dense(g->data, array_strides(g)[csc],
                                                                              array_strides(g)[!csc], &at, out->data);
  return out;
}
