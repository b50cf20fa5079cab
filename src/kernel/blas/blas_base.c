/* blas_base: own products in vectors of 16 bytes, for any machine. */
#include "blas.h"
#include "kernel/kernel_int.h"

#define ISA base
#define ISA_VECTOR 16
#include "blas_isa.h"
