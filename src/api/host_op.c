/* host_op.c: Op classes that a host registers through damo.h, and what their callbacks see.
 *
 * In: damo_op_class tables. Out: op_defs that live as long as the context, found by name. The perform of a class is a
 * thunk's run function itself, so calling it costs nothing more; the other callbacks hand over owned Variables, which
 * go into the scope of who asked.
 */
#include <string.h>

#include "api_int.h"

typedef struct host_class {
  op_def def;
  damo_op_class host; /* texts and lists owned */
  char *name, *doc, *props;
  op_alias *view_map, *destroy_map;
  int n_view, n_destroy;
} host_class;

static const host_class *class_of(const damo_op *op) { return (const host_class *)op->def; }

/* ---- The registry ------------------------------------------------------------------------------------------------ */

static ptrvec *classes_of(damo_ctx *ctx) { return ctx->slots[CTX_CLASSES].data; }

static void class_free(damo_ctx *ctx, host_class *k) {
  if (k->host.destroy != NULL) k->host.destroy(k->host.user);
  mem_strfree(ctx, k->name);
  mem_strfree(ctx, k->doc);
  mem_strfree(ctx, k->props);
  if (k->view_map != NULL) mem_free(ctx, k->view_map, (size_t)k->n_view * sizeof *k->view_map);
  if (k->destroy_map != NULL) mem_free(ctx, k->destroy_map, (size_t)k->n_destroy * sizeof *k->destroy_map);
  mem_free(ctx, k, sizeof *k);
}

static void classes_destroy(damo_ctx *ctx, void *data) {
  ptrvec *classes = data;
  for (int64_t i = 0; i < classes->n; i++) class_free(ctx, classes->at[i]);
  ptrvec_clear(classes);
  mem_free(ctx, classes, sizeof *classes);
}

damo_status api_classes_register(damo_ctx *ctx) {
  ptrvec *classes = mem_calloc(ctx, sizeof *classes);
  if (classes == NULL) return DAMO_EMEMORY;
  ptrvec_init(classes, ctx);
  ctx->slots[CTX_CLASSES] = (ctx_slot){.data = classes, .destroy = classes_destroy};
  return DAMO_OK;
}

const op_def *api_class_at(damo_ctx *ctx, int64_t i) {
  const ptrvec *classes = classes_of(ctx);
  return i >= 0 && i < classes->n ? &((const host_class *)classes->at[i])->def : NULL;
}

const op_def *api_class_find(damo_ctx *ctx, const char *name) {
  const op_def *def;
  for (int64_t i = 0; (def = api_class_at(ctx, i)) != NULL; i++) {
    if (strcmp(def->name, name) == 0) return def;
  }
  return NULL;
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

static damo_status same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  if (n_in == 0) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected an input, got none", op->def->name);
  for (int o = 0; o < op_n_out(op, n_in); o++) out[o] = damo_retain(in[0]->type);
  return DAMO_OK;
}

/* A status that came without an error would be reported with an older one. */
static damo_status settled(const damo_op *op, damo_status s, const char *callback) {
  damo_ctx *ctx = op->obj.ctx;
  if (s != DAMO_OK && ctx->error.status == DAMO_OK) {
    ctx_fail(ctx, s, "%s: its %s failed with status %s", op->def->name, callback, damo_status_kind(s));
  }
  return s;
}

static damo_status asked_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  ctx_clear_error(op->obj.ctx);
  DAMO_TRY(settled(op, class_of(op)->host.infer_type(op, in, n_in, out), "infer_type"));
  for (int o = 0; o < op_n_out(op, n_in); o++) {
    if (out[o] != NULL) continue;
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: its infer_type gave no Type for output %d", op->def->name, o + 1);
  }
  return DAMO_OK;
}

/* Gives the owned Variables to the scope; when the callback failed they are only released. */
static damo_status take_all(build *b, damo_status s, damo_var **v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL) continue;
    if (s == DAMO_OK) {
      if (build_take(b, v[i]) == NULL) s = b->status;
    } else {
      damo_release(v[i]);
    }
  }
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return s;
}

static damo_status asked_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  ctx_clear_error(b->ctx);
  damo_status s = settled(node->op, class_of(node->op)->host.grad(node->op, node, gout, gin), "grad");
  return take_all(b, s, gin, node->n_in);
}

static damo_status asked_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  ctx_clear_error(b->ctx);
  damo_status s = settled(node->op, class_of(node->op)->host.rop(node->op, node, eval, rout), "rop");
  return take_all(b, s, rout, node->n_out);
}

static damo_status asked_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  ctx_clear_error(b->ctx);
  const damo_op_class *host = &class_of(node->op)->host;
  damo_status s = settled(node->op, host->infer_shape(node->op, node, in_shape, out_shape), "infer_shape");
  for (int o = 0; o < node->n_out; o++) {
    if (type_is_tensor(node->out[o]->type)) s = take_all(b, s, out_shape[o], node->out[o]->type->ndim);
  }
  return s;
}

static void asked_state_clear(thunk *t) { class_of(t->node->op)->host.state_clear(t->state); }

static int count_out(const damo_op *op, int n_in) {
  (void)n_in;
  return class_of(op)->host.n_out;
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

static bool is_name(const char *s) {
  if (s == NULL || *s == '\0' || (*s >= '0' && *s <= '9')) return false;
  return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

static damo_status check_class(damo_ctx *ctx, const damo_op_class *c) {
  if (!is_name(c->name)) {
    return ctx_fail(ctx, DAMO_EVALUE, "an Op class needs a name of letters, digits and '_', got '%s'",
                    c->name != NULL ? c->name : "");
  }
  if (api_class_find(ctx, c->name) != NULL) {
    return ctx_fail(ctx, DAMO_EVALUE, "there is an Op class '%s' already", c->name);
  }
  if (c->perform == NULL) return ctx_fail(ctx, DAMO_EVALUE, "the Op class '%s' needs perform", c->name);
  if (c->n_out < 0 || c->n_in < -1) return ctx_fail(ctx, DAMO_EVALUE, "the Op class '%s' counts wrong", c->name);
  return DAMO_OK;
}

static damo_status copy_text(damo_ctx *ctx, const char *text, char **out) {
  if (text == NULL) return DAMO_OK;
  *out = mem_strdup(ctx, text);
  return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status copy_map(damo_ctx *ctx, const damo_alias *from, op_alias **out, int *n) {
  if (from == NULL) return DAMO_OK;
  int count = 1;
  for (const damo_alias *a = from; a->out >= 0; a++) count++;
  *out = mem_alloc(ctx, (size_t)count * sizeof **out);
  if (*out == NULL) return DAMO_EMEMORY;
  *n = count;
  memcpy(*out, from, (size_t)count * sizeof **out);
  return DAMO_OK;
}

static void set_def(host_class *k) {
  const damo_op_class *c = &k->host;
  k->def = (op_def){.name = k->name,
                    .doc = k->doc,
                    .props = k->props,
                    .n_in = c->n_in < 0 ? OP_VARIADIC : c->n_in,
                    .n_out = c->n_out > 1 ? OP_VARIADIC : 1,
                    .count_out = count_out,
                    .default_output = c->default_output,
                    .view_map = k->view_map,
                    .destroy_map = k->destroy_map,
                    .infer_type = c->infer_type != NULL ? asked_type : same_type,
                    .perform = c->perform,
                    .state_size = c->state_size,
                    .state_clear = c->state_clear != NULL ? asked_state_clear : NULL,
                    .grad = c->grad != NULL ? asked_grad : NULL,
                    .rop = c->rop != NULL ? asked_rop : NULL,
                    .infer_shape = c->infer_shape != NULL ? asked_shape : NULL,
                    .connection_pattern = c->connection_pattern,
                    .do_constant_folding = c->do_constant_folding,
                    .foreign = true,
                    .user = c->user};
}

static damo_status fill_class(damo_ctx *ctx, host_class *k, const damo_op_class *c) {
  DAMO_TRY(copy_text(ctx, c->name, &k->name));
  DAMO_TRY(copy_text(ctx, c->doc, &k->doc));
  DAMO_TRY(copy_text(ctx, c->props, &k->props));
  DAMO_TRY(copy_map(ctx, c->view_map, &k->view_map, &k->n_view));
  DAMO_TRY(copy_map(ctx, c->destroy_map, &k->destroy_map, &k->n_destroy));
  k->host = *c;
  set_def(k);
  return ptrvec_push(classes_of(ctx), k);
}

damo_status damo_op_register(damo_ctx *ctx, const damo_op_class *op_class) {
  damo_status s = check_class(ctx, op_class);
  host_class *k = s == DAMO_OK ? mem_calloc(ctx, sizeof *k) : NULL;
  if (s == DAMO_OK && k == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = fill_class(ctx, k, op_class);
  if (s == DAMO_OK) return DAMO_OK;
  if (k != NULL) {
    k->host.destroy = NULL; /* called below, once */
    class_free(ctx, k);
  }
  if (op_class->destroy != NULL) op_class->destroy(op_class->user);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

#define MAX_PROPS 32

static prop_value to_value(const damo_prop *p) {
  switch (p->kind) {
    case DAMO_PROP_BOOL: return prop_bool(p->i != 0);
    case DAMO_PROP_INT: return prop_int(p->i);
    case DAMO_PROP_NUMBER: return prop_num(p->number);
    case DAMO_PROP_STRING: return p->string != NULL ? prop_str(p->string) : prop_nil();
    case DAMO_PROP_NIL: break;
  }
  return prop_nil();
}

/* The place of the word among the names, -1 when it is none of them. *n: how many there are. */
static int place_of(const char *names, const char *word, int *n) {
  int place = -1;
  *n = 0;
  for (const char *p = names != NULL ? names : ""; *p != '\0'; (*n)++) {
    size_t len = strcspn(p, " ");
    if (word != NULL && strlen(word) == len && memcmp(p, word, len) == 0) place = *n;
    p += len;
    while (*p == ' ') p++;
  }
  return place;
}

damo_op *damo_op_make(damo_ctx *ctx, const char *class_name, const damo_prop *props, int n_props) {
  prop_value values[MAX_PROPS];
  int n;
  const op_def *def = api_class_find(ctx, class_name);
  if (def == NULL) {
    ctx_fail(ctx, DAMO_EVALUE, "there is no Op class '%s'", class_name);
    return NULL;
  }
  place_of(def->props, NULL, &n);
  if (n > MAX_PROPS) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: %d properties, at most %d", def->name, n, MAX_PROPS);
    return NULL;
  }
  for (int i = 0; i < n; i++) values[i] = prop_nil();
  for (int i = 0; i < n_props; i++) {
    int unused, place = place_of(def->props, props[i].name, &unused);
    if (place < 0) {
      ctx_fail(ctx, DAMO_EVALUE, "%s: there is no property '%s'; there are: %s", def->name, props[i].name,
               def->props != NULL ? def->props : "none");
      return NULL;
    }
    values[place] = to_value(&props[i]);
  }
  return op_new(ctx, def, values, n);
}

damo_apply *damo_op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in) {
  return op_apply(ctx, op, in, n_in);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

void *damo_op_user(const damo_op *op) { return op->def->user; }
const char *damo_op_name(const damo_op *op) { return op->def->name; }

bool damo_op_get_number(const damo_op *op, const char *prop, double *out) {
  const prop_value *v = op_prop(op, prop);
  if (v->kind != PROP_NUM && v->kind != PROP_INT) return false;
  *out = v->kind == PROP_NUM ? v->u.f : (double)v->u.i;
  return true;
}

bool damo_op_get_int(const damo_op *op, const char *prop, int64_t *out) {
  const prop_value *v = op_prop(op, prop);
  if (v->kind == PROP_INT) *out = v->u.i;
  return v->kind == PROP_INT;
}

bool damo_op_get_bool(const damo_op *op, const char *prop, bool *out) {
  const prop_value *v = op_prop(op, prop);
  if (v->kind == PROP_BOOL) *out = v->u.i != 0;
  return v->kind == PROP_BOOL;
}

const char *damo_op_get_string(const damo_op *op, const char *prop) {
  const prop_value *v = op_prop(op, prop);
  return v->kind == PROP_STR ? v->u.s : NULL;
}

int damo_apply_n_inputs(const damo_apply *node) { return node->n_in; }
int damo_apply_n_outputs(const damo_apply *node) { return node->n_out; }
damo_var *damo_apply_get_input(const damo_apply *node, int i) { return i >= 0 && i < node->n_in ? node->in[i] : NULL; }
damo_var *damo_apply_get_output(const damo_apply *node, int i) {
  return i >= 0 && i < node->n_out ? node->out[i] : NULL;
}
damo_op *damo_apply_get_op(const damo_apply *node) { return node->op; }

int damo_type_ndim(const damo_type *type) { return type_has_shape(type) ? type->ndim : 0; }
damo_dtype damo_type_dtype(const damo_type *type) { return type->dtype; }
const int64_t *damo_type_shape(const damo_type *type) { return type->shape; }

/* ---- Inside perform ---------------------------------------------------------------------------------------------- */

const damo_array *damo_thunk_input(const damo_thunk *t, int i) { return damo_as_array(*t->in[i]); }

const damo_sparse *damo_thunk_input_sparse(const damo_thunk *t, int i) { return damo_as_sparse(*t->in[i]); }

damo_status damo_thunk_give_sparse(damo_thunk *t, int i, damo_sparse *take_value) {
  char want[320];
  const damo_type *type = t->node->out[i]->type;
  if (take_value == NULL) return damo_error_status(t->ctx);
  if (type_is_valid(type, &take_value->obj)) {
    thunk_set_out(t, i, &take_value->obj);
    return DAMO_OK;
  }
  damo_release(take_value);
  return ctx_fail(t->ctx, DAMO_ETYPE, "%s: output %d was given a matrix that is no value of %s", t->node->op->def->name,
                  i + 1, type_format(want, sizeof want, type));
}

damo_array *damo_thunk_output(damo_thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  return thunk_out(t, i, dtype, ndim, shape);
}

damo_array *damo_thunk_output_inplace(damo_thunk *t, int i, int j) { return thunk_out_inplace(t, i, j); }
void *damo_thunk_scratch(damo_thunk *t, size_t size) { return thunk_scratch(t, size); }
void *damo_thunk_state(const damo_thunk *t) { return t->state; }
damo_op *damo_thunk_get_op(const damo_thunk *t) { return t->node->op; }
damo_ctx *damo_thunk_ctx(const damo_thunk *t) { return t->ctx; }

damo_status damo_fail(damo_ctx *ctx, damo_status status, const char *message) {
  return ctx_fail(ctx, status, "%s", message != NULL ? message : damo_status_kind(status));
}

damo_ctx *damo_obj_ctx(const void *obj) { return ((const damo_obj *)obj)->ctx; }

damo_var *damo_grad_undefined(damo_ctx *ctx, const char *why) {
  damo_type *t = type_null(ctx, why);
  damo_var *v = t != NULL ? var_new(ctx, t, NULL) : NULL;
  damo_release(t);
  return v;
}
