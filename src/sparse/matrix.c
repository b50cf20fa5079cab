/* matrix: the object, construction from three vectors, and its invariants. */
#include "sparse_int.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

#define NARROW_MAX INT32_MAX

static void sp_destroy(damo_obj *obj) {
  damo_sparse *a = (damo_sparse *)obj;
  damo_release(a->data);
  damo_release(a->indices);
  damo_release(a->indptr);
  obj_free(obj, sizeof(damo_sparse));
}

void sparse_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_SPARSE, sp_destroy, NULL);
  factor_register(ctx);
}

damo_dtype sparse_itype_for(damo_dtype asked, int64_t rows, int64_t cols, int64_t nnz) {
  const bool needed = rows > NARROW_MAX || cols > NARROW_MAX || nnz > NARROW_MAX;
  return needed || asked == DAMO_INT64 ? DAMO_INT64 : DAMO_INT32;
}

const char *sparse_format_advice(const char *name) {
  static const char *const read[] = {"bsr", "dia", "coo"}, *const other[] = {"lil", "dok"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(name, read[i]) == 0)
      return "; bsr, dia and coo are read as csr: damo.io.load reads SciPy's files of them, sparse.coo{rows=, cols=, "
             "values=} takes coordinates";
  }
  for (int i = 0; i < 2; i++) {
    if (strcmp(name, other[i]) == 0) return "; sparse.coo{rows=, cols=, values=} makes one of coordinates";
  }
  return "";
}

damo_array *sparse_vector(damo_ctx *ctx, damo_dtype dtype, int64_t n) {
  return array_empty(ctx, dtype, 1, (const int64_t[]){n});
}

void sparse_count_up(damo_array *v, int64_t step) {
  const bool wide = array_dtype(v) == DAMO_INT64;
  for (int64_t i = 0, n = array_size(v); i < n; i++) {
    sparse_index_set(v->data, wide, i, i * step);
    sparse_point_each(v->obj.ctx, i);
  }
}

static damo_sparse *sp_header_new(damo_ctx *ctx, damo_format format, const int64_t shape[2]) {
  damo_sparse *a = obj_new(ctx, OBJ_SPARSE, sizeof(damo_sparse));
  if (!a) return NULL;
  a->format = (uint8_t)format;
  a->shape[0] = shape[0];
  a->shape[1] = shape[1];
  return a;
}

damo_sparse *sparse_empty(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t shape[2],
                          int64_t nnz) {
  damo_sparse *a = sp_header_new(ctx, format, shape);
  if (!a) return NULL;
  damo_assert(sparse_itype_for(itype, shape[0], shape[1], nnz) == itype);
  a->data = sparse_vector(ctx, dtype, nnz);
  a->indices = a->data ? sparse_vector(ctx, itype, nnz) : NULL;
  a->indptr = a->indices ? sparse_vector(ctx, itype, sparse_major(a) + 1) : NULL;
  if (!a->indptr) {
    damo_release(a);
    return NULL;
  }
  sparse_freeze(a->indices);
  sparse_freeze(a->indptr);
  return a;
}

/* The first n entries: a copy if more than half of the memory would stay unused, else a view. Takes its argument. */
static damo_array *sp_cut_vector(damo_array *take, int64_t n) {
  const int64_t had = array_shape(take)[0];
  if (n == had) return take;
  damo_array *out = array_view(take, 1, &n, array_strides(take), 0);
  if (out && n < had / 2) {
    damo_array *view = out;
    out = array_copy(view);
    if (out && !take->writeable) sparse_freeze(out);
    damo_release(view);
  }
  damo_release(take);
  return out;
}

damo_sparse *sparse_cut(damo_sparse *take, int64_t nnz) {
  damo_assert(take->obj.refs == 1 && nnz <= sparse_nnz(take));
  take->data = sp_cut_vector(take->data, nnz);
  take->indices = sp_cut_vector(take->indices, nnz);
  if (take->data && take->indices) {
    damo_assert(sparse_check(take, NULL));
    return take;
  }
  damo_release(take);
  return NULL;
}

damo_sparse *sparse_with_data(const damo_sparse *a, damo_array *data) {
  damo_assert(array_size(data) == sparse_nnz(a) && array_is_contiguous(data));
  damo_sparse *b = sp_header_new(a->obj.ctx, sparse_format(a), a->shape);
  if (!b) return NULL;
  b->sorted = a->sorted;
  b->unique = a->unique;
  b->data = damo_retain(data);
  b->indices = damo_retain(a->indices);
  b->indptr = damo_retain(a->indptr);
  return b;
}

/* ---- In another context ------------------------------------------------------------------------------------------ */

damo_sparse *sparse_lend(damo_ctx *ctx, const damo_sparse *a) {
  damo_sparse *b = sp_header_new(ctx, sparse_format(a), a->shape);
  if (!b) return NULL;
  b->sorted = a->sorted;
  b->unique = a->unique;
  b->data = array_lend(ctx, a->data);
  b->indices = b->data ? array_lend(ctx, a->indices) : NULL;
  b->indptr = b->indices ? array_lend(ctx, a->indptr) : NULL;
  damo_assert(!b->indptr || b->indptr->buf->obj.flags & BUFFER_FROZEN);
  if (b->indptr) return b;
  damo_release(b);
  return NULL;
}

damo_sparse *sparse_copy_to(damo_ctx *ctx, const damo_sparse *a) {
  const size_t index = dtype_size(sparse_itype(a));
  damo_sparse *b = sparse_empty(ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape, sparse_nnz(a));
  if (!b) return NULL;
  b->sorted = a->sorted;
  b->unique = a->unique;
  memcpy(b->data->data, a->data->data, (size_t)sparse_nnz(a) * dtype_size(sparse_dtype(a)));
  memcpy(b->indices->data, a->indices->data, (size_t)sparse_nnz(a) * index);
  memcpy(b->indptr->data, a->indptr->data, (size_t)(sparse_major(a) + 1) * index);
  return b;
}

/* ---- From parts, checked ----------------------------------------------------------------------------------------- */

damo_status sparse_check_shape(damo_ctx *ctx, const char *who, int64_t rows, int64_t cols) {
  if (rows >= 0 && cols >= 0 && rows < INT64_MAX && cols < INT64_MAX) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: shape (%lld, %lld), expected dimensions from 0 to 2^63 - 2", who,
                  (long long)rows, (long long)cols);
}

static damo_status sp_check_vector(damo_ctx *ctx, const char *who, const char *part, const damo_array *v,
                                   bool integer) {
  char shape[256];
  if (v->ndim != 1) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: %s has shape %s, expected a vector", who, part,
                    shape_format(shape, sizeof shape, v->ndim, array_shape(v)));
  }
  if (!integer || dtype_is_integer(array_dtype(v))) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: %s is %s, expected an integer dtype", who, part, dtype_name(array_dtype(v)));
}

static damo_status sp_check_parts(damo_ctx *ctx, damo_format format, const int64_t shape[2], const damo_array *data,
                                  const damo_array *indices, const damo_array *indptr) {
  const char *who = sparse_format_name(format);
  DAMO_TRY(sparse_check_shape(ctx, who, shape[0], shape[1]));
  DAMO_TRY(sp_check_vector(ctx, who, "data", data, false));
  DAMO_TRY(sp_check_vector(ctx, who, "indices", indices, true));
  DAMO_TRY(sp_check_vector(ctx, who, "indptr", indptr, true));
  const int64_t nnz = array_size(indices), major = shape[format == DAMO_CSC];
  if (array_size(data) != nnz) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: data has %lld entries and indices %lld, expected as many", who,
                    (long long)array_size(data), (long long)nnz);
  }
  if (array_size(indptr) == major + 1) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%s: indptr has %lld entries, expected %lld: one more than the %lld %s", who,
                  (long long)array_size(indptr), (long long)major + 1, (long long)major,
                  format == DAMO_CSR ? "rows" : "columns");
}

/* The message counts entries from 1, but quotes their values, which are 0-based indices, as they are. */
static damo_status sp_report_verdict(damo_ctx *ctx, damo_format format, const sparse_raw *raw, int64_t nnz,
                                     sparse_verdict v) {
  const char *who = sparse_format_name(format);
  const long long at = (long long)v.position + 1, value = (long long)v.value;
  switch (v.flaw) {
    case SPARSE_FINE: break;
    case SPARSE_BAD_START: return ctx_fail(ctx, DAMO_EVALUE, "%s: indptr begins with %lld, expected 0", who, value);
    case SPARSE_BAD_ORDER:
      return ctx_fail(ctx, DAMO_EVALUE, "%s: entry %lld of indptr is %lld, less than the entry before it", who, at,
                      value);
    case SPARSE_BAD_END:
      return ctx_fail(ctx, DAMO_EVALUE, "%s: indptr ends with %lld, expected the %lld entries of indices", who, value,
                      (long long)nnz);
    case SPARSE_BAD_INDEX:
      return ctx_fail(ctx, DAMO_EINDEX,
                      "%s: entry %lld of indices is %lld, expected at least 0 and less than the %lld %s", who, at,
                      value, (long long)raw->minor, format == DAMO_CSR ? "columns" : "rows");
  }
  return DAMO_OK;
}

static bool sp_vector_is_frozen(const damo_array *v) { return !v->writeable && v->buf->obj.flags & BUFFER_FROZEN; }

/* The vector as a read-only one of dtype `itype`: shared if it is that already. */
static damo_array *sp_frozen_vector(const damo_array *v, damo_dtype itype) {
  if (sp_vector_is_frozen(v) && array_dtype(v) == itype && array_is_contiguous(v)) return damo_retain(v);
  damo_array *copy = array_cast(v, itype);
  if (copy) sparse_freeze(copy);
  return copy;
}

/* Checks indices and indptr, which are contiguous and of one width, and sets a's flags. */
static damo_status sp_check_storage(damo_ctx *ctx, damo_sparse *a, const damo_array *indices,
                                    const damo_array *indptr) {
  const int64_t nnz = array_size(indices);
  const sparse_raw raw = {sparse_major(a), sparse_minor(a), indptr->data, indices->data, NULL, a->obj.ctx};
  const sparse_verdict v = ctx->isa->sparse.index[array_dtype(indices) == DAMO_INT64]->check(&raw, nnz);
  a->sorted = v.sorted;
  a->unique = v.unique;
  return sp_report_verdict(ctx, sparse_format(a), &raw, nnz, v);
}

damo_sparse *sparse_from_parts(damo_ctx *ctx, damo_format format, const int64_t shape[2], const damo_array *data,
                               const damo_array *indices, const damo_array *indptr, damo_dtype itype) {
  if (sp_check_parts(ctx, format, shape, data, indices, indptr) != DAMO_OK) return NULL;
  const bool narrow = array_dtype(indices) == DAMO_INT32 && array_dtype(indptr) == DAMO_INT32;
  const damo_dtype checked = narrow ? DAMO_INT32 : DAMO_INT64;
  damo_array *idx = array_as_contiguous(indices, checked), *ptr = idx ? array_as_contiguous(indptr, checked) : NULL;
  damo_sparse *a = ptr ? sp_header_new(ctx, format, shape) : NULL;
  bool ok = a && sp_check_storage(ctx, a, idx, ptr) == DAMO_OK;
  if (ok) {
    itype = sparse_itype_for(itype, shape[0], shape[1], array_size(idx));
    a->data = array_as_contiguous(data, array_dtype(data));
    a->indices = a->data ? sp_frozen_vector(idx, itype) : NULL;
    a->indptr = a->indices ? sp_frozen_vector(ptr, itype) : NULL;
    ok = a->indptr != NULL;
  }
  damo_release(idx);
  damo_release(ptr);
  if (ok) return a;
  damo_release(a);
  return NULL;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

void sparse_find_flags(damo_sparse *a) {
  const sparse_raw raw = sparse_raw_of(a);
  bool sorted, unique;
  index_fns_of(a)->order(&raw, &sorted, &unique);
  a->sorted = sorted;
  a->unique = unique;
}

uint64_t sparse_value_bits(damo_dtype dtype) {
  if (dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64) return UINT64_C(0x7fffffff7fffffff);
  return dtype_is_discrete(dtype) ? UINT64_MAX : UINT64_C(0x7fffffffffffffff);
}

bool sparse_all_finite(const damo_sparse *a) {
  return kernel_all_finite(sparse_dtype(a), a->data->data, sparse_nnz(a));
}

int64_t sparse_count_zeros(const damo_sparse *a) {
  return value_fns_of(a)->count_zeros(a->obj.ctx, a->data->data, sparse_nnz(a));
}

static const char *sp_find_flaw(const damo_sparse *a) {
  const char *why = NULL;
  if (a->obj.kind != OBJ_SPARSE) return "not a sparse matrix";
  if (a->format > DAMO_CSC) return "unknown format";
  if (a->shape[0] < 0 || a->shape[1] < 0) return "negative dimension";
  if (!a->data || !a->indices || !a->indptr) return "a part is missing";
  if (!array_check(a->data, &why) || !array_check(a->indices, &why) || !array_check(a->indptr, &why)) return why;
  if (a->data->ndim != 1 || a->indices->ndim != 1 || a->indptr->ndim != 1) return "a part is no vector";
  if (!array_is_contiguous(a->data) || !array_is_contiguous(a->indices) || !array_is_contiguous(a->indptr))
    return "a part is not contiguous";
  if (sparse_itype(a) != array_dtype(a->indptr)) return "indices and indptr differ in dtype";
  if (sparse_itype(a) != DAMO_INT32 && sparse_itype(a) != DAMO_INT64) return "index dtype is neither int32 nor int64";
  if (sparse_itype_for(sparse_itype(a), a->shape[0], a->shape[1], sparse_nnz(a)) != sparse_itype(a))
    return "int32 indices are too narrow";
  if (!sp_vector_is_frozen(a->indices) || !sp_vector_is_frozen(a->indptr)) return "indices or indptr can be written";
  if (array_size(a->indices) != sparse_nnz(a)) return "data and indices differ in length";
  if (array_size(a->indptr) != sparse_major(a) + 1) return "indptr has the wrong length";
  const sparse_raw raw = sparse_raw_of(a);
  const sparse_verdict v = index_fns_of(a)->check(&raw, sparse_nnz(a));
  if (v.flaw != SPARSE_FINE) return v.flaw == SPARSE_BAD_INDEX ? "an index is out of range" : "indptr is wrong";
  if (a->sorted && !v.sorted) return "flagged sorted, but is not";
  if (a->sorted && a->unique && !v.unique) return "flagged unique, but is not";
  return NULL;
}

bool sparse_check(const damo_sparse *a, const char **why) {
  const char *flaw = sp_find_flaw(a);
  if (why) *why = flaw;
  return flaw == NULL;
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

/* Argument checks that the public constructors share; func begins the message. */
static damo_status sp_check_public(damo_ctx *ctx, const char *func, damo_format format, damo_dtype dtype, int64_t rows,
                                   int64_t cols, int64_t n) {
  DAMO_TRY(ctx_check_list(ctx, func, "entries", ctx, n));
  if (format != DAMO_CSR && format != DAMO_CSC)
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %d is not a format", func, (int)format);
  if ((unsigned)dtype >= DAMO_N_DTYPES) return ctx_fail(ctx, DAMO_ETYPE, "%s: %d is not a dtype", func, (int)dtype);
  return sparse_check_shape(ctx, func, rows, cols);
}

damo_sparse *damo_sparse_new(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows, int64_t cols,
                             int64_t nnz, const int64_t *indptr, const int64_t *indices, const void *data) {
  static const char func[] = "damo_sparse_new";
  if (sp_check_public(ctx, func, format, dtype, rows, cols, nnz) != DAMO_OK ||
      ctx_check_given(ctx, func, "indptr", indptr) != DAMO_OK ||
      ctx_check_list(ctx, func, "indices", indices, nnz) != DAMO_OK ||
      ctx_check_list(ctx, func, "data", data, nnz) != DAMO_OK) {
    return NULL;
  }
  const int64_t n_pointers = (format == DAMO_CSR ? rows : cols) + 1;
  damo_array *val = damo_array_from(ctx, dtype, 1, &nnz, data);
  damo_array *idx = val ? damo_array_from(ctx, DAMO_INT64, 1, &nnz, indices) : NULL;
  damo_array *ptr = idx ? damo_array_from(ctx, DAMO_INT64, 1, &n_pointers, indptr) : NULL;
  damo_sparse *a = NULL;
  if (ptr) a = sparse_from_parts(ctx, format, (const int64_t[]){rows, cols}, val, idx, ptr, DAMO_INT32);
  damo_release(val);
  damo_release(idx);
  damo_release(ptr);
  return a;
}

damo_sparse *damo_sparse_from_coo(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows, int64_t cols,
                                  int64_t n, const int64_t *row, const int64_t *col, const void *data) {
  static const char func[] = "damo_sparse_from_coo";
  if (sp_check_public(ctx, func, format, dtype, rows, cols, n) != DAMO_OK ||
      ctx_check_list(ctx, func, "row", row, n) != DAMO_OK || ctx_check_list(ctx, func, "col", col, n) != DAMO_OK ||
      ctx_check_list(ctx, func, "data", data, n) != DAMO_OK) {
    return NULL;
  }
  for (int64_t p = 0; p < n; p++) {
    if (row[p] >= 0 && row[p] < rows && col[p] >= 0 && col[p] < cols) continue;
    ctx_fail(ctx, DAMO_EINDEX, "sparse: entry %lld lies at (%lld, %lld), outside the shape (%lld, %lld)", (long long)p,
             (long long)row[p], (long long)col[p], (long long)rows, (long long)cols);
    return NULL;
  }
  return sparse_from_places(ctx, format, dtype, (const int64_t[]){rows, cols}, n, row, col, data, DAMO_INT32, false);
}

damo_sparse *damo_sparse_from_parts(damo_ctx *ctx, damo_format format, int64_t rows, int64_t cols,
                                    const damo_array *data, const damo_array *indices, const damo_array *indptr) {
  static const char func[] = "damo_sparse_from_parts";
  if (ctx_check_obj(ctx, func, "data", data, OBJ_ARRAY) != DAMO_OK ||
      ctx_check_obj(ctx, func, "indices", indices, OBJ_ARRAY) != DAMO_OK ||
      ctx_check_obj(ctx, func, "indptr", indptr, OBJ_ARRAY) != DAMO_OK ||
      sp_check_public(ctx, func, format, array_dtype(data), rows, cols, 0) != DAMO_OK) {
    return NULL;
  }
  return sparse_from_parts(ctx, format, (const int64_t[]){rows, cols}, data, indices, indptr, DAMO_INT32);
}

damo_sparse *damo_sparse_with_data(const damo_sparse *a, const damo_array *data) {
  if (!a || ctx_check_obj(a->obj.ctx, "damo_sparse_with_data", "data", data, OBJ_ARRAY) != DAMO_OK) return NULL;
  if (data->ndim != 1 || array_size(data) != sparse_nnz(a)) {
    char text[256];
    ctx_fail(a->obj.ctx, DAMO_ESHAPE, "damo_sparse_with_data: data has shape %s, expected a vector of %lld entries",
             shape_format(text, sizeof text, data->ndim, array_shape(data)), (long long)sparse_nnz(a));
    return NULL;
  }
  damo_array *flat = array_as_contiguous(data, array_dtype(data));
  damo_sparse *b = flat ? sparse_with_data(a, flat) : NULL;
  damo_release(flat);
  return b;
}

damo_sparse *damo_sparse_from_array(const damo_array *a, damo_format format) {
  if (!a) return NULL;
  if (format == DAMO_CSR || format == DAMO_CSC) return sparse_from_dense(a, format, DAMO_INT32);
  ctx_fail(a->obj.ctx, DAMO_EVALUE, "damo_sparse_from_array: %d is not a format", (int)format);
  return NULL;
}

damo_format damo_sparse_format(const damo_sparse *a) { return a ? sparse_format(a) : DAMO_CSR; }

damo_dtype damo_sparse_dtype(const damo_sparse *a) { return a ? sparse_dtype(a) : DAMO_N_DTYPES; }

const int64_t *damo_sparse_shape(const damo_sparse *a) { return a ? a->shape : NULL; }

int64_t damo_sparse_nnz(const damo_sparse *a) { return a ? sparse_nnz(a) : 0; }

damo_array *damo_sparse_get_data(const damo_sparse *a) { return a ? a->data : NULL; }

damo_array *damo_sparse_get_indices(const damo_sparse *a) { return a ? a->indices : NULL; }

damo_array *damo_sparse_get_indptr(const damo_sparse *a) { return a ? a->indptr : NULL; }

damo_array *damo_sparse_toarray(const damo_sparse *a) { return a ? sparse_to_dense(a) : NULL; }
