/* write.c: from a graph to bytes. Numbers are given in the order in which things are met, so nothing depends on
 * addresses. Values are written one by one; the rest is small. */
#include <string.h>

#include "store_int.h"

/* Records of one kind, of which equal ones are written once: graphs may share an object, or have equal ones. */
typedef struct unique_records {
  map by_hash; /* hash of a record → the number + 1 of the last such one */
  struct unique_record {
    size_t at, n;   /* in the output */
    int64_t before; /* the number + 1 of the one before with that hash; 0: none */
  } * list;
  int64_t n, cap;
} unique_records;

typedef struct store_writer {
  damo_ctx *ctx;
  strbuf out;
  map native;                                     /* op_def of damo's own → 1 */
  map types, values, lines, classes, ops, shared; /* object → its number + 1 */
  unique_records all_values, all_lines;
  ptrvec shared_list;
  bool with_lines;
} store_writer;

/* The Variables of one graph. */
typedef struct save_scope {
  map vars; /* damo_var → its number + 1 */
} save_scope;

static damo_status save_graph(store_writer *w, save_scope *s, damo_var *const *vars, int64_t n);
static damo_status save_var(store_writer *w, save_scope *s, damo_var *v);

/* ---- Numbers and texts ------------------------------------------------------------------------------------------- */

static void put_uint(store_writer *w, uint64_t v) {
  char bytes[10];
  size_t n = 0;
  for (; v >= 128; v >>= 7) bytes[n++] = (char)(unsigned char)(v | 128);
  bytes[n++] = (char)v;
  strbuf_addn(&w->out, bytes, n);
}

static void put_int(store_writer *w, int64_t v) { put_uint(w, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0)); }
static void put_tag(store_writer *w, char tag) { strbuf_addn(&w->out, &tag, 1); }

static void put_word(store_writer *w, uint64_t v, size_t bytes) {
  unsigned char at[8];
  byte_writer b = {.at = at};
  bytes_put(&b, v, bytes);
  strbuf_addn(&w->out, (char *)at, bytes);
}

/* NULL: 0. */
static void put_text(store_writer *w, const char *text) {
  if (text == NULL) {
    put_uint(w, 0);
    return;
  }
  const size_t n = strlen(text);
  put_uint(w, n + 1);
  strbuf_addn(&w->out, text, n);
}

static uint64_t stored_number(const map *m, const void *key) {
  uintptr_t v = 0;
  return map_get(m, key, &v) ? (uint64_t)v - 1 : 0;
}
static bool is_new(const map *m, const void *key) { return !map_get(m, key, NULL); }
static damo_status number_it(map *m, const void *key) { return map_put(m, key, m->n + 1); }

/* ---- Values and Types -------------------------------------------------------------------------------------------- */

static bool same_record(const store_writer *w, const struct unique_record *r, size_t at) {
  return r->n == w->out.n - at && memcmp(w->out.at + r->at, w->out.at + at, r->n) == 0;
}

/* The record that starts at `at` is the last of the output. Takes it back if there is an equal one. Gives key its
 * number in `numbers`. */
static damo_status end_record(store_writer *w, unique_records *all, size_t at, map *numbers, const void *key) {
  if (w->out.failed) return DAMO_EMEMORY;
  const void *hash = (const void *)(uintptr_t)(bytes_check_sum(w->out.at + at, w->out.n - at) | 1);
  uintptr_t last = 0;
  map_get(&all->by_hash, hash, &last);
  for (int64_t i = (int64_t)last; i != 0; i = all->list[i - 1].before) {
    if (!same_record(w, &all->list[i - 1], at)) continue;
    w->out.n = at;
    return map_put(numbers, key, (uintptr_t)i);
  }
  if (all->n == all->cap) {
    const int64_t cap = 2 * all->cap + 64;
    const size_t size = sizeof *all->list;
    struct unique_record *grown = mem_realloc(w->ctx, all->list, (size_t)all->cap * size, (size_t)cap * size);
    if (grown == NULL) return DAMO_EMEMORY;
    all->list = grown;
    all->cap = cap;
  }
  all->list[all->n++] = (struct unique_record){at, w->out.n - at, (int64_t)last};
  DAMO_TRY(map_put(&all->by_hash, hash, (uintptr_t)all->n));
  return map_put(numbers, key, (uintptr_t)all->n);
}

static damo_status save_value(store_writer *w, const damo_obj *v) {
  if (!is_new(&w->values, v)) return DAMO_OK;
  const size_t start = w->out.n;
  byte_writer count = {.at = NULL};
  bytes_put_value(&count, v);
  put_tag(w, 'V');
  put_uint(w, count.n);
  unsigned char *at = mem_alloc(w->ctx, count.n);
  if (at == NULL) return DAMO_EMEMORY;
  byte_writer bytes = {.at = at};
  bytes_put_value(&bytes, v);
  strbuf_addn(&w->out, (char *)at, count.n);
  mem_free(w->ctx, at, count.n);
  return end_record(w, &w->all_values, start, &w->values, v);
}

static damo_status save_type(store_writer *w, const damo_type *t) {
  if (!is_new(&w->types, t)) return DAMO_OK;
  const damo_obj *pattern = t->pattern != NULL ? &t->pattern->matrix->obj : NULL;
  if (pattern != NULL) DAMO_TRY(save_value(w, pattern));
  put_tag(w, 'T');
  put_uint(w, t->kind);
  put_uint(w, t->dtype);
  put_uint(w, (uint64_t)t->ndim);
  for (int k = 0; k < t->ndim; k++) put_uint(w, (uint64_t)(t->shape[k] + 1));
  put_uint(w, t->format);
  put_uint(w, t->itype);
  put_uint(w, pattern != NULL ? stored_number(&w->values, pattern) + 1 : 0);
  put_text(w, t->why);
  return number_it(&w->types, t);
}

static damo_status save_lines(store_writer *w, const damo_trace *t) {
  if (!is_new(&w->lines, t)) return DAMO_OK;
  const size_t start = w->out.n;
  put_tag(w, 'L');
  put_uint(w, (uint64_t)t->n_made);
  put_text(w, t->text);
  return end_record(w, &w->all_lines, start, &w->lines, t);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static damo_status save_op(store_writer *w, save_scope *s, const damo_op *op);

static damo_status save_class(store_writer *w, const damo_op *op, const void **key) {
  const op_def *def = op->def;
  *key = def->recipe != NULL ? (const void *)def->recipe : (const void *)def;
  if (!is_new(&w->classes, *key)) return DAMO_OK;
  put_tag(w, 'C');
  if (def->recipe != NULL) {
    put_uint(w, STORED_RECIPE);
    put_text(w, def->recipe->name);
    return number_it(&w->classes, *key);
  }
  put_uint(w, is_new(&w->native, def) ? STORED_FOREIGN : STORED_NATIVE);
  put_text(w, def->name);
  const int n = op_fields_count(def->props);
  put_uint(w, (uint64_t)n);
  for (int i = 0; i < n; i++) put_text(w, def->props[i].name);
  return number_it(&w->classes, *key);
}

/* Writes what the value refers to. Nested as deep as the lists are. */
static damo_status save_prop_needs(store_writer *w, save_scope *s, const prop_value *v) {
  if (v->kind == PROP_TYPE) return save_type(w, v->u.type);
  if (v->kind == PROP_OP) return save_op(w, s, v->u.op);
  if (v->kind == PROP_VAR) return save_var(w, s, v->u.var);
  for (int i = 0; v->kind == PROP_LIST && i < v->n; i++) DAMO_TRY(save_prop_needs(w, s, &v->u.list[i]));
  return DAMO_OK;
}

static uint64_t var_distance(const save_scope *s, const damo_var *v) {
  return (uint64_t)s->vars.n - 1 - stored_number(&s->vars, v);
}

static void put_part(store_writer *w, const save_scope *s, const prop_value *v) {
  uint64_t bits;
  put_uint(w, (uint64_t)v->kind);
  switch (v->kind) {
    case PROP_NIL: break;
    case PROP_BOOL:
    case PROP_INT: put_int(w, v->u.i); break;
    case PROP_NUM:
      memcpy(&bits, &v->u.f, sizeof bits);
      put_word(w, bits, 8);
      break;
    case PROP_STR: put_text(w, v->u.s); break;
    case PROP_TYPE: put_uint(w, stored_number(&w->types, v->u.type)); break;
    case PROP_OP: put_uint(w, stored_number(&w->ops, v->u.op)); break;
    case PROP_VAR: put_uint(w, var_distance(s, v->u.var)); break;
    case PROP_LIST:
      put_uint(w, (uint64_t)v->n);
      for (int i = 0; i < v->n; i++) put_part(w, s, &v->u.list[i]);
      break;
  }
}

static void put_vars(store_writer *w, const save_scope *s, const ptrvec *vars) {
  put_uint(w, (uint64_t)vars->n);
  for (int64_t i = 0; i < vars->n; i++) put_uint(w, var_distance(s, vars->at[i]));
}

/* The inner graph's Variables, the Op's record up to its parts. */
static damo_status save_inner(store_writer *w, const damo_op *op, const void *key) {
  const damo_fgraph *fg = op->def->inner_graph(op);
  save_scope inner;
  map_init(&inner.vars, w->ctx);
  put_tag(w, '(');
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < fg->inputs.n && s == DAMO_OK; i++) s = save_var(w, &inner, fg->inputs.at[i]);
  if (s == DAMO_OK) s = save_graph(w, &inner, (damo_var *const *)fg->outputs.at, fg->outputs.n);
  put_tag(w, 'O');
  put_uint(w, stored_number(&w->classes, key));
  put_vars(w, &inner, &fg->inputs);
  put_vars(w, &inner, &fg->outputs);
  map_clear(&inner.vars);
  return s;
}

static damo_status save_held(store_writer *w, save_scope *s, const damo_op *op, const void *key) {
  op_parts parts;
  parts_init(&parts, w->ctx);
  damo_status status = op->def->recipe->tell(op, &parts);
  for (int i = 0; i < parts.n && status == DAMO_OK; i++) status = save_prop_needs(w, s, &parts.at[i]);
  if (status == DAMO_OK) status = save_inner(w, op, key);
  put_uint(w, (uint64_t)parts.n);
  for (int i = 0; i < parts.n && status == DAMO_OK; i++) put_part(w, s, &parts.at[i]);
  parts_clear(&parts);
  return status;
}

static damo_status save_op(store_writer *w, save_scope *s, const damo_op *op) {
  const void *key;
  if (!is_new(&w->ops, op)) return DAMO_OK;
  if (op->owner != NULL && op->owner->kind == OBJ_LINKED) /* neither properties nor a name tell what it computes */
    return ctx_fail(w->ctx, DAMO_ETYPE,
                    "save_graph: %s can't be in a file: compile the graph in another mode to save it", op->def->name);
  DAMO_TRY(save_class(w, op, &key));
  if (op->def->recipe != NULL) {
    DAMO_TRY(save_held(w, s, op, key));
    return number_it(&w->ops, op);
  }
  for (int i = 0; i < op->n_props; i++) DAMO_TRY(save_prop_needs(w, s, &op->props[i]));
  put_tag(w, 'O');
  put_uint(w, stored_number(&w->classes, key));
  int n = op->n_props; /* nil at the end is left out, so that a class may get further properties */
  while (n > 0 && !prop_given(op->props[n - 1])) n--;
  put_uint(w, (uint64_t)n);
  for (int i = 0; i < n; i++) put_part(w, s, &op->props[i]);
  return number_it(&w->ops, op);
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static damo_status cant_save(const damo_var *v) {
  char name[160];
  return ctx_fail(v->obj.ctx, DAMO_ETYPE,
                  "save_graph: %s has a value that is neither an array nor a sparse matrix, which no file can hold",
                  var_format(name, sizeof name, v));
}

static damo_status save_var_value(store_writer *w, const damo_var *v) {
  if (v->value == NULL || (v->value->kind != OBJ_ARRAY && v->value->kind != OBJ_SPARSE)) return cant_save(v);
  return save_value(w, v->value);
}

static damo_status save_shared(store_writer *w, const damo_var *v) {
  if (!is_new(&w->shared, v)) return DAMO_OK;
  DAMO_TRY(save_var_value(w, v));
  DAMO_TRY(ptrvec_push(&w->shared_list, v));
  put_tag(w, 'S');
  put_uint(w, stored_number(&w->types, v->type));
  put_text(w, v->name);
  put_uint(w, stored_number(&w->values, v->value));
  return number_it(&w->shared, v);
}

/* v has no node. */
static damo_status save_leaf(store_writer *w, save_scope *s, const damo_var *v) {
  DAMO_TRY(save_type(w, v->type));
  if (v->kind == VAR_SHARED) DAMO_TRY(save_shared(w, v));
  if (v->kind == VAR_CONSTANT) DAMO_TRY(save_var_value(w, v));
  put_tag(w, 'X');
  put_uint(w, (uint64_t)v->kind << 1 | v->weak);
  if (v->kind == VAR_SHARED) {
    put_uint(w, stored_number(&w->shared, v));
  } else {
    put_uint(w, stored_number(&w->types, v->type));
    put_text(w, v->name);
    if (v->kind == VAR_CONSTANT) put_uint(w, stored_number(&w->values, v->value));
  }
  return number_it(&s->vars, v);
}

static damo_status save_var(store_writer *w, save_scope *s, damo_var *v) {
  if (!is_new(&s->vars, v)) return DAMO_OK;
  return v->owner != NULL ? save_graph(w, s, &v, 1) : save_leaf(w, s, v);
}

static damo_status save_node(store_writer *w, save_scope *s, const damo_apply *node) {
  const bool has_lines = w->with_lines && node->trace != NULL;
  for (int i = 0; i < node->n_in; i++) {
    if (is_new(&s->vars, node->in[i])) DAMO_TRY(save_leaf(w, s, node->in[i]));
  }
  DAMO_TRY(save_op(w, s, node->op));
  for (int o = 0; o < node->n_out; o++) DAMO_TRY(save_type(w, node->out[o]->type));
  if (has_lines) DAMO_TRY(save_lines(w, node->trace));
  put_tag(w, 'N');
  put_uint(w, stored_number(&w->ops, node->op));
  put_uint(w, has_lines ? stored_number(&w->lines, node->trace) + 1 : 0);
  put_uint(w, (uint64_t)node->n_in);
  for (int i = 0; i < node->n_in; i++) put_uint(w, var_distance(s, node->in[i]));
  put_uint(w, (uint64_t)node->n_out);
  for (int o = 0; o < node->n_out; o++) {
    const damo_var *v = node->out[o];
    put_uint(w, stored_number(&w->types, v->type) << 1 | (v->name != NULL));
    if (v->name != NULL) put_text(w, v->name);
  }
  for (int o = 0; o < node->n_out; o++) DAMO_TRY(number_it(&s->vars, node->out[o]));
  return DAMO_OK;
}

static damo_status save_graph(store_writer *w, save_scope *s, damo_var *const *vars, int64_t n) {
  ptrvec nodes;
  ptrvec_init(&nodes, w->ctx);
  damo_status status = graph_toposort_map(w->ctx, vars, n, &s->vars, &nodes);
  for (int64_t i = 0; i < nodes.n && status == DAMO_OK; i++) status = save_node(w, s, nodes.at[i]);
  for (int64_t i = 0; i < n && status == DAMO_OK; i++) {
    if (is_new(&s->vars, vars[i])) status = save_leaf(w, s, vars[i]);
  }
  ptrvec_clear(&nodes);
  return status;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool is_updated(const damo_graph *g, const damo_var *v) {
  for (int64_t i = 0; i < g->update_of.n; i++) {
    if (g->update_of.at[i] == v) return true;
  }
  return false;
}

static bool has_default(const damo_graph *g, const damo_var *v) {
  return v->default_update != NULL && (!g->all_updates || is_updated(g, v));
}

/* All Variables of the graph: outputs, updates and default updates after the inputs. Default updates may bring further
 * shared Variables. */
static damo_status save_all(store_writer *w, const damo_graph *g, save_scope *s) {
  for (int64_t i = 0; i < g->n_in; i++) {
    DAMO_TRY(save_var(w, s, g->in[i].var));
    if (g->in[i].value == NULL) continue;
    if (g->in[i].value->kind != OBJ_ARRAY && g->in[i].value->kind != OBJ_SPARSE) return cant_save(g->in[i].var);
    DAMO_TRY(save_value(w, g->in[i].value));
  }
  for (int64_t i = 0; i < g->n_out; i++) DAMO_TRY(save_var(w, s, g->out[i].var));
  for (int64_t i = 0; i < g->n_in; i++) {
    if (g->in[i].update != NULL) DAMO_TRY(save_var(w, s, g->in[i].update));
  }
  for (int64_t i = 0; i < g->update_of.n; i++) {
    DAMO_TRY(save_var(w, s, g->update_of.at[i]));
    DAMO_TRY(save_var(w, s, g->update_to.at[i]));
  }
  for (int64_t i = 0; i < w->shared_list.n; i++) {
    const damo_var *v = w->shared_list.at[i];
    if (has_default(g, v)) DAMO_TRY(save_var(w, s, v->default_update));
  }
  return DAMO_OK;
}

static void put_end(store_writer *w, const damo_graph *g, const save_scope *s) {
  put_tag(w, 'E');
  put_uint(w, (uint64_t)g->n_in);
  for (int64_t i = 0; i < g->n_in; i++) {
    const in_spec *in = &g->in[i];
    put_uint(w, var_distance(s, in->var));
    put_uint(w, (in->mutable_ ? INPUT_MUTABLE : 0u) | (in->strict ? INPUT_STRICT : 0u) |
                    (in->value != NULL ? INPUT_VALUE : 0u) | (in->update != NULL ? INPUT_UPDATE : 0u));
    put_text(w, in->name);
    if (in->value != NULL) put_uint(w, stored_number(&w->values, in->value));
    if (in->update != NULL) put_uint(w, var_distance(s, in->update));
  }
  put_uint(w, (uint64_t)g->n_out);
  for (int64_t i = 0; i < g->n_out; i++) {
    put_uint(w, var_distance(s, g->out[i].var));
    put_uint(w, g->out[i].borrow ? OUTPUT_BORROW : 0u);
    put_text(w, g->out[i].name);
  }
  put_uint(w, (uint64_t)g->update_of.n);
  for (int64_t i = 0; i < g->update_of.n; i++) {
    put_uint(w, var_distance(s, g->update_of.at[i]));
    put_uint(w, var_distance(s, g->update_to.at[i]));
  }
  for (int64_t i = 0; i < w->shared_list.n; i++) {
    const damo_var *v = w->shared_list.at[i];
    put_uint(w, has_default(g, v) ? var_distance(s, v->default_update) + 1 : 0);
  }
}

#define WRITER_MAPS(w)                                                                            \
  {                                                                                               \
    &(w)->native, &(w)->types, &(w)->values, &(w)->lines, &(w)->classes, &(w)->ops, &(w)->shared, \
        &(w)->all_values.by_hash, &(w)->all_lines.by_hash                                         \
  }

static damo_status writer_init(store_writer *w, damo_ctx *ctx, bool lines) {
  *w = (store_writer){.ctx = ctx, .with_lines = lines};
  map *maps[] = WRITER_MAPS(w);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], ctx);
  strbuf_init(&w->out, ctx);
  ptrvec_init(&w->shared_list, ctx);
  const op_def *def;
  for (int i = 0; (def = store_class_at(i)) != NULL; i++) DAMO_TRY(map_put(&w->native, def, 1));
  return DAMO_OK;
}

static void unique_clear(damo_ctx *ctx, unique_records *all) {
  if (all->list != NULL) mem_free(ctx, all->list, (size_t)all->cap * sizeof *all->list);
}

static void writer_clear(store_writer *w) {
  map *maps[] = WRITER_MAPS(w);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_clear(maps[i]);
  unique_clear(w->ctx, &w->all_values);
  unique_clear(w->ctx, &w->all_lines);
  strbuf_clear(&w->out);
  ptrvec_clear(&w->shared_list);
}

static damo_status save_bytes(store_writer *w, const damo_graph *g, save_scope *s) {
  strbuf_add(&w->out, STORE_MAGIC);
  put_word(w, STORE_VERSION, 4);
  put_word(w, 0, 8); /* the size, known at the end */
  DAMO_TRY(save_all(w, g, s));
  put_end(w, g, s);
  if (w->out.failed) return DAMO_EMEMORY;
  byte_writer size = {.at = (unsigned char *)w->out.at + STORE_HEAD - 8};
  bytes_put(&size, w->out.n + STORE_TAIL, 8);
  put_word(w, bytes_check_sum(w->out.at, w->out.n), 8);
  return w->out.failed ? DAMO_EMEMORY : DAMO_OK;
}

damo_status store_write(const damo_graph *g, bool lines, const io_to *to) {
  store_writer w;
  save_scope s;
  map_init(&s.vars, g->ctx);
  damo_status status = writer_init(&w, g->ctx, lines);
  if (status == DAMO_OK) status = save_bytes(&w, g, &s);
  if (status == DAMO_OK) status = io_write_bytes(g->ctx, to, w.out.at, w.out.n);
  map_clear(&s.vars);
  writer_clear(&w);
  return status;
}
