/* from_graph: Ops that hold graphs, in scripts.
 *
 * The functions that override gradients hang from the userdata of the OpFromGraph's class, together with a guard: when
 * that userdata is collected (or the state is closed), the guard's finalizer replaces the overrides by a function that
 * fails.
 */
#include "lua/binding_int.h"
#include "class.h"
#include "op/op.h"

static const char override_guard_key = 'g';

/* ---- Overrides --------------------------------------------------------------------------------------------------- */

typedef struct override_guard {
  op_from_graph *g; /* owned */
  bind_state *state;
  lua_State *main; /* where overrides run if no coroutine is inside the core */
} override_guard;

static damo_status override_gone(build *b, op_from_graph *g, damo_apply *node, damo_var *const *from, damo_var **result,
                                 bool *given) {
  (void)node;
  (void)from;
  (void)result;
  (void)given;
  return ctx_fail(b->ctx, DAMO_ESTATE, "%s: the Lua functions that override its gradients are gone", g->def.name);
}

static int override_guard_gc(lua_State *L) {
  override_guard *w = lua_touserdata(L, 1);
  op_from_graph *g = w->g;
  w->g = NULL;
  if (!g) return 0;
  if (g->lop) g->lop = override_gone;
  if (g->rop) g->rop = override_gone;
  g->user = NULL;
  damo_release(&g->obj);
  return 0;
}

/* A call of an override, for protected code. from: the given output gradients or evaluation points. given[i]: the
 * override decides result i. */
typedef struct override_call {
  build *b;
  op_from_graph *g;
  damo_apply *node;
  damo_var *const *from;
  damo_var **result;
  bool *given;
  bool tangent;
  damo_status status;
} override_call;

static const char *override_name(const override_call *c) { return c->tangent ? "rop_overrides" : "lop_overrides"; }

/* Pushes the list c->from: missing output gradients as DisconnectedType; missing evaluation points as nil, with the
 * length in the field n. */
static void override_push_from(lua_State *L, override_call *c) {
  int n = c->tangent ? c->g->n_given : c->g->n_out;
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    damo_var *v = c->from[i] || c->tangent ? c->from[i] : build_disconnected(c->b);
    if (!v && c->tangent) continue;
    if (!v) bind_error(L);
    bind_push_borrowed(L, v);
    lua_rawseti(L, -2, i + 1);
  }
  if (!c->tangent) return;
  lua_pushinteger(L, n);
  lua_setfield(L, -2, "n");
}

/* Takes result i at the top: a Variable, or nil for "disconnected". */
static void override_take_result(lua_State *L, override_call *c, int i) {
  damo_var *v = bind_to_var(L, -1);
  if (!v && !lua_isnil(L, -1)) {
    c->status = ctx_fail(c->b->ctx, DAMO_ETYPE, "%s: %s must give Variables, entry %d is a %s", c->g->def.name,
                         override_name(c), i + 1, bind_typename(L, -1));
    return;
  }
  c->given[i] = true;
  if (!v || v->type->kind == TYPE_DISCONNECTED) return;
  bind_keep(L, -1);
  c->result[i] = build_take(c->b, damo_retain(v));
  if (!c->result[i]) c->status = c->b->status;
}

/* Calls the function or Op at the top with the arguments of an override: lists for a function, all Variables one by one
 * for an Op. */
static void override_apply(lua_State *L, override_call *c, int n_results) {
  int n = 2;
  if (bind_to(L, -1, OBJ_OP)) { /* an Op takes Variables one by one */
    n = c->g->n_given;
    for (int i = 0; i < c->g->n_given; i++) bind_push_borrowed(L, c->node->in[i]);
    for (int o = 0; o < c->g->n_out && !c->tangent; o++, n++) bind_push_borrowed(L, c->node->out[o]);
    int n_from = c->tangent ? c->g->n_given : c->g->n_out;
    for (int i = 0; i < n_from; i++, n++) {
      damo_var *like = c->tangent ? c->node->in[i] : c->node->out[i];
      damo_var *v = c->from[i] ? c->from[i] : build_zeros_like(c->b, like);
      if (!v) bind_error(L);
      bind_push_borrowed(L, v);
    }
  } else {
    bind_push_vars(L, c->node->in, c->g->n_given);
    if (!c->tangent) bind_push_vars(L, c->node->out, c->g->n_out), n++;
    override_push_from(L, c);
  }
  lua_call(L, n, n_results);
}

static void override_take_list(lua_State *L, override_call *c, int n) {
  if (bind_to_var(L, -1) && n == 1) {
    override_take_result(L, c, 0);
    return;
  }
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) > n) {
    c->status = ctx_fail(c->b->ctx, DAMO_ETYPE, "%s: %s must return a list with %d Variables, got %s", c->g->def.name,
                         override_name(c), n, lua_istable(L, -1) ? "more" : bind_typename(L, -1));
    return;
  }
  for (int i = 0; i < n && c->status == DAMO_OK; i++) {
    lua_rawgeti(L, -1, i + 1);
    override_take_result(L, c, i);
    lua_pop(L, 1);
  }
}

static int override_protected(lua_State *L) {
  override_call *c = lua_touserdata(L, 1);
  luaL_checkstack(L, 2 * (c->g->n_in + c->g->n_out) + 40, c->g->def.name);
  int n = c->tangent ? c->g->n_out : c->g->n_given;
  if (!bind_push_existing(L, c->g)) return bind_raise(L, DAMO_ESTATE, "the Lua part of Op %s is gone", c->g->def.name);
  bind_peer(L, -1);
  lua_getfield(L, -1, c->tangent ? "rop" : "lop");
  int overrides = lua_gettop(L);
  if (!lua_istable(L, overrides)) {
    override_apply(L, c, 1);
    override_take_list(L, c, n);
    return 0;
  }
  for (int i = 0; i < n && c->status == DAMO_OK; i++) {
    lua_rawgeti(L, overrides, i + 1);
    if (lua_type(L, -1) == LUA_TSTRING || (lua_isnil(L, -1) && c->tangent)) { /* "default": given[i] stays false */
    } else if (lua_isfunction(L, -1) || bind_to(L, -1, OBJ_OP)) {
      override_apply(L, c, 1);
      override_take_result(L, c, i);
    } else {
      override_take_result(L, c, i);
    }
    lua_settop(L, overrides);
  }
  return 0;
}

static damo_status override_run(override_call *c) {
  const override_guard *w = c->g->user;
  damo_ctx *ctx = c->b->ctx;
  if (!w || w->state->closed) return override_gone(c->b, c->g, NULL, NULL, NULL, NULL);
  lua_State *L = w->state->running ? w->state->running : w->main;
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(ctx);
  lua_pushcfunction(L, override_protected);
  lua_pushlightuserdata(L, c);
  if (bind_call_back(L, ctx, 1, 0) == LUA_OK) return c->status;
  return bind_caught(L, c->g->def.name, override_name(c), c->node);
}

static damo_status lop_override(build *b, op_from_graph *g, damo_apply *node, damo_var *const *from, damo_var **result,
                                bool *given) {
  override_call c = {b, g, node, from, result, given, false, DAMO_OK};
  return override_run(&c);
}

static damo_status rop_override(build *b, op_from_graph *g, damo_apply *node, damo_var *const *from, damo_var **result,
                                bool *given) {
  override_call c = {b, g, node, from, result, given, true, DAMO_OK};
  return override_run(&c);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static bool ofg_is_override(lua_State *L, int idx) { return lua_isfunction(L, idx) || bind_to(L, idx, OBJ_OP); }

/* Checks entry i of a list of overrides, at the top. */
static void ofg_check_entry(lua_State *L, int i, const char *field) {
  const char *s = lua_type(L, -1) == LUA_TSTRING ? bind_text(L, -1, "OpFromGraph") : NULL;
  if (s && strcmp(s, "default") != 0) {
    bind_raise(L, DAMO_EVALUE, "OpFromGraph: entry %d of %s can't be '%s'; did you mean 'default'?", i, field, s);
  }
  if (s || ofg_is_override(L, -1) || bind_to_var(L, -1)) return;
  bind_raise(L, DAMO_ETYPE, "OpFromGraph: entry %d of %s must be a function, an Op, a Variable or 'default', got %s", i,
             field, bind_typename(L, -1));
}

/* Reads the option of that name: an Op goes into *op; a function or a list stays on the stack; otherwise nil is pushed.
 */
static void ofg_read_override(lua_State *L, int options, const char *field, int n, damo_op **op) {
  if (!bind_option(L, options, field)) {
    lua_pushnil(L);
    return;
  }
  if (lua_isfunction(L, -1)) return;
  if ((*op = bind_to(L, -1, OBJ_OP)) != NULL) {
    lua_pop(L, 1); /* the options table keeps it alive */
    lua_pushnil(L);
    return;
  }
  const char *s = lua_type(L, -1) == LUA_TSTRING ? bind_text(L, -1, "OpFromGraph") : NULL;
  if (s && strcmp(s, "default") == 0) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return;
  }
  if (!lua_istable(L, -1)) {
    bind_raise(L, DAMO_ETYPE, "OpFromGraph: %s must be a function, an Op or a list, got %s", field,
               bind_typename(L, -1));
  }
  if ((int)lua_rawlen(L, -1) != n) {
    bind_raise(L, DAMO_EVALUE, "OpFromGraph: %s must have %d entries, it has %d", field, n, (int)lua_rawlen(L, -1));
  }
  lua_createtable(L, n, 0); /* a copy, so that the script's later changes of its list do not change the Op */
  for (int i = 1; i <= n; i++) {
    lua_rawgeti(L, -2, i);
    ofg_check_entry(L, i, field);
    lua_rawseti(L, -2, i);
  }
  lua_remove(L, -2);
}

/* Reads the option connection_pattern, for each input a list of booleans, one an output. Pushes the memory; NULL, and
 * nil pushed, if absent. */
static const bool *ofg_read_pattern(lua_State *L, int options, int n_in, int n_out) {
  if (!bind_option(L, options, "connection_pattern")) {
    lua_pushnil(L);
    return NULL;
  }
  int list = lua_gettop(L);
  bool *connected = bind_alloc(L, (size_t)n_in * (size_t)n_out + 1, 1);
  bool ok = lua_istable(L, list) && (int)lua_rawlen(L, list) == n_in;
  for (int i = 0; ok && i < n_in; i++) {
    lua_rawgeti(L, list, i + 1);
    ok = lua_istable(L, -1) && (int)lua_rawlen(L, -1) == n_out;
    for (int o = 0; ok && o < n_out; o++) {
      lua_rawgeti(L, -1, o + 1);
      ok = lua_isboolean(L, -1);
      connected[i * n_out + o] = lua_toboolean(L, -1);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  if (!ok) {
    bind_raise(L, DAMO_EVALUE, "OpFromGraph: connection_pattern must be a list of %d lists of %d booleans", n_in,
               n_out);
  }
  return connected;
}

/* Attaches the overrides at stack indices lop and rop (nil: none) to the userdata of the class. */
static void ofg_hang_overrides(lua_State *L, op_from_graph *g, int lop, int rop) {
  if (lua_isnil(L, lop) && lua_isnil(L, rop)) return;
  bind_push_borrowed(L, g);
  bind_peer(L, -1);
  lua_pushvalue(L, lop);
  lua_setfield(L, -2, "lop");
  lua_pushvalue(L, rop);
  lua_setfield(L, -2, "rop");
  override_guard *w = lua_newuserdatauv(L, sizeof *w, 0);
  *w = (override_guard){NULL, bind_get(L), bind_main_thread(L)};
  bind_set_gc(L, override_guard_gc, &override_guard_key);
  lua_setfield(L, -2, "guard");
  w->g = damo_retain(&g->obj);
  g->user = w;
  if (!lua_isnil(L, lop)) g->lop = lop_override;
  if (!lua_isnil(L, rop)) g->rop = rop_override;
  lua_pop(L, 2);
}

static int ofg_push_made(lua_State *L, bind_entry e, damo_op *op, int lop, int rop) {
  damo_status left = bind_deferred(e.state);
  bind_leave(e);
  if (op && left != DAMO_OK) {
    damo_release(op);
    op = NULL;
  }
  if (!op) return bind_error(L);
  bind_push(L, op);
  ofg_hang_overrides(L, op_from_graph_of(op), lop, rop);
  bind_done(L);
  return 1;
}

/* OpFromGraph(inputs, outputs, options) */
static int ofg_make(lua_State *L) {
  static const char *const names[] = {"inline", "lop_overrides",   "rop_overrides", "connection_pattern",
                                      "name",   "on_unused_input", "mode",          NULL};
  static const char *const unused[] = {"raise", "warn", "ignore", NULL};
  lua_settop(L, 3);
  luaL_checkstack(L, 40, "OpFromGraph");
  if (!lua_isnil(L, 3) && !lua_istable(L, 3)) bind_arg_error(L, "OpFromGraph", 3, "options", "a table");
  bind_check_options(L, "OpFromGraph", 3, names);
  op_from_graph_options o = {.name = bind_option_str(L, 3, "name", "OpFromGraph"), .on_unused_input = UNUSED_RAISE};
  if (bind_option(L, 3, "mode")) o.mode = bind_mode_text(L, "OpFromGraph"); /* it stays on the stack */
  o.inlined = bind_option_bool(L, 3, "inline", false, "OpFromGraph");
  o.on_unused_input = (unused_mode)bind_option_enum(L, 3, "on_unused_input", unused, 0, "OpFromGraph");
  bind_list in = bind_var_list(L, 1, false, "OpFromGraph", "inputs");
  bind_list out = bind_var_list(L, 2, false, "OpFromGraph", "outputs");
  o.connected = ofg_read_pattern(L, 3, (int)in.n, (int)out.n);
  ofg_read_override(L, 3, "lop_overrides", (int)in.n, &o.lop_op);
  int lop = lua_gettop(L);
  ofg_read_override(L, 3, "rop_overrides", (int)out.n, &o.rop_op);
  bind_entry e = bind_enter(L);
  damo_op *op = op_from_graph_new(e.state->ctx, in.at, (int)in.n, out.at, (int)out.n, &o);
  return ofg_push_made(L, e, op, lop, lop + 1);
}

/* ---- Fields of Ops that hold a graph ----------------------------------------------------------------------------- */

static int ofg_get_fgraph(lua_State *L) {
  damo_op *op = bind_op_self(L, "fgraph");
  bind_push_borrowed(L, op->def->inner_graph(op));
  return 1;
}

static int ofg_push_vars(lua_State *L, const ptrvec *v) {
  bind_push_vars(L, (damo_var *const *)v->at, v->n);
  return 1;
}

static int ofg_get_inputs(lua_State *L) {
  damo_op *op = bind_op_self(L, "inner_inputs");
  return ofg_push_vars(L, &op->def->inner_graph(op)->inputs);
}

static int ofg_get_outputs(lua_State *L) {
  damo_op *op = bind_op_self(L, "inner_outputs");
  return ofg_push_vars(L, &op->def->inner_graph(op)->outputs);
}

static int ofg_get_fn(lua_State *L) {
  op_from_graph *g = op_from_graph_of(bind_op_self(L, "fn"));
  if (!g) return 0;
  bind_entry e = bind_enter(L);
  damo_function *f = damo_retain(op_from_graph_function(g));
  damo_status left = bind_deferred(e.state);
  bind_leave(e);
  if (!f || left != DAMO_OK) {
    damo_release(f);
    return bind_error(L);
  }
  if (!bind_push_existing(L, f)) {
    bind_push_function(L, f, false, g->n_out == 1);
  } else {
    damo_release(f);
  }
  bind_done(L);
  return 1;
}

/* op:clone(): a new Op with a copy of the inner graph. */
static int ofg_clone(lua_State *L) {
  op_from_graph *g = op_from_graph_of(bind_op_self(L, "clone"));
  if (!g) return bind_raise(L, DAMO_ENOT_IMPLEMENTED, "clone: this Op can't be cloned");
  lua_settop(L, 1);
  if (g->lop || g->rop) {
    bind_push_borrowed(L, g);
    bind_peer(L, -1);
    lua_getfield(L, -1, "lop");
    lua_getfield(L, -2, "rop");
  } else {
    lua_settop(L, 5);
  }
  int rop = lua_gettop(L);
  bind_entry e = bind_enter(L);
  damo_op *op = op_from_graph_copy(g);
  return ofg_push_made(L, e, op, rop - 1, rop);
}

static int ofg_get_clone(lua_State *L) {
  bind_pushfunction(L, ofg_clone);
  return 1;
}

/* Upvalues: fields of Ops that hold a graph, the index function of all Ops. */
static int ofg_index(lua_State *L) {
  const damo_op *op = bind_to(L, 1, OBJ_OP);
  lua_settop(L, 2);
  if (op && op->def->inner_graph && lua_type(L, 2) == LUA_TSTRING) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    if (!lua_isnil(L, -1)) {
      lua_pushvalue(L, 1);
      lua_call(L, 1, 1);
      return 1;
    }
    lua_settop(L, 2);
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

static int ofg_has_inner_graph(lua_State *L) {
  const damo_op *op = bind_to(L, 1, OBJ_OP);
  lua_pushboolean(L, op && op->def->inner_graph);
  return 1;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

/* On entry the module table is at the top; bind_open_graph has added its table `graph`, and bind_open_op has set the
 * __index of Ops. */
void bind_open_op_from_graph(lua_State *L) {
  static const luaL_Reg fields[] = {{"fgraph", ofg_get_fgraph},         {"inner_inputs", ofg_get_inputs},
                                    {"inner_outputs", ofg_get_outputs}, {"fn", ofg_get_fn},
                                    {"clone", ofg_get_clone},           {NULL, NULL}};
  static const luaL_Reg fns[] = {{"OpFromGraph", ofg_make}, {"HasInnerGraph", ofg_has_inner_graph}, {NULL, NULL}};
  lua_getfield(L, -1, "graph");
  bind_setfuncs(L, fns);
  lua_pop(L, 1);
  bind_metatable(L, OBJ_OP);
  lua_newtable(L);
  bind_setfuncs(L, fields);
  lua_getfield(L, -2, "__index");
  lua_pushcclosure(L, ofg_index, 2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
