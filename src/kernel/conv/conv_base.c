/* conv_base: the products of convolutions in vectors of 16 bytes, which are SSE2's on x86-64 and NEON's on aarch64. */
#include "conv.h"

#include <string.h>

typedef float conv_v4 __attribute__((vector_size(16)));
typedef double conv_v2 __attribute__((vector_size(16)));

static inline conv_v4 conv_load_f32(const float *p) {
  conv_v4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline conv_v2 conv_load_f64(const double *p) {
  conv_v2 v;
  memcpy(&v, p, sizeof v);
  return v;
}

#define T float
#define NAME(f) conv_##f##_f32_base
#define V conv_v4
#define LOAD(p) conv_load_f32(p)
#define STORE(p, v) memcpy(p, &(const conv_v4){(v)[0], (v)[1], (v)[2], (v)[3]}, sizeof(conv_v4))
#define BROADCAST(x) ((conv_v4){(x), (x), (x), (x)})
#define FMA(x, y, z) ((x) * (y) + (z))
#define ADD(x, y) ((x) + (y))
#define ROWS 4
#define VECS 2
#include "conv_body.h"

#define T double
#define NAME(f) conv_##f##_f64_base
#define V conv_v2
#define LOAD(p) conv_load_f64(p)
#define STORE(p, v) memcpy(p, &(const conv_v2){(v)[0], (v)[1]}, sizeof(conv_v2))
#define BROADCAST(x) ((conv_v2){(x), (x)})
#define FMA(x, y, z) ((x) * (y) + (z))
#define ADD(x, y) ((x) + (y))
#define ROWS 4
#define VECS 2
#include "conv_body.h"

const conv_isa conv_isa_base = {
    .f32 = {.rows = 4, .lanes = 4, .strip = conv_strip_f32_base, .outer = conv_outer_f32_base},
    .f64 = {.rows = 4, .lanes = 2, .strip = conv_strip_f64_base, .outer = conv_outer_f64_base}};
