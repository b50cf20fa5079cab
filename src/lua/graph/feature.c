/* feature: features of FunctionGraphs: tables of callbacks written in Lua, and the DestroyHandler.
 *
 * A Lua feature is an fg_feature inside a userdata. The FunctionGraph's peer table holds that userdata and the script's
 * table: peer.features = {[address] = table}, peer.handles = {userdata, …} in the order of attachment.
 */
#include "lua/binding_int.h"

static const char feature_key = 'f';

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

typedef struct script_feature {
  fg_feature f;
  damo_fgraph *fg; /* owned while attached */
  bind_state *st;
} script_feature;

/* The arguments of a callback, for protected code; now is NULL except for on_change_input. */
typedef struct feature_call {
  script_feature *lf;
  const char *name;
  const damo_apply *node;
  int index;
  damo_var *old, *now;
} feature_call;

/* Pushes the feature's table; false if the FunctionGraph's userdata is gone. */
static bool feature_push(lua_State *L, const script_feature *lf) {
  if (!bind_push_existing(L, lf->fg)) return false;
  bind_peer(L, -1);
  lua_getfield(L, -1, "features");
  if (lua_istable(L, -1)) lua_rawgetp(L, -1, lf);
  return lua_istable(L, -1);
}

static int feature_protected(lua_State *L) {
  feature_call *c = lua_touserdata(L, 1);
  luaL_checkstack(L, 30, "feature");
  if (!feature_push(L, c->lf)) return 0;
  int table = lua_gettop(L);
  lua_getfield(L, table, c->name);
  if (lua_isnil(L, -1)) return 0;
  lua_pushvalue(L, table);
  bind_push_borrowed(L, c->lf->fg);
  int n = 2;
  if (c->now) {
    if (c->node) {
      bind_push_borrowed(L, c->node);
    } else {
      lua_pushliteral(L, "output");
    }
    lua_pushinteger(L, c->index + 1);
    bind_push_borrowed(L, c->old);
    bind_push_borrowed(L, c->now);
    n = 6;
  } else if (c->node) {
    bind_push_borrowed(L, c->node);
    n = 3;
  }
  lua_call(L, n, 0);
  return 0;
}

static damo_status feature_run_callback(script_feature *lf, feature_call c) {
  lua_State *L = lf->st->running;
  c.lf = lf;
  if (!L || lf->st->closed) return DAMO_OK; /* a host changes the graph: no Lua code listens */
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(lf->st->ctx);
  lua_pushcfunction(L, feature_protected);
  lua_pushlightuserdata(L, &c);
  if (bind_call_back(L, lf->st->ctx, 1, 0) == LUA_OK) return DAMO_OK;
  return bind_caught(L, NULL, c.name, (damo_apply *)c.node);
}

static damo_status feature_on_attach(damo_fgraph *fg, void *user) {
  (void)fg;
  return feature_run_callback(user, (feature_call){.name = "on_attach"});
}

static void feature_on_detach(damo_fgraph *fg, void *user) {
  (void)fg;
  script_feature *lf = user;
  bind_defer(lf->st, feature_run_callback(lf, (feature_call){.name = "on_detach"}));
}

static damo_status feature_on_import(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  return feature_run_callback(user, (feature_call){.name = "on_import", .node = node});
}

static void feature_on_prune(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  script_feature *lf = user;
  bind_defer(lf->st, feature_run_callback(lf, (feature_call){.name = "on_prune", .node = node}));
}

static damo_status feature_on_change(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old,
                                     damo_var *now) {
  (void)fg;
  return feature_run_callback(
      user, (feature_call){.name = "on_change_input", .node = node, .index = index, .old = old, .now = now});
}

static damo_status feature_validate(damo_fgraph *fg, void *user) {
  (void)fg;
  return feature_run_callback(user, (feature_call){.name = "validate"});
}

static void feature_drop(script_feature *lf) {
  damo_fgraph *fg = lf->fg;
  lf->fg = NULL;
  damo_release(fg);
}

/* If the feature is still attached, the userdata of its FunctionGraph dies in the same cycle: it is detached without
 * calling on_detach. */
static int feature_gc(lua_State *L) {
  script_feature *lf = lua_touserdata(L, 1);
  if (!lf->fg) return 0;
  lf->f.on_detach = NULL;
  fgraph_detach(lf->fg, &lf->f);
  feature_drop(lf);
  return 0;
}

/* Pushes the peer's table of that name, made if there is none. */
static void feature_push_subtable(lua_State *L, int peer, const char *name) {
  lua_getfield(L, peer, name);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, peer, name);
}

/* ---- The destroy handler ----------------------------------------------------------------------------------------- */

static const char destroy_feature_key = 'd';

/* The question about a leaf, and its answer, for protected code. */
typedef struct feature_leaf_question {
  const damo_var *v;
  bool answer;
} feature_leaf_question;

static int feature_ask_tag(lua_State *L) {
  feature_leaf_question *q = lua_touserdata(L, 1);
  if (!bind_push_existing(L, q->v)) return 0;
  bind_peer(L, -1);
  lua_getfield(L, -1, "tag");
  if (!lua_istable(L, -1)) return 0;
  lua_getfield(L, -1, "indestructible");
  q->answer = lua_toboolean(L, -1);
  return 0;
}

/* Whether a leaf has tag.indestructible; only a Variable that has a userdata can have it. */
static bool feature_leaf_is_indestructible(void *user, const damo_var *v) {
  const script_feature *lf = user;
  lua_State *L = lf->st->running;
  feature_leaf_question q = {v, false};
  if (!L || lf->st->closed || !lua_checkstack(L, 10)) return false;
  lua_pushcfunction(L, feature_ask_tag);
  lua_pushlightuserdata(L, &q);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return q.answer;
}

static damo_status destroy_feature_sort(const damo_fgraph *fg, void *user, ptrvec *out) {
  destroy_rules rules = {.is_protected = feature_leaf_is_indestructible, .user = user};
  return destroy_order(fg, &rules, NULL, out);
}

static damo_status destroy_feature_validate(damo_fgraph *fg, void *user) {
  ptrvec order;
  ptrvec_init(&order, fg->obj.ctx);
  damo_status s = destroy_feature_sort(fg, user, &order);
  ptrvec_clear(&order);
  return s;
}

/* damo.graph.DestroyHandler(): a feature, for attach_feature. */
static int feature_make_destroy_handler(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "DestroyHandler");
  lua_setfield(L, -2, "name");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &destroy_feature_key);
  lua_setmetatable(L, -2);
  return 1;
}

static bool feature_is_destroy_handler(lua_State *L, int idx) {
  if (!lua_getmetatable(L, idx)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &destroy_feature_key);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* ---- Attaching --------------------------------------------------------------------------------------------------- */

/* Pushes a new feature for the table at stack index 2: one that calls its functions, or a destroy handler if it is one.
 */
static script_feature *feature_new(lua_State *L) {
  script_feature *lf = lua_newuserdatauv(L, sizeof *lf, 0);
  *lf = (script_feature){.f = {.name = "lua",
                               .on_attach = feature_on_attach,
                               .on_detach = feature_on_detach,
                               .on_import = feature_on_import,
                               .on_prune = feature_on_prune,
                               .on_change_input = feature_on_change,
                               .validate = feature_validate,
                               .user = lf},
                         .st = bind_get(L)};
  if (feature_is_destroy_handler(L, 2)) {
    lf->f = (fg_feature){
        .name = "DestroyHandler", .validate = destroy_feature_validate, .order = destroy_feature_sort, .user = lf};
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &feature_key);
  lua_setmetatable(L, -2);
  return lf;
}

/* The position of the feature's table among the handles, with the handle pushed; 0, and nothing pushed, if it is not
 * attached. */
static int feature_find(lua_State *L, int features, int handles, int table) {
  for (int i = 1; i <= (int)lua_rawlen(L, handles); i++) {
    lua_rawgeti(L, handles, i);
    lua_rawgetp(L, features, lua_touserdata(L, -1));
    bool same = lua_rawequal(L, -1, table);
    lua_pop(L, 1);
    if (same) return i;
    lua_pop(L, 1);
  }
  return 0;
}

int bind_attach_feature(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "attach_feature");
  if (!lua_istable(L, 2)) bind_arg_error(L, "attach_feature", 2, "feature", "a table of callbacks");
  lua_settop(L, 2);
  bind_peer(L, 1);
  feature_push_subtable(L, 3, "features");
  feature_push_subtable(L, 3, "handles");
  if (feature_find(L, 4, 5, 2) > 0) return 0; /* it is attached already */
  script_feature *lf = feature_new(L);
  lua_pushvalue(L, 2);
  lua_rawsetp(L, 4, lf);
  lua_pushvalue(L, -1);
  lua_rawseti(L, 5, (int)lua_rawlen(L, 5) + 1);
  lf->fg = damo_retain(fg);
  bind_entry e = bind_enter(L);
  damo_status s = fgraph_attach(fg, &lf->f);
  s = bind_leave_deferred(e, s);
  if (s == DAMO_OK) return 0;
  feature_drop(lf);
  lua_pushnil(L);
  lua_rawsetp(L, 4, lf);
  lua_pushnil(L);
  lua_rawseti(L, 5, (int)lua_rawlen(L, 5));
  return bind_error(L);
}

int bind_remove_feature(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "remove_feature");
  lua_settop(L, 2);
  bind_peer(L, 1);
  feature_push_subtable(L, 3, "features");
  feature_push_subtable(L, 3, "handles");
  int at = feature_find(L, 4, 5, 2);
  if (at == 0) return bind_raise(L, DAMO_EVALUE, "remove_feature: the feature is not attached");
  script_feature *lf = lua_touserdata(L, 6);
  bind_entry e = bind_enter(L);
  fgraph_detach(fg, &lf->f);
  damo_status s = bind_leave_deferred(e, DAMO_OK);
  feature_drop(lf);
  lua_pushnil(L);
  lua_rawsetp(L, 4, lf);
  for (int n = (int)lua_rawlen(L, 5); at <= n; at++) {
    lua_rawgeti(L, 5, at + 1);
    lua_rawseti(L, 5, at);
  }
  bind_check(L, s);
  return 0;
}

int bind_get_features(lua_State *L) {
  bind_fgraph_self(L, "features");
  bind_peer(L, 1);
  int peer = lua_gettop(L);
  feature_push_subtable(L, peer, "features");
  feature_push_subtable(L, peer, "handles");
  lua_newtable(L);
  for (int i = 1; i <= (int)lua_rawlen(L, peer + 2); i++) {
    lua_rawgeti(L, peer + 2, i);
    lua_rawgetp(L, peer + 1, lua_touserdata(L, -1));
    lua_rawseti(L, peer + 3, i);
    lua_pop(L, 1);
  }
  return 1;
}

void bind_add_features(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, feature_gc);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &feature_key);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "damo.DestroyHandler");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &destroy_feature_key);
  bind_pushfunction(L, feature_make_destroy_handler);
  lua_setfield(L, -2, "DestroyHandler");
}
