/* func: declarations shared by the files of the op functions: func.c registers the rows, args.c reads a call's
 * arguments, call.c runs the call. */
#ifndef DAMO_LUA_FUNC_FUNC_H
#define DAMO_LUA_FUNC_FUNC_H

#include "lua/binding_int.h"
#include "op/op.h"

#define BIND_SMALL_CALL 16 /* up to this many operands, a call needs no memory outside itself */

/* A call of an op function. src[i] is the stack index of operand i (0: absent). After reading, `graph` tells whether a
 * Variable takes part, and the options are properties whose memory lies on the stack. */
typedef struct bind_fn_call {
  bind_state *st;
  const fn_signature *f;
  int n_in;
  int src_small[BIND_SMALL_CALL], *src;
  damo_var *in_small[BIND_SMALL_CALL], **in;          /* graph: borrowed from the stack */
  eager_operand plain_small[BIND_SMALL_CALL], *plain; /* eager: values borrowed from the stack */
  prop_value opt[FN_MAX_OPTIONS];                     /* by fn_option.place: the struct that the row's function reads */
  prop_value entries[DAMO_MAX_NDIM];                  /* of the first option that is a short list; used if has_list */
  bool has_list;
  bool graph, scanned; /* scanned: `graph` says already whether an operand is a Variable */
  /* The option `out`: arrays at the stack indices first_out …, borrowed; n_out 0: not given. */
  damo_array *out_small[EAGER_FEW], **out;
  int first_out, n_out;
} bind_fn_call;

/* ---- Arguments (args.c) ------------------------------------------------------------------------------------------ */

/* Reserves memory for n operands: in the call itself, or on the stack if n is greater than BIND_SMALL_CALL. */
void bind_call_alloc(lua_State *L, bind_fn_call *c, int n);
/* Reads the arguments 1..top: finds the operands, reads the options, then the operands. Whatever it makes stays on the
 * stack. */
void bind_read_args(lua_State *L, bind_fn_call *c, int top);
/* Reads the operands at stack indices src[0 … n_in); the options must have been read. */
void bind_read_operands(lua_State *L, bind_fn_call *c);
/* Whether the property is a Variable or a list that contains one. */
bool bind_has_var(const prop_value *v);

#endif
