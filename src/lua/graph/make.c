/* make: functions that make Variables: inputs of every rank and dtype, shared Variables, constants. */
#include <stdio.h>

#include "lua/binding_int.h"
#include "sparse/sparse.h"

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* A maker of a fixed rank. ones: bit i is set if axis i has length 1. */
typedef struct ranked_maker {
  const char *name;
  int ndim;
  unsigned ones;
} ranked_maker;

static const ranked_maker ranked_makers[] = {{"scalar", 0, 0},  {"vector", 1, 0},  {"row", 2, 1},     {"col", 2, 2},
                                             {"matrix", 2, 0},  {"tensor3", 3, 0}, {"tensor4", 4, 0}, {"tensor5", 5, 0},
                                             {"tensor6", 6, 0}, {"tensor7", 7, 0}, {NULL, 0, 0}};

/* Reads the arguments (name, options) of a maker: the dtype if given, and the stack index of the name. Returns the
 * index of the options, 0 if there are none. */
static int maker_read_args(lua_State *L, const char *func, const char *const *options, damo_dtype *dtype, int *name) {
  int opt = 2;
  *name = 1;
  if (lua_istable(L, 1)) { /* no name */
    opt = 1;
    *name = 3;
  }
  lua_settop(L, 2);
  bind_check_options(L, func, opt, options);
  if (bind_option(L, opt, "name")) {
    *name = lua_gettop(L);
  } else if (opt == 1) {
    lua_pushnil(L);
  }
  if (bind_option(L, opt, "dtype")) {
    *dtype = bind_check_dtype(L, -1, func);
    lua_pop(L, 1);
  }
  return lua_istable(L, opt) ? opt : 0;
}

/* Upvalues: the index in ranked_makers, and the dtype (-1: floatX). */
static int maker_ranked_body(lua_State *L) {
  static const char *const options[] = {"dtype", "shape", "name", NULL};
  const ranked_maker *m = &ranked_makers[lua_tointeger(L, lua_upvalueindex(1))];
  int fixed = (int)lua_tointeger(L, lua_upvalueindex(2)), name;
  damo_dtype dtype = fixed < 0 ? bind_ctx(L)->config.floatX : (damo_dtype)fixed;
  int64_t shape[DAMO_MAX_NDIM];
  int opt = maker_read_args(L, m->name, options, &dtype, &name);
  if (fixed >= 0 && dtype != (damo_dtype)fixed) {
    bind_raise(L, DAMO_EVALUE, "%s: this maker's dtype is %s, not %s", m->name, dtype_name((damo_dtype)fixed),
               dtype_name(dtype));
  }
  for (int i = 0; i < m->ndim; i++) shape[i] = m->ones >> i & 1 ? 1 : -1;
  if (opt && bind_option(L, opt, "shape")) {
    int n = bind_static_shape(L, -1, shape, m->name);
    if (n != m->ndim) bind_raise(L, DAMO_EVALUE, "%s: the shape has %d axes, expected %d", m->name, n, m->ndim);
  }
  damo_type *t = type_tensor(bind_ctx(L), dtype, m->ndim, shape);
  if (!t) return bind_error(L);
  bind_push(L, t);
  return bind_new_var(L, t, name, m->name);
}

static int maker_ranked(lua_State *L) { return bind_again(L, maker_ranked_body, 2); }

static int maker_tensor(lua_State *L) {
  static const char *const options[] = {"dtype", "shape", "ndim", "name", NULL};
  damo_dtype dtype = bind_ctx(L)->config.floatX;
  int name, ndim = -1;
  int64_t shape[DAMO_MAX_NDIM];
  int opt = maker_read_args(L, "tensor", options, &dtype, &name);
  if (opt && bind_option(L, opt, "shape")) {
    ndim = bind_static_shape(L, -1, shape, "tensor");
  } else if (opt && bind_option(L, opt, "ndim")) {
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > DAMO_MAX_NDIM) {
      bind_raise(L, DAMO_EVALUE, "tensor: option 'ndim' must be an integer from 0 to %d", DAMO_MAX_NDIM);
    }
    ndim = (int)lua_tointeger(L, -1);
    for (int i = 0; i < ndim; i++) shape[i] = -1;
  }
  if (ndim < 0) bind_raise(L, DAMO_EVALUE, "tensor: the rank is not known: give shape, {false, 3}, or ndim");
  damo_type *t = type_tensor(bind_ctx(L), dtype, ndim, shape);
  if (!t) return bind_error(L);
  bind_push(L, t);
  return bind_new_var(L, t, name, "tensor");
}

static void maker_add_ranked(lua_State *L) {
  BIND_HEIGHT(L);
  static const char letters[] = "bwilfdcz";
  char name[24];
  for (int k = 0; ranked_makers[k].name; k++) {
    for (int i = -1; i < (int)strlen(letters); i++) {
      int dtype = -1;
      for (int d = 0; i >= 0 && d < DAMO_N_DTYPES; d++) {
        if (dtype_table[d].letter == letters[i]) dtype = d;
      }
      snprintf(name, sizeof name, i < 0 ? "%s%s" : "%.1s%s", i < 0 ? "" : &letters[i], ranked_makers[k].name);
      lua_pushinteger(L, k);
      lua_pushinteger(L, dtype);
      bind_pushclosure(L, maker_ranked, 2);
      lua_setfield(L, -2, name);
    }
  }
  BIND_LEAVES(L, 0);
}

/* ---- Shared Variables -------------------------------------------------------------------------------------------- */

/* Pushes the sparse matrix at idx in that dtype (-1: its own), copied unless it is cast or may be borrowed. */
static damo_sparse *maker_own_sparse(lua_State *L, int idx, int dtype, bool borrow) {
  damo_sparse *given = bind_to_sparse(L, idx);
  bool cast = dtype >= 0 && (damo_dtype)dtype != sparse_dtype(given);
  if (!cast && borrow) return lua_pushvalue(L, idx), given;
  damo_sparse *own = cast ? sparse_cast(given, (damo_dtype)dtype) : sparse_copy(given);
  return bind_push_made(L, own);
}

/* Pushes the value at idx: of an Array a copy unless it is cast or may be borrowed. A factor is shared, since no factor
 * changes while it has a second reference. */
static damo_obj *maker_own_value(lua_State *L, int idx, int dtype, bool borrow, const char *func) {
  if (bind_to_sparse(L, idx)) return &maker_own_sparse(L, idx, dtype, borrow)->obj;
  damo_obj *factor = bind_to(L, idx, OBJ_FACTOR);
  if (factor) return lua_pushvalue(L, idx), factor;
  bool foreign = bind_to_array(L, idx) != NULL;
  damo_array *a = bind_value_array(L, idx, dtype, func);
  if (!foreign || borrow || a != bind_to_array(L, idx)) return &a->obj;
  damo_array *copy = array_copy(a);
  if (!copy) bind_error(L);
  bind_push(L, copy);
  lua_remove(L, -2);
  return &copy->obj;
}

/* Pushes the Type of a shared Variable: its lengths are unknown except those that the option shape gives, since later
 * values may have other lengths. */
static damo_type *maker_shared_type(lua_State *L, int opt, damo_obj *value) {
  int64_t shape[DAMO_MAX_NDIM];
  damo_type *own = type_of_value(value);
  if (!own) bind_error(L);
  bind_push(L, own);
  for (int i = 0; i < own->ndim; i++) shape[i] = -1;
  if (bind_option(L, opt, "shape")) {
    int n = bind_static_shape(L, -1, shape, "shared");
    if (n != own->ndim) bind_raise(L, DAMO_EVALUE, "shared: the shape has %d axes, the value %d", n, (int)own->ndim);
    lua_pop(L, 1);
  }
  damo_ctx *ctx = own->obj.ctx;
  damo_type *t = type_is_sparse(own)
                     ? type_sparse(ctx, (damo_format)own->format, own->dtype, (damo_dtype)own->itype, shape)
                 : type_is_factor(own) ? type_factor(ctx, own->dtype, shape, own->format != 0)
                                       : type_tensor(ctx, own->dtype, own->ndim, shape);
  if (!t) bind_error(L);
  bind_push(L, t);
  lua_remove(L, -2);
  if (!type_is_valid(t, value)) bind_raise(L, DAMO_ESHAPE, "shared: the value does not have that shape");
  return t;
}

/* damo.shared(value, name, {borrow=, dtype=, shape=, type=}) */
static int maker_shared(lua_State *L) {
  static const char *const options[] = {"borrow", "dtype", "shape", "name", "type", NULL};
  int opt = 3, dtype = -1;
  lua_settop(L, 3);
  if (lua_istable(L, 2)) opt = 2;
  bind_check_options(L, "shared", opt, options);
  const char *name = bind_option_str(L, opt, "name", "shared");
  if (opt == 3 && !lua_isnil(L, 2)) {
    if (lua_type(L, 2) != LUA_TSTRING) bind_arg_error(L, "shared", 2, "name", "a string");
    name = bind_text(L, 2, "shared");
  }
  if (bind_to_var(L, 1)) bind_arg_error(L, "shared", 1, "value", "a value");
  if (bind_option(L, opt, "dtype")) dtype = (int)bind_check_dtype(L, -1, "shared");
  damo_type *t = bind_option(L, opt, "type") ? bind_check_obj(L, -1, OBJ_TYPE, "shared", "type") : NULL;
  damo_obj *value;
  if (t && !type_is_tensor(t)) {
    value = bind_filter(L, 1, t, (filter_options){0}, "shared");
    damo_obj *given = bind_to_value(L, 1);
    if (given && value_may_overlap(value, given) && !bind_option_bool(L, opt, "borrow", false, "shared")) {
      value = bind_push_made(L, value_copy(value));
    }
  } else {
    if (t) dtype = (int)t->dtype;
    value = maker_own_value(L, 1, dtype, bind_option_bool(L, opt, "borrow", false, "shared"), "shared");
    if (!t) t = maker_shared_type(L, opt, value);
    if (!type_is_valid(t, value)) bind_raise(L, DAMO_ETYPE, "shared: the value is not of the type asked for");
  }
  damo_var *v = var_shared(bind_ctx(L), t, value, name);
  if (!v) return bind_error(L);
  bind_push(L, v);
  return 1;
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static int maker_finish_constant(lua_State *L, damo_type *t, damo_obj *value, const char *name) {
  damo_var *v = var_constant(bind_ctx(L), t, value);
  if (v && name && var_set_name(v, name) != DAMO_OK) {
    damo_release(v);
    v = NULL;
  }
  if (!v) return bind_error(L);
  bind_push(L, v);
  return 1;
}

/* damo.constant(value, {dtype=, name=, type=}): the constant is never weak, so it keeps its dtype. */
static int maker_constant(lua_State *L) {
  static const char *const options[] = {"dtype", "name", "type", NULL};
  int dtype = -1;
  lua_settop(L, 2);
  bind_check_options(L, "constant", 2, options);
  if (bind_to_var(L, 1)) {
    if (!var_is_constant(bind_to_var(L, 1))) bind_arg_error(L, "constant", 1, "value", "a value");
    lua_settop(L, 1);
    return 1;
  }
  const char *name = bind_option_str(L, 2, "name", "constant");
  damo_type *t = bind_option(L, 2, "type") ? bind_check_obj(L, -1, OBJ_TYPE, "constant", "type") : NULL;
  if (bind_option(L, 2, "dtype")) dtype = (int)bind_check_dtype(L, -1, "constant");
  if (t && !type_is_tensor(t))
    return maker_finish_constant(L, t, bind_filter(L, 1, t, (filter_options){0}, "constant"), name);
  if (t) dtype = (int)t->dtype;
  damo_obj *value = maker_own_value(L, 1, dtype, false, "constant");
  if (t && !type_is_valid(t, value)) bind_raise(L, DAMO_ETYPE, "constant: the value is not of the type asked for");
  return maker_finish_constant(L, t, value, name);
}

/* as_tensor_variable(x, {name=, ndim=, dtype=}): returns a Variable, dense or sparse, as it is; a node's default
 * output; or a constant of a value. */
static int maker_as_tensor(lua_State *L) {
  static const char *const options[] = {"name", "ndim", "dtype", NULL};
  lua_settop(L, 2);
  if (lua_type(L, 2) == LUA_TSTRING) { /* a string is the name */
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "name");
    lua_replace(L, 2);
  }
  bind_check_options(L, "as_tensor_variable", 2, options);
  bind_node_to_output(L, 1);
  damo_var *v = bind_to_var(L, 1);
  if (v && !type_has_shape(v->type)) {
    char text[320];
    bind_raise(L, DAMO_ETYPE, "as_tensor_variable: expected a tensor, got %s", type_format(text, sizeof text, v->type));
  }
  if (!v) {
    lua_pushcfunction(L, maker_constant);
    lua_pushvalue(L, 1);
    lua_createtable(L, 0, 2);
    if (bind_option(L, 2, "name")) lua_setfield(L, -2, "name");
    if (bind_option(L, 2, "dtype")) lua_setfield(L, -2, "dtype");
    lua_call(L, 2, 1);
    v = bind_to_var(L, -1);
  } else {
    lua_settop(L, 2);
    lua_pushvalue(L, 1);
  }
  if (bind_option(L, 2, "ndim")) {
    int ndim = (int)lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (var_ndim(v) != ndim) {
      bind_raise(L, DAMO_ETYPE, "as_tensor_variable: expected %d axes, got %d", ndim, var_ndim(v));
    }
  }
  return 1;
}

static int maker_as_variable(lua_State *L) {
  if (lua_gettop(L) > 0) bind_node_to_output(L, 1);
  if (bind_to_var(L, 1)) {
    lua_settop(L, 1);
    return 1;
  }
  return maker_as_tensor(L);
}

/* damo.is_variable(x): whether x is a Variable. */
static int maker_is_variable(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  lua_pushboolean(L, box && box->kind == OBJ_VAR && box->obj);
  return 1;
}

void bind_add_makers(lua_State *L) {
  static const luaL_Reg fns[] = {{"tensor", maker_tensor},           {"shared", maker_shared},
                                 {"constant", maker_constant},       {"as_tensor_variable", maker_as_tensor},
                                 {"as_tensor", maker_as_tensor},     {"as_variable", maker_as_variable},
                                 {"is_variable", maker_is_variable}, {NULL, NULL}};
  maker_add_ranked(L);
  bind_setfuncs(L, fns);
}
