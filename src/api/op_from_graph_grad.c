/* op_from_graph_grad.c: L_op and R_op of OpFromGraph.
 *
 * The inner graph is differentiated over its own Variables. The derived graph becomes another OpFromGraph, which is
 * compiled once for all nodes; its inputs are those of the inputs, outputs, output gradients (L_op) or eval points
 * (R_op) that it reads. If the Op is inlined, the derived graph is instead copied over the node's Variables. The class
 * remembers the derived Op as long as something uses it.
 */
#include <string.h>

#include "api_int.h"
#include "compile/inner.h"
#include "op/op.h"
#include "grad/grad.h"

/* ---- One derivation ---------------------------------------------------------------------------------------------- */

typedef struct derivation {
  build *b;
  op_from_graph *g;
  damo_apply *node;
  bool tangent;           /* R_op */
  damo_var *const *given; /* output gradients or eval points; NULL: none */
  int n_from, n_result;   /* number of entries of `given` and of `result` */
  damo_var **from;        /* inner placeholders for `given` */
  damo_var **result;      /* inner results: NULL, a NullType Variable, or a value */
  damo_var **at;          /* the allocation of these lists, followed by scratch */
  size_t bytes;
} derivation;

static damo_status derivation_init(derivation *d) {
  const op_from_graph *g = d->g;
  size_t n = 2 * ((size_t)d->n_from + (size_t)d->n_result) + 2 * ((size_t)g->n_in + (size_t)g->n_out);
  d->bytes = n * sizeof(damo_var *);
  d->at = mem_calloc(d->b->ctx, d->bytes);
  if (d->at == NULL) return d->b->status = DAMO_EMEMORY;
  d->from = d->at;
  d->result = d->at + d->n_from;
  return DAMO_OK;
}

static damo_type *stand_in_type(damo_ctx *ctx, damo_type *t) {
  return type_is_tensor(t) ? type_tensor(ctx, t->dtype, t->ndim, NULL) : type_without_pattern(t);
}

static damo_status make_stand_ins(derivation *d) {
  build *b = d->b;
  for (int i = 0; i < d->n_from && b->status == DAMO_OK; i++) {
    if (d->given[i] == NULL) continue;
    damo_type *t = stand_in_type(b->ctx, d->given[i]->type);
    d->from[i] = build_take(b, t != NULL ? var_new(b->ctx, t, NULL) : NULL);
    damo_release(t);
  }
  return b->status;
}

/* Gives the owned results of grad to the scope, or releases them if it failed (s). */
static damo_status derivation_take_results(derivation *d, damo_status s) {
  for (int i = 0; i < d->n_result; i++) {
    damo_var *v = d->result[i];
    if (v != NULL && s == DAMO_OK) {
      if (build_take(d->b, v) == NULL) s = d->b->status;
    } else if (v != NULL) {
      damo_release(v);
    }
  }
  if (s != DAMO_OK && d->b->status == DAMO_OK) d->b->status = s;
  return s;
}

static damo_status inner_gradient(derivation *d) {
  build *b = d->b;
  const damo_fgraph *fg = d->g->fgraph;
  damo_var **known = d->at + d->n_from + d->n_result, **of = known + d->n_from;
  int n = 0;
  for (int o = 0; o < d->n_from && b->status == DAMO_OK; o++) {
    damo_var *y = fg->outputs.at[o];
    if (d->from[o] == NULL) continue;
    known[n] = d->from[o];
    of[n++] = inner_pass(b, y);
  }
  DAMO_TRY(b->status);
  grad_options options = {.known = known,
                          .known_of = of,
                          .n_known = n,
                          .disconnected_inputs = DISCONNECTED_IGNORE,
                          .null_gradients_return = true,
                          .return_disconnected = RETURN_NONE};
  damo_var *const *wrt = (damo_var *const *)fg->inputs.at;
  return derivation_take_results(d, grad_reverse(b->ctx, NULL, wrt, d->g->n_in, &options, d->result));
}

static damo_status inner_tangent(derivation *d) {
  const damo_fgraph *fg = d->g->fgraph;
  damo_var **wrt = d->at + d->n_from + d->n_result, **eval = wrt + d->n_from;
  int n = 0;
  for (int i = 0; i < d->n_from; i++) {
    if (d->from[i] == NULL) continue;
    wrt[n] = fg->inputs.at[i];
    eval[n++] = d->from[i];
  }
  damo_var *const *f = (damo_var *const *)fg->outputs.at;
  const grad_options options = {.disconnected_inputs = DISCONNECTED_IGNORE, .return_disconnected = RETURN_NONE};
  return derivation_take_results(d, grad_forward(d->b->ctx, f, d->n_result, wrt, eval, n, &options, d->result));
}

static bool is_value(const damo_var *v) {
  return v != NULL && v->type->kind != TYPE_NULL && v->type->kind != TYPE_DISCONNECTED;
}

/* ---- Inputs of the derived graph --------------------------------------------------------------------------------- */

/* Candidate number i for an input of the derived graph: the inputs, then the outputs (NULL for one that is no node's or
 * is listed again), then the placeholders. */
static damo_var *candidate(const derivation *d, int i) {
  const damo_fgraph *fg = d->g->fgraph;
  if (i < d->g->n_in) return fg->inputs.at[i];
  i -= d->g->n_in;
  if (i >= d->g->n_out) return d->from[i - d->g->n_out];
  damo_var *y = fg->outputs.at[i];
  for (int k = 0; k < i; k++) {
    if (fg->outputs.at[k] == y) return NULL;
  }
  return y->owner != NULL ? y : NULL;
}

static int n_candidates(const derivation *d) { return d->g->n_in + d->g->n_out + d->n_from; }

/* The Variable at the node that corresponds to the candidate. */
static damo_var *outer(const derivation *d, int i) {
  if (i < d->g->n_in) return d->node->in[i];
  i -= d->g->n_in;
  return i < d->g->n_out ? d->node->out[i] : d->given[i - d->g->n_out];
}

/* Puts the results that are values into out; returns their number. */
static int derivation_values(const derivation *d, damo_var **out) {
  int n = 0;
  for (int i = 0; i < d->n_result; i++) {
    if (is_value(d->result[i])) out[n++] = d->result[i];
  }
  return n;
}

static damo_status note_used(map *used, const ptrvec *nodes, damo_var *const *values, int n) {
  for (int64_t k = 0; k < nodes->n; k++) {
    const damo_apply *node = nodes->at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(map_put(used, node->in[i], 1));
  }
  for (int i = 0; i < n; i++) DAMO_TRY(map_put(used, values[i], 1));
  return DAMO_OK;
}

/* Sets pick to the numbers of the candidates that the values depend on. */
static damo_status derivation_find_used(derivation *d, damo_var *const *values, int n, int32_t *pick, int *n_pick) {
  damo_ctx *ctx = d->b->ctx;
  map used;
  ptrvec nodes, stops;
  map_init(&used, ctx);
  ptrvec_init(&nodes, ctx);
  ptrvec_init(&stops, ctx);
  damo_status s = DAMO_OK;
  for (int i = 0; i < n_candidates(d) && s == DAMO_OK; i++) {
    if (candidate(d, i) != NULL) s = ptrvec_push(&stops, candidate(d, i));
  }
  if (s == DAMO_OK) s = graph_toposort(ctx, values, n, (damo_var *const *)stops.at, stops.n, &nodes);
  if (s == DAMO_OK) s = note_used(&used, &nodes, values, n);
  *n_pick = 0;
  for (int i = 0; i < n_candidates(d) && s == DAMO_OK; i++) {
    if (candidate(d, i) != NULL && map_get(&used, candidate(d, i), NULL)) pick[(*n_pick)++] = i;
  }
  map_clear(&used);
  ptrvec_clear(&nodes);
  ptrvec_clear(&stops);
  return s;
}

/* ---- The derived Op ---------------------------------------------------------------------------------------------- */

/* Records in the derived Op's class what is needed to apply it to further nodes. */
static damo_status remember(derivation *d, op_from_graph *made, const int32_t *pick, int n_pick) {
  damo_ctx *ctx = d->b->ctx;
  made->pick = mem_alloc(ctx, (size_t)n_pick * sizeof *pick);
  if (made->pick == NULL) return DAMO_EMEMORY;
  made->n_pick = n_pick;
  if (n_pick > 0) memcpy(made->pick, pick, (size_t)n_pick * sizeof *pick);
  made->lack = mem_calloc(ctx, (size_t)d->n_result * sizeof *made->lack);
  if (made->lack == NULL) return DAMO_EMEMORY;
  made->n_result = d->n_result;
  for (int i = 0; i < d->n_result; i++) {
    if (is_value(d->result[i])) continue;
    made->lack[i] = d->result[i] != NULL ? damo_retain(d->result[i]->type) : type_disconnected(ctx);
    if (made->lack[i] == NULL) return DAMO_EMEMORY;
  }
  made->from = mem_calloc(ctx, (size_t)d->n_from);
  if (made->from == NULL) return DAMO_EMEMORY;
  made->n_from = d->n_from;
  for (int i = 0; i < d->n_from; i++) made->from[i] = d->given[i] != NULL;
  if (d->g->derived[d->tangent] != NULL) d->g->derived[d->tangent]->source = NULL;
  d->g->derived[d->tangent] = made;
  made->source = d->g;
  made->which = d->tangent;
  return DAMO_OK;
}

/* Makes the OpFromGraph that computes the values (owned). NULL on failure. */
static damo_op *derived_op(derivation *d, damo_var *const *values, int n, const int32_t *pick, int n_pick) {
  build *b = d->b;
  char name[160];
  strbuf text;
  damo_var **in = mem_alloc(b->ctx, (size_t)n_pick * sizeof *in);
  if (in == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  for (int i = 0; i < n_pick; i++) in[i] = candidate(d, pick[i]);
  strbuf_init(&text, b->ctx);
  strbuf_addf(&text, "%.100s_%s", d->g->name, d->tangent ? "rop" : "lop");
  strcpy(name, text.failed ? "OpFromGraph" : text.at);
  strbuf_clear(&text);
  op_from_graph_options o = {.name = name, .mode = d->g->mode, .on_unused_input = UNUSED_IGNORE};
  damo_op *op = op_from_graph_new(b->ctx, in, n_pick, values, n, &o);
  mem_free(b->ctx, in, (size_t)n_pick * sizeof *in);
  if (op != NULL && remember(d, op_from_graph_of(op), pick, n_pick) != DAMO_OK) {
    damo_release(op);
    op = NULL;
  }
  if (op == NULL) b->status = damo_error_status(b->ctx);
  return op;
}

/* Applies a derived Op (taken) to the node's Variables and puts its outputs into `to`, except where `skip`. */
static damo_status apply_derived(derivation *d, op_from_graph *made, damo_op *op, const bool *skip, damo_var **to) {
  build *b = d->b;
  damo_var **in = mem_alloc(b->ctx, (size_t)made->n_pick * sizeof *in);
  if (in == NULL) {
    damo_release(op);
    return b->status = DAMO_EMEMORY;
  }
  for (int i = 0; i < made->n_pick; i++) in[i] = outer(d, made->pick[i]);
  damo_retain(&made->obj); /* the Op, which owns it, is released with the scope */
  damo_apply *node = build_apply(b, op, in, made->n_pick);
  for (int i = 0, next = 0; i < d->n_result && b->status == DAMO_OK; i++) {
    damo_type *lack = made->lack[i];
    damo_var *v = NULL;
    if (lack == NULL) {
      v = node->out[next++];
    } else if (lack->kind == TYPE_NULL) {
      v = build_null(b, lack->why);
    }
    if (!skip[i]) to[i] = v;
  }
  mem_free(b->ctx, in, (size_t)made->n_pick * sizeof *in);
  damo_release(&made->obj);
  return b->status;
}

/* Copies the derived graph over the node's Variables, instead of making an Op. */
static damo_status unfold(derivation *d, const bool *skip, damo_var **to) {
  build *b = d->b;
  map memo;
  map_init(&memo, b->ctx);
  damo_status s = DAMO_OK;
  for (int i = 0; i < n_candidates(d) && s == DAMO_OK; i++) {
    damo_var *v = candidate(d, i);
    if (v != NULL && !map_get(&memo, v, NULL)) s = map_put(&memo, v, (uintptr_t)outer(d, i));
  }
  damo_var **values = d->at + d->n_from + d->n_result, **copies = values + d->n_result;
  int n = derivation_values(d, values);
  if (s == DAMO_OK) s = graph_clone(b->ctx, values, n, &memo, true, NULL, copies);
  map_clear(&memo);
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    if (build_take(b, copies[i]) == NULL) s = b->status;
  }
  for (int i = 0, next = 0; i < d->n_result && s == DAMO_OK; i++) {
    damo_var *v = is_value(d->result[i]) ? copies[next++] : d->result[i];
    if (!skip[i]) to[i] = v;
  }
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status;
}

static damo_status by_new_op(derivation *d, const bool *skip, damo_var **to) {
  build *b = d->b;
  damo_var **values = d->at + d->n_from + d->n_result;
  int n = derivation_values(d, values), n_pick;
  if (n == 0) {
    for (int i = 0; i < d->n_result; i++) {
      if (!skip[i]) to[i] = d->result[i];
    }
    return b->status;
  }
  size_t bytes = (size_t)n_candidates(d) * sizeof(int32_t);
  int32_t *pick = mem_alloc(b->ctx, bytes);
  if (pick == NULL) return b->status = DAMO_EMEMORY;
  damo_status s = derivation_find_used(d, values, n, pick, &n_pick);
  if (s == DAMO_OK) {
    damo_op *op = derived_op(d, values, n, pick, n_pick);
    s = op != NULL ? apply_derived(d, op_from_graph_of(op), op, skip, to) : b->status;
  } else {
    b->status = s;
  }
  mem_free(b->ctx, pick, bytes);
  return s;
}

/* The derived Op of an earlier node, if it was made for the same set of given gradients and compatible Types; else
 * NULL. */
static op_from_graph *remembered(const derivation *d) {
  op_from_graph *made = d->g->derived[d->tangent];
  if (made == NULL || made->op == NULL || made->n_from != d->n_from) return NULL;
  for (int i = 0; i < d->n_from; i++) {
    if (made->from[i] != (d->given[i] != NULL)) return NULL;
  }
  for (int i = 0; i < made->n_pick; i++) {
    const damo_type *want = ((damo_var *)made->fgraph->inputs.at[i])->type;
    if (!type_is_compatible(want, outer(d, made->pick[i])->type)) return NULL;
  }
  return made;
}

/* Sets the entries of `to`, except where `skip`. */
static damo_status derivation_set(derivation *d, const bool *skip, damo_var **to) {
  op_from_graph *made = d->g->inlined ? NULL : remembered(d);
  if (made != NULL) return apply_derived(d, made, damo_retain(made->op), skip, to);
  damo_status s = derivation_init(d);
  if (s == DAMO_OK) s = make_stand_ins(d);
  if (s == DAMO_OK) s = d->tangent ? inner_tangent(d) : inner_gradient(d);
  if (s == DAMO_OK) s = d->g->inlined ? unfold(d, skip, to) : by_new_op(d, skip, to);
  if (d->at != NULL) mem_free(d->b->ctx, d->at, d->bytes);
  return s;
}

/* ---- Overrides --------------------------------------------------------------------------------------------------- */

/* The given output gradient or eval point, or zeros like `like` if there is none. */
static damo_var *grad_or_zeros(build *b, damo_var *given, damo_var *like) {
  if (given != NULL) return given;
  return build_zero_grad(b, like);
}

/* Applies the overriding Op to the inputs, the outputs (L_op only) and the given gradients; its outputs are the
 * results. */
static damo_status by_op(derivation *d, damo_op *op, int n_result, bool *skip, damo_var **to) {
  build *b = d->b;
  const op_from_graph *g = d->g;
  int n_from = d->tangent ? g->n_given : g->n_out, n = 0;
  size_t bytes = (size_t)(g->n_given + g->n_out + n_from) * sizeof(damo_var *);
  damo_var **in = mem_alloc(b->ctx, bytes);
  if (in == NULL) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < g->n_given; i++) in[n++] = d->node->in[i];
  for (int o = 0; o < g->n_out && !d->tangent; o++) in[n++] = d->node->out[o];
  for (int i = 0; i < n_from; i++)
    in[n++] = grad_or_zeros(b, d->given[i], d->tangent ? d->node->in[i] : d->node->out[i]);
  damo_apply *node = b->status == DAMO_OK ? build_apply(b, damo_retain(op), in, n) : NULL;
  mem_free(b->ctx, in, bytes);
  if (node == NULL) return b->status;
  if (node->n_out != n_result) {
    build_fail(b, DAMO_EVALUE, "%s: the override %s must have %d outputs, it has %d", g->def.name, op->def->name,
               n_result, node->n_out);
    return b->status;
  }
  for (int i = 0; i < n_result; i++) {
    to[i] = node->out[i];
    skip[i] = true;
  }
  return b->status;
}

static damo_status derive_all(derivation *d, damo_var **to) {
  build *b = d->b;
  op_from_graph *g = d->g;
  int n_result = d->tangent ? g->n_out : g->n_given;
  damo_op *op = d->tangent ? g->rop_op : g->lop_op;
  op_from_graph_override *hook = d->tangent ? g->rop : g->lop;
  bool *skip = mem_calloc(b->ctx, (size_t)d->n_result);
  if (skip == NULL) return b->status = DAMO_EMEMORY;
  damo_status s = DAMO_OK;
  for (int i = 0; i < d->n_result; i++) to[i] = NULL;
  if (op != NULL) {
    s = by_op(d, op, n_result, skip, to);
  } else if (hook != NULL) {
    s = hook(b, g, d->node, d->given, to, skip);
  }
  bool all = true;
  for (int i = 0; i < d->n_result; i++) all = all && skip[i];
  if (s == DAMO_OK && !all) s = derivation_set(d, skip, to);
  mem_free(b->ctx, skip, (size_t)d->n_result);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return s;
}

damo_status op_from_graph_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  derivation d = {.b = b, .g = op_from_graph_of(node->op), .node = node, .given = gout};
  d.n_from = node->n_out;
  d.n_result = node->n_in;
  return derive_all(&d, gin);
}

damo_status op_from_graph_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  derivation d = {.b = b, .g = op_from_graph_of(node->op), .node = node, .given = eval, .tangent = true};
  d.n_from = node->n_in;
  d.n_result = node->n_out;
  return derive_all(&d, tangent);
}
