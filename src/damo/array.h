/* array: the part of damo.h with values: arrays and sparse matrices. */
#ifndef DAMO_PUBLIC_ARRAY_H
#define DAMO_PUBLIC_ARRAY_H

#include "context.h"

#define DAMO_MAX_NDIM 32

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* A new C-contiguous array of zeros. shape has ndim entries (NULL if ndim is 0). A negative dimension and more than
 * DAMO_MAX_NDIM of them are shape errors. */
DAMO_API damo_array *damo_array_new(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A new C-contiguous array with a copy of data, which is C-contiguous and of that dtype. data may be NULL if the array
 * has no elements. */
DAMO_API damo_array *damo_array_from(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const void *data);
/* A new 0-d array that holds value, converted to dtype. */
DAMO_API damo_array *damo_array_scalar(damo_ctx *ctx, damo_dtype dtype, double value);

/* Tells the host that damo no longer uses the memory that `user` stands for. */
typedef void (*damo_release_fn)(void *user);
/* An array over the host's memory, which is not copied. data is the first element; strides are in bytes and may be
 * negative; strides NULL: C order. The host keeps the memory valid until release(user) is called, which happens once:
 * when the last array over it is freed (views and results that share it count), or before this function returns NULL.
 * release may be NULL. The host may write into the memory between calls; the next call reads the new values. damo
 * writes there only if writeable is true and the host asks for it, by an `into` target or a mutable input. Value
 * errors: an address or stride that is not aligned for the dtype, and overlapping elements (a stride of 0, for example)
 * in a writeable array. Elements of DAMO_BOOL are bytes that are 0 or 1, which nothing checks. Whether arrays overlap each
 * other is asked of their addresses: two over the same memory may be argument and target of one call. */
DAMO_API damo_array *damo_array_wrap(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape,
                                     const int64_t *strides, void *data, bool writeable, damo_release_fn release,
                                     void *user);

/* The number of dimensions; shape and strides (in bytes) have as many entries, and are valid as long as the array. */
DAMO_API int damo_array_ndim(const damo_array *a);
DAMO_API const int64_t *damo_array_shape(const damo_array *a);
DAMO_API const int64_t *damo_array_strides(const damo_array *a);
DAMO_API damo_dtype damo_array_dtype(const damo_array *a);
/* The number of elements. */
DAMO_API int64_t damo_array_size(const damo_array *a);
/* The first element. An array made by damo is aligned to 64 bytes and C-contiguous, unless it is a view. */
DAMO_API void *damo_array_data(const damo_array *a);
/* Whether the elements may be written through this array. */
DAMO_API bool damo_array_is_writeable(const damo_array *a);
/* Sets *out to the element of a 0-d or one-element array, converted to double; of a complex one the real part. A shape
 * error for any other number of elements. */
DAMO_API damo_status damo_array_item(const damo_array *a, double *out);

/* ---- Sparse matrices --------------------------------------------------------------------------------------------- */

/* Compressed sparse row or column storage: entries are stored row by row, or column by column. */
typedef enum damo_format { DAMO_CSR, DAMO_CSC } damo_format;

/* A matrix of rows × cols with nnz stored entries; all arrays are copied and checked. indptr has rows + 1 (CSR) or cols
 * + 1 (CSC) entries, indices and data have nnz; indices are 0-based. Rows (columns) may be unsorted; duplicates stand
 * for their sum. Indices are stored as int32 if the dimensions and nnz allow. */
DAMO_API damo_sparse *damo_sparse_new(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows, int64_t cols,
                                      int64_t nnz, const int64_t *indptr, const int64_t *indices, const void *data);
/* A matrix from n entries data[k] at the 0-based coordinates (row[k], col[k]), all copied; duplicates are summed. */
DAMO_API damo_sparse *damo_sparse_from_coo(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows,
                                           int64_t cols, int64_t n, const int64_t *row, const int64_t *col,
                                           const void *data);
/* A matrix from three vectors, which may wrap the host's memory (damo_array_wrap). data has nnz entries; the matrix
 * shares its memory if it is contiguous. indices and indptr are as in damo_sparse_new, of any integer dtype, checked
 * and copied. */
DAMO_API damo_sparse *damo_sparse_from_parts(damo_ctx *ctx, damo_format format, int64_t rows, int64_t cols,
                                             const damo_array *data, const damo_array *indices,
                                             const damo_array *indptr);
/* A matrix with a's pattern and other values: data is a vector of as many entries as a has, of any dtype, shared if it
 * is contiguous. The two matrices share their index arrays. */
DAMO_API damo_sparse *damo_sparse_with_data(const damo_sparse *a, const damo_array *data);
/* The sparse matrix of the nonzero entries of a 2-d array. */
DAMO_API damo_sparse *damo_sparse_from_array(const damo_array *a, damo_format format);
/* Storage format and dtype of the values. */
DAMO_API damo_format damo_sparse_format(const damo_sparse *a);
DAMO_API damo_dtype damo_sparse_dtype(const damo_sparse *a);
/* Rows and columns: 2 entries, valid as long as the matrix. */
DAMO_API const int64_t *damo_sparse_shape(const damo_sparse *a);
/* The number of stored entries, explicit zeros and duplicates included. */
DAMO_API int64_t damo_sparse_nnz(const damo_sparse *a);
/* The arrays that the matrix consists of, borrowed. indices and indptr (int32 or int64) are read-only. */
DAMO_API damo_array *damo_sparse_get_data(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indices(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indptr(const damo_sparse *a);
/* The matrix as a new dense array, owned; duplicates are summed. */
DAMO_API damo_array *damo_sparse_toarray(const damo_sparse *a);

/* The object itself if it is an array (a sparse matrix, a Variable, an Op), else NULL. Borrowed. */
DAMO_API damo_array *damo_as_array(damo_obj *value);
DAMO_API damo_sparse *damo_as_sparse(damo_obj *value);
DAMO_API damo_var *damo_as_var(damo_obj *value);
DAMO_API damo_op *damo_as_op(damo_obj *value);

#ifdef __cplusplus
}
#endif

#endif
