/* run: the runs of Ops written in Lua (run.c). */
#ifndef DAMO_LUA_OP_RUN_H
#define DAMO_LUA_OP_RUN_H

#include "call.h"

/* op_def.perform_lua and op_def.make_thunk of Lua classes. */
damo_status bind_op_perform(const thunk *t, frame *f);
damo_status bind_op_make_thunk(const thunk *t, frame *f, const thunk_request *how);
/* Makes what the thunk's perform needs now, rather than at the first run. */
damo_status bind_op_furnish(const thunk *t, frame *f);
/* Pushes the params of the node: what get_params gives, converted by params_type; else the properties; else nil. */
void bind_push_params(lua_State *L, const damo_apply *node);

#endif
