/* extremum: max, min, argmax, argmin of sparse matrices, absent entries counted as 0, nan as the most extreme.
 *
 * SpExtremum has the properties kind and axis (1 over the rows, 2 over the columns, nil all). Results are dense,
 * positions 1-based. The gradients of max and min go to the stored entries that equal the result: structured.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_extremum_props {
  prop_value kind, axis;
} sp_extremum_props;

typedef struct extremum_fields {
  reduce_kind kind;
  bool largest, position;
  int axis; /* -1: all */
} extremum_fields;

static const extremum_fields *sp_extremum_data(const damo_op *op) { return op->data; }

reduce_kind sp_extremum_kind(const damo_op *op) { return sp_extremum_data(op)->kind; }

static const struct {
  const char *name;
  reduce_kind kind;
} sp_extremum_kinds[] = {
    {"max", REDUCE_MAX}, {"min", REDUCE_MIN}, {"argmax", REDUCE_ARGMAX}, {"argmin", REDUCE_ARGMIN}};

static damo_status sp_extremum_init(damo_op *op) {
  extremum_fields *d = op->data;
  const prop_value *kind = &OP_PROPS(op, sp_extremum_props)->kind, *axis = &OP_PROPS(op, sp_extremum_props)->axis;
  int k = 0;
  while (k < 4 && (kind->kind != PROP_STR || strcmp(kind->u.s, sp_extremum_kinds[k].name) != 0)) k++;
  if (k == 4) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "SpExtremum: kind is 'max', 'min', 'argmax' or 'argmin'");
  d->kind = sp_extremum_kinds[k].kind;
  d->largest = k % 2 == 0;
  d->position = k > 1;
  d->axis = axis->kind == PROP_NIL ? -1 : (int)axis->u.i - 1;
  if (axis->kind == PROP_NIL || (axis->kind == PROP_INT && axis->u.i >= 1 && axis->u.i <= 2)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EINDEX, "SpExtremum: the axis is nil, 1 or 2");
}

static damo_status sp_extremum_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const extremum_fields *d = sp_extremum_data(op);
  DAMO_TRY(type_need_sparse(op, in, 0));
  if (d->position && dtype_is_complex(var_dtype(in[0]))) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s is not defined for sparse matrices of %s; use x:toarray()",
                    OP_PROPS(op, sp_extremum_props)->kind.u.s, dtype_name(var_dtype(in[0])));
  }
  return type_give_dense(op, out, d->position ? DAMO_INT64 : var_dtype(in[0]), d->axis < 0 ? 0 : 1,
                         &in[0]->type->shape[d->axis == 0]);
}

static damo_status sp_extremum_positions(const thunk *t, damo_sparse *x, damo_array *out) {
  const extremum_fields *d = sp_extremum_data(t->node->op);
  int64_t *place = (int64_t *)(void *)out->data;
  DAMO_TRY(sparse_extreme_places(x, d->axis, d->largest, place));
  for (int64_t i = 0; i < array_size(out); i++) place[i]++;
  return DAMO_OK;
}

static damo_status sp_extremum_perform(const thunk *t, frame *f) {
  const extremum_fields *d = sp_extremum_data(t->node->op);
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int64_t n = d->axis < 0 ? 1 : x->shape[d->axis == 0];
  damo_array *out = thunk_out(t, f, 0, d->position ? DAMO_INT64 : sparse_dtype(x), d->axis < 0 ? 0 : 1, &n);
  if (out == NULL) return DAMO_EMEMORY;
  return d->position ? sp_extremum_positions(t, x, out) : sparse_extreme(x, d->axis, d->largest, out);
}

/* v where x's stored values equal the result, else 0. x has no duplicates; v is in the order of its data. */
static damo_var *build_where_extremum(build *b, damo_apply *node, damo_var *x, damo_var *v) {
  damo_var *result = build_data(b, build_sp_spread(b, node->out[0], x, sp_extremum_data(node->op)->axis));
  damo_var *hit = build_eq(b, build_data(b, x), result);
  return build_switch(b, hit, v, build_int(b, 0));
}

static damo_status sp_extremum_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL || sp_extremum_data(node->op)->position) return DAMO_OK;
  if ((gin[0] = build_flat_zeros(b, node, 0)) != NULL) return b->status;
  damo_var *x = build_summed(b, node->in[0]);
  damo_var *g = build_data(b, build_sp_spread(b, gout[0], x, sp_extremum_data(node->op)->axis));
  gin[0] = build_with_data(b, x, build_where_extremum(b, node, x, g));
  return b->status;
}

static damo_status sp_extremum_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const extremum_fields *d = sp_extremum_data(node->op);
  if (eval[0] == NULL || d->position) return DAMO_OK;
  damo_var *x = build_summed(b, node->in[0]);
  damo_var *e = build_where_extremum(b, node, x, build_gather(b, eval[0], x));
  rout[0] = build_sp_sum(b, build_with_data(b, x, e), d->axis, true);
  return b->status;
}

static damo_status sp_extremum_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  const int axis = sp_extremum_data(node->op)->axis;
  if (axis >= 0) out_shape[0][0] = in_shape[0][!axis];
  return b->status;
}

static void sp_extremum_connect(const damo_apply *node, bool *connected) {
  connected[0] = !sp_extremum_data(node->op)->position;
}

static const op_def sp_extremum_def = {
    .name = "SpExtremum",
    .doc = "max, min, argmax or argmin of a sparse matrix, dense; absent entries count as 0",
    .props = PROPS(PROP(sp_extremum_props, kind), PROP(sp_extremum_props, axis)),
    .n_in = 1,
    .data_size = sizeof(extremum_fields),
    .init = sp_extremum_init,
    .infer_type = sp_extremum_type,
    .perform = sp_extremum_perform,
    .grad = sp_extremum_grad,
    .rop = sp_extremum_rop,
    .infer_shape = sp_extremum_shape,
    .connection_pattern = sp_extremum_connect,
    OP_CHECK(extremum_check),
};

damo_var *build_extremum(build *b, reduce_kind kind, damo_var *x, int axis) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  int k = 0;
  while (sp_extremum_kinds[k].kind != kind) k++;
  const sp_extremum_props props = {.kind = prop_str(sp_extremum_kinds[k].name),
                                   .axis = axis < 0 ? prop_nil() : prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &sp_extremum_def, &props), &x, 1);
}

static damo_status sp_fn_extremum(build *b, const fn_args *a, ptrvec *out) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  const bool keepdims = prop_bool_or(o->keepdims, false);
  int axes[DAMO_MAX_NDIM], n;
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  DAMO_TRY(axes_check(b->ctx, a->func->name, &o->axis, 2, axes, &n));
  if (n == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the list of axes is empty", a->func->name);
  const reduce_kind *kind = a->func->data;
  damo_var *v = build_extremum(b, *kind, x, n == 2 ? -1 : axes[0]);
  return fn_give(b, out, keepdims ? build_kept(b, v, n == 2 ? -1 : axes[0]) : v);
}

const op_func sparse_extremum_funcs[] = {
    {.name = "sparse.max",
     .operands = "x",
     .options = OPTIONS(OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)),
     .call = sp_fn_extremum,
     .data = &sp_extremum_kinds[0].kind,
     .doc = "largest element over axes, absent entries counted as 0; dense",
     .of_two = "maximum",
     .of_number = true},
    {.name = "sparse.min",
     .operands = "x",
     .options = OPTIONS(OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)),
     .call = sp_fn_extremum,
     .data = &sp_extremum_kinds[1].kind,
     .doc = "smallest element over axes, absent entries counted as 0; dense",
     .of_two = "minimum",
     .of_number = true},
    {.name = "sparse.argmax",
     .operands = "x",
     .options = OPTIONS(OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)),
     .call = sp_fn_extremum,
     .data = &sp_extremum_kinds[2].kind,
     .doc = "1-based position of the first largest element over axes, absent entries counted as 0"},
    {.name = "sparse.argmin",
     .operands = "x",
     .options = OPTIONS(OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)),
     .call = sp_fn_extremum,
     .data = &sp_extremum_kinds[3].kind,
     .doc = "1-based position of the first smallest element over axes, absent entries counted as 0"},
    {.name = NULL},
};

const op_def *const sparse_extremum_classes[] = {&sp_extremum_def, NULL};
