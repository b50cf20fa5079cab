/* file: the part of damo.h that reads and writes files, and their bytes in memory. */
#ifndef DAMO_PUBLIC_FILE_H
#define DAMO_PUBLIC_FILE_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Paths are those of the host's file system. A file is written under a temporary name in the same folder and renamed to
 * its path when it is complete. Failures are io errors that name the file and, if there is one, the line or member; in
 * a sandbox each function that takes a path fails with a state error.
 *
 * What …_read reads from a path, …_parse reads from n bytes in memory, and what …_write writes to a path, …_format gives
 * as bytes: for hosts with file systems of their own, and for sandboxes. */

/* Bytes that damo made, to be freed with damo_bytes_free; zero-terminated, the zero not counted. cap is damo's own. */
typedef struct damo_bytes {
  char *at;
  size_t n, cap;
} damo_bytes;
/* Frees the bytes and clears the struct; NULL and a cleared struct are allowed. */
DAMO_API void damo_bytes_free(damo_ctx *ctx, damo_bytes *bytes);

/* Reads the array of a .npy file: versions 1 to 3, either byte order, C or Fortran order. */
DAMO_API damo_array *damo_npy_read(damo_ctx *ctx, const char *path);
/* The array of a .npy file over the file's own pages, read-only: they are read when they are needed. The file must be in
 * this machine's byte order (else a value error); one that is cut while the array lives kills the process. */
DAMO_API damo_array *damo_npy_map(damo_ctx *ctx, const char *path);
/* Writes an array as a .npy file, in C order. */
DAMO_API damo_status damo_npy_write(const char *path, const damo_array *a);
/* The same from and to memory. */
DAMO_API damo_array *damo_npy_parse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_npy_format(const damo_array *a, damo_bytes *out);

/* The arrays of a .npz file, in the order of the file, with their names without ".npy". */
typedef struct damo_npz damo_npz;
/* Reads all arrays of a .npz file; free with damo_npz_free. A file whose compressed members would take more than
 * max_bytes (0: 2^30) is refused before any memory is taken. */
DAMO_API damo_npz *damo_npz_read(damo_ctx *ctx, const char *path, uint64_t max_bytes);
/* The same from memory. */
DAMO_API damo_npz *damo_npz_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes);
/* Frees it (NULL is allowed). Arrays of it that were retained stay valid. */
DAMO_API void damo_npz_free(damo_npz *z);
/* The number of arrays. */
DAMO_API int64_t damo_npz_size(const damo_npz *z);
/* Name and array number i, counted from 0, and the array of a name. Borrowed; NULL if there is none. */
DAMO_API const char *damo_npz_get_name(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_get_array(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_find(const damo_npz *z, const char *name);
/* Writes n arrays under these names (without ".npy") as a .npz file, without compression. */
DAMO_API damo_status damo_npz_write(damo_ctx *ctx, const char *path, const char *const *names,
                                    damo_array *const *arrays, int64_t n);
/* The same to memory. */
DAMO_API damo_status damo_npz_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays, int64_t n,
                                     damo_bytes *out);
/* The same with deflated members. */
DAMO_API damo_status damo_npz_write_compressed(damo_ctx *ctx, const char *path, const char *const *names,
                                               damo_array *const *arrays, int64_t n);
DAMO_API damo_status damo_npz_format_compressed(damo_ctx *ctx, const char *const *names, damo_array *const *arrays,
                                                int64_t n, damo_bytes *out);
/* Reads a sparse matrix as SciPy's save_npz writes it: csr and csc as they are, coo, dia and bsr as csr. */
DAMO_API damo_sparse *damo_npz_read_sparse(damo_ctx *ctx, const char *path);
/* Writes a sparse matrix as SciPy's load_npz reads it. */
DAMO_API damo_status damo_npz_write_sparse(const char *path, const damo_sparse *a);
/* The same from and to memory. */
DAMO_API damo_sparse *damo_npz_parse_sparse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_npz_format_sparse(const damo_sparse *a, damo_bytes *out);

/* Reads a .safetensors file: its arrays, 16-bit floats as float32, and its metadata. Free with damo_npz_free. */
DAMO_API damo_npz *damo_safetensors_read(damo_ctx *ctx, const char *path);
/* The text of that key in the metadata of a .safetensors file, borrowed; NULL if there is none. */
DAMO_API const char *damo_npz_get_metadata(const damo_npz *z, const char *key);
/* Writes n arrays and n_metadata texts (key and value in turn: 2 * n_metadata of them) as a .safetensors file. */
DAMO_API damo_status damo_safetensors_write(damo_ctx *ctx, const char *path, const char *const *names,
                                            damo_array *const *arrays, int64_t n, const char *const *metadata,
                                            int64_t n_metadata);
/* The same from and to memory. */
DAMO_API damo_npz *damo_safetensors_parse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_safetensors_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays,
                                             int64_t n, const char *const *metadata, int64_t n_metadata,
                                             damo_bytes *out);

/* Symmetry of a matrix in a Matrix Market file, which then lists one triangle only. */
typedef enum damo_symmetry { DAMO_GENERAL, DAMO_SYMMETRIC, DAMO_SKEW, DAMO_HERMITIAN } damo_symmetry;
typedef struct damo_mtx_options {
  size_t size;            /* sizeof(damo_mtx_options) */
  const char *comment;    /* text of which each line becomes a comment line; NULL: none */
  damo_symmetry symmetry; /* writes one triangle; a value error if the matrix is not that symmetric */
  bool pattern;           /* writes positions without values */
} damo_mtx_options;

/* Reads a Matrix Market file: a coordinate file as a sparse matrix in that format, an array file as an array. Symmetric
 * storage is expanded; entries that are listed twice are summed. */
DAMO_API damo_obj *damo_mtx_read(damo_ctx *ctx, const char *path, damo_format format);
/* Writes a sparse matrix as a coordinate file, an array of one or two dimensions as an array file, each value with as
 * many digits as reading it back exactly takes. options may be NULL. */
DAMO_API damo_status damo_mtx_write(const char *path, const damo_obj *value, const damo_mtx_options *options);
/* The same from and to memory. */
DAMO_API damo_obj *damo_mtx_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_format format);
DAMO_API damo_status damo_mtx_format(const damo_obj *value, const damo_mtx_options *options, damo_bytes *out);

typedef struct damo_csv_options {
  size_t size;                /* sizeof(damo_csv_options) */
  const char *dtype;          /* name of the dtype of the result; NULL: "float64" */
  int64_t skip;               /* number of lines before the data; -1: none; 0: one if its cells are not all numbers */
  char delimiter;             /* 0: ',' */
  bool text_as_nan;           /* cells that are not numbers become nan instead of an error; empty cells always do */
  const char *const *missing; /* n_missing texts of cells that stand for no value, as empty cells do */
  int64_t n_missing;
  const char *const
      *columns;      /* of tables: the n_columns to read, by name; where the file has no header, all their names */
  int64_t n_columns; /* 0: all */
} damo_csv_options;

/* Reads a table of numbers as an array of rows × columns. header, which may be NULL, receives the cells of the header
 * line, separated by newlines, to be freed with damo_text_free; NULL if there is no header. options may be NULL. */
DAMO_API damo_array *damo_csv_read(damo_ctx *ctx, const char *path, const damo_csv_options *options, char **header);
/* Writes a vector (one column) or a matrix of real numbers, each with as many digits as reading it back exactly takes,
 * nan as an empty cell where the table has several columns. header: n_header names, one a column, or 0: no header line. */
DAMO_API damo_status damo_csv_write(const char *path, const damo_array *a, const char *const *header, int64_t n_header);
/* The same from and to memory. */
DAMO_API damo_array *damo_csv_parse(damo_ctx *ctx, const void *bytes, size_t n, const damo_csv_options *options,
                                    char **header);
DAMO_API damo_status damo_csv_format(const damo_array *a, const char *const *header, int64_t n_header, damo_bytes *out);

/* A table of columns, each of numbers or of texts: numbers where each cell is one, or is empty or missing. */
typedef struct damo_csv_table damo_csv_table;
/* Reads a table with one header line (skip says otherwise). Without a header the names are c1, c2, … options may be NULL.
 * Free with damo_csv_table_free. */
DAMO_API damo_csv_table *damo_csv_read_table(damo_ctx *ctx, const char *path, const damo_csv_options *options);
/* The same from memory. */
DAMO_API damo_csv_table *damo_csv_parse_table(damo_ctx *ctx, const void *bytes, size_t n,
                                              const damo_csv_options *options);
/* Frees it (NULL is allowed). Arrays of it that were retained stay valid. */
DAMO_API void damo_csv_table_free(damo_csv_table *t);
/* The number of columns, and of rows. */
DAMO_API int64_t damo_csv_table_size(const damo_csv_table *t);
DAMO_API int64_t damo_csv_table_rows(const damo_csv_table *t);
/* Column number i, counted from 0: its name, and its numbers as a vector, NULL for a column of texts. Borrowed. */
DAMO_API const char *damo_csv_table_get_name(const damo_csv_table *t, int64_t i);
DAMO_API damo_array *damo_csv_table_get_numbers(const damo_csv_table *t, int64_t i);
/* The text of a row, counted from 0, of a column of texts: *n bytes, not zero-terminated; n may be NULL. Borrowed; NULL for
 * a column of numbers. A missing cell is the empty text. */
DAMO_API const char *damo_csv_table_get_text(const damo_csv_table *t, int64_t i, int64_t row, size_t *n);

/* Images are arrays of uint8 or uint16 of height × width (gray), or height × width × channels: 2 gray and opacity, 3 RGB,
 * 4 RGBA. An image of more than max_bytes (0: 2^30) is refused before any memory is taken. */

/* Reads a .png, .ppm, .pgm or .pnm, told by the ending of the path. */
DAMO_API damo_array *damo_image_read(damo_ctx *ctx, const char *path, uint64_t max_bytes);
/* Writes what the ending of the path says. */
DAMO_API damo_status damo_image_write(const char *path, const damo_array *a);
/* The same from memory, where the bytes tell the format, and to memory: format is "png" or "ppm". */
DAMO_API damo_array *damo_image_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes);
DAMO_API damo_status damo_image_format(const damo_array *a, const char *format, damo_bytes *out);

/* ---- Graphs in files --------------------------------------------------------------------------------------------- */

/* A graph for files, or from one: Variables of inputs and outputs, and shared Variables with their new values. */
typedef struct damo_graph damo_graph;
typedef enum damo_graph_part {
  DAMO_GRAPH_INPUTS,
  DAMO_GRAPH_OUTPUTS,
  DAMO_GRAPH_UPDATED, /* shared Variables, and at the same positions */
  DAMO_GRAPH_UPDATES, /* their new values */
  DAMO_GRAPH_SHARED   /* of a graph that was read: all its shared Variables */
} damo_graph_part;
/* A graph of these Variables, which it retains; free with damo_graph_free. */
DAMO_API damo_graph *damo_graph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                    int64_t n_out, damo_var *const *update_of, damo_var *const *update_to,
                                    int64_t n_updates);
/* The graph that f was compiled from, with all that its calls update. A state error for a Function that does not hold it:
 * a freed one, or a copy in another context. */
DAMO_API damo_graph *damo_graph_of_function(const damo_function *f);
/* Frees the graph, and drops the default updates of the shared Variables of one that was read; NULL is allowed. */
DAMO_API void damo_graph_free(damo_graph *g);
/* The number of Variables of that part, and one of them (borrowed), NULL past the last one. */
DAMO_API int64_t damo_graph_size(const damo_graph *g, damo_graph_part part);
DAMO_API damo_var *damo_graph_get(const damo_graph *g, damo_graph_part part, int64_t i);
/* Writes the graph with the values of its shared Variables: the same bytes for the same graph, on every machine. lines:
 * with the lines of a script that its nodes come from. A type error that names what a file can't hold, such as a value
 * that is no array; the file is then left as it is. */
DAMO_API damo_status damo_graph_write(const damo_graph *g, const char *path, bool lines);
DAMO_API damo_status damo_graph_format(const damo_graph *g, bool lines, damo_bytes *out);
/* Reads a graph; free with damo_graph_free. Nothing in the bytes is run. Ops that are not damo's are those of the list
 * with the same class name, or of a class that the host has registered; a value error if there is none. An io error for
 * bytes that are damaged, or of a later version. */
DAMO_API damo_graph *damo_graph_read(damo_ctx *ctx, const char *path, damo_op *const *ops, int64_t n_ops);
DAMO_API damo_graph *damo_graph_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_op *const *ops, int64_t n_ops);

#ifdef __cplusplus
}
#endif

#endif
