/* fft_avx2: the transforms for x86-64 with AVX2. */
#include <string.h>

#include "fft.h"

#if defined(__x86_64__)
#define T double
#define VECTOR 32
#define NAME(f) fft_##f##_f64_avx2
#include "fft_body.h"

#define T float
#define NAME(f) fft_##f##_f32_avx2
#include "fft_body.h"

#undef VECTOR

const fft_fns fft_avx2 = {.cycle = {fft_cycle_f64_avx2, fft_cycle_f32_avx2},
                          .slices = {fft_slices_f64_avx2, fft_slices_f32_avx2}};
#else
typedef int fft_avx2_is_for_other_machines;
#endif
