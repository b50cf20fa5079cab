/* diagonal: diagonals read from a matrix, and matrices made of diagonals. */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

int64_t sparse_diagonal_length(const int64_t shape[2], int64_t k) {
  const int64_t rows = k < 0 ? shape[0] + k : shape[0], cols = k > 0 ? shape[1] - k : shape[1];
  const int64_t least = rows < cols ? rows : cols;
  return least > 0 ? least : 0;
}

/* ---- Read -------------------------------------------------------------------------------------------------------- */

#define CHUNK 256 /* positions looked up at once */

void sparse_diagonal(const damo_sparse *a, int64_t k, void *out) {
  const int64_t n = sparse_diagonal_length(a->shape, k);
  const sparse_raw raw = sparse_raw_of(a);
  const bool csr = a->format == DAMO_CSR;
  int64_t row[CHUNK], col[CHUNK];
  if (k == 0) value_fns_of(a)->elements(&raw, a->sorted, n, NULL, NULL, out);
  for (int64_t at = 0; k != 0 && at < n; at += CHUNK) {
    const int64_t count = n - at < CHUNK ? n - at : CHUNK;
    for (int64_t i = 0; i < count; i++) {
      row[i] = at + i - (k < 0 ? k : 0);
      col[i] = at + i + (k > 0 ? k : 0);
    }
    char *to = (char *)out + (size_t)at * dtype_size(sparse_dtype(a));
    value_fns_of(a)->elements(&raw, a->sorted, count, csr ? row : col, csr ? col : row, to);
  }
}

#undef CHUNK

/* ---- Matrices of diagonals --------------------------------------------------------------------------------------- */

#define MAX_OFFSET ((int64_t)1 << 62)

damo_sparse *sparse_eye(damo_ctx *ctx, int64_t rows, int64_t cols, int64_t k, damo_dtype dtype, damo_format format) {
  if (sparse_check_shape(ctx, "eye", rows, cols) != DAMO_OK) return NULL;
  damo_array *one = sparse_vector(ctx, dtype, 1);
  if (!one) return NULL;
  kernel_cast(DAMO_UINT8, dtype)(&(uint8_t){1}, one->data, 1);
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
  const int64_t n = sparse_diagonal_length(shape, offsets[i]);
  if (array_size(d) == n || array_size(d) == 1) return DAMO_OK;
  return ctx_fail(
      ctx, DAMO_ESHAPE, "diags: diagonal %lld has %lld entries, expected %lld (offset %lld, shape (%lld, %lld))",
      (long long)i + 1, (long long)array_size(d), (long long)n, k, (long long)shape[0], (long long)shape[1]);
}

/* Appends the coordinates and values of diagonal k. */
static damo_status sp_add_diagonal(sp_coordinates *at, const damo_array *d, int64_t k, const int64_t shape[2],
                                   damo_dtype dtype) {
  const size_t size = dtype_size(dtype);
  const int64_t n = array_size(d) == 0 ? 0 : sparse_diagonal_length(shape, k);
  damo_array *v = array_as_contiguous(d, dtype);
  if (!v) return DAMO_EMEMORY;
  const int64_t step = array_size(v) == 1 ? 0 : (int64_t)size;
  for (int64_t i = 0; i < n; i++) {
    at->row[at->n + i] = k < 0 ? i - k : i;
    at->col[at->n + i] = k > 0 ? i + k : i;
    sparse_point_each(d->obj.ctx, i);
  }
  if (n > 0) kernel_copy_strided(v->data, step, at->value + (size_t)at->n * size, (int64_t)size, n, size);
  at->n += n;
  damo_release(v);
  return DAMO_OK;
}

damo_sparse *sparse_diags(damo_ctx *ctx, int64_t n, const damo_array *const *diagonals, const int64_t *offsets,
                          const int64_t *asked, damo_dtype dtype, damo_format format) {
  int64_t shape[2], total = 0;
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
  for (int64_t i = 0; i < n; i++) {
    if (sp_check_diagonal(ctx, i, diagonals[i], offsets, shape) != DAMO_OK) return NULL;
    total += array_size(diagonals[i]) == 0 ? 0 : sparse_diagonal_length(shape, offsets[i]);
  }
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

damo_sparse *sparse_square_diagonal(const damo_array *v) {
  const int64_t n = array_size(v), size = (int64_t)dtype_size(array_dtype(v)), shape[2] = {n, n};
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, n, n, n);
  damo_sparse *out = sparse_empty(v->obj.ctx, DAMO_CSC, array_dtype(v), itype, shape, n);
  if (!out) return NULL;
  if (n > 0) array_copy_box(v->obj.ctx, v->data, array_strides(v), out->data->data, NULL, 1, &n, (size_t)size);
  sparse_count_up(out->indices, 1);
  sparse_count_up(out->indptr, 1);
  out->sorted = out->unique = true;
  return out;
}
