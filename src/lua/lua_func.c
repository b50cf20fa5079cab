/* lua_func: every row of the op families as a Lua function, and as a method of Arrays and Variables.
 *
 * A call has three parts. Reading may raise, and leaves all it made on the Lua stack: operands, then options. Running is C
 * alone: constants without a copy around plain values, the row's function, eager evaluation when no Variable took part.
 * Pushing takes each result into a userdata.
 */
#include <stdio.h>

#include "lua_int.h"

#define MAX_OPERANDS 8
#define MAX_OPTIONS 12
#define WORD_MAX 32
#define SMALL_CALL 16 /* operands that need no room of their own */

static const char table_key = 'f';

typedef enum option_kind {
  OPT_INT,
  OPT_NUM,
  OPT_BOOL,
  OPT_STR,
  OPT_DTYPE,
  OPT_AXES,
  OPT_INTS,
  OPT_SHAPE,
  OPT_VAR,
  OPT_ANY
} option_kind;

static const char *const kind_names[] = {"int",  "num",   "bool", "str", "dtype", "axes",
                                         "ints", "shape", "var",  "any", NULL};

/* A row's signature, read once. */
typedef struct fn_info {
  const op_func *f;
  int n_operands, n_required, n_options;
  bool list; /* the last operand is a list of any length */
  char operand[MAX_OPERANDS][WORD_MAX];
  bool optional[MAX_OPERANDS];
  char option[MAX_OPTIONS][WORD_MAX];
  option_kind kind[MAX_OPTIONS];
  const char *names[MAX_OPTIONS + 1]; /* of the options, for messages */
  const struct fn_info *sparse;       /* the row that a call with a sparse operand is a call of, NULL: itself */
} fn_info;

/* All rows, and a hash from their addresses, and from those of names that C asks for, to them. */
#define N_SLOTS 4096
typedef struct fn_table {
  int n;
  struct {
    const void *key;
    fn_info *info;
  } slot[N_SLOTS];
  fn_info at[];
} fn_table;

/* ---- Signatures ---------------------------------------------------------------------------------------------------- */

static size_t word(const char **p, char *dst) {
  while (**p == ' ') ++*p;
  size_t n = strcspn(*p, " ");
  size_t m = n < WORD_MAX ? n : WORD_MAX - 1;
  memcpy(dst, *p, m);
  dst[m] = '\0';
  *p += n;
  return n;
}

static void read_operands(fn_info *info) {
  const char *p = info->f->operands ? info->f->operands : "";
  char name[WORD_MAX];
  while (info->n_operands < MAX_OPERANDS && word(&p, name) > 0) {
    int i = info->n_operands++;
    size_t n = strlen(name);
    info->optional[i] = name[0] == '[';
    if (info->optional[i]) {
      memmove(name, name + 1, n);
      n = strcspn(name, "]");
      name[n] = '\0';
    }
    if (n > 3 && strcmp(name + n - 3, "...") == 0) {
      info->list = true;
      name[n - 3] = '\0';
    }
    memcpy(info->operand[i], name, WORD_MAX);
    if (!info->optional[i]) info->n_required = i + 1;
  }
}

static int kind_of(const char *name) {
  for (int i = 0; kind_names[i]; i++) {
    if (strcmp(kind_names[i], name) == 0) return i;
  }
  return -1;
}

static void read_options(lua_State *L, fn_info *info) {
  const char *p = info->f->options ? info->f->options : "";
  char name[WORD_MAX];
  while (word(&p, name) > 0) {
    char *colon = strchr(name, ':');
    int kind = colon ? kind_of(colon + 1) : -1;
    if (kind < 0 || info->n_options == MAX_OPTIONS)
      luaL_error(L, "damo: row '%s': bad option '%s'", info->f->name, name);
    *colon = '\0';
    int i = info->n_options++;
    memcpy(info->option[i], name, WORD_MAX);
    info->kind[i] = (option_kind)kind;
    info->names[i] = info->option[i];
  }
}

static fn_info **slot_of(fn_table *t, const void *key, bool make) {
  size_t h = ((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15ULL >> 40;
  for (int probe = 0; probe < 64; probe++, h++) {
    if (t->slot[h % N_SLOTS].key == key) return &t->slot[h % N_SLOTS].info;
    if (t->slot[h % N_SLOTS].key) continue;
    if (!make) return NULL;
    t->slot[h % N_SLOTS].key = key;
    return &t->slot[h % N_SLOTS].info;
  }
  return NULL;
}

static fn_table *get_table(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &table_key);
  fn_table *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return t;
}

static const fn_info *info_of(lua_State *L, const op_func *f) {
  fn_table *t = get_table(L);
  fn_info **slot = slot_of(t, f, false);
  if (slot) return *slot;
  for (int i = 0; i < t->n; i++) {
    if (t->at[i].f == f) return &t->at[i];
  }
  bind_raise(L, DAMO_ESTATE, "%s: the function came after the module was loaded", f->name);
  return NULL;
}

/* name is a literal of C's: its address is its key from the second call on. */
static const fn_info *info_named(lua_State *L, const char *name) {
  fn_table *t = get_table(L);
  fn_info **slot = slot_of(t, name, false);
  if (slot && strcmp((*slot)->f->name, name) == 0) return *slot;
  const op_func *f = func_find(bind_ctx(L), name);
  if (!f) bind_raise(L, DAMO_ENOT_IMPLEMENTED, "there is no function '%s'", name);
  const fn_info *info = info_of(L, f);
  slot = slot_of(t, name, true);
  if (slot) *slot = (fn_info *)info;
  return info;
}

/* ---- Reading: operands --------------------------------------------------------------------------------------------- */

/* A call as it is read. src[i] is the stack place of operand i (0: absent); after reading, `graph` tells whether Variables
 * take part, and the options are properties whose memory lies on the stack. */
typedef struct fn_call {
  const fn_info *info;
  int n_in;
  int src_small[SMALL_CALL], *src;
  damo_var *in_small[SMALL_CALL], **in;   /* graph: borrowed from the stack */
  damo_obj *val_small[SMALL_CALL], **val; /* eager: values borrowed from the stack, NULL for a literal at src */
  scalar lit_small[SMALL_CALL], *lit;
  prop_value opt[MAX_OPTIONS];
  bool graph;
} fn_call;

static bool is_var(lua_State *L, int idx) {
  if (lua_type(L, idx) != LUA_TUSERDATA) return false;
  bind_box *box = bind_box_at(L, idx);
  return box && box->kind == OBJ_VAR;
}

static void call_room(lua_State *L, fn_call *c, int n) {
  c->src = c->src_small;
  c->in = c->in_small;
  c->val = c->val_small;
  c->lit = c->lit_small;
  if (n <= SMALL_CALL) return;
  luaL_checkstack(L, 3 * n + 40, c->info->f->name);
  c->src = bind_room(L, (size_t)n, sizeof *c->src);
  c->in = bind_room(L, (size_t)n, sizeof *c->in);
  c->val = bind_room(L, (size_t)n, sizeof *c->val);
  c->lit = bind_room(L, (size_t)n, sizeof *c->lit);
}

/* Spreads the list at idx over the stack as the operands from `from` on. */
static void read_list(lua_State *L, fn_call *c, int idx, int from) {
  const fn_info *info = c->info;
  if (!lua_istable(L, idx) || bind_is_options(L, idx)) {
    bind_arg_error(L, info->f->name, idx, info->operand[from], "a list of operands");
  }
  int n = (int)lua_rawlen(L, idx);
  int keep[MAX_OPERANDS];
  for (int i = 0; i < from; i++) keep[i] = c->src[i];
  if (from + n > SMALL_CALL) call_room(L, c, from + n);
  for (int i = 0; i < from; i++) c->src[i] = keep[i];
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    c->src[from + i] = lua_gettop(L);
  }
  c->n_in = from + n;
}

/* Finds the operands among the arguments 1..top; returns the place of the first argument after them. */
static int read_operand_places(lua_State *L, fn_call *c, int top) {
  const fn_info *info = c->info;
  int idx = 1;
  for (int i = 0; i < info->n_operands; i++, idx++) {
    bool missing = idx > top || lua_isnil(L, idx) || (info->optional[i] && bind_is_options(L, idx));
    if (info->list && i == info->n_operands - 1) {
      read_list(L, c, idx, i);
      return idx + 1;
    }
    if (missing && !info->optional[i]) {
      bind_arg_error(L, info->f->name, idx, info->operand[i], "a Variable, Array, number or table");
    }
    if (missing && (idx > top || !lua_isnil(L, idx))) break;
    c->src[i] = missing ? 0 : idx;
    if (!missing) c->n_in = i + 1;
  }
  return idx;
}

/* The operand at place idx without Variables in the call: an Array, a sparse matrix or a literal. */
static void read_plain(lua_State *L, fn_call *c, int i, int idx) {
  const fn_info *info = c->info;
  const char *name = info->operand[i < info->n_operands ? i : info->n_operands - 1];
  bool graph = false;
  c->val[i] = NULL;
  switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
      if (lua_isinteger(L, idx)) {
        c->lit[i] = (scalar){.dtype = DAMO_INT64, .v.i = (int64_t)lua_tointeger(L, idx)};
      } else {
        c->lit[i] = (scalar){.dtype = DAMO_FLOAT64, .v.f = lua_tonumber(L, idx)};
      }
      return;
    case LUA_TUSERDATA:
      c->val[i] = bind_to_value(L, idx);
      if (c->val[i]) return;
      break;
    default: break;
  }
  damo_var *v = bind_operand(L, idx, false, &graph, info->f->name, i + 1, name); /* raises when it is nothing of ours */
  c->in[i] = v;
  c->val[i] = v->value;
  if (v->weak) {
    c->lit[i] = array_item((damo_array *)v->value);
    c->val[i] = NULL;
  }
}

static void read_operands_at(lua_State *L, fn_call *c) {
  const fn_info *info = c->info;
  for (int i = 0; i < c->n_in && !c->graph; i++) c->graph = c->src[i] && is_var(L, c->src[i]);
  for (int i = 0; i < c->n_in; i++) {
    c->in[i] = NULL;
    c->val[i] = NULL;
    if (!c->src[i]) continue;
    if (!c->graph) {
      read_plain(L, c, i, c->src[i]);
      continue;
    }
    bool graph = false;
    const char *name = info->operand[i < info->n_operands ? i : info->n_operands - 1];
    c->in[i] = bind_operand(L, c->src[i], true, &graph, info->f->name, i + 1, name);
  }
}

/* ---- Reading: options ---------------------------------------------------------------------------------------------- */

static int bad_option(lua_State *L, const fn_info *info, int i, int idx, const char *expected) {
  return bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be %s, got %s", info->f->name, info->option[i], expected,
                    bind_typename(L, idx));
}

/* A float that is integral counts as an integer. */
static bool to_int(lua_State *L, int idx, int64_t *out) {
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

/* An integer Array as a list of integers. */
static prop_value ints_of_array(lua_State *L, const fn_info *info, int i, const damo_array *a) {
  if (a->ndim > 1 || !dtype_is_integer(array_dtype(a))) {
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must hold integers", info->f->name, info->option[i]);
  }
  int n = (int)array_size(a);
  prop_value *list = bind_room(L, (size_t)n, sizeof *list);
  for (int64_t k = 0; k < n; k++) list[k] = prop_int(scalar_to_int64(array_get(a, &k)));
  return prop_list(list, n);
}

/* An integer, or a list of them and, for shapes, Variables. */
static prop_value read_ints(lua_State *L, fn_call *c, int i, int idx, bool vars) {
  const fn_info *info = c->info;
  const char *expected =
      vars ? "an integer, a list of integers and Variables, or an integer vector" : "an integer or a list of integers";
  int64_t k;
  if (to_int(L, idx, &k)) {
    prop_value one = prop_int(k);
    if (info->kind[i] != OPT_INTS) return one;
    prop_value *list = bind_room(L, 1, sizeof *list);
    list[0] = one;
    return prop_list(list, 1);
  }
  if (bind_to_array(L, idx)) return ints_of_array(L, info, i, bind_to_array(L, idx));
  if (vars && is_var(L, idx)) {
    c->graph = true;
    return (prop_value){.kind = PROP_VAR, .u.var = bind_to_var(L, idx)};
  }
  if (!lua_istable(L, idx)) bad_option(L, info, i, idx, expected);
  int n = (int)lua_rawlen(L, idx);
  prop_value *list = bind_room(L, (size_t)n, sizeof *list);
  for (int j = 0; j < n; j++) {
    lua_rawgeti(L, idx, j + 1);
    if (to_int(L, -1, &k)) {
      list[j] = prop_int(k);
    } else if (vars && is_var(L, -1)) {
      c->graph = true;
      list[j] = (prop_value){.kind = PROP_VAR, .u.var = bind_to_var(L, -1)};
    } else {
      bad_option(L, info, i, -1, expected);
    }
    lua_pop(L, 1); /* the list keeps it */
  }
  return prop_list(list, n);
}

static prop_value read_var(lua_State *L, fn_call *c, int i, int idx) {
  bool graph = false;
  if (is_var(L, idx)) c->graph = true;
  damo_var *v = bind_operand(L, idx, true, &graph, c->info->f->name, c->info->n_operands + i + 1, c->info->option[i]);
  return (prop_value){.kind = PROP_VAR, .u.var = v};
}

static bool has_var(const prop_value *v) {
  if (v->kind == PROP_VAR) return true;
  for (int i = 0; v->kind == PROP_LIST && i < v->n; i++) {
    if (has_var(&v->u.list[i])) return true;
  }
  return false;
}

static prop_value read_any(lua_State *L, fn_call *c, int i, int idx) {
  if (bind_to_array(L, idx)) {
    const damo_array *a = bind_to_array(L, idx);
    if (a->ndim == 1 && dtype_is_integer(array_dtype(a))) return ints_of_array(L, c->info, i, a);
    return read_var(L, c, i, idx);
  }
  char what[48];
  snprintf(what, sizeof what, "option '%s'", c->info->option[i]);
  prop_value v = bind_to_prop(L, idx, true, c->info->f->name, what);
  c->graph = c->graph || has_var(&v);
  return v;
}

static prop_value read_dtype(lua_State *L, const fn_info *info, int i, int idx) {
  damo_type *t = bind_to(L, idx, OBJ_TYPE);
  if (t && type_has_shape(t)) return prop_str(dtype_name(t->dtype));
  if (lua_type(L, idx) != LUA_TSTRING) bad_option(L, info, i, idx, "the name of a dtype");
  return prop_str(dtype_name(bind_check_dtype(L, idx, info->f->name)));
}

static void read_option(lua_State *L, fn_call *c, int i, int idx) {
  const fn_info *info = c->info;
  int64_t k;
  luaL_checkstack(L, 10, info->f->name);
  if (lua_isnoneornil(L, idx)) return;
  switch (info->kind[i]) {
    case OPT_INT:
      if (!to_int(L, idx, &k)) bad_option(L, info, i, idx, "an integer");
      c->opt[i] = prop_int(k);
      return;
    case OPT_NUM:
      if (lua_type(L, idx) != LUA_TNUMBER) bad_option(L, info, i, idx, "a number");
      c->opt[i] = prop_num(lua_tonumber(L, idx));
      return;
    case OPT_BOOL:
      if (!lua_isboolean(L, idx)) bad_option(L, info, i, idx, "true or false");
      c->opt[i] = prop_bool(lua_toboolean(L, idx));
      return;
    case OPT_STR:
      if (lua_type(L, idx) != LUA_TSTRING) bad_option(L, info, i, idx, "a string");
      c->opt[i] = prop_str(lua_tostring(L, idx));
      return;
    case OPT_DTYPE: c->opt[i] = read_dtype(L, info, i, idx); return;
    case OPT_AXES:
    case OPT_INTS: c->opt[i] = read_ints(L, c, i, idx, false); return;
    case OPT_SHAPE: c->opt[i] = read_ints(L, c, i, idx, true); return;
    case OPT_VAR: c->opt[i] = read_var(L, c, i, idx); return;
    case OPT_ANY: c->opt[i] = read_any(L, c, i, idx); return;
  }
}

/* Kinds whose values are lists: an array part stands for the whole value, else for its one entry. */
static bool takes_list(option_kind k) {
  return k == OPT_AXES || k == OPT_INTS || k == OPT_SHAPE || k == OPT_ANY || k == OPT_VAR;
}

/* The array part of the table at idx as the first option. */
static void read_array_part(lua_State *L, fn_call *c, int idx, bool has_keys) {
  const fn_info *info = c->info;
  int n = (int)lua_rawlen(L, idx);
  if (n == 0 && has_keys) return;
  if (info->n_options == 0) bind_raise(L, DAMO_ETYPE, "%s: takes no options", info->f->name);
  if (takes_list(info->kind[0])) {
    lua_createtable(L, n, 0);
    for (int j = 1; j <= n; j++) {
      lua_rawgeti(L, idx, j);
      lua_rawseti(L, -2, j);
    }
    read_option(L, c, 0, lua_gettop(L));
    return;
  }
  if (n > 1) bind_raise(L, DAMO_ETYPE, "%s: option '%s' takes one value, got %d", info->f->name, info->option[0], n);
  lua_rawgeti(L, idx, 1);
  read_option(L, c, 0, lua_gettop(L));
}

static void read_named_options(lua_State *L, fn_call *c, int idx) {
  const fn_info *info = c->info;
  bind_check_options(L, info->f->name, idx, info->names);
  for (int i = 0; i < info->n_options; i++) {
    lua_getfield(L, idx, info->option[i]);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
    } else {
      read_option(L, c, i, lua_gettop(L));
    }
  }
}

static int too_many(lua_State *L, const fn_info *info, int top) {
  const char *operands = info->f->operands ? info->f->operands : "";
  return bind_raise(L, DAMO_ETYPE, "%s: too many arguments: %d given; operands: %s%s", info->f->name, top,
                    operands[0] ? operands : "none", info->n_options ? ", then a table of options" : "");
}

/* Arguments from idx on: one value for the first option (a dtype's name may follow it), then a table with named options. */
static void read_options_from(lua_State *L, fn_call *c, int idx, int top) {
  const fn_info *info = c->info;
  int next = 0;
  for (; idx <= top; idx++) {
    if (bind_is_options(L, idx)) {
      if (idx < top) too_many(L, info, top);
      read_array_part(L, c, idx, true);
      read_named_options(L, c, idx);
      return;
    }
    bool allowed =
        next == 0 || (next == 1 && info->n_options > 1 && info->kind[1] == OPT_DTYPE && lua_isstring(L, idx));
    if (next >= info->n_options || !allowed) too_many(L, info, top);
    if (next == 0 && lua_istable(L, idx)) {
      bool named_none =
          lua_rawlen(L, idx) == 0 && idx == top && info->kind[0] != OPT_SHAPE && info->kind[0] != OPT_AXES;
      if (!named_none) read_array_part(L, c, idx, false);
    } else {
      read_option(L, c, next, idx);
    }
    next++;
  }
}

/* ---- Running ------------------------------------------------------------------------------------------------------- */

typedef struct fn_results {
  damo_obj *small[4], **at; /* owned */
  int64_t n;
} fn_results;

static damo_var *plain_constant(build *b, const fn_call *c, int i) {
  if (c->val[i]) return build_take(b, var_constant(b->ctx, NULL, c->val[i]));
  damo_array *a = array_from_scalar(b->ctx, c->lit[i]);
  damo_var *v = a ? var_constant(b->ctx, NULL, &a->obj) : NULL;
  damo_release(a);
  if (v) v->weak = true;
  return build_take(b, v);
}

static damo_status take_results(build *b, const fn_call *c, const ptrvec *out, fn_results *r) {
  damo_ctx *ctx = b->ctx;
  r->n = out->n;
  r->at = r->small;
  if (out->n > (int64_t)(sizeof r->small / sizeof r->small[0])) {
    r->at = mem_calloc(ctx, (size_t)out->n * sizeof *r->at);
    if (!r->at) return DAMO_EMEMORY;
  }
  damo_status s = DAMO_OK;
  if (c->graph) {
    for (int64_t i = 0; i < out->n; i++) r->at[i] = damo_retain(out->at[i]);
  } else {
    s = eager_eval(ctx, (damo_var *const *)out->at, out->n, r->at);
  }
  if (s != DAMO_OK && r->at != r->small) mem_free(ctx, r->at, (size_t)out->n * sizeof *r->at);
  return s;
}

/* C alone: nothing in here raises. */
static damo_status run_call(damo_ctx *ctx, fn_call *c, fn_results *r) {
  build b;
  ptrvec out;
  build_init(&b, ctx);
  ptrvec_init(&out, ctx);
  for (int i = 0; i < c->n_in && !c->graph; i++) c->in[i] = c->src[i] ? plain_constant(&b, c, i) : NULL;
  damo_status s = b.status;
  if (s == DAMO_OK) s = func_call(&b, c->info->f, c->in, c->n_in, c->opt, &out);
  if (s == DAMO_OK) s = take_results(&b, c, &out, r);
  ptrvec_clear(&out);
  build_end(&b);
  return s;
}

/* ---- Pushing ------------------------------------------------------------------------------------------------------- */

typedef struct pushing {
  damo_obj **at;
  int64_t n;
  bool values;
} pushing;

static void push_one(lua_State *L, damo_obj **at, bool value) {
  damo_obj *obj = *at;
  *at = NULL;
  if (value) {
    bind_push_value(L, obj);
  } else {
    bind_push(L, obj);
  }
}

static int push_protected(lua_State *L) {
  pushing *p = lua_touserdata(L, 1);
  luaL_checkstack(L, (int)p->n + 8, "damo: too many results");
  for (int64_t i = 0; i < p->n; i++) push_one(L, &p->at[i], p->values);
  return (int)p->n;
}

/* Pushes all under protection and releases what is left; returns Lua's status, an error at the top when it failed. */
static int push_all(lua_State *L, damo_obj **take, int64_t n, bool values) {
  pushing p = {take, n, values};
  lua_pushcfunction(L, push_protected);
  lua_pushlightuserdata(L, &p);
  int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  for (int64_t i = 0; i < n; i++) damo_release(take[i]);
  return status;
}

static int push_results(lua_State *L, fn_results *r, bool values) {
  if (r->n == 1) {
    push_one(L, r->at, values);
    return 1;
  }
  int top = lua_gettop(L), status = push_all(L, r->at, r->n, values);
  if (r->at != r->small) mem_free(bind_ctx(L), r->at, (size_t)r->n * sizeof *r->at);
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L) - top;
}

/* With {on_fail = "return"} a numeric failure of a computation is a result: nil and the error. */
static bool returns_failure(const fn_call *c, damo_status s) {
  for (int i = 0; i < c->info->n_options && s == DAMO_ENUMERIC && !c->graph; i++) {
    const prop_value *v = &c->opt[i];
    if (strcmp(c->info->option[i], "on_fail") == 0) return v->kind == PROP_STR && strcmp(v->u.s, "return") == 0;
  }
  return false;
}

static int finish_call(lua_State *L, fn_call *c) {
  damo_ctx *ctx = bind_ctx(L);
  fn_results r = {.at = NULL};
  if (c->graph) {
    bind_set_trace(L);
  } else {
    ctx->trace = NULL;
  }
  damo_status s = run_call(ctx, c, &r);
  if (s == DAMO_EMEMORY && bind_retry_memory(L)) s = run_call(ctx, c, &r);
  if (s != DAMO_OK && returns_failure(c, s)) {
    lua_pushnil(L);
    bind_push_error(L);
    return 2;
  }
  if (s != DAMO_OK) return bind_error(L);
  int n = push_results(L, &r, !c->graph);
  if (c->graph && ctx->config.compute_test_value != TEST_VALUE_OFF) bind_test_values(L, lua_gettop(L) - n + 1, n);
  return n;
}

/* ---- Doors --------------------------------------------------------------------------------------------------------- */

/* Whether an operand is sparse: the options are then those of the sparse row. (The core itself finds the row for operands
 * inside a list.) */
static bool has_sparse(lua_State *L, const fn_info *info, int top) {
  for (int i = 1; i <= info->n_operands && i <= top; i++) {
    if (lua_type(L, i) != LUA_TUSERDATA) continue;
    const bind_box *box = bind_box_at(L, i);
    if (!box || !box->obj) continue;
    if (box->kind == OBJ_SPARSE) return true;
    if (box->kind == OBJ_VAR && type_is_sparse(((const damo_var *)box->obj)->type)) return true;
  }
  return false;
}

/* A Variable among the options makes the call symbolic, so they are read first. */
static int call_info(lua_State *L, const fn_info *info) {
  int top = lua_gettop(L);
  if (info->sparse && has_sparse(L, info, top)) info = info->sparse;
  fn_call c = {.info = info};
  luaL_checkstack(L, 40, info->f->name);
  call_room(L, &c, 0);
  int next = read_operand_places(L, &c, top);
  if (next <= top) read_options_from(L, &c, next, top);
  read_operands_at(L, &c);
  return finish_call(L, &c);
}

int bind_call_func(lua_State *L, const op_func *f) { return call_info(L, info_of(L, f)); }

int bind_call_name(lua_State *L, const char *name) { return call_info(L, info_named(L, name)); }

int bind_call_parsed(lua_State *L, const char *name, int first, int n, const prop_value *opt) {
  fn_call c = {.info = info_named(L, name)};
  luaL_checkstack(L, 40 + n, name);
  call_room(L, &c, n);
  c.n_in = n;
  for (int i = 0; i < n; i++) c.src[i] = first + i;
  for (int i = 0; opt && i < c.info->n_options; i++) {
    c.opt[i] = opt[i];
    c.graph = c.graph || has_var(&opt[i]);
  }
  read_operands_at(L, &c);
  return finish_call(L, &c);
}

static int call_closure(lua_State *L) { return call_info(L, lua_touserdata(L, lua_upvalueindex(1))); }

/* ---- The module ---------------------------------------------------------------------------------------------------- */

/* Names that are fields of Arrays and Variables: these rows are functions only. */
static const char *const fields[] = {"shape", "size", "type",  "name", "index",  "owner", "tag",
                                     "data",  "T",    "dtype", "ndim", "format", "nnz",   NULL};

/* The name after the table's: "dot" of "sparse.dot". */
static const char *base_name(const char *name) {
  const char *dot = strchr(name, '.');
  return dot ? dot + 1 : name;
}

static bool is_field(const char *name) {
  for (int i = 0; fields[i]; i++) {
    if (strcmp(fields[i], name) == 0) return true;
  }
  return false;
}

/* Rows over a generator's state live in the table `random`: damo.random wraps them. */
static bool is_draw(const fn_info *info) { return info->n_operands > 0 && strcmp(info->operand[0], "rng") == 0; }

static void push_row(lua_State *L, const fn_info *info) {
  lua_createtable(L, 0, 6);
  lua_pushstring(L, info->f->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, info->f->operands ? info->f->operands : "");
  lua_setfield(L, -2, "operands");
  lua_pushstring(L, info->f->options ? info->f->options : "");
  lua_setfield(L, -2, "options");
  lua_pushstring(L, info->f->doc ? info->f->doc : "");
  lua_setfield(L, -2, "doc");
  lua_pushboolean(L, !info->f->no_method && !is_field(base_name(info->f->name)));
  lua_setfield(L, -2, "method");
  lua_pushboolean(L, is_draw(info));
  lua_setfield(L, -2, "random");
}

/* damo.registry(): every row {name, operands, options, doc, method, random}, in the order of registration. */
static int list_rows(lua_State *L) {
  fn_table *t = get_table(L);
  lua_createtable(L, t->n, 0);
  for (int i = 0; i < t->n; i++) {
    push_row(L, &t->at[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* The row "sparse.NAME" of a plain row, NULL where there is none. */
static const fn_info *sparse_twin(fn_table *t, damo_ctx *ctx, const op_func *f) {
  char name[64];
  if (f->any_type || strchr(f->name, '.')) return NULL;
  snprintf(name, sizeof name, "sparse.%s", f->name);
  fn_info **slot = slot_of(t, func_find(ctx, name), false);
  return slot ? *slot : NULL;
}

static fn_table *make_table(lua_State *L, damo_ctx *ctx) {
  int n = 0;
  while (func_at(ctx, n)) n++;
  fn_table *t = bind_room(L, 1, sizeof *t + (size_t)n * sizeof *t->at);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &table_key);
  for (; t->n < n; t->n++) {
    fn_info *info = &t->at[t->n];
    info->f = func_at(ctx, t->n);
    read_operands(info);
    read_options(L, info);
    fn_info **slot = slot_of(t, info->f, true);
    if (slot) *slot = info;
  }
  for (int i = 0; i < n; i++) t->at[i].sparse = sparse_twin(t, ctx, t->at[i].f);
  return t;
}

/* The function at the top into the table at place `methods`, where no function of that name is there: a plain row leads
 * to the sparse one by itself. Keeps it. */
static void set_method(lua_State *L, int methods, const char *name) {
  lua_getfield(L, methods, name);
  bool taken = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (taken) return;
  lua_pushvalue(L, -1);
  lua_setfield(L, methods, name);
}

void bind_open_func(lua_State *L) {
  bind_state *st = bind_get(L);
  fn_table *t = make_table(L, st->ctx);
  int module = lua_gettop(L), draws = module + 1, sparse = module + 2, methods = module + 3;
  lua_newtable(L);
  lua_newtable(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_methods);
  for (int i = 0; i < t->n; i++) {
    const op_func *f = t->at[i].f;
    const char *name = base_name(f->name);
    int table = name != f->name ? sparse : is_draw(&t->at[i]) ? draws : module;
    lua_pushlightuserdata(L, &t->at[i]);
    lua_pushcclosure(L, call_closure, 1);
    if (!f->no_method && !is_field(name)) set_method(L, methods, name);
    lua_setfield(L, table, name);
  }
  lua_pop(L, 1);
  lua_setfield(L, module, "sparse");
  lua_setfield(L, module, "random");
  lua_pushcfunction(L, list_rows);
  lua_setfield(L, -2, "registry");
}
