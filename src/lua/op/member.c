/* member: the members of the Op contract as methods of every Op: of native Ops, and of Ops written in Lua whose
 * definition lacks the member. A member of the definition is found first; it is the script's own function. */
#include "member.h"
#include "class.h"
#include "params.h"
#include "lua/graph/test_value.h"
#include "grad/grad.h"

static damo_apply *member_own_node(lua_State *L, const damo_op *op, int idx, const char *func) {
  damo_apply *node = bind_check_obj(L, idx, OBJ_APPLY, func, "node");
  if (node->op != op) {
    bind_raise(L, DAMO_EVALUE, "%s: the node is one of %s, not of %s", func, node->op->def->name, op->def->name);
  }
  return node;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* op:perform(node, inputs, output_storage): runs the native code over these values. */
int bind_member_perform(lua_State *L) {
  damo_op *op = bind_op_self(L, "perform");
  lua_settop(L, 5);
  damo_apply *node = member_own_node(L, op, 2, "perform");
  if (!lua_istable(L, 3)) bind_arg_error(L, "perform", 3, "inputs", "a list of values");
  if (!lua_istable(L, 4)) bind_arg_error(L, "perform", 4, "output_storage", "a list of cells");
  bind_run_values(L, node, 3, false);
  for (int o = 1; o <= node->n_out; o++) {
    lua_rawgeti(L, 4, o);
    if (!lua_istable(L, -1)) bind_raise(L, DAMO_ETYPE, "perform: output_storage[%d] must be a cell, {value}", o);
    lua_rawgeti(L, 6, o);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  return 0;
}

int bind_member_get_params(lua_State *L) {
  bind_push_params(L, member_own_node(L, bind_op_self(L, "get_params"), 2, "get_params"));
  return 1;
}

int bind_member_prepare_node(lua_State *L) {
  damo_op *op = bind_op_self(L, "prepare_node");
  lua_settop(L, 5);
  damo_apply *node = member_own_node(L, op, 2, "prepare_node");
  const char *impl = lua_type(L, 5) == LUA_TSTRING ? lua_tostring(L, 5) : bind_is_lua_op(op) ? "lua" : "c";
  if (!op->def->prepare_node) return 0;
  bind_entry e = bind_enter(L);
  damo_status s = op->def->prepare_node(node, impl);
  bind_leave(e);
  bind_check(L, s);
  return 0;
}

int bind_member_do_constant_folding(lua_State *L) {
  damo_op *op = bind_op_self(L, "do_constant_folding");
  damo_apply *node = member_own_node(L, op, 3, "do_constant_folding");
  bind_entry e = bind_enter(L);
  bool folds = !op->def->do_constant_folding || op->def->do_constant_folding(node);
  damo_status s = bind_deferred(e.state);
  bind_leave(e);
  bind_check(L, s);
  lua_pushboolean(L, folds);
  return 1;
}

int bind_member_connection_pattern(lua_State *L) {
  damo_op *op = bind_op_self(L, "connection_pattern");
  const damo_apply *node = member_own_node(L, op, 2, "connection_pattern");
  int n_in = node->n_in, n_out = node->n_out;
  bool *connected = bind_alloc(L, (size_t)n_in * (size_t)n_out, sizeof *connected);
  for (int i = 0; i < n_in * n_out; i++) connected[i] = true;
  bind_entry e = bind_enter(L);
  if (op->def->connection_pattern) op->def->connection_pattern(node, connected);
  damo_status s = bind_deferred(e.state);
  bind_leave(e);
  bind_check(L, s);
  lua_createtable(L, n_in, 0);
  for (int i = 0; i < n_in; i++) {
    lua_createtable(L, n_out, 0);
    for (int o = 0; o < n_out; o++) {
      lua_pushboolean(L, connected[i * n_out + o]);
      lua_rawseti(L, -2, o + 1);
    }
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* Pushes the node of the op over the inputs at idx: the owner of the first output, if it is a node of the op, else a
 * new one. */
static damo_apply *member_node_over(lua_State *L, damo_op *op, int inputs, int outputs, const char *func) {
  bind_list in = bind_var_list(L, inputs, true, func, "inputs");
  if (outputs && lua_istable(L, outputs)) {
    lua_rawgeti(L, outputs, 1);
    damo_var *y = bind_to_var(L, -1);
    lua_pop(L, 1);
    if (y && y->owner && y->owner->op == op) {
      bind_push_borrowed(L, y->owner);
      return y->owner;
    }
  }
  bind_set_trace(L);
  bind_entry e = bind_enter(L);
  damo_apply *node = op_apply(e.state->ctx, op, in.at, (int)in.n);
  bind_leave(e);
  if (!node) bind_error(L);
  bind_push(L, node);
  return node;
}

/* Reads n Variables from the list at idx, or one Variable; nil and DisconnectedType give NULL. Pushes values that keep
 * them alive. */
static damo_var **member_read_holes(lua_State *L, int idx, int n, const char *func, const char *what) {
  damo_var **v = bind_alloc(L, (size_t)n, sizeof *v);
  bool single = bind_to_var(L, idx) != NULL;
  if (!single && !lua_istable(L, idx)) bind_arg_error(L, func, idx, what, "a list of Variables");
  if (single && n != 1) bind_raise(L, DAMO_EVALUE, "%s: %s: expected %d Variables, got one", func, what, n);
  if (!single && (int)lua_rawlen(L, idx) > n) {
    bind_raise(L, DAMO_EVALUE, "%s: %s: expected %d Variables, got more", func, what, n);
  }
  lua_newtable(L);
  for (int i = 0; i < n; i++) {
    bool graph;
    if (single) {
      lua_pushvalue(L, idx);
    } else {
      lua_rawgeti(L, idx, i + 1);
    }
    if (!lua_isnil(L, -1)) {
      v[i] = bind_operand(L, -1, true, &graph, func, idx, what);
      lua_rawseti(L, -3, i + 1);
      if (v[i]->type->kind == TYPE_DISCONNECTED) v[i] = NULL;
    }
    lua_pop(L, 1);
  }
  return v;
}

typedef damo_status (*member_derive_fn)(build *b, damo_apply *node, damo_var *const *given, damo_var **out);

/* Runs a derivative rule in a build scope and pushes the list of n results. A NULL result becomes a Variable of
 * DisconnectedType or, with `holes`, nil. */
static int member_derive(lua_State *L, member_derive_fn fn, damo_apply *node, damo_var **given, int n, bool holes) {
  void **vault = bind_vault(L, n);
  damo_var **out = bind_alloc(L, (size_t)n, sizeof *out);
  bind_set_trace(L);
  bind_entry e = bind_enter(L);
  build b;
  build_init(&b, e.state->ctx);
  damo_status s = fn(&b, node, given, out);
  for (int i = 0; i < n && s == DAMO_OK && b.status == DAMO_OK; i++) {
    if (!out[i] && !holes) out[i] = build_disconnected(&b);
    vault[i] = damo_retain(out[i]);
  }
  damo_status ended = build_end(&b);
  bind_leave(e);
  bind_check(L, s != DAMO_OK ? s : ended);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    bind_push_slot(L, vault, i);
    lua_rawseti(L, -2, i + 1);
  }
  bind_done(L);
  bind_test_results(L, n);
  return 1;
}

/* op:grad(inputs, output_grads) */
int bind_member_grad(lua_State *L) {
  damo_op *op = bind_op_self(L, "grad");
  lua_settop(L, 3);
  damo_apply *node = member_node_over(L, op, 2, 0, "grad");
  damo_var **gout = member_read_holes(L, 3, node->n_out, "grad", "output_grads");
  return member_derive(L, grad_node, node, gout, node->n_in, false);
}

/* op:L_op(inputs, outputs, output_grads) */
int bind_member_L_op(lua_State *L) {
  damo_op *op = bind_op_self(L, "L_op");
  lua_settop(L, 4);
  damo_apply *node = member_node_over(L, op, 2, 3, "L_op");
  damo_var **gout = member_read_holes(L, 4, node->n_out, "L_op", "output_grads");
  return member_derive(L, grad_node, node, gout, node->n_in, false);
}

/* op:R_op(inputs, eval_points): nil for an output that has no derivative. */
int bind_member_R_op(lua_State *L) {
  damo_op *op = bind_op_self(L, "R_op");
  lua_settop(L, 3);
  damo_apply *node = member_node_over(L, op, 2, 0, "R_op");
  damo_var **eval = member_read_holes(L, 3, node->n_in, "R_op", "eval_points");
  return member_derive(L, grad_forward_node, node, eval, node->n_out, true);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static int member_rank(const damo_var *v) { return type_is_tensor(v->type) ? var_ndim(v) : 0; }

/* Pushes {x.shape[1], x.shape[2], …}: the shape of an output for which there is no rule. */
static void member_push_own_shape(lua_State *L, const damo_var *v) {
  lua_createtable(L, member_rank(v), 0);
  if (member_rank(v) == 0) return;
  bind_push_borrowed(L, v);
  lua_getfield(L, -1, "shape");
  for (int k = 1; k <= member_rank(v); k++) {
    lua_pushinteger(L, k);
    lua_gettable(L, -2);
    lua_rawseti(L, -4, k);
  }
  lua_pop(L, 2);
}

/* Reads the shapes in the list at idx as Variables; pushes a userdata that holds them. */
static damo_var ***member_read_shapes(lua_State *L, int idx, const damo_apply *node) {
  damo_var ***shape = bind_alloc(L, (size_t)node->n_in, sizeof *shape);
  lua_newtable(L);
  int keep = lua_gettop(L), kept = 0;
  for (int i = 0; i < node->n_in; i++) {
    int n = member_rank(node->in[i]);
    shape[i] = bind_alloc(L, (size_t)n, sizeof **shape);
    lua_rawseti(L, keep, ++kept);
    lua_rawgeti(L, idx, i + 1);
    if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n) {
      bind_raise(L, DAMO_EVALUE, "infer_shape: input_shapes[%d] must be a list of %d lengths", i + 1, n);
    }
    for (int k = 0; k < n; k++) {
      bool graph;
      lua_rawgeti(L, -1, k + 1);
      shape[i][k] = bind_operand(L, -1, true, &graph, "infer_shape", 4, "input_shapes");
      lua_rawseti(L, keep, ++kept);
      lua_pop(L, 1);
    }
    lua_settop(L, keep);
  }
  return shape;
}

/* Runs the Op's rule; the lengths go into the vault, output after output. */
static damo_status member_infer(damo_ctx *ctx, damo_apply *node, damo_var ***in, damo_var ***out, void **vault) {
  build b;
  build_init(&b, ctx);
  damo_status s = node->op->def->infer_shape(&b, node, (damo_var *const *const *)in, out);
  for (int o = 0, at = 0; o < node->n_out && s == DAMO_OK; o++) {
    for (int k = 0; k < member_rank(node->out[o]); k++) vault[at++] = damo_retain(out[o][k]);
  }
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

/* op:infer_shape(fgraph, node, input_shapes): returns a list of lengths for each output. */
int bind_member_infer_shape(lua_State *L) {
  damo_op *op = bind_op_self(L, "infer_shape");
  lua_settop(L, 4);
  luaL_checkstack(L, 40, "infer_shape");
  damo_apply *node = member_own_node(L, op, 3, "infer_shape");
  if (!lua_istable(L, 4)) bind_arg_error(L, "infer_shape", 4, "input_shapes", "a list of shapes");
  damo_var ***in = member_read_shapes(L, 4, node);
  int total = 0;
  for (int o = 0; o < node->n_out; o++) total += member_rank(node->out[o]);
  void **vault = bind_vault(L, total);
  damo_var ***out = bind_alloc(L, (size_t)node->n_out, sizeof *out);
  damo_var **lengths = bind_alloc(L, (size_t)total, sizeof *lengths);
  for (int o = 0, at = 0; o < node->n_out; at += member_rank(node->out[o++])) out[o] = lengths + at;
  if (op->def->infer_shape) {
    bind_set_trace(L);
    bind_entry e = bind_enter(L);
    damo_status s = member_infer(e.state->ctx, node, in, out, vault);
    bind_leave(e);
    bind_check(L, s);
  }
  lua_createtable(L, node->n_out, 0);
  for (int o = 0, at = 0; o < node->n_out; at += member_rank(node->out[o++])) {
    bool known = op->def->infer_shape != NULL;
    for (int k = 0; k < member_rank(node->out[o]); k++) known = known && vault[at + k];
    if (known) {
      lua_createtable(L, member_rank(node->out[o]), 0);
      for (int k = 0; k < member_rank(node->out[o]); k++) {
        bind_push_slot(L, vault, at + k);
        lua_rawseti(L, -2, k + 1);
      }
    } else {
      member_push_own_shape(L, node->out[o]);
    }
    lua_rawseti(L, -2, o + 1);
  }
  bind_done(L);
  return 1;
}

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

/* add_tag_trace(thing, limit), also op:add_tag_trace(thing, limit): sets thing.tag.trace, and the trace that errors of
 * its node report, to the user's lines. Returns the thing. */
int bind_member_add_tag_trace(lua_State *L) {
  if (bind_to(L, 1, OBJ_OP)) lua_remove(L, 1);
  lua_settop(L, 2);
  damo_var *v = bind_to_var(L, 1);
  damo_apply *node = v ? v->owner : bind_to(L, 1, OBJ_APPLY);
  if (!v && !node) bind_arg_error(L, "add_tag_trace", 1, "thing", "a Variable or an Apply");
  damo_ctx *ctx = bind_ctx(L);
  int limit = graph_notes_of(ctx)->traceback_limit, asked = limit;
  if (!lua_isnil(L, 2)) {
    lua_Number x = lua_type(L, 2) == LUA_TNUMBER ? lua_tonumber(L, 2) : -1;
    if (x < 0 || x != floor(x)) bind_arg_error(L, "add_tag_trace", 2, "limit", "a count of lines");
    asked = x < limit ? (int)x : limit;
  }
  graph_notes_of(ctx)->traceback_limit = asked;
  bind_set_trace(L);
  graph_notes_of(ctx)->traceback_limit = limit;
  damo_trace *trace = (damo_trace *)graph_notes_of(ctx)->trace;
  if (node) {
    damo_trace *old = node->trace;
    node->trace = damo_retain(trace);
    damo_release(old);
  }
  lua_getfield(L, 1, "tag");
  bind_push_trace(L, trace);
  lua_setfield(L, -2, "trace");
  lua_settop(L, 1);
  return 1;
}
