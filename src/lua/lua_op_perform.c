/* lua_op_perform: thunks of Ops written in Lua that run perform, and the choice between these and the Op's own
 * make_thunk. */
#include "lua_op_run.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void empty_list(lua_State *L, int list, int n) {
  for (int i = 1; i <= n; i++) {
    lua_pushnil(L);
    lua_rawseti(L, list, i);
  }
}

/* Whether an input is a value of Lua's that is nil. */
static bool is_nil(lua_State *L, damo_obj *v) {
  if (v->kind != OBJ_GENERIC) return false;
  bind_push_raw(L, damo_retain(v));
  const bool nil = lua_isnil(L, -1);
  lua_pop(L, 1);
  return nil;
}

/* Whether the list has as many entries as the thunk has inputs. Where one is nil, Lua's own length may be any. */
static bool inputs_stand(lua_State *L, const thunk *t, int list) {
  if ((int)lua_rawlen(L, list) == t->n_in) return true;
  bool good = lua_rawgeti(L, list, t->n_in + 1) == LUA_TNIL;
  lua_pop(L, 1);
  for (int i = 0; i < t->n_in && good; i++) {
    good = lua_rawgeti(L, list, i + 1) != LUA_TNIL || is_nil(L, *t->in[i]);
    lua_pop(L, 1);
  }
  return good;
}

/* Whether the Op left the lists as they were. */
static bool lists_stand(lua_State *L, op_callback *c, int room, int inputs, int storage) {
  const thunk *t = c->t;
  bool good = inputs_stand(L, t, inputs) && (int)lua_rawlen(L, storage) == t->n_out;
  if (!good) op_call_fail(c, DAMO_EVALUE, "changed the length of a list that it was given");
  for (int o = 0; o < t->n_out && good; o++) {
    lua_rawgeti(L, room, R_CELLS + o);
    lua_rawgeti(L, storage, o + 1);
    good = lua_rawequal(L, -1, -2);
    if (!good) {
      op_call_fail(c, DAMO_ETYPE, "replaced cell %d of output_storage by a %s", o + 1, bind_typename(L, -1));
    }
    lua_pop(L, 2);
  }
  return good;
}

static void body_perform(lua_State *L, op_callback *c) {
  thunk *t = c->t;
  if (!op_push_room(L, c)) return;
  lua_rawgeti(L, 1, R_INPUTS);
  lua_rawgeti(L, 1, R_STORAGE);
  for (int i = 0; i < t->n_in; i++) {
    op_push_input(L, t, i);
    lua_rawseti(L, 2, i + 1);
  }
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 1, R_CELLS + o);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, o + 1);
    op_push_old(L, t, o);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  for (int k = R_FUNCTION; k <= R_NODE; k++) lua_rawgeti(L, 1, k);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawgeti(L, 1, R_PARAMS);
  lua_call(L, 5, 0);
  if (!lists_stand(L, c, 1, 2, 3)) return;
  for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
    lua_rawgeti(L, 1, R_CELLS + o);
    op_take_cell(L, c, o);
    lua_settop(L, 3);
  }
  empty_list(L, 2, t->n_in);
}

/* After an error the room of the thunk is made anew next time: it may hold anything. */
static void body_forget(lua_State *L, op_callback *c) {
  bind_push_borrowed(L, c->op);
  op_push_rooms(L);
  lua_pushnil(L);
  lua_rawsetp(L, -2, c->t);
}

damo_status op_run_body(thunk *t, op_callback *c) {
  lua_run *r = t->user ? t->user : op_run_new(t, NULL);
  if (!r) return DAMO_EMEMORY;
  if (r->busy) return op_call_fail(c, DAMO_ESTATE, "is under way already");
  r->busy = true;
  damo_status s = op_call_run(c);
  op_take_back(t);
  r->busy = false;
  return s;
}

damo_status op_lua_perform(thunk *t) {
  op_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_perform, .t = t};
  damo_status s = op_run_body(t, &c);
  if (s == DAMO_OK || !t->user) return s;
  op_callback forget = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_forget, .t = t};
  if (op_class(t->node->op)->link->state && !((lua_run *)t->user)->busy) op_call_run(&forget);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void body_furnish(lua_State *L, op_callback *c) {
  op_push_room(L, c);
  (void)L;
}

damo_status op_lua_furnish(thunk *t) {
  op_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_furnish, .t = t};
  if (!t->user && !op_run_new(t, NULL)) return DAMO_EMEMORY;
  return op_call_run(&c);
}

damo_status op_lua_make_thunk(thunk *t, const thunk_request *how) {
  const lua_class *k = op_class(t->node->op);
  if (strcmp(how->impl, "c") == 0) {
    return ctx_fail(t->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", k->name);
  }
  if (!op_run_new(t, how)) return DAMO_EMEMORY;
  if (!k->own_thunk || k->link->plain) {
    t->run = op_lua_perform;
    return op_lua_furnish(t);
  }
  return op_make_own_thunk(t, how);
}
