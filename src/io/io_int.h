/* io_int: what the files of io share: error texts, and a stream of bytes out of a file or a zip member. */
#ifndef DAMO_IO_IO_INT_H
#define DAMO_IO_IO_INT_H

#include <signal.h>
#include <stdio.h>
#include <zlib.h>

#include "io.h"

/* io error "path: text"; where errno_value is not 0, its text follows. */
damo_status io_fail(damo_ctx *ctx, const char *path, int errno_value, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Opens for reading and tells the size (out may be NULL); NULL: failed. Directories are refused. */
FILE *io_open(damo_ctx *ctx, const char *path, uint64_t *size);

/* The whole file. */
damo_status io_read_text(damo_ctx *ctx, const char *path, strbuf *out);

/* ---- Numbers in text: number.c ----------------------------------------------------------------------------------- */

typedef struct cell_text {
  const char *at;
  size_t n;
} cell_text;

/* A decimal literal taken apart: (-1)^negative · digits · 10^exponent. exact: all digits are in `digits`. */
typedef struct decimal {
  bool negative, exact, whole; /* whole: written as an integer */
  uint64_t digits;
  int64_t exponent;
} decimal;

/* false: the text is no decimal literal. */
bool number_decimal(cell_text t, decimal *d);
/* A number, nan and inf as words included, or nan for an empty text; false when it is neither. */
bool number_double(cell_text t, double *out);

/* ---- Bytes in ---------------------------------------------------------------------------------------------------- */

#define SOURCE_BUFFER 16384

/* Bytes of a file from its current place on, or of a zip member, inflated where it is deflated. */
typedef struct io_source {
  damo_ctx *ctx;
  const char *path, *member; /* for error texts; member may be NULL */
  FILE *f;
  uint64_t left;        /* bytes that may still be read */
  uint64_t packed_left; /* deflated bytes not yet taken from the file */
  bool deflated;
  z_stream z;
  uint32_t crc; /* of what was read */
  unsigned char buffer[SOURCE_BUFFER];
} io_source;

/* For a deflated source only: readies the inflater; source_end must follow. */
damo_status source_begin(io_source *s);
void source_end(io_source *s);
/* Exactly n bytes; io error when there are fewer. */
damo_status source_read(io_source *s, void *dst, size_t n);
damo_status source_fail(const io_source *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- Bytes out --------------------------------------------------------------------------------------------------- */

/* A file that is written beside its path under a fresh name and takes its place at the end, with the mode of what it
 * replaces. A symbolic link is followed. What is no plain file (a device, a pipe) is written through. */
typedef struct io_sink {
  damo_ctx *ctx;
  const char *path;    /* for error texts */
  char *target, *part; /* where it goes, and where it is written; part NULL: written through */
  size_t target_size, part_size;
  sigset_t signals; /* of this thread before, where it is written through */
  bool was_pending;
  FILE *f;
  uint64_t written;
} io_sink;

/* sink_close must follow on success. */
damo_status sink_open(io_sink *s, damo_ctx *ctx, const char *path);
damo_status sink_write(io_sink *s, const void *data, size_t n);
/* Closes and, where status is DAMO_OK, moves the file to its path; else removes it. Gives the status of the whole. */
damo_status sink_close(io_sink *s, damo_status status);

/* ---- npy --------------------------------------------------------------------------------------------------------- */

/* The array of a .npy stream. */
damo_array *npy_read(io_source *s);

#define NPY_HEADER_MAX 1024
/* The header of a C-contiguous array; returns its length. */
size_t npy_header(const damo_array *a, char out[NPY_HEADER_MAX]);
/* The header of one text of the characters in a uint8 vector. */
size_t npy_text_header(const damo_array *a, char out[NPY_HEADER_MAX]);

/* ---- npz --------------------------------------------------------------------------------------------------------- */

/* The io error of what would take more memory than max_bytes. */
damo_status npz_too_large(damo_ctx *ctx, const char *path, uint64_t max_bytes, const char *what);

/* io_write_npz; arrays[text], a uint8 vector, is written as one text (-1: none). */
damo_status npz_write(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays, int64_t n,
                      int64_t text);

/* ---- mtx --------------------------------------------------------------------------------------------------------- */

/* io_read_mtx of a text that is already there; path is for messages. */
damo_obj *mtx_parse(damo_ctx *ctx, const char *path, const char *text, size_t n, damo_format format);

#endif
