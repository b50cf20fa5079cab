/* factor_wide_test: int64 indices for factors with more entries than int32 can count. The test uses a back end of its
 * own that reports such counts: a real one would need 16 gigabytes first. */
#include "factor_case.h"

#include "sparse/factor/factor_int.h"

static int refusals;

static damo_status too_large(damo_factor *f) {
  refusals++;
  return factor_fail_size(f);
}

static void check_solves(damo_factor *f, damo_sparse *a) {
  damo_array *b = random_array(((damo_obj *)f)->ctx, DAMO_FLOAT64, 1, a->shape),
             *x = factor_solve(f, FACTOR_A, b, NULL);
  damo_array *y = x ? sparse_dot_dense(a, false, NULL, x, NULL) : NULL;
  if (CHECK(y))
    for (int64_t k = 0; k < array_size(b); k++) CHECK_NEAR(cabs(value_at(y, &k) - value_at(b, &k)), 0, 1e-9);
  damo_release(b);
  damo_release(x);
  damo_release(y);
}

static void scale(damo_sparse *a, double by) {
  const int64_t n = sparse_nnz(a) * (sparse_dtype(a) == DAMO_COMPLEX128 ? 2 : 1);
  for (int64_t k = 0; k < n; k++) ((double *)(void *)a->data->data)[k] *= by;
}

static void test_retry(sort kind, damo_dtype dtype, damo_format format) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, kind, 30, dtype, DAMO_INT32, format);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  factor_backend fake = *f->backend;
  const char *name = fake.name;
  fake.factorize = too_large;
  f->backend = &fake;
  refusals = 0;
  CHECK(!f->m.wide);
  scale(a, 2);
  CHECK(factor_refresh(f, a) == DAMO_OK);
  CHECK_EQ_I(refusals, 1);
  CHECK(f->m.wide && f->backend != &fake);
  CHECK_EQ_S(factor_get_info(f).backend, name);
  CHECK_EQ_I(factor_get_info(f).analyses, 2);
  check_solves(f, a);
  scale(a, 3); /* the new analysis is kept */
  CHECK(factor_refresh(f, a) == DAMO_OK);
  CHECK_EQ_I(factor_get_info(f).analyses, 2);
  check_solves(f, a);
  CHECK(factor_refresh(f, a) == DAMO_OK);
  CHECK_EQ_I(factor_get_info(f).factorizations, 4);
  damo_sparse *other = random_matrix(ctx, kind, 25, dtype, DAMO_INT32, format);
  CHECK(factor_refresh(f, other) == DAMO_OK);
  check_solves(f, other);
  damo_release(other);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

/* More entries than int64 can count are an error. */
static void test_refusal(void) {
  damo_ctx *ctx = new_ctx();
  damo_sparse *a = random_matrix(ctx, GENERAL, 30, DAMO_FLOAT64, DAMO_INT64, DAMO_CSC);
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  factor_backend fake = *f->backend;
  fake.factorize = too_large;
  f->backend = &fake;
  refusals = 0;
  scale(a, 2);
  CHECK(factor_refresh(f, a) == DAMO_EMEMORY);
  check_message(ctx, DAMO_EMEMORY, "the factors have more entries than int64 indices can count");
  CHECK_EQ_I(refusals, 1);
  CHECK(factor_refresh(f, a) == DAMO_OK);
  check_solves(f, a);
  damo_release(f);
  damo_release(a);
  close_ctx(ctx);
}

int main(void) {
  for (int format = 0; format < 2; format++) {
    for (int kind = 0; kind < N_SORTS; kind++) {
      test_retry((sort)kind, DAMO_FLOAT64, format ? DAMO_CSR : DAMO_CSC);
      test_retry((sort)kind, DAMO_COMPLEX128, format ? DAMO_CSR : DAMO_CSC);
    }
  }
  test_refusal();
  TEST_MAIN_END;
}
