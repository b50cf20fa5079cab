/* fold.c: constant folding: a node whose inputs are all constant is computed and becomes a constant. */
#include "rewrite_int.h"
#include "op/op.h"

#define FOLD_MAX_BYTES (1 << 20) /* larger results are computed in each call rather than stored with the graph */

static bool all_constant(const damo_apply *node) {
  for (int i = 0; i < node->n_in; i++) {
    if (node->in[i]->kind != VAR_CONSTANT || node->in[i]->value == NULL) return false;
  }
  return true;
}

/* Whether the static shape alone shows that the result is too large to keep. */
static bool is_too_large(const damo_type *t) {
  int64_t n = (int64_t)dtype_size(t->dtype);
  if (type_is_sparse(t)) return false;
  for (int i = 0; i < t->ndim; i++) {
    if (t->shape[i] < 0 || !i64_mul(n, t->shape[i], &n)) return t->shape[i] >= 0;
  }
  return n > FOLD_MAX_BYTES;
}

/* An Op that destroys an input would write into a constant. */
static bool may_fold(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def->impure || !op_can_run(def) || node->op->destroy_map != NULL || !all_constant(node)) return false;
  for (int i = 0; i < node->n_out; i++) {
    if (!type_has_shape(node->out[i]->type) || is_too_large(node->out[i]->type)) return false;
  }
  return def->do_constant_folding == NULL || def->do_constant_folding(node);
}

static bool is_small(damo_obj *const *values, int n) {
  for (int i = 0; i < n; i++) {
    const damo_array *a = value_array(values[i]);
    if (a == NULL) return false;
    if ((size_t)array_size(a) * dtype_size(array_dtype(a)) > FOLD_MAX_BYTES) return false;
  }
  return true;
}

/* A node that fails on its constants is kept, so that the call that computes it reports the error. */
static damo_status fold_node(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_obj *values[REWRITE_MAX_OUT];
  if (node->n_out > REWRITE_MAX_OUT || !may_fold(node)) return DAMO_OK;
  damo_status s = eager_node(b->ctx, node, values);
  if (s == DAMO_EMEMORY) return s;
  if (s != DAMO_OK) {
    ctx_clear_error(b->ctx);
    return DAMO_OK;
  }
  bool keep = is_small(values, node->n_out);
  for (int i = 0; i < node->n_out; i++) {
    if (keep) repl[i] = build_take(b, var_constant(b->ctx, NULL, values[i]));
    damo_release(values[i]);
  }
  *did = keep && b->status == DAMO_OK;
  return b->status;
}

const rewrite_rule fold_rules[] = {
    {.name = "constant_folding", .phase = PHASE_CANONICALIZE, .tags = "fast_run fast_compile fold", .local = fold_node},
    {.name = "constant_folding_again", .phase = PHASE_SPECIALIZE, .tags = "fast_run fold", .local = fold_node},
    {.name = NULL},
};
