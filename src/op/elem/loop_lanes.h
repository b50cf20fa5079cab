/* loop_lanes: cheap steps of a Loop's program joined into kernels of machine code. */
#ifndef DAMO_OP_ELEM_LOOP_LANES_H
#define DAMO_OP_ELEM_LOOP_LANES_H

#include "graph/graph.h"
#include "loop/loop.h"

/* The code that joined steps run. */
typedef struct loop_lanes loop_lanes;

/* Joins steps of the program, in place: those that remain compute the same values to the bit. The part of a step is its
 * number in the Loop, -1 for a cast. NULL, without an error: nothing was joined. The code must outlive the program. */
loop_lanes *loop_lanes_join(damo_ctx *ctx, const damo_apply *node, loop_program *lp, loop_reg *regs, loop_step *steps);
void loop_lanes_free(loop_lanes *l, damo_ctx *ctx);

#endif
