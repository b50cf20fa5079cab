/* registry: the op families of a context. Ops are listed in their family's file, never here. */
#include "op/sparse/sparse_op.h"

static const op_func *const op_families[] = {
    elemwise_funcs,
    reduce_funcs,
    cumulative_funcs,
    shape_funcs,
    alloc_funcs,
    eye_funcs,
    arange_funcs,
    join_funcs,
    split_funcs,
    repeat_funcs,
    pad_funcs,
    index_funcs,
    blas_funcs,
    nnet_funcs,
    random_funcs,
    marker_funcs,
    ifelse_funcs,
    sparse_move_funcs,
    sparse_csm_funcs,
    sparse_pattern_funcs,
    sparse_add_funcs,
    sparse_mul_funcs,
    sparse_compare_funcs,
    sparse_dot_funcs,
    sparse_structured_dot_funcs,
    sparse_sampling_funcs,
    sparse_usmm_funcs,
    sparse_index_funcs,
    sparse_take_funcs,
    sparse_construct_funcs,
    sparse_stack_funcs,
    sparse_sum_funcs,
    sparse_clean_funcs,
    sparse_band_funcs,
    sparse_kron_funcs,
    sparse_norm_funcs,
    sparse_block_diag_funcs,
    sparse_bmat_funcs,
    sparse_find_funcs,
    sparse_permute_funcs,
    sparse_power_funcs,
    sparse_extremum_funcs,
    sparse_monoid_funcs,
    sparse_draw_funcs,
    sparse_factor_funcs,
    sparse_solve_funcs,
    sparse_logdet_funcs,
    sparse_lstsq_funcs,
};

const op_def *const *const sparse_classes[] = {sparse_move_classes,
                                               sparse_csm_classes,
                                               sparse_pattern_classes,
                                               sparse_add_classes,
                                               sparse_mul_classes,
                                               sparse_compare_classes,
                                               sparse_dot_classes,
                                               sparse_structured_dot_classes,
                                               sparse_sampling_classes,
                                               sparse_usmm_classes,
                                               sparse_index_classes,
                                               sparse_take_classes,
                                               sparse_construct_classes,
                                               sparse_stack_classes,
                                               sparse_sum_classes,
                                               sparse_clean_classes,
                                               sparse_band_classes,
                                               sparse_kron_classes,
                                               sparse_check_classes,
                                               sparse_block_diag_classes,
                                               sparse_bmat_classes,
                                               sparse_find_classes,
                                               sparse_permute_classes,
                                               sparse_extremum_classes,
                                               sparse_monoid_classes,
                                               sparse_draw_classes,
                                               sparse_factor_classes,
                                               sparse_solve_classes,
                                               sparse_logdet_classes,
                                               sparse_inverse_classes,
                                               sparse_lstsq_classes,
                                               sparse_norm_classes,
                                               NULL};

/* The classes of the dense families, and the sparse ones that scripts do not make by name. */
static const op_def *const *const plain_classes[] = {elemwise_classes,
                                                     reduce_classes,
                                                     cumulative_classes,
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
                                                     blas_classes,
                                                     nnet_classes,
                                                     random_classes,
                                                     marker_classes,
                                                     ifelse_classes,
                                                     sparse_cotangent_classes,
                                                     sparse_vecdot_classes,
                                                     sparse_sampled_classes,
                                                     NULL};

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
  return def != NULL ? def : class_among(sparse_classes, &i);
}

damo_status op_register_all(damo_ctx *ctx) {
  DAMO_TRY(elemwise_register(ctx));
  for (size_t i = 0; i < sizeof op_families / sizeof *op_families; i++) DAMO_TRY(funcs_register(ctx, op_families[i]));
  funcs_link_sparse(ctx);
  return DAMO_OK;
}
