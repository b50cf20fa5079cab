/* thunk: thunks that a script makes (thunk.c). */
#ifndef DAMO_LUA_OP_THUNK_H
#define DAMO_LUA_OP_THUNK_H

#include "lua/binding_int.h"

/* (op, node, storage_map, compute_map, no_recycling, impl): a thunk whose cells are the maps'. */
int bind_member_make_thunk(lua_State *L);
int bind_member_make_c_thunk(lua_State *L);
int bind_member_make_lua_thunk(lua_State *L); /* the last argument is debug */
/* Adds ThunkType to the table at the top. */
void bind_add_thunk_type(lua_State *L);
/* Pushes the maps that the make_thunk under way was called with: storage_map, compute_map (nil, nil inside compile). */
void bind_push_thunk_maps(lua_State *L);

#endif
