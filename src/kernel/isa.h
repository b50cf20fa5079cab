/* isa: the kernels of one instruction set.
 *
 * For each instruction set that is compiled in there is one constant kernel_isa: of each kernel the form that is best
 * there. A kernel that has one form for all is the same pointer in each of them. A context chooses its own when it is
 * made (ctx->isa); kernels that call others by way of it take it as an argument. What has one form and is no table
 * (casts, strided copies, counters of random numbers) is a plain function of kernel.h.
 */
#ifndef DAMO_KERNEL_ISA_H
#define DAMO_KERNEL_ISA_H

#include "base/base.h"

/* args: inputs then outputs, each contiguous with n elements, aligned to its element. An output may be the same block
 * as an input of the same element size, else blocks do not overlap. */
typedef void (*kernel_fn)(void *const *args, int64_t n);

/* One elementwise function for each loop dtype (the dtype all its inputs have been converted to); NULL: not defined. */
typedef struct kernel_set {
  kernel_fn fn[DAMO_N_DTYPES];
} kernel_set;

/* The loops of random draws: the same bits for each instruction set. */
typedef struct draw_fns {
  void (*log)(double *x, int64_t n);                                      /* x = draw_log x */
  void (*turn)(const double *v, double *sine, double *cosine, int64_t n); /* of 2 pi v, v in [0, 1] */
} draw_fns;

/* Loops over sparse storage (kernel/sparse/kernel_sparse.h), [wide] or [wide][dtype]: wide where indices are int64. */
typedef struct sparse_isa {
  const struct sparse_index_fns *index[2];
  const struct sparse_flag_fns *flags[2];
  const struct sparse_move_fns *const *move[2];
  const struct sparse_compact_fns *const *compact[2];
  const struct sparse_part_fns *const *part[2];
  const struct sparse_value_fns *const *value[2];
  const struct sparse_dense_fns *dense[2];
} sparse_isa;

struct kernel_isa {
  const char *name;       /* "sse2", "avx2", "avx512", "neon", "scalar" */
  const kernel_set *elem; /* [ELEM_…] of kernel/elem/names.h, which op/elem sees; what others call: */
  const kernel_set *add, *sub, *mul, *true_div, *maximum, *minimum, *neg, *exp, *log;
  const kernel_set *eq, *neq, *lt, *le, *gt, *ge;
  const struct reduce_fns *reduce;
  const draw_fns *draw;
  void (*stream_copy)(char *to, const char *from, size_t n);
  sparse_isa sparse;
};

/* The best for this CPU; never NULL. DAMO_ISA=<name> in the environment asks for a lower one. */
const kernel_isa *kernel_isa_select(void);
/* That of the name, NULL when it is not compiled in or the CPU lacks it. For tests and benchmarks. */
const kernel_isa *kernel_isa_named(const char *name);

#endif
