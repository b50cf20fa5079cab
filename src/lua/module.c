/* module: what a Lua module in C that is loaded beside damo.core needs: the table of the functions of damo.h
 * (damo_module.h), and values from and to Lua. */
#define DAMO_MODULE_TABLE
#include "damo_module.h"
#include "binding.h"

static const damo_functions functions_all = {.size = sizeof functions_all,
                                             .version = DAMO_VERSION,
#define X(name) .name = DAMO_SYMBOL(name),
                                             DAMO_FUNCTION_MAP(X)
#undef X
};

/* core.system.functions(): the address of the table. */
static int module_functions(lua_State *L) {
  bind_gate(L, GATE_POINTER, "functions");
  lua_pushlightuserdata(L, (void *)(uintptr_t)&functions_all);
  return 1;
}

damo_ctx *damo_lua_get_context(lua_State *L) { return L ? bind_find_ctx(L) : NULL; }

damo_obj *damo_lua_get(lua_State *L, int index) {
  bind_box *box = L ? bind_box_at(L, index) : NULL;
  if (box && box->kind == OBJ_VAR) bind_set_trace(L); /* nodes will be made over it */
  return box ? bind_to(L, index, (obj_kind)box->kind) : NULL;
}

void damo_lua_push(lua_State *L, const void *obj) {
  if (obj) {
    bind_push_borrowed(L, obj);
  } else {
    lua_pushnil(L);
  }
}

int damo_lua_raise(lua_State *L) { return bind_error(L); }

void bind_open_module(lua_State *L) {
  lua_getfield(L, -1, "system");
  lua_pushcfunction(L, module_functions);
  lua_setfield(L, -2, "functions");
  lua_pop(L, 1);
}
