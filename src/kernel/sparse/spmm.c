/* spmm: the dense products on any machine, and the choice of tables. */
#include <string.h>

#include "kernel/kernel.h"
#include "arith.h"
#include "spmm_strip.h"
#include "value.h"

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

static const sparse_dense_table *sp_dense_table_for(const char *isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "avx512") == 0) return &sparse_dense_avx512;
  if (strcmp(isa, "avx2") == 0) return &sparse_dense_avx2;
#endif
  (void)isa;
  return &sparse_dense_base;
}

const sparse_dense_fns *kernel_sparse_dense(bool wide, damo_dtype dtype) {
  static const damo_dtype kinds[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (kinds[k] == dtype) return &(*sp_dense_table_for(kernel_table_select()->isa))[wide][k];
  }
  return NULL;
}

const sparse_value_fns *kernel_sparse_value(bool wide, damo_dtype dtype) {
  return wide ? sparse_value_wide[dtype] : sparse_value_narrow[dtype];
}
