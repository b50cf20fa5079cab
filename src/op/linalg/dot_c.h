/* dot_c: products as C source: op_def.emit_c of Dot, and of Gemm, Gemv and Ger. */
#ifndef DAMO_OP_LINALG_DOT_C_H
#define DAMO_OP_LINALG_DOT_C_H

#include "graph/c_emit.h"

damo_status dot_emit_c(c_emit *e, const damo_apply *node);
damo_status update_emit_c(c_emit *e, const damo_apply *node);
damo_status matmul_emit_c(c_emit *e, const damo_apply *node);
/* Of Tensordot. The axes of x: batch, free, contracted; of y: batch, contracted, free. */
damo_status emit_tensordot(c_emit *e, const damo_apply *node, const int *const *x_axes, const int *x_n,
                           const int *const *y_axes, const int *y_n);

#endif
