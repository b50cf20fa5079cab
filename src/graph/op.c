/* op.c: Ops: interning by class and properties, application to Variables, text. */
#include "graph_int.h"

#include <string.h>

/* ---- Property copies --------------------------------------------------------------------------------------------- */

static void prop_free(damo_ctx *ctx, prop_value *v) {
  switch (v->kind) {
    case PROP_STR: mem_strfree(ctx, (char *)v->u.s); break;
    case PROP_TYPE: damo_release(v->u.type); break;
    case PROP_OP: damo_release(v->u.op); break;
    case PROP_LIST:
      for (int i = 0; i < v->n; i++) prop_free(ctx, (prop_value *)&v->u.list[i]);
      mem_free(ctx, (void *)v->u.list, (size_t)v->n * sizeof(prop_value));
      break;
    case PROP_NIL:
    case PROP_BOOL:
    case PROP_INT:
    case PROP_NUM:
    case PROP_VAR: break;
  }
  v->kind = PROP_NIL;
}

/* Deep copy; on failure dst is PROP_NIL. */
static damo_status prop_copy(damo_ctx *ctx, prop_value *dst, const prop_value *src) {
  *dst = *src;
  switch (src->kind) {
    case PROP_STR:
      dst->u.s = mem_strdup(ctx, src->u.s);
      if (dst->u.s != NULL) return DAMO_OK;
      break;
    case PROP_TYPE: damo_retain(src->u.type); return DAMO_OK;
    case PROP_OP: damo_retain(src->u.op); return DAMO_OK;
    case PROP_LIST: {
      prop_value *list = mem_calloc(ctx, (size_t)src->n * sizeof *list);
      if (list == NULL) break;
      dst->u.list = list;
      for (int i = 0; i < src->n; i++) {
        if (prop_copy(ctx, &list[i], &src->u.list[i]) != DAMO_OK) {
          prop_free(ctx, dst);
          return DAMO_EMEMORY;
        }
      }
      return DAMO_OK;
    }
    case PROP_VAR: dst->kind = PROP_NIL; return ctx_fail(ctx, DAMO_ETYPE, "a property of an Op can't be a Variable");
    case PROP_NIL:
    case PROP_BOOL:
    case PROP_INT:
    case PROP_NUM: return DAMO_OK;
  }
  dst->kind = PROP_NIL;
  return DAMO_EMEMORY;
}

/* ---- Tables of properties ---------------------------------------------------------------------------------------- */

int op_fields_count(const op_field *fields) {
  int n = 0;
  while (fields != NULL && fields[n].name != NULL) n++;
  return n;
}

const op_field *op_field_find(const op_field *fields, const char *name) {
  for (const op_field *f = fields; f != NULL && f->name != NULL; f++) {
    if (strcmp(f->name, name) == 0) return f;
  }
  return NULL;
}

/* The text of the names is stored behind the table. */
op_field *op_fields_new(damo_ctx *ctx, const char *names, size_t *size) {
  int n = 0;
  for (const char *p = names + strspn(names, " "); *p != '\0'; n++) {
    p += strcspn(p, " ");
    p += strspn(p, " ");
  }
  const size_t table = (size_t)(n + 1) * sizeof(op_field), text = strlen(names) + 1;
  op_field *fields = mem_calloc(ctx, table + text);
  if (fields == NULL) return NULL;
  *size = table + text;
  char *p = memcpy((char *)fields + table, names, text);
  for (int i = 0; i < n; i++) {
    p += strspn(p, " ");
    fields[i] = (op_field){.name = p, .place = i};
    p += strcspn(p, " ");
    if (*p != '\0') *p++ = '\0';
  }
  return fields;
}

/* ---- Rules of properties ----------------------------------------------------------------------------------------- */

static bool word_known(const prop_rule *rule, const char *text) {
  damo_dtype unused;
  if (rule->dtype) return damo_dtype_from_name(text, &unused);
  for (const char *const *w = rule->words; w != NULL; w++) {
    if (*w == NULL) return false;
    if (strcmp(*w, text) == 0) return true;
  }
  return true;
}

/* A value, or an entry of a list, of one of these kinds. */
static bool prop_fits(const prop_rule *rule, unsigned kinds, const prop_value *v) {
  if ((kinds & PROP_IS(v->kind)) == 0) return false;
  if (v->kind == PROP_INT) return v->u.i >= rule->least && v->u.i <= rule->most;
  if (v->kind == PROP_STR) return word_known(rule, v->u.s);
  if (v->kind != PROP_LIST) return true;
  if (v->n < rule->fewest || v->n > rule->longest) return false;
  for (int i = 0; i < v->n; i++) {
    if (!prop_fits(rule, rule->entries, &v->u.list[i])) return false;
  }
  return true;
}

static damo_status props_judge(const damo_op *op) {
  for (const op_field *f = op->def->props; f != NULL && f->name != NULL; f++) {
    const prop_value *v = &op->props[f->place];
    strbuf text;
    if (f->rule == NULL || prop_fits(f->rule, f->rule->kinds, v)) continue;
    strbuf_init(&text, op->obj.ctx);
    prop_format(&text, v);
    const damo_status s = f->rule->kinds & PROP_IS(v->kind) ? DAMO_EVALUE : DAMO_ETYPE;
    ctx_fail(op->obj.ctx, s, "%s: the property '%s' can't be %s", op->def->name, f->name,
             text.failed || text.at == NULL ? "this" : text.at);
    strbuf_clear(&text);
    return s;
  }
  return DAMO_OK;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void op_destroy(damo_obj *obj) {
  damo_op *op = (damo_op *)obj;
  const op_def *def = op->def;
  intern_remove(obj->ctx, CTX_OPS, &op->link);
  if (def->clear != NULL) def->clear(op);
  for (int i = 0; i < op->n_props; i++) prop_free(obj->ctx, &op->props[i]);
  mem_free(obj->ctx, op->props, (size_t)op->n_props * sizeof *op->props);
  size_t size = sizeof *op + def->data_size;
  damo_release(op->owner); /* may free def */
  obj_free(obj, size);
}

static bool same_op(const damo_op *op, const op_def *def, const prop_value *props, int n) {
  if (op->def != def) return false;
  for (int i = 0; i < op->n_props; i++) {
    if (i < n ? !prop_equal(&op->props[i], &props[i]) : prop_given(op->props[i])) return false;
  }
  return true;
}

static damo_op *op_make(damo_ctx *ctx, const op_def *def, damo_obj *owner, const prop_value *props, int n,
                        uint64_t hash) {
  damo_op *op = obj_new(ctx, OBJ_OP, sizeof *op + def->data_size);
  if (op == NULL) return NULL;
  op->def = def;
  op->owner = damo_retain(owner);
  if (op_is_foreign(op)) op->id = ctx->next_id++;
  op->link.hash = hash;
  op->view_map = def->view_map;
  op->destroy_map = def->destroy_map;
  op->terms = def->terms;
  op->data = op + 1;
  const int fields = op_fields_count(def->props);
  if (fields > 0) {
    op->props = mem_calloc(ctx, (size_t)fields * sizeof *op->props);
    if (op->props == NULL) goto fail;
    op->n_props = fields;
    for (int i = 0; i < n; i++) {
      if (prop_copy(ctx, &op->props[i], &props[i]) != DAMO_OK) goto fail;
    }
  }
  if (props_judge(op) != DAMO_OK || (def->init != NULL && def->init(op) != DAMO_OK)) {
    ctx_fail_at(ctx, def->name, NULL);
    goto fail;
  }
  return op;
fail:
  damo_release(op);
  return NULL;
}

damo_op *op_new_owned(damo_ctx *ctx, const op_def *def, damo_obj *owner, const void *props) {
  const prop_value *values = props;
  uint64_t hash = hash_mix(19, (uint64_t)(uintptr_t)def);
  int n = values != NULL ? op_fields_count(def->props) : 0;
  while (n > 0 && !prop_given(values[n - 1])) n--; /* trailing nils do not count */
  for (int i = 0; i < n; i++) hash = prop_hash(hash, &values[i]);
  for (intern_link *l = def->unique ? NULL : intern_first(ctx, CTX_OPS, hash); l != NULL; l = l->next) {
    damo_op *op = INTERNED(damo_op, l);
    if (same_op(op, def, values, n)) return damo_retain(op);
  }
  damo_op *op = op_make(ctx, def, owner, values, n, hash);
  if (op == NULL) return NULL;
  if (intern_add(ctx, CTX_OPS, &op->link) != DAMO_OK) {
    damo_release(op);
    return NULL;
  }
  return op;
}

damo_op *op_new(damo_ctx *ctx, const op_def *def, const void *props) { return op_new_owned(ctx, def, NULL, props); }

/* ---- Questions --------------------------------------------------------------------------------------------------- */

const prop_value *op_prop(const damo_op *op, const char *name) {
  static const prop_value none = {.kind = PROP_NIL};
  const op_field *f = op_field_find(op->def->props, name);
  return f != NULL ? &op->props[f->place] : &none;
}

void op_format(strbuf *out, const damo_op *op) {
  if (op->def->format != NULL) {
    op->def->format(out, op);
    return;
  }
  strbuf_add(out, op->def->name);
  const char *before = "{";
  for (const op_field *f = op->def->props; f != NULL && f->name != NULL; f++) {
    if (!prop_given(op->props[f->place])) continue;
    strbuf_add(out, before);
    strbuf_add(out, f->name);
    strbuf_add(out, "=");
    prop_format(out, &op->props[f->place]);
    before = ", ";
  }
  if (*before == ',') strbuf_add(out, "}");
}

int op_default_output(const damo_op *op) {
  const prop_value *v = op_prop(op, "default_output");
  return v->kind == PROP_INT ? (int)v->u.i : v->kind == PROP_BOOL ? 0 : op->def->default_output;
}

int op_n_out(const damo_op *op, int n_in) {
  if (op->def->n_out == OP_VARIADIC) return op->def->count_out(op, n_in);
  return op->def->n_out == 0 ? 1 : op->def->n_out;
}

damo_status op_check_alias(damo_ctx *ctx, const char *op, const char *which, const op_alias *aliases, int n_in,
                           int n_out) {
  for (const op_alias *a = aliases; a != NULL && a->out >= 0; a++) {
    const bool bad_out = n_out >= 0 && a->out >= n_out;
    if (!bad_out && a->in >= 0 && (n_in < 0 || a->in < n_in)) continue;
    const int at = bad_out ? a->out : a->in, n = bad_out ? n_out : n_in;
    const char *what = bad_out ? "output" : "input";
    if (n < 0) return ctx_fail(ctx, DAMO_EVALUE, "%s: its %s names no %s", op, which, what);
    return ctx_fail(ctx, DAMO_EVALUE, "%s: its %s names %s %d, but it has %d %s%s", op, which, what, at + 1, n, what,
                    n == 1 ? "" : "s");
  }
  return DAMO_OK;
}

/* ---- Application ------------------------------------------------------------------------------------------------- */

#define SMALL_OUT 8

/* Results have Types without a pattern: patterns of results are inferred when compiling. */
static damo_status drop_patterns(damo_type **types, int n) {
  for (int i = 0; i < n; i++) {
    if (types[i] == NULL || types[i]->pattern == NULL) continue;
    damo_type *open = type_without_pattern(types[i]);
    if (open == NULL) return DAMO_EMEMORY;
    damo_release(types[i]);
    types[i] = open;
  }
  return DAMO_OK;
}

static damo_apply *apply_inferred(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in) {
  int n_out = op_n_out(op, n_in);
  damo_type *small[SMALL_OUT] = {NULL};
  size_t bytes = (size_t)n_out * sizeof(damo_type *);
  damo_type **types = n_out <= SMALL_OUT ? small : mem_calloc(ctx, bytes);
  if (types == NULL) return NULL;
  damo_apply *node = NULL;
  if (op->def->infer_type(op, in, n_in, types) == DAMO_OK && drop_patterns(types, n_out) == DAMO_OK) {
    node = apply_new(ctx, op, in, n_in, types, n_out);
  }
  for (int i = 0; i < n_out; i++) damo_release(types[i]);
  if (types != small) mem_free(ctx, types, bytes);
  return node;
}

static damo_apply *apply_made(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in) {
  build b;
  build_init(&b, ctx);
  damo_apply *node = op->def->make_node(&b, op, in, n_in);
  if (build_end(&b) != DAMO_OK) {
    damo_release(node);
    return NULL;
  }
  return node;
}

damo_apply *op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in) {
  const op_def *def = op->def;
  damo_apply *node = NULL;
  if (def->n_in != OP_VARIADIC && def->n_in != n_in) {
    ctx_fail(ctx, DAMO_ETYPE, "%s: expected %d input%s, got %d", def->name, def->n_in, def->n_in == 1 ? "" : "s", n_in);
  } else if (def->n_in == OP_VARIADIC && n_in < (def->least_in == 0 ? 1 : def->least_in)) {
    ctx_fail(ctx, DAMO_ETYPE, "%s: expected at least %d input%s, got %d", def->name,
             def->least_in == 0 ? 1 : def->least_in, def->least_in > 1 ? "s" : "", n_in);
  } else if (def->make_node != NULL) {
    node = apply_made(ctx, op, in, n_in);
  } else {
    node = apply_inferred(ctx, op, in, n_in);
  }
  if (node == NULL) {
    ctx_fail_at(ctx, def->name, NULL);
    graph_fail_operands(ctx, in, n_in);
  }
  return node;
}

damo_status op_register(damo_ctx *ctx) {
  DAMO_TRY(intern_register(ctx, CTX_OPS));
  ctx_register_kind(ctx, OBJ_OP, op_destroy, NULL);
  return DAMO_OK;
}
