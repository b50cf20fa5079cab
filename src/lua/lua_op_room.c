/* lua_op_room: the rooms of thunks of Ops written in Lua (lua_op_run.h says what a room is): made, found and
 * dropped. */
#include "lua_op_run.h"

static const char rooms_key = 'r', list_key = 'l';

/* Drops the thunk's room, if there is one. */
static void drop_room(lua_State *L, const thunk *t) {
  if (!lua_checkstack(L, 8) || !bind_push_existing(L, t->node->op)) return;
  int top = lua_gettop(L);
  lua_getiuservalue(L, top, 1);
  if (lua_istable(L, -1)) {
    lua_rawgetp(L, -1, &rooms_key);
    if (lua_istable(L, -1)) {
      lua_pushnil(L);
      lua_rawsetp(L, -2, t); /* an entry that exists: no allocation */
    }
  }
  lua_settop(L, top - 1);
}

static void clear_run(thunk *t) {
  lua_run *r = t->user;
  op_link *link = r->link;
  bind_state *st = link->state;
  t->user = NULL;
  if (st && !st->closed) drop_room(st->running ? st->running : link->main, t);
  damo_ctx *ctx = t->ctx;
  for (int i = 0; i < t->n_in; i++) damo_release(r->view[i]);
  mem_free(ctx, r, r->size);
  op_link_release(link);
}

lua_run *op_run_new(thunk *t, const thunk_request *how) {
  size_t n = (size_t)t->n_in, size = sizeof(lua_run) + (2 * n + (size_t)t->n_out) * sizeof(void *) + (size_t)t->n_out;
  lua_run *r = mem_calloc(t->ctx, size);
  if (!r) return NULL;
  r->size = size;
  r->lender = (bind_box **)(r + 1);
  r->view = (damo_array **)(r->lender + n + t->n_out);
  r->fresh = (uint8_t *)(r->view + n);
  r->link = op_class(t->node->op)->link;
  r->link->refs++;
  for (int o = 0; how && o < t->n_out; o++) {
    for (int64_t i = 0; i < how->n_no_recycling; i++) {
      if (how->no_recycling[i] == t->node->out[o]) r->fresh[o] = 1;
    }
  }
  t->user = r;
  t->user_clear = clear_run;
  return r;
}

void op_push_rooms(lua_State *L) {
  bind_peer(L, -1);
  lua_rawgetp(L, -1, &rooms_key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &rooms_key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static int refuse_key(lua_State *L) {
  return bind_raise(L, DAMO_EVALUE, "the lists that perform gets have one entry for each input and output");
}

/* Makes the list at the top one whose length can't grow. */
static void seal(lua_State *L) { bind_set_event(L, "__newindex", refuse_key, &list_key); }

/* The function that runs: perform, or debug_perform where a debugging thunk is made and the Op has one. */
static void push_perform(lua_State *L, const damo_op *op) {
  bool debug = op_class(op)->link->debug;
  bind_push_definition(L, op_class(op));
  lua_getfield(L, -1, debug ? "debug_perform" : "perform");
  if (debug && lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_getfield(L, -1, "perform");
  }
  lua_remove(L, -2);
}

/* The room is a new one: lenders of an old one are gone. */
static void forget_lenders(const thunk *t) {
  lua_run *r = t->user;
  for (int i = 0; i < t->n_in + t->n_out; i++) r->lender[i] = NULL;
}

/* Fills the room at the top for perform. */
static void furnish(lua_State *L, op_callback *c) {
  const thunk *t = c->t;
  int room = lua_gettop(L);
  forget_lenders(t);
  push_perform(L, c->op);
  if (lua_isnil(L, -1)) {
    op_call_fail(c, DAMO_ENOT_IMPLEMENTED, "is missing");
    return;
  }
  lua_rawseti(L, room, R_FUNCTION);
  bind_push_borrowed(L, c->op);
  lua_rawseti(L, room, R_OP);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, room, R_NODE);
  lua_createtable(L, t->n_in, 0);
  seal(L);
  lua_rawseti(L, room, R_INPUTS);
  lua_createtable(L, t->n_out, 0);
  for (int o = 0; o < t->n_out; o++) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, room, R_CELLS + o);
    lua_rawseti(L, -2, o + 1);
  }
  seal(L);
  lua_rawseti(L, room, R_STORAGE);
  const char *name = c->name;
  c->name = "get_params"; /* for what it throws */
  op_push_params(L, t->node);
  c->name = name;
  lua_rawseti(L, room, R_PARAMS);
}

bool op_push_room(lua_State *L, op_callback *c) {
  bind_push_borrowed(L, c->op);
  op_push_rooms(L);
  lua_rawgetp(L, -1, c->t);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, R_CELLS + c->t->n_in + 2 * c->t->n_out, 0);
    furnish(L, c);
    if (c->status != DAMO_OK) return false;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, c->t);
  }
  lua_remove(L, -2);
  return true;
}
