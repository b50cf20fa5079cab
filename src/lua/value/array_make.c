/* array_make: functions that make Arrays: from values, from a shape, over bytes and foreign memory.
 *
 * zeros, ones, empty and full are op functions too: if an argument is a Variable, they build graph.
 */
#include "lua/binding_int.h"
#include "sparse/sparse.h"

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static int array_make_read_dtype(lua_State *L, int idx, const char *func, const char *const *names) {
  if (lua_isnoneornil(L, idx)) return -1;
  if (!lua_istable(L, idx)) return (int)bind_check_dtype(L, idx, func);
  bind_check_options(L, func, idx, names);
  lua_getfield(L, idx, "dtype");
  int dtype = lua_isnil(L, -1) ? -1 : (int)bind_check_dtype(L, -1, func);
  lua_pop(L, 1);
  return dtype;
}

/* Reads a dtype argument, a string or options {dtype=}; -1 if there is none. */
static int array_make_dtype(lua_State *L, int idx, const char *func) {
  static const char *const names[] = {"dtype", NULL};
  return array_make_read_dtype(L, idx, func, names);
}

/* The same where `out` is an option too. */
static int array_make_dtype_beside_out(lua_State *L, int idx, const char *func) {
  static const char *const names[] = {"dtype", "out", NULL};
  return array_make_read_dtype(L, idx, func, names);
}

static int64_t array_make_check_dim(lua_State *L, int idx, const char *func) {
  scalar s;
  if (lua_type(L, idx) != LUA_TNUMBER) {
    bind_raise(L, DAMO_ETYPE, "%s: a shape is a list of integers, got %s in it", func, bind_typename(L, idx));
  }
  if (!bind_to_scalar(L, idx, DAMO_INT64, &s) || s.v.i < 0) {
    lua_pushvalue(L, idx);
    bind_raise(L, DAMO_EVALUE, "%s: a dimension is an integer from 0 on, got %s", func, lua_tostring(L, -1));
  }
  return s.v.i;
}

int bind_shape(lua_State *L, int idx, int64_t *shape, const char *func) {
  if (lua_type(L, idx) == LUA_TNUMBER) {
    shape[0] = array_make_check_dim(L, idx, func);
    return 1;
  }
  if (!lua_istable(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "%s: a shape is a list of integers, got %s", func, bind_typename(L, idx));
  }
  size_t n = lua_rawlen(L, idx);
  if (n > DAMO_MAX_NDIM) bind_raise(L, DAMO_ESHAPE, "%s: a shape has at most %d dimensions", func, DAMO_MAX_NDIM);
  for (int i = 0; i < (int)n; i++) {
    lua_rawgeti(L, idx, i + 1);
    shape[i] = array_make_check_dim(L, lua_gettop(L), func);
    lua_pop(L, 1);
  }
  return (int)n;
}

/* zeros{2, 3, dtype="int32"} and zeros{shape={2, 3}} become (shape, dtype) at idx and idx + 1. */
static void array_make_spread_options(lua_State *L, int idx, const char *func) {
  static const char *const names[] = {"shape", "dtype", "out", NULL};
  if (!lua_istable(L, idx) || !bind_is_options(L, idx)) return;
  bind_check_listed_options(L, func, idx, names);
  lua_getfield(L, idx, "dtype");
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
  } else {
    lua_replace(L, idx + 1);
  }
  lua_getfield(L, idx, "shape");
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
  } else {
    lua_replace(L, idx);
  }
}

/* Refuses zeros(2, 3): a number or Variable at the place of the dtype. example: how the shape is to be written. */
static void array_make_check_one_shape(lua_State *L, int dtype, const char *func, const char *example) {
  const bind_box *box = bind_box_at(L, dtype);
  if (lua_type(L, dtype) != LUA_TNUMBER && !(box && box->kind == OBJ_VAR)) return;
  bind_raise(L, DAMO_ETYPE, "%s: a shape of several lengths is one table, as in damo.%s%s", func, func, example);
}

/* Whether the value at idx is a Variable, or a list that has one. */
static bool array_make_has_variable(lua_State *L, int idx) {
  if (!lua_istable(L, idx)) return bind_is_var(L, idx);
  bool found = false;
  for (int i = 1, n = (int)lua_rawlen(L, idx); i <= n && !found; i++) {
    lua_rawgeti(L, idx, i);
    found = bind_is_var(L, -1);
    lua_pop(L, 1);
  }
  return found;
}

/* Calls the op function with options {shape=, dtype=}; the shape is at stack index `shape`, the dtype after it, or
 * after the operand between them if `operand` is its index and not 0. */
static int array_make_symbolic(lua_State *L, const char *func, int operand, int shape) {
  int dtype = array_make_dtype(L, shape + (operand ? 2 : 1), func);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, shape);
  lua_setfield(L, -2, "shape");
  if (dtype >= 0) {
    lua_pushstring(L, dtype_name(dtype));
    lua_setfield(L, -2, "dtype");
  }
  if (operand) lua_pushvalue(L, operand);
  if (operand) lua_insert(L, -2);
  int n = operand ? 2 : 1;
  for (int i = n; i >= 1; i--) lua_replace(L, i);
  lua_settop(L, n);
  return bind_call_name(L, func);
}

/* Pushes the option `out` of the table at idx; nil without. */
static void array_make_push_out(lua_State *L, int idx) {
  if (!bind_option(L, idx, "out")) lua_pushnil(L);
}

/* A type error for `out` in a call that makes a graph. */
static void array_make_refuse_out(lua_State *L, const char *func, int out) {
  if (lua_isnil(L, out)) return;
  bind_raise(L, DAMO_ETYPE,
             "%s: out is for values: a Variable takes part, so that the call makes a graph; compile it and write the "
             "results by f:into(…)",
             func);
}

/* Pushes the Array to fill: the one at stack index `out`, which must have that dtype and shape; a new one for nil. */
static damo_array *array_make_target(lua_State *L, const char *func, int out, damo_dtype dtype, int ndim,
                                     const int64_t *shape) {
  char wanted[256], given[256];
  if (lua_isnil(L, out)) return bind_new_array(L, dtype, ndim, shape);
  damo_array *a = bind_to_array(L, out);
  if (!a) bind_raise(L, DAMO_ETYPE, "%s: out must be an Array, got %s", func, bind_typename(L, out));
  if (!array_takes_writes(a)) bind_raise(L, DAMO_ESTATE, "%s: out is read-only", func);
  const bool same = a->ndim == ndim && memcmp(array_shape(a), shape, (size_t)ndim * sizeof *shape) == 0;
  if (!same || array_dtype(a) != dtype) {
    bind_raise(L, array_dtype(a) != dtype ? DAMO_ETYPE : DAMO_ESHAPE, "%s: the result is %s %s, out is %s %s", func,
               dtype_name(dtype), shape_format(wanted, sizeof wanted, ndim, shape), dtype_name(array_dtype(a)),
               shape_format(given, sizeof given, a->ndim, array_shape(a)));
  }
  lua_pushvalue(L, out);
  return a;
}

/* ---- From a shape ------------------------------------------------------------------------------------------------ */

/* Pushes an Array made from (shape, dtype) at 1 and 2. If the shape is symbolic, calls the op function `func` instead
 * and returns NULL. *n: the number of results on the stack. */
static damo_array *array_make_of_shape(lua_State *L, const char *func, int *n) {
  int64_t shape[DAMO_MAX_NDIM];
  lua_settop(L, 2);
  array_make_push_out(L, lua_istable(L, 2) ? 2 : 1);
  array_make_check_one_shape(L, 2, func, "{2, 3}");
  array_make_spread_options(L, 1, func);
  *n = 1;
  if (array_make_has_variable(L, 1)) {
    array_make_refuse_out(L, func, 3);
    *n = array_make_symbolic(L, func, 0, 1);
    return NULL;
  }
  int ndim = bind_shape(L, 1, shape, func), dtype = array_make_dtype_beside_out(L, 2, func);
  if (dtype < 0) dtype = (int)bind_ctx(L)->config.floatX;
  return array_make_target(L, func, 3, (damo_dtype)dtype, ndim, shape);
}

static int array_make_zeros(lua_State *L) {
  int n;
  damo_array *a = array_make_of_shape(L, "zeros", &n);
  if (a) bind_check(L, array_fill(a, (scalar){.dtype = DAMO_BOOL, .v.i = 0}));
  return n;
}

static int array_make_ones(lua_State *L) {
  int n;
  damo_array *a = array_make_of_shape(L, "ones", &n);
  if (a) bind_check(L, array_fill(a, (scalar){.dtype = DAMO_BOOL, .v.i = 1}));
  return n;
}

static int array_make_empty(lua_State *L) {
  int n;
  damo_array *a = array_make_of_shape(L, "empty", &n);
  /* What the process freed may hold addresses, and what other scripts computed. */
  if (a && damo_ctx_is_sandbox(bind_ctx(L))) bind_check(L, array_fill(a, (scalar){.dtype = DAMO_BOOL, .v.i = 0}));
  return n;
}

/* full(shape, value, dtype) */
static int array_make_full(lua_State *L) {
  int64_t shape[DAMO_MAX_NDIM];
  lua_settop(L, 3);
  if (lua_isnil(L, 2)) return bind_arg_error(L, "full", 2, "value", "a value");
  array_make_push_out(L, 3);
  array_make_check_one_shape(L, 3, "full", "({2, 3}, value)");
  if (array_make_has_variable(L, 1) || array_make_has_variable(L, 2)) {
    array_make_refuse_out(L, "full", 4);
    return array_make_symbolic(L, "full", 2, 1);
  }
  int ndim = bind_shape(L, 1, shape, "full"), dtype = array_make_dtype_beside_out(L, 3, "full");
  damo_array *value = bind_value_array(L, 2, dtype, "full");
  damo_array *a = array_make_target(L, "full", 4, array_dtype(value), ndim, shape);
  bind_check(L, array_assign(a, value));
  return 1;
}

/* ---- From values ------------------------------------------------------------------------------------------------- */

static int array_make(lua_State *L) {
  lua_settop(L, 2);
  if (lua_isnil(L, 1))
    return bind_arg_error(L, "array", 1, "value", "an Array, a number, a boolean or a table of them");
  if (bind_to_var(L, 1))
    return bind_raise(L, DAMO_ETYPE,
                      "array: a Variable has no value before its graph is run: x:eval() computes it, a shared one has "
                      "x:get_value()");
  damo_array *a = bind_value_array(L, 1, array_make_dtype(L, 2, "array"), "array");
  if (!lua_rawequal(L, -1, 1)) return 1;
  damo_array *copy = array_copy(a);
  bind_push_made(L, copy);
  return 1;
}

/* range(stop), range(start, stop, step) include the end, as Lua's for does: calls arange with an end just past the last
 * value. */
static int array_make_range(lua_State *L) {
  int n = bind_arg_count(L);
  lua_settop(L, n);
  if (n == 0) return bind_arg_error(L, "range", 1, "stop", "a number");
  if (n == 1) {
    lua_pushinteger(L, 1);
    lua_insert(L, 1);
  }
  if (lua_isnoneornil(L, 3)) {
    lua_settop(L, 2);
    lua_pushinteger(L, 1);
  }
  for (int i = 1; i <= 3; i++) {
    if (lua_type(L, i) != LUA_TNUMBER)
      return bind_arg_error(L, "range", i, NULL, "a number (damo.arange takes Variables)");
  }
  double step = lua_tonumber(L, 3), start = lua_tonumber(L, 1), stop = lua_tonumber(L, 2);
  if (step == 0) return bind_raise(L, DAMO_EVALUE, "range: the step is 0");
  if (lua_isinteger(L, 1) && lua_isinteger(L, 2) && lua_isinteger(L, 3)) {
    lua_pushinteger(L, lua_tointeger(L, 2) + (step > 0 ? 1 : -1));
  } else {
    lua_pushnumber(L, start + (floor((stop - start) / step) + 0.5) * step);
  }
  lua_replace(L, 2);
  return bind_call_name(L, "arange");
}

static bool array_make_equal_sparse(lua_State *L, damo_sparse *a, damo_sparse *b, bool equal_nan) {
  bool same = false;
  if (sparse_dtype(a) == sparse_dtype(b)) {
    bind_check(L, sparse_equal(a, b, equal_nan, &same));
  } else {
    bind_check(L, sparse_allclose(a, b, 0, 0, equal_nan, &same)); /* false where shapes differ */
  }
  return same;
}

/* The operand at idx as a sparse matrix: a dense one is converted to m's format; NULL if its shape differs from m's. */
static damo_sparse *array_make_like(lua_State *L, int idx, const damo_sparse *m) {
  damo_sparse *given = bind_to_sparse(L, idx);
  if (given) return given;
  const damo_array *a = bind_value_array(L, idx, -1, "array_equal");
  if (a->ndim != 2 || array_shape(a)[0] != m->shape[0] || array_shape(a)[1] != m->shape[1]) return NULL;
  return bind_push_made(L, sparse_from_dense(a, sparse_format(m), sparse_itype(m)));
}

/* array_equal(a, b, {equal_nan=}): same shape and same values, whatever the dtypes; of sparse matrices whatever entries
 * are stored explicitly. */
static int array_make_equal_values(lua_State *L) {
  static const char *const names[] = {"equal_nan", NULL};
  bool same;
  lua_settop(L, 3);
  bind_check_options(L, "array_equal", 3, names);
  bool equal_nan = bind_option_bool(L, 3, "equal_nan", false, "array_equal");
  const damo_sparse *m = bind_to_sparse(L, 1);
  if (!m) m = bind_to_sparse(L, 2);
  if (m) {
    damo_sparse *x = array_make_like(L, 1, m), *y = array_make_like(L, 2, m);
    same = x && y && array_make_equal_sparse(L, x, y, equal_nan);
  } else {
    const damo_array *a = bind_value_array(L, 1, -1, "array_equal"), *b = bind_value_array(L, 2, -1, "array_equal");
    same = array_dtype(a) == array_dtype(b) ? array_equal(a, b, equal_nan) : array_allclose(a, b, 0, 0, equal_nan);
  }
  lua_pushboolean(L, same);
  return 1;
}

/* ---- Over memory ------------------------------------------------------------------------------------------------- */

static int array_make_from_bytes(lua_State *L) {
  int64_t shape[DAMO_MAX_NDIM];
  size_t have;
  if (lua_type(L, 1) != LUA_TSTRING) return bind_arg_error(L, "frombytes", 1, "bytes", "a string");
  const char *bytes = lua_tolstring(L, 1, &have);
  damo_dtype dtype = bind_check_dtype(L, 2, "frombytes");
  int ndim = 1;
  shape[0] = (int64_t)(have / dtype_size(dtype));
  if (!lua_isnoneornil(L, 3)) ndim = bind_shape(L, 3, shape, "frombytes");
  int64_t n;
  bind_check(L, shape_size(bind_ctx(L), ndim, shape, &n));
  if ((uint64_t)n != have / dtype_size(dtype) || have % dtype_size(dtype) != 0) {
    char text[256];
    return bind_raise(L, DAMO_EVALUE, "frombytes: the string has %d bytes, which is not shape %s of %s", (int)have,
                      shape_format(text, sizeof text, ndim, shape), dtype_name(dtype));
  }
  damo_array *a = bind_new_array(L, dtype, ndim, shape);
  memcpy(a->data, bytes, have);
  return 1;
}

/* frompointer(pointer, dtype, shape, owner): an Array over foreign memory. owner, any Lua value, lives as long as the
 * userdata of an Array over this memory does. A reference in C alone does not keep it alive; a graph's constant is a
 * copy, so this concerns only a value passed on inside an Op written in Lua. */
static int array_make_from_pointer(lua_State *L) {
  int64_t shape[DAMO_MAX_NDIM];
  lua_settop(L, 4);
  bind_gate(L, GATE_POINTER, "frompointer");
  if (lua_type(L, 1) != LUA_TLIGHTUSERDATA) return bind_arg_error(L, "frompointer", 1, "pointer", "a light userdata");
  damo_dtype dtype = bind_check_dtype(L, 2, "frompointer");
  int ndim = bind_shape(L, 3, shape, "frompointer");
  void *data = lua_touserdata(L, 1);
  size_t align = dtype_is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
  int64_t n;
  bind_check(L, shape_size(bind_ctx(L), ndim, shape, &n));
  if (!data && n > 0) return bind_raise(L, DAMO_EVALUE, "frompointer: the address is null");
  if ((uintptr_t)data % align != 0) {
    return bind_raise(L, DAMO_EVALUE, "frompointer: the address is not aligned for %s", dtype_name(dtype));
  }
  damo_obj *owner = lua_isnil(L, 4) ? NULL : bind_push_generic(L, 4);
  bind_push_made(L, array_foreign(bind_ctx(L), dtype, ndim, shape, data, true, owner ? bind_release_owner : NULL,
                                  damo_retain(owner)));
  return 1;
}

void bind_open_array_make(lua_State *L) {
  static const luaL_Reg functions[] = {{"array", array_make},
                                       {"zeros", array_make_zeros},
                                       {"ones", array_make_ones},
                                       {"empty", array_make_empty},
                                       {"full", array_make_full},
                                       {"range", array_make_range},
                                       {"array_equal", array_make_equal_values},
                                       {"frombytes", array_make_from_bytes},
                                       {"frompointer", array_make_from_pointer},
                                       {NULL, NULL}};
  bind_setfuncs(L, functions);
}
