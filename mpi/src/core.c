/* core.c: the Lua module damo.mpi.core, which makes the world of its Lua state. */
#define DAMO_MODULE_DEFINE
#include "bucket.h"
#include "collective_op.h"
#include "faults.h"
#include "files.h"
#include "strings.h"

#include <stdlib.h>

static world *the_world; /* for atexit alone, which passes no argument: the world that called MPI_Init */

static void close_at_exit(void) {
  if (the_world != NULL) world_close(the_world);
}

static int world_gc(lua_State *L) {
  world **box = (world **)lua_touserdata(L, 1);
  if (box != NULL && *box != NULL) {
    world_close(*box);
    if (the_world == *box) the_world = NULL;
    world_release(*box);
    *box = NULL;
  }
  return 0;
}

/* The userdata is made before what it holds, so that an error leaks nothing. */
static world *make_world(lua_State *L) {
  world **box = (world **)lua_newuserdata(L, sizeof *box);
  *box = NULL;
  lua_newtable(L);
  lua_pushcfunction(L, world_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  world *w = *box = world_new();
  if (w == NULL) luaL_error(L, "damo.mpi: out of memory");
  if (world_open(w) != MPI_SUCCESS) luaL_error(L, "damo.mpi: MPI_Init failed");
  if (w->owns_mpi && the_world == NULL) {
    the_world = w;
    atexit(close_at_exit);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, WORLD_REGISTRY_KEY);
  return w;
}

/* core.barrier(): returns on no rank before all have called it. */
static int core_barrier(lua_State *L) {
  group *g = group_find(world_of(L), 0);
  damo_ctx *ctx = damo_lua_get_context(L);
  damo_status s = world_usable(world_of(L), ctx);
  if (s == DAMO_OK && g != NULL) s = group_meet(g, ctx, RECORD_BARRIER, "mpi.barrier");
  return s == DAMO_OK ? 0 : damo_lua_raise(L);
}

DAMO_API int luaopen_damo_mpi_core(lua_State *L);
int luaopen_damo_mpi_core(lua_State *L) {
  damo_module_open(L);
  world *w = world_of(L);
  if (w == NULL) w = make_world(L);
  if (faults_open(w, damo_lua_get_context(L)) != DAMO_OK) return damo_lua_raise(L);
  const bool opened = w->groups != NULL;
  if (collective_open(L, w) != DAMO_OK) return damo_lua_raise(L);
  if (!opened && bucket_register(w, damo_lua_get_context(L)) != DAMO_OK) return damo_lua_raise(L);
  lua_newtable(L);
  lua_pushinteger(L, w->rank);
  lua_setfield(L, -2, "rank");
  lua_pushinteger(L, w->size);
  lua_setfield(L, -2, "size");
  lua_pushcfunction(L, core_barrier);
  lua_setfield(L, -2, "barrier");
  faults_register(L);
  collective_register_functions(L);
  bucket_register_functions(L);
  strings_register(L);
  files_register(L);
  return 1;
}
