/* thunk: thunks that a script makes (thunk.c). */
#ifndef DAMO_LUA_OP_THUNK_H
#define DAMO_LUA_OP_THUNK_H

#include "lua/binding_int.h"

/* op:make_thunk(node, storage_map, compute_map, no_recycling, impl): a thunk over the maps' cells. */
int bind_member_make_thunk(lua_State *L);
int bind_member_make_c_thunk(lua_State *L);
int bind_member_make_lua_thunk(lua_State *L); /* the last argument is debug */
/* Adds ThunkType to the table at the top. */
void bind_add_thunk_type(lua_State *L);
/* Pushes the storage_map and compute_map of the current make_thunk call; nil, nil inside compile. */
void bind_push_thunk_maps(lua_State *L);

#endif
