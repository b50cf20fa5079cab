/* compile_int.h: what the files of compile/ share. */
#ifndef DAMO_COMPILE_INT_H
#define DAMO_COMPILE_INT_H

#include "compile.h"

/* plan.c: fills f->plan, and the cells of inputs, outputs and shared, from f->fgraph. The fgraph's outputs are the
 * function's outputs, then the updates of f->shared in their order (those with update_cell >= 0 before the call). */
damo_status plan_build(damo_function *f);

/* protect.c: inserts a copy before every destroyer of a value that must last: an input, a constant, a shared value, a view,
 * or what another node still reads. */
damo_status protect_destroyed(damo_fgraph *fg);

/* function.c */
damo_function *function_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared);

#endif
