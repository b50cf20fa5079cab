/* io: files of arrays and sparse matrices. Knows nothing of graphs.
 *
 * In: paths. Out: Arrays, or an io error that names the file and, where there is one, the line or the member.
 */
#ifndef DAMO_IO_H
#define DAMO_IO_H

#include "array/array.h"
#include "sparse/sparse.h"

/* .npy, versions 1 to 3, either byte order and either memory order; the dtypes damo has. */
damo_array *io_read_npy(damo_ctx *ctx, const char *path);
damo_status io_write_npy(const char *path, const damo_array *a);

/* .npz: a zip archive of .npy members, stored or deflated on reading, stored on writing. Names are without ".npy".
 * A member that is one text (b"csr") gives the vector of its character codes. */
typedef struct npz_entry {
  char *name;
  damo_array *array;
} npz_entry;
typedef struct npz {
  damo_ctx *ctx;
  npz_entry *at;
  int64_t n, cap;
  uint64_t max_bytes; /* what it was read with */
} npz;
#define IO_MAX_BYTES ((uint64_t)1 << 30)
/* An archive whose deflated members inflate to more than max_bytes (0: IO_MAX_BYTES) is refused before memory is taken:
 * a small file can hold a thousand times its size. */
damo_status io_read_npz(damo_ctx *ctx, const char *path, uint64_t max_bytes, npz *out);
void npz_clear(npz *z);
damo_status io_write_npz(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays,
                         int64_t n);

/* A CSV of numbers. */
typedef struct csv_options {
  char delimiter;   /* 0: ',' */
  int64_t skip;     /* lines before the data, the header included; -1: one line when its cells are not all numbers */
  damo_dtype dtype; /* of the result */
  bool text_as_nan; /* cells that are no number become nan instead of an error; empty cells are nan always */
} csv_options;
/* A matrix rows × columns; header (may be NULL) receives the cells of the header line, '\n'-separated, free by
 * mem_strfree. */
damo_array *io_read_csv(damo_ctx *ctx, const char *path, const csv_options *options, char **header);

/* Matrix Market: a coordinate file gives a sparse matrix in that format, an array file a dense array; tell them apart
 * by obj.kind. All fields and symmetries; symmetric storage is expanded, entries listed twice are summed. pattern and
 * real give float64, complex complex128, integer int64 (uint64 or float64 where a %%GraphBLAS comment names such a
 * type). A file without its first line is real and general. Errors name the line and the reason. */
damo_obj *io_read_mtx(damo_ctx *ctx, const char *path, damo_format format);

typedef enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW, MTX_HERMITIAN } mtx_symmetry;

typedef struct mtx_options {
  const char *comment;   /* may be NULL; each of its lines becomes a comment line */
  bool pattern;          /* write positions only (sparse) */
  mtx_symmetry symmetry; /* write one triangle; a value error where the matrix isn't so */
} mtx_options;

/* Writes a damo_sparse as a coordinate file, a damo_array (vector or matrix) as an array file; every value with the
 * digits that read back to it. options may be NULL. */
damo_status io_write_mtx(const char *path, damo_obj *value, const mtx_options *options);

/* SciPy's save_npz: an .npz of format, shape, data and what else the format has. csr and csc are read as they are, coo,
 * dia and bsr as csr; what is written is a csr_array or csc_array. */
damo_sparse *io_read_sparse_npz(damo_ctx *ctx, const char *path);
damo_status io_write_sparse_npz(const char *path, const damo_sparse *a);
/* Of members read already: is this a sparse matrix, and the matrix. */
bool io_npz_is_sparse(const npz *z);
damo_sparse *io_sparse_of_npz(const char *path, const npz *z);

/* ---- Texts and pictures ------------------------------------------------------------------------------------------ */

/* Every file is written beside its path and takes its place when it is whole: see io_sink. */
damo_status io_write_text(damo_ctx *ctx, const char *path, const char *text, size_t n);

/* Runs a program (argv ends with NULL; found through PATH, no shell between) with text as its input and the file at
 * path as its output. *found (false: there is no such program, no error and no file). An io error holds what the
 * program said. */
damo_status io_draw(damo_ctx *ctx, const char *const *argv, const char *text, size_t n, const char *path, bool *found);

#endif
