/* transpose_cache: the transposed pattern of a matrix, cached in a caller's workspace.
 *
 * A function that runs repeatedly often gets the same pattern with other values. Comparing the pattern with a copy
 * reads it once, sequentially; transposing it takes several times as long. On a hit with has_places the new values are
 * only gathered by the cached permutation.
 */
#include <string.h>

#include "sparse/sparse_int.h"

/* Layout of the workspace: the transposed pattern; if it is cached, then the permutation of the entries (places) and a
 * copy of the pattern that it was made from. */
typedef struct sp_transpose_parts {
  char *indptr, *indices, *places, *from_indptr, *from_indices;
  size_t indptr_size, indices_size, size;
} sp_transpose_parts;

static sp_transpose_parts sp_transpose_parts_of(const damo_sparse *a, bool keeps, char *workspace) {
  const size_t item = dtype_size(sparse_itype(a)), n = (size_t)sparse_nnz(a);
  const size_t indptr_aligned = workspace_aligned(((size_t)sparse_minor(a) + 1) * item),
               entries = workspace_aligned(n * item);
  sp_transpose_parts p = {.indptr_size = ((size_t)sparse_major(a) + 1) * item, .indices_size = n * item};
  p.size = indptr_aligned + entries + (keeps ? 2 * entries + workspace_aligned(p.indptr_size) : 0);
  if (workspace == NULL) return p;
  p.indptr = workspace;
  p.indices = p.indptr + indptr_aligned;
  if (!keeps) return p;
  p.places = p.indices + entries;
  p.from_indices = p.places + entries;
  p.from_indptr = p.from_indices + entries;
  return p;
}

size_t sparse_transpose_workspace(const damo_sparse *a, bool keeps) {
  return sp_transpose_parts_of(a, keeps, NULL).size;
}

static bool sp_transpose_is_kept(const damo_sparse *a, const sparse_transpose_cache *kept,
                                 const sp_transpose_parts *p) {
  return kept->workspace == p->indptr && kept->wide == sparse_is_wide(a) && kept->major == sparse_major(a) &&
         kept->minor == sparse_minor(a) && kept->nnz == sparse_nnz(a) &&
         memcmp(p->from_indptr, a->indptr->data, p->indptr_size) == 0 &&
         memcmp(p->from_indices, a->indices->data, p->indices_size) == 0;
}

static void sp_transpose_keep(const damo_sparse *a, sparse_transpose_cache *kept, const sp_transpose_parts *p,
                              bool has_places) {
  memcpy(p->from_indices, a->indices->data, p->indices_size);
  memcpy(p->from_indptr, a->indptr->data, p->indptr_size);
  *kept = (sparse_transpose_cache){p->indptr,       sparse_is_wide(a), has_places,
                                   sparse_major(a), sparse_minor(a),   sparse_nnz(a)};
}

static void sp_number_places(bool wide, int64_t n, void *out) {
  if (wide) {
    for (int64_t p = 0; p < n; p++) ((int64_t *)out)[p] = p;
  } else {
    for (int64_t p = 0; p < n; p++) ((int32_t *)out)[p] = (int32_t)p;
  }
}

/* Computes the permutation by transposing the entry numbers 0, 1, … as if they were values. The numbers are written
 * where the copy of the indices goes afterwards. */
static void sp_transpose_places(const damo_sparse *a, sparse_transpose_cache *kept, const sp_transpose_parts *p) {
  sparse_raw raw = sparse_raw_of(a);
  raw.data = p->from_indices;
  sp_number_places(sparse_is_wide(a), sparse_nnz(a), p->from_indices);
  a->obj.ctx->isa->sparse.move[sparse_is_wide(a)][sparse_itype(a)]->swap(&raw, p->indptr, p->indices, p->places);
  sp_transpose_keep(a, kept, p, true);
}

sparse_raw sparse_transpose_raw(const damo_sparse *a, sparse_transpose_cache *kept, void *workspace,
                                const void **places) {
  damo_assert((uintptr_t)workspace % sizeof(int64_t) == 0);
  const sp_transpose_parts p = sp_transpose_parts_of(a, true, workspace);
  if (!sp_transpose_is_kept(a, kept, &p) || !kept->has_places) sp_transpose_places(a, kept, &p);
  *places = p.places;
  return (sparse_raw){sparse_minor(a), sparse_major(a), p.indptr, p.indices, a->data->data, a->obj.ctx};
}

sparse_raw sparse_transpose_values(const damo_sparse *a, sparse_transpose_cache *kept, void *workspace, void *values) {
  damo_assert((uintptr_t)workspace % sizeof(int64_t) == 0);
  const sp_transpose_parts p = sp_transpose_parts_of(a, kept != NULL, workspace);
  const sparse_raw raw = sparse_raw_of(a);
  /* the pattern may not come again, so the permutation is not computed yet */
  if (kept == NULL || !sp_transpose_is_kept(a, kept, &p)) {
    move_fns_of(a)->swap(&raw, p.indptr, p.indices, values);
    if (kept) sp_transpose_keep(a, kept, &p, false);
  } else {
    if (!kept->has_places) sp_transpose_places(a, kept, &p);
    move_fns_of(a)->gather(a->obj.ctx, raw.data, p.places, sparse_nnz(a), values);
  }
  return (sparse_raw){raw.minor, raw.major, p.indptr, p.indices, values, a->obj.ctx};
}
