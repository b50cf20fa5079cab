/* workspace: the workspaces of thunks of Ops written in Lua (run.h says what a workspace is): made, found and
 * dropped. */
#include "run.h"

static const char workspaces_key = 'r', workspace_list_key = 'l';

/* Drops the workspace of r, if there is one. */
static void workspace_drop(lua_State *L, const damo_op *op, const bind_op_run *r) {
  if (!lua_checkstack(L, 8) || !bind_push_existing(L, op)) return;
  int top = lua_gettop(L);
  lua_getiuservalue(L, top, 1);
  if (lua_istable(L, -1)) {
    lua_rawgetp(L, -1, &workspaces_key);
    if (lua_istable(L, -1)) {
      lua_pushnil(L);
      lua_rawsetp(L, -2, r); /* an entry that exists: no allocation */
    }
  }
  lua_settop(L, top - 1);
}

static void run_clear(const thunk *t, frame *f) {
  bind_op_run *r = thunk_user(t, f);
  bind_op_link *link = r->link;
  bind_state *st = link->state;
  if (st && !st->closed) workspace_drop(st->running ? st->running : link->main, t->node->op, r);
  damo_ctx *ctx = f->ctx;
  for (int i = 0; i < t->n_in; i++) damo_release(r->view[i]);
  mem_free(ctx, r, r->size);
  bind_op_link_release(link);
}

bind_op_run *bind_op_run_new(const thunk *t, frame *f, const thunk_request *how) {
  size_t n = (size_t)t->n_in,
         size = sizeof(bind_op_run) + (2 * n + (size_t)t->n_out) * sizeof(void *) + (size_t)t->n_out;
  bind_op_run *r = mem_calloc(f->ctx, size);
  if (!r) return NULL;
  r->size = size;
  r->lender = (bind_box **)(r + 1);
  r->view = (damo_array **)(r->lender + n + t->n_out);
  r->fresh = (uint8_t *)(r->view + n);
  r->link = bind_op_class_of(t->node->op)->link;
  r->link->refs++;
  for (int o = 0; how && o < t->n_out; o++) {
    for (int64_t i = 0; i < how->n_no_recycling; i++) {
      if (how->no_recycling[i] == t->node->out[o]) r->fresh[o] = 1;
    }
  }
  thunk_set_user(t, f, r, run_clear);
  return r;
}

void bind_push_workspaces(lua_State *L) {
  bind_peer(L, -1);
  lua_rawgetp(L, -1, &workspaces_key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &workspaces_key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static int workspace_refuse_key(lua_State *L) {
  return bind_raise(L, DAMO_EVALUE, "the lists that perform gets have one entry for each input and output");
}

/* Makes the list at the top one whose length can't grow. */
static void workspace_seal(lua_State *L) { bind_set_event(L, "__newindex", workspace_refuse_key, &workspace_list_key); }

/* The function that runs: perform, or debug_perform where a debugging thunk is made and the Op has one. */
static void workspace_push_perform(lua_State *L, const damo_op *op) {
  bool debug = bind_op_class_of(op)->link->debug;
  bind_push_definition(L, bind_op_class_of(op));
  lua_getfield(L, -1, debug ? "debug_perform" : "perform");
  if (debug && lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_getfield(L, -1, "perform");
  }
  lua_remove(L, -2);
}

/* The workspace is a new one: lenders of an old one are gone. */
static void workspace_forget_lenders(const thunk *t, frame *f) {
  bind_op_run *r = thunk_user(t, f);
  for (int i = 0; i < t->n_in + t->n_out; i++) r->lender[i] = NULL;
}

/* Fills the workspace at the top for perform. */
static void workspace_fill(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  int workspace = lua_gettop(L);
  workspace_forget_lenders(t, c->f);
  workspace_push_perform(L, c->op);
  if (lua_isnil(L, -1)) {
    bind_callback_fail(c, DAMO_ENOT_IMPLEMENTED, "is missing");
    return;
  }
  lua_rawseti(L, workspace, WORKSPACE_FUNCTION);
  bind_push_borrowed(L, c->op);
  lua_rawseti(L, workspace, WORKSPACE_OP);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, workspace, WORKSPACE_NODE);
  lua_createtable(L, t->n_in, 0);
  workspace_seal(L);
  lua_rawseti(L, workspace, WORKSPACE_INPUTS);
  lua_createtable(L, t->n_out, 0);
  for (int o = 0; o < t->n_out; o++) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, workspace, WORKSPACE_CELLS + o);
    lua_rawseti(L, -2, o + 1);
  }
  workspace_seal(L);
  lua_rawseti(L, workspace, WORKSPACE_STORAGE);
  const char *name = c->name;
  c->name = "get_params"; /* for what it throws */
  bind_push_params(L, t->node);
  c->name = name;
  lua_rawseti(L, workspace, WORKSPACE_PARAMS);
}

bool bind_push_workspace(lua_State *L, bind_callback *c) {
  bind_push_borrowed(L, c->op);
  bind_push_workspaces(L);
  lua_rawgetp(L, -1, thunk_user(c->t, c->f));
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, WORKSPACE_CELLS + c->t->n_in + 2 * c->t->n_out, 0);
    workspace_fill(L, c);
    if (c->status != DAMO_OK) return false;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, thunk_user(c->t, c->f));
  }
  lua_remove(L, -2);
  return true;
}
