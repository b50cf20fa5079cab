/* registry: the op families of a context. Ops are listed in their family's file, never here. */
#include "op/op.h"

static const op_func *const op_families[] = {
    elemwise_funcs,      elemwise_made_funcs, composed_funcs, reduce_funcs, nan_funcs,        statistics_funcs,
    covariance_funcs,    cumulative_funcs,    extremes_funcs, shape_funcs,  alloc_funcs,      eye_funcs,
    arange_funcs,        window_funcs,        join_funcs,     split_funcs,  repeat_funcs,     arrange_funcs,
    pad_funcs,           index_funcs,         table_funcs,    grid_funcs,   activation_funcs, loss_funcs,
    norm_funcs,          attention_funcs,     pool_funcs,     conv_funcs,   segment_funcs,    sets_funcs,
    calculus_funcs,      blas_funcs,          fft_funcs,      cosine_funcs, nnet_funcs,       random_funcs,
    random_vector_funcs, quantile_funcs,      marker_funcs,   ifelse_funcs,
};

/* The classes of the dense families. */
static const op_def *const *const plain_classes[] = {
    elemwise_classes,
    loop_classes,
    reduce_classes,
    cumulative_classes,
    extremes_classes,
    shape_classes,
    broadcast_classes,
    diagonal_classes,
    triangle_classes,
    alloc_classes,
    eye_classes,
    arange_classes,
    join_classes,
    split_classes,
    repeat_classes,
    index_classes,
    table_classes,
    segment_classes,
    sets_classes,
    calculus_classes,
    blas_classes,
    fft_classes,
    nnet_classes,
    pool_classes,
    conv_classes,
    random_classes,
    marker_classes,
    ifelse_classes,
    NULL,
};

/* The *i-th class of these lists. Where they have too few, NULL, and *i is reduced by their number. */
static const op_def *class_among(const op_def *const *const *lists, int *i) {
  for (; *lists != NULL; lists++) {
    for (const op_def *const *def = *lists; *def != NULL; def++) {
      if ((*i)-- == 0) return *def;
    }
  }
  return NULL;
}

const op_def *op_class_at(int i) {
  const op_def *def = class_among(plain_classes, &i);
  if (def == NULL) def = class_among(linalg_classes, &i);
  if (def == NULL) def = class_among(sparse_inner_classes, &i);
  return def != NULL ? def : class_among(sparse_classes, &i);
}

damo_status op_register_all(damo_ctx *ctx) {
  DAMO_TRY(elemwise_register(ctx));
  DAMO_TRY(eager_register(ctx));
  for (size_t i = 0; i < sizeof op_families / sizeof *op_families; i++) DAMO_TRY(funcs_register(ctx, op_families[i]));
  for (const op_func *const *rows = linalg_families; *rows != NULL; rows++) DAMO_TRY(funcs_register(ctx, *rows));
  for (const op_func *const *rows = sparse_families; *rows != NULL; rows++) DAMO_TRY(funcs_register(ctx, *rows));
  funcs_link_sparse(ctx);
  return DAMO_OK;
}
