/* small_gemm: instruction sets for which there are no own products. */
#include "small_gemm.h"

const small_gemm_fns small_gemm_base = {.blas_has_small = false};
