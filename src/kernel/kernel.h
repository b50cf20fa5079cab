/* kernel: pure loops over raw pointers; no context, no graph, no allocation, no failure.
 *
 * In: pointers, counts, byte strides. Out: values written. Always holds: a kernel computes the same value for an
 * element wherever the element lies in a block and however long the block is (tails go through the same vector routine,
 * padded); integers wrap; integer division and modulo by 0 give 0 and the smallest integer // -1 wraps; nan and inf
 * pass as IEEE says.
 *
 * Elementwise kernels see contiguous blocks only: the driver (op/elem) gathers strided operands into blocks that
 * fit in L1 and scatters results, so a kernel is one loop and vectorises. What is compiled for several instruction sets
 * is found through a kernel_isa (kernel/isa.h), which a context chooses when it is made.
 */
#ifndef DAMO_KERNEL_H
#define DAMO_KERNEL_H

#include "base/base.h"
#include "kernel/isa.h"
#include "kernel/sparse/kernel_sparse.h"
#include "kernel/walk.h"

/* Contiguous conversion of n elements, C's rules (float to integer truncates, out of range saturates, nan gives 0;
 * complex to real drops the imaginary part; anything to bool is x != 0). */
typedef void (*cast_fn)(const void *src, void *dst, int64_t n);
cast_fn kernel_cast(damo_dtype from, damo_dtype to);

/* Whether n contiguous elements hold neither inf nor nan; true for discrete dtypes. */
bool kernel_all_finite(damo_dtype dtype, const void *x, int64_t n);

/* Copies n elements of size bytes (1, 2, 4, 8, 16) between byte strides; a source stride of 0 fills. */
void kernel_copy_strided(const char *src, int64_t src_stride, char *dst, int64_t dst_stride, int64_t n, size_t size);
/* The same for rows of n elements each, the first elements of which are a pitch apart. */
void kernel_copy_rows(const char *src, int64_t src_pitch, int64_t src_stride, char *dst, int64_t dst_pitch,
                      int64_t dst_stride, int64_t rows, int64_t n, size_t size);
/* dst (C-contiguous when dst_strides is NULL) = src over an n-d box, same element size; axes coalesced and tiled. */
void kernel_copy_nd(const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides, int ndim,
                    const int64_t *shape, size_t size);

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

typedef enum reduce_kind {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MAX,
  REDUCE_MIN,
  REDUCE_ANY,
  REDUCE_ALL,
  REDUCE_ARGMAX,
  REDUCE_ARGMIN,
  REDUCE_LOGSUMEXP,
  REDUCE_SUM_SQR /* of |x|² */
} reduce_kind;

/* The output dtype of a reduction over dtype `in`: sum and prod of bool and signed integers int64, of unsigned uint64;
 * any, all bool; argmax, argmin int64 (1-based positions); logsumexp dtype_to_float; sum_sqr of complex the matching
 * float; others `in`. */
damo_dtype reduce_out_dtype(reduce_kind kind, damo_dtype in);
/* false when the kind is not defined for the dtype (logsumexp of complex, sum_sqr of integers). */
bool reduce_supported(reduce_kind kind, damo_dtype in);

/* Reduces x (dtype `in`, shape and byte strides of ndim entries) over the axes whose bit is set in `axes`, into `out`:
 * C-contiguous over the kept axes, of reduce_out_dtype. float sums and products are pairwise in blocks, with an order
 * that depends on the shape alone. Empty: sum 0, prod 1, any false, all true; max, min, argmax, argmin over an empty
 * axis must not be asked for. max, min, argmax, argmin give nan (the first nan's position) where there is a nan. argmax
 * over several axes counts positions in C order over the reduced axes. work: reduce_workspace bytes, 64-byte
 * aligned. */
size_t reduce_workspace(reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape, uint32_t axes);
void kernel_reduce(const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x, int ndim,
                   const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work);

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* Philox 4x32-10 (Salmon et al., SC'11). A stream is (key, counter); block i of a draw is philox(key, counter + i).
 * Distributions take their functions from kernel/draw_math.h, so the numbers depend on neither machine nor instruction
 * set nor thread count. */
typedef struct philox_state {
  uint64_t key, counter_lo, counter_hi;
} philox_state;
void philox_block(const philox_state *s, uint64_t block, uint32_t out[4]);
void philox_advance(philox_state *s, uint64_t blocks);
/* A key and zero counter from any seed (SplitMix64). */
philox_state philox_seed(uint64_t seed);
/* Blocks that a draw of n values takes (the same for every distribution: 1 block gives two 53-bit uniforms). */
uint64_t philox_blocks(int64_t n);
/* The random words of one value, however many it takes: the two of its block, then those of the counters that differ
 * from the block's in the top 32 bits. So what one value's rejections take moves no other value. */
typedef struct philox_words {
  philox_state at;
  uint64_t kept[2];
  int left;
} philox_words;
philox_words philox_words_of(const philox_state *s, uint64_t block);
uint64_t philox_word(philox_words *w);
/* Uniform in [0, 1), 53 bits. */
double philox_unit(philox_words *w);
/* The functions of draws: the same bits on every machine. expm1: x <= 0. */
double draw_log(double x);
double draw_exp(double x);
double draw_log1p(double x);
double draw_expm1(double x);
/* n uniforms in [0, 1): 53 random bits (float64) or 24 (float32: rounded from the same bits, never 1). */
void philox_uniform_f64(const philox_state *s, double *out, int64_t n);
/* n standard normals by Box-Muller on pairs of uniforms. */
void philox_normal_f64(const kernel_isa *isa, const philox_state *s, double *out, int64_t n);
/* A permutation of 0…n-1 (Fisher-Yates with unbiased bounded draws from consecutive blocks). */
void philox_permutation(const philox_state *s, int64_t *out, int64_t n);

#endif
