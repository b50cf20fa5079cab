/* params: the params of a node: the results of get_params, converted as params_type says. */
#include "params.h"
#include "call.h"

bool bind_scalar_fits_dtype(lua_State *L, int idx, damo_dtype dtype, scalar *s) {
  if (lua_type(L, idx) == LUA_TBOOLEAN ? dtype != DAMO_BOOL : dtype == DAMO_BOOL) return false;
  if (dtype_is_discrete(dtype) && lua_type(L, idx) == LUA_TNUMBER && !lua_isinteger(L, idx)) return false;
  return bind_to_scalar(L, idx, dtype, s);
}

/* Checks the value at the top by the dtype or Type of params_type at stack index dtype_at, and pushes the converted Lua
 * scalar or Array. */
static void params_convert_one(lua_State *L, const char *op, const char *name, int dtype_at) {
  damo_dtype dtype;
  scalar s = {0};
  damo_type *type = bind_to(L, dtype_at, OBJ_TYPE);
  if (lua_isnil(L, -1)) bind_raise(L, DAMO_EVALUE, "%s: get_params gave no '%s'", op, name);
  if (type) {
    lua_pushfstring(L, "%s: param '%s'", op, name);
    lua_insert(L, -2);
    bind_filter(L, lua_gettop(L), type, (filter_options){0}, lua_tostring(L, -2));
    return;
  }
  if (!bind_dtype(L, dtype_at, &dtype)) {
    bind_raise(L, DAMO_ETYPE, "%s: params_type must name a dtype or a Type for '%s'", op, name);
  }
  int lua = lua_type(L, -1);
  bool fits = (lua == LUA_TNUMBER || lua == LUA_TBOOLEAN) && bind_scalar_fits_dtype(L, -1, dtype, &s);
  if (!fits) {
    bind_raise(L, DAMO_ETYPE, "%s: get_params gave a %s for '%s', expected a %s", op, bind_typename(L, -1), name,
               dtype_name(dtype));
  }
  if (!bind_push_scalar(L, s)) lua_pushvalue(L, -1);
}

/* Replaces the result of get_params, at the top, by a table with the converted values of the names in params_type. */
static void params_convert(lua_State *L, const char *op, int types) {
  int given = lua_gettop(L);
  if (!lua_istable(L, given)) {
    bind_raise(L, DAMO_ETYPE, "%s: get_params must return a table, got %s", op, bind_typename(L, given));
  }
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, types);) {
    if (lua_type(L, -2) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "%s: params_type holds names", op);
    int key = lua_gettop(L) - 1;
    lua_getfield(L, given, lua_tostring(L, key));
    params_convert_one(L, op, lua_tostring(L, key), key + 1);
    lua_setfield(L, given + 1, lua_tostring(L, key));
    lua_settop(L, key);
  }
  lua_replace(L, given);
}

void bind_push_params(lua_State *L, const damo_apply *node) {
  damo_op *op = node->op;
  int base = lua_gettop(L);
  if (bind_is_lua_op(op)) {
    bind_push_definition(L, bind_op_class_of(op));
    lua_getfield(L, base + 1, "params_type");
    lua_getfield(L, base + 1, "get_params");
    if (lua_isfunction(L, -1)) {
      bind_push_borrowed(L, op);
      bind_push_borrowed(L, node);
      lua_call(L, 2, 1);
      if (lua_istable(L, base + 2)) params_convert(L, op->def->name, base + 2);
      lua_replace(L, base + 1);
      lua_settop(L, base + 1);
      return;
    }
    lua_settop(L, base);
  }
  if (bind_op_n_props(op) > 0) {
    bind_push_props(L, op);
  } else {
    lua_pushnil(L);
  }
}
