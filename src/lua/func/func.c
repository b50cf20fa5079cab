/* func: every row of the op families as a Lua function, and as a method of Arrays and Variables.
 *
 * Signatures are read once, when the module is opened, and found by the row's address. (A call: args.c reads
 * it, call.c runs it.)
 */
#include <stdio.h>

#include "func.h"

static const char fn_table_key = 'f';

/* All rows, and a hash from their addresses, and from those of names that C asks for, to them. */
#define FN_SLOTS 1024
typedef struct fn_table {
  int n;
  struct {
    const void *key;
    bind_fn_info *info;
  } slot[FN_SLOTS];
  bind_fn_info at[];
} fn_table;

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

static const char *const option_kind_names[] = {"int",  "num",   "bool", "str", "dtype", "axes",
                                                "ints", "shape", "var",  "any", NULL};

/* The next word of the text at *p, made a string there; NULL at its end. */
static char *fn_next_word(char **p) {
  char *at = *p + strspn(*p, " "), *end = at + strcspn(at, " ");
  *p = *end ? end + 1 : end;
  *end = '\0';
  return at < end ? at : NULL;
}

/* "x [y] z...": y may be left out, z is a list. The text becomes the names. */
static void fn_parse_operands(bind_fn_info *info, char *text) {
  char *name;
  while (info->n_operands < BIND_MAX_OPERANDS && (name = fn_next_word(&text)) != NULL) {
    int i = info->n_operands++;
    info->optional[i] = name[0] == '[';
    if (info->optional[i]) {
      name++;
      name[strcspn(name, "]")] = '\0';
    }
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, "...") == 0) {
      info->list = true;
      name[n - 3] = '\0';
    }
    info->operand[i] = name;
    if (!info->optional[i]) info->n_required = (uint8_t)(i + 1);
  }
}

static int option_kind_of(const char *name) {
  for (int i = 0; option_kind_names[i]; i++) {
    if (strcmp(option_kind_names[i], name) == 0) return i;
  }
  return -1;
}

/* "axis:int keepdims:bool": names and kinds. The text becomes the names. */
static void fn_parse_options(lua_State *L, bind_fn_info *info, char *text) {
  char *name;
  while ((name = fn_next_word(&text)) != NULL) {
    char *colon = strchr(name, ':');
    int kind = colon ? option_kind_of(colon + 1) : -1;
    if (kind < 0 || info->n_options == BIND_MAX_OPTIONS)
      luaL_error(L, "damo: row '%s': bad option '%s'", info->f->name, name);
    *colon = '\0';
    int i = info->n_options++;
    info->option[i] = name;
    info->kind[i] = (uint8_t)kind;
  }
}

/* ---- Rows by address and by name --------------------------------------------------------------------------------- */

static bind_fn_info **fn_slot_of(fn_table *t, const void *key, bool make) {
  size_t h = ((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15ULL >> 40;
  for (int probe = 0; probe < 64; probe++, h++) {
    if (t->slot[h % FN_SLOTS].key == key) return &t->slot[h % FN_SLOTS].info;
    if (t->slot[h % FN_SLOTS].key) continue;
    if (!make) return NULL;
    t->slot[h % FN_SLOTS].key = key;
    return &t->slot[h % FN_SLOTS].info;
  }
  return NULL;
}

static fn_table *fn_get_table(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &fn_table_key);
  fn_table *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return t;
}

const bind_fn_info *bind_func_info(lua_State *L, const op_func *f) {
  fn_table *t = fn_get_table(L);
  bind_fn_info **slot = fn_slot_of(t, f, false);
  if (slot) return *slot;
  for (int i = 0; i < t->n; i++) {
    if (t->at[i].f == f) return &t->at[i];
  }
  bind_raise(L, DAMO_ESTATE, "%s: the function came after the module was loaded", f->name);
  return NULL;
}

const bind_fn_info *bind_func_info_named(lua_State *L, const char *name) {
  fn_table *t = fn_get_table(L);
  bind_fn_info **slot = fn_slot_of(t, name, false);
  if (slot && strcmp((*slot)->f->name, name) == 0) return *slot;
  const op_func *f = func_find(bind_ctx(L), name);
  if (!f) bind_raise(L, DAMO_ENOT_IMPLEMENTED, "there is no function '%s'", name);
  const bind_fn_info *info = bind_func_info(L, f);
  slot = fn_slot_of(t, name, true);
  if (slot) *slot = (bind_fn_info *)info;
  return info;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

/* Names that are fields of Arrays and Variables: these rows are functions only. */
static const char *const fn_fields[] = {"shape", "size", "type",  "name", "index",  "owner", "tag",
                                        "data",  "T",    "dtype", "ndim", "format", "nnz",   NULL};

/* The name after the table's: "dot" of "sparse.dot". */
static const char *fn_base_name(const char *name) {
  const char *dot = strchr(name, '.');
  return dot ? dot + 1 : name;
}

static bool fn_is_field(const char *name) {
  for (int i = 0; fn_fields[i]; i++) {
    if (strcmp(fn_fields[i], name) == 0) return true;
  }
  return false;
}

/* Rows over a generator's state live in the table `random`: damo.random wraps them. */
static bool fn_is_draw(const bind_fn_info *info) {
  return info->n_operands > 0 && strcmp(info->operand[0], "rng") == 0;
}

static void fn_push_row(lua_State *L, const bind_fn_info *info) {
  lua_createtable(L, 0, 6);
  lua_pushstring(L, info->f->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, info->f->operands ? info->f->operands : "");
  lua_setfield(L, -2, "operands");
  lua_pushstring(L, info->f->options ? info->f->options : "");
  lua_setfield(L, -2, "options");
  lua_pushstring(L, info->f->doc ? info->f->doc : "");
  lua_setfield(L, -2, "doc");
  lua_pushboolean(L, !info->f->no_method && !fn_is_field(fn_base_name(info->f->name)));
  lua_setfield(L, -2, "method");
  lua_pushboolean(L, fn_is_draw(info));
  lua_setfield(L, -2, "random");
}

/* damo.registry(): every row {name, operands, options, doc, method, random}, in the order of registration. */
static int fn_list_rows(lua_State *L) {
  fn_table *t = fn_get_table(L);
  lua_createtable(L, t->n, 0);
  for (int i = 0; i < t->n; i++) {
    fn_push_row(L, &t->at[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* The row "sparse.NAME" of a plain row, NULL where there is none. */
static const bind_fn_info *fn_sparse_twin(fn_table *t, damo_ctx *ctx, const op_func *f) {
  char name[64];
  if (f->any_type || strchr(f->name, '.')) return NULL;
  snprintf(name, sizeof name, "sparse.%s", f->name);
  bind_fn_info **slot = fn_slot_of(t, func_find(ctx, name), false);
  return slot ? *slot : NULL;
}

static size_t fn_text_size(const char *text) { return (text ? strlen(text) : 0) + 1; }

/* Copies the text, its final zero included, to *end, and moves *end behind it. */
static char *fn_copy_text(char **end, const char *text) {
  char *at = *end;
  memcpy(at, text ? text : "", fn_text_size(text));
  *end += fn_text_size(text);
  return at;
}

static fn_table *fn_make_table(lua_State *L, damo_ctx *ctx) {
  int n = 0;
  size_t words = 0;
  for (const op_func *f; (f = func_at(ctx, n)) != NULL; n++)
    words += fn_text_size(f->operands) + fn_text_size(f->options);
  fn_table *t = bind_alloc(L, 1, sizeof *t + (size_t)n * sizeof *t->at + words);
  char *text = (char *)(t->at + n);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &fn_table_key);
  for (; t->n < n; t->n++) {
    bind_fn_info *info = &t->at[t->n];
    info->f = func_at(ctx, t->n);
    fn_parse_operands(info, fn_copy_text(&text, info->f->operands));
    fn_parse_options(L, info, fn_copy_text(&text, info->f->options));
    bind_fn_info **slot = fn_slot_of(t, info->f, true);
    if (slot) *slot = info;
  }
  for (int i = 0; i < n; i++) t->at[i].sparse = fn_sparse_twin(t, ctx, t->at[i].f);
  return t;
}

static int fn_call_row(lua_State *L) { return bind_call_info(L, lua_touserdata(L, lua_upvalueindex(1))); }

static int fn_call_closure(lua_State *L) { return bind_again(L, fn_call_row, 1); }

/* The same as a method: an object stands first, unless a dot was written for the colon. */
static int fn_call_method(lua_State *L) {
  const bind_fn_info *info = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_type(L, 1) != LUA_TUSERDATA) {
    const char *name = fn_base_name(info->f->name);
    bind_raise(L, DAMO_ETYPE, "%s: call it with a colon, x:%s(…); without one, damo.%s(x, …)", name, name,
               info->f->name);
  }
  return bind_again(L, fn_call_row, 1);
}

/* The row as a method into the table at place `methods`, where none of that name is there: a plain row leads to the
 * sparse one by itself. */
static void fn_set_method(lua_State *L, int methods, bind_fn_info *info, const char *name) {
  lua_getfield(L, methods, name);
  bool taken = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (taken) return;
  lua_pushlightuserdata(L, info);
  bind_pushclosure(L, fn_call_method, 1);
  lua_setfield(L, methods, name);
}

void bind_open_func(lua_State *L) {
  bind_state *st = bind_get(L);
  fn_table *t = fn_make_table(L, st->ctx);
  int module = lua_gettop(L), draws = module + 1, sparse = module + 2, methods = module + 3;
  lua_newtable(L);
  lua_newtable(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_methods);
  for (int i = 0; i < t->n; i++) {
    const op_func *f = t->at[i].f;
    const char *name = fn_base_name(f->name);
    int table = name != f->name ? sparse : fn_is_draw(&t->at[i]) ? draws : module;
    lua_pushlightuserdata(L, &t->at[i]);
    bind_pushclosure(L, fn_call_closure, 1);
    if (!f->no_method && !fn_is_field(name)) fn_set_method(L, methods, &t->at[i], name);
    lua_setfield(L, table, name);
  }
  lua_pop(L, 1);
  lua_setfield(L, module, "sparse");
  lua_setfield(L, module, "random");
  bind_pushfunction(L, fn_list_rows);
  lua_setfield(L, -2, "registry");
}
