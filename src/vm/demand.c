/* demand.c: runs a plan by demand: a depth-first search from the goals over what thunks need, with a stack of its own.
 *
 * A plain thunk needs all its inputs. A lazy one is run, names the inputs that it needs, and is run again when they are
 * there. Always holds: a thunk is on the stack once, so its height is bounded by the number of thunks; a thunk that is
 * done is not run again in this call.
 */
#include <string.h>

#include "vm.h"

damo_status vm_demand_init(vm_plan *p, int64_t n_goals) {
  vm_demand *d = &p->demand;
  size_t n = (size_t)p->n_thunks;
  d->maker = mem_alloc(p->ctx, (size_t)p->n_cells * sizeof *d->maker);
  if (d->maker == NULL) return DAMO_EMEMORY;
  d->n_makers = p->n_cells;
  d->goals = mem_alloc(p->ctx, (size_t)n_goals * sizeof *d->goals);
  if (d->goals == NULL) return DAMO_EMEMORY;
  d->n_goals = n_goals;
  d->stack = mem_alloc(p->ctx, n * (2 * sizeof *d->stack + 1));
  if (d->stack == NULL) return DAMO_EMEMORY;
  d->n = p->n_thunks;
  d->cursor = d->stack + n;
  d->done = (uint8_t *)(d->cursor + n);
  return DAMO_OK;
}

void vm_demand_clear(vm_plan *p) {
  vm_demand *d = &p->demand;
  if (d->maker != NULL) mem_free(p->ctx, d->maker, (size_t)d->n_makers * sizeof *d->maker);
  if (d->goals != NULL) mem_free(p->ctx, d->goals, (size_t)d->n_goals * sizeof *d->goals);
  if (d->stack != NULL) mem_free(p->ctx, d->stack, (size_t)d->n * (2 * sizeof *d->stack + 1));
  *d = (vm_demand){.maker = NULL};
}

/* The thunk that fills the cell of input i, -1 where none does. */
static int32_t maker_of(const vm_plan *p, const thunk *t, int i) { return p->demand.maker[t->in[i]]; }

static bool demand_has_value(const vm_plan *p, const thunk *t, int i) {
  int32_t m = maker_of(p, t, i);
  return m < 0 || p->demand.done[m];
}

/* The next thunk that k waits for, -1 when there is none left. */
static int32_t next_missing(vm_plan *p, int32_t k) {
  vm_demand *d = &p->demand;
  const thunk *t = p->thunks[k];
  const thunk_local *local = thunk_local_of(t, &p->frame);
  int32_t n = local->lazy ? local->n_need : t->n_in;
  while (d->cursor[k] < n) {
    int32_t at = d->cursor[k]++;
    int32_t m = maker_of(p, t, local->lazy ? local->need[at] : at);
    if (m >= 0 && !d->done[m]) return m;
  }
  return -1;
}

/* A lazy thunk may only ask for what it has not got, and each input once. */
static damo_status check_need(const vm_plan *p, const thunk *t) {
  const thunk_local *local = thunk_local_of(t, &p->frame);
  for (int i = 0; i < local->n_need; i++) {
    int32_t at = local->need[i];
    if (at >= 0 && at < t->n_in && !demand_has_value(p, t, at)) continue;
    return ctx_fail(p->ctx, DAMO_EVALUE, "%s: its thunk asks for input %d, which %s", thunk_name(t), at + 1,
                    at >= 0 && at < t->n_in ? "it has" : "there is not");
  }
  return DAMO_OK;
}

/* Runs thunk k, whose needs are met. *done: it needs nothing more. */
static damo_status run_ready(vm_plan *p, int32_t k, bool *done) {
  const thunk *t = p->thunks[k];
  thunk_local *local = thunk_local_of(t, &p->frame);
  *done = true;
  if (!local->lazy) return vm_step(p, t);
  local->in_ready = (uint8_t *)(local->need + t->n_in);
  for (int i = 0; i < t->n_in; i++) local->in_ready[i] = demand_has_value(p, t, i);
  local->n_need = 0;
  DAMO_TRY(vm_step(p, t));
  *done = local->n_need == 0;
  p->demand.cursor[k] = 0;
  return check_need(p, t);
}

static int64_t enter(vm_plan *p, int64_t height, int32_t k) {
  p->demand.stack[height] = k;
  p->demand.cursor[k] = 0;
  thunk_local_of(p->thunks[k], &p->frame)->n_need = 0;
  return height + 1;
}

static damo_status run_goal(vm_plan *p, int32_t goal) {
  vm_demand *d = &p->demand;
  if (d->done[goal]) return DAMO_OK;
  for (int64_t height = enter(p, 0, goal); height > 0;) {
    int32_t k = d->stack[height - 1], m = next_missing(p, k);
    if (m >= 0) {
      height = enter(p, height, m);
      continue;
    }
    bool done;
    damo_status s = run_ready(p, k, &done);
    if (s != DAMO_OK) return vm_fail_at(p, k, s);
    if (!done) continue;
    d->done[k] = 1;
    height--;
  }
  return DAMO_OK;
}

bool vm_has_value(const vm_plan *p, int32_t c) {
  int32_t m = p->demand.maker[c];
  return m < 0 || p->demand.done[m];
}

damo_status vm_run_for(vm_plan *p, int32_t c) { return vm_has_value(p, c) ? DAMO_OK : run_goal(p, p->demand.maker[c]); }

damo_status vm_run_demand(vm_plan *p) {
  vm_demand *d = &p->demand;
  memset(d->done, 0, (size_t)d->n);
  for (int64_t i = 0; i < d->n_goals; i++) DAMO_TRY(run_goal(p, d->goals[i]));
  return DAMO_OK;
}
