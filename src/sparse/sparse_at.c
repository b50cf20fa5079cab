/* sparse_at: values read at the places where another matrix has its entries. */
#include <string.h>

#include "sparse_int.h"

static damo_status check_shapes(const damo_sparse *x, const int64_t *shape) {
  if (x->shape[0] == shape[0] && x->shape[1] == shape[1]) return DAMO_OK;
  return ctx_fail(x->obj.ctx, DAMO_ESHAPE, "shapes (%lld, %lld) and (%lld, %lld) are not equal", (long long)shape[0],
                  (long long)shape[1], (long long)x->shape[0], (long long)x->shape[1]);
}

static damo_array *pick_at(damo_sparse *g, const damo_sparse *x) {
  damo_array *out = sparse_vector(x->obj.ctx, sparse_dtype(g), sparse_nnz(x));
  if (!out) return NULL;
  const sparse_raw from = sparse_raw_of(g), at = sparse_raw_of(x);
  move_fns_of(g)->pick(&from, &at, out->data);
  return out;
}

/* Both in x's format, index dtype the wider one; g without duplicates. */
static damo_array *pick_formed(damo_sparse *g, const damo_sparse *x) {
  damo_sparse *own = damo_retain(x), *wide = own;
  if (sparse_is_wide(g) && !sparse_is_wide(x)) {
    wide = sparse_to_itype(own, DAMO_INT64);
    damo_release(own);
  }
  damo_sparse *formed = wide ? sparse_to_format(g, sparse_format(x)) : NULL;
  damo_sparse *summed = formed ? sparse_sum_duplicates(formed) : NULL;
  damo_sparse *same = summed ? sparse_to_itype(summed, sparse_itype(wide)) : NULL;
  damo_array *out = same ? pick_at(same, wide) : NULL;
  damo_release(wide);
  damo_release(formed);
  damo_release(summed);
  damo_release(same);
  return out;
}

damo_array *sparse_at_summed(damo_sparse *g, const damo_sparse *x) {
  return check_shapes(x, g->shape) == DAMO_OK ? pick_formed(g, x) : NULL;
}

damo_array *sparse_at(damo_sparse *g, const damo_sparse *x) {
  if (check_shapes(x, g->shape) != DAMO_OK) return NULL;
  /* (equal arrays of two matrices do not count: there duplicates are another matrix's, and stand for their sum) */
  const bool same = g->format == x->format && g->indices == x->indices && g->indptr == x->indptr;
  if (same) return damo_retain(g->data);
  return pick_formed(g, x);
}

damo_array *sparse_at_dense(const damo_array *g, const damo_sparse *x) {
  if (check_shapes(x, array_shape(g)) != DAMO_OK) return NULL;
  damo_array *out = sparse_vector(x->obj.ctx, array_dtype(g), sparse_nnz(x));
  if (!out) return NULL;
  const bool csc = x->format == DAMO_CSC;
  const sparse_raw at = sparse_raw_of(x);
  kernel_sparse_move(sparse_is_wide(x), dtype_size(array_dtype(g)))
      ->pick_dense(g->data, array_strides(g)[csc], array_strides(g)[!csc], &at, out->data);
  return out;
}
