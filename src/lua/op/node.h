/* node: the nodes that applying an Op makes (node.c). */
#ifndef DAMO_LUA_OP_NODE_H
#define DAMO_LUA_OP_NODE_H

#include "lua/binding_int.h"

/* op(x, y, {return_list = true}) */
int bind_member_call(lua_State *L);
/* op:make_node(x, y) of an Op that has none in Lua: the node. */
int bind_member_make_node(lua_State *L);

#endif
