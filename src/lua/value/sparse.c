/* sparse: sparse matrices in scripts: fields, operators, text, and damo.sparse's Op classes. sparse_make.c makes
 * values, lua/graph/sparse_var.c makes Variables; the op functions are found as for Arrays (lua/func/func.c). */
#include "sparse.h"
#include "sparse/sparse.h"
#include "op/op.h"

static damo_sparse *sp_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_SPARSE, func, "self"); }

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int sp_get_format(lua_State *L) {
  lua_pushstring(L, sparse_format_name(sparse_format(sp_self(L, "format"))));
  return 1;
}

static int sp_get_dtype(lua_State *L) {
  lua_pushstring(L, dtype_name(sparse_dtype(sp_self(L, "dtype"))));
  return 1;
}

static int sp_get_itype(lua_State *L) {
  lua_pushstring(L, dtype_name(sparse_itype(sp_self(L, "itype"))));
  return 1;
}

static int sp_get_shape(lua_State *L) {
  const damo_sparse *a = sp_self(L, "shape");
  lua_createtable(L, 2, 0);
  for (int i = 0; i < 2; i++) {
    lua_pushinteger(L, (lua_Integer)a->shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
  bind_set_record(L);
  return 1;
}

static int sp_get_nnz(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)sparse_nnz(sp_self(L, "nnz")));
  return 1;
}

static int sp_get_ndim(lua_State *L) {
  sp_self(L, "ndim");
  lua_pushinteger(L, 2);
  return 1;
}

static int sp_get_data(lua_State *L) {
  bind_push_borrowed(L, sp_self(L, "data")->data);
  return 1;
}

static int sp_get_indices(lua_State *L) {
  bind_push_borrowed(L, sp_self(L, "indices")->indices);
  return 1;
}

static int sp_get_indptr(lua_State *L) {
  bind_push_borrowed(L, sp_self(L, "indptr")->indptr);
  return 1;
}

static int sp_get_transposed(lua_State *L) {
  bind_push_made(L, sparse_transpose(sp_self(L, "T")));
  return 1;
}

static int sp_get_sorted(lua_State *L) {
  lua_pushboolean(L, sp_self(L, "has_sorted_indices")->sorted);
  return 1;
}

static int sp_get_canonical(lua_State *L) {
  lua_pushboolean(L, sparse_is_canonical(sp_self(L, "has_canonical_format")));
  return 1;
}

damo_sparse *bind_sparse_read_only(const damo_sparse *m) {
  damo_array *data = array_view(m->data, 1, array_shape(m->data), array_strides(m->data), 0);
  if (!data) return NULL;
  data->writeable = false;
  damo_sparse *out = sparse_with_data(m, data);
  damo_release(data);
  return out;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

static int sp_copy(lua_State *L) {
  damo_sparse *a = sp_self(L, "copy"), *b = sparse_copy(a);
  bind_push_made(L, b);
  bind_gc_pressure(L);
  return 1;
}

static int sp_free_now(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_SPARSE) return bind_arg_error(L, "free", 1, "self", "a sparse matrix");
  bind_free(L, 1);
  return 0;
}

static int sp_length(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)sp_self(L, "#")->shape[0]);
  return 1;
}

static int sp_tostring(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (box && !box->obj) {
    lua_pushliteral(L, "Sparse: freed");
    return 1;
  }
  const damo_sparse *a = sp_self(L, "tostring");
  sparse_print(bind_push_strbuf(L), a);
  bind_finish_strbuf(L);
  return 1;
}

static int sp_newindex(lua_State *L) {
  sp_self(L, "Sparse");
  if (lua_type(L, 2) == LUA_TSTRING) {
    const char *name = lua_tostring(L, 2);
    return bind_raise(
        L, DAMO_ETYPE, "Sparse: the field '%s' cannot be set%s", name,
        strcmp(name, "data") == 0 ? ": A.data[{ {} }] = v writes the values, A:with_data(v) makes a matrix" : "");
  }
  return bind_raise(
      L, DAMO_ETYPE,
      "a sparse matrix's pattern never changes: A.data[i] = v sets stored values, damo.sparse.coo makes a "
      "matrix with other entries");
}

/* A[{i, j}], A[{{a, b}, {c, d}}]. Upvalue 1: the plain __index, for fields and methods. */
static int sp_index_body(lua_State *L) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
  }
  sp_self(L, "index");
  return bind_part(L);
}

static int sp_index(lua_State *L) { return bind_again(L, sp_index_body, 1); }

/* ---- Operators --------------------------------------------------------------------------------------------------- */

#define OPERATOR(op, row, n)       \
  static int op(lua_State *L) {    \
    lua_settop(L, n);              \
    return bind_call_name(L, row); \
  }
OPERATOR(sp_op_add, "add", 2)
OPERATOR(sp_op_sub, "sub", 2)
OPERATOR(sp_op_mul, "mul", 2)
OPERATOR(sp_op_div, "true_div", 2)
OPERATOR(sp_op_pow, "pow", 2)
OPERATOR(sp_op_mod, "mod", 2)
OPERATOR(sp_op_idiv, "floor_div", 2)
OPERATOR(sp_op_and, "and_", 2)
OPERATOR(sp_op_or, "or_", 2)
OPERATOR(sp_op_xor, "xor", 2)
OPERATOR(sp_op_neg, "neg", 1)
OPERATOR(sp_op_not, "invert", 1)
#undef OPERATOR

static int sp_no_order(lua_State *L) {
  return bind_raise(L, DAMO_ETYPE, "'<' and '<=' give one boolean in Lua: use damo.lt(a, b), damo.le(a, b)");
}

/* ---- Op classes -------------------------------------------------------------------------------------------------- */

/* damo.sparse.NAME{prop = value} makes an Op; NAME(inputs…) applies the Op that has no properties. Upvalue 1: the
 * class. */
static int sp_class_call_body(lua_State *L) {
  const op_def *def = lua_touserdata(L, lua_upvalueindex(1));
  int n = bind_arg_count(L);
  if (n == 0 || (n == 1 && lua_istable(L, 1) && lua_rawlen(L, 1) == 0)) return bind_class_instance(L, def, 1);
  lua_settop(L, n);
  lua_newtable(L);
  bind_class_instance(L, def, n + 1);
  lua_insert(L, 1);
  lua_settop(L, n + 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

static int sp_class_call(lua_State *L) { return bind_again(L, sp_class_call_body, 1); }

static void sp_add_classes(lua_State *L) {
  BIND_HEIGHT(L);
  for (const op_def *const *const *family = sparse_classes; *family; family++) {
    for (const op_def *const *def = *family; *def; def++) {
      lua_pushlightuserdata(L, (void *)(uintptr_t)*def);
      bind_pushclosure(L, sp_class_call, 1);
      lua_setfield(L, -2, (*def)->script_name ? (*def)->script_name : (*def)->name);
    }
  }
  BIND_LEAVES(L, 0);
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static const luaL_Reg sp_fields[] = {{"format", sp_get_format},
                                     {"dtype", sp_get_dtype},
                                     {"itype", sp_get_itype},
                                     {"shape", sp_get_shape},
                                     {"nnz", sp_get_nnz},
                                     {"size", sp_get_nnz},
                                     {"ndim", sp_get_ndim},
                                     {"data", sp_get_data},
                                     {"indices", sp_get_indices},
                                     {"indptr", sp_get_indptr},
                                     {"T", sp_get_transposed},
                                     {"has_sorted_indices", sp_get_sorted},
                                     {"has_canonical_format", sp_get_canonical},
                                     {NULL, NULL}};

static const luaL_Reg sp_methods[] = {{"copy", sp_copy}, {"free", sp_free_now}, {NULL, NULL}};

static const luaL_Reg sp_meta[] = {
    {"__newindex", sp_newindex}, {"__len", sp_length},     {"__tostring", sp_tostring}, {"__add", sp_op_add},
    {"__sub", sp_op_sub},        {"__mul", sp_op_mul},     {"__div", sp_op_div},        {"__pow", sp_op_pow},
    {"__mod", sp_op_mod},        {"__idiv", sp_op_idiv},   {"__band", sp_op_and},       {"__bor", sp_op_or},
    {"__bxor", sp_op_xor},       {"__unm", sp_op_neg},     {"__bnot", sp_op_not},       {"__lt", sp_no_order},
    {"__le", sp_no_order},       {"__close", sp_free_now}, {"__call", bind_call_value}, {NULL, NULL}};

void bind_open_sparse(lua_State *L) {
  bind_class(L, OBJ_SPARSE, sp_fields, sp_methods, sp_meta, bind_get(L)->ref_methods);
  bind_metatable(L, OBJ_SPARSE);
  lua_getfield(L, -1, "__index");
  bind_pushclosure(L, sp_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_getfield(L, -1, "sparse");
  bind_add_sparse_values(L);
  bind_add_sparse_makers(L);
  sp_add_classes(L);
  lua_pop(L, 1);
}
