/* host_test: a host program that links libdamo.a and liblua: it gives a Lua state its own context, runs a script that
 * trains a model there, and reads results and memory use from C. Run from the root of the tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "damo.h"
#include "host_case.h"
#include "test.h"

typedef struct host {
  int64_t blocks, bytes;
} host;

static void *host_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  host *h = user;
  if (nsize == 0) {
    if (ptr != NULL) h->blocks--, h->bytes -= (int64_t)osize;
    free(ptr);
    return NULL;
  }
  void *p = realloc(ptr, nsize);
  if (p == NULL) return NULL;
  if (ptr == NULL) h->blocks++;
  h->bytes += (int64_t)nsize - (ptr != NULL ? (int64_t)osize : 0);
  return p;
}

/* A state in which `require "damo"` finds the binding linked into this program. */
static lua_State *new_state(damo_ctx *ctx) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return NULL;
  luaL_openlibs(L);
  if (ctx != NULL) CHECK_EQ_I(damo_lua_set_context(L, ctx), DAMO_OK);
  host_find_damo(L);
  return L;
}

static bool run(lua_State *L, const char *script, int n_results) {
  bool ok = luaL_loadstring(L, script) == LUA_OK && lua_pcall(L, 0, n_results, 0) == LUA_OK;
  if (!CHECK(ok)) {
    fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
    lua_settop(L, 0);
  }
  return ok;
}

static const char training[] =
    "local damo = require 'damo'\n"
    "local x, y = damo.dmatrix('x'), damo.dvector('y')\n"
    "w = damo.shared(damo.zeros({2}), 'w')\n"
    "local cost = damo.mean(damo.sqr(damo.dot(x, w) - y))\n"
    "local step = damo.compile({x, y}, cost, {updates = {[w] = w - 0.5 * damo.grad(cost, w)}})\n"
    "local data, target = damo.array{{1, 0}, {0, 1}, {1, 1}}, damo.array{2, -3, -1}\n"
    "local loss\n"
    "for i = 1, 300 do loss = step(data, target) end\n"
    "local value = w:get_value()\n"
    "return loss, value[1], value[2], damo.memory().bytes\n";

static void train(lua_State *L, damo_ctx *ctx) {
  if (!run(L, training, 4)) return;
  CHECK(lua_tonumber(L, 1) < 1e-12);
  CHECK_NEAR(lua_tonumber(L, 2), 2, 1e-6);
  CHECK_NEAR(lua_tonumber(L, 3), -3, 1e-6);
  CHECK(lua_tointeger(L, 4) > 0);
  if (ctx != NULL) { /* the script's objects live in the host's context */
    damo_memory_info m = damo_ctx_memory(ctx);
    CHECK(m.objects > 10 && m.bytes > 0 && m.peak >= m.bytes);
  }
  lua_settop(L, 0);
}

/* The state is closed first, or the host's reference is released first: nothing is left in either order. */
static void test_close(bool state_first) {
  host h = {0, 0};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
  lua_State *L = new_state(ctx);
  if (!CHECK(ctx != NULL && L != NULL)) return;
  train(L, ctx);
  if (!run(L, "return require('damo').info().jit.bytes", 1)) return;
  const int64_t pages = (int64_t)lua_tointeger(L, 1); /* of machine code: from the system, but counted */
  lua_settop(L, 0);
  CHECK(h.blocks > 10 && h.bytes + pages >= (int64_t)damo_ctx_memory(ctx).bytes);
  if (state_first) {
    lua_close(L);
    CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
    damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, 1); /* still the host's */
    CHECK(a != NULL);
    damo_release(a);
    damo_ctx_release(ctx);
  } else {
    damo_ctx_release(ctx);
    train(L, NULL);
    lua_close(L);
  }
  CHECK(h.blocks == 0 && h.bytes == 0);
}

static void test_set_context(void) {
  host h = {0, 0};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h), *other = damo_ctx_new(host_alloc, &h);
  lua_State *L = new_state(ctx);
  CHECK(damo_lua_get_context(L) == ctx && damo_lua_get_context(NULL) == NULL);
  CHECK_EQ_I(damo_lua_set_context(L, other), DAMO_ESTATE); /* the state has a context already */
  CHECK_EQ_S(damo_error_kind(other), "state");
  CHECK_EQ_I(damo_lua_set_context(NULL, other), DAMO_EVALUE);
  CHECK_EQ_I(damo_lua_set_context(L, NULL), DAMO_EVALUE);
  run(L, "require 'damo'", 0);
  CHECK_EQ_I(damo_lua_set_context(L, other), DAMO_ESTATE);
  train(L, ctx);
  CHECK_EQ_I(damo_ctx_memory(other).objects, 0);
  /* one context for two states, one after the other and at once */
  lua_State *M = new_state(ctx);
  train(M, ctx);
  lua_close(L);
  train(M, ctx);
  lua_close(M);
  /* A context begins with the id of the build that made it. */
  L = new_state(NULL);
  ((char *)other)[0] ^= 1;
  CHECK_EQ_I(damo_lua_set_context(L, other), DAMO_ESTATE);
  ((char *)other)[0] ^= 1;
  CHECK_EQ_I(damo_lua_set_context(L, other), DAMO_OK);
  lua_close(L);
  damo_ctx_release(ctx);
  damo_ctx_release(other);
  CHECK(h.blocks == 0 && h.bytes == 0);
  L = new_state(NULL); /* without a host's context the state makes its own */
  CHECK(damo_lua_get_context(L) == NULL);
  run(L, "require 'damo'", 0);
  CHECK(damo_lua_get_context(L) != NULL);
  ctx = damo_ctx_new(NULL, NULL);
  CHECK_EQ_I(damo_lua_set_context(L, ctx), DAMO_ESTATE);
  damo_ctx_release(ctx);
  train(L, NULL);
  lua_close(L);
}

static int raise_last(lua_State *L) { return damo_lua_raise(L); }

/* Objects go to scripts and come back as the same objects; the context's error is raised as scripts know it. */
static void test_objects_of_scripts(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  lua_State *L = new_state(ctx);
  CHECK(run(L, "damo = require 'damo'", 0));
  damo_array *a = damo_array_scalar(ctx, DAMO_INT8, 7);
  damo_lua_push(L, a);
  CHECK(damo_lua_get(L, -1) == (damo_obj *)a);
  lua_setglobal(L, "a");
  damo_release(a);
  CHECK(run(L, "assert(a.dtype == 'int8' and a:item() == 7); v = damo.dvector(); return v, v.type, damo.ops", 3));
  CHECK(damo_as_var(damo_lua_get(L, 1)) != NULL && damo_as_op(damo_lua_get(L, 1)) == NULL);
  CHECK(damo_lua_get(L, 2) != NULL && damo_as_var(damo_lua_get(L, 2)) == NULL);
  CHECK(damo_lua_get(L, 3) == NULL && damo_lua_get(L, 4) == NULL && damo_lua_get(NULL, 1) == NULL);
  damo_op *op = damo_apply_get_op(NULL);
  CHECK(op == NULL);
  damo_lua_push(L, op);
  CHECK(lua_isnil(L, -1));
  damo_fail(ctx, DAMO_ESHAPE, "too wide");
  lua_pushcfunction(L, raise_last);
  lua_setglobal(L, "fail");
  CHECK(run(L, "local ok, e = pcall(fail); assert(not ok and e.kind == 'shape' and e.message == 'too wide')", 0));
  lua_close(L);
  damo_ctx_release(ctx);
}

/* Errors are error objects, also when the host's memory cap is reached; the state stays usable. */
static void test_errors(void) {
  host h = {0, 0};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
  lua_State *L = new_state(ctx);
  if (run(L,
          "local damo = require 'damo'\n"
          "local ok, e = pcall(damo.dot, damo.ones({2, 3}), damo.ones({2, 3}))\n"
          "return ok, e.kind, tostring(e)",
          3)) {
    CHECK(!lua_toboolean(L, 1));
    CHECK_EQ_S(lua_tostring(L, 2), "shape");
    CHECK(strstr(lua_tostring(L, 3), "(2, 3)") != NULL);
    lua_settop(L, 0);
  }
  damo_ctx_set_memory_cap(ctx, damo_ctx_memory(ctx).bytes + (1 << 20));
  if (run(L,
          "local damo = require 'damo'\n"
          "local ok, e = pcall(damo.zeros, {1000, 1000})\n"
          "return ok, e.kind",
          2)) {
    CHECK(!lua_toboolean(L, 1));
    CHECK_EQ_S(lua_tostring(L, 2), "memory");
    lua_settop(L, 0);
  }
  train(L, ctx);
  lua_close(L);
  damo_ctx_release(ctx);
  CHECK(h.blocks == 0 && h.bytes == 0);
}

/* A loop of calls by machine code, which look at nothing but the context's flag. */
static const char calls_for_ever[] =
    "local damo = require 'damo'\n"
    "local x = damo.dscalar 'x'\n"
    "local f = damo.compile({x}, x * x + 1)\n"
    "for i = 1, 300 do f(i) end\n"
    "return f, f:into(damo.array(0.0))\n";

static void test_interrupt(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  lua_State *L = new_state(ctx);
  if (run(L, calls_for_ever, 2)) {
    for (int i = 1; i <= 2; i++) { /* f, then f:into(…) */
      damo_ctx_interrupt(ctx);
      lua_pushvalue(L, i);
      lua_pushnumber(L, 2);
      CHECK(lua_pcall(L, 1, 1, 0) != LUA_OK && strstr(luaL_tolstring(L, -1, NULL), "interrupted") != NULL);
      lua_settop(L, 2);
      lua_pushvalue(L, i);
      lua_pushnumber(L, 2);
      CHECK(lua_pcall(L, 1, 1, 0) == LUA_OK);
      lua_settop(L, 2);
    }
  }
  lua_close(L);
  damo_ctx_release(ctx);
}

int main(void) {
  test_interrupt();
  test_objects_of_scripts();
  test_close(true);
  test_close(false);
  test_set_context();
  test_errors();
  TEST_MAIN_END;
}
