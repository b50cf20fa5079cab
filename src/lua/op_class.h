/* op_class: an Op class written in Lua, as the core sees it. Shared by lua_op*.c, lua_thunk.c and lua_test_value.c.
 *
 * The class is an object (OBJ_OPCLASS) that owns its op_def; its functions hang from its userdata (peer field "def"),
 * so the core keeps nothing of Lua's alive. Through the link it finds the Lua state it belongs to, until that is
 * closed.
 */
#ifndef DAMO_OP_CLASS_H
#define DAMO_OP_CLASS_H

#include "lua_int.h"

/* Between the classes of a Lua state and that state: state is NULL once it is closed. */
typedef struct op_link {
  int64_t refs; /* the state's own, and one a class */
  damo_ctx *ctx;
  bind_state *state;
  lua_State *main; /* runs callbacks when no coroutine is known to be inside the core */
  bool plain;      /* thunks are made by perform, whatever make_thunk the Op has: inside make_lua_thunk */
  bool debug;      /* with debug_perform, where the Op has one */
} op_link;

typedef struct lua_class {
  damo_obj obj;
  op_def def;
  op_link *link;
  char *name, *props; /* what def points to */
  op_alias *view_map, *destroy_map;
  int n_view, n_destroy; /* entries allocated */
  damo_type **itypes, **otypes;
  int n_in, n_out; /* of itypes and otypes; -1 without */
  bool own_thunk;  /* the definition has make_thunk */
} lua_class;

/* One callback under way: the body runs protected, finds the arguments here, and sets status when a result is wrong. */
typedef struct op_callback {
  const char *name; /* "perform" */
  const damo_op *op;
  damo_apply *node; /* or NULL */
  void (*body)(lua_State *L, struct op_callback *c);
  damo_status status;
  thunk *t;
  const thunk_request *how;
  build *b;
  damo_var *const *in;
  int n_in;
  damo_var **out; /* gradients, tangents */
  damo_var *const *const *in_shape;
  damo_var ***out_shape;
  damo_apply *made;
  const char *impl;
  bool *flags;
  bool answer;
} op_callback;

/* Runs the body under lua_pcall on the coroutine that is inside the core; what it throws becomes the pending error. */
damo_status op_call_run(op_callback *c);
/* What a callback threw is at the top, rc what lua_pcall gave: popped, it becomes the pending error. */
damo_status op_call_thrown(lua_State *L, const damo_op *op, const char *callback, damo_apply *node, int rc);
/* The callback's result is wrong: "Scale: perform left output 1 empty". Sets and returns c->status. */
damo_status op_call_fail(op_callback *c, damo_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Pushes the definition's function of that name and the Op, its first argument. */
void op_call_push(lua_State *L, const op_callback *c, const char *name);
/* Pushes a list of the Variables, with holes for NULL. */
void op_call_push_vars(lua_State *L, damo_var *const *v, int n);

static inline lua_class *op_class(const damo_op *op) { return (lua_class *)op->owner; }

void op_link_release(op_link *link);
/* Sets the function pointers of the class for the callbacks that the definition at idx gives. */
void bind_set_callbacks(lua_State *L, int idx, lua_class *k);
/* Pushes the definition table of the class; a state error when the class's Lua part is gone. */
void bind_push_definition(lua_State *L, const lua_class *k);
/* Pushes the properties of the op as a table. */
void bind_push_props(lua_State *L, const damo_op *op);

/* ---- Classes and their Ops (lua_op_class.c, lua_op.c) ------------------------------------------------------------ */

#define OP_MAX_PROPS 32
#define OP_HIDDEN_PROP "default_output" /* a last property of every class: the table that makes the Op may give it */

/* The names of a class's properties, NULL-terminated, for which names has OP_MAX_PROPS + 2 places; returns how many.
 * The texts lie in one room that is pushed. */
int op_prop_names(lua_State *L, const op_def *def, const char **names);
/* Makes the kind of classes and adds Op to the table at the top. */
void op_open_class(lua_State *L);
/* The Op at stack index 1; a type error that names func otherwise. */
static inline damo_op *op_self(lua_State *L, const char *func) { return bind_check_obj(L, 1, OBJ_OP, func, "self"); }

/* ---- Nodes (lua_op_node.c) --------------------------------------------------------------------------------------- */

/* op(x, y, {return_list = true}) */
int op_apply_call(lua_State *L);
/* op:make_node(x, y) of an Op that has none in Lua: the node. */
int op_apply_make_node(lua_State *L);

/* ---- Running (lua_op_perform.c) ---------------------------------------------------------------------------------- */

/* op_def.perform_lua and op_def.make_thunk of Lua classes. */
damo_status op_lua_perform(thunk *t);
damo_status op_lua_make_thunk(thunk *t, const thunk_request *how);
/* Makes what the thunk's perform needs now, rather than at the first run. */
damo_status op_lua_furnish(thunk *t);
/* Pushes the params of the node: what get_params gives, converted by params_type; else the properties; else nil
 * (lua_op_params.c). */
void op_push_params(lua_State *L, const damo_apply *node);

/* ---- Thunks in Lua (lua_thunk.c) --------------------------------------------------------------------------------- */

/* (op, node, storage_map, compute_map, no_recycling, impl): a thunk whose cells are the maps'. */
int op_make_thunk(lua_State *L);
int op_make_c_thunk(lua_State *L);
int op_make_lua_thunk(lua_State *L); /* the last argument is debug */
/* Adds ThunkType to the table at the top. */
void op_open_thunk(lua_State *L);
/* Pushes the maps that the make_thunk under way was called with: storage_map, compute_map (nil, nil inside compile). */
void op_push_maps(lua_State *L);

/* ---- Members that every Op answers to (lua_op_member.c) ---------------------------------------------------------- */

int op_member_perform(lua_State *L);
int op_member_grad(lua_State *L);
int op_member_L_op(lua_State *L);
int op_member_R_op(lua_State *L);
int op_member_infer_shape(lua_State *L);
int op_member_connection_pattern(lua_State *L);
int op_member_do_constant_folding(lua_State *L);
int op_member_get_params(lua_State *L);
int op_member_prepare_node(lua_State *L);
int op_member_add_tag_trace(lua_State *L);

/* ---- Test values (lua_test_value.c) ------------------------------------------------------------------------------ */

/* Adds compute_test_value and its company to the table at the top. */
void op_open_test_value(lua_State *L);
/* Runs the node over the values in the list at idx (absolute), filtered by the inputs' Types; pushes the list of
 * outputs. keep: what the Op destroys is a copy. */
void op_run_values(lua_State *L, damo_apply *node, int values, bool keep);

#endif
