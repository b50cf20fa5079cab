/* function: what the files of Functions share: function.c has the class, call.c the calls. */
#ifndef DAMO_LUA_FUNCTION_FUNCTION_H
#define DAMO_LUA_FUNCTION_FUNCTION_H

#include "lua/binding_int.h"

/* What lies beside a Function's userdata: 0-d Arrays that numbers are written into, and how results are handed over. */
typedef struct bind_caller {
  bind_state *st;
  bool named, single;
  int64_t n_arrays;     /* outputs that are not 0-d: with more than one a vault is needed */
  int64_t n;            /* of scalars */
  damo_array *scalar[]; /* per input: NULL until a number first came */
} bind_caller;

/* function.c */

/* The Function that is argument 1 of a method. */
damo_function *bind_function_self(lua_State *L, const char *func);
/* The caller of the Function at idx; raises for another program's. */
bind_caller *bind_caller_of(lua_State *L, int idx);

/* call.c: what Lua calls */

int bind_function_call(lua_State *L);       /* f(...) */
int bind_function_call_named(lua_State *L); /* f:call{name = value} */
int bind_function_into(lua_State *L);       /* f:into(out1, out2, …) */

#endif
