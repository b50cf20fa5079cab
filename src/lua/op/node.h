/* node: applying an Op (node.c). */
#ifndef DAMO_LUA_OP_NODE_H
#define DAMO_LUA_OP_NODE_H

#include "lua/binding_int.h"

/* op(x, y, {return_list = true}) */
int bind_member_call(lua_State *L);
/* op:make_node(x, y): returns the node. */
int bind_member_make_node(lua_State *L);

#endif
