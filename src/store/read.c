/* read.c: from bytes to a graph. One loop over records, without recursion but for lists in properties, whose depth is
 * bounded. Whatever the bytes are, nothing outside of them is read, and nothing is taken on trust: numbers are checked
 * against the tables that they index, counts against the bytes that are left, and nodes are made by their Ops, whose
 * properties are judged by the rules of their classes (prop_rule) when an Op is made. */
#include <stdio.h>
#include <string.h>

#include "scan/scan.h"
#include "store_int.h"

#define LIST_DEPTH 32

typedef struct stored_class {
  int kind;
  const char *name; /* in the bytes: not zero-terminated */
  size_t name_n;
  const op_def *def;
  const op_recipe *recipe;
  damo_obj *owner;  /* borrowed */
  damo_op *op;      /* of a class with one Op, borrowed */
  int32_t n_fields; /* of the file */
  int32_t *places;  /* of each: the class's field; -1: it has none of that name */
} stored_class;

/* The Variables of one graph start at `vars` in store_reader.vars. */
typedef struct open_graph {
  int64_t vars, owned;
} open_graph;

typedef struct store_reader {
  byte_reader r;
  damo_ctx *ctx;
  const char *path;
  const store_env *env;
  ptrvec native;                            /* op_def, of damo's own */
  ptrvec types, values, lines, ops, shared; /* owned */
  ptrvec vars;                              /* of the open graphs, borrowed */
  ptrvec owned;                             /* what holds them: leaves and nodes */
  stored_class *classes;
  int64_t n_classes, classes_cap;
  open_graph *scopes; /* of the open inner graphs: where the one around each ends */
  int64_t n_scopes, scopes_cap;
  ptrvec inputs, in_list, out_list; /* workspace */
  damo_graph *graph;
  bool foreign; /* a class is */
  bool ended;
} store_reader;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static damo_status damaged(store_reader *g) { return ctx_fail(g->ctx, DAMO_EIO, "%s: the graph is damaged", g->path); }

/* What a failed call means here: a memory error is one, so is what a script's Op throws; anything else comes of bad
 * bytes. */
static damo_status failed(store_reader *g) {
  char why[200];
  const damo_status s = damo_error_status(g->ctx);
  if (s == DAMO_EMEMORY || s == DAMO_ECALLBACK) return s;
  if (s == DAMO_OK) return damaged(g);
  snprintf(why, sizeof why, "%s", damo_error_message(g->ctx));
  return ctx_fail(g->ctx, DAMO_EIO, "%s: the graph is damaged: %s", g->path, why);
}

/* ---- Numbers and texts ------------------------------------------------------------------------------------------- */

static uint64_t take_uint(byte_reader *r) {
  uint64_t v = 0;
  for (unsigned shift = 0; r->left > 0 && shift < 64; shift += 7) {
    const unsigned char byte = *r->at;
    r->at++, r->left--;
    if (shift == 63 && byte > 1) break;
    v |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return v;
  }
  r->bad = true;
  return 0;
}

static int64_t take_int(byte_reader *r) {
  const uint64_t v = take_uint(r);
  return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* Below `end`; 0 if it is not, and then r->bad is set. */
static uint64_t take_below(byte_reader *r, uint64_t end) {
  const uint64_t v = take_uint(r);
  if (v < end) return v;
  r->bad = true;
  return 0;
}

/* A number of things that take at least a byte each. */
static int64_t take_count(byte_reader *r) { return (int64_t)take_below(r, (uint64_t)r->left + 1); }

/* A text in place; false: there is none. */
static bool take_text(byte_reader *r, const char **at, size_t *n) {
  const uint64_t size = take_uint(r);
  *at = NULL;
  *n = 0;
  if (size == 0 || r->bad) return false;
  if (size - 1 > r->left || memchr(r->at, 0, (size_t)(size - 1)) != NULL) {
    r->bad = true;
    return false;
  }
  *at = (const char *)r->at;
  *n = (size_t)(size - 1);
  r->at += *n, r->left -= *n;
  return true;
}

/* A copy for mem_strfree in *out; NULL: there is no text. */
static damo_status take_name(store_reader *g, char **out) {
  const char *at;
  size_t n;
  *out = NULL;
  if (!take_text(&g->r, &at, &n)) return g->r.bad ? damaged(g) : DAMO_OK;
  char *copy = mem_alloc(g->ctx, n + 1);
  if (copy == NULL) return DAMO_EMEMORY;
  memcpy(copy, at, n);
  copy[n] = '\0';
  *out = copy;
  return DAMO_OK;
}

static void *take_from(byte_reader *r, const ptrvec *list) {
  const uint64_t i = take_below(r, (uint64_t)list->n);
  return r->bad ? NULL : list->at[i];
}

static int64_t first_var(const store_reader *g) { return g->n_scopes > 0 ? g->scopes[g->n_scopes - 1].vars : 0; }

static damo_var *take_var(store_reader *g) {
  const uint64_t back = take_below(&g->r, (uint64_t)(g->vars.n - first_var(g)));
  return g->r.bad ? NULL : g->vars.at[g->vars.n - 1 - (int64_t)back];
}

/* Adds an owned object to the list. */
static damo_status push_object(store_reader *g, ptrvec *list, void *take) {
  if (take == NULL) return failed(g);
  const damo_status s = ptrvec_push(list, take);
  if (s != DAMO_OK) damo_release(take);
  return s;
}

/* ---- Values, Types, lines ---------------------------------------------------------------------------------------- */

static damo_status load_value(store_reader *g) {
  const int64_t n = take_count(&g->r);
  if (g->r.bad) return damaged(g);
  byte_reader own = {.ctx = g->ctx, .at = g->r.at, .left = (size_t)n};
  bool none;
  damo_obj *v = bytes_get_value(&own, &none);
  if (v == NULL && !own.bad && !none) return DAMO_EMEMORY;
  if (own.bad || none || own.left != 0) {
    damo_release(v);
    return damaged(g);
  }
  g->r.at += n, g->r.left -= (size_t)n;
  return push_object(g, &g->values, v);
}

static damo_type *sparse_type(store_reader *g, unsigned format, damo_dtype dtype, unsigned itype, const int64_t *shape,
                              uint64_t pattern) {
  if (format > DAMO_CSC || (itype != DAMO_INT32 && itype != DAMO_INT64)) return NULL;
  if (pattern == 0) return type_sparse(g->ctx, (damo_format)format, dtype, (damo_dtype)itype, shape);
  damo_obj *m = g->values.at[pattern - 1];
  return m->kind == OBJ_SPARSE ? type_sparse_like((damo_sparse *)m, dtype) : NULL;
}

static damo_type *type_made(store_reader *g, unsigned kind, damo_dtype dtype, int ndim, const int64_t *shape,
                            unsigned format, unsigned itype, uint64_t pattern, const char *why) {
  switch ((type_kind)kind) {
    case TYPE_TENSOR: return type_tensor(g->ctx, dtype, ndim, shape);
    case TYPE_SPARSE: return ndim == 2 ? sparse_type(g, format, dtype, itype, shape, pattern) : NULL;
    case TYPE_RANDOM: return type_random(g->ctx);
    case TYPE_NULL: return type_null(g->ctx, why != NULL ? why : "");
    case TYPE_DISCONNECTED: return type_disconnected(g->ctx);
    case TYPE_GENERIC: return type_generic(g->ctx);
    case TYPE_FACTOR: return ndim == 2 ? type_factor(g->ctx, dtype, shape, format != 0) : NULL;
  }
  return NULL;
}

static damo_status load_type(store_reader *g) {
  int64_t shape[DAMO_MAX_NDIM];
  char *why;
  ctx_clear_error(g->ctx);
  const unsigned kind = (unsigned)take_below(&g->r, TYPE_FACTOR + 1);
  const damo_dtype dtype = (damo_dtype)take_below(&g->r, DAMO_N_DTYPES);
  const int ndim = (int)take_below(&g->r, DAMO_MAX_NDIM + 1);
  for (int k = 0; k < ndim; k++) shape[k] = (int64_t)take_below(&g->r, INT64_MAX) - 1;
  const unsigned format = (unsigned)take_below(&g->r, 2), itype = (unsigned)take_below(&g->r, DAMO_N_DTYPES);
  const uint64_t pattern = take_below(&g->r, (uint64_t)g->values.n + 1);
  if (g->r.bad) return damaged(g);
  DAMO_TRY(take_name(g, &why));
  damo_type *t = type_made(g, kind, dtype, ndim, shape, format, itype, pattern, why);
  mem_strfree(g->ctx, why);
  return push_object(g, &g->types, t);
}

static damo_status load_lines(store_reader *g) {
  char *text;
  const int32_t n_made = (int32_t)take_below(&g->r, TRACE_MOST_MADE + 1);
  if (g->r.bad) return damaged(g);
  DAMO_TRY(take_name(g, &text));
  damo_trace *t = trace_new(g->ctx, text != NULL ? text : "");
  mem_strfree(g->ctx, text);
  if (t != NULL) t->n_made = n_made;
  return push_object(g, &g->lines, t);
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static bool is_named(const char *name, const stored_class *c) {
  return strlen(name) == c->name_n && memcmp(name, c->name, c->name_n) == 0;
}

static void find_recipe(const op_recipe *const *list, stored_class *c) {
  for (; list != NULL && *list != NULL && c->recipe == NULL; list++) {
    if (is_named((*list)->name, c)) c->recipe = *list;
  }
}

static damo_status find_class(store_reader *g, stored_class *c) {
  if (c->kind == STORED_RECIPE) {
    find_recipe(scan_recipes, c);
    find_recipe(g->env->recipes, c);
    if (c->recipe != NULL) return DAMO_OK;
  }
  for (int64_t i = 0; c->kind == STORED_NATIVE && i < g->native.n; i++) {
    const op_def *def = g->native.at[i];
    if (!is_named(def->name, c)) continue;
    c->def = def;
    return DAMO_OK;
  }
  if (c->kind == STORED_FOREIGN && g->env->find != NULL) {
    char name[256];
    store_class found = {.def = NULL};
    if (c->name_n >= sizeof name) return damaged(g);
    memcpy(name, c->name, c->name_n);
    name[c->name_n] = '\0';
    if (g->env->find(g->env->user, name, &found)) {
      c->def = found.def;
      c->owner = found.owner;
      c->op = found.op;
      return DAMO_OK;
    }
  }
  if (c->kind == STORED_FOREIGN)
    return ctx_fail(g->ctx, DAMO_EVALUE, "load_graph: %s has the Op %.*s, which `ops` must give", g->path,
                    (int)(c->name_n < 200 ? c->name_n : 200), c->name);
  return ctx_fail(g->ctx, DAMO_EIO, "%s: the graph has an Op %.*s, which this version of damo does not have", g->path,
                  (int)(c->name_n < 200 ? c->name_n : 200), c->name);
}

static damo_status load_fields(store_reader *g, stored_class *c) {
  c->n_fields = (int32_t)take_count(&g->r);
  if (g->r.bad) return damaged(g);
  c->places = mem_calloc(g->ctx, (size_t)c->n_fields * sizeof *c->places);
  if (c->places == NULL) {
    c->n_fields = 0;
    return DAMO_EMEMORY;
  }
  for (int32_t i = 0; i < c->n_fields; i++) {
    stored_class field = {.name = NULL};
    take_text(&g->r, &field.name, &field.name_n);
    if (g->r.bad) return damaged(g);
    c->places[i] = -1;
    for (const op_field *f = c->def->props; f != NULL && f->name != NULL && field.name != NULL; f++) {
      if (is_named(f->name, &field)) c->places[i] = (int32_t)(f - c->def->props);
    }
  }
  return DAMO_OK;
}

static damo_status load_op_class(store_reader *g) {
  if (g->n_classes == g->classes_cap) {
    const int64_t cap = 2 * g->classes_cap + 16;
    stored_class *grown =
        mem_realloc(g->ctx, g->classes, (size_t)g->classes_cap * sizeof *grown, (size_t)cap * sizeof *grown);
    if (grown == NULL) return DAMO_EMEMORY;
    g->classes = grown;
    g->classes_cap = cap;
  }
  stored_class *c = &g->classes[g->n_classes++];
  *c = (stored_class){.kind = (int)take_below(&g->r, STORED_N)};
  if (!take_text(&g->r, &c->name, &c->name_n) || g->r.bad) return damaged(g);
  DAMO_TRY(find_class(g, c));
  g->foreign = g->foreign || c->kind == STORED_FOREIGN;
  return c->kind != STORED_RECIPE ? load_fields(g, c) : DAMO_OK;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static void clear_prop(damo_ctx *ctx, prop_value *v) {
  if (v->kind == PROP_STR) mem_strfree(ctx, (char *)(uintptr_t)v->u.s);
  for (int i = 0; v->kind == PROP_LIST && i < v->n; i++) clear_prop(ctx, (prop_value *)(uintptr_t)&v->u.list[i]);
  if (v->kind == PROP_LIST) mem_free(ctx, (void *)(uintptr_t)v->u.list, (size_t)v->n * sizeof *v);
  *v = prop_nil();
}

static damo_status load_prop(store_reader *g, prop_value *v, int depth);

static damo_status load_list(store_reader *g, prop_value *v, int depth) {
  const int64_t n = take_count(&g->r);
  if (g->r.bad || n > INT32_MAX || depth == LIST_DEPTH) return damaged(g);
  prop_value *list = mem_calloc(g->ctx, (size_t)n * sizeof *list);
  if (list == NULL) return DAMO_EMEMORY;
  *v = prop_list(list, (int)n);
  for (int64_t i = 0; i < n; i++) DAMO_TRY(load_prop(g, &list[i], depth + 1));
  return DAMO_OK;
}

/* What it makes is to be cleared, also on failure. Types, Ops and Variables are borrowed. */
static damo_status load_prop(store_reader *g, prop_value *v, int depth) {
  uint64_t bits;
  char *text;
  *v = prop_nil();
  switch ((prop_kind)take_below(&g->r, PROP_VAR + 1)) {
    case PROP_NIL: break;
    case PROP_BOOL: *v = prop_bool(take_int(&g->r) != 0); break;
    case PROP_INT: *v = prop_int(take_int(&g->r)); break;
    case PROP_NUM:
      bits = bytes_get(&g->r, 8);
      v->kind = PROP_NUM;
      memcpy(&v->u.f, &bits, sizeof bits);
      break;
    case PROP_STR:
      DAMO_TRY(take_name(g, &text));
      if (text != NULL) *v = prop_str(text);
      break;
    case PROP_TYPE:
      v->u.type = take_from(&g->r, &g->types);
      if (!g->r.bad) v->kind = PROP_TYPE;
      break;
    case PROP_OP:
      v->u.op = take_from(&g->r, &g->ops);
      if (!g->r.bad) v->kind = PROP_OP;
      break;
    case PROP_VAR:
      v->u.var = take_var(g);
      if (!g->r.bad) v->kind = PROP_VAR;
      break;
    case PROP_LIST: return load_list(g, v, depth);
  }
  return g->r.bad ? damaged(g) : DAMO_OK;
}

/* The properties of an Op, each at its field's place in props[], whose n entries are nil at first. */
static damo_status load_props(store_reader *g, const stored_class *c, prop_value *props) {
  const int64_t n = take_count(&g->r);
  if (g->r.bad || n > c->n_fields) return damaged(g);
  for (int64_t i = 0; i < n; i++) {
    prop_value v;
    const damo_status s = load_prop(g, &v, 0);
    if (s == DAMO_OK && c->places[i] >= 0) {
      clear_prop(g->ctx, &props[c->places[i]]);
      props[c->places[i]] = v;
      continue;
    }
    const bool lost = prop_given(v);
    clear_prop(g->ctx, &v);
    if (s != DAMO_OK) return s;
    if (lost)
      return ctx_fail(g->ctx, DAMO_EIO, "%s: the Op %s has a property that this version of damo does not know", g->path,
                      c->def->name);
  }
  return DAMO_OK;
}

static damo_status load_plain_op(store_reader *g, const stored_class *c) {
  const int n = op_fields_count(c->def->props);
  prop_value *props = mem_calloc(g->ctx, (size_t)(n + 1) * sizeof *props);
  if (props == NULL) return DAMO_EMEMORY;
  damo_status s = load_props(g, c, props);
  damo_op *op = NULL;
  if (s == DAMO_OK) {
    ctx_clear_error(g->ctx);
    op = c->op != NULL ? damo_retain(c->op) : op_new_owned(g->ctx, c->def, c->owner, props);
    s = push_object(g, &g->ops, op);
  }
  for (int i = 0; i < n; i++) clear_prop(g->ctx, &props[i]);
  mem_free(g->ctx, props, (size_t)(n + 1) * sizeof *props);
  return s;
}

static damo_status load_vars(store_reader *g, ptrvec *out) {
  const int64_t n = take_count(&g->r);
  out->n = 0;
  for (int64_t i = 0; i < n && !g->r.bad; i++) {
    const damo_var *v = take_var(g);
    if (v != NULL) DAMO_TRY(ptrvec_push(out, v));
  }
  return g->r.bad ? damaged(g) : DAMO_OK;
}

static damo_status begin_graph(store_reader *g) {
  if (g->n_scopes == g->scopes_cap) {
    const int64_t cap = 2 * g->scopes_cap + 8;
    open_graph *grown =
        mem_realloc(g->ctx, g->scopes, (size_t)g->scopes_cap * sizeof *grown, (size_t)cap * sizeof *grown);
    if (grown == NULL) return DAMO_EMEMORY;
    g->scopes = grown;
    g->scopes_cap = cap;
  }
  g->scopes[g->n_scopes++] = (open_graph){g->vars.n, g->owned.n};
  return DAMO_OK;
}

static void end_graph(store_reader *g) {
  const open_graph *s = &g->scopes[--g->n_scopes];
  g->vars.n = s->vars;
  while (g->owned.n > s->owned) damo_release(g->owned.at[--g->owned.n]);
}

/* The graph of the innermost scope, which it closes. */
static damo_status load_fgraph(store_reader *g, damo_fgraph **out) {
  if (g->n_scopes == 0) return damaged(g);
  DAMO_TRY(load_vars(g, &g->in_list));
  DAMO_TRY(load_vars(g, &g->out_list));
  ctx_clear_error(g->ctx);
  *out = fgraph_new(g->ctx, (damo_var *const *)g->in_list.at, g->in_list.n, (damo_var *const *)g->out_list.at,
                    g->out_list.n, false, NULL);
  if (*out == NULL) return failed(g);
  end_graph(g);
  return DAMO_OK;
}

static damo_status load_parts(store_reader *g, op_parts *parts) {
  const int64_t n = take_count(&g->r);
  for (int64_t i = 0; i < n && !g->r.bad; i++) {
    DAMO_TRY(parts_add(parts, prop_nil()));
    DAMO_TRY(load_prop(g, &parts->at[parts->n - 1], 0));
  }
  return g->r.bad ? damaged(g) : DAMO_OK;
}

static damo_status load_held_op(store_reader *g, const stored_class *c) {
  damo_fgraph *fg = NULL;
  op_parts parts;
  DAMO_TRY(load_fgraph(g, &fg));
  parts_init(&parts, g->ctx);
  damo_status s = load_parts(g, &parts);
  if (s == DAMO_OK) {
    ctx_clear_error(g->ctx);
    s = push_object(g, &g->ops, c->recipe->make(g->ctx, &parts, fg));
  } else {
    damo_release(fg);
  }
  for (int i = 0; i < parts.n; i++) clear_prop(g->ctx, &parts.at[i]);
  parts_clear(&parts);
  return s;
}

static damo_status load_op(store_reader *g) {
  const uint64_t i = take_below(&g->r, (uint64_t)g->n_classes);
  if (g->r.bad) return damaged(g);
  const stored_class *c = &g->classes[i];
  return c->kind == STORED_RECIPE ? load_held_op(g, c) : load_plain_op(g, c);
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static damo_status load_shared(store_reader *g) {
  char *name;
  damo_type *t = take_from(&g->r, &g->types);
  if (g->r.bad) return damaged(g);
  DAMO_TRY(take_name(g, &name));
  damo_obj *value = take_from(&g->r, &g->values);
  damo_var *v = NULL;
  damo_status s = g->r.bad || !type_is_valid(t, value) ? damaged(g) : DAMO_OK;
  if (s == DAMO_OK) {
    damo_obj *own = value_copy(value);
    v = own != NULL ? var_shared(g->ctx, t, own, name) : NULL;
    damo_release(own);
    s = push_object(g, &g->shared, v);
  }
  mem_strfree(g->ctx, name);
  return s;
}

static damo_status make_leaf(store_reader *g, uint64_t flags, damo_type *t, const char *name, damo_var **out) {
  if (flags >> 1 == VAR_PLAIN) {
    *out = var_new(g->ctx, t, name);
    return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
  }
  damo_obj *value = take_from(&g->r, &g->values);
  if (g->r.bad || !type_is_valid(t, value)) return damaged(g);
  if (value->kind == OBJ_ARRAY) ((damo_array *)value)->writeable = false;
  *out = var_constant(g->ctx, t, value);
  if (*out == NULL) return failed(g);
  (*out)->weak = flags & 1;
  return name != NULL ? var_set_name(*out, name) : DAMO_OK;
}

static damo_status load_leaf(store_reader *g) {
  const uint64_t flags = take_below(&g->r, VAR_SHARED << 1 | 1);
  damo_var *v = NULL;
  char *name;
  if (flags >> 1 == VAR_SHARED) {
    v = damo_retain(take_from(&g->r, &g->shared));
    if (g->r.bad) return damaged(g);
  } else {
    damo_type *t = take_from(&g->r, &g->types);
    if (g->r.bad) return damaged(g);
    DAMO_TRY(take_name(g, &name));
    ctx_clear_error(g->ctx);
    const damo_status s = make_leaf(g, flags, t, name, &v);
    mem_strfree(g->ctx, name);
    if (s != DAMO_OK) {
      damo_release(v);
      return s;
    }
  }
  DAMO_TRY(push_object(g, &g->owned, v));
  return ptrvec_push(&g->vars, v);
}

/* Whether the node's results have Types that are stored, or may have them because these say less: then *again is set,
 * unless the Types are the same. */
static bool results_fit(const damo_apply *node, const ptrvec *stored, bool *again) {
  bool all_super = true, same = true;
  if (node->n_out != stored->n) return false;
  for (int o = 0; o < node->n_out; o++) {
    const damo_type *want = stored->at[o], *have = node->out[o]->type;
    if (want == have) continue;
    same = false;
    if (!type_is_compatible(want, have)) return false;
    all_super = all_super && type_is_super(want, have);
  }
  *again = !same && all_super;
  return true;
}

/* The node over g->inputs as the Op makes it. NULL: it refuses, or gives other results than those stored. */
static damo_apply *apply_op(store_reader *g, damo_op *op, bool *again) {
  ctx_clear_error(g->ctx);
  damo_apply *node = op_apply(g->ctx, op, (damo_var *const *)g->inputs.at, (int)g->inputs.n);
  if (node == NULL || results_fit(node, &g->out_list, again)) return node;
  damo_release(node);
  return NULL;
}

/* The same with the Types of its results, which are in g->out_list. */
static damo_apply *make_node(store_reader *g, damo_op *op, damo_trace *lines) {
  graph_notes *notes = graph_notes_of(g->ctx);
  damo_obj *before = notes->trace;
  const damo_dtype floatX = g->ctx->config.floatX;
  bool again = false;
  notes->trace = lines != NULL ? &lines->obj : NULL;
  damo_apply *node = apply_op(g, op, &again);
  if (node == NULL && damo_error_status(g->ctx) != DAMO_EMEMORY) { /* it may have been made under another floatX */
    g->ctx->config.floatX = floatX == DAMO_FLOAT64 ? DAMO_FLOAT32 : DAMO_FLOAT64;
    node = apply_op(g, op, &again);
    g->ctx->config.floatX = floatX;
  }
  if (node != NULL && again) {
    damo_apply *wide = apply_new(g->ctx, op, node->in, node->n_in, (damo_type *const *)g->out_list.at, node->n_out);
    damo_release(node);
    node = wide;
  }
  notes->trace = before;
  return node;
}

static damo_status load_outputs(store_reader *g, ptrvec *types, ptrvec *names) {
  const int64_t n = take_count(&g->r);
  types->n = 0;
  for (int64_t o = 0; o < n && !g->r.bad; o++) {
    const uint64_t v = take_below(&g->r, (uint64_t)g->types.n << 1);
    char *name = NULL;
    if (g->r.bad) break;
    DAMO_TRY(ptrvec_push(types, g->types.at[v >> 1]));
    if ((v & 1) == 0) continue;
    DAMO_TRY(take_name(g, &name));
    DAMO_TRY(ptrvec_push(names, (void *)(intptr_t)o));
    const damo_status s = ptrvec_push(names, name);
    if (s == DAMO_OK) continue;
    mem_strfree(g->ctx, name);
    names->n--;
    return s;
  }
  return g->r.bad ? damaged(g) : DAMO_OK;
}

static damo_status load_node(store_reader *g) {
  damo_op *op = take_from(&g->r, &g->ops);
  const uint64_t lines = take_below(&g->r, (uint64_t)g->lines.n + 1);
  ptrvec names;
  if (g->r.bad) return damaged(g);
  DAMO_TRY(load_vars(g, &g->inputs));
  ptrvec_init(&names, g->ctx);
  damo_status s = load_outputs(g, &g->out_list, &names);
  damo_apply *node = NULL;
  if (s == DAMO_OK) {
    node = make_node(g, op, lines > 0 ? g->lines.at[lines - 1] : NULL);
    s = push_object(g, &g->owned, node);
  }
  for (int64_t i = 0; i + 1 < names.n; i += 2) {
    if (s == DAMO_OK) s = var_set_name(node->out[(intptr_t)names.at[i]], names.at[i + 1]);
    mem_strfree(g->ctx, names.at[i + 1]);
  }
  ptrvec_clear(&names);
  for (int o = 0; s == DAMO_OK && o < node->n_out; o++) s = ptrvec_push(&g->vars, node->out[o]);
  return s;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static damo_status load_in(store_reader *g, int64_t i) {
  in_spec spec = {.var = take_var(g)};
  const uint64_t flags = take_below(&g->r, 2 * INPUT_UPDATE);
  char *name;
  if (g->r.bad) return damaged(g);
  DAMO_TRY(take_name(g, &name));
  spec.name = name;
  spec.mutable_ = (flags & INPUT_MUTABLE) != 0;
  spec.strict = (flags & INPUT_STRICT) != 0;
  if (flags & INPUT_VALUE) spec.value = take_from(&g->r, &g->values);
  if (flags & INPUT_UPDATE) spec.update = take_var(g);
  const bool bad = g->r.bad || (spec.value != NULL && !type_is_valid(spec.var->type, spec.value));
  damo_obj *own = bad || spec.value == NULL ? NULL : value_copy(spec.value);
  damo_status s = bad ? damaged(g) : spec.value != NULL && own == NULL ? DAMO_EMEMORY : DAMO_OK;
  spec.value = own;
  if (s == DAMO_OK && store_set_input(g->graph, i, &spec) != DAMO_OK) s = failed(g);
  damo_release(own);
  mem_strfree(g->ctx, name);
  return s;
}

static damo_status load_out(store_reader *g, int64_t i) {
  out_spec spec = {.var = take_var(g)};
  spec.borrow = (take_below(&g->r, 2 * OUTPUT_BORROW) & OUTPUT_BORROW) != 0;
  char *name;
  if (g->r.bad) return damaged(g);
  DAMO_TRY(take_name(g, &name));
  spec.name = name;
  const damo_status s = store_set_output(g->graph, i, &spec);
  mem_strfree(g->ctx, name);
  return s;
}

static damo_status load_updates(store_reader *g) {
  const int64_t n = take_count(&g->r);
  for (int64_t i = 0; i < n && !g->r.bad; i++) {
    damo_var *of = take_var(g), *to = take_var(g);
    if (g->r.bad || of->kind != VAR_SHARED || !type_is_compatible(of->type, to->type)) return damaged(g);
    DAMO_TRY(store_add_update(g->graph, of, to));
  }
  return g->r.bad ? damaged(g) : DAMO_OK;
}

/* The last step: whatever fails before leaves no shared Variable that holds a graph which holds it. */
static damo_status load_defaults(store_reader *g) {
  ptrvec found;
  ptrvec_init(&found, g->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < g->shared.n && s == DAMO_OK; i++) {
    const damo_var *shared = g->shared.at[i];
    const uint64_t back = take_below(&g->r, (uint64_t)g->vars.n + 1);
    damo_var *v = g->r.bad || back == 0 ? NULL : g->vars.at[g->vars.n - (int64_t)back];
    if (g->r.bad || (v != NULL && !type_is_compatible(shared->type, v->type))) s = damaged(g);
    if (s == DAMO_OK) s = ptrvec_push(&found, v);
  }
  if (s == DAMO_OK && g->r.left > 0) s = damaged(g);
  if (s == DAMO_OK) s = ptrvec_reserve(&g->graph->shared, g->shared.n);
  for (int64_t i = 0; i < g->shared.n && s == DAMO_OK; i++) {
    damo_var *shared = g->shared.at[i];
    shared->default_update = damo_retain(found.at[i]);
    ptrvec_push(&g->graph->shared, damo_retain(shared));
  }
  ptrvec_clear(&found);
  return s;
}

static damo_status load_end(store_reader *g) {
  if (g->n_scopes > 0) return damaged(g);
  const int64_t n_in = take_count(&g->r);
  if (g->r.bad) return damaged(g);
  g->graph = store_graph_new(g->ctx, n_in);
  if (g->graph == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n_in; i++) DAMO_TRY(load_in(g, i));
  const int64_t n_out = take_count(&g->r);
  if (g->r.bad) return damaged(g);
  DAMO_TRY(store_set_n_outputs(g->graph, n_out));
  for (int64_t i = 0; i < n_out; i++) DAMO_TRY(load_out(g, i));
  DAMO_TRY(load_updates(g));
  g->ended = true;
  g->graph->foreign = g->foreign;
  return load_defaults(g);
}

static damo_status load_record(store_reader *g) {
  switch ((char)bytes_get(&g->r, 1)) {
    case 'T': return load_type(g);
    case 'V': return load_value(g);
    case 'L': return load_lines(g);
    case 'C': return load_op_class(g);
    case '(': return begin_graph(g);
    case 'O': return load_op(g);
    case 'S': return load_shared(g);
    case 'X': return load_leaf(g);
    case 'N': return load_node(g);
    case 'E': return load_end(g);
    default: return damaged(g);
  }
}

/* Magic, version, size and sum. */
static damo_status load_start(store_reader *g, const cell_text *text) {
  g->r = (byte_reader){.ctx = g->ctx, .at = (const unsigned char *)text->at, .left = text->n};
  if (!store_is_graph(text->at, text->n)) return ctx_fail(g->ctx, DAMO_EIO, "%s: this is no graph of damo", g->path);
  g->r.at += 8, g->r.left -= 8;
  const uint64_t version = bytes_get(&g->r, 4), size = bytes_get(&g->r, 8);
  if (g->r.bad) return damaged(g);
  if (version != STORE_VERSION)
    return ctx_fail(g->ctx, DAMO_EIO, "%s: graphs of version %llu are not known", g->path, (unsigned long long)version);
  if (size != text->n || size < STORE_HEAD + STORE_TAIL) return damaged(g);
  byte_reader tail = {.ctx = g->ctx, .at = (const unsigned char *)text->at + text->n - STORE_TAIL, .left = STORE_TAIL};
  if (bytes_get(&tail, 8) != bytes_check_sum(text->at, text->n - STORE_TAIL)) return damaged(g);
  g->r.left -= STORE_TAIL;
  return DAMO_OK;
}

static damo_status load_graph(store_reader *g, const cell_text *text) {
  const op_def *def;
  DAMO_TRY(load_start(g, text));
  for (int i = 0; (def = store_class_at(i)) != NULL; i++) DAMO_TRY(ptrvec_push(&g->native, def));
  while (!g->ended) DAMO_TRY(load_record(g));
  return DAMO_OK;
}

static void reader_clear(store_reader *g) {
  ptrvec *objects[] = {&g->types, &g->values, &g->lines, &g->ops, &g->shared, &g->owned};
  ptrvec *borrowed[] = {&g->native, &g->vars, &g->inputs, &g->in_list, &g->out_list};
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) ptrvec_release_all(objects[i]);
  for (size_t i = 0; i < sizeof borrowed / sizeof *borrowed; i++) ptrvec_clear(borrowed[i]);
  for (int64_t i = 0; i < g->n_classes; i++) {
    if (g->classes[i].places != NULL)
      mem_free(g->ctx, g->classes[i].places, (size_t)g->classes[i].n_fields * sizeof *g->classes[i].places);
  }
  if (g->classes != NULL) mem_free(g->ctx, g->classes, (size_t)g->classes_cap * sizeof *g->classes);
  if (g->scopes != NULL) mem_free(g->ctx, g->scopes, (size_t)g->scopes_cap * sizeof *g->scopes);
}

static void reader_init(store_reader *g, damo_ctx *ctx, const char *path, const store_env *env) {
  *g = (store_reader){.ctx = ctx, .path = path, .env = env};
  ptrvec *lists[] = {&g->types,  &g->values, &g->lines,  &g->ops,     &g->shared,  &g->owned,
                     &g->native, &g->vars,   &g->inputs, &g->in_list, &g->out_list};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) ptrvec_init(lists[i], ctx);
}

bool store_is_graph(const void *bytes, size_t n) { return n >= 8 && memcmp(bytes, STORE_MAGIC, 8) == 0; }

damo_graph *store_read(damo_ctx *ctx, const io_from *from, const store_env *env) {
  strbuf file;
  cell_text text;
  store_reader g;
  strbuf_init(&file, ctx);
  reader_init(&g, ctx, from->path, env);
  damo_status s = io_whole_text(ctx, from, &file, &text);
  if (s == DAMO_OK) s = load_graph(&g, &text);
  reader_clear(&g);
  strbuf_clear(&file);
  if (s == DAMO_OK) return g.graph;
  store_graph_free(g.graph);
  return NULL;
}
