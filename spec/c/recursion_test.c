/* recursion_test: endless recursion through callbacks in Lua or C fails with a state error before a thread's small
 * stack is full, and everything works afterwards. Run from the root of the tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>

#include "damo.h"
#include "test.h"

/* glibc places the thread-local data of libraries (90 KB with OpenBLAS and METIS) on a thread's stack. */
#define STACK_BYTES (240 * 1024)

static const char prologue[] =
    "local damo = require 'damo'\n"
    "local x, v, f = damo.dvector 'x', damo.array { 1 }\n"
    "local function op(perform, fields)\n"
    "  fields = fields or {}\n"
    "  fields.make_node = fields.make_node or function(self, a) return damo.Apply(self, { a }, { a.type() }) end\n"
    "  fields.perform = perform\n"
    "  return damo.Op(fields)\n"
    "end\n"
    "local function refused(what, ok, err)\n"
    "  if ok then error(what .. ' went well', 0) end\n"
    "  if type(err) ~= 'table' or err.kind ~= 'state' or not err.message:find 'recursion is too deep' then\n"
    "    error(what .. ': ' .. tostring(err), 0)\n"
    "  end\n"
    "  assert(damo.compile({ x }, damo.exp(x) * 2)(v)[1] > 5)\n"
    "end\n";

static const char *const scripts[] = {
    "f = damo.compile({ x }, op(function(_, _, i, o) o[1][1] = f:copy()(i[1]:copy()) end)(x))\n"
    "refused('copies of a Function', pcall(f, v))",
    "local Op; Op = op(function(_, _, i, o) o[1][1] = damo.compile({ x }, Op(x))(i[1]:copy()) end)\n"
    "refused('compiled in perform', pcall(damo.compile({ x }, Op(x)), v))",
    "local Op; Op = op(function(_, _, i, o) o[1][1] = Op(damo.constant(i[1]:copy())):eval() end)\n"
    "refused('eval in perform', pcall(damo.compile({ x }, Op(x)), v))",
    "local Op; Op = op(function(_, _, i, o) o[1][1] = i[1] end,\n"
    "  { grad = function(self, i) return { damo.grad(damo.sum(self(i[1])), i[1]) } end })\n"
    "refused('gradients', pcall(damo.grad, damo.sum(Op(x)), x))",
    "local Op; Op = op(function(_, _, i, o) o[1][1] = i[1] end,\n"
    "  { R_op = function(self, i, e) return { damo.Rop(self(i[1]), i[1], e[1]) } end })\n"
    "refused('tangents', pcall(damo.Rop, Op(x), x, x * 2))",
    "local Op; Op = op(print, { make_node = function(_, a) return Op(a).owner end })\n"
    "refused('nodes', pcall(Op, x))",
    "local y = damo.exp(x)\n"
    "refused('features', pcall(function() damo.graph.FunctionGraph({ x }, { y }):attach_feature {\n"
    "  on_attach = function(self) local h = {} h.on_attach = self.on_attach\n"
    "    damo.graph.FunctionGraph({ x }, { y }):attach_feature(h) end } end))",
    "damo.rewrite.register('endless', function() damo.compile({ x }, damo.exp(x)) end, 'fast_run')\n"
    "local ok, err = pcall(damo.compile, { x }, damo.exp(x))\n"
    "damo.rewrite.unregister 'endless'\n"
    "refused('rewriters', ok, err)",
    "local G = damo.graph.OpFromGraph({ x }, { damo.sqr(x) }, { lop_overrides = function(i, _, g)\n"
    "  return { damo.grad(damo.sum(f(i[1])), i[1]) } end })\n"
    "f = G\n"
    "refused('overrides', pcall(damo.grad, damo.sum(G(x)), x))",
    "local G\n"
    "for i = 1, 300 do\n"
    "  local a = damo.dvector 'a'\n"
    "  G = damo.graph.OpFromGraph({ a }, { i == 1 and damo.exp(a) or G(a) })\n"
    "end\n"
    "refused('graphs in graphs', pcall(damo.compile({ x }, G(x)), v))\n"
    "refused('gradients of graphs in graphs', pcall(damo.grad, damo.sum(G(x)), x))",
    "local told, a, b = 0, damo.lvector 'a', damo.lscalar 'b'\n"
    "local ones = damo.array({ 1 }, 'int64')\n"
    "f = damo.compile({ a, b }, damo.floor_div(a, b), { mode = 'DEBUG' })\n"
    "damo.config.on_warning = function() told = told + 1 f:copy()(ones, 0) end\n"
    "f(ones, 0)\n" /* the deepest warning is written in the default way */
    "damo.config.on_warning = nil\n"
    "assert(told > 5 and told < 60, told)",
};

static void *run_scripts(void *unused) {
  (void)unused;
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  (void)luaL_dostring(L, "package.path, package.cpath = 'lua/?.lua;lua/?/init.lua', ''");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  lua_settop(L, 0);
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    lua_pushfstring(L, "%s%s", prologue, scripts[i]);
    bool ok = luaL_loadstring(L, lua_tostring(L, -1)) == LUA_OK && lua_pcall(L, 0, 0, 0) == LUA_OK;
    if (!CHECK(ok)) fprintf(stderr, "    script %zu: %.300s\n", i, luaL_tolstring(L, -1, NULL));
    lua_settop(L, 0);
  }
  lua_close(L);
  return NULL;
}

/* ---- In C alone -------------------------------------------------------------------------------------------------- */

static int levels;

/* An Op that computes itself over a constant: compiles a Function inside a call. */
static damo_status endless(damo_thunk *t) {
  damo_ctx *ctx = damo_thunk_ctx(t);
  damo_array *out = NULL;
  damo_status s = DAMO_ENUMERIC;
  if (++levels > 1000) return damo_fail(ctx, s, "nothing ended it");
  damo_var *x = damo_constant(ctx, damo_thunk_input(t, 0));
  damo_apply *node = damo_op_apply(ctx, damo_thunk_get_op(t), &x, 1);
  damo_var *y = damo_apply_get_output(node, 0);
  damo_function *f = damo_compile(ctx, NULL, 0, &y, 1, NULL, NULL, 0, "FAST_COMPILE");
  s = f != NULL ? damo_function_call(f, NULL, 0, &out) : damo_error_status(ctx);
  damo_release(out);
  damo_release(f);
  damo_release(node);
  damo_release(x);
  return s;
}

static bool never(const damo_apply *node) {
  (void)node;
  return false;
}

static void *run_c(void *unused) {
  (void)unused;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_op_class c = {.name = "Endless", .n_in = 1, .perform = endless, .do_constant_folding = never};
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  damo_op *op = damo_op_make(ctx, "Endless", NULL, 0);
  damo_array *one = damo_array_scalar(ctx, DAMO_FLOAT64, 1), *out = NULL;
  damo_var *x = damo_var_new(ctx, damo_type_tensor(ctx, DAMO_FLOAT64, 0, NULL), "x");
  damo_release(damo_var_get_type(x));
  damo_apply *node = damo_op_apply(ctx, op, &x, 1);
  damo_var *y = damo_apply_get_output(node, 0);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  for (int round = 0; round < 2; round++) {
    levels = 0;
    CHECK_EQ_I(damo_function_call(f, &one, 1, &out), DAMO_ESTATE);
    CHECK(strstr(damo_error_message(ctx), "recursion is too deep") != NULL);
    CHECK(levels > 10 && levels < 500);
  }
  void *all[] = {op, one, x, node, f};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  return NULL;
}

static void on_small_stack(void *(*run)(void *)) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
#if !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__) /* frames are several times as large there */
  CHECK_EQ_I(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
#endif
  if (CHECK_EQ_I(pthread_create(&thread, &attr, run, NULL), 0)) pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
}

int main(void) {
  on_small_stack(run_c);
  on_small_stack(run_scripts);
  TEST_MAIN_END;
}
