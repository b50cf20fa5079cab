/* special_sets: see special_sets.h. float32 is computed in float64 and rounded once. */
#include "special_sets.h"

#include "special_airy.h"
#include "special_bessel.h"
#include "special_beta.h"
#include "special_elliptic.h"
#include "special_gamma.h"
#include "special_integral.h"
#include "special_kummer.h"
#include "special_normal.h"
#include "special_zeta.h"

#define SPECIAL_LOOP_1(name, suffix, T)                                       \
  static void special_##name##_##suffix(void *const *args, int64_t n) {       \
    const T *x = args[0];                                                     \
    T *out = args[1];                                                         \
    for (int64_t i = 0; i < n; i++) out[i] = (T)special_##name((double)x[i]); \
  }
#define SPECIAL_LOOP_2(name, suffix, T)                                                     \
  static void special_##name##_##suffix(void *const *args, int64_t n) {                     \
    const T *x = args[0], *y = args[1];                                                     \
    T *out = args[2];                                                                       \
    for (int64_t i = 0; i < n; i++) out[i] = (T)special_##name((double)x[i], (double)y[i]); \
  }
#define SPECIAL_LOOP_3(name, suffix, T)                                                                   \
  static void special_##name##_##suffix(void *const *args, int64_t n) {                                   \
    const T *x = args[0], *y = args[1], *z = args[2];                                                     \
    T *out = args[3];                                                                                     \
    for (int64_t i = 0; i < n; i++) out[i] = (T)special_##name((double)x[i], (double)y[i], (double)z[i]); \
  }
#define SPECIAL_LOOP_4(name, suffix, T)                                                   \
  static void special_##name##_##suffix(void *const *args, int64_t n) {                   \
    const T *x = args[0], *y = args[1], *z = args[2], *w = args[3];                       \
    T *out = args[4];                                                                     \
    for (int64_t i = 0; i < n; i++)                                                       \
      out[i] = (T)special_##name((double)x[i], (double)y[i], (double)z[i], (double)w[i]); \
  }
#define X(name, arity)                                                           \
  SPECIAL_LOOP_##arity(name, f64, double) SPECIAL_LOOP_##arity(name, f32, float) \
      const kernel_set special_set_##name = {                                    \
          .fn = {[DAMO_FLOAT32] = special_##name##_f32, [DAMO_FLOAT64] = special_##name##_f64}};
SPECIAL_SETS(X)
#undef X

/* Lambert's W, of complex numbers too. */
#define SPECIAL_LAMBERT(name, k)                                                         \
  SPECIAL_LOOP_1(name, f64, double)                                                      \
  SPECIAL_LOOP_1(name, f32, float)                                                       \
  static void special_##name##_c128(void *const *args, int64_t n) {                      \
    const double *x = args[0];                                                           \
    double *out = args[1];                                                               \
    for (int64_t i = 0; i < n; i++) special_lambertw_complex(k, x + 2 * i, out + 2 * i); \
  }                                                                                      \
  static void special_##name##_c64(void *const *args, int64_t n) {                       \
    const float *x = args[0];                                                            \
    float *out = args[1];                                                                \
    for (int64_t i = 0; i < n; i++) {                                                    \
      double w[2];                                                                       \
      special_lambertw_complex(k, (const double[2]){x[2 * i], x[2 * i + 1]}, w);         \
      out[2 * i] = (float)w[0];                                                          \
      out[2 * i + 1] = (float)w[1];                                                      \
    }                                                                                    \
  }                                                                                      \
  const kernel_set special_set_##name = {.fn = {[DAMO_FLOAT32] = special_##name##_f32,   \
                                                [DAMO_FLOAT64] = special_##name##_f64,   \
                                                [DAMO_COMPLEX64] = special_##name##_c64, \
                                                [DAMO_COMPLEX128] = special_##name##_c128}};
SPECIAL_LAMBERT(lambertw_principal, 0)
SPECIAL_LAMBERT(lambertw_lower, -1)
#undef SPECIAL_LAMBERT
#undef SPECIAL_LOOP_1
#undef SPECIAL_LOOP_2
#undef SPECIAL_LOOP_3
#undef SPECIAL_LOOP_4
