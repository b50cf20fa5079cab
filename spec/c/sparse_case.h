/* sparse_case: shared by the tests of sparse matrices: dense matrices to compare with, random matrices. */
#ifndef DAMO_SPARSE_CASE_H
#define DAMO_SPARSE_CASE_H

#include "sparse/sparse.h"

#include <stdlib.h>

#include "test.h"

static inline damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  return ctx;
}

static uint64_t seed = 88172645463325252u;

static inline int64_t draw(int64_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

/* ---- Dense numbers to compare with ------------------------------------------------------------------------------- */

#define SIDE 48

typedef struct ref {
  int64_t m, n;
  damo_c128 at[SIDE][SIDE];
} ref;

static inline damo_c128 value_at(const damo_array *a, const int64_t *index) {
  return scalar_cast(array_get(a, index), DAMO_COMPLEX128).v.c;
}

static inline damo_c128 times(damo_c128 a, damo_c128 b) {
  return (damo_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline void add_to(damo_c128 *to, damo_c128 v) { to->re += v.re, to->im += v.im; }

/* Sums of bool are logical or; int8 and uint8 wrap around. */
static inline damo_c128 in_dtype(damo_c128 z, damo_dtype dtype) {
  if (dtype == DAMO_BOOL) z = (damo_c128){z.re != 0, 0};
  if (dtype == DAMO_INT8) z.re = (double)(int8_t)(int64_t)z.re;
  if (dtype == DAMO_UINT8) z.re = (double)(uint8_t)(int64_t)z.re;
  return z;
}

static inline ref *ref_of(const damo_sparse *a) {
  ref *r = calloc(1, sizeof *r);
  r->m = a->shape[0], r->n = a->shape[1];
  for (int64_t line = 0; line < sparse_major(a); line++) {
    const int64_t next = line + 1;
    const int64_t from = array_get(a->indptr, &line).v.i, to = array_get(a->indptr, &next).v.i;
    for (int64_t p = from; p < to; p++) {
      const int64_t other = array_get(a->indices, &p).v.i;
      const int64_t i = a->format == DAMO_CSR ? line : other, j = a->format == DAMO_CSR ? other : line;
      add_to(&r->at[i][j], value_at(a->data, &p));
    }
  }
  return r;
}

static inline bool close_to(damo_c128 a, damo_c128 b) {
  const bool re = fabs(a.re - b.re) <= 1e-4 * (1 + fabs(b.re)) || (isnan(a.re) && isnan(b.re));
  return re && (fabs(a.im - b.im) <= 1e-4 * (1 + fabs(b.im)) || (isnan(a.im) && isnan(b.im)));
}

static inline bool dense_is(const damo_array *d, const ref *r) {
  if (!d || d->ndim != 2 || array_shape(d)[0] != r->m || array_shape(d)[1] != r->n) return false;
  for (int64_t i = 0; i < r->m; i++) {
    for (int64_t j = 0; j < r->n; j++) {
      const damo_c128 want = in_dtype(r->at[i][j], array_dtype(d));
      if (!close_to(value_at(d, (const int64_t[]){i, j}), want)) return false;
    }
  }
  return true;
}

/* Whether the invariants hold and the entries are those of r. */
static inline bool stands_for(const damo_sparse *a, const ref *r) {
  const char *why = NULL;
  if (!a) return false;
  if (!sparse_check(a, &why)) {
    fprintf(stderr, "    %s\n", why);
    return false;
  }
  damo_array *d = sparse_to_dense(a);
  const bool ok = dense_is(d, r);
  damo_release(d);
  return ok;
}

/* Checks the matrix, and takes the reference. */
static inline void check_take(damo_sparse *take, const ref *r, int line) {
  if (!test_report(stands_for(take, r), __FILE__, line, "stands for the dense numbers") && take)
    fprintf(stderr, "    %s %s\n", sparse_format_name(take->format), dtype_name(sparse_dtype(take)));
  damo_release(take);
}
#define CHECK_IS(a, r) check_take((a), (r), __LINE__)

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

typedef enum kind { CANONICAL, MESSY, EMPTY } kind;

static inline void put(damo_array *a, int64_t p, double re, double im) {
  const scalar s = {.dtype = DAMO_COMPLEX128, .v.c = {re, im}};
  array_set(a, &p, scalar_cast(s, array_dtype(a)));
}

/* A random matrix of small integers; messy: unsorted indices, duplicates and explicit zeros. */
static inline damo_sparse *make(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, int64_t m,
                                int64_t n, kind k) {
  static int64_t ptr[SIDE + 1], idx[SIDE * SIDE * 2];
  static double re[SIDE * SIDE * 2];
  const int64_t major = format == DAMO_CSR ? m : n, minor = format == DAMO_CSR ? n : m, lines = major + 1;
  int64_t nnz = 0;
  for (int64_t i = 0; i < major; i++) {
    ptr[i] = nnz;
    for (int64_t j = 0; j < minor && k == CANONICAL; j++) {
      if (draw(3) == 0) idx[nnz] = j, re[nnz++] = (double)(1 + draw(3));
    }
    const int64_t count = k == MESSY && minor > 0 ? draw(minor + 2) : 0;
    for (int64_t c = 0; c < count; c++) idx[nnz] = draw(minor), re[nnz++] = (double)draw(3);
  }
  ptr[major] = nnz;
  damo_array *data = array_empty(ctx, dtype, 1, &nnz);
  for (int64_t p = 0; p < nnz; p++) put(data, p, re[p], (double)draw(3));
  damo_array *ind = damo_array_from(ctx, DAMO_INT64, 1, &nnz, idx);
  damo_array *pt = damo_array_from(ctx, DAMO_INT64, 1, &lines, ptr);
  damo_sparse *a = sparse_from_parts(ctx, format, (const int64_t[]){m, n}, data, ind, pt, itype);
  damo_release(data);
  damo_release(ind);
  damo_release(pt);
  return a;
}

static inline damo_array *dense_numbers(damo_ctx *ctx, damo_dtype dtype, int ndim, int64_t m, int64_t n) {
  damo_array *a = array_empty(ctx, dtype, ndim, (const int64_t[]){m, n});
  damo_array *flat =
      array_view(a, 1, (const int64_t[]){m * (ndim == 2 ? n : 1)}, (const int64_t[]){(int64_t)dtype_size(dtype)}, 0);
  for (int64_t p = 0; p < array_size(flat); p++) put(flat, p, (double)draw(3), (double)draw(2));
  damo_release(flat);
  return a;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Runs a program repeatedly, each time with a later allocation failing, until it completes (true). Each failure must be
 * a memory error and leave nothing behind. The program must allocate more than `least` times. */
static inline void check_failing_allocations(damo_ctx *ctx, bool (*program)(damo_ctx *ctx, const void *data),
                                             const void *data, int64_t least) {
  const int64_t objects = ctx->n_objects;
  const size_t bytes = ctx->bytes;
  int64_t n = 0;
  for (bool done = false; !done && n < 10000; n++) {
    ctx_clear_error(ctx);
    ctx->fail_after = n;
    done = program(ctx, data);
    ctx->fail_after = -1;
    if (!done && ctx->error.status != DAMO_EMEMORY) CHECK_EQ_I(ctx->error.status, DAMO_EMEMORY);
    if (ctx->n_objects != objects || ctx->bytes != bytes) CHECK_EQ_I(ctx->n_objects, objects);
  }
  CHECK(n > least && n < 10000);
}

#endif
