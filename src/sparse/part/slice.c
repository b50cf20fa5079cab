/* slice: parts of matrices: submatrices, rows and columns by list, elements. */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A range of one position gets step 1: its own step may be too large for the kernels' arithmetic. */
static sparse_range sp_plain_range(const sparse_range *r) {
  return (sparse_range){r->first, r->count > 1 ? r->step : 1, r->count};
}

damo_sparse *sparse_slice(const damo_sparse *a, const sparse_range *rows, const sparse_range *cols) {
  const bool csr = a->format == DAMO_CSR;
  const sparse_range majors = sp_plain_range(csr ? rows : cols), across = sp_plain_range(csr ? cols : rows);
  const int64_t shape[2] = {rows->count, cols->count};
  const sparse_raw raw = sparse_raw_of(a);
  const bool reversed = across.step < 0, backward = reversed && sparse_is_canonical(a);
  const int64_t nnz = part_fns_of(a)->count_block(&raw, &majors, &across, a->sorted);
  damo_sparse *out = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), shape, nnz);
  if (!out) return NULL;
  if (across.count == a->shape[csr] && !reversed) {
    move_fns_of(a)->take_range(a->obj.ctx->isa, &raw, &majors, out->indptr->data, out->indices->data, out->data->data);
  } else {
    part_fns_of(a)->fill_block(&raw, &majors, &across, a->sorted, backward, nnz, out->indptr->data, out->indices->data,
                               out->data->data);
  }
  out->sorted = a->sorted && (backward || !reversed);
  out->unique = a->unique;
  return out;
}

/* ---- By list ----------------------------------------------------------------------------------------------------- */

static damo_status sp_check_list(const damo_sparse *a, int axis, const damo_array *list) {
  char text[256];
  if (list->ndim == 1 && array_dtype(list) == DAMO_INT64 && array_is_contiguous(list)) return DAMO_OK;
  return ctx_fail(a->obj.ctx, DAMO_ETYPE, "get_item_list: the %ss are a %s array of shape %s, expected an int64 vector",
                  axis ? "column" : "row", dtype_name(array_dtype(list)),
                  shape_format(text, sizeof text, list->ndim, array_shape(list)));
}

/* An index error that names the first position outside; OK if there is none. */
static damo_status sp_check_positions(const damo_sparse *a, int axis, const damo_array *list) {
  const int64_t *at = (const int64_t *)(void *)list->data, n = array_size(list), majors = a->shape[axis];
  for (int64_t i = 0; i < n; i++) {
    if ((uint64_t)at[i] < (uint64_t)majors) continue;
    return ctx_fail(a->obj.ctx, DAMO_EINDEX, "get_item_list: entry %lld asks for %s %lld of %lld", (long long)i + 1,
                    axis ? "column" : "row", (long long)at[i] + 1, (long long)majors);
  }
  return DAMO_OK;
}

int64_t sparse_count_listed(const damo_sparse *a, const int64_t *at, int64_t n, bool *inside) {
  const uint64_t majors = (uint64_t)sparse_major(a);
  const int32_t *narrow = (const int32_t *)(void *)a->indptr->data;
  const int64_t *wide = sparse_is_wide(a) ? (const int64_t *)(void *)a->indptr->data : NULL;
  bool all = majors > 0 || n == 0;
  int64_t nnz = 0;
  for (int64_t i = 0; i < n && majors > 0; i++) {
    const bool is_major = (uint64_t)at[i] < majors;
    const int64_t major = is_major ? at[i] : 0;
    nnz += wide ? wide[major + 1] - wide[major] : narrow[major + 1] - narrow[major];
    all &= is_major;
  }
  *inside = all;
  return nnz;
}

/* a is compressed along the axis. */
static damo_sparse *sp_take_majors(damo_sparse *a, int axis, const damo_array *list) {
  const int64_t n = array_size(list), *at = (const int64_t *)(void *)list->data;
  bool inside;
  const int64_t nnz = sparse_count_listed(a, at, n, &inside);
  if (!inside) {
    (void)sp_check_positions(a, axis, list);
    return NULL;
  }
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

/* A hash table of the list; on failure heads is NULL. */
static sparse_lookup sp_lookup_new(damo_ctx *ctx, const int64_t *list, int64_t n) {
  sparse_lookup s = {.list = list, .bits = 1};
  while (((int64_t)1 << s.bits) < 8 * n) s.bits++; /* load at most 1/8, so that most look-ups end at an empty head */
  const size_t heads = (size_t)1 << s.bits;
  s.heads = mem_alloc(ctx, (heads + (size_t)n) * sizeof *s.heads);
  if (!s.heads) return (sparse_lookup){0};
  s.next = s.heads + heads;
  kernel_sparse_lookup(&s, n);
  return s;
}

static void sp_lookup_free(damo_ctx *ctx, sparse_lookup *s, int64_t n) {
  if (s->heads) mem_free(ctx, s->heads, (((size_t)1 << s->bits) + (size_t)n) * sizeof *s->heads);
}

static bool sp_list_ascends(const int64_t *list, int64_t n) {
  bool ascends = true;
  for (int64_t k = 1; k < n; k++) ascends &= list[k - 1] <= list[k];
  return ascends;
}

/* How positions are looked up in a list: by arrays along the axis (heads, next: kernel_sparse_places) unless the axis
 * is far longer than the entries and the list, else by a hash table. */
typedef struct sp_list_finder {
  const int64_t *list;
  int64_t n, axis;
  int32_t *heads, *next;
  sparse_lookup hashed;
} sp_list_finder;

static void sp_list_finder_clear(damo_ctx *ctx, sp_list_finder *f) {
  if (f->heads) mem_free(ctx, f->heads, (size_t)(f->axis + f->n) * sizeof *f->heads);
  sp_lookup_free(ctx, &f->hashed, f->n);
}

/* Prepares the look-up and counts the entries of the result; false: out of memory, reported. */
static bool sp_list_finder_init(sp_list_finder *f, const damo_sparse *a, const damo_array *list, int64_t *nnz) {
  const sparse_raw raw = sparse_raw_of(a);
  *f = (sp_list_finder){.list = (const int64_t *)(void *)list->data, .n = array_size(list), .axis = raw.minor};
  if (f->n >= INT32_MAX || f->axis / 4 > sparse_nnz(a) + f->n || f->axis + f->n == 0) {
    f->hashed = sp_lookup_new(a->obj.ctx, f->list, f->n);
    if (f->hashed.heads) *nnz = part_fns_of(a)->count_listed(&raw, &f->hashed);
    return f->hashed.heads != NULL;
  }
  f->heads = mem_alloc(a->obj.ctx, (size_t)(f->axis + f->n) * sizeof *f->heads);
  if (!f->heads) return false;
  f->next = f->heads + f->axis;
  memset(f->heads, 0, (size_t)f->axis * sizeof *f->heads);
  for (int64_t k = 0; k < f->n; k++) f->heads[f->list[k]]++;
  *nnz = part_fns_of(a)->count_times(&raw, f->heads);
  return true;
}

static void sp_list_finder_fill(sp_list_finder *f, const damo_sparse *from, damo_sparse *out) {
  const sparse_raw raw = sparse_raw_of(from);
  const sparse_part_fns *fns = part_fns_of(out);
  if (!f->heads) {
    fns->fill_listed(&raw, &f->hashed, out->indptr->data, out->indices->data, out->data->data);
    return;
  }
  kernel_sparse_places(f->list, f->n, f->axis, f->heads, f->next);
  fns->fill_places(&raw, f->heads, f->next, sparse_nnz(out), out->indptr->data, out->indices->data, out->data->data);
}

/* a is compressed along the other axis. */
static damo_sparse *sp_take_minors(damo_sparse *a, int axis, const damo_array *list) {
  damo_ctx *ctx = a->obj.ctx;
  sp_list_finder f;
  int64_t nnz = 0, shape[2] = {a->shape[0], a->shape[1]};
  shape[axis] = array_size(list);
  if (sp_check_positions(a, axis, list) != DAMO_OK) return NULL;
  damo_sparse *from = NULL, *out = NULL;
  if (sp_list_finder_init(&f, a, list, &nnz)) {
    const damo_dtype itype = sparse_itype_for(sparse_itype(a), shape[0], shape[1], nnz);
    from = sparse_to_itype(a, itype);
    if (from) out = sparse_empty(ctx, sparse_format(a), sparse_dtype(a), itype, shape, nnz);
  }
  if (out) {
    sp_list_finder_fill(&f, from, out);
    out->sorted = out->unique = sparse_is_canonical(a) && sp_list_ascends(f.list, f.n);
    if (!out->sorted) sparse_find_flags(out);
  }
  damo_release(from);
  sp_list_finder_clear(ctx, &f);
  return out;
}

damo_sparse *sparse_take(damo_sparse *a, int axis, const damo_array *list) {
  if (sp_check_list(a, axis, list) != DAMO_OK) return NULL;
  const bool along = (axis == 0) == (a->format == DAMO_CSR);
  return along ? sp_take_majors(a, axis, list) : sp_take_minors(a, axis, list);
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

damo_status sparse_elements(damo_sparse *a, int64_t n, const int64_t *rows, const int64_t *cols, void *out) {
  const bool csr = a->format == DAMO_CSR;
  const int64_t *major = csr ? rows : cols, *minor = csr ? cols : rows;
  damo_sparse *b = a;
  /* Many elements in long unsorted vectors: sorting once is less work than searching each vector again and again. */
  bool inside;
  const bool sort = !a->sorted && sparse_count_listed(a, major, n, &inside) / 4 > sparse_nnz(a);
  if (sort) b = sparse_sort(a);
  if (!b) return damo_error_status(a->obj.ctx);
  const sparse_raw raw = sparse_raw_of(b);
  value_fns_of(b)->elements(&raw, b->sorted, n, major, minor, out);
  if (sort) damo_release(b);
  return DAMO_OK;
}
