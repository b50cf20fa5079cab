/* run: the runs of Ops written in Lua (run.c). */
#ifndef DAMO_LUA_OP_RUN_H
#define DAMO_LUA_OP_RUN_H

#include "call.h"

/* op_def.perform_lua and op_def.make_thunk of classes written in Lua. */
damo_status bind_op_perform(const thunk *t, frame *f);
damo_status bind_op_make_thunk(const thunk *t, frame *f, const thunk_request *how);
/* Makes the thunk's workspace at once, not at its first run, so that errors in it are raised here. */
damo_status bind_op_furnish(const thunk *t, frame *f);

#endif
