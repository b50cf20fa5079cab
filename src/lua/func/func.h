/* func: what the files of the op functions share: func.c has the rows, args.c reads a call's
 * arguments, call.c runs it.
 */
#ifndef DAMO_LUA_FUNC_FUNC_H
#define DAMO_LUA_FUNC_FUNC_H

#include "lua/binding_int.h"

#define BIND_MAX_OPERANDS 8
#define BIND_MAX_OPTIONS 12
#define BIND_SMALL_CALL 16 /* operands that need no memory of their own */

typedef enum bind_option_kind {
  OPT_INT,
  OPT_NUM,
  OPT_BOOL,
  OPT_STR,
  OPT_DTYPE,
  OPT_AXES,
  OPT_INTS,
  OPT_SHAPE,
  OPT_VAR,
  OPT_ANY
} bind_option_kind;

/* A row's signature, read once. There are hundreds, so their words lie packed behind them. */
typedef struct bind_fn_info {
  const op_func *f;
  const struct bind_fn_info *sparse; /* the row that a call with a sparse operand is a call of, NULL: itself */
  const char *operand[BIND_MAX_OPERANDS];
  const char *option[BIND_MAX_OPTIONS + 1]; /* names, NULL behind the last */
  bool optional[BIND_MAX_OPERANDS];
  uint8_t kind[BIND_MAX_OPTIONS]; /* option_kind */
  uint8_t n_operands, n_required, n_options;
  bool list; /* the last operand is a list of any length */
} bind_fn_info;

/* A call as it is read. src[i] is the stack place of operand i (0: absent); after reading, `graph` tells whether
 * Variables take part, and the options are properties whose memory lies on the stack. */
typedef struct bind_fn_call {
  const bind_fn_info *info;
  int n_in;
  int src_small[BIND_SMALL_CALL], *src;
  damo_var *in_small[BIND_SMALL_CALL], **in;   /* graph: borrowed from the stack */
  damo_obj *val_small[BIND_SMALL_CALL], **val; /* eager: values borrowed from the stack, NULL for a literal at src */
  scalar lit_small[BIND_SMALL_CALL], *lit;
  prop_value opt[BIND_MAX_OPTIONS];
  bool graph;
} bind_fn_call;

/* ---- Rows (func.c) ------------------------------------------------------------------------------------------- */

/* The signature of a row; a state error when the row came after the module was loaded. */
const bind_fn_info *bind_func_info(lua_State *L, const op_func *f);
/* The same by the row's name, a literal of C's: its address is its key from the second call on. */
const bind_fn_info *bind_func_info_named(lua_State *L, const char *name);

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

/* ---- Calls (call.c) ------------------------------------------------------------------------------------- */

/* Calls the row over the arguments 1..top. Returns the count pushed. */
int bind_call_info(lua_State *L, const bind_fn_info *info);

#endif
