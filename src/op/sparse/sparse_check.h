/* sparse_check: the checks of the sparse classes (graph/op_check.h), which each class names in its op_def. */
#ifndef DAMO_OP_SPARSE_SPARSE_CHECK_H
#define DAMO_OP_SPARSE_SPARSE_CHECK_H

#include "graph/graph.h"

/* op/sparse/cotangent_check.c */
extern const op_check add_cotangents_check, move_cotangent_check;
/* op/sparse/form/form_check.c */
extern const op_check transpose_check, neg_check, zeros_check, with_data_check, data_check, gather_check, csm_check,
    csm_properties_check, csm_grad_check, hstack_check, vstack_check, split_check, bmat_check, block_diag_check,
    permute_check, construct_check, band_check, trace_check, eye_like_check, square_diagonal_check, diagonal_check,
    put_diagonal_check, coordinates_check;
/* op/sparse/entry/entry_check.c */
extern const op_check add_check, add_sv_check, mul_check, row_scale_check, div_check, eq_check, neq_check, lt_check,
    le_check, gt_check, ge_check, maximum_check, minimum_check, sum_check, sum_spread_check, extremum_check,
    vecdot_check, narrow_minor_check;
/* op/sparse/index/index_check.c */
extern const op_check getitem_block_check, getitem_block_grad_check, getitem_scalar_check, getitem_list_check,
    getitem_list_grad_check, getitem_two_lists_check, getitem_two_lists_grad_check;
/* op/sparse/product/product_check.c */
extern const op_check dot_check, sampling_check, usmm_check, sampled_csc_check, sampled_csr_check, sampled_sparse_check,
    sampled_product_check, kron_check;
/* op/sparse/solve/solve_check.c */
extern const op_check factorize_check, factor_rcond_check, factor_solve_check, factor_logdet_check, factor_det_check,
    factor_inverse_check, factor_sandwich_check, factor_least_check, factor_least_adjoint_check, rect_columns_check,
    rect_columns_back_check, rect_beside_check, rect_gap_check;

#endif
