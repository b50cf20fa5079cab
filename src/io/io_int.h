/* io_int: private to io: errors, numbers in text, bytes read from files, memory and zip members, and bytes written to
 * memory or to files that are replaced when complete. */
#ifndef DAMO_IO_IO_INT_H
#define DAMO_IO_IO_INT_H

#include "io.h"

#include <stdio.h>
#if DAMO_POSIX
#include <signal.h>
#endif
#if DAMO_ZLIB
#include <zlib.h>
#endif

/* Sets the io error "path: text", followed by the text of errno_value if that is not 0. */
damo_status io_fail(damo_ctx *ctx, const char *path, int errno_value, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Bytes that can be read from any position: a file's or those in memory. */
typedef struct io_input {
  damo_ctx *ctx;
  const char *path; /* for error texts */
  uint64_t size, at;
  FILE *f;                    /* NULL: in memory */
  const unsigned char *bytes; /* in memory */
} io_input;

/* Opens a file, which must not be a directory, or memory. On success input_close must follow. */
damo_status input_open(io_input *in, damo_ctx *ctx, const io_from *from);
void input_close(io_input *in);
/* Reads up to n bytes; returns how many, fewer only at the end or where reading fails. */
size_t input_read(io_input *in, void *dst, size_t n);
/* Sets the position; false if the system refuses. */
bool input_seek(io_input *in, uint64_t at);

/* ---- Numbers in text: number.c ----------------------------------------------------------------------------------- */

/* A decimal literal: (-1)^negative · digits · 10^exponent. exact: `digits` has all its digits. */
typedef struct decimal {
  bool negative, exact, whole; /* whole: no point and no exponent */
  uint64_t digits;
  int64_t exponent;
} decimal;

#define NUMBER_TEXT 40
/* Writes the shortest of %.15g, %.16g and %.17g (single: from %.6g on) that reads back as x, with a point whatever the
 * locale; nan, inf and -inf by these words. Returns its length. */
size_t number_shortest(double x, bool single, char dst[NUMBER_TEXT]);

/* Parses a decimal literal; false if the text is none. */
bool number_decimal(cell_text t, decimal *d);
/* The decimal literal at the start of the text; returns its end. NULL: there is none, *out is not set. */
const char *number_scan(const char *at, const char *end, double *out);
/* Parses a number, the words nan and inf included; an empty text is nan. False if the text is none of these. */
bool number_double(cell_text t, double *out);

/* ---- Reading bytes
 * ---------------------------------------------------------------------------------------------------- */

#define SOURCE_BUFFER 16384

/* The CRC-32 of zip of bytes that follow those with the given one; 0 for the first. */
uint32_t io_crc32(uint32_t crc, const void *bytes, size_t n);

/* A stream of the bytes of an input from its position on, or of a zip member, inflated if it is deflated. */
typedef struct io_source {
  damo_ctx *ctx;
  const char *path, *member; /* for error texts; member may be NULL */
  io_input *in;
  uint64_t left;        /* bytes that may still be read */
  uint64_t packed_left; /* deflated bytes not yet taken from the input */
  bool deflated;
#if DAMO_ZLIB
  z_stream z;
#endif
  uint32_t crc; /* CRC-32 of the bytes read */
  unsigned char buffer[SOURCE_BUFFER];
} io_source;

#if DAMO_ZLIB
/* A stream whose memory is the context's, for inflateInit or deflateInit. */
void io_zlib_init(z_stream *z, damo_ctx *ctx);
#endif
/* Starts reading a zip member: resets the CRC and, for a deflated one, initialises the inflater. source_end must
 * follow. */
damo_status source_begin(io_source *s);
void source_end(io_source *s);
/* Reads exactly n bytes; an io error if there are fewer. */
damo_status source_read(io_source *s, void *dst, size_t n);
damo_status source_fail(const io_source *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- Writing files
 * --------------------------------------------------------------------------------------------------- */

/* A file that is written under a temporary name in the same folder, and at the end renamed to its path, with the mode
 * of the file that it replaces. A symbolic link is followed. A path that is no regular file (a device, a pipe) is
 * written directly. Or a text in memory, from which a failure takes what was appended. */
typedef struct io_sink {
  damo_ctx *ctx;
  const char *path;    /* for error texts */
  char *target, *part; /* final path and temporary path; part NULL: target is written directly */
  size_t target_size, part_size;
#if DAMO_POSIX
  sigset_t signals; /* signal mask of the thread before, if target is written directly */
  bool was_pending;
#endif
  FILE *f;      /* NULL: memory */
  strbuf *text; /* memory */
  size_t text_start;
  uint64_t written;
} io_sink;

/* Opens the sink; on success sink_close must follow. */
damo_status sink_open(io_sink *s, damo_ctx *ctx, const io_to *to);
damo_status sink_write(io_sink *s, const void *data, size_t n);
/* Closes the file and renames it to its path if status is DAMO_OK, else removes it. Returns status, or the status of a
 * failure here. */
damo_status sink_close(io_sink *s, damo_status status);

/* ---- npy --------------------------------------------------------------------------------------------------------- */

/* A read-only array over the bytes of a .npy file in memory, which s reads from the start; release(owner) is called when
 * nothing uses it any more, or at once on failure. */
damo_array *npy_map(io_source *s, const char *file, uint64_t size, void (*release)(void *owner), void *owner);
/* Reads the array of a .npy stream. */
damo_array *npy_read(io_source *s);

bool io_host_is_little(void);
/* Reverses the bytes of n numbers of `size` bytes each. */
void io_swap_bytes(char *p, int64_t n, size_t size);

#define NPY_HEADER_MAX 1024
/* Writes the header of a C-contiguous array to out; returns its length. */
size_t npy_header(const damo_array *a, char out[NPY_HEADER_MAX]);
/* The header for one text, whose characters are a uint8 vector. */
size_t npy_text_header(const damo_array *a, char out[NPY_HEADER_MAX]);

/* ---- npz --------------------------------------------------------------------------------------------------------- */

/* The io error for data that would take more memory than max_bytes. */
damo_status npz_too_large(damo_ctx *ctx, const char *path, uint64_t max_bytes, const char *what);

/* As io_write_npz, but arrays[text], a uint8 vector, is written as one text (-1: none). */
damo_status npz_write(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays, int64_t n,
                      int64_t text);

/* ---- mtx --------------------------------------------------------------------------------------------------------- */

/* As io_read_mtx, from a text in memory; path is for messages. */
damo_obj *mtx_parse(damo_ctx *ctx, const char *path, const char *text, size_t n, damo_format format);

#endif
