/* sparse_make: sparse matrices from parts, coordinates, dense arrays and diagonals, and random ones. */
#include <limits.h>

#include "sparse.h"
#include "sparse/sparse.h"
#include "op/op.h"

/* ---- Options ----------------------------------------------------------------------------------------------------- */

damo_format bind_check_format(lua_State *L, int idx, damo_format otherwise, const char *func) {
  if (lua_isnoneornil(L, idx)) return otherwise;
  const char *name = lua_type(L, idx) == LUA_TSTRING ? bind_text(L, idx, func) : NULL;
  if (name && strcmp(name, "csr") == 0) return DAMO_CSR;
  if (name && strcmp(name, "csc") == 0) return DAMO_CSC;
  bind_raise(L, name ? DAMO_EVALUE : DAMO_ETYPE, "%s: the format is 'csr' or 'csc', not %s%s", func,
             name ? name : bind_typename(L, idx), name ? sparse_format_advice(name) : "");
  return otherwise;
}

void bind_check_arity(lua_State *L, int most, const char *func, const char *forms) {
  int n = bind_arg_count(L);
  if (n > most) bind_raise(L, DAMO_ETYPE, "%s: too many arguments: %d given; it takes %s", func, n, forms);
  lua_settop(L, most);
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

static damo_format sp_option_format(lua_State *L, int options, damo_format otherwise, const char *func) {
  if (!bind_option(L, options, "format")) return otherwise;
  damo_format f = bind_check_format(L, -1, otherwise, func);
  lua_pop(L, 1);
  return f;
}

static int sp_option_dtype(lua_State *L, int options, int otherwise, const char *func) {
  if (!bind_option(L, options, "dtype")) return otherwise;
  damo_dtype dt = bind_check_dtype(L, -1, func);
  lua_pop(L, 1);
  return (int)dt;
}

static int sp_give(lua_State *L, damo_sparse *take) {
  bind_push_made(L, take);
  bind_gc_pressure(L);
  return 1;
}

/* Pushes the matrix with that index dtype, or with int64 if its size needs that. */
static int sp_give_with_itype(lua_State *L, damo_sparse *take, damo_dtype itype) {
  damo_sparse *m = bind_push_made(L, take);
  itype = sparse_itype_for(itype, m->shape[0], m->shape[1], sparse_nnz(m));
  return sp_give(L, sparse_to_itype(m, itype));
}

/* Pushes the option as an Array. dtype: of a list of numbers; an Array keeps its own. */
static damo_array *sp_option_array(lua_State *L, int options, const char *name, int dtype, const char *func) {
  if (!bind_option(L, options, name)) bind_raise(L, DAMO_ETYPE, "%s: '%s' is missing", func, name);
  lua_pushfstring(L, "%s: %s", func, name);
  damo_array *a = bind_value_array(L, -2, bind_to_array(L, -2) ? -1 : dtype, lua_tostring(L, -1));
  return a;
}

/* ---- From parts -------------------------------------------------------------------------------------------------- */

/* The shape if none is given: indptr gives the length of the major axis, the largest index that of the minor axis. */
static void sp_infer_shape(damo_format format, const damo_array *indices, const damo_array *indptr, int64_t *shape) {
  int64_t minor = 0, lines = array_size(indptr) - 1;
  for (int64_t i = 0; indices->ndim == 1 && i < array_size(indices); i++) {
    int64_t v = scalar_to_int64(array_get(indices, &i));
    if (v >= minor && v < INT64_MAX) minor = v + 1;
  }
  shape[format == DAMO_CSC] = lines < 0 ? 0 : lines;
  shape[format == DAMO_CSR] = minor;
}

/* The argument as a dense matrix. dtype: of a table's numbers; -1: floatX. An Array keeps its own unless dtype is
 * given. */
static const damo_array *sp_check_dense(lua_State *L, int idx, int dtype, const char *func) {
  const damo_array *a = bind_value_array(L, idx, dtype, func);
  char dims[256];
  if (a->ndim != 2) {
    bind_raise(L, DAMO_ETYPE, "%s: the array has shape %s, expected a matrix", func,
               shape_format(dims, sizeof dims, a->ndim, array_shape(a)));
  }
  return a;
}

/* Options of the functions that make a matrix from another one. */
typedef struct sp_matrix_options {
  damo_format format;
  int dtype, itype; /* -1: the source's */
  bool copy, has_shape;
  int64_t shape[2];
  const char *takes; /* what argument 1 may be, for error messages */
} sp_matrix_options;

/* Reads the options at idx that are in names. o->format must be set: it is the default. */
static void sp_read_matrix_options(lua_State *L, int idx, const char *const *names, sp_matrix_options *o,
                                   const char *func) {
  bind_check_options(L, func, idx, names);
  o->format = sp_option_format(L, idx, o->format, func);
  o->dtype = sp_option_dtype(L, idx, -1, func);
  o->itype = bind_option(L, idx, "itype") ? (lua_pop(L, 1), (int)bind_option_itype(L, idx, func)) : -1;
  o->copy = bind_option_bool(L, idx, "copy", false, func);
  o->has_shape = bind_option_shape2(L, idx, false, o->shape, func);
}

static damo_sparse *sp_of_dense(lua_State *L, int idx, const sp_matrix_options *o, const char *func) {
  const damo_array *a = sp_check_dense(L, idx, bind_to_array(L, idx) ? -1 : o->dtype, func);
  const damo_format format = o->format;
  damo_sparse *m = sparse_from_dense(a, format, DAMO_INT32);
  return bind_push_made(L, m);
}

/* Raises the error for a Variable given to a function that takes values: names the function to call instead. */
static void sp_refuse_variable(lua_State *L, int idx, const damo_var *v, damo_format format, const char *func) {
  const bool dense = !type_is_sparse(v->type);
  bind_raise(L, DAMO_ETYPE, "%s: argument %d must be a value, got Variable; %s%s%s makes it %s in a graph", func, idx,
             dense ? "damo.sparse." : "x:to", sparse_format_name(format), dense ? "_from_dense(x)" : "()",
             sparse_format_name(format));
}

/* Refuses (rows, cols) and {rows, cols}, SciPy's forms for an empty matrix: the message says how to write it. */
static void sp_refuse_sizes(lua_State *L, const char *func) {
  lua_Integer n[2];
  int is[2];
  if (lua_type(L, 1) != LUA_TNUMBER && (lua_type(L, 1) != LUA_TTABLE || lua_rawlen(L, 1) != 2)) return;
  for (int i = 0; i < 2; i++) {
    if (lua_istable(L, 1)) lua_rawgeti(L, 1, i + 1);
    n[i] = lua_tointegerx(L, lua_istable(L, 1) ? -1 : i + 1, &is[i]);
    if (lua_istable(L, 1)) lua_pop(L, 1);
  }
  if (!is[0] || !is[1] || n[0] < 0 || n[1] < 0 || n[0] > INT_MAX || n[1] > INT_MAX) return;
  bind_raise(L, DAMO_ETYPE, "%s: two numbers are no matrix: %s {shape = {%d, %d}} is one of zeros", func, func,
             (int)n[0], (int)n[1]);
}

/* Pushes the matrix at idx, sparse or dense, converted as the options say. */
static int sp_converted(lua_State *L, int idx, const sp_matrix_options *o, const char *func) {
  const damo_var *v = bind_to_var(L, idx);
  if (v) sp_refuse_variable(L, idx, v, o->format, func);
  if (lua_isnoneornil(L, idx) || lua_type(L, idx) == LUA_TSTRING) return bind_arg_error(L, func, idx, NULL, o->takes);
  damo_sparse *given = bind_to_sparse(L, idx), *m = given;
  m = m ? bind_push_made(L, sparse_to_format(m, o->format)) : sp_of_dense(L, idx, o, func);
  if (o->has_shape && (m->shape[0] != o->shape[0] || m->shape[1] != o->shape[1])) {
    char is[128], wanted[128];
    bind_raise(L, DAMO_ESHAPE, "%s: the matrix has shape %s, not %s", func, shape_format(is, sizeof is, 2, m->shape),
               shape_format(wanted, sizeof wanted, 2, o->shape));
  }
  if (o->dtype >= 0) {
    bind_check(L, dtype_check_cast(bind_ctx(L), func, sparse_dtype(m), (damo_dtype)o->dtype));
    m = bind_push_made(L, sparse_cast(m, (damo_dtype)o->dtype));
  }
  if (o->itype >= 0) {
    const damo_dtype itype = sparse_itype_for((damo_dtype)o->itype, m->shape[0], m->shape[1], sparse_nnz(m));
    m = bind_push_made(L, sparse_to_itype(m, itype));
  }
  const bool shares = given && array_may_overlap(m->data, given->data);
  if (o->copy && (m == given || shares)) m = bind_push_made(L, sparse_copy(m));
  bind_gc_pressure(L);
  return 1;
}

static int sp_from_matrix(lua_State *L, damo_format format, const char *func) {
  static const char *const names[] = {"dtype", "itype", "shape", "copy", NULL};
  sp_matrix_options o = {.format = format,
                         .takes = "a table {data=, indices=, indptr=}, a sparse matrix or a dense one"};
  sp_refuse_sizes(L, func);
  sp_read_matrix_options(L, 2, names, &o, func);
  return sp_converted(L, 1, &o, func);
}

/* The option's values in that dtype; -1: unchanged. */
static damo_array *sp_as_dtype(lua_State *L, damo_array *given, int dtype, const char *func) {
  if (dtype < 0 || array_dtype(given) == (damo_dtype)dtype) return given;
  bind_check(L, dtype_check_cast(bind_ctx(L), func, array_dtype(given), (damo_dtype)dtype));
  return bind_push_made(L, array_cast(given, (damo_dtype)dtype));
}

/* The option data: the script's own Array if it has the dtype and no copy is asked for. */
static damo_array *sp_option_data(lua_State *L, int dtype, bool copy, const char *func) {
  damo_array *given = sp_option_array(L, 1, "data", dtype, func);
  damo_array *data = sp_as_dtype(L, given, dtype, func);
  return copy && data == given ? bind_push_made(L, array_copy(data)) : data;
}

static bool sp_has_option(lua_State *L, int options, const char *name) {
  if (!bind_option(L, options, name)) return false;
  lua_pop(L, 1);
  return true;
}

/* csr{shape=, dtype=, itype=}: a matrix without stored entries. */
static int sp_from_shape(lua_State *L, damo_format format, int dtype, damo_dtype itype) {
  int64_t shape[2];
  damo_ctx *ctx = bind_ctx(L);
  bind_option_shape2(L, 1, false, shape, sparse_format_name(format));
  const damo_dtype own = dtype >= 0 ? (damo_dtype)dtype : (damo_dtype)ctx->config.floatX;
  return sp_give(L, sparse_from_places(ctx, format, own, shape, 0, NULL, NULL, NULL, itype, false));
}

/* csr{data=, indices=, indptr=, copy=, …}, csr{shape=, …} or csr(matrix, {dtype=, itype=, shape=, copy=}) */
static int sp_from_parts(lua_State *L, damo_format format) {
  static const char *const names[] = {"data", "indices", "indptr", "shape", "itype", "dtype", "copy", NULL};
  const char *func = sparse_format_name(format);
  int64_t shape[2];
  if (!bind_is_options(L, 1)) {
    bind_check_arity(L, 2, func, "a matrix and a table of options");
    return sp_from_matrix(L, format, func);
  }
  bind_check_arity(L, 1, func, "one table {data=, indices=, indptr=}, options in it");
  bind_check_options(L, func, 1, names);
  damo_dtype itype = bind_option_itype(L, 1, func);
  int dtype = sp_option_dtype(L, 1, -1, func);
  if (sp_has_option(L, 1, "shape") && !sp_has_option(L, 1, "data") && !sp_has_option(L, 1, "indices") &&
      !sp_has_option(L, 1, "indptr")) {
    return sp_from_shape(L, format, dtype, itype);
  }
  damo_array *data = sp_option_data(L, dtype, bind_option_bool(L, 1, "copy", false, func), func);
  damo_array *indices = sp_option_array(L, 1, "indices", DAMO_INT64, func);
  damo_array *indptr = sp_option_array(L, 1, "indptr", DAMO_INT64, func);
  if (!bind_option_shape2(L, 1, false, shape, func)) sp_infer_shape(format, indices, indptr, shape);
  damo_sparse *m = sparse_from_parts(bind_ctx(L), format, shape, data, indices, indptr, itype);
  return sp_give(L, m);
}

static int sp_make_csr(lua_State *L) { return sp_from_parts(L, DAMO_CSR); }
static int sp_make_csc(lua_State *L) { return sp_from_parts(L, DAMO_CSC); }

/* coo{rows=, cols=, values=, shape=, format=, dtype=, itype=, copy=}: 1-based, duplicates summed. */
static int sp_make_coo(lua_State *L) {
  static const char *const names[] = {"rows", "cols", "values", "shape", "format", "dtype", "itype", "copy", NULL};
  int64_t shape[2];
  bind_check_arity(L, 1, "coo", "one table {rows=, cols=, values=}, options in it");
  if (!bind_is_options(L, 1)) {
    bind_arg_error(L, "coo", 1, "parts",
                   "a table {rows=, cols=, values=} (sparse.csr and csc take a matrix, dense or sparse)");
  }
  bind_check_options(L, "coo", 1, names);
  if (!bind_option_bool(L, 1, "copy", true, "coo")) {
    bind_raise(
        L, DAMO_EVALUE,
        "coo: copy can't be false: the values are put in order and summed where they meet, in memory of their own");
  }
  damo_format format = sp_option_format(L, 1, DAMO_CSR, "coo");
  damo_dtype itype = bind_option_itype(L, 1, "coo");
  int dtype = sp_option_dtype(L, 1, -1, "coo");
  damo_array *rows = sp_option_array(L, 1, "rows", DAMO_INT64, "coo");
  damo_array *cols = sp_option_array(L, 1, "cols", DAMO_INT64, "coo");
  damo_array *values = sp_as_dtype(L, sp_option_array(L, 1, "values", dtype, "coo"), dtype, "coo");
  bool known = bind_option_shape2(L, 1, false, shape, "coo");
  return sp_give(L, sparse_from_coo(bind_ctx(L), format, known ? shape : NULL, rows, cols, values, itype));
}

/* from_dense(a, format) or from_dense(a, {format=, dtype=, itype=}) */
static int sp_make_from_dense(lua_State *L) {
  static const char *const names[] = {"format", "dtype", "itype", NULL};
  sp_matrix_options o = {.format = DAMO_CSR, .dtype = -1, .itype = -1, .takes = "a dense matrix"};
  bind_check_arity(L, 2, "from_dense", "a dense matrix, and a format or a table of options");
  if (lua_istable(L, 2))
    sp_read_matrix_options(L, 2, names, &o, "from_dense");
  else
    o.format = bind_check_format(L, 2, DAMO_CSR, "from_dense");
  if (bind_to_sparse(L, 1)) {
    return bind_arg_error(L, "from_dense", 1, "a", "a dense matrix (A:tocsr() and A:tocsc() convert a sparse one)");
  }
  return sp_converted(L, 1, &o, "from_dense");
}

/* ---- Identity, diagonals, random --------------------------------------------------------------------------------- */

/* Reads a length at idx. `number`: the argument's number in the script's call, for errors. */
static int64_t sp_check_length(lua_State *L, int idx, int number, const char *func, const char *name) {
  scalar s;
  if (lua_type(L, idx) != LUA_TNUMBER) {
    bind_raise(L, DAMO_ETYPE, "%s: argument %d (%s) must be a count of 0 or more, got %s", func, number, name,
               bind_typename(L, idx));
  }
  if (!bind_to_scalar(L, idx, DAMO_INT64, &s) || s.v.i < 0) {
    bind_raise(L, DAMO_EVALUE, "%s: argument %d (%s) must be a count of 0 or more, got %s", func, number, name,
               bind_number_text(L, idx));
  }
  return s.v.i;
}

static int64_t sp_option_int(lua_State *L, int options, const char *name, int64_t otherwise, const char *func) {
  scalar s;
  if (!bind_option(L, options, name)) return otherwise;
  if (lua_type(L, -1) != LUA_TNUMBER || !bind_to_scalar(L, -1, DAMO_INT64, &s)) {
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be an integer, got %s", func, name, bind_typename(L, -1));
  }
  lua_pop(L, 1);
  return s.v.i;
}

/* eye(m, n, {k=, dtype=, format=, itype=}); n defaults to m. */
static int sp_make_eye(lua_State *L) {
  static const char *const names[] = {"k", "dtype", "format", "itype", NULL};
  int opt = lua_istable(L, 2) ? 2 : 3;
  bind_check_arity(L, opt, "eye", "one length or two, then a table of options");
  bind_check_options(L, "eye", opt, names);
  int64_t m = sp_check_length(L, 1, 1, "eye", "m"),
          n = opt == 2 || lua_isnil(L, 2) ? m : sp_check_length(L, 2, 2, "eye", "n");
  damo_ctx *ctx = bind_ctx(L);
  damo_dtype dtype = (damo_dtype)sp_option_dtype(L, opt, (int)ctx->config.floatX, "eye");
  damo_format format = sp_option_format(L, opt, DAMO_CSR, "eye");
  damo_dtype itype = bind_option_itype(L, opt, "eye");
  return sp_give_with_itype(L, sparse_eye(ctx, m, n, sp_option_int(L, opt, "k", 0, "eye"), dtype, format), itype);
}

static bool sp_are_numbers(damo_array *const *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (a[i]->ndim > 0) return false;
  }
  return true;
}

/* The diagonals in the list at 1 as Arrays, kept alive by a table on the stack, and their promoted dtype. */
static damo_array **sp_read_diagonals(lua_State *L, int64_t n, damo_dtype *common) {
  damo_array **diagonals = bind_alloc(L, (size_t)n, sizeof *diagonals);
  lua_createtable(L, (int)n, 0);
  const int keep = lua_gettop(L);
  *common = DAMO_BOOL;
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, 1, (int)i + 1);
    diagonals[i] = bind_value_array(L, -1, -1, "diags");
    *common = i == 0 ? array_dtype(diagonals[i]) : dtype_promote(*common, array_dtype(diagonals[i]));
    lua_rawseti(L, keep, (int)i + 1);
    lua_settop(L, keep);
  }
  return diagonals;
}

/* The offsets at 2, one for each diagonal; nil stands for 0 if there is one diagonal. */
static int64_t *sp_read_offsets(lua_State *L, int64_t n, damo_array *const *diagonals) {
  int64_t *offsets = bind_alloc(L, (size_t)n, sizeof *offsets);
  damo_array *at =
      lua_isnil(L, 2) ? NULL : bind_value_array(L, 2, bind_to_array(L, 2) ? -1 : DAMO_INT64, "diags: offsets");
  if ((at ? array_size(at) : 1) != n && n > 1 && sp_are_numbers(diagonals, n)) {
    bind_raise(L, DAMO_EVALUE,
               "diags: diagonals must be a list of lists, one for each offset: {{1, 2, 3}} is one diagonal");
  }
  if ((at ? array_size(at) : 1) != n || (at && (at->ndim > 1 || !dtype_is_integer(array_dtype(at))))) {
    bind_raise(L, DAMO_EVALUE, "diags: offsets must be as many integers as there are diagonals: %d", (int)n);
  }
  for (int64_t i = 0; at && i < n; i++) offsets[i] = scalar_to_int64(array_get(at, at->ndim ? &i : NULL));
  return offsets;
}

/* diags(diagonals, offsets, {shape=, dtype=, format=, itype=}): the k-th diagonal is a vector of its length, or one
 * number for all its entries. */
static int sp_make_diags(lua_State *L) {
  static const char *const names[] = {"shape", "dtype", "format", "itype", NULL};
  int64_t shape[2];
  if (bind_is_options(L, 2)) {
    lua_pushnil(L);
    lua_insert(L, 2);
  }
  bind_check_arity(L, 3, "diags", "diagonals, offsets and a table of options");
  if (bind_to_array(L, 1) || bind_to_var(L, 1))
    bind_arg_error(L, "diags", 1, "diagonals", "a list of diagonals (square_diagonal takes a vector)");
  if (!lua_istable(L, 1)) bind_arg_error(L, "diags", 1, "diagonals", "a list of diagonals");
  bind_check_options(L, "diags", 3, names);
  const int64_t n = (int64_t)lua_rawlen(L, 1);
  const int dtype = sp_option_dtype(L, 3, -1, "diags");
  damo_dtype common;
  damo_array **diagonals = sp_read_diagonals(L, n, &common);
  const int64_t *offsets = sp_read_offsets(L, n, diagonals);
  if (dtype >= 0) bind_check(L, dtype_check_cast(bind_ctx(L), "diags", common, (damo_dtype)dtype));
  bool known = bind_option_shape2(L, 3, false, shape, "diags");
  damo_format format = sp_option_format(L, 3, DAMO_CSR, "diags");
  damo_dtype itype = bind_option_itype(L, 3, "diags");
  return sp_give_with_itype(L,
                            sparse_diags(bind_ctx(L), n, (const damo_array *const *)diagonals, offsets,
                                         known ? shape : NULL, dtype >= 0 ? (damo_dtype)dtype : common, format),
                            itype);
}

/* random_from(state, m, n, {density=, format=, dtype=}): returns the state after the draw, and a matrix with exactly
 * density·m·n entries. */
static int sp_make_random(lua_State *L) {
  static const char *const names[] = {"density", "format", "dtype", "itype", NULL};
  double density = 0.01;
  bind_check_arity(L, 4, "random", "a state, two lengths and a table of options");
  bind_check_options(L, "random", 4, names);
  const damo_array *from = bind_check_obj(L, 1, OBJ_ARRAY, "random", "state");
  int64_t m = sp_check_length(L, 2, 1, "random", "m"), n = sp_check_length(L, 3, 2, "random", "n");
  damo_ctx *ctx = bind_ctx(L);
  damo_type *t = bind_push_made(L, type_random(ctx));
  if (!type_is_valid(t, &from->obj)) bind_arg_error(L, "random", 1, "state", "a generator's state");
  if (bind_option(L, 4, "density")) {
    if (lua_type(L, -1) != LUA_TNUMBER) bind_raise(L, DAMO_ETYPE, "random: option 'density' must be a number");
    density = lua_tonumber(L, -1);
  }
  damo_format format = sp_option_format(L, 4, DAMO_CSR, "random");
  damo_dtype dtype = (damo_dtype)sp_option_dtype(L, 4, (int)ctx->config.floatX, "random");
  philox_state state = random_state_read(from);
  damo_dtype itype = bind_option_itype(L, 4, "random");
  sp_give_with_itype(L, sparse_random(ctx, m, n, density, dtype, format, &state), itype);
  bind_push_made(L, random_state_array(ctx, &state));
  lua_insert(L, -2);
  bind_gc_pressure(L);
  return 2;
}

void bind_add_sparse_values(lua_State *L) {
  static const luaL_Reg fns[] = {{"csr", sp_make_csr},
                                 {"csc", sp_make_csc},
                                 {"coo", sp_make_coo},
                                 {"from_dense", sp_make_from_dense},
                                 {"eye", sp_make_eye},
                                 {"diags", sp_make_diags},
                                 {"random_from", sp_make_random},
                                 {NULL, NULL}};
  bind_setfuncs(L, fns);
}
