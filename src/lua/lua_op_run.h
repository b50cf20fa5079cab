/* lua_op_run: what the files share that run Ops written in Lua: lua_op_perform.c, lua_op_own_thunk.c, lua_op_room.c,
 * lua_op_values.c.
 *
 * What a thunk passes to Lua each time (the lists, the node, the params) is made once, in its room: a table that hangs
 * from the Op's userdata under the thunk's address, and goes with the thunk. The userdata of inputs, and of outputs'
 * old values, are made once too: an Array is lent to them for the time of a call, so whoever wants to keep an input
 * copies it. Between runs a room holds no value. An output's old value is handed over when nobody else holds it.
 */
#ifndef DAMO_LUA_OP_RUN_H
#define DAMO_LUA_OP_RUN_H

#include "op_class.h"

/* What a thunk's user points to. A lender is the box of a userdata that the thunk's room keeps; NULL: none yet. */
typedef struct lua_run {
  op_link *link;
  bool busy;
  bool lent; /* in this call: only then are the lenders known to be there */
  size_t size;
  bind_box **lender; /* of inputs, then of outputs */
  damo_array **view; /* owned: the read-only headers that inputs are lent as; NULL: none yet */
  uint8_t *fresh;    /* per output: in no_recycling, so no old value is shown */
} lua_run;

/* Places in a thunk's room. For perform the cells of outputs follow; an own thunk has lists of cells. */
enum { R_FUNCTION = 1, R_OP, R_NODE, R_INPUTS, R_STORAGE, R_PARAMS, R_CELLS };
enum { R_IN_READY = R_OP, R_OUT_READY = R_PARAMS };

/* ---- Rooms (lua_op_room.c) --------------------------------------------------------------------------------------- */

/* Makes what t->user points to (owned by the thunk). how may be NULL. NULL: memory error. */
lua_run *op_run_new(thunk *t, const thunk_request *how);
/* Pushes the table of rooms of the Op's userdata at the top, in its place. */
void op_push_rooms(lua_State *L);
/* Pushes the room of a thunk that runs perform, made when there is none (the first run, or after the Op's userdata was
 * made anew). False, with c->status set, when the Op can't give what belongs there. */
bool op_push_room(lua_State *L, op_callback *c);

/* ---- Values (lua_op_values.c) ------------------------------------------------------------------------------------ */

/* Push with the room at stack index 1. Input i, read-only unless the Op destroys it; the value that output o's cell
 * holds, if the Op may write it, else nil. */
void op_push_input(lua_State *L, const thunk *t, int i);
void op_push_old(lua_State *L, const thunk *t, int o);
/* Takes back what was lent; after each call, whether or not it failed. */
void op_take_back(const thunk *t);
/* The cell at the top: takes its value, which is replaced by nil, as output o. Sets c->status when it is no such
 * value. */
void op_take_cell(lua_State *L, op_callback *c, int o);
/* A number or boolean for a 0-d output: integers fit any number dtype, fractions none of integers. */
bool op_scalar_fits(lua_State *L, int idx, damo_dtype dtype, scalar *s);

/* ---- Runs (lua_op_perform.c, lua_op_own_thunk.c) ----------------------------------------------------------------- */

/* Runs the callback, lending and taking back; a state error when the thunk is running already. */
damo_status op_run_body(thunk *t, op_callback *c);
/* Calls the Op's own make_thunk, and has the thunk run what that gives. t->user is there. */
damo_status op_make_own_thunk(thunk *t, const thunk_request *how);

#endif
