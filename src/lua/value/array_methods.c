/* array_methods: the methods of Arrays that are no op functions: conversion to Lua values and bytes, copies, casts,
 * free. */
#include "lua/binding.h"

static damo_array *array_method_self(lua_State *L, const char *method) {
  return bind_check_obj(L, 1, OBJ_ARRAY, method, "self");
}

static int array_method_totable(lua_State *L) {
  bind_push_table(L, array_method_self(L, "totable"));
  return 1;
}

static int array_method_item(lua_State *L) {
  const damo_array *a = array_method_self(L, "item");
  char text[256];
  if (array_size(a) != 1) {
    return bind_raise(L, DAMO_ESHAPE, "item: the Array has shape %s, expected exactly one entry",
                      shape_format(text, sizeof text, a->ndim, array_shape(a)));
  }
  scalar s = array_item(a);
  if (!bind_push_scalar(L, s)) bind_push_made(L, array_from_scalar(bind_ctx(L), s));
  return 1;
}

static int array_push_cast(lua_State *L, const damo_array *a, damo_dtype dtype) {
  damo_array *out = array_cast(a, dtype);
  bind_push_made(L, out);
  return 1;
}

static int array_method_copy(lua_State *L) {
  const damo_array *a = array_method_self(L, "copy");
  return array_push_cast(L, a, array_dtype(a));
}

static int array_method_astype(lua_State *L) {
  static const char *const names[] = {"dtype", NULL};
  const damo_array *a = array_method_self(L, "astype");
  if (lua_istable(L, 2)) { /* a:astype{dtype = "float32"}, as the op functions take it */
    bind_check_options(L, "astype", 2, names);
    lua_getfield(L, 2, "dtype");
    if (lua_isnil(L, -1)) lua_rawgeti(L, 2, 1);
    lua_replace(L, 2);
  }
  return array_push_cast(L, a, bind_check_dtype(L, 2, "astype"));
}

static int array_method_tobytes(lua_State *L) {
  const damo_array *a = array_method_self(L, "tobytes");
  damo_array *flat = array_as_contiguous(a, array_dtype(a));
  bind_push_made(L, flat);
  lua_pushlstring(L, flat->data, (size_t)array_size(flat) * dtype_size(flat->dtype));
  return 1;
}

static int array_method_pointer(lua_State *L) {
  const damo_array *a = array_method_self(L, "pointer");
  bind_gate(L, GATE_POINTER, "pointer");
  lua_pushlightuserdata(L, a->data);
  return 1;
}

static int array_method_iscontiguous(lua_State *L) {
  lua_pushboolean(L, array_is_contiguous(array_method_self(L, "iscontiguous")));
  return 1;
}

static int array_method_free(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_ARRAY) return bind_arg_error(L, "free", 1, "self", "an Array");
  bind_free(L, 1);
  return 0;
}

void bind_array_methods(lua_State *L) {
  static const luaL_Reg methods[] = {{"totable", array_method_totable},
                                     {"item", array_method_item},
                                     {"copy", array_method_copy},
                                     {"astype", array_method_astype},
                                     {"tobytes", array_method_tobytes},
                                     {"pointer", array_method_pointer},
                                     {"iscontiguous", array_method_iscontiguous},
                                     {"rebind", bind_rebind},
                                     {"free", array_method_free},
                                     {NULL, NULL}};
  bind_setfuncs(L, methods);
}
