/* lua: the part of damo.h for hosts with a Lua state, and for functions in C that scripts call. */
#ifndef DAMO_PUBLIC_LUA_H
#define DAMO_PUBLIC_LUA_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

struct lua_State;

/* Opens the Lua module; put it into package.preload["damo.core"]. */
DAMO_API int luaopen_damo_core(struct lua_State *L);
/* Makes the Lua state use the host's context, which is retained. A state error if damo.core has been loaded there
 * already; DAMO_ESTATE without a message if the context is of another build of the library. */
DAMO_API damo_status damo_lua_set_context(struct lua_State *L, damo_ctx *ctx);

/* For functions in C that a script calls. A module that is loaded beside damo.core, which has none of the symbols of
 * this header to link with, includes damo_module.h. */

/* The context of the Lua state, borrowed; NULL before damo.core is loaded there and while the state is being closed. */
DAMO_API damo_ctx *damo_lua_get_context(struct lua_State *L);
/* The object of damo (an Array, a sparse matrix, a Variable, …) that the value at that index of the stack is, borrowed;
 * NULL for every other value. damo_as_array and its kin tell which. Raises a state error if the script has freed it.
 * Nodes that are made after a Variable was got have the running lines of the script as their trace. */
DAMO_API damo_obj *damo_lua_get(struct lua_State *L, int index);
/* Pushes what a script sees of the object, which is retained; nil for NULL. May raise a memory error of Lua. */
DAMO_API void damo_lua_push(struct lua_State *L, const void *obj);
/* Raises the context's last error as the error object that scripts know. Does not return; its type is for
 * `return damo_lua_raise(L);`. */
DAMO_API int damo_lua_raise(struct lua_State *L);

/* Calls of compiled Functions through LuaJIT's ffi. These types are those of functions that damo.core hands over to its own
 * Lua part by address; no library exports them. make/front-types makes of these lines what the ffi reads. */

/* What a call leaves: the results that are numbers, and whether it was made. */
typedef struct damo_front_left {
  double results[6];
  bool done;
} damo_front_left;
/* A call with 0 to 6 operands, each the address of an object's userdata, or NULL and a number. The result is the first
 * one; nan also where the call was not made. */
typedef double (*damo_front_run0)(void *call);
typedef double (*damo_front_run1)(void *call, void *a, double p);
typedef double (*damo_front_run2)(void *call, void *a, double p, void *b, double q);
typedef double (*damo_front_run3)(void *call, void *a, double p, void *b, double q, void *c, double r);
typedef double (*damo_front_run4)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s);
typedef double (*damo_front_run5)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s, void *e, double t);
typedef double (*damo_front_run6)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s, void *e, double t, void *f, double u);

#ifdef __cplusplus
}
#endif

#endif
