/* system: systems B·x = b with a factor of A, where B is A, Aᵀ or Aᴴ as the property `system` says ('n', 't',
 * 'h'); what Ops over them check, and the algebra of their gradients and tangents. Private to src/op.
 */
#ifndef DAMO_OP_SPARSE_SOLVE_SYSTEM_H
#define DAMO_OP_SPARSE_SOLVE_SYSTEM_H

#include "factor.h"

/* ---- The property and the inputs --------------------------------------------------------------------------------- */

char system_name(const damo_op *op);
factor_system system_number(const damo_op *op);
/* The axis of A along which the right side lies. */
int system_right_axis(const damo_op *op);
/* An init: the property is one of the three, or nil for 'n'. */
damo_status system_init(damo_op *op);

/* Inputs are F, A, b or F, b; least: F is of FactorizeQR. What b may be is the class's own. */
damo_status type_need_system(const damo_op *op, damo_var *const *in, int n_in, bool least);
/* The right side, the last input, is as long as A along that axis. */
damo_status type_need_right_rows(const damo_op *op, damo_var *const *in, int n_in, int axis);

/* ---- Algebra of the rules: sparse or dense, NULL for 0 ----------------------------------------------------------- */

/* A system with what its rules are made of. */
typedef struct system_rule {
  build *b;
  factor_var v;
  char system;
  bool rectangular; /* perhaps */
} system_rule;
system_rule system_rule_of(build *b, const damo_apply *node);

damo_var *build_difference(build *b, damo_var *x, damo_var *y);
/* op(D)·x and op(D)ᴴ·x, where B is op(A), for A or a tangent of it. */
damo_var *build_system_times(const system_rule *r, damo_var *d, damo_var *x);
damo_var *build_system_times_adjoint(const system_rule *r, damo_var *d, damo_var *x);
/* What the gradient rows·colsᴴ of B is as one of A: turned as A is, at A's stored places; a vector. */
damo_var *build_system_entries(const system_rule *r, damo_var *rows, damo_var *cols);

#endif
