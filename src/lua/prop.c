/* prop: conversion of Ops' properties from and to Lua values. */
#include "binding_int.h"

#define PROP_MAX_NESTING 8

/* The memory of a property's lists, one userdata: the entries of a list are contiguous, inner lists follow. */
typedef struct prop_lists {
  prop_value *at;
  int n, used;
} prop_lists;

static prop_value prop_at(lua_State *L, int idx, bool allow_var, prop_lists *space, int depth, const char *func,
                          const char *what);

/* The number of entries of the list at idx, those of inner lists included; raises for a table that is no list. */
static int prop_count_entries(lua_State *L, int idx, int depth, const char *func, const char *what) {
  int n = (int)lua_rawlen(L, idx), total = n, keys = 0;
  luaL_checkstack(L, 8, func);
  if (depth > PROP_MAX_NESTING) bind_raise(L, DAMO_EVALUE, "%s: %s is nested too deep", func, what);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TNUMBER) bind_raise(L, DAMO_ETYPE, "%s: %s must be a plain list", func, what);
    keys++;
    if (lua_istable(L, -1)) total += prop_count_entries(L, lua_gettop(L), depth + 1, func, what);
  }
  if (keys != n) bind_raise(L, DAMO_EVALUE, "%s: %s must be a list without holes", func, what);
  return total;
}

static prop_value prop_list_at(lua_State *L, int idx, bool allow_var, prop_lists *space, int depth, const char *func,
                               const char *what) {
  int n = (int)lua_rawlen(L, idx);
  if (n > space->n - space->used) bind_raise(L, DAMO_EVALUE, "%s: %s was changed while it was read", func, what);
  prop_value *list = space->at + space->used;
  space->used += n;
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    list[i] = prop_at(L, lua_gettop(L), allow_var, space, depth + 1, func, what);
    lua_pop(L, 1); /* the list keeps it alive */
  }
  return prop_list(list, n);
}

static prop_value prop_object_at(lua_State *L, int idx, bool allow_var, const char *func, const char *what) {
  void *obj;
  if ((obj = bind_to(L, idx, OBJ_TYPE))) return (prop_value){.kind = PROP_TYPE, .u.type = obj};
  if ((obj = bind_to(L, idx, OBJ_OP))) return (prop_value){.kind = PROP_OP, .u.op = obj};
  if (allow_var && (obj = bind_to(L, idx, OBJ_VAR))) return (prop_value){.kind = PROP_VAR, .u.var = obj};
  bind_raise(L, DAMO_ETYPE, "%s: %s can't be a %s", func, what, luaL_typename(L, idx));
  return prop_nil();
}

static prop_value prop_at(lua_State *L, int idx, bool allow_var, prop_lists *space, int depth, const char *func,
                          const char *what) {
  switch (lua_type(L, idx)) {
    case LUA_TNONE:
    case LUA_TNIL: return prop_nil();
    case LUA_TBOOLEAN: return prop_bool(lua_toboolean(L, idx));
    case LUA_TNUMBER:
      return lua_isinteger(L, idx) ? prop_int((int64_t)lua_tointeger(L, idx)) : prop_num(lua_tonumber(L, idx));
    case LUA_TSTRING: return prop_str(bind_text(L, idx, func));
    case LUA_TTABLE: return prop_list_at(L, idx, allow_var, space, depth, func, what);
    default: return prop_object_at(L, idx, allow_var, func, what);
  }
}

prop_value bind_to_prop(lua_State *L, int idx, bool allow_var, const char *func, const char *what) {
  prop_lists space = {0};
  idx = lua_absindex(L, idx);
  if (lua_istable(L, idx)) {
    space.n = prop_count_entries(L, idx, 0, func, what);
    space.at = bind_alloc(L, (size_t)space.n, sizeof *space.at);
  }
  return prop_at(L, idx, allow_var, &space, 0, func, what);
}

void bind_push_prop(lua_State *L, const prop_value *v) {
  switch (v->kind) {
    case PROP_BOOL: lua_pushboolean(L, v->u.i != 0); return;
    case PROP_INT: lua_pushinteger(L, (lua_Integer)v->u.i); return;
    case PROP_NUM: lua_pushnumber(L, v->u.f); return;
    case PROP_STR: lua_pushstring(L, v->u.s); return;
    case PROP_TYPE: bind_push_borrowed(L, v->u.type); return;
    case PROP_OP: bind_push_borrowed(L, v->u.op); return;
    case PROP_VAR: bind_push_borrowed(L, v->u.var); return;
    case PROP_LIST:
      luaL_checkstack(L, 8, "damo");
      lua_createtable(L, v->n, 0);
      for (int i = 0; i < v->n; i++) {
        bind_push_prop(L, &v->u.list[i]);
        lua_rawseti(L, -2, i + 1);
      }
      return;
    case PROP_NIL: break;
  }
  lua_pushnil(L);
}
