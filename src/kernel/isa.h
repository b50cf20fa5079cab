/* isa: the kernels of one instruction set.
 *
 * For each instruction set that is compiled in there is one constant kernel_isa, which holds the best form of each
 * kernel for it. A kernel that has a single form is the same pointer in all of them. A context chooses its kernel_isa
 * when it is made (ctx->isa); kernels that call others through it take it as an argument. Kernels that have a single
 * form and are no table (casts, strided copies, random counters) are plain functions of kernel.h.
 */
#ifndef DAMO_KERNEL_ISA_H
#define DAMO_KERNEL_ISA_H

#include "base/base.h"

/* args: inputs, then outputs, each contiguous with n elements, aligned to its element. An output may be the same block
 * as an input of the same element size; otherwise blocks do not overlap. */
typedef void (*kernel_fn)(void *const *args, int64_t n);

/* One elementwise function for each loop dtype (the dtype all its inputs have been converted to); NULL: not defined. */
typedef struct kernel_set {
  kernel_fn fn[DAMO_N_DTYPES];
} kernel_set;

typedef struct philox_state philox_state; /* random.h */
typedef struct blas_fns blas_fns;         /* blas/blas.h */

/* Kernels of random draws: the same bits for every instruction set. */
typedef struct draw_fns {
  void (*log)(double *x, int64_t n);                                            /* x = draw_log x */
  void (*sincos_2pi)(const double *v, double *sine, double *cosine, int64_t n); /* of 2 pi v, v in [0, 1] */
  void (*philox)(const philox_state *s, uint64_t *words, int64_t blocks);       /* blocks 0…, two words each */
  /* Marsaglia and Tsang's first attempt from each block's two words: z is the normal draw, u the uniform of the test; x
   * is d (1 + c z)³ where the squeeze accepts it, else -1. */
  void (*gamma)(const uint64_t *words, const double *d, const double *c, double *x, double *z, double *u, int64_t n);
} draw_fns;

/* c = alpha · a · b + beta · z: a is m × k with any steps, b k × n, c and z m × n; steps in elements. Rows of c and z
 * are contiguous, those of b too (b_col is 1) or b has at most SMALL_GEMM_PACK entries. With beta 0 z is not read. z may
 * be c; c overlaps none of the others. */
#define SMALL_GEMM_PACK 256
typedef struct small_gemm {
  int64_t m, n, k;
  const void *a, *b, *z;
  void *c;
  int64_t a_row, a_col, b_row, b_col, c_row, z_row;
  double alpha, beta;
} small_gemm;
typedef struct small_gemm_fns {
  void (*run[DAMO_N_DTYPES])(const small_gemm *g); /* NULL: not defined */
  /* Whether BLAS, on the CPUs that run this instruction set, has kernels for small matrices of its own, which pack
   * nothing. */
  bool blas_has_small;
} small_gemm_fns;

/* Products of convolutions, as kernel/conv/conv.h explains. Results of `rows` filters at n positions: result[i][j] = Σ_p
 * w[i][p] · source[offsets[p] + j] over `depth` taps. weights: panels of conv_panel(…) rows, each [depth][rows of the
 * panel]. n is rounded up to whole vectors: that much is read behind each offset and written in each row of `pitch`. */
typedef struct conv_strip {
  int64_t rows, depth, n, pitch;
  const void *weights, *source;
  const int64_t *offsets;
  void *result;
} conv_strip;
/* c[i][j] += Σ_s Σ_p source[s·source_step + offsets[i] + p] · b[s·b_step + p·b_row + j]: `rows` rows of n entries, n a
 * multiple of the lanes of a vector, over `segments` of `depth` positions. */
typedef struct conv_outer {
  int64_t rows, segments, depth, n, source_step, b_step, b_row, c_row;
  const void *source, *b;
  const int64_t *offsets;
  void *c;
} conv_outer;
typedef struct conv_fns {
  int64_t rows, lanes; /* of a panel of weights; of a vector */
  void (*strip)(const conv_strip *s);
  void (*outer)(const conv_outer *o);
} conv_fns;
typedef struct conv_isa {
  conv_fns f32, f64;
} conv_isa;

/* Eigenvalues of EIGH_LANES symmetric n × n matrices with n up to EIGH_MOST: entry (i, j) of matrix l, both triangles, at
 * number (i·n + j)·EIGH_LANES + l. The diagonal becomes the eigenvalues, in any order, and v the eigenvectors as columns
 * (NULL: not wanted). False: they did not converge, as where an entry is nan. Entries must be far from overflow. */
#define EIGH_LANES 8
#define EIGH_MOST 8
typedef struct eigh_lanes_fns {
  bool (*run[DAMO_N_DTYPES])(void *a, void *v, int n); /* NULL: not defined */
} eigh_lanes_fns;

/* Kernels over sparse storage (kernel/sparse/kernel_sparse.h), [wide] or [wide][dtype]: wide is 1 for int64 indices. */
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
  const char *name; /* "sse2", "avx2", "avx512", "neon", "scalar" */
  /* The kernels of the same instruction set whose results have the same bits on every machine; itself for those. Of
   * elementwise kernels it lacks those that a library computes, and products of matrices are those of `blas` alone. */
  const kernel_isa *plain;
  const kernel_set *elem; /* [ELEM_…] of kernel/elem/names.h, for op/elem; the kernels below are for other folders */
  const kernel_set *add, *sub, *mul, *true_div, *maximum, *minimum, *neg, *exp, *log;
  const kernel_set *eq, *neq, *lt, *le, *gt, *ge;
  const struct reduce_fns *reduce;
  const draw_fns *draw;
  void (*stream_copy)(char *to, const char *from, size_t n);
  const small_gemm_fns *small_gemm;
  const blas_fns *blas;      /* kernel/blas/blas.h */
  const struct fft_fns *fft; /* kernel/fft/fft.h */
  const conv_isa *conv;
  const eigh_lanes_fns *eigh_lanes;
  const struct lane_fns *lanes; /* [2]: float32, float64; kernel/lanes/lanes.h */
  sparse_isa sparse;
};

/* The best one for this CPU; never NULL. DAMO_ISA=<name> in the environment selects another that the CPU runs. */
const kernel_isa *kernel_isa_select(void);
/* The one of that name; NULL if it is not compiled in or the CPU lacks it. For tests and benchmarks. */
const kernel_isa *kernel_isa_named(const char *name);

#endif
