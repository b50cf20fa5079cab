/* put: the inverse of slice: parts scattered into a larger matrix. */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

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
    nnz += sparse_count_listed(s, (const int64_t[]){from[k] - (s == g ? 0 : a.major)}, 1, &inside);
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
  part_fns_of(a)->coordinates(&raw, csr ? rows : cols, csr ? cols : rows);
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

/* ---- Rows of a dense matrix -------------------------------------------------------------------------------------- */

damo_sparse *sparse_from_rows(const damo_array *values, const int64_t *list, const int64_t shape[2]) {
  const damo_dtype dtype = array_dtype(values);
  const int64_t rows = array_shape(values)[0], cols = array_shape(values)[1], nnz = rows * cols;
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, shape[0], shape[1], nnz);
  damo_sparse *out = sparse_empty(values->obj.ctx, DAMO_CSC, dtype, itype, shape, nnz);
  if (!out) return NULL;
  const int64_t *strides = array_strides(values);
  array_copy_box(values->obj.ctx, values->data, (const int64_t[]){strides[1], strides[0]}, out->data->data, NULL, 2,
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
  sparse_count_up(out->indptr, rows);
  sparse_find_flags(out);
  return out;
}
