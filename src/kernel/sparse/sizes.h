/* sizes: includes SPARSE_BODY once for each index type and element size, with I the index type, U its unsigned type, T
 * a type of the size, SUFFIX n (int32) or w (int64) and the size. */
#ifndef SPARSE_SIZES_ONCE
#define SPARSE_SIZES_ONCE
/* The bits of an element that are in the mask (of either half of 16 bytes), or'ed with `always`. */
static inline uint64_t sp_bits_in_plain(uint64_t v, uint64_t mask, uint64_t always) { return (v & mask) | always; }
static inline uint64_t sp_bits_in_pair(bytes16 v, uint64_t mask, uint64_t always) {
  return ((v.at[0] | v.at[1]) & mask) | always;
}
#define BITS_IN(v, mask, always) _Generic((v), bytes16 : sp_bits_in_pair, default : sp_bits_in_plain)(v, mask, always)
#endif

#define I int32_t
#define U uint32_t
#define T uint8_t
#define SUFFIX n1
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint16_t
#define SUFFIX n2
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint32_t
#define SUFFIX n4
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint64_t
#define SUFFIX n8
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T bytes16
#define SUFFIX n16
#include SPARSE_BODY
#undef T
#undef SUFFIX
#undef I
#undef U
#define I int64_t
#define U uint64_t
#define T uint8_t
#define SUFFIX w1
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint16_t
#define SUFFIX w2
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint32_t
#define SUFFIX w4
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T uint64_t
#define SUFFIX w8
#include SPARSE_BODY
#undef T
#undef SUFFIX
#define T bytes16
#define SUFFIX w16
#include SPARSE_BODY
#undef T
#undef SUFFIX
#undef I
#undef U
#undef SPARSE_BODY
