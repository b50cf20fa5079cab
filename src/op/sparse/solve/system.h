/* system: systems B·x = b with a factor of A, where B is A, Aᵀ or Aᴴ as the property `system` says ('n', 't', 'h'): the
 * checks of the Ops over them, and the algebra of their gradients and tangents. Private to src/op.
 */
#ifndef DAMO_OP_SPARSE_SOLVE_SYSTEM_H
#define DAMO_OP_SPARSE_SOLVE_SYSTEM_H

#include "factor.h"

/* ---- The property and the inputs --------------------------------------------------------------------------------- */

static inline char system_name(const damo_op *op) { return factor_fields_of(op)->system; }
factor_system system_number(const damo_op *op);
/* The axis of A whose length the right side's rows have: 0 for 'n', else 1. */
int system_right_axis(const damo_op *op);

/* Type error unless the inputs are F, A, b or F, b; least: F is of FactorizeQR. The class checks b by itself. */
damo_status type_need_system(const damo_op *op, damo_var *const *in, int n_in, bool least);
/* Shape error where the right side, the last input, is known to have another number of rows than A has along that
 * axis. */
damo_status type_need_right_rows(const damo_op *op, damo_var *const *in, int n_in, int axis);

/* ---- Algebra of the rules: sparse or dense, NULL for 0 ----------------------------------------------------------- */

/* A system as its gradient and tangent rules use it. */
typedef struct system_rule {
  build *b;
  factor_var v;
  char system;
  bool rectangular; /* may be so */
} system_rule;
system_rule system_rule_of(build *b, const damo_apply *node);

damo_var *build_difference(build *b, damo_var *x, damo_var *y);
/* op(D)·x and op(D)ᴴ·x, where B is op(A), for A or a tangent of it. */
damo_var *build_system_times(const system_rule *r, damo_var *d, damo_var *x);
damo_var *build_system_times_adjoint(const system_rule *r, damo_var *d, damo_var *x);
/* The gradient of A that a gradient rows·colsᴴ of B = op(A) gives: op of it, at A's stored positions; a vector. */
damo_var *build_system_entries(const system_rule *r, damo_var *rows, damo_var *cols);

#endif
