/* sparse_var: sparse Types and Variables: SparseTensorType, csr_matrix and the like, as_sparse_variable. */
#include <stdio.h>

#include "lua/value/sparse.h"
#include "sparse/sparse.h"

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* The matrix of the option pattern, kept alive by the options table; NULL if absent. */
static damo_sparse *sp_option_pattern(lua_State *L, int options, damo_format format, const char *func) {
  if (!bind_option(L, options, "pattern")) return NULL;
  damo_sparse *m = bind_to_sparse(L, -1);
  if (!m) {
    bind_raise(L, DAMO_ETYPE, "%s: option 'pattern' must be a sparse matrix, got %s", func, bind_typename(L, -1));
  }
  if (sparse_format(m) != format) {
    bind_raise(L, DAMO_EVALUE, "%s: the pattern is %s, not %s; its :to%s() is", func,
               sparse_format_name(sparse_format(m)), sparse_format_name(format), sparse_format_name(format));
  }
  lua_pop(L, 1);
  return m;
}

/* Pushes the Type given by the options shape, itype and pattern. A pattern determines shape and itype; if they are
 * given too, they must agree with it. */
static damo_type *sp_push_type(lua_State *L, damo_format format, damo_dtype dtype, int options, const char *func) {
  int64_t shape[2] = {-1, -1};
  bind_option_shape2(L, options, true, shape, func);
  const damo_dtype itype = bind_option_itype(L, options, func);
  damo_sparse *m = sp_option_pattern(L, options, format, func);
  if (!m) return bind_push_made(L, type_sparse(bind_ctx(L), format, dtype, itype, shape));
  for (int i = 0; i < 2; i++) {
    if (shape[i] < 0 || shape[i] == m->shape[i]) continue;
    char want[128], is[128];
    bind_raise(L, DAMO_ESHAPE, "%s: the pattern has shape %s, not %s", func, shape_format(is, sizeof is, 2, m->shape),
               shape_format(want, sizeof want, 2, shape));
  }
  if (bind_option(L, options, "itype")) {
    lua_pop(L, 1);
    if (itype != sparse_itype(m)) {
      bind_raise(L, DAMO_EVALUE, "%s: the pattern's indices are %s, not %s", func, dtype_name(sparse_itype(m)),
                 dtype_name(itype));
    }
  }
  damo_type *t = type_sparse_like(m, dtype);
  return bind_push_made(L, t);
}

/* SparseTensorType(format, dtype, {itype=, shape=, pattern=}) */
static int sp_make_type(lua_State *L) {
  static const char *const names[] = {"itype", "shape", "pattern", NULL};
  bind_check_arity(L, 3, "SparseTensorType", "a format, a dtype and a table of options");
  if (lua_isnil(L, 1)) bind_arg_error(L, "SparseTensorType", 1, "format", "'csr' or 'csc'");
  damo_format format = bind_check_format(L, 1, DAMO_CSR, "SparseTensorType");
  damo_dtype dtype = lua_isnil(L, 2) ? bind_ctx(L)->config.floatX : bind_check_dtype(L, 2, "SparseTensorType");
  bind_check_options(L, "SparseTensorType", 3, names);
  sp_push_type(L, format, dtype, 3, "SparseTensorType");
  return 1;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* Reads name and options at stack index `first` and pushes the Variable. fixed: the dtype of the maker's letter, or -1.
 */
static int sp_new_matrix(lua_State *L, damo_format format, int fixed, int first, const char *func) {
  static const char *const names[] = {"dtype", "itype", "shape", "pattern", "name", NULL};
  int opt = lua_istable(L, first) ? first : first + 1, name = first;
  bind_check_arity(L, opt, func,
                   first == 1 ? "a name and a table of options" : "a format, a name and a table of options");
  bind_check_options(L, func, opt, names);
  damo_dtype dtype = fixed >= 0 ? (damo_dtype)fixed : bind_ctx(L)->config.floatX;
  if (bind_option(L, opt, "dtype")) {
    dtype = bind_check_dtype(L, -1, func);
    if (fixed >= 0 && dtype != (damo_dtype)fixed) {
      bind_raise(L, DAMO_EVALUE, "%s: this maker's dtype is %s, not %s", func, dtype_name((damo_dtype)fixed),
                 dtype_name(dtype));
    }
  }
  if (opt == first) {
    if (!bind_option(L, opt, "name")) lua_pushnil(L);
    name = lua_gettop(L);
  }
  return bind_new_var(L, sp_push_type(L, format, dtype, opt, func), name, func);
}

/* Upvalues: format, dtype or -1, the maker's name. */
static int sp_make_matrix_body(lua_State *L) {
  damo_format format = (damo_format)lua_tointeger(L, lua_upvalueindex(1));
  return sp_new_matrix(L, format, (int)lua_tointeger(L, lua_upvalueindex(2)), 1, lua_tostring(L, lua_upvalueindex(3)));
}

static int sp_make_matrix(lua_State *L) { return bind_again(L, sp_make_matrix_body, 3); }

/* matrix(format, name, {dtype=, itype=, shape=, pattern=}) */
static int sp_matrix_maker(lua_State *L) {
  if (lua_isnoneornil(L, 1)) bind_arg_error(L, "matrix", 1, "format", "'csr' or 'csc'");
  return sp_new_matrix(L, bind_check_format(L, 1, DAMO_CSR, "matrix"), -1, 2, "matrix");
}

/* csr_matrix, csr_fmatrix, … csc_zmatrix. */
static void sp_add_matrices(lua_State *L) {
  BIND_HEIGHT(L);
  static const char letters[] = "bwilfdcz";
  char name[24];
  for (int f = 0; f < 2; f++) {
    damo_format format = f == 0 ? DAMO_CSR : DAMO_CSC;
    for (int i = -1; i < (int)strlen(letters); i++) {
      int dtype = -1;
      for (int d = 0; i >= 0 && d < DAMO_N_DTYPES; d++) {
        if (dtype_table[d].letter == letters[i]) dtype = d;
      }
      const char letter[2] = {i < 0 ? '\0' : letters[i], '\0'};
      snprintf(name, sizeof name, "%s_%smatrix", sparse_format_name(format), letter);
      lua_pushinteger(L, format);
      lua_pushinteger(L, dtype);
      lua_pushstring(L, name);
      bind_pushclosure(L, sp_make_matrix, 3);
      lua_setfield(L, -2, name);
    }
  }
  BIND_LEAVES(L, 0);
}

/* ---- Variables of values ----------------------------------------------------------------------------------------- */

/* The name given by a string or {name=} at idx; NULL if there is none. */
static const char *sp_read_name(lua_State *L, int idx, const char *func) {
  static const char *const names[] = {"name", NULL};
  if (lua_type(L, idx) == LUA_TSTRING) return bind_text(L, idx, func);
  bind_check_options(L, func, idx, names);
  return bind_option_str(L, idx, "name", func);
}

static int sp_constant_of(lua_State *L, damo_sparse *m, const char *name) {
  damo_sparse *own = sparse_copy(m);
  damo_var *v = own ? var_constant(bind_ctx(L), NULL, &own->obj) : NULL;
  damo_release(own);
  if (v && name && var_set_name(v, name) != DAMO_OK) {
    damo_release(v);
    v = NULL;
  }
  bind_push_made(L, v);
  return 1;
}

/* as_sparse_variable(x, name): returns a sparse Variable as it is, a node's default output, or a constant of a sparse
 * matrix. */
static int sp_as_sparse(lua_State *L) {
  bind_check_arity(L, 2, "as_sparse_variable", "a sparse Variable or matrix, and a name");
  const char *name = sp_read_name(L, 2, "as_sparse_variable");
  bind_node_to_output(L, 1);
  damo_var *v = bind_to_var(L, 1);
  if (v && type_is_sparse(v->type)) return lua_settop(L, 1), 1;
  if (v) {
    char text[320];
    return bind_raise(L, DAMO_ETYPE,
                      "as_sparse_variable: expected something sparse, got %s; csr_from_dense(x) makes it sparse",
                      type_format(text, sizeof text, v->type));
  }
  damo_sparse *m = bind_to_sparse(L, 1);
  if (!m) return bind_arg_error(L, "as_sparse_variable", 1, "x", "a sparse Variable or matrix");
  return sp_constant_of(L, m, name);
}

/* as_sparse_or_tensor_variable(x, name): as_sparse_variable for sparse operands, as_tensor_variable for all others. */
static int sp_as_either(lua_State *L) {
  bind_check_arity(L, 2, "as_sparse_or_tensor_variable", "a value or Variable, and a name");
  bind_node_to_output(L, 1);
  damo_var *v = bind_to_var(L, 1);
  if (bind_to_sparse(L, 1) || (v && type_is_sparse(v->type))) return sp_as_sparse(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, bind_get(L)->ref_module);
  lua_getfield(L, -1, "as_tensor_variable");
  lua_insert(L, 1);
  lua_settop(L, 3);
  lua_call(L, 2, 1);
  return 1;
}

/* is_sparse(x): whether x is a sparse matrix or Variable. */
static int sp_is_sparse(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  bool sparse = box && box->obj && box->kind == OBJ_SPARSE;
  if (box && box->obj && box->kind == OBJ_VAR) sparse = type_is_sparse(((damo_var *)box->obj)->type);
  lua_pushboolean(L, sparse);
  return 1;
}

void bind_add_sparse_makers(lua_State *L) {
  static const luaL_Reg fns[] = {{"SparseTensorType", sp_make_type},
                                 {"matrix", sp_matrix_maker},
                                 {"as_sparse_variable", sp_as_sparse},
                                 {"as_sparse", sp_as_sparse},
                                 {"as_sparse_or_tensor_variable", sp_as_either},
                                 {"is_sparse", sp_is_sparse},
                                 {NULL, NULL}};
  bind_setfuncs(L, fns);
  sp_add_matrices(L);
  lua_createtable(L, 2, 0);
  lua_pushliteral(L, "csc");
  lua_rawseti(L, -2, 1);
  lua_pushliteral(L, "csr");
  lua_rawseti(L, -2, 2);
  lua_setfield(L, -2, "sparse_formats");
}
