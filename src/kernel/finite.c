/* finite: whether all elements of a float vector are finite. */
#include "kernel.h"

/* x * 0 is 0 for a finite x, nan otherwise, so the sum of all x * 0 is 0 only if all are finite. Several accumulators:
 * one alone is bound by the latency of additions. */
#define FINITE_LANES 16

#define ALL_FINITE(name, type)                                        \
  static bool name(const type *x, int64_t n) {                        \
    type zero[FINITE_LANES] = {0}, sum = 0;                           \
    int64_t k = 0;                                                    \
    for (; k + FINITE_LANES <= n; k += FINITE_LANES) {                \
      for (int c = 0; c < FINITE_LANES; c++) zero[c] += x[k + c] * 0; \
    }                                                                 \
    for (; k < n; k++) sum += x[k] * 0;                               \
    for (int c = 0; c < FINITE_LANES; c++) sum += zero[c];            \
    return sum == 0;                                                  \
  }
ALL_FINITE(all_finite_f32, float)
ALL_FINITE(all_finite_f64, double)
#undef ALL_FINITE

bool kernel_all_finite(damo_dtype dtype, const void *x, int64_t n) {
  if (dtype_is_complex(dtype)) n *= 2;
  if (dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64) return all_finite_f32(x, n);
  if (dtype == DAMO_FLOAT64 || dtype == DAMO_COMPLEX128) return all_finite_f64(x, n);
  return true;
}
