/* scan_join.c: loops over the same steps become one.
 *
 * scan_join puts two Scans with one number of steps into one loop, where neither reads a result of the other: the steps
 * share what they have in common, and set-up is paid once. Loops of scalars alone are not joined with others, since they
 * have a way of running of their own; loops that end on a condition, report progress or update shared Variables stay.
 */
#include <string.h>

#include "scan_int.h"

static bool has_updates(const scan_class *s) {
  bool any = false;
  for (int i = 0; i < s->n_state; i++) any = any || scan_state_at(s, i)->update;
  return any;
}

static bool is_of_scalars(const scan_class *s) {
  bool all = true;
  for (int i = 0; i < s->n_in; i++) all = all && scan_inner_in(s, i)->type->ndim == 0;
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++) all = all && scan_inner_out(s, (int)o)->type->ndim == 0;
  return all;
}

static bool same_mode(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static bool may_join(const damo_apply *a, const damo_apply *b) {
  const scan_class *s = scan_at(a->op), *t = scan_at(b->op);
  return a->in[0] == b->in[0] && s->flipped == t->flipped && s->truncate == t->truncate &&
         s->checkpoint == t->checkpoint && s->hands_back == t->hands_back && same_mode(s->mode, t->mode) && !s->until &&
         !t->until && !has_updates(s) && !has_updates(t) && is_of_scalars(s) == is_of_scalars(t);
}

/* Whether a node that `user` reads from, at any distance, is `maker`. */
static damo_status reads_from(damo_ctx *ctx, const damo_apply *user, const damo_apply *maker, bool *is) {
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  const damo_status s = graph_toposort(ctx, user->in, user->n_in, NULL, 0, &nodes);
  *is = false;
  for (int64_t k = 0; k < nodes.n && !*is; k++) *is = nodes.at[k] == maker;
  ptrvec_clear(&nodes);
  return s;
}

/* A copy of the step's graph in the scope, since two loops of one class share it: fresh inputs, then outputs. */
static damo_status join_scan_copy(build *b, const scan_class *s, damo_var **copy) {
  const damo_fgraph *fg = s->fgraph;
  const int64_t n_in = fg->inputs.n, n_out = fg->outputs.n;
  map memo;
  map_init(&memo, b->ctx);
  damo_status status = DAMO_OK;
  for (int64_t i = 0; i < n_in && status == DAMO_OK; i++) {
    const damo_var *v = fg->inputs.at[i];
    copy[i] = build_take(b, var_new(b->ctx, v->type, v->name));
    status = copy[i] != NULL ? map_put(&memo, v, (uintptr_t)copy[i]) : b->status;
  }
  if (status == DAMO_OK)
    status = graph_clone(b->ctx, (damo_var *const *)fg->outputs.at, n_out, &memo, true, NULL, copy + n_in);
  for (int64_t o = 0; o < n_out && status == DAMO_OK; o++) {
    if (build_take(b, copy[n_in + o]) == NULL) status = b->status;
  }
  map_clear(&memo);
  return status;
}

static damo_status join_scan_parts(scan_draft *d, const damo_apply *node) {
  const scan_class *s = scan_at(node->op);
  const size_t bytes = (size_t)(s->fgraph->inputs.n + s->fgraph->outputs.n) * sizeof(damo_var *);
  damo_var **copy = mem_calloc(d->b->ctx, bytes);
  if (copy == NULL) return DAMO_EMEMORY;
  const damo_status status = join_scan_copy(d->b, s, copy);
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    damo_var *outer = p->role == SCAN_COLLECT ? NULL : node->in[scan_in(s, p)];
    scan_draft_part(d, s, p, outer, copy + p->first, p->out >= 0 ? copy[s->n_in + p->out] : NULL);
  }
  mem_free(d->b->ctx, copy, bytes);
  return status != DAMO_OK ? status : d->b->status;
}

/* Lists the node's results and what replaces them; next: by role, how many of the joint loop's parts are taken. */
static damo_status join_results(const damo_apply *node, const damo_apply *joint, int *next, ptrvec *old, ptrvec *now) {
  const scan_class *s = scan_at(node->op), *t = scan_at(joint->op);
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->out < 0) continue;
    const int first = p->role == SCAN_STATE ? t->n_seq : t->n_seq + t->n_state + t->n_fixed;
    const scan_part *q = &t->part[first + next[p->role]++];
    if (p->stack >= 0) DAMO_TRY(ptrvec_push(old, node->out[p->stack]));
    if (p->stack >= 0) DAMO_TRY(ptrvec_push(now, joint->out[q->stack]));
    if (p->last >= 0) DAMO_TRY(ptrvec_push(old, node->out[p->last]));
    if (p->last >= 0) DAMO_TRY(ptrvec_push(now, joint->out[q->last]));
  }
  return DAMO_OK;
}

/* Replaces the uses of results by one another, where there are any. */
static damo_status join_replace(damo_fgraph *fg, const ptrvec *old, const ptrvec *now) {
  for (int64_t i = 0; i < old->n; i++) {
    damo_var *was = old->at[i], *is = now->at[i];
    if (fgraph_clients(fg, was) != NULL) DAMO_TRY(fgraph_replace_trusted(fg, &was, &is, 1, "scan_join"));
  }
  return DAMO_OK;
}

static damo_status join_two(damo_fgraph *fg, damo_apply *a, damo_apply *b) {
  const scan_class *s = scan_at(a->op), *t = scan_at(b->op);
  damo_ctx *ctx = fg->obj.ctx;
  build scope;
  scan_draft d;
  ptrvec old, now;
  int next[4] = {0};
  damo_retain(a); /* they leave the graph with their last results */
  damo_retain(b);
  build_init(&scope, ctx);
  scan_draft_init(&d, &scope);
  ptrvec_init(&old, ctx);
  ptrvec_init(&now, ctx);
  damo_obj *trace = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = a->trace != NULL ? &a->trace->obj : NULL;
  d.n_steps = a->in[0];
  d.name = s->name != NULL ? s->name : t->name;
  d.mode = s->mode;
  d.flipped = s->flipped;
  d.derived = s->derived && t->derived;
  d.hands_back = s->hands_back;
  d.no_updates = true;
  d.truncate = s->truncate;
  d.checkpoint = s->checkpoint;
  damo_status status = join_scan_parts(&d, a);
  if (status == DAMO_OK) status = join_scan_parts(&d, b);
  const damo_apply *joint = status == DAMO_OK ? scan_draft_node(&d) : NULL;
  if (status == DAMO_OK) status = scope.status;
  if (joint != NULL) status = join_results(a, joint, next, &old, &now);
  if (joint != NULL && status == DAMO_OK) status = join_results(b, joint, next, &old, &now);
  if (joint != NULL && status == DAMO_OK) status = join_replace(fg, &old, &now);
  graph_notes_of(ctx)->trace = trace;
  ptrvec_clear(&old);
  ptrvec_clear(&now);
  scan_draft_clear(&d);
  damo_release(a);
  damo_release(b);
  const damo_status ended = build_end(&scope);
  return status != DAMO_OK ? status : ended;
}

/* Joins the first two loops that may be; *did: there were two. */
static damo_status join_some(damo_fgraph *fg, bool *did) {
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  int64_t n = 0;
  for (int64_t k = 0; k < nodes.n; k++) {
    const scan_class *c = scan_of(((const damo_apply *)nodes.at[k])->op);
    if (c != NULL && !c->def.impure) nodes.at[n++] = nodes.at[k];
  }
  *did = false;
  for (int64_t j = 1; j < n && s == DAMO_OK && !*did; j++) {
    for (int64_t i = 0; i < j && s == DAMO_OK && !*did; i++) {
      bool reads = true;
      if (!may_join(nodes.at[i], nodes.at[j])) continue;
      s = reads_from(fg->obj.ctx, nodes.at[j], nodes.at[i], &reads);
      if (s != DAMO_OK || reads) continue;
      s = join_two(fg, nodes.at[i], nodes.at[j]);
      *did = true;
    }
  }
  ptrvec_clear(&nodes);
  return s;
}

static damo_status join_scans(damo_fgraph *fg) {
  bool more = true;
  if (!scan_any(fg)) return DAMO_OK;
  while (more) DAMO_TRY(join_some(fg, &more));
  return scan_slim_all(fg);
}

static const rewrite_rule scan_join_rule = {
    .name = "scan_join", .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize scan", .global = join_scans};

damo_status scan_register_join(damo_ctx *ctx) { return rewrite_register(ctx, &scan_join_rule); }
