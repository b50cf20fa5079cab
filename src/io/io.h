/* io: files of arrays. Knows arrays (and, later, sparse values) and nothing of graphs.
 *
 * In: paths. Out: Arrays, or an io error that names the file and, where there is one, the line or the member.
 */
#ifndef DAMO_IO_H
#define DAMO_IO_H

#include "../array/array.h"

/* .npy, versions 1 to 3, either byte order and either memory order; the dtypes damo has. */
damo_array *io_read_npy(damo_ctx *ctx, const char *path);
damo_status io_write_npy(const char *path, const damo_array *a);

/* .npz: a zip archive of .npy members, stored or deflated on reading, stored on writing. Names are without ".npy". */
typedef struct npz_entry { char *name; damo_array *array; } npz_entry;
typedef struct npz { damo_ctx *ctx; npz_entry *at; int64_t n, cap; } npz;
damo_status io_read_npz(damo_ctx *ctx, const char *path, npz *out);
void npz_clear(npz *z);
/* Writes to a temporary file beside path first, so that a failure leaves the old file. */
damo_status io_write_npz(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays, int64_t n);

/* A CSV of numbers. */
typedef struct csv_options {
  char delimiter;    /* 0: ',' */
  int64_t skip;      /* lines before the data, the header included; -1: one line when its cells are not all numbers */
  damo_dtype dtype;  /* of the result */
  bool text_as_nan;  /* cells that are no number become nan instead of an error; empty cells are nan always */
} csv_options;
/* A matrix rows × columns; header (may be NULL) receives the cells of the header line, '\n'-separated, free by mem_strfree. */
damo_array *io_read_csv(damo_ctx *ctx, const char *path, const csv_options *options, char **header);

#endif
