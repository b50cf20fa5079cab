/* elem_body: every elementwise kernel and their table, for the instruction set of the file that includes this.
 *
 * In, from that file: ISA (the instruction set's name), V_F32, V_F64 (SLEEF's vector types), W_F32, W_F64 (their
 * lengths), VEC_F32(name, bound), VEC_F64(name, bound), and VEC_OWN_F64(name) if exp, log1p, tanh, sigmoid, sin and cos
 * of float64 are not SLEEF's; all are undefined at the end. Out: elem_kernels_<isa> and elem_draw_<isa>. All other names are
 * static and end with the instruction set. With ELEM_PLAIN the kernels are those whose results have the same bits on every
 * machine, ISA ends with _plain, VEC_F32 and VEC_F64 may be missing, and there is no elem_draw. */

#ifdef ELEM_PLAIN
#ifndef PLAIN_FN /* inlined, so that loops over them vectorise */
#define PLAIN_FN static inline __attribute__((always_inline, unused))
#endif
#include "kernel/plain/plain.h"
#endif
#include "kernel/draw_math.h"
#include "kernel/philox_body.h"
#include "loops.h"

/* The name of a function in the body being included: SUFFIX names the element type. */
#define NAME(name) PASTE3(name, SUFFIX, ISA)

#define U uint8_t
#define SUFFIX w8
#include "bits_body.h"
#define U uint16_t
#define SUFFIX w16
#include "bits_body.h"
#define U uint32_t
#define SUFFIX w32
#include "bits_body.h"
#define U uint64_t
#define SUFFIX w64
#include "bits_body.h"

#define T int8_t
#define SUFFIX i8
#define IS_SIGNED 1
#include "order_body.h"
#define T int16_t
#define SUFFIX i16
#define IS_SIGNED 1
#include "order_body.h"
#define T int32_t
#define SUFFIX i32
#define IS_SIGNED 1
#include "order_body.h"
#define T int64_t
#define SUFFIX i64
#define IS_SIGNED 1
#include "order_body.h"
#define T uint8_t
#define SUFFIX u8
#define IS_SIGNED 0
#include "order_body.h"
#define T uint16_t
#define SUFFIX u16
#define IS_SIGNED 0
#include "order_body.h"
#define T uint32_t
#define SUFFIX u32
#define IS_SIGNED 0
#include "order_body.h"
#define T uint64_t
#define SUFFIX u64
#define IS_SIGNED 0
#include "order_body.h"

#include "bool_body.h"

#define T float
#define SUFFIX f32
#define V V_F32
#define VU NAME(vu)
#define W W_F32
#define BITS uint32_t
#ifdef VEC_F32
#define VEC VEC_F32
#endif
#define RFN(name) name##f
#define T_HUGE 0x1p60f
#define T_MAX_LOG 88.0f
#define T_TRIG_MIDDLE 62.5f
#define T_TRIG_LARGE 125.0f
typedef V_F32 VU __attribute__((aligned(4), may_alias));
#include "float_body.h"

#define T double
#define SUFFIX f64
#define V V_F64
#define VU NAME(vu)
#define W W_F64
#define BITS uint64_t
#ifdef VEC_F64
#define VEC VEC_F64
#endif
#ifdef VEC_OWN_F64
#define VEC_OWN VEC_OWN_F64
#endif
#define RFN(name) name
#define T_HUGE 0x1p500
#define T_MAX_LOG 700.0
#define T_TRIG_MIDDLE 15.0
#define T_TRIG_LARGE 1e14
typedef V_F64 VU __attribute__((aligned(8), may_alias));
#include "float_body.h"

#define T damo_c64
#define F float
#define BITS uint32_t
#define SPLITTER 4097.0f
#define T_VAST 0x1p60f
#define T_TINY 0x1p-40f
#define T_SHRINK 0x1p-100f
#define C float _Complex
#define SUFFIX c64
#define FN(name) name##f
#define RFN(name) name##f
#include "complex_body.h"
#define T damo_c128
#define F double
#define BITS uint64_t
#define SPLITTER 134217729.0
#define T_VAST 0x1p500
#define T_TINY 0x1p-400
#define T_SHRINK 0x1p-600
#define C double _Complex
#define SUFFIX c128
#define FN(name) name
#define RFN(name) name
#include "complex_body.h"

#ifndef ELEM_PLAIN
#define SUFFIX f64
static void NAME(draw_log)(double *x, int64_t n) {
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) x[i] = draw_log_at(x[i]);
}

static void NAME(draw_sincos_2pi)(const double *v, double *sine, double *cosine, int64_t n) {
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) draw_sincos_2pi_at(v[i], &sine[i], &cosine[i]);
}

static void NAME(draw_philox)(const philox_state *s, uint64_t *words, int64_t n) { philox_fill_body(s, words, n); }

static void NAME(draw_gamma)(const uint64_t *words, const double *d, const double *c, double *x, double *z, double *u,
                             int64_t n) {
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) {
    double sine, cosine;
    draw_sincos_2pi_at(draw_angle_of(words[2 * i + 1]), &sine, &cosine);
    u[i] = draw_test_of(words[2 * i + 1]);
    z[i] = cosine * sqrt(-2 * draw_log_at(draw_radius_of(words[2 * i])));
    const double t = 1 + c[i] * z[i], zz = z[i] * z[i], value = d[i] * (t * t * t);
    x[i] = ((t > 0) & (u[i] < 1 - DRAW_GAMMA_SQUEEZE * zz * zz)) ? value : -1;
  }
}
#undef SUFFIX
#endif

#include "table.h"

#undef NAME
#undef ISA
#undef V_F32
#undef V_F64
#undef W_F32
#undef W_F64
#undef VEC_F32
#undef VEC_F64
#undef VEC_OWN_F64
#undef ELEM_PLAIN
