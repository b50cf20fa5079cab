/* scan_edit.c: a rule gives a Scan other parts. The rule says which parts stay and how they are read (scan_edit.plan,
 * live), by what Variables of the inner graph are replaced (memo), and which of its values are collected too (values);
 * then the node is made, and takes the place of the one that is there.
 */
#include <string.h>

#include "scan_int.h"

static size_t edit_bytes(const scan_class *s) {
  return (size_t)s->n_parts * (sizeof(scan_part) + 2 * sizeof(damo_var *) + sizeof(bool));
}

damo_status scan_edit_init(scan_edit *e, damo_fgraph *fg, damo_apply *node, const char *rule) {
  const scan_class *s = scan_at(node->op);
  damo_ctx *ctx = fg->obj.ctx;
  *e = (scan_edit){.fg = fg, .node = node, .s = s, .rule = rule, .trace = graph_notes_of(ctx)->trace};
  e->plan = mem_calloc(ctx, edit_bytes(s));
  if (e->plan == NULL) return DAMO_EMEMORY;
  e->stack_by = (damo_var **)(void *)(e->plan + s->n_parts);
  e->last_by = e->stack_by + s->n_parts;
  e->live = (bool *)(e->last_by + s->n_parts);
  memcpy(e->plan, s->part, (size_t)s->n_parts * sizeof *e->plan);
  for (int i = 0; i < s->n_parts; i++) e->live[i] = true;
  damo_retain(node); /* which leaves the graph with its last result */
  map_init(&e->memo, ctx);
  ptrvec_init(&e->values, ctx);
  build_init(&e->b, ctx);
  scan_draft_init(&e->d, &e->b);
  graph_notes_of(ctx)->trace = node->trace != NULL ? &node->trace->obj : NULL;
  return DAMO_OK;
}

damo_status scan_edit_end(scan_edit *e, damo_status status) {
  damo_ctx *ctx = e->fg->obj.ctx;
  graph_notes_of(ctx)->trace = e->trace;
  scan_draft_clear(&e->d);
  ptrvec_clear(&e->values);
  map_clear(&e->memo);
  mem_free(ctx, e->plan, edit_bytes(e->s));
  damo_release(e->node);
  const damo_status ended = build_end(&e->b);
  return status != DAMO_OK ? status : ended;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Copies the inner outputs, and then the other values, over what replaces Variables; copies: owned by the scope. */
static damo_status edit_copy(scan_edit *e, damo_var **copies) {
  build *b = &e->b;
  const damo_fgraph *fg = e->s->fgraph;
  const int64_t n = fg->outputs.n + e->values.n;
  ptrvec of;
  ptrvec_init(&of, b->ctx);
  damo_status s = DAMO_OK;
  for (int64_t o = 0; o < n && s == DAMO_OK; o++)
    s = ptrvec_push(&of, o < fg->outputs.n ? fg->outputs.at[o] : e->values.at[o - fg->outputs.n]);
  if (s == DAMO_OK) s = graph_clone(b->ctx, (damo_var *const *)of.at, n, &e->memo, true, NULL, copies);
  for (int64_t o = 0; o < n && s == DAMO_OK; o++) {
    if (build_take(b, copies[o]) == NULL) s = b->status;
  }
  ptrvec_clear(&of);
  return s;
}

static void edit_part(scan_edit *e, const scan_part *p, damo_var *const *copies) {
  const scan_class *s = e->s;
  damo_var *outer = p->role == SCAN_COLLECT ? NULL : e->node->in[1 + (p - e->plan)];
  damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at + p->first;
  scan_part *made = scan_draft_part(&e->d, s, p, outer, inner, p->out >= 0 ? copies[p->out] : NULL);
  if (made != NULL) made->update = p->update && p->last >= 0;
}

/* Whether the loop computes anything that stays. */
static bool edit_computes(const scan_edit *e) {
  bool any = e->values.n > 0 || e->s->until;
  for (int i = 0; i < e->s->n_parts; i++) any = any || (e->live[i] && e->plan[i].out >= 0);
  return any;
}

damo_status scan_edit_make(scan_edit *e) {
  const scan_class *s = e->s;
  damo_ctx *ctx = e->b.ctx;
  scan_draft *d = &e->d;
  if (e->b.status != DAMO_OK || !edit_computes(e)) return e->b.status;
  const size_t bytes = (size_t)(s->fgraph->outputs.n + e->values.n) * sizeof(damo_var *);
  damo_var **copies = mem_calloc(ctx, bytes);
  damo_status status = copies != NULL ? edit_copy(e, copies) : DAMO_EMEMORY;
  d->n_steps = e->node->in[0];
  d->until = s->until && status == DAMO_OK ? copies[s->fgraph->outputs.n - 1] : NULL;
  d->name = s->name;
  d->mode = s->mode;
  d->flipped = s->flipped;
  d->derived = s->derived;
  d->hands_back = s->hands_back;
  d->no_updates = true;
  d->truncate = s->truncate;
  d->checkpoint = s->checkpoint;
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    if (e->live[i]) edit_part(e, &e->plan[i], copies);
    status = e->b.status;
  }
  for (int64_t k = 0; k < e->values.n && status == DAMO_OK; k++) {
    scan_draft_collect(d, copies[s->fgraph->outputs.n + k]);
    status = e->b.status;
  }
  if (status == DAMO_OK) status = scan_draft_prune(d);
  if (status == DAMO_OK) e->made = scan_draft_node(d);
  if (copies != NULL) mem_free(ctx, copies, bytes);
  return status != DAMO_OK ? status : e->b.status;
}

damo_var *scan_edit_value(const scan_edit *e, int64_t k) {
  const scan_class *now = scan_at(e->made->op);
  return e->made->out[scan_collect_at(now, now->n_collect - (int)(e->values.n - k))->stack];
}

damo_var *scan_edit_stack(const scan_edit *e, int part) {
  const scan_class *now = scan_at(e->made->op);
  const scan_role role = e->s->part[part].role;
  int at = role == SCAN_STATE ? now->n_seq : now->n_seq + now->n_state + now->n_fixed;
  for (int i = 0; i < part; i++) at += e->live[i] && e->s->part[i].role == role;
  return e->made->out[now->part[at].stack];
}

/* ---- Replacing --------------------------------------------------------------------------------------------------- */

/* Replaces the uses of a stacked result of which fewer rows are kept: each client by one that reads those. */
static damo_status replace_readers(scan_edit *e, damo_var *old, damo_var *now) {
  build *b = &e->b;
  ptrvec nodes;
  ptrvec_init(&nodes, b->ctx);
  damo_status s = DAMO_OK;
  const fg_clients *clients = fgraph_clients(e->fg, old);
  for (int32_t i = 0; clients != NULL && i < clients->n && s == DAMO_OK; i++)
    s = clients->at[i].node != NULL ? ptrvec_push(&nodes, clients->at[i].node) : DAMO_OK;
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) {
    damo_apply *client = nodes.at[i];
    if (!fgraph_has_node(e->fg, client)) continue;
    damo_var *in[4] = {now, client->in[1], client->n_in > 2 ? client->in[2] : NULL,
                       client->n_in > 3 ? client->in[3] : NULL};
    if (client->n_in > 4) continue;
    damo_var *part = build_op(b, damo_retain(client->op), in, client->n_in);
    if (part != NULL) s = fgraph_replace_trusted(e->fg, client->out, &part, 1, e->rule);
    if (s == DAMO_OK) s = b->status;
  }
  ptrvec_clear(&nodes);
  return s;
}

/* Replaces node output `out` (-1: there is none), with a check at run time where the Types ask for it. */
static damo_status edit_replace_out(scan_edit *e, int out, damo_var *by) {
  damo_var *old = out >= 0 ? e->node->out[out] : NULL;
  if (old == NULL || by == NULL || fgraph_clients(e->fg, old) == NULL) return e->b.status;
  if (!type_is_super(old->type, by->type)) by = build_of_type(&e->b, by, old->type, e->s->def.name, "a result");
  return by != NULL ? fgraph_replace_trusted(e->fg, &old, &by, 1, e->rule) : e->b.status;
}

damo_status scan_edit_replace(scan_edit *e) {
  damo_status s = e->b.status;
  int next[4] = {0};
  const scan_class *now = e->made != NULL ? scan_at(e->made->op) : NULL;
  for (int i = 0; i < e->s->n_parts && s == DAMO_OK; i++) {
    const scan_part *p = &e->plan[i], *was = &e->s->part[i];
    if (!e->live[i]) {
      s = edit_replace_out(e, was->last, e->last_by[i]);
      if (s == DAMO_OK) s = edit_replace_out(e, was->stack, e->stack_by[i]);
      continue;
    }
    if (p->out < 0) continue;
    const int first = p->role == SCAN_STATE ? now->n_seq : now->n_seq + now->n_state + now->n_fixed;
    const scan_part *q = &now->part[first + next[p->role]++];
    if (p->last >= 0) s = edit_replace_out(e, was->last, e->made->out[q->last]);
    if (p->stack < 0 || s != DAMO_OK) continue;
    damo_var *stack = e->made->out[q->stack];
    s = p->tail > 0 && p->tail != was->tail ? replace_readers(e, e->node->out[was->stack], stack)
                                            : edit_replace_out(e, was->stack, stack);
  }
  const int steps = scan_out_steps(e->s);
  return s == DAMO_OK && steps >= 0 ? edit_replace_out(e, steps, e->made->out[scan_out_steps(now)]) : s;
}
