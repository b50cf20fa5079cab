/* var.c: Variables, Apply nodes and traces: construction and destruction.
 *
 * A node and its output Variables live and die together: references to an output are counted on its node (var_holder),
 * and the node's destructor frees the outputs.
 */
#include "graph_int.h"

#include <string.h>

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static void var_free(damo_var *v) {
  damo_release(v->type);
  damo_release(v->value);
  damo_release(v->default_update);
  mem_strfree(v->obj.ctx, v->name);
  obj_free(&v->obj, sizeof *v);
}

static void var_destroy(damo_obj *obj) { var_free((damo_var *)obj); }

static damo_obj *var_holder(damo_obj *obj) {
  damo_var *v = (damo_var *)obj;
  return v->owner != NULL ? &v->owner->obj : obj;
}

damo_var *var_new(damo_ctx *ctx, damo_type *type, const char *name) {
  damo_var *v = obj_new(ctx, OBJ_VAR, sizeof *v);
  if (v == NULL) return NULL;
  v->type = damo_retain(type);
  v->id = ctx->next_id++;
  if (name != NULL && (v->name = mem_strdup(ctx, name)) == NULL) {
    damo_release(v);
    return NULL;
  }
  return v;
}

damo_var *var_constant(damo_ctx *ctx, damo_type *type, damo_obj *value) {
  damo_type *own = type != NULL ? damo_retain(type) : type_of_value(value);
  if (own == NULL) return NULL;
  damo_var *v = var_new(ctx, own, NULL);
  damo_release(own);
  if (v == NULL) return NULL;
  v->kind = VAR_CONSTANT;
  v->value = damo_retain(value);
  return v;
}

damo_var *var_shared(damo_ctx *ctx, damo_type *type, damo_obj *value, const char *name) {
  damo_var *v = var_new(ctx, type, name);
  if (v == NULL) return NULL;
  v->kind = VAR_SHARED;
  v->value = damo_retain(value);
  return v;
}

damo_status var_set_name(damo_var *v, const char *name) {
  char *copy = NULL;
  if (name != NULL && (copy = mem_strdup(v->obj.ctx, name)) == NULL) return DAMO_EMEMORY;
  mem_strfree(v->obj.ctx, v->name);
  v->name = copy;
  return DAMO_OK;
}

const damo_array *var_constant_array(const damo_var *v) {
  if (v->kind != VAR_CONSTANT || v->value == NULL || v->value->kind != OBJ_ARRAY) return NULL;
  return (const damo_array *)v->value;
}

bool apply_shares_pattern(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def->pattern != PATTERN_SHARED || !def->entrywise) return def->pattern == PATTERN_SHARED;
  return dtype_cast_keeps_sums((damo_dtype)node->in[0]->type->dtype, (damo_dtype)node->out[0]->type->dtype);
}

damo_var *var_pattern_root(const damo_var *v, int64_t steps) {
  while (steps-- > 0 && v->owner != NULL && apply_shares_pattern(v->owner)) v = v->owner->in[0];
  return (damo_var *)(uintptr_t)v;
}

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

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

/* The length of the line at `text`. */
static size_t trace_line(const char *text) { return strcspn(text, "\n"); }
static const char *trace_next(const char *line) {
  const char *end = line + trace_line(line);
  return *end == '\n' ? end + 1 : end;
}

/* Whether one of the first n lines of the text is that line. */
static bool trace_has_line(const char *text, int32_t n, const char *line) {
  const size_t length = trace_line(line);
  for (; n > 0; n--, text = trace_next(text)) {
    if (trace_line(text) == length && memcmp(text, line, length) == 0) return true;
  }
  return false;
}

/* Appends to sources[0..n) the numbers of t that it lacks; returns how many there are then, -1: too many to be kept. */
static int32_t add_sources(int32_t *sources, int32_t n, const damo_trace *t) {
  const int32_t *more = trace_sources(t);
  for (int32_t k = 0; k < t->n_sources && n >= 0; k++) {
    bool known = false;
    for (int32_t i = 0; i < n && !known; i++) known = sources[i] == more[k];
    if (known) continue;
    if (n == TRACE_MOST_SOURCES) return -1;
    sources[n++] = more[k];
  }
  return n;
}

/* The innermost lines of a, those of b that it lacks, then the rest of a. Returns how many innermost lines there are. */
static int32_t join_lines(strbuf *text, const damo_trace *a, const damo_trace *b) {
  const char *rest = a->text, *line = b->text;
  for (int32_t i = 0; i < a->n_made; i++) rest = trace_next(rest);
  int32_t n = a->n_made;
  strbuf_addf(text, "%.*s", (int)(rest - a->text), a->text);
  for (int32_t i = 0; i < b->n_made; i++, line = trace_next(line)) {
    if (n >= TRACE_MOST_MADE || trace_has_line(a->text, a->n_made, line)) continue;
    const bool follows = text->n > 0 && text->at[text->n - 1] != '\n';
    strbuf_addf(text, "%s%.*s%s", follows ? "\n" : "", (int)trace_line(line), line, *rest != '\0' ? "\n" : "");
    n++;
  }
  strbuf_addf(text, "%s", rest);
  return n;
}

damo_status trace_join(damo_ctx *ctx, damo_trace *a, damo_trace *b, damo_trace **out) {
  *out = NULL;
  if (a == NULL || b == NULL || a == b) {
    *out = damo_retain(a != NULL ? a : b);
    return DAMO_OK;
  }
  int32_t sources[TRACE_MOST_SOURCES], n_sources = 0;
  if (a->n_sources > 0 && b->n_sources > 0) n_sources = add_sources(sources, add_sources(sources, 0, a), b);
  if (n_sources < 0) n_sources = 0;
  strbuf text;
  strbuf_init(&text, ctx);
  const int32_t n = join_lines(&text, a, b);
  if (text.failed) {
    strbuf_clear(&text);
    return DAMO_EMEMORY;
  }
  const bool adds = n > a->n_made || n_sources != a->n_sources;
  *out = adds ? trace_make(ctx, text.at, n, sources, n_sources) : damo_retain(a);
  strbuf_clear(&text);
  return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static size_t apply_bytes(int n_in, int n_out) {
  return sizeof(damo_apply) + ((size_t)n_in + (size_t)n_out) * sizeof(damo_var *);
}

static void apply_destroy(damo_obj *obj) {
  damo_apply *node = (damo_apply *)obj;
  for (int i = 0; i < node->n_in; i++) damo_release(node->in[i]);
  for (int i = 0; i < node->n_out; i++) {
    if (node->out[i] != NULL) var_free(node->out[i]);
  }
  damo_release(node->op);
  damo_release(node->trace);
  obj_free(obj, apply_bytes(node->n_in, node->n_out));
}

static bool maps_fit(damo_ctx *ctx, const damo_op *op, int n_in, int n_out) {
  if (op->view_map == NULL && op->destroy_map == NULL) return true;
  return op_check_alias(ctx, op->def->name, "view_map", op->view_map, n_in, n_out) == DAMO_OK &&
         op_check_alias(ctx, op->def->name, "destroy_map", op->destroy_map, n_in, n_out) == DAMO_OK;
}

damo_apply *apply_new(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in, damo_type *const *out, int n_out) {
  if (!maps_fit(ctx, op, n_in, n_out)) return NULL;
  damo_apply *node = obj_new(ctx, OBJ_APPLY, apply_bytes(n_in, n_out));
  if (node == NULL) return NULL;
  node->id = ctx->next_id++;
  node->op = damo_retain(op);
  node->trace = damo_retain(graph_notes_of(ctx)->trace);
  node->n_in = n_in;
  node->n_out = n_out;
  node->in = (damo_var **)(node + 1);
  node->out = node->in + n_in;
  for (int i = 0; i < n_in; i++) node->in[i] = damo_retain(in[i]);
  for (int i = 0; i < n_out; i++) {
    damo_var *v = var_new(ctx, out[i], NULL);
    if (v == NULL) {
      damo_release(node);
      return NULL;
    }
    v->owner = node; /* the node frees it: its own count is not used any more */
    v->index = i;
    node->out[i] = v;
  }
  return node;
}

void apply_adopt(damo_apply *node, int i, damo_var *v) {
  damo_var *fresh = node->out[i];
  damo_assert(v->owner == NULL && v->kind == VAR_PLAIN);
  v->owner = node;
  v->index = i;
  node->out[i] = v;
  node->obj.refs += v->obj.refs; /* references to an output are counted on its node */
  var_free(fresh);
}

damo_apply *apply_clone_with(const damo_apply *node, damo_var *const *in) {
  damo_type *types_small[8] = {NULL};
  damo_ctx *ctx = node->obj.ctx;
  size_t bytes = (size_t)node->n_out * sizeof(damo_type *);
  damo_type **types = node->n_out <= 8 ? types_small : mem_alloc(ctx, bytes);
  if (types == NULL) return NULL;
  for (int i = 0; i < node->n_out; i++) types[i] = node->out[i]->type;
  damo_apply *copy = apply_new(ctx, node->op, in, node->n_in, types, node->n_out);
  if (types != types_small) mem_free(ctx, types, bytes);
  if (copy == NULL) return NULL;
  damo_release(copy->trace);
  copy->trace = damo_retain(node->trace);
  for (int i = 0; i < node->n_out; i++) {
    if (node->out[i]->name != NULL && var_set_name(copy->out[i], node->out[i]->name) != DAMO_OK) {
      damo_release(copy);
      return NULL;
    }
  }
  return copy;
}

damo_status var_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_VAR, var_destroy, var_holder);
  ctx_register_kind(ctx, OBJ_APPLY, apply_destroy, NULL);
  ctx_register_kind(ctx, OBJ_TRACE, trace_destroy, NULL);
  return DAMO_OK;
}
