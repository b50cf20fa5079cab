/* spgemm: products of two sparse matrices by Gustavson's algorithm (ACM TOMS 4, 1978): row i of A·B is the sum of the
 * rows j of B, each scaled by A(i, j). A dense array `mark` along the columns of B says where each column of the
 * current row stands in the result.
 *
 * The number of entries of the product is not known in advance, and counting them all takes as long as computing them.
 * So a sample of the rows is counted symbolically, which gives the ratio of entries to multiplications; the first
 * capacity is that ratio times the number of all multiplications, plus a reserve. If the memory runs out, the ratio
 * found so far sets the next capacity, and the product goes on where it stopped.
 */
#include "sparse/sparse_int.h"

#include <string.h>

#define SPGEMM_SURE_CAPACITY ((int64_t)1 << 14) /* up to so many multiplications, memory for as many entries */
#define SPGEMM_SAMPLE_MAJORS 512
#define SPGEMM_SPARE_SHARE 8 /* the reserve is the estimate divided by this */
#define SPGEMM_ZERO_SHARE 16 /* stored zeros are removed first if they exceed nnz divided by this */

typedef struct spgemm_product {
  const damo_sparse *x;
  sparse_raw a, b;
  int64_t bound; /* upper bound of the entries: the number of multiplications */
  int64_t most;  /* largest capacity that the index type can count */
  void *mark;
  size_t mark_size;
  sparse_progress at;
} spgemm_product;

#define SPGEMM_MARK_PART ((size_t)1 << 16) /* bytes of marks between two points */

/* Says in marks of that many bytes that no column was met. */
static void spgemm_reset_marks(damo_ctx *ctx, char *mark, size_t size) {
  for (size_t at = 0; at < size; at += SPGEMM_MARK_PART) {
    memset(mark + at, 0xff, size - at < SPGEMM_MARK_PART ? size - at : SPGEMM_MARK_PART);
    ctx_point(ctx);
  }
}

/* Multiplications for the first n major vectors. */
static int64_t spgemm_count_products(const spgemm_product *p, int64_t n) {
  const sparse_raw sample = {n, p->a.minor, p->a.indptr, p->a.indices, NULL, p->a.ctx};
  return index_fns_of(p->x)->bound_product(&sample, &p->b, 1);
}

/* Capacity for the entries so far, those that `products` more multiplications make at the ratio `share`, and a
 * reserve. */
static int64_t spgemm_capacity_for(const spgemm_product *p, double share, int64_t products) {
  const double rest = share * (double)products,
               capacity = (double)p->at.n + rest + rest / SPGEMM_SPARE_SHARE + SPGEMM_SURE_CAPACITY;
  return capacity < (double)p->most ? (int64_t)capacity : p->most;
}

static int64_t spgemm_first_capacity(const spgemm_product *p) {
  if (p->bound <= SPGEMM_SURE_CAPACITY) return p->bound;
  const int64_t step = p->a.major / SPGEMM_SAMPLE_MAJORS + 1;
  const sparse_index_fns *f = index_fns_of(p->x);
  const int64_t of = f->bound_product(&p->a, &p->b, step), n = f->count_product(&p->a, &p->b, step, p->mark);
  spgemm_reset_marks(p->a.ctx, p->mark, p->mark_size);
  const int64_t capacity = spgemm_capacity_for(p, of > 0 ? (double)n / (double)of : 0, p->bound);
  return capacity < p->bound ? capacity : p->bound;
}

/* The next capacity, enough for the next major vector at least. */
static int64_t spgemm_next_capacity(const spgemm_product *p) {
  const int64_t done = spgemm_count_products(p, p->at.major), next = spgemm_count_products(p, p->at.major + 1) - done;
  const int64_t least = p->at.n + (next < p->b.minor ? next : p->b.minor);
  const int64_t capacity = spgemm_capacity_for(p, done > 0 ? (double)p->at.n / (double)done : 0, p->bound - done);
  return capacity > least ? capacity : least;
}

/* A matrix with capacity for more entries and the first n of `old`; takes `old`. */
static damo_sparse *spgemm_with_capacity(damo_sparse *old, int64_t n, int64_t capacity) {
  damo_assert(n <= sparse_nnz(old) && n <= capacity);
  const size_t index = dtype_size(sparse_itype(old));
  damo_sparse *out =
      sparse_empty(old->obj.ctx, sparse_format(old), sparse_dtype(old), sparse_itype(old), old->shape, capacity);
  if (out) {
    memcpy(out->indptr->data, old->indptr->data, (size_t)(sparse_major(old) + 1) * index);
    memcpy(out->indices->data, old->indices->data, (size_t)n * index);
    memcpy(out->data->data, old->data->data, (size_t)n * dtype_size(sparse_dtype(old)));
  }
  damo_release(old);
  return out;
}

/* The finished product without zeros, compacted in place. Few products have any, so they are counted first. */
static damo_sparse *spgemm_closed(const spgemm_product *p, damo_sparse *take) {
  const sparse_value_fns *f = value_fns_of(p->x);
  int64_t n = p->at.n;
  if (f->count_zeros(take->obj.ctx, take->data->data, n) > 0)
    n = f->drop_zeros(take->obj.ctx, p->a.major, take->indptr->data, take->indices->data, take->data->data);
  return sparse_cut(take, n);
}

/* Computes the product into `out`, which has memory for at.capacity entries, and enlarges it as needed; takes `out`.
 * NULL with *wider set: the entries may exceed the index type. */
static damo_sparse *spgemm_filled(spgemm_product *p, damo_sparse *out, bool *wider) {
  while (out) {
    value_fns_of(p->x)->fill_product(&p->a, &p->b, p->mark, &p->at, out->indptr->data, out->indices->data,
                                     out->data->data);
    damo_assert(p->at.n <= p->at.capacity && p->at.major <= p->a.major);
    if (p->at.major == p->a.major) return spgemm_closed(p, out);
    p->at.capacity = spgemm_next_capacity(p);
    *wider = p->at.capacity > p->most;
    if (*wider) {
      damo_release(out);
      return NULL;
    }
    out = spgemm_with_capacity(out, p->at.n, p->at.capacity);
  }
  return NULL;
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

/* On several threads each share of the rows is computed into memory of its own; the shares are then copied one behind
 * the other. A row is the same sum in the same order, wherever it is computed. A share that runs out of memory is
 * computed again with twice as much. */

#define SPGEMM_NS 3.0      /* about, of one multiplication */
#define SPGEMM_FEW_SHARE 8 /* columns are unmarked one by one where they are fewer than all divided by this */

typedef struct spgemm_share {
  sparse_raw rows;
  int64_t first, bound;
  sparse_progress at;
  bool done;
  void *indices, *data;
  int64_t held; /* entries that fit */
} spgemm_share;

typedef struct spgemm_job {
  spgemm_product *p;
  sparse_division shares;
  spgemm_share *share;
  char *marks, *ptr; /* a mark for each thread; indptr of each share, one entry longer than it has rows */
  size_t index, element;
} spgemm_job;

static void *spgemm_share_ptr(const spgemm_job *j, int64_t share) {
  return j->ptr + (size_t)(j->share[share].first + share) * j->index;
}

/* Takes back the marks of the columns that a share has met. */
static void spgemm_unmark(const spgemm_job *j, const spgemm_share *s, void *mark) {
  const bool wide = sparse_is_wide(j->p->x);
  if ((size_t)s->at.n > j->p->mark_size / j->index / SPGEMM_FEW_SHARE) {
    memset(mark, 0xff, j->p->mark_size);
    return;
  }
  for (int64_t k = 0; k < s->at.n; k++) sparse_index_set(mark, wide, sparse_index_get(s->indices, wide, k), -1);
}

static void spgemm_run_share(void *arg, int64_t share, int worker) {
  const spgemm_job *j = arg;
  spgemm_share *s = &j->share[share];
  void *mark = j->marks + (size_t)worker * j->p->mark_size;
  if (s->done) return;
  s->at = (sparse_progress){.capacity = s->held};
  value_fns_of(j->p->x)->fill_product(&s->rows, &j->p->b, mark, &s->at, spgemm_share_ptr(j, share), s->indices,
                                      s->data);
  s->done = s->at.major == s->rows.major;
  spgemm_unmark(j, s, mark);
}

static void spgemm_share_free(damo_ctx *ctx, const spgemm_job *j, spgemm_share *s) {
  if (s->indices != NULL) mem_free(ctx, s->indices, (size_t)s->held * j->index);
  if (s->data != NULL) mem_free(ctx, s->data, (size_t)s->held * j->element);
  s->indices = s->data = NULL;
}

/* Gives a share memory for so many entries. */
static bool spgemm_share_hold(damo_ctx *ctx, const spgemm_job *j, spgemm_share *s, int64_t entries) {
  spgemm_share_free(ctx, j, s);
  s->held = entries < s->bound ? entries : s->bound;
  s->indices = mem_alloc(ctx, (size_t)s->held * j->index);
  s->data = s->indices != NULL ? mem_alloc(ctx, (size_t)s->held * j->element) : NULL;
  return s->data != NULL;
}

/* Computes all shares; false: no memory. share: entries made by one multiplication, as estimated. */
static bool spgemm_run_shares(damo_ctx *ctx, thread_pool *pool, spgemm_job *j, double share) {
  for (int64_t k = 0; k < j->shares.n; k++) {
    spgemm_share *s = &j->share[k];
    s->first = sparse_division_rows(&j->shares, k, &s->rows);
    s->bound = index_fns_of(j->p->x)->bound_product(&s->rows, &j->p->b, 1);
    const double likely = share * (double)s->bound;
    if (!spgemm_share_hold(ctx, j, s, (int64_t)(likely + likely / SPGEMM_SPARE_SHARE) + SPGEMM_SURE_CAPACITY))
      return false;
    pool_point(pool);
  }
  for (bool all = false; !all;) {
    pool_run_all(pool, j->shares.n, spgemm_run_share, j);
    all = true;
    for (int64_t k = 0; k < j->shares.n; k++) {
      if (j->share[k].done) continue;
      all = false;
      if (!spgemm_share_hold(ctx, j, &j->share[k], 2 * j->share[k].held)) return false;
    }
  }
  return true;
}

/* The shares as one matrix, with zeros left out; NULL: no memory, or *wider. */
static damo_sparse *spgemm_join(damo_ctx *ctx, thread_pool *pool, const spgemm_job *j, damo_format format,
                                const int64_t shape[2], bool *wider) {
  spgemm_product *p = j->p;
  const size_t bytes = (size_t)j->shares.n * sizeof(sparse_piece);
  sparse_piece *pieces = mem_alloc(ctx, bytes);
  damo_sparse *out = NULL;
  if (pieces == NULL) return NULL;
  p->at.n = 0;
  for (int64_t k = 0; k < j->shares.n; k++) {
    const spgemm_share *s = &j->share[k];
    pieces[k] = (sparse_piece){.first = s->first,
                               .rows = s->rows.major,
                               .n = s->at.n,
                               .ptr = spgemm_share_ptr(j, k),
                               .indices = s->indices,
                               .data = s->data};
    p->at.n += s->at.n;
  }
  *wider = p->at.n > p->most;
  if (!*wider) out = sparse_join(ctx, pool, format, sparse_dtype(p->x), sparse_itype(p->x), shape, pieces, j->shares.n);
  mem_free(ctx, pieces, bytes);
  return out != NULL ? spgemm_closed(p, out) : NULL;
}

static damo_sparse *spgemm_divided(thread_pool *pool, spgemm_product *p, damo_format format, const int64_t shape[2],
                                   bool *wider) {
  damo_ctx *ctx = p->x->obj.ctx;
  spgemm_job j = {.p = p, .shares = sparse_divide(pool, &p->a, sparse_is_wide(p->x))};
  j.index = dtype_size(sparse_itype(p->x));
  j.element = dtype_size(sparse_dtype(p->x));
  const double entries = (double)spgemm_first_capacity(p); /* before any marks are in use */
  const size_t shares = (size_t)j.shares.n * sizeof *j.share, marks = (size_t)pool_size(pool) * p->mark_size,
               ptr = (size_t)(p->a.major + j.shares.n) * j.index;
  damo_sparse *out = NULL;
  j.share = mem_calloc(ctx, shares);
  j.marks = j.share != NULL ? mem_alloc(ctx, marks) : NULL;
  j.ptr = j.marks != NULL ? mem_alloc(ctx, ptr) : NULL;
  if (j.ptr != NULL) spgemm_reset_marks(ctx, j.marks, marks);
  if (j.ptr != NULL && spgemm_run_shares(ctx, pool, &j, entries / (double)p->bound))
    out = spgemm_join(ctx, pool, &j, format, shape, wider);
  for (int64_t k = 0; j.share != NULL && k < j.shares.n; k++) {
    spgemm_share_free(ctx, &j, &j.share[k]);
    pool_point(pool);
  }
  if (j.ptr != NULL) mem_free(ctx, j.ptr, ptr);
  if (j.marks != NULL) mem_free(ctx, j.marks, marks);
  if (j.share != NULL) mem_free(ctx, j.share, shares);
  return out;
}

/* ---- The product ------------------------------------------------------------------------------------------------- */

/* The product of the storage x·y (rows by rows), of one dtype and index width; the result has `format` and `shape`.
 * *wider: it may have more entries than int32 indices can count. */
static damo_sparse *spgemm_multiply(const damo_sparse *x, const damo_sparse *y, damo_format format,
                                    const int64_t shape[2], bool *wider) {
  damo_ctx *ctx = x->obj.ctx;
  spgemm_product p = {.x = x, .a = sparse_raw_of(x), .b = sparse_raw_of(y)};
  damo_assert(p.a.minor == p.b.major && sparse_dtype(x) == sparse_dtype(y) && sparse_itype(x) == sparse_itype(y));
  p.most = sparse_is_wide(x) ? INT64_MAX / 32 : INT32_MAX;
  p.bound = spgemm_count_products(&p, p.a.major);
  p.mark_size = (size_t)p.b.minor * dtype_size(sparse_itype(x));
  p.mark = mem_alloc(ctx, p.mark_size);
  *wider = false;
  if (!p.mark) return NULL;
  spgemm_reset_marks(ctx, p.mark, p.mark_size);
  thread_pool *pool = ctx_pool_to_divide(ctx, SPGEMM_NS * (double)p.bound);
  damo_sparse *out;
  if (pool != NULL && p.bound > SPGEMM_SURE_CAPACITY) {
    out = spgemm_divided(pool, &p, format, shape, wider);
  } else {
    p.at.capacity = spgemm_first_capacity(&p);
    out = sparse_empty(ctx, format, sparse_dtype(x), sparse_itype(x), shape, p.at.capacity);
    out = spgemm_filled(&p, out, wider);
  }
  if (out) out->unique = true;
  mem_free(ctx, p.mark, p.mark_size);
  return out;
}

/* Undoes the renumbering of columns by sparse_narrow_one. Takes its argument. */
static damo_sparse *spgemm_restore_columns(damo_sparse *take, const damo_array *columns, const int64_t shape[2]) {
  damo_assert(sparse_is_wide(take) && take->obj.refs == 1);
  int64_t *idx = (int64_t *)(void *)take->indices->data;
  const int64_t *col = (const int64_t *)(void *)columns->data, nnz = sparse_nnz(take);
  for (int64_t p = 0; p < nnz; p++) idx[p] = col[idx[p]];
  take->shape[0] = shape[0];
  take->shape[1] = shape[1];
  return take;
}

/* a in that format, dtype and index width. */
static damo_sparse *spgemm_readied(damo_sparse *a, damo_format format, damo_dtype dtype, damo_dtype itype) {
  damo_sparse *b = sparse_to_format(a, format), *c = b ? sparse_cast(b, dtype) : NULL;
  damo_sparse *d = c ? sparse_to_itype(c, itype) : NULL;
  damo_release(b);
  damo_release(c);
  return d;
}

/* Whether b is a's transpose: the same arrays, read along the other axis. */
static bool sp_is_own_transpose(const damo_sparse *a, const damo_sparse *b) {
  return a->format != b->format && a->data == b->data && a->indices == b->indices && a->indptr == b->indptr;
}

static bool sp_has_many_zeros(const damo_sparse *a) {
  return sparse_count_zeros(a) > sparse_nnz(a) / SPGEMM_ZERO_SHARE;
}

/* Removes stored zeros of a and b if there are so many that the saved multiplications are worth it. Zeros of one
 * operand may go only if the other is finite, since 0·inf and 0·nan are nan. */
static damo_status sp_without_zeros(damo_sparse **a, damo_sparse **b) {
  if (!sp_has_many_zeros(*a) && !sp_has_many_zeros(*b)) return DAMO_OK;
  const bool own = sp_is_own_transpose(*a, *b), from_a = sparse_all_finite(*b), from_b = sparse_all_finite(*a);
  damo_sparse *x = from_a ? sparse_drop_zeros(*a) : damo_retain(*a), *y = NULL;
  if (x) y = own && from_a ? sparse_transpose(x) : from_b ? sparse_drop_zeros(*b) : damo_retain(*b);
  if (!y) {
    damo_release(x);
    return damo_error_status((*a)->obj.ctx);
  }
  damo_release(*a);
  damo_release(*b);
  *a = x;
  *b = y;
  return DAMO_OK;
}

static damo_sparse *spgemm_as(damo_sparse *a, damo_sparse *b, damo_dtype itype, bool *wider) {
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), sparse_dtype(b));
  const damo_format format = sparse_format(a);
  const int64_t shape[2] = {a->shape[0], b->shape[1]};
  damo_array *columns = NULL;
  damo_sparse *left = damo_retain(a), *right = damo_retain(b), *x = NULL, *y = NULL, *out = NULL;
  damo_status s = sp_without_zeros(&left, &right);
  /* Both are compressed along the outer axes: converting the right one would need an array along the inner axis. */
  if (s == DAMO_OK && format == DAMO_CSR && b->format == DAMO_CSC) s = sparse_narrow(&left, &right);
  /* The csc of A·B is the csr of Bᵀ·Aᵀ. */
  if (s == DAMO_OK) x = spgemm_readied(format == DAMO_CSR ? left : right, format, dtype, itype);
  if (x) y = spgemm_readied(format == DAMO_CSR ? right : left, format, dtype, itype);
  if (y && sparse_narrow_one(&y, &columns) == DAMO_OK && sparse_same_itype(&x, &y) == DAMO_OK) {
    int64_t made[2] = {shape[0], shape[1]};
    if (columns) made[format == DAMO_CSR] = sparse_minor(y);
    out = spgemm_multiply(x, y, format, made, wider);
    if (out && columns) out = spgemm_restore_columns(out, columns, shape);
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
  damo_sparse *out = spgemm_as(a, b, wide ? DAMO_INT64 : DAMO_INT32, &wider);
  return wider ? spgemm_as(a, b, DAMO_INT64, &wider) : out;
}
