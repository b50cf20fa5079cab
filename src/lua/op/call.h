/* call: callbacks from the core into an Op written in Lua (call.c). */
#ifndef DAMO_LUA_OP_CALL_H
#define DAMO_LUA_OP_CALL_H

#include "class.h"

/* A callback: its arguments and results, which the body, run in protected mode, reads and writes. The body sets status
 * if a result is wrong. */
typedef struct bind_callback {
  const char *name; /* "perform" */
  const damo_op *op;
  damo_apply *node; /* or NULL */
  void (*body)(lua_State *L, struct bind_callback *c);
  damo_status status;
  const thunk *t;
  frame *f;
  const thunk_request *how;
  build *b;
  damo_var *const *in;
  int n_in;
  damo_var **out; /* gradients, tangents */
  damo_var *const *const *in_shape;
  damo_var ***out_shape;
  damo_apply *made;
  const char *impl;
  bool *flags;
  bool answer;
} bind_callback;

/* Runs the body under lua_pcall on the coroutine that is inside the core; an error that it throws becomes the pending
 * error. */
damo_status bind_callback_run(bind_callback *c);
/* Converts the error value of a callback (popped from the top) into the pending error; rc: lua_pcall's result. */
damo_status bind_callback_thrown(lua_State *L, const damo_op *op, const char *callback, damo_apply *node, int rc);
/* Reports a wrong result of the callback: "Scale: perform left output 1 empty". Sets and returns c->status. */
damo_status bind_callback_fail(bind_callback *c, damo_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Pushes the definition's function of that name, and the Op as its first argument. */
void bind_callback_push(lua_State *L, const bind_callback *c, const char *name);

/* Sets the function pointers of the class for the callbacks that the definition at idx has. */
void bind_set_callbacks(lua_State *L, int idx, bind_op_class *k);

#endif
