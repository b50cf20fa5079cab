/* run: calls cut into slices (f:start). The userdata of a run keeps in its peer table the Function, the run's own
 * Function, whose bind_caller has the Arrays of its numbers, and the arguments, which may be views of a host's memory. */
#include "function.h"

#define RUN_SMALL 16

static damo_run *run_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_RUN, func, "self"); }

/* Begins a call with the arguments from stack index 2 on. The run is at idx. */
static void run_start_at(lua_State *L, int idx, int n) {
  damo_run *r = bind_to(L, idx, OBJ_RUN);
  damo_function *own = fn_run_own(r);
  damo_obj *small[RUN_SMALL], **args = small;
  luaL_checkstack(L, 16, "start");
  if (n > own->program->n_inputs) n = bind_without_nils(L, n + 1, (int)own->program->n_inputs + 1) - 1;
  bind_check(L, function_check_count(own, n));
  bind_peer(L, idx);
  const int peer = lua_gettop(L);
  lua_getfield(L, peer, "own");
  bind_caller *c = bind_caller_of(L, -1);
  if (n > RUN_SMALL) args = bind_alloc(L, (size_t)n, sizeof *args);
  bind_caller_args(L, c, own, 2, n, args);
  bind_check(L, fn_run_begin(r, args, n));
  lua_getfield(L, peer, "args");
  for (int i = 1; i <= n; i++) {
    lua_pushvalue(L, 1 + i);
    lua_rawseti(L, -2, i);
  }
}

int bind_start(lua_State *L, damo_function *f, const bind_caller *c, damo_obj *const *into, int n) {
  luaL_checkstack(L, 16, "start");
  if (c->nested) return bind_raise(L, DAMO_ENOT_IMPLEMENTED, "start: a Function of nested tables has no runs");
  damo_run *r = fn_run_new(f, into);
  if (!r) return bind_error(L);
  bind_push(L, r);
  const int idx = lua_gettop(L);
  bind_peer(L, idx);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "f");
  bind_push_function(L, damo_retain(fn_run_own(r)), c->named, c->single);
  lua_setfield(L, -2, "own");
  lua_createtable(L, n, 0);
  lua_setfield(L, -2, "args");
  run_start_at(L, idx, n);
  lua_settop(L, idx);
  return 1;
}

int bind_function_start(lua_State *L) {
  damo_function *f = bind_function_self(L, "start");
  return bind_start(L, f, bind_caller_of(L, 1), NULL, lua_gettop(L) - 1);
}

static int run_restart(lua_State *L) {
  damo_run *r = run_self(L, "restart");
  bind_check(L, fn_run_cancel(r));
  run_start_at(L, 1, lua_gettop(L) - 1);
  lua_settop(L, 1);
  return 1;
}

static int run_step(lua_State *L) {
  damo_run *r = run_self(L, "step");
  bind_state *st = bind_get(L);
  int64_t ns = -1;
  if (!lua_isnoneornil(L, 2)) {
    if (lua_type(L, 2) != LUA_TNUMBER) bind_arg_error(L, "step", 2, "us", "a number of microseconds");
    const lua_Number us = lua_tonumber(L, 2);
    if (!(us >= 0)) return bind_raise(L, DAMO_EVALUE, "step: the budget must be 0 or more microseconds");
    ns = us < 9e12 ? (int64_t)(us * 1000) : INT64_MAX;
  }
  bool ended = false;
  lua_State *before = st->running;
  st->running = L;
  const damo_status s = fn_run_step(r, ns, &ended);
  st->running = before;
  bind_check(L, s);
  lua_pushboolean(L, ended);
  return 1;
}

static int run_result(lua_State *L) {
  damo_run *r = run_self(L, "result");
  const fn_program *p = fn_run_own(r)->program;
  const int n = (int)p->n_outputs;
  luaL_checkstack(L, n + 16, "result");
  bind_peer(L, 1);
  lua_getfield(L, -1, "own");
  const bool named = bind_caller_of(L, -1)->named;
  lua_settop(L, 1);
  if (named) lua_createtable(L, 0, n);
  if (n == 0) bind_check(L, fn_run_check_ended(r));
  for (int i = 0; i < n; i++) {
    damo_obj *v = fn_run_result(r, i);
    if (!v) return bind_error(L);
    if (named) lua_pushstring(L, p->outputs[i].name);
    bind_push_value(L, damo_retain(v));
    if (named) lua_rawset(L, 2);
  }
  if (named) bind_set_record(L);
  return named ? 1 : n;
}

static int run_cancel(lua_State *L) {
  bind_check(L, fn_run_cancel(run_self(L, "cancel")));
  return 0;
}

void bind_add_run_class(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"step", run_step}, {"result", run_result}, {"cancel", run_cancel}, {"restart", run_restart}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg meta[] = {{"__close", run_cancel}, {NULL, NULL}};
  bind_class(L, OBJ_RUN, none, methods, meta, LUA_NOREF);
}
