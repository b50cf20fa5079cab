/* sparse_combine: sums and products entry by entry, scaling, sums along axes, rows and columns by list. */
#include "sparse_int.h"

#include <string.h>

static damo_sparse *form(damo_sparse *a, damo_format format, damo_dtype dtype, damo_dtype itype) {
  damo_sparse *b = sparse_to_format(a, format), *c = b ? sparse_sum_duplicates(b) : NULL;
  damo_sparse *d = c ? sparse_cast(c, dtype) : NULL, *e = d ? sparse_to_itype(d, itype) : NULL;
  damo_release(b);
  damo_release(c);
  damo_release(d);
  return e;
}

damo_sparse *sparse_merge(sparse_merge_op op, damo_sparse *a, damo_sparse *b) {
  static const char *const names[] = {[SPARSE_ADD] = "add", [SPARSE_SUB] = "sub", [SPARSE_MUL] = "mul"};
  if (a->shape[0] != b->shape[0] || a->shape[1] != b->shape[1]) {
    ctx_fail(a->obj.ctx, DAMO_ESHAPE, "%s: shapes (%lld, %lld) and (%lld, %lld) are not equal", names[op],
             (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0], (long long)b->shape[1]);
    return NULL;
  }
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), sparse_dtype(b));
  const int64_t most = sparse_nnz(a) + sparse_nnz(b);
  const bool wide = sparse_is_wide(a) || sparse_is_wide(b) || most > INT32_MAX;
  const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32;
  damo_sparse *x = form(a, sparse_format(a), dtype, itype);
  damo_sparse *y = x ? form(b, sparse_format(a), dtype, itype) : NULL;
  damo_sparse *out = NULL;
  if (y) out = sparse_empty(a->obj.ctx, sparse_format(a), dtype, itype, a->shape, sparse_nnz(x) + sparse_nnz(y));
  if (out) {
    const sparse_raw rx = sparse_raw_of(x), ry = sparse_raw_of(y);
    const int64_t n = value_fns_of(out)->merge(op, &rx, &ry, out->indptr->data, out->indices->data, out->data->data);
    out->sorted = out->unique = true;
    out = sparse_cut(out, n);
  }
  damo_release(x);
  damo_release(y);
  return out;
}

damo_sparse *sparse_scale(damo_sparse *a, int axis, const damo_array *s) {
  char text[256];
  if (s->ndim != 1 || array_size(s) != a->shape[axis]) {
    ctx_fail(a->obj.ctx, DAMO_ESHAPE, "%s: the vector has shape %s, expected (%lld,): one entry for each %s",
             axis ? "col_scale" : "row_scale", shape_format(text, sizeof text, s->ndim, array_shape(s)),
             (long long)a->shape[axis], axis ? "column" : "row");
    return NULL;
  }
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), array_dtype(s));
  damo_sparse *b = sparse_cast(a, dtype), *out = NULL;
  damo_array *v = b ? array_as_contiguous(s, dtype) : NULL;
  damo_array *data = v ? sparse_vector(a->obj.ctx, dtype, sparse_nnz(a)) : NULL;
  if (data) {
    const sparse_raw raw = sparse_raw_of(b);
    const sparse_value_fns *f = value_fns_of(b);
    const bool by_major = (axis == 0) == (a->format == DAMO_CSR);
    (by_major ? f->scale_major : f->scale_minor)(&raw, v->data, data->data);
    out = sparse_with_data(a, data);
  }
  damo_release(b);
  damo_release(v);
  damo_release(data);
  return out;
}

/* The sum of all entries: the data's, whatever the pattern. */
static damo_array *sum_all(const damo_sparse *a, damo_dtype dtype) {
  damo_ctx *ctx = a->obj.ctx;
  const damo_dtype in = sparse_dtype(a);
  const int64_t nnz = sparse_nnz(a), stride = (int64_t)dtype_size(in);
  const size_t room = reduce_workspace(REDUCE_SUM, in, 1, &nnz, 1) + 64;
  char *work = mem_alloc(ctx, room);
  if (!work) return NULL;
  damo_array *out = array_empty(ctx, dtype, 0, NULL);
  char *aligned = (char *)(((uintptr_t)work + 63) & ~(uintptr_t)63);
  if (out) kernel_reduce(REDUCE_SUM, in, a->data->data, 1, &nnz, &stride, 1, out->data, aligned);
  mem_free(ctx, work, room);
  return out;
}

damo_array *sparse_sum(damo_sparse *a, int axis) {
  const damo_dtype dtype = reduce_out_dtype(REDUCE_SUM, sparse_dtype(a));
  if (axis < 0) return sum_all(a, dtype);
  const bool along_major = (axis == 1) == (a->format == DAMO_CSR);
  damo_sparse *b = sparse_cast(a, dtype);
  damo_array *out = b ? damo_array_new(a->obj.ctx, dtype, 1, &a->shape[axis == 0]) : NULL;
  if (out) {
    const sparse_raw raw = sparse_raw_of(b);
    (along_major ? value_fns_of(b)->sum_major : value_fns_of(b)->sum_minor)(&raw, out->data);
  }
  damo_release(b);
  return out;
}

/* ---- By list ----------------------------------------------------------------------------------------------------- */

static damo_status check_list(const damo_sparse *a, int axis, const damo_array *list) {
  char text[256];
  damo_ctx *ctx = a->obj.ctx;
  const char *what = axis ? "column" : "row";
  if (list->ndim != 1 || array_dtype(list) != DAMO_INT64 || !array_is_contiguous(list)) {
    return ctx_fail(ctx, DAMO_ETYPE, "get_item_list: the %ss are a %s array of shape %s, expected an int64 vector",
                    what, dtype_name(array_dtype(list)),
                    shape_format(text, sizeof text, list->ndim, array_shape(list)));
  }
  const int64_t *at = (const int64_t *)(void *)list->data;
  for (int64_t i = 0; i < array_size(list); i++) {
    if (at[i] >= 0 && at[i] < a->shape[axis]) continue;
    return ctx_fail(ctx, DAMO_EINDEX, "get_item_list: entry %lld asks for %s %lld of %lld", (long long)i + 1, what,
                    (long long)at[i] + 1, (long long)a->shape[axis]);
  }
  return DAMO_OK;
}

/* Entries of the lines named. */
static int64_t count_lines(const damo_sparse *a, const int64_t *at, int64_t n) {
  int64_t nnz = 0;
  if (sparse_is_wide(a)) {
    const int64_t *ptr = (const int64_t *)(void *)a->indptr->data;
    for (int64_t i = 0; i < n; i++) nnz += ptr[at[i] + 1] - ptr[at[i]];
  } else {
    const int32_t *ptr = (const int32_t *)(void *)a->indptr->data;
    for (int64_t i = 0; i < n; i++) nnz += ptr[at[i] + 1] - ptr[at[i]];
  }
  return nnz;
}

/* a is compressed along the axis. */
static damo_sparse *take_lines(damo_sparse *a, int axis, const damo_array *list) {
  const int64_t n = array_size(list), *at = (const int64_t *)(void *)list->data;
  const int64_t nnz = count_lines(a, at, n);
  int64_t shape[2] = {a->shape[0], a->shape[1]};
  shape[axis] = n;
  const damo_dtype itype = sparse_itype_for(sparse_itype(a), shape[0], shape[1], nnz);
  damo_sparse *from = sparse_to_itype(a, itype), *out = NULL;
  if (from) out = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), itype, shape, nnz);
  if (out) {
    const sparse_raw raw = sparse_raw_of(from);
    move_fns_of(out)->take(&raw, at, n, out->indptr->data, out->indices->data, out->data->data);
    out->sorted = a->sorted;
    out->unique = a->unique;
  }
  damo_release(from);
  return out;
}

damo_sparse *sparse_take(damo_sparse *a, int axis, const damo_array *list) {
  if (check_list(a, axis, list) != DAMO_OK) return NULL;
  const damo_format by = axis == 0 ? DAMO_CSR : DAMO_CSC, format = sparse_format(a);
  damo_sparse *b = sparse_to_format(a, by), *c = b ? take_lines(b, axis, list) : NULL;
  damo_sparse *out = c ? sparse_to_format(c, format) : NULL;
  damo_release(b);
  damo_release(c);
  return out;
}
