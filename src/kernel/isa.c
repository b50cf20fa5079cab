/* isa: the kernels of each instruction set, as one column of macros each, and the choice of the best that this CPU
 * runs. */
#include "isa.h"

#include <stdlib.h>
#include <string.h>

#include "elem/elem_tables.h"
#include "elem/names.h"
#include "kernel_int.h"
#include "kernel/fft/fft.h"
#include "kernel/sparse/sparse_tables.h"
#include "kernel/sparse/stream_copy.h"
#include "blas/blas.h"
#include "conv/conv.h"
#include "lanes/eigh_lanes.h"
#include "lanes/lanes.h"
#include "product/small_gemm.h"

/* clang-format off */
#define ELEM(isa, name) .name = &elem_kernels_##isa[ELEM_##name]
#define ELEM_COLUMN(isa)                                                                                    \
  .elem = elem_kernels_##isa,                                                                               \
  ELEM(isa, add), ELEM(isa, sub), ELEM(isa, mul), ELEM(isa, true_div), ELEM(isa, maximum),                  \
  ELEM(isa, minimum), ELEM(isa, neg), ELEM(isa, exp), ELEM(isa, log),                                       \
  ELEM(isa, eq), ELEM(isa, neq), ELEM(isa, lt), ELEM(isa, le), ELEM(isa, gt), ELEM(isa, ge)
/* Tables that have a single form for all instruction sets. */
#define BOTH(table) {&table##_narrow, &table##_wide}
#define LISTS(table) {table##_narrow, table##_wide}
#define SPARSE_COLUMN(compact_isa, dense_isa)                                                               \
  .index = BOTH(sparse_index), .flags = BOTH(sparse_flags), .move = LISTS(sparse_move),                     \
  .part = LISTS(sparse_part), .value = LISTS(sparse_value),                                                 \
  .compact = {sparse_compact_narrow_##compact_isa, sparse_compact_wide_##compact_isa},                      \
  .dense = {sparse_dense_narrow_##dense_isa, sparse_dense_wide_##dense_isa}
#define conv_isa_plain_base conv_isa_base
/* What does not depend on whether the column is plain. Plain columns take sparse products with dense blocks
 * from base, since the others' sums depend on the length of vectors. */
#define SAME_COLUMN(isa, fold_isa, copy_isa, small_gemm_isa, fft_isa, eigh_isa)     \
      .name = #isa,                                                                                         \
      .plain = &kernel_isa_##isa##_plain,                                                                   \
      .draw = &elem_draw_##isa,                                                                             \
      .reduce = &reduce_fns_##fold_isa,                                                                     \
      .stream_copy = stream_copy_##copy_isa,                                                                \
      .small_gemm = &small_gemm_##small_gemm_isa,                                                           \
      .blas = &blas_##small_gemm_isa,                                                                       \
      .fft = &fft_##fft_isa,                                                                                \
      .eigh_lanes = &eigh_lanes_##eigh_isa,                                                                 \
      .lanes = lane_fns_##small_gemm_isa
#define COLUMN(isa, fold_isa, copy_isa, compact_isa, dense_isa, small_gemm_isa, fft_isa, conv_set, eigh_isa) \
  static const kernel_isa kernel_isa_##isa##_plain = {                                                      \
      SAME_COLUMN(isa, fold_isa, copy_isa, small_gemm_isa, fft_isa, eigh_isa),      \
      ELEM_COLUMN(isa##_plain),                                                                             \
      .conv = &conv_isa_plain_##conv_set,                                                                               \
      .sparse = {SPARSE_COLUMN(compact_isa, base)},                                                         \
  };                                                                                                        \
  static const kernel_isa kernel_isa_##isa = {                                                              \
      SAME_COLUMN(isa, fold_isa, copy_isa, small_gemm_isa, fft_isa, eigh_isa),      \
      ELEM_COLUMN(isa),                                                                                     \
      .conv = &conv_isa_##conv_set,                                                                         \
      .sparse = {SPARSE_COLUMN(compact_isa, dense_isa)},                                                    \
  };
/* clang-format on */

/* Arguments: the instruction set, and those whose reducers, long copies, compaction of sparse entries and products with dense
 * blocks it uses, and its tables of small products, of Fourier transforms, of convolutions and of small symmetric
 * matrices. base is written in vectors of 16 bytes, which are SSE2's on x86-64 and NEON's on aarch64. */
#if defined(KERNEL_HAS_SSE2)
COLUMN(sse2, base, base, base, base, base, base, base, base)
#endif
#if defined(KERNEL_HAS_AVX)
COLUMN(avx2, avx2, avx2, avx2, avx2, avx2, avx2, avx2, avx2)
COLUMN(avx512, avx512, avx512, avx2, avx512, avx512, avx512, avx512, avx512)
#endif
#if defined(KERNEL_HAS_NEON)
COLUMN(neon, base, base, base, base, base, base, base, base)
#endif
#if defined(KERNEL_HAS_SCALAR)
COLUMN(scalar, base, base, base, base, base, base, base, base)
#endif

#if defined(KERNEL_HAS_AVX)
static bool cpu_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static bool cpu_has_avx512(void) {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

static const kernel_isa *best_isa(void) {
#if defined(KERNEL_HAS_AVX)
  if (cpu_has_avx512()) return &kernel_isa_avx512;
  if (cpu_has_avx2()) return &kernel_isa_avx2;
#endif
#if defined(KERNEL_HAS_SSE2)
  return &kernel_isa_sse2;
#elif defined(KERNEL_HAS_NEON)
  return &kernel_isa_neon;
#else
  return &kernel_isa_scalar;
#endif
}

const kernel_isa *kernel_isa_named(const char *name) {
#if defined(KERNEL_HAS_SSE2)
  if (strcmp(name, "sse2") == 0) return &kernel_isa_sse2;
#endif
#if defined(KERNEL_HAS_AVX)
  if (strcmp(name, "avx2") == 0) return cpu_has_avx2() ? &kernel_isa_avx2 : NULL;
  if (strcmp(name, "avx512") == 0) return cpu_has_avx512() ? &kernel_isa_avx512 : NULL;
#endif
#if defined(KERNEL_HAS_NEON)
  if (strcmp(name, "neon") == 0) return &kernel_isa_neon;
#endif
#if defined(KERNEL_HAS_SCALAR)
  if (strcmp(name, "scalar") == 0) return &kernel_isa_scalar;
#endif
  return NULL;
}

const kernel_isa *kernel_isa_select(void) {
  const char *wish = getenv("DAMO_ISA");
  const kernel_isa *isa = wish ? kernel_isa_named(wish) : NULL;
  return isa ? isa : best_isa();
}

#undef ELEM
#undef ELEM_COLUMN
#undef BOTH
#undef LISTS
#undef SAME_COLUMN
#undef conv_isa_plain_base
#undef SPARSE_COLUMN
#undef COLUMN
