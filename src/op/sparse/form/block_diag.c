/* block_diag: matrices as blocks along the diagonal of one matrix.
 *
 * Class: BlockDiag (format). Its gradients are the blocks of the cotangent, each cut out by two SparseSplits.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

static damo_format sp_block_diag_format(const damo_op *op) {
  damo_format f = DAMO_CSC;
  format_check(op->obj.ctx, "BlockDiag", &OP_PROPS(op, format_props)->format, &f);
  return f;
}

static damo_status sp_block_diag_init(damo_op *op) {
  damo_format f;
  return format_check(op->obj.ctx, "BlockDiag", &OP_PROPS(op, format_props)->format, &f);
}

static damo_status sp_block_diag_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2] = {0, 0};
  damo_dtype itype = DAMO_INT32, dtype = DAMO_BOOL;
  if (n_in < 1) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockDiag: there are no blocks");
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(type_need_sparse(op, in, i));
    itype = itype_join(itype, var_itype(in[i]));
    dtype = i == 0 ? var_dtype(in[i]) : dtype_promote(dtype, var_dtype(in[i]));
    for (int k = 0; k < 2; k++) {
      const int64_t n = in[i]->type->shape[k];
      shape[k] = shape[k] < 0 || n < 0 || n >= INT64_MAX - shape[k] ? -1 : shape[k] + n;
    }
  }
  return type_give_sparse(op, out, sp_block_diag_format(op), dtype, itype, shape[0], shape[1]);
}

static damo_status sp_block_diag_perform(const thunk *t, frame *f) {
  damo_sparse **blocks = thunk_scratch(t, f, (size_t)t->n_in * sizeof *blocks);
  if (blocks == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) blocks[i] = thunk_in_sparse(t, f, i);
  return thunk_give_sparse(
      t, f, 0,
      sparse_block_diag(f->ctx, t->n_in, blocks, sp_block_diag_format(t->node->op), var_dtype(t->node->out[0])));
}

/* The second of the three parts of g along the axis, whose lengths are sizes. */
static damo_var *build_middle_part(build *b, damo_var *g, int axis, damo_var *const sizes[3]) {
  damo_apply *parts = build_sparse_split(b, g, axis, sizes, 3);
  return parts != NULL ? parts->out[1] : NULL;
}

static damo_status sp_block_diag_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  const damo_format format = sp_block_diag_format(node->op);
  const int major = format == DAMO_CSC, n = node->n_in;
  damo_var *g = var_is_sparse(gout[0]) ? build_to_format(b, gout[0], format) : build_sparse_from(b, gout[0], format);
  damo_var **sizes = mem_alloc(b->ctx, (size_t)n * sizeof *sizes), *before = build_i64(b, 0);
  if (sizes == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) sizes[i] = build_dim(b, node->in[i], major);
  damo_apply *strips = g != NULL ? build_sparse_split(b, g, major, sizes, n) : NULL;
  for (int i = 0; i < n && strips != NULL; i++) {
    damo_var *own = build_dim(b, node->in[i], !major), *end = build_add(b, before, own);
    damo_var *rest = build_sub(b, build_dim(b, g, !major), end);
    if (b->status != DAMO_OK) break;
    gin[i] = build_truncated_zeros(b, node, i);
    if (gin[i] == NULL) {
      damo_var *part = build_middle_part(b, strips->out[i], !major, (damo_var *[]){before, own, rest});
      gin[i] = build_move_cotangent(b, part, gout[0], node->out[0], node->in[i]);
    }
    before = end;
  }
  mem_free(b->ctx, sizes, (size_t)n * sizeof *sizes);
  return b->status;
}

static damo_status sp_block_diag_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return rop_of_parts(b, node, eval, rout, sp_block_diag_format(node->op));
}

static damo_status sp_block_diag_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  for (int k = 0; k < 2; k++) {
    out_shape[0][k] = in_shape[0][k];
    for (int i = 1; i < node->n_in; i++) out_shape[0][k] = build_add(b, out_shape[0][k], in_shape[i][k]);
  }
  return b->status;
}

static const op_def sp_block_diag_def = {
    .name = "BlockDiag",
    .doc = "sparse matrices along the diagonal",
    .props = PROPS(PROP(format_props, format)),
    .n_in = OP_VARIADIC,
    .init = sp_block_diag_init,
    .infer_type = sp_block_diag_type,
    .perform = sp_block_diag_perform,
    .grad = sp_block_diag_grad,
    .rop = sp_block_diag_rop,
    .infer_shape = sp_block_diag_shape,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(block_diag_check),
};

static damo_status sp_fn_block_diag(build *b, const fn_args *a, ptrvec *out) {
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there are no blocks", a->func->name);
  for (int i = 0; i < a->n_in; i++) {
    if (sparse_operand(b, a, i) == NULL) return b->status;
  }
  format_props p = {.format = FN_OPTIONS(a, stack_options)->format};
  if (!prop_given(p.format)) p.format = prop_str(sparse_format_name(var_format_of(a->in[0])));
  return fn_give(b, out, build_op(b, op_new(b->ctx, &sp_block_diag_def, &p), a->in, a->n_in));
}

const op_func sparse_block_diag_funcs[] = {
    {.name = "sparse.block_diag",
     .operands = "blocks...",
     .options = OPTIONS(OPT(stack_options, format, OPT_STR)),
     .call = sp_fn_block_diag,
     .doc = "sparse matrices along the diagonal, in the first one's format unless format says else",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_block_diag_classes[] = {&sp_block_diag_def, NULL};
