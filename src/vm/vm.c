/* vm.c: the loop over thunks, and what is put back after it. */
#include "vm.h"

damo_status vm_fail_at(vm_plan *p, int64_t k, damo_status s) {
  damo_apply *node = p->thunks[k]->node;
  p->failed_at = k;
  ctx_fail_at(p->ctx, node->op->def->name, node);
  return s;
}

/* The plain loop, with nothing between the thunks. */
static damo_status run_in_order(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) {
    thunk *t = p->thunks[k];
    damo_status s = t->run(t);
    if (s != DAMO_OK) return vm_fail_at(p, k, s);
  }
  return DAMO_OK;
}

static damo_status run_watched(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) {
    damo_status s = p->step(p, p->thunks[k]);
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
    cell *c = &p->cells[p->views[i]];
    if (*c != NULL && (*c)->kind == OBJ_ARRAY && (*c)->refs == 1) {
      array_detach((damo_array *)*c); /* the header serves the next run */
    } else {
      vm_cell_empty(c);
    }
  }
  for (int64_t i = 0; i < p->n_transient; i++) vm_cell_empty(&p->cells[p->transient[i]]);
}

void vm_plan_clear(vm_plan *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) thunk_free(p->thunks[k]);
  for (int64_t i = 0; i < p->n_cells; i++) damo_release(p->cells[i]);
  if (p->ctx == NULL) return;
  vm_demand_clear(p);
  mem_free(p->ctx, p->thunks, (size_t)p->thunk_cap * sizeof *p->thunks);
  mem_free(p->ctx, p->cells, (size_t)p->n_cells * sizeof *p->cells);
  mem_free(p->ctx, p->views, (size_t)p->n_views * sizeof *p->views);
  mem_free(p->ctx, p->transient, (size_t)p->n_transient * sizeof *p->transient);
  *p = (vm_plan){.ctx = p->ctx};
}
