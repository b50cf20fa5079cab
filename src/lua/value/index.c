/* index: index tables: a[key] and a[key] = value of Arrays, and damo.idx, damo.newaxis and damo.ellipsis, of which
 * scripts make keys.
 *
 * A key is a position (number), a list of positions (an Array or Variable with at least one axis, or a mask), or a
 * table with one item an axis: position, range {start, stop, step}, list, damo.newaxis or damo.ellipsis. Basic keys (no
 * list, nothing symbolic) are read and written through views; all others go to the ops subtensor and set_subtensor_at.
 */
#include "lua/binding_int.h"
#include "op/op.h"

#define KEY_MAX_ITEMS (2 * DAMO_MAX_NDIM)

typedef enum key_kind { KEY_POSITION, KEY_RANGE, KEY_NEWAXIS, KEY_ELLIPSIS, KEY_LIST } key_kind;

/* An item of a basic key. has[i]: that end of a range is given. */
typedef struct key_item {
  key_kind kind;
  bool has[3];
  int64_t at[3]; /* position, or start, stop, step */
} key_item;

typedef struct basic_key {
  int n;
  key_item item[KEY_MAX_ITEMS];
} basic_key;

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* Whether the value is a 0-d Array or Variable, which stands for a position or an end of a range. */
static bool key_is_scalar_box(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  if (!box || !box->obj) return false;
  if (box->kind == OBJ_ARRAY) return ((damo_array *)box->obj)->ndim == 0;
  return box->kind == OBJ_VAR && var_ndim((damo_var *)box->obj) == 0;
}

/* The number at idx as a position; an index error that names func if it is no integer. */
static int64_t key_position(lua_State *L, int idx, const char *func) {
  scalar s;
  if (lua_isinteger(L, idx)) return (int64_t)lua_tointeger(L, idx);
  if (!bind_to_scalar(L, idx, DAMO_INT64, &s)) {
    bind_raise(L, DAMO_EINDEX, "%s: %s is no position: positions are integers", func, bind_number_text(L, idx));
  }
  return s.v.i;
}

static void key_check_discrete(lua_State *L, damo_dtype dtype, const char *func) {
  if (dtype_is_discrete(dtype)) return;
  bind_raise(L, DAMO_ETYPE,
             "%s: a list of positions has an integer or bool dtype, got %s: write damo.idx{…}, or convert it by "
             ":astype \"int64\"",
             func, dtype_name(dtype));
}

/* The kind of the item at idx; raises a type error for other values. */
static key_kind key_classify(lua_State *L, int idx, const char *func) {
  const bind_state *st = bind_get(L);
  const bind_box *box = bind_box_at(L, idx);
  const void *mark = lua_touserdata(L, idx);
  if (lua_type(L, idx) == LUA_TNUMBER) return KEY_POSITION;
  if (lua_istable(L, idx)) return KEY_RANGE;
  if (mark && mark == st->newaxis) return KEY_NEWAXIS;
  if (mark && mark == st->ellipsis) return KEY_ELLIPSIS;
  if (box && (box->kind == OBJ_ARRAY || box->kind == OBJ_VAR)) {
    const damo_array *a = bind_to_array(L, idx);
    const damo_var *v = bind_to_var(L, idx);
    if (v && !type_is_tensor(v->type)) bind_raise(L, DAMO_ETYPE, "%s: a list of positions must be a tensor", func);
    damo_dtype dtype = a ? array_dtype(a) : var_dtype(v);
    key_check_discrete(L, dtype, func);
    return key_is_scalar_box(L, idx) && dtype != DAMO_BOOL ? KEY_POSITION : KEY_LIST;
  }
  const bool sparse = bind_to_sparse(L, idx) != NULL;
  bind_raise(L, DAMO_ETYPE,
             "%s: an index item is a number, a range {start, stop, step}, an integer or bool list, damo.newaxis or "
             "damo.ellipsis, got %s%s",
             func, bind_typename(L, idx), sparse ? "; x * mask keeps x where a sparse mask is true" : "");
  return KEY_POSITION;
}

/* A range has at most three entries: a longer table is a list of positions written without damo.idx. */
static void key_check_range(lua_State *L, int idx, const char *func) {
  if (lua_rawlen(L, idx) > 3) {
    bind_raise(L, DAMO_EINDEX, "%s: a table is a range {start, stop, step}; a list of positions is damo.idx{…}", func);
  }
  if (bind_is_options(L, idx)) bind_raise(L, DAMO_ETYPE, "%s: a range has no names in it", func);
}

/* ---- Specs for the index ops ------------------------------------------------------------------------------------- */

typedef struct key_spec_writer {
  lua_State *L;
  bind_index *out;
  const char *func;
  size_t n;
} key_spec_writer;

static void key_spec_put(key_spec_writer *w, const char *text) {
  size_t len = strlen(text);
  if (w->n + len >= sizeof w->out->spec) bind_raise(w->L, DAMO_EINDEX, "%s: too many index items", w->func);
  memcpy(w->out->spec + w->n, text, len + 1);
  w->n += len;
}

/* Pushes the number, Array or Variable at idx as the next operand; a number as an integer. */
static void key_spec_put_operand(key_spec_writer *w, int idx) {
  lua_State *L = w->L;
  if (lua_type(L, idx) == LUA_TNUMBER) {
    lua_pushinteger(L, (lua_Integer)key_position(L, idx, w->func));
  } else {
    if (bind_to_var(L, idx)) w->out->is_graph = true;
    lua_pushvalue(L, idx);
  }
  w->out->n_operands++;
}

static void key_spec_put_range(key_spec_writer *w, int idx) {
  lua_State *L = w->L;
  char spec[] = "s000";
  key_check_range(L, idx, w->func);
  for (int i = 1; i <= 3; i++) {
    lua_rawgeti(L, idx, i);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    if (lua_type(L, -1) != LUA_TNUMBER && !key_is_scalar_box(L, -1)) {
      bind_raise(L, DAMO_ETYPE, "%s: the ends of a range are integers, got %s", w->func, bind_typename(L, -1));
    }
    key_spec_put_operand(w, lua_gettop(L));
    lua_remove(L, -2);
    spec[i] = '1';
  }
  key_spec_put(w, spec);
}

static void key_spec_put_item(key_spec_writer *w, int idx) {
  luaL_checkstack(w->L, 8, "damo");
  switch (key_classify(w->L, idx, w->func)) {
    case KEY_POSITION:
      key_spec_put(w, "i");
      key_spec_put_operand(w, idx);
      break;
    case KEY_LIST:
      key_spec_put(w, "l");
      key_spec_put_operand(w, idx);
      break;
    case KEY_RANGE: key_spec_put_range(w, idx); break;
    case KEY_NEWAXIS: key_spec_put(w, "n"); break;
    case KEY_ELLIPSIS: key_spec_put(w, "e"); break;
  }
}

/* Pushes item i of the key at idx; nil is an error. */
static void key_push_item(lua_State *L, int idx, int i, const char *func) {
  lua_rawgeti(L, idx, i);
  if (lua_isnil(L, -1)) { bind_raise(L, DAMO_EINDEX, "%s: index item %d is nil; {} stands for a whole axis", func, i); }
}

/* The number of items of the index table at idx. Raises an error if a string key is found after the list part: an index
 * table has no names. */
static int key_count_items(lua_State *L, int idx, const char *func) {
  size_t n = lua_rawlen(L, idx);
  if (n > KEY_MAX_ITEMS) bind_raise(L, DAMO_EINDEX, "%s: too many index items", func);
  if (n == 0) {
    lua_pushnil(L);
  } else {
    lua_pushinteger(L, (lua_Integer)n);
  }
  if (lua_next(L, idx)) {
    if (lua_type(L, -2) == LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "%s: an index table has no names in it", func);
    lua_pop(L, 2);
  }
  return (int)n;
}

void bind_parse_index(lua_State *L, int idx, bind_index *out, const char *func) {
  idx = lua_absindex(L, idx);
  key_spec_writer w = {.L = L, .out = out, .func = func};
  *out = (bind_index){.spec = ""};
  if (!lua_istable(L, idx)) {
    key_spec_put_item(&w, idx);
    return;
  }
  int n = key_count_items(L, idx, func);
  luaL_checkstack(L, 4 * KEY_MAX_ITEMS, "damo");
  for (int i = 1; i <= n; i++) {
    key_push_item(L, idx, i, func);
    int item = lua_gettop(L);
    key_spec_put_item(&w, item);
    lua_remove(L, item);
  }
}

/* ---- Basic keys -------------------------------------------------------------------------------------------------- */

/* Reads the integer of a number or 0-d Array; false for a symbolic value or a list. */
static bool key_plain_integer(lua_State *L, int idx, int64_t *out, const char *func) {
  const damo_array *a = bind_to_array(L, idx);
  if (a) {
    if (a->ndim > 0) return false;
    key_check_discrete(L, array_dtype(a), func);
    *out = scalar_to_int64(array_item(a));
    return true;
  }
  if (lua_type(L, idx) != LUA_TNUMBER) return false;
  *out = key_position(L, idx, func);
  return true;
}

static bool key_read_range(lua_State *L, int idx, key_item *it, const char *func) {
  key_check_range(L, idx, func);
  for (int i = 0; i < 3; i++) {
    lua_rawgeti(L, idx, i + 1);
    it->has[i] = !lua_isnil(L, -1);
    bool plain = !it->has[i] || key_plain_integer(L, lua_gettop(L), &it->at[i], func);
    lua_pop(L, 1);
    if (!plain) return false;
  }
  return true;
}

static bool key_read_item(lua_State *L, int idx, key_item *it, const char *func) {
  if (lua_type(L, idx) == LUA_TNUMBER) {
    *it = (key_item){.kind = KEY_POSITION, .at = {key_position(L, idx, func), 0, 0}};
    return true;
  }
  *it = (key_item){.kind = key_classify(L, idx, func)};
  if (it->kind == KEY_POSITION) return key_plain_integer(L, idx, &it->at[0], func);
  if (it->kind == KEY_RANGE) return key_read_range(L, idx, it, func);
  return it->kind != KEY_LIST;
}

/* Reads the key at idx if it is basic; false if it needs the index ops. */
static bool key_read(lua_State *L, int idx, basic_key *key, const char *func) {
  if (!lua_istable(L, idx)) {
    key->n = 1;
    return key_read_item(L, idx, &key->item[0], func);
  }
  key->n = key_count_items(L, idx, func);
  for (int i = 0; i < key->n; i++) {
    key_push_item(L, idx, i + 1, func);
    bool basic = key_read_item(L, lua_gettop(L), &key->item[i], func);
    lua_pop(L, 1);
    if (!basic) return false;
  }
  return true;
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* A view being built: `axis` is the next axis of the source, shape and strides are those of the view so far. */
typedef struct index_view_maker {
  const damo_array *a;
  const char *func;
  int axis, ndim;
  int64_t offset;
  int64_t shape[KEY_MAX_ITEMS], strides[KEY_MAX_ITEMS];
} index_view_maker;

static void view_add_axis(index_view_maker *v, int64_t n, int64_t stride) {
  v->shape[v->ndim] = n;
  v->strides[v->ndim++] = stride;
}

static void view_add_whole(index_view_maker *v) {
  view_add_axis(v, array_shape(v->a)[v->axis], array_strides(v->a)[v->axis]);
  v->axis++;
}

#define VIEW_FROM_ONE "; positions count from 1, from the end from -1"

/* Converts a 1-based position, negative from the end, to a 0-based one. */
static damo_status view_resolve_position(const index_view_maker *v, int64_t position, int64_t *out) {
  int64_t n = array_shape(v->a)[v->axis], at = position < 0 ? position + n : position - 1;
  if (position != 0 && at >= 0 && at < n) {
    *out = at;
    return DAMO_OK;
  }
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: position %lld is outside axis %d of length %lld%s", v->func,
                  (long long)position, v->axis + 1, (long long)n, position == 0 ? VIEW_FROM_ONE : "");
}

static damo_status view_add_position(index_view_maker *v, const key_item *it) {
  int64_t at = 0;
  DAMO_TRY(view_resolve_position(v, it->at[0], &at));
  v->offset += at * array_strides(v->a)[v->axis++];
  return DAMO_OK;
}

static damo_status view_fail_end(const index_view_maker *v, const char *end, int64_t at, int64_t n) {
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: the range's %s, %lld, is outside axis %d of length %lld%s", v->func,
                  end, (long long)at, v->axis + 1, (long long)n, at == 0 ? VIEW_FROM_ONE : "");
}

static damo_status view_add_range(index_view_maker *v, const key_item *it) {
  int64_t n = array_shape(v->a)[v->axis], stride = array_strides(v->a)[v->axis], step = it->has[2] ? it->at[2] : 1;
  if (step == 0) {
    return ctx_fail(v->a->obj.ctx, DAMO_EVALUE, "%s: the step of a range on axis %d is 0", v->func, v->axis + 1);
  }
  int64_t start = it->has[0] ? it->at[0] : step > 0 ? 1 : n, stop = it->has[1] ? it->at[1] : step > 0 ? n : 1;
  int64_t a = start < 0 ? start + n + 1 : start, z = stop < 0 ? stop + n + 1 : stop;
  if (step > 0 ? z < a : z > a) {
    view_add_axis(v, 0, stride);
  } else {
    if (a < 1 || a > n) return view_fail_end(v, "start", start, n);
    if (z < 1 || z > n) return view_fail_end(v, "stop", stop, n);
    int64_t count = (z - a) / step + 1;
    v->offset += (a - 1) * stride;
    view_add_axis(v, count, count > 1 ? step * stride : stride);
  }
  v->axis++;
  return DAMO_OK;
}

static damo_status view_add_item(index_view_maker *v, const key_item *it, int fill) {
  switch (it->kind) {
    case KEY_POSITION: return view_add_position(v, it);
    case KEY_RANGE: return view_add_range(v, it);
    case KEY_NEWAXIS: view_add_axis(v, 1, 0); break;
    case KEY_ELLIPSIS:
      while (fill-- > 0) view_add_whole(v);
      break;
    case KEY_LIST: break;
  }
  return DAMO_OK;
}

static damo_status view_check_items(const index_view_maker *v, const basic_key *key, int *fill) {
  int used = 0, ellipses = 0, added = 0;
  for (int i = 0; i < key->n; i++) {
    key_kind kind = key->item[i].kind;
    used += kind == KEY_POSITION || kind == KEY_RANGE;
    added += kind == KEY_NEWAXIS;
    ellipses += kind == KEY_ELLIPSIS;
  }
  damo_ctx *ctx = v->a->obj.ctx;
  if (ellipses > 1) return ctx_fail(ctx, DAMO_EINDEX, "%s: an ellipsis may stand once", v->func);
  if (used > v->a->ndim) {
    return ctx_fail(ctx, DAMO_EINDEX,
                    "%s: too many indices: %d for an Array with %d %s; several positions of one axis are damo.idx{…}",
                    v->func, used, v->a->ndim, v->a->ndim == 1 ? "axis" : "axes");
  }
  if (v->a->ndim + added > DAMO_MAX_NDIM) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: more than %d axes", v->func, DAMO_MAX_NDIM);
  }
  *fill = v->a->ndim - used;
  return DAMO_OK;
}

/* The view of a that a basic key selects, owned; NULL on failure. */
static damo_array *view_of_key(const damo_array *a, const basic_key *key, const char *func) {
  index_view_maker v; /* not zeroed: its lists are long */
  int fill = 0;
  v.a = a;
  v.func = func;
  v.axis = v.ndim = 0;
  v.offset = 0;
  if (view_check_items(&v, key, &fill) != DAMO_OK) return NULL;
  for (int i = 0; i < key->n; i++) {
    if (view_add_item(&v, &key->item[i], fill) != DAMO_OK) return NULL;
  }
  while (v.axis < a->ndim) view_add_whole(&v);
  return array_view(a, v.ndim, v.shape, v.strides, v.offset);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int index_get_advanced(lua_State *L, int key) {
  bind_index ix;
  lua_pushvalue(L, 1);
  int first = lua_gettop(L);
  bind_parse_index(L, key, &ix, "index");
  return bind_call_parsed(L, "subtensor", first, 1 + ix.n_operands, WITH(index_options, .spec = prop_str(ix.spec)));
}

/* a[i]: an element, the view of a row, or nil just past the end. */
static int index_get_position(lua_State *L, const damo_array *a, int key) {
  basic_key k;
  int64_t i = key_position(L, key, "index"), n = a->ndim > 0 ? array_shape(a)[0] : 0;
  if (a->ndim > 0 && i == n + 1) {
    lua_pushnil(L);
    return 1;
  }
  if (a->ndim == 1) {
    int64_t at = i < 0 ? i + n : i - 1;
    if (i != 0 && at >= 0 && at < n && bind_push_scalar(L, array_get(a, &at))) return 1;
  }
  k.n = 1;
  k.item[0] = (key_item){.kind = KEY_POSITION, .at = {i, 0, 0}};
  damo_array *view = view_of_key(a, &k, "index");
  if (!view) return bind_error(L);
  bind_push_value(L, &view->obj);
  return 1;
}

/* a[{i, j}] with a position on every axis: pushes the element, without a view. False in all other cases, errors
 * included. */
static bool index_get_element(lua_State *L, const damo_array *a, const basic_key *key) {
  int64_t index[DAMO_MAX_NDIM];
  if (key->n != a->ndim) return false;
  for (int i = 0; i < key->n; i++) {
    int64_t at = key->item[i].at[0], n = array_shape(a)[i];
    if (key->item[i].kind != KEY_POSITION || at == 0 || at < -n || at > n) return false;
    index[i] = at < 0 ? at + n : at - 1;
  }
  return bind_push_scalar(L, array_get(a, index));
}

int bind_index_get(lua_State *L, const damo_array *a, int key) {
  basic_key k;
  if (lua_type(L, key) == LUA_TNUMBER) return index_get_position(L, a, key);
  if (!key_read(L, key, &k, "index")) return index_get_advanced(L, key);
  if (index_get_element(L, a, &k)) return 1;
  damo_array *view = view_of_key(a, &k, "index");
  if (!view) return bind_error(L);
  bind_push_value(L, &view->obj);
  return 1;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Pushes the value at idx as an Array to assign to a. Literals must fit a's dtype; an Array is cast to `dtype` (-1:
 * kept). */
static damo_array *index_assigned(lua_State *L, const damo_array *a, int idx, int dtype) {
  bool is_array = bind_to_array(L, idx) != NULL;
  if (bind_to_var(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "index: an Array holds values, not Variables; damo.set_subtensor builds graph");
  }
  return bind_value_array(L, idx, is_array ? dtype : (int)array_dtype(a), "index assignment");
}

static void index_set_advanced(lua_State *L, damo_array *a, int key, int value) {
  bind_index ix;
  lua_pushvalue(L, 1);
  int first = lua_gettop(L);
  index_assigned(L, a, value, (int)array_dtype(a));
  bind_parse_index(L, key, &ix, "index");
  bind_call_parsed(L, "set_subtensor_at", first, 2 + ix.n_operands, WITH(index_options, .spec = prop_str(ix.spec)));
  damo_array *whole = bind_to_array(L, -1);
  if (!whole) bind_raise(L, DAMO_ETYPE, "index: assignment with a symbolic index; damo.set_subtensor builds graph");
  bind_check(L, array_assign(a, whole));
}

static void index_check_writeable(lua_State *L, const damo_array *a) {
  if (array_takes_writes(a)) return;
  if (a->writeable) bind_raise(L, DAMO_ESTATE, "index: the Array is an input of a run that has not ended");
  bind_raise(L, DAMO_ESTATE, "index: the Array is read-only; a:copy() can be written");
}

/* a[i] = number for an Array with one axis; false in all other cases. */
static bool index_set_element(lua_State *L, damo_array *a, int key, int value) {
  if (a->ndim != 1 || lua_type(L, key) != LUA_TNUMBER || lua_type(L, value) != LUA_TNUMBER) return false;
  int64_t n = array_shape(a)[0], i = key_position(L, key, "index"), at = i < 0 ? i + n : i - 1;
  scalar s;
  if (i == 0 || at < 0 || at >= n || !bind_to_scalar(L, value, array_dtype(a), &s)) return false;
  array_set(a, &at, s);
  return true;
}

int bind_index_set(lua_State *L, damo_array *a, int key, int value) {
  basic_key k;
  index_check_writeable(L, a);
  if (index_set_element(L, a, key, value)) return 0;
  if (!key_read(L, key, &k, "index")) {
    index_set_advanced(L, a, key, value);
    return 0;
  }
  damo_array *src = index_assigned(L, a, value, -1);
  damo_array *view = view_of_key(a, &k, "index");
  damo_status s = view ? array_assign(view, src) : bind_ctx(L)->error.status;
  damo_release(view);
  bind_check(L, s);
  return 0;
}

/* ---- The module's part ------------------------------------------------------------------------------------------- */

/* damo.idx{1, 3, 5}: a list of positions. */
static int index_make_list(lua_State *L) {
  if (!lua_istable(L, 1)) return bind_arg_error(L, "idx", 1, "positions", "a table of positions");
  bind_nested_array(L, 1, DAMO_INT64, "idx");
  return 1;
}

static int index_mark_tostring(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

/* Sets field `name` of the module to a unique userdata, which the registry keeps alive; returns its address. */
static const void *index_make_mark(lua_State *L, const char *name) {
  const void *mark = lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 2);
  lua_pushfstring(L, "damo.%s", name);
  lua_pushcclosure(L, index_mark_tostring, 1);
  lua_setfield(L, -2, "__tostring");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable"); /* which a script does not change */
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, mark);
  lua_setfield(L, -2, name);
  return mark;
}

void bind_open_index(lua_State *L) {
  bind_state *st = bind_get(L);
  bind_pushfunction(L, index_make_list);
  lua_setfield(L, -2, "idx");
  st->newaxis = index_make_mark(L, "newaxis");
  st->ellipsis = index_make_mark(L, "ellipsis");
}
