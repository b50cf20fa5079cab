/* vm: runs a compiled program: thunks in their order over a frame's cells.
 *
 * In: a program (made by compile). Out: values in a frame's cells. Always holds: nothing of a program changes once it is
 * compiled, so that any number of frames may run it; a warm run of native thunks allocates nothing; the loop knows no
 * op. A program with a lazy thunk is run by demand, from the cells of its goals: each thunk at most once, and only what
 * is needed.
 */
#ifndef DAMO_VM_H
#define DAMO_VM_H

#include "graph/thunk.h"

typedef struct vm_frame vm_frame;

typedef struct vm_constant {
  int32_t slot;
  damo_obj *value; /* owned by the program */
} vm_constant;

/* What compiling leaves to be run. All memory is of the context that compiled it. */
typedef struct vm_program {
  int64_t n_cells;
  int64_t n_thunks, thunk_cap; /* cap: allocated */
  thunk **thunks;              /* owned, in the order in which they run */
  int64_t n_constants, constant_cap;
  vm_constant *constants;
  /* Slots whose cells hold a view of another cell's buffer after a run: detached at its end, so that the base can be
   * reused. */
  int64_t n_views;
  int32_t *views;
  /* Slots whose cells must be empty again after a run: inputs, shared values, what no_recycling lists. */
  int64_t n_transient;
  int32_t *transient;
  bool lazy;      /* some thunk is: run by demand */
  int32_t *maker; /* lazy: a slot → the thunk that fills it, -1; n_cells of them */
  int64_t n_goals;
  int32_t *goals; /* lazy: thunks of outputs and updates */
} vm_program;

/* The search of a run by demand. */
typedef struct vm_demand {
  int32_t *stack;  /* thunks, as the two below */
  int32_t *cursor; /* the next dependency to look at */
  uint8_t *done;
} vm_demand;

/* What calls change: one call at a time. */
struct vm_frame {
  frame frame; /* what thunks see of it */
  const vm_program *program;
  void *block; /* locals, cells and states of the thunks */
  size_t block_bytes;
  int64_t failed_at; /* the thunk that failed last, -1 */
  vm_demand demand;
  /* Runs a thunk in the place of t->run(t, f), when set: modes that look at what thunks do. */
  damo_status (*step)(vm_frame *vf, const thunk *t);
  void *step_user;
};

/* Frees what the program holds; no frame of it is left. */
void vm_program_clear(damo_ctx *ctx, vm_program *p);

/* Makes a frame whose cells hold the constants, the thunks being still to be made (thunk_make). foreign: in another
 * context than the program's; the frame then has headers of its own over the constants' memory. On failure too
 * vm_frame_clear is to be called. */
damo_status vm_frame_init(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign);
/* For a lazy program, whose maker and goals are there: what the search needs. */
damo_status vm_frame_init_demand(vm_frame *vf);
/* Makes a further frame, whole. */
damo_status vm_frame_join(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign, const thunk_request *how);
void vm_frame_clear(vm_frame *vf);

/* Runs the thunks, in order or by demand; on failure the error names op, node and trace. */
damo_status vm_run(vm_frame *vf);
/* After vm_run of a lazy program: whether that cell has its value; computes it where it has not. */
bool vm_has_value(const vm_frame *vf, int32_t slot);
damo_status vm_run_for(vm_frame *vf, int32_t slot);
/* Empties transient cells and detaches views, after a run, whether it failed or not. */
void vm_reset(vm_frame *vf);

/* demand.c: runs what the goals need. */
damo_status vm_run_demand(vm_frame *vf);
/* Notes at which thunk the pending error arose. Returns s. */
damo_status vm_fail_at(vm_frame *vf, int64_t k, damo_status s);

static inline damo_status vm_step(vm_frame *vf, const thunk *t) {
  return vf->step != NULL ? vf->step(vf, t) : t->run(t, &vf->frame);
}

#endif
