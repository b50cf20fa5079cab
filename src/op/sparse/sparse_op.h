/* sparse_op: shared by the files of op/sparse. Private to src/op.
 *
 * Rows are named "sparse.NAME"; a call of a tensor function with a sparse operand comes here too (graph/func.c). Always
 * holds: gradient rules take a cotangent that is sparse (either format, any pattern) or dense, since both occur; no
 * rule makes a sparse matrix dense unless its result is dense anyway; every op takes O(entries of inputs and outputs)
 * memory.
 *
 * Most of a structured op is arithmetic on the vector of stored values: build_data gives that vector, a dense op
 * computes with it, build_with_data puts the result on the pattern (neither copies). build_gather reads a gradient at a
 * matrix's stored positions.
 */
#ifndef DAMO_OP_SPARSE_SPARSE_OP_H
#define DAMO_OP_SPARSE_SPARSE_OP_H

#include "build_sparse.h"
#include "op/linalg/blas.h" /* build_conj_if_complex: of sparse operands too */
#include "op/shape/shape_int.h"
#include "sparse/sparse.h"
#include "sparse_check.h"

/* ---- Checks and Types (type.c) ---------------------------------------------------------------------------- */

static inline bool var_is_sparse(const damo_var *v) { return type_is_sparse(v->type); }
static inline bool var_is_dense(const damo_var *v) { return type_is_tensor(v->type); }
static inline damo_format var_format_of(const damo_var *v) { return (damo_format)v->type->format; }
static inline damo_dtype var_itype(const damo_var *v) { return (damo_dtype)v->type->itype; }
static inline damo_format format_other(damo_format f) { return f == DAMO_CSR ? DAMO_CSC : DAMO_CSR; }

/* Type error unless operand i is sparse; a dense tensor of that rank; a sparse or dense matrix. It names the class, the
 * operand (1-based) and its Type. */
damo_status type_need_sparse(const damo_op *op, damo_var *const *in, int i);
damo_status type_need_dense(const damo_op *op, damo_var *const *in, int i, int ndim);
damo_status type_need_matrix(const damo_op *op, damo_var *const *in, int i);
/* Shape error where static lengths show that axis a of in[i] and axis b of in[j] differ. */
damo_status type_need_same_length(const damo_op *op, damo_var *const *in, int i, int a, int j, int b);
/* The same for both axes of in[0] and in[1]. */
damo_status type_need_same_shape(const damo_op *op, damo_var *const *in);
/* out[0] of that sparse Type; rows, cols -1 where unknown. */
damo_status type_give_sparse(const damo_op *op, damo_type **out, damo_format format, damo_dtype dtype, damo_dtype itype,
                             int64_t rows, int64_t cols);
/* out[0]: x's Type with another dtype. */
damo_status type_give_like(const damo_op *op, damo_type **out, const damo_var *x, damo_dtype dtype);
damo_status type_give_dense(const damo_op *op, damo_type **out, damo_dtype dtype, int ndim, const int64_t *shape);
/* The index dtype of a result of two matrices: int64 where one has it. */
damo_dtype itype_join(damo_dtype a, damo_dtype b);
/* "csr" or "csc" from a property or option; a value error names func otherwise. */
damo_status format_check(damo_ctx *ctx, const char *func, const prop_value *v, damo_format *out);

/* ---- Thunks ------------------------------------------------------------------------------------------------------ */

static inline damo_sparse *thunk_in_sparse(const thunk *t, frame *f, int i) {
  return (damo_sparse *)thunk_value(t, f, i);
}
static inline bool thunk_in_is_sparse(const thunk *t, frame *f, int i) {
  return thunk_value(t, f, i)->kind == OBJ_SPARSE;
}
/* Gives the value as output i; for NULL returns the pending error's status. */
damo_status thunk_give(const thunk *t, frame *f, int i, void *take_value);
/* The same for a new matrix, converted to the index dtype that output i's Type asks for at its size. */
damo_status thunk_give_sparse(const thunk *t, frame *f, int i, damo_sparse *take);
/* A matrix with x's pattern to write output i into: the cell's own where it has the same pattern arrays, that dtype and
 * no other owner, else a new one. Its data is not initialised. NULL: no memory. */
damo_sparse *thunk_out_like(const thunk *t, frame *f, int i, const damo_sparse *x, damo_dtype dtype);

/* The shape error where input 1, dense, does not fit x's shape (why: "do not agree"). It names an axis of length 1
 * whose length the Type does not declare, and how to declare it. */
damo_status fail_dense_shape(const thunk *t, frame *f, const damo_sparse *x, const damo_array *y, const char *why);

/* Input i, an int64 vector of 1-based positions (negative ones count from the end) on an axis (0-based) of n entries,
 * as 0-based ones. An index error names the class and the entry. */
damo_status thunk_positions(const thunk *t, frame *f, int i, int axis, int64_t n, int64_t *out);
/* hstack, vstack, block_diag */
typedef struct stack_options {
  prop_value format, dtype;
} stack_options;

typedef struct format_props {
  prop_value format;
} format_props;

/* x as operand i (0-based) of func: an int64 vector of positions; a type error says what is wrong. */
damo_var *build_positions(build *b, const char *func, int i, damo_var *x);
/* Operand i of a call: an int64 vector of positions; a type error names function and what is wrong. */
damo_var *list_operand(build *b, const fn_args *a, int i);

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Operand i of a call: sparse or a type error that names function and operand; weak literals resolved. */
damo_var *sparse_operand(build *b, const fn_args *a, int i);
/* x as operand i (0-based) of func: sparse, or dense of any rank (weak literals resolved). */
damo_var *build_operand(build *b, const char *func, int i, damo_var *x);
/* Operand i: sparse, or dense of any rank (weak literals resolved). */
damo_var *any_operand(build *b, const fn_args *a, int i);
/* Both operands of a call, each sparse or dense, weak literals resolved together. */
damo_status pair_operands(build *b, const fn_args *a, damo_var **pair);
/* The same, cast to the dtype to which they promote. */
damo_status pair_promoted(build *b, const fn_args *a, damo_var **pair);
/* A pair of Variables in place: weak literals resolved, cast to the dtype that they promote to. */
damo_status build_promoted(build *b, damo_var **pair);
/* The type error of a call without a sparse operand. */
damo_status fail_pair_dense(build *b, const fn_args *a, damo_var *const *pair);
/* Gives a node of the class over the call's two operands, promoted. */
damo_status fn_give_promoted(build *b, const fn_args *a, ptrvec *out, const op_def *def);
/* Gives a node of the class over the call's two operands as they are. */
damo_status fn_give_pair(build *b, const fn_args *a, ptrvec *out, const op_def *def);
/* The output of a new node of the class, which has no properties; NULL where an input is NULL. */
damo_var *build_class(build *b, const op_def *def, damo_var *const *in, int n_in);

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

/* op/sparse/form/convert.c */
damo_var *build_toarray(build *b, damo_var *x); /* dense; x itself when it is; regular gradient */
damo_var *build_sparse_from(build *b, damo_var *x, damo_format format); /* sparse from dense; x itself when sparse */
damo_var *build_sparse_transpose(build *b, damo_var *x);                /* of a sparse or dense matrix */
damo_var *build_sparse_cast(build *b, damo_var *x, damo_dtype dtype);   /* x itself when it has the dtype */

/* op/sparse/form/pattern.c */
damo_var *build_gather(build *b, damo_var *g, damo_var *x); /* g, sparse or dense, at x's stored positions: a vector */
damo_var *build_structured(build *b, damo_var *g,
                           damo_var *x); /* g on x's pattern: build_with_data(x, build_gather(g, x)) */
damo_var *build_sparse_zeros(build *b, damo_var *x, damo_dtype dtype); /* x's shape and format, nothing stored */
damo_var *build_sparse_ones(build *b, damo_var *x);                    /* on x's pattern */

/* op/sparse/form/csm.c */
damo_var *build_csm(build *b, damo_format format, damo_var *data, damo_var *indices, damo_var *indptr, damo_var *shape);
damo_var *build_indices(build *b, damo_var *x); /* 0-based, of x's index dtype */
damo_var *build_indptr(build *b, damo_var *x);
damo_var *build_nnz(build *b, damo_var *x); /* the number of stored entries: an int64 scalar */

/* op/sparse/form/construct.c */
damo_var *build_any_diagonal(build *b, damo_var *x, int64_t k); /* the k-th, of a sparse or dense matrix */

/* cotangent.c: a cotangent of x, where y has x's entries in another order or among others, g is a cotangent of y, and
 * `part` is g moved as a matrix, its duplicates kept. part itself where it is dense or x has no duplicates. */
damo_var *build_move_cotangent(build *b, damo_var *part, damo_var *g, damo_var *y, damo_var *x);
/* Where *g, a cotangent of *y, is another cotangent that MoveCotangent passes unchanged as a matrix: sets *g to that
 * one and *y to the matrix that it is the cotangent of. */
void cotangent_unmoved(damo_var **g, damo_var **y);
/* build_move_cotangent for tangents: `part` is the node over the inputs' tangents, for its output. And for a node with
 * several outputs: `part` is made of all their cotangents, for its first input. */
damo_var *build_move_tangent(build *b, damo_var *part, const damo_apply *node, damo_var *const *eval);
damo_var *build_move_outputs(build *b, damo_var *part, const damo_apply *node, damo_var *const *gout);

/* op/sparse/index/take.c: list, rows, cols: int64 vectors, 1-based */
damo_var *build_take_list(build *b, damo_var *x, damo_var *list, int axis); /* of a sparse or dense matrix; 0: rows */
damo_var *build_take_rows(build *b, damo_var *x, damo_var *list);           /* of a sparse or dense matrix */
damo_var *build_take_elements(build *b, damo_var *x, damo_var *rows, damo_var *cols); /* a vector */
/* A matrix of x's shape and format with the vector g at those positions; values at the same position are summed. */
damo_var *build_put_elements(build *b, damo_var *x, damo_var *rows, damo_var *cols, damo_var *g);

/* op/sparse/entry/mul.c */
/* damo.mul where an operand is sparse: sparse.mul, but a dense row or column, declared so by its Type, broadcasts. */
damo_status sp_fn_mul_stretched(build *b, const fn_args *a, ptrvec *out);
damo_var *build_col_scale(build *b, damo_var *x, damo_var *s); /* each column of x times the vector's entry */
damo_var *build_axis_sums(build *b, damo_var *x, int axis); /* sums of columns (axis 1) or rows (2): on x's pattern */

/* check.c: a check of lengths at run time; the error names func. */
damo_var *build_square(build *b, const char *func, damo_var *x); /* x, checked to be square */

/* op/sparse/product/dot.c */
/* One operand is sparse at least */
damo_var *build_sparse_dot(build *b, damo_var *x, damo_var *y);                          /* Dot: dense */
damo_var *build_true_dot(build *b, damo_var *x, damo_var *y, bool grad_preserves_dense); /* sparse */
/* op/sparse/product/structured_dot.c: x sparse; sparse where y is */
damo_var *build_structured_dot(build *b, damo_var *x, damo_var *y);
/* sddmm: for each stored (i, j) of x the inner product of row i of `rows` and row j of `cols`, dense matrices: a
 * vector. */
damo_var *build_samples(build *b, damo_var *x, damo_var *rows, damo_var *cols);
/* The same of two sparse matrices, over the columns that both store. */
damo_var *build_samples_both(build *b, damo_var *x, damo_var *rows, damo_var *cols);
extern const op_def true_dot_def, sampling_dot_def;

/* Products of inputs i and j of a node, for the families of dot. product_check: kinds and static lengths (vectors:
 * dense ones may have rank 1), product_shape: the static shape of the result; returns its rank. */
damo_status product_check(const damo_op *op, damo_var *const *in, int i, int j, bool vectors);
int product_shape(damo_var *const *in, int i, int j, int64_t *shape);
/* Checks the lengths of a run's operands; *ndim and shape are the result's. */
damo_status thunk_product_shape(const thunk *t, frame *f, int i, int j, int *ndim, int64_t *shape);
/* y = z + alpha·in[i]·in[j] in y's dtype (alpha: one element of it, NULL: 1); z is NULL, y itself, or does not overlap
 * y. Takes its memory before it writes. The class's state is a sparse_transpose_cache. */
damo_status thunk_product(const thunk *t, frame *f, int i, int j, const void *alpha, const damo_array *z,
                          damo_array *y);
/* Gives a sparse product as output 0, in the index dtype that its Type says. */
damo_status thunk_give_product(const thunk *t, frame *f, damo_sparse *take);
/* The left factor of a product that is x's cotangent, in csr where x is csr. A product has its left factor's format and
 * takes an indptr along that format's major axis; x has one along its own already, whereas the other axis may be far
 * longer. */
damo_var *build_left_factor(build *b, damo_var *left, const damo_var *x);
/* The tangent of x, sparse in x's format where x is sparse, of x's dtype (floatX for a discrete x). */
damo_var *build_tangent(build *b, damo_var *tangent, damo_var *x);

/* op/sparse/form/stack.c */
/* Sparse matrices one after the other along a 0-based axis, in that format. */
damo_var *build_sparse_stack(build *b, int axis, damo_format format, damo_var *const *in, int n);
/* g split into n parts of those lengths (int64 scalars) along an axis, without stored zeros. */
damo_apply *build_sparse_split(build *b, damo_var *g, int axis, damo_var *const *sizes, int n);
/* rop of ops that assemble matrices: the op again on the tangents in that format, zeros for missing ones. */
damo_status rop_of_parts(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout, damo_format format);

/* op/sparse/form/band.c: ones along the main diagonal, in x's shape, format and dtype */
damo_var *build_sparse_eye(build *b, damo_var *x);

/* op/sparse/entry/sum.c: axis 0-based, -1: all */
damo_var *build_kept(build *b, damo_var *v, int axis); /* v, reduced over that axis (-1: all), with the axis kept as one
                                                        * of length 1 */
damo_var *build_sp_sum(build *b, damo_var *x, int axis, bool structured); /* of a dense x: a dense sum */
damo_var *build_sp_spread(build *b, damo_var *g, damo_var *x, int axis);  /* a sum's cotangent at x's stored
                                                                           * positions */

/* op/sparse/entry/extremum.c: max, min, argmax or argmin of a sparse x, axis 0-based (-1: all), and which one an
 * SpExtremum is */
damo_var *build_extremum(build *b, reduce_kind kind, damo_var *x, int axis);
reduce_kind sp_extremum_kind(const damo_op *op);

/* ---- Rules shared ------------------------------------------------------------------------------------------------ */

/* grad and rop of ops of one matrix whose output 0 is the vector of its stored values (op/sparse/form/pattern.c). */
damo_status sp_data_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status sp_data_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* Zeros as the gradient of input i where the result is discrete; NULL where it is not, and the Op's own rule
 * applies. */
damo_var *build_flat_zeros(build *b, const damo_apply *node, int i);
/* The same for an op that only moves entries: zeros where it truncates input i's entries to integers. */
damo_var *build_truncated_zeros(build *b, const damo_apply *node, int i);

/* The rows of each family, ended by a NULL name; families.c lists them. */
extern const op_func sparse_move_funcs[]; /* op/sparse/form/convert.c: toarray csr_from_dense cast transpose neg … */
extern const op_func sparse_csm_funcs[];  /* op/sparse/form/csm.c: CSR CSC csm_properties csm_data … */
extern const op_func sparse_pattern_funcs[]; /* op/sparse/form/pattern.c: sp_ones_like zeros_like with_data gather */
extern const op_func sparse_add_funcs[]; /* op/sparse/entry/add.c: AddSS AddSD AddSSData StructuredAddSV: add sub … */
extern const op_func sparse_mul_funcs
    []; /* op/sparse/entry/mul.c: MulSS MulSD MulSV ColScaleCSC RowScaleCSC: mul col_scale row_scale … */
extern const op_func sparse_compare_funcs[]; /* op/sparse/entry/compare.c: eq neq lt le gt ge */
extern const op_func sparse_dot_funcs[];     /* op/sparse/product/dot.c: Dot TrueDot: dot true_dot */
extern const op_func
    sparse_structured_dot_funcs[]; /* op/sparse/product/structured_dot.c: StructuredDot and its gradient Ops */
extern const op_func sparse_sampling_funcs[]; /* op/sparse/product/sampling.c: SamplingDot: sampling_dot */
extern const op_func sparse_usmm_funcs[];     /* op/sparse/product/usmm.c: Usmm and its in-place forms */
extern const op_func sparse_index_funcs[];    /* op/sparse/index/getitem.c: GetItem2d GetItemScalar: x[{…}] */
extern const op_func sparse_take_funcs[]; /* op/sparse/index/take.c: GetItemList GetItem2Lists and their gradient Ops */
extern const op_func sparse_construct_funcs[];  /* op/sparse/form/construct.c: SquareDiagonal Diag Diagonal PutDiagonal
                                                  ConstructSparseFromList */
extern const op_func sparse_stack_funcs[];      /* op/sparse/form/stack.c: HStack VStack */
extern const op_func sparse_sum_funcs[];        /* op/sparse/entry/sum.c: SpSum: sp_sum sum */
extern const op_func sparse_clean_funcs[];      /* op/sparse/form/clean.c: EnsureSortedIndices Remove0: clean */
extern const op_func sparse_band_funcs[];       /* op/sparse/form/band.c: Band Trace EyeLike: tril triu trace */
extern const op_func sparse_kron_funcs[];       /* op/sparse/product/kron.c: KronPlaces: kron */
extern const op_func sparse_norm_funcs[];       /* op/sparse/entry/norm.c: norm */
extern const op_func sparse_block_diag_funcs[]; /* op/sparse/form/block_diag.c: BlockDiag: block_diag */
extern const op_func sparse_find_funcs[];       /* op/sparse/form/find.c: Coordinates: find nonzero */
extern const op_func sparse_bmat_funcs[];       /* op/sparse/form/bmat.c: BlockMatrix: bmat */
extern const op_func sparse_permute_funcs[];    /* op/sparse/form/permute.c: Permute: permute */
extern const op_func sparse_power_funcs[];      /* op/sparse/product/power.c: power */
extern const op_func sparse_extremum_funcs[];   /* op/sparse/entry/extremum.c: SpExtremum: max min argmax argmin */
extern const op_func sparse_monoid_funcs[];     /* op/sparse/entry/monoid.c: functions of the stored values alone */
extern const op_func sparse_draw_funcs[];       /* op/sparse/draw.c: Poisson Binomial Multinomial */
extern const op_func
    sparse_factor_funcs[]; /* op/sparse/solve/factor.c: Factorize FactorizeQR FactorRcond: factorize rcond */
extern const op_func sparse_solve_funcs[];  /* op/sparse/solve/solve.c: FactorSolve: solve solve_t */
extern const op_func sparse_logdet_funcs[]; /* op/sparse/solve/logdet.c: FactorLogdet FactorDet: logdet slogdet det */
extern const op_func sparse_lstsq_funcs[];  /* op/sparse/solve/lstsq.c: FactorLeast FactorLeastAdjoint: lstsq */

/* Op classes that scripts make by name, damo.sparse.NAME{…}; each family ends its list with NULL. */
extern const op_def *const sparse_move_classes[];
extern const op_def *const sparse_csm_classes[];
extern const op_def *const sparse_pattern_classes[];
extern const op_def *const sparse_add_classes[];
extern const op_def *const sparse_mul_classes[];
extern const op_def *const sparse_compare_classes[];
extern const op_def *const sparse_dot_classes[];
extern const op_def *const sparse_structured_dot_classes[];
extern const op_def *const sparse_sampling_classes[];
extern const op_def *const sparse_usmm_classes[];
extern const op_def *const sparse_index_classes[];
extern const op_def *const sparse_take_classes[];
extern const op_def *const sparse_construct_classes[];
extern const op_def *const sparse_stack_classes[];
extern const op_def *const sparse_sum_classes[];
extern const op_def *const sparse_clean_classes[];
extern const op_def *const sparse_band_classes[];
extern const op_def *const sparse_kron_classes[];
extern const op_def *const sparse_check_classes[];
extern const op_def *const sparse_block_diag_classes[];
extern const op_def *const sparse_bmat_classes[];
extern const op_def *const sparse_find_classes[];
extern const op_def *const sparse_permute_classes[];
extern const op_def *const sparse_extremum_classes[];
extern const op_def *const sparse_monoid_classes[];
extern const op_def *const sparse_draw_classes[];
extern const op_def *const sparse_factor_classes[];
extern const op_def *const sparse_solve_classes[];
extern const op_def *const sparse_logdet_classes[];
extern const op_def *const sparse_inverse_classes[];
extern const op_def *const sparse_lstsq_classes[];
extern const op_def *const sparse_norm_classes[];
/* The lists of classes that only gradients and rewriting make. */
extern const op_def *const sparse_cotangent_classes[];
extern const op_def *const sparse_vecdot_classes[];
extern const op_def *const sparse_sampled_classes[];

#endif
