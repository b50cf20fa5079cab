/* lua_factor: factors of sparse matrices as scripts see them, and damo.sparse.FactorType. What a factor does are rows
 * like any others (lua_func.c): F:solve(b) is damo.sparse.solve(F, b). */
#include "lua_sparse.h"

static damo_factor *self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_FACTOR, func, "self"); }

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int get_backend(lua_State *L) {
  lua_pushstring(L, factor_get_info(self(L, "backend")).backend);
  return 1;
}

static int get_kind(lua_State *L) {
  lua_pushstring(L, factor_get_info(self(L, "kind")).kind);
  return 1;
}

static int get_dtype(lua_State *L) {
  lua_pushstring(L, dtype_name(factor_get_info(self(L, "dtype")).dtype));
  return 1;
}

static int get_shape(lua_State *L) {
  const factor_info info = factor_get_info(self(L, "shape"));
  lua_createtable(L, 2, 0);
  lua_pushinteger(L, (lua_Integer)info.rows);
  lua_rawseti(L, -2, 1);
  lua_pushinteger(L, (lua_Integer)info.cols);
  lua_rawseti(L, -2, 2);
  return 1;
}

static int get_analyses(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(self(L, "analyses")).analyses);
  return 1;
}

static int get_factorizations(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(self(L, "factorizations")).factorizations);
  return 1;
}

static int get_nbytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(self(L, "nbytes")).bytes);
  return 1;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

#define METHOD(name, row)                    \
  static int name(lua_State *L) {            \
    self(L, #name);                          \
    return bind_call_name(L, "sparse." row); \
  }
METHOD(solve, "solve")
METHOD(solve_t, "solve_t")
METHOD(logdet, "logdet")
METHOD(det, "det")
METHOD(rcond, "rcond")
#undef METHOD

static int free_now(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_FACTOR) return bind_arg_error(L, "free", 1, "self", "a factor");
  bind_free(L, 1);
  return 0;
}

static int tostring(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (box && !box->obj) {
    lua_pushliteral(L, "Factor: freed");
    return 1;
  }
  const factor_info info = factor_get_info(self(L, "tostring"));
  char dims[64];
  shape_format(dims, sizeof dims, 2, (const int64_t[2]){info.rows, info.cols});
  lua_pushfstring(L, "<factor %s %s, %s by %s>", dtype_name(info.dtype), dims, info.kind, info.backend);
  return 1;
}

/* ---- The Type ---------------------------------------------------------------------------------------------------- */

/* FactorType(dtype, {shape=, least_squares=}) */
static int factor_type(lua_State *L) {
  static const char *const names[] = {"shape", "least_squares", NULL};
  int64_t shape[2] = {-1, -1};
  lua_settop(L, 2);
  damo_dtype dtype = lua_isnil(L, 1) ? bind_ctx(L)->config.floatX : bind_check_dtype(L, 1, "FactorType");
  bind_check_options(L, "FactorType", 2, names);
  bind_option_shape2(L, 2, true, shape, "FactorType");
  const bool least = bind_option_bool(L, 2, "least_squares", false, "FactorType");
  if (dtype_is_discrete(dtype)) {
    return bind_raise(L, DAMO_EVALUE, "FactorType: a factor's dtype is a float or complex one, got %s",
                      dtype_name(dtype));
  }
  bind_push_made(L, type_factor(bind_ctx(L), dtype, shape, least));
  return 1;
}

void bind_open_factor(lua_State *L) {
  static const luaL_Reg fields[] = {{"backend", get_backend},   {"kind", get_kind},
                                    {"dtype", get_dtype},       {"shape", get_shape},
                                    {"analyses", get_analyses}, {"factorizations", get_factorizations},
                                    {"nbytes", get_nbytes},     {NULL, NULL}};
  static const luaL_Reg methods[] = {{"solve", solve}, {"solve_t", solve_t}, {"logdet", logdet}, {"det", det},
                                     {"rcond", rcond}, {"free", free_now},   {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", tostring}, {"__close", free_now}, {NULL, NULL}};
  bind_class(L, OBJ_FACTOR, fields, methods, meta, LUA_NOREF);
  lua_getfield(L, -1, "sparse");
  bind_pushfunction(L, factor_type);
  lua_setfield(L, -2, "FactorType");
  lua_pop(L, 1);
}
