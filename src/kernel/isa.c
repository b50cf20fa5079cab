/* isa: which table of elementwise kernels this CPU runs. Stateless: each call asks the CPU's feature words, which
 * the compiler's runtime read at start. */
#include <stdlib.h>
#include <string.h>

#include "kernel_int.h"

#if defined(__x86_64__)
static bool cpu_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static bool cpu_has_avx512(void) {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

static const kernel_table *best_table(void) {
#if defined(__x86_64__)
  if (cpu_has_avx512()) return &kernel_table_avx512;
  if (cpu_has_avx2()) return &kernel_table_avx2;
  return &kernel_table_sse2;
#elif defined(__aarch64__)
  return &kernel_table_neon;
#else
  return &kernel_table_scalar;
#endif
}

const kernel_table *kernel_table_named(const char *isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "sse2") == 0) return &kernel_table_sse2;
  if (strcmp(isa, "avx2") == 0) return cpu_has_avx2() ? &kernel_table_avx2 : NULL;
  if (strcmp(isa, "avx512") == 0) return cpu_has_avx512() ? &kernel_table_avx512 : NULL;
#elif defined(__aarch64__)
  if (strcmp(isa, "neon") == 0) return &kernel_table_neon;
#endif
#if defined(KERNEL_HAS_SCALAR)
  if (strcmp(isa, "scalar") == 0) return &kernel_table_scalar;
#endif
  return NULL;
}

const kernel_table *kernel_table_select(void) {
  const char *wish = getenv("DAMO_ISA");
  const kernel_table *table = wish ? kernel_table_named(wish) : NULL;
  return table ? table : best_table();
}
