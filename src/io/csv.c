/* csv: reads a text of numbers as a matrix: one row per line, cells separated by delimiters.
 *
 * Cells may be quoted ("" inside stands for one quote); lines end with \n or \r\n; a byte order mark at the start and
 * blank lines are skipped; spaces around a cell are ignored; an empty cell is nan. A row that has another number of
 * cells than the first line is an io error with the line's number.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io_int.h"
#include "kernel/kernel.h"

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
  char *values;  /* entries of the result's dtype */
  size_t n, cap; /* bytes */
} csv;

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* Skips \n, \r\n or a single \r at c->at. */
static void end_line(csv *c) {
  if (c->at < c->end && *c->at == '\r') c->at++;
  if (c->at < c->end && *c->at == '\n') c->at++;
  c->line++;
}

static bool at_line_end(const csv *c) { return c->at == c->end || *c->at == '\n' || *c->at == '\r'; }

static void skip_spaces(csv *c) {
  while (c->at < c->end && is_space(*c->at) && *c->at != c->o.delimiter) c->at++;
}

static void skip_blank_lines(csv *c) {
  for (;;) {
    const char *start = c->at;
    while (c->at < c->end && is_space(*c->at) && *c->at != c->o.delimiter) c->at++;
    if (c->at == c->end) return;
    if (!at_line_end(c)) {
      c->at = start;
      return;
    }
    end_line(c);
  }
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static damo_status grow_cell(csv *c, size_t n) {
  if (n <= c->cell_cap) return DAMO_OK;
  const size_t cap = 2 * n;
  char *p = mem_realloc(c->ctx, c->cell, c->cell_cap, cap);
  if (!p) return DAMO_EMEMORY;
  c->cell = p;
  c->cell_cap = cap;
  return DAMO_OK;
}

static damo_status read_quoted(csv *c, cell_text *out) {
  const int64_t began = c->line;
  size_t n = 0;
  c->at++;
  for (;; c->at++) {
    if (c->at == c->end) return io_fail(c->ctx, c->path, 0, "line %lld: a quoted cell does not end", (long long)began);
    if (*c->at == '"') {
      if (c->at + 1 == c->end || c->at[1] != '"') break;
      c->at++;
    }
    c->line += *c->at == '\n';
    DAMO_TRY(grow_cell(c, n + 1));
    c->cell[n++] = *c->at;
  }
  c->at++;
  skip_spaces(c);
  if (!at_line_end(c) && *c->at != c->o.delimiter) {
    return io_fail(c->ctx, c->path, 0, "line %lld: text follows a closing quote", (long long)c->line);
  }
  *out = (cell_text){c->cell, n};
  return DAMO_OK;
}

static void trim(cell_text *t) {
  while (t->n > 0 && is_space(*t->at)) t->at++, t->n--;
  while (t->n > 0 && is_space(t->at[t->n - 1])) t->n--;
}

/* Reads the next cell, valid until the next call. *last: it is the last of its line, whose end is skipped too. */
static damo_status read_cell(csv *c, cell_text *out, bool *last) {
  skip_spaces(c);
  if (c->at < c->end && *c->at == '"') {
    DAMO_TRY(read_quoted(c, out));
  } else {
    const char *start = c->at;
    while (!at_line_end(c) && *c->at != c->o.delimiter) c->at++;
    *out = (cell_text){start, (size_t)(c->at - start)};
  }
  trim(out);
  *last = at_line_end(c);
  if (*last)
    end_line(c);
  else
    c->at++;
  return DAMO_OK;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

static damo_status bad_cell(const csv *c, int64_t col, cell_text t, const char *what) {
  return io_fail(c->ctx, c->path, 0, "line %lld, cell %lld: '%.*s' %s", (long long)c->row_line, (long long)col + 1,
                 t.n < 60 ? (int)t.n : 60, t.at, what);
}

static bool integer_fits(damo_dtype dtype, bool negative, uint64_t magnitude) {
  if (dtype == DAMO_BOOL) return magnitude <= 1 && !negative;
  const int bits = 8 * (int)dtype_size(dtype);
  if (!dtype_is_signed(dtype)) return (!negative || magnitude == 0) && (bits == 64 || magnitude >> bits == 0);
  const uint64_t most = ((uint64_t)1 << (bits - 1)) - 1;
  return magnitude <= most + negative;
}

/* Parses integers without going through double, which would lose digits. */
static damo_status parse_integer(const csv *c, int64_t col, cell_text t, scalar *out) {
  decimal d;
  double v;
  const damo_dtype dtype = c->o.dtype;
  if (number_decimal(t, &d) && d.whole && d.exact) {
    if (!integer_fits(dtype, d.negative, d.digits)) return bad_cell(c, col, t, "is outside the result's dtype");
    *out = (scalar){.dtype = DAMO_INT64, .v.i = (int64_t)(d.negative ? 0 - d.digits : d.digits)};
    if (!d.negative) *out = (scalar){.dtype = DAMO_UINT64, .v.u = d.digits};
    return DAMO_OK;
  }
  if (t.n == 0) return bad_cell(c, col, t, "has no value as an integer");
  if (!number_double(t, &v)) return bad_cell(c, col, t, "is not a number");
  if (!(v == floor(v)) || fabs(v) >= 0x1p53 || !integer_fits(dtype, v < 0, (uint64_t)fabs(v))) {
    return bad_cell(c, col, t, "is not a value of the result's dtype");
  }
  *out = (scalar){.dtype = DAMO_INT64, .v.i = (int64_t)v};
  return DAMO_OK;
}

static void store_scalar(char *dst, scalar s) {
  const damo_dtype dtype = s.dtype;
  if (dtype_kind_of(dtype) == KIND_UINT)
    kernel_cast(DAMO_UINT64, dtype)(&s.v.u, dst, 1);
  else if (dtype_is_discrete(dtype))
    kernel_cast(DAMO_INT64, dtype)(&s.v.i, dst, 1);
  else if (dtype_is_complex(dtype))
    kernel_cast(DAMO_COMPLEX128, dtype)(&s.v.c, dst, 1);
  else
    kernel_cast(DAMO_FLOAT64, dtype)(&s.v.f, dst, 1);
}

static damo_status store_cell(csv *c, int64_t col, cell_text t) {
  const damo_dtype dtype = c->o.dtype;
  const size_t size = dtype_size(dtype);
  scalar s = {.dtype = DAMO_FLOAT64};
  if (dtype_is_discrete(dtype)) {
    DAMO_TRY(parse_integer(c, col, t, &s));
  } else if (!number_double(t, &s.v.f)) {
    if (!c->o.text_as_nan) return bad_cell(c, col, t, "is not a number");
    s.v.f = NAN;
  }
  if (c->n + size > c->cap) {
    const size_t cap = c->cap ? 2 * c->cap : 4096;
    char *p = mem_realloc(c->ctx, c->values, c->cap, cap);
    if (!p) return DAMO_EMEMORY;
    c->values = p;
    c->cap = cap;
  }
  if (dtype == DAMO_FLOAT64)
    memcpy(c->values + c->n, &s.v.f, size);
  else
    store_scalar(c->values + c->n, scalar_cast(s, dtype));
  c->n += size;
  return DAMO_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static damo_status check_width(csv *c, int64_t n) {
  if (c->cols < 0) c->cols = n, c->cols_line = c->row_line;
  if (n == c->cols) return DAMO_OK;
  return io_fail(c->ctx, c->path, 0, "line %lld has %lld cells, line %lld has %lld", (long long)c->row_line,
                 (long long)n, (long long)c->cols_line, (long long)c->cols);
}

/* *numeric: whether all cells of the next line are numbers. Does not advance. */
static damo_status is_numeric_line(csv *c, bool *numeric) {
  const char *start = c->at;
  const int64_t line = c->line;
  bool last = false;
  double v;
  cell_text t;
  *numeric = true;
  while (!last) {
    DAMO_TRY(read_cell(c, &t, &last));
    *numeric = *numeric && number_double(t, &v);
  }
  c->at = start;
  c->line = line;
  return DAMO_OK;
}

static damo_status read_header_line(csv *c, strbuf *names) {
  bool last = false;
  int64_t n = 0;
  cell_text t;
  strbuf_clear(names);
  strbuf_init(names, c->ctx);
  c->row_line = c->line;
  for (; !last; n++) {
    DAMO_TRY(read_cell(c, &t, &last));
    if (t.n > 0 && memchr(t.at, 0, t.n)) return bad_cell(c, n, t, "has a zero byte in it");
    if (n > 0) strbuf_addn(names, "\n", 1);
    for (size_t i = 0; i < t.n; i++) strbuf_addn(names, t.at[i] == '\n' ? " " : &t.at[i], 1);
  }
  c->cols = n;
  c->cols_line = c->row_line;
  return names->failed ? DAMO_EMEMORY : DAMO_OK;
}

/* Reads the lines before the data, the last of which gives the names. If their number was given, that line does not
 * determine the number of columns. */
static damo_status read_head(csv *c, strbuf *names) {
  int64_t skip = c->o.skip;
  if (skip < 0) {
    bool numeric;
    skip_blank_lines(c);
    if (c->at == c->end) return DAMO_OK;
    DAMO_TRY(is_numeric_line(c, &numeric));
    return numeric ? DAMO_OK : read_header_line(c, names);
  }
  for (int64_t i = 0; i < skip && c->at < c->end; i++) DAMO_TRY(read_header_line(c, names));
  c->cols = -1;
  return DAMO_OK;
}

static damo_status read_rows(csv *c, int64_t *rows) {
  cell_text t;
  for (*rows = 0;; ++*rows) {
    skip_blank_lines(c);
    if (c->at == c->end) return DAMO_OK;
    bool last = false;
    int64_t n = 0;
    c->row_line = c->line;
    for (; !last; n++) {
      DAMO_TRY(read_cell(c, &t, &last));
      DAMO_TRY(store_cell(c, n, t));
    }
    DAMO_TRY(check_width(c, n));
  }
}

static damo_array *read_matrix(csv *c, strbuf *names) {
  int64_t rows = 0;
  if (read_head(c, names) != DAMO_OK || read_rows(c, &rows) != DAMO_OK) return NULL;
  if (c->cols < 0 && rows == 0) {
    io_fail(c->ctx, c->path, 0, "there are no data in it");
    return NULL;
  }
  damo_array *a = array_empty(c->ctx, c->o.dtype, 2, (const int64_t[]){rows, c->cols});
  if (a && c->n > 0) memcpy(a->data, c->values, c->n);
  return a;
}

damo_array *io_read_csv(damo_ctx *ctx, const io_from *from, const csv_options *options, char **header) {
  csv c = {.ctx = ctx, .path = from->path, .line = 1, .cols = -1};
  strbuf file, names;
  cell_text text;
  damo_array *a = NULL;
  c.o = options ? *options : (csv_options){.skip = -1, .dtype = DAMO_FLOAT64};
  if (c.o.delimiter == 0) c.o.delimiter = ',';
  strbuf_init(&file, ctx);
  strbuf_init(&names, ctx);
  if (io_whole_text(ctx, from, &file, &text) == DAMO_OK) {
    c.at = text.at;
    c.end = c.at + text.n;
    if (text.n >= 3 && memcmp(c.at, "\xEF\xBB\xBF", 3) == 0) c.at += 3;
    a = read_matrix(&c, &names);
  }
  if (a && header) {
    char *copy = names.n > 0 ? mem_strdup(ctx, names.at) : NULL;
    if (names.n > 0 && !copy) {
      damo_release(a);
      a = NULL;
    } else {
      *header = copy;
    }
  }
  if (c.values) mem_free(ctx, c.values, c.cap);
  if (c.cell) mem_free(ctx, c.cell, c.cell_cap);
  strbuf_clear(&names);
  strbuf_clear(&file);
  return a;
}
