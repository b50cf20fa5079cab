/* op: the op families, the registry of functions, and eager evaluation.
 *
 * In: the graph layer. Out: rows (op_func) that scripts and hosts call by name, Op classes (op_def), and the builders
 * below, which gradient and rewrite rules of any family use. Always holds: a family is a file, or a few of one folder,
 * with one array of rows; registry.c lists families, not ops; adding an op touches its family's file and its spec.
 *
 * Positions in options and in index-valued operands and results are 1-based, ranges inclusive; the builders below are
 * C: axes 0-based.
 */
#ifndef DAMO_OP_H
#define DAMO_OP_H

#include "graph/graph.h"
#include "kernel/reduce/reduce.h"
#include "kernel/random.h"

/* The check (graph/op_check.h) of a class whose first output is its first input. */
extern const op_check same_check;

/* Adds every family's rows to the context (called once by the api layer). */
damo_status op_register_all(damo_ctx *ctx);

/* ---- Families: each file exports its rows, ended by a NULL name -------------------------------------------------- */

extern const op_func elemwise_funcs[];      /* op/elem/rows.c: add mul exp …; cast; clip; switch */
extern const op_func elemwise_made_funcs[]; /* op/elem/funcs.c: round nan_to_num frexp largest smallest */
extern const op_func composed_funcs[];      /* op/elem/composed.c: logical_and fmax modf spacing … */
extern const op_func
    reduce_funcs[]; /* op/reduce/reduce.c: sum prod mean var std max min argmax argmin any all logsumexp … */
extern const op_func nan_funcs[];        /* op/reduce/nan.c: nansum nanmean nanmax … */
extern const op_func statistics_funcs[]; /* op/reduce/statistics.c: average median quantile mode … */
extern const op_func covariance_funcs[]; /* op/reduce/covariance.c: cov corrcoef nancumsum nancumprod */
extern const op_func cumulative_funcs[]; /* op/reduce/cumulative.c: cumsum cumprod sort argsort diff */
extern const op_func extremes_funcs[];   /* op/reduce/extremes.c: cummax cummin */
extern const op_func
    shape_funcs[]; /* op/shape/funcs.c: shape reshape transpose dimshuffle squeeze flatten moveaxis … */
extern const op_func alloc_funcs[];   /* op/shape/alloc.c: alloc zeros ones empty full and their likes */
extern const op_func eye_funcs[];     /* op/shape/eye.c: eye tri */
extern const op_func arange_funcs[];  /* op/shape/arange.c: arange linspace */
extern const op_func window_funcs[];  /* op/shape/windows.c: bartlett hanning kaiser … logspace geomspace */
extern const op_func join_funcs[];    /* op/shape/join.c: join concatenate stack vstack hstack */
extern const op_func split_funcs[];   /* op/shape/split.c: split */
extern const op_func repeat_funcs[];  /* op/shape/repeat.c: tile repeat_ */
extern const op_func arrange_funcs[]; /* op/shape/arrange.c: column_stack hsplit insert delete vander unwrap … */
extern const op_func pad_funcs[];     /* op/shape/pad.c: roll pad */
extern const op_func
    index_funcs[]; /* op/index/subtensor.c, op/index/advanced.c: subtensor set_subtensor inc_subtensor take one_hot … */
extern const op_func grid_funcs[];     /* op/index/grid.c: meshgrid ix_ tril_indices unravel_index rot90 pack … */
extern const op_func calculus_funcs[]; /* op/calculus/vectors.c: cross inner convolve polyval trapezoid gradient … */
extern const op_func segment_funcs[];  /* op/segment/segment.c: segment_sum … bincount scatter_add … */
extern const op_func sets_funcs[];     /* op/sets/sets.c: unique searchsorted topk partition lexsort histogram … */
extern const op_func table_funcs[];    /* op/table/interpn.c: interpn */
extern const op_func blas_funcs[];     /* op/linalg/blas.c: dot matmul outer tensordot … */
extern const op_func fft_funcs[];      /* op/fft/fft.c: fft rfft fft2 fftn fftshift fftfreq … */
extern const op_func cosine_funcs[];   /* op/fft/cosine.c: dct idct dst idst dctn … */
/* op/linalg/families.c: the rows and the classes of damo.linalg. Each list is ended by NULL. */
extern const op_func *const linalg_families[];
extern const op_def *const *const linalg_classes[];
extern const op_func nnet_funcs[]; /* op/nnet/nnet.c: softmax log_softmax crossentropies relu … */
/* op/nnet/activation.c, loss.c, norm.c, attention.c: the rows of damo.nn */
extern const op_func activation_funcs[], loss_funcs[], norm_funcs[], attention_funcs[];
extern const op_func pool_funcs[], conv_funcs[]; /* op/nnet/pool.c, conv.c: max_pool2d conv2d … of damo.nn */
extern const op_func
    random_funcs[]; /* op/random/random.c: normal uniform bernoulli permutation over a state Variable */
extern const op_func random_vector_funcs[]; /* op/random/vector_rows.c: categorical multinomial choice … */
extern const op_func quantile_funcs[];      /* op/random/quantile.c: quantiles found by search, for damo.dist */
extern const op_func
    marker_funcs[]; /* op/control/marker.c: disconnected_grad zero_grad consider_constant grad_clip assert_op */
extern const op_func ifelse_funcs[]; /* op/control/ifelse.c: one of two branches, computed lazily */
/* op/sparse/families.c: the rows of the sparse families; their classes that scripts make by name, damo.sparse.CSM{…};
 * those that only gradients and rewriting make. Each list is ended by NULL. */
extern const op_func *const sparse_families[];
extern const op_def *const *const sparse_classes[];
extern const op_def *const *const sparse_inner_classes[];
/* The Op classes of the other families, each list ended by NULL. */
extern const op_def *const elemwise_classes[];
extern const op_def *const loop_classes[];
extern const op_def *const reduce_classes[];
extern const op_def *const cumulative_classes[];
extern const op_def *const extremes_classes[];
extern const op_def *const shape_classes[];
extern const op_def *const broadcast_classes[];
extern const op_def *const diagonal_classes[];
extern const op_def *const triangle_classes[];
extern const op_def *const alloc_classes[];
extern const op_def *const eye_classes[];
extern const op_def *const arange_classes[];
extern const op_def *const join_classes[];
extern const op_def *const split_classes[];
extern const op_def *const repeat_classes[];
extern const op_def *const index_classes[];
extern const op_def *const calculus_classes[];
extern const op_def *const segment_classes[];
extern const op_def *const sets_classes[];
extern const op_def *const table_classes[];
extern const op_def *const blas_classes[];
extern const op_def *const fft_classes[];
extern const op_def *const nnet_classes[];
extern const op_def *const pool_classes[];
extern const op_def *const conv_classes[];
extern const op_def *const random_classes[];
extern const op_def *const marker_classes[];
extern const op_def *const ifelse_classes[];
/* The i-th class of all families, NULL past the end. No two have one name. */
const op_def *op_class_at(int i);

/* ---- Builders shared by rules (all borrow, all give borrowed results of the scope) ------------------------------- */

/* What the dense families ask of the sparse ones where an operand is sparse (op/sparse/type.c). They include none of the
 * headers of op/sparse: this table and the lists above are all that they need of it. */
typedef struct sparse_forms {
  damo_var *(*cast)(build *b, damo_var *x, damo_dtype dtype);    /* x itself when it has the dtype */
  damo_var *(*zeros)(build *b, damo_var *x, damo_dtype dtype);   /* x's shape and format, nothing stored */
  damo_var *(*to_format)(build *b, damo_var *x, damo_format f);  /* x itself when it has the format */
  damo_var *(*to_dense)(build *b, damo_var *x);                  /* x itself when it is dense */
  damo_var *(*from_dense)(build *b, damo_var *x, damo_format f); /* x itself when it is sparse */
  damo_var *(*add_cotangents)(build *b, damo_var *x, damo_var *g, damo_var *h); /* g + h as cotangents of x */
  /* damo.mul of a sparse operand, which stretches a dense row or column as sparse.mul does not. */
  damo_status (*mul)(build *b, const fn_args *a, ptrvec *out);
  /* Output i is that matrix, its index dtype brought to what the output's Type asks for at this size. */
  damo_status (*give)(const thunk *t, frame *f, int i, damo_sparse *take);
} sparse_forms;
extern const sparse_forms sparse_form;

/* op/elem/elemwise.c */
damo_var *build_cast(build *b, damo_var *x, damo_dtype dtype); /* x itself when it has the dtype */
/* value broadcast to like's shape, of value's dtype (PyTensor's fill / second). */
damo_var *build_fill(build *b, damo_var *like, damo_var *value);
/* g summed over the axes along which an operand of like's Type was broadcast to g's shape, so that it has like's rank
 * and static ones; also cast to like's dtype when that is a float or complex (real part taken where like is real). */
damo_var *build_unbroadcast(build *b, damo_var *g, damo_var *like);
/* Writes to dst the end of a shape error for an axis that has length 1 at run time next to another length: "is 1, which
 * broadcasts only …" and how to declare it. Returns dst. */
const char *broadcast_hint(char *dst, size_t n, const damo_type *t, int axis);
/* Makes the table in which scalar rows are found by name (once a context). */
damo_status elemwise_register(damo_ctx *ctx);
/* The scalar row's name of an Elemwise op, NULL when op is not one. */
const char *elemwise_scalar(const damo_op *op);
/* The operands that an Elemwise op takes; -1 when op is not one. */
int elemwise_arity(const damo_op *op);
/* Whether a row's function applies one Elemwise op to its operands, those from number *first on with literals resolved
 * next to each other (the condition of switch stands alone). */
bool elemwise_is_func(const op_func *f, int *first);
extern const op_def elemwise_def;

damo_var *build_relu(build *b, damo_var *x, damo_var *alpha); /* op/elem/rows.c: of tensors; alpha NULL: none */

/* op/reduce/reduce.c: axes 0-based, n_axes < 0: all */
damo_var *build_reduce(build *b, reduce_kind kind, damo_var *x, const int *axes, int n_axes, bool keepdims);
/* The maximum along the last n_axes axes, kept as dimensions of 1, for rows that it is subtracted from: where these are
 * empty it is 0, since nothing reads it, and no error. */
damo_var *build_row_max(build *b, damo_var *x, int n_axes);
/* The sum along the last n_axes axes, kept as dimensions of 1. */
damo_var *build_row_sum(build *b, damo_var *x, int n_axes);
damo_var *build_mean(build *b, damo_var *x); /* op/reduce/composite.c: over all axes */
/* Puts back, as ones, the axes that a reduction of x took away from g. */
damo_var *build_expand_axes(build *b, damo_var *g, int ndim, const int *axes, int n_axes);
extern const op_def reduce_def;
reduce_kind reduce_op_kind(const damo_op *op); /* of a Reduce */
/* The axes of an operand of that rank that it reduces, as bits. */
uint32_t reduce_op_axes(const damo_op *op, int ndim);
/* Whether one pass over the elements suffices. */
bool reduce_op_one_pass(const damo_op *op);
/* How many axes it reduces if these are the last ones and one pass suffices, else 0. */
int reduce_op_trailing(const damo_op *op, int ndim);
/* The result's shape, into out; returns its rank. */
int reduce_op_shape(const damo_op *op, int ndim, const int64_t *shape, int64_t *out);
/* A value error where an axis without elements is reduced and a result would need one. */
damo_status reduce_op_check(damo_ctx *ctx, const damo_op *op, int ndim, const int64_t *shape);

/* op/shape/shape.c */
damo_var *build_shape(build *b, damo_var *x);         /* int64 vector */
damo_var *build_dim(build *b, damo_var *x, int axis); /* int64 scalar; a constant where static */
damo_var *build_reshape(build *b, damo_var *x, damo_var *shape,
                        int ndim); /* shape: int64 vector Variable, -1 allowed once */
damo_var *build_reshape_like(build *b, damo_var *x, damo_var *like);
damo_var *build_dimshuffle(build *b, damo_var *x, const int *pattern,
                           int n); /* -1: a new axis of 1; left-out axes must be 1 */
/* Whether a DimShuffle of an operand of that rank adds axes of length 1, or drops such, and leaves the others in their
 * order. */
bool dimshuffle_op_keeps_order(const damo_op *op, int ndim);
/* The operand's axis that is that axis of the result; -1: a new one. */
int dimshuffle_op_axis(const damo_op *op, int axis);
damo_var *build_transpose(build *b, damo_var *x); /* axes reversed */
/* A vector of n int64 scalars: a constant where they all are. */
damo_var *build_vector(build *b, damo_var *const *dims, int n);
damo_var *build_swap_last(build *b, damo_var *x); /* last two axes swapped */
/* op/shape/join.c */
/* xs, of one rank and dtype, joined along a 0-based axis. */
damo_var *build_join(build *b, const char *func, int axis, damo_var *const *xs, int n);
/* x with a new axis of length 1, which is the result's axis `axis` (0-based). */
damo_var *build_new_axis(build *b, damo_var *x, int axis);
extern const op_def shape_def, shape_i_def, makevector_def, reshape_def, dimshuffle_def;
/* op/shape/triangle.c, op/shape/diagonal.c: AllocDiag's inputs are the diagonal, then the lengths of the result */
extern const op_def triangle_def, allocdiag_def, extractdiag_def;
/* op/shape/eye.c, op/shape/diagonal.c */
damo_var *build_eye(build *b, damo_var *n, damo_var *m, damo_dtype dtype);             /* n by m, int64 scalars */
damo_var *build_diagonal(build *b, damo_var *x, int64_t offset, int axis1, int axis2); /* 0-based axes */
damo_var *build_triangle(build *b, damo_var *x, int64_t k, bool lower);                /* tril, triu */

/* op/control/marker.c: x itself where its Type is no wider than `type`, which is compatible with it; else a node of
 * that Type that checks x's value at run time. Its error names `input` ("input 1 (x)") of the Op `op`.
 */
damo_var *build_of_type(build *b, damo_var *x, damo_type *type, const char *op, const char *input);
/* x where every entry of cond is true; else a value error of that text at run time. */
damo_var *build_assert(build *b, damo_var *x, damo_var *cond, const char *message);
/* Markers of gradients: forwards their output is their input. */
extern const op_def disconnected_grad_def, zero_grad_def, consider_constant_def, grad_clip_def, grad_scale_def,
    print_def;
extern const op_def assert_def; /* in: x, conditions */

/* op/control/ifelse.c */
extern const op_def ifelse_def;
/* x where the scalar cond is true, else y; only that is computed. x and y need a Type that holds both. */
damo_var *build_ifelse(build *b, damo_var *cond, damo_var *x, damo_var *y);
/* g where cond holds (with `inverse`: where it does not), else zeros of x's shape, with a lazy note in the scope
 * (build_mask): a derivative that belongs to one branch. */
damo_var *build_ifelse_zero(build *b, damo_var *cond, damo_var *g, bool inverse, damo_var *x);
/* g + h as cotangents of x, where both belong to branches of one condition; else NULL. */
damo_var *build_ifelse_add(build *b, damo_var *x, damo_var *g, damo_var *h);

/* op/shape/alloc.c */
damo_var *build_alloc(build *b, damo_var *value, damo_var *const *shape,
                      int ndim);                   /* value broadcast to int64 scalars */
damo_var *build_zeros_like(build *b, damo_var *x); /* of x's dtype; sparse where x is */
/* Zeros as x's derivative: of x's dtype, floatX where x is discrete; sparse where x is. */
damo_var *build_zero_grad(build *b, damo_var *x);
damo_var *build_ones_like(build *b, damo_var *x);
extern const op_def alloc_def;

/* op/shape/join.c, in: the parts; op/shape/split.c, in: x, the length of each part */
extern const op_def join_def, split_def;

/* op/index/subtensor.c: entries start:stop:step of one axis, 0-based, half-open as in C; start and stop may be NULL */
damo_var *build_slice(build *b, damo_var *x, int axis, damo_var *start, damo_var *stop, int64_t step);
damo_var *build_index(build *b, damo_var *x, int axis, damo_var *position0); /* 0-based position; axis removed */
/* op/index/funcs.c: x at 1-based positions along a 0-based axis, an int64 vector; each entry along it by an int64 tensor
 * of x's rank. op/reduce/cumulative.c: the positions that sort x along it. */
damo_var *build_take_axis(build *b, damo_var *x, damo_var *positions, int axis);
damo_var *build_take_along_axis(build *b, damo_var *x, damo_var *positions, int axis);
/* x with y added at those places, repeated ones adding up. */
damo_var *build_add_along_axis(build *b, damo_var *x, damo_var *y, damo_var *positions, int axis);
damo_var *build_argsort(build *b, damo_var *x, int axis);
/* op/reduce/cumulative.c: kind "cumsum" or "cumprod" along a 0-based axis, from its end with `reverse`; x of a wide
 * dtype. */
damo_var *build_cumulative(build *b, const char *kind, damo_var *x, int axis, bool reverse);
extern const op_def arange_def; /* op/shape/arange.c */
extern const op_def subtensor_def, incsubtensor_def, advsubtensor_def, advincsubtensor_def;
/* The axis (0-based) along which an AdvancedSubtensor takes entries by one list, the others being whole; -1: it does
 * something else, or is another Op. A list of bools is a mask. */
int index_taken_axis(const damo_op *op);

/* op/linalg/blas.c */
damo_var *build_dot(build *b, damo_var *x, damo_var *y);    /* ranks 1 and 2 */
damo_var *build_dot_nd(build *b, damo_var *x, damo_var *y); /* any ranks: the last axis of x, the last but one of y */
/* x with all axes but the last as one: a stack of matrices as one matrix. */
damo_var *build_flat_rows(build *b, damo_var *x);
damo_var *build_kron(build *b, damo_var *x, damo_var *y);
damo_var *build_matmul(build *b, damo_var *x, damo_var *y); /* batched over leading axes */
/* The sum over these leading axes of a Matmul's result, as a product. No leading axis of its operands broadcasts. */
damo_var *build_matmul_sum(build *b, const damo_apply *product, uint32_t axes);
/* beta·z + alpha·x·y: Gemm of matrices, Gemv with vectors z and y; Ger: z + alpha·x·yᵀ of vectors. op/linalg/gemm.c.
 * The classes have one property, inplace (bool; these builders give false): the op then destroys z, its first input. */
damo_var *build_gemm(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y, damo_var *beta);
damo_var *build_gemv(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y, damo_var *beta);
damo_var *build_ger(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y);
extern const op_def dot_def, matmul_def, gemm_def, gemv_def, ger_def;
extern const op_def tensordot_def; /* op/linalg/tensordot.c */
/* op/linalg/svd.c, op/linalg/eigen.c: decompositions, each before the class that gives its values alone; the values that
 * a node of the former gives (output 1 of SVD, 0 of the others), from a new node of the latter */
extern const op_def svd_def, svdvals_def, eigh_def, eigvalsh_def, eig_def, eigvals_def;
damo_var *build_values_alone(build *b, const damo_apply *node);

/* op/nnet/softmax.c: property axis, 1-based or nil (all); the gradients take the cotangent and the result */
extern const op_def softmax_def, log_softmax_def, softmax_grad_def, log_softmax_grad_def;
/* op/index/pick.c: in: x, index; its gradient's: cotangent, x, index */
extern const op_def pick_def, pick_grad_def, onehot_def;

/* op/random/random.c */
damo_array *random_seed_array(damo_ctx *ctx,
                              uint64_t seed); /* a generator's state: what a Variable of RandomType holds */
/* Reads such a state, which its Type has checked; makes one. */
philox_state random_state_read(const damo_array *a);
damo_array *random_state_array(damo_ctx *ctx, const philox_state *s);

/* ---- Options of several families (those of one stand in its file) ------------------------------------------------ */

typedef struct axis_options {
  prop_value axis;
} axis_options;

typedef struct axes_options {
  prop_value axes;
} axes_options;

typedef struct shape_options {
  prop_value shape, dtype;
} shape_options;

/* diag, diagonal, tril and their likes, dense and sparse */
typedef struct diagonal_options {
  prop_value k, offset, axis1, axis2;
} diagonal_options;

/* subtensor and its writes: index_spec_parse */
typedef struct index_options {
  prop_value spec;
} index_options;

typedef struct round_options {
  prop_value mode, decimals;
} round_options;

typedef struct lambertw_options {
  prop_value k;
} lambertw_options;

typedef struct close_options {
  prop_value rtol, atol, equal_nan;
} close_options;

#define CLOSE_OPTIONS \
  OPTIONS(OPT(close_options, rtol, OPT_NUM), OPT(close_options, atol, OPT_NUM), OPT(close_options, equal_nan, OPT_BOOL))

/* Of tensors: op/elem/funcs.c, op/elem/rows.c */
damo_var *build_round(build *b, damo_var *x, const round_options *o);
damo_var *build_isclose(build *b, damo_var *x, damo_var *y, const close_options *o);

/* Reductions, dense and sparse */
typedef struct reduce_options {
  prop_value axis, keepdims, dtype, ddof, sparse_grad, return_sign;
} reduce_options;

/* ---- Properties of several classes, and of those that others read ------------------------------------------------ */

typedef struct axis_props {
  prop_value axis;
} axis_props;

typedef struct dtype_props {
  prop_value dtype;
} dtype_props;

typedef struct ndim_props {
  prop_value ndim;
} ndim_props;

typedef struct inplace_props {
  prop_value inplace;
} inplace_props;

/* Triangle: entries above (lower) or below the k-th diagonal are 0 */
typedef struct triangle_props {
  prop_value k, lower;
} triangle_props;

/* ExtractDiag, AllocDiag: 1-based axes of the matrix */
typedef struct diagonal_props {
  prop_value offset, axis1, axis2;
} diagonal_props;

typedef struct split_props {
  prop_value axis, n;
} split_props;

/* Elemwise: the scalar op by name; dtype: of cast; inplace: the 1-based input that the output overwrites */
typedef struct elemwise_props {
  prop_value scalar, dtype, inplace;
} elemwise_props;

/* DimShuffle: 1-based axes, "x" for a new one */
typedef struct dimshuffle_props {
  prop_value new_order;
} dimshuffle_props;

/* Reduce: kind by name; axis: a list of 1-based axes, nil: all */
typedef struct reduce_props {
  prop_value kind, axis, keepdims, may_be_empty;
} reduce_props;

/* Shape_i: a 1-based axis */
typedef struct shape_i_props {
  prop_value i;
} shape_i_props;

/* The softmaxes: a 1-based axis, nil: all */
typedef struct softmax_props {
  prop_value axis;
} softmax_props;

/* Subtensor and its writes; spec: index_spec_parse */
typedef struct index_props {
  prop_value spec, set_instead_of_inc, inplace;
} index_props;

/* ---- Helpers for families ---------------------------------------------------------------------------------------- */

/* Type error naming function and operand unless operand i of the call is a tensor. */
damo_status fn_check_tensor(const fn_args *a, damo_ctx *ctx, int i);
/* The dtype that an option names; *out stays where the option is not given. */
damo_status fn_dtype(const fn_args *a, damo_ctx *ctx, prop_value option, damo_dtype *out);
/* A 1-based, possibly negative axis to a 0-based one of ndim; index error naming the function. */
damo_status axis_check(damo_ctx *ctx, const char *func, int64_t axis, int ndim, int *out);
/* An axes option (nil: all axes) to ascending 0-based axes; an axis named twice is a value error. axes: DAMO_MAX_NDIM
 * ints. */
damo_status axes_check(damo_ctx *ctx, const char *func, const prop_value *v, int ndim, int *axes, int *n);
/* A shape option (list of ints and Variables, an int, or a vector Variable) as scalars (int64, borrowed from b); *n
 * set. For a vector Variable its static length must be known. shape: DAMO_MAX_NDIM entries. */
damo_status shape_check(build *b, const char *func, const prop_value *v, damo_var **shape, int *n);
/* Static value of an int64 scalar Variable: true and *out when it is a constant. */
bool var_static_int(const damo_var *v, int64_t *out);

#include "op/batch.h"
#include "op/eager.h"

#endif
