/* perform: thunks of Ops written in Lua that run perform, and the choice between these and the Op's own
 * make_thunk. */
#include "run.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void perform_empty_list(lua_State *L, int list, int n) {
  for (int i = 1; i <= n; i++) {
    lua_pushnil(L);
    lua_rawseti(L, list, i);
  }
}

/* Whether an input is a value of Lua's that is nil. */
static bool perform_is_nil(lua_State *L, damo_obj *v) {
  if (v->kind != OBJ_GENERIC) return false;
  bind_push_raw(L, damo_retain(v));
  const bool nil = lua_isnil(L, -1);
  lua_pop(L, 1);
  return nil;
}

/* Whether the list has as many entries as the thunk has inputs. Where one is nil, Lua's own length may be any. */
static bool perform_inputs_unchanged(lua_State *L, const thunk *t, frame *f, int list) {
  if ((int)lua_rawlen(L, list) == t->n_in) return true;
  bool good = lua_rawgeti(L, list, t->n_in + 1) == LUA_TNIL;
  lua_pop(L, 1);
  for (int i = 0; i < t->n_in && good; i++) {
    good = lua_rawgeti(L, list, i + 1) != LUA_TNIL || perform_is_nil(L, thunk_value(t, f, i));
    lua_pop(L, 1);
  }
  return good;
}

/* Whether the Op left the lists as they were. */
static bool perform_lists_unchanged(lua_State *L, bind_callback *c, int workspace, int inputs, int storage) {
  const thunk *t = c->t;
  bool good = perform_inputs_unchanged(L, t, c->f, inputs) && (int)lua_rawlen(L, storage) == t->n_out;
  if (!good) bind_callback_fail(c, DAMO_EVALUE, "changed the length of a list that it was given");
  for (int o = 0; o < t->n_out && good; o++) {
    lua_rawgeti(L, workspace, WORKSPACE_CELLS + o);
    lua_rawgeti(L, storage, o + 1);
    good = lua_rawequal(L, -1, -2);
    if (!good) {
      bind_callback_fail(c, DAMO_ETYPE, "replaced cell %d of output_storage by a %s", o + 1, bind_typename(L, -1));
    }
    lua_pop(L, 2);
  }
  return good;
}

static void body_perform(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  if (!bind_push_workspace(L, c)) return;
  lua_rawgeti(L, 1, WORKSPACE_INPUTS);
  lua_rawgeti(L, 1, WORKSPACE_STORAGE);
  for (int i = 0; i < t->n_in; i++) {
    bind_push_input(L, t, f, i);
    lua_rawseti(L, 2, i + 1);
  }
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 1, WORKSPACE_CELLS + o);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, o + 1);
    bind_push_old_output(L, t, f, o);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  for (int k = WORKSPACE_FUNCTION; k <= WORKSPACE_NODE; k++) lua_rawgeti(L, 1, k);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawgeti(L, 1, WORKSPACE_PARAMS);
  lua_call(L, 5, 0);
  if (!perform_lists_unchanged(L, c, 1, 2, 3)) return;
  for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
    lua_rawgeti(L, 1, WORKSPACE_CELLS + o);
    bind_take_cell(L, c, o);
    lua_settop(L, 3);
  }
  perform_empty_list(L, 2, t->n_in);
}

/* After an error the workspace of the thunk is made anew next time: it may hold anything. */
static void body_forget(lua_State *L, bind_callback *c) {
  bind_push_borrowed(L, c->op);
  bind_push_workspaces(L);
  lua_pushnil(L);
  lua_rawsetp(L, -2, thunk_user(c->t, c->f));
}

damo_status bind_lend_and_run(const thunk *t, frame *f, bind_callback *c) {
  bind_op_run *r = thunk_user(t, f) ? thunk_user(t, f) : bind_op_run_new(t, f, NULL);
  if (!r) return DAMO_EMEMORY;
  if (r->busy) return bind_callback_fail(c, DAMO_ESTATE, "is under way already");
  r->busy = true;
  damo_status s = bind_callback_run(c);
  bind_take_back(t, f);
  r->busy = false;
  return s;
}

damo_status bind_op_perform(const thunk *t, frame *f) {
  bind_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_perform, .t = t, .f = f};
  damo_status s = bind_lend_and_run(t, f, &c);
  if (s == DAMO_OK || !thunk_user(t, f)) return s;
  bind_callback forget = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_forget, .t = t, .f = f};
  if (bind_op_class_of(t->node->op)->link->state && !((bind_op_run *)thunk_user(t, f))->busy)
    bind_callback_run(&forget);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void body_furnish(lua_State *L, bind_callback *c) {
  bind_push_workspace(L, c);
  (void)L;
}

damo_status bind_op_furnish(const thunk *t, frame *f) {
  bind_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_furnish, .t = t, .f = f};
  if (!thunk_user(t, f) && !bind_op_run_new(t, f, NULL)) return DAMO_EMEMORY;
  return bind_callback_run(&c);
}

damo_status bind_op_make_thunk(const thunk *t, frame *f, const thunk_request *how) {
  const bind_op_class *k = bind_op_class_of(t->node->op);
  if (strcmp(how->impl, "c") == 0) {
    return ctx_fail(f->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", k->name);
  }
  if (!bind_op_run_new(t, f, how)) return DAMO_EMEMORY;
  if (!k->own_thunk || k->link->plain) {
    thunk_set_run(t, f, bind_op_perform);
    return bind_op_furnish(t, f);
  }
  return bind_op_make_own_thunk(t, f, how);
}
