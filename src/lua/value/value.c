/* value: conversion of numbers and values between Lua and the core.
 *
 * Scripts see 0-d values as Lua scalars (bind_push_value), Ops see them as 0-d Arrays (bind_push_raw). A Lua number
 * among Variables is a weak constant: its dtype is int64 or float64 by its math.type, and build_resolve gives it the
 * dtype of the other operands.
 */
#include "lua/binding.h"

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

static bool value_push_int(lua_State *L, int64_t i) {
  if (i > COMPAT_MAX_INTEGER || i < -COMPAT_MAX_INTEGER - (LUA_VERSION_NUM >= 503)) return false;
  lua_pushinteger(L, (lua_Integer)i);
  return true;
}

bool bind_push_scalar(lua_State *L, scalar s) {
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL: lua_pushboolean(L, s.v.i != 0); return true;
    case KIND_INT: return value_push_int(L, s.v.i);
    case KIND_UINT: return s.v.u <= (uint64_t)COMPAT_MAX_INTEGER && value_push_int(L, (int64_t)s.v.u);
    case KIND_FLOAT: /* one nan for all: its sign means nothing, but C prints it */
      lua_pushnumber(L, s.v.f == s.v.f ? s.v.f : (lua_Number)NAN);
      return true;
    case KIND_COMPLEX: break;
  }
  return false;
}

/* The smallest and the largest value of an integer dtype. INT64_MAX for uint64: value_float_to_int handles larger
 * values. */
static int64_t value_int_min(damo_dtype dt) {
  return dtype_is_signed(dt) ? (int64_t)((uint64_t)-1 << (8 * dtype_size(dt) - 1)) : 0;
}

static int64_t value_int_max(damo_dtype dt) {
  if (dt == DAMO_BOOL) return 1;
  if (dt == DAMO_UINT64) return INT64_MAX;
  return (int64_t)(((uint64_t)1 << (8 * dtype_size(dt) - dtype_is_signed(dt))) - 1);
}

static bool value_int_fits(int64_t i, damo_dtype dt) { return i >= value_int_min(dt) && i <= value_int_max(dt); }

static void value_set_int(scalar *out, int64_t i) {
  if (dtype_kind_of(out->dtype) == KIND_UINT) {
    out->v.u = (uint64_t)i;
  } else {
    out->v.i = i;
  }
}

/* Converts a float with an integral value, if it fits the dtype. */
static bool value_float_to_int(double x, scalar *out) {
  if (!(x == floor(x)) || x >= 18446744073709551616.0 || x < -9223372036854775808.0) return false;
  if (x >= 9223372036854775808.0) {
    if (out->dtype != DAMO_UINT64) return false;
    out->v.u = (uint64_t)x;
    return true;
  }
  if (!value_int_fits((int64_t)x, out->dtype)) return false;
  value_set_int(out, (int64_t)x);
  return true;
}

static bool value_int_to_scalar(int64_t i, scalar *out) {
  switch (dtype_kind_of(out->dtype)) {
    case KIND_FLOAT: out->v.f = (double)i; return true;
    case KIND_COMPLEX: out->v.c = (damo_c128){(double)i, 0}; return true;
    case KIND_BOOL:
    case KIND_INT:
    case KIND_UINT: break;
  }
  if (!value_int_fits(i, out->dtype)) return false;
  value_set_int(out, i);
  return true;
}

bool bind_to_scalar(lua_State *L, int idx, damo_dtype dtype, scalar *out) {
  *out = (scalar){.dtype = dtype, .v.c = {0, 0}};
  if (lua_type(L, idx) == LUA_TBOOLEAN) return value_int_to_scalar(lua_toboolean(L, idx), out);
  if (lua_type(L, idx) != LUA_TNUMBER) return false;
  if (lua_isinteger(L, idx)) return value_int_to_scalar((int64_t)lua_tointeger(L, idx), out);
  double x = (double)lua_tonumber(L, idx);
  if (dtype_is_discrete(dtype)) return value_float_to_int(x, out);
  if (dtype_is_complex(dtype)) {
    out->v.c = (damo_c128){x, 0};
  } else {
    out->v.f = x;
  }
  return true;
}

/* ---- Values to Lua ----------------------------------------------------------------------------------------------- */

void bind_push_raw(lua_State *L, damo_obj *take_value) {
  bool generic = take_value && take_value->kind == OBJ_GENERIC;
  bind_push(L, take_value);
  if (!generic) return;
  bind_peer(L, -1);
  lua_getfield(L, -1, "set");
  if (lua_isnil(L, -1)) bind_raise(L, DAMO_ESTATE, "a generic value is gone: nothing in Lua held what it belongs to");
  lua_getfield(L, -2, "value");
  lua_replace(L, -4);
  lua_pop(L, 2);
}

void bind_push_value(lua_State *L, damo_obj *take_value) {
  const damo_array *a = (const damo_array *)take_value;
  if (take_value && take_value->kind == OBJ_ARRAY && a->ndim == 0 && bind_push_scalar(L, array_item(a))) {
    damo_release(take_value);
    return;
  }
  bind_push_raw(L, take_value);
}

void *bind_push_made(lua_State *L, void *take_obj) {
  if (!take_obj) bind_error(L);
  bind_push(L, take_obj);
  return take_obj;
}

damo_array *bind_new_array(lua_State *L, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_ctx *ctx = bind_ctx(L);
  damo_array *a = array_empty(ctx, dtype, ndim, shape);
  return bind_push_made(L, a);
}

/* ---- Generic values ---------------------------------------------------------------------------------------------- */

static void generic_destroy(damo_obj *obj) { obj_free(obj, sizeof *obj); }

damo_obj *bind_push_generic(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 8, "damo");
  damo_obj *obj = bind_push_made(L, obj_new(bind_ctx(L), OBJ_GENERIC, sizeof *obj));
  bind_peer(L, -1);
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "set");
  lua_pushvalue(L, idx);
  lua_setfield(L, -2, "value");
  lua_pop(L, 1);
  return obj;
}

/* ---- Values from Lua --------------------------------------------------------------------------------------------- */

/* Pushes and returns a 0-d Array of the number or boolean at idx. */
static damo_array *value_scalar_array(lua_State *L, int idx, damo_dtype dtype, const char *what) {
  scalar s;
  if (!bind_to_scalar(L, idx, dtype, &s)) {
    lua_pushvalue(L, idx);
    bind_raise(L, DAMO_EVALUE, "%s: %s does not fit into %s", what, lua_tostring(L, -1), dtype_name(dtype));
  }
  damo_array *a = bind_new_array(L, dtype, 0, NULL);
  array_set(a, NULL, s);
  return a;
}

/* Pushes and returns the Array itself, or its cast. */
static damo_array *value_cast_array(lua_State *L, int idx, damo_array *a, int dtype) {
  if (dtype < 0 || array_dtype(a) == (damo_dtype)dtype) {
    lua_pushvalue(L, idx);
    return a;
  }
  damo_array *out = array_cast(a, (damo_dtype)dtype);
  return bind_push_made(L, out);
}

damo_array *bind_value_array(lua_State *L, int idx, int dtype, const char *what) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 8, "damo");
  damo_array *a = bind_to_array(L, idx);
  if (a) return value_cast_array(L, idx, a, dtype);
  switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
      return value_scalar_array(L, idx, dtype < 0 ? bind_ctx(L)->config.floatX : (damo_dtype)dtype, what);
    case LUA_TBOOLEAN: return value_scalar_array(L, idx, dtype < 0 ? DAMO_BOOL : (damo_dtype)dtype, what);
    case LUA_TTABLE: return bind_nested_array(L, idx, dtype, what);
  }
  bind_raise(L, DAMO_ETYPE, "%s: expected an Array, a number, a boolean or a table of them, got %s%s", what,
             bind_typename(L, idx), bind_to_sparse(L, idx) ? "; its :toarray() is dense" : "");
  return NULL;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

/* Pushes a weak constant of the number or boolean at idx. */
static damo_var *value_weak_constant(lua_State *L, int idx) {
  damo_ctx *ctx = bind_ctx(L);
  damo_dtype dtype = DAMO_FLOAT64;
  if (lua_isboolean(L, idx)) {
    dtype = DAMO_BOOL;
  } else if (lua_isinteger(L, idx)) {
    dtype = DAMO_INT64;
  }
  scalar s;
  bind_to_scalar(L, idx, dtype, &s);
  damo_array *a = array_from_scalar(ctx, s);
  damo_var *v = a ? var_constant(ctx, NULL, &a->obj) : NULL;
  damo_release(a);
  if (v) v->weak = true;
  return bind_push_made(L, v);
}

damo_obj *bind_to_value(lua_State *L, int idx) {
  bind_box *box = bind_box_at(L, idx);
  if (!box || (box->kind != OBJ_ARRAY && box->kind != OBJ_SPARSE && box->kind != OBJ_FACTOR)) return NULL;
  return bind_to(L, idx, (obj_kind)box->kind);
}

/* Pushes a constant of a value. copy: of a copy of it, since the script may still write the value. */
static damo_var *value_constant(lua_State *L, damo_obj *value, bool copy) {
  damo_obj *held = copy ? value_copy(value) : damo_retain(value);
  damo_var *v = held ? var_constant(bind_ctx(L), NULL, held) : NULL;
  damo_release(held);
  return bind_push_made(L, v);
}

static damo_var *value_table_constant(lua_State *L, int idx, const char *func) {
  damo_array *a = bind_nested_array(L, idx, -1, func);
  damo_var *v = value_constant(L, &a->obj, false);
  lua_remove(L, -2);
  return v;
}

damo_var *bind_operand(lua_State *L, int idx, bool copy, bool *is_graph, const char *func, int arg,
                       const char *argname) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 8, "damo");
  bind_box *box = bind_box_at(L, idx);
  if (box && box->kind == OBJ_VAR) {
    damo_var *v = bind_to_var(L, idx);
    *is_graph = true;
    lua_pushvalue(L, idx);
    return v;
  }
  if (box && (box->kind == OBJ_ARRAY || box->kind == OBJ_SPARSE || box->kind == OBJ_FACTOR)) {
    return value_constant(L, bind_to_value(L, idx), copy);
  }
  switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
    case LUA_TBOOLEAN: return value_weak_constant(L, idx);
    case LUA_TTABLE: return value_table_constant(L, idx, func);
  }
  bind_raise(
      L, DAMO_ETYPE, argname ? "%s: argument %d (%s) must be %s, got %s" : "%s: argument %d%s must be %s, got %s", func,
      arg, argname ? argname : "", "a Variable, Array, sparse matrix, number, boolean or table", bind_typename(L, idx));
  return NULL;
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

bool bind_dtype(lua_State *L, int idx, damo_dtype *out) {
  if (lua_type(L, idx) != LUA_TSTRING) return false;
  size_t n;
  const char *name = lua_tolstring(L, idx, &n);
  if (strlen(name) < n) return false; /* a zero byte in it */
  if (strcmp(name, "floatX") == 0) {
    *out = bind_ctx(L)->config.floatX;
    return true;
  }
  return damo_dtype_from_name(name, out);
}

damo_dtype bind_check_dtype(lua_State *L, int idx, const char *func) {
  damo_dtype dtype = DAMO_FLOAT64;
  if (bind_dtype(L, idx, &dtype)) return dtype;
  if (lua_type(L, idx) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "%s: a dtype is a string such as 'float64', got %s", func, bind_typename(L, idx));
  }
  const char *word = bind_text(L, idx, func), *near = dtype_suggest(word);
  if (near) bind_raise(L, DAMO_EVALUE, "%s: unknown dtype '%s', did you mean '%s'?", func, word, near);
  bind_raise(L, DAMO_EVALUE, "%s: unknown dtype '%s'", func, word);
  return dtype;
}

/* ---- The module's part ------------------------------------------------------------------------------------------- */

void bind_open_value(lua_State *L) {
  damo_ctx *ctx = bind_ctx(L);
  if (!ctx->destroy[OBJ_GENERIC]) ctx_register_kind(ctx, OBJ_GENERIC, generic_destroy, NULL);
}
