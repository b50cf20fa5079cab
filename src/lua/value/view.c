/* view: damo.view, Arrays over the memory that a source stands for: a light userdata, a cdata of LuaJIT's, or an object
 * with the methods getPointer and getSize.
 *
 * The buffer of such an Array owns a view_source. Its keeper, a Generic object, has the source as its Lua value, and the
 * option `owner` beside it; the userdata of every Array over the buffer keeps the keeper's userdata alive (object.c).
 */
#include <ctype.h>

#include "lua/binding_int.h"

typedef struct view_source {
  damo_ctx *ctx;
  damo_obj *keeper; /* a Generic, one reference */
  char *base;       /* where the source's memory begins */
  int64_t stated;   /* the option `size`, for sources that do not tell theirs; -1: none */
} view_source;

/* The memory of a source: size bytes from base on, -1 where nothing tells how many. */
typedef struct view_memory {
  char *base;
  int64_t size;
} view_memory;

static const char view_ffi_key = 'f';

static void view_release(void *owner) {
  view_source *s = owner;
  damo_ctx *ctx = s->ctx;
  damo_release(s->keeper);
  mem_free(ctx, s, sizeof *s);
}

static view_source *view_source_of(const damo_array *a) {
  return a->buf && a->buf->release == view_release ? a->buf->owner : NULL;
}

damo_obj *bind_view_keeper(const damo_array *a) {
  const view_source *s = view_source_of(a);
  return s ? s->keeper : NULL;
}

/* A number of bytes as text, pushed. */
static const char *view_bytes(lua_State *L, int64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  return lua_tostring(L, -1);
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

static int view_refuse_source(lua_State *L, int idx, const char *func) {
  return bind_raise(L, DAMO_ETYPE,
                    "%s: the source is a light userdata, a pointer or array of LuaJIT's ffi, or an object with the "
                    "methods getPointer and getSize, got %s",
                    func, bind_typename(L, idx));
}

/* slot[0] = source: LuaJIT converts what is a pointer, an array or a struct, and raises for the rest. */
static int view_store(lua_State *L) {
  lua_pushinteger(L, 0);
  lua_insert(L, 2);
  lua_settable(L, 1);
  return 0;
}

/* The fields of the table that view_push_ffi pushes. */
enum view_ffi_field { VIEW_SLOT = 1, VIEW_STORE, VIEW_SIZEOF, VIEW_TYPEOF, VIEW_ISTYPE, VIEW_POINTERS };

/* Pushes {slot, view_store, ffi.sizeof, ffi.typeof, ffi.istype, and from VIEW_POINTERS on the pointer types met}, made
 * once, so that reading an address makes no garbage. The slot is a cdata, one pointer long. */
static void view_push_ffi(lua_State *L, int idx, const char *func) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &view_ffi_key);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_createtable(L, VIEW_POINTERS, 0);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "ffi");
  if (!lua_istable(L, -1)) view_refuse_source(L, idx, func);
  lua_getfield(L, -1, "new");
  lua_pushliteral(L, "const volatile void *[1]");
  lua_call(L, 1, 1);
  lua_rawseti(L, -4, VIEW_SLOT);
  lua_pushcfunction(L, view_store);
  lua_rawseti(L, -4, VIEW_STORE);
  lua_getfield(L, -1, "sizeof");
  lua_rawseti(L, -4, VIEW_SIZEOF);
  lua_getfield(L, -1, "typeof");
  lua_rawseti(L, -4, VIEW_TYPEOF);
  lua_getfield(L, -1, "istype");
  lua_rawseti(L, -4, VIEW_ISTYPE);
  lua_pop(L, 2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &view_ffi_key);
}

/* Whether `type`, as LuaJIT writes it, is a pointer, or a reference to one: "double *", "int (*)()", "double *const &",
 * but not "double (&)[1]" or "struct pair &". */
static bool view_names_pointer(const char *type) {
  const char *end = strchr(type, '&');
  if (!end) return true;
  while (end > type && (end[-1] == ' ' || islower((unsigned char)end[-1]))) end--; /* qualifiers */
  return end > type && end[-1] == '*';
}

/* Whether n characters of a type, as LuaJIT writes it, name a C function or a pointer to one: "int ()", "int (*)()",
 * "int (*const &)()", but not "int (**)()", "int (*[2])()" or "double (*)[1]", which lead to memory. */
static bool view_names_function(const char *type, size_t n) {
  while (n > 0 && (type[n - 1] == ' ' || type[n - 1] == '>')) n--;
  if (n < 2 || memcmp(type + n - 2, "()", 2) != 0) return false;
  n -= 2;
  if (n == 0 || type[n - 1] != ')') return true;
  size_t open = n - 1;
  for (int depth = 1; depth > 0 && open > 0;) {
    open--;
    depth += type[open] == ')' ? 1 : type[open] == '(' ? -1 : 0;
  }
  const char *inner = type + open + 1;
  const size_t length = n - 1 - (open + 1);
  if (view_names_function(inner, length)) return true;
  int stars = 0;
  for (size_t i = 0; i < length; i++) {
    if (inner[i] == '[') return false;
    stars += inner[i] == '*';
  }
  return stars == 1;
}

/* Whether the cdata at idx is a pointer; view_push_ffi's table is at `ffi`, and its size is that of a pointer. A struct or
 * array behind a reference may be of that size too, and the type alone tells them apart. Its text is garbage, so the
 * pointer types that have been met are kept. A type error for a function, which is no memory. */
static bool view_is_pointer(lua_State *L, int idx, int ffi, const char *func) {
  bool is = false;
  const int known = (int)lua_rawlen(L, ffi);
  for (int i = VIEW_POINTERS; i <= known && !is; i++) {
    lua_rawgeti(L, ffi, VIEW_ISTYPE);
    lua_rawgeti(L, ffi, i);
    lua_pushvalue(L, idx);
    lua_call(L, 2, 1);
    is = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  if (is) return true;
  lua_rawgeti(L, ffi, VIEW_TYPEOF);
  lua_pushvalue(L, idx);
  lua_call(L, 1, 1);
  const char *type = luaL_tolstring(L, -1, NULL);
  if (view_names_function(type, strlen(type)))
    bind_raise(L, DAMO_ETYPE, "%s: the source is a C function, %s, and no memory", func, type);
  is = view_names_pointer(type);
  lua_pop(L, 1);
  if (is) {
    lua_rawseti(L, ffi, known + 1);
  } else {
    lua_pop(L, 1);
  }
  return is;
}

/* What `sizeof` of LuaJIT's ffi gives for the cdata at idx: of a reference the size of what it refers to, of a pointer
 * its own; -1 for an array at the end of a struct whose length no type tells. */
static int64_t view_sizeof(lua_State *L, int idx, int ffi) {
  lua_rawgeti(L, ffi, VIEW_SIZEOF);
  lua_pushvalue(L, idx);
  const int64_t size = lua_pcall(L, 1, 1, 0) == LUA_OK ? (int64_t)lua_tonumber(L, -1) : -1;
  lua_pop(L, 1);
  return size;
}

/* The memory of the cdata at idx (absolute). An array or struct lies in the cdata itself; a pointer or a reference in
 * the cdata is the address. */
static view_memory view_of_cdata(lua_State *L, int idx, const char *func) {
  view_memory m = {.size = -1};
  view_push_ffi(L, idx, func);
  const int ffi = lua_gettop(L);
  lua_rawgeti(L, ffi, VIEW_SLOT);
  void *const *slot = lua_topointer(L, -1);
  lua_rawgeti(L, ffi, VIEW_STORE);
  lua_insert(L, -2);
  lua_pushvalue(L, idx);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) view_refuse_source(L, idx, func);
  m.base = *slot;
  m.size = view_sizeof(L, idx, ffi);
  const bool own = m.base == lua_topointer(L, idx);
  const bool named = m.size <= 0 || m.size == (int64_t)sizeof m.base; /* of such sizes are functions and pointers */
  if (!own && named && view_is_pointer(L, idx, ffi, func)) m.size = -1;
  lua_settop(L, ffi - 1);
  return m;
}

/* Pushes the method of the table or userdata at idx; false, and nothing pushed, without one. */
static bool view_push_method(lua_State *L, int idx, const char *name) {
  if (lua_type(L, idx) == LUA_TUSERDATA) {
    if (bind_box_at(L, idx) || !luaL_getmetafield(L, idx, "__index")) return false;
    lua_pop(L, 1);
  }
  lua_getfield(L, idx, name);
  if (bind_is_callable(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

/* Calls the method of the object at idx: one result, pushed. */
static bool view_call_method(lua_State *L, int idx, const char *name) {
  if (!view_push_method(L, idx, name)) return false;
  lua_pushvalue(L, idx);
  lua_call(L, 1, 1);
  return true;
}

/* Reads the pointer at the top of the stack and pops it; false for a value of another type. */
static bool view_pop_pointer(lua_State *L, const char *func, view_memory *m) {
  const int type = lua_type(L, -1);
  if (type == LUA_TLIGHTUSERDATA) m->base = lua_touserdata(L, -1);
  if (type == COMPAT_TCDATA) m->base = view_of_cdata(L, lua_gettop(L), func).base;
  lua_pop(L, 1);
  return type == LUA_TLIGHTUSERDATA || type == COMPAT_TCDATA;
}

static view_memory view_of_object(lua_State *L, int idx, const char *func) {
  view_memory m = {.size = -1};
  bool found = view_call_method(L, idx, "getPointer") && view_pop_pointer(L, func, &m);
  found = found || (view_call_method(L, idx, "getFFIPointer") && view_pop_pointer(L, func, &m));
  if (!found || !view_call_method(L, idx, "getSize")) view_refuse_source(L, idx, func);
  int whole;
  m.size = (int64_t)lua_tointegerx(L, -1, &whole);
  if (lua_type(L, -1) != LUA_TNUMBER || !whole || m.size < 0) {
    bind_raise(L, DAMO_EVALUE, "%s: getSize of the source gave %s, expected a number of bytes", func,
               lua_type(L, -1) == LUA_TNUMBER ? bind_number_text(L, -1) : bind_typename(L, -1));
  }
  lua_pop(L, 1);
  return m;
}

/* The memory of the source at idx (absolute). stated: the option `size`, -1 for none. */
static view_memory view_read_source(lua_State *L, int idx, int64_t stated, const char *func) {
  view_memory m = {.size = -1};
  luaL_checkstack(L, 8, func);
  switch (lua_type(L, idx)) {
    case LUA_TLIGHTUSERDATA: m.base = lua_touserdata(L, idx); break;
    case COMPAT_TCDATA: m = view_of_cdata(L, idx, func); break;
    case LUA_TTABLE:
    case LUA_TUSERDATA: m = view_of_object(L, idx, func); break;
    default: view_refuse_source(L, idx, func);
  }
  if (stated < 0) return m;
  if (m.size >= 0 && stated > m.size) {
    bind_raise(L, DAMO_EINDEX, "%s: size is %s bytes, but the source has %s", func, view_bytes(L, stated),
               view_bytes(L, m.size));
  }
  m.size = stated;
  return m;
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

typedef struct view_layout {
  damo_dtype dtype;
  int ndim;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  bool has_shape, has_strides;
  int64_t offset, size; /* in bytes; size -1: not given */
  bool readonly;
} view_layout;

/* The integer option `name`; `otherwise` without. */
static int64_t view_option_bytes(lua_State *L, const char *name, int64_t otherwise) {
  if (!bind_option(L, 2, name)) return otherwise;
  int whole;
  const int64_t n = (int64_t)lua_tointegerx(L, -1, &whole);
  if (lua_type(L, -1) != LUA_TNUMBER) {
    bind_raise(L, DAMO_ETYPE, "view: %s is a number of bytes, got %s", name, bind_typename(L, -1));
  }
  if (!whole || n < 0) {
    bind_raise(L, DAMO_EVALUE, "view: %s is a number of bytes, 0 or more, got %s", name, bind_number_text(L, -1));
  }
  lua_pop(L, 1);
  return n;
}

static void view_read_strides(lua_State *L, view_layout *v) {
  if (!bind_option(L, 2, "strides")) return;
  if (!lua_istable(L, -1)) {
    bind_raise(L, DAMO_ETYPE, "view: strides is a list of integers, in bytes, got %s", bind_typename(L, -1));
  }
  const int n = (int)lua_rawlen(L, -1);
  if (!v->has_shape) bind_raise(L, DAMO_EVALUE, "view: strides need a shape");
  if (n != v->ndim) bind_raise(L, DAMO_ESHAPE, "view: there are %d strides for %d dimensions", n, v->ndim);
  for (int i = 0; i < n; i++) {
    int whole;
    lua_rawgeti(L, -1, i + 1);
    const bool number = lua_type(L, -1) == LUA_TNUMBER;
    v->strides[i] = (int64_t)lua_tointegerx(L, -1, &whole);
    if (!number || !whole) {
      bind_raise(L, number ? DAMO_EVALUE : DAMO_ETYPE, "view: strides is a list of integers, in bytes, got %s in it",
                 number ? bind_number_text(L, -1) : bind_typename(L, -1));
    }
    lua_pop(L, 1);
  }
  v->has_strides = true;
  lua_pop(L, 1);
}

static void view_read_options(lua_State *L, view_layout *v) {
  static const char *const names[] = {"dtype", "shape", "strides", "offset", "size", "readonly", "owner", NULL};
  if (!lua_isnil(L, 2) && !lua_istable(L, 2)) {
    bind_arg_error(L, "view", 2, "options", "a table {dtype=, shape=, strides=, offset=, size=, readonly=, owner=}");
  }
  bind_check_options(L, "view", 2, names);
  v->dtype = bind_ctx(L)->config.floatX;
  if (bind_option(L, 2, "dtype")) {
    v->dtype = bind_check_dtype(L, -1, "view");
    lua_pop(L, 1);
  }
  if (bind_option(L, 2, "shape")) {
    v->ndim = bind_shape(L, lua_gettop(L), v->shape, "view");
    v->has_shape = true;
    lua_pop(L, 1);
  }
  view_read_strides(L, v);
  v->offset = view_option_bytes(L, "offset", 0);
  v->size = view_option_bytes(L, "size", -1);
  v->readonly = bind_option_bool(L, 2, "readonly", false, "view");
}

/* Without a shape: a vector of all elements from the offset on. */
static void view_take_all(lua_State *L, view_layout *v, const view_memory *m) {
  const int64_t item = (int64_t)dtype_size(v->dtype);
  if (m->size < 0) bind_raise(L, DAMO_EVALUE, "view: a shape is needed, since the source does not tell its size");
  if (v->offset > m->size) {
    bind_raise(L, DAMO_EINDEX, "view: offset is %s bytes, but the source has %s", view_bytes(L, v->offset),
               view_bytes(L, m->size));
  }
  if ((m->size - v->offset) % item != 0) {
    bind_raise(L, DAMO_EVALUE, "view: %s bytes are no whole number of elements of %s",
               view_bytes(L, m->size - v->offset), dtype_name(v->dtype));
  }
  v->ndim = 1;
  v->shape[0] = (m->size - v->offset) / item;
}

/* An index error if the bytes low … high, counted from m's base, are not all in m. */
static void view_check_inside(lua_State *L, const view_memory *m, int64_t low, int64_t high, const char *func) {
  if (low == high) return;
  if (low < 0) {
    bind_raise(L, DAMO_EINDEX, "%s: the elements begin %s bytes before the source", func, view_bytes(L, -low));
  }
  if (m->size < 0 || high <= m->size) return;
  bind_raise(L, DAMO_EINDEX, "%s: the elements end at byte %s, but the source has %s bytes", func, view_bytes(L, high),
             view_bytes(L, m->size));
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* Pushes the keeper of the source at idx and of the value at `owner` (a stack index, 0: none), and makes a view_source
 * that holds it. The caller gives it to an Array before anything can raise. */
static view_source *view_keep(lua_State *L, int idx, int owner, char *base, int64_t stated) {
  damo_ctx *ctx = bind_ctx(L);
  damo_obj *keeper = bind_push_generic(L, idx);
  if (owner) {
    bind_peer(L, -1);
    lua_pushvalue(L, owner);
    lua_setfield(L, -2, "owner");
    lua_pop(L, 1);
  }
  view_source *s = mem_alloc(ctx, sizeof *s);
  if (!s) bind_error(L);
  *s = (view_source){.ctx = ctx, .keeper = damo_retain(keeper), .base = base, .stated = stated};
  return s;
}

/* An index error where a shape asks for more bytes than can be counted. */
static void view_check_countable(lua_State *L, const view_layout *v, const view_memory *m) {
  int64_t bytes = (int64_t)dtype_size(v->dtype);
  bool fits = true;
  for (int d = 0; d < v->ndim; d++) {
    if (v->shape[d] <= 0) return; /* no elements, or an error of its own */
    fits = fits && i64_mul(bytes, v->shape[d], &bytes);
  }
  if (fits) return;
  char text[256];
  shape_format(text, sizeof text, v->ndim, v->shape);
  if (m->size < 0)
    bind_raise(L, DAMO_EINDEX, "view: shape %s of %s needs more than 2^63 bytes", text, dtype_name(v->dtype));
  bind_raise(L, DAMO_EINDEX, "view: shape %s of %s needs more than 2^63 bytes, but the source has %s", text,
             dtype_name(v->dtype), view_bytes(L, m->size));
}

/* view(source, {dtype=, shape=, strides=, offset=, size=, readonly=, owner=}) */
static int view_make(lua_State *L) {
  view_layout v = {.size = -1};
  int64_t low, high, n;
  lua_settop(L, 2);
  bind_gate(L, GATE_POINTER, "view");
  view_read_options(L, &v);
  const view_memory m = view_read_source(L, 1, v.size, "view");
  if (!v.has_shape) view_take_all(L, &v, &m);
  view_check_countable(L, &v, &m);
  bind_check(L, shape_size(bind_ctx(L), v.ndim, v.shape, &n));
  if (!v.has_strides) {
    int64_t stride = (int64_t)dtype_size(v.dtype);
    for (int d = v.ndim - 1; d >= 0; d--) {
      v.strides[d] = stride;
      if (v.shape[d] > 1 && !i64_mul(stride, v.shape[d], &stride)) stride = INT64_MAX / 2;
    }
  }
  if (!layout_extent(v.dtype, v.ndim, v.shape, v.strides, &low, &high) || v.offset > INT64_MAX / 2) {
    bind_raise(L, DAMO_EINDEX, "view: the strides reach further than memory does");
  }
  view_check_inside(L, &m, v.offset + low, v.offset + high, "view");
  if (!m.base && n > 0) bind_raise(L, DAMO_EVALUE, "view: the address is null");
  lua_settop(L, 2);
  if (!bind_option(L, 2, "owner")) lua_pushnil(L);
  view_source *s = view_keep(L, 1, lua_isnil(L, 3) ? 0 : 3, m.base, v.size);
  bind_push_made(L, array_wrap(bind_ctx(L), "view", v.dtype, v.ndim, v.shape, v.has_strides ? v.strides : NULL,
                               m.base ? m.base + v.offset : NULL, !v.readonly, view_release, s));
  return 1;
}

/* Whether the view alone holds its buffer, whose keeper has a userdata: pushes that then. */
static bool view_is_alone(lua_State *L, const damo_array *a, const view_source *s) {
  return a->buf->obj.refs == 1 && bind_push_existing(L, s->keeper);
}

/* Gives the view a buffer of its own over the new memory; Arrays that share the old one keep it, and its source. */
static void view_part(lua_State *L, damo_array *a, char *data, char *base) {
  const view_source *s = view_source_of(a);
  const bool writeable = a->writeable;
  bool owner = false;
  if (bind_push_existing(L, s->keeper)) {
    bind_peer(L, -1);
    lua_getfield(L, -1, "owner");
    owner = !lua_isnil(L, -1);
  }
  view_source *fresh = view_keep(L, 2, owner ? lua_gettop(L) : 0, base, s->stated);
  damo_array *other = array_wrap(bind_ctx(L), "rebind", array_dtype(a), a->ndim, array_shape(a), array_strides(a), data,
                                 false, view_release, fresh);
  bind_push_made(L, other);
  array_reseat(a, other, array_shape(a), array_strides(a), 0);
  a->writeable = writeable;
  bind_reanchor(L, 1);
}

/* a:rebind(source): the same elements of another source's memory. */
int bind_rebind(lua_State *L) {
  damo_array *a = bind_check_obj(L, 1, OBJ_ARRAY, "rebind", "self");
  int64_t low, high;
  bind_gate(L, GATE_POINTER, "rebind");
  view_source *s = view_source_of(a);
  if (!s) return bind_raise(L, DAMO_ETYPE, "rebind: this Array is no view that damo.view made");
  if (bind_get(L)->running) return bind_raise(L, DAMO_ESTATE, "rebind: a call is under way");
  if (a->buf->readers > 0) return bind_raise(L, DAMO_ESTATE, "rebind: a call in slices reads this view until it ends");
  lua_settop(L, 2);
  const view_memory m = view_read_source(L, 2, s->stated, "rebind");
  if (bind_check_obj(L, 1, OBJ_ARRAY, "rebind", "self") != (void *)a || view_source_of(a) != s || a->buf->readers > 0)
    return bind_raise(L, DAMO_ESTATE, "rebind: the view was changed by a method of the source");
  const int64_t at = a->data - s->base;
  layout_extent(array_dtype(a), a->ndim, array_shape(a), array_strides(a), &low, &high);
  view_check_inside(L, &m, at + low, at + high, "rebind");
  if (!m.base && low != high) return bind_raise(L, DAMO_EVALUE, "rebind: the address is null");
  char *data = m.base ? m.base + at : NULL;
  bind_check(L, array_check_address(bind_ctx(L), "rebind", array_dtype(a), data));
  if (view_is_alone(L, a, s)) {
    bind_peer(L, -1);
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "value");
    array_move_foreign(a, data);
    s->base = m.base;
  } else {
    view_part(L, a, data, m.base);
  }
  lua_settop(L, 1);
  return 1;
}

void bind_open_view(lua_State *L) {
  static const luaL_Reg functions[] = {{"view", view_make}, {NULL, NULL}};
  bind_setfuncs(L, functions);
}
