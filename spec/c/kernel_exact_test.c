/* kernel_exact_test: complex products, quotients and absolute values, sums of squares and of squared deviations, and
 * extremes, in every table the CPU runs, against the plain formulas, on special values and on parts of any size. */
#include "kernel/kernel.h"
#include "isa_case.h"
#include "kernel/elem/names.h"
#include "kernel/reduce/reduce.h"
#include "test.h"

#include <float.h>
#include <stdlib.h>

enum { N = 256 };

static uint64_t random_state = 88172645463325252u;
static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static const double specials[] = {0,       -0.0,     1,        -1,        3,    5e-324,   -2.2e-308, 1e-300, 1e-160,
                                  1.5e-45, -1.2e-38, 1e-30,    3e-19,     1e38, -3.4e38,  1e160,     1e300,  1.7e308,
                                  DBL_MAX, FLT_MAX,  INFINITY, -INFINITY, NAN,  0x1p-400, 0x1p500,   0x1p60, 0x1p-40};
enum { SPECIALS = sizeof specials / sizeof *specials };

/* A part of any magnitude that the dtype has, or one near 1. */
static double random_part(int range) {
  const double m = 1 + (double)(random_word() >> 11) * 0x1p-53;
  const int e = random_word() % 2 ? (int)(random_word() % 8) : (int)(random_word() % (unsigned)(2 * range)) - range;
  return ldexp(random_word() % 2 ? m : -m, e);
}

static double part(int range) {
  return random_word() % 4 == 0 ? specials[random_word() % SPECIALS] : random_part(range);
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }

/* ---- Quotients: Smith's algorithm, exact bits -------------------------------------------------------------------- */

static damo_c128 plain_c128(damo_c128 a, damo_c128 b) {
  if (b.re == 0 && b.im == 0) return (damo_c128){a.re / fabs(b.re), a.im / fabs(b.re)};
  if (fabs(b.re) >= fabs(b.im)) {
    const double r = b.im / b.re, d = b.re + b.im * r;
    return (damo_c128){(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const double r = b.re / b.im, d = b.re * r + b.im;
  return (damo_c128){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

static damo_c64 plain_c64(damo_c64 a, damo_c64 b) {
  if (b.re == 0 && b.im == 0) return (damo_c64){a.re / fabsf(b.re), a.im / fabsf(b.re)};
  if (fabsf(b.re) >= fabsf(b.im)) {
    const float r = b.im / b.re, d = b.re + b.im * r;
    return (damo_c64){(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const float r = b.re / b.im, d = b.re * r + b.im;
  return (damo_c64){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

/* uniform: one divisor for all. n elements. */
static bool quotients_agree(const kernel_isa *t, int n, bool uniform) {
  damo_c128 a[N], b[N], z[N];
  damo_c64 af[N], bf[N], zf[N];
  const damo_c128 one = {part(1022), random_word() % 2 ? 0 : part(1022)};
  for (int i = 0; i < n; i++) {
    a[i] = (damo_c128){part(1022), part(1022)};
    b[i] = uniform ? one : (damo_c128){part(1022), part(1022)};
    af[i] = (damo_c64){(float)part(126), (float)part(126)};
    bf[i] = uniform ? (damo_c64){(float)one.re, (float)one.im} : (damo_c64){(float)part(126), (float)part(126)};
  }
  t->elem[ELEM_true_div].fn[DAMO_COMPLEX128]((void *[]){a, b, z}, n);
  t->elem[ELEM_true_div].fn[DAMO_COMPLEX64]((void *[]){af, bf, zf}, n);
  bool ok = true;
  for (int i = 0; i < n; i++) {
    const damo_c128 want = plain_c128(a[i], b[i]);
    const damo_c64 want_f = plain_c64(af[i], bf[i]);
    ok = ok && same(z[i].re, want.re) && same(z[i].im, want.im);
    ok = ok && same((double)zf[i].re, (double)want_f.re) && same((double)zf[i].im, (double)want_f.im);
  }
  return ok;
}

/* No multiplication and addition are contracted to an FMA. */
static bool products_agree(const kernel_isa *t, int n) {
  damo_c128 a[N], z[N];
  damo_c64 af[N], zf[N];
  for (int i = 0; i < n; i++) a[i] = (damo_c128){random_part(3), random_part(3)};
  for (int i = 0; i < n; i++) af[i] = (damo_c64){(float)a[i].re, (float)a[i].im};
  t->elem[ELEM_mul].fn[DAMO_COMPLEX128]((void *[]){a, a, z}, n);
  t->elem[ELEM_mul].fn[DAMO_COMPLEX64]((void *[]){af, af, zf}, n);
  bool ok = true;
  for (int i = 0; i < n; i++) {
    const damo_c128 x = a[i];
    const damo_c64 y = af[i];
    ok = ok && same(z[i].re, x.re * x.re - x.im * x.im) && same(z[i].im, x.re * x.im + x.im * x.re);
    ok = ok && zf[i].re == y.re * y.re - y.im * y.im && zf[i].im == y.re * y.im + y.im * y.re;
  }
  return ok;
}

static void test_quotients(const kernel_isa *t) {
  CHECK(products_agree(t, N) && products_agree(t, 3));
  bool all = true;
  for (int round = 0; round < 2000; round++) all = all && quotients_agree(t, 1 + round % N, round % 2 == 0);
  CHECK(all);
  /* all equal except one, at every position; in place of the divisors too */
  for (int n = 2; n < 40; n++) {
    for (int odd = 0; odd < n; odd++) {
      damo_c128 a[40], b[40];
      for (int i = 0; i < n; i++) a[i] = (damo_c128){6, 3}, b[i] = (damo_c128){i == odd ? 2 : 3, 0};
      t->elem[ELEM_true_div].fn[DAMO_COMPLEX128]((void *[]){a, b, b}, n);
      for (int i = 0; i < n; i++) all = all && b[i].re == (i == odd ? 3 : 2) && b[i].im == (i == odd ? 1.5 : 1);
    }
  }
  CHECK(all);
}

/* ---- Absolute values --------------------------------------------------------------------------------------------- */

/* The error in ULPs of the exact result. */
static double ulps_off(double got, long double want, int digits, int least) {
  if ((isnan(got) && isnan(want)) || (got == 0 && want == 0)) return 0;
  if (isinf(got) && isinf(want) && got == (double)want) return 0;
  if (isinf(got) || isinf(want) || isnan(got) || isnan(want) || want == 0) return INFINITY;
  return fabs((double)((got - want) / ldexpl(1, (int)fmax(ilogbl(want) + 1 - digits, least))));
}

static double worst_sizes(const kernel_isa *t, int n) {
  damo_c128 a[N];
  damo_c64 af[N];
  double z[N], worst = 0;
  float zf[N];
  for (int i = 0; i < n; i++) {
    a[i] = (damo_c128){part(1074), part(1074)};
    af[i] = (damo_c64){(float)part(149), (float)part(149)};
    if (i % 2) a[i].im = ldexp(a[i].re, (int)(random_word() % 5) - 2) * (1 + (double)(random_word() % 99) / 100);
    if (i % 2) af[i].im = ldexpf(af[i].re, (int)(random_word() % 5) - 2) * (1 + (float)(random_word() % 99) / 100);
  }
  t->elem[ELEM_abs].fn[DAMO_COMPLEX128]((void *[]){a, z}, n);
  t->elem[ELEM_abs].fn[DAMO_COMPLEX64]((void *[]){af, zf}, n);
  for (int i = 0; i < n; i++) {
    const long double want = hypotl(a[i].re, a[i].im), want_f = hypotl((long double)af[i].re, (long double)af[i].im);
    const bool over = want > (long double)DBL_MAX, over_f = want_f > (long double)FLT_MAX;
    worst = fmax(worst, over ? (z[i] >= DBL_MAX ? 0 : INFINITY) : ulps_off(z[i], want, 53, -1074));
    worst = fmax(worst, over_f ? (zf[i] >= FLT_MAX ? 0 : INFINITY) : ulps_off((double)zf[i], want_f, 24, -149));
  }
  return worst;
}

static void test_sizes(const kernel_isa *t) {
  double worst = 0;
  for (int round = 0; round < 2000; round++) worst = fmax(worst, worst_sizes(t, 1 + round % N));
  if (!CHECK(worst <= 0.93)) fprintf(stderr, "    %s abs: %g ULP\n", t->name, worst);
  const damo_c128 z[] = {{3, -4},  {-5e-324, 0},     {0, -0.0},       {INFINITY, NAN},  {NAN, -INFINITY},
                         {NAN, 1}, {3e-320, 4e-320}, {3e307, -4e307}, {1e308, 1.7e308}, {8, 15}};
  double size[10];
  t->elem[ELEM_abs].fn[DAMO_COMPLEX128]((void *[]){(void *)(uintptr_t)z, size}, 10);
  CHECK(size[0] == 5 && size[1] == 5e-324 && size[2] == 0 && !signbit(size[2]));
  CHECK(isinf(size[3]) && isinf(size[4]) && size[3] > 0 && size[4] > 0 && isnan(size[5]));
  CHECK(size[6] == 5e-320 && fabs(size[7] - 5e307) <= 1e292 && isinf(size[8]) && size[9] == 17);
}

/* ---- Sums of squares --------------------------------------------------------------------------------------------- */

static void reduce(const kernel_isa *t, reduce_kind kind, damo_dtype in, const char *x, const int64_t *shape,
                   const int64_t *strides, uint32_t axes, char *out) {
  const size_t room = (reduce_workspace(kind, in, 2, shape, axes) + 63) / 64 * 64;
  void *work = aligned_alloc(64, room);
  kernel_reduce(t, kind, in, x, 2, shape, strides, axes, out, work);
  free(work);
}

/* The elements of x are `step` apart, its rows contiguous. */
static bool squares_agree(const kernel_isa *t, damo_dtype in, int64_t rows, int64_t cols, int64_t step, uint32_t axes) {
  const damo_dtype real = in == DAMO_COMPLEX64 ? DAMO_FLOAT32 : in == DAMO_COMPLEX128 ? DAMO_FLOAT64 : in;
  const int64_t size = (int64_t)dtype_size(in), width = (int64_t)dtype_size(real), n = rows * cols;
  const bool is_pair = in != real;
  char *x = calloc((size_t)(n * step + 1), 16), *y = calloc((size_t)n + 1, 16), *z = calloc((size_t)n + 1, 16);
  const size_t most = (size_t)(n + rows + cols + 1);
  char *first = calloc(most, 8), *second = calloc(most, 8);
  for (int64_t i = 0; i < n; i++) {
    double re = (double)(int64_t)random_word() * 0x1p-62, im = (double)(int64_t)random_word() * 0x1p-62;
    kernel_cast(DAMO_FLOAT64, real)(&re, x + i * step * size, 1);
    if (is_pair) kernel_cast(DAMO_FLOAT64, real)(&im, x + i * step * size + width, 1);
    memcpy(y + i * width, x + i * step * size, (size_t)width);
    if (is_pair) memcpy(z + i * width, x + i * step * size + width, (size_t)width);
  }
  t->elem[ELEM_sqr].fn[real]((void *[]){y, y}, n);
  t->elem[ELEM_sqr].fn[real]((void *[]){z, z}, n);
  if (is_pair) t->elem[ELEM_add].fn[real]((void *[]){y, z, y}, n);
  const int64_t shape[] = {rows, cols}, own[] = {cols * width, width}, strides[] = {cols * step * size, step * size};
  reduce(t, REDUCE_SUM, real, y, shape, own, axes, first);
  reduce(t, REDUCE_SUM_SQR, in, x, shape, strides, axes, second);
  const bool ok = memcmp(first, second, most * 8) == 0;
  free(x), free(y), free(z), free(first), free(second);
  return ok;
}

static void test_squares(const kernel_isa *t) {
  static const damo_dtype dtypes[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};
  static const int64_t sizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 511, 512, 513, 1023, 1024, 1025, 2048, 3 * 512 + 40, 9000};
  for (int d = 0; d < 4; d++) {
    bool all = true;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      for (int64_t step = 1; step < 3; step++) {
        all = all && squares_agree(t, dtypes[d], 1, sizes[k], step, 3) &&
              squares_agree(t, dtypes[d], 3, sizes[k], step, 2);
        all = all && squares_agree(t, dtypes[d], sizes[k], 20, step, 1) &&
              squares_agree(t, dtypes[d], 3, sizes[k], step, 3);
      }
    }
    if (!CHECK(all)) fprintf(stderr, "    dtype %d\n", (int)dtypes[d]);
    CHECK(reduce_supported(REDUCE_SUM_SQR, dtypes[d]));
  }
  CHECK(!reduce_supported(REDUCE_SUM_SQR, DAMO_INT64) && !reduce_supported(REDUCE_SUM_SQR, DAMO_BOOL));
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* The sum that reductions promise: element i of a block of 512 goes to lane i mod 8, lanes are added by halves, blocks in
 * a tree whose left half has the largest power of two of blocks that is less than all. */
static double ordered_sum(const double *x, int64_t n, int64_t step) {
  double lanes[8] = {0};
  if (n > 512) {
    int64_t left = 512;
    while (2 * left < n) left *= 2;
    return ordered_sum(x, left, step) + ordered_sum(x + left * step, n - left, step);
  }
  for (int64_t i = 0; i < n; i++) lanes[i % 8] = i < 8 ? x[i * step] : lanes[i % 8] + x[i * step];
  for (int half = 4; half > 0; half /= 2)
    for (int l = 0; l < half && l + half < n; l++) lanes[l] += lanes[l + half];
  return lanes[0];
}

/* Sums of rows, of columns, and of columns as rows that are not contiguous. */
static bool sums_in_order(const kernel_isa *t, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols, shape[] = {rows, cols}, turned[] = {cols, rows}, own[] = {cols * 8, 8};
  const int64_t other[] = {8, cols * 8};
  double *x = malloc((size_t)n * 8), *across = malloc((size_t)rows * 8), *down = malloc((size_t)cols * 8);
  double *again = malloc((size_t)cols * 8);
  bool ok = true;
  for (int64_t i = 0; i < n; i++) x[i] = (double)(int64_t)random_word() * 0x1p-62;
  reduce(t, REDUCE_SUM, DAMO_FLOAT64, (char *)x, shape, own, 2, (char *)across);
  reduce(t, REDUCE_SUM, DAMO_FLOAT64, (char *)x, shape, own, 1, (char *)down);
  reduce(t, REDUCE_SUM, DAMO_FLOAT64, (char *)x, turned, other, 2, (char *)again);
  for (int64_t i = 0; i < rows; i++) ok = ok && across[i] == ordered_sum(x + i * cols, cols, 1);
  for (int64_t j = 0; j < cols; j++) {
    const double want = ordered_sum(x + j, rows, cols);
    ok = ok && down[j] == want && again[j] == want;
  }
  free(x), free(across), free(down), free(again);
  return ok;
}

static void test_order(const kernel_isa *t) {
  static const int64_t sizes[] = {1,    7,    9,    64,   73,   511,  512,  513,  1024, 1027, 1032, 1500,
                                  1536, 1537, 1543, 1544, 2000, 2048, 2049, 2568, 3000, 4096, 9001};
  bool all = true;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    all = sums_in_order(t, 11, sizes[k]) && sums_in_order(t, sizes[k], 11) && sums_in_order(t, sizes[k], 37) && all;
  all = sums_in_order(t, 700, 2100) && sums_in_order(t, 1100, 700) && all;
  if (!CHECK(all)) fprintf(stderr, "    %s\n", t->name);
}

/* ---- Deviations -------------------------------------------------------------------------------------------------- */

/* Replaces the elements of each group along the axes by their squared differences from sum / n, of that dtype. */
static void square_deviations(const kernel_isa *t, damo_dtype dtype, char *x, const char *sums, int64_t rows,
                              int64_t cols, uint32_t axes) {
  const int64_t size = (int64_t)dtype_size(dtype);
  const double n = (double)((axes & 1 ? rows : 1) * (axes & 2 ? cols : 1));
  char count[8], mean[8];
  kernel_cast(DAMO_FLOAT64, dtype)(&n, count, 1);
  for (int64_t i = 0; i < rows * cols; i++, x += size) {
    const int64_t group = axes == 3 ? 0 : axes == 2 ? i / cols : i % cols;
    t->elem[ELEM_true_div].fn[dtype]((void *[]){(void *)(uintptr_t)(sums + group * size), count, mean}, 1);
    t->elem[ELEM_sub].fn[dtype]((void *[]){x, mean, x}, 1);
    t->elem[ELEM_sqr].fn[dtype]((void *[]){x, x}, 1);
  }
}

static bool deviations_agree(const kernel_isa *t, damo_dtype dtype, int64_t rows, int64_t cols, uint32_t axes) {
  const int64_t size = (int64_t)dtype_size(dtype), n = rows * cols;
  char *x = malloc((size_t)(n * size)), *sums = calloc((size_t)(rows + cols), 8);
  char *first = calloc((size_t)(rows + cols), 8), *second = calloc((size_t)(rows + cols), 8);
  for (int64_t i = 0; i < n; i++) {
    const double y = 3 + (double)(int64_t)random_word() * 0x1p-62;
    kernel_cast(DAMO_FLOAT64, dtype)(&y, x + i * size, 1);
  }
  const int64_t shape[] = {rows, cols}, strides[] = {cols * size, size};
  reduce(t, REDUCE_SUM, dtype, x, shape, strides, axes, sums);
  reduce(t, REDUCE_SUM_SQR_DEV, dtype, x, shape, strides, axes, second);
  square_deviations(t, dtype, x, sums, rows, cols, axes);
  reduce(t, REDUCE_SUM, dtype, x, shape, strides, axes, first);
  const bool ok = memcmp(first, second, (size_t)(rows + cols) * 8) == 0;
  free(x), free(sums), free(first), free(second);
  return ok;
}

static void test_deviations(const kernel_isa *t) {
  static const int64_t sizes[] = {1, 2, 7, 8, 33, 512, 513, 1300, 1543, 2000, 2600};
  for (int dtype = DAMO_FLOAT32; dtype <= DAMO_FLOAT64; dtype++) {
    bool all = true;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      for (uint32_t axes = 1; axes < 4; axes++)
        all = all && deviations_agree(t, (damo_dtype)dtype, sizes[k], 20, axes) &&
              deviations_agree(t, (damo_dtype)dtype, 20, sizes[k], axes);
    }
    all = all && deviations_agree(t, (damo_dtype)dtype, 600, 2100, 1);
    if (!CHECK(all)) fprintf(stderr, "    %s, %s\n", t->name, dtype_name((damo_dtype)dtype));
    CHECK(reduce_supported(REDUCE_SUM_SQR_DEV, (damo_dtype)dtype));
  }
  CHECK(!reduce_supported(REDUCE_SUM_SQR_DEV, DAMO_COMPLEX64) && !reduce_supported(REDUCE_SUM_SQR_DEV, DAMO_INT64));
}

/* ---- Extremes ---------------------------------------------------------------------------------------------------- */

/* A random value. A third of them are among the first `kinds` special ones: zeros of both signs, infinities, nan. */
static double extreme_value(int kinds) {
  static const double values[] = {0.0, -0.0, -1, 0.5, -INFINITY, INFINITY, NAN};
  return random_word() % 3 == 0 ? values[random_word() % (uint64_t)kinds] : -(double)(random_word() % 4);
}

/* The first position of the best of n elements, `step` apart; the first nan's if there is one. */
static int64_t first_best(const double *x, int64_t n, int64_t step, bool low) {
  int64_t best = 0;
  for (int64_t i = 1; i < n && !isnan(x[best * step]); i++) {
    const double a = x[i * step], b = x[best * step];
    if (isnan(a) || (low ? a < b : a > b)) best = i;
  }
  return best;
}

/* Extremes of rows, one sequence after another, and of the transpose's columns, side by side in strips: the same bits,
 * and the same element that a plain loop finds. */
static bool extremes_agree(const kernel_isa *t, damo_dtype dtype, int64_t rows, int64_t cols, int kinds) {
  const int64_t size = (int64_t)dtype_size(dtype), n = rows * cols;
  double *x = malloc((size_t)n * sizeof *x);
  char *across = malloc((size_t)(n * size)), *down = malloc((size_t)(n * size));
  char *first = malloc((size_t)rows * 8), *second = malloc((size_t)rows * 8);
  bool ok = true;
  for (int64_t i = 0; i < n; i++) {
    x[i] = extreme_value(kinds);
    kernel_cast(DAMO_FLOAT64, dtype)(&x[i], across + i * size, 1);
    kernel_cast(DAMO_FLOAT64, dtype)(&x[i], down + (i % cols * rows + i / cols) * size, 1);
  }
  static const reduce_kind extremes[] = {REDUCE_MAX, REDUCE_MIN, REDUCE_ARGMAX, REDUCE_ARGMIN};
  for (int k = 0; k < 4; k++) {
    const bool low = extremes[k] == REDUCE_MIN || extremes[k] == REDUCE_ARGMIN, is_value = k < 2;
    const damo_dtype out = reduce_out_dtype(extremes[k], dtype);
    const int64_t wide[] = {rows, cols}, tall[] = {cols, rows};
    reduce(t, extremes[k], dtype, across, wide, (int64_t[]){cols * size, size}, 2, first);
    reduce(t, extremes[k], dtype, down, tall, (int64_t[]){rows * size, size}, 1, second);
    ok = ok && memcmp(first, second, (size_t)rows * dtype_size(out)) == 0;
    for (int64_t i = 0; i < rows; i++) {
      double got;
      kernel_cast(out, DAMO_FLOAT64)(first + i * (int64_t)dtype_size(out), &got, 1);
      const int64_t best = first_best(x + i * cols, cols, 1, low);
      const double want = is_value ? x[i * cols + best] : (double)(best + 1);
      ok = ok && (got == want || (isnan(got) && isnan(want)));
    }
  }
  free(x), free(across), free(down), free(first), free(second);
  return ok;
}

static void test_extremes(const kernel_isa *t) {
  static const int64_t sizes[] = {1,   2,   7,   8,   31,   32,   33,   63,   64,   65,
                                  100, 511, 512, 513, 1023, 1543, 2000, 2048, 2049, 4700};
  for (int dtype = DAMO_FLOAT32; dtype <= DAMO_FLOAT64; dtype++) {
    bool all = true;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
      for (int kinds = 2; kinds <= 7; kinds++) all = extremes_agree(t, (damo_dtype)dtype, 20, sizes[k], kinds) && all;
    all = extremes_agree(t, (damo_dtype)dtype, 2300, 70, 6) && all;
    if (!CHECK(all)) fprintf(stderr, "    %s, %s\n", t->name, dtype_name((damo_dtype)dtype));
  }
}

int main(void) {
  const kernel_isa *t;
  for (int k = 0; (t = next_isa(&k)) != NULL;) {
    test_quotients(t);
    test_sizes(t);
    test_squares(t);
    test_order(t);
    test_deviations(t);
    test_extremes(t);
  }
  TEST_MAIN_END;
}
