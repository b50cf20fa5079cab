/* factor_case: shared by the tests of factors: dense matrices to compare with, random matrices, checks. */
#ifndef DAMO_FACTOR_CASE_H
#define DAMO_FACTOR_CASE_H

#include "io/io.h"

#include <complex.h>
#include <pthread.h>
#include <stdlib.h>

#include "test.h"

typedef double _Complex z;

/* CMPLX, which glibc does not define for clang. */
static inline z pair(double re, double im) {
  const union {
    double parts[2];
    z whole;
  } u = {{re, im}};
  return u.whole;
}

static inline damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  return ctx;
}

static inline void close_ctx(damo_ctx *ctx) {
  char text[256];
  CHECK_EQ_S(ctx_census(ctx, text, sizeof text), "");
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
}

static uint64_t seed = 88172645463325252u;

static inline double uniform(void) { /* in (-1, 1) */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1;
}

/* ---- Dense numbers to compare with ------------------------------------------------------------------------------- */

#define SIDE 40
typedef struct dense {
  int64_t m, n;
  z at[SIDE][SIDE];
} dense;

static inline z value_at(const damo_array *a, const int64_t *index) {
  const damo_c128 v = scalar_cast(array_get(a, index), DAMO_COMPLEX128).v.c;
  return pair(v.re, v.im);
}

static inline dense *dense_of(const damo_sparse *a) {
  dense *d = calloc(1, sizeof *d);
  damo_array *full = sparse_to_dense(a);
  d->m = a->shape[0], d->n = a->shape[1];
  for (int64_t i = 0; i < d->m; i++)
    for (int64_t j = 0; j < d->n; j++) d->at[i][j] = value_at(full, (const int64_t[]){i, j});
  damo_release(full);
  return d;
}

static inline z element(const dense *d, factor_system system, int64_t i, int64_t j) {
  return system == FACTOR_A ? d->at[i][j] : system == FACTOR_T ? d->at[j][i] : conj(d->at[j][i]);
}

/* Gauss-Jordan with row pivots: the inverse and the determinant. */
static inline z invert(const dense *a, dense *inverse) {
  dense *w = calloc(1, sizeof *w);
  *w = *a;
  z det = 1;
  const int64_t n = a->n;
  memset(inverse, 0, sizeof *inverse);
  inverse->m = inverse->n = n;
  for (int64_t i = 0; i < n; i++) inverse->at[i][i] = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t p = k;
    for (int64_t i = k; i < n; i++)
      if (cabs(w->at[i][k]) > cabs(w->at[p][k])) p = i;
    if (p != k) det = -det;
    for (int64_t j = 0; j < n; j++) {
      const z u = w->at[k][j], v = inverse->at[k][j];
      w->at[k][j] = w->at[p][j], w->at[p][j] = u;
      inverse->at[k][j] = inverse->at[p][j], inverse->at[p][j] = v;
    }
    const z pivot = w->at[k][k];
    det *= pivot;
    for (int64_t j = 0; j < n; j++) w->at[k][j] /= pivot, inverse->at[k][j] /= pivot;
    for (int64_t i = 0; i < n; i++) {
      const z t = w->at[i][k];
      if (i == k || t == 0) continue;
      for (int64_t j = 0; j < n; j++) w->at[i][j] -= t * w->at[k][j], inverse->at[i][j] -= t * inverse->at[k][j];
    }
  }
  free(w);
  return det;
}

static inline double norm1(const dense *a) {
  double most = 0;
  for (int64_t j = 0; j < a->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < a->m; i++) sum += cabs(a->at[i][j]);
    most = sum > most ? sum : most;
  }
  return most;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

typedef enum sort { GENERAL, POSITIVE, INDEFINITE, TRIANGULAR_BLOCKS, N_SORTS } sort;

static inline damo_sparse *matrix_of(damo_ctx *ctx, const dense *d, damo_dtype dtype, damo_dtype itype,
                                     damo_format format) {
  int64_t rows[SIDE * SIDE], cols[SIDE * SIDE], n = 0;
  damo_c128 values[SIDE * SIDE];
  for (int64_t i = 0; i < d->m; i++)
    for (int64_t j = 0; j < d->n; j++)
      if (d->at[i][j] != 0) rows[n] = i, cols[n] = j, values[n++] = (damo_c128){creal(d->at[i][j]), cimag(d->at[i][j])};
  damo_array *all = array_foreign(ctx, DAMO_COMPLEX128, 1, &n, values, false, NULL, NULL);
  damo_array *cast = array_cast(all, dtype);
  const int64_t shape[2] = {d->m, d->n};
  damo_sparse *a = sparse_from_places(ctx, format, dtype, shape, n, rows, cols, cast->data, itype, false);
  damo_release(all);
  damo_release(cast);
  return a;
}

static inline z draw_value(damo_dtype dtype) {
  return dtype_is_complex(dtype) ? pair(uniform(), uniform()) : uniform();
}

static inline void draw(dense *d, sort kind, int64_t n, damo_dtype dtype) {
  memset(d, 0, sizeof *d);
  d->m = d->n = n;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const bool blocks = kind == TRIANGULAR_BLOCKS;
      if (uniform() > (blocks ? -0.3 : -0.75) || (blocks && i / 4 > j / 4)) continue;
      if (kind == GENERAL || blocks) {
        d->at[i][j] += draw_value(dtype);
      } else if (i > j) {
        d->at[i][j] = draw_value(dtype);
        d->at[j][i] = conj(d->at[i][j]);
      }
    }
  }
  for (int64_t i = 0; i < n; i++)
    d->at[i][i] = kind == POSITIVE ? 12 + uniform() : kind == INDEFINITE ? uniform() : 3 * draw_value(dtype);
}

static inline damo_sparse *random_matrix(damo_ctx *ctx, sort kind, int64_t n, damo_dtype dtype, damo_dtype itype,
                                         damo_format format) {
  dense *d = malloc(sizeof *d);
  draw(d, kind, n, dtype);
  damo_sparse *a = matrix_of(ctx, d, dtype, itype, format);
  free(d);
  return a;
}

static inline damo_array *random_array(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = array_empty(ctx, DAMO_COMPLEX128, ndim, shape);
  for (int64_t k = 0; k < 2 * array_size(a); k++) ((double *)(void *)a->data)[k] = uniform();
  damo_array *b = array_cast(a, dtype);
  damo_release(a);
  return b;
}

/* Whether the factor's back end is one of these two. */
static inline bool is_backend(const damo_factor *f, const char *a, const char *b) {
  const char *name = factor_get_info(f).backend;
  return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

/* ---- Checks of both programs ------------------------------------------------------------------------------------- */

static inline void check_determinant(damo_factor *f, z det, double tol) {
  double log_abs;
  damo_c128 sign;
  if (!CHECK(factor_logdet(f, &log_abs, &sign) == DAMO_OK)) return;
  CHECK_NEAR(log_abs, log(cabs(det)), tol);
  CHECK_NEAR(cabs(pair(sign.re, sign.im) - det / cabs(det)), 0, tol);
}

static inline void check_message(damo_ctx *ctx, damo_status status, const char *part) {
  CHECK_EQ_I(damo_error_status(ctx), status);
  if (!CHECK(strstr(damo_error_message(ctx), part))) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  ctx_clear_error(ctx);
}

static inline void check_singular(damo_sparse *a, const char *part) {
  damo_ctx *ctx = a->obj.ctx;
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (!CHECK(f)) return;
  damo_array *b = random_array(ctx, DAMO_FLOAT64, 1, a->shape);
  CHECK(!factor_solve(f, FACTOR_A, b, NULL));
  check_message(ctx, DAMO_ENUMERIC, part);
  CHECK(!factor_inverse_entries(f, a));
  check_message(ctx, DAMO_ENUMERIC, "singular");
  CHECK(factor_check(f) == DAMO_ENUMERIC);
  check_message(ctx, DAMO_ENUMERIC, "rcond is ");
  damo_release(b);
  damo_release(f);
}

static inline void draw_rectangle(dense *d, int64_t m, int64_t n, damo_dtype dtype) {
  memset(d, 0, sizeof *d);
  d->m = m, d->n = n;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      if (uniform() > 0.4 || i == j || i % n == j) d->at[i][j] = draw_value(dtype);
}

#endif
