/* index_key: reads the keys of index tables, as basic keys or as specs for the index ops. */
#include "index.h"

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* Whether the value is a 0-d Array or Variable, which stands for a position or an end of a range. */
static bool key_is_scalar_box(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  if (!box || !box->obj) return false;
  if (box->kind == OBJ_ARRAY) return ((damo_array *)box->obj)->ndim == 0;
  return box->kind == OBJ_VAR && var_ndim((damo_var *)box->obj) == 0;
}

int64_t bind_index_position(lua_State *L, int idx, const char *func) {
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
static bind_item_kind key_classify(lua_State *L, int idx, const char *func) {
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
    lua_pushinteger(L, (lua_Integer)bind_index_position(L, idx, w->func));
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
  if (n > BIND_MAX_ITEMS) bind_raise(L, DAMO_EINDEX, "%s: too many index items", func);
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
  luaL_checkstack(L, 4 * BIND_MAX_ITEMS, "damo");
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
  *out = bind_index_position(L, idx, func);
  return true;
}

static bool key_read_range(lua_State *L, int idx, bind_index_item *it, const char *func) {
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

static bool key_read_item(lua_State *L, int idx, bind_index_item *it, const char *func) {
  if (lua_type(L, idx) == LUA_TNUMBER) {
    *it = (bind_index_item){.kind = KEY_POSITION, .at = {bind_index_position(L, idx, func), 0, 0}};
    return true;
  }
  *it = (bind_index_item){.kind = key_classify(L, idx, func)};
  if (it->kind == KEY_POSITION) return key_plain_integer(L, idx, &it->at[0], func);
  if (it->kind == KEY_RANGE) return key_read_range(L, idx, it, func);
  return it->kind != KEY_LIST;
}

bool bind_index_read(lua_State *L, int idx, bind_index_key *key, const char *func) {
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
