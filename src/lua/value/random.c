/* random: states of random generators. lua/damo/random.lua builds streams on them. The op functions that draw (first
 * operand rng) are in the module's table `random`, filled by lua/func/func.c. */
#include "lua/binding_int.h"
#include "op/op.h"

/* core.random_state(seed): the state of a generator as an Array, with the counter at 0. */
static int random_state(lua_State *L) {
  uint64_t seed;
  if (lua_isinteger(L, 1)) {
    seed = (uint64_t)lua_tointeger(L, 1);
  } else {
    lua_Number x = lua_type(L, 1) == LUA_TNUMBER ? lua_tonumber(L, 1) : -1;
    if (x != floor(x) || x < 0 || x >= 18446744073709551616.0) bind_arg_error(L, "seed", 1, "seed", "an integer");
    seed = (uint64_t)x;
  }
  damo_array *a = random_seed_array(bind_ctx(L), seed);
  if (!a) return bind_error(L);
  bind_push(L, a);
  return 1;
}

/* core.random_shared(state, name): a shared Variable of RandomType. */
static int random_shared(lua_State *L) {
  damo_array *a = bind_check_obj(L, 1, OBJ_ARRAY, "RandomStream", "state");
  damo_type *t = type_random(bind_ctx(L));
  if (!t) return bind_error(L);
  bind_push(L, t);
  if (!type_is_valid(t, &a->obj)) bind_arg_error(L, "RandomStream", 1, "state", "a generator's state");
  damo_var *v = var_shared(bind_ctx(L), t, &a->obj, lua_isnoneornil(L, 2) ? NULL : bind_text(L, 2, "RandomStream"));
  if (!v) return bind_error(L);
  bind_push(L, v);
  return 1;
}

void bind_open_random(lua_State *L) {
  static const luaL_Reg fns[] = {{"random_state", random_state}, {"random_shared", random_shared}, {NULL, NULL}};
  bind_setfuncs(L, fns);
}
