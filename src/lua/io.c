/* io: damo.io: files of Arrays and sparse matrices. load and save choose .npy or .npz by the path's extension; read_csv
 * reads tables of numbers, read_mtx and write_mtx Matrix Market files. With {on_fail="return"}, a file that cannot be
 * read or written gives nil and the error object. */
#include "binding_int.h"
#include "io/io.h"

static const char *const IO_FAIL_MODES[] = {"raise", "return", NULL};

typedef enum io_file_kind { IO_FILE_NPY, IO_FILE_NPZ } io_file_kind;

static bool io_path_ends_with(const char *s, const char *tail) {
  size_t n = strlen(s), m = strlen(tail);
  return n >= m && strcmp(s + n - m, tail) == 0;
}

static const char *io_check_path(lua_State *L, const char *func) {
  if (lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, func, 1, "path", "a string");
  bind_gate(L, GATE_FILE, func);
  return bind_text(L, 1, func);
}

static io_file_kind io_check_file_kind(lua_State *L, const char *path, const char *func) {
  if (io_path_ends_with(path, ".npy")) return IO_FILE_NPY;
  if (io_path_ends_with(path, ".npz")) return IO_FILE_NPZ;
  const char *hint = !io_path_ends_with(path, ".mtx") ? ""
                     : *func == 'l'                   ? ": read_mtx reads it"
                                                      : ": write_mtx writes it";
  bind_raise(L, DAMO_EVALUE, "%s: '%s' ends in neither .npy nor .npz%s", func, path, hint);
  return IO_FILE_NPY;
}

static bool io_fails_softly(lua_State *L, int options, const char *func) {
  return bind_option_enum(L, options, "on_fail", IO_FAIL_MODES, 0, func) == 1;
}

/* Raises the pending error, or returns nil and the error object. */
static int io_raise_or_return(lua_State *L, bool softly) {
  const bool short_of_memory = bind_ctx(L)->error.status == DAMO_EMEMORY && bind_get(L)->gc.trying;
  if (!softly || short_of_memory) return bind_error(L); /* lets bind_again run it a second time */
  lua_pushnil(L);
  bind_push_error(L);
  return 2;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static const char io_npz_key = 'z';

static int io_npz_gc(lua_State *L) {
  npz_clear(lua_touserdata(L, 1));
  return 0;
}

/* Pushes an empty npz that Lua's collector clears. */
static npz *io_push_npz(lua_State *L) {
  npz *z = lua_newuserdatauv(L, sizeof *z, 0);
  *z = (npz){.ctx = bind_ctx(L)};
  bind_set_gc(L, io_npz_gc, &io_npz_key);
  return z;
}

static int io_push_sparse(lua_State *L, const char *path, const npz *z, bool softly) {
  damo_sparse *m = io_sparse_of_npz(path, z);
  if (!m) return io_raise_or_return(L, softly);
  bind_push_made(L, m);
  bind_gc_pressure(L);
  return 1;
}

static int io_load_npz(lua_State *L, const char *path, uint64_t max_bytes, bool softly) {
  damo_ctx *ctx = bind_ctx(L);
  npz *z = io_push_npz(L);
  damo_status s = io_read_npz(ctx, path, max_bytes, z);
  if (s != DAMO_OK) return io_raise_or_return(L, softly);
  if (io_npz_is_sparse(z)) return io_push_sparse(L, path, z, softly);
  lua_newtable(L);
  for (int64_t i = 0; i < z->n; i++) {
    bind_push_value(L, damo_retain(z->at[i].array));
    lua_setfield(L, -2, z->at[i].name);
  }
  return 1;
}

static int io_load_npy(lua_State *L, const char *path, bool softly) {
  damo_ctx *ctx = bind_ctx(L);
  damo_array *a = io_read_npy(ctx, path);
  if (!a) return io_raise_or_return(L, softly);
  bind_push_value(L, &a->obj);
  return 1;
}

/* The option max_bytes; 0, the default limit, if absent. */
static uint64_t io_option_max_bytes(lua_State *L, int options) {
  scalar s = {.v.i = 0};
  if (!bind_option(L, options, "max_bytes")) return 0;
  const bool number = lua_type(L, -1) == LUA_TNUMBER;
  if (!number || !bind_to_scalar(L, -1, DAMO_INT64, &s) || s.v.i < 1) {
    bind_raise(L, number ? DAMO_EVALUE : DAMO_ETYPE, "load: option 'max_bytes' must be an integer from 1 on, got %s",
               number ? bind_number_text(L, -1) : bind_typename(L, -1));
  }
  lua_pop(L, 1);
  return (uint64_t)s.v.i;
}

/* load(path, {max_bytes=, on_fail=}): the Array of a .npy; for a .npz a table name → Array, or the sparse matrix that
 * it holds. */
static int io_call_load(lua_State *L) {
  static const char *const names[] = {"max_bytes", "on_fail", NULL};
  lua_settop(L, 2);
  const char *path = io_check_path(L, "load");
  bind_check_options(L, "load", 2, names);
  const uint64_t max_bytes = io_option_max_bytes(L, 2);
  bool softly = io_fails_softly(L, 2, "load");
  return io_check_file_kind(L, path, "load") == IO_FILE_NPY ? io_load_npy(L, path, softly)
                                                            : io_load_npz(L, path, max_bytes, softly);
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

static int io_done(lua_State *L, damo_status status, bool softly) {
  if (status != DAMO_OK) return io_raise_or_return(L, softly);
  lua_pushboolean(L, 1);
  return 1;
}

static int64_t io_count_names(lua_State *L, int table) {
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      bind_raise(L, DAMO_ETYPE, "save: an .npz takes a table of names, got a %s among its keys", luaL_typename(L, -2));
    }
    n++;
  }
  return n;
}

/* Pushes a userdata with the keys of the table, sorted; the table keeps the strings alive. */
static const char **io_push_names(lua_State *L, int table, int64_t n) {
  const char **names = bind_alloc(L, (size_t)n, sizeof *names);
  int64_t i = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) names[i++] = bind_text(L, -2, "save");
  bind_sort_names(names, (size_t)n);
  return names;
}

static int io_save_npz(lua_State *L, const char *path, bool softly) {
  const damo_sparse *m = bind_to_sparse(L, 2);
  if (m) return io_done(L, io_write_sparse_npz(path, m), softly);
  if (!lua_istable(L, 2)) {
    return bind_arg_error(L, "save", 2, "values", "a table of names, or a sparse matrix, for an .npz");
  }
  bind_own_table(L, 2);
  int64_t n = io_count_names(L, 2);
  const char **names = io_push_names(L, 2, n);
  damo_array **arrays = bind_alloc(L, (size_t)n, sizeof *arrays);
  lua_createtable(L, (int)n, 0); /* keeps the Arrays alive */
  for (int64_t i = 0; i < n; i++) {
    lua_getfield(L, 2, names[i]);
    arrays[i] = bind_value_array(L, -1, -1, names[i]);
    lua_rawseti(L, -3, (int)i + 1);
    lua_pop(L, 1);
  }
  return io_done(L, io_write_npz(bind_ctx(L), path, names, arrays, n), softly);
}

static int io_save_npy(lua_State *L, const char *path, bool softly) {
  if (lua_isnoneornil(L, 2)) return bind_arg_error(L, "save", 2, "value", "an Array, a number, a boolean or a table");
  if (bind_to_sparse(L, 2)) return bind_arg_error(L, "save", 2, "value", "dense for a .npy; an .npz holds it");
  return io_done(L, io_write_npy(path, bind_value_array(L, 2, -1, "save")), softly);
}

/* save(path, value, {on_fail=}): returns true. A .npz takes a table name → value, or a sparse matrix. */
static int io_call_save(lua_State *L) {
  static const char *const names[] = {"on_fail", NULL};
  lua_settop(L, 3);
  const char *path = io_check_path(L, "save");
  bind_check_options(L, "save", 3, names);
  bool softly = io_fails_softly(L, 3, "save");
  return io_check_file_kind(L, path, "save") == IO_FILE_NPY ? io_save_npy(L, path, softly)
                                                            : io_save_npz(L, path, softly);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static char io_option_delimiter(lua_State *L, int options) {
  const char *text = bind_option_str(L, options, "delimiter", "read_csv");
  if (!text) return 0;
  if (strlen(text) != 1) bind_raise(L, DAMO_EVALUE, "read_csv: delimiter must be one character, got '%s'", text);
  return text[0];
}

static csv_options io_read_csv_options(lua_State *L, int idx) {
  static const char *const names[] = {"delimiter", "skip", "dtype", "text_as_nan", "on_fail", NULL};
  csv_options o = {.skip = -1, .dtype = bind_ctx(L)->config.floatX};
  bind_check_options(L, "read_csv", idx, names);
  o.delimiter = io_option_delimiter(L, idx);
  o.text_as_nan = bind_option_bool(L, idx, "text_as_nan", false, "read_csv");
  if (bind_option(L, idx, "dtype")) o.dtype = bind_check_dtype(L, -1, "read_csv");
  if (bind_option(L, idx, "skip")) {
    scalar s;
    if (!bind_to_scalar(L, -1, DAMO_INT64, &s) || s.v.i < 0) {
      bind_raise(L, DAMO_EVALUE, "read_csv: skip must be a count of lines");
    }
    o.skip = s.v.i;
  }
  return o;
}

/* Pushes the cells of the header line as a list. */
static void io_push_header(lua_State *L, char *take_header) {
  BIND_HEIGHT(L);
  strbuf *b = bind_push_strbuf(L);
  strbuf_add(b, take_header);
  mem_strfree(b->ctx, take_header);
  bind_check(L, b->failed ? DAMO_EMEMORY : DAMO_OK);
  lua_newtable(L);
  const char *p = b->at ? b->at : "";
  for (int i = 1;; i++) {
    size_t n = strcspn(p, "\n");
    lua_pushlstring(L, p, n);
    lua_rawseti(L, -2, i);
    if (!p[n]) break;
    p += n + 1;
  }
  lua_remove(L, -2);
  BIND_LEAVES(L, 1);
}

/* read_csv(path, options): returns the matrix, and the list of the header's cells if there is a header. */
static int io_call_read_csv(lua_State *L) {
  lua_settop(L, 2);
  const char *path = io_check_path(L, "read_csv");
  damo_ctx *ctx = bind_ctx(L);
  csv_options options = io_read_csv_options(L, 2);
  bool softly = io_fails_softly(L, 2, "read_csv");
  char *header = NULL;
  damo_array *a = io_read_csv(ctx, path, &options, &header);
  if (!a) return io_raise_or_return(L, softly);
  int ticket = bind_hold(bind_get(L), a);
  if (header) {
    io_push_header(L, header);
  } else {
    lua_pushnil(L);
  }
  bind_let_go(bind_get(L), ticket);
  bind_push(L, a);
  lua_insert(L, -2);
  return 2;
}

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

/* read_mtx(path, {format=, on_fail=}): the sparse matrix of a coordinate file, or the Array of an array file. */
static int io_call_read_mtx(lua_State *L) {
  static const char *const names[] = {"format", "on_fail", NULL}, *const formats[] = {"csr", "csc", NULL};
  lua_settop(L, 2);
  const char *path = io_check_path(L, "read_mtx");
  bind_check_options(L, "read_mtx", 2, names);
  damo_format format = bind_option_enum(L, 2, "format", formats, 0, "read_mtx") == 1 ? DAMO_CSC : DAMO_CSR;
  bool softly = io_fails_softly(L, 2, "read_mtx");
  damo_obj *value = io_read_mtx(bind_ctx(L), path, format);
  if (!value) return io_raise_or_return(L, softly);
  bind_push_made(L, value);
  bind_gc_pressure(L);
  return 1;
}

/* write_mtx(path, value, {comment=, pattern=, symmetry=, on_fail=}): returns true. */
static int io_call_write_mtx(lua_State *L) {
  static const char *const names[] = {"comment", "pattern", "symmetry", "on_fail", NULL};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
  lua_settop(L, 3);
  const char *path = io_check_path(L, "write_mtx");
  if (lua_isnil(L, 2)) return bind_arg_error(L, "write_mtx", 2, "value", "a sparse matrix, an Array or a table");
  bind_check_options(L, "write_mtx", 3, names);
  mtx_options o = {.comment = bind_option_str(L, 3, "comment", "write_mtx"),
                   .pattern = bind_option_bool(L, 3, "pattern", false, "write_mtx"),
                   .symmetry = (mtx_symmetry)bind_option_enum(L, 3, "symmetry", symmetries, 0, "write_mtx")};
  bool softly = io_fails_softly(L, 3, "write_mtx");
  damo_sparse *m = bind_to_sparse(L, 2);
  if (m) return io_done(L, io_write_mtx(path, &m->obj, &o), softly);
  return io_done(L, io_write_mtx(path, &bind_value_array(L, 2, -1, "write_mtx")->obj, &o), softly);
}

void bind_open_io(lua_State *L) {
  static const luaL_Reg functions[] = {{"load", io_call_load},           {"save", io_call_save},
                                       {"read_csv", io_call_read_csv},   {"read_mtx", io_call_read_mtx},
                                       {"write_mtx", io_call_write_mtx}, {NULL, NULL}};
  lua_newtable(L);
  bind_setfuncs(L, functions);
  lua_setfield(L, -2, "io");
}
