/* host_case: a Lua state of a host program that has the binding linked in, and allocators that count their calls. */
#ifndef HOST_CASE_H
#define HOST_CASE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>

#include "damo.h"

/* Makes `require "damo"` in L find the Lua files of this tree and the binding linked into this program. */
static inline void host_find_damo(lua_State *L) {
  lua_getglobal(L, "package");
  lua_pushliteral(L, "lua/?.lua;lua/?/init.lua");
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  lua_settop(L, 0);
}

/* The calls of damo's allocator and of Lua's, and the blocks that damo holds. */
typedef struct host_counts {
  int64_t native_calls, native_blocks, lua_calls;
} host_counts;

static inline void *host_reallocate(void *ptr, size_t size) {
  if (size > 0) return realloc(ptr, size);
  free(ptr);
  return NULL;
}

/* A damo_alloc, of a host_counts. */
static inline void *host_native_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  host_counts *counts = user;
  (void)osize;
  counts->native_calls++;
  counts->native_blocks += (ptr == NULL) - (nsize == 0);
  return host_reallocate(ptr, nsize);
}

/* A lua_Alloc, of a host_counts. */
static inline void *host_lua_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  host_counts *counts = user;
  (void)osize;
  counts->lua_calls++;
  return host_reallocate(ptr, nsize);
}

#endif
