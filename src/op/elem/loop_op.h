/* loop_op: the Op class Loop, one pass over memory for several Elemwise nodes (loop_op.c). */
#ifndef DAMO_OP_ELEM_LOOP_OP_H
#define DAMO_OP_ELEM_LOOP_OP_H

#include "graph/graph.h"

#define LOOP_PART_MOST_IN 4
#define LOOP_MOST_OPERANDS 48 /* of a Loop that rules make: each is a stream of memory */

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

/* What the elements of an input are instead of the input's own: its entries at positions along an axis
 * (AdvancedSubtensor), or the range that starts with it (ARange). */
#define LOOP_SOURCE_MOST_IN 3
typedef struct loop_source {
  damo_op *op;                     /* borrowed */
  int16_t in[LOOP_SOURCE_MOST_IN]; /* the Op's operands, inputs of the Loop that nothing else reads; first that one */
} loop_source;

/* An input, and whether its axes are those of LOOP_ROWS: without those of a row. */
typedef struct loop_input {
  damo_var *var;
  bool of_rows;
} loop_input;

extern const op_def loop_def;

/* How many operands a source of this Op has; 0: it can be none. */
int loop_source_arity(const damo_op *op);

/* A Loop over these inputs, which have these sources, whose rows are the axes in the bits of `axes` (0: it has none), and
 * whose outputs are the registers `outs` of parts, ascending. Inputs broadcast against each other as those of Elemwise,
 * and the result of every part over elements has the shape of the iteration space. The node is borrowed from b. */
damo_apply *build_loop(build *b, const loop_input *in, int n_in, const loop_source *sources, int n_sources,
                       uint32_t axes, const loop_part *parts, int n_parts, const int16_t *outs, int n_out);
/* The Loop node, or the Elemwise node as one, with v, an input of its own space that it alone reads and that is made by an
 * Op that can be a source, read at its source; NULL: v cannot be. Borrowed from b. */
damo_apply *build_loop_with_source(build *b, const damo_apply *node, const damo_var *v);
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
