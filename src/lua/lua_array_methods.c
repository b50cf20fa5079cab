/* lua_array_methods: what an Array can do beside the op functions: leave for Lua, be copied, converted, freed. */
#include "binding.h"

static damo_array *self(lua_State *L, const char *method) { return bind_check_obj(L, 1, OBJ_ARRAY, method, "self"); }

static int totable(lua_State *L) {
  bind_push_table(L, self(L, "totable"));
  return 1;
}

static int item(lua_State *L) {
  const damo_array *a = self(L, "item");
  char text[256];
  if (array_size(a) != 1) {
    return bind_raise(L, DAMO_ESHAPE, "item: the Array has shape %s, expected exactly one entry",
                      shape_format(text, sizeof text, a->ndim, array_shape(a)));
  }
  scalar s = array_item(a);
  if (!bind_push_scalar(L, s)) bind_push_made(L, array_from_scalar(bind_ctx(L), s));
  return 1;
}

static int push_cast(lua_State *L, const damo_array *a, damo_dtype dtype) {
  damo_array *out = array_cast(a, dtype);
  bind_push_made(L, out);
  return 1;
}

static int copy(lua_State *L) {
  const damo_array *a = self(L, "copy");
  return push_cast(L, a, array_dtype(a));
}

static int astype(lua_State *L) {
  static const char *const names[] = {"dtype", NULL};
  const damo_array *a = self(L, "astype");
  if (lua_istable(L, 2)) { /* a:astype{dtype = "float32"}, as the op functions take it */
    bind_check_options(L, "astype", 2, names);
    lua_getfield(L, 2, "dtype");
    if (lua_isnil(L, -1)) lua_rawgeti(L, 2, 1);
    lua_replace(L, 2);
  }
  return push_cast(L, a, bind_check_dtype(L, 2, "astype"));
}

static int tobytes(lua_State *L) {
  const damo_array *a = self(L, "tobytes");
  damo_array *flat = array_as_contiguous(a, array_dtype(a));
  bind_push_made(L, flat);
  lua_pushlstring(L, flat->data, (size_t)array_size(flat) * dtype_size(flat->dtype));
  return 1;
}

static int pointer(lua_State *L) {
  const damo_array *a = self(L, "pointer");
  bind_gate(L, GATE_POINTER, "pointer");
  lua_pushlightuserdata(L, a->data);
  return 1;
}

static int iscontiguous(lua_State *L) {
  lua_pushboolean(L, array_is_contiguous(self(L, "iscontiguous")));
  return 1;
}

static int free_now(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_ARRAY) return bind_arg_error(L, "free", 1, "self", "an Array");
  bind_free(L, 1);
  return 0;
}

void bind_array_methods(lua_State *L) {
  static const luaL_Reg methods[] = {{"totable", totable},
                                     {"item", item},
                                     {"copy", copy},
                                     {"astype", astype},
                                     {"tobytes", tobytes},
                                     {"pointer", pointer},
                                     {"iscontiguous", iscontiguous},
                                     {"free", free_now},
                                     {NULL, NULL}};
  bind_setfuncs(L, methods);
}
