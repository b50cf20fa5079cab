/* sparse_dense_avx512: the dense products for x86-64 with AVX-512. */
#include "sparse_arith.h"
#include "sparse_value.h"

#if defined(__x86_64__)
#define BYTES 64
#define TABLE sparse_dense_avx512
#include "sparse_dense_types.h"
#else
typedef int sparse_dense_avx512_is_for_other_machines;
#endif
