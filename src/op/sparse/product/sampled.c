/* sampled: sddmm and spmm of a gradient in one pass.
 *
 * SampledProduct (m, rows, cols): for each stored (i, j) of m the inner product of row i of `rows` and row j of `cols`,
 * a vector; and m·cols, or mᵀ·rows where `transposed`. All are of one dtype, float32 or float64; rows and cols are
 * dense. `entries`: the number of entries that m stores, -1 where it is not known. Rewriting puts it in place of two
 * nodes that read the same rows (rewrite/sampled.c). Its errors name `product`, that one of the two classes which the
 * user knows better. It has no gradient.
 */
#include "op/sparse/sparse_op.h"

typedef struct sp_sampled_product_props {
  prop_value product, transposed, entries;
} sp_sampled_product_props;

static bool sp_sampled_product_is_transposed(const damo_op *op) {
  return OP_PROPS(op, sp_sampled_product_props)->transposed.u.i != 0;
}

static damo_status sp_sampled_product_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const prop_value *entries = &OP_PROPS(op, sp_sampled_product_props)->entries;
  const int64_t n = entries->kind == PROP_INT ? entries->u.i : -1;
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int i = 1; i < n_in; i++) {
    DAMO_TRY(type_need_dense(op, in, i, 2));
    DAMO_TRY(type_need_same_length(op, in, i, 0, 0, i - 1));
  }
  DAMO_TRY(type_need_same_length(op, in, 1, 1, 2, 1));
  const bool t = sp_sampled_product_is_transposed(op);
  const int64_t shape[2] = {in[0]->type->shape[t], in[t ? 1 : 2]->type->shape[1]};
  DAMO_TRY(type_give_dense(op, out, var_dtype(in[0]), 1, &n));
  return type_give_dense(op, out + 1, var_dtype(in[0]), 2, shape);
}

/* The shape error, in the name of `product`, where the operands of m·cols (transposed: of mᵀ·rows) do not agree. */
static damo_status sp_sampled_product_check_axis(const thunk *t, frame *f, bool transposed) {
  const int64_t *m = thunk_in_sparse(t, f, 0)->shape, *y = array_shape(thunk_in(t, f, transposed ? 1 : 2));
  const int64_t x[2] = {m[transposed], m[!transposed]};
  const char *name = OP_PROPS(t->node->op, sp_sampled_product_props)->product.u.s;
  if (x[1] == y[0]) return DAMO_OK;
  fail_shapes(f->ctx, name, 2, x, 2, y, 1, 0);
  ctx_fail_at(f->ctx, name, NULL);
  return DAMO_ESHAPE;
}

/* The shape errors of the two nodes that this one replaces, the product's first. */
static damo_status sp_sampled_product_check_shapes(const thunk *t, frame *f) {
  const int64_t *r = array_shape(thunk_in(t, f, 1)), *c = array_shape(thunk_in(t, f, 2));
  const bool transposed = sp_sampled_product_is_transposed(t->node->op),
             csr = sparse_format(thunk_in_sparse(t, f, 0)) == DAMO_CSR;
  const char *name = (csr ? &sampled_csr_def : &sampled_csc_def)->name;
  DAMO_TRY(sp_sampled_product_check_axis(t, f, transposed));
  DAMO_TRY(sp_sampled_product_check_axis(t, f, !transposed));
  if (r[1] == c[1]) return DAMO_OK;
  fail_shapes(f->ctx, name, 2, c, 2, r, 1, 1);
  ctx_fail_at(f->ctx, name, NULL);
  return DAMO_ESHAPE;
}

static damo_status sp_sampled_product_run(const thunk *t, frame *f, const damo_array *rows, const damo_array *cols) {
  const damo_sparse *m = thunk_in_sparse(t, f, 0);
  const bool transposed = sp_sampled_product_is_transposed(t->node->op);
  const int64_t n = sparse_nnz(m), shape[2] = {m->shape[transposed], array_shape(rows)[1]};
  damo_array *samples = thunk_out(t, f, 0, sparse_dtype(m), 1, &n);
  damo_array *y = samples ? thunk_out(t, f, 1, sparse_dtype(m), 2, shape) : NULL;
  if (y == NULL) return damo_error_status(f->ctx);
  const sparse_sampled s = {m, transposed, rows, cols, samples->data, y, thunk_state(t, f)};
  const size_t size = sparse_sampled_workspace(&s);
  void *workspace = size > 0 ? thunk_scratch(t, f, size) : NULL;
  if (size > 0 && workspace == NULL) return DAMO_EMEMORY;
  sparse_sampled_run(&s, workspace);
  return DAMO_OK;
}

static damo_status sp_sampled_product_perform(const thunk *t, frame *f) {
  DAMO_TRY(sp_sampled_product_check_shapes(t, f));
  const damo_dtype dt = sparse_dtype(thunk_in_sparse(t, f, 0));
  damo_array *rows = array_as_contiguous(thunk_in(t, f, 1), dt);
  damo_array *cols = rows ? array_as_contiguous(thunk_in(t, f, 2), dt) : NULL;
  const damo_status s = cols ? sp_sampled_product_run(t, f, rows, cols) : damo_error_status(f->ctx);
  damo_release(rows);
  damo_release(cols);
  return s;
}

static damo_status sp_sampled_product_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                            damo_var ***out_shape) {
  const bool t = sp_sampled_product_is_transposed(node->op);
  out_shape[0][0] = build_nnz(b, node->in[0]);
  out_shape[1][0] = in_shape[0][t];
  out_shape[1][1] = in_shape[t ? 1 : 2][1];
  return b->status;
}

static const op_def sp_sampled_product_def = {
    .name = "SampledProduct",
    .doc =
        "inner products of dense rows at a sparse matrix's positions, and its product with one of the dense matrices",
    .props = PROPS(PROP_TEXT(sp_sampled_product_props, product), PROP_FLAG(sp_sampled_product_props, transposed),
                   PROP(sp_sampled_product_props, entries)),
    .n_in = 3,
    .n_out = 2,
    .infer_type = sp_sampled_product_type,
    .state_size = sizeof(sparse_transpose_cache),
    .perform = sp_sampled_product_perform,
    .infer_shape = sp_sampled_product_shape,
    OP_CHECK(sampled_product_check),
};

damo_apply *build_sampled_product(build *b, const op_def *product, damo_var *m, damo_var *rows, damo_var *cols,
                                  bool transposed, int64_t entries) {
  const sp_sampled_product_props props = {
      .product = prop_str(product->name), .transposed = prop_bool(transposed), .entries = prop_int(entries)};
  if (b->status != DAMO_OK) return NULL;
  return build_apply(b, op_new(b->ctx, &sp_sampled_product_def, &props), (damo_var *[]){m, rows, cols}, 3);
}

const op_def *const sparse_sampled_classes[] = {&sp_sampled_product_def, NULL};
