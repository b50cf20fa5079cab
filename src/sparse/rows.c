/* rows: divides the major vectors of a matrix among the threads of its context, for loops that compute each by itself. */
#include "sparse/sparse_int.h"

#include <string.h>

#define ROWS_SHARE 4096 /* entries and major vectors of a share, at least */

/* How many entries and vectors lie before major vector i. */
static int64_t sp_rows_before(const sparse_division *s, int64_t i) {
  return sparse_index_get(s->a.indptr, s->wide, i) - sparse_index_get(s->a.indptr, s->wide, 0) + i;
}

/* The first vector of a share: shares have about as many entries and vectors together. */
static int64_t sp_rows_first(const sparse_division *s, int64_t share) {
  const int64_t before = pool_share_first(sp_rows_before(s, s->a.major), share, s->n);
  int64_t low = 0, high = s->a.major;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sp_rows_before(s, middle) < before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

sparse_division sparse_divide(const thread_pool *pool, const sparse_raw *a, bool wide) {
  sparse_division s = {*a, wide, 1};
  if (pool != NULL && !pool_cuts(pool)) s.a.ctx = NULL; /* kernels run on other threads */
  if (pool != NULL && a->major > 0) s.n = pool_shares(pool, sp_rows_before(&s, a->major), ROWS_SHARE);
  return s;
}

int64_t sparse_division_rows(const sparse_division *s, int64_t share, sparse_raw *rows) {
  const int64_t first = sp_rows_first(s, share), end = sp_rows_first(s, share + 1);
  *rows = s->a;
  rows->major = end - first;
  rows->indptr = (const char *)s->a.indptr + first * (s->wide ? 8 : 4);
  return first;
}

typedef struct sp_rows_job {
  sparse_division shares;
  sparse_rows_fn fn;
  const void *arg;
} sp_rows_job;

static void sp_rows_share(void *arg, int64_t share, int worker) {
  const sp_rows_job *j = arg;
  sparse_raw rows;
  const int64_t first = sparse_division_rows(&j->shares, share, &rows);
  (void)worker;
  if (rows.major > 0) j->fn(j->arg, &rows, first);
}

void sparse_run_rows(damo_ctx *ctx, double ns, const sparse_raw *a, bool wide, sparse_rows_fn fn, const void *arg) {
  thread_pool *pool = ctx_pool(ctx, ns);
  sp_rows_job j = {sparse_divide(pool, a, wide), fn, arg};
  if (j.shares.n > 1)
    pool_run_all(pool, j.shares.n, sp_rows_share, &j);
  else
    fn(arg, a, 0);
}

typedef struct sp_join_job {
  damo_sparse *out;
  const sparse_piece *pieces;
  size_t index, element; /* bytes */
} sp_join_job;

static void sp_join_piece(void *arg, int64_t share, int worker) {
  const sp_join_job *j = arg;
  const sparse_piece *s = &j->pieces[share];
  const bool wide = sparse_is_wide(j->out);
  (void)worker;
  for (int64_t i = 1; i <= s->rows; i++)
    sparse_index_set(j->out->indptr->data, wide, s->first + i, s->before + sparse_index_get(s->ptr, wide, i));
  if (s->n == 0) return;
  memcpy(j->out->indices->data + (size_t)s->before * j->index, s->indices, (size_t)s->n * j->index);
  memcpy(j->out->data->data + (size_t)s->before * j->element, s->data, (size_t)s->n * j->element);
}

damo_sparse *sparse_join(damo_ctx *ctx, thread_pool *pool, damo_format format, damo_dtype dtype, damo_dtype itype,
                         const int64_t shape[2], sparse_piece *pieces, int64_t n_pieces) {
  int64_t n = 0;
  for (int64_t k = 0; k < n_pieces; k++) {
    pieces[k].before = n;
    n += pieces[k].n;
  }
  damo_sparse *out = sparse_empty(ctx, format, dtype, itype, shape, n);
  if (out == NULL) return NULL;
  sp_join_job j = {out, pieces, dtype_size(itype), dtype_size(dtype)};
  sparse_index_set(out->indptr->data, sparse_is_wide(out), 0, 0);
  pool_run_all(pool, n_pieces, sp_join_piece, &j);
  return out;
}
