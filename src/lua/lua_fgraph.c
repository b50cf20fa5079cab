/* lua_fgraph: FunctionGraphs: fields, checked changes, features written in Lua.
 *
 * A Lua feature is an fg_feature inside a userdata that hangs from the FunctionGraph's, beside the table it stands for:
 * peer.features = {[address] = table}, peer.handles = {userdata, …} in the order they came.
 */
#include <stdio.h>

#include "lua_int.h"

static damo_fgraph *self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_FGRAPH, func, "self"); }

static const char meta_key = 'f';

/* ---- Features ---------------------------------------------------------------------------------------------------- */

typedef struct lua_feature {
  fg_feature f;
  damo_fgraph *fg; /* owned while attached */
  bind_state *st;
} lua_feature;

/* A callback under way, as protected code sees it. */
typedef struct feature_call {
  lua_feature *lf;
  const char *name;
  const damo_apply *node;
  int index;
  damo_var *old, *now;
} feature_call;

/* Pushes the feature's table; false when it is gone. */
static bool push_feature(lua_State *L, const lua_feature *lf) {
  if (!bind_push_existing(L, lf->fg)) return false;
  bind_peer(L, -1);
  lua_getfield(L, -1, "features");
  if (lua_istable(L, -1)) lua_rawgetp(L, -1, lf);
  return lua_istable(L, -1);
}

static int feature_protected(lua_State *L) {
  feature_call *c = lua_touserdata(L, 1);
  luaL_checkstack(L, 30, "feature");
  if (!push_feature(L, c->lf)) return 0;
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

static damo_status tell(lua_feature *lf, feature_call c) {
  lua_State *L = lf->st->running;
  c.lf = lf;
  if (!L || lf->st->closed) return DAMO_OK; /* a host changes the graph: nobody in Lua listens */
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(lf->st->ctx);
  lua_pushcfunction(L, feature_protected);
  lua_pushlightuserdata(L, &c);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return DAMO_OK;
  return bind_caught(L, NULL, c.name, (damo_apply *)c.node);
}

static damo_status on_attach(damo_fgraph *fg, void *user) {
  (void)fg;
  return tell(user, (feature_call){.name = "on_attach"});
}

static void on_detach(damo_fgraph *fg, void *user) {
  (void)fg;
  lua_feature *lf = user;
  bind_defer(lf->st, tell(lf, (feature_call){.name = "on_detach"}));
}

static damo_status on_import(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  return tell(user, (feature_call){.name = "on_import", .node = node});
}

static void on_prune(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  lua_feature *lf = user;
  bind_defer(lf->st, tell(lf, (feature_call){.name = "on_prune", .node = node}));
}

static damo_status on_change(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old, damo_var *now) {
  (void)fg;
  return tell(user, (feature_call){.name = "on_change_input", .node = node, .index = index, .old = old, .now = now});
}

static damo_status validate(damo_fgraph *fg, void *user) {
  (void)fg;
  return tell(user, (feature_call){.name = "validate"});
}

static void drop_feature(lua_feature *lf) {
  damo_fgraph *fg = lf->fg;
  lf->fg = NULL;
  damo_release(fg);
}

/* Of a feature that is still attached: the userdata of its FunctionGraph dies too, so nobody in Lua is told. */
static int feature_gc(lua_State *L) {
  lua_feature *lf = lua_touserdata(L, 1);
  if (!lf->fg) return 0;
  lf->f.on_detach = NULL;
  fgraph_detach(lf->fg, &lf->f);
  drop_feature(lf);
  return 0;
}

/* Pushes the peer's table of that name, made when there is none. */
static void push_sub(lua_State *L, int peer, const char *name) {
  lua_getfield(L, peer, name);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, peer, name);
}

static damo_status leave(bind_entry e, damo_status s) {
  damo_status left = bind_deferred(e.state);
  bind_leave(e);
  return s != DAMO_OK ? s : left;
}

/* ---- The destroy handler ----------------------------------------------------------------------------------------- */

static const char destroy_key = 'd';

/* A leaf as protected code looks at it. */
typedef struct leaf_question {
  const damo_var *v;
  bool answer;
} leaf_question;

static int ask_tag(lua_State *L) {
  leaf_question *q = lua_touserdata(L, 1);
  if (!bind_push_existing(L, q->v)) return 0;
  bind_peer(L, -1);
  lua_getfield(L, -1, "tag");
  if (!lua_istable(L, -1)) return 0;
  lua_getfield(L, -1, "indestructible");
  q->answer = lua_toboolean(L, -1);
  return 0;
}

/* tag.indestructible of an input whose Variable a script has seen. */
static bool is_indestructible(void *user, const damo_var *v) {
  const lua_feature *lf = user;
  lua_State *L = lf->st->running;
  leaf_question q = {v, false};
  if (!L || lf->st->closed || !lua_checkstack(L, 10)) return false;
  lua_pushcfunction(L, ask_tag);
  lua_pushlightuserdata(L, &q);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return q.answer;
}

static damo_status destroy_sort(const damo_fgraph *fg, void *user, ptrvec *out) {
  destroy_rules rules = {.is_protected = is_indestructible, .user = user};
  return destroy_order(fg, &rules, NULL, out);
}

static damo_status destroy_validate(damo_fgraph *fg, void *user) {
  ptrvec order;
  ptrvec_init(&order, fg->obj.ctx);
  damo_status s = destroy_sort(fg, user, &order);
  ptrvec_clear(&order);
  return s;
}

/* damo.graph.DestroyHandler(): a feature, for attach_feature. */
static int make_destroy_handler(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "DestroyHandler");
  lua_setfield(L, -2, "name");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &destroy_key);
  lua_setmetatable(L, -2);
  return 1;
}

static bool is_destroy_handler(lua_State *L, int idx) {
  if (!lua_getmetatable(L, idx)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &destroy_key);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

static void add_destroy_handler(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "damo.DestroyHandler");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &destroy_key);
  lua_pushcfunction(L, make_destroy_handler);
  lua_setfield(L, -2, "DestroyHandler");
}

/* Pushes a new feature that calls the functions of the table at stack index 2, or what a DestroyHandler is. */
static lua_feature *new_feature(lua_State *L) {
  lua_feature *lf = lua_newuserdatauv(L, sizeof *lf, 0);
  *lf = (lua_feature){.f = {.name = "lua",
                            .on_attach = on_attach,
                            .on_detach = on_detach,
                            .on_import = on_import,
                            .on_prune = on_prune,
                            .on_change_input = on_change,
                            .validate = validate,
                            .user = lf},
                      .st = bind_get(L)};
  if (is_destroy_handler(L, 2)) {
    lf->f = (fg_feature){.name = "DestroyHandler",
                         .on_attach = destroy_validate,
                         .validate = destroy_validate,
                         .order = destroy_sort,
                         .user = lf};
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key);
  lua_setmetatable(L, -2);
  return lf;
}

/* fg:attach_feature{on_import = function(self, fgraph, node) … end} */
static int attach_feature(lua_State *L) {
  damo_fgraph *fg = self(L, "attach_feature");
  if (!lua_istable(L, 2)) bind_arg_error(L, "attach_feature", 2, "feature", "a table of callbacks");
  lua_settop(L, 2);
  bind_peer(L, 1);
  push_sub(L, 3, "features");
  push_sub(L, 3, "handles");
  lua_feature *lf = new_feature(L);
  lua_pushvalue(L, 2);
  lua_rawsetp(L, 4, lf);
  lua_pushvalue(L, -1);
  lua_rawseti(L, 5, (int)lua_rawlen(L, 5) + 1);
  lf->fg = damo_retain(fg);
  bind_entry e = bind_enter(L);
  damo_status s = fgraph_attach(fg, &lf->f);
  s = leave(e, s);
  if (s == DAMO_OK) return 0;
  drop_feature(lf);
  lua_pushnil(L);
  lua_rawsetp(L, 4, lf);
  lua_pushnil(L);
  lua_rawseti(L, 5, (int)lua_rawlen(L, 5));
  return bind_error(L);
}

/* The place of the feature's table among the handles, 0 when it is not attached; pushes the handle when it is. */
static int find_feature(lua_State *L, int features, int handles, int table) {
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

static int remove_feature(lua_State *L) {
  damo_fgraph *fg = self(L, "remove_feature");
  lua_settop(L, 2);
  bind_peer(L, 1);
  push_sub(L, 3, "features");
  push_sub(L, 3, "handles");
  int at = find_feature(L, 4, 5, 2);
  if (at == 0) return bind_raise(L, DAMO_EVALUE, "remove_feature: the feature is not attached");
  lua_feature *lf = lua_touserdata(L, 6);
  bind_entry e = bind_enter(L);
  fgraph_detach(fg, &lf->f);
  damo_status s = leave(e, DAMO_OK);
  drop_feature(lf);
  lua_pushnil(L);
  lua_rawsetp(L, 4, lf);
  for (int n = (int)lua_rawlen(L, 5); at <= n; at++) {
    lua_rawgeti(L, 5, at + 1);
    lua_rawseti(L, 5, at);
  }
  bind_check(L, s);
  return 0;
}

static int get_features(lua_State *L) {
  self(L, "features");
  bind_peer(L, 1);
  int peer = lua_gettop(L);
  push_sub(L, peer, "features");
  push_sub(L, peer, "handles");
  lua_newtable(L);
  for (int i = 1; i <= (int)lua_rawlen(L, peer + 2); i++) {
    lua_rawgeti(L, peer + 2, i);
    lua_rawgetp(L, peer + 1, lua_touserdata(L, -1));
    lua_rawseti(L, peer + 3, i);
    lua_pop(L, 1);
  }
  return 1;
}

/* ---- Making and fields ------------------------------------------------------------------------------------------- */

static int push_fgraph(lua_State *L, damo_fgraph *fg) {
  if (!fg) return bind_error(L);
  bind_push(L, fg);
  return 1;
}

/* damo.graph.FunctionGraph(inputs, outputs, {clone=true}) */
static int make_fgraph(lua_State *L) {
  static const char *const options[] = {"clone", NULL};
  lua_settop(L, 3);
  bind_check_options(L, "FunctionGraph", 3, options);
  bool copy = bind_option_bool(L, 3, "clone", true, "FunctionGraph");
  bind_list in = bind_var_list(L, 1, false, "FunctionGraph", "inputs");
  bind_list out = bind_var_list(L, 2, false, "FunctionGraph", "outputs");
  return push_fgraph(L, fgraph_new(bind_ctx(L), in.at, in.n, out.at, out.n, copy, NULL));
}

static int clone(lua_State *L) {
  damo_fgraph *fg = self(L, "clone");
  return push_fgraph(L, fgraph_new(bind_ctx(L), (damo_var *const *)fg->inputs.at, fg->inputs.n,
                                   (damo_var *const *)fg->outputs.at, fg->outputs.n, true, NULL));
}

static int push_vars(lua_State *L, const ptrvec *v) {
  lua_createtable(L, (int)v->n, 0);
  for (int64_t i = 0; i < v->n; i++) {
    bind_push_borrowed(L, v->at[i]);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return 1;
}

static int get_inputs(lua_State *L) { return push_vars(L, &self(L, "inputs")->inputs); }
static int get_outputs(lua_State *L) { return push_vars(L, &self(L, "outputs")->outputs); }

/* Nodes in dependency order, as userdata in a vault's place. */
static int toposort(lua_State *L) {
  damo_fgraph *fg = self(L, "toposort");
  void **room = bind_room(L, fg->nodes.n, sizeof *room);
  ptrvec nodes;
  ptrvec_init(&nodes, bind_ctx(L));
  damo_status s = fgraph_toposort(fg, &nodes);
  int64_t n = nodes.n < (int64_t)fg->nodes.n ? nodes.n : (int64_t)fg->nodes.n;
  if (s == DAMO_OK && n) memcpy(room, nodes.at, (size_t)n * sizeof *room);
  ptrvec_clear(&nodes);
  bind_check(L, s);
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    bind_push_borrowed(L, room[i]);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return 1;
}

/* Inputs, then what the nodes read and make, each once, in order. */
static int get_variables(lua_State *L) {
  damo_fgraph *fg = self(L, "variables");
  toposort(L);
  int nodes = lua_gettop(L), n = 0;
  lua_newtable(L);
  lua_newtable(L); /* seen */
#define ADD(v)                        \
  do {                                \
    const void *v_ = (v);             \
    lua_rawgetp(L, nodes + 2, v_);    \
    bool seen = !lua_isnil(L, -1);    \
    lua_pop(L, 1);                    \
    if (!seen) {                      \
      lua_pushboolean(L, 1);          \
      lua_rawsetp(L, nodes + 2, v_);  \
      bind_push_borrowed(L, v_);      \
      lua_rawseti(L, nodes + 1, ++n); \
    }                                 \
  } while (0)
  for (int64_t i = 0; i < fg->inputs.n; i++) ADD(fg->inputs.at[i]);
  for (int k = 1; k <= (int)lua_rawlen(L, nodes); k++) {
    lua_rawgeti(L, nodes, k);
    damo_apply *node = bind_to(L, -1, OBJ_APPLY);
    lua_pop(L, 1);
    for (int i = 0; i < node->n_in; i++) ADD(node->in[i]);
    for (int i = 0; i < node->n_out; i++) ADD(node->out[i]);
  }
  for (int64_t i = 0; i < fg->outputs.n; i++) ADD(fg->outputs.at[i]);
#undef ADD
  lua_settop(L, nodes + 1);
  return 1;
}

/* fg:clients(v): {{node or "output", position}, …} */
static int clients(lua_State *L) {
  damo_fgraph *fg = self(L, "clients");
  const damo_var *v = bind_check_obj(L, 2, OBJ_VAR, "clients", "variable");
  const fg_clients *c = fgraph_clients(fg, v);
  int n = c ? c->n : 0;
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_createtable(L, 2, 0);
    if (c->at[i].node) {
      bind_push_borrowed(L, c->at[i].node);
    } else {
      lua_pushliteral(L, "output");
    }
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, c->at[i].index + 1);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* The userdata of the graph and of the nodes that now use `now` reach what they reach in C again. */
static void anchor_users(lua_State *L, const damo_fgraph *fg, damo_var *const *now, int64_t n) {
  bind_reanchor(L, 1);
  for (int64_t k = 0; k < n; k++) {
    const fg_clients *c = fgraph_clients(fg, now[k]);
    for (int i = 0; c && i < c->n; i++) {
      if (!c->at[i].node || !bind_push_existing(L, c->at[i].node)) continue;
      bind_reanchor(L, -1);
      lua_pop(L, 1);
    }
  }
}

static const char *read_reason(lua_State *L, int idx, const char *func) {
  static const char *const options[] = {"reason", "import_missing", NULL};
  bind_check_options(L, func, idx, options);
  if (bind_option_bool(L, idx, "import_missing", false, func)) {
    bind_raise(L, DAMO_ENOT_IMPLEMENTED, "%s: option 'import_missing' is not implemented", func);
  }
  return bind_option_str(L, idx, "reason", func);
}

static int replace_lists(lua_State *L, damo_fgraph *fg, damo_var **old, damo_var **now, int64_t n, const char *reason) {
  bind_entry e = bind_enter(L);
  damo_status s = leave(e, fgraph_replace_all(fg, old, now, n, reason));
  bind_check(L, s);
  anchor_users(L, fg, now, n);
  return 0;
}

/* fg:replace(old, new, {reason=}) */
static int replace(lua_State *L) {
  damo_fgraph *fg = self(L, "replace");
  bool graph;
  lua_settop(L, 4);
  damo_var *old = bind_check_obj(L, 2, OBJ_VAR, "replace", "old");
  const char *reason = read_reason(L, 4, "replace");
  damo_var *now = bind_operand(L, 3, true, &graph, "replace", 3, "new");
  return replace_lists(L, fg, &old, &now, 1, reason);
}

/* fg:replace_all({[old] = new}) or {{old, new}, …}: all or none. */
static int replace_all(lua_State *L) {
  damo_fgraph *fg = self(L, "replace_all");
  lua_settop(L, 3);
  const char *reason = read_reason(L, 3, "replace_all");
  if (!lua_istable(L, 2)) bind_arg_error(L, "replace_all", 2, "pairs", "a table {[old] = new} or a list of pairs");
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) n++;
  damo_var **old = bind_room(L, (size_t)n, sizeof *old), **now = bind_room(L, (size_t)n, sizeof *now);
  lua_newtable(L);
  bool listed = n > 0 && (int64_t)lua_rawlen(L, 2) == n;
  int64_t k = 0;
  for (lua_pushnil(L); lua_next(L, 2); k++) {
    bool graph;
    int top = lua_gettop(L);
    if (listed) {
      if (!lua_istable(L, top)) bind_raise(L, DAMO_ETYPE, "replace_all: an entry is no pair {old, new}");
      lua_rawgeti(L, top, 1);
      lua_rawgeti(L, top, 2);
    } else {
      lua_pushvalue(L, top - 1);
      lua_pushvalue(L, top);
    }
    old[k] = bind_to_var(L, -2);
    if (!old[k]) bind_raise(L, DAMO_ETYPE, "replace_all: expected a Variable to replace, got %s", bind_typename(L, -2));
    now[k] = bind_operand(L, top + 2, true, &graph, "replace_all", 2, "new");
    lua_rawseti(L, 6, (int)k + 1);
    lua_settop(L, top - 1);
  }
  return replace_lists(L, fg, old, now, n, reason);
}

/* fg:change_node_input(node or "output", i, new, {reason=}) */
static int change_node_input(lua_State *L) {
  damo_fgraph *fg = self(L, "change_node_input");
  bool graph;
  lua_settop(L, 5);
  damo_apply *node =
      lua_type(L, 2) == LUA_TSTRING ? NULL : bind_check_obj(L, 2, OBJ_APPLY, "change_node_input", "node");
  if (!node && strcmp(lua_tostring(L, 2), "output") != 0)
    bind_arg_error(L, "change_node_input", 2, "node", "a node or 'output'");
  if (!lua_isinteger(L, 3)) bind_arg_error(L, "change_node_input", 3, "i", "a 1-based position");
  const char *reason = read_reason(L, 5, "change_node_input");
  damo_var *now = bind_operand(L, 4, true, &graph, "change_node_input", 4, "new");
  bind_entry e = bind_enter(L);
  damo_status s = leave(e, fgraph_change_input(fg, node, (int)lua_tointeger(L, 3) - 1, now, reason));
  bind_check(L, s);
  anchor_users(L, fg, &now, 1);
  return 0;
}

/* Raises what the graph's own check or a feature has against its state. */
static damo_status check_state(lua_State *L, damo_fgraph *fg) {
  bind_entry e = bind_enter(L);
  damo_status s = fgraph_check(fg);
  for (int64_t i = 0; i < fg->features.n && s == DAMO_OK; i++) {
    fg_feature *f = fg->features.at[i];
    if (f->validate) s = f->validate(fg, f->user);
  }
  return leave(e, s);
}

static int validate_now(lua_State *L) {
  bind_check(L, check_state(L, self(L, "validate")));
  return 0;
}

static int consistent(lua_State *L) {
  damo_fgraph *fg = self(L, "consistent");
  damo_status s = check_state(L, fg);
  if (s != DAMO_OK) ctx_clear_error(bind_ctx(L));
  lua_pushboolean(L, s == DAMO_OK);
  return 1;
}

static int tostring(lua_State *L) {
  damo_fgraph *fg = self(L, "tostring");
  lua_pushfstring(L, "FunctionGraph(%d inputs, %d outputs, %d nodes)", (int)fg->inputs.n, (int)fg->outputs.n,
                  (int)fg->nodes.n);
  return 1;
}

void bind_add_fgraph_class(lua_State *L) {
  static const luaL_Reg fields[] = {{"inputs", get_inputs},       {"outputs", get_outputs},   {"apply_nodes", toposort},
                                    {"variables", get_variables}, {"features", get_features}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"replace", replace},
                                     {"replace_all", replace_all},
                                     {"replace_validate", replace},
                                     {"replace_all_validate", replace_all},
                                     {"change_node_input", change_node_input},
                                     {"toposort", toposort},
                                     {"clients", clients},
                                     {"clone", clone},
                                     {"validate", validate_now},
                                     {"consistent", consistent},
                                     {"attach_feature", attach_feature},
                                     {"remove_feature", remove_feature},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", tostring}, {NULL, NULL}};
  bind_class(L, OBJ_FGRAPH, fields, methods, meta, LUA_NOREF);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, feature_gc);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &meta_key);
  lua_pushcfunction(L, make_fgraph);
  lua_setfield(L, -2, "FunctionGraph");
  add_destroy_handler(L);
}
