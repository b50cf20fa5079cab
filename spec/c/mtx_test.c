/* mtx: Matrix Market files and SciPy's .npz of sparse matrices: real files against the facts in matrices.csv, every
 * field and symmetry, round trips, damaged and hostile files. */
#include "../../src/io/io_int.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

#define DATA "spec/data/"

static char dir[] = "damo_mtx_XXXXXX";
static char path_text[256];

static const char *path(const char *name) {
  snprintf(path_text, sizeof path_text, "%s/%s", dir, name);
  return path_text;
}

static damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  return ctx;
}

static damo_obj *parse(damo_ctx *ctx, const char *text) {
  return mtx_parse(ctx, "x.mtx", text, strlen(text), DAMO_CSR);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

enum { FILE_NAME, FORM, ROWS, COLS, LISTED, NNZ, ZEROS, SUM, FRO, NORM1, NORMINF, TRACE, NORM_AX, N_COLS = 24 };

/* Cells of a line, in place. */
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

/* The largest sum of sizes over an axis. */
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

/* As good as the digits that the table has, for sums of large numbers in any order. */
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
      damo_obj *v = io_read_mtx(ctx, at, (damo_format)format);
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

/* Files that SciPy refuses and others read. */
static void test_tolerated(damo_ctx *ctx) {
  bool same = false;
  damo_obj *a = io_read_mtx(ctx, DATA "mtx/west0067.mtx", DAMO_CSR);
  damo_obj *b = io_read_mtx(ctx, DATA "mtx/west0067_jumbled.mtx", DAMO_CSC);
  CHECK(a && b && sparse_equal((damo_sparse *)a, (damo_sparse *)b, false, &same) == DAMO_OK && same);
  damo_release(a);
  damo_release(b);
  b = io_read_mtx(ctx, DATA "mtx_forms/fullcsa.mtx", DAMO_CSR);
  if (CHECK(b && b->kind == OBJ_ARRAY)) {
    const scalar z = array_get((damo_array *)b, (const int64_t[]){0, 1});
    CHECK(z.v.c.re == 3.4 && z.v.c.im == 1.7);
  }
  damo_release(b);
  b = io_read_mtx(ctx, DATA "mtx_forms/matrix_uint64.mtx", DAMO_CSR);
  if (CHECK(b != NULL)) {
    damo_array *d = sparse_to_dense((damo_sparse *)b);
    CHECK(array_dtype(d) == DAMO_UINT64 && array_get(d, (const int64_t[]){0, 1}).v.u == UINT64_MAX);
    damo_release(d);
  }
  damo_release(b);
  b = io_read_mtx(ctx, DATA "mtx_forms/matrix_fp64.mtx", DAMO_CSR);
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
  CHECK(io_read_mtx(ctx, DATA "nothing.mtx", DAMO_CSR) == NULL);
  CHECK(strstr(ctx->error.message, "nothing.mtx: can't be opened") != NULL);
}

static void test_bad_files(damo_ctx *ctx) {
  static const char *const bad[] = {"1", "2", "3", "4", "7", "8", "9", "10", "11", "12", "13", "_format"};
  static const char *const free_to_read[] = {"5",     "6",      "14",     "15",     "16",   "_bool",
                                             "_int8", "_int16", "_int32", "_uint8", "_skew"};
  char at[256];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(at, sizeof at, DATA "mtx_bad/mangled%s.mtx", bad[i]);
    damo_obj *v = io_read_mtx(ctx, at, DAMO_CSR);
    CHECK(v == NULL);
    CHECK_EQ_I(ctx->error.status, DAMO_EIO);
    CHECK(strncmp(ctx->error.message, at, strlen(at)) == 0 && strstr(ctx->error.message, ": line "));
    damo_release(v);
  }
  for (size_t i = 0; i < sizeof free_to_read / sizeof *free_to_read; i++) {
    snprintf(at, sizeof at, DATA "mtx_bad/mangled%s.mtx", free_to_read[i]);
    ctx_clear_error(ctx);
    damo_obj *v = io_read_mtx(ctx, at, DAMO_CSC);
    CHECK(v || ctx->error.status == DAMO_EIO);
    damo_release(v);
  }
  damo_obj *v = io_read_mtx(ctx, DATA "mtx_forms/fullcrud.mtx", DAMO_CSR);
  CHECK(v == NULL && strstr(ctx->error.message, "line 6: the file ends after 3 of 4 entries"));
  damo_release(v);
}

/* Every truncation and changed byte of a file: a value or an error, never a crash. */
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

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static damo_sparse *numbers(damo_ctx *ctx, damo_dtype dtype, damo_format format) {
  philox_state s = philox_seed((uint64_t)dtype + 5);
  return sparse_random(ctx, 9, 12, 0.3, dtype, format, &s);
}

static void test_round_trips(damo_ctx *ctx) {
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    damo_sparse *a = numbers(ctx, (damo_dtype)dtype, (damo_format)(dtype % 2));
    damo_array *d = sparse_to_dense(a);
    const mtx_options o = {.comment = "two\nlines"};
    for (int dense = 0; dense < 2; dense++) {
      CHECK_EQ_I(io_write_mtx(path("a.mtx"), dense ? &d->obj : &a->obj, &o), DAMO_OK);
      damo_obj *v = io_read_mtx(ctx, path("a.mtx"), DAMO_CSR);
      if (!CHECK(v && v->kind == (dense ? OBJ_ARRAY : OBJ_SPARSE))) {
        fprintf(stderr, "    %s\n", ctx->error.message);
        continue;
      }
      damo_array *back = dense ? damo_retain(v) : sparse_to_dense((damo_sparse *)v);
      damo_array *cast = array_cast(back, (damo_dtype)dtype);
      CHECK(array_equal(cast, d, true));
      damo_release(cast);
      damo_release(back);
      damo_release(v);
    }
    const mtx_options pattern = {.pattern = true};
    CHECK_EQ_I(io_write_mtx(path("a.mtx"), &a->obj, &pattern), DAMO_OK);
    damo_obj *v = io_read_mtx(ctx, path("a.mtx"), DAMO_CSC);
    bool same = false;
    CHECK(v && sparse_same_pattern(a, (damo_sparse *)v, &same) == DAMO_OK && same);
    damo_release(v);
    damo_release(d);
    damo_release(a);
  }
  damo_array *odd = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){6},
                                    (const double[]){NAN, INFINITY, -INFINITY, -0.0, 5e-324, 0.1 + 0.2});
  CHECK_EQ_I(io_write_mtx(path("a.mtx"), &odd->obj, NULL), DAMO_OK);
  damo_obj *v = io_read_mtx(ctx, path("a.mtx"), DAMO_CSR);
  if (CHECK(v != NULL)) {
    const double *p = (const double *)(void *)((damo_array *)v)->data;
    CHECK(isnan(p[0]) && p[1] == INFINITY && p[2] == -INFINITY && signbit(p[3]) && p[4] == 5e-324 && p[5] == 0.1 + 0.2);
  }
  damo_release(v);
  damo_release(odd);
}

static void test_symmetries(damo_ctx *ctx) {
  static const struct {
    const char *file;
    mtx_symmetry symmetry;
  } cases[] = {{"mtx/494_bus.mtx", MTX_SYMMETRIC},
               {"mtx_forms/cha.mtx", MTX_GENERAL}, /* its diagonal is not real: hermitian in name alone */
               {"mtx_forms/rza.mtx", MTX_SKEW},
               {"mtx_forms/skew_fp64.mtx", MTX_SKEW},
               {"mtx_forms/full_symmetric.mtx", MTX_SYMMETRIC},
               {"mtx_forms/fullrza.mtx", MTX_SKEW},
               {"mtx_forms/full_symmetric.mtx", MTX_HERMITIAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char at[256];
    snprintf(at, sizeof at, DATA "%s", cases[i].file);
    damo_obj *a = io_read_mtx(ctx, at, DAMO_CSR);
    const mtx_options o = {.symmetry = cases[i].symmetry};
    CHECK_EQ_I(io_write_mtx(path("s.mtx"), a, &o), DAMO_OK);
    damo_obj *b = io_read_mtx(ctx, path("s.mtx"), DAMO_CSR);
    bool same = false;
    if (!CHECK(b && a->kind == b->kind)) continue;
    if (a->kind == OBJ_SPARSE)
      CHECK(sparse_equal((damo_sparse *)a, (damo_sparse *)b, true, &same) == DAMO_OK && same);
    else
      CHECK(array_equal((damo_array *)a, (damo_array *)b, true));
    damo_release(a);
    damo_release(b);
  }
  damo_obj *z = parse(ctx, "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 4\n");
  const mtx_options h = {.symmetry = MTX_HERMITIAN}, s = {.symmetry = MTX_SYMMETRIC};
  CHECK_EQ_I(io_write_mtx(path("s.mtx"), z, &h), DAMO_OK);
  damo_obj *again = io_read_mtx(ctx, path("s.mtx"), DAMO_CSR);
  bool same = false;
  CHECK(again && sparse_equal((damo_sparse *)z, (damo_sparse *)again, true, &same) == DAMO_OK && same);
  CHECK_EQ_I(io_write_mtx(path("s.mtx"), z, &s), DAMO_EVALUE);
  CHECK(strstr(ctx->error.message, "the matrix is not symmetric") != NULL);
  damo_release(again);
  damo_release(z);
}

/* ---- npz --------------------------------------------------------------------------------------------------------- */

static bool contains(const char *text, size_t n, const char *part) {
  const size_t m = strlen(part);
  for (size_t i = 0; i + m <= n; i++) {
    if (memcmp(text + i, part, m) == 0) return true;
  }
  return false;
}

static void test_npz(damo_ctx *ctx) {
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    damo_sparse *a = numbers(ctx, (damo_dtype)dtype, (damo_format)(dtype % 2));
    bool same = false;
    CHECK_EQ_I(io_write_sparse_npz(path("a.npz"), a), DAMO_OK);
    damo_sparse *b = io_read_sparse_npz(ctx, path("a.npz"));
    CHECK(b && b->format == a->format && sparse_equal(a, b, true, &same) == DAMO_OK && same);
    damo_release(a);
    damo_release(b);
  }
  char text[4096];
  FILE *f = fopen(path("a.npz"), "rb");
  const size_t n = fread(text, 1, sizeof text, f);
  fclose(f);
  CHECK(contains(text, n, "{'descr': '|S3', 'fortran_order': False")); /* the text member as NumPy writes bytes */
  CHECK(contains(text, n, "_is_array.npy") && contains(text, n, "'descr': '|b1', 'fortran_order': False, 'shape': ()"));
  /* A format of 4-byte characters, as str arrays have, and one that is not known. */
  damo_sparse *a = numbers(ctx, DAMO_FLOAT32, DAMO_CSC);
  damo_array *shape = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){2}, a->shape);
  const char *const names[] = {"format", "shape", "data", "indices", "indptr"};
  const uint32_t csc[] = {'c', 's', 'c'}, lil[] = {'l', 'i', 'l'};
  for (int i = 0; i < 2; i++) {
    damo_array *format = damo_array_from(ctx, DAMO_UINT32, 1, (const int64_t[]){3}, i ? lil : csc);
    CHECK_EQ_I(io_write_npz(ctx, path("b.npz"), names,
                            (damo_array *const[]){format, shape, a->data, a->indices, a->indptr}, 5),
               DAMO_OK);
    damo_sparse *b = io_read_sparse_npz(ctx, path("b.npz"));
    CHECK(i == 0 ? b && b->format == DAMO_CSC : !b && strstr(ctx->error.message, "the sparse format is 'lil'"));
    damo_release(b);
    if (i == 0) {
      CHECK_EQ_I(io_write_npz(ctx, path("b.npz"), names,
                              (damo_array *const[]){format, shape, a->data, a->indptr, a->indptr}, 5),
                 DAMO_OK);
      CHECK(!io_read_sparse_npz(ctx, path("b.npz")));
      CHECK_EQ_I(ctx->error.status, DAMO_EIO);
      CHECK_EQ_I(io_write_npz(ctx, path("b.npz"), names, (damo_array *const[]){format, shape, a->data, a->indices}, 4),
                 DAMO_OK);
      CHECK(!io_read_sparse_npz(ctx, path("b.npz")));
      CHECK(strstr(ctx->error.message, "the member 'indptr' of a sparse matrix is missing") != NULL);
    }
    damo_release(format);
  }
  damo_release(shape);
  damo_release(a);
}

static bool read_forms(damo_ctx *ctx) {
  static const char *const names[] = {"coo_array_float64", "dia_array_float32", "bsr_array_int16"};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
    char at[256];
    snprintf(at, sizeof at, DATA "npz/%s.npz", names[i]);
    damo_sparse *a = io_read_sparse_npz(ctx, at);
    ok = a && sparse_check(a, NULL);
    damo_release(a);
  }
  return ok;
}

static bool run_program(damo_ctx *ctx) {
  damo_obj *a = io_read_mtx(ctx, DATA "mtx_forms/cha.mtx", DAMO_CSR);
  damo_obj *b = a ? io_read_mtx(ctx, DATA "mtx_forms/full_symmetric.mtx", DAMO_CSR) : NULL;
  bool ok = b && io_write_mtx(path("f.mtx"), a, NULL) == DAMO_OK && io_write_mtx(path("f.mtx"), b, NULL) == DAMO_OK &&
            io_write_sparse_npz(path("f.npz"), (damo_sparse *)a) == DAMO_OK;
  damo_sparse *c = ok ? io_read_sparse_npz(ctx, path("f.npz")) : NULL;
  damo_release(a);
  damo_release(b);
  damo_release(c);
  return c != NULL && read_forms(ctx);
}

static void test_failing_allocations(damo_ctx *ctx) {
  int64_t n = 0;
  for (bool done = false; !done && n < 10000; n++) {
    ctx_clear_error(ctx);
    ctx->fail_after = n;
    done = run_program(ctx);
    ctx->fail_after = -1;
    if (!done && ctx->error.status != DAMO_EMEMORY) CHECK_EQ_I(ctx->error.status, DAMO_EMEMORY);
    if (ctx->n_objects != 0 || ctx->bytes != 0) CHECK_EQ_I(ctx->bytes, 0);
  }
  CHECK(n > 20 && n < 10000);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  if (!mkdtemp(dir)) return 1;
  test_facts(ctx);
  test_tolerated(ctx);
  test_damaged(ctx);
  test_bad_files(ctx);
  test_mutations(ctx);
  test_round_trips(ctx);
  test_symmetries(ctx);
  test_npz(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  const char *const names[] = {"a.mtx", "s.mtx", "f.mtx", "a.npz", "b.npz", "f.npz"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path(names[i]));
  rmdir(dir);
  TEST_MAIN_END;
}
