/* scan_batch.c: the values of all steps at once. A node of the inner graph whose operands are sequences, values stacked
 * by the loop and values that are the same in every step is built outside of the loop over stacked operands, whose
 * first axis counts the steps: a product of each row with a matrix is one product of matrices.
 */
#include "scan_int.h"

#define SCAN_BATCH_OPERANDS 8 /* most operands of a node that is built over stacked ones */

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
  if (node->n_out != 1 || node->n_in > SCAN_BATCH_OPERANDS || !type_is_tensor(node->out[0]->type) ||
      var_ndim(node->out[0]) + 2 > DAMO_MAX_NDIM)
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

/* The node over stacked operands and those that are the same in every step. */
static damo_status batch_node(scan_batch *w, const damo_apply *node) {
  damo_var *in[SCAN_BATCH_OPERANDS], *rows = NULL;
  bool batched[SCAN_BATCH_OPERANDS];
  damo_assert(scan_batch_can(node));
  for (int i = 0; i < node->n_in; i++) {
    in[i] = rows_known(w, node->in[i]);
    batched[i] = in[i] != NULL;
    if (in[i] == NULL) in[i] = scan_batch_same(w, node->in[i]);
  }
  if (w->b->status != DAMO_OK) return w->b->status;
  DAMO_TRY(node->op->def->batch(w->b, node, in, batched, 1, &rows));
  return rows != NULL ? map_put(&w->rows, node->out[0], (uintptr_t)rows) : w->b->status;
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
    s = batch_node(w, node);
  }
  ptrvec_clear(&nodes);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status == DAMO_OK ? rows_known(w, v) : NULL;
}
