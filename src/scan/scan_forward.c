/* scan_forward.c: R_op of a Scan, which is a Scan again: the tangents ride along in a loop over the states and their
 * tangents. That of a ScanGrad is one again too, with tangents in both of its loops, and the same checkpoints.
 */
#include <string.h>

#include "grad/grad.h"
#include "scan_int.h"

typedef struct forward_scan {
  build *b;
  const scan_class *s;
  damo_var *const *in, *const *eval; /* operands and their tangents, as the inputs of a Scan; NULL where they are fed */
  const bool *fed;                   /* by sequence: its tangent is fed; NULL: of none */
  damo_var **tangent;                /* by inner input: the placeholder of its tangent, or NULL */
  damo_var **rise;                   /* by inner output: its tangent in a step, or NULL */
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

/* Whether there is a tangent for part p's operand. */
static bool has_eval(const forward_scan *r, const scan_part *p) {
  return eval_of(r, p) != NULL || (r->fed != NULL && p->role == SCAN_SEQUENCE && r->fed[p - r->s->part]);
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
    if (p->role == SCAN_COLLECT || !has_eval(r, p)) continue;
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
  damo_var *outer = p->role == SCAN_COLLECT ? NULL : r->in[scan_in(s, p)];
  damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at + p->first;
  damo_var *next = p->out >= 0 ? scan_inner_out(s, p->out) : NULL;
  build *b = r->b;
  if (tangent) {
    outer = p->role == SCAN_COLLECT ? NULL : eval_of(r, p);
    inner = r->tangent + p->first;
    next = p->out >= 0 ? r->rise[p->out] : NULL;
    if (p->role == SCAN_STATE && outer == NULL) outer = build_zeros_like(b, r->in[scan_in(s, p)]);
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

/* Whether part number i of the loop has a tangent in it. */
static bool has_tangent(const forward_scan *r, int i) {
  const scan_class *s = r->s;
  const scan_part *p = &s->part[i];
  return p->role == SCAN_COLLECT ? scan_is_flow(r->rise[p->out])
         : p->role == SCAN_STATE ? r->active[i - s->n_seq]
                                 : r->tangent[p->first] != NULL;
}

/* Adds the sequences from number `from` to `to`, then their tangents. */
static void forward_sequences(forward_scan *r, int from, int to) {
  for (int i = from; i < to && r->b->status == DAMO_OK; i++) forward_part(r, &r->s->part[i], false);
  for (int i = from; i < to && r->b->status == DAMO_OK; i++) {
    if (has_tangent(r, i)) forward_part(r, &r->s->part[i], true);
  }
}

/* Adds the parts; the sequences from number n_read on are fed, and are the last ones. The forward loop's collected values
 * are not needed. */
static damo_status forward_parts(forward_scan *r, int n_read) {
  const scan_class *s = r->s;
  forward_sequences(r, 0, n_read);
  forward_sequences(r, n_read, s->n_seq);
  for (int i = s->n_seq; i < s->n_parts && s->part[i].role != SCAN_COLLECT; i++) forward_part(r, &s->part[i], false);
  for (int i = s->n_seq; i < s->n_parts && r->b->status == DAMO_OK; i++) {
    if (has_tangent(r, i)) forward_part(r, &s->part[i], true);
  }
  return r->b->status;
}

/* made: the class of the loop with tangents; out: its results. */
static void forward_results(const forward_scan *r, const scan_class *made, damo_var *const *out, damo_var **rout) {
  const scan_class *s = r->s;
  int state = s->n_state, collect = 0;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i], *of = NULL;
    if (p->role == SCAN_STATE && r->active[i - s->n_seq]) of = scan_state_at(made, state++);
    if (p->role == SCAN_COLLECT && scan_is_flow(r->rise[p->out])) of = scan_collect_at(made, collect++);
    if (of == NULL) continue;
    if (p->stack >= 0) rout[p->stack] = out[of->stack];
    if (p->last >= 0) rout[p->last] = out[of->last];
  }
}

/* Begins the draft, and finds what has a tangent. */
static damo_status forward_begin(forward_scan *r) {
  const scan_class *s = r->s;
  scan_draft_init(&r->d, r->b);
  DAMO_TRY(forward_alloc(r));
  r->d.n_steps = r->in[0];
  r->d.until = s->until ? scan_inner_out(s, (int)s->fgraph->outputs.n - 1) : NULL;
  r->d.mode = s->mode;
  r->d.name = s->name;
  r->d.flipped = s->flipped;
  r->d.derived = r->d.no_updates = true;
  r->d.hands_back = s->hands_back;
  r->d.truncate = s->truncate;
  r->d.checkpoint = s->checkpoint;
  return forward_close(r);
}

static void forward_clear(forward_scan *r) {
  scan_draft_clear(&r->d);
  if (r->block != NULL) mem_free(r->b->ctx, r->block, r->bytes);
}

damo_status scan_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  forward_scan r = {.b = b, .s = scan_at(node->op), .in = node->in, .eval = eval};
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  damo_status status = forward_begin(&r);
  if (status == DAMO_OK) status = forward_parts(&r, r.s->n_seq);
  const damo_apply *loop = status == DAMO_OK ? scan_draft_node(&r.d) : NULL;
  if (loop != NULL) forward_results(&r, scan_at(loop->op), loop->out, rout);
  forward_clear(&r);
  return b->status;
}

/* ---- ScanGrad ---------------------------------------------------------------------------------------------------- */

/* The derivative of one in the making. */
typedef struct forward_replay {
  const damo_op *op;
  int n_fed;
  forward_scan go, back; /* of the loop that computes the states, and of the reverse loop */
  damo_var **in, **eval; /* of the reverse loop, as of a Scan */
  bool *fed;
  int32_t *fed_now; /* the inner inputs of the new forward loop that the new fed sequences get; n_now */
  int n_now;
  size_t bytes;
} forward_replay;

static damo_status forward_replay_alloc(forward_replay *w, const damo_apply *node, damo_var *const *eval) {
  const scan_class *s = w->back.s;
  const int n = 1 + s->n_seq + s->n_state + s->n_fixed, first = scan_replay_first_reverse(w->op);
  w->bytes = (size_t)n * (2 * sizeof(damo_var *) + sizeof(bool)) + 2 * (size_t)w->n_fed * sizeof(int32_t);
  w->in = mem_calloc(w->back.b->ctx, w->bytes);
  if (w->in == NULL) return w->back.b->status = DAMO_EMEMORY;
  w->eval = w->in + n;
  w->fed_now = (int32_t *)(w->eval + n);
  w->fed = (bool *)(w->fed_now + 2 * w->n_fed);
  for (int i = 0, from = first; i < n; i++) {
    const int q = i - 1 - (s->n_seq - w->n_fed);
    if (q >= 0 && q < w->n_fed) continue;
    w->in[i] = node->in[from];
    w->eval[i] = eval[from++];
  }
  w->back.in = w->in;
  w->back.eval = w->eval;
  w->back.fed = w->fed;
  return DAMO_OK;
}

/* The Op of the loop that computes the states and their tangents (owned). */
static damo_op *forward_go(forward_replay *w) {
  forward_scan *r = &w->go;
  damo_status status = forward_begin(r);
  if (status == DAMO_OK) status = forward_parts(r, r->s->n_seq);
  for (int i = 0; i < r->d.n_parts; i++) {
    if (r->d.part[i].role == SCAN_STATE) r->d.part[i].stack = -1, r->d.part[i].last = 0;
  }
  return status == DAMO_OK ? scan_draft_op(&r->d) : NULL;
}

/* Sets what the fed sequences of the new reverse loop get: the states that they got, then the tangents of those that have
 * one. made: the new forward loop. */
static void forward_feed(forward_replay *w, const scan_class *made) {
  const forward_scan *go = &w->go;
  const scan_class *s = go->s;
  for (int q = 0; q < w->n_fed; q++)
    w->fed_now[w->n_now++] = scan_replay_fed(w->op, q) - scan_first_past(s) + scan_first_past(made);
  for (int q = 0; q < w->n_fed; q++) {
    const int k = scan_replay_fed(w->op, q);
    const scan_part *p = scan_state_of(s, k);
    const int64_t i = p - scan_state_at(s, 0);
    if (!go->active[i]) continue;
    int state = s->n_state;
    for (int64_t before = 0; before < i; before++) state += go->active[before];
    w->fed_now[w->n_now++] = scan_state_at(made, state)->first + k - p->first;
    w->fed[w->back.s->n_seq - w->n_fed + q] = true;
  }
}

static damo_status forward_replay_build(forward_replay *w, const damo_apply *node, damo_var **rout) {
  build *b = w->back.b;
  damo_op *go = forward_go(w), *back = NULL;
  if (go != NULL) forward_feed(w, scan_at(go));
  damo_status status = go != NULL ? forward_begin(&w->back) : b->status;
  if (status == DAMO_OK) status = forward_parts(&w->back, w->back.s->n_seq - w->n_fed);
  if (status == DAMO_OK) back = scan_draft_op(&w->back.d);
  if (back != NULL) {
    const int unread = scan_replay_first_unread(w->op);
    damo_op *op = scan_replay_op(b->ctx, go, back, w->fed_now, w->n_now, scan_replay_checkpoint(w->op));
    const damo_apply *made = scan_replay_over(&w->go.d, &w->back.d, op, node->n_in > unread ? node->in[unread] : NULL);
    if (made != NULL) forward_results(&w->back, scan_at(back), made->out, rout);
  }
  damo_release(go);
  damo_release(back);
  return b->status;
}

damo_status scan_replay_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  forward_replay w = {.op = node->op, .n_fed = scan_replay_n_fed(node->op)};
  for (int o = 0; o < node->n_out; o++) rout[o] = NULL;
  w.go = (forward_scan){.b = b, .s = scan_at(scan_replay_forward(node->op)), .in = node->in, .eval = eval};
  w.back = (forward_scan){.b = b, .s = scan_at(scan_replay_reverse(node->op))};
  scan_draft_init(&w.go.d, b);
  scan_draft_init(&w.back.d, b);
  if (forward_replay_alloc(&w, node, eval) == DAMO_OK) forward_replay_build(&w, node, rout);
  forward_clear(&w.go);
  forward_clear(&w.back);
  if (w.in != NULL) mem_free(b->ctx, w.in, w.bytes);
  return b->status;
}
