/* type: checks of operands, Types of results, outputs of thunks that all sparse op families use. */
#include "sparse_op.h"

#include <stdio.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* The end of the message that refuses an operand: how to convert it. */
static const char *sparse_operand_hint(const damo_var *x, bool want_sparse) {
  if (want_sparse && var_is_dense(x) && var_ndim(x) == 2) return "; damo.sparse.csr_from_dense(x) makes it sparse";
  return !want_sparse && var_is_sparse(x) ? "; x:toarray() is dense" : "";
}

static damo_status type_fail_operand(const damo_op *op, damo_var *const *in, int i, const char *wanted,
                                     bool want_sparse) {
  char got[320];
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be %s, got %s%s", op->def->name, i + 1, wanted,
                  type_format(got, sizeof got, in[i]->type), sparse_operand_hint(in[i], want_sparse));
}

damo_status type_need_sparse(const damo_op *op, damo_var *const *in, int i) {
  return var_is_sparse(in[i]) ? DAMO_OK : type_fail_operand(op, in, i, "sparse", true);
}

damo_status type_need_dense(const damo_op *op, damo_var *const *in, int i, int ndim) {
  static const char *const names[] = {"a scalar", "a vector", "a dense matrix"};
  if (var_is_dense(in[i]) && var_ndim(in[i]) == ndim) return DAMO_OK;
  return type_fail_operand(op, in, i, names[ndim], false);
}

damo_status type_need_matrix(const damo_op *op, damo_var *const *in, int i) {
  if (var_is_sparse(in[i]) || (var_is_dense(in[i]) && var_ndim(in[i]) == 2)) return DAMO_OK;
  return type_fail_operand(op, in, i, "a sparse or dense matrix", false);
}

damo_status type_need_same_length(const damo_op *op, damo_var *const *in, int i, int a, int j, int b) {
  const int64_t m = in[i]->type->shape[a], n = in[j]->type->shape[b];
  if (m < 0 || n < 0 || m == n) return DAMO_OK;
  char x[256], y[256];
  return ctx_fail(
      op->obj.ctx, DAMO_ESHAPE,
      "%s: shapes %s and %s do not agree: axis %d of operand %d has length %lld, axis %d of operand %d %lld",
      op->def->name, shape_format(x, sizeof x, in[i]->type->ndim, in[i]->type->shape),
      shape_format(y, sizeof y, in[j]->type->ndim, in[j]->type->shape), a + 1, i + 1, (long long)m, b + 1, j + 1,
      (long long)n);
}

damo_status type_need_same_shape(const damo_op *op, damo_var *const *in) {
  DAMO_TRY(type_need_same_length(op, in, 0, 0, 1, 0));
  return type_need_same_length(op, in, 0, 1, 1, 1);
}

/* The end of a shape error where axes of y have length 1 but do not broadcast, since the Type does not say so: which
 * axes, and how to declare them. Empty where the shapes differ in another way. */
static void dense_stretch_hint(char *dst, size_t n, const damo_type *type, const damo_sparse *x, const damo_array *y) {
  char dims[2][24];
  bool ones[2];
  dst[0] = '\0';
  for (int k = 0; k < 2; k++) {
    ones[k] = array_shape(y)[k] == 1 && x->shape[k] != 1 && !type_dim_is_one(type, k);
    if (!ones[k] && !type_dim_is_one(type, k) && array_shape(y)[k] != x->shape[k]) return;
    const int64_t d = ones[k] ? 1 : type->shape[k];
    if (d < 0) snprintf(dims[k], sizeof dims[k], "false");
    if (d >= 0) snprintf(dims[k], sizeof dims[k], "%lld", (long long)d);
  }
  if (!ones[0] && !ones[1]) return;
  const int which = ones[0] && ones[1] ? 2 : ones[0] ? 0 : 1;
  static const char *const said[] = {"1", "2", "1 and axis 2"}, *const list[] = {"1", "2", "{1, 2}"};
  snprintf(dst, n,
           ": the dense operand has length 1 along axis %s, which stretches only where its Type says so; declare it: "
           "damo.tensor(name, {shape={%s, %s}}), or use damo.specify_broadcastable(x, {axis=%s})",
           said[which], dims[0], dims[1], list[which]);
}

damo_status fail_dense_shape(const thunk *t, frame *f, const damo_sparse *x, const damo_array *y, const char *why) {
  char a[128], b[256], stretch[400];
  dense_stretch_hint(stretch, sizeof stretch, t->node->in[1]->type, x, y);
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s %s%s", t->node->op->def->name,
                  shape_format(a, sizeof a, 2, x->shape), shape_format(b, sizeof b, y->ndim, array_shape(y)), why,
                  stretch);
}

damo_status format_check(damo_ctx *ctx, const char *func, const prop_value *v, damo_format *out) {
  if (v->kind == PROP_STR && strcmp(v->u.s, "csr") == 0) return *out = DAMO_CSR, DAMO_OK;
  if (v->kind == PROP_STR && strcmp(v->u.s, "csc") == 0) return *out = DAMO_CSC, DAMO_OK;
  const char *name = v->kind == PROP_STR ? v->u.s : "another value";
  return ctx_fail(ctx, DAMO_EVALUE, "%s: the format is 'csc' or 'csr', not '%s'%s", func, name,
                  sparse_format_advice(name));
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_status type_check_given(const damo_op *op, const damo_type *t) {
  return t != NULL ? DAMO_OK : damo_error_status(op->obj.ctx);
}

damo_status type_give_sparse(const damo_op *op, damo_type **out, damo_format format, damo_dtype dtype, damo_dtype itype,
                             int64_t rows, int64_t cols) {
  out[0] = type_sparse(op->obj.ctx, format, dtype, itype, (const int64_t[2]){rows, cols});
  return type_check_given(op, out[0]);
}

damo_status type_give_like(const damo_op *op, damo_type **out, const damo_var *x, damo_dtype dtype) {
  return type_give_sparse(op, out, var_format_of(x), dtype, var_itype(x), x->type->shape[0], x->type->shape[1]);
}

damo_status type_give_dense(const damo_op *op, damo_type **out, damo_dtype dtype, int ndim, const int64_t *shape) {
  out[0] = type_tensor(op->obj.ctx, dtype, ndim, shape);
  return type_check_given(op, out[0]);
}

damo_dtype itype_join(damo_dtype a, damo_dtype b) {
  return a == DAMO_INT64 || b == DAMO_INT64 ? DAMO_INT64 : DAMO_INT32;
}

/* ---- Thunks ------------------------------------------------------------------------------------------------------ */

damo_status thunk_give(const thunk *t, frame *f, int i, void *take_value) {
  if (take_value == NULL) return damo_error_status(f->ctx);
  thunk_set_out(t, f, i, take_value);
  return DAMO_OK;
}

damo_status thunk_give_sparse(const thunk *t, frame *f, int i, damo_sparse *take) {
  if (take == NULL) return damo_error_status(f->ctx);
  damo_dtype asked = (damo_dtype)t->node->out[i]->type->itype;
  damo_dtype itype = sparse_itype_for(asked, take->shape[0], take->shape[1], sparse_nnz(take));
  damo_sparse *out = sparse_to_itype(take, itype);
  damo_release(take);
  return thunk_give(t, f, i, out);
}

/* The output cell's matrix, if it has x's pattern arrays, that dtype, and data that nobody else holds; else NULL. */
static damo_sparse *thunk_out_reusable(const thunk *t, frame *f, int i, const damo_sparse *x, damo_dtype dtype) {
  damo_sparse *m = (damo_sparse *)thunk_result(t, f, i);
  if (m == NULL || m->obj.kind != OBJ_SPARSE || m == x || m->obj.refs > 1 || m->format != x->format) return NULL;
  if (m->indices != x->indices || m->indptr != x->indptr || sparse_dtype(m) != dtype) return NULL;
  return m->data->obj.refs == 1 && array_is_exclusive(m->data) && m->data->writeable ? m : NULL;
}

damo_sparse *thunk_out_like(const thunk *t, frame *f, int i, const damo_sparse *x, damo_dtype dtype) {
  damo_sparse *m = thunk_out_reusable(t, f, i, x, dtype);
  if (m != NULL) return m;
  damo_array *data = array_empty(f->ctx, dtype, 1, (const int64_t[]){sparse_nnz(x)});
  m = data != NULL ? sparse_with_data(x, data) : NULL;
  damo_release(data);
  if (m != NULL) thunk_set_out(t, f, i, &m->obj);
  return m;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

damo_status build_promoted(build *b, damo_var **pair) {
  DAMO_TRY(build_resolve(b, pair, 2, false, pair));
  const damo_dtype dtype = dtype_promote(var_dtype(pair[0]), var_dtype(pair[1]));
  for (int i = 0; i < 2; i++) pair[i] = build_cast(b, pair[i], dtype);
  return b->status;
}

damo_var *build_operand(build *b, const char *func, int i, damo_var *x) {
  if (x == NULL) return build_fail(b, DAMO_ETYPE, "%s: operand %d is missing", func, i + 1);
  if (type_has_shape(x->type)) return build_strong(b, x);
  char got[320];
  return build_fail(b, DAMO_ETYPE, "%s: operand %d must be sparse or dense, got %s", func, i + 1,
                    type_format(got, sizeof got, x->type));
}

damo_var *any_operand(build *b, const fn_args *a, int i) {
  return build_operand(b, a->func->name, i, i < a->n_in && b->status == DAMO_OK ? a->in[i] : NULL);
}

damo_var *sparse_operand(build *b, const fn_args *a, int i) {
  damo_var *x = any_operand(b, a, i);
  if (x == NULL || var_is_sparse(x)) return x;
  char got[320];
  return build_fail(b, DAMO_ETYPE, "%s: operand %d must be sparse, got %s%s", a->func->name, i + 1,
                    type_format(got, sizeof got, x->type), sparse_operand_hint(x, true));
}

damo_status pair_operands(build *b, const fn_args *a, damo_var **pair) {
  char got[320];
  for (int i = 0; i < 2 && b->status == DAMO_OK; i++) {
    if (type_has_shape(a->in[i]->type)) continue;
    build_fail(b, DAMO_ETYPE, "%s: operand %d must be sparse or dense, got %s", a->func->name, i + 1,
               type_format(got, sizeof got, a->in[i]->type));
  }
  return b->status == DAMO_OK ? build_resolve(b, a->in, 2, false, pair) : b->status;
}

damo_status fail_pair_dense(build *b, const fn_args *a, damo_var *const *pair) {
  char p[320], q[320];
  build_fail(b, DAMO_ETYPE, "%s: one operand must be sparse, got %s and %s", a->func->name,
             type_format(p, sizeof p, pair[0]->type), type_format(q, sizeof q, pair[1]->type));
  return b->status;
}

damo_var *build_class(build *b, const op_def *def, damo_var *const *in, int n_in) {
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < n_in; i++) {
    if (in[i] == NULL) return NULL;
  }
  return build_op(b, op_new(b->ctx, def, NULL), in, n_in);
}

damo_status fn_give_pair(build *b, const fn_args *a, ptrvec *out, const op_def *def) {
  damo_var *pair[2];
  DAMO_TRY(pair_operands(b, a, pair));
  return fn_give(b, out, build_class(b, def, pair, 2));
}

damo_status pair_promoted(build *b, const fn_args *a, damo_var **pair) {
  DAMO_TRY(pair_operands(b, a, pair));
  return build_promoted(b, pair);
}

damo_status fn_give_promoted(build *b, const fn_args *a, ptrvec *out, const op_def *def) {
  damo_var *pair[2];
  DAMO_TRY(pair_promoted(b, a, pair));
  return fn_give(b, out, build_class(b, def, pair, 2));
}

const sparse_forms sparse_form = {
    .cast = build_sparse_cast,
    .zeros = build_sparse_zeros,
    .to_format = build_to_format,
    .to_dense = build_toarray,
    .from_dense = build_sparse_from,
    .add_cotangents = build_add_cotangents,
    .mul = sp_fn_mul_stretched,
    .give = thunk_give_sparse,
};

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

damo_var *build_flat_zeros(build *b, const damo_apply *node, int i) {
  return dtype_is_discrete(var_dtype(node->out[0])) ? build_zero_grad(b, node->in[i]) : NULL;
}

damo_var *build_truncated_zeros(build *b, const damo_apply *node, int i) {
  return dtype_is_discrete(var_dtype(node->in[i])) ? NULL : build_flat_zeros(b, node, i);
}
