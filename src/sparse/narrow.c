/* narrow: renumbers the minor positions that occur if the minor axis is far longer than nnz.
 *
 * Algorithms that need an array along an axis (conversion, Gustavson's product) would take time and memory proportional
 * to that axis; after renumbering both are proportional to nnz. The positions that occur are found by sorting the
 * indices, and a new number by bisection. */
#include <string.h>

#include "sparse_int.h"

static bool sp_is_hollow(int64_t minor, int64_t nnz) { return minor / 4 > nnz + 1024; }

/* The minor positions of a's entries, ascending, each once: the first *n elements of an int64 vector of length nnz. */
static damo_array *sp_positions_used(damo_sparse *a, int64_t *n) {
  damo_ctx *ctx = a->obj.ctx;
  const int64_t nnz = sparse_nnz(a), ends[2] = {0, nnz};
  const sparse_move_fns *move = ctx->isa->sparse.move[true][DAMO_INT64];
  const size_t bytes = move->sort_workspace(nnz);
  damo_array *from = array_cast(a->indices, DAMO_INT64), *out = from ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  damo_array *unused = out ? sparse_vector(ctx, DAMO_INT64, nnz) : NULL;
  void *work = unused ? mem_alloc(ctx, bytes) : NULL;
  if (work) {
    int64_t *at = (int64_t *)(void *)out->data, last = -1;
    const sparse_raw raw_positions = {1, sparse_minor(a), ends, from->data, from->data, a->obj.ctx};
    move->sort(&raw_positions, at, unused->data, work);
    *n = 0;
    for (int64_t p = 0; p < nnz; p++) {
      if (at[p] != last) at[(*n)++] = last = at[p];
    }
    mem_free(ctx, work, bytes);
  } else {
    damo_release(out);
    out = NULL;
  }
  damo_release(from);
  damo_release(unused);
  return out;
}

/* The index of a position among n ascending ones, or -1. */
static int64_t sp_renumbered_position(const int64_t *used, int64_t n, int64_t position) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (used[middle] < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && used[low] == position ? low : -1;
}

/* The entries of a at the n positions `used`, renumbered by their indices there; other entries are left out. Takes
 * `take`. */
static damo_sparse *sp_renumbered(damo_sparse *take, const int64_t *used, int64_t n) {
  damo_sparse *a = sparse_to_itype(take, DAMO_INT64), *out = NULL;
  damo_release(take);
  if (!a) return NULL;
  int64_t shape[2] = {a->shape[0], a->shape[1]}, count = 0;
  shape[a->format == DAMO_CSR] = n;
  out = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), DAMO_INT64, shape, sparse_nnz(a));
  if (out) {
    const int64_t *ptr = (const int64_t *)(void *)a->indptr->data, *idx = (const int64_t *)(void *)a->indices->data;
    int64_t *to_ptr = (int64_t *)(void *)out->indptr->data, *to_idx = (int64_t *)(void *)out->indices->data;
    const size_t size = dtype_size(sparse_dtype(a));
    to_ptr[0] = 0;
    for (int64_t i = 0; i < sparse_major(a); i++) {
      for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
        const int64_t k = sp_renumbered_position(used, n, idx[p]);
        if (k < 0) continue;
        memcpy(out->data->data + (size_t)count * size, a->data->data + (size_t)p * size, size);
        to_idx[count++] = k;
      }
      to_ptr[i + 1] = count;
    }
    out->sorted = a->sorted;
    out->unique = a->unique;
    out = sparse_cut(out, count);
  }
  damo_release(a);
  return out;
}

damo_status sparse_narrow_one(damo_sparse **a, damo_array **columns) {
  int64_t n = 0;
  *columns = NULL;
  if (!sp_is_hollow(sparse_minor(*a), sparse_nnz(*a))) return DAMO_OK;
  damo_ctx *ctx = (*a)->obj.ctx;
  *columns = sp_positions_used(*a, &n);
  if (!*columns) return damo_error_status(ctx);
  *a = sp_renumbered(*a, (const int64_t *)(void *)(*columns)->data, n);
  return *a ? DAMO_OK : damo_error_status(ctx);
}

damo_status sparse_narrow(damo_sparse **a, damo_sparse **b) {
  int64_t n = 0;
  damo_ctx *ctx = (*a)->obj.ctx;
  if (!sp_is_hollow(sparse_minor(*a), sparse_nnz(*a) + sparse_nnz(*b))) return DAMO_OK;
  damo_array *used = sp_positions_used(*a, &n);
  if (!used) return damo_error_status(ctx);
  *a = sp_renumbered(*a, (const int64_t *)(void *)used->data, n);
  if (*a) *b = sp_renumbered(*b, (const int64_t *)(void *)used->data, n);
  damo_release(used);
  return *a && *b ? DAMO_OK : damo_error_status(ctx);
}

damo_status sparse_same_itype(damo_sparse **a, damo_sparse **b) {
  damo_sparse **narrow = sparse_is_wide(*a) ? b : a;
  if (sparse_is_wide(*a) == sparse_is_wide(*b)) return DAMO_OK;
  damo_sparse *wide = sparse_to_itype(*narrow, DAMO_INT64);
  if (!wide) return damo_error_status((*a)->obj.ctx);
  damo_release(*narrow);
  *narrow = wide;
  return DAMO_OK;
}
