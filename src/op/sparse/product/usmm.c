/* usmm: alpha·x·y + z with z dense.
 *
 * Usmm takes any dtypes and a sparse x, y or both. UsmmCscDense and UsmmCsrDense take one dtype, a csc or csr x and a
 * dense y; with inplace they destroy z. Inputs: alpha, x, y, z.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

enum { USMM_ALPHA, USMM_X, USMM_Y, USMM_Z };

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_status usmm_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  damo_dtype dt = var_dtype(in[0]);
  DAMO_TRY(type_need_dense(op, in, USMM_ALPHA, 0));
  DAMO_TRY(product_check(op, in, USMM_X, USMM_Y, false));
  DAMO_TRY(type_need_dense(op, in, USMM_Z, 2));
  DAMO_TRY(type_need_same_length(op, in, USMM_Z, 0, USMM_X, 0));
  DAMO_TRY(type_need_same_length(op, in, USMM_Z, 1, USMM_Y, 1));
  for (int i = 1; i < n_in; i++) dt = dtype_promote(dt, var_dtype(in[i]));
  product_shape(in, USMM_X, USMM_Y, shape);
  for (int k = 0; k < 2; k++) shape[k] = shape[k] >= 0 ? shape[k] : in[USMM_Z]->type->shape[k];
  return type_give_dense(op, out, dt, 2, shape);
}

static damo_status usmm_special_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const damo_format format = op->def == &usmm_csc_dense_def ? DAMO_CSC : DAMO_CSR;
  DAMO_TRY(type_need_sparse(op, in, USMM_X));
  DAMO_TRY(type_need_dense(op, in, USMM_Y, 2));
  if (var_format_of(in[USMM_X]) != format) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand 2 must be %s", op->def->name, sparse_format_name(format));
  }
  for (int i = 0; i < n_in; i++) {
    if (type_has_shape(in[i]->type) && var_dtype(in[i]) != var_dtype(in[USMM_Z])) {
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operands must have one dtype, got %s and %s", op->def->name,
                      dtype_name(var_dtype(in[i])), dtype_name(var_dtype(in[USMM_Z])));
    }
  }
  return usmm_type(op, in, n_in, out);
}

static const op_alias usmm_destroys_z[] = {{0, USMM_Z}, OP_ALIAS_END};

static damo_status usmm_special_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, inplace_props)->inplace;
  if (v->kind == PROP_BOOL && v->u.i) op->destroy_map = usmm_destroys_z;
  return DAMO_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static damo_status usmm_check_shapes(const thunk *t, frame *f) {
  int64_t shape[2];
  int n = 0;
  const int64_t *z = array_shape(thunk_in(t, f, USMM_Z));
  DAMO_TRY(thunk_product_shape(t, f, USMM_X, USMM_Y, &n, shape));
  if (z[0] == shape[0] && z[1] == shape[1]) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: x·y has shape (%lld, %lld), and z (%lld, %lld)", t->node->op->def->name,
                  (long long)shape[0], (long long)shape[1], (long long)z[0], (long long)z[1]);
}

static damo_status usmm_perform(const thunk *t, frame *f) {
  DAMO_TRY(usmm_check_shapes(t, f));
  const damo_dtype dt = t->node->out[0]->type->dtype;
  const damo_array *alpha = thunk_in(t, f, USMM_ALPHA);
  _Alignas(16) char factor[16];
  kernel_cast(array_dtype(alpha), dt)(alpha->data, factor, 1);
  if (t->node->op->destroy_map != NULL) {
    damo_array *y = thunk_out_inplace(t, f, 0, USMM_Z);
    return y != NULL ? thunk_product(t, f, USMM_X, USMM_Y, factor, y, y) : damo_error_status(f->ctx);
  }
  damo_array *z = thunk_in(t, f, USMM_Z), *own = array_dtype(z) == dt ? damo_retain(z) : array_cast(z, dt);
  damo_array *y = own ? thunk_out(t, f, 0, dt, 2, array_shape(own)) : NULL;
  const damo_status s = y != NULL ? thunk_product(t, f, USMM_X, USMM_Y, factor, own, y) : damo_error_status(f->ctx);
  damo_release(own);
  return s;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* The gradient of x in x·y: at x's stored positions where x is sparse and y dense, else at all positions. */
static damo_var *build_usmm_grad_x(build *b, damo_var *x, damo_var *y, damo_var *g) {
  if (var_is_sparse(x) && var_is_dense(y)) return build_with_data(b, x, build_samples(b, x, g, y));
  return build_any_dot(b, g, build_sparse_transpose(b, y));
}

static damo_var *build_usmm_grad_y(build *b, damo_var *x, damo_var *y, damo_var *g) {
  damo_var *xt = build_sparse_transpose(b, x);
  if (var_is_sparse(y) && var_is_dense(x)) return build_with_data(b, y, build_samples(b, y, xt, build_transpose(b, g)));
  return build_any_dot(b, xt, g);
}

/* The gradient of a sparse operand beside a dense one is structured, so that it takes no more memory than the
 * operand. */
static damo_status usmm_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *alpha = node->in[USMM_ALPHA], *x = node->in[USMM_X], *y = node->in[USMM_Y];
  if (g == NULL) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) gin[i] = build_flat_zeros(b, node, i);
  if (gin[0] != NULL) return b->status;
  damo_var *xc = build_conj_if_complex(b, x), *yc = build_conj_if_complex(b, y),
           *scaled = build_mul(b, build_conj_if_complex(b, alpha), g);
  damo_var *product = build_mul(b, g, build_sparse_dot(b, xc, yc));
  gin[USMM_ALPHA] = build_reduce(b, REDUCE_SUM, product, NULL, -1, false);
  gin[USMM_X] = build_usmm_grad_x(b, x, yc, scaled);
  gin[USMM_Y] = build_usmm_grad_y(b, xc, y, scaled);
  gin[USMM_Z] = g;
  return b->status;
}

static damo_status usmm_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *d[4], *const *in = node->in, *sum = NULL;
  for (int i = 0; i < 4; i++) d[i] = build_tangent(b, eval[i], in[i]);
  if (d[USMM_X]) sum = build_sparse_dot(b, d[USMM_X], in[USMM_Y]);
  if (d[USMM_Y]) sum = build_add_present(b, sum, build_sparse_dot(b, in[USMM_X], d[USMM_Y]));
  if (sum) sum = build_mul(b, in[USMM_ALPHA], sum);
  if (d[USMM_ALPHA])
    sum = build_add_present(b, sum, build_mul(b, d[USMM_ALPHA], build_sparse_dot(b, in[USMM_X], in[USMM_Y])));
  rout[0] = build_add_present(b, sum, d[USMM_Z]);
  return b->status;
}

static damo_status usmm_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[USMM_Z][k];
  return b->status;
}

const op_def usmm_def = {
    .name = "Usmm",
    .doc = "alpha * dot(x, y) + z; x or y sparse, z dense",
    .n_in = 4,
    .infer_type = usmm_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = usmm_perform,
    .grad = usmm_grad,
    .rop = usmm_rop,
    .infer_shape = usmm_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(usmm_check),
};

const op_def usmm_csc_dense_def = {
    .name = "UsmmCscDense",
    .doc = "alpha * dot(x, y) + z of a csc x and a dense y; inplace: into z",
    .props = PROPS(PROP_FLAG(inplace_props, inplace)),
    .n_in = 4,
    .init = usmm_special_init,
    .infer_type = usmm_special_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = usmm_perform,
    .grad = usmm_grad,
    .rop = usmm_rop,
    .infer_shape = usmm_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(usmm_check),
};

const op_def usmm_csr_dense_def = {
    .name = "UsmmCsrDense",
    .doc = "alpha * dot(x, y) + z of a csr x and a dense y; inplace: into z",
    .props = PROPS(PROP_FLAG(inplace_props, inplace)),
    .n_in = 4,
    .init = usmm_special_init,
    .infer_type = usmm_special_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = usmm_perform,
    .grad = usmm_grad,
    .rop = usmm_rop,
    .infer_shape = usmm_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(usmm_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

damo_var *build_usmm(build *b, damo_var *alpha, damo_var *x, damo_var *y, damo_var *z) {
  damo_var *in[4] = {alpha, x, y, z};
  if (build_resolve(b, in, 4, false, in) != DAMO_OK) return NULL;
  damo_dtype dt = var_dtype(in[0]);
  for (int i = 1; i < 4; i++) {
    if (!type_has_shape(in[i]->type)) return build_class(b, &usmm_def, in, 4); /* which refuses it */
    dt = dtype_promote(dt, var_dtype(in[i]));
  }
  for (int i = 0; i < 4; i++) in[i] = build_cast(b, in[i], dt);
  return build_class(b, &usmm_def, in, 4);
}

static damo_status sp_fn_usmm(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_usmm(b, a->in[USMM_ALPHA], a->in[USMM_X], a->in[USMM_Y], a->in[USMM_Z]));
}

const op_func sparse_usmm_funcs[] = {
    {.name = "sparse.usmm",
     .operands = "alpha x y z",
     .call = sp_fn_usmm,
     .doc = "alpha * dot(x, y) + z, dense; alpha a scalar, x or y sparse, z a dense matrix",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_usmm_classes[] = {&usmm_def, &usmm_csc_dense_def, &usmm_csr_dense_def, NULL};
