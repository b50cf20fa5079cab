/* names: reading a name that does not exist. Of an object, or of a module if it is similar to an existing name, this
 * raises an error that suggests the right name. A nil would show only later, as "attempt to call a nil value".
 *
 * Some reads by scripts and tools are questions, not mistakes, and give nil: a name of a module that is similar to none
 * (a script asks what this version has); names that begin with an underscore, which protocols use (__call, _VERSION);
 * keys that are no strings (ipairs over a module ends at once); and, of an Array, a sparse matrix or a Variable, a
 * field that only the other two kinds have (v.owner, v.format), by which scripts tell these kinds apart.
 */
#include <stdlib.h>

#include "binding_int.h"

/* Names that other libraries use for functions with another name here, or with another meaning. */
static const struct {
  const char *name, *advice;
} NAME_ADVICE[] = {
    {"inv", "damo.reciprocal(x) is 1/x entry by entry, damo.linalg.inv(A) the inverse of a matrix"},
    {"function", "damo.compile(inputs, outputs) makes a Function"},
    {"function_", "damo.compile(inputs, outputs) makes a Function"},
    {NULL, NULL},
};

static int names_compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void bind_sort_names(const char **names, size_t n) { qsort((void *)names, n, sizeof *names, names_compare); }

static size_t names_count(lua_State *L, int first, int last) {
  size_t n = 0;
  for (int i = first; i <= last; i++) {
    if (!lua_istable(L, i)) continue;
    for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) n += lua_type(L, -2) == LUA_TSTRING;
  }
  return n;
}

const char **bind_push_sorted_names(lua_State *L, int first, int last, size_t *n) {
  for (int i = first; i <= last; i++) {
    if (lua_istable(L, i)) bind_own_table(L, i);
  }
  const char **names = bind_alloc(L, names_count(L, first, last) + 1, sizeof *names);
  *n = 0;
  for (int i = first; i <= last; i++) {
    if (!lua_istable(L, i)) continue;
    for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
      if (lua_type(L, -2) == LUA_TSTRING) names[(*n)++] = lua_tostring(L, -2);
    }
  }
  bind_sort_names(names, *n);
  return names;
}

static const char *names_advice(const char *name) {
  for (int i = 0; NAME_ADVICE[i].name; i++) {
    if (strcmp(NAME_ADVICE[i].name, name) == 0) return NAME_ADVICE[i].advice;
  }
  return NULL;
}

/* The string at `key`; NULL for another value or a name that begins with an underscore. */
static const char *names_check(lua_State *L, int key) {
  const char *name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : NULL;
  return name && name[0] != '_' ? name : NULL;
}

static int names_raise_unknown(lua_State *L, const char *owner, const char *what, const char *name, const char *near) {
  const char *advice = names_advice(name);
  if (advice) return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s': %s", owner, what, name, advice);
  return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s', did you mean '%s'?", owner, what, name, near);
}

int bind_unknown_name(lua_State *L, int key, const char *owner, const char *what, const char *otherwise, int first,
                      int last) {
  const char *name = names_check(L, key);
  if (!name) {
    lua_pushnil(L);
    return 1;
  }
  size_t n;
  luaL_checkstack(L, 8, "damo");
  const char *near = suggest(name, bind_push_sorted_names(L, first, last, &n));
  if (near || names_advice(name)) return names_raise_unknown(L, owner, what, name, near);
  lua_pushfstring(L, otherwise ? otherwise : "", name, name);
  return bind_raise(L, DAMO_EVALUE, "%s: there is no %s'%s'%s", owner, what, name, lua_tostring(L, -1));
}

/* ---- Fields of values -------------------------------------------------------------------------------------------- */

static const char names_fields_key = 'f';

/* Pushes the set of all field names of values, made at the first call. */
static void names_push_value_fields(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &names_fields_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &names_fields_key);
}

void bind_add_value_field(lua_State *L, const char *name) {
  names_push_value_fields(L);
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

bool bind_is_value_field(lua_State *L, int key) {
  key = lua_absindex(L, key);
  names_push_value_fields(L);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  bool found = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return found;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* unknown(module, key, path, more): for a module's own __index. Returns nil, or raises an error if key looks like a
 * misspelt name of the module or of the table `more` (or nil). */
static int names_unknown(lua_State *L) {
  lua_settop(L, 4);
  const char *path = luaL_checkstring(L, 3), *name = names_check(L, 2);
  if (!name) return 0;
  lua_pushvalue(L, 1);
  lua_insert(L, 4);
  size_t n;
  const char *near = suggest_misspelt(name, bind_push_sorted_names(L, 4, 5, &n));
  return near || names_advice(name) ? names_raise_unknown(L, path, "", name, near) : 0;
}

/* __index of a sealed module. Upvalue 1: its path, "damo.io". */
static int names_module_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  return names_unknown(L);
}

/* __index of a sealed table of methods. Upvalue 1: the owner's name, "RandomStream". */
static int names_methods_index(lua_State *L) {
  lua_settop(L, 2);
  return bind_unknown_name(L, 2, lua_tostring(L, lua_upvalueindex(1)), "field or method ", NULL, 1, 1);
}

static int names_set_index(lua_State *L, lua_CFunction index) {
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

/* seal(module, path): makes reading a misspelt name raise an error; returns the module. */
static int names_seal(lua_State *L) { return names_set_index(L, names_module_index); }

/* seal_methods(methods, owner): the same for a table of methods, where every unknown name is an error. */
static int names_seal_methods(lua_State *L) { return names_set_index(L, names_methods_index); }

void bind_open_names(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"unknown", names_unknown}, {"seal", names_seal}, {"seal_methods", names_seal_methods}, {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  lua_setfield(L, -2, "names");
}
