/* kernel_sparse: kernels over compressed sparse storage (csr, csc), raw pointers only.
 *
 * Storage is compressed along its major axis: rows of csr, columns of csc. Major vector i holds the entries indptr[i] …
 * indptr[i + 1] - 1 of indices (0-based positions along the minor axis) and data. A csc matrix is the csr storage of
 * its transpose, so each loop is written once. Index type: int32, or int64 ("wide"). The storage is valid (indptr
 * monotone from 0, indices in range); major vectors may be unsorted and hold duplicates unless a kernel says otherwise;
 * "sorted" means that indices ascend in each of them. Sums run along a major vector in storage order, whatever the
 * instruction set. Output blocks overlap no input unless a comment allows it. The functions are found through a
 * kernel_isa: isa->sparse.value[wide][dtype].
 */
#ifndef DAMO_KERNEL_SPARSE_KERNEL_SPARSE_H
#define DAMO_KERNEL_SPARSE_KERNEL_SPARSE_H

#include "base/base.h"

typedef struct sparse_raw {
  int64_t major, minor;
  const void *indptr, *indices, *data; /* data may be NULL if only the pattern is read */
  damo_ctx *ctx; /* has points (ctx_point) while a kernel runs; NULL: none, as on other threads than the context's */
} sparse_raw;

#define SPARSE_PART 2048 /* entries and major vectors between two points */

/* After n entries of a major vector. */
static inline void sparse_point(const sparse_raw *a, int64_t *since, int64_t n) {
  if ((*since += n + 1) < SPARSE_PART) return;
  *since = 0;
  if (a->ctx != NULL) ctx_point(a->ctx);
}

/* After entry or vector number k of a loop over all. */
static inline void sparse_point_each(damo_ctx *of, int64_t k) {
  if ((k & (SPARSE_PART - 1)) == SPARSE_PART - 1 && of != NULL) ctx_point(of);
}

/* The loop over the major vectors i of a, with points after some. I: the index type. */
#define SPARSE_MAJORS(a, i, I)                       \
  for (int64_t i = 0, i##_since = 0; i < (a)->major; \
       sparse_point(a, &i##_since, (int64_t)(((const I *)(a)->indptr)[i + 1] - ((const I *)(a)->indptr)[i])), i++)

/* The positions first, first + step, … of an axis: `count` of them, all inside the axis. step is not 0. */
typedef struct sparse_range {
  int64_t first, step, count;
} sparse_range;

/* A defect of storage; its position counts from 0. */
typedef enum sparse_flaw {
  SPARSE_FINE,
  SPARSE_BAD_START, /* indptr[0] is not 0 */
  SPARSE_BAD_ORDER, /* indptr[position] < indptr[position - 1] */
  SPARSE_BAD_END,   /* indptr[major] is not the number of entries */
  SPARSE_BAD_INDEX  /* indices[position] is outside 0 … minor - 1 */
} sparse_flaw;

typedef struct sparse_verdict {
  sparse_flaw flaw;
  int64_t position, value;
  bool sorted, unique; /* unique is determined only if all major vectors are sorted; equal neighbours count as sorted */
} sparse_verdict;

/* ---- Pattern only ------------------------------------------------------------------------------------------------ */

typedef struct sparse_index_fns {
  /* to[k] = from[k] + offset; from and to do not overlap or are the same. */
  void (*shift)(const void *from, int64_t n, int64_t offset, void *to);
  /* Validates storage of unknown content: nothing is followed before it has been checked. */
  sparse_verdict (*check)(const sparse_raw *a, int64_t nnz);
  /* The flags sorted and unique of valid storage, as check finds them; returns at the first unsorted pair. */
  void (*order)(const sparse_raw *a, bool *sorted, bool *unique);
  int64_t (*longest)(const sparse_raw *a); /* entries of the longest major vector */
  /* Symbolic product: the number of entries of a·b in every step-th major vector, duplicates merged. mark: one index
   * for each minor position of b, initially -1. */
  int64_t (*count_product)(const sparse_raw *a, const sparse_raw *b, int64_t step, void *mark);
  /* The number of multiplications for them: an upper bound of the entries. INT64_MAX if it overflows. */
  int64_t (*bound_product)(const sparse_raw *a, const sparse_raw *b, int64_t step);
} sparse_index_fns;

/* ---- Moving entries, by element size ----------------------------------------------------------------------------- */

/* ctx: of points, as sparse_raw.ctx, also below. */
typedef struct sparse_move_fns {
  /* The same matrix compressed along the other axis (a transpose of the storage): O(entries + major + minor), stable;
   * major vectors come out sorted. */
  void (*swap)(const sparse_raw *a, void *indptr, void *indices, void *data);
  /* Sorts each major vector by index, stable; data may be a's own. work: sort_workspace(longest major vector) bytes. */
  void (*sort)(const sparse_raw *a, void *indices, void *data, void *work);
  size_t (*sort_workspace)(int64_t longest);
  /* Gathers the major vectors majors[0 … n-1] in that order. */
  void (*take)(const sparse_raw *a, const int64_t *majors, int64_t n, void *indptr, void *indices, void *data);
  /* Gathers the major vectors of a range in its order. */
  void (*take_range)(const kernel_isa *isa, const sparse_raw *a, const sparse_range *majors, void *indptr,
                     void *indices, void *data);
  /* Scatters n major vectors: from[k] becomes to[k] of a matrix with n_major major vectors and nnz entries; to[]
   * ascends, and vectors with the same to[] are concatenated. Numbers from a's major on refer to b's vectors. */
  void (*spread)(const sparse_raw *a, const sparse_raw *b, int64_t n, const int64_t *from, const int64_t *to,
                 int64_t n_major, int64_t nnz, void *indptr, void *indices, void *data);
  /* Converts n coordinates to indptr (major + 1), indices, data; stable. */
  void (*place)(damo_ctx *ctx, int64_t n, const int64_t *major, const int64_t *minor, const void *values,
                int64_t n_major, void *indptr, void *indices, void *data);
  /* Concatenates n blocks with equally many major vectors along the minor axis; at: scratch of n, initially 0. */
  void (*beside)(int64_t n, const sparse_raw *blocks, int64_t *at, void *indptr, void *indices, void *data);
  /* out[p] = g's value at the place of x's entry p, or 0; g is sorted and without duplicates. */
  void (*pick)(const sparse_raw *g, const sparse_raw *x, void *out);
  /* The same from a dense matrix with byte strides. */
  void (*pick_dense)(const char *src, int64_t major_stride, int64_t minor_stride, const sparse_raw *x, void *out);
  /* out[p] = values[places[p]] for p < n. */
  void (*gather)(damo_ctx *ctx, const void *values, const void *places, int64_t n, void *out);
} sparse_move_fns;

/* Compaction (entries left out) and splitting of matrices. */
typedef struct sparse_compact_fns {
  /* Copies a without the entries whose value has no bit in `mask` (a nonzero mask of 8 bytes, applied to both halves of
   * 16-byte elements; mask 0: all stay). Returns the number of entries left. a's indptr need not begin with 0; the
   * outputs have memory for all entries. */
  int64_t (*squeeze)(const sparse_raw *a, uint64_t mask, void *indptr, void *indices, void *data);
  /* Split a along the minor axis: part b has the minor positions bounds[b] … bounds[b + 1] - 1, renumbered from 0.
   * split_count gives the number of entries of each part; split_fill writes the parts, compacted by `mask`, and the
   * numbers of entries left. */
  void (*split_count)(const sparse_raw *a, int64_t n, const int64_t *bounds, int64_t *count);
  void (*split_fill)(const sparse_raw *a, int64_t n, const int64_t *bounds, uint64_t mask, int64_t *count,
                     void *const *indptr, void *const *indices, void *const *data);
} sparse_compact_fns;

/* memcpy for possibly long vectors; n may be 0. */
void kernel_sparse_copy(const kernel_isa *isa, void *to, const void *from, size_t n);

/* Repeats the n bytes at `first` behind them, `times` times. */
void kernel_sparse_repeat(const kernel_isa *isa, void *first, size_t n, int64_t times);

/* Finds the places of a position in a list of positions: a hash table with 2^bits heads and chains. */
typedef struct sparse_lookup {
  const int64_t *list;
  int64_t *heads, *next; /* indices into the list, -1: none; a chain links equal positions in list order */
  int bits;
} sparse_lookup;

/* Fills heads (2^bits) and next (n) for a list of n < 2^bits positions. */
void kernel_sparse_lookup(sparse_lookup *s, int64_t n);

/* For a list of n < INT32_MAX positions of an axis: heads[j] is the one place k with list[k] = j; -1 if there is none;
 * -2 - k, with k the first, if there are several: next[k] is then the next one after k, -1 after the last. */
void kernel_sparse_places(const int64_t *list, int64_t n, int64_t axis, int32_t *heads, int32_t *next);

typedef struct sparse_part_fns {
  /* The number of entries in a submatrix: the major vectors `majors`, the minor positions `across`. sorted: a is. */
  int64_t (*count_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted);
  /* Copies those nnz entries; their minor positions become places in the range. In storage order, or each major vector
   * in reverse if `backward` is set. */
  void (*fill_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted,
                     bool backward, int64_t nnz, void *indptr, void *indices, void *data);
  /* Gather minor positions by a list: count_listed gives the number of entries, counting an entry once for each
   * occurrence of its position in the list; fill_listed copies them, with the places in the list as new minor
   * positions. */
  int64_t (*count_listed)(const sparse_raw *a, const sparse_lookup *list);
  void (*fill_listed)(const sparse_raw *a, const sparse_lookup *list, void *indptr, void *indices, void *data);
  /* The same by arrays along the minor axis: times[j], how often j occurs in the list; heads and next as
   * kernel_sparse_places makes them; nnz: the result of count_times. */
  int64_t (*count_times)(const sparse_raw *a, const int32_t *times);
  void (*fill_places)(const sparse_raw *a, const int32_t *heads, const int32_t *next, int64_t nnz, void *indptr,
                      void *indices, void *data);
  /* The 0-based coordinates of all entries, in storage order. */
  void (*coordinates)(const sparse_raw *a, int64_t *major, int64_t *minor);
} sparse_part_fns;

/* ---- Places that are true or false ------------------------------------------------------------------------------- */

typedef struct sparse_flag_fns {
  /* The pattern of all places that e does not store; e is sorted and without duplicates. The result is sorted. */
  void (*complement)(const sparse_raw *e, void *indptr, void *indices);
  /* Scatters flags[p] to the place of x's entry p in a dense matrix of bytes with byte strides. */
  void (*put)(const sparse_raw *x, const uint8_t *flags, uint8_t *dst, int64_t major_stride, int64_t minor_stride);
} sparse_flag_fns;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Maxima and minima are nan if one operand is; complex numbers are ordered lexicographically (real part first). */
typedef enum sparse_merge_op { SPARSE_ADD, SPARSE_SUB, SPARSE_MUL, SPARSE_MAX, SPARSE_MIN } sparse_merge_op;

/* Complex numbers are ordered lexicographically (real part first); nan is unequal to everything, and in no order. */
typedef enum sparse_relation { SPARSE_EQ, SPARSE_NEQ, SPARSE_LT, SPARSE_LE, SPARSE_GT, SPARSE_GE } sparse_relation;

/* A dense row-major block of `cols` columns; rows are `stride` elements apart. */
typedef struct sparse_block {
  void *data;
  int64_t cols, stride;
} sparse_block;

/* Progress of a product: major vectors done, entries written, entries that fit in memory. */
typedef struct sparse_progress {
  int64_t major, n, capacity;
} sparse_progress;

typedef struct sparse_value_fns {
  /* y = alpha·A·x, plus y if `add` is set; alpha NULL: 1. x has minor, y major elements. */
  void (*matvec)(const sparse_raw *a, const void *alpha, const void *x, void *y, bool add);
  /* y += alpha·Aᵀ·x. */
  void (*matvec_t)(const sparse_raw *a, const void *alpha, const void *x, void *y);
  /* Y = alpha·A·X + Z, all with equally many columns; Z is NULL, Y itself, or does not overlap Y. */
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *z,
                 const sparse_block *y);
  /* Y += alpha·Aᵀ·X. */
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  /* sddmm: out[p] = sum over k of X[i, k]·Y[j, k] for each entry p at (i, j); X has major rows, Y minor rows. */
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  /* Computes major vectors of a·b (spgemm by Gustavson's algorithm) from at->major on, until the next one might exceed
   * the capacity. Its entries come in the order in which they are first met; zeros are kept. mark: one index for each
   * minor position of b, -1 before the first call. */
  void (*fill_product)(const sparse_raw *a, const sparse_raw *b, void *mark, sparse_progress *at, void *indptr,
                       void *indices, void *data);
  /* dst += alpha·a·b for a dense matrix dst with byte strides; alpha NULL: 1. */
  void (*add_product)(const sparse_raw *a, const sparse_raw *b, const void *alpha, char *dst, int64_t major_stride,
                      int64_t minor_stride);
  /* out[p] = the inner product of major vector i of x and major vector j of y, for each entry p of a at (i, j), over
   * the positions that both store. x has a's major, y a's minor number of vectors; x and y have one minor axis. row:
   * one element, mark: one index (initially -1) for each position of that axis. */
  void (*sample_product)(const sparse_raw *a, const sparse_raw *x, const sparse_raw *y, void *row, void *mark,
                         void *out);
  /* a op b of equal shape, both sorted and without duplicates; absent entries count as 0, results equal to 0 are left
   * out. The outputs have memory for the entries of both; returns the number of entries. */
  int64_t (*merge)(sparse_merge_op op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices,
                   void *data);
  /* The places where the relation differs from that of 0 and 0, in the same way. */
  int64_t (*relate)(sparse_relation op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices);
  /* out[p] = data[p]·s[major position], data[p]·s[minor position]; out may be data. */
  void (*scale_major)(const sparse_raw *a, const void *s, void *out);
  void (*scale_minor)(const sparse_raw *a, const void *s, void *out);
  /* sum_major: the sum of each major vector. sum_minor: adds the sum at each minor position to out. */
  void (*sum_major)(const sparse_raw *a, void *out);
  void (*sum_minor)(const sparse_raw *a, void *out);
  /* The same for the products x[p]·y[p]; x and y have an element for each entry. The bits are those of sums of a
   * product vector. */
  void (*vecdot_major)(const sparse_raw *a, const void *x, const void *y, void *out);
  void (*vecdot_minor)(const sparse_raw *a, const void *x, const void *y, void *out);
  /* The largest (smallest) element of each major vector, or at each minor position; absent entries count as 0, nan is
   * the most extreme. No duplicates, and the axis that is reduced is not empty. out and count (one index for each minor
   * position) are 0 before extreme_minor. */
  void (*extreme_major)(const sparse_raw *a, bool largest, void *out);
  void (*extreme_minor)(const sparse_raw *a, bool largest, void *out, void *count);
  /* Adds the entries to a dense matrix with byte strides. */
  void (*add_dense)(const sparse_raw *a, char *dst, int64_t major_stride, int64_t minor_stride);
  /* Elements of a dense matrix that are not 0, nan included: count_dense fills indptr and returns their number,
   * fill_dense writes them. */
  int64_t (*count_dense)(damo_ctx *ctx, const char *src, int64_t major, int64_t minor, int64_t major_stride,
                         int64_t minor_stride, void *indptr);
  void (*fill_dense)(damo_ctx *ctx, const char *src, int64_t major, int64_t minor, int64_t major_stride,
                     int64_t minor_stride, void *indices, void *data);
  /* In place on indptr, indices, data; return the number of entries left. sum_duplicates requires sorted storage. */
  int64_t (*sum_duplicates)(damo_ctx *ctx, int64_t major, void *indptr, void *indices, void *data);
  int64_t (*drop_zeros)(damo_ctx *ctx, int64_t major, void *indptr, void *indices, void *data);
  int64_t (*count_zeros)(damo_ctx *ctx, const void *data, int64_t n);
  /* out[k] = the sum of the entries at (major[k], minor[k]) for k < n; a NULL list stands for 0, 1, 2, … `sorted`: a
   * is. */
  void (*elements)(const sparse_raw *a, bool sorted, int64_t n, const int64_t *major, const int64_t *minor, void *out);
} sparse_value_fns;

/* Vector kernels of the products with a dense block, for floats and complex numbers. NULL: use the plain loop; so it is
 * for other dtypes, and for sample and both of complex numbers. All instruction sets give the same bits, except for
 * `sample`, whose order of summation depends on the vector width. */
typedef struct sparse_dense_fns {
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *z,
                 const sparse_block *y);
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  /* sample and Y = A·X in one pass over the entries, bit for bit: out[p] = sum over k of L[i, k]·X[j, k], where L has
   * major rows. places: a permutation of the values and samples, one index for each entry; NULL: in storage order. At
   * least one column. */
  void (*both)(const sparse_raw *a, const void *places, const sparse_block *l, const sparse_block *x, void *out,
               const sparse_block *y);
} sparse_dense_fns;

#endif
