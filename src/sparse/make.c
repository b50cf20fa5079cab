/* make: construction of matrices from coordinates and dense arrays. */
#include "sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

damo_sparse *sparse_from_places(damo_ctx *ctx, damo_format format, damo_dtype dtype, const int64_t shape[2], int64_t n,
                                const int64_t *rows, const int64_t *cols, const void *values, damo_dtype itype,
                                bool keep_duplicates) {
  const bool csr = format == DAMO_CSR;
  itype = sparse_itype_for(itype, shape[0], shape[1], n);
  damo_sparse *a = sparse_empty(ctx, format, dtype, itype, shape, n);
  if (!a) return NULL;
  move_fns_of(a)->place(a->obj.ctx, n, csr ? rows : cols, csr ? cols : rows, values, sparse_major(a), a->indptr->data,
                        a->indices->data, a->data->data);
  sparse_find_flags(a);
  if (keep_duplicates || sparse_is_canonical(a)) return a;
  damo_sparse *clean = sparse_sum_duplicates(a);
  damo_release(a);
  return clean;
}

/* as: the name of the argument that determines n. */
static damo_status sp_check_coordinates(damo_ctx *ctx, const char *part, const damo_array *v, const char *as,
                                        int64_t n) {
  char shape[256];
  if (v->ndim != 1 || array_size(v) != n) {
    return ctx_fail(ctx, v->ndim != 1 ? DAMO_ETYPE : DAMO_ESHAPE,
                    "coo: %s has shape %s, expected a vector of %lld entries as %s has", part,
                    shape_format(shape, sizeof shape, v->ndim, array_shape(v)), (long long)n, as);
  }
  if (dtype_is_integer(array_dtype(v))) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "coo: %s is %s, expected an integer dtype", part, dtype_name(array_dtype(v)));
}

/* A fresh vector of 0-based coordinates. *limit is the size of the axis; if it is -1 it is set to the largest
 * coordinate. */
static damo_array *sp_coordinates_of(damo_ctx *ctx, const char *part, const damo_array *v, int64_t *limit) {
  damo_array *out = array_cast(v, DAMO_INT64);
  if (!out) return NULL;
  int64_t *p = (int64_t *)(void *)out->data, most = 0;
  const int64_t n = array_size(out);
  for (int64_t i = 0; i < n; i++) {
    most = p[i] > most ? p[i] : most;
    if (p[i] >= 1 && p[i] < INT64_MAX && (*limit < 0 || p[i] <= *limit)) {
      p[i]--;
      continue;
    }
    if (*limit < 0)
      ctx_fail(ctx, DAMO_EINDEX, "coo: entry %lld of %s is %lld, expected 1 or more", (long long)i + 1, part,
               (long long)p[i]);
    else
      ctx_fail(ctx, DAMO_EINDEX, "coo: entry %lld of %s is %lld, expected 1 to %lld", (long long)i + 1, part,
               (long long)p[i], (long long)*limit);
    damo_release(out);
    return NULL;
  }
  if (*limit < 0) *limit = most;
  return out;
}

static damo_status sp_check_coo(damo_ctx *ctx, const damo_array *rows, const damo_array *cols,
                                const damo_array *values) {
  char text[256];
  const bool one = values->ndim == 0;
  if (values->ndim > 1) {
    return ctx_fail(ctx, DAMO_ETYPE, "coo: values has shape %s, expected a vector, or one number for all",
                    shape_format(text, sizeof text, values->ndim, array_shape(values)));
  }
  if (one && rows->ndim != 1) {
    return ctx_fail(ctx, DAMO_ETYPE, "coo: rows has shape %s, expected a vector",
                    shape_format(text, sizeof text, rows->ndim, array_shape(rows)));
  }
  const int64_t n = array_size(one ? rows : values);
  DAMO_TRY(sp_check_coordinates(ctx, "rows", rows, "values", n));
  return sp_check_coordinates(ctx, "cols", cols, one ? "rows" : "values", n);
}

/* The values as a contiguous vector of n elements; a 0-d array is repeated. */
static damo_array *sp_coo_values(const damo_array *values, int64_t n) {
  if (values->ndim == 1) return array_as_contiguous(values, array_dtype(values));
  damo_array *one = array_view(values, 1, &n, (const int64_t[]){0}, 0), *out = one ? array_copy(one) : NULL;
  damo_release(one);
  return out;
}

damo_sparse *sparse_from_coo(damo_ctx *ctx, damo_format format, const int64_t *shape, const damo_array *rows,
                             const damo_array *cols, const damo_array *values, damo_dtype itype) {
  int64_t size[2] = {-1, -1};
  if (sp_check_coo(ctx, rows, cols, values) != DAMO_OK) return NULL;
  const int64_t n = array_size(rows);
  if (shape) {
    if (sparse_check_shape(ctx, "coo", shape[0], shape[1]) != DAMO_OK) return NULL;
    size[0] = shape[0], size[1] = shape[1];
  }
  damo_array *r = sp_coordinates_of(ctx, "rows", rows, &size[0]),
             *c = r ? sp_coordinates_of(ctx, "cols", cols, &size[1]) : NULL;
  damo_array *v = c ? sp_coo_values(values, n) : NULL;
  damo_sparse *a = NULL;
  if (v) {
    a = sparse_from_places(ctx, format, array_dtype(v), size, n, (const int64_t *)(void *)r->data,
                           (const int64_t *)(void *)c->data, v->data, itype, false);
  }
  damo_release(r);
  damo_release(c);
  damo_release(v);
  return a;
}

/* ---- Dense ------------------------------------------------------------------------------------------------------- */

/* A dense matrix whose elements are aligned, so that kernels can load them in place. */
static damo_array *sp_readable_array(const damo_array *a) {
  const size_t size = dtype_size(array_dtype(a)), align = size == 16 ? 8 : size;
  bool aligned = (uintptr_t)a->data % align == 0;
  for (int i = 0; i < a->ndim; i++) aligned = aligned && array_strides(a)[i] % (int64_t)align == 0;
  return aligned ? damo_retain(a) : array_copy(a);
}

/* Counts the elements that are not 0 and fills ptr, the indptr of the result. A row or column that the array broadcasts
 * (stride 0), perhaps more often than fits in memory, is read once. */
static int64_t sp_count_nonzeros(const damo_array *a, bool csc, int64_t *ptr) {
  const int64_t *strides = array_strides(a), major = array_shape(a)[csc], minor = array_shape(a)[!csc];
  const int64_t lines = major > 1 && strides[csc] == 0 ? 1 : major, times = minor > 1 && strides[!csc] == 0 ? minor : 1;
  a->obj.ctx->isa->sparse.value[true][array_dtype(a)]->count_dense(a->obj.ctx, a->data, lines, minor / times,
                                                                   strides[csc], strides[!csc], ptr);
  for (int64_t i = 1; times > 1 && i <= lines; i++) ptr[i] *= times;
  for (int64_t i = lines + 1; i <= major; i++) ptr[i] = i * ptr[1];
  return ptr[major];
}

damo_sparse *sparse_from_dense(const damo_array *dense, damo_format format, damo_dtype itype) {
  char text[256];
  damo_ctx *ctx = dense->obj.ctx;
  if (dense->ndim != 2) {
    ctx_fail(ctx, DAMO_ETYPE, "%s_from_dense: the array has shape %s, expected a matrix", sparse_format_name(format),
             shape_format(text, sizeof text, dense->ndim, array_shape(dense)));
    return NULL;
  }
  const int64_t *shape = array_shape(dense);
  const bool csc = format == DAMO_CSC;
  const int64_t major = shape[csc], minor = shape[!csc], lines = major + 1;
  const damo_dtype dtype = array_dtype(dense);
  damo_array *a = sp_readable_array(dense), *ptr = a ? sparse_vector(ctx, DAMO_INT64, lines) : NULL;
  damo_sparse *out = NULL;
  if (ptr) {
    const int64_t *strides = array_strides(a), nnz = sp_count_nonzeros(a, csc, (int64_t *)(void *)ptr->data);
    itype = sparse_itype_for(itype, shape[0], shape[1], nnz);
    out = sparse_empty(ctx, format, dtype, itype, shape, nnz);
    if (out) {
      kernel_cast(DAMO_INT64, itype)(ptr->data, out->indptr->data, lines);
      if (nnz > 0) {
        value_fns_of(out)->fill_dense(a->obj.ctx, a->data, major, minor, strides[csc], strides[!csc],
                                      out->indices->data, out->data->data);
      }
      out->sorted = out->unique = true;
    }
  }
  damo_release(a);
  damo_release(ptr);
  return out;
}
