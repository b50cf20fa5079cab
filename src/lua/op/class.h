/* class: an Op class written in Lua, as the core sees it, and its Ops (class.c, op.c).
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

static inline bind_op_class *bind_op_class_of(const damo_op *op) { return (bind_op_class *)op->owner; }

void bind_op_link_release(bind_op_link *link);
/* Pushes the definition table of the class; a state error when the class's Lua part is gone. */
void bind_push_definition(lua_State *L, const bind_op_class *k);
/* Pushes the properties of the op as a table. */
void bind_push_props(lua_State *L, const damo_op *op);

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

#endif
