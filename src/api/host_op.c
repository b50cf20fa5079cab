/* host_op.c: Op classes that a host registers through damo.h, and the functions that their callbacks call.
 *
 * In: damo_op_class tables. Out: op_defs that live as long as the context, found by name. A callback returns owned
 * Variables, which are given to the caller's build scope. Its results are checked; a wrong one is an error that names
 * the class.
 */
#include <stdio.h>
#include <string.h>

#include "api_int.h"
#include "sparse/sparse.h"

typedef struct host_op_class {
  op_def def;
  damo_op_class host; /* the host's table, for its callbacks; texts and lists are copied into the fields below */
  char *name, *doc;
  op_field *props;
  size_t props_size;
  op_alias *view_map, *destroy_map;
  int n_view, n_destroy;
} host_op_class;

static const host_op_class *host_op_class_of(const damo_op *op) { return (const host_op_class *)op->def; }

/* ---- The registry ------------------------------------------------------------------------------------------------ */

static ptrvec *classes_of(damo_ctx *ctx) { return ctx->slots[CTX_CLASSES].data; }

static void class_free(damo_ctx *ctx, host_op_class *k) {
  if (k->host.destroy != NULL) k->host.destroy(k->host.user);
  mem_strfree(ctx, k->name);
  mem_strfree(ctx, k->doc);
  if (k->props != NULL) mem_free(ctx, k->props, k->props_size);
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
  return i >= 0 && i < classes->n ? &((const host_op_class *)classes->at[i])->def : NULL;
}

const op_def *api_class_find(damo_ctx *ctx, const char *name) {
  const op_def *def;
  for (int64_t i = 0; (def = api_class_at(ctx, i)) != NULL; i++) {
    if (strcmp(def->name, name) == 0) return def;
  }
  return NULL;
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

static damo_status infer_same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  if (n_in == 0) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected an input, got none", op->def->name);
  for (int o = 0; o < op_n_out(op, n_in); o++) out[o] = damo_retain(in[0]->type);
  return DAMO_OK;
}

/* The status of a callback. If it failed without setting an error, sets one: otherwise an older error would be
 * reported. */
static damo_status settled(const damo_op *op, damo_status s, const char *callback) {
  damo_ctx *ctx = op->obj.ctx;
  if (s == DAMO_OK || ctx->error.status != DAMO_OK) return s;
  if ((unsigned)s > DAMO_ECALLBACK) {
    return ctx_fail(ctx, DAMO_ECALLBACK, "%s: its %s failed with %d, which is no status", op->def->name, callback,
                    (int)s);
  }
  return ctx_fail(ctx, s, "%s: its %s failed with status %s", op->def->name, callback, damo_status_kind(s));
}

/* An error unless obj, a result of a callback, is NULL or an object of that kind in the Op's context. */
static damo_status check_given(const damo_op *op, const char *callback, const void *obj, obj_kind kind) {
  char func[200];
  if (obj == NULL || (((const damo_obj *)obj)->kind == kind && ((const damo_obj *)obj)->ctx == op->obj.ctx))
    return DAMO_OK;
  snprintf(func, sizeof func, "%s: its %s", op->def->name, callback);
  return ctx_check_obj(op->obj.ctx, func, "a result", obj, kind);
}

static damo_status asked_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  ctx_clear_error(op->obj.ctx);
  DAMO_TRY(settled(op, host_op_class_of(op)->host.infer_type(op, in, n_in, out), "infer_type"));
  for (int o = 0; o < op_n_out(op, n_in); o++) {
    DAMO_TRY(check_given(op, "infer_type", out[o], OBJ_TYPE));
    if (out[o] != NULL) continue;
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: its infer_type gave no Type for output %d", op->def->name, o + 1);
  }
  return DAMO_OK;
}

/* Gives the owned Variables v[0..n) to the scope, or only releases them if the callback failed (s). */
static damo_status take_all(build *b, const damo_op *op, const char *callback, damo_status s, damo_var **v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL) continue;
    if (s == DAMO_OK) s = check_given(op, callback, v[i], OBJ_VAR);
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
  damo_status s = settled(node->op, host_op_class_of(node->op)->host.grad(node->op, node, gout, gin), "grad");
  return take_all(b, node->op, "grad", s, gin, node->n_in);
}

static damo_status asked_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  ctx_clear_error(b->ctx);
  damo_status s = settled(node->op, host_op_class_of(node->op)->host.rop(node->op, node, eval, rout), "rop");
  return take_all(b, node->op, "rop", s, rout, node->n_out);
}

static damo_status asked_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  ctx_clear_error(b->ctx);
  const damo_op_class *host = &host_op_class_of(node->op)->host;
  damo_status s = settled(node->op, host->infer_shape(node->op, node, in_shape, out_shape), "infer_shape");
  for (int o = 0; o < node->n_out; o++) {
    const damo_type *type = node->out[o]->type;
    if (!type_is_tensor(type)) continue;
    for (int d = 0; d < type->ndim && s == DAMO_OK; d++) {
      if (out_shape[o][d] == NULL) {
        s = ctx_fail(b->ctx, DAMO_EVALUE, "%s: its infer_shape gave no length for axis %d of output %d",
                     node->op->def->name, d + 1, o + 1);
      }
    }
    s = take_all(b, node->op, "infer_shape", s, out_shape[o], type->ndim);
  }
  return s;
}

/* ---- perform ----------------------------------------------------------------------------------------------------- */

/* Data of a thunk about one output: its Type, cached to save four pointer dereferences, and whether perform has set the
 * output in this run. The cell does not show the latter, since it keeps the value of an earlier run. */
typedef struct out_record {
  const damo_type *type; /* Type of the node's output */
  bool taken;
} out_record;

/* The state of a thunk: this struct, filled by the first run, followed by the host's own bytes. */
typedef struct host_state {
  damo_status (*perform)(damo_thunk *t);
  out_record out[];
} host_state;

/* The argument of a host's perform. */
struct damo_thunk {
  const thunk *t;
  frame *f;
};

static host_state *state_of(const thunk *t, frame *f) { return thunk_state(t, f); }
static size_t state_bytes(int n_out) { return sizeof(host_state) + (size_t)n_out * sizeof(out_record); }
static void *hosts_state(const thunk *t, frame *f) { return (char *)thunk_state(t, f) + state_bytes(t->n_out); }

static void fill_state(const thunk *t, frame *f) {
  host_state *st = state_of(t, f);
  damo_assert(t->n_out == t->node->n_out); /* the state was sized for the node */
  for (int o = 0; o < t->n_out; o++) st->out[o].type = t->node->out[o]->type;
  st->perform = host_op_class_of(t->node->op)->host.perform;
}

static damo_status wrong_output(const thunk *t, frame *f, int o) {
  char want[320], dims[200];
  const char *name = t->node->op->def->name;
  const damo_obj *v = thunk_result(t, f, o);
  type_format(want, sizeof want, t->node->out[o]->type);
  if (v->kind == OBJ_SPARSE) {
    return ctx_fail(f->ctx, DAMO_ETYPE, "%s: its perform put a sparse matrix into output %d, expected %s", name, o + 1,
                    want);
  }
  const damo_array *a = (const damo_array *)v;
  return ctx_fail(f->ctx, DAMO_ETYPE,
                  "%s: its perform put an array of dtype %s and shape %s into output %d, expected %s", name,
                  dtype_name(array_dtype(a)), shape_format(dims, sizeof dims, a->ndim, array_shape(a)), o + 1, want);
}

/* Whether output o must be copied: it is read-only, the host still holds it, or it shares memory with an input or an
 * earlier output that the maps do not declare. A later write into the output would change these. */
static bool is_shared(const thunk *t, frame *f, int o) {
  const damo_op *op = t->node->op;
  const damo_array *a = value_array(thunk_result(t, f, o));
  if (a == NULL || (thunk_out_is_fixed(t, f, o))) return false;
  if (array_is_exclusive(a) && thunk_result(t, f, o)->refs == 1) return !a->writeable;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = value_array(thunk_value(t, f, i));
    if (x == NULL || x->buf != a->buf) continue;
    return !op_alias_has(op->view_map, o, i) && !op_alias_has(op->destroy_map, o, i);
  }
  return true;
}

static damo_status host_op_check_output(const thunk *t, frame *f, int o) {
  damo_assert(o >= 0 && o < t->n_out);
  if (!state_of(t, f)->out[o].taken || thunk_result(t, f, o) == NULL) {
    return ctx_fail(f->ctx, DAMO_EVALUE, "%s: its perform gave no output %d: it takes it with damo_thunk_output",
                    t->node->op->def->name, o + 1);
  }
  if (!type_is_valid(t->node->out[o]->type, thunk_result(t, f, o))) return wrong_output(t, f, o);
  if (!is_shared(t, f, o)) return DAMO_OK;
  damo_obj *copy = value_copy(thunk_result(t, f, o));
  if (copy == NULL) return DAMO_EMEMORY;
  thunk_set_out(t, f, o, copy);
  return DAMO_OK;
}

/* Fast path of host_op_check_output: the output is a writeable array of the Type that nothing else holds. */
static inline bool is_plain(const out_record *r, const damo_obj *v) {
  const damo_type *type = r->type;
  const damo_array *a = (const damo_array *)v;
  if (!r->taken || v == NULL || v->kind != OBJ_ARRAY || type->kind != TYPE_TENSOR) return false;
  if (a->dtype != type->dtype || a->ndim != type->ndim || !a->writeable) return false;
  if (v->refs != 1 || a->buf == NULL || a->buf->obj.refs != 1) return false;
  for (int d = 0; d < a->ndim; d++) {
    if (type->shape[d] >= 0 && type->shape[d] != array_shape(a)[d]) return false;
  }
  return true;
}

static damo_status asked_perform(const thunk *t, frame *f) {
  host_state *st = state_of(t, f);
  const damo_status before = f->ctx->error.status;
  if (st->perform == NULL) fill_state(t, f);
  for (int o = 0; o < t->n_out; o++) st->out[o].taken = false;
  f->ctx->error.status = DAMO_OK; /* cleared to see whether this call sets an error; else the older one is restored */
  const damo_status s = st->perform(&(damo_thunk){t, f});
  if (t->node->op->def->impure) f->ctx->n_effects++;
  if (s != DAMO_OK) return settled(t->node->op, s, "perform");
  if (f->ctx->error.status == DAMO_OK) f->ctx->error.status = before;
  for (int o = 0; o < t->n_out; o++) {
    if (!is_plain(&st->out[o], thunk_result(t, f, o))) DAMO_TRY(host_op_check_output(t, f, o));
  }
  return DAMO_OK;
}

static void asked_state_clear(const thunk *t, frame *f) {
  host_op_class_of(t->node->op)->host.state_clear(hosts_state(t, f));
}

static int count_out(const damo_op *op, int n_in) {
  (void)n_in;
  return host_op_class_of(op)->host.n_out;
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
  if (c->n_out < 0 || c->n_out > INT16_MAX || c->n_in < -1 || c->n_in > INT16_MAX) {
    return ctx_fail(ctx, DAMO_EVALUE, "the Op class '%s' has %d inputs and %d outputs, which can't be", c->name,
                    c->n_in, c->n_out);
  }
  const int n_out = c->n_out > 1 ? c->n_out : 1;
  if (c->default_output < 0 || c->default_output > n_out) {
    return ctx_fail(ctx, DAMO_EVALUE, "the Op class '%s' has no output %d for default_output: there are %d", c->name,
                    c->default_output, n_out);
  }
  DAMO_TRY(op_check_alias(ctx, c->name, "view_map", c->view_map, c->n_in, n_out));
  return op_check_alias(ctx, c->name, "destroy_map", c->destroy_map, c->n_in, n_out);
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

static void set_def(host_op_class *k) {
  const damo_op_class *c = &k->host;
  k->def = (op_def){.name = k->name,
                    .doc = k->doc,
                    .props = k->props,
                    .n_in = c->n_in < 0 ? OP_VARIADIC : c->n_in,
                    .least_in = c->infer_type != NULL ? OP_NO_INPUT : 0,
                    .n_out = c->n_out > 1 ? OP_VARIADIC : 1,
                    .count_out = count_out,
                    .default_output = c->default_output,
                    .view_map = k->view_map,
                    .destroy_map = k->destroy_map,
                    .infer_type = c->infer_type != NULL ? asked_type : infer_same_type,
                    .perform = asked_perform,
                    .state_size = state_bytes(c->n_out > 1 ? c->n_out : 1) + c->state_size,
                    .state_clear = c->state_clear != NULL ? asked_state_clear : NULL,
                    .grad = c->grad != NULL ? asked_grad : NULL,
                    .rop = c->rop != NULL ? asked_rop : NULL,
                    .infer_shape = c->infer_shape != NULL ? asked_shape : NULL,
                    .connection_pattern = c->connection_pattern,
                    .do_constant_folding = c->do_constant_folding,
                    .impure = c->impure,
                    .foreign = true,
                    .no_check = "a host's Op has no second definition",
                    .one_context = true,
                    .user = c->user};
}

static damo_status fill_class(damo_ctx *ctx, host_op_class *k, const damo_op_class *c) {
  DAMO_TRY(mem_copy_text(ctx, c->name, &k->name));
  DAMO_TRY(mem_copy_text(ctx, c->doc, &k->doc));
  k->props = op_fields_new(ctx, c->props != NULL ? c->props : "", &k->props_size);
  if (k->props == NULL) return DAMO_EMEMORY;
  DAMO_TRY(copy_map(ctx, c->view_map, &k->view_map, &k->n_view));
  DAMO_TRY(copy_map(ctx, c->destroy_map, &k->destroy_map, &k->n_destroy));
  k->host = *c;
  set_def(k);
  return ptrvec_push(classes_of(ctx), k);
}

damo_status damo_op_register(damo_ctx *ctx, const damo_op_class *op_class) {
  DAMO_TRY(ctx_check_given(ctx, "damo_op_register", "op_class", op_class));
  damo_status s = check_class(ctx, op_class);
  host_op_class *k = s == DAMO_OK ? mem_calloc(ctx, sizeof *k) : NULL;
  if (s == DAMO_OK && k == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = fill_class(ctx, k, op_class);
  if (s == DAMO_OK) return DAMO_OK;
  if (k != NULL) {
    k->host.destroy = NULL; /* called once, below */
    class_free(ctx, k);
  }
  if (op_class->destroy != NULL) op_class->destroy(op_class->user);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

#define HOST_OP_MAX_PROPS 32

/* Converts a property whose kind damo_op_make has checked. */
static prop_value to_value(const damo_prop *p) {
  switch (p->kind) {
    case DAMO_PROP_BOOL: return prop_bool(p->i != 0);
    case DAMO_PROP_INT: return prop_int(p->i);
    case DAMO_PROP_NUMBER: return prop_num(p->number);
    case DAMO_PROP_STRING: return p->string != NULL ? prop_str(p->string) : prop_nil();
    case DAMO_PROP_NIL:
    case DAMO_PROP_INTS:
    case DAMO_PROP_VAR:
    case DAMO_PROP_VARS: break;
  }
  return prop_nil();
}

static damo_status fail_unknown_prop(damo_ctx *ctx, const op_def *def, const char *name) {
  strbuf known;
  strbuf_init(&known, ctx);
  for (const op_field *f = def->props; f->name != NULL; f++)
    strbuf_addf(&known, "%s%s", f > def->props ? " " : "", f->name);
  damo_status s = ctx_fail(ctx, DAMO_EVALUE, "%s: there is no property '%s'; there are: %s", def->name, name,
                           known.at != NULL ? known.at : "none");
  strbuf_clear(&known);
  return s;
}

damo_op *damo_op_make(damo_ctx *ctx, const char *class_name, const damo_prop *props, int n_props) {
  prop_value values[HOST_OP_MAX_PROPS];
  if (ctx_check_given(ctx, "damo_op_make", "class_name", class_name) != DAMO_OK ||
      ctx_check_list(ctx, "damo_op_make", "props", props, n_props) != DAMO_OK) {
    return NULL;
  }
  const op_def *def = api_class_find(ctx, class_name);
  if (def == NULL) {
    ctx_fail(ctx, DAMO_EVALUE, "there is no Op class '%s'", class_name);
    return NULL;
  }
  const int n = op_fields_count(def->props);
  if (n > HOST_OP_MAX_PROPS) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: %d properties, at most %d", def->name, n, HOST_OP_MAX_PROPS);
    return NULL;
  }
  for (int i = 0; i < n; i++) values[i] = prop_nil();
  for (int i = 0; i < n_props; i++) {
    if (ctx_check_given(ctx, def->name, "the name of a property", props[i].name) != DAMO_OK) return NULL;
    if ((unsigned)props[i].kind > DAMO_PROP_STRING) {
      ctx_fail(ctx, DAMO_EVALUE, "%s: the property '%s' has kind %d, which %s", def->name, props[i].name,
               (int)props[i].kind,
               (unsigned)props[i].kind > DAMO_PROP_VARS ? "does not exist" : "is for options of functions");
      return NULL;
    }
    const op_field *f = op_field_find(def->props, props[i].name);
    if (f == NULL) {
      fail_unknown_prop(ctx, def, props[i].name);
      return NULL;
    }
    values[f->place] = to_value(&props[i]);
  }
  return op_new(ctx, def, values);
}

damo_apply *damo_op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in) {
  if (ctx_check_obj(ctx, "damo_op_apply", "op", op, OBJ_OP) != DAMO_OK ||
      ctx_check_objs(ctx, "damo_op_apply", "in", in, n_in, OBJ_VAR) != DAMO_OK) {
    return NULL;
  }
  return op_apply(ctx, op, in, n_in);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

void *damo_op_user(const damo_op *op) { return op != NULL ? op->def->user : NULL; }
const char *damo_op_name(const damo_op *op) { return op != NULL ? op->def->name : NULL; }

/* The property if it is of that kind, else NULL. */
static const prop_value *prop_of_kind(const damo_op *op, const char *prop, prop_kind kind) {
  const prop_value *v = op != NULL && prop != NULL ? op_prop(op, prop) : NULL;
  return v != NULL && v->kind == kind ? v : NULL;
}

bool damo_op_get_number(const damo_op *op, const char *prop, double *out) {
  const prop_value *number = prop_of_kind(op, prop, PROP_NUM), *whole = prop_of_kind(op, prop, PROP_INT);
  if (out == NULL || (number == NULL && whole == NULL)) return false;
  *out = number != NULL ? number->u.f : (double)whole->u.i;
  return true;
}

bool damo_op_get_int(const damo_op *op, const char *prop, int64_t *out) {
  const prop_value *v = prop_of_kind(op, prop, PROP_INT);
  if (out == NULL || v == NULL) return false;
  *out = v->u.i;
  return true;
}

bool damo_op_get_bool(const damo_op *op, const char *prop, bool *out) {
  const prop_value *v = prop_of_kind(op, prop, PROP_BOOL);
  if (out == NULL || v == NULL) return false;
  *out = v->u.i != 0;
  return true;
}

const char *damo_op_get_string(const damo_op *op, const char *prop) {
  const prop_value *v = prop_of_kind(op, prop, PROP_STR);
  return v != NULL ? v->u.s : NULL;
}

int damo_apply_n_inputs(const damo_apply *node) { return node != NULL ? node->n_in : 0; }
int damo_apply_n_outputs(const damo_apply *node) { return node != NULL ? node->n_out : 0; }
damo_var *damo_apply_get_input(const damo_apply *node, int i) {
  return node != NULL && i >= 0 && i < node->n_in ? node->in[i] : NULL;
}
damo_var *damo_apply_get_output(const damo_apply *node, int i) {
  return node != NULL && i >= 0 && i < node->n_out ? node->out[i] : NULL;
}
damo_op *damo_apply_get_op(const damo_apply *node) { return node != NULL ? node->op : NULL; }

int damo_type_ndim(const damo_type *type) { return type != NULL && type_has_shape(type) ? type->ndim : 0; }
damo_dtype damo_type_dtype(const damo_type *type) { return type != NULL ? type->dtype : DAMO_N_DTYPES; }
const int64_t *damo_type_shape(const damo_type *type) { return type != NULL ? type->shape : NULL; }

/* ---- Inside perform ---------------------------------------------------------------------------------------------- */

static const char *name_in(const damo_thunk *h) { return thunk_name(h->t); }
static bool has_input(const damo_thunk *h, int i) { return h != NULL && i >= 0 && i < h->t->n_in; }

/* An index error unless the node has an output i. */
static damo_status check_out(const damo_thunk *h, const char *func, int i) {
  if (h == NULL) return DAMO_EVALUE;
  if (i >= 0 && i < h->t->n_out) return DAMO_OK;
  return ctx_fail(h->f->ctx, DAMO_EINDEX, "%s: %s: there is no output %d, outputs are 0 to %d", name_in(h), func, i,
                  h->t->n_out - 1);
}

const damo_array *damo_thunk_input(const damo_thunk *h, int i) {
  return has_input(h, i) ? damo_as_array(thunk_value(h->t, h->f, i)) : NULL;
}

const damo_sparse *damo_thunk_input_sparse(const damo_thunk *h, int i) {
  return has_input(h, i) ? damo_as_sparse(thunk_value(h->t, h->f, i)) : NULL;
}

damo_status damo_thunk_give_sparse(damo_thunk *h, int i, damo_sparse *take_value) {
  char want[320];
  damo_status s = check_out(h, "damo_thunk_give_sparse", i);
  if (take_value == NULL) return s != DAMO_OK ? s : damo_error_status(h->f->ctx);
  if (s == DAMO_OK) s = check_given(h->t->node->op, "perform", take_value, OBJ_SPARSE);
  if (s == DAMO_OK && type_is_valid(h->t->node->out[i]->type, &take_value->obj)) {
    thunk_set_out(h->t, h->f, i, &take_value->obj);
    state_of(h->t, h->f)->out[i].taken = true;
    return DAMO_OK;
  }
  if (s == DAMO_OK) {
    s = ctx_fail(h->f->ctx, DAMO_ETYPE, "%s: output %d was given a matrix that is no value of %s", name_in(h), i + 1,
                 type_format(want, sizeof want, h->t->node->out[i]->type));
  }
  damo_release(take_value);
  return s;
}

damo_array *damo_thunk_output(damo_thunk *h, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (check_out(h, "damo_thunk_output", i) != DAMO_OK) return NULL;
  if (ndim < 0 || (ndim > 0 && shape == NULL)) {
    ctx_check_list(h->f->ctx, "damo_thunk_output", "dimensions", shape, ndim);
    return NULL;
  }
  damo_array *a = thunk_out(h->t, h->f, i, dtype, ndim, shape);
  if (a != NULL) state_of(h->t, h->f)->out[i].taken = true;
  return a;
}

damo_array *damo_thunk_output_inplace(damo_thunk *h, int i, int j) {
  if (check_out(h, "damo_thunk_output_inplace", i) != DAMO_OK) return NULL;
  if (damo_thunk_input(h, j) == NULL) {
    ctx_fail(h->f->ctx, DAMO_EINDEX, "%s: damo_thunk_output_inplace: there is no array in input %d, inputs are 0 to %d",
             name_in(h), j, h->t->n_in - 1);
    return NULL;
  }
  damo_array *a = thunk_out_inplace(h->t, h->f, i, j);
  if (a != NULL) state_of(h->t, h->f)->out[i].taken = true;
  return a;
}

void *damo_thunk_scratch(damo_thunk *h, size_t size) { return h != NULL ? thunk_scratch(h->t, h->f, size) : NULL; }
void *damo_thunk_state(const damo_thunk *h) { return h != NULL ? hosts_state(h->t, h->f) : NULL; }
damo_op *damo_thunk_get_op(const damo_thunk *h) { return h != NULL ? h->t->node->op : NULL; }
damo_ctx *damo_thunk_ctx(const damo_thunk *h) { return h != NULL ? h->f->ctx : NULL; }

damo_status damo_fail(damo_ctx *ctx, damo_status status, const char *message) {
  if (ctx == NULL) return DAMO_EVALUE;
  if ((unsigned)status > DAMO_ECALLBACK) status = DAMO_ECALLBACK;
  return ctx_fail(ctx, status, "%s", message != NULL ? message : damo_status_kind(status));
}

damo_ctx *damo_obj_ctx(const void *obj) { return obj != NULL ? ((const damo_obj *)obj)->ctx : NULL; }

damo_var *damo_grad_undefined(damo_ctx *ctx, const char *why) {
  if (ctx == NULL) return NULL;
  damo_type *t = type_null(ctx, why);
  damo_var *v = t != NULL ? var_new(ctx, t, NULL) : NULL;
  damo_release(t);
  return v;
}
