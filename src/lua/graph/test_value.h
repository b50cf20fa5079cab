/* test_value: test values (test_value.c). */
#ifndef DAMO_LUA_GRAPH_TEST_VALUE_H
#define DAMO_LUA_GRAPH_TEST_VALUE_H

#include "lua/binding_int.h"

/* Adds compute_test_value and its company to the table at the top. */
void bind_add_test_value(lua_State *L);
/* Runs the node over the values in the list at idx (absolute), filtered by the inputs' Types; pushes the list of
 * outputs. keep: what the Op destroys is a copy. */
void bind_run_values(lua_State *L, damo_apply *node, int values, bool keep);

#endif
