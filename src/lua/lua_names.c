/* lua_names: names that are not there. Reading one of an object, or a misspelt one of a module, raises an error which
 * suggests the right one, where nil would show itself only later, as "attempt to call a nil value".
 *
 * What scripts and tools ask without a mistake stays nil: a name of a module that is no slip of another, by which
 * scripts ask what this version has; names that begin with an underscore, which are those of protocols (__call,
 * _VERSION); keys that are no strings (ipairs over a module ends at once); and of an Array, a sparse value or a Variable
 * the fields that only others of these have, by which scripts tell them apart (v.owner, v.format).
 */
#include <stdlib.h>

#include "lua_int.h"

/* Names that others use for what is called differently here, or that mean different things elsewhere. */
static const struct {
  const char *name, *advice;
} ADVICE[] = {
    {"inv", "damo.reciprocal(x) is 1/x entry by entry; damo.linalg.inv(A), the inverse of a matrix, is not there yet"},
    {"function", "damo.compile(inputs, outputs) makes a Function"},
    {"function_", "damo.compile(inputs, outputs) makes a Function"},
    {NULL, NULL},
};

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static size_t count_names(lua_State *L, int first, int last) {
  size_t n = 0;
  for (int i = first; i <= last; i++) {
    if (!lua_istable(L, i)) continue;
    for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) n += lua_type(L, -2) == LUA_TSTRING;
  }
  return n;
}

/* The names in the tables at stack places first to last, sorted (the nearest of several is then the same in each run),
 * NULL at the end. Copies take the places of the tables, and keep the strings. */
static const char *const *push_sorted_names(lua_State *L, int first, int last) {
  for (int i = first; i <= last; i++) {
    if (lua_istable(L, i)) bind_own_table(L, i);
  }
  const char **names = bind_room(L, count_names(L, first, last) + 1, sizeof *names);
  size_t n = 0;
  for (int i = first; i <= last; i++) {
    if (!lua_istable(L, i)) continue;
    for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
      if (lua_type(L, -2) == LUA_TSTRING) names[n++] = lua_tostring(L, -2);
    }
  }
  qsort(names, n, sizeof *names, compare);
  return names;
}

static const char *advice_for(const char *name) {
  for (int i = 0; ADVICE[i].name; i++) {
    if (strcmp(ADVICE[i].name, name) == 0) return ADVICE[i].advice;
  }
  return NULL;
}

/* The string at `key`; NULL when it is another value, or a name of a protocol. */
static const char *checked_name(lua_State *L, int key) {
  const char *name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : NULL;
  return name && name[0] != '_' ? name : NULL;
}

static int raise_unknown(lua_State *L, const char *owner, const char *what, const char *name, const char *near) {
  const char *advice = advice_for(name);
  if (advice) return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s': %s", owner, what, name, advice);
  return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s', did you mean '%s'?", owner, what, name, near);
}

int bind_unknown_name(lua_State *L, int key, const char *owner, const char *what, const char *otherwise, int first,
                      int last) {
  const char *name = checked_name(L, key);
  if (!name) {
    lua_pushnil(L);
    return 1;
  }
  luaL_checkstack(L, 8, "damo");
  const char *near = suggest(name, push_sorted_names(L, first, last));
  if (near || advice_for(name)) return raise_unknown(L, owner, what, name, near);
  lua_pushfstring(L, otherwise ? otherwise : "", name, name);
  return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s'%s", owner, what, name, lua_tostring(L, -1));
}

/* ---- Fields of values --------------------------------------------------------------------------------------------- */

static const char fields_key = 'f';

/* Pushes the set of the names of all fields of values. */
static void push_value_fields(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &fields_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &fields_key);
}

void bind_add_value_field(lua_State *L, const char *name) {
  push_value_fields(L);
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

bool bind_is_value_field(lua_State *L, int key) {
  key = lua_absindex(L, key);
  push_value_fields(L);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  bool found = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return found;
}

/* ---- Tables of Lua ----------------------------------------------------------------------------------------------- */

/* unknown(module, key, path, more): for a module's own __index; nil, or an error where key is a slip of a name. more: a
 * table with further names, or nil. */
static int unknown(lua_State *L) {
  lua_settop(L, 4);
  const char *path = luaL_checkstring(L, 3), *name = checked_name(L, 2);
  if (!name) return 0;
  lua_pushvalue(L, 1);
  lua_insert(L, 4);
  const char *near = suggest_misspelt(name, push_sorted_names(L, 4, 5));
  return near || advice_for(name) ? raise_unknown(L, path, "", name, near) : 0;
}

/* Upvalue 1: the path. */
static int module_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  return unknown(L);
}

/* Upvalue 1: what the methods are of, "RandomStream". */
static int methods_index(lua_State *L) {
  lua_settop(L, 2);
  return bind_unknown_name(L, 2, lua_tostring(L, lua_upvalueindex(1)), "field or method ", NULL, 1, 1);
}

static int set_index(lua_State *L, lua_CFunction index) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkstring(L, 2);
  lua_settop(L, 2);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, index, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, 1);
  lua_settop(L, 1);
  return 1;
}

/* seal(module, path): reading a misspelt name raises from here on; gives the module. */
static int seal(lua_State *L) { return set_index(L, module_index); }

/* seal_methods(methods, owner): the same for a table of methods. */
static int seal_methods(lua_State *L) { return set_index(L, methods_index); }

void bind_open_names(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"unknown", unknown}, {"seal", seal}, {"seal_methods", seal_methods}, {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  lua_setfield(L, -2, "names");
}
