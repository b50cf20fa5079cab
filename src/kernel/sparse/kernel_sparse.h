/* kernel_sparse: loops over compressed sparse storage (csr, csc), raw pointers only.
 *
 * Storage is compressed along its major axis: rows of csr, columns of csc. The entries of major line i stand at
 * indptr[i] … indptr[i + 1] - 1 of indices (positions along the minor axis, 0-based) and data. A csc matrix is the csr
 * storage of its transpose, so each loop is written once. Index type: int32, or int64 ("wide"). The storage is valid
 * (indptr monotone from 0, indices in range); lines may be unsorted and hold duplicates unless a kernel says otherwise.
 * Sums run along a line in storage order, whatever the instruction set. Output blocks overlap no input unless said.
 * The functions are found through a kernel_isa: isa->sparse.value[wide][dtype].
 */
#ifndef DAMO_KERNEL_SPARSE_KERNEL_SPARSE_H
#define DAMO_KERNEL_SPARSE_KERNEL_SPARSE_H

#include "base/base.h"

typedef struct sparse_raw {
  int64_t major, minor;
  const void *indptr, *indices, *data; /* data may be NULL where only the pattern counts */
} sparse_raw;

/* Positions first, first + step, … of an axis: count of them, all inside it. step is not 0. */
typedef struct sparse_range {
  int64_t first, step, count;
} sparse_range;

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
  /* to[k] = from[k] + offset; from and to are apart or the same. */
  void (*shift)(const void *from, int64_t n, int64_t offset, void *to);
  /* Any bytes are safe to check: nothing is followed before it has been found right. */
  sparse_verdict (*check)(const sparse_raw *a, int64_t nnz);
  /* What check finds about the order of valid lines, if it is unsorted soon. */
  void (*order)(const sparse_raw *a, bool *sorted, bool *unique);
  int64_t (*longest)(const sparse_raw *a); /* entries of the longest line */
  /* Of each step-th line of a·b: the entries, duplicates joined; mark: minor of b indices, set to -1. */
  int64_t (*count_product)(const sparse_raw *a, const sparse_raw *b, int64_t step, void *mark);
  /* The multiplications that they take: no fewer than the entries. INT64_MAX where they can't be counted. */
  int64_t (*bound_product)(const sparse_raw *a, const sparse_raw *b, int64_t step);
} sparse_index_fns;

/* ---- Moving entries, by element size ----------------------------------------------------------------------------- */

typedef struct sparse_move_fns {
  /* The same matrix compressed along the other axis: O(entries + major + minor), stable; lines come out sorted. */
  void (*swap)(const sparse_raw *a, void *indptr, void *indices, void *data);
  /* Each line sorted by index, equal ones in their order; data may be a's own. work: sort_workspace(longest line)
   * bytes. */
  void (*sort)(const sparse_raw *a, void *indices, void *data, void *work);
  size_t (*sort_workspace)(int64_t longest);
  /* The lines lines[0…n-1] in that order. */
  void (*take)(const sparse_raw *a, const int64_t *majors, int64_t n, void *indptr, void *indices, void *data);
  /* The lines of a range in its order. */
  void (*take_range)(const kernel_isa *isa, const sparse_raw *a, const sparse_range *majors, void *indptr,
                     void *indices, void *data);
  /* Line from[k] as line to[k] of a matrix of n_major lines and nnz entries, for n lines with ascending to[]; what
   * comes to one line is put one after the other. The lines from a's major on are b's. */
  void (*spread)(const sparse_raw *a, const sparse_raw *b, int64_t n, const int64_t *from, const int64_t *to,
                 int64_t n_major, int64_t nnz, void *indptr, void *indices, void *data);
  /* n coordinates, stable, into indptr (major + 1), indices, data. */
  void (*place)(int64_t n, const int64_t *major, const int64_t *minor, const void *values, int64_t n_major,
                void *indptr, void *indices, void *data);
  /* n blocks with equally many lines side by side; at: n places, 0. */
  void (*beside)(int64_t n, const sparse_raw *blocks, int64_t *at, void *indptr, void *indices, void *data);
  /* out[p] = g's value, 0 where it has none, at the place of x's entry p; g's lines are sorted without duplicates. */
  void (*pick)(const sparse_raw *g, const sparse_raw *x, void *out);
  /* The same from a dense box with byte strides. */
  void (*pick_dense)(const char *src, int64_t major_stride, int64_t minor_stride, const sparse_raw *x, void *out);
  /* out[p] = values[places[p]] for n indices. */
  void (*gather)(const void *values, const void *places, int64_t n, void *out);
} sparse_move_fns;

/* Entries left out and matrices taken apart. */
typedef struct sparse_compact_fns {
  /* a's lines without the entries that have no bit in `mask` (8 bytes; for elements of 16 in each half; 0: all stay).
   * Returns how many are left. a's indptr need not begin with 0; room for all entries. */
  int64_t (*squeeze)(const sparse_raw *a, uint64_t mask, void *indptr, void *indices, void *data);
  /* The parts of a whose indices lie in bounds[b] … bounds[b + 1] - 1, counted from bounds[b]: first how many entries
   * each has, then their lines, squeezed, and how many are left. */
  void (*split_count)(const sparse_raw *a, int64_t n, const int64_t *bounds, int64_t *count);
  void (*split_fill)(const sparse_raw *a, int64_t n, const int64_t *bounds, uint64_t mask, int64_t *count,
                     void *const *indptr, void *const *indices, void *const *data);
} sparse_compact_fns;

/* As memcpy, for vectors that may be long; n may be 0. */
void kernel_sparse_copy(const kernel_isa *isa, void *to, const void *from, size_t n);

/* The n bytes at first, times times more behind them. */
void kernel_sparse_repeat(const kernel_isa *isa, void *first, size_t n, int64_t times);

/* Where in a list of positions a position stands: a chained hash table of 2^bits heads. */
typedef struct sparse_lookup {
  const int64_t *list;
  int64_t *heads, *next; /* places in the list, -1: none; a chain holds equal positions, in the order of the list */
  int bits;
} sparse_lookup;

/* Fills heads (2^bits) and next (n) for a list of n < 2^bits positions. */
void kernel_sparse_lookup(sparse_lookup *s, int64_t n);

/* For a list of n < INT32_MAX positions of an axis, heads[j]: the one place in the list that holds j; -1: none; or
 * -2 - the first of several, next[k] being the next one after place k, -1 after the last. */
void kernel_sparse_places(const int64_t *list, int64_t n, int64_t axis, int32_t *heads, int32_t *next);

typedef struct sparse_part_fns {
  /* Entries in those lines and minor positions. `sorted`: the lines are. */
  int64_t (*count_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted);
  /* The entries, of which there are nnz, their minor positions counted along the range; in storage order, each line
   * `backward` when told. */
  void (*fill_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted,
                     bool backward, int64_t nnz, void *indptr, void *indices, void *data);
  /* Entries at the minor positions of a list, once for each time they stand there; then the entries, whose minor
   * positions are the places in the list. */
  int64_t (*count_listed)(const sparse_raw *a, const sparse_lookup *list);
  void (*fill_listed)(const sparse_raw *a, const sparse_lookup *list, void *indptr, void *indices, void *data);
  /* The same by arrays as long as the minor axis: how often each position stands in the list; what
   * kernel_sparse_places says, for the nnz entries counted so. */
  int64_t (*count_times)(const sparse_raw *a, const int32_t *times);
  void (*fill_places)(const sparse_raw *a, const int32_t *heads, const int32_t *next, int64_t nnz, void *indptr,
                      void *indices, void *data);
  /* The 0-based coordinates of all entries, in storage order. */
  void (*coordinates)(const sparse_raw *a, int64_t *major, int64_t *minor);
} sparse_part_fns;

/* ---- Places that hold true or false ------------------------------------------------------------------------------ */

typedef struct sparse_flag_fns {
  /* All places but e's, which is sorted without duplicates: lines ascend. */
  void (*complement)(const sparse_raw *e, void *indptr, void *indices);
  /* flags[p] to the place of x's entry p in a dense box of bytes. */
  void (*put)(const sparse_raw *x, const uint8_t *flags, uint8_t *dst, int64_t major_stride, int64_t minor_stride);
} sparse_flag_fns;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The larger and the smaller of two: nan where one is; of complex numbers there is none. */
typedef enum sparse_merge_op { SPARSE_ADD, SPARSE_SUB, SPARSE_MUL, SPARSE_MAX, SPARSE_MIN } sparse_merge_op;

/* Complex numbers are equal or not, no more. nan is unequal to all. */
typedef enum sparse_relation { SPARSE_EQ, SPARSE_NEQ, SPARSE_LT, SPARSE_LE, SPARSE_GT, SPARSE_GE } sparse_relation;

/* A row-major block: `cols` columns, rows `stride` elements apart. */
typedef struct sparse_block {
  void *data;
  int64_t cols, stride;
} sparse_block;

/* How far a product has come: major positions done, entries written, and for how many there is memory. */
typedef struct sparse_progress {
  int64_t major, n, capacity;
} sparse_progress;

typedef struct sparse_value_fns {
  /* y = alpha·A·x (+ y when add); alpha NULL is 1. x has minor, y major elements. */
  void (*matvec)(const sparse_raw *a, const void *alpha, const void *x, void *y, bool add);
  /* y += alpha·Aᵀ·x. */
  void (*matvec_t)(const sparse_raw *a, const void *alpha, const void *x, void *y);
  /* Y = alpha·A·X + Z, all with equally many columns; Z is NULL, Y itself or apart from it. */
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *z,
                 const sparse_block *y);
  /* Y += alpha·Aᵀ·X. */
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  /* out[p] = sum over k of X[i, k]·Y[j, k] for each stored (i, j); X has major rows, Y minor rows. */
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  /* Lines of a·b and their indptr, on from where `at` says, until one may find no memory for all that it could have.
   * Entries come out in the order in which they are met, those that are 0 among them. mark: minor of b indices, set to
   * -1 before the first line. */
  void (*fill_product)(const sparse_raw *a, const sparse_raw *b, void *mark, sparse_progress *at, void *indptr,
                       void *indices, void *data);
  /* dst += alpha·a·b, dst being a dense box with byte strides; alpha NULL is 1. */
  void (*add_product)(const sparse_raw *a, const sparse_raw *b, const void *alpha, char *dst, int64_t major_stride,
                      int64_t minor_stride);
  /* out[p] = the inner product of line i of x and line j of y for each stored (i, j) of a: only places that both hold
   * count. x has major, y minor lines; both have one minor axis: row is room for as many elements, mark for as many
   * indices, set to -1. */
  void (*sample_product)(const sparse_raw *a, const sparse_raw *x, const sparse_raw *y, void *row, void *mark,
                         void *out);
  /* a op b of equal shape, both sorted without duplicates; absent entries count as 0, results equal to 0 are dropped.
   * Room for the entries of both; returns how many there are. */
  int64_t (*merge)(sparse_merge_op op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices,
                   void *data);
  /* The places where the relation says another thing than of 0 and 0, in the same manner. */
  int64_t (*relate)(sparse_relation op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices);
  /* out[p] = data[p]·s[line], data[p]·s[index]; out may be data. */
  void (*scale_major)(const sparse_raw *a, const void *s, void *out);
  void (*scale_minor)(const sparse_raw *a, const void *s, void *out);
  /* Sums of the lines; sums along the other axis, added to out. */
  void (*sum_major)(const sparse_raw *a, void *out);
  void (*sum_minor)(const sparse_raw *a, void *out);
  /* The same of x[p]·y[p], x and y having an element for each entry of a pattern: the same bits. */
  void (*vecdot_major)(const sparse_raw *a, const void *x, const void *y, void *out);
  void (*vecdot_minor)(const sparse_raw *a, const void *x, const void *y, void *out);
  /* The largest (smallest) element of each line, or along the other axis, absent entries counted as 0, nan as the most
   * extreme; no duplicates, and a line has a place. out and count (minor indices)
   * are 0 before extreme_minor. */
  void (*extreme_major)(const sparse_raw *a, bool largest, void *out);
  void (*extreme_minor)(const sparse_raw *a, bool largest, void *out, void *count);
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
  /* out[k] = the sum of the entries at (major[k], minor[k]), k < n; both lists NULL: of the diagonal. `sorted`: lines
   * are. */
  void (*elements)(const sparse_raw *a, bool sorted, int64_t n, const int64_t *major, const int64_t *minor, void *out);
} sparse_value_fns;

/* The products with a dense block for floats and complex numbers in vectors; NULL: use the plain loop, as for other
 * dtypes, and for sample and both of complex numbers.
 * All instruction sets give the same bits but for `sample`, which folds vector lanes. */
typedef struct sparse_dense_fns {
  void (*matmat)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *z,
                 const sparse_block *y);
  void (*matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *x, const sparse_block *y);
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  /* sample and Y = A·X in one pass over the entries, bit for bit: out[p] = sum over k of L[i, k]·X[j, k], L having
   * major rows. places: where the values and samples of the entries stand, by an index each; NULL: as they come. At
   * least one column. */
  void (*both)(const sparse_raw *a, const void *places, const sparse_block *l, const sparse_block *x, void *out,
               const sparse_block *y);
} sparse_dense_fns;

#endif
