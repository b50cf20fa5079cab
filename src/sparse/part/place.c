/* place: entries selected by position or moved to other positions: bands, permutations, Kronecker products,
 * extremes. */
#include "sparse/sparse_int.h"

#include <string.h>

/* Indices of either width. */
static inline int64_t sp_index_get(const void *p, bool wide, int64_t i) {
  return wide ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}

static inline void sp_index_put(void *p, bool wide, int64_t i, int64_t v) {
  if (wide) {
    ((int64_t *)p)[i] = v;
  } else {
    ((int32_t *)p)[i] = (int32_t)v;
  }
}

/* ---- Bands ------------------------------------------------------------------------------------------------------- */

/* Whether an entry is in the band; low and high bound index - major. */
static inline bool sp_in_band(int64_t major, int64_t index, int64_t low, int64_t high) {
  const int64_t k = index - major;
  return k >= low && k <= high;
}

static int64_t sp_count_band(const damo_sparse *a, int64_t low, int64_t high) {
  const bool wide = sparse_is_wide(a);
  int64_t n = 0;
  for (int64_t i = 0; i < sparse_major(a); i++) {
    const int64_t end = sp_index_get(a->indptr->data, wide, i + 1);
    for (int64_t p = sp_index_get(a->indptr->data, wide, i); p < end; p++) {
      n += sp_in_band(i, sp_index_get(a->indices->data, wide, p), low, high);
    }
  }
  return n;
}

damo_sparse *sparse_band(damo_sparse *a, int64_t low, int64_t high) {
  const bool wide = sparse_is_wide(a);
  const size_t size = dtype_size(sparse_dtype(a));
  if (a->format == DAMO_CSC) { /* major is the column: the bounds are those of row - column */
    const int64_t t = low;
    low = -high;
    high = -t;
  }
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape,
                                sp_count_band(a, low, high));
  if (!b) return NULL;
  int64_t n = 0;
  sp_index_put(b->indptr->data, wide, 0, 0);
  for (int64_t i = 0; i < sparse_major(a); i++) {
    const int64_t end = sp_index_get(a->indptr->data, wide, i + 1);
    for (int64_t p = sp_index_get(a->indptr->data, wide, i); p < end; p++) {
      const int64_t index = sp_index_get(a->indices->data, wide, p);
      if (!sp_in_band(i, index, low, high)) continue;
      sp_index_put(b->indices->data, wide, n, index);
      memcpy(b->data->data + (size_t)n * size, a->data->data + (size_t)p * size, size);
      n++;
    }
    sp_index_put(b->indptr->data, wide, i + 1, n);
  }
  b->sorted = a->sorted;
  b->unique = a->unique;
  return b;
}

/* ---- Permutations ------------------------------------------------------------------------------------------------ */

/* The inverse permutation, fresh; NULL with an error: v is no permutation of n. */
static damo_array *sp_inverse_permutation(damo_ctx *ctx, const char *what, const damo_array *v, int64_t n) {
  if (v->ndim != 1 || array_size(v) != n || array_dtype(v) != DAMO_INT64) {
    ctx_fail(ctx, DAMO_ESHAPE, "permute: %s has %lld entries, expected %lld", what, (long long)array_size(v),
             (long long)n);
    return NULL;
  }
  damo_array *out = sparse_vector(ctx, DAMO_INT64, n);
  if (!out) return NULL;
  int64_t *to = (int64_t *)(void *)out->data;
  for (int64_t i = 0; i < n; i++) to[i] = -1;
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = ((const int64_t *)(const void *)v->data)[i];
    if (k >= 0 && k < n && to[k] < 0) {
      to[k] = i;
      continue;
    }
    ctx_fail(ctx, DAMO_EVALUE, "permute: %s is no permutation of 1 to %lld: entry %lld is %lld%s", what, (long long)n,
             (long long)i + 1, (long long)k + 1, k >= 0 && k < n ? ", for the second time" : "");
    damo_release(out);
    return NULL;
  }
  return out;
}

damo_sparse *sparse_permute(damo_sparse *a, const damo_array *rows, const damo_array *cols) {
  damo_ctx *ctx = a->obj.ctx;
  const bool csr = a->format == DAMO_CSR;
  damo_array *r = sp_inverse_permutation(ctx, "rows", rows, a->shape[0]),
             *c = r ? sp_inverse_permutation(ctx, "cols", cols, a->shape[1]) : NULL;
  damo_sparse *taken = c ? sparse_take(a, !csr, csr ? rows : cols) : NULL, *out = NULL;
  if (taken) {
    out = sparse_empty(ctx, sparse_format(a), sparse_dtype(a), sparse_itype(taken), a->shape, 0);
    damo_array *indices = out ? sparse_vector(ctx, sparse_itype(taken), sparse_nnz(taken)) : NULL;
    if (indices) {
      const bool wide = sparse_is_wide(taken);
      const int64_t *to = (const int64_t *)(const void *)(csr ? c : r)->data;
      for (int64_t p = 0; p < sparse_nnz(taken); p++)
        sp_index_put(indices->data, wide, p, to[sp_index_get(taken->indices->data, wide, p)]);
      memcpy(out->indptr->data, taken->indptr->data, (size_t)(sparse_major(a) + 1) * dtype_size(sparse_itype(taken)));
      indices->writeable = false;
      indices->buf->obj.flags |= BUFFER_FROZEN;
      damo_release(out->indices);
      damo_release(out->data);
      out->indices = indices;
      out->data = damo_retain(taken->data);
      out->sorted = false;
      out->unique = false;
      sparse_find_flags(out);
    } else {
      damo_release(out);
      out = NULL;
    }
  }
  damo_release(r);
  damo_release(c);
  damo_release(taken);
  return out;
}

/* ---- Kronecker products ------------------------------------------------------------------------------------------ */

/* Major vector i of a times major vector k of b, as vector i·major(b) + k of out; n: entries so far. Returns the new
 * n. */
static int64_t sp_kron_major(const damo_sparse *a, const damo_sparse *b, int64_t i, int64_t k, damo_sparse *out,
                             int64_t *left, int64_t *right, int64_t n) {
  const bool wa = sparse_is_wide(a), wb = sparse_is_wide(b), wide = sparse_is_wide(out);
  const int64_t from = sp_index_get(b->indptr->data, wb, k), end = sp_index_get(b->indptr->data, wb, k + 1);
  const int64_t last = sp_index_get(a->indptr->data, wa, i + 1);
  for (int64_t p = sp_index_get(a->indptr->data, wa, i); p < last; p++) {
    const int64_t base = sp_index_get(a->indices->data, wa, p) * sparse_minor(b);
    for (int64_t q = from; q < end; q++, n++) {
      sp_index_put(out->indices->data, wide, n, base + sp_index_get(b->indices->data, wb, q));
      left[n] = p + 1;
      right[n] = q + 1;
    }
  }
  sp_index_put(out->indptr->data, wide, i * sparse_major(b) + k + 1, n);
  return n;
}

damo_sparse *sparse_kron_places(damo_sparse *a, damo_sparse *b, damo_array **left, damo_array **right) {
  damo_ctx *ctx = a->obj.ctx;
  int64_t shape[2], nnz;
  const bool fits = i64_mul(a->shape[0], b->shape[0], &shape[0]) && i64_mul(a->shape[1], b->shape[1], &shape[1]) &&
                    i64_mul(sparse_nnz(a), sparse_nnz(b), &nnz) && shape[0] < INT64_MAX && shape[1] < INT64_MAX;
  if (!fits) {
    ctx_fail(ctx, DAMO_EVALUE, "kron: the product of shapes (%lld, %lld) and (%lld, %lld) is too large",
             (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0], (long long)b->shape[1]);
    return NULL;
  }
  const bool wide = sparse_is_wide(a) || sparse_is_wide(b);
  const damo_dtype itype = sparse_itype_for(wide ? DAMO_INT64 : DAMO_INT32, shape[0], shape[1], nnz);
  damo_sparse *out = sparse_empty(ctx, sparse_format(a), DAMO_BOOL, itype, shape, nnz);
  *left = out ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  *right = *left ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  if (!*right) {
    damo_release(*left);
    damo_release(out);
    return NULL;
  }
  int64_t n = 0, *l = (int64_t *)(void *)(*left)->data, *r = (int64_t *)(void *)(*right)->data;
  if (nnz > 0) memset(out->data->data, 1, (size_t)nnz);
  sp_index_put(out->indptr->data, sparse_is_wide(out), 0, 0);
  for (int64_t i = 0; i < sparse_major(a); i++) {
    for (int64_t k = 0; k < sparse_major(b); k++) n = sp_kron_major(a, b, i, k, out, l, r, n);
  }
  out->sorted = a->sorted && b->sorted && a->unique;
  out->unique = a->unique && b->unique;
  return out;
}

/* ---- Extremes ---------------------------------------------------------------------------------------------------- */

/* A key whose order is that of extremity: the larger key is the more extreme value; nan is the most extreme. The bits
 * of a float, with all but the sign flipped for negative ones, order as integers. */
static int64_t sp_key_of_float(double v, bool largest) {
  int64_t bits;
  if (v != v) return INT64_MAX;
  if (v == 0) v = 0; /* -0 equals 0 */
  memcpy(&bits, &v, sizeof bits);
  bits ^= bits < 0 ? INT64_MAX : 0;
  return largest ? bits : ~bits;
}

static int64_t sp_key_of_integer(int64_t v, bool is_unsigned, bool largest) {
  if (is_unsigned) v ^= INT64_MIN;
  return largest ? v : ~v;
}

/* The keys of all entries; *zero: the key of an absent one. */
static damo_array *sp_make_keys(const damo_sparse *a, bool largest, int64_t *zero) {
  const damo_dtype dtype = sparse_dtype(a);
  const bool is_float = dtype_is_float(dtype);
  damo_array *keys = array_cast(a->data, is_float ? DAMO_FLOAT64 : dtype == DAMO_UINT64 ? DAMO_UINT64 : DAMO_INT64);
  if (!keys) return NULL;
  for (int64_t p = 0; p < sparse_nnz(a); p++) {
    char *at = keys->data + (size_t)p * sizeof(int64_t);
    double v;
    int64_t k;
    memcpy(&v, at, sizeof v);
    memcpy(&k, at, sizeof k);
    k = is_float ? sp_key_of_float(v, largest) : sp_key_of_integer(k, dtype == DAMO_UINT64, largest);
    memcpy(at, &k, sizeof k);
  }
  *zero = is_float ? sp_key_of_float(0, largest) : sp_key_of_integer(0, dtype == DAMO_UINT64, largest);
  return keys;
}

typedef struct sp_extreme {
  int64_t key, index; /* index -1: none yet */
} sp_extreme;

/* The first most extreme element of a sorted major vector, absent entries counting as 0; the minor axis is not
 * empty. */
static sp_extreme sp_major_extreme(const damo_sparse *a, const int64_t *keys, int64_t zero, int64_t major) {
  const bool wide = sparse_is_wide(a);
  const int64_t from = sp_index_get(a->indptr->data, wide, major), end = sp_index_get(a->indptr->data, wide, major + 1);
  sp_extreme best = {INT64_MIN, -1};
  int64_t absent = 0; /* the first index without an entry */
  for (int64_t p = from; p < end; p++) {
    const int64_t index = sp_index_get(a->indices->data, wide, p);
    absent += index == absent;
    if (best.index < 0 || keys[p] > best.key) best = (sp_extreme){keys[p], index};
  }
  if (end - from == sparse_minor(a)) return best;
  const bool wins = best.index < 0 || zero > best.key || (zero == best.key && absent < best.index);
  return wins ? (sp_extreme){zero, absent} : best;
}

static void sp_find_extremes(const damo_sparse *a, int axis, const int64_t *keys, int64_t zero, int64_t *place) {
  sp_extreme best = {0};
  for (int64_t i = 0; i < sparse_major(a); i++) {
    sp_extreme e = sp_major_extreme(a, keys, zero, i);
    if (axis >= 0) {
      place[i] = e.index;
      continue;
    }
    const int64_t at = a->format == DAMO_CSR ? i * a->shape[1] + e.index : e.index * a->shape[1] + i;
    if (i > 0 && (e.key < best.key || (e.key == best.key && at > place[0]))) continue;
    best = e;
    place[0] = at;
  }
}

static damo_status sp_check_extremes(const damo_sparse *a, int axis, bool largest) {
  int64_t total;
  const bool none = axis < 0 ? a->shape[0] == 0 || a->shape[1] == 0 : a->shape[axis] == 0 && a->shape[!axis] > 0;
  if (!none && (axis >= 0 || i64_mul(a->shape[0], a->shape[1], &total))) return DAMO_OK;
  return ctx_fail(a->obj.ctx, DAMO_EVALUE, "the %s of shape (%lld, %lld) does not exist: %s", largest ? "max" : "min",
                  (long long)a->shape[0], (long long)a->shape[1],
                  none ? "it has no elements" : "it has too many places");
}

/* The extreme of all entries, and of 0 if not all places are stored: computed as that of one vector with one entry. */
static damo_status sp_extreme_of_all(const damo_sparse *a, bool largest, void *out) {
  damo_c128 of_entries = {0}; /* the largest element of all dtypes */
  int64_t places = 0;
  const int64_t n = sparse_nnz(a) > 0, ptr[2] = {0, n};
  if (n > 0) DAMO_TRY(sparse_reduce_entries(a, largest ? REDUCE_MAX : REDUCE_MIN, &of_entries));
  const bool full = i64_mul(a->shape[0], a->shape[1], &places) && sparse_nnz(a) == places;
  const sparse_raw vector = {1, full ? n : 2, ptr, NULL, &of_entries};
  a->obj.ctx->isa->sparse.value[true][sparse_dtype(a)]->extreme_major(&vector, largest, out);
  return DAMO_OK;
}

static damo_status sp_extreme_along_minor(const damo_sparse *a, bool largest, void *out) {
  const size_t n = (size_t)sparse_minor(a), size = n * dtype_size(sparse_itype(a));
  void *count = mem_calloc(a->obj.ctx, size + 1);
  if (!count) return DAMO_EMEMORY;
  memset(out, 0, n * dtype_size(sparse_dtype(a)));
  const sparse_raw raw = sparse_raw_of(a);
  value_fns_of(a)->extreme_minor(&raw, largest, out, count);
  mem_free(a->obj.ctx, count, size + 1);
  return DAMO_OK;
}

damo_status sparse_extreme(damo_sparse *a, int axis, bool largest, damo_array *out) {
  DAMO_TRY(sp_check_extremes(a, axis, largest));
  damo_sparse *clean = a->unique ? damo_retain(a) : sparse_sum_duplicates(a);
  if (!clean) return damo_error_status(a->obj.ctx);
  damo_status s = DAMO_OK;
  if (axis < 0) {
    s = sp_extreme_of_all(clean, largest, out->data);
  } else if ((axis == 1) == (clean->format == DAMO_CSR)) {
    const sparse_raw raw = sparse_raw_of(clean);
    value_fns_of(clean)->extreme_major(&raw, largest, out->data);
  } else {
    s = sp_extreme_along_minor(clean, largest, out->data);
  }
  damo_release(clean);
  return s;
}

damo_status sparse_extreme_places(damo_sparse *a, int axis, bool largest, int64_t *place) {
  int64_t zero = 0;
  DAMO_TRY(sp_check_extremes(a, axis, largest));
  damo_sparse *formed = axis < 0 ? damo_retain(a) : sparse_to_format(a, axis == 0 ? DAMO_CSC : DAMO_CSR);
  damo_sparse *clean = formed ? sparse_sum_duplicates(formed) : NULL;
  damo_array *keys = clean ? sp_make_keys(clean, largest, &zero) : NULL;
  if (keys) sp_find_extremes(clean, axis, (const int64_t *)(const void *)keys->data, zero, place);
  const damo_status s = keys ? DAMO_OK : damo_error_status(a->obj.ctx);
  damo_release(formed);
  damo_release(clean);
  damo_release(keys);
  return s;
}
