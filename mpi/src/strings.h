/* strings: what ranks tell each other as strings of Lua, outside of graphs. Small and rare: what they agree on about
 * files, and parts of a matrix on their way to the rank that keeps them. */
#ifndef DAMO_MPI_STRINGS_H
#define DAMO_MPI_STRINGS_H

#include "world.h"

/* Adds exchange_strings to the module's table at the top of the stack. */
void strings_register(lua_State *L);

#endif
