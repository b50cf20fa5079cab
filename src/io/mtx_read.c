/* mtx_read: Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935; math.nist.gov/MatrixMarket/formats.html).
 *
 * Blank lines and lines that begin with % may occur anywhere after the first line. Every other line is one record: the
 * sizes, then one entry per line. Counts in a file are not trusted: they are checked against the number of bytes that
 * follow before memory is allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "io_int.h"

typedef enum mtx_field { FIELD_REAL, FIELD_INTEGER, FIELD_COMPLEX, FIELD_PATTERN } mtx_field;

typedef struct mtx {
  damo_ctx *ctx;
  const char *path;
  const char *at, *end; /* the rest of the text */
  int64_t line;         /* line number of the current record, from 1 */
  bool array;
  bool header; /* the file has its first line */
  mtx_field field;
  mtx_symmetry symmetry;
  damo_dtype dtype; /* of the values */
  damo_format format;
  int64_t shape[2], listed;
  /* The entries so far: positions (coordinate files only) and values. */
  int64_t n, cap, value_cap;
  int64_t *row, *col;
  char *value;
} mtx;

static damo_status mtx_bad_line(const mtx *m, const char *fmt, ...) PRINTF_LIKE(2, 3);
static damo_status mtx_bad_line(const mtx *m, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return io_fail(m->ctx, m->path, 0, "line %lld: %s", (long long)m->line, text);
}

/* ---- Lines and words --------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static cell_text trimmed(const char *at, const char *end) {
  while (at < end && is_blank(*at)) at++;
  while (end > at && is_blank(end[-1])) end--;
  return (cell_text){at, (size_t)(end - at)};
}

/* Reads the next line, blank or not, trimmed; false at the end of the text. */
static bool mtx_next_line(mtx *m, cell_text *out) {
  if (m->at == m->end) return false;
  const char *stop = memchr(m->at, '\n', (size_t)(m->end - m->at));
  const char *end = stop ? stop : m->end;
  *out = trimmed(m->at, end);
  m->at = stop ? stop + 1 : m->end;
  m->line++;
  return true;
}

static bool mtx_next_word(cell_text *rest, cell_text *out) {
  while (rest->n > 0 && is_blank(*rest->at)) rest->at++, rest->n--;
  size_t n = 0;
  while (n < rest->n && !is_blank(rest->at[n])) n++;
  *out = (cell_text){rest->at, n};
  rest->at += n, rest->n -= n;
  return n > 0;
}

static bool mtx_is_word(cell_text t, const char *word) {
  if (t.n != strlen(word)) return false;
  for (size_t i = 0; i < t.n; i++) {
    const char c = t.at[i] >= 'A' && t.at[i] <= 'Z' ? (char)(t.at[i] | 0x20) : t.at[i];
    if (c != word[i]) return false;
  }
  return true;
}

static int cell_shown(cell_text t) { return t.n < 60 ? (int)t.n : 60; }

/* "%%GraphBLAS type …" names the type of the values before they were written; used if the field is integer. */
static void read_comment(mtx *m, cell_text line) {
  cell_text word;
  if (!mtx_next_word(&line, &word) || !mtx_is_word(word, "%%graphblas")) return;
  if (!mtx_next_word(&line, &word) || !mtx_is_word(word, "type")) return;
  if (m->field != FIELD_INTEGER || !mtx_next_word(&line, &word)) return;
  if (mtx_is_word(word, "uint64_t")) m->dtype = DAMO_UINT64;
  if (mtx_is_word(word, "float") || mtx_is_word(word, "double")) m->dtype = DAMO_FLOAT64;
}

/* Reads the next record; false at the end of the text. */
static bool next_record(mtx *m, cell_text *out) {
  while (mtx_next_line(m, out)) {
    if (out->n == 0) continue;
    if (*out->at != '%') return true;
    read_comment(m, *out);
  }
  return false;
}

/* ---- First line and sizes ---------------------------------------------------------------------------------------- */

static damo_status read_kind(mtx *m, cell_text *line) {
  cell_text w;
  if (!mtx_next_word(line, &w) || !mtx_is_word(w, "matrix"))
    return mtx_bad_line(m, "'%.*s' is not an object that can be read, expected matrix", cell_shown(w), w.at);
  if (!mtx_next_word(line, &w) || !(mtx_is_word(w, "coordinate") || mtx_is_word(w, "array")))
    return mtx_bad_line(m, "'%.*s' is not a format, expected coordinate or array", cell_shown(w), w.at);
  m->array = mtx_is_word(w, "array");
  return DAMO_OK;
}

static damo_status read_field(mtx *m, cell_text *line) {
  static const struct {
    const char *name;
    mtx_field field;
    damo_dtype dtype;
  } fields[] = {{"real", FIELD_REAL, DAMO_FLOAT64},          {"double", FIELD_REAL, DAMO_FLOAT64},
                {"integer", FIELD_INTEGER, DAMO_INT64},      {"unsigned-integer", FIELD_INTEGER, DAMO_UINT64},
                {"complex", FIELD_COMPLEX, DAMO_COMPLEX128}, {"pattern", FIELD_PATTERN, DAMO_FLOAT64}};
  cell_text w;
  mtx_next_word(line, &w);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (!mtx_is_word(w, fields[i].name)) continue;
    m->field = fields[i].field;
    m->dtype = fields[i].dtype;
    if (m->array && m->field == FIELD_PATTERN) return mtx_bad_line(m, "an array file can't have the field pattern");
    return DAMO_OK;
  }
  return mtx_bad_line(m, "'%.*s' is not a field, expected real, integer, complex or pattern", cell_shown(w), w.at);
}

static damo_status read_symmetry(mtx *m, cell_text *line) {
  static const char *const names[] = {[MTX_GENERAL] = "general",
                                      [MTX_SYMMETRIC] = "symmetric",
                                      [MTX_SKEW] = "skew-symmetric",
                                      [MTX_HERMITIAN] = "hermitian"};
  cell_text w;
  mtx_next_word(line, &w);
  for (int i = 0; i < 4; i++) {
    if (!mtx_is_word(w, names[i])) continue;
    m->symmetry = (mtx_symmetry)i;
    if (m->field == FIELD_PATTERN && m->symmetry == MTX_SKEW)
      return mtx_bad_line(m, "a pattern can't be skew-symmetric");
    return DAMO_OK;
  }
  return mtx_bad_line(m, "'%.*s' is not a symmetry, expected general, symmetric, skew-symmetric or hermitian",
                      cell_shown(w), w.at);
}

static damo_status mtx_read_header(mtx *m) {
  cell_text line, w;
  const char *start = m->at;
  if (!mtx_next_line(m, &line)) return io_fail(m->ctx, m->path, 0, "the file is empty");
  if (!mtx_next_word(&line, &w) || !mtx_is_word(w, "%%matrixmarket")) { /* the number of sizes decides */
    m->at = start;
    m->line = 0;
    return DAMO_OK;
  }
  m->header = true;
  DAMO_TRY(read_kind(m, &line));
  DAMO_TRY(read_field(m, &line));
  DAMO_TRY(read_symmetry(m, &line));
  if (mtx_next_word(&line, &w)) return mtx_bad_line(m, "'%.*s' follows the symmetry", cell_shown(w), w.at);
  return DAMO_OK;
}

/* Parses a count or a position: digits only. */
static bool read_count(cell_text t, int64_t *out) {
  int64_t n = 0;
  if (t.n > 0 && *t.at == '+') t.at++, t.n--;
  if (t.n == 0) return false;
  for (size_t i = 0; i < t.n; i++) {
    if (t.at[i] < '0' || t.at[i] > '9' || n > (INT64_MAX - 9) / 10) return false;
    n = 10 * n + (t.at[i] - '0');
  }
  *out = n;
  return true;
}

/* Sets m->listed, the number of entries that an array file lists. The size in bytes must fit 64 bits even for a matrix
 * without entries. */
static damo_status count_array(mtx *m) {
  const int64_t n = m->shape[0], cols = m->shape[1];
  int64_t bytes;
  if (!i64_mul(n > 0 ? n : 1, (int64_t)sizeof(damo_c128), &bytes) || !i64_mul(bytes, cols > 0 ? cols : 1, &bytes))
    return mtx_bad_line(m, "a matrix of %lld by %lld is too large", (long long)n, (long long)cols);
  m->listed = n * cols;
  if (m->symmetry != MTX_GENERAL && n > 0) m->listed = n * (m->symmetry == MTX_SKEW ? n - 1 : n + 1) / 2;
  return DAMO_OK;
}

/* Refuses a number of entries that the rest of the file can't hold, before memory is allocated for them. */
static damo_status check_listed(const mtx *m) {
  const int64_t value = m->field == FIELD_PATTERN ? 0 : m->field == FIELD_COMPLEX ? 4 : 2;
  const int64_t least = value + (m->array ? 0 : 4), left = (int64_t)(m->end - m->at) + 1;
  if (m->listed <= left / least) return DAMO_OK;
  return mtx_bad_line(m, "%lld entries are announced, and the %lld bytes that follow can't hold them",
                      (long long)m->listed, (long long)left - 1);
}

#define MAJORS_FREE ((int64_t)1 << 24) /* numbers of rows (columns) up to this are always accepted */

/* indptr has an element for each row (column), however few entries there are. A file that declares vastly more rows
 * than its bytes of entries is considered damaged. */
static damo_status mtx_check_majors(const mtx *m) {
  const int64_t n_major = m->shape[m->format == DAMO_CSC], bytes = (int64_t)(m->end - m->at);
  if (n_major <= MAJORS_FREE || n_major / 4096 <= bytes) return DAMO_OK;
  return mtx_bad_line(m, "a %s matrix of %lld %s for %lld bytes of entries is refused (the other format may do)",
                      sparse_format_name(m->format), (long long)n_major, m->format == DAMO_CSR ? "rows" : "columns",
                      (long long)bytes);
}

static damo_status read_sizes(mtx *m) {
  cell_text line, w;
  int64_t at[4];
  int n = 0;
  if (!next_record(m, &line)) return io_fail(m->ctx, m->path, 0, "the file ends before the line of sizes");
  for (; n < 4 && mtx_next_word(&line, &w); n++) {
    if (!read_count(w, &at[n])) return mtx_bad_line(m, "'%.*s' is not a size", cell_shown(w), w.at);
  }
  if (!m->header) m->array = n == 2;
  if (n != (m->array ? 2 : 3))
    return mtx_bad_line(m, "%s sizes, expected %s",
                        n == 0   ? "no"
                        : n > 3  ? "too many"
                        : n == 1 ? "1"
                        : n == 2 ? "2"
                                 : "3",
                        m->array ? "2: rows and columns" : "3: rows, columns and entries");
  m->shape[0] = at[0], m->shape[1] = at[1];
  if (m->symmetry != MTX_GENERAL && at[0] != at[1])
    return mtx_bad_line(m, "%lld rows and %lld columns, but the matrix is symmetric, so they should be equal",
                        (long long)at[0], (long long)at[1]);
  if (at[0] == INT64_MAX || at[1] == INT64_MAX) return mtx_bad_line(m, "the matrix is too large");
  if (m->array) {
    DAMO_TRY(count_array(m));
  } else {
    m->listed = at[2];
    DAMO_TRY(mtx_check_majors(m));
  }
  return check_listed(m);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

/* Parses a 64-bit integer exactly. */
static damo_status read_integer(const mtx *m, cell_text t, char *out) {
  const cell_text word = t;
  const bool negative = t.n > 0 && *t.at == '-';
  const uint64_t most = m->dtype == DAMO_UINT64 ? (negative ? 0 : UINT64_MAX) : (uint64_t)INT64_MAX + negative;
  uint64_t n = 0;
  if (t.n > 0 && (*t.at == '-' || *t.at == '+')) t.at++, t.n--;
  if (t.n == 0) return mtx_bad_line(m, "'%.*s' is not an integer", cell_shown(word), word.at);
  for (size_t i = 0; i < t.n; i++) {
    const uint64_t digit = (uint64_t)(t.at[i] - '0');
    if (t.at[i] < '0' || t.at[i] > '9') return mtx_bad_line(m, "'%.*s' is not an integer", cell_shown(word), word.at);
    if (n > (most - digit) / 10 || digit > most)
      return mtx_bad_line(m, "'%.*s' does not fit %s", cell_shown(word), word.at, dtype_name(m->dtype));
    n = 10 * n + digit;
  }
  n = negative ? 0 - n : n;
  memcpy(out, &n, sizeof n);
  return DAMO_OK;
}

static damo_status read_double(const mtx *m, cell_text t, double *out) {
  if (t.n > 0 && number_double(t, out)) return DAMO_OK;
  return mtx_bad_line(m, "'%.*s' is not a number", cell_shown(t), t.at);
}

/* Parses the value on the rest of a line and appends it to the values. */
static damo_status read_value(mtx *m, cell_text *line) {
  cell_text w = {NULL, 0};
  char *out = m->value + (size_t)m->n * dtype_size(m->dtype);
  double part[2] = {1, 0};
  if (m->field != FIELD_PATTERN) {
    const int parts = m->field == FIELD_COMPLEX ? 2 : 1;
    for (int i = 0; i < parts; i++) {
      if (!mtx_next_word(line, &w)) return mtx_bad_line(m, "the entry has no %s", i ? "imaginary part" : "value");
      if (dtype_is_integer(m->dtype))
        DAMO_TRY(read_integer(m, w, out));
      else
        DAMO_TRY(read_double(m, w, &part[i]));
    }
  }
  if (mtx_next_word(line, &w)) return mtx_bad_line(m, "'%.*s' follows the entry", cell_shown(w), w.at);
  if (!dtype_is_integer(m->dtype)) memcpy(out, part, dtype_size(m->dtype));
  return DAMO_OK;
}

static damo_status read_place(mtx *m, cell_text *line) {
  int64_t *const to[2] = {&m->row[m->n], &m->col[m->n]};
  for (int i = 0; i < 2; i++) {
    cell_text w;
    if (!mtx_next_word(line, &w)) return mtx_bad_line(m, "the entry has no %s", i ? "column" : "row");
    if (!read_count(w, to[i])) return mtx_bad_line(m, "'%.*s' is not a position", cell_shown(w), w.at);
    if (*to[i] < 1 || *to[i] > m->shape[i])
      return mtx_bad_line(m, "%s %lld, expected 1 to %lld", i ? "column" : "row", (long long)*to[i],
                          (long long)m->shape[i]);
    --*to[i];
  }
  return DAMO_OK;
}

static bool is_zero(const mtx *m, const char *value) {
  if (m->dtype == DAMO_COMPLEX128)
    return ((const damo_c128 *)(const void *)value)->re == 0 && ((const damo_c128 *)(const void *)value)->im == 0;
  if (m->dtype == DAMO_FLOAT64) return *(const double *)(const void *)value == 0;
  return *(const uint64_t *)(const void *)value == 0;
}

/* *to = the mirror image of *from across the diagonal, as the symmetry says. */
static void mirror_value(const mtx *m, const char *from, char *to) {
  memcpy(to, from, dtype_size(m->dtype));
  if (m->symmetry == MTX_HERMITIAN && m->dtype == DAMO_COMPLEX128) {
    damo_c128 *z = (damo_c128 *)(void *)to;
    z->im = -z->im;
  } else if (m->symmetry == MTX_SKEW) {
    if (dtype_is_integer(m->dtype)) {
      *(uint64_t *)(void *)to = 0 - *(uint64_t *)(void *)to;
    } else {
      double *part = (double *)(void *)to;
      part[0] = -part[0];
      if (m->dtype == DAMO_COMPLEX128) part[1] = -part[1];
    }
  }
}

/* Completes the entry just read, and adds its mirror image if the matrix is symmetric. */
static damo_status mtx_add_entry(mtx *m) {
  const size_t size = dtype_size(m->dtype);
  const char *value = m->value + (size_t)m->n * size;
  const int64_t i = m->row[m->n], j = m->col[m->n];
  m->n++;
  if (m->symmetry == MTX_GENERAL) return DAMO_OK;
  if (i == j) {
    if (m->symmetry != MTX_SKEW || is_zero(m, value)) return DAMO_OK;
    return mtx_bad_line(m, "an entry on the diagonal of a skew-symmetric matrix is not 0");
  }
  m->row[m->n] = j;
  m->col[m->n] = i;
  mirror_value(m, value, m->value + (size_t)m->n * size);
  m->n++;
  return DAMO_OK;
}

static damo_status read_coordinates(mtx *m) {
  cell_text line;
  for (int64_t k = 0; k < m->listed; k++) {
    if (!next_record(m, &line))
      return mtx_bad_line(m, "the file ends after %lld of %lld entries", (long long)k, (long long)m->listed);
    DAMO_TRY(read_place(m, &line));
    DAMO_TRY(read_value(m, &line));
    DAMO_TRY(mtx_add_entry(m));
  }
  return DAMO_OK;
}

static damo_status check_end(mtx *m) {
  cell_text line;
  if (!next_record(m, &line)) return DAMO_OK;
  return mtx_bad_line(m, "text follows the %lld entries announced", (long long)m->listed);
}

static damo_status take_memory(mtx *m) {
  m->cap = m->array ? 0 : m->symmetry == MTX_GENERAL ? m->listed : 2 * m->listed;
  m->value_cap = (m->array ? m->listed : m->cap) * (int64_t)dtype_size(m->dtype);
  m->value = mem_alloc(m->ctx, (size_t)m->value_cap);
  m->row = m->value ? mem_alloc(m->ctx, (size_t)m->cap * sizeof *m->row) : NULL;
  m->col = m->row ? mem_alloc(m->ctx, (size_t)m->cap * sizeof *m->col) : NULL;
  return m->col ? DAMO_OK : DAMO_EMEMORY;
}

static void free_memory(mtx *m) {
  if (m->value) mem_free(m->ctx, m->value, (size_t)m->value_cap);
  if (m->row) mem_free(m->ctx, m->row, (size_t)m->cap * sizeof *m->row);
  if (m->col) mem_free(m->ctx, m->col, (size_t)m->cap * sizeof *m->col);
}

/* ---- Array files ------------------------------------------------------------------------------------------------- */

static damo_status read_listed(mtx *m) {
  cell_text line;
  for (m->n = 0; m->n < m->listed; m->n++) {
    if (!next_record(m, &line))
      return mtx_bad_line(m, "the file ends after %lld of %lld entries", (long long)m->n, (long long)m->listed);
    DAMO_TRY(read_value(m, &line));
  }
  return DAMO_OK;
}

/* Entries are listed column by column; of a symmetric matrix only those from the diagonal down (skew: below the
 * diagonal). */
static void mtx_fill_dense(const mtx *m, damo_array *out) {
  const size_t size = dtype_size(m->dtype);
  const char *from = m->value;
  for (int64_t j = 0; j < m->shape[1]; j++) {
    const int64_t first = m->symmetry == MTX_GENERAL ? 0 : m->symmetry == MTX_SKEW ? j + 1 : j;
    for (int64_t i = first; i < m->shape[0]; i++, from += size) {
      memcpy(out->data + (size_t)(i * m->shape[1] + j) * size, from, size);
      if (m->symmetry != MTX_GENERAL && i != j) mirror_value(m, from, out->data + (size_t)(j * m->shape[1] + i) * size);
    }
  }
}

static damo_obj *read_array(mtx *m) {
  if (read_listed(m) != DAMO_OK || check_end(m) != DAMO_OK) return NULL;
  damo_array *a = damo_array_new(m->ctx, m->dtype, 2, m->shape);
  if (!a) return NULL;
  if (m->listed > 0) mtx_fill_dense(m, a);
  return &a->obj;
}

static damo_obj *read_sparse(mtx *m) {
  if (read_coordinates(m) != DAMO_OK || check_end(m) != DAMO_OK) return NULL;
  damo_sparse *a =
      sparse_from_places(m->ctx, m->format, m->dtype, m->shape, m->n, m->row, m->col, m->value, DAMO_INT32, false);
  return a ? &a->obj : NULL;
}

damo_obj *mtx_parse(damo_ctx *ctx, const char *path, const char *text, size_t n, damo_format format) {
  mtx m = {.ctx = ctx, .path = path, .at = text, .end = text + n, .dtype = DAMO_FLOAT64, .format = format};
  damo_obj *out = NULL;
  if (n >= 2 && memcmp(text, "\x1F\x8B", 2) == 0) {
    io_fail(ctx, path, 0, "compressed by gzip; decompress it first (gunzip)");
    return NULL;
  }
  if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) m.at += 3;
  damo_status status = mtx_read_header(&m);
  if (status == DAMO_OK) status = read_sizes(&m);
  if (status == DAMO_OK) status = take_memory(&m);
  if (status == DAMO_OK) out = m.array ? read_array(&m) : read_sparse(&m);
  free_memory(&m);
  return out;
}

damo_obj *io_read_mtx(damo_ctx *ctx, const io_from *from, damo_format format) {
  strbuf file;
  cell_text text;
  damo_obj *out = NULL;
  strbuf_init(&file, ctx);
  if (io_whole_text(ctx, from, &file, &text) == DAMO_OK) out = mtx_parse(ctx, from->path, text.at, text.n, format);
  strbuf_clear(&file);
  return out;
}
