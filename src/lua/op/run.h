/* run: what the files share that run Ops written in Lua: perform.c, own_thunk.c, workspace.c,
 * values.c.
 *
 * What a thunk passes to Lua each time (the lists, the node, the params) is made once, in its workspace: a table that
 * hangs from the Op's userdata under the address of the thunk's bind_op_run in a frame, and goes with that. The userdata of inputs, and of
 * outputs' old values, are made once too: an Array is lent to them for the time of a call, so whoever wants to keep an
 * input copies it. Between runs a workspace holds no value. An output's old value is handed over when nobody else holds
 * it.
 */
#ifndef DAMO_LUA_OP_RUN_H
#define DAMO_LUA_OP_RUN_H

#include "class.h"

/* What a thunk's user points to. A lender is the box of a userdata that the thunk's workspace keeps; NULL: none yet. */
typedef struct bind_op_run {
  bind_op_link *link;
  bool busy;
  bool lent; /* in this call: only then are the lenders known to be there */
  size_t size;
  bind_box **lender; /* of inputs, then of outputs */
  damo_array **view; /* owned: the read-only headers that inputs are lent as; NULL: none yet */
  uint8_t *fresh;    /* per output: in no_recycling, so no old value is shown */
} bind_op_run;

/* Places in a thunk's workspace. For perform the cells of outputs follow; an own thunk has lists of cells. */
enum {
  WORKSPACE_FUNCTION = 1,
  WORKSPACE_OP,
  WORKSPACE_NODE,
  WORKSPACE_INPUTS,
  WORKSPACE_STORAGE,
  WORKSPACE_PARAMS,
  WORKSPACE_CELLS
};
enum { WORKSPACE_IN_READY = WORKSPACE_OP, WORKSPACE_OUT_READY = WORKSPACE_PARAMS };

/* ---- Workspaces (workspace.c) ---------------------------------------------------------------------------------- */

/* Makes what t->user points to (owned by the thunk). how may be NULL. NULL: memory error. */
bind_op_run *bind_op_run_new(const thunk *t, frame *f, const thunk_request *how);
/* Pushes the table of workspaces of the Op's userdata at the top, in its place. */
void bind_push_workspaces(lua_State *L);
/* Pushes the workspace of a thunk that runs perform, made when there is none (the first run, or after the Op's userdata
 * was made anew). False, with c->status set, when the Op can't give what belongs there. */
bool bind_push_workspace(lua_State *L, bind_callback *c);

/* ---- Values (values.c) ------------------------------------------------------------------------------------ */

/* Push with the workspace at stack index 1. Input i, read-only unless the Op destroys it; the value that output o's
 * cell holds, if the Op may write it, else nil. */
void bind_push_input(lua_State *L, const thunk *t, frame *f, int i);
void bind_push_old_output(lua_State *L, const thunk *t, frame *f, int o);
/* Takes back what was lent; after each call, whether or not it failed. */
void bind_take_back(const thunk *t, frame *f);
/* The cell at the top: takes its value, which is replaced by nil, as output o. Sets c->status when it is no such
 * value. */
void bind_take_cell(lua_State *L, bind_callback *c, int o);
/* A number or boolean for a 0-d output: integers fit any number dtype, fractions none of integers. */
bool bind_scalar_fits(lua_State *L, int idx, damo_dtype dtype, scalar *s);

/* ---- Runs (perform.c, own_thunk.c) ----------------------------------------------------------------- */

/* Runs the callback, lending and taking back; a state error when the thunk is running already. */
damo_status bind_lend_and_run(const thunk *t, frame *f, bind_callback *c);
/* Calls the Op's own make_thunk, and has the thunk run what that gives. t->user is there. */
damo_status bind_op_make_own_thunk(const thunk *t, frame *f, const thunk_request *how);

#endif
