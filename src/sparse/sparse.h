/* sparse: matrices in compressed storage, csr and csc.
 *
 * In: arrays of data, indices, indptr; coordinates; dense arrays. Out: matrices, and the products, merges and sums of
 * them that ops are made of. Always holds: data, indices and indptr are contiguous vectors of one length rule (indptr:
 * major + 1 entries from 0 to nnz, monotone; indices inside the minor axis); indices and indptr are both int32 or both
 * int64, read-only, and nobody can write them any more, so `sorted` and `unique` stay true once found. data is
 * writeable and may be shared with other matrices. A matrix itself never changes,
 * but where its only holder writes a Function's result into it (compile/target.c).
 *
 * major: the axis that is compressed (rows of csr, columns of csc); minor: the other. Duplicates stand for their sum.
 * Functions that return a matrix may return their argument, retained, where nothing has to be done.
 */
#ifndef DAMO_SPARSE_H
#define DAMO_SPARSE_H

#include "array/array.h"
#include "kernel/isa.h"
#include "kernel/random.h"
#include "kernel/sparse/kernel_sparse.h"

struct damo_sparse {
  damo_obj obj;
  uint8_t format; /* damo_format */
  bool sorted;    /* known: each line's indices ascend (equal neighbours allowed) */
  bool unique;    /* known: no duplicates */
  int64_t shape[2];
  damo_array *data, *indices, *indptr; /* owned */
};

static inline damo_format sparse_format(const damo_sparse *a) { return (damo_format)a->format; }
static inline damo_dtype sparse_dtype(const damo_sparse *a) { return array_dtype(a->data); }
static inline damo_dtype sparse_itype(const damo_sparse *a) { return array_dtype(a->indices); }
static inline bool sparse_is_wide(const damo_sparse *a) { return sparse_itype(a) == DAMO_INT64; }
static inline int64_t sparse_nnz(const damo_sparse *a) { return array_shape(a->data)[0]; }
static inline int64_t sparse_major(const damo_sparse *a) { return a->shape[a->format == DAMO_CSC]; }
static inline int64_t sparse_minor(const damo_sparse *a) { return a->shape[a->format == DAMO_CSR]; }
static inline bool sparse_is_canonical(const damo_sparse *a) { return a->sorted && a->unique; }
static inline const char *sparse_format_name(damo_format f) { return f == DAMO_CSR ? "csr" : "csc"; }
static inline sparse_raw sparse_raw_of(const damo_sparse *a) {
  return (sparse_raw){sparse_major(a), sparse_minor(a), a->indptr->data, a->indices->data, a->data->data};
}

void sparse_register(damo_ctx *ctx); /* destructor; called once by the api layer */

/* Behind a message that refuses the name of a format: what becomes of matrices in SciPy's other formats, or nothing. */
const char *sparse_format_advice(const char *name);

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* The index dtype: int64 when asked for (DAMO_INT64) or needed (a dimension or nnz past 2^31 - 1), else int32. */
damo_dtype sparse_itype_for(damo_dtype asked, int64_t rows, int64_t cols, int64_t nnz);
/* Room for nnz entries, contents undefined: the maker fills it through its raw pointers and sets the flags. */
damo_sparse *sparse_empty(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t shape[2],
                          int64_t nnz);
/* Keeps the first nnz entries of a matrix just made (a reference is taken); indptr says nnz already. */
damo_sparse *sparse_cut(damo_sparse *take, int64_t nnz);
/* The same pattern (shared, with its flags) and that data, a contiguous vector of nnz entries (retained). */
damo_sparse *sparse_with_data(const damo_sparse *a, damo_array *data);
/* From the three vectors, any integer dtypes for indices and indptr. Checks all, in O(nnz + major); the first offence
 * is named. data is shared where it is contiguous; indices and indptr are copied, or shared when they came out of a
 * matrix. */
damo_sparse *sparse_from_parts(damo_ctx *ctx, damo_format format, const int64_t shape[2], const damo_array *data,
                               const damo_array *indices, const damo_array *indptr, damo_dtype itype);
/* From coordinates, 1-based vectors of any integer dtype, and a vector of values or one for all, 0-d; duplicates are
 * summed. shape NULL: the largest found. */
damo_sparse *sparse_from_coo(damo_ctx *ctx, damo_format format, const int64_t *shape, const damo_array *rows,
                             const damo_array *cols, const damo_array *values, damo_dtype itype);
/* From n 0-based coordinates in range; values has n elements of dtype. Stable, duplicates are kept when told. */
damo_sparse *sparse_from_places(damo_ctx *ctx, damo_format format, damo_dtype dtype, const int64_t shape[2], int64_t n,
                                const int64_t *rows, const int64_t *cols, const void *values, damo_dtype itype,
                                bool keep_duplicates);
/* The entries of a matrix that are not 0 (nan is not 0). */
damo_sparse *sparse_from_dense(const damo_array *a, damo_format format, damo_dtype itype);
/* Ones on the k-th diagonal (0: main, positive: above). */
damo_sparse *sparse_eye(damo_ctx *ctx, int64_t rows, int64_t cols, int64_t k, damo_dtype dtype, damo_format format);
/* Diagonals by offsets; diagonal k has the length of that diagonal, or 1 entry for all of it. shape NULL: square, as
 * large as the first diagonal says. Zeros are not stored, as in SciPy. */
damo_sparse *sparse_diags(damo_ctx *ctx, int64_t n, const damo_array *const *diagonals, const int64_t *offsets,
                          const int64_t *shape, damo_dtype dtype, damo_format format);
/* Exactly round(density·rows·cols) entries at random places: floats in [0, 1), complex numbers in the unit square,
 * integers of all bits, bool true. The state moves on. */
damo_sparse *sparse_random(damo_ctx *ctx, int64_t rows, int64_t cols, double density, damo_dtype dtype,
                           damo_format format, philox_state *state);

/* ---- Forms of the same matrix ------------------------------------------------------------------------------------ */

damo_array *sparse_to_dense(const damo_sparse *a);                 /* C-contiguous, duplicates summed */
void sparse_add_to_dense(const damo_sparse *a, damo_array *dense); /* of a's dtype and shape, any strides */
damo_sparse *sparse_copy(const damo_sparse *a);                    /* data of its own */
damo_sparse *sparse_to_format(damo_sparse *a, damo_format format); /* O(nnz + rows + cols); stable */
damo_sparse *sparse_transpose(const damo_sparse *a);               /* the other format, same arrays */
/* a for a reader of another dtype, in which duplicates must stand for the sum that they have in a's: a itself where
 * they do (dtype_cast_keeps_sums) or where there are none, else canonical. */
damo_sparse *sparse_summed_for(damo_sparse *a, damo_dtype dtype);
damo_sparse *sparse_cast(damo_sparse *a, damo_dtype dtype);     /* sparse_summed_for's pattern */
damo_sparse *sparse_to_itype(damo_sparse *a, damo_dtype itype); /* to int32 only where it fits, else a value error */
damo_sparse *sparse_sort(damo_sparse *a);                       /* each line ascending, stable */
damo_sparse *sparse_sum_duplicates(damo_sparse *a);             /* sorted and without duplicates: canonical */
damo_sparse *sparse_drop_zeros(damo_sparse *a);                 /* without entries that are 0 */
bool sparse_all_finite(const damo_sparse *a);                   /* no stored entry is inf or nan */
int64_t sparse_count_zeros(const damo_sparse *a);               /* stored entries that are 0 */

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* alpha·A·x or alpha·Aᵀ·x, dense; x is a vector or a matrix; alpha 1 where NULL. With `onto` (contiguous, of the
 * result's dtype and shape, no overlap with x) the product is added to it and it is returned, retained. */
damo_array *sparse_dot_dense(damo_sparse *a, bool transposed, const scalar *alpha, const damo_array *x,
                             damo_array *onto);
/* The pattern of a matrix along its other axis, in a caller's room: where that is, and of which pattern as far as a few
 * numbers say. A caller starts with zeros, and sets `room` to NULL when it turns nothing in a run that used the room
 * for something else or was given another one. */
typedef struct sparse_transpose_cache {
  const void *room;
  bool wide, has_places;
  int64_t major, minor, nnz;
} sparse_transpose_cache;
size_t sparse_transpose_workspace(const damo_sparse *a,
                                  bool keeps); /* bytes; keeps: a sparse_transpose_cache goes with it */
/* a compressed along its other axis, with a's own values; places: where each entry's value stands, by indices of a's
 * dtype. What the room holds is used again when it was made from the same indptr and indices. */
sparse_raw sparse_transpose_raw(const damo_sparse *a, sparse_transpose_cache *kept, void *room, const void **places);
/* The same with the values in order, in memory for them that is not kept. kept NULL: nothing is. */
sparse_raw sparse_transpose_values(const damo_sparse *a, sparse_transpose_cache *kept, void *room, void *values);
/* A product into a dense array that stands ready: y = alpha·op(A)·x, or alpha·x·op(A) when `left`, plus z; op(A) is A,
 * or Aᵀ when `transposed`. x, y and z are vectors or matrices of A's dtype with any strides; the caller has checked
 * that their shapes agree. z is NULL, y itself, or apart from y; x is apart from y. */
typedef struct sparse_product {
  const damo_sparse *a;
  bool transposed, left;
  const void *alpha; /* one element; NULL: 1 */
  const damo_array *x, *z;
  damo_array *y;
  sparse_transpose_cache
      *turned; /* zeroed before the first run, kept with the room between runs; NULL: neither is kept */
} sparse_product;
size_t sparse_product_workspace(const sparse_product *p); /* bytes of workspace, 0 where none is needed */
void sparse_product_run(const sparse_product *p, void *room);
/* y += alpha·A·B, y any dense matrix of A's and B's one dtype; alpha one element, 1 where NULL. Takes its memory before
 * it writes. */
damo_status sparse_add_product(damo_sparse *a, damo_sparse *b, const void *alpha, damo_array *y);
/* A·B in A's format, without entries that are 0; lines unsorted. */
damo_sparse *sparse_dot_sparse(damo_sparse *a, damo_sparse *b);
/* A·x, or x·A when `left`, sparse in A's format, without entries that are 0; x is a dense matrix. */
damo_sparse *sparse_dot_mixed(damo_sparse *a, const damo_array *x, bool left);
/* A op B in A's format, canonical; what comes out as 0 is dropped. Sums and differences of matrices that share their
 * pattern arrays keep the pattern where nothing is dropped; with duplicates they keep it in any case. A type error
 * where op is none of these dtypes. */
damo_sparse *sparse_merge(sparse_merge_op op, damo_sparse *a, damo_sparse *b);
/* Rows (axis 0) or columns (axis 1) times the entries of a vector. */
damo_sparse *sparse_scale(damo_sparse *a, int axis, const damo_array *s);
/* The same into out, which has the promoted dtype and the pattern of a, which is sparse_summed_for that dtype. */
damo_status sparse_scale_to(const damo_sparse *a, int axis, const damo_array *s, damo_sparse *out);
/* out[p] = op(entry p, y at its place) by an elementwise kernel of dtype `loop`, which a is sparse_summed_for; y is 0-d or
 * a matrix of a's shape, whose axes of length 1 are stretched; out: a vector, not a's data, of the kernel's result
 * dtype. */
damo_status sparse_entries_with(kernel_fn op, damo_dtype loop, const damo_sparse *a, const damo_array *y,
                                damo_array *out);
/* op(entry, s at its column) of the entries that are not 0, canonical; what comes out as 0 is dropped. The result has
 * the kernel's dtype. */
damo_sparse *sparse_with_columns(kernel_fn op, damo_dtype dtype, damo_sparse *a, const damo_array *s);
/* The true places of a comparison, absent entries counting as 0: bool in A's format, canonical. A and B have one shape,
 * and the promoted dtype knows op. */
damo_sparse *sparse_relate(sparse_relation op, damo_sparse *a, damo_sparse *b);
/* The same with a number (0-d), by an elementwise kernel of dtype `loop` into bool. */
damo_sparse *sparse_relate_number(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *s);
/* The same with a dense matrix of a's shape, into a dense contiguous bool one. */
damo_status sparse_relate_dense(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *y, damo_array *out);
/* Sums over axis 0 (a vector of columns), 1 (rows), or both (-1: 0-d), in the dtype of dense sums. */
damo_array *sparse_sum(damo_sparse *a, int axis);
/* n >= 1 blocks one above the other (axis 0) or side by side (axis 1), in that format and dtype; entries keep their
 * order inside a block. A shape error names who. */
damo_sparse *sparse_stack(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
                          damo_format format, damo_dtype dtype);
/* n >= 1 blocks along the diagonal. */
damo_sparse *sparse_block_diag(damo_ctx *ctx, int64_t n, damo_sparse *const *blocks, damo_format format,
                               damo_dtype dtype);
/* The inverse: parts of that many rows (axis 0) or columns (axis 1) in a's format, owned, into out; zeros are left
 * out; of split_entries they are not. */
damo_status sparse_split(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes, damo_sparse **out);
damo_status sparse_split_entries(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                                 damo_sparse **out);
/* The entries (i, j) with low <= j - i <= high; both from -INT64_MAX to INT64_MAX. */
damo_sparse *sparse_band(damo_sparse *a, int64_t low, int64_t high);
/* Row i, column j of the result is row rows[i], column cols[j]: 0-based permutations, int64 vectors; lines unsorted. A
 * value error where one is none. */
damo_sparse *sparse_permute(damo_sparse *a, const damo_array *rows, const damo_array *cols);
/* The places of the Kronecker product of two matrices of one format, as bool; for each entry the 1-based numbers of the
 * entries that it is the product of, int64 vectors (owned by the caller). */
damo_sparse *sparse_kron_places(damo_sparse *a, damo_sparse *b, damo_array **left, damo_array **right);
/* The largest (smallest) element of each column (axis 0), each row (axis 1), or of all (-1), absent entries counted as
 * 0, nan as the most extreme; real dtypes. Into out, contiguous, of a's dtype. A value error where there is none. */
damo_status sparse_extreme(damo_sparse *a, int axis, bool largest, damo_array *out);
/* Where they stand along the axis, or in C order of all, 0-based, the first of equal ones; place has an element for each
 * result. */
damo_status sparse_extreme_places(damo_sparse *a, int axis, bool largest, int64_t *place);
/* For each stored (i, j) of p the inner product of row i of x with row j of y: p's pattern. */
damo_sparse *sparse_sample(damo_sparse *p, const damo_array *x, const damo_array *y);
/* The same into out, one element for each entry of a pattern; x has its major, y its minor rows: contiguous matrices of
 * one dtype and equally many columns. wide: int64 indices. */
void sparse_sample_rows(const sparse_raw *at, bool wide, const damo_array *x, const damo_array *y, void *out);
/* Those inner products for a's entries, and y = A·cols, or Aᵀ·rows when `transposed`: the same bits as of
 * sparse_sample_rows and sparse_product_run. All of one dtype; rows, cols and y are contiguous matrices with equally
 * many columns, whose shapes the caller has checked; samples: an element for each entry. */
typedef struct sparse_sampled {
  const damo_sparse *a;
  bool transposed;
  const damo_array *rows, *cols;
  void *samples;
  damo_array *y;
  sparse_transpose_cache *turned; /* zeroed before the first run, kept with the room between runs */
} sparse_sampled;
size_t sparse_sampled_workspace(const sparse_sampled *s); /* bytes of workspace, 0 where none is needed */
void sparse_sampled_run(const sparse_sampled *s, void *room);
/* The same inner products of the rows of two sparse matrices, over the columns that both store: a vector in the order
 * of p's entries. The caller has checked the shapes. */
damo_array *sparse_sample_sparse(damo_sparse *p, damo_sparse *x, damo_sparse *y);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* Rows (axis 0) or columns (axis 1) by 0-based list, an int64 vector, in A's format. */
damo_sparse *sparse_take(damo_sparse *a, int axis, const damo_array *list);
/* A block with memory of its own, in A's format: ranges of rows and columns, inside the shape. */
damo_sparse *sparse_slice(const damo_sparse *a, const sparse_range *rows, const sparse_range *cols);
/* Where along an axis the lines of a part belong: line i at list[i], or without a list at first + i·step. */
typedef struct sparse_where {
  const int64_t *list;
  int64_t first, step;
} sparse_where;
/* A matrix of that format and shape with the entries of g where they belong. What meets at one place is summed, but
 * kept apart, line by line of g, where g is not known to be without duplicates. */
damo_sparse *sparse_put(damo_sparse *g, damo_format format, const int64_t shape[2], const sparse_where *rows,
                        const sparse_where *cols);
/* The n elements at 0-based (rows[k], cols[k]), inside the shape, duplicates summed, to out of A's dtype. */
damo_status sparse_elements(damo_sparse *a, int64_t n, const int64_t *rows, const int64_t *cols, void *out);
/* The 0-based row and column of each entry, in the order of storage. */
void sparse_coordinates(const damo_sparse *a, int64_t *rows, int64_t *cols);
/* How many places the k-th diagonal (0: main, positive: above) of a matrix of that shape has. */
int64_t sparse_diagonal_length(const int64_t shape[2], int64_t k);
/* The elements of the k-th diagonal, duplicates summed, to out of A's dtype. */
void sparse_diagonal(const damo_sparse *a, int64_t k, void *out);
/* csc of n × n with a vector of n entries on its diagonal, zeros stored. */
damo_sparse *sparse_square_diagonal(const damo_array *v);
/* csc of that shape with row k of a dense matrix as row list[k] (0-based, in range): every entry stored, what comes
 * more than once too. values has shape[1] columns. */
damo_sparse *sparse_from_rows(const damo_array *values, const int64_t *list, const int64_t shape[2]);

/* sparse_sort and sparse_drop_zeros that work in A's data where that is writeable; A itself is garbage afterwards. */
damo_sparse *sparse_sort_within(damo_sparse *a);
damo_sparse *sparse_drop_zeros_within(damo_sparse *a);

/* The values of g at the places of x's entries, a vector in their order; duplicates in g are summed. Where the two
 * share their pattern arrays it is g's data itself (retained), entry by entry, duplicates too: so a structured
 * gradient, which has the whole derivative at each duplicate, goes on through structured ops unchanged. */
damo_array *sparse_at(damo_sparse *g, const damo_sparse *x);
damo_array *sparse_at_summed(damo_sparse *g, const damo_sparse *x); /* duplicates summed in any case */
damo_array *sparse_at_dense(const damo_array *g, const damo_sparse *x);
/* The values of g at the places of x's entries, duplicates one to one in their order. Where g has a multiple of x's
 * entries at a place, or a divisor, they go round and add up. */
damo_array *sparse_pair(damo_sparse *g, const damo_sparse *x);

/* Where a's minor axis is far longer than its entries are many: a with the positions that occur numbered anew, and
 * (*columns)[number] the position; else *columns is NULL. *a is replaced; it may be NULL after a failure. */
damo_status sparse_narrow_one(damo_sparse **a, damo_array **columns);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* One format and the same pattern arrays. */
static inline bool sparse_shares(const damo_sparse *a, const damo_sparse *b) {
  return a->format == b->format && a->indices == b->indices && a->indptr == b->indptr;
}
/* g holds values for the entries of x, duplicates one by one: the two share their arrays, or g has the other format and
 * stores the same places as often, as a conversion leaves them. */
damo_status sparse_one_by_one(damo_sparse *g, const damo_sparse *x, bool *out);
/* Some place is stored more than once. O(entries) where the flags don't tell. */
damo_status sparse_repeats(damo_sparse *a, bool *out);
/* The same places hold entries, duplicates counted once; format and index dtype don't matter. */
damo_status sparse_same_pattern(damo_sparse *a, damo_sparse *b, bool *out);
/* Same dtype, shape and values at every place; explicit zeros equal absent ones. */
damo_status sparse_equal(damo_sparse *a, damo_sparse *b, bool equal_nan, bool *out);
/* Same shape, |a - b| <= atol + rtol·|b| at every place. */
damo_status sparse_allclose(damo_sparse *a, damo_sparse *b, double rtol, double atol, bool equal_nan, bool *out);

/* "<csr float64 (3, 4), 5 stored>". */
void sparse_describe(strbuf *buf, const damo_sparse *a);
/* That, and a line for each entry, 1-based, cut in the middle. Never fails: a failed allocation leaves buf->failed. */
void sparse_print(strbuf *buf, const damo_sparse *a);
/* Debug invariants; returns false and says why through *why. */
bool sparse_check(const damo_sparse *a, const char **why);

#include "sparse/factor/factor.h"

#endif
