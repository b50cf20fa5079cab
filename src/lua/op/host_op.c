/* host_op: damo.ops: the Op classes that the host has registered, by name. */
#include "class.h"

#define HOST_OP_MAX_PROPS 32
#define HOST_OP_MAX_NAMES 64 /* names considered for a suggestion */

int bind_class_instance(lua_State *L, const op_def *def, int idx) {
  const char *names[HOST_OP_MAX_PROPS + 1];
  prop_value props[HOST_OP_MAX_PROPS];
  lua_settop(L, idx);
  if (lua_isnil(L, idx)) lua_newtable(L), lua_replace(L, idx);
  if (!lua_istable(L, idx)) bind_arg_error(L, def->name, idx, "props", "a table of properties");
  luaL_checkstack(L, 2 * HOST_OP_MAX_PROPS + 20, def->name);
  if (op_fields_count(def->props) > HOST_OP_MAX_PROPS)
    bind_raise(L, DAMO_EVALUE, "%s: more than %d properties", def->name, HOST_OP_MAX_PROPS);
  int n = bind_op_prop_names(def, names);
  if (lua_rawlen(L, idx) > 0) bind_raise(L, DAMO_ETYPE, "%s: properties are given by name", def->name);
  bind_check_options(L, def->name, idx, names);
  for (int i = 0; i < n; i++) {
    lua_getfield(L, idx, names[i]);
    props[i] = bind_to_prop(L, lua_gettop(L), false, def->name, names[i]);
  }
  damo_op *op = op_new(bind_ctx(L), def, props);
  if (!op) return bind_error(L);
  bind_push(L, op);
  return 1;
}

/* damo.ops.Name{prop = value}. Upvalue 1: the class, which lives as long as the context. */
static int host_op_instance_body(lua_State *L) {
  return bind_class_instance(L, lua_touserdata(L, lua_upvalueindex(1)), 1);
}

static int host_op_instance(lua_State *L) { return bind_again(L, host_op_instance_body, 1); }

static int host_op_no_class(lua_State *L, damo_ctx *ctx, const char *name) {
  const char *names[HOST_OP_MAX_NAMES + 1];
  int n = 0;
  for (const op_def *def; n < HOST_OP_MAX_NAMES && (def = api_class_at(ctx, n)) != NULL; n++) names[n] = def->name;
  names[n] = NULL;
  const char *near = suggest(name, names);
  if (near)
    return bind_raise(L, DAMO_EVALUE, "damo.ops: no Op class '%s' is registered, did you mean '%s'?", name, near);
  return bind_raise(L, DAMO_EVALUE, "damo.ops: no Op class '%s' is registered", name);
}

/* damo.ops.Name: the Op, if the class has no properties, else a function that takes a table of them. The result is
 * stored in damo.ops, so each name is looked up once. */
static int host_op_class(lua_State *L) {
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  damo_ctx *ctx = bind_ctx(L);
  const char *name = bind_text(L, 2, "damo.ops");
  const op_def *def = api_class_find(ctx, name);
  if (!def) return host_op_no_class(L, ctx, name);
  if (op_fields_count(def->props) > 0) {
    lua_pushlightuserdata(L, (void *)def);
    bind_pushclosure(L, host_op_instance, 1);
  } else {
    damo_op *op = op_new(ctx, def, NULL);
    if (!op) return bind_error(L);
    bind_push(L, op);
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

void bind_open_host_op(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  bind_pushfunction(L, host_op_class);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "ops");
}
