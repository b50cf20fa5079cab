/* forward.c: the R-operator: tangents pushed from inputs to outputs.
 *
 * An op without a rule of its own goes by two L_ops: with dummy cotangents u, L(u) = Jᵀu is linear in u, so the vector-
 * Jacobian product of L with the tangent v, differentiated for u, is J v. The result does not depend on u's value; where
 * u's shape is still read, zeros like the output stand in.
 */
#include "grad_int.h"

typedef struct push {
  build *b;
  map tangent; /* damo_var* → tangent */
  ptrvec eval, result;
} push;

/* u[o]: a fresh Variable of output o's Type, NULL where it has no derivative. */
static damo_status make_dummies(build *b, damo_apply *node, damo_var **u) {
  for (int o = 0; o < node->n_out; o++) {
    damo_type *t = node->out[o]->type;
    bool smooth = type_is_tensor(t) && !dtype_is_discrete(t->dtype);
    u[o] = smooth ? build_take(b, var_new(b->ctx, t, NULL)) : NULL;
  }
  return b->status;
}

/* Replaces what is left of the dummies in r by zeros like the outputs. */
static damo_var *without_dummy(build *b, damo_apply *node, damo_var *const *u, damo_var *r) {
  map memo;
  map_init(&memo, b->ctx);
  damo_var *clean = NULL;
  for (int o = 0; o < node->n_out && b->status == DAMO_OK; o++) {
    damo_var *zero = u[o] != NULL ? build_zeros_like(b, node->out[o]) : NULL;
    if (zero != NULL && map_put(&memo, u[o], (uintptr_t)zero) != DAMO_OK) b->status = DAMO_EMEMORY;
  }
  if (b->status == DAMO_OK && graph_clone(b->ctx, &r, 1, &memo, false, NULL, &clean) != DAMO_OK) {
    b->status = damo_error_status(b->ctx);
  }
  map_clear(&memo);
  return b->status == DAMO_OK ? build_take(b, clean) : NULL;
}

/* The tangents of the outputs by two L_ops; arrays have room for max(n_in, n_out). */
static damo_status two_l_ops(build *b, damo_apply *node, damo_var *const *eval, damo_var **u, damo_var **gin,
                             damo_var **known, damo_var **rout) {
  DAMO_TRY(make_dummies(b, node, u));
  DAMO_TRY(grad_node(b, node, u, gin));
  int64_t n = 0;
  damo_var **known_of = gin; /* compacted in place */
  for (int i = 0; i < node->n_in; i++) {
    if (gin[i] == NULL || eval[i] == NULL) continue;
    if (gin[i]->type->kind == TYPE_NULL) {
      build_fail(b, DAMO_ENULL_GRADIENT, "Rop: the derivative of %s is undefined: %s", node->op->def->name,
                 gin[i]->type->why);
      return b->status;
    }
    known_of[n] = gin[i];
    known[n++] = eval[i];
  }
  if (n == 0) return DAMO_OK;
  grad_options o = {.known = known,
                    .known_of = known_of,
                    .n_known = n,
                    .disconnected_inputs = DISCONNECTED_IGNORE,
                    .return_disconnected = RETURN_NONE};
  for (int k = 0; k < node->n_out; k++) {
    if (u[k] == NULL) continue;
    damo_var *r = NULL;
    damo_status s = grad_reverse(b->ctx, NULL, &u[k], 1, &o, &r);
    if (s != DAMO_OK) return b->status = s;
    if (r == NULL) continue;
    build_take(b, r);
    rout[k] = without_dummy(b, node, u, r);
  }
  return b->status;
}

static damo_status push_by_l_ops(push *p, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_ctx *ctx = p->b->ctx;
  size_t n = (size_t)(node->n_in > node->n_out ? node->n_in : node->n_out);
  size_t bytes = 3 * n * sizeof(damo_var *);
  damo_var **room = mem_calloc(ctx, bytes);
  if (room == NULL) return p->b->status = DAMO_EMEMORY;
  damo_status s = two_l_ops(p->b, node, eval, room, room + n, room + 2 * n, rout);
  mem_free(ctx, room, bytes);
  return s;
}

static damo_status push_node(push *p, damo_apply *node) {
  DAMO_TRY(ptrvec_reserve(&p->eval, node->n_in));
  DAMO_TRY(ptrvec_reserve(&p->result, node->n_out));
  damo_var **eval = (damo_var **)p->eval.at, **rout = (damo_var **)p->result.at;
  bool any = false;
  for (int i = 0; i < node->n_in; i++) {
    eval[i] = map_get_ptr(&p->tangent, node->in[i]);
    any = any || eval[i] != NULL;
  }
  if (!any) return DAMO_OK;
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  damo_status s =
      node->op->def->rop != NULL ? node->op->def->rop(p->b, node, eval, rout) : push_by_l_ops(p, node, eval, rout);
  if (s == DAMO_OK) s = p->b->status;
  if (s != DAMO_OK) {
    ctx_fail_add(p->b->ctx, "while taking the R-operator of %s", node->op->def->name);
    return s;
  }
  for (int o = 0; o < node->n_out; o++) {
    damo_var *r = rout[o];
    if (r == NULL || r->type->kind == TYPE_DISCONNECTED || map_get(&p->tangent, node->out[o], NULL)) continue;
    DAMO_TRY(map_put(&p->tangent, node->out[o], (uintptr_t)r));
  }
  return DAMO_OK;
}

static damo_status push_all(push *p, damo_var *const *f, int64_t n_f, const ptrvec *nodes, damo_var **out) {
  for (int64_t k = 0; k < nodes->n; k++) DAMO_TRY(push_node(p, nodes->at[k]));
  for (int64_t i = 0; i < n_f; i++) out[i] = damo_retain(map_get_ptr(&p->tangent, f[i]));
  return DAMO_OK;
}

damo_status grad_forward(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, damo_var *const *eval,
                         int64_t n, damo_var **out) {
  build b;
  build_init(&b, ctx);
  push p = {.b = &b};
  map_init(&p.tangent, ctx);
  ptrvec_init(&p.eval, ctx);
  ptrvec_init(&p.result, ctx);
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    if (type_is_tensor(wrt[i]->type) && type_is_tensor(eval[i]->type) && wrt[i]->type->ndim != eval[i]->type->ndim) {
      s = ctx_fail(ctx, DAMO_ETYPE, "Rop: eval point %lld must have rank %d, got %d", (long long)i + 1,
                   wrt[i]->type->ndim, eval[i]->type->ndim);
    }
    if (s == DAMO_OK) s = map_put(&p.tangent, wrt[i], (uintptr_t)eval[i]);
  }
  if (s == DAMO_OK) s = graph_toposort(ctx, f, n_f, NULL, 0, &nodes);
  if (s == DAMO_OK) s = push_all(&p, f, n_f, &nodes, out);
  ptrvec_clear(&nodes);
  ptrvec_clear(&p.eval);
  ptrvec_clear(&p.result);
  map_clear(&p.tangent);
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}
