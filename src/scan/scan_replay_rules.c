/* scan_replay_rules.c: rewrites of ScanGrads.
 *
 * scan_grad_slim leaves out what nothing reads: results, states of the reverse loop that no result depends on, and then
 * states of the forward loop that no step back reads. If none is left, the loop becomes a Scan.
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "scan_int.h"

typedef struct grad_slim {
  damo_fgraph *fg;
  damo_apply *node;
  const scan_class *s; /* of the reverse loop */
  scan_part *plan;     /* copies of its parts: stack, last: -1 where nothing reads them */
  bool *live;          /* by part: it stays */
  bool changed;
} grad_slim;

static void find_read(grad_slim *w) {
  for (int i = 0; i < w->s->n_parts; i++) {
    scan_part *p = &w->plan[i];
    if (p->stack >= 0 && fgraph_clients(w->fg, w->node->out[p->stack]) == NULL) p->stack = -1, w->changed = true;
    if (p->last >= 0 && fgraph_clients(w->fg, w->node->out[p->last]) == NULL) p->last = -1, w->changed = true;
    w->live[i] = p->out < 0 || p->stack >= 0 || p->last >= 0;
  }
}

/* A state stays if a part that stays depends on it. */
static damo_status find_live_states(grad_slim *w) {
  const scan_class *s = w->s;
  ptrvec results, above;
  map read;
  ptrvec_init(&results, s->obj.ctx);
  ptrvec_init(&above, s->obj.ctx);
  map_init(&read, s->obj.ctx);
  damo_status status = DAMO_OK;
  for (bool more = true; more && status == DAMO_OK;) {
    more = false;
    results.n = above.n = 0;
    for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
      if (w->live[i] && w->plan[i].out >= 0) status = ptrvec_push(&results, scan_inner_out(s, w->plan[i].out));
    }
    if (status == DAMO_OK) status = graph_ancestors(s->obj.ctx, (damo_var *const *)results.at, results.n, &above);
    for (int64_t k = 0; k < above.n && status == DAMO_OK; k++) status = map_put(&read, above.at[k], 1);
    for (int i = s->n_seq; i < s->n_seq + s->n_state && status == DAMO_OK; i++) {
      if (w->live[i] || !map_get(&read, scan_inner_in(s, w->plan[i].first), NULL)) continue;
      w->live[i] = more = true;
    }
  }
  map_clear(&read);
  ptrvec_clear(&results);
  ptrvec_clear(&above);
  return status;
}

/* ---- The slim loop ----------------------------------------------------------------------------------------------- */

/* Adds the parts that stay, with their operands; those that are fed have none. */
static void add_live(const grad_slim *w, scan_draft *d) {
  const scan_class *s = w->s;
  const int fed = scan_replay_n_fed(w->node->op);
  damo_var *const *next = w->node->in + scan_replay_first_reverse(w->node->op);
  d->n_steps = *next++;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &w->plan[i];
    damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at + p->first;
    const bool operand = p->role != SCAN_COLLECT && (i < s->n_seq - fed || i >= s->n_seq);
    damo_var *outer = operand ? *next++ : NULL, *value = p->out >= 0 ? scan_inner_out(s, p->out) : NULL;
    if (w->live[i]) scan_draft_part(d, s, p, outer, inner, value);
  }
}

/* Sets past[] to the inner inputs of the forward loop that the draft's sequences without an operand stand for; returns
 * their number. */
static int find_past(const grad_slim *w, const scan_draft *d, int32_t *past) {
  const int fed = scan_replay_n_fed(w->node->op), first = scan_first_past(w->s) - fed;
  int n = 0, q = 0;
  for (int i = 0; i < d->n_parts; i++) {
    if (d->part[i].role != SCAN_SEQUENCE || d->part[i].outer != NULL) continue;
    while (d->inner.at[d->part[i].first] != scan_inner_in(w->s, first + q)) q++;
    past[n++] = scan_replay_fed(w->node->op, q);
  }
  return n;
}

static damo_status replace_results(const grad_slim *w, const damo_apply *made) {
  const scan_class *now = scan_reverse_class(made);
  int state = 0, collect = 0;
  for (int i = w->s->n_seq; i < w->s->n_parts; i++) {
    const scan_part *p = &w->plan[i], *was = &w->s->part[i];
    if (!w->live[i] || p->out < 0) continue;
    const scan_part *q = p->role == SCAN_STATE ? scan_state_at(now, state++) : scan_collect_at(now, collect++);
    if (p->stack >= 0)
      DAMO_TRY(fgraph_replace_trusted(w->fg, &w->node->out[was->stack], &made->out[q->stack], 1, "scan_grad_slim"));
    if (p->last >= 0)
      DAMO_TRY(fgraph_replace_trusted(w->fg, &w->node->out[was->last], &made->out[q->last], 1, "scan_grad_slim"));
  }
  return DAMO_OK;
}

static damo_status build_slim(grad_slim *w, int32_t *past) {
  const scan_class *s = w->s;
  damo_ctx *ctx = w->fg->obj.ctx;
  build b;
  scan_draft d;
  build_init(&b, ctx);
  scan_draft_init(&d, &b);
  damo_obj *trace = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = w->node->trace != NULL ? &w->node->trace->obj : NULL;
  d.name = s->name;
  d.mode = s->mode;
  d.flipped = s->flipped;
  d.derived = d.no_updates = true;
  add_live(w, &d);
  damo_status status = b.status == DAMO_OK ? scan_draft_prune(&d) : b.status;
  if (status == DAMO_OK) {
    const scan_replay_draft again = {.forward = scan_at(scan_replay_forward(w->node->op)),
                                     .in = w->node->in,
                                     .n = w->node->in[0],
                                     .past = past,
                                     .n_past = find_past(w, &d, past),
                                     .checkpoint = scan_replay_checkpoint(w->node->op)};
    const damo_apply *made = again.n_past > 0 ? scan_replay_node(&d, &again) : scan_draft_node(&d);
    status = made != NULL ? replace_results(w, made) : b.status;
  }
  graph_notes_of(ctx)->trace = trace;
  scan_draft_clear(&d);
  const damo_status ended = build_end(&b);
  return status != DAMO_OK ? status : ended;
}

static damo_status slim_grad(damo_fgraph *fg, damo_apply *node) {
  damo_ctx *ctx = fg->obj.ctx;
  grad_slim w = {.fg = fg, .node = node, .s = scan_reverse_class(node)};
  const size_t n = (size_t)w.s->n_parts;
  const size_t bytes = n * (sizeof(scan_part) + sizeof(int32_t) + sizeof(bool));
  w.plan = mem_calloc(ctx, bytes);
  if (w.plan == NULL) return DAMO_EMEMORY;
  int32_t *past = (int32_t *)(w.plan + n);
  w.live = (bool *)(past + n);
  memcpy(w.plan, w.s->part, n * sizeof *w.plan);
  damo_retain(node); /* which leaves the graph with its last result */
  find_read(&w);
  damo_status status = w.changed ? find_live_states(&w) : DAMO_OK;
  if (status == DAMO_OK && w.changed) status = build_slim(&w, past);
  mem_free(ctx, w.plan, bytes);
  damo_release(node);
  return status;
}

/* Users come before what they read, so that what they leave out is left out there too. */
static damo_status slim_grads(damo_fgraph *fg) {
  bool any = false;
  for (size_t i = 0; i < fg->nodes.cap && !any; i++) {
    const uintptr_t key = fg->nodes.cells[i].key;
    any = key != 0 && ((const damo_apply *)key)->op->def == &scan_replay_def;
  }
  if (!any) return DAMO_OK;
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = nodes.n - 1; k >= 0 && s == DAMO_OK; k--) {
    damo_apply *node = nodes.at[k];
    if (fgraph_has_node(fg, node) && node->op->def == &scan_replay_def) s = slim_grad(fg, node);
  }
  ptrvec_clear(&nodes);
  return s;
}

static const rewrite_rule scan_grad_slim_rule = {
    .name = "scan_grad_slim", .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize scan", .global = slim_grads};

damo_status scan_register_replay_rules(damo_ctx *ctx) { return rewrite_register(ctx, &scan_grad_slim_rule); }
