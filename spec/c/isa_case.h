/* isa_case: the instruction sets that this CPU runs, for tests of kernels. */
#ifndef DAMO_ISA_CASE_H
#define DAMO_ISA_CASE_H

#include "kernel/isa.h"

/* The next instruction set after number *k, which starts at 0; NULL at the end. */
static inline const kernel_isa *next_isa(int *k) {
  static const char *const names[] = {"sse2", "avx2", "avx512", "neon", "scalar"};
  while (*k < (int)(sizeof names / sizeof *names)) {
    const kernel_isa *isa = kernel_isa_named(names[(*k)++]);
    if (isa != NULL) return isa;
  }
  return NULL;
}

#endif
