/* scan_rules.c: rewrites of Scans.
 *
 * scan_slim leaves out of a loop what nothing reads: results, and then states and collected values that no result
 * depends on; of a stacked result of which only rows at the end are read, the others (h[-1] needs one row); operands
 * that are given twice; and it moves constants into the inner graph, where they fold.
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "scan_int.h"

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
static void find_tail(scan_edit *w, scan_part *p) {
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

static void find_wanted(scan_edit *w) {
  for (int i = 0; i < w->s->n_parts; i++) {
    scan_part *p = &w->plan[i];
    if (p->stack >= 0 && fgraph_clients(w->fg, w->node->out[p->stack]) == NULL) p->stack = -1, w->changed = true;
    if (p->last >= 0 && fgraph_clients(w->fg, w->node->out[p->last]) == NULL) p->last = -1, w->changed = true;
    if (p->stack >= 0) find_tail(w, p);
  }
}

/* Appends to `results` the inner outputs of the parts that stay, from part number *from on. */
static damo_status live_results(scan_edit *w, ptrvec *results) {
  results->n = 0;
  for (int i = 0; i < w->s->n_parts; i++) {
    if (w->live[i] && w->plan[i].out >= 0) DAMO_TRY(ptrvec_push(results, scan_inner_out(w->s, w->plan[i].out)));
  }
  if (!w->s->until) return DAMO_OK;
  return ptrvec_push(results, scan_inner_out(w->s, (int)w->s->fgraph->outputs.n - 1));
}

/* A state stays if a part that stays depends on it. */
static damo_status find_live(scan_edit *w) {
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

static damo_status replace_inner(scan_edit *w, int i, damo_var *by) {
  w->changed = true;
  return map_put(&w->memo, scan_inner_in(w->s, i), (uintptr_t)by);
}

/* Whether two sequences, or two fixed values, are the same operand with the same taps. */
static bool same_scan_operand(const scan_edit *w, const scan_part *a, const scan_part *b) {
  const scan_class *s = w->s;
  const int n = a->role == SCAN_FIXED ? 0 : a->n;
  if (a->role != b->role || a->n != b->n || w->node->in[1 + (a - w->plan)] != w->node->in[1 + (b - w->plan)])
    return false;
  for (int k = 0; k < a->n; k++) {
    if (scan_inner_in(s, a->first + k)->type != scan_inner_in(s, b->first + k)->type) return false;
  }
  return n == 0 || memcmp(s->tap + a->first, s->tap + b->first, (size_t)n * sizeof *s->tap) == 0;
}

static damo_status find_same(scan_edit *w, int i) {
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

static damo_status find_operands(scan_edit *w) {
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

/* ---- The rule ------------------------------------------------------------------------------------------------------ */

/* Whether a sequence or fixed value is read by nothing that stays. */
static damo_status find_unread(scan_edit *w) {
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
  scan_edit w;
  DAMO_TRY(scan_edit_init(&w, fg, node, "scan_slim"));
  find_wanted(&w);
  damo_status status = find_live(&w);
  if (status == DAMO_OK) status = find_unread(&w);
  if (status == DAMO_OK) status = find_operands(&w);
  if (status == DAMO_OK && w.changed) status = scan_edit_make(&w);
  if (status == DAMO_OK && w.changed) status = scan_edit_replace(&w);
  return scan_edit_end(&w, status);
}

damo_status scan_slim_all(damo_fgraph *fg) { return scan_each(fg, slim_node); }

bool scan_any(const damo_fgraph *fg) {
  bool any = false;
  for (size_t i = 0; i < fg->nodes.cap && !any; i++) {
    const uintptr_t key = fg->nodes.cells[i].key;
    any = key != 0 && scan_of(((const damo_apply *)key)->op) != NULL;
  }
  return any;
}

damo_status scan_each(damo_fgraph *fg, damo_status (*visit)(damo_fgraph *fg, damo_apply *node)) {
  if (!scan_any(fg)) return DAMO_OK;
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = nodes.n - 1; k >= 0 && s == DAMO_OK; k--) {
    damo_apply *node = nodes.at[k];
    if (!fgraph_has_node(fg, node)) continue;
    const scan_class *c = scan_of(node->op);
    if (c != NULL && !c->def.impure) s = visit(fg, node);
  }
  ptrvec_clear(&nodes);
  return s;
}

static const rewrite_rule scan_slim_rule = {
    .name = "scan_slim", .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize scan", .global = scan_slim_all};

damo_status scan_register_rules(damo_ctx *ctx) {
  DAMO_TRY(scan_register_push(ctx));
  DAMO_TRY(rewrite_register(ctx, &scan_slim_rule));
  return scan_register_join(ctx);
}
