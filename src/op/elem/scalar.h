/* scalar: the scalar ops as symbols, for rules that ask what an Elemwise Op computes.
 *
 * A row X(name, operands, rule, kernel, derivative, doc) of arith_rows.h, math_rows.h or special_rows.h is a scalar op:
 *   operands    UNARY x, BINARY x y, CHOICE condition x y, BOUNDS x min max, PARTS re im, SCALES x n, CASTS x (to the Op's
 *               dtype); rows of special_rows.h: those of rows.c
 *   rule        from the operands' dtypes to the result's: dtype_rule of elem_int.h
 *   kernel      K(name) of the kernels' table, OWN(name) of special.c, SPECIAL(name) of kernel/elem/special_sets.h, COPY: a copy of
 *               the last operand
 *   derivative  D(name) is elemwise_d_name of grad.c or special_grad.c; ZERO: zero everywhere; NO_GRADIENT: not implemented
 */
#ifndef DAMO_OP_ELEM_SCALAR_H
#define DAMO_OP_ELEM_SCALAR_H

#include "arith_rows.h"
#include "graph/graph.h"
#include "math_rows.h"
#include "special_rows.h"

#define SCALAR_ROWS(X) SCALAR_ARITH_ROWS(X) SCALAR_MATH_ROWS(X) SCALAR_SPECIAL_ROWS(X)

typedef enum scalar_id {
#define X(name, ...) SCALAR_##name,
  SCALAR_ROWS(X)
#undef X
      SCALAR_NONE /* of an Op that is no Elemwise; the number of rows */
} scalar_id;

/* The scalar op of an Elemwise Op; SCALAR_NONE for any other Op. */
scalar_id elemwise_scalar_id(const damo_op *op);
/* The node of v when it is an Elemwise of that scalar, else NULL. */
static inline damo_apply *match_scalar(const damo_var *v, scalar_id id) {
  return v->owner != NULL && elemwise_scalar_id(v->owner->op) == id ? v->owner : NULL;
}
/* The Elemwise Op of that scalar, owned. NULL on failure. */
damo_op *elemwise_op(damo_ctx *ctx, scalar_id id);
/* Applies the scalar op to as many operands as its row has, sparse ones included; borrowed from b. */
damo_var *build_scalar_op(build *b, scalar_id id, damo_var *const *in);

#endif
