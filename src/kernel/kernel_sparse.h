/* kernel_sparse: loops over compressed sparse storage (csr, csc), raw pointers only.
 *
 * Storage is compressed along its major axis: rows of csr, columns of csc. The entries of major line i stand at
 * indptr[i] … indptr[i + 1] - 1 of indices (positions along the minor axis, 0-based) and data. A csc matrix is the csr
 * storage of its transpose, so each loop is written once. Index type: int32, or int64 ("wide"). The storage is valid
 * (indptr monotone from 0, indices in range); lines may be unsorted and hold duplicates unless a kernel says otherwise.
 * Sums run along a line in storage order, whatever the instruction set. Output blocks overlap no input unless said.
 */
#ifndef DAMO_KERNEL_SPARSE_H
#define DAMO_KERNEL_SPARSE_H

#include "../base/base.h"

typedef struct sparse_raw {
  int64_t major, minor;
  const void *indptr, *indices, *data; /* data may be NULL where only the pattern counts */
} sparse_raw;

/* What is wrong with storage, and where; position counts from 0. */
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
  bool sorted, unique; /* unique is only found for sorted lines; a line with equal neighbours is sorted, not unique */
} sparse_verdict;

/* ---- Pattern only ------------------------------------------------------------------------------------------------ */

typedef struct sparse_index_fns {
  /* Any bytes are safe to check: nothing is followed before it has been found right. */
  sparse_verdict (*check)(const sparse_raw *a, int64_t nnz);
  int64_t (*longest)(const sparse_raw *a); /* entries of the longest line */
  /* Entries of a·b, duplicates joined; out[major of a + 1] its indptr (wrong, but harmless, when the result is past the
   * index type). mark: minor of b indices, set to -1. */
  int64_t (*count_product)(const sparse_raw *a, const sparse_raw *b, void *mark, void *out);
  /* The multiplications that a·b takes: no fewer than its entries. INT64_MAX where they can't be counted. */
  int64_t (*bound_product)(const sparse_raw *a, const sparse_raw *b);
} sparse_index_fns;

const sparse_index_fns *kernel_sparse_index(bool wide);

/* ---- Moving entries, by element size ----------------------------------------------------------------------------- */

typedef struct sparse_move_fns {
  /* The same matrix compressed along the other axis: O(entries + major + minor), stable; lines come out sorted. */
  void (*swap)(const sparse_raw *a, void *indptr, void *indices, void *data);
  /* Each line sorted by index, equal ones in their order. work: sort_room(longest line) bytes. */
  void (*sort)(const sparse_raw *a, void *indices, void *data, void *work);
  size_t (*sort_room)(int64_t longest);
  /* The lines lines[0…n-1] in that order. */
  void (*take)(const sparse_raw *a, const int64_t *lines, int64_t n, void *indptr, void *indices, void *data);
  /* n coordinates, stable, into indptr (major + 1), indices, data. */
  void (*place)(int64_t n, const int64_t *major, const int64_t *minor, const void *values, int64_t n_major,
                void *indptr, void *indices, void *data);
} sparse_move_fns;

const sparse_move_fns *kernel_sparse_move(bool wide, size_t element_size);

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef enum sparse_merge_op { SPARSE_ADD, SPARSE_SUB, SPARSE_MUL } sparse_merge_op;

/* A row-major block: `cols` columns, rows `stride` elements apart. */
typedef struct sparse_block {
  void *data;
  int64_t cols, stride;
} sparse_block;

typedef struct sparse_value_fns {
  /* y = alpha·A·x (+ y when add); alpha NULL is 1. x has minor, y major elements. */
  void (*matvec)(const sparse_raw *a, const void *alpha, const void *x, void *y, bool add);
  /* y += alpha·Aᵀ·x. */
  void (*matvec_t)(const sparse_raw *a, const void *alpha, const void *x, void *y);
  /* Y = alpha·A·X (+ Y when add), X and Y with equally many columns. */
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y, bool add);
  /* Y += alpha·Aᵀ·X. */
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  /* out[p] = sum over k of X[i, k]·Y[j, k] for each stored (i, j); X has major rows, Y minor rows. */
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  /* The entries of a·b and their indptr, into room for count_product or bound_product of them; mark: minor of b indices,
   * set to -1. Lines come out in the order in which entries are met, explicit zeros kept. Returns how many there are. */
  int64_t (*fill_product)(const sparse_raw *a, const sparse_raw *b, void *mark, void *indptr, void *indices,
                          void *data);
  /* a op b of equal shape, both sorted without duplicates; absent entries count as 0, results equal to 0 are dropped.
   * Room for the entries of both; returns how many there are. */
  int64_t (*merge)(sparse_merge_op op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices,
                   void *data);
  /* out[p] = data[p]·s[line], data[p]·s[index]; out may be data. */
  void (*scale_major)(const sparse_raw *a, const void *s, void *out);
  void (*scale_minor)(const sparse_raw *a, const void *s, void *out);
  /* Sums of the lines; sums along the other axis, added to out. */
  void (*sum_major)(const sparse_raw *a, void *out);
  void (*sum_minor)(const sparse_raw *a, void *out);
  /* Adds the entries to a dense box with byte strides. */
  void (*add_dense)(const sparse_raw *a, char *dst, int64_t major_stride, int64_t minor_stride);
  /* Entries of a dense box that are not 0 (nan counts): indptr and how many; then the entries. */
  int64_t (*count_dense)(const char *src, int64_t major, int64_t minor, int64_t major_stride, int64_t minor_stride,
                         void *indptr);
  void (*fill_dense)(const char *src, int64_t major, int64_t minor, int64_t major_stride, int64_t minor_stride,
                     void *indices, void *data);
  /* In place on indptr, indices, data; return the entries left. Lines are sorted for sum_duplicates. */
  int64_t (*sum_duplicates)(int64_t major, void *indptr, void *indices, void *data);
  int64_t (*drop_zeros)(int64_t major, void *indptr, void *indices, void *data);
  int64_t (*count_zeros)(const void *data, int64_t n);
} sparse_value_fns;

const sparse_value_fns *kernel_sparse_value(bool wide, damo_dtype dtype);

/* The products with a dense block for float32 and float64, for one instruction set; NULL entries: use the plain loop.
 * All instruction sets give the same bits but for `sample`, which folds vector lanes. */
typedef struct sparse_dense_fns {
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y, bool add);
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
} sparse_dense_fns;

/* The best for this CPU (DAMO_ISA as for the elementwise kernels); NULL for other dtypes. */
const sparse_dense_fns *kernel_sparse_dense(bool wide, damo_dtype dtype);

#endif
