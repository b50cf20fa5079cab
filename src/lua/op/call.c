/* call: callbacks of the core to an Op written in Lua: make_node, gradients, shapes and the rest of its definition,
 * except those that run it (run.c).
 *
 * Every callback runs on the coroutine that is inside the core, under lua_pcall. An error that it throws becomes the
 * context's pending error (bind_caught); a wrong result becomes a pending error too. Results that only C refers to
 * (Variables, nodes) are kept alive in Lua until the outermost call has pushed its results (bind_keep).
 */
#include <stdio.h>

#include "call.h"
#include "node.h"
#include "run.h"
#include "thunk.h"

/* ---- Into Lua ---------------------------------------------------------------------------------------------------- */

static int callback_protected(lua_State *L) {
  bind_callback *c = lua_touserdata(L, 1);
  luaL_checkstack(L, 60, c->op->def->name);
  lua_settop(L, 0);
  c->body(L, c);
  return 0;
}

damo_status bind_callback_fail(bind_callback *c, damo_status s, const char *fmt, ...) {
  char text[600];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  damo_ctx *ctx = c->op->obj.ctx;
  ctx_fail(ctx, s, "%s: %s %s", c->op->def->name, c->name, text);
  ctx_fail_at(ctx, c->op->def->name, c->node);
  return c->status = s;
}

damo_status bind_callback_thrown(lua_State *L, const damo_op *op, const char *callback, damo_apply *node, int rc) {
  damo_ctx *ctx = op->obj.ctx;
  bind_callback c = {.name = callback, .op = op, .node = node};
  if (rc == LUA_ERRMEM) {
    lua_pop(L, 1);
    return ctx_fail_memory(ctx);
  }
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  if (text && strstr(text, "attempt to yield")) {
    lua_pop(L, 1);
    return bind_callback_fail(&c, DAMO_ECALLBACK, "failed: it yields, which an Op can't do");
  }
  return bind_caught(L, op->def->name, callback, node);
}

damo_status bind_callback_run(bind_callback *c) {
  damo_ctx *ctx = c->op->obj.ctx;
  bind_state *st = bind_op_class_of(c->op)->link->state;
  if (!st || st->closed) return bind_callback_fail(c, DAMO_ESTATE, "can't be called: its Lua state is closed");
  lua_State *L = st->running ? st->running : bind_op_class_of(c->op)->link->main;
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(ctx);
  c->status = DAMO_OK;
  lua_pushcfunction(L, callback_protected);
  lua_pushlightuserdata(L, c);
  int rc = bind_call_back(L, ctx, 1, 0);
  return rc == LUA_OK ? c->status : bind_callback_thrown(L, c->op, c->name, c->node, rc);
}

void bind_callback_push(lua_State *L, const bind_callback *c, const char *name) {
  bind_push_definition(L, bind_op_class_of(c->op));
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
  bind_push_borrowed(L, c->op);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static void body_make_node(lua_State *L, bind_callback *c) {
  bind_callback_push(L, c, "make_node");
  luaL_checkstack(L, c->n_in + 10, "too many inputs");
  for (int i = 0; i < c->n_in; i++) bind_push_borrowed(L, c->in[i]);
  lua_call(L, 1 + c->n_in, 1);
  damo_apply *node = bind_to(L, -1, OBJ_APPLY);
  if (!node) {
    bind_callback_fail(c, DAMO_ETYPE, "must return an Apply, got %s", bind_typename(L, -1));
  } else if (node->op != c->op) {
    bind_callback_fail(c, DAMO_EVALUE, "returned a node of another Op, %s", node->op->def->name);
  } else {
    bind_keep(L, -1);
    c->made = damo_retain(node);
  }
}

static damo_apply *callback_make_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  bind_callback c = {.name = "make_node", .op = op, .body = body_make_node, .b = b, .in = in, .n_in = n_in};
  damo_status s = bind_callback_run(&c);
  if (s == DAMO_OK) return c.made;
  damo_release(c.made);
  b->status = s;
  return NULL;
}

/* op_def.infer_type by itypes and otypes. */
static damo_status callback_types_from_class(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const bind_op_class *k = bind_op_class_of(op);
  damo_ctx *ctx = op->obj.ctx;
  char want[320], got[320];
  if (n_in != k->n_in) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: expected %d input%s, got %d", op->def->name, k->n_in, k->n_in == 1 ? "" : "s",
                    n_in);
  }
  for (int i = 0; i < n_in; i++) {
    if (type_is_super(k->itypes[i], in[i]->type)) continue;
    return ctx_fail(ctx, DAMO_ETYPE, "%s: input %d must be %s, got %s", op->def->name, i + 1,
                    type_format(want, sizeof want, k->itypes[i]), type_format(got, sizeof got, in[i]->type));
  }
  for (int o = 0; o < k->n_out; o++) out[o] = damo_retain(k->otypes[o]);
  return DAMO_OK;
}

/* op_def.infer_type of Ops with make_node, which is never called. */
static damo_status callback_types_from_nobody(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)in;
  (void)n_in;
  (void)out;
  return ctx_fail(op->obj.ctx, DAMO_ENOT_IMPLEMENTED, "%s has neither make_node nor itypes and otypes", op->def->name);
}

static int callback_count_one(const damo_op *op, int n_in) {
  (void)op;
  (void)n_in;
  return 1;
}

static int callback_count_otypes(const damo_op *op, int n_in) {
  (void)n_in;
  return bind_op_class_of(op)->n_out;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* Takes the list of n Variables or nils at the top into c->out; nil and DisconnectedType leave NULL. */
static void callback_take_vars(lua_State *L, bind_callback *c, int n, const char *what) {
  if (!lua_istable(L, -1)) {
    bind_callback_fail(c, DAMO_ETYPE, "must return a list with %d %s, got %s", n, what, bind_typename(L, -1));
    return;
  }
  int list = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) {
    lua_Number at = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
    if (at >= 1 && at <= n && at == floor(at)) continue;
    bind_callback_fail(c, DAMO_EVALUE, "must return a list with %d %s, got more", n, what);
    return;
  }
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, list, i + 1);
    damo_var *v = bind_to_var(L, -1);
    if (!v && !lua_isnil(L, -1)) {
      bind_callback_fail(c, DAMO_ETYPE, "must return Variables, entry %d is a %s", i + 1, bind_typename(L, -1));
      return;
    }
    if (v && v->type->kind != TYPE_DISCONNECTED) {
      bind_keep(L, -1);
      c->out[i] = build_take(c->b, damo_retain(v));
      if (!c->out[i]) c->status = c->b->status;
    }
    lua_pop(L, 1);
  }
}

/* Pushes the list of output gradients, a missing one as a Variable of DisconnectedType. */
static void callback_push_output_grads(lua_State *L, bind_callback *c) {
  BIND_HEIGHT(L);
  lua_createtable(L, c->node->n_out, 0);
  for (int o = 0; o < c->node->n_out; o++) {
    damo_var *g = c->in[o] ? c->in[o] : build_disconnected(c->b);
    if (!g) bind_error(L);
    bind_push_borrowed(L, g);
    lua_rawseti(L, -2, o + 1);
  }
  BIND_LEAVES(L, 1);
}

static void body_grad(lua_State *L, bind_callback *c) {
  bind_callback_push(L, c, c->name);
  bind_push_vars(L, c->node->in, c->node->n_in);
  int n = 3;
  if (strcmp(c->name, "L_op") == 0) {
    bind_push_vars(L, c->node->out, c->node->n_out);
    n = 4;
  }
  callback_push_output_grads(L, c);
  lua_call(L, n, 1);
  callback_take_vars(L, c, c->node->n_in, "gradients");
}

static damo_status callback_derive(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin,
                                   const char *name) {
  bind_callback c = {.name = name, .op = node->op, .node = node, .body = body_grad, .b = b, .in = gout, .out = gin};
  return bind_callback_run(&c);
}

static damo_status callback_L_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return callback_derive(b, node, gout, gin, "L_op");
}

static damo_status callback_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return callback_derive(b, node, gout, gin, "grad");
}

static void body_R_op(lua_State *L, bind_callback *c) {
  bind_callback_push(L, c, "R_op");
  bind_push_vars(L, c->node->in, c->node->n_in);
  bind_push_vars(L, c->in, c->node->n_in);
  lua_pushinteger(L, c->node->n_in);
  lua_setfield(L, -2, "n");
  lua_call(L, 3, 1);
  callback_take_vars(L, c, c->node->n_out, "derivatives");
}

static damo_status callback_R_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  bind_callback c = {.name = "R_op", .op = node->op, .node = node, .body = body_R_op, .b = b, .in = eval, .out = rout};
  return bind_callback_run(&c);
}

static void body_connection(lua_State *L, bind_callback *c) {
  int n_in = c->node->n_in, n_out = c->node->n_out;
  bind_callback_push(L, c, "connection_pattern");
  bind_push_borrowed(L, c->node);
  lua_call(L, 2, 1);
  int list = lua_gettop(L);
  if (!lua_istable(L, list) || (int)lua_rawlen(L, list) != n_in) {
    bind_callback_fail(c, DAMO_EVALUE, "must return a list with %d entries, one for each input", n_in);
    return;
  }
  for (int i = 0; i < n_in; i++) {
    lua_rawgeti(L, list, i + 1);
    if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n_out) {
      bind_callback_fail(c, DAMO_EVALUE, "must return for each input a list with %d booleans, one for each output",
                         n_out);
      return;
    }
    for (int o = 0; o < n_out; o++) {
      lua_rawgeti(L, -1, o + 1);
      c->flags[i * n_out + o] = lua_toboolean(L, -1);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

/* op_def.connection_pattern cannot report failure: an error is deferred to the end of the core call. */
static void callback_connection_pattern(const damo_apply *node, bool *connected) {
  bind_callback c = {.name = "connection_pattern",
                     .op = node->op,
                     .node = (damo_apply *)node,
                     .body = body_connection,
                     .flags = connected};
  damo_status s = bind_callback_run(&c);
  bind_state *st = bind_op_class_of(node->op)->link->state;
  if (st) bind_defer(st, s);
}

/* ---- Preparing --------------------------------------------------------------------------------------------------- */

static void body_prepare(lua_State *L, bind_callback *c) {
  BIND_HEIGHT(L);
  bind_callback_push(L, c, "prepare_node");
  bind_push_borrowed(L, c->node);
  bind_keep(L, -1); /* with the tags that the Op attaches to it, until the thunk holds it */
  bind_push_thunk_maps(L);
  lua_pushstring(L, c->impl);
  lua_call(L, 5, 0);
  BIND_LEAVES(L, 0);
}

/* op_def.prepare_node. An Op without native code is prepared for "lua" only. */
static damo_status callback_prepare_node(damo_apply *node, const char *impl) {
  bind_callback c = {.name = "prepare_node", .op = node->op, .node = node, .body = body_prepare, .impl = impl};
  return strcmp(impl, "c") == 0 ? DAMO_OK : bind_callback_run(&c);
}

/* ---- Rewriting --------------------------------------------------------------------------------------------------- */

/* Pushes the FunctionGraph that is being rewritten, nil if there is none. Its userdata is kept: making it again would
 * cost time in proportion to the graph. */
static void callback_push_rewritten(lua_State *L) {
  damo_obj *fg = graph_notes_of(bind_ctx(L))->rewriting;
  if (!fg) {
    lua_pushnil(L);
    return;
  }
  bind_push_borrowed(L, fg);
  bind_keep(L, -1);
}

static void body_folding(lua_State *L, bind_callback *c) {
  BIND_HEIGHT(L);
  bind_push_definition(L, bind_op_class_of(c->op));
  lua_getfield(L, -1, "do_constant_folding");
  if (lua_isfunction(L, -1)) {
    bind_push_borrowed(L, c->op);
    callback_push_rewritten(L);
    bind_push_borrowed(L, c->node);
    lua_call(L, 3, 1);
  }
  c->answer = lua_toboolean(L, -1);
  BIND_LEAVES(L, 2);
}

static bool callback_do_constant_folding(const damo_apply *node) {
  bind_callback c = {.name = "do_constant_folding", .op = node->op, .node = (damo_apply *)node, .body = body_folding};
  damo_status s = bind_callback_run(&c);
  bind_state *st = bind_op_class_of(node->op)->link->state;
  if (st) bind_defer(st, s);
  return s == DAMO_OK && c.answer;
}

static void callback_push_shapes(lua_State *L, bind_callback *c) {
  BIND_HEIGHT(L);
  lua_createtable(L, c->node->n_in, 0);
  for (int i = 0; i < c->node->n_in; i++) {
    const damo_type *t = c->node->in[i]->type;
    if (type_is_tensor(t) && c->in_shape[i]) {
      bind_push_vars(L, c->in_shape[i], t->ndim);
    } else {
      lua_newtable(L);
    }
    lua_rawseti(L, -2, i + 1);
  }
  BIND_LEAVES(L, 1);
}

/* Takes the shape of output o, the list at the top. */
static void callback_take_shape(lua_State *L, bind_callback *c, int o) {
  int ndim = c->node->out[o]->type->ndim;
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != ndim) {
    bind_callback_fail(c, DAMO_EVALUE, "must give %d lengths for output %d", ndim, o + 1);
    return;
  }
  for (int d = 0; d < ndim; d++) {
    bool graph;
    lua_rawgeti(L, -1, d + 1);
    damo_var *v = bind_operand(L, -1, true, &graph, c->op->def->name, o + 1, "shape");
    bind_keep(L, -1);
    c->out_shape[o][d] = build_take(c->b, damo_retain(v));
    lua_pop(L, 2);
  }
}

static void body_infer_shape(lua_State *L, bind_callback *c) {
  bind_callback_push(L, c, "infer_shape");
  callback_push_rewritten(L);
  bind_push_borrowed(L, c->node);
  callback_push_shapes(L, c);
  lua_call(L, 4, 1);
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != c->node->n_out) {
    bind_callback_fail(c, DAMO_EVALUE, "must return a list with %d shapes, one for each output", c->node->n_out);
    return;
  }
  int list = lua_gettop(L);
  for (int o = 0; o < c->node->n_out && c->status == DAMO_OK; o++) {
    lua_rawgeti(L, list, o + 1);
    if (type_is_tensor(c->node->out[o]->type)) callback_take_shape(L, c, o);
    lua_settop(L, list);
  }
}

static damo_status callback_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  bind_callback c = {.name = "infer_shape",
                     .op = node->op,
                     .node = node,
                     .body = body_infer_shape,
                     .b = b,
                     .in_shape = in_shape,
                     .out_shape = out_shape};
  return bind_callback_run(&c);
}

/* ---- The class's functions --------------------------------------------------------------------------------------- */

static bool callback_is_given(lua_State *L, int idx, const char *name) {
  lua_getfield(L, idx, name);
  int type = lua_type(L, -1);
  lua_pop(L, 1);
  if (type != LUA_TNIL && type != LUA_TFUNCTION) {
    bind_raise(L, DAMO_ETYPE, "Op: %s must be a function, got %s", name, lua_typename(L, type));
  }
  return type == LUA_TFUNCTION;
}

/* do_constant_folding may be a function or a boolean. */
static bool callback_asks_folding(lua_State *L, int idx) {
  lua_getfield(L, idx, "do_constant_folding");
  bool asks = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return asks;
}

void bind_set_callbacks(lua_State *L, int idx, bind_op_class *k) {
  op_def *def = &k->def;
  bool by_types = k->itypes && k->otypes;
  def->n_in = OP_VARIADIC;
  def->least_in = OP_NO_INPUT;
  def->n_out = OP_VARIADIC;
  def->count_out = by_types ? callback_count_otypes : callback_count_one;
  def->infer_type = by_types ? callback_types_from_class : callback_types_from_nobody;
  if (callback_is_given(L, idx, "make_node")) {
    def->make_node = callback_make_node;
  } else if (!by_types) {
    bind_raise(L, DAMO_EVALUE, "Op: %s needs make_node, or itypes and otypes", k->name);
  }
  k->own_thunk = callback_is_given(L, idx, "make_thunk");
  def->may_be_lazy = k->own_thunk;
  if (callback_is_given(L, idx, "perform") || k->own_thunk) def->perform_lua = bind_op_perform;
  if (callback_is_given(L, idx, "prepare_node")) def->prepare_node = callback_prepare_node;
  if (k->own_thunk || def->prepare_node || callback_is_given(L, idx, "get_params"))
    def->make_thunk = bind_op_make_thunk;
  if (callback_is_given(L, idx, "grad")) def->grad = callback_grad;
  if (callback_is_given(L, idx, "L_op")) def->grad = callback_L_op;
  if (callback_is_given(L, idx, "R_op")) def->rop = callback_R_op;
  if (callback_is_given(L, idx, "infer_shape")) def->infer_shape = callback_infer_shape;
  if (callback_is_given(L, idx, "connection_pattern")) def->connection_pattern = callback_connection_pattern;
  if (callback_asks_folding(L, idx)) def->do_constant_folding = callback_do_constant_folding;
}
