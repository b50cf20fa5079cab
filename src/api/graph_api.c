/* graph_api.c: the part of damo.h that stands for graph and op: thin calls of the layers. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

/* ---- Types and Variables ----------------------------------------------------------------------------------------- */

damo_type *damo_type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (ctx == NULL) return NULL;
  return type_tensor(ctx, dtype, ndim, shape);
}

damo_type *damo_type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype,
                            const int64_t *shape) {
  if (ctx == NULL) return NULL;
  if (itype != DAMO_INT32 && itype != DAMO_INT64) {
    ctx_fail(ctx, DAMO_EVALUE, "damo_type_sparse: itype must be DAMO_INT32 or DAMO_INT64, got %d", (int)itype);
    return NULL;
  }
  if ((format == DAMO_CSR || format == DAMO_CSC) && (unsigned)dtype < DAMO_N_DTYPES) {
    return type_sparse(ctx, format, dtype, itype, shape);
  }
  ctx_fail(ctx, DAMO_EVALUE, "SparseTensorType: format %d or dtype %d does not exist", (int)format, (int)dtype);
  return NULL;
}

damo_type *damo_type_sparse_like(const damo_sparse *a, damo_dtype dtype) {
  if (a == NULL) return NULL;
  if ((unsigned)dtype < DAMO_N_DTYPES) return type_sparse_like((damo_sparse *)(uintptr_t)a, dtype);
  ctx_fail(a->obj.ctx, DAMO_EVALUE, "SparseTensorType: dtype %d does not exist", (int)dtype);
  return NULL;
}

damo_sparse *damo_type_pattern(const damo_type *type) {
  return type != NULL && type->pattern != NULL ? sparse_copy(type->pattern->matrix) : NULL;
}

bool damo_type_is_sparse(const damo_type *type) { return type != NULL && type_is_sparse(type); }

damo_var *damo_var_new(damo_ctx *ctx, damo_type *type, const char *name) {
  if (ctx_check_obj(ctx, "damo_var_new", "type", type, OBJ_TYPE) != DAMO_OK) return NULL;
  return var_new(ctx, type, name);
}

damo_var *damo_constant(damo_ctx *ctx, const damo_array *value) {
  if (ctx_check_obj(ctx, "damo_constant", "value", value, OBJ_ARRAY) != DAMO_OK) return NULL;
  damo_array *copy = array_copy(value);
  if (copy == NULL) return NULL;
  damo_var *v = var_constant(ctx, NULL, (damo_obj *)copy);
  damo_release(copy);
  return v;
}

damo_var *damo_number(damo_ctx *ctx, double value) {
  if (ctx == NULL) return NULL;
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, value);
  if (a == NULL) return NULL;
  damo_var *v = var_constant(ctx, NULL, (damo_obj *)a);
  damo_release(a);
  if (v != NULL) v->weak = true;
  return v;
}

damo_var *damo_shared(damo_ctx *ctx, const damo_array *value, const char *name) {
  if (ctx_check_obj(ctx, "damo_shared", "value", value, OBJ_ARRAY) != DAMO_OK) return NULL;
  damo_array *copy = array_copy(value);
  damo_type *type = type_tensor(ctx, array_dtype(value), value->ndim, NULL); /* updates may change the shape */
  damo_var *v = copy != NULL && type != NULL ? var_shared(ctx, type, (damo_obj *)copy, name) : NULL;
  damo_release(type);
  damo_release(copy);
  return v;
}

damo_var *damo_constant_sparse(damo_ctx *ctx, const damo_sparse *value) {
  if (ctx_check_obj(ctx, "damo_constant_sparse", "value", value, OBJ_SPARSE) != DAMO_OK) return NULL;
  damo_sparse *copy = sparse_copy(value);
  damo_var *v = copy != NULL ? var_constant(ctx, NULL, &copy->obj) : NULL;
  damo_release(copy);
  return v;
}

damo_var *damo_shared_sparse(damo_ctx *ctx, const damo_sparse *value, const char *name) {
  if (ctx_check_obj(ctx, "damo_shared_sparse", "value", value, OBJ_SPARSE) != DAMO_OK) return NULL;
  damo_sparse *copy = sparse_copy(value);
  damo_type *full = copy != NULL ? type_of_value(&copy->obj) : NULL;
  damo_type *type =
      full != NULL ? type_sparse(ctx, sparse_format(value), full->dtype, (damo_dtype)full->itype, NULL) : NULL;
  damo_var *v = type != NULL ? var_shared(ctx, type, &copy->obj, name) : NULL;
  damo_release(full);
  damo_release(type);
  damo_release(copy);
  return v;
}

static damo_status check_shared(const char *func, const damo_var *v, obj_kind kind) {
  char name[160];
  if (v == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_obj(v->obj.ctx, func, "shared", v, OBJ_VAR));
  if (v->kind != VAR_SHARED)
    return ctx_fail(v->obj.ctx, DAMO_ETYPE, "%s is no shared Variable", var_format(name, sizeof name, v));
  if (v->value->kind == kind) return DAMO_OK;
  return ctx_fail(v->obj.ctx, DAMO_ETYPE, "the value of %s is %s", var_format(name, sizeof name, v),
                  v->value->kind == OBJ_SPARSE  ? "sparse"
                  : v->value->kind == OBJ_ARRAY ? "an array, not sparse"
                                                : "neither an array nor sparse");
}

damo_array *damo_shared_value(damo_var *shared) {
  if (check_shared("damo_shared_value", shared, OBJ_ARRAY) != DAMO_OK) return NULL;
  return damo_retain(shared->value);
}

damo_sparse *damo_shared_sparse_value(damo_var *shared) {
  if (check_shared("damo_shared_sparse_value", shared, OBJ_SPARSE) != DAMO_OK) return NULL;
  return damo_retain(shared->value);
}

/* copy is taken. */
static damo_status set_shared(damo_var *shared, damo_obj *take_copy) {
  if (take_copy == NULL) return DAMO_EMEMORY;
  damo_obj *fit = type_filter(shared->type, take_copy, (filter_options){0});
  damo_release(take_copy);
  if (fit == NULL) return damo_error_status(shared->obj.ctx);
  damo_release(shared->value);
  shared->value = fit;
  return DAMO_OK;
}

damo_status damo_shared_set(damo_var *shared, const damo_array *value) {
  DAMO_TRY(check_shared("damo_shared_set", shared, OBJ_ARRAY));
  DAMO_TRY(ctx_check_obj(shared->obj.ctx, "damo_shared_set", "value", value, OBJ_ARRAY));
  return set_shared(shared, (damo_obj *)array_copy(value));
}

damo_status damo_shared_sparse_set(damo_var *shared, const damo_sparse *value) {
  DAMO_TRY(check_shared("damo_shared_sparse_set", shared, OBJ_SPARSE));
  DAMO_TRY(ctx_check_obj(shared->obj.ctx, "damo_shared_sparse_set", "value", value, OBJ_SPARSE));
  return set_shared(shared, (damo_obj *)sparse_copy(value));
}

damo_type *damo_var_get_type(const damo_var *v) { return v != NULL ? v->type : NULL; }
damo_apply *damo_var_get_owner(const damo_var *v) { return v != NULL ? v->owner : NULL; }
const char *damo_var_get_name(const damo_var *v) { return v != NULL ? v->name : NULL; }

/* ---- Calls of op functions --------------------------------------------------------------------------------------- */

static damo_var *first_result(damo_ctx *ctx, const fn_signature *f, damo_var *const *in, int n, const prop_value *opt) {
  build b;
  build_init(&b, ctx);
  damo_var *v = damo_retain(build_fn(&b, f->name, in, n, (const fn_given *)(const void *)opt));
  if (build_end(&b) == DAMO_OK) return v;
  damo_release(v);
  return NULL;
}

/* The function of that name, when the operands are fit to be given to it. */
static const fn_signature *call_find_function(damo_ctx *ctx, const char *caller, const char *name,
                                              damo_var *const *operands, int n) {
  if (ctx_check_given(ctx, caller, "func", name) != DAMO_OK) return NULL;
  const fn_signature *f = func_find(ctx, name);
  if (f == NULL) ctx_fail(ctx, DAMO_EVALUE, "there is no function '%s'", name);
  if (f == NULL || ctx_check_objs(ctx, name, "operands", operands, n, OBJ_VAR) != DAMO_OK) return NULL;
  return f;
}

damo_var *damo_call(damo_ctx *ctx, const char *func, damo_var *const *operands, int n) {
  const fn_signature *f = call_find_function(ctx, "damo_call", func, operands, n);
  return f != NULL ? first_result(ctx, f, operands, n, NULL) : NULL;
}

#define CALL_MAX_TEXT 256

/* One word "name=value" of the text. */
typedef struct option_text {
  char *name, *value;
} option_text;

/* Space for the entries of all list values of one call. */
typedef struct list_space {
  prop_value at[2 * DAMO_MAX_NDIM];
  int n;
} list_space;

static damo_status parse_int(damo_ctx *ctx, const char *text, const char **end, prop_value *out) {
  char *stop;
  *out = prop_int(strtoll(text, &stop, 10));
  if (stop == text || (*stop != ',' && *stop != '\0')) {
    return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is no integer", text);
  }
  *end = stop;
  return DAMO_OK;
}

static damo_status parse_list(damo_ctx *ctx, const char *text, list_space *lists, prop_value *out) {
  int from = lists->n;
  for (const char *p = text; *p != '\0';) {
    if (lists->n == (int)(sizeof lists->at / sizeof lists->at[0]))
      return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' has too many entries", text);
    DAMO_TRY(parse_int(ctx, p, &p, &lists->at[lists->n++]));
    if (*p == ',') p++;
  }
  *out = prop_list(lists->at + from, lists->n - from);
  return DAMO_OK;
}

static damo_status parse_value(damo_ctx *ctx, fn_option_kind kind, const char *text, list_space *lists,
                               prop_value *out) {
  const char *end;
  if (kind == OPT_BOOL) {
    *out = prop_bool(strcmp(text, "true") == 0);
    if (!out->u.i && strcmp(text, "false") != 0)
      return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is neither true nor false", text);
  } else if (kind == OPT_STR || kind == OPT_DTYPE) {
    *out = prop_str(text);
  } else if (kind == OPT_NUM) {
    char *stop;
    *out = prop_num(strtod(text, &stop));
    if (stop == text || *stop != '\0') return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is no number", text);
  } else if (strchr(text, ',') != NULL) {
    return parse_list(ctx, text, lists, out);
  } else {
    return parse_int(ctx, text, &end, out);
  }
  return DAMO_OK;
}

static damo_status fail_unknown_option(damo_ctx *ctx, const fn_signature *f, const char *name) {
  strbuf known;
  strbuf_init(&known, ctx);
  signature_format_options(&known, f);
  damo_status s = ctx_fail(ctx, DAMO_EVALUE, "%s: unknown option '%s'; there are: %s", f->name, name,
                           f->n_options > 0 && known.at != NULL ? known.at : "none");
  strbuf_clear(&known);
  return s;
}

/* Reads "axis=1 keepdims=true" (text is changed) into the fields of f's struct of options. */
static damo_status parse_options(damo_ctx *ctx, const fn_signature *f, char *text, list_space *lists, prop_value *opt) {
  for (char *p = text + strspn(text, " "); *p != '\0'; p += strspn(p, " ")) {
    option_text word = {p, p + strcspn(p, "= ")};
    const fn_option *o = NULL;
    p += strcspn(p, " ");
    if (*p != '\0') *p++ = '\0';
    if (*word.value == '=') {
      *word.value++ = '\0';
      o = signature_option(f, word.name);
    }
    if (o == NULL) return fail_unknown_option(ctx, f, word.name);
    DAMO_TRY(parse_value(ctx, (fn_option_kind)o->kind, word.value, lists, &opt[o->place]));
  }
  return DAMO_OK;
}

damo_var *damo_call_with(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const char *options) {
  const fn_signature *f = call_find_function(ctx, "damo_call_with", func, operands, n);
  if (f == NULL) return NULL;
  char text[CALL_MAX_TEXT];
  prop_value opt[FN_MAX_OPTIONS] = {{.kind = PROP_NIL}};
  list_space lists = {.n = 0};
  if (options == NULL || strlen(options) >= sizeof text) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: the options text is missing or too long", func);
    return NULL;
  }
  strcpy(text, options);
  if (parse_options(ctx, f, text, &lists, opt) != DAMO_OK) {
    ctx_fail_at(ctx, f->name, NULL);
    return NULL;
  }
  return first_result(ctx, f, operands, n, opt);
}

/* ---- Options by struct ------------------------------------------------------------------------------------------- */

/* What each kind of option takes, as a message says it. */
static const char *call_option_words(fn_option_kind kind) {
  switch (kind) {
    case OPT_BOOL: return "a boolean";
    case OPT_INT: return "an integer";
    case OPT_NUM: return "a number";
    case OPT_STR: return "a string";
    case OPT_DTYPE: return "a dtype's name";
    case OPT_AXES:
    case OPT_INTS: return "an integer or a list of integers";
    case OPT_VAR: return "a Variable";
    case OPT_SHAPE: return "an integer, a list of integers, a Variable or a list of Variables";
    case OPT_ANY: break;
  }
  return "a value";
}

static bool call_option_takes(fn_option_kind kind, damo_prop_kind given) {
  if (kind == OPT_ANY) return true;
  switch (given) {
    case DAMO_PROP_NIL: return true;
    case DAMO_PROP_BOOL: return kind == OPT_BOOL;
    case DAMO_PROP_INT:
      return kind == OPT_INT || kind == OPT_NUM || kind == OPT_AXES || kind == OPT_INTS || kind == OPT_SHAPE;
    case DAMO_PROP_NUMBER: return kind == OPT_NUM;
    case DAMO_PROP_STRING: return kind == OPT_STR || kind == OPT_DTYPE;
    case DAMO_PROP_INTS: return kind == OPT_AXES || kind == OPT_INTS || kind == OPT_SHAPE;
    case DAMO_PROP_VAR: return kind == OPT_VAR || kind == OPT_SHAPE;
    case DAMO_PROP_VARS: return kind == OPT_SHAPE;
  }
  return false;
}

/* Adds n entries of list values; NULL: there is no space for so many. */
static prop_value *call_take_list(damo_ctx *ctx, const fn_signature *f, const damo_prop *p, list_space *lists,
                                  int64_t n) {
  const int64_t most = (int64_t)(sizeof lists->at / sizeof lists->at[0]);
  if (ctx_check_list(ctx, f->name, p->name, p->kind == DAMO_PROP_INTS ? (const void *)p->ints : p->vars, n) != DAMO_OK)
    return NULL;
  if (n > most - lists->n) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: option '%s' has too many entries", f->name, p->name);
    return NULL;
  }
  lists->n += (int)n;
  return lists->at + lists->n - n;
}

/* The value of the option p, whose kind fits, into *out. */
static damo_status call_read_prop(damo_ctx *ctx, const fn_signature *f, fn_option_kind kind, const damo_prop *p,
                                  list_space *lists, prop_value *out) {
  prop_value *list = NULL;
  switch (p->kind) {
    case DAMO_PROP_NIL: *out = prop_nil(); return DAMO_OK;
    case DAMO_PROP_BOOL: *out = prop_bool(p->i != 0); return DAMO_OK;
    case DAMO_PROP_NUMBER: *out = prop_num(p->number); return DAMO_OK;
    case DAMO_PROP_STRING:
      DAMO_TRY(ctx_check_given(ctx, f->name, p->name, p->string));
      *out = prop_str(p->string);
      return DAMO_OK;
    case DAMO_PROP_INT:
      *out = kind == OPT_NUM ? prop_num((double)p->i) : prop_int(p->i);
      if (kind != OPT_INTS) return DAMO_OK;
      if ((list = call_take_list(ctx, f, &(damo_prop){.name = p->name, .kind = DAMO_PROP_INTS, .ints = &p->i}, lists,
                                 1)) == NULL)
        return damo_error_status(ctx);
      list[0] = *out;
      *out = prop_list(list, 1);
      return DAMO_OK;
    case DAMO_PROP_INTS:
      if ((list = call_take_list(ctx, f, p, lists, p->n)) == NULL) return damo_error_status(ctx);
      for (int64_t i = 0; i < p->n; i++) list[i] = prop_int(p->ints[i]);
      *out = prop_list(list, (int)p->n);
      return DAMO_OK;
    case DAMO_PROP_VAR:
      DAMO_TRY(ctx_check_obj(ctx, f->name, p->name, p->var, OBJ_VAR));
      *out = (prop_value){.kind = PROP_VAR, .u.var = p->var};
      return DAMO_OK;
    case DAMO_PROP_VARS:
      DAMO_TRY(ctx_check_objs(ctx, f->name, p->name, p->vars, p->n, OBJ_VAR));
      if ((list = call_take_list(ctx, f, p, lists, p->n)) == NULL) return damo_error_status(ctx);
      for (int64_t i = 0; i < p->n; i++) list[i] = (prop_value){.kind = PROP_VAR, .u.var = p->vars[i]};
      *out = prop_list(list, (int)p->n);
      return DAMO_OK;
  }
  return DAMO_OK;
}

static damo_status call_read_props(damo_ctx *ctx, const fn_signature *f, const damo_prop *props, int n,
                                   list_space *lists, prop_value *opt) {
  DAMO_TRY(ctx_check_list(ctx, f->name, "options", props, n));
  for (int i = 0; i < n; i++) {
    const damo_prop *p = &props[i];
    DAMO_TRY(ctx_check_given(ctx, f->name, "the name of an option", p->name));
    const fn_option *o = signature_option(f, p->name);
    if (o == NULL) return fail_unknown_option(ctx, f, p->name);
    const fn_option_kind kind = (fn_option_kind)o->kind;
    if ((unsigned)p->kind > DAMO_PROP_VARS) {
      return ctx_fail(ctx, DAMO_EVALUE, "%s: the option '%s' has kind %d, which does not exist", f->name, p->name,
                      (int)p->kind);
    }
    if (!call_option_takes(kind, p->kind)) {
      return ctx_fail(ctx, DAMO_ETYPE, "%s: option '%s' must be %s", f->name, p->name, call_option_words(kind));
    }
    DAMO_TRY(call_read_prop(ctx, f, kind, p, lists, &opt[o->place]));
  }
  return DAMO_OK;
}

/* Retains what the call gave: all of it, or the first. */
static damo_status call_keep_results(damo_ctx *ctx, const fn_signature *f, const ptrvec *found, damo_var **results,
                                     int n) {
  const bool first = n < 0;
  if (!first && found->n != n) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: gives %lld result%s, not %d", f->name, (long long)found->n,
                    found->n == 1 ? "" : "s", n);
  }
  for (int i = 0; i < (first ? 1 : n); i++) results[i] = damo_retain(found->at[i]);
  return DAMO_OK;
}

/* n_results -1: the first one is wanted. */
static damo_status call_run(damo_ctx *ctx, const fn_signature *f, damo_var *const *operands, int n,
                            const damo_prop *props, int n_props, damo_var **results, int n_results) {
  prop_value opt[FN_MAX_OPTIONS] = {{.kind = PROP_NIL}};
  list_space lists = {.n = 0};
  damo_status s = call_read_props(ctx, f, props, n_props, &lists, opt);
  if (s != DAMO_OK) {
    ctx_fail_at(ctx, f->name, NULL);
    return s;
  }
  build b;
  ptrvec found;
  build_init(&b, ctx);
  ptrvec_init(&found, ctx);
  s = func_call(&b, f, operands, n, opt, &found);
  if (s == DAMO_OK) s = call_keep_results(ctx, f, &found, results, n_results);
  ptrvec_clear(&found);
  const damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

damo_var *damo_call_props(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const damo_prop *props,
                          int n_props) {
  damo_var *result = NULL;
  const fn_signature *f = call_find_function(ctx, "damo_call_props", func, operands, n);
  if (f == NULL || call_run(ctx, f, operands, n, props, n_props, &result, -1) != DAMO_OK) return NULL;
  return result;
}

damo_status damo_call_all(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const damo_prop *props,
                          int n_props, damo_var **results, int n_results) {
  const fn_signature *f = call_find_function(ctx, "damo_call_all", func, operands, n);
  if (f == NULL) return ctx != NULL ? damo_error_status(ctx) : DAMO_EVALUE;
  DAMO_TRY(ctx_check_list(ctx, "damo_call_all", "results", results, n_results));
  return call_run(ctx, f, operands, n, props, n_props, results, n_results);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

char *damo_debugprint(damo_ctx *ctx, damo_var *v) {
  if (ctx_check_obj(ctx, "damo_debugprint", "v", v, OBJ_VAR) != DAMO_OK) return NULL;
  strbuf text;
  strbuf_init(&text, ctx);
  char *copy =
      graph_debugprint(ctx, &v, 1, NULL, &text) == DAMO_OK && text.at != NULL ? mem_strdup(ctx, text.at) : NULL;
  strbuf_clear(&text);
  return copy;
}

void damo_text_free(damo_ctx *ctx, char *text) {
  if (ctx != NULL) mem_strfree(ctx, text);
}
