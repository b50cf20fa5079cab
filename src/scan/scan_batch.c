/* scan_batch.c: the values of all steps at once. A node of the inner graph whose operands are sequences, values stacked
 * by the loop and values that are the same in every step is built outside of the loop over stacked operands, whose
 * first axis counts the steps: a product of each row with a matrix is one product of matrices.
 */
#include "scan_int.h"

void scan_batch_init(scan_batch *w, build *b) {
  *w = (scan_batch){.b = b};
  map_init(&w->rows, b->ctx);
  map_init(&w->same, b->ctx);
  ptrvec_init(&w->made, b->ctx);
}

void scan_batch_clear(scan_batch *w) {
  map_clear(&w->rows);
  map_clear(&w->same);
  ptrvec_release_all(&w->made);
}

damo_var *scan_batch_same(scan_batch *w, damo_var *v) {
  build *b = w->b;
  damo_var *copy = NULL;
  if (b->status != DAMO_OK || v->kind == VAR_CONSTANT) return v;
  const damo_status s = graph_clone(b->ctx, &v, 1, &w->same, true, &w->made, &copy);
  if (s != DAMO_OK) b->status = s;
  return s == DAMO_OK ? build_take(b, copy) : NULL;
}

/* ---- Which nodes ------------------------------------------------------------------------------------------------- */

static bool reduces_alike(const damo_apply *node) {
  const reduce_props *p = OP_PROPS(node->op, reduce_props);
  switch (reduce_op_kind(node->op)) {
    case REDUCE_SUM:
    case REDUCE_PROD:
    case REDUCE_MAX:
    case REDUCE_MIN:
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_SUM_SQR: return p->may_be_empty.kind != PROP_BOOL || p->may_be_empty.u.i == 0;
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN:
    case REDUCE_LOGSUMEXP:
    case REDUCE_SUM_SQR_DEV: return false;
  }
  return false;
}

bool scan_batch_can(const damo_apply *node) {
  if (node->n_out != 1 || !type_is_tensor(node->out[0]->type) || var_ndim(node->out[0]) + 2 > DAMO_MAX_NDIM)
    return false;
  for (int i = 0; i < node->n_in; i++) {
    if (!type_is_tensor(node->in[i]->type)) return false;
  }
  const op_def *def = node->op->def;
  return def == &elemwise_def || def == &dimshuffle_def || def == &dot_def ||
         (def == &reduce_def && reduces_alike(node));
}

/* ---- Nodes over stacked operands --------------------------------------------------------------------------------- */

static damo_var *rows_known(const scan_batch *w, const damo_var *v) { return map_get_ptr(&w->rows, v); }

/* The stacked operand with new axes after the first, so that its others are the last ones of `ndim`. */
static damo_var *pad_rows(build *b, damo_var *rows, int ndim) {
  int pattern[DAMO_MAX_NDIM];
  const int own = rows != NULL ? var_ndim(rows) - 1 : 0;
  for (int i = 0; i <= ndim; i++) pattern[i] = i == 0 ? 0 : i <= ndim - own ? -1 : i - (ndim - own);
  return build_dimshuffle(b, rows, pattern, ndim + 1);
}

static damo_var *batch_elemwise(scan_batch *w, const damo_apply *node) {
  damo_var *in[8];
  const int ndim = var_ndim(node->out[0]);
  damo_assert(node->n_in <= 8);
  for (int i = 0; i < node->n_in; i++) {
    damo_var *rows = rows_known(w, node->in[i]);
    in[i] = rows != NULL ? pad_rows(w->b, rows, ndim) : scan_batch_same(w, node->in[i]);
  }
  return build_op(w->b, damo_retain(node->op), in, node->n_in);
}

static damo_var *batch_dimshuffle(scan_batch *w, const damo_apply *node) {
  const prop_value *order = &OP_PROPS(node->op, dimshuffle_props)->new_order;
  int pattern[DAMO_MAX_NDIM] = {0};
  for (int i = 0; i < order->n; i++) {
    const prop_value *from = &order->u.list[i];
    pattern[i + 1] = from->kind == PROP_INT ? (int)from->u.i : -1; /* 1-based axes, the first of which counts steps */
  }
  return build_dimshuffle(w->b, rows_known(w, node->in[0]), pattern, order->n + 1);
}

static damo_var *batch_reduce(scan_batch *w, const damo_apply *node) {
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(node->in[0]));
  const prop_value *keep = &OP_PROPS(node->op, reduce_props)->keepdims;
  damo_var *rows = rows_known(w, node->in[0]);
  int axes[DAMO_MAX_NDIM], n = 0;
  for (int k = 0; k < var_ndim(node->in[0]); k++) {
    if (mask >> k & 1) axes[n++] = k + 1;
  }
  if (n == 0) return rows;
  return build_reduce(w->b, reduce_op_kind(node->op), rows, axes, n, keep->kind == PROP_BOOL && keep->u.i != 0);
}

damo_var *scan_batch_flat(build *b, damo_var *rows) {
  if (rows == NULL || var_ndim(rows) != 3) return rows;
  if (rows->type->shape[1] == 1) return build_dimshuffle(b, rows, (const int[]){0, 2}, 2);
  damo_var *dims[2] = {build_int(b, -1), build_dim(b, rows, 2)};
  if (rows->type->shape[0] >= 0 && rows->type->shape[1] >= 0)
    dims[0] = build_scalar(b, DAMO_INT64, (double)(rows->type->shape[0] * rows->type->shape[1]));
  else
    dims[0] = build_mul(b, build_dim(b, rows, 0), build_dim(b, rows, 1));
  return build_reshape(b, rows, build_vector(b, dims, 2), 2);
}

/* The stacked operand x of a product with a matrix y that is the same in every step: one product, of all rows of all
 * steps. */
static damo_var *batch_times_same(build *b, damo_var *x, damo_var *y) {
  damo_var *z = build_dot(b, scan_batch_flat(b, x), y);
  if (z == NULL || var_ndim(x) != 3) return z;
  if (x->type->shape[1] == 1)
    return build_dimshuffle(b, z, var_ndim(y) == 2 ? (const int[]){0, -1, 1} : (const int[]){0, -1}, var_ndim(y) + 1);
  damo_var *dims[3] = {build_dim(b, x, 0), build_dim(b, x, 1), var_ndim(y) == 2 ? build_dim(b, y, 1) : NULL};
  return b->status == DAMO_OK ? build_reshape(b, z, build_vector(b, dims, var_ndim(y) + 1), var_ndim(y) + 1) : NULL;
}

static damo_var *batch_dot(scan_batch *w, const damo_apply *node) {
  build *b = w->b;
  damo_var *x = rows_known(w, node->in[0]), *y = rows_known(w, node->in[1]);
  const int nx = var_ndim(node->in[0]), ny = var_ndim(node->in[1]);
  if (y == NULL) return batch_times_same(b, x, scan_batch_same(w, node->in[1]));
  if (x == NULL) { /* x·y is yᵀ·xᵀ */
    x = build_transpose(b, scan_batch_same(w, node->in[0]));
    if (ny == 1) return batch_times_same(b, y, x);
    damo_var *z = batch_times_same(b, build_swap_last(b, y), x);
    return nx == 2 ? build_swap_last(b, z) : z;
  }
  if (nx == 1) x = build_new_axis(b, x, 1);
  if (ny == 1) y = build_new_axis(b, y, 2);
  damo_var *z = build_matmul(b, x, y);
  int keep[3] = {0}, n = 1;
  if (nx == 2) keep[n++] = 1;
  if (ny == 2) keep[n++] = 2;
  return build_dimshuffle(b, z, keep, n);
}

damo_var *scan_batch_rows(scan_batch *w, damo_var *v) {
  build *b = w->b;
  ptrvec nodes;
  ptrvec_init(&nodes, b->ctx);
  if (rows_known(w, v) != NULL || b->status != DAMO_OK) return rows_known(w, v);
  damo_status s = graph_toposort_map(b->ctx, &v, 1, &w->rows, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    bool stacked = false;
    for (int i = 0; i < node->n_in; i++) stacked = stacked || rows_known(w, node->in[i]) != NULL;
    if (!stacked) continue;
    const op_def *def = node->op->def;
    damo_assert(scan_batch_can(node));
    damo_var *rows = def == &elemwise_def     ? batch_elemwise(w, node)
                     : def == &dimshuffle_def ? batch_dimshuffle(w, node)
                     : def == &reduce_def     ? batch_reduce(w, node)
                                              : batch_dot(w, node);
    s = rows != NULL ? map_put(&w->rows, node->out[0], (uintptr_t)rows) : b->status;
  }
  ptrvec_clear(&nodes);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status == DAMO_OK ? rows_known(w, v) : NULL;
}
