/* stack: HStack (blocks side by side), VStack (one above the other) and their inverse, SparseSplit.
 *
 * Properties of the stacks: format ("csc" when nil), dtype (the common one when nil); of SparseSplit: axis (1-based),
 * n. SparseSplit takes a matrix and n lengths and gives n matrices without stored zeros. It is the adjoint of a stack,
 * and a stack is its adjoint.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_stack_props {
  prop_value format, dtype;
} sp_stack_props;

static const op_def sp_hstack_def, sp_vstack_def, sp_split_def;

static int sp_stack_axis(const damo_op *op) { return op->def == &sp_hstack_def; }

/* ---- SparseSplit ------------------------------------------------------------------------------------------------- */

static int sp_split_axis(const damo_op *op) { return (int)OP_PROPS(op, split_props)->axis.u.i - 1; }

static damo_status sp_split_init(damo_op *op) {
  const prop_value *axis = &OP_PROPS(op, split_props)->axis, *n = &OP_PROPS(op, split_props)->n;
  if (axis->kind != PROP_INT || axis->u.i < 1 || axis->u.i > 2)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "SparseSplit: the axis is 1 or 2");
  if (n->kind == PROP_INT && n->u.i >= 1 && n->u.i < INT32_MAX) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "SparseSplit: n, the number of parts, must be 1 or more");
}

static int sp_split_count(const damo_op *op, int n_in) {
  (void)n_in;
  return (int)OP_PROPS(op, split_props)->n.u.i;
}

static damo_status sp_split_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const int n = sp_split_count(op, n_in), axis = sp_split_axis(op);
  if (n_in != n + 1)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "SparseSplit: expected a matrix and %d lengths, got %d inputs", n, n_in);
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int i = 0; i < n; i++) {
    int64_t shape[2] = {in[0]->type->shape[0], in[0]->type->shape[1]};
    DAMO_TRY(type_need_dense(op, in, i + 1, 0));
    shape[axis] = -1;
    if (!var_static_int(in[i + 1], &shape[axis]) || shape[axis] < 0) shape[axis] = -1;
    DAMO_TRY(
        type_give_sparse(op, out + i, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]));
  }
  return DAMO_OK;
}

static damo_status sp_split_perform(const thunk *t, frame *f) {
  const int n = t->n_out;
  const size_t size = (size_t)n * (sizeof(int64_t) + sizeof(void *));
  int64_t *sizes = thunk_scratch(t, f, size);
  if (sizes == NULL) return DAMO_EMEMORY;
  damo_sparse **parts = (damo_sparse **)(void *)(sizes + n);
  for (int i = 0; i < n; i++) sizes[i] = array_int(thunk_in(t, f, i + 1));
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int axis = sp_split_axis(t->node->op);
  /* x may hold derivatives entry by entry (cotangent.c): with duplicates all entries are kept, 0 or not */
  DAMO_TRY((x->unique ? sparse_split : sparse_split_entries)(x, "SparseSplit", axis, n, sizes, parts));
  for (int i = 0; i < n; i++) thunk_set_out(t, f, i, &parts[i]->obj);
  return DAMO_OK;
}

damo_var *build_sparse_stack(build *b, int axis, damo_format format, damo_var *const *in, int n) {
  const sp_stack_props props = {.format = prop_str(sparse_format_name(format))};
  return build_op(b, op_new(b->ctx, axis ? &sp_hstack_def : &sp_vstack_def, &props), in, n);
}

/* A part without a cotangent gets an empty one. */
static damo_status sp_split_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const int n = node->n_out;
  const damo_format format = var_format_of(node->in[0]);
  damo_var **parts = mem_alloc(b->ctx, (size_t)n * sizeof *parts);
  if (parts == NULL) return b->status = DAMO_EMEMORY;
  damo_dtype dtype = var_dtype(node->in[0]);
  for (int i = 0; i < n; i++) {
    if (gout[i] != NULL) dtype = var_dtype(gout[i]);
  }
  for (int i = 0; i < n; i++) {
    parts[i] = gout[i] != NULL ? build_sparse_from(b, gout[i], format) : build_sparse_zeros(b, node->out[i], dtype);
  }
  if (b->status == DAMO_OK)
    gin[0] = build_move_outputs(b, build_sparse_stack(b, sp_split_axis(node->op), format, parts, n), node, gout);
  mem_free(b->ctx, parts, (size_t)n * sizeof *parts);
  return b->status;
}

static damo_apply *sp_split_again(build *b, damo_op *op, damo_var *x, damo_var *const *sizes, int n) {
  damo_var **in = mem_alloc(b->ctx, (size_t)(n + 1) * sizeof *in);
  if (in == NULL) return b->status = DAMO_EMEMORY, NULL;
  in[0] = x;
  memcpy(in + 1, sizes, (size_t)n * sizeof *in);
  damo_apply *node = build_apply(b, damo_retain(op), in, n + 1);
  mem_free(b->ctx, in, (size_t)(n + 1) * sizeof *in);
  return node;
}

static damo_status sp_split_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  damo_apply *again = sp_split_again(b, node->op, eval[0], node->in + 1, node->n_out);
  for (int i = 0; again != NULL && i < node->n_out; i++)
    rout[i] = build_move_cotangent(b, again->out[i], eval[0], node->in[0], node->out[i]);
  return b->status;
}

static damo_status sp_split_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const int axis = sp_split_axis(node->op);
  for (int i = 0; i < node->n_out; i++) {
    out_shape[i][axis] = node->in[i + 1];
    out_shape[i][!axis] = in_shape[0][!axis];
  }
  return b->status;
}

static void sp_split_connect(const damo_apply *node, bool *connected) {
  for (int i = node->n_out; i < node->n_in * node->n_out; i++) connected[i] = false;
}

static const op_def sp_split_def = {
    .name = "SparseSplit",
    .doc = "the parts of a sparse matrix along an axis, without zeros where it is known to have no duplicates",
    .props = PROPS(PROP(split_props, axis), PROP(split_props, n)),
    .n_in = OP_VARIADIC,
    .n_out = OP_VARIADIC,
    .init = sp_split_init,
    .count_out = sp_split_count,
    .infer_type = sp_split_type,
    .perform = sp_split_perform,
    .grad = sp_split_grad,
    .rop = sp_split_rop,
    .infer_shape = sp_split_shape,
    .connection_pattern = sp_split_connect,
    .pattern = PATTERN_FOLLOWS,
    OP_CHECK(split_check),
};

damo_apply *build_sparse_split(build *b, damo_var *g, int axis, damo_var *const *sizes, int n) {
  if (g == NULL || b->status != DAMO_OK) return NULL;
  const split_props props = {.axis = prop_int(axis + 1), .n = prop_int(n)};
  damo_op *op = op_new(b->ctx, &sp_split_def, &props);
  if (op == NULL) return build_take(b, NULL), NULL;
  damo_apply *parts = sp_split_again(b, op, g, sizes, n);
  damo_release(op);
  return parts;
}

/* ---- HStack, VStack ---------------------------------------------------------------------------------------------- */

static damo_format sp_stack_format(const damo_op *op) {
  damo_format f = DAMO_CSC;
  const prop_value *v = &OP_PROPS(op, sp_stack_props)->format;
  if (v->kind != PROP_NIL) format_check(op->obj.ctx, op->def->name, v, &f);
  return f;
}

static damo_status sp_stack_init(damo_op *op) {
  damo_format f;
  damo_dtype dtype;
  const prop_value *format = &OP_PROPS(op, sp_stack_props)->format, *v = &OP_PROPS(op, sp_stack_props)->dtype;
  if (format->kind != PROP_NIL) DAMO_TRY(format_check(op->obj.ctx, op->def->name, format, &f));
  if (v->kind == PROP_NIL || (v->kind == PROP_STR && damo_dtype_from_name(v->u.s, &dtype))) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: dtype must be the name of a dtype, got '%s'", op->def->name,
                  v->kind == PROP_STR ? v->u.s : "another value");
}

static damo_dtype sp_stack_dtype(const damo_op *op, damo_var *const *in, int n_in) {
  const prop_value *v = &OP_PROPS(op, sp_stack_props)->dtype;
  damo_dtype dtype = var_dtype(in[0]);
  if (v->kind == PROP_STR && damo_dtype_from_name(v->u.s, &dtype)) return dtype;
  for (int i = 1; i < n_in; i++) dtype = dtype_promote(dtype, var_dtype(in[i]));
  return dtype;
}

static damo_status sp_stack_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const int axis = sp_stack_axis(op);
  int64_t shape[2] = {-1, -1};
  damo_dtype itype = DAMO_INT32;
  if (n_in < 1) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: there are no blocks", op->def->name);
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(type_need_sparse(op, in, i));
    DAMO_TRY(dtype_check_cast(op->obj.ctx, op->def->name, var_dtype(in[i]), sp_stack_dtype(op, in, n_in)));
    if (i > 0) DAMO_TRY(type_need_same_length(op, in, 0, !axis, i, !axis));
    const int64_t *own = in[i]->type->shape;
    itype = itype_join(itype, var_itype(in[i]));
    if (own[!axis] >= 0) shape[!axis] = own[!axis];
    if (i == 0) {
      shape[axis] = own[axis];
    } else {
      shape[axis] =
          shape[axis] < 0 || own[axis] < 0 || own[axis] >= INT64_MAX - shape[axis] ? -1 : shape[axis] + own[axis];
    }
  }
  return type_give_sparse(op, out, sp_stack_format(op), sp_stack_dtype(op, in, n_in), itype, shape[0], shape[1]);
}

static damo_status sp_stack_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  damo_sparse **blocks = thunk_scratch(t, f, (size_t)t->n_in * sizeof *blocks);
  if (blocks == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) blocks[i] = thunk_in_sparse(t, f, i);
  return thunk_give_sparse(t, f, 0,
                           sparse_stack(f->ctx, op->def->name, sp_stack_axis(op), t->n_in, blocks, sp_stack_format(op),
                                        var_dtype(t->node->out[0])));
}

static damo_status sp_stack_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const int n = node->n_in, axis = sp_stack_axis(node->op);
  if (gout[0] == NULL) return DAMO_OK;
  const damo_format format = sp_stack_format(node->op);
  damo_var *g = var_is_sparse(gout[0]) ? build_to_format(b, gout[0], format) : build_sparse_from(b, gout[0], format);
  damo_var **sizes = mem_alloc(b->ctx, (size_t)n * sizeof *sizes);
  if (sizes == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) sizes[i] = build_dim(b, node->in[i], axis);
  damo_apply *parts = build_sparse_split(b, g, axis, sizes, n);
  for (int i = 0; parts != NULL && i < n; i++) {
    gin[i] = build_truncated_zeros(b, node, i);
    if (gin[i] == NULL) gin[i] = build_move_cotangent(b, parts->out[i], gout[0], node->out[0], node->in[i]);
  }
  mem_free(b->ctx, sizes, (size_t)n * sizeof *sizes);
  return b->status;
}

damo_status rop_of_parts(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout, damo_format format) {
  const int n = node->n_in;
  bool any = false;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    rout[0] = build_zero_grad(b, node->out[0]);
    return b->status;
  }
  damo_var **in = mem_alloc(b->ctx, (size_t)n * sizeof *in);
  if (in == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) {
    any = any || eval[i] != NULL;
    in[i] = eval[i] != NULL ? eval[i] : build_sparse_zeros(b, node->in[i], var_dtype(node->in[i]));
    if (in[i] != NULL) in[i] = build_sparse_from(b, in[i], format);
  }
  if (any && b->status == DAMO_OK) rout[0] = build_op(b, damo_retain(node->op), in, n);
  rout[0] = build_move_tangent(b, rout[0], node, eval);
  mem_free(b->ctx, in, (size_t)n * sizeof *in);
  return b->status;
}

static damo_status sp_stack_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return rop_of_parts(b, node, eval, rout, sp_stack_format(node->op));
}

static damo_status sp_stack_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const int axis = sp_stack_axis(node->op);
  damo_var *sum = in_shape[0][axis];
  for (int i = 1; i < node->n_in; i++) sum = build_add(b, sum, in_shape[i][axis]);
  out_shape[0][axis] = sum;
  out_shape[0][!axis] = in_shape[0][!axis];
  return b->status;
}

static const op_def sp_hstack_def = {
    .name = "HStack",
    .doc = "sparse matrices side by side",
    .props = PROPS(PROP(sp_stack_props, format), PROP(sp_stack_props, dtype)),
    .n_in = OP_VARIADIC,
    .init = sp_stack_init,
    .infer_type = sp_stack_type,
    .perform = sp_stack_perform,
    .grad = sp_stack_grad,
    .rop = sp_stack_rop,
    .infer_shape = sp_stack_shape,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(hstack_check),
};

static const op_def sp_vstack_def = {
    .name = "VStack",
    .doc = "sparse matrices one above the other",
    .props = PROPS(PROP(sp_stack_props, format), PROP(sp_stack_props, dtype)),
    .n_in = OP_VARIADIC,
    .init = sp_stack_init,
    .infer_type = sp_stack_type,
    .perform = sp_stack_perform,
    .grad = sp_stack_grad,
    .rop = sp_stack_rop,
    .infer_shape = sp_stack_shape,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(vstack_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_stack(build *b, const fn_args *a, ptrvec *out, const op_def *def) {
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there are no blocks", a->func->name);
  const stack_options *o = FN_OPTIONS(a, stack_options);
  const sp_stack_props props = {.format = o->format, .dtype = o->dtype};
  return fn_give(b, out, build_op(b, op_new(b->ctx, def, &props), a->in, a->n_in));
}

static damo_status sp_fn_hstack(build *b, const fn_args *a, ptrvec *out) {
  return sp_fn_stack(b, a, out, &sp_hstack_def);
}
static damo_status sp_fn_vstack(build *b, const fn_args *a, ptrvec *out) {
  return sp_fn_stack(b, a, out, &sp_vstack_def);
}

/* Stacks the operands from `first` on, in the format of the first sparse one. */
static damo_status sp_fn_join_along(build *b, const fn_args *a, int first, int64_t axis, ptrvec *out) {
  int k;
  DAMO_TRY(axis_check(b->ctx, a->func->name, axis, 2, &k));
  damo_format format = DAMO_CSC;
  for (int i = a->n_in - 1; i >= first; i--) format = var_is_sparse(a->in[i]) ? var_format_of(a->in[i]) : format;
  return fn_give(b, out, build_sparse_stack(b, k, format, a->in + first, a->n_in - first));
}

static damo_status sp_fn_concatenate(build *b, const fn_args *a, ptrvec *out) {
  return sp_fn_join_along(b, a, 0, prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1), out);
}

static damo_status sp_fn_join(build *b, const fn_args *a, ptrvec *out) {
  damo_var *axis = build_integer(b, "join", "the axis", a->in[0]);
  int64_t k;
  if (axis == NULL) return b->status;
  if (!var_static_int(axis, &k)) return ctx_fail(b->ctx, DAMO_ETYPE, "join: the axis must be a known integer");
  return sp_fn_join_along(b, a, 1, k, out);
}

#define STACK_OPTIONS OPTIONS(OPT(stack_options, format, OPT_STR), OPT(stack_options, dtype, OPT_DTYPE))

const op_func sparse_stack_funcs[] = {
    {.name = "sparse.hstack",
     .operands = "blocks...",
     .options = STACK_OPTIONS,
     .call = sp_fn_hstack,
     .doc = "sparse matrices side by side, as csc unless format says else",
     .no_method = true},
    {.name = "sparse.vstack",
     .operands = "blocks...",
     .options = STACK_OPTIONS,
     .call = sp_fn_vstack,
     .doc = "sparse matrices one above the other, as csc unless format says else",
     .no_method = true},
    {.name = "sparse.concatenate",
     .operands = "xs...",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = sp_fn_concatenate,
     .doc = "sparse matrices one after the other along an axis, in the first one's format",
     .no_method = true},
    {.name = "sparse.join",
     .operands = "axis xs...",
     .call = sp_fn_join,
     .doc = "sparse matrices one after the other along an axis, in the first one's format",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_stack_classes[] = {&sp_hstack_def, &sp_vstack_def, &sp_split_def, NULL};
