/* factor: factors of sparse matrices in scripts, and damo.sparse.FactorType. The operations on a factor are op
 * functions: F:solve(b) is damo.sparse.solve(F, b) (lua/func/func.c). */
#include "sparse.h"
#include "sparse/sparse.h"

static damo_factor *factor_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_FACTOR, func, "self");
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int factor_get_backend(lua_State *L) {
  lua_pushstring(L, factor_get_info(factor_self(L, "backend")).backend);
  return 1;
}

static int factor_get_kind(lua_State *L) {
  lua_pushstring(L, factor_get_info(factor_self(L, "kind")).kind);
  return 1;
}

static int factor_get_dtype(lua_State *L) {
  lua_pushstring(L, dtype_name(factor_get_info(factor_self(L, "dtype")).dtype));
  return 1;
}

static int factor_get_shape(lua_State *L) {
  const factor_info info = factor_get_info(factor_self(L, "shape"));
  lua_createtable(L, 2, 0);
  lua_pushinteger(L, (lua_Integer)info.rows);
  lua_rawseti(L, -2, 1);
  lua_pushinteger(L, (lua_Integer)info.cols);
  lua_rawseti(L, -2, 2);
  return 1;
}

static int factor_get_analyses(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(factor_self(L, "analyses")).analyses);
  return 1;
}

static int factor_get_factorizations(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(factor_self(L, "factorizations")).factorizations);
  return 1;
}

static int factor_get_nbytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)factor_get_info(factor_self(L, "nbytes")).bytes);
  return 1;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

#define METHOD(name)                            \
  static int factor_call_##name(lua_State *L) { \
    factor_self(L, #name);                      \
    return bind_call_name(L, "sparse." #name);  \
  }
METHOD(solve)
METHOD(solve_t)
METHOD(logdet)
METHOD(det)
METHOD(rcond)
#undef METHOD

static int factor_free_now(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_FACTOR) return bind_arg_error(L, "free", 1, "self", "a factor");
  bind_free(L, 1);
  return 0;
}

static int factor_tostring(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (box && !box->obj) {
    lua_pushliteral(L, "Factor: freed");
    return 1;
  }
  const factor_info info = factor_get_info(factor_self(L, "tostring"));
  char dims[64];
  shape_format(dims, sizeof dims, 2, (const int64_t[2]){info.rows, info.cols});
  lua_pushfstring(L, "<factor %s %s, %s by %s>", dtype_name(info.dtype), dims, info.kind, info.backend);
  return 1;
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* Calls the function at 3 of the call that factorizes. */
static damo_status factor_tell_script(void *user, int done, int total) {
  lua_State *L = user;
  damo_ctx *ctx = bind_ctx(L);
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(ctx);
  lua_pushvalue(L, 3);
  lua_pushinteger(L, done);
  lua_pushinteger(L, total);
  if (bind_call_back(L, ctx, 2, 0) == LUA_OK) return DAMO_OK;
  return bind_caught(L, "factorize", "progress", NULL);
}

/* factorize_watched(A, options, progress): damo.sparse.factorize of a matrix, with assume among the options. */
static int factor_make_watched(lua_State *L) {
  static const char *const assumed[] = {"pos", "sym", "gen", NULL}; /* in the order of factor_assume, after NONE */
  damo_sparse *a = bind_check_obj(L, 1, OBJ_SPARSE, "factorize", "A");
  const factor_assume assume = (factor_assume)(bind_option_enum(L, 2, "assume", assumed, -1, "factorize") + 1);
  const factor_watch watch = {factor_tell_script, L};
  const bind_entry e = bind_enter(L);
  damo_factor *f = factor_new_watched(a, assume, &watch);
  bind_leave(e);
  bind_push_made(L, f);
  return 1;
}

/* ---- The Type ---------------------------------------------------------------------------------------------------- */

/* FactorType(dtype, {shape=, least_squares=}) */
static int factor_make_type(lua_State *L) {
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
  static const luaL_Reg fields[] = {{"backend", factor_get_backend},   {"kind", factor_get_kind},
                                    {"dtype", factor_get_dtype},       {"shape", factor_get_shape},
                                    {"analyses", factor_get_analyses}, {"factorizations", factor_get_factorizations},
                                    {"nbytes", factor_get_nbytes},     {NULL, NULL}};
  static const luaL_Reg methods[] = {{"solve", factor_call_solve},
                                     {"solve_t", factor_call_solve_t},
                                     {"logdet", factor_call_logdet},
                                     {"det", factor_call_det},
                                     {"rcond", factor_call_rcond},
                                     {"free", factor_free_now},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", factor_tostring}, {"__close", factor_free_now}, {NULL, NULL}};
  bind_class(L, OBJ_FACTOR, fields, methods, meta, LUA_NOREF);
  lua_getfield(L, -1, "sparse");
  bind_pushfunction(L, factor_make_type);
  lua_setfield(L, -2, "FactorType");
  bind_pushfunction(L, factor_make_watched);
  lua_setfield(L, -2, "factorize_watched");
  lua_pop(L, 1);
}
