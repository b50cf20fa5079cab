/* product_test: the kernels for products with a short dimension, of every instruction set, and the plans of products:
 * which operands are copied. */
#include "isa_case.h"
#include "op/linalg/blas.h"
#include "test.h"

#include <stdlib.h>

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

#define MOST 40
#define GUARD 777.0

typedef struct entries {
  damo_dtype dtype;
  double f64[4 * MOST * MOST];
  float f32[4 * MOST * MOST];
} entries;

static void put(entries *e, int64_t i, double v) {
  if (e->dtype == DAMO_FLOAT64)
    e->f64[i] = v;
  else
    e->f32[i] = (float)v;
}
static double get(const entries *e, int64_t i) { return e->dtype == DAMO_FLOAT64 ? e->f64[i] : (double)e->f32[i]; }
static void *data(entries *e) { return e->dtype == DAMO_FLOAT64 ? (void *)e->f64 : (void *)e->f32; }

/* Small integers, so that every product is exact in any order. */
static double a_entry(int64_t i, int64_t p) { return (double)((i * 7 + p * 3) % 11 - 5); }
static double b_entry(int64_t p, int64_t j) { return (double)((p * 5 + j) % 7 - 3); }
static double c_entry(int64_t i, int64_t j) { return (double)((i + 2 * j) % 5 - 2); }

/* One product; b_col other than 1 is a transposed b. Entries outside c must stay as they are. */
static bool product_is_right(const kernel_isa *isa, damo_dtype dtype, const small_gemm *shape) {
  static entries a, b, c, z;
  small_gemm g = *shape;
  const bool apart = g.z_row != 0; /* z is another matrix than c */
  bool same = true;
  a.dtype = b.dtype = c.dtype = z.dtype = dtype;
  for (int64_t i = 0; i < g.m; i++)
    for (int64_t p = 0; p < g.k; p++) put(&a, i * g.a_row + p * g.a_col, a_entry(i, p));
  for (int64_t p = 0; p < g.k; p++)
    for (int64_t j = 0; j < g.n; j++) put(&b, p * g.b_row + j * g.b_col, b_entry(p, j));
  for (int64_t i = 0; i < 4 * MOST * MOST; i++) put(&c, i, GUARD);
  for (int64_t i = 0; i < g.m; i++) {
    for (int64_t j = 0; j < g.n; j++) {
      put(&c, i * g.c_row + j, g.beta == 0 || apart ? NAN : c_entry(i, j));
      put(&z, i * g.z_row + j, c_entry(i, j));
    }
  }
  g.a = data(&a), g.b = data(&b), g.c = data(&c), g.z = apart ? data(&z) : g.c;
  if (!apart) g.z_row = g.c_row;
  isa->small_gemm->run[dtype](&g);
  for (int64_t i = 0; i < g.m; i++) {
    for (int64_t j = 0; j < g.c_row; j++) {
      double want = GUARD;
      if (j < g.n) {
        want = 0;
        for (int64_t p = 0; p < g.k; p++) want += a_entry(i, p) * b_entry(p, j);
        want = g.alpha * want + (g.beta == 0 ? 0 : g.beta * c_entry(i, j));
      }
      same = same && get(&c, i * g.c_row + j) == want;
    }
  }
  for (int64_t i = g.m * g.c_row; i < 4 * MOST * MOST; i++) same = same && get(&c, i) == GUARD;
  return same;
}

static const double scale[][2] = {{1, 0}, {-2, 0}, {1, 1}, {0.5, -1}};

/* One shape with all layouts and factors. */
static bool check_shape(const kernel_isa *isa, damo_dtype dtype, int64_t m, int64_t n, int64_t k) {
  for (int how = 0; how < 32; how++) {
    small_gemm g = {.m = m, .n = n, .k = k, .alpha = scale[how / 4 % 4][0], .beta = scale[how / 4 % 4][1]};
    g.a_row = how & 1 ? 1 : k + 2, g.a_col = how & 1 ? m + 1 : 1;
    g.b_row = n + 3, g.b_col = 1, g.c_row = n + (how & 2 ? 5 : 0);
    g.z_row = how & 16 ? n + 1 : 0;
    if ((how & 2) && k * n <= SMALL_GEMM_PACK) g.b_row = 1, g.b_col = k + 1;
    if (CHECK(product_is_right(isa, dtype, &g))) continue;
    fprintf(stderr, "    %s %s %lldx%lldx%lld, case %d\n", isa->name, dtype_name(dtype), (long long)m, (long long)k,
            (long long)n, how);
    return false;
  }
  return true;
}

static void test_kernels(void) {
  int k_isa = 0;
  for (const kernel_isa *isa = next_isa(&k_isa); isa != NULL; isa = next_isa(&k_isa)) {
    for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
      if (isa->small_gemm->run[dtype] == NULL) continue;
      for (int64_t m = 1; m <= 19; m++) {
        for (int64_t n = 1; n <= 37; n++) {
          if (!check_shape(isa, (damo_dtype)dtype, m, n, 1 + (m * 5 + n * 3) % 13)) return;
        }
      }
      check_shape(isa, (damo_dtype)dtype, 75, 21, 40); /* rows in groups */
    }
  }
}

/* An entry has the same bits wherever it lies in a tile: each row and column of a product against the whole. */
static void test_places(void) {
  enum { M = 21, K = 33, N = 35 };
  static double a[M * K], b[K * N], c[M * N], row[N];
  int k_isa = 0;
  for (int i = 0; i < M * K; i++) a[i] = sin(i);
  for (int i = 0; i < K * N; i++) b[i] = cos(3 * i);
  for (const kernel_isa *isa = next_isa(&k_isa); isa != NULL; isa = next_isa(&k_isa)) {
    if (isa->small_gemm->run[DAMO_FLOAT64] == NULL) continue;
    small_gemm g = {.m = M, .n = N, .k = K, .a = a, .b = b, .c = c, .alpha = 1};
    g.a_row = K, g.a_col = 1, g.b_row = N, g.b_col = 1, g.c_row = N;
    isa->small_gemm->run[DAMO_FLOAT64](&g);
    bool same = true;
    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++) {
        g.m = 1, g.n = N - j, g.a = a + i * K, g.b = b + j, g.c = row;
        isa->small_gemm->run[DAMO_FLOAT64](&g);
        same = same && memcmp(row, c + i * N + j, (size_t)(N - j) * sizeof(double)) == 0;
      }
    }
    CHECK(same);
  }
}

/* ---- Plans: what is copied --------------------------------------------------------------------------------------- */

/* A matrix of float64 with these steps in elements. */
static blas_mat mat(int64_t rows, int64_t cols, int64_t rs, int64_t cs) {
  return (blas_mat){NULL, rows, cols, 8 * rs, 8 * cs};
}

static size_t scratch_of(blas_mat a, blas_mat b) {
  int k = 0;
  gemm_plan p;
  gemm_plan_init(&p, NULL, next_isa(&k), DAMO_FLOAT64, a, b, mat(a.rows, b.cols, b.cols, 1));
  return p.scratch;
}

static void test_copies(void) {
  const blas_mat a = mat(300, 200, 200, 1), b = mat(200, 100, 100, 1);
  /* Rows or columns contiguous, the other axis with any step that is long enough. */
  CHECK_EQ_I(scratch_of(a, b), 0);
  CHECK_EQ_I(scratch_of(mat(300, 200, 1, 300), mat(200, 100, 1, 200)), 0);
  CHECK_EQ_I(scratch_of(mat(300, 200, 512, 1), mat(200, 100, 1, 777)), 0);
  /* One row, one column: any step but 0. */
  CHECK_EQ_I(scratch_of(a, mat(200, 1, 3, 1)), 0);
  CHECK_EQ_I(scratch_of(a, mat(200, 1, -1, 1)), 0);
  CHECK_EQ_I(scratch_of(a, mat(200, 1, -4, 0)), 0);
  CHECK_EQ_I(scratch_of(mat(1, 200, 0, -2), b), 0);
  CHECK_EQ_I(scratch_of(mat(1, 200, 0, -2), mat(200, 1, -3, 0)), 0);
  CHECK_EQ_I(scratch_of(mat(300, 1, -7, 0), mat(1, 100, 0, 1)) > 0, 1); /* an outer product: a is a matrix */
  CHECK_EQ_I(scratch_of(mat(300, 1, 7, 0), mat(1, 100, 0, 5)), 0);
  /* What BLAS cannot take. */
  CHECK(scratch_of(mat(300, 200, 400, 2), b) > 0);
  CHECK(scratch_of(mat(300, 200, -200, 1), b) > 0);
  CHECK(scratch_of(mat(300, 200, 0, 1), b) > 0);
  CHECK(scratch_of(a, mat(200, 1, 0, 0)) > 0);
  CHECK(scratch_of(mat(300, 200, 100, 1), b) > 0); /* rows overlap */
}

int main(void) {
  test_kernels();
  test_places();
  test_copies();
  TEST_MAIN_END;
}
