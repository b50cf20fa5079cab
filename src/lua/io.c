/* io: damo.io: files of Arrays and sparse matrices. load and save choose .npy or .npz by the path's extension; read_csv
 * and write_csv are for tables of numbers, read_mtx and write_mtx for Matrix Market files. parse and format read and
 * write the same formats in memory. With {on_fail="return"}, what cannot be read or written gives nil and the error
 * object. */
#include "binding_int.h"
#include "io/io.h"

static const char *const IO_FAIL_MODES[] = {"raise", "return", NULL};

static bool io_path_ends_with(const char *s, const char *tail) {
  size_t n = strlen(s), m = strlen(tail);
  return n >= m && strcmp(s + n - m, tail) == 0;
}

static const char *io_check_path(lua_State *L, const char *func) {
  if (lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, func, 1, "path", "a string");
  bind_gate(L, GATE_FILE, func);
  return bind_text(L, 1, func);
}

static io_format io_check_ending(lua_State *L, const char *path, const char *func) {
  if (io_path_ends_with(path, ".npy")) return IO_NPY;
  if (io_path_ends_with(path, ".npz")) return IO_NPZ;
  if (io_path_ends_with(path, ".safetensors")) return IO_SAFETENSORS;
  if (io_path_ends_with(path, ".png")) return IO_PNG;
  if (io_path_ends_with(path, ".ppm") || io_path_ends_with(path, ".pgm") || io_path_ends_with(path, ".pnm"))
    return IO_PPM;
  const char *hint = !io_path_ends_with(path, ".mtx") ? ""
                     : *func == 'l'                   ? ": read_mtx reads it"
                                                      : ": write_mtx writes it";
  bind_raise(L, DAMO_EVALUE, "%s: '%s' ends in none of .npy, .npz, .safetensors, .png, .ppm%s", func, path, hint);
  return IO_NPY;
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

static void io_push_members(lua_State *L, const npz *z) {
  lua_newtable(L);
  for (int64_t i = 0; i < z->n; i++) {
    bind_push_value(L, damo_retain(z->at[i].array));
    lua_setfield(L, -2, z->at[i].name);
  }
}

static int io_load_npz(lua_State *L, const io_from *from, uint64_t max_bytes, bool softly) {
  damo_ctx *ctx = bind_ctx(L);
  npz *z = io_push_npz(L);
  damo_status s = io_read_npz(ctx, from, max_bytes, z);
  if (s != DAMO_OK) return io_raise_or_return(L, softly);
  if (io_npz_is_sparse(z)) return io_push_sparse(L, from->path, z, softly);
  io_push_members(L, z);
  return 1;
}

/* Two results: the arrays and the metadata. */
static int io_load_safetensors(lua_State *L, const io_from *from, bool softly) {
  npz *z = io_push_npz(L);
  if (io_read_safetensors(bind_ctx(L), from, z) != DAMO_OK) return io_raise_or_return(L, softly);
  io_push_members(L, z);
  lua_newtable(L);
  for (int64_t i = 0; i < z->n_metadata; i++) {
    lua_pushstring(L, z->metadata[i].value);
    lua_setfield(L, -2, z->metadata[i].key);
  }
  return 2;
}

/* Takes the array; NULL: the pending error is the result. */
static int io_give_array(lua_State *L, damo_array *take, bool softly) {
  if (!take) return io_raise_or_return(L, softly);
  bind_push_value(L, &take->obj);
  return 1;
}

static int io_load_image(lua_State *L, const io_from *from, io_format format, uint64_t max_bytes, bool softly) {
  damo_ctx *ctx = bind_ctx(L);
  return io_give_array(L, format == IO_PNG ? io_read_png(ctx, from, max_bytes) : io_read_pnm(ctx, from, max_bytes),
                       softly);
}

static int io_load_npy(lua_State *L, const io_from *from, bool softly) {
  return io_give_array(L, io_read_npy(bind_ctx(L), from), softly);
}

/* The option max_bytes; 0, the default limit, if absent. */
static uint64_t io_option_max_bytes(lua_State *L, int options, const char *func) {
  scalar s = {.v.i = 0};
  if (!bind_option(L, options, "max_bytes")) return 0;
  const bool number = lua_type(L, -1) == LUA_TNUMBER;
  if (!number || !bind_to_scalar(L, -1, DAMO_INT64, &s) || s.v.i < 1) {
    bind_raise(L, number ? DAMO_EVALUE : DAMO_ETYPE, "%s: option 'max_bytes' must be an integer from 1 on, got %s",
               func, number ? bind_number_text(L, -1) : bind_typename(L, -1));
  }
  lua_pop(L, 1);
  return (uint64_t)s.v.i;
}

/* load(path, {max_bytes=, on_fail=}): the Array of a .npy; for a .npz a table name → Array, or the sparse matrix that
 * it holds. */
static int io_call_load(lua_State *L) {
  static const char *const names[] = {"max_bytes", "mmap", "on_fail", NULL};
  lua_settop(L, 2);
  const char *path = io_check_path(L, "load");
  bind_check_options(L, "load", 2, names);
  const uint64_t max_bytes = io_option_max_bytes(L, 2, "load");
  bool softly = io_fails_softly(L, 2, "load");
  const io_format format = io_check_ending(L, path, "load");
  if (bind_option_bool(L, 2, "mmap", false, "load")) {
    if (format != IO_NPY) bind_raise(L, DAMO_EVALUE, "load: option 'mmap' is for .npy");
    return io_give_array(L, io_map_npy(bind_ctx(L), path), softly);
  }
  if (format == IO_PNG || format == IO_PPM) return io_load_image(L, IO_FROM_FILE(path), format, max_bytes, softly);
  return format == IO_NPY           ? io_load_npy(L, IO_FROM_FILE(path), softly)
         : format == IO_SAFETENSORS ? io_load_safetensors(L, IO_FROM_FILE(path), softly)
                                    : io_load_npz(L, IO_FROM_FILE(path), max_bytes, softly);
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

/* Where a value goes: the file at a path, or a text that is pushed as a string. */
typedef struct io_out {
  io_to to;
  const char *func;
  bool softly;
} io_out;

static io_out io_out_file(const char *path, const char *func, bool softly) {
  return (io_out){.to = {.path = path}, .func = func, .softly = softly};
}

static int io_done(lua_State *L, const io_out *out, damo_status status) {
  if (status != DAMO_OK) return io_raise_or_return(L, out->softly);
  if (out->to.text)
    lua_pushlstring(L, out->to.text->at ? out->to.text->at : "", out->to.text->n);
  else
    lua_pushboolean(L, 1);
  return 1;
}

static int64_t io_count_names(lua_State *L, int table, const char *func) {
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      bind_raise(L, DAMO_ETYPE, "%s: an archive takes a table of names, got a %s among its keys", func,
                 luaL_typename(L, -2));
    }
    n++;
  }
  return n;
}

/* Pushes a userdata with the keys of the table, sorted; the table keeps the strings alive. */
static const char **io_push_names(lua_State *L, int table, int64_t n, const char *func) {
  const char **names = bind_alloc(L, (size_t)n, sizeof *names);
  int64_t i = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) names[i++] = bind_text(L, -2, func);
  bind_sort_names(names, (size_t)n);
  return names;
}

/* The functions below write the value at idx. */

/* Pushes what keeps names and Arrays of the table at idx alive. Returns how many there are. */
static int64_t io_push_table(lua_State *L, int idx, const char *func, const char ***out_names,
                             damo_array ***out_arrays) {
  bind_own_table(L, idx);
  int64_t n = io_count_names(L, idx, func);
  const char **names = io_push_names(L, idx, n, func);
  damo_array **arrays = bind_alloc(L, (size_t)n, sizeof *arrays);
  lua_createtable(L, (int)n, 0); /* keeps the Arrays alive */
  for (int64_t i = 0; i < n; i++) {
    lua_getfield(L, idx, names[i]);
    arrays[i] = bind_value_array(L, -1, -1, names[i]);
    lua_rawseti(L, -3, (int)i + 1);
    lua_pop(L, 1);
  }
  *out_names = names;
  *out_arrays = arrays;
  return n;
}

static int io_save_npz(lua_State *L, int idx, const io_out *out) {
  const char **names;
  damo_array **arrays;
  const damo_sparse *m = bind_to_sparse(L, idx);
  if (m) return io_done(L, out, io_write_sparse_npz(&out->to, m));
  if (!lua_istable(L, idx)) {
    return bind_arg_error(L, out->func, idx, "values", "a table of names, or a sparse matrix, for an .npz");
  }
  const int64_t n = io_push_table(L, idx, out->func, &names, &arrays);
  return io_done(L, out, io_write_npz(bind_ctx(L), &out->to, names, arrays, n));
}

/* The option metadata as pairs of texts, sorted by key; pushes what keeps them alive. */
static int64_t io_option_metadata(lua_State *L, int options, const char *func, npz_text **out) {
  *out = NULL;
  if (!bind_option(L, options, "metadata")) return 0;
  if (!lua_istable(L, -1)) bind_raise(L, DAMO_ETYPE, "%s: option 'metadata' must be a table of texts", func);
  const int table = lua_gettop(L);
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1), n++) {
    if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
      bind_raise(L, DAMO_ETYPE, "%s: option 'metadata' must be a table of texts, got a %s under a %s", func,
                 luaL_typename(L, -1), luaL_typename(L, -2));
  }
  const char **keys = io_push_names(L, table, n, func);
  npz_text *texts = bind_alloc(L, (size_t)n, sizeof *texts);
  for (int64_t i = 0; i < n; i++) {
    lua_getfield(L, table, keys[i]);
    texts[i] = (npz_text){(char *)(uintptr_t)keys[i], (char *)(uintptr_t)bind_text(L, -1, func)};
    lua_pop(L, 1);
  }
  *out = texts;
  return n;
}

static int io_save_safetensors(lua_State *L, int idx, int options, const io_out *out) {
  const char **names;
  damo_array **arrays;
  npz_text *metadata;
  if (!lua_istable(L, idx)) return bind_arg_error(L, out->func, idx, "values", "a table of names for safetensors");
  const int64_t n = io_push_table(L, idx, out->func, &names, &arrays),
                n_metadata = io_option_metadata(L, options, out->func, &metadata);
  return io_done(L, out, io_write_safetensors(bind_ctx(L), &out->to, names, arrays, n, metadata, n_metadata));
}

static bool io_option_compressed(lua_State *L, int options, int format, const char *func) {
  const bool is = bind_option_bool(L, options, "compressed", false, func);
  if (is && format != IO_NPZ) bind_raise(L, DAMO_EVALUE, "%s: option 'compressed' is for .npz", func);
  return is;
}

static int io_save_npy(lua_State *L, int idx, const io_out *out) {
  if (lua_isnoneornil(L, idx))
    return bind_arg_error(L, out->func, idx, "value", "an Array, a number, a boolean or a table");
  if (bind_to_sparse(L, idx)) return bind_arg_error(L, out->func, idx, "value", "dense for a .npy; an .npz holds it");
  return io_done(L, out, io_write_npy(&out->to, bind_value_array(L, idx, -1, out->func)));
}

static int io_save_image(lua_State *L, int idx, io_format format, const io_out *out) {
  if (lua_isnoneornil(L, idx) || bind_to_sparse(L, idx))
    return bind_arg_error(L, out->func, idx, "value", "an Array of uint8 or uint16 for an image");
  const damo_array *a = bind_value_array(L, idx, -1, out->func);
  return io_done(L, out, format == IO_PNG ? io_write_png(&out->to, a) : io_write_pnm(&out->to, a));
}

/* save(path, value, {metadata=, compressed=, on_fail=}): returns true. A .npz takes a table name → value, or a sparse matrix, a
 * .safetensors the table. */
static int io_call_save(lua_State *L) {
  static const char *const names[] = {"metadata", "compressed", "on_fail", NULL};
  lua_settop(L, 3);
  const char *path = io_check_path(L, "save");
  bind_check_options(L, "save", 3, names);
  io_out out = io_out_file(path, "save", io_fails_softly(L, 3, "save"));
  const io_format format = io_check_ending(L, path, "save");
  out.to.compressed = io_option_compressed(L, 3, format, "save");
  if (format == IO_SAFETENSORS) return io_save_safetensors(L, 2, 3, &out);
  if (bind_option(L, 3, "metadata")) bind_raise(L, DAMO_EVALUE, "save: option 'metadata' is for .safetensors");
  if (format == IO_PNG || format == IO_PPM) return io_save_image(L, 2, format, &out);
  return format == IO_NPY ? io_save_npy(L, 2, &out) : io_save_npz(L, 2, &out);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static char io_option_delimiter(lua_State *L, int options, const char *func) {
  const char *text = bind_option_str(L, options, "delimiter", func);
  if (!text) return 0;
  if (strlen(text) != 1) bind_raise(L, DAMO_EVALUE, "%s: delimiter must be one character, got '%s'", func, text);
  return text[0];
}

/* Pushes the texts of the list at the top, numbers among them as Lua writes them, and what holds them. */
static const char **io_push_texts(lua_State *L, const char *func, const char *option, int64_t *n) {
  const int list = lua_gettop(L);
  if (!lua_istable(L, list))
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be a list of strings, as {\"NA\"}, got a %s", func, option,
               luaL_typename(L, list));
  bind_own_table(L, list);
  *n = (int64_t)lua_rawlen(L, list);
  const char **texts = bind_alloc(L, (size_t)*n + 1, sizeof *texts);
  for (int64_t i = 0; i < *n; i++) {
    lua_rawgeti(L, list, (int)i + 1);
    if (lua_type(L, -1) == LUA_TNUMBER) {
      bind_number_text(L, -1); /* the list keeps the text */
      lua_remove(L, -2);
      lua_pushvalue(L, -1);
      lua_rawseti(L, list, (int)i + 1);
    } else if (lua_type(L, -1) != LUA_TSTRING) {
      bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be a list of strings, got a %s in it", func, option,
                 luaL_typename(L, -1));
    }
    texts[i] = bind_text(L, -1, func);
    lua_pop(L, 1);
  }
  return texts;
}

/* What the option lists stays on the stack. */
static csv_options io_option_csv(lua_State *L, int idx, const char *func) {
  csv_options o = {.skip = -1, .dtype = bind_ctx(L)->config.floatX};
  o.delimiter = io_option_delimiter(L, idx, func);
  o.text_as_nan = bind_option_bool(L, idx, "text_as_nan", false, func);
  if (bind_option(L, idx, "dtype")) o.dtype = bind_check_dtype(L, -1, func);
  if (bind_option(L, idx, "skip")) {
    scalar s;
    if (!bind_to_scalar(L, -1, DAMO_INT64, &s) || s.v.i < 0) {
      bind_raise(L, DAMO_EVALUE, "%s: skip must be a count of lines", func);
    }
    o.skip = s.v.i;
  }
  if (bind_option(L, idx, "missing")) { o.missing = io_push_texts(L, func, "missing", &o.n_missing); }
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

static int io_load_csv(lua_State *L, const io_from *from, const csv_options *options, bool softly) {
  char *header = NULL;
  damo_array *a = io_read_csv(bind_ctx(L), from, options, &header);
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

/* ---- CSV by columns ---------------------------------------------------------------------------------------------- */

static const char io_csv_key = 'c';

static int io_csv_gc(lua_State *L) {
  csv_table_clear(lua_touserdata(L, 1));
  return 0;
}

static void io_push_column(lua_State *L, csv_column *c, int64_t rows) {
  if (c->numbers) {
    damo_array *a = c->numbers;
    c->numbers = NULL;
    bind_push(L, a);
    return;
  }
  size_t from = 0;
  lua_createtable(L, (int)(rows < INT32_MAX ? rows : 0), 0);
  for (int64_t i = 0; i < rows; i++) {
    lua_pushlstring(L, c->texts ? c->texts + from : "", c->ends[i] - from);
    lua_rawseti(L, -2, (int)i + 1);
    from = c->ends[i];
  }
}

/* Returns the table: names in order at its positions, and each name's column. */
static int io_load_columns(lua_State *L, const io_from *from, const csv_options *options, int idx, const char *func,
                           bool softly) {
  const char **names = NULL;
  int64_t n_names = 0;
  luaL_checkstack(L, 20, func);
  bind_option(L, idx, "columns");
  if (!lua_isboolean(L, -1)) names = io_push_texts(L, func, "columns", &n_names);
  csv_table *t = lua_newuserdatauv(L, sizeof *t, 0);
  *t = (csv_table){.ctx = bind_ctx(L)};
  bind_set_gc(L, io_csv_gc, &io_csv_key);
  if (io_read_csv_table(bind_ctx(L), from, options, names, n_names, t) != DAMO_OK) return io_raise_or_return(L, softly);
  lua_createtable(L, (int)t->n, (int)t->n);
  for (int64_t i = 0; i < t->n; i++) {
    lua_pushstring(L, t->column[i].name);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (int)i + 1);
    io_push_column(L, &t->column[i], t->rows);
    lua_rawset(L, -3);
  }
  return 1;
}

static bool io_wants_columns(lua_State *L, int idx) {
  const bool given = bind_option(L, idx, "columns");
  const bool wants = given && (!lua_isboolean(L, -1) || lua_toboolean(L, -1));
  if (given) lua_pop(L, 1);
  return wants;
}

static int io_load_csv_as(lua_State *L, const io_from *from, const csv_options *options, int idx, const char *func,
                          bool softly) {
  if (io_wants_columns(L, idx)) return io_load_columns(L, from, options, idx, func, softly);
  return io_load_csv(L, from, options, softly);
}

/* read_csv(path, options): returns the matrix, and the list of the header's cells if there is a header. */
static int io_call_read_csv(lua_State *L) {
  static const char *const names[] = {"delimiter", "skip",    "dtype",   "text_as_nan",
                                      "missing",   "columns", "on_fail", NULL};
  lua_settop(L, 2);
  const char *path = io_check_path(L, "read_csv");
  bind_check_options(L, "read_csv", 2, names);
  csv_options options = io_option_csv(L, 2, "read_csv");
  return io_load_csv_as(L, IO_FROM_FILE(path), &options, 2, "read_csv", io_fails_softly(L, 2, "read_csv"));
}

/* Pushes what keeps the names alive, and sets the header. */
static void io_option_header(lua_State *L, int options, const char *func, csv_write_options *o) {
  if (!bind_option(L, options, "header")) return;
  if (!lua_istable(L, -1)) bind_raise(L, DAMO_ETYPE, "%s: option 'header' must be a list of names", func);
  const int list = lua_gettop(L);
  o->n_header = (int64_t)lua_rawlen(L, list);
  const char **names = bind_alloc(L, (size_t)o->n_header, sizeof *names);
  for (int64_t i = 0; i < o->n_header; i++) {
    lua_rawgeti(L, list, (int)i + 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      bind_raise(L, DAMO_ETYPE, "%s: option 'header' must be a list of names, got a %s in it", func,
                 luaL_typename(L, -1));
    names[i] = bind_text(L, -1, func);
    lua_pop(L, 1);
  }
  o->header = names;
}

static int io_save_csv(lua_State *L, int idx, int options, const io_out *out) {
  if (bind_to_sparse(L, idx)) return bind_arg_error(L, out->func, idx, "value", "dense for a CSV");
  csv_write_options o = {.delimiter = io_option_delimiter(L, options, out->func)};
  io_option_header(L, options, out->func, &o);
  return io_done(L, out, io_write_csv(&out->to, bind_value_array(L, idx, -1, out->func), &o));
}

/* write_csv(path, value, {header=, delimiter=, on_fail=}): returns true. */
static int io_call_write_csv(lua_State *L) {
  static const char *const names[] = {"header", "delimiter", "on_fail", NULL};
  lua_settop(L, 3);
  const char *path = io_check_path(L, "write_csv");
  if (lua_isnil(L, 2)) return bind_arg_error(L, "write_csv", 2, "value", "an Array or a table");
  bind_check_options(L, "write_csv", 3, names);
  const io_out out = io_out_file(path, "write_csv", io_fails_softly(L, 3, "write_csv"));
  return io_save_csv(L, 2, 3, &out);
}

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

static int io_load_mtx(lua_State *L, const io_from *from, damo_format format, bool softly) {
  damo_obj *value = io_read_mtx(bind_ctx(L), from, format);
  if (!value) return io_raise_or_return(L, softly);
  bind_push_made(L, value);
  bind_gc_pressure(L);
  return 1;
}

/* read_mtx(path, {format=, on_fail=}): the sparse matrix of a coordinate file, or the Array of an array file. */
static int io_call_read_mtx(lua_State *L) {
  static const char *const names[] = {"format", "on_fail", NULL}, *const formats[] = {"csr", "csc", NULL};
  lua_settop(L, 2);
  const char *path = io_check_path(L, "read_mtx");
  bind_check_options(L, "read_mtx", 2, names);
  damo_format format = bind_option_enum(L, 2, "format", formats, 0, "read_mtx") == 1 ? DAMO_CSC : DAMO_CSR;
  return io_load_mtx(L, IO_FROM_FILE(path), format, io_fails_softly(L, 2, "read_mtx"));
}

static int io_save_mtx(lua_State *L, int idx, int options, const io_out *out) {
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
  mtx_options o = {.comment = bind_option_str(L, options, "comment", out->func),
                   .pattern = bind_option_bool(L, options, "pattern", false, out->func),
                   .symmetry = (mtx_symmetry)bind_option_enum(L, options, "symmetry", symmetries, 0, out->func)};
  damo_sparse *m = bind_to_sparse(L, idx);
  if (m) return io_done(L, out, io_write_mtx(&out->to, &m->obj, &o));
  return io_done(L, out, io_write_mtx(&out->to, &bind_value_array(L, idx, -1, out->func)->obj, &o));
}

/* write_mtx(path, value, {comment=, pattern=, symmetry=, on_fail=}): returns true. */
static int io_call_write_mtx(lua_State *L) {
  static const char *const names[] = {"comment", "pattern", "symmetry", "on_fail", NULL};
  lua_settop(L, 3);
  const char *path = io_check_path(L, "write_mtx");
  if (lua_isnil(L, 2)) return bind_arg_error(L, "write_mtx", 2, "value", "a sparse matrix, an Array or a table");
  bind_check_options(L, "write_mtx", 3, names);
  const io_out out = io_out_file(path, "write_mtx", io_fails_softly(L, 3, "write_mtx"));
  return io_save_mtx(L, 2, 3, &out);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static const char *const IO_FORMATS[] = {
    [IO_NPY] = "npy",     [IO_NPZ] = "npz", [IO_MTX] = "mtx", [IO_CSV] = "csv",   [IO_SAFETENSORS] = "safetensors",
    [IO_GRAPH] = "graph", [IO_PNG] = "png", [IO_PPM] = "ppm", [IO_UNKNOWN] = NULL};
#define IO_BYTES_NAME "bytes" /* stands for the path in messages */

/* parse(bytes, {format=, and the reader's options}): what load, read_csv and read_mtx give of a file of these bytes. */
static int io_call_parse(lua_State *L) {
  static const char *const names[] = {"format",  "max_bytes", "delimiter", "skip",    "dtype", "text_as_nan",
                                      "on_fail", "ops",       "missing",   "columns", NULL};
  io_from from = {.path = IO_BYTES_NAME};
  lua_settop(L, 2);
  if (lua_type(L, 1) != LUA_TSTRING) return bind_arg_error(L, "parse", 1, "bytes", "a string");
  from.bytes = lua_tolstring(L, 1, &from.n);
  bind_check_options(L, "parse", 2, names);
  const bool softly = io_fails_softly(L, 2, "parse");
  switch (bind_option_enum(L, 2, "format", IO_FORMATS, io_recognise(from.bytes, from.n), "parse")) {
    case IO_NPY: return io_load_npy(L, &from, softly);
    case IO_NPZ: return io_load_npz(L, &from, io_option_max_bytes(L, 2, "parse"), softly);
    case IO_PNG: return io_load_image(L, &from, IO_PNG, io_option_max_bytes(L, 2, "parse"), softly);
    case IO_PPM: return io_load_image(L, &from, IO_PPM, io_option_max_bytes(L, 2, "parse"), softly);
    case IO_MTX: return io_load_mtx(L, &from, DAMO_CSR, softly);
    case IO_SAFETENSORS: return io_load_safetensors(L, &from, softly);
    case IO_GRAPH: return bind_read_graph(L, 2, "parse", &from) ? 1 : io_raise_or_return(L, softly);
    case IO_CSV: {
      csv_options options = io_option_csv(L, 2, "parse");
      return io_load_csv_as(L, &from, &options, 2, "parse", softly);
    }
    default: break;
  }
  return bind_raise(L, DAMO_EVALUE, "parse: the bytes do not tell their format: the option 'format' says it");
}

/* format(value, {format=, and the writer's options}): the bytes that save, write_csv and write_mtx write, as a
 * string. */
static int io_call_format(lua_State *L) {
  static const char *const names[] = {"format",   "header",  "delimiter", "comment",    "pattern", "symmetry",
                                      "metadata", "on_fail", "lines",     "compressed", NULL};
  lua_settop(L, 2);
  if (lua_isnil(L, 1)) return bind_arg_error(L, "format", 1, "value", "an Array, a sparse matrix or a table");
  bind_check_options(L, "format", 2, names);
  const int format = bind_option_enum(L, 2, "format", IO_FORMATS, IO_UNKNOWN, "format");
  if (format == IO_UNKNOWN) return bind_raise(L, DAMO_EVALUE, "format: the option 'format' must say which");
  const bool compressed = io_option_compressed(L, 2, format, "format");
  const io_out out = {.to = {.path = IO_BYTES_NAME, .text = bind_push_strbuf(L), .compressed = compressed},
                      .func = "format",
                      .softly = io_fails_softly(L, 2, "format")};
  switch (format) {
    case IO_NPY: return io_save_npy(L, 1, &out);
    case IO_NPZ: return io_save_npz(L, 1, &out);
    case IO_MTX: return io_save_mtx(L, 1, 2, &out);
    case IO_PNG:
    case IO_PPM: return io_save_image(L, 1, (io_format)format, &out);
    case IO_SAFETENSORS: return io_save_safetensors(L, 1, 2, &out);
    case IO_GRAPH: {
      damo_status status;
      bind_write_graph(L, 1, 2, "format", &out.to, &status);
      return io_done(L, &out, status);
    }
    default: return io_save_csv(L, 1, 2, &out);
  }
}

void bind_open_io(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"load", io_call_load},           {"save", io_call_save},         {"read_csv", io_call_read_csv},
      {"write_csv", io_call_write_csv}, {"read_mtx", io_call_read_mtx}, {"write_mtx", io_call_write_mtx},
      {"parse", io_call_parse},         {"format", io_call_format},     {NULL, NULL}};
  lua_newtable(L);
  bind_setfuncs(L, functions);
  lua_setfield(L, -2, "io");
}
