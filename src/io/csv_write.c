/* csv_write: a table of numbers as text: one row a line, cells separated by delimiters, each value with as few digits as
 * reading it back exactly takes.
 */
#include <math.h>
#include <string.h>

#include "csv_int.h"

typedef struct csv_writer {
  io_sink sink;
  char delimiter;
} csv_writer;

static damo_status put_name(csv_writer *w, const char *name) {
  const char special[] = {w->delimiter, '"', '\n', '\r', ' ', '\t', '\0'};
  if (*name && !strpbrk(name, special)) return sink_write(&w->sink, name, strlen(name));
  DAMO_TRY(sink_write(&w->sink, "\"", 1));
  for (const char *end; *name; name = end) {
    end = strchr(name, '"');
    end = end ? end + 1 : name + strlen(name);
    DAMO_TRY(sink_write(&w->sink, name, (size_t)(end - name)));
    if (end[-1] == '"') DAMO_TRY(sink_write(&w->sink, "\"", 1));
  }
  return sink_write(&w->sink, "\"", 1);
}

static damo_status put_header_line(csv_writer *w, const csv_write_options *o) {
  for (int64_t i = 0; i < o->n_header; i++) {
    if (i > 0) DAMO_TRY(sink_write(&w->sink, &w->delimiter, 1));
    DAMO_TRY(put_name(w, o->header[i]));
  }
  return sink_write(&w->sink, "\n", 1);
}

/* A line of blanks alone is skipped by readers, so nan is written as a word in a table of one column. */
static size_t csv_cell(scalar s, bool alone, char dst[NUMBER_TEXT]) {
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL:
    case KIND_INT: return (size_t)snprintf(dst, NUMBER_TEXT, "%lld", (long long)s.v.i);
    case KIND_UINT: return (size_t)snprintf(dst, NUMBER_TEXT, "%llu", (unsigned long long)s.v.u);
    case KIND_COMPLEX:
    case KIND_FLOAT: break;
  }
  return isnan(s.v.f) && !alone ? 0 : number_shortest(s.v.f, s.dtype == DAMO_FLOAT32, dst);
}

static damo_status put_rows(csv_writer *w, const damo_array *a) {
  char text[NUMBER_TEXT + 1];
  const int64_t rows = array_shape(a)[0], cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      size_t n = csv_cell(array_get(a, (const int64_t[]){i, j}), cols == 1, text);
      text[n++] = j + 1 < cols ? w->delimiter : '\n';
      DAMO_TRY(sink_write(&w->sink, text, n));
    }
  }
  return DAMO_OK;
}

static damo_status check_table(const io_to *to, const damo_array *a, const csv_write_options *o) {
  char shape[256];
  damo_ctx *ctx = a->obj.ctx;
  if (dtype_is_complex(array_dtype(a)))
    return ctx_fail(ctx, DAMO_ETYPE, "%s: a CSV holds no complex numbers, got %s", to->path,
                    dtype_name(array_dtype(a)));
  if (a->ndim != 1 && a->ndim != 2)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: the array has shape %s, expected a matrix", to->path,
                    shape_format(shape, sizeof shape, a->ndim, array_shape(a)));
  const int64_t cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  if (cols == 0) return ctx_fail(ctx, DAMO_ESHAPE, "%s: a CSV needs columns, the array has none", to->path);
  if (o->header && o->n_header != cols)
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: the header has %lld names, the array %lld columns", to->path,
                    (long long)o->n_header, (long long)cols);
  return o->delimiter != 0 ? csv_check_delimiter(ctx, to->path, o->delimiter) : DAMO_OK;
}

damo_status io_write_csv(const io_to *to, const damo_array *a, const csv_write_options *options) {
  csv_writer w = {.delimiter = options && options->delimiter ? options->delimiter : ','};
  static const csv_write_options plain = {.header = NULL};
  const csv_write_options *o = options ? options : &plain;
  DAMO_TRY(check_table(to, a, o));
  DAMO_TRY(sink_open(&w.sink, a->obj.ctx, to));
  damo_status status = o->header ? put_header_line(&w, o) : DAMO_OK;
  if (status == DAMO_OK) status = put_rows(&w, a);
  return sink_close(&w.sink, status);
}
