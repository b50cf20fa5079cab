/* call: callbacks from the core into an Op written in Lua (call.c). */
#ifndef DAMO_LUA_OP_CALL_H
#define DAMO_LUA_OP_CALL_H

#include "class.h"

/* One callback under way: the body runs protected, finds the arguments here, and sets status when a result is wrong. */
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

/* Runs the body under lua_pcall on the coroutine that is inside the core; what it throws becomes the pending error. */
damo_status bind_callback_run(bind_callback *c);
/* What a callback threw is at the top, rc what lua_pcall gave: popped, it becomes the pending error. */
damo_status bind_callback_thrown(lua_State *L, const damo_op *op, const char *callback, damo_apply *node, int rc);
/* The callback's result is wrong: "Scale: perform left output 1 empty". Sets and returns c->status. */
damo_status bind_callback_fail(bind_callback *c, damo_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Pushes the definition's function of that name and the Op, its first argument. */
void bind_callback_push(lua_State *L, const bind_callback *c, const char *name);

/* Sets the function pointers of the class for the callbacks that the definition at idx gives. */
void bind_set_callbacks(lua_State *L, int idx, bind_op_class *k);

#endif
