/* factor_test: solves, determinants, inverses and least squares against dense elimination, for every dtype, index width
 * and format; what is reused when values or the pattern change; refused matrices. */
#include "factor_case.h"

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

static double tolerance_of(damo_dtype dtype) { return dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? 2e-4 : 1e-10; }

static void check_solution(const dense *d, factor_system system, const damo_array *x, const damo_array *b, double tol) {
  const int64_t width = b->ndim == 2 ? array_shape(b)[1] : 1;
  double worst = 0;
  for (int64_t i = 0; i < d->m; i++) {
    for (int64_t c = 0; c < width; c++) {
      z sum = -value_at(b, (const int64_t[]){i, c});
      for (int64_t j = 0; j < d->n; j++) sum += element(d, system, i, j) * value_at(x, (const int64_t[]){j, c});
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  }
  CHECK_NEAR(worst, 0, tol);
}

static void check_systems(damo_factor *f, const dense *d, damo_dtype dtype) {
  damo_ctx *ctx = ((damo_obj *)f)->ctx;
  const int64_t wide[2] = {d->n, 70};
  const damo_dtype rights[] = {DAMO_FLOAT64, DAMO_COMPLEX128, DAMO_FLOAT32, DAMO_INT32};
  for (int system = FACTOR_A; system <= FACTOR_H; system++) {
    for (int r = 0; r < 4; r++) {
      damo_array *b = random_array(ctx, rights[r], r == 0 ? 2 : 1, wide);
      damo_array *x = factor_solve(f, (factor_system)system, b, NULL);
      if (CHECK(x)) {
        const damo_dtype expected = dtype_promote(dtype, dtype_to_float(rights[r]));
        CHECK_EQ_I(array_dtype(x), expected);
        check_solution(d, (factor_system)system, x, b, tolerance_of(expected));
        damo_array *again = factor_solve(f, (factor_system)system, b, x);
        CHECK(again == x);
        damo_release(again);
      }
      damo_release(b);
      damo_release(x);
    }
  }
  /* Every other row and column of a larger array, backwards. */
  damo_array *big = random_array(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2 * d->n, 6});
  const int64_t *s = array_strides(big);
  damo_array *view = array_view(big, 2, (const int64_t[]){d->n, 3}, (const int64_t[]){2 * s[0], -2 * s[1]}, 4 * s[1]);
  damo_array *x = factor_solve(f, FACTOR_A, view, NULL);
  if (CHECK(x)) check_solution(d, FACTOR_A, x, view, tolerance_of(dtype));
  damo_release(big);
  damo_release(view);
  damo_release(x);
}

static void check_inverse(damo_factor *f, damo_sparse *a, const dense *inverse, double tol) {
  damo_array *v = factor_inverse_entries(f, a);
  if (!CHECK(v)) return;
  CHECK_EQ_I(array_dtype(v), sparse_dtype(a));
  double worst = 0;
  for (int64_t line = 0; line < sparse_major(a); line++) {
    const int64_t next = line + 1, to = array_get(a->indptr, &next).v.i;
    for (int64_t k = array_get(a->indptr, &line).v.i; k < to; k++) {
      const int64_t other = array_get(a->indices, &k).v.i;
      const int64_t i = sparse_format(a) == DAMO_CSR ? line : other, j = sparse_format(a) == DAMO_CSR ? other : line;
      const double error = cabs(value_at(v, &k) - inverse->at[j][i]);
      if (!(error <= worst)) worst = error;
    }
  }
  CHECK_NEAR(worst, 0, tol);
  damo_release(v);
}

static void check_sparse_right(damo_factor *f, const dense *d, damo_dtype dtype, damo_format format) {
  damo_ctx *ctx = ((damo_obj *)f)->ctx;
  dense *right = calloc(1, sizeof *right);
  right->m = d->n, right->n = 37;
  for (int64_t i = 0; i < right->m; i++)
    for (int64_t j = 0; j < right->n; j++)
      if (uniform() > 0.7 && j != 5) right->at[i][j] = draw_value(dtype);
  damo_sparse *b = matrix_of(ctx, right, dtype, DAMO_INT32, format);
  damo_sparse *x = factor_solve_sparse(f, FACTOR_H, b);
  if (CHECK(x)) {
    const char *why = "";
    CHECK(sparse_check(x, &why));
    CHECK_EQ_I(sparse_format(x), format);
    CHECK_EQ_I(sparse_count_zeros(x), 0);
    damo_array *xd = sparse_to_dense(x), *bd = sparse_to_dense(b);
    check_solution(d, FACTOR_H, xd, bd, tolerance_of(dtype));
    damo_release(xd);
    damo_release(bd);
  }
  damo_release(x);
  damo_release(b);
  free(right);
}

static void test_one(sort kind, damo_dtype dtype, damo_dtype itype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, kind, SIDE - 3, dtype, itype, format);
  dense *d = dense_of(a), *inverse = malloc(sizeof *inverse);
  const z det = invert(d, inverse);
  const double tol = tolerance_of(dtype);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (CHECK(f)) {
    CHECK_EQ_I(factor_get_info(f).positive, kind == POSITIVE);
    CHECK(is_backend(f, kind == POSITIVE ? "cholmod" : "klu", kind == POSITIVE ? "cxsparse" : "umfpack"));
    check_systems(f, d, dtype);
    check_determinant(f, det, 1e-8);
    check_inverse(f, a, inverse, tol);
    check_sparse_right(f, d, dtype, format);
    double rcond = 0;
    CHECK(factor_rcond(f, &rcond) == DAMO_OK);
    const double truth = 1 / norm1(d) / norm1(inverse);
    CHECK(rcond >= truth * 0.999 && rcond <= truth * 4);
  }
  damo_release(f);
  damo_release(a);
  free(d);
  free(inverse);
  close_ctx(ctx);
}

static void test_solving(void) {
  const damo_dtype dtypes[] = {DAMO_FLOAT64, DAMO_COMPLEX128, DAMO_FLOAT32, DAMO_COMPLEX64};
  for (int kind = 0; kind < N_SORTS; kind++)
    for (int d = 0; d < 4; d++)
      for (int w = 0; w < 2; w++)
        for (int format = 0; format < 2; format++)
          test_one((sort)kind, dtypes[d], w ? DAMO_INT64 : DAMO_INT32, format ? DAMO_CSR : DAMO_CSC);
}

/* ---- Reuse ------------------------------------------------------------------------------------------------------- */

static void check_counts(const damo_factor *f, int64_t analyses, int64_t factorizations) {
  CHECK_EQ_I(factor_get_info(f).analyses, analyses);
  CHECK_EQ_I(factor_get_info(f).factorizations, factorizations);
}

static void test_refresh(sort kind, damo_dtype dtype) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, kind, 30, dtype, DAMO_INT32, DAMO_CSR);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  check_counts(f, 1, 1);
  CHECK(factor_refresh(f, a) == DAMO_OK);
  check_counts(f, 1, 1); /* the same values */
  for (int round = 0; round < 5; round++) {
    damo_array *data = array_copy(a->data);
    double *x = (double *)(void *)data->data;
    const int64_t n = array_size(data) * (dtype == DAMO_COMPLEX128 ? 2 : 1);
    for (int64_t k = 0; k < n; k++) x[k] *= 1 + 0.25 * (round + 1); /* stays Hermitian */
    damo_sparse *b = sparse_with_data(a, data);
    dense *d = dense_of(b), *inverse = malloc(sizeof *inverse);
    CHECK(factor_refresh(f, b) == DAMO_OK);
    check_counts(f, 1, round + 2);
    check_systems(f, d, dtype);
    check_determinant(f, invert(d, inverse), 1e-8);
    check_inverse(f, b, inverse, 1e-9);
    free(d);
    free(inverse);
    damo_release(data);
    damo_release(b);
  }
  damo_sparse *other = random_matrix(ctx, kind, 30, dtype, DAMO_INT32, DAMO_CSR);
  dense *d = dense_of(other);
  CHECK(factor_refresh(f, other) == DAMO_OK); /* another pattern */
  check_counts(f, 2, 7);
  check_systems(f, d, dtype);
  free(d);
  damo_release(other);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* A factor has its own copy of the values: later writes into A do not affect it. */
static void test_own_values(void) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, GENERAL, 20, DAMO_FLOAT64, DAMO_INT32, DAMO_CSC);
  dense *d = dense_of(a);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  array_fill(a->data, (scalar){.dtype = DAMO_FLOAT64, .v.f = 7});
  check_systems(f, d, DAMO_FLOAT64);
  free(d);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* Pivots chosen for older values that are bad for the new ones. */
static void test_bad_pivots(void) {
  damo_ctx *ctx = new_ctx();
  dense *d = calloc(1, sizeof *d), *inverse = malloc(sizeof *inverse);
  d->m = d->n = 3;
  const double first[3][3] = {{4, 1, 0}, {1, 3, 1}, {0.5, 1, 5}},
               second[3][3] = {{1e-20, 1, 0}, {1, 3, 1}, {0.5, 1, 5}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) d->at[i][j] = first[i][j];
  damo_sparse *a = matrix_of(ctx, d, DAMO_FLOAT64, DAMO_INT32, DAMO_CSC);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) d->at[i][j] = second[i][j];
  damo_sparse *b = matrix_of(ctx, d, DAMO_FLOAT64, DAMO_INT32, DAMO_CSC);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_GEN);
  CHECK(factor_refresh(f, b) == DAMO_OK);
  check_determinant(f, invert(d, inverse), 1e-12); /* before any solve, which could improve the factors */
  check_inverse(f, b, inverse, 1e-12);
  check_systems(f, d, DAMO_FLOAT64);
  check_counts(f, 1, 2);
  free(inverse);
  free(d);
  damo_release(f);
  damo_release(a);
  damo_release(b);
  close_ctx(ctx);
}

/* ---- Assumptions ------------------------------------------------------------------------------------------------- */

static void test_symmetric_part(damo_dtype dtype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d), *h = malloc(sizeof *h), *inverse = malloc(sizeof *inverse);
  draw(d, POSITIVE, 25, dtype);
  d->at[3][7] += 0.5, d->at[9][2] -= 0.25;
  damo_sparse *a = matrix_of(ctx, d, dtype, DAMO_INT32, format);
  *h = *d;
  for (int64_t i = 0; i < h->n; i++)
    for (int64_t j = 0; j < h->n; j++) h->at[i][j] = (d->at[i][j] + conj(d->at[j][i])) / 2;
  damo_factor *f = factor_new(a, FACTOR_ASSUME_POS);
  if (CHECK(f)) {
    CHECK(factor_get_info(f).positive);
    check_systems(f, h, dtype);
    check_determinant(f, invert(h, inverse), 1e-8);
    check_inverse(f, a, inverse, 1e-10);
    CHECK(factor_refresh(f, a) == DAMO_OK);
    check_counts(f, 1, 1);
  }
  damo_release(f);
  f = factor_new(a, FACTOR_ASSUME_NONE);
  CHECK(f && !factor_get_info(f).positive);
  check_systems(f, d, dtype);
  damo_release(f);
  damo_release(a);
  free(d);
  free(h);
  free(inverse);
  close_ctx(ctx);
}

/* Positive diagonal, but indefinite. */
static void test_indefinite(damo_dtype dtype) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d);
  draw(d, POSITIVE, 12, dtype);
  d->at[4][8] = d->at[8][4] = 100;
  damo_sparse *a = matrix_of(ctx, d, dtype, DAMO_INT32, DAMO_CSC);
  CHECK(!factor_new(a, FACTOR_ASSUME_POS));
  check_message(ctx, DAMO_ENUMERIC, "not positive definite: pivot ");
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (CHECK(f)) {
    CHECK(!factor_get_info(f).positive);
    check_systems(f, d, dtype);
    for (int64_t k = 0; k < 12; k++) d->at[k][k] += k == 3;
    damo_sparse *b = matrix_of(ctx, d, dtype, DAMO_INT32, DAMO_CSC);
    CHECK(factor_refresh(f, b) == DAMO_OK);
    check_counts(f, 1, 2); /* Cholesky is not tried again */
    check_systems(f, d, dtype);
    damo_release(b);
  }
  damo_release(f);
  damo_release(a);
  free(d);
  close_ctx(ctx);
}

/* diag(1, 2, −1) and one more column: the error names the third column. */
static void test_indefinite_column(void) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = sparse_eye(ctx, 5, 5, 0, DAMO_FLOAT64, DAMO_CSC);
  ((double *)(void *)a->data->data)[2] = -1;
  CHECK(!factor_new(a, FACTOR_ASSUME_POS));
  check_message(ctx, DAMO_ENUMERIC, "(column 3) is not positive");
  damo_release(a);
  close_ctx(ctx);
}

/* A quasi-definite matrix, as interior-point methods have, goes to LDLᵀ; one for which LDLᵀ fails or is inaccurate, to
 * LU. */
static void test_symmetric(damo_dtype itype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d), *inverse = malloc(sizeof *inverse);
  for (int bad = 0; bad < 3; bad++) {
    draw(d, POSITIVE, 24, DAMO_FLOAT64);
    for (int64_t k = 12; k < 24; k++) d->at[k][k] = -d->at[k][k];
    if (bad == 1) d->at[3][3] = d->at[17][17] = 0, d->at[3][17] = d->at[17][3] = 4;
    if (bad == 2)
      for (int64_t k = 0; k < 24; k++) {
        d->at[k][k] = k % 2 ? -1e-17 : 1e-17;
        d->at[k][k ^ 1] = 4;
      }
    damo_sparse *a = matrix_of(ctx, d, DAMO_FLOAT64, itype, format);
    damo_factor *f = factor_new(a, FACTOR_ASSUME_SYM);
    if (CHECK(f)) {
      if (bad != 1) CHECK_EQ_S(factor_get_info(f).kind, bad ? "lu" : "ldl");
      CHECK(!factor_get_info(f).positive);
      check_systems(f, d, DAMO_FLOAT64);
      check_determinant(f, invert(d, inverse), 1e-8);
      check_inverse(f, a, inverse, 1e-9);
      CHECK(factor_refresh(f, a) == DAMO_OK);
      check_counts(f, 1, 1);
    }
    damo_release(f);
    damo_release(a);
  }
  free(d);
  free(inverse);
  close_ctx(ctx);
}

/* ---- Singular and other bad matrices ----------------------------------------------------------------------------- */

static void test_singular(damo_format format, damo_dtype dtype) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d);
  draw(d, GENERAL, 10, dtype);
  for (int64_t i = 0; i < 10; i++) d->at[i][6] = 0; /* an empty column */
  damo_sparse *a = matrix_of(ctx, d, dtype, DAMO_INT32, format);
  check_singular(a, "(column 7) is 0; rcond is 0");
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  double log_abs, rcond = 1;
  damo_c128 sign;
  CHECK(factor_logdet(f, &log_abs, &sign) == DAMO_OK && log_abs == -INFINITY && sign.re == 0 && sign.im == 0);
  CHECK(factor_rcond(f, &rcond) == DAMO_OK && rcond == 0);
  CHECK(factor_get_info(f).singular);
  d->at[6][6] = 2; /* the same factor works again */
  damo_sparse *b = matrix_of(ctx, d, dtype, DAMO_INT32, format);
  CHECK(factor_refresh(f, b) == DAMO_OK);
  check_systems(f, d, dtype);
  damo_release(f);
  damo_release(a);
  damo_release(b);
  for (int64_t j = 0; j < 10; j++) d->at[3][j] = 0; /* an empty row */
  a = matrix_of(ctx, d, dtype, DAMO_INT32, format);
  check_singular(a, "is 0; rcond is 0");
  damo_release(a);
  free(d);
  close_ctx(ctx);
}

/* No pivot is 0, but A is singular to working precision: 1 on the diagonal, 2 on an off-diagonal. */
static void test_hidden_singular(damo_dtype dtype, int64_t n, bool singular) {
  damo_ctx *ctx = new_ctx();
  dense *d = calloc(1, sizeof *d);
  d->m = d->n = n;
  for (int64_t i = 0; i < n; i++) {
    d->at[i][i] = 1;
    for (int64_t j = i + 1; j < n; j++) d->at[i][j] = -1;
  }
  damo_sparse *a = matrix_of(ctx, d, dtype, DAMO_INT32, DAMO_CSC);
  if (singular) {
    check_singular(a, "below the epsilon of float32");
  } else {
    damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
    CHECK(factor_check(f) == DAMO_OK);
    damo_release(f);
  }
  damo_release(a);
  free(d);
  close_ctx(ctx);
}

static void test_not_finite(void) {
  damo_ctx *ctx = new_ctx();
  for (int format = 0; format < 2; format++) {
    damo_sparse *a = sparse_eye(ctx, 4, 4, 1, DAMO_FLOAT64, format ? DAMO_CSR : DAMO_CSC);
    damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
    ((double *)(void *)a->data->data)[1] = NAN;
    CHECK(factor_refresh(f, a) == DAMO_ENUMERIC);
    check_message(ctx, DAMO_ENUMERIC, "the entry nan at {2, 3}");
    CHECK(factor_check(f) == DAMO_ESTATE);
    check_message(ctx, DAMO_ESTATE, "holds no factor");
    ((double *)(void *)a->data->data)[1] = -INFINITY;
    CHECK(!factor_new(a, FACTOR_ASSUME_POS));
    check_message(ctx, DAMO_ENUMERIC, "the entry -inf at {2, 3}");
    damo_release(f);
    damo_release(a);
  }
  close_ctx(ctx);
}

static void test_shapes(void) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *none = sparse_eye(ctx, 0, 0, 0, DAMO_FLOAT64, DAMO_CSC),
              *a = sparse_eye(ctx, 3, 4, 0, DAMO_FLOAT64, DAMO_CSC);
  CHECK(!factor_new(a, FACTOR_ASSUME_POS));
  check_message(ctx, DAMO_ESHAPE, "(3, 4), expected a square one under assume='pos'");
  damo_factor *f = factor_new(none, FACTOR_ASSUME_NONE);
  damo_array *b = random_array(ctx, DAMO_FLOAT64, 2, (const int64_t[]){0, 3}), *x = factor_solve(f, FACTOR_A, b, NULL);
  CHECK(x && array_shape(x)[0] == 0 && array_shape(x)[1] == 3);
  double log_abs = 1, rcond = 0;
  damo_c128 sign;
  CHECK(factor_logdet(f, &log_abs, &sign) == DAMO_OK && log_abs == 0 && sign.re == 1);
  CHECK(factor_rcond(f, &rcond) == DAMO_OK && rcond == 1);
  damo_array *v = factor_inverse_entries(f, none);
  CHECK(v && array_size(v) == 0);
  damo_array *wrong = random_array(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2});
  CHECK(!factor_solve(f, FACTOR_A, wrong, NULL));
  check_message(ctx, DAMO_ESHAPE, "expected a vector or matrix of 0 rows");
  damo_release(f);
  damo_release(b);
  damo_release(x);
  damo_release(v);
  damo_release(wrong);
  damo_release(none);
  damo_release(a);
  close_ctx(ctx);
}

/* Duplicates, unsorted indices and explicit zeros. */
static void test_untidy(void) {
  damo_ctx *ctx = new_ctx();
  const int64_t rows[] = {2, 0, 1, 0, 2, 1, 0, 2}, cols[] = {0, 0, 1, 0, 2, 0, 2, 1}, shape[2] = {3, 3};
  const double values[] = {1, 2, 3, 4, 5, 6, 7, 0};
  damo_sparse *a = sparse_from_places(ctx, DAMO_CSC, DAMO_FLOAT64, shape, 8, rows, cols, values, DAMO_INT32, true);
  CHECK(!a->unique);
  dense *d = dense_of(a), *inverse = malloc(sizeof *inverse);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  check_systems(f, d, DAMO_FLOAT64);
  check_determinant(f, invert(d, inverse), 1e-12);
  check_inverse(f, a, inverse, 1e-12);
  free(d);
  free(inverse);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* ---- Least squares ----------------------------------------------------------------------------------------------- */

/* The larger error of Aᴴ(b − A x) = 0 and r = b − A x. */
static double normal_error(const dense *d, const damo_array *x, const damo_array *b, const damo_array *r) {
  double worst = 0;
  z rest[SIDE];
  for (int64_t c = 0; c < array_shape(b)[1]; c++) {
    for (int64_t i = 0; i < d->m; i++) {
      rest[i] = value_at(b, (const int64_t[]){i, c});
      for (int64_t j = 0; j < d->n; j++) rest[i] -= d->at[i][j] * value_at(x, (const int64_t[]){j, c});
      const double error = cabs(rest[i] - value_at(r, (const int64_t[]){i, c}));
      if (!(error <= worst)) worst = error;
    }
    for (int64_t j = 0; j < d->n; j++) {
      z sum = 0;
      for (int64_t i = 0; i < d->m; i++) sum += conj(d->at[i][j]) * rest[i];
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  }
  return worst;
}

/* The error of G z = w for G = AᴴA, or A·Aᴴ if `outer`. */
static double gram_error(const dense *d, bool outer, const damo_array *x, const damo_array *w) {
  double worst = 0;
  const int64_t n = outer ? d->m : d->n, inner = outer ? d->n : d->m;
  for (int64_t i = 0; i < n; i++) {
    z sum = -value_at(w, &i);
    for (int64_t j = 0; j < n; j++) {
      z g = 0;
      for (int64_t k = 0; k < inner; k++)
        g += outer ? d->at[i][k] * conj(d->at[j][k]) : conj(d->at[k][i]) * d->at[k][j];
      sum += g * value_at(x, &j);
    }
    if (!(cabs(sum) <= worst)) worst = cabs(sum);
  }
  return worst;
}

/* (AᴴA)⁻¹·w, or (A·Aᴴ)⁻¹·w for a wide A, by the pseudo-inverse and its adjoint. */
static damo_array *gram_solution(damo_factor *f, bool wide, const damo_array *w) {
  damo_array *half = factor_solve(f, wide ? FACTOR_A : FACTOR_H, w, NULL);
  damo_array *out = half ? factor_solve(f, wide ? FACTOR_H : FACTOR_A, half, NULL) : NULL;
  damo_release(half);
  return out;
}

static void test_least(int64_t m, int64_t n, damo_dtype dtype, damo_dtype itype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d);
  draw_rectangle(d, m, n, dtype);
  damo_sparse *a = matrix_of(ctx, d, dtype, itype, format);
  damo_factor *f = factor_new_least_squares(a);
  damo_array *b = random_array(ctx, DAMO_COMPLEX128, 2, (const int64_t[]){m, 35}), *x = NULL, *r = NULL;
  CHECK_EQ_I(factor_rank(f), m < n ? m : n);
  CHECK_EQ_I(factor_get_info(f).minimum_norm, m < n);
  for (int round = 0; round < 2; round++) {
    if (CHECK(factor_lstsq(f, b, &x, &r) == DAMO_OK)) {
      CHECK_NEAR(normal_error(d, x, b, r), 0, 1e-9);
      if (m < n) { /* least norm: x is in Aᴴ's range */
        damo_array *y = factor_solve(f, FACTOR_H, x, NULL);
        double worst = 0;
        for (int64_t j = 0; j < n; j++) {
          z sum = -value_at(x, (const int64_t[]){j, 0});
          for (int64_t i = 0; i < m; i++) sum += conj(d->at[i][j]) * value_at(y, (const int64_t[]){i, 0});
          if (!(cabs(sum) <= worst)) worst = cabs(sum);
        }
        CHECK_NEAR(worst, 0, 1e-9);
        damo_release(y);
      }
      damo_release(x);
      damo_release(r);
    }
    damo_array *w = random_array(ctx, DAMO_FLOAT64, 1, m < n ? &m : &n), *v = gram_solution(f, m < n, w);
    if (CHECK(v)) CHECK_NEAR(gram_error(d, m < n, v, w), 0, 1e-8);
    damo_release(w);
    damo_release(v);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) d->at[i][j] *= 1.5;
    damo_sparse *other = matrix_of(ctx, d, dtype, itype, format);
    CHECK(factor_refresh(f, other) == DAMO_OK);
    check_counts(f, 1, round + 2);
    damo_release(other);
  }
  damo_release(b);
  damo_release(f);
  damo_release(a);
  free(d);
  close_ctx(ctx);
}

/* Rank-deficient: a column that is the sum of two others, a zero column, a repeated column. */
static void test_deficient(int64_t m, int64_t n, damo_dtype dtype, damo_dtype itype) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d);
  draw_rectangle(d, m, n, dtype);
  int64_t rank = m < n ? m : n;
  if (m >= n) {
    for (int64_t i = 0; i < m; i++) d->at[i][2] = d->at[i][0] + d->at[i][5], d->at[i][4] = 0, d->at[i][6] = d->at[i][7];
    rank -= 3;
  } else {
    for (int64_t j = 0; j < n; j++) d->at[2][j] = d->at[0][j] + d->at[5][j], d->at[4][j] = 0;
    rank -= 2;
  }
  damo_sparse *a = matrix_of(ctx, d, dtype, itype, DAMO_CSC);
  damo_factor *f = factor_new_least_squares(a);
  CHECK_EQ_I(factor_rank(f), rank);
  CHECK(!factor_get_info(f).minimum_norm);
  damo_array *b = random_array(ctx, DAMO_FLOAT64, 2, (const int64_t[]){m, 1}), *x = NULL, *r = NULL;
  if (CHECK(factor_lstsq(f, b, &x, &r) == DAMO_OK)) {
    int64_t used = 0;
    for (int64_t j = 0; j < n; j++) used += value_at(x, (const int64_t[]){j, 0}) != 0;
    CHECK(used <= rank);
    CHECK_NEAR(normal_error(d, x, b, r), 0, 1e-9);
  }
  const int64_t analyses = factor_get_info(f).analyses;
  for (int64_t k = 0; k < sparse_nnz(a) * (dtype == DAMO_COMPLEX128 ? 2 : 1); k++)
    ((double *)(void *)a->data->data)[k] *= 3;
  CHECK(factor_refresh(f, a) == DAMO_OK);
  CHECK_EQ_I(factor_get_info(f).analyses, analyses);
  CHECK_EQ_I(factor_rank(f), rank);
  damo_release(x);
  damo_release(r);
  damo_release(b);
  damo_release(f);
  damo_release(a);
  free(d);
  close_ctx(ctx);
}

/* Σ x·ȳ of two matrices of one shape. */
static z inner(const damo_array *x, const damo_array *y) {
  z sum = 0;
  for (int64_t i = 0; i < array_shape(x)[0]; i++) {
    for (int64_t c = 0; c < array_shape(x)[1]; c++) {
      const int64_t at[2] = {i, c};
      sum += value_at(x, at) * conj(value_at(y, at));
    }
  }
  return sum;
}

static double distance(const damo_array *x, const damo_array *y, bool conjugated) {
  double worst = 0;
  for (int64_t i = 0; i < array_shape(x)[0]; i++) {
    for (int64_t c = 0; c < array_shape(x)[1]; c++) {
      const int64_t at[2] = {i, c};
      const double error = cabs(value_at(x, at) - (conjugated ? conj(value_at(y, at)) : value_at(y, at)));
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

/* Sᴴ is the adjoint of S, and Sᵀ c the conjugate of Sᴴ c̄. */
static void check_adjoint(damo_factor *f, const damo_array *b, const damo_array *x, const damo_array *c) {
  const damo_dtype dtype = array_dtype(c);
  damo_array *y = factor_solve(f, FACTOR_H, c, NULL),
             *bar = array_empty(((damo_obj *)f)->ctx, dtype, 2, array_shape(c));
  if (CHECK(y && bar)) {
    CHECK_NEAR(cabs(inner(x, c) - inner(b, y)), 0, 1e-9);
    for (int64_t k = 0; k < array_size(c); k++) {
      const z v = conj(((const z *)(const void *)c->data)[k]);
      ((z *)(void *)bar->data)[k] = v;
    }
    damo_array *turned = factor_solve(f, FACTOR_T, bar, NULL);
    if (CHECK(turned)) CHECK_NEAR(distance(turned, y, true), 0, 1e-10);
    damo_release(turned);
  }
  damo_release(y);
  damo_release(bar);
}

/* A factor of a rectangular matrix solves the least-squares problem. */
static void test_rectangular(int64_t m, int64_t n, damo_dtype dtype, damo_dtype itype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  dense *d = malloc(sizeof *d);
  draw_rectangle(d, m, n, dtype);
  damo_sparse *a = matrix_of(ctx, d, dtype, itype, format), *square = sparse_eye(ctx, m, m, 0, dtype, format);
  damo_factor *f = factor_new(square, FACTOR_ASSUME_NONE);
  damo_array *b = random_array(ctx, DAMO_COMPLEX128, 2, (const int64_t[]){m, 35}), *x = NULL, *r = NULL;
  damo_array *c = random_array(ctx, DAMO_COMPLEX128, 2, (const int64_t[]){n, 35});
  for (int round = 0; round < 2; round++) { /* the same factor is used for a square matrix in between */
    double log_abs;
    damo_c128 sign;
    CHECK(factor_refresh(f, a) == DAMO_OK);
    const factor_info info = factor_get_info(f);
    CHECK(info.rectangular && !info.least_squares && strcmp(info.kind, "qr") == 0);
    damo_array *y = factor_solve(f, FACTOR_A, b, NULL), *left = random_array(ctx, DAMO_COMPLEX128, 2, array_shape(b));
    if (CHECK(y && factor_lstsq(f, b, &x, &r) == DAMO_OK)) {
      CHECK_NEAR(distance(x, y, false), 0, 1e-10);
      CHECK(factor_gap(f, FACTOR_A, y, b, left) == DAMO_OK);
      for (int64_t k = 0; k < array_size(r); k++) ((z *)(void *)r->data)[k] *= -1;
      CHECK_NEAR(distance(left, r, false), 0, 1e-10);
      check_adjoint(f, b, y, c);
      damo_release(x);
      damo_release(r);
    }
    CHECK(factor_logdet(f, &log_abs, &sign) == DAMO_ESHAPE);
    check_message(ctx, DAMO_ESHAPE, "expected a square one for a determinant");
    CHECK(!factor_solve(f, FACTOR_T, b, NULL));
    check_message(ctx, DAMO_ESHAPE, "expected a vector or matrix of");
    damo_release(y);
    damo_release(left);
    CHECK(factor_refresh(f, square) == DAMO_OK);
    CHECK(factor_logdet(f, &log_abs, &sign) == DAMO_OK && log_abs == 0);
  }
  damo_release(b);
  damo_release(c);
  damo_release(f);
  damo_release(a);
  damo_release(square);
  free(d);
  close_ctx(ctx);
}

static void test_least_squares(void) {
  const damo_dtype dtypes[] = {DAMO_FLOAT64, DAMO_COMPLEX128};
  for (int d = 0; d < 2; d++) {
    for (int w = 0; w < 2; w++) {
      const damo_dtype itype = w ? DAMO_INT64 : DAMO_INT32;
      for (int format = 0; format < 2; format++) {
        test_least(30, 12, dtypes[d], itype, format ? DAMO_CSR : DAMO_CSC);
        test_least(12, 30, dtypes[d], itype, format ? DAMO_CSR : DAMO_CSC);
        test_least(9, 9, dtypes[d], itype, format ? DAMO_CSR : DAMO_CSC);
        test_rectangular(30, 12, dtypes[d], itype, format ? DAMO_CSR : DAMO_CSC);
        test_rectangular(12, 30, dtypes[d], itype, format ? DAMO_CSR : DAMO_CSC);
      }
      test_deficient(30, 12, dtypes[d], itype);
      test_deficient(12, 30, dtypes[d], itype);
      test_deficient(12, 12, dtypes[d], itype);
    }
  }
}

/* Matrices without rows or columns, and a matrix of zeros. */
static void test_least_empty(void) {
  damo_ctx *ctx = new_ctx();
  const int64_t shapes[3][2] = {{0, 3}, {4, 0}, {4, 3}};
  for (int k = 0; k < 3; k++) {
    damo_sparse *a = sparse_from_places(ctx, DAMO_CSC, DAMO_FLOAT64, shapes[k], 0, NULL, NULL, NULL, DAMO_INT32, false);
    damo_factor *f = factor_new_least_squares(a);
    damo_array *b = random_array(ctx, DAMO_FLOAT64, 1, shapes[k]), *x = NULL, *r = NULL;
    CHECK_EQ_I(factor_rank(f), 0);
    if (CHECK(factor_lstsq(f, b, &x, &r) == DAMO_OK)) {
      CHECK_EQ_I(array_size(x), shapes[k][1]);
      for (int64_t j = 0; j < shapes[k][1]; j++) CHECK(value_at(x, &j) == 0);
      CHECK(array_equal(r, b, false));
    }
    damo_release(x);
    damo_release(r);
    damo_release(b);
    damo_release(f);
    damo_release(a);
  }
  close_ctx(ctx);
}

int main(void) {
  test_solving();
  for (int kind = 0; kind < N_SORTS; kind++) {
    test_refresh((sort)kind, DAMO_FLOAT64);
    test_refresh((sort)kind, DAMO_COMPLEX128);
  }
  test_own_values();
  test_bad_pivots();
  for (int format = 0; format < 2; format++) {
    const damo_format form = format ? DAMO_CSR : DAMO_CSC;
    test_symmetric_part(DAMO_FLOAT64, form);
    test_symmetric_part(DAMO_COMPLEX128, form);
    test_symmetric(format ? DAMO_INT64 : DAMO_INT32, form);
    test_singular(form, DAMO_FLOAT64);
    test_singular(form, DAMO_COMPLEX128);
  }
  test_indefinite(DAMO_FLOAT64);
  test_indefinite(DAMO_COMPLEX128);
  test_indefinite_column();
  test_hidden_singular(DAMO_FLOAT32, 30, true);
  test_hidden_singular(DAMO_FLOAT64, 30, false);
  test_not_finite();
  test_shapes();
  test_untidy();
  test_least_squares();
  test_least_empty();
  TEST_MAIN_END;
}
