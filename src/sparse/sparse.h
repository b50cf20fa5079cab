/* sparse: matrices in compressed storage, csr and csc.
 *
 * In: arrays of data, indices, indptr; coordinates; dense arrays. Out: matrices, and the products, merges and sums of
 * them that ops are made of. Always holds: data, indices and indptr are contiguous vectors; indptr has major + 1
 * entries, begins with 0, ends with nnz and never decreases; indices lie inside the minor axis; indices and indptr are
 * both int32 or both int64. indices and indptr are read-only for everybody, so `sorted` and `unique` stay true once
 * found. data is writeable and may be shared with other matrices. A matrix itself never changes, except when its only
 * holder writes a Function's result into it (compile/target.c).
 *
 * Major axis: the compressed one (rows of csr, columns of csc); minor axis: the other one. Major vector i is row i of a
 * csr or column i of a csc matrix: entries indptr[i] to indptr[i + 1] - 1. An entry is one stored (position, value);
 * its place is its position (i, j). Duplicates are several entries at one place and stand for their sum. Canonical:
 * sorted and without duplicates. Functions that return a matrix may return their argument, retained, if nothing has to
 * be done.
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
  bool sorted;    /* known: indices ascend in each major vector (equal neighbours allowed) */
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
  return (sparse_raw){sparse_major(a), sparse_minor(a), a->indptr->data, a->indices->data, a->data->data, a->obj.ctx};
}

/* Runs a kernel over n contiguous elements of that dtype, with points of ctx between parts. y: NULL for a kernel of one
 * operand. */
void sparse_run_kernel(damo_ctx *ctx, kernel_fn fn, damo_dtype dtype, int64_t n, char *x, char *y, char *out);
void sparse_register(damo_ctx *ctx); /* destructor; called once by the api layer */

/* Text to append to a message that refuses the name of a format: how matrices in SciPy's other formats are read, or
 * "". */
const char *sparse_format_advice(const char *name);

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* The index dtype: int64 if asked for (DAMO_INT64) or needed (a dimension or nnz past 2^31 - 1), else int32. */
damo_dtype sparse_itype_for(damo_dtype asked, int64_t rows, int64_t cols, int64_t nnz);
/* A matrix with memory for nnz entries, contents undefined: the caller fills it through its raw pointers and sets the
 * flags. */
damo_sparse *sparse_empty(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t shape[2],
                          int64_t nnz);
/* Keeps the first nnz entries of a matrix just made; indptr ends with nnz already. Takes over the caller's
 * reference. */
damo_sparse *sparse_cut(damo_sparse *take, int64_t nnz);
/* A matrix with a's pattern (shared, with its flags) and the given data, a contiguous vector of nnz entries
 * (retained). */
damo_sparse *sparse_with_data(const damo_sparse *a, damo_array *data);
/* From the three vectors, any integer dtypes for indices and indptr. Checks everything, in O(nnz + major); the error
 * names the first offence. data is shared if it is contiguous; indices and indptr are shared if they came out of a
 * matrix and have the index dtype, else copied. */
damo_sparse *sparse_from_parts(damo_ctx *ctx, damo_format format, const int64_t shape[2], const damo_array *data,
                               const damo_array *indices, const damo_array *indptr, damo_dtype itype);
/* From coordinates, 1-based vectors of any integer dtype; values is a vector, or 0-d: one value for all. Duplicates are
 * summed. shape NULL: the largest coordinates. */
damo_sparse *sparse_from_coo(damo_ctx *ctx, damo_format format, const int64_t *shape, const damo_array *rows,
                             const damo_array *cols, const damo_array *values, damo_dtype itype);
/* From n 0-based coordinates in range; values has n elements of dtype. Stable. Duplicates are summed, or kept if
 * keep_duplicates is set. */
damo_sparse *sparse_from_places(damo_ctx *ctx, damo_format format, damo_dtype dtype, const int64_t shape[2], int64_t n,
                                const int64_t *rows, const int64_t *cols, const void *values, damo_dtype itype,
                                bool keep_duplicates);
/* The elements of a dense matrix that are not 0 (nan is not 0). */
damo_sparse *sparse_from_dense(const damo_array *a, damo_format format, damo_dtype itype);
/* Ones on the k-th diagonal (0: main, positive: above). */
damo_sparse *sparse_eye(damo_ctx *ctx, int64_t rows, int64_t cols, int64_t k, damo_dtype dtype, damo_format format);
/* Diagonals by offsets; each array has the length of its diagonal, or 1 element for the whole diagonal. shape NULL:
 * square, just large enough for the first diagonal. Zeros are not stored, as in SciPy. */
damo_sparse *sparse_diags(damo_ctx *ctx, int64_t n, const damo_array *const *diagonals, const int64_t *offsets,
                          const int64_t *shape, damo_dtype dtype, damo_format format);
/* Exactly round(density·rows·cols) entries at random places: floats in [0, 1), complex numbers in the unit square,
 * integers with all bits random, bool true. Advances the random state. */
damo_sparse *sparse_random(damo_ctx *ctx, int64_t rows, int64_t cols, double density, damo_dtype dtype,
                           damo_format format, philox_state *state);

/* ---- Forms of the same matrix ------------------------------------------------------------------------------------ */

damo_array *sparse_to_dense(const damo_sparse *a);                 /* C-contiguous, duplicates summed */
void sparse_add_to_dense(const damo_sparse *a, damo_array *dense); /* of a's dtype and shape, any strides */
/* In ctx, with no count of a's touched: read-only over a's memory, which must outlive it; a copy, pattern and all. */
damo_sparse *sparse_lend(damo_ctx *ctx, const damo_sparse *a);
damo_sparse *sparse_copy_to(damo_ctx *ctx, const damo_sparse *a);
damo_sparse *sparse_copy(const damo_sparse *a);                    /* data of its own */
damo_sparse *sparse_to_format(damo_sparse *a, damo_format format); /* O(nnz + rows + cols); stable */
damo_sparse *sparse_transpose(const damo_sparse *a);               /* the other format, same arrays */
/* a, prepared for a cast of its values to `dtype`, which must not change what duplicates sum to: a itself if the cast
 * keeps sums (dtype_cast_keeps_sums) or if a has no duplicates, else a in canonical form, summed in a's own dtype. */
damo_sparse *sparse_summed_for(damo_sparse *a, damo_dtype dtype);
damo_sparse *sparse_cast(damo_sparse *a, damo_dtype dtype);     /* the pattern is sparse_summed_for's */
damo_sparse *sparse_to_itype(damo_sparse *a, damo_dtype itype); /* to int32 only where it fits, else a value error */
damo_sparse *sparse_sort(damo_sparse *a);                       /* indices ascend in each major vector; stable */
damo_sparse *sparse_sum_duplicates(damo_sparse *a);             /* canonical: sorted, without duplicates */
damo_sparse *sparse_drop_zeros(damo_sparse *a);                 /* stored zeros removed */
bool sparse_all_finite(const damo_sparse *a);                   /* true: no stored entry is inf or nan */
int64_t sparse_count_zeros(const damo_sparse *a);               /* stored entries that are 0 */

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* alpha·A·x or alpha·Aᵀ·x, dense; x is a vector or a matrix; alpha NULL: 1. If `onto` is given (contiguous, of the
 * result's dtype and shape, no overlap with x), the product is added to it and it is returned, retained. */
damo_array *sparse_dot_dense(damo_sparse *a, bool transposed, const scalar *alpha, const damo_array *x,
                             damo_array *onto);
/* The key of a cached transpose. A workspace that a caller keeps between runs holds the pattern of a matrix compressed
 * along its other axis, together with a copy of the pattern that it was made from; the key says which workspace that is
 * (`workspace`, its address), whether the permutation of the entries is there too (`has_places`), and the index width
 * and sizes of the pattern. A caller starts with zeros. It sets `workspace` to NULL in a run that transposes nothing
 * and uses the workspace for something else, or is given another workspace. */
typedef struct sparse_transpose_cache {
  const void *workspace;
  bool wide, has_places;
  int64_t major, minor, nnz;
} sparse_transpose_cache;
/* Bytes of workspace for a transpose; keeps: it also holds what a sparse_transpose_cache needs. */
size_t sparse_transpose_workspace(const damo_sparse *a, bool keeps);
/* a compressed along its other axis, with a's own values: value p of the result is a's value places[p], indices of a's
 * dtype. A cached transpose in the workspace is reused if it was made from the same indptr and indices. */
sparse_raw sparse_transpose_raw(const damo_sparse *a, sparse_transpose_cache *kept, void *workspace,
                                const void **places);
/* The same with the values permuted into `values`, memory for nnz of them that is not part of the cache. kept NULL:
 * nothing is cached. */
sparse_raw sparse_transpose_values(const damo_sparse *a, sparse_transpose_cache *kept, void *workspace, void *values);
/* A product into a given dense array: y = alpha·op(A)·x, or alpha·x·op(A) if `left`, plus z; op(A) is A, or Aᵀ if
 * `transposed`. x, y and z are vectors or matrices of A's dtype with any strides; the caller has checked that their
 * shapes agree. z is NULL, y itself, or does not overlap y; x does not overlap y. */
typedef struct sparse_product {
  const damo_sparse *a;
  bool transposed, left;
  const void *alpha; /* one element; NULL: 1 */
  const damo_array *x, *z;
  damo_array *y;
  sparse_transpose_cache *cache; /* cached transpose; kept with the workspace between runs; NULL: none */
} sparse_product;
size_t sparse_product_workspace(const sparse_product *p); /* bytes of workspace, 0 where none is needed */
void sparse_product_run(const sparse_product *p, void *workspace);
/* y += alpha·A·B for a dense matrix y with any strides; all three have one dtype; alpha is one element, NULL: 1.
 * Allocates before it writes, so y is unchanged on failure. */
damo_status sparse_add_product(damo_sparse *a, damo_sparse *b, const void *alpha, damo_array *y);
/* A·B in A's format, without stored zeros; major vectors are unsorted. */
damo_sparse *sparse_dot_sparse(damo_sparse *a, damo_sparse *b);
/* A·x, or x·A if `left`, as a sparse matrix in A's format without stored zeros; x is a dense matrix. */
damo_sparse *sparse_dot_mixed(damo_sparse *a, const damo_array *x, bool left);
/* A op B in A's format, canonical, without stored zeros. Sums and differences of matrices that share their pattern
 * arrays keep that pattern: with duplicates always, else if no result is 0. The caller has checked that op is defined
 * for the dtypes. */
damo_sparse *sparse_merge(sparse_merge_op op, damo_sparse *a, damo_sparse *b);
/* Each row (axis 0) or column (axis 1) times its element of the vector s. */
damo_sparse *sparse_scale(damo_sparse *a, int axis, const damo_array *s);
/* The same into out, which has the promoted dtype and a's pattern; a is already sparse_summed_for that dtype. */
damo_status sparse_scale_to(const damo_sparse *a, int axis, const damo_array *s, damo_sparse *out);
/* out[p] = op(entry p, y at its place) by an elementwise kernel of dtype `loop`; a is already sparse_summed_for `loop`.
 * y is 0-d or a matrix of a's shape, whose axes of length 1 are broadcast. out is a vector of the kernel's result dtype
 * that does not overlap a's data. */
damo_status sparse_entries_with(kernel_fn op, damo_dtype loop, const damo_sparse *a, const damo_array *y,
                                damo_array *out);
/* op(entry, s at its column) of the entries that are not 0, canonical, without stored zeros. The result has the
 * kernel's dtype. */
damo_sparse *sparse_with_columns(kernel_fn op, damo_dtype dtype, damo_sparse *a, const damo_array *s);
/* The places where a comparison is true, absent entries counting as 0: bool in A's format, canonical. A and B have one
 * shape, and op is defined for the promoted dtype. */
damo_sparse *sparse_relate(sparse_relation op, damo_sparse *a, damo_sparse *b);
/* The same with a scalar s (0-d) for B, by an elementwise kernel of dtype `loop` into bool. */
damo_sparse *sparse_relate_number(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *s);
/* The same with a dense matrix y of a's shape for B, into a dense contiguous bool array. */
damo_status sparse_relate_dense(kernel_fn op, damo_dtype loop, damo_sparse *a, const damo_array *y, damo_array *out);
/* Sums over axis 0 (one for each column), axis 1 (one for each row), or both (-1: 0-d), in the dtype of dense sums. */
damo_array *sparse_sum(damo_sparse *a, int axis);
/* n >= 1 blocks stacked vertically (axis 0) or horizontally (axis 1), in that format and dtype; entries keep their
 * order inside a block. `who` begins the message of a shape error. */
damo_sparse *sparse_stack(damo_ctx *ctx, const char *who, int axis, int64_t n, damo_sparse *const *blocks,
                          damo_format format, damo_dtype dtype);
/* n >= 1 blocks along the diagonal. */
damo_sparse *sparse_block_diag(damo_ctx *ctx, int64_t n, damo_sparse *const *blocks, damo_format format,
                               damo_dtype dtype);
/* The inverse of sparse_stack: parts of sizes[k] rows (axis 0) or columns (axis 1) in a's format, owned by the caller,
 * into out. sparse_split leaves stored zeros out, sparse_split_entries keeps them. */
damo_status sparse_split(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes, damo_sparse **out);
damo_status sparse_split_entries(damo_sparse *a, const char *who, int axis, int64_t n, const int64_t *sizes,
                                 damo_sparse **out);
/* The entries (i, j) with low <= j - i <= high; both bounds from -INT64_MAX to INT64_MAX. */
damo_sparse *sparse_band(damo_sparse *a, int64_t low, int64_t high);
/* Row i, column j of the result is row rows[i], column cols[j] of a: 0-based permutations, int64 vectors; major vectors
 * come out unsorted. A value error if one of them is no permutation. */
damo_sparse *sparse_permute(damo_sparse *a, const damo_array *rows, const damo_array *cols);
/* The pattern of the Kronecker product of two matrices of one format, as bool. Entry p of the product is entry left[p]
 * of a times entry right[p] of b: 1-based int64 vectors, owned by the caller. */
damo_sparse *sparse_kron_places(damo_sparse *a, damo_sparse *b, damo_array **left, damo_array **right);
/* The largest (smallest) element of each column (axis 0), of each row (axis 1), or of the matrix (-1), absent entries
 * counted as 0, nan as the most extreme; complex numbers are ordered lexicographically. Into out, contiguous, of a's
 * dtype. A value error if an extreme of no elements is asked for. */
damo_status sparse_extreme(damo_sparse *a, int axis, bool largest, damo_array *out);
/* The positions of these extremes along the axis, or in C order of the whole matrix (-1), 0-based, the first among
 * equals; `place` has an element for each result. Real dtypes only. */
damo_status sparse_extreme_places(damo_sparse *a, int axis, bool largest, int64_t *place);
/* A sampled dense-dense product (sddmm): for each entry (i, j) of p the inner product of row i of x with row j of y, on
 * p's pattern. */
damo_sparse *sparse_sample(damo_sparse *p, const damo_array *x, const damo_array *y);
/* The same into out, one element for each entry of the pattern `at`: major position i selects row i of x, minor
 * position j row j of y. x and y are contiguous matrices of one dtype with equally many columns. wide: int64
 * indices. */
void sparse_sample_rows(const sparse_raw *at, bool wide, const damo_array *x, const damo_array *y, void *out);
/* An sddmm on a's pattern, samples[p] = rows(i,:)·cols(j,:)ᵀ for entry p at (i, j), together with y = A·cols, or
 * Aᵀ·rows if `transposed`: the same bits as from sparse_sample_rows and sparse_product_run. All of one dtype; rows,
 * cols and y are contiguous matrices with equally many columns, whose shapes the caller has checked; samples has an
 * element for each entry. */
typedef struct sparse_sampled {
  const damo_sparse *a;
  bool transposed;
  const damo_array *rows, *cols;
  void *samples;
  damo_array *y;
  sparse_transpose_cache *cache; /* zeroed before the first run, kept with the workspace between runs */
} sparse_sampled;
size_t sparse_sampled_workspace(const sparse_sampled *s); /* bytes of workspace, 0 where none is needed */
void sparse_sampled_run(const sparse_sampled *s, void *workspace);
/* The same inner products for rows of two sparse matrices: a vector in the order of p's entries. The caller has checked
 * the shapes. */
damo_array *sparse_sample_sparse(damo_sparse *p, damo_sparse *x, damo_sparse *y);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* Rows (axis 0) or columns (axis 1) selected by a 0-based list, an int64 vector, in A's format. */
damo_sparse *sparse_take(damo_sparse *a, int axis, const damo_array *list);
/* The submatrix of two ranges inside the shape, of rows and of columns, in A's format; shares no memory with A. */
damo_sparse *sparse_slice(const damo_sparse *a, const sparse_range *rows, const sparse_range *cols);
/* Where the rows (columns) of a part go along an axis: number i to list[i], or without a list to first + i·step. */
typedef struct sparse_where {
  const int64_t *list;
  int64_t first, step;
} sparse_where;
/* A matrix of that format and shape with g's entries scattered to where `rows` and `cols` say. Entries that meet at one
 * place are summed if g is known to have no duplicates; else they stay separate, in g's storage order (sorted). */
damo_sparse *sparse_put(damo_sparse *g, damo_format format, const int64_t shape[2], const sparse_where *rows,
                        const sparse_where *cols);
/* Gathers the n elements at 0-based (rows[k], cols[k]), inside the shape, duplicates summed, into out, of A's dtype. */
damo_status sparse_elements(damo_sparse *a, int64_t n, const int64_t *rows, const int64_t *cols, void *out);
/* The 0-based row and column of each entry, in storage order. */
void sparse_coordinates(const damo_sparse *a, int64_t *rows, int64_t *cols);
/* The length of the k-th diagonal (0: main, positive: above) of a matrix of that shape. */
int64_t sparse_diagonal_length(const int64_t shape[2], int64_t k);
/* The elements of the k-th diagonal, duplicates summed, into out, of A's dtype. */
void sparse_diagonal(const damo_sparse *a, int64_t k, void *out);
/* An n × n csc matrix with a vector of n elements on its diagonal, zeros stored. */
damo_sparse *sparse_square_diagonal(const damo_array *v);
/* A csc matrix of that shape whose row list[k] (0-based, in range) is row k of a dense matrix with shape[1] columns.
 * Every element is stored; rows that the list repeats become duplicates. */
damo_sparse *sparse_from_rows(const damo_array *values, const int64_t *list, const int64_t shape[2]);

/* sparse_sort and sparse_drop_zeros that reuse A's data array if it is writeable; the caller must not use A
 * afterwards. */
damo_sparse *sparse_sort_within(damo_sparse *a);
damo_sparse *sparse_drop_zeros_within(damo_sparse *a);

/* The values of g at the places of x's entries, a vector in their order; duplicates in g are summed. If the two share
 * their pattern arrays, it is g's data itself (retained), entry by entry, duplicates too: a structured gradient, which
 * holds the whole derivative at each duplicate, so passes through structured ops unchanged. */
damo_array *sparse_at(damo_sparse *g, const damo_sparse *x);
damo_array *sparse_at_summed(damo_sparse *g, const damo_sparse *x); /* duplicates summed in any case */
damo_array *sparse_at_dense(const damo_array *g, const damo_sparse *x);
/* The values of g at the places of x's entries, duplicates matched one to one in storage order. If g has m entries at a
 * place and x has n, entry k mod m of g is added to element k mod n of x's, for k from 0 to max(m, n) - 1. */
damo_array *sparse_pair(damo_sparse *g, const damo_sparse *x);

/* Keeps work proportional to nnz where a's minor axis is far longer than nnz: replaces *a by a matrix whose minor
 * positions are renumbered 0, 1, … over those that occur, and sets (*columns)[number] to the position. Otherwise *a
 * stays and *columns is NULL. *a may be NULL after a failure. */
damo_status sparse_narrow_one(damo_sparse **a, damo_array **columns);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* The two have one format and share their pattern arrays. */
static inline bool sparse_shares(const damo_sparse *a, const damo_sparse *b) {
  return a->format == b->format && a->indices == b->indices && a->indptr == b->indptr;
}
/* *out: g's entries belong to x's one to one, duplicates too. So it is if the two share their arrays, or if g has the
 * other format and stores the same places equally often, as a conversion leaves them. */
damo_status sparse_one_by_one(damo_sparse *g, const damo_sparse *x, bool *out);
/* *out: some place is stored more than once. O(nnz log nnz) if the flags do not tell. */
damo_status sparse_repeats(damo_sparse *a, bool *out);
/* *out: the two store the same places, duplicates counted once; format and index dtype do not matter. */
damo_status sparse_same_pattern(damo_sparse *a, damo_sparse *b, bool *out);
/* *out: same dtype, shape and value at every place; explicit zeros equal absent entries. */
damo_status sparse_equal(damo_sparse *a, damo_sparse *b, bool equal_nan, bool *out);
/* *out: same shape, and |a - b| <= atol + rtol·|b| at every place. */
damo_status sparse_allclose(damo_sparse *a, damo_sparse *b, double rtol, double atol, bool equal_nan, bool *out);

/* "<csr float64 (3, 4), 5 stored>". */
void sparse_describe(strbuf *buf, const damo_sparse *a);
/* The same, then a line of text for each entry, 1-based, with the middle left out of long ones. Never fails: a failed
 * allocation leaves buf->failed. */
void sparse_print(strbuf *buf, const damo_sparse *a);
/* Debug invariants; returns false and says why through *why. */
bool sparse_check(const damo_sparse *a, const char **why);

/* ---- Values as bytes (bytes.c) ------------------------------------------------------------------------------------- */

/* A sum by which changes of bytes are noticed. A change within one word of 8 bytes always changes it: each step is
 * invertible in the sum and in the word. */
uint64_t bytes_check_sum(const void *at, size_t n);

typedef struct byte_writer {
  unsigned char *at; /* NULL: the bytes are only counted */
  size_t n;          /* so far */
} byte_writer;
/* Appends the lowest bytes of v, the least one first. */
void bytes_put(byte_writer *w, uint64_t v, size_t bytes);
/* Appends the numbers of a in C order. */
void bytes_put_numbers(byte_writer *w, const damo_array *a);
/* Appends an Array or sparse matrix with its dtype and shape. */
void bytes_put_value(byte_writer *w, const damo_obj *v);

typedef struct byte_reader {
  damo_ctx *ctx;
  const unsigned char *at;
  size_t left;
  bool bad; /* something was not as it must be; sets no error */
} byte_reader;
uint64_t bytes_get(byte_reader *r, size_t bytes);
/* The next value, owned. NULL: 8 zero bytes stand for no value (*none), the bytes are damaged (r->bad), or a memory
 * error. Takes no more memory than there are bytes. */
damo_obj *bytes_get_value(byte_reader *r, bool *none);

#include "sparse/factor/factor.h"

#endif
