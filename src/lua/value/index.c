/* index: a[key] and a[key] = value of Arrays, and damo.idx, damo.newaxis and damo.ellipsis, of which scripts make keys.
 */
#include "index.h"
#include "op/op.h"

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
  bind_index_key k;
  int64_t i = bind_index_position(L, key, "index"), n = a->ndim > 0 ? array_shape(a)[0] : 0;
  if (a->ndim > 0 && i == n + 1) {
    lua_pushnil(L);
    return 1;
  }
  if (a->ndim == 1) {
    int64_t at = i < 0 ? i + n : i - 1;
    if (i != 0 && at >= 0 && at < n && bind_push_scalar(L, array_get(a, &at))) return 1;
  }
  k.n = 1;
  k.item[0] = (bind_index_item){.kind = KEY_POSITION, .at = {i, 0, 0}};
  damo_array *view = bind_index_view(a, &k, "index");
  if (!view) return bind_error(L);
  bind_push_value(L, &view->obj);
  return 1;
}

/* a[{i, j}] with a position on every axis: pushes the element, without a view. False in all other cases, errors
 * included. */
static bool index_get_element(lua_State *L, const damo_array *a, const bind_index_key *key) {
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
  bind_index_key k;
  if (lua_type(L, key) == LUA_TNUMBER) return index_get_position(L, a, key);
  if (!bind_index_read(L, key, &k, "index")) return index_get_advanced(L, key);
  if (index_get_element(L, a, &k)) return 1;
  damo_array *view = bind_index_view(a, &k, "index");
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
  if (!a->writeable) bind_raise(L, DAMO_ESTATE, "index: the Array is read-only; a:copy() can be written");
}

/* a[i] = number for an Array with one axis; false in all other cases. */
static bool index_set_element(lua_State *L, damo_array *a, int key, int value) {
  if (a->ndim != 1 || lua_type(L, key) != LUA_TNUMBER || lua_type(L, value) != LUA_TNUMBER) return false;
  int64_t n = array_shape(a)[0], i = bind_index_position(L, key, "index"), at = i < 0 ? i + n : i - 1;
  scalar s;
  if (i == 0 || at < 0 || at >= n || !bind_to_scalar(L, value, array_dtype(a), &s)) return false;
  array_set(a, &at, s);
  return true;
}

int bind_index_set(lua_State *L, damo_array *a, int key, int value) {
  bind_index_key k;
  index_check_writeable(L, a);
  if (index_set_element(L, a, key, value)) return 0;
  if (!bind_index_read(L, key, &k, "index")) {
    index_set_advanced(L, a, key, value);
    return 0;
  }
  damo_array *src = index_assigned(L, a, value, -1);
  damo_array *view = bind_index_view(a, &k, "index");
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
