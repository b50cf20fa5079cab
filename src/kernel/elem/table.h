/* table: the kernel for each dtype, one row for each name. A dtype that is missing in a row is not defined. */

#define FN_OF(f, suffix) PASTE3(f, suffix, ISA)

/* integers by width (_W: kernels that ignore the sign) */
#define SIGNED_W(f) \
  [DAMO_INT8] = FN_OF(f, w8), [DAMO_INT16] = FN_OF(f, w16), [DAMO_INT32] = FN_OF(f, w32), [DAMO_INT64] = FN_OF(f, w64)
#define UNSIGNED_W(f)                                                                        \
  [DAMO_UINT8] = FN_OF(f, w8), [DAMO_UINT16] = FN_OF(f, w16), [DAMO_UINT32] = FN_OF(f, w32), \
  [DAMO_UINT64] = FN_OF(f, w64)
#define INTS_W(f) SIGNED_W(f), UNSIGNED_W(f)
#define SIGNED(f) \
  [DAMO_INT8] = FN_OF(f, i8), [DAMO_INT16] = FN_OF(f, i16), [DAMO_INT32] = FN_OF(f, i32), [DAMO_INT64] = FN_OF(f, i64)
#define UNSIGNED(f)                                                                          \
  [DAMO_UINT8] = FN_OF(f, u8), [DAMO_UINT16] = FN_OF(f, u16), [DAMO_UINT32] = FN_OF(f, u32), \
  [DAMO_UINT64] = FN_OF(f, u64)
#define INTS(f) SIGNED(f), UNSIGNED(f)
#define FLOATS(f) [DAMO_FLOAT32] = FN_OF(f, f32), [DAMO_FLOAT64] = FN_OF(f, f64)
#define COMPLEXES(f) [DAMO_COMPLEX64] = FN_OF(f, c64), [DAMO_COMPLEX128] = FN_OF(f, c128)
#define INTS_SAME(f)                                                                                          \
  [DAMO_INT8] = f, [DAMO_INT16] = f, [DAMO_INT32] = f, [DAMO_INT64] = f, [DAMO_UINT8] = f, [DAMO_UINT16] = f, \
  [DAMO_UINT32] = f, [DAMO_UINT64] = f
#define BOOL(f) [DAMO_BOOL] = f
#define FLOATS_COPY [DAMO_FLOAT32] = FN_OF(copy, w32), [DAMO_FLOAT64] = FN_OF(copy, w64)

/* What a table of plain kernels lacks: functions of C's library, and those of SLEEF where it is not linked. */
#ifdef ELEM_PLAIN
#define FLOATS_LIBRARY(f) [DAMO_FLOAT32] = NULL
#define COMPLEXES_LIBRARY(f) [DAMO_COMPLEX64] = NULL
#else
#define FLOATS_LIBRARY(f) FLOATS(f)
#define COMPLEXES_LIBRARY(f) COMPLEXES(f)
#endif
#ifdef VEC_F64
#define FLOATS_SLEEF(f) FLOATS(f)
#else
#define FLOATS_SLEEF(f) [DAMO_FLOAT32] = NULL
#endif

#define ROW(name, ...) [ELEM_##name] = {{__VA_ARGS__}}

#ifndef ELEM_PLAIN
const draw_fns PASTE2(elem_draw, ISA) = {FN_OF(draw_log, f64), FN_OF(draw_sincos_2pi, f64), FN_OF(draw_philox, f64),
                                         FN_OF(draw_gamma, f64)};
#endif

const kernel_set PASTE2(elem_kernels, ISA)[ELEM_N] = {
    ROW(add, BOOL(FN_OF(or_, bool)), INTS_W(add), FLOATS(add), COMPLEXES(add)),
    ROW(sub, INTS_W(sub), FLOATS(sub), COMPLEXES(sub)),
    ROW(mul, BOOL(FN_OF(and_, bool)), INTS_W(mul), FLOATS(mul), COMPLEXES(mul)),
    ROW(true_div, FLOATS(true_div), COMPLEXES(true_div)),
    ROW(floor_div, INTS(floor_div), FLOATS(floor_div)),
    ROW(mod, INTS(mod), FLOATS(mod)),
    ROW(pow, INTS(pow), FLOATS(pow), COMPLEXES_LIBRARY(pow)),
    ROW(maximum, BOOL(FN_OF(or_, bool)), INTS(maximum), FLOATS(maximum), COMPLEXES(maximum)),
    ROW(minimum, BOOL(FN_OF(and_, bool)), INTS(minimum), FLOATS(minimum), COMPLEXES(minimum)),
    ROW(arctan2, FLOATS(arctan2)),
    ROW(logaddexp, FLOATS(logaddexp)),
    ROW(hypot, FLOATS_SLEEF(hypot)),
    ROW(trunc_div, INTS(trunc_div), FLOATS(trunc_div)),
    ROW(fmod, INTS(fmod), FLOATS(fmod)),
    ROW(gcd, INTS(gcd)),
    ROW(lcm, INTS(lcm)),
    ROW(left_shift, INTS(left_shift)),
    ROW(right_shift, INTS(right_shift)),
    ROW(copysign, FLOATS(copysign)),
    ROW(nextafter, FLOATS(nextafter)),
    ROW(heaviside, FLOATS(heaviside)),
    ROW(logaddexp2, FLOATS(logaddexp2)),
    ROW(ldexp, FLOATS(ldexp)),
    ROW(frexp_mantissa, FLOATS(frexp_mantissa)),
    ROW(frexp_exponent, FLOATS(frexp_exponent)),

    ROW(eq, BOOL(FN_OF(eq, w8)), INTS_W(eq), FLOATS(eq), COMPLEXES(eq)),
    ROW(neq, BOOL(FN_OF(neq, w8)), INTS_W(neq), FLOATS(neq), COMPLEXES(neq)),
    ROW(lt, BOOL(FN_OF(lt, u8)), INTS(lt), FLOATS(lt), COMPLEXES(lt)),
    ROW(le, BOOL(FN_OF(le, u8)), INTS(le), FLOATS(le), COMPLEXES(le)),
    ROW(gt, BOOL(FN_OF(gt, u8)), INTS(gt), FLOATS(gt), COMPLEXES(gt)),
    ROW(ge, BOOL(FN_OF(ge, u8)), INTS(ge), FLOATS(ge), COMPLEXES(ge)),
    ROW(isnan, BOOL(FN_OF(all_false, bool)), INTS_SAME(FN_OF(all_false, bool)), FLOATS(isnan), COMPLEXES(isnan)),
    ROW(isinf, BOOL(FN_OF(all_false, bool)), INTS_SAME(FN_OF(all_false, bool)), FLOATS(isinf), COMPLEXES(isinf)),
    ROW(isfinite, FLOATS(isfinite), COMPLEXES(isfinite)),
    ROW(isposinf, FLOATS(isposinf)),
    ROW(isneginf, FLOATS(isneginf)),
    ROW(signbit, FLOATS(signbit)),

    ROW(and_, BOOL(FN_OF(and_, bool)), INTS_W(and_)),
    ROW(or_, BOOL(FN_OF(or_, bool)), INTS_W(or_)),
    ROW(xor, BOOL(FN_OF(xor, bool)), INTS_W(xor)),
    ROW(invert, BOOL(FN_OF(invert, bool)), INTS_W(invert)),

    ROW(switch_, BOOL(FN_OF(switch_, w8)), INTS_W(switch_), FLOATS(switch_), COMPLEXES(switch_)),
    ROW(clip, BOOL(FN_OF(clip, u8)), INTS(clip), FLOATS(clip), COMPLEXES(clip)),

    ROW(neg, INTS_W(neg), FLOATS(neg), COMPLEXES(neg)),
    ROW(abs, BOOL(FN_OF(copy, w8)), SIGNED(abs), UNSIGNED_W(copy), FLOATS(abs), COMPLEXES(abs)),
    ROW(sign, INTS(sign), FLOATS(sign), COMPLEXES(sign)),
    ROW(sqr, BOOL(FN_OF(copy, w8)), INTS_W(sqr), FLOATS(sqr), COMPLEXES(sqr)),
    ROW(sqrt, FLOATS(sqrt), COMPLEXES_LIBRARY(sqrt)),
    ROW(cbrt, FLOATS_SLEEF(cbrt)),
    ROW(reciprocal, FLOATS(reciprocal), COMPLEXES(reciprocal)),
    ROW(ceil, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS(ceil)),
    ROW(floor, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS(floor)),
    ROW(trunc, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS(trunc)),
    ROW(round_half_to_even, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS(round_half_to_even)),
    ROW(round_half_away_from_zero, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS(round_half_away_from_zero)),

    ROW(exp, FLOATS(exp), COMPLEXES_LIBRARY(exp)),
    ROW(exp2, FLOATS(exp2), COMPLEXES_LIBRARY(exp2)),
    ROW(exp10, FLOATS_SLEEF(exp10)),
    ROW(expm1, FLOATS(expm1), COMPLEXES_LIBRARY(expm1)),
    ROW(log, FLOATS(log), COMPLEXES_LIBRARY(log)),
    ROW(log2, FLOATS_SLEEF(log2), COMPLEXES_LIBRARY(log2)),
    ROW(log10, FLOATS_SLEEF(log10), COMPLEXES_LIBRARY(log10)),
    ROW(log1p, FLOATS(log1p), COMPLEXES_LIBRARY(log1p)),
    ROW(sigmoid, FLOATS(sigmoid)),
    ROW(softplus, FLOATS(softplus)),
    ROW(log1mexp, FLOATS(log1mexp)),

    ROW(sin, FLOATS(sin), COMPLEXES_LIBRARY(sin)),
    ROW(cos, FLOATS(cos), COMPLEXES_LIBRARY(cos)),
    ROW(tan, FLOATS(tan), COMPLEXES_LIBRARY(tan)),
    ROW(arcsin, FLOATS(arcsin), COMPLEXES_LIBRARY(arcsin)),
    ROW(arccos, FLOATS(arccos), COMPLEXES_LIBRARY(arccos)),
    ROW(arctan, FLOATS(arctan), COMPLEXES_LIBRARY(arctan)),
    ROW(sinh, FLOATS(sinh), COMPLEXES_LIBRARY(sinh)),
    ROW(cosh, FLOATS(cosh), COMPLEXES_LIBRARY(cosh)),
    ROW(tanh, FLOATS(tanh), COMPLEXES_LIBRARY(tanh)),
    ROW(arcsinh, FLOATS_SLEEF(arcsinh), COMPLEXES_LIBRARY(arcsinh)),
    ROW(arccosh, FLOATS_SLEEF(arccosh), COMPLEXES_LIBRARY(arccosh)),
    ROW(arctanh, FLOATS_SLEEF(arctanh), COMPLEXES_LIBRARY(arctanh)),
    ROW(deg2rad, FLOATS(deg2rad)),
    ROW(rad2deg, FLOATS(rad2deg)),

    ROW(erf, FLOATS(erf)),
    ROW(erfc, FLOATS_SLEEF(erfc)),
    ROW(erfcx, FLOATS_LIBRARY(erfcx)),
    ROW(erfinv, FLOATS_LIBRARY(erfinv)),
    ROW(erfcinv, FLOATS_LIBRARY(erfcinv)),
    ROW(gamma, FLOATS_SLEEF(gamma)),
    ROW(gammaln, FLOATS_SLEEF(gammaln)),
    ROW(psi, FLOATS_LIBRARY(psi)),
    ROW(tri_gamma, FLOATS_LIBRARY(tri_gamma)),

    ROW(conj, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS_COPY, COMPLEXES(conj)),
    ROW(real, BOOL(FN_OF(copy, w8)), INTS_W(copy), FLOATS_COPY, COMPLEXES(real)),
    ROW(imag, FLOATS(imag), COMPLEXES(imag)),
    ROW(angle, FLOATS(angle), COMPLEXES(angle)),
    ROW(complex, FLOATS(complex)),
};

#undef FN_OF
#undef SIGNED_W
#undef UNSIGNED_W
#undef INTS_W
#undef SIGNED
#undef UNSIGNED
#undef INTS
#undef FLOATS
#undef COMPLEXES
#undef FLOATS_LIBRARY
#undef FLOATS_SLEEF
#undef COMPLEXES_LIBRARY
#undef INTS_SAME
#undef BOOL
#undef FLOATS_COPY
#undef ROW
