/* sparse_stack: matrices put one after the other along an axis, and cut apart again.
 *
 * Along the compressed axis the vectors follow one another; along the other each line goes on where the block before
 * left it. O(entries + lines × blocks) time, memory for the result and for what had to be converted.
 */
#include "sparse_int.h"

#include <string.h>

/* ---- Stacking ---------------------------------------------------------------------------------------------------- */

static damo_status stacked_shape(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
                                 int64_t shape[2], int64_t *nnz) {
  shape[0] = blocks[0]->shape[0];
  shape[1] = blocks[0]->shape[1];
  *nnz = sparse_nnz(blocks[0]);
  for (int64_t k = 1; k < n; k++) {
    const int64_t *own = blocks[k]->shape;
    if (own[!axis] != shape[!axis]) {
      return ctx_fail(ctx, DAMO_ESHAPE, "%s: block %lld has %lld %s, block 1 has %lld", who, (long long)k + 1,
                      (long long)own[!axis], axis ? "rows" : "columns", (long long)shape[!axis]);
    }
    if (own[axis] > INT64_MAX - 1 - shape[axis])
      return ctx_fail(ctx, DAMO_ESHAPE, "%s: the blocks are longer than an axis can be", who);
    shape[axis] += own[axis];
    *nnz += sparse_nnz(blocks[k]);
  }
  return DAMO_OK;
}

static void add_to_indices(damo_dtype itype, char *at, int64_t n, int64_t offset) {
  if (itype == DAMO_INT64) {
    int64_t *p = (int64_t *)(void *)at;
    for (int64_t i = 0; i < n; i++) p[i] += offset;
  } else {
    int32_t *p = (int32_t *)(void *)at;
    for (int64_t i = 0; i < n; i++) p[i] += (int32_t)offset;
  }
}

/* n indices, plus offset, as the other index dtype; to the same one in one pass. */
static void move_indices(damo_dtype from, const char *src, damo_dtype to, char *dst, int64_t n, int64_t offset) {
  if (from == DAMO_INT32 && to == DAMO_INT32) {
    const int32_t *restrict p = (const int32_t *)(const void *)src;
    int32_t *restrict q = (int32_t *)(void *)dst;
    for (int64_t i = 0; i < n; i++) q[i] = p[i] + (int32_t)offset;
    return;
  }
  kernel_cast(from, to)(src, dst, n);
  if (offset != 0) add_to_indices(to, dst, n, offset);
}

/* The block's vectors behind the first `line` lines and `at` entries of out; offset is added to its indices. */
static void put_behind(const damo_sparse *block, damo_sparse *out, int64_t line, int64_t at, int64_t offset) {
  const damo_dtype from = sparse_itype(block), to = sparse_itype(out), dtype = sparse_dtype(out);
  const size_t isize = dtype_size(to), size = dtype_size(dtype);
  const int64_t nnz = sparse_nnz(block);
  char *data = out->data->data + (size_t)at * size;
  move_indices(from, block->indptr->data, to, out->indptr->data + (size_t)line * isize, sparse_major(block) + 1, at);
  move_indices(from, block->indices->data, to, out->indices->data + (size_t)at * isize, nnz, offset);
  if (nnz == 0) return;
  if (sparse_dtype(block) == dtype) {
    memcpy(data, block->data->data, (size_t)nnz * size);
  } else {
    kernel_cast(sparse_dtype(block), dtype)(block->data->data, data, nnz);
  }
}

static void stack_lines(int64_t n, damo_sparse *const *blocks, damo_sparse *out) {
  int64_t line = 0, at = 0;
  for (int64_t k = 0; k < n; k++) {
    put_behind(blocks[k], out, line, at, 0);
    line += sparse_major(blocks[k]);
    at += sparse_nnz(blocks[k]);
  }
}

static void add_indptr(damo_dtype itype, const char *from, char *to, int64_t n) {
  if (itype == DAMO_INT64) {
    const int64_t *p = (const int64_t *)(const void *)from;
    int64_t *q = (int64_t *)(void *)to;
    for (int64_t i = 0; i < n; i++) q[i] += p[i];
  } else {
    const int32_t *p = (const int32_t *)(const void *)from;
    int32_t *q = (int32_t *)(void *)to;
    for (int64_t i = 0; i < n; i++) q[i] += p[i];
  }
}

#define CHUNK 16384 /* entries: what is written to in turn by all blocks stays in the cache */

/* Blocks of out's dtypes; next: major entries of the index dtype. */
static void stack_inside(int64_t n, damo_sparse *const *blocks, damo_sparse *out, damo_array *next) {
  const size_t isize = dtype_size(sparse_itype(out));
  const int64_t lines = sparse_major(out), step = lines > 0 ? CHUNK / (1 + sparse_nnz(out) / lines) + 1 : 1;
  memset(out->indptr->data, 0, (size_t)(lines + 1) * isize);
  for (int64_t k = 0; k < n; k++) add_indptr(sparse_itype(out), blocks[k]->indptr->data, out->indptr->data, lines + 1);
  if (lines > 0) memcpy(next->data, out->indptr->data, (size_t)lines * isize);
  for (int64_t line = 0; line < lines; line += step) {
    const size_t at = (size_t)line * isize;
    for (int64_t k = 0, offset = 0; k < n; offset += sparse_minor(blocks[k]), k++) {
      sparse_raw raw = sparse_raw_of(blocks[k]);
      raw.indptr = blocks[k]->indptr->data + at;
      raw.major = lines - line < step ? lines - line : step;
      move_fns_of(out)->append(&raw, offset, next->data + at, out->indices->data, out->data->data);
    }
  }
}

/* The block in that format; for stacking inside lines also of that dtype and index dtype. */
static damo_sparse *formed(damo_sparse *block, damo_format format, bool inside, damo_dtype dtype, damo_dtype itype) {
  damo_sparse *a = sparse_to_format(block, format);
  if (!inside || !a) return a;
  damo_sparse *b = sparse_cast(a, dtype), *c = b ? sparse_to_itype(b, itype) : NULL;
  damo_release(a);
  damo_release(b);
  return c;
}

damo_sparse *sparse_stack(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
                          damo_format format, damo_dtype dtype) {
  int64_t shape[2], nnz, made = 0;
  if (stacked_shape(ctx, who, axis, n, blocks, shape, &nnz) != DAMO_OK) return NULL;
  const bool inside = (axis == 0) != (format == DAMO_CSR);
  damo_dtype itype = DAMO_INT32;
  for (int64_t k = 0; k < n; k++) itype = sparse_is_wide(blocks[k]) ? DAMO_INT64 : itype;
  itype = sparse_itype_for(itype, shape[0], shape[1], nnz);
  damo_sparse **own = mem_calloc(ctx, (size_t)n * sizeof *own), *out = NULL;
  damo_array *next = NULL;
  if (!own) return NULL;
  for (; made < n; made++) {
    own[made] = formed(blocks[made], format, inside, dtype, itype);
    if (!own[made]) goto done;
  }
  if (inside) next = sparse_vector(ctx, itype, shape[format == DAMO_CSC]);
  if (inside && !next) goto done;
  out = sparse_empty(ctx, format, dtype, itype, shape, nnz);
  if (!out) goto done;
  if (inside) {
    stack_inside(n, own, out, next);
  } else {
    stack_lines(n, own, out);
  }
  out->sorted = out->unique = true;
  for (int64_t k = 0; k < n; k++) {
    out->sorted = out->sorted && own[k]->sorted;
    out->unique = out->unique && own[k]->unique;
  }
done:
  for (int64_t k = 0; k < made; k++) damo_release(own[k]);
  mem_free(ctx, own, (size_t)n * sizeof *own);
  damo_release(next);
  return out;
}

/* ---- Along the diagonal ------------------------------------------------------------------------------------------ */

damo_sparse *sparse_block_diag(damo_ctx *ctx, int64_t n, damo_sparse *const *blocks, damo_format format,
                               damo_dtype dtype) {
  int64_t shape[2] = {0, 0}, nnz = 0, line = 0, at = 0, offset = 0;
  damo_dtype itype = DAMO_INT32;
  for (int64_t k = 0; k < n; k++) {
    for (int axis = 0; axis < 2; axis++) {
      if (blocks[k]->shape[axis] > INT64_MAX - 1 - shape[axis]) {
        ctx_fail(ctx, DAMO_ESHAPE, "block_diag: the blocks are longer than an axis can be");
        return NULL;
      }
      shape[axis] += blocks[k]->shape[axis];
    }
    nnz += sparse_nnz(blocks[k]);
    itype = sparse_is_wide(blocks[k]) ? DAMO_INT64 : itype;
  }
  damo_sparse *out = sparse_empty(ctx, format, dtype, sparse_itype_for(itype, shape[0], shape[1], nnz), shape, nnz);
  if (!out) return NULL;
  out->sorted = out->unique = true;
  for (int64_t k = 0; k < n; k++) {
    damo_sparse *own = sparse_to_format(blocks[k], format);
    if (!own) {
      damo_release(out);
      return NULL;
    }
    put_behind(own, out, line, at, offset);
    line += sparse_major(own);
    at += sparse_nnz(own);
    offset += sparse_minor(own);
    out->sorted = out->sorted && own->sorted;
    out->unique = out->unique && own->unique;
    damo_release(own);
  }
  return out;
}

/* ---- Splitting --------------------------------------------------------------------------------------------------- */

static int64_t start_of(const damo_sparse *a, int64_t line) {
  if (sparse_is_wide(a)) return ((const int64_t *)(const void *)a->indptr->data)[line];
  return ((const int32_t *)(const void *)a->indptr->data)[line];
}

static damo_sparse *part_new(const damo_sparse *a, int axis, int64_t size, int64_t nnz) {
  int64_t shape[2] = {a->shape[0], a->shape[1]};
  shape[axis] = size;
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), shape, nnz);
  if (b) b->sorted = a->sorted, b->unique = a->unique;
  return b;
}

/* `size` lines from `line` on. */
static damo_sparse *cut_lines(const damo_sparse *a, int axis, int64_t line, int64_t size) {
  const int64_t from = start_of(a, line), nnz = start_of(a, line + size) - from;
  const size_t isize = dtype_size(sparse_itype(a)), width = dtype_size(sparse_dtype(a));
  damo_sparse *b = part_new(a, axis, size, nnz);
  if (!b) return NULL;
  memcpy(b->indptr->data, a->indptr->data + (size_t)line * isize, (size_t)(size + 1) * isize);
  add_to_indices(sparse_itype(a), b->indptr->data, size + 1, -from);
  if (nnz == 0) return b;
  memcpy(b->indices->data, a->indices->data + (size_t)from * isize, (size_t)nnz * isize);
  memcpy(b->data->data, a->data->data + (size_t)from * width, (size_t)nnz * width);
  return b;
}

/* Room for the columns of csr, rows of csc of one part, its indptr being known. */
static damo_sparse *part_of_indptr(const damo_sparse *a, int axis, int64_t size, const damo_array *indptr) {
  const int64_t lines = sparse_major(a);
  const int64_t nnz = scalar_to_int64(array_get(indptr, &lines));
  damo_sparse *b = part_new(a, axis, size, nnz);
  if (b) memcpy(b->indptr->data, indptr->data, (size_t)(lines + 1) * dtype_size(sparse_itype(a)));
  return b;
}

/* bounds: n + 1 places. work: 4 n pointers or counts. */
static bool cut_inside(const damo_sparse *a, int axis, int64_t n, const int64_t *sizes, int64_t *bounds, void **work,
                       damo_sparse **out) {
  const sparse_raw raw = sparse_raw_of(a);
  void **indptr = work, **indices = work + n, **data = work + 2 * n;
  damo_array **count = (damo_array **)(work + 3 * n);
  bool ok = true;
  bounds[0] = 0;
  for (int64_t k = 0; k < n; k++) {
    bounds[k + 1] = bounds[k] + sizes[k];
    count[k] = ok ? sparse_vector(a->obj.ctx, sparse_itype(a), sparse_major(a) + 1) : NULL;
    ok = count[k] != NULL;
    if (ok) indptr[k] = count[k]->data;
  }
  if (ok) move_fns_of(a)->split_count(&raw, n, bounds, indptr);
  for (int64_t k = 0; k < n && ok; k++) {
    out[k] = part_of_indptr(a, axis, sizes[k], count[k]);
    ok = out[k] != NULL;
    if (!ok) break;
    indices[k] = out[k]->indices->data;
    data[k] = out[k]->data->data;
  }
  for (int64_t k = 0; k < n; k++) damo_release(count[k]);
  if (!ok) return false;
  memset(work + 3 * n, 0, (size_t)n * sizeof *work);
  move_fns_of(a)->split_fill(&raw, n, bounds, (int64_t *)(void *)(work + 3 * n), indices, data);
  return true;
}

static bool split_parts(damo_sparse *a, int axis, int64_t n, const int64_t *sizes, damo_sparse **out) {
  damo_ctx *ctx = a->obj.ctx;
  if ((axis == 0) == (sparse_format(a) == DAMO_CSR)) {
    for (int64_t k = 0, line = 0; k < n; line += sizes[k], k++) {
      if (!(out[k] = cut_lines(a, axis, line, sizes[k]))) return false;
    }
    return true;
  }
  const size_t room = (size_t)(n + 1) * sizeof(int64_t), more = 4 * (size_t)n * sizeof(void *);
  int64_t *bounds = mem_alloc(ctx, room);
  void **work = bounds ? mem_calloc(ctx, more) : NULL;
  const bool ok = work && cut_inside(a, axis, n, sizes, bounds, work, out);
  if (work) mem_free(ctx, work, more);
  if (bounds) mem_free(ctx, bounds, room);
  return ok;
}

damo_status sparse_split_entries(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                                 damo_sparse **out) {
  damo_ctx *ctx = a->obj.ctx;
  int64_t left = a->shape[axis];
  for (int64_t k = 0; k < n && left >= 0; k++) left = sizes[k] < 0 || sizes[k] > left ? -1 : left - sizes[k];
  if (left != 0 || n < 1) {
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: the parts do not add up to the %lld %s of shape (%lld, %lld)", who,
                    (long long)a->shape[axis], axis ? "columns" : "rows", (long long)a->shape[0],
                    (long long)a->shape[1]);
  }
  for (int64_t k = 0; k < n; k++) out[k] = NULL;
  const bool ok = split_parts(a, axis, n, sizes, out);
  for (int64_t k = 0; k < n && !ok; k++) {
    damo_release(out[k]);
    out[k] = NULL;
  }
  return ok ? DAMO_OK : damo_error_status(ctx);
}

damo_status sparse_split(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                         damo_sparse **out) {
  damo_sparse *clean = sparse_drop_zeros(a);
  if (!clean) return damo_error_status(a->obj.ctx);
  const damo_status status = sparse_split_entries(clean, who, axis, n, sizes, out);
  damo_release(clean);
  return status;
}
