/* spmm_avx2: the products with dense blocks for x86-64 with AVX2. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"
#include "spmm_strip.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define STREAMS true
#define STREAM(to, vector) _mm256_stream_si256((__m256i *)(void *)(to), (__m256i)(vector))
#define STREAMED() _mm_sfence()
#define BYTES 32
#define ISA avx2
#include "spmm_types.h"
#else
typedef int sparse_dense_avx2_is_for_other_machines;
#endif
