/* vm: runs a compiled plan: an array of thunks over an array of cells.
 *
 * In: a plan (made by compile). Out: values in cells. Always holds: a run that fails leaves every shared value as it was;
 * a warm run of native thunks allocates nothing; the loop knows no op.
 */
#ifndef DAMO_VM_H
#define DAMO_VM_H

#include "../rewrite/rewrite.h"

typedef struct vm_plan {
  damo_ctx *ctx;
  int64_t n_cells;
  cell *cells;
  int64_t n_thunks;
  thunk **thunks;
  int64_t thunk_room; /* allocated entries of thunks */
  /* Cells that hold a view of another cell's buffer after a run: detached at its end, so that the base can be reused. */
  int64_t n_views;
  int32_t *views;
  /* Cells that must be empty again after a run: inputs, shared values. */
  int64_t n_transient;
  int32_t *transient;
  int64_t failed_at; /* the thunk that failed last, -1 */
} vm_plan;

void vm_plan_clear(vm_plan *p);
/* Runs the thunks in order; on failure the error names op, node and trace. */
damo_status vm_run(vm_plan *p);
/* Empties transient cells and detaches views, after a run, whether it failed or not. */
void vm_reset(vm_plan *p);

#endif
