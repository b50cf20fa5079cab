/* csv_table: reads a CSV as columns of numbers and of texts.
 *
 * The text is read once with every column taken for numbers; a column in which a cell is none is one of texts, and the
 * text is read a second time for these.
 */
#include <string.h>

#include "csv_int.h"

typedef struct columns_reader {
  csv c;
  csv_table *t;
  csv_numbers *numbers; /* of each column of the file */
  bool *wanted, *is_text;
  strbuf *texts;
  csv_numbers *ends; /* sizes */
  int64_t n;         /* columns of the file */
} columns_reader;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The i-th of the names, which are separated by newlines; *n its length. */
static const char *header_name(const char *names, int64_t i, size_t *n) {
  for (; names != NULL && i > 0; i--) {
    names = strchr(names, '\n');
    if (names != NULL) names++;
  }
  *n = names != NULL ? strcspn(names, "\n") : 0;
  return names;
}

static damo_status name_column(csv_table *t, int64_t i, const char *name, size_t n) {
  char own[32];
  if (n == 0) {
    n = (size_t)snprintf(own, sizeof own, "c%lld", (long long)i + 1);
    name = own;
  }
  char *copy = mem_alloc(t->ctx, n + 1);
  if (copy == NULL) return DAMO_EMEMORY;
  memcpy(copy, name, n);
  copy[n] = '\0';
  t->column[i].name = copy;
  return DAMO_OK;
}

static damo_status check_names(const columns_reader *r) {
  const csv_table *t = r->t;
  for (int64_t i = 0; i < t->n; i++) {
    for (int64_t k = 0; k < i; k++) {
      if (strcmp(t->column[k].name, t->column[i].name) == 0)
        return io_fail(t->ctx, r->c.path, 0, "columns %lld and %lld have one name, '%.100s'", (long long)k + 1,
                       (long long)i + 1, t->column[i].name);
    }
  }
  return DAMO_OK;
}

static int64_t find_column(const csv_table *t, const char *name) {
  for (int64_t i = 0; i < t->n; i++) {
    if (strcmp(t->column[i].name, name) == 0) return i;
  }
  return -1;
}

/* The names of the file's columns, and which of them are wanted. */
static damo_status name_columns(columns_reader *r, const strbuf *header, const char *const *names, int64_t n_names) {
  csv_table *t = r->t;
  const bool has_header = header->n > 0;
  if (!has_header && names != NULL && n_names != r->n)
    return io_fail(t->ctx, r->c.path, 0, "there are %lld columns and no header, but %lld names", (long long)r->n,
                   (long long)n_names);
  for (int64_t i = 0; i < r->n; i++) {
    size_t n;
    const char *name = has_header ? header_name(header->at, i, &n) : names != NULL ? names[i] : NULL;
    if (!has_header) n = name != NULL ? strlen(name) : 0;
    DAMO_TRY(name_column(t, i, name, n));
    r->wanted[i] = names == NULL || !has_header;
  }
  DAMO_TRY(check_names(r));
  for (int64_t i = 0; has_header && i < n_names; i++) {
    const int64_t at = find_column(t, names[i]);
    if (at < 0) return ctx_fail(t->ctx, DAMO_EVALUE, "%s: there is no column '%.100s'", r->c.path, names[i]);
    r->wanted[at] = true;
  }
  return DAMO_OK;
}

/* The columns in the order of the names, which are among theirs, each once. */
static damo_status pick_columns(csv_table *t, const char *const *names, int64_t n_names) {
  csv_column *picked = mem_calloc(t->ctx, (size_t)n_names * sizeof *picked);
  if (picked == NULL) return DAMO_EMEMORY;
  csv_table rest = *t;
  for (int64_t i = 0; i < n_names; i++) {
    const int64_t at = find_column(&rest, names[i]);
    picked[i] = rest.column[at];
    rest.column[at] = rest.column[rest.n - 1];
    rest.column[rest.n - 1] = (csv_column){.name = NULL};
    rest.n--;
  }
  const int64_t whole = t->n;
  *t = (csv_table){.ctx = t->ctx, .column = picked, .n = n_names, .rows = t->rows};
  rest.n = whole;
  csv_table_clear(&rest);
  return DAMO_OK;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static bool is_csv_number(const csv *c, cell_text t) {
  double unused;
  return c->o.text_as_nan || number_double(t, &unused) || csv_is_missing(c, t);
}

static damo_status add_number_cell(columns_reader *r, int64_t col, bool *last) {
  csv *c = &r->c;
  cell_text t;
  scalar s = {.dtype = DAMO_FLOAT64};
  if (c->quick && csv_quick_number(c, &s.v.f, last)) {
    if (col >= r->n || r->is_text[col] || !r->wanted[col]) return DAMO_OK;
    return csv_add_number(c, &r->numbers[col], s);
  }
  DAMO_TRY(csv_read_cell(c, &t, last));
  if (col >= r->n || r->is_text[col] || !r->wanted[col]) return DAMO_OK;
  if (!is_csv_number(c, t)) {
    r->is_text[col] = true;
    csv_free_numbers(c->ctx, &r->numbers[col]);
    return DAMO_OK;
  }
  DAMO_TRY(csv_number(c, col, t, &s));
  return csv_add_number(c, &r->numbers[col], s);
}

static damo_status add_text_cell(columns_reader *r, int64_t col, bool *last) {
  csv *c = &r->c;
  cell_text t;
  DAMO_TRY(csv_read_cell(c, &t, last));
  if (!r->is_text[col] || !r->wanted[col]) return DAMO_OK;
  strbuf *texts = &r->texts[col];
  if (!csv_is_missing(c, t)) strbuf_addn(texts, c->raw.at, c->raw.n);
  const size_t end = texts->n;
  csv_numbers *ends = &r->ends[col];
  if (ends->n + sizeof end > ends->cap) {
    const size_t cap = ends->cap ? 2 * ends->cap : 4096;
    char *p = mem_realloc(c->ctx, ends->at, ends->cap, cap);
    if (p == NULL) return DAMO_EMEMORY;
    ends->at = p;
    ends->cap = cap;
  }
  memcpy(ends->at + ends->n, &end, sizeof end);
  ends->n += sizeof end;
  return texts->failed ? DAMO_EMEMORY : DAMO_OK;
}

static damo_status read_body(columns_reader *r, bool texts) {
  csv *c = &r->c;
  for (r->t->rows = 0;; ++r->t->rows) {
    csv_skip_blank_lines(c);
    if (c->at == c->end) return DAMO_OK;
    bool last = false;
    int64_t n = 0;
    c->row_line = c->line;
    for (; !last; n++) DAMO_TRY(texts ? add_text_cell(r, n, &last) : add_number_cell(r, n, &last));
    DAMO_TRY(csv_check_width(c, n));
  }
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* The number of cells of the next line, which is not read. */
static damo_status count_cells(csv *c, int64_t *n) {
  const csv before = *c;
  bool last = false;
  cell_text t;
  csv_skip_blank_lines(c);
  for (*n = 0; !last && c->at < c->end; ++*n) DAMO_TRY(csv_read_cell(c, &t, &last));
  c->at = before.at;
  c->line = before.line;
  return DAMO_OK;
}

static damo_status make_columns(columns_reader *r) {
  damo_ctx *ctx = r->c.ctx;
  const size_t n = (size_t)r->n;
  r->t->column = mem_calloc(ctx, n * sizeof *r->t->column);
  if (r->t->column == NULL) return DAMO_EMEMORY;
  r->t->n = r->n;
  r->numbers = mem_calloc(ctx, n * sizeof *r->numbers);
  r->ends = mem_calloc(ctx, n * sizeof *r->ends);
  r->texts = mem_calloc(ctx, n * sizeof *r->texts);
  r->wanted = mem_calloc(ctx, n);
  r->is_text = mem_calloc(ctx, n);
  for (size_t i = 0; r->texts != NULL && i < n; i++) strbuf_init(&r->texts[i], ctx);
  return r->numbers && r->ends && r->texts && r->wanted && r->is_text ? DAMO_OK : DAMO_EMEMORY;
}

static void free_columns(columns_reader *r) {
  damo_ctx *ctx = r->c.ctx;
  const size_t n = (size_t)r->n;
  for (size_t i = 0; r->numbers && i < n; i++) csv_free_numbers(ctx, &r->numbers[i]);
  for (size_t i = 0; r->ends && i < n; i++) csv_free_numbers(ctx, &r->ends[i]);
  for (size_t i = 0; r->texts && i < n; i++) strbuf_clear(&r->texts[i]);
  if (r->numbers) mem_free(ctx, r->numbers, n * sizeof *r->numbers);
  if (r->ends) mem_free(ctx, r->ends, n * sizeof *r->ends);
  if (r->texts) mem_free(ctx, r->texts, n * sizeof *r->texts);
  if (r->wanted) mem_free(ctx, r->wanted, n);
  if (r->is_text) mem_free(ctx, r->is_text, n);
}

/* Moves what was read into the columns. */
static damo_status give_columns(columns_reader *r) {
  for (int64_t i = 0; i < r->n; i++) {
    csv_column *col = &r->t->column[i];
    if (!r->wanted[i]) continue;
    if (r->is_text[i]) {
      col->texts = r->texts[i].at;
      col->texts_cap = r->texts[i].cap;
      col->ends = (size_t *)(void *)r->ends[i].at;
      col->ends_cap = r->ends[i].cap;
      strbuf_init(&r->texts[i], r->c.ctx);
      r->ends[i] = (csv_numbers){.at = NULL};
      continue;
    }
    col->numbers = array_empty(r->c.ctx, r->c.o.dtype, 1, &r->t->rows);
    if (col->numbers == NULL) return DAMO_EMEMORY;
    if (r->numbers[i].n > 0) memcpy(col->numbers->data, r->numbers[i].at, r->numbers[i].n);
    csv_free_numbers(r->c.ctx, &r->numbers[i]);
  }
  return DAMO_OK;
}

static damo_status read_table(columns_reader *r, const char *const *names, int64_t n_names, strbuf *header) {
  csv *c = &r->c;
  DAMO_TRY(csv_read_head(c, header));
  r->n = c->cols;
  if (c->cols < 0) DAMO_TRY(count_cells(c, &r->n));
  if (r->n <= 0) return io_fail(c->ctx, c->path, 0, "there are no data in it");
  DAMO_TRY(make_columns(r));
  DAMO_TRY(name_columns(r, header, names, n_names));
  const csv body = *c;
  DAMO_TRY(read_body(r, false));
  if (c->cols < 0) r->c.cols = r->n;
  bool any = false;
  for (int64_t i = 0; i < r->n; i++) any = any || (r->is_text[i] && r->wanted[i]);
  if (any) {
    c->at = body.at;
    c->line = body.line;
    DAMO_TRY(read_body(r, true));
  }
  DAMO_TRY(give_columns(r));
  return names != NULL ? pick_columns(r->t, names, n_names) : DAMO_OK;
}

static damo_status check_wanted(damo_ctx *ctx, const char *const *names, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < i; k++) {
      if (strcmp(names[k], names[i]) == 0)
        return ctx_fail(ctx, DAMO_EVALUE, "read_csv: the column '%.100s' is listed twice", names[i]);
    }
  }
  return DAMO_OK;
}

damo_status io_read_csv_table(damo_ctx *ctx, const io_from *from, const csv_options *options, const char *const *names,
                              int64_t n_names, csv_table *out) {
  columns_reader r = {.t = out};
  strbuf file, header;
  *out = (csv_table){.ctx = ctx};
  DAMO_TRY(check_wanted(ctx, names, n_names));
  strbuf_init(&file, ctx);
  strbuf_init(&header, ctx);
  damo_status s = csv_open(&r.c, ctx, from, options, &file);
  if (s == DAMO_OK) s = read_table(&r, names, n_names, &header);
  free_columns(&r);
  csv_close(&r.c);
  strbuf_clear(&header);
  strbuf_clear(&file);
  if (s != DAMO_OK) csv_table_clear(out);
  return s;
}

void csv_table_clear(csv_table *t) {
  for (int64_t i = 0; i < t->n; i++) {
    csv_column *c = &t->column[i];
    mem_strfree(t->ctx, c->name);
    damo_release(c->numbers);
    if (c->texts) mem_free(t->ctx, c->texts, c->texts_cap);
    if (c->ends) mem_free(t->ctx, c->ends, c->ends_cap);
  }
  if (t->column) mem_free(t->ctx, t->column, (size_t)t->n * sizeof *t->column);
  *t = (csv_table){.ctx = t->ctx};
}
