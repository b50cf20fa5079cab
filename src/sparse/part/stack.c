/* stack: matrices stacked along an axis, and split again.
 *
 * Along the compressed axis the blocks' vectors are concatenated; along the other axis each major vector is the
 * concatenation of the blocks' ones. O(entries + major × blocks) time; memory for the result and for blocks that need
 * conversion.
 */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- Stacking ---------------------------------------------------------------------------------------------------- */

static damo_status sp_stacked_shape(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
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

#define STACK_PART 16384 /* entries between two points */

/* Copies n indices plus offset as index dtype `to`; in one pass if the dtypes are the same. */
static void sp_move_indices(damo_ctx *ctx, damo_dtype from, const char *src, damo_dtype to, char *dst, int64_t n,
                            int64_t offset) {
  const kernel_isa *isa = ctx->isa;
  const sparse_index_fns *fns = isa->sparse.index[to == DAMO_INT64];
  for (int64_t k = 0; k < n; k += STACK_PART) {
    const int64_t m = n - k < STACK_PART ? n - k : STACK_PART;
    const char *const x = src + (size_t)k * dtype_size(from);
    char *const y = dst + (size_t)k * dtype_size(to);
    if (from != to) {
      kernel_cast(from, to)(x, y, m);
      if (offset != 0) fns->shift(y, m, offset, y);
    } else if (offset != 0) {
      fns->shift(x, m, offset, y);
    } else {
      kernel_sparse_copy(isa, y, x, (size_t)m * dtype_size(to));
    }
    if (k + m < n) ctx_point(ctx);
  }
}

/* The same of values. */
static void sp_move_values(damo_ctx *ctx, damo_dtype from, const char *src, damo_dtype to, char *dst, int64_t n) {
  for (int64_t k = 0; k < n; k += STACK_PART) {
    const int64_t m = n - k < STACK_PART ? n - k : STACK_PART;
    const char *const x = src + (size_t)k * dtype_size(from);
    char *const y = dst + (size_t)k * dtype_size(to);
    if (from == to)
      kernel_sparse_copy(ctx->isa, y, x, (size_t)m * dtype_size(to));
    else
      kernel_cast(from, to)(x, y, m);
    if (k + m < n) ctx_point(ctx);
  }
}

/* Copies the block's vectors to major vector `major` and entry `at` of out; offset is added to its indices. */
static void sp_put_behind(const damo_sparse *block, damo_sparse *out, int64_t major, int64_t at, int64_t offset) {
  damo_ctx *ctx = out->obj.ctx;
  const damo_dtype from = sparse_itype(block), to = sparse_itype(out), dtype = sparse_dtype(out);
  const size_t isize = dtype_size(to), size = dtype_size(dtype);
  const int64_t nnz = sparse_nnz(block);
  char *data = out->data->data + (size_t)at * size;
  damo_assert(at + nnz <= sparse_nnz(out) && major + sparse_major(block) <= sparse_major(out));
  sp_move_indices(ctx, from, block->indptr->data, to, out->indptr->data + (size_t)major * isize,
                  sparse_major(block) + 1, at);
  sp_move_indices(ctx, from, block->indices->data, to, out->indices->data + (size_t)at * isize, nnz, offset);
  if (nnz == 0) return;
  sp_move_values(ctx, sparse_dtype(block), block->data->data, dtype, data, nnz);
}

/* Repeats what sp_put_behind wrote for the block at `major` and `at`, `times` more times behind it. */
static void sp_put_again(const damo_sparse *block, damo_sparse *out, int64_t major, int64_t at, int64_t times) {
  const kernel_isa *isa = out->obj.ctx->isa;
  const damo_dtype itype = sparse_itype(out);
  const size_t isize = dtype_size(itype), size = dtype_size(sparse_dtype(out));
  const int64_t n_major = sparse_major(block), nnz = sparse_nnz(block);
  char *ends = out->indptr->data + (size_t)(major + 1) * isize;
  for (int64_t k = 1; k <= times; k++)
    sp_move_indices(out->obj.ctx, itype, ends, itype, ends + (size_t)(k * n_major) * isize, n_major, k * nnz);
  kernel_sparse_repeat(isa, out->indices->data + (size_t)at * isize, (size_t)nnz * isize, times);
  kernel_sparse_repeat(isa, out->data->data + (size_t)at * size, (size_t)nnz * size, times);
}

static void sp_stack_majors(int64_t n, damo_sparse *const *blocks, damo_sparse *out) {
  int64_t major = 0, at = 0;
  for (int64_t k = 0, run; k < n; k += run) {
    for (run = 1; k + run < n && blocks[k + run] == blocks[k]; run++) {}
    sp_put_behind(blocks[k], out, major, at, 0);
    if (run > 1) sp_put_again(blocks[k], out, major, at, run - 1);
    major += run * sparse_major(blocks[k]);
    at += run * sparse_nnz(blocks[k]);
  }
}

/* Stacks along the minor axis; the blocks have out's dtype and index dtype. */
static damo_status sp_stack_inside(int64_t n, damo_sparse *const *blocks, damo_sparse *out) {
  damo_ctx *ctx = out->obj.ctx;
  const size_t bytes = (size_t)n * (sizeof(sparse_raw) + sizeof(int64_t));
  sparse_raw *raw = mem_alloc(ctx, bytes);
  if (!raw) return DAMO_EMEMORY;
  int64_t *at = (int64_t *)(void *)(raw + n);
  for (int64_t k = 0; k < n; k++) raw[k] = sparse_raw_of(blocks[k]), at[k] = 0;
  move_fns_of(out)->beside(n, raw, at, out->indptr->data, out->indices->data, out->data->data);
  mem_free(ctx, raw, bytes);
  return DAMO_OK;
}

/* The block in that format, prepared for a cast to dtype; for stacking along the minor axis (inside) also cast to dtype
 * and itype. */
static damo_sparse *sp_stack_form(damo_sparse *block, damo_format format, bool inside, damo_dtype dtype,
                                  damo_dtype itype) {
  damo_sparse *own = sparse_to_format(block, format), *a = own ? sparse_summed_for(own, dtype) : NULL;
  damo_release(own);
  if (!inside || !a) return a;
  damo_sparse *b = sparse_cast(a, dtype), *c = b ? sparse_to_itype(b, itype) : NULL;
  damo_release(a);
  damo_release(b);
  return c;
}

damo_sparse *sparse_stack(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
                          damo_format format, damo_dtype dtype) {
  int64_t shape[2], nnz, made = 0;
  if (sp_stacked_shape(ctx, who, axis, n, blocks, shape, &nnz) != DAMO_OK) return NULL;
  const bool inside = (axis == 0) != (format == DAMO_CSR);
  damo_dtype itype = DAMO_INT32;
  for (int64_t k = 0; k < n; k++) itype = sparse_is_wide(blocks[k]) ? DAMO_INT64 : itype;
  itype = sparse_itype_for(itype, shape[0], shape[1], nnz);
  damo_sparse **own = mem_calloc(ctx, (size_t)n * sizeof *own), *out = NULL;
  if (!own) return NULL;
  for (; made < n; made++) {
    const bool again = made > 0 && blocks[made] == blocks[made - 1];
    own[made] = again ? damo_retain(own[made - 1]) : sp_stack_form(blocks[made], format, inside, dtype, itype);
    if (!own[made]) goto done;
  }
  nnz = 0; /* counted again: duplicates may have been summed */
  for (int64_t k = 0; k < n; k++) nnz += sparse_nnz(own[k]);
  out = sparse_empty(ctx, format, dtype, itype, shape, nnz);
  if (!out) goto done;
  if (!inside) sp_stack_majors(n, own, out);
  if (inside && sp_stack_inside(n, own, out) != DAMO_OK) {
    damo_release(out);
    out = NULL;
    goto done;
  }
  out->sorted = out->unique = true;
  for (int64_t k = 0; k < n; k++) {
    out->sorted = out->sorted && own[k]->sorted;
    out->unique = out->unique && own[k]->unique;
  }
done:
  for (int64_t k = 0; k < made; k++) damo_release(own[k]);
  mem_free(ctx, own, (size_t)n * sizeof *own);
  return out;
}

/* ---- Along the diagonal ------------------------------------------------------------------------------------------ */

damo_sparse *sparse_block_diag(damo_ctx *ctx, int64_t n, damo_sparse *const *blocks, damo_format format,
                               damo_dtype dtype) {
  int64_t shape[2] = {0, 0}, nnz = 0, major = 0, at = 0, offset = 0;
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
    damo_sparse *own = sp_stack_form(blocks[k], format, false, dtype, itype);
    if (!own) {
      damo_release(out);
      return NULL;
    }
    sp_put_behind(own, out, major, at, offset);
    major += sparse_major(own);
    at += sparse_nnz(own);
    offset += sparse_minor(own);
    out->sorted = out->sorted && own->sorted;
    out->unique = out->unique && own->unique;
    damo_release(own);
  }
  return sparse_cut(out, at); /* at, not nnz: duplicates may have been summed */
}

/* ---- Splitting --------------------------------------------------------------------------------------------------- */

/* A new part with memory for nnz entries. */
static damo_sparse *sp_split_part_new(const damo_sparse *a, int axis, int64_t size, int64_t nnz) {
  int64_t shape[2] = {a->shape[0], a->shape[1]};
  shape[axis] = size;
  damo_sparse *b = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(a), sparse_itype(a), shape, nnz);
  if (b) b->sorted = a->sorted, b->unique = a->unique;
  return b;
}

/* The part of `size` major vectors from number `major` on. */
static damo_sparse *sp_split_majors(const damo_sparse *a, int axis, int64_t major, int64_t size, uint64_t mask) {
  damo_assert(major >= 0 && size >= 0 && major + size <= sparse_major(a));
  const bool wide = sparse_is_wide(a);
  const int64_t end = sparse_index_get(a->indptr->data, wide, major + size);
  sparse_raw raw = sparse_raw_of(a);
  raw.major = size;
  raw.indptr = a->indptr->data + (size_t)major * dtype_size(sparse_itype(a));
  damo_sparse *b = sp_split_part_new(a, axis, size, end - sparse_index_get(a->indptr->data, wide, major));
  if (!b) return NULL;
  return sparse_cut(b, compact_fns_of(a)->squeeze(&raw, mask, b->indptr->data, b->indices->data, b->data->data));
}

/* Splits along the minor axis: counts the entries of each part, then scatters them in one pass over the matrix. */
static bool sp_split_inside(const damo_sparse *a, int axis, int64_t n, const int64_t *sizes, uint64_t mask,
                            damo_sparse **out) {
  damo_ctx *ctx = a->obj.ctx;
  const sparse_raw raw = sparse_raw_of(a);
  const size_t bytes = (size_t)(2 * n + 1) * sizeof(int64_t) + 3 * (size_t)n * sizeof(void *);
  int64_t *bounds = mem_alloc(ctx, bytes), *count = bounds ? bounds + n + 1 : NULL;
  if (!bounds) return false;
  void **ptr = (void **)(void *)(count + n), **indices = ptr + n, **data = indices + n;
  bounds[0] = 0;
  for (int64_t k = 0; k < n; k++) bounds[k + 1] = bounds[k] + sizes[k];
  compact_fns_of(a)->split_count(&raw, n, bounds, count);
  bool ok = true;
  for (int64_t k = 0; k < n && ok; k++) {
    out[k] = sp_split_part_new(a, axis, sizes[k], count[k]);
    ok = out[k] != NULL;
  }
  for (int64_t k = 0; k < n && ok; k++) {
    ptr[k] = out[k]->indptr->data;
    indices[k] = out[k]->indices->data;
    data[k] = out[k]->data->data;
  }
  if (ok) compact_fns_of(a)->split_fill(&raw, n, bounds, mask, count, ptr, indices, data);
  for (int64_t k = 0; k < n && ok; k++) {
    out[k] = sparse_cut(out[k], count[k]);
    ok = out[k] != NULL;
  }
  mem_free(ctx, bounds, bytes);
  return ok;
}

static damo_status sp_split(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes, uint64_t mask,
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
  bool ok = true;
  if ((axis == 0) == (sparse_format(a) == DAMO_CSR)) {
    for (int64_t k = 0, major = 0; k < n && ok; major += sizes[k], k++) {
      out[k] = sp_split_majors(a, axis, major, sizes[k], mask);
      ok = out[k] != NULL;
    }
  } else {
    ok = sp_split_inside(a, axis, n, sizes, mask, out);
  }
  if (ok) return DAMO_OK;
  for (int64_t k = 0; k < n; k++) {
    damo_release(out[k]);
    out[k] = NULL;
  }
  return damo_error_status(ctx);
}

damo_status sparse_split_entries(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                                 damo_sparse **out) {
  return sp_split(a, who, axis, n, sizes, 0, out);
}

damo_status sparse_split(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                         damo_sparse **out) {
  return sp_split(a, who, axis, n, sizes, sparse_value_bits(sparse_dtype(a)), out);
}
