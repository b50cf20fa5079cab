/* scan_replay_jit.c: a ScanGrad whose two loops are machine code.
 *
 * The code of the forward loop runs from checkpoint to checkpoint, that of the reverse loop a step at a time, over the
 * past of the states where the forward code has it: in the slots of its frame, to which the addresses of the fed
 * sequences point. A checkpoint is a copy of these slots.
 */
#include <string.h>

#include "scan_jit_int.h"
#include "scan_schedule.h"

typedef struct native_replay {
  const thunk *t;
  frame *f;
  const scan_class *forward;
  scan_native *go, *back; /* the code of the forward and of the reverse loop */
  scan_schedule schedule;
  int32_t first, n_slots; /* where the forward frame has the states */
  jit_slot *kept;         /* n_kept checkpoints, of ascending steps: the step, then the slots */
  int64_t n_kept, cap;
  int64_t at;          /* the step before which the forward loop's states are */
  int64_t share, left; /* steps between two looks whether the loop was interrupted, and until the next */
} native_replay;

/* ---- Checkpoints ------------------------------------------------------------------------------------------------- */

static size_t slots_bytes(const native_replay *r) { return (size_t)r->n_slots * sizeof(jit_slot); }
static jit_slot *native_checkpoint(const native_replay *r, int64_t i) { return r->kept + i * (1 + r->n_slots); }
static int64_t last_kept_step(const native_replay *r) { return native_checkpoint(r, r->n_kept - 1)->i64; }

static damo_status keep_slots(native_replay *r) {
  if (r->n_kept == r->cap) {
    const int64_t cap = 2 * r->cap + 8;
    const size_t each = sizeof(jit_slot) + slots_bytes(r);
    jit_slot *grown = mem_realloc(r->f->ctx, r->kept, (size_t)r->cap * each, (size_t)cap * each);
    if (grown == NULL) return DAMO_EMEMORY;
    r->kept = grown;
    r->cap = cap;
  }
  jit_slot *to = native_checkpoint(r, r->n_kept++);
  to->i64 = r->at;
  memcpy(to + 1, r->go->frame + r->first, slots_bytes(r));
  return DAMO_OK;
}

/* Puts the forward loop back to the last checkpoint. */
static void restore_slots(native_replay *r) {
  const scan_class *s = r->forward;
  r->at = last_kept_step(r);
  memcpy(r->go->frame + r->first, native_checkpoint(r, r->n_kept - 1) + 1, slots_bytes(r));
  for (int i = 0; i < s->n_seq; i++)
    scan_native_place_sequence(s, &s->part[i], thunk_in(r->t, r->f, 1 + i), r->go, r->at);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Looks whether the loop was interrupted, when it is time. */
static damo_status pass_steps(native_replay *r, int64_t n) {
  r->left -= n;
  if (r->left > 0) return DAMO_OK;
  r->left = r->share;
  return ctx_poll(r->f->ctx);
}

/* Computes the states before step `to`, from those before step r->at. */
static damo_status go_to(native_replay *r, int64_t to) {
  while (r->at < to) {
    const int64_t steps = to - r->at < r->left ? to - r->at : r->left;
    jit_run(r->go->code, r->go->frame, steps);
    r->at += steps;
    DAMO_TRY(pass_steps(r, steps));
  }
  return DAMO_OK;
}

/* The same for a step that may lie behind, with checkpoints on the way. */
static damo_status replay_native_to(native_replay *r, int64_t to) {
  if (r->at > to) restore_slots(r);
  while (r->at < to) {
    const int64_t next = schedule_next(&r->schedule, r->at, to, r->n_kept);
    DAMO_TRY(go_to(r, next < 0 ? to : next));
    if (r->at < to) DAMO_TRY(keep_slots(r));
  }
  return DAMO_OK;
}

/* The part of the forward loop whose past fed sequence q gets. */
static const native_part *feeding_part(const thunk *t, const scan_class *forward, const scan_native *go, int q) {
  return &go->part[scan_state_of(forward, scan_replay_fed(t->node->op, q)) - forward->part];
}

/* Points the fed sequences of the reverse code at the slots of the states. */
static void point_at_states(const native_replay *r, const scan_class *reverse, int n_fed) {
  for (int q = 0; q < n_fed; q++) {
    const native_part *to = &r->back->part[reverse->n_seq - n_fed + q];
    const native_part *from = feeding_part(r->t, r->forward, r->go, q);
    const int32_t *slot = from->value + (-1 - r->forward->tap[scan_replay_fed(r->t->node->op, q)]) * from->most;
    if (to->value[0] != SCAN_NO_SLOT) r->back->frame[to->value[0]].address = &r->go->frame[slot[0]];
    r->back->frame[to->stride].i64 = 0;
    const int64_t along = to->n > 1 ? (slot[1] - slot[0]) * (int64_t)sizeof(jit_slot) : 0;
    for (int axis = 0; axis < to->ndim; axis++)
      r->back->frame[to->along[axis]].i64 = axis + 1 < to->ndim ? to->columns * along : along;
  }
}

static damo_status run_by_turns(native_replay *r, const scan_class *reverse, int64_t begin, int64_t end) {
  int64_t placed = 0;
  DAMO_TRY(ctx_poll(r->f->ctx));
  DAMO_TRY(go_to(r, begin));
  DAMO_TRY(keep_slots(r));
  for (int64_t k = 0; k < end - begin; k++) {
    const int64_t step = end - 1 - k;
    DAMO_TRY(replay_native_to(r, step));
    if (placed == 0) placed = scan_native_place_rows(reverse, r->back, k, end - begin);
    jit_run(r->back->code, r->back->frame, 1);
    placed--;
    DAMO_TRY(pass_steps(r, 1));
    if (last_kept_step(r) == step) r->n_kept--;
  }
  return DAMO_OK;
}

/* ---- The code ---------------------------------------------------------------------------------------------------- */

/* The slots of states are one after the other: scan_jit.c makes them so. */
static void find_slots(native_replay *r) {
  const scan_class *s = r->forward;
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    const native_part *at = &r->go->part[p - s->part];
    if (i == 0) r->first = at->value[0];
    r->n_slots += at->n * p->span;
  }
}

/* Whether there is code for one of the loops, and its operands. */
static bool has_code(const thunk *t, const frame *f, const scan_class *s, scan_frame *w,
                     const native_part *const *fed) {
  if (w->native == NULL && w->seen >= 0) {
    w->seen = -1;
    w->native = scan_native_new(t, f, s, w, fed);
  }
  return w->native != NULL && scan_native_fits(t, f, s, w, fed);
}

/* Whether it is time to make code. */
static bool is_worth_code(scan_frame *go, const scan_frame *back, int64_t steps) {
  if (go->seen < 0 || back->n_fed > SCAN_REPLAY_MOST_FED) return false;
  if (go->inner->frame.frame.no_jit || !scan_is_direct(go->inner) || !scan_is_direct(back->inner)) return false;
  go->seen = steps > SCAN_NATIVE_STEPS ? SCAN_NATIVE_STEPS : go->seen + steps;
  return go->seen >= SCAN_NATIVE_STEPS;
}

bool scan_replay_has_code(const thunk *t, const frame *f, const scan_class *forward, scan_frame *go,
                          const scan_class *reverse, scan_frame *back, int64_t steps) {
  const native_part *fed[SCAN_REPLAY_MOST_FED];
  if (go->native == NULL && !is_worth_code(go, back, steps)) return false;
  if (!has_code(t, f, forward, go, NULL)) return false;
  for (int q = 0; q < back->n_fed; q++) fed[q] = feeding_part(t, forward, go->native, q);
  if (has_code(t, f, reverse, back, fed)) return true;
  if (back->native == NULL) { /* one alone is of no use */
    scan_native_free(go->native, f->ctx);
    go->native = NULL;
  }
  return false;
}

damo_status scan_replay_run_code(const thunk *t, frame *f, const scan_class *forward, scan_frame *go,
                                 const scan_class *reverse, scan_frame *back, int64_t begin, int64_t end) {
  native_replay r = {.t = t, .f = f, .forward = forward, .go = go->native, .back = back->native};
  r.share = r.left = r.go->share < r.back->share ? r.go->share : r.back->share;
  schedule_init(&r.schedule, scan_replay_checkpoint(t->node->op), begin, end);
  find_slots(&r);
  scan_native_load(t, f, forward, go, r.go);
  scan_native_load(t, f, reverse, back, r.back);
  point_at_states(&r, reverse, back->n_fed);
  damo_status status = scan_native_begin_stacks(t, f, reverse, r.back, end - begin);
  if (status == DAMO_OK) status = run_by_turns(&r, reverse, begin, end);
  if (status == DAMO_OK) status = scan_native_give(t, f, reverse, r.back, end - begin);
  if (r.kept != NULL) mem_free(f->ctx, r.kept, (size_t)r.cap * (sizeof(jit_slot) + slots_bytes(&r)));
  go->inner->n_calls += (uint64_t)end;
  back->inner->n_calls += (uint64_t)(end - begin);
  return status;
}
