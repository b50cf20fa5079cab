/* kron: Kronecker products.
 *
 * Class: KronPlaces, the product's pattern and for each of its entries the numbers of the two entries, one of x and one
 * of y, that it multiplies. The values are gathered and multiplied by dense ops, so the gradients are those of take and
 * mul, at the stored positions.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

static int64_t sp_kron_length(int64_t m, int64_t n) {
  int64_t mn;
  return m < 0 || n < 0 || !i64_mul(m, n, &mn) ? -1 : mn;
}

static damo_status sp_kron_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const int64_t unknown = -1;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  if (var_format_of(in[0]) != var_format_of(in[1]))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "KronPlaces: the formats of the operands differ");
  const int64_t *x = in[0]->type->shape, *y = in[1]->type->shape;
  DAMO_TRY(type_give_sparse(op, out, var_format_of(in[0]), DAMO_BOOL, itype_join(var_itype(in[0]), var_itype(in[1])),
                            sp_kron_length(x[0], y[0]), sp_kron_length(x[1], y[1])));
  DAMO_TRY(type_give_dense(op, out + 1, DAMO_INT64, 1, &unknown));
  return type_give_dense(op, out + 2, DAMO_INT64, 1, &unknown);
}

static damo_status sp_kron_perform(const thunk *t, frame *f) {
  damo_array *left, *right;
  damo_sparse *places = sparse_kron_places(thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1), &left, &right);
  if (places == NULL) return damo_error_status(f->ctx);
  thunk_set_out(t, f, 0, &places->obj);
  thunk_set_out(t, f, 1, &left->obj);
  thunk_set_out(t, f, 2, &right->obj);
  return DAMO_OK;
}

static damo_status sp_kron_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  damo_var *n[2];
  for (int k = 0; k < 2; k++) {
    damo_var *data = build_data(b, node->in[k]);
    out_shape[0][k] = build_mul(b, in_shape[0][k], in_shape[1][k]);
    n[k] = data ? build_dim(b, data, 0) : NULL;
  }
  out_shape[1][0] = out_shape[2][0] = build_mul(b, n[0], n[1]);
  return b->status;
}

static const op_def sp_kron_def = {
    .name = "KronPlaces",
    .doc =
        "the positions of a Kronecker product, and for each the numbers of the two entries that it is the product of",
    .n_in = 2,
    .n_out = 3,
    .infer_type = sp_kron_type,
    .perform = sp_kron_perform,
    .grad = grad_none,
    .infer_shape = sp_kron_shape,
    .connection_pattern = connect_none,
    .pattern = PATTERN_JOINS,
    OP_CHECK(kron_check),
};

/* KronPlaces' pattern with the products of the values that it names. Operands have no duplicates then. */
static damo_var *build_sparse_kron(build *b, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL || (y = build_to_format(b, y, var_format_of(x))) == NULL) return NULL;
  damo_var *own[2] = {build_summed(b, x), build_summed(b, y)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &sp_kron_def, NULL), own, 2);
  if (node == NULL) return NULL;
  damo_var *left = build_take_axis(b, build_data(b, own[0]), node->out[1], 0);
  damo_var *right = build_take_axis(b, build_data(b, own[1]), node->out[2], 0);
  return build_with_data(b, node->out[0], build_mul(b, left, right));
}

static damo_status sp_fn_kron(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *y = x ? sparse_operand(b, a, 1) : NULL;
  return fn_give(b, out, build_sparse_kron(b, x, y));
}

const op_func sparse_kron_funcs[] = {
    {.name = "sparse.kron",
     .operands = "x y",
     .call = sp_fn_kron,
     .doc = "Kronecker product of two sparse matrices, in the first one's format",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_kron_classes[] = {&sp_kron_def, NULL};
