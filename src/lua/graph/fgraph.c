/* fgraph: FunctionGraphs: construction, fields, checked changes. feature.c has their features. */
#include "lua/binding_int.h"

/* ---- Making and fields ------------------------------------------------------------------------------------------- */

static int fg_push(lua_State *L, damo_fgraph *fg) {
  if (!fg) return bind_error(L);
  bind_push(L, fg);
  return 1;
}

/* damo.graph.FunctionGraph(inputs, outputs, {clone=true}) */
static int fg_make(lua_State *L) {
  static const char *const options[] = {"clone", NULL};
  lua_settop(L, 3);
  bind_check_options(L, "FunctionGraph", 3, options);
  bool copy = bind_option_bool(L, 3, "clone", true, "FunctionGraph");
  bind_list in = bind_var_list(L, 1, false, "FunctionGraph", "inputs");
  bind_list out = bind_var_list(L, 2, false, "FunctionGraph", "outputs");
  return fg_push(L, fgraph_new(bind_ctx(L), in.at, in.n, out.at, out.n, copy, NULL));
}

static int fg_method_clone(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "clone");
  return fg_push(L, fgraph_new(bind_ctx(L), (damo_var *const *)fg->inputs.at, fg->inputs.n,
                               (damo_var *const *)fg->outputs.at, fg->outputs.n, true, NULL));
}

static int fg_push_vars(lua_State *L, const ptrvec *v) {
  bind_push_vars(L, (damo_var *const *)v->at, v->n);
  return 1;
}

static int fg_get_inputs(lua_State *L) { return fg_push_vars(L, &bind_fgraph_self(L, "inputs")->inputs); }
static int fg_get_outputs(lua_State *L) { return fg_push_vars(L, &bind_fgraph_self(L, "outputs")->outputs); }

/* fg:toposort(): the nodes in dependency order. They are copied to a userdata first, since pushing may raise. */
static int fg_method_toposort(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "toposort");
  void **sorted = bind_alloc(L, fg->nodes.n, sizeof *sorted);
  ptrvec nodes;
  ptrvec_init(&nodes, bind_ctx(L));
  damo_status s = fgraph_toposort(fg, &nodes);
  int64_t n = nodes.n < (int64_t)fg->nodes.n ? nodes.n : (int64_t)fg->nodes.n;
  if (s == DAMO_OK && n) memcpy(sorted, nodes.at, (size_t)n * sizeof *sorted);
  ptrvec_clear(&nodes);
  bind_check(L, s);
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    bind_push_borrowed(L, sorted[i]);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return 1;
}

/* fg.variables: the inputs, then the inputs and outputs of the nodes in dependency order, each Variable once. */
static int fg_get_variables(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "variables");
  fg_method_toposort(L);
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
static int fg_method_clients(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "clients");
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

/* After a change: updates the user values of the graph and of the nodes that use `now`. */
static void fg_anchor_users(lua_State *L, const damo_fgraph *fg, damo_var *const *now, int64_t n) {
  BIND_HEIGHT(L);
  bind_reanchor(L, 1);
  for (int64_t k = 0; k < n; k++) {
    const fg_clients *c = fgraph_clients(fg, now[k]);
    for (int i = 0; c && i < c->n; i++) {
      if (!c->at[i].node || !bind_push_existing(L, c->at[i].node)) continue;
      bind_reanchor(L, -1);
      lua_pop(L, 1);
    }
  }
  BIND_LEAVES(L, 0);
}

/* The options of a change. */
typedef struct fg_replace_options {
  const char *func, *reason;
  bool validate; /* features may refuse the change */
  bool import_missing;
} fg_replace_options;

static fg_replace_options fg_read_replace_options(lua_State *L, int idx, const char *func, bool validate) {
  static const char *const options[] = {"reason", "import_missing", NULL};
  bind_check_options(L, func, idx, options);
  return (fg_replace_options){.func = func,
                              .reason = bind_option_str(L, idx, "reason", func),
                              .validate = validate,
                              .import_missing = bind_option_bool(L, idx, "import_missing", false, func)};
}

/* Removes the inputs that a failed change has added. */
static damo_status fg_settle_inputs(damo_fgraph *fg, int64_t before, damo_status s) {
  if (s != DAMO_OK) fgraph_drop_inputs(fg, before);
  return s;
}

static damo_status fg_replace_in_core(damo_fgraph *fg, damo_var **old, damo_var **now, int64_t n,
                                      fg_replace_options h) {
  const int64_t before = fg->inputs.n;
  if (h.import_missing) DAMO_TRY(fgraph_take_leaves(fg, now, n));
  return fg_settle_inputs(
      fg, before,
      h.validate ? fgraph_replace_all(fg, old, now, n, h.reason) : fgraph_replace_unasked(fg, old, now, n, h.reason));
}

static int fg_replace_lists(lua_State *L, damo_fgraph *fg, damo_var **old, damo_var **now, int64_t n,
                            fg_replace_options h) {
  bind_entry e = bind_enter(L);
  damo_status s = bind_leave_deferred(e, fg_replace_in_core(fg, old, now, n, h));
  fg_anchor_users(L, fg, now, n); /* also after an error: a feature may have failed once the change was made */
  bind_check(L, s);
  return 0;
}

static int fg_replace_by(lua_State *L, const char *func, bool validate) {
  damo_fgraph *fg = bind_fgraph_self(L, func);
  bool graph;
  lua_settop(L, 4);
  damo_var *old = bind_check_obj(L, 2, OBJ_VAR, func, "old");
  const fg_replace_options h = fg_read_replace_options(L, 4, func, validate);
  damo_var *now = bind_operand(L, 3, true, &graph, func, 3, "new");
  return fg_replace_lists(L, fg, &old, &now, 1, h);
}

/* fg:replace(old, new, {reason=, import_missing=}) */
static int fg_method_replace(lua_State *L) { return fg_replace_by(L, "replace", false); }
static int fg_method_replace_validate(lua_State *L) { return fg_replace_by(L, "replace_validate", true); }

/* fg:replace_all({[old] = new}) or {{old, new}, …}: makes all replacements or none. */
static int fg_replace_all_by(lua_State *L, const char *func, bool validate) {
  damo_fgraph *fg = bind_fgraph_self(L, func);
  lua_settop(L, 3);
  const fg_replace_options h = fg_read_replace_options(L, 3, func, validate);
  if (!lua_istable(L, 2)) bind_arg_error(L, func, 2, "pairs", "a table {[old] = new} or a list of pairs");
  int64_t n = 0;
  bind_own_table(L, 2);
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) n++;
  damo_var **old = bind_alloc(L, (size_t)n, sizeof *old), **now = bind_alloc(L, (size_t)n, sizeof *now);
  lua_newtable(L);
  bool listed = n > 0 && (int64_t)lua_rawlen(L, 2) == n;
  int64_t k = 0;
  for (lua_pushnil(L); lua_next(L, 2); k++) {
    bool graph;
    int top = lua_gettop(L);
    if (listed) {
      if (!lua_istable(L, top)) bind_raise(L, DAMO_ETYPE, "%s: an entry is no pair {old, new}", func);
      lua_rawgeti(L, top, 1);
      lua_rawgeti(L, top, 2);
    } else {
      lua_pushvalue(L, top - 1);
      lua_pushvalue(L, top);
    }
    old[k] = bind_to_var(L, -2);
    if (!old[k]) bind_raise(L, DAMO_ETYPE, "%s: expected a Variable to replace, got %s", func, bind_typename(L, -2));
    now[k] = bind_operand(L, top + 2, true, &graph, func, 2, "new");
    lua_rawseti(L, 6, (int)k + 1);
    lua_settop(L, top - 1);
  }
  return fg_replace_lists(L, fg, old, now, n, h);
}

static int fg_method_replace_all(lua_State *L) { return fg_replace_all_by(L, "replace_all", false); }
static int fg_method_replace_all_validate(lua_State *L) { return fg_replace_all_by(L, "replace_all_validate", true); }

/* fg:change_node_input(node or "output", i, new, {reason=}) */
static int fg_method_change_node_input(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "change_node_input");
  bool graph;
  lua_settop(L, 5);
  damo_apply *node =
      lua_type(L, 2) == LUA_TSTRING ? NULL : bind_check_obj(L, 2, OBJ_APPLY, "change_node_input", "node");
  if (!node && strcmp(lua_tostring(L, 2), "output") != 0)
    bind_arg_error(L, "change_node_input", 2, "node", "a node or 'output'");
  if (!lua_isinteger(L, 3)) bind_arg_error(L, "change_node_input", 3, "i", "a 1-based position");
  const fg_replace_options h = fg_read_replace_options(L, 5, "change_node_input", false);
  damo_var *now = bind_operand(L, 4, true, &graph, "change_node_input", 4, "new");
  const int64_t before = fg->inputs.n;
  bind_entry e = bind_enter(L);
  damo_status s = h.import_missing ? fgraph_take_leaves(fg, &now, 1) : DAMO_OK;
  if (s == DAMO_OK) {
    s = fgraph_change_input_unasked(fg, node, (int)lua_tointeger(L, 3) - 1, now, h.reason);
    fg_settle_inputs(fg, before, s);
  }
  s = bind_leave_deferred(e, s);
  fg_anchor_users(L, fg, &now, 1);
  bind_check(L, s);
  return 0;
}

/* Runs the graph's own check and its features' validation; returns the first failure. */
static damo_status fg_check_state(lua_State *L, damo_fgraph *fg) {
  bind_entry e = bind_enter(L);
  damo_status s = fgraph_check(fg);
  if (s == DAMO_OK) s = fgraph_validate(fg);
  return bind_leave_deferred(e, s);
}

static int fg_method_validate(lua_State *L) {
  bind_check(L, fg_check_state(L, bind_fgraph_self(L, "validate")));
  return 0;
}

static int fg_method_consistent(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "consistent");
  damo_status s = fg_check_state(L, fg);
  if (s != DAMO_OK) ctx_clear_error(bind_ctx(L));
  lua_pushboolean(L, s == DAMO_OK);
  return 1;
}

static int fg_tostring(lua_State *L) {
  damo_fgraph *fg = bind_fgraph_self(L, "tostring");
  lua_pushfstring(L, "FunctionGraph(%d inputs, %d outputs, %d nodes)", (int)fg->inputs.n, (int)fg->outputs.n,
                  (int)fg->nodes.n);
  return 1;
}

void bind_add_fgraph_class(lua_State *L) {
  static const luaL_Reg fields[] = {{"inputs", fg_get_inputs},           {"outputs", fg_get_outputs},
                                    {"apply_nodes", fg_method_toposort}, {"variables", fg_get_variables},
                                    {"features", bind_get_features},     {NULL, NULL}};
  static const luaL_Reg methods[] = {{"replace", fg_method_replace},
                                     {"replace_all", fg_method_replace_all},
                                     {"replace_validate", fg_method_replace_validate},
                                     {"replace_all_validate", fg_method_replace_all_validate},
                                     {"change_node_input", fg_method_change_node_input},
                                     {"toposort", fg_method_toposort},
                                     {"clients", fg_method_clients},
                                     {"clone", fg_method_clone},
                                     {"validate", fg_method_validate},
                                     {"consistent", fg_method_consistent},
                                     {"attach_feature", bind_attach_feature},
                                     {"remove_feature", bind_remove_feature},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", fg_tostring}, {NULL, NULL}};
  bind_class(L, OBJ_FGRAPH, fields, methods, meta, LUA_NOREF);
  bind_pushfunction(L, fg_make);
  lua_setfield(L, -2, "FunctionGraph");
  bind_add_features(L);
}
