/* graph: Apply nodes, and walks, copies and comparison of graphs. */
#include <stdio.h>

#include "lua/binding_int.h"

/* ---- Apply: making ----------------------------------------------------------------------------------------------- */

/* The outputs of a node to be made: each a fresh Variable, which the node adopts, or a Type. */
typedef struct apply_made_outputs {
  damo_var **var; /* NULL if a Type was given */
  damo_type **type;
  int n;
} apply_made_outputs;

static apply_made_outputs apply_read_outputs(lua_State *L, int idx) {
  apply_made_outputs o = {.n = (int)lua_rawlen(L, idx)};
  o.var = bind_alloc(L, (size_t)o.n, sizeof *o.var);
  o.type = bind_alloc(L, (size_t)o.n, sizeof *o.type);
  for (int i = 0; i < o.n; i++) {
    lua_rawgeti(L, idx, i + 1);
    damo_var *v = bind_to_var(L, -1);
    damo_type *t = v ? v->type : bind_to(L, -1, OBJ_TYPE);
    lua_pop(L, 1); /* the list keeps it alive */
    if (!t) bind_raise(L, DAMO_ETYPE, "Apply: output %d must be a fresh Variable, x.type(), or a Type", i + 1);
    if (v && (v->owner || v->kind != VAR_PLAIN)) {
      bind_raise(L, DAMO_EVALUE, "Apply: output %d must be a fresh Variable: it %s already", i + 1,
                 v->owner ? "belongs to a node" : "has a value");
    }
    for (int k = 0; v && k < i; k++) {
      if (o.var[k] == v) bind_raise(L, DAMO_EVALUE, "Apply: output %d is listed twice", i + 1);
    }
    o.var[i] = v;
    o.type[i] = t;
  }
  return o;
}

/* Whether an input depends on v. If only v's userdata has a reference on it, v is in no graph yet, and the walk is not
 * needed. */
static bool graph_call_depends_on(lua_State *L, const bind_list *in, const damo_var *v) {
  bool found = false;
  for (int64_t i = 0; i < in->n && !found; i++) found = in->at[i] == v;
  if (found || v->obj.refs == 1) return found;
  damo_ctx *ctx = bind_ctx(L);
  ptrvec above;
  ptrvec_init(&above, ctx);
  damo_status s = graph_ancestors(ctx, in->at, in->n, &above);
  for (int64_t i = 0; i < above.n && !found; i++) found = above.at[i] == v;
  ptrvec_clear(&above);
  bind_check(L, s);
  return found;
}

/* damo.Apply(op, inputs, outputs) */
static int apply_make(lua_State *L) {
  lua_settop(L, 3);
  damo_op *op = bind_check_obj(L, 1, OBJ_OP, "Apply", "op");
  if (!lua_istable(L, 2)) bind_arg_error(L, "Apply", 2, "inputs", "a list of Variables");
  if (!lua_istable(L, 3)) bind_arg_error(L, "Apply", 3, "outputs", "a list of fresh Variables or Types");
  bind_list in = bind_var_list(L, 2, false, "Apply", "inputs");
  apply_made_outputs out = apply_read_outputs(L, 3);
  for (int i = 0; i < out.n; i++) {
    if (out.var[i] && graph_call_depends_on(L, &in, out.var[i])) {
      bind_raise(L, DAMO_EINCONSISTENCY, "Apply: the inputs depend on output %d: this would make a cycle", i + 1);
    }
  }
  bind_set_trace(L);
  damo_apply *node = apply_new(bind_ctx(L), op, in.at, (int)in.n, out.type, out.n);
  if (!node) return bind_error(L);
  for (int i = 0; i < out.n; i++) {
    if (out.var[i]) apply_adopt(node, i, out.var[i]);
  }
  bind_push(L, node);
  for (int i = 0; i < out.n; i++) {
    lua_rawgeti(L, 3, i + 1);
    if (out.var[i]) bind_reanchor(L, -1); /* its userdata is older than its node's */
    lua_pop(L, 1);
  }
  return 1;
}

/* ---- Apply: fields and methods ----------------------------------------------------------------------------------- */

static damo_apply *apply_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_APPLY, func, "self"); }

static int apply_get_op(lua_State *L) {
  bind_push_borrowed(L, apply_self(L, "op")->op);
  return 1;
}

static int apply_get_inputs(lua_State *L) {
  damo_apply *node = apply_self(L, "inputs");
  bind_push_vars(L, node->in, node->n_in);
  return 1;
}

static int apply_get_outputs(lua_State *L) {
  damo_apply *node = apply_self(L, "outputs");
  bind_push_vars(L, node->out, node->n_out);
  return 1;
}

static int apply_get_nin(lua_State *L) {
  lua_pushinteger(L, apply_self(L, "nin")->n_in);
  return 1;
}

static int apply_get_nout(lua_State *L) {
  lua_pushinteger(L, apply_self(L, "nout")->n_out);
  return 1;
}

static int apply_get_tag(lua_State *L) {
  damo_apply *node = apply_self(L, "tag");
  bind_peer(L, 1);
  lua_getfield(L, -1, "tag");
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  lua_newtable(L);
  bind_push_trace(L, node->trace);
  lua_setfield(L, -2, "trace");
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "tag");
  return 1;
}

static int apply_newindex(lua_State *L) {
  apply_self(L, "Apply");
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  if (strcmp(key, "tag") != 0)
    return bind_raise(L, DAMO_ETYPE, "Apply: the field '%s' can't be set; node.tag.%s can", key, key);
  if (!lua_istable(L, 3)) bind_raise(L, DAMO_ETYPE, "tag: expected a table, got %s", luaL_typename(L, 3));
  bind_peer(L, 1);
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, "tag");
  return 0;
}

damo_var *bind_default_output(lua_State *L, const damo_apply *node) {
  int i = op_default_output(node->op);
  if (i == 0 && node->n_out == 1) i = 1;
  if (i == 0) {
    bind_raise(L, DAMO_EVALUE, "%s has %d outputs and no default output: take one of node.outputs", node->op->def->name,
               node->n_out);
  }
  if (i > node->n_out) {
    bind_raise(L, DAMO_EVALUE, "%s: default_output is %d, the node has %d outputs", node->op->def->name, i,
               node->n_out);
  }
  return node->out[i - 1];
}

/* node:default_output(): the output that a call of the Op returns. */
static int apply_default_output(lua_State *L) {
  bind_push_borrowed(L, bind_default_output(L, apply_self(L, "default_output")));
  return 1;
}

void bind_node_to_output(lua_State *L, int idx) {
  const damo_apply *node = (const damo_apply *)bind_to(L, idx, OBJ_APPLY);
  if (!node) return;
  bind_push_borrowed(L, bind_default_output(L, node));
  lua_replace(L, idx);
}

static int graph_call_clone(lua_State *L) {
  damo_apply *node = apply_self(L, "clone"), *copy = apply_clone_with(node, node->in);
  if (!copy) return bind_error(L);
  bind_push(L, copy);
  bind_test_node(L, copy);
  return 1;
}

static bool apply_same_types(const damo_apply *node, damo_var *const *in) {
  for (int i = 0; i < node->n_in; i++) {
    if (node->in[i]->type != in[i]->type) return false;
  }
  return true;
}

static bool apply_types_fit(const damo_apply *node, damo_var *const *in) {
  for (int i = 0; i < node->n_in; i++) {
    if (!type_is_super(node->in[i]->type, in[i]->type)) return false;
  }
  return true;
}

/* node:clone_with_new_inputs(inputs, strict): if the Types of the inputs differ from the old ones, the Op makes the
 * node anew. If strict (the default), the old Types must accept every value of the new ones. */
static int apply_clone_with_new_inputs(lua_State *L) {
  damo_apply *node = apply_self(L, "clone_with_new_inputs"), *copy;
  lua_settop(L, 3);
  bind_list in = bind_var_list(L, 2, false, "clone_with_new_inputs", "inputs");
  if (!lua_isnil(L, 3) && !lua_isboolean(L, 3)) bind_arg_error(L, "clone_with_new_inputs", 3, "strict", "a boolean");
  if (in.n != node->n_in) {
    bind_raise(L, DAMO_EVALUE, "clone_with_new_inputs: %s has %d inputs, got %d", node->op->def->name, node->n_in,
               (int)in.n);
  }
  if (apply_same_types(node, in.at)) {
    copy = apply_clone_with(node, in.at);
  } else if ((lua_isnil(L, 3) || lua_toboolean(L, 3)) && !apply_types_fit(node, in.at)) {
    return bind_raise(L, DAMO_ETYPE, "clone_with_new_inputs: the Types differ from the node's (strict)");
  } else {
    bind_set_trace(L);
    bind_entry e = bind_enter(L);
    copy = op_apply(e.state->ctx, node->op, in.at, (int)in.n);
    bind_leave(e);
  }
  if (!copy) return bind_error(L);
  bind_push(L, copy);
  bind_done(L);
  bind_test_node(L, copy);
  return 1;
}

static int apply_tostring(lua_State *L) {
  damo_apply *node = apply_self(L, "tostring");
  strbuf *b = bind_push_strbuf(L);
  op_format(b, node->op);
  strbuf_add(b, "(");
  for (int i = 0; i < node->n_in && i < 8; i++) {
    char text[120];
    strbuf_addf(b, "%s%s", i ? ", " : "", var_format(text, sizeof text, node->in[i]));
  }
  strbuf_add(b, node->n_in > 8 ? ", …)" : ")");
  bind_finish_strbuf(L);
  return 1;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

typedef damo_status (*graph_list_fn)(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out);

static int graph_list_push_protected(lua_State *L) {
  const ptrvec *list = lua_touserdata(L, 1);
  lua_createtable(L, (int)list->n, 0);
  for (int64_t i = 0; i < list->n; i++) {
    bind_push_borrowed(L, list->at[i]);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return 1;
}

/* Pushes the borrowed objects as a list and clears the vector, also if it raises. */
static int graph_list_push(lua_State *L, ptrvec *list) {
  lua_pushcfunction(L, graph_list_push_protected);
  lua_pushlightuserdata(L, list);
  int rc = lua_pcall(L, 1, 1, 0);
  ptrvec_clear(list);
  return rc == LUA_OK ? 1 : lua_error(L);
}

static int graph_list(lua_State *L, const char *func, graph_list_fn fn) {
  lua_settop(L, 1);
  bind_list out = bind_var_list(L, 1, false, func, "outputs");
  ptrvec found;
  damo_ctx *ctx = bind_ctx(L);
  ptrvec_init(&found, ctx);
  damo_status s = fn(ctx, out.at, out.n, &found);
  if (s != DAMO_OK) {
    ptrvec_clear(&found);
    return bind_error(L);
  }
  return graph_list_push(L, &found);
}

static damo_status graph_list_sorted(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out) {
  return graph_toposort(ctx, outputs, n, NULL, 0, out);
}

static int graph_list_ancestors(lua_State *L) { return graph_list(L, "ancestors", graph_ancestors); }
static int graph_list_inputs(lua_State *L) { return graph_list(L, "graph_inputs", graph_inputs); }
static int graph_list_toposort(lua_State *L) { return graph_list(L, "toposort", graph_list_sorted); }

/* variables(ins, outs): all Variables between ins and outs, both included. */
static int graph_list_variables(lua_State *L) {
  lua_settop(L, 2);
  bind_list in = bind_var_list(L, 1, false, "variables", "inputs");
  bind_list out = bind_var_list(L, 2, false, "variables", "outputs");
  damo_ctx *ctx = bind_ctx(L);
  ptrvec nodes, found;
  map seen;
  ptrvec_init(&nodes, ctx);
  ptrvec_init(&found, ctx);
  map_init(&seen, ctx);
  damo_status s = graph_toposort(ctx, out.at, out.n, in.at, in.n, &nodes);
#define ADD(v)                                        \
  do {                                                \
    if (s == DAMO_OK && !map_get(&seen, (v), NULL)) { \
      s = map_put(&seen, (v), 1);                     \
      if (s == DAMO_OK) s = ptrvec_push(&found, (v)); \
    }                                                 \
  } while (0)
  for (int64_t i = 0; i < in.n; i++) ADD(in.at[i]);
  for (int64_t k = 0; k < nodes.n; k++) {
    damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in; i++) ADD(node->in[i]);
    for (int i = 0; i < node->n_out; i++) ADD(node->out[i]);
  }
  for (int64_t i = 0; i < out.n; i++) ADD(out.at[i]);
#undef ADD
  ptrvec_clear(&nodes);
  map_clear(&seen);
  if (s != DAMO_OK) {
    ptrvec_clear(&found);
    return bind_error(L);
  }
  return graph_list_push(L, &found);
}

/* ---- Copies and comparison --------------------------------------------------------------------------------------- */

/* Reads {[old] = new} at idx into two lists; pushes values that keep them alive. */
static int64_t graph_read_replacements(lua_State *L, int idx, damo_var ***old, damo_var ***now, const char *func) {
  int64_t n = 0;
  if (lua_isnil(L, idx)) return 0;
  if (!lua_istable(L, idx)) bind_arg_error(L, func, idx, "replace", "a table {[old] = new}");
  bind_own_table(L, idx);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) n++;
  *old = bind_alloc(L, (size_t)n, sizeof **old);
  *now = bind_alloc(L, (size_t)n, sizeof **now);
  lua_newtable(L);
  int keep = lua_gettop(L);
  n = 0;
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    bool graph;
    (*old)[n] = bind_to_var(L, -2);
    if (!(*old)[n]) bind_raise(L, DAMO_ETYPE, "%s: the keys must be Variables, got %s", func, bind_typename(L, -2));
    (*now)[n] = bind_operand(L, -1, true, &graph, func, 2, "replace");
    lua_rawseti(L, keep, (int)++n);
    lua_pop(L, 1);
  }
  return n;
}

/* Pushes the Variables in the vault as `like` was given: one, or a list. */
static int graph_push_like(lua_State *L, void **vault, const bind_list *like) {
  if (like->single) {
    bind_push_slot(L, vault, 0);
  } else {
    lua_createtable(L, (int)like->n, 0);
    for (int64_t i = 0; i < like->n; i++) {
      bind_push_slot(L, vault, i);
      lua_rawseti(L, -2, (int)(i + 1));
    }
  }
  bind_test_results(L, like->n);
  return 1;
}

/* clone_replace(outputs, {[old] = new}) */
static int graph_call_clone_replace(lua_State *L) {
  lua_settop(L, 2);
  damo_var **old = NULL, **now = NULL;
  int64_t n = graph_read_replacements(L, 2, &old, &now, "clone_replace");
  for (int64_t i = 0; i < n; i++) {
    char a[320], b[320];
    if (type_is_compatible(old[i]->type, now[i]->type)) continue;
    bind_raise(L, DAMO_ETYPE, "clone_replace: a Variable of %s can't stand for one of %s",
               type_format(b, sizeof b, now[i]->type), type_format(a, sizeof a, old[i]->type));
  }
  bind_list out = bind_var_list(L, 1, false, "clone_replace", "outputs");
  void **vault = bind_vault(L, out.n);
  damo_ctx *ctx = bind_ctx(L);
  map memo;
  map_init(&memo, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = map_put(&memo, old[i], (uintptr_t)now[i]);
  if (s == DAMO_OK) s = graph_clone(ctx, out.at, out.n, &memo, false, NULL, (damo_var **)vault);
  map_clear(&memo);
  bind_check(L, s);
  return graph_push_like(L, vault, &out);
}

/* vectorize_graph(outputs, {[old] = new}) */
static int graph_call_vectorize(lua_State *L) {
  lua_settop(L, 2);
  damo_var **old = NULL, **now = NULL;
  if (lua_isnil(L, 2)) bind_arg_error(L, "vectorize_graph", 2, "replace", "a table {[old] = new}");
  const int64_t n = graph_read_replacements(L, 2, &old, &now, "vectorize_graph");
  bind_list out = bind_var_list(L, 1, false, "vectorize_graph", "outputs");
  void **vault = bind_vault(L, out.n);
  build b;
  bind_set_trace(L);
  bind_entry e = bind_enter(L);
  build_init(&b, e.state->ctx);
  damo_status s = vectorize_graph(&b, out.at, out.n, old, now, n, (damo_var **)vault);
  for (int64_t i = 0; i < out.n; i++) vault[i] = s == DAMO_OK ? damo_retain(vault[i]) : NULL;
  const damo_status end = build_end(&b);
  bind_check(L, bind_leave_deferred(e, s != DAMO_OK ? s : end));
  return graph_push_like(L, vault, &out);
}

/* equal_computations(xs, ys, in_xs, in_ys) */
static int graph_call_equal_computations(lua_State *L) {
  lua_settop(L, 4);
  bind_list xs = bind_var_list(L, 1, false, "equal_computations", "xs");
  bind_list ys = bind_var_list(L, 2, false, "equal_computations", "ys");
  bind_list in_xs = bind_var_list(L, 3, false, "equal_computations", "in_xs");
  bind_list in_ys = bind_var_list(L, 4, false, "equal_computations", "in_ys");
  if (xs.n != ys.n || in_xs.n != in_ys.n)
    bind_raise(L, DAMO_EVALUE, "equal_computations: the lists must be equally long");
  bool equal = false;
  bind_check(L, graph_equal(bind_ctx(L), xs.at, ys.at, xs.n, in_xs.at, in_ys.at, in_xs.n, &equal));
  lua_pushboolean(L, equal);
  return 1;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

void bind_open_graph(lua_State *L) {
  static const luaL_Reg fields[] = {{"op", apply_get_op},
                                    {"inputs", apply_get_inputs},
                                    {"outputs", apply_get_outputs},
                                    {"nin", apply_get_nin},
                                    {"nout", apply_get_nout},
                                    {"tag", apply_get_tag},
                                    {NULL, NULL}};
  static const luaL_Reg methods[] = {{"default_output", apply_default_output},
                                     {"clone", graph_call_clone},
                                     {"clone_with_new_inputs", apply_clone_with_new_inputs},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__newindex", apply_newindex}, {"__tostring", apply_tostring}, {NULL, NULL}};
  static const luaL_Reg walks[] = {{"ancestors", graph_list_ancestors},
                                   {"graph_inputs", graph_list_inputs},
                                   {"toposort", graph_list_toposort},
                                   {"variables", graph_list_variables},
                                   {"clone_replace", graph_call_clone_replace},
                                   {"vectorize_graph", graph_call_vectorize},
                                   {"equal_computations", graph_call_equal_computations},
                                   {NULL, NULL}};
  bind_class(L, OBJ_APPLY, fields, methods, meta, LUA_NOREF);
  bind_pushfunction(L, apply_make);
  lua_setfield(L, -2, "Apply");
  lua_newtable(L); /* damo.core.graph, which lua/damo/graph.lua and printing.lua make public */
  bind_setfuncs(L, walks);
  bind_add_fgraph_class(L);
  bind_add_printing(L);
  lua_setfield(L, -2, "graph");
}
