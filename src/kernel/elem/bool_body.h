/* bool_body: logical kernels of bool blocks, and constant results. */

#define SUFFIX bool
ALWAYS_INLINE uint8_t NAME(at_invert)(uint8_t a) { return a == 0; }
ALWAYS_INLINE uint8_t NAME(at_or_)(uint8_t a, uint8_t b) { return (a | b) != 0; }
ALWAYS_INLINE uint8_t NAME(at_and_)(uint8_t a, uint8_t b) { return (a != 0) & (b != 0); }
ALWAYS_INLINE uint8_t NAME(at_xor)(uint8_t a, uint8_t b) { return (a != 0) ^ (b != 0); }
LOOP1(invert, uint8_t, uint8_t)
LOOP2(or_, uint8_t, uint8_t)
LOOP2(and_, uint8_t, uint8_t)
LOOP2(xor, uint8_t, uint8_t)

/* isnan and isinf of integers and bools. */
static void NAME(all_false)(void *const *args, int64_t n) { memset(args[1], 0, (size_t)n); }
#undef SUFFIX
