/* entries: elementwise ops on stored entries and a dense scalar, vector or matrix. */
#include "sparse/sparse_int.h"

#include <string.h>

#define ENTRY_BLOCK 256 /* a broadcast scalar is repeated so often for the kernel */

/* op(entry, s) for n entries of the loop dtype and one element s. */
#define ENTRY_POINT 8192 /* entries between two points */

static void sp_entries_with_number(damo_ctx *ctx, kernel_fn op, size_t size, const char *entries, const void *s,
                                   char *out, size_t out_size, int64_t n) {
  _Alignas(64) char block[ENTRY_BLOCK * sizeof(damo_c128)];
  int64_t since = 0;
  for (int64_t i = 0; i < ENTRY_BLOCK && i < n; i++) memcpy(block + (size_t)i * size, s, size);
  for (int64_t at = 0; at < n; at += ENTRY_BLOCK) {
    void *args[] = {(char *)(uintptr_t)entries + (size_t)at * size, block, out + (size_t)at * out_size};
    op(args, n - at < ENTRY_BLOCK ? n - at : ENTRY_BLOCK);
    ctx_point_after(ctx, &since, ENTRY_BLOCK, ENTRY_POINT);
  }
}

static void sp_entries_with_list(damo_ctx *ctx, kernel_fn op, size_t size, char *x, char *y, char *out, size_t out_size,
                                 int64_t n) {
  for (int64_t at = 0; at < n; at += ENTRY_POINT) {
    const size_t k = (size_t)at;
    op((void *[]){x + k * size, y + k * size, out + k * out_size}, n - at < ENTRY_POINT ? n - at : ENTRY_POINT);
    if (n - at > ENTRY_POINT) ctx_point(ctx);
  }
}

static damo_status sp_entries_check_dense(const damo_sparse *a, const damo_array *y) {
  char text[256];
  bool fits = y->ndim == 2;
  for (int i = 0; i < 2 && fits; i++) fits = array_shape(y)[i] == a->shape[i] || array_shape(y)[i] == 1;
  if (fits) return DAMO_OK;
  return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "shapes (%lld, %lld) and %s do not agree", (long long)a->shape[0],
                  (long long)a->shape[1], shape_format(text, sizeof text, y->ndim, array_shape(y)));
}

/* Gathers y's elements at a's places into out; axes of length 1 are broadcast. */
static void sp_entries_pick_dense(const damo_sparse *a, const damo_array *y, void *out) {
  const sparse_raw places = sparse_raw_of(a);
  const bool csc = a->format == DAMO_CSC;
  int64_t stride[2];
  for (int i = 0; i < 2; i++) stride[i] = array_shape(y)[i] == 1 ? 0 : array_strides(y)[i];
  a->obj.ctx->isa->sparse.move[sparse_is_wide(a)][array_dtype(y)]->pick_dense(y->data, stride[csc], stride[!csc],
                                                                              &places, out);
}

/* y at a's places as a vector of the loop dtype, in `workspace` itself if the dtypes allow it. */
static damo_array *sp_entries_dense_operand(const damo_sparse *a, const damo_array *y, damo_dtype loop,
                                            damo_array *workspace) {
  const bool direct = array_dtype(y) == loop && array_dtype(workspace) == loop;
  damo_array *v = direct ? damo_retain(workspace) : sparse_vector(a->obj.ctx, array_dtype(y), sparse_nnz(a));
  if (!v) return NULL;
  sp_entries_pick_dense(a, y, v->data);
  damo_array *out = array_as_contiguous(v, loop);
  damo_release(v);
  return out;
}

damo_status sparse_entries_with(kernel_fn op, damo_dtype loop, const damo_sparse *a, const damo_array *y,
                                damo_array *out) {
  if (y->ndim != 0) DAMO_TRY(sp_entries_check_dense(a, y));
  damo_array *x = array_as_contiguous(a->data, loop), *v = NULL;
  if (x) v = y->ndim == 0 ? array_as_contiguous(y, loop) : sp_entries_dense_operand(a, y, loop, out);
  if (v && y->ndim == 0) {
    sp_entries_with_number(a->obj.ctx, op, dtype_size(loop), x->data, v->data, out->data, dtype_size(array_dtype(out)),
                           sparse_nnz(a));
  } else if (v) {
    sp_entries_with_list(a->obj.ctx, op, dtype_size(loop), x->data, v->data, out->data, dtype_size(array_dtype(out)),
                         sparse_nnz(a));
  }
  const damo_status s = v ? DAMO_OK : damo_error_status(a->obj.ctx);
  damo_release(x);
  damo_release(v);
  return s;
}

/* A vector with an element for each column, as a matrix of one row. */
static damo_array *sp_entries_as_row(const damo_sparse *a, const damo_array *s) {
  char text[256];
  if (s->ndim == 1 && array_size(s) == a->shape[1]) {
    return array_view(s, 2, (const int64_t[2]){1, a->shape[1]}, (const int64_t[2]){0, array_strides(s)[0]}, 0);
  }
  ctx_fail(a->obj.ctx, DAMO_ESHAPE, "the vector has shape %s, expected (%lld,): one entry for each column",
           shape_format(text, sizeof text, s->ndim, array_shape(s)), (long long)a->shape[1]);
  return NULL;
}

damo_sparse *sparse_with_columns(kernel_fn op, damo_dtype dtype, damo_sparse *a, const damo_array *s) {
  damo_array *row = sp_entries_as_row(a, s), *data = NULL;
  damo_sparse *once = row ? sparse_sum_duplicates(a) : NULL, *x = once ? sparse_drop_zeros(once) : NULL, *out = NULL;
  if (x) data = sparse_vector(a->obj.ctx, dtype, sparse_nnz(x));
  if (data && sparse_entries_with(op, dtype, x, row, data) == DAMO_OK) out = sparse_with_data(x, data);
  damo_sparse *clean = out ? sparse_drop_zeros(out) : NULL;
  damo_release(row);
  damo_release(once);
  damo_release(x);
  damo_release(data);
  damo_release(out);
  return clean;
}
