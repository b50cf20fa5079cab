/* scan_replay_draft.c: a ScanGrad from the draft of a reverse loop: the loop that computes the states that it reads, and
 * the node over both.
 */
#include "scan_int.h"

/* Sets needed[] of the states whose values must be known for r->past. */
static damo_status find_needed(damo_ctx *ctx, const scan_replay_draft *r, bool *needed) {
  const scan_class *s = r->forward;
  ptrvec results, above;
  map read;
  ptrvec_init(&results, ctx);
  ptrvec_init(&above, ctx);
  map_init(&read, ctx);
  damo_status status = DAMO_OK;
  for (int q = 0; q < r->n_past; q++) needed[scan_state_of(s, r->past[q]) - scan_state_at(s, 0)] = true;
  for (bool more = true; more && status == DAMO_OK;) {
    more = false;
    results.n = above.n = 0;
    for (int i = 0; i < s->n_state && status == DAMO_OK; i++)
      status = needed[i] ? ptrvec_push(&results, scan_inner_out(s, scan_state_at(s, i)->out)) : DAMO_OK;
    if (status == DAMO_OK) status = graph_ancestors(ctx, (damo_var *const *)results.at, results.n, &above);
    for (int64_t k = 0; k < above.n && status == DAMO_OK; k++) status = map_put(&read, above.at[k], 1);
    for (int k = scan_first_past(s); k < scan_first_fixed(s) && status == DAMO_OK; k++) {
      const int64_t i = scan_state_of(s, k) - scan_state_at(s, 0);
      if (needed[i] || !map_get(&read, scan_inner_in(s, k), NULL)) continue;
      needed[i] = more = true;
    }
  }
  map_clear(&read);
  ptrvec_clear(&results);
  ptrvec_clear(&above);
  return status;
}

/* The Op of the loop that computes the states for r->past (owned); d: its draft. Sets fed[q] to its inner input for
 * r->past[q]. */
static damo_op *forward_again(const scan_replay_draft *r, scan_draft *d, bool *needed, int32_t *fed) {
  const scan_class *s = r->forward;
  damo_status status = find_needed(d->b->ctx, r, needed);
  d->n_steps = r->n;
  d->mode = s->mode;
  d->name = s->name;
  d->derived = d->no_updates = true;
  d->hands_back = s->hands_back;
  d->truncate = s->truncate; /* further derivatives go back as far as those of the loop itself */
  scan_draft_states(d, s, r->in, needed);
  for (int i = 0; i < d->n_parts; i++) {
    if (d->part[i].role == SCAN_STATE) d->part[i].stack = -1, d->part[i].last = 0;
  }
  if (status == DAMO_OK) status = scan_draft_prune(d);
  if (status != DAMO_OK && d->b->status == DAMO_OK) d->b->status = status;
  damo_op *op = scan_draft_op(d);
  for (int q = 0; op != NULL && q < r->n_past; q++) {
    const scan_part *p = scan_state_of(s, r->past[q]), *made = scan_state_at(scan_at(op), 0);
    for (int i = 0; scan_state_at(s, i) < p; i++) made += needed[i];
    fed[q] = made->first + r->past[q] - p->first;
  }
  return op;
}

damo_apply *scan_replay_over(const scan_draft *forward, const scan_draft *reverse, damo_op *op, damo_var *tie) {
  build *b = forward->b;
  const size_t bytes = (size_t)(forward->n_parts + reverse->n_parts + 3) * sizeof(damo_var *);
  damo_var **in = mem_alloc(b->ctx, bytes);
  int n = 0;
  if (in == NULL || op == NULL) {
    damo_release(op);
    if (in != NULL) mem_free(b->ctx, in, bytes);
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  in[n++] = forward->n_steps;
  for (int i = 0; i < forward->n_parts; i++) in[n++] = forward->part[i].outer;
  in[n++] = reverse->n_steps;
  for (int i = 0; i < reverse->n_parts; i++) {
    if (reverse->part[i].outer != NULL) in[n++] = reverse->part[i].outer;
  }
  if (tie != NULL) in[n++] = tie;
  damo_apply *node = build_apply(b, op, in, n);
  mem_free(b->ctx, in, bytes);
  return node;
}

damo_apply *scan_replay_node(scan_draft *reverse, const scan_replay_draft *r) {
  build *b = reverse->b;
  const size_t bytes = (size_t)r->n_past * sizeof(int32_t) + (size_t)r->forward->n_state;
  int32_t *fed = mem_calloc(b->ctx, bytes);
  if (fed == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  scan_draft d;
  scan_draft_init(&d, b);
  damo_op *forward = forward_again(r, &d, (bool *)(fed + r->n_past), fed);
  damo_op *back = forward != NULL ? scan_draft_op(reverse) : NULL;
  damo_apply *node = NULL;
  if (back != NULL)
    node = scan_replay_over(&d, reverse, scan_replay_op(b->ctx, forward, back, fed, r->n_past, r->checkpoint), r->tie);
  damo_release(forward);
  damo_release(back);
  scan_draft_clear(&d);
  mem_free(b->ctx, fed, bytes);
  return node;
}
