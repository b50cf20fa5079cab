/* fft_test: the transforms of each instruction set against the sums that define them, for all lengths up to 200 and some
 * beyond, each kind and direction, one slice and several; the bits of all instruction sets are the same. */
#include "kernel/fft/fft.h"
#include "isa_case.h"
#include "test.h"

#include <stdlib.h>

enum { MOST = 2100, LANES = 3 };

static double x[2 * MOST * LANES], y[2 * MOST * LANES], first[2 * MOST * LANES];
static const double pi = 3.14159265358979323846;

static double draw(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53 - 0.5;
}

/* Entry j of slice l of the points that are transformed. */
static void point(fft_kind kind, int64_t n, int64_t lanes, int64_t j, int64_t l, double *re, double *im) {
  const bool other = kind == FFT_FROM_HALF && 2 * j > n;
  const int64_t at = (other ? n - j : j) * lanes + l;
  *re = kind == FFT_TO_HALF ? x[at] : x[2 * at];
  *im = kind == FFT_TO_HALF ? 0 : x[2 * at + 1];
  if (kind == FFT_FROM_HALF && (j == 0 || 2 * j == n)) *im = 0;
  if (other) *im = -*im;
}

static double worst_difference(fft_kind kind, int64_t n, int64_t lanes, double sign) {
  double worst = 0;
  for (int64_t l = 0; l < lanes; l++) {
    for (int64_t k = 0; k < fft_out_length(kind, n); k++) {
      double re = 0, im = 0, u, v;
      for (int64_t j = 0; j < n; j++) {
        const double a = sign * 2 * pi * (double)(j * k % n) / (double)n;
        point(kind, n, lanes, j, l, &u, &v);
        re += u * cos(a) - v * sin(a);
        im += u * sin(a) + v * cos(a);
      }
      const int64_t at = k * lanes + l;
      const double d = kind == FFT_FROM_HALF ? fabs(y[at] - re) : hypot(y[2 * at] - re, y[2 * at + 1] - im);
      if (!(d <= worst)) worst = d;
    }
  }
  return worst;
}

static void transform(const fft_fns *fns, fft_kind kind, int64_t n, int64_t lanes, bool inverse) {
  const int64_t in = (kind == FFT_TO_HALF ? 1 : 2) * 8, out = (kind == FFT_FROM_HALF ? 1 : 2) * 8;
  const size_t size = (fft_plan_size(kind, false, n) + 63) / 64 * 64;
  void *memory = aligned_alloc(64, size);
  fft_plan p;
  fft_plan_init(&p, NULL, fns, kind, false, n, memory);
  void *work = aligned_alloc(64, (fft_work_size(&p, lanes) + 63) / 64 * 64);
  const fft_slices s = {.x = (const char *)x,
                        .y = (char *)y,
                        .x_step = lanes * in,
                        .x_lane = in,
                        .y_step = lanes * out,
                        .y_lane = out,
                        .x_length = fft_in_length(kind, n),
                        .lanes = lanes,
                        .inverse = inverse,
                        .scale = 1,
                        .interior = 1};
  fns->slices[0](&p, &s, work);
  free(work);
  free(memory);
}

static void test_length(fft_kind kind, int64_t n, int64_t lanes, bool inverse) {
  const size_t size = (size_t)(fft_out_length(kind, n) * lanes) * (kind == FFT_FROM_HALF ? 8 : 16);
  const kernel_isa *isa;
  int k = 0, done = 0;
  for (int64_t i = 0; i < 2 * n * lanes; i++) x[i] = draw();
  while ((isa = next_isa(&k)) != NULL) {
    transform(isa->fft, kind, n, lanes, inverse);
    if (done++ == 0) {
      const double d = worst_difference(kind, n, lanes, inverse ? 1 : -1);
      if (!CHECK(d < 1e-14 * (10 + (double)n))) fprintf(stderr, "    kind %d, n %d: %g\n", kind, (int)n, d);
      memcpy(first, y, size);
    } else if (!CHECK(memcmp(first, y, size) == 0)) {
      fprintf(stderr, "    kind %d, n %d, %s\n", kind, (int)n, isa->name);
    }
  }
}

int main(void) {
  static const int64_t more[] = {256, 509, 961, 1000, 1024, 1331, 2048};
  for (int kind = 0; kind < 3; kind++) {
    for (int64_t n = 1; n <= 200; n++) test_length((fft_kind)kind, n, n % 2 == 0 ? 1 : LANES, n % 3 == 0);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) test_length((fft_kind)kind, more[i], 1, i % 2 == 0);
  }
  TEST_MAIN_END;
}
