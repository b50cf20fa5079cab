/* csv: reads a text of numbers as a matrix: one row per line, cells separated by delimiters.
 *
 * Cells may be quoted ("" inside stands for one quote); lines end with \n or \r\n; a byte order mark at the start and
 * blank lines are skipped; spaces around a cell are ignored; an empty cell is nan. A row that has another number of
 * cells than the first line is an io error with the line's number. csv_table.c reads columns of numbers and of texts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv_int.h"
#include "kernel/kernel.h"

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

void csv_skip_blank_lines(csv *c) {
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

damo_status csv_read_cell(csv *c, cell_text *out, bool *last) {
  skip_spaces(c);
  c->quoted = c->at < c->end && *c->at == '"';
  if (c->quoted) {
    DAMO_TRY(read_quoted(c, out));
    c->raw = *out;
  } else {
    const char *start = c->at;
    while (!at_line_end(c) && *c->at != c->o.delimiter) c->at++;
    *out = (cell_text){start, (size_t)(c->at - start)};
  }
  trim(out);
  if (!c->quoted) c->raw = *out;
  *last = at_line_end(c);
  if (*last)
    end_line(c);
  else
    c->at++;
  return DAMO_OK;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

damo_status csv_bad_cell(const csv *c, int64_t col, cell_text t, const char *what) {
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
    if (!integer_fits(dtype, d.negative, d.digits)) return csv_bad_cell(c, col, t, "is outside the result's dtype");
    *out = (scalar){.dtype = DAMO_INT64, .v.i = (int64_t)(d.negative ? 0 - d.digits : d.digits)};
    if (!d.negative) *out = (scalar){.dtype = DAMO_UINT64, .v.u = d.digits};
    return DAMO_OK;
  }
  if (t.n == 0) return csv_bad_cell(c, col, t, "has no value as an integer");
  if (!number_double(t, &v)) return csv_bad_cell(c, col, t, "is not a number");
  if (!(v == floor(v)) || fabs(v) >= 0x1p53 || !integer_fits(dtype, v < 0, (uint64_t)fabs(v))) {
    return csv_bad_cell(c, col, t, "is not a value of the result's dtype");
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

bool csv_is_missing(const csv *c, cell_text t) {
  double cell, v;
  for (int64_t i = 0; i < c->o.n_missing; i++) {
    const cell_text m = {c->o.missing[i], strlen(c->o.missing[i])};
    if (m.n == t.n && memcmp(m.at, t.at, t.n) == 0) return true;
    if (number_double(m, &v) && number_double(t, &cell) && v == cell) return true;
  }
  return false;
}

damo_status csv_number(const csv *c, int64_t col, cell_text t, scalar *out) {
  *out = (scalar){.dtype = DAMO_FLOAT64};
  if (c->o.n_missing > 0 && csv_is_missing(c, t)) t.n = 0;
  if (dtype_is_discrete(c->o.dtype)) return parse_integer(c, col, t, out);
  if (number_double(t, &out->v.f)) return DAMO_OK;
  if (!c->o.text_as_nan) return csv_bad_cell(c, col, t, "is not a number");
  out->v.f = NAN;
  return DAMO_OK;
}

damo_status csv_add_number(const csv *c, csv_numbers *to, scalar s) {
  const damo_dtype dtype = c->o.dtype;
  const size_t size = dtype_size(dtype);
  if (to->n + size > to->cap) {
    const size_t cap = to->cap ? 2 * to->cap : 4096;
    char *p = mem_realloc(c->ctx, to->at, to->cap, cap);
    if (!p) return DAMO_EMEMORY;
    to->at = p;
    to->cap = cap;
  }
  if (dtype == DAMO_FLOAT64)
    memcpy(to->at + to->n, &s.v.f, size);
  else
    store_scalar(to->at + to->n, scalar_cast(s, dtype));
  to->n += size;
  return DAMO_OK;
}

void csv_free_numbers(damo_ctx *ctx, csv_numbers *numbers) {
  if (numbers->at) mem_free(ctx, numbers->at, numbers->cap);
  *numbers = (csv_numbers){.at = NULL};
}

bool csv_quick_number(csv *c, double *out, bool *last) {
  const char *end = number_scan(c->at, c->end, out);
  if (end == NULL || (end < c->end && *end != c->o.delimiter && *end != '\n' && *end != '\r')) return false;
  c->at = end;
  *last = at_line_end(c);
  if (*last)
    end_line(c);
  else
    c->at++;
  return true;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

damo_status csv_check_width(csv *c, int64_t n) {
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
    DAMO_TRY(csv_read_cell(c, &t, &last));
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
    DAMO_TRY(csv_read_cell(c, &t, &last));
    if (t.n > 0 && memchr(t.at, 0, t.n)) return csv_bad_cell(c, n, t, "has a zero byte in it");
    if (n > 0) strbuf_addn(names, "\n", 1);
    for (size_t i = 0; i < t.n; i++) strbuf_addn(names, t.at[i] == '\n' ? " " : &t.at[i], 1);
  }
  c->cols = n;
  c->cols_line = c->row_line;
  return names->failed ? DAMO_EMEMORY : DAMO_OK;
}

damo_status csv_read_head(csv *c, strbuf *names) {
  int64_t skip = c->o.skip;
  if (skip < 0) {
    bool numeric;
    csv_skip_blank_lines(c);
    if (c->at == c->end) return DAMO_OK;
    DAMO_TRY(is_numeric_line(c, &numeric));
    return numeric ? DAMO_OK : read_header_line(c, names);
  }
  for (int64_t i = 0; i < skip && c->at < c->end; i++) DAMO_TRY(read_header_line(c, names));
  c->cols = -1;
  return DAMO_OK;
}

static damo_status store_cell(csv *c, csv_numbers *to, int64_t col, bool *last) {
  cell_text t;
  scalar s = {.dtype = DAMO_FLOAT64};
  if (c->quick && csv_quick_number(c, &s.v.f, last)) return csv_add_number(c, to, s);
  DAMO_TRY(csv_read_cell(c, &t, last));
  DAMO_TRY(csv_number(c, col, t, &s));
  return csv_add_number(c, to, s);
}

static damo_status read_rows(csv *c, csv_numbers *to, int64_t *rows) {
  for (*rows = 0;; ++*rows) {
    csv_skip_blank_lines(c);
    if (c->at == c->end) return DAMO_OK;
    bool last = false;
    int64_t n = 0;
    c->row_line = c->line;
    for (; !last; n++) DAMO_TRY(store_cell(c, to, n, &last));
    DAMO_TRY(csv_check_width(c, n));
  }
}

static damo_array *read_matrix(csv *c, csv_numbers *numbers, strbuf *names) {
  int64_t rows = 0;
  if (csv_read_head(c, names) != DAMO_OK || read_rows(c, numbers, &rows) != DAMO_OK) return NULL;
  if (c->cols < 0 && rows == 0) {
    io_fail(c->ctx, c->path, 0, "there are no data in it");
    return NULL;
  }
  damo_array *a = array_empty(c->ctx, c->o.dtype, 2, (const int64_t[]){rows, c->cols});
  if (a && numbers->n > 0) memcpy(a->data, numbers->at, numbers->n);
  return a;
}

damo_status csv_check_delimiter(damo_ctx *ctx, const char *path, char delimiter) {
  const unsigned char d = (unsigned char)delimiter;
  const bool letter = (d >= 'a' && d <= 'z') || (d >= 'A' && d <= 'Z');
  if (!letter && d != 0 && d < 128 && strchr("\"\n\r0123456789+-.", d) == NULL) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE,
                  "%s: the delimiter must be a character that no number, quote or end of a line has, such as ';'",
                  path);
}

damo_status csv_open(csv *c, damo_ctx *ctx, const io_from *from, const csv_options *options, strbuf *file) {
  cell_text text;
  *c = (csv){.ctx = ctx, .path = from->path, .line = 1, .cols = -1};
  c->o = options ? *options : (csv_options){.skip = -1, .dtype = DAMO_FLOAT64};
  if (c->o.delimiter == 0) c->o.delimiter = ',';
  DAMO_TRY(csv_check_delimiter(ctx, from->path, c->o.delimiter));
  c->quick = !dtype_is_discrete(c->o.dtype) && c->o.n_missing == 0;
  DAMO_TRY(io_whole_text(ctx, from, file, &text));
  c->at = text.at;
  c->end = c->at + text.n;
  if (text.n >= 3 && memcmp(c->at, "\xEF\xBB\xBF", 3) == 0) c->at += 3;
  return DAMO_OK;
}

void csv_close(csv *c) {
  if (c->cell) mem_free(c->ctx, c->cell, c->cell_cap);
}

damo_array *io_read_csv(damo_ctx *ctx, const io_from *from, const csv_options *options, char **header) {
  csv c;
  csv_numbers numbers = {.at = NULL};
  strbuf file, names;
  damo_array *a = NULL;
  strbuf_init(&file, ctx);
  strbuf_init(&names, ctx);
  if (csv_open(&c, ctx, from, options, &file) == DAMO_OK) a = read_matrix(&c, &numbers, &names);
  if (a && header) {
    char *copy = names.n > 0 ? mem_strdup(ctx, names.at) : NULL;
    if (names.n > 0 && !copy) {
      damo_release(a);
      a = NULL;
    } else {
      *header = copy;
    }
  }
  csv_free_numbers(ctx, &numbers);
  csv_close(&c);
  strbuf_clear(&names);
  strbuf_clear(&file);
  return a;
}
