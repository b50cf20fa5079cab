/* thunk: thunks that a script makes: op:make_thunk(node, storage_map, compute_map, no_recycling, impl).
 *
 * A cell is a Lua table with its value in [1]. The tables of the given maps are used themselves, so whoever holds the
 * maps sees the values. The thunk loads the values from the cells before a run and stores the outputs after it; between
 * runs it holds no value. A native thunk reuses the Array in an output's cell if it fits and is referenced nowhere
 * else, unless no_recycling names the output.
 */
#include "thunk.h"
#include "run.h"

static const char thunk_box_key = 't', thunk_maps_key = 'm';

typedef struct thunk_box {
  const void *magic;
  thunk_alone *a; /* NULL: freed */
  cell *cells;    /* inputs, then outputs */
  size_t bytes;
  uint8_t *fresh; /* one an output: it is in no_recycling */
  bool busy;
} thunk_box;

/* Indices in the table that is a thunk's user value. */
enum { THUNK_INPUTS = 1, THUNK_OUTPUTS, THUNK_IN_READY, THUNK_OUT_READY, THUNK_NODE };

static thunk_box *thunk_box_at(lua_State *L, int idx) {
  thunk_box *box = lua_touserdata(L, idx);
  return box && lua_rawlen(L, idx) >= sizeof *box && box->magic == &thunk_box_key ? box : NULL;
}

static thunk_box *thunk_box_self(lua_State *L) {
  thunk_box *box = thunk_box_at(L, 1);
  if (!box) bind_arg_error(L, "thunk", 1, "self", "a thunk");
  if (!box->a) bind_raise(L, DAMO_ESTATE, "this thunk has been freed");
  return box;
}

static int thunk_box_gc(lua_State *L) {
  thunk_box *box = thunk_box_at(L, 1);
  if (!box || !box->cells || !box->a) return 0;
  thunk_alone *a = box->a;
  cell *cells = box->cells;
  damo_ctx *ctx = a->f.ctx;
  int n = a->t.n_in + a->t.n_out;
  box->a = NULL;
  box->cells = NULL;
  thunk_alone_free(a);
  for (int i = 0; i < n; i++) damo_release(cells[i]);
  mem_free(ctx, cells, box->bytes);
  return 0;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

void bind_push_thunk_maps(lua_State *L) {
  BIND_HEIGHT(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &thunk_maps_key);
  if (lua_istable(L, -1)) {
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    lua_remove(L, -3);
  } else {
    lua_pushnil(L);
  }
  BIND_LEAVES(L, 2);
}

/* Appends the cell of v in the map at stack index `of` to the list at the top. If the map has none, makes one and adds
 * it to the map. */
static void thunk_box_add_cell(lua_State *L, int of, int i, damo_var *v, const char *what) {
  int list = lua_gettop(L);
  bind_push_borrowed(L, v);
  lua_pushvalue(L, -1);
  lua_gettable(L, of);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    if (v->kind == VAR_CONSTANT && v->value) {
      bind_push_raw(L, damo_retain(v->value));
      lua_rawseti(L, -2, 1);
    }
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_settable(L, of);
  } else if (!lua_istable(L, -1)) {
    bind_raise(L, DAMO_ETYPE, "make_thunk: %s must hold cells, {value}, got %s", what, bind_typename(L, -1));
  }
  lua_rawseti(L, list, i + 1);
  lua_settop(L, list);
}

/* Makes the list of the cells of v[0 … n) in the map at stack index `of`; stores it at index `place` of the table at
 * `peer`. */
static void thunk_box_add_cells(lua_State *L, int peer, int place, int of, damo_var *const *v, int n,
                                const char *what) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) thunk_box_add_cell(L, of, i, v[i], what);
  lua_rawseti(L, peer, place);
}

/* Whether a native thunk may reuse the value of an output's cell: only the value's userdata and the thunk's own cell
 * hold references on it. */
static bool thunk_box_is_spare(const thunk *t, const frame *f, const damo_obj *value) {
  const damo_array *a = (const damo_array *)value;
  if (thunk_local_of(t, f)->run != t->node->op->def->perform || value->kind != OBJ_ARRAY || value->refs != 2)
    return false;
  return a->writeable && a->buf && a->buf->obj.refs == 1 && a->buf->block;
}

/* Marks the outputs that are in the list of Variables. */
static void thunk_box_mark_fresh(thunk_box *box, const damo_apply *node, const bind_list *list) {
  for (int o = 0; o < node->n_out; o++) {
    for (int64_t i = 0; i < list->n; i++) {
      if (list->at[i] == node->out[o]) box->fresh[o] = 1;
    }
  }
}

static void thunk_box_make_cells(lua_State *L, thunk_box *box, const damo_apply *node) {
  size_t n = (size_t)node->n_in + (size_t)node->n_out;
  box->bytes = n * sizeof(cell) + (size_t)node->n_out + 1;
  box->cells = mem_calloc(bind_ctx(L), box->bytes);
  if (!box->cells) bind_error(L);
  box->fresh = (uint8_t *)(box->cells + n);
}

/* Checks the map at idx; nil is replaced by a new table. */
static void thunk_box_check_map(lua_State *L, int idx, const char *name, const char *func) {
  if (lua_isnil(L, idx)) {
    lua_newtable(L);
    lua_replace(L, idx);
  } else if (!lua_istable(L, idx)) {
    bind_arg_error(L, func, idx, name, "a table {[variable] = {value}}");
  }
}

/* Makes the thunk in the core, by perform even if the class has make_thunk (link->plain). */
static damo_status thunk_box_make_in_core(lua_State *L, thunk_box *box, damo_apply *node, const thunk_request *how,
                                          bool debug) {
  bind_op_link *link = bind_is_lua_op(node->op) ? bind_op_class_of(node->op)->link : NULL;
  bind_op_link before = {0};
  if (link) {
    before = *link;
    link->plain = true;
    link->debug = debug;
  }
  bind_entry e = bind_enter(L);
  box->a = thunk_alone_new(e.state->ctx, node, box->cells, NULL, how);
  damo_status s = box->a ? DAMO_OK : damo_error_status(e.state->ctx);
  if (s == DAMO_OK && debug && link && !box->a->local.user) s = bind_op_furnish(&box->a->t, &box->a->f);
  bind_leave(e);
  if (link) {
    link->plain = before.plain;
    link->debug = before.debug;
  }
  return s;
}

/* Pushes a table of the two maps as they were given, for bind_push_thunk_maps. */
static void thunk_box_push_maps(lua_State *L, int storage_map, int compute_map) {
  BIND_HEIGHT(L);
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, storage_map);
  lua_rawseti(L, -2, 1);
  lua_pushvalue(L, compute_map);
  lua_rawseti(L, -2, 2);
  BIND_LEAVES(L, 1);
}

/* Pushes the userdata of a thunk that is not made yet. */
static thunk_box *thunk_box_push(lua_State *L) {
  thunk_box *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (thunk_box){.magic = &thunk_box_key};
  lua_rawgetp(L, LUA_REGISTRYINDEX, &thunk_box_key);
  lua_setmetatable(L, -2);
  return box;
}

/* Gives the userdata at the top its lists of cells from the maps at stack indices 3 (storage_map) and 4 (compute_map;
 * nil: readiness is not tracked), and the node. */
static void thunk_box_give_cells(lua_State *L, damo_apply *node) {
  int at = lua_gettop(L) + 1;
  lua_createtable(L, 5, 0);
  thunk_box_add_cells(L, at, THUNK_INPUTS, 3, node->in, node->n_in, "storage_map");
  thunk_box_add_cells(L, at, THUNK_OUTPUTS, 3, node->out, node->n_out, "storage_map");
  if (!lua_isnil(L, 4)) {
    thunk_box_add_cells(L, at, THUNK_IN_READY, 4, node->in, node->n_in, "compute_map");
    thunk_box_add_cells(L, at, THUNK_OUT_READY, 4, node->out, node->n_out, "compute_map");
  }
  bind_push_borrowed(L, node);
  lua_rawseti(L, at, THUNK_NODE);
  lua_setiuservalue(L, at - 1, 1);
}

/* Makes box->a while the registry holds the maps at stack index `maps` for prepare_node (bind_push_thunk_maps);
 * restores the maps of an outer make_thunk afterwards. */
static damo_status thunk_box_make_with_maps(lua_State *L, int maps, thunk_box *box, damo_apply *node,
                                            const thunk_request *how, bool debug) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &thunk_maps_key);
  lua_pushvalue(L, maps);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &thunk_maps_key);
  damo_status s = thunk_box_make_in_core(L, box, node, how, debug);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &thunk_maps_key);
  return s;
}

/* Pushes the thunk. Stack on entry: 1 op, 2 node, 3 storage_map, 4 compute_map, 5 no_recycling. */
static int thunk_box_make(lua_State *L, const char *func, const char *impl, bool debug) {
  lua_settop(L, 5);
  luaL_checkstack(L, 40, func);
  damo_op *op = bind_check_obj(L, 1, OBJ_OP, func, "self");
  damo_apply *node = bind_check_obj(L, 2, OBJ_APPLY, func, "node");
  if (node->op != op) {
    bind_raise(L, DAMO_EVALUE, "%s: the node is one of %s, not of %s", func, node->op->def->name, op->def->name);
  }
  thunk_box_push_maps(L, 3, 4); /* 6 */
  thunk_box_check_map(L, 3, "storage_map", func);
  thunk_box_check_map(L, 4, "compute_map", func);
  bind_list list = bind_var_list(L, 5, false, func, "no_recycling"); /* 7 */
  thunk_box *box = thunk_box_push(L);                                /* 8 */
  thunk_box_give_cells(L, node);
  thunk_box_make_cells(L, box, node);
  thunk_box_mark_fresh(box, node, &list);
  thunk_request how = {.impl = impl, .no_recycling = list.at, .n_no_recycling = list.n};
  damo_status s = thunk_box_make_with_maps(L, 6, box, node, &how, debug);
  if (!box->a) { /* the finalizer needs box->a to know their number; they are empty */
    mem_free(bind_ctx(L), box->cells, box->bytes);
    box->cells = NULL;
  }
  bind_check(L, s);
  lua_settop(L, 8);
  bind_done(L);
  return 1;
}

int bind_member_make_thunk(lua_State *L) {
  static const char *const impls[] = {"c", "lua", NULL};
  const char *impl = NULL;
  lua_settop(L, 6);
  if (!lua_isnil(L, 6)) {
    if (lua_type(L, 6) != LUA_TSTRING) bind_arg_error(L, "make_thunk", 6, "impl", "'c', 'lua' or nil");
    const char *word = bind_text(L, 6, "make_thunk");
    for (int i = 0; impls[i]; i++) {
      if (strcmp(word, impls[i]) == 0) impl = impls[i];
    }
    if (!impl) bind_raise(L, DAMO_EVALUE, "make_thunk: impl must be 'c', 'lua' or nil, got '%s'", word);
  }
  return thunk_box_make(L, "make_thunk", impl, false);
}

int bind_member_make_c_thunk(lua_State *L) { return thunk_box_make(L, "make_c_thunk", "c", false); }

int bind_member_make_lua_thunk(lua_State *L) {
  lua_settop(L, 6);
  return thunk_box_make(L, "make_lua_thunk", "lua", lua_toboolean(L, 6));
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void thunk_box_put_cell(thunk_box *box, int i, damo_obj *take_value) {
  damo_obj *old = box->cells[i];
  box->cells[i] = take_value;
  damo_release(old);
}

/* Whether input i may be read: its cell is full, and its flag says so if there are flags. `flags`: the stack index of
 * their list, or nil. */
static bool thunk_box_is_ready(lua_State *L, int flags, int i, bool full) {
  if (!lua_istable(L, flags)) return full;
  lua_rawgeti(L, flags, i + 1);
  lua_rawgeti(L, -1, 1);
  bool ready = lua_toboolean(L, -1);
  lua_pop(L, 2);
  return ready && full;
}

/* Loads the inputs' cells. Stack: 1 thunk, 2 its table, 3 inputs, 4 outputs, 5 and 6 flags or nil. */
static void thunk_box_load_inputs(lua_State *L, thunk_box *box) {
  const thunk *t = &box->a->t;
  const char *name = t->node->op->def->name;
  thunk_local *local = &box->a->local;
  if (local->lazy) local->in_ready = (uint8_t *)(local->need + t->n_in);
  for (int i = 0; i < t->n_in; i++) {
    lua_rawgeti(L, 3, i + 1);
    lua_rawgeti(L, -1, 1);
    bool full = !lua_isnil(L, -1);
    if (local->lazy) {
      local->in_ready[i] = thunk_box_is_ready(L, 5, i, full);
      full = local->in_ready[i];
    } else if (!full) {
      bind_raise(L, DAMO_EMISSING_INPUT, "%s: the cell of input %d is empty", name, i + 1);
    }
    if (full) {
      lua_pushfstring(L, "%s: the cell of input %d", name, i + 1);
      damo_obj *value =
          bind_filter(L, lua_gettop(L) - 1, t->node->in[i]->type, (filter_options){0}, lua_tostring(L, -1));
      thunk_box_put_cell(box, i, damo_retain(value));
    } else {
      thunk_box_put_cell(box, i, NULL);
    }
    lua_settop(L, 6);
  }
}

/* Loads the outputs' cells: the Op sees a valid value there, unless the output is in no_recycling. */
static void thunk_box_load_outputs(lua_State *L, thunk_box *box) {
  const thunk *t = &box->a->t;
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 4, o + 1);
    if (box->fresh[o]) {
      lua_pushnil(L);
      lua_rawseti(L, -2, 1);
    }
    lua_rawgeti(L, -1, 1);
    bind_box *value = bind_box_at(L, -1);
    bool fits = value && value->obj && type_is_valid(t->node->out[o]->type, value->obj);
    thunk_box_put_cell(box, t->n_in + o, fits ? damo_retain(value->obj) : NULL);
    bind_check(L, thunk_fix_out(t, &box->a->f, o, fits && thunk_box_is_spare(t, &box->a->f, value->obj)));
    lua_settop(L, 6);
  }
}

static void thunk_box_unload_outputs(lua_State *L, thunk_box *box) {
  const thunk *t = &box->a->t;
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 4, o + 1);
    damo_obj *value = box->cells[t->n_in + o];
    box->cells[t->n_in + o] = NULL;
    bind_push_raw(L, value);
    lua_rawseti(L, -2, 1);
    if (lua_istable(L, 6)) {
      lua_rawgeti(L, 6, o + 1);
      lua_pushboolean(L, 1);
      lua_rawseti(L, -2, 1);
    }
    lua_settop(L, 6);
  }
}

static void thunk_box_empty_cells(thunk_box *box) {
  for (int i = 0; i < box->a->t.n_in + box->a->t.n_out; i++) thunk_box_put_cell(box, i, NULL);
}

/* thunk(): returns nothing; a lazy thunk returns the list of the 1-based positions of inputs that it still needs. */
static int thunk_box_call(lua_State *L) {
  thunk_box *box = thunk_box_self(L);
  const thunk *t = &box->a->t;
  if (box->busy) bind_raise(L, DAMO_ESTATE, "%s: this thunk is running already", t->node->op->def->name);
  lua_settop(L, 1);
  luaL_checkstack(L, 20, "thunk");
  lua_getiuservalue(L, 1, 1);
  for (int k = THUNK_INPUTS; k <= THUNK_OUT_READY; k++) lua_rawgeti(L, 2, k);
  thunk_box_load_inputs(L, box);
  thunk_box_load_outputs(L, box);
  box->busy = true;
  box->a->local.n_need = 0;
  bind_entry e = bind_enter(L);
  damo_status s = thunk_run(t, &box->a->f);
  if (s != DAMO_OK) thunk_blame(t, &box->a->f);
  bind_leave(e);
  box->busy = false;
  if (s == DAMO_OK && box->a->local.n_need == 0) thunk_box_unload_outputs(L, box);
  thunk_box_empty_cells(box);
  bind_check(L, s);
  bind_done(L);
  const thunk_local *local = &box->a->local;
  if (local->n_need == 0) return 0;
  lua_createtable(L, local->n_need, 0);
  for (int i = 0; i < local->n_need; i++) {
    lua_pushinteger(L, local->need[i] + 1);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int thunk_box_index(lua_State *L) {
  thunk_box *box = thunk_box_self(L);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  lua_getiuservalue(L, 1, 1);
  if (strcmp(key, "inputs") == 0) {
    lua_rawgeti(L, -1, THUNK_INPUTS);
  } else if (strcmp(key, "outputs") == 0) {
    lua_rawgeti(L, -1, THUNK_OUTPUTS);
  } else if (strcmp(key, "node") == 0) {
    lua_rawgeti(L, -1, THUNK_NODE);
  } else if (strcmp(key, "lazy") == 0) {
    lua_pushboolean(L, box->a->local.lazy);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int thunk_box_newindex(lua_State *L) {
  thunk_box_self(L);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  return bind_raise(L, DAMO_ETYPE, "Thunk: the field '%s' can't be set", key);
}

static int thunk_box_tostring(lua_State *L) {
  lua_pushfstring(L, "thunk of %s", thunk_box_self(L)->a->t.node->op->def->name);
  return 1;
}

static bool thunk_box_field_is(lua_State *L, int idx, const char *name, int type) {
  lua_getfield(L, idx, name);
  bool is = lua_type(L, -1) == type;
  lua_pop(L, 1);
  return is;
}

/* ThunkType(x): whether x is a thunk, or a script's own one: callable, with the fields inputs, outputs and lazy. */
static int thunk_box_type(lua_State *L) {
  lua_settop(L, 1);
  bool is = thunk_box_at(L, 1) != NULL;
  if (!is && luaL_getmetafield(L, 1, "__call") && lua_istable(L, 1)) {
    is = thunk_box_field_is(L, 1, "inputs", LUA_TTABLE) && thunk_box_field_is(L, 1, "outputs", LUA_TTABLE) &&
         thunk_box_field_is(L, 1, "lazy", LUA_TBOOLEAN);
  }
  lua_pushboolean(L, is);
  return 1;
}

void bind_add_thunk_type(lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", thunk_box_call},
                                  {"__index", thunk_box_index},
                                  {"__newindex", thunk_box_newindex},
                                  {"__tostring", thunk_box_tostring},
                                  {NULL, NULL}};
  lua_createtable(L, 0, 6);
  bind_setfuncs(L, meta);
  lua_pushcfunction(L, thunk_box_gc);
  lua_setfield(L, -2, "__gc");
  lua_pushliteral(L, "damo.Thunk");
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "__name");
  lua_setfield(L, -2, "__metatable");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &thunk_box_key);
  bind_pushfunction(L, thunk_box_type);
  lua_setfield(L, -2, "ThunkType");
}
