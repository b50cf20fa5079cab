/* function: declarations shared by the files of Functions: function.c has the class, call.c the calls. */
#ifndef DAMO_LUA_FUNCTION_FUNCTION_H
#define DAMO_LUA_FUNCTION_FUNCTION_H

#include "lua/binding_int.h"

/* The binding's data of a Function, in its peer table: the 0-d Arrays into which calls write numbers, and the form of
 * the results (bind_push_function). */
typedef struct bind_caller {
  bind_state *st;
  bool named, single;
  bool nested;          /* the peer table has take_args or give_results: bind_function_nest */
  bool scalars;         /* calls with numbers alone give numbers alone: function_run_scalars */
  int64_t n_arrays;     /* number of outputs that are no plain scalars; a vault is needed if there are several */
  int64_t n;            /* length of scalar: the number of inputs */
  damo_array *scalar[]; /* one an input; NULL until the first number is passed */
} bind_caller;

/* function.c */

/* The Function that is argument 1 of a method. */
damo_function *bind_function_self(lua_State *L, const char *func);
/* The bind_caller of the Function at idx; raises for a Function that another copy of the library made. */
bind_caller *bind_caller_of(lua_State *L, int idx);

/* nest_function(f, take, give): calls of f take the arguments that take(…) makes of theirs, and give what give(…) makes of
 * its results; either may be nil. */
int bind_function_nest(lua_State *L);

/* from_token(name): a Function over the program of that name. */
int bind_from_token(lua_State *L);

/* call.c: functions called by Lua */

/* Whether calls of f with numbers may go by function_run_scalars. */
bool bind_calls_scalars(const damo_function *f);
int bind_function_call(lua_State *L);       /* f(...) */
int bind_function_call_named(lua_State *L); /* f:call{name = value} */
int bind_function_into(lua_State *L);       /* f:into(out1, out2, …) */
int bind_function_probe(lua_State *L);      /* f:probe(var, …) */

/* front.c */

/* Replaces the closure of f:into at the top, for the Function at 1 and the first target at 2, by one that calls f through
 * LuaJIT's ffi where that can be; leaves it elsewhere. */
void bind_front_wrap(lua_State *L, const damo_function *f, bind_caller *c, void *const *vault);

/* Reads the n values from stack index `first` on, at most as many as f has inputs, into args (borrowed from the stack
 * or from c). */
void bind_caller_args(lua_State *L, bind_caller *c, damo_function *f, int first, int64_t n, damo_obj **args);

/* run.c */

int bind_function_start(lua_State *L); /* f:start(…) */
void bind_add_run_class(lua_State *L);

/* profile.c */

int bind_function_get_profile(lua_State *L); /* f.profile */
int bind_function_export_c(lua_State *L);    /* f:export_c{name=, …} */

#endif
