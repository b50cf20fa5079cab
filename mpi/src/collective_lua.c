/* collective_lua.c: what scripts call: collectives on Arrays and on Variables, and groups. */
#include "collective_op.h"

#include <string.h>

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static int64_t integer_field(lua_State *L, int table, const char *name, int64_t otherwise) {
  lua_getfield(L, table, name);
  const int64_t n = lua_isnil(L, -1) ? otherwise : (int64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

static collective_kind kind_named(lua_State *L, const char *name) {
  for (int k = 0; k < N_COLLECTIVES; k++) {
    if (strcmp(name, collective_name((collective_kind)k)) == 0) return (collective_kind)k;
  }
  luaL_error(L, "damo.mpi.core: there is no collective %s", name);
  return N_COLLECTIVES;
}

/* The form that a table of options, checked in Lua, tells: axes and ranks count from 0 here. */
static form form_at(lua_State *L, const char *name, int table) {
  const form f = {.kind = kind_named(L, name),
                  .adjoint = integer_field(L, table, "adjoint", 0) != 0,
                  .equal = integer_field(L, table, "equal", 0) != 0,
                  .group = integer_field(L, table, "group", 0),
                  .seq = -1,
                  .op = integer_field(L, table, "op", 0),
                  .root = integer_field(L, table, "root", 0),
                  .axis = integer_field(L, table, "axis", 0),
                  .axis2 = integer_field(L, table, "axis2", 0),
                  .to = integer_field(L, table, "to", -1),
                  .from = integer_field(L, table, "from", -1),
                  .lo = integer_field(L, table, "lo", 0),
                  .hi = integer_field(L, table, "hi", 0)};
  return f;
}

static group *group_at(lua_State *L, world *w, int64_t id) {
  group *g = group_find(w, id);
  if (g == NULL) {
    damo_fail(damo_lua_get_context(L), DAMO_ESTATE, "mpi: the world has been closed");
    damo_lua_raise(L);
  }
  return g;
}

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

typedef struct value_sink {
  damo_ctx *ctx;
  damo_array *result;
} value_sink;

static damo_array *new_result(void *data, damo_dtype dtype, int ndim, const int64_t *shape) {
  value_sink *to = data;
  return to->result = damo_array_new(to->ctx, dtype, ndim, shape);
}

static int push_and_drop(lua_State *L, void *owned) {
  damo_lua_push(L, owned);
  damo_release(owned);
  return 1;
}

static int run_on_values(lua_State *L, world *w, const form *f, const damo_array *x, const damo_array *like) {
  damo_ctx *ctx = damo_lua_get_context(L);
  damo_array *scratch = NULL;
  value_sink result = {ctx, NULL};
  announcement first = {.hash = 0};
  const sink to = {new_result, &result, &scratch, &first};
  const damo_status s = collective_run(f, group_at(L, w, f->group), ctx, x, like, false, &to);
  damo_release(scratch);
  if (s == DAMO_OK) return push_and_drop(L, result.result);
  damo_release(result.result);
  return damo_lua_raise(L);
}

/* core.collective(name, x, like or nil, options): a Variable for a Variable, an Array for an Array. */
static int core_collective(lua_State *L) {
  world *w = world_of(L);
  damo_ctx *ctx = damo_lua_get_context(L);
  const form f = form_at(L, luaL_checkstring(L, 1), 4);
  damo_obj *x = damo_lua_get(L, 2), *like = lua_isnil(L, 3) ? NULL : damo_lua_get(L, 3);
  if (damo_as_array(x) != NULL) return run_on_values(L, w, &f, damo_as_array(x), damo_as_array(like));
  damo_apply *node = collective_apply(w, ctx, &f, damo_as_var(x), damo_as_var(like));
  if (node == NULL) return damo_lua_raise(L);
  damo_var *y = damo_retain(damo_apply_get_output(node, 0));
  damo_release(node);
  return push_and_drop(L, y);
}

/* core.split(group, color, key): the new group's number, this rank's number in it, and its size; nil for a negative
 * color. */
static int core_split(lua_State *L) {
  world *w = world_of(L);
  group *g = group_at(L, w, (int64_t)lua_tointeger(L, 1)), *part = NULL;
  if (group_split(g, damo_lua_get_context(L), (int)lua_tointeger(L, 2), (int)lua_tointeger(L, 3), &part) != DAMO_OK)
    return damo_lua_raise(L);
  if (part == NULL) return 0;
  lua_pushinteger(L, part->id);
  lua_pushinteger(L, part->rank);
  lua_pushinteger(L, part->size);
  return 3;
}

/* core.number(op): the number of an Op of a collective (seq) and that of its group; nil for another one. */
static int core_number(lua_State *L) {
  int64_t seq, group_id = 0;
  const damo_op *op = damo_as_op(damo_lua_get(L, 1));
  if (op == NULL || strncmp(damo_op_name(op), "Mpi", 3) != 0 || !damo_op_get_int(op, "seq", &seq)) return 0;
  damo_op_get_int(op, "group", &group_id);
  lua_pushnumber(L, (lua_Number)seq);
  lua_pushnumber(L, (lua_Number)group_id);
  return 2;
}

/* core.n_collectives(): how many nodes of collectives have been made. */
static int core_n_collectives(lua_State *L) {
  lua_pushnumber(L, (lua_Number)world_of(L)->n_collectives);
  return 1;
}

/* core.next_number(): a number for a node that is made in Lua. */
static int core_next_number(lua_State *L) {
  lua_pushnumber(L, (lua_Number)world_of(L)->n_collectives++);
  return 1;
}

/* core.set_check(true): every call of a collective is checked. */
static int core_set_check(lua_State *L) {
  world_of(L)->check = lua_toboolean(L, 1);
  return 0;
}

damo_status collective_open(lua_State *L, world *w) {
  damo_ctx *ctx = damo_lua_get_context(L);
  if (w->groups != NULL) return DAMO_OK;
  return group_world(w, ctx) != NULL ? collective_register(w, ctx) : damo_error_status(ctx);
}

void collective_register_functions(lua_State *L) {
  static const luaL_Reg functions[] = {{"collective", core_collective}, {"split", core_split},
                                       {"number", core_number},         {"next_number", core_next_number},
                                       {"set_check", core_set_check},   {"n_collectives", core_n_collectives}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushcfunction(L, functions[i].func);
    lua_setfield(L, -2, functions[i].name);
  }
}
