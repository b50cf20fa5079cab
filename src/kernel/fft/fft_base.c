/* fft_base: the transforms for every CPU. */
#include <string.h>

#include "fft.h"

#define T double
#define VECTOR 16
#define NAME(f) fft_##f##_f64_base
#include "fft_body.h"

#define T float
#define NAME(f) fft_##f##_f32_base
#include "fft_body.h"

#undef VECTOR

const fft_fns fft_base = {.cycle = {fft_cycle_f64_base, fft_cycle_f32_base},
                          .slices = {fft_slices_f64_base, fft_slices_f32_base}};
