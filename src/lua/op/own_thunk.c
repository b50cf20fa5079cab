/* own_thunk: thunks that an Op's own make_thunk gave: a Lua callable over cells.
 *
 * The cells of inputs and outputs, and the flags that tell which are computed, are in the maps that make_thunk gets.
 * Each run fills the cells, calls, and takes the outputs, or the list of inputs that a lazy thunk still needs.
 */
#include "run.h"

/* Adds a cell for v to the map at `of`, unless it has one, and appends the cell to the list at `list`. */
static void own_thunk_add_cell(lua_State *L, int of, int list, int i, damo_var *v, bool flag) {
  bind_push_borrowed(L, v);
  lua_pushvalue(L, -1);
  lua_rawget(L, of);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    if (flag) {
      lua_pushboolean(L, v->kind == VAR_CONSTANT);
      lua_rawseti(L, -2, 1);
    } else if (v->kind == VAR_CONSTANT && v->value && v->value->kind != OBJ_GENERIC) {
      bind_push_raw(L, damo_retain(v->value));
      lua_rawseti(L, -2, 1);
    }
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, of);
  }
  lua_rawseti(L, list, i + 1);
  lua_pop(L, 1);
}

/* Puts a list of cells of the node's inputs or outputs into the workspace. */
static void own_thunk_add_cells(lua_State *L, int workspace, int place, int of, const thunk *t, bool out, bool flag) {
  int n = out ? t->n_out : t->n_in;
  lua_createtable(L, n, 0);
  int list = lua_gettop(L);
  for (int i = 0; i < n; i++) own_thunk_add_cell(L, of, list, i, out ? t->node->out[i] : t->node->in[i], flag);
  lua_rawseti(L, workspace, place);
}

/* Takes what make_thunk gave, at the top, into the workspace. */
static void own_thunk_take_callable(lua_State *L, bind_callback *c, int workspace) {
  if (!bind_is_callable(L, -1)) {
    bind_callback_fail(c, DAMO_ETYPE, "must return a function or a callable object, got %s", bind_typename(L, -1));
    return;
  }
  if (!lua_isfunction(L, -1)) {
    lua_getfield(L, -1, "lazy");
    bool lazy = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (lazy && thunk_set_lazy(c->t, c->f) != DAMO_OK) {
      c->status = DAMO_EMEMORY;
      return;
    }
  }
  lua_rawseti(L, workspace, WORKSPACE_FUNCTION);
}

static void body_make_thunk(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  lua_createtable(L, WORKSPACE_CELLS + t->n_in + 2 * t->n_out, 0); /* 1: the workspace */
  lua_newtable(L);                                                 /* 2: storage_map */
  lua_newtable(L);                                                 /* 3: compute_map */
  own_thunk_add_cells(L, 1, WORKSPACE_INPUTS, 2, t, false, false);
  own_thunk_add_cells(L, 1, WORKSPACE_STORAGE, 2, t, true, false);
  own_thunk_add_cells(L, 1, WORKSPACE_IN_READY, 3, t, false, true);
  own_thunk_add_cells(L, 1, WORKSPACE_OUT_READY, 3, t, true, true);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, 1, WORKSPACE_NODE);
  bind_callback_push(L, c, "make_thunk");
  bind_push_borrowed(L, t->node);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  bind_push_vars(L, c->how->no_recycling, c->how->n_no_recycling);
  lua_pushstring(L, c->how->impl);
  lua_call(L, 6, 1);
  own_thunk_take_callable(L, c, 1);
  if (c->status != DAMO_OK) return;
  bind_push_borrowed(L, c->op);
  bind_push_workspaces(L);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, -2, thunk_user(c->t, c->f));
}

/* Sets [1] of entry i of the list at idx to the value at the top. */
static void own_thunk_set_cell(lua_State *L, int list, int i) {
  lua_rawgeti(L, list, i + 1);
  lua_insert(L, -2);
  lua_rawseti(L, -2, 1);
  lua_pop(L, 1);
}

/* 2 inputs, 3 outputs, 4 and 5 whether they are computed. */
static void own_thunk_load_cells(lua_State *L, const thunk *t, frame *f) {
  for (int i = 0; i < t->n_in; i++) {
    bool ready = thunk_ready(t, f, i) && thunk_value(t, f, i);
    if (ready) {
      bind_push_input(L, t, f, i);
    } else {
      lua_pushnil(L);
    }
    own_thunk_set_cell(L, 2, i);
    lua_pushboolean(L, ready);
    own_thunk_set_cell(L, 4, i);
  }
  for (int o = 0; o < t->n_out; o++) {
    bind_push_old_output(L, t, f, o);
    own_thunk_set_cell(L, 3, o);
    lua_pushboolean(L, 0);
    own_thunk_set_cell(L, 5, o);
  }
}

/* The list of positions at the top, which a lazy thunk still needs; false when there is none. */
static bool own_thunk_take_needs(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (n == 0) return false;
  if (!thunk_is_lazy(t, f)) {
    bind_callback_fail(c, DAMO_ETYPE, "gave a thunk that returned a list, though it is not lazy");
    return true;
  }
  for (int k = 1; k <= n && c->status == DAMO_OK; k++) {
    lua_rawgeti(L, -1, k);
    lua_Number at = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    lua_pop(L, 1);
    if (at < 1 || at > t->n_in || at != floor(at)) {
      bind_callback_fail(c, DAMO_EINDEX, "gave a thunk that asked for an input that does not exist: there are %d",
                         t->n_in);
    } else if (thunk_ready(t, f, (int)at - 1)) {
      bind_callback_fail(c, DAMO_EVALUE, "gave a thunk that asked for input %d, which it has", (int)at);
    } else {
      thunk_need(t, f, (int)at - 1);
    }
  }
  return true;
}

static void body_run_own_thunk(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  bind_push_borrowed(L, c->op);
  bind_push_workspaces(L);
  lua_rawgetp(L, -1, thunk_user(t, c->f));
  lua_replace(L, 1);
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    bind_callback_fail(c, DAMO_ESTATE, "made a thunk whose Lua part is gone");
    return;
  }
  static const int places[] = {WORKSPACE_INPUTS, WORKSPACE_STORAGE, WORKSPACE_IN_READY, WORKSPACE_OUT_READY};
  for (int k = 0; k < 4; k++) lua_rawgeti(L, 1, places[k]);
  own_thunk_load_cells(L, t, f);
  lua_rawgeti(L, 1, WORKSPACE_FUNCTION);
  lua_call(L, 0, 1);
  if (!own_thunk_take_needs(L, c)) {
    lua_settop(L, 5);
    for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
      lua_rawgeti(L, 3, o + 1);
      bind_take_cell(L, c, o);
      lua_settop(L, 5);
    }
  }
  for (int i = 0; i < t->n_in; i++) {
    lua_pushnil(L);
    own_thunk_set_cell(L, 2, i);
  }
}

static damo_status own_thunk_run(const thunk *t, frame *f) {
  bind_callback c = {
      .name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_run_own_thunk, .t = t, .f = f};
  return bind_lend_and_run(t, f, &c);
}

damo_status bind_op_make_own_thunk(const thunk *t, frame *f, const thunk_request *how) {
  bind_callback c = {
      .name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_make_thunk, .t = t, .f = f, .how = how};
  thunk_set_run(t, f, own_thunk_run);
  return bind_callback_run(&c);
}
