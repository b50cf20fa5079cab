/* elemwise_body: every elementwise kernel and the table of them, for the instruction set of the stub that includes
 * this.
 *
 * In, from the stub: ISA_NAME, ISA_TABLE (the table's identifier), V_F32, V_F64 (SLEEF's vector types), W_F32, W_F64
 * (their lengths), VEC_F32(name, bound), VEC_F64(name, bound), and VEC_EXP_F64 where exp is not SLEEF's. Out: the
 * table. Everything else is static. */

#include "draw_math.h"
#include "elemwise_int.h"

#ifndef VEC_EXP_F64
#define VEC_EXP_F64 VEC_F64(exp, u10)
#endif

#define U uint8_t
#define SUFFIX _w8
#include "elemwise_bits_body.h"
#define U uint16_t
#define SUFFIX _w16
#include "elemwise_bits_body.h"
#define U uint32_t
#define SUFFIX _w32
#include "elemwise_bits_body.h"
#define U uint64_t
#define SUFFIX _w64
#include "elemwise_bits_body.h"

#define T int8_t
#define SUFFIX _i8
#define IS_SIGNED 1
#include "elemwise_order_body.h"
#define T int16_t
#define SUFFIX _i16
#define IS_SIGNED 1
#include "elemwise_order_body.h"
#define T int32_t
#define SUFFIX _i32
#define IS_SIGNED 1
#include "elemwise_order_body.h"
#define T int64_t
#define SUFFIX _i64
#define IS_SIGNED 1
#include "elemwise_order_body.h"
#define T uint8_t
#define SUFFIX _u8
#define IS_SIGNED 0
#include "elemwise_order_body.h"
#define T uint16_t
#define SUFFIX _u16
#define IS_SIGNED 0
#include "elemwise_order_body.h"
#define T uint32_t
#define SUFFIX _u32
#define IS_SIGNED 0
#include "elemwise_order_body.h"
#define T uint64_t
#define SUFFIX _u64
#define IS_SIGNED 0
#include "elemwise_order_body.h"

#include "elemwise_bool_body.h"

#define T float
#define SUFFIX _f32
#define V V_F32
#define VU vu_f32
#define W W_F32
#define BITS uint32_t
#define VEC VEC_F32
#define VEC_EXP VEC_F32(exp, u10)
#define RFN(name) name##f
#define T_HUGE 0x1p60f
#define T_MAX_LOG 88.0f
#define T_TRIG_MIDDLE 62.5f
#define T_TRIG_LARGE 125.0f
typedef V_F32 VU __attribute__((aligned(4), may_alias));
#include "elemwise_float_body.h"

#define T double
#define SUFFIX _f64
#define V V_F64
#define VU vu_f64
#define W W_F64
#define BITS uint64_t
#define VEC VEC_F64
#define VEC_EXP VEC_EXP_F64
#define RFN(name) name
#define T_HUGE 0x1p500
#define T_MAX_LOG 700.0
#define T_TRIG_MIDDLE 15.0
#define T_TRIG_LARGE 1e14
typedef V_F64 VU __attribute__((aligned(8), may_alias));
#include "elemwise_float_body.h"

#define T damo_c64
#define F float
#define BITS uint32_t
#define SPLITTER 4097.0f
#define T_VAST 0x1p60f
#define T_TINY 0x1p-40f
#define T_SHRINK 0x1p-100f
#define C float _Complex
#define SUFFIX _c64
#define FN(name) name##f
#define RFN(name) name##f
#include "elemwise_complex_body.h"
#define T damo_c128
#define F double
#define BITS uint64_t
#define SPLITTER 134217729.0
#define T_VAST 0x1p500
#define T_TINY 0x1p-400
#define T_SHRINK 0x1p-600
#define C double _Complex
#define SUFFIX _c128
#define FN(name) name
#define RFN(name) name
#include "elemwise_complex_body.h"

static void draw_log_f64(double *x, int64_t n) {
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) x[i] = draw_log_at(x[i]);
}

static void draw_turn_f64(const double *v, double *sine, double *cosine, int64_t n) {
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) draw_turn_at(v[i], &sine[i], &cosine[i]);
}

#include "elemwise_table.h"
