/* loop_op: the Op class Loop, one pass over memory for several Elemwise nodes (loop_op.c). */
#ifndef DAMO_OP_ELEM_LOOP_OP_H
#define DAMO_OP_ELEM_LOOP_OP_H

#include "graph/graph.h"

#define LOOP_PART_MOST_IN 3

/* One Elemwise node of a Loop. Registers are numbered: the Loop's inputs, then the results of its parts. */
typedef struct loop_part {
  damo_op *op;      /* Elemwise, not in place; borrowed */
  damo_dtype dtype; /* of the result */
  int16_t in[LOOP_PART_MOST_IN];
} loop_part;

extern const op_def loop_def;

/* A Loop over these inputs, whose outputs are the registers `outs` of parts, ascending. Inputs broadcast against each
 * other as those of Elemwise, and the result of every part has the shape of the outputs. The node is borrowed from b. */
damo_apply *build_loop(build *b, damo_var *const *in, int n_in, const loop_part *parts, int n_parts,
                       const int16_t *outs, int n_out);
/* The outputs of a Loop node as Elemwise nodes over its inputs, into out; borrowed from b. */
damo_status build_loop_parts(build *b, const damo_apply *node, damo_var **out);
/* Whether output o may be written over input i: no part after the one that makes it reads the input. */
bool loop_may_overwrite(const damo_op *op, int o, int i);
/* The same Op with outputs written over inputs: in[o] is 1-based, 0: none. Owned. */
damo_op *loop_op_inplace(const damo_op *op, const int *in);

#endif
