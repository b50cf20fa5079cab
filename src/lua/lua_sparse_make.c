/* lua_sparse_make: sparse values from parts, coordinates, dense arrays, diagonals, chance. */
#include "lua_sparse.h"

/* ---- Options ----------------------------------------------------------------------------------------------------- */

damo_format bind_check_format(lua_State *L, int idx, damo_format otherwise, const char *func) {
  if (lua_isnoneornil(L, idx)) return otherwise;
  const char *name = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
  if (name && strcmp(name, "csr") == 0) return DAMO_CSR;
  if (name && strcmp(name, "csc") == 0) return DAMO_CSC;
  bind_raise(L, name ? DAMO_EVALUE : DAMO_ETYPE, "%s: the format is 'csr' or 'csc', not %s", func,
             name ? name : bind_typename(L, idx));
  return otherwise;
}

damo_dtype bind_option_itype(lua_State *L, int options, const char *func) {
  static const char *const names[] = {"int32", "int64", NULL};
  return bind_option_enum(L, options, "itype", names, 0, func) == 1 ? DAMO_INT64 : DAMO_INT32;
}

bool bind_option_shape2(lua_State *L, int options, bool allow_unknown, int64_t *shape, const char *func) {
  int64_t all[DAMO_MAX_NDIM];
  if (!bind_option(L, options, "shape")) return false;
  int n = bind_static_shape(L, -1, all, func);
  if (n != 2) bind_raise(L, DAMO_ESHAPE, "%s: the shape has %d lengths, not 2", func, n);
  for (int i = 0; i < 2; i++) {
    if (all[i] < 0 && !allow_unknown)
      bind_raise(L, DAMO_EVALUE, "%s: length %d of the shape is not given", func, i + 1);
    shape[i] = all[i];
  }
  lua_pop(L, 1);
  return true;
}

static damo_format option_format(lua_State *L, int options, damo_format otherwise, const char *func) {
  if (!bind_option(L, options, "format")) return otherwise;
  damo_format f = bind_check_format(L, -1, otherwise, func);
  lua_pop(L, 1);
  return f;
}

static int option_dtype(lua_State *L, int options, int otherwise, const char *func) {
  if (!bind_option(L, options, "dtype")) return otherwise;
  damo_dtype dt = bind_check_dtype(L, -1, func);
  lua_pop(L, 1);
  return (int)dt;
}

static int give(lua_State *L, damo_sparse *take) {
  bind_push_made(L, take);
  bind_gc_pressure(L);
  return 1;
}

/* The option as an Array, pushed: a list of integers becomes int64 unless dtype says more. */
static damo_array *option_array(lua_State *L, int options, const char *name, int dtype, const char *func) {
  if (!bind_option(L, options, name)) bind_raise(L, DAMO_ETYPE, "%s: '%s' is missing", func, name);
  lua_pushfstring(L, "%s: %s", func, name);
  damo_array *a = bind_value_array(L, -2, bind_to_array(L, -2) ? -1 : dtype, lua_tostring(L, -1));
  return a;
}

/* ---- From parts -------------------------------------------------------------------------------------------------- */

/* The shape that the largest index and indptr tell. */
static void infer_shape(damo_format format, const damo_array *indices, const damo_array *indptr, int64_t *shape) {
  int64_t minor = 0, lines = array_size(indptr) - 1;
  for (int64_t i = 0; indices->ndim == 1 && i < array_size(indices); i++) {
    int64_t v = scalar_to_int64(array_get(indices, &i));
    if (v >= minor && v < INT64_MAX) minor = v + 1;
  }
  shape[format == DAMO_CSC] = lines < 0 ? 0 : lines;
  shape[format == DAMO_CSR] = minor;
}

/* The argument as a dense matrix. */
static const damo_array *check_dense(lua_State *L, int idx, const char *func) {
  const damo_array *a = bind_value_array(L, idx, -1, func);
  char dims[256];
  if (a->ndim != 2) {
    bind_raise(L, DAMO_ESHAPE, "%s: the array has shape %s, expected a matrix", func,
               shape_format(dims, sizeof dims, a->ndim, array_shape(a)));
  }
  return a;
}

/* Another sparse matrix, or a dense one, in that format. */
static int converted(lua_State *L, damo_format format, const char *func) {
  damo_sparse *m = bind_to_sparse(L, 1);
  if (m) return give(L, sparse_to_format(m, format));
  return give(L, sparse_from_dense(check_dense(L, 1, func), format, DAMO_INT32));
}

static int from_parts(lua_State *L, damo_format format) {
  static const char *const names[] = {"data", "indices", "indptr", "shape", "itype", "dtype", NULL};
  const char *func = sparse_format_name(format);
  int64_t shape[2];
  lua_settop(L, 1);
  if (!bind_is_options(L, 1)) return converted(L, format, func);
  bind_check_options(L, func, 1, names);
  damo_dtype itype = bind_option_itype(L, 1, func);
  int dtype = option_dtype(L, 1, -1, func);
  damo_array *data = option_array(L, 1, "data", dtype, func);
  if (dtype >= 0 && array_dtype(data) != (damo_dtype)dtype)
    data = bind_push_made(L, array_cast(data, (damo_dtype)dtype));
  damo_array *indices = option_array(L, 1, "indices", DAMO_INT64, func);
  damo_array *indptr = option_array(L, 1, "indptr", DAMO_INT64, func);
  if (!bind_option_shape2(L, 1, false, shape, func)) infer_shape(format, indices, indptr, shape);
  damo_sparse *m = sparse_from_parts(bind_ctx(L), format, shape, data, indices, indptr, itype);
  if (!m && bind_retry_memory(L)) m = sparse_from_parts(bind_ctx(L), format, shape, data, indices, indptr, itype);
  return give(L, m);
}

static int make_csr(lua_State *L) { return from_parts(L, DAMO_CSR); }
static int make_csc(lua_State *L) { return from_parts(L, DAMO_CSC); }

/* coo{rows=, cols=, values=, shape=, format=, dtype=, itype=}: 1-based, duplicates summed. */
static int make_coo(lua_State *L) {
  static const char *const names[] = {"rows", "cols", "values", "shape", "format", "dtype", "itype", NULL};
  int64_t shape[2];
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) bind_arg_error(L, "coo", 1, "parts", "a table {rows=, cols=, values=, shape=}");
  bind_check_options(L, "coo", 1, names);
  damo_format format = option_format(L, 1, DAMO_CSR, "coo");
  damo_dtype itype = bind_option_itype(L, 1, "coo");
  int dtype = option_dtype(L, 1, -1, "coo");
  damo_array *rows = option_array(L, 1, "rows", DAMO_INT64, "coo");
  damo_array *cols = option_array(L, 1, "cols", DAMO_INT64, "coo");
  damo_array *values = option_array(L, 1, "values", dtype, "coo");
  if (dtype >= 0 && array_dtype(values) != (damo_dtype)dtype) {
    values = bind_push_made(L, array_cast(values, (damo_dtype)dtype));
  }
  bool known = bind_option_shape2(L, 1, false, shape, "coo");
  return give(L, sparse_from_coo(bind_ctx(L), format, known ? shape : NULL, rows, cols, values, itype));
}

/* from_dense(a, format) or from_dense(a, {format=, itype=}) */
static int make_from_dense(lua_State *L) {
  static const char *const names[] = {"format", "itype", NULL};
  lua_settop(L, 2);
  bool options = lua_istable(L, 2);
  if (options) bind_check_options(L, "from_dense", 2, names);
  damo_format format =
      options ? option_format(L, 2, DAMO_CSR, "from_dense") : bind_check_format(L, 2, DAMO_CSR, "from_dense");
  damo_dtype itype = options ? bind_option_itype(L, 2, "from_dense") : DAMO_INT32;
  if (bind_to_sparse(L, 1)) return bind_arg_error(L, "from_dense", 1, "a", "dense; :tocsr() and :tocsc() convert");
  return give(L, sparse_from_dense(check_dense(L, 1, "from_dense"), format, itype));
}

/* ---- By rule ----------------------------------------------------------------------------------------------------- */

/* `number`: what the script calls the argument at idx. */
static int64_t check_length(lua_State *L, int idx, int number, const char *func, const char *name) {
  scalar s;
  if (lua_type(L, idx) != LUA_TNUMBER) {
    bind_raise(L, DAMO_ETYPE, "%s: argument %d (%s) must be a count of 0 or more, got %s", func, number, name,
               bind_typename(L, idx));
  }
  if (!bind_to_scalar(L, idx, DAMO_INT64, &s) || s.v.i < 0) {
    lua_pushvalue(L, idx);
    bind_raise(L, DAMO_EVALUE, "%s: argument %d (%s) must be a count of 0 or more, got %s", func, number, name,
               lua_tostring(L, -1));
  }
  return s.v.i;
}

static int64_t option_int(lua_State *L, int options, const char *name, int64_t otherwise, const char *func) {
  scalar s;
  if (!bind_option(L, options, name)) return otherwise;
  if (lua_type(L, -1) != LUA_TNUMBER || !bind_to_scalar(L, -1, DAMO_INT64, &s)) {
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be an integer, got %s", func, name, bind_typename(L, -1));
  }
  lua_pop(L, 1);
  return s.v.i;
}

/* eye(m, n, {k=, dtype=, format=}); n defaults to m. */
static int make_eye(lua_State *L) {
  static const char *const names[] = {"k", "dtype", "format", NULL};
  int opt = lua_istable(L, 2) ? 2 : 3;
  lua_settop(L, 3);
  bind_check_options(L, "eye", opt, names);
  int64_t m = check_length(L, 1, 1, "eye", "m"),
          n = opt == 2 || lua_isnil(L, 2) ? m : check_length(L, 2, 2, "eye", "n");
  damo_ctx *ctx = bind_ctx(L);
  damo_dtype dtype = (damo_dtype)option_dtype(L, opt, (int)ctx->config.floatX, "eye");
  return give(L,
              sparse_eye(ctx, m, n, option_int(L, opt, "k", 0, "eye"), dtype, option_format(L, opt, DAMO_CSR, "eye")));
}

/* diags(diagonals, offsets, {shape=, dtype=, format=}): the k-th diagonal has its own length, or one number for all. */
static int make_diags(lua_State *L) {
  static const char *const names[] = {"shape", "dtype", "format", NULL};
  int64_t shape[2];
  lua_settop(L, 3);
  if (!lua_istable(L, 1)) bind_arg_error(L, "diags", 1, "diagonals", "a list of diagonals");
  bind_check_options(L, "diags", 3, names);
  int64_t n = (int64_t)lua_rawlen(L, 1);
  damo_array **diagonals = bind_room(L, (size_t)n, sizeof *diagonals);
  int64_t *offsets = bind_room(L, (size_t)n, sizeof *offsets);
  lua_createtable(L, (int)n, 0); /* keeps the Arrays */
  int keep = lua_gettop(L), dtype = option_dtype(L, 3, -1, "diags");
  damo_dtype common = DAMO_BOOL;
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, 1, (int)i + 1);
    diagonals[i] = bind_value_array(L, -1, -1, "diags");
    common = i == 0 ? array_dtype(diagonals[i]) : dtype_promote(common, array_dtype(diagonals[i]));
    lua_rawseti(L, keep, (int)i + 1);
    lua_settop(L, keep);
  }
  damo_array *at =
      lua_isnil(L, 2) ? NULL : bind_value_array(L, 2, bind_to_array(L, 2) ? -1 : DAMO_INT64, "diags: offsets");
  if ((at ? array_size(at) : 1) != n || (at && (at->ndim > 1 || !dtype_is_integer(array_dtype(at))))) {
    bind_raise(L, DAMO_EVALUE, "diags: offsets must be as many whole numbers as there are diagonals: %d", (int)n);
  }
  for (int64_t i = 0; at && i < n; i++) offsets[i] = scalar_to_int64(array_get(at, at->ndim ? &i : NULL));
  bool known = bind_option_shape2(L, 3, false, shape, "diags");
  return give(L, sparse_diags(bind_ctx(L), n, (const damo_array *const *)diagonals, offsets, known ? shape : NULL,
                              dtype >= 0 ? (damo_dtype)dtype : common, option_format(L, 3, DAMO_CSR, "diags")));
}

/* random_from(state, m, n, {density=, format=, dtype=}): the state after the draw, and a matrix with exactly density·m·n
 * entries. */
static int make_random(lua_State *L) {
  static const char *const names[] = {"density", "format", "dtype", NULL};
  double density = 0.01;
  lua_settop(L, 4);
  bind_check_options(L, "random", 4, names);
  const damo_array *from = bind_check_obj(L, 1, OBJ_ARRAY, "random", "state");
  int64_t m = check_length(L, 2, 1, "random", "m"), n = check_length(L, 3, 2, "random", "n");
  damo_ctx *ctx = bind_ctx(L);
  damo_type *t = bind_push_made(L, type_random(ctx));
  if (!type_is_valid(t, &from->obj)) bind_arg_error(L, "random", 1, "state", "a generator's state");
  if (bind_option(L, 4, "density")) {
    if (lua_type(L, -1) != LUA_TNUMBER) bind_raise(L, DAMO_ETYPE, "random: option 'density' must be a number");
    density = lua_tonumber(L, -1);
  }
  damo_format format = option_format(L, 4, DAMO_CSR, "random");
  damo_dtype dtype = (damo_dtype)option_dtype(L, 4, (int)ctx->config.floatX, "random");
  philox_state state = random_state_read(from);
  bind_push_made(L, sparse_random(ctx, m, n, density, dtype, format, &state));
  bind_push_made(L, random_state_array(ctx, &state));
  lua_insert(L, -2);
  bind_gc_pressure(L);
  return 2;
}

void bind_add_sparse_values(lua_State *L) {
  static const luaL_Reg fns[] = {{"csr", make_csr},
                                 {"csc", make_csc},
                                 {"coo", make_coo},
                                 {"from_dense", make_from_dense},
                                 {"eye", make_eye},
                                 {"diags", make_diags},
                                 {"random_from", make_random},
                                 {NULL, NULL}};
  luaL_setfuncs(L, fns, 0);
}
