/* make: construction of matrices from coordinates, dense arrays and diagonals. */
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
  move_fns_of(a)->place(n, csr ? rows : cols, csr ? cols : rows, values, sparse_major(a), a->indptr->data,
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
  a->obj.ctx->isa->sparse.value[true][array_dtype(a)]->count_dense(a->data, lines, minor / times, strides[csc],
                                                                   strides[!csc], ptr);
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
        value_fns_of(out)->fill_dense(a->data, major, minor, strides[csc], strides[!csc], out->indices->data,
                                      out->data->data);
      }
      out->sorted = out->unique = true;
    }
  }
  damo_release(a);
  damo_release(ptr);
  return out;
}

/* ---- Diagonals --------------------------------------------------------------------------------------------------- */

#define MAX_OFFSET ((int64_t)1 << 62)

/* Length of the k-th diagonal of a rows × cols matrix. */
static int64_t sp_diagonal_length(int64_t rows, int64_t cols, int64_t k) {
  const int64_t r = k < 0 ? rows + k : rows, c = k > 0 ? cols - k : cols, n = r < c ? r : c;
  return n > 0 ? n : 0;
}

/* Writes 1 of any dtype to p. */
static void sp_put_one(damo_dtype dtype, void *p) {
  const uint8_t one = 1;
  kernel_cast(DAMO_UINT8, dtype)(&one, p, 1);
}

damo_sparse *sparse_eye(damo_ctx *ctx, int64_t rows, int64_t cols, int64_t k, damo_dtype dtype, damo_format format) {
  if (sparse_check_shape(ctx, "eye", rows, cols) != DAMO_OK) return NULL;
  damo_array *one = sparse_vector(ctx, dtype, 1);
  if (!one) return NULL;
  sp_put_one(dtype, one->data);
  damo_sparse *a = NULL;
  if (k >= cols || k <= -rows) { /* no such diagonal: an empty matrix */
    a = sparse_from_places(ctx, format, dtype, (const int64_t[]){rows, cols}, 0, NULL, NULL, NULL, DAMO_INT32, true);
  } else {
    a = sparse_diags(ctx, 1, (const damo_array *const[]){one}, &k, (const int64_t[]){rows, cols}, dtype, format);
  }
  damo_release(one);
  return a;
}

typedef struct sp_coordinates {
  int64_t n; /* filled so far */
  int64_t *row, *col;
  char *value;
} sp_coordinates;

static damo_status sp_check_diagonal(damo_ctx *ctx, int64_t i, const damo_array *d, const int64_t *offsets,
                                     const int64_t shape[2]) {
  char text[256];
  const long long k = (long long)offsets[i];
  if (d->ndim > 1) {
    return ctx_fail(ctx, DAMO_ETYPE, "diags: diagonal %lld has shape %s, expected a vector", (long long)i + 1,
                    shape_format(text, sizeof text, d->ndim, array_shape(d)));
  }
  for (int64_t j = 0; j < i; j++) {
    if (offsets[j] == offsets[i]) return ctx_fail(ctx, DAMO_EVALUE, "diags: offset %lld is given twice", k);
  }
  if (offsets[i] >= shape[1] || offsets[i] <= -shape[0]) {
    if (array_size(d) == 0) return DAMO_OK;
    return ctx_fail(ctx, DAMO_EVALUE, "diags: offset %lld lies outside the shape (%lld, %lld)", k, (long long)shape[0],
                    (long long)shape[1]);
  }
  const int64_t n = sp_diagonal_length(shape[0], shape[1], offsets[i]);
  if (array_size(d) == n || array_size(d) == 1) return DAMO_OK;
  return ctx_fail(
      ctx, DAMO_ESHAPE, "diags: diagonal %lld has %lld entries, expected %lld (offset %lld, shape (%lld, %lld))",
      (long long)i + 1, (long long)array_size(d), (long long)n, k, (long long)shape[0], (long long)shape[1]);
}

/* Appends the coordinates and values of diagonal k. */
static damo_status sp_add_diagonal(sp_coordinates *at, const damo_array *d, int64_t k, const int64_t shape[2],
                                   damo_dtype dtype) {
  const size_t size = dtype_size(dtype);
  const int64_t n = array_size(d) == 0 ? 0 : sp_diagonal_length(shape[0], shape[1], k);
  damo_array *v = array_as_contiguous(d, dtype);
  if (!v) return DAMO_EMEMORY;
  const int64_t step = array_size(v) == 1 ? 0 : (int64_t)size;
  for (int64_t i = 0; i < n; i++) {
    at->row[at->n + i] = k < 0 ? i - k : i;
    at->col[at->n + i] = k > 0 ? i + k : i;
  }
  if (n > 0) kernel_copy_strided(v->data, step, at->value + (size_t)at->n * size, (int64_t)size, n, size);
  at->n += n;
  damo_release(v);
  return DAMO_OK;
}

static damo_status sp_count_diagonals(damo_ctx *ctx, int64_t n, const damo_array *const *diagonals,
                                      const int64_t *offsets, const int64_t shape[2], int64_t *total) {
  *total = 0;
  for (int64_t i = 0; i < n; i++) {
    DAMO_TRY(sp_check_diagonal(ctx, i, diagonals[i], offsets, shape));
    *total += array_size(diagonals[i]) == 0 ? 0 : sp_diagonal_length(shape[0], shape[1], offsets[i]);
  }
  return DAMO_OK;
}

damo_sparse *sparse_diags(damo_ctx *ctx, int64_t n, const damo_array *const *diagonals, const int64_t *offsets,
                          const int64_t *asked, damo_dtype dtype, damo_format format) {
  int64_t shape[2], total;
  if (n < 1) {
    ctx_fail(ctx, DAMO_EVALUE, "diags: no diagonals, expected one or more");
    return NULL;
  }
  for (int64_t i = 0; i < n; i++) {
    if (offsets[i] > -MAX_OFFSET && offsets[i] < MAX_OFFSET) continue;
    ctx_fail(ctx, DAMO_EVALUE, "diags: offset %lld is no diagonal of any matrix", (long long)offsets[i]);
    return NULL;
  }
  shape[0] = shape[1] = array_size(diagonals[0]) + (offsets[0] < 0 ? -offsets[0] : offsets[0]);
  if (asked) shape[0] = asked[0], shape[1] = asked[1];
  if (sparse_check_shape(ctx, "diags", shape[0], shape[1]) != DAMO_OK) return NULL;
  if (sp_count_diagonals(ctx, n, diagonals, offsets, shape, &total) != DAMO_OK) return NULL;
  damo_array *row = sparse_vector(ctx, DAMO_INT64, total), *col = row ? sparse_vector(ctx, DAMO_INT64, total) : NULL;
  damo_array *value = col ? sparse_vector(ctx, dtype, total) : NULL;
  damo_sparse *a = NULL;
  if (value) {
    sp_coordinates at = {
        .row = (int64_t *)(void *)row->data, .col = (int64_t *)(void *)col->data, .value = value->data};
    damo_status status = DAMO_OK;
    for (int64_t i = 0; i < n && status == DAMO_OK; i++) {
      status = sp_add_diagonal(&at, diagonals[i], offsets[i], shape, dtype);
    }
    if (status == DAMO_OK)
      a = sparse_from_places(ctx, format, dtype, shape, at.n, at.row, at.col, at.value, DAMO_INT32, false);
  }
  damo_release(row);
  damo_release(col);
  damo_release(value);
  damo_sparse *out = a ? sparse_drop_zeros(a) : NULL;
  damo_release(a);
  return out;
}
