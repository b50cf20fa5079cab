/* class: an Op class written in Lua, as the core sees it. Shared by lua_op*.c, thunk.c and lua/graph/test_value.c.
 *
 * The class is an object (OBJ_OPCLASS) that owns its op_def; its functions hang from its userdata (peer field "def"),
 * so the core keeps nothing of Lua's alive. Through the link it finds the Lua state it belongs to, until that is
 * closed.
 */
#ifndef DAMO_LUA_OP_CLASS_H
#define DAMO_LUA_OP_CLASS_H

#include "lua/binding_int.h"

/* Between the classes of a Lua state and that state: state is NULL once it is closed. */
typedef struct bind_op_link {
  int64_t refs; /* the state's own, and one a class */
  damo_ctx *ctx;
  bind_state *state;
  lua_State *main; /* runs callbacks when no coroutine is known to be inside the core */
  bool plain;      /* thunks are made by perform, whatever make_thunk the Op has: inside make_lua_thunk */
  bool debug;      /* with debug_perform, where the Op has one */
} bind_op_link;

typedef struct bind_op_class {
  damo_obj obj;
  op_def def;
  bind_op_link *link;
  char *name; /* what def points to */
  op_field *props;
  size_t props_size;
  op_alias *view_map, *destroy_map;
  int n_view, n_destroy; /* entries allocated */
  damo_type **itypes, **otypes;
  int n_in, n_out; /* of itypes and otypes; -1 without */
  bool own_thunk;  /* the definition has make_thunk */
} bind_op_class;

/* One callback under way: the body runs protected, finds the arguments here, and sets status when a result is wrong. */
typedef struct bind_callback {
  const char *name; /* "perform" */
  const damo_op *op;
  damo_apply *node; /* or NULL */
  void (*body)(lua_State *L, struct bind_callback *c);
  damo_status status;
  const thunk *t;
  frame *f;
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
} bind_callback;

/* Runs the body under lua_pcall on the coroutine that is inside the core; what it throws becomes the pending error. */
damo_status bind_callback_run(bind_callback *c);
/* What a callback threw is at the top, rc what lua_pcall gave: popped, it becomes the pending error. */
damo_status bind_callback_thrown(lua_State *L, const damo_op *op, const char *callback, damo_apply *node, int rc);
/* The callback's result is wrong: "Scale: perform left output 1 empty". Sets and returns c->status. */
damo_status bind_callback_fail(bind_callback *c, damo_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Pushes the definition's function of that name and the Op, its first argument. */
void bind_callback_push(lua_State *L, const bind_callback *c, const char *name);

static inline bind_op_class *bind_op_class_of(const damo_op *op) { return (bind_op_class *)op->owner; }

void bind_op_link_release(bind_op_link *link);
/* Sets the function pointers of the class for the callbacks that the definition at idx gives. */
void bind_set_callbacks(lua_State *L, int idx, bind_op_class *k);
/* Pushes the definition table of the class; a state error when the class's Lua part is gone. */
void bind_push_definition(lua_State *L, const bind_op_class *k);
/* Pushes the properties of the op as a table. */
void bind_push_props(lua_State *L, const damo_op *op);

/* ---- Classes and their Ops (class.c, op.c) ------------------------------------------------------------ */

#define BIND_MAX_PROPS 32
#define BIND_HIDDEN_PROP "default_output" /* a last property of every class: the table that makes the Op may give it */

/* The names of a class's properties, NULL-terminated, for which names has BIND_MAX_PROPS + 2 places; returns how many. */
int bind_op_prop_names(const op_def *def, const char **names);
/* How many properties the Op has, default_output only where it was given. */
int bind_op_n_props(const damo_op *op);
/* Makes the kind of classes and adds Op to the table at the top. */
void bind_add_op_class(lua_State *L);
/* The Op at stack index 1; a type error that names func otherwise. */
static inline damo_op *bind_op_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_OP, func, "self");
}

/* ---- Nodes (node.c) --------------------------------------------------------------------------------------- */

/* op(x, y, {return_list = true}) */
int bind_member_call(lua_State *L);
/* op:make_node(x, y) of an Op that has none in Lua: the node. */
int bind_member_make_node(lua_State *L);

/* ---- Running (perform.c) ---------------------------------------------------------------------------------- */

/* op_def.perform_lua and op_def.make_thunk of Lua classes. */
damo_status bind_op_perform(const thunk *t, frame *f);
damo_status bind_op_make_thunk(const thunk *t, frame *f, const thunk_request *how);
/* Makes what the thunk's perform needs now, rather than at the first run. */
damo_status bind_op_furnish(const thunk *t, frame *f);
/* Pushes the params of the node: what get_params gives, converted by params_type; else the properties; else nil
 * (params.c). */
void bind_push_params(lua_State *L, const damo_apply *node);

/* ---- Thunks in Lua (thunk.c) --------------------------------------------------------------------------------- */

/* (op, node, storage_map, compute_map, no_recycling, impl): a thunk whose cells are the maps'. */
int bind_member_make_thunk(lua_State *L);
int bind_member_make_c_thunk(lua_State *L);
int bind_member_make_lua_thunk(lua_State *L); /* the last argument is debug */
/* Adds ThunkType to the table at the top. */
void bind_add_thunk_type(lua_State *L);
/* Pushes the maps that the make_thunk under way was called with: storage_map, compute_map (nil, nil inside compile). */
void bind_push_thunk_maps(lua_State *L);

/* ---- Members that every Op answers to (member.c) ---------------------------------------------------------- */

int bind_member_perform(lua_State *L);
int bind_member_grad(lua_State *L);
int bind_member_L_op(lua_State *L);
int bind_member_R_op(lua_State *L);
int bind_member_infer_shape(lua_State *L);
int bind_member_connection_pattern(lua_State *L);
int bind_member_do_constant_folding(lua_State *L);
int bind_member_get_params(lua_State *L);
int bind_member_prepare_node(lua_State *L);
int bind_member_add_tag_trace(lua_State *L);

/* ---- Test values (lua/graph/test_value.c) ------------------------------------------------------------------------------ */

/* Adds compute_test_value and its company to the table at the top. */
void bind_add_test_value(lua_State *L);
/* Runs the node over the values in the list at idx (absolute), filtered by the inputs' Types; pushes the list of
 * outputs. keep: what the Op destroys is a copy. */
void bind_run_values(lua_State *L, damo_apply *node, int values, bool keep);

#endif
