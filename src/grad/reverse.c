/* reverse.c: reverse-mode gradients: one sweep over the nodes from the cost to the inputs, which adds up the
 * contributions of all uses of a Variable.
 *
 * Only nodes between cost and wrt are visited (`reaches`). The gradient of an integer Variable is that of the float
 * with its value, in floatX. Rules of Ops with integer results return zeros, unless the Op only moves entries; so a
 * Variable that is connected through such an Op counts as connected.
 */
#include "grad_int.h"
#include "op/elem/masked.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"

#include <string.h>

typedef struct sweep {
  build *b;
  const grad_options *options;
  uint64_t first_id; /* Variables made by this sweep have this id or a later one */
  ptrvec nodes;      /* inputs first */
  map reaches;       /* set of damo_var* that depend differentiably on a wrt */
  map acc;           /* damo_var* → its accumulated gradient */
  map fixed;         /* Variables with a known gradient, to which nothing is added */
  map stops;         /* consider_constant Variables */
  map named;         /* damo_var* named by name_gradient → its wrt */
  map origin;        /* damo_var* of NullType → the damo_apply* whose rule returned it */
  ptrvec gout, gin;
  ptrvec null; /* the undefined cotangents (NullType) among a node's outputs */
  connections connected;
  damo_apply *silent; /* the first node whose rule returned no gradient for a connected input, or NULL */
  int silent_input;
} sweep;

static damo_status sweep_reserve(sweep *w, const damo_apply *node) {
  DAMO_TRY(ptrvec_reserve(&w->gout, node->n_out));
  DAMO_TRY(ptrvec_reserve(&w->null, node->n_out));
  return ptrvec_reserve(&w->gin, node->n_in);
}

/* Marks the Variables that depend on a wrt through differentiable paths. */
static damo_status mark_reaching(sweep *w, damo_var *const *wrt, int64_t n) {
  for (int64_t i = 0; i < n; i++) DAMO_TRY(map_put(&w->reaches, wrt[i], 1));
  for (int64_t k = 0; k < w->nodes.n; k++) {
    damo_apply *node = w->nodes.at[k];
    DAMO_TRY(sweep_reserve(w, node));
    DAMO_TRY(connections_read(&w->connected, w->b->ctx, node));
    for (int o = 0; o < node->n_out; o++) {
      bool any = false;
      for (int i = 0; i < node->n_in && !any; i++) {
        any = w->connected.at[i * node->n_out + o] && map_get(&w->reaches, node->in[i], NULL);
      }
      if (any && !map_get(&w->stops, node->out[o], NULL)) DAMO_TRY(map_put(&w->reaches, node->out[o], 1));
    }
  }
  return DAMO_OK;
}

/* g + h as cotangents of x. */
static damo_var *sweep_sum(build *b, damo_var *x, damo_var *g, damo_var *h) {
  damo_var *sum = build_ifelse_add(b, x, g, h);
  if (sum != NULL || b->status != DAMO_OK) return sum;
  const bool are_masked = masked_of(b, g).cond != NULL && masked_of(b, h).cond != NULL;
  return are_masked ? build_masked_add(b, g, h) : build_add_cotangents(b, x, g, h);
}

static damo_status sweep_accumulate(sweep *w, damo_var *x, damo_var *g) {
  damo_assert(map_get(&w->reaches, x, NULL));
  if (map_get(&w->fixed, x, NULL)) return DAMO_OK;
  damo_var *before = map_get_ptr(&w->acc, x);
  if (before != NULL) {
    if (before->type->kind == TYPE_NULL) return DAMO_OK;
    if (g->type->kind != TYPE_NULL) g = sweep_sum(w->b, x, before, g);
    if (g == NULL) return w->b->status;
  }
  return map_put(&w->acc, x, (uintptr_t)g);
}

/* An undefined cotangent makes the gradients of all connected inputs undefined, whatever the Op: the one for input i,
 * or NULL. */
static damo_var *null_for(const sweep *w, const damo_apply *node, int i) {
  for (int o = 0; o < node->n_out; o++) {
    if (w->null.at[o] != NULL && w->connected.at[i * node->n_out + o]) return w->null.at[o];
  }
  return NULL;
}

/* A rule expects a dense cotangent for a dense output: converts a sparse one. */
static damo_status fit_cotangent(sweep *w, const damo_var *y, damo_var **g) {
  if (*g == NULL || !type_is_tensor(y->type) || !type_is_sparse((*g)->type)) return DAMO_OK;
  *g = build_dense(w->b, *g, true);
  return w->b->status;
}

/* Records, for error messages, the origin of undefined gradients and the first rule that returned none for a connected
 * input. */
static damo_status note_rule(sweep *w, damo_apply *node, damo_var *const *gout, damo_var *const *gin) {
  for (int i = 0; i < node->n_in; i++) {
    if (gin[i] != NULL) {
      if (gin[i]->type->kind == TYPE_NULL) DAMO_TRY(map_put(&w->origin, gin[i], (uintptr_t)node));
      continue;
    }
    for (int o = 0; o < node->n_out && w->silent == NULL; o++) {
      if (gout[o] == NULL || !w->connected.at[i * node->n_out + o] || !map_get(&w->reaches, node->in[i], NULL))
        continue;
      w->silent = node;
      w->silent_input = i;
    }
  }
  return DAMO_OK;
}

static damo_status sweep_node(sweep *w, damo_apply *node) {
  damo_var **gout = (damo_var **)w->gout.at, **gin = (damo_var **)w->gin.at;
  damo_assert(w->gout.cap >= node->n_out && w->gin.cap >= node->n_in && w->null.cap >= node->n_out);
  bool any = false, any_null = false;
  for (int o = 0; o < node->n_out; o++) {
    damo_var *y = node->out[o];
    bool through = map_get(&w->reaches, y, NULL) && !map_get(&w->stops, y, NULL);
    gout[o] = through ? map_get_ptr(&w->acc, y) : NULL;
    const bool is_null = gout[o] != NULL && gout[o]->type->kind == TYPE_NULL;
    w->null.at[o] = is_null ? gout[o] : NULL;
    any_null = any_null || is_null;
    if (is_null) gout[o] = NULL;
    any = any || gout[o] != NULL;
    DAMO_TRY(fit_cotangent(w, y, &gout[o]));
  }
  if (!any && !any_null) return DAMO_OK;
  DAMO_TRY(connections_read(&w->connected, w->b->ctx, node));
  if (any) DAMO_TRY(grad_node(w->b, node, gout, gin));
  if (any) DAMO_TRY(note_rule(w, node, gout, gin));
  for (int i = 0; i < node->n_in; i++) {
    damo_var *null = any_null ? null_for(w, node, i) : NULL, *g = null != NULL ? null : any ? gin[i] : NULL;
    if (g != NULL && map_get(&w->reaches, node->in[i], NULL)) DAMO_TRY(sweep_accumulate(w, node->in[i], g));
  }
  return DAMO_OK;
}

static damo_status check_cost(damo_ctx *ctx, const damo_var *cost) {
  char type[320];
  if (cost->type->kind == TYPE_NULL) {
    return ctx_fail(ctx, DAMO_ENULL_GRADIENT, "grad: the cost is undefined: %s", cost->type->why);
  }
  if (!type_is_tensor(cost->type)) {
    return ctx_fail(ctx, DAMO_ETYPE, "grad: the cost must be a tensor, got %s%s",
                    type_format(type, sizeof type, cost->type),
                    type_is_sparse(cost->type) ? "; take its sum or mean" : "");
  }
  if (cost->type->ndim != 0) {
    return ctx_fail(ctx, DAMO_ETYPE, "grad: the cost must be a scalar, got %s; take its sum or mean",
                    type_format(type, sizeof type, cost->type));
  }
  if (dtype_is_complex(var_dtype(cost))) {
    return ctx_fail(ctx, DAMO_ETYPE, "grad: the cost must be real, got dtype %s", dtype_name(var_dtype(cost)));
  }
  return DAMO_OK;
}

/* The initial gradients: 1 for the cost, and the known gradients. */
static damo_status sweep_seed(sweep *w, damo_var *cost) {
  damo_ctx *ctx = w->b->ctx;
  for (int64_t i = 0; i < w->options->n_known; i++) {
    const damo_type *x = w->options->known_of[i]->type, *g = w->options->known[i]->type;
    if (g->kind == TYPE_DISCONNECTED) { /* no gradient comes from there */
      DAMO_TRY(map_put(&w->fixed, w->options->known_of[i], 1));
      continue;
    }
    if (type_has_shape(x) && type_has_shape(g) && x->ndim != g->ndim) {
      return ctx_fail(ctx, DAMO_ETYPE, "grad: known gradient %lld must have rank %d like its Variable, got rank %d",
                      (long long)i + 1, x->ndim, g->ndim);
    }
    DAMO_TRY(map_put(&w->acc, w->options->known_of[i], (uintptr_t)w->options->known[i]));
    DAMO_TRY(map_put(&w->fixed, w->options->known_of[i], 1));
  }
  if (cost == NULL || map_get(&w->fixed, cost, NULL)) return DAMO_OK;
  damo_dtype dtype = dtype_is_discrete(var_dtype(cost)) ? ctx->config.floatX : var_dtype(cost);
  damo_var *one = build_scalar(w->b, dtype, 1.0);
  return one != NULL ? map_put(&w->acc, cost, (uintptr_t)one) : w->b->status;
}

static damo_status toposort_all(sweep *w, damo_var *cost) {
  ptrvec roots;
  ptrvec_init(&roots, w->b->ctx);
  damo_status s = cost != NULL ? ptrvec_push(&roots, cost) : DAMO_OK;
  for (int64_t i = 0; i < w->options->n_known && s == DAMO_OK; i++) s = ptrvec_push(&roots, w->options->known_of[i]);
  if (s == DAMO_OK) {
    s = graph_toposort(w->b->ctx, (damo_var *const *)roots.at, roots.n, w->options->constant, w->options->n_constant,
                       &w->nodes);
  }
  for (int64_t i = 0; i < w->options->n_constant && s == DAMO_OK; i++)
    s = map_put(&w->stops, w->options->constant[i], 1);
  ptrvec_clear(&roots);
  return s;
}

/* A more precise error if the cost depends on x but a rule returned no gradient: it names the rule's Op. */
static damo_status check_rules(sweep *w, const damo_var *x) {
  char name[160];
  if (w->silent == NULL) return DAMO_OK;
  ptrvec above;
  ptrvec_init(&above, w->b->ctx);
  damo_status s = graph_ancestors(w->b->ctx, &w->silent->in[w->silent_input], 1, &above);
  for (int64_t i = 0; i < above.n && s == DAMO_OK; i++) {
    if (above.at[i] != x) continue;
    const char *op = w->silent->op->def->name;
    s = ctx_fail(w->b->ctx, DAMO_EDISCONNECTED_INPUT,
                 "grad: no gradient reaches %s: that of %s gave none for its input %d; it gives one for each input",
                 var_format(name, sizeof name, x), op, w->silent_input + 1);
    ctx_fail_at(w->b->ctx, op, w->silent);
    graph_fail_operands(w->b->ctx, w->silent->in, w->silent->n_in);
  }
  ptrvec_clear(&above);
  return s;
}

static damo_status sweep_disconnected(sweep *w, damo_var *x, damo_var **out) {
  damo_ctx *ctx = w->b->ctx;
  char name[160];
  switch (w->options->disconnected_inputs) {
    case DISCONNECTED_RAISE:
      DAMO_TRY(check_rules(w, x));
      return ctx_fail(ctx, DAMO_EDISCONNECTED_INPUT,
                      "grad: the cost does not depend on %s, or only through operations that have no gradient; with "
                      "disconnected_inputs = \"ignore\" it is 0",
                      var_format(name, sizeof name, x));
    case DISCONNECTED_WARN:
      ctx_warn(ctx, "disconnected_input", "grad: the cost does not depend on %s", var_format(name, sizeof name, x));
      break;
    case DISCONNECTED_IGNORE: break;
  }
  *out = damo_retain(grad_of_disconnected(w->b, x, w->options->return_disconnected));
  return w->b->status;
}

/* The error for an undefined gradient of x, at the node whose rule returned it. */
static damo_status sweep_undefined(sweep *w, const damo_var *x, const damo_var *null) {
  damo_ctx *ctx = w->b->ctx;
  char name[160];
  damo_apply *node = map_get_ptr(&w->origin, null);
  const char *op = node != NULL ? node->op->def->name : NULL;
  var_format(name, sizeof name, x);
  if (op != NULL && strstr(null->type->why, op) == NULL) {
    ctx_fail(ctx, DAMO_ENULL_GRADIENT, "grad: the gradient for %s is undefined: %s: %s", name, op, null->type->why);
  } else {
    ctx_fail(ctx, DAMO_ENULL_GRADIENT, "grad: the gradient for %s is undefined: %s", name, null->type->why);
  }
  ctx_fail_at(ctx, op, node);
  if (node != NULL) graph_fail_operands(ctx, node->in, node->n_in);
  return DAMO_ENULL_GRADIENT;
}

/* Names the gradient g of x, if this sweep made it, "(dcost/dx)" where both have names. A gradient that belongs to
 * several wrt gets no name. */
static damo_status name_gradient(sweep *w, const damo_var *cost, damo_var *x, damo_var *g) {
  if (cost == NULL || cost->name == NULL || x->name == NULL || g->id < w->first_id) return DAMO_OK;
  const damo_var *before = map_get_ptr(&w->named, g);
  if (before == x) return DAMO_OK;
  if (before != NULL) return var_set_name(g, NULL);
  if (g->name != NULL) return DAMO_OK;
  strbuf name;
  strbuf_init(&name, w->b->ctx);
  strbuf_addf(&name, "(d%s/d%s)", cost->name, x->name);
  damo_status s = name.failed ? DAMO_EMEMORY : var_set_name(g, name.at);
  strbuf_clear(&name);
  return s == DAMO_OK ? map_put(&w->named, g, (uintptr_t)x) : s;
}

static damo_status sweep_collect(sweep *w, const damo_var *cost, damo_var *const *wrt, int64_t n, damo_var **out) {
  for (int64_t i = 0; i < n; i++) {
    damo_var *g = map_get_ptr(&w->acc, wrt[i]);
    if (g == NULL || g->type->kind == TYPE_DISCONNECTED) {
      DAMO_TRY(sweep_disconnected(w, wrt[i], &out[i]));
    } else if (g->type->kind == TYPE_NULL && !w->options->null_gradients_return) {
      return sweep_undefined(w, wrt[i], g);
    } else {
      out[i] = damo_retain(g);
    }
    if (out[i] != NULL) DAMO_TRY(name_gradient(w, cost, wrt[i], out[i]));
  }
  return DAMO_OK;
}

static damo_status sweep_run(sweep *w, damo_var *cost, damo_var *const *wrt, int64_t n, damo_var **out) {
  DAMO_TRY(toposort_all(w, cost));
  DAMO_TRY(mark_reaching(w, wrt, n));
  DAMO_TRY(sweep_seed(w, cost));
  for (int64_t k = w->nodes.n - 1; k >= 0; k--) DAMO_TRY(sweep_node(w, w->nodes.at[k]));
  return sweep_collect(w, cost, wrt, n, out);
}

damo_status grad_reverse(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, const grad_options *options,
                         damo_var **out) {
  static const grad_options plain = {0};
  if (cost == NULL && (options == NULL || options->n_known == 0)) {
    return ctx_fail(ctx, DAMO_EVALUE, "grad: without a cost, known_grads must be given");
  }
  if (cost != NULL) DAMO_TRY(check_cost(ctx, cost));
  DAMO_TRY(ctx_enter(ctx, STACK_GRAD));
  build b;
  build_init(&b, ctx);
  sweep w = {.b = &b, .options = options != NULL ? options : &plain, .first_id = ctx->next_id};
  ptrvec_init(&w.nodes, ctx);
  ptrvec_init(&w.gout, ctx);
  ptrvec_init(&w.gin, ctx);
  ptrvec_init(&w.null, ctx);
  map_init(&w.reaches, ctx);
  map_init(&w.acc, ctx);
  map_init(&w.fixed, ctx);
  map_init(&w.stops, ctx);
  map_init(&w.origin, ctx);
  map_init(&w.named, ctx);
  for (int64_t i = 0; i < n; i++) out[i] = NULL;
  damo_status s = sweep_run(&w, cost, wrt, n, out);
  ptrvec_clear(&w.nodes);
  ptrvec_clear(&w.gout);
  ptrvec_clear(&w.gin);
  ptrvec_clear(&w.null);
  map_clear(&w.reaches);
  map_clear(&w.acc);
  map_clear(&w.fixed);
  map_clear(&w.stops);
  map_clear(&w.origin);
  map_clear(&w.named);
  connections_clear(&w.connected, ctx);
  if (s != DAMO_OK) {
    for (int64_t i = 0; i < n; i++) {
      damo_release(out[i]);
      out[i] = NULL;
    }
  }
  damo_status ended = build_end(&b);
  ctx_leave(ctx, STACK_GRAD);
  return s != DAMO_OK ? s : ended;
}
