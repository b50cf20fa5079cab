/* type_pattern.c: patterns of sparse Types, interned by content.
 *
 * A pattern is the format, the shape and the two index arrays of a matrix as they are stored: matrices whose entries
 * are in another order within a row (column), or that differ in duplicates, have different patterns. It shares the
 * index arrays of the matrix that it was first made from, which are read-only.
 */
#include "graph_int.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

static void pattern_destroy(damo_obj *obj) {
  type_pattern *p = (type_pattern *)obj;
  intern_remove(obj->ctx, CTX_PATTERNS, &p->link);
  damo_release(p->matrix);
  obj_free(obj, sizeof *p);
}

damo_status pattern_register(damo_ctx *ctx) {
  DAMO_TRY(intern_register(ctx, CTX_PATTERNS));
  ctx_register_kind(ctx, OBJ_PATTERN, pattern_destroy, NULL);
  return DAMO_OK;
}

/* ---- Content ----------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const damo_array *v) { return (size_t)array_size(v) * dtype_size(array_dtype(v)); }

static bool pattern_same_vector(const damo_array *a, const damo_array *b) {
  if (a == b) return true;
  if (array_dtype(a) != array_dtype(b) || array_size(a) != array_size(b)) return false;
  return a->data == b->data || array_size(a) == 0 || memcmp(a->data, b->data, bytes_of(a)) == 0;
}

bool pattern_fits(const type_pattern *p, const damo_sparse *m) {
  return pattern_same_vector(p->matrix->indices, m->indices) && pattern_same_vector(p->matrix->indptr, m->indptr);
}

static bool is_pattern_of(const type_pattern *p, const damo_sparse *m) {
  return p->matrix->format == m->format && memcmp(p->matrix->shape, m->shape, sizeof m->shape) == 0 &&
         pattern_fits(p, m);
}

static uint64_t hash_pattern(const damo_sparse *m) {
  uint64_t hash = hash_mix((uint64_t)m->format << 8 | (uint64_t)sparse_itype(m), (uint64_t)m->shape[0]);
  hash = hash_bytes(hash_mix(hash, (uint64_t)m->shape[1]), m->indptr->data, bytes_of(m->indptr));
  return sparse_nnz(m) > 0 ? hash_bytes(hash, m->indices->data, bytes_of(m->indices)) : hash;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* A bool matrix with a's pattern, all stored values true. */
static damo_sparse *pattern_matrix_of(const damo_sparse *a) {
  const int64_t n = sparse_nnz(a);
  damo_array *data = array_empty(a->obj.ctx, DAMO_BOOL, 1, &n);
  if (data == NULL) return NULL;
  if (n > 0) memset(data->data, 1, (size_t)n);
  damo_sparse *places = sparse_with_data(a, data);
  damo_release(data);
  return places;
}

type_pattern *pattern_of(damo_sparse *a) {
  damo_ctx *ctx = a->obj.ctx;
  const uint64_t hash = hash_pattern(a);
  for (intern_link *l = intern_first(ctx, CTX_PATTERNS, hash); l != NULL; l = l->next) {
    type_pattern *p = INTERNED(type_pattern, l);
    if (is_pattern_of(p, a)) return damo_retain(p);
  }
  type_pattern *p = obj_new(ctx, OBJ_PATTERN, sizeof *p);
  if (p == NULL) return NULL;
  p->link.hash = hash;
  p->matrix = pattern_matrix_of(a);
  if (p->matrix != NULL && intern_add(ctx, CTX_PATTERNS, &p->link) == DAMO_OK) return p;
  damo_release(p);
  return NULL;
}

damo_sparse *pattern_adopt(const type_pattern *p, damo_sparse *take) {
  damo_sparse *m = sparse_with_data(p->matrix, take->data);
  damo_release(take);
  return m;
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

static int64_t pattern_index_at(const damo_array *v, int64_t i) {
  return array_dtype(v) == DAMO_INT64 ? ((const int64_t *)v->data)[i] : ((const int32_t *)v->data)[i];
}

char *pattern_difference(char *dst, size_t n, const type_pattern *p, const damo_sparse *m) {
  const damo_sparse *want = p->matrix;
  const bool rows = m->format == DAMO_CSR;
  const char *major = rows ? "row" : "column", *minor = rows ? "column" : "row";
  int64_t start = 0;
  for (int64_t i = 0; i < sparse_major(m); i++) {
    /* the rows (columns) before this one are equal, so it starts at the same entry in both */
    const int64_t got = pattern_index_at(m->indptr, i + 1) - start,
                  wanted = pattern_index_at(want->indptr, i + 1) - start;
    for (int64_t k = 0; k < got && k < wanted; k++) {
      const int64_t at = pattern_index_at(m->indices, start + k), other = pattern_index_at(want->indices, start + k);
      if (at == other) continue;
      snprintf(dst, n, "entry %lld of %s %lld is in %s %lld, the pattern's in %s %lld", (long long)k + 1, major,
               (long long)i + 1, minor, (long long)at + 1, minor, (long long)other + 1);
      return dst;
    }
    if (got != wanted) {
      snprintf(dst, n, "%s %lld has %lld stored entr%s, the pattern's %lld", major, (long long)i + 1, (long long)got,
               got == 1 ? "y" : "ies", (long long)wanted);
      return dst;
    }
    start += got;
  }
  snprintf(dst, n, "its entries are not the pattern's");
  return dst;
}
