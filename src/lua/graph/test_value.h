/* test_value: test values (test_value.c). */
#ifndef DAMO_LUA_GRAPH_TEST_VALUE_H
#define DAMO_LUA_GRAPH_TEST_VALUE_H

#include "lua/binding_int.h"

/* Adds compute_test_value, get_test_value and the like to the table at the top. */
void bind_add_test_value(lua_State *L);
/* Runs the node with the values in the list at idx (absolute), converted to the inputs' Types; pushes the list of
 * outputs. keep: values that the Op destroys are copied first. */
void bind_run_values(lua_State *L, damo_apply *node, int values, bool keep);

#endif
