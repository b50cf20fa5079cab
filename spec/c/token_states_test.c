/* token_states_test: 8 threads with a Lua state each run one model at once, by its token (`make tsan` runs this under
 * ThreadSanitizer); every second state is a sandbox. Run from the root of the tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>

#include "damo.h"
#include "host_case.h"
#include "test.h"

#define STATES 8

static const char model[] =
    "local damo = require 'damo'\n"
    "local x, w = damo.dvector 'x', damo.shared(damo.ones { 4, 4 }, 'w')\n"
    "local rows = damo.scan(function(h) return damo.tanh(damo.dot(w, h) + x) end,\n"
    "  { outputs_info = damo.zeros_like(x), n_steps = 5 })\n"
    "local cost = damo.sum(damo.sqr(rows[-1])) + damo.sum(damo.abs(damo.fft.rfft(x)))\n"
    "local picked = damo.ifelse(damo.gt(cost, 1), damo.exp(-cost), cost)\n"
    "f = damo.compile({ x }, picked, { updates = { [w] = w - 0.01 * damo.grad(cost, w) } })\n"
    "return f:token()";

static const char worker[] =
    "local token, sandbox = ...\n"
    "local damo = require 'damo'\n"
    "if sandbox then damo.config.sandbox = true end\n"
    "local f, sum = damo.from_token(token), 0\n"
    "for k = 1, 40 do sum = sum + f({ 0.1 * k, 0.2, -0.3, 0.4 }) end\n"
    "local g = damo.from_token(token)\n"
    "assert(#f.shared == 1 and f.shared[1]:get_value()[{ 1, 1 }] ~= g.shared[1]:get_value()[{ 1, 1 }])\n"
    "assert(#f.fgraph.apply_nodes > 3 and f.inputs[1].name == 'x')\n"
    "local ok, err = pcall(f, { 1, 2 })\n"
    "assert(not ok and err.kind)\n"
    "return sum";

/* A state in which `require "damo"` finds the binding linked into this program. */
static lua_State *new_state(void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return NULL;
  luaL_openlibs(L);
  host_find_damo(L);
  return L;
}

typedef struct state_job {
  char token[DAMO_TOKEN_SIZE];
  bool sandbox, gone, ok; /* gone: the name is to hold no more */
  double sum;
} state_job;

static void *run_state(void *arg) {
  state_job *j = arg;
  lua_State *L = new_state();
  j->ok = L != NULL && luaL_loadstring(L, worker) == LUA_OK;
  if (j->ok) {
    lua_pushstring(L, j->token);
    lua_pushboolean(L, j->sandbox);
    j->ok = lua_pcall(L, 2, 1, 0) == LUA_OK;
    if (!j->ok && !j->gone) printf("%s\n", luaL_tolstring(L, -1, NULL));
    j->sum = lua_tonumber(L, -1);
  }
  if (L != NULL) lua_close(L);
  return NULL;
}

int main(void) {
  lua_State *L = new_state();
  if (!CHECK(L != NULL) || !CHECK_EQ_I(luaL_dostring(L, model), LUA_OK)) TEST_MAIN_END;
  state_job want = {.sum = 0}, j[STATES];
  snprintf(want.token, sizeof want.token, "%s", lua_tostring(L, -1));
  run_state(&want);
  CHECK(want.ok && want.sum != 0);
  pthread_t thread[STATES];
  for (int i = 0; i < STATES; i++) {
    j[i] = want;
    j[i].sandbox = i % 2 == 1;
    CHECK_EQ_I(pthread_create(&thread[i], NULL, run_state, &j[i]), 0);
  }
  for (int i = 0; i < STATES; i++) {
    pthread_join(thread[i], NULL);
    CHECK(j[i].ok && j[i].sum == want.sum);
  }
  lua_close(L); /* the last Function of the program is gone: so is the name */
  want.gone = true;
  run_state(&want);
  CHECK(!want.ok);
  TEST_MAIN_END;
}
