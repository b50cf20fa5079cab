/* sampling: products of dense matrices at the stored positions of a sparse one (sddmm).
 *
 * SamplingDot (x, y, p): p ∘ (x·yᵀ), x and y dense with equally many columns. The result stores p's positions, sorted
 * and without duplicates, and only there products are computed.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

static damo_dtype sampling_dot_dtype(damo_var *const *in) {
  return dtype_promote(dtype_promote(var_dtype(in[0]), var_dtype(in[1])), var_dtype(in[2]));
}

static damo_status sampling_dot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 2));
  DAMO_TRY(type_need_dense(op, in, 1, 2));
  DAMO_TRY(type_need_sparse(op, in, 2));
  DAMO_TRY(type_need_same_length(op, in, 0, 1, 1, 1));
  DAMO_TRY(type_need_same_length(op, in, 0, 0, 2, 0));
  DAMO_TRY(type_need_same_length(op, in, 1, 0, 2, 1));
  return type_give_like(op, out, in[2], sampling_dot_dtype(in));
}

static damo_status sampling_dot_check_shapes(const thunk *t, frame *f) {
  const int64_t *x = array_shape(thunk_in(t, f, 0)), *y = array_shape(thunk_in(t, f, 1)),
                *p = thunk_in_sparse(t, f, 2)->shape;
  const char *name = t->node->op->def->name;
  if (x[1] != y[1]) return fail_shapes(f->ctx, name, 2, x, 2, y, 1, 1);
  if (x[0] == p[0] && y[0] == p[1]) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: x·yᵀ has shape (%lld, %lld), and p (%lld, %lld)", name, (long long)x[0],
                  (long long)y[0], (long long)p[0], (long long)p[1]);
}

/* The dtype of x·yᵀ. For bool operands it is bool as in a dense dot: a logical or, not a count. */
static damo_dtype sampling_dot_product_dtype(damo_var *const *in) {
  const bool both = var_dtype(in[0]) == DAMO_BOOL && var_dtype(in[1]) == DAMO_BOOL;
  return both ? DAMO_BOOL : sampling_dot_dtype(in);
}

/* The inner products at p's positions, a vector: z's data where that has their dtype, else a new array. NULL: no
 * memory. */
static damo_array *sampling_dot_products(const damo_sparse *p, const damo_array *x, const damo_array *y,
                                         damo_sparse *z) {
  const sparse_raw at = sparse_raw_of(p);
  const bool csr = p->format == DAMO_CSR, separate = array_dtype(x) != sparse_dtype(z);
  const int64_t nnz = sparse_nnz(p);
  damo_array *v = separate ? array_empty(p->obj.ctx, array_dtype(x), 1, &nnz) : damo_retain(z->data);
  if (v != NULL) sparse_sample_rows(&at, sparse_is_wide(p), csr ? x : y, csr ? y : x, v->data);
  return v;
}

/* z = p ∘ (x·yᵀ), z's dtype being the result's; x and y have that of their products. */
static damo_status sampling_dot_sample(const damo_sparse *p, const damo_array *x, const damo_array *y, damo_sparse *z) {
  const damo_dtype dt = sparse_dtype(z);
  damo_array *weights = array_as_contiguous(p->data, dt), *v = weights ? sampling_dot_products(p, x, y, z) : NULL;
  damo_array *dots = v ? array_as_contiguous(v, dt) : NULL;
  if (dots != NULL) {
    sparse_run_kernel(p->obj.ctx, p->obj.ctx->isa->mul->fn[dt], dt, sparse_nnz(p), dots->data, weights->data,
                      z->data->data);
  }
  damo_release(weights);
  damo_release(v);
  damo_release(dots);
  return dots != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status sampling_dot_perform(const thunk *t, frame *f) {
  DAMO_TRY(sampling_dot_check_shapes(t, f));
  const damo_dtype dt = t->node->out[0]->type->dtype;
  const damo_dtype own = sampling_dot_product_dtype(t->node->in);
  damo_sparse *p = sparse_sum_duplicates(thunk_in_sparse(t, f, 2)), *z = NULL;
  damo_array *x = p ? array_as_contiguous(thunk_in(t, f, 0), own) : NULL;
  damo_array *y = x ? array_as_contiguous(thunk_in(t, f, 1), own) : NULL;
  damo_status s = y != NULL ? DAMO_OK : damo_error_status(f->ctx);
  if (y != NULL) {
    z = thunk_out_like(t, f, 0, p, dt);
    s = z != NULL ? sampling_dot_sample(p, x, y, z) : DAMO_EMEMORY;
  }
  damo_release(p);
  damo_release(x);
  damo_release(y);
  return s;
}

static damo_var *build_sampling_dot(build *b, damo_var *x, damo_var *y, damo_var *p) {
  return build_class(b, &sampling_dot_def, (damo_var *[]){x, y, p}, 3);
}

/* With w = g ∘ conj(p) the gradients of x and y are w·conj(y) and wᵀ·conj(x); that of p is g times the samples. */
static damo_status sampling_dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *y = node->in[1], *p = node->in[2];
  if (gout[0] == NULL) return DAMO_OK;
  for (int i = 0; i < 3; i++) gin[i] = build_flat_zeros(b, node, i);
  if (gin[0] != NULL) return b->status;
  damo_var *g = build_gather(b, gout[0], p), *xc = build_conj_if_complex(b, x), *yc = build_conj_if_complex(b, y);
  damo_var *weights = g ? build_mul(b, g, build_conj_if_complex(b, build_data(b, p))) : NULL;
  damo_var *w = build_with_data(b, p, weights);
  gin[0] = build_sparse_dot(b, w, yc);
  gin[1] = build_sparse_dot(b, build_sparse_transpose(b, w), xc);
  damo_var *samples = g ? build_samples(b, p, xc, yc) : NULL;
  gin[2] = samples ? build_with_data(b, p, build_mul(b, g, samples)) : NULL;
  return b->status;
}

static damo_status sampling_dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *sum = NULL;
  for (int k = 0; k < 3; k++) {
    damo_var *d = build_tangent(b, eval[k], node->in[k]);
    if (d == NULL) continue;
    damo_var *term =
        build_sampling_dot(b, k == 0 ? d : node->in[0], k == 1 ? d : node->in[1], k == 2 ? d : node->in[2]);
    sum = sum ? build_add(b, sum, term) : term;
  }
  rout[0] = sum;
  return b->status;
}

static damo_status sampling_dot_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[2][k];
  return b->status;
}

const op_def sampling_dot_def = {
    .name = "SamplingDot",
    .doc = "p * dot(x, y.T) at p's stored positions",
    .n_in = 3,
    .infer_type = sampling_dot_type,
    .perform = sampling_dot_perform,
    .grad = sampling_dot_grad,
    .rop = sampling_dot_rop,
    .infer_shape = sampling_dot_shape,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(sampling_check),
};

static damo_status sp_fn_sampling(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3];
  for (int i = 0; i < 3; i++) in[i] = any_operand(b, a, i);
  if (b->status != DAMO_OK) return b->status;
  const damo_dtype dt = sampling_dot_dtype(in), own = sampling_dot_product_dtype(in);
  for (int i = 0; i < 3; i++) in[i] = build_cast(b, in[i], i < 2 ? own : dt);
  return fn_give(b, out, build_class(b, &sampling_dot_def, in, 3));
}

const op_func sparse_sampling_funcs[] = {
    {.name = "sparse.sampling_dot",
     .operands = "x y p",
     .call = sp_fn_sampling,
     .doc = "p * dot(x, y.T), computed at the stored positions of the sparse p alone; x and y are dense"},
    {.name = NULL},
};

const op_def *const sparse_sampling_classes[] = {&sampling_dot_def, NULL};
