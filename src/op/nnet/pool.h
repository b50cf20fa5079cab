/* pool: the classes of pooling and their checks. */
#ifndef DAMO_OP_NNET_POOL_H
#define DAMO_OP_NNET_POOL_H

#include "graph/op_check.h"
#include "window.h"

/* What an Op's properties say, for three axes: the first ones have windows of 1 where there are fewer. */
typedef struct pool_window {
  int n; /* axes */
  int64_t size[WINDOW_AXES], stride[WINDOW_AXES], pad[WINDOW_AXES][2];
  bool include_pad;
} pool_window;

static inline const pool_window *pool_window_of(const damo_op *op) { return op->data; }

struct c_emit;
damo_status pool_emit_c(struct c_emit *e, const damo_apply *node); /* window_c.c; of all five classes */

extern const op_def max_pool_def, max_pool_grad_def, max_pool_at_def, avg_pool_def, avg_pool_grad_def;
extern const op_check max_pool_check, max_pool_grad_check, avg_pool_check, avg_pool_grad_check;

#endif
