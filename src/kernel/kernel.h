/* kernel: pure loops over raw pointers; no context, no graph, no allocation, no failure.
 *
 * In: pointers, counts, byte strides. Out: values written. Always holds: a kernel computes the same value for an
 * element wherever it lies in a block and however long the block is (tails are padded and go through the same vector
 * code); integers wrap; integer division and modulo by 0 give 0 and the smallest integer // -1 wraps; nan and inf
 * follow IEEE 754.
 *
 * Elementwise kernels see contiguous blocks only: the driver (op/elem) gathers strided operands into blocks that
 * fit in L1 and scatters results, so a kernel is one loop and vectorises. What is compiled for several instruction sets
 * is found through a kernel_isa (kernel/isa.h), which a context chooses when it is made.
 *
 * Here are conversions and copies. Beside them stand:
 * isa.h                   the kernels of one instruction set
 * walk.h                  iteration over n-d boxes
 * reduce/reduce.h         reductions
 * random.h                random numbers
 * sort.h                  sorting and selection by keys
 * sparse/kernel_sparse.h  loops over sparse storage
 * conv/conv.h             convolutions
 * conv/pool.h             maxima and means over windows
 * elem/names.h            the list of the elementwise kernels
 */
#ifndef DAMO_KERNEL_H
#define DAMO_KERNEL_H

#include "base/base.h"

/* Converts n contiguous elements by C's rules (float to integer truncates, out of range saturates, nan gives 0; complex
 * to real drops the imaginary part; anything to bool is x != 0). */
typedef void (*cast_fn)(const void *src, void *dst, int64_t n);
cast_fn kernel_cast(damo_dtype from, damo_dtype to);

/* Whether n contiguous elements hold neither inf nor nan; true for discrete dtypes. */
bool kernel_all_finite(damo_dtype dtype, const void *x, int64_t n);

/* The bytes from which on a result is stored past the cache: half the last-level cache, 16 MB at most. `bytes`: those of
 * the result; where they are few, the machine is not asked. */
size_t kernel_stream_least(size_t bytes);
/* Copies n bytes by stores that don't read the destination into the cache (non-temporal stores, where the machine has
 * them). Before another thread reads the result, kernel_stream_fence must have run. */
void kernel_copy_stream(char *restrict to, const char *restrict from, size_t n);
void kernel_stream_fence(void);
/* Begins to load n bytes at p, which need not be mapped. */
void kernel_prefetch(const char *p, size_t n);

/* Copies n elements of size bytes (1, 2, 4, 8, 16) between byte strides; a source stride of 0 fills. */
void kernel_copy_strided(const char *src, int64_t src_stride, char *dst, int64_t dst_stride, int64_t n, size_t size);
/* The same for `rows` rows of n elements each; the first elements of consecutive rows are a pitch apart. */
void kernel_copy_rows(const char *src, int64_t src_pitch, int64_t src_stride, char *dst, int64_t dst_pitch,
                      int64_t dst_stride, int64_t rows, int64_t n, size_t size);
/* Copies tiles of n elements to a contiguous block: element i of a tile lies at[i] bytes from its first one, and the
 * first elements of consecutive tiles are a pitch apart. */
void kernel_copy_tiles(const char *src, int64_t src_pitch, const int64_t *at, int64_t n, char *dst, int64_t tiles,
                       size_t size);
/* dst = src over an n-d array, same element size; dst_strides NULL: C-contiguous. Axes are merged and tiled. */
void kernel_copy_nd(const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides, int ndim,
                    const int64_t *shape, size_t size);

#endif
