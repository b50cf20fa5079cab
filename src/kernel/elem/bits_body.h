/* bits_body: kernels that depend only on the width of an element, which signed and unsigned integers share: wrapping
 * arithmetic, bitwise operations, equality, copies. Included with U (an unsigned type) and SUFFIX. */

/* 1u * keeps the arithmetic unsigned: uint16_t would be promoted to int, whose product may overflow. */
ALWAYS_INLINE U NAME(at_add)(U a, U b) { return (U)(1u * a + b); }
ALWAYS_INLINE U NAME(at_sub)(U a, U b) { return (U)(1u * a - b); }
ALWAYS_INLINE U NAME(at_mul)(U a, U b) { return (U)(1u * a * b); }
ALWAYS_INLINE U NAME(at_neg)(U a) { return (U)(0u - a); }
ALWAYS_INLINE U NAME(at_sqr)(U a) { return (U)(1u * a * a); }
ALWAYS_INLINE U NAME(at_and_)(U a, U b) { return (U)(a & b); }
ALWAYS_INLINE U NAME(at_or_)(U a, U b) { return (U)(a | b); }
ALWAYS_INLINE U NAME(at_xor)(U a, U b) { return (U)(a ^ b); }
ALWAYS_INLINE U NAME(at_invert)(U a) { return (U)~a; }
ALWAYS_INLINE uint8_t NAME(at_eq)(U a, U b) { return a == b; }
ALWAYS_INLINE uint8_t NAME(at_neq)(U a, U b) { return a != b; }
ALWAYS_INLINE U NAME(at_switch_)(uint8_t c, U a, U b) { return c ? a : b; }
ALWAYS_INLINE U NAME(at_copy)(U a) { return a; }

LOOP2(add, U, U)
LOOP2(sub, U, U)
LOOP2(mul, U, U)
LOOP1(neg, U, U)
LOOP1(sqr, U, U)
LOOP2(and_, U, U)
LOOP2(or_, U, U)
LOOP2(xor, U, U)
LOOP1(invert, U, U)
LOOP2(eq, U, uint8_t)
LOOP2(neq, U, uint8_t)
LOOP3(switch_, uint8_t, U)
LOOP1(copy, U, U)

#undef U
#undef SUFFIX
