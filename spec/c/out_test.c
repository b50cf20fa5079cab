/* out_test: eager calls that write into Arrays given as `out`: with options tables that the script keeps, a call makes
 * no Lua object and calls no allocator. A host program that links libdamo.a and liblua, with counting allocators on both
 * sides. Run from the root of the tree. */
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

/* Each function makes one call; `again` runs it often. */
static const char script[] =
    "local damo = require 'damo'\n"
    "local a = damo.array{{1, 5, 3}, {4, 2, 6}}\n"
    "local b = damo.array{{2, 2, 3}, {1, 2, 1}}\n"
    "local y, q = damo.zeros{2, 3}, damo.zeros{3, 3}\n"
    "local row, number = damo.zeros{3}, damo.array(0)\n"
    "local at, whole = damo.zeros({3}, 'int64'), damo.zeros({2, 3}, 'int64')\n"
    "local big = damo.zeros{100, 100}\n"
    "local picked = damo.array({2, 1, 1}, 'int64')\n"
    "local into_y, into_a, into_q = {out = y}, {out = a}, {out = q}\n"
    "local summed = {axis = 1, out = row}\n"
    "local sum_listed, total = {1, out = row}, {axis = {1, 2}, out = number}\n"
    "local largest, taken = {axis = 1, out = at}, {axis = 1, out = damo.zeros{3, 3}}\n"
    "local softened, cast = {axis = 2, out = y}, {dtype = 'int64', out = whole}\n"
    "local mask = damo.gt(a, b)\n"
    "local into_big = {out = big}\n"
    "local t, square = a.T, damo.array{{1, 2}, {3, 4}}\n"
    "local into_square = {out = square}\n"
    "local halves = {sizes = {1, 1}, axis = 1, out = {damo.zeros{1, 3}, damo.zeros{1, 3}}}\n"
    "calls = {\n"
    "  exp = function() damo.exp(a, into_y) end,\n"
    "  add = function() damo.add(b, y, into_y) end,\n"
    "  literal = function() damo.add(b, 2.5, into_y) end,\n"
    "  integer = function() damo.mul(2, b, into_y) end,\n"
    "  many_literals = function() for k = 1, 5 do damo.mul(b, k / 8, into_y) end end,\n"
    "  where = function() damo.where(mask, b, 7, into_y) end,\n"
    "  broadcast = function() damo.maximum(row, b, into_y) end,\n"
    "  sum = function() damo.sum(b, summed) end,\n"
    "  sum_listed = function() damo.sum(b, sum_listed) end,\n"
    "  total = function() damo.sum(b, total) end,\n"
    "  mean = function() damo.mean(b, total) end,\n"
    "  var = function() damo.var(b, summed) end,\n"
    "  argmax = function() damo.argmax(b, largest) end,\n"
    "  softmax = function() damo.softmax(b, softened) end,\n"
    "  dot = function() damo.dot(t, b, into_q) end,\n"
    "  dot_into_operand = function() damo.dot(square, square, into_square) end,\n"
    "  cumsum_into_operand = function() damo.cumsum(y, softened) end,\n"
    "  take = function() damo.take(b, picked, taken) end,\n"
    "  cast = function() damo.cast(b, cast) end,\n"
    "  alike = function() damo.real(b, into_y) end,\n"
    "  relu = function() damo.relu(b, into_y) end,\n"
    "  sigmoid_of_many = function() damo.sigmoid(big, into_big) end,\n"
    "}\n"
    "again = function(call) for _ = 1, 100 do call() end end\n"
    "for _, call in pairs(calls) do again(call) end\n"
    "collectgarbage() collectgarbage 'stop'\n";

static bool prepared(lua_State *L) {
  const bool ok = luaL_loadstring(L, script) == LUA_OK && lua_pcall(L, 0, 0, 0) == LUA_OK;
  if (!CHECK(ok)) fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
  return ok;
}

/* Calls again(call) twice and counts during the second. */
static void check_call(lua_State *L, const char *name) {
  for (int k = 0; k < 2; k++) {
    lua_getglobal(L, "again");
    lua_pushvalue(L, -2);
    counts.native_calls = counts.lua_calls = 0;
    CHECK(lua_pcall(L, 1, 0, 0) == LUA_OK);
  }
  if (CHECK_EQ_I(counts.native_calls, 0) && CHECK_EQ_I(counts.lua_calls, 0)) return;
  fprintf(stderr, "    %s\n", name);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(host_native_alloc, &counts);
  lua_State *L = new_state(ctx);
  if (prepared(L)) {
    lua_getglobal(L, "calls");
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) check_call(L, lua_tostring(L, -2));
  }
  lua_close(L);
  damo_ctx_release(ctx);
  CHECK_EQ_I(counts.native_blocks, 0);
  TEST_MAIN_END;
}
