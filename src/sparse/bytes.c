/* bytes: numbers, arrays and sparse matrices as bytes, the same on every machine.
 *
 * A value is kind (1 array, 2 sparse matrix), dtype, format and index dtype of a byte each, ndim (4 bytes), shape (8
 * bytes each), of a sparse matrix the number of its stored entries, indptr and indices, and the numbers. All
 * little-endian.
 */
#include "sparse_int.h"

#include <string.h>

static bool machine_is_little(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 1;
}

uint64_t bytes_check_sum(const void *at, size_t n) {
  const unsigned char *p = at;
  uint64_t h = 0x64616D6F736E6170u ^ n;
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < 8 && i + k < n; k++) word |= (uint64_t)p[i + k] << 8 * k;
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

void bytes_put(byte_writer *w, uint64_t v, size_t bytes) {
  for (size_t i = 0; w->at != NULL && i < bytes; i++) w->at[w->n + i] = (unsigned char)(v >> 8 * i);
  w->n += bytes;
}

static void reverse_numbers(unsigned char *p, size_t bytes, size_t size) {
  for (size_t i = 0; i < bytes; i += size) {
    for (size_t a = 0, z = size - 1; a < z; a++, z--) {
      const unsigned char t = p[i + a];
      p[i + a] = p[i + z];
      p[i + z] = t;
    }
  }
}

static size_t number_size(damo_dtype dtype) { return dtype_size(dtype) / (dtype_is_complex(dtype) ? 2 : 1); }

void bytes_put_numbers(byte_writer *w, const damo_array *a) {
  const size_t size = dtype_size(array_dtype(a)), bytes = (size_t)array_size(a) * size;
  if (w->at != NULL && bytes > 0) {
    unsigned char *dst = w->at + w->n;
    if (array_is_contiguous(a)) {
      memcpy(dst, a->data, bytes);
    } else {
      int64_t at[DAMO_MAX_NDIM] = {0};
      for (size_t done = 0; done < bytes; done += size) {
        const char *p = a->data;
        for (int i = 0; i < a->ndim; i++) p += at[i] * array_strides(a)[i];
        memcpy(dst + done, p, size);
        for (int i = a->ndim - 1; i >= 0 && ++at[i] == array_shape(a)[i]; i--) at[i] = 0;
      }
    }
    if (!machine_is_little()) reverse_numbers(dst, bytes, number_size(array_dtype(a)));
  }
  w->n += bytes;
}

void bytes_put_value(byte_writer *w, const damo_obj *v) {
  const damo_sparse *m = v->kind == OBJ_SPARSE ? (const damo_sparse *)v : NULL;
  const damo_array *a = m != NULL ? m->data : (const damo_array *)v;
  const int ndim = m != NULL ? 2 : a->ndim;
  const int64_t *shape = m != NULL ? m->shape : array_shape(a);
  bytes_put(w, m != NULL ? 2 : 1, 1);
  bytes_put(w, array_dtype(a), 1);
  bytes_put(w, m != NULL ? m->format : 0, 1);
  bytes_put(w, m != NULL ? array_dtype(m->indices) : 0, 1);
  bytes_put(w, (uint64_t)ndim, 4);
  for (int k = 0; k < ndim; k++) bytes_put(w, (uint64_t)shape[k], 8);
  if (m != NULL) {
    bytes_put(w, (uint64_t)array_size(a), 8);
    bytes_put_numbers(w, m->indptr);
    bytes_put_numbers(w, m->indices);
  }
  bytes_put_numbers(w, a);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

uint64_t bytes_get(byte_reader *r, size_t bytes) {
  uint64_t v = 0;
  if (r->left < bytes) {
    r->bad = true;
    r->left = 0;
    return 0;
  }
  for (size_t i = 0; i < bytes; i++) v |= (uint64_t)r->at[i] << 8 * i;
  r->at += bytes, r->left -= bytes;
  return v;
}

static void *are_bad(byte_reader *r) {
  r->bad = true;
  return NULL;
}

static damo_array *get_numbers(byte_reader *r, damo_dtype dtype, int ndim, const int64_t *shape) {
  int64_t count = 1;
  bool empty = false;
  for (int k = 0; k < ndim; k++) empty = empty || shape[k] == 0;
  for (int k = 0; k < ndim && !empty; k++) {
    if (!i64_mul(count, shape[k], &count)) return are_bad(r);
  }
  if (empty) count = 0;
  if ((uint64_t)count > r->left / dtype_size(dtype)) return are_bad(r);
  damo_array *a = array_empty(r->ctx, dtype, ndim, shape);
  if (a == NULL) return NULL;
  const size_t bytes = (size_t)count * dtype_size(dtype);
  if (bytes > 0) memcpy(a->data, r->at, bytes);
  if (!machine_is_little()) reverse_numbers((unsigned char *)a->data, bytes, number_size(dtype));
  if (dtype == DAMO_BOOL) {
    for (int64_t i = 0; i < count; i++) a->data[i] = a->data[i] != 0;
  }
  r->at += bytes, r->left -= bytes;
  return a;
}

static damo_obj *get_matrix(byte_reader *r, damo_dtype dtype, unsigned format, unsigned itype, const int64_t *shape) {
  const int64_t nnz = (int64_t)bytes_get(r, 8), major = shape[format == DAMO_CSR ? 0 : 1];
  const bool known = format <= DAMO_CSC && (itype == DAMO_INT32 || itype == DAMO_INT64);
  if (r->bad || !known || nnz < 0 || major == INT64_MAX) return are_bad(r);
  damo_array *indptr = get_numbers(r, (damo_dtype)itype, 1, (const int64_t[]){major + 1});
  damo_array *indices = indptr != NULL ? get_numbers(r, (damo_dtype)itype, 1, &nnz) : NULL;
  damo_array *data = indices != NULL ? get_numbers(r, dtype, 1, &nnz) : NULL;
  damo_sparse *m = NULL;
  if (data != NULL) {
    m = sparse_from_parts(r->ctx, (damo_format)format, shape, data, indices, indptr, (damo_dtype)itype);
    r->bad = m == NULL && damo_error_status(r->ctx) != DAMO_EMEMORY;
  }
  damo_release(indptr);
  damo_release(indices);
  damo_release(data);
  return m != NULL ? &m->obj : NULL;
}

damo_obj *bytes_get_value(byte_reader *r, bool *none) {
  const unsigned kind = (unsigned)bytes_get(r, 1), dtype = (unsigned)bytes_get(r, 1),
                 format = (unsigned)bytes_get(r, 1), itype = (unsigned)bytes_get(r, 1);
  const uint64_t ndim = bytes_get(r, 4);
  int64_t shape[DAMO_MAX_NDIM];
  *none = kind == 0 && !r->bad;
  if (*none) return NULL;
  if (r->bad || kind > 2 || dtype >= DAMO_N_DTYPES || ndim > DAMO_MAX_NDIM || (kind == 2 && ndim != 2))
    return are_bad(r);
  for (uint64_t i = 0; i < ndim; i++) {
    shape[i] = (int64_t)bytes_get(r, 8);
    if (shape[i] < 0 || r->bad) return are_bad(r);
  }
  if (kind == 2) return get_matrix(r, (damo_dtype)dtype, format, itype, shape);
  damo_array *a = get_numbers(r, (damo_dtype)dtype, (int)ndim, shape);
  return a != NULL ? &a->obj : NULL;
}
