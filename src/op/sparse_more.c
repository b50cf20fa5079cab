/* sparse_more: what SciPy has beyond the seed's page: triangles, Kronecker products, norms, traces, block diagonals,
 * extremes, matrix powers, permutations.
 *
 * Classes: Band (low, high: diagonals kept), EyeLike (a scalar along the diagonal), Trace, KronPlaces,
 * BlockDiag (format), Permute. Norms and traces are dense; the gradient of a norm is at the stored places.
 */
#include "sparse_op.h"

#include <math.h>
#include <string.h>

/* The gradient of an operand of integers: nothing. */
static bool is_discrete(build *b, damo_var *x, damo_var **gin) {
  if (!dtype_is_discrete(var_dtype(x))) return false;
  *gin = build_sparse_zeros(b, x, b->ctx->config.floatX);
  return true;
}

/* ---- Band: triangles --------------------------------------------------------------------------------------------- */

static int64_t bound(const damo_op *op, const char *name, int64_t otherwise) {
  const prop_value *v = op_prop(op, name);
  if (v->kind == PROP_NIL) return otherwise;
  return v->u.i < -INT64_MAX ? -INT64_MAX : v->u.i;
}

static damo_status band_init(damo_op *op) {
  for (int i = 0; i < 2; i++) {
    if (op->props[i].kind != PROP_NIL && op->props[i].kind != PROP_INT)
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Band: low and high are integers or nil");
  }
  return DAMO_OK;
}

static damo_status band_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_sparse(op, in, 0));
  return give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status band_perform(thunk *t) {
  const damo_op *op = t->node->op;
  return thunk_give_sparse(
      t, 0, sparse_band(thunk_in_sparse(t, 0), bound(op, "low", -INT64_MAX), bound(op, "high", INT64_MAX)));
}

static damo_status band_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL || is_discrete(b, x, &gin[0])) return b->status;
  damo_var *g = build_sparse_from(b, gout[0], var_format_of(x));
  if (g != NULL) gin[0] = build_op(b, damo_retain(node->op), &g, 1);
  return b->status;
}

static damo_status band_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *e = build_sparse_from(b, eval[0], var_format_of(node->in[0]));
  if (e != NULL) rout[0] = build_op(b, damo_retain(node->op), &e, 1);
  return b->status;
}

static const op_def band_def = {
    .name = "Band",
    .doc = "the entries of the diagonals from low to high (0: the main one, positive: above)",
    .props = "low high",
    .n_in = 1,
    .init = band_init,
    .infer_type = band_type,
    .perform = band_perform,
    .grad = band_grad,
    .rop = band_rop,
    .infer_shape = infer_shape_same,
};

/* ---- Trace, EyeLike ---------------------------------------------------------------------------------------------- */

static const op_def eye_def;

static damo_status trace_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_sparse(op, in, 0));
  return give_dense(op, out, reduce_out_dtype(REDUCE_SUM, var_dtype(in[0])), 0, NULL);
}

static damo_status trace_perform(thunk *t) {
  damo_sparse *diagonal = sparse_band(thunk_in_sparse(t, 0), 0, 0);
  damo_array *sum = diagonal != NULL ? sparse_sum(diagonal, -1) : NULL;
  damo_release(diagonal);
  return thunk_give(t, 0, sum);
}

static damo_status trace_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL || is_discrete(b, x, &gin[0])) return b->status;
  gin[0] = build_class(b, &eye_def, (damo_var *[]){gout[0], x}, 2);
  return b->status;
}

static damo_status trace_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node, (void)in_shape, (void)out_shape;
  return b->status;
}

static damo_status trace_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node;
  if (eval[0] != NULL) rout[0] = build_fn1(b, "trace", eval[0]);
  return b->status;
}

static const op_def trace_def = {
    .name = "Trace",
    .doc = "the sum of the main diagonal of a sparse matrix",
    .n_in = 1,
    .infer_type = trace_type,
    .perform = trace_perform,
    .grad = trace_grad,
    .rop = trace_rop,
    .infer_shape = trace_shape,
};

static damo_status eye_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_dense(op, in, 0, 0));
  DAMO_TRY(need_sparse(op, in, 1));
  return give_like(op, out, in[1], var_dtype(in[0]));
}

static damo_status eye_perform(thunk *t) {
  const damo_array *g = thunk_in(t, 0);
  const damo_sparse *x = thunk_in_sparse(t, 1);
  damo_sparse *eye = sparse_eye(t->ctx, x->shape[0], x->shape[1], 0, array_dtype(g), sparse_format(x));
  if (eye == NULL) return damo_error_status(t->ctx);
  const size_t size = dtype_size(array_dtype(g));
  kernel_copy_strided(g->data, 0, eye->data->data, (int64_t)size, sparse_nnz(eye), size);
  return thunk_give_sparse(t, 0, eye);
}

static damo_status eye_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL) gin[0] = build_fn1(b, "trace", gout[0]);
  return b->status;
}

static damo_status eye_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_class(b, &eye_def, (damo_var *[]){eval[0], node->in[1]}, 2);
  return b->status;
}

static damo_status eye_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[1][k];
  return b->status;
}

static const op_def eye_def = {
    .name = "EyeLike",
    .doc = "a scalar along the main diagonal of a sparse matrix's shape",
    .n_in = 2,
    .infer_type = eye_type,
    .perform = eye_perform,
    .grad = eye_grad,
    .rop = eye_rop,
    .infer_shape = eye_shape,
    .connection_pattern = connect_first,
};

/* ---- KronPlaces -------------------------------------------------------------------------------------------------- */

static int64_t product_of(int64_t m, int64_t n) {
  int64_t mn;
  return m < 0 || n < 0 || !i64_mul(m, n, &mn) ? -1 : mn;
}

static damo_status kron_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const int64_t unknown = -1;
  DAMO_TRY(need_sparse(op, in, 0));
  DAMO_TRY(need_sparse(op, in, 1));
  if (var_format_of(in[0]) != var_format_of(in[1]))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "KronPlaces: the formats of the operands differ");
  const int64_t *x = in[0]->type->shape, *y = in[1]->type->shape;
  DAMO_TRY(give_sparse(op, out, var_format_of(in[0]), DAMO_BOOL, itype_join(var_itype(in[0]), var_itype(in[1])),
                       product_of(x[0], y[0]), product_of(x[1], y[1])));
  DAMO_TRY(give_dense(op, out + 1, DAMO_INT64, 1, &unknown));
  return give_dense(op, out + 2, DAMO_INT64, 1, &unknown);
}

static damo_status kron_perform(thunk *t) {
  damo_array *left, *right;
  damo_sparse *places = sparse_kron_places(thunk_in_sparse(t, 0), thunk_in_sparse(t, 1), &left, &right);
  if (places == NULL) return damo_error_status(t->ctx);
  thunk_set_out(t, 0, &places->obj);
  thunk_set_out(t, 1, &left->obj);
  thunk_set_out(t, 2, &right->obj);
  return DAMO_OK;
}

static damo_status kron_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  damo_var *n[2];
  for (int k = 0; k < 2; k++) {
    damo_var *data = sparse_data(b, node->in[k]);
    out_shape[0][k] = build_fn2(b, "mul", in_shape[0][k], in_shape[1][k]);
    n[k] = data ? build_dim(b, data, 0) : NULL;
  }
  out_shape[1][0] = out_shape[2][0] = build_fn2(b, "mul", n[0], n[1]);
  return b->status;
}

static const op_def kron_def = {
    .name = "KronPlaces",
    .doc = "the places of a Kronecker product, and for each the numbers of the two entries that it is the product of",
    .n_in = 2,
    .n_out = 3,
    .infer_type = kron_type,
    .perform = kron_perform,
    .grad = grad_none,
    .infer_shape = kron_shape,
    .connection_pattern = connect_none,
};

/* The product of the values named by the places: gradients are those of take and mul, at stored places. */
static damo_var *build_kron(build *b, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL || (y = build_to_format(b, y, var_format_of(x))) == NULL) return NULL;
  damo_var *own[2] = {build_summed(b, x), build_summed(b, y)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &kron_def, NULL, 0), own, 2);
  if (node == NULL) return NULL;
  damo_var *left = build_fn2(b, "take", sparse_data(b, own[0]), node->out[1]);
  damo_var *right = build_fn2(b, "take", sparse_data(b, own[1]), node->out[2]);
  return sparse_with(b, node->out[0], build_fn2(b, "mul", left, right));
}

/* ---- BlockDiag --------------------------------------------------------------------------------------------------- */

static damo_format block_format(const damo_op *op) {
  damo_format f = DAMO_CSC;
  format_check(op->obj.ctx, "BlockDiag", op_prop(op, "format"), &f);
  return f;
}

static damo_status block_init(damo_op *op) {
  damo_format f;
  return format_check(op->obj.ctx, "BlockDiag", op_prop(op, "format"), &f);
}

static damo_status block_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2] = {0, 0};
  damo_dtype itype = DAMO_INT32, dtype = DAMO_BOOL;
  if (n_in < 1) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockDiag: there are no blocks");
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(need_sparse(op, in, i));
    itype = itype_join(itype, var_itype(in[i]));
    dtype = i == 0 ? var_dtype(in[i]) : dtype_promote(dtype, var_dtype(in[i]));
    for (int k = 0; k < 2; k++) {
      const int64_t n = in[i]->type->shape[k];
      shape[k] = shape[k] < 0 || n < 0 || n >= INT64_MAX - shape[k] ? -1 : shape[k] + n;
    }
  }
  return give_sparse(op, out, block_format(op), dtype, itype, shape[0], shape[1]);
}

static damo_status block_perform(thunk *t) {
  damo_sparse **blocks = thunk_scratch(t, (size_t)t->n_in * sizeof *blocks);
  if (blocks == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) blocks[i] = thunk_in_sparse(t, i);
  return thunk_give_sparse(
      t, 0, sparse_block_diag(t->ctx, t->n_in, blocks, block_format(t->node->op), var_dtype(t->node->out[0])));
}

/* The part of g that lies behind `before` lines of the axis, `own` of them; `rest` follow. */
static damo_var *middle_of(build *b, damo_var *g, int axis, damo_var *const sizes[3]) {
  damo_apply *parts = build_sparse_split(b, g, axis, sizes, 3);
  return parts != NULL ? parts->out[1] : NULL;
}

static damo_status block_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  const damo_format format = block_format(node->op);
  const int lines = format == DAMO_CSC, n = node->n_in;
  damo_var *g = var_is_sparse(gout[0]) ? build_to_format(b, gout[0], format) : build_sparse_from(b, gout[0], format);
  damo_var **sizes = mem_alloc(b->ctx, (size_t)n * sizeof *sizes), *before = build_i64(b, 0);
  if (sizes == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) sizes[i] = build_dim(b, node->in[i], lines);
  damo_apply *strips = g != NULL ? build_sparse_split(b, g, lines, sizes, n) : NULL;
  for (int i = 0; i < n && strips != NULL; i++) {
    damo_var *own = build_dim(b, node->in[i], !lines), *end = build_fn2(b, "add", before, own);
    damo_var *rest = build_fn2(b, "sub", build_dim(b, g, !lines), end);
    if (b->status != DAMO_OK) break;
    if (!is_discrete(b, node->in[i], &gin[i]))
      gin[i] = middle_of(b, strips->out[i], !lines, (damo_var *[]){before, own, rest});
    before = end;
  }
  mem_free(b->ctx, sizes, (size_t)n * sizeof *sizes);
  return b->status;
}

static damo_status block_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const int n = node->n_in;
  bool any = false;
  damo_var **in = mem_alloc(b->ctx, (size_t)n * sizeof *in);
  if (in == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) {
    any = any || eval[i] != NULL;
    in[i] = eval[i] != NULL ? build_sparse_from(b, eval[i], block_format(node->op))
                            : build_sparse_zeros(b, node->in[i], var_dtype(node->in[i]));
  }
  if (any && b->status == DAMO_OK) rout[0] = build_op(b, damo_retain(node->op), in, n);
  mem_free(b->ctx, in, (size_t)n * sizeof *in);
  return b->status;
}

static damo_status block_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  for (int k = 0; k < 2; k++) {
    out_shape[0][k] = in_shape[0][k];
    for (int i = 1; i < node->n_in; i++) out_shape[0][k] = build_fn2(b, "add", out_shape[0][k], in_shape[i][k]);
  }
  return b->status;
}

static const op_def block_def = {
    .name = "BlockDiag",
    .doc = "sparse matrices along the diagonal",
    .props = "format",
    .n_in = OP_VARIADIC,
    .init = block_init,
    .infer_type = block_type,
    .perform = block_perform,
    .grad = block_grad,
    .rop = block_rop,
    .infer_shape = block_shape,
};

/* ---- Permute ----------------------------------------------------------------------------------------------------- */

static damo_status permute_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_sparse(op, in, 0));
  for (int k = 0; k < 2; k++) {
    DAMO_TRY(need_dense(op, in, k + 1, 1));
    if (var_dtype(in[k + 1]) != DAMO_INT64)
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Permute: positions must be int64, got %s",
                      dtype_name(var_dtype(in[k + 1])));
    DAMO_TRY(need_same_length(op, in, 0, k, k + 1, 0));
  }
  return give_like(op, out, in[0], var_dtype(in[0]));
}

/* 0-based contiguous copies of 1-based positions. */
static damo_array *from_one(const damo_array *v) {
  damo_array *out = array_copy(v);
  for (int64_t i = 0; out != NULL && i < array_size(out); i++) ((int64_t *)(void *)out->data)[i]--;
  return out;
}

static damo_status permute_perform(thunk *t) {
  damo_array *rows = from_one(thunk_in(t, 1)), *cols = rows != NULL ? from_one(thunk_in(t, 2)) : NULL;
  damo_sparse *out = cols != NULL ? sparse_permute(thunk_in_sparse(t, 0), rows, cols) : NULL;
  damo_release(rows);
  damo_release(cols);
  return thunk_give_sparse(t, 0, out);
}

static damo_var *permuted(build *b, damo_apply *node, damo_var *x, damo_var *rows, damo_var *cols) {
  x = x != NULL ? build_sparse_from(b, x, var_format_of(node->in[0])) : NULL;
  if (x == NULL || rows == NULL || cols == NULL) return NULL;
  return build_op(b, damo_retain(node->op), (damo_var *[]){x, rows, cols}, 3);
}

/* The inverse of a permutation is what sorts it. */
static damo_status permute_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL || is_discrete(b, node->in[0], &gin[0])) return b->status;
  gin[0] = permuted(b, node, gout[0], build_fn1(b, "argsort", node->in[1]), build_fn1(b, "argsort", node->in[2]));
  return b->status;
}

static damo_status permute_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = permuted(b, node, eval[0], node->in[1], node->in[2]);
  return b->status;
}

static const op_def permute_def = {
    .name = "Permute",
    .doc = "rows and columns in another order: row i, column j is row rows[i], column cols[j]",
    .n_in = 3,
    .infer_type = permute_type,
    .perform = permute_perform,
    .grad = permute_grad,
    .rop = permute_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_first,
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status triangle(build *b, const fn_args *a, ptrvec *out, bool lower) {
  int64_t k = 0;
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  DAMO_TRY(fn_opt_int(a, 0, &k));
  const prop_value props[2] = {lower ? prop_nil() : prop_int(k), lower ? prop_int(k) : prop_nil()};
  return fn_give(b, out, build_op(b, op_new(b->ctx, &band_def, props, 2), &x, 1));
}

static damo_status call_tril(build *b, const fn_args *a, ptrvec *out) { return triangle(b, a, out, true); }
static damo_status call_triu(build *b, const fn_args *a, ptrvec *out) { return triangle(b, a, out, false); }

static damo_status call_trace(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, build_class(b, &trace_def, &x, 1));
}

static damo_status fn_kron(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *y = x ? sparse_operand(b, a, 1) : NULL;
  return fn_give(b, out, build_kron(b, x, y));
}

static damo_status fn_block_diag(build *b, const fn_args *a, ptrvec *out) {
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there are no blocks", a->func->name);
  for (int i = 0; i < a->n_in; i++) {
    if (sparse_operand(b, a, i) == NULL) return b->status;
  }
  prop_value format = a->opt[0];
  if (format.kind == PROP_NIL) format = prop_str(sparse_format_name(var_format_of(a->in[0])));
  return fn_give(b, out, build_op(b, op_new(b->ctx, &block_def, &format, 1), a->in, a->n_in));
}

static damo_status fn_permute(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3] = {sparse_operand(b, a, 0), build_integer(b, "permute", "the rows", a->in[1]),
                     build_integer(b, "permute", "the columns", a->in[2])};
  return fn_give(b, out, build_class(b, &permute_def, in, 3));
}

/* "fro" (nil), 1 or inf (a number or "inf"); 0 for none of them. */
static int read_order(const prop_value *v) {
  if (v->kind == PROP_NIL || (v->kind == PROP_STR && strcmp(v->u.s, "fro") == 0)) return 'f';
  if ((v->kind == PROP_INT && v->u.i == 1) || (v->kind == PROP_NUM && v->u.f == 1)) return '1';
  if ((v->kind == PROP_STR && strcmp(v->u.s, "inf") == 0) || (v->kind == PROP_NUM && isinf(v->u.f) && v->u.f > 0))
    return 'i';
  return 0;
}

static damo_status fn_norm(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  const int order = read_order(&a->opt[0]);
  if (x == NULL) return b->status;
  if (order == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: ord must be 'fro', 1 or 'inf'", a->func->name);
  if (dtype_is_discrete(var_dtype(x))) x = build_sparse_cast(b, x, dtype_to_float(var_dtype(x)));
  x = build_summed(b, x);
  if (order != 'f') {
    damo_var *sums = build_sp_sum(b, build_fn1(b, "sparse.abs", x), order == '1' ? 0 : 1, true);
    return fn_give(b, out, build_fn1(b, "max", sums));
  }
  damo_var *data = sparse_data(b, x);
  if (data == NULL) return b->status;
  damo_var *squares = build_fn1(b, "sqr", build_fn1(b, "real", data));
  if (dtype_is_complex(var_dtype(data)))
    squares = build_fn2(b, "add", squares, build_fn1(b, "sqr", build_fn1(b, "imag", data)));
  return fn_give(b, out, build_fn1(b, "sqrt", build_fn1(b, "sum", squares)));
}

static damo_var *times(build *b, damo_var *x, damo_var *y) { return build_fn2(b, "sparse.true_dot", x, y); }

/* By repeated squaring; 0 gives the identity. */
static damo_status fn_power(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *result = NULL;
  int64_t n = -1;
  if (x == NULL) return b->status;
  DAMO_TRY(fn_opt_int(a, 0, &n));
  if (n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the power must be an integer of 0 or more", a->func->name);
  const int64_t *shape = x->type->shape;
  if (shape[0] >= 0 && shape[1] >= 0 && shape[0] != shape[1]) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: shape (%lld, %lld) is not square", a->func->name, (long long)shape[0],
                    (long long)shape[1]);
  }
  if (n == 0) return fn_give(b, out, build_class(b, &eye_def, (damo_var *[]){build_scalar(b, var_dtype(x), 1), x}, 2));
  for (damo_var *square = x; n > 0 && square != NULL; n /= 2) {
    if (n % 2 == 1) result = result != NULL ? times(b, result, square) : square;
    if (n > 1) square = times(b, square, square);
  }
  return fn_give(b, out, result);
}

const op_func sparse_more_funcs[] = {
    {.name = "sparse.tril",
     .operands = "x",
     .options = "k:int",
     .call = call_tril,
     .doc = "the entries on and below the k-th diagonal"},
    {.name = "sparse.triu",
     .operands = "x",
     .options = "k:int",
     .call = call_triu,
     .doc = "the entries on and above the k-th diagonal"},
    {.name = "sparse.trace", .operands = "x", .call = call_trace, .doc = "the sum of the main diagonal"},
    {.name = "sparse.kron",
     .operands = "x y",
     .call = fn_kron,
     .doc = "Kronecker product of two sparse matrices, in the first one's format",
     .no_method = true},
    {.name = "sparse.norm",
     .operands = "x",
     .options = "ord:any",
     .call = fn_norm,
     .doc = "norm of a sparse matrix: 'fro' (default), 1 (largest column sum), 'inf' (largest row sum)"},
    {.name = "sparse.block_diag",
     .operands = "blocks...",
     .options = "format:str",
     .call = fn_block_diag,
     .doc = "sparse matrices along the diagonal, in the first one's format unless format says else",
     .no_method = true},
    {.name = "sparse.permute",
     .operands = "x rows cols",
     .call = fn_permute,
     .doc = "rows and columns in another order, 1-based permutations: row i is row rows[i] of x"},
    {.name = "sparse.power",
     .operands = "x",
     .options = "n:int",
     .call = fn_power,
     .doc = "a square matrix times itself, n factors; n = 0: the identity"},
    {.name = "sparse.max",
     .operands = "x",
     .options = "axis:axes",
     .call = sparse_fn_extremum,
     .data = "max",
     .doc = "largest element over axes, absent entries counted as 0; dense"},
    {.name = "sparse.min",
     .operands = "x",
     .options = "axis:axes",
     .call = sparse_fn_extremum,
     .data = "min",
     .doc = "smallest element over axes, absent entries counted as 0; dense"},
    {.name = "sparse.argmax",
     .operands = "x",
     .options = "axis:axes",
     .call = sparse_fn_extremum,
     .data = "argmax",
     .doc = "1-based position of the first largest element over axes, absent entries counted as 0"},
    {.name = "sparse.argmin",
     .operands = "x",
     .options = "axis:axes",
     .call = sparse_fn_extremum,
     .data = "argmin",
     .doc = "1-based position of the first smallest element over axes, absent entries counted as 0"},
    {.name = NULL},
};

const op_def *const sparse_more_classes[] = {&band_def,    &trace_def,           &eye_def, &kron_def, &block_def,
                                             &permute_def, &sparse_extremum_def, NULL};
