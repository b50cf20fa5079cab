/* dot: products with a sparse operand and regular gradients, which are taken at all positions.
 *
 * Dot: a dense result; operands are sparse or dense matrices or dense vectors, at least one of them sparse. TrueDot
 * (grad_preserves_dense): a sparse result of two matrices of one dtype. The other files of products share this file's
 * checks, shapes and run of a product into a dense array.
 */
#include "graph/c_emit.h"
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct true_dot_props {
  prop_value grad_preserves_dense;
} true_dot_props;

/* ---- Shared ------------------------------------------------------------------------------------------------------ */

static damo_status sp_dot_check_operand(const damo_op *op, damo_var *const *in, int i, bool vectors) {
  if (vectors && var_is_dense(in[i]) && var_ndim(in[i]) == 1) return DAMO_OK;
  return type_need_matrix(op, in, i);
}

damo_status product_check(const damo_op *op, damo_var *const *in, int i, int j, bool vectors) {
  DAMO_TRY(sp_dot_check_operand(op, in, i, vectors));
  DAMO_TRY(sp_dot_check_operand(op, in, j, vectors));
  const damo_type *x = in[i]->type, *y = in[j]->type;
  char tx[320], ty[320];
  if (!type_is_sparse(x) && !type_is_sparse(y)) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d or %d must be sparse, got %s and %s", op->def->name, i + 1,
                    j + 1, type_format(tx, sizeof tx, x), type_format(ty, sizeof ty, y));
  }
  const int64_t m = x->shape[x->ndim - 1], n = y->shape[0];
  if (m < 0 || n < 0 || m == n) return DAMO_OK;
  return fail_shapes(op->obj.ctx, op->def->name, x->ndim, x->shape, y->ndim, y->shape, x->ndim - 1, 0);
}

int product_shape(damo_var *const *in, int i, int j, int64_t *shape) {
  const damo_type *x = in[i]->type, *y = in[j]->type;
  int n = 0;
  if (x->ndim == 2) shape[n++] = x->shape[0];
  if (y->ndim == 2) shape[n++] = y->shape[1];
  return n;
}

damo_status thunk_product_shape(const thunk *t, frame *f, int i, int j, int *ndim, int64_t *shape) {
  int nx, ny, n = 0;
  const int64_t *x = value_shape(thunk_value(t, f, i), &nx), *y = value_shape(thunk_value(t, f, j), &ny);
  if (x[nx - 1] != y[0]) return fail_shapes(f->ctx, t->node->op->def->name, nx, x, ny, y, nx - 1, 0);
  if (nx == 2) shape[n++] = x[0];
  if (ny == 2) shape[n++] = y[1];
  *ndim = n;
  return DAMO_OK;
}

/* y = z + alpha·a·x, or alpha·x·a where `left`, with one sparse operand a: spmv or spmm. */
static damo_status sp_dot_run_dense(const thunk *t, frame *f, damo_sparse *a, damo_array *x, bool left,
                                    const void *alpha, const damo_array *z, damo_array *y) {
  const damo_dtype dt = array_dtype(y);
  damo_status s = DAMO_EMEMORY;
  damo_sparse *own = sparse_cast(a, dt);
  damo_array *dense = own ? (array_dtype(x) == dt ? damo_retain(x) : array_cast(x, dt)) : NULL;
  if (dense != NULL) {
    const sparse_product p = {own, false, left, alpha, dense, z, y, thunk_state(t, f)};
    const size_t size = sparse_product_workspace(&p);
    void *workspace = size > 0 ? thunk_scratch(t, f, size) : NULL;
    if (size == 0 || workspace != NULL) {
      sparse_product_run(&p, workspace);
      s = DAMO_OK;
    }
  }
  damo_release(own);
  damo_release(dense);
  return s;
}

/* y = z + alpha·a·b with two sparse operands: spgemm into a dense array. */
static damo_status sp_dot_run_sparse(damo_sparse *a, damo_sparse *b, const void *alpha, const damo_array *z,
                                     damo_array *y) {
  damo_sparse *x = sparse_cast(a, array_dtype(y)), *own = x ? sparse_cast(b, array_dtype(y)) : NULL;
  damo_status s = own != NULL ? DAMO_OK : DAMO_EMEMORY;
  if (s == DAMO_OK && z == NULL)
    array_zero_bytes(y->obj.ctx, y->data, (size_t)array_size(y) * dtype_size(array_dtype(y)));
  if (s == DAMO_OK && z != NULL && z != y) s = array_assign(y, z);
  if (s == DAMO_OK) s = sparse_add_product(x, own, alpha, y);
  damo_release(x);
  damo_release(own);
  return s;
}

damo_status thunk_product(const thunk *t, frame *f, int i, int j, const void *alpha, const damo_array *z,
                          damo_array *y) {
  if (!thunk_in_is_sparse(t, f, i))
    return sp_dot_run_dense(t, f, thunk_in_sparse(t, f, j), thunk_in(t, f, i), true, alpha, z, y);
  if (!thunk_in_is_sparse(t, f, j))
    return sp_dot_run_dense(t, f, thunk_in_sparse(t, f, i), thunk_in(t, f, j), false, alpha, z, y);
  return sp_dot_run_sparse(thunk_in_sparse(t, f, i), thunk_in_sparse(t, f, j), alpha, z, y);
}

damo_status thunk_give_product(const thunk *t, frame *f, damo_sparse *take) {
  if (take == NULL) return damo_error_status(f->ctx);
  const damo_dtype asked = (damo_dtype)t->node->out[0]->type->itype;
  const int64_t *shape = take->shape;
  damo_sparse *out = sparse_to_itype(take, sparse_itype_for(asked, shape[0], shape[1], sparse_nnz(take)));
  damo_release(take);
  return thunk_give(t, f, 0, out);
}

/* The factor is not converted for a csc x: that would take an array along x's rows, which may be far more than its
 * columns. */
damo_var *build_left_factor(build *b, damo_var *left, const damo_var *x) {
  if (left == NULL || b->status != DAMO_OK) return NULL;
  const bool converts = var_is_sparse(left) && var_is_sparse(x) && var_format_of(x) == DAMO_CSR;
  return converts ? build_to_format(b, left, DAMO_CSR) : left;
}

damo_var *build_tangent(build *b, damo_var *tangent, damo_var *x) {
  if (tangent == NULL) return NULL;
  if (var_is_sparse(x)) tangent = build_sparse_from(b, tangent, var_format_of(x));
  damo_dtype dt = var_dtype(x);
  return build_cast(b, tangent, dtype_is_discrete(dt) ? b->ctx->config.floatX : dt);
}

/* ---- Dot --------------------------------------------------------------------------------------------------------- */

static damo_status sp_dot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(product_check(op, in, 0, 1, true));
  const int n = product_shape(in, 0, 1, shape);
  return type_give_dense(op, out, dtype_promote(var_dtype(in[0]), var_dtype(in[1])), n, shape);
}

static damo_status sp_dot_perform(const thunk *t, frame *f) {
  int64_t shape[2];
  int n = 0;
  DAMO_TRY(thunk_product_shape(t, f, 0, 1, &n, shape));
  damo_array *y = thunk_out(t, f, 0, t->node->out[0]->type->dtype, n, shape);
  return y != NULL ? thunk_product(t, f, 0, 1, NULL, NULL, y) : damo_error_status(f->ctx);
}

damo_var *build_any_dot(build *b, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x) && !var_is_sparse(y)) return build_dot_nd(b, x, y);
  damo_var *pair[2] = {x, y};
  return build_promoted(b, pair) == DAMO_OK ? build_class(b, &sparse_dot_def, pair, 2) : NULL;
}

/* Regular gradients: dense, also for a sparse operand. */
static damo_status sp_dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (g == NULL) return DAMO_OK;
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] != NULL) return b->status;
  damo_var *xc = build_conj_if_complex(b, x), *yc = build_conj_if_complex(b, y);
  if (var_ndim(x) == 1) {
    gin[0] = build_any_dot(b, yc, g);
    gin[1] = build_outer(b, xc, g);
  } else {
    gin[0] = var_ndim(y) == 1 ? build_outer(b, g, yc) : build_any_dot(b, g, build_sparse_transpose(b, yc));
    gin[1] = build_any_dot(b, build_sparse_transpose(b, xc), g);
  }
  return b->status;
}

static damo_status sp_dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *dx = eval[0] ? build_any_dot(b, eval[0], node->in[1]) : NULL;
  damo_var *dy = eval[1] ? build_any_dot(b, node->in[0], eval[1]) : NULL;
  rout[0] = build_add_present(b, dx, dy);
  return b->status;
}

/* y = a x, or x a where `left`, by the stored entries of a known matrix. */
static damo_status sp_dot_emit(c_emit *e, const damo_sparse *a, const c_value *x, bool left, const c_value *y) {
  const bool csr = a->format == DAMO_CSR,
             major_out = csr != left; /* whether a major vector is an entry of the result */
  const int x_axis = left ? x->ndim - 1 : 0, y_axis = left ? y->ndim - 1 : 0;
  const int64_t n = x->ndim == 2 ? x->shape[1 - x_axis] : 1;
  const int64_t step_x = x->ndim == 2 ? x->strides[1 - x_axis] : 0, step_y = y->ndim == 2 ? y->strides[1 - y_axis] : 0;
  if (x->shape[x_axis] != a->shape[left ? 0 : 1]) return ce_refuse(e, "its operands' shapes do not agree");
  if (!dtype_is_float(y->dtype)) return ce_refuse(e, "of %s", dtype_name(y->dtype));
  ce_fill(e, y, "0");
  if (ce_size(y) == 0 || sparse_nnz(a) == 0) return e->status;
  const c_value *indptr = ce_constant(e, damo_retain(a->indptr)), *indices = ce_constant(e, damo_retain(a->indices));
  const c_value *data = ce_constant(e, array_cast(a->data, y->dtype));
  if (indptr == NULL || indices == NULL || data == NULL) return e->status;
  ce_for(e, "i", sparse_major(a));
  ce_open(e, "for (ptrdiff_t p = %s[i]; p < %s[i + 1]; p++)", ce_p(e, indptr), ce_p(e, indptr));
  ce_line(e, "const ptrdiff_t j = %s[p];", ce_p(e, indices));
  ce_for(e, "k", n);
  const char *value = ce_cast(e, x->dtype, y->dtype,
                              ce_text(e, "%s[%s * %lld + k * %lld]", ce_p(e, x), major_out ? "j" : "i",
                                      (long long)x->strides[x_axis], (long long)step_x));
  ce_line(e, "%s[%s * %lld + k * %lld] += %s[p] * %s;", ce_p(e, y), major_out ? "i" : "j",
          (long long)y->strides[y_axis], (long long)step_y, ce_p(e, data), value);
  for (int k = 0; k < 3; k++) ce_close(e);
  return e->status;
}

static damo_status sp_dot_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *y = ce_in(e, 1);
  int64_t shape[2];
  int n = 0;
  if (x->sparse != NULL && y->sparse != NULL) return ce_refuse(e, "of two sparse matrices");
  if (x->ndim == 2) shape[n++] = x->shape[0];
  if (y->ndim == 2) shape[n++] = y->shape[1];
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, shape);
  if (out == NULL) return e->status;
  return x->sparse != NULL ? sp_dot_emit(e, x->sparse, y, false, out) : sp_dot_emit(e, y->sparse, x, true, out);
}

const op_def sparse_dot_def = {
    .name = "SparseDot",
    .script_name = "Dot",
    .doc = "the dense product of matrices and vectors, one of them sparse",
    .n_in = 2,
    .infer_type = sp_dot_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = sp_dot_perform,
    .emit_c = sp_dot_emit_c,
    .grad = sp_dot_grad,
    .rop = sp_dot_rop,
    .infer_shape = infer_shape_product,
    .terms = TERMS_LINEAR,
    OP_CHECK(dot_check),
};

damo_var *build_sparse_dot(build *b, damo_var *x, damo_var *y) {
  return build_class(b, &sparse_dot_def, (damo_var *[]){x, y}, 2);
}

/* ---- TrueDot ----------------------------------------------------------------------------------------------------- */

static bool true_dot_preserves_dense(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, true_dot_props)->grad_preserves_dense;
  return v->kind == PROP_NIL || v->u.i != 0;
}

static damo_status true_dot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(product_check(op, in, 0, 1, false));
  if (var_dtype(in[0]) != var_dtype(in[1])) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operands must have one dtype, got %s and %s: cast one of them",
                    op->def->name, dtype_name(var_dtype(in[0])), dtype_name(var_dtype(in[1])));
  }
  product_shape(in, 0, 1, shape);
  const bool sx = var_is_sparse(in[0]), sy = var_is_sparse(in[1]);
  const damo_dtype itype = itype_join(sx ? var_itype(in[0]) : DAMO_INT32, sy ? var_itype(in[1]) : DAMO_INT32);
  return type_give_sparse(op, out, var_format_of(in[sx ? 0 : 1]), var_dtype(in[0]), itype, shape[0], shape[1]);
}

static damo_status true_dot_perform(const thunk *t, frame *f) {
  int64_t shape[2];
  int n = 0;
  DAMO_TRY(thunk_product_shape(t, f, 0, 1, &n, shape));
  if (!thunk_in_is_sparse(t, f, 0)) {
    return thunk_give_product(t, f, sparse_dot_mixed(thunk_in_sparse(t, f, 1), thunk_in(t, f, 0), true));
  }
  if (!thunk_in_is_sparse(t, f, 1)) {
    return thunk_give_product(t, f, sparse_dot_mixed(thunk_in_sparse(t, f, 0), thunk_in(t, f, 1), false));
  }
  return thunk_give_product(t, f, sparse_dot_sparse(thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1)));
}

damo_var *build_true_dot(build *b, damo_var *x, damo_var *y, bool grad_preserves_dense) {
  if (x == NULL || y == NULL || b->status != DAMO_OK) return NULL;
  const true_dot_props p = {.grad_preserves_dense = prop_bool(grad_preserves_dense)};
  return build_op(b, op_new(b->ctx, &true_dot_def, &p), (damo_var *[]){x, y}, 2);
}

static damo_var *true_dot_own_kind(build *b, const damo_op *op, damo_var *g, const damo_var *x) {
  return var_is_dense(x) && true_dot_preserves_dense(op) ? build_toarray(b, g) : g;
}

static damo_status true_dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (g == NULL) return DAMO_OK;
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] != NULL) return b->status;
  const bool keep = true_dot_preserves_dense(node->op);
  g = build_tangent(b, g, node->out[0]);
  damo_var *xc = build_conj_if_complex(b, x), *yc = build_conj_if_complex(b, y);
  damo_var *left = build_left_factor(b, g, x), *xt = build_left_factor(b, build_sparse_transpose(b, xc), y);
  gin[0] = true_dot_own_kind(b, node->op, build_true_dot(b, left, build_sparse_transpose(b, yc), keep), x);
  gin[1] = true_dot_own_kind(b, node->op, build_true_dot(b, xt, g, keep), y);
  return b->status;
}

static damo_status true_dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const bool keep = true_dot_preserves_dense(node->op);
  damo_var *dx = build_tangent(b, eval[0], node->in[0]), *dy = build_tangent(b, eval[1], node->in[1]);
  if (dx != NULL) dx = build_true_dot(b, dx, node->in[1], keep);
  if (dy != NULL) dy = build_true_dot(b, node->in[0], dy, keep);
  rout[0] = build_add_present(b, dx, dy);
  return b->status;
}

const op_def true_dot_def = {
    .name = "TrueDot",
    .doc =
        "the sparse product of two matrices, one of them sparse; grad_preserves_dense: a dense operand's gradient is "
        "dense",
    .props = PROPS(PROP_FLAG(true_dot_props, grad_preserves_dense)),
    .n_in = 2,
    .infer_type = true_dot_type,
    .perform = true_dot_perform,
    .grad = true_dot_grad,
    .rop = true_dot_rop,
    .infer_shape = infer_shape_product,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(dot_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_dot(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_promoted(b, a, out, &sparse_dot_def);
}

typedef struct true_dot_options {
  prop_value grad_preserves_dense;
} true_dot_options;

static damo_status sp_fn_true_dot(build *b, const fn_args *a, ptrvec *out) {
  const bool keep = prop_bool_or(FN_OPTIONS(a, true_dot_options)->grad_preserves_dense, true);
  damo_var *pair[2];
  DAMO_TRY(pair_promoted(b, a, pair));
  return fn_give(b, out, build_true_dot(b, pair[0], pair[1], keep));
}

const op_func sparse_dot_funcs[] = {
    {.name = "sparse.dot",
     .operands = "x y",
     .call = sp_fn_dot,
     .doc = "the dense product of two matrices, or a matrix and a vector, one of them sparse; regular gradient"},
    {.name = "sparse.matmul",
     .operands = "x y",
     .call = sp_fn_dot,
     .doc = "the dense product of two matrices, or a matrix and a vector, one of them sparse: dot"},
    {.name = "sparse.true_dot",
     .operands = "x y",
     .options = OPTIONS(OPT(true_dot_options, grad_preserves_dense, OPT_BOOL)),
     .call = sp_fn_true_dot,
     .doc = "the product of two matrices, one of them sparse, as a sparse one; regular gradient, dense for a dense "
            "operand unless grad_preserves_dense=false"},
    {.name = NULL},
};

const op_def *const sparse_dot_classes[] = {&sparse_dot_def, &true_dot_def, NULL};
