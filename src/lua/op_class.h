/* op_class: an Op class written in Lua, as the core sees it. Shared by lua_op.c and lua_op_call.c.
 *
 * The class is an object (OBJ_OPCLASS) that owns its op_def; its functions hang from its userdata (peer field "def"), so
 * the core keeps nothing of Lua's alive. Through the link it finds the Lua state it belongs to, until that is closed.
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
} lua_class;

static inline lua_class *op_class(const damo_op *op) { return (lua_class *)op->owner; }

/* Sets the function pointers of the class for the callbacks that the definition at idx gives. */
void bind_set_callbacks(lua_State *L, int idx, lua_class *k);
/* Pushes the definition table of the class; a state error when the class's Lua part is gone. */
void bind_push_definition(lua_State *L, const lua_class *k);
/* Pushes the properties of the op as a table. */
void bind_push_props(lua_State *L, const damo_op *op);

#endif
