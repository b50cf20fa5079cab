/* nested: conversion of nested tables of numbers and booleans to Arrays, and back.
 *
 * The first entry of each level gives the shape; all other entries must agree with it. An entry may be an Array: a 0-d
 * one stands for an element, others for whole rows. The recursion goes one level per axis, so it is at most
 * DAMO_MAX_NDIM deep.
 */
#include <stdio.h>

#include "lua/binding.h"

typedef struct nested_table {
  lua_State *L;
  const char *what;
  damo_dtype dtype;
  bool strict; /* no dtype was given: numbers and booleans do not mix */
  int ndim;
  damo_array *out;
  int64_t shape[DAMO_MAX_NDIM];
  int64_t index[DAMO_MAX_NDIM]; /* 0-based position of the current entry */
} nested_table;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Pushes and returns "row 2" or "entry {1, 2}" for the entry at the first `depth` positions of n->index. */
static const char *nested_place(nested_table *n, int depth) {
  lua_State *L = n->L;
  if (depth == 1 && n->ndim > 1) return lua_pushfstring(L, "row %d", (int)n->index[0] + 1);
  luaL_Buffer b;
  char text[32];
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "entry {");
  for (int i = 0; i < depth; i++) {
    snprintf(text, sizeof text, "%s%lld", i ? ", " : "", (long long)n->index[i] + 1);
    luaL_addstring(&b, text);
  }
  luaL_addstring(&b, "}");
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

static void nested_fail_length(nested_table *n, int depth, int64_t got) {
  char numbers[64];
  snprintf(numbers, sizeof numbers, "%lld %s, expected %lld", (long long)got, got == 1 ? "entry" : "entries",
           (long long)n->shape[depth]);
  bind_raise(n->L, DAMO_ESHAPE, "%s: %s has %s", n->what, nested_place(n, depth), numbers);
}

/* Raises the error for the entry at the top, whose type is wrong at this depth. */
static void nested_fail_kind(nested_table *n, int depth) {
  lua_State *L = n->L;
  int type = lua_type(L, -1), idx = lua_gettop(L);
  bool is_value = type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TTABLE || bind_to_array(L, -1);
  damo_status status = is_value && (depth < n->ndim || type == LUA_TTABLE) ? DAMO_ESHAPE : DAMO_ETYPE;
  const char *want = depth < n->ndim ? "a table, as the first one is" : "a number";
  if (depth == n->ndim && n->dtype == DAMO_BOOL) want = "a boolean";
  const char *got = bind_typename(L, idx);
  if (bind_to_var(L, idx)) {
    bind_raise(L, DAMO_ETYPE,
               "%s: %s is a Variable, which has no value yet: damo.stack{x, y} makes a Variable of several", n->what,
               nested_place(n, depth));
  }
  bind_raise(L, status, "%s: %s is of type %s, expected %s", n->what, nested_place(n, depth), got, want);
}

static void nested_fail_fit(nested_table *n) {
  lua_State *L = n->L;
  bind_raise(L, DAMO_EVALUE, "%s: %s is %s, which does not fit into %s", n->what, nested_place(n, n->ndim),
             bind_number_text(L, -1), dtype_name(n->dtype));
}

/* ---- Shape and dtype --------------------------------------------------------------------------------------------- */

static void nested_add_dim(nested_table *n, int64_t dim) {
  if (n->ndim == DAMO_MAX_NDIM) {
    bind_raise(n->L, DAMO_EVALUE, "%s: a table nests more than %d levels deep", n->what, DAMO_MAX_NDIM);
  }
  n->shape[n->ndim++] = dim;
}

/* Descends along the first entries from the table at idx; leaves the first leaf (nil: none) on the stack. */
static void nested_find_shape(nested_table *n, int idx) {
  lua_State *L = n->L;
  lua_pushvalue(L, idx);
  while (lua_istable(L, -1)) {
    int64_t dim = (int64_t)lua_rawlen(L, -1);
    nested_add_dim(n, dim);
    if (dim == 0) {
      lua_pushnil(L);
    } else {
      lua_rawgeti(L, -1, 1);
    }
    lua_remove(L, -2);
  }
  const damo_array *a = bind_to_array(L, -1);
  for (int i = 0; a && i < a->ndim; i++) nested_add_dim(n, array_shape(a)[i]);
}

/* The dtype so_far promoted with those of the Arrays among the leaves of the value at the top. */
static damo_dtype nested_leaf_dtype(lua_State *L, damo_dtype so_far, int depth) {
  const damo_array *a = bind_to_array(L, -1);
  if (a) return dtype_promote(so_far, array_dtype(a));
  if (!lua_istable(L, -1) || depth > DAMO_MAX_NDIM) return so_far;
  int64_t n = (int64_t)lua_rawlen(L, -1);
  luaL_checkstack(L, 2, "damo");
  for (int64_t i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i);
    so_far = nested_leaf_dtype(L, so_far, depth + 1);
    lua_pop(L, 1);
  }
  return so_far;
}

/* The dtype if none is given, from the first leaf, at the top of the stack: bool for a boolean, floatX for a number;
 * for an Array the promoted dtype of all Arrays in the table. */
static damo_dtype nested_find_dtype(nested_table *n, int idx) {
  lua_State *L = n->L;
  if (lua_isboolean(L, -1)) return DAMO_BOOL;
  const damo_array *a = bind_to_array(L, -1);
  if (!a) return bind_ctx(L)->config.floatX;
  damo_dtype first = array_dtype(a);
  lua_pushvalue(L, idx);
  damo_dtype dtype = nested_leaf_dtype(L, first, 0);
  lua_pop(L, 1);
  return dtype;
}

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

static char *nested_element(nested_table *n, int depth) {
  char *p = n->out->data;
  for (int i = 0; i < depth; i++) p += n->index[i] * array_strides(n->out)[i];
  return p;
}

/* Stores an Array that stands for all axes from `depth` on. */
static void nested_fill_array(nested_table *n, int depth, const damo_array *a) {
  int ndim = n->ndim - depth;
  if (a->ndim != ndim) nested_fail_kind(n, depth);
  for (int i = 0; i < ndim; i++) {
    if (array_shape(a)[i] != n->shape[depth + i]) nested_fail_length(n, depth, array_shape(a)[i]);
  }
  damo_array *out = n->out;
  damo_array *view =
      array_view(out, ndim, n->shape + depth, array_strides(out) + depth, nested_element(n, depth) - out->data);
  damo_status s = view ? array_assign(view, a) : DAMO_EMEMORY;
  damo_release(view);
  bind_check(n->L, s);
}

/* Stores the element at the top of the stack at n->index. */
static void nested_fill_element(nested_table *n) {
  lua_State *L = n->L;
  int type = lua_type(L, -1);
  if (type == LUA_TNUMBER && n->dtype == DAMO_FLOAT64) {
    *(double *)(void *)nested_element(n, n->ndim) = (double)lua_tonumber(L, -1);
    return;
  }
  const damo_array *a = type == LUA_TUSERDATA ? bind_to_array(L, -1) : NULL;
  if (a) {
    nested_fill_array(n, n->ndim, a);
    return;
  }
  bool fits_kind = n->strict && n->dtype == DAMO_BOOL ? type == LUA_TBOOLEAN : type == LUA_TNUMBER;
  if (!n->strict && type == LUA_TBOOLEAN) fits_kind = true;
  if (!fits_kind) nested_fail_kind(n, n->ndim);
  scalar s;
  if (!bind_to_scalar(L, -1, n->dtype, &s)) nested_fail_fit(n);
  array_set(n->out, n->index, s);
}

/* Stores the value at the top of the stack at the first `depth` positions of n->index. */
static void nested_fill(nested_table *n, int depth) {
  lua_State *L = n->L;
  if (depth == n->ndim) {
    nested_fill_element(n);
    return;
  }
  const damo_array *a = bind_to_array(L, -1);
  if (a) {
    nested_fill_array(n, depth, a);
    return;
  }
  if (!lua_istable(L, -1)) nested_fail_kind(n, depth);
  int64_t len = (int64_t)lua_rawlen(L, -1);
  if (len != n->shape[depth]) nested_fail_length(n, depth, len);
  luaL_checkstack(L, 8, "damo");
  for (int64_t i = 0; i < len; i++) {
    n->index[depth] = i;
    lua_rawgeti(L, -1, (lua_Integer)(i + 1));
    nested_fill(n, depth + 1);
    lua_pop(L, 1);
  }
}

/* Refuses a table with string keys, which is a table of options, and one with entries behind a hole, which its length
 * need not count. Only the key after the list part is looked at. */
static void nested_refuse_names(lua_State *L, int idx, const char *what) {
  size_t n = lua_rawlen(L, idx);
  if (n == 0) {
    lua_pushnil(L);
  } else {
    lua_pushinteger(L, (lua_Integer)n);
  }
  if (!lua_next(L, idx)) return;
  if (lua_type(L, -2) == LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "%s: a table with names in it ('%s') is no value", what, lua_tostring(L, -2));
  }
  if (lua_type(L, -2) == LUA_TNUMBER && !(lua_tonumber(L, -2) >= 1 && lua_tonumber(L, -2) <= (lua_Number)n)) {
    bind_raise(L, DAMO_ETYPE, "%s: entry {%d} is of type nil, but the table goes on after it", what, (int)n + 1);
  }
  lua_pop(L, 2);
}

damo_array *bind_nested_array(lua_State *L, int idx, int dtype, const char *what) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 12, "damo");
  nested_table n = {.L = L, .what = what, .strict = dtype < 0};
  nested_refuse_names(L, idx, what);
  nested_find_shape(&n, idx);
  n.dtype = dtype < 0 ? nested_find_dtype(&n, idx) : (damo_dtype)dtype;
  lua_pop(L, 1);
  n.out = bind_new_array(L, n.dtype, n.ndim, n.shape);
  lua_pushvalue(L, idx);
  nested_fill(&n, 0);
  lua_pop(L, 1);
  return n.out;
}

/* ---- Arrays to tables -------------------------------------------------------------------------------------------- */

/* Pushes the subarray of a over the axes from `axis` on, at index[0 … axis). */
static void nested_push_part(lua_State *L, const damo_array *a, int axis, int64_t *index) {
  if (axis == a->ndim) {
    scalar s = array_get(a, index);
    if (bind_push_scalar(L, s)) return;
    bind_push_made(L, array_from_scalar(a->obj.ctx, s));
    return;
  }
  int64_t n = array_shape(a)[axis];
  luaL_checkstack(L, 8, "damo");
  lua_createtable(L, n > INT32_MAX ? 0 : (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    index[axis] = i;
    nested_push_part(L, a, axis + 1, index);
    lua_rawseti(L, -2, (lua_Integer)(i + 1));
  }
}

void bind_push_table(lua_State *L, const damo_array *a) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  nested_push_part(L, a, 0, index);
}
