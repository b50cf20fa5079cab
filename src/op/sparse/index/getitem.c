/* getitem: x[{i, j}] and x[{ {a, b}, {c, d} }] of sparse matrices.
 *
 * GetItemScalar(x, i, j) gives an element, GetItem2d{spec}(x, idx…) a block in x's format; GetItem2dGrad{spec}(x, g,
 * idx…) puts a block back into a matrix of x's shape, GetItem2d's adjoint. spec and idx are those of subtensor
 * (op/index/subtensor.c) with ranges alone, one or two: ends are 1-based and inclusive, negative ones count from the
 * end.
 */
#include "op/index/index_int.h"
#include "op/sparse/sparse_op.h"

#include <string.h>

#define GETITEM_MOST_ENDS 6

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A spec of ranges: of the rows, of the columns (all of them where not given). */
typedef struct getitem_block_spec {
  int n_operands;
  index_item axis[2];
} getitem_block_spec;

static damo_status sp_getitem_block_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, index_props)->spec;
  getitem_block_spec *s = op->data;
  index_spec all;
  if (v->kind != PROP_STR && v->kind != PROP_NIL)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: spec must be a string", op->def->name);
  DAMO_TRY(index_spec_parse(op->obj.ctx, v->kind == PROP_STR ? v->u.s : "s111s111", &all));
  s->n_operands = all.n_operands;
  for (int i = 0; i < 2; i++) s->axis[i] = (index_item){.kind = ITEM_RANGE, .operand = (int16_t)all.n_operands};
  for (int i = 0; i < all.n; i++) {
    if (i > 1 || all.item[i].kind != ITEM_RANGE)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: spec '%s' is not one of one or two ranges", op->def->name, v->u.s);
    s->axis[i] = all.item[i];
  }
  return DAMO_OK;
}

/* Both lengths of the block, -1 where unknown. idx: the ends among the inputs. */
static damo_status sp_getitem_static_block(const damo_op *op, const damo_var *x, damo_var *const *idx, int64_t *shape) {
  const getitem_block_spec *s = op->data;
  for (int i = 0; i < s->n_operands; i++) {
    if (!var_is_dense(idx[i]) || var_ndim(idx[i]) != 0 || var_dtype(idx[i]) != DAMO_INT64)
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the ends of ranges must be int64 scalars", op->def->name);
  }
  for (int axis = 0; axis < 2; axis++) {
    damo_var *ends[3];
    range_ends(&s->axis[axis], idx, ends);
    DAMO_TRY(range_static(op->obj.ctx, "index", axis, x->type->shape[axis], ends, &shape[axis]));
    if (shape[axis] < 0 && s->axis[axis].given == 0) shape[axis] = x->type->shape[axis];
  }
  return DAMO_OK;
}

/* The range along an axis of n entries; the ends are the thunk's inputs from `first` on. */
static damo_status sp_getitem_read_range(const thunk *t, frame *f, int first, int axis, int64_t n, sparse_range *out) {
  const index_item *item = &((const getitem_block_spec *)t->node->op->data)->axis[axis];
  int64_t value[3], at = first + item->operand;
  const int64_t *end[3] = {NULL, NULL, NULL};
  for (int k = 0; k < 3; k++) {
    if (!(item->given >> k & 1)) continue;
    value[k] = array_int(thunk_in(t, f, (int)at++));
    end[k] = &value[k];
  }
  out->step = end[2] ? value[2] : 1;
  return range_resolve(f->ctx, "index", axis, n, end[0], end[1], out->step, &out->first, &out->count);
}

static damo_status sp_getitem_read_block(const thunk *t, frame *f, int first, const damo_sparse *x,
                                         sparse_range *range) {
  DAMO_TRY(sp_getitem_read_range(t, f, first, 0, x->shape[0], &range[0]));
  return sp_getitem_read_range(t, f, first, 1, x->shape[1], &range[1]);
}

static const char *sp_getitem_spec(const damo_op *op) {
  return OP_PROPS(op, index_props)->spec.kind == PROP_STR ? OP_PROPS(op, index_props)->spec.u.s : "s111s111";
}

/* A node of the class def, GetItem2d or its gradient, over the inputs head and the ends idx. */
static damo_var *build_getitem_with_ends(build *b, const op_def *def, const char *spec, damo_var *const *head,
                                         int n_head, damo_var *const *idx, int n_idx) {
  damo_var *in[2 + GETITEM_MOST_ENDS];
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < n_head; i++) {
    if (head[i] == NULL) return NULL;
    in[i] = head[i];
  }
  for (int i = 0; i < n_idx; i++) in[n_head + i] = idx[i];
  const index_props p = {.spec = prop_str(spec)};
  return build_op(b, op_new(b->ctx, def, &p), in, n_head + n_idx);
}

/* make_node of both classes: the ends of ranges, after the first n_head inputs, may be any integers. */
static damo_apply *sp_getitem_ends_node(build *b, damo_op *op, damo_var *const *in, int n_in, int n_head) {
  damo_var *own[2 + GETITEM_MOST_ENDS];
  damo_type *out = NULL;
  const int n_ends = ((const getitem_block_spec *)op->data)->n_operands;
  if (n_in != n_head + n_ends)
    return build_fail(b, DAMO_ETYPE, "%s: expected %d operands, got %d", op->def->name, n_head + n_ends, n_in), NULL;
  for (int i = 0; i < n_in; i++)
    own[i] = i < n_head ? build_strong(b, in[i]) : build_integer(b, op->def->name, "the ends of ranges", in[i]);
  if (b->status != DAMO_OK || op->def->infer_type(op, own, n_in, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, n_in, &out, 1);
  damo_release(out);
  return node;
}

static damo_apply *sp_getitem_block_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  return sp_getitem_ends_node(b, op, in, n_in, 1);
}
static damo_apply *sp_getitem_block_grad_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  return sp_getitem_ends_node(b, op, in, n_in, 2);
}

/* ---- GetItem2d --------------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_block_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_getitem_static_block(op, in[0], in + 1, shape));
  return type_give_sparse(op, out, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]);
}

static damo_status sp_getitem_block_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  sparse_range range[2];
  DAMO_TRY(sp_getitem_read_block(t, f, 1, x, range));
  return thunk_give_sparse(t, f, 0, sparse_slice(x, &range[0], &range[1]));
}

static damo_status sp_getitem_block_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
static damo_var *build_block(build *b, damo_var *x, const damo_apply *node, int first);

static damo_status sp_getitem_block_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_move_tangent(b, build_block(b, eval[0], node, 1), node, eval);
  return b->status;
}

static damo_status sp_getitem_block_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                          damo_var ***out_shape) {
  const getitem_block_spec *s = node->op->data;
  const int64_t *known = node->out[0]->type->shape;
  for (int axis = 0; axis < 2; axis++) {
    damo_var *ends[3];
    range_ends(&s->axis[axis], node->in + 1, ends);
    out_shape[0][axis] = known[axis] >= 0 ? build_i64(b, known[axis]) : range_length(b, in_shape[0][axis], ends);
  }
  return b->status;
}

static const op_def sp_getitem_block_def = {
    .name = "GetItem2d",
    .doc = "a block of a sparse matrix by ranges of rows and columns",
    .props = PROPS(PROP(index_props, spec)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(getitem_block_spec),
    .init = sp_getitem_block_init,
    .infer_type = sp_getitem_block_type,
    .make_node = sp_getitem_block_node,
    .perform = sp_getitem_block_perform,
    .grad = sp_getitem_block_grad,
    .rop = sp_getitem_block_rop,
    .infer_shape = sp_getitem_block_shape,
    .connection_pattern = connect_first,
    .notate = index_read_notate,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_block_check),
};

/* The block of x that the node (of GetItem2d or its gradient) selects; its ends are the inputs from `first` on. */
static damo_var *build_block(build *b, damo_var *x, const damo_apply *node, int first) {
  const char *spec = sp_getitem_spec(node->op);
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return index_read(b, x, spec, node->in + first, node->n_in - first);
  return build_getitem_with_ends(b, &sp_getitem_block_def, spec, &x, 1, node->in + first, node->n_in - first);
}

/* ---- GetItem2dGrad ----------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_block_grad_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(sp_getitem_static_block(op, in[0], in + 2, shape));
  return type_give_like(op, out, in[0], var_dtype(in[1]));
}

static damo_status sp_getitem_block_grad_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  damo_sparse *g = thunk_in_sparse(t, f, 1);
  sparse_range range[2];
  sparse_where where[2];
  DAMO_TRY(sp_getitem_read_block(t, f, 2, x, range));
  if (g->shape[0] != range[0].count || g->shape[1] != range[1].count)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the block has shape (%lld, %lld), expected (%lld, %lld)",
                    t->node->op->def->name, (long long)g->shape[0], (long long)g->shape[1], (long long)range[0].count,
                    (long long)range[1].count);
  for (int axis = 0; axis < 2; axis++)
    where[axis] = (sparse_where){.first = range[axis].first, .step = range[axis].count > 1 ? range[axis].step : 1};
  return thunk_give_sparse(t, f, 0, sparse_put(g, sparse_format(x), x->shape, &where[0], &where[1]));
}

static damo_status sp_getitem_block_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  gin[1] = build_move_cotangent(b, build_block(b, gout[0], node, 2), gout[0], node->out[0], node->in[1]);
  return b->status;
}

static damo_status sp_getitem_block_grad_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *head[2] = {node->in[0], eval[1]};
  if (eval[1] == NULL) return DAMO_OK;
  rout[0] = build_getitem_with_ends(b, node->op->def, sp_getitem_spec(node->op), head, 2, node->in + 2, node->n_in - 2);
  rout[0] = build_move_cotangent(b, rout[0], eval[1], node->in[1], node->out[0]);
  return b->status;
}

static const op_def sp_getitem_block_grad_def = {
    .name = "GetItem2dGrad",
    .doc = "a block put back where ranges say, into a matrix of x's shape",
    .props = PROPS(PROP(index_props, spec)),
    .n_in = OP_VARIADIC,
    .least_in = 2,
    .data_size = sizeof(getitem_block_spec),
    .init = sp_getitem_block_init,
    .infer_type = sp_getitem_block_grad_type,
    .make_node = sp_getitem_block_grad_node,
    .perform = sp_getitem_block_grad_perform,
    .grad = sp_getitem_block_grad_grad,
    .rop = sp_getitem_block_grad_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = connect_second,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_block_grad_check),
};

static damo_status sp_getitem_block_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *head[2] = {node->in[0], build_sparse_from(b, gout[0], var_format_of(node->in[0]))};
  damo_var *put = build_getitem_with_ends(b, &sp_getitem_block_grad_def, sp_getitem_spec(node->op), head, 2,
                                          node->in + 1, node->n_in - 1);
  gin[0] = build_move_cotangent(b, put, head[1], node->out[0], node->in[0]);
  return b->status;
}

/* ---- GetItemScalar ----------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_scalar_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t v;
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int i = 1; i < 3; i++) {
    DAMO_TRY(type_need_dense(op, in, i, 0));
    if (var_dtype(in[i]) != DAMO_INT64)
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: a position must be an int64 scalar, got %s", op->def->name,
                      dtype_name(var_dtype(in[i])));
    const int64_t n = in[0]->type->shape[i - 1];
    if (n < 0) DAMO_TRY(position_check_known(op->obj.ctx, "index", in[i]));
    if (n >= 0 && var_static_int(in[i], &v)) DAMO_TRY(position_resolve(op->obj.ctx, "index", i - 1, n, v, &v));
  }
  return type_give_dense(op, out, var_dtype(in[0]), 0, NULL);
}

static damo_status sp_getitem_scalar_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  int64_t at[2];
  for (int i = 0; i < 2; i++)
    DAMO_TRY(position_resolve(f->ctx, "index", i, x->shape[i], array_int(thunk_in(t, f, i + 1)), &at[i]));
  damo_array *out = thunk_out(t, f, 0, sparse_dtype(x), 0, NULL);
  return out != NULL ? sparse_elements(x, 1, &at[0], &at[1], out->data) : DAMO_EMEMORY;
}

/* A 0-d value as a vector of one entry. */
static damo_var *build_one_entry(build *b, damo_var *x) {
  return x ? build_dimshuffle(b, x, (const int[]){-1}, 1) : NULL;
}

static damo_status sp_getitem_scalar_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = build_put_elements(b, node->in[0], build_one_entry(b, node->in[1]), build_one_entry(b, node->in[2]),
                              build_one_entry(b, gout[0]));
  return b->status;
}

static damo_var *build_scalar_entry(build *b, damo_var *x, damo_var *i, damo_var *j);

static damo_status sp_getitem_scalar_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_scalar_entry(b, eval[0], node->in[1], node->in[2]);
  return b->status;
}

static damo_status sp_getitem_scalar_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                           damo_var ***out_shape) {
  (void)node;
  (void)in_shape;
  (void)out_shape;
  return b->status;
}

static damo_apply *sp_getitem_scalar_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  damo_type *out = NULL;
  if (n_in != 3) return build_fail(b, DAMO_ETYPE, "%s: expected x and two positions", op->def->name), NULL;
  damo_var *own[3] = {build_strong(b, in[0]), build_integer(b, op->def->name, "a position", in[1]),
                      build_integer(b, op->def->name, "a position", in[2])};
  if (b->status != DAMO_OK || sp_getitem_scalar_type(op, own, 3, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, 3, &out, 1);
  damo_release(out);
  return node;
}

static void sp_getitem_scalar_notate(const damo_apply *node, op_notation *how) {
  (void)node;
  how->spec = "ii";
  how->first = 1;
}

static const op_def sp_getitem_scalar_def = {
    .name = "GetItemScalar",
    .doc = "an element of a sparse matrix",
    .n_in = 3,
    .infer_type = sp_getitem_scalar_type,
    .make_node = sp_getitem_scalar_node,
    .perform = sp_getitem_scalar_perform,
    .grad = sp_getitem_scalar_grad,
    .rop = sp_getitem_scalar_rop,
    .infer_shape = sp_getitem_scalar_shape,
    .connection_pattern = connect_first,
    .notate = sp_getitem_scalar_notate,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_scalar_check),
};

static damo_var *build_scalar_entry(build *b, damo_var *x, damo_var *i, damo_var *j) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return index_read(b, x, "ii", (damo_var *[]){i, j}, 2);
  return build_class(b, &sp_getitem_scalar_def, (damo_var *[]){x, i, j}, 3);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The call that an error recommends for a spec whose list selects neither whole rows nor whole columns. */
static const char *sp_getitem_instead_of_list(const index_spec *spec) {
  const index_item *one = &spec->item[0], *two = &spec->item[1];
  if (spec->n != 2) return "damo.sparse.get_item_list(x, list, {axis = 1 or 2})";
  if (one->kind == two->kind) {
    return "damo.sparse.get_item_2lists(x, rows, cols) for elements, or get_item_list for the rows and, with "
           "{axis = 2}, for their columns";
  }
  if (two->kind == ITEM_POSITION) return "damo.sparse.get_item_list(x[{ {}, {j, j} }], list)";
  return "damo.sparse.get_item_list(x[{ {i, i} }], list, {axis = 2})";
}

/* The axis of the spec's only list, alone or beside a range; -1: the spec has another form. */
static int sp_getitem_axis_of_list(const index_spec *spec) {
  int axis = -1;
  for (int i = 0; i < spec->n; i++) {
    if (spec->n > 2 || (spec->item[i].kind != ITEM_LIST && spec->item[i].kind != ITEM_RANGE)) return -1;
    if (spec->item[i].kind != ITEM_LIST) continue;
    if (axis >= 0) return -1;
    axis = i;
  }
  return axis;
}

/* The errors of items that a sparse matrix does not take, and what to write instead. */
static damo_status sp_getitem_fail_items(damo_ctx *ctx, const char *func, const index_spec *spec) {
  int ranges = 0;
  bool listed = false;
  for (int i = 0; i < spec->n; i++) {
    switch ((item_kind)spec->item[i].kind) {
      case ITEM_LIST: listed = true; break;
      case ITEM_NEWAXIS:
        return ctx_fail(ctx, DAMO_ETYPE, "%s: a sparse matrix always has two axes: damo.newaxis adds none", func);
      case ITEM_ELLIPSIS:
        return ctx_fail(ctx, DAMO_ETYPE, "%s: a sparse matrix takes no ellipsis: {} stands for a whole axis", func);
      case ITEM_RANGE: ranges++; break;
      case ITEM_POSITION: break;
    }
  }
  if (listed) {
    return ctx_fail(ctx, DAMO_ETYPE,
                    "%s: between the brackets of a sparse matrix a list stands for rows or columns, alone or beside a "
                    "range: use %s",
                    func, sp_getitem_instead_of_list(spec));
  }
  if (spec->n > 2) return ctx_fail(ctx, DAMO_EINDEX, "%s: too many indices: %d for a sparse matrix", func, spec->n);
  if (ranges == spec->n || (ranges == 0 && spec->n == 2)) return DAMO_OK;
  if (spec->n == 1)
    return ctx_fail(ctx, DAMO_ETYPE,
                    "%s: one position gives no part of a sparse matrix: write x[{ {i, i} }] for row i, x[{i, j}] for "
                    "an element",
                    func);
  return ctx_fail(ctx, DAMO_ETYPE,
                  "%s: a position and a range do not mix on a sparse matrix: write x[{ {i, i}, {a, b} }] for a part "
                  "of row i, x[{ {a, b}, {j, j} }] for one of column j",
                  func);
}

/* Rows or columns by a list, within the block of the range beside it. */
static damo_status sp_getitem_take_axis(build *b, const fn_args *a, damo_var *x, const index_spec *spec, int axis,
                                        ptrvec *out) {
  const index_item *range = spec->n == 2 ? &spec->item[!axis] : NULL;
  damo_var *list = a->in[1 + spec->item[axis].operand], *idx[3];
  if (type_is_tensor(list->type) && var_dtype(list) == DAMO_BOOL) {
    return ctx_fail(b->ctx, DAMO_ETYPE,
                    "index: a list for a sparse matrix holds positions, not truth: use damo.nonzero(list), or "
                    "x * mask, where a sparse mask is true");
  }
  if (range != NULL && range->given) {
    char ends[9] = "s000s000";
    int n = 0;
    for (int k = 0; k < 3; k++) {
      if (!(range->given >> k & 1)) continue;
      ends[4 * !axis + 1 + k] = '1';
      idx[n] = build_integer(b, "index", "the ends of ranges", a->in[1 + range->operand + n]);
      n++;
    }
    x = build_getitem_with_ends(b, &sp_getitem_block_def, ends, &x, 1, idx, n);
  }
  const char *func = "sparse.get_item_list";
  list = x != NULL ? build_positions(b, func, 1, build_operand(b, func, 1, list)) : NULL;
  return fn_give(b, out, build_take_list(b, x, list, axis));
}

/* The operands from 1 on as int64 scalars. */
static damo_status sp_getitem_integer_ends(build *b, const fn_args *a, damo_var **idx, int n) {
  if (a->n_in - 1 != n)
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: spec wants %d operands, got %d", a->func->name, n, a->n_in - 1);
  for (int i = 0; i < n; i++) idx[i] = build_integer(b, "index", "positions and ends of ranges", a->in[i + 1]);
  return b->status;
}

/* x[…] as the binding parses it. */
static damo_status sp_fn_subtensor(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *idx[GETITEM_MOST_ENDS];
  const char *given = prop_str_or(FN_OPTIONS(a, index_options)->spec, NULL);
  index_spec spec;
  if (x == NULL) return b->status;
  if (given == NULL) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option spec is missing", a->func->name);
  DAMO_TRY(index_spec_parse(b->ctx, given, &spec));
  const int axis = sp_getitem_axis_of_list(&spec);
  if (axis >= 0 && a->n_in - 1 == spec.n_operands) return sp_getitem_take_axis(b, a, x, &spec, axis, out);
  DAMO_TRY(sp_getitem_fail_items(b->ctx, "index", &spec));
  DAMO_TRY(sp_getitem_integer_ends(b, a, idx, spec.n_operands));
  const bool element = spec.n == 2 && spec.item[0].kind == ITEM_POSITION;
  return fn_give(b, out,
                 element ? build_scalar_entry(b, x, idx[0], idx[1])
                         : build_getitem_with_ends(b, &sp_getitem_block_def, given, &x, 1, idx, spec.n_operands));
}

/* Reads operand i, a vector {start, stop, step} of up to three integers, into the spec of the range and its ends as
 * scalars. */
static damo_status sp_getitem_vector_range(build *b, const fn_args *a, int i, char *spec, damo_var **idx, int *n) {
  damo_var *v = a->in[i] != NULL && type_is_tensor(a->in[i]->type) ? a->in[i] : NULL;
  const int64_t length = v != NULL && var_ndim(v) == 1 ? v->type->shape[0] : -1;
  if (length < 0 || length > 3)
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: index item %d must be a range {start, stop, step}; %s", a->func->name, i,
                    "damo.sparse.get_item_scalar takes two positions, damo.sparse.get_item_list a list of rows");
  strcpy(spec, "s000");
  if (length == 0) return DAMO_OK;
  v = build_integer(b, a->func->name, "the ends of a range", v);
  for (int64_t k = 0; k < length && b->status == DAMO_OK; k++) {
    spec[1 + k] = '1';
    idx[(*n)++] = build_index(b, v, 0, build_i64(b, k));
  }
  return b->status;
}

/* get_item_2d(x, {rows, cols}), each {start, stop, step}. */
static damo_status sp_fn_getitem_2d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *idx[GETITEM_MOST_ENDS];
  char spec[9] = "";
  int n = 0;
  if (x == NULL) return b->status;
  if (a->n_in < 2 || a->n_in > 3)
    return ctx_fail(b->ctx, DAMO_EINDEX, "%s: expected a range of rows and one of columns, got %d items", a->func->name,
                    a->n_in - 1);
  for (int i = 1; i < a->n_in; i++) DAMO_TRY(sp_getitem_vector_range(b, a, i, spec + 4 * (i - 1), idx, &n));
  return fn_give(b, out, build_getitem_with_ends(b, &sp_getitem_block_def, spec, &x, 1, idx, n));
}

static damo_status sp_fn_getitem_scalar(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *idx[2];
  if (x == NULL) return b->status;
  if (a->n_in != 3)
    return ctx_fail(b->ctx, DAMO_EINDEX, "%s: expected a row and a column, got %d items", a->func->name, a->n_in - 1);
  DAMO_TRY(sp_getitem_integer_ends(b, a, idx, 2));
  return fn_give(b, out, build_scalar_entry(b, x, idx[0], idx[1]));
}

const op_func sparse_index_funcs[] = {
    {.name = "sparse.subtensor",
     .operands = "x idx...",
     .options = OPTIONS(OPT(index_options, spec, OPT_STR)),
     .call = sp_fn_subtensor,
     .doc = "an element or a block of a sparse matrix; spec and idx as subtensor's",
     .no_method = true},
    {.name = "sparse.get_item_2d",
     .operands = "x ranges...",
     .call = sp_fn_getitem_2d,
     .doc = "the block of a range {start, stop, step} of rows and one of columns: x[{ {a, b}, {c, d} }]"},
    {.name = "sparse.get_item_scalar",
     .operands = "x positions...",
     .call = sp_fn_getitem_scalar,
     .doc = "the element in a row and a column: x[{i, j}]"},
    {.name = NULL},
};

const op_def *const sparse_index_classes[] = {&sp_getitem_block_def, &sp_getitem_block_grad_def, &sp_getitem_scalar_def,
                                              NULL};
