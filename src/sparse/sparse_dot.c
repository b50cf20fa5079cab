/* sparse_dot: products of a sparse matrix with dense and with sparse ones. */
#include "sparse_int.h"

#include <string.h>

/* ---- With dense -------------------------------------------------------------------------------------------------- */

/* Narrow blocks gain nothing from vectors across columns. */
#define VECTOR_COLS 4

typedef struct dense_product {
  damo_sparse *a;
  bool across; /* the result runs along the minor axis: entries scatter into it */
  _Alignas(16) char alpha[16];
  bool scaled;
  const damo_array *x;
  damo_array *y;
  bool add;
} dense_product;

static sparse_block block_of(const damo_array *a) {
  const int64_t cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  return (sparse_block){a->data, cols, cols};
}

static void run_product(const dense_product *d) {
  const sparse_raw raw = sparse_raw_of(d->a);
  const sparse_value_fns *f = value_fns_of(d->a);
  const void *alpha = d->scaled ? d->alpha : NULL;
  const sparse_block x = block_of(d->x), y = block_of(d->y);
  const sparse_dense_fns *v = kernel_sparse_dense(sparse_is_wide(d->a), sparse_dtype(d->a));
  const bool vectors = v && x.cols >= VECTOR_COLS;
  if (d->across) {
    if (x.cols == 1)
      f->matvec_t(&raw, alpha, x.data, y.data);
    else
      (vectors ? v->matmat_t : f->matmat_t)(&raw, alpha, &x, &y);
  } else if (x.cols == 1) {
    f->matvec(&raw, alpha, x.data, y.data, d->add);
  } else {
    (vectors ? v->matmat : f->matmat)(&raw, alpha, &x, &y, d->add);
  }
}

static damo_status check_dense(const damo_sparse *a, bool transposed, const damo_array *x) {
  char text[256];
  damo_ctx *ctx = a->obj.ctx;
  const int64_t inner = a->shape[!transposed];
  if (x->ndim != 1 && x->ndim != 2) {
    return ctx_fail(ctx, DAMO_ESHAPE, "dot: the dense operand has shape %s, expected a vector or a matrix",
                    shape_format(text, sizeof text, x->ndim, array_shape(x)));
  }
  if (array_shape(x)[0] == inner) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE,
                  "dot: shapes (%lld, %lld) and %s do not agree: axis 2 of the first is %lld, axis 1 of "
                  "the second is %lld",
                  (long long)a->shape[transposed], (long long)inner,
                  shape_format(text, sizeof text, x->ndim, array_shape(x)), (long long)inner,
                  (long long)array_shape(x)[0]);
}

static damo_status check_onto(const damo_sparse *a, const damo_array *onto, damo_dtype dtype, int ndim,
                              const int64_t *shape) {
  const bool fits = onto->ndim == ndim && array_dtype(onto) == dtype && array_shape(onto)[0] == shape[0] &&
                    (ndim == 1 || array_shape(onto)[1] == shape[1]);
  if (fits && onto->writeable && array_is_contiguous(onto)) return DAMO_OK;
  char text[256];
  return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "dot: the product can't be added in place: expected a %s array of shape %s",
                  dtype_name(dtype), shape_format(text, sizeof text, ndim, shape));
}

damo_array *sparse_dot_dense(damo_sparse *a, bool transposed, const scalar *alpha, const damo_array *x,
                             damo_array *onto) {
  if (check_dense(a, transposed, x) != DAMO_OK) return NULL;
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), array_dtype(x));
  const int64_t shape[2] = {a->shape[transposed], x->ndim == 2 ? array_shape(x)[1] : 1};
  if (onto && check_onto(a, onto, dtype, x->ndim, shape) != DAMO_OK) return NULL;
  dense_product d = {.across = transposed == (a->format == DAMO_CSR), .add = onto != NULL, .scaled = alpha != NULL};
  if (alpha) {
    const scalar s = scalar_cast(*alpha, DAMO_COMPLEX128);
    kernel_cast(DAMO_COMPLEX128, dtype)(&s.v.c, d.alpha, 1);
  }
  d.a = sparse_cast(a, dtype);
  damo_array *xc = d.a ? array_as_contiguous(x, dtype) : NULL;
  if (xc)
    d.y = onto       ? damo_retain(onto)
          : d.across ? damo_array_new(a->obj.ctx, dtype, x->ndim, shape)
                     : array_empty(a->obj.ctx, dtype, x->ndim, shape);
  d.x = xc;
  if (d.y) run_product(&d);
  damo_release(d.a);
  damo_release(xc);
  return d.y;
}

/* ---- Sampled ----------------------------------------------------------------------------------------------------- */

static damo_status check_sample(const damo_sparse *p, const damo_array *x, const damo_array *y) {
  char tx[128], ty[128];
  if (x->ndim == 2 && y->ndim == 2 && array_shape(x)[0] == p->shape[0] && array_shape(y)[0] == p->shape[1] &&
      array_shape(x)[1] == array_shape(y)[1])
    return DAMO_OK;
  return ctx_fail(p->obj.ctx, DAMO_ESHAPE,
                  "sampling_dot: shapes %s and %s do not agree with the pattern's (%lld, %lld): "
                  "expected (%lld, k) and (%lld, k)",
                  shape_format(tx, sizeof tx, x->ndim, array_shape(x)),
                  shape_format(ty, sizeof ty, y->ndim, array_shape(y)), (long long)p->shape[0], (long long)p->shape[1],
                  (long long)p->shape[0], (long long)p->shape[1]);
}

damo_sparse *sparse_sample(damo_sparse *p, const damo_array *x, const damo_array *y) {
  if (check_sample(p, x, y) != DAMO_OK) return NULL;
  const damo_dtype dtype = dtype_promote(array_dtype(x), array_dtype(y));
  damo_array *xc = array_as_contiguous(x, dtype), *yc = xc ? array_as_contiguous(y, dtype) : NULL;
  damo_array *out = yc ? sparse_vector(p->obj.ctx, dtype, sparse_nnz(p)) : NULL;
  damo_sparse *z = NULL;
  if (out) {
    const sparse_raw raw = sparse_raw_of(p);
    const bool csr = p->format == DAMO_CSR;
    const sparse_block bx = block_of(csr ? xc : yc), by = block_of(csr ? yc : xc);
    const sparse_dense_fns *v = kernel_sparse_dense(sparse_is_wide(p), dtype);
    (v ? v->sample : kernel_sparse_value(sparse_is_wide(p), dtype)->sample)(&raw, &bx, &by, out->data);
    z = sparse_with_data(p, out);
  }
  damo_release(xc);
  damo_release(yc);
  damo_release(out);
  return z;
}

/* ---- With sparse ------------------------------------------------------------------------------------------------- */

/* Where b has far more columns than entries, its columns are numbered anew, so that work is O(entries): rank → column,
 * ascending. Takes b; *columns is NULL where nothing was done. */
static damo_sparse *renumber(damo_sparse *take, damo_array **columns) {
  damo_ctx *ctx = take->obj.ctx;
  const int64_t nnz = sparse_nnz(take);
  *columns = NULL;
  if (sparse_minor(take) <= 4 * nnz + 4096) return take;
  damo_sparse *b = sparse_to_itype(take, DAMO_INT64), *out = NULL;
  damo_release(take);
  if (!b) return NULL;
  const sparse_move_fns *move = kernel_sparse_move(true, sizeof(int64_t));
  const int64_t ends[2] = {0, nnz};
  const size_t room = move->sort_room(nnz);
  damo_array *sorted = sparse_vector(ctx, DAMO_INT64, nnz), *place = sparse_vector(ctx, DAMO_INT64, nnz);
  damo_array *order = sparse_vector(ctx, DAMO_INT64, nnz);
  void *work = mem_alloc(ctx, room);
  int64_t shape[2] = {b->shape[0], b->shape[1]};
  shape[b->format == DAMO_CSR] = nnz;
  if (sorted && place && order && work)
    out = sparse_empty(ctx, sparse_format(b), sparse_dtype(b), DAMO_INT64, shape, nnz);
  if (out) {
    int64_t *at = (int64_t *)(void *)place->data, *from = (int64_t *)(void *)order->data, n = 0;
    int64_t *col = (int64_t *)(void *)sorted->data, *rank = (int64_t *)(void *)out->indices->data;
    for (int64_t p = 0; p < nnz; p++) from[p] = p;
    const sparse_raw line = {1, sparse_minor(b), ends, b->indices->data, from};
    move->sort(&line, col, at, work);
    for (int64_t p = 0; p < nnz; p++) {
      if (p > 0 && col[p] != col[n]) col[++n] = col[p];
      rank[at[p]] = n;
    }
    memcpy(out->indptr->data, b->indptr->data, (size_t)(sparse_major(b) + 1) * sizeof(int64_t));
    damo_release(out->data);
    out->data = damo_retain(b->data);
    *columns = damo_retain(sorted);
  }
  if (work) mem_free(ctx, work, room);
  damo_release(sorted);
  damo_release(place);
  damo_release(order);
  damo_release(b);
  return out;
}

/* Room that a product may take unseen, in entries of its operands: counting first costs as much as multiplying. */
#define ROOM_FACTOR 8

/* How many entries to make room for: exactly those of the result, or a bound where that is small. -1: more than the index
 * type can count. mark is left as it was found. */
static int64_t product_room(const damo_sparse *x, const sparse_raw *rx, const sparse_raw *ry, void *mark, size_t room,
                            void *ptr, int64_t operands) {
  const int64_t bound = index_fns_of(x)->bound_product(rx, ry);
  if (bound <= ROOM_FACTOR * operands && (bound <= INT32_MAX || sparse_is_wide(x))) return bound;
  const int64_t nnz = index_fns_of(x)->count_product(rx, ry, mark, ptr);
  memset(mark, 0xff, room);
  return nnz > INT32_MAX && !sparse_is_wide(x) ? -1 : nnz;
}

/* Raw product of the storage x·y, of one dtype and index width; the result has `format` and `shape`. *wider: it has more
 * entries than int32 indices can count. */
static damo_sparse *multiply(const damo_sparse *x, const damo_sparse *y, damo_format format, const int64_t shape[2],
                             bool *wider) {
  damo_ctx *ctx = x->obj.ctx;
  const sparse_raw rx = sparse_raw_of(x), ry = sparse_raw_of(y);
  const size_t room = (size_t)ry.minor * dtype_size(sparse_itype(x));
  damo_sparse *out = NULL;
  damo_array *ptr = sparse_vector(ctx, sparse_itype(x), rx.major + 1);
  void *mark = ptr ? mem_alloc(ctx, room) : NULL;
  *wider = false;
  if (mark) {
    memset(mark, 0xff, room);
    const int64_t most = product_room(x, &rx, &ry, mark, room, ptr->data, sparse_nnz(x) + sparse_nnz(y));
    *wider = most < 0;
    if (!*wider) out = sparse_empty(ctx, format, sparse_dtype(x), sparse_itype(x), shape, most);
    if (out) {
      const int64_t nnz =
          value_fns_of(x)->fill_product(&rx, &ry, mark, out->indptr->data, out->indices->data, out->data->data);
      out->unique = true;
      out = sparse_cut(out, nnz);
    }
    mem_free(ctx, mark, room);
  }
  damo_release(ptr);
  return out;
}

/* The columns' own numbers again. Takes its argument. */
static damo_sparse *restore(damo_sparse *take, const damo_array *columns, const int64_t shape[2]) {
  int64_t *idx = (int64_t *)(void *)take->indices->data;
  const int64_t *col = (const int64_t *)(void *)columns->data, nnz = sparse_nnz(take);
  for (int64_t p = 0; p < nnz; p++) idx[p] = col[idx[p]];
  take->shape[0] = shape[0];
  take->shape[1] = shape[1];
  return take;
}

/* a in that format, dtype and index width. */
static damo_sparse *readied(damo_sparse *a, damo_format format, damo_dtype dtype, damo_dtype itype) {
  damo_sparse *b = sparse_to_format(a, format), *c = b ? sparse_cast(b, dtype) : NULL;
  damo_sparse *d = c ? sparse_to_itype(c, itype) : NULL;
  damo_release(b);
  damo_release(c);
  return d;
}

static damo_sparse *product_as(damo_sparse *a, damo_sparse *b, damo_dtype itype, bool *wider) {
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), sparse_dtype(b));
  const damo_format format = sparse_format(a);
  const int64_t shape[2] = {a->shape[0], b->shape[1]};
  damo_array *columns = NULL;
  /* The csc of A·B is the csr of Bᵀ·Aᵀ. */
  damo_sparse *x = readied(format == DAMO_CSR ? a : b, format, dtype, itype);
  damo_sparse *y = x ? readied(format == DAMO_CSR ? b : a, format, dtype, itype) : NULL;
  if (y) y = renumber(y, &columns);
  if (y && sparse_is_wide(y) && !sparse_is_wide(x)) {
    damo_sparse *w = sparse_to_itype(x, DAMO_INT64);
    damo_release(x);
    x = w;
  }
  damo_sparse *out = NULL;
  if (x && y) {
    int64_t made[2] = {shape[0], shape[1]};
    if (columns) made[format == DAMO_CSR] = sparse_minor(y);
    out = multiply(x, y, format, made, wider);
    if (out && columns) out = restore(out, columns, shape);
  }
  damo_release(columns);
  damo_release(x);
  damo_release(y);
  return out;
}

damo_sparse *sparse_dot_sparse(damo_sparse *a, damo_sparse *b) {
  if (a->shape[1] != b->shape[0]) {
    ctx_fail(a->obj.ctx, DAMO_ESHAPE,
             "dot: shapes (%lld, %lld) and (%lld, %lld) do not agree: axis 2 of the first is "
             "%lld, axis 1 of the second is %lld",
             (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0], (long long)b->shape[1],
             (long long)a->shape[1], (long long)b->shape[0]);
    return NULL;
  }
  bool wider = false;
  const bool wide = sparse_is_wide(a) || sparse_is_wide(b);
  damo_sparse *out = product_as(a, b, wide ? DAMO_INT64 : DAMO_INT32, &wider);
  return wider ? product_as(a, b, DAMO_INT64, &wider) : out;
}
