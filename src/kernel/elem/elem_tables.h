/* elem_tables: the tables of elementwise and draw kernels that each instruction set's file defines. */
#ifndef DAMO_KERNEL_ELEM_ELEM_TABLES_H
#define DAMO_KERNEL_ELEM_ELEM_TABLES_H

#include "kernel/kernel_int.h"

#define ELEM_TABLES(isa)                                \
  extern const kernel_set elem_kernels_##isa[];         \
  extern const kernel_set elem_kernels_##isa##_plain[]; \
  extern const draw_fns elem_draw_##isa
#if defined(KERNEL_HAS_SSE2)
ELEM_TABLES(sse2);
#endif
#if defined(KERNEL_HAS_AVX)
ELEM_TABLES(avx2);
ELEM_TABLES(avx512);
#endif
#if defined(KERNEL_HAS_NEON)
ELEM_TABLES(neon);
#endif
#if defined(KERNEL_HAS_SCALAR)
ELEM_TABLES(scalar);
#endif
#undef ELEM_TABLES

#endif
