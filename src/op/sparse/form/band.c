/* band: bands of diagonals: triangles, the trace, the identity.
 *
 * Classes: Band (low, high: the diagonals kept), Trace (dense), EyeLike (a scalar along the diagonal). Trace and
 * EyeLike are each other's gradients.
 */
#include "op/sparse/sparse_op.h"
#include "kernel/kernel.h"

typedef struct sp_band_props {
  prop_value low, high;
} sp_band_props;

/* ---- Band: triangles --------------------------------------------------------------------------------------------- */

static int64_t sp_band_bound(prop_value v, int64_t otherwise) {
  return !prop_given(v) ? otherwise : v.u.i < -INT64_MAX ? -INT64_MAX : v.u.i;
}

static bool sp_band_is_bound(prop_value v) { return !prop_given(v) || v.kind == PROP_INT; }

static damo_status sp_band_init(damo_op *op) {
  const sp_band_props *p = OP_PROPS(op, sp_band_props);
  if (sp_band_is_bound(p->low) && sp_band_is_bound(p->high)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Band: low and high are integers or nil");
}

static damo_status sp_band_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status sp_band_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  return thunk_give_sparse(
      t, f, 0,
      sparse_band(thunk_in_sparse(t, f, 0), sp_band_bound(OP_PROPS(op, sp_band_props)->low, -INT64_MAX),
                  sp_band_bound(OP_PROPS(op, sp_band_props)->high, INT64_MAX)));
}

static damo_status sp_band_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL) return b->status;
  damo_var *g = build_sparse_from(b, gout[0], var_format_of(x));
  damo_var *band = g != NULL ? build_op(b, damo_retain(node->op), &g, 1) : NULL;
  gin[0] = build_move_cotangent(b, band, g, node->out[0], x);
  return b->status;
}

static damo_status sp_band_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *e = build_sparse_from(b, eval[0], var_format_of(node->in[0]));
  if (e != NULL) rout[0] = build_move_tangent(b, build_op(b, damo_retain(node->op), &e, 1), node, eval);
  return b->status;
}

static const op_def sp_band_def = {
    .name = "Band",
    .doc = "the entries of the diagonals from low to high (0: the main one, positive: above)",
    .props = PROPS(PROP(sp_band_props, low), PROP(sp_band_props, high)),
    .n_in = 1,
    .init = sp_band_init,
    .infer_type = sp_band_type,
    .perform = sp_band_perform,
    .grad = sp_band_grad,
    .rop = sp_band_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(band_check),
};

/* ---- Trace, EyeLike ---------------------------------------------------------------------------------------------- */

static const op_def sp_eye_def;

static damo_status sp_trace_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_dense(op, out, reduce_out_dtype(REDUCE_SUM, var_dtype(in[0])), 0, NULL);
}

static damo_status sp_trace_perform(const thunk *t, frame *f) {
  damo_sparse *diagonal = sparse_band(thunk_in_sparse(t, f, 0), 0, 0);
  damo_array *sum = diagonal != NULL ? sparse_sum(diagonal, -1) : NULL;
  damo_release(diagonal);
  return thunk_give(t, f, 0, sum);
}

static damo_status sp_trace_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL || (gin[0] = build_flat_zeros(b, node, 0)) != NULL) return b->status;
  gin[0] = build_class(b, &sp_eye_def, (damo_var *[]){gout[0], x}, 2);
  return b->status;
}

static const op_def sp_trace_def;

/* The trace of a sparse or dense matrix. */
static damo_var *build_any_trace(build *b, damo_var *x) {
  return x == NULL || var_is_sparse(x) ? build_class(b, &sp_trace_def, &x, 1) : build_trace(b, x);
}

static damo_status sp_trace_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node;
  rout[0] = build_any_trace(b, eval[0]);
  return b->status;
}

static const op_def sp_trace_def = {
    .name = "Trace",
    .doc = "the sum of the main diagonal of a sparse matrix",
    .n_in = 1,
    .infer_type = sp_trace_type,
    .perform = sp_trace_perform,
    .grad = sp_trace_grad,
    .rop = sp_trace_rop,
    .infer_shape = infer_shape_scalars,
    .terms = TERMS_LINEAR,
    OP_CHECK(trace_check),
};

static damo_status sp_eye_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  return type_give_like(op, out, in[1], var_dtype(in[0]));
}

static damo_status sp_eye_perform(const thunk *t, frame *f) {
  const damo_array *g = thunk_in(t, f, 0);
  const damo_sparse *x = thunk_in_sparse(t, f, 1);
  damo_sparse *eye = sparse_eye(f->ctx, x->shape[0], x->shape[1], 0, array_dtype(g), sparse_format(x));
  if (eye == NULL) return damo_error_status(f->ctx);
  const size_t size = dtype_size(array_dtype(g));
  kernel_copy_strided(g->data, 0, eye->data->data, (int64_t)size, sparse_nnz(eye), size);
  return thunk_give_sparse(t, f, 0, eye);
}

static damo_status sp_eye_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[0] = build_any_trace(b, gout[0]);
  return b->status;
}

static damo_status sp_eye_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_class(b, &sp_eye_def, (damo_var *[]){eval[0], node->in[1]}, 2);
  return b->status;
}

static damo_status sp_eye_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[1][k];
  return b->status;
}

static const op_def sp_eye_def = {
    .name = "EyeLike",
    .doc = "a scalar along the main diagonal of a sparse matrix's shape",
    .n_in = 2,
    .infer_type = sp_eye_type,
    .perform = sp_eye_perform,
    .grad = sp_eye_grad,
    .rop = sp_eye_rop,
    .infer_shape = sp_eye_shape,
    .connection_pattern = connect_first,
    .pattern = PATTERN_ONCE,
    OP_CHECK(eye_like_check),
};

damo_var *build_sparse_eye(build *b, damo_var *x) {
  return build_class(b, &sp_eye_def, (damo_var *[]){build_scalar(b, var_dtype(x), 1), x}, 2);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_triangle(build *b, const fn_args *a, ptrvec *out, bool lower) {
  const int64_t k = prop_int_or(FN_OPTIONS(a, diagonal_options)->k, 0);
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  const sp_band_props props = {.low = lower ? prop_nil() : prop_int(k), .high = lower ? prop_int(k) : prop_nil()};
  return fn_give(b, out, build_op(b, op_new(b->ctx, &sp_band_def, &props), &x, 1));
}

static damo_status sp_fn_tril(build *b, const fn_args *a, ptrvec *out) { return sp_fn_triangle(b, a, out, true); }
static damo_status sp_fn_triu(build *b, const fn_args *a, ptrvec *out) { return sp_fn_triangle(b, a, out, false); }

static damo_status sp_fn_trace(build *b, const fn_args *a, ptrvec *out) {
  const int64_t k = prop_int_or(FN_OPTIONS(a, diagonal_options)->offset, 0);
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  if (k == 0) return fn_give(b, out, build_class(b, &sp_trace_def, &x, 1));
  return fn_give(b, out, build_reduce(b, REDUCE_SUM, build_any_diagonal(b, x, k), NULL, -1, false));
}

const op_func sparse_band_funcs[] = {
    {.name = "sparse.tril",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT)),
     .call = sp_fn_tril,
     .doc = "the entries on and below the k-th diagonal"},
    {.name = "sparse.triu",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT)),
     .call = sp_fn_triu,
     .doc = "the entries on and above the k-th diagonal"},
    {.name = "sparse.trace",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, offset, OPT_INT)),
     .call = sp_fn_trace,
     .doc = "the sum of the main diagonal, or of the one `offset` above it"},
    {.name = NULL},
};

const op_def *const sparse_band_classes[] = {&sp_band_def, &sp_trace_def, &sp_eye_def, NULL};
