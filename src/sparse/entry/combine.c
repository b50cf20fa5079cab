/* combine: sums, products, maxima and minima of two matrices entry by entry; scaling; sums along axes. */
#include "sparse/sparse_int.h"

#include <string.h>

static damo_sparse *sp_merge_form(damo_sparse *a, damo_format format, damo_dtype dtype, damo_dtype itype) {
  damo_sparse *b = sparse_to_format(a, format), *c = b ? sparse_sum_duplicates(b) : NULL;
  damo_sparse *d = c ? sparse_cast(c, dtype) : NULL, *e = d ? sparse_to_itype(d, itype) : NULL;
  damo_release(b);
  damo_release(c);
  damo_release(d);
  return e;
}

damo_status sparse_alike(damo_sparse *a, damo_sparse *b, damo_sparse **x, damo_sparse **y) {
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), sparse_dtype(b));
  const bool wide = sparse_is_wide(a) || sparse_is_wide(b) || sparse_nnz(a) + sparse_nnz(b) > INT32_MAX;
  const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32;
  *x = sp_merge_form(a, sparse_format(a), dtype, itype);
  *y = *x ? sp_merge_form(b, sparse_format(a), dtype, itype) : NULL;
  if (*y) {
    damo_assert(sparse_is_canonical(*x) && sparse_is_canonical(*y));
    damo_assert(sparse_itype(*x) == sparse_itype(*y) && sparse_dtype(*x) == sparse_dtype(*y));
    return DAMO_OK;
  }
  damo_release(*x);
  return damo_error_status(a->obj.ctx);
}

static bool sp_merge_is_order(sparse_merge_op op) { return op == SPARSE_MAX || op == SPARSE_MIN; }

/* The elementwise kernel for a op b on the data vectors, if a and b share pattern and dtype and op may run entry by
 * entry; else NULL. Products and maxima of duplicates are not those of their sums; bool takes the general path, since
 * it has no sub kernel. */
static kernel_fn sp_aligned_kernel(sparse_merge_op op, const damo_sparse *a, const damo_sparse *b) {
  const damo_dtype dtype = sparse_dtype(a);
  if (!sparse_shares(a, b) || dtype != sparse_dtype(b) || op == SPARSE_MUL) return NULL;
  if (sp_merge_is_order(op) ? !a->sorted || !a->unique : dtype == DAMO_BOOL) return NULL;
  const kernel_isa *isa = a->obj.ctx->isa;
  const kernel_set *const sets[] = {
      [SPARSE_ADD] = isa->add, [SPARSE_SUB] = isa->sub, [SPARSE_MAX] = isa->maximum, [SPARSE_MIN] = isa->minimum};
  return sets[op]->fn[dtype];
}

#define KERNEL_PART 8192 /* elements between two points */

void sparse_run_kernel(damo_ctx *ctx, kernel_fn fn, damo_dtype dtype, int64_t n, char *x, char *y, char *out) {
  const size_t size = dtype_size(dtype);
  for (int64_t k = 0; k < n; k += KERNEL_PART) {
    const size_t at = (size_t)k * size;
    const int64_t part = n - k < KERNEL_PART ? n - k : KERNEL_PART;
    if (y != NULL)
      fn((void *[]){x + at, y + at, out + at}, part);
    else
      fn((void *[]){x + at, out + at}, part);
    if (k + part < n) ctx_point(ctx);
  }
}

/* On one pattern the op runs over the data vectors. Duplicates stay if entries are added or subtracted: each then holds
 * the sum of both, as two structured gradients of one matrix need. */
static damo_sparse *sp_merge_aligned(kernel_fn fn, const damo_sparse *a, const damo_sparse *b) {
  damo_array *data = sparse_vector(a->obj.ctx, sparse_dtype(a), sparse_nnz(a));
  if (!data) return NULL;
  sparse_run_kernel(a->obj.ctx, fn, sparse_dtype(a), sparse_nnz(a), a->data->data, b->data->data, data->data);
  damo_sparse *out = sparse_with_data(a, data);
  damo_release(data);
  if (!out || !a->unique || sparse_count_zeros(out) == 0) return out;
  damo_sparse *fewer = sparse_drop_zeros(out);
  damo_release(out);
  return fewer;
}

/* ---- Shares ---- */

#define MERGE_NS 2.5 /* about, of one entry */

/* On several threads the rows of each share are merged into a part of `made`, which has capacity for all entries of both, and
 * then copied behind each other. */
typedef struct sp_merge_job {
  sparse_merge_op op;
  sparse_raw x, y;
  const sparse_value_fns *fns;
  const sparse_division *shares;
  damo_sparse *made;
  sparse_piece *pieces;
  char *ptr; /* indptr of each share, one entry longer than it has rows */
  size_t index, element;
  bool wide;
} sp_merge_job;

static void sp_merge_share(void *arg, int64_t share, int worker) {
  const sp_merge_job *j = arg;
  sparse_raw rows, x = j->x, y = j->y;
  const int64_t first = sparse_division_rows(j->shares, share, &rows);
  const size_t at = (size_t)(sparse_index_get(x.indptr, j->wide, first) + sparse_index_get(y.indptr, j->wide, first));
  char *const ptr = j->ptr + (size_t)(first + share) * j->index,
              *const indices = j->made->indices->data + at * j->index,
              *const data = j->made->data->data + at * j->element;
  (void)worker;
  x.major = y.major = rows.major;
  x.indptr = (const char *)x.indptr + (size_t)first * j->index;
  y.indptr = (const char *)y.indptr + (size_t)first * j->index;
  j->pieces[share] = (sparse_piece){.first = first, .rows = rows.major, .ptr = ptr, .indices = indices, .data = data};
  j->pieces[share].n = j->fns->merge(j->op, &x, &y, ptr, indices, data);
}

/* made: as sparse_merge makes it, taken. */
static damo_sparse *sp_merge_divided(thread_pool *pool, sparse_merge_op op, const damo_sparse *x, const damo_sparse *y,
                                     damo_sparse *made) {
  damo_ctx *ctx = made->obj.ctx;
  sp_merge_job j = {.op = op, .x = sparse_raw_of(x), .y = sparse_raw_of(y), .fns = value_fns_of(made), .made = made};
  j.wide = sparse_is_wide(made);
  j.index = dtype_size(sparse_itype(made));
  j.element = dtype_size(sparse_dtype(made));
  const sparse_division shares = sparse_divide(pool, sparse_nnz(x) > sparse_nnz(y) ? &j.x : &j.y, j.wide);
  const size_t pieces = (size_t)shares.n * sizeof *j.pieces, ptr = (size_t)(j.x.major + shares.n) * j.index;
  damo_sparse *out = NULL;
  j.x.ctx = j.y.ctx = shares.a.ctx;
  j.shares = &shares;
  j.pieces = mem_alloc(ctx, pieces);
  j.ptr = j.pieces != NULL ? mem_alloc(ctx, ptr) : NULL;
  if (j.ptr != NULL) {
    pool_run_all(pool, shares.n, sp_merge_share, &j);
    out = sparse_join(ctx, pool, sparse_format(made), sparse_dtype(made), sparse_itype(made), made->shape, j.pieces,
                      shares.n);
    mem_free(ctx, j.ptr, ptr);
  }
  if (j.pieces != NULL) mem_free(ctx, j.pieces, pieces);
  damo_release(made);
  return out;
}

static damo_status sp_check_merge(sparse_merge_op op, const damo_sparse *a, const damo_sparse *b) {
  static const char *const names[] = {[SPARSE_ADD] = "add",
                                      [SPARSE_SUB] = "sub",
                                      [SPARSE_MUL] = "mul",
                                      [SPARSE_MAX] = "maximum",
                                      [SPARSE_MIN] = "minimum"};
  if (a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1]) return DAMO_OK;
  return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "%s: shapes (%lld, %lld) and (%lld, %lld) are not equal", names[op],
                  (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0], (long long)b->shape[1]);
}

damo_sparse *sparse_merge(sparse_merge_op op, damo_sparse *a, damo_sparse *b) {
  damo_sparse *x, *y;
  if (sp_check_merge(op, a, b) != DAMO_OK) return NULL;
  kernel_fn fn = sp_aligned_kernel(op, a, b);
  if (fn) return sp_merge_aligned(fn, a, b);
  if (sparse_alike(a, b, &x, &y) != DAMO_OK) return NULL;
  damo_sparse *out = sparse_empty(a->obj.ctx, sparse_format(a), sparse_dtype(x), sparse_itype(x), a->shape,
                                  sparse_nnz(x) + sparse_nnz(y));
  if (out) {
    thread_pool *pool = ctx_pool_to_divide(out->obj.ctx, MERGE_NS * (double)(sparse_nnz(x) + sparse_nnz(y)));
    const sparse_raw rx = sparse_raw_of(x), ry = sparse_raw_of(y);
    if (pool != NULL) {
      out = sp_merge_divided(pool, op, x, y, out);
    } else {
      const int64_t n = value_fns_of(out)->merge(op, &rx, &ry, out->indptr->data, out->indices->data, out->data->data);
      out = sparse_cut(out, n);
    }
    if (out != NULL) out->sorted = out->unique = true;
  }
  damo_release(x);
  damo_release(y);
  return out;
}

static damo_status sp_check_scale(const damo_sparse *a, int axis, const damo_array *s) {
  char text[256];
  if (s->ndim == 1 && array_size(s) == a->shape[axis]) return DAMO_OK;
  return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "%s: the vector has shape %s, expected (%lld,): one entry for each %s",
                  axis ? "col_scale" : "row_scale", shape_format(text, sizeof text, s->ndim, array_shape(s)),
                  (long long)a->shape[axis], axis ? "column" : "row");
}

damo_status sparse_scale_to(const damo_sparse *a, int axis, const damo_array *s, damo_sparse *out) {
  DAMO_TRY(sp_check_scale(a, axis, s));
  damo_assert(sparse_shares(a, out));
  const damo_dtype dtype = sparse_dtype(out);
  damo_array *x = array_as_contiguous(a->data, dtype), *v = x ? array_as_contiguous(s, dtype) : NULL;
  if (v) {
    sparse_raw raw = sparse_raw_of(a);
    raw.data = x->data;
    const sparse_value_fns *f = a->obj.ctx->isa->sparse.value[sparse_is_wide(a)][dtype];
    const bool by_major = (axis == 0) == (a->format == DAMO_CSR);
    (by_major ? f->scale_major : f->scale_minor)(&raw, v->data, out->data->data);
  }
  const damo_status status = v ? DAMO_OK : damo_error_status(a->obj.ctx);
  damo_release(x);
  damo_release(v);
  return status;
}

damo_sparse *sparse_scale(damo_sparse *a, int axis, const damo_array *s) {
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), array_dtype(s));
  damo_sparse *x = sparse_summed_for(a, dtype);
  damo_array *data = x ? sparse_vector(a->obj.ctx, dtype, sparse_nnz(x)) : NULL;
  damo_sparse *out = data ? sparse_with_data(x, data) : NULL;
  const bool ok = out && sparse_scale_to(x, axis, s, out) == DAMO_OK;
  damo_release(x);
  damo_release(data);
  if (ok) return out;
  damo_release(out);
  return NULL;
}

damo_status sparse_reduce_entries(const damo_sparse *a, reduce_kind kind, void *out) {
  const damo_dtype in = sparse_dtype(a);
  const int64_t nnz = sparse_nnz(a), stride = (int64_t)dtype_size(in);
  const size_t bytes = reduce_workspace(kind, in, 1, &nnz, 1) + 64;
  char *work = mem_alloc(a->obj.ctx, bytes);
  if (!work) return DAMO_EMEMORY;
  char *aligned = (char *)(((uintptr_t)work + 63) & ~(uintptr_t)63);
  kernel_reduce(a->obj.ctx->isa, kind, in, a->data->data, 1, &nnz, &stride, 1, out, aligned);
  mem_free(a->obj.ctx, work, bytes);
  return DAMO_OK;
}

/* The sum of all entries: that of the data vector, whatever the pattern. */
static damo_array *sp_sum_all(damo_sparse *a, damo_dtype dtype) {
  damo_sparse *x = sparse_summed_for(a, dtype);
  damo_array *out = x ? array_empty(a->obj.ctx, dtype, 0, NULL) : NULL;
  const bool ok = out && sparse_reduce_entries(x, REDUCE_SUM, out->data) == DAMO_OK;
  damo_release(x);
  if (ok) return out;
  damo_release(out);
  return NULL;
}

damo_array *sparse_sum(damo_sparse *a, int axis) {
  const damo_dtype dtype = reduce_out_dtype(REDUCE_SUM, sparse_dtype(a));
  if (axis < 0) return sp_sum_all(a, dtype);
  const bool along_major = (axis == 1) == (a->format == DAMO_CSR);
  damo_sparse *b = sparse_cast(a, dtype);
  damo_array *out = b ? damo_array_new(a->obj.ctx, dtype, 1, &a->shape[axis == 0]) : NULL;
  if (out) {
    const sparse_raw raw = sparse_raw_of(b);
    (along_major ? value_fns_of(b)->sum_major : value_fns_of(b)->sum_minor)(&raw, out->data);
  }
  damo_release(b);
  return out;
}
