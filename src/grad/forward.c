/* forward.c: the R-operator: tangents pushed from inputs to outputs.
 *
 * An op without a rule of its own goes by two L_ops: with dummy cotangents u, L(u) = Jᵀu is linear in u, so the vector-
 * Jacobian product of L with the tangent v, differentiated for u, is J v. The result does not depend on u's value;
 * where u's shape is still read, zeros like the output stand in.
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
    bool smooth = type_has_shape(t) && !dtype_is_discrete(t->dtype);
    u[o] = smooth ? build_take(b, var_new(b->ctx, t, NULL)) : NULL;
  }
  return b->status;
}

/* Marks what the L_op started from, where walks of one node's graph end: they would go through all that lies above. */
static damo_status keep_all(map *memo, damo_var *const *v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i] != NULL) DAMO_TRY(map_put(memo, v[i], (uintptr_t)v[i]));
  }
  return DAMO_OK;
}

/* Replaces what is left of the dummies in r by zeros like the outputs. */
static damo_var *without_dummy(build *b, damo_apply *node, damo_var *const *eval, damo_var *const *u, damo_var *r) {
  map memo;
  map_init(&memo, b->ctx);
  damo_var *clean = NULL;
  damo_status s = keep_all(&memo, node->in, node->n_in);
  if (s == DAMO_OK) s = keep_all(&memo, node->out, node->n_out);
  if (s == DAMO_OK) s = keep_all(&memo, eval, node->n_in);
  for (int o = 0; o < node->n_out && s == DAMO_OK; o++) {
    if (u[o] == NULL) continue;
    damo_var *zero = build_zeros_like(b, node->out[o]);
    s = zero != NULL ? map_put(&memo, u[o], (uintptr_t)zero) : b->status;
  }
  if (s == DAMO_OK) s = graph_clone(b->ctx, &r, 1, &memo, false, NULL, &clean);
  map_clear(&memo);
  if (s == DAMO_OK) return build_take(b, clean);
  b->status = s;
  return NULL;
}

/* Room for one node's L_op and what comes of it. */
typedef struct l_op_room {
  damo_var **u, **gin, **known, **result; /* room for max(n_in, n_out) each */
  damo_var **constant;                    /* the node's inputs, then its outputs */
} l_op_room;

/* The gradients that are there, compacted, each with its tangent; the number of them. */
static int64_t pair_up(build *b, damo_apply *node, damo_var *const *eval, l_op_room *room) {
  int64_t n = 0;
  for (int i = 0; i < node->n_in; i++) {
    damo_var *g = room->gin[i];
    if (g == NULL || eval[i] == NULL) continue;
    if (g->type->kind == TYPE_NULL) {
      build_fail(b, DAMO_ENULL_GRADIENT, "Rop: the derivative of %s is undefined: %s", node->op->def->name,
                 g->type->why);
      return 0;
    }
    room->gin[n] = g;
    room->known[n++] = eval[i];
  }
  return n;
}

/* The tangents of the outputs by two L_ops. */
static damo_status two_l_ops(build *b, damo_apply *node, damo_var *const *eval, l_op_room *room, damo_var **rout) {
  DAMO_TRY(make_dummies(b, node, room->u));
  DAMO_TRY(grad_node(b, node, room->u, room->gin));
  int64_t n = pair_up(b, node, eval, room);
  if (n == 0) return b->status;
  for (int i = 0; i < node->n_in; i++) room->constant[i] = node->in[i];
  for (int o = 0; o < node->n_out; o++) room->constant[node->n_in + o] = node->out[o];
  grad_options o = {.known = room->known,
                    .known_of = room->gin,
                    .n_known = n,
                    .constant = room->constant,
                    .n_constant = node->n_in + node->n_out,
                    .disconnected_inputs = DISCONNECTED_IGNORE,
                    .return_disconnected = RETURN_NONE};
  for (int k = 0; k < node->n_out; k++) {
    if (room->u[k] == NULL) continue;
    damo_status s = grad_reverse(b->ctx, NULL, &room->u[k], 1, &o, &room->result[k]);
    if (s != DAMO_OK) return b->status = s;
    if (room->result[k] == NULL) continue;
    if (build_take(b, room->result[k]) == NULL) return b->status;
    rout[k] = without_dummy(b, node, eval, room->u, room->result[k]);
  }
  return b->status;
}

static damo_status push_by_l_ops(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_ctx *ctx = b->ctx;
  size_t n = (size_t)(node->n_in > node->n_out ? node->n_in : node->n_out);
  size_t bytes = 6 * n * sizeof(damo_var *);
  damo_var **at = mem_calloc(ctx, bytes);
  if (at == NULL) return b->status = DAMO_EMEMORY;
  l_op_room room = {at, at + n, at + 2 * n, at + 3 * n, at + 4 * n};
  damo_status s = two_l_ops(b, node, eval, &room, rout);
  mem_free(ctx, at, bytes);
  return s;
}

/* A tangent has its output's rank and dtype. */
static damo_status check_tangent(build *b, const damo_apply *node, int o, damo_var **r) {
  char want[320], got[320];
  const damo_type *y = node->out[o]->type;
  if (*r == NULL || !type_has_shape(y) || (*r)->type->kind == TYPE_DISCONNECTED) return DAMO_OK;
  if ((*r)->type->kind == TYPE_NULL) {
    build_fail(b, DAMO_ENULL_GRADIENT, "Rop: the derivative of %s is undefined: %s", node->op->def->name,
               (*r)->type->why);
    return b->status;
  }
  if (!type_has_shape((*r)->type) || var_ndim(*r) != y->ndim) {
    build_fail(b, DAMO_ETYPE, "the derivative of output %d of %s must have rank %d like %s, got %s", o + 1,
               node->op->def->name, y->ndim, type_format(want, sizeof want, y),
               type_format(got, sizeof got, (*r)->type));
    return b->status;
  }
  if (var_dtype(*r) != y->dtype && !dtype_is_discrete(y->dtype)) *r = build_cast(b, *r, y->dtype);
  return b->status;
}

damo_status grad_forward_node(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  damo_status s =
      node->op->def->rop != NULL ? node->op->def->rop(b, node, eval, rout) : push_by_l_ops(b, node, eval, rout);
  if (s == DAMO_OK) s = b->status;
  for (int o = 0; o < node->n_out && s == DAMO_OK; o++) s = check_tangent(b, node, o, &rout[o]);
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
  damo_status s = grad_forward_node(p->b, node, eval, rout);
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
  DAMO_TRY(ctx_enter(ctx, STACK_GRAD));
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
    if (type_has_shape(wrt[i]->type) && type_has_shape(eval[i]->type) && wrt[i]->type->ndim != eval[i]->type->ndim) {
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
  ctx_leave(ctx, STACK_GRAD);
  return s != DAMO_OK ? s : ended;
}
