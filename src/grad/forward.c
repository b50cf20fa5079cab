/* forward.c: the R-operator: tangents propagated from inputs to outputs.
 *
 * An Op without a rop is differentiated by two L_ops. Applied to dummy cotangents u, its L_op gives L(u) = Jᵀu, which
 * is linear in u; so the gradient of vᵀL(u) for u, the second L_op, is J·v for a tangent v of the inputs. The result
 * does not depend on the value of u; if it still reads u's shape, zeros like the output are substituted.
 */
#include "grad_int.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

typedef struct push {
  build *b;
  const grad_options *options;
  map tangent; /* damo_var* → its tangent; no entry: zero or not connected */
  map reached; /* set of damo_var* that a differentiable path connects to a wrt */
  ptrvec eval, result;
  connections connected;
} push;

/* Sets u[o] to a fresh Variable of output o's Type, NULL if that has no derivative. */
static damo_status make_dummies(build *b, damo_apply *node, damo_var **u) {
  for (int o = 0; o < node->n_out; o++) {
    damo_type *t = node->out[o]->type;
    bool smooth = type_has_shape(t) && !dtype_is_discrete(t->dtype);
    u[o] = smooth ? build_take(b, var_new(b->ctx, t, NULL)) : NULL;
  }
  return b->status;
}

/* Maps the Variables to themselves in memo, so that graph_clone stops at them and does not walk over the whole graph
 * above the node. */
static damo_status keep_all(map *memo, damo_var *const *v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i] != NULL) DAMO_TRY(map_put(memo, v[i], (uintptr_t)v[i]));
  }
  return DAMO_OK;
}

/* r with the remaining uses of the dummies u replaced by zeros like the outputs. */
static damo_var *without_dummy(build *b, damo_apply *node, damo_var *const *eval, damo_var *const *u, damo_var *r) {
  map memo;
  map_init(&memo, b->ctx);
  damo_var *clean = NULL;
  damo_status s = keep_all(&memo, node->in, node->n_in);
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

/* Arrays for the two L_ops of one node. */
typedef struct l_op_workspace {
  damo_var **u, **gin, **known, **result; /* of max(n_in, n_out) each */
  damo_var **constant;                    /* the node's inputs, then its outputs */
} l_op_workspace;

/* Compacts the pairs of a gradient and its input's tangent, where both exist, into gin and known; returns their
 * number. A dense gradient gets a node of its own, since another input's may be computed from it: a known cotangent
 * takes the place of what comes back along that path. */
static int64_t pair_up(build *b, damo_apply *node, damo_var *const *eval, l_op_workspace *workspace) {
  int64_t n = 0;
  for (int i = 0; i < node->n_in; i++) {
    damo_var *g = workspace->gin[i];
    if (g == NULL || eval[i] == NULL) continue;
    if (g->type->kind == TYPE_NULL) {
      build_fail(b, DAMO_ENULL_GRADIENT, "Rop: the derivative of %s is undefined: %s", node->op->def->name,
                 g->type->why);
      return 0;
    }
    workspace->gin[n] = type_is_tensor(g->type) ? build_identity(b, g) : g;
    workspace->known[n++] = eval[i];
  }
  return n;
}

/* The tangents of the outputs by two L_ops. */
static damo_status two_l_ops(build *b, damo_apply *node, damo_var *const *eval, l_op_workspace *workspace,
                             damo_var **rout) {
  DAMO_TRY(make_dummies(b, node, workspace->u));
  DAMO_TRY(grad_node(b, node, workspace->u, workspace->gin));
  int64_t n = pair_up(b, node, eval, workspace);
  if (n == 0 || b->status != DAMO_OK) return b->status;
  for (int i = 0; i < node->n_in; i++) workspace->constant[i] = node->in[i];
  for (int o = 0; o < node->n_out; o++) workspace->constant[node->n_in + o] = node->out[o];
  grad_options o = {.known = workspace->known,
                    .known_of = workspace->gin,
                    .n_known = n,
                    .constant = workspace->constant,
                    .n_constant = node->n_in + node->n_out,
                    .disconnected_inputs = DISCONNECTED_IGNORE,
                    .return_disconnected = RETURN_NONE};
  for (int k = 0; k < node->n_out; k++) {
    if (workspace->u[k] == NULL) continue;
    damo_status s = grad_reverse(b->ctx, NULL, &workspace->u[k], 1, &o, &workspace->result[k]);
    if (s != DAMO_OK) return b->status = s;
    if (workspace->result[k] == NULL) continue;
    if (build_take(b, workspace->result[k]) == NULL) return b->status;
    rout[k] = without_dummy(b, node, eval, workspace->u, workspace->result[k]);
  }
  return b->status;
}

static damo_status push_by_l_ops(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_ctx *ctx = b->ctx;
  size_t n = (size_t)(node->n_in > node->n_out ? node->n_in : node->n_out);
  size_t bytes = 6 * n * sizeof(damo_var *);
  damo_var **at = mem_calloc(ctx, bytes);
  if (at == NULL) return b->status = DAMO_EMEMORY;
  l_op_workspace workspace = {at, at + n, at + 2 * n, at + 3 * n, at + 4 * n};
  damo_status s = two_l_ops(b, node, eval, &workspace, rout);
  mem_free(ctx, at, bytes);
  return s;
}

damo_status grad_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const op_def *def = node->op->def;
  damo_status s = def->rop != NULL ? def->rop(b, node, eval, rout) : push_by_l_ops(b, node, eval, rout);
  return s == DAMO_OK ? b->status : s;
}

/* Checks that a tangent has its output's rank, and casts it to its dtype. */
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
  if (!dtype_is_discrete(y->dtype)) *r = grad_cast(b, *r, y->dtype, false);
  return b->status;
}

static damo_status apply_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout, int n_branches);

/* Of tangents that belong to a branch: the rule is applied to what they are there, and its results belong to it too. */
static damo_status rop_in_branch(build *b, damo_apply *node, const build_mask *branch, damo_var *const *eval,
                                 damo_var **rout, int n_branches) {
  const size_t bytes = (size_t)node->n_in * sizeof(damo_var *);
  damo_var **raw = mem_alloc(b->ctx, bytes);
  if (raw == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < node->n_in; i++) raw[i] = eval[i] != NULL ? build_mask_of(b, eval[i])->raw : NULL;
  damo_status s = apply_rop(b, node, raw, rout, n_branches + 1);
  for (int o = 0; o < node->n_out && s == DAMO_OK; o++) {
    if (rout[o] == NULL || !type_has_shape(rout[o]->type) || !type_has_shape(node->out[o]->type)) continue;
    rout[o] = build_ifelse_zero(b, branch->cond, rout[o], branch->inverse, node->out[o]);
    s = b->status;
  }
  mem_free(b->ctx, raw, bytes);
  return s;
}

static damo_status apply_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout, int n_branches) {
  const build_mask *branch = n_branches < GRAD_MAX_BRANCHES ? grad_branch_of(b, eval, node->n_in) : NULL;
  if (branch != NULL && !grad_ends_masks(node->op->def, true))
    return rop_in_branch(b, node, branch, eval, rout, n_branches);
  damo_status s = grad_rop(b, node, eval, rout);
  for (int o = 0; o < node->n_out && s == DAMO_OK; o++) s = check_tangent(b, node, o, &rout[o]);
  return s == DAMO_OK ? grad_pass_masks(b, node, true, eval, node->n_in, rout, node->n_out) : s;
}

damo_status grad_forward_node(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  return apply_rop(b, node, eval, rout, 0);
}

/* Marks the outputs that are connected to a wrt through the node. */
static damo_status push_mark_reached(push *p, damo_apply *node) {
  DAMO_TRY(connections_read(&p->connected, p->b->ctx, node));
  for (int i = 0; i < node->n_in; i++) {
    if (!map_get(&p->reached, node->in[i], NULL)) continue;
    for (int o = 0; o < node->n_out; o++) {
      if (p->connected.at[i * node->n_out + o]) DAMO_TRY(map_put(&p->reached, node->out[o], 1));
    }
  }
  return DAMO_OK;
}

/* Stores the tangents of the node's outputs. No tangent from a native rule means that the derivative is zero. No
 * tangent from the R_op of a script's or a host's Op means that the output is not connected, provided that every
 * connected input had a tangent (`whole`). */
static damo_status keep_tangents(push *p, const damo_apply *node, damo_var *const *rout, bool whole) {
  const op_def *def = node->op->def;
  const bool tells = whole && def->foreign && def->rop != NULL;
  for (int o = 0; o < node->n_out; o++) {
    damo_var *r = rout[o], *y = node->out[o];
    if (map_get(&p->tangent, y, NULL)) continue;
    if (r != NULL && r->type->kind != TYPE_DISCONNECTED) {
      DAMO_TRY(map_put(&p->tangent, y, (uintptr_t)r));
      DAMO_TRY(map_put(&p->reached, y, 1));
    } else if (tells) {
      map_remove(&p->reached, y);
    }
  }
  return DAMO_OK;
}

static damo_status push_node(push *p, damo_apply *node) {
  DAMO_TRY(ptrvec_reserve(&p->eval, node->n_in));
  DAMO_TRY(ptrvec_reserve(&p->result, node->n_out));
  damo_var **eval = (damo_var **)p->eval.at, **rout = (damo_var **)p->result.at;
  bool any = false, reached = false, whole = true;
  for (int i = 0; i < node->n_in; i++) {
    eval[i] = map_get_ptr(&p->tangent, node->in[i]);
    any = any || eval[i] != NULL;
    bool is_reached = map_get(&p->reached, node->in[i], NULL);
    reached = reached || is_reached;
    whole = whole && (eval[i] != NULL || !is_reached);
  }
  if (reached) DAMO_TRY(push_mark_reached(p, node));
  damo_assert(reached || !any);
  if (!any) return DAMO_OK;
  damo_status s = grad_forward_node(p->b, node, eval, rout);
  if (s == DAMO_OK) return keep_tangents(p, node, rout, whole);
  ctx_fail_add(p->b->ctx, "while taking the R-operator of %s", node->op->def->name);
  ctx_fail_at(p->b->ctx, node->op->def->name, node);
  graph_fail_operands(p->b->ctx, node->in, node->n_in);
  return s;
}

/* The result or error for an f[i] that no differentiable path connects to a wrt. */
static damo_status forward_disconnected(push *p, damo_var *f, int64_t i, damo_var **out) {
  damo_ctx *ctx = p->b->ctx;
  char name[160];
  var_format(name, sizeof name, f);
  switch (p->options->disconnected_inputs) {
    case DISCONNECTED_RAISE:
      return ctx_fail(
          ctx, DAMO_EDISCONNECTED_INPUT,
          "Rop: output %lld (%s) does not depend on wrt, or only through operations that have no derivative",
          (long long)i + 1, name);
    case DISCONNECTED_WARN:
      ctx_warn(ctx, "disconnected_input", "Rop: output %lld (%s) does not depend on wrt", (long long)i + 1, name);
      break;
    case DISCONNECTED_IGNORE: break;
  }
  *out = damo_retain(grad_of_disconnected(p->b, f, p->options->return_disconnected));
  return p->b->status;
}

static damo_status push_nodes(push *p, damo_var *const *f, int64_t n_f, const ptrvec *nodes, damo_var **out) {
  for (int64_t k = 0; k < nodes->n; k++) DAMO_TRY(push_node(p, nodes->at[k]));
  for (int64_t i = 0; i < n_f; i++) {
    damo_var *r = map_get_ptr(&p->tangent, f[i]);
    if (r == NULL && map_get(&p->reached, f[i], NULL) && type_has_shape(f[i]->type)) r = build_zero_grad(p->b, f[i]);
    out[i] = damo_retain(r);
    if (r == NULL && p->b->status == DAMO_OK) DAMO_TRY(forward_disconnected(p, f[i], i, &out[i]));
  }
  return p->b->status;
}

damo_status grad_forward(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, damo_var *const *eval,
                         int64_t n, const grad_options *options, damo_var **out) {
  static const grad_options plain = {0};
  DAMO_TRY(ctx_enter(ctx, STACK_GRAD));
  build b;
  build_init(&b, ctx);
  push p = {.b = &b, .options = options != NULL ? options : &plain};
  map_init(&p.tangent, ctx);
  map_init(&p.reached, ctx);
  ptrvec_init(&p.eval, ctx);
  ptrvec_init(&p.result, ctx);
  for (int64_t i = 0; i < n_f; i++) out[i] = NULL;
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    if (type_has_shape(wrt[i]->type) && type_has_shape(eval[i]->type) && wrt[i]->type->ndim != eval[i]->type->ndim) {
      s = ctx_fail(ctx, DAMO_ETYPE, "Rop: eval point %lld must have rank %d, got %d", (long long)i + 1,
                   wrt[i]->type->ndim, eval[i]->type->ndim);
    }
    if (s == DAMO_OK) s = map_put(&p.tangent, wrt[i], (uintptr_t)eval[i]);
    if (s == DAMO_OK) s = map_put(&p.reached, wrt[i], 1);
  }
  if (s == DAMO_OK) s = graph_toposort(ctx, f, n_f, NULL, 0, &nodes);
  if (s == DAMO_OK) s = push_nodes(&p, f, n_f, &nodes, out);
  ptrvec_clear(&nodes);
  ptrvec_clear(&p.eval);
  ptrvec_clear(&p.result);
  connections_clear(&p.connected, ctx);
  map_clear(&p.tangent);
  map_clear(&p.reached);
  for (int64_t i = 0; i < n_f && s != DAMO_OK; i++) {
    damo_release(out[i]);
    out[i] = NULL;
  }
  damo_status ended = build_end(&b);
  ctx_leave(ctx, STACK_GRAD);
  return s != DAMO_OK ? s : ended;
}
