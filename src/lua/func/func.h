/* func: what the files of the op functions share: func.c has the rows, args.c reads a call's
 * arguments, call.c runs it.
 */
#ifndef DAMO_LUA_FUNC_FUNC_H
#define DAMO_LUA_FUNC_FUNC_H

#include "lua/binding_int.h"

#define BIND_SMALL_CALL 16 /* operands that need no memory of their own */

/* A call as it is read. src[i] is the stack place of operand i (0: absent); after reading, `graph` tells whether
 * Variables take part, and the options are properties whose memory lies on the stack. */
typedef struct bind_fn_call {
  const fn_signature *f;
  int n_in;
  int src_small[BIND_SMALL_CALL], *src;
  damo_var *in_small[BIND_SMALL_CALL], **in;   /* graph: borrowed from the stack */
  damo_obj *val_small[BIND_SMALL_CALL], **val; /* eager: values borrowed from the stack, NULL for a literal at src */
  scalar lit_small[BIND_SMALL_CALL], *lit;
  prop_value opt[FN_MAX_OPTIONS]; /* by place: the struct that the function reads */
  bool graph;
} bind_fn_call;

/* ---- Arguments (args.c) --------------------------------------------------------------------------------- */

/* Reserves memory for n operands; what does not fit the call itself lies on the stack. */
void bind_call_alloc(lua_State *L, bind_fn_call *c, int n);
/* Reads the arguments 1..top: where the operands are, the options, then the operands. What it makes stays on the
 * stack. */
void bind_read_args(lua_State *L, bind_fn_call *c, int top);
/* Reads the operands at the places src[0 .. n_in), the options being known. */
void bind_read_operands(lua_State *L, bind_fn_call *c);
/* Whether a Variable is in the property. */
bool bind_has_var(const prop_value *v);

#endif
