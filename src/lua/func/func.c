/* func: each row of the op families as a Lua function, and as a method of Arrays and Variables. args.c reads the
 * arguments of a call, call.c runs it. */
#include "func.h"

/* Fields of Arrays and Variables: rows of these names are functions but no methods. */
static const char *const fn_fields[] = {"shape", "size", "type",  "name", "index",  "owner", "tag",
                                        "data",  "T",    "dtype", "ndim", "format", "nnz",   NULL};

/* The name without the table's: "dot" of "sparse.dot". */
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

/* Rows of damo and damo.sparse are methods too, unless they say otherwise; those of damo.linalg, damo.nn and the like are
 * not, whose names may be those of other functions of damo. */
static bool fn_is_method(const fn_signature *f) {
  const char *name = fn_base_name(f->name);
  return !f->func->no_method && !fn_is_field(name) && (name == f->name || strncmp(f->name, "sparse.", 7) == 0);
}

static void fn_push_operands(lua_State *L, const fn_signature *f) {
  BIND_HEIGHT(L);
  lua_createtable(L, f->n_operands, 0);
  for (int i = 0; i < f->n_operands; i++) {
    lua_createtable(L, 0, 3);
    lua_pushstring(L, f->operand[i].name);
    lua_setfield(L, -2, "name");
    lua_pushboolean(L, f->operand[i].optional);
    lua_setfield(L, -2, "optional");
    lua_pushboolean(L, f->operand[i].list);
    lua_setfield(L, -2, "list");
    lua_rawseti(L, -2, i + 1);
  }
  BIND_LEAVES(L, 1);
}

static void fn_push_options(lua_State *L, const fn_signature *f) {
  BIND_HEIGHT(L);
  lua_createtable(L, f->n_options, 0);
  for (int i = 0; i < f->n_options; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, f->func->options[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, option_kind_name((fn_option_kind)f->func->options[i].kind));
    lua_setfield(L, -2, "kind");
    lua_rawseti(L, -2, i + 1);
  }
  BIND_LEAVES(L, 1);
}

static void fn_push_row(lua_State *L, const fn_signature *f) {
  BIND_HEIGHT(L);
  lua_createtable(L, 0, 6);
  lua_pushstring(L, f->name);
  lua_setfield(L, -2, "name");
  fn_push_operands(L, f);
  lua_setfield(L, -2, "operands");
  fn_push_options(L, f);
  lua_setfield(L, -2, "options");
  lua_pushstring(L, f->func->doc ? f->func->doc : "");
  lua_setfield(L, -2, "doc");
  lua_pushboolean(L, fn_is_method(f));
  lua_setfield(L, -2, "method");
  lua_pushboolean(L, f->is_draw);
  lua_setfield(L, -2, "random");
  BIND_LEAVES(L, 1);
}

/* damo.registry(): all rows {name, operands, options, doc, method, random} in the order of registration; an operand is
 * {name, optional, list}, an option {name, kind}. */
static int fn_list_rows(lua_State *L) {
  damo_ctx *ctx = bind_ctx(L);
  const fn_signature *f;
  lua_newtable(L);
  for (int i = 0; (f = func_at(ctx, i)) != NULL; i++) {
    fn_push_row(L, f);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* Under bind_again_bare: the row is the caller's upvalue, which the first run does not have. */
static int fn_call_row(lua_State *L) {
  const fn_signature *f = lua_touserdata(L, lua_upvalueindex(1));
  return bind_call_func(L, f != NULL ? f : bind_get(L)->calling);
}

static int fn_run(lua_State *L, const fn_signature *f) {
  bind_state *st = lua_touserdata(L, lua_upvalueindex(2));
  st->calling = f;
  return bind_again_bare(L, fn_call_row, 1);
}

static int fn_call_closure(lua_State *L) { return fn_run(L, lua_touserdata(L, lua_upvalueindex(1))); }

/* Calls the row as a method. Refuses a first argument that is no object: then x.f(…) was written for x:f(…). */
static int fn_call_method(lua_State *L) {
  const fn_signature *f = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_type(L, 1) != LUA_TUSERDATA) {
    const char *name = fn_base_name(f->name);
    bind_raise(L, DAMO_ETYPE, "%s: call it with a colon, x:%s(…); without one, damo.%s(x, …)", name, name, f->name);
  }
  return fn_run(L, f);
}

/* Adds the row as a method to the table at stack index `methods`, unless the name is taken: the dense row comes first,
 * and calls the sparse one for sparse operands. */
static void fn_set_method(lua_State *L, int methods, const fn_signature *f, const char *name) {
  lua_getfield(L, methods, name);
  bool taken = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (taken) return;
  lua_pushlightuserdata(L, (void *)(uintptr_t)f);
  bind_pushclosure(L, fn_call_method, 1);
  lua_setfield(L, methods, name);
}

/* Pushes module[TABLE] for a row "TABLE.NAME", which is made if it is not there. */
static void fn_push_table(lua_State *L, int module, const fn_signature *f) {
  lua_pushlstring(L, f->name, (size_t)(fn_base_name(f->name) - f->name) - 1);
  lua_pushvalue(L, -1);
  lua_rawget(L, module);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, module);
  }
  lua_remove(L, -2);
}

void bind_open_func(lua_State *L) {
  bind_state *st = bind_get(L);
  const fn_signature *f;
  int module = lua_gettop(L), draws = module + 1, methods = module + 2;
  lua_newtable(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_methods);
  for (int i = 0; (f = func_at(st->ctx, i)) != NULL; i++) {
    const char *name = fn_base_name(f->name);
    if (f->is_draw && (name == f->name || strncmp(f->name, "random.", 7) == 0))
      lua_pushvalue(L, draws); /* damo.random wraps these */
    else if (name != f->name)
      fn_push_table(L, module, f);
    else
      lua_pushvalue(L, module);
    lua_pushlightuserdata(L, (void *)(uintptr_t)f);
    bind_pushclosure(L, fn_call_closure, 1);
    if (fn_is_method(f)) fn_set_method(L, methods, f, name);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_setfield(L, module, "random");
  bind_pushfunction(L, fn_list_rows);
  lua_setfield(L, -2, "registry");
}
