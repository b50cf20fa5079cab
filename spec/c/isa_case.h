/* isa_case: the instruction sets that this CPU runs, for tests of kernels. */
#ifndef DAMO_ISA_CASE_H
#define DAMO_ISA_CASE_H

#include "kernel/isa.h"

/* The next one after number *k, which begins at 0; NULL: there is none. */
static inline const kernel_isa *next_isa(int *k) {
  static const char *const names[] = {"sse2", "avx2", "avx512", "neon", "scalar"};
  while (*k < (int)(sizeof names / sizeof *names)) {
    const kernel_isa *isa = kernel_isa_named(names[(*k)++]);
    if (isa != NULL) return isa;
  }
  return NULL;
}

#endif
