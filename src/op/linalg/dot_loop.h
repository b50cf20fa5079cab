/* dot_loop: the Op class DotLoop, a product whose result goes through a Loop row block by row block (dot_loop.c). */
#ifndef DAMO_OP_LINALG_DOT_LOOP_H
#define DAMO_OP_LINALG_DOT_LOOP_H

#include "graph/graph.h"

extern const op_def dot_loop_def;

/* Whether the node is a product that a DotLoop takes. */
bool dot_loop_takes(const damo_apply *node);
/* The product with that Loop (stolen; NULL fails) as its epilogue. in: the Loop's inputs, of which number `at` is the
 * product's result, used by nothing else; that result broadcasts along no axis, and each output of the Loop has the
 * product's rows as its first axis. The node is borrowed from b. */
damo_apply *build_dot_loop(build *b, const damo_apply *product, damo_op *take_loop, damo_var *const *in, int n_in,
                           int at);

#endif
