/* subtensor: subtensors of Variables: x[…], x:set(…, v), x:inc(…, v). Index tables become the spec of op subtensor. */
#include "lua/binding_int.h"
#include "op/op.h"

/* Calls the op function `name` with the operands from stack index `first` to the top, followed by the operands of the
 * index table at idx. */
static int part_call(lua_State *L, const char *name, int first, int idx, const char *func) {
  bind_index ix;
  bind_parse_index(L, idx, &ix, func);
  return bind_call_parsed(L, name, first, lua_gettop(L) - first + 1, WITH(index_options, .spec = prop_str(ix.spec)));
}

int bind_var_part(lua_State *L) {
  bind_check_obj(L, 1, OBJ_VAR, "index", "self");
  return bind_part(L);
}

int bind_part(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  return part_call(L, "subtensor", 3, 2, "index");
}

static int part_change(lua_State *L, const char *name, const char *func) {
  bind_check_obj(L, 1, OBJ_VAR, func, "self");
  if (bind_arg_count(L) != 3)
    bind_raise(L, DAMO_ETYPE, "%s: expected an index and a value: x:%s({2, {1, 3}}, v)", func, func);
  lua_settop(L, 3);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 3);
  return part_call(L, name, 4, 2, func);
}

int bind_var_set(lua_State *L) { return part_change(L, "set_subtensor_at", "set"); }
int bind_var_inc(lua_State *L) { return part_change(L, "inc_subtensor_at", "inc"); }
