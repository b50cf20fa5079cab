/* sandbox_test: a host opens a state with only the harmless libraries, makes its context a sandbox, and then runs a
 * script. Run from the root of the tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <unistd.h>

#include "damo.h"
#include "test.h"

#define PROBE "build/damo_sandbox_probe"

/* base, package, string, table, math, coroutine: no io, no os, no debug; and no way to load C. */
static lua_State *new_state(damo_ctx *ctx) {
  static const luaL_Reg libraries[] = {{"_G", luaopen_base},
                                       {LUA_LOADLIBNAME, luaopen_package},
                                       {LUA_STRLIBNAME, luaopen_string},
                                       {LUA_TABLIBNAME, luaopen_table},
                                       {LUA_MATHLIBNAME, luaopen_math},
#ifdef LUA_COLIBNAME
                                       {LUA_COLIBNAME, luaopen_coroutine},
#endif
                                       {NULL, NULL}};
  lua_State *L = luaL_newstate();
  if (!CHECK(L != NULL)) return NULL;
  for (const luaL_Reg *l = libraries; l->func != NULL; l++) luaL_requiref(L, l->name, l->func, 1);
  lua_settop(L, 0);
  CHECK_EQ_I(damo_lua_set_context(L, ctx), DAMO_OK);
  lua_getglobal(L, "package");
  lua_pushliteral(L, "lua/?.lua;lua/?/init.lua");
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_pushnil(L);
  lua_setfield(L, -2, "loadlib");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  lua_settop(L, 0);
  return L;
}

static const char escapes[] =
    "local damo = require 'damo'\n"
    "local path, pointer = ...\n"
    "local A, x = damo.sparse.eye(2), damo.dvector 'x'\n"
    "local doors = {\n"
    "  function() damo.config.sandbox = false end,\n"
    "  function() damo.config.memory_cap = 0 end,\n"
    "  function() damo.config.threads = 2 end,\n"
    "  function() return damo.io.save(path .. '.npy', 1) end,\n"
    "  function() return damo.io.save(path .. '.npz', A, {on_fail = 'return'}) end,\n"
    "  function() return damo.io.write_mtx(path .. '.mtx', A) end,\n"
    "  function() return damo.io.read_mtx('README.md') end,\n"
    "  function() return damo.io.read_csv('/etc/passwd', {on_fail = 'return'}) end,\n"
    "  function() return damo.io.load('x.npy') end,\n"
    "  function() return damo.frompointer(pointer, 'float64', {1}) end,\n"
    "  function() return damo.array({1, 2}):pointer() end,\n"
    "  function() return damo.plot.lines({{y = {1, 2}}}, {path = path .. '.png'}) end,\n"
    "  function() return damo.plot.image({{1, 2}}, {path = path .. '.pdf'}) end,\n"
    "  function() return damo.printing.dot(x, {path = path}) end,\n"
    "  function() return damo.printing.dot(x, {path = path .. '.svg'}) end,\n"
    "  function() return require('damo.core').system.write_text(path, 'x', 'f') end,\n"
    "}\n"
    "for i, door in ipairs(doors) do\n"
    "  local ok, e = pcall(door)\n"
    "  if ok then error('door ' .. i .. ' is open') end\n"
    "  if type(e) ~= 'table' or e.kind ~= 'state' or not tostring(e):find 'sandbox' then error(tostring(e)) end\n"
    "end\n"
    "assert(damo.plot.lines({{y = {1, 2}}}) and damo.printing.dot(x))\n"
    "damo.progress.new(1, 'x', {out = {write = function() end}}):step(1)\n"
    "assert(damo.config.sandbox and damo.config.memory_cap == 1000000000)\n"
    "return damo.compile({x}, damo.sum(x * x))(damo.array {1, 2})\n";

static void run_escapes(lua_State *L) {
  static double memory[1] = {42};
  bool ok = luaL_loadstring(L, escapes) == LUA_OK;
  lua_pushliteral(L, PROBE);
  lua_pushlightuserdata(L, memory);
  ok = ok && lua_pcall(L, 2, 1, 0) == LUA_OK;
  if (!CHECK(ok)) fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
  CHECK_NEAR(lua_tonumber(L, -1), 5, 0);
  lua_settop(L, 0);
}

int main(void) {
  static const char *const endings[] = {"", ".npy", ".npz", ".mtx", ".png", ".pdf", ".svg"};
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  CHECK(!damo_ctx_is_sandbox(ctx));
  damo_ctx_set_memory_cap(ctx, 1000000000);
  damo_ctx_set_sandbox(ctx);
  CHECK(damo_ctx_is_sandbox(ctx));
  lua_State *L = new_state(ctx), *M = new_state(ctx);
  if (L == NULL || M == NULL) return 1;
  run_escapes(L);
  run_escapes(M); /* the sandbox applies to the context, so to every state of it */
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char path[64];
    snprintf(path, sizeof path, PROBE "%s", endings[i]);
    if (!CHECK(access(path, F_OK) != 0)) remove(path);
  }
  damo_ctx_set_memory_cap(ctx, 0); /* the host's own calls still work */
  CHECK_EQ_I(damo_ctx_memory(ctx).cap, 0);
  lua_close(L);
  lua_close(M);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
