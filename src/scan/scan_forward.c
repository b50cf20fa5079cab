/* scan_forward.c: R_op of a Scan, which is a Scan again: the tangents ride along in a loop over the states and their
 * tangents.
 */
#include <string.h>

#include "grad/grad.h"
#include "scan_int.h"

typedef struct forward_scan {
  build *b;
  const scan_class *s;
  damo_apply *node;
  damo_var *const *eval;
  damo_var **tangent; /* by inner input: the placeholder of its tangent, or NULL */
  damo_var **rise;    /* by inner output: its tangent in a step, or NULL */
  damo_var **wrt, **along;
  bool *active; /* by state: it has a tangent */
  void *block;
  size_t bytes;
  scan_draft d;
} forward_scan;

static damo_status forward_alloc(forward_scan *r) {
  const size_t n_in = (size_t)r->s->n_in, n_out = (size_t)r->s->fgraph->outputs.n;
  r->bytes = (3 * n_in + n_out) * sizeof(damo_var *) + (size_t)r->s->n_state;
  r->block = mem_calloc(r->b->ctx, r->bytes);
  if (r->block == NULL) return r->b->status = DAMO_EMEMORY;
  r->tangent = r->block;
  r->wrt = r->tangent + n_in;
  r->along = r->wrt + n_in;
  r->rise = r->along + n_in;
  r->active = (bool *)(r->rise + n_out);
  return DAMO_OK;
}

/* e as a tangent of values of the Type: of a sparse one in its format. */
static damo_var *tangent_fit(build *b, const damo_type *t, damo_var *e) {
  if (!scan_flows(t) || !type_has_shape(e->type)) return e;
  if (type_is_sparse(t)) e = sparse_form.from_dense(b, e, (damo_format)t->format);
  if (type_is_sparse(t)) e = sparse_form.to_format(b, e, (damo_format)t->format);
  return e != NULL && e->type->dtype != t->dtype ? build_cast(b, e, t->dtype) : e;
}

static damo_var *eval_of(const forward_scan *r, const scan_part *p) {
  damo_var *e = r->eval[scan_in(r->s, p)];
  if (e == NULL || e->type->kind == TYPE_DISCONNECTED) return NULL;
  return tangent_fit(r->b, scan_inner_in(r->s, p->first)->type, e);
}

static void forward_placeholders(forward_scan *r, const scan_part *p) {
  for (int k = p->first; k < p->first + p->n; k++) {
    damo_type *t = type_without_pattern(scan_inner_in(r->s, k)->type);
    if (t == NULL) r->b->status = DAMO_EMEMORY;
    r->tangent[k] = t != NULL ? scan_placeholder(r->b, t) : NULL;
    damo_release(t);
  }
}

static damo_status forward_rise(forward_scan *r) {
  build *b = r->b;
  const damo_fgraph *fg = r->s->fgraph;
  const int n_out = (int)fg->outputs.n - r->s->until;
  int n = 0;
  for (int i = 0; i < r->s->n_in; i++) {
    if (r->tangent[i] == NULL) continue;
    r->wrt[n] = fg->inputs.at[i];
    r->along[n++] = r->tangent[i];
  }
  memset(r->rise, 0, (size_t)fg->outputs.n * sizeof *r->rise);
  if (n == 0) return b->status;
  const grad_options options = {.disconnected_inputs = DISCONNECTED_IGNORE, .return_disconnected = RETURN_NONE};
  const damo_status s =
      grad_forward(b->ctx, (damo_var *const *)fg->outputs.at, n_out, r->wrt, r->along, n, &options, r->rise);
  return scan_keep_flows(b, r->rise, s == DAMO_OK ? n_out : 0, s);
}

static damo_status forward_close(forward_scan *r) {
  const scan_class *s = r->s;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->role == SCAN_COLLECT || eval_of(r, p) == NULL) continue;
    if (p->role == SCAN_STATE && !scan_flows(scan_inner_in(s, p->first)->type)) continue;
    forward_placeholders(r, p);
    if (p->role == SCAN_STATE) r->active[p - scan_state_at(s, 0)] = true;
  }
  for (bool more = true; more && r->b->status == DAMO_OK;) {
    more = false;
    DAMO_TRY(r->b->status);
    DAMO_TRY(forward_rise(r));
    for (int i = 0; i < s->n_state; i++) {
      const scan_part *p = scan_state_at(s, i);
      if (r->active[i] || !scan_is_flow(r->rise[p->out]) || !scan_flows(scan_inner_in(s, p->first)->type)) continue;
      forward_placeholders(r, p);
      r->active[i] = more = true;
    }
  }
  return r->b->status;
}

/* Adds part p of the forward loop, or with `tangent` of its tangents. */
static void forward_part(forward_scan *r, const scan_part *p, bool tangent) {
  const scan_class *s = r->s;
  damo_var *outer = p->role == SCAN_COLLECT ? NULL : r->node->in[scan_in(s, p)];
  damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at + p->first;
  damo_var *next = p->out >= 0 ? scan_inner_out(s, p->out) : NULL;
  build *b = r->b;
  if (tangent) {
    outer = p->role == SCAN_COLLECT ? NULL : eval_of(r, p);
    inner = r->tangent + p->first;
    next = p->out >= 0 ? r->rise[p->out] : NULL;
    if (p->role == SCAN_STATE && outer == NULL) outer = build_zeros_like(b, r->node->in[scan_in(s, p)]);
    if (p->role == SCAN_STATE)
      next = scan_is_flow(next) ? tangent_fit(b, inner[0]->type, next) : build_zeros_like(b, scan_inner_out(s, p->out));
    if (b->status != DAMO_OK) return;
  }
  scan_part *made = NULL;
  switch (p->role) {
    case SCAN_SEQUENCE: made = scan_draft_sequence(&r->d, outer, p->n, s->tap + p->first, inner); break;
    case SCAN_STATE: made = scan_draft_state(&r->d, outer, p->n, s->tap + p->first, inner, next); break;
    case SCAN_FIXED: made = scan_draft_fixed(&r->d, outer, inner[0]); break;
    case SCAN_COLLECT: made = scan_draft_collect(&r->d, next); break;
  }
  if (made == NULL || p->role == SCAN_SEQUENCE || p->role == SCAN_FIXED) return;
  made->bare = p->bare;
  made->number = p->number;
  made->tail = p->tail;
  made->stack = tangent && p->stack >= 0 ? 0 : -1;
  made->last = tangent && p->last >= 0 ? 0 : -1;
  if (!tangent && p->role == SCAN_STATE) made->update = p->update;
  if (made->update) made->last = 0;
}

/* Adds the parts in the order of their roles. The forward loop's collected values are not needed. */
static damo_status forward_parts(forward_scan *r) {
  const scan_class *s = r->s;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->role != SCAN_COLLECT) forward_part(r, p, false);
  }
  for (int i = 0; i < s->n_parts && r->b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    const bool has = p->role == SCAN_COLLECT ? scan_is_flow(r->rise[p->out])
                     : p->role == SCAN_STATE ? r->active[i - s->n_seq]
                                             : r->tangent[p->first] != NULL;
    if (has) forward_part(r, p, true);
  }
  return r->b->status;
}

static void forward_results(forward_scan *r, const damo_apply *loop, damo_var **rout) {
  const scan_class *s = r->s, *made = scan_at(loop->op);
  int state = s->n_state, collect = 0;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i], *of = NULL;
    if (p->role == SCAN_STATE && r->active[i - s->n_seq]) of = scan_state_at(made, state++);
    if (p->role == SCAN_COLLECT && scan_is_flow(r->rise[p->out])) of = scan_collect_at(made, collect++);
    if (of == NULL) continue;
    if (p->stack >= 0) rout[p->stack] = loop->out[of->stack];
    if (p->last >= 0) rout[p->last] = loop->out[of->last];
  }
}

damo_status scan_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const scan_class *s = scan_at(node->op);
  forward_scan r = {.b = b, .s = s, .node = node, .eval = eval};
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  DAMO_TRY(forward_alloc(&r));
  scan_draft_init(&r.d, b);
  r.d.n_steps = node->in[0];
  r.d.until = s->until ? scan_inner_out(s, (int)s->fgraph->outputs.n - 1) : NULL;
  r.d.mode = s->mode;
  r.d.name = s->name;
  r.d.flipped = s->flipped;
  r.d.derived = r.d.no_updates = true;
  r.d.hands_back = s->hands_back;
  r.d.truncate = s->truncate;
  r.d.checkpoint = s->checkpoint;
  damo_status status = forward_close(&r);
  if (status == DAMO_OK) status = forward_parts(&r);
  const damo_apply *loop = status == DAMO_OK ? scan_draft_node(&r.d) : NULL;
  if (loop != NULL) forward_results(&r, loop, rout);
  scan_draft_clear(&r.d);
  mem_free(b->ctx, r.block, r.bytes);
  return b->status;
}
