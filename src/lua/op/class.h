/* class: an Op class written in Lua, in the core, and its Ops (class.c, op.c).
 *
 * The class is an object (OBJ_OPCLASS) that owns its op_def. Its Lua functions hang from its userdata (peer field
 * "def"), so the core keeps no Lua value alive. The link leads to the class's Lua state until that is closed.
 */
#ifndef DAMO_LUA_OP_CLASS_H
#define DAMO_LUA_OP_CLASS_H

#include "lua/binding_int.h"

/* Connects the classes of a Lua state with that state: state is NULL once it is closed. */
typedef struct bind_op_link {
  int64_t refs; /* one of the state, one a class */
  damo_ctx *ctx;
  bind_state *state;
  lua_State *main; /* where callbacks run if no coroutine is known to be inside the core */
  bool plain;      /* inside make_lua_thunk: thunks run perform even if the class has make_thunk */
  bool debug;      /* and debug_perform, if the class has it */
} bind_op_link;

typedef struct bind_op_class {
  damo_obj obj;
  op_def def;
  bind_op_link *link;
  char *name; /* owned memory to which def points: */
  op_field *props;
  size_t props_size;
  op_alias *view_map, *destroy_map;
  int n_view, n_destroy; /* entries allocated */
  damo_type **itypes, **otypes;
  int n_in, n_out; /* lengths of itypes and otypes; -1: none */
  bool own_thunk;  /* the definition has make_thunk */
} bind_op_class;

static inline bind_op_class *bind_op_class_of(const damo_op *op) { return (bind_op_class *)op->owner; }

void bind_op_link_release(bind_op_link *link);
/* Pushes the definition table of the class; a state error if its Lua part is gone. */
void bind_push_definition(lua_State *L, const bind_op_class *k);
/* Pushes the properties of the op as a table. */
void bind_push_props(lua_State *L, const damo_op *op);

#define BIND_MAX_PROPS 32
/* The last property of every class, present only if the table that makes the Op gives it. */
#define BIND_HIDDEN_PROP "default_output"

/* Stores the names of a class's properties, NULL-terminated, in names (length BIND_MAX_PROPS + 2); returns their
 * number. */
int bind_op_prop_names(const op_def *def, const char **names);
/* The number of the Op's properties; default_output counts only if it was given. */
int bind_op_n_props(const damo_op *op);
/* Fills the metatable of classes and adds Op to the table at the top. */
void bind_add_op_class(lua_State *L);
/* The Op at stack index 1; a type error that names func for any other value. */
static inline damo_op *bind_op_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_OP, func, "self");
}

#endif
