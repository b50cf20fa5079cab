/* scan_rules.c: rewrites of Scans.
 *
 * scan_slim leaves out of a loop what nothing reads: results, and then states and collected values that no result
 * depends on; of a stacked result of which only rows at the end are read, the others (h[-1] needs one row); operands
 * that are given twice; and it moves constants into the inner graph, where they fold.
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "scan_int.h"

typedef struct scan_slim {
  damo_fgraph *fg;
  damo_apply *node;
  const scan_class *s;
  scan_part *plan; /* copies of the class's parts: stack, last: -1 where nothing reads them; tail */
  bool *live;      /* by part: it stays */
  map memo;        /* inner inputs that are replaced → by what */
  bool changed;
} scan_slim;

/* ---- What is read ------------------------------------------------------------------------------------------------ */

/* Rows at the end of x that the Subtensor reads, if it reads no others, however many there are; 0: unknown. */
static int64_t rows_at_end(const damo_apply *client, const damo_var *x) {
  const char *spec = OP_PROPS(client->op, index_props)->spec.u.s;
  const char axis = spec[0];
  int64_t at;
  if (client->in[0] != x || (axis != 'i' && axis != 's')) return 0;
  if (axis == 's' && (spec[1] != '1' || spec[3] != '0')) return 0;
  if (client->n_in < 2 || !var_static_int(client->in[1], &at) || at >= 0 || at < -1000000) return 0;
  if (axis == 's' && spec[2] == '1') { /* the stop must count from the end too */
    int64_t stop;
    if (client->n_in < 3 || !var_static_int(client->in[2], &stop) || stop >= 0) return 0;
  }
  return -at;
}

/* Sets p->tail where all clients of the stacked result read rows at its end. */
static void find_tail(scan_slim *w, scan_part *p) {
  const damo_var *x = w->node->out[p->stack];
  const fg_clients *clients = fgraph_clients(w->fg, x);
  int64_t most = 0;
  for (int32_t i = 0; i < clients->n; i++) {
    const damo_apply *client = clients->at[i].node;
    const int64_t rows = client != NULL && client->op->def == &subtensor_def ? rows_at_end(client, x) : 0;
    if (rows == 0) return;
    if (rows > most) most = rows;
  }
  if (p->tail > 0 && p->tail <= most) return;
  p->tail = most;
  w->changed = true;
}

static void find_wanted(scan_slim *w) {
  for (int i = 0; i < w->s->n_parts; i++) {
    scan_part *p = &w->plan[i];
    if (p->stack >= 0 && fgraph_clients(w->fg, w->node->out[p->stack]) == NULL) p->stack = -1, w->changed = true;
    if (p->last >= 0 && fgraph_clients(w->fg, w->node->out[p->last]) == NULL) p->last = -1, w->changed = true;
    if (p->stack >= 0) find_tail(w, p);
  }
}

/* Appends to `results` the inner outputs of the parts that stay, from part number *from on. */
static damo_status live_results(scan_slim *w, ptrvec *results) {
  results->n = 0;
  for (int i = 0; i < w->s->n_parts; i++) {
    if (w->live[i] && w->plan[i].out >= 0) DAMO_TRY(ptrvec_push(results, scan_inner_out(w->s, w->plan[i].out)));
  }
  if (!w->s->until) return DAMO_OK;
  return ptrvec_push(results, scan_inner_out(w->s, (int)w->s->fgraph->outputs.n - 1));
}

/* A state stays if a part that stays depends on it. */
static damo_status find_live(scan_slim *w) {
  const scan_class *s = w->s;
  ptrvec results, above;
  ptrvec_init(&results, s->obj.ctx);
  ptrvec_init(&above, s->obj.ctx);
  damo_status status = DAMO_OK;
  for (int i = 0; i < s->n_parts; i++) w->live[i] = w->plan[i].out < 0 || w->plan[i].stack >= 0 || w->plan[i].last >= 0;
  for (bool more = true; more && status == DAMO_OK;) {
    more = false;
    above.n = 0;
    status = live_results(w, &results);
    if (status == DAMO_OK) status = graph_ancestors(s->obj.ctx, (damo_var *const *)results.at, results.n, &above);
    for (int i = s->n_seq; i < s->n_seq + s->n_state && status == DAMO_OK; i++) {
      if (w->live[i]) continue;
      const scan_part *p = &w->plan[i];
      for (int64_t k = 0; k < above.n; k++) {
        for (int j = p->first; j < p->first + p->n; j++) w->live[i] = w->live[i] || above.at[k] == scan_inner_in(s, j);
      }
      more = more || w->live[i];
    }
  }
  for (int i = 0; i < s->n_parts; i++) w->changed = w->changed || !w->live[i];
  ptrvec_clear(&results);
  ptrvec_clear(&above);
  return status;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

static damo_status replace_inner(scan_slim *w, int i, damo_var *by) {
  w->changed = true;
  return map_put(&w->memo, scan_inner_in(w->s, i), (uintptr_t)by);
}

/* Whether two sequences, or two fixed values, are the same operand with the same taps. */
static bool same_scan_operand(const scan_slim *w, const scan_part *a, const scan_part *b) {
  const scan_class *s = w->s;
  const int n = a->role == SCAN_FIXED ? 0 : a->n;
  if (a->role != b->role || a->n != b->n || w->node->in[1 + (a - w->plan)] != w->node->in[1 + (b - w->plan)])
    return false;
  for (int k = 0; k < a->n; k++) {
    if (scan_inner_in(s, a->first + k)->type != scan_inner_in(s, b->first + k)->type) return false;
  }
  return n == 0 || memcmp(s->tap + a->first, s->tap + b->first, (size_t)n * sizeof *s->tap) == 0;
}

static damo_status find_same(scan_slim *w, int i) {
  const scan_part *p = &w->plan[i];
  for (int k = 0; k < i; k++) {
    const scan_part *q = &w->plan[k];
    if (!w->live[k] || !same_scan_operand(w, q, p)) continue;
    for (int j = 0; j < p->n; j++) DAMO_TRY(replace_inner(w, p->first + j, scan_inner_in(w->s, q->first + j)));
    w->live[i] = false;
    return DAMO_OK;
  }
  return DAMO_OK;
}

#define SMALL_CONSTANT 64 /* entries; larger ones stay operands, which are not copied */

static damo_status find_operands(scan_slim *w) {
  for (int i = 0; i < w->s->n_seq + w->s->n_state + w->s->n_fixed; i++) {
    const scan_part *p = &w->plan[i];
    damo_var *x = w->node->in[1 + i];
    if (p->role == SCAN_STATE) continue;
    const damo_array *a = p->role == SCAN_FIXED ? var_constant_array(x) : NULL;
    if (a != NULL && array_size(a) <= SMALL_CONSTANT && type_is_super(scan_inner_in(w->s, p->first)->type, x->type)) {
      DAMO_TRY(replace_inner(w, p->first, x));
      w->live[i] = false;
    } else {
      DAMO_TRY(find_same(w, i));
    }
  }
  return DAMO_OK;
}

/* ---- The slim loop ----------------------------------------------------------------------------------------------- */

/* Copies the inner outputs over what replaces inner inputs; copies: owned by the scope. */
static damo_status copy_inner(scan_slim *w, build *b, damo_var **copies) {
  const damo_fgraph *fg = w->s->fgraph;
  damo_status s = graph_clone(b->ctx, (damo_var *const *)fg->outputs.at, fg->outputs.n, &w->memo, true, NULL, copies);
  for (int64_t o = 0; o < fg->outputs.n && s == DAMO_OK; o++) {
    if (build_take(b, copies[o]) == NULL) s = b->status;
  }
  return s;
}

static void slim_part(scan_slim *w, scan_draft *d, const scan_part *p, damo_var *const *copies) {
  const scan_class *s = w->s;
  damo_var *outer = p->role == SCAN_COLLECT ? NULL : w->node->in[1 + (p - w->plan)];
  damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at + p->first;
  scan_part *made = NULL;
  switch (p->role) {
    case SCAN_SEQUENCE: made = scan_draft_sequence(d, outer, p->n, s->tap + p->first, inner); break;
    case SCAN_STATE: made = scan_draft_state(d, outer, p->n, s->tap + p->first, inner, copies[p->out]); break;
    case SCAN_FIXED: made = scan_draft_fixed(d, outer, inner[0]); break;
    case SCAN_COLLECT: made = scan_draft_collect(d, copies[p->out]); break;
  }
  if (made == NULL) return;
  made->before = p->before;
  made->span = p->span;
  made->bare = p->bare;
  made->number = p->number;
  made->update = p->update && p->last >= 0;
  made->stack = p->stack;
  made->last = p->last;
  made->tail = p->tail;
}

/* Replaces the uses of a stacked result of which fewer rows are kept: each client by one that reads those. */
static damo_status replace_readers(scan_slim *w, build *b, damo_var *old, damo_var *now) {
  ptrvec nodes;
  ptrvec_init(&nodes, b->ctx);
  damo_status s = DAMO_OK;
  const fg_clients *clients = fgraph_clients(w->fg, old);
  for (int32_t i = 0; clients != NULL && i < clients->n && s == DAMO_OK; i++)
    s = clients->at[i].node != NULL ? ptrvec_push(&nodes, clients->at[i].node) : DAMO_OK;
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) {
    damo_apply *client = nodes.at[i];
    if (!fgraph_has_node(w->fg, client)) continue;
    damo_var *in[4] = {now, client->in[1], client->n_in > 2 ? client->in[2] : NULL,
                       client->n_in > 3 ? client->in[3] : NULL};
    if (client->n_in > 4) continue;
    damo_var *part = build_op(b, damo_retain(client->op), in, client->n_in);
    if (part != NULL) s = fgraph_replace_trusted(w->fg, client->out, &part, 1, "scan_slim");
    if (s == DAMO_OK) s = b->status;
  }
  ptrvec_clear(&nodes);
  return s;
}

static damo_status slim_replace(scan_slim *w, build *b, const scan_draft *d, const damo_apply *made) {
  damo_status s = DAMO_OK;
  int next[4] = {0};
  const scan_class *now = scan_at(made->op);
  const int first[4] = {0, now->n_seq, now->n_seq + now->n_state, now->n_seq + now->n_state + now->n_fixed};
  (void)d;
  for (int i = 0; i < w->s->n_parts && s == DAMO_OK; i++) {
    const scan_part *p = &w->plan[i], *was = &w->s->part[i];
    if (!w->live[i]) continue;
    const scan_part *q = &now->part[first[p->role] + next[p->role]++];
    if (p->last >= 0) s = fgraph_replace_trusted(w->fg, &w->node->out[was->last], &made->out[q->last], 1, "scan_slim");
    if (p->stack < 0 || s != DAMO_OK) continue;
    damo_var *old = w->node->out[was->stack], *stack = made->out[q->stack];
    s = p->tail > 0 && p->tail != was->tail ? replace_readers(w, b, old, stack)
                                            : fgraph_replace_trusted(w->fg, &old, &stack, 1, "scan_slim");
  }
  const int steps = scan_out_steps(w->s);
  if (s != DAMO_OK || steps < 0 || fgraph_clients(w->fg, w->node->out[steps]) == NULL) return s;
  return fgraph_replace_trusted(w->fg, &w->node->out[steps], &made->out[scan_out_steps(now)], 1, "scan_slim");
}

static damo_status slim_build(scan_slim *w) {
  const scan_class *s = w->s;
  damo_ctx *ctx = w->fg->obj.ctx;
  build b;
  scan_draft d;
  build_init(&b, ctx);
  scan_draft_init(&d, &b);
  const size_t bytes = (size_t)s->fgraph->outputs.n * sizeof(damo_var *);
  damo_var **copies = mem_calloc(ctx, bytes);
  damo_obj *trace = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = w->node->trace != NULL ? &w->node->trace->obj : NULL;
  damo_status status = copies != NULL ? copy_inner(w, &b, copies) : DAMO_EMEMORY;
  d.n_steps = w->node->in[0];
  d.until = s->until && status == DAMO_OK ? copies[s->fgraph->outputs.n - 1] : NULL;
  d.name = s->name;
  d.mode = s->mode;
  d.flipped = s->flipped;
  d.derived = s->derived;
  d.no_updates = true;
  d.truncate = s->truncate;
  d.checkpoint = s->checkpoint;
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    if (w->live[i]) slim_part(w, &d, &w->plan[i], copies);
    status = b.status;
  }
  if (status == DAMO_OK) status = scan_draft_prune(&d);
  const damo_apply *made = status == DAMO_OK ? scan_draft_node(&d) : NULL;
  if (made != NULL) status = slim_replace(w, &b, &d, made);
  graph_notes_of(ctx)->trace = trace;
  scan_draft_clear(&d);
  if (copies != NULL) mem_free(ctx, copies, bytes);
  const damo_status ended = build_end(&b);
  return status != DAMO_OK ? status : ended;
}

/* Whether a sequence or fixed value is read by nothing that stays. */
static damo_status find_unread(scan_slim *w) {
  const scan_class *s = w->s;
  ptrvec results, above;
  map read;
  ptrvec_init(&results, s->obj.ctx);
  ptrvec_init(&above, s->obj.ctx);
  map_init(&read, s->obj.ctx);
  damo_status status = live_results(w, &results);
  if (status == DAMO_OK) status = graph_ancestors(s->obj.ctx, (damo_var *const *)results.at, results.n, &above);
  for (int64_t k = 0; k < above.n && status == DAMO_OK; k++) status = map_put(&read, above.at[k], 1);
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    const scan_part *p = &w->plan[i];
    bool is = p->role == SCAN_STATE || p->role == SCAN_COLLECT;
    for (int k = p->first; k < p->first + p->n; k++) is = is || map_get(&read, scan_inner_in(s, k), NULL);
    w->changed = w->changed || !is;
  }
  map_clear(&read);
  ptrvec_clear(&results);
  ptrvec_clear(&above);
  return status;
}

static damo_status slim_node(damo_fgraph *fg, damo_apply *node) {
  const scan_class *s = scan_at(node->op);
  damo_ctx *ctx = fg->obj.ctx;
  scan_slim w = {.fg = fg, .node = node, .s = s};
  const size_t bytes = (size_t)s->n_parts * (sizeof(scan_part) + sizeof(bool));
  w.plan = mem_calloc(ctx, bytes);
  if (w.plan == NULL) return DAMO_EMEMORY;
  w.live = (bool *)(w.plan + s->n_parts);
  memcpy(w.plan, s->part, (size_t)s->n_parts * sizeof *w.plan);
  map_init(&w.memo, ctx);
  find_wanted(&w);
  damo_status status = find_live(&w);
  if (status == DAMO_OK) status = find_unread(&w);
  if (status == DAMO_OK) status = find_operands(&w);
  if (status == DAMO_OK && w.changed) status = slim_build(&w);
  map_clear(&w.memo);
  mem_free(ctx, w.plan, bytes);
  return status;
}

/* Users come before what they read, so that what they leave out is left out there too. */
static damo_status slim_all(damo_fgraph *fg) {
  bool any = false;
  for (size_t i = 0; i < fg->nodes.cap && !any; i++) {
    const uintptr_t key = fg->nodes.cells[i].key;
    any = key != 0 && scan_of(((const damo_apply *)key)->op) != NULL;
  }
  if (!any) return DAMO_OK;
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = nodes.n - 1; k >= 0 && s == DAMO_OK; k--) {
    damo_apply *node = nodes.at[k];
    if (!fgraph_has_node(fg, node)) continue;
    const scan_class *c = scan_of(node->op);
    if (c != NULL && !c->def.impure) s = slim_node(fg, node);
  }
  ptrvec_clear(&nodes);
  return s;
}

static const rewrite_rule scan_slim_rule = {
    .name = "scan_slim", .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize scan", .global = slim_all};

damo_status scan_register_rules(damo_ctx *ctx) { return rewrite_register(ctx, &scan_slim_rule); }
