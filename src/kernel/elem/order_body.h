/* order_body: integer kernels that depend on signedness. Included with T, SUFFIX and IS_SIGNED. The remainder has the
 * divisor's sign and quotients are rounded down, as in Python; division and modulo by 0 give 0; the smallest integer //
 * -1 wraps. */

ALWAYS_INLINE uint8_t NAME(at_lt)(T a, T b) { return a < b; }
ALWAYS_INLINE uint8_t NAME(at_le)(T a, T b) { return a <= b; }
ALWAYS_INLINE uint8_t NAME(at_gt)(T a, T b) { return a > b; }
ALWAYS_INLINE uint8_t NAME(at_ge)(T a, T b) { return a >= b; }
ALWAYS_INLINE T NAME(at_maximum)(T a, T b) { return a > b ? a : b; }
ALWAYS_INLINE T NAME(at_minimum)(T a, T b) { return a < b ? a : b; }
ALWAYS_INLINE T NAME(at_clip)(T x, T lo, T hi) { return x < lo ? lo : x > hi ? hi : x; }

#if IS_SIGNED
ALWAYS_INLINE T NAME(at_abs)(T a) { return a < 0 ? (T)(0u - (uint64_t)a) : a; }
ALWAYS_INLINE T NAME(at_sign)(T a) { return (T)((a > 0) - (a < 0)); }

ALWAYS_INLINE T NAME(at_floor_div)(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return (T)(0u - (uint64_t)a); /* the smallest integer / -1 is undefined in C */
  T q = (T)(a / b);
  return (T)(q - (a % b != 0 && (a < 0) != (b < 0)));
}

ALWAYS_INLINE T NAME(at_mod)(T a, T b) {
  if (b == 0 || b == -1) return 0;
  T r = (T)(a % b);
  return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}

/* What C's own quotient and remainder are, where they are defined. */
ALWAYS_INLINE T NAME(at_trunc_div)(T a, T b) { return b == 0 ? 0 : b == -1 ? (T)(0u - (uint64_t)a) : (T)(a / b); }
ALWAYS_INLINE T NAME(at_fmod)(T a, T b) { return b == 0 || b == -1 ? 0 : (T)(a % b); }
#else
ALWAYS_INLINE T NAME(at_sign)(T a) { return a != 0; }
ALWAYS_INLINE T NAME(at_trunc_div)(T a, T b) { return b == 0 ? 0 : (T)(a / b); }
ALWAYS_INLINE T NAME(at_fmod)(T a, T b) { return b == 0 ? 0 : (T)(a % b); }
ALWAYS_INLINE T NAME(at_floor_div)(T a, T b) { return b == 0 ? 0 : (T)(a / b); }
ALWAYS_INLINE T NAME(at_mod)(T a, T b) { return b == 0 ? 0 : (T)(a % b); }
#endif

/* The magnitude; that of the smallest integer too. */
ALWAYS_INLINE uint64_t NAME(magnitude)(T a) {
#if IS_SIGNED
  if (a < 0) return 0u - (uint64_t)a;
#endif
  return (uint64_t)a;
}

/* Euclid's algorithm; gcd(0, 0) = 0. */
static T NAME(at_gcd)(T a, T b) {
  uint64_t x = NAME(magnitude)(a), y = NAME(magnitude)(b);
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return (T)x;
}

static T NAME(at_lcm)(T a, T b) {
  const uint64_t x = NAME(magnitude)(a), y = NAME(magnitude)(b), divisor = NAME(magnitude)(NAME(at_gcd)(a, b));
  return divisor == 0 ? 0 : (T)(x / divisor * y);
}

/* Shifts by a negative count or by the width and more move all bits out, as in NumPy. */
ALWAYS_INLINE T NAME(at_left_shift)(T a, T b) {
  return (uint64_t)b < 8 * sizeof(T) ? (T)((uint64_t)a << (uint64_t)b) : 0;
}
ALWAYS_INLINE T NAME(at_right_shift)(T a, T b) {
  const uint64_t count = (uint64_t)b < 8 * sizeof(T) ? (uint64_t)b : 8 * sizeof(T) - 1;
#if !IS_SIGNED
  if (count != (uint64_t)b) return 0;
#endif
  return (T)(a >> count);
}

/* Repeated squaring, wrapping. A negative exponent gives the truncated value: 0, except for the bases 1 and -1. */
ALWAYS_INLINE T NAME(at_pow)(T base, T exponent) {
#if IS_SIGNED
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
#endif
  uint64_t result = 1, square = (uint64_t)base;
  for (uint64_t e = (uint64_t)exponent; e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return (T)result;
}

LOOP2(lt, T, uint8_t)
LOOP2(le, T, uint8_t)
LOOP2(gt, T, uint8_t)
LOOP2(ge, T, uint8_t)
LOOP2(maximum, T, T)
LOOP2(minimum, T, T)
LOOP3(clip, T, T)
LOOP1(sign, T, T)
LOOP2(floor_div, T, T)
LOOP2(mod, T, T)
LOOP2(pow, T, T)
LOOP2(trunc_div, T, T)
LOOP2(fmod, T, T)
LOOP2(gcd, T, T)
LOOP2(lcm, T, T)
LOOP2(left_shift, T, T)
LOOP2(right_shift, T, T)
#if IS_SIGNED
LOOP1(abs, T, T)
#endif

#undef T
#undef SUFFIX
#undef IS_SIGNED
