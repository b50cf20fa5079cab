/* printer: the Op Print in scripts, and where its texts go: to the global function print, as it is at that moment. */
#include "lua/binding_int.h"
#include "op/op.h"

/* print(text), protected. 1: the text as a light userdata. */
static int printer_write(lua_State *L) {
  const char *text = lua_touserdata(L, 1);
  lua_getglobal(L, "print");
  if (lua_isnil(L, -1)) return 0; /* a host's state without a print */
  lua_pushstring(L, text);
  lua_call(L, 1, 0);
  return 0;
}

/* damo_print_fn. An error of print is the call's. */
static damo_status printer_hook(void *user, const char *text) {
  bind_state *st = user;
  lua_State *L = st->running ? st->running : st->main;
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(st->ctx);
  lua_pushcfunction(L, printer_write);
  lua_pushlightuserdata(L, (void *)(uintptr_t)text);
  return lua_pcall(L, 1, 0, 0) == LUA_OK ? DAMO_OK : bind_caught(L, "Print", "print", NULL);
}

/* print_op(message): the Op Print. */
static int printer_make_op(lua_State *L) {
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    lua_pushliteral(L, "");
    lua_replace(L, 1);
  }
  if (lua_type(L, 1) != LUA_TSTRING) return bind_arg_error(L, "Print", 1, "message", "a string");
  const prop_value message = prop_str(bind_text(L, 1, "Print"));
  damo_op *op = op_new(bind_ctx(L), &print_def, &message);
  if (!op) return bind_error(L);
  bind_push(L, op);
  return 1;
}

void bind_add_print_op(lua_State *L) {
  static const luaL_Reg fns[] = {{"print_op", printer_make_op}, {NULL, NULL}};
  bind_setfuncs(L, fns);
}

void bind_open_printer(lua_State *L) {
  bind_state *st = bind_get(L);
  if (!st->ctx->on_print) damo_ctx_set_print(st->ctx, printer_hook, st);
}
