/* io: files of arrays and sparse matrices. Independent of graphs.
 *
 * In: paths, or the bytes of files. Out: arrays and sparse matrices (owned), or an io error that names the file and, if
 * there is one, the line or member. Each format has one reader and one writer, for files and for memory alike.
 */
#ifndef DAMO_IO_H
#define DAMO_IO_H

#include "array/array.h"
#include "sparse/sparse.h"

/* What a reader reads: the file at path; or, if bytes is not NULL, the n bytes there, and path is their name in
 * messages. */
typedef struct io_from {
  const char *path;
  const void *bytes;
  size_t n;
} io_from;
#define IO_FROM_FILE(name) (&(const io_from){.path = (name)})
typedef struct cell_text {
  const char *at;
  size_t n;
} cell_text;
/* All bytes of `from`: those in memory as they are, those of a file in `file`, which the caller has initialised and
 * clears. */
damo_status io_whole_text(damo_ctx *ctx, const io_from *from, strbuf *file, cell_text *out);

/* Where a writer writes: a file at path, which is replaced when all is written; or, if text is not NULL, there: the
 * bytes are appended, and path is their name in messages. Memory is open to a sandbox, files are not. */
typedef struct io_to {
  const char *path;
  strbuf *text;
  bool compressed; /* members of an .npz are deflated */
} io_to;
#define IO_TO_FILE(name) (&(const io_to){.path = (name)})

/* The formats that the first bytes of a file tell; CSV has no mark. */
#define IO_GRAPH_MAGIC "DAMOGRPH" /* of graphs (store/) */
typedef enum io_format {
  IO_NPY,
  IO_NPZ,
  IO_MTX,
  IO_CSV,
  IO_SAFETENSORS,
  IO_GRAPH,
  IO_PNG,
  IO_PPM,
  IO_UNKNOWN
} io_format;
io_format io_recognise(const void *bytes, size_t n);

/* .npy files: versions 1 to 3, either byte order, C or Fortran order, the dtypes of damo. */
damo_array *io_read_npy(damo_ctx *ctx, const io_from *from);
damo_status io_write_npy(const io_to *to, const damo_array *a);
/* The array of a .npy file as a read-only array over the file's pages, which are read when they are needed. A file that
 * is cut while the array lives kills the process. A value error where the bytes are of the other order or lie at odd
 * addresses; not_implemented where the system has no such files. */
damo_array *io_map_npy(damo_ctx *ctx, const char *path);

/* .npz files: zip archives of .npy members, which may be stored or deflated when read and are stored when written.
 * Names are without ".npy". A member that is one text (b"csr") is read as a vector of its character codes. */
typedef struct npz_entry {
  char *name;
  damo_array *array;
} npz_entry;
typedef struct npz_text {
  char *key, *value;
} npz_text;
typedef struct npz {
  damo_ctx *ctx;
  npz_entry *at;
  int64_t n, cap;
  uint64_t max_bytes; /* the limit that it was read with */
  npz_text *metadata; /* of a .safetensors file, sorted by key */
  int64_t n_metadata, metadata_cap;
} npz;
#define IO_MAX_BYTES ((uint64_t)1 << 30)
/* An archive whose deflated members inflate to more than max_bytes (0: IO_MAX_BYTES) is refused before memory is
 * allocated: deflate can compress a thousandfold. Free with npz_clear. */
damo_status io_read_npz(damo_ctx *ctx, const io_from *from, uint64_t max_bytes, npz *out);
void npz_clear(npz *z);
damo_status io_write_npz(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays,
                         int64_t n);

/* .safetensors files: named arrays and texts. float16 and bfloat16 are read as float32; dtypes that damo lacks are an io
 * error. An array of a dtype that the format lacks (complex128) is a type error. */
damo_status io_read_safetensors(damo_ctx *ctx, const io_from *from, npz *out);
damo_status io_write_safetensors(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays,
                                 int64_t n, const npz_text *metadata, int64_t n_metadata);

/* A CSV of numbers. */
typedef struct csv_options {
  char delimiter;   /* 0: ',' */
  int64_t skip;     /* lines before the data, including the header; -1: one line if its cells are not all numbers */
  damo_dtype dtype; /* of the result */
  bool text_as_nan; /* cells that are not numbers become nan instead of an error; empty cells are always nan */
  const char *const *missing; /* n_missing texts of cells that stand for no value, as empty cells do */
  int64_t n_missing;
} csv_options;
/* Reads an array of rows × columns. header (may be NULL) receives the cells of the header line, separated by '\n', to
 * be freed by mem_strfree; NULL if there is no header. */
damo_array *io_read_csv(damo_ctx *ctx, const io_from *from, const csv_options *options, char **header);

/* Images: uint8 or uint16 arrays of height × width (gray), or height × width × channels: 2 gray and opacity, 3 RGB, 4
 * RGBA. What is read has 8 bits, or 16 where the file has more than 8; palettes and transparent colours become RGB and
 * RGBA. An image of more than max_bytes (0: IO_MAX_BYTES) is refused before memory is allocated. */
damo_array *io_read_png(damo_ctx *ctx, const io_from *from, uint64_t max_bytes); /* any PNG, interlaced ones too */
damo_status io_write_png(const io_to *to, const damo_array *a);
/* Netpbm: P1 to P6, as text or as bytes; written as P5 (gray) or P6 (RGB). */
damo_array *io_read_pnm(damo_ctx *ctx, const io_from *from, uint64_t max_bytes);
damo_status io_write_pnm(const io_to *to, const damo_array *a);

/* A table of columns, each of numbers or of texts. */
typedef struct csv_column {
  char *name;
  damo_array *numbers; /* NULL: texts */
  char *texts;         /* one after the other */
  size_t *ends;        /* of each row's text; it begins where the one before ends */
  size_t texts_cap, ends_cap;
} csv_column;
typedef struct csv_table {
  damo_ctx *ctx;
  csv_column *column;
  int64_t n, rows;
} csv_table;
/* Reads a table. A column is of numbers if each of its cells is one, or is empty or missing. Its name is the header's;
 * where there is none, c1, c2, … names: the n_names columns to read, by name; where there is no header, the names of all
 * columns; NULL: all. A missing cell of a column of texts is the empty text. Free with csv_table_clear. */
damo_status io_read_csv_table(damo_ctx *ctx, const io_from *from, const csv_options *options, const char *const *names,
                              int64_t n_names, csv_table *out);
void csv_table_clear(csv_table *t);

/* Matrix Market: a coordinate file gives a sparse matrix in that format, an array file a dense array; tell them apart
 * by obj.kind. All fields and symmetries; symmetric storage is expanded, entries listed twice are summed. pattern and
 * real give float64, complex complex128, integer int64 (uint64 or float64 where a %%GraphBLAS comment names such a
 * type). A file without its first line is read as real and general. Errors name the line and the reason. */
damo_obj *io_read_mtx(damo_ctx *ctx, const io_from *from, damo_format format);

typedef enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW, MTX_HERMITIAN } mtx_symmetry;

typedef struct mtx_options {
  const char *comment;   /* text of which each line becomes a comment line; may be NULL */
  bool pattern;          /* writes positions without values (sparse matrices) */
  mtx_symmetry symmetry; /* writes one triangle; a value error if the matrix is not that symmetric */
} mtx_options;

/* Writes a vector (one column) or a matrix as a table: one row a line, values with as few digits as reading them back
 * exactly takes, nan as an empty cell unless it is the row's only one. */
typedef struct csv_write_options {
  char delimiter;            /* 0: ',' */
  const char *const *header; /* one name a column, quoted where needed; NULL: no header line */
  int64_t n_header;
} csv_write_options;
damo_status io_write_csv(const io_to *to, const damo_array *a, const csv_write_options *options);

/* Writes a damo_sparse as a coordinate file, a damo_array (vector or matrix) as an array file; each value with as many
 * digits as reading it back exactly takes. options may be NULL. */
damo_status io_write_mtx(const io_to *to, damo_obj *value, const mtx_options *options);

/* Sparse matrices in the layout of SciPy's save_npz: an .npz of format, shape, data and the other arrays of the format.
 * csr and csc are read as they are, coo, dia and bsr as csr; matrices are written as csr_array or csc_array. */
damo_sparse *io_read_sparse_npz(damo_ctx *ctx, const io_from *from);
damo_status io_write_sparse_npz(const io_to *to, const damo_sparse *a);
/* For an .npz that has been read: whether it holds a sparse matrix, and the matrix. */
bool io_npz_is_sparse(const npz *z);
damo_sparse *io_sparse_of_npz(const char *path, const npz *z);

/* Appends the bytes to to->text, or writes them as a file, which replaces the one at the path when it is complete. */
damo_status io_write_bytes(damo_ctx *ctx, const io_to *to, const void *bytes, size_t n);

/* ---- Texts and pictures ------------------------------------------------------------------------------------------ */

/* Writes n bytes of text as a file, which replaces the one at path when it is complete (io_sink). */
damo_status io_write_text(damo_ctx *ctx, const char *path, const char *text, size_t n);

/* Runs a program (argv is NULL-terminated; searched in PATH, without a shell) with text as its standard input, and
 * writes its standard output to the file at path. *found: the program exists; if it does not, there is no error and no
 * file. If the program fails, the io error contains its standard error. */
damo_status io_draw(damo_ctx *ctx, const char *const *argv, const char *text, size_t n, const char *path, bool *found);

#endif
