/* args: reads the arguments of a call of an op function: operands, then options. Reading may raise; all that it
 * allocates lies on the Lua stack. */
#include <stdio.h>

#include "func.h"

/* ---- Reading: operands ------------------------------------------------------------------------------------------- */

void bind_call_alloc(lua_State *L, bind_fn_call *c, int n) {
  c->src = c->src_small;
  c->in = c->in_small;
  c->plain = c->plain_small;
  if (n <= BIND_SMALL_CALL) return;
  luaL_checkstack(L, n + 40, c->f->name);
  c->src = bind_alloc(L, (size_t)n, sizeof *c->src);
  c->in = bind_alloc(L, (size_t)n, sizeof *c->in);
  c->plain = bind_alloc(L, (size_t)n, sizeof *c->plain);
}

/* Pushes the entries of the list at idx and makes them the operands from number `from` on. */
static void call_read_list(lua_State *L, bind_fn_call *c, int idx, int from) {
  const fn_signature *f = c->f;
  if (!lua_istable(L, idx) || bind_is_options(L, idx)) {
    bind_arg_error(L, f->name, idx, f->operand[from].name, "a list of operands");
  }
  const int n = (int)lua_rawlen(L, idx), all = n + f->n_operands - 1; /* with the operands before and after the list */
  int keep[FN_MAX_OPERANDS];
  for (int i = 0; i < from; i++) keep[i] = c->src[i];
  if (all > BIND_SMALL_CALL) bind_call_alloc(L, c, all);
  for (int i = 0; i < from; i++) c->src[i] = keep[i];
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    c->src[from + i] = lua_gettop(L);
  }
  c->n_in = from + n;
}

/* The objects one after the other at the places from idx on, and numbers where these cannot be options, are the operands
 * from number `from` on: block_diag(x, y) is block_diag({x, y}). Returns the place after them. */
static int call_read_bare_list(lua_State *L, bind_fn_call *c, int idx, int from, int top) {
  int keep[FN_MAX_OPERANDS], n = 0;
  const bool numbers = c->f->n_options == 0;
  while (idx + n <= top && (lua_type(L, idx + n) == LUA_TUSERDATA || (numbers && lua_type(L, idx + n) == LUA_TNUMBER)))
    n++;
  for (int i = 0; i < from; i++) keep[i] = c->src[i];
  if (from + n > BIND_SMALL_CALL) bind_call_alloc(L, c, from + n);
  for (int i = 0; i < from; i++) c->src[i] = keep[i];
  for (int i = 0; i < n; i++) c->src[from + i] = idx + i;
  c->n_in = from + n;
  return idx + n;
}

/* Finds the operands among the arguments 1..top; returns the stack index of the first argument after them. */
static int call_read_operand_places(lua_State *L, bind_fn_call *c, int top) {
  const fn_signature *f = c->f;
  int idx = 1, at = 0; /* at: the number of operands so far, those in a list counted */
  for (int i = 0; i < f->n_operands; i++, idx++, at++) {
    bool missing = idx > top || lua_isnil(L, idx) || (f->operand[i].optional && bind_is_options(L, idx));
    if (f->operand[i].optional && f->func->optional_objects) missing = missing || lua_type(L, idx) != LUA_TUSERDATA;
    if (f->operand[i].list) {
      if (f->func->bare_list && idx <= top && lua_type(L, idx) != LUA_TTABLE)
        return call_read_bare_list(L, c, idx, i, top);
      call_read_list(L, c, idx, i);
      at = c->n_in - 1;
      continue;
    }
    if (missing && !f->operand[i].optional) {
      bind_arg_error(L, f->name, idx, f->operand[i].name, "a Variable, Array, number or table");
    }
    if (missing && (idx > top || !lua_isnil(L, idx))) break;
    c->src[at] = missing ? 0 : idx;
    if (!missing) c->n_in = at + 1;
  }
  return idx;
}

/* Reads operand i at stack index idx for an eager call: an Array, a sparse matrix, a factor or a literal. */
static void call_read_plain(lua_State *L, bind_fn_call *c, int i, int idx) {
  const fn_signature *f = c->f;
  const char *name = f->operand[i < f->n_operands ? i : f->n_operands - 1].name;
  bool graph = false;
  bind_box *box;
  eager_operand *x = &c->plain[i];
  x->value = NULL;
  x->absent = false;
  switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
      if (lua_isinteger(L, idx)) {
        x->literal = (scalar){.dtype = DAMO_INT64, .v.i = (int64_t)lua_tointeger(L, idx)};
      } else {
        x->literal = (scalar){.dtype = DAMO_FLOAT64, .v.f = lua_tonumber(L, idx)};
      }
      return;
    case LUA_TUSERDATA:
      box = bind_box_at(L, idx);
      x->value = box && box->kind == OBJ_ARRAY && box->obj ? box->obj : bind_to_value(L, idx);
      if (x->value) return;
      break;
    default: break;
  }
  damo_var *v = bind_operand(L, idx, false, &graph, f->name, i + 1, name); /* raises when it is nothing of ours */
  if (v->weak) {
    x->literal = array_item((damo_array *)v->value);
  } else {
    x->value = v->value;
  }
}

void bind_read_operands(lua_State *L, bind_fn_call *c) {
  const fn_signature *f = c->f;
  for (int i = 0; i < c->n_in && !c->graph && !c->scanned; i++) c->graph = c->src[i] && bind_is_var(L, c->src[i]);
  for (int i = 0; i < c->n_in; i++) {
    c->in[i] = NULL;
    c->plain[i].absent = true;
    if (!c->src[i]) continue;
    if (i >= BIND_SMALL_CALL) luaL_checkstack(L, 20, f->name); /* what stands for a literal stays on the stack */
    if (!c->graph) {
      call_read_plain(L, c, i, c->src[i]);
      continue;
    }
    bool graph = false;
    const char *name = f->operand[i < f->n_operands ? i : f->n_operands - 1].name;
    c->in[i] = bind_operand(L, c->src[i], true, &graph, f->name, i + 1, name);
  }
}

/* ---- Reading: options -------------------------------------------------------------------------------------------- */

static int call_bad_option(lua_State *L, const fn_signature *f, const fn_option *o, int idx, const char *expected) {
  const bool open = bind_is_var(L, idx) && bind_to_var(L, idx)->kind != VAR_CONSTANT;
  const bool is_operand = lua_type(L, idx) == LUA_TUSERDATA || f->func->of_number;
  const char *two = o == f->func->options && is_operand ? f->func->of_two : NULL;
  lua_pushfstring(L, "%s: option '%s' must be %s, got %s%s", f->name, o->name, expected, bind_typename(L, idx),
                  open ? " that is no constant" : "");
  if (two) lua_pushfstring(L, "%s; entry by entry of two operands it is damo.%s(x, y)", lua_tostring(L, -1), two);
  return bind_raise(L, DAMO_ETYPE, "%s", lua_tostring(L, -1));
}

/* Reads an integer; a float with an integral value counts as one. */
static bool call_to_int(lua_State *L, int idx, int64_t *out) {
  if (lua_type(L, idx) != LUA_TNUMBER) return false;
  if (lua_isinteger(L, idx)) {
    *out = (int64_t)lua_tointeger(L, idx);
    return true;
  }
  double x = lua_tonumber(L, idx);
  if (!(x >= -9.0e18 && x <= 9.0e18) || x != floor(x)) return false;
  *out = (int64_t)x;
  return true;
}

/* The integer value of a 0-d Array of integers, or of a float with an integral value. */
static bool call_int_of_array(const damo_array *a, int64_t *out) {
  if (a == NULL || a->ndim > 0 || array_dtype(a) == DAMO_BOOL || dtype_is_complex(array_dtype(a))) return false;
  const scalar x = array_item(a);
  const double wide = scalar_to_double(x);
  if (dtype_is_float(x.dtype) && (!(wide >= -9.0e18 && wide <= 9.0e18) || wide != floor(wide))) return false;
  *out = dtype_is_float(x.dtype) ? (int64_t)wide : scalar_to_int64(x);
  return true;
}

/* Reads an integer known at graph construction: a number, a 0-d Array, or a constant Variable, which makes the call
 * symbolic. */
static bool call_to_known_int(lua_State *L, bind_fn_call *c, int idx, int64_t *out) {
  if (call_to_int(L, idx, out) || call_int_of_array(bind_to_array(L, idx), out)) return true;
  if (!bind_is_var(L, idx) || !call_int_of_array(var_constant_array(bind_to_var(L, idx)), out)) return false;
  c->graph = true;
  return true;
}

/* Memory for an option's list: in the call itself for the first short one, else on the stack. */
static prop_value *call_new_list(lua_State *L, bind_fn_call *c, int n) {
  if (c->has_list || n > DAMO_MAX_NDIM) return bind_alloc(L, (size_t)n, sizeof(prop_value));
  c->has_list = true;
  return c->entries;
}

/* Converts an integer Array to a list of integers. */
static prop_value call_ints_of_array(lua_State *L, bind_fn_call *c, const fn_option *o, int idx, const damo_array *a) {
  if (a->ndim > 1 || !dtype_is_integer(array_dtype(a))) {
    call_bad_option(L, c->f, o, idx, "an integer or a list of integers");
  }
  int n = (int)array_size(a);
  prop_value *list = call_new_list(L, c, n);
  for (int64_t k = 0; k < n; k++) list[k] = prop_int(scalar_to_int64(array_get(a, &k)));
  return prop_list(list, n);
}

/* Reads an integer or a list of integers; with `vars` (shapes), Variables may stand for integers or for the whole list.
 */
static prop_value call_read_ints(lua_State *L, bind_fn_call *c, const fn_option *o, int idx, bool vars) {
  const fn_signature *f = c->f;
  const char *expected =
      vars ? "an integer, a list of integers and Variables, or an integer vector" : "an integer or a list of integers";
  int64_t k;
  if (vars ? call_to_int(L, idx, &k) : call_to_known_int(L, c, idx, &k)) {
    prop_value one = prop_int(k);
    if (o->kind != OPT_INTS) return one;
    prop_value *list = call_new_list(L, c, 1);
    list[0] = one;
    return prop_list(list, 1);
  }
  if (bind_to_array(L, idx)) return call_ints_of_array(L, c, o, idx, bind_to_array(L, idx));
  if (vars && bind_is_var(L, idx)) {
    c->graph = true;
    return (prop_value){.kind = PROP_VAR, .u.var = bind_to_var(L, idx)};
  }
  if (!lua_istable(L, idx)) call_bad_option(L, f, o, idx, expected);
  int n = (int)lua_rawlen(L, idx);
  prop_value *list = call_new_list(L, c, n);
  for (int j = 0; j < n; j++) {
    lua_rawgeti(L, idx, j + 1);
    if (vars ? call_to_int(L, -1, &k) : call_to_known_int(L, c, -1, &k)) {
      list[j] = prop_int(k);
    } else if (vars && bind_is_var(L, -1)) {
      c->graph = true;
      list[j] = (prop_value){.kind = PROP_VAR, .u.var = bind_to_var(L, -1)};
    } else {
      call_bad_option(L, f, o, -1, expected);
    }
    lua_pop(L, 1); /* the table keeps it alive */
  }
  return prop_list(list, n);
}

static prop_value call_read_var(lua_State *L, bind_fn_call *c, const fn_option *o, int idx) {
  bool graph = false;
  if (bind_is_var(L, idx)) c->graph = true;
  damo_var *v =
      bind_operand(L, idx, true, &graph, c->f->name, c->f->n_operands + (int)(o - c->f->func->options) + 1, o->name);
  return (prop_value){.kind = PROP_VAR, .u.var = v};
}

bool bind_has_var(const prop_value *v) {
  if (v->kind == PROP_VAR) return true;
  for (int i = 0; v->kind == PROP_LIST && i < v->n; i++) {
    if (bind_has_var(&v->u.list[i])) return true;
  }
  return false;
}

static prop_value call_read_any(lua_State *L, bind_fn_call *c, const fn_option *o, int idx) {
  if (bind_to_array(L, idx)) {
    const damo_array *a = bind_to_array(L, idx);
    if (a->ndim == 1 && dtype_is_integer(array_dtype(a))) return call_ints_of_array(L, c, o, idx, a);
    return call_read_var(L, c, o, idx);
  }
  char what[48];
  snprintf(what, sizeof what, "option '%s'", o->name);
  prop_value v = bind_to_prop(L, idx, true, c->f->name, what);
  c->graph = c->graph || bind_has_var(&v);
  return v;
}

static prop_value call_read_dtype(lua_State *L, const fn_signature *f, const fn_option *o, int idx) {
  damo_type *t = bind_to(L, idx, OBJ_TYPE);
  if (t && type_has_shape(t)) return prop_str(dtype_name(t->dtype));
  if (lua_type(L, idx) != LUA_TSTRING) call_bad_option(L, f, o, idx, "the name of a dtype");
  return prop_str(dtype_name(bind_check_dtype(L, idx, f->name)));
}

static void call_read_option(lua_State *L, bind_fn_call *c, const fn_option *o, int idx) {
  const fn_signature *f = c->f;
  int64_t k = 0;
  luaL_checkstack(L, 10, f->name);
  if (lua_isnoneornil(L, idx)) return;
  prop_value *to = &c->opt[o->place];
  switch ((fn_option_kind)o->kind) {
    case OPT_INT:
      if (!call_to_known_int(L, c, idx, &k)) call_bad_option(L, f, o, idx, "an integer");
      *to = prop_int(k);
      return;
    case OPT_NUM:
      if (lua_type(L, idx) != LUA_TNUMBER) call_bad_option(L, f, o, idx, "a number");
      *to = prop_num(lua_tonumber(L, idx));
      return;
    case OPT_BOOL:
      if (!lua_isboolean(L, idx)) call_bad_option(L, f, o, idx, "true or false");
      *to = prop_bool(lua_toboolean(L, idx));
      return;
    case OPT_STR:
      if (lua_type(L, idx) != LUA_TSTRING) call_bad_option(L, f, o, idx, "a string");
      *to = prop_str(bind_text(L, idx, f->name));
      return;
    case OPT_DTYPE: *to = call_read_dtype(L, f, o, idx); return;
    case OPT_AXES:
    case OPT_INTS: *to = call_read_ints(L, c, o, idx, false); return;
    case OPT_SHAPE: *to = call_read_ints(L, c, o, idx, true); return;
    case OPT_VAR: *to = call_read_var(L, c, o, idx); return;
    case OPT_ANY: *to = call_read_any(L, c, o, idx); return;
  }
}

/* Whether the option's values are lists: then the array part of the options table is the whole value, else its only
 * entry is. */
static bool call_takes_list(const fn_option *o) {
  const fn_option_kind k = (fn_option_kind)o->kind;
  return k == OPT_AXES || k == OPT_INTS || k == OPT_SHAPE || k == OPT_ANY || k == OPT_VAR;
}

/* The keys of a table of options. given: bit i for option i, bit n_options for `out`. */
typedef struct option_keys {
  bool named;          /* it has a string key */
  const char *unknown; /* one that names no option; NULL: none */
  unsigned given;
} option_keys;

/* The bit of the option of that name; bit n_options for `out`, 0 for a name that there is none of. */
static unsigned call_option_bit(const fn_signature *f, const char *key) {
  for (int i = 0; i < f->n_options; i++) {
    if (strcmp(key, f->func->options[i].name) == 0) return 1u << i;
  }
  return strcmp(key, "out") == 0 ? 1u << f->n_options : 0;
}

/* Reads the keys: strings, and those of a list part that stands for the first option; a type error for any other. Later
 * only keys that are there are looked up: their strings exist, so that reading them makes no object. */
static option_keys call_read_keys(lua_State *L, const fn_signature *f, int idx) {
  option_keys k = {.named = false};
  const lua_Number n = (lua_Number)lua_rawlen(L, idx);
  luaL_checkstack(L, 4, f->name);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    const int type = lua_type(L, -2);
    if (type == LUA_TSTRING) {
      const char *key = bind_text(L, -2, f->name);
      const unsigned bit = call_option_bit(f, key);
      if (bit == 0) k.unknown = key;
      k.named = true;
      k.given |= bit;
      continue;
    }
    const lua_Number at = type == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
    if (at >= 1 && at <= n && at == floor(at)) continue;
    bind_raise(L, DAMO_ETYPE, "%s: the names of options are strings, got a %s", f->name, luaL_typename(L, -2));
  }
  return k;
}

/* Reads the array part of the table at idx as the first option. */
static void call_read_array_part(lua_State *L, bind_fn_call *c, int idx, bool has_keys) {
  const fn_signature *f = c->f;
  const fn_option *first = f->func->options;
  int n = (int)lua_rawlen(L, idx);
  if (n == 0 && has_keys) return;
  if (f->n_options == 0) bind_raise(L, DAMO_ETYPE, "%s: takes no options", f->name);
  if (first->kind == OPT_AXES || first->kind == OPT_INTS || first->kind == OPT_SHAPE) {
    call_read_option(L, c, first, idx); /* these read the array part alone */
    return;
  }
  if (call_takes_list(first)) {
    lua_createtable(L, n, 0);
    for (int j = 1; j <= n; j++) {
      lua_rawgeti(L, idx, j);
      lua_rawseti(L, -2, j);
    }
    call_read_option(L, c, first, lua_gettop(L));
    return;
  }
  if (n > 1) bind_raise(L, DAMO_ETYPE, "%s: option '%s' takes one value, got %d", f->name, first->name, n);
  lua_rawgeti(L, idx, 1);
  call_read_option(L, c, first, lua_gettop(L));
}

/* Raises the error for the first unknown option in the table at idx. `out`, which every function takes, is among the
 * options that it lists where `key` may be a misspelling of it. */
static void call_refuse_unknown(lua_State *L, const fn_signature *f, int idx, const char *key) {
  static const char *const out[] = {"out", NULL};
  const char *names[FN_MAX_OPTIONS + 2];
  int n = 0;
  for (; n < f->n_options; n++) names[n] = f->func->options[n].name;
  if (suggest(key, out) != NULL) names[n++] = "out";
  names[n] = NULL;
  bind_check_listed_options(L, f->name, idx, names);
}

/* The array at idx that result i is to be written into. */
static damo_array *call_read_target(lua_State *L, const fn_signature *f, int idx, int i, bool list) {
  damo_array *a = bind_to_array(L, idx);
  char which[32] = "";
  if (list) snprintf(which, sizeof which, " %d", i + 1);
  if (a == NULL) {
    const char *what = list ? "an Array" : "an Array, or a list of them where there are several results";
    bind_raise(L, DAMO_ETYPE, "%s: out%s must be %s, got %s", f->name, which, what, bind_typename(L, idx));
  }
  if (!array_takes_writes(a)) bind_raise(L, DAMO_ESTATE, "%s: out%s is read-only", f->name, which);
  return a;
}

/* Reads the option `out` at the top of the stack and leaves its arrays on the stack. */
static void call_read_out(lua_State *L, bind_fn_call *c) {
  const int at = lua_gettop(L);
  if (lua_isnil(L, at)) return;
  const bool list = lua_istable(L, at);
  const int n = list ? (int)lua_rawlen(L, at) : 1;
  c->out = c->out_small;
  if (n > EAGER_FEW) c->out = bind_alloc(L, (size_t)n, sizeof *c->out);
  luaL_checkstack(L, n + 10, c->f->name);
  c->first_out = list ? lua_gettop(L) + 1 : at;
  c->n_out = n;
  if (n == 0) bind_raise(L, DAMO_ETYPE, "%s: out is an empty list", c->f->name);
  for (int i = 0; list && i < n; i++) lua_rawgeti(L, at, i + 1);
  for (int i = 0; i < n; i++) c->out[i] = call_read_target(L, c->f, c->first_out + i, i, list);
}

static void call_read_named_options(lua_State *L, bind_fn_call *c, int idx, const option_keys *k) {
  const fn_signature *f = c->f;
  const fn_option *all = f->func->options;
  const unsigned given = k->given;
  if (k->unknown != NULL) call_refuse_unknown(L, f, idx, k->unknown);
  for (int i = 0; i < f->n_options; i++) {
    if ((given & 1u << i) == 0) continue;
    lua_getfield(L, idx, all[i].name);
    call_read_option(L, c, &all[i], lua_gettop(L));
  }
  if ((given & 1u << f->n_options) == 0) return;
  lua_getfield(L, idx, "out");
  call_read_out(L, c);
}

static int call_too_many(lua_State *L, const fn_signature *f, int top) {
  const char *operands = f->func->operands ? f->func->operands : "";
  return bind_raise(L, DAMO_ETYPE, "%s: too many arguments: %d given; operands: %s%s", f->name, top,
                    operands[0] ? operands : "none", f->n_options ? ", then a table of options" : "");
}

/* Refuses reshape(a, 2, 3), which passes the values of the first option one by one from idx on: the message shows the
 * table to write. */
static void call_refuse_one_by_one(lua_State *L, const fn_signature *f, int idx, int top) {
  luaL_Buffer b;
  const fn_option *o = f->func->options;
  if (f->n_options == 0 || !call_takes_list(o) || o->kind == OPT_VAR || top > idx + 16) return;
  for (int i = idx; i <= top; i++) {
    if (lua_type(L, i) != LUA_TNUMBER && lua_type(L, i) != LUA_TSTRING) return;
  }
  luaL_buffinit(L, &b);
  for (int i = idx; i <= top; i++) {
    bool text = lua_type(L, i) == LUA_TSTRING;
    if (i > idx) luaL_addstring(&b, ", ");
    if (text) luaL_addchar(&b, '"');
    lua_pushvalue(L, i);
    luaL_addvalue(&b);
    if (text) luaL_addchar(&b, '"');
  }
  luaL_pushresult(&b);
  bind_raise(L, DAMO_ETYPE, "%s: the values of option '%s' stand in one table, {%s}", f->name, o->name,
             lua_tostring(L, -1));
}

/* Reads the arguments from idx on: a value of the first option, after which a dtype's name may follow, then a table of
 * named options. */
static void call_read_options_from(lua_State *L, bind_fn_call *c, int idx, int top) {
  const fn_signature *f = c->f;
  const fn_option *all = f->func->options;
  int next = 0, first = idx;
  for (; idx <= top; idx++) {
    const option_keys keys = lua_istable(L, idx) ? call_read_keys(L, f, idx) : (option_keys){.named = false};
    if (keys.named) {
      if (idx < top) call_too_many(L, f, top);
      call_read_array_part(L, c, idx, true);
      call_read_named_options(L, c, idx, &keys);
      return;
    }
    bool allowed = next == 0 || (next == 1 && f->n_options > 1 && all[1].kind == OPT_DTYPE && lua_isstring(L, idx));
    if (!allowed) call_refuse_one_by_one(L, f, first, top);
    if (next >= f->n_options || !allowed) call_too_many(L, f, top);
    if (next == 0 && lua_istable(L, idx)) {
      bool named_none = lua_rawlen(L, idx) == 0 && idx == top && all->kind != OPT_SHAPE && all->kind != OPT_AXES;
      if (!named_none) call_read_array_part(L, c, idx, false);
    } else {
      call_read_option(L, c, &all[next], idx);
    }
    next++;
  }
}

/* A Variable among the options makes the call symbolic, so options are read before operands. */
void bind_read_args(lua_State *L, bind_fn_call *c, int top) {
  int next = call_read_operand_places(L, c, top);
  if (next <= top) call_read_options_from(L, c, next, top);
  bind_read_operands(L, c);
  if (c->n_out > 0 && c->graph) {
    bind_raise(L, DAMO_ETYPE,
               "%s: out is for values: a Variable takes part, so that the call makes a graph; compile it and write the "
               "results by f:into(…)",
               c->f->name);
  }
}
