/* slice: parts of matrices (submatrices, rows and columns by list, elements, diagonals), and the inverse operations
 * that scatter parts into a larger matrix. */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

static const sparse_part_fns *sp_part_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.part[sparse_is_wide(a)][sparse_dtype(a)];
}

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
  const int64_t nnz = sp_part_fns_of(a)->count_block(&raw, &majors, &across, a->sorted);
  damo_sparse *out = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), shape, nnz);
  if (!out) return NULL;
  if (across.count == a->shape[csr] && !reversed) {
    move_fns_of(a)->take_range(a->obj.ctx->isa, &raw, &majors, out->indptr->data, out->indices->data, out->data->data);
  } else {
    sp_part_fns_of(a)->fill_block(&raw, &majors, &across, a->sorted, backward, nnz, out->indptr->data,
                                  out->indices->data, out->data->data);
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

/* Number of entries of the listed major vectors; *inside: all positions are in range. Branch-free in the data. */
static int64_t sp_count_listed_majors(const damo_sparse *a, const int64_t *at, int64_t n, bool *inside) {
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
  const int64_t nnz = sp_count_listed_majors(a, at, n, &inside);
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
    if (f->hashed.heads) *nnz = sp_part_fns_of(a)->count_listed(&raw, &f->hashed);
    return f->hashed.heads != NULL;
  }
  f->heads = mem_alloc(a->obj.ctx, (size_t)(f->axis + f->n) * sizeof *f->heads);
  if (!f->heads) return false;
  f->next = f->heads + f->axis;
  memset(f->heads, 0, (size_t)f->axis * sizeof *f->heads);
  for (int64_t k = 0; k < f->n; k++) f->heads[f->list[k]]++;
  *nnz = sp_part_fns_of(a)->count_times(&raw, f->heads);
  return true;
}

static void sp_list_finder_fill(sp_list_finder *f, const damo_sparse *from, damo_sparse *out) {
  const sparse_raw raw = sparse_raw_of(from);
  const sparse_part_fns *fns = sp_part_fns_of(out);
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

/* ---- Scattering -------------------------------------------------------------------------------------------------- */

static void sp_move_positions(const sparse_where *w, int64_t n, int64_t *at) {
  for (int64_t p = 0; p < n; p++) at[p] = w->list ? w->list[at[p]] : w->first + at[p] * w->step;
}

/* Sorts the numbers 0 … n - 1 by at[], stable; returns the sorted array, which is `order` or `spare`. A radix sort by
 * bytes from the least significant one; at[] is in 0 … end - 1. */
static int64_t *sp_sort_positions(const int64_t *at, int64_t n, int64_t end, int64_t *order, int64_t *spare) {
  bool ascends = true;
  for (int64_t k = 0; k < n; k++) order[k] = k;
  for (int64_t k = 1; k < n; k++) ascends &= at[k - 1] <= at[k];
  for (int shift = 0; !ascends && shift < 63 && (end - 1) >> shift > 0; shift += 8) {
    int64_t start[257] = {0};
    for (int64_t k = 0; k < n; k++) start[((at[k] >> shift) & 255) + 1]++;
    for (int d = 0; d < 256; d++) start[d + 1] += start[d];
    for (int64_t k = 0; k < n; k++) spare[start[(at[order[k]] >> shift) & 255]++] = order[k];
    int64_t *t = order;
    order = spare;
    spare = t;
  }
  return order;
}

/* A matrix of that shape whose major vector to[k] (ascending) is vector from[k] of g, or, from major(g) on, vector
 * from[k] - major(g) of `more`. */
static damo_sparse *sp_spread_majors(const damo_sparse *g, const damo_sparse *more, int64_t n, const int64_t *from,
                                     const int64_t *to, const int64_t shape[2]) {
  int64_t nnz = 0;
  bool inside;
  const sparse_raw a = sparse_raw_of(g), b = sparse_raw_of(more);
  for (int64_t k = 0; k < n; k++) {
    const damo_sparse *s = from[k] < a.major ? g : more;
    nnz += sp_count_listed_majors(s, (const int64_t[]){from[k] - (s == g ? 0 : a.major)}, 1, &inside);
  }
  damo_sparse *out = sparse_empty(g->obj.ctx, sparse_format(g), sparse_dtype(g), sparse_itype(g), shape, nnz);
  if (out)
    move_fns_of(g)->spread(&a, &b, n, from, to, shape[g->format == DAMO_CSC], nnz, out->indptr->data,
                           out->indices->data, out->data->data);
  return out;
}

/* The plan to scatter major vectors. A vector that goes to a place of its own is copied: from[k] to to[k], n in all.
 * Where several go to one place (meeting[0 … n_meeting - 1]), they are first summed: meeting[k] into vector sum_of[k]
 * of a matrix of `sums` vectors, which `from` numbers from major(g) on. */
typedef struct sp_sum_plan {
  int64_t n, *from, *to;
  int64_t n_meeting, *meeting, *sum_of, sums;
} sp_sum_plan;

static void sp_sum_plan_init(sp_sum_plan *p, const int64_t *at, int64_t n, const int64_t *order) {
  p->n = p->n_meeting = p->sums = 0;
  for (int64_t k = 0, end; k < n; k = end) {
    const int64_t to = at[order[k]];
    for (end = k + 1; end < n && at[order[end]] == to;) end++;
    p->to[p->n] = to;
    p->from[p->n++] = end == k + 1 ? order[k] : n + p->sums;
    if (end == k + 1) continue;
    for (int64_t j = k; j < end; j++) {
      p->meeting[p->n_meeting] = order[j];
      p->sum_of[p->n_meeting++] = p->sums;
    }
    p->sums++;
  }
}

/* The matrix of the sums of vectors that meet; g itself if there are none. */
static damo_sparse *sp_sum_majors(damo_sparse *g, const sp_sum_plan *p) {
  if (p->sums == 0) return damo_retain(g);
  int64_t shape[2] = {g->shape[0], g->shape[1]};
  shape[g->format == DAMO_CSC] = p->sums;
  damo_sparse *all = sp_spread_majors(g, g, p->n_meeting, p->meeting, p->sum_of, shape);
  damo_sparse *sums = all ? sparse_sum_duplicates(all) : NULL;
  damo_release(all);
  return sums;
}

/* A matrix of g's format and that shape whose major vector at[i] is vector i of g, which is canonical; vectors that
 * meet are summed. */
static damo_sparse *sp_put_majors(damo_sparse *g, const int64_t shape[2], const int64_t *at) {
  damo_ctx *ctx = g->obj.ctx;
  const int64_t n = sparse_major(g);
  const size_t bytes = 6 * (size_t)n * sizeof(int64_t);
  int64_t *work = mem_alloc(ctx, bytes);
  if (!work) return NULL;
  sp_sum_plan p = {.from = work + 2 * n, .to = work + 3 * n, .meeting = work + 4 * n, .sum_of = work + 5 * n};
  sp_sum_plan_init(&p, at, n, sp_sort_positions(at, n, shape[g->format == DAMO_CSC], work, work + n));
  damo_sparse *sums = sp_sum_majors(g, &p), *out = sums ? sp_spread_majors(g, sums, p.n, p.from, p.to, shape) : NULL;
  if (out) out->sorted = out->unique = true;
  damo_release(sums);
  mem_free(ctx, work, bytes);
  return out;
}

void sparse_coordinates(const damo_sparse *a, int64_t *rows, int64_t *cols) {
  const bool csr = a->format == DAMO_CSR;
  const sparse_raw raw = sparse_raw_of(a);
  sp_part_fns_of(a)->coordinates(&raw, csr ? rows : cols, csr ? cols : rows);
}

static bool sp_where_is_identity(const sparse_where *w) { return !w->list && w->first == 0 && w->step == 1; }

static damo_sparse *sp_put_block(damo_sparse *g, damo_format format, const int64_t shape[2], const sparse_where *rows,
                                 const sparse_where *cols) {
  damo_ctx *ctx = g->obj.ctx;
  const int64_t nnz = sparse_nnz(g);
  const bool csr = g->format == DAMO_CSR;
  const sparse_where *majors = csr ? rows : cols;
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, shape[0], shape[1], nnz);
  if (format == sparse_format(g) && itype == sparse_itype(g) && sparse_is_canonical(g) && majors->list &&
      sp_where_is_identity(csr ? cols : rows))
    return sp_put_majors(g, shape, majors->list);
  damo_array *r = sparse_vector(ctx, DAMO_INT64, nnz), *c = r ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  damo_sparse *out = NULL;
  if (c) {
    int64_t *row = (int64_t *)(void *)r->data, *col = (int64_t *)(void *)c->data;
    sparse_coordinates(g, row, col);
    sp_move_positions(rows, nnz, row);
    sp_move_positions(cols, nnz, col);
    out = sparse_from_places(ctx, format, sparse_dtype(g), shape, nnz, row, col, g->data->data, DAMO_INT32, !g->unique);
  }
  damo_release(r);
  damo_release(c);
  return out;
}

damo_sparse *sparse_put(damo_sparse *g, damo_format format, const int64_t shape[2], const sparse_where *rows,
                        const sparse_where *cols) {
  damo_sparse *sorted = g->unique ? damo_retain(g) : sparse_sort(g);
  damo_sparse *out = sorted ? sp_put_block(sorted, format, shape, rows, cols) : NULL;
  damo_release(sorted);
  return out;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

damo_status sparse_elements(damo_sparse *a, int64_t n, const int64_t *rows, const int64_t *cols, void *out) {
  const bool csr = a->format == DAMO_CSR;
  const int64_t *major = csr ? rows : cols, *minor = csr ? cols : rows;
  damo_sparse *b = a;
  /* Many elements in long unsorted vectors: sorting once is less work than searching each vector again and again. */
  bool inside;
  const bool sort = !a->sorted && sp_count_listed_majors(a, major, n, &inside) / 4 > sparse_nnz(a);
  if (sort) b = sparse_sort(a);
  if (!b) return damo_error_status(a->obj.ctx);
  const sparse_raw raw = sparse_raw_of(b);
  value_fns_of(b)->elements(&raw, b->sorted, n, major, minor, out);
  if (sort) damo_release(b);
  return DAMO_OK;
}

int64_t sparse_diagonal_length(const int64_t shape[2], int64_t k) {
  const int64_t rows = k < 0 ? shape[0] + k : shape[0], cols = k > 0 ? shape[1] - k : shape[1];
  const int64_t least = rows < cols ? rows : cols;
  return least > 0 ? least : 0;
}

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

/* ---- From dense parts -------------------------------------------------------------------------------------------- */

/* first, first + step, … */
static void sp_count_up(damo_array *v, int64_t step) {
  const int64_t n = array_size(v);
  for (int64_t i = 0; i < n; i++) {
    if (array_dtype(v) == DAMO_INT64) {
      ((int64_t *)(void *)v->data)[i] = i * step;
    } else {
      ((int32_t *)(void *)v->data)[i] = (int32_t)(i * step);
    }
  }
}

damo_sparse *sparse_square_diagonal(const damo_array *v) {
  const int64_t n = array_size(v), size = (int64_t)dtype_size(array_dtype(v)), shape[2] = {n, n};
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, n, n, n);
  damo_sparse *out = sparse_empty(v->obj.ctx, DAMO_CSC, array_dtype(v), itype, shape, n);
  if (!out) return NULL;
  if (n > 0) kernel_copy_strided(v->data, array_strides(v)[0], out->data->data, size, n, (size_t)size);
  sp_count_up(out->indices, 1);
  sp_count_up(out->indptr, 1);
  out->sorted = out->unique = true;
  return out;
}

damo_sparse *sparse_from_rows(const damo_array *values, const int64_t *list, const int64_t shape[2]) {
  const damo_dtype dtype = array_dtype(values);
  const int64_t rows = array_shape(values)[0], cols = array_shape(values)[1], nnz = rows * cols;
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, shape[0], shape[1], nnz);
  damo_sparse *out = sparse_empty(values->obj.ctx, DAMO_CSC, dtype, itype, shape, nnz);
  if (!out) return NULL;
  const int64_t *strides = array_strides(values);
  kernel_copy_nd(values->data, (const int64_t[]){strides[1], strides[0]}, out->data->data, NULL, 2,
                 (const int64_t[]){cols, rows}, dtype_size(dtype));
  const size_t column = (size_t)rows * dtype_size(itype);
  for (int64_t j = 0; j < cols && rows > 0; j++) {
    char *to = out->indices->data + (size_t)j * column;
    if (j == 0) {
      kernel_cast(DAMO_INT64, itype)(list, to, rows);
    } else {
      memcpy(to, out->indices->data, column);
    }
  }
  sp_count_up(out->indptr, rows);
  sparse_find_flags(out);
  return out;
}

/* ---- In place ---------------------------------------------------------------------------------------------------- */

/* A matrix that shares a's data, with copies of a's indices and indptr that the caller may change. */
static damo_sparse *sp_own_pattern(const damo_sparse *a) {
  const size_t size = dtype_size(sparse_itype(a)), nnz = (size_t)sparse_nnz(a);
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), a->shape, 0);
  damo_array *indices = b ? sparse_vector(a->obj.ctx, sparse_itype(a), (int64_t)nnz) : NULL;
  if (!indices) {
    damo_release(b);
    return NULL;
  }
  if (nnz > 0) memcpy(indices->data, a->indices->data, nnz * size);
  memcpy(b->indptr->data, a->indptr->data, (size_t)(sparse_major(a) + 1) * size);
  sparse_freeze(indices);
  damo_release(b->indices);
  damo_release(b->data);
  b->indices = indices;
  b->data = damo_retain(a->data);
  return b;
}

damo_sparse *sparse_sort_within(damo_sparse *a) {
  if (a->sorted || !a->data->writeable) return sparse_sort(a);
  damo_ctx *ctx = a->obj.ctx;
  const sparse_raw raw = sparse_raw_of(a);
  const size_t bytes = move_fns_of(a)->sort_workspace(index_fns_of(a)->longest(&raw));
  void *work = mem_alloc(ctx, bytes);
  damo_sparse *b = work ? sp_own_pattern(a) : NULL;
  if (b) {
    move_fns_of(a)->sort(&raw, b->indices->data, b->data->data, work);
    sparse_find_flags(b);
  }
  if (work) mem_free(ctx, work, bytes);
  return b;
}

damo_sparse *sparse_drop_zeros_within(damo_sparse *a) {
  const int64_t zeros = sparse_count_zeros(a);
  if (zeros == 0 || !a->data->writeable) return sparse_drop_zeros(a);
  const int64_t left = sparse_nnz(a) - zeros;
  damo_array *head = array_view(a->data, 1, &left, array_strides(a->data), 0);
  damo_sparse *b = head ? sp_own_pattern(a) : NULL;
  damo_array *indices = b ? array_view(b->indices, 1, &left, array_strides(b->indices), 0) : NULL;
  if (!indices) {
    damo_release(head);
    damo_release(b);
    return NULL;
  }
  value_fns_of(b)->drop_zeros(sparse_major(b), b->indptr->data, b->indices->data, b->data->data);
  damo_release(b->data);
  damo_release(b->indices);
  b->data = head;
  b->indices = indices;
  b->sorted = a->sorted;
  b->unique = a->unique;
  return b;
}
