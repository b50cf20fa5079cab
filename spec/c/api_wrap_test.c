/* api_wrap_test: arrays over the host's memory, sparse matrices from parts, and files, through damo.h only. */
#include <stdlib.h>

#include "damo.h"
#include "test.h"

static damo_ctx *ctx;
static int released; /* calls of count_release */

static void count_release(void *user) {
  CHECK(user == &released);
  released++;
}

static bool fails_with(bool failed, damo_status status, const char *words) {
  const bool ok = CHECK(failed && damo_error_status(ctx) == status && strstr(damo_error_message(ctx), words) != NULL);
  if (!ok) fprintf(stderr, "    %s: %s\n", damo_error_kind(ctx), damo_error_message(ctx));
  return ok;
}

/* ---- Arrays over the host's memory ------------------------------------------------------------------------------- */

static damo_array *wrap(const int64_t *shape, const int64_t *strides, void *data, bool writeable) {
  return damo_array_wrap(ctx, DAMO_FLOAT64, 2, shape, strides, data, writeable, count_release, &released);
}

/* f(x) = 2 x for a matrix. */
static damo_function *doubled(void) {
  damo_type *type = damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  damo_var *x = damo_var_new(ctx, type, "x"), *two = damo_number(ctx, 2);
  damo_var *y = damo_call(ctx, "mul", (damo_var *[]){x, two}, 2);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  damo_release(type);
  damo_release(x);
  damo_release(two);
  damo_release(y);
  return f;
}

/* A call reads what the host has written meanwhile; the memory is released with the last array over it. */
static void test_wrap(void) {
  double m[6] = {1, 2, 3, 4, 5, 6};
  damo_array *a = wrap((const int64_t[]){2, 3}, NULL, m, true), *out = NULL;
  CHECK(damo_array_data(a) == m && damo_array_is_writeable(a) && damo_array_strides(a)[0] == 24 && released == 0);
  damo_function *f = doubled();
  m[5] = 60;
  CHECK(damo_function_call(f, &a, 1, &out) == DAMO_OK);
  CHECK(((double *)damo_array_data(out))[5] == 120 && m[5] == 60);
  damo_release(out);
  damo_retain(a);
  damo_release(a);
  CHECK_EQ_I(released, 0);
  damo_release(a);
  CHECK_EQ_I(released, 1);
  /* reversed rows, column-major, and one row for all */
  const struct {
    int64_t strides[2];
    int first;
    double at10, at02;
  } walk[] = {{{-24, 8}, 3, 1, 60}, {{8, 16}, 0, 2, 5}, {{0, 8}, 0, 1, 3}};
  for (int i = 0; i < 3; i++) {
    a = wrap((const int64_t[]){2, 3}, walk[i].strides, m + walk[i].first, i < 2);
    CHECK(damo_array_is_writeable(a) == (i < 2));
    CHECK(damo_function_call(f, &a, 1, &out) == DAMO_OK);
    CHECK_NEAR(((double *)damo_array_data(out))[3], 2 * walk[i].at10, 0);
    CHECK_NEAR(((double *)damo_array_data(out))[2], 2 * walk[i].at02, 0);
    damo_release(out);
    damo_release(a);
  }
  CHECK_EQ_I(released, 4);
  a = damo_array_wrap(ctx, DAMO_FLOAT64, 1, (const int64_t[]){0}, NULL, NULL, true, NULL, NULL);
  CHECK(damo_array_size(a) == 0);
  damo_release(a);
  damo_release(f);
}

/* Memory that is refused is released at once. */
static void test_wrap_refused(void) {
  double m[8] = {0};
  const int64_t shape[2] = {2, 3}, huge[2] = {INT64_MAX / 4, 2};
  released = 0;
  fails_with(wrap(shape, NULL, (char *)m + 4, true) == NULL, DAMO_EVALUE, "data is not aligned for float64");
  fails_with(wrap(shape, (const int64_t[]){20, 8}, m, true) == NULL, DAMO_EVALUE, "stride 1 is 20 bytes");
  fails_with(wrap(shape, (const int64_t[]){0, 8}, m, true) == NULL, DAMO_EVALUE, "elements overlap");
  fails_with(wrap(shape, (const int64_t[]){16, 8}, m, true) == NULL, DAMO_EVALUE, "elements overlap");
  fails_with(wrap(shape, (const int64_t[]){INT64_MAX / 8 * 8, 8}, m, false) == NULL, DAMO_EVALUE,
             "further than memory");
  fails_with(wrap(huge, (const int64_t[]){INT64_MIN, 8}, m, false) == NULL, DAMO_EVALUE, "too large");
  fails_with(wrap(shape, NULL, NULL, true) == NULL, DAMO_EVALUE, "data is NULL");
  fails_with(wrap(NULL, NULL, m, true) == NULL, DAMO_EVALUE, "the list of dimensions is NULL");
  CHECK_EQ_I(released, 8);
  /* at 0, 3, 2, 5: the strides interleave, and no two elements overlap */
  damo_release(wrap((const int64_t[]){2, 2}, (const int64_t[]){24, 16}, m, true));
  CHECK_EQ_I(released, 9);
  /* 4-byte alignment is enough for complex64, and one element may have any stride */
  damo_array *a = damo_array_wrap(ctx, DAMO_COMPLEX64, 1, (const int64_t[]){1}, (const int64_t[]){3}, (char *)m + 4,
                                  true, NULL, NULL);
  CHECK(a != NULL);
  damo_release(a);
}

/* A read-only array is never written, whatever options a call has. */
static void test_read_only(void) {
  double m[4] = {1, 2, 3, 4};
  damo_array *a = wrap((const int64_t[]){2, 2}, NULL, m, false);
  damo_obj *args[1] = {(damo_obj *)a}, *into[1] = {(damo_obj *)a};
  damo_function *f = doubled();
  fails_with(damo_function_into(f, args, 1, into) == DAMO_ESTATE, DAMO_ESTATE, "read-only");
  CHECK(m[0] == 1 && m[3] == 4);
  damo_release(f);
  damo_release(a);
}

/* ---- Sparse ------------------------------------------------------------------------------------------------------ */

static void test_parts(void) {
  double values[3] = {5, 6, 7};
  const int32_t indices[3] = {1, 0, 2}, indptr[3] = {0, 1, 3};
  const int64_t n = 3;
  damo_array *data = damo_array_wrap(ctx, DAMO_FLOAT64, 1, &n, NULL, values, true, NULL, NULL);
  damo_array *idx = damo_array_from(ctx, DAMO_INT32, 1, &n, indices);
  damo_array *ptr = damo_array_from(ctx, DAMO_INT32, 1, &n, indptr);
  damo_sparse *m = damo_sparse_from_parts(ctx, DAMO_CSR, 2, 3, data, idx, ptr);
  if (!CHECK(m != NULL)) return;
  values[0] = 50; /* the matrix shares the host's values */
  damo_array *dense = damo_sparse_toarray(m);
  CHECK(((double *)damo_array_data(dense))[1] == 50 && ((double *)damo_array_data(dense))[5] == 7);
  damo_array *ones = damo_array_from(ctx, DAMO_FLOAT32, 1, &n, (const float[]){1, 1, 1});
  damo_sparse *same = damo_sparse_with_data(m, ones);
  CHECK(damo_sparse_dtype(same) == DAMO_FLOAT32 && damo_sparse_get_indices(same) == damo_sparse_get_indices(m));
  damo_array *two = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2});
  fails_with(damo_sparse_with_data(m, two) == NULL, DAMO_ESHAPE, "expected a vector of 3 entries");
  fails_with(damo_sparse_from_parts(ctx, DAMO_CSR, 2, 2, data, idx, ptr) == NULL, DAMO_EINDEX, "entry 3 of indices");
  fails_with(damo_sparse_from_parts(ctx, DAMO_CSC, 2, 3, data, idx, ptr) == NULL, DAMO_EVALUE, "indptr");
  void *all[] = {data, idx, ptr, m, dense, ones, same, two};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static char folder[256];

/* Returns a static buffer. */
static const char *path_of(const char *name) {
  static char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void test_npy_and_npz(void) {
  damo_array *a = damo_array_from(ctx, DAMO_INT16, 2, (const int64_t[]){2, 2}, (const int16_t[]){1, 2, 3, 4});
  damo_array *b = damo_array_scalar(ctx, DAMO_FLOAT64, 0.5);
  CHECK(damo_npy_write(path_of("a.npy"), a) == DAMO_OK);
  damo_array *back = damo_npy_read(ctx, path_of("a.npy"));
  CHECK(damo_array_dtype(back) == DAMO_INT16 && damo_array_shape(back)[1] == 2 &&
        ((int16_t *)damo_array_data(back))[3] == 4);
  CHECK(damo_npz_write(ctx, path_of("m.npz"), (const char *const[]){"weights", "rate"}, (damo_array *[]){a, b}, 2) ==
        DAMO_OK);
  damo_npz *z = damo_npz_read(ctx, path_of("m.npz"), 0);
  CHECK_EQ_I(damo_npz_size(z), 2);
  CHECK_EQ_S(damo_npz_get_name(z, 1), "rate");
  CHECK(damo_npz_get_name(z, 2) == NULL && damo_npz_get_array(z, -1) == NULL && damo_npz_find(z, "bias") == NULL);
  CHECK(damo_npz_get_array(z, 0) == damo_npz_find(z, "weights"));
  damo_array *kept = damo_retain(damo_npz_find(z, "rate"));
  damo_npz_free(z);
  double rate = 0;
  CHECK(damo_array_item(kept, &rate) == DAMO_OK && rate == 0.5);
  fails_with(damo_npy_read(ctx, path_of("none.npy")) == NULL, DAMO_EIO, "none.npy");
  fails_with(damo_npz_read(ctx, path_of("a.npy"), 0) == NULL, DAMO_EIO, "a.npy");
  damo_release(a);
  damo_release(b);
  damo_release(back);
  damo_release(kept);
}

static void test_sparse_files(void) {
  const int64_t row[3] = {0, 1, 1}, col[3] = {0, 0, 1};
  damo_sparse *m = damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 2, 2, 3, row, col, (const double[]){1, 2, 3});
  CHECK(damo_npz_write_sparse(path_of("s.npz"), m) == DAMO_OK);
  damo_sparse *back = damo_npz_read_sparse(ctx, path_of("s.npz"));
  CHECK(damo_sparse_nnz(back) == 3 && damo_sparse_format(back) == DAMO_CSC);
  CHECK(damo_mtx_write(path_of("s.mtx"), (damo_obj *)m, NULL) == DAMO_OK);
  damo_obj *read = damo_mtx_read(ctx, path_of("s.mtx"), DAMO_CSR);
  CHECK(damo_sparse_nnz(damo_as_sparse(read)) == 3 && damo_sparse_format(damo_as_sparse(read)) == DAMO_CSR);
  damo_release(read);
  damo_mtx_options o = {.size = sizeof o, .symmetry = DAMO_SYMMETRIC};
  fails_with(damo_mtx_write(path_of("s.mtx"), (damo_obj *)m, &o) == DAMO_EVALUE, DAMO_EVALUE, "symmetric");
  o = (damo_mtx_options){.size = sizeof o, .pattern = true, .comment = "places"};
  CHECK(damo_mtx_write(path_of("s.mtx"), (damo_obj *)m, &o) == DAMO_OK);
  read = damo_mtx_read(ctx, path_of("s.mtx"), DAMO_CSR);
  CHECK(((double *)damo_array_data(damo_sparse_get_data(damo_as_sparse(read))))[2] == 1);
  damo_release(read);
  damo_array *dense = damo_sparse_toarray(m);
  CHECK(damo_mtx_write(path_of("d.mtx"), (damo_obj *)dense, NULL) == DAMO_OK);
  read = damo_mtx_read(ctx, path_of("d.mtx"), DAMO_CSR);
  CHECK(damo_array_ndim(damo_as_array(read)) == 2);
  damo_release(read);
  damo_release(dense);
  damo_release(back);
  damo_release(m);
}

static damo_array *csv_of(const char *text, const damo_csv_options *o, char **header) {
  FILE *f = fopen(path_of("t.csv"), "w");
  if (!CHECK(f != NULL)) return NULL;
  fputs(text, f);
  fclose(f);
  return damo_csv_read(ctx, path_of("t.csv"), o, header);
}

static void test_csv(void) {
  char *header = NULL;
  damo_array *a = csv_of("x,y\n1,2\n3,4\n", NULL, &header);
  CHECK(damo_array_shape(a)[0] == 2 && ((double *)damo_array_data(a))[3] == 4);
  CHECK_EQ_S(header, "x\ny");
  damo_text_free(ctx, header);
  damo_release(a);
  damo_csv_options o = {.size = sizeof o, .delimiter = ';', .dtype = "int32", .skip = 2};
  a = csv_of("x;y\n9;9\n1;2\n", &o, NULL);
  CHECK(damo_array_shape(a)[0] == 1 && damo_array_dtype(a) == DAMO_INT32 && ((int32_t *)damo_array_data(a))[1] == 2);
  damo_release(a);
  o = (damo_csv_options){.size = sizeof o, .skip = -1};
  fails_with(csv_of("x,y\n1,2\n", &o, NULL) == NULL, DAMO_EIO, "t.csv");
  o.text_as_nan = true;
  a = csv_of("x,y\n1,2\n", &o, NULL);
  CHECK(damo_array_shape(a)[0] == 2 && isnan(((double *)damo_array_data(a))[0]));
  damo_release(a);
  o = (damo_csv_options){.size = sizeof o, .dtype = "float"};
  fails_with(csv_of("1\n", &o, NULL) == NULL, DAMO_EVALUE, "there is no dtype 'float'");
}

/* In a sandbox files are closed to the host too. */
static void test_sandbox(void) {
  damo_ctx *boxed = damo_ctx_new(NULL, NULL);
  damo_ctx_set_sandbox(boxed);
  CHECK(damo_npy_read(boxed, path_of("a.npy")) == NULL && damo_error_status(boxed) == DAMO_ESTATE);
  damo_ctx_release(boxed);
}

static void remove_files(void) {
  static const char *const names[] = {"a.npy", "m.npz", "s.npz", "s.mtx", "d.mtx", "t.csv", ""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK_EQ_I(remove(path_of(names[i])), 0);
}

static void test_all(void) {
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/damo-api-XXXXXX", tmp != NULL ? tmp : "/tmp");
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  released = 0;
  test_wrap();
  test_wrap_refused();
  test_read_only();
  test_parts();
  test_npy_and_npz();
  test_sparse_files();
  test_csv();
  test_sandbox();
  remove_files();
  damo_fail(ctx, DAMO_EIO, ""); /* releases the node that the last error refers to */
}

int main(void) {
  ctx = damo_ctx_new(NULL, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  test_all();
  const int64_t kept = damo_ctx_memory(ctx).objects; /* objects that the context keeps until it closes */
  test_all();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, kept);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
