/* factor_data_test: factors of real matrices against SciPy's results, grids large enough for dense blocks, memory that
 * fails, two threads. */
#include "factor_case.h"

/* ---- Real matrices ----------------------------------------------------------------------------------------------- */

typedef struct fact {
  const char *name;
  double log_abs, sign_re, sign_im, residual; /* by SciPy's SuperLU for b = A·1 */
} fact;

static const fact FACTS[] = {
    {"494_bus", 1628.40603261, 1, 0, 2.8e-15},
    {"LFAT5", 73.5327761433, 1, 0, 1.7e-19},
    {"adder_dcop_05", -14536.453706, -1, 0, 1e-15},
    {"bp_1200", 305.798350364, 1, 0, 4.7e-16},
    {"cage5", -24.7004523454, 1, 0, 1.2e-16},
    {"can___24", 0, 1, 0, 0},
    {"jagmesh7", 199.695346493, 1, 0, 2.9e-16},
    {"olm1000", 4728.9147418, 1, 0, 1.2e-15},
    {"rajat19", -2876.21330258, 1, 0, 1.2e-15},
    {"tumorAntiAngiogenesis_2", 511.072586227, 1, 0, 1.2e-16},
    {"watt_2", -27715.445384, 1, 0, 2.9e-22},
    {"west0067", -10.1081695801, -1, 0, 2.2e-16},
    {"west0479", 307.617596292, 1, 0, 7.2e-18},
    {"young1c", 4062.62975363, -0.124303917690308, 0.992244191742556, 8.8e-16},
};

static damo_sparse *read_matrix(damo_ctx *ctx, const char *name, damo_format format) {
  char path[256];
  snprintf(path, sizeof path, "spec/data/mtx/%s.mtx", name);
  damo_sparse *a = (damo_sparse *)io_read_mtx(ctx, IO_FROM_FILE(path), format);
  if (!CHECK(a)) return NULL;
  damo_sparse *b = sparse_cast(a, dtype_is_complex(sparse_dtype(a)) ? DAMO_COMPLEX128 : DAMO_FLOAT64);
  damo_release(a);
  return b;
}

static double norm2(const damo_array *a, const damo_array *minus) {
  double sum = 0;
  for (int64_t i = 0; i < array_size(a); i++) {
    const double size = cabs(value_at(a, &i) - (minus ? value_at(minus, &i) : 0));
    sum += size * size;
  }
  return sqrt(sum);
}

static void test_matrix(const fact *known, damo_format format) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = read_matrix(ctx, known->name, format);
  if (!a) return;
  damo_array *ones = array_empty(ctx, sparse_dtype(a), 1, a->shape);
  array_fill(ones, (scalar){.dtype = DAMO_FLOAT64, .v.f = 1});
  damo_array *b = sparse_dot_dense(a, false, NULL, ones, NULL);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (CHECK(f)) {
    double log_abs = 0;
    damo_c128 sign = {0, 0};
    factor_logdet(f, &log_abs, &sign);
    CHECK_NEAR(log_abs, known->log_abs, 1e-7 * fabs(known->log_abs) + 1e-9);
    CHECK_NEAR(sign.re, known->sign_re, 1e-6);
    CHECK_NEAR(sign.im, known->sign_im, 1e-6);
    damo_array *x = factor_solve(f, FACTOR_A, b, NULL), *back = x ? sparse_dot_dense(a, false, NULL, x, NULL) : NULL;
    /* below the epsilon of float64 the comparison means nothing */
    if (CHECK(back)) CHECK_NEAR(norm2(back, b) / norm2(b, NULL), 0, fmax(10 * known->residual, 2.3e-16));
    damo_release(x);
    damo_release(back);
  }
  damo_release(f);
  damo_release(ones);
  damo_release(b);
  damo_release(a);
  close_ctx(ctx);
}

/* d log|det A| = sum of (A⁻¹)ᵀ·dA, against a finite difference of determinants along a random change of A's values. */
static void test_inverse_of(const char *name, double step, double tolerance) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = read_matrix(ctx, name, DAMO_CSC);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  damo_array *g = factor_inverse_entries(f, a);
  if (!CHECK(g)) return;
  const int64_t n = sparse_nnz(a);
  double logs[2] = {0, 0}, expected = 0, size = 0;
  double *change = malloc((size_t)n * sizeof *change);
  const double *x = (const double *)(const void *)a->data->data, *v = (const double *)(const void *)g->data;
  for (int64_t k = 0; k < n; k++) {
    change[k] = x[k] * uniform();
    expected += change[k] * v[k];
    size += fabs(change[k] * v[k]);
  }
  for (int side = 0; side < 2; side++) {
    damo_array *data = array_copy(a->data);
    for (int64_t k = 0; k < n; k++) ((double *)(void *)data->data)[k] += (side ? step : -step) * change[k];
    damo_sparse *b = sparse_with_data(a, data);
    damo_factor *other = factor_new(b, FACTOR_ASSUME_NONE);
    damo_c128 sign;
    CHECK(factor_logdet(other, &logs[side], &sign) == DAMO_OK);
    damo_release(other);
    damo_release(b);
    damo_release(data);
  }
  CHECK_NEAR((logs[1] - logs[0]) / (2 * step), expected, tolerance * size);
  free(change);
  damo_release(g);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

static void test_real_matrices(void) {
  for (size_t k = 0; k < sizeof FACTS / sizeof *FACTS; k++) {
    test_matrix(&FACTS[k], DAMO_CSC);
    test_matrix(&FACTS[k], DAMO_CSR);
  }
  const char *const singular[] = {"chesapeake", "dwt_878", "karate", "zenios", "cryg2500", "reorientation_1"};
  for (int k = 0; k < 6; k++) {
    damo_ctx *ctx = new_ctx();
    damo_sparse *a = read_matrix(ctx, singular[k], k % 2 ? DAMO_CSR : DAMO_CSC);
    if (a) check_singular(a, k < 4 ? "the matrix is singular: pivot " : "singular to working precision: pivot ");
    damo_release(a);
    close_ctx(ctx);
  }
  test_inverse_of("494_bus", 1e-9, 1e-6);
  test_inverse_of("west0479", 1e-7, 1e-3);
  test_inverse_of("jagmesh7", 1e-7, 1e-4);
  test_inverse_of("olm1000", 1e-8, 1e-4);
  test_inverse_of("watt_2", 1e-6, 1e-4);
}

/* The least-squares results in matrices.csv: b[i] = i/m; residual and least norm. */
static void test_real_least(const char *name, double residual, double norm) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = read_matrix(ctx, name, DAMO_CSC);
  damo_array *b = array_empty(ctx, DAMO_FLOAT64, 1, a->shape), *x = NULL, *r = NULL;
  for (int64_t i = 0; i < a->shape[0]; i++) ((double *)(void *)b->data)[i] = (double)(i + 1) / (double)a->shape[0];
  damo_factor *f = factor_new_least_squares(a);
  if (CHECK(factor_lstsq(f, b, &x, &r) == DAMO_OK)) {
    CHECK_NEAR(norm2(r, NULL), residual, 1e-9);
    CHECK_NEAR(norm2(x, NULL), norm, 1e-8 * norm);
  }
  damo_release(x);
  damo_release(r);
  damo_release(b);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* A Laplacian-like grid, large enough for dense blocks in the Cholesky factor. */
static damo_sparse *grid(damo_ctx *ctx, int64_t side, damo_dtype dtype, damo_dtype itype, double skew) {
  const int64_t n = side * side, room = 5 * n, shape[2] = {n, n};
  int64_t *rows = malloc((size_t)room * sizeof *rows), *cols = malloc((size_t)room * sizeof *cols), m = 0;
  z *values = malloc((size_t)room * sizeof *values);
  const z turn = dtype_is_complex(dtype) ? pair(0.6, 0.8) : 1;
  for (int64_t k = 0; k < n; k++) {
    rows[m] = cols[m] = k, values[m++] = 4.01;
    const int64_t next[2] = {k % side + 1 < side ? k + 1 : -1, k + side < n ? k + side : -1};
    for (int s = 0; s < 2; s++) {
      if (next[s] < 0) continue;
      rows[m] = k, cols[m] = next[s], values[m++] = -turn * (1 + skew);
      rows[m] = next[s], cols[m] = k, values[m++] = -conj(turn);
    }
  }
  damo_array *all = array_foreign(ctx, DAMO_COMPLEX128, 1, &m, values, false, NULL, NULL),
             *cast = array_cast(all, dtype);
  damo_sparse *a = sparse_from_places(ctx, DAMO_CSC, dtype, shape, m, rows, cols, cast->data, itype, false);
  damo_release(all);
  damo_release(cast);
  free(rows);
  free(cols);
  free(values);
  return a;
}

/* Entries of the inverse against solves with columns of the identity. */
static void test_grid(damo_dtype dtype, damo_dtype itype, double skew) {
  damo_ctx *ctx = new_ctx();
  const int64_t side = 60, n = side * side;
  damo_sparse *a = grid(ctx, side, dtype, itype, skew);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (!CHECK(f)) return;
  CHECK_EQ_I(factor_get_info(f).positive, skew == 0);
  damo_array *v = factor_inverse_entries(f, a);
  if (!CHECK(v)) return;
  for (int64_t row = 17; row < n; row += 411) { /* (A⁻¹)ᵀ at (i, j) is A⁻ᵀ e(j) at i */
    damo_array *e = damo_array_new(ctx, DAMO_FLOAT64, 1, &n);
    ((double *)(void *)e->data)[row] = 1;
    damo_array *x = factor_solve(f, FACTOR_T, e, NULL);
    const int64_t next = row + 1, to = array_get(a->indptr, &next).v.i;
    for (int64_t k = array_get(a->indptr, &row).v.i; k < to; k++) {
      const int64_t i = array_get(a->indices, &k).v.i;
      CHECK_NEAR(cabs(value_at(x, &i) - value_at(v, &k)), 0, 1e-12);
    }
    damo_release(e);
    damo_release(x);
  }
  damo_release(v);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Calls everything that allocates once; false after a failure. */
static bool use_all(damo_sparse *a, damo_sparse *tall) {
  damo_ctx *ctx = a->obj.ctx;
  damo_array *x = NULL, *r = NULL, *y = NULL, *v = NULL, *b = NULL, *w = NULL;
  damo_sparse *s = NULL;
  double rcond;
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE), *q = f ? factor_new_least_squares(tall) : NULL;
  bool ok = q && (b = damo_array_new(ctx, DAMO_FLOAT64, 1, a->shape)) && (y = factor_solve(f, FACTOR_H, b, NULL)) &&
            (v = factor_inverse_entries(f, a)) && (s = factor_solve_sparse(f, FACTOR_A, a)) &&
            factor_rcond(f, &rcond) == DAMO_OK && (w = damo_array_new(ctx, DAMO_FLOAT64, 1, tall->shape)) &&
            factor_lstsq(q, w, &x, &r) == DAMO_OK;
  damo_release(f);
  damo_release(q);
  damo_release(x);
  damo_release(r);
  damo_release(y);
  damo_release(v);
  damo_release(s);
  damo_release(b);
  damo_release(w);
  return ok;
}

static void test_failing_memory(sort kind, damo_dtype dtype) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, kind, 20, dtype, DAMO_INT32, DAMO_CSR);
  dense *d = malloc(sizeof *d);
  draw_rectangle(d, 20, 9, dtype);
  damo_sparse *tall = matrix_of(ctx, d, dtype, DAMO_INT32, DAMO_CSR);
  const size_t before = ctx->bytes;
  bool reached = true;
  for (int n = 0; reached && n < 10000; n++) {
    ctx->fail_after = n;
    const bool ok = use_all(a, tall);
    reached = ctx->fail_after < 0;
    ctx->fail_after = -1;
    if (!CHECK(ok == !reached) || !CHECK_EQ_I(ctx->bytes, before)) break;
    if (reached) CHECK_EQ_I(damo_error_status(ctx), DAMO_EMEMORY);
  }
  CHECK(!reached && use_all(a, tall));
  damo_release(a);
  damo_release(tall);
  free(d);
  close_ctx(ctx);
}

/* A memory cap under which the matrix fits but its factor does not. */
static void test_cap(double skew) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = grid(ctx, 60, DAMO_FLOAT64, DAMO_INT32, skew);
  const size_t before = ctx->bytes;
  damo_ctx_set_memory_cap(ctx, before + 500000);
  CHECK(!factor_new(a, FACTOR_ASSUME_NONE));
  check_message(ctx, DAMO_EMEMORY, "past the memory cap");
  CHECK_EQ_I(ctx->bytes, before);
  damo_ctx_set_memory_cap(ctx, 0);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (CHECK(f)) CHECK(factor_get_info(f).bytes > 500000 && ctx->bytes - before > factor_get_info(f).bytes);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *work_alone(void *result) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  *(int *)result = 0;
  for (int round = 0; round < 6; round++) {
    damo_sparse *a = grid(ctx, 30, DAMO_FLOAT64, DAMO_INT32, round % 2 ? 0.25 : 0);
    damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
    const int64_t n = a->shape[0];
    damo_array *b = damo_array_new(ctx, DAMO_FLOAT64, 1, &n);
    array_fill(b, (scalar){.dtype = DAMO_FLOAT64, .v.f = 1});
    damo_array *x = f ? factor_solve(f, FACTOR_A, b, NULL) : NULL,
               *back = x ? sparse_dot_dense(a, false, NULL, x, NULL) : NULL;
    *(int *)result += back && array_allclose(back, b, 0, 1e-8, false);
    damo_release(back);
    damo_release(x);
    damo_release(b);
    damo_release(f);
    damo_release(a);
  }
  damo_ctx_release(ctx);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[2];
  int good[2];
  for (int k = 0; k < 2; k++) CHECK(pthread_create(&threads[k], NULL, work_alone, &good[k]) == 0);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  CHECK_EQ_I(good[0], 6);
  CHECK_EQ_I(good[1], 6);
}

int main(void) {
  test_real_matrices();
  test_real_least("ash219", 0.78564069615, 2.82837974938);
  test_real_least("lp_afiro", 0, 2.39380214642);
  test_real_least("lp_share1b", 0, 54.3267170725);
  for (int w = 0; w < 2; w++) {
    test_grid(DAMO_FLOAT64, w ? DAMO_INT64 : DAMO_INT32, 0);
    test_grid(DAMO_COMPLEX128, w ? DAMO_INT64 : DAMO_INT32, 0);
    test_grid(DAMO_FLOAT64, w ? DAMO_INT64 : DAMO_INT32, 0.25);
    test_grid(DAMO_COMPLEX128, w ? DAMO_INT64 : DAMO_INT32, 0.25);
  }
  for (int kind = 0; kind < N_SORTS; kind++) {
    test_failing_memory((sort)kind, DAMO_FLOAT64);
    test_failing_memory((sort)kind, DAMO_COMPLEX128);
  }
  test_cap(0);
  test_cap(0.25);
  test_threads();
  TEST_MAIN_END;
}
