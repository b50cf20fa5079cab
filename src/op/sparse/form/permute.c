/* permute: rows and columns in another order.
 *
 * Class: Permute; its positions are 1-based permutations. Its gradient permutes back.
 */
#include "op/sparse/sparse_op.h"

static damo_status sp_permute_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int k = 0; k < 2; k++) {
    DAMO_TRY(type_need_dense(op, in, k + 1, 1));
    if (var_dtype(in[k + 1]) != DAMO_INT64)
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Permute: positions must be int64, got %s",
                      dtype_name(var_dtype(in[k + 1])));
    DAMO_TRY(type_need_same_length(op, in, 0, k, k + 1, 0));
  }
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

/* A 0-based contiguous copy of 1-based positions. */
static damo_array *sp_permute_from_one(const damo_array *v) {
  damo_array *out = array_copy(v);
  for (int64_t i = 0; out != NULL && i < array_size(out); i++) ((int64_t *)(void *)out->data)[i]--;
  return out;
}

static damo_status sp_permute_perform(const thunk *t, frame *f) {
  damo_array *rows = sp_permute_from_one(thunk_in(t, f, 1)),
             *cols = rows != NULL ? sp_permute_from_one(thunk_in(t, f, 2)) : NULL;
  damo_sparse *out = cols != NULL ? sparse_permute(thunk_in_sparse(t, f, 0), rows, cols) : NULL;
  damo_release(rows);
  damo_release(cols);
  return thunk_give_sparse(t, f, 0, out);
}

static damo_var *build_permuted(build *b, damo_apply *node, damo_var *x, damo_var *rows, damo_var *cols) {
  x = x != NULL ? build_sparse_from(b, x, var_format_of(node->in[0])) : NULL;
  if (x == NULL || rows == NULL || cols == NULL) return NULL;
  return build_op(b, damo_retain(node->op), (damo_var *[]){x, rows, cols}, 3);
}

/* argsort of a permutation is its inverse. */
static damo_status sp_permute_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return b->status;
  damo_var *rows = build_argsort(b, node->in[1], 0), *cols = build_argsort(b, node->in[2], 0);
  damo_var *back = build_permuted(b, node, gout[0], rows, cols);
  gin[0] = build_move_cotangent(b, back, gout[0], node->out[0], node->in[0]);
  return b->status;
}

static damo_status sp_permute_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  rout[0] = build_move_tangent(b, build_permuted(b, node, eval[0], node->in[1], node->in[2]), node, eval);
  return b->status;
}

static const op_def sp_permute_def = {
    .name = "Permute",
    .doc = "rows and columns in another order: row i, column j is row rows[i], column cols[j]",
    .n_in = 3,
    .infer_type = sp_permute_type,
    .perform = sp_permute_perform,
    .grad = sp_permute_grad,
    .rop = sp_permute_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_first,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(permute_check),
};

static damo_status sp_fn_permute(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3] = {sparse_operand(b, a, 0), build_integer(b, "permute", "the rows", a->in[1]),
                     build_integer(b, "permute", "the columns", a->in[2])};
  return fn_give(b, out, build_class(b, &sp_permute_def, in, 3));
}

const op_func sparse_permute_funcs[] = {
    {.name = "sparse.permute",
     .operands = "x rows cols",
     .call = sp_fn_permute,
     .doc = "rows and columns in another order, 1-based permutations: row i is row rows[i] of x"},
    {.name = NULL},
};

const op_def *const sparse_permute_classes[] = {&sp_permute_def, NULL};
