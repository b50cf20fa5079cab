/* trace.c: the user's lines that made a node, and for the memo of compiled graphs the numbers of the nodes that it stands
 * for. */
#include "graph_int.h"

#include <string.h>

/* The place behind the text, aligned for the numbers. */
static size_t trace_text_bytes(int32_t size) { return ((size_t)size + 3) & ~(size_t)3; }

static void trace_destroy(damo_obj *obj) {
  damo_trace *t = (damo_trace *)obj;
  obj_free(obj, sizeof *t + trace_text_bytes(t->size) + (size_t)t->n_sources * sizeof(int32_t));
}

const int32_t *trace_sources(const damo_trace *t) { return (const int32_t *)(t->text + trace_text_bytes(t->size)); }

static damo_trace *trace_make(damo_ctx *ctx, const char *text, int32_t n_made, const int32_t *sources,
                              int32_t n_sources) {
  const int32_t size = (int32_t)strlen(text) + 1;
  const size_t numbers = (size_t)n_sources * sizeof *sources;
  damo_trace *t = obj_new(ctx, OBJ_TRACE, sizeof *t + trace_text_bytes(size) + numbers);
  if (t == NULL) return NULL;
  t->size = size;
  t->n_made = n_made;
  t->n_sources = n_sources;
  memcpy(t->text, text, (size_t)size);
  if (n_sources > 0) memcpy(t->text + trace_text_bytes(size), sources, numbers);
  return t;
}

damo_trace *trace_new(damo_ctx *ctx, const char *text) { return trace_make(ctx, text, 1, NULL, 0); }

damo_trace *trace_new_numbered(damo_ctx *ctx, const damo_trace *t, int32_t number) {
  return trace_make(ctx, t->text, t->n_made, &number, 1);
}

damo_trace *trace_copy_to(damo_ctx *ctx, const damo_trace *t) {
  return trace_make(ctx, t->text, t->n_made, trace_sources(t), t->n_sources);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* The length of the line at `text`. */
static size_t trace_line(const char *text) { return strcspn(text, "\n"); }
static const char *trace_next(const char *line) {
  const char *end = line + trace_line(line);
  return *end == '\n' ? end + 1 : end;
}

typedef struct trace_joiner {
  const char *line[TRACE_MOST_MADE]; /* the innermost lines, each once */
  int32_t n_lines;
  int32_t sources[TRACE_MOST_SOURCES], n_sources;
} trace_joiner;

static void join_line(trace_joiner *j, const char *line) {
  const size_t length = trace_line(line);
  for (int32_t i = 0; i < j->n_lines; i++) {
    if (trace_line(j->line[i]) == length && memcmp(j->line[i], line, length) == 0) return;
  }
  j->line[j->n_lines++] = line;
}

/* Appends the numbers of t that are lacking; there are none at all where one trace has none, or where they are too
 * many. */
static void join_sources(trace_joiner *j, const damo_trace *t) {
  const int32_t *more = trace_sources(t), n = j->n_sources;
  if (n == 0) return;
  if (t->n_sources == 0) j->n_sources = 0;
  for (int32_t k = 0; k < t->n_sources; k++) {
    bool known = false;
    for (int32_t i = 0; i < n && !known; i++) known = j->sources[i] == more[k];
    if (known) continue;
    if (j->n_sources == TRACE_MOST_SOURCES) {
      j->n_sources = 0;
      return;
    }
    j->sources[j->n_sources++] = more[k];
  }
}

static void join_trace(trace_joiner *j, const damo_trace *t) {
  join_sources(j, t);
  const char *line = t->text;
  for (int32_t i = 0; i < t->n_made && j->n_lines < TRACE_MOST_MADE; i++, line = trace_next(line)) join_line(j, line);
}

static damo_trace *joined_trace(damo_ctx *ctx, const trace_joiner *j, const char *rest) {
  strbuf text;
  strbuf_init(&text, ctx);
  for (int32_t i = 0; i < j->n_lines; i++) {
    if (i > 0) strbuf_addn(&text, "\n", 1);
    strbuf_addn(&text, j->line[i], trace_line(j->line[i]));
  }
  if (*rest != '\0') strbuf_addn(&text, "\n", 1);
  strbuf_add(&text, rest);
  damo_trace *t = text.failed ? NULL : trace_make(ctx, text.at, j->n_lines, j->sources, j->n_sources);
  strbuf_clear(&text);
  return t;
}

damo_status trace_join_all(damo_ctx *ctx, damo_trace *const *traces, int64_t n, damo_trace **out) {
  trace_joiner j = {.n_lines = 0};
  damo_trace *first = NULL;
  const char *rest = NULL;
  for (int64_t i = 0; i < n; i++) {
    damo_trace *t = traces[i];
    if (t == NULL || t == first) continue;
    if (first != NULL) {
      join_trace(&j, t);
      continue;
    }
    first = t;
    j.n_sources = t->n_sources;
    if (t->n_sources > 0) memcpy(j.sources, trace_sources(t), (size_t)t->n_sources * sizeof *j.sources);
    rest = t->text;
    for (int32_t k = 0; k < t->n_made; k++, rest = trace_next(rest)) j.line[j.n_lines++] = rest;
  }
  const bool adds = first != NULL && (j.n_lines > first->n_made || j.n_sources != first->n_sources);
  *out = adds ? joined_trace(ctx, &j, rest) : damo_retain(first);
  return adds && *out == NULL ? DAMO_EMEMORY : DAMO_OK;
}

damo_status trace_join(damo_ctx *ctx, damo_trace *a, damo_trace *b, damo_trace **out) {
  return trace_join_all(ctx, (damo_trace *[]){a, b}, 2, out);
}

damo_status trace_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_TRACE, trace_destroy, NULL);
  return DAMO_OK;
}
