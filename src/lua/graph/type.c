/* type: Types in scripts, and the conversion of Lua values to values of a Type. */
#include <stdio.h>

#include "lua/binding_int.h"
#include "sparse/sparse.h"

/* ---- Filtering --------------------------------------------------------------------------------------------------- */

/* Raises the pending error again with `what` before its message. */
static int type_fail_with(lua_State *L, const char *what) {
  damo_ctx *ctx = bind_ctx(L);
  damo_status s = damo_error_status(ctx);
  lua_pushstring(L, damo_error_message(ctx));
  return bind_raise(L, s, "%s: %s", what, lua_tostring(L, -1));
}

damo_obj *bind_filter(lua_State *L, int idx, const damo_type *t, filter_options options, const char *what) {
  if (t->kind == TYPE_GENERIC) return bind_push_generic(L, idx);
  damo_obj *given = bind_to_value(L, idx);
  if (given) {
    lua_pushvalue(L, idx);
  } else if (type_is_sparse(t)) {
    bind_raise(L, DAMO_ETYPE, "%s: expected a sparse matrix, got %s; damo.sparse.from_dense and coo make one", what,
               bind_typename(L, idx));
  } else if (options.strict && lua_type(L, idx) != LUA_TUSERDATA) {
    bind_raise(L, DAMO_ETYPE, "%s: only an Array is taken when strict, got %s", what, luaL_typename(L, idx));
  } else {
    given = &bind_value_array(L, idx, type_is_tensor(t) && !options.allow_downcast ? (int)t->dtype : -1, what)->obj;
  }
  if (type_is_valid(t, given)) return given;
  damo_obj *value = type_filter(t, given, options);
  if (!value) type_fail_with(L, what);
  bind_push(L, value);
  lua_remove(L, -2);
  return value;
}

/* ---- Makers ------------------------------------------------------------------------------------------------------ */

int bind_static_shape(lua_State *L, int idx, int64_t *shape, const char *func) {
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "%s: option 'shape' must be a list such as {false, 3}, got %s", func,
               luaL_typename(L, idx));
  }
  int n = (int)lua_rawlen(L, idx);
  if (n > DAMO_MAX_NDIM) bind_raise(L, DAMO_EVALUE, "%s: %d axes, at most %d", func, n, DAMO_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    bool unknown = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    lua_Number d = unknown ? -1 : lua_tonumber(L, -1);
    if (!unknown && (lua_type(L, -1) != LUA_TNUMBER || d != floor(d) || d < 0)) {
      bind_raise(L, DAMO_EVALUE, "%s: axis %d of shape must be a length or false (not known)", func, i + 1);
    }
    shape[i] = (int64_t)d;
    lua_pop(L, 1);
  }
  return n;
}

static int type_make_tensor(lua_State *L) {
  static const char *const options[] = {"shape", "ndim", NULL};
  damo_dtype dtype = bind_check_dtype(L, 1, "TensorType");
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = 0;
  if (bind_is_options(L, 2)) {
    bind_check_options(L, "TensorType", 2, options);
    if (bind_option(L, 2, "shape")) {
      ndim = bind_static_shape(L, -1, shape, "TensorType");
    } else if (bind_option(L, 2, "ndim")) {
      ndim = (int)lua_tonumber(L, -1);
      for (int i = 0; i < ndim && i < DAMO_MAX_NDIM; i++) shape[i] = -1;
    }
  } else if (!lua_isnoneornil(L, 2)) {
    ndim = bind_static_shape(L, 2, shape, "TensorType");
  }
  damo_type *t = type_tensor(bind_ctx(L), dtype, ndim, shape);
  if (!t) return bind_error(L);
  bind_push(L, t);
  return 1;
}

static int type_push_made(lua_State *L, damo_type *t) {
  if (!t) return bind_error(L);
  bind_push(L, t);
  return 1;
}

static int type_make_null(lua_State *L) {
  if (!lua_isnoneornil(L, 1) && lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, "NullType", 1, "why", "a string");
  return type_push_made(L, type_null(bind_ctx(L), lua_isnoneornil(L, 1) ? NULL : bind_text(L, 1, "NullType")));
}

static int type_make_disconnected(lua_State *L) { return type_push_made(L, type_disconnected(bind_ctx(L))); }
static int type_make_generic(lua_State *L) { return type_push_made(L, type_generic(bind_ctx(L))); }
static int type_make_random(lua_State *L) { return type_push_made(L, type_random(bind_ctx(L))); }

int bind_new_var(lua_State *L, damo_type *t, int idx, const char *func) {
  if (!lua_isnoneornil(L, idx) && lua_type(L, idx) != LUA_TSTRING) bind_arg_error(L, func, idx, "name", "a string");
  damo_var *v = var_new(bind_ctx(L), t, lua_isnoneornil(L, idx) ? NULL : bind_text(L, idx, func));
  if (!v) return bind_error(L);
  bind_push(L, v);
  return 1;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static damo_type *type_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_TYPE, func, "self"); }

static int type_get_dtype(lua_State *L) {
  const damo_type *t = type_self(L, "dtype");
  if (type_has_shape(t) || type_is_factor(t)) {
    lua_pushstring(L, dtype_name(t->dtype));
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int type_get_ndim(lua_State *L) {
  const damo_type *t = type_self(L, "ndim");
  if (type_has_shape(t)) {
    lua_pushinteger(L, t->ndim);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int type_get_shape(lua_State *L) {
  const damo_type *t = type_self(L, "shape");
  if (!type_has_shape(t) && !type_is_factor(t)) return 0;
  lua_createtable(L, t->ndim, 0);
  for (int i = 0; i < t->ndim; i++) {
    if (t->shape[i] < 0) {
      lua_pushboolean(L, 0);
    } else {
      lua_pushinteger(L, (lua_Integer)t->shape[i]);
    }
    lua_rawseti(L, -2, i + 1);
  }
  bind_set_record(L);
  return 1;
}

static int type_get_broadcastable(lua_State *L) {
  const damo_type *t = type_self(L, "broadcastable");
  if (!type_has_shape(t)) return 0;
  lua_createtable(L, t->ndim, 0);
  for (int i = 0; i < t->ndim; i++) {
    lua_pushboolean(L, type_dim_is_one(t, i));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int type_get_format(lua_State *L) {
  const damo_type *t = type_self(L, "format");
  if (!type_is_sparse(t)) return 0;
  lua_pushstring(L, sparse_format_name((damo_format)t->format));
  return 1;
}

static int type_get_itype(lua_State *L) {
  const damo_type *t = type_self(L, "itype");
  if (!type_is_sparse(t)) return 0;
  lua_pushstring(L, dtype_name((damo_dtype)t->itype));
  return 1;
}

/* t.pattern: a new matrix with true at the entries of the Type's pattern; nil if it has none. */
static int type_get_pattern(lua_State *L) {
  const damo_type *t = type_self(L, "pattern");
  if (!t->pattern) return 0;
  damo_sparse *m = sparse_copy(t->pattern->matrix);
  bind_push_made(L, m);
  bind_gc_pressure(L);
  return 1;
}

static int type_get_why(lua_State *L) {
  lua_pushstring(L, type_self(L, "why")->why);
  return 1;
}

static int type_get_kind(lua_State *L) {
  static const char *const names[] = {"TensorType",       "SparseTensorType", "RandomType", "NullType",
                                      "DisconnectedType", "GenericType",      "FactorType"};
  lua_pushstring(L, names[type_self(L, "kind")->kind]);
  return 1;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

static int type_method_call(lua_State *L) { return bind_new_var(L, type_self(L, "Type"), 2, "Type"); }

static int type_method_filter(lua_State *L) {
  static const char *const options[] = {"strict", "allow_downcast", NULL};
  const damo_type *t = type_self(L, "filter");
  bind_check_options(L, "filter", 3, options);
  filter_options o = {.strict = bind_option_bool(L, 3, "strict", false, "filter"),
                      .allow_downcast = bind_option_bool(L, 3, "allow_downcast", false, "filter")};
  damo_obj *value = bind_filter(L, 2, t, o, "filter");
  bind_push_raw(L, damo_retain(value));
  return 1;
}

/* Lua scalars count too, since scripts see 0-d values as such. */
static int type_method_is_valid_value(lua_State *L) {
  const damo_type *t = type_self(L, "is_valid_value");
  const damo_obj *a = bind_to_value(L, 2);
  bool valid = t->kind == TYPE_GENERIC || (a && type_is_valid(t, a));
  if (!a && type_is_tensor(t) && t->ndim == 0) {
    int lua = lua_type(L, 2);
    bool integer = lua == LUA_TNUMBER && lua_isinteger(L, 2);
    if (lua == LUA_TNUMBER) valid = integer ? dtype_is_integer(t->dtype) : dtype_is_float(t->dtype);
    if (lua == LUA_TBOOLEAN) valid = t->dtype == DAMO_BOOL;
  }
  lua_pushboolean(L, valid);
  return 1;
}

static int type_method_values_eq(lua_State *L) {
  const damo_type *t = type_self(L, "values_eq");
  const damo_obj *a = bind_filter(L, 2, t, (filter_options){0}, "values_eq");
  const damo_obj *b = bind_filter(L, 3, t, (filter_options){0}, "values_eq");
  lua_pushboolean(L, type_values_equal(t, a, b));
  return 1;
}

static int type_method_is_super(lua_State *L) {
  const damo_type *t = type_self(L, "is_super");
  lua_pushboolean(L, type_is_super(t, bind_check_obj(L, 2, OBJ_TYPE, "is_super", "type")));
  return 1;
}

static int type_tostring(lua_State *L) {
  char text[400];
  lua_pushstring(L, type_format(text, sizeof text, type_self(L, "tostring")));
  return 1;
}

/* Equal Types are one object in C, but two userdata of it may exist if one was freed and made again: so objects are
 * compared. */
static int type_method_equal(lua_State *L) {
  const void *a = bind_to(L, 1, OBJ_TYPE), *b = bind_to(L, 2, OBJ_TYPE);
  lua_pushboolean(L, a && a == b);
  return 1;
}

void bind_open_type(lua_State *L) {
  static const luaL_Reg fields[] = {{"dtype", type_get_dtype},     {"ndim", type_get_ndim},
                                    {"shape", type_get_shape},     {"broadcastable", type_get_broadcastable},
                                    {"format", type_get_format},   {"itype", type_get_itype},
                                    {"pattern", type_get_pattern}, {"why", type_get_why},
                                    {"kind", type_get_kind},       {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"filter", type_method_filter},       {"is_valid_value", type_method_is_valid_value},
      {"values_eq", type_method_values_eq}, {"is_super", type_method_is_super},
      {"make_variable", type_method_call},  {NULL, NULL}};
  static const luaL_Reg meta[] = {
      {"__call", type_method_call}, {"__tostring", type_tostring}, {"__eq", type_method_equal}, {NULL, NULL}};
  static const luaL_Reg makers[] = {{"TensorType", type_make_tensor},
                                    {"NullType", type_make_null},
                                    {"DisconnectedType", type_make_disconnected},
                                    {"GenericType", type_make_generic},
                                    {"RandomType", type_make_random},
                                    {NULL, NULL}};
  bind_class(L, OBJ_TYPE, fields, methods, meta, LUA_NOREF);
  bind_setfuncs(L, makers);
}
