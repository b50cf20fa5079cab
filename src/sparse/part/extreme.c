/* extreme: largest and smallest elements along an axis or of all, and their positions. */
#include "sparse/sparse_int.h"

#include <string.h>

#define EXTREME_PART 4096 /* entries and major vectors between two points */

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
    ctx_point_each(a->obj.ctx, p, EXTREME_PART);
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
  const int64_t from = sparse_index_get(a->indptr->data, wide, major),
                end = sparse_index_get(a->indptr->data, wide, major + 1);
  sp_extreme best = {INT64_MIN, -1};
  int64_t absent = 0; /* the first index without an entry */
  for (int64_t p = from; p < end; p++) {
    const int64_t index = sparse_index_get(a->indices->data, wide, p);
    absent += index == absent;
    if (best.index < 0 || keys[p] > best.key) best = (sp_extreme){keys[p], index};
  }
  if (end - from == sparse_minor(a)) return best;
  const bool wins = best.index < 0 || zero > best.key || (zero == best.key && absent < best.index);
  return wins ? (sp_extreme){zero, absent} : best;
}

static void sp_find_extremes(const damo_sparse *a, int axis, const int64_t *keys, int64_t zero, int64_t *place) {
  sp_extreme best = {0};
  int64_t since = 0;
  for (int64_t i = 0; i < sparse_major(a); i++) {
    sp_extreme e = sp_major_extreme(a, keys, zero, i);
    const int64_t entries = sparse_index_get(a->indptr->data, sparse_is_wide(a), i + 1) -
                            sparse_index_get(a->indptr->data, sparse_is_wide(a), i);
    ctx_point_after(a->obj.ctx, &since, entries + 1, EXTREME_PART);
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
                  none ? "it has no elements" : "it has too many elements");
}

/* The extreme of all entries, and of 0 if not all places are stored: computed as that of one vector with one entry. */
static damo_status sp_extreme_of_all(const damo_sparse *a, bool largest, void *out) {
  damo_c128 of_entries = {0}; /* the largest element of all dtypes */
  int64_t places = 0;
  const int64_t n = sparse_nnz(a) > 0, ptr[2] = {0, n};
  if (n > 0) DAMO_TRY(sparse_reduce_entries(a, largest ? REDUCE_MAX : REDUCE_MIN, &of_entries));
  const bool full = i64_mul(a->shape[0], a->shape[1], &places) && sparse_nnz(a) == places;
  const sparse_raw vector = {1, full ? n : 2, ptr, NULL, &of_entries, NULL};
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
