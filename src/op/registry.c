/* registry: the op families of a context. Ops are listed in their family's file, never here. */
#include "op.h"

static const op_func *const families[] = {
    elemwise_funcs, reduce_funcs, cumulative_funcs, shape_funcs,  alloc_funcs,  join_funcs,
    index_funcs,    blas_funcs,   nnet_funcs,       random_funcs, marker_funcs, ifelse_funcs,
};

damo_status op_register_all(damo_ctx *ctx) {
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) DAMO_TRY(funcs_register(ctx, families[i]));
  return DAMO_OK;
}
