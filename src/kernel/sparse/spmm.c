/* spmm: the products with dense blocks on any machine, in vectors of 16 bytes: SSE2 on x86-64, NEON on aarch64. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"
#include "spmm_strip.h"

#if defined(__x86_64__)
#include <emmintrin.h>

#define STREAMS true
#define STREAM(to, vector) _mm_stream_si128((__m128i *)(void *)(to), (__m128i)(vector))
#define STREAMED() _mm_sfence()
#else
#define STREAMS false
#define STREAM(to, vector) (*(V *)(to) = (vector))
#define STREAMED() (void)0
#endif
#define BYTES 16
#define ISA base
#include "spmm_types.h"
