/* sparse_make_test: matrices from entries, diagonals, random draws and the public API; refused arguments; shared parts;
 * comparison and printing; huge dimensions; failing allocations. */
#include "sparse_case.h"

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static damo_array *ints(damo_ctx *ctx, damo_dtype dtype, int64_t n, const int64_t *at) {
  damo_array *a = damo_array_from(ctx, DAMO_INT64, 1, &n, at), *b = array_cast(a, dtype);
  damo_release(a);
  return b;
}

static damo_array *floats(damo_ctx *ctx, int64_t n, const double *at) {
  return damo_array_from(ctx, DAMO_FLOAT64, 1, &n, at);
}

static void test_coo(damo_ctx *ctx) {
  const int64_t rows[] = {3, 1, 3, 1}, cols[] = {1, 2, 1, 4};
  const double values[] = {1, 2, 10, 4};
  damo_array *r = ints(ctx, DAMO_INT8, 4, rows), *c = ints(ctx, DAMO_UINT64, 4, cols), *v = floats(ctx, 4, values);
  for (int format = 0; format < 2; format++) {
    damo_sparse *a = sparse_from_coo(ctx, (damo_format)format, NULL, r, c, v, DAMO_INT32);
    if (!CHECK(a != NULL)) continue;
    CHECK(a->shape[0] == 3 && a->shape[1] == 4 && sparse_nnz(a) == 3 && sparse_is_canonical(a));
    damo_array *d = sparse_to_dense(a);
    CHECK_NEAR(value_at(d, (const int64_t[]){2, 0}).re, 11, 0);
    CHECK_NEAR(value_at(d, (const int64_t[]){0, 3}).re, 4, 0);
    damo_release(d);
    damo_release(a);
  }
  CHECK(sparse_from_coo(ctx, DAMO_CSR, (const int64_t[]){3, 3}, r, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EINDEX);
  CHECK_EQ_S(ctx->error.message, "coo: entry 4 of cols is 4, expected 1 to 3");
  damo_release(r);
  r = ints(ctx, DAMO_INT64, 4, (const int64_t[]){1, 0, 2, 1});
  CHECK(sparse_from_coo(ctx, DAMO_CSC, NULL, r, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_S(ctx->error.message, "coo: entry 2 of rows is 0, expected 1 or more");
  CHECK(sparse_from_coo(ctx, DAMO_CSC, NULL, v, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_ETYPE);
  damo_release(r);
  damo_release(c);
  damo_release(v);
}

static void test_eye_diags(damo_ctx *ctx) {
  for (int64_t k = -5; k <= 6; k++) {
    damo_sparse *a = sparse_eye(ctx, 4, 5, k, DAMO_INT16, DAMO_CSC);
    ref *want = calloc(1, sizeof *want);
    want->m = 4, want->n = 5;
    for (int64_t i = 0; i < 4; i++)
      if (i + k >= 0 && i + k < 5) want->at[i][i + k].re = 1;
    CHECK_IS(a, want);
    free(want);
  }
  damo_array *main = floats(ctx, 3, (const double[]){1, 0, 3}), *up = floats(ctx, 1, (const double[]){7});
  const damo_array *const list[] = {main, up};
  damo_sparse *a = sparse_diags(ctx, 2, list, (const int64_t[]){0, 1}, NULL, DAMO_FLOAT64, DAMO_CSR);
  if (CHECK(a && a->shape[0] == 3 && a->shape[1] == 3)) {
    CHECK_EQ_I(sparse_nnz(a), 4);
    damo_array *d = sparse_to_dense(a);
    CHECK_NEAR(value_at(d, (const int64_t[]){1, 2}).re, 7, 0);
    CHECK_NEAR(value_at(d, (const int64_t[]){2, 2}).re, 3, 0);
    damo_release(d);
  }
  damo_release(a);
  CHECK(!sparse_diags(ctx, 2, list, (const int64_t[]){1, 1}, NULL, DAMO_FLOAT64, DAMO_CSR));
  CHECK_EQ_S(ctx->error.message, "diags: offset 1 is given twice");
  CHECK(!sparse_diags(ctx, 1, list, (const int64_t[]){0}, (const int64_t[]){4, 5}, DAMO_FLOAT64, DAMO_CSR));
  CHECK_EQ_S(ctx->error.message, "diags: diagonal 1 has 3 entries, expected 4 (offset 0, shape (4, 5))");
  CHECK(!sparse_diags(ctx, 0, NULL, NULL, NULL, DAMO_FLOAT64, DAMO_CSR));
  damo_release(main);
  damo_release(up);
}

static void test_random(damo_ctx *ctx) {
  static const double densities[] = {0, 0.01, 0.1, 0.3, 0.9, 1};
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    for (size_t i = 0; i < sizeof densities / sizeof *densities; i++) {
      philox_state s = philox_seed(7), t = philox_seed(7);
      damo_sparse *a = sparse_random(ctx, 30, 41, densities[i], (damo_dtype)dtype, DAMO_CSC, &s);
      damo_sparse *b = sparse_random(ctx, 30, 41, densities[i], (damo_dtype)dtype, DAMO_CSC, &t);
      bool same = false;
      if (CHECK(a && b)) {
        CHECK_EQ_I(sparse_nnz(a), (int64_t)nearbyint(30 * 41 * densities[i]));
        CHECK(sparse_is_canonical(a) && sparse_check(a, NULL));
        CHECK_EQ_I(sparse_equal(a, b, false, &same), DAMO_OK);
        CHECK(same);
      }
      damo_release(a);
      damo_release(b);
    }
  }
  philox_state s = philox_seed(1);
  damo_sparse *a = sparse_random(ctx, 1000, 1000, 0.05, DAMO_FLOAT64, DAMO_CSR, &s);
  damo_array *sum = sparse_sum(a, -1);
  CHECK_NEAR(array_item(sum).v.f, 25000, 500);
  damo_release(sum);
  damo_release(a);
  CHECK(!sparse_random(ctx, 3, 3, 1.5, DAMO_FLOAT64, DAMO_CSR, &s));
  CHECK(!sparse_random(ctx, INT64_C(1) << 40, INT64_C(1) << 40, 1e-20, DAMO_FLOAT64, DAMO_CSR, &s));
}

/* ---- Refused arguments ------------------------------------------------------------------------------------------- */

static void expect_refused(damo_ctx *ctx, damo_format format, int64_t n_ptr, const int64_t *ptr, int64_t n,
                           const int64_t *idx, int64_t n_data, const char *message) {
  const double zeros[8] = {0};
  for (int narrow = 0; narrow < 2; narrow++) {
    damo_array *p = ints(ctx, narrow ? DAMO_INT32 : DAMO_INT64, n_ptr, ptr);
    damo_array *i = ints(ctx, narrow ? DAMO_INT32 : DAMO_INT64, n, idx), *d = floats(ctx, n_data, zeros);
    damo_sparse *a = sparse_from_parts(ctx, format, (const int64_t[]){3, 4}, d, i, p, DAMO_INT32);
    CHECK(a == NULL);
    CHECK_EQ_S(ctx->error.message, message);
    damo_release(p);
    damo_release(i);
    damo_release(d);
  }
}

static void test_refused(damo_ctx *ctx) {
  const int64_t idx[] = {0, 3, 1, 2};
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){1, 2, 3, 4}, 4, idx, 4, "csr: indptr begins with 1, expected 0");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 3, 2, 4}, 4, idx, 4,
                 "csr: entry 3 of indptr is 2, less than the entry before it");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 3}, 4, idx, 4,
                 "csr: indptr ends with 3, expected the 4 entries of indices");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1000000, 1000000, 4}, 4, idx, 4,
                 "csr: entry 4 of indptr is 4, less than the entry before it");
  expect_refused(ctx, DAMO_CSR, 5, (const int64_t[]){0, 1, 2, 3, 4}, 4, idx, 4,
                 "csr: indptr has 5 entries, expected 4: one more than the 3 rows");
  expect_refused(ctx, DAMO_CSC, 5, (const int64_t[]){0, 1, 2, 3, 4}, 4, idx, 4,
                 "csc: entry 2 of indices is 3, expected at least 0 and less than the 3 rows");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 4}, 4, (const int64_t[]){0, 1, -1, 2}, 4,
                 "csr: entry 3 of indices is -1, expected at least 0 and less than the 4 columns");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 4}, 4, idx, 3,
                 "csr: data has 3 entries and indices 4, expected as many");
  damo_array *d = floats(ctx, 4, (const double[]){1, 2, 3, 4});
  CHECK(!sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){3, 4}, d, d, d, DAMO_INT32));
  CHECK_EQ_S(ctx->error.message, "csr: indices is float64, expected an integer dtype");
  CHECK(!sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){-3, 4}, d, d, d, DAMO_INT32));
  CHECK_EQ_I(ctx->error.status, DAMO_ESHAPE);
  CHECK(!sparse_from_dense(d, DAMO_CSR, DAMO_INT32));
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 3, 5, CANONICAL);
  CHECK(!sparse_dot_dense(a, false, NULL, d, NULL));
  CHECK_EQ_S(ctx->error.message,
             "dot: shapes (3, 5) and (4,) do not agree: axis 2 of the first is 5, axis 1 of the second is 4");
  CHECK(!sparse_dot_sparse(a, a));
  damo_sparse *t = sparse_transpose(a);
  CHECK(!sparse_merge(SPARSE_ADD, a, t));
  CHECK_EQ_S(ctx->error.message, "add: shapes (3, 5) and (5, 3) are not equal");
  CHECK(!sparse_scale(a, 0, d));
  damo_array *list = ints(ctx, DAMO_INT64, 2, (const int64_t[]){0, 3});
  CHECK(!sparse_take(a, 0, list));
  CHECK_EQ_S(ctx->error.message, "get_item_list: entry 2 asks for row 4 of 3");
  damo_release(list);
  damo_release(t);
  damo_release(a);
  damo_release(d);
}

/* ---- Sharing ----------------------------------------------------------------------------------------------------- */

static void test_sharing(damo_ctx *ctx) {
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 5, 6, CANONICAL);
  damo_sparse *t = sparse_transpose(a);
  CHECK(t->data == a->data && t->indices == a->indices && t->indptr == a->indptr);
  CHECK(!a->indices->writeable && !a->indptr->writeable && a->data->writeable);
  damo_array *view = array_view(a->indices, 1, array_shape(a->indices), array_strides(a->indices), 0);
  CHECK(!view->writeable);
  const scalar one = {.dtype = DAMO_INT64, .v.i = 1};
  CHECK_EQ_I(array_fill(view, one), DAMO_ESTATE);
  damo_sparse *b = sparse_from_parts(ctx, DAMO_CSR, a->shape, a->data, view, a->indptr, DAMO_INT32);
  CHECK(b && b->indices == view && b->data == a->data); /* parts of a matrix are shared */
  damo_release(b);
  damo_release(view);
  damo_array *own = array_copy(a->indices);
  b = sparse_from_parts(ctx, DAMO_CSR, a->shape, a->data, own, a->indptr, DAMO_INT32);
  CHECK(b && b->indices->data != own->data); /* a writable array is copied */
  damo_release(own);
  damo_release(b);
  damo_release(t);
  damo_release(a);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void test_comparing(damo_ctx *ctx) {
  damo_array *d = floats(ctx, 4, (const double[]){1, NAN, 0, 2}),
             *e = floats(ctx, 4, (const double[]){1, NAN, 0, 2.001});
  damo_array *i = ints(ctx, DAMO_INT32, 4, (const int64_t[]){0, 1, 2, 2}),
             *p = ints(ctx, DAMO_INT32, 3, (const int64_t[]){0, 3, 4});
  damo_sparse *a = sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){2, 3}, d, i, p, DAMO_INT32);
  damo_sparse *b = sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){2, 3}, e, i, p, DAMO_INT64);
  damo_sparse *c = sparse_drop_zeros(a);
  bool same = true;
  CHECK(sparse_equal(a, a, false, &same) == DAMO_OK && !same);
  CHECK(sparse_equal(a, a, true, &same) == DAMO_OK && same);
  CHECK(sparse_equal(a, c, true, &same) == DAMO_OK && same);
  CHECK(sparse_same_pattern(a, c, &same) == DAMO_OK && !same);
  CHECK(sparse_equal(a, b, true, &same) == DAMO_OK && !same);
  CHECK(sparse_allclose(a, b, 1e-2, 0, true, &same) == DAMO_OK && same);
  CHECK(sparse_allclose(a, b, 1e-5, 0, true, &same) == DAMO_OK && !same);
  CHECK(sparse_allclose(a, b, 1e-2, 0, false, &same) == DAMO_OK && !same);
  /* inf times an absent entry is nan, and stored, as SciPy has it. */
  damo_array *f = floats(ctx, 4, (const double[]){INFINITY, 1, 1, 1});
  damo_sparse *g = sparse_with_data(a, f), *none = make(ctx, DAMO_CSC, DAMO_FLOAT64, DAMO_INT32, 2, 3, EMPTY);
  damo_sparse *m = sparse_merge(SPARSE_MUL, g, none);
  CHECK(m && sparse_nnz(m) == 1 && isnan(((double *)(void *)m->data->data)[0]));
  damo_release(m);
  damo_release(g);
  damo_release(none);
  damo_release(f);
  damo_release(a);
  damo_release(b);
  damo_release(c);
  damo_release(d);
  damo_release(e);
  damo_release(i);
  damo_release(p);
}

static void test_printing(damo_ctx *ctx) {
  strbuf b;
  strbuf_init(&b, ctx);
  damo_sparse *a = sparse_eye(ctx, 3, 4, 1, DAMO_FLOAT64, DAMO_CSR);
  sparse_print(&b, a);
  CHECK_EQ_S(b.at, "<csr float64 (3, 4), 3 stored>\n  (1, 2)  1.0\n  (2, 3)  1.0\n  (3, 4)  1.0");
  strbuf_clear(&b);
  damo_release(a);
  strbuf_init(&b, ctx);
  a = sparse_eye(ctx, 100, 100, 0, DAMO_INT32, DAMO_CSC);
  sparse_print(&b, a);
  CHECK(strstr(b.at, "<csc int32 (100, 100), 100 stored>\n  (1, 1)      1\n") != NULL);
  CHECK(strstr(b.at, "  (10, 10)    1\n  ...\n  (91, 91)    1\n") != NULL);
  strbuf_clear(&b);
  damo_release(a);
  strbuf_init(&b, ctx);
  a = sparse_eye(ctx, 0, 7, 0, DAMO_COMPLEX64, DAMO_CSC);
  sparse_print(&b, a);
  CHECK_EQ_S(b.at, "<csc complex64 (0, 7), 0 stored>");
  strbuf_clear(&b);
  damo_release(a);
}

/* Few entries in 2^33 columns: no workspace is as large as the dimension. */
static void test_huge(damo_ctx *ctx) {
  const int64_t wide = INT64_C(1) << 33, shape[2] = {3, wide};
  const int64_t rows[] = {1, 3, 3}, cols[] = {wide, 5, wide - 1};
  damo_array *r = ints(ctx, DAMO_INT64, 3, rows), *c = ints(ctx, DAMO_INT64, 3, cols);
  damo_array *v = floats(ctx, 3, (const double[]){1, 2, 3});
  damo_sparse *a = sparse_from_coo(ctx, DAMO_CSR, shape, r, c, v, DAMO_INT32);
  damo_sparse *t = a ? sparse_transpose(a) : NULL;
  if (CHECK(a && sparse_itype(a) == DAMO_INT64 && sparse_check(a, NULL))) {
    const size_t before = ctx->peak = ctx->bytes;
    damo_sparse *sum = sparse_merge(SPARSE_ADD, a, a);
    CHECK(sum && sparse_nnz(sum) == 3 && sparse_check(sum, NULL));
    damo_sparse *b = sparse_from_coo(ctx, DAMO_CSR, shape, r, c, v, DAMO_INT32);
    damo_sparse *small = sparse_eye(ctx, 3, 3, 0, DAMO_FLOAT64, DAMO_CSR);
    damo_sparse *prod = sparse_dot_sparse(small, b);
    bool same = false;
    CHECK(prod && sparse_check(prod, NULL) && sparse_equal(prod, b, false, &same) == DAMO_OK && same);
    damo_array *s = sparse_sum(a, 1), *all = sparse_sum(a, -1);
    CHECK(s && value_at(s, (const int64_t[]){2}).re == 5);
    CHECK(all && array_item(all).v.f == 6);
    damo_array *list = ints(ctx, DAMO_INT64, 2, (const int64_t[]){2, 0});
    damo_sparse *taken = sparse_take(a, 0, list);
    CHECK(taken && sparse_nnz(taken) == 3);
    CHECK(sparse_to_itype(a, DAMO_INT32) == NULL);
    CHECK(ctx->peak < before + 100000);
    damo_release(taken);
    damo_release(list);
    damo_release(all);
    damo_release(s);
    damo_release(prod);
    damo_release(small);
    damo_release(b);
    damo_release(sum);
  }
  damo_release(t);
  damo_release(a);
  damo_release(r);
  damo_release(c);
  damo_release(v);
}

/* So dense that the product's entries are counted before memory is allocated for them. */
static void test_full_product(damo_ctx *ctx) {
  damo_array *d = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){40, 40});
  const scalar one = {.dtype = DAMO_FLOAT64, .v.f = 1};
  array_fill(d, one);
  for (int wide = 0; wide < 2; wide++) {
    damo_sparse *a = sparse_from_dense(d, DAMO_CSC, wide ? DAMO_INT64 : DAMO_INT32), *b = sparse_dot_sparse(a, a);
    if (CHECK(b && sparse_nnz(b) == 1600 && sparse_check(b, NULL))) {
      bool ok = true;
      for (int64_t p = 0; p < 1600; p++) ok = ok && value_at(b->data, &p).re == 40;
      CHECK(ok);
    }
    damo_release(a);
    damo_release(b);
  }
  damo_release(d);
}

static void test_public(damo_ctx *ctx) {
  const int64_t ptr[] = {0, 2, 3}, idx[] = {0, 2, 1};
  const double data[] = {1, 2, 3};
  damo_sparse *a = damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 3, 3, ptr, idx, data);
  if (CHECK(a != NULL)) {
    CHECK(damo_sparse_nnz(a) == 3 && damo_sparse_shape(a)[1] == 3 && damo_sparse_format(a) == DAMO_CSR);
    damo_array *d = damo_sparse_toarray(a);
    damo_sparse *b = damo_sparse_from_array(d, DAMO_CSC);
    const int64_t row[] = {0, 0, 1}, col[] = {0, 2, 1};
    damo_sparse *c = damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 2, 3, 3, row, col, data);
    bool same = false;
    CHECK(b && c && sparse_equal(b, c, false, &same) == DAMO_OK && same);
    CHECK(!damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 2, 2, 3, row, col, data));
    damo_release(b);
    damo_release(c);
    damo_release(d);
  }
  damo_release(a);
}

/* ---- Failing allocations ----------------------------------------------------------------------------------------- */

typedef struct operands {
  damo_sparse *a, *b;
  damo_array *x;
} operands;

/* True if everything passed. */
static bool run_program(damo_ctx *ctx, const void *data) {
  const operands *in = data;
  damo_sparse *a = in->a, *b = in->b;
  damo_array *x = in->x;
  void *made[24];
  int n = 0;
  bool same, ok = true;
#define TRY(expr) \
  if (ok && !(made[n++] = (expr))) ok = false
  philox_state s = philox_seed(3);
  TRY(sparse_to_format(a, DAMO_CSC));
  TRY(sparse_sum_duplicates(a));
  TRY(sparse_drop_zeros(a));
  TRY(sparse_to_itype(a, DAMO_INT64));
  TRY(sparse_copy(a));
  TRY(sparse_to_dense(a));
  TRY(sparse_dot_dense(a, false, NULL, x, NULL));
  TRY(sparse_dot_dense(a, true, NULL, x, NULL));
  TRY(sparse_dot_sparse(a, b));
  TRY(sparse_merge(SPARSE_SUB, a, b));
  TRY(sparse_scale(a, 0, x));
  TRY(sparse_sum(a, 0));
  TRY(sparse_sum(a, -1));
  TRY(sparse_random(ctx, 6, 6, 0.2, DAMO_FLOAT64, DAMO_CSR, &s));
  TRY(sparse_eye(ctx, 6, 6, 1, DAMO_FLOAT64, DAMO_CSR));
  TRY(sparse_from_parts(ctx, DAMO_CSC, b->shape, b->data, b->indices, b->indptr, DAMO_INT64));
  TRY(sparse_cast(a, DAMO_COMPLEX64));
#undef TRY
  if (ok) ok = sparse_equal(a, b, true, &same) == DAMO_OK && sparse_allclose(a, b, 0, 0, true, &same) == DAMO_OK;
  while (n > 0) damo_release(made[--n]);
  return ok;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 6, 6, MESSY);
  damo_sparse *b = make(ctx, DAMO_CSC, DAMO_FLOAT32, DAMO_INT32, 6, 6, MESSY);
  damo_array *x = dense_numbers(ctx, DAMO_FLOAT64, 1, 6, 0);
  check_failing_allocations(ctx, run_program, &(operands){a, b, x}, 50);
  damo_release(x);
  damo_release(a);
  damo_release(b);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_coo(ctx);
  test_eye_diags(ctx);
  test_random(ctx);
  test_refused(ctx);
  test_sharing(ctx);
  test_comparing(ctx);
  test_printing(ctx);
  test_huge(ctx);
  test_full_product(ctx);
  test_public(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
