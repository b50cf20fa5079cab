/* vectorize.c: a graph over a batch. Variables are replaced by ones with further leading axes, and each node between
 * them and the outputs is built again over these: by its class's rule (op_def.batch), or by a loop over the entries of
 * the batch, a Scan whose step is the node.
 *
 * All batched values have the same number of leading axes, of length 1 where fewer were given, and broadcast.
 */
#include <string.h>

#include "op/elem/build_arith.h"
#include "scan_int.h"

typedef struct vectorize_walk {
  build *b;
  int k;     /* leading axes of batched values */
  map value; /* Variable of the graph → what stands for it */
  map lead;  /* → how many of the last of these k axes may differ from 1 */
} vectorize_walk;

static damo_var *walk_value(const vectorize_walk *w, damo_var *v) {
  damo_var *known = map_get_ptr(&w->value, v);
  return known != NULL ? known : v;
}

static bool walk_batched(const vectorize_walk *w, const damo_var *v, const damo_var *value) {
  return w->k > 0 && value != v && type_is_tensor(v->type) && type_is_tensor(value->type) &&
         var_ndim(value) == var_ndim(v) + w->k;
}

/* ---- A loop over the batch --------------------------------------------------------------------------------------- */

/* The generator's state among the operands that a node draws from and moves on: it goes from entry to entry. *out: the
 * output that is its next state. -1: none. */
static int batch_generator(const damo_apply *node, int *out) {
  int at = -1;
  *out = -1;
  for (int o = 0; o < node->n_out; o++) {
    if (node->out[o]->type->kind == TYPE_RANDOM) *out = o;
  }
  for (int i = 0; i < node->n_in && *out >= 0; i++) {
    if (node->in[i]->type->kind == TYPE_RANDOM) at = i;
  }
  return at;
}

/* An entry of a folded operand. */
static damo_var *batch_entry_of(build *b, const damo_var *folded) {
  const damo_type *t = folded->type;
  damo_type *entry = type_tensor(b->ctx, t->dtype, t->ndim - 1, t->shape + 1);
  damo_var *v = entry != NULL ? build_take(b, var_new(b->ctx, entry, NULL)) : build_take(b, NULL);
  damo_release(entry);
  return v;
}

static damo_status refuse_batch_of(build *b, const damo_apply *node, int o) {
  char type[256];
  strbuf name;
  strbuf_init(&name, b->ctx);
  op_format(&name, node->op);
  build_fail(b, DAMO_ENOT_IMPLEMENTED, "vectorize: output %d of %s is %s, of which there are no batches", o + 1,
             name.at != NULL ? name.at : node->op->def->name, type_format(type, sizeof type, node->out[o]->type));
  strbuf_clear(&name);
  return b->status;
}

/* The parts of the loop: in[] becomes the operands of the step. */
static damo_status batch_loop_operands(vectorize_walk *w, scan_draft *d, const damo_apply *node, damo_var **in,
                                       const bool *batched, damo_var *const *lengths) {
  static const int32_t tap = 0;
  build *b = w->b;
  d->n_steps = batch_size(b, w->k, lengths);
  for (int i = 0; i < node->n_in && b->status == DAMO_OK; i++) {
    if (!batched[i]) continue;
    damo_var *folded = batch_fold(b, batch_expand(b, in[i], true, w->k, lengths), w->k);
    if (folded == NULL || (in[i] = batch_entry_of(b, folded)) == NULL) break;
    scan_draft_sequence(d, folded, 1, &tap, &in[i]);
  }
  return b->status;
}

static damo_status batch_loop_results(vectorize_walk *w, scan_draft *d, const damo_apply *node, const damo_apply *step,
                                      damo_var *const *lengths, int state_out, damo_var **out) {
  build *b = w->b;
  for (int o = 0; o < node->n_out && b->status == DAMO_OK; o++) {
    if (o != state_out) scan_draft_collect(d, step->out[o]);
  }
  const damo_apply *loop = scan_draft_node(d);
  for (int p = 0, o = 0; loop != NULL && p < d->n_parts; p++) {
    const scan_part *part = &d->part[p];
    if (part->role == SCAN_STATE && state_out >= 0 && part->next == step->out[state_out])
      out[state_out] = loop->out[part->last];
    if (part->role != SCAN_COLLECT) continue;
    if (o == state_out) o++;
    out[o++] = batch_unfold(b, loop->out[part->stack], w->k, lengths);
  }
  return b->status;
}

static damo_status batch_by_loop(vectorize_walk *w, const damo_apply *node, damo_var **in, const bool *batched,
                                 damo_var **out) {
  static const int32_t past = -1;
  build *b = w->b;
  damo_var *lengths[DAMO_MAX_NDIM], *initial = NULL;
  int state_out;
  bool updates = false;
  const int state = batch_generator(node, &state_out);
  for (int o = 0; o < node->n_out; o++) {
    if (!type_is_tensor(node->out[o]->type) && (o != state_out || state < 0)) return refuse_batch_of(b, node, o);
  }
  DAMO_TRY(batch_lengths(b, in, batched, node->n_in, w->k, lengths));
  damo_var *mark = build_take(b, var_new(b->ctx, node->in[0]->type, NULL));
  if (mark == NULL) return b->status;
  scan_draft d;
  scan_draft_init(&d, b);
  d.mark = mark->id;
  d.name = "vectorize";
  damo_status s = batch_loop_operands(w, &d, node, in, batched, lengths);
  if (s == DAMO_OK && state >= 0) {
    initial = in[state];
    updates = initial->kind == VAR_SHARED && initial->default_update != NULL;
    if (!updates) in[state] = build_take(b, var_new(b->ctx, initial->type, NULL));
  }
  const damo_apply *step = s == DAMO_OK ? build_apply(b, damo_retain(node->op), in, node->n_in) : NULL;
  if (step != NULL && state >= 0) {
    scan_part *p = scan_draft_state(&d, initial, 1, &past, &in[state], step->out[state_out]);
    if (p != NULL) {
      p->bare = true;
      p->update = updates; /* a Function stores the last state in place of the default update */
      p->stack = -1;
      p->last = 0;
    }
  }
  if (step != NULL) s = batch_loop_results(w, &d, node, step, lengths, state >= 0 ? state_out : -1, out);
  scan_draft_clear(&d);
  return s != DAMO_OK ? s : b->status;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static damo_status walk_node(vectorize_walk *w, const damo_apply *node, damo_var **in, bool *batched, damo_var **out) {
  build *b = w->b;
  bool any = false, touched = false;
  uintptr_t lead = 0;
  for (int i = 0; i < node->n_in; i++) {
    uintptr_t of = 0;
    in[i] = walk_value(w, node->in[i]);
    touched = touched || in[i] != node->in[i];
    batched[i] = walk_batched(w, node->in[i], in[i]);
    any = any || batched[i];
    if (batched[i] && map_get(&w->lead, node->in[i], &of) && of > lead) lead = of;
  }
  if (!touched) return DAMO_OK;
  if (!any) {
    const damo_apply *again = build_apply(b, damo_retain(node->op), in, node->n_in);
    for (int o = 0; again != NULL && o < node->n_out; o++) out[o] = again->out[o];
  } else {
    if (node->op->def->batch != NULL) DAMO_TRY(node->op->def->batch(b, node, in, batched, w->k, out));
    bool made = false;
    for (int o = 0; o < node->n_out; o++) made = made || out[o] != NULL;
    for (int i = 0; i < node->n_in && !made; i++) in[i] = walk_value(w, node->in[i]);
    if (!made && b->status == DAMO_OK) DAMO_TRY(batch_by_loop(w, node, in, batched, out));
  }
  for (int o = 0; o < node->n_out && b->status == DAMO_OK; o++) {
    if (out[o] == NULL)
      return build_fail(b, DAMO_ESTATE, "vectorize: %s has no result", node->op->def->name), b->status;
    damo_assert(!any || !type_is_tensor(node->out[o]->type) || var_ndim(out[o]) == var_ndim(node->out[o]) ||
                walk_batched(w, node->out[o], out[o]));
    DAMO_TRY(map_put(&w->value, node->out[o], (uintptr_t)out[o]));
    DAMO_TRY(map_put(&w->lead, node->out[o], lead));
  }
  return b->status;
}

static damo_status walk_nodes(vectorize_walk *w, const ptrvec *nodes) {
  damo_ctx *ctx = w->b->ctx;
  damo_status s = DAMO_OK;
  int most = 1;
  for (int64_t j = 0; j < nodes->n; j++) {
    const damo_apply *node = nodes->at[j];
    if (node->n_in > most) most = node->n_in;
    if (node->n_out > most) most = node->n_out;
  }
  const size_t size = (size_t)most * (2 * sizeof(damo_var *) + sizeof(bool));
  damo_var **in = mem_calloc(ctx, size);
  if (in == NULL) return DAMO_EMEMORY;
  damo_var **out = in + most;
  bool *batched = (bool *)(out + most);
  for (int64_t j = 0; j < nodes->n && s == DAMO_OK; j++) {
    memset(in, 0, size);
    s = walk_node(w, nodes->at[j], in, batched, out);
  }
  mem_free(ctx, in, size);
  return s;
}

/* Notes what stands for old; leading axes that `now` lacks are of length 1. */
static damo_status walk_replace(vectorize_walk *w, damo_var *old, damo_var *now) {
  build *b = w->b;
  int pattern[DAMO_MAX_NDIM];
  const int own = type_is_tensor(old->type) ? var_ndim(old) : 0, n = type_is_tensor(old->type) ? var_ndim(now) : 0,
            lead = n - own;
  if (lead > 0 && lead < w->k) {
    if (own + w->k > DAMO_MAX_NDIM) return batch_pad(b, now, 0, own + w->k), b->status; /* fails */
    for (int i = 0; i < own + w->k; i++) pattern[i] = i < w->k - lead ? -1 : i - (w->k - lead);
    now = build_dimshuffle(b, now, pattern, own + w->k);
  }
  if (now == NULL) return b->status;
  DAMO_TRY(map_put(&w->lead, old, (uintptr_t)lead));
  return map_put(&w->value, old, (uintptr_t)now);
}

/* A batched value without those leading axes that no operand of it had. */
static damo_var *without_ones(build *b, damo_var *v, int n) {
  int pattern[DAMO_MAX_NDIM];
  for (int i = 0; i < n && v != NULL; i++) {
    const int ndim = var_ndim(v);
    for (int a = 1; a < ndim; a++) pattern[a - 1] = a;
    v = type_dim_is_one(v->type, 0) ? build_dimshuffle(b, v, pattern, ndim - 1)
                                    : build_index(b, v, 0, build_scalar(b, DAMO_INT64, 0));
  }
  return v;
}

static damo_status check_replacement(damo_ctx *ctx, const damo_var *old, const damo_var *now, int *lead) {
  char a[256], c[256], name[160];
  const damo_type *t = old->type, *u = now->type;
  bool fits =
      type_is_tensor(t) && type_is_tensor(u) ? t->dtype == u->dtype && u->ndim >= t->ndim : type_is_compatible(t, u);
  *lead = fits && type_is_tensor(t) ? u->ndim - t->ndim : 0;
  if (!fits) {
    return ctx_fail(ctx, DAMO_ETYPE, "vectorize_graph: a Variable of %s can't stand for %s of %s",
                    type_format(c, sizeof c, u), var_format(name, sizeof name, old), type_format(a, sizeof a, t));
  }
  for (int i = 0; type_is_tensor(t) && i < t->ndim; i++) {
    if (t->shape[i] < 0 || u->shape[*lead + i] < 0 || t->shape[i] == u->shape[*lead + i]) continue;
    return ctx_fail(ctx, DAMO_ESHAPE, "vectorize_graph: axis %d of %s has length %lld, not %lld", *lead + i + 1,
                    var_format(name, sizeof name, now), (long long)u->shape[*lead + i], (long long)t->shape[i]);
  }
  return DAMO_OK;
}

static damo_status vectorize_run(vectorize_walk *w, ptrvec *nodes, damo_var *const *outputs, int64_t n,
                                 damo_var *const *old, damo_var *const *now, int64_t n_old, damo_var **out) {
  build *b = w->b;
  for (int64_t i = 0; i < n_old; i++) {
    int lead;
    DAMO_TRY(check_replacement(b->ctx, old[i], now[i], &lead));
    if (lead > w->k) w->k = lead;
  }
  for (int64_t i = 0; i < n_old; i++) DAMO_TRY(walk_replace(w, old[i], now[i]));
  DAMO_TRY(graph_toposort_map(b->ctx, outputs, n, &w->value, nodes));
  DAMO_TRY(walk_nodes(w, nodes));
  for (int64_t o = 0; o < n; o++) {
    uintptr_t lead = 0;
    damo_var *v = walk_value(w, outputs[o]);
    map_get(&w->lead, outputs[o], &lead);
    out[o] = walk_batched(w, outputs[o], v) ? without_ones(b, v, w->k - (int)lead) : v;
  }
  return b->status;
}

damo_status vectorize_graph(build *b, damo_var *const *outputs, int64_t n, damo_var *const *old, damo_var *const *now,
                            int64_t n_old, damo_var **out) {
  vectorize_walk w = {.b = b};
  ptrvec nodes;
  map_init(&w.value, b->ctx);
  map_init(&w.lead, b->ctx);
  ptrvec_init(&nodes, b->ctx);
  const damo_status s = vectorize_run(&w, &nodes, outputs, n, old, now, n_old, out);
  ptrvec_clear(&nodes);
  map_clear(&w.lead);
  map_clear(&w.value);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status;
}
