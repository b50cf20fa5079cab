/* demand.c: runs a program on demand: a depth-first search from the goals over the thunks that they need, with an
 * explicit stack. In a program with segments the goals are the thunks of the segments entered, in their order; the
 * search then only computes what a lazy thunk asks for.
 *
 * A plain thunk needs all its inputs. A lazy one is run, names the inputs that it needs, and is run again when they
 * have been computed. Always holds: a thunk is on the stack at most once, so the stack's height is bounded by the
 * number of thunks; a thunk that is done is not run again in the same call.
 */
#include <string.h>

#include "vm.h"

/* The number of the thunk that fills the cell of input i, -1 for a leaf. */
static int32_t maker_of(const vm_frame *vf, const thunk *t, int i) { return vf->program->maker[t->in[i]]; }

static bool demand_has_value(const vm_frame *vf, const thunk *t, int i) {
  int32_t m = maker_of(vf, t, i);
  return m < 0 || vf->demand.done[m];
}

/* The number of the next thunk that k waits for, -1 if there is none. */
static int32_t next_missing(vm_frame *vf, int32_t k) {
  vm_demand *d = &vf->demand;
  const thunk *t = vf->program->thunks[k];
  const thunk_local *local = thunk_local_of(t, &vf->frame);
  int32_t n = local->lazy ? local->n_need : t->n_in;
  while (d->cursor[k] < n) {
    int32_t at = d->cursor[k]++;
    int32_t m = maker_of(vf, t, local->lazy ? local->need[at] : at);
    if (m >= 0 && !d->done[m]) return m;
  }
  return -1;
}

/* A value error if a lazy thunk asked for an input that does not exist or already has its value. */
static damo_status check_need(const vm_frame *vf, const thunk *t) {
  const thunk_local *local = thunk_local_of(t, &vf->frame);
  for (int i = 0; i < local->n_need; i++) {
    int32_t at = local->need[i];
    if (at >= 0 && at < t->n_in && !demand_has_value(vf, t, at)) continue;
    return ctx_fail(vf->frame.ctx, DAMO_EVALUE, "%s: its thunk asks for input %d, which %s", thunk_name(t), at + 1,
                    at >= 0 && at < t->n_in ? "it has" : "there is not");
  }
  return DAMO_OK;
}

/* Runs thunk k, whose requested inputs are ready. *done: it asked for nothing more. */
static damo_status run_ready(vm_frame *vf, int32_t k, bool *done) {
  const thunk *t = vf->program->thunks[k];
  thunk_local *local = thunk_local_of(t, &vf->frame);
  *done = true;
  if (!local->lazy) return vm_step(vf, t);
  local->in_ready = (uint8_t *)(local->need + t->n_in);
  for (int i = 0; i < t->n_in; i++) local->in_ready[i] = demand_has_value(vf, t, i);
  local->n_need = 0;
  DAMO_TRY(vm_step(vf, t));
  *done = local->n_need == 0;
  vf->demand.cursor[k] = 0;
  return check_need(vf, t);
}

static int64_t enter(vm_frame *vf, int64_t height, int32_t k) {
  damo_assert(height < vf->program->n_thunks && !vf->demand.done[k]);
  vf->demand.stack[height] = k;
  vf->demand.cursor[k] = 0;
  thunk_local_of(vf->program->thunks[k], &vf->frame)->n_need = 0;
  return height + 1;
}

static damo_status run_goal(vm_frame *vf, int32_t goal) {
  vm_demand *d = &vf->demand;
  if (d->done[goal]) return DAMO_OK;
  for (int64_t height = enter(vf, 0, goal); height > 0;) {
    int32_t k = d->stack[height - 1], m = next_missing(vf, k);
    if (m >= 0) {
      height = enter(vf, height, m);
      continue;
    }
    bool done;
    damo_status s = run_ready(vf, k, &done);
    if (s == DAMO_OK) s = vm_between(vf, k);
    if (s != DAMO_OK) return vm_fail_at(vf, k, s);
    if (!done) continue;
    d->done[k] = 1;
    height--;
  }
  return DAMO_OK;
}

bool vm_has_value(const vm_frame *vf, int32_t slot) {
  int32_t m = vf->program->maker[slot];
  return m < 0 || vf->demand.done[m];
}

damo_status vm_run_for(vm_frame *vf, int32_t slot) {
  return vm_has_value(vf, slot) ? DAMO_OK : run_goal(vf, vf->program->maker[slot]);
}

damo_status vm_run_demand(vm_frame *vf) {
  vm_demand *d = &vf->demand;
  const vm_program *p = vf->program;
  memset(d->done, 0, (size_t)p->n_thunks);
  for (int64_t i = 0; i < p->n_goals; i++) DAMO_TRY(run_goal(vf, p->goals[i]));
  for (int64_t i = 0; i < p->n_segments; i++) {
    const vm_segment *g = &p->segments[i];
    if (!vm_enters(vf, g)) continue;
    for (int64_t k = g->first; k < g->end; k++) DAMO_TRY(run_goal(vf, (int32_t)k));
  }
  return DAMO_OK;
}
