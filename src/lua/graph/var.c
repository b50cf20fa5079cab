/* var: Variables: fields, methods, operators. */
#include "lua/binding_int.h"
#include "sparse/sparse.h"
#include "op/op.h"

static damo_var *var_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_VAR, func, "self"); }

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int var_get_name(lua_State *L) {
  lua_pushstring(L, var_self(L, "name")->name); /* NULL pushes nil */
  return 1;
}

static int var_get_type(lua_State *L) {
  bind_push_borrowed(L, var_self(L, "type")->type);
  return 1;
}

static int var_get_owner(lua_State *L) {
  damo_var *v = var_self(L, "owner");
  bind_push_borrowed(L, v->owner);
  return 1;
}

static int var_get_index(lua_State *L) {
  damo_var *v = var_self(L, "index");
  if (!v->owner) return 0;
  lua_pushinteger(L, v->index + 1);
  return 1;
}

static int var_get_ndim(lua_State *L) {
  damo_var *v = var_self(L, "ndim");
  if (!type_has_shape(v->type)) return 0;
  lua_pushinteger(L, var_ndim(v));
  return 1;
}

static int var_get_dtype(lua_State *L) {
  damo_var *v = var_self(L, "dtype");
  if (!type_has_shape(v->type)) return 0;
  lua_pushstring(L, dtype_name(var_dtype(v)));
  return 1;
}

static int var_get_broadcastable(lua_State *L) {
  damo_var *v = var_self(L, "broadcastable");
  if (!type_has_shape(v->type)) return 0;
  lua_createtable(L, var_ndim(v), 0);
  for (int i = 0; i < var_ndim(v); i++) {
    lua_pushboolean(L, type_dim_is_one(v->type, i));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int var_call_on_self(lua_State *L, const char *name) {
  lua_settop(L, 1);
  return bind_call_name(L, name);
}

static int var_get_shape(lua_State *L) {
  var_self(L, "shape");
  return var_call_on_self(L, "shape");
}

static int var_get_size(lua_State *L) {
  var_self(L, "size");
  return var_call_on_self(L, "size");
}

static int var_get_T(lua_State *L) {
  var_self(L, "T");
  return var_call_on_self(L, "transpose");
}

static int var_get_format(lua_State *L) {
  damo_var *v = var_self(L, "format");
  if (!type_is_sparse(v->type)) return 0;
  lua_pushstring(L, sparse_format_name((damo_format)v->type->format));
  return 1;
}

static int var_get_itype(lua_State *L) {
  damo_var *v = var_self(L, "itype");
  if (!type_is_sparse(v->type)) return 0;
  lua_pushstring(L, dtype_name((damo_dtype)v->type->itype));
  return 1;
}

static int var_get_nnz(lua_State *L) {
  return type_is_sparse(var_self(L, "nnz")->type) ? var_call_on_self(L, "sparse.nnz") : 0;
}

static int var_get_indices(lua_State *L) {
  return type_is_sparse(var_self(L, "indices")->type) ? var_call_on_self(L, "sparse.csm_indices") : 0;
}

static int var_get_indptr(lua_State *L) {
  return type_is_sparse(var_self(L, "indptr")->type) ? var_call_on_self(L, "sparse.csm_indptr") : 0;
}

/* x.data: the value of a constant (of a sparse one a read-only view); the vector of stored values of any other sparse
 * Variable; else nil. */
static int var_get_data(lua_State *L) {
  damo_var *v = var_self(L, "data");
  if (v->kind != VAR_CONSTANT && type_is_sparse(v->type)) return var_call_on_self(L, "sparse.csm_data");
  if (v->kind != VAR_CONSTANT || !v->value) return 0;
  if (v->value->kind == OBJ_SPARSE) {
    bind_push_made(L, bind_sparse_read_only((const damo_sparse *)v->value));
  } else {
    bind_push_value(L, damo_retain(v->value));
  }
  return 1;
}

static int var_get_default_update(lua_State *L) {
  damo_var *v = var_self(L, "default_update");
  bind_push_borrowed(L, v->default_update);
  return 1;
}

/* x.tag, made at the first access, with the trace of the lines that made the node. */
static int var_get_tag(lua_State *L) {
  damo_var *v = var_self(L, "tag");
  bind_peer(L, 1);
  lua_getfield(L, -1, "tag");
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  lua_newtable(L);
  bind_push_trace(L, v->owner ? v->owner->trace : NULL);
  lua_setfield(L, -2, "trace");
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "tag");
  return 1;
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static int var_newindex_name(lua_State *L, damo_var *v) {
  if (!lua_isnil(L, 3) && lua_type(L, 3) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "name: expected a string or nil, got %s", luaL_typename(L, 3));
  }
  bind_check(L, var_set_name(v, lua_isnil(L, 3) ? NULL : bind_text(L, 3, "name")));
  return 0;
}

static int var_newindex_tag(lua_State *L) {
  if (!lua_istable(L, 3)) bind_raise(L, DAMO_ETYPE, "tag: expected a table, got %s", luaL_typename(L, 3));
  bind_peer(L, 1);
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, "tag");
  return 0;
}

static int var_newindex_default_update(lua_State *L, damo_var *v) {
  damo_var *to = lua_isnil(L, 3) ? NULL : bind_check_obj(L, 3, OBJ_VAR, "default_update", "value");
  if (v->kind != VAR_SHARED) bind_raise(L, DAMO_ETYPE, "default_update: only a shared Variable has one");
  damo_var *old = v->default_update;
  v->default_update = damo_retain(to);
  damo_release(old);
  bind_reanchor(L, 1);
  return 0;
}

static int var_newindex(lua_State *L) {
  damo_var *v = var_self(L, "Variable");
  if (lua_type(L, 2) != LUA_TSTRING) {
    bind_raise(
        L, DAMO_ETYPE,
        "a Variable can't be assigned to: y = damo.set_subtensor(x[i], v), or x:set(i, v), gives the changed one "
        "(inc_subtensor, x:inc add)");
  }
  const char *key = lua_tostring(L, 2);
  if (strcmp(key, "name") == 0) return var_newindex_name(L, v);
  if (strcmp(key, "tag") == 0) return var_newindex_tag(L);
  if (strcmp(key, "default_update") == 0) return var_newindex_default_update(L, v);
  if (strcmp(key, "value") == 0) {
    return bind_raise(L, DAMO_ETYPE,
                      "Variable: the field 'value' can't be set: a shared Variable takes a value by "
                      "w:set_value(v)");
  }
  return bind_raise(L, DAMO_ETYPE, "Variable: the field '%s' can't be set; x.tag.%s can", key, key);
}

/* Upvalue 1: the plain __index, for fields and methods. */
static int var_index_body(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING) return bind_var_part(L);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

static int var_index(lua_State *L) { return bind_again(L, var_index_body, 1); }

static int var_length(lua_State *L) {
  damo_var *v = var_self(L, "#");
  if (!type_has_shape(v->type) || var_ndim(v) == 0)
    return bind_raise(L, DAMO_ETYPE, "#: a Variable without axes has no length");
  if (v->type->shape[0] < 0) {
    bind_raise(L, DAMO_ETYPE, "#: the length of the first axis is not known before the graph is run; use x.shape[1]");
  }
  lua_pushinteger(L, (lua_Integer)v->type->shape[0]);
  return 1;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

static damo_var *var_shared_self(lua_State *L, const char *func) {
  damo_var *v = var_self(L, func);
  if (v->kind != VAR_SHARED) bind_raise(L, DAMO_ETYPE, "%s: only a shared Variable has a value", func);
  return v;
}

static int var_method_get_value(lua_State *L) {
  static const char *const options[] = {"borrow", NULL};
  damo_var *v = var_shared_self(L, "get_value");
  bind_check_options(L, "get_value", 2, options);
  bool borrow = bind_option_bool(L, 2, "borrow", false, "get_value");
  damo_obj *value = v->value;
  if (!borrow && value_array(value)) {
    damo_obj *copy = value_copy(value);
    if (!copy) return bind_error(L);
    bind_push_value(L, copy);
  } else {
    bind_push_value(L, damo_retain(value));
  }
  bind_gc_pressure(L);
  return 1;
}

static int var_method_set_value(lua_State *L) {
  static const char *const options[] = {"borrow", NULL};
  damo_var *v = var_shared_self(L, "set_value");
  bind_check_options(L, "set_value", 3, options);
  bool borrow = bind_option_bool(L, 3, "borrow", false, "set_value");
  damo_obj *value = bind_filter(L, 2, v->type, (filter_options){0}, "set_value");
  damo_obj *given = lua_istable(L, 2) ? NULL : bind_to_value(L, 2);
  /* a converted sparse matrix may share the data of the given one */
  if (!borrow && given && value_may_overlap(value, given)) {
    damo_obj *copy = value_copy(value);
    if (!copy) return bind_error(L);
    bind_push(L, copy);
    value = copy;
  }
  damo_obj *old = v->value;
  v->value = damo_retain(value);
  damo_release(old);
  if (!value_array(value)) bind_reanchor(L, 1);
  return 0;
}

static int var_method_clone(lua_State *L) {
  damo_var *v = var_self(L, "clone"), *copy = NULL;
  damo_ctx *ctx = bind_ctx(L);
  if (v->kind == VAR_CONSTANT) copy = var_constant(ctx, v->type, v->value);
  if (v->kind == VAR_SHARED) copy = var_shared(ctx, v->type, v->value, v->name);
  if (v->kind == VAR_PLAIN) copy = var_new(ctx, v->type, v->name);
  if (copy && v->kind == VAR_CONSTANT && v->name && var_set_name(copy, v->name) != DAMO_OK) {
    damo_release(copy);
    copy = NULL;
  }
  if (!copy) return bind_error(L);
  copy->weak = v->weak;
  bind_push(L, copy);
  return 1;
}

/* x:eval{[v] = value}: computes the graph of x once, without rewriting, with values in place of the Variables v. */
static damo_status var_eval_graph(damo_ctx *ctx, damo_var *v, damo_var *const *keys, damo_obj *const *values, int64_t n,
                                  damo_obj **result) {
  map memo;
  ptrvec made;
  damo_var *renewed = NULL;
  map_init(&memo, ctx);
  ptrvec_init(&made, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    damo_var *c = var_constant(ctx, keys[i]->type, values[i]);
    s = c ? ptrvec_push(&made, c) : DAMO_EMEMORY;
    if (s != DAMO_OK) damo_release(c);
    if (s == DAMO_OK) s = map_put(&memo, keys[i], (uintptr_t)c);
  }
  if (s == DAMO_OK) s = graph_clone(ctx, &v, 1, &memo, false, NULL, &renewed);
  if (s == DAMO_OK) s = eager_eval(ctx, &renewed, 1, result);
  damo_release(renewed);
  ptrvec_release_all(&made);
  map_clear(&memo);
  return s;
}

static int var_method_eval(lua_State *L) {
  damo_var *v = var_self(L, "eval");
  int64_t n = 0;
  lua_settop(L, 2);
  if (!lua_isnil(L, 2) && !lua_istable(L, 2)) bind_arg_error(L, "eval", 2, "values", "a table {[variable] = value}");
  if (lua_istable(L, 2)) bind_own_table(L, 2);
  for (lua_pushnil(L); lua_istable(L, 2) && lua_next(L, 2); lua_pop(L, 1)) n++;
  lua_settop(L, 2);
  damo_var **keys = bind_alloc(L, (size_t)n, sizeof *keys);
  damo_obj **values = bind_alloc(L, (size_t)n, sizeof *values);
  lua_newtable(L); /* keeps the values */
  n = 0;
  lua_pushnil(L);
  while (lua_istable(L, 2) && lua_next(L, 2)) {
    keys[n] = bind_to_var(L, 6);
    if (!keys[n])
      bind_raise(L, DAMO_ETYPE, "eval: the keys are Variables, as in y:eval{[x] = value}, got %s", bind_typename(L, 6));
    lua_pushfstring(L, "eval: the value of %s", keys[n]->name ? keys[n]->name : "a Variable");
    values[n] = bind_filter(L, 7, keys[n]->type, (filter_options){0}, lua_tostring(L, 8));
    lua_rawseti(L, 5, (int)++n);
    lua_settop(L, 6);
  }
  lua_settop(L, 5);
  damo_obj *result = NULL;
  bind_entry e = bind_enter(L);
  damo_status s = var_eval_graph(e.state->ctx, v, keys, values, n, &result);
  bind_leave(e);
  bind_check(L, s);
  bind_push_value(L, result);
  bind_done(L);
  bind_gc_pressure(L);
  return 1;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

#define BINARY(op, row)            \
  static int op(lua_State *L) {    \
    lua_settop(L, 2);              \
    return bind_call_name(L, row); \
  }
BINARY(var_op_add, "add")
BINARY(var_op_sub, "sub")
BINARY(var_op_mul, "mul")
BINARY(var_op_div, "true_div")
BINARY(var_op_idiv, "floor_div")
BINARY(var_op_mod, "mod")
BINARY(var_op_pow, "pow")
BINARY(var_op_and, "and_")
BINARY(var_op_or, "or_")
BINARY(var_op_xor, "xor")
#undef BINARY

static int var_op_neg(lua_State *L) { return var_call_on_self(L, "neg"); }
static int var_op_not(lua_State *L) { return var_call_on_self(L, "invert"); }

static int var_op_lt(lua_State *L) {
  return bind_raise(L, DAMO_ETYPE, "'<' and '>' give one boolean in Lua: use damo.lt(a, b), a:lt(b), damo.gt(a, b)");
}

static int var_op_le(lua_State *L) {
  return bind_raise(L, DAMO_ETYPE, "'<=' and '>=' give one boolean in Lua: use damo.le(a, b), a:le(b), damo.ge(a, b)");
}

static int var_not_a_function(lua_State *L) {
  return bind_raise(
      L, DAMO_ETYPE,
      "a Variable is no function: damo.compile({x}, y) makes one, and y:eval{[x] = value} computes y once");
}

static int var_op_concat(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  luaL_tolstring(L, 2, NULL);
  lua_concat(L, 2);
  return 1;
}

static int var_tostring(lua_State *L) {
  char text[200];
  lua_pushstring(L, var_format(text, sizeof text, var_self(L, "tostring")));
  return 1;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static const luaL_Reg var_fields[] = {{"name", var_get_name},
                                      {"type", var_get_type},
                                      {"owner", var_get_owner},
                                      {"index", var_get_index},
                                      {"ndim", var_get_ndim},
                                      {"dtype", var_get_dtype},
                                      {"broadcastable", var_get_broadcastable},
                                      {"shape", var_get_shape},
                                      {"size", var_get_size},
                                      {"T", var_get_T},
                                      {"data", var_get_data},
                                      {"indices", var_get_indices},
                                      {"indptr", var_get_indptr},
                                      {"format", var_get_format},
                                      {"itype", var_get_itype},
                                      {"nnz", var_get_nnz},
                                      {"tag", var_get_tag},
                                      {"default_update", var_get_default_update},
                                      {NULL, NULL}};

static const luaL_Reg var_methods[] = {{"get_value", var_method_get_value},
                                       {"set_value", var_method_set_value},
                                       {"clone", var_method_clone},
                                       {"eval", var_method_eval},
                                       {"set", bind_var_set},
                                       {"inc", bind_var_inc},
                                       {NULL, NULL}};

static const luaL_Reg var_meta[] = {
    {"__newindex", var_newindex},   {"__len", var_length},   {"__tostring", var_tostring}, {"__concat", var_op_concat},
    {"__call", var_not_a_function}, {"__add", var_op_add},   {"__sub", var_op_sub},        {"__mul", var_op_mul},
    {"__div", var_op_div},          {"__idiv", var_op_idiv}, {"__mod", var_op_mod},        {"__pow", var_op_pow},
    {"__unm", var_op_neg},          {"__band", var_op_and},  {"__bor", var_op_or},         {"__bxor", var_op_xor},
    {"__bnot", var_op_not},         {"__lt", var_op_lt},     {"__le", var_op_le},          {NULL, NULL}};

void bind_open_var(lua_State *L) {
  bind_class(L, OBJ_VAR, var_fields, var_methods, var_meta, bind_get(L)->ref_methods);
  bind_metatable(L, OBJ_VAR);
  lua_getfield(L, -1, "__index");
  bind_pushclosure(L, var_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  bind_add_makers(L);
}
