/* view_test: a host's loop of frames over its own arrays: a script sees them through damo.view, reads positions and
 * writes forces, also into double buffers that it binds anew, and calls neither Lua's allocator nor damo's. A host
 * program that links libdamo.a and liblua, with counting allocators on both sides. Run from the root of the tree. */
#include "damo.h"
#include "host_case.h"
#include "test.h"

static host_counts counts;

/* A state in which `require "damo"` finds the binding linked into this program. */
static lua_State *new_state(damo_ctx *ctx) {
  lua_State *L = lua_newstate(host_lua_alloc, &counts);
  if (L == NULL) return NULL;
  luaL_openlibs(L);
  CHECK_EQ_I(damo_lua_set_context(L, ctx), DAMO_OK);
  host_find_damo(L);
  return L;
}

#define BODIES 100
#define HALF (BODIES * sizeof(body))

/* A body lies in the host's memory as x, y, z and, behind them, the force on it. */
typedef struct body {
  double at[3], force[3];
} body;

static body bodies[2][BODIES];

/* frame(from, to) reads the positions at `from` and writes the forces at `to`, both light userdata. */
static const char script[] =
    "local damo = require 'damo'\n"
    "local first, n, bytes = ...\n"
    "local x = damo.dmatrix 'x'\n"
    "local f = damo.compile({x}, damo.grad(-damo.sum(damo.sqr(x) * damo.sqr(x)) / 4, x))\n"
    "local at = damo.view(first, {shape = {n, 3}, strides = {48, 8}, size = bytes, readonly = true})\n"
    "local force = damo.view(first, {shape = {n, 3}, strides = {48, 8}, offset = 24, size = bytes})\n"
    "local write = f:into(force)\n"
    "function frame(from, to)\n"
    "  at:rebind(from)\n"
    "  force:rebind(to)\n"
    "  write(at)\n"
    "end\n";

static void run_frame(lua_State *L, body *from, body *to) {
  lua_getglobal(L, "frame");
  lua_pushlightuserdata(L, from);
  lua_pushlightuserdata(L, to);
  if (!CHECK(lua_pcall(L, 2, 0, 0) == LUA_OK)) fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
}

/* Whether the forces in `to` are -x^3 of the positions in `from`, and the other half of it is as the host left it. */
static bool right(const body *from, const body *to) {
  for (int i = 0; i < BODIES; i++) {
    for (int k = 0; k < 3; k++) {
      const double x = from[i].at[k], want = -x * x * x;
      if (to[i].force[k] - want > 1e-9 || want - to[i].force[k] > 1e-9) return false;
    }
  }
  return true;
}

static void move(body *b, int frame) {
  for (int i = 0; i < BODIES; i++) {
    for (int k = 0; k < 3; k++) b[i].at[k] = 0.01 * i - 0.5 + 0.001 * frame + k;
  }
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(host_native_alloc, &counts);
  lua_State *L = new_state(ctx);
  if (!CHECK(L != NULL && luaL_loadstring(L, script) == LUA_OK)) return 1;
  lua_pushlightuserdata(L, bodies[0]);
  lua_pushinteger(L, BODIES);
  lua_pushinteger(L, HALF);
  if (!CHECK(lua_pcall(L, 3, 0, 0) == LUA_OK)) fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
  lua_gc(L, LUA_GCCOLLECT, 0);
  lua_gc(L, LUA_GCSTOP, 0);
  for (int apart = 0; apart < 2; apart++) { /* forces beside the positions that were read, then in the other buffer */
    for (int frame = 0; frame < 440; frame++) {
      body *from = bodies[frame % 2], *to = bodies[(frame + apart) % 2];
      if (frame == 400) counts.native_calls = counts.lua_calls = 0;
      move(from, frame);
      run_frame(L, from, to);
      CHECK(right(from, to));
    }
    CHECK_EQ_I(counts.native_calls, 0);
    CHECK_EQ_I(counts.lua_calls, 0);
  }
  lua_close(L);
  damo_ctx_release(ctx);
  CHECK_EQ_I(counts.native_blocks, 0);
  TEST_MAIN_END;
}
