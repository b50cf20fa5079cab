/* build_sparse: builders of sparse Ops, and their classes, for layers below op: gradients, rewrite rules, DEBUG mode.
 *
 * Operands are borrowed; results are borrowed from the scope b.
 */
#ifndef DAMO_OP_SPARSE_BUILD_SPARSE_H
#define DAMO_OP_SPARSE_BUILD_SPARSE_H

#include "op/op.h"

/* op/sparse/product/dot.c: the dense product of operands that are sparse or dense. */
damo_var *build_any_dot(build *b, damo_var *x, damo_var *y);
/* op/sparse/product/usmm.c: alpha·x·y + z, promoted to one dtype; x or y is sparse, alpha 0-d, z dense. The special
 * classes take one dtype, x of their format, dense y, and have the property inplace (bool): the op then destroys z. */
damo_var *build_usmm(build *b, damo_var *alpha, damo_var *x, damo_var *y, damo_var *z);
/* op/sparse/product/sampled.c: its outputs are, for each stored (i, j) of m, the inner product of row i of `rows` and
 * row j of `cols`; and m·cols, or mᵀ·rows where `transposed`. m stores `entries` entries (-1: not known). Errors name
 * the class `product`. One dtype, float32 or float64; rows and cols are dense. */
damo_apply *build_sampled_product(build *b, const op_def *product, damo_var *m, damo_var *rows, damo_var *cols,
                                  bool transposed, int64_t entries);
/* op/sparse/check.c: v, with a check at run time that the matrices x and y, of which only the shapes are read, have one
 * shape. The error names func. */
damo_var *build_same_shape(build *b, const char *func, damo_var *v, damo_var *x, damo_var *y);
/* The ancestor of v nearest to the leaves that has v's shape, as the Ops between them say. Borrowed. */
damo_var *var_shape_root(const damo_var *v);
/* op/sparse/entry/vecdot.c: for each column (axis 0) or row (1) of m the sum over its stored entries p of x[p]·y[p]; x
 * and y are vectors in the order of m's entries, of the result's dtype. */
damo_var *build_sp_vecdot(build *b, damo_var *m, damo_var *x, damo_var *y, int axis);
/* op/sparse/cotangent.c: g + h as cotangents of x: the plain sum, or AddCotangents where x is sparse and may have
 * duplicates. */
damo_var *build_add_cotangents(build *b, damo_var *x, damo_var *g, damo_var *h);
/* True where no duplicates of a sparse x can matter: AddCotangents (x, g, h) is g + h; MoveCotangent of g for x is its
 * first input. */
bool cotangents_add_plainly(damo_var *x, damo_var *g, damo_var *h);
bool cotangent_moves_plainly(damo_var *g, damo_var *x);
extern const op_def sparse_dot_def, structured_dot_def, usmm_def, usmm_csc_dense_def, usmm_csr_dense_def;
extern const op_def sampled_csc_def, sampled_csr_def; /* StructuredDotGradCSC, StructuredDotGradCSR */
/* op/sparse/form: of a sparse x */
damo_var *build_data(build *b, damo_var *x);                      /* the vector of stored values, a view */
damo_var *build_with_data(build *b, damo_var *x, damo_var *data); /* x's pattern with other values; dtype is data's */
damo_var *build_to_format(build *b, damo_var *x, damo_format format); /* x itself when it has the format */
damo_var *build_summed(build *b, damo_var *x);                        /* SumDuplicates: no duplicates, indices sorted */
damo_var *build_sorted(build *b, damo_var *x);                        /* EnsureSortedIndices: duplicates are kept */
damo_var *build_without_zeros(build *b, damo_var *x); /* Remove0: without the stored entries that are 0 */
/* A dense one; x itself when it is. structured: its gradient is on x's pattern. */
damo_var *build_dense(build *b, damo_var *x, bool structured);
/* op/sparse/form/convert.c: DenseFromSparse, SparseFromDense, ToFormat, Transpose, Neg */
extern const op_def sp_to_dense_def, sp_from_dense_def, sp_to_format_def, sp_transpose_def, sp_neg_def;
/* op/sparse/form/pattern.c: SparseData, WithData, GatherData; op/sparse/form/csm.c */
extern const op_def sp_data_def, sp_with_data_def, sp_gather_def, sp_csm_def, sp_csm_properties_def;
/* op/sparse/entry/mul.c: MulSS, ColScaleCSC, RowScaleCSC; op/sparse/entry/sum.c: SpSum, SpSumGrad */
extern const op_def sp_mul_ss_def, sp_col_scale_def, sp_row_scale_def, sp_sum_def, sp_sum_spread_def;
extern const op_def sp_add_cotangents_def, sp_move_cotangent_def;

/* ---- Properties of classes that others read ---------------------------------------------------------------------- */

/* Sums of sparse matrices, and their adjoint: a 1-based axis, nil: all */
typedef struct sp_sum_props {
  prop_value axis, sparse_grad;
} sp_sum_props;

/* The factorization of a sparse matrix: "pos", "sym", "gen" or nil */
typedef struct factorize_props {
  prop_value assume;
} factorize_props;

/* op/sparse/solve/factor.c: adds the symbolic analyses and numeric factorizations that the thunk has made so far;
 * nothing for thunks that make none. */
void factor_counts(const thunk *t, const frame *f, int64_t *analyses, int64_t *factorizations);

#endif
