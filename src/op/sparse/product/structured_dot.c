/* structured_dot: products whose gradient for the sparse operand stays on its pattern.
 *
 * StructuredDot: sparse · dense is dense, sparse · sparse is sparse. StructuredDotGradCSC, StructuredDotGradCSR
 * (indices, indptr, b, g): the values of the gradient of a csc or csr matrix, at entry (i, j) the inner product of row
 * i of g and row j of b, both dense; StructuredDotGrad (x, b, g): the same at x's entries for sparse b and g, over the
 * columns that both store.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

/* ---- StructuredDot ----------------------------------------------------------------------------------------------- */

static damo_status structured_dot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(product_check(op, in, 0, 1, false));
  product_shape(in, 0, 1, shape);
  const damo_dtype dt = dtype_promote(var_dtype(in[0]), var_dtype(in[1]));
  if (var_is_dense(in[1])) return type_give_dense(op, out, dt, 2, shape);
  return type_give_sparse(op, out, var_format_of(in[0]), dt, itype_join(var_itype(in[0]), var_itype(in[1])), shape[0],
                          shape[1]);
}

static damo_status structured_dot_perform(const thunk *t, frame *f) {
  int64_t shape[2];
  int n = 0;
  DAMO_TRY(thunk_product_shape(t, f, 0, 1, &n, shape));
  if (thunk_in_is_sparse(t, f, 1)) {
    return thunk_give_product(t, f, sparse_dot_sparse(thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1)));
  }
  damo_array *y = thunk_out(t, f, 0, t->node->out[0]->type->dtype, 2, shape);
  return y != NULL ? thunk_product(t, f, 0, 1, NULL, NULL, y) : damo_error_status(f->ctx);
}

damo_var *build_structured_dot(build *b, damo_var *x, damo_var *y) {
  return build_class(b, &structured_dot_def, (damo_var *[]){x, y}, 2);
}

static damo_var *build_structured_samples(build *b, damo_var *x, damo_var *y, damo_var *g);

/* g, made sparse or dense as the product is. */
static damo_var *build_product_cotangent(build *b, damo_var *g, const damo_var *out) {
  return var_is_sparse(out) ? build_sparse_from(b, g, var_format_of(out)) : build_toarray(b, g);
}

static damo_status structured_dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *y = node->in[1];
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *g = build_product_cotangent(b, gout[0], node->out[0]);
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] != NULL) return b->status;
  gin[0] = build_with_data(b, x, build_structured_samples(b, x, build_conj_if_complex(b, y), g));
  damo_var *xt = build_left_factor(b, build_sparse_transpose(b, build_conj_if_complex(b, x)), y);
  gin[1] = build_structured_dot(b, xt, g);
  return b->status;
}

static damo_status structured_dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *dx = build_tangent(b, eval[0], node->in[0]), *dy = build_tangent(b, eval[1], node->in[1]);
  if (dx != NULL) dx = build_structured_dot(b, dx, node->in[1]);
  if (dy != NULL) dy = build_structured_dot(b, node->in[0], dy);
  rout[0] = build_add_present(b, dx, dy);
  return b->status;
}

const op_def structured_dot_def = {
    .name = "StructuredDot",
    .doc = "sparse times dense or sparse; the sparse operand's gradient stays on its pattern",
    .n_in = 2,
    .infer_type = structured_dot_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = structured_dot_perform,
    .grad = structured_dot_grad,
    .rop = structured_dot_rop,
    .infer_shape = infer_shape_product,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(dot_check),
};

/* ---- StructuredDotGradCSC, StructuredDotGradCSR ------------------------------------------------------------------ */

static bool sampled_csm_is_csr(const damo_op *op) { return op->def == &sampled_csr_def; }

static damo_status sampled_csm_need_indices(const damo_op *op, damo_var *const *in, int i) {
  DAMO_TRY(type_need_dense(op, in, i, 1));
  if (dtype_is_integer(var_dtype(in[i]))) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be integers, got %s", op->def->name, i + 1,
                  dtype_name(var_dtype(in[i])));
}

static damo_status sampled_csm_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 2; i++) DAMO_TRY(sampled_csm_need_indices(op, in, i));
  for (int i = 2; i < 4; i++) DAMO_TRY(type_need_dense(op, in, i, 2));
  DAMO_TRY(type_need_same_length(op, in, 2, 1, 3, 1));
  return type_give_dense(op, out, dtype_promote(var_dtype(in[2]), var_dtype(in[3])), 1, in[0]->type->shape);
}

static damo_status sampled_csm_fail_storage(const thunk *t, frame *f, sparse_verdict v) {
  const char *name = t->node->op->def->name;
  const long long at = (long long)v.position + 1, value = (long long)v.value;
  if (v.flaw == SPARSE_BAD_INDEX) {
    return ctx_fail(f->ctx, DAMO_EINDEX, "%s: entry %lld of indices is %lld, and %s has %lld rows", name, at, value,
                    sampled_csm_is_csr(t->node->op) ? "b" : "g",
                    (long long)array_shape(thunk_in(t, f, sampled_csm_is_csr(t->node->op) ? 2 : 3))[0]);
  }
  return ctx_fail(f->ctx, DAMO_EVALUE,
                  "%s: indptr does not go from 0 up to the %lld entries of indices (entry %lld is %lld)", name,
                  (long long)array_size(thunk_in(t, f, 0)), at, value);
}

static damo_status sampled_csm_check(const thunk *t, frame *f, const sparse_raw *raw, bool wide, bool known) {
  const damo_array *b = thunk_in(t, f, 2), *g = thunk_in(t, f, 3);
  const char *name = t->node->op->def->name;
  const bool csr = sampled_csm_is_csr(t->node->op);
  if (array_shape(b)[1] != array_shape(g)[1]) {
    return fail_shapes(f->ctx, name, 2, array_shape(b), 2, array_shape(g), 1, 1);
  }
  if (raw->major != array_shape(csr ? g : b)[0]) {
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: indptr has %lld entries, expected one more than the %lld rows of %s",
                    name, (long long)raw->major + 1, (long long)array_shape(csr ? g : b)[0], csr ? "g" : "b");
  }
  if (known) return DAMO_OK;
  const sparse_verdict v = f->ctx->isa->sparse.index[wide]->check(raw, array_size(thunk_in(t, f, 0)));
  return v.flaw == SPARSE_FINE ? DAMO_OK : sampled_csm_fail_storage(t, f, v);
}

/* The pattern that passed the check last. Frozen arrays are never written again, so it needs no second check. */
typedef struct sampled_csm_state {
  damo_array *indices, *indptr;
  int64_t minor;
} sampled_csm_state;

static void sampled_csm_clear(const thunk *t, frame *f) {
  sampled_csm_state *s = thunk_state(t, f);
  damo_release(s->indices);
  damo_release(s->indptr);
  *s = (sampled_csm_state){.indices = NULL};
}

static bool sampled_csm_is_frozen(const damo_array *v) { return !v->writeable && v->buf->obj.flags & BUFFER_FROZEN; }

static bool sampled_csm_same_storage(const damo_array *a, const damo_array *b) {
  return a != NULL && a->data == b->data && array_size(a) == array_size(b) && array_dtype(a) == array_dtype(b);
}

static bool sampled_csm_is_known(const thunk *t, frame *f, const damo_array *indices, const damo_array *indptr,
                                 int64_t minor) {
  const sampled_csm_state *s = thunk_state(t, f);
  return sampled_csm_same_storage(s->indices, indices) && sampled_csm_same_storage(s->indptr, indptr) &&
         s->minor == minor;
}

static void sampled_csm_learn(const thunk *t, frame *f, damo_array *indices, damo_array *indptr, int64_t minor) {
  if (!sampled_csm_is_frozen(indices) || !sampled_csm_is_frozen(indptr)) return;
  sampled_csm_clear(t, f);
  *(sampled_csm_state *)thunk_state(t, f) = (sampled_csm_state){damo_retain(indices), damo_retain(indptr), minor};
}

static damo_status sampled_csm_perform(const thunk *t, frame *f) {
  const bool csr = sampled_csm_is_csr(t->node->op);
  const damo_array *in = thunk_in(t, f, 0), *ptr = thunk_in(t, f, 1);
  const bool wide = array_dtype(in) != DAMO_INT32 || array_dtype(ptr) != DAMO_INT32;
  const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32, dt = t->node->out[0]->type->dtype;
  damo_array *idx = array_as_contiguous(in, itype), *ends = idx ? array_as_contiguous(ptr, itype) : NULL;
  damo_array *b = ends ? array_as_contiguous(thunk_in(t, f, 2), dt) : NULL;
  damo_array *g = b ? array_as_contiguous(thunk_in(t, f, 3), dt) : NULL;
  damo_array *out = g ? thunk_out(t, f, 0, dt, 1, array_shape(in)) : NULL;
  damo_status s = out != NULL ? DAMO_OK : damo_error_status(f->ctx);
  if (out != NULL) {
    const sparse_raw raw = {array_size(ends) - 1, array_shape(csr ? b : g)[0], ends->data, idx->data, NULL, f->ctx};
    const bool known = sampled_csm_is_known(t, f, idx, ends, raw.minor);
    s = sampled_csm_check(t, f, &raw, wide, known);
    if (s == DAMO_OK && !known) sampled_csm_learn(t, f, idx, ends, raw.minor);
    if (s == DAMO_OK) sparse_sample_rows(&raw, wide, csr ? g : b, csr ? b : g, out->data);
  }
  damo_release(idx);
  damo_release(ends);
  damo_release(b);
  damo_release(g);
  return s;
}

/* The sparse matrix with these values and the node's indices and indptr. */
static damo_var *build_sampled_matrix(build *b, damo_apply *node, damo_var *values) {
  damo_var *dims[2] = {build_dim(b, node->in[3], 0), build_dim(b, node->in[2], 0)};
  if (b->status != DAMO_OK) return NULL;
  const damo_format format = sampled_csm_is_csr(node->op) ? DAMO_CSR : DAMO_CSC;
  return build_csm(b, format, values, node->in[0], node->in[1], build_vector(b, dims, 2));
}

/* With V the matrix of the cotangent's values: the gradient of b is Vᵀ·g, that of g is V·b. */
static damo_status sampled_csm_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *v = build_sampled_matrix(b, node, gout[0]), *y = node->in[2], *g = node->in[3];
  gin[2] = build_flat_zeros(b, node, 2);
  gin[3] = build_flat_zeros(b, node, 3);
  if (gin[2] != NULL) return b->status;
  gin[2] = build_structured_dot(b, build_sparse_transpose(b, v), build_conj_if_complex(b, g));
  gin[3] = build_structured_dot(b, v, build_conj_if_complex(b, y));
  return b->status;
}

/* Forward mode of Ops that are linear in each of the inputs `first` and first + 1. */
static damo_status sampled_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout, int first) {
  damo_var *sum = NULL;
  for (int k = first; k < first + 2; k++) {
    damo_var *in[4], *dk = build_tangent(b, eval[k], node->in[k]);
    if (dk == NULL) continue;
    for (int i = 0; i < node->n_in; i++) in[i] = i == k ? dk : node->in[i];
    sum = build_add_present(b, sum, build_op(b, damo_retain(node->op), in, node->n_in));
  }
  rout[0] = sum;
  return b->status;
}

static damo_status sampled_csm_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sampled_rop(b, node, eval, rout, 2);
}

static void sampled_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in - 2; i++) connected[i] = false;
}

#define SAMPLES(title, symbol, text)                                                                       \
  {                                                                                                        \
    .name = title, .doc = text, .n_in = 4, .infer_type = sampled_csm_type, .perform = sampled_csm_perform, \
    .state_size = sizeof(sampled_csm_state), .state_clear = sampled_csm_clear, .grad = sampled_csm_grad,   \
    .rop = sampled_csm_rop, .infer_shape = infer_shape_same, .connection_pattern = sampled_connect,        \
    .terms = TERMS_LINEAR, OP_CHECK(symbol),                                                               \
  }

const op_def sampled_csc_def =
    SAMPLES("StructuredDotGradCSC", sampled_csc_check,
            "the values of a csc operand's gradient in StructuredDot, from dense b and cotangent");
const op_def sampled_csr_def =
    SAMPLES("StructuredDotGradCSR", sampled_csr_check,
            "the values of a csr operand's gradient in StructuredDot, from dense b and cotangent");

damo_var *build_samples(build *b, damo_var *x, damo_var *rows, damo_var *cols) {
  if (x == NULL || rows == NULL || cols == NULL || b->status != DAMO_OK) return NULL;
  damo_var *in[4] = {build_indices(b, x), build_indptr(b, x), cols, rows};
  return build_class(b, var_format_of(x) == DAMO_CSR ? &sampled_csr_def : &sampled_csc_def, in, 4);
}

/* ---- StructuredDotGrad ------------------------------------------------------------------------------------------- */

static damo_status sampled_sparse_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 3; i++) DAMO_TRY(type_need_sparse(op, in, i));
  DAMO_TRY(type_need_same_length(op, in, 0, 0, 2, 0));
  DAMO_TRY(type_need_same_length(op, in, 0, 1, 1, 0));
  DAMO_TRY(type_need_same_length(op, in, 1, 1, 2, 1));
  return type_give_dense(op, out, dtype_promote(var_dtype(in[1]), var_dtype(in[2])), 1, NULL);
}

static damo_status sampled_sparse_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0), *b = thunk_in_sparse(t, f, 1), *g = thunk_in_sparse(t, f, 2);
  const char *name = t->node->op->def->name;
  if (b->shape[1] != g->shape[1]) return fail_shapes(f->ctx, name, 2, b->shape, 2, g->shape, 1, 1);
  if (x->shape[0] != g->shape[0]) return fail_shapes(f->ctx, name, 2, x->shape, 2, g->shape, 0, 0);
  if (x->shape[1] != b->shape[0]) return fail_shapes(f->ctx, name, 2, x->shape, 2, b->shape, 1, 0);
  return thunk_give(t, f, 0, sparse_sample_sparse(x, g, b));
}

static damo_status sampled_sparse_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *v = build_with_data(b, node->in[0], gout[0]), *y = node->in[1], *g = node->in[2];
  gin[1] = build_structured_dot(b, build_left_factor(b, build_sparse_transpose(b, v), y), build_conj_if_complex(b, g));
  gin[2] = build_structured_dot(b, build_left_factor(b, v, g), build_conj_if_complex(b, y));
  return b->status;
}

static damo_status sampled_sparse_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sampled_rop(b, node, eval, rout, 1);
}

static damo_status sampled_sparse_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_nnz(b, node->in[0]);
  return b->status;
}

static const op_def sampled_sparse_def = {
    .name = "StructuredDotGrad",
    .doc = "the values of the first operand's gradient in StructuredDot of two sparse matrices",
    .n_in = 3,
    .infer_type = sampled_sparse_type,
    .perform = sampled_sparse_perform,
    .grad = sampled_sparse_grad,
    .rop = sampled_sparse_rop,
    .infer_shape = sampled_sparse_shape,
    .connection_pattern = sampled_connect,
    .terms = TERMS_LINEAR,
    OP_CHECK(sampled_sparse_check),
};

static damo_var *build_structured_samples(build *b, damo_var *x, damo_var *y, damo_var *g) {
  if (y == NULL || g == NULL || b->status != DAMO_OK) return NULL;
  return var_is_dense(y) ? build_samples(b, x, g, y) : build_samples_both(b, x, g, y);
}

damo_var *build_samples_both(build *b, damo_var *x, damo_var *rows, damo_var *cols) {
  return build_class(b, &sampled_sparse_def, (damo_var *[]){x, cols, rows}, 3);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* dense · sparse is computed as the transpose of yᵀ·xᵀ, which begins with the sparse operand. */
static damo_status sp_fn_structured_dot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = any_operand(b, a, 0), *y = any_operand(b, a, 1);
  if (x == NULL || y == NULL) return b->status;
  if (var_ndim(x) == 1 || var_ndim(y) == 1) {
    const bool first = var_ndim(x) == 1;
    return ctx_fail(b->ctx, DAMO_ETYPE,
                    "structured_dot: operand %d is a vector, both must be matrices: damo.dot(x, y) takes vectors; or "
                    "make it a %s, damo.dimshuffle(%s)",
                    first ? 1 : 2, first ? "row" : "column", first ? "x, {\"x\", 1}" : "y, {1, \"x\"}");
  }
  const damo_dtype dt = dtype_promote(var_dtype(x), var_dtype(y));
  x = build_cast(b, x, dt);
  y = build_cast(b, y, dt);
  if (x == NULL || y == NULL) return b->status;
  if (var_is_sparse(x) || !var_is_sparse(y)) return fn_give(b, out, build_structured_dot(b, x, y));
  if (var_ndim(x) != 2) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "structured_dot: operand 1 must be a matrix, got rank %d", var_ndim(x));
  }
  damo_var *transposed = build_structured_dot(b, build_sparse_transpose(b, y), build_transpose(b, x));
  return fn_give(b, out, transposed ? build_transpose(b, transposed) : NULL);
}

const op_func sparse_structured_dot_funcs[] = {
    {.name = "sparse.structured_dot",
     .operands = "x y",
     .call = sp_fn_structured_dot,
     .doc =
         "the product of two matrices, one of them sparse: dense, or sparse where both are; the gradient of a sparse "
         "first operand stays on its pattern"},
    {.name = NULL},
};

const op_def *const sparse_structured_dot_classes[] = {&structured_dot_def, &sampled_csc_def, &sampled_csr_def,
                                                       &sampled_sparse_def, NULL};

#undef SAMPLES
