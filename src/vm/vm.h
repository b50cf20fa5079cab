/* vm: runs a compiled plan: an array of thunks over an array of cells.
 *
 * In: a plan (made by compile). Out: values in cells. Always holds: a run that fails leaves every shared value as it
 * was; a warm run of native thunks allocates nothing; the loop knows no op. A plan with a lazy thunk is run by demand,
 * from the cells of its goals: each thunk at most once, and only what is needed.
 */
#ifndef DAMO_VM_H
#define DAMO_VM_H

#include "graph/thunk.h"

typedef struct vm_plan vm_plan;

/* The order of a lazy plan is found as it runs: this is what the search needs, allocated with the plan. */
typedef struct vm_demand {
  int64_t n_makers;
  int32_t *maker; /* a cell's number → the thunk that fills it, -1 */
  int64_t n_goals;
  int32_t *goals; /* thunks of outputs and updates */
  int64_t n;      /* thunks: lengths of the three below */
  int32_t *stack;
  int32_t *cursor; /* the next dependency to look at */
  uint8_t *done;
} vm_demand;

struct vm_plan {
  damo_ctx *ctx;
  frame frame; /* cells and what is kept of the thunks */
  int64_t n_cells;
  int64_t n_thunks;
  thunk **thunks;
  int64_t thunk_cap; /* allocated entries of thunks and of frame.locals */
  char *state;       /* of all thunks */
  size_t state_bytes;
  /* Cells that hold a view of another cell's buffer after a run: detached at its end, so that the base can be
   * reused. */
  int64_t n_views;
  int32_t *views;
  /* Cells that must be empty again after a run: inputs, shared values, what no_recycling lists. */
  int64_t n_transient;
  int32_t *transient;
  int64_t failed_at; /* the thunk that failed last, -1 */
  bool lazy;         /* some thunk is: run by demand */
  vm_demand demand;
  /* Runs a thunk in the place of t->run(t, f), when set: modes that look at what thunks do. */
  damo_status (*step)(vm_plan *p, const thunk *t, frame *f);
  void *step_user;
};

void vm_plan_clear(vm_plan *p);
/* Runs the thunks, in order or by demand; on failure the error names op, node and trace. */
damo_status vm_run(vm_plan *p);
/* After vm_run of a plan that runs by demand: whether that cell has its value; computes it where it has not. */
bool vm_has_value(const vm_plan *p, int32_t c);
damo_status vm_run_for(vm_plan *p, int32_t c);
/* Empties transient cells and detaches views, after a run, whether it failed or not. */
void vm_reset(vm_plan *p);

/* demand.c: allocates what running by demand needs: maker and goals are filled by the caller, everything else
 * is ready. */
damo_status vm_demand_init(vm_plan *p, int64_t n_goals);
void vm_demand_clear(vm_plan *p);
/* Runs what the goals need. */
damo_status vm_run_demand(vm_plan *p);
/* Notes at which thunk the pending error arose. Returns s. */
damo_status vm_fail_at(vm_plan *p, int64_t k, damo_status s);

static inline damo_status vm_step(vm_plan *p, const thunk *t) {
  return p->step != NULL ? p->step(p, t, &p->frame) : t->run(t, &p->frame);
}

#endif
