/* clean: sorted indices, and no stored zeros.
 *
 * EnsureSortedIndices sorts the indices of each row (csr) or column (csc), Remove0 drops stored entries that are 0 (nan
 * is not 0); both keep duplicates. Without the property inplace the result is the operand itself where there is nothing
 * to do. With it, the entries move within the operand's data array, which is destroyed; the index arrays are new.
 */
#include "op/sparse/sparse_op.h"

static bool sp_clean_is_inplace(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, inplace_props)->inplace;
  return v->kind != PROP_NIL && v->u.i != 0;
}

static damo_status sp_clean_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, inplace_props)->inplace;
  if (v->kind != PROP_NIL && v->kind != PROP_BOOL)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: inplace is true or false", op->def->name);
  if (!sp_clean_is_inplace(op)) return DAMO_OK;
  op->view_map = NULL;
  op->destroy_map = alias_first;
  return DAMO_OK;
}

static damo_status sp_clean_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status sp_sort_indices_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  return thunk_give(t, f, 0, sp_clean_is_inplace(t->node->op) ? sparse_sort_within(x) : sparse_sort(x));
}

static damo_status sp_remove_zeros_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  return thunk_give_sparse(t, f, 0,
                           sp_clean_is_inplace(t->node->op) ? sparse_drop_zeros_within(x) : sparse_drop_zeros(x));
}

static damo_status sp_clean_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_move_cotangent(b, gout[0], gout[0], node->out[0], node->in[0]);
  return b->status;
}

/* The elements of the matrix do not change, and so its tangent passes as it is. */
static damo_status sp_clean_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  rout[0] = build_move_tangent(b, eval[0], node, eval);
  return b->status;
}

static const op_def sp_sort_indices_def = {
    .name = "EnsureSortedIndices",
    .doc = "a sparse matrix with the indices of each row (csr) or column (csc) in ascending order",
    .props = PROPS(PROP(inplace_props, inplace)),
    .n_in = 1,
    .init = sp_clean_init,
    .view_map = alias_first,
    .infer_type = sp_clean_type,
    .perform = sp_sort_indices_perform,
    .grad = sp_clean_grad,
    .rop = sp_clean_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_FOLLOWS,
    OP_CHECK(same_check),
};

static const op_def sp_remove_zeros_def = {
    .name = "Remove0",
    .doc = "a sparse matrix without the stored entries that are 0",
    .props = PROPS(PROP(inplace_props, inplace)),
    .n_in = 1,
    .init = sp_clean_init,
    .view_map = alias_first,
    .infer_type = sp_clean_type,
    .perform = sp_remove_zeros_perform,
    .grad = sp_clean_grad,
    .rop = sp_clean_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_FOLLOWS,
    OP_CHECK(same_check),
};

static damo_var *build_cleaned(build *b, const op_def *def, damo_var *x) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const inplace_props plain = {.inplace = prop_bool(false)};
  return build_op(b, op_new(b->ctx, def, &plain), &x, 1);
}

damo_var *build_sorted(build *b, damo_var *x) { return build_cleaned(b, &sp_sort_indices_def, x); }

damo_var *build_without_zeros(build *b, damo_var *x) { return build_cleaned(b, &sp_remove_zeros_def, x); }

static damo_status sp_fn_sort(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_sorted(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_remove0(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_without_zeros(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_clean(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_sorted(b, build_without_zeros(b, sparse_operand(b, a, 0))));
}

const op_func sparse_clean_funcs[] = {
    {.name = "sparse.ensure_sorted_indices",
     .operands = "x",
     .call = sp_fn_sort,
     .doc = "the same matrix with the indices of each row (csr) or column (csc) in ascending order; duplicates stay "
            "separate entries"},
    {.name = "sparse.remove0",
     .operands = "x",
     .call = sp_fn_remove0,
     .doc = "the same matrix without stored entries that are 0"},
    {.name = "sparse.clean",
     .operands = "x",
     .call = sp_fn_clean,
     .doc = "the same matrix with sorted indices and without stored zeros; duplicates stay separate entries"},
    {.name = NULL},
};

const op_def *const sparse_clean_classes[] = {&sp_sort_indices_def, &sp_remove_zeros_def, NULL};
