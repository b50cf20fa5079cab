/* take: rows, columns and elements by lists of positions.
 *
 * GetItemList{axis}(x, list) gives rows (axis 1 or nil) or columns (2), a sparse matrix in x's format; GetItem2Lists(x,
 * rows, cols) elements, a vector. GetItemListGrad{axis}(x, list, g) and GetItem2ListsGrad(x, rows, cols, g) put rows,
 * columns or elements back into a matrix of x's shape and format, where values at the same position add up; of x they
 * read the shape alone. The Ops of each pair are linear and each other's adjoints, which gives all derivatives. Lists
 * are 1-based int64 vectors; negative positions count from the end.
 */
#include "op/index/index_int.h"
#include "op/sparse/sparse_op.h"

/* ---- Positions --------------------------------------------------------------------------------------------------- */

#define LIST_PART 8192 /* positions between two points */

/* Converts 1-based positions, negative ones from the end, to 0-based ones; false where one is outside. The inner loop has
 * no branch. */
static bool sp_getitem_to_places(damo_ctx *ctx, const damo_array *list, int64_t n, int64_t *out) {
  const char *p = list->data;
  const int64_t stride = array_strides(list)[0], size = array_size(list);
  bool inside = true;
  for (int64_t from = 0; from < size; from += LIST_PART) {
    const int64_t end = size - from > LIST_PART ? from + LIST_PART : size;
    for (int64_t k = from; k < end; k++, p += stride) {
      const int64_t position = *(const int64_t *)(const void *)p, at = position < 0 ? position + n : position - 1;
      inside &= (uint64_t)at < (uint64_t)n;
      out[k] = at;
    }
    if (end < size) ctx_point(ctx);
  }
  return inside;
}

damo_status thunk_positions(const thunk *t, frame *f, int i, int axis, int64_t n, int64_t *out) {
  const damo_array *list = thunk_in(t, f, i);
  if (sp_getitem_to_places(f->ctx, list, n, out)) return DAMO_OK;
  int64_t k = 0;
  while ((uint64_t)out[k] < (uint64_t)n) k++;
  const int64_t position = *(const int64_t *)(const void *)(list->data + k * array_strides(list)[0]);
  return ctx_fail(f->ctx, DAMO_EINDEX, "%s: position %lld, entry %lld of the list, is outside the %lld %s",
                  t->node->op->def->name, (long long)position, (long long)k + 1, (long long)n,
                  axis ? "columns" : "rows");
}

damo_var *build_positions(build *b, const char *func, int i, damo_var *x) {
  if (x == NULL) return NULL;
  if (!var_is_dense(x) || var_ndim(x) != 1) {
    char got[320];
    return build_fail(b, DAMO_ETYPE, "%s: operand %d must be a vector of positions, got %s", func, i + 1,
                      type_format(got, sizeof got, x->type));
  }
  if (var_dtype(x) == DAMO_BOOL) {
    return build_fail(b, DAMO_ETYPE,
                      "%s: a list of positions must be integers, got bool; damo.nonzero(mask) gives them", func);
  }
  return build_integer(b, func, "a list of positions", x);
}

damo_var *list_operand(build *b, const fn_args *a, int i) {
  return build_positions(b, a->func->name, i, any_operand(b, a, i));
}

static damo_status sp_getitem_need_list(const damo_op *op, damo_var *const *in, int i) {
  DAMO_TRY(type_need_dense(op, in, i, 1));
  if (var_dtype(in[i]) == DAMO_INT64) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be an int64 vector, got %s", op->def->name, i + 1,
                  dtype_name(var_dtype(in[i])));
}

/* make_node of Ops whose lists, the inputs first … last, may be any integers. */
static damo_apply *sp_getitem_with_lists(build *b, damo_op *op, damo_var *const *in, int n_in, int first, int last) {
  damo_var *own[4] = {NULL};
  damo_type *out = NULL;
  const op_def *def = op->def;
  if (n_in != def->n_in)
    return build_fail(b, DAMO_ETYPE, "%s: expected %d operands, got %d", def->name, def->n_in, n_in), NULL;
  for (int i = 0; i < n_in; i++) {
    const bool list = i >= first && i <= last;
    own[i] = list ? build_integer(b, def->name, "a list of positions", in[i]) : build_strong(b, in[i]);
  }
  if (b->status != DAMO_OK || def->infer_type(op, own, n_in, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, n_in, &out, 1);
  damo_release(out);
  return node;
}

static damo_apply *sp_getitem_list_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  return sp_getitem_with_lists(b, op, in, n_in, 1, 1);
}
static damo_apply *sp_getitem_two_lists_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  return sp_getitem_with_lists(b, op, in, n_in, 1, 2);
}

/* Scratch memory for the 0-based positions of the n lists from input 1 on; NULL: no memory. */
static int64_t *sp_getitem_positions_space(const thunk *t, frame *f, int n) {
  size_t entries = 1;
  for (int i = 1; i <= n; i++) entries += (size_t)array_size(thunk_in(t, f, i));
  return thunk_scratch(t, f, entries * sizeof(int64_t));
}

/* ---- GetItemList ------------------------------------------------------------------------------------------------- */

/* The property axis, 0-based: 0 for rows, 1 for columns. */
static int sp_getitem_list_axis(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, axis_props)->axis;
  return v->kind == PROP_NIL ? 0 : (int)v->u.i - 1;
}

static damo_status sp_getitem_list_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, axis_props)->axis;
  if (v->kind == PROP_NIL || (v->kind == PROP_INT && v->u.i >= 1 && v->u.i <= 2)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EINDEX, "%s: the axis is nil, 1 or 2", op->def->name);
}

/* A node of GetItemList or its gradient. The Op for rows is the one without properties. */
static damo_var *build_getitem_along(build *b, const op_def *def, int axis, damo_var *const *in, int n_in) {
  const axis_props p = {.axis = prop_int(axis + 1)};
  if (axis == 0) return build_class(b, def, in, n_in);
  for (int i = 0; i < n_in; i++) {
    if (in[i] == NULL) return NULL;
  }
  return b->status == DAMO_OK ? build_op(b, op_new(b->ctx, def, &p), in, n_in) : NULL;
}

static damo_status sp_getitem_list_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_getitem_need_list(op, in, 1));
  int64_t shape[2] = {in[0]->type->shape[0], in[0]->type->shape[1]};
  shape[sp_getitem_list_axis(op)] = in[1]->type->shape[0];
  return type_give_sparse(op, out, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]);
}

static damo_status sp_getitem_list_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int axis = sp_getitem_list_axis(t->node->op);
  damo_array *at = array_empty(f->ctx, DAMO_INT64, 1, array_shape(thunk_in(t, f, 1)));
  if (at == NULL) return DAMO_EMEMORY;
  damo_status s = thunk_positions(t, f, 1, axis, x->shape[axis], (int64_t *)(void *)at->data);
  if (s == DAMO_OK) s = thunk_give_sparse(t, f, 0, sparse_take(x, axis, at));
  damo_release(at);
  return s;
}

static damo_status sp_getitem_list_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);

static damo_status sp_getitem_list_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  rout[0] = build_move_tangent(b, build_take_list(b, eval[0], node->in[1], sp_getitem_list_axis(node->op)), node, eval);
  return b->status;
}

static damo_status sp_getitem_list_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  const int axis = sp_getitem_list_axis(node->op);
  out_shape[0][axis] = in_shape[1][0];
  out_shape[0][!axis] = in_shape[0][!axis];
  return b->status;
}

static const op_def sp_getitem_list_def = {
    .name = "GetItemList",
    .doc = "rows (axis 1) or columns (2) of a sparse matrix by a list of positions",
    .props = PROPS(PROP(axis_props, axis)),
    .n_in = 2,
    .init = sp_getitem_list_init,
    .infer_type = sp_getitem_list_type,
    .make_node = sp_getitem_list_node,
    .perform = sp_getitem_list_perform,
    .grad = sp_getitem_list_grad,
    .rop = sp_getitem_list_rop,
    .infer_shape = sp_getitem_list_shape,
    .connection_pattern = connect_first,
    .pattern = PATTERN_FOLLOWS,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_list_check),
};

damo_var *build_take_list(build *b, damo_var *x, damo_var *list, int axis) {
  if (x == NULL || list == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return index_read(b, x, axis == 0 ? "l" : "s000l", &list, 1);
  return build_getitem_along(b, &sp_getitem_list_def, axis, (damo_var *[]){x, list}, 2);
}

damo_var *build_take_rows(build *b, damo_var *x, damo_var *list) { return build_take_list(b, x, list, 0); }

/* ---- GetItemListGrad --------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_list_grad_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_getitem_need_list(op, in, 1));
  DAMO_TRY(type_need_sparse(op, in, 2));
  const int axis = sp_getitem_list_axis(op);
  DAMO_TRY(type_need_same_length(op, in, 2, axis, 1, 0));
  DAMO_TRY(type_need_same_length(op, in, 2, !axis, 0, !axis));
  return type_give_like(op, out, in[0], var_dtype(in[2]));
}

static damo_status sp_getitem_check_axis(const thunk *t, frame *f, const damo_sparse *x, const damo_sparse *g,
                                         int axis) {
  int64_t want[2] = {x->shape[0], x->shape[1]};
  want[axis] = array_size(thunk_in(t, f, 1));
  if (g->shape[0] == want[0] && g->shape[1] == want[1]) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the %s have shape (%lld, %lld), expected (%lld, %lld)",
                  t->node->op->def->name, axis ? "columns" : "rows", (long long)g->shape[0], (long long)g->shape[1],
                  (long long)want[0], (long long)want[1]);
}

static damo_status sp_getitem_list_grad_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  damo_sparse *g = thunk_in_sparse(t, f, 2);
  const int axis = sp_getitem_list_axis(t->node->op);
  int64_t *at = sp_getitem_positions_space(t, f, 1);
  if (at == NULL) return DAMO_EMEMORY;
  DAMO_TRY(sp_getitem_check_axis(t, f, x, g, axis));
  DAMO_TRY(thunk_positions(t, f, 1, axis, x->shape[axis], at));
  const sparse_where listed = {.list = at}, all = {.step = 1};
  const sparse_where *rows = axis == 0 ? &listed : &all, *cols = axis == 0 ? &all : &listed;
  return thunk_give_sparse(t, f, 0, sparse_put(g, sparse_format(x), x->shape, rows, cols));
}

static damo_status sp_getitem_list_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  /* g by entries has duplicates both where the list repeats a row or column and where one has them, and does not tell
   * which: the cotangent before it was moved is taken */
  damo_var *g = gout[0], *x = node->out[0];
  cotangent_unmoved(&g, &x);
  damo_var *taken = build_take_list(b, g, node->in[1], sp_getitem_list_axis(node->op));
  gin[2] = build_move_cotangent(b, taken, g, x, node->in[2]);
  return b->status;
}

/* Forward mode of the gradient Ops, which are linear functions of their last input alone: the op again on its
 * tangent. */
static damo_status sp_getitem_grad_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[4];
  const int last = node->n_in - 1;
  for (int i = 0; i < last; i++) in[i] = node->in[i];
  in[last] = eval[last];
  if (in[last] == NULL) return DAMO_OK;
  rout[0] = build_op(b, damo_retain(node->op), in, node->n_in);
  if (var_is_sparse(node->in[last])) rout[0] = build_move_tangent(b, rout[0], node, eval);
  return b->status;
}

static void sp_getitem_grad_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = i == node->n_in - 1;
}

static const op_def sp_getitem_list_grad_def = {
    .name = "GetItemListGrad",
    .doc = "rows (axis 1) or columns (2) put back where a list says, into a matrix of x's shape; what meets adds up",
    .props = PROPS(PROP(axis_props, axis)),
    .n_in = 3,
    .init = sp_getitem_list_init,
    .infer_type = sp_getitem_list_grad_type,
    .make_node = sp_getitem_list_node,
    .perform = sp_getitem_list_grad_perform,
    .grad = sp_getitem_list_grad_grad,
    .rop = sp_getitem_grad_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_getitem_grad_connect,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_list_grad_check),
};

static damo_status sp_getitem_list_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *g = build_sparse_from(b, gout[0], var_format_of(node->in[0]));
  damo_var *in[3] = {node->in[0], node->in[1], g};
  damo_var *put = build_getitem_along(b, &sp_getitem_list_grad_def, sp_getitem_list_axis(node->op), in, 3);
  gin[0] = build_move_cotangent(b, put, g, node->out[0], node->in[0]);
  return b->status;
}

/* ---- GetItem2Lists ----------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_two_lists_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_getitem_need_list(op, in, 1));
  DAMO_TRY(sp_getitem_need_list(op, in, 2));
  DAMO_TRY(type_need_same_length(op, in, 1, 0, 2, 0));
  return type_give_dense(op, out, var_dtype(in[0]), 1, in[in[1]->type->shape[0] < 0 ? 2 : 1]->type->shape);
}

/* The 0-based rows, then columns, *n of each, in scratch memory; NULL: the pending error. */
static int64_t *sp_getitem_read_lists(const thunk *t, frame *f, const int64_t *shape, int64_t *n) {
  const int64_t rows = array_size(thunk_in(t, f, 1)), cols = array_size(thunk_in(t, f, 2));
  if (rows != cols) {
    ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the lists have %lld and %lld entries, expected as many", t->node->op->def->name,
             (long long)rows, (long long)cols);
    return NULL;
  }
  int64_t *at = sp_getitem_positions_space(t, f, 2);
  *n = rows;
  if (at == NULL || thunk_positions(t, f, 1, 0, shape[0], at) != DAMO_OK) return NULL;
  return thunk_positions(t, f, 2, 1, shape[1], at + rows) == DAMO_OK ? at : NULL;
}

static damo_status sp_getitem_two_lists_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  int64_t n = 0;
  const int64_t *at = sp_getitem_read_lists(t, f, x->shape, &n);
  if (at == NULL) return damo_error_status(f->ctx);
  damo_array *out = thunk_out(t, f, 0, sparse_dtype(x), 1, &n);
  return out != NULL ? sparse_elements(x, n, at, at + n, out->data) : DAMO_EMEMORY;
}

static damo_status sp_getitem_two_lists_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[0] = build_put_elements(b, node->in[0], node->in[1], node->in[2], gout[0]);
  return b->status;
}

static damo_status sp_getitem_two_lists_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_take_elements(b, eval[0], node->in[1], node->in[2]);
  return b->status;
}

static damo_status sp_getitem_two_lists_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                              damo_var ***out_shape) {
  (void)node;
  out_shape[0][0] = in_shape[1][0];
  return b->status;
}

static const op_def sp_getitem_two_lists_def = {
    .name = "GetItem2Lists",
    .doc = "elements of a sparse matrix by a list of rows and one of columns, as a dense vector",
    .n_in = 3,
    .infer_type = sp_getitem_two_lists_type,
    .make_node = sp_getitem_two_lists_node,
    .perform = sp_getitem_two_lists_perform,
    .grad = sp_getitem_two_lists_grad,
    .rop = sp_getitem_two_lists_rop,
    .infer_shape = sp_getitem_two_lists_shape,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_two_lists_check),
};

damo_var *build_take_elements(build *b, damo_var *x, damo_var *rows, damo_var *cols) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return index_read(b, x, "ll", (damo_var *[]){rows, cols}, 2);
  return build_class(b, &sp_getitem_two_lists_def, (damo_var *[]){x, rows, cols}, 3);
}

/* ---- GetItem2ListsGrad ------------------------------------------------------------------------------------------- */

static damo_status sp_getitem_two_lists_grad_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(sp_getitem_need_list(op, in, 1));
  DAMO_TRY(sp_getitem_need_list(op, in, 2));
  DAMO_TRY(type_need_dense(op, in, 3, 1));
  DAMO_TRY(type_need_same_length(op, in, 1, 0, 2, 0));
  DAMO_TRY(type_need_same_length(op, in, 1, 0, 3, 0));
  return type_give_like(op, out, in[0], var_dtype(in[3]));
}

static damo_status sp_getitem_two_lists_grad_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  int64_t n = 0;
  const int64_t *at = sp_getitem_read_lists(t, f, x->shape, &n);
  if (at == NULL) return damo_error_status(f->ctx);
  const int64_t given = array_size(thunk_in(t, f, 3));
  if (given != n)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %lld values for %lld positions", t->node->op->def->name, (long long)given,
                    (long long)n);
  damo_array *g = array_as_contiguous(thunk_in(t, f, 3), array_dtype(thunk_in(t, f, 3)));
  if (g == NULL) return DAMO_EMEMORY;
  damo_sparse *out =
      sparse_from_places(f->ctx, sparse_format(x), array_dtype(g), x->shape, n, at, at + n, g->data, DAMO_INT32, false);
  damo_release(g);
  return thunk_give_sparse(t, f, 0, out);
}

static damo_status sp_getitem_two_lists_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[3] = build_take_elements(b, gout[0], node->in[1], node->in[2]);
  return b->status;
}

static const op_def sp_getitem_two_lists_grad_def = {
    .name = "GetItem2ListsGrad",
    .doc = "a vector put back where two lists say, into a matrix of x's shape; what meets adds up",
    .n_in = 4,
    .infer_type = sp_getitem_two_lists_grad_type,
    .make_node = sp_getitem_two_lists_node,
    .perform = sp_getitem_two_lists_grad_perform,
    .grad = sp_getitem_two_lists_grad_grad,
    .rop = sp_getitem_grad_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_getitem_grad_connect,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(getitem_two_lists_grad_check),
};

damo_var *build_put_elements(build *b, damo_var *x, damo_var *rows, damo_var *cols, damo_var *g) {
  return build_class(b, &sp_getitem_two_lists_grad_def, (damo_var *[]){x, rows, cols, g}, 4);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_getitem_list(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *list = list_operand(b, a, 1);
  const int64_t which = prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1);
  int axis = 0;
  if (x == NULL || list == NULL) return b->status;
  DAMO_TRY(axis_check(b->ctx, a->func->name, which, 2, &axis));
  return fn_give(b, out, build_take_list(b, x, list, axis));
}

static damo_status sp_fn_getitem_two_lists(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *rows = list_operand(b, a, 1), *cols = list_operand(b, a, 2);
  return fn_give(b, out, build_take_elements(b, x, rows, cols));
}

const op_func sparse_take_funcs[] = {
    {.name = "sparse.get_item_list",
     .operands = "x list",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = sp_fn_getitem_list,
     .doc =
         "the rows (axis 1, the default) or columns (2) of a sparse matrix at a list of positions, repeats included"},
    {.name = "sparse.get_item_2lists",
     .operands = "x rows cols",
     .call = sp_fn_getitem_two_lists,
     .doc = "the elements of a sparse matrix at pairs of positions, as a dense vector"},
    {.name = NULL},
};

const op_def *const sparse_take_classes[] = {&sp_getitem_list_def, &sp_getitem_list_grad_def, &sp_getitem_two_lists_def,
                                             &sp_getitem_two_lists_grad_def, NULL};
