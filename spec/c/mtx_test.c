/* mtx_test: reading Matrix Market files: real ones against the values in matrices.csv, forms that other readers refuse,
 * damaged and hostile ones. */
#include "mtx_case.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

enum { FILE_NAME, FORM, ROWS, COLS, LISTED, NNZ, ZEROS, SUM, FRO, NORM1, NORMINF, TRACE, NORM_AX, N_COLS = 24 };

/* Splits a line into cells, in place. */
static int split(char *line, char **cells) {
  int n = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *p = line; n < N_COLS; n++) {
    cells[n] = p;
    p = strchr(p, ',');
    if (!p) return n + 1;
    *p++ = '\0';
  }
  return n;
}

/* "3.5" or "1.5-2i". */
static damo_c128 complex_of(const char *text) {
  char *end;
  damo_c128 z = {strtod(text, &end), 0};
  if (*end) z.im = strtod(end, &end);
  return z;
}

static bool is_file(const char *name) {
  char at[256];
  snprintf(at, sizeof at, DATA "%s", name);
  return access(at, R_OK) == 0;
}

static double size_of(damo_c128 z) { return hypot(z.re, z.im); }

static damo_c128 entry(const damo_array *data, int64_t p) {
  return scalar_cast(array_get(data, &p), DAMO_COMPLEX128).v.c;
}

/* The largest sum of absolute values along an axis (the 1-norm or the infinity norm). */
static double norm_along(damo_sparse *a, int axis) {
  damo_array *sizes = array_empty(a->obj.ctx, DAMO_FLOAT64, 1, array_shape(a->data));
  for (int64_t p = 0; p < sparse_nnz(a); p++) ((double *)(void *)sizes->data)[p] = size_of(entry(a->data, p));
  damo_sparse *b = sparse_with_data(a, sizes);
  damo_array *sums = sparse_sum(b, axis);
  double most = 0;
  for (int64_t i = 0; i < array_size(sums); i++) {
    const double s = ((double *)(void *)sums->data)[i];
    most = isnan(s) || s > most ? s : most;
  }
  damo_release(sizes);
  damo_release(b);
  damo_release(sums);
  return most;
}

static double norm_product(damo_sparse *a) {
  const int64_t n = a->shape[1];
  damo_array *x = array_empty(a->obj.ctx, DAMO_FLOAT64, 1, &n);
  for (int64_t i = 0; i < n; i++) ((double *)(void *)x->data)[i] = (double)(i + 1) / (double)n;
  damo_array *y = sparse_dot_dense(a, false, NULL, x, NULL);
  double sum = 0;
  for (int64_t i = 0; i < array_size(y); i++) sum += size_of(entry(y, i)) * size_of(entry(y, i));
  damo_release(x);
  damo_release(y);
  return sqrt(sum);
}

/* Compares to the number of digits that the table has, allowing for sums of large numbers in any order. */
static void near_fact(double got, const char *fact, double scale, const char *file, const char *what) {
  if (!*fact) return;
  const double want = strtod(fact, NULL);
  const double tol = 1e-11 * (fabs(want) + scale);
  if (!CHECK(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tol))
    fprintf(stderr, "    %s: %s is %.15g, expected %s\n", file, what, got, fact);
}

static void check_facts(damo_sparse *a, char **c) {
  const char *name = c[FILE_NAME];
  double fro = 0, most = 0;
  damo_c128 sum = {0, 0}, trace = {0, 0};
  for (int64_t line = 0; line < sparse_major(a); line++) {
    const int64_t next = line + 1, end = array_get(a->indptr, &next).v.i;
    for (int64_t p = array_get(a->indptr, &line).v.i; p < end; p++) {
      const damo_c128 z = entry(a->data, p);
      sum.re += z.re, sum.im += z.im;
      fro = hypot(fro, size_of(z));
      most += size_of(z);
      if (array_get(a->indices, &p).v.i == line) trace.re += z.re, trace.im += z.im;
    }
  }
  CHECK(sparse_check(a, NULL));
  CHECK_EQ_I(a->shape[0], strtoll(c[ROWS], NULL, 10));
  CHECK_EQ_I(a->shape[1], strtoll(c[COLS], NULL, 10));
  CHECK_EQ_I(sparse_nnz(a), strtoll(c[NNZ], NULL, 10));
  if (*c[ZEROS]) CHECK_EQ_I(sparse_count_zeros(a), strtoll(c[ZEROS], NULL, 10));
  if (*c[SUM]) {
    const damo_c128 want = complex_of(c[SUM]);
    near_fact(sum.re, c[SUM], most, name, "sum");
    if (want.im != 0) CHECK_NEAR(sum.im, want.im, 1e-11 * most);
  }
  near_fact(fro, c[FRO], 0, name, "fro");
  near_fact(norm_along(a, 0), c[NORM1], 0, name, "norm1");
  near_fact(norm_along(a, 1), c[NORMINF], 0, name, "norminf");
  near_fact(trace.re, c[TRACE], most, name, "trace");
  if (*c[NORM_AX]) near_fact(norm_product(a), c[NORM_AX], isnan(fro) ? 0 : fro, name, "norm_Ax");
}

static void test_facts(damo_ctx *ctx) {
  char line[2048], at[256], *cells[N_COLS];
  int read = 0;
  FILE *f = fopen(DATA "matrices.csv", "r");
  if (!CHECK(f != NULL)) return;
  if (!fgets(line, sizeof line, f)) line[0] = '\0';
  while (fgets(line, sizeof line, f)) {
    if (split(line, cells) <= NORM_AX || !is_file(cells[FILE_NAME]) || !*cells[ROWS]) continue;
    snprintf(at, sizeof at, DATA "%s", cells[FILE_NAME]);
    for (int format = 0; format < 2; format++) {
      damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(at), (damo_format)format);
      if (!CHECK(v != NULL)) {
        fprintf(stderr, "    %s\n", ctx->error.message);
        continue;
      }
      const bool array = strncmp(cells[FORM], "array", 5) == 0;
      CHECK_EQ_I(v->kind, array ? OBJ_ARRAY : OBJ_SPARSE);
      damo_sparse *a = array ? sparse_from_dense((damo_array *)v, (damo_format)format, DAMO_INT32) : damo_retain(v);
      if (array && *cells[NNZ]) snprintf(cells[NNZ], 8, "%lld", (long long)sparse_nnz(a));
      check_facts(a, cells);
      damo_release(a);
      damo_release(v);
    }
    read++;
  }
  fclose(f);
  CHECK(read >= 40);
}

/* Files that SciPy refuses but other readers accept. */
static void test_tolerated(damo_ctx *ctx) {
  bool same = false;
  damo_obj *a = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx/west0067.mtx"), DAMO_CSR);
  damo_obj *b = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx/west0067_jumbled.mtx"), DAMO_CSC);
  CHECK(a && b && sparse_equal((damo_sparse *)a, (damo_sparse *)b, false, &same) == DAMO_OK && same);
  damo_release(a);
  damo_release(b);
  b = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/fullcsa.mtx"), DAMO_CSR);
  if (CHECK(b && b->kind == OBJ_ARRAY)) {
    const scalar z = array_get((damo_array *)b, (const int64_t[]){0, 1});
    CHECK(z.v.c.re == 3.4 && z.v.c.im == 1.7);
  }
  damo_release(b);
  b = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/matrix_uint64.mtx"), DAMO_CSR);
  if (CHECK(b != NULL)) {
    damo_array *d = sparse_to_dense((damo_sparse *)b);
    CHECK(array_dtype(d) == DAMO_UINT64 && array_get(d, (const int64_t[]){0, 1}).v.u == UINT64_MAX);
    damo_release(d);
  }
  damo_release(b);
  b = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/matrix_fp64.mtx"), DAMO_CSR);
  CHECK(b && sparse_dtype((damo_sparse *)b) == DAMO_FLOAT64);
  damo_release(b);
  b = parse(ctx, "% no first line\n\n2 3 2\n1 1 5\n% between\n\n2 3 .5\r\n\n");
  CHECK(b && b->kind == OBJ_SPARSE && sparse_nnz((damo_sparse *)b) == 2);
  damo_release(b);
  b = parse(ctx, "%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL\n2 2 3\n1 1 1\n1 1 2\n2 2 1e400");
  if (CHECK(b != NULL)) {
    const double *v = (const double *)(void *)((damo_sparse *)b)->data->data;
    CHECK(sparse_nnz((damo_sparse *)b) == 2 && v[0] == 3 && isinf(v[1]));
  }
  damo_release(b);
}

/* ---- Damaged files ----------------------------------------------------------------------------------------------- */

static void expect_error(damo_ctx *ctx, const char *text, const char *message) {
  damo_obj *v = parse(ctx, text);
  CHECK(v == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EIO);
  CHECK_EQ_S(ctx->error.message, message);
  damo_release(v);
}

#define REAL "%%MatrixMarket matrix coordinate real general\n"

static void test_damaged(damo_ctx *ctx) {
  expect_error(ctx, "", "x.mtx: the file is empty");
  expect_error(ctx, REAL, "x.mtx: the file ends before the line of sizes");
  expect_error(ctx, REAL "%\n2 2\n", "x.mtx: line 3: 2 sizes, expected 3: rows, columns and entries");
  expect_error(ctx, REAL "2 -2 1\n1 1 1\n", "x.mtx: line 2: '-2' is not a size");
  expect_error(ctx, REAL "2 2 2\n1 1 1\n%\n",
               "x.mtx: line 2: 2 entries are announced, and the 8 bytes that follow can't hold them");
  expect_error(ctx, REAL "2 2 2\n1 1 1.000\n% x\n", "x.mtx: line 4: the file ends after 1 of 2 entries");
  expect_error(ctx, REAL "2 2 1\n1 3 1\n", "x.mtx: line 3: column 3, expected 1 to 2");
  expect_error(ctx, REAL "2 2 1\n0 1 1\n", "x.mtx: line 3: row 0, expected 1 to 2");
  expect_error(ctx, REAL "2 2 1\n1 x 1\n", "x.mtx: line 3: 'x' is not a position");
  expect_error(ctx, REAL "2 2 1\n1 1   \n%\n", "x.mtx: line 3: the entry has no value");
  expect_error(ctx, REAL "2 2 1\n1 1 1.0.0\n", "x.mtx: line 3: '1.0.0' is not a number");
  expect_error(ctx, REAL "2 2 1\n1 1 1 1\n", "x.mtx: line 3: '1' follows the entry");
  expect_error(ctx, REAL "2 2 1\n1 1 1\n\n2 2 2\n", "x.mtx: line 5: text follows the 1 entries announced");
  expect_error(ctx, REAL "3 3 9223372036854775807\n1 1 1\n", "x.mtx: line 2: '9223372036854775807' is not a size");
  expect_error(ctx, REAL "3 3 4000000000000000000\n1 1 1\n",
               "x.mtx: line 2: 4000000000000000000 entries are announced, and the 6 bytes that follow can't hold them");
  expect_error(
      ctx, REAL "1000000000000 3 1\n1 1 1\n",
      "x.mtx: line 2: a csr matrix of 1000000000000 rows for 6 bytes of entries is refused (the other format may do)");
  expect_error(ctx, "%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n",
               "x.mtx: line 2: a matrix of 4000000000 by 4000000000 is too large");
  expect_error(ctx, "0 3526990342799034277\n", "x.mtx: line 1: a matrix of 0 by 3526990342799034277 is too large");
  expect_error(ctx, "%%MatrixMarket matrix array real symmetric\n1000000 1000000\n1\n",
               "x.mtx: line 2: 500000500000 entries are announced, and the 2 bytes that follow can't hold them");
  expect_error(ctx, "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n",
               "x.mtx: line 3: an entry on the diagonal of a skew-symmetric matrix is not 0");
  expect_error(ctx, "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 3\n",
               "x.mtx: line 2: 2 rows and 3 columns, but the matrix is symmetric, so they should be equal");
  expect_error(ctx, "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 9223372036854775808\n",
               "x.mtx: line 3: '9223372036854775808' does not fit int64");
  expect_error(ctx, "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n",
               "x.mtx: line 3: '1.5' is not an integer");
  expect_error(ctx, "%%MatrixMarket vector coordinate real general\n",
               "x.mtx: line 1: 'vector' is not an object that can be read, expected matrix");
  expect_error(ctx, "%%MatrixMarket matrix array pattern general\n2 2\n",
               "x.mtx: line 1: an array file can't have the field pattern");
  CHECK(io_read_mtx(ctx, IO_FROM_FILE(DATA "nothing.mtx"), DAMO_CSR) == NULL);
  CHECK(strstr(ctx->error.message, "nothing.mtx: can't be opened") != NULL);
}

static void test_bad_files(damo_ctx *ctx) {
  static const char *const bad[] = {"1", "2", "3", "4", "7", "8", "9", "10", "11", "12", "13", "_format"};
  static const char *const free_to_read[] = {"5",     "6",      "14",     "15",     "16",   "_bool",
                                             "_int8", "_int16", "_int32", "_uint8", "_skew"};
  char at[256];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(at, sizeof at, DATA "mtx_bad/mangled%s.mtx", bad[i]);
    damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(at), DAMO_CSR);
    CHECK(v == NULL);
    CHECK_EQ_I(ctx->error.status, DAMO_EIO);
    CHECK(strncmp(ctx->error.message, at, strlen(at)) == 0 && strstr(ctx->error.message, ": line "));
    damo_release(v);
  }
  for (size_t i = 0; i < sizeof free_to_read / sizeof *free_to_read; i++) {
    snprintf(at, sizeof at, DATA "mtx_bad/mangled%s.mtx", free_to_read[i]);
    ctx_clear_error(ctx);
    damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(at), DAMO_CSC);
    CHECK(v || ctx->error.status == DAMO_EIO);
    damo_release(v);
  }
  damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/fullcrud.mtx"), DAMO_CSR);
  CHECK(v == NULL && strstr(ctx->error.message, "line 6: the file ends after 3 of 4 entries"));
  damo_release(v);
}

/* Every truncation and changed byte gives a value or an error, never a crash. */
static void test_mutations(damo_ctx *ctx) {
  static const char *const names[] = {"mtx_forms/cha.mtx", "mtx_forms/skew_int16.mtx", "mtx_forms/full_symmetric.mtx",
                                      "mtx_forms/matrix_uint64.mtx"};
  static const char bytes[] = "9-%\n \xff\0e";
  for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
    char at[256], text[1024];
    snprintf(at, sizeof at, DATA "%s", names[f]);
    FILE *file = fopen(at, "rb");
    if (!CHECK(file != NULL)) continue;
    const size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    for (size_t i = 0; i < n; i++) {
      damo_release(mtx_parse(ctx, "x", text, i, DAMO_CSR));
      for (size_t k = 0; k < sizeof bytes - 1; k++) {
        const char old = text[i];
        text[i] = bytes[k];
        damo_release(mtx_parse(ctx, "x", text, n, DAMO_CSC));
        text[i] = old;
      }
    }
    CHECK_EQ_I(ctx->n_objects, 0);
  }
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_facts(ctx);
  test_tolerated(ctx);
  test_damaged(ctx);
  test_bad_files(ctx);
  test_mutations(ctx);
  end_ctx(ctx);
  TEST_MAIN_END;
}
