/* blas_test: damo's own products of matrices, of each dtype and instruction set, against the sums that define them, entry
 * by entry to the bit, for matrices by rows, by columns and with gaps; nan, infinities, and beta and alpha 0. */
#include "kernel/blas/blas.h"
#include "isa_case.h"
#include "test.h"

enum { MOST = 160 * 160 * 2 * 2 };

static double a64[MOST], b64[MOST], c64[MOST], want64[MOST], start64[MOST];
static float a32[MOST], b32[MOST], c32[MOST], want32[MOST], start32[MOST];

static double draw(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53 - 0.5;
}

/* The definition of blas.h, in the plainest loops. */
#define REFERENCE(name, T)                                                                                  \
  static void name(const blas_gemm *g, bool cplx, T *c) {                                                   \
    const T *a = g->a, *b = g->b, alpha[2] = {(T)g->alpha.re, (T)g->alpha.im};                              \
    const T beta[2] = {(T)g->beta.re, (T)g->beta.im};                                                       \
    const int s = cplx ? 2 : 1;                                                                             \
    for (int64_t i = 0; i < g->m; i++)                                                                      \
      for (int64_t j = 0; j < g->n; j++) {                                                                  \
        T *z = c + (i * g->c_row + j * g->c_col) * s, x = beta[0] * z[0], y = 0;                            \
        if (cplx) x -= beta[1] * z[1], y = beta[0] * z[1] + beta[1] * z[0];                                 \
        for (int64_t p = 0; p < g->k; p += BLAS_DEPTH) {                                                    \
          T re = 0, im = 0;                                                                                 \
          for (int64_t q = p; q < g->k && q < p + BLAS_DEPTH; q++) {                                        \
            const T *u = a + (i * g->a_row + q * g->a_col) * s, *v = b + (q * g->b_row + j * g->b_col) * s; \
            if (cplx) {                                                                                     \
              const T ui = g->conj_a ? -u[1] : u[1], vi = g->conj_b ? -v[1] : v[1];                         \
              re += u[0] * v[0] - ui * vi;                                                                  \
              im += u[0] * vi + ui * v[0];                                                                  \
            } else {                                                                                        \
              re += u[0] * v[0];                                                                            \
            }                                                                                               \
          }                                                                                                 \
          x += cplx ? alpha[0] * re - alpha[1] * im : alpha[0] * re;                                        \
          y += alpha[0] * im + alpha[1] * re;                                                               \
        }                                                                                                   \
        z[0] = x;                                                                                           \
        if (cplx) z[1] = y;                                                                                 \
      }                                                                                                     \
  }
REFERENCE(product_f32, float)
REFERENCE(product_f64, double)

/* Steps of a matrix with its rows or its columns contiguous, or neither. */
static void layout(int way, int64_t rows, int64_t cols, int64_t *row, int64_t *col) {
  *row = way == 0 ? cols : way == 1 ? 1 : 2 * cols + 1;
  *col = way == 0 ? 1 : way == 1 ? rows + 3 : 2;
}

static void check_product(const kernel_isa *isa, damo_dtype dtype, int64_t m, int64_t n, int64_t k, int way,
                          damo_c128 alpha, damo_c128 beta) {
  const bool cplx = dtype == DAMO_COMPLEX64 || dtype == DAMO_COMPLEX128;
  const bool single = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64;
  blas_gemm g = {.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
  g.conj_a = cplx && way % 2;
  g.conj_b = cplx && way % 5 == 0;
  layout(way % 3, m, k, &g.a_row, &g.a_col);
  layout(way / 3 % 3, k, n, &g.b_row, &g.b_col);
  layout(way / 9, m, n, &g.c_row, &g.c_col);
  if (single) {
    memcpy(c32, start32, sizeof c32), memcpy(want32, start32, sizeof want32);
    g.a = a32, g.b = b32, g.c = c32;
    product_f32(&g, cplx, want32);
  } else {
    memcpy(c64, start64, sizeof c64), memcpy(want64, start64, sizeof want64);
    g.a = a64, g.b = b64, g.c = c64;
    product_f64(&g, cplx, want64);
  }
  isa->blas->gemm[dtype](&g);
  if (!CHECK(single ? memcmp(c32, want32, sizeof c32) == 0 : memcmp(c64, want64, sizeof c64) == 0))
    fprintf(stderr, "    %s: dtype %d, %d by %d by %d, layouts %d\n", isa->name, (int)dtype, (int)m, (int)k, (int)n,
            way);
}

static void check_isa(const kernel_isa *isa) {
  static const damo_dtype dtypes[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};
  static const int sizes[][3] = {{1, 1, 1},  {1, 1, 130}, {1, 7, 65},   {9, 1, 64},    {33, 1, 150},
                                 {3, 5, 2},  {8, 8, 8},   {17, 31, 63}, {32, 64, 64},  {35, 67, 129},
                                 {2, 90, 3}, {90, 2, 3},  {70, 3, 1},   {100, 66, 65}, {0, 3, 2}};
  const damo_c128 one = {1, 0}, zero = {0, 0}, other = {-1.25, 0}, turn = {0.5, 2};
  for (int d = 0; d < 4; d++) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (int way = 0; way < 27; way++) {
        check_product(isa, dtypes[d], sizes[s][0], sizes[s][1], sizes[s][2], way, other, d < 2 ? other : turn);
        if (way % 4 == 0) check_product(isa, dtypes[d], sizes[s][0], sizes[s][1], sizes[s][2], way, turn, one);
      }
    check_product(isa, dtypes[d], 5, 6, 70, 0, one, zero);
  }
}

/* With beta 0 what lies in c does not count, nor with alpha 0 what lies in a and b; a product by 1 keeps infinities. */
static void check_special(const kernel_isa *isa) {
  const double nan_ = NAN, inf = INFINITY;
  double a[2] = {inf, 0}, b[2] = {2, 0}, c[4] = {nan_, nan_, 7, 8};
  blas_gemm g = {.m = 1, .n = 1, .k = 1, .a = a, .b = b, .c = c, .a_row = 1, .a_col = 1, .b_row = 1, .b_col = 1};
  g.c_row = g.c_col = 1;
  g.alpha = (damo_c128){1, 0};
  isa->blas->gemm[DAMO_FLOAT64](&g);
  CHECK(c[0] == inf && isnan(c[1]));
  c[0] = nan_;
  g.k = 0;
  isa->blas->gemm[DAMO_FLOAT64](&g);
  CHECK(c[0] == 0);
  g.k = 1;
  c[0] = 3;
  g.alpha.re = 0;
  g.beta.re = 2;
  isa->blas->gemm[DAMO_FLOAT64](&g);
  CHECK(c[0] == 6);
}

int main(void) {
  const kernel_isa *isa;
  for (int i = 0; i < MOST; i++) {
    a32[i] = (float)(a64[i] = draw());
    b32[i] = (float)(b64[i] = draw());
    start32[i] = (float)(start64[i] = draw());
  }
  for (int k = 0; (isa = next_isa(&k)) != NULL;) {
    check_isa(isa);
    check_special(isa);
  }
  TEST_MAIN_END;
}
