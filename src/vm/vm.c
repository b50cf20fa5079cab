/* vm.c: the loop over thunks, and what is put back after it. */
#include "vm.h"

damo_status vm_fail_at(vm_plan *p, int64_t k, damo_status s) {
  p->failed_at = k;
  thunk_blame(p->thunks[k], &p->frame);
  return s;
}

/* The plain loop, with nothing between the thunks. */
static damo_status run_in_order(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) {
    const thunk *t = p->thunks[k];
    damo_status s = t->run(t, &p->frame);
    if (s != DAMO_OK) return vm_fail_at(p, k, s);
  }
  return DAMO_OK;
}

static damo_status run_watched(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) {
    damo_status s = p->step(p, p->thunks[k], &p->frame);
    if (s != DAMO_OK) return vm_fail_at(p, k, s);
  }
  return DAMO_OK;
}

damo_status vm_run(vm_plan *p) {
  if (p->lazy) return vm_run_demand(p);
  return p->step != NULL ? run_watched(p) : run_in_order(p);
}

static void vm_cell_empty(cell *c) {
  damo_obj *v = *c;
  *c = NULL;
  damo_release(v);
}

void vm_reset(vm_plan *p) {
  for (int64_t i = 0; i < p->n_views; i++) {
    cell *c = &p->frame.cells[p->views[i]];
    if (*c != NULL && (*c)->kind == OBJ_ARRAY && (*c)->refs == 1) {
      array_detach((damo_array *)*c); /* the header serves the next run */
    } else {
      vm_cell_empty(c);
    }
  }
  for (int64_t i = 0; i < p->n_transient; i++) vm_cell_empty(&p->frame.cells[p->transient[i]]);
}

void vm_plan_clear(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) {
    thunk_leave(p->thunks[k], &p->frame);
    thunk_free(p->ctx, p->thunks[k]);
  }
  for (int64_t i = 0; i < p->n_cells; i++) damo_release(p->frame.cells[i]);
  if (p->ctx == NULL) return;
  vm_demand_clear(p);
  mem_free(p->ctx, p->thunks, (size_t)p->thunk_cap * sizeof *p->thunks);
  mem_free(p->ctx, p->frame.locals, (size_t)p->thunk_cap * sizeof *p->frame.locals);
  mem_free(p->ctx, p->state, p->state_bytes);
  mem_free(p->ctx, p->frame.cells, (size_t)p->n_cells * sizeof *p->frame.cells);
  mem_free(p->ctx, p->views, (size_t)p->n_views * sizeof *p->views);
  mem_free(p->ctx, p->transient, (size_t)p->n_transient * sizeof *p->transient);
  *p = (vm_plan){.ctx = p->ctx};
}
