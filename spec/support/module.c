/* module: a Lua module in C beside damo.core, for spec/lua/module_spec.lua. It registers an impure Op class, Count, that
 * writes into its output how often any node of it has run, and hands objects to and from the script. */
#include <lauxlib.h>
#include <lua.h>

#define DAMO_MODULE_DEFINE
#include "damo_module.h"

static int runs;

static damo_status count_perform(damo_thunk *t) {
  const damo_array *x = damo_thunk_input(t, 0);
  damo_array *out = damo_thunk_output(t, 0, DAMO_FLOAT64, damo_array_ndim(x), damo_array_shape(x));
  if (out == NULL) return DAMO_EMEMORY;
  runs++;
  for (int64_t i = 0; i < damo_array_size(x); i++) ((double *)damo_array_data(out))[i] = runs;
  return DAMO_OK;
}

/* kind(value): what the value is to C, nil for what is no object of damo. */
static int module_kind(lua_State *L) {
  damo_obj *it = damo_lua_get(L, 1);
  if (it == NULL) return 0;
  lua_pushstring(L, damo_as_array(it)    ? "array"
                    : damo_as_sparse(it) ? "sparse"
                    : damo_as_var(it)    ? "variable"
                    : damo_as_op(it)     ? "op"
                                         : "other");
  return 1;
}

/* double(v): the Variable v + v. */
static int module_double(lua_State *L) {
  damo_var *v = damo_as_var(damo_lua_get(L, 1));
  damo_ctx *ctx = damo_lua_get_context(L);
  damo_var *sum = damo_call(ctx, "add", (damo_var *[]){v, v}, 2);
  if (sum == NULL) return damo_lua_raise(L);
  damo_lua_push(L, sum);
  damo_release(sum);
  return 1;
}

static int module_nothing(lua_State *L) {
  damo_lua_push(L, NULL);
  return 1;
}

int luaopen_module(lua_State *L);
int luaopen_module(lua_State *L) {
  damo_module_open(L);
  static const damo_op_class count = {
      .name = "Count", .props = "which", .n_in = 1, .perform = count_perform, .impure = true};
  if (damo_op_register(damo_lua_get_context(L), &count) != DAMO_OK) return damo_lua_raise(L);
  lua_newtable(L);
  lua_pushcfunction(L, module_kind);
  lua_setfield(L, -2, "kind");
  lua_pushcfunction(L, module_double);
  lua_setfield(L, -2, "double");
  lua_pushcfunction(L, module_nothing);
  lua_setfield(L, -2, "nothing");
  return 1;
}
