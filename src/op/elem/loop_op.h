/* loop_op: the Op class Loop, one pass over memory for several Elemwise nodes (loop_op.c). */
#ifndef DAMO_OP_ELEM_LOOP_OP_H
#define DAMO_OP_ELEM_LOOP_OP_H

#include "graph/graph.h"

#define LOOP_PART_MOST_IN 4

/* Where the result of a part lies: at each element of the iteration space, or at each row: the axes of a row have length 1
 * or are left out. LOOP_OTHER: where a row is the last axes, a reduction over more or fewer of these, which no part reads. */
typedef enum loop_space { LOOP_ELEMENTS, LOOP_ROWS_KEPT, LOOP_ROWS, LOOP_OTHER } loop_space;

/* One node of a Loop, an Elemwise or a Reduce over the axes of a row. Registers are numbered: the Loop's inputs, then the
 * results of its parts. */
typedef struct loop_part {
  damo_op *op;      /* not in place; borrowed */
  damo_dtype dtype; /* of the result */
  loop_space space; /* of the result */
  int16_t in[LOOP_PART_MOST_IN];
} loop_part;

/* An input, and whether its axes are those of LOOP_ROWS: without those of a row. */
typedef struct loop_input {
  damo_var *var;
  bool of_rows;
} loop_input;

extern const op_def loop_def;

/* A Loop over these inputs, whose rows are the axes in the bits of `axes` (0: it has none), and whose outputs are the registers `outs` of parts, ascending. Inputs broadcast against each
 * other as those of Elemwise, and the result of every part over elements has the shape of the iteration space. The node
 * is borrowed from b. */
damo_apply *build_loop(build *b, const loop_input *in, int n_in, uint32_t axes, const loop_part *parts, int n_parts,
                       const int16_t *outs, int n_out);
/* The outputs of a Loop node as separate nodes over its inputs, into out; borrowed from b. */
damo_status build_loop_parts(build *b, const damo_apply *node, damo_var **out);
/* Whether output o may be written over input i: no part reads the input once the output is written. */
bool loop_may_overwrite(const damo_op *op, int o, int i);
/* Whether the entries of the first of ndim axes are independent of each other, but for what is reduced over all of them,
 * and inputs broadcast against each other: none leaves out the axes of a row. */
bool loop_keeps_first_axis(const damo_op *op, int ndim);
/* The same Op with outputs written over inputs: in[o] is 1-based, 0: none. Owned. */
damo_op *loop_op_inplace(const damo_op *op, const int *in);

#endif
