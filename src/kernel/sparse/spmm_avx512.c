/* spmm_avx512: the products with dense blocks for x86-64 with AVX-512. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"
#include "spmm_strip.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define STREAMS true
#define STREAM(to, vector) _mm512_stream_si512((__m512i *)(void *)(to), (__m512i)(vector))
#define STREAMED() _mm_sfence()
#define BYTES 64
#define ISA avx512
#include "spmm_types.h"
#else
typedef int sparse_dense_avx512_is_for_other_machines;
#endif
