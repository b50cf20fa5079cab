/* The test of the amalgamation: a program that sees damo.h alone. Its argument is a folder for a file. It runs on every
 * target of `make test-amalgamation`, with every set of libraries: what a build is without is told by
 * damo_error_kind. */
#include "damo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static damo_ctx *ctx;

static int check(int ok, int line, const char *what) {
  if (ok) {
    passed++;
  } else {
    failed++;
    printf("line %d: failed: %s\n", line, what);
    if (damo_error_status(ctx) != DAMO_OK) printf("    %s: %s\n", damo_error_kind(ctx), damo_error_message(ctx));
  }
  return ok;
}
#define CHECK(x) check((x), __LINE__, #x)

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

static double draw(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53 - 0.5;
}

static damo_var *input(damo_dtype dtype, int ndim, const char *name) {
  damo_type *t = damo_type_tensor(ctx, dtype, ndim, NULL);
  damo_var *v = t != NULL ? damo_var_new(ctx, t, name) : NULL;
  damo_release(t);
  return v;
}

/* Calls a function; takes its operands. */
static damo_var *call(const char *name, damo_var *x, damo_var *y, const char *options) {
  damo_var *in[2], *out;
  in[0] = x, in[1] = y;
  out = damo_call_with(ctx, name, in, y != NULL ? 2 : 1, options != NULL ? options : "");
  damo_release(x);
  damo_release(y);
  return out;
}

static damo_array *matrix(int64_t rows, int64_t cols) {
  const int64_t shape[2] = {rows, cols};
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, shape);
  for (int64_t i = 0; i < rows * cols; i++) ((double *)damo_array_data(a))[i] = draw();
  return a;
}

static const double *numbers(const damo_array *a) { return damo_array_data(a); }

/* The results of functions[i](a, b), or of one of a alone where b is NULL; false: not compiled or run. */
static int results_of(const char *name, const char *options, damo_array *a, damo_array *b, damo_array **out,
                      int n_out) {
  damo_var *in[2] = {NULL, NULL}, *results[3] = {NULL, NULL, NULL};
  damo_array *args[2];
  damo_prop prop = damo_prop_bool("keepdims", false);
  int ok, n = b != NULL ? 2 : 1, i;
  args[0] = a, args[1] = b;
  in[0] = input(damo_array_dtype(a), damo_array_ndim(a), "a");
  if (b != NULL) in[1] = input(damo_array_dtype(b), damo_array_ndim(b), "b");
  if (in[0] == NULL || (b != NULL && in[1] == NULL)) {
    ok = 0;
  } else if (n_out == 1) {
    results[0] = damo_call_with(ctx, name, in, n, options != NULL ? options : "");
    ok = results[0] != NULL;
  } else {
    if (options != NULL) prop = damo_prop_string("mode", options);
    ok = damo_call_all(ctx, name, in, n, &prop, options != NULL, results, n_out) == DAMO_OK;
  }
  if (ok) {
    damo_function *f = damo_compile(ctx, in, n, results, n_out, NULL, NULL, 0, NULL);
    ok = f != NULL && damo_function_call(f, args, n, out) == DAMO_OK;
    damo_release(f);
  }
  for (i = 0; i < 3; i++) damo_release(results[i]);
  damo_release(in[0]);
  damo_release(in[1]);
  return ok;
}

/* The greatest difference of the entries of a·b and c, with a or b transposed. */
static double product_error(const damo_array *a, int ta, const damo_array *b, int tb, const damo_array *c) {
  const int64_t *sa = damo_array_shape(a), *sb = damo_array_shape(b), *sc = damo_array_shape(c);
  const int64_t m = sa[ta], k = sa[1 - ta], n = sb[1 - tb];
  double most = 0;
  if (m != sc[0] || n != sc[1] || k != sb[tb]) return INFINITY;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = -numbers(c)[i * n + j];
      for (int64_t p = 0; p < k; p++)
        sum += numbers(a)[ta ? p * sa[1] + i : i * sa[1] + p] * numbers(b)[tb ? j * sb[1] + p : p * sb[1] + j];
      if (!(fabs(sum) <= most)) most = fabs(sum);
    }
  }
  return most;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* The cost sum(tanh(w·x)²), its gradient, and one step against it, in each mode. */
static void test_gradient(const char *mode) {
  enum { N = 40, K = 7 };
  const int64_t shape[1] = {K};
  damo_array *start = damo_array_new(ctx, DAMO_FLOAT64, 1, shape), *x0 = matrix(N, K), *out[2] = {NULL, NULL};
  double want[K] = {0}, cost_want = 0;
  damo_var *x = input(DAMO_FLOAT64, 2, "x"), *w, *cost, *g = NULL, *next;
  damo_function *f;
  for (int i = 0; i < K; i++) ((double *)damo_array_data(start))[i] = draw();
  w = damo_shared(ctx, start, "w");
  cost =
      call("sum", call("sqr", call("tanh", call("dot", damo_retain(x), damo_retain(w), NULL), NULL, NULL), NULL, NULL),
           NULL, NULL);
  CHECK(damo_grad(ctx, cost, &w, 1, &g) == DAMO_OK);
  next = call("sub", damo_retain(w), call("mul", damo_retain(g), damo_number(ctx, 0.25), NULL), NULL);
  {
    damo_var *outputs[2];
    outputs[0] = cost, outputs[1] = g;
    f = damo_compile(ctx, &x, 1, outputs, 2, &w, &next, 1, mode);
  }
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int k = 0; k < K; k++) sum += numbers(x0)[i * K + k] * numbers(start)[k];
    sum = tanh(sum);
    cost_want += sum * sum;
    for (int k = 0; k < K; k++) want[k] += 2 * sum * (1 - sum * sum) * numbers(x0)[i * K + k];
  }
  if (CHECK(f != NULL) && CHECK(damo_function_call(f, &x0, 1, out) == DAMO_OK)) {
    damo_array *now = damo_shared_value(w);
    CHECK(fabs(numbers(out[0])[0] - cost_want) < 1e-12);
    for (int k = 0; k < K; k++) {
      CHECK(fabs(numbers(out[1])[k] - want[k]) < 1e-12);
      CHECK(fabs(numbers(now)[k] - (numbers(start)[k] - 0.25 * want[k])) < 1e-12);
    }
    damo_release(now);
  }
  damo_release(out[0]);
  damo_release(out[1]);
  damo_release(f);
  damo_release(next);
  damo_release(g);
  damo_release(cost);
  damo_release(w);
  damo_release(x);
  damo_release(x0);
  damo_release(start);
}

/* Each elementary function of one argument against C's, over a long array. */
static void test_functions(void) {
  static const struct {
    const char *name;
    double (*fn)(double);
  } list[] = {{"exp", exp},     {"log", log},     {"sin", sin},     {"cos", cos},   {"tan", tan},   {"tanh", tanh},
              {"sqrt", sqrt},   {"log1p", log1p}, {"expm1", expm1}, {"sinh", sinh}, {"cosh", cosh}, {"arcsin", asin},
              {"arctan", atan}, {"erf", erf},     {"floor", floor}, {"exp2", exp2}, {"log2", log2}, {"arcsinh", asinh}};
  damo_array *a = matrix(50, 41);
  for (int i = 0; i < 50 * 41; i++) ((double *)damo_array_data(a))[i] = fabs(numbers(a)[i]) * 1.9;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    damo_array *out = NULL;
    double most = 0;
    if (!CHECK(results_of(list[k].name, NULL, a, NULL, &out, 1))) continue;
    for (int i = 0; i < 50 * 41; i++) {
      const double x = list[k].fn(numbers(a)[i]), y = numbers(out)[i];
      if (!(fabs(x - y) <= most * (1 + fabs(x)))) most = fabs(x - y) / (1 + fabs(x));
    }
    if (!CHECK(most < 1e-14)) printf("    %s: %g\n", list[k].name, most);
    damo_release(out);
  }
  damo_release(a);
}

/* ---- Dense systems ----------------------------------------------------------------------------------------------- */

static void test_dense(int64_t n) {
  damo_array *a = matrix(n, n), *b = matrix(n, 3), *tall = matrix(n + 9, n), *s = NULL, *out[3] = {NULL, NULL, NULL};
  if (CHECK(results_of("dot", NULL, a, b, out, 1))) CHECK(product_error(a, 0, b, 0, out[0]) < 1e-12 * (double)n);
  damo_release(out[0]);
  /* a + n is well conditioned; s = a·aᵀ + 1 is positive definite. */
  for (int64_t i = 0; i < n; i++) ((double *)damo_array_data(a))[i * n + i] += (double)n;
  if (CHECK(results_of("linalg.solve", NULL, a, b, out, 1))) CHECK(product_error(a, 0, out[0], 0, b) < 1e-11);
  damo_release(out[0]);
  if (CHECK(results_of("linalg.solve", "trans=1", a, b, out, 1))) CHECK(product_error(a, 1, out[0], 0, b) < 1e-11);
  damo_release(out[0]);
  if (CHECK(results_of("linalg.inv", NULL, a, NULL, out, 1))) {
    if (CHECK(results_of("dot", NULL, out[0], b, out + 1, 1))) CHECK(product_error(a, 0, out[1], 0, b) < 1e-11);
    damo_release(out[1]);
  }
  damo_release(out[0]);
  {
    const int64_t shape[2] = {n, n};
    s = damo_array_new(ctx, DAMO_FLOAT64, 2, shape);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < n; j++) {
        double sum = i == j;
        for (int64_t k = 0; k < n; k++) sum += numbers(a)[i * n + k] * numbers(a)[j * n + k];
        ((double *)damo_array_data(s))[i * n + j] = sum;
      }
    }
  }
  if (CHECK(results_of("linalg.cholesky", NULL, s, NULL, out, 1)))
    CHECK(product_error(out[0], 0, out[0], 1, s) < 1e-11 * (double)(n * n));
  damo_release(out[0]);
  for (int k = 0; k < 3; k++) {
    static const char *const assume[] = {"assume_a=pos", "assume_a=sym", "assume_a=her"};
    if (CHECK(results_of("linalg.solve", assume[k], s, b, out, 1))) CHECK(product_error(s, 0, out[0], 0, b) < 1e-10);
    damo_release(out[0]);
  }
  if (CHECK(results_of("linalg.qr", "economic", tall, NULL, out, 2))) {
    CHECK(product_error(out[0], 0, out[1], 0, tall) < 1e-12 * (double)n);
    damo_array *gram = NULL;
    const int64_t shape[2] = {n, n};
    gram = damo_array_new(ctx, DAMO_FLOAT64, 2, shape);
    for (int64_t i = 0; i < n; i++) ((double *)damo_array_data(gram))[i * n + i] = 1;
    CHECK(product_error(out[0], 1, out[0], 0, gram) < 1e-12 * (double)n);
    damo_release(gram);
    damo_release(out[0]);
    damo_release(out[1]);
  }
  if (CHECK(results_of("linalg.lu_factor", NULL, a, NULL, out, 2))) {
    damo_release(out[0]);
    damo_release(out[1]);
  }
  damo_release(s);
  damo_release(a);
  damo_release(b);
  damo_release(tall);
}

/* Op classes by function: this build has them, or refuses them by name. */
static void test_refused(void) {
  static const struct {
    const char *func, *op, *options;
    int n_out;
  } list[] = {{"linalg.svd", "SVD", NULL, 3},
              {"linalg.eigh", "Eigh", NULL, 2},
              {"linalg.eig", "Eig", NULL, 2},
              {"linalg.pinv", "MatrixPinv", NULL, 1},
              {"linalg.schur", "Schur", NULL, 2},
              {"linalg.sqrtm", "Sqrtm", NULL, 1},
              {"linalg.eigvalsh", "EigenvaluesHermitian", NULL, 1}};
  damo_array *a = matrix(9, 9);
  int refused = 0;
  for (int i = 0; i < 9; i++) ((double *)damo_array_data(a))[10 * i] += 9;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    damo_array *out[3] = {NULL, NULL, NULL};
    if (results_of(list[k].func, list[k].options, a, NULL, out, list[k].n_out)) {
      passed++;
    } else {
      refused++;
      CHECK(strcmp(damo_error_kind(ctx), "not_implemented") == 0);
      CHECK(strstr(damo_error_message(ctx), list[k].op) != NULL);
      CHECK(strstr(damo_error_message(ctx), "LAPACK") != NULL);
    }
    for (int i = 0; i < 3; i++) damo_release(out[i]);
  }
  CHECK(refused == 0 || refused == (int)(sizeof list / sizeof *list));
  printf("%s LAPACK\n", refused == 0 ? "with" : "without");
  damo_release(a);
}

/* ---- Sparse systems ---------------------------------------------------------------------------------------------- */

enum { SIDE = 30, UNKNOWNS = SIDE * SIDE };

/* The five-point Laplacian of a square, minus shift; wind makes it unsymmetric. */
static damo_sparse *laplacian(damo_format format, double shift, double wind) {
  static int64_t indptr[UNKNOWNS + 1], indices[5 * UNKNOWNS];
  static double data[5 * UNKNOWNS];
  int64_t n = 0;
  for (int64_t i = 0; i < UNKNOWNS; i++) {
    static const int dx[5] = {0, -1, 0, 1, 0}, dy[5] = {-1, 0, 0, 0, 1};
    indptr[i] = n;
    for (int k = 0; k < 5; k++) {
      const int64_t x = i % SIDE + dx[k], y = i / SIDE + dy[k];
      if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) continue;
      indices[n] = y * SIDE + x;
      data[n++] = k == 2 ? 4 - shift : k == 1 ? -1 - wind : k == 3 ? -1 + wind : -1;
    }
  }
  indptr[UNKNOWNS] = n;
  return damo_sparse_new(ctx, format, DAMO_FLOAT64, UNKNOWNS, UNKNOWNS, n, indptr, indices, data);
}

/* x of a·x = b, by sparse.solve; NULL: the error is set. */
static damo_array *sparse_solve(damo_sparse *a, damo_array *b, const char *options) {
  damo_type *t = damo_type_sparse_like(a, DAMO_FLOAT64);
  damo_var *in[2], *x;
  damo_obj *args[2], *out = NULL;
  damo_array *result = NULL;
  damo_function *f = NULL;
  in[0] = t != NULL ? damo_var_new(ctx, t, "a") : NULL, in[1] = input(DAMO_FLOAT64, damo_array_ndim(b), "b");
  args[0] = (damo_obj *)a, args[1] = (damo_obj *)b;
  x = in[0] == NULL || in[1] == NULL ? NULL
                                     : damo_call_with(ctx, "sparse.solve", in, 2, options != NULL ? options : "");
  if (x != NULL) f = damo_compile(ctx, in, 2, &x, 1, NULL, NULL, 0, NULL);
  if (f != NULL && damo_function_call_values(f, args, 2, &out) == DAMO_OK) result = damo_as_array(out);
  damo_release(f);
  damo_release(x);
  damo_release(in[0]);
  damo_release(in[1]);
  damo_release(t);
  return result;
}

static double residual(damo_sparse *a, const damo_array *x, const damo_array *b) {
  damo_array *dense = damo_sparse_toarray(a);
  double most = 0;
  for (int i = 0; i < UNKNOWNS; i++) {
    double sum = -numbers(b)[i];
    for (int j = 0; j < UNKNOWNS; j++) sum += numbers(dense)[i * UNKNOWNS + j] * numbers(x)[j];
    if (!(fabs(sum) <= most)) most = fabs(sum);
  }
  damo_release(dense);
  return most;
}

static void test_sparse(void) {
  const int64_t shape[1] = {UNKNOWNS};
  damo_array *b = damo_array_new(ctx, DAMO_FLOAT64, 1, shape);
  for (int i = 0; i < UNKNOWNS; i++) ((double *)damo_array_data(b))[i] = draw();
  for (int k = 0; k < 6; k++) {
    /* definite, then indefinite */
    damo_sparse *a = laplacian(k % 2 ? DAMO_CSR : DAMO_CSC, k >= 4 ? 1.01 : 0, 0);
    damo_array *x = CHECK(a != NULL) ? sparse_solve(a, b,
                                                    k == 2 || k == 3 ? "assume=pos"
                                                    : k >= 4         ? "assume=sym"
                                                                     : NULL)
                                     : NULL;
    if (CHECK(x != NULL)) CHECK(residual(a, x, b) < 1e-10);
    damo_release(x);
    damo_release(a);
  }
  {
    damo_sparse *a = laplacian(DAMO_CSC, 5, 0);
    damo_array *x = sparse_solve(a, b, "assume=pos");
    CHECK(x == NULL && strcmp(damo_error_kind(ctx), "numeric") == 0);
    damo_release(x);
    damo_release(a);
  }
  {
    damo_sparse *a = laplacian(DAMO_CSR, 0, 0.25);
    damo_array *x = sparse_solve(a, b, NULL);
    if (x != NULL) {
      CHECK(residual(a, x, b) < 1e-10);
    } else {
      CHECK(strcmp(damo_error_kind(ctx), "not_implemented") == 0);
      CHECK(strstr(damo_error_message(ctx), "Factorize") != NULL);
      CHECK(strstr(damo_error_message(ctx), "SuiteSparse") != NULL);
    }
    printf("%s SuiteSparse\n", x != NULL ? "with" : "without");
    damo_release(x);
    damo_release(a);
  }
  damo_release(b);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* An archive of one member, "x.npy", deflated: a float64 vector (1, 2, 3). */
static const unsigned char deflated[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x2a, 0xc1, 0x1d, 0x44, 0x50,
    0x00, 0x00, 0x00, 0x98, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x9b, 0xec, 0x17,
    0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e,
    0x93, 0x66, 0xa1, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a,
    0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0xc6, 0x3a, 0x9a,
    0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x30, 0xf8, 0x60, 0x0f, 0xa1, 0x19, 0x1c, 0x20, 0x14, 0x87, 0x03,
    0x00, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x2a, 0xc1,
    0x1d, 0x44, 0x50, 0x00, 0x00, 0x00, 0x98, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x73, 0x00, 0x00, 0x00, 0x00, 0x00};

static void test_files(const char *folder) {
  char path[512];
  const char *names[2] = {"first", "second"};
  damo_array *arrays[2], *back;
  damo_npz *z;
  snprintf(path, sizeof path, "%s/amalgamation-test.npz", folder);
  arrays[0] = matrix(17, 5), arrays[1] = matrix(1, 3);
  for (int twice = 0; twice < 2; twice++) /* the second replaces the first */
    CHECK(damo_npz_write(ctx, path, names, arrays, 2) == DAMO_OK);
  z = damo_npz_read(ctx, path, 0);
  if (CHECK(z != NULL)) {
    CHECK(damo_npz_size(z) == 2);
    back = damo_npz_find(z, "first");
    CHECK(back != NULL && memcmp(numbers(back), numbers(arrays[0]), 17 * 5 * sizeof(double)) == 0);
    damo_npz_free(z);
  }
  CHECK(remove(path) == 0);
  CHECK(damo_npz_read(ctx, path, 0) == NULL && strcmp(damo_error_kind(ctx), "io") == 0);
  z = damo_npz_parse(ctx, deflated, sizeof deflated, 0);
  if (z != NULL) {
    back = damo_npz_find(z, "x");
    CHECK(back != NULL && numbers(back)[0] == 1 && numbers(back)[2] == 3);
    damo_npz_free(z);
  } else {
    CHECK(strcmp(damo_error_kind(ctx), "not_implemented") == 0);
    CHECK(strstr(damo_error_message(ctx), "zlib") != NULL);
  }
  printf("%s zlib\n", z != NULL ? "with" : "without");
  damo_release(arrays[0]);
  damo_release(arrays[1]);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static long left, blocks; /* allocations until one fails, negative: none does; blocks in use */

static void *failing(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)user, (void)osize;
  if (nsize == 0) {
    blocks -= ptr != NULL;
    free(ptr);
    return NULL;
  }
  if (left == 0) return NULL;
  left -= left > 0;
  blocks += ptr == NULL;
  return realloc(ptr, nsize);
}

/* A sparse and a dense system where one allocation after the other fails. */
static void test_memory(void) {
  damo_ctx *usual = ctx;
  int done = 0;
  for (long n = 0; !done; n += 1 + n / 16) {
    const int64_t shape[1] = {UNKNOWNS};
    damo_array *b, *x = NULL, *y = NULL, *m;
    damo_sparse *a;
    left = -1;
    ctx = damo_ctx_new(failing, NULL);
    b = damo_array_new(ctx, DAMO_FLOAT64, 1, shape);
    m = matrix(20, 20);
    a = laplacian(DAMO_CSC, 0, 0);
    left = n;
    x = sparse_solve(a, b, NULL);
    if (x != NULL) done = results_of("linalg.inv", NULL, m, NULL, &y, 1);
    if (!done && strcmp(damo_error_kind(ctx), "memory") != 0) CHECK(0);
    left = -1;
    damo_release(x);
    damo_release(y);
    damo_release(a);
    damo_release(m);
    damo_release(b);
    damo_ctx_release(ctx);
    ctx = usual;
    CHECK(blocks == 0);
  }
}

/* spec/c/reproducible_test.c: the bits of reproducible mode are those of every other build. */
int reproducible_main(int argc, char **argv);

int main(int argc, char **argv) {
  ctx = damo_ctx_new(NULL, NULL);
  if (ctx == NULL) return 1;
  test_gradient(NULL);
  test_gradient("FAST_COMPILE");
  test_gradient("DEBUG");
  test_functions();
  test_dense(5);
  test_dense(70);
  test_refused();
  test_sparse();
  test_memory();
  test_files(argc > 1 ? argv[1] : ".");
  CHECK(reproducible_main(1, NULL) == 0);
  CHECK(damo_ctx_memory(ctx).objects == 0);
  damo_ctx_release(ctx);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
