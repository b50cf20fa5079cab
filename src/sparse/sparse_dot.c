/* sparse_dot: products of a sparse matrix with dense and with sparse ones. */
#include "sparse_int.h"

#include <string.h>

/* ---- With dense -------------------------------------------------------------------------------------------------- */

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
  _Alignas(16) char factor[16];
  if (alpha) {
    const scalar s = scalar_cast(*alpha, DAMO_COMPLEX128);
    kernel_cast(DAMO_COMPLEX128, dtype)(&s.v.c, factor, 1);
  }
  damo_sparse *same = sparse_cast(a, dtype);
  damo_array *xc = same ? array_as_contiguous(x, dtype) : NULL, *y = NULL;
  if (xc) y = onto ? damo_retain(onto) : array_empty(a->obj.ctx, dtype, x->ndim, shape);
  if (y) {
    const sparse_product p = {same, transposed, false, alpha ? factor : NULL, xc, onto ? y : NULL, y};
    const size_t size = sparse_product_room(&p);
    void *room = size > 0 ? mem_alloc(a->obj.ctx, size) : NULL;
    if (size > 0 && !room) {
      damo_release(y);
      y = NULL;
    } else {
      sparse_product_run(&p, room);
    }
    if (room) mem_free(a->obj.ctx, room, size);
  }
  damo_release(same);
  damo_release(xc);
  return y;
}

static sparse_block block_of(const damo_array *a) {
  const int64_t cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  return (sparse_block){a->data, cols, cols};
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

void sparse_sample_rows(const sparse_raw *at, bool wide, const damo_array *x, const damo_array *y, void *out) {
  const sparse_block bx = block_of(x), by = block_of(y);
  const sparse_dense_fns *v = bx.cols > 1 ? kernel_sparse_dense(wide, array_dtype(x)) : NULL;
  (v ? v->sample : kernel_sparse_value(wide, array_dtype(x))->sample)(at, &bx, &by, out);
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
    sparse_sample_rows(&raw, sparse_is_wide(p), csr ? xc : yc, csr ? yc : xc, out->data);
    z = sparse_with_data(p, out);
  }
  damo_release(xc);
  damo_release(yc);
  damo_release(out);
  return z;
}

/* ---- With sparse ------------------------------------------------------------------------------------------------- */

/* How many entries a product will have nobody knows before it is made, and counting all first takes as long as making
 * them. Lines here and there are counted; where the room that seems to be needed by them is too little, more is taken
 * by what was needed so far. */
#define SURE_ROOM ((int64_t)1 << 14) /* products are that few: room for each */
#define SAMPLE_LINES 512
#define SPARE_SHARE 8 /* of the room that seems to be needed */

typedef struct product {
  const damo_sparse *x;
  sparse_raw a, b;
  int64_t bound; /* on the entries */
  int64_t most;  /* that may be asked for */
  void *mark;
  size_t mark_size;
  sparse_progress at;
} product;

/* Products of the first n lines. */
static int64_t products_of(const product *p, int64_t n) {
  const sparse_raw lines = {n, p->a.minor, p->a.indptr, p->a.indices, NULL};
  return index_fns_of(p->x)->bound_product(&lines, &p->b, 1);
}

/* Room for the entries that stand and those that `products` more make, at that share. */
static int64_t room_for(const product *p, double share, int64_t products) {
  const double rest = share * (double)products, room = (double)p->at.n + rest + rest / SPARE_SHARE + SURE_ROOM;
  return room < (double)p->most ? (int64_t)room : p->most;
}

static int64_t first_room(const product *p) {
  if (p->bound <= SURE_ROOM) return p->bound;
  const int64_t step = p->a.major / SAMPLE_LINES + 1;
  const sparse_index_fns *f = index_fns_of(p->x);
  const int64_t of = f->bound_product(&p->a, &p->b, step), n = f->count_product(&p->a, &p->b, step, p->mark);
  memset(p->mark, 0xff, p->mark_size);
  const int64_t room = room_for(p, of > 0 ? (double)n / (double)of : 0, p->bound);
  return room < p->bound ? room : p->bound;
}

/* Room for the next line at least. */
static int64_t next_room(const product *p) {
  const int64_t done = products_of(p, p->at.line), line = products_of(p, p->at.line + 1) - done;
  const int64_t least = p->at.n + (line < p->b.minor ? line : p->b.minor);
  const int64_t room = room_for(p, done > 0 ? (double)p->at.n / (double)done : 0, p->bound - done);
  return room > least ? room : least;
}

/* Takes `old`: its n entries, with more room. */
static damo_sparse *with_room(damo_sparse *old, int64_t n, int64_t room) {
  const size_t index = dtype_size(sparse_itype(old));
  damo_sparse *out =
      sparse_empty(old->obj.ctx, sparse_format(old), sparse_dtype(old), sparse_itype(old), old->shape, room);
  if (out) {
    memcpy(out->indptr->data, old->indptr->data, (size_t)(sparse_major(old) + 1) * index);
    memcpy(out->indices->data, old->indices->data, (size_t)n * index);
    memcpy(out->data->data, old->data->data, (size_t)n * dtype_size(sparse_dtype(old)));
  }
  damo_release(old);
  return out;
}

/* Takes `out`, which has room for at.room. NULL with *wider: past the index type. */
static damo_sparse *filled(product *p, damo_sparse *out, bool *wider) {
  while (out) {
    value_fns_of(p->x)->fill_product(&p->a, &p->b, p->mark, &p->at, out->indptr->data, out->indices->data,
                                     out->data->data);
    if (p->at.line == p->a.major) return sparse_cut(out, p->at.n);
    p->at.room = next_room(p);
    *wider = p->at.room > p->most;
    if (*wider) {
      damo_release(out);
      return NULL;
    }
    out = with_room(out, p->at.n, p->at.room);
  }
  return NULL;
}

/* Raw product of the storage x·y, of one dtype and index width; the result has `format` and `shape`. *wider: it may
 * have more entries than int32 indices can count. */
static damo_sparse *multiply(const damo_sparse *x, const damo_sparse *y, damo_format format, const int64_t shape[2],
                             bool *wider) {
  damo_ctx *ctx = x->obj.ctx;
  product p = {.x = x, .a = sparse_raw_of(x), .b = sparse_raw_of(y)};
  p.most = sparse_is_wide(x) ? INT64_MAX / 32 : INT32_MAX;
  p.bound = products_of(&p, p.a.major);
  p.mark_size = (size_t)p.b.minor * dtype_size(sparse_itype(x));
  p.mark = mem_alloc(ctx, p.mark_size);
  *wider = false;
  if (!p.mark) return NULL;
  memset(p.mark, 0xff, p.mark_size);
  p.at.room = first_room(&p);
  damo_sparse *out = sparse_empty(ctx, format, sparse_dtype(x), sparse_itype(x), shape, p.at.room);
  out = filled(&p, out, wider);
  if (out) out->unique = true;
  mem_free(ctx, p.mark, p.mark_size);
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
  damo_sparse *left = damo_retain(a), *right = damo_retain(b), *x = NULL, *y = NULL, *out = NULL;
  damo_status s = DAMO_OK;
  /* Both are compressed along the outer axes: the right one would need an array as long as the inner one. */
  if (format == DAMO_CSR && b->format == DAMO_CSC) s = sparse_narrow(&left, &right);
  /* The csc of A·B is the csr of Bᵀ·Aᵀ. */
  if (s == DAMO_OK) x = readied(format == DAMO_CSR ? left : right, format, dtype, itype);
  if (x) y = readied(format == DAMO_CSR ? right : left, format, dtype, itype);
  if (y && sparse_narrow_one(&y, &columns) == DAMO_OK && sparse_same_itype(&x, &y) == DAMO_OK) {
    int64_t made[2] = {shape[0], shape[1]};
    if (columns) made[format == DAMO_CSR] = sparse_minor(y);
    out = multiply(x, y, format, made, wider);
    if (out && columns) out = restore(out, columns, shape);
  }
  damo_release(columns);
  damo_release(left);
  damo_release(right);
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

/* ---- With dense, sparse result ----------------------------------------------------------------------------------- */

static bool all_finite(const damo_array *v) {
  const damo_dtype dt = array_dtype(v);
  const int64_t n = array_size(v) * (dtype_is_complex(dt) ? 2 : 1);
  if (dtype_is_discrete(dt)) return true;
  if (dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64) {
    const float *x = (const float *)(const void *)v->data;
    float sum = 0; /* x - x is 0, or nan */
    for (int64_t i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0;
  }
  const double *x = (const double *)(const void *)v->data;
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] - x[i];
  return sum == 0;
}

/* A dense matrix with every entry stored. */
static damo_sparse *sparse_full(const damo_array *x, damo_format format) {
  damo_ctx *ctx = x->obj.ctx;
  const int64_t *shape = array_shape(x), major = shape[format == DAMO_CSC], minor = shape[format == DAMO_CSR];
  const int64_t turned[2] = {major, minor},
                step[2] = {array_strides(x)[format == DAMO_CSC], array_strides(x)[format == DAMO_CSR]};
  damo_sparse *out = sparse_empty(ctx, format, array_dtype(x), DAMO_INT64, shape, array_size(x));
  if (!out) return NULL;
  int64_t *ptr = (int64_t *)(void *)out->indptr->data, *idx = (int64_t *)(void *)out->indices->data;
  for (int64_t i = 0; i <= major; i++) ptr[i] = i * minor;
  for (int64_t i = 0; i < major; i++) {
    for (int64_t j = 0; j < minor; j++) *idx++ = j;
  }
  kernel_copy_nd(x->data, step, out->data->data, NULL, 2, turned, dtype_size(array_dtype(x)));
  out->sorted = out->unique = true;
  return out;
}

/* Whether a dense result is no larger than what its operands hold. */
static bool result_is_small(const damo_sparse *a, const damo_array *x, bool left) {
  const int64_t rows = left ? array_shape(x)[0] : a->shape[0], cols = left ? a->shape[1] : array_shape(x)[1];
  return rows == 0 || cols <= 2 * (sparse_nnz(a) + array_size(x)) / rows;
}

static damo_sparse *through_dense(damo_sparse *a, const damo_array *x, bool left) {
  damo_array *turned = NULL, *y = NULL;
  damo_sparse *out = NULL;
  const damo_format f = left ? (a->format == DAMO_CSR ? DAMO_CSC : DAMO_CSR) : sparse_format(a);
  if (left) {
    const int64_t shape[2] = {array_shape(x)[1], array_shape(x)[0]};
    const int64_t step[2] = {array_strides(x)[1], array_strides(x)[0]};
    turned = array_view(x, 2, shape, step, 0);
    if (!turned) return NULL;
  }
  y = sparse_dot_dense(a, left, NULL, left ? turned : x, NULL);
  if (y) out = sparse_from_dense(y, f, sparse_itype(a));
  if (out && left) {
    damo_sparse *back = sparse_transpose(out);
    damo_release(out);
    out = back;
  }
  damo_release(turned);
  damo_release(y);
  return out;
}

/* Zeros of x can be left out unless they meet inf or nan. */
static damo_sparse *through_sparse(damo_sparse *a, const damo_array *x, bool left) {
  damo_sparse *b =
      all_finite(a->data) ? sparse_from_dense(x, sparse_format(a), DAMO_INT32) : sparse_full(x, sparse_format(a));
  damo_sparse *out = b ? (left ? sparse_dot_sparse(b, a) : sparse_dot_sparse(a, b)) : NULL;
  damo_release(b);
  return out;
}

damo_sparse *sparse_dot_mixed(damo_sparse *a, const damo_array *x, bool left) {
  const int64_t inner = left ? a->shape[0] : a->shape[1], own = array_shape(x)[left];
  if (x->ndim != 2 || inner != own) {
    ctx_fail(a->obj.ctx, DAMO_ESHAPE, "dot: a matrix with %lld %s and a dense one with %lld %s do not agree",
             (long long)inner, left ? "rows" : "columns", (long long)own, left ? "columns" : "rows");
    return NULL;
  }
  return result_is_small(a, x, left) ? through_dense(a, x, left) : through_sparse(a, x, left);
}
