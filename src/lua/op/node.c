/* node: applying an Op: op(x, y) and op:make_node(x, y).
 *
 * If the class is written in Lua and has make_node, that makes the node; otherwise the core does, with the arguments as
 * inputs.
 */
#include "node.h"
#include "call.h"
#include "op/op.h"

/* Whether the argument at idx is {return_list = …} without other keys. */
static bool node_takes_return_list(lua_State *L, int idx, bool *list) {
  if (!lua_istable(L, idx) || lua_rawlen(L, idx) > 0) return false;
  int keys = 0;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) keys++;
  if (keys != 1 || !bind_option(L, idx, "return_list")) return false;
  *list = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return true;
}

/* Calls the definition's make_node with the arguments 2..top; pushes the node. */
static damo_apply *node_from_lua(lua_State *L, damo_op *op, int top) {
  const char *name = op->def->name;
  bind_push_definition(L, bind_op_class_of(op));
  lua_getfield(L, -1, "make_node");
  lua_remove(L, -2);
  for (int i = 1; i <= top; i++) lua_pushvalue(L, i);
  const int rc = bind_call_back(L, op->obj.ctx, top, 1);
  if (rc != LUA_OK) {
    bind_callback_thrown(L, op, "make_node", NULL, rc);
    bind_error(L);
  }
  damo_apply *node = bind_to(L, -1, OBJ_APPLY);
  if (!node) bind_raise(L, DAMO_ETYPE, "%s: make_node must return an Apply, got %s", name, bind_typename(L, -1));
  if (node->op != op)
    bind_raise(L, DAMO_EVALUE, "%s: make_node returned a node of another Op, %s", name, node->op->def->name);
  return node;
}

/* Converts an argument to an input: literals and values get the Type that the class's itypes has for it. */
static damo_var *node_input_at(lua_State *L, const damo_op *op, int i, int idx) {
  bool graph;
  const bind_op_class *k = bind_is_lua_op(op) ? bind_op_class_of(op) : NULL;
  const damo_type *t = k && k->itypes && i < k->n_in ? k->itypes[i] : NULL;
  if (!t || bind_to_var(L, idx) || (lua_isnil(L, idx) && t->kind != TYPE_GENERIC)) {
    return bind_operand(L, idx, true, &graph, op->def->name, i + 1, NULL);
  }
  damo_obj *value = bind_filter(L, idx, k->itypes[i], (filter_options){0}, op->def->name);
  damo_var *v = var_constant(bind_ctx(L), k->itypes[i], value);
  bind_push_made(L, v);
  return v;
}

/* Makes the node in the core from the arguments 2..top; pushes it. */
static damo_apply *node_from_core(lua_State *L, damo_op *op, int top) {
  int n = top - 1;
  luaL_checkstack(L, 2 * n + 20, op->def->name);
  damo_var **in = bind_alloc(L, (size_t)n, sizeof *in);
  for (int i = 0; i < n; i++) in[i] = node_input_at(L, op, i, i + 2);
  bind_set_trace(L);
  bind_entry e = bind_enter(L);
  damo_apply *node = op_apply(e.state->ctx, op, in, n);
  bind_leave(e);
  bind_push_made(L, node);
  return node;
}

static int node_push_outputs(lua_State *L, const damo_apply *node, bool list) {
  int only = op_default_output(node->op);
  if (only > node->n_out) {
    bind_raise(L, DAMO_EVALUE, "%s: default_output is %d, the node has %d outputs", node->op->def->name, only,
               node->n_out);
  }
  if (only == 0 && node->n_out == 1) only = 1;
  if (list) {
    lua_createtable(L, node->n_out, 0);
    for (int i = 0; i < node->n_out; i++) {
      bind_push_borrowed(L, node->out[i]);
      lua_rawseti(L, -2, i + 1);
    }
    return 1;
  }
  if (only > 0) {
    bind_push_borrowed(L, node->out[only - 1]);
    return 1;
  }
  luaL_checkstack(L, node->n_out + 4, "too many outputs");
  for (int i = 0; i < node->n_out; i++) bind_push_borrowed(L, node->out[i]);
  return node->n_out;
}

static damo_apply *node_make_at(lua_State *L, damo_op *op, int top) {
  bool own = false;
  luaL_checkstack(L, top + 20, op->def->name);
  if (bind_is_lua_op(op)) {
    bind_push_definition(L, bind_op_class_of(op));
    lua_getfield(L, -1, "make_node");
    own = !lua_isnil(L, -1);
    lua_pop(L, 2);
  }
  if (!own) return node_from_core(L, op, top);
  damo_apply *node = node_from_lua(L, op, top);
  bind_set_trace(L); /* the line that applied the Op, not the one inside its make_node */
  damo_obj *trace = graph_notes_of(bind_ctx(L))->trace;
  if (trace && trace != (damo_obj *)node->trace) {
    damo_release(node->trace);
    node->trace = damo_retain(trace);
  }
  return node;
}

int bind_op_takes(const damo_op *op) {
  if (bind_is_lua_op(op)) return bind_op_class_of(op)->n_in;
  return op->def->n_in >= 0 ? op->def->n_in : elemwise_arity(op);
}

/* Drops trailing nils beyond the number of inputs that the Op is known to take; returns the new top. */
static int node_drop_nils(lua_State *L, const damo_op *op) {
  const int takes = bind_is_lua_op(op) ? bind_op_class_of(op)->n_in : op->def->n_in;
  const int top = bind_without_nils(L, lua_gettop(L), takes < 0 ? 1 : takes + 1);
  lua_settop(L, top);
  return top;
}

int bind_member_call(lua_State *L) {
  damo_op *op = bind_op_self(L, "Op");
  bool list = false;
  int top = node_drop_nils(L, op);
  if (top > 1 && node_takes_return_list(L, top, &list)) lua_settop(L, --top);
  damo_apply *node = node_make_at(L, op, top);
  bind_test_node(L, node);
  int n = node_push_outputs(L, node, list);
  bind_done(L);
  return n;
}

int bind_member_make_node(lua_State *L) {
  damo_op *op = bind_op_self(L, "make_node");
  node_make_at(L, op, node_drop_nils(L, op));
  return 1;
}
