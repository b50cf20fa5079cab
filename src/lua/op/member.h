/* member: the members of the Op contract as methods of every Op (member.c). */
#ifndef DAMO_LUA_OP_MEMBER_H
#define DAMO_LUA_OP_MEMBER_H

#include "lua/binding_int.h"

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

#endif
