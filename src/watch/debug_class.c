/* debug_class.c: DEBUG mode computes a node's results a second time by the independent definition of its class
 * (op_check), and compares. Nodes with operands that would be large as dense matrices are skipped. A nan or inf from
 * the dense Ops proves nothing about a sparse result: an absent entry is not multiplied by nan, a dense 0 is. */
#include "graph/op_check.h"
#include "op/elem/build_arith.h"
#include "op/op.h"
#include "watch_int.h"
#include "sparse/sparse.h"

#include <stdio.h>

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Whether the value is small enough to be checked. A value without entries (a factor) is accepted; the check
 * decides. */
static bool will_do(const damo_obj *v) {
  if (v == NULL || value_array(v) == NULL) return v != NULL;
  return exam_is_small(v) && array_size(value_array(v)) <= OP_EXAM_MOST_ENTRIES;
}

/* Whether input i has integer duplicates and another dtype than the result. Casting them one by one to a wider dtype
 * and casting their wrapped sum give different values. */
static bool wraps(const op_exam *e, int i) {
  const damo_sparse *m = exam_matrix(e, i);
  if (e->values[i]->kind != OBJ_SPARSE || m->unique || !dtype_is_discrete(sparse_dtype(m))) return false;
  return sparse_dtype(m) != var_dtype(e->node->out[0]);
}

static bool is_fit(const op_exam *e) {
  const damo_apply *node = e->node;
  for (int i = 0; i < node->n_in; i++) {
    if (!will_do(e->values[i]) || wraps(e, i)) return false;
  }
  for (int o = 0; o < node->n_out; o++) {
    if (!will_do(e->results[o])) return false;
  }
  return true;
}

static damo_var *dense_constant(build *b, damo_obj *v) {
  if (value_array(v) == NULL) return NULL;
  return build_value(b, v->kind == OBJ_SPARSE ? (damo_obj *)sparse_to_dense((const damo_sparse *)v) : damo_retain(v));
}

/* ---- Dense equals ------------------------------------------------------------------------------------------------ */

/* Replaces the operands by their moduli. */
static void take_moduli(op_exam *e) {
  e->moduli = true;
  for (int i = 0; i < e->node->n_in; i++) {
    if (e->in[i] == NULL || dtype_is_discrete(var_dtype(e->in[i]))) continue;
    damo_var *size = build_abs(e->b, e->in[i]);
    if (size != NULL) e->in[i] = size;
  }
}

static damo_var *dense_equal_of(op_exam *e, int o) { return e->node->op->def->check->dense_equal(e, o); }

/* pair[0]: output o as the dense Ops compute it; pair[1]: the node's result. With `bounded`, the sum of the terms'
 * moduli is added to both, so that cancellation does not magnify the relative difference. */
static bool build_pair(op_exam *e, int o, bool bounded, damo_var *pair[2]) {
  build *b = e->b;
  e->moduli = false;
  for (int i = 0; i < e->node->n_in; i++) e->in[i] = dense_constant(b, e->values[i]);
  for (int k = 0; k < e->node->n_out; k++) e->out[k] = dense_constant(b, e->results[k]);
  if (b->status != DAMO_OK) return false;
  e->got = e->out[o];
  damo_var *want = dense_equal_of(e, o);
  pair[1] = e->got;
  if (want != NULL && bounded) {
    take_moduli(e);
    damo_var *bound = b->status == DAMO_OK ? dense_equal_of(e, o) : NULL;
    want = bound != NULL ? build_add(b, want, bound) : NULL;
    pair[1] = bound != NULL ? build_add(b, pair[1], bound) : NULL;
  }
  if (want == NULL || pair[1] == NULL) return false;
  pair[0] = build_cast(b, want, var_dtype(pair[1]));
  return b->status == DAMO_OK;
}

/* *agree: whether the dense Ops and the node agree; if not, text says where. A result on which the dense Ops fail
 * (indices out of range, for example) does not agree. */
static damo_status dense_agree(op_exam *e, int o, bool bounded, bool *agree, char *text, size_t n) {
  build b;
  damo_var *pair[2];
  damo_obj *values[2] = {NULL, NULL};
  damo_ctx *ctx = e->node->obj.ctx;
  build_init(&b, ctx);
  e->b = &b;
  *agree = true;
  if (build_pair(e, o, bounded, pair)) b.status = eager_eval(ctx, pair, 2, values);
  if (values[0] != NULL && b.status == DAMO_OK) {
    *agree = debug_agree(values[0], values[1], true, text, n);
    char other[400];
    if (!*agree && !debug_agree(values[1], values[0], true, other, sizeof other)) snprintf(text, n, "%s", other);
  }
  for (int i = 0; i < 2; i++) damo_release(values[i]);
  const damo_status s = build_end(&b);
  if (s == DAMO_OK || s == DAMO_EMEMORY) return s;
  *agree = false;
  snprintf(text, n, "that fails: %.300s", damo_error_message(ctx));
  ctx_clear_error(ctx);
  return DAMO_OK;
}

static damo_status check_dense_equal(op_exam *e, int o) {
  char text[400], other[400];
  bool agree = true;
  DAMO_TRY(dense_agree(e, o, false, &agree, text, sizeof text));
  if (!agree && !dtype_is_discrete(var_dtype(e->node->out[0])))
    DAMO_TRY(dense_agree(e, o, true, &agree, other, sizeof other));
  if (agree) return DAMO_OK;
  return ctx_fail(e->node->obj.ctx, DAMO_EINCONSISTENCY, "DEBUG: output %d is another one with dense operands: %s",
                  o + 1, text);
}

/* ---- Judges ------------------------------------------------------------------------------------------------------ */

static damo_status check_judged(const op_exam *e) {
  const op_check *check = e->node->op->def->check;
  damo_ctx *ctx = e->node->obj.ctx;
  const double off = check->judge(e);
  if (damo_error_status(ctx) != DAMO_OK) ctx_clear_error(ctx); /* no memory for the check */
  if (!(off > (e->single ? 1e-3 : 1e-6))) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EINCONSISTENCY, "DEBUG: output 1 is wrong by dense arithmetic: %s by %.2g of its terms",
                  check->judged, off);
}

damo_status debug_check_class(const thunk *t, frame *f, damo_obj *const *inputs) {
  const damo_apply *node = t->node;
  const op_check *check = node->op->def->check;
  if (check == NULL || node->n_in > OP_EXAM_MOST || node->n_out > OP_EXAM_MOST) return DAMO_OK;
  const damo_dtype dt = var_dtype(node->out[0]);
  op_exam e = {.node = node, .values = inputs, .single = dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64};
  for (int o = 0; o < node->n_out; o++) e.results[o] = thunk_result(t, f, o);
  if (check->judge != NULL) DAMO_TRY(check_judged(&e));
  if (check->dense_equal == NULL || !is_fit(&e)) return DAMO_OK;
  for (int o = 0; o < node->n_out; o++) DAMO_TRY(check_dense_equal(&e, o));
  return DAMO_OK;
}
