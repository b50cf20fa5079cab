/* lua_index: index tables, for Arrays and for the index functions.
 *
 * A key is a position (number), a list (an Array or Variable of one axis or more, or a mask), or a table with one item
 * an axis: position, range {start, stop, step}, list, damo.newaxis, damo.ellipsis. Basic keys (no list, nothing
 * symbolic) are read and written here through views; all others go to the ops subtensor and set_subtensor_at.
 */
#include <stdio.h>

#include "lua_int.h"

#define MAX_ITEMS (2 * DAMO_MAX_NDIM)

typedef enum item_kind { POSITION, RANGE, NEWAXIS, ELLIPSIS, LIST } item_kind;

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* A 0-d integer Array or Variable: it stands for a position or the end of a range. */
static bool is_scalar_box(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  if (!box || !box->obj) return false;
  if (box->kind == OBJ_ARRAY) return ((damo_array *)box->obj)->ndim == 0;
  return box->kind == OBJ_VAR && var_ndim((damo_var *)box->obj) == 0;
}

static int64_t integral(lua_State *L, int idx, const char *func) {
  scalar s;
  if (lua_isinteger(L, idx)) return (int64_t)lua_tointeger(L, idx);
  if (!bind_to_scalar(L, idx, DAMO_INT64, &s)) {
    lua_pushvalue(L, idx);
    bind_raise(L, DAMO_EINDEX, "%s: %s is no position: positions are integers", func, lua_tostring(L, -1));
  }
  return s.v.i;
}

static void check_discrete(lua_State *L, damo_dtype dtype, const char *func) {
  if (dtype_is_discrete(dtype)) return;
  bind_raise(L, DAMO_ETYPE, "%s: a list of positions has an integer or bool dtype, got %s", func, dtype_name(dtype));
}

/* What the value at idx is as an item. */
static item_kind classify(lua_State *L, int idx, const char *func) {
  const bind_state *st = bind_get(L);
  const bind_box *box = bind_box_at(L, idx);
  const void *mark = lua_touserdata(L, idx);
  if (lua_type(L, idx) == LUA_TNUMBER) return POSITION;
  if (lua_istable(L, idx)) return RANGE;
  if (mark && mark == st->newaxis) return NEWAXIS;
  if (mark && mark == st->ellipsis) return ELLIPSIS;
  if (box && (box->kind == OBJ_ARRAY || box->kind == OBJ_VAR)) {
    const damo_array *a = bind_to_array(L, idx);
    const damo_var *v = bind_to_var(L, idx);
    if (v && !type_is_tensor(v->type)) bind_raise(L, DAMO_ETYPE, "%s: a list of positions must be a tensor", func);
    damo_dtype dtype = a ? array_dtype(a) : var_dtype(v);
    check_discrete(L, dtype, func);
    return is_scalar_box(L, idx) && dtype != DAMO_BOOL ? POSITION : LIST;
  }
  bind_raise(L, DAMO_ETYPE,
             "%s: an index item is a number, a range {start, stop, step}, an integer or bool list, damo.newaxis or "
             "damo.ellipsis, got %s",
             func, bind_typename(L, idx));
  return POSITION;
}

/* A range has three ends at most: more is a list of positions written as a table. */
static void check_range(lua_State *L, int idx, const char *func) {
  if (lua_rawlen(L, idx) > 3) {
    bind_raise(L, DAMO_EINDEX, "%s: a table is a range {start, stop, step}; a list of positions is damo.idx{…}", func);
  }
  if (bind_is_options(L, idx)) bind_raise(L, DAMO_ETYPE, "%s: a range has no names in it", func);
}

/* ---- Specs for the index ops ------------------------------------------------------------------------------------- */

typedef struct spec_writer {
  lua_State *L;
  bind_index *out;
  const char *func;
  size_t n;
} spec_writer;

static void put(spec_writer *w, const char *text) {
  size_t len = strlen(text);
  if (w->n + len >= sizeof w->out->spec) bind_raise(w->L, DAMO_EINDEX, "%s: too many index items", w->func);
  memcpy(w->out->spec + w->n, text, len + 1);
  w->n += len;
}

/* Pushes the number, Array or Variable at idx as the next operand; a number as an integer. */
static void put_operand(spec_writer *w, int idx) {
  lua_State *L = w->L;
  if (lua_type(L, idx) == LUA_TNUMBER) {
    lua_pushinteger(L, (lua_Integer)integral(L, idx, w->func));
  } else {
    if (bind_to_var(L, idx)) w->out->is_graph = true;
    lua_pushvalue(L, idx);
  }
  w->out->n_operands++;
}

static void put_range(spec_writer *w, int idx) {
  lua_State *L = w->L;
  char spec[] = "s000";
  check_range(L, idx, w->func);
  for (int i = 1; i <= 3; i++) {
    lua_rawgeti(L, idx, i);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    if (lua_type(L, -1) != LUA_TNUMBER && !is_scalar_box(L, -1)) {
      bind_raise(L, DAMO_ETYPE, "%s: the ends of a range are integers, got %s", w->func, bind_typename(L, -1));
    }
    put_operand(w, lua_gettop(L));
    lua_remove(L, -2);
    spec[i] = '1';
  }
  put(w, spec);
}

static void put_item(spec_writer *w, int idx) {
  luaL_checkstack(w->L, 8, "damo");
  switch (classify(w->L, idx, w->func)) {
    case POSITION:
      put(w, "i");
      put_operand(w, idx);
      break;
    case LIST:
      put(w, "l");
      put_operand(w, idx);
      break;
    case RANGE: put_range(w, idx); break;
    case NEWAXIS: put(w, "n"); break;
    case ELLIPSIS: put(w, "e"); break;
  }
}

/* Item i of the key at idx, pushed under what follows: here at the top, nil is an error. */
static void push_item(lua_State *L, int idx, int i, const char *func) {
  lua_rawgeti(L, idx, i);
  if (lua_isnil(L, -1)) { bind_raise(L, DAMO_EINDEX, "%s: index item %d is nil; {} stands for a whole axis", func, i); }
}

/* How many items the index table at idx has. Keys behind the list part are looked at: a name there is a mistake. */
static int count_items(lua_State *L, int idx, const char *func) {
  size_t n = lua_rawlen(L, idx);
  if (n > MAX_ITEMS) bind_raise(L, DAMO_EINDEX, "%s: too many index items", func);
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
  spec_writer w = {.L = L, .out = out, .func = func};
  *out = (bind_index){.spec = ""};
  if (!lua_istable(L, idx)) {
    put_item(&w, idx);
    return;
  }
  int n = count_items(L, idx, func);
  luaL_checkstack(L, 4 * MAX_ITEMS, "damo");
  for (int i = 1; i <= n; i++) {
    push_item(L, idx, i, func);
    int item = lua_gettop(L);
    put_item(&w, item);
    lua_remove(L, item);
  }
}

/* ---- Basic keys -------------------------------------------------------------------------------------------------- */

/* A key without lists: each item with its integers. */
typedef struct basic_item {
  item_kind kind;
  bool has[3];
  int64_t at[3]; /* position, or start, stop, step */
} basic_item;

typedef struct basic_key {
  int n;
  basic_item item[MAX_ITEMS];
} basic_key;

/* The integer of a number or 0-d Array; false when it is symbolic. */
static bool plain_integer(lua_State *L, int idx, int64_t *out, const char *func) {
  const damo_array *a = bind_to_array(L, idx);
  if (a) {
    if (a->ndim > 0) return false;
    check_discrete(L, array_dtype(a), func);
    *out = scalar_to_int64(array_item(a));
    return true;
  }
  if (lua_type(L, idx) != LUA_TNUMBER) return false;
  *out = integral(L, idx, func);
  return true;
}

static bool read_range(lua_State *L, int idx, basic_item *it, const char *func) {
  check_range(L, idx, func);
  for (int i = 0; i < 3; i++) {
    lua_rawgeti(L, idx, i + 1);
    it->has[i] = !lua_isnil(L, -1);
    bool plain = !it->has[i] || plain_integer(L, lua_gettop(L), &it->at[i], func);
    lua_pop(L, 1);
    if (!plain) return false;
  }
  return true;
}

static bool read_item(lua_State *L, int idx, basic_item *it, const char *func) {
  if (lua_type(L, idx) == LUA_TNUMBER) {
    *it = (basic_item){.kind = POSITION, .at = {integral(L, idx, func), 0, 0}};
    return true;
  }
  *it = (basic_item){.kind = classify(L, idx, func)};
  if (it->kind == POSITION) return plain_integer(L, idx, &it->at[0], func);
  if (it->kind == RANGE) return read_range(L, idx, it, func);
  return it->kind != LIST;
}

/* Reads the key at idx; false when it needs the index ops. */
static bool read_key(lua_State *L, int idx, basic_key *key, const char *func) {
  if (!lua_istable(L, idx)) {
    key->n = 1;
    return read_item(L, idx, &key->item[0], func);
  }
  key->n = count_items(L, idx, func);
  for (int i = 0; i < key->n; i++) {
    push_item(L, idx, i + 1, func);
    bool basic = read_item(L, lua_gettop(L), &key->item[i], func);
    lua_pop(L, 1);
    if (!basic) return false;
  }
  return true;
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* A view in the making: source axes are taken in order. */
typedef struct view_maker {
  const damo_array *a;
  const char *func;
  int axis, ndim;
  int64_t offset;
  int64_t shape[MAX_ITEMS], strides[MAX_ITEMS];
} view_maker;

static void add_axis(view_maker *v, int64_t n, int64_t stride) {
  v->shape[v->ndim] = n;
  v->strides[v->ndim++] = stride;
}

static void add_whole(view_maker *v) {
  add_axis(v, array_shape(v->a)[v->axis], array_strides(v->a)[v->axis]);
  v->axis++;
}

/* A 1-based position, negative from the end, to a 0-based one. */
static damo_status resolve_position(const view_maker *v, int64_t position, int64_t *out) {
  int64_t n = array_shape(v->a)[v->axis], at = position < 0 ? position + n : position - 1;
  if (position != 0 && at >= 0 && at < n) {
    *out = at;
    return DAMO_OK;
  }
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: position %lld is outside axis %d of length %lld", v->func,
                  (long long)position, v->axis + 1, (long long)n);
}

static damo_status add_position(view_maker *v, const basic_item *it) {
  int64_t at = 0;
  DAMO_TRY(resolve_position(v, it->at[0], &at));
  v->offset += at * array_strides(v->a)[v->axis++];
  return DAMO_OK;
}

static damo_status fail_end(const view_maker *v, const char *end, int64_t at, int64_t n) {
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: the range's %s, %lld, is outside axis %d of length %lld", v->func,
                  end, (long long)at, v->axis + 1, (long long)n);
}

static damo_status add_range(view_maker *v, const basic_item *it) {
  int64_t n = array_shape(v->a)[v->axis], stride = array_strides(v->a)[v->axis], step = it->has[2] ? it->at[2] : 1;
  if (step == 0) {
    return ctx_fail(v->a->obj.ctx, DAMO_EVALUE, "%s: the step of a range on axis %d is 0", v->func, v->axis + 1);
  }
  int64_t start = it->has[0] ? it->at[0] : step > 0 ? 1 : n, stop = it->has[1] ? it->at[1] : step > 0 ? n : 1;
  int64_t a = start < 0 ? start + n + 1 : start, z = stop < 0 ? stop + n + 1 : stop;
  if (step > 0 ? z < a : z > a) {
    add_axis(v, 0, stride);
  } else {
    if (a < 1 || a > n) return fail_end(v, "start", start, n);
    if (z < 1 || z > n) return fail_end(v, "stop", stop, n);
    int64_t count = (z - a) / step + 1;
    v->offset += (a - 1) * stride;
    add_axis(v, count, count > 1 ? step * stride : stride);
  }
  v->axis++;
  return DAMO_OK;
}

static damo_status add_item(view_maker *v, const basic_item *it, int fill) {
  switch (it->kind) {
    case POSITION: return add_position(v, it);
    case RANGE: return add_range(v, it);
    case NEWAXIS: add_axis(v, 1, 0); break;
    case ELLIPSIS:
      while (fill-- > 0) add_whole(v);
      break;
    case LIST: break;
  }
  return DAMO_OK;
}

static damo_status check_items(const view_maker *v, const basic_key *key, int *fill) {
  int used = 0, ellipses = 0, added = 0;
  for (int i = 0; i < key->n; i++) {
    item_kind kind = key->item[i].kind;
    used += kind == POSITION || kind == RANGE;
    added += kind == NEWAXIS;
    ellipses += kind == ELLIPSIS;
  }
  damo_ctx *ctx = v->a->obj.ctx;
  if (ellipses > 1) return ctx_fail(ctx, DAMO_EINDEX, "%s: an ellipsis may stand once", v->func);
  if (used > v->a->ndim) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: too many indices: %d for an Array with %d %s", v->func, used, v->a->ndim,
                    v->a->ndim == 1 ? "axis" : "axes");
  }
  if (v->a->ndim + added > DAMO_MAX_NDIM) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: more than %d axes", v->func, DAMO_MAX_NDIM);
  }
  *fill = v->a->ndim - used;
  return DAMO_OK;
}

/* The view that a basic key picks; NULL on failure. */
static damo_array *make_view(const damo_array *a, const basic_key *key, const char *func) {
  view_maker v; /* not zeroed: its lists are long */
  int fill;
  v.a = a;
  v.func = func;
  v.axis = v.ndim = 0;
  v.offset = 0;
  if (check_items(&v, key, &fill) != DAMO_OK) return NULL;
  for (int i = 0; i < key->n; i++) {
    if (add_item(&v, &key->item[i], fill) != DAMO_OK) return NULL;
  }
  while (v.axis < a->ndim) add_whole(&v);
  return array_view(a, v.ndim, v.shape, v.strides, v.offset);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int get_advanced(lua_State *L, int key) {
  bind_index ix;
  lua_pushvalue(L, 1);
  int first = lua_gettop(L);
  bind_parse_index(L, key, &ix, "index");
  prop_value opt[] = {prop_str(ix.spec)};
  return bind_call_parsed(L, "subtensor", first, 1 + ix.n_operands, opt);
}

/* a[i]: an element, the view of a row, or nil just past the end. */
static int get_position(lua_State *L, const damo_array *a, int key) {
  basic_key k;
  int64_t i = integral(L, key, "index"), n = a->ndim > 0 ? array_shape(a)[0] : 0;
  if (a->ndim > 0 && i == n + 1) {
    lua_pushnil(L);
    return 1;
  }
  if (a->ndim == 1) {
    int64_t at = i < 0 ? i + n : i - 1;
    if (i != 0 && at >= 0 && at < n && bind_push_scalar(L, array_get(a, &at))) return 1;
  }
  k.n = 1;
  k.item[0] = (basic_item){.kind = POSITION, .at = {i, 0, 0}};
  damo_array *view = make_view(a, &k, "index");
  if (!view) return bind_error(L);
  bind_push_value(L, &view->obj);
  return 1;
}

/* a[{i, j}] with a position on every axis: the element, without a view. False when it is another case, or an error. */
static bool get_element(lua_State *L, const damo_array *a, const basic_key *key) {
  int64_t index[DAMO_MAX_NDIM];
  if (key->n != a->ndim) return false;
  for (int i = 0; i < key->n; i++) {
    int64_t at = key->item[i].at[0], n = array_shape(a)[i];
    if (key->item[i].kind != POSITION || at == 0 || at < -n || at > n) return false;
    index[i] = at < 0 ? at + n : at - 1;
  }
  return bind_push_scalar(L, array_get(a, index));
}

int bind_index_get(lua_State *L, const damo_array *a, int key) {
  basic_key k;
  if (lua_type(L, key) == LUA_TNUMBER) return get_position(L, a, key);
  if (!read_key(L, key, &k, "index")) return get_advanced(L, key);
  if (get_element(L, a, &k)) return 1;
  damo_array *view = make_view(a, &k, "index");
  if (!view) return bind_error(L);
  bind_push_value(L, &view->obj);
  return 1;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Pushes the value at idx as an Array that may be assigned to a: literals must fit a's dtype, an Array is cast to
 * `dtype` (-1: left as it is). */
static damo_array *assigned(lua_State *L, const damo_array *a, int idx, int dtype) {
  bool is_array = bind_to_array(L, idx) != NULL;
  if (bind_to_var(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "index: an Array holds values, not Variables; damo.set_subtensor builds graph");
  }
  return bind_value_array(L, idx, is_array ? dtype : (int)array_dtype(a), "index assignment");
}

static void set_advanced(lua_State *L, damo_array *a, int key, int value) {
  bind_index ix;
  lua_pushvalue(L, 1);
  int first = lua_gettop(L);
  assigned(L, a, value, (int)array_dtype(a));
  bind_parse_index(L, key, &ix, "index");
  prop_value opt[] = {prop_str(ix.spec)};
  bind_call_parsed(L, "set_subtensor_at", first, 2 + ix.n_operands, opt);
  damo_array *whole = bind_to_array(L, -1);
  if (!whole) bind_raise(L, DAMO_ETYPE, "index: assignment with a symbolic index; damo.set_subtensor builds graph");
  bind_check(L, array_assign(a, whole));
}

static void check_writeable(lua_State *L, const damo_array *a) {
  if (!a->writeable) bind_raise(L, DAMO_ESTATE, "index: the Array is read-only; a:copy() can be written");
}

/* a[i] = number on one axis; false when it is another case. */
static bool set_element(lua_State *L, damo_array *a, int key, int value) {
  if (a->ndim != 1 || lua_type(L, key) != LUA_TNUMBER || lua_type(L, value) != LUA_TNUMBER) return false;
  int64_t n = array_shape(a)[0], i = integral(L, key, "index"), at = i < 0 ? i + n : i - 1;
  scalar s;
  if (i == 0 || at < 0 || at >= n || !bind_to_scalar(L, value, array_dtype(a), &s)) return false;
  array_set(a, &at, s);
  return true;
}

int bind_index_set(lua_State *L, damo_array *a, int key, int value) {
  basic_key k;
  check_writeable(L, a);
  if (set_element(L, a, key, value)) return 0;
  if (!read_key(L, key, &k, "index")) {
    set_advanced(L, a, key, value);
    return 0;
  }
  damo_array *src = assigned(L, a, value, -1);
  damo_array *view = make_view(a, &k, "index");
  damo_status s = view ? array_assign(view, src) : bind_ctx(L)->error.status;
  damo_release(view);
  bind_check(L, s);
  return 0;
}

/* ---- The module's part ------------------------------------------------------------------------------------------- */

/* damo.idx{1, 3, 5}: a list of positions. */
static int make_list(lua_State *L) {
  if (!lua_istable(L, 1)) return bind_arg_error(L, "idx", 1, "positions", "a table of positions");
  bind_nested_array(L, 1, DAMO_INT64, "idx");
  return 1;
}

static int mark_tostring(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

/* Sets field `name` of the module to a userdata that stands for itself alone. */
static const void *make_mark(lua_State *L, const char *name) {
  const void *mark = lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 2);
  lua_pushfstring(L, "damo.%s", name);
  lua_pushcclosure(L, mark_tostring, 1);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, mark);
  lua_setfield(L, -2, name);
  return mark;
}

void bind_open_index(lua_State *L) {
  bind_state *st = bind_get(L);
  lua_pushcfunction(L, make_list);
  lua_setfield(L, -2, "idx");
  st->newaxis = make_mark(L, "newaxis");
  st->ellipsis = make_mark(L, "ellipsis");
}
