/* public_csv: the part of damo.h that reads and writes CSV: matrices, and tables of columns. */
#include "public_int.h"

static damo_status csv_check_texts(damo_ctx *ctx, const char *func, const char *what, const char *const *texts,
                                   int64_t n) {
  DAMO_TRY(ctx_check_list(ctx, func, what, texts, n));
  for (int64_t i = 0; i < n; i++) DAMO_TRY(ctx_check_given(ctx, func, "a text", texts[i]));
  return DAMO_OK;
}

/* ---- Matrices --------------------------------------------------------------------------------------------------- */

/* The options as readers take them; `given` keeps what they refer to. */
static damo_status csv_read_options(damo_ctx *ctx, const char *func, const damo_csv_options *options,
                                    damo_csv_options *given, csv_options *o) {
  DAMO_TRY(ctx_read_options(ctx, func, options, given, sizeof *given));
  DAMO_TRY(csv_check_texts(ctx, func, "missing", given->missing, given->n_missing));
  DAMO_TRY(csv_check_texts(ctx, func, "columns", given->columns, given->n_columns));
  *o = (csv_options){.delimiter = given->delimiter,
                     .skip = given->skip == 0  ? -1
                             : given->skip < 0 ? 0
                                               : given->skip,
                     .dtype = DAMO_FLOAT64,
                     .text_as_nan = given->text_as_nan,
                     .missing = given->missing,
                     .n_missing = given->n_missing};
  if (given->dtype == NULL || damo_dtype_from_name(given->dtype, &o->dtype)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%s: there is no dtype '%s'", func, given->dtype);
}

static damo_array *csv_of(damo_ctx *ctx, const char *func, const io_from *from, const damo_csv_options *options,
                          char **header) {
  damo_csv_options given;
  csv_options o;
  if (csv_read_options(ctx, func, options, &given, &o) != DAMO_OK) return NULL;
  if (given.n_columns > 0) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: columns are read by damo_csv_read_table", func);
    return NULL;
  }
  return io_read_csv(ctx, from, &o, header);
}

damo_array *damo_csv_read(damo_ctx *ctx, const char *path, const damo_csv_options *options, char **header) {
  if (ctx_check_given(ctx, "damo_csv_read", "path", path) != DAMO_OK) return NULL;
  return csv_of(ctx, "damo_csv_read", IO_FROM_FILE(path), options, header);
}

damo_array *damo_csv_parse(damo_ctx *ctx, const void *bytes, size_t n, const damo_csv_options *options, char **header) {
  const io_from from = public_from(bytes, n);
  if (public_check_bytes(ctx, "damo_csv_parse", bytes, n) != DAMO_OK) return NULL;
  return csv_of(ctx, "damo_csv_parse", &from, options, header);
}

static damo_status csv_check_header(damo_ctx *ctx, const char *func, const char *const *header, int64_t n) {
  DAMO_TRY(ctx_check_list(ctx, func, "header", header, n));
  for (int64_t i = 0; i < n; i++) DAMO_TRY(ctx_check_given(ctx, func, "a name", header[i]));
  return DAMO_OK;
}

damo_status damo_csv_write(const char *path, const damo_array *a, const char *const *header, int64_t n_header) {
  static const char func[] = "damo_csv_write";
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, func, "path", path));
  DAMO_TRY(csv_check_header(a->obj.ctx, func, header, n_header));
  const csv_write_options o = {.header = n_header ? header : NULL, .n_header = n_header};
  return io_write_csv(IO_TO_FILE(path), a, &o);
}

damo_status damo_csv_format(const damo_array *a, const char *const *header, int64_t n_header, damo_bytes *out) {
  static const char func[] = "damo_csv_format";
  strbuf text;
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, func, "out", out));
  DAMO_TRY(csv_check_header(a->obj.ctx, func, header, n_header));
  const csv_write_options o = {.header = n_header ? header : NULL, .n_header = n_header};
  const io_to to = public_into(a->obj.ctx, &text);
  return public_give(&text, io_write_csv(&to, a, &o), out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

struct damo_csv_table {
  csv_table read;
};

static damo_csv_table *csv_table_of(damo_ctx *ctx, const char *func, const io_from *from,
                                    const damo_csv_options *options) {
  damo_csv_options given;
  csv_options o;
  if (csv_read_options(ctx, func, options, &given, &o) != DAMO_OK) return NULL;
  damo_csv_table *t = mem_calloc(ctx, sizeof *t);
  if (t == NULL) return NULL;
  t->read.ctx = damo_ctx_retain(ctx);
  if (io_read_csv_table(ctx, from, &o, given.n_columns > 0 ? given.columns : NULL, given.n_columns, &t->read) ==
      DAMO_OK)
    return t;
  damo_csv_table_free(t);
  return NULL;
}

damo_csv_table *damo_csv_read_table(damo_ctx *ctx, const char *path, const damo_csv_options *options) {
  static const char func[] = "damo_csv_read_table";
  return ctx_check_given(ctx, func, "path", path) == DAMO_OK ? csv_table_of(ctx, func, IO_FROM_FILE(path), options)
                                                             : NULL;
}

damo_csv_table *damo_csv_parse_table(damo_ctx *ctx, const void *bytes, size_t n, const damo_csv_options *options) {
  static const char func[] = "damo_csv_parse_table";
  const io_from from = public_from(bytes, n);
  return public_check_bytes(ctx, func, bytes, n) == DAMO_OK ? csv_table_of(ctx, func, &from, options) : NULL;
}

void damo_csv_table_free(damo_csv_table *t) {
  if (t == NULL) return;
  damo_ctx *ctx = t->read.ctx;
  csv_table_clear(&t->read);
  mem_free(ctx, t, sizeof *t);
  damo_ctx_release(ctx);
}

int64_t damo_csv_table_size(const damo_csv_table *t) { return t != NULL ? t->read.n : 0; }
int64_t damo_csv_table_rows(const damo_csv_table *t) { return t != NULL ? t->read.rows : 0; }

static const csv_column *column_at(const damo_csv_table *t, int64_t i) {
  return i >= 0 && i < damo_csv_table_size(t) ? &t->read.column[i] : NULL;
}

const char *damo_csv_table_get_name(const damo_csv_table *t, int64_t i) {
  const csv_column *c = column_at(t, i);
  return c != NULL ? c->name : NULL;
}

damo_array *damo_csv_table_get_numbers(const damo_csv_table *t, int64_t i) {
  const csv_column *c = column_at(t, i);
  return c != NULL ? c->numbers : NULL;
}

const char *damo_csv_table_get_text(const damo_csv_table *t, int64_t i, int64_t row, size_t *n) {
  const csv_column *c = column_at(t, i);
  if (c == NULL || c->numbers != NULL || row < 0 || row >= t->read.rows) return NULL;
  const size_t from = row > 0 ? c->ends[row - 1] : 0;
  if (n != NULL) *n = c->ends[row] - from;
  return c->texts != NULL ? c->texts + from : "";
}
