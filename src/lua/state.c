/* state: the module, and the context of a lua_State.
 *
 * The bind_state is a userdata in the registry under the address of a static of this file, so a second copy of the
 * library in the same lua_State (a host's, and one loaded from disk) has its own. It is made before any other userdata
 * of damo, so that Lua finalizes it last.
 */
#include <stdio.h>

#include "binding.h"

static const char state_key = 's';

/* ---- The state --------------------------------------------------------------------------------------------------- */

static bind_state *state_find(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
  bind_state *st = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return st;
}

bind_state *bind_get(lua_State *L) {
  bind_state *st = state_find(L);
  if (!st || st->closed) luaL_error(L, "damo: the Lua state is being closed");
  return st;
}

damo_ctx *bind_find_ctx(lua_State *L) {
  const bind_state *st = state_find(L);
  return st && !st->closed ? st->ctx : NULL;
}

lua_State *bind_main_thread(lua_State *L) {
#ifdef LUA_RIDX_MAINTHREAD
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return main;
#else
  return L;
#endif
}

static int state_gc(lua_State *L) {
  bind_state *st = lua_touserdata(L, 1);
  damo_ctx *ctx = st->ctx;
  if (st->closed || !ctx) return 0;
  st->closed = true;
  if (ctx->warning_user == st) damo_ctx_set_warning(ctx, NULL, NULL);
  if (ctx->print_user == st) damo_ctx_set_print(ctx, NULL, NULL);
  if (ctx->poll_user == st) ctx->on_poll = NULL, ctx->poll_user = NULL;
  if (graph_notes_of(ctx)->trace == (damo_obj *)st->trace) graph_notes_of(ctx)->trace = NULL;
  for (int i = 0; i < st->n_orphans; i++) damo_release(st->orphans[i]);
  bind_drop_boxes(st);
  damo_release(st->trace);
  st->ctx = NULL;
  damo_ctx_release(ctx);
  return 0;
}

static void state_clear_refs(bind_state *st) {
  for (int i = 0; i < BIND_BUCKETS; i++) st->ref_objects[i] = LUA_NOREF;
  st->ref_methods = st->ref_module = st->ref_error = st->ref_pending = LUA_NOREF;
  for (int i = 0; i < OBJ_N_KINDS; i++) st->ref_metatable[i] = LUA_NOREF;
}

/* Makes the state with a host's context (a light userdata at 1), or with a new one (nil). */
static int state_make(lua_State *L) {
  damo_ctx *ctx = lua_touserdata(L, 1);
  bind_state *st = lua_newuserdatauv(L, sizeof *st, 0);
  memset(st, 0, sizeof *st);
  state_clear_refs(st);
  bind_collect_init(st);
  st->main = bind_main_thread(L);
  snprintf(st->mode, sizeof st->mode, "FAST_RUN");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, state_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  st->ctx = ctx ? damo_ctx_retain(ctx) : damo_ctx_new(NULL, NULL);
  if (!st->ctx) return luaL_error(L, "damo: not enough memory for a context");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
  return 0;
}

damo_status damo_lua_set_context(lua_State *L, damo_ctx *ctx) {
  /* The context of another build: its error can't be set. */
  if (ctx != NULL && memcmp(ctx->build, ctx_build_id, sizeof ctx->build) != 0) return DAMO_ESTATE;
  DAMO_TRY(ctx_check_given(ctx, "damo_lua_set_context", "L", L));
  if (!lua_checkstack(L, 4)) return ctx_fail_memory(ctx);
  if (state_find(L)) {
    return ctx_fail(ctx, DAMO_ESTATE,
                    "damo_lua_set_context: the Lua state has a context already; call this before damo.core is loaded");
  }
  lua_pushcfunction(L, state_make);
  lua_pushlightuserdata(L, ctx);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return DAMO_OK;
  lua_pop(L, 1);
  return ctx_fail_memory(ctx);
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static void state_make_tables(lua_State *L, bind_state *st) {
  BIND_HEIGHT(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  for (int i = 0; i < BIND_BUCKETS; i++) {
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_setmetatable(L, -2);
    st->ref_objects[i] = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_pop(L, 1);
  lua_newtable(L);
  st->ref_methods = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  st->ref_pending = luaL_ref(L, LUA_REGISTRYINDEX);
  BIND_LEAVES(L, 0);
}

/* Remembers the folder of the damo/init.lua that is loading this module: traces leave out the lines of its files. */
static void state_find_own_sources(lua_State *L, bind_state *st) {
  static const char tail[] = "/damo/init.lua";
  lua_Debug ar;
  for (int level = 1; level < 16 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "S", &ar);
    size_t n = strlen(ar.source), m = sizeof tail - 1;
    if (ar.source[0] != '@' || n < m || strcmp(ar.source + n - m, tail) != 0) continue;
    n -= strlen("init.lua");
    if (n < sizeof st->source) {
      memcpy(st->source, ar.source, n);
      st->source[n] = '\0';
    }
    return;
  }
}

static void state_open_all(lua_State *L) {
  bind_open_error(L);
  bind_open_object(L);
  bind_open_config(L);
  bind_open_info(L);
  bind_open_value(L);
  bind_open_func(L);
  bind_open_array(L);
  bind_open_index(L);
  bind_open_type(L);
  bind_open_var(L);
  bind_open_graph(L);
  bind_open_op(L);
  bind_open_op_from_graph(L);
  bind_open_host_op(L);
  bind_open_grad(L);
  bind_open_compile(L);
  bind_open_rewrite(L);
  bind_open_random(L);
  bind_open_io(L);
  bind_open_sparse(L);
  bind_open_factor(L);
  bind_open_printer(L);
  bind_open_system(L);
  bind_open_terminal(L);
  bind_open_front(L);
  bind_open_module(L);
  bind_open_scan(L);
  bind_open_names(L);
}

int luaopen_damo_core(lua_State *L) {
  luaL_checkstack(L, 40, "damo.core");
  if (!state_find(L)) {
    lua_pushcfunction(L, state_make);
    lua_pushnil(L);
    lua_call(L, 1, 0);
  }
  bind_state *st = bind_get(L);
  if (st->ref_module != LUA_NOREF) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_module);
    return 1;
  }
  state_find_own_sources(L, st);
  state_make_tables(L, st);
  lua_newtable(L);
  state_open_all(L);
  lua_pushvalue(L, -1);
  st->ref_module = luaL_ref(L, LUA_REGISTRYINDEX);
  return 1;
}
