/* fft_avx512: the transforms for x86-64 with AVX-512. */
#include <string.h>

#include "fft.h"

#if defined(__x86_64__)
#define T double
#define VECTOR 64
#define NAME(f) fft_##f##_f64_avx512
#include "fft_body.h"

#define T float
#define NAME(f) fft_##f##_f32_avx512
#include "fft_body.h"

#undef VECTOR

const fft_fns fft_avx512 = {.cycle = {fft_cycle_f64_avx512, fft_cycle_f32_avx512},
                            .slices = {fft_slices_f64_avx512, fft_slices_f32_avx512}};
#else
typedef int fft_avx512_is_for_other_machines;
#endif
