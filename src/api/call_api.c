/* call_api.c: the part of damo.h that calls op functions by name. Options come as damo_props, or as a text that is
 * parsed into damo_props; either way they are checked against the function's signature.
 */
#include "api.h"

#include <stdlib.h>
#include <string.h>

#define CALL_MAX_TEXT 256
#define CALL_MAX_LISTED (2 * DAMO_MAX_NDIM) /* most entries of all lists of one call */

/* The options of one call, converted to the function's struct of options. */
typedef struct call_options {
  damo_ctx *ctx;
  const fn_signature *f;
  prop_value value[FN_MAX_OPTIONS];
  prop_value listed[CALL_MAX_LISTED];
  int n_listed;
} call_options;

/* ---- Options by struct ------------------------------------------------------------------------------------------- */

static const char *call_option_words(fn_option_kind kind) {
  switch (kind) {
    case OPT_INT: return "an integer";
    case OPT_NUM: return "a number";
    case OPT_BOOL: return "a boolean";
    case OPT_STR: return "a string";
    case OPT_DTYPE: return "a dtype's name";
    case OPT_AXES:
    case OPT_INTS: return "an integer or a list of integers";
    case OPT_SHAPE: return "an integer, a list of integers, a Variable or a list of Variables";
    case OPT_VAR: return "a Variable";
    case OPT_ANY: break;
  }
  return "a value";
}

static bool call_option_takes(fn_option_kind kind, damo_prop_kind given) {
  if (given == DAMO_PROP_NIL) return true;
  switch (kind) {
    case OPT_INT: return given == DAMO_PROP_INT;
    case OPT_NUM: return given == DAMO_PROP_INT || given == DAMO_PROP_NUMBER;
    case OPT_BOOL: return given == DAMO_PROP_BOOL;
    case OPT_STR:
    case OPT_DTYPE: return given == DAMO_PROP_STRING;
    case OPT_AXES:
    case OPT_INTS: return given == DAMO_PROP_INT || given == DAMO_PROP_INTS;
    case OPT_SHAPE:
      return given == DAMO_PROP_INT || given == DAMO_PROP_INTS || given == DAMO_PROP_VAR || given == DAMO_PROP_VARS;
    case OPT_VAR: return given == DAMO_PROP_VAR;
    case OPT_ANY: return true;
  }
  return false;
}

static damo_status call_fail_unknown(damo_ctx *ctx, const fn_signature *f, const char *name) {
  strbuf known;
  strbuf_init(&known, ctx);
  signature_format_options(&known, f);
  damo_status s = ctx_fail(ctx, DAMO_EVALUE, "%s: unknown option '%s'; there are: %s", f->name, name,
                           f->n_options > 0 && known.at != NULL ? known.at : "none");
  strbuf_clear(&known);
  return s;
}

/* Takes n entries of c->listed, which the caller fills; NULL with an error if there is not enough space. */
static prop_value *call_take_list(call_options *c, const char *name, int64_t n) {
  if (n > CALL_MAX_LISTED - c->n_listed) {
    ctx_fail(c->ctx, DAMO_EVALUE, "%s: option '%s' has too many entries", c->f->name, name);
    return NULL;
  }
  damo_assert(n >= 0); /* ctx_check_list */
  c->n_listed += (int)n;
  return c->listed + c->n_listed - n;
}

static damo_status call_read_ints(call_options *c, const damo_prop *p, prop_value *out) {
  DAMO_TRY(ctx_check_list(c->ctx, c->f->name, p->name, p->ints, p->n));
  prop_value *list = call_take_list(c, p->name, p->n);
  if (list == NULL) return DAMO_EVALUE;
  for (int64_t i = 0; i < p->n; i++) list[i] = prop_int(p->ints[i]);
  *out = prop_list(list, (int)p->n);
  return DAMO_OK;
}

static damo_status call_read_vars(call_options *c, const damo_prop *p, prop_value *out) {
  DAMO_TRY(ctx_check_objs(c->ctx, c->f->name, p->name, p->vars, p->n, OBJ_VAR));
  prop_value *list = call_take_list(c, p->name, p->n);
  if (list == NULL) return DAMO_EVALUE;
  for (int64_t i = 0; i < p->n; i++) list[i] = (prop_value){.kind = PROP_VAR, .u.var = p->vars[i]};
  *out = prop_list(list, (int)p->n);
  return DAMO_OK;
}

/* Converts an integer to the option's kind: an integer, a number, or a list of one integer. */
static damo_status call_read_int(call_options *c, fn_option_kind kind, const damo_prop *p, prop_value *out) {
  if (kind == OPT_INTS) {
    return call_read_ints(c, &(damo_prop){.name = p->name, .kind = DAMO_PROP_INTS, .ints = &p->i, .n = 1}, out);
  }
  *out = kind == OPT_NUM ? prop_num((double)p->i) : prop_int(p->i);
  return DAMO_OK;
}

/* Converts a value whose kind fits the option (call_option_takes). */
static damo_status call_read_value(call_options *c, fn_option_kind kind, const damo_prop *p, prop_value *out) {
  switch (p->kind) {
    case DAMO_PROP_NIL: *out = prop_nil(); break;
    case DAMO_PROP_BOOL: *out = prop_bool(p->i != 0); break;
    case DAMO_PROP_INT: return call_read_int(c, kind, p, out);
    case DAMO_PROP_NUMBER: *out = prop_num(p->number); break;
    case DAMO_PROP_STRING:
      DAMO_TRY(ctx_check_given(c->ctx, c->f->name, p->name, p->string));
      *out = prop_str(p->string);
      break;
    case DAMO_PROP_INTS: return call_read_ints(c, p, out);
    case DAMO_PROP_VAR:
      DAMO_TRY(ctx_check_obj(c->ctx, c->f->name, p->name, p->var, OBJ_VAR));
      *out = (prop_value){.kind = PROP_VAR, .u.var = p->var};
      break;
    case DAMO_PROP_VARS: return call_read_vars(c, p, out);
  }
  return DAMO_OK;
}

static damo_status call_read_prop(call_options *c, const damo_prop *p) {
  const fn_signature *f = c->f;
  DAMO_TRY(ctx_check_given(c->ctx, f->name, "the name of an option", p->name));
  const fn_option *o = signature_option(f, p->name);
  if (o == NULL) return call_fail_unknown(c->ctx, f, p->name);
  if ((unsigned)p->kind > DAMO_PROP_VARS) {
    return ctx_fail(c->ctx, DAMO_EVALUE, "%s: the option '%s' has kind %d, which does not exist", f->name, p->name,
                    (int)p->kind);
  }
  const fn_option_kind kind = (fn_option_kind)o->kind;
  if (call_option_takes(kind, p->kind)) return call_read_value(c, kind, p, &c->value[o->place]);
  return ctx_fail(c->ctx, DAMO_ETYPE, "%s: option '%s' must be %s", f->name, p->name, call_option_words(kind));
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* The function of that name, if the operands are Variables of the context; NULL with an error else. */
static const fn_signature *call_find_function(damo_ctx *ctx, const char *caller, const char *name,
                                              damo_var *const *operands, int n) {
  if (ctx_check_given(ctx, caller, "func", name) != DAMO_OK) return NULL;
  const fn_signature *f = func_find(ctx, name);
  if (f == NULL) ctx_fail(ctx, DAMO_EVALUE, "there is no function '%s'", name);
  if (f == NULL || ctx_check_objs(ctx, name, "operands", operands, n, OBJ_VAR) != DAMO_OK) return NULL;
  return f;
}

/* Retains the n results of a call, or the first one for n = -1. */
static damo_status call_keep_results(damo_ctx *ctx, const fn_signature *f, const ptrvec *found, damo_var **results,
                                     int n) {
  if (n >= 0 && found->n != n) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: gives %lld result%s, not %d", f->name, (long long)found->n,
                    found->n == 1 ? "" : "s", n);
  }
  for (int i = 0; i < (n < 0 ? 1 : n); i++) results[i] = damo_retain(found->at[i]);
  return DAMO_OK;
}

static damo_status call_run(damo_ctx *ctx, const fn_signature *f, damo_var *const *operands, int n,
                            const damo_prop *props, int n_props, damo_var **results, int n_results) {
  call_options c = {.ctx = ctx, .f = f, .n_listed = 0};
  for (int i = 0; i < FN_MAX_OPTIONS; i++) c.value[i] = prop_nil();
  damo_status s = ctx_check_list(ctx, f->name, "options", props, n_props);
  for (int i = 0; i < n_props && s == DAMO_OK; i++) s = call_read_prop(&c, &props[i]);
  if (s != DAMO_OK) {
    ctx_fail_at(ctx, f->name, NULL);
    return s;
  }
  build b;
  ptrvec found;
  build_init(&b, ctx);
  ptrvec_init(&found, ctx);
  s = func_call(&b, f, operands, n, c.value, &found);
  if (s == DAMO_OK) s = call_keep_results(ctx, f, &found, results, n_results);
  ptrvec_clear(&found);
  const damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

/* The first result, NULL on failure. */
static damo_var *call_first(damo_ctx *ctx, const fn_signature *f, damo_var *const *operands, int n,
                            const damo_prop *props, int n_props) {
  damo_var *result = NULL;
  return call_run(ctx, f, operands, n, props, n_props, &result, -1) == DAMO_OK ? result : NULL;
}

damo_var *damo_call(damo_ctx *ctx, const char *func, damo_var *const *operands, int n) {
  const fn_signature *f = call_find_function(ctx, "damo_call", func, operands, n);
  return f != NULL ? call_first(ctx, f, operands, n, NULL, 0) : NULL;
}

damo_var *damo_call_props(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const damo_prop *props,
                          int n_props) {
  const fn_signature *f = call_find_function(ctx, "damo_call_props", func, operands, n);
  return f != NULL ? call_first(ctx, f, operands, n, props, n_props) : NULL;
}

damo_status damo_call_all(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const damo_prop *props,
                          int n_props, damo_var **results, int n_results) {
  const fn_signature *f = call_find_function(ctx, "damo_call_all", func, operands, n);
  if (f == NULL) return ctx != NULL ? damo_error_status(ctx) : DAMO_EVALUE;
  DAMO_TRY(ctx_check_list(ctx, "damo_call_all", "results", results, n_results));
  return call_run(ctx, f, operands, n, props, n_props, results, n_results);
}

/* ---- Options as text --------------------------------------------------------------------------------------------- */

/* A text of options, split into words, and the damo_props parsed from it. */
typedef struct call_text {
  char at[CALL_MAX_TEXT];
  damo_prop prop[FN_MAX_OPTIONS];
  int n;
  int64_t listed[CALL_MAX_LISTED];
  int n_listed;
} call_text;

static damo_status call_parse_int(damo_ctx *ctx, const char *text, const char **end, int64_t *out) {
  char *stop;
  *out = strtoll(text, &stop, 10);
  if (stop == text || (*stop != ',' && *stop != '\0')) {
    return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is no integer", text);
  }
  *end = stop;
  return DAMO_OK;
}

static damo_status call_parse_list(damo_ctx *ctx, call_text *t, const char *name, const char *text, damo_prop *out) {
  const int from = t->n_listed;
  for (const char *p = text; *p != '\0';) {
    if (t->n_listed == CALL_MAX_LISTED)
      return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' has too many entries", text);
    DAMO_TRY(call_parse_int(ctx, p, &p, &t->listed[t->n_listed++]));
    if (*p == ',') p++;
  }
  *out = damo_prop_ints(name, t->listed + from, t->n_listed - from);
  return DAMO_OK;
}

/* Parses the value of an option of that kind. */
static damo_status call_parse_value(damo_ctx *ctx, call_text *t, fn_option_kind kind, const char *name,
                                    const char *text, damo_prop *out) {
  const char *end;
  if (kind == OPT_BOOL) {
    const bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
      return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is neither true nor false", text);
    *out = damo_prop_bool(name, yes);
  } else if (kind == OPT_STR || kind == OPT_DTYPE) {
    *out = damo_prop_string(name, text);
  } else if (kind == OPT_NUM) {
    char *stop;
    *out = damo_prop_number(name, strtod(text, &stop));
    if (stop == text || *stop != '\0') return ctx_fail(ctx, DAMO_EVALUE, "option value '%s' is no number", text);
  } else if (strchr(text, ',') != NULL) {
    return call_parse_list(ctx, t, name, text, out);
  } else {
    *out = damo_prop_int(name, 0);
    return call_parse_int(ctx, text, &end, &out->i);
  }
  return DAMO_OK;
}

/* Splits t->at, "axis=1 keepdims=true", into words and parses them into t->prop. */
static damo_status call_parse_text(damo_ctx *ctx, const fn_signature *f, call_text *t) {
  for (char *p = t->at + strspn(t->at, " "); *p != '\0'; p += strspn(p, " ")) {
    char *name = p, *value = p + strcspn(p, "= ");
    const fn_option *o = NULL;
    p += strcspn(p, " ");
    if (*p != '\0') *p++ = '\0';
    if (*value == '=') {
      *value++ = '\0';
      o = signature_option(f, name);
    }
    if (o == NULL) return call_fail_unknown(ctx, f, name);
    if (t->n == FN_MAX_OPTIONS) return ctx_fail(ctx, DAMO_EVALUE, "%s: too many options", f->name);
    DAMO_TRY(call_parse_value(ctx, t, (fn_option_kind)o->kind, name, value, &t->prop[t->n++]));
  }
  return DAMO_OK;
}

damo_var *damo_call_with(damo_ctx *ctx, const char *func, damo_var *const *operands, int n, const char *options) {
  const fn_signature *f = call_find_function(ctx, "damo_call_with", func, operands, n);
  if (f == NULL) return NULL;
  call_text t = {.n = 0};
  if (options == NULL || strlen(options) >= sizeof t.at) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: the options text is missing or too long", func);
    return NULL;
  }
  strcpy(t.at, options);
  if (call_parse_text(ctx, f, &t) == DAMO_OK) return call_first(ctx, f, operands, n, t.prop, t.n);
  ctx_fail_at(ctx, f->name, NULL);
  return NULL;
}
