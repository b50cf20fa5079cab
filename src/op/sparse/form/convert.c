/* convert: conversions between sparse and dense, between formats and between dtypes; transpose, neg.
 *
 * DenseFromSparse (property structured: its gradient is on x's pattern), SparseFromDense (format), ToFormat (format),
 * Cast (out_type), Transpose, Neg. Cast, Transpose and Neg keep the pattern arrays; Transpose the data too.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_to_dense_props {
  prop_value structured;
} sp_to_dense_props;

typedef struct sp_cast_props {
  prop_value out_type;
} sp_cast_props;

static damo_format sp_format_prop(const damo_op *op) {
  damo_format f = DAMO_CSR;
  format_check(op->obj.ctx, op->def->name, &OP_PROPS(op, format_props)->format, &f);
  return f;
}

static damo_status sp_format_init(damo_op *op) {
  damo_format f;
  return format_check(op->obj.ctx, op->def->name, &OP_PROPS(op, format_props)->format, &f);
}

/* ---- DenseFromSparse --------------------------------------------------------------------------------------------- */

static bool sp_to_dense_is_structured(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, sp_to_dense_props)->structured;
  return v->kind == PROP_NIL || v->u.i != 0;
}

static damo_status sp_to_dense_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_dense(op, out, var_dtype(in[0]), 2, in[0]->type->shape);
}

static damo_status sp_to_dense_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  damo_array *y = thunk_out(t, f, 0, sparse_dtype(x), 2, x->shape);
  if (y == NULL) return DAMO_EMEMORY;
  array_zero_bytes(f->ctx, y->data, (size_t)array_size(y) * dtype_size(sparse_dtype(x)));
  sparse_add_to_dense(x, y);
  return DAMO_OK;
}

static damo_status sp_to_dense_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *x = node->in[0];
  gin[0] = sp_to_dense_is_structured(node->op) ? build_structured(b, gout[0], x)
                                               : build_sparse_from(b, gout[0], var_format_of(x));
  return b->status;
}

const op_def sp_to_dense_def = {
    .name = "DenseFromSparse",
    .doc = "a sparse matrix as a dense one; structured: the gradient is taken at the stored positions alone",
    .props = PROPS(PROP_FLAG(sp_to_dense_props, structured)),
    .n_in = 1,
    .infer_type = sp_to_dense_type,
    .perform = sp_to_dense_perform,
    .grad = sp_to_dense_grad,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

damo_var *build_dense(build *b, damo_var *x, bool structured) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return x;
  const sp_to_dense_props p = {.structured = prop_bool(structured)};
  return build_op(b, op_new(b->ctx, &sp_to_dense_def, &p), &x, 1);
}

damo_var *build_toarray(build *b, damo_var *x) { return build_dense(b, x, false); }

/* ---- SparseFromDense --------------------------------------------------------------------------------------------- */

static damo_status sp_from_dense_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 2));
  const int64_t *shape = in[0]->type->shape;
  return type_give_sparse(op, out, sp_format_prop(op), var_dtype(in[0]), DAMO_INT32, shape[0], shape[1]);
}

static damo_status sp_from_dense_perform(const thunk *t, frame *f) {
  return thunk_give(t, f, 0, sparse_from_dense(thunk_in(t, f, 0), sp_format_prop(t->node->op), DAMO_INT32));
}

static damo_status sp_from_dense_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_toarray(b, gout[0]);
  return b->status;
}

const op_def sp_from_dense_def = {
    .name = "SparseFromDense",
    .doc = "the entries of a dense matrix that are not 0, in a sparse format",
    .props = PROPS(PROP(format_props, format)),
    .n_in = 1,
    .init = sp_format_init,
    .infer_type = sp_from_dense_type,
    .perform = sp_from_dense_perform,
    .grad = sp_from_dense_grad,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

static damo_var *build_with_format(build *b, const op_def *def, damo_var *x, damo_format format) {
  const format_props p = {.format = prop_str(sparse_format_name(format))};
  return build_op(b, op_new(b->ctx, def, &p), &x, 1);
}

damo_var *build_sparse_from(build *b, damo_var *x, damo_format format) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  return var_is_sparse(x) ? x : build_with_format(b, &sp_from_dense_def, x, format);
}

/* ---- ToFormat ---------------------------------------------------------------------------------------------------- */

static damo_status sp_to_format_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  return type_give_sparse(op, out, sp_format_prop(op), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]);
}

static damo_status sp_to_format_perform(const thunk *t, frame *f) {
  return thunk_give(t, f, 0, sparse_to_format(thunk_in_sparse(t, f, 0), sp_format_prop(t->node->op)));
}

/* A cotangent in y's format passes. One in x's format may hold derivatives entry by entry in y's order (cotangent.c):
 * it is moved to x's entries. */
static damo_status sp_to_format_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0];
  const bool back = g != NULL && var_is_sparse(g) && var_format_of(g) == var_format_of(x);
  gin[0] = back ? build_move_cotangent(b, g, g, node->out[0], x) : g;
  return b->status;
}

static damo_status sp_to_format_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  DAMO_TRY(rop_again(b, node, eval, rout));
  rout[0] = build_move_tangent(b, rout[0], node, eval);
  return b->status;
}

const op_def sp_to_format_def = {
    .name = "ToFormat",
    .doc = "the same matrix in csr or csc",
    .props = PROPS(PROP(format_props, format)),
    .n_in = 1,
    .init = sp_format_init,
    .view_map = alias_first,
    .infer_type = sp_to_format_type,
    .perform = sp_to_format_perform,
    .grad = sp_to_format_grad,
    .rop = sp_to_format_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

damo_var *build_to_format(build *b, damo_var *x, damo_format format) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  return var_format_of(x) == format ? x : build_with_format(b, &sp_to_format_def, x, format);
}

/* ---- Cast -------------------------------------------------------------------------------------------------------- */

static damo_dtype sp_cast_dtype(const damo_op *op) {
  damo_dtype dt = DAMO_FLOAT64;
  damo_dtype_from_name(OP_PROPS(op, sp_cast_props)->out_type.u.s, &dt);
  return dt;
}

static damo_status sp_cast_init(damo_op *op) {
  damo_dtype dt;
  const prop_value *v = &OP_PROPS(op, sp_cast_props)->out_type;
  if (v->kind == PROP_STR && damo_dtype_from_name(v->u.s, &dt)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Cast: out_type must be the name of a dtype, got '%s'",
                  v->kind == PROP_STR ? v->u.s : "another value");
}

static damo_status sp_cast_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(dtype_check_cast(op->obj.ctx, "cast", var_dtype(in[0]), sp_cast_dtype(op)));
  return type_give_like(op, out, in[0], sp_cast_dtype(op));
}

static damo_status sp_cast_perform(const thunk *t, frame *f) {
  const damo_dtype to = sp_cast_dtype(t->node->op);
  damo_sparse *x = sparse_summed_for(thunk_in_sparse(t, f, 0), to);
  damo_sparse *y = x != NULL ? thunk_out_like(t, f, 0, x, to) : NULL;
  const damo_status s = y != NULL ? array_assign(y->data, x->data) : DAMO_EMEMORY;
  damo_release(x);
  return s;
}

static damo_status sp_cast_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_dtype dt = var_dtype(node->in[0]);
  damo_var *g = gout[0];
  if (g == NULL) return DAMO_OK;
  if (dtype_is_discrete(dt)) dt = b->ctx->config.floatX;
  if (dtype_is_discrete(sp_cast_dtype(node->op))) {
    gin[0] = build_sparse_zeros(b, node->in[0], dt);
    return b->status;
  }
  if (dtype_is_complex(var_dtype(g)) && !dtype_is_complex(dt)) g = build_real(b, g);
  gin[0] = build_cast(b, g, dt);
  return b->status;
}

static const op_def sp_cast_def = {
    .name = "Cast",
    .doc = "a sparse matrix of another dtype",
    .props = PROPS(PROP(sp_cast_props, out_type)),
    .n_in = 1,
    .init = sp_cast_init,
    .infer_type = sp_cast_type,
    .perform = sp_cast_perform,
    .grad = sp_cast_grad,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    OP_CHECK(same_check),
};

damo_var *build_sparse_cast(build *b, damo_var *x, damo_dtype dtype) {
  if (x == NULL || b->status != DAMO_OK || var_dtype(x) == dtype) return x;
  const sp_cast_props p = {.out_type = prop_str(dtype_name(dtype))};
  return build_op(b, op_new(b->ctx, &sp_cast_def, &p), &x, 1);
}

/* ---- SumDuplicates ----------------------------------------------------------------------------------------------- */

static damo_status sp_sum_duplicates_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status sp_sum_duplicates_perform(const thunk *t, frame *f) {
  return thunk_give(t, f, 0, sparse_sum_duplicates(thunk_in_sparse(t, f, 0)));
}

static const op_def sp_sum_duplicates_def = {
    .name = "SumDuplicates",
    .doc = "the same matrix with sorted indices and every position stored once",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = sp_sum_duplicates_type,
    .perform = sp_sum_duplicates_perform,
    .grad = grad_pass,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

damo_var *build_summed(build *b, damo_var *x) { return build_class(b, &sp_sum_duplicates_def, &x, 1); }

/* A script's cast sums duplicates first: a narrower dtype must round their sum, not each of them. */
static damo_var *build_cast_summed(build *b, damo_var *x, damo_dtype dtype) {
  if (x == NULL || var_dtype(x) == dtype) return x;
  return build_sparse_cast(b, build_class(b, &sp_sum_duplicates_def, &x, 1), dtype);
}

/* ---- Transpose --------------------------------------------------------------------------------------------------- */

static damo_status sp_transpose_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  return type_give_sparse(op, out, format_other(var_format_of(in[0])), var_dtype(in[0]), var_itype(in[0]), shape[1],
                          shape[0]);
}

static damo_status sp_transpose_perform(const thunk *t, frame *f) {
  return thunk_give(t, f, 0, sparse_transpose(thunk_in_sparse(t, f, 0)));
}

static damo_status sp_transpose_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_sparse_transpose(b, gout[0]);
  return b->status;
}

static damo_status sp_transpose_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = in_shape[0][1];
  out_shape[0][1] = in_shape[0][0];
  return b->status;
}

const op_def sp_transpose_def = {
    .name = "Transpose",
    .doc = "the transpose of a sparse matrix: the other format over the same arrays",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = sp_transpose_type,
    .perform = sp_transpose_perform,
    .grad = sp_transpose_grad,
    .rop = rop_again,
    .infer_shape = sp_transpose_shape,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(transpose_check),
};

damo_var *build_sparse_transpose(build *b, damo_var *x) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  return var_is_sparse(x) ? build_class(b, &sp_transpose_def, &x, 1) : build_transpose(b, x);
}

/* ---- Neg --------------------------------------------------------------------------------------------------------- */

static damo_status sp_neg_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  if (var_dtype(in[0]) == DAMO_BOOL) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "neg is not defined for bool");
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status sp_neg_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  damo_sparse *y = thunk_out_like(t, f, 0, x, sparse_dtype(x));
  if (y == NULL) return DAMO_EMEMORY;
  sparse_run_kernel(f->ctx, f->ctx->isa->neg->fn[sparse_dtype(x)], sparse_dtype(x), sparse_nnz(x), x->data->data, NULL,
                    y->data->data);
  return DAMO_OK;
}

static damo_status sp_neg_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_neg(b, gout[0]);
  return b->status;
}

const op_def sp_neg_def = {
    .name = "Neg",
    .doc = "a sparse matrix with its sign changed",
    .n_in = 1,
    .infer_type = sp_neg_type,
    .perform = sp_neg_perform,
    .grad = sp_neg_grad,
    .rop = rop_again,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    OP_CHECK(neg_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Options of the conversions to dense; structured: the gradient is on x's pattern. */
typedef struct toarray_options {
  prop_value structured;
} toarray_options;

static damo_status sp_fn_dense(build *b, const fn_args *a, ptrvec *out) {
  const bool structured = prop_bool_or(FN_OPTIONS(a, toarray_options)->structured, true);
  return fn_give(b, out, build_dense(b, sparse_operand(b, a, 0), structured));
}

static damo_status sp_fn_toarray(build *b, const fn_args *a, ptrvec *out) {
  const bool structured = prop_bool_or(FN_OPTIONS(a, toarray_options)->structured, true);
  return fn_give(b, out, build_dense(b, any_operand(b, a, 0), structured));
}

/* A scalar counts as 1 x 1, a vector as one row. */
static damo_status sp_fn_from_dense(build *b, const fn_args *a, ptrvec *out, damo_format format) {
  damo_var *x = any_operand(b, a, 0);
  if (x == NULL) return b->status;
  if (var_is_sparse(x)) return fn_give(b, out, build_to_format(b, x, format));
  if (var_ndim(x) == 0) x = build_dimshuffle(b, x, (const int[]){-1, -1}, 2);
  if (x != NULL && var_ndim(x) == 1) x = build_dimshuffle(b, x, (const int[]){-1, 0}, 2);
  return fn_give(b, out, build_sparse_from(b, x, format));
}

static damo_status sp_fn_csr_from_dense(build *b, const fn_args *a, ptrvec *out) {
  return sp_fn_from_dense(b, a, out, DAMO_CSR);
}
static damo_status sp_fn_csc_from_dense(build *b, const fn_args *a, ptrvec *out) {
  return sp_fn_from_dense(b, a, out, DAMO_CSC);
}

static damo_status sp_fn_tocsr(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_to_format(b, sparse_operand(b, a, 0), DAMO_CSR));
}
static damo_status sp_fn_tocsc(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_to_format(b, sparse_operand(b, a, 0), DAMO_CSC));
}

static damo_status sp_fn_cast(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  const prop_value dtype = FN_OPTIONS(a, dtype_options)->dtype;
  if (x == NULL) return b->status;
  damo_dtype dt = var_dtype(x);
  if (!prop_given(dtype)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the dtype is missing", a->func->name);
  DAMO_TRY(fn_dtype(a, b->ctx, dtype, &dt));
  return fn_give(b, out, build_cast_summed(b, x, dt));
}

/* bcast … zcast: the dtype is the row's data. */
static const damo_dtype sp_cast_letters[] = {DAMO_INT8,    DAMO_INT16,   DAMO_INT32,     DAMO_INT64,
                                             DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};

static damo_status sp_fn_letter_cast(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_cast_summed(b, sparse_operand(b, a, 0), *(const damo_dtype *)a->func->data));
}

static damo_status sp_fn_transpose(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_sparse_transpose(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_neg(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &sp_neg_def, &x, 1));
}

#define LETTER(letter, i, dtype)                                                                              \
  {                                                                                                           \
    .name = "sparse." letter "cast", .operands = "x", .call = sp_fn_letter_cast, .data = &sp_cast_letters[i], \
    .doc = "a sparse matrix converted to " dtype                                                              \
  }

static damo_status sp_fn_sum_duplicates(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, x != NULL ? build_summed(b, x) : NULL);
}

const op_func sparse_move_funcs[] = {
    {.name = "sparse.dense_from_sparse",
     .operands = "x",
     .options = OPTIONS(OPT(toarray_options, structured, OPT_BOOL)),
     .call = sp_fn_dense,
     .doc = "dense; its gradient is read at the stored positions, or everywhere with structured=false"},
    {.name = "sparse.toarray",
     .operands = "x",
     .options = OPTIONS(OPT(toarray_options, structured, OPT_BOOL)),
     .call = sp_fn_toarray,
     .doc = "dense_from_sparse; a dense matrix is itself"},
    {.name = "sparse.csr_from_dense",
     .operands = "x",
     .call = sp_fn_csr_from_dense,
     .doc = "the entries that are not 0, as csr; the gradient is dense"},
    {.name = "sparse.csc_from_dense",
     .operands = "x",
     .call = sp_fn_csc_from_dense,
     .doc = "the entries that are not 0, as csc; the gradient is dense"},
    {.name = "sparse.tocsr", .operands = "x", .call = sp_fn_tocsr, .doc = "the same matrix in csr"},
    {.name = "sparse.tocsc", .operands = "x", .call = sp_fn_tocsc, .doc = "the same matrix in csc"},
    {.name = "sparse.sum_duplicates",
     .operands = "x",
     .call = sp_fn_sum_duplicates,
     .doc =
         "the same matrix with sorted indices and every position stored once, with the sum of what was stored there"},
    {.name = "sparse.cast",
     .operands = "x",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = sp_fn_cast,
     .doc = "a sparse matrix converted to another dtype"},
    {.name = "sparse.astype",
     .operands = "x",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = sp_fn_cast,
     .doc = "another name of cast"},
    LETTER("b", 0, "int8"),
    LETTER("w", 1, "int16"),
    LETTER("i", 2, "int32"),
    LETTER("l", 3, "int64"),
    LETTER("f", 4, "float32"),
    LETTER("d", 5, "float64"),
    LETTER("c", 6, "complex64"),
    LETTER("z", 7, "complex128"),
    {.name = "sparse.transpose", .operands = "x", .call = sp_fn_transpose, .doc = "the transpose, in the other format"},
    {.name = "sparse.neg", .operands = "x", .call = sp_fn_neg, .doc = "-x, entry by entry"},
    {.name = NULL},
};

const op_def *const sparse_move_classes[] = {
    &sp_to_dense_def,       &sp_from_dense_def, &sp_to_format_def, &sp_cast_def,
    &sp_sum_duplicates_def, &sp_transpose_def,  &sp_neg_def,       NULL};

#undef LETTER
