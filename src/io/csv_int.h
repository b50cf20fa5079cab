/* csv_int: what the readers of CSV share. */
#ifndef DAMO_IO_CSV_INT_H
#define DAMO_IO_CSV_INT_H

#include "io_int.h"

typedef struct csv {
  damo_ctx *ctx;
  const char *path;
  csv_options o;
  const char *at, *end; /* the rest of the text */
  int64_t line;         /* line number of `at`, from 1 */
  int64_t row_line;     /* first line of the current row */
  int64_t cols;         /* -1: unknown */
  int64_t cols_line;    /* the line that determined cols */
  char *cell;           /* the unquoted text of a quoted cell */
  size_t cell_cap;
  cell_text raw; /* the text of the last cell read: a quoted one's with the spaces in it */
  bool quoted;   /* it was */
  bool quick;    /* cells are numbers unless they look otherwise: csv_quick_number may be tried */
} csv;

/* Numbers of the result's dtype, one after the other; sizes in bytes. */
typedef struct csv_numbers {
  char *at;
  size_t n, cap;
} csv_numbers;

/* A value error where cells could not be told apart by it. */
damo_status csv_check_delimiter(damo_ctx *ctx, const char *path, char delimiter);
/* Reads the text, into `file` where it is a file's. csv_close follows, whatever comes of it. */
damo_status csv_open(csv *c, damo_ctx *ctx, const io_from *from, const csv_options *options, strbuf *file);
void csv_close(csv *c);
void csv_skip_blank_lines(csv *c);
/* Reads the next cell, valid until the next call. *last: it is the last of its line, whose end is skipped too. */
damo_status csv_read_cell(csv *c, cell_text *out, bool *last);
/* The same for a cell that is a decimal literal and nothing else; false, and nothing is read, for any other. */
bool csv_quick_number(csv *c, double *out, bool *last);
/* Reads the lines before the data, the last of which gives the names. If their number was given, that line does not
 * determine the number of columns. */
damo_status csv_read_head(csv *c, strbuf *names);
/* Whether the option `missing` lists the cell, or a number that is equal to it. */
bool csv_is_missing(const csv *c, cell_text t);
/* The cell as a number for csv_add_number. */
damo_status csv_number(const csv *c, int64_t col, cell_text t, scalar *out);
damo_status csv_add_number(const csv *c, csv_numbers *to, scalar s);
void csv_free_numbers(damo_ctx *ctx, csv_numbers *numbers);
damo_status csv_bad_cell(const csv *c, int64_t col, cell_text t, const char *what);
/* An io error if a row of n cells is not as wide as the first line. */
damo_status csv_check_width(csv *c, int64_t n);

#endif
