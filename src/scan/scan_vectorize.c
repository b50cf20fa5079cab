/* scan_vectorize.c: Scan's rule for batches. The loop over a batch is one loop whose values have the leading axes of the
 * batch, behind the axis of the steps: its step is the step of the Scan, vectorised.
 *
 * A state is batched if its initial value is, or if its next value depends on a batched one. A loop that stops on a
 * condition which differs between the entries, that updates shared Variables, that carries the state of a generator or
 * reports its progress is not vectorised: vectorize.c loops over the entries.
 */
#include <string.h>

#include "scan_int.h"

typedef struct loop_batch {
  build *b;
  const damo_apply *node;
  const scan_class *s;
  damo_var **in; /* the node's operands over the batch */
  int k;
  damo_var *lengths[DAMO_MAX_NDIM];       /* of the batch, outside of the loop */
  damo_var *inner_lengths[DAMO_MAX_NDIM]; /* and what stands for them inside */
  bool *batched;                          /* by part; collected values: whether the value is */
  damo_var **outer;                       /* by part: the operand of the new node */
  damo_var **inner;                       /* by inner input */
  damo_var **next;                        /* by inner output */
  damo_var **old, **now;                  /* the replaced inner inputs */
} loop_batch;

static bool loop_batch_can(const scan_class *s, const bool *batched) {
  bool can = !batched[0] && s->n_updates == 0 && s->progress == NULL;
  for (int i = 0; i < s->n_parts && can; i++) {
    const scan_part *p = &s->part[i];
    const bool state = p->role == SCAN_STATE;
    can = !p->update && (!state || type_is_tensor(scan_inner_in(s, p->first)->type)) &&
          (p->out < 0 || type_is_tensor(scan_inner_out(s, p->out)->type));
  }
  return can;
}

/* Whether the operand of a part has an axis of the steps, and the values of it in the loop do not. */
static bool part_has_rows(const scan_part *p) {
  return p->role == SCAN_SEQUENCE || (p->role == SCAN_STATE && !p->bare);
}

/* The operand of a batched part, with the axis of the steps first, and Variables that stand for its inner inputs. */
static damo_status batch_part(loop_batch *w, int i) {
  build *b = w->b;
  const scan_part *p = &w->s->part[i];
  const damo_var *own = w->node->in[1 + i];
  damo_var *x = w->in[1 + i];
  const bool rows = part_has_rows(p);
  if (p->role == SCAN_STATE) x = batch_expand(b, x, var_ndim(x) != var_ndim(own), w->k, w->lengths);
  if (rows && x != NULL) x = batch_move_axis(b, x, w->k, 0);
  if (x == NULL) return b->status;
  w->outer[i] = x;
  damo_type *t = type_tensor(b->ctx, x->type->dtype, x->type->ndim - rows, x->type->shape + rows);
  for (int j = p->first; j < p->first + p->n && t != NULL; j++)
    w->inner[j] = build_take(b, var_new(b->ctx, t, scan_inner_in(w->s, j)->name));
  damo_release(t);
  return t != NULL ? b->status : DAMO_EMEMORY;
}

/* Vectorises the step; *more: further states are batched now. */
static damo_status batch_step(loop_batch *w, bool *more) {
  build *b = w->b;
  const scan_class *s = w->s;
  const int64_t n_out = s->fgraph->outputs.n;
  int64_t n = 0;
  *more = false;
  for (int j = 0; j < s->n_in; j++) {
    if (w->inner[j] == scan_inner_in(s, j)) continue;
    w->old[n] = scan_inner_in(s, j);
    w->now[n++] = w->inner[j];
  }
  DAMO_TRY(vectorize_graph(b, (damo_var *const *)s->fgraph->outputs.at, n_out, w->old, w->now, n, w->next));
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->out < 0 || var_ndim(w->next[p->out]) == var_ndim(scan_inner_out(s, p->out))) continue;
    if (p->role == SCAN_STATE && !w->batched[i]) {
      *more = true;
      DAMO_TRY(batch_part(w, i));
    }
    w->batched[i] = true;
  }
  return DAMO_OK;
}

/* Variables inside that stand for the lengths of the batch which are no constants: fixed values. */
static damo_status batch_lengths_inside(loop_batch *w, scan_draft *d) {
  build *b = w->b;
  for (int axis = 0; axis < w->k && b->status == DAMO_OK; axis++) {
    damo_var *length = w->lengths[axis];
    w->inner_lengths[axis] = length;
    if (length->kind == VAR_CONSTANT) continue;
    w->inner_lengths[axis] = build_take(b, var_new(b->ctx, length->type, NULL));
    if (w->inner_lengths[axis] != NULL) scan_draft_fixed(d, length, w->inner_lengths[axis]);
  }
  return b->status;
}

static damo_status batch_draft(loop_batch *w, scan_draft *d) {
  build *b = w->b;
  const scan_class *s = w->s;
  d->n_steps = w->in[0];
  d->until = s->until ? w->next[s->fgraph->outputs.n - 1] : NULL;
  d->name = s->name;
  d->mode = s->mode;
  d->flipped = s->flipped;
  d->derived = s->derived;
  d->hands_back = s->hands_back;
  d->no_updates = true;
  d->truncate = s->truncate;
  d->checkpoint = s->checkpoint;
  DAMO_TRY(batch_lengths_inside(w, d));
  for (int i = 0; i < s->n_parts && b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    damo_var *next = p->out >= 0 ? w->next[p->out] : NULL;
    if (p->role == SCAN_STATE && w->batched[i]) {
      const bool has = var_ndim(next) != var_ndim(scan_inner_out(s, p->out));
      next = batch_expand(b, next, has, w->k, w->inner_lengths);
    }
    scan_draft_part(d, s, p, w->outer[i], w->inner + p->first, next);
  }
  return b->status;
}

static damo_status batch_results(const loop_batch *w, const damo_apply *made, damo_var **out) {
  build *b = w->b;
  const scan_class *s = w->s, *now = scan_at(made->op);
  const int first_collect = s->n_parts - s->n_collect;
  for (int i = 0; i < s->n_parts && b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    if (p->out < 0) continue;
    const scan_part *q = i < first_collect ? &now->part[i] : scan_collect_at(now, i - first_collect);
    if (p->stack >= 0)
      out[p->stack] = w->batched[i] ? batch_move_axis(b, made->out[q->stack], 0, w->k) : made->out[q->stack];
    if (p->last >= 0) out[p->last] = made->out[q->last];
  }
  if (s->until) out[s->n_out - 1] = made->out[now->n_out - 1];
  return b->status;
}

static damo_status loop_batch_run(loop_batch *w, const bool *batched, damo_var **out) {
  build *b = w->b;
  const scan_class *s = w->s;
  for (int j = 0; j < s->n_in; j++) w->inner[j] = scan_inner_in(s, j);
  for (int i = 0; i < s->n_parts; i++) {
    if (s->part[i].role == SCAN_COLLECT) continue;
    w->outer[i] = w->in[1 + i];
    w->batched[i] = batched[1 + i];
    if (w->batched[i]) DAMO_TRY(batch_part(w, i));
  }
  for (bool more = true; more;) DAMO_TRY(batch_step(w, &more));
  if (s->until && var_ndim(w->next[s->fgraph->outputs.n - 1]) > 0) return DAMO_OK; /* entries stop by themselves */
  scan_draft d;
  scan_draft_init(&d, b);
  damo_status status = batch_draft(w, &d);
  const damo_apply *made = status == DAMO_OK ? scan_draft_node(&d) : NULL;
  scan_draft_clear(&d);
  if (status == DAMO_OK) status = b->status;
  return made != NULL ? batch_results(w, made, out) : status;
}

damo_status scan_vectorize(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                           damo_var **out) {
  const scan_class *s = scan_at(node->op);
  if (!loop_batch_can(s, batched)) return b->status;
  loop_batch w = {.b = b, .node = node, .s = s, .in = in, .k = k};
  DAMO_TRY(batch_lengths(b, in, batched, node->n_in, k, w.lengths));
  const size_t n_in = (size_t)s->n_in, n_parts = (size_t)s->n_parts, n_out = (size_t)s->fgraph->outputs.n;
  const size_t bytes = (3 * n_in + n_parts + n_out) * sizeof(damo_var *) + n_parts * sizeof(bool);
  damo_var **all = mem_calloc(b->ctx, bytes);
  if (all == NULL) return b->status = DAMO_EMEMORY;
  w.inner = all;
  w.old = w.inner + n_in;
  w.now = w.old + n_in;
  w.outer = w.now + n_in;
  w.next = w.outer + n_parts;
  w.batched = (bool *)(w.next + n_out);
  const damo_status status = loop_batch_run(&w, batched, out);
  mem_free(b->ctx, all, bytes);
  if (status != DAMO_OK && b->status == DAMO_OK) b->status = status;
  return b->status;
}
